"""What stands beside a shell command while it runs: others' tools, claims, hidden files, a person's work."""

import os
import shutil
from pathlib import Path

import pytest

from gitralph.base.layout import Layout
from gitralph.hook import windows
from tests.support import payloads, shells
from tests.support.repo import Repo
from tests.support.shells import Shell
from tests.support.texts import TEN, changed

THREE = changed(3, "three")
EIGHT = changed(8, "eight of S2")
BOTH = changed(8, "eight of S2", THREE)


def _text(repo: Repo, path: str, commit: str = "HEAD") -> str:
    return repo.blob(path, commit).decode()


# --- what git did not show before is not made by the command ---


@pytest.mark.parametrize("how", ["checkout", "rule", "exclude", "another's edit"])
def test_an_ignored_file_that_a_command_uncovers(repo: Repo, how: str) -> None:
    """It was there before; with `include` it would be the session's."""
    repo.git("config", "ralph.shellEdits", "include")
    exclude = repo.common / "info/exclude"
    repo.write(".gitignore", "nothing\n" if how == "exclude" else ".env\n")
    repo.commit_all("ignore")
    if how == "exclude":
        exclude.write_text(".env\n")
    repo.write(".env", "secret of a person\n")
    commands = {
        "checkout": "git checkout -q HEAD~1",
        "rule": "rm .gitignore",
        "exclude": f": > {exclude}",
        "another's edit": "true",
    }
    shell = Shell(repo, "S1").begin().work(f"{commands[how]}; sed -i 's/^line 3$/three/' a; echo new > n")
    if how == "another's edit":
        repo.edit("S2", ".gitignore", "nothing\n")
    shell.end()
    paths = repo.commit("S1").paths
    assert {"a": "M", "n": "A"}.items() <= paths.items()
    assert ".env" not in paths
    assert repo.owners()[".env"] != "other"


@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree"])
def test_a_hidden_change_that_a_command_uncovers(repo: Repo, flag: str) -> None:
    repo.git("update-index", f"--{flag}", "b")
    repo.write("b", "a person's own settings\n")
    shells.run(repo, "S1", f"git update-index --no-{flag} b; sed -i 's/^line 3$/three/' a")
    assert repo.commit("S1").paths == {"a": "M"}
    assert _text(repo, "b") != "a person's own settings\n"


def test_a_nested_repository_that_loses_its_git(repo: Repo) -> None:
    repo.git("config", "ralph.shellEdits", "include")
    repo.git("init", "-q", "nested")
    repo.write("nested/theirs", "a person's\n")
    shells.run(repo, "S1", "rm -rf nested/.git; echo new > nested/mine")
    assert repo.commit("S1").paths == {"nested/mine": "A"}


@pytest.mark.parametrize("folder", [False, True])
def test_a_folder_that_moves_is_no_hidden_file(repo: Repo, folder: bool) -> None:
    """A move changes no file in the folder."""
    shells.run(repo, "S1", "mv d moved" if folder else "mv a moved")
    assert "D" in repo.commit("S1").paths.values()
    assert repo.git("status", "--porcelain") == ""


# --- others' tools and claims while the command runs ---


@pytest.mark.parametrize("told", [True, False])
def test_an_edit_that_has_begun_and_is_not_told_yet(repo: Repo, told: bool) -> None:
    """S2's tool has written when S1's command ends; its event comes afterwards, or never."""
    root = str(repo.root)
    edit = payloads.claude_edit("S2", root, "a", TEN, "line 8", "eight of S2")
    shell = Shell(repo, "S1").begin()
    repo.hook("claude-code", payloads.claude_pre(edit))
    shell.work("sed -i 's/^line 3$/three/; s/^line 8$/eight of S2/' a").end()
    if told:
        repo.hook("claude-code", edit)
    assert repo.commit("S1").left == {"a": "contested"}
    if told:
        assert repo.commit("S2").paths == {"a": "M"}
        assert _text(repo, "a") == EIGHT
        assert repo.commit("S1", "--with-shell").paths == {"a": "M"}
        assert _text(repo, "a") == BOTH


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit", "SessionEnd"])
def test_an_edit_that_was_denied_is_over_with_its_turn(repo: Repo, event: str) -> None:
    """No event tells that a person denied a call."""
    root = str(repo.root)
    edit = payloads.claude_edit("S2", root, "a", TEN, "line 8", "eight of S2")
    repo.hook("claude-code", payloads.claude_pre(edit))
    repo.hook("claude-code", payloads.claude_life(event, "S2", root))
    shells.run(repo, "S1", "sed -i 's/^line 3$/three/' a")
    assert repo.commit("S1").paths == {"a": "M"}


@pytest.mark.parametrize("more", [0, 3000])
@pytest.mark.parametrize("first", ["the command", "the edit"])
def test_of_a_command_only_the_line_that_another_changed_meanwhile_is_nobodys(
    repo: Repo, first: str, more: int
) -> None:
    """V3: the rest of the command's change is its own, also in a long file."""
    rest = "".join(f"{n} of many\n" for n in range(more))
    repo.write("a", TEN + rest)
    repo.commit_all("long") if more else None
    shell = Shell(repo, "S1").begin()
    if first == "the command":
        shell.work("sed -i 's/^line 2$/two/; s/^line 9$/nine by shell/' a")
        repo.edit("S2", "a", (repo.read("a") or b"").replace(b"nine by shell", b"nine"))
    else:
        repo.edit("S2", "a", (repo.read("a") or b"").replace(b"line 9\n", b"nine\n"))
        shell.work("sed -i 's/^line 2$/two/; s/^nine$/nine by shell/' a")
    shell.end()
    repo.commit("S1")
    assert _text(repo, "a") == TEN.replace("line 2\n", "two\n") + rest
    assert repo.run("commit", "--session", "S2", "-m", "x").code in (0, 4)
    assert "nine by shell" not in _text(repo, "a")


@pytest.mark.parametrize("how", ["track", "manifest"])
def test_a_path_that_another_claimed_meanwhile(repo: Repo, how: str) -> None:
    repo.start("S2")
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 8$/eight of S2/' a")
    if how == "track":
        repo.ralph("track", "--session", "S2", "--", "a")
    else:
        with (repo.state / "S2.files").open("a") as manifest:
            manifest.write("a\n")
    shell.work("sed -i 's/^line 3$/three/' a").end()
    assert repo.commit("S1").left == {"a": "contested"}
    assert repo.commit("S2", code=4).left == {"a": "contested"}


def test_a_command_that_claims_what_it_changed(repo: Repo) -> None:
    """A claim of the same session takes nothing from its lines."""
    repo.edit("S2", "a", EIGHT)
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 3$/three/' a")
    repo.ralph("track", "--session", "S2", "--", "b")
    shell.end()
    assert repo.commit("S1").paths == {"a": "M"}
    assert _text(repo, "a") == THREE


def test_another_that_edits_and_commits_meanwhile(repo: Repo) -> None:
    """The command began before that commit, and so did its line."""
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 3$/three/' a")
    repo.edit("S2", "a", BOTH)
    assert repo.commit("S2").paths == {"a": "M"}
    assert _text(repo, "a") == EIGHT
    shell.end()
    assert repo.commit("S1").paths == {"a": "M"}
    assert _text(repo, "a") == BOTH


# --- on lines of others ---


def test_an_offered_change_of_a_line_is_no_correction(repo: Repo) -> None:
    """What another's command did to a new file stands on its writer's lines, who commits them."""
    repo.edit("S1", "n", "import old\nx = 1\n")
    shells.run(repo, "S2", "sed -i s/old/new/ n")
    assert repo.commit("S1").paths == {"n": "A"}
    assert _text(repo, "n") == "import old\nx = 1\n"
    assert repo.commit("S2", "--with-shell").paths == {"n": "M"}
    assert _text(repo, "n") == "import new\nx = 1\n"


def test_a_contested_change_of_a_line_is_no_correction(repo: Repo) -> None:
    """S1 changes its own line by shell while a command of S2 runs: nobody can tell who did it."""
    repo.edit("S1", "a", changed(5, "foo( 1 )"))
    other = Shell(repo, "S2").begin()
    shells.run(repo, "S1", "sed -i 's/foo( 1 )/foo(1)/' a")
    other.end()
    answer = repo.commit("S1")
    assert (answer.paths, answer.left) == ({"a": "M"}, {"a": "contested"})
    assert _text(repo, "a") == changed(5, "foo( 1 )")


def test_a_formatter_over_lines_that_a_person_has_not_committed(repo: Repo) -> None:
    """As over another session's: no word changed, so the lines stay the person's."""
    repo.write("m.py", "def a( x ):\n    return x\n\n\ndef b( x ):\n    return x\n")
    repo.commit_all("m")
    repo.write("m.py", f"{(repo.read('m.py') or b'').decode()}\n\ndef z( y ):\n    return y*2\n")
    shells.run(repo, "S1", "sed -i 's/( /(/; s/ )/)/; s/y[*]2/y * 2/' m.py")
    assert repo.commit("S1").paths == {"m.py": "M"}
    assert _text(repo, "m.py") == "def a(x):\n    return x\n\n\ndef b(x):\n    return x\n"
    assert repo.commit(None, "--mine").paths == {"m.py": "M"}
    assert _text(repo, "m.py").endswith("\n\ndef z(y):\n    return y * 2\n")


def test_who_takes_a_line_of_another_out_and_brings_it_back_changes_nothing(repo: Repo) -> None:
    repo.edit("S2", "a", EIGHT)
    shells.run(repo, "S1", "sed -i 's/^eight of S2$/line 8/; s/^line 3$/three/' a")
    shells.run(repo, "S1", "sed -i 's/^line 8$/eight of S2/' a")
    assert repo.commit("S1").paths == {"a": "M"}
    assert _text(repo, "a") == THREE
    assert repo.commit("S2").paths == {"a": "M"}
    assert _text(repo, "a") == BOTH


@pytest.mark.parametrize("maker", ["a person", "a shell"])
def test_an_edit_of_a_new_file_that_nobody_recorded(repo: Repo, maker: str) -> None:
    """HEAD never had the file and never moved; where a shell made it, its session may go first."""
    if maker == "a shell":
        shells.run(repo, "S1", "printf 'a\\nb\\nc\\n' > n")
    else:
        repo.write("n", "a\nb\nc\n")
    repo.edit("S2", "n", "a\nsecond\nc\n")
    answer = repo.commit("S2", code=4)
    assert answer.left == {"n": "entangled"}
    assert "HEAD has moved" not in answer.said
    first = f"git ralph commit --session {repo.called('S1')} --with-shell -- n" if maker == "a shell" else ""
    assert first in answer.said
    if first:
        assert repo.commit("S1", "--with-shell", "--", "n").paths == {"n": "A"}
        assert repo.commit("S2").paths == {"n": "M"}
        assert _text(repo, "n") == "a\nsecond\nc\n"


def test_a_file_made_from_heads_text_loses_a_line_of_another_and_says_so(repo: Repo) -> None:
    """S1 never read S2's line; when S2 asks, the file is as in HEAD."""
    repo.edit("S2", "a", EIGHT)
    shells.run(repo, "S1", "git show HEAD:a > t; sed -i 's/^line 3$/three/' t; mv t a")
    assert repo.commit("S1").paths == {"a": "M"}
    answer = repo.commit("S2")
    assert answer.status == "nothing"
    assert f"changed or removed by session '{repo.called('S1')}'" in answer.said
    assert "removed by" not in repo.commit("S2").said


# --- and a person ---


def test_what_a_running_command_may_have_changed_is_no_persons(repo: Repo) -> None:
    """When it ends it is the session's; a person who knows better names the path."""
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 3$/three/' a")
    repo.write("b", "before?\n")
    answer = repo.commit(None, "--mine")
    assert (answer.status, answer.left) == ("nothing", {"a": "shell", "b": "shell"})
    said = repo.ralph("commit", "--mine", "-m", "x").said
    assert f"no end was told of a shell command of '{repo.called('S1')}'" in said
    assert f"hint: git ralph session end {repo.called('S1')}  # if it is over" in said
    assert repo.commit(None, "--mine", "--", "b").paths == {"b": "M"}
    shell.end()
    assert repo.commit("S1").paths == {"a": "M"}


def test_a_person_corrects_what_was_written_after_anothers_command(repo: Repo) -> None:
    """The command put back what a stash holds, which is nobody's change; it made no other."""
    repo.edit("S1", "a", TEN + "grey stone\n")
    repo.git("stash")
    repo.git("stash", "apply")
    shells.run(repo, "S2", "sed -i 's/^grey stone$/S2/' a")
    repo.edit("S3", "a", changed(5, "five", TEN + "S2\n"))
    shells.run(repo, "S2", "sed -i 's/^S2$/grey stone/' a")
    there = changed(5, "five", TEN + "grey stone\n")
    repo.edit("S1", "a", changed(3, "line 3\nred brick", there))
    repo.write("a", changed(3, "line 3\nred bricks", there))
    repo.commit("S1")
    assert _text(repo, "a") == changed(3, "line 3\nred bricks", TEN + "grey stone\n")


def test_a_person_corrects_what_a_command_of_another_left_in_the_end(repo: Repo) -> None:
    """The command took its own line out again, so the file is as it was after the correction."""
    repo.edit("S1", "a", TEN + "red brick\n")
    repo.write("a", TEN + "red bricks\n")
    repo.git("add", "a")
    shells.run(repo, "S2", "sed -i '3i S2' a")
    shells.run(repo, "S2", "sed -i '/^S2$/d' a")
    assert "corrected by" in repo.commit("S1").notes
    assert _text(repo, "a") == TEN + "red bricks\n"


def test_what_two_commands_may_have_made_stays_so_beside_a_persons_line(repo: Repo) -> None:
    other = Shell(repo, "S2").begin()
    shells.run(repo, "S1", "sed -i 's/^line 3$/three/' a")
    other.end()
    assert repo.commit(None, "--mine").left == {"a": "shell"}
    repo.write("a", changed(8, "a person's", THREE))
    assert repo.commit(None, "--mine").left == {"a": "shell"}
    said = repo.ralph("why", "a:3").text
    assert repo.called("S1") in said
    assert repo.called("S2") in said
    assert "may have made" not in repo.ralph("why", "a:8").text


@pytest.mark.parametrize("again", [False, True])
def test_a_correction_follows_beside_a_command_that_had_put_its_own_line_back(
    repo: Repo, again: bool
) -> None:
    """When the command ended the file was as in HEAD, so the person's change came later."""
    shells.run(repo, "S2", "sed -i 's/^line 3$/three/' a")
    shells.run(repo, "S2", "sed -i 's/^three$/line 3/' a")
    before = TEN
    if again:
        before = changed(5, "five of S2")
        shells.run(repo, "S2", "sed -i 's/^line 5$/five of S2/' a")
    shells.run(repo, "S1", "sed -i 's/^line 8$/eight of S1/' a")
    repo.write("a", changed(8, "eight of a person", before))
    assert repo.commit("S1").paths == {"a": "M"}
    assert _text(repo, "a") == changed(8, "eight of a person")


def test_an_agent_is_not_told_to_take_what_another_may_have_made(repo: Repo) -> None:
    other = Shell(repo, "S2").begin()
    shells.run(repo, "S1", "sed -i 's/^line 3$/three/' a")
    other.end()
    assert "--with-shell" in repo.commit("S1").said
    agent = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "S1"}
    assert "--with-shell" not in repo.commit("S1", env=agent).said
    assert "--with-shell" not in repo.ralph("status", env=agent).said


# --- moves ---


def test_a_new_file_of_another_that_a_command_moves(repo: Repo) -> None:
    """Its lines stay their writer's: nobody else commits them, and none of them is lost.

    HEAD never had the file, so nothing of the move is to be committed.
    """
    repo.edit("S1", "n", "x = 1\ny = 2\n")
    shells.run(repo, "S2", "mv n m")
    assert "lost" not in repo.ralph("status").text
    assert repo.commit("S2").status == "nothing"
    assert repo.commit("S1").paths == {"m": "A"}
    assert _text(repo, "m") == "x = 1\ny = 2\n"


@pytest.mark.parametrize("made", ["by a tool", "by a shell"])
@pytest.mark.parametrize("moved", [False, True])
def test_a_line_in_a_new_file_that_another_recorded(repo: Repo, made: str, moved: bool) -> None:
    """The line was offered only, since the file is new; a move of it then left it to nobody, unsaid."""
    if made == "by a tool":
        repo.edit("S1", "n", TEN)
    else:
        repo.git("config", "ralph.shellEdits", "include")
        shells.run(repo, "S1", f"printf '{TEN}' > n")
    shells.run(repo, "S2", "sed -i 's/^line 8$/eight of S2/' n")
    if moved:
        shells.run(repo, "S1", "mv n m")
    path = "m" if moved else "n"
    assert repo.commit("S2", code=4).left == {path: "entangled"}
    repo.commit("S1")
    assert _text(repo, path) == TEN
    repo.commit("S2")
    assert _text(repo, path) == EIGHT


@pytest.mark.parametrize("command", ["mv n m", "rm n", "mv n m; echo more >> m"])
def test_an_undo_gives_back_the_new_file_that_a_command_took_away(repo: Repo, command: str) -> None:
    """An undo of the move deleted the new name and brought nothing back under the old one."""
    repo.git("config", "ralph.discard", "off")
    repo.edit("S1", "n", TEN)
    shells.run(repo, "S2", "sed -i 's/^line 8$/eight of S2/' n")
    shells.run(repo, "S2", command)
    if command.startswith("mv"):
        repo.ralph("undo", "--session", "S1", code=4)
        (row,) = repo.ralph("status", "--json").json()["paths"]
        assert (row["path"], row["sessions"]) == ("m", ["S1", "S2"])
    repo.ralph("undo", "--session", "S2")
    assert (repo.root / "n").read_text() == TEN
    assert not (repo.root / "m").exists()
    repo.ralph("undo", "--redo", "--session", "S2")
    assert not (repo.root / "n").exists()
    repo.ralph("undo", "--session", "S2")
    assert repo.commit("S2").status == "nothing"
    repo.commit("S1")
    assert _text(repo, "n") == TEN


@pytest.mark.parametrize("path", ["a", "n"])
def test_a_move_that_a_commit_took_is_not_undone(repo: Repo, path: str) -> None:
    """Its undo took the other's line out of the file, and HEAD's line with it."""
    repo.edit("S1", path, TEN + "more\n")
    repo.edit("S3", path, changed(5, "five of S3", TEN + "more\n"))
    shells.run(repo, "S2", f"mv {path} m")
    repo.commit("S2") if path == "a" else repo.commit("S1")
    before = (repo.root / "m").read_text()
    repo.ralph("undo", "--session", "S2")
    assert (repo.root / "m").read_text() == before
    assert not (repo.root / path).exists()
    assert repo.commit("S2").status == "nothing"
    if path == "a":
        repo.commit("S1")
    repo.commit("S3")
    assert _text(repo, "m") == before


@pytest.mark.parametrize("text", ["", "import os\n"])
def test_a_file_that_another_makes_anew_is_not_its_first_makers(repo: Repo, text: str) -> None:
    repo.edit("S1", "x.py", "")
    shells.run(repo, "S1", "rm x.py")
    repo.edit("S2", "x.py", text)
    assert repo.commit("S1").status == "nothing"
    assert repo.commit("S2").paths == {"x.py": "A"}


def test_an_offered_file_that_its_session_moves(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > k")
    shells.run(repo, "S1", "mv k l")
    assert repo.commit("S1").left == {"l": "shell"}
    assert repo.commit("S1", "--with-shell").paths == {"l": "A"}


def test_a_package_that_moves_with_its_empty_files(repo: Repo) -> None:
    for name in ("__init__.py", "sub/__init__.py", "same", "other"):
        repo.write(f"pkg/{name}", "" if name.endswith("py") else "two equal files\n")
    repo.commit_all("package")
    shells.run(repo, "S1", "git mv pkg lib")
    names = ("__init__.py", "sub/__init__.py", "same", "other")
    moved = {f"{top}/{name}": change for name in names for top, change in (("pkg", "D"), ("lib", "A"))}
    assert repo.commit("S1", checked=False).paths == moved


def test_an_empty_file_is_not_moved_to_another_name(repo: Repo) -> None:
    repo.write("gone", "")
    repo.commit_all("empty")
    shells.run(repo, "S1", "rm gone; : > new")
    answer = repo.commit("S1")
    assert (answer.paths, answer.left) == ({"gone": "D"}, {"new": "shell"})


def test_which_of_two_equal_files_moved_is_told_by_the_name(repo: Repo) -> None:
    shells.run(repo, "S1", "mkdir x; cp a copy; mv a x/a")
    answer = repo.commit("S1")
    assert (answer.paths, answer.left) == ({"a": "D", "x/a": "A"}, {"copy": "shell"})
    assert not os.path.lexists(repo.file("a"))
    shutil.rmtree(repo.file("x"))


def test_a_tool_edits_the_file_that_a_running_command_moved(repo: Repo) -> None:
    shell = Shell(repo, "S1").begin().work("git mv a moved")
    repo.edit("S2", "moved", EIGHT, TEN)
    shell.end()
    assert repo.commit("S1", checked=False).paths == {"a": "D", "moved": "A"}
    assert _text(repo, "moved") == TEN
    assert repo.commit("S2", checked=False).paths == {"moved": "M"}
    assert _text(repo, "moved") == EIGHT


def test_another_moves_a_file_over_one_that_a_running_command_might_have_changed(repo: Repo) -> None:
    """The move took the old text away, not the command: nothing is left for the command's session."""
    repo.write("b", "other\n")
    repo.commit_all("b")
    shell = Shell(repo, "S1").begin()
    repo.rename("S2", "b", "a")
    shell.end()
    assert repo.commit("S1").status == "nothing"
    assert repo.commit("S2").paths == {"a": "M", "b": "D"}


def test_a_persons_change_in_a_file_that_a_command_moved_over_another_stays_out(repo: Repo) -> None:
    """A command's picture has what stood there before; that makes the lines no more its session's."""
    repo.write("b", "port eighty\nhost\n")
    repo.commit_all("b")
    shells.run(repo, "S1", "mv b a")
    repo.write("a", "port secure\nhost\n")
    answer = repo.commit("S1")
    assert answer.paths == {"a": "M", "b": "D"}
    assert _text(repo, "a") == "port eighty\nhost\n"
    assert "committed as it was recorded" in answer.said
    assert repo.commit(None, "--mine").paths == {"a": "M"}


def test_a_move_of_a_file_whose_deletion_a_stash_holds(repo: Repo) -> None:
    """`git stash apply` would take the file away as well, but it brings no text to another name."""
    repo.git("rm", "-q", "a")
    repo.git("stash", "-q")
    shells.run(repo, "S1", "mv a moved")
    assert repo.commit("S1").paths == {"a": "D", "moved": "A"}


def test_what_a_command_and_another_may_both_have_made_is_said(repo: Repo) -> None:
    """The command's record comes after that of the edit which took one of its lines away.

    What a person did before is in no record, so the texts alone do not lead from one to the other.
    """
    repo.edit("S1", "a", changed(9, "nine"))
    repo.write("a", changed(9, "nine").replace("line 6\n", ""))
    shell = Shell(repo, "S1").begin().work("sed -i '2i first\\nsecond' a")
    repo.edit("S2", "a", (repo.read("a") or b"").replace(b"first\n", b""))
    shell.end()
    answer = repo.commit("S1")
    assert (answer.paths, answer.left) == ({"a": "M"}, {"a": "contested"})
    assert _text(repo, "a") == changed(9, "nine")


@pytest.mark.parametrize("command", ["git stash pop -q; chmod +x b", "cp a saved; git stash pop -q"])
def test_a_deletion_that_a_stash_brought_back_is_no_move(repo: Repo, command: str) -> None:
    """A file that holds the same text already is not where the deleted one went."""
    repo.git("rm", "-q", "a")
    repo.git("stash", "-q")
    shells.run(repo, "S1", command)
    assert "a" not in repo.commit("S1").paths
    assert repo.git("ls-tree", "--name-only", "HEAD", "a") == "a"


@pytest.mark.parametrize("now", ["nothing else\nhost\n", "host\n"])
@pytest.mark.parametrize("there", [TEN, ""])
def test_a_file_that_was_edited_and_moved_over_another_comes_as_it_was(
    repo: Repo, there: str, now: str
) -> None:
    """HEAD had its lines under the old name; what a person made of them since waits for the person."""
    repo.write("a", there)
    repo.write("b", "port eighty\nhost\n")
    repo.commit_all("b")
    repo.edit("S1", "b", "port eighty\nhost\nadded by one\n")
    repo.rename("S1", "b", "a")
    repo.write("a", f"{now}added by one\n")
    assert repo.commit("S1").paths == {"a": "M", "b": "D"}
    assert _text(repo, "a") == "port eighty\nhost\nadded by one\n"


@pytest.mark.parametrize("kept", ["all of it", "a part"])
def test_a_line_that_a_command_corrected_and_committed_is_no_persons(repo: Repo, kept: str) -> None:
    """After a reset nobody's record has it, but the command may have made it."""
    more = "" if kept == "all of it" else "; echo more >> a"
    repo.edit("S1", "a", changed(3, "three of S1 here"))
    shells.run(repo, "S2", f"sed -i 's/of S1/of S2/' a; git commit -qam x{more}")
    repo.git("reset", "-q", "HEAD~1")
    repo.commit("S1")
    assert "of S2" not in _text(repo, "a")
    assert "three of S1 here\n" in _text(repo, "a")


def test_a_persons_change_in_a_new_file_that_a_command_moved_over_another_stays_out(repo: Repo) -> None:
    """HEAD has the text under no name; who moved it need not have written it."""
    repo.write("new", "port eighty\nhost\n")
    shells.run(repo, "S1", "echo dirty >> a")
    shells.run(repo, "S1", "mv new a")
    repo.write("a", "port secure\nhost\n")
    repo.commit("S1")
    assert "secure" not in _text(repo, "a")


def test_what_a_command_may_have_made_and_goes_along_names_its_session(repo: Repo) -> None:
    """Its end is recorded after the edit that went on with its line, so both may have made that line."""
    shell = Shell(repo, "S1").begin().work("sed -i '5a first words' a")
    repo.edit("S2", "a", (repo.read("a") or b"").replace(b"first words", b"first words, and more"))
    shell.end()
    assert repo.commit("S2", code=4).left == {"a": "entangled"}
    repo.commit("S2", "--include-entangled")
    trailers = repo.git("log", "-1", "--format=%(trailers:key=Ralph-Includes,valueonly)").split()
    assert {"S1", "unrecorded"} <= set(trailers)


def test_a_removal_of_a_part_of_what_a_stash_removes_is_the_commands(repo: Repo) -> None:
    """`git stash apply` takes away all that the stash does, also a brace."""
    repo.write("a", TEN.replace("line 6\n", "}\n"))
    repo.commit_all("a brace")
    repo.write("a", TEN.replace("line 6\nline 7\n", ""))
    repo.git("stash", "-q")
    shells.run(repo, "S1", "sed -i '/line 7/d' a")
    assert repo.commit("S1").paths == {"a": "M"}
    assert _text(repo, "a") == TEN.replace("line 6\nline 7\n", "}\n")


@pytest.mark.parametrize("more", ["", "sed -i 's/^line 3$/three/' moved"])
def test_a_command_moves_a_file_that_another_edited_meanwhile(repo: Repo, more: str) -> None:
    """The line went along with the file, and stays its writer's."""
    shell = Shell(repo, "S1").begin()
    repo.edit("S2", "a", EIGHT)
    shell.work(f"mv a moved; {more}").end()
    assert repo.commit("S1").paths == {"a": "D", "moved": "A"}
    assert _text(repo, "moved") == (THREE if more else TEN)
    assert repo.commit("S2").paths == {"moved": "M"}
    assert _text(repo, "moved") == (BOTH if more else EIGHT)


def test_a_command_moves_a_file_that_another_edited_meanwhile_over_a_third(repo: Repo) -> None:
    """Refused, as where the edit came before the command."""
    shell = Shell(repo, "S1").begin()
    repo.edit("S2", "a", EIGHT)
    shell.work("mv a b").end()
    assert repo.commit("S1", code=4).left == {"a": "contested"}


def test_a_running_command_may_have_changed_what_an_edit_found(repo: Repo) -> None:
    """The last edit left the file as it is, but the command changed the line before that edit."""
    repo.edit("S1", "a", changed(3, "three of S1 here"))
    shell = Shell(repo, "S2").begin().work("sed -i 's/of S1/of S2/' a")
    repo.edit("S3", "a", changed(8, "eight", changed(3, "three of S2 here")))
    repo.commit("S1")
    assert _text(repo, "a") == changed(3, "three of S1 here")
    shell.end()


def test_an_edit_inside_a_command_that_put_the_file_back_is_no_persons(repo: Repo) -> None:
    """The command is told of at its end, but the edit came after what it did."""
    repo.edit("S2", "a", THREE)
    shell = Shell(repo, "S1").begin().work("sed -i 's/^three$/line 3/' a")
    repo.edit("S2", "a", EIGHT)
    shell.end()
    repo.write("a", changed(5, "a person's", EIGHT))
    assert repo.commit(None, "--mine").paths == {"a": "M"}
    assert _text(repo, "a") == changed(5, "a person's")
    assert repo.commit("S2").paths == {"a": "M"}


def test_what_a_running_command_changes_beside_its_own_edit_is_no_persons(repo: Repo) -> None:
    """As in a file in which no session has anything; what is recorded meanwhile bars nothing."""
    repo.edit("S1", "a", EIGHT)
    repo.write("a", changed(5, "a person's", EIGHT))
    shell = Shell(repo, "S1").begin()
    repo.edit("S2", "a", changed(9, "nine", changed(5, "a person's", EIGHT)))
    shell.work("sed -i 's/^line 3$/three/' a")
    assert repo.commit(None, "--mine").left == {"a": "shell"}
    shell.work("sed -i 's/^three$/line 3/' a")
    assert repo.commit(None, "--mine").paths == {"a": "M"}
    assert _text(repo, "a") == changed(5, "a person's")


def test_what_a_running_command_changed_before_anothers_edit_is_no_persons(repo: Repo) -> None:
    """The file was as in HEAD when the command began."""
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 3$/three/' a")
    repo.edit("S2", "a", BOTH)
    assert repo.commit(None, "--mine").left == {"a": "shell"}
    shell.end()
    assert repo.commit(None, "--mine").status == "nothing"


def test_what_a_command_did_and_nobody_can_tell_by_line_is_no_persons(repo: Repo) -> None:
    """Another's commit brought a line into a file that was changed before, as git does around a rebase."""
    repo.edit("S1", "a", changed(5, "five"))
    shell = Shell(repo, "S1").begin().work("sed -i '/^line 3$/d' a")
    repo.edit("S2", "a", changed(8, "eight of S2", changed(5, "five").replace("line 3\n", "")))
    assert repo.commit("S2").paths == {"a": "M"}
    shell.end()
    repo.commit(None, "--mine")
    assert "line 3\n" in _text(repo, "a")


def test_a_file_that_a_command_edits_and_moves_over_another_brings_no_line_of_others(repo: Repo) -> None:
    """It is a move with a change, as where no file stood there before."""
    repo.write("b", "port eighty\nhost\n")
    repo.commit_all("b")
    repo.edit("S2", "a", EIGHT)
    shells.run(repo, "S1", "sed -i 's/^line 3$/three/' a; mv a b")
    assert repo.commit("S1", "--skip-entangled").left == {"a": "contested", "b": "contested"}
    repo.git("checkout", "-q", "a")
    repo.commit("S1", code=4)
    assert _text(repo, "b") == "port eighty\nhost\n"


@pytest.mark.parametrize("first", ["one", "two"])
@pytest.mark.parametrize("session", ["S1", "S2"])
def test_two_commands_over_a_line_of_a_third(repo: Repo, session: str, first: str) -> None:
    """The second one found what the first had done, although that is told of only while it runs."""
    of_three = changed(3, "three of S3 here")
    repo.edit("S3", "a", of_three)
    one = Shell(repo, "S1").begin().work("sed -i 's/of S3/of S1/' a")
    two = Shell(repo, session).begin().work("sed -i '/line 9/d' a")
    for shell in (one, two) if first == "one" else (two, one):
        shell.end()
    assert repo.commit("S3").paths == {"a": "M"}
    assert _text(repo, "a") == of_three
    assert repo.commit(None, "--mine").status == "nothing"
    repo.commit("S1", "--with-shell")
    assert _text(repo, "a") == (repo.read("a") or b"").decode()


def test_a_move_of_a_file_that_another_command_changed_meanwhile_is_told_whole(repo: Repo) -> None:
    """Where its old end is left, its new end with the other's line must not go alone."""
    other = Shell(repo, "S2").begin().work("sed -i 's/^line 8$/eight of S2/' a")
    shell = Shell(repo, "S1").begin()
    other.end()
    shell.work("mv a moved").end()
    assert repo.commit("S1").left == {"a": "contested", "moved": "contested"}


@pytest.mark.parametrize("more", ["true", "sed -i 's/^line 10$/ten/' a"])
@pytest.mark.parametrize("first", ["one", "two"])
def test_an_edit_on_top_of_what_one_of_two_commands_did(repo: Repo, first: str, more: str) -> None:
    """The first to end is told of behind the edit on top of it, and that is no step back by the other."""
    one, two = Shell(repo, "S1"), Shell(repo, "S2")
    if first == "two":
        two.begin()
    one.begin().work("sed -i 's/^line 3$/three/' a")
    if first == "one":
        two.begin()
    repo.edit("S3", "a", changed(8, "eight", THREE))
    one.end()
    two.work(more).end()
    assert repo.commit("S3").paths == {"a": "M"}
    assert _text(repo, "a") == changed(8, "eight")
    assert repo.commit(None, "--mine").status == "nothing"


def test_two_commands_in_many_files_read_the_notes_once(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not once for each file: the notes may be long, and the agent waits."""
    for number in range(20):
        repo.write(f"many/{number}", TEN)
    repo.commit_all("many")
    one = Shell(repo, "S1").begin().work("sed -i 's/^line 3$/three/' many/*")
    two = Shell(repo, "S2").begin().work("sed -i 's/^line 8$/eight/' many/*")
    one.end()
    reads, read = list[int](), windows.read

    def counted(layout: Layout, since: int = 0) -> list[windows.Window]:
        reads.append(since)
        return read(layout, since)

    monkeypatch.setattr(windows, "read", counted)
    two.end()
    assert 0 < len(reads) < 5


@pytest.mark.parametrize("first", [True, False])
def test_a_mode_that_a_running_command_changed_beside_an_edit_is_no_persons(repo: Repo, first: bool) -> None:
    """Nor where an edit found the file with that mode; a person's own goes."""
    repo.edit("S1", "a", EIGHT)
    shell = Shell(repo, "S2").begin()
    if first:
        shell.work("chmod +x a")
    repo.edit("S1", "a", BOTH)
    shell.work("chmod +x a")
    assert repo.commit(None, "--mine").left == {"a": "shell"}
    shell.work("chmod -x a").end()
    repo.file("a").chmod(0o755)
    shell = Shell(repo, "S2").begin()
    assert repo.commit(None, "--mine").paths == {"a": "M"}
    assert repo.mode("a") == "100755"
    assert _text(repo, "a") == TEN
    shell.end()


def test_a_file_that_a_command_deleted_and_committed_is_its_deletion_after_a_reset(repo: Repo) -> None:
    """Another's uncommitted line went with it: that comes from the record, and the deletion waits for it."""
    repo.git("config", "ralph.discard", "off")
    repo.edit("S1", "a", changed(3, "three of S1 here"))
    shells.run(repo, "S2", "git rm -qf a; git commit -qm x")
    repo.git("reset", "-q", "HEAD~1")
    assert repo.commit("S2", code=4).left == {"a": "contested"}
    assert repo.commit("S1").paths == {"a": "M"}
    assert _text(repo, "a") == changed(3, "three of S1 here")
    assert repo.commit("S2").paths == {"a": "D"}


def _contested(repo: Repo) -> None:
    """Commands of S1 and S2 ran at once, and two places of ``a`` changed."""
    one, two = Shell(repo, "S1").begin(), Shell(repo, "S2").begin()
    repo.write("a", changed(3, "three", changed(8, "eight")))
    one.end()
    two.end()


def test_each_line_that_two_commands_may_have_made_is_his_to_whom_a_person_gives_it(repo: Repo) -> None:
    """Both commits were refused as out of date, and --with-shell took what had just been given to another."""
    _contested(repo)
    repo.ralph("assign", "--to", "S1", "a:3")
    assert repo.commit("S2", "--with-shell").status == "nothing"
    repo.ralph("assign", "--to", "S2", "a:8")
    repo.commit("S1")
    assert _text(repo, "a") == changed(3, "three")
    repo.commit("S2")
    assert _text(repo, "a") == changed(3, "three", changed(8, "eight"))


def test_a_new_file_that_was_given_to_another_is_not_taken_with_the_shells(repo: Repo) -> None:
    shells.run(repo, "S1", "printf 'one\\ntwo\\n' > n")
    repo.start("S2")
    repo.ralph("assign", "--to", "S2", "n")
    assert repo.commit("S1", "--with-shell").status == "nothing"
    assert repo.commit("S2").paths == {"n": "A"}


def test_what_stood_there_when_a_command_began_is_not_its_change(repo: Repo) -> None:
    """S1's command had changed line 3 before that of S2 began: its picture shows it."""
    one = Shell(repo, "S1").begin()
    repo.write("a", changed(3, "three"))
    two = Shell(repo, "S2").begin()
    repo.write("a", changed(3, "three", changed(8, "eight")))
    two.end()
    one.end()
    assert repo.commit("S1").paths == {"a": "M"}
    assert _text(repo, "a") == changed(3, "three")
    assert repo.commit("S2", "--with-shell").paths == {"a": "M"}


def test_what_changed_when_a_command_had_ended_is_not_its_change(repo: Repo) -> None:
    """S1's command is told to be over only later, and nobody knows when it was; S2's had ended before."""
    one, two = Shell(repo, "S1").begin(), Shell(repo, "S2").begin()
    repo.write("a", changed(3, "three"))
    two.end()
    repo.write("a", changed(3, "three", changed(8, "eight")))
    repo.ralph("session", "end", "S1")
    repo.commit("S2", "--with-shell")
    assert _text(repo, "a") == changed(3, "three")
    assert one.call


@pytest.mark.parametrize(
    "command", ["cd {} && sed -i 's/line 3$/three/' a", "sed -i 's/line 3$/three/' {}/a"]
)
@pytest.mark.parametrize("name", ["path", "name"])
def test_a_command_that_works_in_another_worktree(repo: Repo, command: str, name: str) -> None:
    """It names that folder: its change there is its session's, and no person's."""
    tree = repo.worktree("w-tree")
    folder = str(tree.root) if name == "path" else f"../{tree.root.name}"
    shells.run(repo, "S1", command.format(folder))
    assert tree.commit(None, "--mine").status == "nothing"
    assert tree.commit("S1").paths == {"a": "M"}
    assert tree.blob("a").decode() == changed(3, "three")


@pytest.mark.parametrize("is_older", [False, True])
@pytest.mark.parametrize("when", ["at its end", "in the command"])
def test_a_command_that_makes_a_worktree_and_works_there(repo: Repo, when: str, is_older: bool) -> None:
    """A fresh worktree is clean. In one that was there before, and is not named, nobody knows who worked."""
    made = f"git worktree add -q {repo.root}-tree -b tree"
    work = f"cd {repo.root}-tree && sed -i 's/line 3$/three/' a"
    if is_older:
        repo.git("worktree", "add", "-q", f"{repo.root}-tree", "-b", "tree")
        shell = Shell(repo, "S1", "make test").begin().work(work)
    else:
        shell = Shell(repo, "S1", f"{made} && {work}").begin().work()
    tree = Repo(Path(f"{repo.root}-tree"), repo.env)
    inside = {"CLAUDE_CODE_SESSION_ID": "S1"}
    done = []
    if when == "in the command":
        done.append(tree.run("commit", "-m", "x", env=inside).text)
    shell.end()
    if is_older:
        assert tree.commit("S1").status == "nothing"
    else:
        assert when == "in the command" or tree.commit("S1").paths == {"a": "M"}
        assert tree.blob("a").decode() == changed(3, "three"), done
        assert tree.trailers().startswith("Ralph-Session: S1")
        tree.write("a", changed(3, "three", changed(8, "a person's")))
        assert tree.commit("S1").status == "nothing"
        assert tree.commit(None, "--mine").paths == {"a": "M"}


def test_a_command_in_a_linked_worktree_that_works_in_the_main_one(repo: Repo) -> None:
    tree = repo.worktree("w-tree")
    main = repo.git("rev-parse", "--show-toplevel").strip()
    shell = Shell(tree, "S1", f"cd {main} && sed -i 's/line 3$/three/' a").begin().work()
    assert repo.commit(None, "--mine").left == {"a": "shell"}
    shell.end()
    assert repo.commit("S1").paths == {"a": "M"}


def test_a_persons_line_beside_one_that_two_commands_may_have_made_goes_alone(repo: Repo) -> None:
    """Nothing was to be had, and the hint took the commands' line along."""
    one, two = Shell(repo, "S1").begin(), Shell(repo, "S2").begin()
    repo.write("a", changed(3, "three"))
    one.end()
    two.end()
    repo.write("a", changed(3, "three", changed(8, "eight")))
    found = repo.commit(None, "--mine")
    assert (found.paths, found.left) == ({"a": "M"}, {"a": "shell"})
    assert _text(repo, "a") == changed(8, "eight")
    assert repo.commit("S1", "--with-shell").paths == {"a": "M"}
    assert _text(repo, "a") == changed(3, "three", changed(8, "eight"))


def test_a_line_of_a_command_that_has_not_ended_is_not_called_the_persons(repo: Repo) -> None:
    """Another command of the session changed the file since, and has told of its own line."""
    one = Shell(repo, "S1").begin()
    repo.write("a", changed(3, "three"))
    two = Shell(repo, "S1").begin()
    repo.write("a", changed(3, "three", changed(8, "eight")))
    two.end()
    repo.commit("S1")
    said = repo.ralph("commit", "--session", "S1", "-m", "x").said
    assert "--mine" not in said
    one.end()
    assert repo.commit("S1").paths == {"a": "M"}


def test_a_folder_that_moves_and_leaves_a_link_is_moved(repo: Repo) -> None:
    """Behind the link the old paths still lead to the files, and the commit lost these."""
    repo.write("d/a", TEN)
    repo.write("d/b", changed(5, "five"))
    repo.commit_all("d")
    repo.edit("S2", "d/a", changed(3, "three of S2"))
    shells.run(repo, "S1", "mv d s && ln -s s d")
    assert repo.commit("S1", "--with-shell").paths == {
        "d": "A",
        "d/a": "D",
        "d/b": "D",
        "s/a": "A",
        "s/b": "A",
    }
    assert _text(repo, "s/a") == TEN
    assert repo.commit("S2").paths == {"s/a": "M"}
    assert _text(repo, "s/a") == changed(3, "three of S2")


def test_a_file_that_a_pull_renames_is_not_moved_by_the_command_that_pulls(repo: Repo) -> None:
    """What others have in it goes back to them; only one session's --whole-file took all of it."""
    repo.git("config", "ralph.discard", "off")
    repo.git("switch", "-qc", "up")
    repo.git("mv", "a", "k")
    repo.git("commit", "-qm", "moved")
    repo.git("switch", "-q", "main")
    repo.edit("S2", "a", changed(3, "three of S2"))
    repo.write("a", changed(8, "eight of the person", changed(3, "three of S2")))
    shells.run(repo, "S1", "git stash -q; git merge -q up; git stash pop -q; git reset -q")
    assert repo.commit("S1").status == "nothing"
    said = repo.ralph("commit", "--mine", "-m", "x", code=4).said
    name = repo.called("S2")
    assert f"hint: git ralph assign --to {name} -- k:3" in said
    repo.ralph("assign", "--to", "S2", "--", "k:3")
    assert repo.commit("S2").paths == {"k": "M"}
    assert _text(repo, "k") == changed(3, "three of S2")
    assert repo.commit(None, "--mine", "--", "k").paths == {"k": "M"}


@pytest.mark.parametrize("command", ["true w-tree-2 2w-tree", "cat tests/w-tree/x", "cd .. && ls"])
def test_a_command_whose_words_lie_in_no_other_worktree_has_no_part_there(repo: Repo, command: str) -> None:
    """What a person does there meanwhile is his."""
    tree = repo.worktree("w-tree")
    shell = Shell(repo, "S1", command).begin()
    tree.write("a", changed(3, "three of the person"))
    shell.end()
    assert tree.commit("S1").status == "nothing"
    assert tree.commit(None, "--mine").paths == {"a": "M"}


def test_a_command_that_goes_to_another_worktree_step_by_step(repo: Repo) -> None:
    tree = repo.worktree("w-tree")
    shells.run(repo, "S1", "cd .. && cd w-tree && sed -i 's/line 3$/three/' a")
    assert tree.commit("S1").paths == {"a": "M"}


def test_a_registration_that_is_no_file_stops_no_hook(repo: Repo) -> None:
    """A fifo, which a hook would wait for, and a name with bytes that no path has."""
    tree = repo.worktree("w-tree")
    (repo.common / "worktrees/odd").mkdir()
    os.mkfifo(repo.common / "worktrees/odd/gitdir")
    (repo.common / "worktrees/odd2").mkdir()
    (repo.common / "worktrees/odd2/gitdir").write_bytes(b"/a\0b/.git\n")
    shells.run(repo, "S1", f"cd {tree.root} && sed -i 's/line 3$/three/' a; printf '\\0'")
    shutil.rmtree(repo.common / "worktrees/odd")
    shutil.rmtree(repo.common / "worktrees/odd2")
    assert tree.commit("S1").paths == {"a": "M"}


def test_a_text_that_stood_there_once_does_not_clear_a_command_that_began_before(repo: Repo) -> None:
    """S2's command found the text that S1's step made, but began first: it may have made it again."""
    repo.write("a", changed(3, "three"))
    two = Shell(repo, "S2").begin()
    repo.write("a", TEN)
    one = Shell(repo, "S1").begin()
    repo.write("a", changed(3, "three"))
    repo.edit("S3", "a", changed(3, "three", EIGHT))
    one.end()
    two.end()
    assert repo.commit("S1").left == {"a": "contested"}
    assert repo.commit("S3").paths == {"a": "M"}
    assert _text(repo, "a") == EIGHT


# --- our own commands in a command ---


def test_what_is_restored_while_another_command_runs_is_its_sessions(repo: Repo) -> None:
    """The command's end recorded the same lines once more, as its own."""
    repo.edit("S1", "a", THREE)
    repo.edit("S2", "a", BOTH)
    repo.git("checkout", "-q", "a")
    shell = Shell(repo, "S2").begin()
    for session in ("S1", "S2"):
        repo.ralph("restore", "--session", session)
    shell.end()
    assert repo.commit("S2").paths == {"a": "M"}
    assert _text(repo, "a") == EIGHT
    assert repo.commit("S1").paths == {"a": "M"}
    assert _text(repo, "a") == BOTH


def test_what_a_session_undoes_in_its_own_command_can_be_done_again(repo: Repo) -> None:
    repo.edit("S1", "a", THREE)
    repo.edit("S2", "a", BOTH)
    shell = Shell(repo, "S1").begin()
    repo.ralph("undo", "--session", "S1")
    shell.end()
    assert repo.read("a") == EIGHT.encode()
    repo.ralph("undo", "--redo", "--session", "S1")
    assert repo.read("a") == BOTH.encode()
    assert repo.commit("S1").paths == repo.commit("S2").paths == {"a": "M"}


@pytest.mark.parametrize("command", ["git merge --squash side", "git cherry-pick -n side"])
def test_what_git_brings_without_a_commit_is_not_the_commands(repo: Repo, command: str) -> None:
    """The line of the branch became the session's, and a file that the branch had made stayed out."""
    repo.git("checkout", "-q", "-b", "side")
    repo.edit("S2", "a", THREE)
    repo.edit("S2", "n", "new\n")
    repo.commit("S2")
    repo.git("checkout", "-q", "main")
    shells.run(repo, "S1", command)
    assert repo.pending("S1") == []
    assert repo.commit("S1", "--with-shell").status == "nothing"
    assert {"a", "n"} <= repo.owners().keys()
    assert repo.commit("S2").paths == {"a": "M", "n": "A"}


@pytest.mark.parametrize(
    "command", ["git rebase -q --autostash up", "git stash -q; git merge -q up; git stash pop"]
)
def test_what_git_carries_to_another_head_stays_a_persons(repo: Repo, command: str) -> None:
    """`status` counted the line as a person's, and the person's commit left it as made by the command."""
    repo.git("checkout", "-q", "-b", "up")
    repo.write("a", changed(1, "one of upstream"))
    repo.commit_all("up")
    repo.git("checkout", "-q", "main")
    repo.write("a", EIGHT)
    repo.edit("S2", "b", TEN)
    shells.run(repo, "S1", "git rebase -q --autostash up")
    assert repo.commit("S1", "--with-shell").status == "nothing"
    repo.ralph("commit", "--mine", "-m", "mine")
    assert _text(repo, "a") == changed(8, "eight of S2", changed(1, "one of upstream"))


@pytest.mark.parametrize("ends", ["--continue", "--abort", "--skip"])
@pytest.mark.parametrize("begins", ["S1", "S3", None])
def test_what_a_rebase_puts_away_and_brings_back_keeps_its_owner(
    repo: Repo, begins: str | None, ends: str
) -> None:
    """It stopped at a conflict: whoever went on with it, or gave up, owned everybody's lines."""
    repo.git("checkout", "-q", "-b", "up")
    repo.write("a", changed(3, "three of upstream"))
    repo.commit_all("up")
    repo.git("checkout", "-q", "main")
    repo.write("a", THREE)
    repo.commit_all("three")
    repo.edit("S2", "b", changed(8, "of S2"))
    repo.write("u", changed(8, "a person's"))
    command = "git rebase -q --autostash up"
    shells.run(repo, begins, command) if begins else repo.git(*command.split()[1:], code=1)
    repo.write("a", changed(3, "three of both"))
    repo.git("add", "a")
    shells.run(repo, "S1", f"GIT_EDITOR=true git rebase {ends}")
    assert repo.read("u") == changed(8, "a person's").encode()
    assert repo.commit("S1", "--with-shell").status == "nothing"
    assert repo.commit("S2").paths == {"b": "M"}
    repo.ralph("commit", "--mine", "-m", "mine", "--", "u")  # the stash may have been the command's own
    assert repo.changes() == {"u": "M"}


@pytest.mark.parametrize("away", ["git stash -q -u", "git add -A; git stash -q"])
def test_a_new_file_that_is_put_away_and_comes_back_keeps_its_owner(repo: Repo, away: str) -> None:
    """In one call it did; in two it was nobody's, and its session's commit left it out."""
    repo.edit("S1", "new", "one\ntwo\n")
    shells.run(repo, "S1", away)
    assert repo.read("new") is None
    shells.run(repo, "S1", "git stash pop -q")
    assert repo.commit("S1").paths == {"new": "A"}


def test_a_new_file_that_a_stash_has_and_that_is_deleted_since_is_deleted(repo: Repo) -> None:
    repo.edit("S1", "new", "one\ntwo\n")
    shells.run(repo, "S1", "git stash -q -u; git stash apply -q")
    shells.run(repo, "S1", "rm new")
    assert repo.commit("S1").status == "nothing"
    repo.write("new", "one\ntwo\n")
    assert repo.commit("S1").status == "nothing"


def test_a_conflict_that_a_command_settles_is_its_edit(repo: Repo) -> None:
    """With an edit tool it was; by `sed` the line was nobody's, in the session's own commit."""
    repo.git("checkout", "-q", "-b", "up")
    repo.write("a", changed(3, "three of upstream"))
    repo.commit_all("up")
    repo.git("checkout", "-q", "main")
    repo.edit("S1", "a", THREE)
    repo.commit("S1")
    shells.run(repo, "S1", "git rebase -q up")
    shells.run(repo, "S1", "sed -i '/^<<<<<<</,/^>>>>>>>/c three of both' a")
    shells.run(repo, "S1", "git add a; GIT_EDITOR=true git rebase --continue")
    assert _text(repo, "a") == changed(3, "three of both")
    assert f"session '{repo.called('S1')}'" in repo.ralph("why", "a:3").text


def test_a_deletion_that_is_refused_for_anothers_line_is_no_persons(repo: Repo) -> None:
    """`status` showed a part as a person's, of whom nothing was there."""
    repo.edit("S2", "a", TEN + "extra of S2\n")
    shell = Shell(repo, "S1").begin()
    repo.remove("a")
    shell.end()
    assert "yours" not in repo.ralph("status").text
    assert "unrecorded" not in repo.ralph("status").text
    assert repo.commit("S1", code=4).left == {"a": "contested"}


# --- what a command does with whole files ---


def test_two_files_that_a_command_swaps_bring_no_line_of_others(repo: Repo) -> None:
    """The command's commit had a session's line and a person's, in files that had been the other's."""
    repo.write("c", "".join(f"row {number}\n" for number in range(1, 11)))
    repo.commit_all("c")
    repo.edit("S2", "a", THREE)
    repo.write("c", (repo.read("c") or b"").decode().replace("row 5\n", "row five of a person\n"))
    shell = Shell(repo, "S1").begin().work("mv a t; mv c a; mv t c").end()
    assert repo.commit("S1").status == "nothing"
    assert repo.commit(None, "--mine").left.keys() == {"a", "c"}
    shell.begin().work("mv a t; mv c a; mv t c").end()
    assert repo.commit("S2").paths == {"a": "M"}
    assert _text(repo, "a") == THREE


def test_what_comes_from_a_stash_of_the_command_itself_is_no_persons(repo: Repo) -> None:
    shells.run(repo, "S1", "sed -i 's/^line 3$/three/' a; git stash -q")
    shells.run(repo, "S1", "git stash pop -q")
    assert repo.commit(None, "--mine").left == {"a": "shell"}


@pytest.mark.parametrize("first", ["S1", "S2"])
def test_a_file_that_one_deletes_and_another_makes_is_never_empty_in_head(repo: Repo, first: str) -> None:
    shell = Shell(repo, "S1").begin()
    repo.remove("a")
    shell.end()
    shell = Shell(repo, "S2").begin()
    repo.write("a", "new of S2\n")
    shell.end()
    for session in (first, "S1", "S2"):
        repo.run("commit", "--session", session, "-m", session)
    assert repo.blob("a") == b"new of S2\n"
    sizes = [
        repo.git("cat-file", "-s", f"{one}:a")
        for one in repo.git("log", "--format=%H", "--", "a").split()
        if repo.changes(one).get("a") != "D"
    ]
    assert "0" not in sizes


def test_a_new_file_that_another_writes_anew_is_committed_as_it_was_made(repo: Repo) -> None:
    """The hint lets its maker go first; HEAD got an empty file then."""
    repo.edit("S2", "n", "one of S2\ntwo of S2\n")
    shells.run(repo, "S1", "cp a n")
    assert repo.commit("S1", "--with-shell", code=4).left == {"n": "entangled"}
    assert repo.commit("S2").paths == {"n": "A"}
    assert _text(repo, "n") == "one of S2\ntwo of S2\n"
    assert repo.commit("S1").paths == {"n": "M"}
    assert _text(repo, "n") == TEN


def test_a_new_file_that_a_command_moves_is_lost_to_nobody(repo: Repo) -> None:
    repo.edit("S2", "n", "one of S2\ntwo of S2\n")
    shells.run(repo, "S1", "mkdir f; mv n f/n")
    assert "lost" not in repo.ralph("status").said
    assert "nothing" in repo.ralph("restore", "--session", "S2").text
    assert repo.commit("S2").paths == {"f/n": "A"}


def test_a_persons_line_that_a_command_puts_away_and_back_stays_a_persons(repo: Repo) -> None:
    """Of the first call nothing was recorded, and with the second the line was the session's."""
    repo.edit("S2", "a", THREE)
    repo.write("a", BOTH)
    for command in ("cp a /tmp/$PPID.a; git show HEAD:a > a", "cp /tmp/$PPID.a a; rm /tmp/$PPID.a"):
        shells.run(repo, "S1", command)
    assert repo.read("a") == BOTH.encode()
    assert repo.commit("S1").status == "nothing"
    assert repo.commit("S2").paths == {"a": "M"}
    assert _text(repo, "a") == THREE
    assert repo.commit(None, "--mine").paths == {"a": "M"}
    assert _text(repo, "a") == BOTH

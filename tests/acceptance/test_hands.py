"""Shells are hands too: what a session's shell command changed is its edit, line for line."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import shells
from tests.support.repo import Repo
from tests.support.shells import Shell
from tests.support.texts import TEN, changed


def _lines(repo: Repo, path: str) -> list[str]:
    blob = repo.blob(path)
    return [] if blob is None else blob.decode().splitlines()


def _records(repo: Repo) -> list[dict[str, Any]]:
    """All that was recorded, by whatever session."""
    lines = [
        line for path in (repo.state / "edits").glob("*.jsonl") for line in path.read_text().splitlines()
    ]
    return [row for row in map(json.loads, lines) if "op" in row]


def _rows(repo: Repo, session: str = "S1") -> dict[str, dict[str, Any]]:
    rows = repo.ralph("status", "--json", "--session", session).json()["paths"]
    return {row["path"]: row for row in rows}


def test_a_line_that_sed_changed_is_the_sessions(repo: Repo) -> None:
    """V1: recorded with the call, and every command treats it as an edit."""
    shell = shells.run(repo, "S1", "sed -i 's/line 3/three/' a")
    [row] = _records(repo)
    assert (row["session"], row["exact"], row["call"]) == ("S1", "window", shell.call)
    assert _rows(repo)["a"]["owner"] == "mine"
    assert "+three" in repo.ralph("diff", "--session", "S1").text
    assert "S1" in repo.ralph("why", "a:3", "--json").text
    blame = repo.ralph("blame", "--json", "a").json()
    assert "S1" in json.dumps(blame)
    repo.ralph("undo", "--session", "S1")
    assert repo.read("a") == TEN.encode()
    repo.ralph("undo", "--session", "S1", "--redo")
    answer = repo.commit("S1")
    assert (answer.paths, answer.how) == ({"a": "M"}, {"a": "edits"})
    assert _lines(repo, "a")[2] == "three"


def test_beside_anothers_pending_line(repo: Repo) -> None:
    """V2: each commit holds its own line."""
    repo.edit("S2", "a", changed(8, "eight of S2"))
    shells.run(repo, "S1", "sed -i 's/^line 3$/three/' a")
    repo.commit("S1")
    assert _lines(repo, "a") == [*TEN.splitlines()[:2], "three", *TEN.splitlines()[3:]]
    repo.commit("S2")
    assert _lines(repo, "a")[7] == "eight of S2"


@pytest.mark.parametrize("first", ["shell", "edit"])
def test_an_edit_while_the_command_runs(repo: Repo, first: str) -> None:
    """V3: the recorded edit stays whose it is, the rest is the command's."""
    shell = Shell(repo, "S1").begin()
    if first == "shell":
        shell.work("sed -i 's/^line 3$/three/' a")
    text = repo.read("a")
    assert text is not None
    repo.edit("S2", "a", text.replace(b"\nline 8\n", b"\neight of S2\n"))
    if first == "edit":
        shell.work("sed -i 's/^line 3$/three/' a")
    shell.end()
    repo.commit("S1")
    assert _lines(repo, "a") == [*TEN.splitlines()[:2], "three", *TEN.splitlines()[3:]]
    repo.commit("S2")
    assert _lines(repo, "a")[7] == "eight of S2"


def test_both_changed_one_line_while_the_command_ran(repo: Repo) -> None:
    """V3: nobody's, and both are named."""
    shell = Shell(repo, "S1").begin()
    repo.edit("S2", "a", changed(3, "three of S2"))
    shell.work("sed -i 's/^three of S2$/drei/' a").end()
    for session in ("S1", "S2"):
        answer = repo.commit(session)
        assert answer.status == "nothing"
    row = _rows(repo)["a"]
    assert row["owner"] == "nobody"
    assert sorted(one["session"] for one in row["likely"]) == ["S1", "S2"]


def test_new_line_ends_change_no_line_of_another(repo: Repo) -> None:
    """V3: the command turned the whole file to CRLF; which line it wrote shows all the same."""
    repo.git("config", "core.autocrlf", "input")
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 3$/three/; s/$/\\r/' a")
    text = repo.read("a")
    assert text is not None
    repo.edit("S2", "a", text.replace(b"line 8\r\n", b""))
    shell.end()
    assert repo.commit("S1").paths == {"a": "M"}
    assert _lines(repo, "a") == [*TEN.splitlines()[:2], "three", *TEN.splitlines()[3:]]


@pytest.mark.parametrize("command", ["chmod +x a", "sed -i 's/line 3/three/' a && chmod +x a"])
def test_a_mode_that_either_of_two_windows_changed_is_nobodys(repo: Repo, command: str) -> None:
    """The event that saw it carries one session's name, which edits the file afterwards and commits."""
    one, two = Shell(repo, "S1").begin(), Shell(repo, "S2").begin()
    one.work(command).end()
    two.end()
    repo.edit("S1", "a", (repo.read("a") or b"") + b"more\n")
    repo.ralph("commit", "--session", "S1", "-m", "more")
    assert repo.git("ls-tree", "HEAD", "a").split()[0] == "100644"
    assert _lines(repo, "a") == [*TEN.splitlines(), "more"]
    repo.ralph("undo", "--session", "S1")
    assert os.access(repo.file("a"), os.X_OK)


def test_two_windows_that_overlap(repo: Repo) -> None:
    """V4: nobody's, both named, offered to each."""
    one, two = Shell(repo, "S1").begin(), Shell(repo, "S2").begin()
    one.work("sed -i 's/^line 3$/three/' a")
    two.end()
    one.end()
    for session in ("S1", "S2"):
        answer = repo.commit(session)
        assert (answer.status, answer.left) == ("nothing", {"a": "contested"})
        assert sorted(answer.document["left"][0]["sessions"]) == ["S1", "S2"]
        assert "--with-shell" in answer.said
    assert sorted(one["session"] for one in _rows(repo)["a"]["likely"]) == ["S1", "S2"]
    assert repo.commit("S2", "--with-shell").paths == {"a": "M"}
    assert repo.commit("S1").status == "nothing"


def test_a_new_file_is_offered(repo: Repo) -> None:
    """V6: by default it is left, and one option takes it; ignored files never."""
    repo.write(".gitignore", "*.log\n")
    repo.commit_all("ignore")
    shells.run(repo, "S1", "echo x > new.py; echo y > made.log")
    answer = repo.commit("S1")
    assert (answer.status, answer.left) == ("nothing", {"new.py": "shell"})
    assert "--with-shell" in answer.said
    answer = repo.commit("S1", "--with-shell")
    assert (answer.paths, answer.how) == ({"new.py": "A"}, {"new.py": "shell"})


@pytest.mark.parametrize("how", ["include", "told"])
def test_a_new_file_of_who_works_by_shell(repo: Repo, tmp_path: Path, how: str) -> None:
    """V6: `include`, or an agent whose own transcript says that it works by shell."""
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text('{"type":"system","bashFirst":true}\n')
    if how == "include":
        repo.git("config", "ralph.shellEdits", "include")
    shell = Shell(repo, "S1")
    told = {"transcript_path": str(transcript)} if how == "told" else {}
    shell.send("PreToolUse", **told)
    shell.work("cat > new.py <<'EOF'\nx = 1\nEOF")
    shell.send("PostToolUse", **told)
    assert repo.commit("S1").paths == {"new.py": "A"}


def test_a_new_file_that_a_tool_edits_then(repo: Repo) -> None:
    """The path is one that the session has edits in."""
    shells.run(repo, "S1", "printf 'one\\ntwo\\n' > new.py")
    repo.edit("S1", "new.py", "one\n2\n")
    assert repo.commit("S1").paths == {"new.py": "A"}
    assert _lines(repo, "new.py") == ["one", "2"]


GIT = {
    "checkout of a file": ("true", "git checkout -q -- a"),
    "another branch": (
        "git branch -q other; git checkout -q other; sed -i s/5/five/ b; "
        "git commit -qam other; git checkout -q main",
        "git checkout -q other",
    ),
    "merge": (
        "git checkout -q -b other; sed -i s/5/five/ b; git commit -qam other; "
        "git checkout -q main; sed -i s/5/fuenf/ c; git commit -qam main",
        "git merge -q --no-edit other",
    ),
    "rebase": (
        "git checkout -q -b other; sed -i s/5/five/ b; git commit -qam other; git checkout -q main; "
        "sed -i s/5/fuenf/ c; git commit -qam main",
        "git rebase -q other",
    ),
    "stash pop": ("sed -i s/5/five/ b; git stash -q", "git stash pop -q"),
    "stash apply": ("sed -i s/5/five/ b; git stash -q", "git stash apply -q"),
    "stash and pop": ("sed -i s/5/five/ b", "git stash -q; git stash pop -q"),
    "soft reset": ("sed -i s/5/five/ b; git commit -qam b", "git reset -q --soft HEAD^"),
    "mixed reset": ("sed -i s/5/five/ b; git commit -qam b", "git reset -q HEAD^"),
    "hard reset": ("sed -i s/5/five/ b; git commit -qam b", "git reset -q --hard HEAD^"),
    "am": (
        "git checkout -q -b other; sed -i s/5/five/ b; git commit -qam other; "
        "git format-patch -q -1 --stdout > ../one.patch; git checkout -q main",
        "git am -q ../one.patch",
    ),
    "index": ("sed -i s/5/five/ b; git add b; sed -i s/6/six/ b", "git checkout -q -- b"),
    "conflict": (
        "git checkout -q -b other; sed -i s/5/five/ b; git commit -qam other; git checkout -q main; "
        "sed -i s/5/fuenf/ b; git commit -qam main",
        "git merge -q other",
    ),
}


@pytest.mark.parametrize("what", GIT)
def test_what_git_writes_is_nobodys_new_text(repo: Repo, what: str) -> None:
    """V7."""
    before, command = GIT[what]
    repo.git("config", "ralph.discard", "off")
    repo.write("c", TEN)
    repo.commit_all("c")
    subprocess.run(["/bin/sh", "-ec", before], cwd=repo.root, check=True, capture_output=True)
    shells.run(repo, "S1", command)
    assert [r for r in _records(repo) if r["session"] == "S1" and r["op"] != "gap"] == []
    if what != "conflict":
        assert repo.commit("S1", checked=False).status == "nothing"


def test_lines_that_come_back_keep_their_owners(repo: Repo) -> None:
    """V7: a stash by S1's shell and its pop."""
    repo.git("config", "ralph.discard", "off")
    repo.edit("S2", "a", changed(8, "eight of S2"))
    shells.run(repo, "S1", "git stash -q")
    shells.run(repo, "S1", "git stash pop -q")
    assert repo.commit("S1").status == "nothing"
    repo.commit("S2")
    assert _lines(repo, "a")[7] == "eight of S2"


@pytest.mark.parametrize("command", ["mv a moved", "git mv a moved"])
def test_a_move_keeps_every_author(repo: Repo, command: str) -> None:
    """V8: the file is moved for S1, S2's line stays S2's."""
    repo.edit("S2", "a", changed(8, "eight of S2"))
    shells.run(repo, "S1", command)
    blame = repo.ralph("blame", "--json", "moved").json()
    text = json.dumps(blame)
    assert "S2" in text
    answer = repo.commit("S1", checked=False)
    assert answer.paths in ({"a": "D", "moved": "A"}, {"moved": "R"}), answer.said
    assert _lines(repo, "moved") == TEN.splitlines()
    answer = repo.commit("S2", checked=False)
    assert answer.paths == {"moved": "M"}
    assert _lines(repo, "moved")[7] == "eight of S2"


def test_a_formatter_over_others_pending_lines(repo: Repo) -> None:
    """V9: where no word changed the line stays its owner's; HEAD's lines are the formatter's session's."""
    base = "".join(f"name_{n} = value_{n}\n" for n in range(9))
    repo.write("m", base)
    repo.commit_all("m")
    repo.edit("S2", "m", base.replace("name_4 = value_4\n", "name_4 = other_4\n"))
    shells.run(repo, "S1", "sed -i 's/ = /=/' m")
    answer = repo.commit("S1")
    assert answer.paths == {"m": "M"}
    assert _lines(repo, "m")[4] == "name_4 = value_4"
    assert _lines(repo, "m")[3] == "name_3=value_3"
    repo.commit("S2")
    assert _lines(repo, "m")[4] == "name_4=other_4"


def test_a_word_changed_is_built_on_anothers_line(repo: Repo) -> None:
    """V9: then it waits for the other, or takes its line along."""
    repo.edit("S2", "a", changed(4, "four of S2"))
    shells.run(repo, "S1", "sed -i 's/four of S2/four of all/' a")
    answer = repo.commit("S1", code=4)
    assert answer.left == {"a": "entangled"}
    repo.commit("S2")
    assert _lines(repo, "a")[3] == "four of S2"
    repo.commit("S1")
    assert _lines(repo, "a")[3] == "four of all"


def test_a_failing_command_counts(repo: Repo) -> None:
    """V10."""
    Shell(repo, "S1").begin().work("sed -i 's/line 3/three/' a; exit 3").end("PostToolUseFailure")
    assert repo.commit("S1").paths == {"a": "M"}


def test_an_end_without_a_begin_records_nothing(repo: Repo) -> None:
    """V10."""
    Shell(repo, "S1").work("sed -i 's/line 3/three/' a").end()
    assert _records(repo) == []
    repo.ralph("commit", "--session", "S1", "-m", "x", code=128)


def test_nothing_is_kept_where_nothing_is_dirty(repo: Repo) -> None:
    """V11: no text, and nothing at all once the command is over."""
    shell = Shell(repo, "S1").begin()
    assert not list(repo.state.rglob("*.texts"))
    shell.end()
    assert not list(repo.state.rglob("shell-*"))
    assert not list((repo.state / "objects").rglob("*")) if (repo.state / "objects").exists() else True


def test_a_session_that_has_only_its_shell(repo: Repo) -> None:
    """V12: commit, undo and the guard work with nothing set."""
    shells.run(repo, "S1", "sed -i 's/line 3/three/' a")
    shells.run(repo, "S1", "rm b")
    assert repo.commit("S1").paths == {"a": "M", "b": "D"}
    shells.run(repo, "S1", "sed -i 's/line 4/four/' a")
    repo.ralph("undo", "--session", "S1")
    assert _lines(repo, "a")[3] == (repo.read("a") or b"").decode().splitlines()[3] == "line 4"


def test_the_open_window_counts_for_a_commit_inside_it(repo: Repo) -> None:
    """V5: what the command changed so far is committed, what comes after is pending."""
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 3$/three/' a")
    env = {**repo.env, "CLAUDE_CODE_SESSION_ID": "S1"}
    assert _rows(repo) == {} or _rows(repo)["a"]["owner"] == "nobody"
    assert repo.ralph("ls-files", env=env).text.split() == []
    assert repo.commit(None, env=env).paths == {"a": "M"}
    shell.work("sed -i 's/^line 5$/five/' a").end()
    assert _lines(repo, "a")[2:5] == ["three", "line 4", "line 5"]
    assert repo.commit("S1").paths == {"a": "M"}
    assert _lines(repo, "a")[4] == "five"


def test_what_comes_after_a_commit_inside_the_command_is_pending(repo: Repo) -> None:
    """V5: also in a file of which the commit took a part, since a person has a line there."""
    repo.write("a", changed(8, "a person's"))
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 3$/three/' a")
    env = {**repo.env, "CLAUDE_CODE_SESSION_ID": "S1"}
    assert repo.commit(None, env=env).paths == {"a": "M"}
    shell.work("sed -i 's/^line 5$/five/' a").end()
    assert repo.commit("S1").paths == {"a": "M"}
    assert _lines(repo, "a") == [*TEN.splitlines()[:2], "three", "line 4", "five", *TEN.splitlines()[5:]]


LARGE = ("x" * 99 + "\n") * 60_000
"""More than is told apart by line."""


def test_a_large_new_file_is_not_committed_either(repo: Repo) -> None:
    """V6, where the path is all that could be recorded."""
    shells.run(repo, "S1", "head -c 6000000 /dev/zero | tr '\\0' a > large")
    assert repo.commit("S1").status == "nothing"


@pytest.mark.parametrize("kind", ["large", "filtered"])
@pytest.mark.parametrize("dirty", [True, False])
def test_a_file_without_lines_is_the_commands_only_where_it_was_as_in_head(
    repo: Repo, kind: str, dirty: bool
) -> None:
    """Else a person's line would go along: by its path alone nobody can tell them apart."""
    if kind == "filtered":
        repo.git("config", "filter.f.clean", "cat")
        repo.write(".gitattributes", "*.odd filter=f\n")
    text = TEN if kind == "filtered" else LARGE
    repo.write("f.odd", text)
    repo.commit_all("f")
    if dirty:
        repo.write("f.odd", text + "a person's\n")
    shells.run(repo, "S1", "echo more >> f.odd")
    if dirty and kind == "filtered":  # both texts lay on disk, so it is an edit like an edit tool's
        assert repo.commit("S1", code=4).left == {"f.odd": "filtered"}
        return
    answer = repo.commit("S1")
    assert answer.paths == ({} if dirty else {"f.odd": "M"})
    if dirty:
        assert "cannot be told by line" in (repo.state / "hooks.log").read_text()


def test_a_file_that_git_does_not_track_is_its_makers(repo: Repo) -> None:
    """What a command adds to a person's new file is offered, and stands in no other path's way."""
    repo.write("notes", "a person's\n")
    shells.run(repo, "S1", "echo more >> notes; sed -i 's/^line 3$/three/' a")
    answer = repo.commit("S1")
    assert (answer.paths, answer.left) == ({"a": "M"}, {"notes": "shell"})


def test_a_file_that_two_commands_made_is_taken_with_both(repo: Repo) -> None:
    shells.run(repo, "S1", "echo one > new")
    shells.run(repo, "S1", "echo two >> new")
    assert repo.commit("S1", "--with-shell").paths == {"new": "A"}
    assert _lines(repo, "new") == ["one", "two"]


def test_a_removal_that_a_stash_holds_is_not_the_poppers(repo: Repo) -> None:
    """V7: also beside an edit in the same command."""
    repo.write("a", TEN.replace("line 4\n", ""))
    repo.git("stash", "-q")
    shells.run(repo, "S1", "git stash pop -q; sed -i 's/^line 8$/eight/' a")
    assert repo.commit("S1").status == "nothing"


def test_an_old_stash_does_not_take_an_edit_away(repo: Repo) -> None:
    """It changed the same line to something else."""
    repo.write("a", changed(3, "put away"))
    repo.git("stash", "-q")
    shells.run(repo, "S1", "sed -i 's/^line 3$/three/' a")
    assert repo.commit("S1").paths == {"a": "M"}


def test_a_rebase_that_carries_a_persons_change_along(repo: Repo) -> None:
    """V7: the stash around it brings lines of the new HEAD into a file that was changed before."""
    repo.git("checkout", "-q", "-b", "other")
    repo.write("a", changed(9, "upstream"))
    repo.commit_all("other")
    repo.git("checkout", "-q", "main")
    repo.write("b", changed(1, "here"))
    repo.commit_all("main")
    repo.write("a", changed(2, "a person's"))
    shells.run(repo, "S1", "git rebase -q --autostash other; sed -i 's/^line 5$/five/' a")
    assert repo.commit("S1", checked=False).status == "nothing"


def test_gc_forgets_what_a_command_wrote_into_a_file_that_git_ignores_by_now(repo: Repo) -> None:
    shells.run(repo, "S1", "echo TOKEN=hunter2 > .env")
    repo.write(".gitignore", ".env\n")
    repo.ralph("gc")
    assert not [p for p in repo.state.rglob("*") if p.is_file() and b"hunter2" in p.read_bytes()]


def test_a_correction_follows_though_anothers_command_ran_around_the_edit(repo: Repo) -> None:
    """The command had ended with the text that the edit left: what a person did since is not its."""
    shell = Shell(repo, "S2").begin()
    repo.edit("S1", "a", changed(3, "one two three"))
    shell.end()
    repo.write("a", changed(3, "one two drei"))
    assert repo.commit("S1").paths == {"a": "M"}
    assert _lines(repo, "a")[2] == "one two drei"


def test_an_edit_while_a_command_runs_over_a_persons_change(repo: Repo) -> None:
    """V3: the command is told of after the edit, and came before it; between the two records is a gap."""
    repo.edit("S1", "a", changed(2, "two of S1"))
    repo.write("a", changed(9, "a person's", changed(2, "two of S1")))
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 4$/four/' a")
    text = (repo.read("a") or b"").decode()
    repo.edit("S2", "a", changed(6, "six of S2", text))
    shell.end()
    repo.commit("S1")
    assert _lines(repo, "a") == changed(4, "four", changed(2, "two of S1")).splitlines()
    repo.commit("S2")
    assert (
        _lines(repo, "a") == changed(6, "six of S2", changed(4, "four", changed(2, "two of S1"))).splitlines()
    )


def test_a_stash_that_replaced_a_line_is_not_what_took_it_out_with_others(repo: Repo) -> None:
    repo.write("a", changed(4, "put away"))
    repo.git("stash", "-q")
    shells.run(repo, "S1", "sed -i 3,5d a")
    assert repo.commit("S1").paths == {"a": "M"}


def test_a_line_in_a_moved_file_is_its_authors_in_status_and_waits_for_the_move(repo: Repo) -> None:
    """V8: nothing of it is nobody's; who commits before the mover commits at the old path."""
    repo.edit("S2", "a", changed(8, "eight of S2"))
    shells.run(repo, "S1", "mv a moved")
    assert "unrecorded" not in repo.ralph("status").text
    assert "yours" not in repo.ralph("status").text
    answer = repo.commit("S2", checked=False)
    assert answer.paths == {"a": "M"}
    assert "whose commit goes first" in answer.notes
    assert repo.commit("S1", checked=False).paths == {"a": "D", "moved": "A"}
    assert repo.blob("moved") == repo.read("moved")


def test_who_moves_a_file_and_edits_it_at_once_keeps_his_edit(repo: Repo) -> None:
    """As a patch does that moves a file: one event, and the other's line comes along as the other's."""
    repo.edit("S2", "a", TEN.replace("line 2\n", "of the second\n"))
    before = repo.read("a")
    assert before is not None
    after = before.decode().replace("line 8\n", "of the mover\n")
    repo.remove("a")
    repo.write("moved", after)
    event = {"session": "S1", "cwd": str(repo.root), "event": "rename", "path": "a", "to": "moved"}
    repo.hook("generic", {**event, "before": before.decode(), "after": after})
    assert repo.commit("S1").paths == {"a": "D", "moved": "A"}
    assert repo.blob("moved").decode() == TEN.replace("line 8\n", "of the mover\n")
    assert repo.commit("S2").paths == {"moved": "M"}
    assert repo.blob("moved").decode() == after


def test_who_moved_a_file_that_another_moved_on_does_not_delete_it(repo: Repo) -> None:
    """HEAD would lose the file, with the lines of all."""
    repo.rename("S1", "a", "b")
    repo.rename("S2", "b", "c")
    answer = repo.commit("S1", code=4)
    assert "was moved by session" in answer.said
    assert repo.blob("a").decode() == TEN


def test_a_line_that_came_along_with_a_move_is_its_writers_in_blame(repo: Repo) -> None:
    repo.edit("S2", "a", changed(8, "eight of S2"))
    repo.rename("S1", "a", "moved")
    repo.commit("S1", checked=False)
    repo.commit("S2", checked=False)
    assert "S2" in repo.ralph("blame", "moved").text.split("\n")[7]


def test_a_persons_line_in_a_file_that_a_session_moves_is_not_the_movers(repo: Repo) -> None:
    repo.write("a", changed(8, "of a person"))
    shells.run(repo, "S1", "mv a moved")
    assert "nobody recorded it" in repo.ralph("why", "moved:8").text
    repo.commit("S1", code=4)
    repo.ralph("commit", "--mine", "-m", "mine", "--", "a", "moved")
    repo.commit("S1")
    assert "no session" in repo.ralph("why", "moved:8").text


def test_what_a_running_command_may_have_made_is_not_called_the_persons(repo: Repo) -> None:
    """Where its session has nothing else yet, the hint called it the person's, and the hooks dead."""
    repo.write("b", TEN + "a person's\n")
    shell = Shell(repo, "S1").begin().work("sed -i 's/^line 3$/three/' a")
    said = repo.ralph("commit", "--session", "S1", "-m", "x").said
    assert "git ralph commit --mine -m x -- b  # they are yours" in said
    assert "doctor" not in said
    shell.end()
    assert repo.commit("S1").paths == {"a": "M"}


def test_a_new_filtered_file_is_offered_like_any_other(repo: Repo) -> None:
    """`--with-shell` left it without a word."""
    repo.git("config", "filter.f.clean", "tr a-y b-z")
    repo.git("config", "filter.f.smudge", "tr b-z a-y")
    repo.write(".gitattributes", "*.odd filter=f\n")
    repo.commit_all("f")
    shells.run(repo, "S1", "echo aaa > n.odd; echo aaa > n")
    assert repo.commit("S1").left == {"n": "shell", "n.odd": "shell"}
    assert repo.commit("S1", "--with-shell").paths == {"n": "A", "n.odd": "A"}
    assert repo.blob("n.odd") == b"bbb\n"

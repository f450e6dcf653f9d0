"""A person's own commit: exactly the lines that no session owns."""

import json
import shlex
import subprocess

import pytest

from tests.support import shells
from tests.support.repo import Answer, Repo
from tests.support.texts import TEN

AGENT = {"CLAUDE_CODE_SESSION_ID": "S1"}


def changed(*numbers: int, **words: str) -> str:
    """Ten lines of which some read otherwise: ``changed(2, l5="five")``."""
    rows = [words.get(f"l{n}", f"changed {n}" if n in numbers else f"line {n}") for n in range(1, 11)]
    return "".join(row + "\n" for row in rows)


def mine(repo: Repo, *args: str, code: int = 0, checked: bool = True) -> Answer:
    """``git ralph commit --mine -m x --json`` inside the closing checks."""
    return repo.commit(None, "--mine", *args, code=code, checked=checked)


def patch(repo: Repo, *args: str) -> str:
    """The lines that ``diff --mine`` shows."""
    said = repo.ralph("diff", "--mine", *args).text.split("\n")
    return "\n".join(line for line in said if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def test_only_the_lines_of_no_session_are_committed(repo: Repo) -> None:
    repo.edit("S1", "a", changed(2))
    repo.write("a", changed(2, 8))
    repo.write("b", changed(5))
    repo.edit("S2", "c", changed(3))
    answer = mine(repo)
    assert answer.paths == {"a": "M", "b": "M"}
    assert answer.how == {"a": "edits", "b": "whole-file"}
    assert answer.document["session"] is None
    assert answer.document["name"] is None
    assert repo.blob("a").decode() == changed(8)
    assert repo.trailers() == ""
    assert repo.pending("S1") == ["a"]
    assert repo.commit("S1").paths == {"a": "M"}
    assert repo.blob("a") == repo.read("a")


def test_diff_and_status_show_what_the_commit_takes(repo: Repo) -> None:
    repo.edit("S1", "a", changed(2))
    repo.write("a", changed(2, 8))
    repo.write("b", changed(5))
    repo.write("n", "new\n")
    shown = patch(repo)
    assert "line 2" not in shown
    assert repo.ralph("diff", "--mine", "--name-only").text.split() == ["a", "b"]
    assert "n" in repo.ralph("diff", "--mine", "--name-only", "--", "n").text.split()
    status = repo.ralph("status").text
    heading = status[status.index("yours") :]
    assert {line.split()[-1] for line in heading.split("\n")[1:] if line} >= {"b", "n"}
    assert "beside" in heading
    assert "nobody" not in status
    as_agent = repo.ralph("status", env=AGENT).text
    assert "nobody" in as_agent
    assert "yours" not in as_agent
    assert repo.owners()["b"] == "nobody"
    mine(repo)
    assert patch(repo) == ""


def test_a_new_file_goes_where_it_is_named_or_staged(repo: Repo) -> None:
    repo.write("staged", "s\n")
    repo.git("add", "staged")
    repo.write("named", "n\n")
    repo.write("d/other", "o\n")
    assert mine(repo).paths == {"staged": "A"}
    assert mine(repo, "--", "d").status == "nothing"
    done = repo.ralph("commit", "--mine")
    assert (done.text, done.said.partition("  #")[0]) == (
        "nothing to commit for you\n",
        "hint: git ralph commit --mine -- d/other named",
    )
    assert mine(repo, "--", "named").paths == {"named": "A"}
    repo.git("rm", "-q", "--cached", "b")
    assert mine(repo).paths == {"b": "D"}
    assert repo.read("b") is not None


def test_staged_changes_of_other_paths_stay_and_those_of_committed_ones_follow(repo: Repo) -> None:
    repo.write("b", changed(5))
    repo.git("add", "b")
    repo.edit("S1", "a", changed(2))
    repo.write("a", changed(2, 7))
    repo.git("add", "a")
    repo.write("a", changed(2, 7, 9))
    repo.write("c", changed(1))
    repo.git("add", "c")
    repo.write("c", changed(1, 2))
    answer = mine(repo, "--", "a", "c")
    assert answer.paths == {"a": "M", "c": "A"}
    assert repo.blob("a").decode() == changed(7, 9)
    assert repo.git("diff", "--cached", "--name-only").split() == ["a", "b"]
    assert repo.git("diff", "--name-only").split() == []


def test_a_line_built_on_a_sessions_is_refused_and_the_hints_end_it(repo: Repo) -> None:
    repo.edit("S1", "a", changed(2))
    repo.write("a", changed(l2="changed 2 again"))
    repo.write("b", changed(5))
    answer = mine(repo, code=4)
    assert answer.left == {"a": "entangled"}
    assert answer.document["left"][0]["sessions"] == ["S1"]
    assert "git ralph commit --mine --skip-entangled" in answer.said
    assert "git ralph commit --session" in answer.said
    for word in ("--whole-file", "--include-entangled", "--with-shell"):
        assert word not in answer.said
    assert mine(repo, "--skip-entangled").paths == {"b": "M"}
    assert repo.commit("S1").paths == {"a": "M"}


def test_nothing_of_a_file_that_a_session_made_or_claims(repo: Repo) -> None:
    repo.edit("S1", "n", "n\n")
    repo.git("add", "n")
    repo.write("b", changed(5))
    repo.ralph("track", "--session", "S2", "b")
    repo.edit("S1", "bin", b"\0\1", None)
    repo.git("add", "bin")
    answer = mine(repo)
    assert answer.status == "nothing"
    assert answer.left == {"b": "contested"}


def test_a_known_agent_is_refused(repo: Repo) -> None:
    repo.write("b", changed(5))
    repo.edit("S1", "a", changed(2))
    head = repo.head()
    for env in (AGENT, {"RALPH_SESSION": "S1"}, {"GEMINI_CLI": "1"}):
        done = repo.ralph("commit", "--mine", "-m", "x", code=4, env=env)
        assert "for a person" in done.said
        repo.ralph("diff", "--mine", code=4, env=env)
    document = repo.ralph("commit", "--mine", "--json", code=4, env=AGENT).json()
    assert (document["status"], document["session"]) == ("refused", None)
    assert repo.head() == head


@pytest.mark.parametrize(
    "words",
    [
        ["--session", "S1"],
        ["--plan", "p", "--task", "1"],
        ["--whole-file", "--", "a"],
        ["--include-entangled"],
        ["--with-shell"],
        ["--amend"],
        ["--fixup", "HEAD"],
    ],
)
def test_what_means_a_session_does_not_go_with_it(repo: Repo, words: list[str]) -> None:
    assert "exclude each other" in repo.ralph("commit", "--mine", *words, code=129).said


def test_a_dry_run_moves_nothing_and_tells_the_same(repo: Repo) -> None:
    repo.write("b", changed(5))
    head = repo.head()
    document = repo.ralph("commit", "--mine", "--dry-run", "--json").json()
    assert document["status"] == "dry-run"
    assert [row["path"] for row in document["paths"]] == ["b"]
    assert repo.head() == head
    done = repo.ralph("commit", "--mine", "-m", "x")
    assert "1 path committed\n" in done.text + "\n"


def test_what_a_shell_command_made_is_left_until_it_is_named(repo: Repo) -> None:
    repo.git("config", "ralph.shellEdits", "offer")
    shells.run(repo, "S1", "echo more >> b")
    repo.ralph("track", "--session", "S2", "none", code=0)
    answer = mine(repo)
    assert (answer.status, answer.left) == ("nothing", {"b": "shell"})
    assert "git ralph commit --mine -- b" in answer.said
    assert mine(repo, "--", "b").paths == {"b": "M"}


def test_a_deleted_file_with_a_sessions_lines_is_not_taken(repo: Repo) -> None:
    repo.edit("S1", "a", changed(2))
    repo.remove("a")
    repo.remove("b")
    assert mine(repo, code=4).left == {"a": "contested"}
    assert mine(repo, "--", "b").paths == {"b": "D"}


def test_a_mode_is_whose_it_was_changed_by(repo: Repo) -> None:
    repo.edit("S1", "a", changed(2))
    repo.file("a").chmod(0o755)
    assert mine(repo).paths == {"a": "M"}
    assert repo.mode("a") == "100755"
    assert repo.blob("a").decode() == TEN


def test_hooks_run_on_what_is_committed(repo: Repo) -> None:
    hook = repo.common / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n! git diff --cached | grep -q bad\n")
    hook.chmod(0o755)
    repo.edit("S1", "a", changed(l2="bad"))
    repo.write("a", changed(8, l2="bad"))
    assert mine(repo).status == "committed"
    repo.write("b", "bad\n")
    assert "said no" in repo.ralph("commit", "--mine", "-m", "x", code=1).said
    assert mine(repo, "--no-verify").status == "committed"


def test_what_a_hook_rewrites_of_a_persons_is_no_sessions(repo: Repo) -> None:
    hook = repo.common / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nsed -i 's/wrong/right/' b\n")
    hook.chmod(0o755)
    repo.write("b", "wrong\n")
    # nobody else has anything here: it runs in place, as with git
    assert mine(repo, checked=False).status == "committed"
    assert repo.blob("b") == b"right\n"
    assert repo.read("b") == b"right\n"
    repo.edit("S1", "a", changed(2))
    repo.write("b", "wrong\n")
    done = repo.ralph("commit", "--mine", "-m", "x", code=1)
    assert "apply" in done.said
    assert not list(repo.state.glob("*.manifest.unrecorded*"))
    listed = json.loads(repo.ralph("session", "list", "--json").text)
    assert [row["id"] for row in listed] == ["S1"]


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_that_was_moved_with_a_sessions_lines_is_not_taken(repo: Repo, edited: bool) -> None:
    repo.edit("S1", "a", changed(l2="of the session"))
    repo.git("mv", "a", "moved")
    if edited:
        repo.write("moved", changed(7, l2="of the session"))
    answer = mine(repo, "--", "moved", code=4)
    assert answer.left == {"moved": "contested"}
    assert answer.document["left"][0]["sessions"] == ["S1"]
    assert mine(repo, code=4).left.keys() == {"a", "moved"}


def test_a_mode_that_a_session_changed_stays_its_own(repo: Repo) -> None:
    call = {"session": "S1", "cwd": str(repo.root), "event": "pre", "path": "a", "call": "c"}
    repo.hook("generic", call)
    repo.edit("S1", "a", changed(2), mode=0o755, fields={"call": "c"})
    repo.write("a", changed(2, 8))
    assert mine(repo).paths == {"a": "M"}
    assert (repo.blob("a").decode(), repo.mode("a")) == (changed(8), "100644")
    assert repo.commit("S1").paths == {"a": "M"}
    assert repo.mode("a") == "100755"


def test_a_file_that_was_moved_with_a_sessions_committed_lines_is_taken(repo: Repo) -> None:
    repo.edit("S1", "a", changed(l2="of the session"))
    repo.commit("S1")
    repo.git("mv", "a", "moved")
    repo.write("moved", changed(7, l2="of the session"))
    assert mine(repo).paths == {"a": "D", "moved": "A"}


@pytest.mark.parametrize("edited", [False, True], ids=["as it was", "edited there since"])
def test_lines_of_a_session_in_a_file_whose_move_is_in_head_are_not_taken(repo: Repo, edited: bool) -> None:
    """A person commits a rename, or pulls one: no record tells that the file went on under another name."""
    repo.edit("S1", "a", changed(l2="of the session"))
    repo.git("stash", "-q")
    repo.git("mv", "a", "moved")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repo.git("commit", "-q", "-m", "moved")
    repo.git("stash", "pop", "-q")
    assert repo.read("moved") == changed(l2="of the session").encode()
    assert repo.commit("S1").status == "nothing"
    if edited:
        repo.edit("S2", "moved", changed(7, l2="of the session"))
    answer = mine(repo, code=4)
    assert answer.left["moved"] == "contested"
    assert answer.document["left"][0]["sessions"] == ["S1"]
    repo.ralph("assign", "--to", "S1", "--", "moved:2")
    repo.commit("S1")
    assert repo.blob("moved").decode() == changed(l2="of the session")


def test_lines_that_a_session_took_from_a_file_to_another_are_its_own(repo: Repo) -> None:
    """It removes the first file; what it recorded at the second tells whose each line there is."""
    repo.edit("S1", "new", "of the session\n")
    repo.edit("S1", "a", changed(l2="of the session"))
    repo.delete("S1", "new")
    repo.write("a", changed(7, l2="of the session"))
    assert mine(repo).paths == {"a": "M"}
    assert repo.blob("a").decode() == changed(7)


def test_a_sessions_line_that_a_person_moved_goes_back_by_the_hint(repo: Repo) -> None:
    """The move is in HEAD, so no later commit can tell of it."""
    repo.edit("S1", "a", changed(l3="three of S1"))
    repo.git("mv", "a", "moved")
    repo.git("commit", "-q", "-m", "the move")
    repo.write("moved", changed(l3="three of S1", l8="eight of a person"))
    said = mine(repo, code=4).said
    (hint,) = (line for line in said.splitlines() if line.startswith("hint: git ralph assign"))
    repo.ralph(*shlex.split(hint.removeprefix("hint: git ralph "), comments=True))
    assert mine(repo).paths == {"moved": "M"}
    assert repo.blob("moved").decode() == changed(l8="eight of a person")
    assert repo.commit("S1").paths == {"moved": "M"}


@pytest.mark.parametrize("by_git", [True, False], ids=["git mv", "mv"])
def test_a_move_of_a_sessions_lines_that_is_not_committed_is_taken_back_by_the_hint(
    repo: Repo, by_git: bool
) -> None:
    """Given to the session, the line was a new file of its own, which neither could commit."""
    repo.write("sub/e", changed())
    repo.commit_all("sub/e")
    repo.edit("S1", "sub/e", changed(l3="three of S1"))
    if by_git:
        repo.git("mv", "sub", "moved")
    else:
        repo.file("sub").rename(repo.root / "moved")
    repo.write("moved/e", changed(l3="three of S1", l8="eight of a person"))
    said = mine(repo, "--", "moved/e", "sub/e", code=4).said
    (hint,) = (line for line in said.splitlines() if line.startswith("hint: "))
    line = hint.removeprefix("hint: ")
    subprocess.run(["/bin/sh", "-c", line], cwd=repo.root, env=repo.env, check=True, capture_output=True)
    assert mine(repo).paths == {"sub/e": "M"}
    assert repo.blob("sub/e").decode() == changed(l8="eight of a person")
    assert repo.commit("S1").paths == {"sub/e": "M"}


def test_a_session_is_told_how_a_file_that_somebody_moved_comes_back(repo: Repo) -> None:
    """From HEAD it came back beside the moved one, whose lines of sessions were nobody's then."""
    repo.edit("S1", "a", changed(l3="three of S1"))
    repo.edit("S2", "a", changed(l3="three of S1", l8="eight of S2"))
    repo.file("a").rename(repo.file("q"))
    said = repo.ralph("commit", "--session", "S1", "-m", "x").said
    assert "git checkout" not in said
    (hint,) = (line for line in said.splitlines() if line.startswith("hint: "))
    assert hint.startswith("hint: mv -- q a")
    subprocess.run(["/bin/sh", "-c", hint.removeprefix("hint: ")], cwd=repo.root, env=repo.env, check=True)
    assert repo.commit("S1").paths == {"a": "M"} == repo.commit("S2").paths
    repo.edit("S1", "a", changed(l3="3 of S1", l8="eight of S2"))
    repo.edit("S2", "a", changed(l3="3 of S1", l8="8 of S2"))
    repo.git("mv", "a", "q")
    repo.git("commit", "-qm", "moved")
    asked = [repo.ralph("commit", "--session", "S1", "-m", "x").said]
    for line in [3, 8]:
        (hint,) = (row for row in asked[-1].splitlines() if row.startswith("hint: git ralph assign"))
        assert f"q:{line} " in hint
        repo.ralph(*shlex.split(hint.removeprefix("hint: git ralph "), comments=True))
        asked.append(repo.run("commit", "--mine", "-m", "x").said)
    assert ["the rest is yours" in said for said in asked] == [False, True, False]


def test_what_a_hook_rewrote_in_a_sessions_commit_is_not_taken_back(repo: Repo) -> None:
    """The hook ran beside the worktree, so the file has the line of before, which is no person's."""
    hook = repo.git_dir / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nsed -i 's/three of S1/THREE of S1/' a && git add a\n")
    hook.chmod(0o755)
    repo.edit("S1", "a", changed(l3="three of S1"))
    repo.write("b", "a person's\n")
    repo.commit("S1")
    assert repo.blob("a").decode() == changed(l3="THREE of S1")
    assert repo.read("a") == changed(l3="three of S1").encode()
    assert patch(repo, "--", "a") == ""
    repo.write("a", changed(8, l3="three of S1"))
    assert mine(repo).paths == {"a": "M", "b": "M"}
    assert repo.blob("a").decode() == changed(8, l3="THREE of S1")


def test_a_sessions_new_file_is_not_offered_to_a_person(repo: Repo) -> None:
    repo.edit("S1", "theirs", "x\n")
    repo.write("ours", "y\n")
    said = repo.ralph("commit", "--mine", "-m", "x").said
    assert "theirs" not in said
    assert "ours" in said


def test_a_line_that_a_stash_brings_back_stays_the_sessions_that_wrote_it(repo: Repo) -> None:
    """HEAD is as a later record of the session left the file, so that no record stands between the two."""
    repo.edit("S1", "a", changed(l3="three of S1"))
    repo.git("stash", "-q")
    repo.edit("S1", "a", changed(l8="eight of S1"))
    repo.commit("S1")
    repo.git("stash", "pop", "-q")
    assert patch(repo) == ""
    assert mine(repo).status == "nothing"
    assert repo.commit("S1").paths == {"a": "M"}
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("beside", [False, True])
def test_a_mode_that_a_sessions_command_changed_alone_stays_its_own(repo: Repo, beside: bool) -> None:
    """The text is as in HEAD after the command, so only the mode is left of its record."""
    shells.run(repo, "S1", "chmod +x a")
    if beside:
        repo.write("a", changed(8))
        assert "mode" not in repo.ralph("diff", "--mine").text
        assert mine(repo).paths == {"a": "M"}
        assert (repo.blob("a").decode(), repo.mode("a")) == (changed(8), "100644")
    assert mine(repo).status == "nothing"
    assert repo.commit("S1").paths == {"a": "M"}
    assert repo.mode("a") == "100755"


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("pending", [False, True])
def test_a_person_changes_a_line_that_only_his_own_commit_had(repo: Repo, own: bool, pending: bool) -> None:
    """No record ever saw the line: HEAD had it after the session's edit."""
    repo.edit("S1", "a", changed(3))
    if not pending:
        repo.commit("S1")
    repo.write("a", changed(3, l8="port 80"))
    if own:
        mine(repo)
    elif pending:
        repo.git("commit", "-qam", "all")
    else:
        repo.git("commit", "-qam", "the line")
    repo.write("a", changed(3, l8="listen on all"))
    assert mine(repo).paths == {"a": "M"}
    assert repo.blob("a").decode() == changed(*([] if own and pending else [3]), l8="listen on all")


def test_a_person_makes_a_file_anew_that_a_sessions_command_removed(repo: Repo) -> None:
    shells.run(repo, "S1", "rm a")
    repo.write("a", "another\n")
    assert mine(repo).paths == {"a": "M"}
    assert repo.blob("a") == b"another\n"
    assert repo.commit("S1").status == "nothing"


def test_a_new_file_is_named_as_the_hint_writes_it(repo: Repo) -> None:
    repo.write("a[1].txt", "a new file\n")
    hint = repo.ralph("commit", "--mine", "-m", "x").said.partition("hint: ")[2].partition("  #")[0]
    assert mine(repo, *shlex.split(hint)[4:]).paths == {"a[1].txt": "A"}


@pytest.mark.parametrize("way", ["undo", "edit"])
def test_a_persons_line_that_a_session_replaced_and_gave_back_is_the_persons(repo: Repo, way: str) -> None:
    repo.write("a", changed(l5="words of the person"))
    repo.edit("S1", "a", changed(l5="S1 knows it better"))
    if way == "undo":
        repo.ralph("undo", "--session", "S1")
    else:
        repo.edit("S1", "a", changed(l5="words of the person"))
    assert repo.commit("S1").status == "nothing"
    assert mine(repo).paths == {"a": "M"}


def test_a_person_takes_his_own_commit_back_by_hand(repo: Repo) -> None:
    """A session has a line elsewhere; to every record the file had the old line all the time."""
    repo.edit("S1", "a", changed(2))
    repo.write("a", changed(2, l8="port 8080"))
    mine(repo)
    repo.write("a", changed(2))
    assert mine(repo).paths == {"a": "M"}
    assert repo.blob("a") == TEN.encode()


def test_lines_that_only_a_reset_took_out_of_head_are_the_persons(repo: Repo) -> None:
    """A pull had brought them; the session's record begins with them."""
    repo.write("a", changed(l8="from upstream"))
    repo.git("commit", "-qam", "pulled")
    repo.edit("S1", "a", changed(2, l8="from upstream"))
    repo.git("reset", "-q", "HEAD~1")
    assert mine(repo).paths == {"a": "M"}
    assert repo.blob("a").decode() == changed(l8="from upstream")


def test_a_line_of_heads_waits_for_the_session_whose_line_stands_in_its_place(repo: Repo) -> None:
    """The person resolved a conflict for the session's line: HEAD would have lost both."""
    repo.edit("S1", "a", changed(l5="return five of them"))
    repo.git("stash")
    repo.write("a", changed(l5="line 5 of upstream"))
    repo.git("commit", "-qam", "upstream")
    repo.write("a", changed(l5="return five of them", l9="nine of the person"))
    mine(repo, code=4)
    assert mine(repo, "--skip-entangled").paths == {"a": "M"}
    assert repo.blob("a").decode() == changed(l5="line 5 of upstream", l9="nine of the person")


@pytest.mark.parametrize("line", ["pass", "return five(alpha)"])
def test_a_sessions_line_in_a_file_that_was_moved_and_committed_is_not_taken(repo: Repo, line: str) -> None:
    """Of one word, too: the rest of the file is in HEAD, so nothing else need be told from it."""
    repo.edit("S1", "a", changed(l5=line))
    oid = repo.git("rev-parse", "HEAD:a")
    repo.git("mv", "a", "moved")
    repo.git("update-index", "--cacheinfo", f"100644,{oid},moved")
    repo.git("commit", "-qm", "moved")
    answer = mine(repo, "--", "moved", code=4)
    assert answer.left == {"moved": "contested"}


@pytest.mark.parametrize("away", [False, True])
def test_a_sessions_line_of_one_word_that_a_person_rewrites_is_the_persons(repo: Repo, away: bool) -> None:
    """As with several words: nobody could commit it."""
    repo.edit("S1", "a", changed(l5="apples"))
    if away:
        repo.git("checkout", "--", "a")
    repo.write("a", changed(l5="pears"))
    assert mine(repo).paths == {"a": "M"}
    assert repo.blob("a").decode() == changed(l5="pears")
    assert repo.commit("S1").status == "nothing"


def test_what_a_sessions_formatter_made_of_anothers_line_is_no_persons(repo: Repo) -> None:
    """It follows its session; the person was refused, also for lines elsewhere."""
    repo.write("a", "def a( ):\n  return 1\n\n\ndef b( ):\n  return 2\n")
    repo.commit_all("code")
    repo.edit("S2", "a", "def a( ):\n  return 1\n\n\ndef b( ):\n  return 22\n")
    shells.run(repo, "S1", "sed -i 's/^  return/    return/; s/( )/()/' a")
    repo.commit("S1")
    assert mine(repo).status == "nothing"
    repo.write("a", "def a():\n    return 11\n\n\ndef b():\n    return 22\n")
    assert mine(repo).paths == {"a": "M"}
    assert repo.blob("a") == b"def a():\n    return 11\n\n\ndef b():\n  return 2\n"
    assert repo.commit("S2").paths == {"a": "M"}


def test_a_line_from_before_a_sessions_command_stays_yours(repo: Repo) -> None:
    repo.write("a", changed(l9="nine of the person"))
    shells.run(repo, "S1", "sed -i 's/^line 3$/three by shell/' a")
    repo.commit("S1")
    assert "yours" in repo.ralph("status").text
    assert "--mine" in repo.ralph("commit", "--session", "S1", "-m", "x").said
    assert mine(repo).paths == {"a": "M"}

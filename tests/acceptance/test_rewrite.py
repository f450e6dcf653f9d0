"""``uncommit``, ``commit --amend``, ``--fixup``: a session rewrites its own, unpublished commits only.

``f`` holds "line 1" to "line 10" and is committed.
"""

import itertools
import re
import subprocess
from typing import Any

import pytest

from tests.acceptance.test_head_moved import day, head, nothing_pending, swap, ten, text
from tests.support import checks
from tests.support.repo import Repo

__all__ = ["day"]


def uncommit(repo: Repo, session: str | None, code: int = 0, **how: Any) -> dict[str, Any]:
    """``uncommit --json``; files stay, and what is staged."""
    chosen = ["--session", session] if session else []
    before = checks._walk(repo.root), repo.staged()
    found: dict[str, Any] = repo.ralph("uncommit", *chosen, "--json", code=code, **how).json()
    assert (checks._walk(repo.root), repo.staged()) == before
    assert set(found) == {"status", "commit", "ref"}
    checks.no_lock_is_left(repo)
    assert repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""
    return found


def publish(repo: Repo) -> None:
    """A remote branch holds HEAD."""
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")


def test_the_last_commit_is_taken_back_and_made_again(day: Repo) -> None:
    """Branch and both reflogs move, records are pending again, and commit makes the same tree."""
    day.write("other", "o\n")
    day.commit_all("other")
    base = day.head()
    swap(day, "S1", "line 3\n", "three\n")
    day.edit("S1", "new", "new\n")
    swap(day, "S2", "line 7\n", "seven\n")
    day.write("other", "staged\n")
    day.git("add", "other")
    made = day.commit("S1").commit
    tree = day.git("rev-parse", "HEAD^{tree}")
    found = uncommit(day, "S1")
    assert found == {"status": "uncommitted", "commit": made, "ref": "refs/heads/main"}
    assert day.head() == base
    for name in ("HEAD", "main"):
        assert day.git("rev-parse", f"{name}@{{0}}") == base
        assert day.git("rev-parse", f"{name}@{{1}}") == made
        assert day.git("reflog", "-1", "--format=%gs", name).startswith("uncommit: ")
    assert day.pending("S1") == ["f", "new"]
    assert day.commit("S1").paths == {"f": "M", "new": "A"}
    assert day.git("rev-parse", "HEAD^{tree}") == tree
    day.commit("S2")
    assert head(day) == ten(l3="three", l7="seven")
    nothing_pending(day, "S1", "S2")


def test_what_was_staged_on_the_same_path_stays_staged(day: Repo) -> None:
    swap(day, None, "line 9\n", "nine\n")
    day.git("add", "f")
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    before = day.git("diff", "--cached", "-U0", "--no-color").split("@@")[2:]
    day.ralph("uncommit", "--session", "S1")
    assert day.git("diff", "--cached", "-U0", "--no-color").split("@@")[2:] == before
    assert text(day) == ten(l3="three", l9="nine")


@pytest.mark.parametrize("how", ["gc", "claim"])
def test_what_no_record_tells_of_any_more_has_a_way_back(day: Repo, how: str) -> None:
    """Nothing of it is pending, so no commit of ours can make it again: git brings that commit back."""
    day.write("other", "o\n")
    day.commit_all("other")
    day.write("other", "staged\n")
    day.git("add", "other")
    if how == "gc":
        swap(day, "S1", "line 3\n", "three\n")
    else:
        day.write("f", ten(l3="three"))
        day.ralph("track", "--session", "S1", "--", "f")
    made = day.commit("S1").commit
    day.ralph("gc")
    before = day.git("status", "--short")
    (hint,) = re.findall(r"^hint: (.*)$", day.ralph("uncommit", "--session", "S1").said, re.M)
    subprocess.run(["/bin/sh", "-c", hint], check=True, cwd=day.root, env=day.env)
    assert (day.head(), day.git("status", "--short")) == (made, before)


def test_without_a_session_it_is_the_one_that_made_the_commit(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 7\n", "seven\n")
    day.commit("S1")
    assert uncommit(day, None)["status"] == "uncommitted"
    assert day.count() == 1


def test_one_after_the_other(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    swap(day, "S1", "line 8\n", "eight\n")
    day.commit("S1")
    uncommit(day, "S1")
    uncommit(day, "S1")
    assert day.count() == 1
    day.commit("S1")
    assert head(day) == ten(l3="three", l8="eight")
    nothing_pending(day, "S1")


@pytest.mark.parametrize(
    "words", [("uncommit",), ("commit", "--amend", "-m", "y"), ("commit", "--fixup", "HEAD")]
)
@pytest.mark.parametrize("why", ["another's", "nobody's", "published"])
def test_a_commit_that_is_not_its_own_or_published_stays(day: Repo, why: str, words: tuple[str, ...]) -> None:
    """Refused (4), nothing moved."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 7\n", "seven\n")
    if why == "another's":
        day.commit("S2")
    elif why == "nobody's":
        day.git("commit", "-q", "--allow-empty", "-m", "x")
    else:
        day.commit("S1")
        publish(day)
        swap(day, "S1", "line 5\n", "five\n")
    before = checks.snapshot(day)
    said = day.ralph(*words, "--session", "S1", code=4).said
    checks.nothing_moved(before, checks.snapshot(day))
    assert ("published" if why == "published" else f"is not session '{day.called('S1')}'s") in said


def test_a_first_commit_and_a_merge_are_not_taken_back(empty_repo: Repo) -> None:
    empty_repo.edit("S1", "f", ten())
    empty_repo.commit("S1")
    uncommit(empty_repo, "S1", code=4)
    assert empty_repo.count() == 1


def test_an_operation_in_progress_is_refused(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    (day.common / "MERGE_HEAD").write_text(day.head() + "\n")
    day.ralph("uncommit", "--session", "S1", code=4)


# --- amend and fixup ---


def test_amend_adds_what_is_pending_to_its_last_commit(day: Repo) -> None:
    """One commit, its author and message kept, others' lines left; why answers with the new one."""
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1", "-m", "Say three", "--author", "A U Thor <a@example.com>")
    old = day.head()
    swap(day, "S1", "line 8\n", "eight\n")
    swap(day, "S2", "line 6\n", "six\n")
    found = day.ralph("commit", "--session", "S1", "--amend", "--json").json()
    assert found["status"] == "committed"
    assert day.head() != old
    assert day.count() == 2
    assert head(day) == ten(l3="three", l8="eight")
    assert day.git("log", "-1", "--format=%s|%an") == "Say three|A U Thor"
    assert day.trailers() == "Ralph-Session: S1\nRalph-Agent: generic"
    assert day.git("reflog", "-1", "--format=%gs") == "commit (amend): Say three"
    for line in ("f:3", "f:8"):
        assert f"commit {day.head()[:12]}" in day.ralph("why", line).text
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == text(day)


def test_amend_takes_another_message_though_nothing_is_pending(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    tree = day.git("rev-parse", "HEAD^{tree}")
    assert day.ralph("commit", "--session", "S1", "--amend", "--json").json()["status"] == "nothing"
    day.ralph("commit", "--amend", "-m", "Better words")
    assert day.git("log", "-1", "--format=%s") == "Better words"
    assert day.trailers() == "Ralph-Session: S1\nRalph-Agent: generic"
    assert (day.count(), day.git("rev-parse", "HEAD^{tree}")) == (2, tree)
    nothing_pending(day, "S1")


@pytest.mark.parametrize("words", [("--amend",), ("--fixup", "HEAD")])
def test_a_commit_with_another_message_is_still_the_session_s(day: Repo, words: tuple[str, ...]) -> None:
    """No log named the new commit, so it could be neither amended again nor taken back."""
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    day.ralph("commit", "--session", "S1", "--amend", "-m", "Better words")
    swap(day, "S1", "line 8\n", "eight\n")
    assert day.ralph("commit", "--session", "S1", *words, "--json").json()["status"] == "committed"
    uncommit(day, None)
    if words == ("--fixup", "HEAD"):
        uncommit(day, None)
    assert day.count() == 1
    day.commit("S1")
    assert head(day) == ten(l3="three", l8="eight")


def test_a_person_s_commit_is_in_no_session_s_log(day: Repo) -> None:
    day.write("f", ten(l3="mine"))
    swap(day, "S1", "line 8\n", "eight\n")
    day.ralph("commit", "--mine", "-m", "mine")
    assert list(day.state.glob("*.commits")) == []


@pytest.mark.parametrize("words", [("commit", "--amend"), ("commit", "--fixup", "HEAD"), ("uncommit",)])
def test_a_message_alone_makes_no_commit_a_sessions(day: Repo, words: tuple[str, ...]) -> None:
    """Anybody may write the trailer, so only the log counts."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, None, "line 8\n", "eight\n")
    day.git("commit", "-q", "-a", "-m", "mine\n\nRalph-Session: S1")
    swap(day, "S1", "line 5\n", "five\n")
    day.ralph(*words, "--session", "S1", code=4)


def _rebased(repo: Repo) -> None:
    """As `git pull --rebase` does: another's commit comes below the last one."""
    theirs = repo.git("commit-tree", "HEAD~1^{tree}", "-p", "HEAD~1", "-m", "theirs")
    repo.git("rebase", "-q", "--autostash", theirs)


@pytest.mark.parametrize("words", [("commit", "--amend"), ("commit", "--fixup", "HEAD"), ("uncommit",)])
def test_a_rebased_commit_is_still_the_session_s(day: Repo, words: tuple[str, ...]) -> None:
    """No log names the new commit, which has the author, the date, the message and the change of the old."""
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    swap(day, "S1", "line 8\n", "eight\n")
    _rebased(day)
    day.ralph(*words, "--session", "S1")
    assert day.count() == {"commit": 3, "uncommit": 2}[words[0]] + words.count("--fixup")
    day.ralph("commit", "--session", "S1")
    assert head(day) == text(day) == ten(l3="three", l8="eight")
    nothing_pending(day, "S1")


@pytest.mark.parametrize(
    ("what", "rebased"),
    [*itertools.product(["blank", "message", "line"], [False, True]), ("place", False)],
)
def test_a_commit_that_a_person_changed_is_no_session_s(day: Repo, what: str, rebased: bool) -> None:
    swap(day, "S1", "line 3\n", "line 3\nthree\n")
    day.commit("S1", "-m", "Say three")
    if what != "message":
        other = {"blank": ten(l3="line 3\nthree "), "line": ten(l3="line 3\nthree", l9="mine")}
        day.write("f", other.get(what, ten(l8="line 8\nthree")))
        day.git("add", "f")
    words = ("-m", "Say it\n\nRalph-Session: S1") if what == "message" else ("--no-edit",)
    day.git("commit", "-q", "--amend", *words)
    if rebased:
        _rebased(day)
    day.ralph("uncommit", "--session", "S1", code=4)


def test_after_a_rebase_no_commit_is_missed(day: Repo) -> None:
    """Asked with nothing to commit, a session read that its last commit is not in HEAD any more."""
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    swap(day, None, "line 8\n", "eight\n")
    _rebased(day)
    assert "not in HEAD" not in day.run("commit", "--session", "S1").said
    day.git("reset", "-q", "--soft", "HEAD~1")
    swap(day, "S1", "line 5\n", "five\n")
    assert "not in HEAD" in day.run("commit", "--session", "S1", "--dry-run").said


def test_a_commit_that_cannot_be_read_stops_no_other(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    made = day.commit("S1").commit or ""
    day.git("reset", "-q", "--soft", "HEAD~1")
    (day.common / "objects" / made[:2] / made[2:]).unlink()
    day.ralph("commit", "--session", "S1")
    assert head(day) == ten(l3="three")


def test_amend_through_hooks(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1", "-m", "Say three")
    hook = day.common / "hooks/commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ngrep -q three "$1"\n')
    hook.chmod(0o755)
    swap(day, "S1", "line 8\n", "eight\n")
    day.ralph("commit", "--session", "S1", "--amend")
    day.ralph("commit", "--session", "S1", "--amend", "-m", "three words")
    assert (day.count(), day.git("log", "-1", "--format=%s")) == (2, "three words")
    assert head(day) == ten(l3="three", l8="eight")


def test_a_first_commit_can_be_amended(empty_repo: Repo) -> None:
    empty_repo.edit("S1", "f", ten())
    empty_repo.commit("S1")
    swap(empty_repo, "S1", "line 3\n", "three\n")
    empty_repo.ralph("commit", "--session", "S1", "--amend")
    assert (empty_repo.count(), head(empty_repo)) == (1, ten(l3="three"))


@pytest.mark.parametrize("revision", ["HEAD~1", ":/Say three"])
def test_a_fixup_is_squashed_by_rebase_and_why_still_answers(day: Repo, revision: str) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1", "-m", "Say three")
    swap(day, "S1", "line 8\n", "eight\n")
    day.commit("S1", "-m", "Say eight")
    swap(day, "S1", "three\n", "three, better\n")
    day.ralph("commit", "--session", "S1", "--fixup", revision)
    assert day.git("log", "-1", "--format=%s") == "fixup! Say three"
    assert "Ralph-Session: S1" in day.trailers()
    quiet = {"GIT_SEQUENCE_EDITOR": ":", "GIT_EDITOR": ":"}
    day.git("rebase", "-q", "-i", "--autosquash", "HEAD~3", env=quiet)
    assert day.git("log", "--format=%s").split("\n") == ["Say eight", "Say three", "base"]
    assert f"session '{day.called('S1')}'" in day.ralph("why", "f:3").text
    nothing_pending(day, "S1")
    swap(day, "S1", "line 5\n", "five\n")
    day.commit("S1")
    assert head(day) == text(day)


@pytest.mark.parametrize(
    ("words", "code"), [(("--fixup", "nosuch"), 128), (("--amend", "--fixup", "HEAD"), 129)]
)
def test_what_is_badly_typed(day: Repo, words: tuple[str, ...], code: int) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.ralph("commit", "--session", "S1", "-m", "x", *words, code=code)

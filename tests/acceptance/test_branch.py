"""``git ralph branch``: one session's commits as a branch of their own, true to the line.

``f`` holds "line 1" to "line 10" and is committed; ``origin/main`` is there.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.test_head_moved import day as day
from tests.acceptance.test_head_moved import swap, ten
from tests.support import checks
from tests.support.repo import Repo


@pytest.fixture
def shared(day: Repo) -> Repo:
    """The directory in which several sessions work; its start is published."""
    day.git("update-ref", "refs/remotes/origin/main", "HEAD")
    day.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    return day


def branch(repo: Repo, name: str, session: str, *args: str, code: int = 0) -> dict[str, Any]:
    """``branch --json``; nothing but refs, objects and our own state changes."""
    before = checks._walk(repo.root), repo.staged(), repo.head(), repo.git("symbolic-ref", "HEAD")
    done = repo.ralph("branch", name, "--session", session, "--json", *args, code=code)
    assert (checks._walk(repo.root), repo.staged(), repo.head(), repo.git("symbolic-ref", "HEAD")) == before
    assert repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""
    found: dict[str, Any] = done.json()
    assert set(found) == {"status", "ref", "commits", "needs"}
    assert found["ref"] == f"refs/heads/{name}"
    return found


def made(repo: Repo, session: str, old: str, new: str, subject: str = "x") -> str:
    """``session`` changes a line and commits it."""
    swap(repo, session, old, new)
    found = repo.commit(session, "-m", subject).commit
    assert found is not None
    return found


def text(repo: Repo, name: str, path: str = "f") -> str:
    return repo.blob(path, name).decode()


def test_neighbouring_lines_of_two_sessions_part(shared: Repo) -> None:
    """git's own cherry-pick would stop at each of them."""
    one = made(shared, "S1", "line 3\n", "three\n", "first")
    made(shared, "S2", "line 4\n", "four\n")
    two = made(shared, "S1", "line 5\n", "five\n", "second")
    made(shared, "S2", "line 2\n", "two\n")
    found = branch(shared, "mine", "S1")
    assert found["status"] == "made"
    assert [row["from"] for row in found["commits"]] == [one, two]
    assert [row["to"] for row in found["commits"]] == shared.git(
        "rev-list", "--reverse", "origin/main..mine"
    ).split()
    assert found["needs"] == []
    assert text(shared, "mine") == ten(l3="three", l5="five")
    assert text(shared, "mine~1") == ten(l3="three")
    found = branch(shared, "theirs", "S2")
    assert text(shared, "theirs") == ten(l2="two", l4="four")


def test_author_dates_and_trailers_stay(shared: Repo) -> None:
    swap(shared, "S2", "line 9\n", "nine\n")
    shared.commit("S2")
    swap(shared, "S1", "line 3\n", "three\n")
    oid = shared.commit("S1", "-m", "sübject\n\nbody", "--author", "A U Thor <a@example.com>").commit
    branch(shared, "mine", "S1")
    form = "--format=%an%n%ae%n%ad%n%cn%n%cd%n%B"
    assert shared.git("log", "-1", form, "mine") == shared.git("log", "-1", form, str(oid))
    assert "Ralph-Session: S1" in shared.trailers("mine")
    assert shared.git("rev-parse", "mine^") == shared.git("rev-parse", "origin/main")


def test_what_is_first_on_the_base_stays_the_very_commit(shared: Repo) -> None:
    one = made(shared, "S1", "line 3\n", "three\n")
    made(shared, "S2", "line 4\n", "four\n")
    assert branch(shared, "mine", "S1")["commits"] == [{"from": one, "to": one}]


def test_what_builds_on_anothers_line_is_refused_and_named(shared: Repo) -> None:
    other = made(shared, "S2", "line 3\n", "three\n")
    made(shared, "S1", "three\n", "drei\n")
    found = branch(shared, "mine", "S1", code=4)
    assert found["status"] == "refused"
    assert found["needs"] == [{"commit": other, "session": "S2", "path": "f"}]
    assert found["commits"] == []
    assert shared.git("for-each-ref", "refs/heads/mine") == ""
    done = shared.ralph("branch", "mine", "--session", "S1", code=4)
    assert other[:7] in done.said
    assert "'f'" in done.said
    assert "--with-needed" in done.said


def test_the_hint_takes_what_is_needed_along_and_can_be_typed(day: Repo) -> None:
    """Where nothing but --onto says what to begin at, the hint has it too."""
    start = day.head()
    made(day, "S2", "line 3\n", "three\n")
    made(day, "S1", "three\n", "drei\n")
    done = day.ralph("branch", "mine", "--session", "S1", "--onto", start, code=4)
    hint = next(row for row in done.said.splitlines() if row.startswith("hint: "))
    words = hint.removeprefix("hint: git ralph ").split()
    said = day.ralph(*words).text
    assert "made: 1 commit of session" in said
    assert said.rstrip().endswith(" and 1 of others that it needs")
    assert text(day, "mine") == ten(l3="drei")


def test_what_is_needed_comes_along_where_that_is_asked(shared: Repo) -> None:
    other = made(shared, "S2", "line 3\n", "three\n")
    made(shared, "S2", "line 8\n", "eight\n")
    mine = made(shared, "S1", "three\n", "drei\n")
    found = branch(shared, "mine", "S1", "--with-needed")
    assert [row["from"] for row in found["commits"]] == [other, mine]
    assert text(shared, "mine") == ten(l3="drei")
    assert text(shared, "mine~1") == ten(l3="three")


def test_squashed_with_a_persons_commit_it_says_so(shared: Repo) -> None:
    """Only the session was named, so a clone took the person's lines for the session's without a word."""
    shared.write("f", ten(l3="mine"))
    shared.commit_all("a person's")
    made(shared, "S1", "mine\n", "mine, better\n")
    branch(shared, "mine", "S1", "--with-needed", "--squash")
    rows = shared.trailers("mine").splitlines()
    assert rows == ["Ralph-Session: S1", "Ralph-Agent: generic", "Ralph-Includes: unrecorded"]
    made(shared, "S1", "line 8\n", "eight\n")
    swap(shared, "S2", "line 5\n", "five\n")
    shared.commit("S2")
    branch(shared, "other", "S2", "--squash")
    assert "Ralph-Includes" not in shared.trailers("other")


def test_squashed_with_what_it_needs_it_has_the_session_s_own_subject(shared: Repo) -> None:
    """The pull request had the other session's title."""
    swap(shared, "S2", "line 3\n", "three\n")
    shared.ralph("commit", "--session", "S2", "-m", "what is needed")
    swap(shared, "S1", "three\n", "drei\n")
    shared.ralph("commit", "--session", "S1", "-m", "its own")
    branch(shared, "mine", "S1", "--with-needed", "--squash")
    body = shared.git("log", "-1", "--format=%B", "mine").splitlines()
    assert (body[0], body[2:4]) == ("its own", ["* what is needed", "* its own"])


def test_a_need_of_a_need_comes_along(shared: Repo) -> None:
    first = made(shared, "S3", "line 3\n", "a\n")
    second = made(shared, "S2", "a\n", "b\n")
    third = made(shared, "S1", "b\n", "c\n")
    found = branch(shared, "mine", "S1", "--with-needed")
    assert [row["from"] for row in found["commits"]] == [first, second, third]


def test_a_persons_commit_that_is_needed_is_nobodys(shared: Repo) -> None:
    shared.write("f", ten(l3="three"))
    other = shared.commit_all("by hand")
    made(shared, "S1", "three\n", "drei\n")
    assert branch(shared, "mine", "S1", code=4)["needs"] == [{"commit": other, "session": None, "path": "f"}]


def test_lines_inside_anothers_new_block_need_it(shared: Repo) -> None:
    swap(shared, "S2", "line 3\n", "line 3\nblock a\nblock b\n")
    other = shared.commit("S2").commit
    made(shared, "S1", "block a\n", "block a\nmine\n")
    assert branch(shared, "mine", "S1", code=4)["needs"] == [{"commit": other, "session": "S2", "path": "f"}]


@pytest.mark.parametrize(
    ("other", "own", "alone"),
    [
        # behind, before and beside what another wrote
        (("line 3\n", "line 3\nblock\n"), ("block\n", "block\nmine\n"), {"l3": "line 3\nmine"}),
        (("line 3\n", "line 3\nblock\n"), ("block\n", "mine\nblock\n"), {"l3": "line 3\nmine"}),
        (("line 3\n", "three\n"), ("three\n", "mine\nthree\n"), {"l3": "mine\nline 3"}),
        (("line 3\n", "three\n"), ("three\n", "three\nmine\n"), {"l3": "line 3\nmine"}),
        (("line 10\n", "line 10\nend\n"), ("end\n", "end\nmine\n"), {"l10": "line 10\nmine"}),
        (("line 1\n", "top\nline 1\n"), ("top\n", "mine\ntop\n"), {"l1": "mine\nline 1"}),
        (("line 3\n", ""), ("line 4\n", "four\n"), {"l4": "four"}),
    ],
)
def test_lines_beside_anothers_have_one_place(
    shared: Repo, other: tuple[str, str], own: tuple[str, str], alone: dict[str, str]
) -> None:
    made(shared, "S2", *other)
    made(shared, "S1", *own)
    branch(shared, "mine", "S1")
    assert text(shared, "mine") == ten(**alone)


def test_where_another_only_took_lines_away_there_are_two_places(shared: Repo) -> None:
    other = made(shared, "S2", "line 3\n", "")
    made(shared, "S1", "line 2\n", "line 2\nmine\n")
    assert branch(shared, "mine", "S1", code=4)["needs"] == [{"commit": other, "session": "S2", "path": "f"}]


def test_files_that_another_made_moved_or_deleted_are_needed(shared: Repo) -> None:
    shared.edit("S2", "new", "n\n")
    new = shared.commit("S2").commit
    shared.rename("S2", "f", "g")
    moved = shared.commit("S2").commit
    shared.edit("S1", "new", "n\nmine\n")
    shared.edit("S1", "g", shared.read("g").replace(b"line 3", b"three"))  # type: ignore[union-attr]
    shared.commit("S1")
    found = branch(shared, "mine", "S1", code=4)["needs"]
    assert {(row["commit"], row["path"]) for row in found} == {(new, "new"), (moved, "g")}


def test_own_files_come_go_and_change_their_mode(shared: Repo) -> None:
    made(shared, "S2", "line 3\n", "three\n")
    shared.edit("S1", "new/deep", "n\n")
    shared.commit("S1")
    shared.edit("S2", "other", "o\n")
    shared.commit("S2")
    shared.edit("S1", "new/deep", "n\n", mode=0o755)
    shared.edit("S1", "bin", b"\0\1")
    shared.commit("S1")
    shared.delete("S1", "bin")
    shared.commit("S1")
    branch(shared, "mine", "S1")
    listed = shared.git("ls-tree", "-r", "--name-only", "mine").split()
    assert listed == ["f", "new/deep"]
    assert shared.mode("new/deep", "mine") == "100755"
    assert "bin" in shared.git("ls-tree", "-r", "--name-only", "mine~1").split()


def test_a_binary_file_that_both_changed_is_needed(shared: Repo) -> None:
    shared.edit("S2", "bin", b"\0\1")
    other = shared.commit("S2").commit
    shared.edit("S1", "bin", b"\0\2")
    shared.commit("S1")
    assert branch(shared, "mine", "S1", code=4)["needs"] == [
        {"commit": other, "session": "S2", "path": "bin"}
    ]


# --- again ---


def test_after_more_commits_it_moves_on(shared: Repo) -> None:
    made(shared, "S2", "line 4\n", "four\n")
    made(shared, "S1", "line 3\n", "three\n")
    first = branch(shared, "mine", "S1")["commits"]
    assert branch(shared, "mine", "S1")["status"] == "nothing"
    made(shared, "S1", "line 5\n", "five\n")
    found = branch(shared, "mine", "S1")
    assert found["status"] == "made"
    assert found["commits"][:1] == first
    shared.git("merge-base", "--is-ancestor", first[0]["to"], "mine")
    assert text(shared, "mine") == ten(l3="three", l5="five")


def test_a_branch_that_must_be_pushed_by_force_is_said_to_be_made_anew(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    words = ("branch", "mine", "--session", "S1")
    assert "made: 1 commit" in shared.ralph(*words).text
    made(shared, "S1", "line 5\n", "five\n")
    assert "moved on: 2 commits" in shared.ralph(*words).text
    assert "made anew: 2 commits" in shared.ralph(*words, "--squash").text


def test_squashed_it_moves_on_too(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n", "first thing")
    made(shared, "S2", "line 4\n", "four\n")
    made(shared, "S1", "line 5\n", "five\n", "second thing")
    found = branch(shared, "mine", "S1", "--squash")
    assert len(found["commits"]) == 2
    assert len({row["to"] for row in found["commits"]}) == 1
    assert shared.git("rev-list", "--count", "origin/main..mine") == "1"
    said = shared.git("log", "-1", "--format=%B", "mine")
    assert said.startswith("first thing\n\n* first thing\n* second thing\n")
    assert shared.trailers("mine").count("Ralph-Session: S1") == 1
    assert text(shared, "mine") == ten(l3="three", l5="five")
    made(shared, "S1", "line 7\n", "seven\n", "third thing")
    assert branch(shared, "mine", "S1", "--squash")["status"] == "made"
    assert text(shared, "mine") == ten(l3="three", l5="five", l7="seven")


def test_a_branch_that_somebody_moved_stays(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    branch(shared, "mine", "S1")
    shared.git("update-ref", "refs/heads/mine", shared.git("commit-tree", "HEAD^{tree}", "-m", "theirs"))
    theirs = shared.git("rev-parse", "mine")
    made(shared, "S1", "line 5\n", "five\n")
    assert branch(shared, "mine", "S1", code=4)["status"] == "refused"
    assert shared.git("rev-parse", "mine") == theirs
    assert branch(shared, "mine", "S1", "--force")["status"] == "made"
    assert text(shared, "mine") == ten(l3="three", l5="five")


@pytest.mark.parametrize("whose", ["a person's", "another session's"])
def test_a_branch_that_is_anothers_stays(shared: Repo, whose: str) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    made(shared, "S2", "line 5\n", "five\n")
    if whose == "a person's":
        shared.git("branch", "mine", shared.git("commit-tree", "HEAD^{tree}", "-m", "theirs"))
    else:
        branch(shared, "mine", "S2")
    branch(shared, "mine", "S1", code=4)


def test_the_hint_shows_a_branch_that_is_called_like_a_file(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    shared.git("branch", "f", shared.git("commit-tree", "HEAD^{tree}", "-m", "theirs"))
    said = shared.ralph("branch", "f", "--session", "S1", code=4).said
    hint = next(row for row in said.splitlines() if row.startswith("hint: git log"))
    assert "theirs" in shared.git(*hint.removeprefix("hint: git ").split())


def test_a_branch_that_is_checked_out_is_refused(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    shared.worktree("side", "origin/main")
    for name in ("main", "side"):
        assert branch(shared, name, "S1", code=4)["status"] == "refused"
        branch(shared, name, "S1", "--force", code=4)


def _edited(repo: Repo) -> None:
    repo.git("rebase", "-q", "-i", "HEAD~1", env={"GIT_SEQUENCE_EDITOR": "sed -i 1s/pick/edit/"})


def _applied(repo: Repo) -> None:
    """A conflict holds it up."""
    repo.git("checkout", "-q", "--detach", "HEAD~1")
    repo.write("beside", "another\n")
    onto = repo.commit_all("in its way")
    repo.git("checkout", "-q", "mine")
    repo.git("rebase", "-q", "--apply", onto, code=1)


def _moved_along(repo: Repo) -> None:
    """The rebase is of another branch, which stands on this one."""
    repo.git("checkout", "-q", "-b", "above")
    repo.write("more", "x\n")
    repo.commit_all("above it")
    env = {"GIT_SEQUENCE_EDITOR": "sed -i 1s/pick/edit/"}
    repo.git("rebase", "-q", "-i", "--update-refs", "HEAD~2", env=env)


def _bisected(repo: Repo) -> None:
    repo.git("bisect", "start", "HEAD", "HEAD~1")
    repo.git("checkout", "-q", "--detach")


@pytest.mark.parametrize(
    ("begin", "what"),
    [(_edited, "rebased"), (_applied, "rebased"), (_moved_along, "rebased"), (_bisected, "bisected")],
)
@pytest.mark.parametrize("linked", [True, False])
def test_a_branch_that_a_rebase_or_a_bisect_holds_is_refused(
    begin: Callable[[Repo], None], what: str, linked: bool, shared: Repo
) -> None:
    """HEAD is detached there, so no worktree has it checked out; ``git branch -f`` refuses it, too."""
    made(shared, "S1", "line 3\n", "three\n")
    branch(shared, "mine", "S1")
    there = shared.worktree("side") if linked else shared
    there.git("checkout", "-q", "mine")
    there.write("beside", "x\n")
    there.commit_all("beside")
    begin(there)
    before = there.git("rev-parse", "mine")
    shared.git("branch", "-f", "mine", "main", code=128)
    for words in ((), ("--force",)):
        done = there.run("branch", "mine", "--session", "S1", "--onto", "origin/main", *words)
        assert done.code == 4
        assert f"'mine' is being {what} at '{there.root}'" in done.said
    assert there.git("rev-parse", "mine") == before


def test_a_name_below_a_branch_or_above_one_is_refused(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    shared.git("branch", "team/one")
    for name, other in (("main/x", "main"), ("team/one/x/y", "team/one"), ("team", "team/one")):
        said = shared.ralph("branch", name, "--session", "S1", code=4).said
        assert f"there is a branch '{other}', so none can be called '{name}'" in said
    assert branch(shared, "team/two", "S1")["status"] == "made"


# --- where it begins ---


def test_the_upstream_comes_before_origins_head(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    shared.git("update-ref", "refs/remotes/origin/next", "HEAD")
    shared.git("config", "remote.origin.url", "x")
    shared.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    shared.git("branch", "--set-upstream-to=origin/next")
    made(shared, "S1", "line 5\n", "five\n")
    assert len(branch(shared, "mine", "S1")["commits"]) == 1
    assert len(branch(shared, "all", "S1", "--onto", "origin/main")["commits"]) == 2


def test_without_a_place_to_begin_it_says_so(day: Repo) -> None:
    made(day, "S1", "line 3\n", "three\n")
    assert branch(day, "mine", "S1", code=4)["status"] == "refused"
    done = day.ralph("branch", "mine", "--session", "S1", code=4)
    assert "hint: git branch -a  # what there is to begin at, for --onto" in done.said
    assert branch(day, "mine", "S1", "--onto", "HEAD~1")["status"] == "made"
    day.ralph("branch", "mine", "--session", "S1", "--onto", "nothing", code=128)


def test_a_session_without_commits_makes_nothing(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    shared.edit("S2", "g", "g\n")
    found = branch(shared, "mine", "S2")
    assert (found["status"], found["commits"]) == ("nothing", [])
    assert shared.git("for-each-ref", "refs/heads/mine") == ""


@pytest.mark.parametrize("name", ["a..b", "-x", "HEAD", "@{-1}", "a b", "x.lock", ""])
def test_what_is_no_name_for_a_branch_is_said(shared: Repo, name: str) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    shared.ralph("branch", "--session", "S1", "--", name, code=129)


def _base_goes_on(repo: Repo, old: str, new: str) -> None:
    """Somebody changes a line on the base, and it is merged into the branch."""
    repo.git("checkout", "-q", "up")
    repo.write("f", (repo.read("f") or b"").replace(old.encode(), new.encode()))
    repo.commit_all("upstream")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-edit", "up")


def test_a_base_that_was_merged_into_the_branch_is_no_hindrance(shared: Repo) -> None:
    """Also twice, and where the session goes on in a line that came from there: as ``git rebase`` does it."""
    shared.git("branch", "up")
    made(shared, "S1", "line 1\n", "one\n")
    _base_goes_on(shared, "line 10\n", "ten\nand more\n")
    made(shared, "S1", "line 5\n", "five\n")
    _base_goes_on(shared, "line 7\n", "seven\n")
    made(shared, "S1", "and more\n", "and much more\n")
    found = branch(shared, "mine", "S1", "--onto", "up")
    assert (found["status"], len(found["commits"]), found["needs"]) == ("made", 3, [])
    shared.git("checkout", "-q", "-b", "plain")
    shared.git("rebase", "-q", "up")
    for back in ("", "~1", "~2"):
        assert text(shared, f"mine{back}") == text(shared, f"plain{back}")


def test_what_a_merge_settled_is_the_merges(shared: Repo) -> None:
    """Nobody else's commit is in the way, and its own is none that a session needs."""
    shared.git("branch", "up")
    own = made(shared, "S1", "line 5\n", "five\n")
    shared.git("checkout", "-q", "up")
    shared.write("f", ten(l5="fünf"))
    shared.commit_all("upstream")
    shared.git("checkout", "-q", "main")
    shared.git("merge", "-q", "up", code=1)
    shared.write("f", ten(l5="five, fünf"))
    merge = shared.commit_all("both")
    for words in ((), ("--with-needed",)):
        found = branch(shared, "mine", "S1", "--onto", "up", *words, code=4)
        assert [row["commit"] for row in found["needs"]] == [merge] != [own]
    said = shared.ralph("branch", "mine", "--session", "S1", "--onto", "up", code=4).said
    assert f"needs the merge {merge[:7]}" in said
    assert f"git log -m -p -1 {merge[:7]}" in said


def test_a_binary_that_another_changed_in_between_needs_the_other_and_not_itself(shared: Repo) -> None:
    commits = []
    for session, data in (("S1", b"\0one"), ("S2", b"\0two"), ("S1", b"\0three")):
        shared.edit(session, "n", data)
        commits.append(shared.commit(session).commit)
    found = branch(shared, "mine", "S1", code=4)
    assert [row["commit"] for row in found["needs"]] == [commits[1]]


def test_a_merge_is_left_out_and_said(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    shared.git("checkout", "-q", "-b", "up", "origin/main")
    shared.write("g", "g\n")
    shared.commit_all("upstream")
    shared.git("checkout", "-q", "main")
    shared.git("merge", "-q", "--no-edit", "up")
    made(shared, "S1", "line 5\n", "five\n")
    done = shared.ralph("branch", "mine", "--session", "S1")
    assert "1 merge left out" in done.said
    assert text(shared, "mine") == ten(l3="three", l5="five")
    assert shared.git("ls-tree", "-r", "--name-only", "mine") == "f"


def test_a_squashed_commit_of_two_sessions_needs_both(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    made(shared, "S2", "line 5\n", "five\n")
    both = shared.git("log", "--format=%B", "-2")
    shared.git("reset", "-q", "--soft", "HEAD~2")
    shared.git("commit", "-q", "-m", "squashed\n\n" + both)
    found = branch(shared, "mine", "S1", code=4)
    assert found["needs"] == [{"commit": shared.head(), "session": "S2", "path": "f"}]
    assert branch(shared, "mine", "S1", "--with-needed")["status"] == "made"


def test_in_a_clone_without_records_trailers_tell(shared: Repo) -> None:
    made(shared, "S2", "line 4\n", "four\n")
    made(shared, "S1", "line 3\n", "three\n")
    base = shared.git("rev-parse", "origin/main")
    shared.git("clone", "-q", str(shared.root), str(shared.root.parent / "clone"))
    clone = Repo(shared.root.parent / "clone", dict(shared.env))
    assert branch(clone, "mine", "S1", "--onto", base)["status"] == "made"
    assert text(clone, "mine") == ten(l3="three")


# --- who looks ---


def test_status_names_the_branch_of_a_session(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    assert "mine" not in shared.ralph("status").text
    branch(shared, "mine", "S1")
    name = shared.called("S1")
    assert f"'mine' holds 1 commit of {name}" in shared.ralph("status").text
    shared.git("branch", "-q", "-D", "mine")
    assert "mine" not in shared.ralph("status").text


def test_a_damaged_memory_is_passed_over(shared: Repo) -> None:
    made(shared, "S1", "line 3\n", "three\n")
    rows = ["{", "[]", json.dumps({"ref": 3}), json.dumps({"ref": "refs/heads/x", "session": "S1"})]
    (shared.state / "branches.jsonl").write_text("\n".join(rows) + "\n")
    assert branch(shared, "mine", "S1")["status"] == "made"


def test_a_branch_that_cannot_be_noted_is_not_made(shared: Repo) -> None:
    """Made all the same, it counted as somebody else's from then on."""
    made(shared, "S1", "line 3\n", "three\n")
    shared.state.joinpath("branches.jsonl").mkdir()
    shared.ralph("branch", "mine", "--session", "S1", code=128)
    shared.git("rev-parse", "--verify", "-q", "refs/heads/mine", code=1)


def test_what_is_needed_is_counted_apart_and_noted(shared: Repo) -> None:
    shared.git("config", "ralph.notes", "git-ai")
    made(shared, "S1", "line 3\n", "three\n")
    made(shared, "S2", "three\n", "THREE\n")
    done = shared.ralph("branch", "two", "--session", "S2", "--with-needed")
    assert f"made: 1 commit of session '{shared.called('S2')}' and 1 of others that it needs" in done.text
    held = f"'two' holds 1 commit of {shared.called('S2')} and 1 of others\n"
    assert held in shared.ralph("status").text
    noted = shared.git("notes", "--ref=refs/notes/ai", "list").split()[1::2]
    assert set(shared.git("rev-list", "origin/main..two").split()) <= set(noted)


def test_a_branch_that_git_ralph_did_not_make_is_not_moved_on(shared: Repo) -> None:
    """As git: a slip in the name would move a person's branch."""
    made(shared, "S1", "line 3\n", "S1\n")
    shared.git("branch", "develop", "origin/main")
    branch(shared, "develop", "S1", code=4)
    assert shared.git("rev-parse", "develop") == shared.git("rev-parse", "origin/main")
    assert branch(shared, "develop", "S1", "--force")["status"] == "made"
    made(shared, "S1", "line 4\n", "S1 again\n")
    assert branch(shared, "develop", "S1")["status"] == "made"


def test_lines_of_another_that_were_folded_into_a_commit_are_told(shared: Repo) -> None:
    """A commit is taken as a whole; who folded the line in decided that."""
    made(shared, "S1", "line 3\n", "three of S1\n")
    swap(shared, "S2", "line 9\n", "nine of S2\n")
    shared.git("commit", "-qa", "--amend", "--no-edit")
    said = shared.ralph("branch", "pr", "--session", "S1").said
    assert "also has lines of session 'generic-2', folded in since" in said
    made(shared, "S1", "line 5\n", "five of S1\n")
    assert "folded" not in shared.ralph("branch", "other", "--session", "S2", code=0).said

"""``ralph.notes=git-ai``: each commit of a session has its note, after a rewrite too; a foreign one stays.

``f`` holds "line 1" to "line 10" and is committed.
"""

import pytest

from gitralph.base.ids import hashed
from tests.acceptance.test_branch import made
from tests.acceptance.test_head_moved import day as day
from tests.acceptance.test_squashed import squash, two
from tests.ask.trace import git_ai
from tests.support.repo import Repo

REF = "--ref=refs/notes/ai"


@pytest.fixture
def noted(day: Repo) -> Repo:
    day.git("config", "ralph.notes", "git-ai")
    return day


def note(repo: Repo, commit: str = "HEAD") -> dict[str, dict[int, str]]:
    """Path to line to the hash of its session; the note says that it is of this commit."""
    rows, facts = git_ai.parse(repo.git("notes", REF, "show", commit))
    assert facts["base_commit_sha"] == repo.git("rev-parse", commit)
    return rows


def clone(repo: Repo) -> Repo:
    """A fresh clone that fetched the notes."""
    root = repo.root.parent / "clone"
    repo.git("clone", "-q", str(repo.root), str(root))
    found = Repo(root, dict(repo.env))
    found.git("fetch", "-q", "origin", "refs/notes/ai:refs/notes/ai")
    return found


def blamed(repo: Repo) -> dict[int, tuple[str, str]]:
    rows = repo.ralph("blame", "--json", "f").json()["lines"]
    return {row["line"]: (row["session"], row["source"]) for row in rows if row["session"] is not None}


def test_each_commit_gets_its_note_and_without_the_setting_none(day: Repo) -> None:
    made(day, "S1", "line 3\n", "three\n")
    assert day.git("for-each-ref", "refs/notes") == ""
    day.git("config", "ralph.notes", "git-ai")
    made(day, "S2", "line 5\n", "five\n")
    assert note(day) == {"f": {5: hashed("S2")}}
    assert note(day, "HEAD~1") == {"f": {3: hashed("S1")}}


@pytest.mark.parametrize("how", ["title", "all", "rebase"])
@pytest.mark.parametrize("command", [("status",), ("blame", "f"), ("why", "f:3"), ("log",)])
def test_after_a_squash_the_next_command_notes_it(noted: Repo, how: str, command: tuple[str, ...]) -> None:
    two(noted)
    squash(noted, how)
    noted.ralph(*command)
    assert note(noted) == {"f": {3: hashed("S1"), 5: hashed("S2")}}


def test_what_git_copied_along_is_written_again(noted: Repo) -> None:
    noted.git("config", "notes.rewriteRef", "refs/notes/ai")
    made(noted, "S1", "line 3\n", "three\n")
    made(noted, "S2", "line 5\n", "five\n")
    old = noted.head()
    noted.git("commit", "-q", "--amend", "-m", "another")
    assert old in noted.git("notes", REF, "show", "HEAD")
    noted.ralph("status")
    assert note(noted) == {"f": {5: hashed("S2")}}


def test_a_note_of_somebody_else_stays(noted: Repo) -> None:
    made(noted, "S1", "line 3\n", "three\n")
    for text in ("theirs", 'f\n  abc 1\n---\n{"schema_version":"authorship/3.0.0","base_commit_sha":"x"}'):
        noted.git("commit", "-q", "--amend", "-m", text[:5])
        noted.git("notes", REF, "add", "-f", "-m", text, "HEAD")
        noted.ralph("status")
        assert noted.git("notes", REF, "show", "HEAD") == text


@pytest.mark.parametrize("how", ["title", "all", "rebase"])
def test_a_clone_with_the_notes_names_every_line(noted: Repo, how: str) -> None:
    two(noted)
    squash(noted, how)
    noted.ralph("status")
    there = clone(noted)
    rows = there.ralph("blame", "--json", "f").json()["lines"]
    assert {row["line"] for row in rows if row["agent"] == "generic"} == {3, 5}
    assert {row["source"] for row in rows if row["agent"]} == {"git-ai"}
    assert {row["model"] for row in rows} == {None}  # nobody knows it, and no model is called "unknown"
    if how != "title":
        assert blamed(there) == {3: ("S1", "git-ai"), 5: ("S2", "git-ai")}
        found = there.ralph("why", "--json", "f:5").json()["findings"][0]
        assert (found["session"], found["one_of"]) == ("S2", [])


def test_a_line_that_the_note_leaves_out_is_nobodys(noted: Repo) -> None:
    noted.edit("S1", "f", "top\n" + (noted.read("f") or b"").decode())
    noted.write("f", b"by hand\n" + (noted.read("f") or b""))
    noted.commit("S1", "--whole-file", "--", "f")
    assert blamed(clone(noted)) == {2: ("S1", "git-ai")}


def test_a_ref_that_cannot_be_written_fails_nothing(day: Repo) -> None:
    made(day, "S1", "line 3\n", "three\n")
    noted = day
    noted.git("config", "ralph.notes", "git-ai")
    (noted.common / "refs/notes").mkdir()
    (noted.common / "refs/notes/ai.lock").write_text("")
    assert "no note could be written" in noted.ralph("status").said


def test_a_bad_value_is_a_warning_since_the_commit_is_made(day: Repo) -> None:
    """It ended the command as fatal, with the commit in HEAD."""
    day.git("config", "ralph.notes", "maybe")
    two(day)
    head = day.head()
    day.edit("S1", "f", (day.read("f") or b"") + b"more\n")
    done = day.ralph("commit", "--session", "S1", "-m", "x")
    assert "warning: bad value 'maybe' for 'ralph.notes'" in done.said
    assert day.git("rev-parse", "HEAD^") == head
    day.ralph("status")

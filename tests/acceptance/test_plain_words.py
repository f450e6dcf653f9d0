"""What a commit says of changes that no session recorded: plain sentences, in the words of the glossary."""

import pytest

from tests.support.repo import Answer, Repo
from tests.support.texts import changed


def _details(answer: Answer) -> dict[str, str]:
    return {row["path"]: row["detail"] for row in answer.document["left"]}


def test_a_deletion_that_no_session_recorded_is_said_to_be_that(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.remove("a")
    said = _details(repo.commit("S1"))
    assert said == {"a": "it was deleted after the last recorded edit; no session recorded it"}


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_mode_that_no_session_recorded_is_said_to_be_left(repo: Repo, is_shared: bool) -> None:
    repo.edit("S1", "a", changed())
    if is_shared:
        repo.edit("S2", "a", changed(9, "S2's", changed()))
    (repo.root / "a").chmod(0o755)
    notes = repo.commit("S1").document["notes"]
    assert "the mode of 'a' was changed and no session recorded it; left" in notes


def test_an_edit_that_somebody_took_back_is_said_to_be_left_to_him(repo: Repo) -> None:
    before = (repo.root / "a").read_text()
    repo.edit("S1", "a", before.replace("\n", "\nfirst\n", 1))
    repo.write("a", before + "last\n")
    notes = repo.commit("S1").document["notes"]
    assert any("removed by somebody without a session" in note for note in notes), notes


def test_a_refusal_names_the_line_and_whose_it_replaced(repo: Repo) -> None:
    lines = (repo.root / "a").read_text().splitlines(keepends=True)
    repo.edit("S1", "a", "".join([*lines[:2], "one\n", *lines[3:]]))
    repo.edit("S2", "a", "".join([*lines[:2], "one two\n", *lines[3:]]))
    (row,) = repo.commit("S2", code=4).document["left"]
    assert row["lines"] == [3, 3]
    assert row["detail"] == "replaces uncommitted lines of session 'S1'"


def test_a_refusal_names_the_line_and_not_what_is_left_of_the_block(repo: Repo) -> None:
    """S1 wrote lines 2 and 3, S2 replaced the first of them: line 3 is in nobody's way."""
    lines = (repo.root / "a").read_text().splitlines(keepends=True)
    repo.edit("S1", "a", "".join([lines[0], "two\n", "two and a half\n", *lines[2:]]))
    repo.edit("S2", "a", "".join([lines[0], "2, twice\n", "two and a half\n", *lines[2:]]))
    (row,) = repo.commit("S2", code=4).document["left"]
    assert row["lines"] == [2, 2]
    assert row["sessions"] == ["S1"]


def test_a_refusal_says_that_head_has_the_file_no_more(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.commit("S1")
    repo.edit("S1", "a", changed(9, "nine", changed()))
    repo.edit("S1", "b", changed())
    repo.git("rm", "-q", "--cached", "a")
    repo.git("commit", "-qm", "untrack")
    answer = repo.commit("S1", code=4)
    assert answer.left == {"a": "stale"}
    assert _details(answer) == {"a": "HEAD has moved to a text that the recorded edits do not fit"}


def test_a_file_that_git_moved_is_not_said_to_be_created_and_deleted_again(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.git("mv", "a", "g")
    repo.git("commit", "-qm", "move")
    answer = repo.commit("S1")
    assert "'a' is neither in HEAD nor on disk any more; nothing to commit there" in answer.notes
    assert answer.status == "nothing"
    assert repo.read("g") == changed().encode()

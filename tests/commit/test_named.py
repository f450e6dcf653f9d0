"""``--whole-file`` on paths the session has nothing on: said, never passed over in silence."""

from tests.support.repo import Repo
from tests.support.texts import changed


def test_a_whole_file_that_the_session_has_nothing_on_is_refused_with_the_command_that_claims_it(
    repo: Repo,
) -> None:
    """Nothing is written, and the hint is to track it."""
    repo.edit("S1", "b", changed())
    repo.write("a", changed())
    answer = repo.commit("S1", "--whole-file", "--", "a", code=4)
    assert answer.left == {"a": "unanchored"}
    assert f"hint: git ralph track --session {repo.called('S1')} -- a" in answer.said
    assert repo.commit("S1", "--whole-file", "--dry-run", "--", "a", code=4).left == {"a": "unanchored"}


def test_a_whole_file_of_another_session_names_it(repo: Repo) -> None:
    """It is the other's to commit."""
    repo.edit("S1", "b", changed())
    repo.edit("S2", "a", changed())
    answer = repo.commit("S1", "--whole-file", "--", "a", code=4)
    assert answer.left == {"a": "contested"}
    assert answer.document["left"][0]["sessions"] == ["S2"]


def test_a_whole_file_written_out_beside_one_of_the_sessions_own_is_refused_too(repo: Repo) -> None:
    """Named by its name, so it was meant."""
    repo.edit("S1", "d/b", changed())
    repo.write("d/a", changed())
    assert repo.commit("S1", "--whole-file", "--", "b", "a", code=4, cwd="d").left == {"d/a": "unanchored"}


def test_a_folder_named_whole_takes_what_is_the_sessions_in_it(repo: Repo) -> None:
    """What else lies in it was not written out."""
    repo.edit("S1", "d/b", changed())
    repo.write("d/a", changed())
    assert repo.commit("S1", "--whole-file", "--", "d").paths == {"d/b": "A"}


def test_a_folder_named_whole_without_anything_of_the_sessions_is_refused(repo: Repo) -> None:
    """Every changed path in it is named."""
    repo.edit("S1", "b", changed())
    repo.write("d/a", changed())
    repo.write("d/n", "new\n")
    assert set(repo.commit("S1", "--whole-file", "--", "d", code=4).left) == {"d/a", "d/n"}


def test_an_unchanged_file_named_whole_has_nothing_to_commit(repo: Repo) -> None:
    """There is nothing that could have been meant."""
    repo.edit("S1", "b", changed())
    assert repo.commit("S1", "--whole-file", "--", "a").status == "nothing"

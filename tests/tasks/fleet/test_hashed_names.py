"""In a fleet a commit names its session by a hash, and everything here still knows whose it is."""

import shutil
from pathlib import Path

import pytest

from gitralph.base.ids import hashed
from gitralph.base.layout import Layout
from gitralph.records import published_name
from tests.support.repo import Repo
from tests.support.texts import changed


@pytest.fixture
def member_repo(repo: Repo) -> Repo:
    repo.ralph("session", "start", "--id", "first")
    fleet = repo.state / "fleet"
    fleet.mkdir()
    (fleet / "fleet.json").write_text("{}\n")
    return repo


def test_a_commit_names_the_hash_and_why_the_session(member_repo: Repo) -> None:
    """No reader of the repository learns the id; the machine that has the record does."""
    repo = member_repo
    repo.edit("secret-session", "a", changed(3))
    repo.commit("secret-session")
    assert repo.trailers().split("\n")[0] == f"Ralph-Session: {hashed('secret-session')}"
    assert "secret-session" not in repo.git("cat-file", "commit", "HEAD")
    shutil.rmtree(repo.state / "edits")  # only the trailer is left to tell
    (repo.state / "edits").mkdir()
    assert "secret-session" in repo.ralph("why", "--json", "a:3").text


def test_what_a_commit_includes_of_others_is_hashed_too(member_repo: Repo) -> None:
    repo = member_repo
    repo.edit("S1", "a", changed(3, "one"))
    repo.edit("S2", "a", changed(3, "one and two"))
    repo.commit("S2", "--include-entangled")
    assert f"Ralph-Includes: {hashed('S1')}" in repo.trailers()
    assert "S1" not in repo.trailers()


def test_an_amended_commit_loses_the_plain_name(repo: Repo) -> None:
    """A commit from before the fleet, amended in it, names the hash alone."""
    repo.edit("secret-session", "a", changed(3))
    repo.commit("secret-session")
    (repo.state / "fleet").mkdir()
    (repo.state / "fleet/fleet.json").write_text("{}\n")
    repo.edit("secret-session", "a", changed(3, "again"))
    repo.ralph("commit", "--session", "secret-session", "--amend")
    assert repo.trailers().count("Ralph-Session") == 1
    assert "secret-session" not in repo.git("cat-file", "commit", "HEAD")


def test_a_session_that_calls_itself_by_anothers_hash_gets_nothing(tmp_path: Path) -> None:
    """The hash of a recorded id wins over an id that has its form."""
    layout = Layout(str(tmp_path), "main")
    thief = hashed("owner")
    for name in ("owner", thief):
        (tmp_path / f"{name}.json").write_text("{}")
    assert published_name.local(layout, thief) == "owner"
    assert published_name.local(layout, hashed("elsewhere")) == hashed("elsewhere")
    assert published_name.local(layout, "plain") == "plain"

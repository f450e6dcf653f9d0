"""The warning that hooks may be dead: where a session recorded nothing while files changed, only there."""

import os
import time

from tests.support import shells
from tests.support.repo import Repo
from tests.support.texts import changed

DEAD = "its hooks may be dead"


def _said(repo: Repo) -> str:
    return repo.ralph("commit", "--session", "S1", "-m", "x").said


def _long_ago(repo: Repo) -> None:
    """What the hooks noted was noted in another year."""
    for path in (*repo.state.glob("*.json*"), *repo.state.glob("*.files")):
        this = time.strftime("%Y-", time.gmtime())
        path.write_text(path.read_text().replace(f'"{this}', '"2001-'))
        os.utime(path, (1_000_000_000, 1_000_000_000))


def test_none_beside_the_sessions_own_shell_call(repo: Repo) -> None:
    """A hook that noted a shell call is alive, and the call explains what changed."""
    shells.run(repo, "S1", "echo more > n")
    said = _said(repo)
    assert DEAD not in said
    assert "--with-shell" in said


def test_none_where_a_shell_call_of_long_ago_explains_the_change(repo: Repo) -> None:
    shells.run(repo, "S1", "echo more > n")
    _long_ago(repo)
    assert DEAD not in _said(repo)


def test_one_where_something_else_changed_since(repo: Repo) -> None:
    shells.run(repo, "S1", "echo more > n")
    _long_ago(repo)
    repo.write("u", "by whom?\n")
    assert f"yet 'u' changed and nobody recorded it; {DEAD}" in _said(repo)


def test_none_for_what_another_session_recorded(repo: Repo) -> None:
    repo.start("S1")
    _long_ago(repo)
    repo.edit("S2", "a", changed())
    assert DEAD not in _said(repo)

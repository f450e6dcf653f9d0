"""What tests of ``gc`` look at and change in a state folder."""

import os
import time

from gitralph.base import gitdir, layout
from gitralph.base.layout import Layout
from tests.support.repo import Repo

DAY = 24 * 3600.0


def state(repo: Repo) -> Layout:
    place = gitdir.discover(str(repo.root))
    assert place is not None
    return layout.for_place(place, create=False)


def names(repo: Repo) -> list[str]:
    """Every file of the state, less locks and what people read."""
    out = []
    for path in sorted(repo.state.rglob("*")):
        name = str(path.relative_to(repo.state))
        if (
            path.is_file()
            and name not in ("README", "format", "looked")
            and not name.startswith(("locks/", "names/"))
        ):
            out.append(name)
    return out


def snapshot(repo: Repo) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in repo.state.rglob("*")
        if path.is_file()
    }


def age(repo: Repo, days: float, *only: str) -> None:
    """Make the state files look as old as that."""
    then = time.time() - days * DAY
    for path in repo.state.rglob("*"):
        if not only or path.name in only:
            os.utime(path, (then, then))


def has_journal(repo: Repo, path: str) -> bool:
    return os.path.exists(state(repo).journal(path.encode()))


def over(repo: Repo, session: str) -> None:
    """Commit what a session has and end it."""
    repo.commit(session)
    repo.ralph("session", "end", session)

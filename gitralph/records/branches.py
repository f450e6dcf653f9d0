"""Which branches were made of whose commits: ``branches.jsonl``, a line each time one is made or moved.

A line tells where the branch was left, so that a branch which somebody moved since is noticed. The last line
of a branch counts. Deleting the file loses only that knowledge.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from gitralph.base import files, jsonline
from gitralph.base.layout import Layout
from gitralph.hook.journal import is_oid

_LIMIT = 1 << 26


class SessionBranch(NamedTuple):
    """A branch with the commits of one session: where it was left, and which commit became which."""

    ref: str
    session: str
    tip: str
    commits: tuple[tuple[str, str], ...] = ()


def read(layout: Layout) -> dict[str, SessionBranch]:
    """What is known of each branch, by its full name; empty where the file cannot be read."""
    try:
        data = files.read_bytes(layout.branches, _LIMIT)
    except OSError:
        return {}
    found = {}
    for _, _, row in jsonline.lines(data):
        try:
            one = _parsed(jsonline.object_in(row))
        except ValueError:
            continue
        if one is not None:
            found[one.ref] = one
    return found


def _parsed(row: dict[str, object]) -> SessionBranch | None:
    ref, session, tip, told = (row.get(key) for key in ("ref", "session", "tip", "commits"))
    if (
        not isinstance(ref, str)
        or not isinstance(session, str)
        or not isinstance(tip, str)
        or not is_oid(tip)
    ):
        return None
    if not ref.startswith("refs/heads/"):
        return None
    rows = told if isinstance(told, list) else []
    pairs = (tuple(one) for one in rows if isinstance(one, list) and len(one) == 2 and all(map(is_oid, one)))
    return SessionBranch(ref, session, tip, tuple((str(a), str(b)) for a, b in pairs))


@contextmanager
def noting(layout: Layout, made: SessionBranch) -> Iterator[None]:
    """Note where a branch was left, once the caller has moved it.

    The file is opened before. So a branch of which nothing could be noted does not move.
    """
    fields = {**made._asdict(), "commits": [list(pair) for pair in made.commits]}
    with files.Locked(layout.branches, files.WAIT) as fd:
        yield
        files.append(fd, jsonline.line(fields))

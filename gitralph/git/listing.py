"""Reads git's ``-z`` listings: entries of an index, differences of trees, states of files; pure."""

from typing import NamedTuple

from gitralph.base import nul
from gitralph.git.trees import Entry

Pair = tuple[Entry | None, Entry | None]


class Listed(NamedTuple):
    """One row of ``ls-files -s``; ``tag`` is the letter that ``-v`` puts before it, else empty."""

    path: bytes
    entry: Entry
    stage: int
    tag: str = ""


def entries(said: bytes) -> list[Listed]:
    """The rows of ``ls-files -s [-v] -z``."""
    out = []
    for row in nul.rows(said):
        facts, _, path = row.partition(b"\t")
        *tag, mode, oid, stage = facts.split(b" ")
        out.append(Listed(path, Entry(int(mode, 8), oid), int(stage), tag[0].decode() if tag else ""))
    return out


def _entry(mode: bytes, oid: bytes) -> Entry | None:
    return None if mode == b"000000" else Entry(int(mode, 8), oid)


def differences(said: bytes) -> dict[bytes, Pair]:
    """Old and new entry of each path in ``diff-tree -r -z`` or ``diff-index --raw -z``, without renames."""
    out = {}
    for facts, path in nul.groups(said, 2):
        old_mode, mode, old_oid, oid, _ = facts.lstrip(b":").split(b" ")
        out[path] = (_entry(old_mode, old_oid), _entry(mode, oid))
    return out


Counts = tuple[int | None, int | None]
"""Lines added and removed; None for a file without lines."""


def _counts(row: bytes) -> tuple[bytes, Counts]:
    added, removed, path = row.split(b"\t", 2)
    return path, (int(added), int(removed)) if added != b"-" else (None, None)


def counts(said: bytes) -> dict[bytes, Counts]:
    """The rows of ``diff --numstat -z``, without renames."""
    return dict(_counts(row) for row in nul.rows(said))


def changes(said: bytes) -> dict[bytes, tuple[str, Counts]]:
    """Letter and counts of each path in ``diff --raw --numstat -z``, without renames."""
    rows = iter(nul.rows(said))
    letters: dict[bytes, str] = {}
    out = {}
    for row in rows:
        if row.startswith(b":"):
            letters[next(rows, b"")] = row[-1:].decode("ascii", "replace")
        else:
            path, found = _counts(row)
            out[path] = letters.get(path, "M"), found
    for path, letter in letters.items():
        out.setdefault(path, (letter, (None, None)))
    return out


def states(said: bytes) -> list[tuple[str, bytes]]:
    """The two letters and the path of each row of ``status --porcelain -z``, without renames.

    A folder into which git does not look loses the slash at its end.
    """
    return [(row[:2].decode("ascii", "replace"), row[3:].rstrip(b"/")) for row in nul.rows(said)]


def is_unmerged(letters: str) -> bool:
    """True for git's letters of a path with a conflict that is not settled (git-status(1))."""
    return "U" in letters or letters in ("AA", "DD")

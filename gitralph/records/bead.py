"""The record of a bead, ``beads/<bead>.json``: worktree, base, owner and loop of one work item.

It is written whole, and changed only under the bead's lock.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gitralph.base import files, ids, locks
from gitralph.base.layout import Layout
from gitralph.hook import sessionfile

ADDING = "adding"
IN_PROGRESS = "in_progress"
COMPLETED = "completed"
FAILED = "failed"
MERGED = "merged"
REMOVING = "removing"
REMOVED = "removed"
DEFAULT_PROMISE = "BEAD COMPLETE"
# The number of iterations of a loop that names no limit: enough to mend a failed check, and bounded in cost.
DEFAULT_LIMIT = 10
# In bytes. A record holds a prompt, which agents take in thousands of words; a larger file is no record of
# ours.
_LIMIT = 4 << 20


class DamagedBeadError(Exception):
    """A bead's record cannot be read; the message says which one and why. The file is kept as it is."""


@dataclass
class Bead:
    """One work item. ``base_ref`` is None where it began on a detached HEAD or a bare oid.

    ``prompt`` is that of the launch by a policy, which the stop hook repeats. ``extra`` keeps fields of other
    tools.
    """

    bead: str
    branch: str = ""
    path: str = ""
    base_ref: str | None = None
    base_oid: str | None = None
    owner: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    status: str = IN_PROGRESS
    iteration: int = 0
    max_iterations: int = DEFAULT_LIMIT
    completion_promise: str = DEFAULT_PROMISE
    prompt: str | None = None
    blocks: int = 0
    title: str | None = None
    acceptance_criteria: str | None = None
    created: str | None = None
    updated: str | None = None
    trash: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def active(self) -> bool:
        """True while somebody works on the bead."""
        return self.status in (IN_PROGRESS, "in progress")


_STRINGS = ("branch", "path", "status", "completion_promise")
_OPTIONAL = (
    "base_ref",
    "base_oid",
    "owner",
    "agent_id",
    "agent_type",
    "prompt",
    "title",
    "acceptance_criteria",
    "created",
    "updated",
)
_COUNTS = ("iteration", "max_iterations", "blocks")


def _check(name: str, value: object) -> bool:
    if name in _STRINGS:
        return isinstance(value, str)
    if name in _OPTIONAL:
        return value is None or isinstance(value, str)
    if name in _COUNTS:
        return type(value) is int and value >= 0
    if name == "trash":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    return False


def _parse(bead: str, data: bytes) -> Bead:
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        raise DamagedBeadError(f"'beads/{bead}.json' is not JSON") from None
    if not isinstance(fields, dict) or fields.get("bead") != bead:
        raise DamagedBeadError(f"'beads/{bead}.json' is not the record of '{bead}'")
    found = Bead(bead)
    for name, value in fields.items():
        if name in ("bead", "v"):
            continue
        if name == "extra" or name not in Bead.__dataclass_fields__:
            # Other tools keep fields of their own in the record, and rewriting it must not lose these.
            found.extra[name] = value
        # A record of the wrong shape is refused whole, not read in part: its path decides what is removed.
        elif not _check(name, value):
            raise DamagedBeadError(f"'beads/{bead}.json': '{name}' has the wrong type")
        else:
            setattr(found, name, value)
    return found


def read(layout: Layout, bead: str) -> Bead | None:
    """The record, None when there is none. Raises DamagedBeadError."""
    try:
        data = files.read_bytes(layout.bead(bead), _LIMIT)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DamagedBeadError(f"'beads/{bead}.json' cannot be read: {error.strerror}") from None
    return _parse(bead, data)


def write(layout: Layout, record: Bead) -> None:
    """Write a record durably; the caller holds the bead's lock."""
    record.updated = sessionfile.now()
    record.created = record.created or record.updated
    fields = {name: getattr(record, name) for name in Bead.__dataclass_fields__ if name != "extra"}
    data = json.dumps({"v": 1, **fields, **record.extra}, indent=1).encode("ascii") + b"\n"
    files.write_for_good(layout.bead(record.bead), data)


def names(layout: Layout) -> list[str]:
    """Every bead that has a record."""
    return sorted(filter(ids.is_bead, (name[:-5] for name in files.names(layout.beads, ".json"))))


def records(layout: Layout) -> Iterator[Bead | DamagedBeadError]:
    """Every record; a damaged one is given as the error that tells what is wrong."""
    for name in names(layout):
        try:
            found = read(layout, name)
        except DamagedBeadError as error:
            yield error
            continue
        if found is not None:
            yield found


def spend_temporaries(layout: Layout, bead: str) -> None:
    """Remove half-written records of a bead that a crash left; the caller holds the bead's lock."""
    for name in os.listdir(layout.beads) if os.path.isdir(layout.beads) else []:
        # Only this bead's files are removed: another bead's may be written right now, under the other lock.
        if name.startswith(bead + ".json.") and name.endswith(".tmp"):
            os.unlink(f"{layout.beads}/{name}")


@contextlib.contextmanager
def hold(layout: Layout, bead: str, wait: float | None = None) -> Iterator[int]:
    """Hold a bead's lock for a ``with`` block; yields the descriptor. Raises Busy, naming the bead.

    Beads whose names differ only in case share a lock, since they would share a folder on some disks.
    """
    busy = f"bead '{bead}' is being changed by another git ralph"
    with locks.hold(layout, locks.BEAD + bead.lower(), wait, busy) as fd:
        spend_temporaries(layout, bead)
        yield fd

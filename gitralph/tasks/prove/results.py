"""What passed: a note for each tree, command and folder. A failure is never kept: its cause may be outside.

Losing a note costs one more run.
"""

import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from gitralph.base import files
from gitralph.base.ids import digest
from gitralph.base.layout import Layout
from gitralph.hook import sessionfile

# A result is a few hundred bytes: what ran, when, with which outcome.
_LIMIT = 1 << 20


class ProofCommand(NamedTuple):
    """What is run: its words, as typed, and the folder below the root to run it in."""

    words: tuple[str, ...]
    shown: str
    folder: str = ""

    @classmethod
    def shell(cls, text: str, folder: str = "") -> "ProofCommand":
        """A command line for the shell."""
        return cls(("/bin/sh", "-c", text), text, folder)


def _key(tree: str, command: ProofCommand) -> str:
    parts = [tree, command.folder, *command.words]
    return digest("\0".join(parts).encode("utf-8", "surrogateescape"))


def has_passed(layout: Layout, tree: str, command: ProofCommand) -> bool:
    """True when it is noted that the command passed on the tree."""
    try:
        found = json.loads(files.read_bytes(layout.proof(_key(tree, command)), _LIMIT))
    except (OSError, ValueError, RecursionError):
        return False
    # looked at whole: a note under a wrong name, or half of one, says nothing
    return isinstance(found, dict) and all(found.get(k) == v for k, v in _facts(tree, command).items())


def _facts(tree: str, command: ProofCommand) -> dict[str, object]:
    return {"tree": tree, "words": list(command.words), "folder": command.folder}


def note(layout: Layout, tree: str, command: ProofCommand, seconds: float) -> None:
    """Note that the command passed on the tree."""
    files.make_folder(layout.proofs)
    facts = {"v": 1, "ts": sessionfile.now(), **_facts(tree, command), "seconds": round(seconds, 3)}
    files.write_whole(layout.proof(_key(tree, command)), json.dumps(facts).encode("ascii") + b"\n")


def older_than(layout: Layout, cutoff: float) -> Iterable[str]:
    """Notes from before a time. For ``gc`` only."""
    paths = [f"{layout.proofs}/{name}" for name in files.names(layout.proofs)]
    return [path for path in paths if os.lstat(path).st_mtime < cutoff]

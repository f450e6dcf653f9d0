"""A few lines for agents in ``CLAUDE.md``, ``AGENTS.md`` and ``GEMINI.md``: how to commit here.

They stand between two marks, so they are found whatever else is written. The first mark tells what stood
before. So taking them out leaves every byte as it was, in any clone.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gitralph.base.errors import Fatal
from gitralph.setup.install import place
from gitralph.setup.install.apply import ABSENT, INSTALLED, REMOVED, UNCHANGED, UPDATED
from gitralph.setup.install.place import FoundFile
from gitralph.setup.install.table import AGENTS, PROJECT, Agent

CLAUDE, COMMON, GEMINI = "CLAUDE.md", "AGENTS.md", "GEMINI.md"
FILES = (CLAUDE, COMMON, GEMINI)
# Each agent's own documentation; whoever is not named reads AGENTS.md.
_READS = {"claude-code": CLAUDE, "gemini": GEMINI}
_TEXT = """\
## Committing

Others may be editing in this directory right now. Commit with `git ralph commit -m "<message>"`: it takes
exactly what you edited, line by line, and leaves the rest. If it refuses, type the command it prints.
Never throw away what you did not write: no `git stash`, `git reset --hard`, `git checkout -- .`, `git clean`.
"""
_BEGIN, _END = "<!-- gitralph: begin{} -->", "<!-- gitralph: end -->"
# How the file ended before us: with a newline, without one, empty, or not there at all.
_LINE, _OPEN, _EMPTY, _NONE = "", " (after an open line)", " (in an empty file)", " (a file of its own)"
_FOUND = re.compile(
    rb"(?P<gap>(?:\r?\n)*)<!-- gitralph: begin(?P<was> \([a-z ]+\))? -->\r?\n.*?"
    rb"<!-- gitralph: end -->(?:\r?\n|$)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Instructed:
    """One file and what came of it."""

    file: str
    status: str


def _block(was: str, ending: bytes) -> bytes:
    text = "\n".join([_BEGIN.format(was), *_TEXT.splitlines(), _END, ""]).encode()
    return text.replace(b"\n", ending)


def added(data: bytes | None) -> bytes:
    """A file's bytes with this version's block: at the end, or in place of an earlier block."""
    before = removed(data) if data is not None else None
    if data is not None and before != data:
        return _again(data)
    ending = b"\r\n" if data and b"\r\n" in data else b"\n"
    if data is None:
        return _block(_NONE, ending)
    if not data:
        return _block(_EMPTY, ending)
    was, gap = (_LINE, ending) if data.endswith(b"\n") else (_OPEN, ending * 2)
    return data + gap + _block(was, ending)


def _again(data: bytes) -> bytes:
    """The same with its block brought up to date, where it stands."""
    found = _FOUND.search(data)
    assert found is not None
    ending = _ending(found)
    block = _block((found["was"] or b"").decode(), ending)
    return data[: found.start()] + found["gap"] + block + data[found.end() :]


def _ending(found: re.Match[bytes]) -> bytes:
    """How the block's lines end; not asked of the gap, in which a text that ends with a CR has its part."""
    return b"\r\n" if b"\r\n" in found[0][len(found["gap"]) :] else b"\n"


def removed(data: bytes) -> bytes | None:
    """The bytes without the block; None for a file that we made and nobody wrote in."""
    found = _FOUND.search(data)
    if found is None:
        return data
    was, ending = (found["was"] or b"").decode(), _ending(found)
    gap, rest = found["gap"], data[found.end() :]
    ours = {_LINE: ending, _OPEN: ending * 2}.get(was, b"")
    gap = gap[: len(gap) - len(ours)] if gap.endswith(ours) else gap
    if rest and was == _OPEN:
        gap += ending
    left = data[: found.start()] + gap + rest
    return None if was == _NONE and not left else left


def holds(data: bytes | None) -> bool:
    """True where the block stands."""
    return data is not None and _FOUND.search(data) is not None


def files(agents: Sequence[Agent], scope: str, environ: Mapping[str, str], root: str | None) -> list[str]:
    """The files that these agents read in a scope; of none, all that any of them reads."""
    chosen = list(agents) or [agent for agent in AGENTS.values() if agent.folder]
    if scope == PROJECT:
        assert root is not None
        names = {_READS.get(agent.name, COMMON) for agent in chosen}
        return [os.path.join(root, name) for name in FILES if name in names]
    found = [os.path.join(one.config_folder(environ), _READS.get(one.name, COMMON)) for one in chosen]
    # nobody asked us to create the folder of an agent that the user does not have
    return [path for path in dict.fromkeys(found) if os.path.isdir(os.path.dirname(path))]


def _looked(paths: Sequence[str]) -> list[FoundFile]:
    """Each file once, however many links lead to it."""
    out: dict[str, FoundFile] = {}
    for path in paths:
        found = place.usable(path)
        out.setdefault(found.target, found)
    return list(out.values())


def install(paths: Sequence[str]) -> list[Instructed]:
    """Put the block into files; all are read before one is written. Raises Refused or Fatal."""
    out = []
    for found in _looked(paths):
        data = added(found.data)
        status = UNCHANGED if data == found.data else UPDATED if holds(found.data) else INSTALLED
        if status != UNCHANGED:
            _write(found, data)
        out.append(Instructed(found.path, status))
    return out


def uninstall(paths: Sequence[str]) -> list[Instructed]:
    """Take exactly the block out again; a file that was made for it is removed."""
    out = []
    for found in _looked(paths):
        data = None if found.data is None else removed(found.data)
        if data != found.data:
            _write(found, data)
        out.append(Instructed(found.path, ABSENT if data == found.data else REMOVED))
    return out


def _write(found: FoundFile, data: bytes | None) -> None:
    try:
        if data is None:
            place.delete(found, [])
        else:
            place.replace(found, data)
    except OSError as error:
        raise Fatal(f"cannot write '{found.target}': {error.strerror or error}") from error

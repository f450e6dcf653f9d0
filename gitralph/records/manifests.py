"""Reads manifests, ``<session>.files``: which paths a session says it changed.

Any script may append a line, so every line is checked again here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from gitralph.base import files, treepath
from gitralph.base.layout import Layout, session_of
from gitralph.base.quote import c_unquote, line_form

# In bytes. This bounds memory, not use: no file of ours comes near it, but a foreign one may.
_LIMIT = 1 << 30


@dataclass
class Manifest:
    """For each path the byte offsets of its lines, in order; ``size`` is the end of the whole lines."""

    lines: dict[bytes, list[int]] = field(default_factory=dict)
    size: int = 0
    damaged: list[int] = field(default_factory=list)


def path_of(line: bytes) -> bytes | None:
    """The tree path of a manifest line; None for a path that git would not take."""
    try:
        path = c_unquote(line)
    except ValueError:
        # A file may really be called `"a`, and a script that appends it need not know of quoting.
        path = line
    return path if treepath.is_valid(path) else None


def parse(data: bytes) -> Manifest:
    """Read every whole line; a torn last line waits for its newline."""
    manifest, at = Manifest(), 0
    while (end := data.find(b"\n", at)) >= 0:
        line = data[at:end]
        # Some file systems leave NULs for a write that a power cut tore.
        if line.strip(b"\0\r "):
            path = path_of(line)
            if path is None:
                manifest.damaged.append(at)
            else:
                manifest.lines.setdefault(path, []).append(at)
        at = end + 1
    manifest.size = at
    return manifest


def read(layout: Layout, session: str) -> Manifest:
    """The manifest of a session in this worktree; empty when there is none."""
    try:
        return parse(files.read_bytes(layout.manifest(session), _LIMIT))
    except FileNotFoundError:
        return Manifest()


def added(layout: Layout, session: str, since: int, path: bytes) -> tuple[int, int]:
    """Where the whole lines after byte ``since`` end, and how many of them name ``path``."""
    try:
        fd = files.open_regular(layout.manifest(session), os.O_RDONLY)
    except OSError:
        return since, 0
    try:
        size = os.fstat(fd).st_size
        found = parse(os.pread(fd, min(size - since, _LIMIT), since) if size > since else b"")
    finally:
        os.close(fd)
    return since + found.size, len(found.lines.get(path, ()))


def passed_over(layout: Layout, session: str, since: int) -> list[tuple[int, bytes]]:
    """The lines from byte ``since`` on that name no path of this worktree, with their numbers."""
    offsets = [at for at in read(layout, session).damaged if at >= since]
    data = files.read_bytes(layout.manifest(session), _LIMIT) if offsets else b""
    # Lines are counted from the last one on: counting from the start each time, 40,000 wrong lines took 13 s.
    out, number, last = [], 1, 0
    for at in offsets:
        number, last = number + data.count(b"\n", last, at), at
        out.append((number, data[at : data.find(b"\n", at)]))
    return out


def sessions_here(layout: Layout) -> list[str]:
    """The ids (file stems) of all sessions that have a manifest in this worktree, sorted."""
    return sorted(session_of(name.removesuffix(".files")) for name in files.names(layout.own, ".files"))


def sessions_naming(layout: Layout, paths: list[bytes], but: set[str]) -> dict[bytes, list[str]]:
    """For each of ``paths`` the other sessions whose manifests have a line for it.

    This searches the bytes: a line of a foreign script has no journal record to find it by. So it stays cheap
    with a thousand dead sessions.
    """
    found: dict[bytes, list[str]] = {}
    needles = [(path, _needles(path)) for path in paths]
    for session in sessions_here(layout):
        if session in but:
            continue
        try:
            # With a newline in front one search finds the first line like all others.
            data = b"\n" + files.read_bytes(layout.manifest(session), _LIMIT)
        except OSError:
            continue
        for path, forms in needles:
            if any(form in data for form in forms):
                found.setdefault(path, []).append(session)
    return found


def _needles(path: bytes) -> list[bytes]:
    forms = {path, line_form(path)} if b"\n" not in path else {line_form(path)}
    return [b"\n" + form + b"\n" for form in forms]


# In bytes. The end of a manifest of this size holds its last line: a path has at most 4096 bytes (Linux
# PATH_MAX), and quoting makes up to four of one.
_TAIL = 16 << 10


def last_path(layout: Layout, session: str) -> bytes | None:
    """The path that a session recorded last in this worktree, read from the manifest's end alone."""
    try:
        data, _ = files.read_tail(layout.manifest(session), _TAIL)
    except OSError:
        return None
    for line in reversed(data.split(b"\n")[:-1]):
        path = path_of(line) if line.strip(b"\0\r ") else None
        if path is not None:
            return path
    return None

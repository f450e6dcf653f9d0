"""A patch of one path in its hunks, as git separates them, and the text with some of them applied."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from gitralph.git.run import Git

_FORM = ("-c", "diff.suppressBlankEmpty=false", "diff", "--no-ext-diff", "--no-textconv", "--submodule=short")
_CONTEXT = ("-U3", "--inter-hunk-context=0")
_RANGES = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class DiffHunk(NamedTuple):
    """Lines ``old`` become lines ``new``, each as (first, end excluded) from 0; ``shown`` is for people."""

    old: tuple[int, int]
    new: tuple[int, int]
    shown: bytes


class Patch(NamedTuple):
    """What git shows of one path, or of the two of a rename."""

    header: bytes
    hunks: tuple[DiffHunk, ...]


def between(git: Git, old: bytes, new: bytes, paths: Sequence[bytes], color: bool) -> Patch:
    """The patch of some paths from one tree to another."""
    names = [b":(literal)" + path for path in paths]
    form = [*_FORM, *_CONTEXT, "-M" if len(paths) > 1 else "--no-renames"]
    plain = git.run(*form, "--no-color", old, new, "--", *names)
    return parsed(plain, git.run(*form, "--color=always", old, new, "--", *names) if color else plain)


def parsed(plain: bytes, shown: bytes) -> Patch:
    """The hunks of a patch; ``shown`` is the same, perhaps painted."""
    lines, painted = plain.split(b"\n"), shown.split(b"\n")
    if len(lines) != len(painted):
        painted = lines
    starts = [at for at, line in enumerate(lines) if line.startswith(b"@@ ")]
    hunks = []
    for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
        told = _RANGES.match(lines[start])
        assert told is not None, lines[start]
        text = b"\n".join(painted[start:end]).rstrip(b"\n") + b"\n"
        hunks.append(DiffHunk(_range(told[1], told[2]), _range(told[3], told[4]), text))
    header = b"\n".join(painted[: starts[0]] if starts else painted).rstrip(b"\n")
    return Patch(header + b"\n" if header else b"", tuple(hunks))


def _range(first: bytes, count: bytes | None) -> tuple[int, int]:
    start, length = int(first), 1 if count is None else int(count)
    # For a hunk without lines git gives the line before it.
    start = start - 1 if length else start
    return start, start + length


def with_only(
    old: Sequence[bytes], new: Sequence[bytes], hunks: Sequence[DiffHunk], chosen: Collection[int]
) -> bytes:
    """The old text with the chosen ones of the hunks that lead to the new text."""
    out, at = list[bytes](), 0
    for number, hunk in enumerate(hunks):
        first, last = hunk.old
        out += old[at:first]
        out += new[slice(*hunk.new)] if number in chosen else old[first:last]
        at = last
    return b"".join([*out, *old[at:]])

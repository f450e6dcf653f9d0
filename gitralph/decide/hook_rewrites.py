"""Lines that a repository hook rewrote in a commit while the file on disk keeps the old ones; pure text.

A ``pre-commit`` hook in the scratch worktree formats the commit's text, but a commit never writes the working
tree. Two kinds of record tell of this. Both hold the text on disk before and the text that the hook wants
after:

``rendered``: the commit has the hook's lines. Every later text is read as if it had these lines too, until
somebody writes the lines anew. So the lines on disk do not look like a change back.

``offered``: the hook refused the commit. The record counts from the text on in which just this change was
applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitralph.hook.journal import OFFERED, RENDERED, Record, full_lines
from gitralph.lines.linediff import Range, ranges
from gitralph.lines.terms import Separation

Row = tuple[Record, bytes | None, bytes | None]
"""A record with its texts before and after."""


class Block(NamedTuple):
    """Puts ``lines`` in place of the lines ``start`` to ``stop`` of a text; that range is not empty."""

    start: int
    stop: int
    lines: tuple[bytes, ...]


def added(old: bytes | None, new: bytes) -> set[int]:
    """The indices, from 0, of the lines that ``new`` has and ``old`` has not."""
    found = ranges(full_lines(old or b""), full_lines(new))
    return {at for _, _, first, last in found for at in range(first, last)}


def blocks(old: bytes, new: bytes, own: set[int] | None = None) -> list[Block] | None:
    """The blocks that turn ``old`` into ``new`` and can be found again in another text.

    ``own`` limits the change: the answer is None where a line outside ``own`` would change. An inserted line
    must touch a line of ``own``.
    """
    a, b = full_lines(old), full_lines(new)
    grown: list[Range] = []
    for i, j, k, m in ranges(a, b):
        if own is not None and not own.issuperset(range(i, j)):
            return None
        if i == j:  # an inserted line has no old line by which it could be found
            after = i < len(a) and (own is None or i in own)
            if not after and not (i > 0 and (own is None or i - 1 in own)):
                return None
            i, j, k, m = (i, j + 1, k, m + 1) if after else (i - 1, j, k - 1, m)
        # Two insertions that grew over one line become one block, or the line would be replaced twice.
        if grown and i < grown[-1][1]:
            i, k = grown[-1][0], grown[-1][2]
            grown.pop()
        grown.append((i, j, k, m))
    return [one for i, j, k, m in grown for one in _apart(i, a[i:j], b[k:m])]


def _apart(start: int, old: list[bytes], new: list[bytes]) -> list[Block]:
    """One block a line where only spaces differ: then an edit of one line leaves the others to the hook."""
    if _packed(old) != _packed(new):
        return [Block(start, start + len(old), tuple(new))]
    return [Block(at, at + 1, (line,)) for at, line in enumerate(new, start)]


def _packed(lines: list[bytes]) -> list[bytes]:
    return [b"".join(line.split()) for line in lines]


def carried(found: Sequence[Block], old: bytes | None, new: bytes | None) -> list[Block]:
    """The same blocks placed in ``new``, without those whose lines changed on the way."""
    if old is None or new is None or not found:
        return []
    changes = ranges(full_lines(old), full_lines(new))
    placed = (_carry(block, changes) for block in found)
    return [block for block in placed if block is not None]


def _carry(block: Block, changes: list[Range]) -> Block | None:
    shift = 0
    for i, j, k, m in changes:
        if j <= block.start:
            shift += (m - k) - (j - i)
        elif i < block.stop:
            return None
    return Block(block.start + shift, block.stop + shift, block.lines)


def in_order(found: Sequence[Block]) -> list[Block]:
    """The blocks in the order of the text."""
    return sorted(found, key=lambda one: (one.start, one.stop, one.lines))


def apply(text: bytes, found: Sequence[Block]) -> bytes:
    """The text with the blocks applied."""
    if not found:
        return text
    lines = full_lines(text)
    # Apply from the end, so that the places in front stay right.
    for block in in_order(found)[::-1]:
        lines[block.start : block.stop] = block.lines
    return b"".join(lines)


class AsRead(NamedTuple):
    """Steps and worktree as a commit reads them, and the blocks in which the file on disk differs."""

    rows: list[Row]
    worktree: bytes | None
    blocks: tuple[Block, ...] = ()

    def line(self, number: int) -> int:
        """The line, from 1, that stands for a line of the file on disk; 0 where the hook removed it."""
        shift = 0
        for block in self.blocks:
            if number > block.stop:
                shift += len(block.lines) - (block.stop - block.start)
            elif number > block.start:
                inside = min(number - block.start, len(block.lines))
                return block.start + shift + inside if inside else 0
        return number + shift

    def on_disk(self, lines: tuple[int, int] | None) -> tuple[int, int] | None:
        """A range of lines as the file on disk counts them."""
        if lines is None or not self.blocks:
            return lines
        return self._back(lines[0], 0), self._back(lines[1], -1)

    def _back(self, number: int, end: int) -> int:
        shift = 0
        for block in self.blocks:
            start = block.start + shift
            if number > start + len(block.lines):
                shift += len(block.lines) - (block.stop - block.start)
            elif number > start:
                return (block.start + 1, block.stop)[end]
        return number - shift

    def told(self, found: Separation) -> Separation:
        """An answer of ``lines`` with its line numbers as the file on disk counts them."""
        if not self.blocks:
            return found
        left = tuple(one._replace(lines=self.on_disk(one.lines)) for one in found.left)
        notes = tuple(one._replace(lines=self.on_disk(one.lines)) for one in found.notes)
        return found._replace(left=left, notes=notes)


def seen(rows: Sequence[Row], worktree: bytes | None) -> AsRead:
    """Steps and worktree with the hook's lines in them, where a commit took these lines."""
    if not any(record.op in (RENDERED, OFFERED) for record, _, _ in rows):
        return AsRead(list(rows), worktree)
    view = _View()
    for row in rows:
        view.take(*row)
    text = view.go(worktree)
    return AsRead(view.rows, text, tuple(in_order(view.active)))


class _View:
    """Walks from text to text. ``active`` are the rendered blocks that stand in the current text."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.text: bytes | None = None
        self.active: list[Block] = []
        self.offers: list[tuple[Record, list[Block]]] = []
        self.known: dict[bytes | None, list[Block]] = {}

    def take(self, record: Record, before: bytes | None, after: bytes | None) -> None:
        start = self.go(before)
        if record.op in (RENDERED, OFFERED) and before is not None and after is not None:
            wanted = blocks(before, after) or []
            if record.op == OFFERED:
                self.offers.append((record, wanted))
                return
            # from here on the old text stands for the hook's lines, also when it comes back
            self.active, self.known = wanted, {before: wanted}
            self.rows.append((record, start, after))
            return
        self.rows.append((record, start, self.go(after)))

    def go(self, text: bytes | None) -> bytes | None:
        """Move to another text and return it as seen. An offer that was just applied becomes a step."""
        was, applied = self.shown(), None
        if self.text is not None and text not in (None, self.text):
            # Two offers of one change may stand open. The latest comes first, since it was shown last.
            applied = next((one for one, wanted in reversed(self.offers) if self._makes(wanted, text)), None)
        self._move(text)
        if applied is not None:
            self.offers = [row for row in self.offers if row[0] is not applied]
            self.rows.append((applied, was, self.shown()))
        return self.shown()

    def shown(self) -> bytes | None:
        """The current text with the rendered blocks in it."""
        return self.text if self.text is None else apply(self.text, self.active)

    def _makes(self, wanted: list[Block], text: bytes | None) -> bool:
        return bool(wanted) and self.text is not None and apply(self.text, wanted) == text

    def _move(self, text: bytes | None) -> None:
        if text == self.text:
            return
        old = self.text
        self.offers = [(record, carried(wanted, old, text)) for record, wanted in self.offers]
        # A text that comes back is read as the first time. Otherwise one commit would read it in two ways.
        if text not in self.known:
            self.known[text] = carried(self.active, old, text)
        self.active, self.text = self.known[text], text

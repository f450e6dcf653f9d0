"""Lines that a repository hook rewrote and the file on disk does not hold; pure text, no file is opened.

A hook in the scratch worktree formats the commit's text, and a commit never writes the working tree. Two
kinds of record tell of it, both with the text on disk before and the text that the hook wants after:

``rendered``: the commit has the hook's lines. Every later text is read as if it had them, too, until the
lines are written anew; so nothing on disk looks like somebody's change back.
``offered``: the hook refused. It counts from where a later text shows that just this was applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from gitralph.hook.journal import OFFERED, RENDERED, Record, full_lines
from gitralph.lines.terms import Separation

_FINE = 4000
"""So many changed lines are compared line by line; SequenceMatcher takes the square of them at worst.

4,000 lines of four kinds, all changed: 4 s; of lines that are all different, half of them changed: 0.1 s.
"""


Row = tuple[Record, bytes | None, bytes | None]
Range = tuple[int, int, int, int]


class Block(NamedTuple):
    """``lines`` in place of the lines from ``start`` to ``stop`` of some text; never empty on that side."""

    start: int
    stop: int
    lines: tuple[bytes, ...]


def ranges(old: Sequence[bytes], new: Sequence[bytes]) -> list[Range]:
    """Where two texts differ: old lines [0], [1) against new lines [2], [3)."""
    head, shorter = 0, min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if not a and not b:
        return []
    if max(len(a), len(b)) > _FINE:
        return [(head, head + len(a), head, head + len(b))]

    found = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(i + head, j + head, k + head, m + head) for kind, i, j, k, m in found if kind != "equal"]


def added(old: bytes | None, new: bytes) -> set[int]:
    """The indices of the lines that ``new`` has and ``old`` has not."""
    found = ranges(full_lines(old or b""), full_lines(new))
    return {at for _, _, first, last in found for at in range(first, last)}


def blocks(old: bytes, new: bytes, own: set[int] | None = None) -> list[Block] | None:
    """What turns ``old`` into ``new``, in blocks that can be found again in another text.

    With ``own``, None where a line that is not in it would change; what is inserted must touch one.
    """
    a, b = full_lines(old), full_lines(new)
    grown: list[Range] = []
    for i, j, k, m in ranges(a, b):
        if own is not None and not own.issuperset(range(i, j)):
            return None
        if i == j:  # an insertion has no line of its own to be found by
            after = i < len(a) and (own is None or i in own)
            if not after and not (i > 0 and (own is None or i - 1 in own)):
                return None
            i, j, k, m = (i, j + 1, k, m + 1) if after else (i - 1, j, k - 1, m)
        # Two insertions that grew over one line are one block, or the line would be replaced twice.
        if grown and i < grown[-1][1]:
            i, k = grown[-1][0], grown[-1][2]
            grown.pop()
        grown.append((i, j, k, m))
    return [one for i, j, k, m in grown for one in _apart(i, a[i:j], b[k:m])]


def _apart(start: int, old: list[bytes], new: list[bytes]) -> list[Block]:
    """Line for line where only spaces differ: an edit of one leaves the others as the hook had them."""
    if _packed(old) != _packed(new):
        return [Block(start, start + len(old), tuple(new))]
    return [Block(at, at + 1, (line,)) for at, line in enumerate(new, start)]


def _packed(lines: list[bytes]) -> list[bytes]:
    return [b"".join(line.split()) for line in lines]


def carried(found: Sequence[Block], old: bytes, new: bytes) -> list[Block | None]:
    """The same blocks in another text; None for one that was touched on the way."""
    if old == new:
        return list(found)
    changes = ranges(full_lines(old), full_lines(new))
    return [_carry(block, changes) for block in found]


def _carry(block: Block, changes: list[Range]) -> Block | None:
    shift = 0
    for i, j, k, m in changes:
        if j <= block.start:
            shift += (m - k) - (j - i)
        elif i < block.stop:
            return None
    return Block(block.start + shift, block.stop + shift, block.lines)


def in_order(found: Sequence[Block]) -> list[Block]:
    """The blocks as they follow each other in the text."""
    return sorted(found, key=lambda one: (one.start, one.stop, one.lines))


def apply(text: bytes, found: Sequence[Block]) -> bytes:
    """The text with the blocks in it."""
    if not found:
        return text
    lines = full_lines(text)
    # From the end, so that the places in front stay right.
    for block in in_order(found)[::-1]:
        lines[block.start : block.stop] = block.lines
    return b"".join(lines)


class AsRead(NamedTuple):
    """Steps and worktree as a commit reads them, and the blocks in which the file on disk differs."""

    rows: list[Row]
    worktree: bytes | None
    blocks: tuple[Block, ...] = ()

    def line(self, number: int) -> int:
        """The line that stands for a line of the file on disk; 0 where a hook removed it."""
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
        """An answer with its lines as the file on disk counts them."""
        if not self.blocks:
            return found
        left = tuple(one._replace(lines=self.on_disk(one.lines)) for one in found.left)
        notes = tuple(one._replace(lines=self.on_disk(one.lines)) for one in found.notes)
        return found._replace(left=left, notes=notes)


def seen(rows: Sequence[Row], worktree: bytes | None) -> AsRead:
    """Steps and worktree with the hook's lines where a commit took them."""
    if not any(record.op in (RENDERED, OFFERED) for record, _, _ in rows):
        return AsRead(list(rows), worktree)
    view = _View()
    for row in rows:
        view.take(*row)
    text = view.go(worktree)
    return AsRead(view.rows, text, tuple(in_order(view.active)))


class _View:
    """Walks from text to text; ``active`` are the rendered blocks in the text of now."""

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
            # a text from before stands for the same lines from now on, if it comes back
            self.active, self.known = wanted, {before: wanted}
            self.rows.append((record, start, after))
            return
        self.rows.append((record, start, self.go(after)))

    def go(self, text: bytes | None) -> bytes | None:
        """Move to another text, over an offer where just that was applied; returns it as seen."""
        was, applied = self.shown(), None
        if self.text is not None and text not in (None, self.text):
            # The latest first: of two offers of one change the last one was shown.
            applied = next((one for one, wanted in reversed(self.offers) if self._makes(wanted, text)), None)
        self._move(text)
        if applied is not None:
            self.offers = [row for row in self.offers if row[0] is not applied]
            self.rows.append((applied, was, self.shown()))
        return self.shown()

    def shown(self) -> bytes | None:
        """The text of now with the rendered blocks in it."""
        return self.text if self.text is None else apply(self.text, self.active)

    def _makes(self, wanted: list[Block], text: bytes | None) -> bool:
        return bool(wanted) and self.text is not None and apply(self.text, wanted) == text

    def _move(self, text: bytes | None) -> None:
        if text == self.text:
            return
        old = self.text
        self.offers = [(record, _kept(wanted, old, text)) for record, wanted in self.offers]
        # A text that comes back is read as the first time, or one commit would read it in two ways.
        if text not in self.known:
            self.known[text] = _kept(self.active, old, text)
        self.active, self.text = self.known[text], text


def _kept(found: list[Block], old: bytes | None, new: bytes | None) -> list[Block]:
    if old is None or new is None or not found:
        return []
    return [block for block in carried(found, old, new) if block is not None]

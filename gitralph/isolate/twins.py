"""Asks the text itself whether a reversal loses a line or doubles one: the last check, line by line.

The weave takes a block that moved past its neighbour for the neighbour that moved past the block, so it
may bring back what stands elsewhere already, or take out what was only moved. Must trust nothing but how
often a line that says something stands in a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from gitralph.isolate.lines import has_words, lines_like, words
from gitralph.isolate.rules import Need
from gitralph.isolate.weave import BASE, END, Weave

Texts = Mapping[str, bytes | None]


def lost_or_doubled(weave: Weave, units: set[int], shown: bytearray, then: Texts) -> Iterator[Need]:
    """Yield what stands in the way of a file that shows `shown`; `then` maps steps to the text to go by.

    That is the text before an edit that goes, after one that comes back.
    """
    after = Counter(weave.line[atom] for atom in weave.order() if shown[atom])
    now = Counter(weave.line[atom] for atom in weave.shown)
    told = _Told(weave, then)
    mine_of = _hunks_of(weave, units)
    yield from _doubled(weave, mine_of, shown, after, now, told)
    yield from _lost(weave, units, shown, after, told)
    yield from _versions(weave, units, mine_of, shown)


class _Told:
    """How often a line stands in the texts to go by."""

    def __init__(self, weave: Weave, texts: Texts) -> None:
        self.weave, self.texts = weave, texts

    def count(self, atom: int, hunk: int) -> int:
        """Count an atom's line in the text of the step that a hunk is of."""
        text = self.texts.get(self.weave.steps[self.weave.unit_of(hunk).step]) or b""
        return lines_like(self.weave.content(atom), text)


def _versions(weave: Weave, units: set[int], mine_of: dict[int, int], shown: bytearray) -> Iterator[Need]:
    """Two versions of a line would stand side by side: the one that was replaced, and its replacement."""
    returning = [atom for run in _returning(weave, shown) for atom in run]
    wanted, gone = set(returning), {hunk for at in units for hunk in weave.units[at].hunks}
    replaced: dict[int, int] = {}
    for hunk, made in enumerate(weave.hunks):
        if hunk not in gone and any(shown[atom] for atom in made.births):
            replaced |= dict.fromkeys(wanted.intersection(made.dels), hunk)
    for atom in returning:
        olds = [old for old in _replaced_by(weave, atom) if shown[old]]
        mine = mine_of.get(atom) if olds or atom in replaced else None
        if mine is not None:
            yield Need(_maker(weave, olds[0]) if olds else replaced[atom], mine, "repeats")
    yield from _rewritten(weave, mine_of, shown, wanted)


def _replaced_by(weave: Weave, atom: int) -> list[int]:
    """Return every line that one stands in the place of, directly or through others."""
    found: list[int] = []
    todo, done = [weave.birth[atom]], set[int]()
    while todo:
        hunk = todo.pop()
        if hunk == BASE or hunk in done:
            continue
        done.add(hunk)
        olds = [old for old in weave.hunks[hunk].dels if old > END]
        found += olds
        todo += [weave.birth[old] for old in olds]
    return found


def _rewritten(weave: Weave, mine_of: dict[int, int], shown: bytearray, wanted: set[int]) -> Iterator[Need]:
    """The same where nobody recorded it: the line was put back and rewritten between two records.

    The weave only sees a new line there. Half of the words in common tell.
    """
    order = [atom for atom in weave.order() if shown[atom]]
    for pair in pairwise(order):
        for atom, other in (pair, pair[::-1]):
            if atom not in wanted or other in wanted:
                continue
            mine, birth = mine_of.get(atom), weave.birth[other]
            if mine is None or birth <= mine or weave.owner_of(birth) is not None:
                continue
            old, new = (set(words(weave.content(one))) for one in (atom, other))
            # The same half as in `follow`: a version of a line keeps most of its words.
            if 2 * len(old & new) >= min(len(old), len(new)):
                yield Need(birth, mine, "repeats")


def _doubled(
    weave: Weave,
    mine_of: dict[int, int],
    shown: bytearray,
    after: Counter[int],
    now: Counter[int],
    told: _Told,
) -> Iterator[Need]:
    """A run of lines comes back, and each of them stands elsewhere already."""
    for run in _returning(weave, shown):
        hunk = mine_of.get(run[0])
        if hunk is None:
            continue
        telling = [atom for atom in run if has_words(weave.content(atom))]
        counts = ((atom, after[weave.line[atom]], now[weave.line[atom]]) for atom in telling)
        # More often than now and more often than the text to go by has it: a line that the edit itself
        # doubled may come back twice.
        if telling and all(new > old and new > told.count(atom, hunk) for atom, new, old in counts):
            same = weave.seen[weave.line[telling[0]]]
            twin = next((atom for atom in same if weave.visible(atom)), None)
            yield Need(BASE if twin is None else _maker(weave, twin), hunk, "repeats")


def _lost(
    weave: Weave, units: set[int], shown: bytearray, after: Counter[int], told: _Told
) -> Iterator[Need]:
    """A line goes for good that was there before the edit that put it where it is."""
    births = (atom for at in units for hunk in weave.units[at].hunks for atom in weave.hunks[hunk].births)
    own = {weave.line[atom] for atom in births if atom not in weave.origin}
    for atom in weave.shown:
        birth = weave.birth[atom]
        if shown[atom] or weave.hunks[birth].unit not in units:
            continue
        line = weave.line[atom]
        # It stands elsewhere still, or the units wrote it themselves, or it is a brace: nothing is lost.
        if after[line] or line in own or not has_words(weave.content(atom)):
            continue
        if told.count(atom, birth):
            yield Need(birth, birth, "moves")


def _returning(weave: Weave, shown: bytearray) -> Iterator[list[int]]:
    """Yield the runs of lines that come back."""
    run: list[int] = []
    for atom in weave.order():
        if shown[atom] and not weave.visible(atom):
            run.append(atom)
        elif run and (shown[atom] or weave.visible(atom)):
            yield run
            run = []
    if run:
        yield run


def _hunks_of(weave: Weave, units: set[int]) -> dict[int, int]:
    """Map each atom to the first hunk of these units that took it out or put it in."""
    found: dict[int, int] = {}
    for at in sorted(units):
        for hunk in weave.units[at].hunks:
            for atom in (*weave.hunks[hunk].dels, *weave.hunks[hunk].births):
                found.setdefault(atom, hunk)
    return found


def _maker(weave: Weave, atom: int) -> int:
    ops = weave.ops[atom]
    return ops[-1] >> 1 if ops else weave.birth[atom]

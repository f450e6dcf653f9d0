"""Puts the recorded steps of a path into a weave; what nobody recorded between them goes in as gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gitralph.lines.build import Folding
from gitralph.lines.handover import hand_over
from gitralph.lines.materialize import text_of
from gitralph.lines.terms import ARRIVED, GAP, TAIL, Step
from gitralph.lines.text import difference, ends_with_newline, split_lines
from gitralph.lines.weave import BASE, EXISTS, NEWLINE, Weave


def fold(steps: Sequence[Step], disk: bytes | None) -> Weave:
    """Build the weave of a path from its steps and the bytes on disk."""
    weave = Weave(steps[0].before if steps else disk)
    for step in steps:
        is_first = bool(weave.steps) and weave.steps[-1].endswith(ARRIVED)
        if is_first and (step.owner is None or step.before != weave.text):
            # A moved file begins as HEAD had it at the move. The edits from before the move follow, and only
            # after them the file had that text.
            weave.known.pop(weave.text, None)
        if step.before != weave.text:
            _take_in(weave, GAP + step.key, None, step.before)
        first = len(weave.hunks)
        _take_in(weave, step.key, step.owner, step.after, _taken_back(weave, step))
        if step.takes:
            hand_over(weave, step)
        if step.offered:
            for hunk in weave.hunks[first:]:
                hunk.assigned = True
    if weave.text != disk:
        _take_in(weave, TAIL, None, disk)
    return weave


def _take_in(
    weave: Weave, key: str, owner: str | None, text: bytes | None, lines: list[int] | None = None
) -> None:
    named = len(weave.units)
    back = _way_back(weave, text) if owner is None and text not in weave.known else None
    if back is not None:
        Folding(weave, key, None).run(
            text_of(weave, weave.order(), back), [x for x in weave.order() if back[x]]
        )
    first = len(weave.hunks)
    Folding(weave, key, owner, len(weave.units) - named).run(text, lines)
    made = weave.hunks[first:]
    gone = {line for hunk in made for line in hunk.dels}
    for line in gone.intersection(line for hunk in made for line in hunk.undels):
        _keep(weave, first, line)


def _way_back(weave: Weave, text: bytes | None) -> bytearray | None:
    """Return which lines stood when a gap had brought lines back and nothing was changed yet; else None.

    Example: a person checks a file out and adds a line, and nothing is recorded in between. What a hunk took
    comes back as a whole where most of it does, nothing is left that the hunk brought, and the gap brings
    other lines as well. A line that comes twice, or stands elsewhere, need not be one that comes back.
    """
    came = difference(weave.text, text)[1]
    once = [weave.ids[line] for line in came if came[line] == 1 and line in weave.ids]
    equal = [weave.seen[line] for line in once if not weave.count[line] and weave.seen[line]]
    again = set(filter(weave.says, (max(lines, key=weave.taker) for lines in equal)))
    if not text or not again:
        return None
    stays, back, gone = set(split_lines(text)), set[int](), set[int]()
    # who brings a deleted file back takes back its deletion, and no older hunk alone
    for number in {weave.taker(line) for line in (again if weave.text is not None else [EXISTS])} - {BASE}:
        made = weave.hunks[number]
        took = [line for line in made.dels if line > NEWLINE and weave.taker(line) == number]
        told = [line in again for line in took if weave.says(line)]
        births = [line for line in made.births if weave.visible(line)]
        if 2 * sum(told) > len(told) and stays.isdisjoint(map(weave.content, births)):
            back.update(took)
            gone.update(births)
    if not back or came.keys() <= set(map(weave.content, back)):
        return None
    shown = bytearray(map(weave.visible, range(len(weave.line))))
    for line in (*gone, *back, EXISTS):
        shown[line] = line not in gone
    shown[NEWLINE] = ends_with_newline(weave.text or text)
    return shown


def _keep(weave: Weave, first: int, line: int) -> None:
    """Forget a hunk's removal of a line that an equal line's return undoes: the line stays as it was."""
    for hunk in weave.hunks[first:]:
        for lines in (hunk.dels, hunk.undels):
            if line in lines:
                lines.remove(line)
    weave.ops[line] = [op for op in weave.ops[line] or () if op >> 1 < first] or None


def _taken_back(weave: Weave, step: Step) -> list[int] | None:
    """Return the lines of the text that an undo, a redo or a restore left; None where its units do not tell.

    A diff may take one of several equal lines, such as braces, for new although it came back.
    """
    names = {*step.undoes, *step.restores}
    if not names:
        return None
    units = {number for number, unit in enumerate(weave.units) if unit.key in names}
    if not units or len(units) != len(names):
        return None
    owners = {weave.units[unit].owner for unit in units}

    def is_left(number: int) -> bool:
        return weave.hunks[number].unit not in units

    def is_recorded(number: int) -> bool:
        return weave.owner_of(number) is not None

    # Either gaps count, or what came between does not: the text tells which.
    ways: list[Callable[[int], bool]] = [is_left, lambda n: is_left(n) and is_recorded(n)]
    if step.restores:
        ways = [is_recorded, lambda n: weave.owner_of(n) in owners]
    order = weave.order()
    for is_kept in ways:
        shown = bytearray(map(weave.visible, range(len(weave.line))))
        for line in {x for unit in units for x in weave.atoms_of(weave.units[unit])}:
            ops = list(weave.ops[line] or ())
            while ops and ops[-1] >> 1 != BASE and not is_kept(ops[-1] >> 1):
                ops.pop()
            is_born = bool(step.restores) or is_left(weave.birth[line])
            shown[line] = bool(ops[-1] & 1) if ops else is_born
        if text_of(weave, order, shown) == step.after:
            return [line for line in order if shown[line]]
    return None

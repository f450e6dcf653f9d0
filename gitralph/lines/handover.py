"""Gives a session lines that nobody recorded, because a person said whose they are.

The operations of a gap change their owner: no text changes, no other unit is touched, and the rest of the gap
stays nobody's. An operation that somebody recorded must never be taken.
"""

from __future__ import annotations

from itertools import pairwise

from gitralph.lines.terms import Step, Take
from gitralph.lines.weave import BASE, END, EXISTS, NEWLINE, START, Hunk, Unit, Weave


def hand_over(weave: Weave, step: Step) -> None:
    """Move the operations that a step names from their gaps to the step's owner."""
    shown = list(weave.shown)
    for take in step.takes:
        for atom in shown[take.at : take.at + take.count]:
            if is_nobodys(weave, weave.birth[atom]):
                interleave(weave, weave.birth[atom])
    units = 0
    since = len(weave.hunks)
    for take in step.takes:
        made, oldest = _taken(weave, shown, take)
        if not made.touched():
            continue
        made.unit = len(weave.units)
        unit = Unit(f"{step.key}.{units}", step.owner, len(weave.steps) - 1)
        unit.hunks.append(len(weave.hunks))
        weave.units.append(unit)
        weave.hunks.append(made)
        units += 1
        since = min(since, oldest)
    if units:
        if not any(is_nobodys(weave, weave.birth[atom]) for atom in shown):
            _take_making(weave, len(weave.hunks) - units)
        # A later return to a text since then must not bring these lines back as nobody's.
        weave.known = {text: count for text, count in weave.known.items() if count <= since}
        weave.known[weave.text] = len(weave.hunks)


def is_nobodys(weave: Weave, hunk: int) -> bool:
    """Tell whether a hunk is part of a gap."""
    return hunk != BASE and weave.owner_of(hunk) is None


def paired(weave: Weave, hunk: int) -> list[int]:
    """Return each line of a replacement behind the line it replaced; empty where they do not pair.

    They pair one to one or not at all. With pairs either line can be taken without the others, and a removal
    stands before its own line.
    """
    made = weave.hunks[hunk]
    gone = [atom for atom in made.dels if atom > END]
    run = gone + made.births
    if len(gone) != len(made.births) or len(gone) < 2:
        return []
    if any(weave.next[atom] != follower for atom, follower in pairwise(run)):
        return []
    return [atom for pair in zip(gone, made.births, strict=True) for atom in pair]


def interleave(weave: Weave, hunk: int) -> None:
    """Put each line of a replacement right behind the line that it replaced."""
    run, made = paired(weave, hunk), weave.hunks[hunk]
    if run:
        left, right = weave.prev[run[0]], weave.next[made.births[-1]]
        for one, two in pairwise((left, *run, right)):
            weave.link(one, two)


def _taken(weave: Weave, shown: list[int], take: Take) -> tuple[Hunk, int]:
    """Return a hunk with what one place gives, and the oldest gap from which any of it came."""
    index, made = len(weave.hunks), Hunk()
    sources: list[int] = []
    made.assigned = True
    made.left = shown[take.at - 1] if 0 < take.at <= len(shown) else START
    made.right = shown[take.at + take.count] if take.at + take.count < len(shown) else END
    dead = [atom for atom in weave.between(made.left, made.right) if not weave.visible(atom)]
    for atom in shown[take.at : take.at + take.count]:
        _take_line(weave, made, index, atom, sources)
    for content in take.removed:
        gone = _removed(weave, dead, content)
        if gone is not None:
            sources.append(_last(weave, gone))
            weave.hunks[sources[-1]].dels.remove(gone)
            _operate(weave, made, index, gone, False)
            del dead[: dead.index(gone) + 1]
    if take.end and is_nobodys(weave, _last(weave, NEWLINE)):
        is_complete = weave.visible(NEWLINE)
        weave.operate(NEWLINE, index, is_complete)
        (made.undels if is_complete else made.dels).append(NEWLINE)
    _take_file(weave, made, index, take)
    for source in sources:
        weave.hunks[source].assigned = True  # the rest of this gap was left on purpose, so it follows nobody
    # Gaps are read again from here: a text that returns to an earlier one must not give the lines back to
    # nobody.
    return made, min(sources, default=index)


def _removed(weave: Weave, dead: list[int], content: bytes) -> int | None:
    """Return the line that a gap removed, preferring one of the first text over a later one."""
    fitting = [
        atom for atom in dead if weave.content(atom) == content and is_nobodys(weave, _last(weave, atom))
    ]
    return next((atom for atom in fitting if weave.birth[atom] == BASE), fitting[0] if fitting else None)


def _take_line(weave: Weave, made: Hunk, index: int, atom: int, sources: list[int]) -> None:
    last, birth = _last(weave, atom), weave.birth[atom]
    sources += [hunk for hunk in (last, birth) if is_nobodys(weave, hunk)]
    if last != birth and is_nobodys(weave, last):
        weave.hunks[last].undels.remove(atom)
        _operate(weave, made, index, atom, True)
    if is_nobodys(weave, birth):
        weave.hunks[birth].births.remove(atom)
        weave.birth[atom] = index
        weave.origin.pop(atom, None)
        made.births.append(atom)


def _operate(weave: Weave, made: Hunk, index: int, atom: int, visible: bool) -> None:
    """Make the last operation on an atom the new hunk's."""
    ops = weave.ops[atom]
    assert ops
    ops[-1] = index << 1 | visible
    (made.undels if visible else made.dels).append(atom)


def _take_file(weave: Weave, made: Hunk, index: int, take: Take) -> None:
    """Let the first given lines of a file that nobody recorded making bring the file along."""
    if is_nobodys(weave, _last(weave, EXISTS)) and (made.touched() or not (take.count or take.removed)):
        exists = weave.visible(EXISTS)
        weave.operate(EXISTS, index, exists)
        (made.undels if exists else made.dels).append(EXISTS)


def _take_making(weave: Weave, first: int) -> None:
    """Let no gap have made or deleted a file of which it keeps no line: an undo takes it wholly back."""
    ops = weave.ops[EXISTS] or []
    if len(ops) > 1 and ops[-1] >> 1 >= first and is_nobodys(weave, ops[-2] >> 1):
        gap = weave.hunks[ops.pop(-2) >> 1]
        for lines in (gap.undels, gap.dels):
            lines[:] = [line for line in lines if line != EXISTS]


def _last(weave: Weave, atom: int) -> int:
    ops = weave.ops[atom]
    return ops[-1] >> 1 if ops else weave.birth[atom]

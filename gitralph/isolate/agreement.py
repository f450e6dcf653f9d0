"""Finds how far HEAD agrees with the texts that the records know.

HEAD moves without us: `git commit -a`, a reset, a pull. Where its text is one that the records went
through, everything before that place is settled, whoever committed it: in HEAD or dead. But a text
also returns because somebody put the file back (`git stash`, `git checkout`), and then the edits in
between are only away. What tells the two apart is what HEAD held when each step was recorded: HEAD
moved to a text after the last step that saw another HEAD.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from gitralph.isolate.api import Step
from gitralph.isolate.lines import difference, is_telling, split_lines, words

SIGHTED = "seen-git"
"""Key of a step that only says what git had put on disk."""

Saw = Callable[[Step], bool | None]
"""Whether a step, when it was recorded, found HEAD holding what it holds now; None: nobody knows."""


def agreed(
    steps: Sequence[Step], start: bytes | None, head: bytes | None, saw: Saw, commit: str | None = None
) -> int | None:
    """Return how many steps HEAD has passed, or None where its text is none that they knew.

    `steps` come from `chain`; place n is the text after n steps. `commit` is the one that HEAD is at.
    """
    known = {0} if start == head else set()
    # what git put on disk tells nothing: a stash puts HEAD's text there, too
    known |= {at for at, step in enumerate(steps, 1) if step.after == head and step.key != SIGHTED}
    sighted = any(step.after == head for step in steps if step.key == SIGHTED)
    if not known and not sighted:
        return None
    # What was recorded when HEAD was at this very commit, before a reset brought it back, is not in it.
    first = next((at for at, step in enumerate(steps) if commit is not None and step.head == commit), None)
    if first is not None and any(place <= first for place in known):
        known = {place for place in known if place <= first}
    # The same text may have been HEAD's twice (an edit, its undo). A place from before somebody was seen to
    # work on another HEAD belongs to that HEAD, so the later ones are asked first.
    begin, end = _last_run(steps, saw)
    later = [place for place in known if place > end]
    if later:
        return max(later)
    moved = begin
    while begin not in known and begin < len(steps) and steps[begin].owner is None:
        begin += 1  # HEAD moved to what somebody without a session had written
        if steps[begin - 1].key == SIGHTED and steps[begin - 1].after == head:
            break
    if begin in known:
        return begin
    # Between one who saw another HEAD and one who saw this one: a commit of all that was there.
    if 0 < moved < begin and steps[begin - 1].key == SIGHTED and steps[begin - 1].after == head:
        return begin
    if end < 0 and _holds_edits(steps, start, head):
        return len(steps)
    return max((place for place in known if place < begin), default=None)


def _holds_edits(steps: Sequence[Step], start: bytes | None, head: bytes | None) -> bool:
    """Tell whether HEAD is what git found on disk last, and has words that sessions wrote since the start.

    Then the file was committed as it stood: what a stash puts there is the HEAD that was. Words, as somebody
    may have corrected a line before.
    """
    if steps[-1].key != SIGHTED or steps[-1].after != head:
        return False
    fresh = _brought(start, head)
    return any(fresh & _brought(step.before, step.after) for step in steps if step.owner is not None)


def _brought(old: bytes | None, new: bytes | None) -> set[bytes]:
    """Return the words of the lines that came which the old text has nowhere."""
    return {word for line in changed(old, new)[0] for word in words(line)}.difference(words(old or b""))


def unmoved_since(steps: Sequence[Step], place: int, saw: Saw) -> bool:
    """Tell whether no step from `place` on saw another HEAD than the present one."""
    return all(saw(step) is not False for step in steps[place:])


def came_back(steps: Sequence[Step], place: int, now: bytes | None) -> bool:
    """Tell whether the file holds what a session did before a place and the text at that place lacks.

    A stash that is popped after HEAD moved brings back what a reading from that place calls dead.
    """
    if not place or place > len(steps) or now == steps[place - 1].after:
        return False
    new, gone = changed(steps[place - 1].after, now)
    for step in steps[place:]:
        if step.owner is not None and (new or gone):
            added, removed = changed(step.before, step.after)
            new, gone = new - added, gone - removed
    if not new and not gone:
        return False
    for step in steps[:place]:
        added, removed = changed(step.before, step.after) if step.owner is not None else (set(), set())
        # a removal is back only whole: somebody may have taken one of its lines away since
        if new & added or (not added and gone & removed and removed.isdisjoint(split_lines(now))):
            return True
    return False


def rewound(steps: Sequence[Step], head: bytes | None, now: bytes | None, taken: Collection[str]) -> bool:
    """Tell whether HEAD lost what commits of ours took of these steps, and the file still has it.

    `taken` are the keys of their steps. A reading from behind them would call it nobody's.
    """
    if not steps:
        return False
    lost = changed(head, steps[-1].after)[0].intersection(split_lines(now))
    return bool(lost) and any(
        lost & changed(step.before, step.after)[0]
        for step in steps
        if step.owner is not None and step.key in taken
    )


def changed(old: bytes | None, new: bytes | None) -> tuple[set[bytes], set[bytes]]:
    """Return the lines that a change brought and those that it took; a lone "return" may be anybody's."""
    gone, came = difference(old, new)
    return set(filter(is_telling, came)), set(filter(is_telling, gone))


def _last_run(steps: Sequence[Step], saw: Saw) -> tuple[int, int]:
    """Return the places before and after the last steps in a row that saw the present HEAD."""
    end = len(steps)
    while end and not saw(steps[end - 1]):
        end -= 1
    begin = end
    while begin and saw(steps[begin - 1]) is not False:
        begin -= 1
    return (begin, end) if end else (len(steps), -1)

"""Puts recorded steps into the order in which they happened.

Hooks of parallel tool calls arrive out of order. So a step follows the step whose result it found, not the
one that was recorded before it. A step that found neither the current text nor one that leads to it shows a
gap. A step that found an earlier text overwrote what came in between. The recorded order must be kept
wherever it fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gitralph.lines.terms import GAP, Step
from gitralph.lines.text import is_telling, split_lines

_REACH = 32
"""How many records ahead a late record is looked for.

A late hook waits for as many records as calls were running at once, a few in practice. The search is for
records that fit nowhere: 400 of them in a row take 1.8 ms with 32, 3.5 ms without a limit.
"""


def chain(steps: Sequence[Step], start: bytes | None) -> list[Step]:
    """Order steps by content, from the text `start` on; a gap step stands wherever a step is missing.

    A step that was written from an earlier text gets `over`, the keys of the steps that it overwrote.
    """
    waiting = list(steps)
    done: list[Step] = []
    text = start
    texts: list[tuple[bytes | None, int]] = [(start, 0)]
    known: dict[bytes | None, int] = {}

    def last_seen() -> dict[bytes | None, int]:
        # Only where a record does not fit the text before it: looking a text up hashes all of it.
        known.update(texts)
        texts.clear()
        return known

    while waiting:
        # Hooks of parallel calls finish in any order (with every live agent calls overlap). So the record
        # that fits the text comes first. Where none fits, the recorded order is the best there is.
        path = _told_since(waiting) or _path(waiting, text) or _told_later(waiting) or [0]
        for step in [waiting[at] for at in path]:
            # A tool read the file before another tool wrote it, and wrote it afterwards without losing a line
            # of the other. The file holds both edits, so the record's own text before is wrong.
            fits = step.before == text
            is_known = not (fits or step.takes or step.alone) and step.before in last_seen()
            # who wrote the same as the other changed it all the same: the file had gone back in between
            if is_known and step.after != text and not _has_moved(done, step) and _keeps(step, text):
                step = step._replace(before=text)
            if step.onto:
                step = step._replace(before=text)
            if step.before != text:
                # these bytes stood on disk when the edit began: somebody put the file back, and nothing is
                # lost
                over = () if step.seen else _overwritten(done, last_seen().get(step.before))
                done.append(Step(GAP + step.key, None, text, step.before))
                step = step._replace(over=over)
            done.append(step)
            text = step.after
            # Of a text that returned the last time counts: its reader then knew what had been written before.
            texts.append((text, len(done)))
        for at in sorted(path, reverse=True):
            del waiting[at]
    return done


def _told_later(waiting: Sequence[Step]) -> list[int]:
    """Return the shell command that made, or may have made, the text which the first record found.

    Its record comes later, since a command is recorded when it ends.
    """
    first = waiting[0]
    for at in range(1, min(len(waiting), _REACH)):
        step = waiting[at]
        # An edit that leads back to where the first record began is an undo made after it.
        is_shell = step.by_shell or step.offered
        if is_shell and step.after == first.before != step.before and step.before != first.after:
            return [at]
    return []


def _told_since(waiting: Sequence[Step]) -> list[int]:
    """Return the edit that a tool made before a shell command ended, and told of only afterwards.

    The command's record is offered, and holds that edit too.
    """
    first = waiting[0]
    for at in range(1, min(len(waiting), _REACH)) if first.offered else ():
        step = waiting[at]
        is_tool = step.owner is not None and step.seen and step.after != step.before == first.before
        if is_tool and _keeps(first, step.after):
            return [at]
    return []


def _has_moved(done: Sequence[Step], step: Step) -> bool:
    """Tell whether HEAD moved since the last record, as by a revert: then the file went back, too."""
    last = next((one.head for one in reversed(done) if one.owner is not None), None)
    return bool(last and step.head) and last != step.head


def _keeps(step: Step, text: bytes | None) -> bool:
    """Tell whether a write from an old read still has everything that was done since."""
    if step.before is None or step.after is None or text is None:
        return False
    old, now, new = (Counter(split_lines(each)) for each in (step.before, text, step.after))
    # Count lines and ignore places: a line that moved within the file was not lost.
    added, removed = now - old, old - now
    # The written text shows nothing of a removal: a file that was put back looks like one in which the same
    # place was rewritten. Only a line that came, and is kept, shows that the writer knew.
    if not any(map(is_telling, added)):
        return False
    return all(new[line] >= now[line] for line in added) and all(new[line] <= now[line] for line in removed)


def _overwritten(done: Sequence[Step], since: int | None) -> tuple[str, ...]:
    return () if since is None else tuple(step.key for step in done[since:])


def _path(waiting: Sequence[Step], text: bytes | None) -> list[int]:
    """Return the records to take next so that the first waiting one fits, or none."""
    if waiting[0].before == text:
        return [0]
    # Breadth first takes the shortest way. A longer way through the same texts is an edit and its undo.
    near = range(1, min(len(waiting), _REACH))
    # Each text is reached once, by the shortest way. So loops through returning texts cannot keep the search
    # going.
    arrived: dict[bytes | None, list[int]] = {text: []}
    frontier = [text]
    while frontier:
        found = frontier.pop(0)
        for at in near:
            step = waiting[at]
            if step.before == found and step.after not in arrived:
                arrived[step.after] = [*arrived[found], at]
                frontier.append(step.after)
    path = arrived.get(waiting[0].before, [])
    if path and waiting[path[0] - 1].after == waiting[path[0]].before:
        return []  # the record is where it belongs; that it also fits here means an undo, not a late hook
    return path

"""Puts recorded steps into the order in which they happened.

Hooks of parallel tool calls arrive out of order. So a step follows the step whose result it found, not the
one that was recorded before it. A step that found neither the current text nor one that leads to it shows a
gap. A step that found an earlier text overwrote what came in between. The recorded order must be kept
wherever it fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from gitralph.lines.linediff import ranges
from gitralph.lines.terms import GAP, Step
from gitralph.lines.text import is_telling, split_lines

_REACH = 32
"""How many records ahead a late record is looked for.

A late hook waits for as many records as calls were running at once, a few in practice. The search is for
records that fit nowhere: 400 of them in a row take 1.8 ms with 32, 3.5 ms without a limit.
"""

_WORK = 16_000_000
"""Texts of so many bytes in all are compared for calls that overlapped: some two seconds at the most."""


def chain(steps: Sequence[Step], start: bytes | None) -> list[Step]:
    """Order steps by content, from the text `start` on; a gap step stands wherever a step is missing.

    A step that was written from an earlier text gets `over`, the keys of the steps that it overwrote.
    """
    waiting = list(steps)
    done: list[Step] = []
    text = start
    texts: list[tuple[bytes | None, int]] = [(start, 0)]
    known: dict[bytes | None, int] = {}
    on_top = _OnTop()

    def last_seen() -> dict[bytes | None, int]:
        # Only where a record does not fit the text before it: looking a text up hashes all of it.
        known.update(texts)
        texts.clear()
        return known

    while waiting:
        # Hooks of parallel calls finish in any order (with every live agent calls overlap). So the record
        # that fits the text comes first. Where none fits, the recorded order is the best there is.
        path = _told_since(waiting) or _path(waiting, text) or _told_later(waiting)
        taken = [(at, waiting[at]) for at in path]
        taken = taken or _overlapped(waiting, text, last_seen(), on_top) or [(0, waiting[0])]
        for _, step in taken:
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
                since = None if step.seen else last_seen().get(step.before)
                over = () if since is None else tuple(one.key for one in done[since:])
                done.append(Step(GAP + step.key, None, text, step.before))
                step = step._replace(over=over)
            done.append(step)
            text = step.after
            # Of a text that returned the last time counts: its reader then knew what had been written before.
            texts.append((text, len(done)))
        for at, _ in sorted(taken, reverse=True):
            del waiting[at]
    return done


def _overlapped(
    waiting: Sequence[Step], text: bytes | None, earlier: Container[bytes | None], on_top: _OnTop
) -> list[tuple[int, Step]]:
    """Return the edits to take next, each on the text before it, where calls of several agents overlapped.

    A hook sees the file before its tool reads it and after its tool wrote it. Between those another tool may
    have written, and then the record tells of the edit, not of the whole texts. So the edits are put on top
    of each other, in the order that gives a text which a later call found.
    """
    near = waiting[:_REACH]
    made = {step.after for step in near}
    ways, arrived = [(text, tuple[tuple[int, Step], ...]())], {text}
    while ways:
        now, way = ways.pop(0)
        rest = {*range(len(near))}.difference(at for at, _ in way)
        moved = {at for at, one in way if one.before != near[at].before}
        for at in sorted(rest):
            step, after = near[at], near[at].after
            if step.before != now:
                # who fits the record before him is no late one, unless that one was put elsewhere
                fits = at > 0 and step.before == near[at - 1].after and at - 1 not in moved
                is_late = not fits and _is_tools(step) and (step.before in earlier or step.before in made)
                after = on_top.text(step, now) if is_late else None
            if after is None or after in arrived:
                continue
            longer, left = (*way, (at, step._replace(before=now, after=after))), rest - {at}
            # until the first record is among them, they are to give the text that it found
            found = {near[other].before for other in ({0} if 0 in left else left)}
            if after in found and (moved or step.before != now):
                return [*longer]
            arrived.add(after)
            ways.append((after, longer))
    return []


def _is_tools(step: Step) -> bool:
    """Tell whether an edit tool made a step, and other records came between its two events."""
    others = step.alone or step.by_shell or step.offered or step.onto or step.takes
    return step.owner is not None and not (others or step.undoes or step.restores)


class _OnTop:
    """Puts the edit of a step on another text than the one before it; gives up after too much work."""

    def __init__(self) -> None:
        self._left = _WORK

    def text(self, step: Step, text: bytes | None) -> bytes | None:
        """Return the text that the edit makes; None where it meets what differs in the other text."""
        if step.before is None or step.after is None or text is None or step.after == text:
            return None
        self._left -= len(step.before) + len(step.after) + len(text)
        if self._left < 0:
            return None
        base = step.before.split(b"\n")
        sides = [each.split(b"\n") for each in (step.after, text)]
        edits = [(one, lines) for lines in sides for one in ranges(base, lines)]
        edits.sort(key=lambda edit: edit[0])
        out, last, first = list[bytes](), 0, -1
        for (start, end, low, high), lines in edits:
            if start < last or start == first:
                return None
            out += base[last:start] + lines[low:high]
            last, first = end, start
        return b"\n".join([*out, *base[last:]])


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

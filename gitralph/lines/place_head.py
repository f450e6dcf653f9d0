"""Finds which lines of a weave HEAD has.

If HEAD is a text that the file had, it has exactly the lines of that text, unless they were written anew and
all stand in the file. Else it has the lines that it shares with the file and, between these, lines that are
gone. What is left is HEAD's own, and nobody may remove it.
"""

from __future__ import annotations

from collections import Counter

from gitralph.lines.align import Match, place_lines, widened
from gitralph.lines.linediff import hunks
from gitralph.lines.text import difference, is_telling, split_lines
from gitralph.lines.weave import BASE, END, EXISTS, NEWLINE, START, Weave
from gitralph.lines.whole import Whole


def place_head(weave: Weave, head: bytes | None, foreign: int) -> bytearray:
    """Return for each line whether HEAD has it; HEAD's own lines are put in for the hunk `foreign`."""
    if head is None:
        return bytearray(len(weave.line))
    then = weave.known.get(head)
    if then is not None:
        found = bytearray(len(weave.line))
        for line in weave.shown_at(then):
            found[line] = 1
        if not _is_written_anew(weave, found):
            return found
    whole = Whole(weave, head)
    if not whole.off and then is None:
        return whole.shown
    ground = _ground(weave)
    if then is None and whole.off < sum(each.total() for each in difference(_text(weave, ground), head)):
        ground = [line for line in weave.order() if whole.shown[line]]
    match = _matched(weave, ground, split_lines(head))
    _drop_hollow(weave, match)
    _put_in(weave, match, foreign)
    return match.present


def _is_written_anew(weave: Weave, in_head: bytearray) -> bool:
    """Tell whether the file has all lines of HEAD in their order, and a telling one in another atom.

    A line that HEAD has twice does not tell: every function may return 0.
    """
    lines = [x for x in weave.order() if in_head[x]]
    times = Counter(weave.line[x] for x in lines)
    fresh = {weave.line[x] for x in weave.shown if not in_head[x] and times[weave.line[x]] == 1}
    if not any(weave.says(x) and weave.line[x] in fresh for x in lines if not weave.visible(x)):
        return False
    shown = iter([weave.line[x] for x in weave.shown])
    return all(weave.line[x] in shown for x in lines)


def _text(weave: Weave, lines: list[int]) -> bytes:
    return b"".join([weave.content(line) + b"\n" for line in lines])


def _ground(weave: Weave) -> list[int]:
    """The lines with which HEAD is compared: those on disk, or of an absent file the last ones."""
    if weave.visible(EXISTS):
        return weave.shown
    texts = [hunks_then for text, hunks_then in weave.known.items() if text is not None]
    return weave.shown_at(texts[-1]) if texts else []


def _matched(weave: Weave, visible: list[int], lines: list[bytes]) -> Match:
    match = Match(bytearray(len(weave.line)))
    shown = bytearray(len(weave.line))
    for line in visible:
        match.present[line] = shown[line] = 1
    old = [weave.line[line] for line in visible]
    new = [weave.line_id(line) for line in lines]
    single = {line for line, n in Counter(old).items() if n == 1}
    single &= {line for line, n in Counter(new).items() if n == 1}
    ranges = hunks(old, new, single.__contains__)
    _bring_up(weave, new)
    for low_old, high_old, low_new, high_new in widened(ranges, old, new, single):
        left = visible[low_old - 1] if low_old else START
        right = visible[high_old] if high_old < len(visible) else END
        place_lines(weave, match, shown, left, right, new[low_new:high_new])
    return match


def _bring_up(weave: Weave, head: list[int]) -> None:
    """Put lines before those that they replaced, where HEAD has both in this order.

    A replacement is put behind what it replaced. That is a choice, since no text shows both. `git add -p` may
    take the replacement and also keep the replaced line, behind it.
    """
    places = {line: at for at, line in enumerate(head)}
    times = Counter(head)

    def told(lines: list[int]) -> list[int]:
        return [x for x in lines if weave.is_only(x) and times[weave.line[x]] == 1]

    for number, made in enumerate(weave.hunks[1:], 1):
        gone = told(made.dels)
        births = told(made.births) if gone else []
        if births and places[weave.line[births[0]]] < places[weave.line[gone[0]]]:
            first = next(x for x in made.dels if x > NEWLINE)
            last = made.births[-1]
            between = [*weave.between(first, last)]
            # where HEAD's order put the line itself behind already, there is nothing to bring up
            is_behind = weave.next[between[-1] if between else first] == last
            if is_behind and all(
                weave.birth[x] == number or _is_gone_with(weave, x, number) for x in between
            ):
                for each in made.births:
                    weave.link(weave.prev[each], weave.next[each])
                    weave.link(weave.prev[first], each)
                    weave.link(each, first)


def _is_gone_with(weave: Weave, line: int, hunk: int) -> bool:
    """Tell whether no text has a line together with what a hunk brought."""
    return not weave.visible(line) and not weave.visible_at(line, hunk + 1)


def _drop_hollow(weave: Weave, match: Match) -> None:
    """Drop matches of a block of which HEAD has no telling line: then HEAD has nothing of it.

    What the file has of a block that lost its telling lines there, too, HEAD has as well.
    """
    own = dict[int, list[bytes]]()
    for birth in {weave.birth[line] for line in match.concerned if line > NEWLINE and match.present[line]}:
        births = weave.hunks[birth].births if birth != BASE else []
        told = [line for line in births if is_telling(weave.content(line))]
        if told and not any(match.present[line] for line in told):
            is_left = not any(map(weave.visible, told))
            for line in births:
                if match.present[line] and not (is_left and weave.visible(line)):
                    match.present[line] = 0
                    own[line] = [weave.content(line)]
    for place, lines in match.foreign:
        own.setdefault(place, []).extend(lines)
    match.foreign[:] = own.items()


def _put_in(weave: Weave, match: Match, foreign: int) -> None:
    """Give each line of HEAD that no atom stands for an atom of its own."""
    for place, lines in match.foreign:
        for content in lines:
            place = weave.insert(place, weave.line_id(content), foreign)
            weave.ops[place] = [foreign << 1]
            weave.hunks[foreign].births.append(place)
            match.present.append(1)

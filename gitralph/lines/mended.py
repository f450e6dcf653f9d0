"""Finds the lines that are back in the file while HEAD has a mended form of them, which no step knows.

Somebody without a session mended a line, a commit took that along, and he took it back. No record tells, as
none was made while the mended line stood. To commit the line for who wrote it would leave HEAD with both.
"""

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence

from gitralph.lines.text import words
from gitralph.lines.weave import EXISTS, NEWLINE, Unit, Weave


def mended(
    weave: Weave,
    in_head: Sequence[int],
    last: Mapping[int, tuple[bool, int]],
    foreign: Sequence[int],
    held: Callable[[str], Collection[bytes]],
    moves: Container[str],
) -> Iterator[int]:
    """The lines of sessions in whose place HEAD has such a form.

    `last` tells of each changed line whether it stands, and the hunk with the credit for that. `foreign` are
    the lines that HEAD alone has. `held`: see `pieces`. `moves` are the steps that moved a whole file here.
    """
    if not any(map(weave.says, foreign)):
        return
    only_heads, here, forms = set(foreign), list[int](), list[int]()
    for line in (*weave.order(), EXISTS):
        stands = last[line][0] if line in last else True
        if line in only_heads:
            forms.append(line)
        elif line != EXISTS and stands and not in_head[line]:
            here.append(line)
        elif line == EXISTS or stands:
            units = {x: weave.unit_of(last[x][1] if x in last else weave.birth[x]) for x in here}
            back = {x for x in here if _is_back(weave, x, units[x], forms, held, moves)} if forms else set()
            steps = {units[x].step for x in back}
            # a blank line of the same edit says nothing by itself
            yield from (x for x in here if x in back or (units[x].step in steps and not weave.says(x)))
            here, forms = [], []


def _is_back(
    weave: Weave,
    line: int,
    unit: Unit,
    forms: Sequence[int],
    held: Callable[[str], Collection[bytes]],
    moves: Container[str],
) -> bool:
    """Tell whether HEAD got one of these lines after a session wrote this one, and it has half of its words.

    More than half for a line that replaced another: HEAD may have another replacement of that.
    """
    said = set(words(weave.content(line)))
    if unit.owner is None or not said or not weave.says(line) or weave.steps[unit.step] in moves:
        return False
    replaces = any(x > NEWLINE for n in unit.hunks for x in weave.hunks[n].dels)
    had = held(weave.steps[unit.step])
    fresh = (text for text in map(weave.content, forms) if text not in had)
    return any(2 * len(said.intersection(words(text))) >= len(said) + replaces for text in fresh)


__all__ = ["mended"]

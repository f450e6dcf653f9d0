"""Whose each line of a file is, and of which records something is left to commit; pure.

``why``, ``blame`` and ``prove`` ask here. They read the pieces that ``commit`` chooses from, so that they
cannot tell another story.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from gitralph.lines.choose import Attempt
from gitralph.lines.pieces import Pieces
from gitralph.lines.terms import step_of
from gitralph.lines.text import split_lines
from gitralph.lines.weave import BASE, NEWLINE


class WrittenBy(NamedTuple):
    """Who wrote a line of the file; ``key`` is that of the step, None for a line from before all of them."""

    owner: str | None
    key: str | None
    in_head: bool


def by_line(known: Pieces, undos: Container[str] = ()) -> list[WrittenBy]:
    """For each line of the file who brought it there last, and whether HEAD has it.

    A line of HEAD that one of the steps `undos` put back is whose it was before.
    """
    return [_owner(known, line, undos) for line in known.weave.shown]


def _owner(known: Pieces, line: int, undos: Container[str]) -> WrittenBy:
    in_head, unit = bool(known.in_head[line]), known.unit(line)
    if in_head and step_of(known.weave.units[unit].key) in undos:
        unit = _before(known, line, undos)
    if unit == known.weave.hunks[BASE].unit:
        return WrittenBy(None, None, in_head)
    made = known.weave.units[unit]
    return WrittenBy(made.owner, step_of(made.key), in_head)


def _before(known: Pieces, line: int, undos: Container[str]) -> int:
    """The piece by which a line stood before all undos."""
    stood = [credit for _, stands, credit in reversed(known.changes.get(line, ())) if stands]
    made = (known.weave.hunks[credit].unit for credit in stood)
    return next((n for n in made if step_of(known.weave.units[n].key) not in undos), known.born_by(line))


def pending(known: Pieces) -> set[str]:
    """The steps of sessions of which something is left to commit.

    That is a line in which HEAD and the file differ, or one that goes from the record because another's
    edit stands over it.
    """
    units = known.weave.units
    found = {n for n in known.by_unit if units[n].owner is not None} | set(_written_over(known))
    return {step_of(units[n].key) for n in found}


def showing(known: Pieces) -> set[str]:
    """The steps, nobody's too, of which a line differs between HEAD and the file."""
    return {step_of(known.weave.units[n].key) for n in known.by_unit}


def standing(known: Pieces, keys: set[str]) -> list[int]:
    """The numbers of the lines on disk that some steps brought."""
    units = known.weave.units
    return [at for at, x in enumerate(known.weave.shown, 1) if step_of(units[known.unit(x)].key) in keys]


def _written_over(known: Pieces) -> Iterator[int]:
    for owner in {unit.owner for unit in known.weave.units if unit.owner is not None}:
        commit = Attempt(known, {owner}, ())
        yield from (unit for unit in commit.own if any(map(commit.is_written_over, known.births(unit))))


def may_return(known: Pieces) -> bool:
    """Tell whether a stash or an editor may bring something back that a session did here.

    Then nobody recorded who undid it, and HEAD was never seen with it.
    """
    weave = known.weave
    held = {line for text in (known.head, *known.heads()) for line in split_lines(text)}

    def is_session(hunk: int) -> bool:
        return weave.units[weave.hunks[hunk].unit].owner is not None

    for line, changes in known.changes.items():
        at, stands, credit = changes[-1]
        if line <= NEWLINE or is_session(at) or (not stands and is_session(credit)):
            continue
        was = changes[-2][2] if len(changes) > 1 else weave.birth[line]
        if is_session(was) and (stands or weave.content(line) not in held):
            return True
    return False

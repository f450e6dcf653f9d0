"""Whose each line of a file is, and of which records something is left to commit; pure.

``why``, ``blame`` and ``prove`` ask here. They read the pieces from which ``commit`` chooses, so they cannot
disagree with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gitralph.lines.attempt import Attempt
from gitralph.lines.past import Past
from gitralph.lines.pieces import Pieces
from gitralph.lines.terms import step_of
from gitralph.lines.text import split_lines
from gitralph.lines.weave import BASE, NEWLINE


class WrittenBy(NamedTuple):
    """Who wrote a line of the file; ``key`` is that of the step, None for a line from before all of them.

    ``brought`` are the steps that brought the line to where it stands, the last one first; ``born`` wrote it.
    """

    owner: str | None
    key: str | None
    in_head: bool
    text: bytes = b""
    brought: tuple[str, ...] = ()
    born: str | None = None


def by_line(known: Pieces) -> list[WrittenBy]:
    """For each line of the file: who brought it there last, and whether HEAD has it."""
    return [_owner(known, line) for line in known.weave.shown]


def _owner(known: Pieces, line: int) -> WrittenBy:
    in_head, unit = bool(known.in_head[line]), known.unit(line)
    if unit == known.weave.hunks[BASE].unit:
        return WrittenBy(None, None, in_head)
    made, born = known.weave.units[unit], known.weave.units[known.born_by(line)].key
    return WrittenBy(
        made.owner,
        step_of(made.key),
        in_head,
        known.weave.content(line),
        tuple(_brought(known, line)),
        step_of(born) if born else None,
    )


def _brought(known: Pieces, line: int) -> Iterator[str]:
    """The steps that brought a line, from the last to the one that wrote it."""
    hunks, units = known.weave.hunks, known.weave.units
    found = [credit for _, stands, credit in known.changes.get(line, ()) if stands]
    for credit in dict.fromkeys((*reversed(found), known.weave.birth[line])):
        if credit == BASE:
            return
        yield step_of(units[hunks[credit].unit].key)


def pending(known: Pieces) -> set[str]:
    """The keys of the sessions' steps of which something is left to commit.

    That is a line in which HEAD and the file differ, or a line that is committed from the record because
    another session's edit stands over it.
    """
    units = known.weave.units
    found = {n for n in known.by_unit if units[n].owner is not None} | set(_written_over(known))
    return {step_of(units[n].key) for n in found}


def showing(known: Pieces) -> set[str]:
    """The keys of the steps, gaps too, of which a line differs between HEAD and the file."""
    return {step_of(known.weave.units[n].key) for n in known.by_unit}


def standing(known: Pieces, keys: set[str]) -> list[int]:
    """The line numbers on disk of lines that these steps brought."""
    units = known.weave.units
    return [at for at, x in enumerate(known.weave.shown, 1) if step_of(units[known.unit(x)].key) in keys]


def _written_over(known: Pieces) -> Iterator[int]:
    past = Past(known)
    for owner in {unit.owner for unit in known.weave.units if unit.owner is not None}:
        commit = Attempt(known, {owner}, past=past)
        yield from (unit for unit in commit.own if any(map(commit.is_written_over, known.births(unit))))


def may_return(known: Pieces) -> bool:
    """Tell whether a stash or an editor may still bring back what a session did here.

    That is so where nobody recorded who undid it, and where HEAD was never seen with it.
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

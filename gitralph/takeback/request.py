"""What somebody wants to be taken back or brought back; plain values."""

from typing import NamedTuple

from gitralph.takeback.survey import Match


class UndoRequest(NamedTuple):
    """What was asked for. ``call`` and ``last`` narrow an undo; ``named`` are the paths as typed."""

    session: str
    call: str | None = None
    last: int | None = None
    skip: bool = False
    match: Match | None = None
    named: tuple[str, ...] = ()

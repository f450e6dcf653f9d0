"""What somebody wants to be taken back or brought back; plain values."""

from dataclasses import dataclass

from gitralph.takeback.survey import Match


@dataclass(frozen=True)
class UndoRequest:
    """What was asked for. ``call`` and ``last`` narrow an undo; ``named`` are the paths as typed."""

    session: str
    call: str | None = None
    last: int | None = None
    skip: bool = False
    match: Match | None = None
    named: tuple[str, ...] = ()

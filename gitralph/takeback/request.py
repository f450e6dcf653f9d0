"""What somebody wants to be taken back or brought back; plain values."""

from collections.abc import Mapping
from typing import NamedTuple

from gitralph.git.snapshot import Content
from gitralph.takeback.survey import Match


class Picked(NamedTuple):
    """What a person chose of a path: pieces by name, or None for all of the file as it was shown."""

    units: tuple[str, ...] | None
    before: Content


class UndoRequest(NamedTuple):
    """What was asked for. ``call`` and ``last`` narrow an undo; ``named`` are the paths as typed.

    ``picks`` is what was chosen hunk by hunk, None where nobody was asked.
    """

    session: str
    call: str | None = None
    last: int | None = None
    skip: bool = False
    match: Match | None = None
    named: tuple[str, ...] = ()
    picks: Mapping[bytes, Picked] | None = None

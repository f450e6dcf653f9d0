"""One commit as it was asked for, and what came of it; plain values."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gitralph.porcelain.outcome import Left
from gitralph.porcelain.scene import Wishes


@dataclass(frozen=True)
class Request:
    """One commit as the user asked for it. ``match`` None means everything pending; ``named`` is as typed."""

    session: str
    messages: tuple[bytes, ...] = ()
    trailers: tuple[bytes, ...] = ()
    author: str | None = None
    edit: bool = False
    verify: bool = True
    dry_run: bool = False
    wishes: Wishes = field(default_factory=Wishes)
    match: Callable[[Iterable[bytes]], list[bytes]] | None = None
    named: tuple[str, ...] = ()


@dataclass
class Result:
    """What came of it, as the ``--json`` document tells it."""

    status: str
    session: str | None
    ref: str | None = None
    commit: str | None = None
    subject: str = ""
    changes: dict[bytes, str] = field(default_factory=dict)
    how: dict[bytes, str] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)

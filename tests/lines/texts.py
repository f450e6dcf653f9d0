"""Hand cases in plain words: a file, who changed it in which order, what HEAD has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gitralph.lines import choose
from gitralph.lines.order import chain
from gitralph.lines.terms import Separation, Step


def text(*lines: str) -> bytes:
    """A text of whole lines."""
    return "".join(f"{line}\n" for line in lines).encode()


@dataclass
class File:
    """One file: what HEAD has, what stands on disk, and what was recorded on the way."""

    head: bytes
    disk: bytes | None = None
    steps: list[Step] = field(default_factory=list)
    heads: list[bytes | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.disk = self.head
        self.heads.append(self.head)
        self.first = self.head

    def edit(self, who: str, *lines: str, before: bytes | None = None) -> None:
        """A session writes the file; from an old copy, where it says so."""
        start = self.disk if before is None else before
        self.disk = text(*lines)
        self.steps.append(Step(str(len(self.steps)), who, start, self.disk))

    def person(self, *lines: str) -> None:
        """Somebody whom nobody records writes the file."""
        self.disk = text(*lines)

    def holds(self, *lines: str) -> None:
        """HEAD has this now, whoever committed it."""
        self.head = text(*lines)
        self.heads.append(self.head)

    def ask(self, *who: str, **wishes: bool | str) -> Separation:
        """What a commit of some sessions takes."""
        asked: Callable[..., Separation] = choose.separate
        return asked(
            self.head,
            chain(self.steps, self.first),
            self.disk,
            owners=set(who),
            heads=lambda: self.heads,
            **wishes,
        )

    def takes(self, *who: str, **wishes: bool | str) -> list[str]:
        """The lines of a commit that is not refused."""
        answer = self.ask(*who, **wishes)
        assert not answer.refused, answer.left
        return (answer.text or b"").decode().splitlines()

    def refuses(self, *who: str, **wishes: bool | str) -> set[str]:
        """Why a commit is refused."""
        answer = self.ask(*who, **wishes)
        assert answer.refused
        return {one.reason for one in answer.left}

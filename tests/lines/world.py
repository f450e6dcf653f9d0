"""A file that sessions and a person change, for tests that a reader can follow line by line."""

from __future__ import annotations

from gitralph.lines import choose
from gitralph.lines.order import chain
from gitralph.lines.terms import Separation, Step


class World:
    """HEAD, the working tree and the journal of one path."""

    def __init__(self, first: bytes | None, leave: bool = True) -> None:
        self.head = first
        self.start = first
        self.disk = first
        self.leave = leave
        self.steps: list[Step] = []
        self.heads: list[bytes | None] = [first]
        self.held: dict[str, set[bytes]] = {}

    def edit(self, who: str, after: bytes | None, before: bytes | str | None = "disk") -> None:
        """A recorded edit; `before` differs from the disk only for a write from an old read."""
        seen = self.disk if isinstance(before, str) else before
        self._look()
        self.steps.append(Step(f"k{len(self.steps)}", who, seen, after))
        self.held[self.steps[-1].key] = self._ever()
        self.disk = after

    def user(self, after: bytes | None) -> None:
        """A change nobody records."""
        self.disk = after

    def swap(self, who: str | None, old: bytes, new: bytes) -> None:
        """Replace a piece of the file that occurs once; `who` is None for the user."""
        assert self.disk is not None
        assert self.disk.count(old) == 1, (old, self.disk)
        after = self.disk.replace(old, new)
        if who is None:
            self.user(after)
        else:
            self.edit(who, after)

    def ask(self, *owners: str, skip: bool = False, include: bool = False) -> Separation:
        """What could these sessions commit now?"""
        self._look()
        now = self._ever()
        return choose.separate(
            self.head,
            chain(self.steps, self.start),
            self.disk,
            owners=owners,
            skip_entangled=skip,
            include_entangled=include,
            leave=self.leave,
            held=lambda key: self.held.get(key, now),
            heads=lambda: self.heads,
        )

    def commit(self, *owners: str, skip: bool = False, include: bool = False) -> Separation:
        """Commit for these sessions; fails the test when it is refused."""
        answer = self.ask(*owners, skip=skip, include=include)
        assert not answer.refused, answer.left
        self.head = answer.text
        return answer

    def refuse(self, *owners: str, reason: str = "entangled") -> Separation:
        """Ask for a commit that must be refused, and check that it leaves HEAD alone."""
        answer = self.ask(*owners)
        assert answer.refused, answer
        assert answer.text == self.head
        assert answer.taken == ()
        assert {left.reason for left in answer.left} == {reason}
        return answer

    def _look(self) -> None:
        if self.head not in self.heads:
            self.heads.append(self.head)

    def _ever(self) -> set[bytes]:
        return {each for head in self.heads for each in (head or b"").split(b"\n")}


def numbered(count: int) -> bytes:
    """A file of lines that are all different."""
    return b"".join(b"line %d has text%d\n" % (n, n) for n in range(1, count + 1))


def line(n: int) -> bytes:
    """One of these lines."""
    return b"line %d has text%d\n" % (n, n)

"""Ground truth of the simulator: judges a commit from its content alone.

Every word is unique and tagged with its author, so who brought what and who took it away is
known without any diff. Must not import the code under test.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

HUMAN = "human"
NOISE = (b"", b"}", b"    return", b"{", b"    pass")
_WORD = re.compile(rb"\w+")

Line = bytes
Text = list[Line]


def words_of(lines: Iterable[Line]) -> list[bytes]:
    """The tagged words of lines; noise has none."""
    return [word for line in lines if line not in NOISE for word in _WORD.findall(line)]


def as_bytes(lines: Sequence[Line]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


@dataclass
class Truth:
    """All that really happened to one file."""

    text: Text
    author: dict[bytes, str] = field(default_factory=dict)
    events: dict[bytes, list[tuple[int, str, bool]]] = field(default_factory=dict)
    stands_for: dict[bytes, set[bytes]] = field(default_factory=dict)
    """What a word replaced, directly or through others."""
    actors: list[str] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    orders: list[dict[bytes, int]] = field(default_factory=list)
    written: dict[str, set[Line]] = field(default_factory=dict)
    in_head: set[bytes] = field(default_factory=set)
    """Words that were in HEAD at some time."""
    committed: set[int] = field(default_factory=set)
    """Steps whose actor committed after them."""
    moves: dict[bytes, set[int]] = field(default_factory=dict)
    """Word to the steps that moved it, or moved the block it was later written into."""
    perhaps: set[int] = field(default_factory=set)
    """Steps of which a forced commit of another took some part."""

    _gap: tuple[set[bytes], set[bytes]] = field(default_factory=lambda: (set(), set()))

    def begin(self) -> None:
        for word in words_of(self.text):
            self.author[word] = "base"
        self._snapshot("base")
        self.in_head.update(words_of(self.text))

    def step(
        self,
        actor: str,
        after: Text,
        replaced: Iterable[tuple[Text, Text]],
        moved: Iterable[bytes] = (),
    ) -> None:
        """Record what an actor did; `replaced` pairs the lines taken with those put there."""
        before = set(words_of(self.text))
        now = set(words_of(after))
        at = len(self.actors)
        for word in now - before:
            self.author.setdefault(word, actor)
            self.events.setdefault(word, []).append((at, actor, True))
        for word in before - now:
            self.events.setdefault(word, []).append((at, actor, False))
        for old, new in replaced:
            self._stands(set(words_of(old)) - set(words_of(new)), set(words_of(new)) - before)
        if actor == HUMAN:  # hooks see all a human did between two of them as one change
            self._gap = (self._gap[0] | before - now, self._gap[1] | now - before)
            self._stands(*self._gap)
        else:
            self._gap = (set(), set())
        self._inherit(before, words_of(after))
        for word in moved:
            self.moves.setdefault(word, set()).add(at)
        self.text = after
        self._snapshot(actor)

    def _stands(self, gone: set[bytes], made: set[bytes]) -> None:
        for word in list(gone):
            gone = gone | self.stands_for.get(word, set())
        for word in made:
            self.stands_for.setdefault(word, set()).update(gone - {word})

    def _seen(self) -> list[int]:
        """Texts that a hook saw, and the present one; of others nobody can know the order."""
        last = len(self.actors) - 1
        return [at for at in range(last + 1) if at == last or {*self.actors[at : at + 2]} != {HUMAN}]

    def _inherit(self, before: set[bytes], order: list[bytes]) -> None:
        """A word written inside a moved block stands and falls with the block."""
        above: list[set[int]] = []
        last: set[int] = set()
        for word in order:
            last = self.moves.get(word, set()) if word in before else last
            above.append(last)
        last = set()
        for at in range(len(order) - 1, -1, -1):
            word = order[at]
            if word in before:
                last = self.moves.get(word, set())
            elif above[at] & last:
                self.moves.setdefault(word, set()).update(above[at] & last)

    def _snapshot(self, actor: str) -> None:
        self.actors.append(actor)
        self.texts.append(list(self.text))
        self.orders.append({word: at for at, word in enumerate(words_of(self.text))})
        self.written.setdefault(actor, set()).update(self.text)

    def commit(self, who: str, also: set[str], text: Text) -> None:
        """LineNote that all `who` did so far is in HEAD, and some of what the others did."""
        self.in_head.update(words_of(text))
        for at, actor in enumerate(self.actors):
            if actor == who:
                self.committed.add(at)
            elif actor in also:
                self.perhaps.add(at)

    def judge(self, who: str, also: set[str], old: Text, new: Text) -> list[str]:
        """Return what is wrong with a commit of `who` that openly takes in `also`."""
        names = {who, *also}
        before, after = set(words_of(old)), set(words_of(new))
        faults = [f"leak {word!r}" for word in after - before if not self._may_add(names, word)]
        faults += [f"removal {word!r}" for word in before - after if not self._may_drop(names, word)]
        faults += self._missing(who, after)
        known = set[Line]().union(*(self.written.get(name, set()) for name in names))
        fresh = set(new) - set(old) - set(NOISE)
        faults += [f"line {line!r}" for line in fresh if line not in known]
        if len(words_of(new)) != len(after):
            faults.append("twice")
        return faults + self._misordered(who, also, old, new)

    def _may_add(self, names: set[str], word: bytes) -> bool:
        if self.author[word] in names:
            return True
        restored = any(actor in names and put for _, actor, put in self.events.get(word, ()))
        return restored and self._is_history(word)

    def _is_history(self, word: bytes) -> bool:
        """Tell whether a word is nobody's pending text: it was in HEAD, or went before a commit."""
        return word in self.in_head or self.events[word][0][0] in self.committed

    def _may_drop(self, names: set[str], word: bytes) -> bool:
        removed = {word} | {v for v, stood in self.stands_for.items() if word in stood}
        return any(
            actor in names and not put for gone in removed for _, actor, put in self.events.get(gone, [])
        )

    def _missing(self, who: str, after: set[bytes]) -> list[str]:
        """The owner's own words and removals that hold in the working tree hold in the commit."""
        now = set(words_of(self.text))
        faults = []
        for word, events in self.events.items():
            last_actor, there = events[-1][1], events[-1][2]
            mine = self.author[word] == who and word in now and not self._is_history(word)
            restored = last_actor == who and there and self._is_history(word)
            if (mine or restored) and word not in after:
                faults.append(f"missing {word!r}")
            if last_actor == who and not there and word in after:
                faults.append(f"undeleted {word!r}")
        return faults

    def _misordered(self, who: str, also: set[str], old: Text, new: Text) -> list[str]:
        rims = [word for line in new for word in words_of([line])[:1]]
        rims = [word for word in rims if not self._adrift(who, also, word)]
        place = {word: at for at, word in enumerate(rims)}
        suspects: set[tuple[bytes, bytes]] = set()
        for snapshot in (self.orders[at] for at in self._seen()):
            common = [word for word in rims if word in snapshot]
            for at in _outside_rising([snapshot[word] for word in common]):
                suspects.update((common[at], other) for other in common if other != common[at])
        before = {word: at for at, word in enumerate(words_of(old))}
        faults = [
            pair
            for pair in suspects
            if not self._inherited(who, before, place, *pair) and not self._order_is_right(who, place, *pair)
        ]
        return [f"order {one!r} {other!r}" for one, other in sorted(faults)[:3]]

    def _inherited(
        self, who: str, before: dict[bytes, int], place: dict[bytes, int], one: bytes, other: bytes
    ) -> bool:
        """Tell whether an order was in HEAD already and the committer moved neither line."""
        if one not in before or other not in before:
            return False
        moves = self.moves.get(one, set()) | self.moves.get(other, set())
        same = (before[one] < before[other]) == (place[one] < place[other])
        return same and all(self.actors[at] != who for at in moves)

    def _order_is_right(self, who: str, place: dict[bytes, int], one: bytes, other: bytes) -> bool:
        """Compare with the orders that follow from moves committed or made by the committer.

        A move taken back may be committed or not.
        """
        allowed: set[bool] = set()
        for at in self.moves.get(one, set()) | self.moves.get(other, set()):
            if one not in self.orders[at] or other not in self.orders[at]:
                return True
        current: bool | None = None
        moved = False
        for at in self._seen():
            snapshot = self.orders[at]
            if one not in snapshot or other not in snapshot:
                continue
            order = snapshot[one] < snapshot[other]
            if current is None:
                allowed = {order}
            elif order != current:
                counts = self._counts(who, at)
                allowed = {True, False} if moved else {order} if counts else allowed
                moved = moved or counts
            current = order
        return not allowed or (place[one] < place[other]) in allowed

    def _adrift(self, who: str, also: set[str], word: bytes) -> bool:
        """Tell whether somebody else's pending move took a word away.

        In the commit it is not where the committer saw it: no order is expected of it.
        """
        return any(
            at in self.perhaps or self.actors[at] in also or not self._counts(who, at)
            for at in self.moves.get(word, ())
        )

    def _counts(self, who: str, at: int) -> bool:
        return self.actors[at] == who or at in self.committed


def _outside_rising(values: Sequence[int]) -> list[int]:
    """Indices outside one longest rising subsequence."""
    tails: list[int] = []
    ends: list[int] = []
    back: list[int] = []
    for index, value in enumerate(values):
        at = bisect_left(tails, value)
        back.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [value]
        ends[at : at + 1] = [index]
    rising: set[int] = set()
    index = ends[-1] if ends else -1
    while index >= 0:
        rising.add(index)
        index = back[index]
    return [index for index in range(len(values)) if index not in rising]

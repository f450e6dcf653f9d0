"""Chooses the units of one commit: the owner's, what they supersede, and what stands in the way.

Must not write texts or messages; it answers with sets of units and unmet needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gitralph.isolate.materialize import COUNTS, GHOST, Flags, flags_of, states, switch
from gitralph.isolate.rules import Need, inside, misplaced, needs_of, overruled
from gitralph.isolate.supersede import Writing, absorbed
from gitralph.isolate.weave import Weave


@dataclass
class Ground:
    """What a choice stands on: the weave, what HEAD holds, and who is asking."""

    weave: Weave
    committed: set[int]
    barred: set[int]
    ghosts: set[int]
    """Units HEAD holds only because they were superseded."""
    own: set[int]
    """The owner's units that HEAD does not hold."""
    order: list[int] = field(init=False)
    position: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        self.order = self.weave.order()
        self.position = self.weave.positions(self.order)


@dataclass
class Choice:
    """One attempt: `unmet` is empty when the units can be committed."""

    wanted: set[int]
    absorbed: set[int] = field(default_factory=set)
    included: set[int] = field(default_factory=set)
    unmet: list[Need] = field(default_factory=list)

    def units(self) -> set[int]:
        """Return all units the commit would add to HEAD."""
        return self.wanted | self.absorbed | self.included


def choose(ground: Ground, wanted: set[int], include: bool) -> Choice:
    """Take the wanted units with what they need, as far as that is allowed."""
    choice = Choice(set(wanted))
    while True:
        flags = flags_of(ground.weave, ground.committed | choice.units())
        # What was superseded counts for what it removed, but no line of it was ever in a commit to build on.
        # One that is superseded once more is replaced whole: then nothing builds on it.
        for unit in ground.ghosts - choice.included - choice.absorbed:
            switch(ground.weave, flags, unit, GHOST)
        unmet, grew = dict[Need, None](), False
        own = Writing(ground.weave, choice.wanted | choice.included)
        # Each line of a block asks for the same: 1,000 lines that two sessions had indented in turn took 8 s.
        hopeless = set[Need]()
        for need in _needs(ground, choice, flags):
            if flags[need.other] == COUNTS:
                continue  # met by what an earlier need of this round brought in
            if need in hopeless:
                continue
            if _meet(ground, choice, flags, need, own):
                grew = True
                hopeless.clear()
            elif include and _include(ground, choice, flags, need):
                own = Writing(ground.weave, choice.wanted | choice.included)
                grew = True
                hopeless.clear()
            else:
                hopeless.add(need)
                unmet[need] = None
        choice.unmet = list(unmet)
        # Each round adds at least one unit, so there are at most as many rounds as units.
        if not grew:
            return choice


def without_unmet(ground: Ground, wanted: set[int]) -> tuple[Choice, list[Need]]:
    """Drop the owner's entangled units, and those that build on them, until the rest stands."""
    dropped: list[Need] = []
    wanted = set(wanted)
    while True:
        choice = choose(ground, wanted, include=False)
        if not choice.unmet:
            return choice, dropped
        # Dropping one unit may leave another without ground, so the choice is made again.
        dropped += choice.unmet
        wanted -= {ground.weave.hunks[need.hunk].unit for need in choice.unmet}


def _needs(ground: Ground, choice: Choice, flags: Flags) -> Iterator[Need]:
    weave = ground.weave
    hunks = _hunks(weave, choice.wanted | choice.included)
    for hunk in sorted(hunks):
        yield from needs_of(weave, hunk, flags)
    shown = states(weave, flags)
    yield from inside(weave, ground.position, flags, hunks)
    yield from misplaced(weave, ground.position, flags, hunks)
    yield from overruled(weave, shown, flags, hunks)


def _hunks(weave: Weave, units: set[int]) -> set[int]:
    return {hunk for unit in units for hunk in weave.units[unit].hunks}


def _meet(ground: Ground, choice: Choice, flags: Flags, need: Need, own: Writing) -> bool:
    """Try to supersede the unit a need asks for; `own` is what the commit writes so far."""
    unit = ground.weave.hunks[need.other].unit
    # The owner's own unit is either wanted or was dropped; it is not superseded by itself.
    if not need.absorbable or unit in ground.own:
        return False
    more = absorbed(ground.weave, unit, flags, own, ground.barred)
    more -= choice.absorbed  # what brings nothing new would be asked for again for ever
    choice.absorbed |= more
    for index in more:
        switch(ground.weave, flags, index)
    return bool(more)


def _include(ground: Ground, choice: Choice, flags: Flags, need: Need) -> bool:
    """Take in the unit a need asks for, because the user said so."""
    unit = ground.weave.hunks[need.other].unit
    if unit in ground.barred:
        return False
    (choice.wanted if unit in ground.own else choice.included).add(unit)
    switch(ground.weave, flags, unit)
    return True

"""Lets go of an owner's pending lines that are no longer on disk for a reason nobody recorded.

A line that a commit adds should stand in the file, or another session's pending edit should stand in
its place. Where somebody without a session took it away and git put files back since the edit, it
may have been either; the line is then left out, because a gap can be filled and a line that came back
from the dead is a lie.
Must not touch what a recorded edit did.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

from gitralph.isolate.api import is_among, step_of
from gitralph.isolate.lines import words
from gitralph.isolate.weave import BASE, EXISTS, NEWLINE, Weave

Unsure = Callable[[str], bool]
"""Whether git put files back since a step, by its key; or, as `doubtful`, may have and left no mark of it."""


def still_gone(weave: Weave, own: set[int], settled: set[str]) -> set[int]:
    """Return the units that were found without effect before, and none of whose lines came back since."""
    return {at for at in own if is_among(weave.units[at].key, settled) and _never_came_back(weave, at)}


def _never_came_back(weave: Weave, unit: int) -> bool:
    births = [atom for hunk in weave.units[unit].hunks for atom in weave.hunks[hunk].births]
    return bool(births) and all(weave.ops[a] and not any(op & 1 for op in weave.ops[a] or ()) for a in births)


class Gone(NamedTuple):
    """Units of which nothing is left, and those of nobody's that took lines of others of the owner's away."""

    whole: set[int]
    takers: set[int]


def bury_gone(
    weave: Weave,
    in_head: set[int],
    own: set[int],
    followed: set[int],
    unsure: Unsure,
    doubted: Container[bytes] = (),
) -> Gone:
    """Settle single lines that are gone.

    `own` are the owner's pending units, `followed` the corrections that go along with them. Lines that are
    `doubted` are gone where the file lacks them, whoever took them away.
    """
    found = Gone(set(), set())
    explained = own | followed | in_head
    for unit in sorted(own):
        hunks = [weave.hunks[hunk] for hunk in weave.units[unit].hunks]
        births = [atom for made in hunks for atom in made.births]
        dead = [atom for atom in births if _is_dead(weave, atom, explained, unsure, doubted)]
        if dead and len(dead) == len(births) and not any(made.undels for made in hunks):
            found.whole.add(unit)
            continue
        # HEAD's own lines that came with a move are changed where they are now, not taken from the move.
        for atom in [atom for atom in dead if atom not in weave.moved]:
            found.takers.add(weave.hunks[(weave.ops[atom] or [BASE])[-1] >> 1].unit)
            leave_what_it_replaced(weave, atom)
            weave.bury(atom)
        if unsure(step_key(weave, unit)):
            for atom in [atom for made in hunks for atom in made.dels]:
                _keep_what_came_back(weave, atom, in_head, own)
    return found


def leave_what_it_replaced(weave: Weave, atom: int) -> None:
    """The line in the place of which a dead one stood was taken away by who took the dead one away.

    Half of a replacement is no edit that anybody made. What is alike was replaced.
    """
    birth, killer = weave.birth[atom], (weave.ops[atom] or [BASE])[-1] >> 1
    said = set(words(weave.content(atom)))
    for gone in [d for d in weave.hunks[birth].dels if d not in (EXISTS, NEWLINE)]:
        if said.isdisjoint(words(weave.content(gone))) or gone in weave.hunks[killer].touched():
            continue
        weave.forget(birth, gone)
        weave.hunks[killer].dels.append(gone)
        weave.ops[gone] = [killer << 1 if op >> 1 == birth else op for op in weave.ops[gone] or ()]
        weave.jumbled.add(gone)


def _is_dead(weave: Weave, atom: int, explained: set[int], unsure: Unsure, doubted: Container[bytes]) -> bool:
    if weave.visible(atom):
        return False
    killer = (weave.ops[atom] or [BASE])[-1] >> 1
    if weave.hunks[killer].unit in explained:
        return False
    is_nobodys = weave.owner_of(killer) is None
    if is_nobodys and _is_back_as_before(weave, atom, killer):
        return True
    if not unsure(step_key(weave, weave.hunks[weave.birth[atom]].unit)):
        return False
    if is_nobodys:
        return True
    made = [weave.hunks[hunk] for hunk in weave.unit_of(weave.birth[atom]).hunks]
    # what takes more away than it brings is a removal as well, and that is not in doubt
    is_removal = sum(len(one.dels) for one in made) > sum(len(one.births) for one in made)
    return weave.content(atom) in doubted and not is_removal


def _is_back_as_before(weave: Weave, atom: int, killer: int) -> bool:
    """Tell whether a line went for those of the first text which it had replaced, at first or second hand.

    Whoever put all of them back, with git or without, took back what came in between.
    """
    back = {one for one in weave.hunks[killer].undels if weave.birth[one] == BASE and weave.visible(one)}
    asked, todo = set[int](), [weave.birth[atom]] if back else []
    while todo:
        hunk = todo.pop()
        if hunk in asked or hunk == BASE:
            continue
        asked.add(hunk)
        lines = [one for one in weave.hunks[hunk].dels if one > NEWLINE]
        if lines and back.issuperset(lines):
            return True
        todo += [weave.birth[one] for one in lines]
    return False


def step_key(weave: Weave, unit: int) -> str:
    """Return the key of the step a unit belongs to."""
    return step_of(weave.units[unit].key)


def _keep_what_came_back(weave: Weave, atom: int, in_head: set[int], own: set[int]) -> None:
    """A removal is over when somebody without a session put the line back: it is on disk."""
    ops = weave.ops[atom] or []
    if atom in (EXISTS, NEWLINE) or not ops or not weave.visible(atom):
        return
    units = {weave.hunks[op >> 1].unit for op in ops}
    if BASE in units or units & in_head or any(weave.units[u].owner is not None for u in units - own):
        return
    if weave.owner_of(ops[-1] >> 1) is not None:
        return  # the owner's own doing: its units cancel out
    for op in ops:
        weave.forget(op >> 1, atom)
    weave.ops[atom] = None

"""Answers what one owner may commit of one path.

Puts the parts together: fold the steps, fit them to HEAD, choose units, evaluate, word the
answer. Must not relax a rule for an option: an option says what happens to what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gitralph.isolate.api import ABSORBED, UNRECORDED, LeftEdit, Note, Reading, Separation, Step, step_of
from gitralph.isolate.build import fold
from gitralph.isolate.by_lines import by_lines
from gitralph.isolate.explain import Places, keys_of, left_of, note, sessions_of, who
from gitralph.isolate.fit import fit, indices, plain
from gitralph.isolate.follow import following, is_written_anew
from gitralph.isolate.gone import Unsure, bury_gone, still_gone
from gitralph.isolate.head import Anchored
from gitralph.isolate.last_look import Look, speaks_against
from gitralph.isolate.lost_writes import lost_writes
from gitralph.isolate.materialize import flags_of, states, text_of
from gitralph.isolate.reverted import void_units
from gitralph.isolate.select import Choice, Ground, choose, without_unmet
from gitralph.isolate.weave import BASE, Weave


@dataclass
class _Case:
    """One question: the folded path, how it fits HEAD, and who asks."""

    weave: Weave
    anchored: Anchored
    ground: Ground
    places: Places
    void: set[int]
    head: bytes | None
    reading: Reading | None = None
    gone: set[int] = field(default_factory=set)
    """Units of the owners' whose lines are no longer there, and nobody can say why."""
    followed: set[int] = field(default_factory=set)
    """Units of nobody's that only correct the owners' own pending lines."""
    takers: set[int] = field(default_factory=set)
    """Units of nobody's that took away lines of the owners' edits, of which the rest still stands."""


class _Question(NamedTuple):
    """What `separate` is asked, each as it says there."""

    head: bytes | None
    steps: Sequence[Step]
    worktree: bytes | None
    committed: Collection[str]
    owners: frozenset[str]
    skip_entangled: bool
    include_entangled: bool
    settled: Collection[str]
    moved: bool | None
    readings: Sequence[Reading]
    follow: bool
    unsure: Unsure
    past: bytes | None
    undone: Callable[[str], bool]
    doubtful: Unsure


def separate(
    head: bytes | None,
    steps: Sequence[Step],
    worktree: bytes | None,
    *,
    committed: Collection[str],
    owners: Collection[str],
    skip_entangled: bool = False,
    include_entangled: bool = False,
    settled: Collection[str] = (),
    moved: bool | None = None,
    readings: Sequence[Reading] = (),
    follow: bool = False,
    unsure: Unsure = lambda _: False,
    past: bytes | None = None,
    undone: Callable[[str], bool] = lambda _: False,
    doubtful: Unsure = lambda _: False,
) -> Separation:
    """Return the text of a commit that adds the owners' pending edits to HEAD, or a refusal.

    `steps` come from `chain`; `committed` are the units earlier commits took; `settled` are reverted
    units already reported, which the check for lost writes ignores. `moved` says whether HEAD
    is another than when the steps began; None leaves that to whether commits of ours are in it.
    `readings` are the places to read the steps from, best first (see `fit`). With `follow` goes
    what somebody without a session did to the owners' own pending lines (see `follow`).
    `unsure` says by a step's key whether git put files back since (see `gone`), `doubtful` whether it may
    have done so without a mark. `past` is what HEAD's history held last, where HEAD has no such file;
    `undone` says by a step's key whether only commits took something of it that HEAD no longer has.
    """
    asked = _Question(
        head,
        steps,
        worktree,
        committed,
        frozenset(owners),
        skip_entangled,
        include_entangled,
        settled,
        moved,
        readings,
        follow,
        unsure,
        past,
        undone,
        doubtful,
    )
    found = _by_weave(asked)
    return (_by_lines(asked) or found) if found.refused else found


def _by_lines(asked: _Question) -> Separation | None:
    """The second answer, where git put files back since an edit; it must stand the strictest look."""
    # Without git the weave knows best: in the simulator this way alone got blocks that moved wrong.
    if not any(asked.unsure(step.key) for step in asked.steps if step.owner in asked.owners):
        return None
    told = by_lines(
        asked.head, asked.steps, asked.worktree, asked.committed, asked.owners, follow=asked.follow
    )
    if told is None:
        return None
    # As if git had put files back since every edit: nothing else vouches for this answer.
    look = Look(
        asked.head,
        told.text,
        asked.worktree,
        asked.steps,
        asked.owners,
        asked.owners,
        lambda _: True,
        past=asked.past,
    )
    return Separation(told.text, taken=told.taken, void=told.away) if speaks_against(look) is None else None


def _by_weave(asked: _Question) -> Separation:
    """The answer of the weave, refused where the last look speaks against it.

    A line that it speaks against and that neither HEAD nor the file has is left out, and it looks again.
    """
    found = _separated(asked)
    look = _look(asked, found)
    line = None if found.refused else speaks_against(look)
    if line is None:
        return found
    # Nobody can say which of the three is wrong; a refusal costs a look, a wrong commit a line.
    detail = "HEAD, the file and the records disagree about where its lines belong"
    left = LeftEdit("stale", look.place(line), (), detail, found.taken)
    refusal = Separation(asked.head, left=(left,), refused=True, notes=found.notes)
    doubted = set[bytes]()
    while line not in doubted and len(doubted) < _MOST_DOUBTED and look.brings(line):
        doubted.add(line)
        found = _separated(asked, doubted)
        if found.refused:
            break
        look = _look(asked, found)
        line = speaks_against(look)
        if line is None:
            return found
    return refusal


_MOST_DOUBTED = 8
"""So many lines are left out one after the other; each asks for another answer of the weave."""


def _look(asked: _Question, found: Separation) -> Look:
    # With --include-entangled others' lines are in the commit on purpose: they speak for themselves as well.
    included = found.includes if asked.include_entangled else ()
    names = {*asked.owners, *(None if name == UNRECORDED else name for name in included)}
    return Look(
        asked.head,
        found.text,
        asked.worktree,
        asked.steps,
        asked.owners,
        names,
        asked.unsure,
        not found.left,
        set(map(step_of, asked.committed)),
        asked.past,
        asked.undone,
    )


def _separated(asked: _Question, doubted: Container[bytes] = ()) -> Separation:
    """The answer of the weave, before the last look, without the `doubted` lines."""
    head, steps, worktree, unsure = asked.head, asked.steps, asked.worktree, asked.unsure
    fitted = fit(asked.readings or plain(steps, asked.committed), head, worktree)
    if fitted is None:
        weave = fold(steps, worktree)
        return _unfit(weave, indices(weave, asked.committed), asked.owners, head)
    weave, anchored, known = fitted.weave, fitted.anchored, fitted.known
    ghosts = {name.removesuffix(ABSORBED) for name in asked.committed if name.endswith(ABSORBED)}
    case = _case(weave, anchored, asked.owners, head, ghosts - set(asked.committed))
    case.reading = fitted.reading
    # Nothing pending: the answer is HEAD, whatever others did, and no refusal.
    if not case.ground.own:
        return Separation(head)
    lost = lost_writes(case.ground, case.places, steps, set(asked.settled), case.void)
    wanted = case.ground.own - case.void
    case.gone = still_gone(weave, wanted, set(asked.settled))
    wanted -= case.gone
    # What somebody wrote in the place of a block that git had taken away is no correction of it.
    case.gone |= {unit for unit in wanted if is_written_anew(weave, anchored, unit, unsure, asked.doubtful)}
    wanted -= case.gone
    along = following(weave, anchored, wanted, unsure, doubtful=asked.doubtful)
    went = bury_gone(weave, anchored.units, wanted, along, unsure, doubted)
    case.gone |= went.whole
    case.takers = went.takers - {BASE}
    # What was let go may have been all that kept another unit of the owner's from being reverted.
    if head != weave.text:
        case.void = case.gone | void_units(weave, case.ground.own, flags_of(weave, anchored.units))
    wanted = case.ground.own - case.void
    while True:
        if asked.follow:
            case.followed = following(weave, anchored, wanted, unsure, case.void - case.gone, asked.doubtful)
        choice = _choose_with_followed(case, wanted, asked.include_entangled)
        # An edit that its owner took back and made again counts once more, and so do its corrections.
        again = case.ground.own - case.void - wanted
        if not again:
            break
        wanted |= again
    wanted = wanted | case.followed
    dropped = list(choice.unmet)
    if asked.skip_entangled and dropped:
        choice, dropped = without_unmet(case.ground, wanted)
    # Without a commit of ours in HEAD the first record may have started anywhere: then drift is no move,
    # text that is nobody's was there from the start and is entangled, not stale.
    has_moved = bool(known) if asked.moved is None else asked.moved
    drift = anchored.drift if has_moved else set[int]()
    left = (*lost, *left_of(weave, case.places, dropped, drift, head))
    stale = any(entry.reason == "stale" for entry in left)
    # A lost update is never skipped: to commit the rest would bless the loss.
    if stale or (left and not asked.skip_entangled):
        return Separation(head, left=left, refused=True, notes=tuple(_head_notes(case)))
    found = _answer(case, choice, left)
    if found.text != weave.text and not left and not case.gone and _is_alone(case):
        # With nobody else in the file its text is the answer, whatever looks reverted in it.
        case.void = set()
        found = _answer(case, Choice(set(case.ground.own)), left)
    return found


def _is_alone(case: _Case) -> bool:
    """Tell whether all that HEAD lacks is the owners'."""
    everything = set(range(len(case.weave.units)))
    return not case.anchored.drift and everything <= case.anchored.units | case.ground.own | {BASE}


def _case(
    weave: Weave,
    anchored: Anchored,
    owners: Collection[str],
    head: bytes | None,
    absorbed: set[str],
) -> _Case:
    own = {
        at
        for at, unit in enumerate(weave.units)
        if unit.owner in owners and unit.owner is not None and at not in anchored.units
    }
    ghosts = {
        at for at in anchored.units if weave.units[at].key in absorbed and weave.units[at].owner not in owners
    }
    ground = Ground(weave, anchored.units, anchored.drift, ghosts, own)
    in_head = flags_of(weave, anchored.units)
    # The file is as in HEAD: nothing that was recorded has any effect.
    void = set(own) if head == weave.text else void_units(weave, own, in_head)
    return _Case(weave, anchored, ground, Places(weave), void, head)


def _unfit(weave: Weave, known: set[int], owners: Collection[str], head: bytes | None) -> Separation:
    """HEAD cannot be rebuilt from the records: refuse, if the owner has anything here at all."""
    own = [
        at
        for at, unit in enumerate(weave.units)
        if unit.owner in owners and unit.owner is not None and at not in known
    ]
    if not own:
        return Separation(head)
    detail = "HEAD has moved to a text that the recorded edits do not fit"
    left = LeftEdit("stale", Places(weave).of_units(own), (), detail, keys_of(weave, own))
    return Separation(head, left=(left,), refused=True)


def _choose(case: _Case, wanted: set[int], include: bool) -> Choice:
    """Choose, taking back into account reverted units that a standing one turns out to need."""
    while True:
        choice = choose(case.ground, wanted, include)
        # An edit that was taken back and on which another of the same owner stands was taken back in part
        # only.
        needed = {case.weave.hunks[need.other].unit for need in choice.unmet} & case.void - case.gone
        case.void -= choice.wanted
        if not needed:
            return choice
        wanted = wanted | needed
        case.void -= needed


def _choose_with_followed(case: _Case, wanted: set[int], include: bool) -> Choice:
    """Choose with the corrections that follow; one that others stand in the way of stays nobody's."""
    while True:
        choice = _choose(case, wanted | case.followed, include)
        barred = {case.weave.hunks[need.hunk].unit for need in choice.unmet} & case.followed
        if not barred:
            return choice
        case.followed -= barred


def _answer(case: _Case, choice: Choice, left: tuple[LeftEdit, ...]) -> Separation:
    weave, ground = case.weave, case.ground
    before = states(weave, flags_of(weave, ground.committed))
    units = ground.committed | choice.units()
    after = states(weave, flags_of(weave, units))
    # A unit that changes no line of this commit is not consumed by it: it is pending for a later one.
    idle = _idle(case, choice, before, after)
    waiting = idle & choice.wanted
    taken = choice.units() - idle
    text = text_of(weave, ground.order, after)
    notes = _notes(case, choice, waiting)
    followed = case.followed & taken
    includes = sessions_of(weave, choice.included | followed)
    return Separation(
        text,
        taken=_names(weave, taken, choice.absorbed - choice.included),
        left=left,
        includes=includes,
        notes=tuple(notes),
        void=keys_of(weave, case.void),
        reading=case.reading,
    )


def _names(weave: Weave, taken: set[int], absorbed: set[int]) -> tuple[str, ...]:
    """Name the units of a commit; that a unit was absorbed is part of what the caller keeps."""
    return tuple(weave.units[unit].key + (ABSORBED if unit in absorbed else "") for unit in sorted(taken))


def _idle(case: _Case, choice: Choice, before: bytearray, after: bytearray) -> set[int]:
    """Find units that change nothing in this commit, alone or together with others in it."""
    weave = case.weave
    shared: dict[int, list[int]] = {}
    for unit in choice.units():
        for atom in weave.atoms_of(weave.units[unit]):
            shared.setdefault(atom, []).append(unit)
    # Units that work on one line change it together: each alone may change nothing.
    live = {unit for atom, units in shared.items() if before[atom] != after[atom] for unit in units}
    grew = True
    while grew:
        grew = False
        for units in shared.values():
            if not live.isdisjoint(units) and not live.issuperset(units):
                live.update(units)
                grew = True
    return choice.units() - live


def _notes(case: _Case, choice: Choice, waiting: set[int]) -> list[Note]:
    weave, places = case.weave, case.places
    notes = _head_notes(case)
    for unit in sorted(choice.absorbed):
        whose = who(sessions_of(weave, [unit]))
        detail = f"replaces an uncommitted version of {whose}"
        notes.append(note(weave, places, "absorbed", {unit}, detail))
    if case.void:
        notes.append(_void_note(case))
    followed = case.followed & choice.units() - waiting
    if followed:
        detail = "was corrected by somebody without a session; committed as it stands"
        notes.append(note(weave, places, "followed", followed, detail))
    notes += _differing_notes(case, choice)
    # one line of a block may be gone, and what was written for it stand inside the block
    takers = case.takers - case.followed
    if takers:
        detail = "recorded lines that somebody without a session changed or removed since are left out"
        notes.append(note(weave, places, "left out", takers, detail))
    if waiting:
        detail = "removes lines that are not committed yet"
        notes.append(note(weave, places, "waiting", waiting, detail))
    return notes


def _differing_notes(case: _Case, choice: Choice) -> list[Note]:
    """Say where the commit holds a recorded line that somebody without a session changed since."""
    weave, units = case.weave, choice.units()
    changed: dict[int, set[int]] = {}
    for unit in sorted(choice.wanted - case.followed):
        for atom in weave.atoms_of(weave.units[unit]):
            last = (weave.ops[atom] or [BASE << 1 | 1])[-1]
            maker = weave.hunks[last >> 1].unit
            gone = not last & 1 and maker not in units and maker != BASE
            if gone and weave.units[maker].owner is None and weave.hunks[weave.birth[atom]].unit == unit:
                changed.setdefault(maker, set()).add(unit)
    detail = "was changed since by somebody without a session; the recorded text is committed"
    return [note(case.weave, case.places, "differs", {maker}, detail) for maker in sorted(changed)]


def _void_note(case: _Case) -> Note:
    weave = case.weave
    undoers = {
        weave.hunks[op >> 1].unit
        for unit in case.void
        for atom in weave.atoms_of(weave.units[unit])
        for op in (weave.ops[atom] or [BASE])[-1:]
    }
    # Who reverts his own edit need not be told by whom.
    undoers -= case.ground.own | {BASE}
    sessions = sessions_of(weave, undoers)
    detail = f"reverted by {who(sessions)}" if sessions else "reverted"
    lines = case.places.of_units(sorted(case.void))
    return Note("void", lines, sessions, detail, keys_of(weave, case.void))


def _head_notes(case: _Case) -> list[Note]:
    weave, anchored = case.weave, case.anchored
    notes: list[Note] = []
    if anchored.rewound:
        detail = "HEAD no longer holds what was committed before; it is pending again"
        notes.append(note(weave, case.places, "rewound", anchored.rewound, detail))
    if anchored.moved and not anchored.rewound:
        detail = "HEAD holds changes that no commit of ours made"
        notes.append(note(weave, case.places, "reanchored", anchored.added, detail))
    return notes

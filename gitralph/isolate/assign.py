"""What nobody recorded of a file, line by line, for a person who says whose it is.

Reads the same weave as `separate`. Every change of nobody's that makes the working tree differ from
HEAD is told once, with the line it belongs to and whoever's recorded lines are in the way. Must not
decide who gets what.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gitralph.isolate.api import Reading, Step, Take
from gitralph.isolate.fit import fit
from gitralph.isolate.follow import following
from gitralph.isolate.handover import interleave, is_nobodys
from gitralph.isolate.head import Anchored
from gitralph.isolate.lines import ends_with_newline
from gitralph.isolate.materialize import flags_of, states
from gitralph.isolate.reverted import void_units
from gitralph.isolate.rules import provider
from gitralph.isolate.separation import separate
from gitralph.isolate.weave import BASE, END, EXISTS, NEWLINE, Weave


class Unrecorded(NamedTuple):
    """One smallest change that nobody recorded.

    `line` counts from 1 in the file as it stands; the lines of HEAD in `removed` stood before it, and
    one more than there are lines stands for the end. `added`: the line itself is new. `sessions` have
    recorded lines that the change replaced or stands among; `stale`: no record leads to it. `end`: the
    newline at the end of the file changes with it; `file`: the file itself came or went by nobody.
    """

    line: int
    added: bool = False
    removed: tuple[bytes, ...] = ()
    end: bool = False
    file: bool = False
    sessions: tuple[str, ...] = ()
    stale: bool = False


@dataclass
class _Look:
    weave: Weave
    anchored: Anchored
    head: bytearray
    owners: Collection[str]
    followed: dict[int, str] = field(default_factory=dict)

    def is_pending(self, hunk: int) -> bool:
        return hunk != BASE and self.weave.hunks[hunk].unit not in self.anchored.units

    def is_free(self, hunk: int) -> bool:
        return self.is_pending(hunk) and is_nobodys(self.weave, hunk)

    def is_own(self, hunk: int) -> bool:
        return self.is_pending(hunk) and self.weave.owner_of(hunk) in self.owners

    def other(self, hunk: int) -> str | None:
        """Return the session whose pending hunk this is, None for one that is in nobody's way."""
        owner = self.weave.owner_of(hunk)
        return owner if self.is_pending(hunk) and owner not in self.owners else None


def unrecorded(
    head: bytes | None,
    worktree: bytes | None,
    readings: Sequence[Reading],
    owners: Collection[str],
) -> list[Unrecorded] | None:
    """Return what nobody recorded, in the order of the lines, or None where HEAD fits no reading.

    `owners` are those it may be given to: their own recorded lines are not in the way.
    """
    fitted = fit([_started(reading, head) for reading in readings], head, worktree)
    if fitted is None:
        return None
    weave, anchored = fitted.weave, fitted.anchored
    shown = states(weave, flags_of(weave, anchored.units))
    look = _Look(weave, anchored, shown, owners)
    look.followed = _followed(look)
    for hunk in range(len(weave.hunks)):
        if look.is_free(hunk):
            # A replaced block shows each old line before its new one, so that a person can take the pair.
            interleave(weave, hunk)
    return _with_rims(look, list(_changes(look)), head)


def _started(reading: Reading, head: bytes | None) -> Reading:
    """Return a reading that begins with HEAD's text where it has no step to begin with."""
    if reading.steps:
        return reading
    # Without a step there is nothing to fold the working tree onto; HEAD's text is where it starts.
    return reading._replace(steps=(Step("head", None, head, head),))


def _followed(look: _Look) -> dict[int, str]:
    """Map the units of nobody's that go along with another owner's pending lines to that owner."""
    weave = look.weave
    pending: dict[str, set[int]] = {}
    for at, unit in enumerate(weave.units):
        if unit.owner is not None and unit.owner not in look.owners and at not in look.anchored.units:
            pending.setdefault(unit.owner, set()).add(at)
    in_head = flags_of(weave, look.anchored.units)
    found: dict[int, str] = {}
    for owner, units in pending.items():
        for followed in following(weave, look.anchored, units - void_units(weave, units, in_head)):
            found.setdefault(followed, owner)
    return found


def _changes(look: _Look) -> Iterable[Unrecorded]:
    weave = look.weave
    line, removed = 0, list[int]()
    # END stands for what was removed after the last line.
    for atom in [*weave.order(), END]:
        if atom != END and not weave.visible(atom):
            if _is_removed(look, atom):
                removed.append(atom)
            continue
        line += 1
        added = atom != END and not look.head[atom] and look.is_free(_maker(look, atom))
        if added or removed:
            hunks = {_maker(look, atom)} if added else set()
            texts = tuple(weave.content(gone) for gone in removed)
            stale = any(_is_drift(look, hunk) for hunk in hunks | {_last(weave, gone) for gone in removed})
            sessions = tuple(sorted(_in_the_way(look, atom, hunks) | _built_on(look, removed)))
            yield Unrecorded(line, added, texts, sessions=sessions, stale=stale)
        removed = []


def _is_removed(look: _Look, atom: int) -> bool:
    """Tell whether nobody's gap took away a line of HEAD, or one that an owner has pending."""
    last = _last(look.weave, atom)
    if not look.is_free(last) or last == look.weave.birth[atom]:
        return False
    return bool(look.head[atom]) or look.is_own(provider(look.weave, atom, last))


def _maker(look: _Look, atom: int) -> int:
    """Return the hunk a visible line is there by: what made it, or what brought it back."""
    birth = look.weave.birth[atom]
    return birth if look.is_pending(birth) else _last(look.weave, atom)


def _in_the_way(look: _Look, atom: int, hunks: set[int]) -> set[str]:
    weave = look.weave
    found: list[str | None] = [*(_had_hands_in(look, atom) if hunks else ())]
    for hunk in hunks:
        found.append(look.followed.get(weave.hunks[hunk].unit))
        found += [look.other(provider(weave, gone, hunk)) for gone in weave.hunks[hunk].dels if gone > END]
    if hunks:
        found += [look.other(weave.birth[source]) for source in weave.origins(atom)]
    if not weave.visible(EXISTS):
        last = {gone: _last(weave, gone) for gone in weave.order() if look.is_free(_last(weave, gone))}
        found += [look.other(provider(weave, gone, hunk)) for gone, hunk in last.items()]
    return {name for name in found if name is not None}


def _had_hands_in(look: _Look, atom: int) -> set[str]:
    """Return who else removed or restored a line and has not committed it."""
    names = (look.other(op >> 1) for op in look.weave.ops[atom] or ())
    return {name for name in names if name is not None}


def _built_on(look: _Look, removed: list[int]) -> set[str]:
    """Return who replaced what nobody had put in the place of these lines; their commit takes them away."""
    weave = look.weave
    found = {name for atom in removed for name in _had_hands_in(look, atom)}
    todo = [_last(weave, atom) for atom in removed]
    for hunk in todo:
        for atom in weave.hunks[hunk].births:
            if weave.visible(atom):
                continue
            killer = _last(weave, atom)
            name = look.other(killer)
            if name is not None:
                found.add(name)
            elif look.is_free(killer) and killer not in todo:
                todo.append(killer)
    return found


def _is_drift(look: _Look, hunk: int) -> bool:
    return look.weave.hunks[hunk].unit in look.anchored.drift


def _last(weave: Weave, atom: int) -> int:
    ops = weave.ops[atom]
    return ops[-1] >> 1 if ops else weave.birth[atom]


def _with_rims(look: _Look, found: list[Unrecorded], head: bytes | None) -> list[Unrecorded]:
    """Let the last change carry the newline at the end; a file that came or went empty is a change."""
    weave = look.weave
    if weave.visible(EXISTS) != bool(look.head[EXISTS]) and look.is_free(_last(weave, EXISTS)):
        found = [one._replace(file=True) for one in found or [Unrecorded(1)]]
    text = weave.text
    if not text or ends_with_newline(head) == ends_with_newline(text):
        return found
    if not look.is_free(_last(weave, NEWLINE)):
        return found
    lines = len(weave.shown)
    if found and found[-1].line >= lines:
        return [*found[:-1], (found[-1])._replace(end=True)]
    return [*found, Unrecorded(lines, end=True)]


def without(
    worktree: bytes | None, head: bytes | None, chosen: Sequence[Unrecorded], eol: bytes = b"\n"
) -> tuple[bytes | None, list[tuple[int, int, int]]]:
    r"""Return the text without the chosen changes, and where they are: start, removed, added lines.

    A file that nobody's changes alone made is absent again; `eol` ends the lines that come back.
    """
    lines = _lines(worktree, eol)
    by_line = {change.line: change for change in chosen}
    out: list[bytes] = []
    places: list[tuple[int, int, int]] = []
    for number, content in enumerate([*lines, None], 1):
        change = by_line.get(number)
        if change is not None:
            last = places[-1] if places else (0, 0, 0)
            if change.added and not change.removed and number > 1 and _adds(by_line.get(number - 1)):
                places[-1] = last[0], last[1], last[2] + 1
            elif change.added or change.removed:
                places.append((len(out), len(change.removed), int(change.added)))
            out += [gone + eol for gone in change.removed]
        if content is not None and not (change is not None and change.added):
            out.append(content)
    text = b"".join(out)
    if not text and head is None and all(change.file for change in chosen):
        return None, []
    complete = ends_with_newline(head if worktree is None or any(c.end for c in chosen) else worktree)
    return (text if complete else text.removesuffix(b"\n").removesuffix(eol[:-1])), places


def _adds(change: Unrecorded | None) -> bool:
    return change is not None and change.added


def _lines(text: bytes | None, eol: bytes) -> list[bytes]:
    lines = (text or b"").split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last + eol] if last else [])


def gives(
    head: bytes | None,
    worktree: bytes | None,
    readings: Sequence[Reading],
    owner: str,
    owners: Collection[str],
    chosen: Sequence[Unrecorded],
    given: tuple[Take, ...],
) -> bool:
    """Tell whether a record with these takes would give just the chosen changes to the owner.

    Equal lines side by side can be taken for one another, and others' lines can have moved past them:
    what nobody recorded must be the same after it, less the chosen ones, and so must others' commits.
    """
    fitted = fit([_started(reading, head) for reading in readings], head, worktree)
    asked = unrecorded(head, worktree, readings, owners)
    if fitted is None or asked is None:
        return False
    steps = fitted.reading.steps
    then = Step("given", owner, worktree, worktree, takes=given)
    gap = Step("gap", None, steps[-1].after, worktree)
    reading = fitted.reading._replace(steps=(*steps, gap, then))
    left = unrecorded(head, worktree, [reading], owners)
    kept = [_bare(one) for one in asked if one not in chosen]
    if left is None or [_bare(one) for one in left] != kept:
        return False
    others = {unit.owner for unit in fitted.weave.units if unit.owner is not None} - set(owners)
    return all(_same_commit(head, worktree, fitted.reading, reading, other) for other in others)


def _same_commit(
    head: bytes | None, worktree: bytes | None, before: Reading, after: Reading, owner: str
) -> bool:
    """Tell whether another owner's commit is what it was, or goes through where it was refused."""
    # Both with and without corrections that go along: either way of asking must get the answer it got before.
    for follow in (True, False):
        old, new = (
            separate(head, each.steps, worktree, committed=(), owners={owner}, readings=[each], follow=follow)
            for each in (before, after)
        )
        if not old.refused and (new.refused or new.text != old.text):
            return False
    return True


def _bare(one: Unrecorded) -> Unrecorded:
    """Return a change without what its neighbours decide."""
    return one._replace(end=False, file=False, sessions=(), stale=False)


def takes(
    before: Sequence[bytes], after: Sequence[bytes], places: Sequence[tuple[int, int, int]]
) -> tuple[Take, ...] | None:
    """Return what a recorded assignment gives, from the lines of its texts and the places of its hunks.

    None where the places do not lead from one text to the other: then it is an edit as any other.
    """
    found: list[Take] = []
    shift, done, rebuilt = 0, 0, list[bytes]()
    for start, removed, added in places:
        if start < done or start + removed > len(before):
            return None
        at = start + shift
        rebuilt += [*before[done:start], *after[at : at + added]]
        shift, done = shift + added - removed, start + removed
        old = [line.removesuffix(b"\n") for line in before[start:done]]
        new = [line.removesuffix(b"\n") for line in after[at : at + added]]
        while old and new and old[0] == new[0]:  # only there for the newline after it
            del old[0], new[0]
            at += 1
        if old or new:
            found.append(Take(at, len(new), tuple(old)))
    if [*rebuilt, *before[done:]] != list(after):
        return None
    ended = [not lines or lines[-1].endswith(b"\n") for lines in (before, after)]
    if ended[0] != ended[1]:
        last = found.pop() if found and found[-1].at + found[-1].count >= len(after) else Take(len(after))
        found.append(replace(last, end=True))
    return tuple(found) or (Take(0),)

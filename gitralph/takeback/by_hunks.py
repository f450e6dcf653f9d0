"""What of an undo a person may choose: pieces that can go without the others, or a file as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitralph.base.quote import shown
from gitralph.decide.decision import Left
from gitralph.git import hunks
from gitralph.git.context import Context, refuse_operation
from gitralph.git.snapshot import Content
from gitralph.git.trees import FILES
from gitralph.lines import reverse
from gitralph.takeback import by_lines, patch
from gitralph.takeback.land_files import Replacement
from gitralph.takeback.survey import Picked, Survey, UndoRequest, survey
from gitralph.takeback.undo import ends, planned

Part = tuple[tuple[str, ...], Content]
"""The names of some pieces, and the file without these pieces."""


class TakenHunks(NamedTuple):
    """What a person is asked about one path, or about the two paths of a rename.

    There is one question for each part, or one for all of it.
    """

    changes: tuple[Replacement, ...]
    parts: tuple[Part, ...]
    what: str
    """What the single question is about: ``this hunk``, ``addition``."""

    @property
    def questions(self) -> int:
        """The number of questions."""
        return len(self.parts) or 1

    def shown(self, ctx: Context, number: int, color: bool) -> bytes:
        """What the session did in part ``number``, as a patch."""
        if not self.parts:
            return patch.render(ctx, [_turned(one, one.after) for one in self.changes], color)
        done = _turned(self.changes[0], self.parts[number][1])
        plain = patch.render(ctx, [done], color=False)
        found = hunks.parsed(plain, patch.render(ctx, [done], color) if color else plain)
        return (found.header if number == 0 else b"") + b"".join(hunk.shown for hunk in found.hunks)

    def chosen(self, numbers: list[int]) -> dict[bytes, Picked]:
        """What the answers choose; ``numbers`` are the questions answered with yes."""
        if not numbers:
            return {}
        if not self.parts:
            return {one.path: Picked(None, one.before) for one in self.changes}
        (only,) = self.changes
        units = tuple(unit for number in numbers for unit in self.parts[number][0])
        return {only.path: Picked(units, only.before)}


def offers(ctx: Context, request: UndoRequest) -> tuple[list[TakenHunks], list[Left]]:
    """What a person may take back of a session, and what must stay."""
    refuse_operation(ctx, "written")
    with survey(ctx, request.session, request.match) as found:
        made = planned(found, request)
        return [_offer(found, group) for group in _groups(found, made.changes)], made.left


def _groups(found: Survey, changes: Iterable[Replacement]) -> list[list[Replacement]]:
    """The changes in groups; the two paths of a rename are one group."""
    groups = {one.path: [one] for one in changes}
    for path, other in ends(found):
        if path in groups and other in groups and groups[path] is not groups[other]:
            both = groups[path] + groups[other]
            groups |= {one.path: both for one in both}
    return list({id(group): group for group in groups.values()}.values())


def _offer(found: Survey, changes: list[Replacement]) -> TakenHunks:
    parts = _parts(found, changes[0]) if len(changes) == 1 else ()
    return TakenHunks(tuple(changes), parts, "this hunk" if parts else _what(changes))


def _parts(found: Survey, change: Replacement) -> tuple[Part, ...]:
    """The parts of one file; none where it goes as a whole."""
    before, after = change.before, change.after
    units = change.records[-1][0].units
    if not units or before.mode != after.mode or before.mode not in FILES:
        return ()
    parts = []
    for names in reverse.apart(found.texts(change.path).pieces, found.scene.own, units):
        taken = by_lines.undone(found, change.path, names, False)
        text = None if taken.refused else by_lines.bytes_of(found, change.path, taken, before.data)
        if text is None or text == before.data:
            return ()
        parts.append((names, Content(before.mode, text)))
    return tuple(parts)


def _what(changes: list[Replacement]) -> str:
    if len(changes) > 1:
        return "this change of " + " and ".join(f"'{shown(one.path)}'" for one in changes)
    (one,) = changes
    if one.before.data == one.after.data:
        return "mode change"
    return {"A": "deletion", "D": "addition"}.get(one.letter, "this file")


def _turned(change: Replacement, after: Content) -> Replacement:
    """The patch from the file after an undo to the file as it stands."""
    return change._replace(before=after, after=change.before)

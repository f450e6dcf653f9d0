"""A commit of some hunks: what a person may choose of a draft, and the draft with just that.

Hunks are those between HEAD's text and the text that would be committed. So each subset of hunks holds only
lines of HEAD and of the committer. A hunk that was not chosen stays pending without a note: HEAD lacks it and
the file has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import NamedTuple

from gitralph.base.errors import Busy
from gitralph.base.kinds import Kind, Why
from gitralph.base.quote import shown
from gitralph.decide import decision, plan
from gitralph.decide.decision import Left, Outcome
from gitralph.decide.inputs import Entries
from gitralph.decide.request import Draft, Pick, Picks, Request
from gitralph.git import blobs, hunks
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context
from gitralph.git.hunks import Patch
from gitralph.git.objects import Objects
from gitralph.git.texts import with_line_feeds
from gitralph.git.trees import EMPTY_TREE, FILES, Entry
from gitralph.hook.journal import GAP, TEXT_LIMIT, full_lines, replay
from gitralph.lines import owners
from gitralph.lines.order import chain
from gitralph.lines.pieces import pieces
from gitralph.lines.terms import Step, step_of


class PickedPath(NamedTuple):
    """What a person is asked about one path, or about paths that go together.

    The person answers hunk by hunk, or once for all of it.
    """

    paths: tuple[bytes, ...]
    patch: Patch
    what: str
    """What the single question is about: ``this hunk``, ``addition``."""
    picks: Picks
    texts: tuple[bytes, bytes] | None
    """Both blobs, None where the paths go as a whole."""

    @property
    def questions(self) -> int:
        """The number of questions."""
        return 1 if self.texts is None else len(self.patch.hunks)

    def shown(self, number: int) -> bytes:
        """What a person sees before question ``number``."""
        if self.texts is None:
            return self.patch.header + b"".join(hunk.shown for hunk in self.patch.hunks)
        return (self.patch.header if number == 0 else b"") + self.patch.hunks[number].shown

    def chosen(self, numbers: list[int]) -> Picks:
        """What the answers choose; ``numbers`` are the questions answered with yes."""
        if not numbers:
            return {}
        if self.texts is None or len(numbers) == self.questions:
            return self.picks
        old, new = map(full_lines, self.texts)
        text = hunks.with_only(old, new, self.patch.hunks, numbers)
        return {path: pick._replace(text=text) for path, pick in self.picks.items()}


# --- what can be chosen ---


def offers(ctx: Context, bench: Workbench, made: Draft, color: bool) -> list[PickedPath]:
    """What a person may choose of a draft, in the order of the draft's paths."""
    filtered = blobs.filtered_paths(ctx.git.at(ctx.repo.root), ctx.config, made.entries)
    return [_offer(ctx, bench, made, paths, filtered, color) for paths in _groups(made)]


def _groups(made: Draft) -> Iterable[tuple[bytes, ...]]:
    done = set[bytes]()
    for path in sorted(made.entries):
        todo, found = [path], set[bytes]()
        while todo:
            one = todo.pop()
            if one not in found | done and one in made.entries:
                found.add(one)
                todo += made.tied(one)
        done |= found
        if found:
            yield tuple(sorted(found))


def _offer(
    ctx: Context, bench: Workbench, made: Draft, paths: tuple[bytes, ...], filtered: set[bytes], color: bool
) -> PickedPath:
    if made.base.root is None:
        bench.git.try_run("hash-object", "-t", "tree", "-w", "/dev/null")
    git = bench.git.at(ctx.repo.root)
    patch = hunks.between(git, made.base.root or EMPTY_TREE, made.tree, paths, color)
    picks = {path: Pick(made.base.entry(path), made.entries[path]) for path in paths}
    texts = None
    if len(paths) == 1 and paths[0] not in filtered and patch.hunks and _by_lines(made, paths[0]):
        with closing(bench.objects(ctx.repo.common_dir)) as objects:
            texts = _texts(objects, picks[paths[0]])
    return PickedPath(paths, patch, _what(picks) if texts is None else "this hunk", picks, texts)


def _by_lines(made: Draft, path: bytes) -> bool:
    """True where a part of a path can go: its lines are told apart, or all of them are the person's."""
    old, new = made.base.entry(path), made.entries[path]
    if old is None or new is None or old.mode != new.mode or old.mode not in FILES:
        return False
    return made.by_person or made.how[path] == decision.EDITS


def _texts(objects: Objects, pick: Pick) -> tuple[bytes, bytes]:
    assert pick.before is not None
    assert pick.shown is not None
    return objects.raw(pick.before.oid)[1], objects.raw(pick.shown.oid)[1]


def _what(picks: Picks) -> str:
    if len(picks) > 1:
        return "this change of " + " and ".join(f"'{shown(path)}'" for path in sorted(picks))
    (one,) = picks.values()
    if one.before is None:
        return "addition"
    if one.shown is None:
        return "deletion"
    return "mode change" if one.before.oid == one.shown.oid else "this file"


# --- what was chosen ---


def applied(ctx: Context, bench: Workbench, made: Draft, picks: Picks) -> Draft:
    """The draft with the chosen part; a path that has changed since it was shown is left."""
    entries: dict[bytes, Entry | None] = {}
    left, partly, moved = list[Left](), set[bytes](), Why(Kind.CHANGED_WHILE_ASKED)
    for path, entry in made.entries.items():
        pick = picks.get(path)
        if pick is None:
            left.append(Left(path, decision.DECLINED, Why(Kind.NOT_CHOSEN), optional=True))
        elif (made.base.entry(path), entry) != (pick.before, pick.shown):
            left.append(Left(path, decision.STALE, moved))
        elif pick.text is not None and entry is not None:
            oid = bench.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=pick.text).strip()
            entries[path] = Entry(entry.mode, oid)
            partly.add(path)
        else:
            entries[path] = entry
    left += [Left(path, decision.STALE, moved) for path in picks if path not in made.entries]
    made = made.without(left)
    rest = [Left(path, decision.DECLINED, Why(Kind.PARTLY_CHOSEN), optional=True) for path in partly]
    outcomes = tuple(
        _with_units(ctx, made, one, picks[one.path]) if one.path in partly else one for one in made.outcomes
    )
    made = made._replace(entries=entries, outcomes=outcomes, left=(*made.left, *rest))
    return plan.rebuilt(ctx, bench, made)


def _with_units(ctx: Context, made: Draft, found: Outcome, pick: Pick) -> Outcome:
    """The outcome of a path with the pieces that the chosen text contains."""
    names = _steps_in(ctx, made, found.path, pick)

    def went(units: tuple[str, ...] | None) -> tuple[str, ...]:
        kept = tuple(unit for unit in units or () if step_of(unit) in names)
        return kept or units or ()  # where no line tells its piece, each piece may have gone

    return found._replace(uses=tuple(use._replace(units=went(use.units)) for use in found.uses))


def _steps_in(ctx: Context, made: Draft, path: bytes, pick: Pick) -> set[str]:
    """The records that have a line in the chosen text that HEAD lacks."""
    state, text = made.states.get(path), pick.text
    if state is None or text is None or pick.before is None or len(text) > TEXT_LIMIT:
        return set()
    old = ctx.repo.objects.raw(pick.before.oid)[1]
    rows = [(r, b, a) for r, b, a in replay(state.journal, ctx.layout) if r.is_exact]

    def form(one: bytes | None) -> bytes | None:
        return one if one is None or b"\r\n" in text else with_line_feeds(one)

    steps = [Step(str(r.offset), None if r.op == GAP else r.session, form(b), form(a)) for r, b, a in rows]
    return owners.showing(pieces(old, text, chain(steps, steps[0].before))) if steps else set()


def after_hook(request: Request, entries: Entries) -> Request:
    """The request for paths that were chosen as a whole, after a hook of the repository rewrote them."""
    if request.picks is None:
        return request
    picks = {
        path: pick._replace(shown=entries[path]) if path in entries and pick.text is None else pick
        for path, pick in request.picks.items()
    }
    return request._replace(picks=picks)


def refuse_moved(made: Draft) -> None:
    """Raise Busy where a chosen path has changed since it was shown."""
    for one in made.left:
        if one.why.kind is Kind.CHANGED_WHILE_ASKED:
            raise Busy(f"'{shown(one.path)}' changed while you were asked", "try again")

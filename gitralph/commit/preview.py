"""What a commit would be, drafted with nothing moved. ``diff`` and the guard need no more than that."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gitralph.base.kinds import Kind, Why
from gitralph.commit.hooks import Taken
from gitralph.decide import decision, offers, pending_paths, picking, plan
from gitralph.decide.decision import Left, Note
from gitralph.decide.inputs import open_bench
from gitralph.decide.request import Draft, Request, Result
from gitralph.git import history, uncommitted
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context
from gitralph.hook import sessionfile
from gitralph.words import sentences, ways_out


def drafted(ctx: Context, bench: Workbench, request: Request, taken: Taken | None = None) -> Draft:
    """What the session would commit as asked for; records of hooks count as if they were written."""
    offers.catch_up(ctx, request.session)
    matches = None
    if request.match is not None:
        matches = request.match(plan.candidates(ctx, request.session, _exact(ctx, request)))
    unwritten = taken.records if taken else None
    made = plan.build(ctx, bench, request.session, request.wishes, matches, unwritten)
    if request.picks is not None:
        return picking.applied(ctx, bench, made, request.picks)
    # Named paths of which nothing is taken. Without this `--whole-file -- typo` would end in silence.
    if request.wishes.whole_file and request.match is not None:
        return made._replace(left=(*made.left, *_in_vain(ctx, request, set(matches or ()))))
    return made


def _exact(ctx: Context, request: Request) -> set[bytes]:
    """The paths that the user wrote out one by one, not those that a folder or a pattern covers."""
    here = os.fsdecode(ctx.repo.prefix)
    # a hint writes a name with a `*` in it so
    names = [name.removeprefix(":(literal)") for name in request.named]
    return {os.fsencode(os.path.normpath(os.path.join(here, name))) for name in names}


def _in_vain(ctx: Context, request: Request, known: set[bytes]) -> list[Left]:
    """Changed paths that the user named for ``--whole-file`` and in which the session has nothing.

    Such a path counts when the user wrote it out, or when nothing that the user named is the session's. Other
    files in a named folder are no fault.
    """
    assert request.match is not None
    dirty = set(request.match(uncommitted.dirty_paths(ctx.repo, ctx.config))) - known
    missed = sorted(dirty & _exact(ctx, request) if known else dirty)
    out = []
    works = pending_paths.by_path(pending_paths.everyone(ctx)) if missed else {}
    for path in missed:
        others = sorted(works.get(path, {}))
        reason = decision.CONTESTED if others else decision.UNANCHORED
        out.append(Left(path, reason, Why(Kind.NOTHING_RECORDED, (request.session,)), tuple(others)))
    return out


def result_of(ctx: Context, made: Draft, status: str) -> Result:
    """The result of a draft, as ``--json`` and people get it."""
    return Result(
        status=status,
        session=None if made.by_person else made.session,
        ref=made.head.name,
        changes=made.changes,
        how={path: made.how[path] for path in made.entries},
        left=made.left,
        notes=(*sentences.told(ctx.layout, made.notes), *_notes(ctx, made)),
        hints=tuple(_hints(ctx, made)),
        silent=not made.states,
    )


def refused_to_person(ctx: Context, paths: Iterable[bytes]) -> tuple[list[Left], list[str]]:
    """Of some paths those that a person's commit would refuse, and what to type first."""
    wanted, here = set(paths), os.fsdecode(ctx.repo.prefix) or os.curdir
    named = tuple(os.path.relpath(os.fsdecode(path), here) for path in wanted)
    request = Request(decision.UNRECORDED, match=lambda found: list(wanted.intersection(found)), named=named)
    with open_bench(ctx, quarantine=True) as bench:
        made = drafted(ctx, bench, request)
        refusals = [left for left in made.left if left.refuses]
        # lines that somebody moved with their file are no person's: the file goes back first
        return refusals, list(ways_out.given_back(ctx, made, refusals))


def _hints(ctx: Context, made: Draft) -> list[str]:
    given = ways_out.for_what_is_kept(ctx, made.session, made.outcomes)
    # Nothing stands in the way, so no hint is needed.
    if all(left.reason == decision.UNCHANGED for left in made.left):
        return given
    moved, back = _moved_away(ctx, made)
    left = [one for one in made.left if one.path not in moved]
    return [*back, *ways_out.after_leaving(ctx, made.session, left), *given]


def _moved_away(ctx: Context, made: Draft) -> tuple[set[bytes], list[str]]:
    """The files that are gone whose lines stand in a new one, and how that goes back.

    To bring them back from HEAD would leave a copy, whose lines are nobody's then.
    """
    gone = {one.path for one in made.left if one.reason == decision.GONE}
    if not gone or ctx.is_agent or made.by_person:
        return set(), []
    found = uncommitted.dirty(ctx.repo, ctx.config)
    fresh = [path for path in found if made.base.lookup_safe(path) is None and path not in made.states]
    refusals, back = refused_to_person(ctx, fresh) if fresh else ([], [])
    return gone & {one.why.path for one in refusals if one.why.kind is Kind.LINES_OF_GONE}, back


def _notes(ctx: Context, made: Draft) -> list[str]:
    notes = []
    if made.head.ref is None:
        # git says so only at checkout, which the committing agent need not have seen.
        notes.append("HEAD is detached; no branch will hold this commit")
    record = sessionfile.read(ctx.layout, made.session) or {}
    # Another worktree is on another branch by git's own rule, so only one that changed here is news.
    started = record.get("branch") if record.get("worktree") == ctx.layout.token else None
    if started and made.head.ref and started != made.head.ref:
        here, there = made.head.branch, str(started).removeprefix("refs/heads/")
        notes.append(f"the session started on branch '{there}' and commits on '{here}'")
    if made.rewound is not None:
        told = f"commit {made.rewound[:7]} of this session is not in HEAD any more"
        notes.append(f"{told} (undone, amended, rebased, or on another branch)")
    return notes + _upstream_notes(ctx, made)


def _upstream_notes(ctx: Context, made: Draft) -> list[str]:
    if ctx.config.get(f"branch.{made.head.branch}.merge") is None:
        return []
    found = list[Note]()
    for path, letter in made.changes.items():
        # Only new files are checked: a changed file meets upstream's in a merge, a new one as "both added".
        theirs = history.upstream_entry(ctx.repo, path) if letter == "A" else None
        if theirs is not None and theirs != made.entries[path]:
            found.append(Note(path, Why(Kind.UPSTREAM_OTHER)))
    return sentences.told(ctx.layout, found)

"""Builds the tree that a commit would have, without the index and without moving anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial

from gitralph.base.kinds import Kind, Why
from gitralph.decide import (
    decide,
    decision,
    df_conflict,
    inputs,
    moved_files,
    offers,
    orphan,
    own_commit,
    persons,
    text_chain,
)
from gitralph.decide.decision import Left, Outcome
from gitralph.decide.inputs import Question, Scene, Wishes
from gitralph.decide.request import Draft
from gitralph.git import blobs, history, refs, uncommitted
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context
from gitralph.git.refs import Head
from gitralph.git.snapshot import Content, Worktree
from gitralph.git.trees import BlockedError, Entry, TreeBuilder, write_trees
from gitralph.hook.journal import Journal, Record
from gitralph.records import path_records
from gitralph.records.path_records import PathState


def _read_states(asked: Question, matches: Collection[bytes] | None) -> dict[bytes, PathState]:
    """What the session has pending now, among the paths that were asked for."""
    if asked.by_person:
        paths = sorted(matches or ())
        return {path: PathState(path, Journal()) for path in paths} | path_records.states_of(
            asked.layout, paths
        )
    states = path_records.recorded_paths(
        asked.layout, list(asked.family), partial(uncommitted.dirty_paths, asked.repo, asked.config)
    )
    if matches is not None:
        states = {path: state for path, state in states.items() if path in matches}
    path_records.add_foreign_claims(asked.layout, states, set(asked.family))
    return states


def candidates(ctx: Context, session: str, exact: Collection[bytes] = ()) -> list[bytes]:
    """The paths that a session's commit would look at; for a person also the new files in ``exact``."""
    if session == decision.UNRECORDED:
        return persons.candidates(ctx, exact)
    family = path_records.family(ctx.layout, session)
    differing = partial(uncommitted.dirty_paths, ctx.repo, ctx.config)
    known = path_records.recorded_paths(ctx.layout, family, differing)
    return sorted({*known, *offers.paths(ctx, family)})


def build(
    ctx: Context,
    bench: Workbench,
    session: str,
    wishes: Wishes,
    matches: Iterable[bytes] | None,
    unwritten: Mapping[bytes, Record] | None = None,
    instead: Mapping[bytes, Content] | None = None,
    family: list[str] | None = None,
    writing: bool = True,
) -> Draft:
    """Decide every pending path of a session and build the tree. ``matches`` limits the paths.

    ``unwritten`` are records that count as if the journals held them already. ``instead`` are contents to
    judge in place of the files; only records up to the one that left such a content count. ``family``
    replaces the session's own family. A caller that needs no tree passes ``writing=False``; its git runs no
    filter.

    Raises Fatal for damage. A refusal raises nothing: it is in the draft.
    """
    head = refs.read_head(ctx.repo)
    family = path_records.family(ctx.layout, session) if family is None else family
    wanted = None if matches is None else set(matches)
    is_named = wanted is not None
    if family == [decision.UNRECORDED]:
        wanted, gone = persons.asked_for(ctx, wanted)
        instead = {**gone, **(instead or {})}
    with Worktree(ctx.repo.root, instead) as worktree:
        asked = inputs.question(ctx, bench, worktree, head, family, wishes)
        base = asked.reader
        look = inputs.look if writing else inputs.look_unfiltered
        scene, offered = _read(ctx, asked, look, head, wanted, unwritten or {}, instead or {}, is_named)
        states = {path: state for path, state in scene.states.items() if path not in offered}
        outcomes, together = _decide_all(scene, states, is_named)
        draft = Draft(
            head=head,
            session=session,
            base=base,
            start=scene.reader,
            tree=base.root or b"",
            outcomes=tuple(outcomes),
            left=tuple(left for found in outcomes for left in found.left),
            states=states,
            together=tuple(together),
            family=asked.family,
            rewound=own_commit.rewound(ctx, session) if writing and session else None,
        )
        draft = df_conflict.settle(scene, _with_entries(scene, draft))
        if wishes.skip_entangled:
            # a path that is in the draft all the same has only some lines left out
            draft = draft.leaving([one for one in draft.refusals if one.path not in draft.entries])
    return rebuilt(ctx, bench, draft) if writing else draft


def _read(
    ctx: Context,
    asked: Question,
    look: Callable[[Question, Mapping[bytes, PathState]], Scene],
    head: Head,
    wanted: Collection[bytes] | None,
    unwritten: Mapping[bytes, Record],
    instead: Mapping[bytes, Content],
    is_named: bool,
) -> tuple[Scene, Collection[bytes]]:
    """Read records and files as they were at one moment; name the paths that shell commands only offer.

    A lock on the journals would make hooks wait for a commit, and they never may. So this reads the records,
    looks at the files, and reads again when a record came meanwhile. A path that changes three times in a row
    is `stale`.
    """
    for once_more in (True, True, False):
        states = _read_states(asked, wanted)
        for path, content in instead.items():
            if path in states:
                # A repository hook saw the file as the index had it. A record made afterwards tells of
                # another text.
                states[path] = (
                    path_records.as_of(states[path], text_chain.content_id(content)) or states[path]
                )
        for path, record in unwritten.items():
            if path in states:
                states[path].add(record)
        # each reading makes its copies afresh, in a bench of its own
        inner = asked.bench.inner(ctx.repo.common_dir)
        start = orphan.start(ctx, inner.folder, asked.reader, head, states)
        taken, offered = _offered(ctx, asked, states, wanted)
        states |= taken
        scene = look(replace(asked, bench=inner, reader=start), {**states, **offered})
        # A path with an unwritten record is not read again: the new reading would not hold that record.
        seen = {path: None if path in unwritten else _as_seen(scene, path) for path in _grown(scene, states)}
        fitting = {path: state for path, state in seen.items() if state is not None}
        states, grown = {**states, **fitting}, seen.keys() - fitting.keys()
        if not (grown and once_more):
            break
    stale = {path: Left(path, decision.STALE, Why(Kind.KEEPS_CHANGING)) for path in grown}
    scene = replace(scene, states={**scene.states, **fitting}, barred={**stale, **scene.barred})
    if asked.by_person:
        barred, aside = persons.barred(ctx, scene, is_named)
        scene = replace(scene, barred={**barred, **scene.barred}, aside=aside)
    return scene, offered.keys()


def _offered(
    ctx: Context, asked: Question, states: Mapping[bytes, PathState], wanted: Collection[bytes] | None
) -> tuple[dict[bytes, PathState], dict[bytes, PathState]]:
    """Look at what shell commands changed in further paths.

    Returns the paths that the session gets, and those that it is only offered.
    """
    taken: dict[bytes, PathState] = {}
    offered: dict[bytes, PathState] = {}
    for state in states.values():
        offers.give(state, asked.own, asked.wishes, asked.config)
    for path in offers.paths(ctx, asked.own):
        if path in states or (wanted is not None and path not in wanted):
            continue
        state = path_records.path_state(asked.layout, path, [])
        if offers.give(state, asked.own, asked.wishes, asked.config):
            path_records.add_foreign_claims(asked.layout, {path: state}, set(asked.family))
            taken[path] = state
        elif offers.of(state, asked.own):
            offered[path] = state
    return taken, offered


def _grown(scene: Scene, states: Mapping[bytes, PathState]) -> list[bytes]:
    """The paths whose journal has grown since it was read."""
    return [p for p, s in states.items() if path_records.journal_bytes(scene.layout, p) != s.journal.length]


def _as_seen(scene: Scene, path: bytes) -> PathState | None:
    """The path's state when its file was read; None when no record of that time tells of that text.

    Without this every reading would fail beside an agent that writes twenty times a second.
    """
    if path not in scene.contents:
        return None
    old = scene.states[path].journal
    last = old.records[-1].offset if old.records else 0
    now = path_records.path_state(
        scene.layout, path, [path_records.claims(scene.layout, name) for name in scene.family]
    )
    path_records.add_foreign_claims(scene.layout, {path: now}, set(scene.family))
    offers.give(now, scene.own, scene.wishes, scene.config)
    return path_records.as_of(now, text_chain.content_id(scene.contents[path]), last)


def _decide_all(
    scene: Scene, states: Mapping[bytes, PathState], is_named: bool
) -> tuple[list[Outcome], list[tuple[bytes, bytes]]]:
    """The outcome of each path, in order, and the pairs of paths of which a commit has both or neither."""
    found = [Outcome(path, left=(left,)) for path, left in scene.barred.items()]
    found += [decide.decide(scene, state) for path, state in states.items() if path not in scene.barred]
    found, together = moved_files.settle(scene, sorted(found, key=lambda one: one.path), is_named)
    return offers.settle(scene, found), together


def _with_entries(scene: Scene, draft: Draft) -> Draft:
    """The draft with a blob for each path that is taken: the file's own, or one of the separated text."""
    made: dict[bytes, Content] = {}
    how = {}
    links = {found.path: found.entry for found in draft.outcomes if found.entry is not None}
    now = {**scene.entries, **links}
    entries: dict[bytes, Entry | None] = {}
    for found in draft.outcomes:
        if found.content is None:
            continue
        how[found.path] = found.how
        if found.path in links or found.content == scene.contents.get(found.path):
            entries[found.path] = now.get(found.path)
        else:
            made[found.path] = found.content
    if made:
        entries |= blobs.blobs_for(scene.bench, "made", made, scene.reader, scene.worktree)
    # A filter or an undo can lead back to HEAD's blob and mode. A commit does not list such a path, as git
    # does not.
    changed = {path: entry for path, entry in entries.items() if entry != draft.base.entry(path)}
    return draft._replace(entries=changed, now=now, how=how)


def rebuilt(ctx: Context, bench: Workbench, draft: Draft) -> Draft:
    """The draft with the tree of its entries; new folders are written as tree objects."""
    # The tree starts from HEAD's, not from the index: what is staged belongs to the user.
    builder = TreeBuilder(draft.base)
    tree = builder.build(draft.entries)
    write_trees(bench.objects_dir(ctx.repo.common_dir), builder.new, lasting=bench.lasting)
    return draft._replace(tree=tree, trees=tuple(builder.new))


def moved_on(ctx: Context, bench: Workbench, made: Draft, head: Head) -> Draft | None:
    """The draft on top of a HEAD that has moved on; None where everything must be decided anew.

    The decisions stay valid where HEAD still holds, on every path that was looked at, what it held before.
    """
    if made.start is not made.base or head.ref != made.head.ref or not made.head.oid:
        return None
    if not refs.contains(ctx.repo, head, made.head.oid):
        return None  # after a reset or an amend other lines may be pending
    base = history.base_of(ctx.repo, head)
    paths = {
        *made.states,
        *made.entries,
        *(one.path for one in made.outcomes),
        *(one.path for one in made.left),
    }
    if any(base.lookup_safe(path) != made.base.lookup_safe(path) for path in paths):
        return None
    try:
        return rebuilt(ctx, bench, made._replace(head=head, base=base, start=base))
    except BlockedError:  # HEAD now has a file where the folder of a new path would be
        return None

"""Builds the tree a commit would have, without the index and without moving anything."""

import errno
import tempfile
from collections.abc import Container, Iterable, Mapping

from gitralph.base import files
from gitralph.base.errors import Fatal
from gitralph.commit import decide, decision, history
from gitralph.commit.decision import Left, Outcome
from gitralph.commit.history import base_of
from gitralph.commit.inputs import Scene, Wishes
from gitralph.commit.request import Draft
from gitralph.context import Context
from gitralph.git import blobs, refs
from gitralph.git.blobs import Workbench
from gitralph.git.refs import Head
from gitralph.git.snapshot import Content, Worktree
from gitralph.git.trees import GITLINK, TreeBuilder, TreeReader, write_trees
from gitralph.hook.journal import Record
from gitralph.journal import pending
from gitralph.journal.pending import PathState
from gitralph.shell import attribution


def _read_states(
    ctx: Context, family: list[str], matches: Container[bytes] | None, undone: list[str]
) -> dict[bytes, PathState]:
    """What the session has pending now, among the paths that were asked for."""
    states = pending.pending_paths(ctx.layout, family, undone=bool(undone))
    if matches is not None:
        states = {path: state for path, state in states.items() if path in matches}
    pending.add_foreign_claims(ctx.layout, states, set(family))
    return states


def candidates(ctx: Context, session: str) -> list[bytes]:
    """The paths that a commit of a session would look at."""
    family = pending.family(ctx.layout, session)
    undone = history.undone(ctx.repo, ctx.layout, family)
    known = pending.pending_paths(ctx.layout, family, undone=bool(undone))
    return sorted({*known, *attribution.paths(ctx, family)})


def _grown(scene: Scene, states: dict[bytes, PathState]) -> list[bytes]:
    """The paths that got a record since their journal was read."""
    return [p for p, s in states.items() if pending.journal_bytes(scene.layout, p) != s.journal.length]


def build(
    ctx: Context,
    bench: Workbench,
    session: str,
    wishes: Wishes,
    matches: Iterable[bytes] | None,
    unwritten: Mapping[bytes, Record] | None = None,
) -> Draft:
    """Decide every pending path of a session and build the tree. ``matches`` limits the paths.

    ``unwritten`` are records that count as if they were in the journals already.

    Raises Fatal for damage; refusals are in the draft.
    """
    head = refs.read_head(ctx.repo)
    base = base_of(ctx, head)
    family = pending.family(ctx.layout, session)
    wanted = None if matches is None else set(matches)
    undone = history.undone(ctx.repo, ctx.layout, family)
    with Worktree(ctx.repo.root) as worktree:
        # No lease on the journal: hooks must never wait for a commit. Read, look at the files, see whether a
        # record came meanwhile, and read again; a path that changes three times in a row is `stale`.
        for once_more in (True, True, False):
            # a bench of its own: every reading makes its copies afresh
            inner = Workbench.make(bench.folder, bench.git, ctx.repo.common_dir, quarantine=False)
            states = _read_states(ctx, family, wanted, undone)
            for path, record in (unwritten or {}).items():
                if path in states:
                    states[path].add(record)
            start = _start(ctx, inner.folder, base, head, states)
            scene = Scene(ctx.repo, ctx.config, ctx.layout, inner, start, worktree, family, wishes, head.oid)
            offered = attribution.survey(ctx, base, head.oid, family, wishes.with_shell, wanted, states)
            left = decide.look(scene, {**states, **offered.states})
            grown = _grown(scene, states)
            if not (grown and once_more):
                break
        left |= {p: Left(p, decision.STALE, "it keeps changing; try again") for p in grown if p not in left}
        decided = _decide_all(scene, states, left)
        together = _settle_moves(scene, states, decided)
        found = attribution.settle(scene, offered, decided, left)
        draft = Draft(
            head, session, base, scene.reader, base.root or b"", found, states=states, now=scene.entries,
            together=together + attribution.moved(offered),
        )  # fmt: skip
        draft.undone = undone
        _take_entries(scene, draft)
        _settle_places(scene, draft)
        for one in draft.refusals if wishes.skip_entangled else []:
            if one.path not in draft.entries:  # else only some lines of it are left
                draft.leave(one)
    rebuild_tree(ctx, bench, draft)
    return draft


def _decide_all(scene: Scene, states: dict[bytes, PathState], left: dict[bytes, Left]) -> list[Outcome]:
    out = [Outcome(path, left=[reason]) for path, reason in left.items()]
    out += [decide.decide(scene, state) for path, state in states.items() if path not in left]
    return sorted(out, key=lambda one: one.path)


def _take_entries(scene: Scene, draft: Draft) -> None:
    """Blobs of what is taken: as they stand, or of the text that separation made."""
    made: dict[bytes, Content] = {}
    for found in draft.outcomes:
        draft.left += found.left
        if not found.taken or found.content is None:
            continue
        draft.how[found.path] = found.how
        if found.content == scene.contents.get(found.path) or found.content.mode == GITLINK:
            draft.entries[found.path] = scene.entries.get(found.path)
        else:
            made[found.path] = found.content
    if made:
        draft.entries |= blobs.blobs_for(scene.bench, "made", made, scene.reader, scene.worktree)
    # Same blob and mode as HEAD, after a filter or an undo: a commit does not list it, as git does not.
    for path in [p for p, e in draft.entries.items() if e == draft.base.entry(p)]:
        del draft.entries[path]


def _start(
    ctx: Context, folder: str, base: TreeReader, head: Head, states: dict[bytes, PathState]
) -> TreeReader:
    if all(base.lookup_safe(path) is not None for path in states):
        return base
    from gitralph.commit import orphan

    return orphan.start(ctx, folder, base, head, states)


def _settle_moves(
    scene: Scene, states: dict[bytes, PathState], decided: list[Outcome]
) -> list[tuple[bytes, bytes]]:
    if not any(r.op == "rename-to" for s in states.values() for r in s.journal.records):
        return []
    from gitralph.commit import moved_files

    return moved_files.settle(scene, states, decided)


def _settle_places(scene: Scene, draft: Draft) -> None:
    from gitralph.commit import df_conflict

    df_conflict.settle(scene, draft)


def rebuild_tree(ctx: Context, bench: Workbench, draft: Draft) -> None:
    """Build and write the tree of ``draft.entries``."""
    builder = TreeBuilder(draft.base)
    draft.tree = builder.build(draft.entries)
    draft.trees = list(builder.new)
    write_trees(bench.objects_dir(ctx.repo.common_dir), builder.new.values())


def open_bench(ctx: Context, quarantine: bool) -> Workbench:
    """A private folder in the state's ``tmp``; with ``quarantine`` no object leaves it.

    Who only looks may do so where the state cannot be written: in the system's folder then.
    """
    parent = ctx.layout.tmp
    try:
        files.make_folder(parent)
        return Workbench.make(parent, ctx.git, ctx.repo.common_dir, quarantine)
    except OSError as error:
        if quarantine:
            pass
        elif error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise Fatal(f"cannot commit: '{ctx.layout.top}' cannot be written: {error.strerror}") from error
        else:
            raise
    return Workbench.make(tempfile.gettempdir(), ctx.git, ctx.repo.common_dir, quarantine)

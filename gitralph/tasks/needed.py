"""Whether a journal is still needed, for ``gc``; content decides, not a mark of some commit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise

from gitralph.base.errors import Fatal
from gitralph.decide import inputs, path_texts, text_chain
from gitralph.decide.inputs import Scene, open_bench
from gitralph.git import refs
from gitralph.git.context import Context, without_programs
from gitralph.git.snapshot import Worktree
from gitralph.hook.journal import RENDERED, Journal
from gitralph.lines import owners
from gitralph.lines.terms import GAP
from gitralph.records.path_records import PathState
from gitralph.records.sweep import A_WHILE, NO, YES
from gitralph.tasks import vouching
from gitralph.tasks.vouching import Commits


def how(ctx: Context, path: bytes, found: Journal, commits: Commits) -> str:
    """How long a journal is needed.

    That is while its owner still has something to commit of which it tells; and as long as any of its
    sessions is remembered, where the commits alone would say something else of a line than it does.
    """
    # Its sessions were forgotten, since a hook writes the manifest first under the same lock; only offers may
    # be left.
    offered = any(record.may for record in found.records)
    if not offered and not any(os.path.lexists(ctx.layout.manifest(name)) for name in found.sessions()):
        return NO
    try:
        with _looked(ctx, PathState(path, found)) as scene:
            if scene.barred:
                return YES
            state = scene.states[path]
            found_so = _how(scene, state)
            is_told = found_so == YES or vouching.tell_all(ctx, scene, state, commits)
            return found_so if is_told else YES
    except Fatal:  # what cannot be read may have something pending
        return YES


@contextmanager
def _looked(ctx: Context, state: PathState) -> Iterator[Scene]:
    """The scene of one path as it stands now."""
    quiet = without_programs(ctx)
    with (
        closing(quiet.repo),
        open_bench(quiet, quarantine=True) as bench,
        Worktree(quiet.repo.root) as worktree,
    ):
        asked = inputs.question(quiet, bench, worktree, refs.read_head(quiet.repo), family=())
        yield inputs.look_unfiltered(asked, {state.path: state})


def _how(scene: Scene, state: PathState) -> str:
    records, content = state.journal.records, scene.contents[state.path]
    if state.path in scene.ignored and all(record.may for record in records):
        return NO  # what shell commands made there is nobody's, and will never be committed
    is_clean = scene.is_as_in_head(state.path)
    ends = bool(records) and records[-1].after == text_chain.content_id(content)
    is_exact = all(record.is_exact for record in records)
    # The file may still hold the lines as they were before a hook rewrote them for a commit.
    if any(record.op == RENDERED for record in records):
        return A_WHILE if is_clean else YES
    # A recorded edit took it back: whoever did that may change its mind.
    if is_clean and ends and any(record.before == records[-1].after for record in records):
        return A_WHILE
    # The usual case needs no weave: each record starts where the one before it ended.
    if is_clean and ends and is_exact and all(one.after == two.before for one, two in pairwise(records)):
        return NO
    if state.journal.damaged or not is_exact or not path_texts.has_lines(scene, state):
        return YES if not is_clean else NO if ends else A_WHILE
    known = path_texts.read(scene, state)
    if known.has_binary:
        return YES if not is_clean else A_WHILE
    offered = {f"{GAP}{r.offset}" for r in records if r.may}
    if not is_clean and (
        owners.pending(known.pieces) or not offered.isdisjoint(owners.showing(known.pieces))
    ):
        return YES
    return A_WHILE if owners.may_return(known.pieces) else NO

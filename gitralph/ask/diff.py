"""``git ralph diff``: the patch that commit would record, and what nobody recorded; from a quarantine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace

from gitralph.commit.preview import drafted, result_of
from gitralph.decide import plan
from gitralph.decide.decision import Left
from gitralph.decide.inputs import Wishes, open_bench
from gitralph.decide.request import Request, Result
from gitralph.git import uncommitted
from gitralph.git.blobs import Workbench, blobs_for
from gitralph.git.config import Config
from gitralph.git.context import Context, without_programs
from gitralph.git.snapshot import LeadsOutError, Worktree
from gitralph.git.trees import EMPTY_TREE, Entry, TreeBuilder, TreeReader, write_trees
from gitralph.records import manifests

Match = Callable[[Iterable[bytes]], list[bytes]]


def render(ctx: Context, request: Request, options: Sequence[str] = ()) -> tuple[Result, bytes]:
    """The patch that would be committed, and what stays out; refused paths are not in the patch.

    The patch is what ``git diff`` with ``options`` shows between HEAD and the commit, without textconv or
    helpers.
    """
    with open_bench(ctx, quarantine=True) as bench:
        made = drafted(ctx, bench, request)
        result = result_of(ctx, made, "dry-run" if made.entries else "nothing")
        return result, _diff(ctx, bench, made.base.root, made.tree, options)


def unrecorded(ctx: Context, match: Match | None, options: Sequence[str] = ()) -> tuple[list[Left], bytes]:
    """The patch of what nobody recorded, and the paths where that cannot be told.

    It leads from HEAD with every session's edits to the files as they stand.
    """
    ctx = without_programs(ctx)
    # With the usual setting unrecorded corrections would count as the edits that they correct.
    strict = replace(ctx, config=Config({**ctx.config.values, "ralph.unrecorded": "leave"}))
    with closing(ctx.repo), open_bench(ctx, quarantine=True) as bench:
        names = manifests.sessions_here(ctx.layout)
        made = plan.build(strict, bench, "", Wishes(), None, family=names, writing=False)
        dirty = uncommitted.dirty_paths(ctx.repo, ctx.config)
        untold = {left.path for left in made.refusals}
        paths = [path for path in (match(dirty) if match else dirty) if path not in untold]
        recorded = {path: made.entries[path] for path in paths if path in made.entries}
        now = _now(ctx, bench, made.base, paths)
        text = _diff(
            ctx, bench, _tree(ctx, bench, made.base, recorded), _tree(ctx, bench, made.base, now), options
        )
        return [left for left in made.refusals if left.path in set(dirty)], text


def _now(ctx: Context, bench: Workbench, base: TreeReader, paths: list[bytes]) -> dict[bytes, Entry | None]:
    """The entries that the files would have."""
    contents = {}
    with Worktree(ctx.repo.root) as worktree:
        for path in paths:
            try:
                contents[path] = worktree.read(path)
            except LeadsOutError:
                continue
        made = blobs_for(bench, "files", contents, base, worktree)
    return {path: made.get(path) for path in contents}


def _tree(
    ctx: Context, bench: Workbench, base: TreeReader, entries: dict[bytes, Entry | None]
) -> bytes | None:
    builder = TreeBuilder(base)
    if not entries:
        return base.root
    root = builder.build(entries)
    write_trees(bench.objects_dir(ctx.repo.common_dir), builder.new, lasting=False)
    return root


def _diff(
    ctx: Context, bench: Workbench, old: bytes | None, new: bytes | None, options: Sequence[str]
) -> bytes:
    if old is None:
        bench.git.try_run("hash-object", "-t", "tree", "-w", "/dev/null")
    words = ["diff", "--no-ext-diff", "--no-textconv", *options]
    return bench.git.at(ctx.repo.root).run(*words, old or EMPTY_TREE, new or EMPTY_TREE)

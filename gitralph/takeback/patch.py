"""What would be written, as a patch for ``git apply``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from gitralph.decide.inputs import open_bench
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context
from gitralph.git.snapshot import Content
from gitralph.git.trees import Entry, TreeBuilder, TreeReader, write_trees
from gitralph.takeback.land_files import Replacement


def render(ctx: Context, changes: Sequence[Replacement], color: bool) -> bytes:
    """The patch from the files as they stand to what they would be, byte for byte."""
    with open_bench(ctx, quarantine=True) as bench:
        with closing(bench.objects(ctx.repo.common_dir)) as objects:
            reader = TreeReader(objects, None)
            trees = []
            for side in ("before", "after"):
                entries = {one.path: _entry(bench, getattr(one, side)) for one in changes}
                builder = TreeBuilder(reader)
                trees.append(builder.build({p: e for p, e in entries.items() if e is not None}))
                write_trees(bench.objects_dir(ctx.repo.common_dir), builder.new, lasting=False)
        words = ["diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--binary"]
        words.append(f"--color={'always' if color else 'never'}")
        return bench.git.at(ctx.repo.root).run(*words, *trees)


def _entry(bench: Workbench, content: Content) -> Entry | None:
    if content.data is None:
        return None
    oid = bench.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=content.data).strip()
    return Entry(content.mode, oid)

"""A plan as HEAD holds it: what a reset or a checkout would put in its place."""

import os

from gitralph.git import blobs, refs
from gitralph.git.context import Context
from gitralph.git.objects import Objects
from gitralph.git.trees import TreeReader
from gitralph.records import checklist


def text(ctx: Context, plan: str) -> bytes | None:
    """HEAD's text of a plan as a checkout would write it; None where HEAD does not hold it."""
    name, head = checklist.relative(ctx, plan), refs.read_head(ctx.repo)
    if os.path.isabs(name) or head.oid is None:
        return None
    objects = Objects(ctx.git)
    try:
        root = ctx.git.line("rev-parse", "--verify", head.oid + "^{tree}").encode()
        entry = TreeReader(objects, root).entry(os.fsencode(name))
    finally:
        objects.close()
    return None if entry is None else blobs.working_form(ctx.git.at(ctx.repo.root), os.fsencode(name), entry)

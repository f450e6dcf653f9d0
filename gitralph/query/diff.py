"""``git ralph diff``: the patch that commit would record, from a quarantine."""

from gitralph.commit import commit
from gitralph.commit.commit import Request, Result
from gitralph.context import Context

_EMPTY_TREE = b"4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def render(ctx: Context, request: Request, *, stat: bool, color: bool) -> tuple[Result, bytes]:
    """What would be committed and what stays out; refused paths are left out of the patch.

    The patch is what ``git diff`` shows between HEAD and the commit, without textconv or helpers.
    """
    result, made, bench = commit.preview(ctx, request)
    try:
        old = made.base.root or _EMPTY_TREE
        if made.base.root is None:
            bench.git.try_run("hash-object", "-t", "tree", "-w", "/dev/null")
        words = ["diff", "--no-ext-diff", "--no-textconv"]
        words += [f"--color={'always' if color else 'never'}"]
        words += ["--stat"] if stat else []
        return result, bench.git.at(ctx.repo.root).run(*words, old, made.tree)
    finally:
        bench.remove()

"""What the guard says of a commit that concludes a merge: it is not narrowed, and no commit replaces it.

The lines of a merge come from two commits, so the guard only asks. Who takes such a commit back and makes
another has no merge any more: the branch would count as not merged.
"""

import os
from collections.abc import Sequence

from gitralph.base import files, nul
from gitralph.base.errors import Refused
from gitralph.base.quote import shown
from gitralph.git import plain_index
from gitralph.git.context import Context
from gitralph.git.typed import as_pathspec
from gitralph.guard import question
from gitralph.guard.question import GuardedPath
from gitralph.hook.journal import is_oid

OPERATION = "a merge"
# Nobody types a line with more names.
_SHOWN = 10


def row(ctx: Context, one: GuardedPath) -> str:
    """What the commit takes of one path of a live session."""
    what = "what" if one.lines is None else f"{one.lines} line{'s'[: one.lines != 1]} that"
    whose = f"live session '{ctx.called(one.session)}'"
    return f"'{shown(one.path)}': this commit takes {what} {whose} did not commit yet"


def refuse(ctx: Context) -> None:
    """Refuse a merge commit of an agent that takes lines of other live sessions."""
    found = question.judge(ctx, question.own(ctx))
    if found:
        raise Refused("\n".join(row(ctx, one) for one in found), *before(ctx, found))


def before(ctx: Context, found: Sequence[GuardedPath]) -> list[str]:
    """The command that concludes the merge without these paths, while it is not concluded yet.

    For a person: an agent may not unstage what somebody else may have staged.
    """
    paths = "" if ctx.is_agent else _paths(ctx, found)
    if not paths:
        return ["git ralph status  # whose it is: a person concludes this merge"]
    place, add = plain_index.given(ctx.environ, ctx.repo.index), ""
    if place is not None and place.form == plain_index.WHOLE:  # with `-a` the rest is not staged yet
        kept = [path for path in question.staged(ctx) if path not in {one.path for one in found}]
        if len(kept) > _SHOWN:
            return []
        add = f"git add -- {_typed(ctx, kept)} && " if kept else ""
    return [f"{add}git restore --staged -- {paths} && git commit --no-edit  # leaves them out of the merge"]


def after(ctx: Context, found: Sequence[GuardedPath]) -> list[str]:
    """The command that takes these paths out of the merge, once git has made it."""
    paths = _paths(ctx, found)
    if not paths:
        return []
    source = "git restore --staged --source=HEAD~"
    return [f"{source} -- {paths} && git commit --amend --no-edit  # leaves them out of the merge"]


def _paths(ctx: Context, found: Sequence[GuardedPath]) -> str:
    """The paths as a person types them; empty where a merged branch changes one, or where they are many."""
    paths = sorted({one.path for one in found})
    if len(paths) > _SHOWN:
        return ""
    for oid in _merged(ctx):
        done = ctx.git.try_run("diff", "--name-only", "-z", "--no-renames", f"HEAD...{oid}")
        # without a common commit, the branch may have changed anything
        if done.returncode or not set(nul.rows(done.stdout)).isdisjoint(paths):
            return ""
    return _typed(ctx, paths)


def _merged(ctx: Context) -> list[str]:
    """The commits that are merged, several in an octopus (git-merge(1): `MERGE_HEAD`)."""
    told = files.read_bytes(f"{ctx.repo.git_dir}/MERGE_HEAD", 4096).decode("ascii", "replace")
    return [oid for oid in told.split() if is_oid(oid)]


def _typed(ctx: Context, paths: Sequence[bytes]) -> str:
    folder = os.path.join(ctx.repo.root, ctx.environ.get("GIT_PREFIX", ""))
    return " ".join(as_pathspec(ctx, path, folder) for path in sorted(paths))

"""Facts a promise is checked against, where configured: a commit, a clean manifest, a command that passes."""

from contextlib import closing

from gitralph.base import gitdir
from gitralph.base.quote import shown
from gitralph.decide import pending_paths
from gitralph.git.context import Context, in_worktree
from gitralph.records.bead import Bead
from gitralph.tasks.worktree import after, where


def _commits(ctx: Context, record: Bead) -> str | None:
    if not ctx.config.boolean("ralph.loop.requirecommit") or not record.base_oid:
        return None
    done = ctx.git.try_run("rev-list", "--count", f"{record.base_oid}..{record.branch}", "--")
    if done.returncode == 0 and done.stdout.strip() != b"0":
        return None
    return f"there is no commit on '{where.short(record.branch)}' since its base"


def _clean(ctx: Context, record: Bead) -> str | None:
    if not ctx.config.boolean("ralph.loop.requireclean") or gitdir.discover(record.path) is None:
        return None
    there = in_worktree(ctx, record.path)
    with closing(there.repo):
        left = {
            path for works in pending_paths.everyone(there).values() for path in pending_paths.counted(works)
        }
    if not left:
        return None
    return "not committed: " + ", ".join(f"'{shown(path)}'" for path in sorted(left)[:20])


def _verify(ctx: Context, record: Bead) -> list[str]:
    seconds = float(ctx.config.get("ralph.loop.verifytimeout") or "600")
    for command in ctx.config.all("ralph.loop.verify"):
        env = after.contract(record.bead, record.path, record.owner)
        ran = after.run_shell(where.open_trees(ctx), command, record.path, env, seconds)
        if ran.code:
            return [f"'{command}' ended with {ran.code}:\n{ran.said}"]
    return []


def missing(ctx: Context, record: Bead) -> list[str]:
    """What stands against accepting the promise, a sentence each."""
    facts = [one for one in (_commits(ctx, record), _clean(ctx, record)) if one]
    # The cheap questions first: a check may run for minutes, for a promise that is refused anyway.
    return facts or _verify(ctx, record)

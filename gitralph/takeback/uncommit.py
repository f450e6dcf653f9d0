"""``git ralph uncommit``: takes the last commit back, if it is this session's and nobody else has it.

The branch goes to the commit before, by compare-and-swap and with both reflogs. Files and staged changes stay
as they are. What the commit took is pending again, since HEAD lacks it.
"""

from dataclasses import dataclass

from gitralph.base import locks
from gitralph.base.errors import Busy, Fatal, Refused
from gitralph.commit import cleanup, land
from gitralph.commit import index as index_plan
from gitralph.commit.land import UNCOMMIT, IndexMovedError, Landing
from gitralph.decide import own_commit
from gitralph.decide.inputs import open_bench
from gitralph.git import carry, commits, index, message, refs
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context, refuse_operation
from gitralph.git.keep import GoneError, Keep
from gitralph.git.refs import Head
from gitralph.words import advice

# Under our lock only plain git wins a race against us. Five such races in a row mean a loop at work (see
# `commit.commit`).
_TRIES = 5


@dataclass(frozen=True)
class CommitTakenBack:
    """The commit that was taken back, the branch that had it, and what it had changed."""

    commit: str
    ref: str
    subject: str
    paths: tuple[bytes, ...]
    staged: frozenset[bytes]
    """Those of the paths of which something was staged, and still is."""


def last_of(ctx: Context) -> str | None:
    """The session that made HEAD's commit, None where no record tells of one."""
    head = refs.read_head(ctx.repo).oid
    found = own_commit.makers(ctx, head) if head else []
    return found[0] if found else None


def uncommit(ctx: Context, session: str) -> CommitTakenBack:
    """Take the commit back. Raises Refused or Busy with nothing moved."""
    bench = open_bench(ctx, quarantine=False)
    with bench, locks.hold(ctx.layout, locks.COMMIT):
        for _ in range(_TRIES):
            cleanup.under_lock(ctx)
            refuse_operation(ctx, "written")
            inner = bench.inner(ctx.repo.common_dir)
            try:
                return _land(ctx, inner, session)
            except (refs.LostRaceError, IndexMovedError, GoneError):
                continue
        raise Busy("HEAD, the index or the objects kept moving", "try again")


def _before(ctx: Context, session: str, head: Head) -> tuple[str, str, own_commit.Old]:
    """HEAD's commit, its parent, and its message. Raises Refused where the commit must stay."""
    if head.oid is None:
        raise Fatal("there is no commit to take back")
    own_commit.refuse_foreign(ctx, session, head.oid, own_commit.TAKEN_BACK)
    old = own_commit.read(ctx.repo, head.oid)
    if len(old.parents) != 1:
        what = "the first commit" if not old.parents else "a merge"
        ways = own_commit.ways_back(ctx, head.oid, "-m", "1") if old.parents else []
        raise Refused(f"commit {head.oid[:7]} is {what}, so it cannot be taken back", *ways)
    return head.oid, old.parents[0], old


def _land(ctx: Context, bench: Workbench, session: str) -> CommitTakenBack:
    head = refs.read_head(ctx.repo)
    commit, before, old = _before(ctx, session, head)
    pairs = carry.changed(ctx.git, commit, before)
    copy = index.copy_index(ctx.repo.index, f"{bench.folder}/user.index")
    plan, kept = index_plan.IndexPlan(), set[bytes]()
    if not copy.missing:
        staged = index.entries(ctx.git, copy, ctx.repo.root, pairs)
        there = {path: staged[path].entry if path in staged else None for path in pairs}
        kept = {path for path, (old, _) in pairs.items() if there[path] != old}
        facts = index_plan.IndexFacts(
            git=bench.git,
            folder=bench.folder,
            staged=staged,
            old={path: old for path, (old, _) in pairs.items()},
            new={path: new for path, (_, new) in pairs.items()},
            now={},
            own=lambda _: {},
            wrote=lambda *_: (),
        )
        plan = index_plan.plan(facts)
    if plan.conflicts:
        raise Refused(
            advice.headline(ctx.layout, plan.conflicts),
            f"git reset --soft {before[:7]}  # leaves the index as it is",
            left=tuple(plan.conflicts),
        )
    if plan.changes:
        index.advance(ctx.git, copy, ctx.repo.root, plan.changes, plan.flags)
    ident = commits.committer_now(commits.with_identity(ctx.git, ctx.config, None))
    subject = message.subject(old.message)
    keep = Keep(bench.git, bench.objects_dir(ctx.repo.common_dir), ctx.repo.common_dir)
    land.land(
        Landing(
            repo=ctx.repo,
            layout=ctx.layout,
            head=head,
            commit=before,
            ident=ident,
            subject=subject,
            copy=copy,
            changes=plan.changes,
            old=plan.old,
            outcomes=(),
            keep=keep,
            kind=UNCOMMIT,
        )
    )
    return CommitTakenBack(commit, head.name, subject, tuple(sorted(pairs)), frozenset(kept))

"""``git ralph commit``: makes a commit of what this session edited, and moves nothing else."""

from __future__ import annotations

import itertools
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace

from gitralph.base import locks
from gitralph.base.errors import Busy, Failed, RalphError, Refused
from gitralph.base.kinds import Kind, Why
from gitralph.base.quote import shown
from gitralph.commit import cleanup, hook_changes, hooks, land, restage, shell_staging
from gitralph.commit import index as index_plan
from gitralph.commit import message as texts
from gitralph.commit.hooks import Taken
from gitralph.commit.preview import drafted, result_of
from gitralph.decide import decision, own_commit, pending_paths, picking, plan
from gitralph.decide.decision import Left
from gitralph.decide.inputs import Entries, open_bench
from gitralph.decide.request import Candidate, Draft, Request, Result
from gitralph.git import blobs, index, message, refs, uncommitted
from gitralph.git import commits as objects
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context, refuse_operation
from gitralph.git.keep import GoneError, Keep
from gitralph.git.refs import Head
from gitralph.git.run import GitError
from gitralph.git.trees import FOLDER, GITLINK, TreeReader
from gitralph.records import passed_over, path_records
from gitralph.words import advice, ways_out
from gitralph.words.ways_out import Ways

# All commits of ours wait for one lock, so only plain git can win a race against a landing. The loser builds
# again only what changed, which takes a fifth of the time. After so many losses git holds the branch
# meanwhile.
_PATIENCE = 2
# Even then one race in twenty is lost (refs.Still). So many losses in a row, or so many seconds, mean a loop
# at work, and it must not keep the lock.
_REBUILDS, _STAY = 10, 5.0
# A `git commit` that meets the branch's lock waits for core.filesRefLockTimeout, 100 ms. The rest of that
# time is for the disk and for the git that moves the branch. In seconds.
_HELD = 0.04
# How often everything is decided anew. Between two tries others get the lock.
_TRIES = 5
# A session that edits while its own hooks run is decided anew. One that goes on editing is told so after so
# many rounds.
_ROUNDS = 3
# Whoever moves HEAD while hooks or a proof run has landed a commit, so somebody always gets on. Still this
# gives up some day.
_RACES = 40


def refuse_left(ctx: Context, request: Request, made: Draft) -> None:
    """Raise Refused for a reason that refuses, unless skipping was asked for; Busy for a changed choice."""
    picking.refuse_moved(made)
    if not made.refusals or request.wishes.skip_entangled:
        return

    with _ways(ctx, request, made) as ways:
        hints = ways.after_refusal(made.refusals)
    raise Refused(advice.headline(ctx.layout, made.refusals), *hints, left=made.left)


@contextmanager
def _ways(ctx: Context, request: Request, made: Draft) -> Iterator[Ways]:
    """The ways out of a refusal. All are tried on one bench, where git makes the blob of a file once."""
    with open_bench(ctx, quarantine=True) as bench:
        yield Ways(ctx, request, made, lambda other: _would_be_made(ctx, bench, other))


def _would_be_made(ctx: Context, bench: Workbench, request: Request) -> bool:
    """True when this commit would be made now, hooks left aside."""
    inner = bench.inner(ctx.repo.common_dir)
    made = drafted(ctx, inner, request)
    if made.refusals and not request.wishes.skip_entangled:
        return False
    made = _without_staged(ctx, inner, request, made)
    return bool(made.entries) and not _index_plan(ctx, inner, made)[1].conflicts


def dry_run(ctx: Context, request: Request) -> Result:
    """What commit would do. Raises Refused as commit would."""
    refuse_operation(ctx, "committed")
    own_commit.check(ctx, request)
    lost = _passed_over(ctx, request)
    with open_bench(ctx, quarantine=True) as bench:
        made = drafted(ctx, bench, request)
        refuse_left(ctx, request, made)
        made = _without_staged(ctx, bench, request, made)
        checked_index(ctx, bench, request, made)
        found = None
        if request.judge is not None and made.entries:
            outside = bench.objects_dir(ctx.repo.common_dir)
            found = request.judge(Candidate(made.tree.decode(), made.head.oid, made.session, outside))
    result = result_of(ctx, made, "dry-run" if made.entries else "nothing")
    return (result.noting(*lost))._replace(proof=found)


def _passed_over(ctx: Context, request: Request) -> list[str]:
    """Warnings for lines of a manifest that name no path, collected before the commit reads past them."""
    found = passed_over.warnings(ctx.layout, path_records.family(ctx.layout, request.session))
    return [f"warning: {text}" for text in found]


def commit(ctx: Context, request: Request) -> Result:
    """Make the commit. Raises Refused, Failed, Busy or Fatal with nothing moved."""
    bench, lost = open_bench(ctx, quarantine=False), _passed_over(ctx, request)
    with bench:
        try:
            result = _until_it_lands(ctx, bench, request)
        except Refused:
            restage.due(ctx, request.session)  # put back what the session's shell staged
            raise
    if result.commit:
        _see_filtered(ctx, result)
    # The post-commit hook runs without the lock: it must be able to commit again, as with git (githooks(5)).
    # It does so with plain git, under the guard, from the user's index.
    if result.commit and hooks.present(ctx, ("post-commit",)):
        git = ctx.outer.at(ctx.repo.root, GIT_EDITOR=":", GIT_PREFIX="")
        hooks.Stage(git, ctx.repo.hooks_dir, ctx.repo.root).run("post-commit")
    return result.noting(*lost)


def _see_filtered(ctx: Context, result: Result) -> None:
    """Let git look once at the filtered files that were committed.

    The index then knows that they are clean, which whoever looks without running a filter cannot find out.
    """
    with suppress(GitError):  # the commit is made by now
        filtered = blobs.filtered_paths(ctx.git.at(ctx.repo.root), ctx.config, result.changes)
        if filtered:
            uncommitted.refresh(ctx.repo, filtered)


@dataclass(frozen=True)
class _Prepared:
    """What hooks, editor and judge made of a draft, while no lock was held."""

    made: Draft | None = None
    """The draft that they saw, where they changed none of its files."""
    entries: Entries = field(default_factory=dict)
    taken: Taken = field(default_factory=Taken)
    message: bytes = b""
    judged: bytes | None = None
    """The tree that was judged: no other tree may land."""
    proof: dict[str, object] | None = None
    recorded: bool = False
    """The journals hold what the hook rewrote."""

    def expected(self, base: TreeReader) -> Entries:
        """What the commit holds with the hook's changes."""
        both = {**self.entries, **self.taken.entries}
        return {path: entry for path, entry in both.items() if entry != base.entry(path)}


class _ChangedError(Exception):
    """What would be committed now is not what the hooks, the editor or the judge saw."""


def _until_it_lands(ctx: Context, bench: Workbench, request: Request) -> Result:
    """Make the commit, and begin again whatever moved: HEAD, the index, a journal, or an object.

    This is the only place that begins again; every round reads everything anew. Plain git takes no lock of
    ours, so HEAD or the index may move under us. What the hooks made of the commit stays valid as long as the
    commit is the same. Otherwise the hooks run again, and so does the proof. Where HEAD stayed, the commit is
    what the hooks saw, as with git: what is edited meanwhile is for the next one.
    """
    # Hooks, editors and proofs may take minutes. So they run before the lock for which every committer waits.
    at_leisure = request.edit or request.judge is not None or bool(hooks.present(ctx, hooks.BEFORE))
    typed = texts.Typed(ctx.repo.git_dir)
    ready: _Prepared | None = None
    seen: refs.Head | None = None
    lost = edited = raced = 0
    try:
        while True:
            try:
                if at_leisure and ready is None:
                    seen = refs.read_head(ctx.repo)
                    ready = _prepared(ctx, bench, request, typed)
                with locks.hold(ctx.layout, locks.COMMIT):
                    cleanup.under_lock(ctx)
                    if ready is not None and ready.taken.records and not ready.recorded:
                        _record_rewrites(ctx, bench, request, ready)
                        request = picking.after_hook(request, ready.taken.entries)
                        ready = replace(ready, recorded=True)
                    result = _committed(ctx, bench, request, ready)
                break
            except (refs.LostRaceError, land.IndexMovedError, GoneError) as error:
                lost += 1
                if isinstance(error, GoneError) and ready is not None:
                    ready = replace(ready, made=None)
                if lost == _TRIES:
                    raise Busy("HEAD, the index or the objects kept moving", "try again") from None
            except (_ChangedError, hooks.MovedError):
                is_race = request.judge is not None or refs.read_head(ctx.repo) != seen
                ready, lost = None, 0
                edited, raced = edited + (not is_race), raced + is_race
                if edited == _ROUNDS or raced == _RACES:
                    what = "hooks" if request.judge is None else "proof"
                    raise Busy(
                        f"HEAD or the session's paths kept changing while the {what} ran", "try again"
                    ) from None
    except RalphError as error:
        error.hints += typed.hints(ways_out.commit_of(ctx, request.session))
        raise
    typed.drop()
    return result


def _prepared(ctx: Context, bench: Workbench, request: Request, typed: texts.Typed) -> _Prepared:
    """Let hooks, editor and judge see the commit as it would be made now."""
    with locks.hold(ctx.layout, locks.COMMIT):
        cleanup.under_lock(ctx)
    inner = bench.inner(ctx.repo.common_dir)
    made = _checked_draft(ctx, inner, request)
    if not made.entries and not request.may_be_empty:
        return _Prepared()
    checked_index(ctx, inner, request, made)
    before, taken = made.entries, Taken()
    if not request.edit and not hooks.present(ctx, hooks.BEFORE):
        ready = _Prepared(made, before, taken, texts.compose(ctx, request, made))
        return _judged(ctx, inner, request, made, ready)
    is_alone = hooks.alone(ctx, made.entries, made.now)
    stage = hooks.open_stage(ctx, inner.folder, made.tree, made.head, is_alone)
    with closing(stage):
        if request.verify and hooks.present(ctx, ("pre-commit",)):
            taken = hook_changes.run(ctx, inner, made, stage)
        if not _Prepared(made, before, taken).expected(made.base) and not request.may_be_empty:
            raise Failed(
                "the 'pre-commit' hook took back all that this session changed; nothing was committed",
                "git ralph status  # what is left",
            )
        text = texts.through_hooks(ctx, inner, request, made, stage, typed)
        ready = _Prepared(None if taken.entries else made, before, taken, text)
    return _judged(ctx, inner, request, made, ready)


def _checked_draft(ctx: Context, bench: Workbench, request: Request) -> Draft:
    """The draft of a commit that may be made. Raises Refused or Fatal for one that may not."""
    refuse_operation(ctx, "committed")
    own_commit.check(ctx, request)
    made = drafted(ctx, bench, request)
    refuse_left(ctx, request, made)
    return _without_staged(ctx, bench, request, made)


def _judged(ctx: Context, bench: Workbench, request: Request, made: Draft, ready: _Prepared) -> _Prepared:
    """Add what the judge, if any, found on the tree as the hooks left it. Raises Failed."""
    if request.judge is None:
        return ready
    made = plan.rebuilt(ctx, bench, made._replace(entries=ready.expected(made.base)))
    found = request.judge(Candidate(made.tree.decode(), made.head.oid, made.session))
    return replace(ready, judged=made.tree, proof=found)


def _committed(ctx: Context, bench: Workbench, request: Request, ready: _Prepared | None) -> Result:
    """Build on the present state and land. Raises an error of its own for each thing that may have moved."""
    inner = Workbench.make(bench.folder, ctx.git, ctx.repo.common_dir, quarantine=True)
    if ready is not None and ready.made is not None and ready.made.head == refs.read_head(ctx.repo):
        refuse_operation(ctx, "committed")
        made = plan.rebuilt(ctx, inner, ready.made)
    else:
        made = _checked_draft(ctx, inner, request)
    if not made.entries and not request.may_be_empty:
        log_void(ctx, made)
        if made.rewound is not None:
            own_commit.told_of(ctx, made.session, made.rewound)
        return result_of(ctx, made, "nothing")
    if ready is None:
        result = _landed(ctx, inner, request, made, texts.compose(ctx, request, made))
    else:
        result = _landed(ctx, inner, request, _laid_over(ctx, inner, made, ready), ready.message)
    hooks.drop_patch(ctx, request.session)  # drop an older patch, before this commit may leave its own
    if ready is None:
        return result
    return (result.noting(*hook_changes.notes(ctx, bench, request.session, ready.taken)))._replace(
        proof=ready.proof
    )


def _record_rewrites(ctx: Context, bench: Workbench, request: Request, ready: _Prepared) -> None:
    """Record what the hook rewrote as this session's, once a draft shows that exactly this results."""
    hook_changes.keep_texts(ctx, ready.taken)
    inner = Workbench.make(bench.folder, ctx.git, ctx.repo.common_dir, quarantine=True)
    rewritten = picking.after_hook(request, ready.taken.entries)
    made = _without_staged(ctx, inner, request, drafted(ctx, inner, rewritten, ready.taken))
    if made.entries == ready.expected(made.base):
        hook_changes.write(ctx, made, ready.taken)
        return
    made = _without_staged(ctx, inner, request, drafted(ctx, inner, request))
    if made.entries != ready.entries:
        raise _ChangedError
    raise hook_changes.refused(ctx, inner, made, ready.taken.pairs)


def _laid_over(ctx: Context, bench: Workbench, made: Draft, ready: _Prepared) -> Draft:
    """The draft with the hook's changes. Raises _ChangedError where the draft is not what the hook saw."""
    expected = ready.expected(made.base)
    if made.entries not in (ready.entries, expected):
        raise _ChangedError
    how = {**dict.fromkeys(ready.taken.entries, decision.WHOLE_FILE), **made.how}
    made = plan.rebuilt(ctx, bench, made._replace(entries=expected, how=how))
    # A proof is about one tree, and what else landed meanwhile is in the new tree too.
    if ready.judged is not None and made.tree != ready.judged:
        raise _ChangedError  # HEAD moved, so what was judged is not what would land
    return made


def _without_staged(ctx: Context, bench: Workbench, request: Request, made: Draft) -> Draft:
    """With ``--skip-entangled``: the draft without paths whose staged version conflicts with the commit."""
    if not request.wishes.skip_entangled:
        return made
    while made.entries and (conflicts := _index_plan(ctx, bench, made)[1].conflicts):
        made = plan.rebuilt(ctx, bench, made.leaving(conflicts))
    return made


def checked_index(
    ctx: Context, bench: Workbench, request: Request, made: Draft
) -> tuple[index.IndexCopy, index_plan.IndexPlan]:
    """A copy of the user's index, and the plan of what it holds after a commit of this draft.

    Raises Refused where a staged version stands in the way.
    """
    copy, plan = _index_plan(ctx, bench, made)
    if plan.conflicts:
        with _ways(ctx, request, made) as ways:
            hints = ways.after_staged(plan.conflicts)
        left = (*made.left, *plan.conflicts)
        raise Refused(advice.headline(ctx.layout, plan.conflicts), *hints, left=left)
    return copy, plan


def _index_plan(ctx: Context, bench: Workbench, made: Draft) -> tuple[index.IndexCopy, index_plan.IndexPlan]:
    copy = index.copy_index(ctx.repo.index, f"{bench.folder}/user.index")
    if copy.missing and made.head.oid is not None:
        return copy, index_plan.IndexPlan()  # somebody removed the index, so no entry of it is to be kept
    # git commits nothing while an entry has conflict stages, not even other paths. Neither do we.
    unmerged = index.has_unmerged(ctx.git, copy, ctx.repo.root)
    agents, unsettled = ({}, []) if made.by_person else shell_staging.of(ctx, made.family)
    unmerged = unmerged or unsettled  # what an agent's `git add -A` took out of a conflict is put back there
    if unmerged:
        left = tuple(Left(path, decision.UNMERGED, Why(Kind.UNMERGED)) for path in unmerged)
        raise Refused(
            f"the index has unmerged entries: '{shown(unmerged[0])}'",
            *ways_out.unmerged(ctx, unmerged),
            left=left,
        )
    there = index.entries(ctx.git, copy, ctx.repo.root, {*made.entries, *agents})
    staged = _without_agents(there, agents)
    facts = index_plan.IndexFacts(
        git=bench.git,
        folder=bench.folder,
        staged=staged,
        old={path: made.start.entry(path) for path in made.entries},
        new=made.entries,
        now=made.now,
        own=lambda path: index_plan.own_states(ctx.layout, made, path, staged.get(path)),
        wrote=lambda path, head: index_plan.own_lines(
            ctx.layout, made, path, head, facts.text(facts.there(path))
        ),
    )
    found = _with_agents(index_plan.plan(facts), there, agents)
    return copy, found._replace(conflicts=(*found.conflicts, *_pushed_aside(ctx, copy, made)))


def _without_agents(
    there: Mapping[bytes, index.Staged], agents: Mapping[bytes, shell_staging.PutBack]
) -> dict[bytes, index.Staged]:
    """The index as the person had staged it, before this session's shell staged something."""
    found = {path: mark for path, mark in there.items() if path not in agents}
    for path, one in agents.items():
        if one.before is not None:
            found[path] = index.Staged(one.before, there[path].flags if path in there else "")
    return found


def _with_agents(
    found: index_plan.IndexPlan,
    there: Mapping[bytes, index.Staged],
    agents: Mapping[bytes, shell_staging.PutBack],
) -> index_plan.IndexPlan:
    """The same plan for the index on disk, which also holds what the agent's shell staged."""
    if not agents:
        return found
    changes = {**{path: one.before for path, one in agents.items()}, **found.changes}
    old = {**found.old, **{path: one.now for path, one in agents.items()}}
    changes = {path: entry for path, entry in changes.items() if entry != old[path]}
    flags = {path: there[path].flags if path in there else "" for path in changes}
    return found._replace(changes=changes, old={path: old[path] for path in changes}, flags=flags)


def given_back(
    ctx: Context, bench: Workbench, made: Draft, more: Container[bytes]
) -> tuple[index.IndexCopy, index_plan.IndexPlan, index_plan.IndexPlan]:
    """A copy of the user's index without what this session's shell staged, with two plans.

    The first plan takes out what the shell staged. The second is what a commit of this draft then changes in
    these paths, and in ``more``, as far as it takes them.
    """
    copy, after = _index_plan(ctx, bench, made)
    agents, _ = shell_staging.of(ctx, made.family)
    agents = {p: one for p, one in agents.items() if p not in {left.path for left in after.conflicts}}
    back = {path: one.before for path, one in agents.items()}
    there = index.entries(ctx.git, copy, ctx.repo.root, agents)
    flags = {path: there[path].flags if path in there else "" for path in agents}
    if back:
        index.advance(ctx.git, copy, ctx.repo.root, back, flags)
    later = {p: after.changes.get(p, agents[p].now) for p in agents if p in made.entries}
    later = {path: entry for path, entry in later.items() if entry != back[path]}
    old = {path: back[path] for path in later}
    for path in (p for p in after.changes if p in more and p not in agents):
        later[path], old[path] = after.changes[path], after.old.get(path)
        flags[path] = after.flags.get(path, "")
    return (
        copy,
        index_plan.IndexPlan(back, {path: one.now for path, one in agents.items()}, flags),
        index_plan.IndexPlan(later, old, flags),
    )


def _pushed_aside(ctx: Context, copy: index.IndexCopy, made: Draft) -> list[Left]:
    """Paths where this commit makes a folder a file while the user has staged new files in the folder."""
    out = []
    for path, entry in made.entries.items():
        there = made.base.lookup_safe(path)
        if entry is None or there is None or there.mode != FOLDER:
            continue
        staged = [p for p in index.below(ctx.git, copy, ctx.repo.root, path) if p not in made.entries]
        if staged:
            out.append(Left(path, decision.ENTANGLED, Why(Kind.STAGED_BELOW, path=staged[0])))
    return out


def _landed(ctx: Context, bench: Workbench, request: Request, made: Draft, text: bytes) -> Result:
    """Land a draft on HEAD and index as they are by then. Raises where everything must be decided anew."""
    deadline = time.monotonic() + _STAY
    for lost in itertools.count():
        try:
            if lost < _PATIENCE:
                return _land(ctx, bench, request, made, text)
            with refs.stand_still(ctx.repo, land.WAIT) as still:
                until = time.monotonic() + _HELD
                made = _moved_on(ctx, bench, request, made, still.head)
                return _land(ctx, bench, request, made, text, still, until)
        except (refs.LostRaceError, land.IndexMovedError):
            if lost == _REBUILDS or time.monotonic() >= deadline:
                raise
        if lost + 1 < _PATIENCE:
            made = _moved_on(ctx, bench, request, made, refs.read_head(ctx.repo))
    raise AssertionError("unreachable")


def _moved_on(ctx: Context, bench: Workbench, request: Request, made: Draft, head: Head) -> Draft:
    """The draft on HEAD as it is now. Raises LostRaceError where the decisions may no longer hold."""
    if head == made.head:
        return made
    # An amend is about one commit, a proof about one tree.
    if request.amend or request.judge is not None:
        raise refs.LostRaceError
    refuse_operation(ctx, "committed")
    moved = plan.moved_on(ctx, bench, made, head)
    if moved is None:
        raise refs.LostRaceError
    return moved


def _land(
    ctx: Context,
    bench: Workbench,
    request: Request,
    made: Draft,
    text: bytes,
    still: refs.Still | None = None,
    until: float = 0.0,
) -> Result:
    copy, plan = checked_index(ctx, bench, request, made)
    author = objects.parse_author(ctx.git, request.author) if request.author else None
    git, parents = bench.git, [made.head.oid] if made.head.oid else []
    if request.amend and made.head.oid is not None:
        old = own_commit.read(ctx.repo, made.head.oid)
        git, parents = git.at(**old.author), list(old.parents)
    git = objects.with_identity(git, ctx.config, author)
    with closing(bench.objects(ctx.repo.common_dir)) as made_here:
        oid, ident = objects.make_commit(git, made_here, ctx.config, made.tree, parents, text)
    keep = _kept(ctx, bench, made, oid, plan)
    if plan.changes:
        index.advance(ctx.git, copy, ctx.repo.root, plan.changes, plan.flags)
        index.refresh(ctx, copy, plan.changes, plan.flags)
    if still is not None and time.monotonic() >= until:
        still.release()
    found = [one for one in made.outcomes if one.taken]
    land.land(
        land.Landing(
            repo=ctx.repo,
            layout=ctx.layout,
            head=made.head,
            commit=oid,
            ident=ident,
            subject=message.subject(text),
            copy=copy,
            changes=plan.changes,
            old=plan.old,
            outcomes=found,
            keep=keep,
            family=() if made.by_person else made.family,
            kind="amend" if request.amend else "",
        ),
        still,
    )
    restage.mark(ctx, ctx.layout, made.family)
    log_void(ctx, made)
    if all(left.reason == decision.UNCHANGED for left in made.left):
        pending_paths.put_mark_away(ctx, made.family)
    return (result_of(ctx, made, "committed"))._replace(commit=oid, subject=message.subject(text))


def _kept(ctx: Context, bench: Workbench, made: Draft, oid: str, plan: index_plan.IndexPlan) -> Keep:
    """Put every object that the commit and the new index need into the repository."""
    keep = Keep(bench.git, bench.objects_dir(ctx.repo.common_dir), ctx.repo.common_dir)
    entries = [e for e in (*made.entries.values(), *plan.changes.values()) if e is not None]
    keep.add([oid.encode(), *made.trees, *(e.oid for e in entries if e.mode != GITLINK)])
    keep.restore()
    return keep


def log_void(ctx: Context, made: Draft) -> None:
    """Log the paths with nothing to commit, so that each is noted once."""
    void = [one for one in made.outcomes if one.void]
    if void:
        lines = land.log_lines(ctx.layout, made.head.name, None, void)
        land.write_log(ctx.layout, lines)

"""``git ralph commit``: what this session edited becomes a commit; nothing else moves."""

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitralph.base import locks
from gitralph.base.errors import Busy, Failed, RalphError, Refused
from gitralph.base.quote import shown
from gitralph.commit import decision, history, hooks, land, plan, recover
from gitralph.commit import index as index_plan
from gitralph.commit import message as texts
from gitralph.commit.decision import Left
from gitralph.commit.hooks import Taken
from gitralph.commit.plan import open_bench
from gitralph.commit.request import Draft, Request, Result
from gitralph.context import Context
from gitralph.git import commits as objects
from gitralph.git import index, message, refs
from gitralph.git.blobs import Workbench
from gitralph.git.keep import GoneError, Keep
from gitralph.git.trees import FOLDER, GITLINK, Entry, TreeReader
from gitralph.hook import sessionfile
from gitralph.journal import pending
from gitralph.session import dead_hooks, transcript_claims

if TYPE_CHECKING:
    from gitralph.commit import ways_out

# Everybody of ours waits for one lock, so only plain git can win a race against a landing: five in a row is
# a loop at work, which must not keep the lock.
_TRIES = 5


def refuse_operation(ctx: Context) -> None:
    """Raise Refused while git is in the middle of something."""
    doing = ctx.repo.operation()
    if doing:
        raise Refused(
            f"{doing} is in progress; nothing was committed",
            "finish or abort it first: git status",
        )


def _build(ctx: Context, bench: Workbench, request: Request, taken: Taken | None = None) -> Draft:
    matches = None
    if request.match is not None:
        matches = request.match(plan.candidates(ctx, request.session))
    unwritten = taken.records if taken else None
    made = plan.build(ctx, bench, request.session, request.wishes, matches, unwritten)
    # Named paths that nothing was taken of: without this `--whole-file -- typo` would end in silence.
    if request.wishes.whole_file and request.match is not None:
        from gitralph.commit import named

        made.left += named.in_vain(ctx, request, set(matches or ()))
    return made


def _check(ctx: Context, request: Request, made: Draft) -> None:
    """Raise Refused when a refusing reason stands and skipping was not asked for."""
    if not made.refusals or request.wishes.skip_entangled:
        return
    from gitralph.commit import advice

    raise Refused(
        advice.headline(made.refusals), *_ways(ctx, request, made).after_refusal(made.refusals),
        left=tuple(made.left),
    )  # fmt: skip


def _ways(ctx: Context, request: Request, made: Draft) -> "ways_out.Ways":
    from gitralph.commit.ways_out import Ways

    return Ways(ctx, request, made, lambda other: _would_be_made(ctx, other))


def _would_be_made(ctx: Context, request: Request) -> bool:
    """True when a commit as asked for would be made now, hooks left aside."""
    bench = open_bench(ctx, quarantine=True)
    with closing(_Remover(bench)):
        made = _build(ctx, bench, request)
        if made.refusals and not request.wishes.skip_entangled:
            return False
        _leave_staged(ctx, bench, request, made)
        return bool(made.entries) and not _index_plan(ctx, bench, made)[1].conflicts


def preview(ctx: Context, request: Request) -> tuple[Result, Draft, Workbench]:
    """The draft in a quarantine: no object reaches the repository. The caller removes the bench."""
    bench = open_bench(ctx, quarantine=True)
    made = _build(ctx, bench, request)
    result = _result(ctx, made, "dry-run" if made.entries else "nothing")
    return result, made, bench


def _result(ctx: Context, made: Draft, status: str) -> Result:
    return Result(
        status, made.session, made.head.name, None, "", made.changes,
        {path: made.how[path] for path in made.entries}, made.left, made.notes + _notes(ctx, made),
        _hints(ctx, made),
    )  # fmt: skip


def _hints(ctx: Context, made: Draft) -> list[str]:
    # Nothing stands in the way, so there is no way out to tell of.
    if all(left.reason == decision.UNCHANGED for left in made.left):
        return []
    from gitralph.commit import ways_out

    return ways_out.after_leaving(ctx, made.session, made.left)


def _notes(ctx: Context, made: Draft) -> list[str]:
    notes = []
    if made.head.ref is None:
        # git says so at checkout only, which the agent that commits need not have seen.
        notes.append("HEAD is detached; no branch will hold this commit")
    record = sessionfile.read(ctx.layout, made.session) or {}
    started = record.get("branch")
    if started and made.head.ref and started != made.head.ref:
        here, there = made.head.branch, str(started).removeprefix("refs/heads/")
        notes.append(f"the session started on branch '{there}' and commits on '{here}'")
    notes += [
        f"commit {commit[:7]} of this session is not in HEAD any more (undone, amended or rebased)"
        for commit in made.undone
    ]
    return notes + _upstream_notes(ctx, made) + transcript_claims.notes(ctx, made.session, bool(made.states))


def _upstream_notes(ctx: Context, made: Draft) -> list[str]:
    if ctx.config.get(f"branch.{made.head.branch}.merge") is None:
        return []
    notes = []
    for path, letter in made.changes.items():
        # Only for new files: a changed one meets upstream's in a merge, a new one as "both added".
        theirs = history.upstream_entry(ctx.repo, path) if letter == "A" else None
        if theirs is not None and theirs != made.entries[path]:
            notes.append(f"warning: upstream has another '{shown(path)}'; HEAD is behind it")
    return notes


def dry_run(ctx: Context, request: Request) -> Result:
    """What commit would do. Raises Refused as commit would."""
    refuse_operation(ctx)
    lost = _passed_over(ctx, request)
    _, made, bench = preview(ctx, request)
    with closing(_Remover(bench)):
        _check(ctx, request, made)
        _leave_staged(ctx, bench, request, made)
        _plan_index(ctx, bench, request, made)
    result = _result(ctx, made, "dry-run" if made.entries else "nothing")
    result.notes += lost
    return result


def _passed_over(ctx: Context, request: Request) -> list[str]:
    """Warnings for what a manifest says in vain; asked for before the commit reads past it."""
    found = dead_hooks.passed_over(ctx, pending.family(ctx.layout, request.session))
    return [f"warning: {text}" for text in found]


class _Remover:
    def __init__(self, bench: Workbench) -> None:
        self.close = bench.remove


def commit(ctx: Context, request: Request) -> Result:
    """Make the commit. Raises Refused, Failed, Busy or Fatal with nothing moved."""
    bench, lost = open_bench(ctx, quarantine=False), _passed_over(ctx, request)
    with closing(_Remover(bench)):
        # Hooks and editors may take minutes, so they run before the lock that every committer waits for.
        if request.edit or hooks.present(ctx, hooks.BEFORE):
            result = _commit_after_hooks(ctx, bench, request)
        else:
            with locks.hold(ctx.layout, locks.COMMIT):
                result = _commit_locked(ctx, bench, request, None)
                if result.commit:
                    hooks.drop_patch(ctx, request.session)
    result.notes += lost
    # After the lock: a hook that commits again must be able to, as with git (githooks(5)).
    if result.commit and hooks.present(ctx, ("post-commit",)):
        git = ctx.outer.at(ctx.repo.root, GIT_EDITOR=":", GIT_PREFIX="")
        hooks.Stage(git, ctx.repo.hooks_dir, ctx.repo.root, in_place=True).run("post-commit")
    return result


@dataclass(frozen=True)
class _Prepared:
    """What hooks and editor made of a draft."""

    entries: dict[bytes, Entry | None] = field(default_factory=dict)
    taken: Taken = field(default_factory=Taken)
    message: bytes = b""

    def expected(self, base: TreeReader) -> dict[bytes, Entry | None]:
        """What the commit holds, with the hook's changes."""
        both = {**self.entries, **self.taken.entries}
        return {path: entry for path, entry in both.items() if entry != base.entry(path)}


def _commit_after_hooks(ctx: Context, bench: Workbench, request: Request) -> Result:
    """Hooks and editor run without the lock, and again when the session's paths changed meanwhile."""
    typed = texts.Typed(ctx.repo.git_dir)
    try:
        # A session that edits while its own hooks run is judged anew; one that goes on editing is told so.
        for _ in range(3):
            with locks.hold(ctx.layout, locks.COMMIT):
                recover.settle(ctx)
            refuse_operation(ctx)
            try:
                ready = _prepare(ctx, bench, request, typed)
                with locks.hold(ctx.layout, locks.COMMIT):
                    result = _commit_locked(ctx, bench, request, ready)
                    if result.commit:
                        hooks.drop_patch(ctx, request.session)
                        result.notes += _rewrite_notes(ctx, bench, request, ready.taken)
            # What the hook saw is not what would be committed now: its answer is worth nothing.
            except (_ChangedError, hooks.MovedError):
                continue
            typed.drop()
            return result
        raise Busy("the session's paths kept changing while the hooks ran", "try again")
    except RalphError as error:
        error.hints += typed.hints(request.session)
        raise


class _ChangedError(Exception):
    pass


def _prepare(ctx: Context, bench: Workbench, request: Request, typed: texts.Typed) -> _Prepared:
    inner = Workbench.make(bench.folder, ctx.git, ctx.repo.common_dir, quarantine=False)
    made = _build(ctx, inner, request)
    _check(ctx, request, made)
    _leave_staged(ctx, inner, request, made)
    if not made.entries:
        return _Prepared()
    _plan_index(ctx, inner, request, made)
    before, taken = dict(made.entries), Taken()
    stage = hooks.open_stage(
        ctx, inner.folder, made.tree, made.head.oid, hooks.alone(ctx, made.entries, made.now)
    )
    with closing(stage):
        if request.verify and hooks.present(ctx, ("pre-commit",)):
            from gitralph.commit import hook_changes  # most commits meet no hook

            taken = hook_changes.run(ctx, inner, made, stage)
        if not _Prepared(before, taken).expected(made.base):
            raise Failed(
                "the 'pre-commit' hook took back all that this session changed; nothing was committed",
                "see what is left: git ralph status",
            )
        return _Prepared(before, taken, texts.through_hooks(ctx, inner, request, made, stage, typed))


def _commit_locked(ctx: Context, bench: Workbench, request: Request, ready: _Prepared | None) -> Result:
    """Build on the HEAD of now and land; when the race is lost build again."""
    if ready is not None and ready.taken.records:
        recover.settle(ctx)
        _record_rewrites(ctx, bench, request, ready)
    # Plain git takes no lock of ours, so HEAD or the index may move under us: build again on what is there.
    for attempt in range(_TRIES):
        recover.settle(ctx)
        refuse_operation(ctx)
        inner = Workbench.make(bench.folder, ctx.git, ctx.repo.common_dir, quarantine=True)
        made = _build(ctx, inner, request)
        _check(ctx, request, made)
        _leave_staged(ctx, inner, request, made)
        if not made.entries:
            return _nothing(ctx, made)
        if ready is not None:
            _lay_over(ctx, inner, made, ready)
        try:
            return _land(ctx, inner, request, made, ready)
        except (refs.LostRaceError, land.IndexMovedError, GoneError):
            if attempt == _TRIES - 1:
                raise Busy("HEAD, the index or the objects kept moving", "try again") from None
    raise AssertionError("unreachable")


def _record_rewrites(ctx: Context, bench: Workbench, request: Request, ready: _Prepared) -> None:
    """Write what the hook rewrote as this session's, once a draft shows that just this comes of it."""
    from gitralph.commit import hook_changes

    hook_changes.keep_texts(ctx, ready.taken)
    inner = Workbench.make(bench.folder, ctx.git, ctx.repo.common_dir, quarantine=True)
    made = _build(ctx, inner, request, ready.taken)
    _leave_staged(ctx, inner, request, made)
    if made.entries == ready.expected(made.base):
        hook_changes.write(ctx, made, ready.taken)
        return
    made = _build(ctx, inner, request)
    _leave_staged(ctx, inner, request, made)
    if made.entries != ready.entries:
        raise _ChangedError
    raise hook_changes.refused(ctx, inner, made, ready.taken.pairs)


def _rewrite_notes(ctx: Context, bench: Workbench, request: Request, taken: Taken) -> list[str]:
    if not taken.texts:
        return []
    from gitralph.commit import hook_changes

    return hook_changes.notes(ctx, bench, request.session, taken)


def _lay_over(ctx: Context, bench: Workbench, made: Draft, ready: _Prepared) -> None:
    expected = ready.expected(made.base)
    if made.entries not in (ready.entries, expected):
        raise _ChangedError
    made.entries = expected
    for path in ready.taken.entries:
        made.how.setdefault(path, decision.WHOLE_FILE)
    plan.rebuild_tree(ctx, bench, made)


def _nothing(ctx: Context, made: Draft) -> Result:
    note_void(ctx, made)
    return _result(ctx, made, "nothing")


def _leave_staged(ctx: Context, bench: Workbench, request: Request, made: Draft) -> None:
    """With ``--skip-entangled``: take out what cannot go beside a staged version."""
    if not request.wishes.skip_entangled:
        return
    while made.entries and (conflicts := _index_plan(ctx, bench, made)[1].conflicts):
        for left in conflicts:
            made.leave(left)
        plan.rebuild_tree(ctx, bench, made)


def _plan_index(
    ctx: Context, bench: Workbench, request: Request, made: Draft
) -> tuple[index.IndexCopy, index_plan.IndexPlan]:
    """The index after the commit. Raises Refused where a staged version stands in the way."""
    copy, plan = _index_plan(ctx, bench, made)
    if plan.conflicts:
        from gitralph.commit import advice

        raise Refused(
            advice.headline(plan.conflicts), *_ways(ctx, request, made).after_staged(plan.conflicts),
            left=(*made.left, *plan.conflicts),
        )  # fmt: skip
    return copy, plan


def _index_plan(ctx: Context, bench: Workbench, made: Draft) -> tuple[index.IndexCopy, index_plan.IndexPlan]:
    copy = index.copy_index(ctx.repo.index, f"{bench.folder}/user.index")
    if copy.missing and made.head.oid is not None:
        return copy, index_plan.IndexPlan()  # somebody took it away: no entry of it is to be kept
    # git commits nothing while an entry has conflict stages, not even other paths; nor do we.
    unmerged = index.has_unmerged(ctx.git, copy, ctx.repo.root)
    if unmerged:
        from gitralph.commit import ways_out

        left = tuple(Left(path, decision.UNMERGED, "it has conflict stages") for path in unmerged)
        raise Refused(
            f"the index has unmerged entries: '{shown(unmerged[0])}'", *ways_out.unmerged(ctx, unmerged),
            left=left,
        )  # fmt: skip
    facts = index_plan.Facts(
        bench.git, bench.folder, index.entries(ctx.git, copy, ctx.repo.root, made.entries),
        {path: made.start.entry(path) for path in made.entries}, made.entries, made.now,
        lambda path: index_plan.own_states(ctx.layout, made, path),
    )  # fmt: skip
    plan = index_plan.plan(facts)
    plan.conflicts += _pushed_aside(ctx, copy, made)
    return copy, plan


def _pushed_aside(ctx: Context, copy: index.IndexCopy, made: Draft) -> list[Left]:
    """New files that the user staged in a folder which this commit makes a file."""
    out = []
    for path, entry in made.entries.items():
        there = made.base.lookup_safe(path)
        if entry is None or there is None or there.mode != FOLDER:
            continue
        staged = [p for p in index.below(ctx.git, copy, ctx.repo.root, path) if p not in made.entries]
        if staged:
            detail = f"you have staged '{shown(staged[0])}' in the folder that it replaces"
            out.append(Left(path, decision.ENTANGLED, detail))
    return out


def _land(ctx: Context, bench: Workbench, request: Request, made: Draft, ready: _Prepared | None) -> Result:
    copy, plan = _plan_index(ctx, bench, request, made)
    text = ready.message if ready else texts.compose(ctx, request, made)
    author = objects.parse_author(ctx.git, request.author) if request.author else None
    git = objects.with_identity(bench.git, ctx.config, author)
    with closing(bench.objects(ctx.repo.common_dir)) as made_here:
        oid, ident = objects.make_commit(git, made_here, ctx.config, made.tree, made.head.oid, text)
    keep = _kept(ctx, bench, made, oid, plan)
    touches = bool(plan.changes)
    if touches:
        with closing(keep.store()) as store:
            fresh = index_plan.cached_trees(store, made.base, made.tree, plan.changes, made.entries)
        index.advance(ctx.git, copy, ctx.repo.root, plan.changes, plan.flags, fresh)
    # What is left stays pending: a partial commit consumes exactly what it lists.
    found = [one for one in made.outcomes if one.taken]
    land.land(
        land.Landing(
            ctx.repo, ctx.layout, ctx.config, made.head, oid, ident, message.subject(text), copy,
            touches, plan.changes, plan.old, found, keep,
        )
    )  # fmt: skip
    note_void(ctx, made)
    result = _result(ctx, made, "committed")
    result.commit, result.subject = oid, message.subject(text)
    return result


def _kept(ctx: Context, bench: Workbench, made: Draft, oid: str, plan: index_plan.IndexPlan) -> Keep:
    """Every object that the commit and the new index need, in the repository from here on."""
    keep = Keep(bench.git, bench.objects_dir(ctx.repo.common_dir), ctx.repo.common_dir)
    entries = [e for e in (*made.entries.values(), *plan.changes.values()) if e is not None]
    keep.add([oid.encode(), *made.trees, *(e.oid for e in entries if e.mode != GITLINK)])
    keep.restore()
    return keep


def note_void(ctx: Context, made: Draft) -> None:
    """Consume with a note what needs no commit."""
    void = [one for one in made.outcomes if one.void]
    if void:
        lines = land.consumption_lines(ctx.layout, made.head.name, None, void)
        land.write_consumption(ctx.layout, lines)


__all__ = ["Request", "Result", "commit", "dry_run", "open_bench", "preview", "refuse_operation"]

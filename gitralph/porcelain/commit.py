"""``git ralph commit``: what this session edited becomes a commit; nothing else moves."""

import tempfile
from contextlib import closing
from dataclasses import dataclass, field

from gitralph import files, sessionfile
from gitralph.errors import Busy, Failed, RalphError, Refused
from gitralph.plumbing import commit as objects
from gitralph.plumbing import index, message, refs
from gitralph.plumbing.blob import Workbench
from gitralph.plumbing.keep import GoneError, Keep
from gitralph.plumbing.tree import FOLDER, GITLINK, Entry, TreeReader
from gitralph.porcelain import (
    committext,
    fallback,
    history,
    landing,
    outcome,
    repohooks,
    silence,
    staging,
    tidy,
)  # fmt: skip
from gitralph.porcelain import draft as drafts
from gitralph.porcelain.context import Context
from gitralph.porcelain.draft import Draft
from gitralph.porcelain.outcome import Left
from gitralph.porcelain.repohooks import Taken
from gitralph.porcelain.request import Request, Result
from gitralph.quote import shown
from gitralph.state import lock, pending

_TRIES = 5


def refuse_operation(ctx: Context) -> None:
    """Raise Refused while git is in the middle of something."""
    doing = ctx.repo.operation()
    if doing:
        raise Refused(
            f"{doing} is in progress; nothing was committed",
            "finish or abort it first: git status",
        )


def open_bench(ctx: Context, quarantine: bool) -> Workbench:
    """A private folder in the state\'s ``tmp``; with ``quarantine`` no object leaves it.

    Who only looks may do so where the state cannot be written: in the system's folder then.
    """
    try:
        files.make_folder(ctx.layout.tmp)
        return Workbench.make(ctx.layout.tmp, ctx.git, ctx.repo.common_dir, quarantine)
    except OSError:
        if not quarantine:
            raise
    return Workbench.make(tempfile.gettempdir(), ctx.git, ctx.repo.common_dir, quarantine)


def _build(ctx: Context, bench: Workbench, request: Request, taken: Taken | None = None) -> Draft:
    matches = None
    if request.match is not None:
        matches = request.match(drafts.candidates(ctx, request.session))
    unwritten = taken.records if taken else None
    return drafts.build(ctx, bench, request.session, request.wishes, matches, unwritten)


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
    )  # fmt: skip


def _notes(ctx: Context, made: Draft) -> list[str]:
    notes = []
    if made.head.ref is None:
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
    return notes + _upstream_notes(ctx, made) + fallback.notes(ctx, made.session, bool(made.states))


def _upstream_notes(ctx: Context, made: Draft) -> list[str]:
    if ctx.config.get(f"branch.{made.head.branch}.merge") is None:
        return []
    notes = []
    for path, letter in made.changes.items():
        theirs = history.upstream_entry(ctx.repo, path) if letter == "A" else None
        if theirs is not None and theirs != made.entries[path]:
            notes.append(f"warning: upstream has another '{shown(path)}'; HEAD is behind it")
    return notes


def dry_run(ctx: Context, request: Request) -> Result:
    """What commit would do. Raises Refused as commit would."""
    refuse_operation(ctx)
    lost = _passed_over(ctx, request)
    result, made, bench = preview(ctx, request)
    result.notes += lost
    with closing(_Remover(bench)):
        drafts.check(made, request.wishes.skip_entangled)
        _plan_index(ctx, bench, made)
    return result


def _passed_over(ctx: Context, request: Request) -> list[str]:
    """Warnings for what a manifest says in vain; asked for before the commit reads past it."""
    found = silence.passed_over(ctx, pending.family(ctx.layout, request.session))
    return [f"warning: {text}" for text in found]


class _Remover:
    def __init__(self, bench: Workbench) -> None:
        self.close = bench.remove


def commit(ctx: Context, request: Request) -> Result:
    """Make the commit. Raises Refused, Failed, Busy or Fatal with nothing moved."""
    bench, lost = open_bench(ctx, quarantine=False), _passed_over(ctx, request)
    with closing(_Remover(bench)):
        if request.edit or repohooks.present(ctx, repohooks.BEFORE):
            result = _commit_after_hooks(ctx, bench, request)
        else:
            with lock.hold_briefly(ctx.layout, landing.LOCK):
                result = _commit_locked(ctx, bench, request, None)
                if result.commit:
                    repohooks.drop_patch(ctx, request.session)
    result.notes += lost
    if result.commit and repohooks.present(ctx, ("post-commit",)):
        git = ctx.outer.at(ctx.repo.root, GIT_EDITOR=":", GIT_PREFIX="")
        repohooks.Stage(git, ctx.repo.hooks_dir, ctx.repo.root, in_place=True).run("post-commit")
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
    typed = committext.Typed(ctx.repo.git_dir)
    try:
        for _ in range(3):
            with lock.hold_briefly(ctx.layout, landing.LOCK):
                tidy.settle(ctx)
            refuse_operation(ctx)
            try:
                ready = _prepare(ctx, bench, request, typed)
                with lock.hold_briefly(ctx.layout, landing.LOCK):
                    result = _commit_locked(ctx, bench, request, ready)
                    if result.commit:
                        repohooks.drop_patch(ctx, request.session)
                        result.notes += _rewrite_notes(ctx, bench, request, ready.taken)
            except (_ChangedError, repohooks.MovedError):
                continue
            typed.drop()
            return result
        raise Busy("the session's paths kept changing while the hooks ran", "try again")
    except RalphError as error:
        error.hints += typed.hints(request.session)
        raise


class _ChangedError(Exception):
    pass


def _prepare(ctx: Context, bench: Workbench, request: Request, typed: committext.Typed) -> _Prepared:
    inner = Workbench.make(bench.folder, ctx.git, ctx.repo.common_dir, quarantine=False)
    made = _build(ctx, inner, request)
    drafts.check(made, request.wishes.skip_entangled)
    if not made.entries:
        return _Prepared()
    _plan_index(ctx, inner, made)
    before, taken = dict(made.entries), Taken()
    stage = repohooks.open_stage(
        ctx, inner.folder, made.tree, made.head.oid, repohooks.alone(ctx, made.entries, made.now)
    )
    with closing(stage):
        if request.verify and repohooks.present(ctx, ("pre-commit",)):
            from gitralph.porcelain import hookchanges  # most commits meet no hook

            taken = hookchanges.run(ctx, inner, made, stage)
        if not _Prepared(before, taken).expected(made.base):
            raise Failed(
                "the 'pre-commit' hook took back all that this session changed; nothing was committed",
                "see what is left: git ralph status",
            )
        return _Prepared(before, taken, committext.through_hooks(ctx, inner, request, made, stage, typed))


def _commit_locked(ctx: Context, bench: Workbench, request: Request, ready: _Prepared | None) -> Result:
    """Build on the HEAD of now and land; when the race is lost build again."""
    if ready is not None and ready.taken.records:
        tidy.settle(ctx)
        _record_rewrites(ctx, bench, request, ready)
    for attempt in range(_TRIES):
        tidy.settle(ctx)
        refuse_operation(ctx)
        inner = Workbench.make(bench.folder, ctx.git, ctx.repo.common_dir, quarantine=True)
        made = _build(ctx, inner, request)
        drafts.check(made, request.wishes.skip_entangled)
        if not made.entries:
            return _nothing(ctx, made)
        if ready is not None:
            _lay_over(ctx, inner, made, ready)
        try:
            return _land(ctx, inner, request, made, ready)
        except (refs.LostRaceError, landing.IndexMovedError, GoneError):
            if attempt == _TRIES - 1:
                raise Busy("HEAD, the index or the objects kept moving", "try again") from None
    raise AssertionError("unreachable")


def _record_rewrites(ctx: Context, bench: Workbench, request: Request, ready: _Prepared) -> None:
    """Write what the hook rewrote as this session's, once a draft shows that just this comes of it."""
    from gitralph.porcelain import hookchanges

    hookchanges.keep_texts(ctx, ready.taken)
    inner = Workbench.make(bench.folder, ctx.git, ctx.repo.common_dir, quarantine=True)
    made = _build(ctx, inner, request, ready.taken)
    if made.entries == ready.expected(made.base):
        hookchanges.write(ctx, made, ready.taken)
        return
    made = _build(ctx, inner, request)
    if made.entries != ready.entries:
        raise _ChangedError
    raise hookchanges.refused(ctx, inner, made, ready.taken.pairs)


def _rewrite_notes(ctx: Context, bench: Workbench, request: Request, taken: Taken) -> list[str]:
    if not taken.texts:
        return []
    from gitralph.porcelain import hookchanges

    return hookchanges.notes(ctx, bench, request.session, taken)


def _lay_over(ctx: Context, bench: Workbench, made: Draft, ready: _Prepared) -> None:
    expected = ready.expected(made.base)
    if made.entries not in (ready.entries, expected):
        raise _ChangedError
    made.entries = expected
    for path in ready.taken.entries:
        made.how.setdefault(path, outcome.WHOLE_FILE)
    drafts.rebuild_tree(ctx, bench, made)


def _nothing(ctx: Context, made: Draft) -> Result:
    note_void(ctx, made)
    return _result(ctx, made, "nothing")


def _plan_index(ctx: Context, bench: Workbench, made: Draft) -> tuple[index.IndexCopy, staging.IndexPlan]:
    copy = index.copy_index(ctx.repo.index, f"{bench.folder}/user.index")
    if copy.missing and made.head.oid is not None:
        return copy, staging.IndexPlan()  # somebody took it away: no entry of it is to be kept
    unmerged = index.has_unmerged(ctx.git, copy, ctx.repo.root)
    if unmerged:
        left = tuple(Left(path, outcome.UNMERGED, "it has conflict stages") for path in unmerged)
        raise Refused(
            f"the index has unmerged entries: '{shown(unmerged[0])}'",
            "settle the conflict first: git status", left=left,
        )  # fmt: skip
    staged = index.entries(ctx.git, copy, ctx.repo.root, made.entries)
    old = {path: made.base.entry(path) for path in made.entries}
    plan = staging.plan(bench.git, bench.folder, staged, old, made.entries, _recorded(ctx, made))
    plan.conflicts += _pushed_aside(ctx, copy, made)
    if plan.conflicts:
        from gitralph.porcelain import advice

        raise Refused(
            advice.headline(plan.conflicts),
            "commit or unstage your staged version first: git restore --staged <path>",
            left=(*made.left, *plan.conflicts),
        )
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
            out.append(Left(path, outcome.ENTANGLED, detail))
    return out


def _recorded(ctx: Context, made: Draft) -> dict[bytes, frozenset[bytes]]:
    """The blobs that the session itself made of what it commits whole.

    Where others have lines in the file a recorded text holds theirs too: that one is merged.
    """
    family = set(pending.family(ctx.layout, made.session))
    return {
        path: frozenset(
            record.after.encode()
            for record in made.states[path].journal.records
            if record.after is not None and record.session in family
        )
        for path in made.entries
        if path in made.states and made.entries[path] == made.now.get(path)
    }


def _land(ctx: Context, bench: Workbench, request: Request, made: Draft, ready: _Prepared | None) -> Result:
    copy, plan = _plan_index(ctx, bench, made)
    text = ready.message if ready else committext.compose(ctx, request, made)
    author = objects.parse_author(ctx.git, request.author) if request.author else None
    git = objects.with_identity(bench.git, ctx.config, author)
    with closing(bench.objects(ctx.repo.common_dir)) as made_here:
        oid, ident = objects.make_commit(git, made_here, ctx.config, made.tree, made.head.oid, text)
    keep = _kept(ctx, bench, made, oid, plan)
    touches = bool(plan.changes)
    if touches:
        with closing(keep.store()) as store:
            fresh = staging.cached_trees(store, made.base, made.tree, plan.changes, made.entries)
        index.advance(ctx.git, copy, ctx.repo.root, plan.changes, plan.flags, fresh)
    found = [one for one in made.outcomes if one.taken]
    landing.land(
        landing.Landing(
            ctx.repo, ctx.layout, ctx.config, made.head, oid, ident, message.subject(text), copy,
            touches, plan.changes, plan.old, found, keep,
        )
    )  # fmt: skip
    note_void(ctx, made)
    result = _result(ctx, made, "committed")
    result.commit, result.subject = oid, message.subject(text)
    return result


def _kept(ctx: Context, bench: Workbench, made: Draft, oid: str, plan: staging.IndexPlan) -> Keep:
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
        lines = landing.consumption_lines(ctx.layout, made.head.name, None, void)
        landing.write_consumption(ctx.layout, lines)


__all__ = ["Request", "Result", "commit", "dry_run", "open_bench", "preview", "refuse_operation"]

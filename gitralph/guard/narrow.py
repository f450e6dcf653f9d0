"""``pre-commit`` of an agent's plain commit: finds the session's part, and gives git an index with it.

Everything is decided and on disk, the intent too, before a file of git's is exchanged. Whatever is not
certain stops the commit with nothing moved.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gitralph.base import locks
from gitralph.base.errors import Busy, Refused
from gitralph.base.kinds import Kind, Why
from gitralph.base.quote import few
from gitralph.commit import carryover, cleanup, commit, land, message, restage, shell_staging
from gitralph.commit.index import IndexPlan
from gitralph.decide import decision, offers, own_commit, pathspecs, plan
from gitralph.decide.decision import Left, Note
from gitralph.decide.inputs import Wishes, open_bench
from gitralph.decide.request import Draft, Request
from gitralph.git import blobs, index, plain_index, refs
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context, refuse_operation
from gitralph.git.plain_index import AS_IS, PATHS, Given, PlainIndexMovedError
from gitralph.git.refs import Head
from gitralph.git.repository import BISECT
from gitralph.git.snapshot import ABSENT, Content, Worktree
from gitralph.git.trees import FILES, Entry
from gitralph.guard import concluding, question, recover_narrowed, whose_commit
from gitralph.hook import hook_git, sessionfile
from gitralph.hook.journal import full_lines, text_id
from gitralph.lines.linediff import Range, ranges
from gitralph.records import intents, manifests, path_records
from gitralph.records.intents import TO_COME, Narrowed
from gitralph.words import sentences, ways_out


def _staged_text(head: bytes, wanted: bytes, staged: bytes) -> bytes:
    """HEAD's text with those changes of ``wanted`` that ``staged`` has too."""
    old, new, there = full_lines(head), full_lines(wanted), full_lines(staged)
    theirs = ranges(old, there)
    lines = list(old)
    for found in reversed(ranges(old, new)):
        i, j, k, m = found
        kept = _staged_part(found, new[k:m], theirs, there)
        if kept is not None:
            lines[i:j] = kept
    return b"".join(lines)


def _staged_part(
    found: Range, lines: Sequence[bytes], theirs: Sequence[Range], there: Sequence[bytes]
) -> list[bytes] | None:
    """The staged part of one change: all of it, a part where nothing else is staged, or None."""
    i, j, _, _ = found
    for a, b, c, d in theirs:
        if a <= i and j <= b and carryover.is_within(lines, there[c:d]):
            return list(lines)
        if (a, b) == (i, j) and carryover.is_within(there[c:d], lines):
            return list(there[c:d])
    return None


# --- the narrowing ---


Entries = dict[bytes, Entry | None]
# As with our own commits only another plain git can move the index. Five such moves in a row mean a loop at
# work.
_TRIES = 5
# A note shows so many; `git ralph status` has all of them.
_SHOWN = 5


@dataclass(frozen=True)
class _Job:
    """One plain commit: the git process that makes it, where it starts from, and what it would commit.

    ``before`` is what the session has staged in earlier calls, and what was put back since.
    """

    git: dict[str, object]
    place: Given
    session: str
    staged: Entries
    amends: bool
    early: bool
    before: Entries = field(default_factory=dict)

    @property
    def paths(self) -> list[bytes]:
        return sorted({*self.staged, *self.before})


def run(ctx: Context, git: dict[str, object], early: bool) -> list[str]:
    """Narrow the commit that ``git`` is about to make. Returns notes for whoever runs it.

    ``early``: other hooks come after this one and need git's lock. Raises Refused with nothing moved where
    nobody can tell what is the session's, or where nothing is.
    """
    doing, amends = concluding.of_agent(ctx), whose_commit.amends(git)
    if doing is not None and not amends:
        concluding.refuse(ctx, doing)
        return []
    if ctx.repo.operation() == BISECT:  # on no branch: `git bisect reset` would leave the commit behind
        restage.due(ctx, question.own(ctx) or "")
        refuse_operation(ctx, "committed")
    cleanup.unless_busy(ctx)
    _again(ctx, git)
    staged = question.staged(ctx)
    if amends:
        own = whose_commit.session(ctx)
        try:
            _refuse_foreign(ctx, refs.read_head(ctx.repo), own, staged)
        except Refused:
            restage.due(ctx, own)
            raise
    if not staged:
        if amends:
            _sign_only(ctx, git)
        elif whose_commit.allows_empty(git):
            _sign_empty(ctx, git)
        return []  # git itself says that there is nothing to commit
    place = plain_index.given(ctx.environ, ctx.repo.index)
    if place is None:
        raise Refused(
            "this commit is made from an index of its own, which the guard does not narrow",
            whose_commit.ONLY_OWN,
        )
    session = whose_commit.session(ctx)
    job = _Job(git, place, session, staged, amends, early)
    if place.form != PATHS and not amends:
        before = shell_staging.put_back(ctx.layout, path_records.family(ctx.layout, session))
        job = replace(job, before={path: entry for path, entry in before.items() if path not in staged})
    for _ in range(_TRIES):
        bench = open_bench(ctx, quarantine=False)
        try:
            return _narrow(ctx, bench, job)
        except PlainIndexMovedError:
            job = replace(job, staged=question.staged(ctx))
        except Refused as error:
            error.hints = (*error.hints, *_prepared(ctx))
            restage.due(ctx, job.session)  # put back what the session's shell staged
            raise
        finally:
            bench.remove()
    raise Busy("the index kept changing", "try again")


def _prepared(ctx: Context) -> list[str]:
    """Hints for a commit that git staged and worded itself, after `merge --squash` or `cherry-pick -n`.

    Nobody recorded these lines, and nobody knows who ran that command, so a person may commit them. git keeps
    the message in `SQUASH_MSG` or `MERGE_MSG` until a commit, and uses it for `--no-edit` (git 2.39).
    """
    if not hook_git.is_worded(ctx.repo.git_dir):
        return []
    return ["what git has staged and worded itself here is for a person to commit: git commit --no-edit"]


def _again(ctx: Context, git: Mapping[str, object]) -> None:
    """Undo what an earlier run for the same process did.

    Either the hook is installed twice, or the earlier git is dead and its process id is used again.
    """
    pid = git["pid"]
    found = intents.of_process(ctx.layout, pid) if isinstance(pid, int) else None
    if found is not None:
        with locks.hold(ctx.layout, locks.COMMIT):
            recover_narrowed.settle(ctx, found)


def _refuse_foreign(ctx: Context, head: Head, own: str, staged: Entries) -> None:
    """Raise Refused where an amend would change a commit with another's lines or message."""
    if head.oid is None or whose_commit.owns_head(ctx, head, own):
        return
    makers = own_commit.signers(ctx, head.oid)
    whose = f"of session '{ctx.called(makers[0])}'" if makers else "a person's"
    family = set(path_records.family(ctx.layout, own))
    there = manifests.sessions_naming(ctx.layout, sorted(staged), set()).values()
    if any(family.intersection(names) for names in there):
        hint = f"git commit -a --fixup={head.oid[:7]}  # what the session has for it, in a commit of its own"
    else:
        # git takes no -m with it, and an editor that opens in an agent's shell never ends. The third line is
        # the subject (git 2.39); what stands below it, trailers too, stays.
        editor = "GIT_EDITOR=\"sed -i -e '3s/.*/better words/'\""
        does = "with your words for it, in a commit of its own"
        hint = f"{editor} git commit --fixup=reword:{head.oid[:7]}  # {does}"
    raise Refused(
        f"HEAD is not a commit of session '{ctx.called(own)}' but {whose}; nothing was amended", hint
    )


def _sign_only(ctx: Context, git: dict[str, object]) -> None:
    """Narrow an amend that changes only the message: the new message gets the old one's trailers."""
    head = refs.read_head(ctx.repo)
    rows = own_commit.signature(ctx, head.oid)
    for session in own_commit.named_in(ctx, rows)[:1]:
        tree = ctx.git.line("rev-parse", f"{head.oid}^{{tree}}")
        todo = _intent(ctx, git, session, tree, rows)
        if head.oid is not None and session in own_commit.makers(ctx, head.oid):
            family = path_records.family(ctx.layout, session)
            todo.lines = land.log_lines(ctx.layout, head.name, TO_COME, (), family)
        intents.write(ctx.layout, todo)


def _sign_empty(ctx: Context, git: dict[str, object]) -> None:
    """Narrow a commit that changes nothing, as `--allow-empty` makes one: it gets the session's trailers."""
    session, head = whose_commit.session(ctx), refs.read_head(ctx.repo)
    bench = open_bench(ctx, quarantine=False)
    try:
        made = plan.build(ctx, bench, session, Wishes(), [])
        trailers = _trailers(ctx, session, made)
    finally:
        bench.remove()
    tree = ctx.git.line("rev-parse", f"{head.oid}^{{tree}}") if head.oid else made.tree.decode()
    intents.write(ctx.layout, _intent(ctx, git, session, tree, trailers))


def _trailers(ctx: Context, session: str, made: Draft) -> list[str]:
    record = sessionfile.read(ctx.layout, session) or {}
    return [row.decode("utf-8", "replace") for row in message.trailers(ctx, session, record, made)]


def _intent(ctx: Context, git: dict[str, object], session: str, tree: str, trailers: list[str]) -> Narrowed:
    head = refs.read_head(ctx.repo)
    return Narrowed(
        git=git,
        session=session,
        ref=head.ref,
        old=head.oid,
        tree=tree,
        git_dir=ctx.repo.git_dir,
        token=ctx.layout.token,
        form="",
        trailers=trailers,
    )


def _narrow(ctx: Context, bench: Workbench, job: _Job) -> list[str]:
    request = Request(job.session, match=pathspecs.only(job.paths))
    made, partly = _drafted(ctx, bench, job)
    still = _still_staged(job, made)
    if still != job.before:
        return _narrow(ctx, bench, replace(job, before=still))
    back = IndexPlan()
    commit.refuse_left(ctx, request, made)
    if job.place.form == AS_IS:
        copy, back, after = commit.given_back(ctx, bench, made, job.before)
    else:
        copy, after = commit.checked_index(ctx, bench, request, made)
    _refuse_nothing(ctx, job, made)
    narrowed = _narrowed_index(ctx, bench, job, made)
    if job.place.form != AS_IS and after.changes:
        index.advance(ctx.git, copy, ctx.repo.root, after.changes, after.flags)
        index.refresh(ctx, copy, after.changes, after.flags)
    index.finish(copy)
    taken = [one for one in made.outcomes if one.taken and one.path not in partly]
    trailers = _trailers(ctx, job.session, made)
    if job.amends:  # what the old commit took of other sessions is in the new one too
        before = own_commit.signature(ctx, made.head.oid)
        trailers = before + [row for row in trailers if row not in before]
    todo = _intent(ctx, job.git, job.session, made.tree.decode(), trailers)
    todo.form, todo.held = job.place.form, job.place.form == AS_IS and not job.early
    narrow = _wanted(job, made)
    todo.swapped = [land.row(p, back.changes.get(p, _staged_at(job, made, p)), e) for p, e in narrow.items()]
    todo.swapped += [land.row(p, e, back.old[p]) for p, e in back.changes.items() if p not in narrow]
    void = [one for one in made.outcomes if one.void]
    todo.lines = land.log_lines(ctx.layout, made.head.name, TO_COME, taken, made.family)
    todo.lines += land.log_lines(ctx.layout, made.head.name, None, void)  # each is noted once
    todo.index = [land.row(p, after.old.get(p), e) for p, e in after.changes.items()]
    _exchange(ctx, job, todo, {"narrowed": narrowed, **_kept_beside(copy, job)}, copy)
    return _notes(ctx, job, made)


def _still_staged(job: _Job, made: Draft) -> Entries:
    """What of the session's earlier staging its commit takes: new files by `-a`, and new ends of moves.

    git would have them in the index, and of a move the old end goes. What cannot go holds up no other path.
    """
    stuck = {left.path for left in made.left if left.refuses}
    return {
        path: entry
        for path, entry in job.before.items()
        if path not in stuck
        and made.base.entry(path) is None
        and (job.place.form == plain_index.WHOLE or _is_end_of_move(job, made, path))
    }


def _is_end_of_move(job: _Job, made: Draft, path: bytes) -> bool:
    state = made.states.get(path)
    moves = [r.other_path for r in state.journal.records if r.op == "rename-to"] if state is not None else []
    return any(old in job.staged and job.staged[old] is None for old in moves if old is not None)


def _kept_beside(copy: index.IndexCopy, job: _Job) -> dict[str, str]:
    if not os.path.exists(copy.path):
        return {}
    return {"original" if job.place.form == AS_IS else "final": copy.path}


# --- what is the session's ---


def _drafted(ctx: Context, bench: Workbench, job: _Job) -> tuple[Draft, set[bytes]]:
    """What a commit of the staged paths takes, and the paths of which only a part was staged."""
    offers.catch_up(ctx, job.session)
    made = plan.build(ctx, bench, job.session, Wishes(), job.paths)
    odd = [path for path in made.now if path in job.staged and made.now[path] != job.staged[path]]
    if not odd:
        return made, set()
    texts = {path: _content(ctx, path, job.staged[path]) for path in odd}
    held = {path: one for path, one in texts.items() if one is not None and _was_there(made, path, one)}
    if held:
        inner = Workbench.make(bench.folder, bench.git, ctx.repo.common_dir, quarantine=False)
        made = plan.build(ctx, inner, job.session, Wishes(), job.paths, instead=held)
    return _selected(ctx, bench, made, job, [path for path in odd if path not in held], texts)


def _content(ctx: Context, path: bytes, entry: Entry | None) -> Content | None:
    """A staged entry as the file would hold it; None for an entry without text."""
    if entry is None:
        return ABSENT
    if entry.mode not in FILES:
        return None
    return Content(entry.mode, blobs.working_form(ctx.git.at(ctx.repo.root), path, entry))


def _was_there(made: Draft, path: bytes, content: Content) -> bool:
    """True when the file held exactly that after a recorded edit: `git add` came between two edits."""
    state = made.states.get(path)
    oid = None if content.data is None else text_id(content.data)
    return state is not None and path_records.as_of(state, oid) is not None


def _selected(
    ctx: Context,
    bench: Workbench,
    made: Draft,
    job: _Job,
    odd: list[bytes],
    texts: Mapping[bytes, Content | None],
) -> tuple[Draft, set[bytes]]:
    """The draft without the session's lines that are not staged, and the paths of which only a part goes."""
    left: list[Left] = []
    chosen: dict[bytes, Content] = {}
    for path in odd:
        found = next((one for one in made.outcomes if one.path == path and one.taken), None)
        if found is None or path not in made.entries or made.entries[path] == job.staged[path]:
            continue
        text = _selected_text(ctx, made, path, found.content, texts[path])
        if text is None:
            left.append(Left(path, decision.UNCHANGED, Why(Kind.STAGED_OF_OTHERS), optional=True))
        elif found.content is not None and text != found.content.data:
            chosen[path] = Content(found.content.mode, text)
    made = made.without(left)
    entries = dict(made.entries)
    if chosen:
        with Worktree(ctx.repo.root) as worktree:
            entries |= blobs.blobs_for(bench, "chosen", chosen, made.base, worktree)
    for path in [p for p in odd if p in entries and entries[p] == made.base.entry(p)]:
        del entries[path]
    return plan.rebuilt(ctx, bench, made._replace(entries=entries)), set(chosen)


def _selected_text(
    ctx: Context, made: Draft, path: bytes, wanted: Content | None, staged: Content | None
) -> bytes | None:
    """The text with the session's lines as far as they are staged, None where none of them is."""
    if wanted is None or staged is None or wanted.data is None or staged.data is None:
        return None
    entry = made.base.entry(path)
    head = _content(ctx, path, entry) if entry is not None else Content(wanted.mode, b"")
    if head is None or head.data is None or {wanted.mode, staged.mode} - set(FILES):
        return None
    found = _staged_text(head.data, wanted.data, staged.data)
    return None if found == head.data else found


def _refuse_nothing(ctx: Context, job: _Job, made: Draft) -> None:
    if job.amends:  # HEAD may have moved since the first check
        _refuse_foreign(ctx, made.head, job.session, job.staged)
    elif not made.entries:
        offered = [left for left in made.left if left.by_shell]
        is_sure = bool(offered) and all(left.reason == decision.SHELL for left in offered)
        shell = [_with_shell(ctx, job)] if is_sure else []
        raise Refused(
            f"nothing of session '{ctx.called(job.session)}' is in this commit{_reason(ctx, job, made)}",
            *shell,
            "git ralph status  # what it has pending",
        )


def _reason(ctx: Context, job: _Job, made: Draft) -> str:
    """What became of the session's lines in the first of these paths where that is known."""
    notes = [note for note in made.notes if note.path in job.paths]
    notes += [Note(one.path, one.why, one.lines) for one in made.left if one.path in job.paths]
    return "".join(f"; {each}" for each in sentences.told(ctx.layout, notes)[:1])


# --- the index that git reads ---


def _wanted(job: _Job, made: Draft) -> Entries:
    """The staged entries that must not be committed as they are, each with what goes instead."""
    wanted = {p: made.entries[p] if p in made.entries else made.base.entry(p) for p in job.paths}
    return {path: entry for path, entry in wanted.items() if entry != _staged_at(job, made, path)}


def _staged_at(job: _Job, made: Draft, path: bytes) -> Entry | None:
    return job.staged[path] if path in job.staged else made.base.entry(path)


def _narrowed_index(ctx: Context, bench: Workbench, job: _Job, made: Draft) -> str:
    """A copy of the index that git reads, with the session's tree in it.

    Raises MovedError when it differs.
    """
    read = index.copy_index(job.place.read, f"{bench.folder}/read.index")
    todo = _wanted(job, made)
    flags = {path: mark.flags for path, mark in index.entries(ctx.git, read, ctx.repo.root, todo).items()}
    if todo:
        index.advance(ctx.git, read, ctx.repo.root, todo, flags)
    git = ctx.git.at(GIT_INDEX_FILE=read.path)
    if git.run("-c", "core.fsmonitor=false", "write-tree").strip() != made.tree:
        raise PlainIndexMovedError
    index.refresh(ctx, read, todo, flags)
    index.finish(read)
    return read.path


def _exchange(
    ctx: Context, job: _Job, todo: Narrowed, ready: Mapping[str, str], copy: index.IndexCopy
) -> None:
    """Write prepared files under names of their own, then the intent, and then exchange git's files."""
    # These files are named after git's process: they are in use as long as that process lives.
    stem = f"{ctx.layout.tmp}/{job.git['pid']}-{os.urandom(6).hex()}"
    todo.prepared = {kind: f"{stem}.{kind}" for kind in ready}
    if job.place.form == PATHS:
        todo.lock = recover_narrowed.seen(job.place.lock)
    try:
        for kind, path in ready.items():
            os.link(path, todo.prepared[kind])
        intents.write(ctx.layout, todo)
        if job.place.form != AS_IS:
            index.put(todo.prepared["narrowed"], job.place.read)
            return
        plain_index.hold(job.place, copy, todo.prepared, land.WAIT)
        if job.early:
            os.unlink(job.place.lock)
    except BaseException:
        recover_narrowed.drop(ctx.repo, ctx.layout, todo)
        raise


def _with_shell(ctx: Context, job: _Job) -> str:
    return ways_out.with_shell(ctx, job.session, is_sure=True)


def _notes(ctx: Context, job: _Job, made: Draft) -> list[str]:
    out = sentences.told(ctx.layout, made.notes)
    left = {path for path in _wanted(job, made) if path in job.staged}
    offered = [one for one in made.left if one.by_shell and one.path in left.difference(made.entries)]
    shell = sorted({one.path for one in offered if one.reason == decision.SHELL})
    unsure = sorted({one.path for one in offered}.difference(shell))
    others = sorted(left.difference(shell, unsure))
    if others:
        whose = f"session '{ctx.called(job.session)}'"
        out.append(f"only the lines of {whose} are committed; others' stay in {few(others, _SHOWN)}")
    if shell:
        out.append(f"left out: {few(shell, _SHOWN)}, which only its own shell calls changed")
        # the same command takes what others may have made
        out += [] if unsure else [f"to commit that as well: {_with_shell(ctx, job)}"]
    if unsure:
        out.append(f"left out: {few(unsure, _SHOWN)}, which its shell calls may have changed, or another's")
    return out

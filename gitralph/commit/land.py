"""Lands a finished commit in this order: intent, locks of ref and index, index, ref, log.

It also finishes a landing that was cut short. It runs under the repository's commit lock. Every step leaves
something that the next command can complete or drop, so nobody ever has to delete a file.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitralph.base import files, jsonline, layout
from gitralph.base.errors import Busy, Fatal, RalphError
from gitralph.base.layout import Layout
from gitralph.decide import decision
from gitralph.decide.decision import Outcome
from gitralph.git import dead_locks, history, index, refs
from gitralph.git.context import Context
from gitralph.git.index import IndexCopy
from gitralph.git.keep import GoneError, Keep
from gitralph.git.refs import Head, Move, Still
from gitralph.git.repository import Repository
from gitralph.git.run import GitError
from gitralph.git.trees import Entry, TreeReader
from gitralph.hook import journal, sessionfile
from gitralph.hook.record import path_text
from gitralph.records import commit_log, intents
from gitralph.records.intents import Intent
from gitralph.words import sentences

# In seconds. git holds the lock of an index of a million entries for less (1.7 s for a whole rewrite), and so
# does a hook that appends to a journal. After this time Busy is raised.
WAIT = 10.0
# So many open descriptors are synced together: well below the usual limit of 1,024.
_AT_ONCE = 200
# Each try takes milliseconds. Only a program at work stages something during every one of them.
_TRIES = 5

# In seconds. From the index read to the index locked a `git commit` needs milliseconds, on a machine under
# load more. One whose editor is open is not waited for longer.
_STALE = 0.5

UNCOMMIT = "uncommit"


class IndexMovedError(Exception):
    """The user's index changed since it was copied; build the commit again."""


class Landing(NamedTuple):
    """Everything that lands together."""

    repo: Repository
    layout: Layout
    head: Head
    commit: str
    ident: Mapping[str, str]
    subject: str
    copy: IndexCopy
    changes: Mapping[bytes, Entry | None]
    old: Mapping[bytes, Entry | None]
    outcomes: Sequence[Outcome]
    keep: Keep
    family: Sequence[str] = ()
    """The committing session and its subagents' sessions; empty for a person's commit.

    The commit may also include other sessions' lines.
    """
    kind: str = ""
    """The reflog's word for the landing:

    ``amend``, empty, or UNCOMMIT where the branch goes back to ``commit``.
    """


def log_lines(
    lay: Layout, ref: str, commit: str | None, outcomes: Sequence[Outcome], family: Sequence[str] = ()
) -> list[list[object]]:
    """The lines of the log for a commit: ``[kind, session, path, fields]``, journals first.

    ``family``: see Landing.
    """
    lines: list[list[object]] = []
    manifests: dict[str, dict[str, int]] = {}
    notes: dict[str, list[str]] = {}
    for found in outcomes:
        told = sentences.told(lay, found.notes)
        for use in found.uses:
            if use.upto >= 0:
                fields = {
                    "v": 1,
                    "ts": sessionfile.now(),
                    "commit": commit,
                    "upto": use.upto,
                    "units": None if use.units is None else list(use.units),
                    "note": "; ".join(told) or None,
                    "how": found.how,
                }
                # what is said beside something that stays out is no news only once nothing does
                if found.notes and all(one.reason == decision.UNCHANGED for one in found.left):
                    fields["said"] = [list(commit_log.row_of(one.why)) for one in found.notes]
                lines.append(["journal", use.session, path_text(found.path), fields])
            if use.manifest is not None:
                manifests.setdefault(use.session, {})[path_text(found.path)] = use.manifest
            notes.setdefault(use.session, []).extend(told)
    if commit is not None and family and manifests.keys().isdisjoint(family):
        # An amend of the message alone takes nothing, and the new commit is the session's all the same.
        manifests[family[0]] = {}
    for session, paths in manifests.items():
        fields = {
            "v": 1,
            "ts": sessionfile.now(),
            "session": session,
            "worktree": lay.token,
            "commit": commit,
            "ref": ref,
            "note": "; ".join(notes.get(session, ())) or None,
            "paths": paths,
        }
        if commit is not None and family and session not in family:
            fields["included"] = True  # another session's commit included it
        lines.append(["commits", session, "", fields])
    return lines


def _has(fd: int, fields: dict[str, object], session: str) -> bool:
    """True when an open file already has this commit's line for this session.

    The same commit can be made twice (undone, and done again within a second), so the position up to which it
    read counts too.
    """
    # A line without a commit has no name to be found by, and twice it does no harm.
    if not isinstance(fields.get("commit"), str):
        return False
    wanted = [_member("commit", fields["commit"]), _member("session", session)]
    wanted += [_member(key, fields[key]) for key in ("upto", "paths") if key in fields]
    data = os.pread(fd, os.fstat(fd).st_size, 0)
    return any(all(one in line for one in wanted) for line in data.split(b"\n"))


def _is_told(fd: int, session: str, fields: dict[str, object]) -> bool:
    """True when an open journal already tells everything that a line without a commit would tell."""
    found = journal.parse(os.pread(fd, os.fstat(fd).st_size, 0))
    is_said = commit_log.rows_in(fields) <= commit_log.said(found, session)
    upto = commit_log.told(found, session)
    return is_said and all(r.offset < upto for r in found.records if r.session == session)


def _member(key: str, value: object) -> bytes:
    return jsonline.dumps({key: value}).encode("ascii")[1:-1]


def _append_journal(
    lay: Layout, session: str, path: bytes, fields: dict[str, object], written: list[int]
) -> None:
    name = lay.journal(path)
    # gc removed the journal: nothing of this path was pending, so nothing is to be told.
    if not os.path.lexists(name):
        return
    with files.Locked(name, WAIT) as fd:
        if not _has(fd, fields, session) and not (
            fields.get("commit") is None and _is_told(fd, session, fields)
        ):
            keys = journal.tail(fd)
            chain = {
                "session": session,
                "before": keys.get("before"),
                "after": keys.get("after"),
                "exact": keys.get("exact") or journal.NONE,
            }
            files.append(fd, jsonline.line({**fields, **chain}))
            written.append(files.unlocked(fd))


def _append_commits(lay: Layout, session: str, fields: dict[str, object], written: list[int]) -> None:
    with files.Locked(lay.commits(session), WAIT) as fd:
        if not _has(fd, fields, session):
            files.append(fd, jsonline.line(fields))
            written.append(files.unlocked(fd))


def write_log(lay: Layout, lines: list[list[object]]) -> None:
    """Append lines of the log, each at most once for a commit; they are on disk when this returns."""
    written: list[int] = []
    try:
        _append_all(lay, lines, written)
    finally:
        files.sync_all(written)


def _append_all(lay: Layout, lines: list[list[object]], written: list[int]) -> None:
    for kind, session, path, fields in lines:
        if len(written) >= _AT_ONCE:
            files.sync_all(written)
            written.clear()
        if not (isinstance(session, str) and isinstance(path, str) and isinstance(fields, dict)):
            continue
        if kind == "journal":
            _append_journal(lay, session, path.encode("utf-8", "surrogateescape"), fields, written)
        else:
            _append_commits(lay, session, fields, written)


def row(path: bytes, old: Entry | None, new: Entry | None) -> list[object]:
    """An index entry before and after, in the form of an intent."""
    shown = [[f"{e.mode:o}", e.oid.decode()] if e else None for e in (old, new)]
    return [path_text(path), *shown]


def _prepared(lay: Layout, copy: IndexCopy) -> dict[str, str]:
    """Names for the new index, for its second name on the way, and for the old one where there is one."""
    stamp = f"{os.getpid()}-{os.urandom(6).hex()}"
    kinds = ["index", "index.second", *([] if copy.missing else ["before"])]
    return {kind: f"{lay.tmp}/{stamp}.{kind}" for kind in kinds}


def land(landing: Landing, still: Still | None = None) -> None:
    """Move the branch and the index together, then log what the commit took.

    ``still`` holds HEAD where the commit was built on it; it is released on the way. Raises
    refs.LostRaceError or IndexMovedError when the commit must be built again, Busy when a git lock is held.
    Nothing has moved in these cases.
    """
    repo, lay = landing.repo, landing.layout
    ref = landing.head.name
    prepared = _prepared(lay, landing.copy)
    plan = Intent(
        commit=landing.commit,
        ref=landing.head.ref,
        old=landing.head.oid,
        git_dir=repo.git_dir,
        token=lay.token,
        index=[row(p, landing.old.get(p), e) for p, e in landing.changes.items()],
        lines=log_lines(lay, ref, landing.commit, landing.outcomes, landing.family),
        prepared=prepared,
        back=landing.kind == UNCOMMIT,
    )
    move = Move(landing.head, landing.commit, landing.ident, _reflog(landing))
    if landing.changes:
        # The prepared index is complete under a private name: `link(2)` then makes it the lock at once or not
        # at all.
        index.finish(landing.copy)
        os.link(landing.copy.path, prepared["index"])
    # From here on a crash can be finished: the intent names everything that is to move, and nothing has moved
    # yet.
    intents.write(lay, plan)
    try:
        _move(landing, move, prepared, still)
    except BaseException as error:
        # An error after the ref moved (a full disk, say) must not forget the commit: the next command
        # finishes it.
        if isinstance(error, (refs.LostRaceError, IndexMovedError)) or not landed(repo, plan):
            index.take_back(repo.index, prepared)
            index.drop_lock(repo.index, prepared)
            intents.remove(lay, plan)
        raise
    write_log(lay, plan.lines)
    if not landing.changes or _stays_forward(landing, plan):
        intents.remove(lay, plan)


def _stays_forward(landing: Landing, plan: Intent) -> bool:
    """Bring the index forward once more where another git has put an older one in its place.

    False where something stands in the way: the commit has landed, and the next command brings it forward.

    `git commit` reads the index before it locks it (prepare_index in git's builtin/commit.c). One that read
    before our exchange and locks after it writes what it read, even if it then fails because HEAD moved; the
    next plain commit would take the landed lines back. So this waits for those at work, and looks again.
    """
    with contextlib.suppress(RalphError, OSError):
        dead_locks.wait_for_commits(landing.repo, _STALE)
        _bring_forward(landing.repo, landing.layout, plan)
        return True
    return False


def _reflog(landing: Landing) -> str:
    if landing.kind == UNCOMMIT:
        return f"uncommit: {landing.subject}"
    kind = f"commit ({landing.kind})" if landing.kind else "commit"
    kind = kind if landing.head.oid else "commit (initial)"
    return f"{kind}: {landing.subject}"


class _IndexHeldError(Exception):
    """Somebody has the index's lock, and may wait for the lock of HEAD, which we hold."""


def _move(landing: Landing, move: Move, prepared: Mapping[str, str], still: Still | None) -> None:
    repo, lock = landing.repo, landing.repo.index + ".lock"

    @contextlib.contextmanager
    def exchanged() -> Iterator[None]:
        # The index's lock is taken last: a `git add` or `git commit` that meets it fails at once, while one
        # that meets a ref's lock waits. It is held only for the move, a millisecond.
        if not index.try_lock(prepared["index"], lock):
            raise _IndexHeldError
        try:
            # A `git add` may have come after the copy and ended before we had the lock. To install the copy
            # would lose it.
            if index.moved(landing.copy):
                raise IndexMovedError
            # The index goes first, under the ref's lock: a git that sees the new HEAD then sees the new index
            # as well, and one that saw the old HEAD cannot move it any more. The other way round a
            # `git commit` that read both between the two would take the landed lines back.
            index.exchange(repo.index, prepared)
            try:
                yield
            except GitError:
                # Under the lock, so that nobody commits or changes an index whose commit did not come.
                if refs.read_head(repo) == move.head:
                    index.take_back(repo.index, prepared)
                raise
        finally:
            index.drop_lock(repo.index, prepared)

    if not landing.changes:
        _swap(landing, move, still)
        refs.sync(repo, move.head)
        return
    deadline = time.monotonic() + WAIT
    while True:
        if still is not None and os.path.lexists(lock):
            still.release()
        index.wait_for_lock(lock, deadline - time.monotonic())
        try:
            _swap(landing, move, still, exchanged)
            break
        except _IndexHeldError:
            continue
    refs.sync(repo, move.head)


def _swap(
    landing: Landing,
    move: Move,
    still: Still | None,
    around: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
) -> None:
    """Move the ref. The objects are looked up right before and, in case a gc is at work, right after."""
    for _ in range(_TRIES):
        landing.keep.restore()
        try:
            refs.swap(landing.repo, move, WAIT, still, around)
            break
        except GitError:
            # git moves a ref only to a commit that exists, so a gc may have come between.
            if not landing.keep.restore():
                raise
    else:
        raise GoneError(landing.commit)
    landing.keep.restore()


def recover(ctx: Context) -> None:
    """Finish or drop every unfinished intent of a commit. Idempotent.

    Raises Busy where somebody holds, or may hold, the branch's lock: that git may still move the branch.
    """
    repo, top = ctx.repo, ctx.layout
    for plan in list(intents.unfinished(top, Intent)):
        there = seen_from(repo, plan.git_dir)
        dead_locks.settle_refs(there or repo, plan.ref)
        if landed(repo, plan):
            finish(repo, top, plan)
        elif there is not None:
            index.take_back(there.index, plan.prepared)
        if there is not None:
            index.drop_lock(there.index, plan.prepared)
        intents.remove(top, plan)


def landed(repo: Repository, plan: Intent) -> bool:
    """True when the branch of an intent has its commit, or had it once."""
    there = seen_from(repo, plan.git_dir)
    if plan.ref is None:
        now = refs.read_head(there) if there else Head(None, None)
    else:
        now = Head(plan.ref, _branch_value(repo, plan.ref))
    if plan.back:
        return not refs.contains(repo, now, str(plan.old))
    # A reflog entry that starts from the commit proves that it landed and was left again. An entry that ends
    # at it proves nothing, since git writes the log before it renames the ref.
    return refs.contains(repo, now, plan.commit) or refs.left_from(there or repo, plan.ref, plan.commit)


def _branch_value(repo: Repository, ref: str) -> str | None:
    done = repo.git.try_run("rev-parse", "--verify", "-q", ref)
    return done.stdout.decode().strip() or None


def seen_from(repo: Repository, git_dir: str) -> Repository | None:
    """The repository seen from the worktree whose admin folder is ``git_dir``; None for none of ours."""
    if git_dir == repo.git_dir:
        return repo
    real = os.path.realpath(git_dir)
    # The git dir is checked too: only this repository's own worktrees are ever finished.
    inside = real == repo.common_dir or os.path.dirname(real) == repo.common_dir + "/worktrees"
    if not inside or not os.path.isdir(real):
        return None
    git = repo.git.at(GIT_DIR=real)
    return Repository(git, real, repo.common_dir, repo.root, repo.hooks_dir, b"")


def own_layout(top: Layout, token: str) -> Layout:
    """The state folder of the worktree that an intent names."""
    # Anybody with our uid may have written the intent file: a token with a slash would lead outside.
    safe = token if "/" not in token and token not in ("", ".", "..") else layout.MAIN
    return Layout(top.top, safe)


def finish(repo: Repository, top: Layout, plan: Intent) -> None:
    """Bring the index forward and write the log, for a commit that the branch has."""
    there = seen_from(repo, plan.git_dir)
    if there is not None:
        try:
            _bring_forward(there, top, plan)
        finally:
            # the caller closes its own repository, but this one's reader of packs is ours
            if there is not repo:
                there.close()
    write_log(own_layout(top, plan.token), plan.lines)


def _bring_forward(repo: Repository, top: Layout, plan: Intent) -> None:
    """Bring the index forward to a commit that the branch has. Raises Busy where the index keeps moving."""
    lock, prepared = repo.index + ".lock", plan.prepared.get("index", "")
    if index.is_ours(repo.index, prepared):
        return
    head = refs.read_head(repo)
    if not refs.contains(repo, head, plan.commit):  # else the index would show a phantom staged change
        return
    if index.is_ours(lock, prepared):  # git made this commit of a narrowed index, and died before its rename
        os.rename(lock, repo.index)
    elif plan.index:
        _advance_again(repo, top, head, plan)


def _advance_again(repo: Repository, top: Layout, head: Head, plan: Intent) -> None:
    """Bring forward the index entries that still are as they were before the commit.

    They become what was planned, which may carry over a staged change of the user. Where HEAD has moved on in
    a path, only an entry without a staged change follows it. Raises Busy where the index moved at each try:
    then the intent must stay.
    """
    rows = {str(row[0]).encode("utf-8", "surrogateescape"): entry(row[1]) for row in plan.index}
    planned = {str(row[0]).encode("utf-8", "surrogateescape"): entry(row[2]) for row in plan.index}
    landed, before = _reader_of(repo, plan.commit), _reader_of(repo, plan.old)
    reader = _reader_of(repo, head.oid)
    for _ in range(_TRIES):
        copy = index.copy_index(repo.index, f"{top.tmp}/{os.getpid()}-{os.urandom(4).hex()}.index")
        try:
            staged = index.entries(repo.git, copy, repo.root, rows)
            todo = {}
            for path, old in rows.items():
                now = staged[path].entry if path in staged else None
                if reader.entry(path) == landed.entry(path):
                    wanted = planned[path]
                else:
                    wanted = reader.entry(path) if old == before.entry(path) else old
                # An entry that has changed since was staged by the user after the crash.
                if now == old and now != wanted:
                    todo[path] = wanted
            if not todo:
                return
            index.advance(repo.git, copy, repo.root, todo, {p: s.flags for p, s in staged.items()})
            if install(repo, copy):
                return
        finally:
            copy.remove()
    raise Busy(f"'{repo.index}' changes all the time", "try again when no other git is at work here")


def _reader_of(repo: Repository, commit: str | None) -> TreeReader:
    return TreeReader(repo.objects, history.tree_of(repo, commit) if commit else None)


def install(repo: Repository, copy: IndexCopy) -> bool:
    """Put a copy that was changed in the index's place; False where the index has moved."""
    lock = repo.index + ".lock"
    index.finish(copy)
    index.take_lock(copy.path, lock, WAIT)
    try:
        if index.moved(copy):
            return False
        os.rename(lock, repo.index)
        return True
    finally:
        if index.is_ours(lock, copy.path) and os.path.exists(lock):
            os.unlink(lock)
        copy.remove()


def entry(row: object) -> Entry | None:
    """An entry in the form of an intent. Raises Fatal for a value that cannot be one."""
    if not isinstance(row, list) or len(row) != 2:
        return None
    try:
        return Entry(int(str(row[0]), 8), str(row[1]).encode("ascii"))
    except ValueError as error:
        raise Fatal("an intent file is damaged") from error

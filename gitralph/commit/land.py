"""Lands a finished commit: intent, locks of ref and index, ref, index, log; finishes a cut one.

Runs under the repository-wide commit lock. Every step leaves something the next command can complete
or drop, so nobody ever has to delete a file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gitralph.base import files, jsonline, layout
from gitralph.base.errors import Busy, Fatal
from gitralph.base.layout import Layout
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
from gitralph.records import commit_log, intents
from gitralph.records.intents import Intent
from gitralph.words import sentences

# Longer than git holds the lock of an index of a million entries (1.7 s for a whole rewrite), and than a hook
# that is not stopped holds a journal's, for one append; after it, Busy.
WAIT = 10.0
# Open descriptors before they are synced together: well below the usual limit of 1,024.
_AT_ONCE = 200
# Each try takes milliseconds: who stages something in every one of them is a program at work.
_TRIES = 5

UNCOMMIT = "uncommit"


class IndexMovedError(Exception):
    """The user's index changed since it was copied; build it again."""


class Landing(NamedTuple):
    """Everything that lands together."""

    repo: Repository
    layout: Layout
    head: Head
    commit: str
    ident: Mapping[str, str]
    subject: str
    copy: IndexCopy
    touches_index: bool
    changes: Mapping[bytes, Entry | None]
    old: Mapping[bytes, Entry | None]
    outcomes: Sequence[Outcome]
    keep: Keep
    family: Sequence[str] = ()
    """The committing session and its subagents' sessions; of others something may be included."""
    kind: str = ""
    """What the reflog calls it: ``amend``, empty, or UNCOMMIT where the branch goes back to ``commit``."""


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def log_lines(
    lay: Layout, ref: str, commit: str | None, outcomes: Sequence[Outcome], family: Sequence[str] = ()
) -> list[list[object]]:
    """The log of a commit: ``[kind, session, path, fields]``, journals first.

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
                if found.notes:
                    fields["said"] = [list(commit_log.row_of(one.why)) for one in found.notes]
                lines.append(["journal", use.session, _text(found.path), fields])
            if use.manifest is not None:
                manifests.setdefault(use.session, {})[_text(found.path)] = use.manifest
            notes.setdefault(use.session, []).extend(told)
    for session, paths in manifests.items():
        fields = {
            "v": 1,
            "ts": sessionfile.now(),
            "session": session,
            "worktree": lay.token,
            "commit": commit,
            "ref": ref,
            "note": "; ".join(notes[session]) or None,
            "paths": paths,
        }
        if commit is not None and family and session not in family:
            fields["included"] = True  # by another session's commit
        lines.append(["commits", session, "", fields])
    return lines


def _encode(fields: object) -> bytes:
    return jsonline.line(fields)


def _has(fd: int, fields: dict[str, object], session: str) -> bool:
    """True when an open file already has this commit's line for this session.

    The same commit can be made twice (undone, and done again within a second), so how far it read
    counts too.
    """
    # What needs no commit has no name to be found by, and twice does no harm.
    if not isinstance(fields.get("commit"), str):
        return False
    wanted = [_member("commit", fields["commit"]), _member("session", session)]
    wanted += [_member(key, fields[key]) for key in ("upto", "paths") if key in fields]
    data = os.pread(fd, os.fstat(fd).st_size, 0)
    return any(all(one in line for one in wanted) for line in data.split(b"\n"))


def _is_told(fd: int, session: str, fields: dict[str, object]) -> bool:
    """True when an open journal tells already of all that a line without a commit would tell of."""
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
    # gc removed it: nothing of this path was pending, so there is nothing to tell.
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
            files.append(fd, _encode({**fields, **chain}))
            written.append(files.unlocked(fd))


def _append_commits(lay: Layout, session: str, fields: dict[str, object], written: list[int]) -> None:
    with files.Locked(lay.commits(session), WAIT) as fd:
        if not _has(fd, fields, session):
            files.append(fd, _encode(fields))
            written.append(files.unlocked(fd))


def write_log(lay: Layout, lines: list[list[object]]) -> None:
    """Append lines of the log, each at most once a commit, durable when this returns."""
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
    """One entry of an index before and after, as an intent keeps it."""
    shown = [[f"{e.mode:o}", e.oid.decode()] if e else None for e in (old, new)]
    return [_text(path), *shown]


def _prepared(lay: Layout) -> dict[str, str]:
    stamp = f"{os.getpid()}-{os.urandom(6).hex()}"
    return {kind: f"{lay.tmp}/{stamp}.{kind}" for kind in ("index",)}


def land(landing: Landing, still: Still | None = None) -> None:
    """Move the branch and the index together, then log what it took.

    ``still`` holds HEAD where the commit was built on it, and is let go of on the way.

    Raises refs.LostRaceError or IndexMovedError when it must be built again, Busy when a git lock is
    held; nothing has moved in these cases.
    """
    repo, lay = landing.repo, landing.layout
    ref = landing.head.name
    prepared = _prepared(lay)
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
    if landing.touches_index:
        # Finished, under a private name: `link(2)` then makes it the lock whole or not at all.
        index.finish(landing.copy)
        os.link(landing.copy.path, prepared["index"])
    # From here on a crash can be finished: the intent names all that is to move, and nothing has moved yet.
    intents.write(lay, plan)
    try:
        _move(landing, move, prepared["index"], still)
    except (refs.LostRaceError, IndexMovedError):
        intents.remove(lay, plan)
        raise
    except BaseException:
        # An error after the ref moved (a full disk, say) must not forget the commit: the next command
        # finishes it.
        if not landed(repo, plan):
            intents.remove(lay, plan)
        raise
    write_log(lay, plan.lines)
    intents.remove(lay, plan)


def _reflog(landing: Landing) -> str:
    if landing.kind == UNCOMMIT:
        return f"uncommit: {landing.subject}"
    kind = f"commit ({landing.kind})" if landing.kind else "commit"
    kind = kind if landing.head.oid else "commit (initial)"
    return f"{kind}: {landing.subject}"


class _IndexHeldError(Exception):
    """Somebody has the index's lock, and may wait for HEAD's, which we hold."""


def _move(landing: Landing, move: Move, prepared: str, still: Still | None) -> None:
    repo, lock = landing.repo, landing.repo.index + ".lock"

    def take() -> None:
        if not index.try_lock(prepared, lock):
            raise _IndexHeldError
        # A `git add` that came after the copy and ended before the lock was ours: installing the copy would
        # lose it.
        if index.moved(landing.copy):
            raise IndexMovedError

    if not landing.touches_index:
        _swap(landing, move, still)
        refs.sync(repo, move.head)
        return
    deadline = time.monotonic() + WAIT
    try:
        while True:
            if still is not None and os.path.lexists(lock):
                still.release()
            index.wait_for_lock(lock, deadline - time.monotonic())
            try:
                # The index's lock last: a `git add` or `git commit` that meets it fails at once, where one
                # that meets a ref's lock waits. It is held for the move alone, a millisecond.
                _swap(landing, move, still, take)
                break
            except _IndexHeldError:
                continue
        # Ref first, then index: killed between them, recovery installs the linked index or advances entry by
        # entry. The other way round the user would see a reversal staged.
        os.rename(lock, repo.index)
    except BaseException:
        if index.is_ours(lock, prepared):
            os.unlink(lock)
        raise
    refs.sync(repo, move.head)


def _swap(
    landing: Landing, move: Move, still: Still | None, before: Callable[[], None] | None = None
) -> None:
    """Move the ref; the objects are looked up right before and, against a gc at work, right after."""
    for _ in range(_TRIES):
        landing.keep.restore()
        try:
            refs.swap(landing.repo, move, WAIT, still, before)
            break
        except GitError:
            # git moves a ref to no commit that is not there, so a gc may have come between.
            if not landing.keep.restore():
                raise
    else:
        raise GoneError(landing.commit)
    landing.keep.restore()


def recover(ctx: Context) -> list[str]:
    """Finish or drop every unfinished intent; returns the commits that were finished.

    Idempotent. Raises Busy where somebody holds the branch's lock, or may: its git may move it still.
    """
    repo, top = ctx.repo, ctx.layout
    finished = []
    for plan in list(intents.unfinished(top, Intent)):
        there = seen_from(repo, plan.git_dir)
        dead_locks.settle_refs(there or repo, plan.ref)
        if landed(repo, plan):
            finish(repo, top, plan)
            finished.append(plan.commit)
        if there is not None:
            _drop_lock(there, plan)
        intents.remove(top, plan)
    return finished


def landed(repo: Repository, plan: Intent) -> bool:
    """True when the branch of an intent has its commit, or had it once."""
    if plan.ref is None:
        there = seen_from(repo, plan.git_dir)
        now = refs.read_head(there) if there else Head(None, None)
    else:
        now = Head(plan.ref, _branch_value(repo, plan.ref))
    if plan.back:
        return not refs.contains(repo, now, str(plan.old))
    # A reflog entry that starts from the commit proves it landed and was left again; one that ends at it
    # proves nothing, since git writes the log before it renames the ref.
    there = seen_from(repo, plan.git_dir) or repo
    return refs.contains(repo, now, plan.commit) or refs.left_from(there, plan.ref, plan.commit)


def _branch_value(repo: Repository, ref: str) -> str | None:
    done = repo.git.try_run("rev-parse", "--verify", "-q", ref)
    return done.stdout.decode().strip() or None


def seen_from(repo: Repository, git_dir: str) -> Repository | None:
    """The same repository seen from the worktree whose admin folder is ``git_dir``."""
    if git_dir == repo.git_dir:
        return repo
    real = os.path.realpath(git_dir)
    # The same for the git dir: only this repository's own worktrees are ever finished.
    inside = real == repo.common_dir or os.path.dirname(real) == repo.common_dir + "/worktrees"
    if not inside or not os.path.isdir(real):
        return None
    git = repo.git.at(GIT_DIR=real)
    return Repository(git, real, repo.common_dir, repo.root, repo.hooks_dir, b"")


def own_layout(top: Layout, token: str) -> Layout:
    """The state of the worktree that an intent names."""
    # The intent is a file that anybody with our uid may have written: a token with a slash would lead
    # outside.
    safe = token if "/" not in token and token not in ("", ".", "..") else layout.MAIN
    return Layout(top.top, safe)


def finish(repo: Repository, top: Layout, plan: Intent) -> None:
    """Bring the index forward and log what it took, for a commit that the branch has."""
    there = seen_from(repo, plan.git_dir)
    if there is not None:
        lock, prepared = there.index + ".lock", plan.prepared.get("index", "")
        head = refs.read_head(there)
        if refs.contains(there, head, plan.commit):  # else it would be a phantom staged change
            if index.is_ours(lock, prepared):
                os.rename(lock, there.index)
            elif plan.index:
                try:
                    _advance_again(there, top, head, plan)
                finally:
                    if there is not repo:  # the caller closes its own; this one's reader of packs is ours
                        there.close()
    write_log(own_layout(top, plan.token), plan.lines)


def _advance_again(repo: Repository, top: Layout, head: Head, plan: Intent) -> None:
    """Bring forward the entries that still are what they were before the commit.

    They become what was planned, which may carry a staged change of the user over; where HEAD has
    moved on in a path, only an entry without a staged change follows it. Raises Busy where the index
    moved each time it was tried: the intent must stay then.
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
                # An entry that is no longer what it was before the commit was staged anew by the user, after
                # the crash.
                if now == old and now != wanted:
                    todo[path] = wanted
            if not todo or install(repo, copy, todo, {p: s.flags for p, s in staged.items()}):
                return
        finally:
            copy.remove()
    raise Busy(f"'{repo.index}' changes all the time", "try again when no other git is at work here")


def _reader_of(repo: Repository, commit: str | None) -> TreeReader:
    return TreeReader(repo.objects, history.tree_of(repo, commit) if commit else None)


def install(
    repo: Repository,
    copy: IndexCopy,
    todo: Mapping[bytes, Entry | None],
    flags: Mapping[bytes, str],
) -> bool:
    """Put the copy in the index's place with these entries changed; False where that has moved."""
    lock = repo.index + ".lock"
    index.advance(repo.git, copy, repo.root, todo, flags)
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
    """An entry as an intent keeps it. Raises Fatal for what none can be."""
    if not isinstance(row, list) or len(row) != 2:
        return None
    try:
        return Entry(int(str(row[0]), 8), str(row[1]).encode("ascii"))
    except ValueError as error:
        raise Fatal("an intent file is damaged") from error


def _drop_lock(there: Repository, plan: Intent) -> None:
    """Remove the index's lock where it is this dead commit's own prepared file."""
    lock, prepared = there.index + ".lock", plan.prepared.get("index", "")
    if prepared and index.is_ours(lock, prepared):
        os.unlink(lock)

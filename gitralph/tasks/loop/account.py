"""Compares what a task changed with what landed: no box is ticked while they differ.

A change is what git finds now and did not find, or found otherwise, when the task began. The records and the
pictures of shell commands tell whose it is. An unexplained change counts against a task that landed nothing,
and is only mentioned beside one that did.
"""

import json
import os
import zlib
from collections.abc import Container
from dataclasses import dataclass, field

from gitralph.ask import status
from gitralph.ask.status import Owned
from gitralph.base import files, jsonline, treepath
from gitralph.base.layout import Layout
from gitralph.base.quote import shown
from gitralph.decide import decision, pending_paths
from gitralph.decide.request import Result
from gitralph.git import history, refs, uncommitted, worktrees
from gitralph.git.context import Context
from gitralph.hook import journal, sessionfile
from gitralph.hook import record as recording
from gitralph.hook.journal import GAP, TEXT_LIMIT, UNDO, Record
from gitralph.hook.record import path_text
from gitralph.records import checklist as plans
from gitralph.records import commit_log, manifests, path_records
from gitralph.records import run_record as runs
from gitralph.sessions import lifecycle
from gitralph.takeback import loss
from gitralph.tasks.loop import own_commits
from gitralph.tasks.loop.ledger import Job, Ledger
from gitralph.tasks.loop.own_commits import OwnCommits

# --- calls that were cut short ---
#
# An agent may be killed between a write and the hook after it. The event before the call kept the file's
# bytes. A dead agent writes no more, so the difference to the file now is what the call did, unless somebody
# else recorded something meanwhile. Without this the write is nobody's, and the task's next edit stands on a
# line that no commit of it may take.


_CALL_LIMIT = 2 * TEXT_LIMIT
_SHELL = "shell-"


def record_open_calls(ctx: Context, session: str) -> list[str]:
    """Record what the open calls of a session did; returns the paths, as shown to people."""
    folder = os.path.dirname(ctx.layout.call(session, ""))
    out = []
    for name in files.names(folder):
        if name.startswith(_SHELL):
            continue
        try:
            path = _record_call(ctx, session, f"{folder}/{name}")
        except (OSError, ValueError, zlib.error):
            continue  # damaged or gone: nothing is known of that call
        if path is not None:
            out.append(shown(path))
    return out


def _record_call(ctx: Context, session: str, file: str) -> bytes | None:
    """Record one open call and remove it; returns its path where there was something to record."""
    line, _, packed = files.read_bytes(file, _CALL_LIMIT).partition(b"\n")
    os.unlink(file)
    head = jsonline.loads(line.decode("ascii"))
    if not isinstance(head, dict) or not isinstance(head.get("path"), str):
        return None
    path = str(head["path"]).encode("utf-8", "surrogateescape")
    absent = head.get("absent") is True
    before = None if absent else zlib.decompressobj().decompress(packed, TEXT_LIMIT + 1)
    if not treepath.is_valid(path) or path_records.journal_bytes(ctx.layout, path) != head.get("journal"):
        return None
    disk = recording.look(os.path.join(ctx.repo.root, os.fsdecode(path)))
    if disk.text == before or (disk.mode is not None and disk.text is None):
        return None
    mode = head.get("mode")
    old, new = before or b"", disk.text or b""
    record = Record(
        session,
        "delete" if disk.text is None else "create" if absent else "edit",
        None if before is None else journal.text_id(before),
        disk.oid,
        journal.WINDOW,
        hunks=[journal.hunk_between(old, new)],
        mode=(mode if isinstance(mode, str) else None, disk.mode),
        ts=sessionfile.now(),
        mtime=disk.mtime,
    )
    recording.write(ctx.layout, session, path, record, before)
    return path


# --- the account ---


TRACKER = b".beads/"
_STASH = "refs/stash"
_OURS = (TRACKER, b".worktrees/")
# Left out of a commit although the commit misses nothing.
_NOT_MISSED = frozenset([decision.UNCHANGED, decision.IGNORED, decision.GONE])
# A bound on memory, not on use: no file of ours comes near it, one that somebody put there may.
_LIMIT = 1 << 30


@dataclass(frozen=True)
class Account:
    """What a task changed and does not land; each list has paths as shown to people.

    ``missed``: known to be the task's. ``doubtful``: nobody recorded it and nothing explains it.
    ``replaced``: uncommitted and others', in a path that the task edited and has nothing left to commit of.
    ``astray``: recorded for a session that began meanwhile and belongs to nobody in this run. ``gone``:
    recorded, and no recorded edit took it back. ``written_over``: others' lines are all that is uncommitted
    there, and ``git ralph restore`` would bring its own back. ``lost``: its commits that HEAD does not have,
    where they took what is gone, each with a branch that has it, or "". ``elsewhere``: in other worktrees,
    by their roots. ``ignored``: recorded, and git ignores it. ``others``: recorded by others.
    """

    missed: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    astray: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    written_over: list[str] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    elsewhere: dict[str, list[str]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    fresh: list[bytes] = field(default_factory=list)

    @property
    def unexplained(self) -> list[str]:
        """What no record of this run explains."""
        return self.doubtful + self.replaced


def listed(names: list[str]) -> str:
    """Paths for a sentence, the first few by name."""
    head = ", ".join(f"'{name}'" for name in names[:5])
    return head + (f" and {len(names) - 5} more" if len(names) > 5 else "")


# --- what the task began with ---


def _stamp(root: str, path: bytes) -> str:
    """When and how a path was last written: a file that was dirty before may have changed since."""
    try:
        found = os.lstat(os.path.join(os.fsencode(root), path))
        return f"{found.st_mtime_ns} {found.st_size}"
    except OSError:
        return "-"


def _before_file(layout: Layout, run: str, session: str) -> str:
    return f"{layout.run_folder(run)}/{layout.stem(session)}.before"


def stamps(ctx: Context) -> dict[bytes, str]:
    """The paths that are dirty now, each with its stamp."""
    return {path: _stamp(ctx.repo.root, path) for path in uncommitted.dirty_paths(ctx.repo, ctx.config)}


def begin(ctx: Context, run: str, session: str) -> None:
    """Note which paths are dirty when a task begins."""
    kept = {path_text(path): stamp for path, stamp in stamps(ctx).items()}
    name = _before_file(ctx.layout, run, session)
    files.make_folder(os.path.dirname(name))
    # The present end of the reflog: only what comes behind it happened during the task.
    size = os.stat(_reflog(ctx)).st_size
    facts = {"stash": worktrees.value(ctx.git, _STASH) or "", "reflog": size, "dirty": kept}
    files.write_whole(name, json.dumps(facts).encode("ascii"))


@dataclass(frozen=True)
class Began:
    """The paths that were dirty when a task began; none where the note was lost, so all count as its own."""

    stash: str = ""
    reflog: int = 0
    dirty: dict[str, str] = field(default_factory=dict)


def began(layout: Layout, run: str, session: str) -> Began:
    """What was noted when the task began; nothing for what cannot be read."""
    try:
        found = json.loads(files.read_bytes(_before_file(layout, run, session), _LIMIT))
        return Began(
            str(found["stash"]), int(found["reflog"]), {str(k): str(v) for k, v in found["dirty"].items()}
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Began()


# --- what came of it ---


def _plans(ctx: Context) -> set[bytes]:
    """The plans that loops tick, this one and others: changes in them are our own."""
    named = (record.get("plan") for record in runs.readable(ctx.layout))
    paths = (os.path.join(ctx.repo.root, plan) for plan in named if plan is not None)
    return {os.fsencode(plans.relative(ctx, path)) for path in paths}


def left_before(ctx: Context, ledger: Ledger, job: Job) -> set[bytes]:
    """What earlier attempts at this task changed and did not land, in this run and earlier ones."""
    found: set[bytes] = set()
    for record in runs.readable(ctx.layout):
        if record.get("plan") != ledger.record.get("plan") or record.get("worktree") != ctx.layout.token:
            continue
        for task in record["tasks"]:
            if (task["text"], task.get("copy")) == job.key:
                found |= {os.fsencode(name) for name in task.get("unlanded", ())}
    return found


def take(ctx: Context, ledger: Ledger, job: Job, result: Result) -> Account:
    """Compare what changed since the task began with what its commit takes; ``result`` is a dry run's."""
    before = began(ctx.layout, ledger.run, job.session)
    mine = {one.session for one in ledger.jobs}
    again, ticked = left_before(ctx, ledger, job), _plans(ctx)
    rows = [row for row in status.owners(ctx, job.session) if _counts(row, ticked, result)]
    fresh = [
        row
        for row in rows
        if row.path in again or _stamp(ctx.repo.root, row.path) != before.dirty.get(path_text(row.path))
    ]
    missed = [left.path for left in result.left if left.reason not in _NOT_MISSED]
    reasons = {left.path: left.reason for left in result.left}
    found = Account(missed=sorted({shown(path) for path in missed}), fresh=[row.path for row in fresh])
    for row in fresh:
        # The commit itself says why it leaves this path: it is in `missed`, or left on purpose.
        if reasons.get(row.path, decision.UNCHANGED) != decision.UNCHANGED:
            continue
        name, commands = shown(row.path), {window.session for window in row.likely}
        if job.session in commands:
            (found.missed if commands == {job.session} else found.doubtful).append(name)
        elif commands or set(row.sessions) & mine:
            pass  # another task of this run will account for it
        elif row.path in reasons:
            # A probe in a file that others changed leaves it to them.
            of_others = row.owner != status.NOBODY or path_text(row.path) in before.dirty
            if not (of_others and _is_put_back(ctx, job, row.path)):
                found.replaced.append(name)
        elif row.owner == status.NOBODY:
            found.doubtful.append(name)
        elif any(_began_meanwhile(ctx.layout, one, job) for one in row.sessions):
            found.astray.append(name)
        else:
            found.others.append(name)
    found.ignored.extend(shown(left.path) for left in result.left if left.reason == decision.IGNORED)
    stashed = (worktrees.value(ctx.git, _STASH) or "") != before.stash
    commits = own_commits.of(ctx, path_records.family(ctx.layout, job.session))
    dirty = {row.path for row in rows}
    gone = _gone(ctx, job, commits, result.changes, dirty, stashed or _was_reset(ctx, before))
    # An agent whose task lands may take its own experiments back. A stash, or a branch that HEAD is not on,
    # is something else: there lies work.
    if result.changes and not stashed:
        gone = {path: oid for path, oid in gone.items() if oid is not None and commits.away.get(oid)}
    found.gone.extend(map(shown, gone))
    found.written_over.extend(map(shown, _written_over(ctx, job, result, dirty)))
    # One record names the last commit of its path; those before it belong to the same work.
    found.lost.update(commits.away if any(gone.values()) or commits.astray else {})
    there = dict[str, set[bytes]]()
    for session in path_records.family(ctx.layout, job.session):
        for root, works in lifecycle.works_elsewhere(ctx, session, strict=False).items():
            there.setdefault(root, set()).update(pending_paths.counted(works))
    found.elsewhere.update((root, sorted(map(shown, paths))) for root, paths in there.items() if paths)
    return found


def _written_over(ctx: Context, job: Job, result: Result, dirty: Container[bytes]) -> list[bytes]:
    """The paths in which nothing of a task is left, since somebody wrote them from an older copy.

    What another took out knowingly is no loss, and neither is what the session itself took back.
    """
    out = []
    family = path_records.family(ctx.layout, job.session)
    for left in result.left:
        if left.reason != decision.UNCHANGED or left.path not in dirty:
            continue
        journal = path_records.path_state(ctx.layout, left.path, []).journal
        own = [r for r in journal.records if r.session in family and r.op != GAP]
        read = {r.before for r in own}
        # one that found the file as it stood is no write from an older copy, whoever had put it back
        others = (r for r in journal.records if r.session not in family and r.op != GAP and not r.seen)
        is_old = any(r.before in read and r.offset > own[0].offset for r in others) if own else False
        if is_old and own[-1].op != UNDO and loss.coming_back(ctx, job.session, [left.path]):
            out.append(left.path)
    return out


def _was_reset(ctx: Context, before: Began) -> bool:
    """True when HEAD's reflog tells of a reset since the task began."""
    with open(_reflog(ctx), "rb") as file:
        file.seek(before.reflog)
        return b"\treset: moving to " in file.read(1 << 20)


def _reflog(ctx: Context) -> str:
    name = ctx.repo.git_dir + "/logs/HEAD"
    return name if os.path.isfile(name) else os.devnull


def _counts(row: Owned, ticked: set[bytes], result: Result) -> bool:
    taken = row.path in result.changes and not row.gap
    return not taken and row.path not in ticked and not row.path.startswith(_OURS)


def changed_since(ctx: Context, ledger: Ledger, job: Job, before: dict[bytes, str]) -> dict[bytes, str]:
    """The dirty paths with another stamp than ``before``, but for plans and what other tasks at work do."""
    ours = _plans(ctx)
    for one in ledger.jobs:
        if one is not job and one.outcome is None:
            ours |= manifests.read(ctx.layout, one.session).lines.keys()
    return {
        path: stamp
        for path, stamp in stamps(ctx).items()
        if before.get(path) != stamp and path not in ours and not path.startswith(_OURS)
    }


def _is_put_back(ctx: Context, job: Job, path: bytes) -> bool:
    """True where the last edit of a task left a file as the first one found it."""
    family = path_records.family(ctx.layout, job.session)
    state = path_records.recorded_paths(ctx.layout, family, lambda old: old).get(path)
    own = [r for r in state.journal.records if r.session in family and r.op != GAP] if state else []
    return bool(own) and own[0].before is not None and own[0].before == own[-1].after


def _began_meanwhile(layout: Layout, session: str, job: Job) -> bool:
    """True for a session whose first record came while the task was at work."""
    known = sessionfile.read(layout, session) or {}
    return job.started is not None and str(known.get("started") or "") >= job.started


def _gone(
    ctx: Context,
    job: Job,
    commits: OwnCommits,
    lands: Container[bytes],
    dirty: Container[bytes],
    moved: bool,
) -> dict[bytes, str | None]:
    """Recorded edits whose result is in neither the file nor HEAD, though no recorded edit took it back.

    Each with the commit that took it, where one did: HEAD does not have that commit. A file that was created
    and is gone again is an agent's own experiment, unless it was committed or a stash or reset took it.
    """
    family = path_records.family(ctx.layout, job.session)
    reader = history.base_of(ctx.repo, refs.read_head(ctx.repo))
    out: dict[bytes, str | None] = {}
    for path, state in path_records.recorded_paths(ctx.layout, family, lambda old: old).items():
        own = [r for r in state.journal.records if r.session in family and r.op != GAP]
        commit = commit_log.commit_of(state.journal, own[-1]) if own else None
        if not own or path in lands or (path in dirty if commit is None else commit in commits.held):
            continue
        entry, last = reader.entry(path), own[-1].after
        stands = recording.look(os.path.join(ctx.repo.root, os.fsdecode(path))).oid
        # It was created and deleted within the task, and no git command can have taken it.
        probe = stands is None and entry is None and commit is None and not moved
        if last not in (stands, entry.oid.decode() if entry else None) and not probe:
            out[path] = commit
    return out

"""Starting, listing and ending sessions, and the environment contract of a launcher."""

import os
import time
from collections.abc import Iterator
from typing import Any

from gitralph.base import gitdir, process
from gitralph.base.errors import Fatal, UsageError
from gitralph.base.layout import Layout
from gitralph.commit import pending_paths
from gitralph.commit.pending_paths import Works
from gitralph.context import Context
from gitralph.hook import event_log, sessionfile

_QUIET = 24 * 3600
_NOT_THE_LAUNCHER = frozenset(["git", "git-ralph"])


def records(layout: Layout) -> Iterator[dict[str, Any]]:
    """Every session record of the repository, in the order of their start."""
    found = []
    try:
        names = os.listdir(layout.top)
    except FileNotFoundError:
        return
    for name in names:
        if name.endswith(".json"):
            record = sessionfile.read(layout, name[: -len(".json")].partition("~")[0])
            if record is not None:
                found.append(record)
    yield from sorted(found, key=lambda r: (str(r.get("started")), str(r.get("session"))))


def _last_event(layout: Layout, session: str) -> float:
    times = []
    for name in (layout.manifest(session), layout.record(session)):
        try:
            times.append(os.stat(name).st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)


def state_of(layout: Layout, session: str) -> str:
    """``live``, ``ended`` or ``stale``. Advice for people: nothing is done because of it."""
    record = sessionfile.read(layout, session)
    if record is not None and record.get("ended"):
        return "ended"
    alive = process.is_alive(record.get("process")) if record else None
    if alive is None:
        alive = abs(time.time() - _last_event(layout, session)) < _QUIET
    return "live" if alive else "stale"


def listing(ctx: Context, everybody: dict[str, Works]) -> list[dict[str, object]]:
    """Every session of the repository; ``everybody`` is what commits of this worktree would find."""
    out = []
    for record in records(ctx.layout):
        session = str(record["session"])
        works = everybody.get(session, {})
        if record.get("children") and not works:  # a parent without edits of its own
            works = pending_paths.of(ctx, session)
        out.append(describe(ctx.layout, record, works))
    return out


def describe(layout: Layout, record: dict[str, Any], works: Works) -> dict[str, object]:
    """A session as ``session list --json`` shows it; ``works`` is what a commit of it would find."""
    session = str(record["session"])
    keys = ("agent", "plan", "task", "bead", "worktree")
    shown: dict[str, object] = {"id": session, **{key: record.get(key) for key in keys}}
    shown["state"] = state_of(layout, session)
    shown["started"] = record.get("started")
    shown["pending"] = sum(work.counts for work in works.values())
    return shown


def new_id() -> str:
    """An id that sorts by time and is unique within a second."""
    return time.strftime("s-%Y%m%d-%H%M%S-", time.gmtime()) + os.urandom(4).hex()


def _continued(ctx: Context, plan: str | None, task: str | None) -> str | None:
    for record in reversed(list(records(ctx.layout))):
        same = record.get("plan") == plan and record.get("task") == task
        if same and record.get("worktree") == ctx.layout.token and not record.get("ended"):
            return str(record["session"])
    return None


def _author(ctx: Context) -> str | None:
    done = ctx.git.try_run("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
    if done.returncode:
        return None
    return done.stdout.decode("utf-8", "surrogateescape").rsplit(" ", 2)[0]


def start(
    ctx: Context,
    session: str | None,
    *,
    again: bool,
    agent: str | None = None,
    plan: str | None = None,
    task: str | None = None,
    bead: str | None = None,
    parent: str | None = None,
) -> str:
    """Make or continue a session; returns its id.

    Raises UsageError when an id is taken and ``again`` was not asked for.
    """
    if session is None and again and (plan is not None or task is not None):
        session = _continued(ctx, plan, task)
    launcher = process.ancestor(_NOT_THE_LAUNCHER)
    if session is not None and sessionfile.read(ctx.layout, session) is not None:
        if not again:
            raise UsageError(f"session '{session}' exists already", "use --continue to go on with it")
        sessionfile.update(ctx.layout, session, ended=None, process=launcher)
        sessionfile.mark_active(ctx.layout, session)
        return session
    session = session or new_id()
    fields = sessionfile.new_record(
        ctx.layout, session, agent=agent, plan=plan, task=task, bead=bead, parent=parent,
        root=ctx.repo.root, branch=gitdir.head_branch(ctx.repo.place),
        head=gitdir.head_oid(ctx.repo.place), author=_author(ctx), process=launcher,
    )  # fmt: skip
    sessionfile.create(ctx.layout, fields)
    os.close(_touch(ctx.layout.manifest(session)))
    if parent is not None:
        sessionfile.update(ctx.layout, parent, children=[session])
    return session


def _touch(path: str) -> int:
    from gitralph.base import files

    return files.open_regular(path, os.O_WRONLY | os.O_CREAT)


def contract(ctx: Context, session: str) -> dict[str, str]:
    """The environment that a launcher exports for a session."""
    record = sessionfile.read(ctx.layout, session) or {}
    env = {
        "RALPH_TRACKING": "1",
        "RALPH_ROOT": ctx.repo.root,
        "RALPH_SESSION": session,
        "RALPH_MANIFEST": ctx.layout.manifest(session),
    }
    for name, key in (("RALPH_PLAN", "plan"), ("RALPH_TASK_NUM", "task"), ("RALPH_BEAD", "bead")):
        if record.get(key) is not None:
            env[name] = str(record[key])
    events = _events_file(ctx)
    if events is not None:
        env["RALPH_EVENTS_FILE"] = events
    return env


def _events_file(ctx: Context) -> str | None:
    """The events file of the run that is current here, None when there is none."""
    try:
        found = event_log.chosen(ctx.environ, lambda: ctx.layout)
    except Fatal as error:
        ctx.warn(error.message)
        return None
    return found.path if found.name != event_log.FALLBACK else None


def end(ctx: Context, session: str) -> None:
    """Mark a session as over. Raises Fatal for one we do not know."""
    if sessionfile.read(ctx.layout, session) is None:
        raise Fatal(f"no session '{session}'", "git ralph session list")
    sessionfile.update(ctx.layout, session, ended=sessionfile.now())
    sessionfile.clear_active(ctx.layout, session)

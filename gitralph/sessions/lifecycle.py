"""Starting, listing and ending sessions, and the environment that a launcher passes on."""

from __future__ import annotations

import os
import time
from contextlib import closing
from typing import Any, NamedTuple

from gitralph.base import files, gitdir, process
from gitralph.base.errors import Fatal, RalphError, UsageError
from gitralph.base.layout import Layout
from gitralph.commit import restage
from gitralph.decide import pending_paths
from gitralph.decide.pending_paths import Works
from gitralph.git.context import Context, in_worktree, root_with
from gitralph.hook import event_log, names, sessionfile, shellwatch
from gitralph.records import over_time, path_records, sessions

# git runs us, and both end with the command. The process above these lives as long as the session.
_NOT_THE_LAUNCHER = frozenset(["git", "git-ralph"])


def listing(ctx: Context, everybody: dict[str, Works], finished: bool = False) -> list[dict[str, object]]:
    """Every session of the repository; ``everybody`` is what commits of this worktree would find."""
    out = []
    for record in sessions.records(ctx.layout, finished):
        session = str(record["session"])
        works = everybody.get(session, {})
        if record.get("children") and not works:  # a parent without edits of its own
            works = pending_paths.of(ctx, session)
        out.append(describe(ctx.layout, record, works))
    return out


def works_elsewhere(ctx: Context, session: str, strict: bool = True) -> dict[str, Works]:
    """What a session has pending in other worktrees, by their roots, as a session at work in a bead does.

    Without ``strict`` a damaged worktree tells nothing; git ralph doctor tells of it.
    """
    out = {}
    for state in over_time.worktrees(ctx.layout):
        root = root_with(ctx, state) if os.path.lexists(state.manifest(session)) else None
        if root is not None and root != ctx.repo.root:
            try:
                there = in_worktree(ctx, root)
                with closing(there.repo):
                    out[root] = pending_paths.of(there, session)
            except RalphError:
                if strict:
                    raise
    return out


def describe(layout: Layout, record: dict[str, Any], works: Works) -> dict[str, object]:
    """A session as ``session list --json`` shows it; ``works`` is what a commit of it would find."""
    session = str(record["session"])
    keys = ("agent", "plan", "task", "bead", "worktree")
    name = sessionfile.name_in(layout, record) or session
    shown: dict[str, object] = {"id": session, "name": name, **{key: record.get(key) for key in keys}}
    shown["state"] = sessions.state_of(layout, session)
    shown["started"] = record.get("started")
    shown["pending"] = sum(work.counts for work in works.values())
    return shown


def new_id() -> str:
    """A new id that sorts by time and is unique within a second."""
    return time.strftime("s-%Y%m%d-%H%M%S-", time.gmtime()) + os.urandom(4).hex()


def _continued(ctx: Context, plan: str | None, task: str | None) -> str | None:
    for record in reversed(list(sessions.records(ctx.layout))):
        same = record.get("plan") == plan and record.get("task") == task
        if same and record.get("worktree") == ctx.layout.token and not record.get("ended"):
            return str(record["session"])
    return None


def _author(ctx: Context) -> str | None:
    # Without this option git makes up a name of the login and the host, which nobody chose.
    done = ctx.git.try_run("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
    if done.returncode:
        return None
    return done.stdout.decode("utf-8", "surrogateescape").rsplit(" ", 2)[0]


class NewSession(NamedTuple):
    """What is known of a session that starts; ``again``: continue the one with its id or task."""

    agent: str | None = None
    plan: str | None = None
    task: str | None = None
    bead: str | None = None
    parent: str | None = None
    again: bool = False


def start(ctx: Context, session: str | None, asked: NewSession) -> str:
    """Make or continue a session; returns its id.

    Raises UsageError when the id is taken and the session is not to be continued.
    """
    if session is None and asked.again and (asked.plan is not None or asked.task is not None):
        session = _continued(ctx, asked.plan, asked.task)
    launcher = process.ancestor(_NOT_THE_LAUNCHER)
    if session is not None and sessionfile.read(ctx.layout, session) is not None:
        if not asked.again:
            raise UsageError(f"session '{session}' exists already", "use --continue to go on with it")
        sessionfile.update(ctx.layout, session, ended=None, process=launcher)
        sessionfile.mark_active(ctx.layout, session)
        return session
    # From then on one word would mean two sessions.
    holder = names.holder(ctx.layout, session)
    if holder is not None:
        raise UsageError(f"'{session}' is what session '{holder}' is called", "git ralph session list")
    session = session or new_id()
    fields = sessionfile.new_record(
        ctx.layout,
        session,
        agent=asked.agent,
        plan=asked.plan,
        task=asked.task,
        bead=asked.bead,
        parent=asked.parent,
        root=ctx.repo.root,
        branch=gitdir.head_branch(ctx.repo.place),
        head=gitdir.head_oid(ctx.repo.place),
        author=_author(ctx),
        process=launcher,
    )
    sessionfile.create(ctx.layout, fields)
    # A launcher may append to the manifest at once, and a list of this worktree's sessions finds it there.
    os.close(files.open_regular(ctx.layout.manifest(session), os.O_WRONLY | os.O_CREAT))
    if asked.parent is not None:
        sessionfile.update(ctx.layout, asked.parent, children=[session])
    return session


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
    """The events file of the current run; None when there is none."""
    try:
        found = event_log.chosen(ctx.environ, lambda: ctx.layout)
    except Fatal as error:
        ctx.warn(error.message)
        return None
    return found.path if found.name != event_log.FALLBACK else None


def end(ctx: Context, session: str) -> None:
    """Mark a session as over. Raises Fatal for an unknown one."""
    if sessionfile.read(ctx.layout, session) is None:
        raise Fatal(f"no session '{session}'", "git ralph session list")
    for name in path_records.family(ctx.layout, session):
        shellwatch.close_all(ctx.layout, name, dict(ctx.environ))
    sessionfile.update(ctx.layout, session, ended=sessionfile.now())
    sessionfile.clear_active(ctx.layout, session)
    restage.due(ctx, session)


# --- ``git ralph session rename``: a name that a person chose ---


def rename(ctx: Context, session: str, name: str) -> None:
    """Give ``session`` the name. Raises UsageError for a taken or invalid name, Fatal without a record.

    A kill in between leaves it both names. ``gc`` removes the name that its record does not tell.
    """
    layout = ctx.layout
    if not names.is_valid(name):
        raise UsageError(f"'{name[:60]}' is not a name for a session", names.RULE)
    record = sessionfile.read(layout, session)
    if record is None:
        raise Fatal(f"session '{session}' has no record, so it cannot be named", "git ralph session list")
    try:
        taken = names.take(layout, name, session)
    except OSError as error:
        raise Fatal(f"cannot write '{layout.name(name)}': {error.strerror or error}") from error
    if not taken:
        holder = names.holder(layout, name)
        taken_by = f"session '{holder}' is called '{name}'" if holder else f"'{name}' is a session's id"
        raise UsageError(f"{taken_by}; choose another name", "git ralph session list")
    before = record.get("name")
    sessionfile.update(layout, session, name=name)
    if before != name:
        names.drop(layout, before, session)

"""One task through its session, the agent's iterations and the checks. Commits nothing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gitralph import promise
from gitralph.base import gitdir, process
from gitralph.base.errors import Failed, RalphError
from gitralph.commit import pending_paths
from gitralph.context import Context, state_layout
from gitralph.git.repository import open_repository
from gitralph.hook import event_log, sessionfile
from gitralph.journal import events
from gitralph.loop import prompt
from gitralph.loop.child import Children, stop_left_over
from gitralph.loop.launch import Command, base_environment
from gitralph.loop.ledger import Ledger
from gitralph.loop.model import AGENT, COMMIT, VERIFY, Job, Options, Say
from gitralph.session import sessions

DOCUMENTS = (".md", ".markdown", ".rst", ".adoc")
ITERATIONS = 10
_DONE = "task.done"


class InterruptedLoop(RalphError):
    """The loop was asked to stop; everything is kept."""

    exit_code = 130
    label = "error"


@dataclass
class Worker:
    """What every task's thread works with."""

    ctx: Context
    options: Options
    command: Command
    ledger: Ledger
    children: Children
    say: Say
    plan: str | None
    news: list[str] = field(default_factory=list)

    def context(self, job: Job) -> Context:
        """A context of the job's own: the object database is not shared between threads."""
        if job.root is None:
            return replace(self.ctx, repo=replace(self.ctx.repo))
        # a GIT_DIR that we inherited names the caller's worktree, not the job's
        repo = open_repository(self.ctx.outer.elsewhere(job.root))
        return replace(self.ctx, repo=repo, layout=state_layout(repo.place, create=True))


def environment(worker: Worker, ctx: Context, job: Job) -> dict[str, str]:
    """What the agent and the checks of a job run in."""
    env = base_environment(worker.ctx.environ)
    events_file = ctx.layout.events(event_log.name_of_run(worker.ledger.run))
    inner = replace(ctx, environ={**env, "RALPH_EVENTS_FILE": events_file})
    return {**env, **sessions.contract(inner, job.session), "PWD": ctx.repo.root}


def open_session(worker: Worker, ctx: Context, job: Job) -> None:
    """The job's session: its own, the same one again after a crash."""
    known = sessionfile.read(ctx.layout, job.session) is not None
    sessions.start(
        ctx, job.session, again=known, agent=worker.options.agent, bead=job.bead,
        plan=worker.plan, task=str(job.number) if worker.plan else None,
    )  # fmt: skip
    # the loop is what must be alive for the session to count as live
    sessionfile.update(ctx.layout, job.session, process=process.identity(os.getpid()))


def run_agent(worker: Worker, ctx: Context, job: Job, criteria: str | None) -> None:
    """Iterate until the task is done. Raises Failed at the limit or when the agent fails."""
    if stop_left_over(job.process):
        worker.say(f"{job.name}: stopped the agent that the interrupted run had left")
    env = environment(worker, ctx, job)
    limit = worker.options.max_iterations or (ITERATIONS if worker.options.promise else 1)
    job.iteration = max(job.iteration - 1, 0)
    while job.iteration < limit:
        worker.ledger.step(job, AGENT, iteration=job.iteration + 1, process=None)
        worker.say(f"{job.name}: {_what(job, limit)}")
        if _iterate(worker, ctx, job, env, criteria):
            worker.ledger.step(job, VERIFY, process=None)
            return
    raise Failed(f"not finished within {limit} iteration{'s' if limit != 1 else ''}")


def _what(job: Job, limit: int) -> str:
    return job.text if limit == 1 else f"iteration {job.iteration} of {limit}: {job.text}"


def _iterate(worker: Worker, ctx: Context, job: Job, env: Mapping[str, str], criteria: str | None) -> bool:
    """One call of the agent; True when the task is done."""
    text = prompt.compose(job, worker.plan, worker.options.promise, criteria, worker.news)
    events_file = env["RALPH_EVENTS_FILE"]
    since = os.stat(events_file).st_size
    ended = worker.children.run(
        worker.command.words(text), cwd=ctx.repo.root, env=env,
        stdin=text.encode("utf-8", "surrogateescape") if worker.command.reads_stdin else b"",
        started=lambda kept: worker.ledger.step(job, AGENT, process=kept),
    )  # fmt: skip
    if worker.children.stopping.is_set():
        raise InterruptedLoop("interrupted")
    if ended.code:
        how = f"ended with {ended.code}" if ended.code > 0 else f"was ended by signal {-ended.code}"
        raise Failed(f"the agent {how}\n{ended.last_lines()}".rstrip())
    if _told_done(events_file, since, job):
        return True
    if worker.options.promise is not None:
        return promise.is_kept(promise.said_by(ended.output), worker.options.promise)
    return True


def _told_done(path: str, since: int, job: Job) -> bool:
    """True when the agent emitted ``task.done`` for its own session."""
    fd = events.open_events(path)
    if fd is None:
        return False
    try:
        return any(
            isinstance(row, events.Emitted) and row.topic == _DONE and row.value.get("session") == job.session
            for row in events.scan(fd, since)
        )
    finally:
        os.close(fd)


def verify(worker: Worker, ctx: Context, job: Job) -> None:
    """Run the checks in order. Raises Failed at the first that fails."""
    worker.ledger.step(job, VERIFY)
    paths = pending_paths.counted(pending_paths.of(ctx, job.session))
    if worker.options.verify and paths and all(map(_is_document, paths)) and not _has_moved(ctx, job):
        job.notes.append("only documentation changed; the checks were skipped")
    else:
        env = environment(worker, ctx, job)
        for command in worker.options.verify:
            _check(worker, ctx, job, env, command)
    worker.ledger.step(job, COMMIT)


def _has_moved(ctx: Context, job: Job) -> bool:
    """True when HEAD is another than when the task began: what came since wants checking as well."""
    record = sessionfile.read(ctx.layout, job.session) or {}
    return record.get("head") != gitdir.head_oid(ctx.repo.place)


def _is_document(path: bytes) -> bool:
    return os.fsdecode(path).lower().endswith(DOCUMENTS)


def _check(worker: Worker, ctx: Context, job: Job, env: Mapping[str, str], command: str) -> None:
    worker.say(f"{job.name}: checking: {command}")
    ended = worker.children.run(
        ["/bin/sh", "-c", command], cwd=ctx.repo.root, env=env, stdin=b"", started=lambda _: None
    )
    if worker.children.stopping.is_set():
        raise InterruptedLoop("interrupted")
    if ended.code:
        worker.ledger.tell("task.verify-failed", job, command=command, code=ended.code)
        # the agent has to look at it again, with what the check said
        worker.ledger.step(job, AGENT, iteration=0)
        raise Failed(f"'{command}' failed with {ended.code}\n{ended.last_lines()}".rstrip())

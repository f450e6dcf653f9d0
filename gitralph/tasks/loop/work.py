"""Takes one task through its session, the agent's iterations and the checks. Commits nothing."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gitralph.base import gitdir, process
from gitralph.base.errors import Failed, RalphError, Refused
from gitralph.base.quote import shown
from gitralph.decide.request import Candidate, Judge
from gitralph.git.context import Context, state_layout
from gitralph.git.repository import open_repository
from gitralph.hook import event_log, sessionfile
from gitralph.records import events
from gitralph.sessions import lifecycle
from gitralph.tasks import promise
from gitralph.tasks.children import Children, Ended, last_lines, stop_left_over
from gitralph.tasks.fleet import at_work
from gitralph.tasks.loop import account, launch, workplace
from gitralph.tasks.loop.launch import AgentCommand, base_environment
from gitralph.tasks.loop.ledger import AGENT, VERIFY, Job, Ledger, Options, Say
from gitralph.tasks.loop.plan_tasks import changing_boxes, open_boxes, repair_boxes
from gitralph.tasks.loop.runs import Output
from gitralph.tasks.prove import results
from gitralph.tasks.prove.proof import Prover, Tree, describe

DOCUMENTS = (".md", ".markdown", ".rst", ".adoc")
# An agent that has not done a task in ten turns does not do it in an eleventh. The plan goes on, and a person
# looks.
ITERATIONS = 10
_DONE = "task.done"
# In bytes, of a failed check's output in the next prompt: an argument has at most 128 KiB (MAX_ARG_STRLEN,
# execve(2)), and one line of a minified file may be longer.
_DETAIL = 8 << 10
# In characters, of an agent's last words: enough for a page of reasons, and small beside the prompt.
_SAID = 4000
# When the service says that it is too busy, the call is repeated, each time after twice the wait.
_BUSY = re.compile(rb"rate.?limit|too many requests|\b(?:429|529)\b|overloaded", re.I)
_BACK_OFF = 30.0
_RETRIES = 6


class InterruptedLoop(RalphError):
    """The loop was asked to stop; everything is kept."""

    exit_code = 130
    label = "error"


class CheckFailed(Failed):
    """A check failed: the agent may look again while it has iterations left."""


@dataclass
class Worker:
    """What every task's thread works with. ``branch`` is that at the run's start, None when detached."""

    ctx: Context
    options: Options
    command: AgentCommand
    ledger: Ledger
    children: Children
    say: Say
    plan: str | None
    news: list[str] = field(default_factory=list)
    branch: str | None = None
    warned: set[str] = field(default_factory=set)

    @property
    def limit(self) -> int:
        """How many times the agent may be called for a task."""
        return self.options.max_iterations or (ITERATIONS if self.options.promise else 1)

    def warn_once(self, text: str) -> None:
        """Give a warning once that several tasks would repeat."""
        if text not in self.warned:
            self.warned.add(text)
            self.say(f"warning: {text}")

    def context(self, job: Job) -> Context:
        """A context of the job's own, since threads do not share the object database."""
        if job.root is None:
            return replace(self.ctx, repo=replace(self.ctx.repo))
        # an inherited GIT_DIR names the caller's worktree, not the job's
        repo = open_repository(self.ctx.outer.elsewhere(job.root))
        return replace(self.ctx, repo=repo, layout=state_layout(repo.place, create=True))

    def output(self, job: Job) -> Output:
        """Where what is printed for a job is kept."""
        return Output(self.ctx.layout, self.ledger.run, job.session)


def stay_on_branch(worker: Worker, ctx: Context, job: Job) -> None:
    """Raise Refused when HEAD has left the branch of the run's start: work would land elsewhere."""
    if job.root is not None:
        return
    now = gitdir.head_branch(ctx.repo.place)
    if now != worker.branch:
        where, was = _branch(now), _branch(worker.branch)
        hints = [f"git switch {was}  # goes back"] if worker.branch else []
        raise Refused(f"the run began on '{was}', and HEAD is on '{where}' now", *hints)


def _branch(ref: str | None) -> str:
    return "a detached HEAD" if ref is None else shown(os.fsencode(ref.removeprefix("refs/heads/")))


def environment(worker: Worker, ctx: Context, job: Job) -> dict[str, str]:
    """What the agent and the checks of a job run in."""
    env = base_environment(worker.ctx.environ)
    events_file = ctx.layout.events(event_log.name_of_run(worker.ledger.run))
    inner = replace(ctx, environ={**env, "RALPH_EVENTS_FILE": events_file})
    found = {**env, **lifecycle.contract(inner, job.session), "PWD": ctx.repo.root}
    return {key: value.replace("\0", " ") for key, value in found.items()}


def open_session(worker: Worker, ctx: Context, job: Job) -> None:
    """The job's session: its own, and after a crash the same one again."""
    known = sessionfile.read(ctx.layout, job.session) is not None
    asked = lifecycle.NewSession(
        again=known,
        agent=worker.options.agent,
        bead=job.bead,
        plan=worker.plan,
        task=str(job.number) if worker.plan else None,
    )
    lifecycle.start(ctx, job.session, asked)
    # the loop must be alive for the session to count as live
    sessionfile.update(ctx.layout, job.session, process=process.identity(os.getpid()))


def run_agent(worker: Worker, ctx: Context, job: Job, criteria: str | None) -> None:
    """Call the agent until it says that it is done. Raises Failed at the limit or when the agent fails."""
    if stop_left_over(job.process):
        worker.say(f"{job.name}: stopped the agent that the interrupted run had left")
    record_cut_short_calls(worker, ctx, job)
    env = environment(worker, ctx, job) | workplace.guard_environment(ctx, worker.ledger.run)
    while job.iteration < worker.limit:
        if job.bead:
            at_work.go_on(worker.ctx, job.bead)
        worker.ledger.step(job, AGENT, iteration=job.iteration + 1, process=None)
        worker.say(f"{job.name}: {_what(job, worker.limit)}")
        if _iterate(worker, ctx, job, env, criteria):
            worker.ledger.step(job, VERIFY, process=None, detail="")
            return
    raise Failed(f"not finished within {worker.limit} iteration{'s' if worker.limit != 1 else ''}")


def _what(job: Job, limit: int) -> str:
    return job.text if limit == 1 else f"iteration {job.iteration} of {limit}: {job.text}"


def _iterate(worker: Worker, ctx: Context, job: Job, env: Mapping[str, str], criteria: str | None) -> bool:
    """One call of the agent; True when the task is done."""
    text = launch.compose_prompt(job, worker.plan, worker.options.promise, criteria, worker.news)
    events_file = env["RALPH_EVENTS_FILE"]
    # An event of an earlier iteration must not end this one.
    since = os.stat(events_file).st_size
    if worker.options.plan is not None:
        with changing_boxes:
            # Noted before the agent runs: boxes that the agent ticks itself are opened again, by this list.
            worker.ledger.open |= open_boxes(worker.options.plan)
    try:
        ended = _call(worker, ctx, job, env, text)
    finally:
        if worker.options.plan is not None:
            repair_boxes(worker.ledger, worker.options.plan, worker.say, since=job.head)
    job.said = promise.said_by(ended.output)[-_SAID:].strip()
    job.denied = promise.denied_in(ended.output)
    if ended.late:
        raise Failed(f"the agent took longer than {worker.options.task_timeout:g} s and was stopped")
    if ended.code:
        how = f"ended with {ended.code}" if ended.code > 0 else f"was ended by signal {-ended.code}"
        raise Failed(f"the agent {how}\n{capped(ended)}".rstrip())
    if _told_done(events_file, since, job):
        return True
    if worker.options.promise is not None:
        return promise.is_kept(promise.said_by(ended.output), worker.options.promise)
    return True


def _call(worker: Worker, ctx: Context, job: Job, env: Mapping[str, str], text: str) -> Ended:
    """Call the agent, again while its service is too busy. Raises Failed, InterruptedLoop."""
    output = worker.output(job)
    words = worker.command.words(text, output.path.removesuffix(".log") + ".prompt")
    for attempt in range(_RETRIES + 1):
        left = None
        if worker.options.task_timeout is not None:
            left = max(worker.options.task_timeout - job.spent, 0.0)
        output.heading(f"iteration {job.iteration} of '{job.text[:100]}'")
        begun = time.monotonic()
        ended = worker.children.run(
            words,
            cwd=ctx.repo.root,
            env=env,
            sink=output,
            seconds=left,
            stdin=text.encode("utf-8", "surrogateescape") if worker.command.reads_stdin else b"",
            started=lambda kept: worker.ledger.step(job, AGENT, process=kept),
        )
        job.spent += time.monotonic() - begun
        record_cut_short_calls(worker, ctx, job)
        if worker.children.stopping.is_set():
            raise InterruptedLoop("interrupted")
        busy = ended.code != 0 and not ended.late and _BUSY.search(ended.output[-_DETAIL:])
        if not busy or attempt == _RETRIES:
            return ended
        pause = _pause(worker, attempt)
        worker.say(f"{job.name}: the agent says that too much is asked of it; again in {pause:.0f} s")
        if worker.children.stopping.wait(pause):
            raise InterruptedLoop("interrupted")
    raise AssertionError("unreachable")


def record_cut_short_calls(worker: Worker, ctx: Context, job: Job) -> None:
    """Record what a dead agent was killed in the middle of, before anybody looks at the files."""
    found = account.record_open_calls(ctx, job.session)
    if found:
        worker.say(
            f"note: {job.name}: recorded what a call that was cut short had written: {', '.join(found)}"
        )


def _pause(worker: Worker, attempt: int) -> float:
    said = worker.ctx.config.get("ralph.backoff")
    first = float(said) if said and re.fullmatch(r"\d+(\.\d+)?", said) else _BACK_OFF
    return float(first * 2**attempt)


def capped(ended: Ended) -> str:
    """The end of the output, short enough for a message, a record and the next prompt."""
    said = last_lines(ended.output).replace("\0", " ")
    return said if len(said) <= _DETAIL else "..." + said[-_DETAIL:]


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


# --- checks ---


def are_needed(worker: Worker, ctx: Context, job: Job, changed: Sequence[bytes]) -> bool:
    """False when there are no checks, or only documentation changed since the task began."""
    if not worker.options.verify:
        return False
    # No change at all is no documentation: the checks run on what is there.
    if changed and all(map(_is_document, changed)) and not _has_moved(ctx, job):
        job.notes.append("only documentation changed; the checks were skipped")
        return False
    return True


def _has_moved(ctx: Context, job: Job) -> bool:
    """True when HEAD has moved since the task began: what came since needs checking too."""
    record = sessionfile.read(ctx.layout, job.session) or {}
    return record.get("head") != gitdir.head_oid(ctx.repo.place)


def _is_document(path: bytes) -> bool:
    return os.fsdecode(path).lower().endswith(DOCUMENTS)


def verify(worker: Worker, ctx: Context, job: Job) -> None:
    """Run the checks in order where the agent worked. Raises CheckFailed at the first that fails."""
    env, output = environment(worker, ctx, job), worker.output(job)
    for command in worker.options.verify:
        worker.say(f"{job.name}: checking: {command}")
        output.heading(f"check: {command}")
        ended = worker.children.run(
            ["/bin/sh", "-c", command],
            cwd=ctx.repo.root,
            env=env,
            sink=output,
            seconds=worker.options.check_timeout,
        )
        if worker.children.stopping.is_set():
            raise InterruptedLoop("interrupted")
        if ended.late:
            raise _failed(worker, job, command, f"'{command}' was stopped after its time", ended)
        if ended.code:
            raise _failed(worker, job, command, f"'{command}' failed with {ended.code}", ended)


def _failed(worker: Worker, job: Job, command: str, text: str, ended: Ended) -> CheckFailed:
    worker.ledger.tell("task.verify-failed", job, command=command, code=ended.code)
    return CheckFailed(f"{text}\n{capped(ended)}".rstrip())


def judge(worker: Worker, ctx: Context, job: Job) -> Judge:
    """What runs the checks on the tree of the task's commit."""
    env, output = environment(worker, ctx, job), worker.output(job)
    own = {key: value for key, value in env.items() if key.startswith("RALPH_") or key == "PATH"}
    dropped = replace(ctx, environ=base_environment(ctx.environ))
    prover = Prover(
        dropped, worker.children, {**own, "RALPH_ROOT": "{root}"}, output, worker.options.check_timeout
    )

    def look(candidate: Candidate) -> dict[str, object]:
        tree, seconds = Tree(candidate.tree, candidate.head, candidate.objects), 0.0
        for command in worker.options.verify:
            worker.say(f"{job.name}: checking the commit's own tree: {command}")
            output.heading(f"check of tree {candidate.tree[:10]}: {command}")
            proof = prover.prove(tree, results.ProofCommand.shell(command))
            if worker.children.stopping.is_set():
                raise InterruptedLoop("interrupted")
            if not proof.ok:
                text = describe(proof, results.ProofCommand.shell(command))
                raise _failed(worker, job, command, text, Ended(proof.code, proof.output))
            seconds += proof.seconds
        return {"ok": True, "seconds": round(seconds, 3)}

    return look


def judge_head(worker: Worker, ctx: Context, job: Job) -> None:
    """Check HEAD's own tree where a task changed nothing. Raises CheckFailed."""
    head = gitdir.head_oid(ctx.repo.place)
    if head is not None:
        tree = ctx.git.line("rev-parse", "--verify", head + "^{tree}")
        judge(worker, ctx, job)(Candidate(tree, head, job.session))

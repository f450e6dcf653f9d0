"""The plan of a loop: its boxes, reworded tasks, skipped tasks, and which task comes next.

Agents, people and git write the plan while the loop works. The run's record decides what is done; the plan
only shows it.
"""

import json
import os
import re
import threading
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

from gitralph.ask import why
from gitralph.base import files, jsonline
from gitralph.base.errors import Fatal, RalphError, Refused
from gitralph.base.ids import is_valid
from gitralph.base.layout import Layout
from gitralph.decide import pending_paths
from gitralph.git import blobs, merge, refs, worktrees
from gitralph.git.context import Context
from gitralph.git.objects import Objects
from gitralph.git.trees import TreeReader
from gitralph.records import checklist as plans
from gitralph.records import run_record as runs
from gitralph.records.checklist import Task
from gitralph.sessions import lifecycle
from gitralph.tasks import tracker
from gitralph.tasks.loop import runs as running
from gitralph.tasks.loop.ledger import (
    AGENT,
    COMMIT,
    COMMITTED,
    LANDED,
    MERGE,
    SKIPPED,
    TICK,
    Job,
    Ledger,
    Options,
    Say,
)


def committed_text(ctx: Context, plan: str) -> bytes | None:
    """HEAD's text of a plan as a checkout would write it; None where HEAD does not hold it."""
    name, head = plans.relative(ctx, plan), refs.read_head(ctx.repo)
    if os.path.isabs(name) or head.oid is None:
        return None
    objects = Objects(ctx.git)
    try:
        root = ctx.git.line("rev-parse", "--verify", head.oid + "^{tree}").encode()
        entry = TreeReader(objects, root).entry(os.fsencode(name))
    finally:
        objects.close()
    return None if entry is None else blobs.working_form(ctx.git.at(ctx.repo.root), os.fsencode(name), entry)


def committed_by_hand(ctx: Context, plan: str, task: Task) -> str | None:
    """The commit that has the line of a task as it is now, where no session wrote it, as ``why`` says."""
    name = plans.relative(ctx, plan)
    if os.path.isabs(name):
        return None
    # Threads do not share the object database.
    own = replace(ctx, repo=replace(ctx.repo))
    try:
        line = plans.read(plan).count(b"\n", 0, task.box) + 1
        found = why.line_of(own, os.fsencode(name), line)
    except RalphError:
        return None
    finally:
        own.repo.close()
    return None if found.session is not None or found.one_of else found.commit


def is_opened_by_hand(ctx: Context, plan: str, task: Task, landed_in: str | None) -> bool:
    """True where a person's commit opened the box of a task after the task had landed in a commit."""
    if task.done or landed_in is None:
        return False
    opened = committed_by_hand(ctx, plan, task)
    if opened in (None, landed_in) or not _is_in(ctx, landed_in, str(opened)):
        return False
    # A commit that writes the line in another way opens nothing.
    name = os.fsencode(plans.relative(ctx, plan))
    before = ctx.git.try_run("cat-file", "blob", os.fsencode(f"{opened}^:") + name).stdout
    return any(one.done for one in plans.parse(before) if one.key == task.key)


# --- boxes while agents work: only the loop ticks, and only what landed ---
#
# A box that was open when an agent began and that nobody's landing ticked is opened again, unless a person
# committed the tick; a box of a landed task that came open, by a reset or a stash, is ticked again, unless a
# person committed it open since. Both are said.


# Held by whoever changes boxes and the record of them, one at a time.
changing_boxes = threading.RLock()
Key = tuple[str, int]


def open_boxes(path: str) -> set[Key]:
    """The tasks whose box is open."""
    return {task.key for task in plans.tasks_of(path) if not task.done}


def repair_boxes(ledger: Ledger, path: str, say: Say, since: str | None = None) -> None:
    """Make the boxes agree with the record, which knows the tasks that were open when an agent began.

    ``since`` was HEAD when an agent began that has just ended: a tick that was committed since may be its.
    """
    done = []
    with changing_boxes:
        landed = dict.fromkeys(ledger.ticked) | {
            job.key: job.commit for job in ledger.jobs if job.outcome in LANDED
        }
        try:
            tasks = plans.tasks_of(path)
        except RalphError:
            return  # the agent removed the plan; the next look at it reports that
        for task in tasks:
            if task.done and task.key in ledger.open and task.key not in landed:
                by_hand = committed_by_hand(ledger.ctx, path, task)
                if by_hand is not None and (since is None or _is_in(ledger.ctx, by_hand, since)):
                    ledger.open.discard(task.key)
                    continue
                plans.tick(ledger.ctx.layout, path, task.key, done=False)
                done.append(f"'{task.text}' was ticked but has not landed: its box is open again")
            # A `git checkout` of the plan, or an agent that rewrote it, brought the old box back.
            elif (
                not task.done
                and task.key in landed
                and not is_opened_by_hand(ledger.ctx, path, task, landed[task.key])
            ):
                plans.tick(ledger.ctx.layout, path, task.key)
                done.append(f"'{task.text}' has landed in this run: its box is ticked again")
    for text in done:
        say(f"note: {text}")
        ledger.tell("plan.repaired", note=text)


# --- a task that was reworded while it was worked on, or taken out; pure ---
#
# Place counts first: what stands where the task stood, between the same two neighbours, and was not in the
# plan before. But an agent may put another task there, so the two must share words as well.


def neighbours(tasks: Sequence[Task], key: tuple[str, int]) -> tuple[str | None, str | None]:
    """The texts before and after a task, None at the ends."""
    texts = [task.text for task in tasks]
    at = next(i for i, task in enumerate(tasks) if task.key == key)
    return (texts[at - 1] if at else None), (texts[at + 1] if at + 1 < len(texts) else None)


def successor(tasks: Sequence[Task], job: Job, seen: Container[str]) -> tuple[str, int] | None:
    """The key of the task that stands in the place of a job's task now; None when that is not certain."""
    if job.before is None and job.after is None:
        return None
    found = [
        task.key
        for task in tasks
        if not task.done and task.text not in seen and neighbours(tasks, task.key) == (job.before, job.after)
    ]
    return found[0] if len(found) == 1 and _shares_words(found[0][0], job.text) else None


def _shares_words(one: str, other: str) -> bool:
    """True where the other text has half of the shorter text's words."""
    words, rest = sorted((set(_words(one)), set(_words(other))), key=len)
    return not words or 2 * len(words & rest) >= len(words)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


# --- what somebody told the loop to pass over: ``git ralph run skip`` ---
#
# One JSON line each in ``runs/<run>/skipped``, so that a loop at work sees it before it takes the task. A new
# run of the same plan goes on with what was skipped; ``--from`` with the task lifts it.


# In bytes; a skipped task takes one short line.
_SKIPS_LIMIT = 1 << 20


def _skips_file(layout: Layout, run: str) -> str:
    return f"{layout.run_folder(run)}/skipped"


def _read_skips(layout: Layout, run: str) -> dict[Key, bool]:
    """The last statement on each task of a run."""
    try:
        data = files.read_bytes(_skips_file(layout, run), _SKIPS_LIMIT)
    except OSError:
        return {}
    found: dict[Key, bool] = {}
    for row in jsonline.objects(data):
        text, copy = row.get("text"), row.get("copy")
        if isinstance(text, str) and type(copy) is int:
            # A later line counts: skipped, taken up again, skipped.
            found[text, copy] = row.get("skip") is True
    return found


def _write_skip(layout: Layout, run: str, key: Key, skip: bool) -> None:
    files.make_folder(layout.run_folder(run))
    line = json.dumps({"text": key[0], "copy": key[1], "skip": skip}).encode("ascii") + b"\n"
    files.append_record(_skips_file(layout, run), line)


def is_skipped(ledger: Ledger, key: Key) -> bool:
    """True for a task that must be skipped."""
    return _read_skips(ledger.ctx.layout, ledger.run).get(key, False)


def task_named(tasks: list[Task], typed: str) -> Task:
    """The task with this number or text. Raises Fatal for none."""
    found = [task for task in tasks if typed in (str(task.number), task.text)]
    if not found:
        known = f"its tasks are 1 to {len(tasks)}" if tasks else "it has none"
        raise Fatal(f"the plan has no task '{typed}': {known}")
    return found[0]


def skip(ctx: Context, run: str | None, typed: str) -> str:
    """Skip a task in a run; returns its text. Raises Refused for one at work or landed, else Fatal."""
    record = running.named(ctx, run)
    plan = record.get("plan")
    if plan is None:
        raise Fatal(f"run '{record['run']}' has no plan", "git ralph run list")
    task = task_named(plans.tasks_of(os.path.join(ctx.repo.root, plan)), typed)
    for job in record["tasks"]:
        if (job["text"], job.get("copy")) != task.key:
            continue
        if job.get("outcome") in LANDED:
            raise Refused(f"task {task.number} has landed already")
        if job.get("outcome") is None and running.is_live(record):
            raise Refused(f"task {task.number} is at work", "stop the loop first, then skip it and --resume")
    _write_skip(ctx.layout, str(record["run"]), task.key, skip=True)
    return task.text


# --- what earlier runs came to: what landed is not done again, what was skipped stays ---
#
# A tick lives in the plan only, and a stash or reset of the plan takes it away. Where the plan is again what
# HEAD holds, the records decide; a box that somebody opened by hand, in the file or by a commit, is work to
# be done again, and so is the task that --from names.


def take_over(ctx: Context, ledger: Ledger, plan: str, named: str | None, say: Say) -> None:
    """Note in a new run what earlier ones landed and skipped; tell where that ticks a box again."""
    found = _earlier_runs(ctx, ledger)
    if not found:
        return
    for key, skip in _read_skips(ctx.layout, str(found[-1]["run"])).items():
        if skip:
            _write_skip(ctx.layout, ledger.run, key, skip=True)
    if committed_text(ctx, plan) != plans.read(plan):
        return
    head = refs.read_head(ctx.repo).oid
    tasks = plans.tasks_of(plan)
    again = task_named(tasks, named).key if named is not None else None
    open_tasks = {task.key: task for task in tasks if not task.done and task.key != again}
    for record in found:
        for job in record["tasks"]:
            if job.get("outcome") != COMMITTED or head is None:
                continue
            task = open_tasks.get((job["text"], job.get("copy") or 0))
            commit = job.get("commit")
            if task is None or commit is None or not _is_in(ctx, commit, head):
                continue
            if is_opened_by_hand(ctx, plan, task, commit):
                continue
            ledger.ticked.add(task.key)
            told = f"'{task.text}' landed in {commit[:7]}; only its tick was taken back, with the plan"
            say(f"note: {told} ('--from {task.number}' does it again)")


def unfinished_session(ctx: Context, ledger: Ledger, key: tuple[str, int]) -> str | None:
    """The session of the last attempt at a task in an earlier run, where it has something pending."""
    for record in reversed(_earlier_runs(ctx, ledger)):
        for job in record["tasks"]:
            if (job["text"], job.get("copy")) != key:
                continue
            session = str(job.get("session", ""))
            # A worktree of its own keeps its work anyway; and a running loop is responsible for its own task.
            if job.get("outcome") in LANDED or job.get("root") is not None or running.is_live(record):
                return None
            if not is_valid(session):
                return None
            return session if pending_paths.counted(pending_paths.of(ctx, session)) else None
    return None


def _is_in(ctx: Context, commit: str, head: str) -> bool:
    there = len(commit) == 40 and worktrees.value(ctx.git, commit) is not None
    return there and merge.is_ancestor(ctx.git, commit, head)


def _earlier_runs(ctx: Context, ledger: Ledger) -> list[dict[str, Any]]:
    """The earlier loops of this plan and worktree."""
    found = []
    for record in runs.readable(ctx.layout):
        if record["run"] == ledger.run:
            continue
        same = record.get("plan") == ledger.record.get("plan")
        if same and record.get("worktree") == ctx.layout.token and isinstance(record.get("options"), dict):
            found.append(record)
    return found


# --- which task comes next: what an interrupted run left, then the open boxes ---


DROPPED = "dropped"
# In characters. A task may be a paragraph; the summary and the tracker show it in one line.
_TITLE = 200
# An agent that adds a task for each one that it does would never end.
_ADDED = 20


class Queue:
    """Hands out each task once."""

    def __init__(self, options: Options, ledger: Ledger, say: Say) -> None:
        self.options = options
        self.ledger = ledger
        self.say = say
        self._left = [job for job in ledger.jobs if job.outcome not in (*LANDED, DROPPED)]
        self._handed = 0
        self._first = True
        self._full = False

    def next(self) -> Job | None:
        """The next task to start; None when there is none, or ``--max-tasks`` is reached."""
        if self.options.max_tasks is not None and self._handed >= self.options.max_tasks:
            return None
        job = self._resumed() or self._fresh()
        self._handed += job is not None
        return job

    def _resumed(self) -> Job | None:
        while self._left:
            job = self._left.pop(0)
            if is_skipped(self.ledger, job.key):
                self._skip(job)
                continue
            reason = self._why_unwanted(job)
            if reason is None:
                if job.outcome is not None and job.step == AGENT:
                    job.iteration = 0  # it failed, so a new attempt has all its iterations
                    self._read_again(job)
                job.outcome, job.code, job.notes, job.spent = None, 0, [], 0.0
                return job
            job.outcome = DROPPED
            self.say(f"{job.name} {reason} and is left alone: {job.text}")
        return None

    def _read_again(self, job: Job) -> None:
        """Take a task's words and details as the plan has them now: a person mends these after a failure."""
        tasks = plans.tasks_of(self.options.plan) if self.options.plan is not None else []
        heir = successor(tasks, job, self.ledger.seen)
        key = job.key if any(task.key == job.key for task in tasks) else heir
        for task in tasks:
            if task.key == key:
                job.text, job.copy, job.details = task.text, task.copy, task.details

    def _why_unwanted(self, job: Job) -> str | None:
        """What a person did with a task before it landed: removed it from the plan, or did it by hand."""
        if self.options.plan is None or job.step in (MERGE, TICK):
            return None
        tasks = plans.tasks_of(self.options.plan)
        done = next((task.done for task in tasks if task.key == job.key), None)
        # No agent ticked it: such a box is open again by now.
        if done:
            return "was ticked by hand"
        known = done is not None or job.step == COMMIT
        return None if known or successor(tasks, job, self.ledger.seen) else "is no longer in the plan"

    def _fresh(self) -> Job | None:
        if self.options.plan is None:
            return self._only()
        tasks = plans.tasks_of(self.options.plan)
        keys = {task.key for task in tasks}
        open_tasks = {task.key: task for task in tasks if not task.done}
        jobs = {job.key: job for job in self.ledger.jobs}
        taken = {key for key, job in jobs.items() if not self._is_again(open_tasks.get(key), job)}
        for job in self.ledger.jobs:
            heir = successor(tasks, job, self.ledger.seen) if job.key not in keys else None
            if heir is not None:
                taken.add(heir)
        self.ledger.seen |= {task.text for task in tasks if task.key not in taken}
        self._begin(tasks, taken)
        for task in tasks:
            if task.done or task.key in taken or task.number < self._start:
                continue
            job = self._job(tasks, task)
            if is_skipped(self.ledger, task.key):
                self._skip(job)
            elif not self._is_too_much(task):
                return job
        return None

    def _is_again(self, task: Task | None, job: Job) -> bool:
        """True for a task that landed in this run and that a person opened again."""
        if task is None or job.outcome not in LANDED or self.options.plan is None:
            return False
        return is_opened_by_hand(self.ledger.ctx, self.options.plan, task, job.commit)

    def _begin(self, tasks: list[plans.Task], taken: set[tuple[str, int]]) -> None:
        """Read the plan as the loop begins: where to start, and which tasks it has."""
        if not self._first:
            return
        self._first = False
        self._start = 1
        if self.options.from_task is not None:
            task = task_named(tasks, self.options.from_task)
            self._start = task.number
            if is_skipped(self.ledger, task.key):
                _write_skip(self.ledger.ctx.layout, self.ledger.run, task.key, skip=False)
        self.ledger.begun |= {task.key for task in tasks}

    def _is_too_much(self, task: plans.Task) -> bool:
        """True for a task that agents added beyond what one run accepts."""
        if task.key in self.ledger.begun:
            return False
        said = self.ledger.ctx.config.get("ralph.maxadded") or ""
        limit = int(said) if said.isdigit() else _ADDED
        added = sum(job.key not in self.ledger.begun for job in self.ledger.jobs)
        if added >= limit and not self._full:
            self._full = True
            self.say(f"the plan grew by more than {limit} tasks: the rest waits for another run")
        return added >= limit

    def _skip(self, job: Job) -> None:
        job.outcome, job.detail = SKIPPED, "skipped by hand"
        if job not in self.ledger.jobs:
            self.ledger.add(job)
        self.ledger.save()
        self.ledger.tell("task.skipped", job)
        self.say(f"{job.name}: skipped: {job.text}")

    def _job(self, tasks: list[plans.Task], task: plans.Task) -> Job:
        before, after = neighbours(tasks, task.key)
        return Job(
            text=task.text,
            copy=task.copy,
            number=task.number,
            total=len(tasks),
            details=task.details,
            bead=tracker.mentioned(task.text),
            before=before,
            after=after,
            session=self._session(task.key),
        )

    def _session(self, key: tuple[str, int]) -> str:
        """A new session, or that of an earlier attempt with pending edits, which nobody else would land."""
        old = None if self.options.worktree else unfinished_session(self.ledger.ctx, self.ledger, key)
        if old is not None:
            called = self.ledger.ctx.called(old)
            self.say(f"note: session '{called}' of an earlier run goes on with what it has pending")
        return old or lifecycle.new_id()

    def _only(self) -> Job | None:
        """The one task of a run without a plan."""
        if self.ledger.jobs:
            return None
        text = self.options.prompt or f"Work item {self.options.bead}"
        title, _, rest = text.strip().partition("\n")
        details = rest if len(title) <= _TITLE else text
        return Job(title[:_TITLE], 1, 1, 1, details.strip(), self.options.bead, session=lifecycle.new_id())

    def open_count(self) -> int:
        """The number of open boxes in the plan now."""
        if self.options.plan is None:
            return 0
        return sum(not task.done for task in plans.tasks_of(self.options.plan))

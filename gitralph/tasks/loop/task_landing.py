"""Lands one finished task in this order: its commit, the merge from its own worktree, then the tick.

What the task changed is compared with what its commit would take before anything lands. Where they differ the
box stays open, with the list.
"""

from __future__ import annotations

import os
import re
import shlex
import string
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from gitralph.ask import dead_hooks
from gitralph.base import gitdir
from gitralph.base.errors import Busy, Failed, Refused, UsageError
from gitralph.base.quote import shown
from gitralph.commit import commit as committing
from gitralph.decide import decision, offers
from gitralph.decide.decision import Left
from gitralph.decide.inputs import Wishes
from gitralph.decide.request import Judge, Request, Result
from gitralph.git.context import Context
from gitralph.records import checklist as plans
from gitralph.records import published_name
from gitralph.sessions import lifecycle
from gitralph.tasks.loop import account, own_commits, workplace
from gitralph.tasks.loop.account import TRACKER, Account, listed
from gitralph.tasks.loop.ledger import AGENT, COMMITTED, END, MERGE, NO_OP, TICK, Job
from gitralph.tasks.loop.plan_tasks import changing_boxes, successor
from gitralph.tasks.loop.work import Worker

# --- the subject: ``Task n/total: text``, or made from a template ---


DEFAULT_SUBJECT = "Task {n}/{total}: {task}"
SUBJECT_NAMES = ("n", "total", "task", "bead", "plan", "agent", "words")
# In characters; git log --oneline and mail cut what is longer (git-commit(1), DISCUSSION: fewer than 50).
_LONGEST = 72


def checked_subject(template: str) -> str:
    """Check a template from outside. Raises UsageError for one with an unknown field."""
    try:
        fields = [row[1:] for row in string.Formatter().parse(template) if row[1] is not None]
    except ValueError as error:
        raise UsageError(f"bad subject '{template}': {error}") from None
    wrong = any(name not in SUBJECT_NAMES or form or how for name, form, how in fields)
    if wrong or not template.strip():
        known = ", ".join("{" + name + "}" for name in SUBJECT_NAMES)
        raise UsageError(f"bad subject '{template}'", f"it may hold {known}")
    return template


def subject_of(worker: Worker, job: Job) -> str:
    """The subject of a task's commit; one line, never empty."""
    facts = {
        "n": job.number,
        "total": job.total,
        "task": job.text,
        "bead": job.bead or "",
        "plan": worker.plan or "",
        "agent": worker.options.agent or "",
        "words": _agents_words(job),
    }
    text = checked_subject(worker.options.subject or DEFAULT_SUBJECT).format(**facts)
    return " ".join(text.split()) or DEFAULT_SUBJECT.format(**facts)


def _agents_words(job: Job) -> str:
    """The first line with words of what the agent said last, without Markdown's marks."""
    for line in job.said.split("\n"):
        text = re.sub(r"<promise>.*?</promise>", "", line).strip(" #*`_->\t")
        if text:
            return text if len(text) <= _LONGEST else text[: _LONGEST - 3].rstrip() + "..."
    return job.text


# --- landing ---


# Between the tries are waits of 0.5 to 2.5 s, and each try waits ten seconds itself: another process would
# have to hold the lock for over a minute.
_TRIES = 6
# Between an agent's write and its hook the change is nobody's: a hook takes 25 ms to start. While other tasks
# are at work, such a change is looked at again for two seconds before it counts against a task.
_LOOKS, _BETWEEN = 10, 0.2
# The kernel's lock knows only processes. With this lock the threads of one loop take turns, and none spins.
_turn = threading.Lock()


class Entangled(Refused):
    """The commit needs what somebody else has not committed yet; ``rivals`` tells who."""

    def __init__(self, error: Refused, rivals: list[str]) -> None:
        super().__init__(error.message, *error.hints, left=error.left)
        self.rivals = rivals


class UnlandedError(Failed):
    """The task is not done. ``blocked``: the agent was refused what it wanted to do."""

    blocked = False


@dataclass(frozen=True)
class PlainCommit:
    """A commit since the task began that names no session and holds what the task edited.

    ``others``: its further paths, as shown to people.
    """

    oid: str
    others: list[str]


@dataclass(frozen=True)
class TaskLanding:
    """What a task is about to land: the commit as asked for, and its comparison with the changes."""

    request: Request
    preview: Result
    account: Account
    by_hand: PlainCommit | None = None


def _not_the_trackers(paths: Iterable[bytes]) -> list[bytes]:
    return [path for path in paths if not path.startswith(TRACKER)]


def _request(worker: Worker, ctx: Context, job: Job, body: str | None) -> Request:
    title = subject_of(worker, job)
    messages = (title, body) if body else (title,)
    # What only the task's own shell commands can explain is the task's work; a person may set it otherwise.
    shell = offers.setting(ctx.config) in (offers.AUTO, offers.INCLUDE)
    return Request(
        session=job.session,
        messages=tuple(text.encode("utf-8", "replace").replace(b"\0", b" ") for text in messages),
        wishes=Wishes(include_entangled=worker.options.include_entangled, own_shell=shell),
        match=_not_the_trackers,
    )


def look(worker: Worker, ctx: Context, job: Job, body: str | None) -> TaskLanding:
    """What would land. Raises Entangled or Refused as the commit would."""
    request = _request(worker, ctx, job, body)
    try:
        preview = committing.dry_run(ctx, request)
    except Refused as error:
        raise _refused(error) from error
    by_hand = None if preview.changes else _by_hand(ctx, job, preview)
    return TaskLanding(request, preview, _account(worker, ctx, job, preview, by_hand is not None), by_hand)


def _account(worker: Worker, ctx: Context, job: Job, preview: Result, by_hand: bool) -> Account:
    """Compare what the task changed with what lands, after other tasks' hooks had time to record theirs."""
    looks = _LOOKS
    while True:
        looks -= 1
        # Asked before the look: a task that ends between the two has recorded all, and the look must show it.
        others_work = _others_work(worker, job)
        head = gitdir.head_oid(ctx.repo.place)
        found = account.take(ctx, worker.ledger, job, preview)
        # What lands is certain, and so is what was committed by hand. Only a task that would land nothing
        # gets the time.
        if preview.changes or by_hand or not found.unexplained:
            return found
        # What a commit took while we looked was nobody's for a moment. Commits may never pause, so the looks
        # end.
        may_be_theirs = others_work or gitdir.head_oid(ctx.repo.place) != head
        if looks < 0 or not may_be_theirs:
            return found
        time.sleep(_BETWEEN)


def _others_work(worker: Worker, job: Job) -> bool:
    return any(
        one.step == AGENT and one.started is not None and one.outcome is None and one.session != job.session
        for one in worker.ledger.jobs
    )


def _refused(error: Refused) -> Refused:
    found = [one for one in error.left if isinstance(one, Left) and one.refuses]
    return Entangled(error, sorted({name for one in found for name in one.sessions})) if found else error


def commit_request(worker: Worker, ctx: Context, request: Request) -> Result:
    """One commit at a time in this process; another process may hold the lock, so busy is tried again.

    A commit with a proof takes its time and handles races by itself.
    """
    for attempt in range(_TRIES):
        try:
            if request.judge is not None:
                return committing.commit(ctx, request)
            with _turn:
                return committing.commit(ctx, request)
        except Busy:
            if attempt == _TRIES - 1 or worker.children.stopping.is_set():
                raise
            time.sleep(0.5 * (attempt + 1))
    raise AssertionError("unreachable")


def check(worker: Worker, job: Job, landing: TaskLanding) -> None:
    """Raise UnlandedError where the task changed what does not land, or did nothing that counts as done."""
    found, lands = landing.account, bool(landing.preview.changes) or landing.by_hand or job.commit is not None
    called = worker.ctx.called(job.session)
    claim = f"git ralph track --session {called} <path>  # claims a path for the task"
    skip = f"git ralph run skip {job.number}  # leaves the task open and goes on"
    place = f" -C {shlex.quote(job.root)}" if job.root else ""
    # Where something lands, other changes may be anybody's: they are told, but do not hold the task back.
    held = found.missed + ([] if lands else found.unexplained + found.astray)
    job.unlanded = held
    if found.missed:
        raise UnlandedError(f"it changed {listed(found.missed)}, which would not land", claim, skip)
    for root, paths in found.elsewhere.items():
        raise UnlandedError(
            f"its edits of {listed(paths)} are in another worktree, '{shown(os.fsencode(root))}',"
            " and in no commit",
            f"git -C {shlex.quote(root)} ralph commit --session {called}  # commits them there, for a merge",
            skip,
        )
    if found.lost:
        raise UnlandedError(
            _lost(found.lost),
            f"git{place} cherry-pick {' '.join(found.lost)}  # brings it to HEAD",
            skip,
        )
    if found.gone:
        raise UnlandedError(
            f"its edits of {listed(found.gone)} are gone: taken back by a reset, a checkout or a stash",
            f"git{place} ralph restore --session {called}  # brings them back",
            skip,
        )
    if found.written_over:
        raise UnlandedError(
            f"its edits of {listed(found.written_over)} are gone: somebody wrote there from an older copy",
            f"git{place} ralph restore --session {called}  # brings them back",
            skip,
        )
    if lands:
        return
    if found.astray:
        raise UnlandedError(
            f"{listed(found.astray)} changed, recorded for a session of nobody's in this run",
            "git ralph doctor  # says whether the agent's hooks see RALPH_SESSION",
            claim,
        )
    if found.doubtful:
        raise UnlandedError(
            f"no edit was recorded, but {listed(found.doubtful)} changed and nobody recorded that",
            "git ralph doctor  # says whether the agent's hooks are in place",
            claim,
            skip,
        )
    if found.replaced:
        # A person says whose a line is.
        give = f"git ralph assign --to {called} <path>  # gives the task what nobody recorded in a path"
        raise UnlandedError(
            f"it edited {listed(found.replaced)}, but what is uncommitted there now is not its own",
            "git ralph status  # says whose it is",
            *(() if worker.ctx.is_agent else (give,)),
            skip,
        )
    if found.ignored:
        raise UnlandedError(f"it changed only what git ignores: {listed(found.ignored)}", skip)
    _check_idle(worker, job, skip)


def _lost(commits: Mapping[str, str]) -> str:
    """Which commits HEAD does not have, and where they are."""
    rows = [
        f"its commit {oid[:7]} is on '{branch}' and not in HEAD"
        if branch
        else f"its commit {oid[:7]} is not in HEAD any more: taken back by a reset or a rebase"
        for oid, branch in commits.items()
    ]
    return "; ".join(rows)


def _check_idle(worker: Worker, job: Job, skip: str) -> None:
    """Accept a task that changed nothing only when nothing speaks against it."""
    if job.denied:
        agent = worker.options.agent or "<agent>"
        error = UnlandedError(
            f"it changed nothing, and the agent was refused: {', '.join(job.denied)}",
            f"git config ralph.{agent}.arguments '<options>'  # allows more",
            skip,
        )
        error.blocked = True
        raise error
    if worker.options.require_change or worker.ctx.config.boolean("ralph.requirechange"):
        last = f"; its last words: {_last_line(job.said)}" if job.said else ""
        raise UnlandedError(f"it changed nothing{last}", skip)


def commit(
    worker: Worker,
    ctx: Context,
    job: Job,
    landing: TaskLanding,
    judge: Judge | None,
    by_checks: Collection[bytes],
) -> None:
    """Commit what the session edited. Raises Entangled, Refused, Failed, Busy or Fatal with nothing moved.

    ``by_checks`` are the paths that changed while the checks ran: what is left of them is told.
    """
    try:
        result = commit_request(worker, ctx, landing.request._replace(judge=judge))
        result = dead_hooks.explained(ctx, job.session, result)
    except Refused as error:
        raise _refused(error) from error
    job.notes += [note for note in result.notes if note not in job.notes]
    job.notes += [f"left out: '{shown(left.path)}' ({left.reason})" for left in result.left]
    # the commit of a run that was killed right after landing, or one that the agent made itself
    job.commit = result.commit or committed(ctx, job)
    if job.commit is None and (plain := landing.by_hand or _by_hand(ctx, job, result)) is not None:
        more = f", which holds {listed(plain.others)} as well" if plain.others else ""
        job.notes.append(f"its edits are in {plain.oid[:7]}, made by plain git{more}")
        job.commit = plain.oid
    if job.commit:
        job.files = _files_of(ctx, job.commit)
    elif landing.preview.changes:
        names = listed([shown(path) for path in landing.preview.changes])
        raise UnlandedError(f"its edits of {names} were gone when they were to be committed")
    beside = landing.account.unexplained + landing.account.astray + landing.account.others
    if beside:
        job.notes.append(f"changed meanwhile by others and left uncommitted: {listed(sorted(beside))}")
    left = [shown(path) for path in account.stamps(ctx) if path in by_checks] if by_checks else []
    if left := sorted(set(left) - set(beside)):
        job.notes.append(f"changed while the checks ran and left uncommitted: {listed(left)}")
    if not job.commit and job.said:
        job.notes.append(f"it changed nothing; its last words: {_last_line(job.said)}")
    worker.ledger.step(job, MERGE if job.tree else TICK)


def _last_line(said: str) -> str:
    line = said.strip().split("\n")[-1].strip()
    return line if len(line) <= 200 else line[:197] + "..."


def committed(ctx: Context, job: Job) -> str | None:
    """The last commit in HEAD that took something of the session, or one by the agent that names it."""
    found = list(own_commits.of(ctx, [job.session]).held.values())
    return found[-1] if found else _own_commit(ctx, job)


def _since(ctx: Context, job: Job, *paths: bytes) -> list[list[str]]:
    """The commits since the task began, the last first, each with the sessions that its trailers name."""
    head = gitdir.head_oid(ctx.repo.place)
    if job.head is None or head is None or head == job.head:
        return []
    form = "--format=%H %(trailers:key=Ralph-Session,valueonly,separator=%x20)"
    git = ctx.git.at(ctx.repo.root)
    done = git.try_run("--literal-pathspecs", "log", form, f"{job.head}..{head}", "--", *paths)
    return [row.split() for row in done.stdout.decode("utf-8", "replace").splitlines()]


def _own_commit(ctx: Context, job: Job) -> str | None:
    # In a fleet the message names the hash of the session.
    own = {job.session, published_name.published(ctx.layout, job.session)}
    return next((row[0] for row in _since(ctx, job) if own & set(row[1:])), None)


def _by_hand(ctx: Context, job: Job, result: Result) -> PlainCommit | None:
    """The last commit by plain git with a path of the task that has nothing left to commit."""
    paths = [left.path for left in result.left if left.reason == decision.UNCHANGED]
    rows = _since(ctx, job, *paths) if paths else []
    # A row of one word has no trailer: no session claims that commit.
    found = next((row[0] for row in rows if len(row) == 1), None)
    if found is None:
        return None
    return PlainCommit(found, sorted({*_files_of(ctx, found)} - {shown(path) for path in paths}))


def _files_of(ctx: Context, oid: str) -> list[str]:
    return [shown(path) for path in own_commits.paths_of(ctx, oid)]


def merge(worker: Worker, ctx: Context, job: Job) -> None:
    """Merge the commit of a task's own worktree. Raises Refused when it cannot be merged."""
    with _turn, changing_boxes:
        workplace.merge_home(worker.ctx, worker.ledger, job, worker.options.plan)
    worker.ledger.step(job, TICK)


def tick(worker: Worker, ctx: Context, job: Job) -> None:
    """Tick the task in the plan; only called for one that has landed or needed nothing."""
    with changing_boxes:
        if worker.options.plan is not None:
            tick_in(worker, worker.options.plan, job)
        job.outcome = COMMITTED if job.commit else NO_OP
        job.unlanded = []
        worker.ledger.step(job, END, process=None)
    worker.ledger.tell(f"task.{job.outcome}", job, commit=job.commit, files=job.files)
    lifecycle.end(ctx, job.session)


def tick_in(worker: Worker, path: str, job: Job) -> None:
    """Tick the task of a job in a plan, also where its words were changed meanwhile."""
    if plans.tick(worker.ctx.layout, path, job.key):
        return
    key = successor(plans.tasks_of(path), job, worker.ledger.seen)
    if key is not None and plans.tick(worker.ctx.layout, path, key):
        worker.ledger.ticked.add(key)
        job.notes.append(f"the task was reworded meanwhile and ticked as '{key[0]}'")
    else:
        job.notes.append("the task is no longer in the plan; nothing was ticked")

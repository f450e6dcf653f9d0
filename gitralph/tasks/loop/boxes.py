"""The boxes of a plan while agents work: only the loop ticks, and only what landed.

The run's record decides what is done; the plan is a view of it. A box that was open when an agent began and
that nobody's landing ticked is opened again; a box of a landed task that came open, by a reset or a stash, is
ticked again. Both are said.
"""

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from gitralph.base.errors import RalphError
from gitralph.records import checklist as plans
from gitralph.tasks.loop.ledger import Ledger
from gitralph.tasks.loop.model import LANDED, Say

_turn = threading.RLock()
Key = tuple[str, int]


@contextmanager
def turn() -> Iterator[None]:
    """For whoever changes boxes and what they stand for: one at a time."""
    with _turn:
        yield


def open_now(path: str) -> set[Key]:
    """The tasks whose box is open."""
    return {task.key for task in plans.tasks_of(path) if not task.done}


def repair(ledger: Ledger, path: str, before: Collection[Key], say: Say) -> None:
    """Make the boxes say what the record says; ``before`` are the tasks open when an agent began."""
    done = []
    with turn():
        landed = {job.key for job in ledger.jobs if job.outcome in LANDED} | ledger.ticked
        try:
            tasks = plans.tasks_of(path)
        except RalphError:
            return  # the agent took the plan away; the next look at it says so
        for task in tasks:
            if task.done and task.key in before and task.key not in landed:
                plans.tick(ledger.ctx.layout, path, task.key, done=False)
                done.append(f"'{task.text}' was ticked by an agent but has not landed: its box is open again")
            # A `git checkout` of the plan, or an agent that rewrote it, brings the old boxes back.
            elif not task.done and task.key in landed:
                plans.tick(ledger.ctx.layout, path, task.key)
                done.append(f"'{task.text}' has landed in this run: its box is ticked again")
    for text in done:
        say(f"note: {text}")
        ledger.tell("plan.repaired", note=text)

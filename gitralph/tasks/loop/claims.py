"""What becomes of the fleet's claims of a run that is over.

A claim says "this clone works on it". It is over with the landing, which is the user's word to give; where
the run leaves nothing that could land, others need not wait for two leases to find that out.
"""

import os
import shlex

from gitralph.decide import pending_paths
from gitralph.git.context import Context
from gitralph.tasks.fleet import at_work
from gitralph.tasks.loop.ledger import Ledger
from gitralph.tasks.loop.model import Job, Say

_MOST = 5


def settle(ctx: Context, ledger: Ledger, say: Say) -> list[str]:
    """Give back what this run claimed in vain; the next command for every claim that stays."""
    held = at_work.held(ctx)
    steps = []
    for job in ledger.jobs:
        # Without an outcome it was interrupted: a resumed run goes on with it.
        if job.bead not in held or job.outcome is None:
            continue
        held.discard(job.bead)
        if job.claimed and not _has_something(ctx, job):
            if at_work.give_back(ctx, job.bead):
                job.claimed = False
                note = f"the claim on '{job.bead}' is given back: nothing came of it here"
                job.notes.append(note)
                say(f"{job.name}: {note}")
            continue
        verb = "land" if job.commit else "release"
        why = "publishes it; claimed until then" if job.commit else "lets another clone have it"
        steps.append(f"git ralph fleet {verb} {shlex.quote(job.bead)}  # {why}")
    ledger.save()
    if len(steps) > _MOST:
        return [*steps[:_MOST], f"git ralph fleet status  # lists these {len(steps)} claims"]
    return steps


def _has_something(ctx: Context, job: Job) -> bool:
    """True where a commit, a worktree or pending edits of a job are left."""
    if job.commit or job.unlanded or (job.root and os.path.isdir(job.root)):
        return True
    return bool(pending_paths.counted(pending_paths.of(ctx, job.session)))

"""Finds hooks that are registered while nothing is recorded: it counts commits since the last record."""

import os
from datetime import UTC, datetime

from gitralph.git.repository import Repository
from gitralph.setup.doctor.verdict import Verdict

# A few commits may be a person's alone; so many, with hooks registered, deserve a look.
_MANY = 20
_FORM = "%Y-%m-%dT%H:%M:%SZ"


def _since(installed: list[Verdict]) -> str:
    """The time of the newest record here; without any, the time of the newest registration."""
    seen = [one.seen for one in installed if one.seen]
    if seen:
        return max(seen)
    times = [os.stat(i.file).st_mtime for one in installed for i in one.installed if os.path.exists(i.file)]
    return datetime.fromtimestamp(max(times, default=0.0), UTC).strftime(_FORM)


def check(repo: Repository, verdicts: list[Verdict]) -> None:
    """Add a problem to every installed agent where no agent recorded anything for many commits."""
    installed = [one for one in verdicts if one.installed]
    if not installed:
        return
    since = _since(installed)
    done = repo.git.try_run("rev-list", "--count", f"--since={since}", "HEAD")
    count = int(done.stdout) if done.returncode == 0 else 0
    if count < _MANY:
        return
    for one in installed:
        text = f"no agent recorded anything here since {since}, in {count} commits"
        fix = "start it again and have it edit a file, then: git ralph status"
        one.add("no-record-since", text, fix, fatal=False)

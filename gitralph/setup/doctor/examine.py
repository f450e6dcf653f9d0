"""Gathers every verdict and check into one report."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gitralph.base import gitdir, layout
from gitralph.base.errors import Fatal
from gitralph.base.layout import Layout
from gitralph.git.repository import Repository, open_repository
from gitralph.git.run import Git
from gitralph.records import sessions
from gitralph.setup.doctor import policies, quiet, repository, shells
from gitralph.setup.doctor.found import Where, where
from gitralph.setup.doctor.repository import Check
from gitralph.setup.doctor.verdict import Verdict, believe_records, judge
from gitralph.setup.install.table import AGENTS


@dataclass
class Report:
    """Verdicts on agents, and checks of git and of the repository we are in, if any."""

    verdicts: list[Verdict]
    checks: list[Check] = field(default_factory=list)
    root: str | None = None
    state: str | None = None
    log: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True when an agent is installed, all installed ones are alive, and the state can be used."""
        return (
            any(one.installed for one in self.verdicts)
            and not any(one.is_broken for one in self.verdicts)
            and not any(check.stops for check in self.checks)
        )


def _open(git: Git, cwd: str) -> tuple[Repository | None, list[Check]]:
    """The repository we are in, or why it cannot be used; nothing at all outside of any repository."""
    try:
        return open_repository(git), []
    except Fatal as error:
        # Outside of any repository there is nothing to complain about. Inside, tell why git rejects it.
        inside = gitdir.discover(os.path.realpath(cwd)) is not None
        return None, [repository.unusable(error)] if inside else []


def _seen(top: Layout) -> dict[str, str]:
    """When each agent last recorded something here."""
    last: dict[str, float] = {}
    for record in sessions.records(top):
        agent, session = str(record.get("agent")), str(record["session"])
        last[agent] = max(last.get(agent, 0.0), sessions.last_event(top, session))
    return {
        agent: datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for agent, when in last.items()
        if when
    }


def _state_problem(verdict: Verdict, stopping: list[Check]) -> None:
    for check in stopping if verdict.installed or verdict.by_hand else ():
        text = f"this repository cannot take records: {check.name}: {check.detail}"
        verdict.add("state-unusable", text, check.fix or "git ralph env")
        verdict.alive = False


More = Callable[[Mapping[str, str]], Sequence[Check]]


def examine(environ: Mapping[str, str], cwd: str, more: More = lambda _environ: ()) -> Report:
    """Judge every agent as started in ``cwd``, with ``more`` checks. Raises Fatal without a usable git."""
    git = Git.find(environ)
    repo, found = _open(git, cwd)
    version = repository.git_version(git)
    here: Where = where(cwd, repo)
    verdicts = [judge(agent, here, environ) for agent in AGENTS.values()]
    if repo is None:
        return _finish(Report(verdicts, [version, *found]))
    top = layout.state_folder(repo.place)
    checks = [version, *repository.checks(repo.place), *repository.guard(repo), *repository.told(repo)]
    checks += [*policies.unenforced(repo, environ), *more(environ)]
    report = Report(verdicts, checks, repo.root, top, repository.log_tail(top))
    seen = _seen(Layout(top, layout.MAIN)) if os.path.isdir(top) else {}
    for verdict in verdicts:
        verdict.seen = seen.get(verdict.agent)
        believe_records(verdict)
    quiet.check(repo, verdicts)
    if not any(check.stops for check in checks):
        shells.check(repo, verdicts)
    return _finish(report)


def _finish(report: Report) -> Report:
    for verdict in report.verdicts:
        _state_problem(verdict, [check for check in report.checks if check.stops])
    return report


def as_document(report: Report) -> dict[str, Any]:
    """The report as ``doctor --json`` prints it."""
    return {
        "ok": report.ok,
        "agents": [_agent(one) for one in report.verdicts],
        "repository": None
        if report.root is None
        else {"root": report.root, "state": report.state, "log": report.log},
        "checks": [{"check": c.name, "ok": c.ok, "detail": c.detail, "fix": c.fix} for c in report.checks],
    }


def _agent(one: Verdict) -> dict[str, Any]:
    first = one.first
    return {
        "agent": one.agent,
        "present": one.present,
        "installed": [{"scope": i.scope, "file": i.file, "read_here": i.is_read} for i in one.installed],
        "trusted": one.trusted,
        "seen": one.seen,
        "alive": one.alive,
        "exact": one.exact,
        "shell": one.shell,
        "shell_seen": one.shell_seen,
        "works_by_shell": one.works_by_shell,
        "problem": first.text if first else None,
        "fix": first.fix if first else None,
        "problems": [{"code": p.code, "problem": p.text, "fix": p.fix} for p in one.problems],
    }

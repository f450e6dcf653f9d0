"""Judges one agent: what is registered, whether a real event arrives, and every reason why not."""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gitralph.setup.doctor import probe, trust
from gitralph.setup.doctor.found import MANAGED, Installation, Where, installations
from gitralph.setup.doctor.probe import Shot
from gitralph.setup.install import receipt
from gitralph.setup.install.settings import DISABLE_ALL
from gitralph.setup.install.table import AGENTS, MANUAL, PROJECT, USER, Agent

NOT_TRUSTED = "not-trusted"


@dataclass(frozen=True)
class Problem:
    """One reason why edits are not recorded, and what to do. ``fatal``: nothing is recorded because of it.

    ``files`` are the registrations concerned, none where the problem is the agent's as a whole.
    """

    code: str
    text: str
    fix: str
    fatal: bool = True
    files: tuple[str, ...] = ()


@dataclass
class Verdict:
    """The verdict on one agent.

    ``trusted`` is None where only the agent knows; ``seen`` is its last record here.

    ``working`` are its files of which a command was fired and left a record. ``shell``: a shell command sent
    through one of them was recorded. ``shell_seen``: when one of its own shell commands was last recorded
    here. ``works_by_shell``: whether its latest session works by shell. Each is None where it is unknown.
    """

    agent: str
    present: bool
    by_hand: bool = False
    installed: list[Installation] = field(default_factory=list)
    trusted: bool | None = None
    seen: str | None = None
    alive: bool = False
    exact: str | None = None
    working: set[str] = field(default_factory=set)
    shell: bool | None = None
    shell_seen: str | None = None
    works_by_shell: bool | None = None
    problems: list[Problem] = field(default_factory=list)

    @property
    def first(self) -> Problem | None:
        """The problem to solve first."""
        return next(iter(sorted(self.problems, key=lambda one: not one.fatal)), None)

    @property
    def is_broken(self) -> bool:
        """True when this agent is meant to be recorded and is not."""
        fatal = any(one.fatal for one in self.problems)
        return fatal or (bool(self.installed) and not self.alive)

    def add(self, code: str, text: str, fix: str, fatal: bool = True, *files: str) -> None:
        self.problems.append(Problem(code, text, fix, fatal, files))

    def weigh(self) -> None:
        """Turn a fatal problem of one registration into a warning where another registration works."""
        self.problems = [
            replace(p, fatal=p.fatal and not (p.files and self.working - set(p.files))) for p in self.problems
        ]
        self.alive = self.alive and not any(one.fatal for one in self.problems)


def believe_records(verdict: Verdict) -> None:
    """Turn distrust into a warning where the agent has recorded here, and so ran its hooks once."""
    # Where each command is trusted by itself, a record by another command proves nothing for this one.
    if verdict.seen is None or AGENTS[verdict.agent].trusts_one_by_one or verdict.trusted is not False:
        return
    verdict.trusted = None
    verdict.problems = [replace(p, fatal=p.fatal and p.code != NOT_TRUSTED) for p in verdict.problems]
    verdict.alive = verdict.exact is not None and not any(one.fatal for one in verdict.problems)


def judge(agent: Agent, here: Where, environ: Mapping[str, str]) -> Verdict:
    """The verdict on one agent, with a real event sent through each command that is registered."""
    verdict = Verdict(agent.name, agent.is_present(environ), agent.form == MANUAL)
    if agent.form == MANUAL:
        _judge_by_hand(verdict, agent, environ)
        return verdict
    found = installations(agent, here, environ)
    verdict.installed = [one for one in found if one.is_ours]
    _files(verdict, found)
    _taken_out(verdict, agent, here, environ)
    if verdict.installed:
        _trust(verdict, agent, here, environ)
        _coverage(verdict, here)
        _shots(verdict, environ)
    elif verdict.present and not verdict.problems:
        verdict.add("not-installed", "not installed", f"git ralph install --agent {agent.name}", fatal=False)
    verdict.weigh()
    return verdict


def _judge_by_hand(verdict: Verdict, agent: Agent, environ: Mapping[str, str]) -> None:
    shot = probe.fire(agent.name, agent.command, environ)
    verdict.exact, verdict.alive, verdict.shell = shot.exact, shot.recorded, shot.shell
    if not shot.recorded:
        _explain(verdict, agent.command, shot, environ)


def _files(verdict: Verdict, found: list[Installation]) -> None:
    """Files that the agent rejects, or that switch hooks off."""
    for one in found:
        if one.error is not None and one.is_read:
            text = f"'{one.file}' {one.error}: the agent ignores it"
            verdict.add("settings-rejected", text, "correct the file, then: git ralph doctor", True, one.file)
        for key in one.registered.disabled if one.registered and one.is_read else ():
            # `allowManagedHooksOnly` counts in an administrator's settings alone; anywhere else it is
            # ignored.
            if key == DISABLE_ALL or one.scope == MANAGED:
                text = f"hooks are switched off: '{key}' is set in '{one.file}'"
                verdict.add("hooks-disabled", text, f"take '{key}' out of '{one.file}'")


def _taken_out(verdict: Verdict, agent: Agent, here: Where, environ: Mapping[str, str]) -> None:
    """Files in which we registered hooks and that do not name us any more."""
    there = {os.path.realpath(one.file) for one in verdict.installed}
    files = [(USER, agent.file(USER, environ, None))]
    files += [(PROJECT, agent.file(PROJECT, environ, folder)) for folder in here.folders]
    for scope, file in files:
        target = os.path.realpath(file)
        if target not in there and receipt.read(environ, target) is not None:
            text = f"our hooks were taken out of '{file}' since they were installed"
            words = f"--agent {agent.name} --{scope}"
            fix = f"git ralph install {words}, or to forget them: git ralph uninstall {words}"
            verdict.add("taken-out", text, fix, True, file)


def _trust(verdict: Verdict, agent: Agent, here: Where, environ: Mapping[str, str]) -> None:
    verdict.trusted = trust.trusted(agent, verdict.installed, here.cwd, environ)
    if verdict.trusted is False:
        text = f"'{agent.name}' skips our hooks here: it was not told to trust them"
        verdict.add(NOT_TRUSTED, text, agent.trust_note)


def _coverage(verdict: Verdict, here: Where) -> None:
    """Events that are not registered, files that are not read here, and double registrations."""
    name, read = verdict.agent, [one for one in verdict.installed if one.is_read]
    for one in verdict.installed:
        scope = f" --{one.scope}" if one.scope == "project" else ""
        again = f"git ralph install --agent {name}{scope}"
        assert one.registered is not None
        if one.registered.missing:
            events = ", ".join(one.registered.missing)
            text = f"'{one.file}' does not register {events}"
            if one.registered.is_silent:
                verdict.add("incomplete", f"{text}: it records no edit", again, True, one.file)
            else:
                verdict.add("incomplete", text, again, fatal=False)
        if one.registered.old:
            text = f"'{one.file}' is not what this version installs: '{one.registered.old[0]}'"
            verdict.add("old-command", text, again, fatal=False)
    if not read:
        text = f"an agent started in '{here.cwd}' does not read '{verdict.installed[0].file}'"
        start = os.path.dirname(os.path.dirname(verdict.installed[0].file))
        fix = f"git ralph install --agent {name}, or start it in '{_start(start)}'"
        verdict.add("not-read-here", text, fix)
    # Both run for each call. The second is recognised as a repetition, and costs the agent its time.
    if len(read) > 1:
        files = " and ".join(f"'{one.file}'" for one in read)
        fix = f"git ralph uninstall --agent {name} --project"
        verdict.add("installed-twice", f"registered twice: {files}", fix, fatal=False)


def _start(folder: str) -> str:
    """The folder above an agent's configuration folder."""
    while os.path.basename(folder).startswith("."):
        folder = os.path.dirname(folder)
    return folder


def _shots(verdict: Verdict, environ: Mapping[str, str]) -> None:
    commands: dict[str, float] = {}
    files: dict[str, list[str]] = {}
    for one in verdict.installed:
        assert one.registered is not None
        commands |= dict.fromkeys(one.registered.commands, one.registered.timeout)
        for command in one.registered.commands:
            files.setdefault(command, []).append(one.file)
    # the events are fired whether the file registers them or not
    told = [(one.file, one.registered) for one in verdict.installed if one.is_read and one.registered]
    read = {file for file, found in told if not found.is_silent}
    hearing = {file for file, found in told if found.hears_shell}
    for command, limit in commands.items():
        shot = probe.fire(verdict.agent, command, environ, limit)
        verdict.alive = verdict.alive or shot.recorded
        verdict.exact = verdict.exact or shot.exact
        if shot.recorded:
            verdict.working |= read.intersection(files[command])
            heard = shot.shell and not hearing.isdisjoint(files[command])
            verdict.shell = verdict.shell or heard
        if shot.printed:
            text = f"'{command}' prints on standard output, which the agent reads as an answer"
            verdict.add("noise", text, "silence what your shell's start-up files print", fatal=False)
        if not shot.recorded:
            _explain(verdict, command, shot, environ, *files[command])


def _explain(verdict: Verdict, command: str, shot: Shot, environ: Mapping[str, str], *files: str) -> None:
    """Why a command left no record."""
    if environ.get("RALPH_TRACKING") == "0":
        verdict.add("tracking-off", "tracking is off: RALPH_TRACKING is 0", "unset RALPH_TRACKING")
    elif shot.late:
        text = f"'{command}' did not end within its time limit"
        fix = f"run it by hand and see what it waits for: {command} </dev/null"
        verdict.add("too-slow", text, fix, True, *files)
    elif shutil.which("git-ralph", path=environ.get("PATH", os.defpath)) is None:
        text = "'git-ralph' is not on PATH in the shell that runs hooks"
        verdict.add("not-on-path", text, _path_fix(), True, *files)
    else:
        text = f"'{command}' ran (exit {shot.code}) and recorded nothing"
        said = shot.said.splitlines()
        fix = f"it said: {said[-1][:200]}" if said else f"git ralph install --agent {verdict.agent}"
        verdict.add("no-record", text, fix, True, *files)


def _path_fix() -> str:
    folder = os.path.dirname(sys.executable)
    if os.path.exists(f"{folder}/git-ralph"):
        return f"add '{folder}' to PATH where your login sets it, or install it with pipx"
    return "install it with pipx, which puts 'git-ralph' on PATH"

"""Checks whether an agent's shell commands are recorded, and whether it works by shell commands."""

import os
from typing import Any

from gitralph.base import layout
from gitralph.git.repository import Repository
from gitralph.hook import windows
from gitralph.hook.shellsteps import OFF, works_by_shell
from gitralph.records import sessions
from gitralph.setup.doctor.verdict import Verdict

SETTING = "ralph.shellEdits"


def check(repo: Repository, verdicts: list[Verdict]) -> None:
    """Add what the records here tell of each agent's shell, and where changes by shell get lost."""
    lay = layout.for_place(repo.place, create=False)
    known: dict[str, list[dict[str, Any]]] = {}
    for record in sessions.records(lay, finished=True) if os.path.isdir(lay.top) else ():
        known.setdefault(str(record.get("agent")), []).append(record)
    times: dict[str, str] = {}
    for window in windows.read(lay):
        times[window.session] = max(window.time, times.get(window.session, ""))
    said = repo.git.try_run("config", "--get", SETTING).stdout.decode("utf-8", "replace").strip().lower()
    for one in verdicts:
        of_it = known.get(one.agent, [])
        one.shell_seen = max((times.get(str(r["session"]), "") for r in of_it), default="") or None
        one.works_by_shell = _is_told(of_it)
        if one.installed and one.alive:
            _judge(one, said == OFF)


def _is_told(records: list[dict[str, Any]]) -> bool | None:
    """Whether the latest session of an agent was told to work by shell; None where no transcript is left."""
    for record in reversed(records):
        transcript = record.get("transcript")
        if isinstance(transcript, str) and os.path.isfile(transcript):
            return works_by_shell(transcript)
    return None


def _judge(one: Verdict, is_off: bool) -> None:
    """Judge one agent: without its shell commands, one that works by these is not recorded at all."""
    told = one.works_by_shell is True
    why = ", and it was told to work by shell" if told else ""
    if is_off:
        # the user wants it so, unless the agent makes all its changes by shell
        if told:
            text = f"what its shell commands change is not looked at{why}: '{SETTING}' is '{OFF}'"
            one.add("shell-off", text, f"git config --unset {SETTING}", True)
    elif one.shell is False:
        fix = f"git ralph install --agent {one.agent}"
        one.add("no-shell", f"its shell commands are not recorded{why}", fix, told)
    one.alive = one.alive and not any(problem.fatal for problem in one.problems)

"""``git ralph doctor``."""

import os
import sys

import click

from gitralph.base.errors import NO, OK, Fatal
from gitralph.cli.terminal import environ, options, output
from gitralph.setup.doctor import Report, examine
from gitralph.setup.doctor.examine import as_document
from gitralph.setup.doctor.repository import Check
from gitralph.setup.doctor.verdict import Verdict
from gitralph.tasks.fleet import trial

_COLORS = {"alive": "green", "works": "green", "ok": "green", "-": "yellow"}
_WIDTH = 20


@click.command("doctor", cls=options.Command)
@options.as_json
def doctor(as_json: bool) -> int:
    """Prove that edits are being recorded: send a real event through each installed hook.

    The event goes to a scratch repository. Ends with 1 when an installed agent is not alive.
    """
    env = environ.snapshot()
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        raise Fatal("the current folder does not exist any more") from None
    report = examine(env, cwd, trial.checks)
    if as_json:
        output.as_json(as_document(report))
    else:
        _show(report, environ.wants_color(env, None))
    return OK if report.ok else NO


def _show(report: Report, color: bool) -> None:
    word, said = _verdict(report)
    click.echo((click.style(word, fg="green" if report.ok else "red", bold=True) if color else word) + said)
    absent = [one for one in report.verdicts if _is_absent(one)]
    for verdict in report.verdicts:
        if verdict not in absent:
            _show_agent(verdict, color)
    good = [check for check in report.checks if check.ok and not check.fix]
    for check in report.checks:
        if check not in good:
            _show_check(check, color)
    if good:
        here = ("repository", "ok") if report.root is not None else ("no repository here", "-")
        _row(*here, ", ".join(f"{one.name} {one.detail}".strip() for one in good), color)
    if absent:
        _row("not found", "-", ", ".join(one.agent for one in absent), color)
    if not any(one.installed for one in report.verdicts):
        output.hint("git ralph install  # hooks up every agent that it finds")


def _is_absent(verdict: Verdict) -> bool:
    """True for an agent that is not on this machine and needs no line."""
    codes = {problem.code for problem in verdict.problems}
    silent = not verdict.seen and codes <= {"not-installed"} and not verdict.by_hand
    return silent and not verdict.present and not verdict.installed and not verdict.is_broken


def _verdict(report: Report) -> tuple[str, str]:
    """One sentence on whether edits are recorded; its first words are highlighted."""
    alive = [one.agent for one in report.verdicts if one.installed and one.alive]
    dead = [one.agent for one in report.verdicts if one.is_broken]
    bad = [check.name for check in report.checks if check.stops]
    if report.ok:
        return "edits are recorded", f": {', '.join(alive)} hooked up, a real event was recorded"
    if not any(one.installed for one in report.verdicts) and not bad:
        return "no edit is recorded", ": no agent is hooked up"
    if bad:
        return "nothing can be recorded", f": {', '.join(bad)}"
    return "edits get lost", f": the hook of {', '.join(dead)} does not work"


def _row(name: str, word: str, rest: str, color: bool) -> None:
    # the rest contains other people's texts; the colour is ours
    plain = f"{name:<{_WIDTH}} {word:<6} {output.printable_lines(rest)}".rstrip()
    head, body = plain[: _WIDTH + 1], output.folded(plain, sys.stdout)[_WIDTH + 1 :]
    if color and word:
        body = click.style(word, fg=_COLORS.get(word, "red")) + body[len(word) :]
    click.echo(head + body, color=color)


def _word(verdict: Verdict) -> str:
    if verdict.by_hand:
        return "works" if verdict.alive else "broken"
    if verdict.installed:
        return "alive" if verdict.alive else "dead"
    return "broken" if verdict.is_broken else "-"


def _places(verdict: Verdict) -> str:
    if verdict.by_hand:
        return "any other agent, wired by hand: git ralph help hooks"
    rows = [f"{one.scope} '{one.file}'" for one in verdict.installed]
    return ", ".join(rows) or ("not installed" if verdict.present else "not found")


def _show_agent(verdict: Verdict, color: bool) -> None:
    seen = f"; last record here {verdict.seen}" if verdict.seen else ""
    shell = f"; last shell command here {verdict.shell_seen}" if verdict.shell_seen else ""
    _row(verdict.agent, _word(verdict), _places(verdict) + seen + shell, color)
    if verdict.works_by_shell:
        _row("", "", "note: its latest session here was told to work by shell", color)
    if verdict.installed and verdict.trusted is None:
        _row("", "", "note: it runs only where you trust the project", color)
    for problem in verdict.problems:
        if problem.code != "not-installed":
            _row("", "", f"problem: {problem.text}", color)
        _row("", "", f"fix: {problem.fix}", color)


def _show_check(check: Check, color: bool) -> None:
    _row(check.name, "ok" if check.ok else "bad", check.detail, color)
    if check.fix and not check.ok:
        _row("", "", f"fix: {check.fix}", color)

"""``git ralph doctor``."""

import os

import click

from gitralph.base.errors import NO, OK, Fatal
from gitralph.cli import environ, options, output
from gitralph.setup.doctor import Report, examine
from gitralph.setup.doctor.examine import as_document
from gitralph.setup.doctor.repository import Check
from gitralph.setup.doctor.verdict import Verdict

_COLORS = {"alive": "green", "works": "green", "ok": "green", "-": "yellow"}
_WIDTH = 20


@options.command("doctor")
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
    report = examine(env, cwd)
    if as_json:
        output.as_json(as_document(report))
    else:
        _show(report, environ.wants_color(env, None))
    return OK if report.ok else NO


def _show(report: Report, color: bool) -> None:
    for verdict in report.verdicts:
        _show_agent(verdict, color)
    for check in report.checks:
        _show_check(check, color)
    if not any(one.installed for one in report.verdicts):
        output.hint("no agent is hooked up: git ralph install")


def _row(name: str, word: str, rest: str, color: bool) -> None:
    shown = click.style(f"{word:<6}", fg=_COLORS.get(word, "red")) if color else f"{word:<6}"
    # the rest holds other people's texts; the colour is ours
    click.echo(f"{name:<{_WIDTH}} {shown} {output.printable_lines(rest)}".rstrip(), color=color)


def _word(verdict: Verdict) -> str:
    if verdict.by_hand:
        return "works" if verdict.alive else "broken"
    if verdict.installed:
        return "alive" if verdict.alive else "dead"
    return "broken" if verdict.is_broken else "-"


def _places(verdict: Verdict) -> str:
    if verdict.by_hand:
        return "wired by hand"
    rows = [f"{one.scope} '{one.file}'" for one in verdict.installed]
    return ", ".join(rows) or ("not installed" if verdict.present else "not found")


def _show_agent(verdict: Verdict, color: bool) -> None:
    seen = f"; last record here {verdict.seen}" if verdict.seen else ""
    _row(verdict.agent, _word(verdict), _places(verdict) + seen, color)
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

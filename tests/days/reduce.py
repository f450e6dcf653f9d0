"""Finds the fewest and simplest steps of a day that still show the same fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.days.play import SOFT, play
from tests.days.steps import Day, Step

Shows = Callable[[Day], bool]


def shows(name: str) -> Shows:
    """Whether a day shows a fault of this name, whatever else it shows before."""
    kind = name.partition(" ")[0]
    others = frozenset(["FOREIGN", "REVIVED", "MADE-UP", "TWICE", "FORGOTTEN", "STAGED"])
    passed = (SOFT | others) - {kind}

    def ask(day: Day) -> bool:
        found = play(day, passed=passed)
        return any(fault.name == name for _, _, fault in found.faults)

    return ask


def cut(day: Day, name: str) -> Day:
    """The day up to the step that shows a fault of this name first."""
    kind = name.partition(" ")[0]
    others = frozenset(["FOREIGN", "REVIVED", "MADE-UP", "TWICE", "FORGOTTEN", "STAGED"])
    found = play(day, passed=(SOFT | others) - {kind})
    numbers = [number for _, number, fault in found.faults if fault.name == name]
    if not numbers:
        return day
    return replace(day, steps=tuple(step for step in day.steps if step.number <= numbers[0]))


def without(day: Day, ask: Shows) -> Day:
    """Take out ever smaller runs of steps while the fault stays."""
    steps = list(day.steps)
    size = max(len(steps) // 2, 1)
    while size:
        at = 0
        while at < len(steps):
            fewer = steps[:at] + steps[at + size :]
            if fewer and ask(replace(day, steps=tuple(fewer))):
                steps = fewer
            else:
                at += size
        size //= 2
    return replace(day, steps=tuple(steps))


def simpler(day: Day, ask: Shows) -> Day:
    """Make what is left smaller: plain files, single lines, plain verbs."""
    for variant in (
        {"noise": 0, "crlf": False}, {"crlf": False}, {"noise": 0}, {"lines": (8, 4, 4, 4)}, {"lines": (12, 4, 4, 4)},
    ):  # fmt: skip
        other = replace(day, **variant)  # type: ignore[arg-type]
        if other != day and ask(other):
            day = other
    for at in range(len(day.steps)):
        for change in (
            {"verb": "insert"}, {"verb": "ralph"}, {"verb": "commit-all"}, {"verb": "checkout-file"},
            {"new": 1}, {"gone": 1}, {"flag": 1}, {"flag": 2}, {"file": 0}, {"at": 3}, {"at": 1}, {"at": 2},
        ):  # fmt: skip
            step = day.steps[at]
            if not _is_simpler(step, change):
                continue
            other = replace(day, steps=(*day.steps[:at], replace(step, **change), *day.steps[at + 1 :]))  # type: ignore[arg-type]
            if other != day and ask(other):
                day = other
    return day


def _is_simpler(step: Step, change: dict[str, object]) -> bool:
    ((name, value),) = change.items()
    if name != "verb":
        now = getattr(step, name)
        return isinstance(value, int) and value < now
    kin = {
        "insert": ("replace", "several", "undo", "tweak"),
        "ralph": ("ralph-skip", "ralph-include", "ralph-path", "ralph-dry"),
        "commit-all": ("commit-everything", "amend", "squash", "commit", "commit-path"),
        "checkout-file": ("stash", "reset-hard", "stash-path", "checkout-all"),
    }
    return step.verb in kin[str(value)]


def reduce(day: Day, name: str) -> Day | None:
    """The smallest day found, or None where the day does not show the fault again."""
    ask = shows(name)
    day = cut(day, name)
    if not ask(day):
        return None
    day = without(day, ask)
    day = simpler(day, ask)
    return without(day, ask)

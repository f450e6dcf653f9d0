"""Finds the fewest and simplest steps of a day that still show the same fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.days.play import SOFT, play
from tests.days.steps import Day, Step

Shows = Callable[[Day], bool]


_HARD = frozenset(["FOREIGN", "REVIVED", "MADE-UP", "TWICE", "FORGOTTEN", "STAGED"])


def _steps_with(day: Day, name: str) -> list[int]:
    """The steps that show a fault of a name, whatever else the day shows before."""
    found = play(day, passed=(SOFT | _HARD) - {name.partition(" ")[0]})
    return [number for _, number, fault in (*found.faults, *found.needless_at) if fault.name == name]


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


_DAYS: tuple[dict[str, Any], ...] = (
    {"noise": 0, "crlf": False},
    {"crlf": False},
    {"noise": 0},
    {"lines": (8, 4, 4, 4)},
    {"lines": (12, 4, 4, 4)},
)
_STEPS: tuple[tuple[str, Any], ...] = (
    ("verb", "insert"),
    ("verb", "ralph"),
    ("verb", "commit-all"),
    ("verb", "checkout-file"),
    ("new", 1),
    ("gone", 1),
    ("flag", 1),
    ("flag", 2),
    ("file", 0),
    ("at", 3),
    ("at", 1),
    ("at", 2),
)


def simpler(day: Day, ask: Shows) -> Day:
    """Make what is left smaller: plain files, single lines, plain verbs."""
    for variant in _DAYS:
        other = replace(day, **variant)
        if other != day and ask(other):
            day = other
    for at in range(len(day.steps)):
        for name, value in _STEPS:
            step = day.steps[at]
            if _is_simpler(step, name, value):
                change = {name: value}
                steps = (*day.steps[:at], replace(step, **change), *day.steps[at + 1 :])
                other = replace(day, steps=steps)
                day = other if ask(other) else day
    return day


def _is_simpler(step: Step, name: str, value: Any) -> bool:
    if name != "verb":
        return bool(value < getattr(step, name))
    kin = {
        "insert": ("replace", "several", "undo", "tweak"),
        "ralph": ("ralph-skip", "ralph-include", "ralph-path", "ralph-dry"),
        "commit-all": ("commit-everything", "amend", "squash", "commit", "commit-path"),
        "checkout-file": ("stash", "reset-hard", "stash-path", "checkout-all"),
    }
    return step.verb in kin[value]


def reduce(day: Day, name: str) -> Day | None:
    """The smallest day found, or None where the day does not show the fault again."""
    numbers = _steps_with(day, name)
    if not numbers:
        return None

    def ask(other: Day) -> bool:
        return bool(_steps_with(other, name))

    day = replace(day, steps=tuple(step for step in day.steps if step.number <= min(numbers)))
    day = without(day, ask)
    day = simpler(day, ask)
    return without(day, ask)

"""Days over functions that hold the same lines: no commit of ours cuts one, or takes another's."""

from __future__ import annotations

import pytest

from tests.days.code import BRACES, INDENTED, CodeDay, Language
from tests.support.size import FULL

MENDED = (
    *(5, 12, 24, 27, 31, 50, 79, 82, 107, 151, 171, 187),
    *(3321157, 3321180, 3321266, 3330079, 3360086, 3360162, 3360267, 3360268, 3370038),
    *(3400175, 3400287, 3400291, 3410031, 3450059, 3450207, 3499521, 3499714),
)
"""Seeds whose commits were wrong once."""


@pytest.mark.parametrize("seed", MENDED)
def test_no_commit_of_a_day_over_code_is_wrong(seed: int) -> None:
    said: list[str] = []
    assert CodeDay(seed, said.append).play().faults == [], "\n".join(said)


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="300 days take minutes: RALPH_FULL=1 plays them")
def test_no_commit_of_many_days_over_code_is_wrong() -> None:
    """Not reached yet: one commit of these days brings a line back that a checkout took away (seed 251)."""
    days = [CodeDay(seed).play() for seed in range(1, 301)]
    assert [(day.seed, day.faults) for day in days if day.faults] == []


@pytest.mark.parametrize(
    "seed", [3500041, 3500129, 3500142, 3500193, 3500260, 3510161, 3563319, 3563421, 3563425, 3563507]
)
def test_no_commit_of_a_day_over_code_without_braces_is_wrong(seed: int) -> None:
    said: list[str] = []
    assert CodeDay(seed, said.append, language=INDENTED).play().faults == [], "\n".join(said)


@pytest.mark.parametrize("language", [BRACES, INDENTED])
def test_a_text_of_half_functions_is_none(language: Language) -> None:
    functions = {"a": ("0", 0), "b": ("1", 2)}
    whole = language.rendered(functions)
    assert language.parsed(whole) == functions
    assert language.parsed(whole.replace(language.opens.format("b"), "")) is None
    assert language.parsed("\n".join(x for x in whole.split("\n") if "init" not in x)) is None
    assert language.parsed(language.header) == {}
    assert language.parsed(None) is None
    assert language.parsed(whole.replace("\n\n", "\n\n\n")) == (functions if language.is_loose else None)

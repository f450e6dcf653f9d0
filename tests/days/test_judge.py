"""The judge finds what is wrong: four broken tools, each within a handful of days."""

from __future__ import annotations

import pytest

from tests.days.broken import Spoil, broken, forgetful, ghostly, greedy
from tests.days.code import CodeDay
from tests.days.play import play
from tests.days.steps import draw

TOOLS = ((greedy, "FOREIGN"), (forgetful, "FORGOTTEN"), (ghostly, "REVIVED"), (None, "STAGED"))


@pytest.mark.parametrize(("spoil", "kind"), TOOLS)
def test_a_broken_tool_is_found_within_a_handful_of_days(spoil: Spoil | None, kind: str) -> None:
    with broken(spoil):
        days = ({fault.kind for _, _, fault in play(draw(seed, 60)).faults} for seed in range(1, 6))
        assert any(kind in found for found in days)


@pytest.mark.parametrize(("spoil", "kind"), TOOLS)
def test_a_broken_tool_is_found_in_days_over_code(spoil: Spoil | None, kind: str) -> None:
    """A change that cuts a function is wrong in that way first."""
    with broken(spoil):
        days = ({name for _, name, _ in CodeDay(seed).play().faults} for seed in range(1, 13))
        assert any({kind, "CUT"} & found for found in days)

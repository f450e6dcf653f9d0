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
        found = [fault for seed in range(1, 6) for _, _, fault in play(draw(seed, 60)).faults]
    assert kind in {fault.kind for fault in found}, found


@pytest.mark.parametrize(("spoil", "kind"), TOOLS)
def test_a_broken_tool_is_found_in_days_over_code(spoil: Spoil | None, kind: str) -> None:
    """A change that cuts a function is wrong in that way first."""
    with broken(spoil):
        found = [name for seed in range(1, 13) for _, name, _ in CodeDay(seed).play().faults]
    assert {kind, "CUT"} & set(found), found

"""A small share of what `simulator` measures, with its goals."""

from __future__ import annotations

import pytest

from tests.lines.simulator import CELLS, plain, simulate
from tests.support.size import FULL

SEED = 5_000_000
DAYS = 40 if FULL else 6


@pytest.mark.slow
def test_nothing_is_silently_wrong_without_moves_and_reverts() -> None:
    for name in ("50 lines, 2 + human, 8 uniform", "300, 3, 12 clustered", "300, 3, 12 uniform"):
        tally = simulate(plain(CELLS[name]), DAYS, SEED)
        assert tally.wrong == []
        assert tally.committed > 2 * DAYS


@pytest.mark.slow
def test_moves_and_reverts_leak_no_foreign_line() -> None:
    for name in ("300, 3, 12 clustered", "300, 3, 12 uniform"):
        tally = simulate(CELLS[name], DAYS, SEED)
        assert not [f for _, _, faults in tally.wrong for f in faults if f.startswith("leak")]
        # one fault is told at each commit until the edit is in HEAD
        assert len({seed for seed, _, _ in tally.wrong}) <= 2

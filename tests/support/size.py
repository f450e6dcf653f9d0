"""How large a run is: what fits CI, or every seed, point and example with ``RALPH_FULL=1``."""

import itertools
import os
from collections.abc import Sequence
from typing import Any

FULL = os.environ.get("RALPH_FULL") not in (None, "", "0")


def crossed(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Every combination of axes that do not touch; in a CI run each value of every axis, by turns."""
    if FULL:
        return list(itertools.product(*axes))
    most = max(map(len, axes))
    return [tuple(axis[n % len(axis)] for axis in axes) for n in range(most)]

"""Sentences for refusals: what and why."""

from gitralph.base.quote import shown
from gitralph.commit import decision
from gitralph.commit.decision import Left


def describe(left: Left) -> str:
    """One path left out, in a line."""
    where = f"'{shown(left.path)}'"
    if left.lines:
        first, last = left.lines
        where += f" line {first}" if first == last else f" lines {first}-{last}"
    names = [f"'{name}'" for name in left.sessions if name != decision.UNRECORDED]
    missing = [name for name in names if name not in left.detail]
    also = f" (session {', '.join(missing)})" if missing else ""
    return f"{where}: {left.reason}: {left.detail}{also}"


def headline(refusals: list[Left]) -> str:
    """What is refused, as the error message."""
    return "\n".join(describe(left) for left in refusals)

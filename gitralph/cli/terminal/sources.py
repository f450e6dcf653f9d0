"""How an answer about a line is known, in words."""

from gitralph.ask import lines
from gitralph.ask.lines import Finding


def of(found: Finding) -> str | None:
    """The source of a finding for a person; None for the records of this clone, which need no word."""
    if found.source in (lines.FLEET, lines.FLEET_CONTENT):
        by = "by content, " if found.source == lines.FLEET_CONTENT else ""
        return f"{by}fleet log of member {found.writer}, synced {lines.age(found.synced)}"
    return {
        lines.CONTENT: "by content",
        lines.MESSAGE: "by the commit's message",
        lines.NOTE: "by git-ai's note",
    }.get(found.source or "")

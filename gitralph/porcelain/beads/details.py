"""What is known of a bead beside its worktree: title, acceptance criteria, and the terms of its loop."""

import os
import re
from dataclasses import dataclass
from typing import Any

from gitralph.errors import Fatal
from gitralph.porcelain.beads import tracker
from gitralph.porcelain.beads.tracker import TrackerError
from gitralph.porcelain.context import Context

_SPEC = "ralph_spec"
_PROSE = ("description", "notes", "design", "body")
_CRITERIA = ("acceptance_criteria", "acceptanceCriteria", "acceptance")


@dataclass(frozen=True)
class Known:
    """Facts from the tracker; None where it has none."""

    title: str | None = None
    criteria: str | None = None
    promise: str | None = None
    max_iterations: int | None = None


def _is_on(ctx: Context, root: str) -> bool:
    """Whether to ask a tracker at all: ``ralph.beads.enabled``, else where there is a ``.beads`` folder."""
    if ctx.config.get("ralph.beads.enabled") is not None:
        return ctx.config.boolean("ralph.beads.enabled")
    return os.path.isdir(root + "/.beads")


def _seconds(ctx: Context) -> float:
    said = ctx.config.get("ralph.beads.timeout") or str(tracker.SECONDS)
    try:
        return min(60.0, max(0.1, float(said)))
    except ValueError:
        raise Fatal(f"bad value '{said}' for 'ralph.beads.timeout': use seconds") from None


def _listed(value: object) -> str | None:
    if isinstance(value, list):
        return "\n".join(str(one) for one in value) or None
    return value if isinstance(value, str) and value.strip() else None


def _block(text: str) -> dict[str, str]:
    """The indented ``key: value`` lines below a line ``ralph_spec:``."""
    found = re.search(rf"^([ \t]*){_SPEC}:[ \t]*\n((?:\1[ \t]+.*\n?)+)", text, re.MULTILINE)
    rows = found[2].split("\n") if found else []
    pairs = [row.strip().partition(":") for row in rows if ":" in row]
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def spec_of(issue: dict[str, Any]) -> dict[str, Any]:
    """The loop's terms in an issue: a field, a metadata field, or a block in its prose."""
    for holder in (issue, issue.get("metadata"), issue.get("custom_fields")):
        value = holder.get(_SPEC) if isinstance(holder, dict) else None
        if isinstance(value, dict):
            return value
        if isinstance(value, str):
            return _block(f"{_SPEC}:\n" + "\n".join(f"  {row.strip()}" for row in value.split("\n")))
    for key in _PROSE:
        if isinstance(issue.get(key), str):
            found = _block(issue[key])
            if found:
                return found
    return {}


def _count(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isdigit() and len(text) < 7 else None


def known_of(issue: dict[str, Any]) -> Known:
    """The facts of one issue."""
    spec = spec_of(issue)
    promise, title = spec.get("completion_promise"), issue.get("title")
    criteria = next(
        (c for key in _CRITERIA if (c := _listed(spec.get(key)) or _listed(issue.get(key)))), None
    )
    return Known(
        title if isinstance(title, str) and title.strip() else None,
        criteria,
        promise if isinstance(promise, str) and promise.strip() else None,
        _count(spec.get("max_iterations")),
    )


def of_bead(ctx: Context, root: str, bead: str) -> Known:
    """What the tracker knows; a tracker that fails is a warning, never more."""
    if not _is_on(ctx, root):
        return Known()
    try:
        issue = tracker.show(ctx.environ, root, bead, _seconds(ctx))
    except TrackerError as error:
        issue = tracker.from_file(root, bead)
        if issue is None:
            ctx.warn(f"bead '{bead}': {error}")
    return known_of(issue) if issue else Known()


def _tell(ctx: Context, root: str, *words: str) -> bool:
    try:
        tracker.run(ctx.environ, root, *words, seconds=_seconds(ctx))
    except TrackerError as error:
        ctx.warn(f"{error}")
        return False
    return True


def claim(ctx: Context, root: str, bead: str) -> None:
    """Mark a bead as being worked on, where ``ralph.beads.claim`` asks for it."""
    if ctx.config.boolean("ralph.beads.claim"):
        _tell(ctx, root, "update", bead, "--status", "in_progress")


def close(ctx: Context, root: str, bead: str) -> None:
    """Close a bead, where ``ralph.beads.close`` asks for it."""
    if ctx.config.boolean("ralph.beads.close"):
        _tell(ctx, root, "close", bead)

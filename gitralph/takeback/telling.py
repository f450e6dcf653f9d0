"""What an agent is told of an undo: which of its own lines a person took back, and nothing about others."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable

from gitralph.base.quote import printable, shown
from gitralph.git.context import Context
from gitralph.git.texts import is_binary
from gitralph.hook.journal import full_lines
from gitralph.takeback.land_files import Replacement

# An agent knows what it wrote. It needs only the place and how the text begins.
_LINES = 20
_WIDTH = 200


def notice(ctx: Context, session: str, changes: Iterable[Replacement]) -> str:
    """The few sentences for the agent."""
    rows = ["[git ralph undo] A person took these changes of yours back. Do not make them again unasked."]
    for one in changes:
        rows += _of_path(one)
    back = f"git ralph undo --redo --session {shlex.quote(ctx.called(session))}"
    return "\n".join([*rows, f"The person can bring them back: {back}"])


def _of_path(change: Replacement) -> list[str]:
    path = f"'{shown(change.path)}'"
    old, new = change.before.data, change.after.data
    if old is None:
        return [f"{path}: you deleted it; it is back"]
    if new is None:
        return [f"{path}: the whole file"]
    if is_binary(old) or is_binary(new) or old == new:
        return [f"{path}: as a whole"]
    gone = _beyond(old, new)
    back = len(_beyond(new, old))
    counts = f"{_count(len(gone))} of yours taken out"
    counts += f", {back} that you had removed brought back" if back else ""
    texts = [line.decode("utf-8", "replace").rstrip("\r\n")[:_WIDTH] for line in gone[:_LINES]]
    rows = [f"{path}: {counts}", *("> " + printable(text) for text in texts)]
    return [*rows, f"({len(gone) - _LINES} more)"] if len(gone) > _LINES else rows


def _count(number: int) -> str:
    return f"{number} line{'s'[: number != 1]}"


def _beyond(text: bytes, other: bytes) -> list[bytes]:
    """The lines that a text has more often than the other, in order; lines in both may be somebody else's."""
    more = Counter(full_lines(text)) - Counter(full_lines(other))
    out = []
    for line in full_lines(text):
        if more[line] > 0:
            more[line] -= 1
            out.append(line)
    return out

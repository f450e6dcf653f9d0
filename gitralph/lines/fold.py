"""Takes the recorded steps of a path into a weave, and what nobody recorded between them as gaps."""

from __future__ import annotations

from collections.abc import Sequence

from gitralph.isolate.api import GAP, TAIL, Step
from gitralph.isolate.build import Folding
from gitralph.isolate.handover import hand_over
from gitralph.isolate.weave import Weave
from gitralph.lines.whole import WholePieces


def fold(steps: Sequence[Step], disk: bytes | None) -> Weave:
    """Build the weave of a path from its steps and the bytes on disk."""
    weave = Weave(steps[0].before if steps else disk)
    whole = WholePieces(weave)
    for step in steps:
        if step.before != weave.text:
            _take_in(weave, GAP + step.key, None, step.before, whole)
        _take_in(weave, step.key, step.owner, step.after, whole)
        if step.takes:
            hand_over(weave, step)
        weave.ends.append(len(weave.hunks))
    if weave.text != disk:
        _take_in(weave, TAIL, None, disk, whole)
    return weave


def _take_in(weave: Weave, key: str, owner: str | None, text: bytes | None, whole: WholePieces) -> None:
    first = len(weave.hunks)
    Folding(weave, key, owner, whole if owner is None else None).run(text)
    made = weave.hunks[first:]
    gone = {line for hunk in made for line in hunk.dels}
    for line in gone.intersection(line for hunk in made for line in hunk.undels):
        _keep(weave, first, line)


def _keep(weave: Weave, first: int, line: int) -> None:
    """Equal lines shift, so one hunk took a line and another brought it back: it stays as it was."""
    for number, hunk in enumerate(weave.hunks[first:], first):
        if line in hunk.dels or line in hunk.undels:
            weave.forget(number, line)
    weave.ops[line] = [op for op in weave.ops[line] or () if op >> 1 < first] or None
    weave.jumbled.discard(line)

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
            Folding(weave, GAP + step.key, None, whole).run(step.before)
        Folding(weave, step.key, step.owner, whole if step.owner is None else None).run(step.after)
        if step.takes:
            hand_over(weave, step)
        weave.ends.append(len(weave.hunks))
    if weave.text != disk:
        Folding(weave, TAIL, None, whole).run(disk)
    return weave

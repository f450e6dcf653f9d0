"""Takes the recorded steps of a path into a weave, and what nobody recorded between them as gaps."""

from __future__ import annotations

from collections.abc import Sequence

from gitralph.isolate.api import GAP, TAIL, Step
from gitralph.isolate.build import Folding
from gitralph.isolate.handover import hand_over
from gitralph.isolate.materialize import text_of
from gitralph.isolate.weave import BASE, Weave
from gitralph.lines.whole import WholePieces


def fold(steps: Sequence[Step], disk: bytes | None) -> Weave:
    """Build the weave of a path from its steps and the bytes on disk."""
    weave = Weave(steps[0].before if steps else disk)
    whole = WholePieces(weave)
    for step in steps:
        if step.before != weave.text:
            Folding(weave, GAP + step.key, None, whole).run(step.before)
        landed = whole if step.owner is None else None
        Folding(weave, step.key, step.owner, landed).run(step.after, _taken_back(weave, step))
        if step.takes:
            hand_over(weave, step)
        weave.ends.append(len(weave.hunks))
    if weave.text != disk:
        Folding(weave, TAIL, None, whole).run(disk)
    return weave


def _taken_back(weave: Weave, step: Step) -> list[int] | None:
    """Return the lines of a text that an undo, a redo or a restore left; None where its units do not say.

    Of equal lines, such as braces, a diff may take one for new that came back.
    """
    names = {*step.undoes, *step.restores}
    units = {number for number, unit in enumerate(weave.units) if unit.key in names}
    if not units or len(units) != len(names):
        return None
    owners = {weave.units[unit].owner for unit in units}
    shown = bytearray(map(weave.visible, range(len(weave.line))))
    for line in {x for unit in units for x in weave.atoms_of(weave.units[unit])}:
        ops = list(weave.ops[line] or ())
        while ops and ops[-1] >> 1 != BASE:
            number = ops[-1] >> 1
            is_kept = (
                weave.owner_of(number) in owners if step.restores else weave.hunks[number].unit not in units
            )
            if is_kept:
                break
            ops.pop()
        born = step.restores or weave.hunks[weave.birth[line]].unit not in units
        shown[line] = bool(ops[-1] & 1) if ops else bool(born)
    order = weave.order()
    return [line for line in order if shown[line]] if text_of(weave, order, shown) == step.after else None

"""Takes what a formatter did to others' lines out of the step of the session that ran it.

Example: session s1 runs a formatter in its shell, which indents an uncommitted line of session s2. No word of
the line changes, so the line stays s2's. The change is told as a gap before the step of s1, and a gap that
keeps all words follows the owner of the line. A line of nobody's stays nobody's in the same way.

Three other formatters are handled elsewhere: one that nobody recorded is a gap and follows by rule 5 of
`choose`; one in a repository hook is in `commit/hook_changes.py` and `decide/hook_rewrites.py`; a session's
on its own lines is an edit as any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitralph.lines.linediff import Range, paired, ranges
from gitralph.lines.pieces import Held
from gitralph.lines.terms import FORMATTED, Step
from gitralph.lines.text import all_words, difference, ends_with_newline, split_lines, with_open_end


def told_apart(steps: Sequence[Step], held: Held) -> list[Step]:
    """Return the steps. A step by a shell command begins with others' lines as the command left them."""
    out = list[Step]()
    writer = dict[bytes, str | None]()
    for step in steps:
        if step.by_shell and step.before is not None and step.after is not None:
            before = _with_form(step, writer, held)
            if before != step.before:
                out.append(Step(FORMATTED + step.key, None, step.before, before))
                step = step._replace(before=before)
        for line in difference(step.before, step.after)[1]:
            writer[line] = step.owner
        out.append(step)
    return out


def _with_form(step: Step, writer: dict[bytes, str | None], held: Held) -> bytes | None:
    old, new = split_lines(step.before), split_lines(step.after)
    others = {line for line in old if writer.get(line) != step.owner}
    in_head = held(step.key) if others else ()
    others = {line for line in others if line not in in_head}
    if not others:
        return step.before
    text = list[bytes]()
    at = 0
    for low, high, start, stop in _paired(old, new):
        text += old[at:low]
        is_form = low < high and start < stop and all(x in others for x in old[low:high] if x.strip())
        text += (
            new[start:stop]
            if is_form and all_words(old[low:high]) == all_words(new[start:stop])
            else old[low:high]
        )
        at = high
    text += old[at:]
    if text == old:
        return step.before
    made = b"\n".join([*text, b""])
    return made if ends_with_newline(step.before) else with_open_end(made)


def _paired(old: Sequence[bytes], new: Sequence[bytes]) -> list[Range]:
    """Return what changed, in parts that say the same where the lines pair."""
    return [
        (low + a, low + b, start + c, start + d)
        for low, high, start, stop in ranges(old, new)
        for a, b, c, d in paired(old[low:high], new[start:stop])
    ]

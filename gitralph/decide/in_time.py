"""Which step made a line of a commit: none that was recorded when the commit was there already.

A line that a session brings back as HEAD has it is the session's on disk, until HEAD moves; but whoever
committed it before has made it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from gitralph.git.descent import Descent
from gitralph.lines.owners import WrittenBy
from gitralph.lines.terms import Step
from gitralph.lines.text import difference


class InTime:
    """Answers for the steps of one path. ``held`` is what HEAD had there when a step was recorded."""

    def __init__(
        self,
        descent: Descent,
        steps: Iterable[Step],
        held: Callable[[str], bytes | None],
    ) -> None:
        self._descent, self._held = descent, held
        self._steps = {step.key: step for step in steps if step.owner is not None}
        self._heads = {step.head for step in self._steps.values() if step.head}
        self._since: dict[str, set[str]] = {}
        self._more: dict[str, Counter[bytes]] = {}

    def maker(self, row: WrittenBy, commit: str | None) -> str | None:
        """The step that made a line of a commit, or of none yet; None where no step did."""
        for key in row.brought:
            step = self._steps.get(key)
            if step is None:
                return None
            if commit is None or self._can_have(step, row, commit):
                return key
        return None

    def _can_have(self, step: Step, row: WrittenBy, commit: str) -> bool:
        if step.key == row.born:
            # A command may commit what it wrote; it is recorded when it has ended.
            return step.by_shell or not self._is_later(step, commit)
        # git may have rewritten the commit since: then it has another history, and the same lines.
        return self._adds(step)[row.text] > 0 and not self._is_later(step, commit)

    def _is_later(self, step: Step, commit: str) -> bool:
        if commit not in self._since:
            self._since[commit] = self._descent.having(commit, self._heads)
        return step.head in self._since[commit]

    def _adds(self, step: Step) -> Counter[bytes]:
        """How much more there is of each line after a step than HEAD had then."""
        if step.key not in self._more:
            self._more[step.key] = difference(self._held(step.key), step.after)[1]
        return self._more[step.key]

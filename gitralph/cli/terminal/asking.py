"""Asks hunk by hunk, as ``git add -p`` does; an answer is a line of standard input."""

import sys
from collections.abc import Callable

from gitralph.cli.terminal import environ
from gitralph.git.context import Context

_KEYS = "y,n,q,a,d,?"
_LONGEST = 4096
_HELP = """\
y - {0} this hunk
n - do not {0} this hunk
q - quit; do not {0} this hunk or any of the remaining ones
a - {0} this hunk and all later hunks in the file
d - do not {0} this hunk or any of the later hunks in the file
? - print help
"""


class Asker:
    """Asks for one hunk after the other; the end of the input counts as ``q``."""

    def __init__(self, ctx: Context, does: str) -> None:
        """``does`` is what happens to a hunk with yes, as the help says it."""
        self.color = environ.wants_color(ctx.environ, ctx.config.get("color.ui"))
        self.does = does
        self.done = False

    def chosen(self, count: int, show: Callable[[int], None], question: str) -> list[int]:
        """Show and ask for each of the ``count`` hunks of one file; returns the wanted numbers, from 0."""
        found: list[int] = []
        for number in range(count):
            if self.done:
                break
            show(number)
            answer = self._answer(f"({number + 1}/{count}) {question}")
            self.done = answer == "q"
            if answer == "a":
                return [*found, *range(number, count)]
            if answer == "d":
                break
            found += [number] if answer == "y" else []
        return found

    def _answer(self, question: str) -> str:
        while True:
            text = f"{question} [{_KEYS}]? "
            sys.stdout.write(f"\033[1;34m{text}\033[m" if self.color else text)
            sys.stdout.flush()
            answer = self._typed()
            if answer in ("y", "n", "q", "a", "d"):
                return answer
            if answer:
                sys.stdout.write(_HELP.format(self.does))

    def _typed(self) -> str:
        """The first letter of a typed line; the rest of the line is ignored."""
        line = sys.stdin.buffer.readline(_LONGEST)
        if not line:
            sys.stdout.write("\n")
            return "q"
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = sys.stdin.buffer.readline(_LONGEST)
        return line.decode("utf-8", "replace").strip()[:1].lower()

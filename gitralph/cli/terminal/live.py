"""The view of a running loop: redrawn lines on a terminal, plain lines elsewhere. Always on stderr."""

import sys
import threading
import time

from gitralph.base.layout import Layout
from gitralph.base.quote import printable
from gitralph.cli.terminal import columns, output
from gitralph.tasks.loop import runs
from gitralph.tasks.loop.runs import Glance, View

_PERIOD = 0.5


class Live:
    """Prints the loop's sentences; on a terminal a few lines below them show what runs."""

    def __init__(self, view: View, layout: Layout, width: int | None) -> None:
        self.view = view
        self.layout = layout
        self.columns = width
        self._drawn = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._redraw, daemon=True)

    def __enter__(self) -> "Live":
        if self.columns:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self.columns:
            self._thread.join()
        with self._lock:
            self._clear()
            sys.stderr.flush()

    def say(self, text: str) -> None:
        """One sentence of the loop; ``warning: `` marks a warning."""
        with self._lock:
            self._clear()
            for row in text.split("\n"):
                sys.stderr.write(output.folded(output.printable_lines(row), sys.stderr) + "\n")
            sys.stderr.flush()

    def _clear(self) -> None:
        if self._drawn:
            sys.stderr.write(f"\x1b[{self._drawn}A\x1b[J")
            self._drawn = 0

    def _redraw(self) -> None:
        while not self._over.wait(_PERIOD):
            rows = [self._line(glance) for glance in runs.look(self.layout, self.view)]
            with self._lock:
                self._clear()
                sys.stderr.write("".join(row + "\n" for row in rows))
                sys.stderr.flush()
                self._drawn = len(rows)

    def _line(self, glance: Glance) -> str:
        clock = time.strftime("%M:%S", time.gmtime(glance.seconds))
        parts = [f"  {clock}  {glance.name}", glance.step, glance.text]
        if glance.files:
            parts.append(f"{glance.files} file{'s' * (glance.files != 1)}: {glance.last_file}")
        if glance.last_event:
            parts.append(f"[{glance.last_event}]")
        text = "  ".join(printable(part) for part in parts)
        return columns.cut(text, (self.columns or 80) - 1)

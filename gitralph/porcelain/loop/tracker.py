"""The bridge to a tracker of work items, ``bd``: title and criteria in, claim and close out.

Its answers come in several shapes, or not at all; none of that may stop a task, so everything that
goes wrong is a warning, within the time limit.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitralph.porcelain.loop.model import Say
from gitralph.quote import printable

TIMEOUT = 10.0
_BEAD = re.compile(r"(?:\(bead:?\s+|\bbead:\s?)([A-Za-z0-9][A-Za-z0-9._-]{0,99}(?<![.]))(?:\)|\s|$)")
_ENVELOPES = ("data", "issue", "issues", "result", "results", "bead", "beads", "items")
_CRITERIA = ("acceptance_criteria", "acceptanceCriteria", "acceptance", "criteria")


@dataclass(frozen=True)
class Bead:
    """What a tracker says of a work item."""

    title: str | None = None
    criteria: str | None = None
    description: str | None = None

    @property
    def body(self) -> str | None:
        """Title and criteria for the commit's message."""
        return "\n\n".join(part for part in (self.title, self.criteria) if part) or None


def bead_of(text: str) -> str | None:
    """The work item that a task names: ``(bead bd-7jf)``."""
    found = _BEAD.search(text)
    return found[1] if found and ".." not in found[1] else None


def _text(value: object) -> str | None:
    if isinstance(value, list):
        return "\n".join(f"- {item}" for item in value if isinstance(item, str)) or None
    return value.strip() or None if isinstance(value, str) else None


def _found(value: object, bead: str, depth: int = 4) -> dict[str, Any] | None:
    """The object of the work item, in whatever envelope."""
    if depth and isinstance(value, list):
        found = [one for item in value if (one := _found(item, bead, depth - 1))]
        return next((one for one in found if one.get("id") == bead), found[0] if found else None)
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("title"), str):
        return value
    for key in _ENVELOPES:
        if depth and key in value and (one := _found(value[key], bead, depth - 1)):
            return one
    return None


def parse(said: str, bead: str) -> Bead | None:
    """A work item from what the tracker printed, None when that is none."""
    try:
        found = _found(json.loads(said), bead)
    except (ValueError, RecursionError):
        return None
    if found is None:
        return None
    criteria = next((text for key in _CRITERIA if (text := _text(found.get(key)))), None)
    return Bead(_text(found["title"]), criteria, _text(found.get("description")))


class Tracker:
    """``bd`` in one repository. ``say`` gets the warnings."""

    def __init__(self, root: str, environ: Mapping[str, str], say: Say, timeout: float = TIMEOUT) -> None:
        self.root = root
        self.environ = dict(environ)
        self.say = say
        self.timeout = timeout

    def _ask(self, *words: str) -> tuple[int, str, str] | None:
        program = shutil.which("bd", path=self.environ.get("PATH", ""))
        if program is None:
            self.say("warning: the tracker 'bd' is not on PATH; the work item is not looked up")
            return None
        # in a group of its own, as whatever it starts may keep the pipe open beyond the limit
        try:
            child = subprocess.Popen(
                [program, *words], cwd=self.root, env=self.environ, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self.say(f"warning: 'bd' cannot be started: {error.strerror}")
            return None
        try:
            out, err = child.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            _kill(child)
            self.say(f"warning: 'bd {words[0]}' gave no answer within {self.timeout:g} s")
            return None
        return child.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def _complain(self, words: str, said: tuple[int, str, str]) -> None:
        detail = printable((said[2] or said[1]).strip().split("\n")[0][:200])
        self.say(f"warning: 'bd {words}' failed with {said[0]}: {detail}")

    def look(self, bead: str) -> Bead:
        """Title and criteria of a work item; empty with a warning when they cannot be had."""
        said = self._ask("show", bead, "--json")
        if said is None:
            return Bead()
        if said[0]:
            self._complain(f"show {bead}", said)
            return Bead()
        found = parse(said[1], bead)
        if found is None:
            self.say(f"warning: 'bd show {bead}' printed no work item")
        return found or Bead()

    def claim(self, bead: str) -> None:
        """Say that work has begun; by status where the tracker knows no claim."""
        said = self._ask("update", bead, "--claim")
        if said is not None and said[0] and "flag" in said[2] + said[1]:
            said = self._ask("update", bead, "--status", "in_progress")
        if said is not None and said[0]:
            self._complain(f"update {bead}", said)

    def close(self, bead: str, reason: str) -> None:
        """Say that the work has landed."""
        said = self._ask("close", bead, "--reason", reason)
        if said is not None and said[0]:
            self._complain(f"close {bead}", said)


def _kill(child: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.communicate()

"""The bridge to ``bd``, the tracker of work items: what an item is, that work on it began, that it is done.

Its answers come in several shapes, or not at all, and none of that may stop a task or a launch: whatever
goes wrong is a warning, within the time limit. Never writes a file of the tracker's; where ``bd`` gives
no answer, ``.beads/issues.jsonl`` is read as it is.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gitralph.base import ids, jsonline, programs, runner
from gitralph.base.errors import Fatal
from gitralph.base.quote import printable
from gitralph.git.context import Context

# Trackers answer in tens of milliseconds; nobody should wait longer for a title. ralph.beads.timeout
# changes it.
SECONDS = 5.0
_LIMIT = 64 << 20
# In brackets or with a colon: prose about beads names none.
_MENTION = re.compile(r"(?:\(bead:?\s+|\bbead:\s?)([^\s()]+)(?=[)\s]|$)")
# Versions of `bd` wrap an item in different objects, or in none; any of these is looked into.
_ENVELOPES = ("data", "issue", "issues", "result", "results", "bead", "beads", "items")
_CRITERIA = ("acceptance_criteria", "acceptanceCriteria", "acceptance", "criteria")
_SPEC = "ralph_spec"
_PROSE = ("description", "notes", "design", "body")
_MOST_ITERATIONS = 999_999

Fields = dict[str, Any]


class TrackerError(Exception):
    """The tracker gave no answer; the message says why. Only ever a warning."""


@dataclass(frozen=True)
class Item:
    """A work item as the tracker has it; None where it does not say. The last two are its loop's terms."""

    title: str | None = None
    criteria: tuple[str, ...] = ()
    description: str | None = None
    promise: str | None = None
    max_iterations: int | None = None

    @property
    def listing(self) -> str:
        """The criteria as text, a list where there are several."""
        return "\n".join([f"- {one}" for one in self.criteria] if len(self.criteria) > 1 else self.criteria)

    @property
    def body(self) -> str | None:
        """Title and criteria for a commit's message."""
        return "\n\n".join(part for part in (self.title, self.listing) if part) or None


def mentioned(text: str) -> str | None:
    """The work item that a task names: ``(bead bd-7jf)`` or ``bead:bd-7jf``; taken whole or not at all."""
    return next((found[1] for found in _MENTION.finditer(text) if ids.is_bead(found[1])), None)


# --- what it says ---


def _objects(value: object, depth: int = 4) -> list[Fields]:
    """Every object with an id or a title in what the tracker printed: bare, in an array, in envelopes."""
    if depth == 0:
        return []
    if isinstance(value, list):
        return [found for one in value for found in _objects(one, depth - 1)]
    if not isinstance(value, dict):
        return []
    own = [value] if _id(value) is not None or isinstance(value.get("title"), str) else []
    return own + [found for key in _ENVELOPES for found in _objects(value.get(key), depth - 1)]


def _id(fields: Fields) -> str | None:
    found = fields.get("id", fields.get("bead_id"))
    return None if found is None else str(found)


def _ours(value: object, bead: str) -> Fields | None:
    """The object of a bead. One that names another is never ours; one that names none, when it is alone."""
    found = _objects(value)
    nameless = [one for one in found if _id(one) is None]
    named = next((one for one in found if _id(one) == bead), None)
    return named or (nameless[0] if len(found) == len(nameless) == 1 else None)


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _listed(value: object) -> tuple[str, ...]:
    rows = value if isinstance(value, list) else [value]
    return tuple(text for row in rows if (text := _text(row)))


def _block(text: str) -> dict[str, str]:
    """The indented ``key: value`` lines below a line ``ralph_spec:``."""
    found = re.search(rf"^([ \t]*){_SPEC}:[ \t]*\n((?:\1[ \t]+.*\n?)+)", text, re.MULTILINE)
    rows = found[2].split("\n") if found else []
    pairs = [row.strip().partition(":") for row in rows if ":" in row]
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def _spec(fields: Fields) -> Fields:
    """The loop's terms in an item: a field, a metadata field, or a block in its prose."""
    for holder in (fields, fields.get("metadata"), fields.get("custom_fields")):
        value = holder.get(_SPEC) if isinstance(holder, dict) else None
        if isinstance(value, dict):
            return value
        if isinstance(value, str):
            return dict(_block(f"{_SPEC}:\n" + "\n".join(f"  {row.strip()}" for row in value.split("\n"))))
    blocks = (_block(fields[key]) for key in _PROSE if isinstance(fields.get(key), str))
    return dict(next((block for block in blocks if block), {}))


def _count(value: object) -> int | None:
    # A flag (True) is no count: its text has no digits.
    text = str(value)
    return int(text) if text.isdigit() and int(text[:9]) <= _MOST_ITERATIONS else None


def _item(fields: Fields) -> Item:
    spec = _spec(fields)
    criteria = (_listed(spec.get(key)) or _listed(fields.get(key)) for key in _CRITERIA)
    return Item(
        _text(fields.get("title")),
        next((rows for rows in criteria if rows), ()),
        _text(fields.get("description")),
        _text(spec.get("completion_promise")),
        _count(spec.get("max_iterations")),
    )


def parse(said: bytes, bead: str) -> Item | None:
    """A work item from what the tracker printed, None where that holds none or another."""
    try:
        fields = _ours(jsonline.loads(said.decode("utf-8", "replace")), bead)
    except ValueError:
        return None
    return None if fields is None else _item(fields)


# --- asking it ---


class Tracker:
    """``bd`` in one repository. ``warn`` gets what goes wrong; without ``on`` it is never started."""

    def __init__(
        self,
        root: str,
        environ: Mapping[str, str],
        warn: Callable[[str], None],
        seconds: float = SECONDS,
        on: bool = True,
    ) -> None:
        self.root = root
        self.environ = environ
        self._warn = warn
        self._warned: set[str] = set()
        self.seconds = seconds
        self.on = on

    @classmethod
    def of(cls, ctx: Context, root: str, warn: Callable[[str], None], named: bool) -> "Tracker":
        """As configured: on where ``ralph.beads.enabled`` says so.

        Without a word there, where the user ``named`` an item, or a folder ``.beads`` is.
        """
        on = ctx.config.boolean("ralph.beads.enabled", named or os.path.isdir(root + "/.beads"))
        return cls(root, ctx.environ, warn, _seconds(ctx), on)

    def _say(self, text: str) -> None:
        if text not in self._warned:  # looked up, claimed, closed: an absent one is told of once
            self._warned.add(text)
            self._warn(text)

    def _ask(self, *words: str) -> bytes:
        program = programs.find("bd", self.environ)
        if program is None:
            raise TrackerError("the tracker 'bd' is not on PATH")
        env, shown = programs.inherited(self.environ), " ".join(words[:2])
        try:
            done = runner.run([program, *words], env=env, cwd=self.root, seconds=self.seconds)
        except OSError as error:
            raise TrackerError(f"'bd' cannot be started: {error.strerror}") from None
        except runner.LateError:
            raise TrackerError(f"'bd {shown}' gave no answer within {self.seconds:g} s") from None
        if done.returncode:
            said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().split("\n")[0]
            raise TrackerError(f"'bd {shown}' failed with {done.returncode}: {printable(said)[:200]}")
        return done.stdout[:_LIMIT]

    def _tell(self, *words: str) -> None:
        if not self.on:
            return
        try:
            self._ask(*words)
        except TrackerError as error:
            self._say(str(error))

    def _from_file(self, bead: str) -> Item | None:
        """A bead as ``.beads/issues.jsonl`` has it, the last line that names it."""
        try:
            with open(f"{self.root}/.beads/issues.jsonl", "rb") as file:
                data = file.read(_LIMIT)
        except OSError:
            return None
        rows = [row for row in jsonline.objects(data) if _id(row) == bead]
        return _item(rows[-1]) if rows else None

    def look(self, bead: str) -> Item:
        """What is known of a work item; empty with a warning when it cannot be had."""
        if not self.on:
            return Item()
        wrong = f"'bd show {bead}' printed no such item"
        try:
            found = parse(self._ask("show", bead, "--json"), bead)
        except TrackerError as error:
            found, wrong = None, str(error)
        found = found or self._from_file(bead)
        if found is None:
            self._say(wrong)
        return found or Item()

    def claim(self, bead: str) -> None:
        """Say that its caller works on it; by status where the tracker knows no claim."""
        if not self.on:
            return
        try:
            self._ask("update", bead, "--claim")
        except TrackerError as error:
            if "flag" not in str(error):
                self._say(str(error))
                return
            self.begin(bead)

    def begin(self, bead: str) -> None:
        """Say that work on it goes on, whoever does it: a subagent is nobody it could be assigned to."""
        self._tell("update", bead, "--status", "in_progress")

    def close(self, bead: str, reason: str | None = None) -> None:
        """Say that it is done."""
        self._tell("close", bead, *(["--reason", reason] if reason else []))


def _seconds(ctx: Context) -> float:
    said = ctx.config.get("ralph.beads.timeout") or str(SECONDS)
    try:
        return min(60.0, max(0.1, float(said)))
    except ValueError:
        raise Fatal(f"bad value '{said}' for 'ralph.beads.timeout': use seconds") from None

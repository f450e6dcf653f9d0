"""``git ralph emit`` and ``events``: which file events go to, and which events a reader gets."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gitralph.ask import reader_marks
from gitralph.base import jsonline, locks
from gitralph.base.layout import MAIN, Layout
from gitralph.git.context import Context, open_context
from gitralph.hook import event_log
from gitralph.hook.emit import session_of
from gitralph.hook.event_log import EventFile
from gitralph.records import events
from gitralph.records.events import Bad as Bad
from gitralph.records.events import Emitted as Emitted
from gitralph.records.events import EventLine as EventLine
from gitralph.records.events import Passed

_PAUSE = 0.2
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """Which events to read: those of a topic (``*`` stands for anything), and of these the last so many."""

    topic: str | None = None
    last: int | None = None
    strict: bool = False

    @property
    def needle(self) -> bytes | None:
        """Text that every line of the topic contains; None where every line must be read.

        It has no letters that JSON may write in two ways besides ``\\u``, and no pattern's sign.
        """
        if self.topic is None or self.strict:
            return None
        # A search in the bytes skips most lines without parsing them. The longest piece is found least often
        # by chance.
        pieces = [""]
        for letter in self.topic:
            if letter.isascii() and (letter.isalnum() or letter in "._:- "):
                pieces[-1] += letter
            elif "*" in self.topic and letter == "[":
                return None  # a set of letters: each of its letters may stand there
            else:
                pieces.append("")
        return max(pieces, key=len).encode() or None

    def matches(self, row: EventLine) -> bool:
        """True for an event of the topic. A line that is no event always passes, so that it is reported."""
        if isinstance(row, Bad) or self.topic is None:
            return True
        return row.topic == self.topic or ("*" in self.topic and fnmatchcase(row.topic, self.topic))


def target(
    environ: Mapping[str, str], warn: Warn, *, create: bool, run: str | None, file: str | None = None
) -> EventFile:
    """The events file that is meant; the repository is asked only where the environment does not tell."""

    def state() -> Layout:
        return open_context(environ, create).layout

    found = event_log.chosen(environ, state, run, file)
    for text in found.warnings:
        warn(text)
    return found


def emit(
    environ: Mapping[str, str],
    warn: Warn,
    topic: str,
    payload: str | None,
    *,
    as_json: bool = False,
    run: str | None = None,
    file: str | None = None,
) -> None:
    """Write one event into its file. Raises UsageError or Fatal with nothing written."""
    line = event_log.encode(topic, payload, as_json, session_of(dict(environ)))
    event_log.append(target(environ, warn, create=True, run=run, file=file), line)


def own_event(ctx: Context, run: str, topic: str, **payload: object) -> None:
    """Write an event of the tool's own, marked as such."""
    line = event_log.encode(topic, jsonline.dumps({"by": "git-ralph", **payload}), True, None)
    event_log.append(EventFile(ctx.layout.top, event_log.name_of_run(run), []), line)


def is_own(event: Emitted) -> bool:
    """True for an event that the tool itself wrote."""
    payload = event.value.get("payload")
    return isinstance(payload, dict) and payload.get("by") == "git-ralph"


class Reader:
    """One reading of one file. ``at`` is the byte reached; later lines belong to the next reading."""

    def __init__(self, source: EventFile, wanted: Wanted) -> None:
        self.source = source
        self.wanted = wanted
        self.at = 0
        self._fd = events.open_events(source.path)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def new(self) -> Iterator[EventLine]:
        """The events behind ``at``, as they come; ``last`` does not count here."""
        if self._fd is None:
            self._fd = events.open_events(self.source.path)
        if self._fd is None:
            return
        if self.at > os.fstat(self._fd).st_size:
            self.at = 0  # a shorter file has replaced it, so everything in it is new
        for row in events.sieve(self._fd, self.at, self.wanted.needle):
            self.at = row.end
            if not isinstance(row, Passed) and self.wanted.matches(row):
                yield row

    def rows(self, from_end: bool) -> Iterator[EventLine]:
        """The events that are there now; with ``last`` and ``from_end`` by seeking instead of reading all."""
        if self.wanted.last is None:
            return self.new()
        if from_end and self._fd is not None:
            return iter(self._tail(self._fd, self.wanted.last))
        return iter(_last(self.new(), self.wanted.last))

    def _tail(self, fd: int, count: int) -> list[EventLine]:
        found: list[EventLine] = []
        self.at = 0
        left = count
        for row in events.sieve_back(fd, self.wanted.needle):
            self.at = max(self.at, row.end)
            if not left:
                break
            if not isinstance(row, Passed) and self.wanted.matches(row):
                found.append(row)
                left -= isinstance(row, Emitted)
        return found[::-1]

    def line_number(self, row: EventLine) -> int:
        """The number of a row's line, for a message."""
        return events.line_number(self._fd, row.start) if self._fd is not None else 0


def _last(rows: Iterator[EventLine], count: int) -> list[EventLine]:
    """The last ``count`` events, and every bad line among what was read."""
    kept: deque[EventLine] = deque(maxlen=count)
    bad = []
    for row in rows:
        if isinstance(row, Bad):
            bad.append(row)
        else:
            kept.append(row)
    return sorted([*bad, *kept], key=lambda row: row.start)


@contextmanager
def reading(source: EventFile, wanted: Wanted, name: str | None) -> Iterator[Reader]:
    """A reader. With a cursor it starts at the cursor's place, and moves it when the block ends well.

    The cursor's lock is held meanwhile, so two readers of one name share the events between them.
    """
    reader = Reader(source, wanted)
    try:
        if name is None:
            yield reader
            return
        layout = Layout(source.top, MAIN)
        with locks.hold(layout, locks.CURSOR + reader_marks.checked(name)):
            reader.at = reader_marks.position(layout, name, source.name)
            # An exception in the block leaves the cursor where it was: the same events then come again,
            # instead of never.
            yield reader
            keep(reader, name)
    finally:
        reader.close()


def keep(reader: Reader, name: str) -> None:
    """Save how far a named reader has got."""
    reader_marks.save(Layout(reader.source.top, MAIN), name, reader.source.name, reader.at)


def arriving(reader: Reader) -> Iterator[EventLine]:
    """Wait a moment, then give the events that this file has gained; a later run has another file."""
    time.sleep(_PAUSE)
    yield from reader.new()

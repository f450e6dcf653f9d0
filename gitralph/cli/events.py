"""``git ralph events``."""

import calendar
import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import click

from gitralph.ask import event_reader as event_query
from gitralph.ask.event_reader import Reader, Wanted
from gitralph.base.errors import NO, OK, UsageError
from gitralph.base.ids import is_valid
from gitralph.base.layout import MAIN, Layout
from gitralph.base.quote import printable
from gitralph.cli.terminal import environ, options, output
from gitralph.hook import sessionfile

# So many digits of a commit's id tell it from others.
_OID = 10
_WORDS = {"n": "number"}


class EventOptions(NamedTuple):
    """What was typed after ``git ralph events``; click fills it, see :func:`events`."""

    run: str | None
    file: str | None
    topic: str | None
    last: int | None
    follow: bool
    cursor: str | None
    as_json: bool
    as_lines: bool
    strict: bool


@click.command("events", cls=options.Command)
@click.option("--run", metavar="<id>", help="The events of this run.")
@click.option("--file", metavar="<name>", help="The events file where no run is current.")
@click.option("--topic", metavar="<t>", help="Only this topic; * stands for anything.")
@click.option("--last", metavar="<n>", type=click.IntRange(min=0), help="Only the last <n> of them.")
@click.option("--follow", "-f", is_flag=True, help="Go on as events arrive.")
@click.option("--cursor", metavar="<name>", help="Only what this reader has not seen yet.")
@options.as_json
@click.option("--jsonl", "as_lines", is_flag=True, help="Print the lines as they were stored.")
@click.option("--strict", is_flag=True, help="Exit 1 where a line is no event.")
def events(**typed: Any) -> int:
    """Show what happened in a run."""
    asked = EventOptions(**typed)
    # A JSON document needs an end.
    if asked.as_json and (asked.as_lines or asked.follow):
        raise UsageError("--json prints one document; use --jsonl for lines, also with --follow")
    source = event_query.target(environ.snapshot(), output.warn, create=False, run=asked.run, file=asked.file)
    with event_query.reading(source, Wanted(asked.topic, asked.last, asked.strict), asked.cursor) as reader:
        show = _Show(reader, asked.as_json, asked.as_lines)
        show.rows(reader.rows(from_end=asked.cursor is None))
        show.close()
        if asked.follow:
            _follow(show, asked.cursor)
    return NO if asked.strict and show.bad else OK


def _follow(show: "_Show", cursor: str | None) -> None:
    while True:
        if cursor is not None:
            # Saved before each wait: a reader that is killed gets its last events once more, at worst.
            event_query.keep(show.reader, cursor)
        show.rows(event_query.arriving(show.reader))
        sys.stdout.flush()


class _Show:
    """Shows events in three forms; lines that are no events go to stderr with their number."""

    def __init__(self, reader: Reader, as_json: bool, as_lines: bool) -> None:
        self.reader = reader
        self.as_json = as_json
        self.as_lines = as_lines
        self.bad = 0
        self._count = 0
        self._names: dict[str, str] = {}

    def rows(self, rows: Iterable[event_query.EventLine]) -> None:
        for row in rows:
            if isinstance(row, event_query.Bad):
                self._complain(row)
            else:
                self._one(row)

    def _one(self, row: event_query.Emitted) -> None:
        line = row.raw.decode("utf-8")
        if self.as_json:
            sys.stdout.write(("[\n " if not self._count else ",\n ") + line)
        elif self.as_lines:
            sys.stdout.write(line + "\n")
        else:
            output.say(_sentence(row, self._called))
        self._count += 1

    def close(self) -> None:
        if self.as_json:
            sys.stdout.write("\n]\n" if self._count else "[]\n")
        sys.stdout.flush()

    def _called(self, session: str) -> str:
        """The name of a session; a word that is no id is left as it is."""
        if session not in self._names and is_valid(session):
            layout = Layout(self.reader.source.top, MAIN)
            self._names[session] = sessionfile.called(layout, session)
        return self._names.get(session, session)

    def _complain(self, row: event_query.Bad) -> None:
        self.bad += 1
        # The line may hold anything, terminal controls too.
        text = printable(row.raw.decode("utf-8", "backslashreplace"))[:100]
        number = self.reader.line_number(row)
        output.warn(f"'{self.reader.source.name}' line {number}: {row.reason}: '{text}'")


def _sentence(row: event_query.Emitted, called: Callable[[str], str]) -> str:
    """Time, topic and payload for people, on one line."""
    when = _local(str(row.value.get("ts", ""))[:19])
    return printable(f"{when}  {row.topic}  {_told(row.value.get('payload'), called)}").rstrip()


def _local(stamp: str) -> str:
    """A time as ``git ralph log`` shows it; a word that is no time is left as it is."""
    try:
        seconds = calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%S"))
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    except (ValueError, OverflowError):
        return stamp.replace("T", " ")


def _told(payload: object, called: Callable[[str], str]) -> str:
    """A payload in words: an object by its fields, without empty ones."""
    if not isinstance(payload, dict):
        return payload if isinstance(payload, str) else "" if payload is None else _plain(payload)
    parts = []
    for key, value in payload.items():
        if value in (None, "", [], {}) or (key, value) == ("by", "git-ralph"):
            continue
        if key == "session" and isinstance(value, str):
            value = called(value)
        if key == "commit" and isinstance(value, str):
            value = value[:_OID]
        parts.append(f"{_WORDS.get(key, key)} {_plain(value)}")
    return ", ".join(parts)


def _plain(value: object) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return " ".join(value)
    if isinstance(value, str):
        return f"'{value}'" if " " in value else value

    return json.dumps(value)

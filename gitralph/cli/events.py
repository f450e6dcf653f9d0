"""``git ralph events``."""

import sys
from collections.abc import Iterable

import click

from gitralph.base.errors import NO, OK, UsageError
from gitralph.base.quote import printable
from gitralph.cli import environ, options, output
from gitralph.query import events as event_query
from gitralph.query.events import Reader, Wanted


@options.command("events")
@click.option("--run", metavar="<id>", help="The events of this run.")
@click.option("--file", metavar="<name>", help="The events file where no run is current.")
@click.option("--topic", metavar="<t>", help="Only this topic; * stands for anything.")
@click.option("--last", metavar="<n>", type=click.IntRange(min=0), help="Only the last <n> of them.")
@click.option("--follow", "-f", is_flag=True, help="Go on as events arrive.")
@click.option("--cursor", metavar="<name>", help="Only what this reader has not seen yet.")
@options.as_json
@click.option("--jsonl", "as_lines", is_flag=True, help="Print the lines as they were stored.")
@click.option("--strict", is_flag=True, help="Exit 1 where a line is no event.")
def events(
    run: str | None,
    file: str | None,
    topic: str | None,
    last: int | None,
    follow: bool,
    cursor: str | None,
    as_json: bool,
    as_lines: bool,
    strict: bool,
) -> int:
    """Show what happened in a run."""
    if as_json and (as_lines or follow):
        raise UsageError("--json prints one document; use --jsonl for lines, also with --follow")
    source = event_query.target(environ.snapshot(), output.warn, create=False, run=run, file=file)
    with event_query.reading(source, Wanted(topic, last), cursor) as reader:
        show = _Show(reader, as_json, as_lines)
        show.rows(reader.rows(from_end=cursor is None))
        show.close()
        if follow:
            _follow(show, cursor)
    return NO if strict and show.bad else OK


def _follow(show: "_Show", cursor: str | None) -> None:
    while True:
        if cursor is not None:
            event_query.keep(show.reader, cursor)
        show.rows(event_query.arriving(show.reader))
        sys.stdout.flush()


class _Show:
    """The three forms of an event; lines that are none go to stderr by number."""

    def __init__(self, reader: Reader, as_json: bool, as_lines: bool) -> None:
        self.reader = reader
        self.as_json = as_json
        self.as_lines = as_lines
        self.bad = 0
        self._count = 0

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
            sys.stdout.write(_sentence(row) + "\n")
        self._count += 1

    def close(self) -> None:
        if self.as_json:
            sys.stdout.write("\n]\n" if self._count else "[]\n")
        sys.stdout.flush()

    def _complain(self, row: event_query.Bad) -> None:
        self.bad += 1
        text = printable(row.raw.decode("utf-8", "backslashreplace"))[:100]
        number = self.reader.line_number(row)
        output.warn(f"'{self.reader.source.name}' line {number}: {row.reason}: '{text}'")


def _sentence(row: event_query.Emitted) -> str:
    """Time, topic and payload for people, on one line."""
    import json

    payload = row.value.get("payload")
    shown = payload if isinstance(payload, str) else "" if payload is None else json.dumps(payload)
    when = str(row.value.get("ts", ""))[:19].replace("T", " ")
    return printable(f"{when}  {row.topic}  {shown}").rstrip()

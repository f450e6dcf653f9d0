"""``git ralph emit``: the forms that the fast lane of that name leaves over, and every error."""

import sys

import click

from gitralph.ask import event_reader
from gitralph.cli.terminal import environ, options, output
from gitralph.hook import event_log


def _standard_input() -> str:
    """All of standard input, up to one byte more than allowed, so that too much is refused and never cut."""
    data = sys.stdin.buffer.read(event_log.PAYLOAD_LIMIT + 1)
    return data.decode("utf-8", "surrogateescape")


@click.command("emit", cls=options.Command)
@click.option("--json", "as_json", is_flag=True, help="The payload is a JSON document.")
@click.option("--run", metavar="<id>", help="The run that the event belongs to.")
@click.option("--file", metavar="<name>", help="The events file where no run is current.")
@click.argument("topic", metavar="<topic>")
@click.argument("payload", required=False, metavar="[<payload> | -]")
def emit(as_json: bool, run: str | None, file: str | None, topic: str, payload: str | None) -> None:
    """Add one event to the current run's file."""
    event_log.checked_topic(topic)
    text = _standard_input() if payload == "-" else payload
    event_reader.emit(environ.snapshot(), output.warn, topic, text, as_json=as_json, run=run, file=file)

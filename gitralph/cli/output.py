"""How results reach people and programs: streams, JSON, quoting, hints."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from gitralph.base import streams
from gitralph.base.errors import RalphError
from gitralph.base.quote import c_quote, printable
from gitralph.cli import environ
from gitralph.commit.decision import Left


def text(path: bytes) -> str:
    """A path as JSON holds it; bytes that are not UTF-8 become lone surrogates."""
    return path.decode("utf-8", "surrogateescape")


def say(line: str) -> None:
    """Primary output for people."""
    sys.stdout.write(printable_lines(line) + "\n")


def printable_lines(block: str) -> str:
    """Text with its own newlines and tabs, every other control shown as an escape."""
    rows = ["\t".join(printable(part) for part in row.split("\t")) for row in block.split("\n")]
    return "\n".join(rows)


def chatter(label: str, message: str) -> None:
    """One labelled message on stderr."""
    streams.complain(f"{label}: {printable_lines(message)}\n")


def warn(message: str) -> None:
    """A warning on stderr."""
    chatter("warning", message)


def note(message: str) -> None:
    """A note on stderr; one that starts with ``warning:`` is a warning."""
    label, _, rest = message.partition(": ")
    if label == "warning":
        warn(rest)
    else:
        chatter("note", message)


def hint(message: str) -> None:
    """Advice on stderr, silent for ``GIT_ADVICE=0``."""
    if environ.wants_advice():
        chatter("hint", message)


def report(error: RalphError) -> None:
    """An expected failure, with its hints."""
    for row in error.message.split("\n") if error.label == "error" else [error.message]:
        chatter(error.label, row)
    for one in error.hints:
        hint(one)


def as_json(document: object) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(document, indent=1) + "\n")


def left_json(left: Iterable[Left]) -> list[dict[str, Any]]:
    """Paths left out, as the commit document lists them."""
    return [
        {
            "path": text(one.path),
            "reason": one.reason,
            "sessions": list(one.sessions),
            "lines": list(one.lines) if one.lines else None,
            "detail": one.detail,
        }
        for one in left
    ]


def paths(listing: Iterable[bytes], zero: bool, high: bool = True) -> None:
    """Paths one a line, C-quoted, or NUL-ended as they are."""
    out = sys.stdout.buffer
    sys.stdout.flush()
    for path in listing:
        out.write(path + b"\0" if zero else c_quote(path, high) + b"\n")
    out.flush()


def raw(data: bytes) -> None:
    """Bytes as git made them."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

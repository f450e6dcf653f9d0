"""How results reach people and programs: streams, JSON, quoting, hints."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from gitralph.base import streams
from gitralph.base.errors import BUSY, FATAL, RalphError
from gitralph.base.files import LockTimeoutError
from gitralph.base.layout import Layout
from gitralph.base.quote import c_quote, printable
from gitralph.cli.terminal import columns, environ
from gitralph.decide.decision import Left
from gitralph.git.config import Config
from gitralph.hook import sessionfile
from gitralph.words import sentences


def text(path: bytes) -> str:
    """A path as JSON holds it; bytes that are not UTF-8 become lone surrogates."""
    return path.decode("utf-8", "surrogateescape")


def say(line: str) -> None:
    """Print primary output for people: sentences, whose words stay whole on a terminal."""
    sys.stdout.write(folded(printable_lines(line), sys.stdout) + "\n")


def room() -> int | None:
    """How many columns standard output has; None for a pipe, where nothing is cut."""
    if not environ.is_terminal(sys.stdout):
        return None

    return columns.available(environ.snapshot())


def table(rows: Iterable[Sequence[str]], soft: Sequence[int] = (), ends: Container[int] = ()) -> None:
    """Print rows in columns, none wider than the terminal; see :func:`columns.fitted`."""
    for line in columns.fitted(rows, room(), soft, ends):
        sys.stdout.write(line + "\n")


def content(block: str) -> None:
    """Print primary output that must not be broken: lines of files and patches, ids."""
    sys.stdout.write(printable_lines(block) + "\n")


def folded(block: str, stream: TextIO) -> str:
    """Lines for a stream: broken between words on a terminal, else as they are."""
    if not environ.is_terminal(stream):
        return block

    room = columns.available(environ.snapshot(), stream.fileno())
    return "\n".join(columns.folded(line, room) for line in block.split("\n"))


def printable_lines(block: str) -> str:
    """Text with its newlines and tabs; every other control is shown as an escape."""
    rows = ["\t".join(printable(part) for part in row.split("\t")) for row in block.split("\n")]
    return "\n".join(rows)


def _in_order() -> None:
    """Flush standard output, so that messages about it come later also where both streams are one file."""
    with contextlib.suppress(OSError):  # nobody reads standard output any more; the command's end reports it
        sys.stdout.flush()


def chatter(label: str, message: str) -> None:
    """One message with a label on stderr."""
    _in_order()
    streams.complain(folded(f"{label}: {printable_lines(message)}", sys.stderr) + "\n")


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
    if not environ.wants_advice():
        return
    _in_order()
    line = f"hint: {printable_lines(message)}"
    if environ.is_terminal(sys.stderr):
        line = columns.flowed(
            line, columns.available(environ.snapshot(), sys.stderr.fileno()), message[:4] == "git "
        )
    streams.complain(line + "\n")


def advise(config: Config, key: str, message: str) -> None:
    """Advice that nobody needs twice; silent where ``advice.<key>`` says no."""
    if config.boolean(f"advice.{key.lower()}", default=True):
        hint(message)


def report(error: RalphError) -> None:
    """Report an expected failure, with its hints."""
    for row in error.message.split("\n") if error.label == "error" else [error.message]:
        chatter(error.label, row)
    for one in error.hints:
        hint(one)


def fault(error: Exception) -> int:
    """Report what ended a command; returns its exit code.

    A bug of ours is told plainly, or raised on demand.
    """
    if isinstance(error, RalphError):
        report(error)
        return error.exit_code
    if isinstance(error, LockTimeoutError):
        chatter("error", f"'{error.filename}' is locked by another git ralph; try again shortly")
        return BUSY
    if isinstance(error, OSError):
        # Where a descriptor failed, its number stands there (CPython 3.11, os.fdopen).
        is_named = isinstance(error.filename, (str, bytes)) and error.filename
        name = f"'{os.fsdecode(error.filename)}': " if is_named else ""
        where = "; 'git ralph doctor' says where" if error.errno == errno.ENOSPC and not name else ""
        chatter("fatal", f"{name}{error.strerror or error}{where}")
        return FATAL
    if environ.wants_trace() or isinstance(
        error, ModuleNotFoundError
    ):  # the installation is half made, and main says so
        raise error
    chatter("fatal", f"internal error: {type(error).__name__}: {error}")
    hint("run it again with RALPH_TRACE=1 for the details")
    return FATAL


def not_guarded(error: OSError) -> int:
    """Warn that the guard could not look at a commit; returns the exit code.

    A "fatal" would be taken for git's own word, and git makes a person's commit all the same.
    """
    why = error.strerror or str(error)
    warn(f"the guard could not look at this commit ({why}): it may hold lines of sessions")
    return FATAL


_documents = [0]


def documents() -> int:
    """How many JSON documents this process has printed."""
    return _documents[0]


def as_json(document: object) -> None:
    """One JSON document on stdout."""
    _documents[0] += 1
    sys.stdout.write(json.dumps(document, indent=1) + "\n")


@contextlib.contextmanager
def telling_why(json_asked: bool, document: Callable[[RalphError], Mapping[str, object]]) -> Iterator[None]:
    """Where the block fails, print with ``--json`` the document that says why: in its notes."""
    try:
        yield
    except RalphError as error:
        if json_asked:
            as_json({**document(error), "notes": [error.message]})
        raise


def json_line(document: object) -> None:
    """One JSON document on a line of its own."""
    _documents[0] += 1
    sys.stdout.write(json.dumps(document) + "\n")


def left_json(layout: Layout, left: Iterable[Left]) -> list[dict[str, object]]:
    """Paths left out, as the commit document lists them."""
    return [
        {
            "path": text(one.path),
            "reason": one.reason,
            "sessions": list(one.sessions),
            "names": [sessionfile.called(layout, session) for session in one.sessions],
            "lines": list(one.lines) if one.lines else None,
            "detail": sentences.with_ids(one.why),
        }
        for one in left
    ]


def paths(listing: Iterable[bytes], zero: bool, high: bool = True) -> None:
    """Print paths one a line, C-quoted, or with ``zero`` unquoted and NUL-ended."""
    out = sys.stdout.buffer
    sys.stdout.flush()
    for path in listing:
        out.write(path + b"\0" if zero else c_quote(path, high) + b"\n")
    out.flush()


def raw(data: bytes) -> None:
    """Print bytes as git made them."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

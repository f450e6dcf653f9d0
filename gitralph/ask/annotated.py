"""``git ralph blame``: git's own blame of a file as it stands, and whose each line is."""

import time
from typing import NamedTuple

from gitralph.ask import every_line
from gitralph.ask.every_line import Finding
from gitralph.git import blame
from gitralph.git.context import Context


class BlameLine(NamedTuple):
    """One line of a file: what git says of it, and whose it is. ``author`` is the commit's author."""

    line: blame.Line
    found: Finding
    author: str


def rows(ctx: Context, path: bytes) -> list[BlameLine]:
    """Every line of the file as it stands.

    Raises Fatal for a path that is no file, and where ``commit`` could not look at it either.
    """
    every_line.refuse_folder(ctx, path)
    every_line.refuse_absent(ctx, path)
    read = every_line.read(ctx, path)
    authors: dict[str | None, str] = {}
    out = []
    for line, found in zip(read.lines, every_line.every(ctx, read), strict=True):
        named = [row[7:] for row in line.header[1:] if row.startswith(b"author ")]
        if named:
            authors[line.commit] = named[-1].decode("utf-8", "replace")
        out.append(BlameLine(line, found, authors.get(line.commit, "")))
    return out


def porcelain(path: bytes, row: BlameLine) -> bytes:
    """A line as ``git blame --porcelain`` prints it, with additional headers of ours.

    Ours stand right behind the numbers: some editors take ``filename`` for the last header of an entry.
    """
    number = row.found.line or 0
    head = row.line.header or _uncommitted(path, number)
    ours = [
        (b"ralph-session", row.found.session),
        (b"ralph-agent", row.found.agent),
        (b"ralph-model", row.found.model),
        (b"ralph-source", row.found.source),
    ]
    told = [key + b" " + value.encode("utf-8", "replace") for key, value in ours if value is not None]
    return b"\n".join([head[0], *told, *head[1:], b"\t" + row.line.text]) + b"\n"


def _uncommitted(path: bytes, number: int) -> tuple[bytes, ...]:
    """git's headers for a line in no commit, for a file that git does not know yet."""
    numbers = b"%s %d %d" % (blame.ZERO.encode(), number, number)
    # git describes a commit once, at the first of its lines (git-blame(1), THE PORCELAIN FORMAT).
    if number > 1:
        return (numbers,)
    who = [
        b"%s%s %s" % (role, key, value)
        for role in (b"author", b"committer")
        for key, value in (
            (b"", b"Not Committed Yet"),
            (b"-mail", b"<not.committed.yet>"),
            (b"-time", b"%d" % time.time()),
            (b"-tz", b"+0000"),
        )
    ]
    return (numbers, *who, b"summary Version of " + path + b" from " + path, b"filename " + path)

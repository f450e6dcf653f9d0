"""``git blame`` of a file as it stands: for each line its commit, and its number and path there."""

from typing import NamedTuple

from gitralph.base.quote import c_unquote
from gitralph.git.config import Config
from gitralph.git.run import Git

ZERO = "0" * 40


class Line(NamedTuple):
    """One line: its commit (None for an uncommitted one), its number from 1 and its path in that commit.

    ``header`` is what git prints before the line's text, beginning with the row of numbers. A commit that was
    printed before has only that row.
    """

    commit: str | None
    number: int
    path: bytes
    header: tuple[bytes, ...] = ()
    text: bytes = b""


def lines(git: Git, config: Config, path: bytes, count: int, old: bytes | None = None) -> list[Line] | None:
    """Every line in order; None where git's answer is not of this file, which somebody writes meanwhile.

    ``old`` is the name that the file has in HEAD, where it has another one there.

    Raises GitError where git has no answer, as for a file that it does not know.

    ``git`` must run at the root of the working tree. Format: git-blame(1), THE PORCELAIN FORMAT.
    """
    named: list[str | bytes] = ["--", path] if old is None else ["--contents", path, "--", old]
    said = git.run(*config.without_programs(), "blame", "--no-textconv", "--porcelain", *named)
    out: list[Line] = []
    paths: dict[bytes, bytes] = {}
    header: list[bytes] = []
    for row in said.split(b"\n"):
        if not row.startswith(b"\t"):
            header.append(row)
            continue
        words = header[0].split(b" ") if header else []
        if len(words) not in (3, 4) or len(words[0]) != 40:
            return None
        names = [one[9:] for one in header[1:] if one.startswith(b"filename ")]
        if names:
            paths[words[0]] = _unquoted(names[-1])
        oid = words[0].decode("ascii")
        where = paths.get(words[0], path)
        out.append(Line(None if oid == ZERO else oid, int(words[1]), where, tuple(header), row[1:]))
        header = []
    return out if len(out) == count else None


def uncommitted(data: bytes) -> list[Line]:
    """The lines of a file that git does not know: none has a commit."""
    rows = data.split(b"\n")
    return [
        Line(None, number, b"", text=text) for number, text in enumerate(rows if rows[-1] else rows[:-1], 1)
    ]


def _unquoted(name: bytes) -> bytes:
    try:
        return c_unquote(name)
    except ValueError:
        return name

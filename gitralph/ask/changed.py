"""Which lines a commit brought, by git's diff against its parent; nothing about sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gitralph.base import nul
from gitralph.base.errors import Fatal
from gitralph.base.quote import c_unquote
from gitralph.git.context import Context

_FORM = "%H%x00%P%x00%ct%x00%cI%x00{}%x00{}%x00{}%x00%B%x00".format(
    *(f"%(trailers:key=Ralph-{name},valueonly)" for name in ("Session", "Agent", "Includes"))
)
# `git merge --squash` indents the messages that it includes; servers put a list's star in front.
_MENTIONED = r"(?m)^[ \t*-]*Ralph-Session: *([A-Za-z0-9][A-Za-z0-9._-]{0,119})\s*$"
# So many NULs end a commit in _FORM; a message cannot contain one.
_FIELDS = 8
_HUNK = rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@"
# `:<mode> <mode> <oid> <oid> <letter>[score]\t<path>[\t<path>]` (git-diff-tree(1), RAW OUTPUT FORMAT)
_RAW = rb"(?s):(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*\t(.*)"


class File(NamedTuple):
    """One path of a commit: its blobs before and after, and the lines that are new.

    ``ranges`` count lines from 1 in the commit's own text, both ends included. A blob is None where there is
    no such file. ``removed`` is the number of lines that are gone.
    """

    path: bytes
    old: str | None
    new: str | None
    ranges: tuple[tuple[int, int], ...] = ()
    removed: int = 0


class Commit(NamedTuple):
    """A commit: its sessions by its trailers, its time (in seconds, and as RFC 3339).

    ``mentioned`` are the sessions that its message names anywhere, as a squash's message does. ``is_cut``:
    history ends here, since this clone lacks its parents.
    """

    oid: str
    parents: tuple[str, ...]
    time: int
    sessions: tuple[str, ...]
    agents: tuple[str, ...]
    includes: tuple[str, ...]
    date: str = ""
    mentioned: tuple[str, ...] = ()
    is_cut: bool = False

    @property
    def tells_lines(self) -> bool:
        """True where git's diff is what the commit brought: no merge, and nothing before it is missing."""
        return len(self.parents) < 2 and not self.is_cut


def heads(ctx: Context, commits: Sequence[str]) -> list[Commit]:
    """The messages of some commits, in the order given.

    Raises Fatal for a missing commit.
    """
    if not commits:
        return []

    asked = "\n".join(commits).encode() + b"\n"
    words = ["log", "--no-walk=unsorted", "--no-show-signature", "--stdin", f"--format={_FORM}"]
    said = ctx.git.run("-c", "core.commentChar=#", *words, stdin=asked)
    rows = nul.texts(said)
    found = []
    for at in range(0, len(rows) - _FIELDS + 1, _FIELDS):
        oid, parents, when, date, *told, body = (row.strip("\n") for row in rows[at : at + _FIELDS])
        sessions, agents, includes = (tuple(filter(None, one.split("\n"))) for one in told)
        found.append(
            Commit(
                oid=oid,
                parents=tuple(parents.split()),
                time=int(when or 0),
                sessions=sessions,
                agents=agents,
                includes=includes,
                date=date,
                mentioned=mentioned(body),
            )
        )
    cut = _cut(ctx, [one.oid for one in found if not one.parents])
    return [one._replace(is_cut=True) if one.oid in cut else one for one in found]


def _cut(ctx: Context, roots: Sequence[str]) -> set[str]:
    """Those of some commits without a parent that were made on one.

    So git shows the first commits of a shallow clone and those that ``git replace --graft`` made roots, with
    their whole tree as new (gitrepository-layout(5), shallow). The objects themselves keep their parents.
    """
    if not roots:
        return set()
    asked = "".join(f"{oid}\n" for oid in roots).encode()
    said = ctx.git.at(GIT_NO_REPLACE_OBJECTS="1").run("cat-file", "--batch", stdin=asked)
    found, at = set(), 0
    while at < len(said):
        end = said.index(b"\n", at)
        oid, kind, *size = said[at:end].decode("ascii").split(" ")
        if not size:  # a replaced commit may be gone itself
            at = end + 1
            continue
        head = said[end + 1 : end + 1 + int(size[0])].partition(b"\n\n")[0]
        if kind == "commit" and b"\nparent " in head:
            found.add(oid)
        at = end + int(size[0]) + 2
    return found


def mentioned(body: str) -> tuple[str, ...]:
    """The sessions that a message names anywhere, as a squash does in its body."""
    return tuple(dict.fromkeys(re.findall(_MENTIONED, body)))


def files(ctx: Context, commits: Sequence[str]) -> Iterator[tuple[str, tuple[File, ...]]]:
    """The files of each commit against its first parent; a merge has none. Raises Fatal."""
    if not commits:
        return
    words = [
        "diff-tree",
        "--stdin",
        "--root",
        "-r",
        "-M",
        "--raw",
        "--no-abbrev",
        "-p",
        "-U0",
        "--text",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--submodule=short",
    ]
    said = ctx.git.run(*ctx.config.without_programs(), *words, stdin="\n".join(commits).encode() + b"\n")
    wanted, current = set(commits), None
    block: list[bytes] = []
    for line in said.split(b"\n"):
        # Each line of a patch begins with a sign or a word, so an id alone is a commit's own line.
        if len(line) == 40 and line.decode("latin-1") in wanted:
            if current is not None:
                yield current, _files(block)
            current, block = line.decode(), []
        else:
            block.append(line)
    if current is not None:
        yield current, _files(block)


def _files(block: list[bytes]) -> tuple[File, ...]:

    rows = [found for line in block if (found := re.fullmatch(_RAW, line)) is not None]
    ranges: list[list[tuple[int, int]]] = []
    removed: list[int] = []
    for line in block:
        if line.startswith(b"diff --git "):
            ranges.append([])
            removed.append(0)
        elif ranges and (hunk := re.match(_HUNK, line)):
            start, count = int(hunk[2]), int(hunk[3] or b"1")
            removed[-1] += int(hunk[1] or b"1")
            if count:
                ranges[-1].append((start, start + count - 1))
    # Each row has one section, in the same order; a row whose type changes has two.
    spread = [row for row in rows for _ in range(2 if row[5] == b"T" else 1)]
    if len(spread) != len(ranges):
        raise Fatal("git's patch does not fit its list of files")
    out: dict[bytes, File] = {}
    for row, lines, gone in zip(spread, ranges, removed, strict=True):
        names = [c_unquote(name) for name in row[6].split(b"\t")]
        regular = row[2] in (b"100644", b"100755")
        old, new = (
            # The commit of a submodule is no object of this repository.
            None if not oid.strip(b"0") or mode == b"160000" else oid.decode()
            for mode, oid in ((row[1], row[3]), (row[2], row[4]))
        )
        out[names[-1]] = File(names[-1], old, new, tuple(lines) if regular else (), gone)
    return tuple(out.values())

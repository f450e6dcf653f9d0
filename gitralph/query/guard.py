"""``git ralph guard``: would the commit that git is about to make take another live session's lines?

Judged by the index that git hands its hooks, which is a temporary one under ``commit -a`` and for paths.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from gitralph.base.quote import printable
from gitralph.commit.preview import preview
from gitralph.commit.request import Draft, Request
from gitralph.context import Context
from gitralph.git import refs, uncommitted
from gitralph.git.run import Git
from gitralph.git.trees import Entry
from gitralph.journal import manifests, pending, sessions

WARN, REFUSE, NARROW, OFF = "warn", "refuse", "narrow", "off"
MODES = (WARN, REFUSE, NARROW, OFF)
BYPASS = "or take them all the same: git commit --no-verify"
# A hunk's header in unified form; a count that is left out is 1 (diff(1)).
_HEAD = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


class GuardedPath(NamedTuple):
    """One path of one session that would be committed with it; ``lines`` None when all of it is meant."""

    path: bytes
    session: str
    lines: int | None


@dataclass
class _Hunk:
    """Old lines ``start`` to ``end`` become ``added``."""

    start: int
    end: int
    added: list[bytes]


def mode(ctx: Context) -> str:
    """What to do about it: ``RALPH_GUARD`` where it names a way, else ``ralph.guard``."""
    said = ctx.environ.get("RALPH_GUARD", "")
    if said in MODES:
        return said
    value = ctx.config.get("ralph.guard") or WARN
    if value in MODES:
        return value
    # Whoever set it wanted a guard: a slip of the keyboard must not be what takes it away.
    ctx.warn(
        f"bad value '{printable(value)}' for 'ralph.guard', taken for '{REFUSE}': use {', '.join(MODES)}"
    )
    return REFUSE


def staged(ctx: Context) -> dict[bytes, Entry | None]:
    """What the index at hand, which git is about to commit, changes against HEAD."""
    given = ctx.environ.get("GIT_INDEX_FILE") or ctx.repo.index
    return uncommitted.staged(ctx.git, refs.read_head(ctx.repo).oid, given)


def _others(ctx: Context, paths: list[bytes], own: str | None) -> list[str]:
    """The live sessions but our own with records in one of ``paths``; a draft tells what is left of them."""
    family = set(pending.family(ctx.layout, own)) if own else set()
    naming = manifests.sessions_naming(ctx.layout, paths, family)
    found = {name for names in naming.values() for name in names}
    return sorted(n for n in found if sessions.state_of(ctx.layout, n) == "live")


def _hunks(git: Git, old: bytes, new: bytes) -> list[_Hunk] | None:
    """The line changes between two blobs, None where they have no lines."""
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "-U0")
    # No context and no configured driver: only the numbers in the headers and the added lines are read.
    said = git.run("-c", "diff.algorithm=histogram", "diff", *plain, old, new)
    out: list[_Hunk] = []
    for line in said.split(b"\n"):
        found = _HEAD.match(line)
        if found:
            at, count = int(found[1]), int(found[2] or b"1")
            out.append(_Hunk(at, at + count, []) if count else _Hunk(at + 1, at + 1, []))
        elif out and line.startswith(b"+"):
            out[-1].added.append(line[1:])
    return out if out or not said else None


def _common(theirs: _Hunk, staged: _Hunk) -> int:
    """How many lines of their hunk the staged one has too."""
    if staged.start > theirs.end or theirs.start > staged.end:
        return 0
    # What both take away of the same old lines, or both add; blank lines say nothing.
    removed = len(range(max(theirs.start, staged.start), min(theirs.end, staged.end)))
    there = set(staged.added)
    return max(removed, sum(line in there for line in theirs.added if line.strip()))


def _lines(git: Git, old: Entry | None, theirs: Entry | None, staged: Entry | None) -> int | None:
    """How many of the changed lines of ``theirs`` are in ``staged``; None: all of the path."""
    if staged is None or theirs is None:
        # A deletion has no lines: both delete the path, or they have nothing in common.
        return None if theirs == staged else 0
    base = old.oid if old is not None else git.run("hash-object", "-w", "--stdin", stdin=b"").strip()
    one, two = _hunks(git, base, theirs.oid), _hunks(git, base, staged.oid)
    if one is None or two is None:
        return None
    return sum(max((_common(hunk, other) for other in two), default=0) for hunk in one)


def _taken(git: Git, made: Draft, staged: dict[bytes, Entry | None], session: str) -> list[GuardedPath]:
    out = []
    for path, entry in made.entries.items():
        if path in staged:
            lines = _lines(git, made.base.lookup_safe(path), entry, staged[path])
            out += [] if lines == 0 else [GuardedPath(path, session, lines)]
    # what cannot be told apart is in the commit when anything of the path is
    unclear = {left.path for left in made.left if left.refuses and left.path in staged}
    return out + [GuardedPath(path, session, None) for path in sorted(unclear - set(made.entries))]


def judge(ctx: Context, own: str | None) -> list[GuardedPath]:
    """Everything of other live sessions that a commit of the index at hand would take."""
    found = staged(ctx)
    out: list[GuardedPath] = []
    for session in _others(ctx, sorted(found), own):
        _, made, bench = preview(ctx, Request(session, match=lambda _all: list(found)))
        try:
            out += _taken(bench.git, made, found, session)
        finally:
            bench.remove()
    return sorted(out, key=lambda one: (one.path, one.session))

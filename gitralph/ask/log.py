"""``git ralph log``: what was edited and committed over time, in all worktrees of the repository."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gitralph.ask import changed
from gitralph.ask.whose import CommitOwners, Makers, blob
from gitralph.base import nul
from gitralph.base.ids import digest
from gitralph.base.layout import Layout
from gitralph.base.quote import c_quote
from gitralph.git import refs
from gitralph.git.context import Context
from gitralph.git.texts import is_binary
from gitralph.hook import sessionfile
from gitralph.hook.journal import (
    Record,
    full_lines,
    hunk_between,
    is_oid,
    replay,
)
from gitralph.records import over_time, sessions

# In lines. difflib is quadratic in what differs; a larger edit is shown as one hunk. A log shows many edits:
# 2,000 lines of four kinds take 0.8 s, of lines that are all different 0.1 s.
_FINE = 2000
_FORM = "%x01%H%x00%ct%x00%at%x00%ae%x00%an%x00%s%x00%B%x00"


class LoggedEdit(NamedTuple):
    """One recorded edit; ``texts`` before and after, where they were asked for and are known."""

    time: float
    path: bytes
    record: Record
    worktree: str
    model: str | None
    texts: tuple[bytes | None, bytes | None] | None = None
    lines: tuple[int, int] = (0, 0)
    """The numbers of lines that it wrote and removed."""

    @property
    def session(self) -> str:
        return self.record.session

    @property
    def added(self) -> int:
        """The number of lines that it wrote."""
        return self.lines[0]

    @property
    def removed(self) -> int:
        """The number of lines that it removed."""
        return self.lines[1]


class LoggedCommit(NamedTuple):
    """One commit of a session, or of the person ``author`` where ``session`` is empty.

    ``here``: HEAD holds it. ``became`` is the commit that replaced it, by an amend or a rebase; None without
    one, as after an ``uncommit``.
    """

    time: float
    session: str
    oid: str
    subject: str
    paths: tuple[bytes, ...]
    here: bool
    became: str | None = None
    author: str = ""


class LogWish(NamedTuple):
    """What to show: of which sessions, since when (seconds since the epoch), which paths, with texts."""

    sessions: frozenset[str] | None = None
    since: float | None = None
    match: Callable[[Iterable[bytes]], list[bytes]] | None = None
    texts: bool = False

    def wants(self, session: str, when: float) -> bool:
        """True for something of these sessions that is not older."""
        named = self.sessions is None or session in self.sessions
        return named and (self.since is None or when >= self.since)


def edits(ctx: Context, makers: Makers, wish: LogWish) -> list[LoggedEdit]:
    """The edits, oldest first."""
    found = [edit for lay in over_time.worktrees(ctx.layout) for edit in _of_worktree(lay, makers, wish)]
    if wish.match is not None:
        kept = set(wish.match({edit.path for edit in found}))
        found = [edit for edit in found if edit.path in kept]
    # A record's time counts seconds. The time of the file's write tells the order within one second.
    return sorted(found, key=lambda edit: (edit.time, edit.record.mtime or 0))


def _of_worktree(lay: Layout, makers: Makers, wish: LogWish) -> Iterator[LoggedEdit]:
    for kept in over_time.journals(lay):
        wanted = [r for r in kept.records if wish.wants(r.session, _when(r))]
        path = kept.path if wanted else None
        if path is None:
            continue
        asked = wish.texts or any(map(_is_spread, wanted))
        texts = {r.offset: (b, a) for r, b, a in replay(kept.journal, lay) if r.is_exact} if asked else {}
        for record in wanted:
            model, when, known = makers.model_of(record), _when(record), texts.get(record.offset)
            lines = _lines(record, known)
            yield LoggedEdit(
                time=when,
                path=path,
                record=record,
                worktree=lay.token,
                model=model,
                texts=known if wish.texts else None,
                lines=lines,
            )


def _is_spread(record: Record) -> bool:
    """True for a change that may be in several places: its record has one hunk over all of them."""
    return any(hunk.removed > 1 and len(hunk.lines) > 1 for hunk in record.hunks or ())


def _lines(record: Record, texts: tuple[bytes | None, bytes | None] | None) -> tuple[int, int]:
    if _is_spread(record) and texts is not None:  # its head and tail are the same in both texts
        old, new = (Counter(full_lines(text or b"")) for text in texts)
        return (new - old).total(), (old - new).total()
    hunks = record.hunks or []
    return sum(len(hunk.lines) for hunk in hunks), sum(hunk.removed for hunk in hunks)


def _when(record: Record) -> float:
    return sessionfile.seconds(record.ts) or 0.0


def commits(ctx: Context, makers: Makers, wish: LogWish) -> list[LoggedCommit]:
    """The commits of sessions, oldest first; also those that HEAD no longer holds.

    Also commits of HEAD, since the first session began here, with lines of sessions that nothing names, as
    where a squash kept only its title. Where no session was asked for, a person's commits too.
    """
    head = refs.read_head(ctx.repo).oid
    here = _told(ctx, ["--grep=^[ *-]*Ralph-Session: ", head, "--"]) if head is not None else []
    known = {row.oid for row in here}
    made = dict.fromkeys(makers.commits())
    rest = [oid for oid in made if oid not in known]
    others = _told(ctx, ["--no-walk=unsorted", "--ignore-missing", "--stdin"], rest) if rest else []
    inside = _inside(ctx, head, [row.oid for row in others])
    replaced = [row for row in others if row.oid not in inside]
    kept_elsewhere = _on_branches(ctx, [row.oid for row in replaced])
    subjects: dict[tuple[str, str], set[str]] = {}
    for row in replaced:
        subjects.setdefault(row.origin, set()).add(row.subject)
    by_origin: dict[tuple[tuple[str, str], str], list[_Row]] = {}
    for row in here:
        for session in row.sessions(makers):
            by_origin.setdefault((row.origin, session), []).append(row)
    found = []
    # Oldest first; within a second an amended commit comes before what it became.
    for row in [*others, *reversed(here)]:
        holds = row.oid in known or row.oid in inside
        for session in row.sessions(makers):
            if wish.wants(session, row.time):
                # What a branch still holds was copied, and not replaced.
                is_gone = not holds and row.oid not in kept_elsewhere
                same = by_origin.get((row.origin, session), ()) if is_gone else ()
                # A session may make two commits within a second: what it made itself, and what has the
                # subject of the other one, is the other one.
                taken = subjects.get(row.origin, set())
                fits = (
                    x for x in same if x.subject == row.subject or not (x.oid in made or x.subject in taken)
                )
                became = next((x.oid for x in fits), None)
                found.append(row.logged(session, holds, became))
    if head is not None:
        found += _persons(ctx, makers, head, wish)
    if wish.match is not None:
        kept = set(wish.match({path for one in found for path in one.paths}))
        found = [one for one in found if kept & set(one.paths)]
    return sorted(found, key=lambda one: one.time)


def _persons(ctx: Context, makers: Makers, head: str, wish: LogWish) -> Iterator[LoggedCommit]:
    """The commits of HEAD, since the first session began here, of which nothing tells whose they are.

    Each is given with the sessions whose lines it holds, and for a person where it holds more than these.
    """
    begun = next(iter(sessions.records(ctx.layout, True)), None)
    if begun is None:
        return
    first = begun.get("head")
    before = [f"^{first}"] if isinstance(first, str) and is_oid(first) else []
    rows = [
        row
        for row in reversed(_told(ctx, ["--ignore-missing", head, *before, "--"]))
        if not row.sessions(makers) and (wish.since is None or row.time >= wish.since)
    ]
    held = dict(_held(ctx, makers, rows))
    for row in rows:
        names, all_of_it = held.get(row.oid, ((), False))
        for session in (*names, *([] if all_of_it else [""])):
            named = wish.sessions is None or session in wish.sessions
            if named:
                yield row.logged(session, True, None)


def _held(
    ctx: Context, makers: Makers, rows: Iterable[_Row]
) -> Iterator[tuple[str, tuple[tuple[str, ...], bool]]]:
    """The sessions whose lines unnamed commits hold, and whether every new line is theirs."""
    # Most commits of people touch nothing that a session ever edited.
    asked = [row.oid for row in rows if any(os.path.lexists(ctx.layout.journal(path)) for path in row.paths)]
    heads = {one.oid: one for one in changed.heads(ctx, asked) if one.tells_lines}
    for oid, found in changed.files(ctx, list(heads)):
        judge = CommitOwners(ctx, makers, heads[oid], None)
        new, owned = 0, list[str]()
        for file in found:
            new += sum(last - first + 1 for first, last in file.ranges)
            text = blob(ctx, file.new) if file.ranges else None
            known = judge.owners(file, text) if text is not None and not is_binary(text) else {}
            owned += [one.session for one in known.values() if one.session is not None]
        if owned:
            yield oid, (tuple(sorted(set(owned))), len(owned) == new)


class _Row(NamedTuple):
    """One commit as ``git log`` told it. ``origin``, its author and time, survives a rebase."""

    oid: str
    time: float
    origin: tuple[str, str]
    said: tuple[str, ...]
    author: str
    subject: str
    paths: tuple[bytes, ...]

    def sessions(self, makers: Makers) -> tuple[str, ...]:
        """The commit's sessions: as the records tell, else all that its message names."""
        main = next((name for name, included in makers.made(self.oid).items() if not included), None)
        return (main,) if main is not None else self.said if len(self.said) < 2 else self._known(makers)

    def logged(self, session: str, here: bool, became: str | None) -> LoggedCommit:
        """The commit as one of a session's, or of a person for ""."""
        return LoggedCommit(
            time=self.time,
            session=session,
            oid=self.oid,
            subject=self.subject,
            paths=self.paths,
            here=here,
            became=became,
            author=self.author,
        )

    def _known(self, makers: Makers) -> tuple[str, ...]:
        return tuple(dict.fromkeys(makers.by_hash.get(one, one) for one in self.said))


def _told(ctx: Context, words: list[str], asked: list[str] | None = None) -> list[_Row]:
    options = ["log", "--no-show-signature", "--no-color", "--name-only", "-z", "--no-renames", "--root"]
    given = "\n".join(asked).encode() + b"\n" if asked is not None else None
    said = ctx.git.try_run(*options, f"--format={_FORM}", *words, stdin=given).stdout
    rows = []
    for block in re.split(rb"\x01(?=[0-9a-f]{40}\0)", said)[1:]:
        fields = nul.rows(block)
        if len(fields) < 7:
            continue
        told = (one.decode("utf-8", "replace") for one in fields[:7])
        oid, when, wrote, who, author, subject, body = told
        named = changed.mentioned(body)
        paths = tuple(one.lstrip(b"\n") for one in fields[7:] if one.strip(b"\n"))
        rows.append(
            _Row(
                oid=oid,
                time=float(when or 0),
                origin=(who, wrote),
                said=named,
                author=author,
                subject=subject,
                paths=paths,
            )
        )
    return rows


def _inside(ctx: Context, head: str | None, commits: list[str]) -> set[str]:
    """Those of some commits that HEAD holds, for commits without our trailers."""
    if head is None or not commits:
        return set()
    asked = "\n".join([*commits, f"^{head}"]).encode() + b"\n"
    said = ctx.git.try_run("rev-list", "--ignore-missing", "--stdin", stdin=asked).stdout
    return set(commits) - set(said.decode().split())


def _on_branches(ctx: Context, commits: list[str]) -> set[str]:
    """Those of some commits that a branch holds."""
    if not commits:
        return set()
    words = ("rev-list", "--ignore-missing", "--stdin", "--not", "--branches")
    said = ctx.git.try_run(*words, stdin="".join(f"{oid}\n" for oid in commits).encode()).stdout
    return set(commits) - set(said.decode().split())


class Mark(NamedTuple):
    """How far somebody has read: HEAD, the time of the last edit, and later items without a place there."""

    head: str | None = None
    time: int = 0
    known: frozenset[str] = frozenset()


def news(
    ctx: Context, mark: Mark, found: Iterable[LoggedEdit | LoggedCommit]
) -> tuple[list[LoggedEdit | LoggedCommit], Mark]:
    """What somebody has not read yet, and the mark for the next time.

    Commits go by HEAD's history, not by their dates: a rebase or a pull brings old dates.
    """
    rows = list(found)
    read = _inside(ctx, mark.head, [one.oid for one in rows if isinstance(one, LoggedCommit)])
    edits = [one for one in rows if isinstance(one, LoggedEdit)]
    last = max((int(one.time) for one in edits), default=mark.time)
    kept = [
        *(_key(one) for one in edits if int(one.time) == last),
        *(one.oid for one in rows if isinstance(one, LoggedCommit) and not one.here),
    ]
    fresh = [
        one
        for one in rows
        if _key(one) not in mark.known
        and (one.oid not in read if isinstance(one, LoggedCommit) else int(one.time) >= mark.time)
    ]
    return fresh, Mark(refs.read_head(ctx.repo).oid, last, frozenset(kept))


def _key(one: LoggedEdit | LoggedCommit) -> str:
    if isinstance(one, LoggedCommit):
        return one.oid
    return digest(b"\0".join([one.worktree.encode(), one.path, b"%d" % one.record.offset]))


def patch(edit: LoggedEdit) -> bytes:
    """What an edit did, as a unified diff; empty where its texts are unknown or equal."""
    if edit.texts is None:
        return b""
    before, after = edit.texts
    names = [
        b"/dev/null" if text is None else prefix + edit.path
        for text, prefix in ((before, b"a/"), (after, b"b/"))
    ]
    head = b"--- %s\n+++ %s\n" % (c_quote(names[0]), c_quote(names[1]))
    old, new = before or b"", after or b""
    if is_binary(old) or is_binary(new):
        return b"Binary files %s and %s differ\n" % (c_quote(names[0]), c_quote(names[1]))
    body = b"".join(_hunks(full_lines(old), full_lines(new)))
    return head + body if body else b""


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    if len(old) + len(new) <= _FINE:
        groups = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3))
    else:
        groups = [_one_hunk(old, new)] if old != new else []
    for group in groups:
        first, last = group[0], group[-1]
        yield b"@@ -%s +%s @@\n" % (_span(first[1], last[2]), _span(first[3], last[4]))
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                yield from _signed(b" ", old[i1:i2])
                continue
            yield from _signed(b"-", old[i1:i2])
            yield from _signed(b"+", new[j1:j2])


def _one_hunk(old: list[bytes], new: list[bytes]) -> list[tuple[str, int, int, int, int]]:
    hunk = hunk_between(b"".join(old), b"".join(new))
    start, end, more = hunk.start, hunk.start + hunk.removed, len(hunk.lines)
    before, after = max(0, start - 3), min(len(old), end + 3)
    return [
        ("equal", before, start, before, start),
        ("replace", start, end, start, start + more),
        ("equal", end, after, start + more, start + more + after - end),
    ]


def _span(start: int, end: int) -> bytes:
    count = end - start
    if count == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + (count > 0), count)


def _signed(sign: bytes, lines: list[bytes]) -> Iterator[bytes]:
    for line in lines:
        ended = line.endswith(b"\n")
        yield sign + line + (b"" if ended else b"\n\\ No newline at end of file\n")

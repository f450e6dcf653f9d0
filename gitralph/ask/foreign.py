"""What other clones of the fleet tell of commits, read from their logs; a commit never asks them.

Each line of ``fleet/<writer>.jsonl`` is an Agent Trace record by somebody else: hostile bytes, of which only
the expected form is taken. A record counts for the commit that it names. Where git rewrote that commit and no
history holds it any more, the hashes of its lines count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gitralph.ask.by_content import follow
from gitralph.base import files, jsonline
from gitralph.base.layout import Layout
from gitralph.git.context import Context
from gitralph.hook import model
from gitralph.hook.event import list_of, object_of, text_of
from gitralph.records import content_hash, published_name

# In bytes. Of a longer log the oldest records are read, since they come first.
_LOG = 64 << 20
# In bytes; the fleet publishes no longer line.
_LINE = 1 << 20
OURS = "io.gitralph"


class Statement(NamedTuple):
    """What a member says of a line: its owner (None for nobody), the member, and the statement's age.

    ``synced`` is when the log was last read from the remote, in seconds since the epoch.
    """

    session: str | None
    agent: str | None
    model: str | None
    commit: str
    writer: str
    synced: float


class _Span(NamedTuple):
    first: int
    last: int
    claim: Statement


@dataclass
class _Record:
    """One record: the session that made the commit, and for each path its spans and hashes of lines."""

    session: str
    time: str
    spans: dict[str, list[_Span]] = field(default_factory=dict)
    hashes: dict[str, dict[str, set[Statement]]] = field(default_factory=dict)


def _logs(layout: Layout) -> Iterator[tuple[str, float, bytes]]:
    """Writer, time of the last sync and bytes of each log."""
    for name in files.names(layout.fleet, ".jsonl"):
        writer = name.removesuffix(".jsonl")
        # A name that cannot be a writer's did not come from a sync.
        if not writer.isalnum() or not writer.isascii() or len(writer) > 40:
            continue
        try:
            path = layout.fleet_log(writer)
            yield writer, _synced(layout, path), files.read_bytes(path, _LOG)
        except OSError:
            continue


def _synced(layout: Layout, log: str) -> float:
    """The last look at the remote shows every log as it was then, also a log without news."""
    times = []
    for path in (layout.fleet_file("seen"), log):
        try:
            times.append(os.stat(path).st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 < value < 1 << 31 else None


def _taken(fields: dict[str, object], writer: str, synced: float) -> _Record | None:
    """A record of the known form; None for any other."""
    ours = object_of(object_of(fields, "metadata"), OURS)
    commit, session = text_of(object_of(fields, "vcs"), "revision"), text_of(ours, "session")
    if commit is None or session is None or not published_name.is_hash(session):
        return None
    agents = {session: text_of(ours, "agent"), **_texts(object_of(ours, "agents"))}
    found = _Record(session, text_of(fields, "timestamp") or "")
    for file in list_of(fields, "files"):
        path = text_of(file, "path")
        if path is None:
            continue
        # One text has the hashes of all lines of a path, one conversation behind the other, each as long as
        # content_hash.LINE.
        text = text_of(object_of(ours, "lines"), path) or ""
        for talk in list_of(file, "conversations"):
            who = _who(talk)
            name = model.accepted(text_of(object_of(talk, "contributor"), "model_id"))
            agent = model.accepted(agents.get(who or ""))
            claim = Statement(who, agent, name if who else None, commit, writer, synced)
            count = _add(found, path, talk, claim)
            if who is not None:
                _hash(found, path, text[: count * content_hash.LINE], claim)
                text = text[count * content_hash.LINE :]
    return found


def _texts(found: dict[str, object]) -> dict[str, str | None]:
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _who(talk: object) -> str | None:
    """The session of a conversation; None where nobody recorded the lines."""
    url = text_of(talk, "url") or ""
    session = url.removeprefix("urn:ralph:")
    return session if session != url and published_name.is_hash(session) else None


def _add(found: _Record, path: str, talk: object, claim: Statement) -> int:
    """Add the ranges of a conversation; returns how many lines they have."""
    count = 0
    for one in list_of(talk, "ranges"):
        first, last = (_count(object_of({"": one}, "").get(key)) for key in ("start_line", "end_line"))
        if first is not None and last is not None and first <= last:
            found.spans.setdefault(path, []).append(_Span(first, last, claim))
            count += last - first + 1
    return count


def _hash(found: _Record, path: str, text: str, claim: Statement) -> None:
    rows = found.hashes.setdefault(path, {})
    for at in range(0, len(text) - content_hash.LINE + 1, content_hash.LINE):
        rows.setdefault(text[at : at + content_hash.LINE], set()).add(claim)


class MemberLogs:
    """The logs of the other members, as far as some commits need them."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._logs = list(_logs(ctx.layout)) if published_name.is_member(ctx.layout) else []

    def __bool__(self) -> bool:
        return bool(self._logs)

    def records(self, needles: Iterable[str]) -> Iterator[_Record]:
        """The records whose lines contain one of some words."""
        wanted = [needle.encode() for needle in needles]
        for writer, synced, data in self._logs:
            for _, _, raw in jsonline.lines(data):
                # most of a large log concerns other commits, and is not parsed
                if len(raw) > _LINE or not any(needle in raw for needle in wanted):
                    continue
                try:
                    found = _taken(jsonline.object_in(raw), writer, synced)
                except ValueError:
                    continue
                if found is not None:
                    yield found

    def of_commits(self, commits: dict[str, tuple[str, ...]]) -> dict[str, dict[str, list[_Span]]]:
        """For each commit and path its spans. ``commits`` gives the sessions of each message, as hashes.

        A message outranks a log: a record of a session that the message does not name is not believed.
        Without a message a record counts only where no two members claim the commit.
        """
        out: dict[str, list[_Record]] = {}
        for found in self.records(commits):
            for oid in {span.claim.commit for spans in found.spans.values() for span in spans}:
                said = commits.get(oid)
                if said is not None and (not said or found.session in said):
                    out.setdefault(oid, []).append(found)
        return {
            oid: rows[0].spans
            for oid, rows in out.items()
            if len({(row.session, tuple(_writers(row))) for row in rows}) == 1
        }

    def by_content(self, path: str, sessions: Iterable[str] | None) -> Contents:
        """What members say of the lines of a path in commits that no history holds any more.

        ``sessions`` limits it to some sessions, None asks for all.
        """
        wanted = None if sessions is None else set(sessions)
        rows: dict[str, set[Statement]] = {}
        for found in self.records([OURS] if wanted is None else wanted):
            for line, claims in found.hashes.get(path, {}).items():
                kept = {one for one in claims if wanted is None or one.session in wanted}
                rows.setdefault(line, set()).update(kept)
        gone = self._gone({claim.commit for claims in rows.values() for claim in claims})
        return Contents(
            {
                line: kept
                for line, claims in rows.items()
                if (kept := {one for one in claims if one.commit in gone})
            }
        )

    def _gone(self, commits: set[str]) -> set[str]:
        """The commits that HEAD does not hold. A line of a commit in HEAD belongs to that commit alone."""
        good = sorted(one for one in commits if len(one) == 40 and not one.strip("0123456789abcdef"))
        if not good:
            return set()
        words = ["rev-list", "--ignore-missing", "--stdin"]
        # rev-list would stop at an id that is no commit, and these ids come from others.
        here = self._ctx.git.try_run(
            "cat-file", "--batch-check=%(objecttype) %(objectname)", stdin="\n".join(good).encode() + b"\n"
        )
        known = [row.split() for row in here.stdout.decode("ascii", "replace").splitlines()]
        there = {row[1] for row in known if len(row) == 2 and row[0] == "commit"}
        asked = "\n".join([*sorted(there), "^HEAD"]).encode() + b"\n"
        said = self._ctx.git.try_run(*words, stdin=asked).stdout.decode().split() if there else []
        return (set(good) - there) | (there & set(said))


class Published(NamedTuple):
    """One commit that another member published; ``time`` as in the record, ``lines`` of sessions only."""

    commit: str
    time: str
    session: str
    agent: str | None
    model: str | None
    files: int
    lines: int
    writer: str
    synced: float


def published(ctx: Context) -> list[Published]:
    """Every commit in the logs of other members, once."""
    fleet = MemberLogs(ctx)
    out: dict[str, Published] = {}
    me = _own_writer(ctx.layout.fleet_record)
    for found in fleet.records([OURS]):
        claims = [one.claim for spans in found.spans.values() for one in spans]
        if not claims or claims[0].writer == me:
            continue
        of_it = [one for one in claims if one.session == found.session]
        count = sum(
            one.last - one.first + 1 for spans in found.spans.values() for one in spans if one.claim.session
        )
        name = next((one.model for one in of_it if one.model), None)
        agent = next((one.agent for one in of_it if one.agent), None)
        first = claims[0]
        out[first.commit] = Published(
            commit=first.commit,
            time=found.time,
            session=found.session,
            agent=agent,
            model=name,
            files=len(found.spans),
            lines=count,
            writer=first.writer,
            synced=first.synced,
        )
    return list(out.values())


def _own_writer(path: str) -> str | None:
    try:
        return text_of(jsonline.loads(files.read_bytes(path, _LINE).decode("utf-8", "replace")), "writer")
    except (OSError, ValueError):
        return None


def _writers(record: _Record) -> list[str]:
    return sorted({span.claim.writer for spans in record.spans.values() for span in spans})


def at(spans: list[_Span], line: int) -> Statement | None:
    """What a record says of a line of its commit; None where it says nothing."""
    return next((span.claim for span in spans if span.first <= line <= span.last), None)


class Contents(NamedTuple):
    """Claims on lines by their hash."""

    rows: dict[str, set[Statement]]

    def of(self, lines: list[bytes]) -> list[Statement | None]:
        """The claim on each of some neighbouring lines of one commit; None where none is certain."""
        return follow(
            lines,
            lambda line: self.rows.get(content_hash.of_line(line), set()),
            lambda claim: claim.session,
            lambda claims: max(claims, key=lambda one: (one.model is not None, one.commit)),
        )

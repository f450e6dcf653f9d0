"""Whose the lines of a commit are, by this clone's records; a gap where the records do not tell."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gitralph.ask import by_content
from gitralph.ask.changed import Commit, File
from gitralph.base.ids import hashed, is_valid
from gitralph.base.layout import MAIN, Layout
from gitralph.decide.decision import EDITS, SHELL
from gitralph.decide.in_time import InTime
from gitralph.git import history
from gitralph.git.context import Context
from gitralph.git.descent import Descent
from gitralph.git.texts import with_line_feeds
from gitralph.git.trees import FILES, Entry
from gitralph.hook import sessionfile
from gitralph.hook.journal import ASSIGN, GAP, TEXT_LIMIT, Journal, Record, full_lines, replay
from gitralph.lines.linediff import ranges
from gitralph.lines.order import chain
from gitralph.lines.owners import WrittenBy, by_line
from gitralph.lines.pieces import pieces
from gitralph.lines.terms import Step
from gitralph.lines.text import difference
from gitralph.records import commit_log, finished, path_records, sessions


class Owner(NamedTuple):
    """Who made a line: a session and the model of the call. ``session`` None: nobody recorded it."""

    session: str | None
    model: str | None = None


class Makers:
    """The sessions of this clone, by the commits that they made; every answer is kept for later questions.

    Thousands of sessions may have been put away. Of these only an index is read, and the record of one that
    is asked for.
    """

    def __init__(self, ctx: Context) -> None:
        self._layout = ctx.layout
        self._told: dict[str, tuple[str | None, str | None] | None] = {}
        self._families: dict[str, frozenset[str]] = {}
        self._read_before: dict[tuple[str, bytes], Journal] = {}
        self.wrote: dict[tuple[str, bytes], list[tuple[Record, set[bytes]]]] = {}
        """What each record of a path wrote."""
        self.descent = Descent(ctx.repo)

    @cached_property
    def _rows(self) -> dict[str, dict[str, Mapping[str, object]]]:
        """For each commit and session its ``.commits`` line; only sessions that were not put away."""
        found: dict[str, dict[str, Mapping[str, object]]] = {}
        for kept in sessions.records(self._layout):
            name = str(kept["session"])
            for row in commit_log.read(self._layout, name).commits:
                if isinstance(row.get("commit"), str):
                    found.setdefault(row["commit"], {}).setdefault(name, row)
        return found

    @cached_property
    def _away(self) -> dict[str, dict[str, bool]]:
        return finished.made(self._layout)

    def commits(self) -> Iterable[str]:
        """Every commit that a session made, or that holds edits of a session."""
        return {**self._rows, **self._away}

    def made(self, oid: str) -> dict[str, bool]:
        """The sessions of a commit, each with whether another session's commit took its edits along."""
        live = {name: row.get("included") is True for name, row in self._rows.get(oid, {}).items()}
        return {**self._away.get(oid, {}), **live}

    def worktree(self, oid: str, session: str | None) -> object:
        """The worktree in which a session made a commit, as its line says."""
        if session is None:
            return None
        row = self._rows.get(oid, {}).get(session)
        if row is None:
            rows = commit_log.read(self._layout, session).commits
            row = next((one for one in rows if one.get("commit") == oid), {})
        return row.get("worktree")

    @cached_property
    def by_hash(self) -> dict[str, str]:
        """The sessions by the names that others read; needed only for others' trailers and statements."""
        away = (name for made in self._away.values() for name in made)
        live = (str(kept["session"]) for kept in sessions.records(self._layout))
        return {hashed(name): name for name in dict.fromkeys((*away, *live))}

    def everyone(self) -> dict[str, str | None]:
        """Every session, also those put away, with its agent. Reads all records."""
        names = [str(kept["session"]) for kept in sessions.records(self._layout, finished=True)]
        return {name: self.agent(name) for name in names}

    def is_known(self, session: str) -> bool:
        """True for a session that has a record here."""
        return is_valid(session) and self._said_of(session) is not None

    def agent(self, session: str | None) -> str | None:
        """The agent of a session, as its record says."""
        told = self._said_of(session) if session is not None else None
        return told[0] if told is not None else None

    def _said_of(self, session: str) -> tuple[str | None, str | None] | None:
        """Agent and only model of a session; None for one without a record."""
        if session not in self._told:
            kept = sessionfile.read(self._layout, session) if is_valid(session) else None
            self._told[session] = None if kept is None else _agent_and_model(kept)
        return self._told[session]

    def journal(self, layout: Layout, path: bytes) -> Journal:
        """The records of a path, read once for all its commits."""
        key = layout.own, path
        if key not in self._read_before:
            self._read_before[key] = path_records.read_journal(layout, path)
        return self._read_before[key]

    def named(self, said: Iterable[str]) -> list[str]:
        """The sessions of this clone that trailers name, by id or by hash."""
        said = tuple(said)
        names = [self.by_hash.get(one, one) for one in said] if said else []
        return [name for name in names if self.is_known(name)]

    def is_of(self, session: str, other: str) -> bool:
        """True where ``other`` is ``session`` or a subagent's session of it."""
        if session not in self._families:
            self._families[session] = frozenset(path_records.family(self._layout, session))
        return other == session or other in self._families[session]

    def model_of(self, record: Record) -> str | None:
        """The model behind a record: the call's own, else the only one that its session worked with."""
        if record.model is not None or record.agent_id is not None:
            return record.model  # a subagent may work with another model than its session
        told = self._said_of(record.session)
        return told[1] if told is not None else None

    def said(self, commit: Commit) -> tuple[str, ...]:
        """The sessions that a commit's message names, whether known here or not; a squash names several."""
        return tuple(dict.fromkeys(self.by_hash.get(one, one) for one in commit.mentioned))

    def of_all(self, commit: Commit) -> tuple[str, ...]:
        """The sessions that a commit may be of: the one that made it, else all that its message names."""
        if any(not included for included in self.made(commit.oid).values()):
            found = self.of(commit)
            return (found,) if found is not None else ()
        return self.said(commit)

    def of_lines(self, commit: Commit) -> tuple[str, ...]:
        """The sessions of which a line may be that only the message tells of: also those that came along."""
        found = self.of_all(commit)
        along = (self.by_hash.get(one, one) for one in commit.includes if is_valid(one))
        return tuple(dict.fromkeys((*found, *along))) if found else ()

    def of(self, commit: Commit) -> str | None:
        """The session that made a commit: by the records, else by its message; None for nobody."""
        main = [name for name, included in self.made(commit.oid).items() if not included]
        said = self.named(commit.sessions)
        return next((name for name in said if name in main), None) or next(iter(main or said[-1:]), None)


def _agent_and_model(kept: Mapping[str, object]) -> tuple[str | None, str | None]:
    agent, models = kept.get("agent"), kept.get("models")
    # With two models in a session nobody can tell which of them made a call that names none.
    alone = models[0] if isinstance(models, list) and len(models) == 1 else None
    return agent if isinstance(agent, str) else None, alone if isinstance(alone, str) else None


def _layout(ctx: Context, token: object) -> Layout:
    """The state of the worktree in which a commit was made; this one's where that is gone."""
    if not isinstance(token, str) or "/" in token or token in ("", ".", ".."):
        return ctx.layout
    found = Layout(ctx.layout.top, token)
    return found if token == MAIN or os.path.isdir(found.edits) else ctx.layout


@dataclass
class CommitOwners:
    """Answers for one commit: ``main`` made it; ``exact`` where the records themselves name it.

    ``main`` None: no record and no message names anybody, as where a squash kept only its title. Then lines
    that stand as a session recorded them are that session's.
    """

    ctx: Context
    makers: Makers
    commit: Commit
    main: str | None

    def __post_init__(self) -> None:
        made = self.makers.made(self.commit.oid)
        self.exact = self.main in made
        self.family = set(path_records.family(self.ctx.layout, self.main)) if self.main is not None else set()
        if self.exact:
            others = set(self.makers.named(self.commit.includes)) | set(made)
        else:  # git rewrote it, and several commits may have become one
            others = set(self.makers.named((*self.commit.mentioned, *self.commit.includes)))
        self.allowed = self.family | others
        made_in = self.makers.worktree(self.commit.oid, self.main) if self.main in made else None
        self.layout = _layout(self.ctx, made_in)

    def owners(self, file: File, text: bytes) -> dict[int, Owner]:
        """The owner of each new line of a file, by its number from 1.

        Lines of which only the commit's message tells something are left out.
        """
        wanted = [n for first, last in file.ranges for n in range(first, last + 1)]
        found = self.makers.journal(self.layout, file.path)
        if self.main is None:
            return self._unnamed(found, file, text, wanted)
        of = self.family if self.exact else self.allowed
        own = [r for r in found.records if r.op != GAP and r.session in of]
        # Without texts only the path was recorded, so the commit's own statement counts.
        if not any(record.is_exact for record in own):
            models = {self.makers.model_of(record) for record in own}
            # A message that names others vouches for no line, unless they wrote it by the records.
            if self.exact and not self.commit.includes:
                return dict.fromkeys(wanted, self._main(models))
            return self._unnamed(found, file, text, wanted)
        if not self.exact:
            since = self.makers.descent.having(self.commit.oid, {r.head for r in found.records if r.head})
            wrote = [(r, lines) for r, lines in self._wrote(found, file.path) if r.head not in since]
            said = self._by_content(wrote, file, text, Owner(None), telling=1)
            # A fixup keeps the message of the first alone: the lines of the others stand all the same.
            said |= self._unnamed(found, file, text, [n for n in wanted if said[n].session is None])
            if any(r.session in self.family for r, _ in wrote):
                return said
            # All records of the session are younger than its commit, as after gc: the message tells the rest.
            return {n: one for n, one in said.items() if one.session is not None}
        how, taken = self._taken_how(found), self._taken(found, own)
        models = {self.makers.model_of(record) for record in taken}
        # Guarantee 1 of `commit`: lines that it told apart are this session's and nobody else's.
        if how == {EDITS}:
            every = self._main(models)
            if len(models) == 1:
                return dict.fromkeys(wanted, every)
            wrote = [(r, _lines(r)) for r in taken if r.op != GAP]
            return self._by_content(wrote, file, text, every, telling=0)
        known = _until(found, commit_log.length_at(found, self.commit.oid))
        made = [r for r in known.records if r.op != GAP and r.session in self.allowed]
        rows, _ = self._by_line(file, known, text)
        # Only this session's own shell command could explain what `--with-shell` took (guarantee 1 again).
        default = Owner(self.main if how and how <= {EDITS, SHELL} else None)
        return {n: self._owner(rows[n - 1].key, made) or default for n in wanted if n <= len(rows)}

    def _unnamed(self, found: Journal, file: File, text: bytes, asked: Iterable[int]) -> dict[int, Owner]:
        """The lines that stand as sessions recorded them, by their place; equal words alone prove nothing."""
        lines = [line.rstrip(b"\r\n") for line in full_lines(text)]
        wanted = [n for n in asked if n <= len(lines)]
        # a move writes no line
        made = [r for r in found.records if r.op not in (GAP, "rename-to") and r.is_exact]
        wrote = {line for r in made for line in _lines(r)}
        # A weave costs more than a look: most commits of people hold no line that a session wrote.
        if not any(lines[n - 1].strip() and lines[n - 1] in wrote for n in wanted):
            return {}
        rows, in_time = self._by_line(file, found, text)
        keys = {n: in_time.maker(rows[n - 1], self.commit.oid) for n in wanted if n <= len(rows)}
        owned = ((n, self._owner(key, made)) for n, key in keys.items())
        return {n: one for n, one in owned if one is not None}

    def _main(self, models: set[str | None]) -> Owner:
        """The committing session, with its model where it has only one."""
        return Owner(self.main, next(iter(models)) if len(models) == 1 else None)

    def _by_content(
        self, rows: Sequence[tuple[Record, set[bytes]]], file: File, text: bytes, default: Owner, telling: int
    ) -> dict[int, Owner]:
        """The owners of lines that some records wrote, by the lines' text.

        A commit that git rewrote has lost its own place among the records. A weave for each possible place
        takes minutes after a rebase of 150 commits of one file.
        """
        wrote: dict[bytes, set[Owner]] = {}
        for record, written in rows:
            if record.session in self.allowed:
                owner = Owner(self._named_for(record), self.makers.model_of(record))
                for line in written:
                    wrote.setdefault(line, set()).add(owner)

        lines = [line.rstrip(b"\r\n") for line in full_lines(text)]
        out: dict[int, Owner] = {}
        for first, last in file.ranges:
            piece = lines[first - 1 : last]
            found = by_content.follow(piece, lambda line: wrote.get(line, ()), _session, _common, telling)
            out |= {first + at: one or default for at, one in enumerate(found)}
        return out

    def _wrote(self, journal: Journal, path: bytes) -> list[tuple[Record, set[bytes]]]:
        """What each record wrote, less what it brought back as HEAD had it."""
        key = self.layout.own, path
        if key not in self.makers.wrote:
            found = self.makers.wrote[key] = []
            for r, before, after in replay(journal, self.layout):
                if r.op != GAP and r.is_exact:
                    came, more = (
                        difference(_form(was, True), _form(after, True))[1]
                        for was in (before, self._held(r.head, path))
                    )
                    found.append((r, _written(r, before) - (came.keys() - more.keys())))
        return self.makers.wrote[key]

    def _taken(self, journal: Journal, own: list[Record]) -> list[Record]:
        """Those of this session's records that the commit took something of; all where it does not say."""
        names = commit_log.taken(journal).get(self.commit.oid, set())
        # A line of an older version may name nothing: then any of them may have been taken.
        return [record for record in own if str(record.offset) in names] or own

    def _taken_how(self, journal: Journal) -> set[object]:
        """How the commit took this path; empty where others' or unrecorded lines may be in it."""
        rows = [row for row in journal.log if row.get("commit") == self.commit.oid]
        return set() if self.commit.includes else {row.get("how") for row in rows}

    def _owner(self, key: str | None, made: Sequence[Record]) -> Owner | None:
        record = next((r for r in made if str(r.offset) == key), None)
        if record is None:
            return None
        return Owner(self._named_for(record), self.makers.model_of(record))

    def _named_for(self, record: Record) -> str:
        return self.main if self.main is not None and record.session in self.family else record.session

    def _by_line(self, file: File, known: Journal, text: bytes) -> tuple[list[WrittenBy], InTime]:
        rows = [(r, b, a) for r, b, a in replay(known, self.layout) if r.is_exact]
        converted = any(b"\r\n" in (one or b"") for _, b, a in rows for one in (b, a)) and b"\r\n" not in text
        steps = [
            Step(
                str(r.offset),
                None if r.op == GAP else r.session,
                _form(b, converted),
                _form(a, converted),
                head=r.head,
                alone=r.alone,
                by_shell=r.by_shell,
            )
            for r, b, a in rows
        ]
        heads = {str(r.offset): r.head for r, _, _ in rows}
        in_time = InTime(
            self.makers.descent, steps, lambda key: _form(self._held(heads[key], file.path), converted)
        )
        count = len(full_lines(text))
        # The hook judges a larger file as a whole too: its lines have no records.
        if not steps or len(text) > TEXT_LIMIT:
            return [WrittenBy(None, None, in_head=False)] * count, in_time
        old = blob(self.ctx, file.old)
        chained = chain(steps, steps[0].before)
        return by_line(pieces(old, text, chained)), in_time

    def _held(self, head: str | None, path: bytes) -> bytes | None:
        """What HEAD had at a path when something was recorded there."""
        entry = history.entry_at(self.ctx.repo, head, path)
        if not isinstance(entry, Entry) or entry.mode not in FILES:
            return None
        return blob(self.ctx, entry.oid.decode())


def _lines(record: Record) -> set[bytes]:
    return {line.rstrip(b"\r\n") for hunk in record.hunks or [] for line in hunk.lines}


def _written(record: Record, before: bytes | None) -> set[bytes]:
    """Those of its lines that a diff calls new: one call may change lines on both sides of another's."""
    if record.op == ASSIGN:
        return _lines(record)  # a person gave them; no text changed
    old, found = full_lines(before or b""), set[bytes]()
    for hunk in record.hunks or []:
        was, now = (
            [line.rstrip(b"\r\n") for line in lines]
            for lines in (old[hunk.start : hunk.start + hunk.removed], hunk.lines)
        )
        for _, _, low, high in ranges(was, now):
            found.update(now[low:high])
    return found


def _form(text: bytes | None, converted: bool) -> bytes | None:
    return with_line_feeds(text) if converted and text is not None else text


def _session(owner: Owner) -> str | None:
    return owner.session


def _common(owners: Collection[Owner]) -> Owner:
    """What owners of one session have in common: the session, and the model if it is the same."""
    models = {one.model for one in owners}
    session = next(iter(owners)).session
    return Owner(session, models.pop() if len(models) == 1 else None)


def _until(journal: Journal, end: int) -> Journal:
    cut = Journal()
    # What was recorded after the commit must not explain its lines.
    cut.records, cut.size = [r for r in journal.records if r.offset < end], end
    return cut


def blob(ctx: Context, oid: str | None) -> bytes | None:
    """The bytes of a blob that a tree names, None for no file.

    Raises GitError where it cannot be read, as in a partial clone whose remote does not answer: an answer
    without it would be another one.
    """
    if oid is None:
        return None
    try:
        kind, data = ctx.repo.objects.raw(oid.encode())
    except KeyError:
        return ctx.git.run("cat-file", "blob", oid)  # git says in its own words what is wrong
    return data if kind == b"blob" else None

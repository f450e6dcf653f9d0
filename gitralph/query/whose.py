"""Whose the lines are that a commit brought: as the records of this clone tell, a gap where they do not."""

from __future__ import annotations

import os

from gitralph import isolate
from gitralph.base.dataclass import dataclass, field
from gitralph.base.ids import hashed, is_valid
from gitralph.base.layout import MAIN, Layout
from gitralph.base.light import cached_property
from gitralph.commit.decision import EDITS, SHELL
from gitralph.context import Context
from gitralph.git.texts import with_line_feeds
from gitralph.hook.journal import GAP, TEXT_LIMIT, Journal, Record, full_lines, replay
from gitralph.isolate import Step
from gitralph.journal import consumption, pending, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gitralph.query.changed import Commit, File


@dataclass(frozen=True)
class Owner:
    """Who made a line: a session and the model of the call. ``session`` None: nobody recorded it."""

    session: str | None
    model: str | None = None


@dataclass
class Makers:
    """The sessions of this clone, by the commits they made: read once for many commits.

    ``rows`` are commit, then session, then what its ``.commits`` line says, with ``included`` for one
    whose edits another's commit took along.
    """

    rows: dict[str, dict[str, Mapping[str, object]]] = field(default_factory=dict)
    agents: dict[str, str | None] = field(default_factory=dict)
    models: dict[str, str | None] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    read_before: dict[tuple[str, bytes], Journal] = field(default_factory=dict)

    @classmethod
    def read(cls, ctx: Context) -> Makers:
        """Everything that ``.commits`` files and session records say."""
        found = cls()
        for kept in sessions.records(ctx.layout, finished=True):
            name = str(kept["session"])
            agent, models = kept.get("agent"), kept.get("models")
            found.agents[name] = agent if isinstance(agent, str) else None
            # With two models in a session nobody can say which of them made a call that names none.
            alone = models[0] if isinstance(models, list) and len(models) == 1 else None
            found.models[name] = alone if isinstance(alone, str) else None
            children = kept.get("children")
            for child in children if isinstance(children, list) else []:
                found.parents.setdefault(str(child), name)
            for row in consumption.read(ctx.layout, name).commits:
                if isinstance(row.get("commit"), str):
                    found.rows.setdefault(row["commit"], {}).setdefault(name, row)
        return found

    @cached_property
    def by_hash(self) -> dict[str, str]:
        """The sessions by the names that others read; asked only where somebody's trailer or statement is."""
        return {hashed(name): name for name in self.agents}

    def journal(self, layout: Layout, path: bytes) -> Journal:
        """The records of a path, read once for all its commits."""
        key = layout.own, path
        if key not in self.read_before:
            self.read_before[key] = pending.read_journal(layout, path)
        return self.read_before[key]

    def named(self, said: Iterable[str]) -> list[str]:
        """The sessions of this clone that trailers name, by id or by hash."""
        names = [self.by_hash.get(one, one) for one in said]
        return [name for name in names if is_valid(name) and name in self.agents]

    def is_of(self, session: str, other: str) -> bool:
        """True where ``other`` is ``session`` or a subagent's session of it."""
        seen = set()
        while other not in seen:
            if other == session:
                return True
            seen.add(other)
            other = self.parents.get(other, other)
        return False

    def model_of(self, record: Record) -> str | None:
        """The model behind a record: the call's own, else the only one that its session worked with."""
        if record.model is not None or record.agent_id is not None:
            return record.model  # a subagent may work with another model than its session
        return self.models.get(record.session)

    def of(self, commit: Commit) -> str | None:
        """The session that made a commit: as the records say, else as its message does; None for nobody."""
        rows = self.rows.get(commit.oid, {})
        main = [name for name, row in rows.items() if row.get("included") is not True]
        said = self.named(commit.sessions)
        return next((name for name in said if name in main), None) or next(iter(main or said[-1:]), None)


def _layout(ctx: Context, token: object) -> Layout:
    """The records of the worktree that a commit was made in; this one's where it is gone."""
    if not isinstance(token, str) or "/" in token or token in ("", ".", ".."):
        return ctx.layout
    found = Layout(ctx.layout.top, token)
    return found if token == MAIN or os.path.isdir(found.edits) else ctx.layout


@dataclass
class CommitOwners:
    """Answers for one commit: ``main`` made it; ``exact`` where the records themselves name it."""

    ctx: Context
    makers: Makers
    commit: Commit
    main: str

    def __post_init__(self) -> None:
        rows = self.makers.rows.get(self.commit.oid, {})
        self.exact = self.main in rows
        self.family = set(pending.family(self.ctx.layout, self.main))
        if self.exact:
            others = set(self.makers.named(self.commit.includes)) | set(rows)
        else:  # git rewrote it: several commits may have become one
            others = set(self.makers.named((*self.commit.sessions, *self.commit.includes)))
        self.allowed = self.family | others
        self.layout = _layout(self.ctx, rows.get(self.main, {}).get("worktree"))

    def owners(self, file: File, text: bytes) -> dict[int, Owner]:
        """The owner of each new line of a file, by its number from 1.

        Lines of which nothing is known but what the commit's message says are left out.
        """
        wanted = [n for first, last in file.ranges for n in range(first, last + 1)]
        found = self.makers.journal(self.layout, file.path)
        own = [r for r in found.records if r.op != GAP and r.session in self.family]
        # Without texts the path is all that was recorded: the commit's word for it counts.
        if not any(record.is_exact for record in own):
            models = {self.makers.model_of(record) for record in own}
            return dict.fromkeys(wanted, self._main(models)) if self.exact else {}
        if not self.exact:
            return self._by_content(found.records, file, text, Owner(None), telling=1)
        how, taken = self._taken_how(found), self._taken(found, own)
        models = {self.makers.model_of(record) for record in taken}
        # Guarantee 1 of `commit`: what it tells apart is this session's and nothing else.
        if how == {EDITS}:
            every = self._main(models)
            if len(models) == 1:
                return dict.fromkeys(wanted, every)
            return self._by_content(taken, file, text, every, telling=0)
        ends = [one.upto for one in consumption.landings(found) if one.commit == self.commit.oid]
        known = _until(found, max(ends, default=0))
        made = [r for r in known.records if r.op != GAP and r.session in self.allowed]
        rows = self._by_line(file, known, text)
        # Only this session's own shell command could explain what `--with-shell` took (guarantee 1 again).
        default = Owner(self.main if how and how <= {EDITS, SHELL} else None)
        return {n: self._owner(rows[n - 1], made) or default for n in wanted if n <= len(rows)}

    def _main(self, models: set[str | None]) -> Owner:
        """The committing session, with the model where there is only one."""
        return Owner(self.main, next(iter(models)) if len(models) == 1 else None)

    def _by_content(
        self, records: Sequence[Record], file: File, text: bytes, default: Owner, telling: int
    ) -> dict[int, Owner]:
        """The owners of lines that some records wrote, by what stands in them.

        For a commit that git rewrote its own place among the records is lost; a weave for each place that it
        may have had costs minutes after a rebase of 150 commits of one file.
        """
        wrote: dict[bytes, set[Owner]] = {}
        for record in records:
            if record.op == GAP or record.session not in self.allowed:
                continue
            session = self.main if record.session in self.family else record.session
            owner = Owner(session, self.makers.model_of(record))
            for hunk in record.hunks or []:
                for line in hunk.lines:
                    wrote.setdefault(line.rstrip(b"\r\n"), set()).add(owner)
        from gitralph.query import alike

        lines = [line.rstrip(b"\r\n") for line in full_lines(text)]
        out: dict[int, Owner] = {}
        for first, last in file.ranges:
            piece = lines[first - 1 : last]
            found = alike.follow(piece, lambda line: wrote.get(line, ()), _session, _common, telling)
            out |= {first + at: one or default for at, one in enumerate(found)}
        return out

    def _taken(self, journal: Journal, own: list[Record]) -> list[Record]:
        """Those of this session's records that the commit took something of; all where it does not say."""
        names: set[str] = set()
        upto: dict[object, int] = {}
        for row in journal.consumed:
            session, end, units = row.get("session"), row.get("upto"), row.get("units")
            if row.get("commit") == self.commit.oid and isinstance(units, list):
                # A unit is called by the offset of its record, then a number.
                names |= {str(unit).partition(".")[0] for unit in units}
            elif row.get("commit") == self.commit.oid and type(end) is int:
                since = upto.get(session, 0)
                names |= {str(r.offset) for r in own if r.session == session and since <= r.offset < end}
            if type(end) is int:
                upto[session] = max(end, upto.get(session, 0))
        # A line of an older version may name nothing: then any of them may have been taken.
        return [record for record in own if str(record.offset) in names] or own

    def _taken_how(self, journal: Journal) -> set[object]:
        """How the commit took this path; empty where others' lines or unrecorded ones may be in it."""
        rows = [row for row in journal.consumed if row.get("commit") == self.commit.oid]
        return set() if self.commit.includes else {row.get("how") for row in rows}

    def _owner(self, row: isolate.LineOwner, made: Sequence[Record]) -> Owner | None:
        record = next((r for r in made if str(r.offset) == row.key), None)
        if record is None:
            return None
        session = self.main if record.session in self.family else record.session
        return Owner(session, self.makers.model_of(record))

    def _by_line(self, file: File, known: Journal, text: bytes) -> list[isolate.LineOwner]:
        rows = [(r, b, a) for r, b, a in replay(known, self.layout) if r.is_exact]
        converted = any(b"\r\n" in (one or b"") for _, b, a in rows for one in (b, a)) and b"\r\n" not in text
        steps = [
            Step(str(r.offset), None if r.op == GAP else r.session, _form(b, converted), _form(a, converted))
            for r, b, a in rows
        ]
        count = len(full_lines(text))
        # Beyond it the hook judges a file whole as well: its lines have no records.
        if not steps or len(text) > TEXT_LIMIT:
            return [isolate.LineOwner(None, None, None, committed=False)] * count
        old = blob(self.ctx, file.old)
        chained = isolate.chain(steps, steps[0].before)
        return isolate.owners_by_line(old, chained, text, committed=())


def _form(text: bytes | None, converted: bool) -> bytes | None:
    return with_line_feeds(text) if converted and text is not None else text


def _session(owner: Owner) -> str | None:
    return owner.session


def _common(owners: Collection[Owner]) -> Owner:
    """What owners of one session have in common: the session, and the model where it is one."""
    models = {one.model for one in owners}
    session = next(iter(owners)).session
    return Owner(session, models.pop() if len(models) == 1 else None)


def _until(journal: Journal, end: int) -> Journal:
    cut = Journal()
    # What was recorded after the commit must not explain its lines.
    cut.records, cut.size = [r for r in journal.records if r.offset < end], end
    return cut


def blob(ctx: Context, oid: str | None) -> bytes | None:
    """The bytes of a blob, None where there is none or it is not here."""
    if oid is None:
        return None
    try:
        kind, data = ctx.repo.objects.raw(oid.encode())
    except KeyError:
        return None
    return data if kind == b"blob" else None

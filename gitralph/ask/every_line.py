"""Whose every line of a file is: by the records, the messages, the fleet, and other tools' notes.

The most certain source comes first: what this clone's records say of a commit or of a pending line. Then come
the commit's message, what other members of the fleet published, and notes of other tools. Each answer names
its source.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import NamedTuple

from gitralph.ask import changed, foreign, notes
from gitralph.ask.changed import Commit
from gitralph.ask.whose import CommitOwners, Makers, Owner, blob
from gitralph.base.errors import Fatal
from gitralph.base.quote import shown, text_form
from gitralph.decide import reading
from gitralph.decide.decision import Left
from gitralph.decide.reading import Read
from gitralph.git import blame
from gitralph.git.context import Context
from gitralph.git.typed import as_pathspec
from gitralph.hook.journal import GAP, Record
from gitralph.records import published_name
from gitralph.words import sentences

PENDING, COMMITTED, NOBODY, VOID = "pending", "committed", "nobody", "consumed"
RECORDS, CONTENT, MESSAGE = "records", "content", "message"
FLEET, FLEET_CONTENT, NOTE = "fleet", "fleet-content", "git-ai"
_AGES = ((86400 * 2, 86400, "days"), (7200, 3600, "hours"), (120, 60, "minutes"))


class Finding(NamedTuple):
    """Who stands behind one line or one record. ``commit`` is None for a pending one.

    ``source`` says how that is known. ``records``: this clone's records; ``content``: the same for a commit
    that they do not name, by the line's text. ``message``: the commit's message. ``fleet``: the log of member
    ``writer`` as of ``synced`` (seconds since the epoch); ``fleet-content``: the same by the line's hash.
    ``git-ai``: a note. ``one_of``: the commit's message names these sessions, and nothing tells which of them
    it is; or shell commands of these sessions may have made an uncommitted line of nobody.
    ``boundary``: the history of this clone ends at the commit, so the line may be from before it, and nobody
    knows whose it is.
    """

    state: str
    line: int | None = None
    session: str | None = None
    agent: str | None = None
    agent_id: str | None = None
    tool: str | None = None
    call: str | None = None
    time: str | None = None
    commit: str | None = None
    op: str | None = None
    exact: str | None = None
    model: str | None = None
    source: str | None = None
    writer: str | None = None
    synced: float | None = None
    one_of: tuple[str, ...] = ()
    boundary: bool = False


def refuse_folder(ctx: Context, path: bytes) -> None:
    """Raise Fatal for a folder, also one of another git such as a submodule: it has no lines."""
    name = os.path.join(os.fsencode(ctx.repo.root), path)
    if os.path.isdir(name) and not os.path.islink(name):
        raise Fatal(f"'{shown(path)}' is a folder; name a file in it")


def refuse_absent(ctx: Context, path: bytes) -> None:
    """Raise Fatal for a file that is deleted, or that a sparse checkout leaves out."""
    if not os.path.lexists(os.path.join(os.fsencode(ctx.repo.root), path)):
        raise Fatal(
            f"'{shown(path)}' is not in the working tree", f"git ralph log -- {as_pathspec(ctx, path)}"
        )


def read(ctx: Context, path: bytes) -> Read:
    """Read a path. Raises Fatal where a commit could not look at it either."""
    found = reading.read(ctx, path)
    if isinstance(found, Left):
        raise Fatal(sentences.at(sentences.place(path), sentences.of(ctx.layout, found.why)))
    return found


def of_record(makers: Makers, record: Record, state: str, commit: str | None, line: int | None) -> Finding:
    """The finding of one record."""
    return Finding(
        state=state,
        line=line,
        session=record.session,
        agent=makers.agent(record.session),
        agent_id=record.agent_id,
        tool=record.tool,
        call=record.call,
        time=record.ts or None,
        commit=commit,
        op=record.op,
        exact=record.exact,
        model=makers.model_of(record),
        source=RECORDS,
    )


class Resolver:
    """Answers for the lines of some commits; what it reads for one line serves the others."""

    def __init__(self, ctx: Context, makers: Makers) -> None:
        self._ctx = ctx
        self._makers = makers
        self._fleet: foreign.MemberLogs | None = None
        self._heads: dict[str, Commit] = {}
        self._owners: dict[tuple[str, bytes], dict[int, Owner]] = {}

    def learn(self, lines: Iterable[blame.Line]) -> None:
        """Read the messages of the commits behind some lines, and whose the lines of our commits are."""
        wanted = dict.fromkeys(one.commit for one in lines if one.commit is not None)
        new = [oid for oid in wanted if oid not in self._heads]
        if not new:
            return

        self._heads |= {one.oid: one for one in changed.heads(self._ctx, new)}
        makers = {oid: self._makers.of(self._heads[oid]) for oid in new if oid in self._heads}
        own = [oid for oid, main in makers.items() if main is not None and self._heads[oid].tells_lines]
        for oid, files in changed.files(self._ctx, own):
            judge = CommitOwners(self._ctx, self._makers, self._heads[oid], makers[oid])
            for file in files:
                if any(one.commit == oid and one.path == file.path for one in lines) and file.ranges:
                    text = blob(self._ctx, file.new)
                    self._owners[oid, file.path] = judge.owners(file, text) if text is not None else {}

    def head(self, oid: str) -> Commit | None:
        """The message of a commit; None before :meth:`learn`, or where the commit is gone."""
        return self._heads.get(oid)

    def owner(self, line: blame.Line) -> Owner | None:
        """Whose a committed line is by this clone's records; None where they tell nothing of it."""
        if line.commit is None:
            return None
        return self._owners.get((line.commit, line.path), {}).get(line.number)

    def said(self, oid: str) -> Finding:
        """The finding by a commit's message; its last session comes first."""
        head = self._heads[oid]
        if head.is_cut:
            return Finding(COMMITTED, commit=oid, boundary=True)
        named = self._makers.of_lines(head)
        if len(named) > 1:
            return Finding(COMMITTED, time=head.date, commit=oid, source=MESSAGE, one_of=named)
        session = head.sessions[-1] if head.sessions else next(iter(named), None)
        local = self._makers.named([session] if session else [])
        name = local[0] if local else session
        agent = self._makers.agent(name) or (head.agents[-1] if head.agents else None)
        return Finding(
            COMMITTED, None, name, agent if name else None, time=head.date, commit=oid, source=MESSAGE
        )

    def elsewhere(self, lines: list[tuple[int, blame.Line]]) -> dict[int, Finding]:
        """Findings of the fleet and of other tools, for lines without a record or a local session.

        ``lines`` are pairs of a key and a line with a commit; the answers have these keys.
        """
        if not lines:
            return {}

        if self._fleet is None:
            self._fleet = foreign.MemberLogs(self._ctx)
        out: dict[int, Finding] = {}
        if self._fleet:
            out |= self._by_commit(lines)
            rest = [(key, line) for key, line in lines if key not in out]
            out |= self._by_content(rest)
        open_ = [(key, line) for key, line in lines if key not in out]
        said = notes.read(self._ctx, {line.commit for _, line in open_ if line.commit is not None})
        for key, line in open_:
            rows = said.get(line.commit or "", {})
            found = notes.at(rows, line.path, line.number)
            if found is not None:
                out[key] = self._noted(found, line)
            elif line.path in rows and self._mentioned(line.commit) and not self._is_cut(line.commit):
                # The note describes this file, and says that no agent wrote this line.
                when = self._heads[line.commit or ""].date
                out[key] = Finding(COMMITTED, commit=line.commit, source=NOTE, time=when)
        return out

    def _is_cut(self, commit: str | None) -> bool:
        head = self._heads.get(commit or "")
        return head is not None and head.is_cut

    def _noted(self, found: notes.Said, line: blame.Line) -> Finding:
        """The finding of a note; the session gets the name that the message or a record has for it."""
        head = self._heads[line.commit or ""]
        named = {published_name.hash_of(one): one for one in head.mentioned}
        session = self._makers.by_hash.get(found.session or "") or named.get(found.session or "")
        return Finding(
            COMMITTED,
            session=session,
            agent=found.agent,
            model=found.model,
            commit=line.commit,
            source=NOTE,
            time=head.date,
        )

    def _mentioned(self, commit: str | None) -> tuple[str, ...]:
        """The sessions that a message names anywhere, as a squash's does for all commits in it; as hashes."""
        head = self._heads.get(commit or "")
        return tuple(dict.fromkeys(map(published_name.hash_of, head.mentioned))) if head else ()

    def _by_commit(self, lines: list[tuple[int, blame.Line]]) -> dict[int, Finding]:
        assert self._fleet is not None
        asked = {line.commit: self._mentioned(line.commit) for _, line in lines if line.commit is not None}
        told = self._fleet.of_commits(asked)
        out = {}
        for key, line in lines:
            spans = told.get(line.commit or "", {}).get(text_form(line.path), [])
            claim = foreign.at(spans, line.number)
            if claim is not None:
                out[key] = self._claimed(claim, line, FLEET)
        return out

    def _by_content(self, lines: list[tuple[int, blame.Line]]) -> dict[int, Finding]:
        """Runs of lines of one commit and path, followed by their hashes."""
        assert self._fleet is not None
        out: dict[int, Finding] = {}
        contents: dict[tuple[str, tuple[str, ...]], foreign.Contents] = {}
        groups: dict[tuple[str | None, bytes], list[tuple[int, blame.Line]]] = {}
        for key, line in lines:
            groups.setdefault((line.commit, line.path), []).append((key, line))
        for (oid, path), rows in groups.items():
            sessions = self._mentioned(oid)
            asked = text_form(path), sessions
            if asked not in contents:
                contents[asked] = self._fleet.by_content(asked[0], sessions or None)
            claims = contents[asked].of([line.text for _, line in rows])
            for (key, line), claim in zip(rows, claims, strict=True):
                if claim is not None:
                    out[key] = self._claimed(claim, line, FLEET_CONTENT)
        return out

    def _claimed(self, claim: foreign.Statement, line: blame.Line, source: str) -> Finding:
        head = self._heads[line.commit or ""]
        local = self._makers.by_hash.get(claim.session or "")
        return Finding(
            COMMITTED,
            None,
            local or claim.session,
            claim.agent,
            time=head.date,
            commit=line.commit,
            model=claim.model,
            source=source,
            writer=claim.writer,
            synced=claim.synced,
        )


def every(ctx: Context, read: Read) -> list[Finding]:
    """Whose each line of a path is, in order."""
    makers = Makers(ctx)
    resolver = Resolver(ctx, makers)
    resolver.learn(read.lines)
    by_key = {str(r.offset): r for r in read.records() if r.op != GAP}
    out: list[Finding] = []
    open_: list[tuple[int, blame.Line]] = []
    for at, (key, line) in enumerate(zip(read.keys, read.lines, strict=True)):
        one = _local(makers, resolver, by_key.get(key or ""), line)
        if one is None and line.commit is not None:
            open_.append((at, line))
        found = one or _unknown(resolver, line)
        offer = read.offered.get(at + 1) if found.state == NOBODY else None
        may = offer.may if offer is not None else found.one_of
        out.append(found._replace(line=at + 1, one_of=may))
    for at, other in resolver.elsewhere(open_).items():
        out[at] = other._replace(line=at + 1)
    return out


def _local(makers: Makers, resolver: Resolver, record: Record | None, line: blame.Line) -> Finding | None:
    """The finding of this clone's records; None where they tell nothing."""
    owner = resolver.owner(line)
    if owner is not None and owner.session is not None:
        if record is not None and makers.is_of(owner.session, record.session):
            return of_record(makers, record, COMMITTED, line.commit, None)
        head = resolver.head(line.commit or "")
        return Finding(
            COMMITTED,
            None,
            owner.session,
            makers.agent(owner.session),
            commit=line.commit,
            time=head.date if head else None,
            model=owner.model,
            source=RECORDS,
        )
    # A move writes no line: what came with it and another commit holds is that commit's.
    if record is not None and not (line.commit and record.op == "rename-to"):
        state = COMMITTED if line.commit else PENDING
        one = of_record(makers, record, state, line.commit, None)
        return one._replace(source=CONTENT if line.commit else RECORDS)
    if owner is not None:  # the records know this commit, and nobody recorded this line of it
        head = resolver.head(line.commit or "")
        return Finding(COMMITTED, time=head.date if head else None, commit=line.commit, source=RECORDS)
    return None


def _unknown(resolver: Resolver, line: blame.Line) -> Finding:
    if line.commit is None:
        return Finding(NOBODY)
    found = resolver.said(line.commit)
    return found if found.session is not None or found.one_of else found._replace(source=None)


def age(when: float | None) -> str:
    """How long ago something was."""
    passed = time.time() - when if when else -1.0
    if passed < 0:
        return "at an unknown time"
    for least, unit, word in _AGES:
        if passed >= least:
            return f"{int(passed // unit)} {word} ago"
    return "just now"

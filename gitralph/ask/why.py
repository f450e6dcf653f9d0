"""``git ralph why``: the recorded evidence for a path or a line, committed or pending."""

import os

from gitralph.ask import every_line
from gitralph.ask.every_line import COMMITTED, NOBODY, PENDING, VOID, Finding
from gitralph.ask.whose import Makers
from gitralph.base.errors import UsageError
from gitralph.base.quote import shown
from gitralph.decide.reading import Read
from gitralph.git import history, refs
from gitralph.git.context import Context
from gitralph.git.trees import GITLINK, Entry
from gitralph.git.typed import as_name
from gitralph.hook.journal import GAP, Record
from gitralph.records import commit_log


def records(ctx: Context, path: bytes) -> list[Finding]:
    """Every record of a path in file order, with what became of it; then commits known in another way.

    HEAD and the file tell what became of a record, as for ``commit``. A commit that git rewrote counts by the
    lines it holds.
    """
    held = history.entry_at(ctx.repo, refs.read_head(ctx.repo).oid, path)
    other_git = os.path.lexists(os.path.join(os.fsencode(ctx.repo.root), path, b".git"))
    if other_git or (isinstance(held, Entry) and held.mode == GITLINK):
        every_line.refuse_folder(ctx, path)
    read, makers = every_line.read(ctx, path), Makers(ctx)
    found = [
        every_line.of_record(makers, r, *_fate(read, r), None)
        for r in read.state.journal.records
        if r.op != GAP
    ]
    found += [
        Finding(NOBODY, time=r.ts, tool=r.tool, call=r.call, op=r.op, exact=r.exact, one_of=r.may)
        for r in {record.offset: record for record in read.offered.values()}.values()
    ]
    told = {(one.commit, one.session, one.one_of) for one in found}
    for one in every_line.every(ctx, read):
        who = one.commit, one.session, one.one_of
        known = one.session or one.agent or one.one_of or one.boundary
        if one.state == COMMITTED and known and who not in told:
            told.add(who)
            found.append(one._replace(line=None))
    return found


def _fate(read: Read, record: Record) -> tuple[str, str | None]:
    """What became of a record, and the commit that holds it."""
    key, journal = str(record.offset), read.state.journal
    noted = commit_log.commit_of(journal, record)
    if key in read.pending:
        return PENDING, None
    lines = [commit for commit, made in zip(read.commits, read.keys, strict=True) if made == key]
    holding = [commit for commit in lines if commit is not None]
    if holding:
        # git may have rewritten the commit since. Then the commit that holds most of its lines is meant.
        return COMMITTED, noted if noted in holding else max(holding, key=holding.count)
    return (COMMITTED, noted) if noted else (VOID, None)


def authors(ctx: Context, path: bytes) -> list[tuple[str | None, str | None]]:
    """For each line of the file its session and record; None, None for a line of nobody.

    Raises Fatal where ``commit`` could not look at the file either.
    """
    read = every_line.read(ctx, path)
    made = {str(r.offset): r.session for r in read.records() if r.op != GAP}
    return [(made[key], key) if key in made else (None, None) for key in read.keys]


def waiting(ctx: Context, path: bytes) -> tuple[str, ...]:
    """The sessions of which something in a path is in no commit. Raises Fatal as :func:`authors` does."""
    read = every_line.read(ctx, path)
    found = {r.session for r in read.records() if str(r.offset) in read.pending}
    return tuple(sorted(found))


def line_of(ctx: Context, path: bytes, line: int) -> Finding:
    """Who wrote line ``line`` of the file as it stands.

    Raises UsageError for a line that it does not have, and Fatal for what is no file there.
    """
    every_line.refuse_folder(ctx, path)
    every_line.refuse_absent(ctx, path)
    read = every_line.read(ctx, path)
    count = len(read.keys)
    if not 0 < line <= count:
        raise UsageError(
            f"'{shown(path)}' has {count} line{'s'[: count != 1]}; there is no line {line}",
            f"git ralph blame -- {as_name(ctx, path)}",
        )
    return every_line.every(ctx, read)[line - 1]

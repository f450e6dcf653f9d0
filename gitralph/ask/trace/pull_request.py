"""A range of commits as a summary for a pull request, in Markdown: who wrote what, in how many commits.

Whose a line is, the records of this clone tell, else a note, else the commit's trailers. So a fresh clone in
CI, which has no records, says the same. Names come from strangers, so nothing in them may act as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gitralph.ask import changed, notes
from gitralph.ask.changed import Commit, File
from gitralph.ask.whose import CommitOwners, Makers, blob
from gitralph.base.quote import is_control, is_hidden, text_form
from gitralph.git import history
from gitralph.git.context import Context
from gitralph.hook import names
from gitralph.records import published_name

_FILES = 20
"""The most files listed for a session. Of the rest only the number is told."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -/")
_LONGEST = 200


@dataclass
class _Share:
    """What one author has in the range."""

    agents: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    commits: dict[str, None] = field(default_factory=dict)
    files: dict[bytes, None] = field(default_factory=dict)
    added: int = 0
    removed: int = 0


# An author: one session; or several, of which it is one and nobody can tell which; or none, which means
# people and what nobody recorded.
_Who = tuple[str, ...]


def markdown(ctx: Context, commits: Sequence[str], typed: str | None) -> str:
    """The summary of some commits; merges count for nothing."""
    shares = _Summing(ctx, commits).shares
    sessions = {who: share for who, share in shares.items() if who}
    rows = ["### Who wrote this", ""]
    named = f" in {escaped(typed)}" if typed is not None else ""
    if not sessions:
        rows.append(f"No session is known of {_count(len(commits), 'commit')}{named}.")
    else:
        called = _called(ctx, shares)
        rows += ["| session | agent | model | commits | lines | files |", "|---|---|---|---:|---:|---|"]
        rows += [_row(who, share, called) for who, share in sessions.items()]
    rest = shares.get(())
    if rest is not None and (rest.added or rest.removed):
        many = _count(len(rest.commits), "commit")
        rows += ["", f"Written by people, or recorded by nobody: {_lines(rest)} in {many}."]
    if history.is_shallow(ctx.git):
        rows += ["", "**This clone is shallow: lines of its first commits and before are not counted.**"]
    return "\n".join(rows) + "\n"


def _row(who: _Who, share: _Share, called: dict[str, str]) -> str:
    name = ("one of " if len(who) > 1 else "") + ", ".join(escaped(called[one]) for one in who)
    paths = [f"<code>{escaped(text_form(path))}</code>" for path in list(share.files)[:_FILES]]
    if len(share.files) > _FILES:
        paths.append(f"and {len(share.files) - _FILES} more")
    cells = [name, *(", ".join(map(escaped, each)) or "not known" for each in (share.agents, share.models))]
    return "| " + " | ".join([*cells, str(len(share.commits)), _lines(share), ", ".join(paths)]) + " |"


def _lines(share: _Share) -> str:
    return f"+{share.added} &minus;{share.removed}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s'[: number != 1]}"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: nothing in it is markup, a link or the name of a user."""
    short = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return "".join(
        char
        if char in _PLAIN
        else "&#xFFFD;"
        if is_control(char) or is_hidden(char) or 0xD800 <= ord(char) < 0xE000
        else f"&#{ord(char)};"
        for char in short
    )


def _called(ctx: Context, shares: dict[_Who, _Share]) -> dict[str, str]:
    """What people call the sessions. One that has no name in this clone gets a number, like ``claude-1``."""
    found: dict[str, str] = {}
    every = {session for who in shares for session in who}  # an id is read like a name
    for who, share in shares.items():
        for session in who:
            called = ctx.called(session)
            if session in found:
                continue
            if called == session:
                taken = {*found.values(), *names.everyone(ctx.layout), *every}
                stem = names.stem(next(iter(share.agents), None) if len(who) == 1 else None)
                called = next(n for n in (f"{stem}-{at}" for at in range(1, 10**6)) if n not in taken)
            found[session] = called
    return found


class _Summing:
    def __init__(self, ctx: Context, commits: Sequence[str]) -> None:
        self.ctx, self.makers = ctx, Makers(ctx)
        self.shares: dict[_Who, _Share] = {}
        heads = {one.oid: one for one in changed.heads(ctx, commits) if len(one.parents) < 2}
        self.notes = notes.read(ctx, heads)
        for oid, found in changed.files(ctx, list(heads)):
            self._add(heads[oid], () if heads[oid].is_cut else found)

    def _add(self, commit: Commit, found: Sequence[File]) -> None:
        judge = CommitOwners(self.ctx, self.makers, commit, self.makers.of(commit))
        main = self.makers.of_all(commit) if judge.exact else self.makers.of_lines(commit)
        if main:
            self._share(main, commit)
        for file in found:
            for who, agent, model in self._lines(judge, commit, file, main):
                share = self._share(who, commit)
                share.added += 1
                share.files[file.path] = None
                share.agents |= dict.fromkeys(filter(None, [agent]))
                share.models |= dict.fromkeys(filter(None, [model]))
            if file.removed:
                share = self._share(main, commit)
                share.removed += file.removed
                share.files[file.path] = None

    def _share(self, who: _Who, commit: Commit) -> _Share:
        share = self.shares.setdefault(who, _Share())
        share.commits[commit.oid] = None
        if len(who) == 1:
            # A message may name a session and no agent, as for one that only a launcher knows.
            said = commit.agents[-1:] if commit.sessions[-1:] == who else ()
            known = self.makers.agent(who[0])
            share.agents |= dict.fromkeys([known] if known is not None else said)
        return share

    def _lines(
        self, judge: CommitOwners, commit: Commit, file: File, main: _Who
    ) -> Iterator[tuple[_Who, str | None, str | None]]:
        """Who wrote each new line, with agent and model as far as they are known."""
        text = blob(self.ctx, file.new) if file.ranges else None
        known = judge.owners(file, text) if text is not None else {}
        rows = self.notes.get(commit.oid, {})
        is_told = judge.main is not None and (judge.exact or bool(known))
        for number in (n for first, last in file.ranges for n in range(first, last + 1)):
            owner = known.get(number)
            said = notes.at(rows, file.path, number)
            if owner is not None and owner.session is not None:
                yield (owner.session,), None, owner.model
            elif said is not None and not is_told:
                yield self._noted(commit, said), said.agent, said.model
            elif owner is not None or file.path in rows:
                yield (), None, None  # the file is known, and no session wrote this line
            else:
                yield self.makers.of_lines(commit), None, None

    def _noted(self, commit: Commit, said: notes.Said) -> _Who:
        ids = {published_name.hash_of(one): one for one in commit.mentioned}
        told = said.session or ""
        return (self.makers.by_hash.get(told) or ids.get(told) or told or f"{said.agent}",)

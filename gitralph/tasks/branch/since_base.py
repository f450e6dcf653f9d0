"""The commits since a branch left its base: whose each is, and what it changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gitralph.ask import changed
from gitralph.ask.changed import Commit
from gitralph.ask.whose import CommitOwners, Makers, blob
from gitralph.base import nul
from gitralph.base.errors import Fatal, Refused
from gitralph.git import listing, refs, worktrees
from gitralph.git.context import Context
from gitralph.git.listing import Pair
from gitralph.records import path_records

_STARTS = "git branch -a  # what there is to begin at, for --onto"


@dataclass(frozen=True)
class History:
    """The commits after ``base``, oldest first.

    ``line`` are those of the branch itself, each of which begins where the one before it ended. Others came
    by a merge.
    """

    ctx: Context
    makers: Makers
    base: str
    commits: Mapping[str, Commit]
    line: tuple[str, ...]

    def sessions(self, oid: str) -> tuple[str, ...]:
        """Whose a commit is: one session's, nobody's, or for a squash all that its message names."""
        return self.makers.of_all(self.commits[oid])

    def of(self, family: Collection[str]) -> list[str]:
        """The commits in which a session and its subagents had a hand; merges are none of them."""
        return [
            oid
            for oid, head in self.commits.items()
            if len(head.parents) == 1 and not set(family).isdisjoint(self.sessions(oid))
        ]

    @cached_property
    def changes(self) -> Mapping[str, Mapping[bytes, Pair]]:
        """What each commit changes, against its first parent."""
        asked = "".join(f"{oid} {head.parents[0]}\n" for oid, head in self.commits.items() if head.parents)
        words = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
        said = self.ctx.git.run(*self.ctx.config.without_programs(), *words, stdin=asked.encode())
        found: dict[str, list[bytes]] = {}
        fields, oid = iter(nul.rows(said)), ""
        for field in fields:
            if field.startswith(b":"):
                found[oid] += [field, next(fields)]
            else:  # the commit's own id
                oid = field.decode()
                found[oid] = []
        return {oid: listing.differences(nul.joined(rows)) for oid, rows in found.items()}

    def touching(self, path: bytes) -> list[str]:
        """The commits of the branch itself that change a path."""
        return [oid for oid in self.line if path in self.changes.get(oid, ())]


def read(ctx: Context, onto: str | None) -> History:
    """The commits of HEAD since it left ``onto``.

    Raises Refused without ``onto`` and a default for it, or without a common commit. Raises Fatal for what
    names no commit.
    """
    head = refs.read_head(ctx.repo).oid
    if head is None:
        raise Fatal("there is no commit to make a branch of")
    target = _onto(ctx, onto)
    done = ctx.git.try_run("merge-base", target, head)
    base = done.stdout.decode().strip().split("\n")[0]
    if not base:
        raise Refused(f"HEAD and '{onto or target[:10]}' have no commit in common", _STARTS)
    every = _listed(ctx, base, head)
    line = tuple(_listed(ctx, base, head, "--first-parent"))
    commits = {one.oid: one for one in changed.heads(ctx, every)}
    return History(ctx, Makers(ctx), base, commits, line)


def _listed(ctx: Context, base: str, head: str, *words: str) -> list[str]:
    said = ctx.git.run("rev-list", "--topo-order", "--reverse", *words, head, f"^{base}", "--")
    return said.decode().split()


def _onto(ctx: Context, typed: str | None) -> str:
    names: Iterable[str] = [typed] if typed is not None else ("@{upstream}", "refs/remotes/origin/HEAD")
    for name in names:
        if (found := worktrees.value(ctx.git, name)) is not None:
            return found
    if typed is not None:
        raise Fatal(f"'{typed}' is no commit", "git log")
    raise Refused(
        "this branch has no upstream, and there is no 'origin/HEAD': say what to begin at",
        _STARTS,
    )


def others_in(ctx: Context, commits: Sequence[str], session: str) -> dict[str, tuple[str, ...]]:
    """The commits into which git or a person folded lines of other sessions since, each with these.

    A commit that the log names is as its session made it.
    """
    makers, family = Makers(ctx), set(path_records.family(ctx.layout, session))
    heads = {one.oid: one for one in changed.heads(ctx, commits) if len(one.parents) < 2}
    found: dict[str, tuple[str, ...]] = {}
    for oid, files in changed.files(ctx, list(heads)):
        judge = CommitOwners(ctx, makers, heads[oid], makers.of(heads[oid]))
        texts = (
            ()
            if judge.exact or heads[oid].is_cut
            else ((one, blob(ctx, one.new)) for one in files if one.ranges)
        )
        told = (judge.owners(file, text).values() for file, text in texts if text is not None)
        whose = {owner.session for owners in told for owner in owners if owner.session is not None}
        if whose - family:
            found[oid] = tuple(sorted(whose - family))
    return found

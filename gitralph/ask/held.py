"""Which branches hold the commits of one session, as far as they still stand; for people who look."""

from __future__ import annotations

from typing import NamedTuple

from gitralph.base.errors import Fatal
from gitralph.git import refs
from gitralph.git.context import Context
from gitralph.records import branches


class HeldBranch(NamedTuple):
    """A branch made of a session's commits, how many, and whether somebody moved it since."""

    name: str
    session: str
    commits: int
    is_moved: bool


def held(ctx: Context) -> list[HeldBranch]:
    """The branches that are still there, by name."""
    found = []
    for ref, one in sorted(branches.read(ctx.layout).items()):
        try:
            now = refs.value(ctx.repo, ref)
        except Fatal:  # a symbolic one, by now
            continue
        if now is not None:
            name = ref.removeprefix("refs/heads/")
            found.append(HeldBranch(name, one.session, len(one.commits), now != one.tip))
    return found


def sentence(ctx: Context, one: HeldBranch) -> str:
    """What a branch holds, in a line."""
    moved = ", moved since" if one.is_moved else ""
    count = f"{one.commits} commit{'s'[: one.commits != 1]}"
    return f"'{one.name}' holds {count} of {ctx.called(one.session)}{moved}"

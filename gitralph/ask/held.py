"""Which branches hold the commits of one session, as far as they still stand; for people who look."""

from __future__ import annotations

from typing import NamedTuple

from gitralph.ask.whose import Makers
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
    needed: int = 0
    """How many of them are others', which the session's need."""


def held(ctx: Context) -> list[HeldBranch]:
    """The branches that are still there, by name."""
    found = []
    makers = Makers(ctx)
    for ref, one in sorted(branches.read(ctx.layout).items()):
        try:
            now = refs.value(ctx.repo, ref)
        except Fatal:  # a symbolic one, by now
            continue
        if now is not None:
            name = ref.removeprefix("refs/heads/")
            needed = sum(_is_others(makers, one.session, oid) for oid, _ in one.commits)
            found.append(HeldBranch(name, one.session, len(one.commits), now != one.tip, needed))
    return found


def _is_others(makers: Makers, session: str, oid: str) -> bool:
    main = [name for name, included in makers.made(oid).items() if not included]
    return bool(main) and not any(makers.is_of(session, name) for name in main)


def sentence(ctx: Context, one: HeldBranch) -> str:
    """What a branch holds, in a line."""
    moved = ", moved since" if one.is_moved else ""
    own = one.commits - one.needed
    count = f"{own} commit{'s'[: own != 1]}"
    more = f" and {one.needed} of others" if one.needed else ""
    return f"'{one.name}' holds {count} of {ctx.called(one.session)}{more}{moved}"

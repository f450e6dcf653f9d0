"""What goes on in a repository now: sessions at work, what is uncommitted, new commits, branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitralph.ask import status
from gitralph.ask.status import SessionRows
from gitralph.ask.whose import Makers
from gitralph.base import nul
from gitralph.base.errors import Fatal
from gitralph.base.ids import is_valid
from gitralph.decide import pending_paths
from gitralph.git import refs
from gitralph.git.context import Context
from gitralph.records import branches, manifests, published_name, sessions

# --- which branches hold a session's commits, as far as they still stand ---


class HeldBranch(NamedTuple):
    """A branch made of a session's commits, how many, and whether somebody moved it since.

    ``needed`` counts commits of others that the session's commits need.
    """

    name: str
    session: str
    commits: int
    is_moved: bool
    needed: int = 0


def held_branches(ctx: Context) -> list[HeldBranch]:
    """The branches that still exist, by name."""
    found, makers = [], Makers(ctx)
    for ref, one in sorted(branches.read(ctx.layout).items()):
        try:
            now = refs.value(ctx.repo, ref)
        except Fatal:  # somebody has made it a symbolic ref
            continue
        if now is not None:
            name = ref.removeprefix("refs/heads/")
            needed = sum(_is_others(makers, one.session, oid) for oid, _ in one.commits)
            found.append(HeldBranch(name, one.session, len(one.commits), now != one.tip, needed))
    return found


def _is_others(makers: Makers, session: str, oid: str) -> bool:
    main = [name for name, included in makers.made(oid).items() if not included]
    return bool(main) and not any(makers.is_of(session, name) for name in main)


def held_sentence(ctx: Context, one: HeldBranch) -> str:
    """One line that says what a branch holds."""
    moved = ", moved since" if one.is_moved else ""
    own = one.commits - one.needed
    count = f"{own} commit{'s'[: own != 1]}"
    more = f" and {one.needed} of others" if one.needed else ""
    return f"'{one.name}' holds {count} of {ctx.called(one.session)}{more}{moved}"


# --- sessions and commits ---


# No screen has room for more below what is uncommitted.
_COMMITS = 20


class AtWork(NamedTuple):
    """A session that is live, or has something uncommitted; ``path`` is what it edited last."""

    name: str
    state: str
    last: float
    path: bytes | None
    pending: int


class RecentCommit(NamedTuple):
    """A commit of HEAD's history: abbreviated, its time, the session that its trailer names, its author."""

    commit: str
    time: float
    session: str | None
    author: str
    subject: str


class Overview(NamedTuple):
    """The whole view at one moment."""

    branch: str
    at_work: tuple[AtWork, ...]
    groups: tuple[SessionRows, ...]
    landed: tuple[RecentCommit, ...]
    names: dict[str, str]


def look(ctx: Context, session: str | None, typed: Sequence[str] = ()) -> Overview:
    """Look once. Writes nothing."""
    everybody = pending_paths.everyone(ctx, counting=True)
    groups = status.groups(ctx, session, status.owners(ctx, session, typed, everybody, counting=True))
    counts = {name: len(pending_paths.counted(works)) for name, works in everybody.items()}
    head = refs.read_head(ctx.repo)
    landed = _landed(ctx) if head.oid else ()
    seen = {*everybody, *(one.session for one in landed if one.session)}
    seen |= {name for group in groups for row in group.rows for name in row.others}
    seen |= {window.session for group in groups for row in group.rows for window in row.likely}
    return Overview(
        head.name.removeprefix("refs/heads/"),
        tuple(_at_work(ctx, counts)),
        tuple(groups),
        landed,
        {name: ctx.called(name) for name in seen},
    )


def _at_work(ctx: Context, counts: dict[str, int]) -> list[AtWork]:
    out = []
    for record in sessions.records(ctx.layout):
        name = str(record["session"])
        state = sessions.state_of(ctx.layout, name)
        if state == "live" or counts.get(name):
            layout = ctx.layout
            out.append(
                AtWork(
                    ctx.called(name),
                    state,
                    sessions.last_event(layout, name),
                    manifests.last_path(layout, name),
                    counts.get(name, 0),
                )
            )
    return sorted(out, key=lambda one: (-one.last, status.by_name(one.name)))


def _landed(ctx: Context) -> tuple[RecentCommit, ...]:
    said = ctx.git.run(
        "log",
        f"-{_COMMITS}",
        "-z",
        "--no-show-signature",
        "--encoding=UTF-8",
        "--format=%h%x1f%ct%x1f%(trailers:key=Ralph-Session,valueonly,separator=%x2C)%x1f%an%x1f%s",
    )
    out = []
    for row in nul.rows(said):
        # The subject comes last and may contain the separator.
        parts = row.decode("utf-8", "replace").split("\x1f", 4)
        if len(parts) == 5:
            session = parts[2].partition(",")[0].strip()
            when = float(parts[1]) if parts[1].isdigit() else 0.0
            known = published_name.local(ctx.layout, session) if is_valid(session) else None
            out.append(RecentCommit(parts[0], when, known, parts[3], parts[4]))
    return tuple(out)

"""``git ralph branch``: a session's commits, replayed on the base of the branch, as a branch of their own.

No worktree, index or HEAD is touched: objects are written, and a ref moves by compare-and-swap. Author,
committer and dates stay. So the same commits replayed again are the same objects, and a branch made again
after more commits goes forward.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass

from gitralph.base import ids, locks, nul
from gitralph.base.errors import Busy, Refused, UsageError
from gitralph.git import commits, message, refs, worktrees
from gitralph.git.context import Context
from gitralph.git.history import tree_of
from gitralph.git.refs import Head, LostRaceError, Move
from gitralph.git.trees import BlockedError, Entry, TreeBuilder, TreeReader, write_trees
from gitralph.records import branches, path_records
from gitralph.records.branches import SessionBranch
from gitralph.tasks.branch import since_base
from gitralph.tasks.branch.replay import Changes, Need, Replay, Text, replay
from gitralph.tasks.branch.since_base import History

# --- several replayed commits as one: the last tree, a message of the subjects, the trailers of all ---


_FORM = "%x01%an <%ae>%x00%s%x00%(trailers:only,unfold)%x00"


def as_one(
    ctx: Context, base: str, pairs: tuple[tuple[str, str], ...], own: Container[str]
) -> tuple[tuple[str, str], ...]:
    """Make one commit of all, whose author is the last one's. Returns each commit with that one.

    The subject is that of the first commit in ``own``: the others are only needed.
    """
    if len(pairs) < 2:
        return pairs
    asked = "".join(f"{old}\n" for old, _ in pairs).encode()
    words = ("log", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--no-color", f"--format={_FORM}")
    said = ctx.git.run("-c", "trailer.separators=:", *words, stdin=asked)
    rows = [nul.rows(block)[:3] for block in said.split(b"\x01")[1:]]
    authors, subjects = (list(dict.fromkeys(row[at] for row in rows)) for at in (0, 1))
    trailers = dict.fromkeys(line for row in rows for line in row[2].splitlines() if line.strip())
    others = [b"Co-authored-by: " + one for one in authors if one != rows[-1][0]]
    trailers = {**dict.fromkeys(one for one in others if one not in trailers), **trailers}
    # What a person's commit brought must not count as a session's where only the message tells.
    if not all(b"Ralph-Session:" in row[2] for row in rows):
        trailers[b"Ralph-Includes: " + ids.UNRECORDED.encode()] = None
    body = b"".join(b"* " + one + b"\n" for one in subjects) if len(subjects) > 1 else b""
    first = next((row[1] for row, (old, _) in zip(rows, pairs, strict=True) if old in own), subjects[0])
    text = b"\n\n".join(part.rstrip(b"\n") for part in (first, body, b"\n".join(trailers)) if part)
    last = pairs[-1][1]
    tree = tree_of(ctx.repo, last)
    one = commits.replayed(
        ctx.git, ctx.repo.objects, ctx.config, last, tree, base, None, message.join([text])
    )
    return tuple((old, one) for old, _ in pairs)


# --- the branch ---


MADE, NOTHING = "made", "nothing"


@dataclass(frozen=True)
class BranchWish:
    """What to make: a branch ``name`` of a session's commits since HEAD left ``onto``."""

    name: str
    session: str
    onto: str | None = None
    squash: bool = False
    force: bool = False
    with_needed: bool = False


@dataclass(frozen=True)
class BranchMade:
    """What came of it. ``commits``: each with what it became. ``merges``: how many were not replayed.

    ``forward``: the branch has what it had, and more.
    """

    status: str
    ref: str
    session: str
    commits: tuple[tuple[str, str], ...] = ()
    before: str | None = None
    forward: bool = True
    merges: int = 0
    needed: int = 0
    """How many of the commits are of others, and came along since the session's commits need them."""


class NeedsError(Refused):
    """Commits of the session need commits of others."""

    def __init__(self, message: str, needs: tuple[Need, ...], *hints: str) -> None:
        super().__init__(message, *hints)
        self.needs = needs


def ref_of(ctx: Context, name: str) -> str:
    """The full name of a branch to make. Raises UsageError for what can be none."""
    done = ctx.git.try_run("check-ref-format", "--branch", name)
    if done.returncode or done.stdout.rstrip(b"\n") != name.encode("utf-8", "surrogateescape"):
        raise UsageError(f"'{name}' is no name for a branch")
    return f"refs/heads/{name}"


def is_named(ctx: Context, session: str) -> bool:
    """True where a trailer in HEAD's history names a session."""
    words = ("log", "-1", "--format=%H", "--no-show-signature", f"--grep=^[ *-]*Ralph-Session: {session}$")
    return bool(ctx.git.try_run(*words, "HEAD", "--").stdout.strip())


def make(ctx: Context, wish: BranchWish) -> BranchMade:
    """Make the branch or move it on. Raises NeedsError, Refused, Busy or Fatal with nothing moved."""
    ref = ref_of(ctx, wish.name)
    again = _again(ctx, wish)
    _refuse_checked_out(ctx, ref)
    _refuse_nested(ctx, ref)
    found = since_base.read(ctx, wish.onto)
    old = refs.value(ctx.repo, ref)
    left = branches.read(ctx.layout).get(ref)
    base = TreeReader(ctx.repo.objects, tree_of(ctx.repo, found.base))
    family = set(path_records.family(ctx.layout, wish.session))
    planned = _planned(found, base, family, wish, again)
    merges = sum(len(one.parents) > 1 for one in found.commits.values())
    if not planned.changes:
        return BranchMade(NOTHING, ref, wish.session, merges=merges)
    pairs = _written(ctx, found, base, planned, left)
    if wish.squash:
        pairs = as_one(ctx, found.base, pairs, found.of(family))
    tip = pairs[-1][1]
    if old == tip:
        return BranchMade(NOTHING, ref, wish.session, pairs, merges=merges)
    if not wish.force:
        _refuse_moved(ctx, wish, old, left, tip, again)
    with branches.noting(ctx.layout, SessionBranch(ref, wish.session, tip, pairs)):
        _move(ctx, ref, old, tip, wish)
    needed = len({one for one, _ in pairs}.difference(found.of(family)))
    return BranchMade(
        status=MADE,
        ref=ref,
        session=wish.session,
        commits=pairs,
        before=old,
        forward=old is None or refs.contains(ctx.repo, Head(None, tip), old),
        merges=merges,
        needed=needed,
    )


def _again(ctx: Context, wish: BranchWish) -> str:
    """The command to type again, without ``--force`` and ``--with-needed``, which a hint may add."""
    words = ["git", "ralph", "branch", wish.name, "--session", ctx.called(wish.session)]
    words += ["--onto", wish.onto] if wish.onto is not None else []
    return shlex.join([*words, *(["--squash"] if wish.squash else [])])


def _refuse_checked_out(ctx: Context, ref: str) -> None:
    """As ``git branch -f`` refuses: whoever works there would lose the branch under his feet."""
    rows = worktrees.listing(ctx.git)
    place, what = next((row.path for row in rows if row.branch == ref), None), "checked out"
    if place is None and (busy := worktrees.busy_with(ctx.repo.common_dir, ref)) is not None:
        place, what = busy[0] or rows[0].path, f"being {busy[1]}"
    if place is not None:
        raise Refused(
            f"'{ref.removeprefix('refs/heads/')}' is {what} at '{place}', so it cannot be moved",
            "git worktree list",
        )


def _refuse_nested(ctx: Context, ref: str) -> None:
    """To git a branch is a file or a folder of branches, never both."""
    name = ref.removeprefix("refs/heads/")
    parts = name.split("/")
    folders = ("/".join(parts[:n]) for n in range(1, len(parts)))
    above = next((one for one in folders if refs.value(ctx.repo, f"refs/heads/{one}") is not None), None)
    words = ("for-each-ref", "--count=1", "--format=%(refname:lstrip=2)", f"{ref}/")
    below = ctx.git.line(*words) if above is None else None
    if other := above or below:
        raise Refused(
            f"there is a branch '{other}', so none can be called '{name}'; choose another name",
            "git branch -a  # the names that are taken",
        )


def _planned(found: History, base: TreeReader, family: set[str], wish: BranchWish, again: str) -> Replay:
    """What to replay; commits that are needed come along where that is wished. Raises NeedsError."""
    wanted = found.of(family)
    while True:
        planned = replay(found, base, wanted)
        needs = planned.needs if wish.with_needed else (*_mixed(found, wanted, family), *planned.needs)
        if not needs:
            return planned
        more = dict.fromkeys(one.commit for one in needs if len(found.commits[one.commit].parents) == 1)
        if not wish.with_needed or more.keys() <= set(wanted) or _merges(found, needs):
            raise _refusal(found, wish, needs, again)
        wanted = [*wanted, *(oid for oid in more if oid not in wanted)]


def _mixed(found: History, wanted: Collection[str], family: Collection[str]) -> list[Need]:
    """Squashed commits that hold the lines of others as well."""
    return [
        Need(oid, session, next(iter(found.changes.get(oid, ())), b""))
        for oid in wanted
        for session in found.sessions(oid)
        if session not in family
    ]


def _merges(found: History, needs: Collection[Need]) -> bool:
    return any(len(found.commits[one.commit].parents) > 1 for one in needs)


def _refusal(found: History, wish: BranchWish, needs: tuple[Need, ...], again: str) -> NeedsError:
    ctx = found.ctx
    first = needs[0]
    what, hints = f"commit {first.commit[:7]}", [f"git log -m -p -1 {first.commit[:7]}  # what it needs"]
    if len(found.commits[first.commit].parents) > 1:
        what = f"the merge {first.commit[:7]}"
    elif not wish.with_needed and not ctx.is_agent:
        # A person decides whether the branch of an agent takes commits of others.
        hints = [f"{again} --with-needed"]
    count = len({one.commit for one in needs})
    more = f" and {count - 1} more" if count > 1 else ""
    whose = f" of session '{ctx.called(first.session)}'" if first.session is not None else ""
    message = f"session '{ctx.called(wish.session)}' needs {what}{whose}{more}"
    return NeedsError(message, needs, *hints)


# --- objects ---


def _written(
    ctx: Context, found: History, base: TreeReader, planned: Replay, left: SessionBranch | None
) -> tuple[tuple[str, str], ...]:
    """The replayed commits, each with what it became."""
    reader, parent = base, found.base
    known = dict(left.commits) if left is not None else {}
    out = []
    for oid, changes in planned.changes.items():
        builder = TreeBuilder(reader)
        try:
            tree = builder.build(_entries(ctx, changes))
        except BlockedError as error:
            name = error.path.decode("utf-8", "replace")
            raise Refused(f"commit {oid[:7]} needs '{name}' to be a folder") from None
        write_trees(f"{ctx.repo.common_dir}/objects", builder.new)
        parent = commits.replayed(ctx.git, ctx.repo.objects, ctx.config, oid, tree, parent, known.get(oid))
        out.append((oid, parent))
        reader = TreeReader(ctx.repo.objects, tree)
    return tuple(out)


def _entries(ctx: Context, changes: Changes) -> Mapping[bytes, Entry | None]:
    return {
        path: Entry(one.mode, ctx.git.run("hash-object", "-w", "--stdin", stdin=one.data).strip())
        if isinstance(one, Text)
        else one
        for path, one in changes.items()
    }


# --- the ref ---


def _refuse_moved(
    ctx: Context, wish: BranchWish, old: str | None, left: SessionBranch | None, tip: str, again: str
) -> None:
    """Raise Refused where somebody else made the branch, or moved it since to what it would lose."""
    # `git branch` takes no name that is there, and a slip would move `main`
    if old is None or (left is not None and refs.contains(ctx.repo, Head(None, tip), old)):
        return
    name = wish.name
    if left is None:
        message = f"'{name}' is there already, and git ralph did not make it"
    elif left.session != wish.session:
        message = f"'{name}' holds the commits of session '{ctx.called(left.session)}'"
    elif left.tip != old:
        message = f"'{name}' was moved since git ralph left it at {left.tip[:7]}"
    else:
        return
    ways = [] if ctx.is_agent else [f"{again} --force  # takes its place"]
    raise Refused(f"{message}; choose another name", f"git log {shlex.quote(name)} --", *ways)


def _move(ctx: Context, ref: str, old: str | None, tip: str, wish: BranchWish) -> None:
    ident = commits.committer_now(commits.with_identity(ctx.git, ctx.config, None))
    move = Move(Head(ref, old), tip, ident, f"git ralph branch: {wish.session}")
    try:
        refs.swap_branch(ctx.repo, move, locks.WAIT)
    except LostRaceError:
        raise Busy(f"'{wish.name}' moved meanwhile", "try again") from None

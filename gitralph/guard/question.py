"""The guard's question: would the commit that git is about to make take another live session's lines?

The answer goes by the index that git hands its hooks. For ``commit -a`` and for paths that is a temporary
index. In the mode ``narrow`` the module ``narrow`` makes the commit; where an older hook only asks here,
``narrow`` counts as ``refuse``.
"""

import difflib
import os
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gitralph.base.errors import Fatal
from gitralph.base.quote import printable
from gitralph.commit import guard_script
from gitralph.commit.preview import drafted
from gitralph.decide import pathspecs, persons
from gitralph.decide.inputs import open_bench
from gitralph.decide.path_texts import line_set
from gitralph.decide.request import Draft, Request
from gitralph.git import history, hunks, refs, squashed, uncommitted
from gitralph.git.context import Context
from gitralph.git.hunks import DiffHunk
from gitralph.git.run import Git
from gitralph.git.trees import FILES, Entry
from gitralph.records import manifests, path_records, sessions
from gitralph.sessions import session_choice

WARN, REFUSE, NARROW, OFF = "warn", "refuse", guard_script.NARROW, "off"
MODES = (WARN, REFUSE, NARROW, OFF)
PERSON = (WARN, REFUSE, OFF)
# With more pairs of lines than this their order does not count: 1,000 against 1,000 lines take 0.1 s.
_COMPARED = 4_000_000


class GuardedPath(NamedTuple):
    """One path of one session that would be committed too; ``lines`` None when all of the path is meant."""

    path: bytes
    session: str
    lines: int | None


def mode(ctx: Context) -> str:
    """The guard's mode: ``RALPH_GUARD`` where it names one, else ``ralph.guard``.

    For a person it is ``ralph.guardPerson``, unless the guard is off.
    """
    said = ctx.environ.get("RALPH_GUARD", "")
    if said in MODES:
        return said
    value = _setting(ctx, "ralph.guard", ctx.config.get("ralph.guard"), MODES)
    if ctx.is_agent or value == OFF or _is_slip(ctx):
        return value
    return _setting(ctx, "ralph.guardPerson", ctx.config.get("ralph.guardperson"), PERSON)


def _is_slip(ctx: Context) -> bool:
    return (ctx.config.get("ralph.guard") or WARN) not in MODES


def _setting(ctx: Context, name: str, value: str | None, modes: Sequence[str]) -> str:
    if not value or value in modes:
        return value or WARN
    # Whoever set the value wanted a guard, so a typing mistake must not switch it off.
    ctx.warn(f"bad value '{printable(value)}' for '{name}', taken for '{REFUSE}': use {', '.join(modes)}")
    return REFUSE


def staged(ctx: Context) -> dict[bytes, Entry | None]:
    """What the index that git is about to commit changes against HEAD."""
    given = ctx.environ.get("GIT_INDEX_FILE") or ctx.repo.index
    return uncommitted.staged(ctx.git, refs.read_head(ctx.repo).oid, given)


def _others(ctx: Context, paths: list[bytes], own: str | None) -> list[str]:
    """The other live sessions with records in one of ``paths``; a draft tells what is left of these."""
    family = set(path_records.family(ctx.layout, own)) if own else set()
    naming = manifests.sessions_naming(ctx.layout, paths, family)
    found = {name for names in naming.values() for name in names}
    return sorted(n for n in found if sessions.state_of(ctx.layout, n) == "live")


def _hunks(git: Git, old: bytes, new: bytes) -> tuple[DiffHunk, ...] | None:
    """The line changes between two blobs, None where these have no lines."""
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "-U0")
    said = git.run("-c", "diff.algorithm=histogram", "diff", *plain, old, new)
    found = hunks.parsed(said, said).hunks
    return found if found or not said else None


def _added(hunk: DiffHunk) -> list[bytes]:
    return [line[1:] for line in hunk.shown.split(b"\n") if line.startswith(b"+")]


def _taken_of(theirs: DiffHunk, staged: Sequence[DiffHunk]) -> int:
    """The number of lines of their hunk that the staged hunks also remove or add."""
    start, end = theirs.old
    near = [one for one in staged if one.old[0] <= end and start <= one.old[1]]
    removed = sum(len(range(max(start, one.old[0]), min(end, one.old[1]))) for one in near)
    added = _added(theirs)
    common = _in_order(added, [line for one in near for line in _added(one)])
    if not any(line.strip() for line in common) and any(line.strip() for line in added):
        common = []  # blank lines alone may be anybody's
    return max(removed, len(common))


def _in_order(lines: Sequence[bytes], there: Sequence[bytes]) -> list[bytes]:
    """The longest run of ``lines``, in order, that also stands in ``there``."""
    if len(lines) * len(there) > _COMPARED:
        return list((Counter(lines) & Counter(there)).elements())
    matcher = difflib.SequenceMatcher(None, lines, there, autojunk=False)
    return [line for at, _, count in matcher.get_matching_blocks() for line in lines[at : at + count]]


def _lines(git: Git, old: Entry | None, theirs: Entry | None, staged: Entry | None) -> int | None:
    """How many changed lines of ``theirs`` are in ``staged``; None means all of the path."""
    if staged is None or theirs is None:
        # A deletion has no lines: either both delete the path, or they have nothing in common.
        return None if theirs == staged else 0
    base = old.oid if old is not None else git.run("hash-object", "-w", "--stdin", stdin=b"").strip()
    one, two = _hunks(git, base, theirs.oid), _hunks(git, base, staged.oid)
    if one is None or two is None:
        return None
    return sum(_taken_of(hunk, two) for hunk in one)


def _taken(
    ctx: Context, git: Git, made: Draft, staged: dict[bytes, Entry | None], session: str
) -> list[GuardedPath]:
    out = []
    for path, entry in made.entries.items():
        if path in staged:
            lines = _lines(git, made.base.lookup_safe(path), entry, staged[path])
            out += [] if lines == 0 else [GuardedPath(path, session, lines)]
    # Where lines cannot be told apart, any staged part of the path counts as all of it.
    unclear = {left.path for left in made.left if left.refuses and left.path in staged} - set(made.entries)
    free = {path for path in unclear if _was_staged_before(ctx, made, path, staged[path], session)}
    return out + [GuardedPath(path, session, None) for path in sorted(unclear - free)]


def _was_staged_before(ctx: Context, made: Draft, path: bytes, entry: Entry | None, session: str) -> bool:
    """True for a new file that was staged without any line that the session wrote in it."""
    if entry is None or entry.mode not in FILES or made.base.lookup_safe(path) is not None:
        return False
    lines = persons.lines_of_sessions(ctx.layout, made.states[path])
    own = {line for line, whose in lines.items() if whose == session}
    return bool(own) and own.isdisjoint(line_set(ctx.repo.objects.raw(entry.oid)[1]))


def _moved_along(ctx: Context, staged: dict[bytes, Entry | None], own: str | None) -> list[GuardedPath]:
    """Uncommitted lines of sessions from files which go or are gone: the commit has them elsewhere.

    What goes with this commit may come in a new file. Of what an earlier commit moved, most stands there.
    """
    head = refs.read_head(ctx.repo)
    base, root = history.base_of(ctx.repo, head), os.fsencode(ctx.repo.root)
    go = [path for path, entry in staged.items() if entry is None]
    left = (path for path in pathspecs.recorded(ctx) if path not in staged and base.lookup_safe(path) is None)
    gone = [path for path in left if not os.path.lexists(os.path.join(root, path))]
    others = _others(ctx, go + gone, own) if go or gone else []
    texts = {path: _text(ctx, entry) for path, entry in staged.items() if others}
    fresh = {path: text - _text(ctx, base.lookup_safe(path)) for path, text in texts.items() if text}
    for path, state in path_records.states_of(ctx.layout, fresh).items():
        here = persons.lines_of_sessions(ctx.layout, state)
        fresh[path] -= here.keys()  # these are found at the path itself
    counts = Counter[tuple[bytes, str]]()
    for state in path_records.states_of(ctx.layout, go + gone).values() if fresh else ():
        brought, is_gone = persons.lines_of_sessions(ctx.layout, state), state.path in gone
        came = {path: lines & brought.keys() for path, lines in fresh.items()}
        came = {p: lines for p, lines in came.items() if lines and (is_gone or base.lookup_safe(p) is None)}
        if not came:
            continue
        known = _text(ctx, base.lookup_safe(state.path) or history.last_held(ctx.repo, head.oid, state.path))
        for path, lines in came.items():
            if is_gone and not (known and 2 * len(known & texts[path]) >= len(known)):
                continue
            whose = [brought[line] for line in lines - known]
            counts.update((path, session) for session in whose if session in others)
    return [GuardedPath(path, session, count) for (path, session), count in counts.items()]


def _text(ctx: Context, entry: Entry | None) -> set[bytes]:
    """The lines of a plain file."""
    is_file = entry is not None and entry.mode in FILES
    return line_set(ctx.repo.objects.raw(entry.oid)[1]) if entry is not None and is_file else set()


def own(ctx: Context) -> str | None:
    """The session that commits; None for a person, and for a launcher's session that owns nothing yet."""
    try:
        return session_choice.for_reading(ctx, None)
    except Fatal:
        return None


def judge(ctx: Context, own: str | None) -> list[GuardedPath]:
    """Everything of other live sessions that a commit of this index would take.

    What a squash brings was committed on the other branch.
    """
    brought = squashed.entries(ctx.repo)
    found = {path: entry for path, entry in staged(ctx).items() if brought.get(path, "") != entry}
    others = _others(ctx, sorted(found), own)
    out = _moved_along(ctx, found, own)
    for session in others:
        with open_bench(ctx, quarantine=True) as bench:
            made = drafted(ctx, bench, Request(session, match=lambda _all: list(found)))
            out += _taken(ctx, bench.git, made, found, session)
    return sorted(out, key=lambda one: (one.path, one.session))

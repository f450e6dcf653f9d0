"""Builds the tree a commit would have, without the index and without moving anything."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from gitralph.errors import Refused
from gitralph.journal import Record
from gitralph.plumbing import blob, refs
from gitralph.plumbing.blob import Workbench
from gitralph.plumbing.refs import Head
from gitralph.plumbing.snapshot import Content, Worktree
from gitralph.plumbing.tree import GITLINK, Entry, TreeBuilder, TreeReader, write_trees
from gitralph.porcelain import history, outcome, resolve, shelloffer
from gitralph.porcelain.context import Context
from gitralph.porcelain.outcome import Left, Outcome
from gitralph.porcelain.scene import Scene, Wishes
from gitralph.state import pending
from gitralph.state.pending import PathState


@dataclass
class Draft:
    """A commit not yet made: entries to change against HEAD, their tree, and what stays out."""

    head: Head
    session: str
    base: TreeReader
    tree: bytes
    outcomes: list[Outcome] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    entries: dict[bytes, Entry | None] = field(default_factory=dict)
    now: dict[bytes, Entry | None] = field(default_factory=dict)
    how: dict[bytes, str] = field(default_factory=dict)
    states: dict[bytes, PathState] = field(default_factory=dict)
    trees: list[bytes] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    """The session's last commits that are not in HEAD any more."""

    @property
    def changes(self) -> dict[bytes, str]:
        """Each committed path with git's letter for its change."""
        return {p: _letter(self.base.lookup_safe(p), e) for p, e in self.entries.items()}

    @property
    def refusals(self) -> list[Left]:
        return [left for left in self.left if left.refuses]

    @property
    def notes(self) -> list[str]:
        return [note for found in self.outcomes for note in found.notes]

    @property
    def includes(self) -> list[str]:
        return sorted({name for found in self.outcomes for name in found.includes})


def _letter(old: Entry | None, new: Entry | None) -> str:
    if new is None:
        return "D"
    if old is None or old.mode == 0o40000:
        return "A"
    return "M" if old.mode >> 12 == new.mode >> 12 else "T"


def base_of(ctx: Context, head: Head) -> TreeReader:
    """HEAD's tree; an unborn branch has none."""
    root = history.tree_of(ctx.repo, head.oid) if head.oid else None
    return TreeReader(ctx.repo.objects, root)


def _read_states(
    ctx: Context, family: list[str], matches: Container[bytes] | None, undone: list[str]
) -> dict[bytes, PathState]:
    """What the session has pending now, among the paths that were asked for."""
    states = pending.pending_paths(ctx.layout, family, undone=bool(undone))
    if matches is not None:
        states = {path: state for path, state in states.items() if path in matches}
    pending.add_foreign_claims(ctx.layout, states, set(family))
    return states


def candidates(ctx: Context, session: str) -> list[bytes]:
    """The paths that a commit of a session would look at."""
    family = pending.family(ctx.layout, session)
    undone = history.undone(ctx.repo, ctx.layout, family)
    known = pending.pending_paths(ctx.layout, family, undone=bool(undone))
    return sorted({*known, *shelloffer.paths(ctx, family)})


def _grown(scene: Scene, states: dict[bytes, PathState]) -> list[bytes]:
    """The paths that got a record since their journal was read."""
    return [p for p, s in states.items() if pending.journal_bytes(scene.layout, p) != s.journal.length]


def build(
    ctx: Context,
    bench: Workbench,
    session: str,
    wishes: Wishes,
    matches: Iterable[bytes] | None,
    unwritten: Mapping[bytes, Record] | None = None,
) -> Draft:
    """Decide every pending path of a session and build the tree. ``matches`` limits the paths.

    ``unwritten`` are records that count as if they were in the journals already.

    Raises Fatal for damage; refusals are in the draft.
    """
    head = refs.read_head(ctx.repo)
    base = base_of(ctx, head)
    family = pending.family(ctx.layout, session)
    wanted = None if matches is None else set(matches)
    undone = history.undone(ctx.repo, ctx.layout, family)
    with Worktree(ctx.repo.root) as worktree:
        for once_more in (True, True, False):
            # a bench of its own: every reading makes its copies afresh
            inner = Workbench.make(bench.folder, bench.git, ctx.repo.common_dir, quarantine=False)
            states = _read_states(ctx, family, wanted, undone)
            for path, record in (unwritten or {}).items():
                if path in states:
                    states[path].add(record)
            scene = Scene(ctx.repo, ctx.config, ctx.layout, inner, base, worktree, family, wishes, head.oid)
            offered = shelloffer.survey(ctx, base, head.oid, family, wishes.with_shell, wanted, states)
            left = resolve.look(scene, {**states, **offered.states})
            grown = _grown(scene, states)
            if not (grown and once_more):
                break
        left |= {p: Left(p, outcome.STALE, "it keeps changing; try again") for p in grown if p not in left}
        found = shelloffer.settle(scene, offered, _decide_all(scene, states, left), left)
        draft = Draft(head, session, base, base.root or b"", found, states=states, now=scene.entries)
        draft.undone = undone
        _take_entries(scene, draft)
        _settle_places(scene, draft)
    rebuild_tree(ctx, bench, draft)
    return draft


def _decide_all(scene: Scene, states: dict[bytes, PathState], left: dict[bytes, Left]) -> list[Outcome]:
    out = [Outcome(path, left=[reason]) for path, reason in left.items()]
    out += [resolve.decide(scene, state) for path, state in states.items() if path not in left]
    return sorted(out, key=lambda one: one.path)


def _take_entries(scene: Scene, draft: Draft) -> None:
    """Blobs of what is taken: as they stand, or of the text that separation made."""
    made: dict[bytes, Content] = {}
    for found in draft.outcomes:
        draft.left += found.left
        if not found.taken or found.content is None:
            continue
        draft.how[found.path] = found.how
        if found.content == scene.contents.get(found.path) or found.content.mode == GITLINK:
            draft.entries[found.path] = scene.entries.get(found.path)
        else:
            made[found.path] = found.content
    if made:
        draft.entries |= blob.blobs_for(scene.bench, "made", made, scene.reader, scene.worktree)
    for path in [p for p, e in draft.entries.items() if e == scene.reader.entry(p)]:
        del draft.entries[path]


def _settle_places(scene: Scene, draft: Draft) -> None:
    from gitralph.porcelain import places

    places.settle(scene, draft)


def rebuild_tree(ctx: Context, bench: Workbench, draft: Draft) -> None:
    """Build and write the tree of ``draft.entries``."""
    builder = TreeBuilder(draft.base)
    draft.tree = builder.build(draft.entries)
    draft.trees = list(builder.new)
    write_trees(bench.objects_dir(ctx.repo.common_dir), builder.new.values())


def check(draft: Draft, skip: bool) -> None:
    """Raise Refused when a refusing reason stands and ``skip`` was not asked for."""
    refusals = draft.refusals
    if not refusals or skip:
        return
    from gitralph.porcelain import advice

    raise Refused(advice.headline(refusals), *advice.ways_out(refusals), left=tuple(draft.left))

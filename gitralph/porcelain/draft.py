"""Builds the tree a commit would have, without the index and without moving anything."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

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
from gitralph.quote import shown
from gitralph.state import pending
from gitralph.state.pending import PathState


@dataclass
class Draft:
    """A commit not yet made: entries to change against HEAD, their tree, and what stays out.

    ``start`` is what edits are judged against: HEAD, on an orphan branch with what it was left with.
    """

    head: Head
    session: str
    base: TreeReader
    start: TreeReader
    tree: bytes
    outcomes: list[Outcome] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    entries: dict[bytes, Entry | None] = field(default_factory=dict)
    now: dict[bytes, Entry | None] = field(default_factory=dict)
    how: dict[bytes, str] = field(default_factory=dict)
    states: dict[bytes, PathState] = field(default_factory=dict)
    trees: list[bytes] = field(default_factory=list)
    together: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Paths of which a commit has both or neither."""
    undone: list[str] = field(default_factory=list)
    """The session's last commits that are not in HEAD any more."""

    def take_out(self, left: Left) -> None:
        """Take a path out again, with a reason; its records stay pending."""
        self.entries.pop(left.path, None)
        self.how.pop(left.path, None)
        if left not in self.left:
            self.left.append(left)
        for found in self.outcomes:
            if found.path == left.path:
                found.content, found.uses = None, []

    def leave(self, left: Left) -> None:
        """The same for a commit that goes on without it: all that cannot go alone is left too."""
        todo, done = [left], set()
        while todo:
            one = todo.pop()
            done.add(one.path)
            tied = self._tied(one.path) - done
            if one is left or one.path in self.entries:
                self.take_out(one)
            detail = f"it goes with '{shown(one.path)}', which is left"
            todo += [replace(one, path=path, detail=detail, lines=None) for path in tied]

    def _tied(self, path: bytes) -> set[bytes]:
        """The other ends of its renames, and what takes its place or must give it."""
        ends = {p for pair in self.together if path in pair for p in pair}
        places = {p for p in self.entries if p.startswith(path + b"/") or path.startswith(p + b"/")}
        return (ends | places) - {path}

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
            start = _start(ctx, inner.folder, base, head, states)
            scene = Scene(ctx.repo, ctx.config, ctx.layout, inner, start, worktree, family, wishes, head.oid)
            offered = shelloffer.survey(ctx, base, head.oid, family, wishes.with_shell, wanted, states)
            left = resolve.look(scene, {**states, **offered.states})
            grown = _grown(scene, states)
            if not (grown and once_more):
                break
        left |= {p: Left(p, outcome.STALE, "it keeps changing; try again") for p in grown if p not in left}
        decided = _decide_all(scene, states, left)
        together = _settle_moves(scene, states, decided)
        found = shelloffer.settle(scene, offered, decided, left)
        draft = Draft(
            head, session, base, scene.reader, base.root or b"", found, states=states, now=scene.entries,
            together=together + shelloffer.moved(offered),
        )  # fmt: skip
        draft.undone = undone
        _take_entries(scene, draft)
        _settle_places(scene, draft)
        for one in draft.refusals if wishes.skip_entangled else []:
            if one.path not in draft.entries:  # else only some lines of it are left
                draft.leave(one)
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
    for path in [p for p, e in draft.entries.items() if e == draft.base.entry(p)]:
        del draft.entries[path]


def _start(
    ctx: Context, folder: str, base: TreeReader, head: Head, states: dict[bytes, PathState]
) -> TreeReader:
    if all(base.lookup_safe(path) is not None for path in states):
        return base
    from gitralph.porcelain import orphan

    return orphan.start(ctx, folder, base, head, states)


def _settle_moves(
    scene: Scene, states: dict[bytes, PathState], decided: list[Outcome]
) -> list[tuple[bytes, bytes]]:
    if not any(r.op == "rename-to" for s in states.values() for r in s.journal.records):
        return []
    from gitralph.porcelain import moves

    return moves.settle(scene, states, decided)


def _settle_places(scene: Scene, draft: Draft) -> None:
    from gitralph.porcelain import places

    places.settle(scene, draft)


def rebuild_tree(ctx: Context, bench: Workbench, draft: Draft) -> None:
    """Build and write the tree of ``draft.entries``."""
    builder = TreeBuilder(draft.base)
    draft.tree = builder.build(draft.entries)
    draft.trees = list(builder.new)
    write_trees(bench.objects_dir(ctx.repo.common_dir), builder.new.values())

"""Finds whose uncommitted lines a tree needs: it puts others' lines back and runs the command, by halving.

Others' lines are those in which the shared directory differs from the tree, cut where the author changes.
They are put back in one fixed order, and the shortest beginning with which the command passes is searched.
The last piece of it is needed, since without it the command fails. That takes log2(n + 1) runs for n pieces.

The budget is log2(n) + 1 runs, including those made before for HEAD itself. Where one run is left, the piece
is tried alone. If it is not enough, the search goes on for what else is needed.
"""

import os
import shlex
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import NamedTuple

from gitralph.ask import why
from gitralph.base.errors import RalphError
from gitralph.base.quote import shown
from gitralph.decide.inputs import open_bench
from gitralph.git import blobs, uncommitted
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context
from gitralph.git.snapshot import ABSENT, Content, LeadsOutError, Worktree
from gitralph.git.texts import is_binary
from gitralph.git.trees import FILES, GITLINK, SYMLINK, TreeBuilder, TreeReader, write_trees
from gitralph.hook.journal import full_lines
from gitralph.tasks.prove.proof import Prover, Tree
from gitralph.tasks.prove.results import ProofCommand

# Beyond this a file counts as one piece: comparing lines takes quadratic time at worst.
_LINES = 20_000


class Piece(NamedTuple):
    """Lines of one author: they take the place of the tree's lines ``start`` to ``end``.

    ``lines`` is where they stand in the file, from 1; None for a whole file. No ``sessions``: nobody's.
    """

    path: bytes
    sessions: tuple[str, ...]
    lines: tuple[int, int] | None = None
    start: int = 0
    end: int = 0
    new: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """The pieces that are needed, none where even all of them do not help. ``sure``: no others are needed."""

    pieces: list[Piece] = field(default_factory=list)
    runs: int = 0
    sure: bool = True


@dataclass
class _Difference:
    """One path in which directory and tree differ."""

    path: bytes
    old: list[bytes]
    here: Content
    pieces: list[Piece]


def needed(
    count: int, passes: Callable[[frozenset[int]], bool], runs: int = 0
) -> tuple[list[int], int, bool]:
    """Which of ``count`` pieces are needed, how many runs that took, and whether they alone are enough.

    ``passes`` tells whether the command passes with some of the pieces; with none of them it fails. ``runs``
    were made before.
    """

    def tried(which: Collection[int]) -> bool:
        nonlocal runs
        runs += 1
        return passes(frozenset(which))

    # Halving finds the shortest beginning that passes, whose last piece is needed. The one more run tries
    # that piece alone.
    budget = (count - 1).bit_length() + 1 if count else 0
    # One more than there are pieces: it stands for a failure with all of them.
    low, high = 0, count + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tried(range(middle)) else (middle, high)
    if high > count:
        return [], runs, True
    found = [high - 1]
    if high == 1:
        return found, runs, True
    # The search alone has used the budget up; the caller says that the answer may be incomplete.
    if runs >= budget:
        return found, runs, False
    while not tried(found):
        # Whatever else is needed stands before the last piece found: without all pieces behind it the command
        # passed.
        low, high = 0, found[-1]
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if tried([*range(middle), *found]) else (middle, high)
        found.append(high - 1)
        if high == 1:
            break
    return sorted(found), runs, True


def explain(
    ctx: Context,
    prover: Prover,
    tree: Tree,
    command: ProofCommand,
    say: Callable[[str], None],
    spent: int = 0,
) -> Explanation:
    """Find what the tree needs of what is uncommitted in the directory; ``spent`` runs were made before."""
    with (
        open_bench(ctx, quarantine=True) as bench,
        Worktree(ctx.repo.root) as worktree,
        closing(bench.objects(ctx.repo.common_dir)) as objects,
    ):
        reader = TreeReader(objects, tree.oid.encode())
        found = _differences(ctx, bench, reader, worktree)
        pieces = [piece for one in found for piece in one.pieces]
        # Sessions' pieces come before unrecorded ones: the beginning that passes then names somebody who
        # can commit.
        pieces.sort(key=lambda one: (not one.sessions, one.sessions, one.path, one.lines or (0, 0)))
        trial = _Trial(ctx, bench, reader, worktree, found, pieces)

        def passes(which: frozenset[int]) -> bool:
            made = Tree(trial.tree(which), tree.head, bench.objects_dir(ctx.repo.common_dir))
            ok = prover.prove(made, command).ok
            word = "passes" if ok else "fails"
            say(f"with {len(which)} of {len(pieces)} uncommitted changes of others it {word}")
            return ok

        which, runs, sure = needed(len(pieces), passes, spent)
        return Explanation([pieces[at] for at in which], runs, sure)


def _differences(ctx: Context, bench: Workbench, reader: TreeReader, worktree: Worktree) -> list[_Difference]:
    found = []
    for path in uncommitted.dirty_paths(ctx.repo, ctx.config):
        try:
            here = worktree.read(path)
        except (LeadsOutError, OSError):
            continue
        entry = reader.entry(path)
        tree = ABSENT
        if entry is not None and entry.mode != GITLINK:
            git = bench.git.at(ctx.repo.root)
            text = blobs.working_form(git, path, entry) if entry.mode in FILES else None
            tree = Content(entry.mode, git.run("cat-file", "blob", entry.oid) if text is None else text)
        # A submodule's commit is no line of anybody's.
        if GITLINK in (here.mode, entry and entry.mode) or here == tree:
            continue
        found.append(_cut(ctx, path, tree, here))
    return found


def _cut(ctx: Context, path: bytes, tree: Content, here: Content) -> _Difference:
    """The pieces of one path."""
    old, new = full_lines(tree.data or b""), full_lines(here.data or b"")
    made = _Difference(path, old, here, [])
    special = {tree.mode, here.mode} & {SYMLINK} or is_binary(tree.data) or is_binary(here.data)
    if special or here.data is None or not new or max(len(old), len(new)) > _LINES:
        made.pieces.append(Piece(path, _waiting(ctx, path)))
        return made
    wrote = _authors(ctx, path, len(new))
    # autojunk ignores lines that make up over a hundredth of a long text, braces for one (difflib).
    for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if first == last:
            made.pieces.append(Piece(path, _waiting(ctx, path), (first + 1, first + 1), start, end))
        at = first
        while at < last:
            stop = next((n for n in range(at, last) if wrote[n] != wrote[at]), last)
            whose = wrote[at][0]
            made.pieces.append(
                Piece(path, (whose,) if whose else (), (at + 1, stop), start, end, tuple(new[at:stop]))
            )
            # The tree's lines go with the first author's piece; the next one only adds.
            at, start = stop, end
    if not made.pieces:  # only the mode differs
        made.pieces.append(Piece(path, _waiting(ctx, path)))
    return made


def _waiting(ctx: Context, path: bytes) -> tuple[str, ...]:
    try:
        return why.waiting(ctx, path)
    except RalphError:
        return ()


def _authors(ctx: Context, path: bytes, count: int) -> list[tuple[str | None, str | None]]:
    try:
        found = why.authors(ctx, path)
    except RalphError:
        found = []
    # The blame was read a moment after the file. Where the counts differ the file has changed, and nobody is
    # named.
    return found if len(found) == count else [(None, None)] * count


@dataclass
class _Trial:
    """Makes trees with some of the pieces put back."""

    ctx: Context
    bench: Workbench
    reader: TreeReader
    worktree: Worktree
    found: list[_Difference]
    pieces: list[Piece]
    count: int = 0

    def tree(self, which: frozenset[int]) -> str:
        """The tree with these pieces; its objects are in the bench's quarantine."""
        chosen = {self.pieces[at] for at in which}
        contents = {one.path: _with(one, chosen) for one in self.found if chosen.intersection(one.pieces)}
        self.count += 1
        entries = blobs.blobs_for(self.bench, f"try{self.count}", contents, self.reader, self.worktree)
        builder = TreeBuilder(self.reader)
        made = builder.build(entries)
        write_trees(self.bench.objects_dir(self.ctx.repo.common_dir), builder.new)
        return made.decode()


def _with(one: _Difference, chosen: set[Piece]) -> Content:
    """The content of a path with some of its pieces put back."""
    if chosen.issuperset(one.pieces):
        return one.here
    out: list[bytes] = []
    at = 0
    for piece in one.pieces:
        out += one.old[at : piece.start]
        out += piece.new if piece in chosen else one.old[piece.start : piece.end]
        at = piece.end
    return Content(one.here.mode, b"".join(out + one.old[at:]))


def sentences(ctx: Context, found: Explanation) -> list[str]:
    """What was found, a sentence each."""
    if not found.pieces:
        return ["no uncommitted change of others makes it pass"]
    out = [f"it needs {_named(ctx, piece)}" for piece in found.pieces]
    if not found.sure:
        out.append(
            f"without this it fails; what else it may need was not looked for, after {found.runs} runs"
        )
    return out


def _named(ctx: Context, piece: Piece) -> str:
    where = f"'{shown(piece.path)}'"
    if piece.lines is not None:
        first, last = piece.lines
        where += f" line {first}" if first == last else f" lines {first}-{last}"
    whose = " and ".join(f"'{ctx.called(name)}'" for name in piece.sessions)
    return f"{where} of session {whose}" if whose else f"{where}, which nobody recorded"


def document(found: Explanation) -> list[dict[str, object]]:
    """The pieces as ``--json`` tells them."""
    return [
        {
            "path": piece.path.decode("utf-8", "surrogateescape"),
            "lines": list(piece.lines) if piece.lines else None,
            "sessions": list(piece.sessions),
        }
        for piece in found.pieces
    ]


def ways(ctx: Context, found: Explanation, session: str) -> list[str]:
    """What to type next: the others' commits first, or a claim to what is nobody's; for a person to say."""
    out = list[str]()
    if ctx.is_agent:
        return out
    for piece in found.pieces:
        name = shlex.quote(os.fsdecode(piece.path))
        for other in piece.sessions:
            out.append(f"git ralph commit --session {shlex.quote(ctx.called(other))}  # commits it")
        if not piece.sessions:
            whose = shlex.quote(ctx.called(session))
            out.append(f"git ralph assign --to {whose} -- {name}  # makes it this session's")
    return list(dict.fromkeys(out))

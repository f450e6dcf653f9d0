"""Orphan branches: which text an edit is judged against where the branch has no commit yet.

``git checkout --orphan`` keeps index and files. An edit of a file that the index still holds as the old
commit had it is judged against that text, as ``git commit --only`` does. Any other text is the user's own.
HEAD's reflog tells the old commit. That some branch without a common commit has the text proves nothing (a
page branch, a shallow clone).
"""

from gitralph.base.errors import Fatal
from gitralph.git import history, index, reflog
from gitralph.git.context import Context
from gitralph.git.refs import Head
from gitralph.git.trees import Entry, TreeReader
from gitralph.records.path_records import PathState


class StartReader(TreeReader):
    """Reads HEAD's tree and, beside it, the entries that the orphan branch kept from the old commit."""

    def __init__(self, base: TreeReader, kept: dict[bytes, Entry]) -> None:
        super().__init__(base.objects, base.root)
        self.kept = kept

    def lookup(self, path: bytes) -> Entry | None:
        return self.kept.get(path) or super().lookup(path)


def _began_with_a_text(state: PathState) -> bool:
    records = state.journal.records
    return not records or any(r.before is not None or r.unknown_before for r in records)


def _left(ctx: Context, head: Head) -> str | None:
    """The commit that HEAD was at when its branch began anew, by HEAD's reflog; None on other branches."""
    moves = reflog.of_head(ctx.repo)
    if head.oid is None:
        return moves[-1].new if moves else None
    for at in range(len(moves) - 1, 0, -1):
        move = moves[at]
        if not move.message.startswith(b"commit"):
            return None  # HEAD came to this branch, or back to it, in another way since
        if move.old is None and move.message.startswith(b"commit (initial): "):
            return moves[at - 1].new
    return None


def start(
    ctx: Context, folder: str, base: TreeReader, head: Head, states: dict[bytes, PathState]
) -> TreeReader:
    """The reader of the tree against which edits of these paths are judged: mostly ``base``, HEAD's.

    ``folder`` is a private folder for work files.
    """
    new = [p for p, s in states.items() if _began_with_a_text(s) and base.lookup_safe(p) is None]
    # Most branches have an old commit; what that takes to see does not grow with the index.
    left = _left(ctx, head) if new else None
    if left is None:
        return base
    copy = index.copy_index(ctx.repo.index, f"{folder}/left.index")
    staged = {p: mark.entry for p, mark in index.entries(ctx.git, copy, ctx.repo.root, new).items()}
    if not staged:
        return base
    try:
        reader = TreeReader(base.objects, history.tree_of(ctx.repo, left))
    except (Fatal, AttributeError):
        return base
    kept = {path: entry for path, entry in staged.items() if reader.entry(path) == entry}
    kept = {p: e for p, e in kept.items() if history.last_held(ctx.repo, head.oid, p) is None}
    return StartReader(base, kept) if kept else base

"""What an orphan branch was left with: texts that other branches have committed and the index still holds.

``git checkout --orphan`` keeps index and files. An edit there is judged against that text, as
``git commit --only`` takes it; a text that no branch has is the user's own.
"""

from gitralph.base.errors import Fatal
from gitralph.context import Context
from gitralph.git import history, index
from gitralph.git.refs import Head
from gitralph.git.trees import Entry, TreeReader
from gitralph.journal.pending import PathState

# `git checkout --orphan` leaves a branch that was checked out just now, so one of the latest tips.
_MOST = 50


class StartReader(TreeReader):
    """HEAD's tree, and beside it the entries that the branch was left with."""

    def __init__(self, base: TreeReader, kept: dict[bytes, Entry]) -> None:
        super().__init__(base.objects, base.root)
        self.kept = kept

    def lookup(self, path: bytes) -> Entry | None:
        return self.kept.get(path) or super().lookup(path)


def _began_with_a_text(state: PathState) -> bool:
    records = state.journal.records
    return not records or any(r.before is not None or r.unknown_before for r in records)


def _tips(ctx: Context, states: list[PathState]) -> list[str]:
    """The commits that may have been left: where records were made, and the branches, latest first."""
    said = ctx.git.run(
        "for-each-ref", f"--count={_MOST}", "--sort=-committerdate", "--format=%(objectname)",
        "refs/heads", "refs/remotes",
    )  # fmt: skip
    heads = [r.head for state in states for r in state.journal.records if r.head is not None]
    return list(dict.fromkeys([*heads, *said.decode("ascii", "replace").split()]))


def _is_related(ctx: Context, head: Head, commit: str) -> bool:
    return head.oid is not None and ctx.git.try_run("merge-base", head.oid, commit).returncode == 0


def start(
    ctx: Context, folder: str, base: TreeReader, head: Head, states: dict[bytes, PathState]
) -> TreeReader:
    """What the edits of these paths are judged against: ``base``, HEAD's tree, on most branches.

    ``folder`` is a private one.
    """
    new = [p for p, s in states.items() if _began_with_a_text(s) and base.lookup_safe(p) is None]
    if not new:
        return base
    copy = index.copy_index(ctx.repo.index, f"{folder}/left.index")
    staged = {p: mark.entry for p, mark in index.entries(ctx.git, copy, ctx.repo.root, new).items()}
    if not staged:
        return base
    kept: dict[bytes, Entry] = {}
    for commit in _tips(ctx, list(states.values())):
        try:
            reader = TreeReader(base.objects, history.tree_of(ctx.repo, commit))
        except (Fatal, AttributeError):
            continue
        found = {p: e for p, e in staged.items() if p not in kept and reader.entry(p) == e}
        if found and not _is_related(ctx, head, commit):
            kept |= found
    # A branch whose root was amended has nothing in common with upstream, and is no orphan.
    kept = {p: e for p, e in kept.items() if history.last_held(ctx.repo, head.oid, p) is None}
    return StartReader(base, kept) if kept else base

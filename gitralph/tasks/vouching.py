"""Whether the commits of a path tell by themselves whose its lines are, so that its journal may go."""

from __future__ import annotations

from gitralph.ask import changed
from gitralph.decide import path_texts
from gitralph.decide.decision import EDITS, SHELL
from gitralph.decide.inputs import Scene
from gitralph.git import refs
from gitralph.git.context import Context
from gitralph.git.refs import Head
from gitralph.git.texts import is_binary
from gitralph.hook.journal import GAP
from gitralph.lines import owners
from gitralph.records import commit_log
from gitralph.records.path_records import PathState


class Commits:
    """What is asked of commits, which many paths have in common: each is looked at once."""

    def __init__(self) -> None:
        self._held: dict[tuple[str | None, str], bool] = {}
        self._alone: dict[str, bool] = {}

    def is_in(self, ctx: Context, head: str | None, oid: str) -> bool:
        """True for a commit that is in HEAD's history, so git did not rewrite it."""
        if (head, oid) not in self._held:
            self._held[head, oid] = refs.contains(ctx.repo, Head(None, head), oid)
        return self._held[head, oid]

    def is_alone(self, ctx: Context, oid: str) -> bool:
        """True for a commit that took nothing of others along, and nothing that nobody recorded."""
        if oid not in self._alone:
            self._alone[oid] = not any(one.includes for one in changed.heads(ctx, [oid]))
        return self._alone[oid]


def tell_all(ctx: Context, scene: Scene, state: PathState, commits: Commits) -> bool:
    """True where no answer needs the journal.

    A commit vouches for all its lines where it took them by its session's edits and shell alone (guarantee 1
    of ``commit``). A file taken whole holds lines of others too. Only a record tells of a line that it wrote
    and that no commit of ours in HEAD took, since a person committed it or git rewrote the commit.
    """
    journal = state.journal
    rest = {str(record.offset) for record in journal.records if record.op != GAP and record.is_exact}
    if not rest:
        return True  # without texts the commit's own word counts, as it does without the journal
    for oid, taken in commit_log.taken(journal).items():
        if not commits.is_in(ctx, scene.head, oid):
            continue
        how = {row.get("how") for row in journal.log if row.get("commit") == oid}
        if not how <= {EDITS, SHELL} or not commits.is_alone(ctx, oid):
            return False
        rest -= taken
    if not rest or is_binary(scene.contents[state.path].data):
        return True
    known = path_texts.read(scene, state)
    return known.has_binary or not any(line.key in rest for line in owners.by_line(known.pieces))

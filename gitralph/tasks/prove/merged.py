"""Proves what a merge would make, before anything moves: two that pass alone may fail together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gitralph.base.errors import Failed
from gitralph.base.quote import printable
from gitralph.git.context import Context
from gitralph.git.history import tree_of
from gitralph.tasks.prove.judge import NotProvenError
from gitralph.tasks.prove.proof import Prover, Tree, describe
from gitralph.tasks.prove.results import ProofCommand
from gitralph.tasks.prove.series import authors

MergeJudge = Callable[[str, str, str], None]
"""Called with the merged commit, where the target is and what comes in; raises Failed where it must not."""

_NAMED = 5


@dataclass(frozen=True)
class ProvingMerges:
    """Calls itself a :data:`MergeJudge`."""

    ctx: Context
    prover: Prover
    command: ProofCommand

    def __call__(self, commit: str, target: str, tip: str) -> None:
        """Prove the merged tree. Raises NotProvenError, or Failed where the command could not be run."""
        proof = self.prover.prove(Tree(tree_of(self.ctx.repo, commit).decode(), commit), self.command)
        if proof.ok:
            return
        if self.prover.children.stopping.is_set():
            raise Failed("stopped; nothing was merged")
        what = describe(proof, self.command).replace("the commit's own tree", "the merged tree")
        raise NotProvenError("\n".join([what, *self._came_before(target, tip)]), proof=proof.document())

    def _came_before(self, target: str, tip: str) -> list[str]:
        """Whose commits the target got since the other side left it: one of the two has to give way."""
        words = ("log", "--no-merges", "--no-show-signature", "--no-color", "--format=%H %s")
        rows = self.ctx.git.run(*words, f"{tip}..{target}", "--").decode("utf-8", "replace").splitlines()
        pairs = [row.partition(" ") for row in rows[:_NAMED]]
        whose = authors(self.ctx, [oid for oid, _, _ in pairs])
        found = [
            f"before it came {oid[:7]} '{printable(text)}'{_of(whose.get(oid))}" for oid, _, text in pairs
        ]
        return [*found, *([f"and {len(rows) - _NAMED} more"] if len(rows) > _NAMED else [])]


def _of(names: str | None) -> str:
    return f" of {names}" if names else ""

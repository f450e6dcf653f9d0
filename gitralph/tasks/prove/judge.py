"""Judges the tree of a commit or merge that is about to be made: it lands only when the command passes."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from gitralph.base.errors import Failed
from gitralph.base.quote import printable
from gitralph.decide.request import Candidate
from gitralph.git.context import Context
from gitralph.git.history import tree_of
from gitralph.tasks.prove import explain as explaining
from gitralph.tasks.prove.proof import Proof, Prover, Tree, describe
from gitralph.tasks.prove.results import ProofCommand
from gitralph.tasks.prove.series import authors


class NotProvenError(Failed):
    """The command failed on the tree; nothing was committed. ``proof`` is as ``--json`` tells it."""

    def __init__(self, message: str, *hints: str, proof: dict[str, object]) -> None:
        super().__init__(message, *hints)
        self.proof = proof


@dataclass(frozen=True)
class Judge:
    """Calls itself a :data:`gitralph.decide.request.Judge`. ``say`` takes what happens meanwhile.

    ``explain`` searches what is missing where the command fails.
    """

    ctx: Context
    prover: Prover
    command: ProofCommand
    say: Callable[[str], None]
    explain: bool = False

    def __call__(self, candidate: Candidate) -> dict[str, object]:
        """Prove the tree. Raises NotProvenError, or Failed where the command could not be run."""
        tree = Tree(candidate.tree, candidate.head, candidate.objects)
        proof = self.prover.prove(tree, self.command)
        if proof.ok:
            return proof.document()
        raise self._failure(candidate, tree, proof)

    def _failure(self, candidate: Candidate, tree: Tree, proof: Proof) -> NotProvenError:
        message, document = describe(proof, self.command), proof.document()
        typed = [
            "--session",
            self.ctx.called(candidate.session),
            "--dry-run",
            "--prove",
            self.command.shown,
            "--explain",
        ]
        hints = [f"git ralph commit {shlex.join(typed)}  # finds whose uncommitted lines it needs"]
        if self.explain and not self.prover.children.stopping.is_set():
            quiet = self.prover._replace(sink=None, notes=False)
            first, spent = self._head(quiet, candidate)
            found = explaining.explain(self.ctx, quiet, tree, self.command, self.say, spent)
            message = "\n".join([message, *first, *explaining.sentences(self.ctx, found)])
            hints = explaining.ways(self.ctx, found, candidate.session)
            document["needs"] = explaining.document(found)
            document["runs"] = found.runs
        return NotProvenError(message, *hints, proof=document)

    def _head(self, prover: Prover, candidate: Candidate) -> tuple[list[str], int]:
        """What is to be said of HEAD itself, which may be red already, and how many runs that took."""
        if candidate.head is None:
            return [], 0
        short = candidate.head[:7]
        try:
            tree = tree_of(self.ctx.repo, candidate.head).decode()
            found = prover.prove(Tree(tree, candidate.head), self.command)
        except Failed as error:
            return [f"HEAD {short} could not be tested: {error.message}"], 0
        if found.ok or prover.children.stopping.is_set():
            return [], int(not found.cached)
        return [f"HEAD {short} fails already, without this commit"], 1


# --- a merge: two that pass alone may fail together ---


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

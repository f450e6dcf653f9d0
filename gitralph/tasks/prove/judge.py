"""Judges the tree of a commit that is about to be made: it lands only when the command passes on it."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from gitralph.base.errors import Failed
from gitralph.decide.request import Candidate
from gitralph.git.context import Context
from gitralph.git.history import tree_of
from gitralph.tasks.prove import explain as explaining
from gitralph.tasks.prove.proof import Proof, Prover, Tree, describe
from gitralph.tasks.prove.results import ProofCommand


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

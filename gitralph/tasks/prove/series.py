"""Proves commit after commit: a range, one commit, or what no remote has yet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitralph.ask import changed
from gitralph.ask.whose import Makers
from gitralph.base import nul
from gitralph.base.errors import Failed, Fatal
from gitralph.git import history, worktrees
from gitralph.git.context import Context
from gitralph.tasks.prove.proof import Proof, Prover, Tree, describe
from gitralph.tasks.prove.results import ProofCommand


@dataclass(frozen=True)
class Proved:
    """One commit and how its proof came out; ``trouble`` says why it failed."""

    commit: str
    tree: str
    subject: str
    proof: Proof
    trouble: str = ""
    sessions: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        """As ``--json`` tells it."""
        head = {"commit": self.commit, "tree": self.tree, "sessions": list(self.sessions)}
        return {**head, **self.proof.document()}


@dataclass(frozen=True)
class SeriesCommit:
    """A commit to prove."""

    oid: str
    tree: str
    subject: str


def commits(ctx: Context, typed: str | None) -> list[SeriesCommit]:
    """The commits that are meant, oldest first. Raises Fatal for what names none."""
    words = _unpushed(ctx) if typed is None else history.range_words(ctx.git, typed)
    form = "--format=%H%x00%T%x00%s%x00"
    said = ctx.git.try_run(
        # Parents first, whatever the clocks of the machines that made them said.
        "log",
        "--reverse",
        "--topo-order",
        "--no-color",
        "--no-show-signature",
        form,
        *words,
    )
    if said.returncode:
        raise Fatal(f"'{typed}' names no commits")
    fields = [field.lstrip("\n") for field in nul.texts(said.stdout)]
    # strict=False: the last field of the output is what follows the last NUL, empty.
    rows = zip(fields[0::3], fields[1::3], fields[2::3], strict=False)
    return [SeriesCommit(*row) for row in rows if len(row[0]) == 40]


def authors(ctx: Context, commits: Sequence[str]) -> dict[str, str]:
    """Whose each commit is, in a word for people; those that are nobody's are left out."""
    makers, out = Makers(ctx), {}
    for head in changed.heads(ctx, commits):
        names = [ctx.called(one) for one in makers.of_all(head)]
        if names:
            several = "one of the sessions " if len(names) > 1 else "session "
            out[head.oid] = several + ", ".join(f"'{name}'" for name in names)
    return out


def _unpushed(ctx: Context) -> list[str]:
    """What the upstream lacks; without one what every remote lacks."""
    if worktrees.value(ctx.git, "HEAD") is None:
        raise Fatal("there is no commit to prove yet")
    upstream = worktrees.value(ctx.git, "@{upstream}")
    if upstream is not None:
        return [f"{upstream}..HEAD", "--"]
    return ["HEAD", "--not", "--remotes", "--"]


def prove(prover: Prover, found: list[SeriesCommit], command: ProofCommand) -> Iterator[Proved]:
    """Prove one after the other; ends early when it was asked to stop."""
    makers = Makers(prover.ctx)
    whose = {head.oid: makers.of_all(head) for head in changed.heads(prover.ctx, [one.oid for one in found])}
    for one in found:
        try:
            proof = prover.prove(Tree(one.tree, one.oid), command)
            trouble = "" if proof.ok else describe(proof, command)
        except Failed as error:
            proof, trouble = Proof(False), error.message
        yield Proved(one.oid, one.tree, one.subject, proof, trouble, whose.get(one.oid, ()))

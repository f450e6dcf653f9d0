"""Runs a command on a tree, in a worktree of ours that is kept between calls with its ignored files.

Only files that differ are written, so build caches stay valid. Nothing of the user's directory can be reached
from there: what a checkout lacks, the command must make, and finds again the next time.
"""

import contextlib
import json
import os
import time
from collections.abc import Mapping
from typing import NamedTuple

from gitralph.base import files, programs
from gitralph.base.errors import Failed
from gitralph.base.quote import shown
from gitralph.git import own_worktree
from gitralph.git.blobs import listed
from gitralph.git.context import Context
from gitralph.git.own_worktree import Slot
from gitralph.tasks.children import Children, Sink, stop_left_over
from gitralph.tasks.prove import modules, results
from gitralph.tasks.prove.results import ProofCommand

# What Jest and Vitest say where they see no file.
_NO_TESTS = (b"No tests found", b"No files found", b"No test files found")


class Tree(NamedTuple):
    """What is to be proved. ``head`` is the commit that HEAD shall name, None before the first.

    ``objects`` is a folder with objects that the repository does not have yet.
    """

    oid: str
    head: str | None
    objects: str | None = None


class Proof(NamedTuple):
    """The result: ``code`` is the command's exit code, ``output`` the end of what it printed."""

    ok: bool
    cached: bool = False
    seconds: float = 0.0
    code: int = 0
    output: bytes = b""
    late: bool = False

    def document(self) -> dict[str, object]:
        """As ``--json`` tells it."""
        return {"ok": self.ok, "cached": self.cached, "seconds": round(self.seconds, 3)}


class Prover(NamedTuple):
    """Proves trees for one command of ours. ``env`` is laid over what the program inherits.

    ``{root}`` in a value of ``env`` is the worktree's root. ``seconds`` None is no limit.
    """

    ctx: Context
    children: Children
    env: Mapping[str, str]
    sink: Sink | None = None
    seconds: float | None = None
    notes: bool = True
    """Whether a success is noted; not for trees that nobody will ever commit."""

    def prove(self, tree: Tree, command: ProofCommand) -> Proof:
        """Run the command on the tree, unless it is known to pass. Raises Failed where it cannot be run."""
        if results.has_passed(self.ctx.layout, tree.oid, command):
            return Proof(True, cached=True)
        with contextlib.ExitStack() as stack:
            slot = own_worktree.take(self.ctx, own_worktree.PROOFS)
            stack.callback(slot.close)
            # A proof that outlived its git ralph would write into the next proof's tree.
            _stop_left_over(slot)
            _wait_for_another_second(self.ctx, slot, tree)
            outside = _objects(tree)
            try:
                git = own_worktree.lay_out(self.ctx, slot, tree.oid.encode(), tree.head, outside)
                modules.lay_out(self.ctx, git, slot.folder)
                return self._run(slot, tree, command, outside)
            finally:
                # Also after a failure: the folder's content decides about byte code, not the result.
                _write(slot.folder + ".tree", tree.oid)

    def _run(self, slot: Slot, tree: Tree, command: ProofCommand, outside: dict[str, str]) -> Proof:
        cwd = os.path.join(slot.folder, command.folder)
        if not os.path.isdir(cwd):
            where = shown(os.fsencode(command.folder))
            raise Failed(f"the commit has no folder '{where}' to run '{command.shown}' in")
        own = {key: value.replace("{root}", slot.folder) for key, value in self.env.items()}
        # PWD is set too: tools that resolve links read it before getcwd(3), and it would name the user's
        # folder.
        env = {**programs.inherited(self.ctx.environ), **own, **outside, "PWD": cwd}
        begun = time.monotonic()
        ended = self.children.run(
            command.words,
            cwd=cwd,
            env=env,
            # if we are killed, the next user of the place stops the process that is noted there
            started=lambda kept: _write(slot.folder + ".process", json.dumps(kept)),
            sink=self.sink,
            seconds=self.seconds,
        )
        seconds = time.monotonic() - begun
        # A command that is stopped may still say 0.
        ok = ended.code == 0 and not ended.late and not self.children.stopping.is_set()
        if ok and self.notes:
            results.note(self.ctx.layout, tree.oid, command, seconds)
        return Proof(ok, False, seconds, ended.code, ended.output, ended.late)


def _write(path: str, text: str) -> None:
    files.write_whole(path, text.encode("ascii") + b"\n")


def _stop_left_over(slot: Slot) -> None:
    try:
        kept = json.loads(files.read_bytes(slot.folder + ".process", 4096))
    except (OSError, ValueError):
        return
    stop_left_over(kept)


def _wait_for_another_second(ctx: Context, slot: Slot, tree: Tree) -> None:
    """Wait for the next second where Python would take byte code of the last tree for this tree's.

    Byte code is valid for a source of the same size and second (importlib, PEP 552). With two versions of a
    line written within one second, the second proof would run the first version.
    """
    try:
        last = files.read_bytes(slot.folder + ".tree", 64).decode("ascii").strip()
        used = os.stat(slot.folder + ".tree").st_mtime
    except (OSError, ValueError):
        return
    if last == tree.oid or int(used) != int(time.time()):
        return
    git = ctx.git.at(**_objects(tree))
    said = git.try_run("diff-tree", "-r", "--name-only", "-z", last, tree.oid)
    if said.returncode or b".py\0" in said.stdout:
        time.sleep(int(used) + 1 - time.time() + 0.01)


def _objects(tree: Tree) -> dict[str, str]:
    """What lets git find objects that are not in the repository yet."""
    if tree.objects is None:
        return {}
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": listed(tree.objects)}


def describe(proof: Proof, command: ProofCommand) -> str:
    """Why it failed, in a sentence."""
    if proof.late:
        return f"'{command.shown}' took longer than {proof.seconds:.0f} s and was stopped"
    how = f"failed with {proof.code}" if proof.code > 0 else f"was ended by signal {-proof.code}"
    found = f"'{command.shown}' {how} on the commit's own tree"
    if proof.code and any(said in proof.output for said in _NO_TESTS):
        found += (
            "; a tool that leaves out what lies below '.git' finds its tests after"
            " 'git config ralph.proofFolder ~/.cache/gitralph'"
        )
    return found

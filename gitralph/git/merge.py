"""Merges two commits in memory with ``git merge-tree --write-tree``; no index and no file is touched."""

from contextlib import closing
from dataclasses import dataclass

from gitralph.base.errors import Fatal
from gitralph.git.commits import make_commit
from gitralph.git.config import Config
from gitralph.git.objects import Objects
from gitralph.git.run import Git, GitError


@dataclass(frozen=True)
class Merged:
    """The tree of a merge; ``conflicts`` are the unresolved paths, ``said`` git's messages."""

    tree: str
    conflicts: tuple[bytes, ...] = ()
    said: tuple[str, ...] = ()


def _messages(block: bytes) -> tuple[str, ...]:
    """Records of ``<count> <path>… <kind> <text>`` as -z prints them: the texts."""
    fields, out, at = block.split(b"\0"), [], 0
    while at < len(fields) and fields[at].isdigit():
        text = at + int(fields[at]) + 2
        if text < len(fields):
            out.append(fields[text].decode("utf-8", "replace").strip())
        at = text + 1
    return tuple(out)


def merge_trees(git: Git, ours: str, theirs: str) -> Merged:
    """Merge ``theirs`` into ``ours``. Raises Fatal for unrelated histories or damage."""
    done = git.try_run("merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs)
    # 0 is clean and 1 a conflict; anything else is an error (git-merge-tree(1), EXIT STATUS).
    if done.returncode not in (0, 1):
        raise GitError(["merge-tree"], done.returncode, done.stderr)
    # With -z an empty field separates the paths from the messages.
    files, _, messages = done.stdout.partition(b"\0\0")
    head, *names = files.split(b"\0")
    tree = head.decode("ascii", "replace")
    if len(tree) != 40:
        raise Fatal("git merge-tree printed no tree")
    if done.returncode == 0:
        return Merged(tree)
    return Merged(tree, tuple(sorted({n for n in names if n})), _messages(messages))


def is_ancestor(git: Git, old: str, new: str) -> bool:
    """True when ``new`` contains ``old``."""
    return git.try_run("merge-base", "--is-ancestor", old, new).returncode == 0


def tree_of(git: Git, commit: str) -> str:
    """The tree of a commit."""
    return git.line("rev-parse", "--verify", commit + "^{tree}")


def _patch_ids(git: Git, patch: bytes) -> set[bytes]:
    said = git.run("patch-id", "--stable", stdin=patch)
    return {row.split(b" ")[0] for row in said.splitlines()}


def landed_as_one(git: Git, start: str, tip: str, target: str) -> bool:
    """True when one commit of ``target`` since ``start`` makes the whole change from ``start`` to ``tip``."""
    plain = ("--no-ext-diff", "--no-textconv", "--full-index", "--binary")
    whole = _patch_ids(git, git.run("diff", *plain, start, tip, "--"))
    if not whole:
        return False
    words = ("log", "-p", "--no-merges", "--no-show-signature", "-400")
    log = git.run(*words, *plain, f"{start}..{target}", "--")
    # A squash has the change of all commits together, so its patch id is that of the whole diff.
    return bool(whole & _patch_ids(git, log))


def content_landed(git: Git, start: str | None, tip: str, target: str) -> bool:
    """True when ``target`` has everything that ``tip`` brings, in whatever commits."""
    if is_ancestor(git, tip, target):
        return True
    try:
        merged = merge_trees(git, target, tip)
    except GitError:
        return False
    # The merge changes nothing, so everything is there, by a rebase, a squash or by hand.
    if not merged.conflicts and merged.tree == tree_of(git, target):
        return True
    return start is not None and landed_as_one(git, start, tip, target)


def commit_merge(
    git: Git, config: Config, tree: str, parents: tuple[str, str], message: str
) -> tuple[str, dict[str, str]]:
    """A merge commit, and its committer as git's variables; git makes identity and signature."""
    data = message.encode("utf-8", "surrogateescape")
    with closing(Objects(git)) as objects:
        return make_commit(git, objects, config, tree.encode(), parents, data)

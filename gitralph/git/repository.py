"""Facts of the repository, from one ``git rev-parse``: git alone judges safe.directory and discovery."""

import os
from dataclasses import dataclass
from functools import cached_property

from gitralph.base import jsonline
from gitralph.base.errors import Fatal
from gitralph.base.gitdir import Place
from gitralph.git.objects import Objects
from gitralph.git.run import Git, GitError

# `git merge-tree --write-tree`, which merges beads without a checkout, came with 2.38.
OLDEST_GIT = (2, 38)
MERGE, REBASE, CHERRY_PICK, REVERT = "a merge", "a rebase", "a cherry-pick", "a revert"
BISECT = "a bisect"
_STATES = (
    ("MERGE_HEAD", MERGE),
    ("rebase-merge", REBASE),
    # The folder is the same for both; only `am` marks it so (git's wt-status.c).
    ("rebase-apply/applying", "am"),
    ("rebase-apply", REBASE),
    ("CHERRY_PICK_HEAD", CHERRY_PICK),
    ("REVERT_HEAD", REVERT),
    ("sequencer", "a cherry-pick or revert"),
    ("BISECT_LOG", BISECT),
)


@dataclass(frozen=True)
class Repository:
    """Where everything is. Paths are absolute; ``prefix`` is the caller's folder below ``root``."""

    git: Git
    git_dir: str
    common_dir: str
    root: str
    hooks_dir: str
    prefix: bytes

    @property
    def place(self) -> Place:
        return Place(self.git_dir, self.common_dir, self.root)

    @property
    def index(self) -> str:
        return self.git_dir + "/index"

    @cached_property
    def objects(self) -> Objects:
        """Reads the object database, packs and alternates included."""
        return Objects(self.git)

    @cached_property
    def ancestry(self) -> dict[tuple[str, str], bool]:
        """A cache of whether one commit contains another: the answer never changes."""
        return {}

    @property
    def uses_reftable(self) -> bool:
        return os.path.isdir(self.common_dir + "/reftable")

    def close(self) -> None:
        """End the process that reads objects."""
        if "objects" in self.__dict__:
            self.objects.close()

    def operation(self) -> str | None:
        """The operation in progress that a commit would disturb, in words; None without one."""
        return operation_in(self.git_dir)


def operation_in(git_dir: str) -> str | None:
    """The operation in progress in a worktree, by its git folder."""
    for name, words in _STATES:
        if os.path.lexists(f"{git_dir}/{name}"):
            return words
    return None


def version(said: bytes) -> tuple[int, ...]:
    """The first two numbers of what ``git version`` says."""
    words = said.decode("ascii", "replace").split()
    digits = words[2].split(".") if len(words) > 2 else []
    return tuple(int(part) for part in digits[:2] if part.isdigit())


_QUESTIONS = (
    ("--is-bare-repository",),
    ("--show-object-format",),
    ("--path-format=absolute", "--git-dir"),
    ("--path-format=absolute", "--git-common-dir"),
    ("--path-format=absolute", "--git-path", "hooks"),
    ("--path-format=absolute", "--show-toplevel"),
    ("--show-prefix",),
)


def _has_empty_hooks_path(git: Git) -> bool:
    """True where ``core.hooksPath`` is empty, as one agent exports it: git's default is meant."""
    done = git.try_run("config", "--get", "core.hooksPath")
    return done.returncode == 0 and not done.stdout.strip(b"\n")


def _check_version(said: bytes) -> None:
    if version(said) < OLDEST_GIT:
        raise Fatal(
            f"git is too old ({os.fsdecode(said).strip()}); "
            f"git ralph needs {OLDEST_GIT[0]}.{OLDEST_GIT[1]} or newer"
        )


def _told(said: bytes) -> tuple[bytes | None, bytes]:
    """The version, None where a traced git does not tell it, and whatever else git printed."""
    version, rest = None, b""
    for line in said.splitlines(keepends=True):
        if not line.startswith(b'{"event":'):
            rest += line
        elif line.startswith(b'{"event":"version"'):
            told = jsonline.loads(line.decode("utf-8", "replace"))
            version = b"git version " + str(told.get("exe")).encode() if isinstance(told, dict) else None
    return version, rest


def ask_facts(git: Git) -> tuple[list[str], bytes]:
    """The answers in order, as many as git gave, and its complaint where it stopped."""
    # A traced git begins with its version (api-trace2, git 2.22): asking for it is a process more, which
    # costs a command as much as the answers do, a fortieth of all of it.
    asked = git.at(GIT_TRACE2_EVENT="2").try_run("rev-parse", *[w for words in _QUESTIONS for w in words])
    version, complaint = _told(asked.stderr)
    _check_version(git.run("version") if version is None else version)
    lines = os.fsdecode(asked.stdout).split("\n")[:-1]
    if len(lines) <= len(_QUESTIONS):
        return lines, complaint
    # A path contains a newline, so ask one by one.
    said = [git.try_run("rev-parse", *words) for words in _QUESTIONS]
    return [os.fsdecode(one.stdout)[:-1] for one in said if one.returncode == 0], said[-1].stderr


def _check(first: list[str], complaint: bytes) -> None:
    if len(first) < 3:
        raise GitError(["rev-parse"], 128, complaint)
    if first[0] == "true":
        raise Fatal("this is a bare repository; git ralph needs a working tree")
    # The formats that we read ourselves contain object ids of 20 bytes: index, trees, journals.
    if first[1] != "sha1":
        raise Fatal(f"repositories with object format '{first[1]}' are not supported")


def open_repository(git: Git) -> Repository:
    """The repository of the cwd, as git sees it.

    Raises Fatal where there is none, it is bare, not trusted, SHA-256, or git is too old.
    """
    lines, complaint = ask_facts(git)
    empty = len(lines) < len(_QUESTIONS) and _has_empty_hooks_path(git)
    if empty:  # git stops at the question for it; any folder lets it go on
        lines, complaint = ask_facts(git._replace(words=(*git.words, "-c", "core.hooksPath=.")))
    _check(lines, complaint)
    if len(lines) < len(_QUESTIONS):
        raise GitError(["rev-parse"], 128, complaint)
    git_dir, common_dir, hooks_dir, root, prefix = lines[2:7]
    git_dir, common_dir = os.path.realpath(git_dir), os.path.realpath(common_dir)
    bound = git.at(GIT_DIR=git_dir, GIT_WORK_TREE=root)
    if empty:
        hooks_dir = common_dir + "/hooks"
        bound = bound._replace(words=(*bound.words, "-c", f"core.hooksPath={hooks_dir}"))
    return Repository(bound, git_dir, common_dir, root, hooks_dir, os.fsencode(prefix))

"""The one place that starts git: absolute path, clean environment, errors as exceptions."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gitralph.errors import Fatal

# What a git hook hands to us must not reach our own children: their index and objects are ours to name.
_NOT_PASSED_ON = (
    "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX",
    "GIT_QUARANTINE_PATH", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF", "GIT_INTERNAL_SUPER_PREFIX",
)  # fmt: skip
# An index of our own needs none of the machinery that a repository may have set up for its own.
PLAIN_INDEX = (
    "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false", "-c", "core.untrackedCache=false",
    "-c", "index.sparse=false", "-c", "core.fsync=loose-object", "-c", "index.skipHash=false",
)  # fmt: skip


class GitError(Fatal):
    """git ended with an error; ``code`` is its exit status, ``said`` what it printed."""

    def __init__(self, args: Sequence[str], code: int, said: bytes) -> None:
        text = said.decode("utf-8", "replace").strip()
        first = next((word for word in args if not word.startswith("-") and "=" not in word), "")
        super().__init__(text.removeprefix("fatal: ") or f"git {first} failed with {code}")
        self.code = code
        self.said = text


@dataclass(frozen=True)
class Git:
    """git with an environment. ``cwd`` None means the process's own.

    ``keep`` are descriptors a child inherits: a lock held through them outlives us as long as git runs.
    ``words`` stand before every command: ``-c`` options that hold for all of them.
    """

    program: str
    env: dict[str, str]
    cwd: str | None = None
    keep: tuple[int, ...] = ()
    words: tuple[str, ...] = ()

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> "Git":
        """The git on PATH, by absolute path. Raises Fatal when there is none."""
        program = shutil.which("git", path=environ.get("PATH", os.defpath))
        if program is None or not os.path.isabs(program):
            raise Fatal("git is not on PATH")
        env = {key: value for key, value in environ.items() if key not in _NOT_PASSED_ON}
        env["GIT_OPTIONAL_LOCKS"] = "0"
        return cls(program, env)

    def at(self, cwd: str | None = None, **env: str) -> "Git":
        """The same git elsewhere, or with more environment."""
        return Git(self.program, {**self.env, **env}, cwd or self.cwd, self.keep, self.words)

    def start(
        self, args: Sequence[str | bytes], stdin: int | None = None, stderr: int = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        """Start git with its standard output in a pipe; without ``stdin`` it reads nothing."""
        return subprocess.Popen(
            [self.program, *self.words, *args],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=self.env,
            cwd=self.cwd,
            pass_fds=self.keep,
        )

    def try_run(self, *args: str | bytes, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run to the end whatever the exit status."""
        child = self.start(args, None if stdin is None else subprocess.PIPE)
        out, err = child.communicate(stdin)
        return subprocess.CompletedProcess(list(args), child.returncode, out, err)

    def run(self, *args: str | bytes, stdin: bytes | None = None) -> bytes:
        """What git printed. Raises GitError."""
        done = self.try_run(*args, stdin=stdin)
        if done.returncode:
            words = [os.fsdecode(word) for word in args]
            raise GitError(words, done.returncode, done.stderr)
        return done.stdout

    def line(self, *args: str | bytes) -> str:
        """The one line git printed, without its newline."""
        return os.fsdecode(self.run(*args).rstrip(b"\n"))

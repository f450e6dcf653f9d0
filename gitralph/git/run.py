"""git as every command runs it: absolute path, clean environment, errors as exceptions."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from subprocess import CompletedProcess, Popen
from typing import NamedTuple

from gitralph.base import programs, runner
from gitralph.base.errors import Fatal

# An index of our own needs none of the machinery that a repository may have set up for its own index.
PLAIN_INDEX = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.splitIndex=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "index.sparse=false",
    "-c",
    "core.fsync=loose-object",
    "-c",
    "index.skipHash=false",
)


class GitError(Fatal):
    """git ended with an error; ``code`` is its exit status, ``said`` its output."""

    def __init__(self, args: Sequence[str], code: int, said: bytes) -> None:
        text = said.decode("utf-8", "replace").strip()
        # The first word that is no option is the command; `-c key=value` stands before it.
        first = next((word for word in args if not word.startswith("-") and "=" not in word), "")
        super().__init__(text.removeprefix("fatal: ") or f"git {first} failed with {code}")
        self.code = code
        self.said = text


def _own(env: dict[str, str]) -> dict[str, str]:
    # Our status must not take the lock that the user's next `git add` wants.
    return {**env, "GIT_OPTIONAL_LOCKS": "0"}


class Git(NamedTuple):
    """git with an environment. ``cwd`` None means that of this process.

    ``keep`` are descriptors that a child inherits: a lock held through them outlives us as long as git runs.
    ``words`` stand before every command: ``-c`` options for all of them.
    """

    program: str
    env: dict[str, str]
    cwd: str | None = None
    keep: tuple[int, ...] = ()
    words: tuple[str, ...] = ()

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> Git:
        """The git on PATH, by absolute path, in the repository that the caller means. Raises Fatal."""
        program = programs.find("git", environ)
        if program is None:
            raise Fatal("git is not on PATH")
        return cls(program, _own(programs.inherited(environ, naming=True)))

    def at(self, cwd: str | None = None, **env: str) -> Git:
        """The same git in another folder, or with more environment."""
        return Git(self.program, {**self.env, **env}, cwd or self.cwd, self.keep, self.words)

    def elsewhere(self, folder: str, **env: str) -> Git:
        """git that discovers its repository from ``folder``, whichever repository the caller means."""
        env = {**_own(programs.inherited(self.env)), **env}
        return Git(self.program, env, folder, self.keep, self.words)

    def start(
        self, args: Sequence[str | bytes], stdin: int = subprocess.DEVNULL, stderr: int = subprocess.PIPE
    ) -> Popen[bytes]:
        """Start git with its standard output in a pipe; without ``stdin`` it reads nothing."""
        return runner.start(self.typed(args), env=self.env, stdin=stdin, stderr=stderr, keep=self.keep)

    def try_run(self, *args: str | bytes, stdin: bytes | None = None) -> CompletedProcess[bytes]:
        """Run to the end whatever the exit status."""
        return runner.run(self.typed(args), env=self.env, given=stdin, keep=self.keep)

    def typed(self, args: Sequence[str | bytes]) -> list[str | bytes]:
        # by -C, and not by starting it there: a folder that is gone is git's own error then
        there = () if self.cwd is None else ("-C", self.cwd)
        return [self.program, *there, *self.words, *args]

    def run(self, *args: str | bytes, stdin: bytes | None = None) -> bytes:
        """git's output. Raises GitError."""
        done = self.try_run(*args, stdin=stdin)
        if done.returncode:
            words = [os.fsdecode(word) for word in args]
            raise GitError(words, done.returncode, done.stderr)
        return done.stdout

    def line(self, *args: str | bytes) -> str:
        """The one line that git printed, without its newline."""
        return os.fsdecode(self.run(*args).rstrip(b"\n"))

"""Runs ``git ralph``: in this process (a commit costs a third), or as a process where wiring counts.

In process everything a process has of its own is put in place and taken back: arguments,
environment, current folder, umask, the three standard descriptors.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

# what is waited for is an event; this only ends a run that hangs
PATIENCE = 600

COMMAND = [sys.executable, "-P", "-m", "gitralph"]


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode("utf-8", "surrogateescape")

    @property
    def said(self) -> str:
        """Standard error as text."""
        return self.err.decode("utf-8", "surrogateescape")

    def json(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)


def as_process(args: Sequence[str], *, cwd: str, env: Mapping[str, str], stdin: bytes = b"") -> Done:
    """Run ``git ralph <args>`` as a process of its own."""
    done = subprocess.run([*COMMAND, *args], cwd=cwd, env=env, input=stdin, capture_output=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def wait_for(happened: Callable[[], object], seconds: float = PATIENCE / 10) -> bool:
    """Whether something happened before the time was over."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def wait_until_gone(pid: str) -> None:
    """Return when a killed process has ended: the scheduler gets to it when it does."""
    deadline = time.monotonic() + PATIENCE / 10
    while os.access(f"/proc/{pid}/cwd", os.R_OK):  # a zombie has none
        if time.monotonic() > deadline:
            os.kill(int(pid), signal.SIGKILL)
            raise AssertionError(f"{pid} was still there")
        time.sleep(0.02)


def in_process(args: Sequence[str], *, cwd: str, env: Mapping[str, str], stdin: bytes = b"") -> Done:
    """Run ``git ralph <args>`` here, through the same entry point as the console script."""
    from gitralph.__main__ import main

    with _streams(stdin) as (out, err), _place(["git-ralph", *args], cwd, env):
        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(code, _whole(out), _whole(err))


def _whole(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


@contextlib.contextmanager
def _place(argv: list[str], cwd: str, env: Mapping[str, str]) -> Iterator[None]:
    kept = (sys.argv, dict(os.environ), os.getcwd(), list(sys.path), os.umask(0o022))
    os.umask(kept[4])
    sys.argv = argv
    _set_environment(env)
    os.chdir(cwd)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = kept[0], kept[3]
        _set_environment(kept[1])
        os.chdir(kept[2])
        os.umask(kept[4])


def _set_environment(env: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)


def _stream(fd: int, mode: str, errors: str) -> TextIO:
    stream: Any = open(fd, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115  closed by _streams
    return stream  # type: ignore[no-any-return]


@contextlib.contextmanager
def _streams(stdin: bytes) -> Iterator[tuple[int, int]]:
    """Fresh descriptors 0, 1, 2 and the Python streams over them; yields where 1 and 2 end up."""
    python = sys.stdin, sys.stdout, sys.stderr
    saved = [os.dup(fd) for fd in (0, 1, 2)]
    files = [os.memfd_create(name) for name in ("stdin", "stdout", "stderr")]
    os.write(files[0], stdin)
    os.lseek(files[0], 0, os.SEEK_SET)
    for fd, file in enumerate(files):
        os.dup2(file, fd)
    # strict, as in any locale but C: text that cannot be written must not go unnoticed
    sys.stdin, sys.stdout = _stream(0, "r", "strict"), _stream(1, "w", "strict")
    sys.stderr = _stream(2, "w", "backslashreplace")
    opened = sys.stdin, sys.stdout, sys.stderr
    try:
        yield files[1], files[2]
    finally:
        for stream in opened:
            stream.close()
        sys.stdin, sys.stdout, sys.stderr = python
        for fd, file in enumerate(saved):
            os.dup2(file, fd)
            os.close(file)
        for file in files:
            os.close(file)

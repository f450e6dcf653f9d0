"""Starts programs: the one place outside the fast lane, which has :mod:`gitralph.base.programs`."""

import contextlib
import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from subprocess import CompletedProcess, Popen

Words = Sequence[str | bytes]


class LateError(Exception):
    """A program took too long and was killed with all it had started. ``out`` is what it had printed."""

    def __init__(self, out: bytes) -> None:
        super().__init__("took too long")
        self.out = out


def start(
    words: Words,
    *,
    env: Mapping[str, str] | None,
    cwd: str | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = subprocess.PIPE,
    stderr: int | None = subprocess.PIPE,
    keep: tuple[int, ...] = (),
    group: bool = False,
) -> Popen[bytes]:
    """Start a program; without ``stdin`` it reads nothing.

    With ``group`` it leads a process group, so that :func:`kill` ends all it started; descriptors in
    ``keep`` it inherits.
    """
    return subprocess.Popen(
        words,
        env=env,
        cwd=cwd,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        pass_fds=keep,
        start_new_session=group,
    )


def send(pid: int, what: int) -> None:
    """Send a signal to the group that a process leads; gone is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, what)


def kill(child: Popen[bytes]) -> bytes:
    """End a program and all that it started; what it had printed."""
    send(child.pid, signal.SIGKILL)
    return child.communicate()[0] or b""


def run(
    words: Words,
    *,
    env: Mapping[str, str] | None,
    cwd: str | None = None,
    given: bytes | None = None,
    stderr: int | None = subprocess.PIPE,
    seconds: float | None = None,
    keep: tuple[int, ...] = (),
    group: bool = False,
    most: int | None = None,
) -> CompletedProcess[bytes]:
    """Run a program to its end, whatever its exit code, with ``given`` as its input.

    No file that it or what it starts writes gets longer than ``most`` bytes, where the system can say so.
    Raises OSError when it cannot be started, LateError when ``seconds`` are over.
    """
    child = start(
        words,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
        stderr=stderr,
        keep=keep,
        group=group or seconds is not None,
    )
    if most is not None:
        _limit_files(child.pid, most)
    try:
        out, err = child.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise LateError(kill(child)) from None
    return subprocess.CompletedProcess(list(words), child.returncode, out, err)


def _limit_files(pid: int, most: int) -> None:
    """Bound what a process writes; set from outside, before it has read what there is to write."""
    if hasattr(resource, "prlimit"):  # Linux
        with contextlib.suppress(OSError, ValueError):  # it is over already, or bound more tightly
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


def show(
    words: Words,
    *,
    env: Mapping[str, str],
    cwd: str | None = None,
    stdin: int | None = None,
    stdout: int | None = None,
) -> int:
    """Run a program on the user's own terminal; its exit code."""
    return subprocess.run(words, env=env, cwd=cwd, stdin=stdin, stdout=stdout, check=False).returncode

"""Starts programs.

It is the only place for that outside the fast lane, which has :mod:`gitralph.base.programs`.
"""

import contextlib
import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from subprocess import CompletedProcess, Popen

Words = Sequence[str | bytes]


class LateError(Exception):
    """A program took too long and was killed with everything it had started.

    ``out`` is what it had printed.
    """

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

    With ``group`` the program leads a process group, so that :func:`kill` ends everything it started. It
    inherits the descriptors in ``keep``.
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
    """Send a signal to the group that a process leads; a group that is gone is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, what)


def kill(child: Popen[bytes]) -> bytes:
    """End a program and everything it started; returns what it had printed."""
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

    No file that it or its children write gets longer than ``most`` bytes, where the system can limit that.
    Raises OSError when it cannot be started, LateError after ``seconds``.
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
    """Limit what a process writes. The limit is set from outside, before the process has read its input."""
    if hasattr(resource, "prlimit"):  # Linux
        with contextlib.suppress(OSError, ValueError):  # it has ended already, or has a tighter limit
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


def show(
    words: Words,
    *,
    env: Mapping[str, str],
    cwd: str | None = None,
    stdin: int | None = None,
    stdout: int | None = None,
) -> int:
    """Run a program on the user's own terminal; returns its exit code."""
    return subprocess.run(words, env=env, cwd=cwd, stdin=stdin, stdout=stdout, check=False).returncode

"""Starts programs with ``posix_spawn``, for what is started in every command: git.

Importing ``subprocess`` costs a command 8 of 78 ms with what it brings (``re``, ``locale``, ``threading``,
``selectors``, ``contextlib``, ``enum``; Python 3.11), more than the git processes of ``status``. What this
cannot do is left to it: another folder than ours, a group, a terminal; see ``base.run``.
"""

import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import IO

# As subprocess does with restore_signals: Python ignores SIGPIPE and SIGXFSZ, and git is to die of them.
_DEFAULT_SIGNALS = (13, 25)  # signal(7), the same numbers on Linux and macOS
# A descriptor that is duplicated to itself loses its close-on-exec flag only since this glibc.
_GLIBC = (2, 29)
PIPE, NOTHING = -1, -3


class Done:
    """How a program ended: exit code (negative for a signal), what it printed."""

    __slots__ = ("returncode", "stderr", "stdout")

    def __init__(self, returncode: int, stdout: bytes, stderr: bytes) -> None:
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr


def can_keep() -> bool:
    """True where a child can be given a descriptor of ours; with an old C library subprocess does it."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        return name == "glibc" and tuple(int(word) for word in version.split(".")[:2]) >= _GLIBC
    except (ValueError, OSError):
        return False


class Child:
    """A program at work. ``stdin``, ``stdout`` and ``stderr`` are there where a pipe was wanted."""

    def __init__(
        self,
        words: "Sequence[str | bytes]",
        env: "Mapping[str, str]",
        stdin: int = NOTHING,
        stderr: int = PIPE,
        keep: tuple[int, ...] = (),
    ) -> None:
        """Start it, its output in a pipe. Raises OSError, ValueError for a NUL in a word."""
        self.returncode: int | None = None
        theirs: list[int] = []
        ours: dict[int, int] = {}
        actions: list[tuple[int, int, int]] = [(os.POSIX_SPAWN_DUP2, fd, fd) for fd in keep]
        try:
            for number, wanted in ((0, stdin), (1, PIPE), (2, stderr)):
                if wanted == PIPE:
                    read, write = os.pipe()
                    one, ours[number] = (read, write) if number == 0 else (write, read)
                else:
                    one = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
                theirs.append(one)
                actions.append((os.POSIX_SPAWN_DUP2, one, number))
            self.pid = os.posix_spawn(
                words[0], list(words), env, file_actions=actions, setsigdef=_DEFAULT_SIGNALS
            )  # fmt: skip
        except BaseException:
            for fd in ours.values():
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        self.stdin: IO[bytes] | None = os.fdopen(ours[0], "wb") if 0 in ours else None
        self.stdout: IO[bytes] = os.fdopen(ours[1], "rb")
        self.stderr: IO[bytes] | None = os.fdopen(ours[2], "rb") if 2 in ours else None

    def wait(self) -> int:
        """Its exit code, when it has ended."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def communicate(self, given: bytes = b"") -> tuple[bytes, bytes]:
        """Give it its input, and read what it prints to the end; output and errors."""
        streams = [one for one in (self.stdin, self.stdout, self.stderr) if one is not None]
        try:
            said = _talk(self.stdin, [one for one in (self.stdout, self.stderr) if one is not None], given)
        finally:
            for stream in streams:
                stream.close()
        self.wait()
        return said[0], said[1] if self.stderr is not None else b""


def _talk(stdin: "IO[bytes] | None", readers: "list[IO[bytes]]", given: bytes) -> list[bytes]:
    """Write and read by turns, whatever is ready: with either first, both sides could wait for ever."""
    said: dict[int, list[bytes]] = {one.fileno(): [] for one in readers}
    poll = select.poll()
    for fd in said:
        poll.register(fd, select.POLLIN | select.POLLHUP)
    left = memoryview(given)
    if stdin is not None:
        os.set_blocking(stdin.fileno(), False)
        poll.register(stdin.fileno(), select.POLLOUT)
    wanted = len(said) + (stdin is not None)
    while wanted:
        for fd, _ in poll.poll():
            if fd in said:
                chunk = os.read(fd, 1 << 16)
                said[fd].append(chunk)
                over = not chunk
            else:
                left = left[_write(fd, left) :]
                over = not left
            if over:
                poll.unregister(fd)
                wanted -= 1
                if stdin is not None and fd not in said:
                    stdin.close()
                    stdin = None
    return [b"".join(chunks) for chunks in said.values()]


def _write(fd: int, data: memoryview) -> int:
    """How much of ``data`` is done with: all of it where nobody reads any more."""
    try:
        return os.write(fd, data[: 1 << 16]) if data else 0
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(data)


def run(
    words: "Sequence[str | bytes]", env: "Mapping[str, str]", given: bytes | None, keep: tuple[int, ...] = ()
) -> Done:
    """Run a program to its end, whatever its exit code; without ``given`` it reads nothing."""
    child = Child(words, env, NOTHING if given is None else PIPE, PIPE, keep)
    out, err = child.communicate(given or b"")
    return Done(child.wait(), out, err)

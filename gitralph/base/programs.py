"""Where a program lies, which of our environment it gets, and how a hook starts it.

Fast lane: :func:`quick` and :func:`detached` use ``os.posix_spawn``, since importing ``subprocess`` costs a
hook more than git does. All other code starts programs by :mod:`gitralph.base.runner`.
"""

import os
import select
import time
from collections.abc import Mapping

# Variables that say which repository is meant and how its history reads. Only a git that must find the
# caller's repository keeps them.
_NAMING = frozenset(
    [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_COMMON_DIR",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_GRAFT_FILE",
        "GIT_SHALLOW_FILE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_REPLACE_REF_BASE",
    ]
)
# Variables by which git tells a hook, an alias or a filter about one repository and one index, and how a
# command reads pathspecs. No program that we start may inherit them: in another worktree it would write to
# the wrong index, or its objects into a quarantine that is thrown away. The list is based on git's own, `git
# rev-parse --local-env-vars`, without the configuration in it, which is what the user gave with `git -c`. We
# set GIT_OPTIONAL_LOCKS ourselves for the git that we start.
_NOT_INHERITED = _NAMING | {
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_OPTIONAL_LOCKS",
}
# In bytes. `git status` of a tree in which everything is untracked may print without end; a hook gives up
# here.
_OUTPUT_LIMIT = 64 << 20


def inherited(environ: Mapping[str, str], naming: bool = False) -> dict[str, str]:
    """The part of our environment that a program gets; ``naming``: also the caller's repository."""
    dropped = _NOT_INHERITED - _NAMING if naming else _NOT_INHERITED
    return {key: value for key, value in environ.items() if key not in dropped}


def find(name: str, environ: Mapping[str, str]) -> str | None:
    """The absolute path of a program, None when it is not on PATH. Relative entries of PATH do not count."""
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        file = f"{folder}/{name}"
        # A "." in PATH would let a file of the working tree run as git.
        if folder[:1] == "/" and os.path.isfile(file) and os.access(file, os.X_OK):
            return file
    return None


def detached(words: list[str], env: Mapping[str, str]) -> None:
    """Start a program that nobody waits for, in a session of its own, with its streams closed.

    Raises OSError or ValueError when it cannot be started.
    """
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
        try:
            os.posix_spawn(words[0], words, dict(env), file_actions=actions, setsid=True)
        except NotImplementedError:  # a system without POSIX_SPAWN_SETSID; a process group is the next best
            os.posix_spawn(words[0], words, dict(env), file_actions=actions, setpgroup=0)
    finally:
        os.close(null)


def quick(
    words: list[str], env: dict[str, str], deadline: float, stdin: bytes = b""
) -> tuple[int, bytes] | None:
    """Exit code and output of a program; None when it was killed at ``deadline``.

    Raises OSError or ValueError when it cannot be started.
    """
    pid, fd = _spawn(words, env, stdin)
    try:
        said = _read(fd, deadline)
    finally:
        os.close(fd)
    if said is None:
        import signal  # imported here: its names cost every hook half a millisecond, and hardly one kills

        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return None if said is None else (code, said)


def _input(stdin: bytes) -> int:
    """A file with the program's input: a pipe would fill up while nobody reads what the program prints."""
    import tempfile

    fd, name = tempfile.mkstemp()
    os.unlink(name)
    os.write(fd, stdin)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _spawn(words: list[str], env: dict[str, str], stdin: bytes) -> tuple[int, int]:
    read, write = os.pipe()
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    given = _input(stdin) if stdin else null
    actions = [
        (os.POSIX_SPAWN_DUP2, given, 0),
        (os.POSIX_SPAWN_DUP2, write, 1),
        (os.POSIX_SPAWN_DUP2, null, 2),
    ]
    try:
        return os.posix_spawn(words[0], words, env, file_actions=actions), read
    except BaseException:
        os.close(read)
        raise
    finally:
        os.close(write)
        for fd in {null, given}:
            os.close(fd)


def _read(fd: int, deadline: float) -> bytes | None:
    """Everything up to the end; None when the deadline or the limit comes first."""
    chunks: list[bytes] = []
    size = 0
    while size <= _OUTPUT_LIMIT:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return None
        chunk = os.read(fd, 1 << 18)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
    return None

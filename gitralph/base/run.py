"""The one place that starts programs, and the one list of git's variables that they do not inherit.

Fast lane: a hook starts git by :func:`quick`, at a tenth of what importing ``subprocess`` costs; everybody
else uses :func:`run`, :func:`show` and :func:`start`, which import it when called.
"""

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from subprocess import CompletedProcess, Popen

    Words = Sequence[str | bytes]

# kill(1) has the same number everywhere; importing signal brings enum, 3 of the 92 ms of a commit
SIGKILL = 9
# subprocess's own numbers, for callers that say where a stream goes
PIPE, STDOUT, NOTHING = -1, -2, -3
INHERITED = None

# Which repository is meant, and how its history reads. A git that has to find the caller's own keeps them,
# nobody else.
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
# What git tells a hook, an alias or a filter about one repository and one index, and how a command reads
# pathspecs. Nothing we start may take it for its own: in another worktree it would write to the wrong index,
# or its objects into a quarantine that is thrown away. Based on git's own list, `git rev-parse
# --local-env-vars`, without the configuration in it, which is what the user said with `git -c`.
# GIT_OPTIONAL_LOCKS we set ourselves, for the git that we start.
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
# `git status` of a tree in which everything is untracked may print without end; a hook gives up here.
_OUTPUT_LIMIT = 64 << 20


class LateError(Exception):
    """A program took too long and was killed with all it had started. ``out`` is what it had printed."""

    def __init__(self, out: bytes) -> None:
        super().__init__("took too long")
        self.out = out


def inherited(environ: "Mapping[str, str]", naming: bool = False) -> dict[str, str]:
    """What a program gets of our environment; with ``naming``, also which repository the caller means."""
    dropped = _NOT_INHERITED - _NAMING if naming else _NOT_INHERITED
    return {key: value for key, value in environ.items() if key not in dropped}


def find(name: str, environ: "Mapping[str, str]") -> str | None:
    """The absolute path of a program, None when it is not on PATH; relative entries of it do not count."""
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        file = f"{folder}/{name}"
        # A "." in PATH would let a file of the working tree run as git.
        if folder[:1] == "/" and os.path.isfile(file) and os.access(file, os.X_OK):
            return file
    return None


def start(
    words: "Words",
    *,
    env: "Mapping[str, str] | None",
    cwd: str | None = None,
    stdin: int = NOTHING,
    stdout: int | None = PIPE,
    stderr: int | None = PIPE,
    keep: tuple[int, ...] = (),
    group: bool = False,
) -> "Popen[bytes]":
    """Start a program; without ``stdin`` it reads nothing.

    With ``group`` it leads a process group, so that :func:`kill` ends all it started; descriptors in
    ``keep`` it inherits.
    """
    import subprocess

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
    try:
        os.killpg(pid, what)
    except (ProcessLookupError, PermissionError):
        pass


def kill(child: "Popen[bytes]") -> bytes:
    """End a program and all that it started; what it had printed."""
    send(child.pid, SIGKILL)
    return child.communicate()[0] or b""


def run(
    words: "Words",
    *,
    env: "Mapping[str, str] | None",
    cwd: str | None = None,
    given: bytes | None = None,
    stderr: int | None = PIPE,
    seconds: float | None = None,
    keep: tuple[int, ...] = (),
    group: bool = False,
    most: int | None = None,
) -> "CompletedProcess[bytes]":
    """Run a program to its end, whatever its exit code, with ``given`` as its input.

    No file that it or what it starts writes gets longer than ``most`` bytes, where the system can say so.
    Raises OSError when it cannot be started, LateError when ``seconds`` are over.
    """
    import subprocess

    child = start(
        words,
        env=env,
        cwd=cwd,
        stdin=NOTHING if given is None else PIPE,
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
    import resource

    if hasattr(resource, "prlimit"):  # Linux
        try:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
        except (OSError, ValueError):
            pass  # it is over already, or bound more tightly


def detached(words: list[str], env: "Mapping[str, str]") -> None:
    """Start a program that nobody waits for, in a session of its own, its streams closed. For hooks too.

    Raises OSError or ValueError when it cannot be started.
    """
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
        os.posix_spawn(words[0], words, dict(env), file_actions=actions, setsid=True)
    finally:
        os.close(null)


def show(
    words: "Words",
    *,
    env: "Mapping[str, str]",
    cwd: str | None = None,
    stdin: int | None = INHERITED,
    stdout: int | None = INHERITED,
) -> int:
    """Run a program on the user's own terminal; its exit code."""
    import subprocess

    return subprocess.run(words, env=env, cwd=cwd, stdin=stdin, stdout=stdout, check=False).returncode


def quick(words: list[str], env: dict[str, str], deadline: float) -> tuple[int, bytes] | None:
    """Exit code and output of a program that is killed at ``deadline``, and then None. For hooks.

    Raises OSError or ValueError when it cannot be started.
    """
    pid, fd = _spawn(words, env)
    try:
        said = _read(fd, deadline)
    finally:
        os.close(fd)
    if said is None:
        os.kill(pid, SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return None if said is None else (code, said)


def _spawn(words: list[str], env: dict[str, str]) -> tuple[int, int]:
    read, write = os.pipe()
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    # posix_spawn: importing subprocess costs a hook more than starting git does.
    actions = [
        (os.POSIX_SPAWN_DUP2, null, 0),
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
        os.close(null)


def _read(fd: int, deadline: float) -> bytes | None:
    """All that comes until the end, None when the deadline or the limit comes first."""
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

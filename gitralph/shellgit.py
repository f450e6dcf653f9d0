"""Starts git from a hook: no shell, no configured program, a deadline. For shell events only.

Lane 0. ``posix_spawn`` and ``select`` do what is needed at a tenth of the cost of ``subprocess``.
"""

import os
import select
import signal
import time

_NOT_PASSED_ON = frozenset([
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_TRACE", "GIT_TRACE2",
])  # fmt: skip
_EMPTY, _FALSE = "RALPH_EMPTY", "RALPH_FALSE"
_OUTPUT_LIMIT = 64 << 20
_SETTINGS = r"^(ralph\.shelledits|filter\..*\.(clean|process))$"


def _program(environ: dict[str, str]) -> str | None:
    for folder in environ.get("PATH", os.defpath).split(":"):
        file = folder + "/git"
        if folder[:1] == "/" and os.path.isfile(file) and os.access(file, os.X_OK):
            return file
    return None


def _start(words: list[str], environ: dict[str, str]) -> tuple[int, int]:
    read, write = os.pipe()
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    actions = [
        (os.POSIX_SPAWN_DUP2, null, 0),
        (os.POSIX_SPAWN_DUP2, write, 1),
        (os.POSIX_SPAWN_DUP2, null, 2),
    ]
    try:
        return os.posix_spawn(words[0], words, environ, file_actions=actions), read
    except OSError:
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


def run(
    root: str, words: list[str], environ: dict[str, str], deadline: float, ok: tuple[int, ...] = (0,)
) -> bytes | None:
    """What git prints in the worktree at ``root``; None when it fails or takes too long."""
    program = _program(environ)
    if program is None:
        return None
    passed = {key: value for key, value in environ.items() if key not in _NOT_PASSED_ON}
    passed |= {"GIT_OPTIONAL_LOCKS": "0", _EMPTY: "", _FALSE: "false"}
    try:
        pid, fd = _start([program, "-C", root, "-c", "core.fsmonitor=false", *words], passed)
    except (OSError, ValueError):
        return None
    try:
        said = _read(fd, deadline)
    finally:
        os.close(fd)
    if said is None:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return said if code in ok else None


def settings(root: str, environ: dict[str, str], deadline: float) -> tuple[list[str], bool] | None:
    """``-c`` options under which git runs no filter, and whether shell commands are to be watched."""
    said = run(root, ["config", "--null", "--get-regexp", _SETTINGS], environ, deadline, ok=(0, 1))
    if said is None:
        return None
    options: list[str] = []
    wanted = True
    for row in said.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        key, _, value = row.partition("\n")
        if key == "ralph.shelledits":
            wanted = value.strip().lower() != "off"
            continue
        name = key.rpartition(".")[0]
        # not -c: a filter's name may hold the sign that ends a key there
        options += [f"--config-env={key}={_EMPTY}", f"--config-env={name}.required={_FALSE}"]
    return options, wanted

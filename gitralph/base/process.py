"""Identifies the process of a session: its id, its start time and the boot.

Fast lane; it needs Linux's /proc. Another program may get the same pid later. So all three must agree before
a session counts as live. This is advice for people; nothing is deleted because of it.
"""

import os
import time
from collections.abc import Callable, Iterable

from gitralph.base import nul

# A hook framework may stand between git and us, with a shell or two below it. Without a bound a loop of pids
# in a damaged /proc would hang.
_FAR = 12
# In bytes. Linux gives a program at most 6 MB of variables and words with the usual stack limit (execve(2)).
_ENVIRON = 8 << 20
_KERNEL = 2  # kthreadd, the parent of all threads of the kernel
_LOOKS, _PAUSE = 50, 0.02  # a second in all; execve takes milliseconds, on a machine under load more
# Processes that may stand between an agent and us: the shell of its tool, and git when a hook of git's calls
# us.
_PASSED_OVER = frozenset(["sh", "bash", "dash", "zsh", "ash", "ksh", "git", "git-ralph", "env"])


def _stat(pid: int) -> tuple[str, int, str] | None:
    """Name, parent and start time (clock ticks since boot) of a process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            said = file.read(1024).decode("ascii", "replace")
    except OSError:
        return None
    # A program's name may hold blanks and parentheses; the last one ends it (proc(5)).
    name, _, rest = said.partition("(")[2].rpartition(")")
    fields = rest.split()
    if len(fields) <= 19 or fields[0] in "ZX":
        return None  # the process is dead, and nobody has waited for it yet
    return name, int(fields[1]), fields[19]


def is_stopped(pid: int) -> bool:
    """True for a process that a signal or a debugger has stopped."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read(1024).rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False


def boot_id() -> str | None:
    """This boot's id, None where the kernel does not tell."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return file.read(64).decode("ascii", "replace").strip()
    except OSError:
        return None


def space() -> str | None:
    """Our pid namespace; None where /proc does not tell it.

    A pid from another namespace means nothing here.
    """
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return None


def identity(pid: int) -> dict[str, object] | None:
    """What a session's record keeps of a process; None where /proc does not tell."""
    found = _stat(pid)
    return None if found is None else {"pid": pid, "start": found[2], "boot": boot_id()}


def ancestor(pass_over: frozenset[str] = _PASSED_OVER) -> dict[str, object] | None:
    """The nearest ancestor that is no shell and not git: the agent, as far as anybody can tell."""
    return _nearest(lambda name: name not in pass_over)


def above(name: str) -> dict[str, object] | None:
    """The nearest ancestor of that name, None where there is none or /proc does not tell."""
    return _nearest(name.__eq__)


def has_started(one: object, other: object) -> bool:
    """True where the process of one record started that of another, which started us, at any distance."""
    pid, boot, found = os.getppid(), boot_id(), list[dict[str, object]]()
    for _ in range(2 * _FAR):
        said = _stat(pid)
        if said is None or pid <= 1:
            break
        found.append({"pid": pid, "start": said[2], "boot": boot})
        pid = said[1]
    return one in found and other in found and found.index(other) < found.index(one)


def _nearest(fits: Callable[[str], bool]) -> dict[str, object] | None:
    pid = os.getppid()
    for _ in range(_FAR):
        found = _stat(pid)
        if found is None or pid <= 1:
            return None
        if fits(found[0]):
            return {"pid": pid, "start": found[2], "boot": boot_id()}
        pid = found[1]
    return None


def named(name: str) -> list[int] | None:
    """Every process of that name that runs; None where /proc does not tell."""
    try:
        pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return None
    found = [pid for pid in pids if (said := _stat(pid)) is not None and said[0] == name]
    return found if pids else None


def is_running(kept: object) -> bool:
    """As :func:`is_alive`; where nobody can tell more, any process with that id counts."""
    alive = is_alive(kept)
    if alive is not None:
        return alive
    if not isinstance(kept, dict) or type(kept.get("pid")) is not int:
        return False
    return exists(kept["pid"])


def left_behind(kept: dict[str, object], names: Iterable[str], values: Iterable[str]) -> bool | None:
    """True where a process of this user, younger than that of a record, has one of these variables with one
    of these values; None where nobody can tell.
    """
    wanted = {f"{name}={value}".encode() for name in names for value in values}
    born = str(kept.get("start"))
    if not born.isdecimal() or not os.path.isdir("/proc/self"):
        return None
    pids, with_words = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()], set[int]()
    for _ in range(_LOOKS):
        try:
            found = {pid: said for pid in pids if (said := _variables(pid, int(born))) is not None}
        except OSError:
            return None
        if any(not wanted.isdisjoint(nul.rows(said)) for said in found.values()):
            return True
        # Within execve(2) a process has neither words nor variables: 1 of 80 reads beside
        # `sh -c 'exec sleep 600'` (Linux 6.18). One that has words has been started.
        pids = [pid for pid, said in found.items() if not said and pid not in with_words]
        if not pids:
            return False
        with_words = {pid for pid in pids if words(pid)}
        time.sleep(_PAUSE)
    return None


def _variables(pid: int, born: int) -> bytes | None:
    """The environment of a process of this user that is no older than ``born``; None for any other.

    Raises OSError where it may not be read.
    """
    found = _stat(pid)
    # older processes are none of the agent's programs, and dead ones do not count
    if found is None or int(found[2]) < born or found[1] == _KERNEL:
        return None
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return None
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read(_ENVIRON)
    except (FileNotFoundError, ProcessLookupError):
        return None  # it has ended meanwhile, or belongs to the kernel


def exists(pid: int) -> bool:
    """True for a running process, whoever owns it."""
    try:
        os.kill(pid, 0)  # signal 0 asks without sending (POSIX kill)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # it belongs to somebody else
    return True


def words(pid: int) -> list[bytes] | None:
    """The command line of a process, None where /proc does not tell."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return nul.rows(file.read(1 << 20))
    except OSError:
        return None


def is_alive(kept: object) -> bool | None:
    """True while the process of a record exists; None where nobody can tell."""
    if not isinstance(kept, dict) or type(kept.get("pid")) is not int:
        return None
    now = identity(kept["pid"])
    if now is None:
        return False if os.path.isdir("/proc/self") else None
    return now == kept

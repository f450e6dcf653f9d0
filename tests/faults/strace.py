"""Drives strace: which mutating calls a command makes, and the same command hurt before one of them.

Children are not traced: it is our process that dies or fails, git's processes run to their end.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.faults.scenes import Place
from tests.support.size import FULL

COMMAND = [sys.executable, "-P", "-m", "gitralph"]
# A name that the machine's architecture lacks is passed over because of its question mark.
CALLS = (
    "write",
    "pwrite64",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "fsync",
    "ftruncate",
    "chmod",
    "fchmod",
    "fchmodat",
    "openat",
)
_SET = ",".join("?" + name for name in CALLS)
LIMIT = 60.0


@dataclass(frozen=True)
class Point:
    """The ``when``-th call of one kind, and what it was when nothing was hurt."""

    call: str
    when: int
    shown: str

    def __str__(self) -> str:
        return f"{self.call} {self.when}: {self.shown}"


def chosen(points: Sequence[Point], most: int, named: Collection[str] = ()) -> list[Point]:
    """All points, or in a CI run so many, spread evenly, and as many of the calls named.

    A count, not every n-th: how many calls a command makes must not decide how long the suite takes.
    """
    if FULL:
        return list(points)
    of_name = [number for number, point in enumerate(points) if point.call in named]
    wanted = {*_spread(range(len(points)), most), *_spread(of_name, most)}
    return [point for number, point in enumerate(points) if number in wanted]


def _spread(numbers: Sequence[int], most: int) -> Sequence[int]:
    # a commit's first and last calls tell least, so the ends are left out: of two, the thirds
    count = len(numbers)
    return numbers if count <= most else [numbers[at * count // (most + 1)] for at in range(1, most + 1)]


@dataclass(frozen=True)
class Ended:
    """How a hurt command ended; ``code`` is negative for a signal."""

    code: int
    out: str
    err: str


@cache
def missing() -> str | None:
    """Why there can be no sweep on this machine, None where there can."""
    if shutil.which("strace") is None:
        return "strace is not installed: NO FAULT WAS INJECTED"
    tried = subprocess.run(
        ["strace", "-qq", "-o", os.devnull, "-e", "inject=close:error=EIO:when=9999", "true"],
        capture_output=True,
        check=False,
    )
    if tried.returncode:
        why = tried.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"strace cannot trace here ({why[0] if why else '?'}): NO FAULT WAS INJECTED"
    return None


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    # a .pyc written now and then would shift every later call
    return {**env, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


@contextmanager
def _on_one_core() -> Iterator[None]:
    # strace and what it traces wake each other at every call: on two cores that takes twice the time
    all_cores, stat = os.sched_getaffinity(0), Path("/proc/self/stat").read_text()
    os.sched_setaffinity(0, {int(stat.rpartition(")")[2].split()[36])})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)


def run(words: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: bytes = b"") -> Ended:
    """Run a command that is traced, or that starts one that is."""
    with _on_one_core():
        child = subprocess.Popen(
            [*words],
            cwd=cwd,
            env=_environment(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    try:
        out, err = child.communicate(stdin, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise AssertionError(f"hung for {LIMIT:.0f} s: {' '.join(words)}") from None
    code = child.returncode
    # strace ends as its tracee did, by the same signal where it can
    code = 128 - code if code > 128 and code - 128 == signal.SIGKILL else code
    return Ended(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def points(place: Place, log: Path, command: Sequence[str] = COMMAND) -> tuple[Ended, list[Point]]:
    """Run the place's command unharmed; how it ended and every call that may change something."""
    ended = run([*recording(log), *command, *place.args], place.root, place.env, place.stdin)
    return ended, calls_in(log)


def recording(log: Path) -> list[str]:
    """strace that writes every call that may change something into ``log``."""
    return ["strace", "-qq", "-s", "80", "-o", str(log), "-e", f"trace={_SET}"]


def injecting(point: Point, how: str) -> list[str]:
    """strace that hurts a program before one call."""
    inject = f"inject={point.call}:{how}:when={point.when}"
    return ["strace", "-qq", "-o", os.devnull, "-e", f"trace={point.call}", "-e", inject]


def calls_in(log: Path) -> list[Point]:
    """The calls of a log, each with its number among those of its kind."""
    counts: dict[str, int] = {}
    found = []
    with log.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            call = re.match(r"([a-z0-9]+)\(", line)
            if call is None:
                continue
            name = call[1]
            counts[name] = counts.get(name, 0) + 1
            if name != "openat" or "O_CREAT" in line:
                found.append(Point(name, counts[name], line.strip()[:160]))
    return found


def hurt(place: Place, point: Point, how: str, command: Sequence[str] = COMMAND) -> Ended:
    """Run the place's command with ``how`` (``signal=KILL``, ``error=ENOSPC``) before one call."""
    return run([*injecting(point, how), *command, *place.args], place.root, place.env, place.stdin)

"""How long who waits for a named lock waits at most, where many take turns.

    python -m benchmarks.turns [--processes 16] [--turns 20] [--held 20]

Each process takes the lock, keeps it for ``--held`` milliseconds and lets it go, ``--turns`` times, without a
pause between. Printed are the longest wait, that of 19 in 20 and the time of all, for the kernel's own queue
(``flock``), for ``filelock.FileLock`` as it is, and for ``base.locks``, which puts a line before it.
"""

import argparse
import fcntl
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.synchronize import Barrier

from filelock import FileLock

from gitralph.base import locks
from gitralph.base.layout import Layout

Take = Callable[[Layout], AbstractContextManager[object]]


@contextmanager
def _kernel(layout: Layout) -> Iterator[None]:
    os.makedirs(os.path.dirname(layout.lock(locks.COMMIT)), exist_ok=True)
    with open(layout.lock(locks.COMMIT), "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _bare(interval: float) -> Take:
    return lambda layout: FileLock(layout.lock(locks.COMMIT), poll_interval=interval)


def _ours(layout: Layout) -> AbstractContextManager[object]:
    return locks.hold(layout, locks.COMMIT)


WAYS: dict[str, Take] = {
    "flock": _kernel,
    "FileLock, asking every 50 ms": _bare(0.05),
    "FileLock, asking every 5 ms": _bare(0.005),
    "base.locks": _ours,
}


def _work(take: Take, layout: Layout, turns: int, held: float, start: Barrier, out: str) -> None:
    start.wait()
    with open(out, "w") as file:
        for _ in range(turns):
            begun = time.monotonic()
            with take(layout):
                file.write(f"{time.monotonic() - begun}\n")
                time.sleep(held)


def run(take: Take, processes: int, turns: int, held: float) -> tuple[list[float], float]:
    """Every wait in seconds, shortest first, and the time of all."""
    fork = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        layout, start = Layout(folder, "main"), fork.Barrier(processes + 1)
        outs = [f"{folder}/{n}" for n in range(processes)]
        jobs = [fork.Process(target=_work, args=(take, layout, turns, held, start, out)) for out in outs]
        for job in jobs:
            job.start()
        start.wait()
        begun = time.monotonic()
        for job in jobs:
            job.join()
        took = time.monotonic() - begun
        waits: list[float] = []
        for out in outs:
            with open(out) as file:
                waits += [float(row) for row in file]
    assert len(waits) == processes * turns, "somebody gave up"
    return sorted(waits), took


def main() -> None:
    """Print a line for each way."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--processes", type=int, default=16)
    options.add_argument("--turns", type=int, default=20)
    options.add_argument("--held", type=float, default=20, help="milliseconds")
    given = options.parse_args()
    print(f"{'':<30}{'longest':>9}{'19 of 20':>10}{'all':>8}")
    for name, take in WAYS.items():
        waits, took = run(take, given.processes, given.turns, given.held / 1000)
        late = waits[int(len(waits) * 0.95)]
        print(f"{name:<30}{waits[-1]:7.2f} s{late:8.2f} s{took:6.1f} s", flush=True)


if __name__ == "__main__":
    main()

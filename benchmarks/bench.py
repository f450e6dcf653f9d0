"""``make bench``: what gitralph costs, as ratios measured in one run; milliseconds are this machine's only.

Without ``--full`` it takes a minute or two; with it a repository of a million files and 800 commits by
16 processes are measured as well.
"""

import argparse
import multiprocessing
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.fixtures import Repository, repository, ten_paths

RUNS = 15
GIT_RALPH = "git-ralph"


@dataclass
class Row:
    """One line of the table: what, how long, against what, and the goal if there is one."""

    what: str
    seconds: float
    ratio: float | None = None
    against: str = ""
    goal: float | None = None


@dataclass
class Table:
    """The rows so far; printed as they come."""

    rows: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> float:
        """Print a row and keep it; returns its seconds."""
        self.rows.append(row)
        ratio = "" if row.ratio is None else f"{row.ratio:6.2f} x {row.against}"
        goal = ""
        if row.goal is not None and row.ratio is not None:
            goal = f"  goal <= {row.goal} {'met' if row.ratio <= row.goal else 'MISSED'}"
        print(f"{row.what:<58} {row.seconds * 1000:9.1f} ms  {ratio}{goal}", flush=True)
        return row.seconds


def _timed(repo: Repository, words: list[str], stdin: bytes) -> float:
    begin = time.perf_counter()
    subprocess.run(
        words, cwd=repo.root, env=repo.environ, input=stdin, stdout=subprocess.DEVNULL, check=True,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    return time.perf_counter() - begin


def alternate(cases: list[Callable[[int], float]], runs: int) -> list[float]:
    """The median of each case; the cases take turns, so that noise meets them alike."""
    taken: list[list[float]] = [[] for _ in cases]
    for number in range(runs + 1):
        for one, case in zip(taken, cases, strict=True):
            seconds = case(number)
            one += [seconds] if number else []  # the first warms the caches
    return [statistics.median(one) for one in taken]


def _hook(repo: Repository, label: str) -> Callable[[int], float]:
    def run(number: int) -> float:
        payload = repo.claude_payload("bench", "own/file.txt", f"{label} {number}\n")
        return _timed(repo, [GIT_RALPH, "hook", "claude-code"], payload)

    return run


def _bare(repo: Repository) -> Callable[[int], float]:
    return lambda _number: _timed(repo, [sys.executable, "-I", "-c", "pass"], b"")


def hooks(table: Table, runs: int, many: int) -> None:
    """The edit hook against an empty Python, in a small, an old and a large repository."""
    with repository(100) as small, repository(100) as old, repository(many) as large:
        for repo in (small, old, large):
            _hook(repo, "first")(0)
        old.add_dead_sessions(1000)
        cases = [_bare(small), _hook(small, "small"), _hook(old, "old"), _hook(large, "large")]
        bare, plain, dead, big = alternate(cases, runs * 2)
    table.add(Row("python -I -c pass", bare))
    table.add(Row("hook, an edit of Claude Code", plain, plain / bare, "python", 2.0))
    table.add(Row("hook with 1,000 dead sessions", dead, dead / plain, "hook", 1.1))
    table.add(Row(f"hook in a repository of {many:,} files", big, big / plain, "hook", 1.1))


def _ralph_commit(repo: Repository, paths: list[str]) -> Callable[[int], float]:
    def run(number: int) -> float:
        for path in paths:
            repo.edit("bench", path, f"ralph {number}\n")
        return _timed(repo, [GIT_RALPH, "commit", "-q", "--session", "bench", "-m", "x"], b"")

    return run


def _git_commit(repo: Repository, paths: list[str]) -> Callable[[int], float]:
    def run(number: int) -> float:
        for path in paths:
            repo.write(path, f"git {number}\n")
        added = _timed(repo, ["git", "add", "--", *paths], b"")
        return added + _timed(repo, ["git", "commit", "-q", "-m", "x"], b"")

    return run


def _index_write(repo: Repository, paths: list[str]) -> Callable[[int], float]:
    """What git alone needs to write an index of that size: the part of a commit that grows."""

    def run(number: int) -> float:
        repo.write(paths[0], f"index {number}\n")
        taken = _timed(repo, ["git", "update-index", "--", paths[0]], b"")
        repo.git("reset", "-q", "--", paths[0])
        return taken

    return run


def commits(table: Table, runs: int, sizes: list[int]) -> None:
    """A commit of ten paths against ``git add`` and ``git commit``, as the repository grows."""
    first: float | None = None
    for size in sizes:
        with repository(size) as repo:
            paths = ten_paths(size)
            halves = paths, [path.replace("f", "g") for path in paths]
            few = runs if size < 1_000_000 else 5
            cases = [_ralph_commit(repo, halves[0]), _git_commit(repo, halves[1]), _index_write(repo, paths)]
            ours, git, written = alternate(cases, few)
        table.add(Row(f"git add + git commit of 10 paths, {size:,} files", git))
        goal = 1.0 if size == 100_000 else None
        table.add(Row(f"git ralph commit of 10 paths, {size:,} files", ours, ours / git, "git", goal))
        table.add(Row(f"  of which the index fix-up (git update-index), {size:,}", written))
        own = ours - written
        first = own if first is None else first
        table.add(Row(f"  without the fix-up, {size:,}", own, own / first, f"{sizes[0]:,} files", 1.5))


def _worker(repo: Repository, name: str, count: int, git: bool) -> None:
    for number in range(count):
        path = f"{name}/{number}.txt"
        if not git:
            repo.edit(name, path, "text\n")
            _timed(repo, [GIT_RALPH, "commit", "-q", "--session", name, "-m", "x", "--", path], b"")
            continue
        repo.write(path, "text\n")
        words = f"until git add {path} && git commit -q --only -m x -- {path}; do sleep 0.02; done"
        _timed(repo, ["sh", "-c", words], b"")


def throughput(table: Table, processes: int, each: int) -> None:
    """Many committers on one branch; each commit must land once, none may be lost."""
    seconds = {}
    for git in (True, False):
        with repository(100) as repo:
            begin = time.perf_counter()
            workers = [
                multiprocessing.Process(target=_worker, args=(repo, f"w{n}", each, git))
                for n in range(processes)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            seconds[git] = time.perf_counter() - begin
            landed = int(repo.git("rev-list", "--count", "HEAD")) - 1
            assert landed == processes * each, f"{landed} of {processes * each} landed"
    total = processes * each
    table.add(
        Row(f"{processes} x {each} git commit with retry ({total / seconds[True]:.0f}/s)", seconds[True])
    )
    ratio = seconds[False] / seconds[True]
    label = f"{processes} x {each} git ralph commit ({total / seconds[False]:.0f}/s)"
    table.add(Row(label, seconds[False], ratio, "git", 1.0))


def main() -> int:
    """Measure and print; 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="a million files, 800 commits")
    parser.add_argument("--quick", action="store_true", help="few runs, small repositories")
    given = parser.parse_args()
    runs, many, sizes = RUNS, 100_000, [1_000, 10_000, 100_000]
    if given.quick:
        runs, many, sizes = 3, 2_000, [1_000, 2_000]
    table = Table()
    hooks(table, runs, many)
    commits(table, runs, [*sizes, 1_000_000] if given.full else sizes)
    if given.full or given.quick:
        throughput(table, *((16, 50) if given.full else (4, 3)))
    missed = [row for row in table.rows if row.goal and row.ratio and row.ratio > row.goal]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

"""``make bench``: what gitralph costs, as ratios measured in one run; milliseconds are this machine's only.

Measured is processor time, user and system, children included, and of each case the least of several
runs that take turns: what else the machine does hardly moves it. Only the committers at once are timed by
the clock. ``results.md`` beside this file keeps what was found.

Without ``--full`` it takes a few minutes; with it a repository of a million files, a million events and 800
commits by 16 processes are measured as well. ``--only <word>`` measures the parts whose name has the word.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import bending as histories
from benchmarks.fixtures import Repository, all_paths, repository, ten_paths

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


def _used(repo: Repository, words: list[str], stdin: bytes) -> tuple[float, int]:
    """Seconds of processor time of a process and its children, and the most memory of one, in KiB."""
    process = subprocess.Popen(
        words,
        cwd=repo.root,
        env=repo.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    try:
        process.stdin.write(stdin)
        process.stdin.close()
    except BrokenPipeError:
        pass
    said = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{words} ended with {process.returncode}: {said.decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


_WATCH = """
import os, sys
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss // 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def _memory(repo: Repository, words: list[str]) -> int:
    """The most memory of a command in MiB, asked by a small process: a child counts what its parent had."""
    watch = [sys.executable, "-I", "-c", _WATCH, *words]
    said = subprocess.run(watch, cwd=repo.root, env=repo.environ, check=True, capture_output=True).stdout
    return int(said)


def _timed(repo: Repository, words: list[str], stdin: bytes = b"") -> float:
    return _used(repo, words, stdin)[0]


def alternate(cases: list[Callable[[int], float]], runs: int) -> list[float]:
    """The least of each case; the cases take turns, so that noise meets them alike."""
    taken = [case(0) for case in cases]  # these warm the caches
    for number in range(1, runs + 1):
        taken = [min(least, case(number)) for least, case in zip(taken, cases, strict=True)]
    return taken


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
    table.add(Row("hook, an edit of Claude Code", plain, plain / bare, "python", 2.5))
    table.add(Row("hook with 1,000 dead sessions", dead, dead / plain, "hook", 1.1))
    table.add(Row(f"hook in a repository of {many:,} files", big, big / plain, "hook", 1.1))


def _ralph(repo: Repository, words: list[str]) -> Callable[[int], float]:
    return lambda _number: _timed(repo, [GIT_RALPH, *words])


_FLOOR = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
from benchmarks.floor import commit
commit()
"""


def _floor(repo: Repository, path: str) -> Callable[[int], float]:
    def run(number: int) -> float:
        repo.write(path, f"floor {number}\n")
        return _timed(repo, [sys.executable, "-P", "-c", _FLOOR, "-m", "x", path])

    return run


_AROUND = ("PreToolUse", "PostToolUse")


def _shell_event(repo: Repository, kind: str) -> Callable[[int], float]:
    """One of the two events around a shell call of an agent that changes nothing; the other is sent too."""

    def run(number: int) -> float:
        call = f"call-{number}-{time.monotonic_ns()}"
        told = {one: repo.shell_payload("bench", one, call) for one in _AROUND}
        return {one: _timed(repo, [GIT_RALPH, "hook", "claude-code"], told[one]) for one in _AROUND}[kind]

    return run


def shells(table: Table, runs: int, sizes: list[int]) -> None:
    """Both events of a shell command that only reads, in a clean tree, against git status.

    Beside them what Python takes to start, of which no hook can be rid.
    """
    for size in sizes:
        with repository(size) as repo:
            _hook(repo, "shells")(0)
            repo.git("add", "-A")
            repo.git("commit", "-qm", "what the hook told of")
            repo.git("status")  # until the index is younger than the files git reads all of them, each time
            cases = [_git_status(repo), _bare(repo), *(_shell_event(repo, kind) for kind in _AROUND)]
            base, bare, before, after = alternate(cases, runs if size < 1_000_000 else 3)
        table.add(Row(f"git status, {size:,} files, nothing changed", base))
        table.add(Row("  python -I -c pass", bare, bare / base, "git status"))
        goal = 3.0 if size <= 1_000 else 1.2
        for what, seconds in (("before", before), ("after", after)):
            table.add(Row(f"  event {what} a shell command", seconds, seconds / base, "git status", goal))


def _git_status(repo: Repository) -> Callable[[int], float]:
    words = ["git", "--no-optional-locks", "status", "--porcelain", "--untracked-files=all"]
    return lambda _number: _timed(repo, words)


def _guarded(repo: Repository, path: str, guarded: bool) -> Callable[[int], float]:
    """A person's ``git commit`` of a path; nobody else has anything pending."""
    words = ["git", *([] if guarded else ["-c", "core.hooksPath=/dev/null"]), "commit", "-q", "-m", "x"]

    def run(number: int) -> float:
        repo.write(path, f"guarded {guarded} {number}\n")
        repo.git("add", "--", path)
        return _timed(repo, words)

    return run


def growing(table: Table, runs: int, sizes: list[int]) -> None:
    """Every command as the repository grows, with the first and the last path of the index changed."""
    for size in sizes:
        with repository(size) as repo:
            grown(table, repo, size, runs if size < 1_000_000 else 3)


# at 1,000 files against the floor; above against git status, which reads as much
_STATUS_GOALS = {100_000: 1.5, 1_000_000: 1.3}


def grown(table: Table, repo: Repository, size: int, runs: int) -> None:
    """The same in one repository."""
    paths = all_paths(size)
    repo.git("config", "ralph.guard", "narrow")
    for where, path in (("first", paths[0]), ("last", paths[-1])):
        label = f"{size:,} files, the {where} changed"
        small = size <= 1_000
        repo.edit("bench", path, "one\ntwo\n")
        asked = _questions(path)
        against = _floor(repo, paths[size // 2]) if small else _git_status(repo)
        cases = [against, *(_ralph(repo, words) for words in asked.values())]
        repo.git("status")  # until the index is younger than the files git reads all of them, each time
        base, *found = alternate(cases, runs)
        name = "F" if small else "git status"
        table.add(Row(f"{name}, {label}", base))
        goals = dict.fromkeys(("status", "diff", "why", "log"), 1.5) if small else {}
        goals |= {"status": _STATUS_GOALS[size]} if size in _STATUS_GOALS else {}
        for one, seconds in zip(asked, found, strict=True):
            table.add(Row(f"  {one}", seconds, seconds / base, name, goals.get(one)))
        if small:
            # the floor takes a path of its own, and each commit is of what was edited just before
            base, ours = alternate([_floor(repo, paths[size // 2]), _ralph_commit(repo, [path])], runs)
            table.add(Row("  commit", ours, ours / base, "F", 1.5))
        else:
            base, ours = alternate([_git_commit(repo, [paths[size // 2]]), _ralph_commit(repo, [path])], runs)
            table.add(Row("  commit", ours, ours / base, "git add + git commit"))
    _ralph_commit(repo, [paths[0]])(0)
    bare, hook = alternate([_bare(repo), _hook(repo, "grown")], runs)
    table.add(Row(f"edit hook, {size:,} files", hook, hook / bare, "python", 2.5))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "what the hooks told of")
    subprocess.run(
        [GIT_RALPH, "install", "--guard=narrow"],
        cwd=repo.root,
        env=repo.environ,
        check=True,
        capture_output=True,
    )
    ways = [_guarded(repo, paths[0], guarded) for guarded in (False, True)]
    without, guarded = alternate(ways, runs)
    table.add(Row(f"a person's git commit, guarded, {size:,} files", guarded, guarded / without, "git"))
    thousand = [path for path in paths[:: max(1, size // 1_000)] if path != paths[0]]
    for path in thousand:
        repo.edit("bench", path, "one\ntwo\n")
    asked = {"status": ["status"], "diff": ["diff"], "dry run": ["commit", "--dry-run"]}
    repo.git("status")
    base, *found = alternate(
        [_git_status(repo), *(_ralph(repo, one) for one in asked.values())], min(runs, 3)
    )
    table.add(Row(f"git status, {size:,} files, {len(thousand):,} changed", base))
    for one, seconds in zip(asked, found, strict=True):
        table.add(Row(f"  {one}", seconds, seconds / base, "git status"))
    base, ours = alternate([_git_commit(repo, thousand), _ralph_commit(repo, thousand)], 1)
    table.add(Row("  commit of all", ours, ours / base, "git add + git commit"))


def _questions(path: str) -> dict[str, list[str]]:
    return {
        "status": ["status"],
        "status of the path": ["status", path],
        "diff": ["diff"],
        "why": ["why", f"{path}:1"],
        "log": ["log"],
        "ls-files": ["ls-files", "--session", "bench"],
        "blame": ["blame", path],
    }


def old_sessions(table: Table, runs: int, count: int) -> None:
    """The same questions where thousands of sessions are over."""
    asked = {
        "status": ["status"],
        "session list": ["session", "list"],
        "report": ["report", "-o", "../report.html"],
    }
    with repository(1_000) as new, repository(1_000) as old:
        for repo in (new, old):
            for path in ten_paths(1_000):
                repo.edit("bench", path, "one\ntwo\n")
        old.add_finished_sessions(count)
        _timed(old, [GIT_RALPH, "gc"])
        cases = [_ralph(repo, words) for words in asked.values() for repo in (new, old)]
        found = alternate(cases, runs)
    for at, name in enumerate(asked):
        none, many = found[2 * at : 2 * at + 2]
        table.add(Row(f"{name} with {count:,} old sessions", many, many / none, "none", 1.3))


def prompt(table: Table, runs: int, count: int) -> None:
    """The line of a shell's prompt: against an empty Python, and after thousands of sessions.

    The goal is 30 ms of processor time, git's own status in it, where an empty Python takes 10 to 15.
    """
    with repository(1_000) as new, repository(1_000) as old:
        for repo in (new, old):
            for path in ten_paths(1_000):
                repo.edit("bench", path, "one\ntwo\n")
        old.add_finished_sessions(count)
        for repo in (new, old):
            # The index is as young as the files: until git writes it anew it reads all of them, each time.
            repo.git("status")
        words = ["status", "--prompt"]
        git = ["git", "status", "--porcelain", "--untracked-files=all"]
        cases = [_bare(new), lambda _: _timed(new, git), _ralph(new, words), _ralph(old, words)]
        bare, status, plain, many = alternate(cases, runs * 2)
    table.add(Row("git status --porcelain, 1,000 files, 10 changed", status))
    table.add(Row("status --prompt, 1,000 files, 10 pending", plain, plain / bare, "python", 3.0))
    table.add(Row(f"status --prompt with {count:,} old sessions", many, many / plain, "none", 1.3))


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


# of 10 paths against git add and git commit, by the number of files
_GOALS = {100_000: 0.7, 1_000_000: 0.3}


def commits(table: Table, runs: int, sizes: list[int]) -> None:
    """A commit against ``git add`` and ``git commit``, as the repository grows."""
    for size in sizes:
        with repository(size) as repo:
            paths = ten_paths(size)
            halves = paths, [path.replace("f", "g") for path in paths]
            few = runs if size < 1_000_000 else 5
            cases = [_ralph_commit(repo, halves[0]), _git_commit(repo, halves[1])]
            ours, git = alternate(cases, few)
            for path in paths:
                repo.edit("bench", path, "for its memory\n")
            words = [GIT_RALPH, "commit", "-q", "--session", "bench", "-m", "x"]
            memory = _memory(repo, words)
        table.add(Row(f"git add + git commit of 10 paths, {size:,} files", git))
        label = f"git ralph commit of 10 paths, {size:,} files, {memory} MiB"
        table.add(Row(label, ours, ours / git, "git", _GOALS.get(size)))


def _plain(repo: Repository, paths: list[str], session: str | None, guarded: bool) -> Callable[[int], float]:
    """``git add`` and plain ``git commit`` of ten paths, by a session's agent or by a person."""
    words = ["git", *([] if guarded else ["-c", "core.hooksPath=/dev/null"]), "commit", "-q", "-m", "x"]
    environ = {**repo.environ, **({"RALPH_SESSION": session} if session else {})}

    def run(number: int) -> float:
        for path in paths:
            if session:
                repo.edit(session, path, f"plain {guarded} {number}\n")
            else:
                repo.write(path, f"plain {guarded} {number}\n")
        added = _timed(repo, ["git", "add", "--", *paths], b"")
        own = Repository(repo.root, environ)
        return added + _timed(own, words, b"")

    return run


def plain_commits(table: Table, runs: int, sizes: list[int]) -> None:
    """What the guard costs a plain commit: a person's, and an agent's that it narrows."""
    for size in sizes:
        with repository(size) as repo:
            subprocess.run(
                [GIT_RALPH, "install", "--guard=narrow"],
                cwd=repo.root,
                env=repo.environ,
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            paths = ten_paths(size)
            cases = [
                _plain(repo, paths, who, guarded) for who in (None, "bench") for guarded in (False, True)
            ]
            without, person, alone, agent = alternate(cases, runs)
        label = f"git add + git commit of 10 paths, {size:,} files"
        table.add(Row(f"{label}, no guard", without))
        table.add(Row("  a person's, behind the guard", person, person / without, "git", 1.5))
        table.add(Row("  an agent's, narrowed by the guard", agent, agent / alone, "git"))


def proofs(table: Table, runs: int, sizes: list[int]) -> None:
    """What ``--prove`` adds to a commit, the command left out; how soon a needed line of others is named."""
    for size in sizes:
        with repository(size) as repo:
            paths = ten_paths(size)
            plain = _ralph_commit(repo, paths)
            cases = [plain, _proved_commit(repo, paths, False), _proved_commit(repo, paths, True)]
            alone, proved, again = alternate(cases, runs)
        table.add(
            Row(f"git ralph commit --prove true, 10 paths, {size:,} files", proved, proved / alone, "without")
        )
        table.add(Row("  of a tree that has passed before", again, again / alone, "without"))
    with repository(100) as repo:
        lines = [f"line {number}\n" for number in range(40)]
        repo.write("shared", "".join(lines))
        repo.git("add", "shared")
        repo.git("commit", "-qm", "lines")
        for number in range(40):
            lines[number] = f"wanted {number}\n"
            repo.edit(f"s{number % 2}", "shared", "".join(lines))
        repo.edit("bench", "own", "1\n")
        found = [_explained(repo, number) for number in (0, 7, 18, 25, 39)]
    seconds, most = max(found)[0], max(count for _, count in found)
    table.add(Row(f"--explain: a line of 40 changes named in at most {most} runs", seconds))


def _proved_commit(repo: Repository, paths: list[str], known: bool) -> Callable[[int], float]:
    words = [GIT_RALPH, "commit", "-q", "--session", "bench", "-m", "x", "--prove", "true"]

    def run(number: int) -> float:
        for path in paths:
            repo.edit("bench", path, f"proved {known} {number}\n")
        if known:
            _timed(repo, [*words, "--dry-run"], b"")
        return _timed(repo, words, b"")

    return run


def _explained(repo: Repository, number: int) -> tuple[float, int]:
    """Seconds, and how often the command ran beyond the first time."""
    check = f"grep -q '^wanted {number}$' shared"
    words = [GIT_RALPH, "commit", "--session", "bench", "-m", "x", "--json", "--explain", "--prove", check]
    begin = time.perf_counter()
    done = subprocess.run(words, cwd=repo.root, env=repo.environ, check=False, capture_output=True)
    (need,) = json.loads(done.stdout)["proof"]["needs"]
    assert need["lines"] == [number + 1, number + 1], need
    return time.perf_counter() - begin, int(json.loads(done.stdout)["proof"]["runs"])


def _worker(repo: Repository, name: str, count: int, git: bool) -> list[float]:
    """Commit one new file after the other; how long each took by the clock."""
    took = []
    for number in range(count):
        path = f"{name}/{number}.txt"
        if git:
            repo.write(path, "text\n")
            script = f"until git add {path} && git commit -q --only -m x -- {path}; do sleep 0.02; done"
            words = ["sh", "-c", script]
        else:
            repo.edit(name, path, "text\n")
            words = [GIT_RALPH, "commit", "-q", "--session", name, "-m", "x", "--", path]
        begin = time.perf_counter()
        _timed(repo, words, b"")
        took.append(time.perf_counter() - begin)
    return took


def throughput(table: Table, processes: int, each: int) -> None:
    """Many committers on one branch; each commit must land once, none may be lost."""
    seconds, slow = {}, 0.0
    for git in (True, False):
        with repository(100) as repo, multiprocessing.Pool(processes) as pool:
            alone = min(_worker(repo, "alone", 5, git))
            before = int(repo.git("rev-list", "--count", "HEAD"))
            begin = time.perf_counter()
            took = pool.starmap(_worker, [(repo, f"w{n}", each, git) for n in range(processes)], chunksize=1)
            seconds[git] = time.perf_counter() - begin
            every = sorted(one for worker in took for one in worker)
            slow = every[len(every) * 95 // 100] / alone
            landed = int(repo.git("rev-list", "--count", "HEAD")) - before
            assert landed == processes * each, f"{landed} of {processes * each} landed"
    total = processes * each
    table.add(
        Row(f"{processes} x {each} git commit with retry ({total / seconds[True]:.0f}/s)", seconds[True])
    )
    ratio = seconds[False] / seconds[True]
    label = f"{processes} x {each} git ralph commit ({total / seconds[False]:.0f}/s)"
    table.add(Row(label, seconds[False], ratio, "git", 1.0))
    table.add(Row("  19 of 20 of them take by the clock", slow * alone, slow, "alone", float(processes)))


def taking_back(table: Table, runs: int, edits: int) -> None:
    """An undo of all that one of eight sessions has in a file of 2,000 lines, against its commit."""
    with repository(100) as repo:
        lines = [f"line {number}\n" for number in range(2_000)]
        repo.write("shared.txt", "".join(lines))
        repo.git("add", "shared.txt")
        repo.git("commit", "-qm", "shared")
        for number in range(edits):
            # each session rewrites lines of its own eighth, now and then one that it wrote before
            who, at = number % 8, number * 37 % 250
            lines[who * 250 + at] = f"line {at} as s{who} wrote it, {number}\n"
            repo.edit(f"s{who}", "shared.txt", "".join(lines))
        cases = [_on_a_copy(repo, words) for words in (["commit", "-m", "x"], ["undo"])]
        commit, undo = alternate(cases, runs)
    table.add(Row(f"commit, 8 sessions, {edits:,} edits of a file", commit))
    table.add(Row("undo of the same", undo, undo / commit, "commit", 1.0))


def _on_a_copy(repo: Repository, words: list[str]) -> Callable[[int], float]:
    """What a command costs that can be given once only: each run has a copy of the repository."""

    def run(number: int) -> float:
        folder = repo.root.parent / f"copy-{words[0]}-{number}"
        shutil.copytree(repo.root, folder)
        copy = Repository(folder, repo.environ)
        copy.git("update-index", "-q", "--refresh")
        try:
            return _timed(copy, [GIT_RALPH, words[0], "--session", "s0", *words[1:]])
        finally:
            shutil.rmtree(folder)

    return run


def _separation(texts: list[bytes], owners: str) -> Callable[[int], float]:
    return lambda _number: histories.seconds(texts, owners)


def bending(table: Table, runs: int, million: int) -> None:
    """Twice as many edits of one file, and a file of a million lines."""
    for what, texts, owners, count in (
        ("one hot line, 4,000 rewrites by one", histories.rewritten, "a", 4_000),
        ("one hot line, 4,000 rewrites by two", histories.rewritten, "ab", 4_000),
        ("every line twice, 16,000 lines", histories.repeated, "a", 16_000),
        ("two blocks swapped 400 times", histories.swapped, "a", 400),
    ):
        cases = [_separation(texts(size), owners) for size in (count // 2, count)]
        half, whole = alternate(cases, min(runs, 3))
        table.add(Row(what, whole, whole / half, "half of it", 2.2))
    long = histories.seconds(histories.million(million), "ab")
    table.add(Row(f"a file of {million:,} lines, two sessions", long))


def events(table: Table, runs: int, count: int) -> None:
    """A topic that none of many events has, and the last ten of them."""
    with repository(10) as repo:
        _timed(repo, [GIT_RALPH, "emit", "task.start", '{"a":1}'])
        file = repo.root / ".git/ralph-sessions/events.jsonl"
        one = file.read_bytes()
        with file.open("wb") as out:
            for _ in range(count // 100):
                out.write(one * 100)
        words = ["events", "--topic", "none"], ["events", "--last", "10"]
        missing, last = alternate([_ralph(repo, one) for one in words], min(runs, 5))
    table.add(Row(f"{count:,} events, a topic that never occurs", missing))
    table.add(Row(f"{count:,} events, the last ten", last))


def main() -> int:
    """Measure and print; 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="a million files, 800 commits")
    parser.add_argument("--quick", action="store_true", help="few runs, small repositories")
    parser.add_argument("--only", default="", metavar="<word>", help="only the parts whose name has it")
    given = parser.parse_args()
    runs, many, sizes, grow = RUNS, 100_000, [1_000, 10_000, 100_000], [1_000, 100_000]
    if given.quick:
        runs, many, sizes, grow = 3, 2_000, [1_000, 2_000], [1_000, 2_000]
    table = Table()
    long = given.full or given.quick
    parts: dict[str, Callable[[], None]] = {
        "hooks": lambda: hooks(table, runs, many),
        "growing": lambda: growing(table, runs, [*grow, 1_000_000] if given.full else grow),
        "shells": lambda: shells(table, runs, [*grow, 1_000_000] if given.full else grow),
        "old sessions": lambda: old_sessions(table, runs, 100 if given.quick else 10_000),
        "prompt": lambda: prompt(table, runs, 100 if given.quick else 10_000),
        "commits": lambda: commits(table, runs, [*sizes, 1_000_000] if given.full else sizes),
        "plain commits": lambda: plain_commits(table, runs, [sizes[0], sizes[-1]]),
        "proofs": lambda: proofs(table, runs, [sizes[0], sizes[-1]]),
        "taking back": lambda: taking_back(table, min(runs, 8), 100 if given.quick else 1_000),
        "bending": lambda: bending(table, runs, 10_000 if given.quick else 1_000_000),
        "events": lambda: events(table, runs, 10_000 if given.quick else 1_000_000),
        "throughput": lambda: throughput(table, *((16, 50) if given.full else (4, 3))) if long else None,
    }
    for name, part in parts.items():
        if given.only in name:
            part()
    missed = [row for row in table.rows if row.goal and row.ratio and row.ratio > row.goal]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

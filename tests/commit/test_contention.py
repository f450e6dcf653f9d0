"""Many at once on one branch: every commit lands, whole, with nothing foreign in it, in one line."""

import os
import random
import re
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks import contention
from gitralph.base.errors import Busy
from gitralph.commit import land, message
from gitralph.decide import inputs, plan
from gitralph.decide.inputs import Scene
from gitralph.git import dead_locks, index, refs
from gitralph.git.repository import Repository
from gitralph.git.run import GitError
from gitralph.hook.journal import Journal
from gitralph.records import path_records
from tests.faults import strace
from tests.support import payloads
from tests.support.keep import state
from tests.support.repo import Repo
from tests.support.runner import COMMAND, PATIENCE, wait_for
from tests.support.size import FULL

pytestmark = pytest.mark.wired


def _ralph(repo: Repo, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *args], cwd=repo.root, env=repo.env, input=stdin, capture_output=True, check=False
    )


def _record(repo: Repo, session: str, path: str, before: str | None, after: str) -> None:
    repo.write(path, after)
    event = payloads.encode(payloads.edit(session, str(repo.root), path, before, after))
    done = _ralph(repo, "hook", "generic", stdin=event)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr


def _until_not_busy(repo: Repo, session: str, message: str) -> int:
    """Commit, again while the answer is *busy, try again*; how often it was."""
    for busy in range(50):
        done = _ralph(repo, "commit", "--session", session, "-m", message)
        if done.returncode != 75:
            assert done.returncode == 0, done.stderr
            return busy
    raise AssertionError("always busy")


def _landed(repo: Repo, base: str) -> list[tuple[str, list[str]]]:
    """Subject and paths of every commit since ``base``, oldest first; in one line of parents."""
    said = repo.git("log", "--reverse", "--format=%x01%s|%P", "--name-only", f"{base}..HEAD")
    out, parent = [], base
    oids = repo.git("rev-list", "--reverse", f"{base}..HEAD").split()
    for oid, block in zip(oids, said.split("\x01")[1:], strict=True):
        head, _, names = block.partition("\n")
        subject, _, parents = head.partition("|")
        assert parents == parent
        parent = oid
        out.append((subject, names.split()))
    return out


def _is_sound(repo: Repo) -> None:
    assert repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""
    git_dir = repo.root / ".git"
    assert not [p for p in git_dir.rglob("*.lock") if "ralph-sessions" not in p.parts]
    assert not list(repo.state.glob("intents/*"))
    assert len(repo.git("log", "-g", "--format=%H", "main").split()) == repo.count()


def _race(repo: Repo, workers: int, rounds: int) -> float:
    base = repo.head()

    def work(n: int) -> None:
        for turn in range(rounds):
            own, shared = f"w{n}/own", f"shared/{n}-{turn}"
            before = f"{turn - 1}\n" if turn else None
            _record(repo, f"S{n}", own, before, f"{turn}\n")
            _record(repo, f"S{n}", shared, None, f"{n} {turn}\n")
            _until_not_busy(repo, f"S{n}", f"{n}.{turn}")

    begun = time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))
    took = time.monotonic() - begun
    landed = _landed(repo, base)
    expected = {f"{n}.{t}": [f"shared/{n}-{t}", f"w{n}/own"] for n in range(workers) for t in range(rounds)}
    assert dict(landed) == expected
    assert len(landed) == workers * rounds
    for n in range(workers):
        assert [s for s, _ in landed if s.startswith(f"{n}.")] == [f"{n}.{t}" for t in range(rounds)]
        assert repo.blob(f"w{n}/own") == f"{rounds - 1}\n".encode()
    assert repo.git("status", "--porcelain") == ""
    _is_sound(repo)
    return workers * rounds / took


@pytest.mark.slow
def test_all_commits_of_many_processes_land(repo: Repo) -> None:
    _race(repo, *((8, 5) if FULL else (3, 2)))


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="800 commits by 16 processes: only with RALPH_FULL=1")
def test_sixteen_processes_times_fifty_commits(repo: Repo) -> None:
    print(f"{_race(repo, 16, 50):.1f} commits a second")


def _user_at_work(repo: Repo, seed: int, stop: threading.Event) -> list[str]:
    """A user adds, commits, packs refs and collects garbage; returns the paths he committed."""
    pick, done, turn = random.Random(seed), [], 0
    while not stop.is_set():
        turn += 1
        path = f"user/{turn}"
        repo.write(path, f"{turn}\n")
        for words in (["add", path], ["commit", "-qm", f"user {turn}"]):
            for _ in range(400):
                tried = subprocess.run(
                    ["git", *words], cwd=repo.root, env=repo.env, capture_output=True, check=False
                )
                if tried.returncode == 0:
                    break
                # git itself gives up at once where a lock is held or HEAD moved
                assert b"lock" in tried.stderr or b"expected" in tried.stderr, tried.stderr
                time.sleep(pick.random() / 50)
            else:
                raise AssertionError(tried.stderr)
        done.append(path)
        # not --prune=now: git's manual warns of it beside any writer; that is tested one by one
        extra = pick.choice((["pack-refs", "--all"], ["gc", "-q"], ["repack", "-qad"], ["status"]))
        subprocess.run(["git", *extra], cwd=repo.root, env=repo.env, capture_output=True, check=False)
    return done


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3] if FULL else [1])
def test_trackers_committers_and_a_user_with_gc(repo: Repo, seed: int) -> None:
    """Nothing lost, doubled, foreign or phantom."""
    base, stop = repo.head(), threading.Event()
    workers, rounds = (6, 12) if FULL else (2, 2)

    def work(n: int) -> None:
        for turn in range(rounds):
            path = f"t{n}/{turn}"
            repo.write(path, f"{n} {turn}\n")
            tracked = _ralph(repo, "track", "--session", f"S{n}", "--", path)
            assert tracked.returncode == 0, tracked.stderr
            _record(repo, f"S{n}", f"e{n}", f"{turn - 1}\n" if turn else None, f"{turn}\n")
            _until_not_busy(repo, f"S{n}", f"S{n}.{turn}")

    with ThreadPoolExecutor(workers + 1) as pool:
        user = pool.submit(_user_at_work, repo, seed, stop)
        try:
            list(pool.map(work, range(workers)))
        finally:
            stop.set()
        theirs = user.result()
    landed = dict(_landed(repo, base))
    for n in range(workers):
        for turn in range(rounds):
            assert landed.pop(f"S{n}.{turn}") == [f"e{n}", f"t{n}/{turn}"]
    assert sorted(landed.values()) == sorted([path] for path in theirs)
    assert repo.git("status", "--porcelain") == ""
    for n in range(workers):
        assert repo.pending(f"S{n}") == []
    repo.git("fsck", "--strict", "--no-dangling", "--no-progress")


@pytest.mark.slow
def test_nobody_gives_up_beside_a_person_who_commits_without_pause(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """Each commit of several agents lands at its first call, and the person gets on.

    git refuses the later of two commits that run at once, so ours may make it refuse his. How often is a
    question of the machine, which ``benchmarks/contention`` answers; what we do under locks is asked below.
    """
    agents, commits = (8, 10) if FULL else (3, 2)
    found = contention.run(tmp_path / "repository", agents, commits, 20)
    assert found.codes == {0: agents * commits}
    assert set(found.failed) <= {"HEAD moved", "index.lock held", "ref locked"}
    assert found.landed >= agents
    assert max(found.took) < PATIENCE
    said = subprocess.run(
        ["git", "log", "--format=%x01%s", "--name-only"],
        cwd=tmp_path / "repository",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    ours = sorted(block.split() for block in said.split("\x01") if block.startswith("agent"))
    expected = [(f"agent{n}", str(turn), f"agent{n}") for n in range(agents) for turn in range(commits)]
    assert [tuple(one) for one in ours] == sorted(expected)


def test_whoever_is_overtaken_while_hooks_run_lands_at_last(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each round another session committed its line of the same file: the fourth agent of four gave up."""
    hook = repo.common / "hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    others = {f"O{n}": n for n in (3, 5, 7, 9)}
    for session, n in {"S1": 1, **others}.items():
        repo.edit(session, "a", (repo.read("a") or b"").decode().replace(f"line {n}\n", f"of {session}\n"))
    real = message.through_hooks

    def overtaken(*asked: Any) -> Any:
        if others:
            assert _ralph(repo, "commit", "--session", others.popitem()[0], "-m", "x").returncode == 0
        return real(*asked)

    monkeypatch.setattr(message, "through_hooks", overtaken)
    repo.commit("S1")
    assert (others, repo.blob("a")) == ({}, repo.read("a"))
    _is_sound(repo)


@pytest.mark.skipif(bool(strace.missing()), reason=str(strace.missing()))
def test_our_locks_are_held_for_renames_alone(repo: Repo, tmp_path: Path) -> None:
    """While the index is locked no process starts and nothing waits for the disk; for the branch git may."""
    repo.edit("S1", "a", "mine\n")
    log = tmp_path / "log"
    wanted = "execve,?link,linkat,?rename,?renameat,renameat2,?unlink,unlinkat,?open,openat,fsync,fdatasync"
    traced = ["strace", "-f", "--seccomp-bpf", "-qq", "-s", "400", "-o", str(log), "-e", f"trace={wanted}"]
    done = subprocess.run(
        [*traced, *COMMAND, "commit", "--session", "S1", "-m", "x"], cwd=repo.root, env=repo.env, check=False
    )
    assert done.returncode == 0
    lines = [line for line in log.read_text().splitlines() if "ENOENT" not in line]

    def held(taken: str, given_back: str) -> list[str]:
        first = next(at for at, line in enumerate(lines) if taken in line)
        last = next(at for at, line in enumerate(lines) if at > first and given_back in line)
        return [one for line in lines[first:last] for one in re.findall(r"\b(execve|f(?:data)?sync)\(", line)]

    lock = f'{repo.root}/.git/index.lock"'
    assert held(lock, f'unlink("{lock}') == []
    branch = f"{repo.root}/.git/refs/heads/main"
    assert held(f'{branch}.lock", O_RDWR|O_CREAT', f', "{branch}"') in ([], ["fsync"])  # core.fsync


def test_what_was_decided_stands_where_head_went_on_elsewhere(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two races lost: hooks and decisions are not made again, then git holds the branch; one more is lost."""
    repo.edit("S1", "a", "mine\n")
    decided: list[bool] = []
    held: list[Any] = []
    real, build = refs.swap, plan.build

    def overtaken(*asked: Any) -> None:
        if len(held) < 4:
            held.append(asked[3])
            if held[-1] is not None:
                held[-1].release()
            repo.write("person", f"{len(held)}\n")
            repo.git("add", "person")
            repo.git("commit", "-qm", f"person {len(held)}")
        real(*asked)

    def counted(*asked: Any, **more: Any) -> Any:
        decided.append(True)
        return build(*asked, **more)

    monkeypatch.setattr(plan, "build", counted)
    monkeypatch.setattr(refs, "swap", overtaken)
    repo.ralph("commit", "-q", "--session", "S1", "-m", "x")
    assert len(decided) == 1
    assert [one is not None for one in held] == [False, False, True, True]
    assert repo.changes() == {"a": "M"}
    assert repo.git("log", "--format=%s", "-5").split("\n")[:5] == [
        "x",
        *(f"person {n}" for n in (4, 3, 2, 1)),
    ]
    assert repo.git("status", "--porcelain") == ""
    _is_sound(repo)


@pytest.mark.parametrize("how", ["his line", "reset"])
def test_what_was_decided_does_not_stand_where_head_changed_the_path(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A person commits the session's own file meanwhile, or takes a commit back: all is decided anew."""
    repo.write("u", "one\n")
    repo.git("add", "u")
    repo.git("commit", "-qm", "u")
    text = (repo.read("a") or b"").decode()
    repo.edit("S1", "a", "mine\n" + text)
    decided: list[bool] = []
    todo, real, build = [1], refs.swap, plan.build

    def overtaken(*asked: Any) -> None:
        if todo and how == "reset":
            repo.git("reset", "-q", "--soft", "HEAD~1")
        elif todo:
            repo.write("a", "mine\n" + text + "his\n")
            repo.git("commit", "-qam", "his")
        todo.clear()
        real(*asked)

    def counted(*asked: Any, **more: Any) -> Any:
        decided.append(True)
        return build(*asked, **more)

    monkeypatch.setattr(plan, "build", counted)
    monkeypatch.setattr(refs, "swap", overtaken)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert len(decided) > 1
    if how == "reset":
        assert repo.changes() == {"a": "M"}
        assert repo.git("diff", "--cached", "--name-status").split() == ["M", "u"]
    else:
        assert repo.git("log", "-1", "--format=%s").strip() == "his"
        _is_sound(repo)


def test_edits_that_arrive_while_others_commit_are_never_lost(repo: Repo) -> None:
    """An edit during commit stays pending: one session edits on and on while it is being committed."""
    total, base, stop = (60 if FULL else 10), repo.head(), threading.Event()

    def edit() -> None:
        for n in range(1, total):
            _record(repo, "S1", f"f{n}", None, f"{n}\n")
        stop.set()

    _record(repo, "S1", "f0", None, "0\n")  # a commit for a session without any record is refused

    def commit() -> None:
        while not stop.is_set():
            done = _ralph(repo, "commit", "--session", "S1", "-m", "x")
            # a file written and not yet recorded belongs to nobody yet: refusing is right
            assert done.returncode in (0, 4, 75), done.stderr

    with ThreadPoolExecutor(2) as pool:
        for future in (pool.submit(edit), pool.submit(commit)):
            future.result()
    last = _ralph(repo, "commit", "--session", "S1", "-m", "last")
    assert last.returncode == 0, last.stderr
    names = [name for _, paths in _landed(repo, base) for name in paths]
    assert sorted(names) == sorted(f"f{n}" for n in range(total))
    assert repo.pending("S1") == []


def test_an_edit_between_manifest_and_journal_leaves_no_claim_behind(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that took the record and not its line made the session claim the whole file for ever."""
    base = (repo.read("a") or b"").decode()
    first, second = (
        base.replace("line 1\n", "one\n"),
        base.replace("line 1\n", "one\n").replace("line 9\n", "9\n"),
    )
    repo.edit("S1", "a", first)
    read, late = path_records.read_journal, [second]

    def read_late(*asked: Any) -> Journal:
        if late:
            _record(repo, "S1", "a", first, late.pop())
        return read(*asked)

    monkeypatch.setattr(path_records, "read_journal", read_late)
    repo.ralph("commit", "-q", "-m", "x", "--session", "S1")
    assert repo.blob("a").decode() == second
    claim = path_records.claims(state(repo), "S1")
    assert (claim.fresh, claim.old) == ({}, {b"a"})


def test_edits_after_each_reading_of_a_file_do_not_make_it_stale(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read goes into the commit, what came after it into the next one."""
    base = (repo.read("a") or b"").decode()
    texts = [base + "".join(f"new {n}\n" for n in range(count + 1)) for count in range(6)]
    repo.edit("S1", "a", texts[0])
    look, todo = inputs.look, texts[1:]

    def look_and_edit(*asked: Any) -> Scene:
        found = look(*asked)
        _record(repo, "S1", "a", (repo.read("a") or b"").decode(), todo.pop(0))
        return found

    with monkeypatch.context() as at_work:
        at_work.setattr(inputs, "look", look_and_edit)
        repo.ralph("commit", "-q", "-m", "x", "--session", "S1")
        assert (repo.blob("a").decode(), len(todo)) == (texts[0], 4)
        repo.ralph("commit", "-q", "-m", "x", "--session", "S1")
        assert (repo.blob("a").decode(), len(todo)) == (texts[1], 3)
    repo.ralph("commit", "-q", "-m", "x", "--session", "S1")
    assert repo.blob("a").decode() == texts[2]
    assert repo.pending("S1") == []


def test_nobody_waits_for_what_he_only_reads(repo: Repo, tmp_path: Path) -> None:
    """While the commit lock is held, status, ls-files, track and hook go on; who waits is busy (75)."""
    import fcntl

    repo.edit("S1", "a", "changed\n")
    repo.start("none")
    repo.ralph("commit", "--session", "none", "-m", "x")
    with open(repo.state / "locks/commit.lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        track = ["track", "--session", "S2", "u"]
        for words in (["status"], ["ls-files"], ["diff"], ["session", "list"], track):
            repo.ralph(*words)
        repo.edit("S1", "b", "changed\n", process=True)
        assert repo.pending("S1") == ["a", "b"]


class _SlowPerson:
    """A plain ``git commit`` that stands still between its reading of the index and its locking."""

    def __init__(self, repo: Repo, log: Path, *words: str) -> None:
        self.repo, self.log, self.words = repo, log, words
        self.child: subprocess.Popen[str] | None = None

    def begins(self) -> None:
        # git opens the one by this name, then the other by that
        names = ["-P", ".git/index", "-P", f"{self.repo.root}/.git/index.lock"]
        slow = ["-e", "trace=openat", "-e", "inject=openat:delay_enter=700000:when=2"]
        self.child = subprocess.Popen(
            ["strace", "-qq", "-o", str(self.log), *names, *slow, "git", *self.words],
            cwd=self.repo.root,
            env=self.repo.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert wait_for(lambda: self.log.exists() and "index" in self.log.read_text())

    def ends(self) -> None:
        if self.child is not None:
            self.said = self.child.communicate(timeout=PATIENCE)[0]


@pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing()))
@pytest.mark.parametrize("when", ["before the index", "behind the index", "behind the ref", "behind both"])
def test_a_commit_that_reads_the_index_and_locks_it_later_takes_nothing_back(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """git reads the index before it locks it: what it read may be older than what it writes over."""
    repo.edit("S1", "a", "mine\n")
    repo.write("his", "his\n")
    repo.git("add", "his")
    person = _SlowPerson(repo, tmp_path / "calls", "commit", "-qm", "his")
    exchange, swap, write_log = index.exchange, refs.swap, land.write_log

    def exchanged(*asked: Any) -> None:
        if when == "before the index":
            person.begins()
        exchange(*asked)
        if when == "behind the index":
            person.begins()

    def swapped(*asked: Any) -> None:
        swap(*asked)
        if when == "behind the ref":
            person.begins()

    def written(*asked: Any) -> None:
        if when == "behind both":
            person.begins()
        person.ends()
        write_log(*asked)

    monkeypatch.setattr(index, "exchange", exchanged)
    monkeypatch.setattr(refs, "swap", swapped)
    monkeypatch.setattr(land, "write_log", written)
    repo.ralph("commit", "-q", "--session", "S1", "-m", "x")
    assert person.child is not None
    if person.child.returncode:
        assert "cannot lock ref" in person.said, person.said
        repo.git("commit", "-qm", "his")
    assert repo.git("log", "--format=%s", "--name-only", "-2").split() == ["his", "his", "x", "a"]
    assert repo.git("status", "--porcelain") == ""
    _is_sound(repo)


@pytest.mark.parametrize("is_first", [False, True])
def test_an_index_exchanged_for_nothing_comes_back(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, is_first: bool
) -> None:
    """git had its locks and could not move the branch after all."""
    if is_first:
        repo.git("switch", "-q", "--orphan", "first")
        (repo.root / ".git/index").unlink()
    repo.edit("S1", "a", "mine\n")
    there = repo.root / ".git/index"
    before = None if is_first else (there.read_bytes(), there.stat().st_mtime_ns)

    def failing(_self: refs.Transaction) -> None:
        seen.append(there.read_bytes())
        raise GitError(["update-ref"], 128, b"fatal: no space left")

    def dropped(*asked: Any) -> None:
        # whoever gets the lock now finds the old index
        assert not there.exists() if before is None else there.read_bytes() == before[0]
        drop_lock(*asked)

    seen: list[bytes] = []
    drop_lock = index.drop_lock
    monkeypatch.setattr(refs.Transaction, "commit", failing)
    monkeypatch.setattr(index, "drop_lock", dropped)
    repo.ralph("commit", "--session", "S1", "-m", "x", code=128, process=False)
    assert len(seen) == 1
    if before is None:
        assert not there.exists()
    else:
        assert seen[0] != before[0]
        assert before == (there.read_bytes(), there.stat().st_mtime_ns)
    assert repo.git("status", "--porcelain") == ("?? a" if is_first else " M a")
    assert not list((repo.state / "tmp").iterdir())
    assert not list((repo.root / ".git").glob("*.lock"))


@pytest.mark.parametrize(("whose", "lasts"), [("his", 0.6), ("his", 30.0), ("elsewhere", 30.0)])
def test_a_commit_waits_for_plain_ones_at_work_and_only_for_a_moment(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whose: str, lasts: float
) -> None:
    """Until then the one at work may write the index that it read; with an editor open it has written."""
    place = repo.root
    if whose == "elsewhere":
        place = tmp_path / "other"
        subprocess.run(["git", "init", "-q", str(place)], env=repo.env, check=True)
    env = {**repo.env, "GIT_EDITOR": f"exec sleep {lasts}; :"}
    words = ["git", "commit", "-q", "--allow-empty"]
    person = subprocess.Popen(words, cwd=place, env=env, stderr=subprocess.DEVNULL, start_new_session=True)
    assert wait_for(lambda: (place / ".git/COMMIT_EDITMSG").exists())
    looked: list[bool] = []
    may_hold = dead_locks.wait_for_commits

    def waited(there: Repository, wait: float) -> None:
        may_hold(there, 5.0 if lasts < 1 else wait)
        # a process that ends has no words any more, a moment before its parent can learn of it
        ended = person.poll() is not None or not Path(f"/proc/{person.pid}/cmdline").read_bytes()
        looked.append(ended)

    monkeypatch.setattr(dead_locks, "wait_for_commits", waited)
    repo.edit("S1", "a", "mine\n")
    repo.ralph("commit", "-q", "--session", "S1", "-m", "x", process=False)
    assert looked == [lasts < 1]
    if lasts > 1:
        os.killpg(person.pid, signal.SIGKILL)
    person.wait()


def test_a_merge_that_reads_the_index_and_locks_it_later_takes_nothing_back(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("switch", "-qc", "side")
    repo.write("side", "side\n")
    repo.git("add", "side")
    repo.git("commit", "-qm", "side")
    repo.git("switch", "-q", "main")
    repo.edit("S1", "a", "mine\n")
    (repo.root / "b").touch()
    person = _SlowPerson(repo, tmp_path / "calls", "merge", "-q", "--no-edit", "side")
    exchange, write_log = index.exchange, land.write_log

    def exchanged(*asked: Any) -> None:
        person.begins()
        exchange(*asked)

    def written(*asked: Any) -> None:
        person.ends()
        write_log(*asked)

    monkeypatch.setattr(index, "exchange", exchanged)
    monkeypatch.setattr(land, "write_log", written)
    repo.ralph("commit", "-q", "--session", "S1", "-m", "x", process=False)
    assert "a" not in repo.git("diff", "--cached", "--name-only").split()


@pytest.mark.parametrize("where", ["behind the lock", "behind the index"])
def test_an_interrupt_leaves_neither_a_lock_nor_a_new_index(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    real = os.link

    def link(source: str, target: str) -> None:
        real(source, target)
        if target.endswith("/index.lock"):
            raise KeyboardInterrupt

    def commit(_self: refs.Transaction) -> None:
        raise KeyboardInterrupt

    if where == "behind the lock":
        monkeypatch.setattr(os, "link", link)
    else:
        monkeypatch.setattr(refs.Transaction, "commit", commit)
    repo.edit("S1", "a", "mine\n")
    before = (repo.root / ".git/index").read_bytes()
    repo.ralph("commit", "--session", "S1", "-m", "x", code=130, process=False)
    assert (repo.root / ".git/index").read_bytes() == before
    _is_sound(repo)


def test_an_index_of_another_user_is_copied(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux lets nobody link a file that he neither owns nor may write; git only replaces it."""
    real, there = os.link, str(repo.root / ".git/index")

    def link(source: str, target: str) -> None:
        if source == there:
            raise PermissionError(1, "Operation not permitted", source)
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    repo.edit("S1", "a", "mine\n")
    repo.ralph("commit", "-q", "--session", "S1", "-m", "x", process=False)
    assert repo.changes() == {"a": "M"}
    assert repo.git("status", "--porcelain") == ""
    _is_sound(repo)


@pytest.mark.parametrize("error", [Busy("held"), OSError(28, "No space left on device")])
def test_what_kept_the_index_back_is_no_failure_and_the_next_command_brings_it_forward(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """A git wrote the index that it had read before, and then something else was in the way."""
    there = repo.root / ".git/index"
    repo.edit("S1", "a", "mine\n")
    stale, write_log = there.read_bytes(), land.write_log

    def written(*asked: Any) -> None:
        there.with_suffix(".old").write_bytes(stale)
        there.with_suffix(".old").rename(there)
        write_log(*asked)

    def refused(*_: Any) -> bool:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(land, "write_log", written)
        patched.setattr(land, "install", refused)
        repo.ralph("commit", "-q", "--session", "S1", "-m", "x", process=False)
    assert repo.git("diff", "--cached", "--name-only") == "a"
    repo.ralph("status")
    assert repo.git("status", "--porcelain") == ""
    _is_sound(repo)


@pytest.mark.parametrize("names", ["as they are", "of 0.1.0"])
def test_an_index_whose_old_one_is_lost_stays(repo: Repo, tmp_path: Path, names: str) -> None:
    """Else everything would show as deleted, and what a person staged were gone."""
    prepared = {name: str(tmp_path / name) for name in ("index", "before", "index.second")}
    real = tmp_path / "real"
    Path(prepared["index"]).write_bytes(b"new")
    os.link(prepared["index"], real)
    index.take_back(str(real), prepared if names == "as they are" else {"index": prepared["index"]})
    assert real.read_bytes() == b"new"

"""G. Together, and interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitralph import files
from gitralph.plumbing import refs
from gitralph.porcelain import landing
from gitralph.porcelain import commit as porcelain
from gitralph.state import lock
from tests.support import payloads
from tests.support.repo import Repo
from tests.support.runner import COMMAND

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")
Kill = Callable[[object, str], None]


class Killed(BaseException):
    """Stands for a kill: nothing after it runs, not even a clean-up that catches errors."""


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch) -> Kill:
    """Make a child process that commits die by SIGKILL when it calls ``module.name``."""

    def arrange(module: object, name: str) -> None:
        def die(*_: object, **__: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        monkeypatch.setattr(module, name, die)

    return arrange


def _commit_in_a_fork(repo: Repo) -> int:
    """Commit in a child of this process, which may be killed; the wait status."""
    pid = os.fork()
    if pid == 0:
        try:
            repo.run("commit", "--session", "S1", "-m", "x")
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1]


def _killed(repo: Repo, killed_at: Kill, module: object, name: str, patch: pytest.MonkeyPatch) -> None:
    killed_at(module, name)
    assert _commit_in_a_fork(repo) == signal.SIGKILL
    patch.undo()


def test_k84_twenty_at_once(repo: Repo) -> None:
    for n in range(20):
        repo.edit(f"S{n}", f"f{n}", f"by {n}\n")
    base = repo.count()
    env = repo._environment(None)
    with ThreadPoolExecutor(20) as pool:
        done = list(pool.map(
            lambda n: subprocess.run(
                [*COMMAND, "commit", "--session", f"S{n}", "-m", "x"], cwd=repo.root, env=env,
                capture_output=True, check=False,
            ), range(20),
        ))  # fmt: skip
    assert [one.returncode for one in done] == [0] * 20, [one.stderr for one in done if one.returncode]
    assert repo.count() == base + 20
    assert repo.git("rev-list", "--merges", "HEAD") == ""
    for n in range(20):
        assert repo.blob(f"f{n}") == b"by %d\n" % n
    for commit in repo.git("rev-list", "-20", "HEAD").split():
        assert len(repo.changes(commit)) == 1
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


def _user_commits(repo: Repo, path: str) -> str:
    """The user commits one path with plain git, past the index so that no lock is in the way."""
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"the user's\n")
    env = {"GIT_INDEX_FILE": str(repo.root / ".git/other-index")}
    repo.git("read-tree", "HEAD", env=env)
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=env)
    tree = repo.git("write-tree", env=env)
    commit = repo.git("commit-tree", tree, "-p", "HEAD", "-m", f"the user's {path}")
    repo.git("update-ref", "-m", "commit: user", "HEAD", commit)
    (repo.root / ".git/other-index").unlink()
    return commit


def test_k85_head_moves_while_the_tree_is_built(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.edit("S1", "a", MINE)
    real, moved = landing.land, []

    def land(plan: landing.Landing) -> None:
        if len(moved) < 2:
            moved.append(_user_commits(repo, f"user{len(moved)}"))
        real(plan)

    monkeypatch.setattr(landing, "land", land)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert len(moved) == 2
    assert repo.git("rev-parse", "HEAD^") == moved[-1]
    assert repo.changes() == {"a": "M"}
    assert repo.blob("user0") == repo.blob("user1") == b"the user's\n"
    assert repo.git("rev-parse", "HEAD@{0}", "main@{0}").split() == [repo.head()] * 2
    assert repo.pending("S1") == []
    assert not list(repo.state.glob("intents/*"))


def test_k85_after_the_last_retry_it_is_busy(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.edit("S1", "a", MINE)
    real, moved = landing.land, []

    def land(plan: landing.Landing) -> None:
        moved.append(_user_commits(repo, f"user{len(moved)}"))
        real(plan)

    monkeypatch.setattr(landing, "land", land)
    repo.ralph("commit", "--session", "S1", "-m", "x", code=75)
    assert repo.head() == moved[-1]
    assert repo.pending("S1") == ["a"]
    monkeypatch.undo()
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M"}


def test_k85_the_branch_is_switched_while_the_tree_is_built(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("branch", "other")
    repo.edit("S1", "a", MINE)
    real, done = landing.land, []

    def land(plan: landing.Landing) -> None:
        if not done:
            done.append(True)
            repo.git("symbolic-ref", "HEAD", "refs/heads/other")
        real(plan)

    monkeypatch.setattr(landing, "land", land)
    main = repo.git("rev-parse", "main")
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.git("rev-parse", "main") == main
    assert repo.git("rev-parse", "other^") == main


def test_k86_user_rewinds_head(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    undone = repo.head()
    repo.git("reset", "-q", "--hard", "HEAD^")
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert undone[:7] in answer.notes
    assert repo.pending("S1") == []


def test_k86_what_comes_after_a_rewind_is_judged_against_the_new_head(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    repo.git("reset", "-q", "--hard", "HEAD^")
    repo.edit("S1", "a", TEN.replace("line 2\n", "line two\n"))
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    assert repo.blob("a") == TEN.replace("line 2\n", "line two\n").encode()


def test_k86_mixed_reset_leaves_the_files_and_nothing_is_pending_silently(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    undone = repo.head()
    repo.git("reset", "-q", "HEAD^")
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert undone[:7] in answer.notes


def _two_edits(repo: Repo) -> None:
    repo.write("b", "staged\n")
    repo.git("add", "b")
    repo.edit("S1", "a", MINE)
    repo.edit("S1", "n", "new\n")


def _finished(repo: Repo, base: str) -> None:
    """One commit on ``base``, everything consumed once, nothing left behind."""
    assert repo.git("rev-parse", "HEAD^") == base
    assert repo.changes() == {"a": "M", "n": "A"}
    assert repo.git("diff", "--cached", "--name-only") == "b"
    assert repo.pending("S1") == []
    assert not list(repo.state.glob("intents/*"))
    assert not [p for p in (repo.root / ".git").rglob("*.lock") if "ralph-sessions" not in str(p)]
    lines = (repo.state / "S1.commits").read_text().splitlines()
    assert [json.loads(line)["commit"] for line in lines] == [repo.head()]
    assert repo.commit("S1").status == "nothing"


def test_k87_killed_after_the_objects_before_the_ref(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch
) -> None:
    _two_edits(repo)
    base = repo.head()
    _killed(repo, killed_at, refs, "swap", monkeypatch)
    assert repo.head() == base
    assert (repo.root / ".git/index.lock").exists()
    repo.ralph("commit", "--session", "S1", "-m", "x")
    _finished(repo, base)


@pytest.mark.parametrize(
    ("module", "name"), [(landing, "write_consumption"), (landing.intents, "remove")], ids=["before", "after"]
)
def test_k88_killed_after_the_ref_before_the_bookkeeping(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch, module: object, name: str
) -> None:
    _two_edits(repo)
    base = repo.head()
    _killed(repo, killed_at, module, name, monkeypatch)
    assert repo.git("rev-parse", "HEAD^") == base
    assert repo.commit("S1", checked=False).status == "nothing"
    _finished(repo, base)


@pytest.mark.parametrize("command", ["commit", "status", "ls-files", "diff", "track", "session list"])
def test_k89_killed_before_the_index_entry_is_advanced(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Whatever command of ours comes next repairs it, and the user can work with git again."""
    _two_edits(repo)
    base = repo.head()
    _killed(repo, killed_at, refs, "sync_folder", monkeypatch)
    assert (repo.root / ".git/index.lock").exists()
    last = {"track": ["--session", "S2", "--", "u"], "commit": ["--session", "S1", "-m", "x"]}
    repo.ralph(*command.split(), *last.get(command, []))
    _finished(repo, base)
    repo.git("add", "b")


@pytest.mark.parametrize("lost", ["lock gone", "lock foreign"])
def test_k89_the_lock_is_gone_and_the_staged_change_is_carried_over_all_the_same(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """A human deleted the dead lock and staged something: the entries are advanced one by one."""
    repo.write("a", TEN.replace("line 2\n", "the user's line 2\n"))
    repo.git("add", "a")
    repo.write("a", TEN)
    _two_edits(repo)
    base = repo.head()
    _killed(repo, killed_at, refs, "sync_folder", monkeypatch)
    (repo.root / ".git/index.lock").unlink()
    if lost == "lock foreign":
        repo.write("u", "staged since\n")
        repo.git("add", "u")
    repo.ralph("status")
    assert repo.git("rev-parse", "HEAD^") == base
    staged = repo.git("diff", "--cached", "--name-only").split()
    assert staged == (["a", "b", "u"] if lost == "lock foreign" else ["a", "b"])
    rows = [r for r in repo.git("diff", "--cached", "a").split("\n") if r[:1] in "+-" and r[:3] not in ("+++", "---")]
    assert rows == ["-line 2", "+the user's line 2"]


def test_k89_after_a_rewind_the_dead_lock_makes_no_phantom(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch
) -> None:
    _two_edits(repo)
    base = repo.head()
    _killed(repo, killed_at, refs, "sync_folder", monkeypatch)
    (repo.root / ".git/HEAD.lock").unlink()
    repo.git("update-ref", "-m", "rewound", "HEAD", base)
    repo.ralph("status")
    assert not (repo.root / ".git/index.lock").exists()
    assert repo.git("diff", "--cached", "--name-only") == "b"
    assert repo.pending("S1") == []  # the reflog says it was committed


def test_k90_an_edit_arrives_during_commit(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """One on another path after the records were read: it stays pending for the next commit."""
    repo.edit("S1", "a", MINE)
    real, done = landing.land, []

    def land(plan: landing.Landing) -> None:
        if not done:
            done.append(True)
            repo.edit("S1", "b", MINE, process=True)
            repo.edit("S1", "a", MINE + "more\n", process=True)
        real(plan)

    monkeypatch.setattr(landing, "land", land)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M"}
    assert repo.blob("a") == MINE.encode()
    assert repo.pending("S1") == ["a", "b"]
    repo.commit("S1")
    assert repo.changes() == {"a": "M", "b": "M"}
    assert repo.blob("a") == (MINE + "more\n").encode()


@pytest.mark.parametrize("times", [1, 9])
def test_k90_an_edit_arrives_between_reading_the_records_and_the_file(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Both are read again, and a path that will not keep still is refused, never taken half."""
    from gitralph.porcelain import resolve

    repo.edit("S1", "a", MINE)
    real, count = resolve.look, []

    def look(*args: object) -> object:
        if len(count) < times:
            count.append(True)
            repo.edit("S1", "a", MINE + "more\n" * len(count), process=True)
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(resolve, "look", look)
    done = repo.run("commit", "--session", "S1", "-m", "x")
    monkeypatch.undo()
    if times > 3:
        assert done.code == 4
        assert "stale" in done.said
        assert repo.pending("S1") == ["a"]
        repo.commit("S1")
    assert repo.blob("a") == repo.read("a")
    assert repo.pending("S1") == []


def _hook(repo: Repo, name: str, script: str) -> None:
    path = repo.root / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_k91_slow_hook(repo: Repo, tmp_path: Path) -> None:
    """While a hook is at work others commit; its own commit lands after theirs, nothing is stolen."""
    flag, go = tmp_path / "running", tmp_path / "go"
    _hook(repo, "pre-commit", f"case $(git diff --cached --name-only HEAD) in a) touch '{flag}';"
          f" while [ ! -e '{go}' ]; do sleep 0.05; done;; esac")  # fmt: skip
    repo.edit("S1", "a", MINE)
    repo.edit("S2", "b", MINE)
    slow = subprocess.Popen(
        [*COMMAND, "commit", "--session", "S1", "-m", "slow"], cwd=repo.root, env=repo._environment(None),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while not flag.exists() and slow.poll() is None:
        time.sleep(0.02)
    repo.ralph("commit", "--session", "S2", "-m", "quick")
    assert repo.changes() == {"b": "M"}
    go.touch()
    _, said = slow.communicate(timeout=30)
    assert slow.returncode == 0, said
    assert repo.changes() == {"a": "M"}
    assert repo.git("log", "--format=%s", "-2") == "slow\nquick"


def test_k91_a_live_holder_is_never_robbed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """However old its lock: waiters end with 75 and name the process."""
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "none", "-m", "x")
    path = repo.state / "locks/commit.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", "import fcntl,sys,os\nf=open(sys.argv[1],'r+')\nfcntl.flock(f,2)\n"
         "f.write(str(os.getpid())); f.flush()\nprint(flush=True)\nsys.stdin.read()", str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout is not None
    holder.stdout.readline()
    os.utime(path, (0, 0))
    monkeypatch.setattr(lock, "WAIT", 0.3)
    monkeypatch.setattr(lock.hold.__wrapped__, "__defaults__", (0.3,))  # type: ignore[attr-defined]
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=75)
    assert str(holder.pid) in done.said
    holder.kill()
    holder.communicate()
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M"}


def test_k92_holder_killed(repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.edit("S1", "a", MINE)
    _killed(repo, killed_at, porcelain, "_commit_locked", monkeypatch)
    begun = time.monotonic()
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert time.monotonic() - begun < 2.0
    assert repo.changes() == {"a": "M"}


@pytest.mark.parametrize("fill", [b"", b"\0"], ids=["cut", "nul-filled"])
def test_k93_torn_last_record(repo: Repo, fill: bytes) -> None:
    """Cut at any byte: earlier records are intact, later appends valid."""
    repo.edit("S1", "a", MINE)
    (journal,) = repo.state.glob("edits/a-*.jsonl")
    whole = len(journal.read_bytes())
    repo.edit("S1", "a", MINE + "more\n")
    kept = {journal: journal.read_bytes(), repo.state / "S1.files": (repo.state / "S1.files").read_bytes()}
    last = len(kept[journal]) - whole
    for cut in sorted({1, 2, last // 3, last // 2, last - 1}):
        journal.write_bytes(kept[journal][:-cut] + fill * cut)
        assert repo.pending("S1") == ["a"]
        repo.hook("generic", payloads.edit("S1", str(repo.root), "a", MINE, MINE + "more\n"))
        rows = [row for row in journal.read_bytes().split(b"\n") if row.startswith(b"{")]
        assert json.loads(rows[0])["session"] == json.loads(rows[-1])["session"] == "S1"
        done = repo.run("commit", "--session", "S1", "-m", "x", "--dry-run", "--json")
        assert done.code == 0, done.said
        assert [row["path"] for row in done.json()["paths"]] == ["a"]
        for path, data in kept.items():
            path.write_bytes(data)
    repo.commit("S1")
    assert repo.blob("a") == (MINE + "more\n").encode()


def test_k93_a_torn_manifest_line_is_waited_for(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    with open(repo.state / "S1.files", "ab") as file:
        file.write(b"never/fini")
    assert repo.pending("S1") == ["a"]
    repo.edit("S1", "b", MINE)
    assert repo.pending("S1") in (["a", "b"], ["a", "b", "never/fini"])
    repo.commit("S1", checked=False)
    assert repo.changes() == {"a": "M", "b": "M"}


def test_k94_reused_pid(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    path = repo.state / "S1.json"
    record = json.loads(path.read_text())
    record["process"] = {"pid": os.getpid(), "start": "1", "boot": record["process"]["boot"]}
    path.write_text(json.dumps(record))
    (found,) = repo.ralph("session", "list", "--json").json()
    assert found["state"] == "stale"


def test_k9_two_processes_record_two_hundred_edits(repo: Repo) -> None:
    env = repo._environment(None)

    def record(n: int) -> int:
        name = f"f{n % 50}" if n % 2 else f"g{n}"
        event = payloads.edit("S1", str(repo.root), name, None, f"{name}\n")
        repo.write(name, f"{name}\n")
        return subprocess.run(
            [*COMMAND, "hook", "generic"], input=payloads.encode(event), cwd=repo.root, env=env, check=False
        ).returncode

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(record, range(200))) == {0}
    expected = {f"f{n % 50}" for n in range(1, 200, 2)} | {f"g{n}" for n in range(0, 200, 2)}
    for path in repo.state.glob("edits/*.jsonl"):
        assert all(json.loads(line) for line in path.read_text().splitlines())
    assert set(repo.pending("S1")) == expected
    repo.commit("S1")
    assert set(repo.changes()) == expected


def test_two_commits_at_once_with_hooks_each_have_a_scratch_of_their_own(
    repo: Repo, tmp_path: Path
) -> None:
    """A pre-commit hook that looks twice sees the same tree both times."""
    bad = tmp_path / "bad"
    _hook(repo, "pre-commit", f"one=$(git write-tree; ls; pwd); sleep 0.7; two=$(git write-tree; ls; pwd)\n"
          f"[ \"$one\" = \"$two\" ] || echo \"$one\" \"$two\" >> '{bad}'")  # fmt: skip
    for n in range(3):
        repo.edit(f"S{n}", f"f{n}", "x\n")
    env = repo._environment(None)
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(
            lambda n: subprocess.run(
                [*COMMAND, "commit", "--session", f"S{n}", "-m", "x"], cwd=repo.root, env=env,
                capture_output=True, check=False,
            ), range(3),
        ))  # fmt: skip
    assert [one.returncode for one in done] == [0, 0, 0], [one.stderr for one in done]
    assert not bad.exists(), bad.read_text()


def test_a_scratch_worktree_that_a_crash_left_locked_is_made_afresh(repo: Repo) -> None:
    _hook(repo, "pre-commit", "exit 0")
    repo.write("u", "dirty\n")
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    (admin,) = (repo.root / ".git/worktrees").iterdir()
    for name in ("HEAD.lock", "index.lock"):
        (admin / name).touch()
    repo.edit("S1", "a", MINE + "more\n")
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M"}


def test_a_lock_of_a_stopped_hook_is_reported_as_busy(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that a stopped process holds: 75 that names it, and all is done once it is free."""
    repo.edit("S1", "a", MINE)
    (journal,) = repo.state.glob("edits/a-*.jsonl")
    real = files.lock
    monkeypatch.setattr(files, "lock", lambda fd, path, *a, **k: real(fd, path, *a, **{**k, "wait": 0.2}))
    fd = files.open_locked(str(journal))
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=75)
    assert journal.name in done.said
    os.close(fd)
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}

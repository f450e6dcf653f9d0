"""Killed between any two steps of a landing."""

import json
import os
import signal
from collections.abc import Callable

import pytest

from gitralph.base import locks
from gitralph.commit import commit, land
from gitralph.git import index, refs
from gitralph.records import intents
from tests.support.repo import Repo

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")
Kill = Callable[[object, str], None]


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


def _killed_once_moved(repo: Repo, patch: pytest.MonkeyPatch) -> None:
    """Killed right behind the move of the ref, with the index's lock held."""
    real = refs.Transaction.commit

    def move_and_die(change: refs.Transaction) -> None:
        real(change)
        os.kill(os.getpid(), signal.SIGKILL)

    with patch.context() as patched:
        patched.setattr(refs.Transaction, "commit", move_and_die)
        assert _commit_in_a_fork(repo) == signal.SIGKILL


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


@pytest.mark.parametrize(
    ("place", "name", "locked"),
    [(refs, "swap", False), (index, "moved", True), (refs.Transaction, "commit", True)],
    ids=["before all locks", "under them", "before the ref moves"],
)
def test_killed_after_the_objects_before_the_ref(
    repo: Repo,
    killed_at: Kill,
    monkeypatch: pytest.MonkeyPatch,
    place: object,
    name: str,
    locked: bool,
) -> None:
    _two_edits(repo)
    base = repo.head()
    _killed(repo, killed_at, place, name, monkeypatch)
    assert repo.head() == base
    assert (repo.root / ".git/index.lock").exists() == locked
    repo.ralph("commit", "--session", "S1", "-m", "x")
    _finished(repo, base)


@pytest.mark.parametrize(
    ("place", "name"),
    [(index, "try_lock"), (refs, "swap"), (refs.Transaction, "commit")],
    ids=["before the index lock", "before the ref's lock", "under both"],
)
def test_objects_that_a_gc_takes_away_are_put_back(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, place: object, name: str
) -> None:
    """``gc --prune=now`` meets new objects that no ref holds yet, and old ones nobody holds any more."""
    repo.git("hash-object", "-w", "--stdin", stdin=MINE.encode())
    _two_edits(repo)
    real = getattr(place, name)

    def prune(*args: object) -> object:
        monkeypatch.setattr(place, name, real)
        real_head = repo.git("rev-parse", "HEAD")
        repo.git("prune", "--expire=now")
        assert repo.git("rev-parse", "HEAD") == real_head
        return real(*args)

    monkeypatch.setattr(place, name, prune)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M", "n": "A"}
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize(
    ("module", "name"), [(land, "write_log"), (intents, "remove")], ids=["before", "after"]
)
def test_killed_after_the_ref_before_the_bookkeeping(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch, module: object, name: str
) -> None:
    """The next run makes no second commit; the records are consumed."""
    _two_edits(repo)
    base = repo.head()
    _killed(repo, killed_at, module, name, monkeypatch)
    assert repo.git("rev-parse", "HEAD^") == base
    assert repo.commit("S1", checked=False).status == "nothing"
    _finished(repo, base)


@pytest.mark.parametrize("command", ["commit", "status", "ls-files", "diff", "track", "session list"])
def test_killed_before_the_lock_of_the_index_is_gone(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Whatever command of ours comes next repairs it, and the user can work with git again."""
    _two_edits(repo)
    base = repo.head()
    _killed_once_moved(repo, monkeypatch)
    assert (repo.root / ".git/index.lock").exists()
    last = {"track": ["--session", "S2", "--", "u"], "commit": ["--session", "S1", "-m", "x"]}
    repo.ralph(*command.split(), *last.get(command, []))
    _finished(repo, base)
    repo.git("add", "b")


def _write_index(repo: Repo, data: bytes) -> None:
    """As a git does that read the index some time ago and has the lock only now."""
    new = repo.root / ".git/written"
    new.write_bytes(data)
    new.rename(repo.root / ".git/index")


@pytest.mark.parametrize("lost", ["lock gone", "lock foreign", "index stale"])
def test_the_lock_is_gone_and_the_staged_change_is_carried_over_all_the_same(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """A human deleted the dead lock and staged something: entries that were lost are advanced one by one."""
    repo.write("a", TEN.replace("line 2\n", "the user's line 2\n"))
    repo.git("add", "a")
    repo.write("a", TEN)
    _two_edits(repo)
    base, stale = repo.head(), (repo.root / ".git/index").read_bytes()
    _killed_once_moved(repo, monkeypatch)
    (repo.root / ".git/index.lock").unlink()
    if lost == "index stale":
        _write_index(repo, stale)
    if lost == "lock foreign":
        repo.write("u", "staged since\n")
        repo.git("add", "u")
    repo.ralph("status")
    assert repo.git("rev-parse", "HEAD^") == base
    staged = repo.git("diff", "--cached", "--name-only").split()
    assert staged == (["a", "b", "u"] if lost == "lock foreign" else ["a", "b"])
    rows = [
        r
        for r in repo.git("diff", "--cached", "a").split("\n")
        if r[:1] in "+-" and r[:3] not in ("+++", "---")
    ]
    assert rows == ["-line 2", "+the user's line 2"]


def test_an_index_that_keeps_moving_keeps_the_intent(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recovery that never gets the index forward forgets nothing: the next command brings it in."""
    _two_edits(repo)
    base, stale = repo.head(), (repo.root / ".git/index").read_bytes()
    _killed_once_moved(repo, monkeypatch)
    (repo.root / ".git/index.lock").unlink()
    _write_index(repo, stale)
    with monkeypatch.context() as patch:
        patch.setattr(land, "install", lambda *_: False)  # somebody stages in between, each time
        repo.ralph("status")
        assert len(list(repo.state.glob("intents/*"))) == 1
        repo.ralph("commit", "--session", "S1", "-m", "x", code=75)
        assert len(list(repo.state.glob("intents/*"))) == 1
    repo.ralph("status")
    _finished(repo, base)


def test_after_a_rewind_the_dead_lock_makes_no_phantom(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index shows what ``git reset --soft`` leaves staged, and nothing reversed."""
    _two_edits(repo)
    base = repo.head()
    _killed_once_moved(repo, monkeypatch)
    repo.git("update-ref", "-m", "rewound", "HEAD", base)
    repo.ralph("status")
    assert not (repo.root / ".git/index.lock").exists()
    assert repo.git("diff", "--cached", "--name-status").split() == ["M", "a", "M", "b", "A", "n"]
    assert repo.git("diff", "--name-only") == ""
    assert repo.pending("S1") == ["a", "n"]  # it was committed, HEAD lost it, the files have it


@pytest.mark.parametrize("since", ["nothing", "staged"])
def test_killed_between_the_index_and_the_ref(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch, since: str
) -> None:
    """The old index comes back, or else a person who removed the dead lock and staged keeps what he has."""
    _two_edits(repo)
    base, before = repo.head(), (repo.root / ".git/index").read_bytes()
    _killed(repo, killed_at, refs.Transaction, "commit", monkeypatch)
    assert (repo.root / ".git/index").read_bytes() != before
    if since == "staged":
        (repo.root / ".git/index.lock").unlink()
        repo.write("u", "staged since\n")
        repo.git("add", "u")
    repo.ralph("status")
    assert repo.head() == base
    assert not (repo.root / ".git/index.lock").exists()
    staged = repo.git("diff", "--cached", "--name-only").split()
    assert staged == (["a", "b", "n", "u"] if since == "staged" else ["b"])
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M", "n": "A"}
    assert repo.git("diff", "--cached", "--name-only").split() == (["b", "u"] if since == "staged" else ["b"])


def test_lock_of_a_killed_holder_is_free_at_once(
    repo: Repo, killed_at: Kill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No age decides: the very first look finds it free."""
    repo.edit("S1", "a", MINE)
    _killed(repo, killed_at, commit, "_committed", monkeypatch)
    # no patience at all: a lock that were still held would be one look and busy
    monkeypatch.setattr(land, "WAIT", 0.0)
    monkeypatch.setattr(locks, "WAIT", 0.0)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M"}


@pytest.mark.parametrize("moved", ["committed", "switched"])
def test_what_the_person_does_right_before_the_branch_moves_stands(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, moved: str
) -> None:
    """His commit is built upon; a branch that he left, at the same commit, does not move."""
    repo.edit("S1", "a", MINE)
    base, real = repo.head(), refs.swap

    def swap(*args: object) -> None:
        monkeypatch.setattr(refs, "swap", real)
        if moved == "committed":
            repo.git("commit", "-q", "--allow-empty", "-m", "his")
        else:
            repo.git("symbolic-ref", "HEAD", "refs/heads/other")
            repo.git("update-ref", "refs/heads/other", base)
        real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(refs, "swap", swap)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    subjects = repo.git("log", "--format=%s", f"{base}..HEAD").split()
    assert subjects == (["x", "his"] if moved == "committed" else ["x"])
    if moved == "switched":
        assert repo.git("rev-parse", "main") == base
        assert "commit: x" in (repo.root / ".git/logs/refs/heads/other").read_text()

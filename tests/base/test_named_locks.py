"""One module for locks: who holds one is named, every wait ends, and a child may keep one open."""

import ast
import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from gitralph.base import gitdir, layout, locks
from gitralph.base.errors import Busy
from gitralph.base.layout import Layout
from gitralph.records import bead
from tests.support import source
from tests.support.repo import Repo
from tests.support.runner import PATIENCE

pytestmark = pytest.mark.wired


@pytest.fixture
def lay(repo: Repo) -> Layout:
    repo.start("S1")
    place = gitdir.discover(os.path.realpath(repo.root))
    assert place is not None
    return layout.for_place(place)


def test_flock_is_taken_in_two_places() -> None:
    """On files of records in ``files``, in the line for a named lock in ``locks``; the rest is FileLock."""
    users = {
        top: {m.name for m in source.modules() for one in m.imports() if one.module.split(".")[0] == top}
        for top in ("fcntl", "filelock")
    }
    assert users == {
        "fcntl": {"gitralph.base.files", "gitralph.base.locks"},
        "filelock": {"gitralph.base.locks"},
    }


def test_the_names_of_locks_stand_in_one_place() -> None:
    """Their order is written beside them; a name spelled elsewhere would be a lock outside of it."""
    given = [
        (m.name, ast.unparse(node.args[1]))
        for m in source.modules()
        for node in ast.walk(m.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "locks.hold"
        and m.name != "gitralph.base.locks"
    ]
    assert len(given) > 15
    wrong = [one for one in given if not one[1].startswith("locks.") and one[1] != "name"]
    assert wrong == []


def _try(lay: Layout, name: str, wait: float = 0) -> None:
    with locks.hold(lay, name, wait):
        pass


def test_a_named_lock_and_a_beads_lock_are_one_kind(lay: Layout) -> None:
    """Both are refused in time, with the holder's pid; case twins of a bead share one."""
    with locks.hold(lay, "x"), pytest.raises(Busy, match=rf"'x' lock .* \(process {os.getpid()}\)"):
        _try(lay, "x")
    said = rf"bead 'bd-1' .* \(process {os.getpid()}\)"
    with bead.hold(lay, "BD-1"), pytest.raises(Busy, match=said), bead.hold(lay, "bd-1", wait=0):
        pass
    with locks.hold(lay, "x"):
        assert locks.holder(lay, "x") == f" (process {os.getpid()})"
    assert locks.holder(lay, "none") == ""
    _try(lay, "x")


@contextmanager
def _program(code: str, *args: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that says a word once it is ready, and goes on until its input ends."""
    words = [sys.executable, "-c", f"import sys, os\n{code}", *args]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        child.stdout.readline()
        try:
            yield child
        finally:
            child.kill()


_FILELOCK = """
from filelock import FileLock
with FileLock(sys.argv[1]):
    print(flush=True)
    sys.stdin.read()
"""


def test_any_program_that_holds_the_file_lock_keeps_us_waiting(lay: Layout) -> None:
    """It has written no pid: who it is tells the kernel, whatever the file says of a holder before it."""
    _try(lay, "x")
    with _program(_FILELOCK, lay.lock("x")) as child:
        by = rf" \(process {child.pid}\)" if os.path.exists("/proc/locks") else ""
        for wait in (0, 0.2):
            with pytest.raises(Busy, match=rf"the 'x' lock is held by another program{by}$"):
                _try(lay, "x", wait)
    _try(lay, "x")


def test_any_program_waits_for_us(lay: Layout) -> None:
    with locks.hold(lay, "x"), pytest.raises(Timeout):
        FileLock(lay.lock("x")).acquire(timeout=0.1)
    with FileLock(lay.lock("x"), timeout=0):
        pass


def test_where_the_kernel_does_not_tell_the_file_does(lay: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """On another system: the pid inside, unless that process has ended."""
    monkeypatch.setattr(locks, "holder_by_kernel", lambda _path: None)
    with locks.hold(lay, "x"), pytest.raises(Busy, match=rf"another git ralph \(process {os.getpid()}\)"):
        _try(lay, "x")
    with _program("print(flush=True); sys.stdin.read()") as child:
        pass
    with _program(_FILELOCK, lay.lock("x")):
        Path(lay.lock("x")).write_text(f"{child.pid}\n")
        with pytest.raises(Busy, match=r"held by another program$"):
            _try(lay, "x")


_OURS = """
from gitralph.base import locks
from gitralph.base.layout import Layout
with locks.hold(Layout(sys.argv[1], "main"), "x"):
    print(flush=True)
    sys.stdin.read()
"""


def test_a_stopped_holder_is_told_and_a_killed_one_frees_it_at_once(lay: Layout) -> None:
    with _program(_OURS, lay.top) as child:
        os.kill(child.pid, signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        with pytest.raises(Busy, match=rf"another git ralph \(process {child.pid}, which is stopped\)"):
            _try(lay, "x", 0.2)
        child.kill()
        _try(lay, "x", 1)


_WITH_CHILD = """
import subprocess
from gitralph.base import locks
from gitralph.base.layout import Layout
with locks.hold(Layout(sys.argv[1], "main"), "x") as fd:
    words = [sys.executable, "-c", "print(flush=True); input()"]
    subprocess.Popen(words, stdin=int(sys.argv[2]), pass_fds=[fd])
    sys.stdin.read()
"""


def test_a_lock_is_kept_by_a_child_that_outlives_its_holder(lay: Layout) -> None:
    """A git of ours that runs on after a kill is not taken for a dead one."""
    there, here = os.pipe()
    words = [sys.executable, "-c", f"import sys\n{_WITH_CHILD}", lay.top, str(there)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "pass_fds": [there]}
    with subprocess.Popen(words, **pipes) as holder:  # type: ignore[call-overload]
        holder.stdout.readline()
        holder.kill()
    os.close(there)
    with pytest.raises(Busy):
        _try(lay, "x")
    os.close(here)
    _try(lay, "x", 5)


_TURNS = """
import time
from gitralph.base import locks
from gitralph.base.layout import Layout
for _ in range(10):
    with locks.hold(Layout(sys.argv[1], "main"), "x", 5), open(sys.argv[2], "a") as file:
        file.write(f"{os.getpid()}\\n")
        time.sleep(0.02)
"""


def test_of_twenty_at_once_none_starves(lay: Layout, tmp_path: Path) -> None:
    """Between two turns of one the others have about one each.

    That is 20, and one of 45 was seen once on a machine that swapped. FileLock alone gives 65 to 106.
    """
    words = [sys.executable, "-c", f"import sys, os\n{_TURNS}", lay.top, str(tmp_path / "turns")]
    programs = [subprocess.Popen(words) for _ in range(20)]
    assert [program.wait(PATIENCE) for program in programs] == [0] * 20
    turns = (tmp_path / "turns").read_text().split()
    assert len(turns) == 200
    mine = {one: [at for at, other in enumerate(turns) if other == one] for one in set(turns)}
    *others, longest = sorted(b - a for ats in mine.values() for a, b in pairwise(ats))
    assert max(others) <= 40
    assert longest <= 60


def test_a_thread_waits_as_everybody_does(lay: Layout) -> None:
    """The tasks of a loop are threads; a place in the line that was given up is given back."""
    with locks.hold(lay, "x"), ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(_try, lay, "x", 0.2) for _ in range(4)]
        assert [type(one.exception()) for one in waiting] == [Busy] * 4
    with ThreadPoolExecutor(4) as pool:
        for one in [pool.submit(_try, lay, "x", 5) for _ in range(20)]:
            one.result()


@pytest.mark.parametrize("what", ["a folder", "a link", "a fifo"])
def test_what_is_no_file_is_named(repo: Repo, what: str) -> None:
    """One sentence, 128, and nothing moved; the same for the line before the lock."""
    repo.edit("S1", "a", "mine\n")
    aim = repo.root.parent / "aim"
    for path in (repo.state / "locks/commit.lock", repo.state / "locks/commit.lock.turn"):
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        if what == "a folder":
            path.mkdir()
        elif what == "a link":
            path.symlink_to(aim)
        else:
            os.mkfifo(path)
        before = repo.head()
        done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
        assert done.said.startswith(f"fatal: the 'commit' lock cannot be taken: '{path}'"), done.said
        assert done.said.count("\n") == 1
        assert (repo.head(), repo.pending("S1"), aim.exists()) == (before, ["a"], False)
        shutil.rmtree(path) if what == "a folder" else path.unlink()
    repo.ralph("commit", "--session", "S1", "-m", "x")


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_kernel_locks_is_named(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """No soft lock in its place, which would stay when its holder is killed."""
    repo.edit("S1", "a", "mine\n")
    real = fcntl.flock

    def flock(fd: int, what: int) -> None:
        if "/locks/" in os.readlink(f"/proc/self/fd/{fd}"):
            raise OSError(code, os.strerror(code))
        real(fd, what)

    monkeypatch.setattr(fcntl, "flock", flock)
    before = repo.head()
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert "commit.lock" in done.said
    assert f"has no kernel locks ({os.strerror(code)})" in done.said
    assert (repo.head(), repo.pending("S1")) == (before, ["a"])


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes files of another's")
def test_a_file_that_is_not_ours_is_named(lay: Layout) -> None:
    _try(lay, "x", 1)
    code = (
        "from gitralph.base import locks, errors\nfrom gitralph.base.layout import Layout\n"
        "os.chdir('/')\nlay = Layout(sys.argv[1], 'main')\n"
        # what a lock imports may lie where only root reads
        "with locks.hold(lay, 'other', 1): pass\n"
        "os.setuid(65534)\n"
        "try:\n with locks.hold(lay, 'x', float(sys.argv[2])): print('taken')\n"
        "except errors.Fatal as error: print(error.message)\n"
    )
    fd = os.open(lay.top, os.O_RDONLY)  # by the descriptor: the folders above are closed to others
    try:
        os.chmod(lay.top, 0o755)
        os.chmod(f"{lay.top}/locks", 0o755)
        for wait in ("0", "1"):
            done = subprocess.run(
                [
                    sys.executable,
                    "-c",
                    f"import sys, os\n{code}",
                    f"/proc/self/fd/{fd}",
                    wait,
                ],
                capture_output=True,
                pass_fds=[fd],
                check=False,
            )
            assert b"cannot be taken: " in done.stdout, done
            assert b"Permission denied" in done.stdout
    finally:
        os.close(fd)


def test_a_worktree_waits_no_longer_than_the_limit_for_the_exclude_file(repo: Repo) -> None:
    """Somebody keeps ``info/exclude`` locked: 75, and the file is named."""
    (repo.root / ".git/info").mkdir(exist_ok=True)
    path = repo.root / ".git/info/exclude"
    path.touch()
    program = "import fcntl,sys; f=open(sys.argv[1]); fcntl.flock(f,2); print(flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", program, str(path)]
    holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    try:
        add = (
            "import sys; from gitralph.base import locks as lock; lock.WAIT = 0.3; "
            "from gitralph.__main__ import main; "
            "sys.argv[1:] = ['worktree', 'add', 'bd-1']; sys.exit(main())"
        )
        words = [sys.executable, "-P", "-c", add]
        done = subprocess.run(
            words, cwd=repo.root, env=repo.env, capture_output=True, timeout=20, check=False
        )
        assert done.returncode == 75, done.stderr
        assert b"info/exclude' is locked by another program" in done.stderr
    finally:
        holder.communicate(b"")
    repo.ralph("worktree", "add", "bd-1")

"""One module for locks: who holds one is named, every wait ends, and a child may keep one open."""

import ast
import os
import subprocess
import sys

import pytest

from gitralph.base import gitdir, layout, locks
from gitralph.base.errors import Busy
from gitralph.base.layout import Layout
from gitralph.journal import bead
from tests.support import source
from tests.support.repo import Repo


@pytest.fixture
def lay(repo: Repo) -> Layout:
    repo.start("S1")
    place = gitdir.discover(os.path.realpath(repo.root))
    assert place is not None
    return layout.for_place(place)


def test_only_files_locks() -> None:
    """``flock`` is taken in one place; nothing waits for it without a limit."""
    wrong = {m.name for m in source.modules() for one in m.imports() if one.module == "fcntl"}
    assert wrong == {"gitralph.base.files"}


def test_the_names_of_locks_stand_in_one_place() -> None:
    """Their order is written beside them; a name spelled elsewhere would be a lock outside of it."""
    given = [
        (m.name, ast.unparse(node.args[1]))
        for m in source.modules()
        for node in ast.walk(m.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("locks.hold", "locks.take")
        and m.name != "gitralph.base.locks"
    ]
    assert len(given) > 15
    wrong = [one for one in given if not one[1].startswith("locks.") and one[1] != "name"]
    assert wrong == []


def test_a_named_lock_and_a_beads_lock_are_one_kind(lay: Layout) -> None:
    """Both are refused in time, with the holder's pid; case twins of a bead share one."""
    with locks.hold(lay, "x"), pytest.raises(Busy, match=rf"'x' lock .* \(process {os.getpid()}\)"):
        locks.take(lay, "x", wait=0)
    said = rf"bead 'bd-1' .* \(process {os.getpid()}\)"
    with bead.hold(lay, "BD-1"), pytest.raises(Busy, match=said), bead.hold(lay, "bd-1", wait=0):
        pass
    assert locks.holder(lay, "x") == f" (process {os.getpid()})"
    assert locks.holder(lay, "none") == ""


def test_a_lock_is_kept_by_a_child_that_outlives_its_holder(lay: Layout) -> None:
    """A git of ours that runs on is not taken for a dead one."""
    with locks.hold(lay, "x") as fd:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[fd])
    try:
        with pytest.raises(Busy):
            locks.take(lay, "x", wait=0)
    finally:
        child.communicate(b"\n")
    os.close(locks.take(lay, "x", wait=0))


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

"""Locks of others: a git lock that a dead program left, and holders that are stopped, not dead."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import scenes, strace, verdict
from tests.faults.scenes import Place
from tests.faults.strace import COMMAND

LIMIT = 10.0
pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing())),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("locks")


@pytest.fixture
def place(template: Path, tmp_path: Path, environ: dict[str, str]) -> Iterator[Place]:
    folder = template / "branch"
    if not folder.exists():
        scenes.branch(folder, environ)
    copied = tmp_path / "place"
    shutil.copytree(folder, copied, symlinks=True)
    yield Place(copied, environ, ("commit", "--session", "S1", "-m", "x"))


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
@pytest.mark.parametrize("text", ["", "0123456789012345678901234567890123456789\n"], ids=["empty", "filled"])
def test_a_stale_lock_of_another_program_is_named_and_never_removed(place: Place, name: str, text: str) -> None:
    """K80, fault 9: 75 within the limit, nothing moved, all of it lands once the lock is gone."""
    if text and name != "index.lock":
        pytest.skip("one form is enough for the ref locks")
    lock = place.root / ".git" / name
    lock.write_text(text)
    before, found = verdict.picture(place), lock.stat()
    begun = time.monotonic()
    done = place.again()
    assert time.monotonic() - begun < LIMIT + 1
    assert done.code == 75
    assert name in done.said
    assert lock.read_text() == text
    assert (lock.stat().st_ino, lock.stat().st_mtime_ns) == (found.st_ino, found.st_mtime_ns)
    assert verdict.picture(place) == before
    assert place.ralph("status").code == 0
    assert lock.exists()
    lock.unlink()
    assert place.again().code == 0
    assert verdict.leftovers(place.root) == []
    assert int(place.git("rev-list", "--count", "HEAD")) == 2


def test_a_stale_lock_of_packed_refs_is_no_hindrance(place: Place) -> None:
    place.git("pack-refs", "--all")
    lock = place.root / ".git/packed-refs.lock"
    lock.touch()
    assert place.again().code == 0
    assert lock.exists()
    lock.unlink()
    assert int(place.git("rev-list", "--count", "HEAD")) == 2


def _stop_at(place: Place, call: str, when: int) -> subprocess.Popen[bytes]:
    """A commit of S1 that stops itself before one call; it holds whatever it holds then."""
    words = ["strace", "-qq", "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:signal=STOP:when={when}"]
    env = {**place.env, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [*words, *COMMAND, *place.args], cwd=place.root, env=env, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def _stopped_child(strace_pid: int) -> int:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for pid in Path(f"/proc/{strace_pid}/task/{strace_pid}/children").read_text().split():
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state in "Tt":
                time.sleep(0.3)
                if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt":
                    return int(pid)
        time.sleep(0.05)
    raise AssertionError("it never stopped")


@pytest.mark.parametrize("call", ["fsync", "link", "rename"])
def test_a_stopped_holder_makes_others_busy_and_finishes_when_it_goes_on(place: Place, call: str) -> None:
    """Fault 10: nobody takes a lock from the living; after SIGCONT everything is done once."""
    place.edit("e", "by S2\n", session="S2")
    slow = _stop_at(place, call, 2 if call == "link" else 3)
    try:
        pid = _stopped_child(slow.pid)
        begun = time.monotonic()
        done = place.ralph("commit", "--session", "S2", "-m", "y")
        assert time.monotonic() - begun < LIMIT + 1
        assert done.code == 75, done.said
        assert str(pid) in done.said
        for command in (["status"], ["ls-files"], ["session", "list"]):  # readers wait for nobody
            begun = time.monotonic()
            assert place.ralph(*command).code == 0
            assert time.monotonic() - begun < 3
        place.edit("f", "by S2\n", session="S2")
        os.kill(pid, signal.SIGCONT)
        _, said = slow.communicate(timeout=30)
        assert slow.returncode == 0, said
    finally:
        if slow.poll() is None:
            os.killpg(slow.pid, signal.SIGKILL)
            slow.communicate()
    assert place.ralph("commit", "--session", "S2", "-m", "y").code == 0
    assert place.git("log", "--format=%s").split() == ["y", "x", "base"]
    assert place.git("diff-tree", "-r", "--name-only", "HEAD^", "HEAD").split() == ["e", "f"]
    assert verdict.leftovers(place.root) == []
    assert verdict.fsck(place) == ""


def test_a_hook_waits_two_seconds_for_a_stopped_holder_and_says_so(place: Place) -> None:
    """The agent goes on; what could not be recorded is told, and shows as a gap."""
    import fcntl

    (journal,) = (place.root / ".git/ralph-sessions/edits").glob("a-*.jsonl")
    with open(journal, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        event = scenes.event("S1", str(place.root), "a", scenes.TEN, scenes.TEN + "more\n")
        begun = time.monotonic()
        done = place.ralph("hook", "generic", stdin=event)
        took = time.monotonic() - begun
    assert done.code == 0
    assert done.out == b""
    assert "not recorded" in done.said
    assert took < 4
    assert "not recorded" in (place.root / ".git/ralph-sessions/hooks.log").read_text()


def test_a_full_disk(place: Place) -> None:
    """Fault 3: every file is limited to a few KiB; what was acknowledged lands later."""
    words = ["sh", "-c", 'trap "" XFSZ; ulimit -f 4; exec "$@"', "sh", *COMMAND]
    acknowledged = []
    for n in range(12):
        place.write(f"t{n}", "x\n" * 3000)
        done = subprocess.run(
            [*words, "track", "--session", "S1", "--", f"t{n}"], cwd=place.root, env=place.env,
            capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 128), done.stderr
        if done.returncode == 0:
            acknowledged.append(f"t{n}")
    done = subprocess.run(
        [*words, *place.args], cwd=place.root, env=place.env, capture_output=True, check=False
    )
    assert done.returncode in (0, 1, 128), done.stderr
    assert b"Traceback" not in done.stderr
    place.again()
    landed = place.git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert set(acknowledged) <= set(landed)
    assert verdict.leftovers(place.root) == []
    assert verdict.fsck(place) == ""

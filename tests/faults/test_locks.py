"""Locks of others: a git lock that a dead program left, and holders that are stopped, not dead."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from gitralph.base import locks
from gitralph.commit import land
from tests.faults import scenes, strace, verdict
from tests.faults.scenes import Place
from tests.faults.strace import COMMAND
from tests.support.runner import PATIENCE
from tests.support.size import FULL

LIMIT = locks.WAIT if FULL else 1.0
pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing())),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("locks")


@pytest.fixture(autouse=True)
def shorter_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ten seconds themselves are proven in test_index.py; here a wait has only to end."""
    monkeypatch.setattr(land, "WAIT", LIMIT)
    monkeypatch.setattr(locks, "WAIT", LIMIT)


@pytest.fixture
def place(template: Path, tmp_path: Path, environ: dict[str, str]) -> Place:
    folder = template / "branch"
    if not folder.exists():
        scenes.branch(folder, environ)
    copied = tmp_path / "place"
    shutil.copytree(folder, copied, symlinks=True)
    return Place(copied, environ, ("commit", "--session", "S1", "-m", "x"))


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
@pytest.mark.parametrize("text", ["", "0123456789012345678901234567890123456789\n"], ids=["empty", "filled"])
def test_a_stale_lock_of_another_program_is_named_and_never_removed(
    place: Place, name: str, text: str
) -> None:
    """Busy (75), nothing moved, all of it lands once the lock is gone."""
    if text and name != "index.lock":
        pytest.skip("one form is enough for the ref locks")
    held = place.root / ".git" / name
    held.write_text(text)
    before, found = verdict.picture(place), held.stat()
    done = place.again()
    assert done.code == 75
    assert name in done.said
    assert held.read_text() == text
    assert (held.stat().st_ino, held.stat().st_mtime_ns) == (found.st_ino, found.st_mtime_ns)
    assert verdict.picture(place) == before
    assert place.ralph("status").code == 0
    assert held.exists()
    held.unlink()
    assert place.again().code == 0
    assert verdict.leftovers(place.root) == []
    assert int(place.git("rev-list", "--count", "HEAD")) == 2


def test_a_stale_lock_of_packed_refs_is_no_hindrance(place: Place) -> None:
    place.git("pack-refs", "--all")
    held = place.root / ".git/packed-refs.lock"
    held.touch()
    assert place.again().code == 0
    assert held.exists()
    held.unlink()
    assert int(place.git("rev-list", "--count", "HEAD")) == 2


def _stop_at(place: Place, call: str, when: int) -> subprocess.Popen[bytes]:
    """A commit of S1 that stops itself before one call; it holds whatever it holds then."""
    inject = f"inject={call}:signal=STOP:when={when}"
    words = ["strace", "-qq", "-o", os.devnull, "-e", f"trace={call}", "-e", inject]
    env = {**place.env, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [*words, *COMMAND, *place.args],
        cwd=place.root,
        env=env,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _activity(pid: str) -> tuple[bool, str]:
    """Whether a process is stopped just now, and what changes as soon as it goes on."""
    try:
        said = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # gone, or gone while it was read
        return False, ""
    return "\nState:\tt" in said.replace("\tT", "\tt"), said.partition("voluntary_ctxt_switches")[2]


def _stopped_child(slow: subprocess.Popen[bytes]) -> int:
    """The traced process, once it has stopped for good: tracing stops it for moments too."""
    deadline = time.monotonic() + PATIENCE
    while slow.poll() is None and time.monotonic() < deadline:
        for pid in Path(f"/proc/{slow.pid}/task/{slow.pid}/children").read_text().split():
            before = _activity(pid)
            time.sleep(0.5)
            if before[0] and _activity(pid) == before:
                return int(pid)
        time.sleep(0.05)
    raise AssertionError("it never stopped")


@pytest.mark.parametrize("call", ["fsync", "link", "rename"])
def test_a_stopped_holder_makes_others_busy_and_finishes_when_it_goes_on(place: Place, call: str) -> None:
    """Nobody takes a lock from the living; after SIGCONT everything is done once."""
    place.edit("e", "by S2\n", session="S2")
    slow = _stop_at(place, call, 2 if call == "link" else 3)
    try:
        pid = _stopped_child(slow)
        done = place.ralph("commit", "--session", "S2", "-m", "y")
        assert done.code == 75, done.said
        assert str(pid) in done.said
        for command in (["status"], ["ls-files"], ["session", "list"]):  # readers wait for nobody
            assert place.ralph(*command).code == 0
        place.edit("f", "by S2\n", session="S2")
        os.kill(pid, signal.SIGCONT)
        _, said = slow.communicate(timeout=PATIENCE)
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
        done = place.ralph("hook", "generic", stdin=event)
    assert done.code == 0
    assert done.out == b""
    assert "not recorded" in done.said
    assert "not recorded" in (place.root / ".git/ralph-sessions/hooks.log").read_text()


def test_a_full_disk(place: Place) -> None:
    """A disk that fills: every file is limited to a few KiB; what was acknowledged lands later."""
    words = ["sh", "-c", 'trap "" XFSZ; ulimit -f 4; exec "$@"', "sh", *COMMAND]
    env = {**place.env, "PYTHONDONTWRITEBYTECODE": "1"}  # Python would install a .pyc that is cut off
    acknowledged = []
    for n in range(12):
        place.write(f"t{n}", "x\n" * 3000)
        done = subprocess.run(
            [*words, "track", "--session", "S1", "--", f"t{n}"],
            cwd=place.root,
            env=env,
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, 128), done.stderr
        if done.returncode == 0:
            acknowledged.append(f"t{n}")
    done = subprocess.run([*words, *place.args], cwd=place.root, env=env, capture_output=True, check=False)
    assert done.returncode in (0, 1, 128), done.stderr
    assert b"Traceback" not in done.stderr
    place.again()
    landed = place.git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert set(acknowledged) <= set(landed)
    assert verdict.leftovers(place.root) == []
    assert verdict.fsck(place) == ""

"""``base.spawn`` does for git what ``subprocess`` does."""

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from gitralph.base import spawn

ENV: Mapping[str, str] = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
BIG = bytes(range(256)) * 8192  # 2 MiB: more than any pipe holds


def _python(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)", None),
        ("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", BIG),
        ("import os, sys; d = sys.stdin.buffer.read(); [sys.stderr.buffer.write(d), print(len(d))]", BIG),
        ("import sys; sys.stdin.close(); print('reads nothing')", BIG),
        ("import os; os.close(0); os.close(1); os.close(2)", BIG),
        ("import sys; print(len(sys.stdin.buffer.read()))", None),
        ("import sys; print(len(sys.stdin.buffer.read()))", b""),
        ("import os; os.kill(os.getpid(), 9)", None),
        ("import os; print(sorted(os.environ))", None),
        ("import os; print(sorted(os.listdir('/proc/self/fd')))", b""),
    ],
)  # fmt: skip
def test_a_program_ends_and_says_the_same(code: str, given: bytes | None) -> None:
    words = _python(code)
    if given is None:
        theirs = subprocess.run(words, env=ENV, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    else:
        theirs = subprocess.run(words, env=ENV, capture_output=True, check=False, input=given)
    ours = spawn.run(words, ENV, given)
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def _ignored(told: bytes) -> int:
    """The signals that a process ignores; 32 and 33 are the C library's own (signal(7))."""
    return int(told.split()[1], 16) & ~(0b11 << 31)


def test_it_starts_with_the_signals_that_subprocess_gives() -> None:
    words = ["/bin/grep", "^SigIgn", "/proc/self/status"]
    theirs = subprocess.run(words, env=ENV, capture_output=True, check=True)
    assert _ignored(spawn.run(words, ENV, None).stdout) == _ignored(theirs.stdout)


def test_what_cannot_be_started_is_told_and_leaves_no_descriptor() -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        spawn.run(["/nosuch/program"], ENV, b"")
    with pytest.raises(ValueError, match="null"):
        spawn.run(["/bin/echo", "a\0b"], ENV, b"")
    spawn.run(["/bin/cat"], ENV, BIG)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_child_keeps_the_descriptor_it_was_given() -> None:
    read, write = os.pipe()
    try:
        assert spawn.can_keep() == (sys.platform == "linux")
        code = f"import os; os.write({write}, b'held')"
        assert spawn.run(_python(code), ENV, None).returncode == 1
        assert spawn.run(_python(code), ENV, None, keep=(write,)).returncode == 0
        assert os.read(read, 9) == b"held"
        assert not os.get_inheritable(write)
    finally:
        os.close(read)
        os.close(write)


def test_a_child_that_is_talked_to_line_by_line() -> None:
    child = spawn.Child(["/bin/cat"], ENV, spawn.PIPE, spawn.NOTHING)
    assert child.stdin is not None
    for line in (b"one\n", b"two\n"):
        child.stdin.write(line)
        child.stdin.flush()
        assert child.stdout.readline() == line
    child.stdin.close()
    assert child.stdout.read() == b""
    child.stdout.close()
    assert child.wait() == 0
    assert child.wait() == 0

"""The threat table's hook input: exit 0, nothing on stdout, no traceback, nothing written elsewhere."""

import itertools
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import payloads, runner
from tests.support.repo import Repo
from tests.support.runner import Done
from tests.support.texts import TEN, changed

pytestmark = pytest.mark.wired

AGENTS = ("claude-code", "pi", "generic")
EVENT = '{"session":"S1","cwd":%s,"event":"edit","path":%s,"before":null,"after":"x"}'

RAW: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\t ",
    "no-json": b"hello",
    "half": b'{"session":"S1"',
    "nul": b"\0" * 100,
    "not-utf8": b'{"session":"\xff\xfe"}',
    "nan": b'{"session":NaN}',
    "infinity": b'{"session":-Infinity}',
    "long-number": b'{"session":"S1","n":' + b"9" * 5000 + b"}",
    "long-float": b'{"session":"S1","n":1e' + b"9" * 5000 + b"}",
    "deep": b"[" * 200_000,
    "deep-object": b'{"a":' * 200_000,
    "deep-whole": b"[" * 200_000 + b"]" * 200_000,
    "list": b"[1,2]",
    "string": b'"S1"',
    "number": b"7",
    "null": b"null",
    "two": b"{}{}",
    "bom": b"\xef\xbb\xbf{}",
    "bom-utf16": '{"session":"S1"}'.encode("utf-16"),
    "object": b"{}",
}
WRONG_TYPES: list[object] = [None, 7, 1.5, True, [], {}, ["x"], {"x": 1}, "", "\0", "\ud800", "x" * 100_000]


def send(repo: Repo, agent: str, data: bytes, **env: str) -> Done:
    """One hook process; what must hold whatever comes."""
    done = runner.as_process(["hook", agent], cwd=str(repo.root), env={**repo.env, **env}, stdin=data)
    assert done.code == 0, done.said
    assert done.out == b""
    assert b"Traceback" not in done.err
    assert b"Error" not in done.err, "an exception that nobody thought of"
    assert len(done.err.splitlines()) <= 1
    return done


def _around(repo: Repo) -> dict[str, int]:
    """Everything outside the state folder."""
    found = {}
    for folder, folders, names in os.walk(repo.root.parent):
        folders[:] = [name for name in folders if name != "ralph-sessions"]
        for name in names:
            path = os.path.join(folder, name)
            found[path] = os.lstat(path).st_mtime_ns
    return found


@pytest.mark.parametrize("name", RAW)
def test_input_that_is_no_event(repo: Repo, name: str) -> None:
    before = _around(repo)
    for agent in AGENTS if name in ("empty", "deep", "object", "nan") else ("generic",):
        said = send(repo, agent, RAW[name]).said
        if (agent, name) != ("claude-code", "object") and (agent, name) != ("pi", "object"):
            assert said.startswith("warning: "), "what was not recorded is said somewhere"
    assert _around(repo) == before
    assert not list(repo.common.glob("ralph-sessions/*.files"))


def test_what_was_not_recorded_is_logged_where_there_is_a_log(repo: Repo) -> None:
    repo.start("S1")
    said = [send(repo, "generic", RAW[name]).said for name in ("no-json", "nan", "empty")]
    assert all(one.count("warning: git ralph hook: ") == 1 for one in said)
    log = (repo.state / "hooks.log").read_text().splitlines()
    assert len(log) == 3
    assert all(" generic: " in line for line in log)


def test_duplicate_keys_take_the_last(repo: Repo) -> None:
    repo.write("a", "x")
    text = '{"session":"S1","session":"S2","cwd":%s,"event":"stop","event":"edit","path":"a","after":"x"}'
    send(repo, "generic", (text % json.dumps(str(repo.root))).encode())
    assert (repo.pending("S1"), repo.pending("S2")) == ([], ["a"])


def test_bom_before_a_good_event(repo: Repo) -> None:
    repo.write("a", changed())
    event = payloads.encode(payloads.edit("S1", str(repo.root), "a", TEN, changed()))
    send(repo, "generic", b"\xef\xbb\xbf" + event)
    assert repo.pending("S1") == ["a"]


def test_lone_surrogates_in_texts(repo: Repo) -> None:
    repo.write("a", changed())
    send(
        repo,
        "generic",
        payloads.encode(
            {
                **payloads.edit("S1", str(repo.root), "a", None, None),
                "before": "\ud800",
                "after": "\udfff x",
            }
        ),
    )
    assert repo.pending("S1") == ["a"]
    # no file ever had these texts, so only the path is known
    assert repo.commit("S1").how == {"a": "whole-file"}
    assert repo.blob("a") == changed().encode()


FIELDS = {
    "generic": "session cwd event path to before after agent_id encoding call tool parent",
    "claude-code": "session_id cwd hook_event_name tool_name tool_input tool_response agent_id tool_use_id",
    "pi": "session_id cwd hook_event_name event transcript_path",
}


def _good(repo: Repo, agent: str) -> dict[str, object]:
    path = str(repo.file("a"))
    if agent == "generic":
        return payloads.edit("S1", str(repo.root), "a", TEN, changed())
    if agent == "claude-code":
        return payloads.claude_write("S1", str(repo.root), path, TEN, changed())
    event = {
        "type": "tool_result",
        "toolName": "write",
        "toolCallId": "t1",
        "isError": False,
        "input": {"path": path, "content": changed()},
    }
    return {"hook_event_name": "tool_result", "session_id": "S1", "cwd": str(repo.root), "event": event}


@pytest.mark.parametrize("agent", AGENTS)
def test_wrong_types_in_every_field(repo: Repo, agent: str) -> None:
    """In process, since this is many: no exception but our own, nothing outside the state folder."""
    before = _around(repo)
    for field in FIELDS[agent].split():
        for wrong in WRONG_TYPES:
            repo.hook(agent, {**_good(repo, agent), field: wrong})
    for inner in ("tool_input", "tool_response", "event"):
        whole = _good(repo, agent).get(inner)
        for key in whole if isinstance(whole, dict) else ():
            for wrong in WRONG_TYPES:
                repo.hook(agent, {**_good(repo, agent), inner: {**whole, key: wrong}})  # type: ignore[dict-item]
    assert _around(repo) == before
    log = repo.state / "hooks.log"
    assert not log.exists() or b"Error" not in log.read_bytes(), log.read_text()


@pytest.mark.parametrize("agent", AGENTS)
def test_wrong_types_over_a_process(repo: Repo, agent: str) -> None:
    for field in FIELDS[agent].split()[:4]:
        send(repo, agent, payloads.encode({**_good(repo, agent), field: {"x": ["\ud800"]}}))


PATHS = [
    "..",
    "../x",
    "/etc/passwd",
    "/",
    "",
    ".",
    "a/../../x",
    "~/.bashrc",
    "x" * 300,
    "d/" * 3000 + "x",
    "\0",
    "a\0b",
    "-rf",
    "new\nline",
    "\x1b[2J",
    "\udcff",
    "/dev/stdout",
    "/proc/self/environ",
    "fifo",
    "socket",
    ".git/hooks/x",
]


@pytest.mark.parametrize("agent", AGENTS)
def test_hostile_paths(repo: Repo, agent: str) -> None:
    os.mkfifo(repo.file("fifo"))
    before = _around(repo)
    for path in PATHS:
        payload = json.dumps(_good(repo, agent))
        given = "a" if agent == "generic" else str(repo.file("a"))
        repo.hook(agent, payload.replace(json.dumps(given), json.dumps(path)).encode())
    assert _around(repo) == before
    assert not [path for path in repo.pending("S1") if path.startswith(("/", "..", ".git"))]
    assert repo.commit("S1").status == "nothing"


def test_unknown_agents(repo: Repo) -> None:
    for agent in ("nobody", "../x", "\x1b[2J", "__init__"):
        said = send(repo, agent, b"{}").said
        assert "unknown agent" in said
        assert "\x1b" not in said


def test_wrong_usage_of_hook_is_usage(repo: Repo) -> None:
    """Only ``hook <agent>`` is the hook; a person who mistypes it is told."""
    assert repo.run("hook", process=True).code == 129
    assert repo.run("hook", "generic", "extra", process=True).code == 129


def test_deleted_current_folder(repo: Repo, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    event = payloads.encode({**payloads.edit("S1", str(repo.root), "a", TEN, changed())})
    repo.write("a", changed())
    script = 'rmdir "$0" && exec "$@"'
    for data in (event, b"nonsense"):
        gone.mkdir(exist_ok=True)
        done = subprocess.run(
            ["/bin/sh", "-c", script, str(gone), *runner.COMMAND, "hook", "generic"],
            cwd=gone,
            env=repo.env,
            input=data,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, b"")
        assert b"Traceback" not in done.stderr
    assert repo.pending("S1") == ["a"]


def test_stdin_that_never_closes(repo: Repo) -> None:
    """What came before the wait ended is a cut payload: it vouches for the path, not for the texts."""
    repo.write("a", changed())
    event = payloads.encode(payloads.edit("S1", str(repo.root), "a", TEN, changed()))
    children = []
    for data in (b"", event, event[:-20]):
        child = subprocess.Popen(
            [*runner.COMMAND, "hook", "generic"],
            cwd=repo.root,
            env=repo.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert child.stdin is not None
        child.stdin.write(data)
        child.stdin.flush()
        children.append(child)
    for child in children:
        assert child.wait(timeout=runner.PATIENCE) == 0
        out, err = child.communicate()
        assert out == b""
        assert b"Traceback" not in err
    assert repo.pending("S1") == ["a"]


# Started by a small process of its own: what wait4 says of a child includes what its parent was at the fork.
MEASURE = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=0)
_, status, usage = os.wait4(child.pid, 0)
sys.stderr.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss}")
"""


def _measured(repo: Repo, feed: Callable[[int], None]) -> tuple[bool, int]:
    """Whether a hook that ``feed`` writes to closed its input before the end, and its peak in kilobytes."""
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", MEASURE, *runner.COMMAND, "hook", "generic"],
        cwd=repo.root,
        env=repo.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    closed = False
    try:
        while True:
            feed(child.stdin.fileno())
    except BrokenPipeError:
        closed = True
    except StopIteration:
        pass
    out, err = child.communicate(timeout=runner.PATIENCE)
    code, peak = err.split()[-2:]
    assert (int(code), out) == (0, b""), err
    return closed, int(peak)


def _chunks(head: bytes, size: int, tail: bytes) -> Callable[[int], None]:
    rows = itertools.chain([head], itertools.repeat(b"x" * (1 << 20), size), [tail])

    def feed(fd: int) -> None:
        data = memoryview(next(rows))
        while data:
            data = data[os.write(fd, data) :]

    return feed


def test_a_hundred_megabytes(repo: Repo) -> None:
    repo.write("a", "x" * 1000)
    head = (EVENT % (json.dumps(str(repo.root)), '"a"')).encode()[:-3]
    _, peak = _measured(repo, _chunks(head, 100, b'"}'))
    assert peak < 150 << 10
    assert repo.pending("S1") == ["a"]


@pytest.mark.slow
def test_endless_input(repo: Repo) -> None:
    repo.write("a", "x" * 1000)
    head = (EVENT % (json.dumps(str(repo.root)), '"a"')).encode()[:-3]
    fast, number = _chunks(head, 10_000_000, b""), itertools.count()

    def feed(fd: int) -> None:
        if next(number) > 200:  # beyond all that is kept, where what comes slowly is as endless
            time.sleep(0.02)
        fast(fd)

    closed, peak = _measured(repo, feed)
    assert closed
    assert peak < 150 << 10
    assert repo.pending("S1") == ["a"]


@pytest.mark.parametrize("kind", ["numbers", "keys", "strings", "escapes"])
def test_many_small_values_stay_small(repo: Repo, kind: str) -> None:
    """JSON whose Python objects are far larger than its text, up to the reading limit."""
    piece = {"numbers": b"1234567,", "keys": b'{"k":1},', "strings": b'"",', "escapes": b'"\\u00e9",'}[kind]
    row = piece * ((1 << 20) // len(piece))
    rows = iter([b'{"session":"S1","x":[', *[row] * 31, b"1]}"])

    def feed(fd: int) -> None:
        data = memoryview(next(rows))
        while data:
            data = data[os.write(fd, data) :]

    _, peak = _measured(repo, feed)
    assert peak < 1 << 20  # bounded by what may be read, if not by the 150 MB of ordinary payloads


def test_a_file_size_limit_is_survived(repo: Repo) -> None:
    """The state cannot grow: a warning, exit 0."""
    repo.start("S1")

    def limit() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    repo.write("big", "x" * 5000)
    event = payloads.encode(payloads.edit("S1", str(repo.root), "big", None, "x" * 5000))
    done = subprocess.run(
        [*runner.COMMAND, "hook", "generic"],
        cwd=repo.root,
        env={**repo.env, "PYTHONDONTWRITEBYTECODE": "1"},
        input=event,
        capture_output=True,
        check=False,
        preexec_fn=limit,
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"warning: ")
    # a torn record is no harm: the next edit is recorded after it
    repo.edit("S1", "a", changed())
    assert "a" in repo.pending("S1")

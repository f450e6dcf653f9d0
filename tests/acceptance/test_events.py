"""Events: emitted into the file of the run, read by topic, cursor and follower."""

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gitralph.hook import event_log
from gitralph.records import events as reading
from tests.support import runner
from tests.support.repo import Repo
from tests.support.size import FULL


def start(repo: Repo) -> str:
    """``run start``; the run's id."""
    return repo.ralph("run", "start").text.removesuffix("\n")


def file_of(repo: Repo, run: str | None) -> Path:
    return repo.state / (f"events-{run}.jsonl" if run else "events.jsonl")


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def shown(repo: Repo, *args: str, **how: Any) -> list[Any]:
    found = repo.ralph("events", "--json", *args, **how).json()
    assert isinstance(found, list)
    return found


def topics(repo: Repo, *args: str, **how: Any) -> list[str]:
    return [row["topic"] for row in shown(repo, *args, **how)]


def emit(repo: Repo, *words: str, **how: Any) -> None:
    assert repo.ralph("emit", *words, **how).out == b""


def test_fresh_run_makes_its_file(repo: Repo) -> None:
    """One file stamped in UTC, named by the marker; stdout is the run's id alone."""
    before = datetime.now(UTC)
    run = start(repo)
    found = list(repo.state.glob("events-*.jsonl"))
    assert found == [file_of(repo, run)]
    stamp = re.fullmatch(r"events-(\d{8}-\d{6})(-\d+)?\.jsonl", found[0].name)
    assert stamp is not None
    begun = datetime.strptime(stamp[1] + "+0000", "%Y%m%d-%H%M%S%z")
    assert abs((begun - before).total_seconds()) <= 2
    assert (repo.state / "current-events").read_text() == found[0].name + "\n"
    assert found[0].stat().st_mode & 0o777 == 0o600


def test_emit_goes_to_the_run(repo: Repo) -> None:
    run = start(repo)
    had = len(lines(file_of(repo, run)))
    emit(repo, "build.done", "tests: pass")
    *_, last = found = lines(file_of(repo, run))
    assert len(found) == had + 1
    assert (last["topic"], last["payload"]) == ("build.done", "tests: pass")
    assert datetime.fromisoformat(last["ts"]).utcoffset() is not None
    assert not file_of(repo, None).exists()


@pytest.mark.parametrize("place", [".", "d", "linked"])
def test_emit_without_a_run_goes_to_the_common_file(repo: Repo, place: str) -> None:
    if place == "linked":
        repo.worktree("linked").ralph("emit", "a", "b")
    else:
        repo.ralph("emit", "a", "b", cwd=place)
    assert [row["topic"] for row in lines(file_of(repo, None))] == ["a"]


def test_events_of_an_older_run_stay_out(repo: Repo) -> None:
    first = start(repo)
    emit(repo, "archaeology.start")
    emit(repo, "map.created")
    start(repo)
    assert topics(repo) == []
    assert topics(repo, "--run", first) == ["archaeology.start", "map.created"]


def test_event_file_sources_in_order(repo: Repo) -> None:
    """The option, the variable, this worktree's marker, the main one's, the common file."""
    linked = repo.worktree("linked")
    emit(linked, "fallback")
    main = start(repo)
    emit(linked, "of-main")
    own, other = start(linked), start(repo)
    (repo.state / "current-events").write_text(f"events-{main}.jsonl\n")
    emit(linked, "of-own")
    env = {"RALPH_EVENTS_FILE": str(file_of(repo, other))}
    emit(linked, "of-env", env=env)
    emit(linked, "of-run", "--run", main, env=env)
    emit(linked, "empty-is-unset", env={"RALPH_EVENTS_FILE": ""})
    emit(linked, "file-is-last", "--file", "mine.jsonl")
    assert [row["topic"] for row in lines(file_of(repo, None))] == ["fallback"]
    assert topics(repo, "--run", main) == ["of-main", "of-run"]
    assert topics(repo, "--run", own) == ["of-own", "empty-is-unset", "file-is-last"]
    assert topics(repo, "--run", other) == ["of-env"]


def test_a_named_file_counts_without_a_marker(repo: Repo) -> None:
    emit(repo, "a", "--file", "mine.jsonl")
    assert [row["topic"] for row in lines(repo.state / "mine.jsonl")] == ["a"]
    for name in ("../x.jsonl", "a/b.jsonl", "s1.json", "/etc/x.jsonl", ""):
        repo.ralph("emit", "a", "--file", name, code=129)


def test_emit_after_cd_reaches_the_run(repo: Repo, make_repo: Callable[[str], Repo], tmp_path: Path) -> None:
    """From another repository or none, by the variable the launcher set."""
    run = start(repo)
    env = {"RALPH_EVENTS_FILE": str(file_of(repo, run))}
    other = make_repo("other")
    emit(other, "from-another", env=env)
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    emit(repo, "from-nowhere", env=env, cwd=nowhere)
    assert topics(repo, cwd=nowhere, env=env) == ["from-another", "from-nowhere"]
    assert not other.state.exists()


def test_json_payload_is_an_object(repo: Repo) -> None:
    emit(repo, "t", '{"a": 1, "b": [1.50, 1e400, "\u00fc\u2028"]}', "--json")
    emit(repo, "t", '{"a":1}')
    emit(repo, "t", '{\n "a":\n 2}', "--json")
    first, second, third = (row["payload"] for row in lines(file_of(repo, None)))
    assert first == json.loads('{"a": 1, "b": [1.50, 1e400, "\u00fc\u2028"]}')
    assert b"1.50, 1e400" in file_of(repo, None).read_bytes(), "numbers are kept as they were given"
    assert (second, third) == ('{"a":1}', {"a": 2})
    before = file_of(repo, None).read_bytes()
    for bad in ("{bad", "", "NaN", "[" * 100000, '{"a":1} x'):
        repo.ralph("emit", "t", bad, "--json", code=129)
    assert file_of(repo, None).read_bytes() == before


@pytest.mark.parametrize("topic", ["", "a\nb", "a\x7fb", "a\x1b[31m", "x" * 201, "a\u202eb"])
def test_bad_topics_are_usage_errors(repo: Repo, topic: str) -> None:
    repo.ralph("emit", topic, "x", code=129)
    repo.ralph("emit", "--", topic, "-", stdin=b"x", code=129)
    assert not repo.state.exists()


def test_the_longest_topic_is_taken(repo: Repo) -> None:
    emit(repo, "x" * 200)
    assert topics(repo) == ["x" * 200]


@pytest.mark.parametrize(
    "text", ["\"'`$(x)", "a\nb\r\n", "\U0001f600 \u00e9", "\udcff\udc80", "\\u0000", "-"]
)
def test_awkward_payloads_come_back_the_same(repo: Repo, text: str) -> None:
    emit(repo, "t", "--", text) if text != "-" else emit(repo, "t", "-", stdin=b"-")
    assert file_of(repo, None).read_bytes().count(b"\n") == 1
    assert shown(repo)[0]["payload"] == text


def test_payload_above_the_limit_is_refused(repo: Repo) -> None:
    big = "\u00e9" * (100 << 10)
    emit(repo, "t", "-", stdin=big.encode())
    assert shown(repo)[0]["payload"] == big
    limit = event_log.PAYLOAD_LIMIT
    emit(repo, "t", "-", stdin=b"x" * limit)
    before = file_of(repo, None).read_bytes()
    said = repo.ralph("emit", "t", "-", stdin=b"x" * (limit + 1), code=129)
    assert "256 KiB" in said.said
    assert file_of(repo, None).read_bytes() == before


def _emitters(repo: Repo, path: Path, processes: int, count: int) -> list[subprocess.Popen[bytes]]:
    """Processes that call the fast lane as the console script does, many times each."""
    code = (
        "import sys\nfrom gitralph.hook import emit\n"
        "for i in range(int(sys.argv[2])):\n"
        "    size = 60000 if i % 50 == 7 else 20\n"
        "    assert emit.main(['t', '%s.%d.%s' % (sys.argv[1], i, 'x' * size)]) == 0\n"
    )
    env = {**repo.env, "RALPH_EVENTS_FILE": str(path)}
    words = [runner.COMMAND[0], "-P", "-c", code]
    return [subprocess.Popen([*words, str(n), str(count)], cwd=repo.root, env=env) for n in range(processes)]


def _check_all_there(path: Path, processes: int, count: int) -> None:
    seen: dict[str, list[int]] = {}
    for row in lines(path):
        who, number, _ = row["payload"].split(".")
        seen.setdefault(who, []).append(int(number))
    assert seen == {str(n): list(range(count)) for n in range(processes)}


def test_concurrent_emits_are_whole_lines(repo: Repo) -> None:
    """Eight processes, two hundred events each: every line parses, each once."""
    run = start(repo)
    children = _emitters(repo, file_of(repo, run), 8, 200)
    assert [child.wait() for child in children] == [0] * 8
    _check_all_there(file_of(repo, run), 8, 200)


@pytest.mark.slow
def test_many_processes_while_readers_follow(repo: Repo) -> None:
    processes, count = (64, 1000) if FULL else (8, 50)
    run = start(repo)
    words = [*runner.COMMAND, "events", "--follow", "--jsonl", "--run", run]
    readers = [subprocess.Popen(words, cwd=repo.root, env=repo.env, stdout=subprocess.PIPE) for _ in range(2)]
    read: list[list[bytes]] = [[], []]

    def collect(at: int) -> None:
        stream = readers[at].stdout
        assert stream is not None
        for line in stream:
            read[at].append(line)
            if len(read[at]) == processes * count:
                return

    threads = [threading.Thread(target=collect, args=(at,), daemon=True) for at in range(2)]
    for thread in threads:
        thread.start()
    children = _emitters(repo, file_of(repo, run), processes, count)
    assert [child.wait() for child in children] == [0] * processes
    for thread in threads:
        thread.join(runner.PATIENCE)
    for reader in readers:
        reader.send_signal(signal.SIGINT)
        assert reader.wait(runner.PATIENCE) == 130
        assert reader.stdout is not None
        reader.stdout.close()
    _check_all_there(file_of(repo, run), processes, count)
    assert read[0] == read[1] == file_of(repo, run).read_bytes().splitlines(keepends=True)


HOSTILE = [
    b"../../../etc/x",
    b"/etc/x.jsonl\n",
    b"",
    b"a.jsonl\nb.jsonl\n",
    b"\x00\xff\xfe",
    b"s.json\n",
    b"..jsonl",
]


@pytest.mark.parametrize("marker", HOSTILE)
def test_hostile_marker_leads_nowhere(repo: Repo, marker: bytes, tmp_path: Path) -> None:
    """A warning, the common file, and nothing outside of the state."""
    start(repo)
    (repo.state / "current-events").write_bytes(marker)
    said = repo.ralph("emit", "t", "x")
    assert "warning: 'current-events'" in said.said
    assert [row["topic"] for row in lines(file_of(repo, None))] == ["t"]
    assert (repo.state / "current-events").read_bytes() == marker


def test_links_are_not_followed(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text("")
    start(repo)
    (repo.state / "link.jsonl").symlink_to(outside)
    (repo.state / "current-events").write_text("link.jsonl\n")
    repo.ralph("emit", "t", code=128)
    marker = repo.state / "current-events"
    marker.unlink()
    marker.symlink_to(outside)
    assert "warning" in repo.ralph("emit", "t").said
    assert outside.read_text() == ""


def test_event_file_outside_the_state_is_refused(repo: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "ralph-sessions"
    folder.mkdir()
    (tmp_path / "linked").symlink_to(repo.root / ".git")
    start(repo)
    for name in (
        str(tmp_path / "x.jsonl"),
        str(folder / "x.jsonl"),
        str(repo.root / "x.jsonl"),
        "events.jsonl",
        str(repo.state / "../x.jsonl"),
        str(repo.state / "s1.json"),
        str(repo.state / "edits/x.jsonl"),
        "/",
    ):
        said = repo.ralph("emit", "t", env={"RALPH_EVENTS_FILE": name}, code=128)
        assert "RALPH_EVENTS_FILE" in said.said
    assert list(tmp_path.glob("**/x.jsonl")) == []


AWKWARD = b'{"topic":"one"}\n{corrupt\n\xff\xfe\n[]\n{"topic":"crlf"}\r\n\n{"topic":"two"}\n'


def test_malformed_lines_are_reported_and_passed_over(repo: Repo) -> None:
    """By file and line number; strict is exit 1; the file stays as it is."""
    run = start(repo)
    path = file_of(repo, run)
    path.write_bytes(AWKWARD + b"{" + b"x\x1b" * 200 + b"\n")
    said = repo.ralph("events", "--jsonl")
    assert said.text == '{"topic":"one"}\n{"topic":"crlf"}\n{"topic":"two"}\n'
    rows = said.said.splitlines()
    assert [re.search(r"line (\d+)", row)[1] for row in rows] == ["2", "3", "4", "6", "8"]  # type: ignore[index]
    assert all(f"'{path.name}'" in row for row in rows)
    assert "\x1b" not in said.said
    assert max(len(row) for row in rows) < 220
    repo.ralph("events", "--strict", code=1)
    tail = repo.ralph("events", "--last", "2", "--jsonl")
    assert tail.text == '{"topic":"crlf"}\n{"topic":"two"}\n'
    assert "line 6" in tail.said
    assert path.read_bytes().startswith(AWKWARD)


def test_half_a_last_line_is_waited_for(repo: Repo) -> None:
    """Neither malformed nor consumed; once completed it comes exactly once."""
    run = start(repo)
    with file_of(repo, run).open("ab", 0) as file:
        file.write(b'{"topic":"a"}\n{"topic":"b')
        assert repo.ralph("events", "--cursor", "x", "--jsonl").text == '{"topic":"a"}\n'
        said = repo.ralph("events", "--cursor", "x", "--jsonl", "--strict")
        assert (said.text, said.said) == ("", "")
        file.write(b'c"}\n')
    assert repo.ralph("events", "--cursor", "x", "--jsonl").text == '{"topic":"bc"}\n'
    assert repo.ralph("events", "--cursor", "x", "--jsonl").text == ""


@pytest.mark.parametrize("fragment", [b'{"topic":"b', b"\0\0\0"])
def test_emit_after_a_torn_tail(repo: Repo, fragment: bytes) -> None:
    run = start(repo)
    file_of(repo, run).write_bytes(b'{"topic":"a"}\n' + fragment)
    emit(repo, "c")
    assert topics(repo) == ["a", "c"]
    assert repo.ralph("events").said.count("warning: ") == 1


def test_cursors_give_only_what_is_new(repo: Repo) -> None:
    """Each by its name, across processes."""
    start(repo)
    for name in "abcde":
        emit(repo, name)
    assert topics(repo, "--cursor", "c1", process=True) == list("abcde")
    emit(repo, "f")
    emit(repo, "g")
    assert topics(repo, "--cursor", "c1", process=True) == ["f", "g"]
    assert topics(repo, "--cursor", "c2") == list("abcdefg")
    assert topics(repo, "--cursor", "c1") == []
    start(repo)
    emit(repo, "h")
    assert topics(repo, "--cursor", "c1") == ["h"], "a cursor keeps a place in each file"
    repo.ralph("events", "--cursor", "../x", code=129)


def test_damaged_cursor_starts_over(repo: Repo) -> None:
    emit(repo, "a")
    (repo.state / "cursors").mkdir()
    for text in ("", "[]", '{"events.jsonl": -1}', '{"events.jsonl": 99999}', "{" * 5000):
        (repo.state / "cursors/c.json").write_text(text)
        assert topics(repo, "--cursor", "c") == ["a"]


def test_topic_then_last_filter(repo: Repo) -> None:
    for name in ("a", "b.x", "a", "b.y", "a"):
        emit(repo, name, name + "!")
    assert topics(repo, "--topic", "b.*", "--last", "1") == ["b.y"]
    assert topics(repo, "--topic", "a", "--last", "2") == ["a", "a"]
    assert topics(repo, "--topic", "a", "--last", "2", "--cursor", "c") == ["a", "a"]
    assert topics(repo, "--last", "0") == []
    assert topics(repo, "--topic", "none") == []
    assert repo.ralph("events", "--topic", "none", "--jsonl").text == ""
    rows = repo.ralph("events", "--jsonl", "--last", "3").text.splitlines()
    assert [json.loads(row)["topic"] for row in rows] == ["a", "b.y", "a"]
    repo.ralph("events", "--last", "-1", code=129)


def test_follow_shows_new_events_of_its_own_run(repo: Repo) -> None:
    """A run started later does not redirect the follower."""
    first = start(repo)
    emit(repo, "before")
    words = [*runner.COMMAND, "events", "--follow"]
    follower = subprocess.Popen(words, cwd=repo.root, env=repo.env, stdout=subprocess.PIPE)
    assert follower.stdout is not None
    assert b"before" in follower.stdout.readline()
    start(repo)
    emit(repo, "elsewhere")
    emit(repo, "new", "--run", first)
    assert b"new" in follower.stdout.readline()
    follower.send_signal(signal.SIGINT)
    assert follower.wait(runner.PATIENCE) == 130
    assert follower.stdout.read() == b""
    follower.stdout.close()


def test_unknown_fields_are_shown(repo: Repo) -> None:
    run = start(repo)
    line = '{"ts":1,"topic":"t","hat":{"x":[1.10,null]},"payload":{"y":"\\u00fc"},"n":12345678901234567890}'
    file_of(repo, run).write_text(line + "\n")
    said = repo.ralph("events", "--json").text
    assert line in said
    assert json.loads(said) == [json.loads(line)]


def test_broken_pipe_ends_quietly(repo: Repo) -> None:
    """It ends as a broken pipe does (141), without a traceback; what nobody read is not consumed."""
    run = start(repo)
    row = '{"topic":"t","payload":"%s"}\n' % ("x" * 200)
    file_of(repo, run).write_text(row * 5000)
    words = " ".join(runner.COMMAND)
    done = subprocess.run(
        ["/bin/bash", "-c", f"{words} events --cursor c | head -1; exit ${{PIPESTATUS[0]}}"],
        cwd=repo.root,
        env=repo.env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 141
    assert done.stderr == b""
    assert len(topics(repo, "--cursor", "c")) == 5000, "what nobody could read is not consumed"


def test_a_million_events_are_read_from_the_end(repo: Repo) -> None:
    run, count = start(repo), 1_000_000 if FULL else 50_000
    with file_of(repo, run).open("w") as file:
        file.writelines(f'{{"topic":"t","payload":"{n}"}}\n' for n in range(count))
    found = shown(repo, "--last", "10")
    assert [row["payload"] for row in found] == [str(n) for n in range(count - 10, count)]
    fd = reading.open_events(str(file_of(repo, run)))
    assert fd is not None
    reads = []
    pread = os.pread

    def counted(one: int, size: int, at: int) -> bytes:
        reads.append(size)
        return pread(one, size, at)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "pread", counted)
        next(reading.scan_back(fd))
    os.close(fd)
    assert sum(reads) <= 1 << 16


def test_lines_of_any_length_keep_their_places(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LINE_LIMIT", 1000)
    monkeypatch.setattr(reading, "FORWARD", 64)
    monkeypatch.setattr(reading, "BACK", 64)
    path = repo.root / "x.jsonl"
    good = b'{"topic":"t"}\n'
    path.write_bytes(good + b"x" * 5000 + b"\n" + good + b"y" * 999 + b"\n" + good + b"z" * 3000)
    fd = reading.open_events(str(path))
    assert fd is not None
    forward = [(row.start, row.end, isinstance(row, reading.Emitted)) for row in reading.scan(fd)]
    backward = [(row.start, row.end, isinstance(row, reading.Emitted)) for row in reading.scan_back(fd)]
    os.close(fd)
    assert forward == backward[::-1]
    assert [row[2] for row in forward] == [True, False, True, False, True]

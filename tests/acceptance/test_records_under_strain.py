"""Records under strain: torn, written by many at once; scratch worktrees and locks of hooks."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitralph.base import files
from tests.support import payloads
from tests.support.repo import Repo
from tests.support.runner import COMMAND
from tests.support.size import FULL
from tests.support.texts import changed

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")


def _hook(repo: Repo, name: str, script: str) -> None:
    path = repo.root / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("fill", [b"", b"\0"], ids=["cut", "nul-filled"])
def test_torn_last_record_costs_nothing_else(repo: Repo, fill: bytes) -> None:
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


def test_a_torn_record_takes_no_line_of_a_person(repo: Repo) -> None:
    """Only the path of S2 was left, and once S1 had committed, the file went as it stood."""
    repo.edit("S1", "a", changed(2, "two of S1"))
    repo.edit("S2", "a", changed(8, "eight of S2", changed(2, "two of S1")))
    (journal,) = (repo.state / "edits").glob("a-*")
    journal.write_bytes(journal.read_bytes()[:-40])
    repo.write("a", (repo.read("a") or b"").replace(b"line 5", b"five of a person"))
    repo.commit("S1")
    assert repo.blob("a").decode() == changed(2, "two of S1")
    answer = repo.commit("S2", code=4)
    assert answer.left == {"a": "unanchored"}
    assert repo.blob("a").decode() == changed(2, "two of S1")


def test_a_torn_manifest_line_is_waited_for(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    with open(repo.state / "S1.files", "ab") as file:
        file.write(b"never/fini")
    assert repo.pending("S1") == ["a"]
    repo.edit("S1", "b", MINE)
    assert repo.pending("S1") in (["a", "b"], ["a", "b", "never/fini"])
    repo.commit("S1", checked=False)
    assert repo.changes() == {"a": "M", "b": "M"}


def test_a_reused_pid_is_not_the_old_session(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    path = repo.state / "S1.json"
    record = json.loads(path.read_text())
    record["process"] = {"pid": os.getpid(), "start": "1", "boot": record["process"]["boot"]}
    path.write_text(json.dumps(record))
    (found,) = repo.ralph("session", "list", "--json").json()
    assert found["state"] == "stale"


def test_two_processes_record_many_edits(repo: Repo) -> None:
    env, count = repo._environment(None), 200 if FULL else 50

    def record(n: int) -> int:
        name = f"f{n % (count // 4)}" if n % 2 else f"g{n}"
        event = payloads.edit("S1", str(repo.root), name, None, f"{name}\n")
        repo.write(name, f"{name}\n")
        return subprocess.run(
            [*COMMAND, "hook", "generic"], input=payloads.encode(event), cwd=repo.root, env=env, check=False
        ).returncode

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(record, range(count))) == {0}
    expected = {f"f{n % (count // 4)}" if n % 2 else f"g{n}" for n in range(count)}
    for path in repo.state.glob("edits/*.jsonl"):
        assert all(json.loads(line) for line in path.read_text().splitlines())
    assert set(repo.pending("S1")) == expected
    repo.commit("S1")
    assert set(repo.changes()) == expected


def test_two_commits_at_once_with_hooks_each_have_a_scratch_of_their_own(repo: Repo, tmp_path: Path) -> None:
    """A pre-commit hook that looks twice sees the same tree both times."""
    bad = tmp_path / "bad"
    _hook(
        repo,
        "pre-commit",
        f"one=$(git write-tree; ls; pwd); sleep 0.7; two=$(git write-tree; ls; pwd)\n"
        f'[ "$one" = "$two" ] || echo "$one" "$two" >> \'{bad}\'',
    )
    for n in range(3):
        repo.edit(f"S{n}", f"f{n}", "x\n")
    env = repo._environment(None)
    with ThreadPoolExecutor(3) as pool:
        done = list(
            pool.map(
                lambda n: subprocess.run(
                    [*COMMAND, "commit", "--session", f"S{n}", "-m", "x"],
                    cwd=repo.root,
                    env=env,
                    capture_output=True,
                    check=False,
                ),
                range(3),
            )
        )
    assert [one.returncode for one in done] == [0, 0, 0], [one.stderr for one in done]
    assert not bad.exists(), bad.read_text()


def test_a_scratch_worktree_that_a_crash_left_locked_is_made_afresh(repo: Repo) -> None:
    _hook(repo, "pre-commit", "exit 0")
    repo.write("u", "dirty\n")
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    (made,) = repo.state.glob("scratch/*.git")
    for name in ("HEAD.lock", "index.lock", "packed-refs.lock"):
        (made / name).touch()
    (made / "index").write_bytes(b"cut short")
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


def test_a_recorded_text_that_is_lost_stops_the_commit(repo: Repo) -> None:
    """Two sessions and a person in one file: its lines cannot be told apart, and no record is consumed."""
    repo.edit("S1", "a", TEN.replace("line 2\n", "two\n"))
    repo.edit("S2", "a", TEN.replace("line 2\n", "two\n").replace("line 8\n", "eight\n"))
    repo.edit("S1", "b", TEN + "more\n")
    repo.write(
        "a", TEN.replace("line 2\n", "two\n").replace("line 8\n", "eight\n").replace("line 5\n", "five\n")
    )
    for text in (repo.state / "objects").rglob("*"):
        if text.is_file():
            text.unlink()
    before = repo.head()
    for words in (["commit", "-m", "x"], ["undo", "--", "a"]):
        assert "lost or damaged" in repo.ralph(*words[:1], "--session", "S1", *words[1:], code=4).said
    assert repo.head() == before
    assert (repo.pending("S1"), repo.pending("S2")) == (["a", "b"], ["a"])
    assert repo.commit("S1", "--skip-entangled").paths == {"b": "M"}
    assert (repo.pending("S1"), repo.pending("S2")) == (["a"], ["a"])

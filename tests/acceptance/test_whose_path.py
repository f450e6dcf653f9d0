"""A path that one session edited is committed by that session alone."""

import os
import subprocess
import time
from collections.abc import Callable

import pytest

from tests.support import payloads, runner
from tests.support.repo import Repo
from tests.support.texts import changed


def test_foreign_file_stays_out(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    answer = repo.commit("S1")
    assert answer.status == "committed"
    assert answer.paths == {"a": "M"}
    assert answer.how == {"a": "edits"}
    assert repo.changes() == {"a": "M"}
    assert repo.blob("a") == changed().encode()
    assert repo.git("diff", "--name-only") == "b"
    assert repo.pending("S2") == ["b"]
    assert repo.pending("S1") == []


def test_foreign_file_stays_out_over_real_processes(repo: Repo) -> None:
    repo.process = True
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    assert repo.commit("S1").paths == {"a": "M"} == repo.changes()
    assert repo.owners("S2") == {"b": "mine"}
    assert repo.ralph("commit", "--session", "S2", "-m", "x").text.startswith("[main ")
    assert repo.changes() == {"b": "M"}


def test_session_without_edits_commits_nothing(repo: Repo) -> None:
    repo.start("S1")
    repo.edit("S2", "b", changed())
    repo.write("u", "the user's\n")
    logs = repo.git("reflog")
    answer = repo.commit("S1")
    assert (answer.status, answer.commit, answer.paths) == ("nothing", None, {})
    assert repo.git("reflog") == logs
    said = repo.ralph("commit", "--session", "S1", "-m", "x")
    assert "nothing to commit" in said.text
    assert repo.git("reflog") == logs


def test_session_nobody_has_heard_of_is_refused(repo: Repo) -> None:
    repo.write("u", "the user's\n")
    said = repo.ralph("commit", "--session", "S9", "-m", "x", code=128).said
    assert "no session 'S9'" in said


def test_both_commit_one_path_each(repo: Repo) -> None:
    base = repo.head()
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    first = repo.commit("S1").commit
    second = repo.commit("S2").commit
    assert repo.git("rev-list", "--reverse", f"{base}..").split() == [first, second]
    assert repo.changes("HEAD^") == {"a": "M"}
    assert repo.changes() == {"b": "M"}
    assert repo.blob("a") == repo.blob("b") == changed().encode()
    assert repo.git("status", "--porcelain") == ""


def test_the_users_own_file_stays_out(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.write("u", "the user's\n")
    assert repo.owners("S1") == {"a": "mine", "u": "nobody"}
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    assert repo.owners("S1") == {"u": "nobody"}


def test_dirt_older_than_the_session_stays_out(repo: Repo) -> None:
    repo.write("u", "the user's\n")
    repo.start("S1")
    repo.edit("S1", "a", changed())
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    assert repo.git("diff", "--name-only") == "u"


def test_the_trailer_names_who_commits_not_who_started_first(repo: Repo) -> None:
    # S2 sorts after S1 and before S10 in a listing
    for session in ("S1", "S2", "S10"):
        repo.start(session)
        repo.edit(session, f"{session}.txt", "new\n")
    repo.commit("S2")
    assert "Ralph-Session: S2" in repo.trailers().split("\n")
    assert repo.changes() == {"S2.txt": "A"}
    repo.commit("S10")
    assert "Ralph-Session: S10" in repo.trailers().split("\n")


def test_an_idle_older_session_owns_nothing(repo: Repo) -> None:
    repo.start("S0")
    repo.edit("S1", "a", changed())
    answer = repo.commit("S1")
    assert answer.left == {}
    assert repo.changes() == {"a": "M"}
    assert "S0" not in repo.git("log", "-1", "--format=%B")
    assert repo.owners("S0") == {}


def _dead_session(repo: Repo, number: int) -> None:
    """An ended session with a pending record, as the hook leaves it."""
    session = f"dead-{number}"
    repo.edit(session, f"dead/{number}", "left behind\n")
    repo.ralph("session", "end", session)


def test_dead_sessions_are_never_read(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    # seconds are the benchmark's business; here: whose files a commit and an edit open
    for number in range(20):
        _dead_session(repo, number)
    opened: list[str] = []
    real = os.open

    def spy(path: str, *args: int, **kwargs: int) -> int:
        opened.append(str(path))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", spy)
    repo.edit("S1", "a", changed(), process=False)
    names = {os.path.basename(path) for path in opened}
    assert not [name for name in names if name.startswith("dead-")]
    repo.ralph("commit", "--session", "S1", "-m", "x", process=False)
    monkeypatch.undo()
    assert repo.changes() == {"a": "M"}
    # a bare line of a foreign script has no journal to find it by, so manifests may be searched;
    # records, journals and texts of the dead stay closed
    names = {os.path.basename(path) for path in opened}
    assert {name.rsplit(".")[-1] for name in names if name.startswith("dead-")} <= {"files"}
    assert len({path for path in opened if "/edits/" in path}) == 1


def _record_many(repo: Repo, who: int, count: int) -> None:
    for number in range(count):
        path = f"many/{who}-{number}"
        repo.edit("S1", path, f"{who} {number}\n")


def test_two_processes_under_one_id_lose_nothing(repo: Repo) -> None:
    workers = []
    for who in (1, 2):
        pid = os.fork()
        if pid == 0:
            try:
                _record_many(repo, who, 200)
                os._exit(0)
            finally:
                os._exit(1)
        workers.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in workers] == [0, 0]
    wanted = {f"many/{who}-{number}" for who in (1, 2) for number in range(200)}
    assert set(repo.pending("S1")) == wanted
    repo.commit("S1")
    assert repo.changes() == dict.fromkeys(wanted, "A")


def test_two_processes_record_one_file(repo: Repo) -> None:
    """All records of both are in one journal, each on a line of its own."""
    event = payloads.edit("S1", str(repo.root), "a", "x\n", "y\n")
    env = {**repo.env, "PYTHONDONTWRITEBYTECODE": "1"}
    running = []
    for number in range(12):
        # a before of its own, or the second would be taken for the same call seen twice
        event["before"] = f"{number}\n"
        started = subprocess.Popen([*runner.COMMAND, "hook", "generic"], stdin=subprocess.PIPE, env=env)
        assert started.stdin is not None
        started.stdin.write(payloads.encode(event))
        running.append(started)
    for started in running:
        started.communicate()
    (journal,) = repo.state.glob("edits/*.jsonl")
    assert len(journal.read_bytes().split(b"\n")) == 13
    assert repo.state.joinpath("S1.files").read_bytes() == b"a\n" * 12
    assert not repo.state.joinpath("hooks.log").exists()


def test_subagents_are_included(repo: Repo) -> None:
    repo.start("S1")
    repo.edit("S1", "a", changed())
    repo.edit("S1", "b", changed(), fields={"agent_id": "helper"})
    repo.start("child", "--parent", "S1")
    repo.edit("child", "d/a", changed())
    repo.edit("grandchild-own-id", "e/b", changed(), fields={"parent": "S1"})
    assert repo.pending("S1") == ["a", "b", "d/a", "e/b"]
    repo.commit("S1")
    assert repo.changes() == dict.fromkeys(["a", "b", "d/a", "e/b"], "M")
    assert repo.pending("child") == []
    journals = b"".join(path.read_bytes() for path in repo.state.glob("edits/*.jsonl"))
    assert b'"agent_id":"helper"' in journals
    assert b'"agent_id":"grandchild-own-id"' in journals


@pytest.mark.parametrize(("cwd", "pathspec"), [(".", "d"), ("d", "."), (".", ":(top)d/*"), ("e", "../d/a")])
def test_commit_is_limited_by_pathspec(repo: Repo, cwd: str, pathspec: str) -> None:
    repo.edit("S1", "d/a", changed())
    repo.edit("S1", "e/b", changed())
    repo.commit("S1", "--", pathspec, cwd=cwd)
    assert repo.changes() == {"d/a": "M"}
    assert repo.pending("S1") == ["e/b"]
    repo.commit("S1")
    assert repo.changes() == {"e/b": "M"}


def test_pathspec_of_another_sessions_paths_commits_nothing(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    answer = repo.commit("S1", "--", "b")
    assert answer.status == "nothing"
    assert repo.pending("S1") == ["a"]
    done = repo.ralph("commit", "--session", "S1", "-m", "x", "--", "no-such-path", code=128)
    assert "pathspec 'no-such-path' did not match" in done.said


def _simple(repo: Repo) -> None:
    repo.edit("S1", "a", changed())


def _kinds(repo: Repo) -> None:
    repo.edit("S1", "new/deep", "made\n")
    repo.delete("S1", "d/a")
    repo.rename("S1", "b", "moved")
    repo.edit("S1", "tool", "#!/bin/sh\n", mode=0o755)
    repo.edit("S1", "blob", bytes(range(256)))


def _others(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    repo.write("u", "the user's\n")


def _staged(repo: Repo) -> None:
    repo.write("u", "the user's\n")
    repo.git("add", "u")
    repo.write("a", changed(9, "the user's"))
    repo.git("add", "a")
    repo.git("restore", "--worktree", "--source=HEAD", "a")
    repo.edit("S1", "a", changed(1))


def _left_out(repo: Repo) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.edit("S1", "x.log", "noise\n")
    repo.edit("S1", "a", changed())
    repo.edit("S1", "b", changed())
    repo.remove("b")


def _undone(repo: Repo) -> None:
    text = (repo.read("a") or b"").decode()
    repo.edit("S1", "a", changed())
    repo.edit("S1", "a", text)


def _odd_names(repo: Repo) -> None:
    repo.edit("S1", 'tab\t"quote"\nline', "x\n")
    repo.edit("S1", "caf\u00e9", "x\n")


@pytest.mark.parametrize("state", [_simple, _kinds, _others, _staged, _left_out, _undone, _odd_names])
def test_preview_is_the_truth(repo: Repo, state: Callable[[Repo], None]) -> None:
    state(repo)
    preview = repo.ralph("diff", "--session", "S1").out
    stat = repo.ralph("diff", "--session", "S1", "--stat").out
    dry = repo.commit("S1", "--dry-run")
    real = repo.commit("S1")
    wanted = dict(real.document)
    if real.commit:
        assert preview == repo.git_bytes("diff", "HEAD^", "HEAD", "--")
        assert stat == repo.git_bytes("diff", "--stat", "HEAD^", "HEAD", "--")
        assert dry.status == "dry-run"
    else:
        assert preview == stat == b""
        assert dry.status == "nothing"
    assert (dry.document["paths"], dry.document["left"]) == (wanted["paths"], wanted["left"])


def test_dry_run_writes_nothing(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S1", "new", "made\n")

    def everything() -> dict[str, tuple[int, int]]:
        found = {}
        for folder, _, names in os.walk(repo.root):
            for name in names:
                about = os.lstat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (about.st_size, about.st_mtime_ns)
        return found

    repo.ralph("diff", "--session", "S1")
    before = everything()
    time.sleep(0.01)  # coarser than the clock of file times, so that a rewrite shows
    repo.ralph("commit", "--session", "S1", "-m", "x", "--dry-run")
    repo.ralph("diff", "--session", "S1")
    assert everything() == before


def test_dry_run_refuses_as_commit_does(repo: Repo) -> None:
    repo.write("blob", b"\0one")
    repo.commit_all("a binary file")
    repo.edit("S1", "blob", b"\0two")
    repo.edit("S2", "blob", b"\0three")
    dry = repo.commit("S1", "--dry-run", code=4)
    assert dry.left == {"blob": "contested"}
    assert dry.document["left"] == repo.commit("S1", code=4).document["left"]

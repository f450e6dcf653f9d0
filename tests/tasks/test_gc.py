"""``git ralph gc``: what nothing needs goes, what is pending stays, whoever writes meanwhile."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitralph.base import files, locks
from gitralph.hook import journal
from gitralph.records import path_records, sweep
from tests.support.keep import age, has_journal, names, over, snapshot, state
from tests.support.repo import Repo
from tests.support.size import FULL
from tests.support.texts import changed

# --- journals ---


def test_a_journal_goes_when_all_of_it_is_committed(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    repo.edit("S1", "b", "new\n")
    repo.commit("S1", "--", "a")
    said = repo.ralph("gc").text
    assert said.startswith("removed 1 journal; ")
    assert (has_journal(repo, "a"), has_journal(repo, "b")) == (False, True)
    assert repo.pending("S1") == ["b"]


def test_committed_lines_do_not_come_back_and_new_ones_are_not_lost(repo: Repo) -> None:
    for round_ in range(4):
        repo.edit("S1", "a", f"round {round_}\n")
        assert repo.pending("S1") == ["a"]
        assert repo.commit("S1").paths == {"a": "M"}
        repo.ralph("gc")
        assert repo.pending("S1") == []
        assert repo.commit("S1").status == "nothing"
    # a journal that grows past where the old one ended
    for text in ("x\n", "x\ny\n", "x\ny\nz\n" * 50):
        repo.edit("S1", "a", text)
    assert repo.pending("S1") == ["a"]
    assert repo.commit("S1").how == {"a": "edits"}


def test_a_journal_stays_while_one_of_its_sessions_waits(repo: Repo) -> None:
    text = repo.read("a") or b""
    repo.edit("S1", "a", text.replace(b"line 1\n", b"one\n"))
    repo.edit("S2", "a", text.replace(b"line 1\n", b"one\n").replace(b"line 9\n", b"nine\n"))
    repo.commit("S1")
    repo.ralph("gc")
    assert has_journal(repo, "a")
    assert repo.pending("S2") == ["a"]
    assert repo.commit("S2").how == {"a": "edits"}
    repo.ralph("gc")
    assert not has_journal(repo, "a")


def test_a_journal_stays_while_a_bare_line_waits(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    repo.commit("S1")
    with open(state(repo).manifest("S1"), "ab") as file:
        file.write(b"a\n")
    repo.write("a", "newer\n")
    repo.ralph("gc")
    assert has_journal(repo, "a")
    assert repo.pending("S1") == ["a"]


def test_what_is_only_void_may_come_back_and_stays_for_a_while(repo: Repo) -> None:
    repo.edit("S1", "a", "mine\n")
    repo.git("stash", "-q")
    assert repo.commit("S1").status == "nothing"
    repo.ralph("gc")
    repo.git("stash", "pop", "-q")
    assert repo.pending("S1") == ["a"]
    assert repo.commit("S1").how == {"a": "edits"}


@pytest.mark.slow
def test_a_journal_in_use_is_left_and_named(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "WAIT", 0.05)
    monkeypatch.setattr(locks, "WAIT", 0.05)
    repo.edit("S1", "a", "new\n")
    repo.commit("S1")
    fd = files.open_locked(state(repo).journal(b"a"))
    try:
        assert "is in use; run it again later" in repo.ralph("gc").said
    finally:
        os.close(fd)
    assert has_journal(repo, "a")


def test_linked_worktrees_are_swept_too(repo: Repo) -> None:
    other = repo.worktree("w1")
    other.edit("S1", "a", "new\n")
    other.commit("S1")
    other.edit("S1", "b", "new\n")
    repo.ralph("gc")
    assert (has_journal(other, "a"), has_journal(other, "b")) == (False, True)
    assert other.pending("S1") == ["b"]


def _whose(repo: Repo) -> object:
    rows = repo.ralph("blame", "--json", "a").json()["lines"]
    told = [(row["session"], row["one_of"]) for row in rows]
    notes = repo.ralph("export", "--format", "agent-trace").text
    return told, notes, repo.ralph("export", "--format", "markdown").text


def _beside_each_other(repo: Repo) -> None:
    """S1 and S2 have a line each, and a person has one."""
    repo.edit("S1", "a", changed(2, "one"))
    repo.edit("S2", "a", changed(5, "two", changed(2, "one")))
    repo.write("a", changed(8, "by hand", changed(5, "two", changed(2, "one"))))


def _taken_whole(repo: Repo) -> None:
    _beside_each_other(repo)
    repo.commit("S1", "--whole-file", "--", "a")


def _taken_along(repo: Repo) -> None:
    repo.edit("S2", "a", changed(5, "two\nof S2"))
    repo.edit("S1", "a", changed(5, "two\nof S2, by S1"))
    repo.commit("S1", "--include-entangled")


def _amended(repo: Repo) -> None:
    repo.edit("S1", "a", changed(2, "one"))
    repo.commit("S1")
    repo.write("a", changed(8, "by hand", changed(2, "one")))
    repo.git("commit", "-q", "-a", "--amend", "--no-edit")


def _squashed(repo: Repo) -> None:
    for session, line in (("S1", 2), ("S2", 5)):
        repo.edit(
            session, "a", (repo.read("a") or b"").replace(b"line %d\n" % line, session.encode() + b"\n")
        )
        repo.commit(session)
    repo.git("reset", "-q", "--soft", "HEAD~2")
    repo.git("commit", "-q", "-m", "only a title")


@pytest.mark.parametrize(
    "make", [_taken_whole, _taken_along, _amended, _squashed], ids=lambda make: make.__name__[1:]
)
def test_gc_does_not_change_whose_lines_are(make: Callable[[Repo], None], repo: Repo) -> None:
    make(repo)
    assert not repo.git("status", "--short")
    before = _whose(repo)
    repo.ralph("gc")
    assert _whose(repo) == before
    for session in ("S1", "S2"):
        if (repo.state / f"{session}.json").exists():
            repo.ralph("session", "end", session)
    age(repo, 100)
    for _ in range(3):
        repo.ralph("gc")
    assert not has_journal(repo, "a")  # its sessions are forgotten


def test_where_the_records_are_gone_a_commit_that_names_two_is_of_one_of_them(repo: Repo) -> None:
    _taken_along(repo)
    os.unlink(state(repo).journal(b"a"))
    rows = repo.ralph("blame", "--json", "a").json()["lines"]
    assert [row["one_of"] for row in rows if row["commit"] == repo.head()] == [["S1", "S2"]] * 2


# --- calls, texts, work ---


def test_old_call_files_go(repo: Repo) -> None:
    for call in ("old", "young"):
        event = {"session": "S1", "cwd": str(repo.root), "event": "pre", "path": "a", "call": call}
        repo.hook("generic", event)
        if call == "old":
            age(repo, 2)
    assert len([name for name in names(repo) if name.startswith("calls/")]) == 2
    assert "1 call file;" in repo.ralph("gc").text
    assert len([name for name in names(repo) if name.startswith("calls/")]) == 1


def texts(repo: Repo) -> list[str]:
    return [name for name in names(repo) if name.startswith("objects/")]


def test_texts_go_with_their_journals(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    repo.edit("S1", "b", "new\n")
    assert len(texts(repo)) == 1  # both had the same ten lines
    repo.commit("S1", "--", "a")
    repo.ralph("gc")
    assert len(texts(repo)) == 1
    repo.commit("S1")
    repo.ralph("gc")
    assert texts(repo) == []


def test_a_text_that_a_hook_finds_while_it_is_swept_stays(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook saw the text before it was set aside and appends its record after: it is put back."""
    old = repo.read("a") or b""
    repo.edit("S1", "a", "new\n")
    repo.commit("S1")
    lay = state(repo)
    late = journal.Record("S2", "edit", journal.text_id(old), None, "payload", hunks=[])
    rename = os.rename

    def set_aside(source: str, target: str) -> None:
        rename(source, target)
        if target.endswith(".gc"):
            with open(lay.journal(b"b"), "ab") as file:
                file.write(journal.encode(late, b"b"))

    monkeypatch.setattr(os, "rename", set_aside)
    repo.ralph("gc")
    assert journal.load_text(lay, journal.text_id(old)) == old


def test_a_text_that_a_killed_gc_set_aside_is_put_back_or_removed(repo: Repo) -> None:
    old = repo.read("a") or b""
    repo.edit("S1", "a", "new\n")
    lay = state(repo)
    path = lay.text(journal.text_id(old))
    os.rename(path, path + ".gc")
    unused = Path(lay.text("ab" * 20) + ".gc")
    unused.parent.mkdir(exist_ok=True)
    unused.write_bytes(b"x")
    repo.ralph("gc")
    assert journal.load_text(lay, journal.text_id(old)) == old
    assert not unused.exists()
    assert repo.commit("S1").how == {"a": "edits"}


def test_work_folders_of_dead_processes_go(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    dead, live = repo.state / "tmp/999999999-x", repo.state / f"tmp/{os.getpid()}-x"
    for folder in (dead, live):
        folder.mkdir(parents=True)
        (folder / "blob").write_bytes(b"12345")
    assert repo.ralph("gc").text == "removed 1 leftover; 5 bytes\n"
    assert (dead.exists(), live.exists()) == (False, True)


def test_files_that_were_never_finished_go(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    for name in ("old.1-a.tmp", "young.1-b.tmp"):
        (repo.state / name).write_bytes(b"x")
    age(repo, 1, "old.1-a.tmp")
    repo.ralph("gc")
    assert [name for name in names(repo) if name.endswith(".tmp")] == ["young.1-b.tmp"]


# --- the run itself ---


def test_dry_run_changes_nothing(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    over(repo, "S1")
    age(repo, 100)
    before = snapshot(repo)
    said = repo.ralph("gc", "--dry-run").text
    assert snapshot(repo) == before
    would = [row.removeprefix("would remove ").split("\t")[0] for row in said.splitlines()[:-1]]
    sizes = sum(int(row.split("\t")[1]) for row in said.splitlines()[:-1])
    gone = set(names(repo))
    repo.ralph("gc")
    gone -= set(names(repo))
    assert set(would) == gone
    assert said.splitlines()[-1] == f"would remove 1 journal, 3 session files, 1 text; {sizes} bytes"


def test_without_state_there_is_nothing_to_do(repo: Repo) -> None:
    assert repo.ralph("gc").text == "removed nothing; 0 bytes\n"
    assert not repo.state.exists()


def test_a_second_run_finds_nothing(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    over(repo, "S1")
    age(repo, 100)
    repo.ralph("gc")
    assert repo.ralph("gc").text == "removed nothing; 0 bytes\n"
    assert names(repo) == []


def test_foreign_things_in_the_folder_are_left_alone(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    repo.commit("S1")
    edits = repo.state / "edits"
    (edits / "link.jsonl").symlink_to(repo.file("b"))
    (edits / "folder.jsonl").mkdir()
    os.mkfifo(edits / "fifo.jsonl")
    repo.ralph("gc")
    assert (repo.read("b") or b"").startswith(b"line 1\n")
    assert sorted(path.name for path in edits.iterdir()) == ["fifo.jsonl", "folder.jsonl", "link.jsonl"]


@pytest.mark.slow
def test_hooks_commits_and_gc_at_once_lose_nothing(repo: Repo) -> None:
    """Three agents write, each commits, gc runs all the time: every edit lands in exactly one commit."""
    rounds, sessions = 12 if FULL else 5, ("S1", "S2", "S3")
    known = threading.Barrier(len(sessions) + 1)
    over_with: list[str] = []

    def work(session: str) -> None:
        text = b""
        for number in range(rounds):
            before, text = text if number else None, text + f"{session} {number}\n".encode()
            repo.file(f"{session}.txt").write_bytes(text)
            event = {
                "session": session,
                "cwd": str(repo.root),
                "event": "edit",
                "path": f"{session}.txt",
                "before": None if before is None else before.decode(),
                "after": text.decode(),
            }
            repo.hook("generic", event, process=True)
            if not number:
                known.wait()  # A commit for a session without any record is refused.
        over_with.append(session)

    threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    known.wait()
    while len(over_with) < len(sessions):
        for session in sessions:
            repo.ralph("commit", "--session", session, "-m", session, process=True)
            repo.ralph("gc", process=True)
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    for session in sessions:
        repo.ralph("commit", "--session", session, "-m", session, process=True)
    repo.ralph("gc", process=True)
    for session in sessions:
        whole = "".join(f"{session} {number}\n" for number in range(rounds)).encode()
        assert repo.blob(f"{session}.txt") == whole
        assert repo.pending(session) == []
        assert not has_journal(repo, f"{session}.txt")
    log = repo.git("log", "--format=%s", "--name-only").splitlines()
    assert "S1.txt" in log
    for commit in repo.git("rev-list", "HEAD").splitlines()[:-1]:
        subject = repo.git("log", "-1", "--format=%s", commit)
        assert list(repo.changes(commit)) == [f"{subject}.txt"]
    assert not (repo.state / "hooks.log").exists()
    assert path_records.claims(state(repo), "S1").damaged == 0
    repo.git("fsck", "--strict")


def test_a_claim_that_came_to_nothing_keeps_no_journal(repo: Repo) -> None:
    """Its note turned all committed records before it into reverted ones, which wait for their text."""
    repo.edit("S1", "a", (repo.read("a") or b"").decode().replace("line 1\n", "one\n"))
    repo.commit("S1")
    with open(state(repo).manifest("S1"), "ab") as file:
        file.write(b"a\n")
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert path_records.claims(state(repo), "S1").fresh == {}
    repo.ralph("gc")
    assert not has_journal(repo, "a")


def test_what_nobody_recorded_is_still_nobody_s_afterwards(repo: Repo) -> None:
    """The journal that told a human's line from the session's is gone; the line stays out all the same."""
    base = (repo.read("a") or b"").decode()
    mixed = base.replace("line 5\n", "a human's line\n")
    repo.write("a", mixed)
    repo.edit("S1", "a", mixed.replace("line 1\n", "one\n"))
    repo.commit("S1")
    repo.ralph("gc")
    assert not has_journal(repo, "a")
    repo.ralph("why", "a")
    repo.edit("S1", "a", mixed.replace("line 1\n", "one\n").replace("line 9\n", "nine\n"))
    assert repo.commit("S1").how == {"a": "edits"}
    wanted = base.replace("line 1\n", "one\n").replace("line 9\n", "nine\n")
    assert repo.blob("a").decode() == wanted
    assert repo.owners()["a"] == "nobody"

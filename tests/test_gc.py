"""``git ralph gc``: what nothing needs goes, what is pending stays, whoever writes meanwhile."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitralph import files, gitdir, journal, layout
from gitralph.layout import Layout
from gitralph.porcelain import expire
from gitralph.state import pending, sweep
from tests.support.repo import Repo

DAY = 24 * 3600.0


def state(repo: Repo) -> Layout:
    place = gitdir.discover(str(repo.root))
    assert place is not None
    return layout.for_place(place, create=False)


def names(repo: Repo) -> list[str]:
    """Every file of the state, less locks and what people read."""
    out = []
    for path in sorted(repo.state.rglob("*")):
        name = str(path.relative_to(repo.state))
        if path.is_file() and name not in ("README", "format") and not name.startswith("locks/"):
            out.append(name)
    return out


def snapshot(repo: Repo) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in repo.state.rglob("*")
        if path.is_file()
    }


def age(repo: Repo, days: float, *only: str) -> None:
    """Make the state files look as old as that."""
    then = time.time() - days * DAY
    for path in repo.state.rglob("*"):
        if not only or path.name in only:
            os.utime(path, (then, then))


def has_journal(repo: Repo, path: str) -> bool:
    return os.path.exists(state(repo).journal(path.encode()))


def over(repo: Repo, session: str) -> None:
    """Commit what a session has and end it."""
    repo.commit(session)
    repo.ralph("session", "end", session)


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


def test_a_journal_in_use_is_left_and_named(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_WAIT", 0.05)
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
    assert repo.ralph("gc").text == "removed 1 work folder; 5 bytes\n"
    assert (dead.exists(), live.exists()) == (False, True)


# --- sessions ---


def test_an_ended_session_is_forgotten_after_its_time(repo: Repo) -> None:
    for session in ("S1", "S2"):
        repo.start(session)
        repo.edit(session, "a", f"by {session}\n")
        over(repo, session)
    age(repo, 29)
    repo.ralph("gc")
    assert {"S1.json", "S1.files", "S1.commits"} < set(names(repo))
    age(repo, 31, "S1.json", "S1.files", "S1.commits")
    assert "3 session files" in repo.ralph("gc").text
    assert names(repo) == ["S2.commits", "S2.files", "S2.json"]


def test_the_time_is_configured(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    over(repo, "S1")
    age(repo, 400)
    repo.git("config", "ralph.gcExpire", "never")
    repo.ralph("gc")
    assert "S1.json" in names(repo)
    repo.git("config", "ralph.gcExpire", "1.year")
    repo.ralph("gc")
    assert names(repo) == []
    repo.edit("S1", "a", "newer\n")
    repo.git("config", "ralph.gcExpire", "soonish?")
    said = repo.ralph("gc", code=128).said
    assert said == "fatal: bad value 'soonish?' for 'ralph.gcExpire'\n"


def test_now_means_now(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    over(repo, "S1")
    repo.git("config", "ralph.gcExpire", "now")
    repo.ralph("gc")
    assert names(repo) == []


def test_what_is_pending_is_kept_however_old(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    repo.ralph("session", "end", "S1")
    age(repo, 1000)
    repo.git("config", "ralph.gcExpire", "now")
    before = names(repo)
    assert repo.ralph("gc").text == "removed nothing; 0 bytes\n"
    assert names(repo) == before
    assert repo.commit("S1").paths == {"a": "M"}


def test_a_parent_is_kept_while_its_child_waits(repo: Repo) -> None:
    repo.start("P")
    repo.start("C", "--parent", "P")
    repo.edit("C", "a", "new\n")
    for session in ("P", "C"):
        repo.ralph("session", "end", session)
    age(repo, 100)
    repo.ralph("gc")
    assert {"P.json", "C.json"} < set(names(repo))
    assert repo.commit("P").paths == {"a": "M"}


def test_a_live_session_is_kept(repo: Repo) -> None:
    repo.start("S1")
    repo.edit("S1", "a", "new\n")
    repo.commit("S1")
    age(repo, 100)
    repo.ralph("gc")
    assert "S1.json" in names(repo)


def test_a_session_that_comes_back_starts_afresh(repo: Repo) -> None:
    for path in ("a", "b", "d/a"):
        repo.edit("S1", path, "new\n")
    over(repo, "S1")
    age(repo, 100)
    repo.ralph("gc")
    repo.edit("S1", "u", "again\n")
    assert repo.pending("S1") == ["u"]
    assert repo.commit("S1").paths == {"u": "M"}


@pytest.mark.parametrize("step", range(1, 6))
def test_a_session_that_comes_back_after_a_killed_gc(
    repo: Repo, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off before every single removal: nothing committed comes back, nothing new is lost."""
    other = repo.worktree("w1")
    for tree in (repo, other):
        for path in ("a", "b"):
            tree.edit("S1", path, f"new in {tree.root.name}\n")
        tree.commit("S1")
    repo.ralph("session", "end", "S1")
    age(repo, 100)
    plain: Callable[..., None] = sweep.Sweep.unlink
    left = [step]

    def unlink(run: sweep.Sweep, kind: str, path: str) -> None:
        if kind == "session":
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
        plain(run, kind, path)

    monkeypatch.setattr(sweep.Sweep, "unlink", unlink)
    repo.ralph("gc", code=130 if step < 5 else 0)
    monkeypatch.undo()
    for tree in (repo, other):
        assert tree.pending("S1") == []
        tree.edit("S1", "u", "again\n")
        assert tree.pending("S1") == ["u"]
        assert tree.commit("S1").paths == {"u": "M"}


def test_a_session_that_wakes_up_while_it_is_forgotten_keeps_its_line(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.edit("S1", "a", "new\n")
    over(repo, "S1")
    age(repo, 100)
    blank = expire._blank

    def late(path: str) -> tuple[int, bool]:
        found = blank(path)
        with open(path, "ab") as file:
            file.write(b"u\n")
        return found

    monkeypatch.setattr(expire, "_blank", late)
    repo.write("u", "again\n")
    repo.ralph("gc")
    assert repo.pending("S1") == ["u"]


# --- orphans ---


@pytest.mark.parametrize("how", ["removed", "deleted by hand"])
def test_k112_records_of_a_worktree_that_is_gone_are_named_and_kept(repo: Repo, how: str) -> None:
    other = repo.worktree("w1")
    other.edit("S1", "a", "new\n")
    other.edit("S2", "b", "new\n")
    other.commit("S2")
    token = os.path.basename(state(other).own)
    if how == "removed":
        repo.git("worktree", "remove", "--force", str(other.root))
    else:
        os.rename(other.root, str(other.root) + ".moved")
    repo.git("config", "ralph.gcExpire", "now")
    kept = [name for name in names(repo) if name.startswith("worktrees/")]
    for command in (["gc", "--dry-run"], ["gc"]):
        said = repo.ralph(*command).text
        assert f"kept worktree '{token}': " in said
        assert "('S1' 1 pending)" in said
    assert [name for name in names(repo) if name.startswith("worktrees/")] == kept
    assert {"S1.json", "S2.json"} < set(names(repo))


def test_k112_a_name_that_git_gives_again_is_another_worktree(repo: Repo) -> None:
    first = repo.worktree("w1")
    first.edit("S1", "a", "new\n")
    repo.git("worktree", "remove", "--force", str(first.root))
    repo.git("branch", "-D", "w1")
    second = repo.worktree("w1")
    second.edit("S2", "a", "other\n")
    assert repo.ralph("gc").text.count("kept worktree 'w1-") == 1
    assert second.pending("S1") == []
    assert second.commit("S2").paths == {"a": "M"}


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


def test_hooks_commits_and_gc_at_once_lose_nothing(repo: Repo) -> None:
    """Three agents write, each commits, gc runs all the time: every edit lands in exactly one commit."""
    rounds, sessions = 12, ("S1", "S2", "S3")
    over_with: list[str] = []

    def work(session: str) -> None:
        text = b""
        for number in range(rounds):
            before, text = text if number else None, text + f"{session} {number}\n".encode()
            repo.file(f"{session}.txt").write_bytes(text)
            event = {
                "session": session, "cwd": str(repo.root), "event": "edit", "path": f"{session}.txt",
                "before": None if before is None else before.decode(), "after": text.decode(),
            }  # fmt: skip
            repo.hook("generic", event, process=True)
        over_with.append(session)

    threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
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
    assert pending.claims(state(repo), "S1").damaged == 0
    repo.git("fsck", "--strict")

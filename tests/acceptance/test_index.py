"""The index belongs to the user."""

import subprocess
from pathlib import Path

import pytest

from gitralph.commit import land
from tests.support.checks import snapshot
from tests.support.repo import Repo
from tests.support.runner import PATIENCE, wait_for

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")
USERS = TEN.replace("line 2\n", "line two, the user's\n")


def _stage(repo: Repo, path: str, text: str) -> None:
    """The user stages a version of a path; the file itself stays as it is."""
    kept = repo.read(path)
    repo.write(path, text)
    repo.git("add", path)
    assert kept is not None
    repo.write(path, kept)


def _changed_lines(patch: str) -> list[str]:
    return [row for row in patch.split("\n") if row[:1] in "+-" and row[:3] not in ("+++", "---")]


def test_a_path_the_user_staged_keeps_its_staged_change(repo: Repo) -> None:
    """The session's edits are committed; the staged diff of the same path is the same change as before."""
    _stage(repo, "a", USERS)
    repo.edit("S1", "a", MINE)
    before = _changed_lines(repo.staged())
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    assert repo.blob("a") == MINE.encode()
    assert repo.git_bytes("cat-file", "blob", ":a") == USERS.replace("line 9\n", "line nine\n").encode()
    assert _changed_lines(repo.staged()) == before


def test_staged_and_still_in_the_file(repo: Repo) -> None:
    repo.write("a", USERS)
    repo.git("add", "a")
    before = _changed_lines(repo.staged())
    repo.edit("S1", "a", USERS.replace("line 9\n", "line nine\n"))
    done = repo.run("commit", "--session", "S1", "-m", "x")
    if done.code == 4:  # right until lines are told apart
        assert _changed_lines(repo.staged()) == before
        return
    assert repo.blob("a") == MINE.encode()
    assert _changed_lines(repo.staged()) == before


def test_conflict_with_the_staged_is_refused_before_anything_moves(repo: Repo) -> None:
    _stage(repo, "a", TEN.replace("line 9\n", "line 9 as the user has it\n"))
    repo.edit("S1", "a", MINE)
    repo.edit("S1", "b", MINE)
    answer = repo.commit("S1", code=4)
    assert answer.left["a"] == "entangled"
    assert "staged" in next(row["detail"] for row in answer.document["left"] if row["path"] == "a")
    assert repo.pending("S1") == ["a", "b"]


def test_the_agent_staged_its_own_edit_midway(repo: Repo) -> None:
    repo.edit("S1", "a", USERS)
    repo.git("add", "a")
    repo.edit("S1", "a", USERS.replace("line 9\n", "line nine\n"))
    repo.commit("S1")
    assert repo.staged() == ""


@pytest.mark.parametrize("how", ["deleted", "other mode"])
def test_staged_delete_or_mode_stays_staged(repo: Repo, how: str) -> None:
    """A staged removal of a path S1 edited cannot be carried over; a staged mode can."""
    if how == "deleted":
        repo.git("rm", "-q", "--cached", "a")
    else:
        repo.git("update-index", "--chmod=+x", "a")
    repo.edit("S1", "a", MINE)
    if how == "deleted":
        assert repo.commit("S1", code=4).left == {"a": "entangled"}
        return
    repo.commit("S1")
    assert repo.mode("a") == "100644"
    assert repo.git("ls-files", "-s", "a")[:6] == "100755"
    assert repo.git("diff", "--cached", "--summary") == " mode change 100644 => 100755 a"


def test_other_paths_staged_stay_for_the_next_plain_commit(repo: Repo) -> None:
    """The user's next plain commit contains exactly what he had staged."""
    repo.write("b", "the user's\n")
    repo.write("staged/new", "the user's\n")
    repo.git("rm", "-q", "e/b")
    repo.git("add", "b", "staged")
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    repo.tick()
    repo.git("commit", "-qm", "the user's own")
    assert repo.changes() == {"b": "M", "staged/new": "A", "e/b": "D"}
    assert repo.blob("a") == MINE.encode()


def test_new_file_outlives_the_next_plain_commit(repo: Repo) -> None:
    repo.edit("S1", "n", "new\n")
    repo.delete("S1", "u")
    repo.commit("S1")
    repo.write("b", "the user's\n")
    repo.tick()
    repo.git("commit", "-qm", "only b", "b")
    assert repo.changes() == {"b": "M"}
    repo.write("b", "again\n")
    repo.git("add", "b")
    repo.tick()
    repo.git("commit", "-qm", "only b")
    assert repo.changes() == {"b": "M"}
    assert repo.blob("n") == b"new\n"
    repo.git("cat-file", "-e", "HEAD:u", code=128)


def test_hunks_staged_with_add_p_stay_staged(repo: Repo) -> None:
    repo.write("b", USERS.replace("line 10\n", "line ten, the user's\n"))
    repo.git("add", "-p", "b", stdin=b"s\ny\nn\n")
    before = repo.staged()
    assert _changed_lines(before) == ["-line 2", "+line two, the user's"]
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert repo.staged() == before


def test_entry_flags_survive(repo: Repo) -> None:
    repo.write("later", "not yet\n")
    repo.git("add", "-N", "later")
    repo.git("update-index", "--assume-unchanged", "b")
    repo.git("update-index", "--skip-worktree", "u")
    repo.git("update-index", "--assume-unchanged", "a")
    before = repo.git("ls-files", "-v")
    later = repo.git("ls-files", "--debug", "later").split("flags: ")[1]
    repo.edit("S1", "a", MINE)
    repo.edit("S1", "n", "new\n")
    repo.commit("S1")
    assert repo.git("ls-files", "-v").split("\n") == sorted(
        [*before.split("\n"), "H n"], key=lambda row: row[2:]
    )
    assert repo.git("ls-files", "--debug", "later").split("flags: ")[1] == later
    assert "later" not in repo.staged()


def test_a_path_of_the_session_that_is_skipped_keeps_its_flag(repo: Repo) -> None:
    repo.git("update-index", "--skip-worktree", "u")
    repo.edit("S1", "u", MINE)
    repo.commit("S1")
    assert repo.git("ls-files", "-v", "u") == "S u"
    assert repo.blob("u") == MINE.encode()


def test_intent_to_add_by_the_user_of_what_the_session_made(repo: Repo) -> None:
    repo.edit("S1", "n", "new\n")
    repo.git("add", "-N", "n")
    repo.commit("S1")
    assert repo.changes() == {"n": "A"}
    assert repo.git("status", "--porcelain") == ""


def _extensions(repo: Repo) -> set[str]:
    data = (repo.root / ".git/index").read_bytes()
    return {name for name in ("UNTR", "FSMN", "TREE", "link", "sdir") if name.encode() in data}


def test_untracked_cache_survives_and_stays_right(repo: Repo) -> None:
    repo.git("config", "core.untrackedCache", "true")
    repo.git("update-index", "--force-untracked-cache")
    repo.git("status")
    assert "UNTR" in _extensions(repo)
    repo.edit("S1", "a", MINE)
    repo.edit("S1", "d/n", "new\n")
    repo.commit("S1")
    assert "UNTR" in _extensions(repo)
    repo.write("d/other", "untracked\n")
    assert repo.git("status", "--porcelain") == "?? d/other"


def test_fsmonitor_data_survives_and_its_program_is_never_run(repo: Repo, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = tmp_path / "monitor"
    program.write_text(f"#!/bin/sh\necho \"$@\" >> '{seen}'\nprintf 'token\\0/\\0'\n")
    program.chmod(0o755)
    repo.git("config", "core.fsmonitor", str(program))
    repo.git("update-index", "--fsmonitor")
    repo.git("status")
    assert "FSMN" in _extensions(repo)
    seen.unlink()
    repo.edit("S1", "a", MINE)
    repo.edit("S1", "n", "new\n")
    repo.ralph("status", "--session", "S1")
    repo.tick()
    repo.ralph("diff", "--session", "S1")
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert not seen.exists(), seen.read_text()
    assert "FSMN" in _extensions(repo)
    assert repo.git("status", "--porcelain") == ""


def _conflict(repo: Repo) -> None:
    repo.git("checkout", "-qb", "side")
    repo.write("b", "side\n")
    repo.commit_all("side")
    repo.git("checkout", "-q", "main")
    repo.write("b", "main\n")
    repo.commit_all("main")
    repo.git("merge", "side", code=1)


def test_conflict_stages_are_refused(repo: Repo) -> None:
    """An index with conflict stages is refused and not touched."""
    _conflict(repo)
    (repo.root / ".git/MERGE_HEAD").unlink()  # as after a stash pop: stages without an operation
    repo.edit("S1", "a", MINE)
    answer = repo.commit("S1", code=4)
    assert answer.left == {"b": "unmerged"}
    assert repo.pending("S1") == ["a"]


class Clock:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    from gitralph.git import index

    made = Clock()
    monkeypatch.setattr(index, "time", made)
    return made


def _busy(repo: Repo, lock: Path) -> str:
    """What is said while a lock is held; nothing has moved, and the commit lands once it is gone."""
    repo.edit("S1", "a", MINE)
    lock.write_text("")
    before, stamp = snapshot(repo), lock.stat()
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=75)
    after = snapshot(repo)
    assert (after.refs, after.logs, after.index) == (before.refs, before.logs, before.index)
    assert after.records == before.records
    assert lock.stat().st_ino == stamp.st_ino
    assert lock.stat().st_mtime_ns == stamp.st_mtime_ns
    assert not list(repo.state.glob("intents/*"))
    lock.unlink()
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    return done.said


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_stale_git_lock_is_named_and_left_alone(
    repo: Repo, name: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(land, "WAIT", 1.0)  # git's own waits for a ref pass by the real clock
    assert name in _busy(repo, repo.root / ".git" / name)


def test_the_wait_for_index_lock_is_ten_seconds_and_no_more(repo: Repo, clock: Clock) -> None:
    assert "index.lock" in _busy(repo, repo.root / ".git/index.lock")
    assert 10.0 <= clock.now < 10.1


def test_a_lock_that_is_freed_in_time_is_waited_for(
    repo: Repo, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes after three looks, well before the ten seconds are over."""
    repo.edit("S1", "a", MINE)
    lock = repo.root / ".git/index.lock"
    lock.write_text("")
    looks = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            lock.unlink()

    monkeypatch.setattr(clock, "sleep", sleep)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert len(looks) == 3
    assert repo.changes() == {"a": "M"}


def test_what_the_user_stages_while_we_work_is_not_lost(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index moves between our copy and our lock: it is built again."""
    from gitralph.git import index

    repo.edit("S1", "a", MINE)
    real = index.try_lock
    calls: list[str] = []

    def try_lock(prepared: str, lock: str) -> bool:
        if not calls:
            calls.append(lock)
            repo.write("b", "staged at the last moment\n")
            repo.git("add", "b")
        return real(prepared, lock)

    monkeypatch.setattr(index, "try_lock", try_lock)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert calls
    assert repo.changes() == {"a": "M"}
    assert repo.git("diff", "--cached", "--name-only") == "b"


def test_an_open_editor_of_git_commit_sees_that_head_moved(repo: Repo, tmp_path: Path) -> None:
    """git refuses the user's commit; his retry holds only his paths."""
    repo.write("b", "the user's\n")
    repo.git("add", "b")
    repo.edit("S1", "a", MINE)
    flag, go = tmp_path / "open", tmp_path / "go"
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!/bin/sh\ntouch '{flag}'\nwhile [ ! -e '{go}' ]; do sleep 0.05; done\necho mine > \"$1\"\n"
    )
    editor.chmod(0o755)
    user = subprocess.Popen(
        ["git", "commit"],
        cwd=repo.root,
        env={**repo.env, "GIT_EDITOR": str(editor)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert wait_for(flag.exists)
    repo.commit("S1")
    landed = repo.head()
    go.touch()
    _, said = user.communicate(timeout=PATIENCE)
    assert user.returncode == 128
    assert b"cannot lock ref" in said
    assert repo.head() == landed
    repo.tick()
    repo.git("commit", "-qm", "again")
    assert repo.changes() == {"b": "M"}


@pytest.mark.parametrize("who", ["a person", "S2"])
@pytest.mark.parametrize("line", ["line 2\n", ""])
@pytest.mark.parametrize("moved", [False, True])
def test_a_staged_line_that_another_took_back_in_the_file_stays_staged(
    repo: Repo, who: str, line: str, moved: bool
) -> None:
    """The session's own earlier state is staged; its commit has not what a person or S2 undid on disk."""
    mine = "two of S1\n" if line else "line 2\nadded of S1\n"
    repo.edit("S1", "a", TEN.replace("line 2\n", mine))
    text = TEN.replace("line 2\n", mine).replace("line 8\n", "eight of S1\n")
    repo.edit("S1", "a", text)
    name = "a"
    if moved:
        name = "z"
        repo.rename("S1", "a", name)
    repo.git("add", "-A")
    without = text.replace(mine, "line 2\n")
    repo.edit(who, name, without) if who == "S2" else repo.write(name, without)
    repo.commit("S1")
    assert repo.blob(name) == TEN.replace("line 8\n", "eight of S1\n").encode()
    removed = ["-line 2"] if line else []
    assert _changed_lines(repo.staged()) == [*removed, f"+{mine.splitlines()[-1]}"]


@pytest.mark.parametrize("who", ["a person", "S1"])
@pytest.mark.parametrize("moved", [False, True])
def test_a_staged_removal_stays_unless_the_session_put_the_line_back_itself(
    repo: Repo, who: str, moved: bool
) -> None:
    repo.edit("S1", "a", TEN.replace("line 8\n", "eight of S1\n"))
    text = TEN.replace("line 8\n", "eight of S1\n").replace("line 2\n", "")
    repo.edit("S1", "a", text)
    name = "z" if moved else "a"
    if moved:
        repo.rename("S1", "a", name)
    repo.git("add", "-A")
    back = text.replace("line 1\n", "line 1\nline 2\n")
    repo.edit(who, name, back) if who == "S1" else repo.write(name, back)
    repo.commit("S1")
    assert repo.blob(name) == back.encode()
    staged = repo.staged()
    assert (_changed_lines(staged) if staged else []) == ([] if who == "S1" else ["-line 2"])


def test_a_staged_line_of_a_new_file_that_a_person_took_back_stays_staged(repo: Repo) -> None:
    repo.edit("S1", "new", "one of S1\n")
    repo.edit("S1", "new", "one of S1\ntwo of S1\n")
    repo.git("add", "new")
    repo.write("new", "one of S1\n")
    repo.commit("S1")
    assert repo.blob("new") == b"one of S1\n"
    assert _changed_lines(repo.staged()) == ["+two of S1"]


def test_what_the_session_itself_took_back_leaves_the_index(repo: Repo) -> None:
    repo.edit("S1", "a", TEN.replace("line 2\n", "two of S1\n"))
    repo.edit("S1", "a", TEN.replace("line 2\n", "two of S1\nmore of S1\n"))
    repo.git("add", "a")
    repo.edit("S1", "a", TEN.replace("line 2\n", "two of S1\n").replace("line 8\n", "eight of S1\n"))
    repo.commit("S1")
    assert repo.staged() == ""


def test_a_line_that_came_with_a_moved_file_is_not_the_movers_in_the_index(repo: Repo) -> None:
    """Another session's line is staged under the new name: the mover's commit did away with it."""
    text = "".join(f"text {n}\n" for n in range(12))
    repo.write("x", text)
    repo.commit_all("x")
    theirs = text.replace("text 3\n", "three of S1\n")
    repo.edit("S1", "x", theirs)
    repo.rename("S2", "x", "a")
    repo.git("add", "-A")
    done = repo.run("commit", "--session", "S2", "-m", "x")
    assert repo.git("show", ":a") + "\n" == theirs
    assert done.code in (0, 4)

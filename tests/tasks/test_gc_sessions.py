"""``git ralph gc``: sessions that are over are forgotten, records of lost worktrees are kept and named."""

import os
from collections.abc import Callable

import pytest

from gitralph.records import sweep
from gitralph.tasks import gc
from tests.support.keep import age, names, over, state
from tests.support.repo import Repo

# --- sessions ---


def test_an_ended_session_is_forgotten_after_its_time(repo: Repo) -> None:
    for session in ("S1", "S2"):
        repo.start(session)
        repo.edit(session, "a", f"by {session}\n")
        over(repo, session)
    age(repo, 29)
    repo.ralph("gc")
    assert {f"finished/S1.{kind}" for kind in ("json", "files", "commits")} < set(names(repo))
    age(repo, 31, "S1.json", "S1.files", "S1.commits")
    assert "4 session files" in repo.ralph("gc").text
    kept = [f"finished/S2.{kind}" for kind in ("commits", "files", "json")]
    assert names(repo) == [*kept, "finished/commits"]


def test_the_time_is_configured(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    over(repo, "S1")
    age(repo, 400)
    repo.git("config", "ralph.gcExpire", "never")
    repo.ralph("gc")
    assert "finished/S1.json" in names(repo)
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


@pytest.mark.parametrize("step", range(1, 7))
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
    repo.ralph("gc", code=130 if step < 6 else 0)
    monkeypatch.undo()
    for tree in (repo, other):
        if step < 5 or tree is other:
            assert tree.pending("S1") == []
        tree.edit("S1", "u", "again\n")
        assert tree.pending("S1") == ["u"]
        assert tree.commit("S1").paths == {"u": "M"}


def test_what_a_hook_offered_goes_with_its_session(repo: Repo) -> None:
    repo.edit("S1", "a", "new\n")
    repo.commit("S1")
    repo.ralph("session", "end", "S1")
    (repo.state / "S1.patch").write_text("--- a/a\n")
    age(repo, 100)
    repo.ralph("gc")
    assert not list(repo.state.glob("S1.*"))


def test_a_session_that_wakes_up_while_it_is_forgotten_keeps_its_line(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.edit("S1", "a", "new\n")
    over(repo, "S1")
    age(repo, 100)
    blank = gc.blank_manifest

    def late(path: str, size: int) -> bool:
        found = blank(path, size)
        with open(path, "ab") as file:
            file.write(b"u\n")
        return found

    monkeypatch.setattr(gc, "blank_manifest", late)
    repo.write("u", "again\n")
    repo.ralph("gc")
    assert repo.pending("S1") == ["u"]


# --- orphans ---


@pytest.mark.parametrize("how", ["removed", "deleted by hand"])
def test_records_of_a_worktree_that_is_gone_are_named_and_kept(repo: Repo, how: str) -> None:
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
        assert "('generic-1' 1 pending)" in said
    assert [name for name in names(repo) if name.startswith("worktrees/")] == kept
    assert {"S1.json", "S2.json"} < set(names(repo))


def test_a_worktree_that_is_gone_with_all_committed_is_kept_and_not_named(repo: Repo) -> None:
    """A loop that gives each task a worktree had gc name every one of them, at each run."""
    other = repo.worktree("w1")
    other.edit("S1", "a", "new\n")
    other.commit("S1")
    repo.git("worktree", "remove", "--force", str(other.root))
    assert "kept worktree" not in repo.ralph("gc").text
    assert [name for name in names(repo) if name.startswith("worktrees/")]


def test_a_worktree_of_which_nothing_is_recorded_leaves_nothing(repo: Repo) -> None:
    other = repo.worktree("w1")
    repo.edit("S1", "a", "new\n")
    other.ralph("gc")
    repo.git("worktree", "remove", str(other.root))
    assert list((repo.state / "worktrees").iterdir())
    assert "kept worktree" not in repo.ralph("gc", "--dry-run").text
    assert "kept worktree" not in repo.ralph("gc").text
    assert list((repo.state / "worktrees").iterdir()) == []


def test_a_name_that_git_gives_again_is_another_worktree(repo: Repo) -> None:
    first = repo.worktree("w1")
    first.edit("S1", "a", "new\n")
    repo.git("worktree", "remove", "--force", str(first.root))
    repo.git("branch", "-D", "w1")
    second = repo.worktree("w1")
    second.edit("S2", "a", "other\n")
    assert repo.ralph("gc").text.count("kept worktree 'w1-") == 1
    assert second.pending("S1") == []
    assert second.commit("S2").paths == {"a": "M"}

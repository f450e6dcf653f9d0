"""Ghosts: who lists or counts pending work asks what commit would find, and finds nothing where it does."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitralph.base.errors import Fatal
from gitralph.decide import plan, request
from tests.support.keep import age, names
from tests.support.repo import Repo
from tests.support.texts import TEN, changed


def _counts(repo: Repo) -> dict[str, int]:
    return {row["id"]: row["pending"] for row in repo.ralph("session", "list", "--json").json()}


def _plain_commit(repo: Repo) -> None:
    repo.commit_all("by hand")


def _restored(repo: Repo) -> None:
    repo.git("checkout", "--", "a")


def _stashed(repo: Repo) -> None:
    repo.git("stash", "-q")


def _reset(repo: Repo) -> None:
    repo.git("reset", "-q", "--hard")


WAYS = (_plain_commit, _restored, _stashed, _reset)


@pytest.mark.parametrize("way", WAYS)
def test_all_who_ask_agree_that_nothing_is_pending(repo: Repo, way: Callable[[Repo], None]) -> None:
    """Committed by plain git, restored, stashed away or discarded: S1 has nothing pending."""
    repo.edit("S1", "a", changed())
    assert _counts(repo) == {"S1": 1}
    way(repo)
    assert _counts(repo) == {"S1": 0}
    assert repo.pending("S1") == []
    assert repo.ralph("ls-files").text == ""
    assert repo.owners() == {}
    shown = repo.ralph("session", "show", "S1", "--json").json()
    assert (shown["pending"], shown["paths"]) == (0, [])
    repo.edit("S2", "b", changed())
    assert repo.ralph("commit", "-m", "x", "--json").json()["session"] == "S2"
    assert repo.changes() == {"b": "M"}
    assert repo.commit("S1").status == "nothing"


@pytest.mark.parametrize("way", WAYS)
def test_a_ghost_is_not_even_asked_to_commit_first(repo: Repo, way: Callable[[Repo], None]) -> None:
    """Looking changes nothing: no record is consumed by it."""
    repo.edit("S1", "a", changed())
    way(repo)
    before = {p: p.read_bytes() for p in repo.state.rglob("*") if p.is_file()}
    for command in (["status"], ["ls-files"], ["session", "list"], ["session", "show", "S1"]):
        repo.ralph(*command)
    assert {p: p.read_bytes() for p in repo.state.rglob("*") if p.is_file()} == before


def test_what_was_stashed_away_is_pending_again_when_it_is_popped(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.git("stash", "-q")
    assert _counts(repo) == {"S1": 0}
    repo.git("stash", "pop", "-q")
    assert _counts(repo) == {"S1": 1}
    assert repo.owners("S1") == {"a": "mine"}
    assert repo.commit(None).document["session"] == "S1"


@pytest.mark.parametrize("pruned", [False, True])
def test_what_a_commit_took_is_pending_again_when_it_is_taken_back(repo: Repo, pruned: bool) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    for session in ("S1", "S2"):
        repo.commit(session)
    assert _counts(repo) == {"S1": 0, "S2": 0}
    repo.git("reset", "-q", "HEAD~1")
    if pruned:
        repo.git("reflog", "expire", "--expire=now", "--all")
        repo.git("gc", "-q", "--prune=now")
    assert _counts(repo) == {"S1": 0, "S2": 1}
    assert repo.ralph("ls-files").text == "b\n"
    assert repo.owners("S2") == {"b": "mine"}
    assert repo.commit(None, checked=False).document["session"] == "S2"


def test_a_new_file_that_somebody_threw_away(repo: Repo) -> None:
    repo.edit("S1", "new", "text\n")
    repo.remove("new")
    assert _counts(repo) == {"S1": 0}
    assert repo.pending("S1") == []


def test_an_ignored_file_makes_no_later_commit_ambiguous(repo: Repo) -> None:
    """It stays listed as the session's, but commit would find nothing there."""
    repo.edit("S1", "x.log", "noise\n")
    repo.write(".gitignore", "*.log\n")
    repo.commit_all("ignore")
    assert _counts(repo) == {"S1": 0}
    assert repo.pending("S1") == ["x.log"]
    repo.edit("S2", "b", changed())
    assert repo.commit(None).document["session"] == "S2"


def test_where_it_is_all_there_is_commit_says_what_it_leaves(repo: Repo) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.commit_all("ignore")
    repo.edit("S1", "x.log", "noise\n")
    answer = repo.commit(None)
    assert (answer.status, answer.document["session"], answer.left) == ("nothing", "S1", {"x.log": "ignored"})


def test_half_of_a_sessions_lines_committed_by_hand_leaves_the_other_half(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S1", "b", changed())
    repo.git("commit", "-q", "-m", "half", "--", "a")
    assert _counts(repo) == {"S1": 1}
    assert repo.pending("S1") == ["b"]
    assert repo.owners("S1") == {"b": "mine"}


def test_a_path_of_which_another_sessions_edit_is_left_is_only_theirs(repo: Repo) -> None:
    repo.edit("S1", "a", TEN.replace("line 1\n", "one\n"))
    repo.git("commit", "-q", "-a", "-m", "by hand")
    repo.edit("S2", "a", TEN.replace("line 1\n", "one\n").replace("line 9\n", "nine\n"))
    assert repo.owners("S2") == {"a": "mine"}
    assert _counts(repo) == {"S1": 0, "S2": 1}


@pytest.mark.parametrize("way", WAYS)
def test_gc_forgets_a_ghost_after_its_time(repo: Repo, way: Callable[[Repo], None]) -> None:
    repo.edit("S1", "a", changed())
    repo.ralph("session", "end", "S1")
    way(repo)
    age(repo, 100)
    repo.ralph("gc")
    assert not [name for name in names(repo) if name.startswith("S1.")]
    repo.ralph("gc")
    assert [name for name in names(repo) if name.startswith("edits/")] == []
    repo.edit("S2", "a", "all new\n")
    assert repo.commit("S2").paths == {"a": "M"}


def test_a_forgotten_ghost_is_nobodys_rival(repo: Repo) -> None:
    """Its records are consumed with a note: a journal that another session needs stays."""
    repo.edit("S1", "a", changed())
    repo.ralph("session", "end", "S1")
    repo.git("checkout", "--", "a")
    age(repo, 100)
    repo.edit("S2", "a", changed(9))
    repo.ralph("gc")
    assert not (repo.state / "S1.json").exists()
    repo.delete("S2", "a")
    assert repo.commit("S2").paths == {"a": "D"}


def test_gc_forgets_a_session_that_only_has_ignored_files(repo: Repo) -> None:
    repo.edit("S1", "x.log", "noise\n")
    repo.ralph("session", "end", "S1")
    repo.write(".gitignore", "*.log\n")
    age(repo, 100)
    repo.ralph("gc")
    repo.ralph("gc")
    assert names(repo) == []


def test_gc_asks_in_the_worktree_that_the_records_are_of(repo: Repo) -> None:
    other = repo.worktree("w1")
    other.edit("S1", "a", changed())
    other.edit("S2", "b", changed())
    for session in ("S1", "S2"):
        repo.ralph("session", "end", session)
    other.git("checkout", "--", "a")
    age(repo, 100)
    repo.ralph("gc")
    left = {os.path.basename(name) for name in names(repo)}
    assert not [name for name in left if name.startswith("S1.")]
    assert {"S2.json", "S2.files"} <= left
    assert other.commit("S2").paths == {"b": "M"}


def _marker_filter(repo: Repo, tmp_path: Path) -> Path:
    """A clean filter that leaves a mark when it runs, as one of LFS would."""
    mark = tmp_path / "ran"
    script = tmp_path / "clean"
    script.write_text(f"#!/bin/sh\necho x >>'{mark}'\nsed s/secret/hidden/\n")
    script.chmod(0o755)
    repo.write(".gitattributes", "*.f filter=mark\n")
    repo.git("config", "filter.mark.clean", str(script))
    repo.git("config", "filter.mark.required", "true")
    repo.write("x.f", "secret\n")
    repo.commit_all("filtered")
    return mark


def test_looking_starts_no_program_that_the_configuration_names(repo: Repo, tmp_path: Path) -> None:
    mark = _marker_filter(repo, tmp_path)
    repo.edit("S1", "x.f", "secret\nmore\n")
    mark.unlink()
    for command in (["status"], ["ls-files"], ["session", "list"], ["session", "show", "S1"]):
        repo.ralph(*command)
    repo.write("u", changed())
    repo.ralph("track", "u")
    assert not mark.exists()
    assert _counts(repo) == {"S1": 2}
    assert repo.owners("S1") == {"x.f": "mine", "u": "mine"}


def test_a_filtered_file_that_plain_git_committed_is_no_ghost(repo: Repo, tmp_path: Path) -> None:
    _marker_filter(repo, tmp_path)
    repo.edit("S1", "x.f", "secret\nmore\n")
    os.utime(repo.file("x.f"), (1, 1))  # else git has to look into it again, for which it needs the filter
    repo.commit_all("by hand")
    assert _counts(repo) == {"S1": 0}
    assert repo.pending("S1") == []
    assert repo.owners() == {}


def test_finished_sessions_are_not_drafted(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session list looks only at sessions with records that no commit took."""
    for n in range(5):
        repo.edit(f"old-{n}", "a", changed(1 + n % 2, f"by {n}"))
        repo.commit(f"old-{n}")
    repo.edit("S1", "b", changed())
    asked: list[str] = []
    plain = plan.build

    def spy(*args: object, **how: object) -> request.Draft:
        asked.append(str(args[2]))
        return plain(*args, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(plan, "build", spy)
    repo.ralph("session", "list", process=False)
    assert asked == ["S1"]


def test_one_sessions_damage_costs_nobody_else(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be told counts as pending, and is said."""
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    plain = plan.build

    def damaged(*args: object, **how: object) -> request.Draft:
        if args[2] == "S1":
            raise Fatal("object 1234 is missing from the object database")
        return plain(*args, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(plan, "build", damaged)
    done = repo.ralph("session", "list", "--json", process=False)
    assert {row["id"]: row["pending"] for row in done.json()} == {"S1": 1, "S2": 1}
    assert "what session 'generic-1' has pending cannot be told: object 1234 is missing" in done.said


def test_looking_works_where_the_state_cannot_be_written(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    (repo.state / "tmp").write_text("in the way, as a read-only file system is\n")
    assert _counts(repo) == {"S1": 1}
    assert repo.pending("S1") == ["a"]
    assert repo.owners("S1") == {"a": "mine"}
    assert "+changed" in repo.ralph("diff", "--", "a").text


def test_status_shows_a_ghosts_path_that_a_human_changed_as_nobodys(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.commit_all("by hand")
    repo.write("a", "the user's\n")
    assert repo.owners() == {"a": "nobody"}

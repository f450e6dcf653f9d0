"""``git ralph gc`` puts sessions away that were over for a day: no command reads them, and none is lost."""

import json
import os
from collections.abc import Callable

import pytest

from tests.support.keep import age, names, over, state
from tests.support.repo import Repo

KINDS = ("commits", "files", "json")
AWAY = [*(f"finished/S1.{kind}" for kind in KINDS), "finished/commits"]


def _two_days_ago(repo: Repo) -> None:
    repo.edit("S1", "a", "one\n")
    repo.edit("S1", "b", "one\n")
    over(repo, "S1")
    repo.ralph("gc")  # the journals of what is committed
    age(repo, 2)


def _all(repo: Repo) -> dict[str, dict[str, object]]:
    return {str(one["id"]): one for one in json.loads(repo.ralph("session", "list", "--all", "--json").text)}


def test_it_is_put_away_and_shown_when_asked_for(repo: Repo) -> None:
    _two_days_ago(repo)
    before, shown = _all(repo), repo.ralph("session", "show", "S1", "--json").text
    why = repo.ralph("why", "a", "--json").text
    assert "would put 1 finished session away" in repo.ralph("gc", "--dry-run").text
    assert "put 1 finished session away" in repo.ralph("gc").text
    assert names(repo) == AWAY
    assert json.loads(repo.ralph("session", "list", "--json").text) == []
    assert "session list --all" in repo.ralph("session", "list").said
    assert _all(repo) == before
    assert repo.ralph("session", "show", "S1", "--json").text == shown
    assert repo.ralph("why", "a", "--json").text == why
    assert repo.pending("S1") == []
    assert "put" not in repo.ralph("gc").text


def test_what_may_come_back_stays(repo: Repo) -> None:
    repo.edit("S1", "a", "one\n")
    repo.ralph("session", "end", "S1")
    repo.git("stash", "-q", "-u")
    age(repo, 2)
    repo.ralph("gc")
    assert not any(name.startswith("finished/") for name in names(repo))
    repo.git("stash", "pop", "-q")
    assert repo.pending("S1") == ["a"]


def test_a_younger_or_living_one_stays(repo: Repo) -> None:
    repo.edit("S1", "a", "one\n")
    over(repo, "S1")
    repo.ralph("gc")
    assert not any(name.startswith("finished/") for name in names(repo))


def test_one_that_goes_on_is_itself_again(repo: Repo) -> None:
    _two_days_ago(repo)
    first = repo.head()
    called = _all(repo)["S1"]["name"]
    repo.ralph("gc")
    repo.edit("S1", "a", "two\n")
    assert repo.pending("S1") == ["a"]
    assert _all(repo)["S1"]["name"] == called
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    told = [json.loads(line)["commit"] for line in (repo.state / "S1.commits").read_text().splitlines()]
    assert told == [repo.head()]
    repo.ralph("session", "end", "S1")
    repo.ralph("gc")
    age(repo, 2)
    repo.ralph("gc")
    assert names(repo) == AWAY
    kept = (repo.state / "finished/S1.commits").read_text().splitlines()
    assert [json.loads(line)["commit"] for line in kept] == [first, repo.head()]
    assert len(_all(repo)) == 1


def test_it_expires_like_any_other(repo: Repo) -> None:
    _two_days_ago(repo)
    repo.ralph("gc")
    age(repo, 31)
    repo.ralph("gc")
    assert names(repo) == []


def _told(repo: Repo) -> list[str]:
    """Who made which commit, as `log` and `report` say it."""
    assert repo.ralph("report", "-o", "page.html").code == 0
    page = (repo.root / "page.html").read_text()
    (repo.root / "page.html").unlink()
    rows = [one for one in json.loads(repo.ralph("log", "--json").text) if one["kind"] == "commit"]
    return [f"{row['commit']} {row['session']} {row['agent']} {row['commit'][:7] in page}" for row in rows]


def test_who_made_a_commit_is_found_by_the_index_alone(repo: Repo) -> None:
    _two_days_ago(repo)
    before = _told(repo)
    assert before == [f"{repo.head()} S1 generic True"]
    repo.ralph("gc")
    assert _told(repo) == before
    index = repo.state / "finished/commits"
    assert index.read_text() == f"{repo.head()} S1\n"
    # a last line that a kill cut, and lines that somebody else wrote
    index.write_bytes(b"\xff\n\nnobody\nx ../../evil included\n" + index.read_bytes() + b"0123 S")
    assert _told(repo) == before
    index.write_bytes(f"{repo.head()} S".encode())  # the message tells
    assert _told(repo) == before
    index.unlink()  # as an older version left it
    assert _told(repo) == before


def test_the_index_is_made_anew_and_forgets_with_gc(repo: Repo) -> None:
    _two_days_ago(repo)
    first = repo.head()
    repo.ralph("gc")
    (repo.state / "finished/commits").unlink()
    repo.edit("S2", "c", "one\n")
    over(repo, "S2")
    repo.ralph("gc")
    age(repo, 2, "S2.json", "S2.files", "S2.commits")
    repo.ralph("gc")
    assert (repo.state / "finished/commits").read_text() == f"{first} S1\n{repo.head()} S2\n"
    age(repo, 31, "S1.json", "S1.files", "S1.commits")
    repo.ralph("gc")
    assert (repo.state / "finished/commits").read_text() == f"{repo.head()} S2\n"


def test_what_another_commit_took_along_is_told_so(repo: Repo) -> None:
    repo.write("a", "one\n")
    repo.git("add", "a")
    repo.git("commit", "-qm", "a")
    repo.edit("S1", "a", "two of them\n")
    repo.edit("S2", "a", "three of them\n")
    repo.ralph("commit", "--session", "S2", "--include-entangled", "-m", "both")
    for session in ("S1", "S2"):
        repo.ralph("session", "end", session)
    os.unlink(state(repo).journal(b"a"))  # gc keeps it, since the commit alone does not tell the two apart
    age(repo, 2)
    repo.ralph("gc")
    rows = (repo.state / "finished/commits").read_text().splitlines()
    assert rows == [f"{repo.head()} S1 included", f"{repo.head()} S2"]
    told = [one for one in json.loads(repo.ralph("log", "--json").text) if one["kind"] == "commit"]
    assert [one["session"] for one in told] == ["S2"]


@pytest.mark.parametrize("step", range(10))
def test_a_kill_at_any_step_leaves_a_state_that_means_the_same(
    repo: Repo, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write, link, rename and removal in turn is the last thing that happens."""
    _two_days_ago(repo)
    done = 0

    def dying(real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **named: object) -> object:
            nonlocal done
            done += 1
            if done > step:
                raise KeyboardInterrupt
            return real(*args, **named)

        return call

    for name in ("unlink", "rename", "utime"):
        monkeypatch.setattr(os, name, dying(getattr(os, name)))
    killed = repo.run("gc").code
    monkeypatch.undo()
    assert killed == 130
    assert repo.pending("S1") == []
    assert list(_all(repo)) == ["S1"]
    repo.edit("S1", "a", "two\n")  # and it goes on from there
    assert repo.pending("S1") == ["a"]
    assert repo.commit("S1").paths == {"a": "M"}
    repo.ralph("session", "end", "S1")
    repo.ralph("gc")
    age(repo, 2)
    repo.ralph("gc")
    assert names(repo) == AWAY
    assert repo.head() in (repo.state / "finished/S1.commits").read_text()

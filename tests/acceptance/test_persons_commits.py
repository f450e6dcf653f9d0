"""A person's commits in `log`, `top` and `report`; and what happened since one asked last."""

import json
from typing import Any

import pytest

from gitralph.ask import overview
from gitralph.cli.terminal import screen
from gitralph.cli.terminal.grouped import Here, Paper
from gitralph.git.context import open_context
from tests.support.guarded import commit_as, narrowing, ten
from tests.support.repo import Repo

AGENT = {"CLAUDE_CODE_SESSION_ID": "S1"}


@pytest.fixture
def day(empty_repo: Repo) -> Repo:
    """S1 and P commit in turn; P's own are older by their dates than what was recorded."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.edit("S1", "f", ten(l2="one"))
    repo.commit("S1")
    repo.write("g", ten(l2="mine"))
    repo.ralph("commit", "--mine", "-m", "mine alone")
    repo.write("h", ten(l2="mine"))
    commit_as(repo, None, "-a", "-m", "plain")
    return repo


def log(repo: Repo, *args: str, **how: Any) -> list[dict[str, Any]]:
    found = json.loads(repo.ralph("log", "--json", *args, **how).text)
    assert isinstance(found, list)
    return found


def commits(rows: list[dict[str, Any]]) -> dict[str, str | None]:
    return {row["subject"]: row["session"] for row in rows if row["kind"] == "commit"}


def author(repo: Repo) -> str:
    return repo.git("log", "-1", "--format=%an")


def test_log_shows_them_as_the_persons(day: Repo) -> None:
    rows = log(day)
    # what was committed before the first session is git's to tell
    assert commits(rows) == {"x": "S1", "mine alone": None, "plain": None}
    (row,) = (row for row in rows if row.get("subject") == "plain")
    assert (row["author"], row["name"], row["agent"], row["paths"]) == (author(day), None, None, ["h"])
    assert f"  {author(day)[:20]}" in next(
        line for line in day.ralph("log").text.splitlines() if "plain" in line
    )
    assert commits(log(day, "--session", "S1")) == {"x": "S1"}
    assert commits(log(day, "--", "h")) == {"plain": None}


def test_top_and_report_name_the_person(day: Repo) -> None:
    ctx = open_context(day._environment({"GIT_DIR": str(day.root / ".git"), "GIT_WORK_TREE": str(day.root)}))
    try:
        seen = overview.look(ctx, None)
        paper = Paper(Here(ctx), ctx.called, 200, False)
        lines = list(screen.landed_lines(seen, paper))
    finally:
        ctx.repo.close()
    assert author(day) in next(line for line in lines if "plain" in line)
    page = day.root / "r.html"
    day.ralph("report", "-o", str(page))
    text = page.read_text()
    assert "plain" in text
    assert text.count(author(day)) >= 2


def test_new_shows_what_happened_since_it_was_asked_last(day: Repo) -> None:
    assert commits(log(day, "--new")) == {"x": "S1", "mine alone": None, "plain": None}
    assert log(day, "--new") == []
    day.edit("S1", "f", ten(l2="one", l4="more"))
    day.write("h", ten(l2="mine", l3="mine"))
    commit_as(day, None, "--", "h")
    rows = log(day, "--new")
    assert [row["path"] for row in rows if row["kind"] == "edit"] == ["f"]
    assert commits(rows) == {"x": None}
    assert log(day, "--new") == []
    assert day.ralph("log", "--new").said == "note: nothing new since this was asked last\n"


def test_an_agent_and_the_person_read_each_their_own(day: Repo) -> None:
    assert log(day, "--new")
    assert log(day, "--new", env=AGENT)
    assert log(day, "--new", env=AGENT) == []
    day.git("commit", "-q", "--amend", "-m", "other words")
    assert commits(log(day, "--new")) == {"other words": None}
    assert commits(log(day, "--new", env=AGENT)) == {"other words": None}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"the log": [1, 2, 3]}', '{"the log": ["x", -1, "y"]}'])
def test_a_damaged_place_shows_all_again(day: Repo, text: str) -> None:
    assert log(day, "--new")
    (day.state / "cursors" / "log.json").write_text(text)
    assert commits(log(day, "--new")) == {"x": "S1", "mine alone": None, "plain": None}
    assert log(day, "--new") == []


@pytest.mark.parametrize("words", [["-n", "1"], ["--since", "1 hour ago"], ["--session", "S1"], ["--", "f"]])
def test_what_is_not_shown_is_not_read(day: Repo, words: list[str]) -> None:
    assert "--new" in day.ralph("log", "--new", *words, code=129).said


def test_status_says_nothing_of_a_guard_that_cannot_be_looked_at(empty_repo: Repo) -> None:
    repo = narrowing(empty_repo)
    hook = repo.git_dir / "hooks" / "pre-commit"
    hook.unlink()
    hook.mkdir()
    done = repo.ralph("status")
    assert "ralph.guard" not in done.said

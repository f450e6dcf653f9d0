"""``git ralph export``: records and notes that the other tools read."""

import json
from typing import Any

import pytest

from gitralph.base.ids import hashed
from tests.ask.trace import git_ai, schema
from tests.support.repo import Repo
from tests.support.texts import TEN


def _rows(repo: Repo, *args: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in repo.ralph("export", *args).text.splitlines()]


def _made(repo: Repo, session: str, path: str, text: str, **fields: object) -> str:
    repo.edit(session, path, text, fields=fields)
    found = repo.commit(session).commit
    assert found is not None
    return found


def test_without_a_range_every_commit_of_a_session_is_told_oldest_first(repo: Repo) -> None:
    first = _made(repo, "S1", "a", "1\n" + TEN)
    repo.write("b", "human\n")
    repo.commit_all("human")
    second = _made(repo, "S2", "a", "1\n2\n" + TEN)
    rows = _rows(repo, "--format", "agent-trace")
    assert [row["vcs"]["revision"] for row in rows] == [first, second]
    assert [schema.breaches(row) for row in rows] == [[], []]


@pytest.mark.parametrize(
    ("words", "count"), [((), 3), (("HEAD~1..",), 1), (("HEAD~1",), 1), (("HEAD~3..HEAD",), 3)]
)
def test_a_range_is_gits_and_one_name_is_one_commit(words: tuple[str, ...], count: int, repo: Repo) -> None:
    for number in range(3):
        _made(repo, "S1", "a", f"{number}\n" + TEN)
    assert len(_rows(repo, "--format", "agent-trace", *words)) == count


def test_a_branch_without_a_commit_has_nothing_to_tell(empty_repo: Repo) -> None:
    assert _rows(empty_repo, "--format", "agent-trace") == []


def test_a_note_is_what_git_ai_reads(repo: Repo) -> None:
    oid = _made(repo, "S1", "a", "1\n" + TEN + "2\n3\n", model="claude-opus-4-5")
    (row,) = _rows(repo, "--format", "git-ai")
    assert set(row) == {"commit", "note"}
    found, facts = git_ai.parse(row["note"])
    assert found == {"a": {1: hashed("S1"), 12: hashed("S1"), 13: hashed("S1")}}
    assert facts["base_commit_sha"] == row["commit"] == oid
    agent = facts["sessions"][hashed("S1")]["agent_id"]
    assert agent == {"tool": "generic", "id": hashed("S1"), "model": "claude-opus-4-5"}


def test_a_note_leaves_nobodys_lines_out(repo: Repo) -> None:
    repo.edit("S1", "a", "s1\n" + TEN)
    repo.write("a", "s1\nhuman\n" + TEN)
    repo.commit("S1", "--whole-file", "--", "a")
    (row,) = _rows(repo, "--format", "git-ai")
    assert git_ai.parse(row["note"])[0] == {"a": {1: hashed("S1")}}


def test_a_note_tells_two_models_of_one_session_apart(repo: Repo) -> None:
    repo.edit("S1", "a", "1\n" + TEN, fields={"model": "gpt-5.5"})
    _made(repo, "S1", "a", "1\n2\n" + TEN, model="gpt-5.5-mini")
    (row,) = _rows(repo, "--format", "git-ai")
    found, facts = git_ai.parse(row["note"])
    models = [facts["sessions"][found["a"][n]]["agent_id"]["model"] for n in (1, 2)]
    assert models == ["gpt-5.5", "gpt-5.5-mini"]


@pytest.mark.parametrize("path", ['q"', "new\nline", "  two", "end ", "---"])
def test_a_path_that_git_ai_would_misread_is_left_out(path: str, repo: Repo) -> None:
    repo.edit("S1", path, "1\n")
    _made(repo, "S1", "with space", "1\n")
    (row,) = _rows(repo, "--format", "git-ai")
    assert set(git_ai.parse(row["note"])[0]) == {"with space"}


def test_notes_are_written_where_there_is_none(repo: Repo) -> None:
    first = _made(repo, "S1", "a", "1\n" + TEN)
    second = _made(repo, "S1", "a", "1\n2\n" + TEN)
    repo.git("notes", "--ref=refs/notes/ai", "add", "-m", "theirs", first)
    before = repo.git("status", "--porcelain")
    done = repo.ralph("export", "--format", "git-ai", "--write-notes")
    assert "1 note written to refs/notes/ai" in done.said
    assert [json.loads(line)["commit"] for line in done.text.splitlines()] == [second]
    assert repo.git("notes", "--ref=refs/notes/ai", "show", first).strip() == "theirs"
    written = repo.git("notes", "--ref=refs/notes/ai", "show", second)
    assert git_ai.parse(written)[0] == {"a": {2: hashed("S1")}}
    assert written.strip("\n") == json.loads(done.text)["note"].strip("\n")
    assert repo.git("status", "--porcelain") == before
    again = repo.ralph("export", "--format", "git-ai", "--write-notes")
    assert again.text == ""
    assert "0 notes written" in again.said


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 129, "--format"),
        (("--format", "xml"), 129, "xml"),
        (("--format", "agent-trace", "--write-notes"), 129, "goes with --format git-ai"),
        (("--format", "agent-trace", "nosuch"), 128, "'nosuch' names no commits"),
        (("--format", "agent-trace", "nosuch..HEAD"), 128, "'nosuch..HEAD' names no commits"),
    ],
)
def test_what_is_typed_wrong_is_said(words: tuple[str, ...], code: int, said: str, repo: Repo) -> None:
    assert said in repo.ralph("export", *words, code=code).said


def test_an_option_is_no_range(repo: Repo) -> None:
    repo.ralph("export", "--format", "agent-trace", "--", "--output=x", code=128)
    assert not repo.file("x").exists()

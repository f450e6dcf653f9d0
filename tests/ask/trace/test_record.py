"""A commit as an Agent Trace record: each line whose it is, unknown where nobody recorded it."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gitralph.ask.trace.agent_trace import Document, records
from gitralph.base.ids import hashed
from gitralph.git.context import Context, open_context
from tests.ask.trace import schema
from tests.support.repo import Repo
from tests.support.texts import TEN


@pytest.fixture
def ctx(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    monkeypatch.chdir(repo.root)
    found = open_context(repo.env)
    yield found
    found.repo.close()


def _record(ctx: Context, commit: str) -> Document | None:
    return next(records(ctx, [commit]), None)


def _of(ctx: Context, commit: str) -> Any:
    found = _record(ctx, commit)
    assert found is not None
    assert schema.breaches(found) == []
    json.dumps(found)
    return found


def _lines(found: Any) -> dict[str, dict[int, tuple[str, str | None, str | None]]]:
    """Path to line to contributor type, url and model."""
    out: dict[str, dict[int, tuple[str, str | None, str | None]]] = {}
    for file in found["files"]:
        rows = out.setdefault(file["path"], {})
        for one in file["conversations"]:
            who = one["contributor"]["type"], one.get("url"), one["contributor"].get("model_id")
            for span in one["ranges"]:
                for number in range(span["start_line"], span["end_line"] + 1):
                    assert number not in rows, "a line has two owners"
                    rows[number] = who
    return dict(out)


def _ai(session: str, model: str | None = None) -> tuple[str, str, str | None]:
    return "ai", f"urn:ralph:{hashed(session)}", model


def _commit(repo: Repo, session: str, *args: str) -> str:
    found = repo.commit(session, *args).commit
    assert found is not None
    return found


def test_a_commit_of_a_session_is_one_record(repo: Repo, ctx: Context) -> None:
    repo.edit("S1", "a", "one\n" + TEN, fields={"model": "claude-opus-4-5"})
    oid = _commit(repo, "S1", "-m", "x")
    found = _of(ctx, oid)
    assert (found["version"], found["vcs"]) == ("0.1.0", {"type": "git", "revision": oid})
    assert found["timestamp"].endswith("Z")
    assert _lines(found) == {"a": {1: _ai("S1", "anthropic/claude-opus-4-5")}}
    ours = found["metadata"]["io.gitralph"]
    assert (ours["session"], ours["agent"], ours["exact"]) == (hashed("S1"), "generic", True)
    assert ours["lines"] == {"a": sha256(b"one").hexdigest()[:8]}
    span = found["files"][0]["conversations"][0]["ranges"][0]
    assert span["content_hash"] == "sha256:" + sha256(b"one").hexdigest()[:16]


def test_the_same_commit_is_the_same_record(repo: Repo, ctx: Context) -> None:
    repo.edit("S1", "a", "one\n" + TEN)
    oid = _commit(repo, "S1")
    assert _record(ctx, oid) == _record(ctx, oid)


def test_a_range_is_hashed_without_its_last_newline(repo: Repo, ctx: Context) -> None:
    repo.edit("S1", "a", "p\nq\n" + TEN)
    span = _of(ctx, _commit(repo, "S1"))["files"][0]["conversations"][0]["ranges"][0]
    assert (span["start_line"], span["end_line"]) == (1, 2)
    assert span["content_hash"] == "sha256:" + sha256(b"p\nq").hexdigest()[:16]


def test_a_commit_of_nobody_has_no_record(repo: Repo, ctx: Context) -> None:
    assert _record(ctx, repo.head()) is None


def test_a_merge_has_no_record(repo: Repo, ctx: Context) -> None:
    base = repo.head()
    repo.edit("S1", "a", "one\n" + TEN)
    _commit(repo, "S1")
    repo.git("checkout", "-q", "-b", "side", base)
    repo.write("b", "side\n" + TEN)
    repo.commit_all("side")
    repo.git("merge", "-q", "--no-ff", "-m", "m\n\nRalph-Session: S1", "main")
    assert _record(ctx, repo.head()) is None


def test_others_lines_that_were_included_are_theirs_and_nobodys_are_unknown(repo: Repo, ctx: Context) -> None:
    repo.edit("S1", "a", "s1\n" + TEN, fields={"model": "gpt-5.5"})
    repo.edit("S2", "a", "s1\ns2\n" + TEN)
    repo.write("a", "s1\ns2\nhuman\n" + TEN)
    oid = _commit(repo, "S1", "--include-entangled", "--whole-file", "--", "a")
    assert _lines(_of(ctx, oid)) == {
        "a": {1: _ai("S1", "openai/gpt-5.5"), 2: _ai("S2"), 3: ("unknown", None, None)}
    }


def test_two_models_of_a_session_are_told_apart(repo: Repo, ctx: Context) -> None:
    repo.edit("S1", "a", "one\n" + TEN, fields={"model": "gpt-5.5"})
    repo.edit("S1", "a", "one\ntwo\n" + TEN, fields={"model": "gpt-5.5-mini"})
    oid = _commit(repo, "S1")
    assert _lines(_of(ctx, oid)) == {
        "a": {1: _ai("S1", "openai/gpt-5.5"), 2: _ai("S1", "openai/gpt-5.5-mini")}
    }


def test_a_human_who_amends_owns_what_they_added(repo: Repo, ctx: Context) -> None:
    """The trailer stays, the commit is another one: the content decides."""
    repo.edit("S1", "a", "one\n" + TEN)
    _commit(repo, "S1")
    repo.write("a", "one\nhuman\n" + TEN)
    repo.git("commit", "-q", "--amend", "--no-edit", "-a")
    found = _of(ctx, repo.head())
    assert _lines(found) == {"a": {1: _ai("S1"), 2: ("unknown", None, None)}}
    assert found["metadata"]["io.gitralph"]["exact"] is False
    assert found["metadata"]["io.gitralph"]["lines"] == {"a": sha256(b"one").hexdigest()[:8]}


def test_a_rebased_commit_keeps_its_lines(repo: Repo, ctx: Context) -> None:
    repo.git("checkout", "-q", "-b", "work")
    repo.edit("S1", "a", "one\n" + TEN)
    _commit(repo, "S1")
    repo.git("checkout", "-q", "main")
    repo.write("a", TEN + "human\n")
    repo.commit_all("other")
    repo.git("rebase", "-q", "main", "work")
    assert _lines(_of(ctx, repo.head())) == {"a": {1: _ai("S1")}}


def test_a_trailer_of_a_session_that_is_not_ours_makes_no_record(repo: Repo, ctx: Context) -> None:
    repo.write("a", "x\n" + TEN)
    repo.git("commit", "-q", "-a", "-m", "x\n\nRalph-Session: nosuch")
    assert _record(ctx, repo.head()) is None


def test_a_trailer_with_the_hash_of_a_session_means_it(repo: Repo, ctx: Context) -> None:
    repo.edit("S1", "a", "one\n" + TEN)
    repo.git("commit", "-q", "-a", "-m", f"x\n\nRalph-Session: {hashed('S1')}")
    assert _lines(_of(ctx, repo.head())) == {"a": {1: _ai("S1")}}


def test_renames_deletions_binaries_and_links_bring_no_lines_of_their_own(repo: Repo, ctx: Context) -> None:
    repo.rename("S1", "b", "c")
    repo.delete("S1", "u")
    repo.edit("S1", "bin", b"\0\1")
    repo.edit("S1", "a", "one\n" + TEN)
    assert _lines(_of(ctx, _commit(repo, "S1"))) == {"a": {1: _ai("S1")}}


@pytest.mark.parametrize("name", ["with space", 'q"uote', "new\nline", "\N{SNOWMAN}", "@@ -1 +1 @@"])
def test_odd_paths_are_told_as_they_are(name: str, repo: Repo, ctx: Context) -> None:
    repo.edit("S1", name, "one\n")
    assert _lines(_of(ctx, _commit(repo, "S1"))) == {name: {1: _ai("S1")}}


def test_a_path_that_is_not_utf8_is_quoted(repo: Repo, ctx: Context) -> None:
    repo.edit("S1", "\udcff", "one\n")
    assert _lines(_of(ctx, _commit(repo, "S1"))) == {'"\\377"': {1: _ai("S1")}}


def test_lines_that_look_like_a_patch_are_lines(repo: Repo, ctx: Context) -> None:
    text = "diff --git a/x b/x\n@@ -1 +1 @@\n:100644 100644 0 0 M\tx\n" + "0" * 40 + "\n"
    repo.edit("S1", "a", text)
    assert set(_lines(_of(ctx, _commit(repo, "S1")))["a"]) == {1, 2, 3, 4}


def test_many_commits_are_read_at_once_in_order(repo: Repo, ctx: Context) -> None:
    made = []
    for number in range(3):
        repo.edit("S1", "a", f"{number}\n" + (repo.read("a") or b"").decode())
        made.append(_commit(repo, "S1"))
    assert [one["vcs"] for one in records(ctx, made)] == [{"type": "git", "revision": oid} for oid in made]


def test_a_linked_worktrees_commit_is_read_with_its_own_records(repo: Repo, ctx: Context) -> None:
    other = repo.worktree("w1", "-b", "w1")
    other.edit("S1", "a", "one\n" + TEN, fields={"model": "gpt-5.5"})
    oid = _commit(other, "S1")
    assert _lines(_of(ctx, oid)) == {"a": {1: _ai("S1", "openai/gpt-5.5")}}


def test_nothing_but_the_allowed_is_in_a_record(repo: Repo, ctx: Context, tmp_path: Path) -> None:
    repo.edit(
        "canary-session", "a", "canary-text\n" + TEN, fields={"tool": "canary-tool", "call": "canary-call"}
    )
    told = json.dumps(_of(ctx, _commit(repo, "canary-session", "-m", "canary-subject")))
    assert "canary" not in told
    assert str(tmp_path) not in told

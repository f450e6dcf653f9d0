"""S4: ``why`` and ``blame`` on another clone name session, agent and model; foreign bytes decide nothing.

The logs are put in place here as a sync does: a record a line, as ``git ralph export`` prints them.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitralph.base.ids import hashed
from tests.support.repo import Repo
from tests.support.texts import TEN

WRITER = "0123456789abcdef"
S1, S2 = hashed("S1"), hashed("S2")
TWO = "second_line = compute(2)\n"


def joined(repo: Repo) -> Path:
    """The folder of the fleet, as after ``git ralph fleet join``."""
    folder = repo.state / "fleet"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fleet.json").write_text("{}\n")
    return folder


def published(repo: Repo) -> list[dict[str, Any]]:
    """The records of everything that the sessions of a clone committed."""
    return [json.loads(row) for row in repo.ralph("export", "--format", "agent-trace").text.splitlines()]


def received(repo: Repo, records: list[Any], writer: str = WRITER) -> None:
    """A member's log in another clone."""
    rows = [row if isinstance(row, str) else json.dumps(row) for row in records]
    (joined(repo) / f"{writer}.jsonl").write_text("".join(f"{row}\n" for row in rows))


def rows(repo: Repo, path: str = "a") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = repo.ralph("blame", "--json", path).json()["lines"]
    return found


def told(repo: Repo, path: str = "a") -> dict[int, tuple[Any, ...]]:
    """Line to session, agent, model and source, where there is any of them."""
    out = {}
    for row in rows(repo, path):
        said = row["session"], row["agent"], row["model"], row["source"]
        if any(said[:3]):
            out[row["line"]] = said
    return out


@pytest.fixture
def here(repo: Repo) -> Repo:
    """The clone where the work was done: S1 of Codex wrote line 1 of ``a``, in a fleet."""
    joined(repo)
    repo.start("S1", "--agent", "codex")
    repo.edit("S1", "a", TWO + TEN, fields={"model": "gpt-5.5"})
    repo.commit("S1", "-m", "work")
    return repo


@pytest.fixture
def there(here: Repo, make_repo: Callable[[str], Repo]) -> Repo:
    """Another clone of the same commits, with no record of its own."""
    other = make_repo("there")
    other.git("fetch", "-q", str(here.root), "main")
    other.git("reset", "-q", "--hard", "FETCH_HEAD")
    return other


def moved(here: Repo, there: Repo) -> None:
    """What the first clone has now, in the second."""
    there.git("fetch", "-q", str(here.root), "HEAD")
    there.git("reset", "-q", "--hard", "FETCH_HEAD")


def test_without_a_log_the_message_alone_is_believed(here: Repo, there: Repo) -> None:
    assert told(there) == {1: (S1, "codex", None, "message")}


def test_a_members_log_names_session_agent_and_model(here: Repo, there: Repo) -> None:
    received(there, published(here))
    assert told(there) == {1: (S1, "codex", "openai/gpt-5.5", "fleet")}
    row = rows(there)[0]
    assert row["writer"] == WRITER
    assert row["synced"] > 0
    said = there.ralph("why", "a:1").text
    assert f"session '{S1}', agent codex, model openai/gpt-5.5" in said
    assert f"(fleet log of member {WRITER}, synced just now)" in said


def test_the_clone_itself_answers_from_its_records(here: Repo) -> None:
    received(here, published(here))
    assert told(here) == {1: ("S1", "codex", "gpt-5.5", "records")}


def test_a_line_that_the_log_gives_to_nobody_is_nobodys(here: Repo, there: Repo) -> None:
    here.edit("S1", "b", "s1 wrote this\n" + TEN)
    here.write("b", "s1 wrote this\na person wrote this\n" + TEN)
    here.commit("S1", "--whole-file", "--", "b")
    moved(here, there)
    received(there, published(here))
    assert told(there, "b") == {1: (S1, "codex", None, "fleet")}


def test_it_survives_a_rebase(here: Repo, there: Repo) -> None:
    received(there, published(here))
    there.git("checkout", "-q", "-b", "side", "HEAD~1")
    there.write("u", "other\n")
    there.commit_all("other")
    there.git("rebase", "-q", "side", "main")
    assert told(there) == {1: (S1, "codex", "openai/gpt-5.5", "fleet-content")}


@pytest.mark.parametrize("kept", [True, False])
def test_it_survives_a_squash(kept: bool, here: Repo, there: Repo) -> None:
    """Two sessions' commits in one, their messages in its body or lost."""
    here.start("S2", "--agent", "gemini")
    here.edit("S2", "a", TWO + TEN + "another_line = 11\n}\n", fields={"model": "gemini-3"})
    here.commit("S2", "-m", "more")
    moved(here, there)
    received(there, published(here))
    top = there.head()
    there.git("reset", "-q", "--hard", "HEAD~2")
    there.git("merge", "-q", "--squash", top)
    there.git("commit", "-q", *(["--no-edit"] if kept else ["-m", "squashed"]))
    assert told(there) == {
        1: (S1, "codex", "openai/gpt-5.5", "fleet-content"),
        12: (S2, "gemini", "google/gemini-3", "fleet-content"),
        13: (S2, "gemini", "google/gemini-3", "fleet-content"),
    }


def test_a_person_who_writes_the_same_line_elsewhere_is_not_taken_for_the_session(
    here: Repo, there: Repo
) -> None:
    """The commit that the log tells of is in the history: its line is there, and no other."""
    received(there, published(here))
    there.write("a", TWO + TEN + TWO)
    there.commit_all("by hand")
    assert told(there) == {1: (S1, "codex", "openai/gpt-5.5", "fleet")}


def test_a_line_that_says_little_alone_is_not_followed(here: Repo, there: Repo) -> None:
    here.edit("S1", "b", "}\n" + TEN)
    here.commit("S1", "-m", "brace")
    received(there, published(here))
    there.write("b", "}\n" + TEN)
    there.commit_all("by hand")
    assert told(there, "b") == {}


def test_a_log_does_not_outrank_the_message(here: Repo, there: Repo) -> None:
    """A member who claims another's commit, for a session that its message does not name."""
    (record,) = published(here)
    forged = json.loads(json.dumps(record).replace(S1, S2))
    received(there, [forged])
    assert told(there) == {1: (S1, "codex", None, "message")}


def test_two_members_who_claim_a_commit_without_a_message_are_not_believed(here: Repo, there: Repo) -> None:
    (record,) = published(here)
    there.git("commit", "-q", "--amend", "-m", "no trailer")
    record["vcs"]["revision"] = there.head()
    received(there, [record])
    assert told(there) == {1: (S1, "codex", "openai/gpt-5.5", "fleet")}
    received(there, [json.loads(json.dumps(record).replace(S1, S2))], "fedcba9876543210")
    assert told(there) == {}


@pytest.mark.parametrize(
    "row",
    [
        "",
        "\x00",
        "[]",
        "{}",
        '"x"',
        "{" * 5000,
        '{"vcs": {"revision": 1}}',
        '{"vcs": {"revision": "COMMIT"}, "metadata": {"io.gitralph": {"session": "S1"}}}',
        '{"vcs": {"revision": "COMMIT"}, "metadata": {"io.gitralph": {"session": "s_00000000000000"}},'
        ' "files": [{"path": "a", "conversations": [{"url": "urn:ralph:s_00000000000000",'
        ' "contributor": {"type": "ai", "model_id": "m"}, "ranges": [{"start_line": 1, "end_line": 1}]}]}]}',
        '{"vcs": {"revision": "COMMIT"}, "metadata": {"io.gitralph": {"session": "SESSION", "agent": 7}},'
        ' "files": [{"path": "a", "conversations": [{"url": "urn:x:evil", "ranges": [{"start_line": -1}]},'
        ' 4, {"url": "urn:ralph:SESSION", "ranges": [{"start_line": 2, "end_line": 1}]}]}, 9]}',
    ],
)
def test_hostile_rows_say_nothing(row: str, here: Repo, there: Repo) -> None:
    received(there, [row.replace("COMMIT", there.head()).replace("SESSION", S1)])
    assert told(there) == {1: (S1, "codex", None, "message")}


def test_hostile_words_are_not_shown(here: Repo, there: Repo) -> None:
    (record,) = published(here)
    record["metadata"]["io.gitralph"]["agent"] = "\x1b[2Jevil\nmore"
    record["files"][0]["conversations"][0]["contributor"]["model_id"] = "x" * 9999
    received(there, [record])
    assert told(there) == {1: (S1, None, None, "fleet")}


def test_a_foreign_record_decides_no_commit(here: Repo, there: Repo) -> None:
    """A log that claims the whole file for S9: what a commit takes is what it took without it."""
    (record,) = published(here)
    span = {"start_line": 1, "end_line": 11}
    claimed = json.loads(json.dumps(record).replace(S1, hashed("S9")))
    claimed["files"][0]["conversations"][0]["ranges"] = [span]
    received(there, [claimed])
    there.edit("S2", "a", (there.read("a") or b"").decode().replace("line 3\n", "three\n"))
    assert there.commit("S2").paths == {"a": "M"}
    assert there.owners() == {}


def test_a_repository_outside_the_fleet_reads_no_log(here: Repo, there: Repo) -> None:
    received(there, published(here))
    (there.state / "fleet" / "fleet.json").unlink()
    assert told(there) == {1: (S1, "codex", None, "message")}


def test_git_ais_note_answers_last_and_says_so(repo: Repo) -> None:
    repo.write("a", "x\ny\n" + TEN)
    oid = repo.commit_all("by another tool")
    facts = {
        "schema_version": "authorship/3.0.0",
        "base_commit_sha": oid,
        "prompts": {},
        "sessions": {"s_00000000000000": {"agent_id": {"tool": "cursor", "id": "1", "model": "m-1"}}},
        "humans": {"h_00000000000000": {"author": "A"}},
    }
    note = "a\n  s_00000000000000::t_00000000000000 1\n  h_00000000000000 2\n---\n" + json.dumps(facts)
    repo.git("notes", "--ref=refs/notes/ai", "add", "-F", "-", oid, stdin=note.encode())
    assert told(repo) == {1: (None, "cursor", "m-1", "git-ai")}
    assert "agent cursor, model m-1" in repo.ralph("why", "a:1").text
    assert "(by git-ai's note)" in repo.ralph("why", "a:1").text
    assert " cursor (git-ai) " in repo.ralph("blame", "a").text


@pytest.mark.parametrize(
    "note", [b"", b"---\n", b"a\n  s 1\n---\n{", b"a\n  k 1-\n---\n[]", b"\xff\n---\n{}"]
)
def test_a_note_that_is_none_says_nothing(note: bytes, repo: Repo) -> None:
    repo.write("a", "x\n" + TEN)
    oid = repo.commit_all("plain")
    blob = repo.git("hash-object", "-w", "--stdin", stdin=note)
    repo.git("notes", "--ref=refs/notes/ai", "add", "--allow-empty", "-C", blob, oid)
    assert told(repo) == {}

"""What commit and status answer, as text and as JSON."""

from pathlib import Path

import pytest

from tests.support.repo import Repo

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")
REASONS = {
    "entangled",
    "contested",
    "unanchored",
    "stale",
    "ignored",
    "outside",
    "submodule",
    "unmerged",
    "unchanged",
    "gone",
    "filtered",
    "too-large",
    "shell",
}
TOP = {"status", "commit", "ref", "session", "name", "paths", "left", "notes"}


def test_json_of_a_commit(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.edit("S1", "n", "new\n")
    repo.delete("S1", "e/b")
    repo.write(".gitignore", "ignored\n")
    repo.edit("S1", "ignored", "x\n")
    document = repo.commit("S1").document
    assert set(document) == TOP
    assert document["status"] == "committed"
    assert document["commit"] == repo.head()
    assert document["ref"] == "refs/heads/main"
    assert document["session"] == "S1"
    assert document["paths"] == [
        {"path": "a", "change": "M", "how": "edits"},
        {"path": "e/b", "change": "D", "how": "edits"},
        {"path": "n", "change": "A", "how": "edits"},
    ]
    (left,) = document["left"]
    assert set(left) == {"path", "reason", "sessions", "names", "lines", "detail"}
    assert (left["path"], left["reason"]) == ("ignored", "ignored")
    assert left["reason"] in REASONS


def test_json_of_nothing_and_of_a_dry_run(repo: Repo) -> None:
    repo.start("S1")
    document = repo.commit("S1").document
    assert set(document) == TOP
    assert (document["status"], document["commit"], document["paths"]) == ("nothing", None, [])
    repo.edit("S1", "a", MINE)
    head = repo.head()
    document = repo.commit("S1", "--dry-run").document
    assert set(document) == TOP
    assert (document["status"], document["commit"]) == ("dry-run", None)
    assert document["paths"] == [{"path": "a", "change": "M", "how": "edits"}]
    assert repo.head() == head


def test_json_of_a_refusal(repo: Repo) -> None:
    repo.file("a").unlink()
    repo.edit("S1", "bin", b"\0one")
    repo.edit("S2", "bin", b"\0one and two")
    answer = repo.commit("S1", code=4)
    (left,) = answer.document["left"]
    assert left["path"] == "bin"
    assert left["reason"] in REASONS
    assert left["sessions"] == ["S2"]
    assert left["detail"]


@pytest.mark.parametrize("json", [True, False])
@pytest.mark.parametrize("kind", ["busy", "fatal", "usage", "ambiguous", "operation"])
def test_a_failure_prints_nothing_or_one_document(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, kind: str, json: bool
) -> None:
    from gitralph.commit import land

    monkeypatch.setattr(land, "WAIT", 0.1)
    repo.edit("S1", "a", MINE)
    args, code = ["--session", "S1"], {"busy": 75, "fatal": 128, "usage": 129}.get(kind, 4)
    if kind == "busy":
        (repo.root / ".git/index.lock").touch()
    elif kind == "fatal":
        (repo.root / ".git/index").write_bytes(b"broken")
    elif kind == "usage":
        args = ["--whole-file", *args]
    elif kind == "ambiguous":
        repo.edit("S2", "b", MINE)
        args = []
    else:
        (repo.root / ".git/MERGE_HEAD").write_text(repo.head())
    done = repo.run("commit", "-m", "x", *args, *(["--json"] if json else []))
    assert done.code == code
    assert done.said.split(": ")[0] == ("fatal" if kind == "fatal" else "error")
    if json and kind != "usage":  # a command line that cannot be read has no form to answer in
        assert set(done.json()) == TOP
        assert done.json()["status"] == "refused"
        assert done.json()["notes"]
    else:
        assert done.out == b""


def test_stable_lines_of_a_commit(repo: Repo) -> None:
    repo.edit("S1", 'odd"\n', "x\n")
    repo.edit("S1", "a", MINE)
    done = repo.ralph("commit", "--session", "S1", "-m", "x", "--porcelain", "--dry-run")
    assert done.text == 'dry-run -\nM edits a\nA edits "odd\\"\\n"\n'
    done = repo.ralph("commit", "--session", "S1", "-m", "x", "-z")
    assert done.text == f'committed {repo.head()}\0M edits a\0A edits odd"\n\0'


def test_quiet_says_nothing(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    done = repo.ralph("commit", "--session", "S1", "-m", "x", "-q")
    assert (done.out, done.err) == (b"", b"")


def test_json_of_names_that_are_no_utf8(repo: Repo) -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    repo.write(name, "x\n")
    repo.ralph("track", "--session", "S1", "--", name)
    document = repo.commit("S1").document
    assert document["paths"] == [{"path": "caf\udce9", "change": "A", "how": "whole-file"}]


def _everything(repo: Repo) -> dict[str, str]:
    repo.edit("S1", "a", MINE)
    repo.edit("S2", "b", MINE)
    repo.edit("S1", "d/a", TEN + "S1\n")
    repo.edit("S2", "d/a", TEN + "S1\nS2\n")
    repo.write("u", "the user's\n")
    repo.write("new folder/x", "untracked\n")
    repo.git("rm", "-q", "e/b")
    return {
        "a": "mine",
        "b": "other",
        "d/a": "contested",
        "u": "nobody",
        "new folder/x": "nobody",
        "e/b": "nobody",
    }


def test_status_has_every_uncommitted_path_once(repo: Repo) -> None:
    """With its owner and its sessions."""
    expected = _everything(repo)
    assert repo.owners("S1") == expected
    rows = {row["path"]: row for row in repo.ralph("status", "--json", "--session", "S1").json()["paths"]}
    assert rows["a"]["sessions"] == ["S1"]
    assert rows["b"]["sessions"] == ["S2"]
    assert rows["d/a"]["sessions"] == ["S1", "S2"]
    assert rows["u"]["sessions"] == []


def test_json_of_status(repo: Repo) -> None:
    _everything(repo)
    document = repo.ralph("status", "--json", "--session", "S1").json()
    assert set(document) == {"session", "paths", "sessions"}
    assert document["session"] == "S1"
    assert {row["id"] for row in document["sessions"]} == {"S1", "S2"}
    assert repo.ralph("status", "--json").json()["session"] is None


def test_status_in_a_subdirectory_and_with_z_agree(repo: Repo, tmp_path: Path) -> None:
    expected = _everything(repo)
    for cwd in (".", "d", "new folder"):
        text = repo.ralph("status", "--session", "S1", "-z", cwd=cwd).text
        rows = [row.split(" ", 2) for row in text.split("\0")[:-1]]
        assert {path: owner for owner, _, path in rows} == expected
        lines = repo.ralph("status", "--session", "S1", "--porcelain", cwd=cwd).text.splitlines()
        assert len(lines) == len(expected)
    done = repo.ralph("-C", str(repo.root), "status", "--session", "S1", "--json", cwd=tmp_path)
    assert {row["path"]: row["owner"] for row in done.json()["paths"]} == expected


def test_pathlike_output_of_status_holds_no_raw_control_byte(repo: Repo) -> None:
    repo.edit("S1", "\x1b[31mred\u202e", "x\n")
    for args in (
        ["status"],
        ["status", "--session", "S1"],
        ["ls-files"],
        ["commit", "--session", "S1", "-m", "x"],
    ):
        done = repo.ralph(*args)
        assert "\x1b" not in done.text + done.said
        assert "\u202e" not in done.text + done.said


def test_status_contests_a_file_the_user_changed_after_the_session(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.write("a", MINE + "the user's\n")
    assert repo.owners("S1") == {"a": "contested"}


def test_status_of_a_clean_tree(repo: Repo) -> None:
    repo.start("S1")
    assert repo.owners("S1") == {}
    assert repo.ralph("status").text == "nothing uncommitted\n"


def test_a_plan_that_is_not_there_is_said_before_an_agent_that_is_not_named(repo: Repo) -> None:
    said = repo.ralph("run", "nope.md", code=128).said
    assert "nope.md" in said
    assert "agent" not in said

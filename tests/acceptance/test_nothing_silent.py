"""What cannot be recorded leaves a line: events for a git dir, manifest lines that name no path of ours."""

from pathlib import Path

import pytest

from tests.support import payloads
from tests.support.repo import Repo
from tests.support.texts import changed


def _log(repo: Repo) -> str:
    path = repo.state / "hooks.log"
    return path.read_text() if path.exists() else ""


FORBIDDEN = [".git/config", ".git/hooks/pre-commit", ".GIT/x", "d/.git/x", "git~1/x", ".g\u200cit/x"]


@pytest.mark.parametrize("path", FORBIDDEN)
def test_an_event_for_a_path_inside_a_git_dir_is_logged(repo: Repo, path: str) -> None:
    repo.start("S1")
    repo.hook("generic", payloads.edit("S1", str(repo.root), path, None, "x\n"))
    [line] = _log(repo).splitlines()
    assert "generic: not recorded: '" in line
    assert line.isascii()
    assert repo.pending("S1") == []


def test_without_a_state_folder_it_is_said_on_stderr(repo: Repo) -> None:
    done = repo.hook("generic", payloads.edit("S1", str(repo.root), ".git/config", None, "x\n"))
    assert "warning: git ralph hook: not recorded: '.git/config'" in done.said
    assert not repo.state.exists()


def test_it_is_logged_once_for_the_events_of_one_call(repo: Repo) -> None:
    repo.start("S1")
    event = payloads.claude_write("S1", str(repo.root), str(repo.file(".git/config")), "old\n", "new\n")
    repo.hook("claude-code", payloads.claude_pre(event))
    repo.hook("claude-code", event)
    assert len(_log(repo).splitlines()) == 1


def test_the_other_paths_of_the_event_are_recorded_all_the_same(repo: Repo) -> None:
    repo.start("S1")
    repo.rename("S1", "a", ".git/a")
    assert "not recorded: '.git/a'" in _log(repo)
    assert repo.pending("S1") == ["a"]


def test_an_event_outside_of_any_repository_is_nobodys_business(repo: Repo, tmp_path: Path) -> None:
    repo.start("S1")
    repo.edit("S1", str(tmp_path / "beside"), "text\n")
    assert _log(repo) == ""


# --- manifest lines ---


def _manifest(repo: Repo, *lines: bytes) -> None:
    with (repo.state / "S1.files").open("ab") as file:
        file.write(b"\n".join(lines) + b"\n")


@pytest.mark.parametrize("command", [["commit", "--session", "S1", "-m", "x"], ["status"], ["ls-files"]])
def test_manifest_lines_that_lead_outside_are_said(repo: Repo, command: list[str]) -> None:
    repo.start("S1")
    repo.write("f", "text\n")
    _manifest(repo, b"f", b"../x", b"/etc/passwd", b".git/config")
    said = repo.ralph(*command).said
    for number, path in ((2, "../x"), (3, "/etc/passwd"), (4, ".git/config")):
        words = f"'S1.files' line {number} names '{path}', no path of this worktree; passed over"
        assert f"warning: {words}\n" in said


def test_they_are_said_until_a_commit_has_read_past_them(repo: Repo) -> None:
    repo.start("S1")
    repo.write("f", "text\n")
    _manifest(repo, b"../x", b"f")
    assert "warning" in repo.commit("S1").notes
    assert "../x" not in repo.ralph("status").said
    _manifest(repo, b"../y")
    said = repo.ralph("status").said
    assert ("../x" in said, "line 3 names '../y'" in said) == (False, True)


def test_many_are_counted(repo: Repo) -> None:
    repo.start("S1")
    _manifest(repo, *[b"../%d" % n for n in range(50)])
    said = repo.ralph("status").said
    assert said.count("warning: ") == 6
    assert "45 more lines of 'S1.files' name no path of this worktree" in said


def test_a_fine_manifest_says_nothing(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    assert repo.ralph("status").said == ""


# --- what people read ---


@pytest.mark.parametrize("char", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u202e", "\u00ad", "\U000e0041"])
def test_no_invisible_character_reaches_a_person(repo: Repo, char: str) -> None:
    """Human output never carries a raw control or bidi character, nor one that takes no room."""
    path = f"a{char}b"
    repo.git("config", "core.quotePath", "false")
    repo.edit("S1", path, "text\n")
    said = [
        repo.ralph("status"),
        repo.ralph("session", "show", "S1"),
        repo.ralph("commit", "-m", f"x{char}y"),
    ]
    said.append(repo.ralph("why", path))
    said.append(repo.ralph("commit", "--session", "S1", "--", f"no{char}such", code=128))
    for done in said:
        assert char not in done.text + done.said
    assert repo.changes() == {path: "A"}


@pytest.mark.parametrize("path", ["", "a\0b"], ids=["empty", "NUL"])
def test_an_edit_of_a_path_that_can_be_none_is_logged(repo: Repo, path: str) -> None:
    repo.edit("S1", "a", "of one\n")
    event = {"session": "S1", "cwd": str(repo.root), "event": "edit", "path": path, "after": "text\n"}
    repo.hook("generic", event)
    assert "empty or impossible path" in (repo.state / "hooks.log").read_text()
    assert repo.pending("S1") == ["a"]


def test_a_claim_of_a_path_that_is_nowhere_is_said(repo: Repo) -> None:
    """It was most likely misspelt. What HEAD or the index has is a deletion, and no word is lost on it."""
    repo.remove("b")
    repo.write("n", "new\n")
    repo.git("add", "n")
    repo.remove("n")
    said = repo.ralph("track", "--session", "S1", "--", "nowhere", "b", "n").said
    assert (
        said == "warning: 'nowhere' is neither on disk nor in HEAD nor in the index; claimed all the same\n"
    )
    assert repo.pending("S1") == ["b"]
    repo.write("nowhere", "there now\n")
    assert repo.pending("S1") == ["b", "nowhere"]


def test_an_unknown_state_format_is_shown_without_its_control_characters(repo: Repo) -> None:
    repo.edit("S1", "a", "of one\n")
    (repo.state / "format").write_bytes(b"9\n\x1b[31mfatal: all is lost\n")
    said = repo.ralph("status", code=128).said
    assert "\x1b" not in said
    assert [row for row in said.splitlines() if row.startswith("fatal: all")] == []
    assert "state format '9\\n\\x1b[31mfatal" in said or "state format '9\\n\\033[31mfatal" in said

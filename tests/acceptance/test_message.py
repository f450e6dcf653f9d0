"""The message, its trailers and the editor."""

from pathlib import Path

import pytest

from tests.support.checks import snapshot
from tests.support.repo import Repo

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")
SESSION = "Ralph-Session: S1\nRalph-Agent: generic"


def _message(repo: Repo) -> str:
    return repo.git("log", "-1", "--format=%B").rstrip("\n")


def _refused(repo: Repo, code: int, *args: str, pending: tuple[str, ...] = ("a",)) -> str:
    """A commit that fails: HEAD, index and records stay as they were."""
    before = snapshot(repo)
    done = repo.ralph("commit", "--session", "S1", *(args or ("-m", "x")), code=code)
    after = snapshot(repo)
    assert (after.refs, after.logs, after.index) == (before.refs, before.logs, before.index)
    assert after.records == before.records
    assert after.tree == before.tree
    assert repo.pending("S1") == list(pending)
    return done.said


def _who(repo: Repo) -> str:
    return repo.git("log", "-1", "--format=%an <%ae> / %cn <%ce>")


def test_messages_are_paragraphs(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1", "-m", "subject", "-m", "body  \n\n\n\nmore")
    assert _message(repo) == f"subject\n\nbody\n\nmore\n\n{SESSION}"


def test_message_from_standard_input_and_a_file(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1", "-F", "-", stdin=b"from stdin\n# kept, as git keeps it\n")
    assert _message(repo) == f"from stdin\n# kept, as git keeps it\n\n{SESSION}"
    repo.write("d/message", "from a file\n")
    repo.edit("S1", "b", MINE)
    repo.commit("S1", "-F", "message", cwd="d")
    assert _message(repo) == f"from a file\n\n{SESSION}"


def test_trailers_name_session_plan_and_agent(repo: Repo) -> None:
    repo.start("S1", "--plan", "plan.md", "--task", "3", "--bead", "ralph-loop-7jf", "--agent", "pi")
    repo.edit("S1", "a", MINE)
    repo.commit("S1", "-m", "x", "--trailer", "Fixes: #1", "--trailer", "Signed-off-by: A <a@b>")
    assert repo.trailers() == (
        "Fixes: #1\nSigned-off-by: A <a@b>\nRalph-Session: S1\nRalph-Plan: plan.md\nRalph-Task: 3\n"
        "Ralph-Bead: ralph-loop-7jf\nRalph-Agent: pi"
    )


def test_trailers_join_those_of_the_message(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1", "-m", "x\n\nReviewed-by: R\nRalph-Session: S1")
    assert repo.trailers() == f"Reviewed-by: R\n{SESSION}"


def test_author_is_as_given(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1", "--author", "Other One <o@example.com>")
    assert _who(repo) == "Other One <o@example.com> / A U Thor <author@example.com>"
    repo.edit("S1", "a", TEN)
    repo.commit("S1", "--author", "other one")
    assert _who(repo) == "Other One <o@example.com> / A U Thor <author@example.com>"
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x", "--author", "nobody like that", code=129)


def test_message_in_the_commit_encoding(repo: Repo) -> None:
    repo.git("config", "i18n.commitEncoding", "ISO-8859-1")
    repo.edit("S1", "a", MINE)
    repo.commit("S1", "-F", "-", stdin="Grüße\n".encode("latin-1"))
    raw = repo.git_bytes("cat-file", "commit", "HEAD")
    assert b"\nencoding ISO-8859-1\n" in raw
    assert "Grüße".encode("latin-1") in raw
    assert repo.git("-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--format=%s") == "Grüße"


def _editor(tmp_path: Path, script: str) -> dict[str, str | None]:
    path = tmp_path / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"GIT_EDITOR": str(path)}


def test_editor_is_opened_as_git_does(repo: Repo, tmp_path: Path) -> None:
    env = _editor(tmp_path, f"cp \"$1\" '{tmp_path}/shown'; sed -i '1s/.*/edited/' \"$1\"")
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x", "-e", env=env)
    assert _message(repo) == f"edited\n\n{SESSION}"
    shown = (tmp_path / "shown").read_text()
    assert shown.startswith(f"x\n\n{SESSION}\n")
    assert "#\tM\ta" in shown


@pytest.mark.parametrize("mode", ["strip", "scissors", "whitespace", "verbatim"])
@pytest.mark.parametrize("who", [["--session", "S1"], ["--mine"]], ids=["session", "person"])
def test_the_editor_shows_the_template_and_the_patch_as_git_does(
    repo: Repo, tmp_path: Path, who: list[str], mode: str
) -> None:
    repo.git("config", "commit.verbose", "true")
    repo.git("config", "commit.cleanup", mode)
    (tmp_path / "tpl").write_text("subject\n\n# why\nWhy: \n")
    repo.git("config", "commit.template", str(tmp_path / "tpl"))
    hook = repo.root / ".git/hooks/prepare-commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho \"$2\" > '{tmp_path}/source'\n")
    hook.chmod(0o755)
    env = _editor(tmp_path, f"cp \"$1\" '{tmp_path}/shown'; sed -i '1s/.*/edited/' \"$1\"")
    repo.edit("S1", "a", MINE)
    repo.write("b", "a person's\n")
    repo.ralph("commit", *who, "-e", env=env)
    shown = (tmp_path / "shown").read_text()
    assert shown.startswith("subject\n\n# why\n")
    assert "\n# ------------------------ >8 ------------------------\n" in shown
    assert ("+line nine" if who[0] == "--session" else "+a person's") in shown
    assert (tmp_path / "source").read_text() == "template\n"
    kept = "" if mode == "strip" else "# why\n"
    said = repo.git("log", "-1", "--format=%B").rstrip("\n")
    assert said.startswith(f"edited\n\n{kept}Why:")
    assert ">8" not in said
    assert "+++" not in said
    assert said.endswith(SESSION) == (who[0] == "--session")


def test_a_template_that_nobody_edited_makes_no_commit(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "tpl").write_text("subject\n")
    repo.git("config", "commit.template", str(tmp_path / "tpl"))
    repo.edit("S1", "a", MINE)
    head = repo.head()
    said = repo.ralph("commit", "--session", "S1", "-e", env=_editor(tmp_path, ":"), code=1).said
    assert "the message is the template as it was; nothing was committed" in said
    repo.git("config", "commit.template", str(tmp_path / "none"))
    said = repo.ralph("commit", "--session", "S1", "-e", env=_editor(tmp_path, ":"), code=1).said
    assert "could not read" in said
    assert repo.head() == head
    repo.commit("S1", "-m", "x")


ABORTED = {
    "empty": ': > "$1"',
    "failed": "exit 1",
    "only comments": "printf '# only comments\\n' > \"$1\"",
    "only our trailers": "printf 'Ralph-Session: S1\\nRalph-Agent: generic\\n' > \"$1\"",
}


@pytest.mark.parametrize("script", ABORTED.values(), ids=ABORTED)
def test_an_empty_or_aborted_editor_makes_no_commit(repo: Repo, tmp_path: Path, script: str) -> None:
    repo.edit("S1", "a", MINE)
    env = _editor(tmp_path, script)
    head = repo.head()
    repo.ralph("commit", "--session", "S1", "-m", "x", "-e", env=env, code=1)
    assert repo.head() == head
    assert repo.pending("S1") == ["a"]


def test_an_empty_message_makes_no_commit(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    _refused(repo, 1, "-m", "  \n")


def test_a_nul_in_the_message_is_refused(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    done = repo.ralph("commit", "--session", "S1", "-F", "-", stdin=b"a\0b\n", code=129)
    assert "NUL" in done.said


PLAN = "# Plan\n- [x] first\n- [ ] second: do it\n```\n- [ ] not a task\n```\n* [ ] third\n"


@pytest.mark.parametrize(
    ("start", "subject"),
    [
        (["--plan", "plan.md", "--task", "2"], "Task 2/3: second: do it"),
        (["--plan", "gone.md", "--task", "2"], "Task 2"),
        (["--bead", "ralph-loop-7jf"], "ralph-loop-7jf"),
        ([], "Update a"),
    ],
)
def test_subject_without_a_message(repo: Repo, start: list[str], subject: str) -> None:
    repo.write("plan.md", PLAN)
    repo.start("S1", *start)
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1")
    assert subject in repo.git("log", "-1", "--format=%s")

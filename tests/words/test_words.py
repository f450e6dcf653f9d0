"""What is said to a typo: what was meant perhaps, and what to type next."""

import pytest

from tests.support import terminal
from tests.support.repo import Repo
from tests.support.texts import changed


@pytest.mark.parametrize(
    ("typed", "said", "hint"),
    [
        (["statsu"], "'statsu' is not a git ralph command; did you mean 'status'?", "git ralph -h"),
        (["xyzzy"], "'xyzzy' is not a git ralph command", "git ralph -h"),
        (
            ["commit", "--sesion", "x"],
            "unknown option '--sesion'; did you mean '--session'?",
            "git ralph commit -h",
        ),
        (["commit", "-Z"], "unknown option '-Z'", "git ralph commit -h"),
        (
            ["session", "lst"],
            "'lst' is not a command of 'git ralph session'; did you mean 'list'?",
            "git ralph session -h",
        ),
        (["emit"], None, "git ralph emit -h"),
        (
            ["run", "lst"],
            "'lst' is no plan and not a command of 'git ralph run'; did you mean 'list'?",
            "git ralph run -h",
        ),
        (
            ["run", "log"],
            "'log' is no plan and not a command of 'git ralph run'; did you mean 'logs'?",
            "git ralph run -h",
        ),
        (["why", "one-line:3"], "'one-line' has 1 line; there is no line 3", "git ralph blame -- one-line"),
    ],
)
def test_a_typo_is_told_with_what_was_meant_and_the_next_command(
    repo: Repo, typed: list[str], said: str | None, hint: str
) -> None:
    repo.write("one-line", "1\n")
    done = repo.ralph(*typed, code=129)
    rows = done.said.splitlines()
    assert said is None or rows[0] == f"error: {said}"
    assert rows[-1] == f"hint: {hint}"
    repo.ralph(*hint.split()[2:])


@pytest.mark.parametrize("words", [["commit"], ["session", "list"], ["-C", ".", "status"]])
def test_help_is_the_manual_page_and_h_is_short(repo: Repo, words: list[str]) -> None:
    command = next(word for word in words if word not in ("-C", "."))
    page = repo.ralph(*words, "--help").text
    assert page == repo.ralph("help", command).text
    assert repo.ralph(*words, "-h").text.startswith("Usage: git ralph ")


def test_help_after_other_words_is_the_usage_of_the_command(repo: Repo) -> None:
    assert repo.ralph("commit", "-q", "--help").text.startswith("Usage: ")


def test_a_person_at_a_terminal_writes_the_message_and_an_agent_gets_one(repo: Repo) -> None:
    editor = {"GIT_EDITOR": "printf 'Typed by hand\\n' >"}
    repo.edit("S1", "a", changed())
    said = terminal.git_ralph(repo, "commit", env=editor)
    assert "Typed by hand" in said
    repo.edit("S1", "b", changed())
    terminal.git_ralph(repo, "commit", env={**editor, "CLAUDE_CODE_SESSION_ID": "S1"})
    assert "Typed by hand" not in repo.git("log", "-1", "--format=%s")
    assert repo.changes() == {"b": "M"}


def test_install_at_a_terminal_offers_guard_and_instructions(repo: Repo) -> None:
    said = _answering(repo, "y", "y")
    assert "guard: installed in" in said
    assert "instructions: installed in" in said
    assert said.rstrip().splitlines()[-1].startswith("hint: try it: git ralph doctor")
    assert repo.git("config", "ralph.guard") == "narrow"
    assert b"git ralph commit" in (repo.read("CLAUDE.md") or b"")


def test_no_and_the_end_of_input_install_the_hooks_alone(repo: Repo) -> None:
    _answering(repo, "n", "")
    assert repo.read("CLAUDE.md") is None
    assert not repo.file(".git/hooks/pre-commit").exists()


def _answering(repo: Repo, *answers: str) -> str:
    session = terminal.Session(repo, "install", "--project", "--agent", "claude-code")
    try:
        for answer in answers:
            session.until("? [y/N] ", len(session.said))
            session.type(answer + "\n")
        assert session.end() == 0
        return session.said
    finally:
        session.close()

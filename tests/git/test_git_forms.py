"""Which forms of git's commands are used: the quick ones, whatever the size of the index.

`git diff <commit> -- <path>` and `git diff-index <commit> -- <path>` take seconds at 100,000 files where the
path sorts early, and many paths by name are compared with every entry of the index.
"""

import json
from pathlib import Path

import pytest

from tests.support.repo import Repo
from tests.support.texts import changed

READING = (
    ("status",),
    ("status", "--json"),
    ("status", "a"),
    ("status", "--session", "S2"),
    ("diff",),
    ("diff", "--session", "S1", "a"),
    ("diff", "--nobody"),
    ("why", "a"),
    ("why", "a:3"),
    ("blame", "a"),
    ("log",),
    ("log", "-p"),
    ("log", "--", "a"),
    ("ls-files", "--session", "S1"),
    ("session", "list"),
    ("session", "show", "S1"),
    ("export", "--format", "agent-trace"),
    ("report", "-o", "../report.html"),
    ("guard",),
    ("undo", "--session", "S1", "--dry-run"),
    ("commit", "--session", "S1", "--dry-run"),
    ("commit", "--session", "S1", "-m", "x", "--", "a"),
    ("uncommit", "--session", "S1"),
    ("commit", "--session", "S1", "-m", "the rest"),
)
# Above it what git compares with each entry is felt: see gitralph/git/uncommitted.py.
NAMED = 40


@pytest.fixture
def logged(repo: Repo, tmp_path: Path) -> Path:
    """git's own log of all that it is asked."""
    log = tmp_path / "calls"
    repo.env["GIT_TRACE2_EVENT"] = str(log)
    return log


def _calls(log: Path) -> list[list[str]]:
    """Each call's words from its command on, without what git starts itself."""
    out = []
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["event"] != "start" or "/" in event["sid"]:
            continue
        words: list[str] = event["argv"][1:]
        while words and words[0].startswith("-"):
            words = words[2:] if words[0] in ("-c", "-C") else words[1:]
        out.append(words)
    return out


def _paths(words: list[str]) -> list[str]:
    return words[words.index("--") + 1 :] if "--" in words else []


def _is_slow(words: list[str]) -> bool:
    """True for a tree against files, or against the index by its entries, with a path."""
    if words[0] not in ("diff", "diff-index") or {"--cached", "--staged", "--no-index"} & set(words):
        return False
    end = words.index("--") if "--" in words else len(words)
    revisions = [word for word in words[1:end] if not word.startswith("-")]
    return len(revisions) == 1 and ":" not in revisions[0] and bool(_paths(words))


@pytest.mark.slow
def test_no_reading_asks_for_a_path_against_a_commit(repo: Repo, logged: Path) -> None:
    many = [f"many/{number:02}" for number in range(NAMED + 10)]
    for path in many:
        repo.write(path, "one\n")
    repo.commit_all("many")
    repo.edit("S1", "a", changed())
    repo.edit("S2", "a", changed(9, "S2", changed()))
    for number, path in enumerate(many):
        repo.edit("S1" if number % 2 else "S2", path, "two\n")
    repo.write("nobodys", "text\n")
    repo.git("add", "nobodys", many[0])
    logged.write_text("")
    said = {typed: repo.run(*typed) for typed in READING}
    assert [(typed, done.said) for typed, done in said.items() if done.code > 75] == []
    calls = _calls(logged)
    assert sum(words[0] == "status" for words in calls) > 5
    assert [words for words in calls if _is_slow(words)] == []
    assert [words for words in calls if len(_paths(words)) > NAMED] == []


@pytest.mark.parametrize(
    ("words", "slow"),
    [
        ("diff HEAD -- a", True),
        ("diff --numstat HEAD -- a", True),
        ("diff-index --raw HEAD -- a", True),
        ("diff --cached HEAD -- a", False),
        ("diff-index --cached HEAD -- a", False),
        ("diff -- a", False),
        ("diff HEAD", False),
        ("diff HEAD HEAD~1 -- a", False),
        ("diff HEAD:a a", False),
    ],
)
def test_the_slow_form_is_known_by_its_words(words: str, slow: bool) -> None:
    assert _is_slow(words.split()) == slow

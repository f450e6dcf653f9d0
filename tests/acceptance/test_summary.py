"""``export --format markdown`` and ``contrib/ci``: who wrote a pull request, also in a fresh clone of CI.

``f`` holds "line 1" to "line 10" and is committed.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gitralph.ask.trace.pull_request import escaped
from tests.acceptance.test_branch import made
from tests.acceptance.test_head_moved import day as day
from tests.acceptance.test_squashed import squash, two
from tests.support import source
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo

CI = source.ROOT / "contrib/ci"


def table(text: str) -> dict[str, list[str]]:
    """Name of a session to its cells."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in rows[1:]}


def clone(repo: Repo, *words: str, into: str = "clone") -> Repo:
    root = repo.root.parent / into
    repo.git("clone", "-q", *words, repo.root.as_uri(), str(root))
    return Repo(root, dict(repo.env))


def pull_request(repo: Repo) -> str:
    """Two sessions and a person; returns the base."""
    base = repo.head()
    repo.edit("S1", "f", (repo.read("f") or b"").replace(b"line 3\n", b"a\nb\n"), fields={"model": "gpt-5.5"})
    repo.commit("S1")
    made(repo, "S2", "line 5\n", "five\n")
    made(repo, "S2", "line 6\n", "")
    repo.write("people", "p\n")
    repo.commit_all("by hand")
    return base


def test_records_tell_sessions_lines_and_files(day: Repo) -> None:
    base = pull_request(day)
    text = day.ralph("export", "--format", "markdown", f"{base}..").text
    rows = table(text)
    assert rows["generic-1"] == ["generic", "gpt-5&#46;5", "1", "+2 &minus;1", "<code>f</code>"]
    assert rows["generic-2"] == ["generic", "not known", "2", "+1 &minus;2", "<code>f</code>"]
    assert "recorded by nobody: +1 &minus;0 in 1 commit." in text


@pytest.mark.parametrize("notes", [True, False])
def test_a_fresh_clone_says_the_same_with_and_without_notes(day: Repo, notes: bool) -> None:
    day.git("config", "ralph.notes", "git-ai")
    base = pull_request(day)
    there = clone(day)
    if notes:
        there.git("fetch", "-q", "origin", "refs/notes/ai:refs/notes/ai")
    text = there.ralph("export", "--format", "markdown", f"{base}..").text
    rows = table(text)
    model = "gpt-5&#46;5" if notes else "not known"
    assert rows["generic-1"] == ["generic", model, "1", "+2 &minus;1", "<code>f</code>"]
    assert rows["generic-2"][2:] == ["2", "+1 &minus;2", "<code>f</code>"]
    assert "recorded by nobody: +1 &minus;0" in text


def test_a_squash_of_two_in_a_clone_is_one_of_them(day: Repo) -> None:
    base = day.head()
    two(day)
    squash(day, "all")
    there = clone(day)
    (row,) = table(there.ralph("export", "--format", "markdown", f"{base}..").text).items()
    assert row[0] == "one of session-1, session-2"
    assert row[1][2:] == ["1", "+2 &minus;2", "<code>f</code>"]


def test_a_session_without_an_agent_is_told_like_any_other(day: Repo) -> None:
    base = day.head()
    day.ralph("session", "start", "--id", "S1")
    day.write("f", (day.read("f") or b"") + b"more\n")
    day.ralph("track", "--session", "S1", "f")
    day.commit("S1")
    assert "Ralph-Agent" not in day.trailers()
    rows = table(day.ralph("export", "--format", "markdown", f"{base}..").text)
    assert rows["session-1"] == ["not known", "not known", "1", "+1 &minus;0", "<code>f</code>"]
    (row,) = table(clone(day).ralph("export", "--format", "markdown", f"{base}..").text).values()
    assert row[0] == "not known"


def test_a_session_of_elsewhere_gets_no_name_that_one_here_has(day: Repo) -> None:
    base = day.head()
    made(day, "there", "line 3\n", "three\n")
    clone_of = clone(day)
    made(clone_of, "here", "line 5\n", "five\n")
    rows = table(clone_of.ralph("export", "--format", "markdown", f"{base}..").text)
    assert rows.keys() == {"generic-1", "generic-2"}
    assert clone_of.ralph("session", "show", "generic-1", "--json").json()["id"] == "here"
    alone = table(clone_of.ralph("export", "--format", "markdown", "HEAD~1").text)
    assert alone.keys() == {"generic-2"}  # also where the range has nothing of the session here


def test_hostile_names_are_no_markup(day: Repo) -> None:
    base = day.head()
    evil = "[x](http://e.vil)<img src=x>|@all #1 `*_~"
    day.write("a|b<b>\n\x1b[31m@all.md", "1\n")
    day.git("add", "-A")
    day.git("commit", "-q", "-m", f"x\n\nRalph-Session: S1\nRalph-Agent: {evil}")
    text = day.ralph("export", "--format", "markdown", f"{base}..").text
    (cells,) = table(text).values()
    assert len(cells) == 5
    assert not re.search(r"[\[\]@#`*_~\x1b]", "".join(cells).replace("&#", ""))
    assert "<img" not in text


@pytest.mark.parametrize("text", ["www.evil.example", "a_b*c", "\u202eabc", "\ud800", "x" * 9000])
def test_what_is_escaped_is_plain(text: str) -> None:
    assert re.fullmatch(r"(?:[A-Za-z0-9 /-]|&#x?[0-9A-F]+;)*", escaped(text))
    assert len(escaped(text)) < 3000


@pytest.mark.parametrize("notes", [True, False])
@pytest.mark.parametrize("summary", [True, False])
def test_the_script_runs_as_in_ci(day: Repo, tmp_path: Path, notes: bool, summary: bool) -> None:
    if notes:
        day.git("config", "ralph.notes", "git-ai")
    base = pull_request(day)
    there, env = clone(day), with_tool_on_path(day.env)
    target = tmp_path / "summary.md"
    if summary:
        env["GITHUB_STEP_SUMMARY"] = str(target)
    done = subprocess.run(
        ["sh", str(CI / "summary.sh"), base, "HEAD"], cwd=there.root, env=env, capture_output=True, check=True
    )
    text = target.read_text() if summary else done.stdout.decode()
    assert table(text)["generic-2"][2:] == ["2", "+1 &minus;2", "<code>f</code>"]
    assert ("gpt-5&#46;5" in text) is notes


def test_a_shallow_clone_says_so(day: Repo) -> None:
    base = pull_request(day)
    there = clone(day, "--depth", "2")
    text = there.ralph("export", "--format", "markdown", "HEAD~1..").text
    assert "This clone is shallow" in text
    assert "--unshallow" in there.ralph("export", "--format", "markdown", f"{base}..", code=128).said
    one = clone(day, "--depth", "1", into="one")
    text = one.ralph("export", "--format", "markdown", "HEAD").text
    assert "This clone is shallow" in text
    assert "+10" not in text  # its first commit has every line for new


def test_the_workflow_runs_the_script_and_asks_for_all_commits() -> None:
    text = (CI / "pull-request.yml").read_text()
    assert "fetch-depth: 0" in text
    assert 'sh contrib/ci/summary.sh "$BASE" "$HEAD"' in text
    # what a pull request says itself stands in no command line
    assert "${{" not in "".join(line for line in text.splitlines() if "run:" in line)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_the_script_is_clean() -> None:
    subprocess.run(["shellcheck", str(CI / "summary.sh")], check=True)

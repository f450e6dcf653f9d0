"""The real Claude Code and pi, with the hooks that ``git ralph install`` registered.

Both work in one directory at once; what each commits is exactly what it edited by its tools.
"""

import json

import pytest

from gitralph.base import gitdir, layout
from gitralph.base.layout import Layout
from gitralph.records import path_records
from tests.real_agents.clients import Run, Stage, Turn, call, finished, together
from tests.support.repo import Repo

pytestmark = pytest.mark.agents

CLAUDE: list[Turn] = [
    call("Write", file_path="${REPO}/c/new.txt", content="alpha\nbeta\n"),
    call("Read", file_path="${REPO}/c/edit.txt"),
    call("Edit", file_path="${REPO}/c/edit.txt", old_string="two", new_string="deux"),
    call("Read", file_path="${REPO}/c/over.txt"),
    call("Write", file_path="${REPO}/c/over.txt", content="new text\n"),
    call("Read", file_path="${REPO}/c/crlf.txt"),
    call("Edit", file_path="${REPO}/c/crlf.txt", old_string="two", new_string="deux"),
    together(
        call("Write", file_path="${REPO}/c/par1.txt", content="1\n"),
        call("Write", file_path="${REPO}/c/par2.txt", content="2\n"),
    ),
    call("Bash", command="rm c/gone.txt; echo x > c/shell.txt"),
]
PI: list[Turn] = [
    call("write", path="p/new.txt", content="alpha\nbeta\n"),
    call("edit", path="p/edit.txt", edits=[{"oldText": "two", "newText": "deux"}]),
    call("write", path="${REPO}/p/over.txt", content="new text\n"),
    call("edit", path="p/crlf.txt", edits=[{"oldText": "two", "newText": "deux"}]),
    together(
        call("write", path="p/par1.txt", content="1\n"), call("write", path="p/par2.txt", content="2\n")
    ),
    call("bash", command="rm p/gone.txt; echo x > p/shell.txt"),
]
AFTER = {
    "new.txt": (b"alpha\nbeta\n", "A"),
    "edit.txt": (b"one\ndeux\nthree\n", "M"),
    "over.txt": (b"new text\n", "M"),
    "crlf.txt": (b"one\r\ndeux\r\nthree\r\n", "M"),
    "par1.txt": (b"1\n", "A"),
    "par2.txt": (b"2\n", "A"),
}


def sessions(stage: Stage) -> dict[str, str]:
    """Agent to session id."""
    rows = json.loads(stage.ralph("session", "list", "--json"))
    assert len({row["agent"] for row in rows}) == len(rows), rows
    return {row["agent"]: row["id"] for row in rows}


def both_at_once(stage: Stage, claude: list[Turn], pi: list[Turn]) -> None:
    runs: list[Run] = [stage.start("claude-code", claude), stage.start("pi", pi)]
    for run in runs:
        finished(run)


def state(repo: Repo) -> Layout:
    place = gitdir.discover(str(repo.root))
    assert place is not None
    return layout.for_place(place, create=False)


def check_exact(repo: Repo, session: str, folder: str) -> None:
    """Every step of a session is known byte for byte, and its pre events are used up."""
    lay = state(repo)
    for name, (text, _) in AFTER.items():
        found = path_records.read_journal(lay, f"{folder}/{name}".encode())
        records = [record for record in found.records if record.session == session]
        assert [record.exact for record in records] == ["payload"], (name, records)
        assert repo.read(f"{folder}/{name}") == text


def check_commit(repo: Repo, commit: str, folder: str) -> None:
    # what its shell deleted is its own, but where the other's shell was at work just then
    found = {path: letter for path, letter in repo.changes(commit).items() if path != f"{folder}/gone.txt"}
    assert found == {f"{folder}/{name}": letter for name, (_, letter) in AFTER.items()}
    assert repo.changes(commit).get(f"{folder}/gone.txt") in ("D", None)
    for name, (text, _) in AFTER.items():
        assert repo.blob(f"{folder}/{name}", commit) == text


def test_each_commit_holds_only_what_its_agent_edited(stage: Stage, empty_repo: Repo) -> None:
    repo = empty_repo
    stage.ralph("install", "--agent", "claude-code", "--agent", "pi")
    verdicts = {row["agent"]: row for row in json.loads(stage.ralph("doctor", "--json"))["agents"]}
    assert verdicts["claude-code"]["alive"]
    assert verdicts["pi"]["alive"]
    repo.write("u.txt", "the user's, staged\n")
    repo.git("add", "u.txt")
    staged = repo.staged()

    both_at_once(stage, CLAUDE, PI)

    found = sessions(stage)
    assert sorted(found) == ["claude-code", "pi"]
    for agent, folder in (("claude-code", "c"), ("pi", "p")):
        check_exact(repo, found[agent], folder)
    for agent, folder in (("claude-code", "c"), ("pi", "p")):
        said = json.loads(stage.ralph("commit", "--session", found[agent], "-m", agent, "--json"))
        assert said["status"] == "committed"
        assert {row["how"] for row in said["paths"]} == {"edits"}
        check_commit(repo, said["commit"], folder)
    assert repo.staged() == staged
    # the new files of their shells are offered
    left = set(repo.git("status", "--porcelain").splitlines()) - {" D c/gone.txt", " D p/gone.txt"}
    assert left == {"M  u.txt", "?? c/shell.txt", "?? p/shell.txt"}
    seen = {row["agent"]: row["seen"] for row in json.loads(stage.ralph("doctor", "--json"))["agents"]}
    assert seen["claude-code"]
    assert seen["pi"]
    assert not (repo.state / "hooks.log").exists()
    repo.git("fsck", "--strict")


def test_agents_commit_from_their_own_shells_at_once(stage: Stage, empty_repo: Repo) -> None:
    """The id that each agent publishes to its shell is the session: no option, no launcher."""
    stage.ralph("install", "--agent", "claude-code", "--agent", "pi")
    claude = [*CLAUDE, call("Bash", command="git ralph commit -m 'by claude'")]
    pi = [*PI, call("bash", command="git ralph commit -m 'by pi'")]

    both_at_once(stage, claude, pi)

    subjects = empty_repo.git("log", "--format=%H %s").splitlines()
    commits = {subject: oid for oid, _, subject in (row.partition(" ") for row in subjects)}
    check_commit(empty_repo, commits["by claude"], "c")
    check_commit(empty_repo, commits["by pi"], "p")
    assert "Ralph-Agent: claude-code" in empty_repo.trailers(commits["by claude"])
    assert "Ralph-Agent: pi" in empty_repo.trailers(commits["by pi"])


def test_a_project_file_works_where_the_agent_reads_it_and_doctor_says_where_not(
    stage: Stage, empty_repo: Repo
) -> None:
    stage.ralph("install", "--agent", "claude-code", "--agent", "pi", "--project")
    below = call("Write", file_path="${REPO}/c/below.txt", content="x\n")

    stage.run("claude-code", [below], "--start", "c")
    assert json.loads(stage.ralph("session", "list", "--json")) == []
    verdicts = json.loads(stage.ralph("doctor", "--json", code=1, cwd=stage.repo / "c"))["agents"]
    assert {row["agent"]: row["alive"] for row in verdicts if row["installed"]} == {
        "claude-code": False,
        "pi": False,
    }
    assert verdicts[0]["problems"][0]["code"] == "not-read-here"

    stage.run("claude-code", [call("Write", file_path="${REPO}/c/new.txt", content="x\n")])
    stage.run("pi", [call("write", path="p/new.txt", content="x\n")], "--arg=--approve")
    found = sessions(stage)
    assert stage.ralph("ls-files", "--session", found["claude-code"]) == "c/new.txt\n"
    assert stage.ralph("ls-files", "--session", found["pi"]) == "p/new.txt\n"
    assert empty_repo.read(".claude/settings.json") is not None


def test_a_launcher_s_session_takes_the_edits_of_both(stage: Stage, empty_repo: Repo) -> None:
    stage.ralph("install", "--agent", "claude-code", "--agent", "pi")
    env = {"RALPH_TRACKING": "1", "RALPH_SESSION": "launched"}
    runs = [
        stage.start("claude-code", [call("Write", file_path="${REPO}/c/new.txt", content="x\n")], env=env),
        stage.start("pi", [call("write", path="p/new.txt", content="x\n")], env=env),
    ]
    for run in runs:
        finished(run)
    assert stage.ralph("ls-files", "--session", "launched") == "c/new.txt\np/new.txt\n"
    assert [row["id"] for row in json.loads(stage.ralph("session", "list", "--json"))] == ["launched"]


def test_uninstalled_agents_leave_no_record(stage: Stage, empty_repo: Repo) -> None:
    stage.ralph("install", "--agent", "claude-code", "--agent", "pi")
    stage.ralph("uninstall")
    stage.run("claude-code", [call("Write", file_path="${REPO}/c/new.txt", content="x\n")])
    stage.run("pi", [call("write", path="p/new.txt", content="x\n")])
    assert not empty_repo.state.exists()


def test_agents_go_on_when_git_ralph_is_gone(stage: Stage, empty_repo: Repo) -> None:
    """A throw or an answer of an extension would block the tool."""
    stage.ralph("install", "--agent", "claude-code", "--agent", "pi")
    stage.run("claude-code", [call("Write", file_path="${REPO}/c/new.txt", content="x\n")], tool=False)
    stage.run("pi", [call("write", path="p/new.txt", content="x\n")], tool=False)
    assert (empty_repo.read("c/new.txt"), empty_repo.read("p/new.txt")) == (b"x\n", b"x\n")
    assert not empty_repo.state.exists()

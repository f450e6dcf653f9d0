"""Every agent that can be had from npm, with the hooks that ``git ralph install`` registered."""

import json
import sysconfig

import pytest

from gitralph.base import gitdir, layout
from gitralph.records import path_records
from tests.real_agents.clients import Stage, finished, need
from tests.real_agents.scripts import SHELL, WORKS, Work, change_lines
from tests.support.repo import Repo
from tests.support.size import FULL

pytestmark = pytest.mark.agents

ALWAYS = {"codex", "gemini"}
PAIRS = [("codex", "gemini"), ("claude-code", "codex"), ("pi", "qwen"), ("copilot", "opencode")]


def only_full(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not FULL, reason=f"'{name}' is driven by make real-agents only")


EVERY = [
    pytest.param(work, id=name, marks=[] if name in ALWAYS else [only_full(name)])
    for name, work in WORKS.items()
]
BOTH = [
    pytest.param(*pair, id="+".join(pair), marks=[] if set(pair) == ALWAYS else [only_full("+".join(pair))])
    for pair in PAIRS
]


def session_of(stage: Stage, agent: str) -> str:
    rows = json.loads(stage.ralph("session", "list", "--json"))
    found = [row["id"] for row in rows if row["agent"] == agent]
    assert len(found) == 1, rows
    return str(found[0])


def exactness(repo: Repo, session: str, path: str) -> list[str]:
    place = gitdir.discover(str(repo.root))
    assert place is not None
    lay = layout.for_place(place, create=False)
    found = path_records.read_journal(lay, path.encode()).records
    return [record.exact for record in found if record.session == session]


@pytest.mark.parametrize("work", EVERY)
def test_its_commit_holds_what_it_edited_and_its_shell_s_file_is_offered(
    work: Work, workshop: Stage, empty_repo: Repo
) -> None:
    need(work.agent)
    workshop.ralph("install", "--agent", work.agent)
    empty_repo.write("u.txt", "the user's, meanwhile\n")
    workshop.run(work.agent, work.turns, *work.extra)

    session = session_of(workshop, work.agent)
    told = {path: exactness(empty_repo, session, path) for path in work.changes}
    # a call that moves a file and edits it is told as two records
    assert all(found and set(found) == {"payload"} for found in told.values()), told
    said = json.loads(workshop.ralph("commit", "--session", session, "-m", "x", "--json"))
    assert empty_repo.changes("HEAD") == {path: letter for path, (letter, _) in work.changes.items()}
    for path, (_, text) in work.changes.items():
        if text is not None:
            assert empty_repo.blob(path) == text
    assert f"Ralph-Agent: {work.agent}" in empty_repo.trailers("HEAD")
    left = set(empty_repo.git("status", "--porcelain").splitlines())
    assert left == {" M u.txt", "?? w/shell.txt"}, said

    workshop.ralph("commit", "--session", session, "--with-shell", "-m", "what its shell made")
    assert empty_repo.changes("HEAD") == {"w/shell.txt": "A"}
    assert not (empty_repo.state / "hooks.log").exists()


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_two_agents_at_once_in_one_file(first: str, second: str, workshop: Stage, empty_repo: Repo) -> None:
    need(first, second)
    workshop.ralph("install", "--agent", first, "--agent", second)
    lines = {first: range(5, 25, 6), second: range(35, 55, 6)}
    runs = [workshop.start(agent, change_lines(agent, lines[agent], agent)) for agent in (first, second)]
    for run in runs:
        finished(run)

    text = [f"line {number}" for number in range(1, 61)]
    for agent in (first, second):
        workshop.ralph("commit", "--session", session_of(workshop, agent), "-m", f"by {agent}")
        for number in lines[agent]:
            text[number - 1] = f"{agent} {number}"
        assert empty_repo.blob("shared.txt").decode().splitlines() == text
    assert empty_repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=only_full(n)) for n in ("codex", "qwen", "copilot", "opencode")]
)
def test_its_own_shell_knows_its_session(name: str, workshop: Stage, empty_repo: Repo) -> None:
    """By the id that the agent publishes there; for opencode our plugin does."""
    need(name)
    workshop.ralph("install", "--agent", name)
    # Codex has a login shell, whose start-up files may set PATH anew. Copilot asks a person before a command
    # that names a path outside the folder it was started in.
    tool = f"{sysconfig.get_path('scripts')}/git-ralph" if name == "codex" else "git ralph"
    shell = json.loads(json.dumps(WORKS[name].turns[-1]).replace(SHELL, f"{tool} commit -m own"))
    workshop.run(name, [*WORKS[name].turns[:-1], shell])
    assert empty_repo.git("log", "-1", "--format=%s") == "own"
    changes = {path: letter for path, (letter, _) in WORKS[name].changes.items()}
    assert empty_repo.changes("HEAD") == changes


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=only_full(n)) for n in ("claude-code", "codex", "pi", "opencode")]
)
def test_the_model_behind_each_call_is_recorded(name: str, workshop: Stage, empty_repo: Repo) -> None:
    """By the payload, by our plugin, or by the transcript's line that holds the call."""
    need(name)
    workshop.ralph("install", "--agent", name)
    workshop.run(name, WORKS[name].turns, *WORKS[name].extra)
    session = session_of(workshop, name)
    place = gitdir.discover(str(empty_repo.root))
    assert place is not None
    lay = layout.for_place(place, create=False)
    told = {
        record.model
        for path in WORKS[name].changes
        for record in path_records.read_journal(lay, path.encode()).records
    }
    assert len(told) == 1, told
    assert None not in told
    known = json.loads((empty_repo.state / f"{session}.json").read_text())["models"]
    assert known == list(told)

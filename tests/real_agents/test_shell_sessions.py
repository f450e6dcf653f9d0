"""A real agent that has only its shell, beside a real Claude Code with its edit tools: both commit.

They live at once in one directory and change one file; nothing is set but the shell's new files taken.
"""

import json
import sysconfig
import time

import pytest

from tests.real_agents.clients import Stage, Turn, call, finished, need
from tests.real_agents.test_every_agent import only_full, session_of
from tests.support.repo import Repo

pytestmark = pytest.mark.agents

LINES = [f"line {number}" for number in range(1, 61)]
SCRIPT = "t = open('shared.txt').read(); open('shared.txt', 'w').write(t.replace('line 20', 'shell 20'))"
# The other session's edit falls into the first command's window.
COMMANDS = [
    "until grep -q '^tool 40$' shared.txt; do sleep 0.05; done; sed -i 's/^line 3$/shell 3/' shared.txt",
    "printf 'alpha\\nbeta\\n' > w/new.txt; rm w/gone.txt",
    f'python3 - <<"EOF"\n{SCRIPT}\nEOF',
    "cat w/edit.txt; git diff",
    "mv w/move.txt w/there.txt; chmod +x w/edit.txt",
]
# Codex has a login shell, whose start-up files may set PATH anew.
COMMIT = f"{sysconfig.get_path('scripts')}/git-ralph commit -m 'by shell'"
BY_SHELL = {
    "shared.txt": "M",
    "w/new.txt": "A",
    "w/gone.txt": "D",
    "w/move.txt": "D",
    "w/there.txt": "A",
    "w/edit.txt": "M",
}
# A reader waits for the other's commit, and no shell of its own runs meanwhile.
WAIT = 'case "$(cat)" in *u.txt*) until git log --format=%s | grep -qx "by shell"; do sleep 0.1; done;; esac'


def _shell(agent: str, command: str) -> Turn:
    if agent == "codex":
        # a command that takes longer goes on in the background, and its end is told when it is asked for
        return call("exec_command", cmd=command, yield_time_ms=30_000)
    name = "Bash" if agent == "claude-code" else "bash"
    return call(name, command=command, description="run")


def _hook_ahead_of_a_read(stage: Stage, command: str) -> None:
    file = stage.home / ".claude/settings.json"
    settings = json.loads(file.read_text())
    row = {"matcher": "Read", "hooks": [{"type": "command", "command": command, "timeout": 200}]}
    settings["hooks"]["PreToolUse"].append(row)
    file.write_text(json.dumps(settings))


BY_TOOLS: list[Turn] = [
    call("Read", file_path="${REPO}/shared.txt"),
    call("Edit", file_path="${REPO}/shared.txt", old_string="line 40\n", new_string="tool 40\n"),
    call("Write", file_path="${REPO}/w/tool.txt", content="by a tool\n"),
    call("Read", file_path="${REPO}/u.txt"),
    call("Bash", command="git ralph commit -m 'by tools'"),
]


@pytest.mark.parametrize(
    "agent", [pytest.param(one, marks=only_full(one)) for one in ("claude-code", "codex", "opencode", "pi")]
)
def test_one_by_shell_and_one_by_tools(agent: str, workshop: Stage, empty_repo: Repo) -> None:
    need("claude-code", agent)
    repo = empty_repo
    repo.git("config", "ralph.shellEdits", "include")
    agents = dict.fromkeys([agent, "claude-code"])
    workshop.ralph("install", *(word for one in agents for word in ("--agent", one)))
    _hook_ahead_of_a_read(workshop, WAIT)
    turns = [_shell(agent, command) for command in [*COMMANDS, COMMIT]]
    patient = ("--timeout", "240")
    runs = [workshop.start("claude-code", BY_TOOLS, *patient)]
    deadline = time.monotonic() + 120
    while not list(repo.state.glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.1)  # the one whose edit the other's first command waits for is there
    runs.append(workshop.start(agent, turns, *patient))
    for run in runs:
        finished(run)

    found = {subject: oid for oid, subject in _log(repo)}
    assert set(found) == {"base", "by shell", "by tools"}
    text = [*LINES]
    text[2], text[19] = "shell 3", "shell 20"
    assert repo.changes(found["by shell"]) == BY_SHELL
    assert repo.blob("shared.txt", found["by shell"]).decode().splitlines() == text
    assert repo.mode("w/edit.txt", found["by shell"]) == "100755"
    text[39] = "tool 40"
    assert repo.changes(found["by tools"]) == {"shared.txt": "M", "w/tool.txt": "A"}
    assert repo.blob("shared.txt", found["by tools"]).decode().splitlines() == text
    assert f"Ralph-Agent: {agent}" in repo.trailers(found["by shell"])
    assert repo.git("status", "--porcelain") == ""
    assert not (repo.state / "hooks.log").exists()
    if agent != "claude-code":
        verdicts = json.loads(workshop.ralph("doctor", "--json"))["agents"]
        assert next(row for row in verdicts if row["agent"] == agent)["shell_seen"]
        assert session_of(workshop, agent)


def test_a_shell_that_went_into_another_repository_and_came_back(workshop: Stage, empty_repo: Repo) -> None:
    """The end of the first command is told from there; what a person types then is no part of it."""
    need("claude-code")
    repo = empty_repo
    inside = Repo.init(repo.root / "inside", repo.env)
    inside.git("commit", "--allow-empty", "-qm", "inside")
    (repo.common / "info/exclude").write_text("inside\n")
    repo.git("config", "ralph.guard", "narrow")
    repo.ralph("install", "--guard")
    workshop.ralph("install", "--agent", "claude-code")
    person = f'case "$(cat)" in *u.txt*) sed -i "s/^line 7$/person 7/" {repo.root}/shared.txt;; esac'
    _hook_ahead_of_a_read(workshop, person)
    workshop.run(
        "claude-code",
        [
            call("Bash", command="cd inside && git log --oneline -1"),
            call("Bash", command="cd .. && ls"),
            *BY_TOOLS[:2],
            call("Read", file_path="${REPO}/u.txt"),
            call("Bash", command="git commit -qam 'by tools'"),
        ],
    )
    text = [*LINES]
    text[39] = "tool 40"
    assert repo.git("log", "-1", "--format=%s") == "by tools"
    assert repo.changes() == {"shared.txt": "M"}
    assert repo.blob("shared.txt").decode().splitlines() == text


def _log(repo: Repo) -> list[tuple[str, str]]:
    rows = repo.git("log", "--format=%H %s").splitlines()
    return [(oid, subject) for oid, _, subject in (row.partition(" ") for row in rows)]

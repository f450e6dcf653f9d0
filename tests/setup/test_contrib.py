"""``contrib/hooks``: thin, never in the agent's way, and the same as what install writes."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gitralph.setup.doctor.samples import SAMPLES
from gitralph.setup.install import extension, settings
from gitralph.setup.install.table import AGENTS, EXTENSION, SETTINGS, Agent
from tests.support import payloads
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo

HOOKS = Path(__file__).parents[2] / "contrib/hooks"
SCRIPTS = sorted(HOOKS.glob("*/*.sh"))
GUARD = HOOKS / "git/pre-commit"
POLICIES = sorted(HOOKS.glob("*.sh"))


def call(script: Path, repo: Repo, env: dict[str, str], stdin: bytes) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([script], cwd=repo.root, env=env, input=stdin, capture_output=True, check=False)


def test_every_agent_has_a_folder() -> None:
    folders = {path.name for path in HOOKS.iterdir() if path.is_dir() and not path.name.endswith("-plugin")}
    assert folders == {*AGENTS, "git"}


@pytest.mark.parametrize("agent", [a for a in AGENTS.values() if a.form == EXTENSION], ids=lambda a: a.name)
def test_the_plugin_is_the_one_that_install_writes(agent: Agent) -> None:
    file = HOOKS / agent.name / agent.data
    assert file.is_symlink(), "it exists once"
    assert file.read_bytes() == extension.text_of(agent)


@pytest.mark.parametrize("agent", [a for a in AGENTS.values() if a.form == SETTINGS], ids=lambda a: a.name)
def test_the_settings_register_every_event(agent: Agent) -> None:
    data = next((HOOKS / agent.name).glob("*.json")).read_bytes()
    found = settings.registered(agent, data)
    assert found.commands == [f"gitralph-{agent.name}.sh"]
    assert (found.missing, found.old, found.disabled) == ([], [], [])
    ours = json.loads(settings.added(agent, None))["hooks"]
    assert list(json.loads(data)["hooks"]) == list(ours)
    assert b'"matcher": ""' not in data


def test_the_opencode_plugin_guards_every_handler() -> None:
    """As many tries as functions that opencode calls or that may fail; none awaits outside of one."""
    text = (HOOKS / "opencode/gitralph.js").read_text()
    for chunk in text.split("async ")[2:]:
        head, _, body = chunk.partition("=> {")
        assert body.lstrip().startswith("try {"), head


def test_the_pi_extension_guards_every_handler() -> None:
    """A throw blocks the tool, so what a handler does stands inside its try."""
    text = (HOOKS / "pi/gitralph.ts").read_text()
    assert text.count("pi.on(") == 1
    body = text[text.index("pi.on(") :]
    assert body.index("try {") < body.index("await send(") < body.index("} catch {")


_ASKED = """
import { GitRalph } from "./plugin.mjs";
const hooks = await GitRalph({ directory: process.cwd(), worktree: process.cwd() });
const given = { tool: "bash", sessionID: "s", callID: "c" };
let said = "";
try {
	await hooks["tool.execute.before"](given, { args: { command: "x" } });
} catch (error) {
	said = error.message;
}
const result = { output: "done" };
await hooks["tool.execute.after"](given, result);
console.log(JSON.stringify([said, result.output]));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize(
    ("answer", "heard"),
    [
        ("exit 0", ["", "done"]),
        ("echo no >&2; exit 2", ["no", "done"]),
        ("echo no >&2; exit 1", ["", "done"]),
        ("echo not JSON", ["", "done"]),
        ("""echo '{"additionalContext": "near"}'""", ["", "done\n\nnear"]),
    ],
)
def test_the_opencode_plugin_hands_on_what_git_ralph_says(
    answer: str, heard: list[str], tmp_path: Path, environ: dict[str, str]
) -> None:
    """A throw blocks the tool: only where git ralph says no; a note comes with the tool's result."""
    tool = tmp_path / "git-ralph"
    tool.write_text(f"#!/bin/sh\ncat >/dev/null\n{answer}\n")
    tool.chmod(0o755)
    shutil.copy(HOOKS / "opencode/gitralph.js", tmp_path / "plugin.mjs")
    (tmp_path / "ask.mjs").write_text(_ASKED)
    env = {**environ, "PATH": f"{tmp_path}:{environ['PATH']}"}
    done = subprocess.run(["node", "ask.mjs"], cwd=tmp_path, env=env, capture_output=True, check=True)
    assert json.loads(done.stdout) == heard


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck() -> None:
    checked = [*SCRIPTS, *POLICIES, GUARD]
    subprocess.run(["shellcheck", "-o", "all", "-e", "SC2250,SC2310,SC2312", *checked], check=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.parent.name)
def test_a_script_records(script: Path, repo: Repo, environ: dict[str, str]) -> None:
    before, after = SAMPLES[script.parent.name]("S1", str(repo.root), str(repo.root / "n"), "new\n")
    for event in [*before, None, *after]:
        if event is None:
            repo.write("n", "new\n")
            continue
        done = call(script, repo, with_tool_on_path(environ), payloads.encode(event))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert repo.pending("S1") == ["n"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("fault", ["missing", "failing", "printing"])
def test_a_script_never_blocks(
    script: Path, fault: str, repo: Repo, environ: dict[str, str], tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "cat"):
        (programs / name).symlink_to(str(shutil.which(name)))
    if fault != "missing":
        tool = programs / "git-ralph"
        tool.write_text("#!/bin/sh\n" + ("exit 2\n" if fault == "failing" else "echo noise\n"))
        tool.chmod(0o755)
    done = call(script, repo, {**environ, "PATH": str(programs)}, b"{}" * 100_000)
    assert (done.returncode, done.stdout) == (0, b"")
    assert (b"not recorded" in done.stderr) == (fault == "missing")


PLUGIN = HOOKS / "claude-code-plugin"


def _frontmatter(page: Path) -> str:
    return page.read_text(encoding="utf-8").split("---\n")[1]


def test_the_plugin_has_its_agents_with_their_policies() -> None:
    policies = {
        page.stem: next(row for row in _frontmatter(page).splitlines() if row.startswith("worktree_policy: "))
        for page in (PLUGIN / "agents").glob("*.md")
    }
    assert {name: row.split(": ")[1] for name, row in policies.items()} == {
        "orchestrator": "none",
        "ralph-worker": "required",
        "scribe": "none",
        "bead-farmer": "none",
        "verification": "none",
    }
    assert all(f"name: {page.stem}\n" in _frontmatter(page) for page in (PLUGIN / "agents").glob("*.md"))


def test_the_plugin_calls_one_command_and_names_what_exists() -> None:
    hooks = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    commands = {h["command"] for groups in hooks.values() for group in groups for h in group["hooks"]}
    assert commands == {"git ralph hook claude-code"}, (
        "the command that install registers, so that it runs once"
    )
    assert json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())["name"] == "ralph"
    names = {page.stem for page in (PLUGIN / "commands").glob("*.md")}
    assert names == {"ralph-start", "ralph-bead", "ralph-stop", "ralph-status"}
    spec = (PLUGIN / "docs/bead-spec.md").read_text()
    assert all(f"`{key}`" in spec for key in ("completion_promise", "max_iterations", "acceptance_criteria"))

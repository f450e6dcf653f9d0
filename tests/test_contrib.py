"""``contrib/hooks``: thin, never in the agent's way, and the same as what install writes."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gitralph.porcelain.install import extension, settings
from gitralph.porcelain.install.table import AGENTS
from tests.support import payloads
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo

HOOKS = Path(__file__).parents[1] / "contrib/hooks"
SCRIPTS = sorted(HOOKS.glob("*/*.sh"))
POLICIES = sorted(HOOKS.glob("*.sh"))


def call(script: Path, repo: Repo, env: dict[str, str], stdin: bytes) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([script], cwd=repo.root, env=env, input=stdin, capture_output=True, check=False)


def test_every_agent_has_a_folder() -> None:
    assert {
        path.name for path in HOOKS.iterdir() if path.is_dir() and not path.name.endswith("-plugin")
    } == set(AGENTS)


def test_the_pi_extension_is_the_one_that_install_writes() -> None:
    assert (HOOKS / "pi/gitralph.ts").read_bytes() == extension.text_of(AGENTS["pi"])


def test_the_settings_register_every_event() -> None:
    data = (HOOKS / "claude-code/settings.json").read_bytes()
    found = settings.registered(AGENTS["claude-code"], data)
    assert found.commands == ["gitralph-claude-code.sh"]
    assert (found.missing, found.old, found.disabled) == ([], [], [])
    ours = json.loads(settings.added(AGENTS["claude-code"], b"{}"))["hooks"]
    assert list(json.loads(data)["hooks"]) == list(ours)


def test_the_extension_guards_every_handler() -> None:
    """A throw blocks the tool, so what a handler does stands inside its try."""
    text = (HOOKS / "pi/gitralph.ts").read_text()
    assert text.count("pi.on(") == 1
    body = text[text.index("pi.on(") :]
    assert body.index("try {") < body.index("await send(") < body.index("} catch {")


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck() -> None:
    subprocess.run(["shellcheck", "-o", "all", "-e", "SC2250,SC2310,SC2312", *SCRIPTS, *POLICIES], check=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.parent.name)
def test_a_script_records(script: Path, repo: Repo, environ: dict[str, str]) -> None:
    repo.write("a", "new\n")
    if script.parent.name == "generic":
        event = payloads.edit("S1", str(repo.root), "a", None, "new\n")
    else:
        event = payloads.claude_write("S1", str(repo.root), str(repo.root / "a"), None, "new\n")
    done = call(script, repo, with_tool_on_path(environ), payloads.encode(event))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert repo.pending("S1") == ["a"]


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
        "orchestrator": "none", "ralph-worker": "required", "scribe": "none", "bead-farmer": "none",
        "verification": "none",
    }  # fmt: skip
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

"""The transcript in the README is typed again and must come out the same, but for oids and times."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitralph.setup.demo.script import StoryEdit
from gitralph.setup.demo.scripted_agent import Claude, Pi
from tests.support import source

README = source.ROOT / "README.md"
_EDITS = "# claude-1 adds a line at the top, pi-1 one at the end, and you stage another file"


def _transcript() -> list[str]:
    found = re.search(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert found
    return found[1].splitlines()


def _normal(text: str) -> list[str]:
    text = re.sub(r"\b[0-9a-f]{7,40}\b", "<oid>", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>", text).splitlines()


def _path_with_git_ralph(folder: Path, environ: dict[str, str]) -> None:
    """A folder in front of PATH from which git finds this very git-ralph."""
    folder.mkdir()
    script = folder / "git-ralph"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m gitralph "$@"\n')
    script.chmod(0o755)
    environ["PATH"] = f"{folder}:{environ['PATH']}"


class Shell:
    """A terminal in the repository of the README."""

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        self.root = root
        self.environ = environ

    def type(self, line: str) -> str:
        """What a command prints: output, then chatter."""
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout + done.stderr

    def edit(self, agent: Claude | Pi, change: StoryEdit) -> None:
        """One edit of an agent, told as that agent tells it."""
        file = self.root / change.path
        was = file.read_text()
        now = change.apply(was)
        self._tell(agent, agent.before(change, str(file), "toolu_1"))
        file.write_text(now)
        self._tell(agent, agent.after(change, str(file), "toolu_1", (was, now)))

    def _tell(self, agent: Claude | Pi, payload: dict[str, object]) -> None:
        words = ["git", "ralph", "hook", agent.agent]
        subprocess.run(words, input=json.dumps(payload).encode(), cwd=self.root, env=self.environ, check=True)


def _start(tmp_path: Path, environ: dict[str, str]) -> Shell:
    _path_with_git_ralph(tmp_path / "bin", environ)
    root = tmp_path / "repository"
    root.mkdir()
    shell = Shell(root, environ)
    (root / "LIST").write_text("bread\nmilk\n")
    (root / "settings.ini").write_text("a = 1\n")
    shell.type("git init -q && git add . && git commit -q -m Start")
    return shell


def _everybody_edits(shell: Shell) -> None:
    shell.edit(Claude("claude-1", str(shell.root)), StoryEdit("LIST", "bread\n", "apples\nbread\n"))
    shell.edit(Pi("pi-1", str(shell.root)), StoryEdit("LIST", "milk\n", "milk\nbutter\n"))
    (shell.root / "settings.ini").write_text("a = 2\n")
    shell.type("git add settings.ini")


def test_the_transcript_is_true(tmp_path: Path, environ: dict[str, str]) -> None:
    shell, said = _start(tmp_path, environ), []
    for line in _transcript():
        if line.startswith("$ "):
            said += [line, *_normal(shell.type(line[2:]))]
        elif line.startswith("# "):
            assert line == _EDITS, "the test must know how to do this"
            _everybody_edits(shell)
            said.append(line)
    assert said == _normal("\n".join(_transcript()))


def _examples(page: str) -> str:
    """The shell blocks among the examples of a page."""
    text = (source.ROOT / "man" / page).read_text(encoding="utf-8")
    blocks = re.findall(
        r"^\.EX\n(.*?)^\.EE$", text.split("\n.SH EXAMPLES\n")[1].split("\n.SH ")[0], re.S | re.M
    )
    return "".join(blocks).replace("\\-", "-").replace("\\e", "\\")


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_state_can_be_read_by_hand(tmp_path: Path, environ: dict[str, str]) -> None:
    shell = _start(tmp_path, environ)
    _everybody_edits(shell)
    (shell.root / "src").mkdir()
    (shell.root / "src/new.c").write_text("int x;\n")
    said = shell.type("set -e\n" + _examples("gitralph-sessions.5"))
    assert "LIST\n" in said
    assert '"claude-1","Edit","payload"' in said
    assert shell.type("git ralph ls-files --session claude-1") == "LIST\nsrc/new.c\n"


def test_the_three_lines_of_shell_in_the_manual_record_an_edit(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    shell = _start(tmp_path, environ)
    page = (source.ROOT / "man/gitralph-hooks.7").read_text(encoding="utf-8")
    found = re.search(r"^(#!/bin/sh\n.*?)\.EE", page, re.S | re.M)
    assert found
    hook = tmp_path / "hook"
    hook.write_text(found[1].replace("\\-", "-").replace("\\e", "\\"))
    (shell.root / "LIST").write_text("eggs\n")
    environ |= {"MY_SESSION": "mine", "file": "LIST"}
    shell.type(f"command -v jq >/dev/null || exit 0; sh {hook}")
    assert shell.type("command -v jq >/dev/null || echo LIST; git ralph ls-files --session mine") == "LIST\n"

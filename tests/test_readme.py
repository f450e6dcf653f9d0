"""The transcript in the README is typed again and must come out the same, but for oids and times."""

import json
import re
import subprocess
import sys
from pathlib import Path

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

    def edit(self, session: str, path: str, text: str) -> None:
        """One edit of an agent, through the generic hook."""
        told = {"session": session, "cwd": str(self.root), "path": path, "tool": "edit"}
        for event in ("pre", "edit"):
            payload = json.dumps({**told, "event": event}).encode()
            words = ["git", "ralph", "hook", "generic"]
            subprocess.run(words, input=payload, cwd=self.root, env=self.environ, check=True)
            (self.root / path).write_text(text)


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
    shell.edit("claude-1", "LIST", "apples\nbread\nmilk\n")
    shell.edit("pi-1", "LIST", "apples\nbread\nmilk\nbutter\n")
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

"""The real Claude Code with the real black and prettier after each of its edits, as its users set them up.

The formatter is Claude Code's own ``PostToolUse`` hook beside ours; two sessions that live at once write
into one file in turn.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.real_agents.clients import OUTER, Stage, Turn, call, finished
from tests.support.repo import Repo

pytestmark = pytest.mark.agents


@dataclass(frozen=True)
class Language:
    """A file with two functions, what each session writes into one of them, and how that looks formatted."""

    path: str
    base: str
    edits: tuple[tuple[str, str], ...]
    done: tuple[tuple[str, str], ...]


PYTHON = Language(
    "m.py",
    '"""A module."""\n\n\ndef first():\n    return 1\n\n\ndef last():\n    return 9\n',
    (("    return 1\n", "    return {'a':1,\n  'b':2}\n"), ("    return 9\n", "    return [9,\n8]\n")),
    (("    return 1\n", '    return {"a": 1, "b": 2}\n'), ("    return 9\n", "    return [9, 8]\n")),
)
SCRIPT = Language(
    "m.js",
    "function first() {\n  return 1;\n}\n\nfunction last() {\n  return 9;\n}\n",
    (("  return 1;\n", "  return {'a':1}\n"), ("  return 9;\n", "  return [9,\n8]\n")),
    (("  return 1;\n", "  return { a: 1 };\n"), ("  return 9;\n", "  return [9, 8];\n")),
)


def _black(stage: Stage) -> tuple[str, str]:
    tool = f"'{sys.executable}' -m black -q"
    return tool, f"{tool} --check"


def _prettier(stage: Stage) -> tuple[str, str]:
    npm = shutil.which("npm", path=OUTER.get("PATH"))
    if npm is None:
        pytest.skip("NOT TESTED WITH THE REAL prettier: there is no npm")
    place = stage.scratch.parent / "tools"
    place.mkdir()
    (place / "package.json").write_text('{"name": "x", "private": true}')
    subprocess.run([npm, "install", "--silent", "prettier@3"], check=True, env=OUTER, cwd=place)
    tool = str(place / "node_modules/.bin/prettier")
    return f"{tool} --log-level=silent --write", f"{tool} --log-level=silent --check"


# A session's edit is read, made and formatted before the other's begins: of two at once the client itself
# refuses one, as the file is not what was read.
_MY_TURN = 'until [ $(( $(cat .git/turn) % 2 )) = "${RALPH_SESSION#S}" ]; do sleep 0.05; done'
_NEXT = "echo $(( $(cat .git/turn) + 1 )) > .git/turn.new && mv .git/turn.new .git/turn"


def _add_formatter(stage: Stage, tool: str) -> None:
    """Add the formatter to Claude Code's settings as its documentation shows it, beside our hooks."""
    file = stage.home / ".claude/settings.json"
    settings = json.loads(file.read_text())
    path = '$(python3 -c \'import json, sys; print(json.load(sys.stdin)["tool_input"]["file_path"])\')'
    row = {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": f"{tool} {path}; {_NEXT}"}]}
    settings["hooks"]["PostToolUse"].append(row)
    wait = {"matcher": "Read", "hooks": [{"type": "command", "command": _MY_TURN}]}
    settings["hooks"].setdefault("PreToolUse", []).append(wait)
    file.write_text(json.dumps(settings))


def _turns(language: Language, which: int) -> list[Turn]:
    """Write ugly code, then touch a formatted line of it once more."""
    path = "${REPO}/" + language.path
    old, new = language.edits[which]
    return [
        call("Read", file_path=path),
        call("Edit", file_path=path, old_string=old, new_string=new),
        call("Read", file_path=path),
        call("Edit", file_path=path, old_string=language.done[which][1], new_string=old),
        call("Read", file_path=path),
        call("Edit", file_path=path, old_string=old, new_string=new),
    ]


@pytest.mark.parametrize(
    ("language", "formatter"), [(PYTHON, _black), (SCRIPT, _prettier)], ids=["black", "prettier"]
)
def test_what_two_claudes_wrote_is_committed_formatted_and_nothing_is_left(
    stage: Stage, empty_repo: Repo, language: Language, formatter: Callable[[Stage], tuple[str, str]]
) -> None:
    repo = empty_repo
    write, check = formatter(stage)
    repo.write(language.path, language.base)
    repo.commit_all("base of the language")
    stage.ralph("install", "--agent", "claude-code", "--user")
    _add_formatter(stage, write)
    hook: Path = repo.root / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {check} {language.path}\n")
    hook.chmod(0o755)

    repo.write(".git/turn", "0\n")
    runs = [
        stage.start("claude-code", _turns(language, which), env={"RALPH_SESSION": f"S{which}"})
        for which in (0, 1)
    ]
    for run in runs:
        finished(run)
    assert repo.read(".git/turn") == b"6\n"
    formatted = language.base
    for old, new in language.done:
        formatted = formatted.replace(old, new)
    assert (repo.read(language.path) or b"").decode() == formatted

    text = language.base
    for which in (0, 1):
        stage.ralph("commit", "--session", f"S{which}", "-m", f"part {which}")
        text = text.replace(*language.done[which])
        assert repo.blob(language.path).decode() == text
    assert repo.git("status", "--porcelain") == ""
    assert json.loads(stage.ralph("status", "--json"))["paths"] == []

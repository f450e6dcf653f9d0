"""Whether an agent runs hooks here at all: its own trust, which only its user can give; reads only."""

import os
import select
import subprocess
import time
from collections.abc import Mapping
from subprocess import Popen
from typing import Any

from gitralph.base import files, jsonline, programs, runner
from gitralph.setup.doctor.found import Installation
from gitralph.setup.install import jsontext
from gitralph.setup.install.table import PROJECT, Agent

# Settings are written by people; what is larger is not read for a check.
_LIMIT = 4 << 20
# Its app server has to start first; without an answer the trust is unknown, not missing.
_CODEX_WAIT = 8.0
_DISTRUSTED = "DO_NOT_TRUST"


def _document(path: str) -> dict[str, Any]:
    """A JSON object, with comments maybe; empty where there is none."""
    try:
        text = files.read_bytes(path, _LIMIT).decode("utf-8-sig")
        found = jsontext.value_of(text, jsontext.parse(text))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_on(agent: Agent, environ: Mapping[str, str], default: bool) -> bool:
    """True when folder trust is switched on in the user's settings."""
    at: Any = _document(os.path.join(agent.config_folder(environ), "settings.json"))
    for key in ("security", "folderTrust", "enabled"):
        at = at.get(key) if isinstance(at, dict) else None
    return at if isinstance(at, bool) else default


def _within(folder: str, above: str) -> bool:
    return f"{os.path.realpath(folder)}/".startswith(os.path.realpath(above).rstrip("/") + "/")


def _by_rules(rules: dict[str, Any], folder: str) -> bool | None:
    """What the rules of Gemini and Qwen say of a folder; None when no rule does. The nearest rule wins."""
    best: tuple[int, bool] | None = None
    for path, rule in rules.items():
        at = os.path.dirname(path.rstrip("/")) if rule == "TRUST_PARENT" else path
        if isinstance(rule, str) and at and _within(folder, at):
            # All these paths contain the folder, so the longest is the nearest.
            nearer = best is None or len(at) > best[0]
            best = (len(at), rule != _DISTRUSTED) if nearer else best
    return None if best is None else best[1]


def _of_folder_rules(agent: Agent, folder: str, environ: Mapping[str, str], default: bool) -> bool | None:
    if not _is_on(agent, environ, default):
        return True
    if agent.name == "gemini" and environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        return True
    named = environ.get(f"{agent.name.upper()}_CLI_TRUSTED_FOLDERS_PATH") or environ.get(
        f"{agent.name.upper()}_CODE_TRUSTED_FOLDERS_PATH"
    )
    path = named or os.path.join(agent.config_folder(environ), "trustedFolders.json")
    return bool(_by_rules(_document(path), folder))


def _of_copilot(agent: Agent, folder: str, environ: Mapping[str, str]) -> bool:
    folder_of = agent.config_folder(environ)
    documents = [_document(os.path.join(folder_of, name)) for name in ("config.json", "settings.json")]
    named = [one.get(key) for one in documents for key in ("trusted_folders", "trustedFolders")]
    paths = [path for value in named if isinstance(value, list) for path in value]
    return any(isinstance(path, str) and _within(folder, path) for path in paths)


def _answer(child: "Popen[bytes]", number: int, until: float) -> dict[str, Any]:
    """The line that answers a request; TimeoutError when it does not come."""
    assert child.stdout is not None
    data, fd = b"", child.stdout.fileno()
    while time.monotonic() < until:
        if not select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
            break
        got = os.read(fd, 1 << 16)
        if not got:
            break
        *lines, data = (data + got).split(b"\n")
        for said in jsonline.objects(b"\n".join(lines)):
            if said.get("id") == number:
                return said
    raise TimeoutError


def _ask_codex(program: str, folder: str, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    """Its hooks as its app server lists them. Raises OSError or ValueError when it does not answer."""
    until = time.monotonic() + _CODEX_WAIT
    child = runner.start(
        [program, "app-server"],
        cwd=folder,
        env=programs.inherited(environ),
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        group=True,
    )
    try:
        assert child.stdin is not None
        info = {"clientInfo": {"name": "git-ralph", "version": "1"}}
        for row in (
            # The handshake of its app-server protocol: a request, a notification, then questions.
            {"id": 1, "method": "initialize", "params": info},
            {"method": "initialized"},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [folder]}},
        ):
            child.stdin.write(jsonline.line(row))
        child.stdin.flush()
        rows = _answer(child, 2, until)["result"]["data"]
        return [hook for row in rows for hook in row["hooks"]]
    except (KeyError, TypeError) as error:
        raise ValueError("not the answer that was expected") from error
    finally:
        runner.kill(child)  # its launcher is not the program itself


def _of_codex(folder: str, environ: Mapping[str, str], ours: list[Installation]) -> bool | None:
    program = programs.find("codex", environ)
    if program is None:
        return None
    try:
        hooks = _ask_codex(program, folder, environ)
    except (OSError, ValueError):
        return None
    names = {os.path.realpath(one.file) for one in ours}
    by_file: dict[str, list[dict[str, Any]]] = {}
    for one in hooks:
        by_file.setdefault(os.path.realpath(str(one.get("sourcePath"))), []).append(one)
    return any(all(map(_runs, rows)) for file, rows in by_file.items() if file in names)


def _runs(hook: dict[str, Any]) -> bool:
    return bool(hook.get("enabled")) and hook.get("trustStatus") not in ("untrusted", "modified")


def trusted(agent: Agent, ours: list[Installation], folder: str, environ: Mapping[str, str]) -> bool | None:
    """True when the hooks run in ``folder``, None where only the agent can tell."""
    # Most agents run what their own settings name without asking.
    if not agent.asks_trust:
        return True
    read = [one for one in ours if one.is_read]
    if agent.name == "codex":
        return _of_codex(folder, environ, read)
    if any(one.scope != PROJECT for one in read):
        return True
    if agent.name in ("gemini", "qwen"):
        return _of_folder_rules(agent, folder, environ, default=agent.name == "gemini")
    return _of_copilot(agent, folder, environ) if agent.name == "copilot" else None

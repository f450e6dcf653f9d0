"""Runs ``bd`` within a time limit and reads what it says, in whichever of its shapes.

Never writes a tracker file: without ``bd``, ``.beads/issues.jsonl`` is read as it is.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from typing import Any

SECONDS = 5.0
_LIMIT = 64 << 20
_DROPPED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE")
_ENVELOPES = ("issue", "issues", "bead", "beads", "data", "result", "results", "items")


class TrackerError(Exception):
    """The tracker gave no answer; the message says why. Only ever a warning."""


def run(environ: Mapping[str, str], root: str, *words: str, seconds: float = SECONDS) -> bytes:
    """What ``bd <words>`` printed. Raises TrackerError when it is absent, slow or fails."""
    program = shutil.which("bd", path=environ.get("PATH", os.defpath))
    if program is None:
        raise TrackerError("bd is not on PATH")
    env = {key: value for key, value in environ.items() if key not in _DROPPED}
    try:
        child = subprocess.Popen(
            [program, *words], cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise TrackerError(f"bd cannot be started: {error.strerror}") from None
    try:
        out, err = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise TrackerError(f"bd {words[0]} gave no answer within {seconds:g} s") from None
    if child.returncode:
        said = (err or out).decode("utf-8", "replace").strip().split("\n")[0][:200]
        raise TrackerError(f"bd {words[0]} ended with {child.returncode}: {said}")
    return out[:_LIMIT]


def find(value: object, bead: str, depth: int = 4) -> dict[str, Any] | None:
    """The object of a bead in what ``bd show --json`` printed: bare, in an array, or in an envelope."""
    if depth == 0:
        return None
    if isinstance(value, list):
        return next((found for one in value if (found := find(one, bead, depth - 1))), None)
    if not isinstance(value, dict):
        return None
    if str(value.get("id", value.get("bead_id", ""))) == bead:
        return value
    inner = [value[key] for key in _ENVELOPES if isinstance(value.get(key), (dict, list))]
    found = next((one for part in inner if (one := find(part, bead, depth - 1))), None)
    if found is None and "id" not in value and isinstance(value.get("title"), str):
        return value
    return found


def show(environ: Mapping[str, str], root: str, bead: str, seconds: float = SECONDS) -> dict[str, Any] | None:
    """A bead as the tracker has it. Raises TrackerError."""
    said = run(environ, root, "show", bead, "--json", seconds=seconds)
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        raise TrackerError("bd show printed no JSON") from None
    return find(value, bead)


def from_file(root: str, bead: str) -> dict[str, Any] | None:
    """A bead as ``.beads/issues.jsonl`` has it, the last line that names it."""
    found = None
    try:
        with open(f"{root}/.beads/issues.jsonl", "rb") as file:
            for line in file.read(_LIMIT).split(b"\n"):
                if bead.encode() not in line:
                    continue
                try:
                    found = find(json.loads(line), bead) or found
                except (ValueError, RecursionError):
                    continue
    except OSError:
        return None
    return found

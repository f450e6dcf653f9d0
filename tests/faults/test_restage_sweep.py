"""A person's index given back at the end of an agent's turn, killed at any step: the next command ends it."""

import itertools
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.faults import strace, verdict
from tests.faults.scenes import TEN, Place, Scene

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing())),
]


def _event(name: str, root: str, **fields: object) -> bytes:
    told = {"session_id": "S1", "cwd": root, "hook_event_name": name, "transcript_path": "/nowhere"}
    return json.dumps({**told, **fields}).encode()


def _shell(place: Place, name: str) -> None:
    command = {"tool_name": "Bash", "tool_input": {"command": "git add -A"}, "tool_use_id": "t1"}
    done = place.ralph("hook", "claude-code", stdin=_event(name, str(place.root), **command))
    assert (done.code, done.out) == (0, b"")


def _template(folder: Path, environ: dict[str, str]) -> Scene:
    """P has ``b`` staged; S1's shell staged all, a line of P's in ``a`` among it."""
    folder.mkdir()
    place = Place(folder, environ)
    place.git("init", "-q")
    for path in ("a", "b", "c"):
        place.write(path, TEN)
    place.git("add", ".")
    place.git("commit", "-qm", "base")
    place.write("b", TEN + "staged\n")
    place.git("add", "b")
    place.write("a", TEN + "half done\n")
    place.edit("c", TEN + "one\n")
    _shell(place, "PreToolUse")
    place.git("add", "-A")
    _shell(place, "PostToolUse")
    return Scene("stop", folder, environ, ("hook", "claude-code"), _event("Stop", "@ROOT@"))


def _is_due(place: Place) -> bool:
    return any((place.root / ".git/ralph-sessions/intents").glob("stage-*.json"))


def test_the_next_command_finishes_it(tmp_path: Path, environ: dict[str, str]) -> None:
    scene = _template(tmp_path / "template", environ)
    place = scene.copy(tmp_path / "reference")
    before = place.git("ls-files", "-s")
    ended, points = strace.points(place, tmp_path / "calls")
    assert ended.code == 0, ended
    after = place.git("ls-files", "-s")
    assert after != before
    assert place.git("diff", "--cached", "--name-only") == "b\n"
    bad, finished = list[str](), {"signal=KILL": 0, "error=ENOSPC": 0}
    for how, point in itertools.product(
        finished, strace.chosen(points, 3, ("rename", "link", "linkat", "unlink"))
    ):
        shutil.rmtree(tmp_path / "hurt", ignore_errors=True)
        place = scene.copy(tmp_path / "hurt")
        strace.hurt(place, point, how)
        was_due = _is_due(place)
        place.ralph("status")
        now = place.git("ls-files", "-s")
        finished[how] += was_due and now == after
        if was_due and now != after:
            bad.append(f"{how} at {point}: it was due, and is not done")
        if now not in (before, after):
            bad.append(f"{how} at {point}: {now}")
        assert place.ralph(*place.args, stdin=place.stdin).code == 0
        if place.git("ls-files", "-s") != after:
            bad.append(f"{how} at {point}: the next end of a turn left {place.git('ls-files', '-s')}")
        bad += [
            f"{how} at {point}: left behind {one}"
            for one in verdict.leftovers(place.root)
            if "/tmp/" not in one
        ]
        if _is_due(place) or os.path.lexists(place.root / ".git/ralph-sessions/S1.staged"):
            bad.append(f"{how} at {point}: it is due still")
    assert not bad, "\n".join(bad)
    assert min(finished.values()) >= 3

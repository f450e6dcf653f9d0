"""The git that moves the branch is killed before each of its calls, alone or with the command above it."""

import itertools
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.faults import scenes, strace, verdict
from tests.faults.scenes import Scene
from tests.faults.strace import Point

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing())),
]
# Stands for git on PATH: where it moves a ref, strace traces or hurts it and, if wanted, who started it dies
# with it, as when a whole process group is killed.
_STAND_IN = """#!/bin/sh
case " $* " in
*" update-ref "*)
    {strace} {git} "$@"
    code=$?
    {after}
    exit $code ;;
esac
exec {git} "$@"
"""


def _stand_in(folder: Path, words: list[str], env: Mapping[str, str], after: str = "") -> dict[str, str]:
    git = shutil.which("git", path=env["PATH"])
    assert git is not None
    folder.mkdir(exist_ok=True)
    file = folder / "git"
    file.write_text(_STAND_IN.format(strace=" ".join(f"'{w}'" for w in words), git=git, after=after))
    file.chmod(0o755)
    return {**env, "PATH": f"{folder}{os.pathsep}{env['PATH']}"}


def _points(scene: Scene, folder: Path) -> tuple[list[Point], verdict.Picture]:
    place, log = scene.copy(folder / "reference"), folder / "calls"
    env = _stand_in(folder / "bin", strace.recording(log), place.env)
    assert strace.run([*strace.COMMAND, *place.args], place.root, env).code == 0
    return strace.calls_in(log), verdict.picture(place)


@pytest.mark.parametrize("maker", [scenes.branch, scenes.packed, scenes.detached, scenes.unborn])
def test_what_a_killed_git_leaves_the_next_command_puts_right(
    tmp_path: Path, environ: dict[str, str], maker: object
) -> None:
    """One commit, index with it, and no lock of HEAD or the branch for a human to delete."""
    assert callable(maker)
    scene: Scene = maker(tmp_path / "template", environ)
    points, wanted = _points(scene, tmp_path)
    names = {point.call for point in points}
    assert {"openat", "rename", "write", "fsync"} <= names, names
    bad, locked = [], {False: 0, True: 0}
    for above, point in itertools.product(locked, strace.chosen(points, 1, ("rename",))):
        place = scene.copy(tmp_path / "hurt")
        words = strace.injecting(point, "signal=KILL")
        env = _stand_in(tmp_path / "bin", words, environ, "kill -9 $PPID" if above else "")
        code = strace.run([*strace.COMMAND, *place.args], place.root, env).code
        git_dir, what = place.root / ".git", f"{point}, {'with the command' if above else 'alone'}"
        locked[above] += any((git_dir / name).exists() for name in ("HEAD.lock", "refs/heads/main.lock"))
        if above and code != -signal.SIGKILL:
            bad.append(f"{what}: the command was not killed ({code})")
        elif not above and code not in (0, 128):
            bad.append(f"{what}: it ended with {code}")
        again = place.again()
        if again.code:
            bad.append(f"{what}: the rerun ended with {again.code}: {again.said}")
        bad += [f"{what}: {one}" for one in verdict.faults_of(place, wanted)]
        shutil.rmtree(place.root)
    assert not bad, "\n".join(bad[:20])
    # a sweep in which git never died with its locks would prove nothing
    assert locked[True]
    assert not locked[False]

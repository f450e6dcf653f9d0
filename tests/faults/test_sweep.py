"""Every mutating call of what records, commits and proves: killed before it, failing at it, run again."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.faults import scenes, strace, verdict
from tests.faults.scenes import Place, Scene
from tests.faults.strace import Ended, Point
from tests.support.size import FULL

ERRORS = ("ENOSPC", "EIO", "EROFS", "EACCES", "EDQUOT", "EINTR")
Maker = Callable[[Path, Mapping[str, str]], Scene]

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing())),
]


class Sweep:
    """One scene: how it ends unharmed, and a copy of it for every point."""

    def __init__(self, maker: Maker, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.scene = maker(folder / "template", env)
        place = self.scene.copy(folder / "reference")
        ended, self.points = strace.points(place, folder / "calls")
        assert ended.code == 0, ended
        _commit_recorded(place)
        self.wanted = verdict.picture(place)
        assert (verdict.leftovers(place.root), verdict.fsck(place)) == ([], "")
        self.bad: list[str] = []
        self.tried = self.missed = 0

    def hurt(self, point: Point, how: str) -> None:
        """Hurt a fresh copy at one point, run the command again, note what is wrong then."""
        place = self.scene.copy(self.folder / "hurt")
        ended = strace.hurt(place, point, how)
        self.tried += 1
        self.missed += how == "signal=KILL" and ended.code == 0
        wrong = _wrong_end(ended, how, place)
        again = place.again()
        if again.code or "Traceback" in again.said or "internal error" in again.said:
            wrong.append(f"the rerun ended with {again.code}: {again.said}")
        _commit_recorded(place)
        wrong += verdict.faults_of(place, self.wanted)
        self.bad += [f"{how} at {point} (exit {ended.code}): {one}" for one in wrong]
        shutil.rmtree(place.root)


def _wrong_end(ended: Ended, how: str, place: Place) -> list[str]:
    """What is wrong with how a hurt command ended."""
    if how == "signal=KILL":
        return [] if ended.code in (-9, 0) else [f"it was not killed: {ended.code}"]
    wrong = []
    said = ended.out + ended.err
    if "Traceback" in said or "internal error" in said:
        wrong.append(f"it ended badly: {said}")
    allowed = (0,) if place.args[0] == "hook" else (0, 1, 75, 128)
    if ended.code not in allowed:
        wrong.append(f"it ended with {ended.code}: {said}")
    if ended.code and not ended.err:
        wrong.append("it failed without a word")
    return wrong


def _commit_recorded(place: Place) -> None:
    """A recorder's sweep ends with the commit of what was recorded."""
    if place.args[0] in ("hook", "track", "assign"):
        done = place.ralph("commit", "--session", "S1", "-m", "x")
        assert done.code == 0, done.said


EVERY: list[Maker] = [*scenes.COMMITS, *scenes.RECORDERS, scenes.proving]


@pytest.mark.parametrize("maker", EVERY, ids=lambda maker: maker.__name__)
def test_hurt_at_any_call_it_is_finished_by_the_next(
    maker: Maker, tmp_path: Path, environ: dict[str, str]
) -> None:
    """Killed: one commit, records consumed once, nothing for a human to delete, no worktree git cannot use.

    Failed: exit codes as documented, no traceback, and a rerun that finishes the job.
    """
    run, main = Sweep(maker, tmp_path, environ), maker is scenes.branch
    some = strace.chosen(run.points, 4 if main else 1, ("link", "rename") if main else ())
    # The branch has moved, and the records say so one after the other.
    notes = [one for one in run.points if main and one.call == "write" and '\\"commit\\":' in one.shown]
    for point in dict.fromkeys([*some, *strace.chosen(notes, 2)]):
        run.hurt(point, "signal=KILL")
    for number, point in enumerate(strace.chosen(run.points, 3 if main else 1), EVERY.index(maker)):
        for error in ERRORS if FULL else ERRORS[number % len(ERRORS) :][:1]:
            run.hurt(point, f"error={error}")
    print(f"{run.scene.name}: {run.tried} faults, {run.missed} not reached")
    assert not run.bad, f"{len(run.bad)} of {run.tried} went wrong:\n" + "\n".join(run.bad[:20])
    # how often a file is opened may differ by a few from run to run
    assert run.missed * 20 <= run.tried, f"{run.missed} of {run.tried} faults were not reached"


def test_a_stored_text_that_cannot_be_read_stops_the_commit(tmp_path: Path, environ: dict[str, str]) -> None:
    """An input error says nothing of the edit: taken for lost, its lines had been left out, with 0."""
    scene = scenes.branch(tmp_path / "template", environ)
    (text,) = [p for p in (tmp_path / "template/.git/ralph-sessions/objects").rglob("*") if p.is_file()][:1]
    place = scene.copy(tmp_path / "hurt")
    args = ["-P", str(place.root / text.relative_to(tmp_path / "template")), "-e", "inject=openat:error=EIO"]
    words = ["strace", "-qq", "-o", os.devnull, "-e", "trace=openat", *args, *strace.COMMAND, *place.args]
    head = place.git("rev-parse", "HEAD")
    ended = strace.run(words, place.root, place.env)
    assert ended.code == 128, ended
    assert "Input/output error" in ended.err
    assert place.git("rev-parse", "HEAD") == head
    assert place.again().code == 0
    assert place.ralph("ls-files", "--session", "S1").text == ""

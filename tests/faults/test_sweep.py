"""Every mutating call of what records, commits and proves: killed before it, failing at it, run again."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.faults import scenes, strace, verdict
from tests.faults.scenes import Place, Scene
from tests.faults.strace import Ended, Point

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
        ended, self.points = strace.points(
            place.args, str(place.root), env, place.stdin, str(folder / "calls")
        )
        assert ended.code == 0, ended
        _commit_recorded(place)
        self.wanted = verdict.picture(place)
        assert verdict.faults_of(place, self.wanted) == []
        self.bad: list[str] = []
        self.tried = self.missed = 0

    def hurt(self, point: Point, how: str) -> None:
        """Hurt a fresh copy at one point, run the command again, note what is wrong then."""
        place = self.scene.copy(self.folder / "hurt")
        ended = strace.hurt(point, how, place.args, str(place.root), place.env, place.stdin)
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


@pytest.fixture
def sweep(tmp_path: Path, environ: dict[str, str]) -> Iterator[Callable[[Maker], Sweep]]:
    made: list[Sweep] = []

    def make(maker: Maker) -> Sweep:
        made.append(Sweep(maker, tmp_path, environ))
        return made[-1]

    yield make
    for one in made:
        print(f"{one.scene.name}: {one.tried} faults, {one.missed} not reached")
        assert not one.bad, f"{len(one.bad)} of {one.tried} went wrong:\n" + "\n".join(one.bad[:20])
        # how often a file is opened may differ by a few from run to run
        assert one.missed * 20 <= one.tried, f"{one.missed} of {one.tried} faults were not reached"


_GIT_FILES = ("link", "rename")


@pytest.mark.parametrize("maker", scenes.COMMITS, ids=lambda maker: maker.__name__)
def test_commit_killed_before_every_call_is_finished_by_the_next(
    maker: Maker, sweep: Callable[[Maker], Sweep]
) -> None:
    """Killed at any step: one commit, records consumed once, nothing for a human to delete."""
    run = sweep(maker)
    main = maker is scenes.branch
    for point in strace.chosen(run.points, 8 if main else 2, _GIT_FILES if main else ()):
        run.hurt(point, "signal=KILL")


@pytest.mark.parametrize("maker", scenes.RECORDERS, ids=lambda maker: maker.__name__)
def test_recording_killed_before_every_call_is_finished_by_the_next(
    maker: Maker, sweep: Callable[[Maker], Sweep]
) -> None:
    run = sweep(maker)
    for point in strace.chosen(run.points, 2):
        run.hurt(point, "signal=KILL")


def test_a_range_whose_proof_was_killed_is_proved_by_the_next(sweep: Callable[[Maker], Sweep]) -> None:
    """No worktree that git could not use, and no lock, is left in the way of anybody."""
    run = sweep(scenes.proving)
    for point in strace.chosen(run.points, 3):
        run.hurt(point, "signal=KILL")


EVERY: list[Maker] = [*scenes.COMMITS, *scenes.RECORDERS, scenes.proving]


@pytest.mark.parametrize("maker", EVERY, ids=lambda maker: maker.__name__)
def test_an_error_of_every_call_loses_nothing(maker: Maker, sweep: Callable[[Maker], Sweep]) -> None:
    """Exit codes as documented, no traceback, and a rerun that finishes the job."""
    run = sweep(maker)
    chosen = strace.chosen(run.points, 5 if maker is scenes.branch else 1)
    for number, point in enumerate(chosen, EVERY.index(maker)):
        for error in ERRORS if strace.FULL else ERRORS[number % len(ERRORS) :][:1]:
            run.hurt(point, f"error={error}")


def test_a_stored_text_that_cannot_be_read_stops_the_commit(tmp_path: Path, environ: dict[str, str]) -> None:
    """An input error says nothing of the edit: taken for lost, its lines had been left out, with 0."""
    scene = scenes.branch(tmp_path / "template", environ)
    (text,) = [p for p in (tmp_path / "template/.git/ralph-sessions/objects").rglob("*") if p.is_file()][:1]
    place = scene.copy(tmp_path / "hurt")
    args = ["-P", str(place.root / text.relative_to(tmp_path / "template")), "-e", "inject=openat:error=EIO"]
    words = ["strace", "-qq", "-o", os.devnull, "-e", "trace=openat", *args, *strace.COMMAND, *place.args]
    head = place.git("rev-parse", "HEAD")
    ended = strace._run(words, str(place.root), place.env, b"")
    assert ended.code == 128, ended
    assert "Input/output error" in ended.err
    assert place.git("rev-parse", "HEAD") == head
    assert place.again().code == 0
    assert place.ralph("ls-files", "--session", "S1").text == ""

"""Every mutating call of ``undo``, ``--redo`` and ``restore``: killed before it, failing at it, run again.

Right after it each file is what it was or what it shall be, whole, and nothing strange lies in the working
tree; after the next run all is done, once, and a redo brings every byte back.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.faults import strace, verdict
from tests.faults.scenes import TEN, Place, Scene, _based
from tests.faults.strace import Point
from tests.support.size import FULL

_NAMES = ("renameat2", "rename", "link", "linkat")
ERRORS = ("ENOSPC", "EIO", "EROFS", "EACCES", "EDQUOT", "EINTR")
Files = dict[str, tuple[bytes, int]]

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing())),
]


def _edited(folder: Path, env: Mapping[str, str]) -> Place:
    """S1 changes two files, one of them shared with S2 and a person, makes one, deletes one."""
    place = _based(folder, env)
    place.edit("a", TEN.replace("line 9\n", "line nine\n"))
    place.edit("a", TEN.replace("line 9\n", "line nine\n").replace("line 2\n", "line two\n"), "S2")
    place.write("a", (folder / "a").read_text().replace("line 5\n", "person's line 5\n"))
    (folder / "d/m").chmod(0o755)
    place.edit("d/m", TEN + "line 11\n")
    place.edit("n/new", "new\n")
    place.edit("gone", None)
    place.write("b", "staged by the user\n")
    place.git("add", "b")
    return place


def undo(folder: Path, env: Mapping[str, str]) -> Scene:
    """Four files go back."""
    _edited(folder, env)
    return Scene("undo", folder, env, ("undo", "--session", "S1"))


def redo(folder: Path, env: Mapping[str, str]) -> Scene:
    """They come back."""
    place = _edited(folder, env)
    assert place.ralph("undo", "--session", "S1").code == 0
    return Scene("redo", folder, env, ("undo", "--session", "S1", "--redo"))


def restore(folder: Path, env: Mapping[str, str]) -> Scene:
    """They come back after a checkout and a clean."""
    place = _edited(folder, env)
    place.git("checkout", "--", ".")
    place.git("clean", "-fdq")
    return Scene("restore", folder, env, ("restore", "--session", "S1"))


SCENES = (undo, redo, restore)


def files(root: Path) -> Files:
    """Bytes and mode of every file of the working tree."""
    return {name: (data, mode) for name, data, mode in verdict._files(root)}


class Sweep:
    """A scene, how its files stand before and after, and a copy of it for every point."""

    def __init__(
        self, maker: Callable[[Path, Mapping[str, str]], Scene], folder: Path, env: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.scene = maker(folder / "template", env)
        self.before = files(folder / "template")
        place = self.scene.copy(folder / "reference")
        ended, self.points = strace.points(place, folder / "calls")
        assert ended.code == 0, ended
        self.after = files(place.root)
        assert self.after != self.before
        self.staged = place.git("diff", "--cached")
        self.bad: list[str] = []
        assert self.wrong(place, ended.code) == []

    def hurt(self, point: Point, how: str) -> None:
        """Hurt a fresh copy at one point; note what is wrong right then, and after the next run."""
        place = self.scene.copy(self.folder / "hurt")
        ended = strace.hurt(place, point, how)
        found = []
        if how != "signal=KILL" and (ended.code not in (0, 4, 75, 128) or "Traceback" in ended.err):
            found.append(f"it ended with {ended.code}: {ended.out}{ended.err}")
        found += self.torn(place)
        again = place.again()
        if again.code:
            found.append(f"the rerun ended with {again.code}: {again.said}")
        found += self.wrong(place, again.code)
        self.bad += [f"{how} at {point} (exit {ended.code}): {one}" for one in found]
        shutil.rmtree(place.root)

    def torn(self, place: Place) -> list[str]:
        """Files that are neither as before nor as after."""
        now = files(place.root)
        return [
            f"'{name}' is torn: {now.get(name)}"
            for name in {*now, *self.before, *self.after}
            if now.get(name) not in (self.before.get(name), self.after.get(name))
        ]

    def wrong(self, place: Place, _code: int) -> list[str]:
        """What is not as it would be had nothing been hurt."""
        found = [] if files(place.root) == self.after else [f"the files are {files(place.root)}"]
        if place.git("diff", "--cached") != self.staged:
            found.append("the staged diff changed")
        found += [f"left behind: {name}" for name in verdict.leftovers(place.root)]
        # done once: one more is nothing, and the way back leads to every byte
        back = ("undo", "--session", "S1", *(() if self.scene.name != "undo" else ("--redo",)))
        once_more = place.ralph(*place.args)
        if once_more.code or "nothing" not in once_more.text:
            found.append(f"once more did something: {once_more.text}{once_more.said}")
        gone = place.ralph(*back)
        if gone.code:
            found.append(f"{' '.join(back)}: {gone.said}")
        elif self.scene.name != "restore" and files(place.root) != self.before:
            found.append(f"the way back led to {files(place.root)}")
        return found


@pytest.mark.parametrize("maker", SCENES, ids=lambda maker: maker.__name__)
def test_hurt_at_any_call_it_is_finished_or_dropped_by_the_next(
    maker: Callable[[Path, Mapping[str, str]], Scene], tmp_path: Path, environ: dict[str, str]
) -> None:
    """A kill at any point leaves nothing to clean up; every file is whole at any moment.

    A full disk, a read-only one, an input error: exit codes as documented, and a rerun that does it.
    """
    run = Sweep(maker, tmp_path, environ)
    for point in strace.chosen(run.points, *((3, _NAMES) if maker is undo else (2,))):
        run.hurt(point, "signal=KILL")
    some = strace.chosen(run.points, 3 if maker is undo else 1)
    # The file is in its place when its record is written.
    records = [one for one in run.points if one.call == "write" and '\\"op\\":' in one.shown]
    for number, point in enumerate(dict.fromkeys([*some, *strace.chosen(records, 2)])):
        for error in ERRORS if FULL else ERRORS[number % len(ERRORS) :][:1]:
            run.hurt(point, f"error={error}")
    assert not run.bad, f"{len(run.bad)} went wrong:\n" + "\n".join(run.bad[:12])


def _committed(folder: Path, env: Mapping[str, str]) -> Place:
    """S1's commit of three files, with something staged by the user on one of them and elsewhere."""
    place = _edited(folder, env)
    assert place.ralph("commit", "--session", "S1", "-m", "x").code == 0
    place.git("add", "a")
    return place


def test_uncommit_hurt_at_any_call_has_happened_or_not(tmp_path: Path, environ: dict[str, str]) -> None:
    """The branch is at one commit or the other; files and staged changes are the same, no lock is left."""
    place = _committed(tmp_path / "template", environ)
    scene = Scene("uncommit", tmp_path / "template", environ, ("uncommit", "--session", "S1"))
    made, before = place.git("rev-parse", "HEAD"), files(place.root)
    staged = _staged_of(place)
    reference = scene.copy(tmp_path / "reference")
    ended, points = strace.points(reference, tmp_path / "calls")
    assert ended.code == 0, ended
    base = reference.git("rev-parse", "HEAD")
    assert (base, _staged_of(reference)) == (place.git("rev-parse", "HEAD~1"), staged)
    bad: list[str] = []
    faults = [("signal=KILL", point) for point in strace.chosen(points, 3, _NAMES)]
    faults += [(how, point) for how in ("error=ENOSPC", "error=EIO") for point in strace.chosen(points, 2)]
    for how, point in faults:
        hurt = scene.copy(tmp_path / "hurt")
        strace.hurt(hurt, point, how)
        done = hurt.ralph("status")
        wrong = [] if done.code == 0 else [f"status: {done.said}"]
        now, again = hurt.git("rev-parse", "HEAD"), hurt.again()
        if now not in (made, base) or again.code != (0 if now == made else 4):
            wrong.append(f"HEAD was {now}, the rerun ended with {again.code}: {again.said}")
        wrong += [f"left behind: {name}" for name in verdict.leftovers(hurt.root)]
        if _staged_of(hurt) != staged or files(hurt.root) != before:
            wrong.append(f"files or staged changes moved: {hurt.git('status', '-s')}")
        if said := verdict.fsck(hurt):
            wrong.append(said)
        bad += [f"{how} at {point}: {one}" for one in wrong]
        shutil.rmtree(hurt.root)
    assert not bad, f"{len(bad)} went wrong:\n" + "\n".join(bad[:12])


def _staged_of(place: Place) -> dict[str, str]:
    """The staged change of each path, without line numbers."""
    out: dict[str, str] = {}
    for path in place.git("diff", "--cached", "--name-only").split():
        lines = place.git("diff", "--cached", "-U0", "--", path).split("\n")
        out[path] = "\n".join(one for one in lines if one[:1] in "+-" and one[:3] not in ("+++", "---"))
    return out

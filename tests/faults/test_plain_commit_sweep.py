"""A plain ``git commit`` behind the guard, killed or failed at any step: nothing for a person to do."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.faults import strace, verdict
from tests.faults.scenes import Place, Scene
from tests.faults.strace import Point
from tests.support import sealed
from tests.support.guarded import TEN, ten
from tests.support.size import FULL

GIT = shutil.which("git") or "git"
TOOL = shutil.which("git-ralph") or "git-ralph"
FORMS = {"as it stands": (), "all": ("-a",), "paths": ("--", "f", "g", "h")}
_FIRST = next(iter(FORMS))
_FULL_ONLY = pytest.mark.skipif(not FULL, reason="the whole sweep: only with RALPH_FULL=1")
HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
# in a CI run each form meets the hook that judges and one more, with RALPH_FULL=1 all
PAIRS = [
    (form, hook)
    for number, form in enumerate(FORMS)
    for hook in (HOOKS if FULL else (HOOKS[0], HOOKS[1 + number]))
]

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing())),
]


@dataclass(frozen=True)
class State:
    """What must come out the same."""

    tree: str
    index: str
    staged: str
    worktree: str
    pending: str


def _state(place: Place) -> State:
    files = "".join((place.root / path).read_text() for path in ("f", "g", "h"))
    return State(
        place.git("rev-parse", "HEAD^{tree}"),
        place.git("ls-files", "-s"),
        place.git("diff", "--cached"),
        files,
        place.ralph("ls-files", "--session", "S1").text,
    )


def _template(folder: Path, environ: dict[str, str], form: str) -> Scene:
    """S1 and S2 in one file, each in one of its own, a human in two; one of his changes staged."""
    env = {**environ, "RALPH_SESSION": "S1"}
    folder.mkdir()
    place = Place(folder, env)
    place.git("init", "-q")
    for path in ("f", "g", "h"):
        place.write(path, TEN)
    place.git("add", ".")
    place.git("commit", "-qm", "base")
    place.write("h", ten(l10="staged"))
    place.git("add", "h")
    # of another launcher: with the variable of the first its edits would be S1's
    other = Place(folder, {**environ, "RALPH_SESSION": "S2"})
    place.edit("f", ten(l2="one"))
    other.edit("f", ten(l2="one", l8="two"), "S2")
    place.edit("g", ten(l3="one"))
    other.edit("h", ten(l3="two", l10="staged"), "S2")
    place.write("f", ten(l2="one", l5="human", l8="two"))
    if form == "as it stands":
        place.git("add", "-A")
    # not through a command that would count the same calls: hooks are files
    assert Place(folder, environ).ralph("install", "--guard").code == 0
    place.git("config", "ralph.guard", "narrow")
    return Scene(form, folder, env, ("commit", "-q", "-m", "x", *FORMS[form]))


@cache
def _unharmed(lasting: Path, form: str) -> tuple[Scene, State, State, list[Point]]:
    """A form's scene, made once for all its tests; what is before and after; git's own calls."""
    folder = lasting / form.replace(" ", "-")
    scene = _template(folder / "template", sealed.environment(folder / "home"), form)
    place = scene.copy(folder / "reference")
    before = _state(place)
    ended, points = strace.points(place, folder / "calls", [GIT])
    assert ended.code == 0, ended
    assert verdict.leftovers(place.root) == [], "before any command of ours"
    after = _state(place)
    assert after.tree != before.tree
    assert after.pending == ""
    return scene, before, after, points


@cache
def _calls(lasting: Path, form: str, hook: str) -> list[Point]:
    """What one hook of ours calls."""
    folder, log = lasting / form.replace(" ", "-") / hook, lasting / "log"
    folder.mkdir()
    place = _unharmed(lasting, form)[0].copy(folder / "reference")
    assert _git(place, _shim(folder / "shim", hook, strace.recording(log), False), hook) == 0
    points = [point for point in strace.calls_in(log) if "__pycache__" not in point.shown]
    assert points, "the hook was never traced"
    return points


class Sweep:
    """One form of commit: how it ends unharmed, and copies of it to hurt."""

    def __init__(self, folder: Path, lasting: Path, form: str) -> None:
        self.folder, self.form = folder, form
        self.scene, self.before, self.after, self.points = _unharmed(lasting, form)
        self.bad: list[str] = []
        self.tried = self.landed = 0

    def copy(self) -> Place:
        """A fresh copy to hurt."""
        shutil.rmtree(self.folder / "hurt", ignore_errors=True)
        return self.scene.copy(self.folder / "hurt")

    def judge(self, place: Place, what: str) -> None:
        """One reading command, then everything is whole; not made, it is made by running it again."""
        self.tried += 1
        wrong = []
        looked = place.ralph("status")
        if looked.code or "Traceback" in looked.said or "internal error" in looked.said:
            wrong.append(f"status ended with {looked.code}: {looked.said}")
        # work of ours in the state folder waits for the next command that writes; a person sees none of it
        left = [name for name in verdict.leftovers(place.root) if "/tmp/" not in name]
        wrong += [f"left behind: {name}" for name in left]
        now = _state(place)
        made = now.tree == self.after.tree
        self.landed += made
        wrong += [] if now == (self.after if made else self.before) else [f"{now}"]
        if not made and not wrong:
            again = subprocess.run(
                [GIT, *place.args], cwd=place.root, env=place.env, capture_output=True, check=False
            )
            if again.returncode:
                wrong.append(f"the rerun ended with {again.returncode}: {again.stderr.decode()}")
            elif _state(place) != self.after:
                wrong.append(f"the rerun made {_state(place)}")
        noted = place.root / ".git/ralph-sessions/S1.commits"
        commits = noted.read_text().splitlines() if noted.exists() else []
        wrong += [] if len(commits) == 1 else [f"consumed {len(commits)} times"]
        if said := verdict.fsck(place):
            wrong.append(said)
        place.ralph("commit", "--session", "S1", "-m", "x")
        wrong += [f"left behind by a commit: {name}" for name in verdict.leftovers(place.root)]
        self.bad += [f"{self.form}, {what}: {one}" for one in wrong]


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plain")


@pytest.fixture
def sweep(form: str, tmp_path: Path, lasting: Path) -> Iterator[Sweep]:
    one = Sweep(tmp_path, lasting, form)
    yield one
    print(f"{one.form}: {one.tried} faults, {one.landed} landed")
    assert not one.bad, f"{len(one.bad)} of {one.tried} went wrong:\n" + "\n".join(one.bad[:20])
    assert one.tried


@pytest.mark.parametrize("form", FORMS)
def test_git_itself_killed_before_every_call(form: str, sweep: Sweep) -> None:
    """Before our first hook, while it reads, while it moves the branch: 0 manual steps."""
    for point in strace.chosen(sweep.points, 2 if form == _FIRST else 1):
        place = sweep.copy()
        ended = strace.hurt(place, point, "signal=KILL", [GIT])
        assert ended.code in (-9, 0), ended
        sweep.judge(place, f"git killed at {point}")


def _shim(folder: Path, hook: str, words: list[str], also_git: bool) -> dict[str, str]:
    """A ``git-ralph`` in front of PATH that is traced for one hook, and may take its git along."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    tool = folder / "git-ralph"
    # $2 is the hook, $3 the process of git
    tail = '[ $code -lt 128 ] || kill -KILL "$3"\n' if also_git else ""
    tool.write_text(
        f'#!/bin/sh\n[ "$2" = {hook} ] || exec {shlex.join(strace.COMMAND)} "$@"\n'
        f'{shlex.join(words)} {shlex.join(strace.COMMAND)} "$@"\ncode=$?\n{tail}exit $code\n'
    )
    tool.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def _git(place: Place, more: dict[str, str], hook: str) -> int:
    # without an editor the message is signed a hook earlier
    first, *rest = place.args
    edits = ["-e"] if hook == "commit-msg" else []
    env = {**place.env, **more, "GIT_EDITOR": "true"}
    ended = strace.run([GIT, first, *edits, *rest], place.root, env)
    assert "Traceback" not in ended.err, ended.err
    return ended.code


@pytest.mark.parametrize(
    "also_git", [pytest.param(False, marks=_FULL_ONLY), True], ids=["the hook alone", "with its git"]
)
@pytest.mark.parametrize(("form", "hook"), PAIRS)
def test_the_guard_killed_before_every_call(
    form: str, hook: str, also_git: bool, sweep: Sweep, tmp_path: Path, lasting: Path
) -> None:
    """Each hook of ours, alone and together with the git that waits for it."""
    for point in strace.chosen(_calls(lasting, form, hook), 2 if (form, hook) == PAIRS[0] else 1):
        place = sweep.copy()
        shim = _shim(tmp_path / "shim", hook, strace.injecting(point, "signal=KILL"), also_git)
        _git(place, shim, hook)
        sweep.judge(place, f"{hook} killed at {point}")


@pytest.mark.parametrize("error", ["ENOSPC", pytest.param("EROFS", marks=_FULL_ONLY)])
@pytest.mark.parametrize("form", FORMS)
def test_a_full_or_read_only_disk_stops_the_commit_or_not_and_nothing_is_lost(
    form: str, error: str, sweep: Sweep, tmp_path: Path, lasting: Path
) -> None:
    # in a CI run each hook meets a form, of those above
    for hook in HOOKS if FULL else (HOOKS[:2], HOOKS[2:3], HOOKS[3:])[list(FORMS).index(form)]:
        points = [point for point in _calls(lasting, form, hook) if point.call != "unlink"]
        for point in strace.chosen(points, 1):
            place = sweep.copy()
            shim = _shim(tmp_path / "shim", hook, strace.injecting(point, f"error={error}"), False)
            _git(place, shim, hook)
            sweep.judge(place, f"{hook}, {error} at {point}")

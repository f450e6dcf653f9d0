"""``gc``, ``install`` and ``uninstall`` killed before every call that changes something, then run again."""

import os
import shutil
import time
from pathlib import Path

import pytest

from tests.faults import scenes, strace
from tests.faults.scenes import Place
from tests.support.home import Home, with_tool_on_path

_NAMES = ("rename", "link", "unlink", "rmdir")
SETTINGS = '{\n  "model": "x"\n}\n'
AGENTS = ("--agent", "claude-code", "--agent", "pi")

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing())),
]


def swept_scene(folder: Path, env: dict[str, str]) -> Place:
    """S1 is over and old, in two worktrees; S2 waits in a file of S1's and in one of its own."""
    folder.mkdir(parents=True)
    place = Place(folder, env)
    place.git("init", "-q")
    for path in ("a", "b", "c"):
        place.write(path, scenes.TEN)
    place.git("add", ".")
    place.git("commit", "-qm", "base")
    for path in ("a", "b"):
        place.edit(path, scenes.TEN.replace("line 2\n", "two\n"))
    assert place.ralph("commit", "--session", "S1", "-m", "x").code == 0
    place.edit("b", scenes.TEN.replace("line 2\n", "two\n").replace("line 9\n", "nine\n"), "S2")
    place.edit("c", "new\n", "S2")
    assert place.ralph("session", "end", "S1").code == 0
    then = time.time() - 100 * 24 * 3600
    for name in ("S1.json", "S1.files", "S1.commits"):
        os.utime(folder / ".git/ralph-sessions" / name, (then, then))
    return place


def pending(place: Place, session: str) -> list[str]:
    return place.ralph("ls-files", "--session", session).text.split()


def wrong_after_gc(place: Place) -> list[str]:
    """What is not as it must be once gc, cut off or not, has been run again."""
    wrong = []
    if (pending(place, "S1"), pending(place, "S2")) != ([], ["b", "c"]):
        wrong.append("what is pending changed by a cut")
    for path in (place.root / ".git/ralph-sessions").rglob("*"):
        if path.name.endswith(".tmp") or path.name.startswith("S1."):
            os.utime(path, (0, 0))  # such files go when nobody can still be writing them
    done = place.ralph("gc")
    if done.code or "Traceback" in done.said:
        wrong.append(f"the rerun ended with {done.code}: {done.said}")
    left = sorted(name.name for name in (place.root / ".git/ralph-sessions").rglob("*") if name.is_file())
    if any(name.startswith(("S1.", "a-")) or name.endswith((".gc", ".tmp")) for name in left):
        wrong.append(f"something is left: {left}")
    place.edit("a", "again\n")
    if (pending(place, "S1"), pending(place, "S2")) != (["a"], ["b", "c"]):
        wrong.append("what is pending changed by the rerun or by S1's return")
    for session, letters in (("S1", "M\ta\n"), ("S2", "M\tb\nM\tc\n")):
        done = place.ralph("commit", "--session", session, "-m", session)
        said = place.git("show", "--format=", "--name-status")
        if done.code or said != letters:
            wrong.append(f"commit of {session}: {done.code} {done.said} {said!r}")
    return wrong


def test_gc_killed_anywhere(tmp_path: Path, environ: dict[str, str]) -> None:
    template = swept_scene(tmp_path / "template", environ)
    scene = scenes.Scene("gc", template.root, environ, ("gc",))
    reference = scene.copy(tmp_path / "reference")
    ended, points = strace.points(reference, tmp_path / "calls")
    assert ended.code == 0, ended
    assert wrong_after_gc(reference) == []
    bad = []
    for point in strace.chosen(points, 2, _NAMES):
        place = scene.copy(tmp_path / "hurt")
        ended = strace.hurt(place, point, "signal=KILL")
        assert ended.code in (-9, 0), (point, ended)
        bad += [f"killed at {point}: {one}" for one in wrong_after_gc(place)]
        shutil.rmtree(place.root)
    assert bad == []


def fresh_home(tmp_path: Path, env: dict[str, str]) -> Home:
    """A home with settings of Claude Code and nothing of pi."""
    root = tmp_path / "home"
    shutil.rmtree(root, ignore_errors=True)
    (root / "state").mkdir(parents=True)
    home = Home(root, {**env, "HOME": str(root), "XDG_STATE_HOME": str(root / "state")}, tmp_path)
    home.write(".claude/settings.json", SETTINGS)
    return home


def visible(tree: dict[str, bytes | None]) -> dict[str, bytes | None]:
    """A home's tree; what receipts say of folders may differ."""
    return {name: None if name.startswith("journal/") else data for name, data in tree.items()}


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_install_and_uninstall_killed_anywhere(command: str, tmp_path: Path, environ: dict[str, str]) -> None:
    env = with_tool_on_path(environ)
    home = fresh_home(tmp_path, env)
    without = home.tree()
    home.ralph("install", *AGENTS)
    with_hooks = home.tree()
    wanted = with_hooks if command == "install" else without
    allowed = {SETTINGS.encode(), with_hooks[".claude/settings.json"]}

    def prepared() -> Home:
        home = fresh_home(tmp_path, env)
        if command == "uninstall":
            home.ralph("install", *AGENTS)
        return home

    args = (command, *AGENTS)
    ended, points = strace.points(Place(tmp_path, prepared().env, args), tmp_path / "calls")
    assert ended.code == 0, ended
    bad = []
    for point in strace.chosen(points, 2, _NAMES):
        home = prepared()
        strace.hurt(Place(tmp_path, home.env, args), point, "signal=KILL")
        if home.read(".claude/settings.json") not in allowed:
            bad.append(f"killed at {point}: the settings are torn")
        home.ralph(*args)
        if visible(home.tree()) != visible(wanted):
            bad.append(f"killed at {point}: {sorted(set(home.tree()) ^ set(wanted))}")
        home.ralph("uninstall")
        if home.tree() != without:
            bad.append(f"killed at {point}, uninstalled: {sorted(set(home.tree()) ^ set(without))}")
    assert bad == []

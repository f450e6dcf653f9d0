"""``worktree add``, ``merge`` and ``remove`` killed before every mutating call, run again, nothing lost.

git's registration is judged by git, and every byte of work must be found somewhere afterwards: in the
worktree, on a branch, or under ``refs/ralph/trash/``.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.faults import scenes, strace, verdict
from tests.faults.scenes import Place, Scene
from tests.support.size import FULL

_NAMES = ("link", "rename", "unlink")
Maker = Callable[[Path, Mapping[str, str]], Scene]
WORK = {"new": b"untracked work\n", "a": b"modified work\n"}

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(strace.missing() is not None, reason=str(strace.missing())),
]


def _tree(place: Place) -> Path:
    return place.root / ".worktrees/ralph-bd-1"


def _bead(folder: Path, env: Mapping[str, str]) -> Place:
    folder.mkdir(parents=True)
    place = Place(folder, env)
    place.git("init", "-q")
    for path in ("a", "b", "gone", "d/m", "u"):
        place.write(path, scenes.TEN)
    place.git("add", ".")
    place.git("commit", "-qm", "base")
    return place


def _worked(folder: Path, env: Mapping[str, str]) -> Place:
    place = _bead(folder, env)
    assert place.ralph("worktree", "add", "bd-1").code == 0
    inside = Place(_tree(place), env)
    inside.write("n/committed", "committed work\n")
    inside.write("b", "committed work\n")
    (inside.root / "gone").unlink()
    inside.git("add", "-A")
    inside.git("commit", "-qm", "work")
    return place


def add(folder: Path, env: Mapping[str, str]) -> Scene:
    """The first worktree of a repository."""
    _bead(folder, env)
    return Scene("add", folder, env, ("worktree", "add", "bd-1"))


def merge_forward(folder: Path, env: Mapping[str, str]) -> Scene:
    """A fast-forward of the branch that the main checkout is on; it has changes of its own."""
    place = _worked(folder, env)
    place.write("u", "the user's\n")
    return Scene("merge_forward", folder, env, ("worktree", "merge", "bd-1"))


def merge_true(folder: Path, env: Mapping[str, str]) -> Scene:
    """A merge commit."""
    place = _worked(folder, env)
    place.write("d/m", "main went on\n")
    place.git("commit", "-qam", "main")
    return Scene("merge_true", folder, env, ("worktree", "merge", "bd-1"))


def remove(folder: Path, env: Mapping[str, str]) -> Scene:
    """A clean, merged worktree goes."""
    place = _worked(folder, env)
    assert place.ralph("worktree", "merge", "bd-1").code == 0
    return Scene("remove", folder, env, ("worktree", "remove", "bd-1"))


def remove_forced(folder: Path, env: Mapping[str, str]) -> Scene:
    """A dirty, unmerged worktree is saved and goes."""
    place = _worked(folder, env)
    for path, data in WORK.items():
        (_tree(place) / path).write_bytes(data)
    return Scene("remove_forced", folder, env, ("worktree", "remove", "--force", "bd-1"))


SCENES = (add, merge_forward, merge_true, remove, remove_forced)


def _made(maker: Maker, folder: Path, env: Mapping[str, str]) -> Scene:
    """A scene made where its copies will be, since git keeps the path of a worktree."""
    scene = maker(folder / "hurt", env)
    os.rename(folder / "hurt", folder / "template")
    return Scene(scene.name, folder / "template", env, scene.args)


def _blobs(place: Place) -> set[str]:
    """The ids of every file that a ref or a worktree still has."""
    files = [path.read_bytes() for path in _tree(place).rglob("*") if path.is_file() and path.name != ".git"]
    found = {hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() for data in files}
    for ref in place.git("for-each-ref", "--format=%(refname)").split():
        found.update(row.split()[2] for row in place.git("ls-tree", "-r", ref).splitlines())
    return found


def _outcome(place: Place) -> tuple[object, ...]:
    """What must come out the same whether the command was hurt or not."""
    state = place.root / ".git/ralph-sessions"
    return (
        place.git("for-each-ref", "--format=%(refname) %(tree)", "refs/heads"),
        place.git("worktree", "list", "--porcelain").count("worktree "),
        place.git("status", "--porcelain"),
        place.git("ls-files", "-s"),
        sorted(str(p.relative_to(place.root)) for p in place.root.rglob("*") if ".git" not in p.parts),
        sorted(p.name for p in (state / "beads").iterdir()),
        sorted(p.name for p in state.glob("merges/*")),
    )


def _wrong(place: Place, work: set[str]) -> list[str]:
    said = []
    if "prunable" in place.git("worktree", "list", "--porcelain"):
        said.append("a registration without its worktree")
    lost = work - _blobs(place)
    if lost:
        said.append(f"lost: {lost!r}")
    return said


def _again(place: Place, wanted: tuple[object, ...], work: set[str]) -> list[str]:
    done = place.again()
    ended = done.code in (0, 4) if place.args[1] == "remove" else done.code == 0
    wrong = (
        [] if ended and "internal" not in done.said else [f"the rerun ended with {done.code}: {done.said}"]
    )
    if (now := _outcome(place)) != wanted:
        wrong.append(f"{now!r}, expected {wanted!r}")
    locks = [p for p in (place.root / ".git").rglob("*.lock") if p.parent.name != "locks"]
    wrong += [f"left: {p}" for p in locks]
    if said := verdict.fsck(place):
        wrong.append(said)
    return wrong + _wrong(place, work)


@pytest.fixture
def bad() -> Iterator[list[str]]:
    found: list[str] = []
    yield found
    assert found == [], f"{len(found)} faults:\n" + "\n".join(found)


@pytest.mark.parametrize("maker", SCENES, ids=lambda maker: maker.__name__)
def test_killed_before_every_call(
    maker: Maker, tmp_path: Path, environ: dict[str, str], bad: list[str]
) -> None:
    scene = _made(maker, tmp_path, environ)
    place = scene.copy(tmp_path / "hurt")
    work = _blobs(place)
    ended, points = strace.points(place, tmp_path / "calls")
    assert ended.code == 0, ended
    wanted = _outcome(place)
    assert _wrong(place, work) == []
    for point in strace.chosen(points, 1, _NAMES):
        shutil.rmtree(place.root)
        place = scene.copy(tmp_path / "hurt")
        hurt = strace.hurt(place, point, "signal=KILL")
        if hurt.code == 0:
            continue  # one call fewer than in the first run: a lock was free at once, say
        assert hurt.code == -9, point
        bad += [f"{point}: {one}" for one in _again(place, wanted, work)]


@pytest.mark.parametrize("maker", [merge_forward, merge_true], ids=lambda maker: maker.__name__)
def test_a_merge_that_was_killed_is_settled_by_any_commit(
    maker: Maker, tmp_path: Path, environ: dict[str, str], bad: list[str]
) -> None:
    """Landed whole or not at all, no lock left, and no reversal of it staged."""
    scene = _made(maker, tmp_path, environ)
    place = scene.copy(tmp_path / "hurt")
    before = _outcome(place)
    _, points = strace.points(place, tmp_path / "calls")
    landed = _outcome(place)
    for point in strace.chosen([p for p in points if p.call in _NAMES], 3):
        shutil.rmtree(place.root)
        place = scene.copy(tmp_path / "hurt")
        strace.hurt(place, point, "signal=KILL")
        assert place.ralph("commit", "--session", "nosuch", "-m", "x").code == 128
        now = _outcome(place)
        if now[0] == landed[0]:
            bad += [] if now[2:4] == landed[2:4] else [f"{point}: {now!r}"]
        else:
            bad += [] if now[2:4] == before[2:4] else [f"{point}: {now!r}"]
        left = [p for p in (place.root / ".git").rglob("*.lock") if p.parent.name != "locks"]
        bad += [f"{point}: left {path}" for path in left]


def _git_killed(place: Place, name: str, when: int) -> bool:
    """Kill the command and its git before git's ``when``-th call of one kind; False when there is none."""
    # with --seccomp-bpf strace 6.1 kills nobody
    words = ["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={name}"]
    words += ["-e", f"inject={name}:signal=KILL:when={when}"]
    return strace.run([*words, *strace.COMMAND, *place.args], place.root, place.env).code != 0


_KILLED = ("mkdir", "rename", "unlink", "rmdir")
_MAKES, _REMOVES = _KILLED[:3], _KILLED[2:]
# in a CI run the calls that each is made of
_PAIRS = [
    *((add, name) for name in (_KILLED if FULL else _MAKES)),
    *((maker, name) for maker in (remove, remove_forced) for name in (_KILLED if FULL else _REMOVES)),
]


@pytest.mark.parametrize(("maker", "name"), _PAIRS, ids=lambda one: getattr(one, "__name__", one))
def test_git_itself_killed(
    maker: Maker, name: str, tmp_path: Path, environ: dict[str, str], bad: list[str]
) -> None:
    """``git worktree`` dies half-way, each process at its own k-th call: the next call finishes.

    Locks of git's own that a killed ``git update-ref`` leaves are git's to explain, and taken away here.
    """
    scene = _made(maker, tmp_path, environ)
    place = scene.copy(tmp_path / "hurt")
    work = _blobs(place)
    assert place.again().code == 0
    wanted = _outcome(place)
    for when in range(1, 40) if FULL else (1, 4):
        shutil.rmtree(place.root)
        place = scene.copy(tmp_path / "hurt")
        if not _git_killed(place, name, when):
            break
        for lock in (place.root / ".git").rglob("*.lock"):
            if lock.parent.name != "locks":
                lock.unlink()
        bad += [f"{name} {when}: {one}" for one in _again(place, wanted, work)]
    assert FULL or when > 1, "git was never hurt"


def _shim(folder: Path, call: str, when: int, also_us: bool) -> Path:
    """A folder with a git whose ``worktree add`` dies before its k-th call of one kind, and maybe we."""
    folder.mkdir()
    real, strace_path = shutil.which("git"), shutil.which("strace")
    assert real is not None
    assert strace_path is not None
    words = [strace_path, "-qq", "-o", os.devnull, "-e", f"trace={call}"]
    words += ["-e", f"inject={call}:signal=KILL:when={when}", real]
    (folder / "git").write_text(
        "#!/bin/sh\n"
        f'case " $* " in *" worktree add "*) ;; *) exec {shlex.quote(real)} "$@";; esac\n'
        f'{shlex.join(words)} "$@" && exit 0\n' + ("kill -KILL $PPID\n" if also_us else "") + "exit 137\n"
    )
    (folder / "git").chmod(0o755)
    return folder


@pytest.mark.parametrize("also_us", [True, False], ids=["both", "git alone"])
@pytest.mark.parametrize("call", ["write", "mkdir"])
def test_a_git_worktree_add_killed_at_any_of_its_writes_is_taken_away_by_our_own_record(
    call: str, also_us: bool, tmp_path: Path, environ: dict[str, str], bad: list[str]
) -> None:
    """Admin folder, folder and branch: git refuses to remove a broken one, or even to list it."""
    scene = _made(add, tmp_path, environ)
    place = scene.copy(tmp_path / "hurt")
    work = _blobs(place)
    assert place.again().code == 0
    wanted = _outcome(place)
    for when in range(1, 12 if FULL else 6, 1 if FULL else 2):
        shutil.rmtree(place.root)
        place = scene.copy(tmp_path / "hurt")
        shim = _shim(tmp_path / f"shim-{when}", call, when, also_us)
        env = {**place.env, "PATH": f"{shim}:{place.env['PATH']}"}
        hurt = strace.run([*strace.COMMAND, *place.args], place.root, env)
        if hurt.code == 0:
            break
        assert hurt.code == (-9 if also_us else 4), (when, hurt)
        bad += [f"{call} {when}: {one}" for one in _again(place, wanted, work)]
    assert when > 1, "git was never hurt"


def _broken(scene: Scene, folder: Path, when: int) -> Place:
    """A copy whose ``worktree add`` died, git and all, before git's k-th write."""
    place = scene.copy(folder / "hurt")
    shim = _shim(folder / "shim", "write", when, also_us=True)
    env = {**place.env, "PATH": f"{shim}:{place.env['PATH']}"}
    strace.run([*strace.COMMAND, *place.args], place.root, env)
    return place


def test_a_half_made_worktree_takes_no_file_of_a_user_along(tmp_path: Path, environ: dict[str, str]) -> None:
    """Only what git itself had begun goes; the rerun says what is in its way."""
    place = _broken(_made(add, tmp_path, environ), tmp_path, 3)
    (_tree(place) / "mine").write_text("the user's\n")
    done = place.again()
    assert done.code == 4
    assert "was left alone" in done.said
    assert (_tree(place) / "mine").read_text() == "the user's\n"


def test_a_half_made_branch_is_made_again_from_the_base_of_the_rerun(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """The branch goes too, if that add made it and it holds nothing."""
    place = _broken(_made(add, tmp_path, environ), tmp_path, 3)
    assert place.git("rev-parse", "ralph/bd-1") == place.git("rev-parse", "main")
    place.write("b", "later\n")
    place.git("commit", "-qam", "later")
    assert place.again().code == 0
    assert place.git("rev-parse", "ralph/bd-1") == place.git("rev-parse", "main")


def test_a_branch_that_was_there_before_survives_a_killed_add(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """A branch that the add did not make is not its to delete, not even one without a commit of its own."""
    scene = _made(add, tmp_path, environ)
    subprocess.run(["git", "branch", "ralph/bd-1"], cwd=scene.template, env=environ, check=True)
    place = _broken(scene, tmp_path, 3)
    was = place.git("rev-parse", "ralph/bd-1")
    place.write("b", "later\n")
    place.git("commit", "-qam", "later")
    assert place.again().code == 0
    assert place.git("rev-parse", "ralph/bd-1") == was


def test_every_worktree_command_works_while_git_cannot_list_its_worktrees(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """With an empty ``commondir`` git's own list fails for every worktree of the repository."""
    place = _broken(_made(add, tmp_path, environ), tmp_path, 5)
    listed = subprocess.run(["git", "worktree", "list"], cwd=place.root, env=environ, capture_output=True)
    assert listed.returncode != 0, "git learnt to live with it"
    assert place.ralph("worktree", "list").code == 0
    assert "worktree " in place.git("worktree", "list", "--porcelain")

"""Worktrees whose removal went wrong: what worktrunk mended in its releases 0.70 to 0.74, asked of ours.

Each row puts something in the place of a work item's worktree, or beside it, and asks for its removal, plain
and by ``--force``. What is somebody's stays, a refusal changes nothing, and no answer is git's own failure.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.repo import Repo

BEAD, OTHER = "bd-1", "bd-2"


@dataclass(frozen=True)
class Row:
    """``codes``: how the removal ends, without and with ``--force``."""

    name: str
    act: Callable[[Repo, Path, Path], object]
    codes: tuple[int, int]
    stays: tuple[str, ...] = ()
    """Below the root of the repository: what must be there afterwards with all its bytes."""
    registered: bool = True
    """Whether the other work item's worktree must still be known to git."""


def _moved_onto(repo: Repo, path: Path, other: Path) -> None:
    shutil.rmtree(path)
    (other / "mine").write_text("not committed\n")
    os.rename(other, path)


def _clone_onto(repo: Repo, path: Path, other: Path) -> None:
    shutil.rmtree(path)
    subprocess.run(["git", "clone", "-q", str(repo.root), str(path)], check=True, env=repo.env)
    (path / "mine").write_text("not committed\n")


def _folder_onto(repo: Repo, path: Path, other: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()
    (path / "mine").write_text("nobody knows of it\n")


def _file_onto(repo: Repo, path: Path, other: Path) -> None:
    shutil.rmtree(path)
    path.write_text("a file\n")


def _link_onto(repo: Repo, path: Path, other: Path) -> None:
    shutil.rmtree(path)
    (other / "mine").write_text("not committed\n")
    path.symlink_to(other)


def _empty_onto(repo: Repo, path: Path, other: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


def _absent(repo: Repo, path: Path, other: Path) -> None:
    """Both are not to be seen just now, as on a stick that is unplugged."""
    shutil.rmtree(path)
    os.rename(other, other.with_name("unplugged"))


def _locked(repo: Repo, path: Path, other: Path) -> None:
    repo.ralph("worktree", "lock", BEAD)
    shutil.rmtree(path)


def _out_twice(repo: Repo, path: Path, other: Path) -> None:
    """Its branch is checked out in another worktree, too."""
    repo.git("worktree", "add", "-q", "--force", "twice", f"ralph/{BEAD}")


MINE = f".worktrees/ralph-{BEAD}/mine"
ROWS = (
    Row("another worktree of the repository was moved onto its path", _moved_onto, (4, 4), (MINE,), False),
    Row("a clone was made at its path", _clone_onto, (4, 4), (MINE,)),
    Row("a folder with somebody's file is at its path", _folder_onto, (4, 4), (MINE,)),
    Row("a file is at its path", _file_onto, (4, 4), (f".worktrees/ralph-{BEAD}",)),
    Row("a link to another worktree is at its path", _link_onto, (4, 4), (f".worktrees/ralph-{OTHER}/mine",)),
    Row("its folder was deleted and made again", _empty_onto, (4, 4)),
    Row("it and another one are absent", _absent, (0, 0), (".worktrees/unplugged/a",)),
    Row("it is locked and absent", _locked, (4, 4)),
    Row("its branch is out in a second worktree", _out_twice, (0, 0), ("twice/a",)),
)


def _state(repo: Repo) -> tuple[str, ...]:
    return tuple(
        repo.git(*words.split()) for words in ("for-each-ref", "worktree list --porcelain", "status -s")
    )


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("force", [False, True], ids=["plain", "force"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_removal_takes_nothing_of_anybody_s(empty_repo: Repo, row: Row, force: bool) -> None:
    repo = empty_repo
    repo.write("a", "one\n")
    repo.commit_all("base")
    path, other = (Path(repo.ralph("worktree", "add", bead).text.strip()) for bead in (BEAD, OTHER))
    admin = sorted((repo.common / "worktrees").iterdir())
    row.act(repo, path, other)
    kept = {name: _hash(repo.file(name)) for name in row.stays}
    before = _state(repo)
    code = row.codes[force]
    done = repo.ralph("worktree", "remove", *(["--force"] if force else []), BEAD, code=code)
    assert {name: _hash(repo.file(name)) for name in row.stays} == kept
    assert "fatal: " not in done.said
    if code:
        assert _state(repo) == before
    if row.registered:
        assert any(str(other) in one.joinpath("gitdir").read_text() for one in admin if one.exists())
    if row.act is _out_twice:
        assert repo.git("rev-parse", f"ralph/{BEAD}") == repo.git("-C", "twice", "rev-parse", "HEAD")


def test_what_was_removed_is_what_is_told(empty_repo: Repo) -> None:
    """A branch that stays is not told as deleted."""
    repo = empty_repo
    repo.write("a", "one\n")
    repo.commit_all("base")
    repo.ralph("worktree", "add", BEAD)
    repo.git("worktree", "add", "-q", "--force", "twice", f"ralph/{BEAD}")
    done = repo.ralph("worktree", "remove", "--json", BEAD).json()
    assert done["status"] == "removed"
    gone = repo.git("for-each-ref", f"refs/heads/ralph/{BEAD}") == ""
    assert (done["kept"] is None) == gone

"""What a commit makes is on the disk before a ref names it; what a look makes waits for no disk."""

import os
from collections.abc import Sequence

import pytest

from gitralph.git.run import Git
from tests.support.repo import Repo
from tests.support.texts import changed


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were synced, and for each `update-index` that makes objects how it was told to sync."""
    found: list[str] = []
    sync, typed = os.fsync, Git.typed

    def note_file(fd: int) -> None:
        found.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
        sync(fd)

    def note_words(git: Git, args: Sequence[str | bytes]) -> list[str | bytes]:
        if "update-index" in args and "--stdin" in args:
            found.append([str(word) for word in args if str(word).startswith("core.fsync=")][-1])
        return typed(git, args)

    monkeypatch.setattr(os, "fsync", note_file)
    monkeypatch.setattr(Git, "typed", note_words)
    return found


def _objects(waited: list[str]) -> tuple[int, set[str]]:
    told = {name for name in waited if name.startswith("core.fsync=")}
    return sum(name.startswith("tmp_obj_") for name in waited), told


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no /proc: NOT TRIED WHAT IS SYNCED")
@pytest.mark.parametrize("options", [(), ("--skip-entangled",), ("--", "d/e/a")], ids=" ".join)
def test_a_commit_waits_for_its_objects(repo: Repo, waited: list[str], options: Sequence[str]) -> None:
    """The trees of three folders; blobs by git itself, also those of a text that separation made."""
    repo.edit("S1", "d/e/a", changed())
    repo.edit("S2", "d/e/a", changed(9, "S2", changed()))
    waited.clear()
    repo.ralph("commit", "--session", "S1", "-m", "x", *options)
    trees, told = _objects(waited)
    assert trees == 3
    assert told == {"core.fsync=loose-object"}


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no /proc: NOT TRIED WHAT IS SYNCED")
@pytest.mark.parametrize("typed", [("status",), ("diff",), ("commit", "--dry-run", "-m", "x")], ids=" ".join)
def test_a_look_waits_for_nothing(repo: Repo, waited: list[str], typed: Sequence[str]) -> None:
    repo.edit("S1", "d/e/a", changed())
    waited.clear()
    repo.ralph(*typed)
    assert _objects(waited) == (0, {"core.fsync=none"})

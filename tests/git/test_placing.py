"""A file replaced whole or not at all, and only if it still is what was read: no editor's save is lost."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitralph.git import placing
from gitralph.git.placing import HeldFolder
from gitralph.git.snapshot import ABSENT, Content, Worktree

OLD, NEW = Content(0o100644, b"as read\n"), Content(0o100644, b"wanted\n")
SAVED = b"saved by an editor\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def put(
    tree: Path,
    before: Content,
    after: Content,
    meanwhile: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> bool:
    """Replace ``f``; ``meanwhile`` happens between the last look at the file and the replacing."""
    with Worktree(str(tree)) as worktree:
        place = HeldFolder(worktree, b"f", str(tree.parent / "work"), make=True)
        try:
            if not after.absent:
                place.prepare(b"w", after, 0o022)
            now = HeldFolder.now

            def look(self: HeldFolder) -> Content:
                found = now(self)
                meanwhile()
                return found

            monkeypatch.setattr(HeldFolder, "now", look)
            return place.put(b"w", before, after)
        finally:
            monkeypatch.undo()
            place.drop(b"w")
            place.close()


def save(tree: Path) -> Callable[[], None]:
    """An editor that writes another file and renames it."""

    def run() -> None:
        (tree / ".f.swp").write_bytes(SAVED)
        os.rename(tree / ".f.swp", tree / "f")

    return run


def save_in_place(tree: Path) -> Callable[[], None]:
    """An editor that writes into the file."""

    def run() -> None:
        (tree / "f").write_bytes(SAVED)

    return run


@pytest.mark.parametrize("editor", [save, save_in_place])
@pytest.mark.parametrize("after", [NEW, ABSENT])
def test_a_save_in_the_last_moment_stays(
    tree: Path,
    editor: Callable[[Path], Callable[[], None]],
    after: Content,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tree / "f").write_bytes(b"as read\n")
    assert not put(tree, OLD, after, editor(tree), monkeypatch)
    assert (tree / "f").read_bytes() == SAVED
    assert os.listdir(tree) == ["f"]


def test_a_file_made_in_the_last_moment_stays(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not put(tree, ABSENT, NEW, save(tree), monkeypatch)
    assert (tree / "f").read_bytes() == SAVED


def test_a_second_save_while_the_first_is_put_back_wins(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest save is the one that stands there."""
    (tree / "f").write_bytes(b"as read\n")
    exchange = placing.exchange

    def trace(*args: object) -> bool:
        done = exchange(*args)  # type: ignore[arg-type]
        if (tree / "f").read_bytes() == b"wanted\n":
            (tree / "f").write_bytes(b"saved again\n")
        return done

    monkeypatch.setattr(placing, "exchange", trace)
    with Worktree(str(tree)) as worktree:
        place = HeldFolder(worktree, b"f", str(tree.parent / "work"), make=True)
        place.prepare(b"w", NEW, 0o022)
        now = HeldFolder.now

        def look(self: HeldFolder) -> Content:
            found = now(self)
            save(tree)()
            return found

        monkeypatch.setattr(HeldFolder, "now", look)
        assert not place.put(b"w", OLD, NEW)
        place.close()
    assert (tree / "f").read_bytes() == b"saved again\n"


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL])
def test_where_the_system_cannot_exchange_two_files(
    tree: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "f").write_bytes(b"as read\n")
    monkeypatch.setattr(placing, "renameat2", lambda: lambda *_: number)
    with Worktree(str(tree)) as worktree:
        place = HeldFolder(worktree, b"f", str(tree.parent / "work"), make=True)
        place.prepare(b"w", NEW, 0o022)
        assert place.put(b"w", OLD, NEW)
        assert place.now() == NEW
        assert not place.put(b"w", OLD, NEW)
        place.close()
    assert os.listdir(tree) == ["f"]


def test_a_link_is_replaced_and_never_followed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree.parent / "outside").write_bytes(b"outside\n")
    (tree / "f").symlink_to(tree.parent / "outside")
    link = Content(0o120000, os.fsencode(tree.parent / "outside"))
    assert not put(tree, OLD, NEW, lambda: None, monkeypatch)
    assert put(tree, link, Content(0o120000, b"elsewhere"), lambda: None, monkeypatch)
    assert os.readlink(tree / "f") == "elsewhere"
    assert (tree.parent / "outside").read_bytes() == b"outside\n"


@pytest.mark.parametrize(
    ("mode", "wanted", "found"),
    [(0o640, 0o100644, 0o640), (0o640, 0o100755, 0o750), (0o755, 0o100644, 0o644)],
)
def test_rights_stay_but_for_the_executable_bit(
    tree: Path, mode: int, wanted: int, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "f").write_bytes(b"as read\n")
    (tree / "f").chmod(mode)
    before = Content(0o100755 if mode & 0o100 else 0o100644, b"as read\n")
    assert put(tree, before, Content(wanted, b"wanted\n"), lambda: None, monkeypatch)
    assert (tree / "f").stat().st_mode & 0o777 == found

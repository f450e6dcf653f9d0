"""The repository in which hooks run: what of the user's it has, and what not."""

import os
from pathlib import Path

import pytest

from gitralph.git import private_repository
from gitralph.git.context import open_context
from gitralph.git.refs import Head
from tests.support.repo import Repo


@pytest.mark.parametrize("name", ["plain", 'with "quotes", \\ and\nlines; # all'])
def test_it_stands_on_the_branch_where_the_commit_began(
    repo: Repo, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The branch has moved since, and the folder has any name."""
    root = tmp_path / name
    os.rename(repo.root, root)
    moved = Repo(root, dict(repo.env))
    began = moved.head()
    moved.git("tag", "-a", "-m", "x", "v1")
    moved.git("update-ref", "refs/odd/name", began)
    moved.git("commit", "-q", "--allow-empty", "-m", "landed since")
    monkeypatch.chdir(root)
    ctx = open_context(dict(moved.env))
    folder = str(tmp_path / name / ".git" / "place")
    head = Head("refs/heads/main", began)
    made = private_repository.lay_out(ctx, folder, head, folder + ".exclude")
    kept = {f"{made}/{name}" for name in ("index", f"sharedindex.{'1' * 40}")}
    left = {f"{made}/{name}" for name in ("index.lock", "MERGE_HEAD", "refs/heads/stray")}
    for path in kept | left:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(path).touch()
    private_repository.lay_out(ctx, folder, head, folder + ".exclude")
    ctx.repo.close()
    assert {path for path in kept | left if os.path.lexists(path)} == kept
    for path in kept:
        os.unlink(path)
    there = Repo(Path(folder), dict(moved.env))
    assert there.git("rev-parse", "main", "HEAD").split() == [began, began]
    assert there.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert there.git("rev-parse", "--show-toplevel", "--git-dir") == f"{folder}\n{made}"
    assert there.git("config", "core.excludesFile") == folder + ".exclude"
    assert there.git("tag") == "v1"
    assert there.git("rev-parse", "refs/odd/name") == began
    assert moved.head() != began
    private_repository.remove(folder)
    assert not os.path.lexists(made)
    assert not os.path.lexists(folder)
    moved.git("fsck")

"""Indexes in other forms: damaged, split, sparse, of every version."""

import os

import pytest

from tests.support.repo import Repo

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")


def _extensions(repo: Repo) -> set[str]:
    data = (repo.root / ".git/index").read_bytes()
    return {name for name in ("UNTR", "FSMN", "TREE", "link", "sdir") if name.encode() in data}


def test_missing_index_never_shrinks_the_tree(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    (repo.root / ".git/index").unlink()
    repo.commit("S1", checked=False)
    assert repo.changes() == {"a": "M"}
    assert not (repo.root / ".git/index").exists()
    repo.git("reset", "-q")
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "garbage"])
def test_damaged_index_stops_the_commit(repo: Repo, damage: str) -> None:
    repo.edit("S1", "a", MINE)
    index = repo.root / ".git/index"
    whole = index.read_bytes()
    index.write_bytes({
        "empty": b"", "cut": whole[:-30], "flipped": whole[:60] + bytes([whole[60] ^ 1]) + whole[61:],
        "garbage": os.urandom(300),
    }[damage])  # fmt: skip
    damaged, head = index.read_bytes(), repo.head()
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert "index" in done.said
    assert index.read_bytes() == damaged
    assert repo.head() == head
    index.write_bytes(whole)
    assert repo.pending("S1") == ["a"]
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}


def test_split_index(repo: Repo) -> None:
    repo.git("update-index", "--split-index")
    repo.git("config", "core.splitIndex", "true")
    repo.write("b", "staged\n")
    repo.git("add", "b")
    repo.edit("S1", "a", MINE)
    repo.edit("S1", "n", "new\n")
    repo.delete("S1", "e/b")
    repo.commit("S1")
    assert repo.changes() == {"a": "M", "n": "A", "e/b": "D"}
    assert repo.git("diff", "--cached", "--name-only") == "b"
    assert "link" in _extensions(repo)


def test_sparse_checkout(repo: Repo) -> None:
    repo.edit("S1", "d/a", MINE)
    repo.edit("S1", "e/b", MINE)
    repo.git("checkout", "-q", "--", "e/b")  # clean, so that the cone can drop it
    repo.git("sparse-checkout", "set", "--cone", "d")
    assert not repo.file("e/b").exists()
    answer = repo.commit("S1")
    assert repo.changes() == {"d/a": "M"}
    assert answer.left == {"e/b": "gone"}
    assert repo.pending("S1") == ["e/b"]
    assert repo.git("ls-files", "-v", "e/b") == "S e/b"


def test_sparse_index(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "d")
    assert "sdir" in _extensions(repo)
    repo.edit("S1", "d/a", MINE)
    repo.commit("S1")
    assert repo.changes() == {"d/a": "M"}
    assert repo.git("status", "--porcelain") == ""
    repo.git("cat-file", "-e", "HEAD:e/b")


def test_outside_the_sparse_index(repo: Repo) -> None:
    """A file that the session made outside the cone is committed like any other."""
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "d")
    repo.edit("S1", "e/new", "new\n")
    repo.commit("S1")
    assert repo.changes() == {"e/new": "A"}
    repo.git("cat-file", "-e", "HEAD:e/b")
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_index_versions(repo: Repo, version: str) -> None:
    repo.git("update-index", "--index-version", version)
    repo.write("later", "x")
    repo.git("add", "-N", "later")
    repo.edit("S1", "d/a", MINE)
    repo.edit("S1", "d/n", "new\n")
    repo.commit("S1")
    assert repo.changes() == {"d/a": "M", "d/n": "A"}
    assert repo.git("status", "--porcelain") == " A later"

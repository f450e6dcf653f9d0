"""Indexes in other forms: damaged, split, sparse, of every version."""

import hashlib
import os
from collections.abc import Callable

import pytest

from gitralph.git import indexfile
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


def _flipped(data: bytes, at: int, bit: int = 1) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]


def _signed(body: bytes) -> bytes:
    return body + hashlib.sha1(body).digest()


def _tree_at(data: bytes) -> int:
    return data.rindex(b"TREE")


# an index of files a, b, d/c and e/b: how each byte of it may have come to harm
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda d: b"",
    "one byte": lambda d: d[:1],
    "header alone": lambda d: d[:12],
    "cut by one": lambda d: d[:-1],
    "cut in the checksum": lambda d: d[:-10],
    "cut before the checksum": lambda d: d[:-20],
    "cut in an extension": lambda d: d[:-30],
    "cut in an entry": lambda d: d[:100],
    "cut to the half": lambda d: d[: len(d) // 2],
    "garbage": lambda d: os.urandom(300),
    "zeros": lambda d: bytes(len(d)),
    "zeros at the end": lambda d: d[: len(d) // 2] + bytes(len(d) - len(d) // 2),
    "another file": lambda d: b"#!/bin/sh\n" * 30,
    "twice": lambda d: d + d,
    "a byte too many": lambda d: d + b"x",
    "signature": lambda d: _flipped(d, 0),
    "version": lambda d: _flipped(d, 7),
    "count of entries": lambda d: _flipped(d, 11),
    "a mode": lambda d: _flipped(d, 12 + 26),
    "an oid": lambda d: _flipped(d, 12 + 45),
    "flags": lambda d: _flipped(d, 12 + 60, 0x10),
    "a name": lambda d: _flipped(d, 12 + 62),
    "padding": lambda d: _flipped(d, 12 + 64),
    "the size of an extension": lambda d: _flipped(d, _tree_at(d) + 7),
    "an oid of an extension": lambda d: _flipped(d, -30),
    "the checksum": lambda d: _flipped(d, -1),
    "rows of TREE that do not add up": lambda d: _signed(
        d[: _tree_at(d) + 8] + d[_tree_at(d) + 8 : -20].replace(b" 0\n", b" 7\n", 1)
    ),
    "a row of TREE without a number": lambda d: _signed(
        d[: _tree_at(d) + 8] + d[_tree_at(d) + 8 : -20].replace(b" 0\n", b" x\n", 1)
    ),
}


@pytest.mark.parametrize("size", [0, indexfile._MAPPED], ids=["mapped", "read"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_index_stops_the_commit(
    repo: Repo, damage: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is wrong with it, before anything moves; a large index is mapped and not read."""
    monkeypatch.setattr(indexfile, "_MAPPED", size)
    repo.edit("S1", "a", MINE)
    index = repo.root / ".git/index"
    whole = index.read_bytes()
    index.write_bytes(DAMAGE[damage](whole))
    damaged, head = index.read_bytes(), repo.head()
    assert damaged != whole
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    # without a checksum (index.skipHash) git is asked, and says it in its own words
    told = "index file corrupt" if damage == "zeros at the end" else f"the index '{index}' is damaged"
    assert told in done.said
    assert index.read_bytes() == damaged
    assert repo.head() == head
    index.write_bytes(whole)
    assert repo.pending("S1") == ["a"]
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}


def test_a_mapped_index_is_patched_as_a_read_one(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many entries, of which some come, go and change; every byte is what git itself would have."""
    for number in range(400):
        repo.write(f"m{number % 7}/f{number:03}", f"{number}\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "many")
    for size, chunk in ((0, 4096), (1 << 30, 1 << 20)):
        monkeypatch.setattr(indexfile, "_MAPPED", size)
        monkeypatch.setattr(indexfile, "_CHUNK", chunk)
        repo.write("m1/staged", "staged\n")
        repo.git("add", "m1/staged")
        repo.edit("S1", "m3/f003", f"changed {size}\n")
        repo.edit("S1", f"m0/new{size}", "new\n")
        repo.edit("S1", "m6/f006", f"changed {size}\n")
        repo.delete("S1", f"m2/f{'002' if size else '009'}")
        repo.commit("S1")
        assert repo.git("diff", "--cached", "--name-only").split() == ["m1/staged"]
        repo.git("fsck", "--strict")
        told = repo.git("ls-files", "-s")
        repo.git("reset", "-q")
        repo.git("add", "m1/staged")
        assert repo.git("ls-files", "-s") == told
        assert repo.git("write-tree") == repo.git("write-tree", "--missing-ok")
        repo.git("reset", "-q")


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

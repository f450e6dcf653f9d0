"""Indexes in other forms: damaged, split, sparse, of every version."""

import hashlib
import os
from collections.abc import Callable

import pytest

from gitralph.git import index as index_module
from tests.support.repo import Repo
from tests.support.size import crossed

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
    "a version of the future": lambda d: _signed(d[:7] + b"\x09" + d[8:-20]),
    "an entry fewer than there are": lambda d: _signed(_flipped(d, 11)[:-20]),
    "an extension that git must know": lambda d: _signed(d[:-20] + b"abcd\0\0\0\0"),
}

# what no checksum tells (`index.skipHash` leaves it out), or agrees with
TOLD_BY_GIT = {"zeros", "zeros at the end", *list(DAMAGE)[-3:]}


@pytest.mark.parametrize(("damage", "chunk"), crossed([*DAMAGE], [7, 1 << 20]))
def test_damaged_index_stops_the_commit(
    repo: Repo, damage: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is wrong with it, before anything moves; in parts, as a large index is read."""
    monkeypatch.setattr(index_module, "CHUNK", chunk)
    repo.edit("S1", "a", MINE)
    index = repo.root / ".git/index"
    whole = index.read_bytes()
    index.write_bytes(DAMAGE[damage](whole))
    damaged, head = index.read_bytes(), repo.head()
    assert damaged != whole
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    told = (
        f"git cannot read the index '{index}'" if damage in TOLD_BY_GIT else f"the index '{index}' is damaged"
    )
    assert told in done.said
    assert done.said.count("\n") == 2  # and what to do
    assert index.read_bytes() == damaged
    assert repo.head() == head
    index.write_bytes(whole)
    assert repo.pending("S1") == ["a"]
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}


@pytest.mark.parametrize("said", [b" 7\n", b" x\n"], ids=["too many", "no number"])
def test_cached_trees_that_git_cannot_read_stop_nothing(repo: Repo, said: bytes) -> None:
    """git goes by the entries then, and so do we."""
    repo.edit("S1", "a", MINE)
    index = repo.root / ".git/index"
    data = index.read_bytes()
    at = _tree_at(data) + 8
    index.write_bytes(_signed(data[:at] + data[at:-20].replace(b" 0\n", said, 1)))
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    assert repo.git("status", "--porcelain") == ""


def test_an_index_without_a_checksum(repo: Repo) -> None:
    """As ``index.skipHash`` leaves it."""
    repo.write("b", "staged\n")
    repo.git("add", "b")
    repo.edit("S1", "a", MINE)
    index = repo.root / ".git/index"
    index.write_bytes(index.read_bytes()[:-20] + bytes(20))
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    assert repo.git("diff", "--cached", "--name-only") == "b"


@pytest.mark.parametrize("asked", [0, 1000], ids=["all entries", "by path"])
def test_many_entries(repo: Repo, asked: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some come, go and change; the index is what git itself would have."""
    monkeypatch.setattr(index_module, "ASKED", asked)
    for number in range(400):
        repo.write(f"m{number % 7}/f{number:03}", f"{number}\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "many")
    repo.write("m1/staged", "staged\n")
    repo.git("add", "m1/staged")
    repo.edit("S1", "m3/f003", "changed\n")
    repo.edit("S1", "m0/new", "new\n")
    repo.edit("S1", "m6/f006", "changed\n")
    repo.delete("S1", "m2/f002")
    repo.commit("S1")
    assert repo.git("diff", "--cached", "--name-only").split() == ["m1/staged"]
    repo.git("fsck", "--strict")
    told = repo.git("ls-files", "-s")
    repo.git("reset", "-q")
    repo.git("add", "m1/staged")
    assert repo.git("ls-files", "-s") == told


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

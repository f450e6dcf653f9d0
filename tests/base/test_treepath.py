"""The pure path check says what git itself says, with both protections on."""

import os
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitralph.base import treepath

EMPTY = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
LEAVES = [
    b".git",
    b".GIT",
    b".gIt",
    b"git~1",
    b"GIT~1",
    b"git~2",
    b"git~10",
    b".git ",
    b".git.",
    b".git...",
    b".git. .",
    b".git:x",
    b".git::$INDEX_ALLOCATION",
    b".git\\x",
    b"x\\.git",
    b"x\\.git\\y",
    b"a\\git~1",
    b"\\.git",
    b".git~1",
    b".gitx",
    b".gi",
    b".",
    b"..",
    b"...",
    b"",
    b"a",
    b"-",
    b" ",
    b".g\xe2\x80\x8cit",
    b"\xe2\x80\x8c.git",
    b".git\xe2\x80\x8d",
    b"\xef\xbb\xbf.git",
    b".\xe2\x80\xaegit",
    b"\xe2\x81\xaa.git",
    b".git\xff",
    b".g\xffit",
    b"\xff.git",
    b".gi\xc5\xa7",
    b".\xc7\xa5it",
    b".g\xc4\xb1t",
    b".g\xc4\xb0t",
    b"\xe2\x80\x8c",
    b"git~1\xe2\x80\x8c",
    b"git~1 ",
    b"git~1.",
    b"git~1:s",
    b"git~1\\a",
    b".git\n",
    b"\xc2\xa0.git",
    b".git\xcc\x81",
    b".git\xed\xa0\x80",
    b".git\xf4\x90\x80\x80",
    b".git\xe2\x80",
    b".gi\xe2\x80\x8ct\xe2\x80\x8d.",
    b"con",
    b"nul",
    b"a:b",
    b"\x01",
]
PIECES = [
    b".",
    b"g",
    b"G",
    b"i",
    b"I",
    b"t",
    b"T",
    b"~",
    b"1",
    b"2",
    b" ",
    b":",
    b"\\",
    b"\xe2\x80\x8c",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\xff",
    b"\xc4\xb0",
    b"\xe2",
    b"\x80",
    b"a",
    b".git",
    b"git~1",
    b"\xed\xa0\x80",
    b"\xf0\x9f",
]


def _verdicts(repo: Path, paths: list[bytes]) -> dict[bytes, bool]:
    """git's own: each path that ``update-index --index-info`` leaves in a fresh index is good.

    git goes on after a bad path with a message on stderr.
    """
    good: set[bytes] = set()
    index = repo / "verdict.index"
    # two paths where one is a folder of the other push each other out, so each gets a folder of its own
    rows = b"".join(b"100644 %s 0\t%d/%s\0" % (EMPTY, number, path) for number, path in enumerate(paths))
    subprocess.run(
        [
            "git",
            "-c",
            "core.protectHFS=true",
            "-c",
            "core.protectNTFS=true",
            "-c",
            "core.ignoreCase=false",
            "update-index",
            "-z",
            "--index-info",
        ],
        cwd=repo,
        input=rows,
        env=_env(index),
        check=True,
        capture_output=True,
    )
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=repo, env=_env(index), check=True, capture_output=True
    ).stdout.split(b"\0")[:-1]
    for row in listed:
        number, _, path = row.partition(b"/")
        assert path == paths[int(number)]
        good.add(path)
    index.unlink(missing_ok=True)
    return {path: path in good for path in paths}


def _env(index: Path) -> dict[str, str]:
    return {**os.environ, "GIT_INDEX_FILE": str(index)}


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def _compare(repo: Path, paths: list[bytes]) -> None:
    verdicts = _verdicts(repo, paths)
    wrong = [(path, said) for path, said in verdicts.items() if treepath.is_valid(path) != said]
    assert wrong == [], f"git's verdicts: {wrong[:20]}"
    assert {True, False} <= set(verdicts.values())


def test_agrees_with_git_on_known_tricks(bare: Path) -> None:
    paths = [leaf for leaf in LEAVES if leaf]
    paths += [b"d/" + leaf for leaf in LEAVES] + [leaf + b"/f" for leaf in LEAVES if leaf]
    paths += [b"a//b", b"a/", b"a/./b", b"a/../b", b"a/.git/b", b"x/.GIT\xe2\x80\x8c/y"]
    _compare(bare, list(dict.fromkeys(paths)))


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_git_on_random_names(bare: Path, seed: int) -> None:
    dice = random.Random(seed)
    paths: set[bytes] = set()
    while len(paths) < 2500:
        name = b"".join(dice.choice(PIECES) for _ in range(dice.randint(1, 7)))
        if dice.random() < 0.3:
            name = dice.choice([b"d/", b".git/", b"x\\"]) + name
        paths.add(name)
    _compare(bare, sorted(paths))


@given(st.binary(max_size=40))
def test_never_raises(path: bytes) -> None:
    assert treepath.is_valid(path) in (True, False)
    assert not treepath.is_valid(b"/" + path)
    assert not treepath.is_valid(b".git/" + path)
    assert not treepath.is_valid(path + b"\0")


def test_length() -> None:
    assert treepath.is_valid(b"x" * 255)
    assert treepath.is_valid(b"d/" * 2000 + b"x")
    assert not treepath.is_valid(b"d/" * 2048 + b"x")

"""Trees are read and made as git and dulwich read and make them."""

import stat
import subprocess
from pathlib import Path

import pytest
from dulwich.objects import Tree
from hypothesis import given
from hypothesis import strategies as st

from gitralph.git import treetext
from gitralph.git.treetext import Entry

MODES = (0o100644, 0o100755, 0o120000, 0o160000, 0o40000)
NAMES = st.one_of(
    st.sampled_from([b"a", b"a-", b"a.c", b"a0", b"a b", b"ab"]),
    st.binary(min_size=1, max_size=6).filter(
        lambda name: not {0, 47} & set(name) and name.strip(b".") != b""
    ),
)
OIDS = st.binary(min_size=20, max_size=20).map(lambda raw: raw.hex().encode())
ENTRIES = st.dictionaries(NAMES, st.builds(Entry, st.sampled_from(MODES), OIDS))


@given(ENTRIES)
def test_a_tree_is_what_dulwich_makes_of_it_and_comes_back(entries: dict[bytes, Entry]) -> None:
    theirs = Tree()
    for name, entry in entries.items():
        theirs.add(name, entry.mode, entry.oid)  # type: ignore[arg-type]
    raw = treetext.make(entries)
    assert raw == theirs.as_raw_string()
    assert treetext.oid_of(raw) == theirs.id
    assert treetext.parse(raw) == entries


def test_git_takes_it_as_a_tree(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    names = [b"a", b"a-b", b"a.b", b"a0", b"b", "ü".encode(), b"\xff"]
    oids = {"blob": b"1" * 40, "tree": b"2" * 40, "commit": b"3" * 40}
    entries, rows = {}, b""
    for number, name in enumerate(names):
        mode, kind = ((0o100644, "blob"), (0o40000, "tree"), (0o160000, "commit"))[number % 3]
        entries[name] = Entry(mode, oids[kind])
        rows += b"%06o %s %s\t%s\0" % (mode, kind.encode(), oids[kind], name)
    words = ["git", "-C", str(tmp_path), "mktree", "-z", "--missing"]
    made = subprocess.run(words, input=rows, capture_output=True, check=True).stdout.strip()
    assert treetext.oid_of(treetext.make(entries)) == made


@given(st.binary(max_size=60))
def test_bytes_that_are_no_tree_are_an_error(raw: bytes) -> None:
    try:
        found = treetext.parse(raw)
    except ValueError:
        return
    assert sum(len(name) for name in found) < max(len(raw), 1)


@pytest.mark.parametrize("raw", [b"100644 a\0" + b"x" * 19, b"100644 a", b"junk", b"9 a\0" + b"x" * 20])
def test_a_tree_that_is_cut_short_is_an_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        treetext.parse(raw)


def test_an_entry_is_a_pair_with_names() -> None:
    mode, oid = one = Entry(0o100644, b"0" * 40)
    assert (one.mode, one.oid) == (mode, oid) == one
    assert stat.S_ISREG(one.mode)

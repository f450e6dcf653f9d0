"""Which edits depend on which: GitButler's situations (``but-hunk-dependency``), played by two sessions.

Theirs are stacks of commits and the question on which of them an uncommitted hunk rests; here the last
edits of each are uncommitted, by two sessions that took turns, and each commits what is its own. In both
orders: who comes first gets HEAD with its own lines and nothing else, and after the second one HEAD is what
lies on the disk.
"""

from dataclasses import dataclass, field

import pytest

from tests.support.repo import Repo

A, B = "stack-a", "stack-b"
Files = dict[str, str | None]


def _lines(*words: object) -> str:
    return "".join(f"{word}\n" for word in words)


NINE = _lines(*range(1, 10))
LETTERS = _lines(*"abcdefghi")


@dataclass(frozen=True)
class Row:
    """A situation. ``moves``: who gives a path which text; ``alone``: what each commits as the first."""

    name: str
    base: Files
    moves: tuple[tuple[str, str, str | None], ...]
    alone: dict[str, Files]
    merged: Files = field(default_factory=dict)
    """Where given, HEAD is a merge of the base with a branch that has these."""
    waits: str = ""
    """The session that is refused as long as the other has not committed."""


ROWS = (
    Row(
        "independent files, by turns",
        {"file": "first\n"},
        tuple((A if name in "ace" else B, name, f"this is {name}\n") for name in "abcdef"),
        {A: {name: f"this is {name}\n" for name in "ace"}, B: {name: f"this is {name}\n" for name in "bdf"}},
    ),
    Row(
        "each overwrites its own file again and again, by turns",
        {"file": "first\n"},
        tuple(
            (session, path, f"this is {word}\n")
            for word in "abcdef"
            for session, path in ((A, "file"), (B, "file_2"))
        ),
        {A: {"file": "this is f\n"}, B: {"file_2": "this is f\n"}},
    ),
    Row(
        "each deletes its own file and makes it anew",
        {"file": "first\n", "file_2": "this is c\n"},
        (
            (A, "file", None),
            (B, "file_2", None),
            (A, "file", "this is d\n"),
            (B, "file_2", "this is e\n"),
            (A, "file", None),
            (B, "file_2", None),
            (A, "file", "this is f\n"),
        ),
        {A: {"file": "this is f\n"}, B: {"file_2": None}},
    ),
    Row(
        "one line by one, three lines less by the other, in one file",
        {"file": NINE, "file_2": LETTERS},
        (
            (A, "file", NINE.replace("2\n", "__update__\n")),
            (B, "file", _lines(1, "__update__", 3, 7, 8, 9)),
            (B, "file_2", _lines(*"abcdef")),
            (A, "file_2", _lines(1, *"bcdef")),
        ),
        {
            A: {"file": NINE.replace("2\n", "__update__\n"), "file_2": LETTERS.replace("a\n", "1\n")},
            B: {"file": _lines(1, 2, 3, 7, 8, 9), "file_2": _lines(*"abcdef")},
        },
    ),
    Row(
        "lines at the top by one, at the end by the other",
        {"file": _lines(1, 2, 3, 7, 8, 9)},
        (
            (A, "file", _lines(1, 2, 3, 7, 8, 9, *"abc")),
            (B, "file", _lines("d", "e", 1, 2, 3, 7, 8, 9, *"abc")),
        ),
        {
            A: {"file": _lines(1, 2, 3, 7, 8, 9, *"abc")},
            B: {"file": _lines("d", "e", 1, 2, 3, 7, 8, 9)},
        },
    ),
    Row(
        "several hunks of each, one between two of the other",
        {"file": NINE},
        (
            (A, "file", _lines(1, 2, 3, "update 4", 5, 6, 7, "update 8", 9)),
            (B, "file", _lines(1, 2, "insert", "insert", 3, "update 4", 5, 7, "update 8", 9)),
            (
                A,
                "file",
                _lines(
                    "at the top",
                    1,
                    2,
                    "insert",
                    "insert",
                    3,
                    "update 4",
                    5,
                    7,
                    "update 8",
                    9,
                    "at the bottom",
                ),
            ),
        ),
        {
            A: {"file": _lines("at the top", 1, 2, 3, "update 4", 5, 6, 7, "update 8", 9, "at the bottom")},
            B: {"file": _lines(1, 2, "insert", "insert", 3, 4, 5, 7, 8, 9)},
        },
    ),
    Row(
        "the other takes away the lines that the first inserted a while ago and committed",
        {"file": _lines("top", 1, 2, "insert", "insert", 3, 4, 5)},
        (
            (A, "file", _lines("top", 1, 2, "insert", "insert", 3, 4, "five")),
            (B, "file", _lines("top", 1, "aaaaa", 3, 4, "five")),
        ),
        {
            A: {"file": _lines("top", 1, 2, "insert", "insert", 3, 4, "five")},
            B: {"file": _lines("top", 1, "aaaaa", 3, 4, 5)},
        },
    ),
    Row(
        "on both sides of what a merge brought",
        {"file": NINE},
        (
            (A, "file", _lines(1, 2, 3, 4, "update 5 again", 6, 7, "add", 8, 9)),
            (B, "file", _lines(1, 2, 3, 4, "update 5 again", 6, 7, "update 8", 9)),
        ),
        {
            A: {"file": _lines(1, 2, 3, 4, "update 5 again", 6, 7, "add", 8, 9)},
            B: {"file": _lines(1, 2, 3, 4, "update 5", 6, 7, "update 8", 9)},
        },
        merged={"file": _lines(1, 2, 3, 4, "update 5", 6, 7, "add", 8, 9)},
    ),
    Row(
        "a file that a merge took away is made anew by one, a file beside it by the other",
        {"a": "this is a\n", "b": "this is b\n"},
        ((A, "c", "this is c\n"), (B, "b", "this is b again\n"), (A, "a", "update a again\n")),
        {A: {"a": "update a again\n", "c": "this is c\n"}, B: {"b": "this is b again\n"}},
        merged={"b": None},
    ),
    Row(
        "one line, which the other overwrites: the first one still commits what it wrote",
        {"file": "first\n"},
        ((A, "file", "this is a\n"), (B, "file", "this is b\n")),
        {A: {"file": "this is a\n"}, B: {"file": "this is b\n"}},
        waits=B,
    ),
    Row(
        "one line, which each overwrites in its turn, three times",
        {"file": "first\n"},
        tuple((A if word in "ace" else B, "file", f"this is {word}\n") for word in "abcdef"),
        {A: {"file": "this is e\n"}, B: {"file": "this is f\n"}},
        waits=B,
    ),
)


def _play(repo: Repo, row: Row) -> None:
    for path, text in row.base.items():
        repo.write(path, text or "")
    repo.commit_all("base")
    if row.merged:
        repo.git("checkout", "-q", "-b", "side")
        for path, text in row.merged.items():
            if text is None:
                repo.remove(path)
            else:
                repo.write(path, text)
        repo.commit_all("beside")
        repo.git("checkout", "-q", "main")
        repo.git("merge", "-q", "--no-ff", "--no-edit", "side")
    for session, path, text in row.moves:
        if text is None:
            repo.delete(session, path)
        else:
            repo.edit(session, path, text)


def _texts(repo: Repo, commit: str) -> dict[str, str]:
    names = repo.git("ls-tree", "-r", "--name-only", commit).splitlines()
    return {name: repo.blob(name, commit).decode() for name in names}


@pytest.mark.parametrize("order", [(A, B), (B, A)], ids=["a first", "b first"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_commit_holds_its_own_lines(empty_repo: Repo, row: Row, order: tuple[str, str]) -> None:
    repo = empty_repo
    _play(repo, row)
    was, begun = _texts(repo, "HEAD"), repo.head()
    for session in order if row.waits != order[0] else (order[0], *reversed(order)):
        had = repo.head()
        if session == row.waits and had == begun:
            assert repo.commit(session, code=4).left.keys() == {"file"}
            continue
        assert repo.commit(session).left == {}
        if had == begun:
            wanted = {**was, **row.alone[session]}
            assert _texts(repo, "HEAD") == {path: text for path, text in wanted.items() if text is not None}
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_who_has_to_wait_is_told_for_whom(empty_repo: Repo, turns: int) -> None:
    repo = empty_repo
    repo.write("file", "first\n")
    repo.commit_all("base")
    for turn in range(turns):
        for session in (A, B):
            repo.edit(session, "file", f"{turn} by {session}\n")
    found = repo.commit(B, code=4)
    (left,) = found.document["left"]
    assert (left["reason"], left["sessions"]) == ("entangled", [A])
    assert found.said.count("'file' line 1: ") == 1
    assert f"hint: git ralph commit --session {repo.called(A)}  #" in found.said
    repo.commit(A)
    assert repo.commit(B).paths == {"file": "M"}

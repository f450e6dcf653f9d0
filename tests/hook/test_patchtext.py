"""The ``apply_patch`` format: headers, hunks, and how sure a result is."""

import pytest

from gitralph.hook import edits
from gitralph.hook.edits import FilePatch, apply_unified, parse_unified
from gitralph.hook.event import Guess


def _one(body: str) -> FilePatch:
    [found] = edits.parse_patch(f"*** Begin Patch\n{body}*** End Patch\n")
    return found


def _apply(text: str, body: str) -> list[str]:
    return edits.apply_patch(text, _one(f"*** Update File: f\n{body}").hunks)


def test_every_kind_of_header() -> None:
    text = (
        "noise\n*** Begin Patch\n*** Add File: a b\n+x\n+\n*** Delete File: d\n"
        "*** Update File: u\n*** Move to: v\n@@ def f():\n ctx\n-old\n+new\n*** End of File\n*** End Patch\nx"
    )
    added, deleted, updated = edits.parse_patch(text)
    assert (added.op, added.path, added.added) == ("add", "a b", "x\n\n")
    assert (deleted.op, deleted.path) == ("delete", "d")
    assert (updated.op, updated.path, updated.to) == ("update", "u", "v")
    [hunk] = updated.hunks
    assert (hunk.context, hunk.old, hunk.new, hunk.at_end) == (
        "def f():",
        ["ctx", "old"],
        ["ctx", "new"],
        True,
    )


def test_no_patch_at_all() -> None:
    assert edits.parse_patch("") == edits.parse_patch("*** Update File: x\n@@\n-a\n") == []
    assert edits.find_patch({"a": 1, "b": {"c": " *** Begin Patch\n"}}) == " *** Begin Patch\n"
    assert edits.find_patch({"a": "*** Begin Patch", "b": "*** Begin Patch"}) is None


@pytest.mark.parametrize(
    ("text", "body", "after"),
    [
        ("a\nb\nc\n", "@@\n a\n-b\n+B\n c\n", "a\nB\nc\n"),
        ("a\nb\nc\n", "-b\n+B\n", "a\nB\nc\n"),  # the first @@ may be missing
        ("a\nb\n", "@@\n-a\n-b\n", ""),
        ("a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D\n", "A\nb\nc\nD\n"),
        ("f\nx\ng\nx\n", "@@ g\n-x\n+y\n", "f\nx\ng\ny\n"),
        ("x\nb\nx\n", "@@\n-x\n+y\n*** End of File\n", "x\nb\ny\n"),
        ("a\n\nb\n", "@@\n a\n\n-b\n+c\n", "a\n\nc\n"),  # a blank context line without its space
    ],
)
def test_certain(text: str, body: str, after: str) -> None:
    assert _apply(text, body) == [after]
    assert not isinstance(_apply(text, body)[0], Guess)


@pytest.mark.parametrize(
    ("text", "body", "after"),
    [
        ("x\nb\nx\n", "@@\n-x\n+y\n", "y\nb\nx\n"),  # stands there twice
        ("a  \nb\n", "@@\n-a\n+A\n", "A\nb\n"),  # trailing blanks
        ("\ta\nb\n", "@@\n-a\n+A\n", "A\nb\n"),  # indentation
        ("a\nb\n", "@@\n+end\n", "a\nb\nend\n"),  # no place named
        ("a\nb", "@@\n-b\n+c\n", "a\nc\n"),  # the newline is added by some
    ],
)
def test_a_guess(text: str, body: str, after: str) -> None:
    found = _apply(text, body)
    assert found[0] == after
    assert all(isinstance(one, Guess) for one in found)


def test_what_does_not_fit_gives_nothing() -> None:
    assert _apply("a\n", "@@\n-b\n+c\n") == []
    assert _apply("a\nb\n", "@@ nowhere\n-b\n+c\n") == []
    assert _apply("a\nb\n", "@@\n-b\n+c\n@@\n-a\n+d\n") == []  # hunks stand in order


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        (
            "a\nb",
            "a\nc",
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
        ),
        ("a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"),
        ("a\nb\n", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"),
        ("", "a\n", "@@ -0,0 +1,1 @@\n+a\n"),
    ],
)
def test_unified_patches_at_the_end_of_a_file(before: str, after: str, patch: str) -> None:
    assert apply_unified(before, parse_unified(patch)) == after

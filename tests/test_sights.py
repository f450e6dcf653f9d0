"""What commits saw on disk stands between the records in the order in which it was seen."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gitralph import isolate
from gitralph.commit import sights
from gitralph.hook.journal import Record, text_id
from gitralph.isolate import Step

BASE, EDIT, BACK, LATER = b"a\n", b"a\nb\n", b"z\n", b"a\nc\n"


HEAD = b"a\nb\nh\n"


class Git:
    """An object database with one blob and one tree."""

    def raw(self, oid: bytes) -> tuple[bytes, bytes]:
        """The text of HEAD, or a KeyError."""
        return {text_id(HEAD).encode(): (b"blob", HEAD), b"2" * 40: (b"tree", HEAD)}[oid]


def _rows() -> tuple[list[sights.Row], list[Step]]:
    texts: list[sights.Row] = []
    edits = [("S1", BASE, EDIT), ("S2", BACK, BASE), ("S2", BASE, LATER)]
    for offset, (session, before, after) in zip((0, 100, 200), edits, strict=True):
        record = Record(session, "edit", text_id(before), text_id(after), "lines")
        record.offset = offset
        texts.append((record, before, after))
    return texts, [Step(str(record.offset), record.session, b, a) for record, b, a in texts]


def _put_in(*noted: dict[str, object]) -> list[tuple[str | None, bytes | None, bytes | None]]:
    """The steps with what was noted, each as its owner and its texts."""
    return [(step.owner, step.before, step.after) for step in _steps(*noted)]


def _steps(*noted: dict[str, object]) -> list[Step]:
    """The steps with what was noted, of a path where neither the index nor HEAD is asked."""
    texts, steps = _rows()
    git = cast(Any, Git())
    scene = cast(Any, SimpleNamespace(filtered={b"f"}, repo=SimpleNamespace(objects=git)))
    state = cast(Any, SimpleNamespace(path=b"f", journal=SimpleNamespace(consumed=list(noted))))
    return sights.put_in(scene, state, texts, steps, BASE, LATER)


def _note(upto: object, text: bytes, **fields: object) -> dict[str, object]:
    return {"upto": upto, "seen": text_id(text), "commit": None, **fields}


def test_what_was_seen_later_and_noted_first_stands_behind() -> None:
    """A commit notes what git's index told of a place before those that other commits noted."""
    wanted = [
        ("S1", BASE, EDIT),
        (None, EDIT, BASE),
        (None, BASE, BACK),
        ("S2", BACK, BASE),
        ("S2", BASE, LATER),
    ]
    assert _put_in(_note(60, BACK), _note(50, BASE)) == wanted
    assert _put_in(_note(50, BASE), _note(60, BACK)) == wanted


def test_what_git_put_there_is_not_followed_by_what_stood_before_it() -> None:
    """Git's place is right behind the record, whenever git was there: the next record found git's text."""
    gits = _note(1, BACK, session="unrecorded")
    wanted = [("S1", BASE, EDIT), (None, EDIT, BACK), ("S2", BACK, BASE), ("S2", BASE, LATER)]
    assert _put_in(gits, _note(60, EDIT)) == wanted
    # seen by a commit, or where the next record found another text, it is another change
    assert _put_in(_note(1, BACK), _note(60, EDIT))[2] == (None, BACK, EDIT)
    assert _put_in({**gits, "seen": text_id(BASE)}, _note(60, EDIT))[2] == (None, BASE, EDIT)


def test_only_what_a_commit_saw_and_the_records_know_is_put_in() -> None:
    """The row of a commit tells nothing of the disk; one with a made-up place or text tells nothing."""
    plain = [("S1", BASE, EDIT), ("S2", BACK, BASE), ("S2", BASE, LATER)]
    rows = [
        _note(50, BASE, commit="1" * 40),
        _note(True, BASE),
        _note("50", BASE),
        _note(50, b"unknown\n"),
        _note(0, BASE),
        _note(50, EDIT),
    ]
    assert _put_in(*rows) == plain


def test_what_git_had_put_there_is_found_in_git() -> None:
    """After a checkout no record needs to know HEAD's text; what a commit found there may be anybody's."""
    there = ("S1", BASE, EDIT), (None, EDIT, HEAD), ("S2", BACK, BASE), ("S2", BASE, LATER)
    assert _put_in(_note(50, HEAD, session="unrecorded")) == list(there)
    assert (None, EDIT, HEAD) not in _put_in(_note(50, HEAD, session="S2"))
    for name in ("1" * 40, "2" * 40, "../../config", "\ud800"):
        row = {**_note(50, HEAD, session="unrecorded"), "seen": name}
        assert (None, EDIT, HEAD) not in _put_in(row), name


def test_what_gits_index_told_stays_gits_once_a_commit_has_noted_it() -> None:
    """Whatever was recorded before may be away since: the next commit must know it as the first one did."""
    told = _steps(_note(50, BASE, session=isolate.UNRECORDED, base=None), _note(60, BACK, session="S2"))
    assert [step.after for step in told if sights.is_gits(step)] == [BASE]


OTHER = b"q\nr\ns\n"


@pytest.mark.parametrize(("head", "stood"), [(b"a\nb\nc\nd\n", True), (b"a\nb\nc\nd\na new line\n", False)])
def test_heads_text_did_not_stand_where_later_records_wrote_lines_of_it(head: bytes, stood: bool) -> None:
    """A file that is gone and there again was put back from HEAD, but not from one that came to be later."""
    back = b"a\nb\nc\nd\n"
    edits: list[tuple[str, bytes | None, bytes | None]] = [
        ("S1", back, OTHER),
        ("S2", OTHER, None),
        ("S1", back + b"e\n", back + b"e\na new line\n"),
    ]
    texts: list[sights.Row] = []
    for offset, (session, before, after) in zip((0, 100, 200), edits, strict=True):
        oids = [None if text is None else text_id(text) for text in (before, after)]
        record = Record(session, "edit", oids[0], oids[1], "lines")
        record.offset = offset
        texts.append((record, before, after))
    steps = [Step(str(record.offset), record.session, b, a) for record, b, a in texts]
    said = SimpleNamespace(try_run=lambda *_: SimpleNamespace(stdout=b""))
    repo = SimpleNamespace(root="/", git=SimpleNamespace(at=lambda _: said))
    scene = cast(Any, SimpleNamespace(filtered=set(), repo=repo))
    state = cast(Any, SimpleNamespace(path=b"f", journal=SimpleNamespace(consumed=[])))
    found = sights.put_in(scene, state, texts, steps, head, edits[-1][2])
    assert [step.after for step in found if sights.is_gits(step)] == ([head] if stood else [])

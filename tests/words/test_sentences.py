"""The one table of sentences: whole, made by nobody else, and shown filled in ``fixtures/sentences.txt``.

Whoever rewords a sentence writes that file anew with ``python -m tests.words.test_sentences``.
"""

import ast
import re
from collections.abc import Iterator
from string import Formatter

from gitralph.base.ids import UNRECORDED
from gitralph.base.kinds import Kind, ShellCommand, Why
from gitralph.base.layout import MAIN, Layout
from gitralph.decide.decision import CONTESTED, ENTANGLED, Left, Note
from gitralph.words import advice, sentences
from tests.support import source
from tests.support.repo import Repo

SHOWN = source.ROOT / "tests/fixtures/sentences.txt"
FIELDS = {
    "sessions": {"whose", "lines", "names", "too"},
    "commands": {"commands"},
    "path": {"path"},
    "number": {"number"},
    "because": {"because"},
}
COMMANDS = (
    ShellCommand("claude-1", "Bash", "toolu_1", "2026-01-01T00:00:00Z"),
    ShellCommand("codex-1", None, None, "2026-01-01T00:00:01Z"),
)
MADE = {"Left", "Note", "LinesNote", "LeftEdit", "Bond", "Why"}
OTHERS = [module for module in source.modules() if module.room != "words"]


def filled() -> str:
    """Every sentence with a sample of all that it may name."""
    layout, rows = Layout("/nowhere", MAIN), list[str]()
    for kind in Kind:
        fields = fields_of(kind)
        rows.append(f"{kind}:")
        for sessions in _samples(fields):
            why = Why(kind, sessions, b"other/path", 7, COMMANDS, Why(Kind.BINARY))
            note = Note(b"path", why, None if "where" in fields else (3, 5))
            rows += [f"    {one}" for one in sentences.told(layout, [note])]
    return "\n".join(rows) + "\n"


def _samples(fields: set[str]) -> list[tuple[str, ...]]:
    if fields & {"whose", "lines"}:
        return [("claude-1",), (UNRECORDED,)]
    both = ("claude-1", "codex-1")
    return [both, ()] if "too" in fields else [both]


def fields_of(kind: Kind) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentences.TABLE[kind]) if name}


def test_every_kind_has_a_sentence() -> None:
    assert set(sentences.TABLE) == set(Kind)


def test_every_sentence_is_made_by_some_code() -> None:
    found = {name for module in OTHERS for _, name in source.calls(module.tree)}
    assert [kind for kind in Kind if f"Kind.{kind.name}" not in found] == []


def test_the_sentences_stand_in_the_order_of_the_kinds() -> None:
    """So that a reader finds in one file what he saw in the other."""
    assert list(sentences.TABLE) == list(Kind)


def test_the_sentences_filled_are_as_shown() -> None:
    assert filled() == SHOWN.read_text()


def test_a_sentence_names_only_what_a_why_can_tell() -> None:
    known = {"where"}.union(*FIELDS.values())
    assert [kind for kind in Kind if not fields_of(kind) <= known] == []


def test_a_sentence_begins_with_a_small_letter_and_has_no_full_stop() -> None:
    rows = sentences.TABLE.values()
    assert [row for row in rows if not re.fullmatch(r"(HEAD|[a-z]|\{).*[^.]", row)] == []


def _calls(module: source.Module, names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in names:
            yield node


def test_whoever_makes_a_why_gives_what_its_sentence_names() -> None:
    """No more either: a session that it does not name would be missing in the line that a person reads."""
    wrong = []
    for module in OTHERS:
        for call in _calls(module, {"Why"}):
            given = dict(zip(Why._fields, call.args, strict=False))
            given |= {one.arg or "": one.value for one in call.keywords}
            for kind in _kinds_in(given.pop("kind")):
                needed = {field for field, names in FIELDS.items() if names & fields_of(kind)}
                if needed != given.keys():
                    wrong.append(f"{module.name}:{call.lineno}: {kind} names {sorted(needed)}")
    assert wrong == []


def _kinds_in(node: ast.AST) -> list[Kind]:
    """Those that are spelled out; a kind in a variable is anybody's guess."""
    return [kind for kind in Kind if any(name == f"Kind.{kind.name}" for _, name in source.calls(node))]


def test_nobody_else_makes_such_sentences() -> None:
    wrong = [
        f"{module.name}:{call.lineno}: {ast.unparse(text)}"
        for module in OTHERS
        for call in _calls(module, MADE)
        for text in (*call.args, *(one.value for one in call.keywords))
        if isinstance(text, ast.JoinedStr)
        or (isinstance(text, ast.Constant) and isinstance(text.value, str) and " " in text.value)
    ]
    assert wrong == []


def test_a_session_has_its_name_for_people_and_its_id_for_programs(repo: Repo) -> None:
    repo.start("S1")
    layout, why = Layout(str(repo.state), MAIN), Why(Kind.INSIDE, ("S1",))
    assert sentences.of(layout, why) == f"is inside uncommitted lines of session '{repo.called('S1')}'"
    assert sentences.with_ids(why) == "is inside uncommitted lines of session 'S1'"


def test_a_session_that_the_sentence_does_not_name_is_named_behind_it() -> None:
    layout = Layout("/nowhere", MAIN)
    left = Left(b"f", CONTESTED, Why(Kind.RECORDED_BY, ("S1",)), ("S1", "S2", UNRECORDED), (2, 2))
    told = "'f' line 2: contested: session 'S1' recorded it and has not committed it (session 'S2')"
    assert advice.describe(layout, left) == told


def test_many_places_of_one_reason_are_one_line() -> None:
    """A formatter over another's lines had one line of error for each line that it changed."""
    layout, why = Layout("/nowhere", MAIN), Why(Kind.INSIDE)

    def said(*lines: tuple[int, int]) -> list[str]:
        return list(advice.described(layout, [Left(b"f", ENTANGLED, why, lines=each) for each in lines]))

    because = "entangled: is inside uncommitted lines"
    assert said((2, 2)) == [f"'f' line 2: {because}"]
    assert said((2, 4)) == [f"'f' lines 2-4: {because}"]
    assert said((2, 2), (5, 7), (9, 9), (12, 12)) == [f"'f' lines 2, 5-7, 9 and 12: {because}"]
    assert said(*((n, n) for n in range(2, 400, 2))) == [f"'f' lines 2, 4, 6 and 196 more places: {because}"]
    other = Left(b"f", ENTANGLED, Why(Kind.AROUND), lines=(5, 5))
    assert len(list(advice.described(layout, [Left(b"f", ENTANGLED, why), other]))) == 2


def test_a_path_with_braces_is_only_shown() -> None:
    """What a file is called is no field of a sentence."""
    layout, why = Layout("/nowhere", MAIN), Why(Kind.GOES_WITH, path=b"{whose}")
    assert sentences.told(layout, [Note(b"{}", why)]) == ["'{}': it goes with '{whose}', which is left"]


if __name__ == "__main__":
    SHOWN.write_text(filled())

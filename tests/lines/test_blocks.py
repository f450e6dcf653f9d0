"""Blocks that end in the same lines: which of them a change took or brought, and which HEAD has.

Each case was a commit that cut a function in two; the random days of `tests.days.code` showed them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gitralph.lines.choose import separate
from gitralph.lines.neighbours import out_of_place
from gitralph.lines.order import chain
from gitralph.lines.pieces import Pieces
from gitralph.lines.terms import Separation, Step

HEADER = "import fs;\n\n"
OTHER = 2


def function(name: str, value: int = 0, kind: int = 1) -> str:
    bodies = (
        f"  init();\n  return {value};\n",
        f"  if (x) {{\n    return {value};\n  }}\n",
        f"  try {{\n    run({value});\n  }} finally {{\n    done();\n  }}\n  return x;\n",
    )
    return f"function {name}() {{\n{bodies[kind]}}}\n\n"


def text(*functions: str) -> bytes:
    return (HEADER + "".join(functions)).encode()


def edit(key: str, owner: str | None, before: bytes, after: bytes) -> Step:
    return Step(key, owner, before, after, seen=True)


def put(before: bytes, after: bytes) -> Step:
    """What git put on disk."""
    return Step("git", None, before, after)


def ask(owner: str, head: bytes, steps: Sequence[Step], disk: bytes) -> Separation:
    return separate(head, chain(steps, steps[0].before), disk, owners={owner})


A, B, C = function("a"), function("b", kind=OTHER), function("c")


def test_a_checkout_takes_two_blocks_whole_and_no_brace_of_the_one_above() -> None:
    head = text(function("a", 1, 0), B)
    one = text(function("a", 2, 0), B, function("one", kind=OTHER))
    both = text(function("a", 2, 0), B, function("one", kind=OTHER), function("two", 1, OTHER))
    now = text(function("new", 1, 0), function("a", 1, 0), B)
    steps = [
        edit("0", "S1", head, one),
        edit("1", "S2", one, both),
        put(both, head),
        edit("2", "S3", head, now),
    ]
    found = ask("S2", head, steps, now)
    assert found.text == head


def test_what_a_checkout_put_back_is_not_removed_by_who_had_replaced_it() -> None:
    """A person then deletes the function that the session had changed, and one that is just like it."""
    head = text(A, B, function("d", kind=OTHER), C)
    edited = text(A, B, function("d", 101, OTHER), C)
    found = ask("S1", head, [edit("0", "S1", head, edited), put(edited, head)], text(A, C))
    assert not found.refused
    assert found.text == head


def test_a_function_behind_a_changed_value_is_a_change_of_its_own() -> None:
    """So what a person puts between the two is amid none of the session's."""
    head, mine = text(A, B), text(A, function("b", 131, OTHER), function("mine"))
    now = text(A, function("b", 131, OTHER), function("person", 0, 0), function("mine"))
    found = ask("S1", head, [edit("0", "S1", head, mine)], now)
    assert found.text == mine


def test_head_has_the_whole_of_one_block_and_not_the_ends_of_two() -> None:
    """Somebody staged and committed one of two functions side by side."""
    before = text(A, B)
    one = text(A, function("late", 0, 0), B)
    both = text(A, function("mine", 0, 0), function("late", 0, 0), B)
    head = text(A, function("mine", 0, 0), B)
    steps = [edit("0", "S1", before, one), edit("1", "S2", one, both)]
    assert ask("S2", head, steps, both).text == head
    found = ask("S1", head, steps, both)
    assert found.text == both


def test_a_person_who_writes_a_function_like_a_removed_one_takes_no_line_of_it_back() -> None:
    head, mine = text(A, B, function("d", kind=0)), text(A, B)
    found = ask("S1", head, [edit("0", "S1", head, mine)], text(A, B, function("e", 1, 0)))
    assert found.text == mine


def test_a_hard_reset_leaves_no_end_of_a_pending_block() -> None:
    """It puts another function in the place of the session's, which ends in the same lines."""
    before, head = text(A), text(A, function("base"))
    mine = text(A, function("mine", 221))
    steps = [edit("0", "S1", before, mine), put(mine, head), edit("1", "S1", head, head + C.encode())]
    found = ask("S1", head, steps, head + C.encode())
    assert found.text == head + C.encode()


def look(head: bytes, answer: bytes, disk: bytes, *made: Step, is_unsure: bool = True) -> bytes | None:
    return out_of_place(head, answer, disk, made, is_unsure)


def test_a_brace_more_or_less_than_head_and_file_have_there_is_seen() -> None:
    head, disk = text(A, B), text(A, B, function("new", 0, 0))
    assert look(head, disk, disk) is None
    assert look(head, head, disk) is None
    assert look(head, head + b"}\n\n", text(function("new", 0, 0), A, B)) == b"}"
    assert look(head, head.replace(b"  }\n}\n", b"}\n", 1), disk) == b"  }"
    assert look(disk, head, head) is None
    # what is left of a function without its first lines
    assert look(disk, head + b"}\n\n", head) == b"}"
    assert look(head, disk.removesuffix(b"}\n\n"), disk) == b"}"


def test_a_brace_that_only_the_sessions_own_edit_knows_is_its_own() -> None:
    """Somebody has removed it since; the edit still holds it, where git took nothing away."""
    head, mine = b"one 1\n{\ntwo 2\n}\n", b"one 1\n{\n{\ntwo 2\n}\n"
    step = edit("0", "S1", head, mine)
    assert look(head, mine, head, step, is_unsure=False) is None
    assert look(head, mine, head, step) == b"{"
    # where brackets do not pair they tell nothing
    assert look(head + b"}\n", mine + b"}\n", head + b"}\n", step) is None


def test_a_line_within_the_brackets_of_another_block_is_seen() -> None:
    head, disk = text(A, B), text(A, B, function("new", 0, 0))
    cut = head.replace(b"  }\n}\n", b"  }\n" + function("new", 0, 0).encode() + b"}\n", 1)
    assert look(head, cut, disk, edit("0", "S1", head, disk), is_unsure=False) is not None


def test_an_edit_that_leaves_a_bracket_open_tells_nothing_of_depth() -> None:
    """All that follows it stands deeper, in the answer as in the file, where a person took another away."""
    head, there = b"one 1\n{\ntwo 2\n}\n", b"one 1\nhis words\ntwo 2\n}\n"
    answer, disk = (text.replace(b"two", b"mine 3\n{\ntwo") for text in (head, there))
    opens = edit("0", "S1", there, disk)
    assert look(head, answer, disk, opens, is_unsure=False) is None


def test_an_answer_whose_brackets_do_not_pair_is_seen_where_all_other_texts_have_pairs() -> None:
    head, disk = text(A, B), text(A, B, function("new", 0, 0))
    step = edit("0", "S1", head, disk)
    assert look(head, disk + b"}\n", disk, step) == b"}"
    assert look(head + b"}\n", disk + b"}\n", disk + b"}\n", step) is None


def test_a_line_of_every_block_that_is_left_outside_of_all_blocks_is_seen() -> None:
    """Its brackets went, so all brackets of the answer pair; but no text has the line as little deep."""
    small = function("small", 0, 0)
    head, disk = text(small, small.replace("small", "gone"), B), text(small, B)
    cut = text(small, "  return 0;\n", B)
    assert look(head, disk, disk, edit("0", "S1", head, disk), is_unsure=False) is None
    assert look(head, cut, disk, edit("0", "S1", head, disk), is_unsure=False) is not None


def plain(name: str, value: int = 0, kind: int = 1) -> str:
    """A function without braces: only its lines say where it ends."""
    bodies = (
        f"    init()\n    return {value}\n",
        f"    if x:\n        return {value}\n",
        f"    try:\n        run({value})\n    finally:\n        done()\n    return x\n",
    )
    return f"def {name}():\n{bodies[kind]}\n"


def test_a_new_function_does_not_take_over_the_body_of_a_removed_one() -> None:
    """One line of the old function did not come back, and that was the one that tells which it is."""
    head, less, more = (text(plain("a", 1), *rest) for rest in ([plain("b", 2)], [], [plain("new", 2)]))
    steps = [edit("0", "S1", head, less), edit("1", "S2", less, more)]
    for owner in ("S1", "S2"):
        assert b"def b():\n" not in (ask(owner, head, steps, more).text or b"").replace(
            plain("b", 2).encode(), b""
        )


def test_a_new_function_does_not_part_a_removed_one_whose_body_another_has() -> None:
    head, less = text(plain("a", 1), plain("b", 2)), text(plain("a", 1))
    more, disk = (text(plain("a", 1), *rest, plain("new", 2)) for rest in ([], [plain("mine", 3)]))
    steps = [edit("0", "S1", head, less), edit("1", "S2", less, more), edit("2", "S3", more, disk)]
    found = ask("S3", head, steps, disk).text or b""
    assert plain("b", 2).encode() in found
    assert plain("mine", 3).encode() in found


def test_what_head_has_of_a_piece_is_no_reason_to_remove_the_rest() -> None:
    """A person put the old value back into HEAD and wrote another on disk: neither is the session's."""
    before, mine, back, disk = (
        text(function("a", value, 0), *rest) for value, rest in ((0, []), (1, [C]), (0, [C]), (2, [C]))
    )
    assert ask("S1", back, [edit("0", "S1", before, mine)], disk).text == back


def test_a_function_that_a_person_writes_elsewhere_is_no_correction_of_one_that_a_stash_took() -> None:
    """Both are one change of nobody's, since no edit was recorded in between; the bodies are the same."""
    less, more = text(function("b", 0, OTHER)), text(function("mine", 0), function("b", 0, OTHER))
    disk = text(function("b", 0, OTHER), function("his", 0))
    found = ask("S1", less, [edit("0", "S1", less, more)], disk)
    assert found.text == less


def test_a_piece_that_another_replaced_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not again for each of its lines: of 570 functions one separation took 4 s."""
    every = [function(f"f{value}", value, value % 3) for value in range(28)]
    others = [function(f"g{value}", value, value % 3) for value in range(14)]
    head, less, more = text(*every), text(*every[::2]), text(*every[::2], *others)
    disk = text(*(one for at, one in enumerate(every) if at % 3))
    asked, words = list[int](), Pieces.words

    def counted(known: Pieces, lines: Sequence[int]) -> set[bytes]:
        asked.append(len(lines))
        return words(known, lines)

    monkeypatch.setattr(Pieces, "words", counted)
    ask(
        "S2",
        head,
        [edit("0", "S1", head, less), edit("1", "S2", less, more), edit("2", "S3", more, disk)],
        disk,
    )
    assert 0 < len(asked) < 10


def test_the_blank_line_below_the_imports_is_heads_own_where_a_person_commits_the_second_of_two() -> None:
    a, mine, more = plain("a", kind=0), plain("mine", 1, kind=0), plain("more", 2, kind=0)
    steps = [edit("0", "s1", text(a), text(mine, more, a))]
    head = text(more, a)
    assert ask("s1", head, steps, text(mine, more, a)).text == text(mine, more, a)


def test_a_value_that_every_function_returns_is_not_written_anew_in_another() -> None:
    a, b, c = plain("a", kind=0), plain("b", kind=0), plain("c", kind=0)
    mine = plain("mine", kind=0)
    steps = [
        edit("0", "s2", text(a, b, c), text(a, b, mine, c)),
        edit("1", "s3", text(a, b, mine, c), text(a, plain("b", 160, kind=0), mine, c)),
    ]
    assert ask("s2", text(a, b, c), steps, steps[-1].after or b"").text == text(a, b, mine, c)


def test_a_line_that_two_functions_once_had_does_not_come_back_in_a_new_one() -> None:
    """Both had `run(0)`, and it went. A third function with it is no return of theirs."""
    a, z, b = plain("a", 9, 2), plain("z", 8, 2), plain("b", kind=1)
    old = text(plain("a", kind=2), b, plain("z", kind=2))
    head = text(a, b, z)
    mine = plain("mine", kind=2)
    steps = [
        edit("0", "s2", old, head),
        edit("1", "s1", head, text(b, z)),
        edit("2", "s3", text(b, z), text(mine, b, z)),
    ]
    assert ask("s3", head, steps, text(mine, b, z)).text == text(a, mine, b, z)


def test_a_function_above_one_that_was_renamed_back_and_forth_does_not_stand_in_it() -> None:
    """Only the names changed, so the body is the same line throughout, and two dead names stand above it."""
    a, b, mine = plain("a", kind=0), plain("b", 5, kind=0), plain("mine", 1, kind=0)
    renamed, again = plain("x", kind=0), plain("y", 1131, kind=0)
    steps = [
        edit("0", "s2", text(a, b), text(renamed, b)),
        put(text(renamed, b), text(a, b)),
        edit("1", "s2", text(a, b), text(again, b)),
        edit("2", "s1", text(again, b), text(mine, again, b)),
    ]
    assert ask("s1", text(a, b), steps, text(mine, again, b)).text == text(mine, a, b)

"""How far HEAD agrees with what the records know, by hand."""

from __future__ import annotations

from gitralph.lines import SIGHTED, agreed, came_back, rewound  # FIXME
from gitralph.lines.terms import Step


def text(lines: str) -> bytes:
    """One letter a line, with a word of its own."""
    return b"".join(b"the line %s\n" % letter.encode() for letter in lines)


def steps(*made: tuple[str | None, str, str], last: str = "") -> list[Step]:
    found = [Step(str(n), owner, text(old), text(new)) for n, (owner, old, new) in enumerate(made)]
    return [*found, Step(SIGHTED, None, found[-1].after, text(last), put=True)] if last else found


def nobody_saw(_: Step) -> bool:
    return False


def test_a_commit_of_all_after_a_correction_is_known_by_the_words_of_a_session() -> None:
    """git found on disk what HEAD holds now, and it is no older text."""
    edits = steps(("S1", "ab", "aXYb"), ("S2", "aXYb", "aXb"), last="aXhb")
    assert agreed(edits, text("ab"), text("aXhb"), nobody_saw) == 3
    assert agreed(edits[:-1], text("ab"), text("aXhb"), nobody_saw) is None
    # a stash, and a pull that brought another line
    away = steps(("S1", "ab", "aXYb"), last="apb")
    assert agreed(away, text("ab"), text("apb"), nobody_saw) is None


def test_a_removal_came_back_only_where_all_of_it_did() -> None:
    removal = steps(("S1", "abcd", "ad"))
    assert came_back([*removal, *steps((None, "ad", "abcd"))], 2, text("ad"))
    assert not came_back([*removal, *steps((None, "ad", "abcd"))], 2, text("abd"))


def test_what_head_lost_of_a_commit_of_ours_and_the_file_has_is_rewound() -> None:
    edits = steps(("S1", "ab", "aXb"), ("S2", "aXb", "aXbY"))
    assert rewound(edits, text("ab"), text("aXbY"), {"0"})
    assert not rewound(edits, text("ab"), text("abY"), {"0"})  # the file lost it as well
    assert not rewound(edits, text("ab"), text("aXbY"), ())  # none of ours took it
    assert not rewound(edits, text("aXb"), text("aXbY"), {"0"})


def test_a_commit_holds_nothing_that_was_recorded_while_head_was_at_it() -> None:
    """A reset brought it back: of the two places with its text it is at the one before the edit."""
    edits = steps(("S2", "a", "ab"), ("S1", "ab", "aXb"), (None, "aXb", "ab"), ("S1", "ab", "aYb"))
    heads = ("first", "now", "other", "other")
    made = [step._replace(head=head) for step, head in zip(edits, heads, strict=True)]

    def saw(step: Step) -> bool:
        return step.head == "now"

    assert agreed(made, text("a"), text("ab"), saw, "now") == 1
    # another commit with the same text may be made of what came later
    assert agreed(made, text("a"), text("ab"), saw, "a fourth") == 3

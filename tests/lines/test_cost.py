"""What grows with the size of a text, by counting what the interpreter does: no clock is asked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any, TypeVar

import pytest

from gitralph.lines import choose, past, reverse
from gitralph.lines.order import chain
from gitralph.lines.pieces import pieces
from gitralph.lines.terms import Step
from tests.lines.texts import text

T = TypeVar("T")


def counted(ask: Callable[[], T]) -> tuple[int, T]:
    """How many instructions an answer takes, and the answer."""
    count = 0

    def trace(frame: FrameType, _event: str, _: Any) -> Any:
        nonlocal count
        count += 1
        frame.f_trace_opcodes = True
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        answer = ask()
    finally:
        sys.settrace(before)
    return count, answer


def history(head: bytes, *texts: bytes) -> list[Step]:
    pairs = zip((head, *texts), texts, strict=False)
    return chain([Step(str(n), f"s{n % 2}", *pair) for n, pair in enumerate(pairs)], head)


def operations(head: bytes, *texts: bytes, by_hand: bytes | None = None) -> int:
    """How many instructions a commit of the first of two sessions takes; nothing of it is left by hand."""
    steps, disk = history(head, *texts), by_hand or texts[-1]
    count, answer = counted(lambda: choose.separate(head, steps, disk, owners={"s0"}))
    assert answer.text == (texts[0] if by_hand is None else head)
    return count


def of_an_undo(count: int) -> int:
    """A block is written, by another anew, and anew by the first: what the other did cannot be undone."""
    head = b"first\n"
    steps = history(head, *(text("first", *(f"turn {turn} {n}" for n in range(count))) for turn in range(3)))
    known = pieces(head, steps[-1].after, steps)
    spent, answer = counted(lambda: reverse.undone(known, steps, {"s1"}))
    assert answer.refused
    return spent


def of_equal_lines(count: int) -> int:
    old, new = text(*["x"] * count), text(*["y"] * count)
    return operations(old, new, new + b"another line\n")


def of_rewrites(count: int) -> int:
    lines = [f"line {n} of it" for n in range(count)]
    new = [f"{line}, rewritten" for line in lines]
    return operations(text(*lines), text(*new), text(*new, "another line"))


def of_a_persons_rewrite(count: int) -> int:
    lines = [f"line {n} of it" for n in range(count)]
    return operations(b"first\n", text(*lines), by_hand=text(*[f"by hand, number{n}" for n in range(count)]))


def of_a_block_changed_in_many_places(count: int) -> int:
    new = [f"line {n} of it" for n in range(count)]
    half = [line if n % 2 else f"other, rewritten{n}" for n, line in enumerate(new)]
    return operations(b"first\n", text("first", *new), text("first", *half))


@pytest.mark.parametrize(
    "shape",
    [of_equal_lines, of_rewrites, of_a_persons_rewrite, of_a_block_changed_in_many_places, of_an_undo],
)
def test_twice_the_lines_take_twice_the_work(shape: Any) -> None:
    """4,000 equal lines that all become others took 0.8 s once, and 16,000 took 9.1 s."""
    assert shape(200) < 2.5 * shape(100)


def test_a_piece_that_many_lines_lead_to_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few steps over lines that repeat: each way to a piece asked anew, and a commit never ended."""
    texts = [
        b"\r\r",
        b"\ra",
        b"}\n}\nc\nb",
        b"\nb\n\xff\n\nd\n\xff\n}\nc\n\xff\n",
        b"}\nd\nc\n}\nc\nb\nc\n\xff\nd\n\xff\nd\nc\na\nd\na\nd\n\xff\n\nd\n",
        b"\xff\na\nd\nlong line\na\nd\n\n\nlong line\nlong line\nd\nc\n\n\xff\nlong line\nc\nlong line\n"
        b"b\n}\nc\nc\n\xff\na\nc\n}\n",
        b"}\nb\n\xff\nlong line\nc\na\n\nb\nd\n\nc\nd\nd\n}\na\nd\nlong line\n\xff\nlong line\n\xff\nc\n",
    ]
    owners = ["s1", "s3", "s3", "s3", "s1", "s1"]
    steps = [
        Step(str(at), owner, before, after)
        for at, (owner, (before, after)) in enumerate(zip(owners, pairwise(texts), strict=True))
    ]
    asked = 0
    corrects = past.Past.corrects

    def asking(self: past.Past, gap: int, over: int) -> bool:
        nonlocal asked
        asked += 1
        assert asked < 5_000
        return corrects(self, gap, over)

    monkeypatch.setattr(past.Past, "corrects", asking)
    choose.separate(b"\na\nc\n\xff\n", steps, None, owners={"s1"})
    assert asked

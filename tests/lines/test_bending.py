"""What is spared where edits pile up: the same answers as without, and work that grows as the edits do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from random import Random
from types import FrameType
from typing import Any

import pytest

from gitralph.lines import build
from gitralph.lines.choose import separate
from gitralph.lines.fold import fold
from gitralph.lines.order import chain
from gitralph.lines.terms import Step
from gitralph.lines.weave import Weave
from tests.lines.world import numbered

SEEDS = range(300)
LINES = [b"}", b"{", b"", b"return", b"two words", b"three words more", b"x = 1", b"y = 2", b"z = call()"]


def edited(random: Random, lines: list[bytes], texts: list[list[bytes]]) -> list[bytes]:
    """One random change: lines that come and go, a block that moves or doubles, a text that returns."""
    lines, kind = list(lines), random.random()
    at, to = (random.randint(0, len(lines)) for _ in range(2))
    if kind < 0.5:
        lines[at : at + random.randint(0, 3)] = random.choices(LINES, k=random.randint(0, 3))
    elif kind < 0.65:
        block = lines[at : at + random.randint(1, 4)]
        del lines[at : at + random.choice([0, len(block)])]
        lines[to:to] = block
    elif kind < 0.75:
        lines = list(random.choice(texts))
    else:
        lines[at : at + 1] = [b"hot line %d" % random.randrange(3)]
    return lines


def history(random: Random) -> list[Step]:
    """Steps of two sessions and of nobody, whose lines are few enough to return all the time."""
    texts = [random.choices(LINES, k=random.randint(0, 12))]
    for _ in range(random.randint(1, 12)):
        texts.append(edited(random, texts[-1], texts))
    whole = [b"".join(line + b"\n" for line in lines) for lines in texts]
    owners = random.choices(["s1", "s2", None], k=len(whole))
    return [Step(f"k{at}", owners[at], *pair) for at, pair in enumerate(pairwise(whole))]


# --- the weave ---


def operations(weave: Weave) -> list[object]:
    made = [(h.births, h.dels, h.undels, h.left, h.right, h.unit) for h in weave.hunks]
    return [made, weave.order(), weave.ops, weave.origin, [unit.key for unit in weave.units]]


def test_dead_lines_are_skipped_only_where_none_of_them_returns() -> None:
    for seed in SEEDS:
        steps = history(Random(seed))
        skipping = fold(steps, steps[-1].after)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build, "may_return", lambda *_: True)
            assert operations(fold(steps, steps[-1].after)) == operations(skipping), seed


def test_what_was_shown_is_found_by_halves_as_by_looking_through_all() -> None:
    for seed in SEEDS:
        steps = history(Random(seed))
        weave = fold(steps, steps[-1].after)
        for hunks in weave.known.values():
            shown = [atom for atom in weave.order() if weave.visible_at(atom, hunks)]
            assert weave.shown_at(hunks) == shown, seed


# --- how work grows ---


def rewritten(times: int) -> list[bytes]:
    return [numbered(9) + b"rewritten %d times\n" % at + numbered(9) for at in range(times)]


def swapped(times: int) -> list[bytes]:
    blocks = [b"".join(b"%s says %d\n" % (who, at) for at in range(8)) for who in (b"one", b"other")]
    return [numbered(5) + b"".join(blocks[:: 1 if at % 2 else -1]) for at in range(times)]


def repeated(lines: int) -> list[bytes]:
    old = [b"line %d of text\n" % (at % (lines // 2)) for at in range(lines)]
    new = [b"changed %d\n" % at if at % 10 == 0 else line for at, line in enumerate(old)]
    return [b"".join(old), b"".join(new)]


def lines_run(texts: list[bytes], owners: str) -> int:
    """Count the lines of Python that a separation runs, which unlike seconds are the same every time."""
    steps = [
        Step(f"k{at}", owners[at % len(owners)], texts[at], texts[at + 1]) for at in range(len(texts) - 1)
    ]
    count = 0

    def trace(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        separate(texts[0], chain(steps, texts[0]), texts[-1], owners={"a"})
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    ("texts", "owners", "size"),
    [
        pytest.param(rewritten, "a", 200, id="one line rewritten by one"),
        pytest.param(rewritten, "ab", 200, id="one line rewritten by two in turn"),
        pytest.param(swapped, "a", 62, id="two blocks swapped by one"),
        pytest.param(swapped, "ab", 62, id="two blocks swapped by two in turn"),
        pytest.param(repeated, "a", 800, id="every line twice, each tenth changed"),
    ],
)
def test_twice_as_many_edits_are_twice_the_work(
    texts: Callable[[int], list[bytes]], owners: str, size: int
) -> None:
    once, twice = (lines_run(texts(count), owners) for count in (size, 2 * size))
    assert twice < 2.2 * once

"""Histories of one file that once bent upward: twice as many edits took four times as long."""

import gc
import time
from itertools import pairwise

from gitralph.lines.choose import separate
from gitralph.lines.order import chain
from gitralph.lines.terms import Step


def rewritten(times: int) -> list[bytes]:
    """One line of a hundred, rewritten again and again."""
    around = [b"line %d of text\n" % at for at in range(100)]
    return [b"".join([*around[:50], b"version %d here\n" % at, *around[50:]]) for at in range(times + 1)]


def repeated(lines: int) -> list[bytes]:
    """Every line stands twice, and each tenth is changed."""
    old = [b"line %d of text\n" % (at % (lines // 2)) for at in range(lines)]
    new = [b"changed %d\n" % at if at % 10 == 0 else line for at, line in enumerate(old)]
    return [b"".join(old), b"".join(new)]


def swapped(times: int) -> list[bytes]:
    """Two blocks of twenty lines change places; an odd number of times, or nothing is left to commit."""
    blocks = [b"".join(b"%s %d says\n" % (who, at) for at in range(20)) for who in (b"one", b"other")]
    return [b"head\n" + b"".join(blocks[:: 1 if at % 2 else -1]) for at in range(times)]


def million(lines: int) -> list[bytes]:
    """A long file, edited at both ends and in the middle."""
    text = [b"line %d\n" % at for at in range(lines)]
    found = [b"".join(text)]
    for at in (100, lines // 2, lines - 100):
        text[at] = b"changed %d here\n" % at
        found.append(b"".join(text))
    return found


def seconds(texts: list[bytes], owners: str) -> float:
    """Processor seconds of asking what session ``a`` may commit, with garbage left alone."""
    steps = [Step(f"k{n}", owners[n % len(owners)], *pair) for n, pair in enumerate(pairwise(texts))]
    gc.disable()
    begin = time.process_time()
    separate(texts[0], chain(steps, texts[0]), texts[-1], owners={"a"})
    spent = time.process_time() - begin
    gc.enable()
    return spent

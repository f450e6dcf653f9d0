"""Text in columns of a terminal: widths as people see them, not as Python counts them."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from unicodedata import category, combining, east_asian_width

from gitralph.base.quote import printable

# The width where nobody tells it; also of what is printed into a pipe.
USUAL = 80
# Some programs give 0 or 1 for an unknown terminal. A table is cut, not filled, so a very wide terminal costs
# nothing.
_LEAST, _WIDEST = 20, 1000
# With fewer columns there is no room for optional words: states, agents, units of time.
ROOMY = 64
# A cell that is cut keeps so many columns.
_LEAST_CELL = 8
_ELLIPSIS = "…"


def width(text: str) -> int:
    """How many columns a text takes: a wide character two, an accent none."""
    if text.isascii():
        return len(text)

    used = 0
    for one in text:
        # Such characters are drawn over the one before (Unicode Mn, Me), or not at all (Cf).
        if combining(one) or category(one) in ("Mn", "Me", "Cf"):
            continue
        used += 2 if east_asian_width(one) in "WF" else 1
    return used


def cut(text: str, columns: int, keep_end: bool = False) -> str:
    """A text of at most ``columns``; ``…`` replaces its end, or its beginning with ``keep_end``."""
    if width(text) <= columns:
        return text
    kept, used = "", width(_ELLIPSIS)
    for one in reversed(text) if keep_end else text:
        used += width(one)
        if used > columns:
            break
        kept += one
    return _ELLIPSIS + kept[::-1] if keep_end else kept + _ELLIPSIS


def pad(text: str, columns: int, right: bool = False) -> str:
    """A text filled with spaces."""
    blank = " " * (columns - width(text))
    return blank + text if right else text + blank


def folded(line: str, columns: int) -> str:
    """A sentence in rows of whole words; rows after the first are indented by two more columns."""
    blank = len(line) - len(line.lstrip(" "))
    # Blanks at the end show nothing, and would stand beyond the last column.
    line = line[:blank] + line.strip(" ")
    return "\n".join(_rows(line.split(" "), columns, " " * min(blank + 2, columns // 2)))


def flowed(line: str, columns: int, is_command: bool = True) -> str:
    """A command or sentence in one line, filled with blanks where a terminal would break a word.

    Whoever copies it gets one line, and additional blanks mean nothing to a shell. In a command a quoted text
    is one word.
    """
    *rows, last = _rows(_shell_words(line) if is_command else line.split(" "), columns - 1, "")
    # The last column stays free: otherwise a full row would run into the next word. Each row is filled to a
    # whole number of rows, so the terminal breaks the line where the next word begins.
    return "".join(pad(row + " ", -(-(width(row) + 1) // columns) * columns) for row in rows) + last


def _rows(words: Sequence[str], columns: int, deeper: str) -> list[str]:
    """Words in rows, with a blank between them; a word longer than a row stays whole."""
    rows, row = [], words[0]
    for word in words[1:]:
        longer = f"{row} {word}"
        if not word or width(longer) <= columns or not row.strip(" "):
            row = longer
        else:
            rows.append(row.rstrip(" "))
            row = deeper + word
    return [*rows, row]


def _shell_words(command: str) -> list[str]:
    """Split a line at its blanks, except in quotes; in a comment an apostrophe is no quote."""
    words, open_quote, word = [], "", ""
    said = False
    for one in command:
        if one == " " and not open_quote:
            words.append(word)
            said, word = said or word == "#", ""
            continue
        if one in "'\"" and open_quote in ("", one) and not said:
            open_quote = "" if open_quote else one
        word += one
    return [*words, word]


def available(environ: Mapping[str, str], fd: int | None = None) -> int:
    """How many columns the reader of standard output, or of another descriptor, has.

    ``COLUMNS`` tells it, else the terminal; otherwise it is 80.
    """
    told = environ.get("COLUMNS", "")
    if told.isdigit() and int(told) > 0:
        return max(min(int(told), _WIDEST), _LEAST)
    try:
        found = os.get_terminal_size(sys.stdout.fileno() if fd is None else fd).columns
    except (OSError, ValueError):
        return USUAL
    return max(found, _LEAST) if found else USUAL


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as aligned lines, each cell safe for a terminal; the last column is not filled."""
    safe = [[printable(cell) for cell in row] for row in rows]
    count = max(map(len, safe), default=0)
    wide = [max((width(row[at]) for row in safe if at < len(row)), default=0) for at in range(count)]
    return [
        "  ".join(
            [*(pad(cell, wide[at]) for at, cell in enumerate(row[:-1])), row[-1]] if row else []
        ).rstrip()
        for row in safe
    ]


def fitted(
    rows: Iterable[Sequence[str]], room: int | None, soft: Sequence[int] = (), ends: Container[int] = ()
) -> list[str]:
    """Aligned lines of at most ``room`` columns; ``room`` None is a pipe, where nothing is cut.

    The columns in ``soft`` are cut first, the widest of them until they are as wide as the others. Columns in
    ``ends`` keep their end, as paths do. A column that is empty in every row takes no room.
    """
    safe = [[printable(cell) for cell in row] for row in rows]
    used = [
        at
        for at in range(max(map(len, safe), default=0))
        if any(row[at : at + 1] not in ([], [""]) for row in safe)
    ]
    wide = {at: max(width(row[at]) for row in safe if at < len(row)) for at in used}
    over = sum(wide.values()) + 2 * (len(used) - 1) - (room or 0) if room is not None else 0
    while over > 0 and (most := max((wide[at] for at in soft if at in wide), default=0)) > _LEAST_CELL:
        widest = next(at for at in soft if wide.get(at) == most)
        wide[widest] -= 1
        over -= 1
    out = []
    for row in safe:
        cells = [pad(cut(row[at] if at < len(row) else "", wide[at], at in ends), wide[at]) for at in used]
        line = "  ".join(cells).rstrip()
        out.append(line if room is None else cut(line, room))
    return out

"""Text in columns of a terminal: widths as people see them, not as Python counts them."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from unicodedata import category, combining, east_asian_width

from gitralph.base.quote import printable

# What a terminal has where nobody says how wide it is; also what is printed into a pipe.
USUAL = 80
# Some programs say 0 or 1 for a terminal that they do not know; and a table is cut, not filled, so that a
# very wide one costs nothing.
_LEAST, _WIDEST = 20, 1000
# Below so many columns there is no room for what can be left out: states, agents, units of time in words.
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
        # They are drawn over the character before them (Unicode Mn, Me), or not at all (Cf).
        if combining(one) or category(one) in ("Mn", "Me", "Cf"):
            continue
        used += 2 if east_asian_width(one) in "WF" else 1
    return used


def cut(text: str, columns: int, keep_end: bool = False) -> str:
    """A text that takes no more columns; ``…`` stands for its end, or, ``keep_end``, for its beginning."""
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
    """A text filled up with spaces."""
    blank = " " * (columns - width(text))
    return blank + text if right else text + blank


def folded(line: str, columns: int) -> str:
    """A sentence in rows that hold whole words; what follows the first hangs two columns deeper."""
    blank = len(line) - len(line.lstrip(" "))
    # blanks at the end show nothing, and would stand beyond the last column
    line = line[:blank] + line.strip(" ")
    return "\n".join(_rows(line.split(" "), columns, " " * min(blank + 2, columns // 2)))


def flowed(line: str, columns: int, is_command: bool = True) -> str:
    """A command or a sentence that stays one line, with blanks where a terminal would else break a word.

    Whoever copies it gets one line, and more blanks are nothing to a shell; what stands in quotes is a word
    of a command.
    """
    *rows, last = _rows(_shell_words(line) if is_command else line.split(" "), columns - 1, "")
    # the last column stays free: a row that was full would run into the next word
    # Filled up to a whole number of rows: the terminal itself breaks it where the next word begins.
    return "".join(pad(row + " ", -(-(width(row) + 1) // columns) * columns) for row in rows) + last


def _rows(words: Sequence[str], columns: int, deeper: str) -> list[str]:
    """Words with a blank between them in rows; a word that is longer than a row stays whole."""
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
    """A line at its blanks, but for those in quotes; in a comment an apostrophe is none."""
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

    ``COLUMNS`` says it, else the terminal, else it is 80.
    """
    told = environ.get("COLUMNS", "")
    if told.isdigit() and int(told) > 0:
        return max(min(int(told), _WIDEST), _LEAST)
    try:
        found = os.get_terminal_size(sys.stdout.fileno() if fd is None else fd).columns
    except (OSError, ValueError):
        return USUAL
    return max(found, _LEAST) if found else USUAL


def table(rows: Iterable[Sequence[str]], gap: str = "  ") -> list[str]:
    """Rows as aligned lines, each cell safe for a terminal; the last column is as long as it is."""
    safe = [[printable(cell) for cell in row] for row in rows]
    count = max(map(len, safe), default=0)
    wide = [max((width(row[at]) for row in safe if at < len(row)), default=0) for at in range(count)]
    return [
        gap.join(
            [*(pad(cell, wide[at]) for at, cell in enumerate(row[:-1])), row[-1]] if row else []
        ).rstrip()
        for row in safe
    ]


def fitted(
    rows: Iterable[Sequence[str]], room: int | None, soft: Sequence[int] = (), ends: Container[int] = ()
) -> list[str]:
    """Aligned lines that take no more than ``room`` columns; None for a pipe, where nothing is cut.

    The columns in ``soft`` are cut first, the widest of them until they are as wide as the others; of those
    in ``ends`` the end is kept, as of a path. A column that is empty in every row takes no room.
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

"""Applies what payloads tell of an edit, replacements and unified hunks, to a text; pure.

Lane 0. Every function answers None when the edit does not fit, so that nothing is guessed.
"""


def replace(text: str, old: str, new: str, every: bool) -> str | None:
    """``text`` with ``old`` replaced once (it must be unique) or everywhere."""
    if not old:
        return None
    count = text.count(old)
    if count == 0 or (count > 1 and not every):
        return None
    return text.replace(old, new)


def replace_each(text: str, edits: list[tuple[str, str]]) -> str | None:
    """Several replacements, each found in the original text, none overlapping another."""
    spans = []
    for old, new in edits:
        if not old or text.count(old) != 1:
            return None
        at = text.index(old)
        spans.append((at, at + len(old), new))
    out, last = [], 0
    for start, end, new in sorted(spans):
        if start < last:
            return None
        out += [text[last:start], new]
        last = end
    return "".join([*out, text[last:]])


def replace_in_turn(text: str, edits: list[tuple[str, str]], every: bool = False) -> str | None:
    """Several replacements, each found in the text that the one before it made."""
    found: str | None = text
    for old, new in edits:
        found = replace(found, old, new, every) if found is not None else None
    return found


class UnifiedHunk:
    r"""``start`` (1-based) in the text before, and lines marked `` ``, ``-``, ``+`` or ``\``."""

    __slots__ = ("lines", "start")

    def __init__(self, start: int, lines: list[str]) -> None:
        self.start = start
        self.lines = lines


def _open_ends(lines: list[str]) -> tuple[bool, bool]:
    """Whether the text before and the text after end without a newline, as ``\\`` lines say."""
    marked = [lines[n - 1][:1] for n in range(1, len(lines)) if lines[n][:1] == "\\"]
    return "-" in marked or " " in marked, "+" in marked or " " in marked


def _splice(old: list[str], hunk: UnifiedHunk) -> tuple[int, int, list[str]] | None:
    body = [line for line in hunk.lines if line[:1] in ("-", "+", " ", "")]
    find = [line[1:] for line in body if line[:1] in ("-", " ", "")]
    put = [line[1:] for line in body if line[:1] in ("+", " ", "")]
    at = max(0, hunk.start - 1) if find else hunk.start
    old_open, new_open = _open_ends(hunk.lines)
    if old_open != new_open:  # the last newline comes or goes: an empty last line in this form
        (put if old_open else find).append("")
    if old[at : at + len(find)] != find:
        return None
    return at, at + len(find), put


def apply_unified(text: str, hunks: list[UnifiedHunk]) -> str | None:
    """``text`` after ``hunks``; line ends are ``\\n``, a missing last newline stays missing."""
    lines = text.split("\n")
    out: list[str] = []
    last = 0
    for hunk in hunks:
        found = _splice(lines, hunk)
        if found is None or found[0] < last:
            return None
        start, end, put = found
        out += lines[last:start] + put
        last = end
    return "\n".join(out + lines[last:])


def parse_unified(patch: str) -> list[UnifiedHunk]:
    """The hunks of a unified diff of one file; headers are passed over."""
    hunks: list[UnifiedHunk] = []
    for line in patch.split("\n"):
        if line.startswith("@@ -"):
            start = line[4:].split(" ", 1)[0].split(",", 1)[0]
            hunks.append(UnifiedHunk(int(start) if start.isdigit() else 0, []))
        elif hunks and line[:1] in (" ", "-", "+", "\\"):
            hunks[-1].lines.append(line)
    return hunks

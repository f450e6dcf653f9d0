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


class UnifiedHunk:
    """``start`` (1-based) in the text before, and lines marked `` ``, ``-`` or ``+``."""

    __slots__ = ("lines", "start")

    def __init__(self, start: int, lines: list[str]) -> None:
        self.start = start
        self.lines = lines


def _splice(old: list[str], hunk: UnifiedHunk) -> tuple[int, int, list[str]] | None:
    body = [line for line in hunk.lines if line[:1] in ("-", "+", " ", "")]
    find = [line[1:] for line in body if line[:1] in ("-", " ", "")]
    put = [line[1:] for line in body if line[:1] in ("+", " ", "")]
    at = max(0, hunk.start - 1) if find else hunk.start
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
        elif hunks and line[:1] in (" ", "-", "+"):
            hunks[-1].lines.append(line)
    return hunks

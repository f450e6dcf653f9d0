"""Applies the edits that payloads tell to a text: replacements, unified hunks, ``apply_patch``; pure.

Every function returns None when the edit does not fit, so that nothing is guessed. Clients match patches
loosely. So a result counts as certain only where every hunk stands in the text exactly as written. Any other
result is a ``Guess``, believed only where the disk agrees.
"""

from gitralph.hook.event import Guess


def replace(text: str, old: str, new: str, every: bool) -> str | None:
    """``text`` with ``old`` replaced once (it must be unique) or everywhere."""
    if not old:
        return None
    count = text.count(old)
    # Clients refuse an ambiguous text too, so for them it was unique. Here it is not, so nothing may be
    # concluded.
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
    # A hunk that only inserts names the line before it (POSIX diff -u).
    at = max(0, hunk.start - 1) if find else hunk.start
    old_open, new_open = _open_ends(hunk.lines)
    if old_open != new_open:  # the last newline comes or goes: an empty last line in this form
        (put if old_open else find).append("")
    # The hunk must stand at its own line, as written: a client that searched may have found another place.
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


_BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_ADD, _UPDATE, _DELETE = "*** Add File: ", "*** Update File: ", "*** Delete File: "
_MOVE = "*** Move to: "
_EOF = "*** End of File"


class PatchHunk:
    """Lines ``old`` become ``new``, somewhere after the line ``context``, at the end with ``at_end``."""

    __slots__ = ("at_end", "context", "new", "old")

    def __init__(self, context: str | None = None) -> None:
        self.context = context
        self.old: list[str] = []
        self.new: list[str] = []
        self.at_end = False


class FilePatch:
    """One file of a patch: ``op`` is add, update or delete; ``to`` where an update moves it."""

    __slots__ = ("hunks", "lines", "op", "path", "to")

    def __init__(self, op: str, path: str) -> None:
        self.op = op
        self.path = path
        self.to: str | None = None
        self.lines: list[str] = []
        self.hunks: list[PatchHunk] = []

    @property
    def added(self) -> str:
        """The whole text of an added file."""
        return "".join([line + "\n" for line in self.lines])


def find_patch(value: object, depth: int = 4) -> str | None:
    """The one string in a payload's field that holds a patch, whatever the field is called."""
    if isinstance(value, str):
        return value if value.lstrip().startswith(_BEGIN) else None
    if depth and isinstance(value, dict):
        found = [text for item in value.values() if (text := find_patch(item, depth - 1))]
        # Two fields look like patches, and nobody can tell which one was applied.
        return found[0] if len(found) == 1 else None
    return None


def _header(line: str) -> FilePatch | None:
    for mark, op in ((_ADD, "add"), (_UPDATE, "update"), (_DELETE, "delete")):
        if line.startswith(mark):
            return FilePatch(op, line[len(mark) :].strip())
    return None


def _update_line(patch: FilePatch, line: str) -> None:
    if line.startswith(_MOVE) and not patch.hunks:
        patch.to = line[len(_MOVE) :].strip()
        return
    if line.startswith("@@"):
        patch.hunks.append(PatchHunk(line[2:].lstrip() or None))
        return
    if not patch.hunks:
        patch.hunks.append(PatchHunk())
    hunk, mark = patch.hunks[-1], line[:1]
    if line.strip() == _EOF:
        hunk.at_end = True
    # Models leave out the blank of an empty context line, so a line without a mark counts as context.
    elif mark in (" ", ""):
        hunk.old.append(line[1:])
        hunk.new.append(line[1:])
    elif mark == "-":
        hunk.old.append(line[1:])
    elif mark == "+":
        hunk.new.append(line[1:])


def parse_patch(text: str) -> list[FilePatch]:
    """The files of a patch in order; empty for a text that is none."""
    lines = text.replace("\r\n", "\n").split("\n")
    start = next((n for n, line in enumerate(lines) if line.strip() == _BEGIN), None)
    out: list[FilePatch] = []
    for line in lines[start + 1 :] if start is not None else []:
        if line.strip() == _END:
            break
        found = _header(line)
        if found is not None:
            out.append(found)
        elif out and out[-1].op == "add" and line[:1] == "+":
            out[-1].lines.append(line[1:])
        elif out and out[-1].op == "update":
            _update_line(out[-1], line)
    for patch in out:
        _drop_blank_tail(patch)
    return [patch for patch in out if patch.path]


def _drop_blank_tail(patch: FilePatch) -> None:
    """Drop blank lines between two files of a patch, which are no context, and hunks without a line."""
    for hunk in patch.hunks:
        while hunk.old and hunk.new and hunk.old[-1] == hunk.new[-1] == "" and len(hunk.old) > 1:
            hunk.old.pop()
            hunk.new.pop()
    patch.hunks = [hunk for hunk in patch.hunks if hunk.old or hunk.new]


def _as_written(line: str) -> str:
    return line


# An exact match comes first. Then come the ways of lenient clients: ignoring white space at line ends, then
# on both sides.
_TIERS = (_as_written, str.rstrip, str.strip)


def _places(lines: list[str], find: list[str], start: int, tier: int) -> list[int]:
    """Every line from ``start`` on where ``find`` stands; the tier says how loosely."""
    ease = _TIERS[tier]
    wanted, size = [ease(line) for line in find], len(find)
    return [
        at
        for at in range(start, len(lines) - size + 1)
        if ease(lines[at]) == wanted[0] and [ease(line) for line in lines[at : at + size]] == wanted
    ]


def _seek(lines: list[str], find: list[str], start: int, at_end: bool) -> tuple[int, bool] | None:
    """Where ``find`` stands, and whether that is certain: exact, and nowhere else."""
    for tier in range(len(_TIERS)):
        found = _places(lines, find, start, tier)
        if found:
            tail = at_end and found[-1] == len(lines) - len(find)
            return (found[-1] if tail else found[0]), tier == 0 and (tail or len(found) == 1)
    return None


def _put(lines: list[str], hunk: PatchHunk, start: int) -> tuple[int, int, bool] | None:
    """Where ``hunk`` goes: first line, how many it replaces, certain or not."""
    certain = True
    if hunk.context is not None:
        above = _seek(lines, [hunk.context], start, False)
        if above is None:
            return None
        start, certain = above[0] + 1, above[1]
    if not hunk.old:
        # Nothing tells the place: the end is likely, and a guess.
        return len(lines), 0, False
    found = _seek(lines, hunk.old, start, hunk.at_end)
    return None if found is None else (found[0], len(hunk.old), certain and found[1])


def apply_patch(text: str, hunks: list[PatchHunk]) -> list[str]:
    """The texts that ``hunks`` may make of ``text`` (line ends ``\\n``): one certain, or guesses."""
    lines = text.split("\n")
    open_end = lines[-1] != ""
    if not open_end:
        lines.pop()
    out: list[str] = []
    at, sure = 0, True
    for hunk in hunks:
        found = _put(lines, hunk, at)
        if found is None:
            return []
        start, size, certain = found
        out += lines[at:start] + hunk.new
        at, sure = start + size, sure and certain
    out += lines[at:]
    closed = "\n".join([*out, ""]) if out else ""
    if open_end:  # some clients add the newline, some do not
        return [Guess(closed), Guess("\n".join(out))]
    return [closed if sure else Guess(closed)]

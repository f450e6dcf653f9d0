"""Reads a text in which git could not merge as the side that HEAD has.

git writes both sides of a conflict into the file, between marks (git-merge(1), "How conflicts are
presented"). The first side is always HEAD's: also of a rebase, a cherry-pick and a popped stash. Who settles
the conflict changes HEAD's text, and the marks and the other side are nobody's words.
"""

from __future__ import annotations

from collections.abc import Container

from gitralph.lines.text import is_telling

_OURS, _BASE, _THEIRS, _END = (b"<<<<<<< ", b"||||||| ", b"=======", b">>>>>>> ")


def heads_side(text: bytes | None, known: Container[bytes], own: Container[bytes]) -> bytes | None:
    """Return the text with HEAD's side of each conflict alone.

    Unchanged where it has no conflict, or one that is settled by half; and where the other side has a telling
    line that is not in ``own``, the lines of whoever settles it: that line stays whose it is. ``known`` are
    lines of HEAD: a mark that stands there is no mark of git's.
    """
    if text is None or b"\n" + _END not in b"\n" + text:
        return text
    out, side = list[bytes](), b""
    for line in text.split(b"\n"):
        kind = _kind_of(line) if line not in known else b""
        if kind == _OURS and not side:
            side = _OURS
        elif kind == _BASE and side == _OURS:
            side = _BASE
        elif kind == _THEIRS and side in (_OURS, _BASE):
            side = _THEIRS
        elif kind == _END and side == _THEIRS:
            side = b""
        elif kind in (_OURS, _END) or (side == _THEIRS and is_telling(line) and line not in own):
            return text
        elif side in (b"", _OURS):
            out.append(line)
    return text if side else b"\n".join(out)


def _kind_of(line: bytes) -> bytes:
    line = line.removesuffix(b"\r")
    if line == _THEIRS:
        return _THEIRS
    return next((mark for mark in (_OURS, _BASE, _END) if line.startswith(mark)), b"")

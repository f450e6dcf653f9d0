"""How the notes on shell commands write a file as in HEAD, one in conflict, and one that nobody looked at.

Fast lane. It is a module apart from ``windows``, so that an edit need not load the reader of the notes.
"""

import os

from gitralph.base.layout import Layout

CLEAN = "="
UNMERGED = "u"
UNKNOWN = "?"


def mark(layout: Layout) -> str | None:
    """How far the notes on shell commands go now; with it a record tells which commands ran meanwhile.

    The file's inode number is included, since gc makes the file anew.
    """
    try:
        found = os.stat(layout.shells)
    except OSError:
        return None
    return f"{found.st_ino}:{found.st_size}"


def is_since(value: str | None, layout: Layout, opened: int) -> bool:
    """True when a mark was made after the line at byte ``opened`` was written."""
    now = mark(layout)
    if value is None or now is None:
        return False
    (inode, _, size), (same, _, _) = value.partition(":"), now.partition(":")
    return inode == same and size.isdigit() and len(size) < 19 and int(size) > opened

"""Tells when a shell command threw away what sessions had recorded: a checkout, a reset, a stash, a clean.

Fast lane, loaded only at the end of a shell command. A path counts when it held exactly the last recorded
text, and now is gone, or as in HEAD while HEAD did not change there.
"""

import os

from gitralph.base import files
from gitralph.base.layout import Layout
from gitralph.hook import journal

# A journal is read only to name its sessions, while an agent waits: beyond this those at its end do, where
# what no commit has taken stands.
LIMIT = 4 << 20


def losers(lay: Layout, session: str, rows: list[list[object]], clean: str) -> dict[str, list[str]]:
    """For each path the other sessions that lost something there to a command of ``session``.

    ``rows`` are what the command changed; ``clean`` in a row means that the file is as in HEAD.
    """
    out: dict[str, list[str]] = {}
    for row in rows:
        path, before, after = str(row[0]), row[1], row[2]
        if not isinstance(before, list) or before[0] is None or after not in (clean, [None, None]):
            continue
        found = _sessions(lay, path.encode("utf-8", "surrogateescape"), before[0])
        if found - {session}:
            out[path] = sorted(found - {session})
    return out


def _sessions(lay: Layout, path: bytes, text: object) -> set[str]:
    """The sessions with records that no commit has taken, where the last record left exactly this text."""
    try:
        fd = files.open_regular(lay.journal(path), os.O_RDONLY)
    except OSError:
        return set()
    try:
        if journal.known_after(journal.tail(fd)) != text:
            return set()
        start = max(0, os.fstat(fd).st_size - LIMIT)
        return journal.waiting(os.pread(fd, LIMIT, start), start)
    finally:
        os.close(fd)

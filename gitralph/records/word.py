"""What a person wants an agent to be told when it stops next: a few words, told once."""

import os

from gitralph.base import files
from gitralph.base.layout import Layout

# In characters. An agent reads all of it again with every turn.
MOST = 4000


def leave(layout: Layout, session: str, text: str) -> None:
    """Leave a word for the agent of a session, behind words that it has not been told yet."""
    before = _read(layout.word(session))
    whole = f"{before}\n{text}" if before else text
    if len(whole) > MOST:
        whole = whole[: MOST - 1] + "…"
    files.make_folder(os.path.dirname(layout.word(session)))
    files.write_whole(layout.word(session), whole.encode("utf-8", "replace"))


def take(layout: Layout, session: str) -> str | None:
    """The word for a session's agent, which this removes; None where there is none."""
    path = layout.word(session)
    mine = f"{path}.{os.getpid()}"
    try:
        os.rename(path, mine)  # of two hooks only one gets it
    except OSError:
        return None
    try:
        return _read(mine)
    finally:
        os.unlink(mine)


def drop(layout: Layout, session: str) -> None:
    """Remove a word that was not told."""
    take(layout, session)


def _read(path: str) -> str | None:
    try:
        text = files.read_bytes(path, 4 * MOST).decode("utf-8", "replace")
    except OSError:
        return None
    return text[:MOST] or None

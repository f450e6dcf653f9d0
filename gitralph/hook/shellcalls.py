"""What is kept of a shell command while it runs: the dirty files at its beginning, and their texts.

Fast lane. The texts lie in one file beside it, packed one after the other, and are removed when the command
ends.
"""

import os
import zlib

from gitralph.base import files, gitdir, jsonline
from gitralph.base.layout import MAIN, Layout
from gitralph.hook.journal import text_id
from gitralph.hook.staging import Staged

# In bytes. A picture takes some 200 bytes for each path; a larger file was not written by us.
_LIMIT = 64 << 20
# In bytes, twice the 64 MB of texts that a picture may hold: packing makes no text much larger.
_PACKED = 128 << 20
_ROW = 5


class Picture:
    """What is dirty:

    HEAD, and for each path ``[HEAD's blob, id of the bytes, mode, index's blob, HEAD's mode]``.

    ``texts`` are the bytes by their ids, as far as they were small enough to be kept. ``staged`` is what the
    index has and HEAD has not.
    """

    __slots__ = ("head", "rows", "staged", "texts")

    def __init__(self, head: str | None, rows: dict[str, list[str | None]]) -> None:
        self.head = head
        self.rows = rows
        self.staged: Staged | None = None
        self.texts: dict[str, bytes] = {}


Moved = dict[str, tuple[str, str]]
"""The paths in which two HEADs differ, with the blob of each; zeros stand for none."""


class Look:
    """The worktree after a command, with what was kept from its beginning.

    ``rows`` are ``[path, before, after, HEAD's blob]``, None while nobody knows what changed. ``gits`` are
    the paths of those that git put there.
    """

    __slots__ = (
        "after",
        "before",
        "gits",
        "kept",
        "lay",
        "moved",
        "options",
        "path",
        "place",
        "root",
        "rows",
    )

    def __init__(self, path: str, kept: dict[str, object]) -> None:
        self.path = path
        self.kept = kept
        top = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        self.lay = Layout(top, str(kept["token"]) or MAIN)
        self.root = str(kept["root"])
        self.place = gitdir.discover(self.root)
        words = kept.get("options")
        self.options = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
        self.before = picture_of(kept)
        self.after: Picture | None = None
        self.moved: Moved = {}
        self.rows: list[list[object]] | None = None
        self.gits: list[str] = []


def keep(path: str, fields: dict[str, object], picture: Picture | None) -> None:
    """Write what is known of a command under its name."""
    places: dict[str, list[int]] = {}
    packed = bytearray()
    for oid, text in picture.texts.items() if picture is not None else ():
        data = zlib.compress(text, 1)
        places[oid] = [len(packed), len(data)]
        packed += data
    if places:
        files.write_whole(path + ".texts", bytes(packed))
    if picture is not None:
        fields = {**fields, "head": picture.head, "rows": picture.rows, "texts": places}
    files.write_whole(path, jsonline.dumps(fields).encode("ascii"))


def change(path: str, fields: dict[str, object]) -> None:
    """Write anew what is kept of a command, in place: one that ended meanwhile must not come back.

    Who reads a half of it knows nothing of the command, which is a gap.
    """
    try:
        fd = files.open_regular(path, os.O_WRONLY)
    except FileNotFoundError:
        return
    try:
        os.ftruncate(fd, 0)
        os.write(fd, jsonline.dumps(fields).encode("ascii"))
    finally:
        os.close(fd)


def begun(path: str) -> list[int]:
    """The device and the time of a file that was just made: what is older there was there before it.

    Both times are the kernel's own, which no program sets (ctime in inode(7)).
    """
    found = os.stat(path)
    return [found.st_dev, found.st_ctime_ns]


def is_older(file: str, since: object) -> bool:
    """True where a file has not changed since :func:`begun`; false where nobody can tell."""
    return _changed_before(file, since) is True


def is_younger(file: str, since: object) -> bool:
    """True where a file has changed since :func:`begun`; false where nobody can tell."""
    return _changed_before(file, since) is False


def _changed_before(file: str, since: object) -> bool | None:
    try:
        found = os.lstat(file)
    except OSError:
        return None
    if not isinstance(since, list) or [type(each) for each in since] != [int, int]:
        return None
    device, time = since
    return bool(found.st_ctime_ns < time) if found.st_dev == device else None


def load(path: str) -> dict[str, object] | None:
    """What was kept of a running command, None when there is none or it is damaged."""
    try:
        kept = jsonline.loads(files.read_bytes(path, _LIMIT).decode("ascii"))
    except (OSError, ValueError):
        return None
    texts = ("id", "session", "root", "token")
    if not isinstance(kept, dict) or not all(isinstance(kept.get(key), str) for key in texts):
        return None
    return kept


def picture_of(kept: dict[str, object]) -> Picture | None:
    """The picture in what was kept, without its texts; None where git did not answer in time."""
    rows, head = kept.get("rows"), kept.get("head")
    if not isinstance(rows, dict):
        return None
    good = {k: v for k, v in rows.items() if isinstance(v, list) and len(v) == _ROW}
    return Picture(head if isinstance(head, str) else None, good)


def text_of(path: str, kept: dict[str, object], oid: str) -> bytes | None:
    """A text that was kept for a command, by its id; None where it was not kept or is damaged."""
    places = kept.get("texts")
    place = places.get(oid) if isinstance(places, dict) else None
    if not isinstance(place, list) or len(place) != 2 or not all(type(n) is int and n >= 0 for n in place):
        return None
    at, size = place
    try:
        packed = files.read_bytes(path + ".texts", _PACKED)[at : at + size]
        text = zlib.decompressobj().decompress(packed, _PACKED)
    except (OSError, zlib.error):
        return None
    return text if text_id(text) == oid else None


def forget(path: str) -> None:
    """Remove what was kept: the command is over."""
    for name in (path + ".texts", path):
        try:
            os.unlink(name)
        except OSError:
            pass

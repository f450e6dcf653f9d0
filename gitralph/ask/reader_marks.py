"""A named reader's place in each events file, kept across processes; only its reader moves it forward."""

import json
import os
from collections.abc import Iterable
from typing import Any

from gitralph.base import files
from gitralph.base.errors import UsageError
from gitralph.base.ids import is_valid
from gitralph.base.layout import Layout
from gitralph.hook.journal import is_oid

_LIMIT = 1 << 20
# No events file has a blank in its name.
_LOG = "the log"


def checked(name: str) -> str:
    """Check a cursor's name from outside. Raises UsageError for one that is not allowed."""
    if not is_valid(name):
        raise UsageError(f"'{name[:60]}' is not a cursor name", "use letters, digits, '.', '_', '-'")
    return name


def _read(layout: Layout, name: str) -> dict[str, Any]:
    try:
        value = json.loads(files.read_bytes(layout.cursor(name), _LIMIT))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def position(layout: Layout, name: str, file: str) -> int:
    """The byte at which this reader goes on in ``file``; 0 for a new reader or a damaged record."""
    found = _read(layout, name).get(file)
    return found if type(found) is int and found >= 0 else 0


def save(layout: Layout, name: str, file: str, at: object) -> None:
    """Save that everything before ``at`` was handed on. The caller holds the cursor's lock."""
    files.make_folder(os.path.dirname(layout.cursor(name)))
    places = {**_read(layout, name), file: at}
    files.write_whole(layout.cursor(name), json.dumps(places, indent=1).encode("ascii") + b"\n")


def log_mark(layout: Layout, name: str) -> tuple[str | None, int, frozenset[str]]:
    """How far a reader of the log is: HEAD, seconds, keys; a damaged record counts as a new reader."""
    found = _read(layout, name).get(_LOG)
    if not isinstance(found, list) or len(found) != 3:
        return None, 0, frozenset()
    head, when, keys = found
    if not (isinstance(head, str) and is_oid(head) and type(when) is int and isinstance(keys, list)):
        return None, 0, frozenset()
    return head, when, frozenset(key for key in keys if isinstance(key, str))


def save_log_mark(layout: Layout, name: str, head: str | None, when: int, keys: Iterable[str]) -> None:
    """Save how far a reader of the log is. The caller holds the cursor's lock."""
    save(layout, name, _LOG, [head, when, sorted(keys)])

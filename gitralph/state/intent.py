"""A commit about to land: enough to finish its bookkeeping, or to tell that it never landed."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from gitralph import files
from gitralph.journal import is_oid
from gitralph.layout import Layout

_LIMIT = 64 << 20


@dataclass
class Intent:
    """One landing. Paths are surrogate-escaped text; entries are ``[mode, oid]`` or None.

    ``lines`` are the consumption records to append: ``[file kind, session, path, fields]``.
    """

    commit: str
    ref: str | None
    old: str | None
    git_dir: str
    token: str
    index: list[list[object]] = field(default_factory=list)
    lines: list[list[object]] = field(default_factory=list)
    prepared: dict[str, str] = field(default_factory=dict)


def _path(layout: Layout, commit: str) -> str:
    return f"{layout.intents}/{commit}.json"


def write(layout: Layout, intent: Intent) -> None:
    """Put an intent on disk for good before anything moves."""
    files.make_folder(layout.intents)
    data = json.dumps(asdict(intent), indent=1).encode("ascii") + b"\n"
    files.write_whole(_path(layout, intent.commit), data, sync=True)
    _sync(layout.intents)


def _sync(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def remove(layout: Layout, intent: Intent) -> None:
    """Forget an intent that landed or was dropped, with its prepared files."""
    for prepared in intent.prepared.values():
        _unlink(f"{layout.tmp}/{os.path.basename(prepared)}")
    _unlink(_path(layout, intent.commit))


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _load(path: str) -> Intent | None:
    try:
        fields = json.loads(files.read_bytes(path, _LIMIT))
        intent = Intent(**fields)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return intent if is_oid(intent.commit) and isinstance(intent.git_dir, str) else None


def unfinished(layout: Layout) -> Iterator[Intent]:
    """Every intent on disk; a damaged one cannot be acted on and is moved aside."""
    try:
        names = sorted(os.listdir(layout.intents))
    except FileNotFoundError:
        return
    for name in names:
        path = f"{layout.intents}/{name}"
        if name.endswith(".tmp"):
            _unlink(path)
        elif name.endswith(".json"):
            intent = _load(path)
            if intent is None:
                os.replace(path, path + ".damaged")
            else:
                yield intent

"""A merge of a bead about to land: enough to finish the target's checkout, or to drop it."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from gitralph import files
from gitralph.journal import is_oid
from gitralph.layout import Layout

_LIMIT = 1 << 20


@dataclass
class Merging:
    """One landing. ``git_dir`` and ``root`` are the target's checkout, None where it has none."""

    bead: str
    target: str
    old: str
    new: str
    git_dir: str | None = None
    root: str | None = None
    prepared: dict[str, str] = field(default_factory=dict)


def _path(layout: Layout, bead: str) -> str:
    return f"{layout.merges}/{bead}.json"


def write(layout: Layout, merging: Merging) -> None:
    """Put it on disk for good before anything moves."""
    files.make_folder(layout.merges)
    data = json.dumps(asdict(merging), indent=1).encode("ascii") + b"\n"
    files.write_whole(_path(layout, merging.bead), data, sync=True)


def remove(layout: Layout, merging: Merging) -> None:
    """Forget one that landed or was dropped, with its prepared files."""
    for prepared in merging.prepared.values():
        _unlink(f"{layout.tmp}/{os.path.basename(prepared)}")
    _unlink(_path(layout, merging.bead))


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _load(path: str) -> Merging | None:
    try:
        found = Merging(**json.loads(files.read_bytes(path, _LIMIT)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return found if is_oid(found.old) and is_oid(found.new) and isinstance(found.prepared, dict) else None


def unfinished(layout: Layout) -> Iterator[Merging]:
    """Every one on disk; a damaged one cannot be acted on and is moved aside."""
    try:
        names = sorted(os.listdir(layout.merges))
    except FileNotFoundError:
        return
    for name in names:
        path = f"{layout.merges}/{name}"
        if name.endswith(".tmp"):
            _unlink(path)
        elif name.endswith(".json"):
            merging = _load(path)
            if merging is None:
                os.replace(path, path + ".damaged")
            else:
                yield merging

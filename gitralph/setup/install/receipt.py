"""What an install found and what it wrote, so that uninstall can put every byte back; private files.

They lie below ``$XDG_STATE_HOME/gitralph/installed/``, one for each file. A lost receipt costs only that
promise.
"""

import base64
import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from gitralph.base import files
from gitralph.base.ids import digest
from gitralph.setup.install import place, table

# Four thirds of the largest settings file that is taken, in base64, with room.
_LIMIT = 64 << 20


@dataclass
class Receipt:
    """``before`` is the base64 of the bytes that were there, None for no file; ``wrote`` a SHA-256.

    ``folders`` were made for the file, ``own_folders`` for the receipts themselves.
    """

    file: str
    before: str | None
    wrote: str
    folders: list[str] = field(default_factory=list)
    own_folders: list[str] = field(default_factory=list)

    @property
    def original(self) -> bytes | None:
        return None if self.before is None else base64.b64decode(self.before)


def make(target: str, before: bytes | None, wrote: bytes) -> Receipt:
    """The receipt of one install."""
    kept = None if before is None else base64.b64encode(before).decode("ascii")
    return Receipt(target, kept, checksum(wrote))


def checksum(data: bytes) -> str:
    """How a receipt names what was written."""
    return hashlib.sha256(data).hexdigest()


def _folder(environ: Mapping[str, str]) -> str:
    state = environ.get("XDG_STATE_HOME", "")
    # A relative XDG path is to be ignored (XDG Base Directory Specification).
    base = state if os.path.isabs(state) else os.path.join(table.home(environ), ".local/state")
    return os.path.join(base, "gitralph/installed")


def _path(environ: Mapping[str, str], target: str) -> str:
    return f"{_folder(environ)}/{digest(os.fsencode(target))[:24]}.json"


def read(environ: Mapping[str, str], target: str) -> Receipt | None:
    """The receipt for a file, None where there is none that can be used."""
    try:
        found = Receipt(**json.loads(files.read_bytes(_path(environ, target), _LIMIT)))
        _ = found.original
        # Its name is a digest of the target cut to 24 digits: the field inside is the proof.
        return found if found.file == target and isinstance(found.folders, list) else None
    except (OSError, ValueError, TypeError):
        return None


def missing_folders(folder: str) -> list[str]:
    """``folder`` and those above it that do not exist, innermost first."""
    out = []
    while folder and not os.path.isdir(folder):
        out.append(folder)
        folder = os.path.dirname(folder)
    return out


def write(environ: Mapping[str, str], receipt: Receipt) -> None:
    """Keep a receipt. Raises OSError."""
    receipt.own_folders += missing_folders(_folder(environ)) + _left_by_a_kill(environ)
    files.make_folder(_folder(environ))
    _put(_path(environ, receipt.file), receipt)


def _left_by_a_kill(environ: Mapping[str, str]) -> list[str]:
    """Folders that a killed install made before it wrote its receipt: no receipt names them."""
    folder = _folder(environ)
    parent = os.path.dirname(folder)
    if not os.path.isdir(folder):
        return [parent] if os.path.isdir(parent) and not os.listdir(parent) else []
    if _names(environ):
        return []
    alone = os.listdir(parent) == [os.path.basename(folder)]
    return [folder, parent] if alone else [folder]


def _put(path: str, receipt: Receipt) -> None:
    place.put(path, json.dumps(asdict(receipt), indent=1).encode("ascii") + b"\n", 0o600)


def forget(environ: Mapping[str, str], target: str) -> None:
    """Remove a receipt; the last one also removes the folders that were made for receipts."""
    kept, path = read(environ, target), _path(environ, target)
    place.clean(path)
    others = [name for name in _names(environ) if name != os.path.basename(path)]
    # The folders go with the last receipt, so a receipt that stays must name them.
    if kept is not None and others:
        _hand_over(f"{_folder(environ)}/{others[0]}", kept.own_folders)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    drop_folders(environ, kept.own_folders if kept else [])


def _names(environ: Mapping[str, str]) -> list[str]:
    try:
        return sorted(name for name in os.listdir(_folder(environ)) if name.endswith(".json"))
    except OSError:
        return []


def drop_folders(environ: Mapping[str, str], more: Sequence[str] = ()) -> None:
    """Remove the folder of receipts, and ``more``, where they are empty."""
    folder = _folder(environ)
    place.prune([folder, os.path.dirname(folder), *more])


def _hand_over(path: str, folders: list[str]) -> None:
    """Let another receipt remember which folders are ours."""
    try:
        found = Receipt(**json.loads(files.read_bytes(path, _LIMIT)))
        found.own_folders += folders
        _put(path, found)
    except (OSError, ValueError, TypeError):
        pass

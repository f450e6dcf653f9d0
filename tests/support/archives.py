"""Repositories that earlier versions left, packed under ``tests/fixtures``."""

import json
import os
import tarfile
from pathlib import Path

FIXTURES = Path(__file__).parent.parent / "fixtures"


def unpacked(name: str, folder: Path) -> Path:
    """The repository as it was, in another place: its new name where the marks are, its files' old times."""
    with tarfile.open(FIXTURES / name) as tar:
        tar.extractall(folder, filter="data")
    times: dict[str, int] = json.loads((folder / "times").read_bytes())
    for member, when in times.items():
        path = folder / member
        data = path.read_bytes()
        if b"@ROOT@" in data:
            path.write_bytes(data.replace(b"@ROOT@", os.fsencode(folder)))
        os.utime(path, ns=(when, when))
    return folder / "repo"

"""Repositories that earlier versions left, packed under ``tests/fixtures``."""

import json
import os
import tarfile
from pathlib import Path

FIXTURES = Path(__file__).parent.parent / "fixtures"


def extract(tar: tarfile.TarFile, folder: Path) -> None:
    """Unpack an archive of ours; Python knows filters since 3.11.4, and Debian 12 has 3.11.2."""
    if hasattr(tarfile, "data_filter"):
        tar.extractall(folder, filter="data")
    else:
        tar.extractall(folder)


def unpacked(name: str, folder: Path) -> Path:
    """The repository as it was, in another place: its new name where the marks are, its files' old times."""
    with tarfile.open(FIXTURES / name) as tar:
        extract(tar, folder)
    times: dict[str, int] = json.loads((folder / "times").read_bytes())
    for member, when in times.items():
        path = folder / member
        data = path.read_bytes()
        if b"@ROOT@" in data:
            path.write_bytes(data.replace(b"@ROOT@", os.fsencode(folder)))
        os.utime(path, ns=(when, when))
    return folder / "repo"

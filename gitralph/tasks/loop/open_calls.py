"""Tool calls that an agent began and never ended, because it was killed between its write and its hook.

The event before the call kept the file's bytes. Once the agent is dead nothing of it will write any more:
what the file holds now is what the call did, unless somebody else recorded something meanwhile. Without this
the write is nobody's, and the task's next edit stands on a line that no commit of it may take.
"""

import os
import zlib

from gitralph.base import files, jsonline, treepath
from gitralph.base.quote import shown
from gitralph.git.context import Context
from gitralph.hook import journal, sessionfile
from gitralph.hook import record as recording
from gitralph.hook.journal import TEXT_LIMIT, Record
from gitralph.records import pending

_LIMIT = 2 * TEXT_LIMIT
_SHELL = "shell-"


def settle(ctx: Context, session: str) -> list[str]:
    """Record what the open calls of a session did; the paths, as shown to people."""
    folder = os.path.dirname(ctx.layout.call(session, ""))
    out = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.startswith(_SHELL):
            continue
        try:
            path = _settle(ctx, session, f"{folder}/{name}")
        except (OSError, ValueError, zlib.error):
            continue  # damaged, or gone: nothing is known of that call
        if path is not None:
            out.append(shown(path))
    return out


def _settle(ctx: Context, session: str, file: str) -> bytes | None:
    """Record one call and forget it; its path where there was something to record."""
    line, _, packed = files.read_bytes(file, _LIMIT).partition(b"\n")
    os.unlink(file)
    head = jsonline.loads(line.decode("ascii"))
    if not isinstance(head, dict) or not isinstance(head.get("path"), str):
        return None
    path = str(head["path"]).encode("utf-8", "surrogateescape")
    absent = head.get("absent") is True
    before = None if absent else zlib.decompressobj().decompress(packed, TEXT_LIMIT + 1)
    if not treepath.is_valid(path) or pending.journal_bytes(ctx.layout, path) != head.get("journal"):
        return None
    disk = recording.look(os.path.join(ctx.repo.root, os.fsdecode(path)))
    if disk.text == before or (disk.mode is not None and disk.text is None):
        return None
    mode = head.get("mode")
    old, new = before or b"", disk.text or b""
    record = Record(
        session,
        "delete" if disk.text is None else "create" if absent else "edit",
        None if before is None else journal.text_id(before),
        disk.oid,
        journal.WINDOW,
        hunks=[journal.hunk_between(old, new)],
        mode=(mode if isinstance(mode, str) else None, disk.mode),
        ts=sessionfile.now(),
        mtime=disk.mtime,
    )
    recording.write(ctx.layout, session, path, record, before)
    return path

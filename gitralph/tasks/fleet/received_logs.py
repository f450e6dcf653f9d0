"""What other members published: fetched into the private folder, checked, kept in ``<writer>.jsonl``."""

import re
from collections.abc import Iterable

from gitralph.base import files
from gitralph.git.objects import rows_in, tree_in
from gitralph.tasks.fleet import allow_list, claiming, kept_state, ref_names
from gitralph.tasks.fleet.store import COMMIT_LIMIT, TREE_LIMIT
from gitralph.tasks.fleet.this_clone import Fleet
from gitralph.tasks.fleet.wire import RemoteRefs

# Whoever may push may make logs without end. This clone keeps a file each of so many writers.
_MOST_MEMBERS = 1000
# A log is sealed at 4 MB; one record more may come on top.
_BLOB_LIMIT = 8 << 20
_NAME = re.compile(rb"log(?:\.([0-9]{1,5}))?\.jsonl")


def _entries(raw: bytes) -> list[tuple[int, str]]:
    """Number and oid of the files of a log's tree, in order; nothing of bytes that are no tree."""
    # The current file, which has no number, comes after every sealed one.
    return sorted(
        (int(match[1] or 999_999), oid)
        for name, mode, oid in rows_in(raw)
        if mode == 0o100644 and (match := _NAME.fullmatch(name))
    )


def _blobs(fleet: Fleet, tips: Iterable[str]) -> dict[str, list[str]]:
    """The files of logs, by tip."""
    commits = fleet.store.read(tips, "commit", COMMIT_LIMIT)
    trees = {tip: tree for tip, raw in commits.items() if (tree := tree_in(raw))}
    raw = fleet.store.read(trees.values(), "tree", TREE_LIMIT)
    return {tip: [oid for _, oid in _entries(raw.get(tree, b""))] for tip, tree in trees.items()}


def logs(fleet: Fleet, view: RemoteRefs) -> dict[str, dict[str, str]]:
    """The logs of others that a look shows: for each writer the refs and their tips, parts in order."""
    found: dict[str, dict[str, str]] = {}
    refs = view.refs.items()
    rows = [(*who, ref, oid) for ref, oid in refs if (who := ref_names.writer_of(fleet.namespace, ref))]
    for writer, _, ref, oid in sorted(rows):
        if writer != fleet.me.writer and (writer in found or len(found) < _MOST_MEMBERS):
            found.setdefault(writer, {})[ref] = oid
    return found


def read(fleet: Fleet, view: RemoteRefs) -> int:
    """Fetch and keep what is new. Returns how many members had something."""
    layout, known, now = fleet.ctx.layout, kept_state.tips(fleet.ctx.layout), logs(fleet, view)
    fresh = {
        writer: refs
        for writer, refs in now.items()
        if any(known.get(ref) != oid for ref, oid in refs.items())
    }
    wanted = [oid for refs in fresh.values() for oid in refs.values()]
    _fetch(fleet, wanted, known)
    blobs = _blobs(fleet, wanted)
    count = 0
    for writer, refs in fresh.items():
        oids = [oid for tip in refs.values() for oid in blobs.get(tip, [])]
        if not all(tip in blobs for tip in refs.values()):
            continue  # not all of it came; the next time tries again
        data = fleet.store.read(oids, "blob", _BLOB_LIMIT)
        lines = dict.fromkeys(line for oid in oids for _, line in allow_list.read(data.get(oid, b"")))
        files.write_whole(layout.fleet_log(writer), b"".join(lines))
        known = {**known, **refs}
        count += 1
    kept_state.keep_tips(layout, {ref: oid for ref, oid in known.items() if ref in view.refs})
    return count


def _fetch(fleet: Fleet, wanted: list[str], known: dict[str, str]) -> None:
    absent = sorted(set(wanted) - fleet.store.holds(wanted))
    tips = sorted(fleet.store.holds(known.values()))
    if absent and not fleet.wire.fetch(absent, tips[:100]):
        claiming.bring(fleet, absent)


def writers(fleet: Fleet) -> list[str]:
    """The members of which something is kept here, this clone among them."""
    found = (name.removesuffix(".jsonl") for name in files.names(fleet.ctx.layout.fleet, ".jsonl"))
    return [name for name in found if ref_names.is_writer(name)]

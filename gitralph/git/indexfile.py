"""Reads and patches an index file as bytes; pure, for the common form only.

Source: git's Documentation/gitformat-index.txt, versions 2 and 3. Going through git costs three
passes over the whole index; a patch touches the committed entries and the cached trees above them.
Whatever is out of the ordinary (split, sparse, fsmonitor, version 4, very long names) answers None,
and git does it.

A large index is mapped, not read, its entries are searched, and what is hashed or copied goes through
:func:`stretches` and leaves memory again: 10 paths of a million were 1,225 ms and 370 MB in one reading.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gitralph.base.ids import digest
from gitralph.git.trees import Entry

Data = bytes | mmap.mmap

# a part of a new file: bytes of its own, or from where to where in the old one
Piece = bytes | tuple[int, int]

# An index of more is mapped: 12,000 files or so.
_MAPPED = 1 << 20
_CHUNK = 1 << 20

_HEADER, _CHECKSUM, _FIXED = 12, 20, 62
# The flags hold lengths up to 0xFFF; git itself takes longer names, which we leave to it well before that.
_NAME_LIMIT = 255
_FILE_MODES = frozenset([0o100644, 0o100755, 0o120000, 0o160000])
_EXTENDED, _STAGE, _ASSUME_VALID = 0x4000, 0x3000, 0x8000
_SKIP_WORKTREE, _INTENT_TO_ADD = 0x4000, 0x2000
_WINDOW = 1 << 16
_NEAR = 1 << 12  # a search goes from entry to entry on the last 4 KiB
# An entry whose flags hold a stage: the last two bytes of its mode, 12 more, oid, flags; found at every
# position. A pattern that begins with one byte is looked for by memchr: of a million entries in 0.17 s, where
# one that begins with the zeros of the mode, of which an index is full, takes 0.76.
_STAGED = tuple(
    rb"(?s)%b(?=%b.{32}[\x10-\x3f\x50-\x7f\x90-\xbf\xd0-\xff])" % pair
    for pair in ((rb"\x81", rb"[\xa4\xed]"), (rb"\xa0", rb"\x00"), (rb"\xe0", rb"\x00"))
)
_PLAIN = frozenset([b"TREE", b"REUC", b"UNTR", b"EOIE", b"IEOT"])
_DROPPED = frozenset([b"EOIE", b"IEOT"])  # positions and sizes: wrong once a length changes


class EntrySpan(NamedTuple):
    """One entry in the file: where it starts and ends, and what it says."""

    start: int
    end: int
    entry: Entry
    flags: int
    extended: int

    @property
    def stage(self) -> int:
        return (self.flags & _STAGE) >> 12

    @property
    def letters(self) -> str:
        """``h`` assume-unchanged, ``S`` skip-worktree."""
        return ("h" if self.flags & _ASSUME_VALID else "") + ("S" if self.extended & _SKIP_WORKTREE else "")


class _CachedTree(NamedTuple):
    """A folder of the TREE extension: byte range of its row, entry count, oid position or -1."""

    path: bytes
    start: int
    end: int
    subtrees: int
    oid_at: int


class DamagedIndexError(Exception):
    """The file is not what its checksum or its structure says."""


def read(fd: int) -> Data:
    """The whole file. Raises DamagedIndexError for one too short to be an index."""
    size = os.fstat(fd).st_size
    if size < _HEADER + _CHECKSUM:
        raise DamagedIndexError
    if size < _MAPPED:
        return os.pread(fd, size, 0)

    # git replaces an index by a rename (lockfile.c), so what is mapped stays as it is.
    return mmap.mmap(fd, size, access=mmap.ACCESS_READ)


def stretches(data: Data, start: int, end: int) -> Iterator[memoryview]:
    """The bytes from ``start`` to ``end`` in parts; of a mapped file none stays in memory."""
    if isinstance(data, bytes):
        yield memoryview(data)[start:end]
        return

    while start < end:
        stop = min(end, start - start % _CHUNK + _CHUNK)
        with memoryview(data) as whole, whole[start:stop] as part:
            yield part
        if hasattr(mmap, "MADV_DONTNEED"):
            at = start - start % mmap.PAGESIZE
            data.madvise(mmap.MADV_DONTNEED, at, stop - at)
        start = stop


class IndexFile:
    """An index in the common form. ``data`` is the whole file."""

    def __init__(self, data: Data, entries_end: int, extensions: list[tuple[bytes, int, int]]) -> None:
        self.data = data
        self.entries_end = entries_end
        self.extensions = extensions
        self._found: dict[bytes, EntrySpan | None] = {}

    @property
    def count(self) -> int:
        return int.from_bytes(self.data[8:12], "big")

    def slot_at(self, start: int) -> EntrySpan | None:
        """The entry that starts at ``start``, None when none can."""
        data = self.data
        if start + _FIXED > self.entries_end:
            return None
        mode = int.from_bytes(data[start + 24 : start + 28], "big")
        flags = int.from_bytes(data[start + 60 : start + 62], "big")
        extended, name = 0, start + _FIXED
        if flags & _EXTENDED:
            extended, name = int.from_bytes(data[name : name + 2], "big"), name + 2
        length = flags & 0xFFF
        # 0xFFF means "this long or longer" (gitformat-index(5)), and a sparse folder is an entry with a
        # tree's mode.
        if length >= 0xFFF or mode not in _FILE_MODES:
            return None
        # Padded with 1 to 8 NULs to a multiple of eight (gitformat-index(5), versions 2 and 3).
        end = start + ((name - start + length + 8) & ~7)
        # Checked because `find` and `synced` land on guessed positions.
        if data[name + length : end].strip(b"\0") or end > self.entries_end:
            return None
        oid = data[start + 40 : start + 60].hex().encode()
        return EntrySpan(start, end, Entry(mode, oid), flags, extended)

    def name_of(self, slot: EntrySpan) -> bytes:
        start = slot.start + _FIXED + (2 if slot.flags & _EXTENDED else 0)
        return self.data[start : start + (slot.flags & 0xFFF)]

    def find(self, path: bytes) -> EntrySpan | None:
        """The entry of ``path``, whatever its stage; entries are in the order of their names."""
        if path not in self._found:
            slot = self.slot_at(self.place_for(path))
            self._found[path] = slot if slot is not None and self.name_of(slot) == path else None
        return self._found[path]

    def has_below(self, folder: bytes) -> bool:
        """True when there is an entry below a folder."""
        slot = self.slot_at(self.place_for(folder + b"/"))
        return slot is not None and self.name_of(slot).startswith(folder + b"/")

    def walk(self) -> Iterator[EntrySpan]:
        """Every entry in order. Raises DamagedIndexError."""
        at = _HEADER
        for _ in range(self.count):
            slot = self.slot_at(at)
            if slot is None:
                raise DamagedIndexError
            yield slot
            at = slot.end

    def extension(self, name: bytes) -> tuple[int, int] | None:
        """Start and size of an extension's body."""
        return next(((start, size) for sig, start, size in self.extensions if sig == name), None)

    def cached_trees(self, wanted: set[bytes]) -> list[_CachedTree]:
        """The rows of the TREE extension for these folders (the root is empty), parents first.

        A row follows its parent's, and what lies below a folder that is not wanted is only counted: a
        million files have 21,000 rows. Raises DamagedIndexError where the rows do not add up.
        """
        try:
            return self._cached_trees(wanted)
        except ValueError:
            raise DamagedIndexError from None

    def _cached_trees(self, wanted: set[bytes]) -> list[_CachedTree]:
        found = self.extension(b"TREE")
        if found is None:
            return []
        base = found[0]
        body = self.data[base : base + found[1]]
        out: list[_CachedTree] = []
        above: list[list[object]] = []  # of the wanted folders on the way: path, rows below still to come
        at, passed = 0, 0
        while at < len(body):
            start, zero = at, body.index(b"\0", at)
            newline = body.index(b"\n", zero)
            count, _, below = body[zero + 1 : newline].partition(b" ")
            oid_at = -1 if count[:1] == b"-" else newline + 1
            at = newline + 1 + (0 if oid_at < 0 else 20)
            subtrees = int(below)
            if passed:
                passed += subtrees - 1
                continue
            while above and above[-1][1] == 0:
                above.pop()
            path = body[start:zero]
            if above:
                parent, left = above[-1]
                assert isinstance(parent, bytes)
                assert isinstance(left, int)
                above[-1][1] = left - 1
                path = parent + b"/" + path if parent else path
            if path not in wanted:
                passed = subtrees
                continue
            oid_at = oid_at if oid_at < 0 else base + oid_at
            out.append(_CachedTree(path, base + start, base + at, subtrees, oid_at))
            if len(out) == len(wanted):
                return out
            above.append([path, subtrees])
        if passed or at > len(body) or any(left for _, left in above):
            raise DamagedIndexError
        return out

    def may_have_stages(self) -> bool:
        """False when no entry can be unmerged; True needs a second look.

        A valid cached root tree rules it out, else a search for the flag bits at an entry's alignment.
        """
        root = next(iter(self.cached_trees({b""})), None)
        # git invalidates the root's tree as soon as an entry changes, and an unmerged index has none to
        # write.
        if root is not None and root.oid_at >= 0:
            return False

        patterns = [re.compile(pattern) for pattern in _STAGED]
        at, text = _HEADER, b""
        for part in stretches(self.data, _HEADER, self.entries_end):
            # a match may begin in one part and end in the next
            text = text[-_FIXED:] + bytes(part)
            at += len(part)
            first = at - len(text) - 26
            found = (first + match.start() for each in patterns for match in each.finditer(text))
            if any(start % 8 == 4 and self.slot_at(start) is not None for start in found):
                return True
        return False

    def synced(self, at: int) -> int | None:
        """The start of an entry at or shortly after ``at``: four in a row must be sound."""
        at += (4 - at) % 8
        for start in range(at, min(at + _WINDOW, self.entries_end), 8):
            end: int | None = start
            for _ in range(4):
                slot = self.slot_at(end) if end is not None else None
                end = slot.end if slot else None
                if end == self.entries_end:
                    break
            if end is not None:
                return start
        return None

    def place_for(self, path: bytes) -> int:
        """Where an entry of this name belongs: before the first one with a greater name."""
        low, high = _HEADER, self.entries_end
        while high - low > _NEAR:
            middle = self.synced((low + high) // 2)
            slot = self.slot_at(middle) if middle is not None and middle < high else None
            if slot is None:
                break
            low, high = (slot.start, high) if self.name_of(slot) < path else (low, slot.start)
        while (slot := self.slot_at(low)) is not None and self.name_of(slot) < path:
            low = slot.end
        return low


def _chain_end(data: Data, at: int) -> int:
    """Where a chain of extensions from ``at`` ends; -1 when it runs over the file's end."""
    end = len(data) - _CHECKSUM
    while at < end:
        at += 8 + int.from_bytes(data[at + 4 : at + 8], "big")
    return at if at == end else -1


def _extension_start(data: Data) -> int | None:
    """Where the entries end, without reading them: EOIE says, or the TREE extension is found.

    A TREE whose chain ends exactly at the checksum, on an entry's alignment, is no accident; only
    IEOT (small) can stand before it in the common form.
    """
    at = len(data) - _CHECKSUM - 32
    if at > _HEADER and data[at : at + 8] == b"EOIE\0\0\0\x18":
        return int.from_bytes(data[at + 8 : at + 12], "big")
    tree = len(data)
    while (tree := data.rfind(b"TREE", _HEADER, tree)) >= 0:
        if _chain_end(data, tree) >= 0:
            table = data.rfind(b"IEOT", max(_HEADER, tree - _WINDOW), tree)
            start = table if table >= 0 and _chain_end(data, table) >= 0 else tree
            return start if start % 8 == 4 else None
    return None


def _walk_to_end(data: Data) -> int:
    probe, at = IndexFile(data, len(data) - _CHECKSUM, []), _HEADER
    for _ in range(probe.count):
        slot = probe.slot_at(at)
        if slot is None:
            return -1
        at = slot.end
    return at


def _extensions(data: Data, at: int) -> list[tuple[bytes, int, int]] | None:
    found, end = [], len(data) - _CHECKSUM
    while at < end:
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        found.append((data[at : at + 4], at + 8, size))
        at += 8 + size
    return found if at == end else None


def check(data: Data) -> None:
    """Raise DamagedIndexError for a file that is cut short, no index, or has a wrong checksum."""
    if len(data) < _HEADER + _CHECKSUM or data[:4] != b"DIRC":
        raise DamagedIndexError
    last = data[-_CHECKSUM:]
    # All zero means that `index.skipHash` left the checksum out (git 2.40 and later).
    if not last.strip(b"\0"):
        return
    made = hashlib.sha1(usedforsecurity=False)
    for part in stretches(data, 0, len(data) - _CHECKSUM):
        made.update(part)
    if made.digest() != last:
        raise DamagedIndexError


def parse(data: Data) -> IndexFile | None:
    """The index, None when it is not in the common form. Call :func:`check` first."""
    if int.from_bytes(data[4:8], "big") not in (2, 3):
        return None
    start = _extension_start(data)
    end = start if start is not None else _walk_to_end(data)
    extensions = _extensions(data, end) if _HEADER <= end <= len(data) - _CHECKSUM else None
    if extensions is None or any(sig not in _PLAIN for sig, _, _ in extensions):
        return None
    return IndexFile(data, end, extensions)


def entry_bytes(path: bytes, entry: Entry, flags: int, extended: int) -> bytes:
    """An entry whose stat fields are zero, so that git looks at the file before believing it."""
    flags = (flags & (_ASSUME_VALID | _EXTENDED)) | min(len(path), 0xFFF)
    body = bytes(24) + entry.mode.to_bytes(4, "big") + bytes(12) + bytes.fromhex(entry.oid.decode())
    body += flags.to_bytes(2, "big")
    if flags & _EXTENDED:
        body += (extended & ~_INTENT_TO_ADD).to_bytes(2, "big")
    body += path
    return body + bytes(8 - len(body) % 8)


def compose(entries: Mapping[bytes, Entry]) -> bytes:
    """A new index file, version 2, holding just these entries with no stat data."""
    body = b"".join(entry_bytes(path, entry, 0, 0) for path, entry in sorted(entries.items()))
    out = b"DIRC" + (2).to_bytes(4, "big") + len(entries).to_bytes(4, "big") + body
    return out + bytes.fromhex(digest(out))


def _above(paths: Mapping[bytes, object]) -> set[bytes]:
    """Every folder on the way to these paths, the root included."""
    out = {b""}
    for path in paths:
        names = path.split(b"/")[:-1]
        out.update(b"/".join(names[: n + 1]) for n in range(len(names)))
    return out


def _splices(
    index: IndexFile, changes: Mapping[bytes, Entry | None]
) -> tuple[list[tuple[int, int, bytes]], int] | None:
    """Byte ranges to replace and by how much the entry count changes; None where git must do it."""
    slots = {path: index.find(path) for path in changes}
    splices, added = [], 0
    new = [path for path, entry in changes.items() if entry is not None and slots[path] is None]
    # The untracked cache lists folders whose files are unknown to the index: a new entry makes it lie.
    if new and (index.extension(b"UNTR") or _crowded(index, new)):
        return None
    places = {path: index.place_for(path) for path in new}
    for path, entry in sorted(changes.items()):
        slot = slots[path]
        if len(path) > _NAME_LIMIT or (slot is not None and slot.stage):
            return None
        if slot is None:
            if entry is not None:
                splices.append((places[path], places[path], entry_bytes(path, entry, 0, 0)))
                added += 1
        elif entry is None:
            splices.append((slot.start, slot.end, b""))
            added -= 1
        else:
            body = entry_bytes(path, entry, slot.flags, slot.extended)
            splices.append((slot.start, slot.end, body))
    return splices, added


def _crowded(index: IndexFile, new: list[bytes]) -> bool:
    """True when a new path meets a file where it needs a folder, or the other way round."""
    if any(index.find(folder) for folder in _above(dict.fromkeys(new)) if folder):
        return True
    return any(index.has_below(path) for path in new)


def _tree_body(
    index: IndexFile, stale: set[bytes], fresh: Mapping[bytes, tuple[bytes, bytes]]
) -> bytes | None:
    """The TREE extension with the folders above the changes renewed, or marked invalid."""
    found = index.extension(b"TREE")
    if found is None:
        return None
    out, last = bytearray(), found[0]
    for row in index.cached_trees(stale):
        if row.oid_at < 0:
            continue
        old, new = fresh.get(row.path, (b"", b""))
        if old and index.data[row.oid_at : row.end].hex().encode() == old:
            out += index.data[last : row.oid_at] + bytes.fromhex(new.decode())
        else:
            name = index.data[row.start : index.data.find(b"\0", row.start) + 1]
            out += index.data[last : row.start] + name + b"-1 %d\n" % row.subtrees
        last = row.end
    return bytes(out + index.data[last : found[0] + found[1]])


def patch(
    index: IndexFile,
    changes: Mapping[bytes, Entry | None],
    fresh: Mapping[bytes, tuple[bytes, bytes]],
) -> list[Piece] | None:
    """The file with these entries changed, without its checksum; None where git must do it.

    ``fresh`` names, per folder, the tree oid that the cached one must be and the one it becomes; used
    only when no entry comes or goes, since a cached tree also counts its entries.
    """
    found = _splices(index, changes)
    if found is None:
        return None
    splices, added = found
    moved = any(len(body) != end - start for start, end, body in splices)
    out: list[Piece] = [index.data[:8] + (index.count + added).to_bytes(4, "big")]
    last = _HEADER
    for start, end, body in splices:
        out += [(last, start), body]
        last = end
    out.append((last, index.entries_end))
    tree = _tree_body(index, _above(changes), {} if moved else fresh)
    cached = index.extension(b"TREE")
    resized = moved or (cached is not None and tree is not None and len(tree) != cached[1])
    for sig, start, size in index.extensions:
        if resized and sig in _DROPPED:
            continue
        if sig == b"TREE" and tree is not None:
            out += [sig + len(tree).to_bytes(4, "big"), tree]
        else:
            out += [sig + size.to_bytes(4, "big"), (start, start + size)]
    return out


def write(fd: int, old: Data, pieces: Iterable[Piece]) -> None:
    """Write a new file from its pieces, and its checksum unless ``index.skipHash`` left none."""
    made = hashlib.sha1(usedforsecurity=False)
    for piece in pieces:
        parts = [memoryview(piece)] if isinstance(piece, bytes) else stretches(old, *piece)
        for part in parts:
            made.update(part)
            write_all(fd, part)
    signed = old[-_CHECKSUM:].strip(b"\0") != b""
    write_all(fd, memoryview(made.digest() if signed else bytes(_CHECKSUM)))


def write_all(fd: int, part: memoryview) -> None:
    """Write a part to its end."""
    done = 0
    while done < len(part):
        done += os.write(fd, part[done:])

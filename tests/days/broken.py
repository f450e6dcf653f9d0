"""Four broken tools, to see what the judge finds: the real one, whose every commit is spoilt in one way.

What is spoilt is the commit it made, so that this fits any engine.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from tests.days.place import Place, as_text
from tests.days.truth import Text
from tests.support.runner import Done

Lines = tuple[str, ...]
Spoil = Callable[[str, Lines, Lines, Lines, set[str]], Lines]
"""Session, texts of parent, commit and file, and all lines the file ever had: the text to commit instead."""


def greedy(who: str, _parent: Lines, made: Lines, disk: Lines, _ever: set[str]) -> Lines:
    """Takes what stands at one place of the file and another session wrote."""
    for tag, a, b, c, d in _changes(made, disk):
        if tag == "insert" and set(re.findall(r"\b(s\d)_\d+", " ".join(disk[c:d]))) - {who}:
            return (*made[:a], *disk[c:d], *made[b:])
    return made


def forgetful(_who: str, parent: Lines, made: Lines, _disk: Lines, _ever: set[str]) -> Lines:
    """Leaves out the first place where it removes lines."""
    for _, a, b, c, d in _changes(parent, made):
        if a < b:
            return (*made[:c], *parent[a:b], *made[d:])
    return made


def ghostly(who: str, parent: Lines, made: Lines, disk: Lines, ever: set[str]) -> Lines:
    """Brings back a line that the session wrote once and that is nowhere now."""
    gone = sorted(line for line in ever - {*parent, *made, *disk} if re.search(rf"\b{who}_\d+", line))
    return (*made, *gone[:1])


def _changes(old: Lines, new: Lines) -> list[tuple[str, int, int, int, int]]:
    found = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [row for row in found if row[0] != "equal"]


@contextmanager
def broken(spoil: Spoil | None) -> Iterator[None]:
    """While it lasts each commit is spoilt; with None it drops what was staged of one path."""
    real, ever = Place.ralph, dict[tuple[str, str], set[str]]()

    def ralph(place: Place, *args: str, stdin: bytes = b"") -> Done:
        before = place.shot()
        for path, data in before.disk.items():
            ever.setdefault((str(place.root), path), set()).update(as_text(data) or ())
        done = real(place, *args, stdin=stdin)
        if args[0] != "commit" or done.code or json.loads(done.out)["status"] != "committed":
            return done
        after, files = place.shot(), {}
        if spoil is None:
            staged = [path for path in after.index if after.index[path] != after.head.get(path)]
            place.git("reset", "-q", "--", *staged[:1]) if staged else None
            return done
        for path in sorted(after.head.keys() & before.head.keys() & after.disk.keys()):
            if before.head[path] != after.head[path]:
                old, new = (_text(place, shot.head[path][1]) for shot in (before, after))
                disk = as_text(after.disk[path]) or ()
                lines = spoil(args[2], old, new, disk, ever[str(place.root), path])
                if lines != new:
                    data = "".join(line + "\n" for line in lines).encode()
                    files[path] = (after.head[path][0], place.objects.write("blob", data))
        made = {**after.head, **files}
        if files and made != before.head:
            _amend(place, after.commit, made)
            for path in [path for path in files if after.index.get(path) == after.head[path]]:
                mode, oid = files[path]
                place.git("update-index", "--cacheinfo", f"{mode:o},{oid},{path}")
        return done

    with mock.patch.object(Place, "ralph", ralph):
        yield


def _text(place: Place, oid: str) -> Lines:
    text: Text = place.objects.text(oid)
    return text or ()


def _amend(place: Place, commit: str, files: dict[str, tuple[int, str]]) -> None:
    """HEAD holds these files instead, under the same message."""
    head = place.objects.read(commit)[1].decode()
    tree = place.objects.tree(files)
    oid = place.objects.write("commit", f"tree {tree}{head[head.index(chr(10)) :]}".encode())
    place.git("update-ref", "HEAD", oid)

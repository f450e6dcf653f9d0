"""What is staged before and after a shell command, so that what an agent staged can be put back.

Fast lane. The index belongs to the person: ``commit.shell_staging`` tells what becomes of these notes.
"""

import os
from collections.abc import Container

from gitralph.base import files, jsonline, nul
from gitralph.base.gitdir import Place
from gitralph.base.layout import Layout
from gitralph.hook import record
from gitralph.hook.event import command_of
from gitralph.hook.shellforms import CLEAN, UNMERGED

Staged = dict[str, object]
"""For each path ``[mode, blob]`` of the index where it differs from HEAD; None where the path was removed.

A path in conflict has ``UNMERGED`` and mode and blob of each of its three stages.
"""

# Nobody stages a selection of more paths by hand.
_PATHS = 20_000
# In bytes, of a script; and so many words of a command or a script are looked at.
_TEXT = 64 << 10
_FILES, _FOLDERS, _WORDS, _ASKED = 8, 3, 400, 1_000
# The git commands that write the index; one of them stands behind `git` and its options.
_VERBS = frozenset(
    [
        "add",
        "stage",
        "rm",
        "mv",
        "update-index",
        "read-tree",
        "reset",
        "restore",
        "apply",
        "am",
        "stash",
        "commit",
    ]
)
_NEAR = 8
_APART = str.maketrans(dict.fromkeys("\"'`|&;<>(){}[]$,=\t\r\n", " "))
# The task files that a program reads without being given their names.
_MAKE, _NODE = ("GNUmakefile", "makefile", "Makefile"), ("package.json",)
_READS = {
    "make": _MAKE,
    "gmake": _MAKE,
    "just": ("justfile", ".justfile", "Justfile"),
    "rake": ("Rakefile",),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun"), _NODE),
}


def staged_in(said: bytes) -> Staged | None:
    """What ``status --porcelain=v2 -z`` tells of the index; None for too many paths."""
    found: Staged = {}
    for row in nul.rows(said):
        if row[:2] == b"u ":
            fields = row.split(b" ", 10)
            told = [field.decode("ascii", "replace") for field in fields[3:10]]
            found[record.path_text(fields[10])] = [UNMERGED, *told[:3], *told[4:]]
        if row[:2] == b"1 " and row[2:3] != b".":
            fields = row.split(b" ", 8)
            mode, oid = fields[4].decode("ascii", "replace"), fields[7].decode("ascii", "replace")
            found[record.path_text(fields[8])] = [mode, oid] if mode.strip("0") else None
    return found if len(found) <= _PATHS else None


def may_stage(given: object, cwd: str | None) -> bool:
    """False for a command that neither names git nor runs a script that stages with it.

    What is staged while such a command runs was staged by somebody else.
    """
    said = command_of(given)
    if said is None:
        return True
    return "git" in said or (cwd is not None and cwd.startswith("/") and _scripts_stage(said[:_TEXT], cwd))


def _scripts_stage(said: str, cwd: str) -> bool:
    """True when a file that a command names, or that such a file names, lets git stage something."""
    folders, seen, left = [cwd], set[tuple[int, int]](), _FILES
    texts, asked = [said], 0
    while texts and left:
        words = texts.pop(0).translate(_APART).split()[:_WORDS]
        if not seen:
            folders += [
                os.path.join(cwd, words[at + 1]) for at, word in enumerate(words[:-1]) if word == "cd"
            ]
        for word in dict.fromkeys(name for one in words for name in (one, *_READS.get(one, ()))):
            for folder in folders[:_FOLDERS]:
                asked += 1
                text = _script(os.path.join(folder, word), seen) if asked <= _ASKED else None
                if text is None:
                    continue
                if any(_stages(line) for line in text.split("\n")):
                    return True
                texts.append(text)
                left -= 1
                if not left:
                    return False
    return False


def _script(path: str, seen: set[tuple[int, int]]) -> str | None:
    """The beginning of a text file that was not read yet."""
    try:
        fd = files.open_foreign(path)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(fd)
        if (found.st_dev, found.st_ino) in seen:
            return None
        seen.add((found.st_dev, found.st_ino))
        data = os.pread(fd, _TEXT, 0)
    except OSError:
        return None
    finally:
        os.close(fd)
    return None if b"\0" in data else data.decode("utf-8", "replace")


def _stages(line: str) -> bool:
    at = line.find("git")
    return at >= 0 and not _VERBS.isdisjoint(line[at:].translate(_APART).split()[1:_NEAR])


def changes(kept: dict[str, object], after: Staged | None, moved: Container[str]) -> list[list[object]]:
    """``[path, before, after]`` of what a command staged or took out of the index.

    Where HEAD has ``moved``, what a person had staged before was carried over by the commit.
    """
    before = kept.get("staged")
    if not isinstance(before, dict) or after is None or kept.get("stages") is not True:
        return []
    rows = [[name, before.get(name, CLEAN), after.get(name, CLEAN)] for name in sorted({*before, *after})]
    return [row for row in rows if row[1] != row[2] and (row[1] == CLEAN or row[0] not in moved)]


def note(lay: Layout, session: str) -> None:
    """Remember that a session staged something."""
    files.write_whole(lay.staged(session), b"")


def make_due(lay: Layout, session: str, place: Place) -> None:
    """Make it due that what a session staged is put back: its turn is over. The next command does it."""
    told = {"git_dir": place.git_dir, "token": lay.token, "session": session}
    files.write_for_good(lay.restaging(session), jsonline.line(told))

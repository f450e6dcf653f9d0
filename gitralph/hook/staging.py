"""What is staged before and after a shell command, so that what an agent staged can be put back.

Fast lane. A person's index is his: see ``commit.shell_staging`` for what becomes of this.
"""

from gitralph.base import files, jsonline, nul
from gitralph.base.gitdir import Place
from gitralph.base.layout import Layout
from gitralph.hook import record
from gitralph.hook.shellforms import CLEAN

Staged = dict[str, object]
"""Per path ``[mode, blob]`` of the index where it is not as in HEAD, None where the path was taken out."""

# Of more paths nobody staged a selection by hand.
_PATHS = 20_000


def staged_in(said: bytes) -> Staged | None:
    """What ``status --porcelain=v2 -z`` tells of the index; None where there are conflicts, or too much."""
    found: Staged = {}
    for row in nul.rows(said):
        if row[:2] == b"u ":
            return None
        if row[:2] == b"1 " and row[2:3] != b".":
            fields = row.split(b" ", 8)
            mode, oid = fields[4].decode("ascii", "replace"), fields[7].decode("ascii", "replace")
            found[record.path_text(fields[8])] = [mode, oid] if mode.strip("0") else None
    return found if len(found) <= _PATHS else None


def may_stage(given: object) -> bool:
    """False for a command that does not name git: what is staged while it runs somebody else stages."""
    command = given.get("command") if isinstance(given, dict) else None
    return command is None or "git" in str(command)


def changes(kept: dict[str, object], after: Staged | None) -> list[list[object]]:
    """``[path, before, after]`` of what a command staged."""
    before = kept.get("staged")
    if not isinstance(before, dict) or after is None or kept.get("stages") is not True:
        return []
    rows = [[name, before.get(name, CLEAN), now] for name, now in sorted(after.items())]
    return [row for row in rows if row[1] != row[2]]


def note(lay: Layout, session: str) -> None:
    """Remember that a session staged something."""
    files.write_whole(lay.staged(session), b"")


def make_due(lay: Layout, session: str, place: Place) -> None:
    """Its turn is over: what it staged is to be put back, by whoever comes next."""
    told = {"git_dir": place.git_dir, "token": lay.token, "session": session}
    files.write_for_good(lay.restaging(session), jsonline.line(told))

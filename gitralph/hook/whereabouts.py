"""The worktrees where a session is at work: that of its cwd, and those that its shell entered before.

Fast lane. An event names one folder. The command that it ends may have begun in another one, and so may the
turn.
"""

import itertools
import os
from collections.abc import Iterable

from gitralph.base import gitdir, layout
from gitralph.base.gitdir import Place
from gitralph.hook import sessionfile

# So many names of a folder that is in no repository are looked at: a session may begin above several.
_BELOW = 500
# So many other worktrees are remembered; the last ones count.
_MOST = 20


def places(session: str | None, cwd: str, environ: dict[str, str]) -> list[Place]:
    """The worktree of the cwd first, if it is in one, then the others where the session has a record.

    Claude Code says where it began, also when its shell has moved on.
    """
    here, home = gitdir.discover(os.path.realpath(cwd)), environ.get("CLAUDE_PROJECT_DIR", "")
    found = {here.root: here} if here is not None else {}
    starts = [cwd, home] if home[:1] == "/" and gitdir.is_nameable(home) else [cwd]
    for place in (one for at in starts for one in _near(session, os.path.realpath(at))):
        if _record(place, session) is not None:
            found.setdefault(place.root, place)
    return list(found.values())


def below(folder: str) -> list[Place]:
    """The repositories whose worktrees are folders of this one, which is in none."""
    try:
        with os.scandir(folder) as entries:
            paths = [entry.path for entry in itertools.islice(entries, _BELOW)]
    except OSError:
        return []
    return _worktrees(path for path in sorted(paths) if os.path.lexists(f"{path}/.git"))


def has_records(place: Place) -> bool:
    """True where something is recorded in a form that this version reads."""
    try:
        layout.for_place(place, create=False)
    except (OSError, layout.StateError):
        return False
    return os.path.isdir(layout.state_folder(place))


def _near(session: str | None, folder: str) -> list[Place]:
    place = gitdir.discover(folder)
    if place is None:
        return below(folder)
    kept = _record(place, session)
    return [place, *still_there(kept.get("elsewhere") if kept is not None else None)]


def still_there(roots: object) -> list[Place]:
    """The worktrees of a list of roots, as a file names them, that are worktrees now."""
    named = [root for root in roots if isinstance(root, str)] if isinstance(roots, list) else []
    last = dict.fromkeys(reversed(named[-_MOST:]))
    return _worktrees(root for root in last if root[:1] == "/" and gitdir.is_nameable(root))


def _worktrees(roots: Iterable[str]) -> list[Place]:
    found = [(root, gitdir.discover(root)) for root in roots]
    return [place for root, place in found if place is not None and place.root == root]


def _record(place: Place, session: str | None) -> dict[str, object] | None:
    if session is None or not has_records(place):
        return None
    return sessionfile.read(layout.for_place(place, create=False), session)

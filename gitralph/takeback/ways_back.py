"""What takes a commit on that would keep out lines which an edit of an old copy took out of the file."""

import shlex
from collections.abc import Iterable

from gitralph.base.errors import RalphError
from gitralph.decide import decision
from gitralph.decide.decision import Left
from gitralph.git.context import Context
from gitralph.git.typed import as_pathspec
from gitralph.takeback.request import UndoRequest
from gitralph.takeback.restore import restore

# As many as one line of a hint holds; each costs what a restore does.
# So many paths are asked about at once; each costs a weave, and a hint that names more would not be read.
_MOST = 10


def after_refusal(ctx: Context, left: Iterable[Left]) -> list[str]:
    """A command for each session whose lines it brings back, tried first; nothing is written."""
    lost: dict[str, list[bytes]] = {}
    for one in left:
        for name in one.sessions if one.reason == decision.STALE else ():
            if name != decision.UNRECORDED:
                lost.setdefault(name, []).append(one.path)
    out = []
    for name, paths in lost.items():
        # where one path cannot come back, a restore of all of them is refused
        back = coming_back(ctx, name, paths[:_MOST]) or coming_back(ctx, name, paths[:1])
        if back:
            given = " ".join(as_pathspec(ctx, path) for path in back)
            where = f"--session {shlex.quote(ctx.called(name))} -- {given}"
            out.append(f"git ralph restore {where}  # brings those lines back")
    return out


def coming_back(ctx: Context, session: str, paths: list[bytes]) -> list[bytes]:
    """Those of some paths in which a restore brings anything back now; none where it would be refused."""
    request = UndoRequest(session, match=lambda known: [one for one in known if one in paths])
    try:
        changed = {one.path for one in restore(ctx, request, dry=True).changes}
    except RalphError:
        return []
    return [path for path in paths if path in changed]

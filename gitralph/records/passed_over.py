"""Lines of manifests that name nothing of ours: a foreign script wrote them, and a warning tells of each."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gitralph.base.layout import Layout
from gitralph.base.quote import shown
from gitralph.records import commit_log, manifests

# A foreign script may write a thousand wrong lines; a few show what is wrong with them.
_SHOWN = 5


def warnings(layout: Layout, sessions: Iterable[str]) -> list[str]:
    """A warning for each manifest line that names no path of ours, until a commit has read past the line."""
    out = []
    for session in sessions:
        upto = commit_log.read(layout, session).upto
        since = max((at for (token, _), at in upto.items() if token == layout.token), default=0)
        found = manifests.passed_over(layout, session, since)
        name = f"'{os.path.basename(layout.manifest(session))}'"
        out += [
            f"{name} line {number} names '{shown(line)}', no path of this worktree; passed over"
            for number, line in found[:_SHOWN]
        ]
        if len(found) > _SHOWN:
            out.append(f"{len(found) - _SHOWN} more lines of {name} name no path of this worktree")
    return out

"""The person's part of the files: which paths a person's commit looks at, and which ones it must name.

``decide.decide`` tells whose the lines of a path are, as for any session.
"""

from __future__ import annotations

import os
from collections.abc import Container

from gitralph.base.kinds import Kind, Why
from gitralph.base.layout import Layout
from gitralph.decide import decision, offers, path_texts, pathspecs
from gitralph.decide.decision import Left
from gitralph.decide.inputs import Scene
from gitralph.decide.path_texts import head_lines, line_set, one_form
from gitralph.git import uncommitted
from gitralph.git.context import Context
from gitralph.git.snapshot import ABSENT, Content
from gitralph.hook.journal import GAP, replay
from gitralph.hook.windows import Window
from gitralph.lines.text import has_words, split_lines
from gitralph.records import path_records
from gitralph.records.path_records import PathState


def candidates(ctx: Context, exact: Container[bytes]) -> list[bytes]:
    """The paths that `git commit -a` would look at, and the new files in ``exact``."""
    found = uncommitted.dirty(ctx.repo, ctx.config)
    return [path for path in found if found[path] != uncommitted.UNTRACKED or path in exact]


def asked_for(ctx: Context, wanted: set[bytes] | None) -> tuple[set[bytes], dict[bytes, Content]]:
    """The paths asked for, by default those of `git commit -a`; files staged as removed count as gone."""
    found = uncommitted.dirty(ctx.repo, ctx.config, wanted or ()) if wanted != set() else {}
    paths = {path for path, letters in found.items() if wanted or letters != uncommitted.UNTRACKED}
    return paths, {path: ABSENT for path in paths if found[path][0] == "D"}


def barred(ctx: Context, scene: Scene, is_named: bool) -> tuple[dict[bytes, Left], dict[bytes, Left]]:
    """Paths that a person's commit leaves although no session owns them, and those that it leaves in part.

    Each with the reason. Of the second ones shell commands may have made some lines.
    """
    by_shell, in_part = ({}, {}) if is_named else _left_by_commands(ctx, scene)
    return {**by_shell, **_moved_here(ctx, scene)}, in_part


def _moved_here(ctx: Context, scene: Scene) -> dict[bytes, Left]:
    """Files with uncommitted lines of a session from a file that is gone: somebody, or git, moved it."""
    # where a session moved the file, its records tell whose each line is
    states = ((path, state.journal) for path, state in scene.states.items() if path in scene.contents)
    free = [p for p, j in states if not path_records.first_arrival(j) and not path_records.last_arrival(j)]
    known = {path: lines_of_sessions(ctx.layout, scene.states[path]) for path in free}
    root = os.fsencode(ctx.repo.root)
    gone = [path for path in pathspecs.recorded(ctx) if not os.path.lexists(os.path.join(root, path))]
    found: dict[bytes, Left] = {}
    for old, state in path_records.states_of(ctx.layout, gone).items() if free else ():
        brought = lines_of_sessions(ctx.layout, state)
        for path in free if brought else ():
            text = one_form(scene.contents[path].data)
            # what a session has changed since stands under its edit, and would go from there
            under = (line_set(before) for _, before, _ in replay(scene.states[path].journal, ctx.layout))
            came = line_set(text).union(*under) - known[path].keys()
            came -= head_lines(scene, path) | head_lines(scene, old)
            who = tuple(sorted({brought[line] for line in came if line in brought}))
            if who:
                first = [line in came and brought.get(line) == who[0] for line in split_lines(text)]
                start = first.index(True) + 1 if any(first) else 0
                end = start + next((n for n, one in enumerate(first[start:]) if not one), len(first) - start)
                why = Why(Kind.LINES_OF_GONE, path=old)
                found[path] = Left(path, decision.CONTESTED, why, who, (start, end) if start else None)
    return found


def lines_of_sessions(layout: Layout, state: PathState) -> dict[bytes, str]:
    """The lines with words that sessions brought to a path, each with the session.

    Whether a commit took a record decides nothing: it may have found nothing left, as after a move.
    """
    found = dict[bytes, str]()
    for record, before, after in replay(state.journal, layout):
        if record.op != GAP:
            came = line_set(after) - line_set(before)
            found |= dict.fromkeys(filter(has_words, came), record.session)
    return found


def _made_by(window: Window) -> Why:
    if window.closed is not None:
        return Why(Kind.MADE_BY, commands=(offers.told(window),))
    likely = Why(Kind.LIKELY_BY, commands=(offers.told(window),))
    return Why(Kind.NO_END_TOLD, (window.session,), because=likely)


def _left_by_commands(ctx: Context, scene: Scene) -> tuple[dict[bytes, Left], dict[bytes, Left]]:
    """Files with a change by a session's shell command that no session recorded: a person must name them.

    Those first of which no lines are told.
    """
    found = offers.changed_meanwhile(ctx, scene)
    states = {path: state for path, state in scene.states.items() if path in scene.contents}
    lines = {path: offers.left(scene, state, None) for path, state in states.items()}
    told = {path: left for path, left in lines.items() if left is not None and path not in found}
    apart = {path for path in told if path_texts.has_lines(scene, states[path])}
    whole = {path: left for path, left in told.items() if path not in apart}
    whole |= {
        path: Left(path, decision.SHELL, _made_by(window), (window.session,), optional=True)
        for path, window in found.items()
    }
    return whole, {path: told[path] for path in apart}

"""Finds the repository that an event is about: by its cwd, else by what the launcher or the agent names."""

import contextlib
import os
from collections.abc import Mapping

from gitralph.base import gitdir, layout
from gitralph.base.layout import Layout
from gitralph.git.context import Context, open_context
from gitralph.guard.reply import Reply
from gitralph.hook.event import Event


def folders(event: Event, environ: Mapping[str, str]) -> list[str]:
    """Where the event may belong, best first."""
    named = [event.cwd, environ.get("RALPH_ROOT"), environ.get("CLAUDE_PROJECT_DIR")]
    with contextlib.suppress(FileNotFoundError):
        named.append(os.getcwd())
    # Names from a payload and the environment: absolute, without NUL, a folder that is there.
    usable = [name for name in named if name and name[0] == "/" and "\0" not in name and os.path.isdir(name)]
    return list(dict.fromkeys(os.path.realpath(name) for name in usable))


def context(event: Event, environ: Mapping[str, str], reply: Reply, cwd: str | None = None) -> Context:
    """The context of the event's own folder. Raises RalphError outside a usable repository."""
    here = cwd or next(iter(folders(event, environ)), None)
    if here is not None:
        os.chdir(here)
    ctx = open_context(environ)
    ctx.warn = lambda text: reply.said.append(f"warning: {text}")
    ctx.say = lambda text: reply.said.append(f"note: {text}")
    return ctx


def layouts_of(event: Event, environ: Mapping[str, str]) -> list[tuple[str, Layout]]:
    """Those of :func:`states` that have beads."""
    return [(folder, lay) for folder, lay in states(event, environ) if os.path.isdir(lay.beads)]


def states(event: Event, environ: Mapping[str, str]) -> list[tuple[str, Layout]]:
    """Every state folder that the event may mean, each with the folder it was found from."""
    found: list[tuple[str, Layout]] = []
    for folder in folders(event, environ):
        place = gitdir.discover(folder)
        if place is None:
            continue
        # It lies at the top, so the main worktree's view serves for each; nothing is made here.
        lay = Layout(layout.state_folder(place), layout.MAIN)
        if lay.top not in [one.top for _, one in found]:
            found.append((folder, lay))
    return found

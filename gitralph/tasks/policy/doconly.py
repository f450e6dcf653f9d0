"""Agents that may write documentation only: every path of a writing tool is judged, where it really leads."""

import os
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase

from gitralph.base import gitdir
from gitralph.base.errors import RalphError
from gitralph.base.layout import Layout
from gitralph.base.quote import printable
from gitralph.git.config import Config
from gitralph.git.run import Git
from gitralph.guard.reply import Reply, blocked
from gitralph.hook.agents import writing
from gitralph.hook.event import Event
from gitralph.tasks.policy import event_repository, subagents

# What projects write documentation in; ralph.docs.pattern adds more.
PATTERNS = ("*.md", "*.mdx", "*.markdown", "*.rst")


def _is_documentation(relative: str, patterns: list[str]) -> bool:
    """Judged by the last name alone where a pattern has no slash, else by the whole path."""
    # As gitignore has it: a pattern without a slash is about names, in any folder, here in any case of
    # letters.
    name = relative.rsplit("/", 1)[-1]
    return any(
        fnmatchcase(relative if "/" in one else name.lower(), one if "/" in one else one.lower())
        for one in patterns
    )


def _judge(path: str, cwd: str, common: str | None, home: str | None, patterns: list[str]) -> str | None:
    """What is wrong with a path, None when it may be written."""
    if not path or "\0" in path:
        return "names no file"
    # The real place decides, or a link named notes.md would lead to a source file.
    full = os.path.realpath(os.path.join(cwd, path))
    found = gitdir.discover(os.path.dirname(_existing(full)))
    if found is None or common is None or found.common_dir != common:
        return "lies outside the repository"
    if home is not None and not full.startswith(home + "/"):
        return f"lies outside '{home}', the worktree this was started from"
    # By its own name and by what it leads to: either alone could be dressed up.
    for name in (path, full):
        if not _is_documentation(os.path.relpath(os.path.join(cwd, name), found.root), patterns):
            return "is not documentation"
    return None


def _existing(path: str) -> str:
    # The folder is yet to be made; the repository is found from the first one above that is there.
    while not os.path.lexists(os.path.dirname(path)):
        path = os.path.dirname(path)
    return path


def checked(event: Event, environ: Mapping[str, str]) -> Reply:
    """Answer one tool call of a doc-only agent: nothing, or exit 2 naming the file."""
    named = writing.paths(event)
    if named is None:
        return Reply()
    if not named:
        return blocked(f"only documentation may be written, and this {event.tool} names no file")
    cwd = next(iter(event_repository.folders(event, environ)), "/")
    here = gitdir.discover(cwd)
    patterns = list(PATTERNS)
    # A configuration that cannot be read allows no more than the built-in patterns.
    with suppress(RalphError):
        git = Git.find(environ).at(here.root if here else cwd)
        patterns += Config.load(git).all("ralph.docs.pattern")
    home = _home(event, environ)
    for path in named:
        wrong = _judge(path, cwd, here.common_dir if here else None, home, patterns)
        if wrong:
            return blocked(
                f"only documentation may be written: '{printable(path)[:300]}' {wrong}",
                f"allowed are {', '.join(patterns)}",
            )
    return Reply()


def _home(event: Event, environ: Mapping[str, str]) -> str | None:
    layouts: list[Layout] = [lay for _, lay in event_repository.layouts_of(event, environ)]
    return next((home for lay in layouts if (home := subagents.home_of(lay, event.agent_id))), None)

"""Agents that may write documentation only: every path of a writing tool is judged, where it really leads."""

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase

from gitralph import gitdir
from gitralph.errors import RalphError
from gitralph.event import list_of, object_of, text_of
from gitralph.layout import Layout
from gitralph.plumbing.git import Git
from gitralph.porcelain.policy import helpers, place
from gitralph.porcelain.policy.launch_input import read
from gitralph.porcelain.policy.reply import Reply, blocked
from gitralph.quote import printable

WRITERS = frozenset([
    "Write", "Edit", "MultiEdit", "NotebookEdit", "write", "edit", "write_file", "replace", "notebook_edit",
    "create", "apply_patch", "StrReplace", "Create", "ApplyPatch", "multiedit",
])  # fmt: skip
PATTERNS = ("*.md", "*.mdx", "*.markdown", "*.rst")
_NAMES = ("file_path", "notebook_path", "path", "filePath")
_HEADERS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def _from_patch(text: str) -> list[str]:
    return [
        row[len(head) :].rstrip("\r") for row in text.split("\n") for head in _HEADERS if row.startswith(head)
    ]


def paths_of(fields: dict[str, object]) -> list[str]:
    """Every path a writing tool names: its own, those of its edits, those in a patch."""
    found = [value for key in _NAMES if isinstance(value := fields.get(key), str)]
    for one in list_of(fields, "edits"):
        found += [value for key in _NAMES if (value := text_of(one, key))]
    for key in ("command", "patchText", "patch", "input"):
        found += _from_patch(text_of(fields, key) or "")
    return found


def _patterns(folder: str, environ: Mapping[str, str]) -> list[str]:
    """The built-in patterns and those of ``ralph.docs.pattern``."""
    git = Git.find(environ).at(folder)
    done = git.try_run("config", "--get-all", "-z", "ralph.docs.pattern")
    return [*PATTERNS, *(p for p in os.fsdecode(done.stdout).split("\0") if p)]


def _is_documentation(relative: str, patterns: list[str]) -> bool:
    """Judged by the last name alone where a pattern has no slash, else by the whole path."""
    name = relative.rsplit("/", 1)[-1]
    return any(
        fnmatchcase(relative if "/" in one else name.lower(), one if "/" in one else one.lower())
        for one in patterns
    )


def _judge(path: str, cwd: str, common: str | None, home: str | None, patterns: list[str]) -> str | None:
    """What is wrong with a path, None when it may be written."""
    if not path or "\0" in path:
        return "names no file"
    full = os.path.realpath(os.path.join(cwd, path))
    found = gitdir.discover(os.path.dirname(_existing(full)))
    if found is None or common is None or found.common_dir != common:
        return "lies outside the repository"
    if home is not None and not full.startswith(home + "/"):
        return f"lies outside '{home}', the worktree this was started from"
    for name in (path, full):
        if not _is_documentation(os.path.relpath(os.path.join(cwd, name), found.root), patterns):
            return "is not documentation"
    return None


def _existing(path: str) -> str:
    while not os.path.lexists(os.path.dirname(path)):
        path = os.path.dirname(path)
    return path


def _tool(payload: dict[str, object]) -> str:
    return (
        text_of(payload, "tool_name", "toolName")
        or text_of(object_of(payload, "event"), "toolName", "tool")
        or ""
    )


def checked(payload: dict[str, object], environ: Mapping[str, str]) -> Reply:
    """Answer one tool call of a doc-only agent: nothing, or exit 2 naming the file."""
    if _tool(payload) not in WRITERS:
        return Reply()
    try:
        fields = read(payload).fields
    except ValueError:
        fields = {}
    named = paths_of(fields)
    if not named:
        return blocked(f"only documentation may be written, and this {_tool(payload)} names no file")
    cwd = next(iter(place.folders(payload, environ)), "/")
    here = gitdir.discover(cwd)
    try:
        patterns = _patterns(here.root if here else cwd, environ)
    except RalphError:
        patterns = list(PATTERNS)
    home = _home(payload, environ)
    for path in named:
        wrong = _judge(path, cwd, here.common_dir if here else None, home, patterns)
        if wrong:
            return blocked(
                f"only documentation may be written: '{printable(path)[:300]}' {wrong}",
                f"allowed are {', '.join(patterns)}",
            )
    return Reply()


def _home(payload: dict[str, object], environ: Mapping[str, str]) -> str | None:
    agent_id = text_of(payload, "agent_id")
    layouts: list[Layout] = [lay for _, lay in place.layouts_of(payload, environ)]
    return next((home for lay in layouts if (home := helpers.home_of(lay, agent_id))), None)

"""Checks whether anything enforces the worktree policies that agents' definitions here state.

`install` registers hooks that record edits. A policy is enforced at a launch and at a stop, by hooks of the
plugin. Without the plugin nobody enforces the policy in an agent's definition.
"""

import os
import re
from collections.abc import Mapping

from gitralph.git.repository import Repository
from gitralph.setup.doctor.repository import Check

_STATED = re.compile(rb"^worktree_policy:[ \t]*(?:required|optional|none)\b", re.MULTILINE)
# A plugin that is switched on, as Claude Code's settings name it, or a hook on a subagent's stop.
_ENFORCED = re.compile(rb'"ralph@[^"]*"\s*:\s*true|"SubagentStop"[\s\S]*\bralph\b')
# An agent's definition is a page of text.
_LIMIT = 1 << 20
_FILES = 200
"""So many agent files are looked at; a folder with more is no person's."""


def unenforced(repo: Repository, environ: Mapping[str, str]) -> list[Check]:
    """A check that fails where an agent of Claude Code states a policy and nothing enforces it; else none."""
    folder = f"{repo.root}/.claude/agents"
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))[:_FILES]
    except OSError:
        return []
    stated = [name for name in names if _STATED.search(_content(f"{folder}/{name}"))]
    if not stated:
        return []
    user = environ.get("CLAUDE_CONFIG_DIR") or f"{environ.get('HOME', '')}/.claude"
    settings = [f"{repo.root}/.claude/settings.json", f"{repo.root}/.claude/settings.local.json"]
    if any(_ENFORCED.search(_content(path)) for path in (*settings, f"{user}/settings.json")):
        return [Check("worktree policies", True, f"stated by '{stated[0]}', enforced", None, fatal=False)]
    detail = f"'.claude/agents/{stated[0]}' states one, but no hook holds launches to it"
    return [Check("worktree policies", False, detail, "git ralph help policy", fatal=False)]


def _content(path: str) -> bytes:
    """What a file holds, through a link too: people keep their settings elsewhere. Empty where it is none."""
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(_LIMIT)
    except OSError:
        return b""

"""Tells by a cheap look at an event whether a policy has a say in it.

Fast lane: every recorded edit comes by here, so it starts nothing and imports nothing. Only for a stop
does it open files, the records of beads, to pass by those of other sessions.
"""

import os
import re

from gitralph.base import files, gitdir, layout
from gitralph.hook.agents.launching import LAUNCHERS, plain_type
from gitralph.hook.agents.writing import shell_command
from gitralph.hook.event import Event, owner_of

DOC_TYPES = frozenset(["scribe"])
_KINDS = {"worktree-create": "create", "worktree-remove": "remove"}
# A bead's record holds its prompt; what is larger was not written by us.
_RECORD_LIMIT = 4 << 20


def _is_on(text: str) -> bool:
    return text.lower() not in ("", "0", "false", "no", "off")


def _names(path: str, session: bytes) -> bool:
    """True when a bead's record names the session, or cannot be read: that is told to people."""
    try:
        data = files.read_bytes(path, _RECORD_LIMIT)
    except OSError:
        return True
    return not data.rstrip().endswith(b"}") or session in data


def _has_beads(event: Event, environ: dict[str, str]) -> bool:
    """True when a bead here may belong to the session of the event."""
    session = owner_of(event, environ)
    if session is None:
        return False
    named = [event.cwd, os.getcwd(), *(environ.get(name) for name in ("RALPH_ROOT", "CLAUDE_PROJECT_DIR"))]
    for folder in named:
        if not folder or folder[0] != "/" or "\0" in folder:
            continue
        place = gitdir.discover(os.path.realpath(folder))
        beads = f"{layout.state_folder(place)}/beads" if place is not None else ""
        if os.path.isdir(beads):
            names = [name for name in os.listdir(beads) if name.endswith(".json")]
            if any(_names(f"{beads}/{name}", session.encode()) for name in names):
                return True
    return False


# A shell command without one of these words throws nothing away, unless a git command of it is an alias.
_DISCARDS = re.compile(
    r"\b(?:checkout|restore|reset|stash|clean|switch|rm|unlink|read-tree|checkout-index)\b"
)
_REMOVES = re.compile(r"\bworktree\s+remove\b")
_GIT = re.compile(r"\bgit\s+((?:-[Cc]\s+\S+\s+|-\S+\s+)*)([\w-]+)")
# git takes no alias for a command of its own; these are what agents type, and they throw nothing away.
_HARMLESS = re.compile(
    r"add|am|apply|bisect|blame|branch|bundle|cat-file|check-ignore|cherry-pick|clone|commit|config|describe|diff|"
    r"fetch|fsck|gc|grep|hash-object|help|init|log|ls-files|ls-remote|ls-tree|merge|merge-base|mv|notes|pull|push|"
    r"ralph|range-diff|rebase|reflog|remote|rev-list|rev-parse|revert|shortlog|show|show-ref|status|submodule|"
    r"symbolic-ref|tag|update-index|update-ref|version|worktree|write-tree"
)


def _may_discard(text: str) -> bool:
    if _DISCARDS.search(text) or _REMOVES.search(text):
        return True
    return any(
        "alias." in options or _HARMLESS.fullmatch(name) is None for options, name in _GIT.findall(text)
    )


def kind_of(event: Event, environ: dict[str, str]) -> str | None:
    """``launch discard stop create remove start doc-only``, or None for what is only recorded."""
    doc_only = _is_on(environ.get("RALPH_DOC_ONLY", ""))
    if event.bare:
        return "doc-only" if doc_only else "launch"
    if event.ahead:
        if event.tool in LAUNCHERS or event.required:
            return "launch"
        if event.kind == "shell-pre" and environ.get("RALPH_TRACKING") != "0":
            text, _ = shell_command(event)
            if text is not None and _may_discard(text):
                return "discard"
        return "doc-only" if doc_only or plain_type(event.agent_type) in DOC_TYPES else None
    if event.stop is not None:
        return "stop" if _has_beads(event, environ) else None
    if event.kind == "subagent-start":
        return "start" if _has_beads(event, environ) else None
    return _KINDS.get(event.kind)

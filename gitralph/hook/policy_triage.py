"""Tells by a cheap look at an event whether a policy is concerned.

Fast lane. Every recorded edit passes here, so this starts nothing and imports nothing. Only for a stop it
opens files, the records of beads, to skip those of other sessions.
"""

import os
import re

from gitralph.base import files, gitdir, layout
from gitralph.hook.agents.launching import LAUNCHERS, plain_type
from gitralph.hook.agents.writing import shell_command
from gitralph.hook.event import Event, owner_of

DOC_TYPES = frozenset(["scribe"])
_KINDS = {"worktree-create": "create", "worktree-remove": "remove"}
# In bytes. A bead's record holds its prompt; a larger file was not written by us.
_RECORD_LIMIT = 4 << 20


def _is_on(text: str) -> bool:
    return text.lower() not in ("", "0", "false", "no", "off")


def _names(path: str, session: bytes) -> bool:
    """True when a bead's record names the session, or cannot be read, which people are told."""
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


def _has_word(event: Event, environ: dict[str, str]) -> bool:
    """True when a person left a word for the stopping agent; a subagent gets none."""
    session = owner_of(event, environ)
    if session is None or event.kind != "stop" or event.agent_id is not None or event.parent is not None:
        return False
    folder = event.cwd if event.cwd and event.cwd[0] == "/" and "\0" not in event.cwd else os.getcwd()
    place = gitdir.discover(os.path.realpath(folder))
    if place is None:
        return False
    return os.path.lexists(layout.Layout(layout.state_folder(place), layout.MAIN).word(session))


# A shell command without one of these words throws nothing away and commits nothing, unless it calls a git
# alias. These are texts, not compiled patterns: an edit never comes so far, and compiling costs each hook a
# millisecond.
_DISCARDS = (
    r"(?<!ralph )\bcommit\b|"
    r"\b(?:checkout|restore|reset|stash|clean|switch|rm|unlink|read-tree|checkout-index|worktree\s+remove|"
    r"submodule\b.*\b(?:update|deinit))\b"
)
# git takes no alias for a command of its own. Agents type these commands, and they throw nothing away.
_HARMLESS = (
    " add am apply bisect blame branch bundle cat-file check-ignore cherry-pick clone commit config describe "
    "diff fetch fsck gc grep hash-object help init log ls-files ls-remote ls-tree merge merge-base mv notes "
    "pull push ralph range-diff rebase reflog remote rev-list rev-parse revert shortlog show show-ref status "
    "submodule symbolic-ref tag update-index update-ref version worktree write-tree "
)
_MARKS = "\"'`();|&$"
# Nobody types more options before git's command; with more the command is examined closely.
_OPTIONS = 20


def _may_discard(text: str) -> bool:
    if re.search(_DISCARDS, text):
        return True
    words = text.split() if "git" in text else []
    return any(
        _may_be_alias(words, at) for at, word in enumerate(words) if word.strip(_MARKS).endswith("git")
    )


def _may_be_alias(words: list[str], at: int) -> bool:
    """True where the git command after a word is none of the known commands of git."""
    for _ in range(_OPTIONS):
        at += 1
        if at >= len(words):
            return False
        if words[at][:1] != "-":
            return f" {words[at].strip(_MARKS)} " not in _HARMLESS
        if words[at] in ("-C", "-c"):
            at += 1
            if words[at : at + 1] and words[at].strip(_MARKS).lower().startswith("alias."):
                return True
    return True


def kind_of(event: Event, environ: dict[str, str]) -> str | None:
    """The policy concerned, ``launch discard stop create remove start doc-only``, or None for none."""
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
        return "stop" if _has_beads(event, environ) or _has_word(event, environ) else None
    if event.kind == "subagent-start":
        return "start" if _has_beads(event, environ) else None
    return _KINDS.get(event.kind)

"""Where the transcripts of a session lie, and reading one, in bounded memory.

The agent's payload says which file it is. So the file is opened with care: no link, no pipe, no device,
nobody else's file. Its contents are never stored here.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from gitralph.base import files, jsonline
from gitralph.base.ids import is_valid
from gitralph.git.context import Context
from gitralph.hook import sessionfile

# In bytes. Long sessions have transcripts of hundreds of megabytes; this stops only what grows without end.
_LIMIT = 2 << 30
# No session starts more subagents.
_SUBAGENTS = 2000
PLACES = {
    "claude-code": ".claude/projects/*/{id}.jsonl",
    "codex": ".codex/sessions/*/*/*/rollout-*-{id}.jsonl",
    "qwen": ".qwen/projects/*/chats/{id}.jsonl",
    "copilot": ".copilot/session-state/{id}/events.jsonl",
    "gemini": ".gemini/tmp/*/chats/session-*-{short}.jsonl",
    "pi": ".pi/agent/sessions/*/*_{id}.jsonl",
}
"""Where agents keep the transcript of a session, below the home folder."""


class Known(NamedTuple):
    """A session's transcripts that exist, and whether another one is gone."""

    agent: str | None
    paths: tuple[str, ...] = ()
    gone: bool = False


def placed(ctx: Context, agent: str, session: str) -> str | None:
    """The transcript of an agent's session, by its id; None where there is none, or more than one."""
    home = ctx.environ.get("HOME", "")
    if home[:1] != "/" or agent not in PLACES:
        return None
    wanted = PLACES[agent].format(id=glob.escape(session), short=glob.escape(session[:8]))
    found = sorted(glob.glob(f"{glob.escape(home)}/{wanted}"))
    # Two files of one id mean a copy, and nobody knows which one is the session's.
    return found[0] if len(found) == 1 else None


def of(ctx: Context, session: str) -> Known:
    """The transcripts of a session: the one that its record names, and those of the agent's own ids."""
    kept = sessionfile.read(ctx.layout, session) or {}
    agent, path, aliases = kept.get("agent"), kept.get("transcript"), kept.get("aliases")
    if not isinstance(agent, str) or agent not in PLACES:
        return Known(None)
    named = [path] if isinstance(path, str) and path[:1] == "/" and "\0" not in path else []
    found = [one for one in named if os.path.lexists(one)]
    gone = bool(named) and not found
    own = [one for one in aliases if isinstance(one, str)] if isinstance(aliases, list) else []
    for name in [one for one in (session, *own) if is_valid(one)]:
        there = placed(ctx, agent, name)
        if there is not None and there not in found:
            found.append(there)
        # the session has a conversation whose transcript is nowhere
        gone = gone or (there is None and name in own and not any(name in one for one in found))
    return Known(agent, tuple(found), gone)


def subagent(agent: str, path: str, agent_id: str) -> str | None:
    """The transcript of a subagent that has its own, beside its parent's (Claude Code 2.1)."""
    if agent != "claude-code" or not path.endswith(".jsonl") or not is_valid(agent_id):
        return None
    return f"{path.removesuffix('.jsonl')}/subagents/agent-{agent_id}.jsonl"


def subagents(agent: str, path: str) -> list[str]:
    """The transcripts of all subagents, beside their parent's."""
    if agent != "claude-code" or not path.endswith(".jsonl"):
        return []
    folder = f"{path.removesuffix('.jsonl')}/subagents"
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    own = [name for name in names if name.startswith("agent-") and name.endswith(".jsonl")]
    return [f"{folder}/{name}" for name in own[:_SUBAGENTS]]


def lines(path: str) -> Iterator[bytes]:
    """The lines of a transcript. Raises OSError for anything but a file of the user's own."""
    fd = files.open_foreign(path)
    try:
        about = os.fstat(fd)
        if about.st_uid != os.geteuid() or not stat.S_ISREG(about.st_mode):
            raise PermissionError(f"{path}: not a file of yours")
        if about.st_size > _LIMIT:
            raise OSError(f"{path}: too large")
        yield from jsonline.stream(lambda size: os.read(fd, size))
    finally:
        os.close(fd)

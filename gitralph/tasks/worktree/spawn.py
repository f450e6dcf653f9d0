"""``git ralph worktree spawn``: says what the next launch shall get, for agents that drop unknown fields."""

import json
import os
import time
from dataclasses import asdict, dataclass

from gitralph.base import files
from gitralph.base.errors import UsageError
from gitralph.base.layout import Layout
from gitralph.git.context import Context
from gitralph.tasks.worktree import where

POLICIES = ("required", "optional", "none")
# In bytes. This bounds memory, not use: a record has a few words.
_LIMIT = 1 << 16


@dataclass(frozen=True)
class Spawn:
    """One record. ``agent_type`` and ``session`` None fit every launch."""

    bead: str
    policy: str
    agent_type: str | None = None
    session: str | None = None
    spawn_mode: str | None = None
    max_iterations: int | None = None
    completion_promise: str | None = None


def spawn(ctx: Context, record: Spawn) -> str:
    """Write a record; returns its file name."""
    where.checked(record.bead)
    if record.policy not in POLICIES:
        raise UsageError(f"'{record.policy}' is not a policy", f"use {', '.join(POLICIES)}")
    files.make_folder(ctx.layout.spawns)
    name = f"{time.time_ns():020d}-{os.urandom(3).hex()}.json"
    data = json.dumps({"v": 1, **asdict(record)}).encode("ascii") + b"\n"
    files.write_whole(f"{ctx.layout.spawns}/{name}", data, exclusive=True)
    return name


def _load(path: str) -> Spawn | None:
    try:
        fields = json.loads(files.read_bytes(path, _LIMIT))
        fields.pop("v", None)
        found = Spawn(**fields)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    return found if found.policy in POLICIES else None


def take(layout: Layout, agent_type: str | None, session: str | None) -> Spawn | None:
    """Take away the oldest record that fits a launch, so that no other launch gets it."""
    for name in files.names(layout.spawns, ".json"):
        path = f"{layout.spawns}/{name}"
        found = _load(path)
        if found is None or (found.agent_type or agent_type) != agent_type:
            continue
        if (found.session or session) != session:
            continue
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue  # another launch was quicker
        return found
    return None

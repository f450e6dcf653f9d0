"""Which policy a launch has: by its fields, a header, a spawn record, configuration; never by prose."""

import os
from dataclasses import dataclass, replace

from gitralph.base import ids, lost_worktree
from gitralph.git.context import Context
from gitralph.hook.agents.launching import Launch
from gitralph.tasks.worktree import spawn
from gitralph.tasks.worktree.spawn import POLICIES

KEYS = (
    "worktree_policy",
    "bead_id",
    "worktree_path",
    "spawn_mode",
    "max_iterations",
    "completion_promise",
    "base",
    "take_over",
)


class BadWishError(Exception):
    """A field of a launch has an impossible value; the message names both."""


@dataclass(frozen=True)
class LaunchWish:
    """What a launch asks for. ``source`` names the rule that decided, for people."""

    policy: str | None = None
    bead: str | None = None
    path: str | None = None
    restart: bool = False
    max_iterations: int | None = None
    promise: str | None = None
    base: str | None = None
    take_over: bool = False
    source: str = "nothing"


def header(prompt: str | None) -> dict[str, object]:
    """The ``key: value`` lines at the very start of a prompt, between ``---`` lines or up to another line.

    A line with none of our keys ends the header. A prompt that starts with anything else has none.
    """
    lines = (prompt or "").split("\n")
    # Front matter as in Markdown files, or bare lines; the first other line ends it, so that prose below
    # that looks like a key decides nothing.
    fenced = lines[0].strip() == "---"
    found: dict[str, object] = {}
    for line in lines[1:] if fenced else lines:
        key, colon, value = line.partition(":")
        if not colon or key not in KEYS:
            if not fenced or line.strip() == "---":
                break
            continue
        # YAML allows quotes around a value, and models write them.
        text = value.strip().strip("\"'")
        found[key] = int(text) if key == "max_iterations" and text.isdigit() else text
    return found


def _text(fields: dict[str, object], key: str) -> str | None:
    value = fields.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadWishError(f"'{key}' is {_shown(value)}, not a text")
    return value or None


def _shown(value: object) -> str:
    return "null" if value is None else repr(value)[:60]


def wish_of(fields: dict[str, object], source: str) -> LaunchWish:
    """Read a launch's fields. Raises BadWishError."""
    policy = fields.get("worktree_policy")
    if "worktree_policy" in fields and policy not in POLICIES:
        raise BadWishError(f"worktree_policy is {_shown(policy)}; it is one of {', '.join(POLICIES)}")
    if policy == "none":
        return LaunchWish("none", source=source)
    bead = _text(fields, "bead_id")
    if bead is not None and not ids.is_bead(bead):
        raise BadWishError(f"bead_id '{bead[:60]}' is not a bead id: {ids.BEAD_RULE}")
    limit = fields.get("max_iterations")
    # bool is an int to Python: true is no count.
    if limit is not None and (type(limit) is not int or limit < 0):
        raise BadWishError(f"max_iterations is {_shown(limit)}, not a count")
    mode = _text(fields, "spawn_mode")
    return LaunchWish(
        policy=policy if isinstance(policy, str) else None,
        bead=bead,
        path=_text(fields, "worktree_path"),
        restart=mode == "restart",
        max_iterations=limit if isinstance(limit, int) else None,
        promise=_text(fields, "completion_promise"),
        base=_text(fields, "base"),
        take_over=fields.get("take_over") in (True, "true"),
        source=source,
    )


def _over(upper: LaunchWish, lower: LaunchWish) -> LaunchWish:
    """Two wishes as one: ``lower`` fills what ``upper`` leaves open."""
    return replace(
        upper,
        policy=upper.policy or lower.policy,
        bead=upper.bead or lower.bead,
        path=upper.path or lower.path,
        restart=upper.restart or lower.restart,
        max_iterations=lower.max_iterations if upper.max_iterations is None else upper.max_iterations,
        promise=upper.promise or lower.promise,
        base=upper.base or lower.base,
        take_over=upper.take_over or lower.take_over,
        source=upper.source if upper.policy else lower.source,
    )


def _spawned(ctx: Context, launch: Launch, session: str | None) -> LaunchWish:
    found = spawn.take(ctx.layout, launch.agent_type, session)
    if found is None:
        return LaunchWish()
    return LaunchWish(
        found.policy,
        found.bead,
        None,
        found.spawn_mode == "restart",
        found.max_iterations,
        found.completion_promise,
        source="a spawn record",
    )


def _configured(ctx: Context, launch: Launch) -> LaunchWish:
    if launch.agent_type is None:
        return LaunchWish()
    key = f"ralph.policy.{launch.agent_type.lower()}"
    value = ctx.config.get(key)
    if value is None:
        return LaunchWish()
    return wish_of({"worktree_policy": value}, f"'{key}'")


def stated(launch: Launch) -> LaunchWish:
    """What the launch itself says, in fields or header. Raises BadWishError."""
    given = wish_of(launch.fields, "the tool's input")
    if given.policy == "none":
        return given
    return _over(given, wish_of(header(launch.prompt), "the prompt's header"))


def decide(ctx: Context, launch: Launch, session: str | None, said: LaunchWish) -> LaunchWish:
    """The whole wish: what the launch says, then a spawn record, then configuration. Raises BadWishError."""
    if said.policy == "none":
        return said
    # A spawn record is for launches whose text cannot be changed. A launch with fields of its own needs none,
    # and leaves the record for the next launch.
    if said.policy is None and said.bead is None and said.path is None:
        said = _over(said, _spawned(ctx, launch, session))
    return said if said.policy else _over(said, _configured(ctx, launch))


def bead_of(wish: LaunchWish, root: str) -> str | None:
    """The bead a wish means, from its id or its path. Raises BadWishError where the two do not fit."""
    if wish.path is None:
        return wish.bead
    home = f"{root}/{lost_worktree.FOLDER}/{lost_worktree.PREFIX}"
    full = os.path.join(root, wish.path).rstrip("/")
    bead = full[len(home) :] if full.startswith(home) else ""
    # `join` would keep the dots, and a link in the path may lead out of the folder.
    if ".." in wish.path.split("/") or not ids.is_bead(bead):
        raise BadWishError(
            f"worktree_path '{wish.path[:80]}' is no place for a bead: it is '.worktrees/ralph-<bead>'"
        )
    if wish.bead not in (None, bead):
        raise BadWishError(f"worktree_path '{wish.path[:80]}' is not the place of bead '{wish.bead}'")
    return bead

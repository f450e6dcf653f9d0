"""The hooks of a narrowed commit after ``pre-commit``: they give the index back, sign, and log.

Where an earlier hook is missing, a later one does its work too.
"""

import os

from gitralph.base import locks
from gitralph.base.errors import Refused
from gitralph.git import index, message
from gitralph.git.context import Context
from gitralph.git.message import Cleanup
from gitralph.git.plain_index import AS_IS, Given
from gitralph.guard import recover_narrowed
from gitralph.records import intents
from gitralph.records.intents import Narrowed


def _own(ctx: Context, git: dict[str, object]) -> Narrowed | None:
    pid = git["pid"]
    found = intents.of_process(ctx.layout, pid) if isinstance(pid, int) else None
    # A pid may be used again. Then it is another git, and the next command settles the dead one's intent.
    return found if found is not None and found.git.get("start") == git.get("start") else None


def has_read(ctx: Context, git: dict[str, object]) -> None:
    """``prepare-commit-msg``: git has read its index, so the user's own index is put back.

    Where the commit changes it, the user's index is brought up to date instead. Raises Refused, with the
    user's index back, where git read another tree than the session's.
    """
    todo = _own(ctx, git)
    if todo is None or not todo.form:
        return
    place = recover_narrowed.place_of(ctx.repo, todo)
    is_it = _is_narrowed(ctx, todo, place)
    _give_back(ctx, todo, place)
    if not is_it:
        raise Refused(
            "a hook changed what is staged after the guard had looked; nothing was committed",
            "git ralph install --guard  # puts the guard behind the others",
        )


def _is_narrowed(ctx: Context, todo: Narrowed, place: Given) -> bool:
    narrowed, final = (todo.prepared.get(kind, "") for kind in ("narrowed", "final"))
    if (todo.form == AS_IS and not os.path.exists(narrowed)) or index.is_ours(place.read, narrowed):
        return True
    if index.is_ours(place.read, final):
        return True
    copy = index.copy_index(place.read, f"{ctx.layout.tmp}/{os.getpid()}-{os.urandom(4).hex()}.index")
    git = ctx.git.at(GIT_INDEX_FILE=copy.path)
    try:
        return git.line("-c", "core.fsmonitor=false", "write-tree") == todo.tree
    finally:
        copy.remove()


def _give_back(ctx: Context, todo: Narrowed, place: Given) -> None:
    if todo.form == AS_IS:
        recover_narrowed.give_back(ctx.repo, ctx.layout, todo)
    elif os.path.exists(todo.prepared.get("final", "")) and os.path.lexists(place.lock):
        # git holds this lock, and makes this file the user's index once the commit is made
        index.put(todo.prepared["final"], place.lock)


def sign(ctx: Context, git: dict[str, object], name: str) -> None:
    """``commit-msg``: end the message in the file ``name`` with the session's trailers."""
    has_read(ctx, git)
    todo = _own(ctx, git)
    if todo is None:
        return
    with open(name, "rb") as file:
        text = file.read()
    edited = ctx.environ.get("GIT_EDITOR") != ":"
    mode = ctx.config.choice("commit.cleanup", "default", *message.MODES)
    cleanup = Cleanup.of(mode, edited, ctx.config.get("core.commentchar")).with_character(text)
    body, tail = cleanup.parts(text) if edited else (text, b"")
    body = cleanup.tidy(ctx.git, body)
    last = [row.encode() for row in todo.trailers]
    # else the message is empty and git refuses it
    if any(row.strip() and row not in last for row in body.split(b"\n")):
        with open(name, "wb") as file:
            file.write(message.add_trailers(ctx.git, body, [], last) + tail)


def made(ctx: Context, git: dict[str, object]) -> None:
    """``post-commit``: log what the commit took."""
    todo = _own(ctx, git)
    if todo is not None:
        with locks.hold(ctx.layout, locks.COMMIT):
            recover_narrowed.settle(ctx, todo)

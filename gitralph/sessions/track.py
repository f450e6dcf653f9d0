"""``git ralph track`` and ``ls-files``: paths claimed by hand, and pending paths."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gitralph.base import gitdir, layout
from gitralph.base.errors import Fatal, Refused
from gitralph.base.quote import shown
from gitralph.git.context import Context
from gitralph.hook import record, sessionfile, shellforms
from gitralph.hook.journal import NONE, Record
from gitralph.hook.locate import OutsideError, Target
from gitralph.sessions import transcript_claims


def _targets(ctx: Context, paths: Sequence[bytes]) -> list[Target]:
    """All of these paths as targets. Raises Fatal where one is not in this repository."""
    found = []
    for path in paths:
        try:
            target = ctx.locate(os.fsdecode(path))
        except OutsideError as error:
            raise Fatal(f"'{shown(path)}' cannot be tracked: {error}") from None
        if target.place.common_dir != ctx.repo.common_dir:
            raise Fatal(f"'{shown(path)}' belongs to another repository, '{target.place.root}'")
        found += _files(target)
    return found


def _files(target: Target) -> list[Target]:
    """The files in a folder; a folder with a ``.git`` stands for itself, as a submodule."""
    file = target.file
    if os.path.islink(file) or not os.path.isdir(file) or os.path.lexists(file + "/.git"):
        return [target]
    out = []
    for name in sorted(os.listdir(file)):
        inner = f"{file}/{name}"
        path = target.path + b"/" + os.fsencode(name)
        out += _files(Target(target.place, path, inner))
    return out


def _warn_of_nothing(ctx: Context, targets: Sequence[Target]) -> None:
    """Warn of a path that exists nowhere: most likely it is misspelt.

    It may be claimed before it is written.
    """
    for target in targets:
        if os.path.lexists(target.file):
            continue
        git = ctx.outer.elsewhere(target.place.root, GIT_LITERAL_PATHSPECS="1")
        if target.place.root == ctx.repo.root:
            git = ctx.git.at(target.place.root, GIT_LITERAL_PATHSPECS="1")
        if git.run("ls-files", "-z", "--", target.path):
            continue
        if git.try_run("ls-tree", "-z", "HEAD", "--", target.path).stdout:
            continue
        ctx.warn(
            f"'{shown(target.path)}' is neither on disk nor in HEAD nor in the index; claimed all the same"
        )


def _note(target: Target, session: str) -> None:
    lay = layout.for_place(target.place)
    sessionfile.ensure(lay, session, target.place)
    disk = record.look(target.file)
    op = "delete" if disk.mode is None else "edit"
    step = Record(
        # There is no text before: a person says that the path is the session's, not what the session did.
        session,
        op,
        None,
        disk.oid,
        NONE,
        mode=(None, disk.mode),
        unknown_before=True,
        tool="track",
        shells=shellforms.mark(lay),
        ts=sessionfile.now(),
        head=gitdir.head_oid(target.place),
    )
    record.write(lay, session, target.path, step, None)


def track(ctx: Context, session: str, paths: Sequence[bytes]) -> int:
    """Record that ``session`` changed ``paths`` (relative to the cwd); returns how many."""
    targets = _targets(ctx, paths)
    _warn_of_nothing(ctx, targets)
    try:
        for target in targets:
            _note(target, session)
    except OSError as error:
        raise Fatal(f"cannot record: {error.strerror or error}") from error
    return len(targets)


def track_transcript(ctx: Context, session: str) -> list[bytes]:
    """Claim the uncommitted files that the session's transcript names.

    Raises Refused when hooks did record edits of the session: those are better evidence.
    """
    if not transcript_claims.is_empty(ctx, session):
        raise Refused(
            f"hooks recorded edits of session '{ctx.called(session)}'; its transcript is no better",
            f"git ralph commit --session {ctx.called(session)}  # takes what they recorded",
        )
    found = transcript_claims.named_paths(ctx, session)[1]
    root = os.fsencode(ctx.repo.root)
    track(ctx, session, [root + b"/" + path for path in found])
    return found

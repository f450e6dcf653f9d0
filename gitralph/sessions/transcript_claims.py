"""Offers the files that a session's transcript names, where no hook recorded anything for the session.

They are never taken unasked. A transcript tells what an agent meant to write, not what the files hold. So
only uncommitted paths of this worktree are offered, and only by their path.
"""

import os

from gitralph.base import files, jsonline
from gitralph.decide import pending_paths
from gitralph.git import uncommitted
from gitralph.git.context import Context
from gitralph.hook import locate, sessionfile
from gitralph.records import manifests, path_records
from gitralph.sessions import transcript, transcript_files

# In bytes. Long sessions have transcripts of tens of megabytes; what comes later is not offered.
_LIMIT = 128 << 20


def is_empty(ctx: Context, session: str) -> bool:
    """True when no manifest of the session or its children has a line, whether a commit told of it or not."""
    family = path_records.family(ctx.layout, session)
    return not any(manifests.read(ctx.layout, name).lines for name in family)


def find(ctx: Context, session: str) -> tuple[str, str] | None:
    """The agent and the transcript of a session: as its record tells, else where such agents keep theirs."""
    kept = sessionfile.read(ctx.layout, session) or {}
    agent, path = kept.get("agent"), kept.get("transcript")
    if agent in transcript.AGENTS and isinstance(path, str) and os.path.isfile(path):
        return str(agent), path

    for name in transcript.AGENTS:
        if agent in transcript.AGENTS and name != agent:
            continue
        found = transcript_files.placed(ctx, name, session)
        if found is not None:
            return name, found
    return None


def named_paths(ctx: Context, session: str) -> tuple[str, list[bytes]]:
    """The agent, and the uncommitted paths of this worktree that the transcript names, sorted."""
    where = find(ctx, session)
    if where is None:
        return "", []
    agent, path = where
    try:
        data = files.read_bytes(path, _LIMIT, foreign=True)
    except OSError:
        return agent, []
    known = set()
    for written in transcript.paths(agent, jsonline.objects(data)):
        try:
            target = locate.locate(ctx.repo.root, written, ctx.environ, follow=True)
        except (locate.OutsideError, OSError, ValueError):
            continue
        if target.place.root == ctx.repo.root:
            known.add(target.path)
    return agent, _uncommitted(ctx, known)


def _uncommitted(ctx: Context, paths: set[bytes]) -> list[bytes]:
    dirty = uncommitted.dirty_paths(ctx.repo, ctx.config, paths) if paths else []
    # What another session recorded is better evidence than what a transcript says.
    taken = pending_paths.by_path(pending_paths.everyone(ctx)) if dirty else {}
    return [path for path in dirty if path not in taken]


def ways(ctx: Context, session: str) -> list[str]:
    """Hints where no hook recorded anything of a session but its transcript names files of ours."""
    if not is_empty(ctx, session) or not named_paths(ctx, session)[1]:
        return []
    return [f"git ralph track --from-transcript --session {ctx.called(session)}"]

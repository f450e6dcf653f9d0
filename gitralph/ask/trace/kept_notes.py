"""Keeps git-ai's notes beside our commits, where ``ralph.notes`` asks for it.

Each commit of a session gets a note in ``refs/notes/ai``. A commit that git rewrote is a new commit, and gets
its note from the next command of git ralph. A note that is there already stays. Only where git copied a note
of ours from the commit that it rewrote is it written again.

Many commands ask here, and few repositories keep notes: what writes them is imported only there.
"""

from __future__ import annotations

import os
from collections.abc import Container, Sequence

from gitralph.ask import notes
from gitralph.base import files
from gitralph.base.errors import RalphError
from gitralph.git import refs
from gitralph.git.context import Context

KEY = "ralph.notes"
OFF, GIT_AI = "off", "git-ai"
_MOST = 2000
"""The most commits looked at in one go: a clone that turns this on must not wait for its whole history."""


def write_new_notes(ctx: Context) -> None:
    """Write the notes that HEAD's new commits lack. A failure is a warning: no command fails for it."""
    if not _are_wanted(ctx):
        return
    head = refs.read_head(ctx.repo).oid
    seen = _seen(ctx)
    if head is None or head == seen or not os.path.isdir(ctx.layout.own):
        return

    try:
        _write(ctx, _since(ctx, head, seen))
        files.write_whole(ctx.layout.noted, head.encode() + b"\n")
    except (RalphError, OSError) as error:
        ctx.warn(f"no note could be written to '{notes.REF}': {error}")


def add(ctx: Context, commits: Sequence[str]) -> None:
    """Write the notes of commits that HEAD does not have, such as those of a new branch."""
    if not _are_wanted(ctx):
        return
    try:
        _write(ctx, list(commits)[-_MOST:])
    except (RalphError, OSError) as error:
        ctx.warn(f"no note could be written to '{notes.REF}': {error}")


def _are_wanted(ctx: Context) -> bool:
    """What the configuration says. The commit may have landed by now, so a bad value is a warning, too."""
    try:
        return ctx.config.choice(KEY, OFF, GIT_AI) != OFF
    except RalphError as error:
        ctx.warn(f"{error.message}; no notes are written")
        return False


def _seen(ctx: Context) -> str | None:
    try:
        return files.read_bytes(ctx.layout.noted, 64).decode("ascii", "replace").strip()
    except OSError:
        return None


def _since(ctx: Context, head: str, seen: str | None) -> list[str]:
    """The commits of ``head`` since ``seen``, oldest first; without a ``seen``, those that no remote has."""
    known = seen is not None and ctx.git.try_run("cat-file", "-e", f"{seen}^{{commit}}").returncode == 0
    rest = [f"^{seen}"] if known else ["--not", "--remotes"]
    said = ctx.git.try_run("rev-list", f"-{_MOST}", "--topo-order", "--no-merges", head, *rest, "--")
    return said.stdout.decode().split()[::-1] if said.returncode == 0 else []


def _write(ctx: Context, commits: list[str]) -> None:
    if not commits:
        return
    from gitralph.ask.trace import git_ai  # where notes are kept
    from gitralph.ask.trace.agent_trace import records, revision  # where notes are kept
    from gitralph.ask.whose import Makers  # where notes are kept

    there = notes.texts(ctx, commits)
    ours = Makers(ctx).by_hash if there else {}
    for row in records(ctx, commits):
        commit, text = revision(row), git_ai.note(row)
        if text is None:
            continue
        old = there.get(commit)
        if old is None or (old != text.encode() and _is_copied(old, commit, ours)):
            git_ai.write(ctx, commit, text, replace=old is not None)


def _is_copied(note: bytes, commit: str, ours: Container[str]) -> bool:
    """Tell whether a note is one of ours for another commit, as ``notes.rewriteRef`` leaves it."""
    sessions, base = notes.facts(note)
    return bool(sessions) and base != commit and all(one in ours for one in sessions)

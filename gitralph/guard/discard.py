"""Denies an agent's shell command that would throw away uncommitted lines of another session or a person.

Also a plain `git commit` beside such lines where git does not run the guard that ``ralph.guard`` asks for.
The files as they stand now decide, not the words of the command. So a reset that takes away only the
session's own lines goes on.
"""

from __future__ import annotations

import os
import shlex
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from gitralph.base import nul
from gitralph.base.errors import RalphError
from gitralph.base.quote import printable, shown
from gitralph.commit import guard_script
from gitralph.decide import offers, open_lines
from gitralph.decide.open_lines import OpenPath
from gitralph.git import uncommitted
from gitralph.git.context import Context, open_context
from gitralph.git.typed import as_pathspec
from gitralph.guard.discards import COMMIT, HEAD, INDEX, NOTHING, Discard
from gitralph.guard.reply import Reply, context, denied
from gitralph.hook import entry
from gitralph.hook.event import Event, session_of
from gitralph.records import path_records

REFUSE, WARN, OFF = "refuse", "warn", "off"
# The agent waits, so a file that was not looked at within this time passes.
_SECONDS = 10.0
_PATHS = 2_000
# So many paths show what is meant; `git ralph status` has the whole list.
_SHOWN = 4

Losses = dict[bytes, Counter[str | None]]
"""For each path how many lines of each owner would be gone.

The owner None means that nobody recorded the lines. The number 0 means something without lines.
"""


def answer(event: Event, found: Sequence[Discard], environ: Mapping[str, str]) -> Reply:
    """What to tell an agent whose command would throw away ``found``."""
    session = session_of(event, environ)
    reply = Reply()
    if session is None:
        return reply
    deadline = time.monotonic() + _SECONDS
    for one in found:
        if not os.path.isdir(one.folder):
            continue
        os.chdir(one.folder)
        try:
            ctx = open_context(environ)
        except RalphError:
            continue  # there is no repository, or one that we must not touch
        with closing(ctx.repo):
            mode = REFUSE if one.kind == COMMIT else _mode(ctx)
            try:
                lost, own = _lost(ctx, one, session, deadline) if mode != OFF else ({}, [])
            except RalphError:  # git itself says what is wrong with the command when it runs
                entry.log(ctx.layout, f"'{one.kind}' was let pass: git cannot tell what it would touch")
                continue
            if not lost:
                continue
            entry.log(ctx.layout, _logged(ctx, one, mode, session, len(lost)))
            said, hints = _sentence(ctx, one, lost), _ways_out(ctx, event, one, session, own)
            if mode == REFUSE:
                return denied(event.agent, said, *hints)
            reply.out = reply.out or context(event.agent, "; ".join((said, *hints)))
    return reply


def _mode(ctx: Context) -> str:
    value = ctx.config.get("ralph.discard") or REFUSE
    if value not in (REFUSE, WARN, OFF):
        entry.log(ctx.layout, f"bad value '{printable(value)}' for 'ralph.discard', taken for '{REFUSE}'")
        return REFUSE
    return value


def _logged(ctx: Context, one: Discard, mode: str, session: str, count: int) -> str:
    """What is logged of the command; its own text is never kept."""
    done = "denied" if mode == REFUSE else "warned of"
    paths = f"{count} path{'s'[: count != 1]}"
    return f"{done} '{one.kind}' of session '{ctx.called(session)}': others' lines in {paths}"


# --- what would be gone ---


def _touched(ctx: Context, one: Discard) -> dict[bytes, str]:
    """The uncommitted paths that the command would write over, each with git's two letters."""
    specs = one.specs or ((":/",) if one.folder != ctx.repo.root else ())
    if one.literal:
        specs = tuple(f":(literal,top){spec}" for spec in one.specs)
    found = uncommitted.dirty(ctx.repo, ctx.config, typed=specs)
    buried = _untracked_folders(ctx, specs) if one.shallow else ()
    out = {}
    for path, letters in found.items():
        if "U" in letters or letters in ("AA", "DD"):
            continue  # a merge put that entry there
        if letters == "??":
            wanted = one.untracked and not path.startswith(buried)
        else:
            wanted = one.tracked and not (one.then == INDEX and letters[1] == " ")
            wanted = wanted and not (one.staged and letters[0] == " ")
        if wanted:
            out[path] = letters
    return out


def _untracked_folders(ctx: Context, specs: Sequence[str]) -> tuple[bytes, ...]:
    words = ("--others", "--directory", "--exclude-standard", "--full-name", "-z", "--", *specs)
    return tuple(row for row in nul.rows(ctx.repo.git.run("ls-files", *words)) if row.endswith(b"/"))


def _lost(ctx: Context, one: Discard, session: str, deadline: float) -> tuple[Losses, list[bytes]]:
    """The lines of others that would be gone, and the paths in which the session would lose some."""
    touched = _touched(ctx, one)
    own = set(path_records.family(ctx.layout, session))
    out: Losses = {}
    ours = []
    for path, found in _read(ctx, list(touched)[:_PATHS], deadline):
        after = _after(ctx, one, path, touched[path], found)
        if after is None and one.overlay:
            continue
        left = found.lost(after)
        counts: Counter[str | None] = Counter(line.owner for line in left.lines)
        counts.update(dict.fromkeys(left.whole - set(counts), 0))
        if None in counts and offers.explain(ctx, path, own):
            del counts[None]
        theirs: Counter[str | None] = Counter({who: n for who, n in counts.items() if who not in own})
        if theirs:
            out[path] = theirs
        if len(theirs) < len(counts):
            ours.append(path)
    return out, sorted(ours)


def _read(ctx: Context, paths: Sequence[bytes], deadline: float) -> Iterator[tuple[bytes, OpenPath]]:
    for row in open_lines.read(ctx, paths):
        yield row
        if time.monotonic() > deadline:
            entry.log(ctx.layout, "a command was let pass: not every path could be looked at in time")
            return


def _after(ctx: Context, one: Discard, path: bytes, letters: str, found: OpenPath) -> bytes | None:
    """The text that the file would hold afterwards."""
    if one.then == NOTHING:
        return None
    if one.then == HEAD or (one.then == INDEX and letters[0] == " "):
        return found.head
    name = b":" + path if one.then == INDEX else os.fsencode(one.tree) + b":" + path
    done = ctx.git.at(ctx.repo.root).try_run("cat-file", "blob", name)
    return done.stdout if done.returncode == 0 else None


# --- what is said ---


def _sentence(ctx: Context, one: Discard, lost: Losses) -> str:
    rows = [_row(ctx, path, lost[path]) for path in sorted(lost)[:_SHOWN]]
    more = len(lost) - len(rows)
    rows += [f"others in {more} more path{'s'[: more != 1]}"] if more > 0 else []
    does, why = "would throw away", ""
    if one.kind == COMMIT:
        does, why = "may take", f", for no hook in '{ctx.repo.hooks_dir}' is the guard's any more"
    return f"'{one.kind}' {does} uncommitted work of others{why}: {', '.join(rows)}"


def _row(ctx: Context, path: bytes, counts: Mapping[str | None, int]) -> str:
    said = []
    for who, count in sorted(counts.items(), key=lambda row: (row[0] is None, str(row[0]))):
        lines = f"{count} line{'s'[: count != 1]}" if count else "what"
        if who is None:
            said.append(f"{lines} that no session recorded" if count else "what no session recorded")
        else:
            whose = f"session '{ctx.called(who)}'"
            said.append(f"{lines} of {whose}" if count else f"what {whose} changed")
    return f"{' and '.join(said)} in '{shown(path)}'"


def _ways_out(ctx: Context, event: Event, one: Discard, session: str, own: Sequence[bytes]) -> list[str]:
    """Hints: commands that keep to the session's own lines, where it has any in these paths."""
    out = []
    stands = event.cwd is not None and os.path.realpath(event.cwd) == os.path.realpath(one.folder)
    git = "git" if stands else f"git -C {shlex.quote(one.folder)}"
    if one.kind == COMMIT:
        named = f"--session {shlex.quote(ctx.called(session))}"
        return [
            f"{git} ralph install --guard={guard_script.NARROW}  # puts the guard back; then commit again",
            f"{git} ralph commit {named} -m <message>  # commits only your own lines",
        ]
    if own:
        named = f"--session {shlex.quote(ctx.called(session))}"
        few = own[:_SHOWN] if one.specs else ()
        paths = "".join(f" {as_pathspec(ctx, path)}" for path in few)
        verb = "commit" if one.kind == "git stash" else "undo"
        does = "commits" if verb == "commit" else "takes back"
        out.append(f"{git} ralph {verb} {named}{' --' if paths else ''}{paths}  # {does} only your own lines")
    out.append(f"{git} ralph status  # whose every uncommitted path is; name only your own in the command")
    return out

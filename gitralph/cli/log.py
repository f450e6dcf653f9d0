"""``git ralph log``."""

import os
import time
from typing import Any, NamedTuple

import click

from gitralph.ask import log as history
from gitralph.ask import reader_marks
from gitralph.ask.log import LoggedCommit, LoggedEdit, LogWish, Mark
from gitralph.ask.trace import kept_notes
from gitralph.ask.whose import Makers
from gitralph.base import locks
from gitralph.base.errors import UsageError
from gitralph.base.ids import safe_form
from gitralph.base.quote import printable, shown
from gitralph.cli.terminal import columns, options, output
from gitralph.cli.terminal.pager import pager
from gitralph.decide import pathspecs
from gitralph.git.context import Context
from gitralph.records import path_records
from gitralph.sessions import session_choice

_WHO = 20
# A path or a subject keeps so many columns where the counts behind it would leave no room.
_LEAST_TEXT = 8


class LogOptions(NamedTuple):
    """What was typed after ``git ralph log``; click fills it, see :func:`log`."""

    session: str | None
    agent: str | None
    since: str | None
    new: bool
    most: int | None
    patch: bool
    as_json: bool
    paths: tuple[str, ...]

    @property
    def narrows(self) -> bool:
        """True where only a part of what happened is asked for."""
        some = self.session or self.agent or self.since or self.paths
        return bool(some) or self.most is not None


@click.command("log", cls=options.Command)
@options.session
@click.option("--agent", metavar="<agent>", help="Only what sessions of this agent did.")
@click.option("--since", metavar="<time>", help="Only what is not older: 2 hours ago, 2026-11-22.")
@click.option("--new", is_flag=True, help="Only what is new since this was asked last.")
@click.option("-n", "--max-count", "most", type=click.IntRange(min=0), metavar="<n>", help="Show so many.")
@click.option("-p", "--patch", is_flag=True, help="Show what each edit and each commit changed.")
@options.as_json
@options.paths
def log(**typed: Any) -> None:
    """Show edits and commits over time, the latest first."""
    asked = LogOptions(**typed)
    if asked.new and asked.narrows:
        raise UsageError("--new goes with -p and --json alone: what it shows is read")
    ctx = options.context(create=False)
    kept_notes.write_new_notes(ctx)
    makers = Makers(ctx)
    wish = LogWish(
        _sessions(ctx, makers, asked),
        _since(ctx, asked.since),
        pathspecs.matcher(ctx, asked.paths),
        asked.patch,
    )
    found: list[LoggedEdit | LoggedCommit] = [
        *history.edits(ctx, makers, wish),
        *history.commits(ctx, makers, wish),
    ]
    if asked.new:
        found = _news(ctx, found)
    found = sorted(found, key=lambda one: one.time)[::-1][: asked.most]
    if asked.as_json:
        output.as_json([_document(ctx, makers, one, asked.patch) for one in found])
        return
    if not found and asked.most != 0:
        if asked.new:
            output.note("nothing new since this was asked last")
        else:
            _say_nothing(ctx, makers, asked, wish.since)
    wide = min(max((columns.width(_who(ctx, one)) for one in found), default=0), _WHO)
    room = output.room()
    with pager(ctx, "log"):
        for one in found:
            text = _patch(ctx, one) if asked.patch else b""
            output.content(_line(ctx, one, wide, room))
            if text:
                output.content(text.decode("utf-8", "replace"))


def _who(ctx: Context, one: LoggedEdit | LoggedCommit) -> str:
    """The name of a session; for a person's commit the author."""
    if isinstance(one, LoggedCommit) and not one.session:
        return printable(one.author)
    return ctx.called(one.session)


def _news(ctx: Context, found: list[LoggedEdit | LoggedCommit]) -> list[LoggedEdit | LoggedCommit]:
    """What this reader, an agent or the person, has not been shown yet; afterwards it counts as shown."""
    if not os.path.isdir(ctx.layout.top):
        return found
    name = f"log-{session_choice.for_reading(ctx, None)}" if ctx.is_agent else "log"
    name = safe_form(name)
    with locks.hold(ctx.layout, locks.CURSOR + name):
        fresh, mark = history.news(ctx, Mark(*reader_marks.log_mark(ctx.layout, name)), found)
        reader_marks.save_log_mark(ctx.layout, name, mark.head, mark.time, mark.known)
    return fresh


def _sessions(ctx: Context, makers: Makers, asked: LogOptions) -> frozenset[str] | None:
    if asked.session is None and asked.agent is None:
        return None
    if asked.session is None:
        named = set(makers.everyone())
    else:
        named = set(path_records.family(ctx.layout, session_choice.resolve(ctx.layout, asked.session)))
    if asked.agent is not None:
        named = {one for one in named if makers.agent(one) == asked.agent}
    return frozenset(named)


def _since(ctx: Context, typed: str | None) -> float | None:
    """A time as git reads it, in seconds."""
    if typed is None:
        return None
    # Both read a time by the same rules, but rev-parse takes whatever it does not understand for now.
    if ctx.git.try_run(
        "-c", f"typed.since={typed}", "config", "--type=expiry-date", "typed.since"
    ).returncode:
        raise UsageError(f"'{typed}' is no time that git understands", "git ralph log --since '2 hours ago'")
    said = ctx.git.line("rev-parse", f"--since={typed}")
    return float(said.partition("=")[2])


def _say_nothing(ctx: Context, makers: Makers, asked: LogOptions, since: float | None) -> None:
    """Say why there is nothing to show, as far as the options explain it."""
    everyone = makers.everyone()
    known = sorted({name for name in everyone.values() if name})
    if asked.agent is not None and asked.agent not in known:
        output.note(
            f"no session of an agent '{asked.agent}' is here" + (f"; of {', '.join(known)}" if known else "")
        )
    elif since is not None:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(since))
        output.note(f"nothing since {when}, which is how git reads '{asked.since}'")
    elif everyone:
        output.note("nothing of that is recorded")
    else:
        output.note("nothing is recorded here yet")
        output.hint("git ralph doctor  # are the hooks at work?")


def _line(ctx: Context, one: LoggedEdit | LoggedCommit, wide: int, room: int | None) -> str:
    """One line of at most ``room`` columns; a path loses its beginning and a subject its end."""
    roomy = room is None or room >= columns.ROOMY
    when = time.strftime("%Y-%m-%d %H:%M:%S" if roomy else "%H:%M", time.localtime(one.time))
    head = f"{when}  {columns.pad(columns.cut(_who(ctx, one), wide), wide)}  "
    if isinstance(one, LoggedEdit):
        counts = f"  +{one.added} -{one.removed}" if one.record.is_exact else "  (lines not known)"
        head, text, tail = f"{head}{one.record.op:<7} ", shown(one.path), counts
    else:
        head, text, tail = f"{head}commit  ", f"{one.oid[:8]} {one.subject}", _fate(one)
    if room is None:
        return head + text + tail
    rest = room - columns.width(head) - columns.width(tail)
    text = columns.cut(printable(text), max(rest, _LEAST_TEXT), keep_end=isinstance(one, LoggedEdit))
    return columns.cut(head + text + tail, room)


def _fate(one: LoggedCommit) -> str:
    if one.here:
        return ""
    return f"  (now {one.became[:8]})" if one.became else "  (not in HEAD)"


def _document(ctx: Context, makers: Makers, one: LoggedEdit | LoggedCommit, patch: bool) -> dict[str, object]:
    head = {
        "kind": "edit" if isinstance(one, LoggedEdit) else "commit",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(one.time)),
        "session": one.session or None,
        "name": ctx.called(one.session) if one.session else None,
        "agent": makers.agent(one.session) if one.session else None,
    }
    more: dict[str, object]
    if isinstance(one, LoggedEdit):
        record = one.record
        more = {
            "path": output.text(one.path),
            "op": record.op,
            "added": one.added,
            "removed": one.removed,
            "exact": record.exact,
            "model": one.model,
            "agent_id": record.agent_id,
            "tool": record.tool,
            "call": record.call,
            "worktree": one.worktree,
        }
    else:
        more = {
            "commit": one.oid,
            "author": one.author,
            "subject": one.subject,
            "paths": [output.text(path) for path in one.paths],
            "in_head": one.here,
            "became": one.became,
        }
    text = _patch(ctx, one) if patch else b""
    return {**head, **more, **({"patch": output.text(text)} if patch else {})}


def _patch(ctx: Context, one: LoggedEdit | LoggedCommit) -> bytes:
    if isinstance(one, LoggedEdit):
        return history.patch(one).rstrip(b"\n")
    words = ["show", "--format=", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature"]
    return ctx.git.run(*ctx.config.without_programs(), *words, one.oid).rstrip(b"\n")

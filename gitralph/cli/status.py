"""``git ralph status`` and ``top``; what only a screen or a look at all worktrees needs is imported there."""

import shlex
import sys
from typing import Any, NamedTuple

import click

from gitralph.ask import overview
from gitralph.ask import status as statuses
from gitralph.ask.status import Owned, SessionRows
from gitralph.ask.trace import kept_notes
from gitralph.base.errors import OK, Refused, UsageError
from gitralph.cli.terminal import columns, environ, grouped, options, output
from gitralph.cli.terminal.grouped import Here, Paper
from gitralph.commit import guard_script
from gitralph.decide import decision, offers, pending_paths
from gitralph.decide.offers import Maker
from gitralph.git.context import Context
from gitralph.hook.windows import Window
from gitralph.records import passed_over, path_records
from gitralph.sessions import lifecycle, session_choice
from gitralph.setup.install import githook
from gitralph.takeback import loss
from gitralph.takeback.loss import Loss
from gitralph.words import sentences, ways_out

_ADVICE = "ralphStatus"


class StatusOptions(NamedTuple):
    """What was typed after ``git ralph status``; click fills it, see :func:`status`."""

    session: str | None
    short: bool
    watch: bool
    prompt: bool
    worktrees: bool
    as_json: bool
    stable: bool
    zero: bool
    specs: tuple[str, ...]

    @property
    def plain(self) -> bool:
        """True where a program reads only owners and paths."""
        return self.stable or self.zero

    def check(self) -> None:
        """Raise UsageError for options that do not go together."""
        if sum((self.short, self.watch, self.prompt, self.as_json, self.plain)) > 1:
            raise UsageError("options --short, --watch, --prompt, --json and --porcelain exclude each other")
        if self.prompt:
            raise UsageError("option --prompt stands alone: git ralph status --prompt")
        if self.worktrees and (self.short or self.plain or self.session or self.specs):
            raise UsageError("option --worktrees goes with --json and --watch alone")


@click.command("status", cls=options.Command)
@options.session
@click.option("-s", "--short", is_flag=True, help="A line a path.")
@click.option("--watch", is_flag=True, help="Keep a screen up to date; q leaves it.")
@click.option("--prompt", is_flag=True, help="One short line, for a prompt or an agent's status line.")
@click.option("--worktrees", is_flag=True, help="All worktrees, and what would collide.")
@options.as_json
@click.option("--porcelain", "stable", is_flag=True, help="Print stable lines for programs.")
@options.zero
@click.argument("specs", nargs=-1, type=click.UNPROCESSED, metavar="[--] [<pathspec>...]")
def status(**typed: Any) -> int:
    """Show what is uncommitted by session, and what nobody recorded."""
    asked = StatusOptions(**typed)
    asked.check()
    ctx = options.context(create=False)
    if asked.watch:
        return _watch(ctx, asked.session, asked.specs, asked.worktrees)
    if asked.worktrees:
        from gitralph.ask import everywhere  # for --worktrees alone
        from gitralph.cli.terminal import all_worktrees  # for --worktrees alone

        view = everywhere.look(ctx)
        if asked.as_json:
            told = {"session": session_choice.for_reading(ctx, None)}
            output.as_json({**told, **all_worktrees.document(ctx, view)})
        else:
            all_worktrees.show(ctx, view)
        return OK
    kept_notes.write_new_notes(ctx)
    found = session_choice.for_reading(ctx, asked.session)
    if found is not None:
        offers.catch_up(ctx, found)
    # A program needs no line counts, and counting would read every file for nothing.
    everybody = pending_paths.everyone(ctx, counting=not asked.plain)
    rows = statuses.owners(ctx, found, asked.specs, everybody, counting=not asked.plain)
    for text in passed_over.warnings(ctx.layout, session_choice.all_here(ctx.layout)):
        output.warn(text)
    gone = loss.losses(ctx)
    if asked.as_json:
        _json(ctx, found, rows, lifecycle.listing(ctx, everybody), gone)
    elif asked.plain:
        _lines(rows, asked.zero, options.quote_high(ctx))
    else:
        _people(ctx, found, rows, asked.short)
        if not asked.short:
            _left_open(ctx, rows)
            _unguarded(ctx)
            for one in overview.held_branches(ctx):
                output.say(overview.held_sentence(ctx, one))
        _losses(ctx, found, gone, Here(ctx))
    return OK


@click.command("top", cls=options.Command)
@options.session
@click.option("--worktrees", "wanted_wide", is_flag=True, help="All worktrees, and what would collide.")
@click.argument("specs", nargs=-1, type=click.UNPROCESSED, metavar="[--] [<pathspec>...]")
def top(session: str | None, wanted_wide: bool, specs: tuple[str, ...]) -> int:
    """Keep a screen up to date: who is at work, what is uncommitted, commits as they land."""
    return _watch(options.context(create=False), session, specs, wanted_wide)


def _watch(ctx: Context, session: str | None, specs: tuple[str, ...], wanted_wide: bool) -> int:
    from gitralph.cli.terminal import screen  # for a screen alone

    return screen.run(ctx, session_choice.for_reading(ctx, session), specs, wanted_wide)


def _left_open(ctx: Context, rows: list[Owned]) -> None:
    """Name to people, who can end them, the commands without an end that keep changes from other sessions."""
    makers = {one.session for row in rows for one in row.likely}
    found = offers.left_open(ctx.layout, makers) if makers and not ctx.is_agent else []
    if found:
        names = " and ".join(f"'{ctx.called(one)}'" for one in found)
        output.note(f"no end was told of a shell command of {names}; what others' commands change may be its")
    for one in found:
        output.hint(f"git ralph session end {shlex.quote(ctx.called(one))}  # if it is over")


def _unguarded(ctx: Context) -> None:
    """Tell people that the guard is gone: husky writes its folder of hooks anew with each `npm install`."""
    is_wanted = ctx.config.get("ralph.guard") == guard_script.NARROW
    if not is_wanted or ctx.is_agent:
        return
    try:
        is_there = githook.is_installed(ctx)
    except Refused:  # no hook of ours; `doctor` says more
        return
    if not is_there:
        output.note(
            f"'ralph.guard' is '{guard_script.NARROW}', but no hook in '{ctx.repo.hooks_dir}' is the guard's"
        )
        output.hint("git ralph install --guard=narrow  # puts it there")


def _losses(ctx: Context, session: str | None, gone: list[Loss], here: Here) -> None:
    for one in gone:
        output.note(
            f"session '{ctx.called(one.session)}' lost edits in '{here.shown(one.path)}' "
            f"to {sentences.command(ctx.layout, offers.told(one.command))}"
        )
    own = path_records.family(ctx.layout, session) if session else []
    for name in dict.fromkeys(one.session for one in gone):
        paths = [one.path for one in gone if one.session == name]
        # A loss that cannot come back as the files stand would be refused for ever.
        if (name in own or not ctx.is_agent) and loss.coming_back(ctx, name, paths):
            output.hint(f"git ralph restore --session {ctx.called(name)}  # brings them back")


def _json(
    ctx: Context,
    session: str | None,
    rows: list[Owned],
    listing: list[dict[str, object]],
    gone: list[Loss],
) -> None:
    output.as_json(
        {
            "session": session,
            "paths": [_document(ctx, row) for row in rows],
            "sessions": listing,
            **({"lost": [_loss(ctx, one) for one in gone]} if gone else {}),
        }
    )


def _document(ctx: Context, row: Owned) -> dict[str, object]:
    letter, (added, removed) = row.change
    return {
        "path": output.text(row.path),
        "owner": row.owner,
        "sessions": list(row.sessions),
        "names": [ctx.called(one) for one in row.sessions],
        "change": letter,
        "added": added,
        "removed": removed,
        "entangled": row.entangled,
        # the shell calls that probably changed an unrecorded path; never a command's text
        **({"likely": [_command(ctx, command) for command in row.likely]} if row.likely else {}),
    }


def _command(ctx: Context, command: Maker | Window) -> dict[str, object]:
    keys = ("session", "agent_id", "tool", "call", "time")
    return {**{key: getattr(command, key) for key in keys}, "name": ctx.called(command.session)}


def _loss(ctx: Context, one: Loss) -> dict[str, object]:
    return {
        "session": one.session,
        "name": ctx.called(one.session),
        "path": output.text(one.path),
        "to": _command(ctx, one.command),
    }


def _lines(rows: list[Owned], zero: bool, high: bool) -> None:
    for row in rows:
        sys.stdout.write(f"{row.owner} {','.join(row.sessions) or '-'} ")
        output.paths([row.path], zero, high)


def _people(ctx: Context, session: str | None, rows: list[Owned], short: bool) -> None:
    if not rows:
        if not short:
            output.say("nothing uncommitted")
        return
    groups = statuses.groups(ctx, session, rows)
    width = columns.available(ctx.environ) if environ.is_terminal(sys.stdout) else None
    color = environ.wants_color(ctx.environ, ctx.config.get("color.ui"))
    paper = Paper(Here(ctx), ctx.called, width, color)
    own = path_records.family(ctx.layout, session) if session else []
    found = grouped.short(groups, paper) if short else grouped.lines(groups, own, paper)
    for line in found:
        sys.stdout.write(line + "\n")
    if not short:
        _advise(ctx, session, groups)


def _advise(ctx: Context, session: str | None, groups: list[SessionRows]) -> None:
    """Hints on what to type next, where somebody needs one."""
    own = path_records.family(ctx.layout, session) if session else []
    refused = [g for g in groups if any(row.reason in decision.REFUSING for row in g.rows)]
    refused = [g for g in refused if g.session in own or not ctx.is_agent]
    if refused:
        name = refused[0].name
        output.advise(
            ctx.config,
            _ADVICE,
            f"git ralph commit --session {name} --dry-run  # why, and what to do",
        )
    rest = [
        row for group in groups if group.session is None and group.name != statuses.LOOP for row in group.rows
    ]
    makers = {one.session: len(row.likely) == 1 for row in rest for one in row.likely}
    for name in [one for one in makers if (one in own and makers[one]) or not ctx.is_agent][:1]:
        output.advise(ctx.config, _ADVICE, ways_out.with_shell(ctx, name, makers[name]))

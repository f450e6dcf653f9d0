"""``git ralph undo``."""

import shlex
from functools import partial
from typing import Any, NamedTuple

import click

from gitralph.base.errors import RalphError, Refused, UsageError
from gitralph.base.quote import few
from gitralph.cli.terminal import options, output, taken_back
from gitralph.cli.terminal.asking import Asker
from gitralph.commit import cleanup
from gitralph.decide.pathspecs import matcher
from gitralph.git.context import Context
from gitralph.git.typed import as_name
from gitralph.guard.reply import NOT_TOLD
from gitralph.hook import sessionfile
from gitralph.records import word
from gitralph.sessions import session_choice
from gitralph.takeback import assign, by_hunks, telling
from gitralph.takeback.by_hunks import TakenHunks
from gitralph.takeback.redo import has_undone
from gitralph.takeback.redo import redo as bring_back
from gitralph.takeback.survey import Match, Picked, UndoRequest, one_with
from gitralph.takeback.undo import TakenBack, left_by_shell, refuse_unknown
from gitralph.takeback.undo import undo as take_back
from gitralph.words.advice import described

_USAGE = "git ralph undo --session {}"
# Nobody types more names than these.
_FEW = 5


class UndoOptions(NamedTuple):
    """What was typed after ``git ralph undo``; click fills it, see :func:`undo`."""

    session: str | None
    call: str | None
    last: int | None
    redo: bool
    skip_entangled: bool
    ask: bool
    tell: bool
    dry_run: bool
    as_json: bool
    paths: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """True for an undo of all that the session has pending, in the named paths."""
        return not (self.redo or self.ask or self.call is not None or self.last is not None)

    def check(self) -> None:
        """Raise UsageError for options that do not go together."""
        if sum((self.call is not None, self.last is not None, self.redo)) > 1:
            raise UsageError("options --call, --last and --redo exclude each other")
        if self.redo and self.skip_entangled:
            raise UsageError("options --redo and --skip-entangled exclude each other")
        for name, given in {"--redo": self.redo, "--json": self.as_json}.items():
            if self.ask and given:
                raise UsageError(f"options -p and {name} exclude each other")
        if self.tell and not self.ask:
            raise UsageError("option --tell needs -p")


@click.command("undo", cls=options.Command)
@options.session
@click.option("--call", metavar="<id>", help="Only what this tool call did.")
@click.option("--last", type=click.IntRange(1), metavar="<n>", help="Only the last <n> pending edits.")
@click.option("--redo", is_flag=True, help="Bring back what the last undo took.")
@click.option("--skip-entangled", is_flag=True, help="Leave what others built on.")
@click.option("-p", "--patch", "ask", is_flag=True, help="Ask for each hunk.")
@click.option("--tell", is_flag=True, help="With -p: tell the agent at its next stop.")
@click.option("--dry-run", is_flag=True, help="Print the patch; write nothing.")
@options.as_json
@options.paths
def undo(**typed: Any) -> None:
    """Take this session's pending edits out of the working tree, and nothing else."""
    asked = UndoOptions(**typed)
    asked.check()
    ctx = options.context(create=not asked.dry_run)
    found = None
    show = taken_back.Show(ctx, asked.as_json, asked.dry_run, "bring back" if asked.redo else "take back")
    try:
        found = _session(ctx, asked.session, asked.redo)
        match = matcher(ctx, asked.paths)
        if found is None:
            if asked.call is not None:
                refuse_unknown(ctx, asked.call)
            cleanup.unless_busy(ctx)
            show.result(TakenBack("nothing", None))
            return
        request = UndoRequest(
            found,
            call=asked.call,
            last=asked.last,
            skip=asked.skip_entangled or asked.ask,
            match=match,
            named=asked.paths,
        )
        if asked.ask:
            request = _picked(ctx, request)
            if not request.picks:
                show.result(TakenBack("nothing", found))
                return
        result = (bring_back if asked.redo else take_back)(ctx, request, asked.dry_run)
    except RalphError as error:
        show.failure(error, asked.session)
        if isinstance(error, Refused) and found is not None and asked.is_whole:
            error.hints = (*error.hints, *assign.ways_out(ctx, found, error.left, undo=True))  # type: ignore[arg-type]
        raise
    ways = _of_shell(ctx, result, match) if asked.is_whole else []
    show.result(result)
    for way in ways:
        output.hint(way)
    if not asked.dry_run and result.session is not None:
        _word(ctx, result, asked.redo, asked.tell)


def _of_shell(ctx: Context, result: TakenBack, match: Match | None) -> list[str]:
    """Note which new files of the session's shell commands stay; return how they would go, too."""
    try:
        paths = left_by_shell(ctx, result.session) if result.session is not None else []
    except RalphError:
        return []  # the undo is done, and this is only a word about it
    paths = match(paths) if match is not None else paths
    if not paths or result.session is None:
        return []
    who = ctx.called(result.session)
    result.notes.append(f"made by a shell command of session '{who}', and left: {few(paths, _FEW)}")
    if ctx.is_agent:
        return []
    given = " ".join(as_name(ctx, path) for path in paths[:_FEW])
    return [f"git ralph assign --to {shlex.quote(who)} -- {given}  # then an undo takes them too"]


def _word(ctx: Context, result: TakenBack, redo: bool, tell: bool) -> None:
    """Leave the agent a word on what was taken back; drop the word where it was brought back."""
    session = result.session
    if session is None or not result.changes:
        return
    if redo:
        word.drop(ctx.layout, session)
    elif tell:
        agent = (sessionfile.read(ctx.layout, session) or {}).get("agent")
        if agent in NOT_TOLD:
            output.warn(f"{agent} takes no word when it stops: it is not told")
            return
        word.leave(ctx.layout, session, telling.notice(ctx, session, result.changes))
        output.note(f"session '{ctx.called(session)}' is told when it stops next")


def _session(ctx: Context, given: str | None, redo: bool) -> str | None:
    if not redo:
        return session_choice.for_writing(ctx, given, usage=_USAGE)
    return one_with(ctx, given, f"{_USAGE} --redo", has_undone)


def _picked(ctx: Context, request: UndoRequest) -> UndoRequest:
    """The request for the hunks that a person chose, after a question for each."""
    asker = Asker(ctx, "take back")
    found, left = by_hunks.offers(ctx, request)
    picks: dict[bytes, Picked] = {}
    for one in found:
        show = partial(_show, ctx, one, asker.color)
        picks |= one.chosen(asker.chosen(one.questions, show, f"Take back {one.what}"))
    for line in described(ctx.layout, left):
        output.chatter("note", f"left as it is: {line}")
    return request._replace(picks=picks)


def _show(ctx: Context, one: TakenHunks, color: bool, number: int) -> None:
    output.raw(one.shown(ctx, number, color))

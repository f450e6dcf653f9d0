"""``git ralph undo``."""

from functools import partial

import click

from gitralph.base.errors import RalphError, UsageError
from gitralph.cli.terminal import options, output, taken
from gitralph.cli.terminal.asking import Asker
from gitralph.commit import recover
from gitralph.decide.pathspecs import matcher
from gitralph.git.context import Context
from gitralph.sessions import session_choice
from gitralph.takeback import by_hunks
from gitralph.takeback.by_hunks import TakenHunks
from gitralph.takeback.redo import redo as bring_back
from gitralph.takeback.redo import session_of_undone
from gitralph.takeback.survey import Picked, UndoRequest
from gitralph.takeback.undo import TakenBack, refuse_unknown
from gitralph.takeback.undo import undo as take_back
from gitralph.words.advice import describe

_USAGE = "git ralph undo --session {}"


@click.command("undo", cls=options.Command)
@options.session
@click.option("--call", metavar="<id>", help="Only what this tool call did.")
@click.option("--last", type=click.IntRange(1), metavar="<n>", help="Only the last <n> pending edits.")
@click.option("--redo", is_flag=True, help="Bring back what the last undo took.")
@click.option("--skip-entangled", is_flag=True, help="Leave what others built on.")
@click.option("-p", "--patch", "ask", is_flag=True, help="Ask for each hunk.")
@click.option("--dry-run", is_flag=True, help="Print the patch; write nothing.")
@options.as_json
@options.paths
def undo(
    session: str | None,
    call: str | None,
    last: int | None,
    redo: bool,
    skip_entangled: bool,
    ask: bool,
    dry_run: bool,
    as_json: bool,
    paths: tuple[str, ...],
) -> None:
    """Take this session's pending edits out of the working tree, and nothing else."""
    if sum((call is not None, last is not None, redo)) > 1:
        raise UsageError("options --call, --last and --redo exclude each other")
    if redo and skip_entangled:
        raise UsageError("options --redo and --skip-entangled exclude each other")
    for name, given in {"--redo": redo, "--json": as_json}.items():
        if ask and given:
            raise UsageError(f"options -p and {name} exclude each other")
    ctx = options.context(create=not dry_run)
    show = taken.Show(ctx, as_json, dry_run, "bring back" if redo else "take back")
    try:
        found = _session(ctx, session, redo)
        match = matcher(ctx, paths)
        if found is None:
            if call is not None:
                refuse_unknown(ctx, call)
            recover.heal(ctx)
            show.result(TakenBack("nothing", None))
            return
        request = UndoRequest(found, call, last, skip_entangled or ask, match, paths)
        if ask:
            request = _picked(ctx, request)
            if not request.picks:
                show.result(TakenBack("nothing", found))
                return
        result = (bring_back if redo else take_back)(ctx, request, dry_run)
    except RalphError as error:
        show.failure(error, session)
        raise
    show.result(result)


def _session(ctx: Context, given: str | None, redo: bool) -> str | None:
    if not redo:
        return session_choice.for_writing(ctx, given, usage=_USAGE)
    return session_of_undone(ctx, given, f"{_USAGE} --redo")


def _picked(ctx: Context, request: UndoRequest) -> UndoRequest:
    """The same for the hunks that are chosen, after a question for each."""
    asker = Asker(ctx, "take back")
    found, left = by_hunks.offers(ctx, request)
    picks: dict[bytes, Picked] = {}
    for one in found:
        show = partial(_show, ctx, one, asker.color)
        picks |= one.chosen(asker.chosen(one.questions, show, f"Take back {one.what}"))
    for each in left:
        output.chatter("note", "left as it is: " + describe(ctx.layout, each))
    return request._replace(picks=picks)


def _show(ctx: Context, one: TakenHunks, color: bool, number: int) -> None:
    output.raw(one.shown(ctx, number, color))

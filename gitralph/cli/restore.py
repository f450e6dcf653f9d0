"""``git ralph restore``."""

import click

from gitralph.base.errors import RalphError
from gitralph.cli.terminal import options, taken_back
from gitralph.commit import cleanup
from gitralph.decide.pathspecs import matcher
from gitralph.takeback.restore import has_lost
from gitralph.takeback.restore import restore as bring_back
from gitralph.takeback.survey import UndoRequest, one_with
from gitralph.takeback.undo import TakenBack


@click.command("restore", cls=options.Command)
@options.session
@click.option("--dry-run", is_flag=True, help="Print the patch; write nothing.")
@options.as_json
@options.paths
def restore(session: str | None, dry_run: bool, as_json: bool, paths: tuple[str, ...]) -> None:
    """Bring recorded edits that the working tree lost back into it."""
    ctx = options.context(create=not dry_run)
    show = taken_back.Show(ctx, as_json, dry_run, "bring back")
    try:
        found = one_with(ctx, session, "git ralph restore --session {}", has_lost)
        match = matcher(ctx, paths)
        if found is None:
            cleanup.unless_busy(ctx)
            show.result(TakenBack("nothing", None))
            return
        result = bring_back(ctx, UndoRequest(found, match=match, named=paths), dry_run)
    except RalphError as error:
        show.failure(error, session)
        raise
    show.result(result)

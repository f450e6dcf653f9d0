"""Prints what an undo, a redo or a restore did."""

import shlex

from gitralph.base.errors import RalphError, Refused
from gitralph.base.quote import shown
from gitralph.cli.terminal import environ, output
from gitralph.git.context import Context
from gitralph.hook.journal import UNDO
from gitralph.takeback import patch
from gitralph.takeback.undo import DONE, TakenBack
from gitralph.words.advice import described


class Show:
    """Prints what an undo, a redo or a restore did."""

    def __init__(self, ctx: Context, as_json: bool, dry: bool, does: str) -> None:
        """``does`` names the work in the message that there was nothing to do: ``take back``."""
        self.ctx = ctx
        self.as_json = as_json
        self.dry = dry
        self.does = does

    def failure(self, error: RalphError, session: str | None) -> None:
        """Print the document that says why it failed."""
        if self.as_json:
            refused = TakenBack("refused", session, notes=[error.message])
            refused.left = list(error.left) if isinstance(error, Refused) else []  # type: ignore[arg-type]
            output.as_json(document(self.ctx, refused))

    def result(self, result: TakenBack) -> None:
        """Print the document, the patch, or sentences."""
        if self.as_json:
            output.as_json(document(self.ctx, result))
        elif self.dry and result.changes:
            color = environ.wants_color(self.ctx.environ, self.ctx.config.get("color.ui"))
            output.raw(patch.render(self.ctx, result.changes, color))
        else:
            _sentences(self.ctx, result, self.does)
        for note in result.notes:
            output.note(note)
        for line in described(self.ctx.layout, result.left):
            output.chatter("note", f"left as it is: {line}")
        if result.status == DONE[UNDO] and result.session is not None and not self.as_json:
            back = f"git ralph undo --redo --session {shlex.quote(self.ctx.called(result.session))}"
            output.advise(self.ctx.config, "ralphUndo", f"{back}  # brings it back")


def document(ctx: Context, result: TakenBack) -> dict[str, object]:
    """What ``--json`` prints."""
    return {
        "status": result.status,
        "session": result.session,
        "name": ctx.called(result.session) if result.session else None,
        "paths": [{"path": output.text(one.path), "change": one.letter} for one in result.changes],
        "left": output.left_json(ctx.layout, result.left),
        "notes": result.notes,
    }


def _sentences(ctx: Context, result: TakenBack, does: str) -> None:
    if result.status in ("nothing", "dry-run"):
        output.say(
            f"nothing to {does}" + (f" for session '{ctx.called(result.session)}'" if result.session else "")
        )
        return
    count = len(result.changes)
    assert result.session is not None
    output.say(
        f"{count} path{'s' if count != 1 else ''} {result.status} for session '{ctx.called(result.session)}'"
    )
    for one in result.changes:
        output.say(f" {one.letter} {shown(one.path)}")

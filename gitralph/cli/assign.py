"""``git ralph assign``."""

import os
import re
import sys

import click

from gitralph.base.errors import RalphError, Refused, UsageError
from gitralph.base.quote import shown
from gitralph.cli.terminal import options, output
from gitralph.cli.terminal.asking import Asker
from gitralph.decide import reading
from gitralph.decide.decision import Left
from gitralph.git.context import Context
from gitralph.git.uncommitted import dirty_paths
from gitralph.sessions import session_choice
from gitralph.takeback import assign as assigning
from gitralph.takeback.assign import Assigned, Lines, Unowned, Unrecorded, Wanted

_USAGE = "git ralph assign --to <session> [-p] [--] <path>[:<first>[-<last>]]..."
_CONTEXT = 3


@click.command("assign", cls=options.Command)
@click.option("--to", "session", metavar="<session>", help="The session whose the lines shall be.")
@click.option("-p", "--patch", "ask", is_flag=True, help="Ask for each hunk.")
@options.as_json
@click.argument("places", nargs=-1, type=click.UNPROCESSED, metavar="[--] <path>[:<first>[-<last>]]...")
def assign(session: str | None, ask: bool, as_json: bool, places: tuple[str, ...]) -> None:
    """Give a session lines that nobody recorded: a person's, a formatter's, a shell command's."""
    if session is None or not places:
        raise UsageError("no session given" if session is None else "no path given", f"usage: {_USAGE}")
    if ask and as_json:
        raise UsageError("options -p and --json exclude each other")
    ctx = options.context()
    try:
        found = session_choice.for_writing(ctx, session)
        assert found is not None
        pick = _Picker(ctx, found) if ask else None
        result = assigning.assign(ctx, found, _wanted(ctx, places), pick)
    except RalphError as error:
        if as_json:
            left: list[Left] = list(error.left) if isinstance(error, Refused) else []  # type: ignore[arg-type]
            refused = Assigned("refused", session, left=left, notes=[error.message])
            output.as_json(_document(ctx, refused))
        raise
    _show(ctx, result, as_json)


# --- what was typed ---


def _wanted(ctx: Context, places: tuple[str, ...]) -> Wanted:
    """Each path with its wanted lines, None for all of them; a folder stands for its uncommitted files."""
    out: Wanted = {}
    for typed in places:
        name, lines = _split(typed)
        folder = os.path.isdir(name) and not os.path.islink(name) and not os.path.lexists(f"{name}/.git")
        # A folder of another git, a submodule or another repository, counts as one path.
        if lines is None and (folder or os.path.realpath(name) == ctx.repo.root):
            paths = dirty_paths(ctx.repo, ctx.config, typed=[f":(literal){name}"])
        else:
            paths = [reading.tree_path(ctx, name)]
        for path in paths:
            old = out.get(path, [])
            out[path] = None if lines is None or old is None else [*old, lines]
    return out


def _split(typed: str) -> tuple[str, Lines | None]:
    """Split ``path:first-last``; an existing path of that whole name comes before line numbers."""
    path, colon, lines = typed.rpartition(":")
    # A file may be named `a:3`.
    if not colon or not path or os.path.lexists(typed):
        return typed, None
    told = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", lines)
    if told is None:
        if os.path.lexists(path):
            raise UsageError(f"'{lines}' are no lines of '{path}'", f"usage: {_USAGE}")
        return typed, None
    return path, (int(told[1]), int(told[2] or told[1]))


# --- hunk by hunk ---


class _Picker:
    """Asks which of the unrecorded lines the session gets."""

    def __init__(self, ctx: Context, session: str) -> None:
        self.asker = Asker(ctx, "assign")
        self.color = self.asker.color
        self.question = f"Assign this hunk to '{ctx.called(session)}'"

    def __call__(self, found: Unowned, changes: list[Unrecorded]) -> list[Unrecorded]:
        hunks: list[list[Unrecorded]] = []
        for one in changes:
            if hunks and one.line <= hunks[-1][-1].line + 1:
                hunks[-1].append(one)
            else:
                hunks.append([one])
        if hunks and not self.asker.done:
            self._say(f"--- {shown(found.path)}", "1")
            self._say(f"+++ {shown(found.path)}", "1")
        chosen = self.asker.chosen(len(hunks), lambda at: self._show(found, hunks[at]), self.question)
        return [one for at in chosen for one in hunks[at]]

    def _show(self, found: Unowned, hunk: list[Unrecorded]) -> None:
        lines = (found.content.data or b"").split(b"\n")[: found.count]
        first, last = max(hunk[0].line - _CONTEXT, 1), min(hunk[-1].line + _CONTEXT, len(lines))
        by_line = {one.line: one for one in hunk}
        rows: list[tuple[str, bytes]] = []
        for number in range(first, max(last, hunk[-1].line) + 1):
            one = by_line.get(number)
            rows += [("-", text) for text in one.removed] if one else []
            if number <= len(lines):
                rows.append(("+" if one and one.added else " ", lines[number - 1]))
        gone, new = (sum(sign != skip for sign, _ in rows) for skip in "+-")
        self._say(f"@@ -{first},{gone} +{first},{new} @@", "36")
        for sign, text in rows:
            color = {"-": "31", "+": "32"}.get(sign, "")
            self._say(sign + text.decode("utf-8", "replace").removesuffix("\r"), color)

    def _say(self, text: str, color: str) -> None:
        plain = output.printable_lines(text)
        sys.stdout.write((f"\033[{color}m{plain}\033[m" if self.color and color else plain) + "\n")


# --- what is said ---


def _show(ctx: Context, result: Assigned, as_json: bool) -> None:
    if as_json:
        output.as_json(_document(ctx, result))
    elif result.status == "nothing":
        output.say(f"nothing to assign to session '{ctx.called(result.session)}'")
    for path, lines in result.paths.items() if not as_json else ():
        where = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in lines)
        word = "" if not where else " line " if len(lines) == 1 and lines[0][0] == lines[0][1] else " lines "
        output.say(f"'{shown(path)}'{word}{where}: now session '{ctx.called(result.session)}'s")
    for note in result.notes:
        output.note(note)


def _document(ctx: Context, result: Assigned) -> dict[str, object]:
    return {
        "status": result.status,
        "session": result.session,
        "name": ctx.called(result.session) if result.session else None,
        "paths": [
            {"path": output.text(path), "lines": [list(one) for one in lines]}
            for path, lines in result.paths.items()
        ],
        "left": output.left_json(ctx.layout, result.left),
        "notes": result.notes,
    }

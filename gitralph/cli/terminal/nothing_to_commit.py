"""What a commit that found nothing of its session tells of the changes that exist all the same."""

import shlex
from collections.abc import Sequence

from gitralph.ask import status
from gitralph.base.kinds import Kind
from gitralph.base.quote import few
from gitralph.cli.terminal import output
from gitralph.commit.preview import refused_to_person
from gitralph.decide.request import Result
from gitralph.git.context import Context
from gitralph.git.typed import as_name, as_pathspec
from gitralph.records import commit_log
from gitralph.sessions import session_choice
from gitralph.words.advice import described

# Nobody reads a line with more names.
_NAMED = 3
# A hint is copied in one line; with more paths a person names a folder.
_TYPED = 10


def tell(ctx: Context, result: Result, messages: Sequence[str], paths: Sequence[str]) -> None:
    """Name changes that no session recorded, and other sessions' work, each with what to type next."""
    told = {left.path for left in result.left}
    rows = [row for row in status.owners(ctx, result.session, paths) if row.path not in told]
    loose = [row.path for row in rows if row.owner == status.NOBODY]
    # what a shell command of a session made, or one that still runs may have made
    made = {row.path for row in rows if row.by_shell}
    if loose:
        output.note(_counted(loose) + " that no session recorded: " + few(loose, _NAMED))
        _tell_of_unrecorded(ctx, result, loose[:_TYPED], made, messages)
    elif rows:
        others = {session for row in rows for session in row.sessions} - {result.session}
        if others:
            names = " and ".join(map(repr, sorted(map(ctx.called, others))))
            output.note(f"what is uncommitted here is of session {names}")
        output.hint("git ralph status  # shows it")
    by_shell = made or any(left.by_shell for left in result.left)
    has_committed = result.session is not None and commit_log.read(ctx.layout, result.session).commits
    if not session_choice.all_here(ctx.layout) and not by_shell and not has_committed:
        output.hint("git ralph doctor  # no session has recorded anything here: are the hooks at work?")


def _counted(paths: Sequence[bytes]) -> str:
    return f"{len(paths)} changed path{'s' if len(paths) != 1 else ''}"


def _tell_of_unrecorded(
    ctx: Context, result: Result, paths: Sequence[bytes], made: set[bytes], messages: Sequence[str]
) -> None:
    """Say what a person types of these paths; an agent only hears where lines of its own went with a file."""
    yours = [path for path in paths if path not in made]
    refusals, hints = refused_to_person(ctx, yours) if yours else ([], [])
    if ctx.is_agent:
        moved = (one for one in refusals if one.why.kind is Kind.LINES_OF_GONE)
        for line in described(ctx.layout, moved):
            output.note(f"{line}; a person gives them back with 'git ralph assign'")
        return
    barred = {left.path for left in refusals}
    yours = [path for path in yours if path not in barred]
    if yours:
        said = "".join(f" -m {shlex.quote(one)}" for one in messages if one.isprintable())
        # plain git would take a session's line along from a file that somebody moved
        given = " ".join(as_pathspec(ctx, path) for path in yours)
        hints.append(f"git ralph commit --mine{said} -- {given}  # they are yours")
    # to assign, `a:1` means line 1 of a
    mine = " ".join(as_name(ctx, path) for path in paths if path not in barred and b":" not in path)
    if mine and result.session is not None:
        who = shlex.quote(ctx.called(result.session))
        hints.append(f"git ralph assign --to {who} -- {mine}  # only if it made them")
    for hint in hints:
        if hint not in result.hints:
            output.hint(hint)

"""``git ralph uncommit``."""

import shlex

import click

from gitralph.base.errors import Fatal, RalphError, Refused
from gitralph.base.quote import few, printable
from gitralph.cli.terminal import options, output
from gitralph.decide import pending_paths
from gitralph.git import refs
from gitralph.git.context import Context
from gitralph.git.typed import as_pathspec
from gitralph.sessions import session_choice
from gitralph.takeback import uncommit as taking

# Nobody reads a command with more paths.
_MOST = 10


@click.command("uncommit", cls=options.Command)
@options.session
@options.as_json
def uncommit(session: str | None, as_json: bool) -> None:
    """Take the last commit back, if it is this session's and unpublished; files and index stay."""
    ctx = options.context()
    try:
        session = _session(ctx, session)
        found = taking.uncommit(ctx, session)
    except RalphError:
        if as_json:
            output.as_json({"status": "refused", "commit": None, "ref": None})
        raise
    if as_json:
        output.as_json({"status": "uncommitted", "commit": found.commit, "ref": found.ref})
        return
    branch = found.ref.removeprefix("refs/heads/")
    output.say(f"[{branch}] took back {found.commit[:7]} {printable(found.subject)}")
    paths = " ".join(as_pathspec(ctx, path) for path in found.paths)
    again = f"git ralph commit --session {shlex.quote(ctx.called(session))} -F -"
    if len(found.paths) <= _MOST:
        # gc may have removed the records, and a claim is over once a commit took it.
        if not pending_paths.of(ctx, session).keys() >= set(found.paths):
            rest = " ".join(as_pathspec(ctx, path) for path in found.paths if path not in found.staged)
            back = f"git reset --soft {found.commit[:7]}" + (f" && git reset -q -- {rest}" if rest else "")
            output.hint(f"{back}  # brings it back: not all of it is on record now")
            if found.staged:
                output.note(f"what is staged of {few(sorted(found.staged), _MOST)} is older than the commit")
            return
        again += f" -- {paths}"  # something else of the session may be pending
    output.hint(f"git log -1 --format=%B {found.commit[:7]} | {again}  # makes it again")


def _session(ctx: Context, given: str | None) -> str:
    named = session_choice.named(ctx, given, "git ralph uncommit --session {}", writes=True)
    found = named or taking.last_of(ctx)
    if found is None:
        if refs.read_head(ctx.repo).oid is None:
            raise Fatal("there is no commit to take back")
        raise Refused("the last commit is no session's, so it stays", "git log -1")
    return found

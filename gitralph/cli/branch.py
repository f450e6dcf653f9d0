"""``git ralph branch``."""

import shlex

import click

from gitralph.ask.trace import kept_notes
from gitralph.base import ids
from gitralph.base.errors import Fatal, RalphError, UsageError
from gitralph.base.quote import shown
from gitralph.cli.terminal import options, output
from gitralph.git.context import Context
from gitralph.sessions import session_choice
from gitralph.tasks.branch import make as making
from gitralph.tasks.branch import since_base
from gitralph.tasks.branch.make import BranchMade, BranchWish, NeedsError


@click.command("branch", cls=options.Command)
@click.argument("name", metavar="<name>")
@options.session
@click.option("--onto", metavar="<commit>", help="Since HEAD left <commit>; else the upstream.")
@click.option("--squash", is_flag=True, help="Make one commit of all.")
@click.option("--force", is_flag=True, help="Take the place of a branch that somebody else moved.")
@click.option(
    "--with-needed", "with_needed", is_flag=True, help="Take others' commits along that these need."
)
@options.as_json
def branch(
    name: str,
    session: str | None,
    onto: str | None,
    squash: bool,
    force: bool,
    with_needed: bool,
    as_json: bool,
) -> None:
    """Make a branch of exactly this session's commits; no file, index or HEAD changes."""
    ctx = options.context()
    try:
        wish = BranchWish(name, _session(ctx, name, session), onto, squash, force, with_needed)
        found = making.make(ctx, wish)
    except RalphError as error:
        needs = error.needs if isinstance(error, NeedsError) else ()
        if as_json:
            rows = [{"commit": n.commit, "session": n.session, "path": output.text(n.path)} for n in needs]
            ref = f"refs/heads/{name}"
            output.as_json({"status": "refused", "ref": ref, "commits": [], "needs": rows})
        for one in needs:
            whose = f" of session '{ctx.called(one.session)}'" if one.session is not None else ""
            output.note(f"commit {one.commit[:7]}{whose} for '{shown(one.path)}'")
        raise
    kept_notes.add(ctx, list(dict.fromkeys(new for _, new in found.commits)))
    if as_json:
        pairs = [{"from": old, "to": new} for old, new in found.commits]
        output.as_json({"status": found.status, "ref": found.ref, "commits": pairs, "needs": []})
        return
    _tell(ctx, name, found)


def _session(ctx: Context, name: str, given: str | None) -> str:
    usage = f"git ralph branch {shlex.quote(name)} --session {{}}"
    try:
        found = session_choice.named(ctx, given, usage, writes=True)
    except Fatal:
        # A fresh clone has no record of any session, only trailers that name them.
        if given is None or not ids.is_valid(given) or not making.is_named(ctx, given):
            raise
        found = given
    if found is None:
        raise UsageError("say whose commits: --session <session>", "git ralph session list")
    return found


def _tell(ctx: Context, name: str, found: BranchMade) -> None:
    whose, count = ctx.called(found.session), len(found.commits)
    if found.merges:
        output.note(f"{found.merges} merge{'s'[: found.merges != 1]} left out")
    if not count:
        output.say(f"session '{whose}' has no commits here")
    elif found.status == making.NOTHING:
        output.say(f"'{name}' holds all of session '{whose}' already")
    else:
        tip = found.commits[-1][1]
        how = "made" if found.before is None else "moved on" if found.forward else "made anew"
        own = count - found.needed
        more = f" and {found.needed} of others that it needs" if found.needed else ""
        output.say(f"[{name} {tip[:7]}] {how}: {own} commit{'s'[: own != 1]} of session '{whose}'{more}")
        for oid, names in since_base.others_in(ctx, [old for old, _ in found.commits], found.session).items():
            others = " and ".join(f"'{ctx.called(one)}'" for one in names)
            output.note(f"commit {oid[:7]} also has lines of session {others}, folded in since it was made")

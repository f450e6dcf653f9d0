"""``git ralph guard``."""

import os
from collections.abc import Sequence

import click

from gitralph.base import nul
from gitralph.base.errors import OK, Refused, UsageError
from gitralph.base.quote import shown
from gitralph.cli.terminal import environ, options, output
from gitralph.decide import offers, own_commit, pending_paths
from gitralph.git import plain_index, refs
from gitralph.git.context import Context, open_context
from gitralph.git.typed import as_pathspec
from gitralph.guard import concluding, whose_commit
from gitralph.guard import question as guarding
from gitralph.guard.question import GuardedPath
from gitralph.records import path_records

# Nobody reads a line with more names.
_SHOWN = 10


@click.command("guard", cls=options.Command)
@click.argument("words", nargs=-1, metavar="[<hook> <pid> [<file>]]")
def guard(words: tuple[str, ...]) -> int:
    """Judge, or narrow to one session, the commit that git is about to make.

    Meant for git's own hooks: git ralph install --guard.
    """
    if words:  # a hook's call has a lane of its own and takes no options, see guard_hook
        raise UsageError(f"'{words[0]}' is for git's own hooks", "git ralph install --guard")
    env = environ.snapshot()
    if env.get("RALPH_GUARD") == "0":
        return OK
    ctx = open_context(env, create=False)
    ctx.warn, ctx.say = output.warn, output.note
    try:
        return _judge(ctx)
    except OSError as error:
        return output.not_guarded(error)
    finally:
        ctx.repo.close()


def _judge(ctx: Context) -> int:
    mode = guarding.mode(ctx)
    if mode == guarding.OFF or not os.path.isdir(ctx.layout.top):
        return OK
    found = guarding.judge(ctx, guarding.own(ctx))
    if not found:
        pending_paths.put_marks_away(ctx)
        return OK
    is_refused = mode in (guarding.REFUSE, guarding.NARROW)
    return _tell_agent(ctx, found, is_refused) if ctx.is_agent else _tell_person(ctx, found, is_refused)


def _tell_agent(ctx: Context, found: Sequence[GuardedPath], is_refused: bool) -> int:
    rows = [concluding.row(ctx, one) for one in found]
    is_merge = concluding.doing(ctx) is not None
    # Narrowing needs hooks of this version. An older hook only asks, and must not let the commit pass.
    if is_refused:
        hints = concluding.before(ctx, found) if is_merge else [whose_commit.ONLY_OWN]
        raise Refused("\n".join(rows), *hints)
    for row in rows:
        output.warn(row)
    if is_merge:  # what is staged beside its own lines is a person's to take out again
        return OK
    output.hint(f"{_taken_back(ctx)}{whose_commit.ONLY_OWN}")
    return OK


def _taken_back(ctx: Context) -> str:
    """The command that takes the commit back first, where git goes on to make it."""
    return "git reset --soft 'HEAD@{1}' && " if refs.read_head(ctx.repo).oid else ""


def _spec(ctx: Context, path: bytes) -> str:
    """A path as the person types it: git runs a hook at the root, and tells where the person stands."""
    return as_pathspec(ctx, path, os.path.join(ctx.repo.root, ctx.environ.get("GIT_PREFIX", "")))


def _all_the_same(ctx: Context) -> str:
    """The same commit without the guard; for `-a` and for paths git prepares another index."""
    place = plain_index.given(ctx.environ, ctx.repo.index)
    words = {plain_index.WHOLE: ["-a"], plain_index.PATHS: ["--"]}.get(place.form if place else "", [])
    if words == ["--"]:
        words += [_spec(ctx, path) for path in sorted(guarding.staged(ctx))[:_SHOWN]]
    return " ".join(["git commit --no-verify", *words]) + "  # takes them all the same"


def _tell_person(ctx: Context, found: Sequence[GuardedPath], is_refused: bool) -> int:
    """Tell a person everything in one warning, with what to type."""
    of = {one.session: [each for each in found if each.session == one.session] for one in found}
    whose = "; ".join(f"'{ctx.called(name)}': {_counted(rows)}" for name, rows in of.items())
    said = f"this commit takes lines that live sessions did not commit yet: {whose}"
    # The paths of this commit alone: what else is yours, and what is staged beside it, stays as it is. A
    # path that is named is taken with what shell commands may have made, so such a one is not.
    amended = _amended(ctx)
    # A session's commit that the amend replaces comes back as it was.
    is_anothers = amended is not None and bool(own_commit.signers(ctx, refs.read_head(ctx.repo).oid))
    taken = sorted({*guarding.staged(ctx), *(() if is_anothers else amended or ())})
    known = path_records.states_of(ctx.layout, taken)
    by_shell = offers.left_by_commands(ctx, taken).keys() | {p for p in known if offers.of(known[p])}
    paths = [_spec(ctx, path) for path in taken if path not in by_shell]
    given = f" -- {' '.join(paths)}" if 0 < len(paths) <= _SHOWN else ""
    if concluding.doing(ctx) is not None:
        if is_refused:
            raise Refused(said, *concluding.before(ctx, found), _all_the_same(ctx))
        output.warn(said)
        for hint in concluding.after(ctx, found):
            output.hint(hint)
        return OK
    if is_refused:
        raise Refused(said, f"git ralph commit --mine{given}  # only what is yours", _all_the_same(ctx))
    output.warn(said)
    # of an amend the commit that it replaces goes as well, and comes again in the new one
    back = _taken_back(ctx) if amended is None or is_anothers else "git reset --soft HEAD~ && "
    if not back:
        return OK  # a first commit cannot be taken back
    message = "" if is_anothers else """ -m "$(git log -1 --format=%B 'HEAD@{1}')\""""
    # What was taken back is staged: a next commit must not take it again.
    rest = f" && git reset -q{given}"
    # what waits for a session would refuse all of it, and the commit is taken back by then
    mine = f"git ralph commit --mine --skip-entangled{message}{given}"
    output.hint(f"{back}{mine}{rest}  # only what is yours, instead")
    return OK


def _amended(ctx: Context) -> set[bytes] | None:
    """The paths of the commit that git is about to replace; None where it makes one more, or the first."""
    if not whose_commit.amends(whose_commit.git_process(os.getppid())):
        return None
    done = ctx.git.try_run("diff", "--name-only", "-z", "--no-renames", "HEAD~", "HEAD")
    return None if done.returncode else set(nul.rows(done.stdout))


def _counted(rows: Sequence[GuardedPath]) -> str:
    shown_rows = [f"{_lines(one)} '{shown(one.path)}'" for one in rows[:_SHOWN]]
    more = f" and {len(rows) - _SHOWN} more files" if len(rows) > _SHOWN else ""
    return ", ".join(shown_rows) + more


def _lines(one: GuardedPath) -> str:
    return "what it has in" if one.lines is None else f"{one.lines} line{'s'[: one.lines != 1]} in"

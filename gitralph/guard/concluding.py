"""What the guard says of a commit that concludes a merge, a revert, a cherry-pick or a step of a rebase.

Such a commit is not narrowed, for its lines come from other commits. So the guard only asks: whether it takes
lines of others, whether a conflict is settled, and whether the session had anything to do with it. No other
commit replaces it: who takes a merge back and commits again has no merge any more.
"""

import os
from collections.abc import Sequence

from gitralph.base import nul
from gitralph.base.errors import Refused
from gitralph.base.quote import few, shown
from gitralph.commit import operation, restage
from gitralph.commit.operation import SQUASH, TOLD_BY
from gitralph.commit.preview import drafted
from gitralph.decide import offers
from gitralph.decide.inputs import Wishes, open_bench
from gitralph.decide.request import Request
from gitralph.git import plain_index, refs, squashed, uncommitted
from gitralph.git.context import Context
from gitralph.git.repository import MERGE, REBASE
from gitralph.git.typed import as_pathspec
from gitralph.guard import question
from gitralph.guard.question import GuardedPath
from gitralph.hook import windows
from gitralph.records import path_records

# Nobody types a line with more names.
_SHOWN = 10


def doing(ctx: Context) -> str | None:
    """The operation that the next commit concludes, in words; None for a commit like any other.

    So are those made where a rebase stops to edit, and between two picks of a series.
    """
    found, folder = ctx.repo.operation(), f"{ctx.repo.git_dir}/rebase-merge"
    if found not in TOLD_BY:
        return SQUASH if found is None and squashed.entries(ctx.repo) else None
    # at a conflict git names the commit that it could not pick; at `edit` it names what is to be amended
    is_stopped = os.path.isdir(folder) and not os.path.lexists(f"{folder}/stopped-sha")
    if found == REBASE and (is_stopped or os.path.lexists(f"{folder}/amend")):
        return None
    return found


def of_agent(ctx: Context) -> str | None:
    """The same for an agent; None where narrowing gives what is wanted.

    So it is for a squash of the session's own commits, and for one that others staged.
    """
    found, own = doing(ctx), question.own(ctx)
    if found != SQUASH:
        return found
    began = windows.began_operation(ctx.layout) or set()
    if own is None or began.isdisjoint(path_records.family(ctx.layout, own)) or _is_own(ctx, own):
        return None
    return found


def _is_own(ctx: Context, own: str) -> bool:
    brought = squashed.entries(ctx.repo)
    with open_bench(ctx, quarantine=True) as bench:
        made = drafted(ctx, bench, Request(own, match=lambda _all: list(brought)))
    return all(path in made.entries and made.entries[path] == brought[path] for path in brought)


def row(ctx: Context, one: GuardedPath) -> str:
    """What the commit takes of one path of a live session."""
    what = "what" if one.lines is None else f"{one.lines} line{'s'[: one.lines != 1]} that"
    whose = f"live session '{ctx.called(one.session)}'"
    return f"'{shown(one.path)}': this commit takes {what} {whose} did not commit yet"


def refuse(ctx: Context, what: str, is_read: bool = False) -> None:
    """Refuse such a commit of an agent where it takes lines of others, or is none of the agent's business.

    ``is_read``: git has read its index, so nothing can be left out any more.
    """
    own = question.own(ctx)
    if own is not None and not operation.has_part_in(ctx, path_records.family(ctx.layout, own), what):
        restage.due(ctx, own)
        raise Refused(
            f"{what} is in progress that session '{ctx.called(own)}' neither began nor worked on; "
            "this commit would conclude it",
            "git status  # how to finish or abort it first",
        )
    # what is not as in HEAD then, since somebody had it staged before, is refused below
    left = _put_back(ctx, own, what) if own is not None and not is_read else []
    found = question.judge(ctx, own)
    if found:
        raise Refused("\n".join(row(ctx, one) for one in found), *before(ctx, found))
    staged = question.staged(ctx)
    texts = ((path, entry) for path, entry in staged.items() if entry is not None)
    unsettled = [path for path, entry in texts if operation.has_marks(ctx, path, entry)]
    if unsettled:
        raise Refused(f"{few(unsettled, _SHOWN)} still has the marks of a conflict", "git diff HEAD  # where")
    strange = _swept(ctx, own, what) if own is not None else []
    if strange:
        raise Refused(_strange(ctx, strange, what), *_without(ctx, strange))
    if left:
        ctx.say(f"left out: {_strange(ctx, left, what)}")


def said_no(ctx: Context) -> None:
    """Another hook stopped the commit: what the agent staged for it would be in a person's next one."""
    own, what = question.own(ctx), of_agent(ctx)
    if own is not None and what is None:
        restage.due(ctx, own)
    elif own is not None and what is not None:
        _put_back(ctx, own, what)


def _put_back(ctx: Context, own: str, what: str) -> list[bytes]:
    """Put back what the session's own `git add -A` swept in; returns which."""
    return restage.at_once(ctx, own, _swept(ctx, own, what))


def _strange(ctx: Context, paths: Sequence[bytes], what: str) -> str:
    has = "has" if len(paths) == 1 else "have"
    whose = f"of session '{ctx.called(question.own(ctx) or '')}'"
    return f"{few(paths, _SHOWN)} {has} changes that are neither of {what} nor {whose}"


def before(ctx: Context, found: Sequence[GuardedPath]) -> list[str]:
    """The command that concludes the merge without these paths, while it is not concluded yet."""
    return _without(ctx, sorted({one.path for one in found}))


def _without(ctx: Context, out_of_it: Sequence[bytes]) -> list[str]:
    """The same command for these paths.

    An agent may not unstage what somebody else may have staged; with `-a` it need not.
    """
    paths = _paths(ctx, out_of_it)
    place = plain_index.given(ctx.environ, ctx.repo.index)
    is_whole = place is not None and place.form == plain_index.WHOLE
    what = doing(ctx)
    touched = sorted(operation.touched(ctx, what) or ()) if what else []
    leaves = f"# leaves them out of {_the(ctx)}"
    if paths and ctx.is_agent and not is_whole and what == SQUASH:  # git splits it
        return [f"git commit --no-edit -- {_typed(ctx, touched)}  {leaves}"] if len(touched) <= _SHOWN else []
    there = uncommitted.staged(ctx.repo.git, refs.read_head(ctx.repo).oid, ctx.repo.index)
    if not paths or (ctx.is_agent and not (is_whole and there.keys().isdisjoint(out_of_it))):
        return [f"git ralph status  # whose it is: a person concludes {_this(ctx)}"]
    add, out = "", f"git restore --staged -- {paths} && "
    if is_whole:  # the rest is not staged yet
        kept = [path for path in question.staged(ctx) if path not in out_of_it]
        kept = [path for path in kept if path in touched or not ctx.is_agent]
        if len(kept) > _SHOWN:
            return []
        add = f"git add -- {_typed(ctx, kept)} && " if kept else ""
        out = "" if ctx.is_agent else out
    return [f"{add}{out}git commit --no-edit  {leaves}"]


def after(ctx: Context, found: Sequence[GuardedPath]) -> list[str]:
    """The command that takes these paths out of the merge, once git has made it."""
    paths = _paths(ctx, sorted({one.path for one in found}))
    if not paths:
        return []
    source = "git restore --staged --source=HEAD~"
    return [f"{source} -- {paths} && git commit --amend --no-edit  # leaves them out of {_the(ctx)}"]


def _this(ctx: Context) -> str:
    return f"this {(doing(ctx) or '').partition(' ')[2]}"


def _the(ctx: Context) -> str:
    return f"the {(doing(ctx) or '').partition(' ')[2]}"


def _paths(ctx: Context, paths: Sequence[bytes]) -> str:
    """The paths as a person types them; empty where the operation changes one, or where they are many."""
    touched = operation.touched(ctx, doing(ctx) or MERGE)
    if len(paths) > _SHOWN or touched is None or not touched.isdisjoint(paths):
        return ""
    return _typed(ctx, paths)


def _swept(ctx: Context, own: str, what: str) -> list[bytes]:
    """What the commit takes that neither the operation nor a command of the session changed.

    Somebody else had it staged or lying there, and `add -A` or `-a` swept it in.
    """
    staged, touched = question.staged(ctx), operation.touched(ctx, what)
    if touched is None:
        return []
    offers.catch_up(ctx, own)  # a command that began the operation may still run
    family = set(path_records.family(ctx.layout, own))
    seen = [one for one in windows.in_operation(ctx.layout) if one.session in family]
    changed = {path for one in seen for path in (*(one.rows or ()), *one.so_far)}
    rows = nul.rows(ctx.git.at(GIT_INDEX_FILE=ctx.repo.index).run("ls-files", "-u", "-z"))
    settled = {row.partition(b"\t")[2] for row in rows}
    fresh = set(staged) - touched - settled - changed
    # where no command was watched, nobody knows what the operation changed
    if not fresh or not seen:
        return []
    asked = Request(own, wishes=Wishes(with_shell=True), match=lambda _all: sorted(fresh))
    with open_bench(ctx, quarantine=True) as bench:
        made = drafted(ctx, bench, asked)
    return sorted(path for path in fresh if path not in made.entries or made.entries[path] != staged[path])


def _typed(ctx: Context, paths: Sequence[bytes]) -> str:
    folder = os.path.join(ctx.repo.root, ctx.environ.get("GIT_PREFIX", ""))
    return " ".join(as_pathspec(ctx, path, folder) for path in sorted(paths))

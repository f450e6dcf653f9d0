"""Which commits a session may take back or rewrite: its own, while no remote branch holds them."""

import shlex
from collections.abc import Iterable
from typing import NamedTuple

from gitralph.base import nul
from gitralph.base.errors import Fatal, Refused
from gitralph.base.ids import is_valid
from gitralph.decide.request import Request
from gitralph.git import message, refs, remade, uncommitted, worktrees
from gitralph.git.commits import identity
from gitralph.git.context import Context
from gitralph.git.repository import Repository
from gitralph.git.typed import as_pathspec
from gitralph.hook import sessionfile
from gitralph.hook.journal import is_oid
from gitralph.records import commit_log, manifests, path_records, published_name

TAKEN_BACK = "taken back"
_SESSION = "Ralph-Session: "
# A hint shows its command in one line to copy, so it names no more paths than this.
_MOST = 10


class Old(NamedTuple):
    """A commit to rewrite: its parents' oids, its author as git's variables, and its message."""

    parents: tuple[str, ...]
    author: dict[str, str]
    message: bytes


def makers(ctx: Context, commit: str, more: Iterable[str] = ()) -> list[str]:
    """The sessions of this worktree, or of ``more``, whose log names the commit, or what a rebase made it of.

    A message proves nothing here: anybody may have written it, or squashed another's lines into the commit.
    """
    sessions = list(dict.fromkeys([*manifests.sessions_here(ctx.layout), *more]))
    made = {name: [str(row.get("commit")) for row in _log(ctx, name)] for name in sessions}
    found = [name for name in sessions if commit in made[name]]
    if found:
        return found
    asked = sorted({oid for name in sessions for oid in made[name] if is_oid(oid)})
    old = set(remade.same(ctx.git, commit, asked)) if asked else set[str]()
    return [name for name in sessions if old.intersection(made[name])]


def signature(ctx: Context, commit: str | None) -> list[str]:
    """Our trailers at the end of a commit's message; a new message for it must end with them too."""
    if commit is None:
        return []
    said = ctx.git.run("log", "-1", "--no-show-signature", "--format=%(trailers:only,unfold)", commit)
    return [row for row in said.decode("utf-8", "replace").splitlines() if row.startswith("Ralph-")]


def named_in(ctx: Context, rows: list[str]) -> list[str]:
    """The sessions that trailers name; a fleet's hash is turned into the id of one of our sessions."""
    said = [row.removeprefix(_SESSION).strip() for row in rows if row.startswith(_SESSION)]
    return [published_name.local(ctx.layout, one) for one in said if is_valid(one)]


def signers(ctx: Context, commit: str | None) -> list[str]:
    """The sessions that a commit's message names. git keeps the message where it makes the commit anew."""
    return named_in(ctx, signature(ctx, commit))


def rewound(ctx: Context, session: str) -> str | None:
    """The session's last commit here when HEAD has neither it nor what a rebase made of it, else None.

    None also after :func:`told_of`: an answer that repeats old news is not read.
    """
    here = [row for row in _log(ctx, session) if row.get("worktree") == ctx.layout.token]
    last = here[-1].get("commit") if here else None
    if not isinstance(last, str) or not is_oid(last) or here[-1].get("included"):
        return None
    if (sessionfile.read(ctx.layout, session) or {}).get("rewound") == last:
        return None
    head = refs.read_head(ctx.repo)
    if head.oid is None:
        return last
    if head.oid == last or refs.contains(ctx.repo, head, last):
        return None
    since = ctx.git.try_run("rev-list", "--ignore-missing", head.oid, f"^{last}").stdout.decode().split()
    return None if remade.same(ctx.git, last, since) else last


def told_of(ctx: Context, session: str, commit: str) -> None:
    """Remember that the session was told that HEAD no longer has its last commit."""
    sessionfile.update(ctx.layout, session, rewound=commit)


def _log(ctx: Context, session: str) -> list[dict[str, object]]:
    return commit_log.read(ctx.layout, session).commits


def refuse_foreign(ctx: Context, session: str, commit: str, doing: str) -> None:
    """Raise Refused for a commit that is not this session's, or that a remote branch holds."""
    family = path_records.family(ctx.layout, session)
    # gc may have put the session's own log away meanwhile
    made_by = makers(ctx, commit, family)
    if not set(made_by) & set(family):
        whose = f"it is session '{ctx.called(made_by[0])}'s" if made_by else "no session's record tells of it"
        raise Refused(
            f"commit {commit[:7]} is not session '{ctx.called(session)}'s, so it cannot be {doing}: {whose}",
            *_instead(ctx, session, doing, made_by),
        )
    said = ctx.git.run("for-each-ref", f"--contains={commit}", "--format=%(refname:short)", "refs/remotes")
    held = said.decode("utf-8", "replace").split("\n")[0]
    if held:
        raise Refused(
            f"commit {commit[:7]} is published, so it cannot be {doing}: '{held}' holds it",
            *(ways_back(ctx, commit) if doing == TAKEN_BACK else _instead(ctx, session, doing, [])),
        )


def ways_back(ctx: Context, commit: str, *words: str) -> list[str]:
    """The git command that takes back a published commit by a new one.

    git refuses a revert where files of the commit have other changes. Then the hint shows these changes.
    """
    said = ctx.git.run(
        "diff-tree", "-r", "-m", "--root", "-z", "--no-renames", "--no-commit-id", "--name-only", commit
    )
    dirty = uncommitted.dirty_paths(ctx.repo, ctx.config, nul.rows(said))
    if dirty:
        given = " ".join(as_pathspec(ctx, path) for path in dirty[:_MOST])
        return [f"git diff HEAD -- {given}  # stands in the way of a git revert"]
    typed = shlex.join([*words, commit[:7]])
    return [f"git revert --no-edit {typed}  # takes it back in a commit of its own"]


def _instead(ctx: Context, session: str, doing: str, made_by: list[str]) -> list[str]:
    """Hints for what to type instead: commit anew, or let the commit's own session take it back."""
    if doing != TAKEN_BACK:
        name = shlex.quote(ctx.called(session))
        return [f"git ralph commit --session {name}  # what it has pending, in a commit of its own"]
    if ctx.is_agent or not made_by:
        return []
    return [f"git ralph uncommit --session {shlex.quote(ctx.called(made_by[0]))}  # if it is that one's last"]


def check(ctx: Context, request: Request) -> None:
    """Check ``--amend`` and ``--fixup``.

    Raises Refused where the commit must stay as it is, Fatal for no commit.
    """
    if request.amend:
        head = refs.read_head(ctx.repo).oid
        if head is None:
            raise Fatal("there is no commit to amend")
        refuse_foreign(ctx, request.session, head, "amended")
        if len(read(ctx.repo, head).parents) > 1:
            raise Refused(
                f"commit {head[:7]} is a merge, so it cannot be amended",
                *_instead(ctx, request.session, "amended", []),
            )
    elif request.fixup is not None:
        refuse_foreign(ctx, request.session, resolve(ctx, request.fixup), "fixed up")


def resolve(ctx: Context, typed: str) -> str:
    """The oid of the commit that a revision means. Raises Fatal where it means none."""
    found = worktrees.value(ctx.git, typed)
    if found is None:
        raise Fatal(f"'{typed}' is no commit", "git log")
    return found


def read(repo: Repository, commit: str) -> Old:
    """Read a commit. Raises Fatal where the object is missing."""
    found = repo.objects.commit(commit.encode())
    author = identity("AUTHOR", found.author, found.author_time, found.author_timezone)
    return Old(tuple(parent.decode() for parent in found.parents), author, found.message or b"")


def first_message(ctx: Context, request: Request) -> bytes | None:
    """The message that a rewrite begins with, None for a commit that rewrites nothing."""
    if request.fixup is not None:
        text = read(ctx.repo, resolve(ctx, request.fixup)).message
        title = b"fixup! " + message.subject(text).encode("utf-8", "surrogateescape")
        return message.join([title, *request.messages])
    head = refs.read_head(ctx.repo).oid
    if not request.amend or request.messages or head is None:
        return None
    return read(ctx.repo, head).message

"""Whose plain commit it is: that of the agent that runs it, told by its environment alone."""

from collections.abc import Mapping

from gitralph.base import process
from gitralph.base.errors import Refused
from gitralph.base.ids import is_valid
from gitralph.git.context import Context
from gitralph.git.refs import Head
from gitralph.records import path_records, published_name
from gitralph.sessions import session_choice

_SESSION = "Ralph-Session: "
ONLY_OWN = "git ralph commit  # commits only what your session edited"


def session(ctx: Context) -> str:
    """The session whose agent commits. Raises Refused or Fatal where nobody knows it."""
    found = session_choice.named(ctx, None, session_choice.COMMIT, writes=True)
    if found is None:
        raise Refused(
            "this agent does not tell its session; nothing was committed",
            ONLY_OWN,
        )
    return found


def git_process(fallback: int) -> dict[str, object]:
    """The git process whose hook this is; ``fallback`` is the hook's parent, where it cannot be looked up."""
    return process.above("git") or process.identity(fallback) or {"pid": fallback, "start": "", "boot": None}


def amends(git: Mapping[str, object]) -> bool:
    """True when that git was told to replace HEAD; git does not tell its ``pre-commit`` hook."""
    pid = git.get("pid")
    words = process.words(pid) if isinstance(pid, int) else None
    for word in words or []:
        if word == b"--":
            return False
        # git takes any unambiguous beginning of an option (gitcli(7)): `--am` is the shortest
        if len(word) > 3 and b"--amend".startswith(word):
            return True
    return False


def signature(ctx: Context, head: Head) -> list[str]:
    """Our trailers at the end of HEAD's message; a new message for HEAD must end with them too."""
    if head.oid is None:
        return []
    said = ctx.git.run("log", "-1", "--no-show-signature", "--format=%(trailers:only,unfold)", head.oid)
    return [row for row in said.decode("utf-8", "replace").splitlines() if row.startswith("Ralph-")]


def sessions(ctx: Context, rows: list[str]) -> list[str]:
    """The sessions that trailers name; a fleet's hash is turned into the id of one of our sessions."""
    said = [row.removeprefix(_SESSION).strip() for row in rows if row.startswith(_SESSION)]
    return [published_name.local(ctx.layout, one) for one in said if is_valid(one)]


def owns_head(ctx: Context, head: Head, own: str) -> bool:
    """True when HEAD's message names this session or a subagent of it."""
    return not set(sessions(ctx, signature(ctx, head))).isdisjoint(path_records.family(ctx.layout, own))

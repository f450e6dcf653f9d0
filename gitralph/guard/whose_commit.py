"""Whose plain commit it is: that of the agent that runs it, told by its environment alone."""

from collections.abc import Mapping

from gitralph.base import process
from gitralph.base.errors import Refused
from gitralph.decide import own_commit
from gitralph.git.context import Context
from gitralph.git.refs import Head
from gitralph.records import path_records
from gitralph.sessions import session_choice

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
    return _was_told(git, b"--amend", 4)


def allows_empty(git: Mapping[str, object]) -> bool:
    """True when that git was told to make a commit that changes nothing."""
    return _was_told(git, b"--allow-empty", 9)


def _was_told(git: Mapping[str, object], option: bytes, least: int) -> bool:
    """True where an option, or a beginning of so many bytes at least, stands among git's words."""
    pid = git.get("pid")
    words = process.words(pid) if isinstance(pid, int) else None
    for word in words or []:
        if word == b"--":
            return False
        # git takes any unambiguous beginning of an option (gitcli(7)): `--am` is the shortest of `--amend`
        if len(word) >= least and option.startswith(word):
            return True
    return False


def owns_head(ctx: Context, head: Head, own: str) -> bool:
    """True when HEAD's message names this session or a subagent of it."""
    return not set(own_commit.signers(ctx, head.oid)).isdisjoint(path_records.family(ctx.layout, own))

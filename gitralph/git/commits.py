"""Makes the commit object with ``git commit-tree``: identity, encoding and signature are git's."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from dulwich.objects import format_timezone, parse_time_entry

from gitralph.base.errors import UsageError
from gitralph.git.config import Config
from gitralph.git.objects import Objects
from gitralph.git.run import Git


class Author(NamedTuple):
    """What ``--author`` set."""

    name: str
    email: str


def parse_author(git: Git, given: str) -> Author:
    """``A U Thor <a@example.com>``, or a pattern that finds an existing author, as git commit does."""
    found = re.fullmatch(r"\s*(.*?)\s*<([^<>]*)>\s*", given, re.DOTALL)
    if found:
        return Author(found[1], found[2])
    said = git.run(
        "log",
        "-1",
        "--all",
        "-i",
        f"--author={given}",
        "--format=%an%x00%ae",
        "--no-show-signature",
    ).rstrip(b"\n")
    name, zero, email = said.decode("utf-8", "surrogateescape").partition("\0")
    if not zero:
        raise UsageError(f"--author '{given}' is not 'Name <email>' and matches no existing author")
    return Author(name, email)


def with_identity(git: Git, config: Config, author: Author | None) -> Git:
    """A git that refuses to guess who the user is; ``--author`` takes precedence."""
    env = {}
    email = git.env.get("EMAIL", "")
    if email and config.get("user.email") is None:
        # useConfigOnly also refuses $EMAIL, which git commit accepts.
        for who in ("AUTHOR", "COMMITTER"):
            if config.get(f"{who.lower()}.email") is None:
                env[f"GIT_{who}_EMAIL"] = git.env.get(f"GIT_{who}_EMAIL", email)
    if author is not None:
        env |= {"GIT_AUTHOR_NAME": author.name, "GIT_AUTHOR_EMAIL": author.email}
    return git.at(**env)


def make_commit(
    git: Git, objects: Objects, config: Config, tree: bytes, parents: Sequence[str], message: bytes
) -> tuple[str, dict[str, str]]:
    """Make a commit. Returns its oid and its committer, as variables of git's environment.

    Raises Fatal without an identity or signature.
    """
    words = ["-c", "user.useConfigOnly=true", "-c", "core.fsync=loose-object", "commit-tree"]
    words.append(tree.decode())
    for parent in parents:
        words += ["-p", parent]
    if config.boolean("commit.gpgsign"):
        words.append("-S")
    if b"\0" in message:
        raise UsageError("a NUL byte in the commit message")
    oid = git.run(*words, "-F", "-", stdin=message).decode().strip()
    return oid, committer_of(objects, oid)


def replayed(
    git: Git,
    objects: Objects,
    config: Config,
    commit: str,
    tree: bytes,
    parent: str,
    before: str | None = None,
    message: bytes | None = None,
) -> str:
    """A commit with another tree and parent, and all else unchanged: each time the same commit results.

    ``before`` is the commit that resulted the last time; a signature would make it another one.
    """
    kind, raw = objects.raw(commit.encode())
    head, _, body = raw.partition(b"\n\n")
    if message is not None:
        body = message
    elif head.startswith(b"tree %s\nparent %s\nauthor " % (tree, parent.encode())):
        return commit
    kept = [row for row in re.split(rb"\n(?! )", head) if not row.startswith(_REWRITTEN)]
    rows = [b"tree " + tree, b"parent " + parent.encode(), *kept]
    made = b"\n".join(rows) + b"\n\n" + body
    if not config.boolean("commit.gpgsign"):
        return git.run("hash-object", "-t", kind.decode(), "-w", "--stdin", stdin=made).decode().strip()
    if before is not None and _unsigned(objects, before) == made:
        return before
    told = objects.commit(commit.encode())
    who = identity("AUTHOR", told.author, told.author_time, told.author_timezone)
    who |= identity("COMMITTER", told.committer, told.commit_time, told.commit_timezone)
    return make_commit(git.at(**who), objects, config, tree, [parent], body)[0]


# The header lines that tell a commit's place, and the signatures made for that place.
_REWRITTEN = (b"tree ", b"parent ", b"gpgsig ", b"gpgsig-sha256 ", b"mergetag ")


def _unsigned(objects: Objects, commit: str) -> bytes | None:
    try:
        head, _, body = objects.raw(commit.encode())[1].partition(b"\n\n")
    except KeyError:
        return None
    rows = [row for row in re.split(rb"\n(?! )", head) if not row.startswith(_REWRITTEN[2:])]
    return b"\n".join(rows) + b"\n\n" + body


def identity(role: str, who: bytes, time: int, zone: int) -> dict[str, str]:
    """The environment variables for an author or committer; ``role`` is AUTHOR or COMMITTER."""
    name, _, email = who.removesuffix(b">").rpartition(b" <")
    return {
        f"GIT_{role}_NAME": os.fsdecode(name),
        f"GIT_{role}_EMAIL": os.fsdecode(email),
        f"GIT_{role}_DATE": f"@{time} {format_timezone(zone).decode()}",
    }


def committer_of(objects: Objects, commit: str) -> dict[str, str]:
    """The committer of a commit, as variables of git's environment; reflogs hold the same."""
    found = objects.commit(commit.encode())
    return identity("COMMITTER", found.committer, found.commit_time, found.commit_timezone)


def committer_now(git: Git) -> dict[str, str]:
    """The committer of a commit made now. Raises Fatal without an identity."""
    line = git.run("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT").strip()
    who, time, (zone, _) = parse_time_entry(line)
    return identity("COMMITTER", who, time or 0, zone or 0)

"""Which commits of ours are not in HEAD any more: undone, amended or rebased."""

from __future__ import annotations

from collections.abc import Iterable

from gitralph.base.layout import Layout
from gitralph.git import refs
from gitralph.git.repository import Repository
from gitralph.hook.journal import is_oid
from gitralph.journal import consumption


def commits_of(repo: Repository, layout: Layout, family: Iterable[str]) -> list[str]:
    """The last commits of some sessions that are not in HEAD any more: undone, amended or rebased.

    What they took is then judged by content alone: pending again where HEAD lacks it and the file
    has it.
    """
    head = refs.read_head(repo)
    last = [commit for name in family for commit in _last_commits(layout, name)]
    return [commit for commit in last if not refs.contains(repo, head, commit)]


def _last_commits(layout: Layout, session: str) -> list[str]:
    """The last commit of a session, undone ones that it did not judge anew, and who took its edits since."""
    found: list[str] = []
    for fields in consumption.read(layout, session).commits:
        if fields.get("worktree") != layout.token or not is_oid(fields.get("commit")):
            continue
        if not fields.get("included"):
            before = fields.get("undone")
            found = [str(one) for one in before if is_oid(one)] if isinstance(before, list) else []
        found.append(str(fields["commit"]))
    return found


def sessions_among(repo: Repository, layout: Layout, sessions: Iterable[str]) -> set[str]:
    """Those of many sessions whose last commit is not in HEAD any more; one question to git for all."""
    last = {name: commits for name in sessions if (commits := _last_commits(layout, name))}
    head = refs.read_head(repo)
    if head.oid is None or not last:
        return set(last)
    wanted = {one for commits in last.values() for one in commits} - {head.oid}
    if not wanted:  # the usual end of a commit; asking is a process
        return set()
    asked = "\n".join(["^" + head.oid, *sorted(wanted)])
    done = repo.git.try_run("rev-list", "--stdin", stdin=asked.encode())
    if done.returncode:  # one of them is not even there any more
        return {n for n, commits in last.items() if not all(refs.contains(repo, head, c) for c in commits)}
    outside = set(done.stdout.decode().split())
    return {name for name, commits in last.items() if not outside.isdisjoint(commits)}

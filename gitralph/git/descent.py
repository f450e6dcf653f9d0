"""Which commits have another one in their history: what is read for one question serves the next."""

from collections.abc import Collection

from gitralph.git.refs import read_head
from gitralph.git.repository import Repository


class Descent:
    """Commits and their children, as far back as was asked.

    One git process for each of 150 commits of a rebased file took 2 s.
    """

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._read: set[str] = set()
        self._children: dict[str, set[str]] = {}

    def having(self, commit: str, others: Collection[str]) -> set[str]:
        """Those of some commits that are ``commit`` or come after it; of those that are still there."""
        asked = {commit, *others}
        if not asked <= self._read:
            self._look(asked)
        found: set[str] = set()
        rest = [commit]
        while rest:
            at = rest.pop()
            if at not in found:
                found.add(at)
                rest += self._children.get(at, ())
        return found & set(others)

    def _look(self, asked: set[str]) -> None:
        head = read_head(self._repo).oid
        # What is asked about next is mostly in HEAD's history.
        tips = self._list("--no-walk", {*asked, head} if head is not None else asked)
        common = self._repo.git.try_run("merge-base", "--octopus", *tips).stdout.split()
        bounds = {f"^{one.decode()}^@" for one in common}
        self._read |= asked
        for row in self._list("--parents", {*tips, *bounds}):
            commit, *parents = row.split()
            self._read.add(commit)
            for parent in parents:
                self._children.setdefault(parent, set()).add(commit)

    def _list(self, form: str, commits: Collection[str]) -> list[str]:
        given = "".join(f"{one}\n" for one in commits).encode()
        done = self._repo.git.try_run("rev-list", form, "--ignore-missing", "--stdin", stdin=given)
        return done.stdout.decode("ascii", "replace").splitlines()

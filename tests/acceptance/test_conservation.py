"""Random work by three sessions and a user, against a byte model that never asks the tool.

One shared file has a zone of lines for each owner, so what belongs in whose commit is known by
construction; every session and the user also have files of their own.
"""

import os
import random
from dataclasses import dataclass, field

import pytest

from gitralph.commit import land as landing
from tests.support.repo import Repo
from tests.support.size import FULL

SESSIONS = ("S1", "S2", "S3")
USER = "user"
OWNERS = (*SESSIONS, USER)
SEEDS = range(700, 760) if FULL else range(700, 702)
STEPS = 60 if FULL else 28


def joined(zones: dict[str, list[str]]) -> bytes:
    rows = []
    for owner in OWNERS:
        rows += [f"=== zone of {owner} ===", *zones[owner]]
    return "".join(row + "\n" for row in rows).encode()


@dataclass
class Model:
    """What HEAD and the working tree hold, and which of it each session has pending."""

    head: dict[str, bytes] = field(default_factory=dict)
    tree: dict[str, bytes] = field(default_factory=dict)
    zones: dict[str, list[str]] = field(default_factory=dict)
    committed: dict[str, list[str]] = field(default_factory=dict)
    touched: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in SESSIONS})
    staged: bool = False

    def pending(self, session: str) -> set[str]:
        """Paths whose commit by ``session`` would change HEAD."""
        own = {p for p in self.touched[session] if self.tree.get(p) != self.head.get(p)}
        if self.zones[session] != self.committed[session]:
            own.add("shared")
        return own


class World:
    """The same steps done to a repository and to the model."""

    def __init__(self, repo: Repo, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.repo = repo
        self.random = random.Random(seed)
        self.model = Model()
        self.monkeypatch = monkeypatch
        self.number = 0
        zones = {owner: [f"{owner} line {n}" for n in range(8)] for owner in OWNERS}
        self.model.zones = {owner: list(rows) for owner, rows in zones.items()}
        self.model.committed = {owner: list(rows) for owner, rows in zones.items()}
        repo.write("shared", joined(zones))
        for owner in OWNERS:
            repo.write(f"{owner}/base", f"base of {owner}\n" * 5)
        repo.commit_all("start")
        for path in ("shared", *(f"{owner}/base" for owner in OWNERS)):
            self.model.head[path] = self.model.tree[path] = repo.read(path) or b""
        for session in SESSIONS:
            repo.start(session)

    def word(self) -> str:
        self.number += 1
        return f"word{self.number}"

    def change_zone(self, owner: str) -> None:
        rows = self.model.zones[owner]
        at = self.random.randrange(len(rows))
        if self.random.random() < 0.4 or len(rows) < 4:
            rows.insert(at, f"{owner} {self.word()}")
        elif self.random.random() < 0.5:
            del rows[at]
        else:
            rows[at] = f"{owner} {self.word()}"
        text = joined(self.model.zones)
        self.model.tree["shared"] = text
        self.put(owner, "shared", text)

    def put(self, owner: str, path: str, text: bytes) -> None:
        if owner == USER:
            self.repo.write(path, text)
        else:
            self.repo.edit(owner, path, text)

    def own_file(self, owner: str) -> None:
        files = sorted(p for p in self.model.tree if p.startswith(owner + "/"))
        kind = self.random.choice(["new", "edit", "delete", "rename"])
        if kind == "new" or not files:
            path = f"{owner}/{self.word()}"
        else:
            path = self.random.choice(files)
        touched = self.model.touched.get(owner, set())
        touched.add(path)
        if kind == "delete" and files:
            self.drop(owner, path)
        elif kind == "rename" and files:
            self.move(owner, path, f"{owner}/{self.word()}", touched)
        else:
            text = (self.model.tree.get(path, b"") + f"{owner} {self.word()}\n".encode())[-400:]
            self.put(owner, path, text)
            self.model.tree[path] = text

    def drop(self, owner: str, path: str) -> None:
        if owner == USER:
            self.repo.remove(path)
        else:
            self.repo.delete(owner, path)
        del self.model.tree[path]

    def move(self, owner: str, old: str, new: str, touched: set[str]) -> None:
        if owner == USER:
            os.rename(self.repo.file(old), self.repo.file(new))
        else:
            self.repo.rename(owner, old, new)
        touched.add(new)
        self.model.tree[new] = self.model.tree.pop(old)

    def commit(self, session: str, crash: bool = False, whole: bool = False) -> None:
        wanted = self.model.pending(session)
        paths: list[str] = []
        if not whole and len(wanted) > 1 and self.random.random() < 0.3:
            paths = [self.random.choice(sorted(wanted))]
        if crash:
            self.crash(session)
        self.repo.commit(session, *(["--", *paths] if paths else []))
        for path in set(paths) if paths else wanted:
            self.land(session, path)
        self.check()

    def land(self, session: str, path: str) -> None:
        if path == "shared":
            self.model.committed[session] = list(self.model.zones[session])
            self.model.head[path] = joined(self.model.committed)
        elif path in self.model.tree:
            self.model.head[path] = self.model.tree[path]
        else:
            self.model.head.pop(path, None)

    def crash(self, session: str) -> None:
        """A commit that dies at one of the steps of its landing; the next one has to settle it."""
        name = self.random.choice(["_move", "write_log"])

        def die(*_: object) -> None:
            raise SystemError("killed here")

        before = self.repo.count()
        with self.monkeypatch.context() as patch:
            patch.setattr(landing, name, die)
            self.repo.tick()
            stamp = self.repo._environment(None)
            from tests.support import runner

            runner.in_process(["commit", "--session", session, "-m", "x"], cwd=str(self.repo.root), env=stamp)
        if self.repo.count() > before:
            for path in self.model.pending(session):
                self.land(session, path)

    def user_commits(self) -> None:
        paths = [p for p in sorted({*self.model.tree, *self.model.head}) if p.startswith(USER + "/")]
        self.repo.tick()
        self.repo.git("add", "-A", "--", USER)
        known = self.tracked(paths)
        if not known:
            return
        self.repo.git("commit", "-q", "--allow-empty", "-m", "the user's", "--", *known)
        for path in paths:
            self.land(USER, path)
        self.check()

    def tracked(self, paths: list[str]) -> list[str]:
        listed = set(self.repo.git("ls-files", "--", USER).split("\n"))
        known = {p for p in paths if p in listed or p in self.model.head}
        return sorted(known)

    def check(self) -> None:
        rows = self.repo.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")
        assert set(rows) == set(self.model.head)
        for path in rows:
            assert self.repo.blob(path) == self.model.head[path], path
        for session in SESSIONS:
            listed = set(self.repo.pending(session))
            assert self.model.pending(session) <= listed, session
            assert all(p == "shared" or p in self.model.touched[session] for p in listed)

    def step(self) -> None:
        owner = self.random.choice(OWNERS)
        kind = self.random.random()
        if kind < 0.4:
            self.change_zone(owner)
        elif kind < 0.7:
            self.own_file(owner)
        elif owner == USER:
            self.user_commits()
        else:
            self.commit(owner, crash=self.random.random() < 0.2)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_line_is_lost_doubled_or_given_to_another(
    empty_repo: Repo, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each commit's tree and what stays pending are as the model predicts, after every step."""
    repo = empty_repo
    world = World(repo, seed, monkeypatch)
    for _ in range(STEPS):
        world.step()
    for session in SESSIONS:
        world.commit(session, whole=True)
    for session in SESSIONS:
        assert repo.commit(session).status == "nothing"
    repo.git("add", "-A")
    repo.git("commit", "-q", "--allow-empty", "-m", "the rest")
    assert repo.blob("shared") == joined(world.model.zones)
    repo.git("fsck", "--strict")

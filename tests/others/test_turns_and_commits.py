"""Who commits what when: the situations of Entire's end-to-end tests, each as a row of steps.

There the question is whether a commit finds the prompts that made it. Here: whether plain git, by a person
or by the agent in the middle of its turn, leaves each session exactly what is still its own, through
splits, stashes, deletions, a hook manager that takes the hooks over, subagents and borrowed objects.
"""

import os
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from gitralph.commit import guard_script
from tests.support.guarded import commit_as, git_as
from tests.support.repo import Repo

A, B = "turn-one", "turn-two"
Step = tuple[Any, ...]


@dataclass(frozen=True)
class Row:
    """A story. The words of its steps are the methods of :class:`Teller`."""

    name: str
    steps: tuple[Step, ...]


def _doc(word: str) -> str:
    return f"a paragraph about {word}\n"


def _new(session: str, *words: str) -> tuple[Step, ...]:
    return tuple(("edit", session, f"docs/{word}.md", _doc(word)) for word in words)


GO = "package main\n"
ROWS = (
    Row(
        "a person commits what two turns made, and nothing is left of either",
        (
            *_new(A, "red"),
            *_new(B, "blue"),
            ("git", "add", "."),
            ("git", "commit", "-q", "-m", "both"),
            ("left", A),
            ("left", B),
            ("made_by", "docs/red.md", A),
            ("made_by", "docs/blue.md", B),
        ),
    ),
    Row(
        "each turn commits by itself, and each commit is of one session",
        (
            *_new(A, "red"),
            ("agent", A, {"docs/red.md": "A"}, "docs/red.md"),
            *_new(B, "blue"),
            ("agent", B, {"docs/blue.md": "A"}, "docs/blue.md"),
        ),
    ),
    Row(
        "in the middle of its turn it commits other files than those of the turn before",
        (
            *_new(A, "one"),
            ("stop", A),
            *_new(A, "two-a", "two-b"),
            ("agent", A, {"docs/two-a.md": "A", "docs/two-b.md": "A"}, "docs/two-a.md", "docs/two-b.md"),
            ("left", A, "docs/one.md"),
            ("ralph", A, {"docs/one.md": "A"}),
        ),
    ),
    Row(
        "`git add -A` in the middle of a turn takes no file of the other one",
        (
            *_new(A, "one"),
            *_new(B, "two"),
            ("agent", B, {"docs/two.md": "A"}, "-A"),
            ("left", A, "docs/one.md"),
        ),
    ),
    Row(
        "a person splits what one turn made into two commits",
        (
            *_new(A, *"abcd"),
            ("git", "add", "docs/a.md", "docs/b.md"),
            ("git", "commit", "-q", "-m", "two of them"),
            ("left", A, "docs/c.md", "docs/d.md"),
            ("git", "add", "-A"),
            ("git", "commit", "-q", "-m", "the others"),
            ("left", A),
            *(("made_by", f"docs/{word}.md", A) for word in "abcd"),
        ),
    ),
    Row(
        "the same file in two turns, a commit after each",
        (
            ("base", "src/main.go", GO),
            ("edit", A, "src/main.go", GO + "hello\n"),
            ("git", "commit", "-q", "-a", "-m", "hello"),
            ("edit", A, "src/main.go", GO + "hello\ngoodbye\n"),
            ("left", A, "src/main.go"),
            ("git", "commit", "-q", "-a", "-m", "goodbye"),
            ("left", A),
        ),
    ),
    Row(
        "three tracked files of one turn, one commit for each",
        (
            *(("base", f"src/{name}.go", GO) for name in ("model", "view", "control")),
            *(("edit", A, f"src/{name}.go", GO + name) for name in ("model", "view", "control")),
            ("git", "commit", "-q", "-m", "model", "src/model.go"),
            ("left", A, "src/control.go", "src/view.go"),
            ("git", "commit", "-q", "-m", "view", "src/view.go"),
            ("ralph", A, {"src/control.go": "M"}),
        ),
    ),
    Row(
        "one committed, the others stashed, a second turn commits past the stash, the pop brings them back",
        (
            *_new(A, *"abc"),
            ("git", "add", "docs/a.md"),
            ("git", "commit", "-q", "-m", "a"),
            ("git", "add", "docs/b.md", "docs/c.md"),
            ("git", "stash", "-q"),
            ("left", A),
            *_new(B, *"de"),
            ("ralph", B, {"docs/d.md": "A", "docs/e.md": "A"}),
            ("git", "stash", "pop", "-q"),
            ("left", A, "docs/b.md", "docs/c.md"),
            ("left", B),
            ("git", "reset", "-q"),
            ("ralph", A, {"docs/b.md": "A", "docs/c.md": "A"}),
        ),
    ),
    Row(
        "stashed, a second turn, popped, and a person commits all of it at once",
        (
            *_new(A, *"bc"),
            ("git", "add", "-A"),
            ("git", "stash", "-q"),
            *_new(B, *"de"),
            ("git", "stash", "pop", "-q"),
            ("git", "add", "docs"),
            ("git", "commit", "-q", "-m", "all"),
            ("left", A),
            ("left", B),
            ("made_by", "docs/b.md", A),
            ("made_by", "docs/e.md", B),
        ),
    ),
    Row(
        "a tracked file is stashed while its neighbour is committed",
        (
            ("base", "src/a.go", GO),
            ("base", "src/b.go", GO),
            ("edit", A, "src/a.go", GO + "hello\n"),
            ("edit", A, "src/b.go", GO + "world\n"),
            ("git", "commit", "-q", "-m", "a", "src/a.go"),
            ("git", "stash", "-q"),
            ("left", A),
            ("git", "stash", "pop", "-q"),
            ("left", A, "src/b.go"),
            ("ralph", A, {"src/b.go": "M"}),
        ),
    ),
    Row(
        "a file is deleted and another one made in one turn",
        (
            ("base", "to_delete.go", GO),
            ("delete", A, "to_delete.go"),
            ("edit", A, "replacement.go", GO + "again\n"),
            ("agent", A, {"to_delete.go": "D", "replacement.go": "A"}, "."),
            ("left", A),
        ),
    ),
    Row(
        "deleted by one, made anew by the other",
        (
            ("base", "a.go", GO),
            ("base", "b.go", GO),
            ("delete", A, "a.go"),
            ("edit", B, "replacement.go", GO + "again\n"),
            ("ralph", B, {"replacement.go": "A"}),
            ("ralph", A, {"a.go": "D"}),
        ),
    ),
    Row(
        "what a subagent made is its parent's to commit",
        (
            ("edit_as", A, "sub-1", "docs/red.md", _doc("red")),
            ("edit", B, "docs/blue.md", _doc("blue")),
            ("agent", A, {"docs/red.md": "A"}, "-A"),
            ("made_by", "docs/red.md", A),
            ("left", B, "docs/blue.md"),
        ),
    ),
    Row(
        "a hook manager writes its launchers over every hook: doctor says so, and installing again mends it",
        (
            *_new(A, "red"),
            *_new(B, "blue"),
            ("launchers",),
            ("doctor", True),
            ("install",),
            ("doctor", False),
            ("agent", A, {"docs/red.md": "A"}, "-A"),
            ("left", B, "docs/blue.md"),
        ),
    ),
    Row(
        "objects are borrowed from another repository by a relative path",
        (
            ("base", "src/a.go", GO + "one\ntwo\nthree\n"),
            ("borrow",),
            ("edit", A, "src/a.go", GO + "ONE\ntwo\nthree\n"),
            ("edit", B, "src/a.go", GO + "ONE\ntwo\nTHREE\n"),
            ("ralph", B, {"src/a.go": "M"}),
            ("holds", "src/a.go", GO + "one\ntwo\nTHREE\n"),
            ("agent", A, {"src/a.go": "M"}, "src/a.go"),
            ("holds", "src/a.go", GO + "ONE\ntwo\nTHREE\n"),
        ),
    ),
)


@dataclass
class Teller:
    """Plays the steps."""

    repo: Repo

    def base(self, path: str, text: str) -> None:
        self.repo.write(path, text)
        self.repo.commit_all(f"base of {path}")

    def edit(self, session: str, path: str, text: str) -> None:
        self.repo.edit(session, path, text)

    def edit_as(self, session: str, agent: str, path: str, text: str) -> None:
        self.repo.edit(session, path, text, fields={"agent_id": agent})

    def delete(self, session: str, path: str) -> None:
        self.repo.delete(session, path)

    def stop(self, session: str) -> None:
        self.repo.hook("generic", {"session": session, "cwd": str(self.repo.root), "event": "stop"})

    def git(self, *words: str) -> None:
        """A person's git."""
        self.repo.tick()
        done = git_as(self.repo, None, *words)
        assert done.code == 0, done.said

    def agent(self, session: str, wanted: dict[str, str], *added: str) -> None:
        """The agent's own ``git add`` and ``git commit``."""
        assert git_as(self.repo, session, "add", *added).code == 0
        commit_as(self.repo, session)
        assert self.repo.changes(self.repo.head()) == wanted
        assert f"Ralph-Session: {session}" in self.repo.trailers()

    def ralph(self, session: str, wanted: dict[str, str]) -> None:
        assert self.repo.commit(session).paths == wanted

    def left(self, session: str, *paths: str) -> None:
        assert self.repo.pending(session) == list(paths)

    def made_by(self, path: str, session: str) -> None:
        rows = self.repo.ralph("blame", "--json", path).json()["lines"]
        assert {row["session"] for row in rows} == {session}

    def holds(self, path: str, text: str) -> None:
        assert self.repo.blob(path).decode() == text

    def launchers(self) -> None:
        """As a hook manager's own ``install`` does: every hook is a launcher of its."""
        for name in (*guard_script.HOOKS, "post-rewrite", "pre-push"):
            self.repo.write(f".git/hooks/{name}", '#!/bin/sh\n[ "$MANAGER" = 0 ] || exit 0\n', 0o755)

    def install(self) -> None:
        self.repo.ralph("install", "--guard")

    def doctor(self, is_dead: bool) -> None:
        rows = self.repo.run("doctor", "--json").json()["checks"]
        (found,) = [row for row in rows if row["check"] == "guard"]
        assert found["ok"] is not is_dead, found

    def borrow(self) -> None:
        """All objects lie in a neighbour, which is named by a relative path."""
        store = self.repo.root.parent / "lender.git"
        subprocess.run(
            ["git", "clone", "-q", "--bare", str(self.repo.root), str(store)], check=True, env=self.repo.env
        )
        own = self.repo.common / "objects"
        for path in [one for one in own.rglob("*") if one.is_file() and len(one.parent.name) == 2]:
            path.unlink()
        (own / "info").mkdir(exist_ok=True)
        (own / "info/alternates").write_text(os.path.relpath(store / "objects", own) + "\n")
        self.repo.git("fsck", "--full")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_everybody_keeps_what_is_theirs(empty_repo: Repo, row: Row) -> None:
    repo = empty_repo
    repo.write("README", "read me\n")
    repo.commit_all("base")
    repo.ralph("install", "--guard")
    repo.git("config", "ralph.guard", "narrow")
    teller = Teller(repo)
    for word, *given in row.steps:
        getattr(teller, word)(*given)

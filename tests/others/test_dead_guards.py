"""The ways in which a guard dies, as mcp_agent_mail's tests of its hooks know them: ``doctor`` tells each.

Each row takes a guard that works, does one thing to it, and says whether it still judges an agent's commit.
Where it does not, ``doctor`` must say so and name the command that mends it; after that it must judge again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitralph.commit import guard_script
from tests.support.guarded import TEN, git_as, narrowing, ten
from tests.support.repo import Repo
from tests.support.size import FULL

pytestmark = pytest.mark.usefixtures("probes")
A, B = "agent-one", "agent-two"


@dataclass(frozen=True)
class Row:
    """What is done to a guard that works, and whether that kills it."""

    name: str
    act: Callable[[Repo], object]
    dies: bool
    mend: str = "git ralph install --guard"


def _hooks(repo: Repo) -> Path:
    return Path(repo.git("rev-parse", "--path-format=absolute", "--git-path", "hooks"))


def _each(repo: Repo, change: Callable[[Path], object]) -> None:
    for name in guard_script.HOOKS:
        change(_hooks(repo) / name)


def _own_folder(repo: Repo, folder: str) -> None:
    repo.file(".hooks").mkdir(exist_ok=True)
    repo.git("config", "core.hooksPath", folder)


def _framework(repo: Repo) -> None:
    """As such a tool installs itself: what it finds is kept under another name, and run by nobody."""

    def take(hook: Path) -> None:
        hook.rename(hook.with_name(hook.name + ".old"))
        hook.write_text("#!/bin/sh\nexit 0\n")
        hook.chmod(0o755)

    _each(repo, take)


def _again(repo: Repo) -> None:
    for _ in range(2):
        repo.ralph("install", "--guard")


def _theirs_first(repo: Repo) -> None:
    """A hook that was there before is kept and runs, also after a second installation."""
    repo.ralph("uninstall", "--guard")
    hook = _hooks(repo) / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/usr/bin/env perl\nexit 0;\n")
    hook.chmod(0o755)
    _again(repo)


ROWS = (
    Row("nothing is done", lambda repo: None, dies=False),
    Row("its hooks are deleted", lambda repo: _each(repo, Path.unlink), dies=True),
    Row("one of its hooks is deleted", lambda repo: (_hooks(repo) / "pre-commit").unlink(), dies=True),
    Row("its hooks may not run", lambda repo: _each(repo, lambda hook: hook.chmod(0o644)), dies=True),
    Row("a hook of it is emptied", lambda repo: (_hooks(repo) / "pre-commit").write_text(""), dies=True),
    Row("a framework takes its place", _framework, dies=True),
    Row(
        "core.hooksPath is set later, absolute",
        lambda repo: _own_folder(repo, str(repo.file(".hooks"))),
        dies=True,
    ),
    Row("core.hooksPath is set later, relative", lambda repo: _own_folder(repo, ".hooks"), dies=True),
    Row(
        "core.hooksPath names a folder that is not there",
        lambda repo: repo.git("config", "core.hooksPath", "no"),
        dies=True,
    ),
    Row(
        "the mode is misspelt: nothing is narrowed, everything is refused",
        lambda repo: repo.git("config", "ralph.guard", "narow"),
        dies=True,
        mend="git config ralph.guard warn",
    ),
    Row("it is installed again and again", _again, dies=False),
    Row("another hook was there before, and it is installed twice", _theirs_first, dies=False),
)


def _check(repo: Repo) -> dict[str, object]:
    rows = repo.run("doctor", "--json").json()["checks"]
    (found,) = [row for row in rows if row["check"] == "guard"]
    return dict(found)


def _judges(repo: Repo) -> bool:
    """Whether an agent's ``git commit -a`` holds its own lines and not the other one's."""
    count = repo.count()
    repo.edit(A, "f", ten(l2=f"two {count}"))
    repo.edit(B, "f", ten(l2=f"two {count}", l8=f"eight {count}"))
    repo.tick()
    done = git_as(repo, A, "commit", "-q", "-a", "-m", "x")
    right = done.code == 0 and repo.blob("f").decode() == ten(l2=f"two {count}")
    repo.git("reset", "-q", "--hard")
    repo.write("f", TEN)
    repo.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-a", "-m", "as it was")
    return right


# a linked worktree has the same hooks, unless core.hooksPath says another folder: with RALPH_FULL=1 each row
CASES = [
    pytest.param(row, linked, id=f"{row.name}-{'linked' if linked else 'main'} worktree")
    for row in ROWS
    for linked in (False, True)
    if not linked or FULL or not row.dies or "core.hooksPath" in row.name
]


@pytest.mark.parametrize(("row", "linked"), CASES)
def test_doctor_knows_a_dead_guard(empty_repo: Repo, row: Row, linked: bool) -> None:
    repo = narrowing(empty_repo)
    if linked:
        repo = repo.worktree("beside")
    row.act(repo)
    assert _judges(repo) is not row.dies
    said = _check(repo)
    assert said["ok"] is not row.dies, said
    if row.dies:
        assert said["fix"] == row.mend
        if row.mend.startswith("git config"):
            repo.git("config", "ralph.guard", "narrow")
        else:
            repo.ralph("install", "--guard")
        assert _check(repo)["ok"]
        assert _judges(repo)


def test_a_rename_is_judged_under_both_names(empty_repo: Repo) -> None:
    """A file that another session edits is moved by ``git mv``: it goes along under neither name."""
    repo = narrowing(empty_repo)
    repo.edit(B, "f", ten(l8="eight"))
    assert git_as(repo, A, "mv", "f", "moved").code == 0
    head = repo.head()
    git_as(repo, A, "commit", "-q", "-a", "-m", "x")
    names = repo.git("ls-tree", "--name-only", "HEAD").splitlines()
    held = "moved" if "moved" in names else "f"
    assert b"eight" not in repo.blob(held)
    assert repo.head() == head or b"eight" not in repo.blob(held)


def test_uninstalling_leaves_nothing_of_it(empty_repo: Repo) -> None:
    folder = empty_repo.common / "hooks"
    before = sorted(folder.iterdir()) if folder.exists() else None
    repo = narrowing(empty_repo)
    repo.ralph("uninstall", "--guard")
    assert (sorted(folder.iterdir()) if folder.exists() else None) == before

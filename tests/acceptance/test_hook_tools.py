"""Repository hooks find the tools of the main worktree, wherever they run."""

from pathlib import Path

import pytest

from tests.support.repo import Repo
from tests.support.texts import TEN

MINE = TEN.replace("line 9\n", "line nine\n")


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def husky(repo: Repo) -> Repo:
    """A repository as husky leaves it: hooks in an ignored folder, the tool in ``node_modules``."""
    repo.write(".gitignore", "node_modules/\n.venv/\n/settings.local\nbuild/\n")
    _script(repo.file(".husky/pre-commit"), "lint-staged")
    repo.write("packages/one/index.js", "1\n")
    repo.commit_all("set up husky")
    repo.write(".husky/_/.gitignore", "*")
    _script(
        repo.file(".husky/_/pre-commit"),
        'PATH="node_modules/.bin:$PATH" sh -e "$(dirname "$(dirname "$0")")/pre-commit"',
    )
    _script(repo.file("node_modules/.bin/lint-staged"), "echo ran >> node_modules/log")
    repo.write("packages/one/node_modules/dependency/index.js", "2\n")
    repo.write("settings.local", "strict\n")
    repo.git("config", "core.hooksPath", ".husky/_")
    return repo


def _ran(repo: Repo) -> int:
    return len((repo.read("node_modules/log") or b"").splitlines())


@pytest.mark.parametrize("others", ["nobody", "a human's untracked file", "another session"])
@pytest.mark.parametrize("cwd", [".", "d"])
def test_husky_finds_its_hooks_and_the_tool_in_node_modules(husky: Repo, others: str, cwd: str) -> None:
    """As soon as one untracked file exists the hooks run elsewhere, yet find what git ignores."""
    husky.edit("S1", "a", MINE)
    if others == "a human's untracked file":
        husky.write("notes", "mine\n")
    elif others == "another session":
        husky.edit("S2", "u", MINE)
    husky.ralph("commit", "--session", "S1", "-m", "x", cwd=cwd)
    assert _ran(husky) == 1
    assert husky.changes() == {"a": "M"}


def test_a_tool_in_an_ignored_virtual_environment_is_found(husky: Repo) -> None:
    """``.venv/bin/...`` by its relative name."""
    _script(husky.file(".venv/bin/check"), "cat settings.local packages/one/node_modules/dependency/index.js")
    _script(husky.file(".husky/pre-commit"), '[ "$(.venv/bin/check)" = "$(printf "strict\\n2")" ]')
    husky.commit_all("check")
    husky.write("notes", "mine\n")
    husky.edit("S1", "a", MINE)
    husky.ralph("commit", "--session", "S1", "-m", "x")
    _script(husky.file(".husky/pre-commit"), ".venv/bin/missing")
    husky.edit("S1", "b", MINE)
    husky.ralph("commit", "--session", "S1", "-m", "x", code=1)


def test_a_hook_never_sees_the_borrowed_folders_as_changes(husky: Repo, tmp_path: Path) -> None:
    """Its ``git status`` is clean and its ``git add -A`` takes nothing, though a link is no folder to git."""
    seen = tmp_path / "seen"
    husky.git("config", "core.excludesFile", "~/ignore")
    Path(husky.env["HOME"], "ignore").write_text("*.swp\n")
    _script(husky.file(".husky/pre-commit"), f"touch x.swp; git status --short -uall > '{seen}'; git add -A")
    husky.write("notes", "mine\n")
    husky.edit("S1", "a", MINE)
    husky.ralph("commit", "--session", "S1", "-m", "x")
    assert seen.read_text() == "M  a\n"
    assert husky.changes() == {"a": "M"}


def test_a_hook_that_drops_git_variables_adds_no_borrowed_folder(husky: Repo) -> None:
    """Even where our exclusion does not reach, a link of ours is no change of the hook's."""
    names = '$(env | sed -n "s/^\\(GIT_CONFIG[A-Z0-9_]*\\)=.*/\\1/p")'
    _script(husky.file(".husky/pre-commit"), f'for v in {names}; do unset "$v"; done; git add -A')
    husky.write("notes", "mine\n")
    husky.edit("S1", "a", MINE)
    husky.ralph("commit", "--session", "S1", "-m", "x")
    assert husky.changes() == {"a": "M"}


@pytest.mark.parametrize(
    "clean",
    [
        "git clean -fdqx",
        "git clean -ffdqx && git reset -q --hard",
        "git stash push -q --all && git stash pop -q",
        "git add -fA && git rm -rqf --cached node_modules && git clean -ffdqx",
    ],
)
def test_what_a_hook_cleans_away_is_only_the_link(husky: Repo, clean: str) -> None:
    """``git clean -fdx`` in the scratch worktree deletes nothing of the main one."""
    _script(husky.file(".husky/pre-commit"), clean)
    husky.write("notes", "mine\n")
    husky.edit("S1", "a", MINE)
    before = {p: p.read_bytes() for p in husky.root.rglob("*") if p.is_file() and ".git" not in p.parts}
    husky.run("commit", "--session", "S1", "-m", "x")
    after = {p: p.read_bytes() for p in husky.root.rglob("*") if p.is_file() and ".git" not in p.parts}
    assert after == before


def test_no_borrowed_folder_is_left_when_the_hooks_are_done(husky: Repo) -> None:
    husky.write("notes", "mine\n")
    husky.edit("S1", "a", MINE)
    husky.ralph("commit", "--session", "S1", "-m", "x")
    links = [path for path in husky.state.glob("scratch/*-[0-9]/**/*") if path.is_symlink()]
    assert links == []


def test_a_path_that_becomes_tracked_takes_the_place_of_a_borrowed_one(husky: Repo) -> None:
    """A scratch worktree that a crash left with its links serves the next commit all the same."""
    husky.write("notes", "mine\n")
    husky.edit("S1", "a", MINE)
    husky.ralph("commit", "--session", "S1", "-m", "x")
    scratch = next((husky.state / "scratch").glob("*-0"))
    husky.write("build/keep", "main\n")
    (scratch / "build").symlink_to(husky.file("build"))
    (scratch / "packages/one/node_modules").symlink_to(husky.file("packages/one/node_modules"))
    husky.git("add", "-f", "build/keep")
    husky.git("commit", "-qm", "tracked now")
    husky.write("build/keep", "main, not committed\n")
    husky.edit("S1", "b", MINE)
    husky.ralph("commit", "--session", "S1", "-m", "x")
    assert husky.read("build/keep") == b"main, not committed\n"
    assert husky.file("packages/one/node_modules/dependency/index.js").exists()


def test_caches_and_other_repositories_are_not_borrowed(husky: Repo, tmp_path: Path) -> None:
    """A byte-code cache written for other sources would mislead the main worktree's Python."""
    husky.write(".gitignore", "node_modules/\n__pycache__/\nvendor/\n.worktrees/\n")
    _script(husky.file(".husky/pre-commit"), f"ls -A > '{tmp_path}/seen'")
    husky.commit_all("ignore")
    husky.write("__pycache__/x.pyc", "x")
    husky.write(".worktrees/one/file", "x")
    husky.git("init", "-q", "vendor")
    husky.write("notes", "mine\n")
    husky.edit("S1", "a", MINE)
    husky.ralph("commit", "--session", "S1", "-m", "x")
    names = (tmp_path / "seen").read_text().split()
    assert "node_modules" in names
    assert not {"__pycache__", "vendor", ".worktrees", "notes"} & set(names)

"""One reader of what git prints with ``-z``, checked against git itself, and one way to write it."""

import ast
import os
from pathlib import Path

import pytest

from gitralph.base import nul
from gitralph.git import listing
from gitralph.git.config import Config
from gitralph.git.run import Git
from gitralph.git.trees import Entry
from tests.support import source
from tests.support.repo import Repo

# other forms than a list of entries: fields of one record, messages of a merge, objects, an index's bytes
OTHER = {
    "gitralph.git.worktrees",
    "gitralph.git.merge",
    "gitralph.tasks.worktree.bead_worktrees",
    "gitralph.ask.report.gather",
    "gitralph.cli.track",
}
NAMES = ["plain", "with blank", "new\nline", "tab\t", "ünï", os.fsdecode(b"\xff.bin"), "dir/inner"]


def _splits(module: source.Module) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "split"
        and any(isinstance(arg, ast.Constant) and arg.value in ("\0", b"\0") for arg in node.args)
        for node in ast.walk(module.tree)
    )


def test_one_module_takes_lists_apart() -> None:
    """Whoever wants the entries of a ``-z`` list asks for them."""
    found = {module.name for module in source.modules() if _splits(module)}
    assert found - OTHER == {"gitralph.base.nul"}


def test_a_list_and_back() -> None:
    """What is written is read; an entry without its end was cut off."""
    entries = [os.fsencode(name) for name in NAMES]
    assert nul.rows(nul.joined(entries)) == entries
    assert nul.texts(nul.joined(entries)) == NAMES
    assert nul.rows(b"") == []
    assert nul.rows(b"a\0b") == [b"a"]
    assert nul.groups(b"a\0b\0c\0", 2) == [(b"a", b"b")]


@pytest.fixture
def full(repo: Repo) -> Repo:
    for name in NAMES:
        repo.write(name, f"text of {len(name)}\n")
    repo.file("run").write_text("#!/bin/sh\n")
    repo.file("run").chmod(0o755)
    os.symlink("plain", repo.file("link"))
    repo.commit_all("names")
    return repo


def git_in(repo: Repo) -> Git:
    return Git.find(repo.env).at(str(repo.root))


def test_the_entries_of_an_index(full: Repo) -> None:
    """Modes, oids and paths as ``ls-tree`` has them, with the letters of flagged ones."""
    full.git("update-index", "--skip-worktree", "plain")
    git = git_in(full)
    rows = {row.path: row for row in listing.entries(git.run("ls-files", "-s", "-v", "-z"))}
    plain = {row.path: row.entry for row in listing.entries(git.run("ls-files", "-s", "-z"))}
    assert {path: row.entry for path, row in rows.items()} == plain
    assert set(plain) == {os.fsencode(name) for name in [*NAMES, "a", "run", "link"]} | set(plain)
    assert (plain[b"run"].mode, plain[b"link"].mode) == (0o100755, 0o120000)
    assert (rows[b"plain"].tag, rows[b"run"].tag, rows[b"run"].stage) == ("S", "H", 0)


def test_the_differences_of_two_trees_and_of_an_index(full: Repo) -> None:
    """Made, changed, of another mode and deleted, with both entries."""
    full.git("rm", "-q", "plain")
    full.file("run").chmod(0o644)
    full.write("with blank", "else\n")
    full.write("fresh\n", "x\n")
    full.git("add", "-A")
    git = git_in(full)
    staged = listing.differences(git.run("diff-index", "--cached", "--raw", "--no-abbrev", "-z", "HEAD"))
    full.commit_all("next")
    between = listing.differences(git.run("diff-tree", "-r", "-z", "--no-renames", "HEAD^", "HEAD"))
    assert staged == between
    assert {path: tuple(one and one.mode for one in pair) for path, pair in between.items()} == {
        b"plain": (0o100644, None),
        b"run": (0o100755, 0o100644),
        b"with blank": (0o100644, 0o100644),
        b"fresh\n": (None, 0o100644),
    }
    new = between[b"fresh\n"][1]
    assert new == Entry(0o100644, full.git("rev-parse", "HEAD:fresh\n").encode())


def test_the_states_of_files(full: Repo) -> None:
    """Two letters and the path, whatever stands in a name."""
    full.write("tab\t", "changed\n")
    full.write("untracked/x\n", "x\n")
    said = git_in(full).run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    assert listing.states(said) == [(" M", b"tab\t"), ("??", b"untracked/x\n")]


def test_a_setting_given_several_times_is_read_with_all_others(repo: Repo, tmp_path: Path) -> None:
    """In the order given, from every file, empty ones left out; the last counts where one is wanted."""
    (tmp_path / "more").write_text('[ralph "docs"]\n\tpattern = from include\n')
    repo.git("config", "include.path", str(tmp_path / "more"))
    for value in ("a b", "", "two\nlines"):
        repo.git("config", "--add", "ralph.docs.pattern", value)
    config = Config.load(git_in(repo))
    assert config.all("ralph.docs.pattern") == ["from include", "a b", "two\nlines"]
    assert config.get("ralph.docs.pattern") == "two\nlines"
    assert config.all("ralph.none") == []

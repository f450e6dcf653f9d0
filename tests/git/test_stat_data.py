"""After a commit the index knows how the committed files lie on disk, as after git's own."""

from pathlib import Path

import pytest

from gitralph.git import index
from gitralph.git.context import open_context
from gitralph.git.trees import Entry
from tests.support.repo import Repo
from tests.support.texts import changed


def looks_changed(repo: Repo) -> list[str]:
    """What git takes for changed where it compares no texts, as `git subtree` and release scripts ask."""
    return repo.git("diff-index", "--name-only", "HEAD").split()


@pytest.mark.parametrize("how", ["ours", "all", "added", "paths"])
def test_nothing_looks_changed_after_a_commit(repo: Repo, how: str) -> None:
    repo.git("config", "ralph.guard", "narrow")
    repo.ralph("install", "--guard")
    repo.git("update-index", "-q", "--refresh")
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    env = {"CLAUDE_CODE_SESSION_ID": "S1", "CLAUDECODE": "1"}
    if how == "ours":
        repo.commit("S1")
    elif how == "added":
        repo.git("add", "a", env=env)
    if how != "ours":
        words = {"all": ("-a",), "added": (), "paths": ("--", "a")}[how]
        repo.git("commit", "-qm", "x", *words, env=env)
    assert repo.changes() == {"a": "M"}
    assert looks_changed(repo) == ["b"]
    repo.commit("S2")
    assert looks_changed(repo) == []


def test_a_hidden_file_stays_hidden(repo: Repo) -> None:
    repo.git("update-index", "--assume-unchanged", "b")
    repo.edit("S1", "b", changed())
    repo.commit("S1", checked=False)
    assert repo.git("ls-files", "-v", "b") == "h b"


def test_no_filter_runs_for_it(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook or `status` puts back what is due, and these start no program that the configuration names."""
    monkeypatch.chdir(repo.root)
    ran = tmp_path / "ran"
    repo.write(".gitattributes", "a filter=f\n")
    repo.commit_all("attributes")
    repo.git("config", "filter.f.clean", f"touch {ran}; cat")
    repo.write("a", changed())
    ctx = open_context(repo.env)
    entry = Entry(0o100644, repo.git("rev-parse", ":a").encode())
    copy = index.copy_index(ctx.repo.index, str(tmp_path / "copy"))
    index.advance(ctx.git, copy, ctx.repo.root, {b"a": entry}, {})
    index.refresh(ctx, copy, {b"a": entry}, {})
    assert not ran.exists()
    ctx.repo.close()
    repo.git("add", "--refresh", "a", env={"GIT_INDEX_FILE": copy.path})
    assert ran.exists()  # git itself would run it

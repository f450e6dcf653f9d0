"""What HEAD has of a session's commits."""

import pytest

from gitralph.git.context import open_context
from gitralph.tasks.loop import own_commits
from tests.support.repo import Repo
from tests.support.texts import changed


def test_the_last_one_is_the_last_also_where_an_earlier_one_was_amended(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.edit("S1", "a", changed(2, "two\n"))
    repo.commit("S1")
    first = repo.git("rev-parse", "HEAD").strip()
    repo.write("more", "added by the amend\n")
    repo.git("add", "more")
    repo.git("commit", "-q", "--amend", "--no-edit")
    amended = repo.git("rev-parse", "HEAD").strip()
    repo.edit("S1", "b", "second\n")
    repo.commit("S1")
    second = repo.git("rev-parse", "HEAD").strip()
    monkeypatch.chdir(repo.root)
    ctx = open_context(repo.env)
    try:
        assert list(own_commits.of(ctx, ["S1"]).held.items()) == [(first, amended), (second, second)]
    finally:
        ctx.repo.close()

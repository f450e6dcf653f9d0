"""Fixtures for every test: a sealed environment, a repository, the guard of the real home."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import sealed, texts
from tests.support.repo import Repo


@pytest.fixture(scope="session")
def home_guard(tmp_path_factory: pytest.TempPathFactory) -> sealed.HomeGuard:
    """Fails any test that reaches the home of whoever runs the tests."""
    return sealed.guard_home(str(tmp_path_factory.getbasetemp()))


@pytest.fixture(autouse=True)
def environ(
    tmp_path_factory: pytest.TempPathFactory, home_guard: sealed.HomeGuard, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """The sealed environment, in force in this process too; a test may change its copy."""
    # not below tmp_path, so that a test may use that folder as it likes
    env = sealed.environment(tmp_path_factory.mktemp("home"))
    for name in list(os.environ):
        if name != "PYTEST_CURRENT_TEST":
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    umask = os.umask(0o022)
    home_guard.active = True
    yield dict(env)
    home_guard.active = False
    os.umask(umask)


@pytest.fixture
def empty_repo(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """A repository without a commit."""
    return Repo.init(tmp_path / "repo", environ)


@pytest.fixture
def repo(empty_repo: Repo) -> Repo:
    """A repository with one commit: ``a``, ``b``, ``u`` of ten lines each, and ``d/a``, ``e/b``."""
    for path in ("a", "b", "u", "d/a", "e/b"):
        empty_repo.write(path, texts.TEN)
    empty_repo.commit_all("base")
    return empty_repo


@pytest.fixture
def make_repo(tmp_path: Path, environ: dict[str, str]) -> Callable[[str], Repo]:
    """Makes further empty repositories below the test's folder, by name."""
    return lambda name: Repo.init(tmp_path / name, environ)

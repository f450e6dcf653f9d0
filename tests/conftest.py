"""Fixtures for every test: a sealed environment, a repository, the guard of the real home."""

import gc
import itertools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support import sealed
from tests.support.home import Home, with_tool_on_path
from tests.support.repo import Repo

# a busy machine is no failure, and examples are not worth a folder in the checkout; CI tries the same
# ones each time, so that it fails for a change and not by luck
settings.register_profile("gitralph", deadline=None, database=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("gitralph")


MEMORY = "/dev/shm"
_numbers = itertools.count()


def _has_room(folder: str) -> bool:
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    # containers often give 64 MiB, on which hooks could not be run either
    return not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize > 4 << 30


# a commit waits for the disk a dozen times, in memory for nothing; TMPDIR is obeyed where it is set
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and _has_room(MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)


def pytest_configure() -> None:
    """Children inherit what a shell ignores in the background, SIGINT and SIGQUIT, and nohup, SIGHUP."""
    for name, usual in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGQUIT, signal.SIG_DFL),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(name) is signal.SIG_IGN:
            signal.signal(name, usual)


def pytest_collection_finish() -> None:
    """What the collection made lives to the end; to look through it again and again is 3 % of a run.

    What the tests make is looked through seldom: that is 2 % more.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(scope="session")
def home_guard(tmp_path_factory: pytest.TempPathFactory) -> sealed.HomeGuard:
    """Fails any test that reaches the home of whoever runs the tests."""
    return sealed.guard_home(str(tmp_path_factory.getbasetemp()))


@pytest.fixture(autouse=True)
def environ(
    tmp_path_factory: pytest.TempPathFactory, home_guard: sealed.HomeGuard, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """The sealed environment, in force in this process too; a test may change its copy."""
    # not below tmp_path, so that a test may use that folder as it likes; mktemp lists all there are each time
    env = sealed.environment(tmp_path_factory.getbasetemp() / "homes" / str(next(_numbers)))
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
def repo(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """A repository with one commit: ``a``, ``b``, ``u`` of ten lines each, and ``d/a``, ``e/b``."""
    return Repo.of_ten(tmp_path / "repo", environ)


@pytest.fixture
def make_repo(tmp_path: Path, environ: dict[str, str]) -> Callable[[str], Repo]:
    """Makes further empty repositories below the test's folder, by name."""
    return lambda name: Repo.init(tmp_path / name, environ)


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """``doctor`` remembers what came of a probe."""
    from gitralph.setup.doctor import probe
    from tests.support.probes import remembered

    monkeypatch.setattr(probe, "fire", remembered)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was skipped and why, also in a quiet run."""
    reasons = [
        str(report.longrepr[2])
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    ]
    for reason in sorted(set(reasons)):
        terminalreporter.write_line(f"NOT RUN ({reasons.count(reason)}): {reason}", red=True, bold=True)


@pytest.fixture
def home(environ: dict[str, str], tmp_path: Path) -> Home:
    """The user's home as agents see it, with git-ralph on PATH, and a folder outside any repository."""
    cwd = tmp_path / "elsewhere"
    cwd.mkdir()
    return Home(Path(environ["HOME"]), with_tool_on_path(environ), cwd)

"""The server of every test of a fleet."""

from pathlib import Path

import pytest

from gitralph.tasks.fleet import clock
from tests.tasks.fleet.world import World


class Clock:
    """The boot clock of every clone that runs in this process, moved by hand."""

    def __init__(self) -> None:
        self.now = float(int(clock.now()))  # whole seconds add up exactly
        self.boot = "boot"

    def sleep(self, seconds: float) -> None:
        """Time goes by."""
        self.now += seconds


@pytest.fixture
def world(tmp_path: Path, environ: dict[str, str]) -> World:
    return World.make(tmp_path, environ)


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that only a test moves: nothing depends on how busy the machine is."""
    found = Clock()
    monkeypatch.setattr(clock, "now", lambda: found.now)
    monkeypatch.setattr(clock, "boot", lambda: found.boot)
    return found

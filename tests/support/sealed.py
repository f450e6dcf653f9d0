"""The environment of a test: own home, no system configuration, fixed dates, nothing inherited.

A test that opens something below the real home fails by name, see :class:`HomeGuard`.
"""

import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# What a process needs that is not a setting; coverage finds its children through its own variables.
KEPT = ("TMPDIR", "COVERAGE_PROCESS_START", "COVERAGE_FILE", "COVERAGE_RCFILE")
EPOCH = 1_700_000_000
GIT_CONFIG = """\
[user]
\tname = A U Thor
\temail = author@example.com
[init]
\tdefaultBranch = main
[advice]
\tdetachedHead = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
_GIT_VARIABLES = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
    "GIT_AUTHOR_DATE": f"{EPOCH} +0000",
    "GIT_COMMITTER_DATE": f"{EPOCH} +0000",
}


def environment(home: Path) -> dict[str, str]:
    """A whole environment with ``home`` as home; makes the folder and its ``.gitconfig``."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(GIT_CONFIG)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {
        **kept,
        "PATH": f"{sysconfig.get_path('scripts')}:{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        **_GIT_VARIABLES,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
    }


def is_usual(env: Mapping[str, str]) -> bool:
    """True for an environment in which git does as in any other test."""
    changed = {name for name in env if name.startswith("GIT_")} - set(_GIT_VARIABLES)
    try:
        return not changed and Path(env["HOME"], ".gitconfig").read_text() == GIT_CONFIG
    except (KeyError, OSError):
        return False


class HomeGuard:
    """An audit hook that fails whoever opens, lists or changes something below the real home.

    Python's own folders, the checkout and the temporary folder may lie there and stay allowed. git
    itself cannot be watched, but sees only the sealed ``HOME``.
    """

    _EVENTS = frozenset(
        ["open", "os.listdir", "os.scandir", "os.mkdir", "os.remove", "os.rename", "os.link", "os.symlink"]
    )

    def __init__(self, home: str, allowed: list[str]) -> None:
        self.home = os.path.realpath(home)
        self.allowed = [os.path.realpath(path) for path in allowed if path]
        self.active = False

    def reaches(self, path: str) -> bool:
        """True for a path below the real home that is not one of the allowed folders."""
        if self.home == "/" or not _below(path, self.home):
            return False
        return not any(_below(path, folder) for folder in self.allowed if folder != self.home)

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.active or event not in self._EVENTS:
            return
        for path in args[:2]:
            if isinstance(path, bytes):
                path = os.fsdecode(path)
            if isinstance(path, str) and path[:1] == "/" and self.reaches(os.path.normpath(path)):
                raise AssertionError(f"a test reached the real home: {event} {path}")


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def guard_home(temporary: str) -> HomeGuard:
    """Install the guard for this process; it starts inactive."""
    python = [*sys.path, sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()]
    guard = HomeGuard(os.path.expanduser("~"), [*python, str(Path(__file__).parents[2]), temporary])
    sys.addaudithook(guard)
    return guard

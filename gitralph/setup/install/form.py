"""What every form of registration can tell, and how it says that a file cannot be used; data."""

from collections.abc import Callable
from dataclasses import dataclass, field

from gitralph.setup.install.table import Agent


class UnusableError(Exception):
    """A file is not what the agent itself would accept; the message says where, in a clause."""


@dataclass
class Registered:
    """What a file registers for us. ``commands`` as the agent would run them, ``missing`` events.

    ``is_silent`` when the agent tells none of them what a tool wrote; ``hears_shell`` when it tells
    them of a shell command's begin and end; ``old`` are commands that are not today's; ``disabled`` the
    settings that switch hooks off.
    """

    commands: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    is_silent: bool = False
    hears_shell: bool = True
    old: list[str] = field(default_factory=list)
    disabled: list[str] = field(default_factory=list)
    timeout: float = 30.0


@dataclass(frozen=True)
class Form:
    """Pure functions on a file's bytes. ``removed`` gives None when nothing at all is left.

    ``added`` and ``removed`` return the same bytes where there is nothing to do. ``is_edited`` recognises a
    file of ours that no install leaves like that.
    """

    added: Callable[[Agent, bytes | None], bytes]
    removed: Callable[[Agent, bytes], bytes | None]
    registered: Callable[[Agent, bytes], Registered]
    is_edited: Callable[[Agent, bytes], bool]

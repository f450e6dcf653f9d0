"""An extension file that is all ours: a text of the package, known by its first line; pure."""

import json
import re
import shlex
from importlib import resources

from gitralph.setup.install.form import Form, Registered, UnusableError
from gitralph.setup.install.table import Agent

_MARK = b"// gitralph"
_COMMAND = re.compile(rb"^const COMMAND = (\[.*\]);$", re.MULTILINE)
_TIMEOUT = re.compile(rb"^const TIMEOUT_MS = ([0-9_]+);$", re.MULTILINE)


def text_of(agent: Agent) -> bytes:
    """The extension as the package ships it."""
    return (resources.files("gitralph.setup.install") / "data" / agent.data).read_bytes()


def added(agent: Agent, data: bytes | None) -> bytes:
    """Our text; raises UnusableError where somebody else's file has the name."""
    if data is not None and not data.startswith(_MARK):
        raise UnusableError("is there already and is not ours")
    return text_of(agent)


def removed(agent: Agent, data: bytes) -> bytes | None:
    """Nothing when the file is ours."""
    return None if data.startswith(_MARK) else data


def registered(agent: Agent, data: bytes) -> Registered:
    """The command that the extension starts."""
    if not data.startswith(_MARK):
        raise UnusableError("is there but is not ours")
    found, limit = _COMMAND.search(data), _TIMEOUT.search(data)
    try:
        words = [str(word) for word in json.loads(found[1])] if found else []
    except ValueError:
        words = []
    if not words:
        raise UnusableError("names no command to start")
    command = shlex.join(words)
    out = Registered([command], timeout=int(limit[1]) / 1000 if limit else 30.0)
    out.old = [command] if command != agent.command or data != text_of(agent) else []
    return out


def is_edited(agent: Agent, data: bytes) -> bool:
    """True for our file with another text than today's."""
    return data.startswith(_MARK) and data != text_of(agent)


FORM = Form(added, removed, registered, is_edited)

"""Hooks in a JSON settings file: ``{"hooks": {<event>: [{"matcher", "hooks": [<handler>]}]}}``; pure.

Claude Code made this shape and others took it over; in the flat shape an event lists the handlers themselves.
Only our own handlers are added or removed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gitralph.setup.install import jsontext
from gitralph.setup.install.form import Form, Registered, UnusableError
from gitralph.setup.install.jsontext import Node
from gitralph.setup.install.table import SHELLS, Agent

DISABLE_ALL, MANAGED_ONLY = "disableAllHooks", "allowManagedHooksOnly"
_MARK = "\ufeff"
# A matcher that is a list of tools and no pattern.
_PLAIN = re.compile(r"[\w|]+")


@dataclass(frozen=True)
class _Handler:
    """One of our handlers: where it stands, and what it says."""

    event: str
    group: int
    index: int
    matcher: str | None
    command: str
    timeout: object


def _decode(data: bytes | None) -> str:
    try:
        text = (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnusableError(f"is not UTF-8 (byte {error.start})") from None
    # Editors leave empty files behind; nothing in one can get lost.
    return text if text.strip(_MARK + " \t\r\n") else "{}\n"


def _open(text: str) -> tuple[str, str]:
    """A byte order mark, and the document after it."""
    return (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)


def _parse(text: str, agent: Agent | None = None) -> Node:
    """The document; with ``agent`` checked as that agent does."""
    try:
        root = jsontext.parse(text, agent is None or agent.comments)
    except ValueError as error:
        raise UnusableError(f"is not valid JSON ({error})") from None
    if text[root.start] != "{":
        raise UnusableError("is not a JSON object")
    return root


def _hooks(text: str, root: Node) -> Node | None:
    found = root.get("hooks")
    if found is not None and text[found.start] != "{":
        raise UnusableError("has unexpected hooks: 'hooks' is not an object")
    return found


def _event(agent: Agent, text: str, hooks: Node, event: str) -> Node | None:
    """The groups of an event, checked as far as we touch them."""
    found = hooks.get(event)
    if found is None:
        return None
    value = jsontext.value_of(text, found)
    if not isinstance(value, list) or not all(isinstance(group, dict) for group in value):
        raise UnusableError(f"has unexpected hooks: '{event}' is not a list of objects")
    for group in value if not agent.flat else ():
        handlers = group.get("hooks")
        if not isinstance(handlers, list) or not all(isinstance(one, dict) for one in handlers):
            raise UnusableError(f"has unexpected hooks: a group of '{event}' has no list 'hooks'")
    return found


def _is_ours(agent: Agent, command: str) -> bool:
    # An agent that stops a call when a hook fails gets `|| true` behind the command. The pattern knows both
    # forms.
    tail = "" if agent.fails_open else r"(?:\|\|\s*(?:true|:)\s*)?"
    words = rf"\s*(?:\S*/)?git[ -]ralph\s+hook\s+{re.escape(agent.name)}\s*{tail}"
    return bool(re.fullmatch(words, command))


def _mentions(agent: Agent, command: str) -> bool:
    """True for a command that somebody wired by hand: a wrapper, a script of contrib."""
    return bool(re.search(rf"git[ -]?ralph\b.*{re.escape(agent.name)}", command))


def _handlers(agent: Agent, text: str, hooks: Node | None) -> Iterator[_Handler]:
    """Every command handler of every event that has the known shape."""
    value = jsontext.value_of(text, hooks) if hooks is not None else {}
    name, limit = agent.keys
    for event, groups in value.items():
        for at, group in enumerate(groups if isinstance(groups, list) else []):
            if not isinstance(group, dict):
                continue
            handlers = [group] if agent.flat else group.get("hooks")
            for index, one in enumerate(handlers if isinstance(handlers, list) else []):
                command = one.get(name) if isinstance(one, dict) else None
                if isinstance(command, str):
                    matcher = group.get("matcher") or None
                    yield _Handler(event, at, index, matcher, command, one.get(limit))


def _covers(matcher: object, wanted: str | None) -> bool:
    """True when a matcher accepts at least the tools that ours names."""
    # No matcher, an empty one and a star are all tools (Claude Code's documentation of hooks).
    if matcher in (None, "*"):
        return True
    if wanted is None or not isinstance(matcher, str):
        return False
    return set(wanted.split("|")) <= set(matcher.split("|"))


def _missing(agent: Agent, found: list[_Handler]) -> list[str]:
    return [
        event
        for event, matcher in agent.events
        if not any(one.event == event and _covers(one.matcher, matcher) for one in found)
    ]


def _is_silent(agent: Agent, found: list[_Handler]) -> bool:
    """True when no handler is told of what a tool wrote."""
    wanted = next((matcher for event, matcher in agent.events if event == agent.recording), None)
    tools = None if wanted is None else frozenset(wanted.split("|")) - SHELLS
    told = [one for one in found if one.event == agent.recording]
    return not any(tools is None or _hears(one.matcher, tools) for one in told)


def _hears(matcher: object, tools: frozenset[str]) -> bool:
    """True unless a matcher names only tools, and none of these."""
    is_list = isinstance(matcher, str) and _PLAIN.fullmatch(matcher)
    return not is_list or not tools.isdisjoint(str(matcher).split("|"))


def _hears_shell(agent: Agent, found: list[_Handler]) -> bool:
    """True when one handler is told of a shell command's begin, and one of its end."""
    names = [event for event, _ in agent.events]
    around = names[names.index(agent.recording) - 1], agent.recording  # the table has them side by side
    return all(any(one.event == event and _hears(one.matcher, SHELLS) for one in found) for event in around)


def _is_current(agent: Agent, found: list[_Handler]) -> bool:
    """True when exactly our events are registered, once each, with today's command."""
    return (
        not _missing(agent, found)
        and len(found) == len(agent.events)
        and all(one.command == agent.command for one in found)
    )


def added(agent: Agent, data: bytes | None) -> bytes:
    """The settings with our handlers; an older form of them is replaced."""
    mark, text = _open(_decode(data))
    hooks = _hooks(text, _parse(text, agent))
    for event, _ in agent.events if hooks is not None else ():
        assert hooks is not None
        _event(agent, text, hooks, event)
    ours = [one for one in _handlers(agent, text, hooks) if _is_ours(agent, one.command)]
    if data is not None and _is_current(agent, ours):
        return data
    # First all out and then all in: an older form may have had other events, or one twice.
    text = _without(agent, text)
    if agent.version is not None and _parse(text).get("version") is None:
        text = jsontext.insert(text, _parse(text), agent.version, "version")
    if _parse(text).get("hooks") is None:
        text = jsontext.insert(text, _parse(text), {}, "hooks")
    for event, matcher in agent.events:
        text = _with(agent, text, event, _group(agent, matcher))
    return (mark + text).encode("utf-8", "surrogatepass")


def _group(agent: Agent, matcher: str | None) -> dict[str, Any]:
    name, limit = agent.keys
    handler = {"type": "command", name: agent.command, limit: agent.timeout}
    only: dict[str, Any] = {} if matcher is None else {"matcher": matcher}
    return {**only, **handler} if agent.flat else {**only, "hooks": [handler]}


def _with(agent: Agent, text: str, event: str, group: dict[str, Any]) -> str:
    hooks = _hooks(text, _parse(text))
    assert hooks is not None
    groups = _event(agent, text, hooks, event)
    if groups is None:
        return jsontext.insert(text, hooks, [group], event)
    return jsontext.insert(text, groups, group)


def _without(agent: Agent, text: str) -> str:
    """``text`` without our handlers, and without the parts that held only these."""
    # Each removal shifts the spans behind it, so the text is parsed again for the next one.
    while True:
        hooks = _hooks(text, _parse(text))
        found = next((one for one in _handlers(agent, text, hooks) if _is_ours(agent, one.command)), None)
        if found is None:
            return text
        text = _remove_one(agent, text, found)


def _remove_one(agent: Agent, text: str, found: _Handler) -> str:
    """Take out a handler, or the outermost part that holds nothing else."""
    root = _parse(text)
    hooks = root.get("hooks")
    assert hooks is not None
    groups = hooks.get(found.event)
    assert groups is not None
    handlers = groups if agent.flat else groups.nodes[found.group].get("hooks")
    assert handlers is not None
    if not agent.flat and len(handlers.nodes) > 1:
        return jsontext.remove(text, handlers, found.index)
    if len(groups.nodes) > 1:
        return jsontext.remove(text, groups, found.group)
    if len(hooks.nodes) > 1:
        return jsontext.remove(text, hooks, hooks.keys.index(found.event))
    return jsontext.remove(text, root, root.keys.index("hooks"))


def removed(agent: Agent, data: bytes) -> bytes | None:
    """The settings without our handlers; None when nothing else was in them."""
    mark, text = _open(_decode(data))
    _parse(text, agent)
    without = _without(agent, text)
    if without == text:
        return data
    rest = _parse(without)
    # What the installation itself put there besides the hooks is not somebody's setting.
    if not rest.nodes or (agent.version is not None and rest.keys == ["version"]):
        return None
    return (mark + without).encode("utf-8", "surrogatepass")


def registered(agent: Agent, data: bytes) -> Registered:
    """What these settings make the agent run for us. Raises UnusableError as the agent would."""
    text = _open(_decode(data))[1]
    root = _parse(text, agent)
    hooks = _hooks(text, root)
    found = [one for one in _handlers(agent, text, hooks) if _mentions(agent, one.command)]
    out = Registered(list(dict.fromkeys(one.command for one in found)))
    out.missing = _missing(agent, found) if found else []
    out.is_silent = bool(found) and _is_silent(agent, found)
    out.hears_shell = bool(found) and _hears_shell(agent, found)
    out.old = [command for command in out.commands if not _is_known(agent, command)]
    limits = [one.timeout for one in found if isinstance(one.timeout, (int, float))]
    out.timeout = min(limits, default=agent.timeout) * agent.unit
    value = jsontext.value_of(text, root)
    out.disabled = [key for key in (DISABLE_ALL, MANAGED_ONLY) if value.get(key) is True]
    return out


def _is_known(agent: Agent, command: str) -> bool:
    """True for today's command, and for scripts that end in it."""
    return command.strip() == agent.command or not _is_ours(agent, command)


FORM = Form(added, removed, registered, lambda _agent, _data: False)

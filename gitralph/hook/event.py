"""What an adapter makes of a payload: an event and the changes that it tells; pure data.

Fast lane, so plain classes. ``kind`` is one of ``pre edit failed shell-pre shell start stop end prompt cwd
worktree-create worktree-remove subagent-start subagent-stop subagent other``. Only ``edit`` records. ``pre``
looks at the files before an edit. ``shell-pre`` and ``shell`` look at the worktree around a shell command.
"""

from collections.abc import Callable, Mapping

from gitralph.base.ids import safe_form
from gitralph.hook.reconcile import UNKNOWN, Text


class Change:
    """One file of one tool call. ``op`` is ``edit``, ``delete`` or ``rename`` (then with ``to``).

    ``compute`` gives the texts that the call may have made of a text it found, best first; it serves where
    the payload does not hold the whole new text. ``weak``: the texts count only where the disk agrees. For a
    rename that changes the text, ``source`` is the other end. ``found`` is what was there before. ``other``
    is the tree path of a rename's other end.
    """

    __slots__ = (
        "after",
        "before",
        "compute",
        "follow",
        "found",
        "op",
        "other",
        "path",
        "source",
        "to",
        "weak",
    )

    def __init__(
        self,
        path: str,
        op: str = "edit",
        *,
        to: str | None = None,
        before: Text = UNKNOWN,
        after: Text = UNKNOWN,
        compute: Callable[[str], list[str]] | None = None,
        follow: bool = True,
        weak: bool = False,
    ) -> None:
        self.path = path
        self.op = op
        self.to = to
        self.before = before
        self.after = after
        self.compute = compute
        self.follow = follow
        self.weak = weak
        self.source: Change | None = None
        self.other: bytes | None = None
        self.found: Text = UNKNOWN


class Guess(str):
    """A text that a call may have made: it counts only where the disk holds exactly this text."""

    __slots__ = ()


class Stop:
    """What a stop tells, where the agent asks whether to go on.

    ``said`` is the last message where the payload holds it, else ``transcript`` does. ``own``: the last
    message is a subagent's own. ``running``: something goes on in the background. ``again``: whether the
    agent says that it was sent on before, None when it does not say.
    """

    __slots__ = ("again", "own", "running", "said", "transcript")

    def __init__(
        self, said: str | None, transcript: str | None, own: bool, running: bool, again: bool | None
    ) -> None:
        self.said = said
        self.transcript = transcript
        self.own = own
        self.running = running
        self.again = again


class Event:
    """One hook call of ``agent``. ``session`` is the agent's own id, ``parent`` its parent's id.

    Only :func:`session_of` decides whose the event is. ``link`` names a session and another whose edits
    belong to it as well. ``echo``: another event of the same call tells the edit better, where that one is
    registered too. ``ahead``: the agent waits for permission to call ``tool`` with ``given``. ``bare``:
    ``given`` is everything, without an event around it. ``model`` is the model that the payload names.
    ``goes_on``: a shell command was sent to the background, and tells no end. ``named`` is the name that a
    payload of ``generic`` gives its agent.
    """

    __slots__ = (
        "agent",
        "agent_id",
        "agent_type",
        "ahead",
        "bare",
        "call",
        "changes",
        "cwd",
        "echo",
        "given",
        "goes_on",
        "kind",
        "link",
        "model",
        "named",
        "parent",
        "required",
        "session",
        "source",
        "stop",
        "tool",
        "transcript",
        "worktree",
    )

    def __init__(
        self,
        kind: str,
        session: str | None,
        *,
        cwd: str | None = None,
        changes: list[Change] | None = None,
        tool: str | None = None,
        call: str | None = None,
        agent_id: str | None = None,
        parent: str | None = None,
        transcript: str | None = None,
        source: str | None = None,
        echo: bool = False,
    ) -> None:
        self.kind = kind
        self.session = session
        self.cwd = cwd
        self.changes = changes or []
        self.tool = tool
        self.call = call
        self.agent_id = agent_id
        self.parent = parent
        self.transcript = transcript
        self.source = source
        self.echo = echo
        self.link: tuple[str, str] | None = None
        self.agent = ""
        self.model: str | None = None
        self.agent_type: str | None = None
        self.named: str | None = None
        self.ahead = False
        self.bare = False
        self.goes_on = False
        self.given: object = None
        self.required = False  # the event says that a worktree is required
        self.stop: Stop | None = None
        # the name and the path that the event asks for
        self.worktree: tuple[str | None, str | None] = (None, None)


def session_of(event: Event, environ: Mapping[str, str]) -> str | None:
    """The session of an event: the launcher's, else the parent's, else the agent's own; None without any.

    A session is never guessed. An empty id that an agent gives is a bad one, and becomes a safe form like all
    bad ids. An empty variable counts as unset.
    """
    launched = environ.get("RALPH_SESSION") if environ.get("RALPH_TRACKING") != "0" else None
    name = launched or event.parent or event.session
    return None if name is None else safe_form(name)


def owner_of(event: Event, environ: Mapping[str, str]) -> str | None:
    """As :func:`session_of`, for what a session owns: an empty id, which any agent may send, owns nothing."""
    session = session_of(event, environ)
    return None if session == safe_form("") else session


def text_of(payload: object, *keys: str) -> str | None:
    """The first of ``keys`` that holds a string in a JSON object."""
    if isinstance(payload, dict):
        for key in keys:
            value = payload.get(key)
            if isinstance(value, str):
                return value
    return None


def command_of(given: object) -> str | None:
    """The words of a shell command in a tool's input; None where it does not tell them."""
    command = given.get("command") if isinstance(given, dict) else None
    if command is None:
        return None
    return " ".join(map(str, command)) if isinstance(command, list) else str(command)


def object_of(payload: object, key: str) -> dict[str, object]:
    """The object under ``key``, empty when there is none."""
    value = payload.get(key) if isinstance(payload, dict) else None
    return value if isinstance(value, dict) else {}


def list_of(payload: object, key: str) -> list[object]:
    """The list under ``key``, empty when there is none."""
    value = payload.get(key) if isinstance(payload, dict) else None
    return value if isinstance(value, list) else []


def to_bytes(text: str) -> Text:
    """A payload's text as UTF-8; unknown where lone surrogates show that no file can hold it."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return UNKNOWN


def text_or_absent(payload: dict[str, object], key: str) -> Text:
    """A whole text of a payload: null means an absent file; a missing or odd field means unknown."""
    if key not in payload:
        return UNKNOWN
    value = payload[key]
    if value is None:
        return None
    return to_bytes(value) if isinstance(value, str) else UNKNOWN

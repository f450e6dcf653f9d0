"""What an adapter makes of a payload: an event, and the changes it tells of; pure data.

Fast lane, so plain classes. ``kind`` is one of ``pre edit failed shell-pre shell start stop end prompt
cwd worktree-create worktree-remove subagent-start subagent-stop subagent other``; only ``edit`` records,
``pre`` looks at the files ahead of one, and the two ``shell`` kinds look at the worktree around a command.
"""

from collections.abc import Callable, Mapping

from gitralph.base.ids import safe_form
from gitralph.hook.reconcile import UNKNOWN, Text


class Change:
    """One file of one tool call. ``op`` is ``edit``, ``delete`` or ``rename`` (then with ``to``).

    ``compute`` gives the texts the call may have made of a text it found, best first; used where the
    payload does not hold the whole text after. ``weak`` texts count only where the disk agrees with
    them. ``source`` is the other end of a rename that changes the text, ``found`` what was there,
    ``other`` the tree path of the other end of any rename.
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
    """A text that a call may have made: believed only where it is what the disk holds."""

    __slots__ = ()


class Stop:
    """What a stop tells, where it asks whether to go on.

    ``said`` is the last message where the payload holds it, else ``transcript`` does; ``own`` says that
    this is a subagent's own. ``running`` is true while something goes on in the background, ``again``
    what the agent says of having been sent on before, None when it says nothing.
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
    """One hook call of ``agent``. ``session`` is the agent's own id as it came, ``parent`` its parent's;
    whose the event is, :func:`session_of` alone decides.

    ``link`` names a session and one whose edits belong to it as well. An ``echo`` tells an edit that
    another event of the same call tells better, where that one is registered too. ``ahead`` is true
    where the agent waits for leave to call ``tool`` with ``given``; ``bare`` where ``given`` is all there
    is, without an event around it. ``model`` is what the payload itself says.
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
        "kind",
        "link",
        "model",
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
        self.ahead = False
        self.bare = False
        self.given: object = None
        self.required = False  # it says that a worktree is required
        self.stop: Stop | None = None
        self.worktree: tuple[str | None, str | None] = (None, None)  # the name and the path asked for


def session_of(event: Event, environ: Mapping[str, str]) -> str | None:
    """The session an event belongs to: the launcher's, else the parent's, else the agent's own.

    None when there is none: a session is never guessed. An empty id that an agent gives is a bad one,
    and mapped to a safe form like all bad ones; an empty variable is an unset one.
    """
    launched = environ.get("RALPH_SESSION") if environ.get("RALPH_TRACKING") != "0" else None
    name = launched or event.parent or event.session
    return None if name is None else safe_form(name)


def owner_of(event: Event, environ: Mapping[str, str]) -> str | None:
    """As :func:`session_of`, for what a session owns: an empty id, which any number may send, owns none."""
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


def object_of(payload: object, key: str) -> dict[str, object]:
    """The object under ``key``, empty when there is none."""
    value = payload.get(key) if isinstance(payload, dict) else None
    return value if isinstance(value, dict) else {}


def list_of(payload: object, key: str) -> list[object]:
    """The list under ``key``, empty when there is none."""
    value = payload.get(key) if isinstance(payload, dict) else None
    return value if isinstance(value, list) else []


def to_bytes(text: str) -> Text:
    """A payload's text as UTF-8; unknown where lone surrogates say that it never was a file's."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return UNKNOWN


def text_or_absent(payload: dict[str, object], key: str) -> Text:
    """A whole text of a payload: null is an absent file, a missing or odd field is unknown."""
    if key not in payload:
        return UNKNOWN
    value = payload[key]
    if value is None:
        return None
    return to_bytes(value) if isinstance(value, str) else UNKNOWN

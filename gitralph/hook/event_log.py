"""Events, one JSON line each: what a line may hold, which file takes it, and how it is appended.

Fast lane, so that ``git ralph emit`` costs an agent next to nothing. Such a file always lies inside a
``ralph-sessions`` folder of a repository, whatever a marker or the environment says.
"""

import os
import time
from collections.abc import Callable, Mapping

from gitralph.base import files, gitdir, jsonline
from gitralph.base.errors import Fatal, RalphError, UsageError
from gitralph.base.ids import is_valid
from gitralph.base.layout import FOLDER, Layout
from gitralph.base.quote import is_control, printable

# In bytes. People and programs read events by the thousand; files belong elsewhere.
PAYLOAD_LIMIT = 256 << 10
TOPIC_LIMIT = 200
FALLBACK = "events.jsonl"
# In seconds. An agent called `emit` itself and waits for it. An edit hook, for which nobody asked, gets 2
# seconds.
_WAIT = 10.0
_NO_PAYLOAD = "null"


class EventFile:
    """The file of events, the state folder in which it lies, and warnings about oddities on the way."""

    __slots__ = ("name", "top", "warnings")

    def __init__(self, top: str, name: str, warnings: list[str]) -> None:
        self.top = top
        self.name = name
        self.warnings = warnings

    @property
    def path(self) -> str:
        return f"{self.top}/{self.name}"


def stamp() -> str:
    """Now, as RFC 3339 in UTC with microseconds. For people: nothing depends on it going forward."""
    now = time.time_ns()
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // 10**9))
    return f"{whole}.{now // 1000 % 10**6:06d}Z"


def is_name(name: str) -> bool:
    """True for a plain file name that may hold events."""
    return is_valid(name) and name.endswith(".jsonl")


def name_of_run(run: str) -> str:
    """The events file of a run. Raises UsageError for what cannot be a run's id."""
    name = f"events-{run}.jsonl"
    if not is_name(name):
        raise UsageError(f"'{printable(run)[:60]}' is not a run id", "git ralph run list")
    return name


def run_of_name(name: str) -> str | None:
    """The run that an events file belongs to, None for ``events.jsonl`` and foreign names."""
    if is_name(name) and name.startswith("events-"):
        return name[len("events-") : -len(".jsonl")]
    return None


def checked_topic(topic: str) -> str:
    """A topic from outside. Raises UsageError for one that is not allowed."""
    if not topic or len(topic) > TOPIC_LIMIT or any(is_control(c) for c in topic):
        raise UsageError(
            f"'{printable(topic)[:60]}' is not a topic",
            f"a topic has 1 to {TOPIC_LIMIT} characters and no control character",
        )
    return topic


def _checked_size(text: str) -> str:
    if len(text) > PAYLOAD_LIMIT or len(text.encode("utf-8", "surrogatepass")) > PAYLOAD_LIMIT:
        raise UsageError(f"the payload is larger than {PAYLOAD_LIMIT >> 10} KiB; nothing was written")
    return text


def _as_json(text: str) -> str:
    """A JSON text on one ASCII line, every value as it was given."""
    try:
        jsonline.loads(text)
    except ValueError:
        raise UsageError("the payload is no JSON document; nothing was written") from None
    # valid JSON has newlines between tokens only, and other non-ASCII characters only in strings
    flat = text.lstrip("\ufeff").strip().replace("\n", " ").replace("\r", " ")
    if flat.isascii():
        return flat
    return "".join([c if c.isascii() else jsonline.dumps(c)[1:-1] for c in flat])


def encode(topic: str, payload: str | None, as_json: bool, session: str | None) -> bytes:
    """One event as a line. Raises UsageError for a topic or payload that is not allowed."""
    body = _NO_PAYLOAD
    if payload is not None:
        text = _checked_size(payload)
        body = _as_json(text) if as_json else jsonline.dumps(text)
    line = f'{{"ts":"{stamp()}","topic":{jsonline.dumps(checked_topic(topic))},"payload":{body}'
    if session:
        line += f',"session":{jsonline.dumps(session)}'
    return line.encode("ascii") + b"}\n"


def append(target: EventFile, line: bytes) -> None:
    """Add one line in one write; after a torn last line it starts on a fresh line."""
    files.append_record(target.path, line, _WAIT)


def from_environment(value: str) -> EventFile:
    """The file that ``RALPH_EVENTS_FILE`` names. Raises Fatal for one outside a state folder."""
    folder, name = os.path.split(value)
    top = os.path.realpath(folder)
    # An agent sets the environment. Without this check `emit` would append to any file of the user's.
    inside = os.path.basename(top) == FOLDER and gitdir.is_git_dir(os.path.dirname(top))
    if value[:1] != "/" or not is_name(name) or not inside or os.path.islink(folder):
        raise Fatal(
            f"RALPH_EVENTS_FILE names '{printable(value)[:200]}', which is no events file of a repository",
            "unset RALPH_EVENTS_FILE, or run git ralph run resume",
        )
    return EventFile(top, name, [])


def read_marker(layout: Layout, warnings: list[str]) -> str | None:
    """The file name in this worktree's ``current-events``; any other content is not believed."""
    try:
        said = files.read_bytes(layout.current_events, 4096)
    except FileNotFoundError:
        return None
    except OSError as error:
        warnings.append(f"'current-events' cannot be read: {error.strerror or error}")
        return None
    text = said.decode("utf-8", "replace")
    name = text.removesuffix("\n").removesuffix("\r").removeprefix(layout.top + "/")
    if is_name(name):
        return name
    warnings.append(f"'current-events' names no events file and is ignored: '{printable(text)[:100]}'")
    return None


def chosen(
    environ: Mapping[str, str],
    state: Callable[[], Layout],
    run: str | None = None,
    file: str | None = None,
) -> EventFile:
    """The events file that is meant: by ``run``, environment, markers, ``file``, else ``events.jsonl``.

    ``state`` is called only when needed, so the environment alone works outside a repository.
    """
    if file is not None and not is_name(file):
        raise UsageError(
            f"'{printable(file)[:60]}' is not the name of an events file",
            "use a plain name that ends in .jsonl; it lies in ralph-sessions",
        )
    if run is not None:
        return _of_run(state(), run)
    if environ.get("RALPH_EVENTS_FILE"):
        return from_environment(environ["RALPH_EVENTS_FILE"])
    layout, warnings = state(), []  # type: ignore[var-annotated]
    name = read_marker(layout, warnings)
    if name is None and layout.own != layout.top:
        name = read_marker(layout.main(), warnings)
    return EventFile(layout.top, name or file or FALLBACK, warnings)


def announce(
    layout: Layout, environ: Mapping[str, str], topic: str, payload: Mapping[str, object]
) -> list[str]:
    """Write an event of a hook into the file that ``git ralph emit`` would choose here.

    The hook goes on whatever the environment names: a bad file is a warning, and passed over.
    """
    warnings: list[str] = []
    try:
        found = chosen(environ, lambda: layout)
    except RalphError as error:
        warnings.append(error.message)
        found = chosen({}, lambda: layout)
    append(found, encode(topic, jsonline.dumps(dict(payload)), True, None))
    return [*warnings, *found.warnings]


def _of_run(layout: Layout, run: str) -> EventFile:
    target = EventFile(layout.top, name_of_run(run), [])
    if not os.path.lexists(target.path):
        raise Fatal(f"no run '{run}'", "git ralph run list")
    return target

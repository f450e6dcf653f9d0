"""Which session a command means. A command that writes refuses what is not certain."""

from collections.abc import Mapping

from gitralph import sessionfile
from gitralph.errors import Refused, UsageError
from gitralph.layout import Layout
from gitralph.porcelain import sessions
from gitralph.sessionid import is_valid
from gitralph.state import manifest, pending

PUBLISHED = (
    "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "QWEN_CODE_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID", "PI_SESSION_ID", "OPENCODE_SESSION_ID",
)  # fmt: skip


def checked(session: str) -> str:
    """A session id from outside. Raises UsageError for one that is not allowed."""
    if not is_valid(session):
        raise UsageError(
            f"'{session[:60]}' is not a session id",
            "an id is a letter or digit, then up to 119 of letters, digits, '.', '_', '-', no '..'",
        )
    return session


def is_known(layout: Layout, session: str) -> bool:
    """True when we have a record or a manifest of it."""
    if sessionfile.read(layout, session) is not None:
        return True
    return session in manifest.sessions_here(layout)


def all_here(layout: Layout) -> list[str]:
    """Every session that has a manifest in this worktree: what a reading command shows without one."""
    return manifest.sessions_here(layout)


def _published(layout: Layout, environ: Mapping[str, str]) -> list[str]:
    found = []
    for name in PUBLISHED:
        value = environ.get(name, "")
        if is_valid(value) and is_known(layout, value) and value not in found:
            found.append(value)
    return found


def _is_alias(layout: Layout, session: str, other: str) -> bool:
    record = sessionfile.read(layout, session)
    aliases = record.get("aliases") if record else None
    return isinstance(aliases, list) and other in aliases


def _launched(environ: Mapping[str, str]) -> str | None:
    value = environ.get("RALPH_SESSION", "")
    return checked(value) if value and environ.get("RALPH_TRACKING") != "0" else None


def _with_pending(layout: Layout) -> list[str]:
    return [s for s in manifest.sessions_here(layout) if pending.pending_paths(layout, [s])]


def _ambiguous(candidates: list[str]) -> Refused:
    names = ", ".join(f"'{name}'" for name in candidates)
    return Refused(
        f"more than one session could be meant: {names}",
        *[f"git ralph commit --session {name}" for name in candidates[:5]],
    )


def named(layout: Layout, environ: Mapping[str, str], given: str | None) -> str | None:
    """The session that option or environment names, None when none does.

    Raises Refused when RALPH_SESSION and an agent's own id name two different known sessions.
    """
    if given is not None:
        return checked(given)
    launched, published = _launched(environ), _published(layout, environ)
    if launched is None:
        if len(published) > 1:
            raise _ambiguous(published)
        return published[0] if published else None
    rivals = [p for p in published if p != launched and not _is_alias(layout, launched, p)]
    if rivals and is_known(layout, launched):
        raise _ambiguous([launched, *rivals])
    return launched


def for_reading(layout: Layout, environ: Mapping[str, str], given: str | None) -> str | None:
    """The session a reading command means; None, that is all, where it is not certain."""
    try:
        return named(layout, environ, given)
    except Refused:
        return None


def for_writing(layout: Layout, environ: Mapping[str, str], given: str | None) -> str | None:
    """The session a writing command means; None when nothing at all is pending.

    Raises Refused listing the candidates when it is not certain.
    """
    found = named(layout, environ, given)
    if found is not None:
        return found
    candidates = _with_pending(layout)
    live = [s for s in candidates if sessions.state_of(layout, s) == "live"]
    if not candidates:
        return None
    if len(live) == 1 and live == candidates:
        return live[0]
    if len(live) == 1:
        return live[0]
    raise _ambiguous(candidates)


def by_task(layout: Layout, plan: str, task: str) -> str:
    """The one session of a plan's task. Raises Refused for several, UsageError for none."""
    found = [
        str(record["session"])
        for record in sessions.records(layout)
        if record.get("plan") == plan and str(record.get("task")) == task
    ]
    if not found:
        raise UsageError(f"no session has plan '{plan}' and task '{task}'", "git ralph session list")
    if len(found) > 1:
        raise _ambiguous(found)
    return found[0]

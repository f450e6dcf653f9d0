"""Which session a command means. A command that writes refuses what is not certain."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping

from gitralph.base.errors import Fatal, Refused, UsageError
from gitralph.base.ids import is_valid, safe_form
from gitralph.base.layout import Layout, session_of
from gitralph.decide import pending_paths
from gitralph.git.context import Context
from gitralph.hook import names, sessionfile
from gitralph.hook.variables import BY_AGENT
from gitralph.records import manifests, sessions
from gitralph.sessions import transcript_claims

SHORTEST = 4
_LISTED = 5
_WHICH = "git ralph session list  # which of them is this agent's"
_NAMED = 3


def checked(session: str) -> str:
    """Check a session id from outside. Raises UsageError for one that is not allowed."""
    if not is_valid(session):
        raise UsageError(
            f"'{session[:60]}' is not a session id",
            "an id is a letter or digit, then up to 119 of letters, digits, '.', '_', '-', no '..'",
        )
    return session


def is_known(layout: Layout, session: str) -> bool:
    """True when the session has a record or a manifest."""
    if sessionfile.read(layout, session) is not None:
        return True
    return session in manifests.sessions_here(layout)


def all_here(layout: Layout) -> list[str]:
    """Every session with a manifest in this worktree; a reading command without a session shows these."""
    return manifests.sessions_here(layout)


# --- from what somebody typed to one session ---


def _exact(layout: Layout, typed: str) -> str | None:
    """The session of that id or name. Raises Refused where it is one session's id and another's name."""
    named = names.holder(layout, typed)
    if named is not None and not is_known(layout, named):
        named = None  # nothing is recorded of it yet, or nothing any more
    if not is_valid(typed):  # an agent's own id, of which the hooks keep an allowed form
        form = safe_form(typed)
        return form if named is None and is_known(layout, form) else named
    if not is_known(layout, typed):
        return named
    if named in (None, typed):
        return typed
    other = sessionfile.called(layout, typed)
    raise Refused(
        f"'{typed}' is the name of session '{named}', and the id of session '{other}'",
        "git ralph session list",
    )


def _ids(layout: Layout) -> list[str]:
    """Every session of the repository that has a record, and those with a manifest here."""
    try:
        names = [name[: -len(".json")] for name in os.listdir(layout.top) if name.endswith(".json")]
    except FileNotFoundError:
        names = []
    return sorted({session_of(name) for name in names} | set(manifests.sessions_here(layout)))


def _fitting(layout: Layout, typed: str) -> str | None:
    """The one session whose id begins or ends so, None without any. Raises Refused for several."""
    if len(typed) < SHORTEST:
        return None
    found = [one for one in _ids(layout) if one.startswith(typed) or one.endswith(typed)]
    if len(found) > 1:
        raise Refused(
            f"'{typed}' fits more than one session: {_with_ids(layout, found)}", "git ralph session list"
        )
    return found[0] if found else None


def unknown(layout: Layout, typed: str) -> Fatal:
    """The error for an id that no session has; it names similar ones."""
    likely = _likely(layout, typed)
    also = f"; did you mean {' or '.join(likely)}?" if likely else ""
    if not likely:
        latest = [str(record["session"]) for record in list(sessions.records(layout))[-_NAMED:]]
        also = f"; the latest: {_listed(layout, latest[::-1])}" if latest else "; none is recorded here"
    return Fatal(f"no session '{typed}'{also}", "git ralph session list")


def _likely(layout: Layout, typed: str) -> list[str]:
    """Similar names: those of sessions whose name or id is written almost like that."""
    close = difflib.get_close_matches(typed, [*names.everyone(layout), *_ids(layout)], n=_NAMED, cutoff=0.6)
    close = [one for one in close if one != typed]  # gc has put its records away
    by_id = [one for one in close if names.holder(layout, one) is None]
    return [f"'{one}'" for one in close if one not in by_id] + [_with_ids(layout, [one]) for one in by_id]


def resolve(layout: Layout, typed: str) -> str:
    """The session that an id, or its beginning or end, means. Only this function decides that.

    Raises UsageError for what cannot be an id, Refused for several sessions, Fatal for none.
    """
    found = _exact(layout, typed) or _fitting(layout, typed)
    if found is None:
        raise unknown(layout, checked(typed))
    return found


def resolve_or_new(layout: Layout, typed: str) -> str:
    """As :func:`resolve`, for a command that makes the session where there is none."""
    return _exact(layout, typed) or _fitting(layout, typed) or checked(typed)


# --- from option and environment to one session ---


def _has_alias(record: Mapping[str, object], own: str) -> bool:
    """True where a record notes an agent's own id: its launcher's record, or its parent's."""
    aliases = record.get("aliases")
    return isinstance(aliases, list) and own in aliases


def _alias_of(layout: Layout, own: str) -> list[str]:
    return [str(record["session"]) for record in sessions.records(layout) if _has_alias(record, own)]


def _published(layout: Layout, environ: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The sessions that agents publish to their shells, and the published ids that are none of ours."""
    known: list[str] = []
    strangers: list[str] = []
    for variables in BY_AGENT:
        values = list(dict.fromkeys(environ[name] for name in variables if environ.get(name)))
        found: list[str] = []
        for value in values:
            form = safe_form(value)  # in the form in which hooks keep it
            found += [form] if is_known(layout, form) else _alias_of(layout, form)
        known += [one for one in found if one not in known]
        strangers += values[:1] if values and not found else []
    return known, strangers


def _launched(environ: Mapping[str, str]) -> str | None:
    value = environ.get("RALPH_SESSION", "")
    return checked(value) if value and environ.get("RALPH_TRACKING") != "0" else None


def _quoted(words: list[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _listed(layout: Layout, found: list[str]) -> str:
    return _quoted([sessionfile.called(layout, session) for session in found])


def _with_ids(layout: Layout, found: list[str]) -> str:
    """An error's hints for a person who typed something like these ids."""
    called = [sessionfile.called(layout, session) for session in found]
    pairs = zip(found, called, strict=True)
    return ", ".join(f"'{one}'" + (f" ({name})" if name != one else "") for one, name in pairs)


def _with(layout: Layout, usage: str, found: list[str]) -> list[str]:
    """The commands to type: ``usage`` with each session in its place."""
    return [usage.replace("{}", sessionfile.called(layout, session), 1) for session in found[:_LISTED]]


def ambiguous(layout: Layout, candidates: list[str], usage: str) -> Refused:
    """The error where any of several sessions could be meant."""
    return Refused(
        f"more than one session could be meant: {_listed(layout, candidates)}",
        *_with(layout, usage, candidates),
    )


def _stranger(ctx: Context, strangers: list[str], known: list[str], usage: str) -> Refused:
    """Refuse an agent that recorded nothing: to go on would commit another's work in the agent's name."""
    hints = ["git ralph doctor", *_with(ctx.layout, usage, known)]
    for one in strangers:
        hints += transcript_claims.ways(ctx, safe_form(one))
    return Refused(
        f"this agent ({_quoted(strangers)}) has recorded nothing here; its hooks may not be loaded", *hints
    )


COMMIT = "git ralph commit --session {}"


def _given(ctx: Context, typed: str, creates: bool, writes: bool) -> str:
    """The session that ``--session`` means; a writing command says so where that is not what was typed."""
    try:
        found = resolve_or_new(ctx.layout, typed) if creates else resolve(ctx.layout, typed)
    except Fatal as error:
        raise Fatal(error.message, *error.hints, *transcript_claims.ways(ctx, typed)) from None
    if typed not in (found, called := sessionfile.called(ctx.layout, found)) and writes:
        ctx.say(f"'{typed}' is session '{called}'")
    return found


def named(
    ctx: Context, given: str | None, usage: str, *, creates: bool = False, writes: bool = False
) -> str | None:
    """The session that option or environment names, None when neither names one.

    ``usage`` is the command to type with a session for ``{}``. ``creates``: the command makes the session
    where there is none. ``writes``: an agent that recorded nothing here is refused. Raises Refused when
    RALPH_SESSION and an agent's own id name two different known sessions, Fatal for an unknown session.
    """
    layout, environ = ctx.layout, ctx.environ
    if given is not None:
        return _given(ctx, given, creates, writes)
    launched = _launched(environ)
    if launched is not None and not is_known(layout, launched):
        launched = _exact(layout, launched) or launched  # a person may have exported the name
        if not creates and not is_known(layout, launched):
            raise unknown(layout, launched)
    known, strangers = _published(layout, environ)
    if launched is not None:
        record = sessionfile.read(layout, launched) or {}
        rivals = [p for p in known if p != launched and not _has_alias(record, p)]
        if rivals and is_known(layout, launched):
            raise ambiguous(layout, [launched, *rivals], usage)
        return launched
    if strangers and writes:
        raise _stranger(ctx, strangers, known, usage)
    if len(known) > 1:
        raise ambiguous(layout, known, usage)
    return known[0] if known else None


def for_reading(ctx: Context, given: str | None) -> str | None:
    """The session that a reading command means; None means all, where it is not certain."""
    if given is not None:
        return resolve(ctx.layout, given)
    try:
        return named(ctx, None, COMMIT)
    except Refused:
        return None


def for_writing(ctx: Context, given: str | None, creates: bool = False, usage: str = COMMIT) -> str | None:
    """The session that a writing command means; None when nothing at all is pending.

    Raises Refused with the candidates when it is not certain, or for an agent that recorded nothing.
    """
    found = named(ctx, given, usage, creates=creates, writes=True)
    return found if found is not None else _only(ctx, usage)


def _only(ctx: Context, usage: str) -> str | None:
    """The one session of this worktree that has something for a commit, live or ended."""
    everybody = pending_paths.everyone(ctx)
    found = pending_paths.rivals(
        ctx, [name for name, works in everybody.items() if pending_paths.counted(works)]
    )
    if len(found) > 1 and ctx.is_agent:  # an agent must not try which one of them it is
        raise Refused(f"more than one session could be meant: {_listed(ctx.layout, found)}", _WHICH)
    if len(found) > 1:
        raise ambiguous(ctx.layout, found, usage)
    if not found and len(everybody) == 1:
        found = list(everybody)  # nothing to commit; commit then says what it leaves and why
    return found[0] if found else None


def by_task(layout: Layout, plan: str, task: str) -> str:
    """The one session of a plan's task. Raises Refused for several, Fatal for none."""
    found = [
        str(record["session"])
        for record in sessions.records(layout)
        if record.get("plan") == plan and str(record.get("task")) == task
    ]
    if not found:
        raise Fatal(f"no session has plan '{plan}' and task '{task}'", "git ralph session list")
    if len(found) > 1:
        raise ambiguous(layout, found, COMMIT)
    return found[0]

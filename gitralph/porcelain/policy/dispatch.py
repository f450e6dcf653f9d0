"""Which policy an event meets. The hook has looked at its name already; here it is taken at its word."""

from collections.abc import Mapping

from gitralph.event import text_of
from gitralph.porcelain.policy import doconly, helpers, launch, launch_input, place, stop, worktree_events
from gitralph.porcelain.policy.reply import Reply, blocked

_STARTS = ("SubagentStart", "subagentStart")


def answer(agent: str, payload: dict[str, object], kind: str, environ: Mapping[str, str]) -> Reply:
    """Answer one policy event of ``kind``. Whatever goes wrong: 2 where a policy is required, else 0."""
    try:
        return _answer(agent, payload, kind, environ)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        if launch_input.says_required(payload):
            return blocked(f"worktree_policy is required, but {said}")
        return Reply(said=[f"warning: no policy was applied: {said}"])


def _answer(agent: str, payload: dict[str, object], kind: str, environ: Mapping[str, str]) -> Reply:
    if kind == "doc-only":
        return doconly.checked(payload, environ)
    if kind == "launch":
        return launch.launched(agent, payload, environ)
    if kind == "stop":
        return stop.stopped(agent, payload, environ)
    if kind == "create":
        return worktree_events.create(payload, environ)
    if kind == "remove":
        return worktree_events.remove(payload, environ)
    return _started(payload, environ)


def _started(payload: dict[str, object], environ: Mapping[str, str]) -> Reply:
    assert text_of(payload, "hook_event_name", "hookEventName") in _STARTS
    session = place.session_of(payload, environ)
    for _, layout in place.layouts_of(payload, environ):
        helpers.started(layout, payload, session)
    return Reply()

"""Routes a policy event, as the hook has classified it, to its handler."""

from collections.abc import Mapping

from gitralph.guard.reply import Reply, blocked
from gitralph.hook.event import Event, owner_of
from gitralph.tasks.policy import doconly, event_repository, stop, subagent_launch, subagents, worktree_events


def answer(agent: str, event: Event, kind: str, environ: Mapping[str, str]) -> Reply:
    """Answer one policy event of ``kind``. Whatever goes wrong: 2 where a policy is required, else 0."""
    try:
        return _answer(agent, event, kind, environ)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        if event.required:
            return blocked(f"worktree_policy is required, but {said}")
        return Reply(said=[f"warning: no policy was applied: {said}"])


def _answer(agent: str, event: Event, kind: str, environ: Mapping[str, str]) -> Reply:
    if kind == "doc-only":
        return doconly.checked(event, environ)
    if kind == "launch":
        return subagent_launch.launched(agent, event, environ)
    if kind == "stop":
        return stop.stopped(agent, event, environ)
    if kind == "create":
        return worktree_events.create(event, environ)
    if kind == "remove":
        return worktree_events.remove(event, environ)
    return _started(event, environ)


def _started(event: Event, environ: Mapping[str, str]) -> Reply:
    session = owner_of(event, environ)
    for _, layout in event_repository.layouts_of(event, environ):
        subagents.started(layout, event, session)
    return Reply()

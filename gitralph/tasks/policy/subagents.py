"""Which subagent belongs to which bead: workers by their agent id, and who writes documentation for them."""

from collections.abc import Callable

from gitralph.base.layout import Layout
from gitralph.hook.agents.launching import Launch, plain_type
from gitralph.hook.event import Event
from gitralph.hook.policy_triage import DOC_TYPES
from gitralph.records import bead as beads
from gitralph.records.bead import Bead


def _owned(layout: Layout, session: str | None) -> list[Bead]:
    if not session:
        return []
    found = [one for one in beads.records(layout) if isinstance(one, Bead)]
    return [one for one in found if one.owner == session and one.active]


def _ids(record: Bead, key: str) -> list[str]:
    value = record.extra.get(key)
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def expect(layout: Layout, launch: Launch, session: str | None) -> str | None:
    """A worker starts a helper for documentation: note it; the worker's worktree."""
    if launch.agent_type not in DOC_TYPES or not launch.agent_id:
        return None
    for record in _owned(layout, session):
        if record.agent_id == launch.agent_id:
            _change(layout, record.bead, "helpers_expected", lambda found: [*found, str(launch.agent_type)])
            return record.path
    return None


def _change(layout: Layout, bead: str, key: str, change: Callable[[list[str]], list[str]]) -> None:
    with beads.hold(layout, bead):
        record = beads.read(layout, bead)
        if record is not None:
            record.extra[key] = change(_ids(record, key))
            beads.write(layout, record)


def _without(found: list[str], one: str) -> list[str]:
    at = found.index(one) if one in found else len(found)
    return found[:at] + found[at + 1 :]


def started(layout: Layout, event: Event, session: str | None) -> None:
    """A subagent started: bind its id to the launch that is still waiting for one."""
    agent_id, kind = event.agent_id, plain_type(event.agent_type)
    if not agent_id:
        return
    for record in sorted(_owned(layout, session), key=lambda one: one.updated or ""):
        if kind is not None and kind in _ids(record, "helpers_expected"):
            _change(layout, record.bead, "helpers_expected", lambda found: _without(found, str(kind)))
            _change(layout, record.bead, "helpers", lambda found: [*found, agent_id])
            return
        if record.agent_id is None and record.extra.get("looped") and record.agent_type == kind:
            bind(layout, record.bead, agent_id)
            return


def bind(layout: Layout, bead: str, agent_id: str) -> None:
    """Note which agent works on a bead."""
    with beads.hold(layout, bead):
        record = beads.read(layout, bead)
        if record is not None:
            record.agent_id = agent_id
            beads.write(layout, record)


def home_of(layout: Layout, agent_id: str | None) -> str | None:
    """The worktree that a helper has to write in, None when it was not started by a worker."""
    if not agent_id:
        return None
    for record in beads.records(layout):
        if isinstance(record, Bead) and agent_id in _ids(record, "helpers"):
            return record.path
    return None

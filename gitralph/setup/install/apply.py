"""Install and uninstall: decides for every agent first, then writes; a refusal writes nothing."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gitralph.base.errors import Busy, Fatal, Refused, UsageError
from gitralph.setup.install import extension, place, receipt, settings
from gitralph.setup.install.form import Form, UnusableError
from gitralph.setup.install.place import FoundFile
from gitralph.setup.install.receipt import Receipt
from gitralph.setup.install.table import AGENTS, EXTENSION, MANUAL, PROJECT, SETTINGS, Agent

FORMS: dict[str, Form] = {SETTINGS: settings.FORM, EXTENSION: extension.FORM}

INSTALLED, UPDATED, UNCHANGED = "installed", "updated", "unchanged"
REMOVED, RESTORED, ABSENT, BY_HAND = "removed", "restored", "absent", "by hand"
# A try is lost when somebody saves the file between reading and writing it.
_TRIES = 3


@dataclass(frozen=True)
class Registration:
    """The result for one agent. ``file`` is None for an agent that is wired by hand."""

    agent: str
    scope: str
    file: str | None
    status: str
    note: str = ""
    trust: str = ""


@dataclass(frozen=True)
class _Plan:
    """What to do with one file: ``data`` to put there, None to delete it."""

    agent: Agent
    found: FoundFile
    data: bytes | None
    status: str
    keep: Receipt | None = None


def named(names: Sequence[str]) -> list[Agent]:
    """The agents of these names. Raises UsageError for an unknown one."""
    for name in names:
        if name not in AGENTS:
            raise UsageError(f"unknown agent '{name[:60]}'", f"known agents: {', '.join(AGENTS)}")
    return [AGENTS[name] for name in dict.fromkeys(names)]


def present(environ: Mapping[str, str]) -> list[Agent]:
    """The agents that this user seems to have."""
    return [a for a in AGENTS.values() if a.form != MANUAL and a.is_present(environ)]


def _check_edited(form: Form, agent: Agent, found: FoundFile, kept: Receipt | None) -> None:
    """Raise UnusableError for a file of ours that somebody has edited."""
    if found.data is None or not form.is_edited(agent, found.data):
        return
    # An extension is a whole file of ours: an update would remove what a person added to it.
    if kept is None or kept.wrote != receipt.checksum(found.data):
        raise UnusableError("was changed since it was installed")


def _plan_install(agent: Agent, path: str, environ: Mapping[str, str]) -> _Plan:
    form, found = FORMS[agent.form], place.look(path)
    kept = receipt.read(environ, found.target)
    _check_edited(form, agent, found, kept)
    data = form.added(agent, found.data)
    if data == found.data:
        return _Plan(agent, found, data, UNCHANGED)
    original = _original(form, agent, found.data, kept)
    status = INSTALLED if original == found.data else UPDATED
    fresh = receipt.make(found.target, original, data)
    if kept is not None:
        fresh.folders, fresh.own_folders = kept.folders, kept.own_folders
    return _Plan(agent, found, data, status, fresh)


def _original(form: Form, agent: Agent, data: bytes | None, kept: Receipt | None) -> bytes | None:
    """The file's bytes without us, as well as anybody can know them."""
    if data is None:
        return None
    if kept is not None and kept.wrote == receipt.checksum(data):
        return kept.original
    return _left(agent, form.removed(agent, data), kept)


def _left(agent: Agent, without: bytes | None, kept: Receipt | None) -> bytes | None:
    """What stays of a settings file; one that was there before us stays, however little it holds."""
    if without is None and agent.form == SETTINGS and (kept is None or kept.before is not None):
        return b"{}\n"
    return without


def _plan_uninstall(agent: Agent, path: str, environ: Mapping[str, str]) -> _Plan:
    form, found = FORMS[agent.form], place.look(path)
    kept = receipt.read(environ, found.target)
    if found.data is None:
        return _Plan(agent, found, None, ABSENT, kept)
    # Nobody has written since, so every old byte can be put back, also what we would write in another way.
    if kept is not None and kept.wrote == receipt.checksum(found.data):
        return _Plan(agent, found, kept.original, RESTORED, kept)
    _check_edited(form, agent, found, kept)
    data = form.removed(agent, found.data)
    if data == found.data:
        return _Plan(agent, found, data, ABSENT, kept)
    return _Plan(agent, found, _left(agent, data, kept), REMOVED, kept)


def _planned(
    plan: Callable[[Agent, str, Mapping[str, str]], _Plan],
    agents: Sequence[Agent],
    scope: str,
    root: str | None,
    environ: Mapping[str, str],
) -> list[_Plan]:
    out = []
    for agent in agents:
        path = agent.file(scope, environ, root)
        try:
            out.append(plan(agent, path, environ))
        except UnusableError as error:
            fix = f"correct it, or move it away, then run it again for '{agent.name}'"
            raise Refused(f"'{path}' {error}; nothing was written", fix) from None
    return out


def _write(plan: _Plan, environ: Mapping[str, str]) -> None:
    """Carry one plan out; a receipt is on disk before the file it tells of."""
    found, kept = plan.found, plan.keep
    if plan.status == UNCHANGED:
        return
    if plan.status == ABSENT:  # an earlier uninstall may have been cut off after its first step
        place.prune(kept.folders if kept else [])
        receipt.forget(environ, found.target)
        return
    if plan.status in (INSTALLED, UPDATED):
        assert kept is not None
        assert plan.data is not None
        # For an update the folders of the first installation count, since by now all exist.
        kept.folders = kept.folders or receipt.missing_folders(os.path.dirname(found.target))
        # The receipt comes first. A kill in between leaves a receipt for a file that was not written, which
        # uninstall just removes. The other order would lose the old bytes.
        receipt.write(environ, kept)
        place.replace(found, plan.data)
        return
    if plan.data is None:
        place.delete(found, kept.folders if kept else [])
    else:
        place.replace(found, plan.data)
    receipt.forget(environ, found.target)


def _carry_out(
    plan: Callable[[Agent, str, Mapping[str, str]], _Plan],
    agents: Sequence[Agent],
    scope: str,
    root: str | None,
    environ: Mapping[str, str],
) -> list[_Plan]:
    wired = [agent for agent in agents if agent.form != MANUAL]
    for _ in range(_TRIES):
        # Everything is planned before anything is written: one unusable file refuses the whole.
        plans = _planned(plan, wired, scope, root, environ)
        if not any(place.moved(one.found) for one in plans):
            break
    else:
        raise Busy("a settings file keeps changing", "try again shortly")
    for one in plans:
        try:
            _write(one, environ)
        except OSError as error:
            name = error.filename or one.found.target
            raise Fatal(f"cannot write '{name}': {error.strerror or error}") from error
    return plans


def install(
    agents: Sequence[Agent], scope: str, root: str | None, environ: Mapping[str, str]
) -> list[Registration]:
    """Register the hooks of ``agents``. Raises Refused, with nothing written, for an unusable file."""
    plans = _carry_out(_plan_install, agents, scope, root, environ)
    out = [Registration(p.agent.name, scope, p.found.path, p.status, *_notes(p.agent, scope)) for p in plans]
    return out + _by_hand(agents, scope)


def _notes(agent: Agent, scope: str) -> tuple[str, str]:
    """Notes for the user: trust is never given on the user's behalf."""
    # To an agent, hooks from a repository are a stranger's program; those in the user's own settings are the
    # user's.
    asks = scope == PROJECT or agent.trusts_one_by_one
    return agent.project_note if scope == PROJECT else "", agent.trust_note if asks else ""


def uninstall(
    agents: Sequence[Agent], scope: str, root: str | None, environ: Mapping[str, str]
) -> list[Registration]:
    """Take the hooks of ``agents`` out again. Raises Refused, with nothing written."""
    plans = _carry_out(_plan_uninstall, agents, scope, root, environ)
    receipt.drop_folders(environ)
    out = [Registration(p.agent.name, scope, p.found.path, p.status) for p in plans]
    return out + _by_hand(agents, scope)


def _by_hand(agents: Sequence[Agent], scope: str) -> list[Registration]:
    return [
        Registration(agent.name, scope, None, BY_HAND, f"pipe its events into '{agent.command}' yourself")
        for agent in agents
        if agent.form == MANUAL
    ]

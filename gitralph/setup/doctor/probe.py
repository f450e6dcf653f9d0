"""Sends the events of an edit and of a shell command through a hook, to a scratch repository.

Nothing else proves that recording works: broken hooks look exactly like success.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from gitralph.base import gitdir, layout, programs, runner
from gitralph.git.run import Git
from gitralph.hook import windows
from gitralph.records import manifests, path_records
from gitralph.setup.doctor.samples import SAMPLES, Payload, shell_events

_TEXT = "written by git ralph doctor\n"
_PATH = "probe.txt"
# Of a launcher's variables only this switch is kept: the scratch session must not become a real one.
_KEPT = "RALPH_TRACKING"
# In seconds. A hook answers well within one; one that takes this long hangs, and doctor goes on.
_LONGEST = 30.0


@dataclass(frozen=True)
class Shot:
    """The result of the events. ``exact`` tells how well the edit is known, None when it was not recorded.

    ``shell`` is true when the begin and the end of the shell command were recorded.
    """

    exact: str | None
    code: int = 0
    said: str = ""
    printed: str = ""
    late: bool = False
    shell: bool = False

    @property
    def recorded(self) -> bool:
        return self.exact is not None


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The agent's environment as far as we can tell: ours, without what names a repository or session."""
    return {
        name: value
        for name, value in programs.inherited(environ).items()
        if name == _KEPT or not (name.startswith("RALPH_") or name.endswith("_SESSION_ID"))
    }


@contextmanager
def _scratch(git: Git) -> Iterator[str]:
    root = os.path.realpath(tempfile.mkdtemp(prefix="gitralph-doctor-"))
    try:
        git.at(root).run("init", "-q", "--template=", ".")
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _send(command: str, payload: Payload, root: str, env: Mapping[str, str], limit: float) -> Shot:
    """One event through ``sh -c``; whatever it started is gone when its time is up."""
    words, given = ["/bin/sh", "-c", command], json.dumps(payload).encode() + b"\n"
    try:
        done = runner.run(words, cwd=root, env=env, given=given, seconds=limit)
    except runner.LateError:
        return Shot(None, -1, late=True)
    said = done.stderr.decode("utf-8", "replace").strip()
    return Shot(None, done.returncode, said, done.stdout.decode("utf-8", "replace").strip())


def _recorded(root: str, session: str) -> str | None:
    """How exactly the edit is recorded in the scratch repository, None when it is not."""
    place = gitdir.discover(root)
    if place is None or not os.path.isdir(layout.state_folder(place)):
        return None
    lay = layout.for_place(place, create=False)
    if _PATH.encode() not in manifests.read(lay, session).lines:
        return None
    records = path_records.read_journal(lay, _PATH.encode()).records
    return records[-1].exact if records else "none"


def fire(agent: str, command: str, environ: Mapping[str, str], limit: float = _LONGEST) -> Shot:
    """Let ``agent`` write a file as far as its hook command can tell."""
    env = _environment(environ)
    session = "doctor-" + os.urandom(6).hex()
    with _scratch(Git.find(env)) as root:
        before, after = SAMPLES[agent](session, root, f"{root}/{_PATH}", _TEXT)
        shot = _run(before, command, root, env, min(limit, _LONGEST))
        with open(f"{root}/{_PATH}", "w", encoding="utf-8") as file:
            file.write(_TEXT)
        if not shot.late:
            shot = _run(after, command, root, env, min(limit, _LONGEST))
        exact = _recorded(root, session)
        shell = exact is not None and _sees_shell(agent, command, root, session, env, limit)
    return Shot(exact, shot.code, shot.said, shot.printed, shot.late, shell)


def _sees_shell(
    agent: str, command: str, root: str, session: str, env: Mapping[str, str], limit: float
) -> bool:
    """True when the events around a shell command of ``agent`` are recorded as one that changed a file."""
    before, after = shell_events(agent, session, root)
    if _run([before], command, root, env, min(limit, _LONGEST)).late:
        return False
    with open(f"{root}/{_PATH}", "a", encoding="utf-8") as file:
        file.write(_TEXT)
    _run([after], command, root, env, min(limit, _LONGEST))
    place = gitdir.discover(root)
    found = windows.read(layout.for_place(place, create=False)) if place is not None else []
    return any(one.session == session and one.rows for one in found)


def _run(events: list[Payload], command: str, root: str, env: Mapping[str, str], limit: float) -> Shot:
    """Send events one after the other; the last answer counts, but the first late one ends it."""
    shot = Shot(None)
    for payload in events:
        shot = _send(command, payload, root, env, limit)
        if shot.late:
            break
    return shot

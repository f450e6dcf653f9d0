"""``git ralph status --prompt``: one short line for a shell's prompt and an agent's status line.

Fast lane, since it is drawn at every prompt: no click, no dulwich, only git's own status and the journals of
the paths that it names. It counts recorded paths that differ from HEAD and that no commit took. ``git ralph
status`` tells what exactly a commit would take.
"""

import os
import select
import sys
import time
from collections.abc import Mapping

from gitralph.base import files, gitdir, jsonline, layout, nul, streams
from gitralph.base.gitdir import Place
from gitralph.base.ids import safe_form
from gitralph.base.layout import Layout
from gitralph.base.quote import printable
from gitralph.hook import hook_git, journal, sessionfile
from gitralph.hook.agents import status_line

# In bytes and seconds. An agent gives its JSON at once; a silent pipe must not hold a prompt up.
_LIMIT, _SECONDS = 1 << 16, 0.3
# In seconds. git answers for 100,000 files in a quarter of a second; a longer wait would disturb.
_PATIENCE = 2.0
# In bytes. Of a longer journal the end is read: what is pending was recorded last.
_TAIL = 256 << 10
_PATHS, _NAMED = 200, 3


def main(environ: Mapping[str, str]) -> int:
    """Print the line, or nothing where there is nothing to say; 0 whatever happens."""
    try:
        line = _line(dict(environ))
    except (OSError, ValueError, layout.StateError):
        return 0  # a prompt is no place to complain
    try:
        if line:
            sys.stdout.write(printable(line) + "\n")
            sys.stdout.flush()
    except OSError:
        streams.drop(1)  # nobody reads it, and the interpreter must not say so at its end
    return 0


def _line(environ: dict[str, str]) -> str:
    given = {} if os.isatty(0) else _given()
    place = gitdir.discover(os.path.realpath(_folder(given)))
    if place is None or not os.path.isdir(layout.state_folder(place)):
        return ""
    lay = layout.for_place(place, create=False)
    own = environ.get("RALPH_SESSION") or status_line.session_of(given)
    own = safe_form(own) if own else None
    owners = _owners(lay, place, environ)
    return _sentence(lay, own, owners) if owners is not None else ""


def _given() -> dict[str, object]:
    """The conversation for which an agent draws, from stdin; empty for anything else."""
    try:
        ready = select.select([0], [], [], _SECONDS)[0]
        # What a pipe holds is more than an agent sends, and comes at once.
        value = jsonline.loads(os.read(0, _LIMIT).decode("utf-8", "replace")) if ready else None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _folder(given: dict[str, object]) -> str:
    named = status_line.folder_of(given)
    if named is not None and named[:1] == "/" and gitdir.is_nameable(named):
        return named
    return os.getcwd()


def _owners(lay: Layout, place: Place, environ: dict[str, str]) -> dict[bytes, set[str]] | None:
    """The sessions with something pending in each path that differs from HEAD; None where git fails."""
    deadline = time.monotonic() + _PATIENCE
    found = hook_git.settings(place.root, environ, deadline)
    words = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]
    said = hook_git.run(place.root, [*found[0], *words], environ, deadline) if found is not None else None
    if said is None:
        return None
    out: dict[bytes, set[str]] = {}
    for row in nul.rows(said):
        path = row[3:].rstrip(b"/")
        name = lay.journal(path)
        if os.path.lexists(name) and len(out) < _PATHS:
            sessions = journal.waiting(*files.read_tail(name, _TAIL))
            if sessions:
                out[path] = sessions
    return out


def _sentence(lay: Layout, own: str | None, owners: dict[bytes, set[str]]) -> str:
    counts: dict[str, int] = {}
    for sessions in owners.values():
        for session in sessions:
            counts[session] = counts.get(session, 0) + 1
    others = sorted((one for one in counts if one != own), key=lambda one: (-counts[one], one))
    rest = [f"{sessionfile.called(lay, one)} {counts[one]}" for one in others[:_NAMED]]
    if len(others) > _NAMED:
        rest.append(f"{len(others) - _NAMED} more")
    if own is None:
        return ", ".join(rest)
    shared = sum(own in sessions and len(sessions) > 1 for sessions in owners.values())
    mine = f"{counts[own]} uncommitted" if own in counts else "nothing uncommitted"
    told = f"{sessionfile.called(lay, own)}: {mine}" + (f", {shared} shared" if shared else "")
    return f"{told}; {', '.join(rest)}" if rest else told

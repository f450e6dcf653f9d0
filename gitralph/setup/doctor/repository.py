"""Checks the state folder of the repository we are in, without writing to it."""

import os
import shlex
import stat
from dataclasses import dataclass

from gitralph.base import files, layout
from gitralph.base.errors import Fatal, Refused
from gitralph.base.gitdir import Place
from gitralph.base.layout import Layout
from gitralph.commit import guard_script
from gitralph.git.repository import OLDEST_GIT, Repository, version
from gitralph.git.run import Git
from gitralph.guard.question import MODES
from gitralph.hook import journal
from gitralph.records import intents, over_time
from gitralph.records.intents import Intent, Merging
from gitralph.setup.install import githook, instructions, place
from gitralph.setup.install.form import UnusableError

# The last lines tell what is wrong now; the file itself is named too.
_LOG_TAIL = 5
_DAMAGE_SHOWN = 5


@dataclass(frozen=True)
class Check:
    """One fact about a repository; ``fatal`` when nothing can be recorded because of it."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None
    fatal: bool = True

    @property
    def stops(self) -> bool:
        return self.fatal and not self.ok


def git_version(git: Git) -> Check:
    """Whether git is new enough."""
    said, oldest = git.line("version"), ".".join(map(str, OLDEST_GIT))
    ok = version(said.encode()) >= OLDEST_GIT
    return Check(
        "git", ok, said.removeprefix("git version "), None if ok else f"git ralph needs {oldest} or newer"
    )


def guard(repo: Repository) -> list[Check]:
    """Check that git still runs the installed guard: ``core.hooksPath`` may have been set later."""
    usual, fix = f"{repo.common_dir}/hooks", "git ralph install --guard"
    hooks = list(guard_script.HOOKS)
    try:
        here, there = githook.missing(repo.hooks_dir), githook.missing(usual)
        behind, asleep = githook.behind(repo.hooks_dir), githook.asleep(repo.hooks_dir)
    except Refused:
        return []
    mode = repo.git.try_run("config", "--get", "ralph.guard").stdout.decode("utf-8", "replace").strip()
    if not here and not behind and not asleep:
        if mode not in ("", *MODES):
            detail = f"'ralph.guard' is '{mode}', which is no mode"
            return [Check("guard", False, detail, f"git config ralph.guard {MODES[0]}", fatal=False)]
        where = f"'{repo.hooks_dir}/{guard_script.NAME}'"
        return [Check("guard", True, f"{mode or 'warn'}, {where}", fatal=False)]
    if asleep and not here and not behind:
        listed = ", ".join(f"'{name}'" for name in asleep)
        detail = f"git passes over {listed} in '{repo.hooks_dir}': no permission to run"
    # Some of the guard's hooks are here: it was put in this folder and taken out in part.
    elif here != hooks or behind:
        listed = ", ".join(f"'{name}'" for name in here or behind)
        detail = f"another program took {listed} in '{repo.hooks_dir}', before or instead of the guard"
    # `core.hooksPath` was set later, so the guard in git's usual folder never runs.
    elif there != hooks:
        detail = f"git runs the hooks of '{repo.hooks_dir}' now, not the guard in '{usual}'"
    elif mode == guard_script.NARROW:
        detail = f"'ralph.guard' is '{mode}', but no hook in '{repo.hooks_dir}' is the guard's"
    else:
        return []
    return [Check("guard", False, detail, fix, fatal=False)]


def told(repo: Repository) -> list[Check]:
    """Check where agents are told how to commit, and whether in this version's words."""
    found = [f"{repo.root}/{name}" for name in instructions.FILES]
    there = {path: data for path in found if instructions.holds(data := _content(path))}
    if not there:
        return []
    old = [path for path, data in there.items() if instructions.added(data) != data]
    listed = ", ".join(f"'{os.path.basename(path)}'" for path in there)
    detail = f"not as this version says it: {listed}" if old else listed
    return [
        Check("instructions", not old, detail, "git ralph install --instructions" if old else None, False)
    ]


def _content(path: str) -> bytes | None:
    try:
        return place.look(path).data
    except UnusableError:
        return None


def checks(place: Place) -> list[Check]:
    """Every check of the repository at ``place``."""
    top = layout.state_folder(place)
    out = [_format(top), _writable(place, top)]
    if os.path.isdir(top):
        out += [_private(top), _intents(top), _records(top), _log(top)]
    return out


def _format(top: str) -> Check:
    name, fix = "state format", "use the version of git ralph that wrote it, or a newer one"
    if not os.path.lexists(top):
        return Check(name, True, "none yet: nothing was recorded here")
    if os.path.islink(top) or not os.path.isdir(top):
        return Check(name, False, f"'{top}' is not a folder", f"move it away: mv '{top}' '{top}.old'")
    try:
        said = files.read_bytes(top + "/format", 64).strip().decode("ascii", "replace")
    except FileNotFoundError:
        return Check(name, True, "not set yet")
    except OSError as error:
        return Check(name, False, f"cannot be read: {error.strerror}", fix)
    known = said in layout.KNOWN
    return Check(name, known, f"'{said}'", None if known else fix)


def _writable(place: Place, top: str) -> Check:
    folder = top if os.path.isdir(top) else place.common_dir
    fix = f"give yourself write access: chmod u+rwx '{folder}'"
    room = os.statvfs(folder)
    if room.f_flag & os.ST_RDONLY:
        return Check("writable", False, f"'{folder}' is on a read-only file system", "remount it")
    if room.f_bavail == 0:
        return Check("writable", False, f"the disk of '{folder}' is full", "free some space")
    ok = os.access(folder, os.W_OK | os.X_OK)
    return Check("writable", ok, f"'{folder}'", None if ok else fix)


def _private(top: str) -> Check:
    mode = stat.S_IMODE(os.stat(top).st_mode)
    fix = None if not mode & 0o077 else f"chmod 700 '{top}'"
    return Check("private", fix is None, f"mode {mode:04o}", fix, fatal=False)


def _intents(top: str) -> Check:
    here = Layout(top, layout.MAIN)
    found = [name for kind in (Intent, Merging) for name in intents.names(here, kind)]
    count = sum(1 for name in found if name.endswith(".json"))
    fix = None if not count else "the next git ralph commit finishes them, or: git ralph gc"
    return Check("unfinished commits", not count, str(count), fix, fatal=False)


def _records(top: str) -> Check:
    """Check the edit journals of every worktree. A damaged line costs what it told, and nothing else.

    A last line that was cut off is one, too: whoever writes a record writes it in one piece.
    """
    found = list[tuple[str, int]]()
    for here in over_time.worktrees(Layout(top, layout.MAIN)):
        for kept in over_time.journals(here):
            journal.replay(kept.journal, here)  # finds the records that do not lead to their texts
            torn = {kept.journal.size} if kept.journal.length > kept.journal.size else set[int]()
            damaged = {*kept.journal.damaged, *torn}
            lines = sorted(kept.data.count(b"\n", 0, at) + 1 for at in damaged)
            found += [(kept.file, line) for line in lines]
    detail = ", ".join(f"'{path}' line {line}" for path, line in found[:_DAMAGE_SHOWN])
    if len(found) > _DAMAGE_SHOWN:
        detail += f", and {len(found) - _DAMAGE_SHOWN} more"
    fix = f"see what it tells of: sed -n {found[0][1]}p {shlex.quote(found[0][0])}" if found else None
    return Check("damaged records", not found, detail or "0", fix, fatal=False)


def log_tail(top: str) -> list[str]:
    """The last lines of hooks.log: what hooks could not record."""
    try:
        data = files.read_bytes(Layout(top, layout.MAIN).log, 1 << 20)
    except OSError:
        return []
    return data.decode("utf-8", "replace").splitlines()[-_LOG_TAIL:]


def _log(top: str) -> Check:
    lines = log_tail(top)
    detail = lines[-1] if lines else "empty"
    fix = f"see '{Layout(top, layout.MAIN).log}'" if lines else None
    return Check("hooks.log", True, detail, fix, fatal=False)


def unusable(error: Fatal) -> Check:
    """The check for a repository that git itself, or a rule of git ralph, rejects."""
    return Check("repository", False, error.message, error.hints[0] if error.hints else None)

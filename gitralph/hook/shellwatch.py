"""Watches a shell command of an agent: what was dirty before and after it, and so what it changed.

Fast lane, loaded only for shell events and at the end of a turn. It starts git, with a time budget and
without any program that the configuration names. ``shells.jsonl`` keeps the order in which commands began and
ended, so that no clock decides anything; it never holds a command's text. What changed becomes steps of
journals, see ``shellsteps``.
"""

import os
import time
from collections.abc import Sequence

from gitralph.base import files, gitdir, jsonline, nul, process
from gitralph.base.gitdir import Place
from gitralph.base.ids import EMPTY_TREE
from gitralph.base.layout import Layout, for_place, state_folder
from gitralph.hook import (
    hook_git,
    named_trees,
    record,
    sessionfile,
    shellcalls,
    staging,
    whereabouts,
    windows,
)
from gitralph.hook.event import Event, command_of
from gitralph.hook.shellcalls import Look, Moved, Picture
from gitralph.hook.shellforms import CLEAN, UNKNOWN, UNMERGED

# In seconds. `git status` takes 0.2 s for 100,000 files and 2.6 s for a million, and the agent waits.
BUDGET = 5.0
# In bytes. Beyond this sum a dirty file stays unknown, and a change of it is nobody's. 64 MB hash in 0.14 s.
_BYTES = 64 << 20
_PATHS = 20_000
# Two hooks of one call start together. A call of the same name later than this is another one.
_TWIN_SECONDS = 2.0
OFF = "off"
# Where such an event comes at once, a command without an end had ended before it.
_ENDS = ("stop", "subagent-start", "subagent-stop", "subagent", "end")


def parse_status(said: bytes) -> Picture:
    """The paths of ``status --porcelain=v2 --branch -z``, with HEAD's blob where there is one."""
    picture = Picture(None, {})
    for row in nul.rows(said):
        kind, base, path = row[:2], None, b""
        staged = mode = None
        if row.startswith(b"# branch.oid "):
            head = row[13:].decode("ascii", "replace")
            picture.head = head if head[:1] != "(" else None
        elif kind == b"1 ":
            fields = row.split(b" ", 8)
            base, staged, path = (
                fields[6].decode("ascii", "replace"),
                fields[7].decode("ascii", "replace"),
                fields[8],
            )
            mode = fields[3].decode("ascii", "replace")
        elif kind == b"u ":
            staged, path = UNMERGED, row.split(b" ", 10)[10]
        elif kind == b"? ":
            path = row[2:]
        # A path with a slash at its end is a nested repository, into which nobody looks (git-status(1)).
        if path and not path.endswith(b"/"):
            name = record.path_text(path)
            old = picture.rows.get(name, [None] * 5)
            had = bool(base and base.strip("0"))
            picture.rows[name] = [
                base if had else old[0],
                UNKNOWN,
                None,
                staged if staged and staged.strip("0") else None,
                mode if had else old[4],
            ]
    return picture


def _identify(root: str, picture: Picture, deadline: float) -> None:
    """Read blob ids and texts of the dirty files within the time budget; other files stay unknown."""
    left, links = _BYTES, dict[str, bool]()
    for name, row in list(picture.rows.items())[:_PATHS]:
        file = os.path.join(root, name)
        if _is_behind_link(root, name, links):  # to git such a path is absent
            row[1] = row[2] = None
            continue
        try:
            left -= os.lstat(file).st_size
        except OSError:
            pass
        if left < 0 or time.monotonic() > deadline:
            return
        try:
            found = record.look(file)
        except OSError:
            continue
        row[1], row[2] = found.oid, found.mode
        if found.oid is not None and found.text is not None:
            picture.texts[found.oid] = found.text


def _is_behind_link(root: str, name: str, known: dict[str, bool]) -> bool:
    """True where a folder on the way to a path is a symbolic link; ``known`` keeps the answers."""
    folder = os.path.dirname(name)
    if not folder:
        return False
    if folder not in known:
        known[folder] = os.path.islink(os.path.join(root, folder)) or _is_behind_link(root, folder, known)
    return known[folder]


def take_picture(root: str, options: list[str], environ: dict[str, str]) -> Picture | None:
    """What is dirty in a worktree now; None when git does not answer in time."""
    deadline = time.monotonic() + BUDGET
    said = hook_git.run(
        root,
        [
            *options,
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--no-renames",
            "--untracked-files=all",
            "--ignore-submodules=all",
        ],
        environ,
        deadline,
    )
    if said is None:
        return None
    picture = parse_status(said)
    picture.staged = staging.staged_in(said)
    _identify(root, picture, deadline)
    return picture


def _form(row: list[str | None] | None) -> object:
    return CLEAN if row is None else row[1:3]


def differences(before: Picture, after: Picture, moved: Moved) -> list[list[object]]:
    """``[path, before, after, HEAD's blob]`` of each change that a move of HEAD does not explain."""
    out: list[list[object]] = []
    for name in sorted({*before.rows, *after.rows}):
        old, new = before.rows.get(name), after.rows.get(name)
        base = (new or old or [None])[0]
        if name in moved and new is None:
            # The file went with HEAD, unless HEAD has another text there than the file had before: a command
            # may have changed and then committed it.
            there = moved[name][1] if moved[name][1].strip("0") else None
            if old is not None and old[1] != there:
                out.append([name, _form(old), [there, old[2] if there else None], there])
            continue
        if name in moved and old is None and new is not None and new[1] == moved[name][0]:
            continue  # it stayed as it was when HEAD went
        if _form(old) != _form(new) or (old is not None and old[1] == UNKNOWN):
            out.append([name, _form(old), _form(new), base])
    return out


def _moved(root: str, old: str | None, new: str | None, environ: dict[str, str]) -> Moved | None:
    """The paths in which two commits differ; None when git does not answer."""
    if old == new:
        return {}
    words = ["diff-tree", "-r", "-z", "--no-renames", old or EMPTY_TREE, new or EMPTY_TREE]
    said = hook_git.run(root, words, environ, time.monotonic() + BUDGET)
    if said is None:
        return None
    out: Moved = {}
    for told, path in nul.groups(said, 2):
        fields = told.decode("ascii", "replace").split(" ")
        if len(fields) == 5:
            out[record.path_text(path)] = (fields[2], fields[3])
    return out


def _moved_since_staged(look: Look, after: Picture, environ: dict[str, str]) -> Moved | None:
    """How HEAD moved since the index was looked at; the picture may be that of a commit since."""
    since = look.kept.get("staged_at")
    if look.before is not None and look.before.head == since:
        return look.moved
    return _moved(look.root, since if isinstance(since, str) else None, after.head, environ)


def _note(lay: Layout, fields: dict[str, object]) -> None:
    files.append_record(lay.shells, jsonline.line({"v": 1, **fields, "ts": sessionfile.now()}))


def _key(event: Event) -> str:
    return event.call or event.tool or ""


def begin(
    lay: Layout,
    session: str,
    event: Event,
    place: Place,
    environ: dict[str, str],
    runner: object = None,
    beside: Sequence[str] = (),
) -> list[str]:
    """Note that a shell command is about to start, then take the picture.

    So in each other worktree that the command names, whose roots are returned. ``runner`` is the process from
    which an earlier event of the session came. ``beside`` are the roots of the other repositories in which it
    is looked at.
    """
    if not _is_first(lay.shell_call(session, _key(event)), event, environ):
        return []
    more, words = list[str](), command_of(event.given) or ""
    named = named_trees.named(place, event.cwd or place.root, words)
    for there in named:
        key = f"{_key(event)} {there.root}"
        _open(for_place(there), session, event, there, environ, runner, key, {})
        more.append(key)
    also = {"more": more, "beside": list(beside)}
    _open(lay, session, event, place, environ, runner, _key(event), also)
    return [there.root for there in named]


def _open(
    lay: Layout,
    session: str,
    event: Event,
    place: Place,
    environ: dict[str, str],
    runner: object,
    key: str,
    also: dict[str, list[str]],
) -> None:
    """Keep under ``key`` what is there before a command; ``also`` names where else it is looked at."""
    path = lay.shell_call(session, key)
    asked = hook_git.settings(place.root, environ, time.monotonic() + BUDGET)
    if asked is None or asked[1] == OFF:
        return
    options, how = asked
    told: dict[str, object] = {
        "session": session,
        "agent_id": event.agent_id,
        "tool": event.tool,
        "call": event.call,
    }
    kept: dict[str, object] = {
        "id": os.urandom(8).hex(),
        **told,
        "own": event.session,
        "root": place.root,
        "token": lay.token,
        "options": options,
        "how": how,
        "transcript": event.transcript,
        "stashes": hook_git.stashes(place.common_dir, place.git_dir),
        "operation": hook_git.is_under_way(place.git_dir),
        "head": None,
        "rows": None,
        "stages": staging.may_stage(event.given, event.cwd),
        "process": _lasting(runner),
        "space": process.space(),
        **also,
    }
    # it may make a worktree, and work there
    kept["paths"] = named_trees.to_make(event.cwd or place.root, command_of(event.given) or "")
    files.make_folder(os.path.dirname(path))
    if not files.write_whole(path, jsonline.dumps(kept).encode("ascii"), exclusive=True):
        return  # another hook of this very call was faster
    kept["since"] = shellcalls.begun(path)
    # The note comes before the picture. So what another session does while git looks falls inside the window,
    # not before it.
    _note(lay, {"open": kept["id"], **told, **({"key": key} if key != _key(event) else {})})
    picture = take_picture(place.root, options, environ)
    if picture is not None:
        # the picture is taken anew where a commit asks, and what was staged is not
        shellcalls.keep(path, {**kept, "staged": picture.staged, "staged_at": picture.head}, picture)


def _lasting(runner: object) -> object:
    """The agent's process, where two events came from the same one: a hook's wrapper ends with the hook."""
    return runner if runner is not None and runner == process.ancestor() else None


def close_dead(lay: Layout, environ: dict[str, str]) -> list[str]:
    """End the open commands of agents that no longer run, nor their shells; returns lines for the log.

    Such a command may have changed something until now, and changes nothing later. No clock decides: where
    nobody can tell, the command stays open.
    """
    told = list[str]()
    for path in _open_everywhere(lay):
        kept = shellcalls.load(path)
        try:
            if kept is not None and _is_of_a_copy(lay, kept):
                _note(lay, {"close": kept["id"], "rows": []})
                shellcalls.forget(path)
            elif kept is not None and kept.get("token") == lay.token and is_dead(lay, kept):
                told += _close(path, environ, late=True)
        except OSError as error:  # the commands that begin now must be seen all the same
            told.append(f"a shell call of an agent that is gone was not ended: {error.strerror or error}")
    return told


def _is_of_a_copy(lay: Layout, kept: dict[str, object]) -> bool:
    """True where the repository was copied while the command ran, which works in the other one."""
    place = gitdir.discover(str(kept["root"]))
    return place is not None and os.path.realpath(state_folder(place)) != os.path.realpath(lay.top)


def running(lay: Layout) -> set[str]:
    """The ids of the open commands that run on, as far as that can be told."""
    kept = (shellcalls.load(path) for path in _open_everywhere(lay))
    return {str(one["id"]) for one in kept if one is not None and _is_running(lay, one)}


def is_dead(lay: Layout, kept: dict[str, object]) -> bool:
    """True where it is certain that neither the agent of a command runs nor what it left running."""
    return _is_running(lay, kept) is False


def _is_running(lay: Layout, kept: dict[str, object]) -> bool | None:
    """True when the agent of a command runs on, or what it may have left running; None: nobody can tell."""
    of_agent, space = kept.get("process"), process.space()
    if not isinstance(of_agent, dict) or process.is_alive(of_agent) is not False:
        return process.is_alive(of_agent)
    # An agent of another machine or container, on whose processes ours tell nothing, or of another user.
    is_here = space is not None and kept.get("space") == space and of_agent.get("boot") == process.boot_id()
    if not is_here or os.stat(lay.top).st_uid != os.getuid():
        return None
    from gitralph.hook import variables

    known = sessionfile.read(lay, str(kept["session"]))
    names = variables.OF_AGENT.get(str(known.get("agent")) if known else "")
    own = {str(kept[key]) for key in ("own", "session") if kept.get(key)}
    # a shell outlives its agent; it has the session's id from it, where the agent gives it one
    return process.left_behind(of_agent, (*names, "RALPH_SESSION"), own) if names is not None else None


def _open_everywhere(lay: Layout) -> list[str]:
    top = f"{lay.top}/calls"
    try:
        folders = [f"{top}/{name}" for name in os.listdir(top)]
    except OSError:
        return []
    return [f"{folder}/{name}" for folder in sorted(folders) for name in _open_calls(folder)]


def close_all(lay: Layout, session: str, environ: dict[str, str]) -> list[str]:
    """End the commands of a session that somebody says is over; returns lines for the log."""
    folder = os.path.dirname(lay.shell_call(session, ""))
    return [told for name in _open_calls(folder) for told in _close(f"{folder}/{name}", environ, late=True)]


def _is_first(path: str, event: Event, environ: dict[str, str]) -> bool:
    """False for the second hook of one call.

    An older open call of the same name was killed, and is closed.
    """
    try:
        age = time.time() - os.stat(path).st_mtime
    except OSError:
        return True
    # An agent gives an id of its own only once, so a file of that name is the first hook's. A name made of
    # the input (shared.py) comes again with the same command.
    if (event.call is not None and not event.call.startswith("input-")) or 0 <= age < _TWIN_SECONDS:
        return False
    _close(path, environ, late=True)
    return True


def _see(look: Look, environ: dict[str, str]) -> None:
    """Find what changed, where that can be told."""
    if look.before is None or look.place is None:
        return
    look.after = take_picture(look.root, look.options, environ)
    moved = _moved(look.root, look.before.head, look.after.head, environ) if look.after is not None else None
    if look.after is not None and moved is not None:
        look.moved = moved
        look.rows = differences(look.before, look.after, moved)


def _close(path: str, environ: dict[str, str], late: bool) -> list[str]:
    """Close a command: take the picture, record what changed; returns lines for the log.

    ``late``: the command has been over for some time, or nobody knows since when.
    """
    kept, told = shellcalls.load(path), list[str]()
    if kept is not None:
        late = late or kept.get("background") is True
        look = Look(path, kept)
        _see(look, environ)
        told = _record(look, environ, late)
        restage = None
        if look.after is not None and not late:
            moved = _moved_since_staged(look, look.after, environ)
            restage = staging.changes(kept, look.after.staged, moved) if moved is not None else None
        staged = {"staged": restage, "staged_at": kept.get("staged_at")} if restage else {}
        if staged:
            staging.note(look.lay, str(kept["session"]))
        gits = {"git": look.gits} if look.gits else {}
        end = {"close": kept["id"], "rows": look.rows, **gits, **staged, **_doing(look)}
        _note(look.lay, {**end, **({"late": True} if late else {})})
        told += _losses(look.lay, kept, look.rows) if look.rows and not late else []
    shellcalls.forget(path)
    return told


def _doing(look: Look) -> dict[str, object]:
    """Whether an operation of git is under way, and whether the command began it."""
    if look.place is None or not hook_git.is_under_way(look.place.git_dir):
        return {}
    return {"doing": windows.BEGAN if look.kept.get("operation") is False else "on"}


def _record(look: Look, environ: dict[str, str], late: bool) -> list[str]:
    if look.rows is None:
        return ["a shell call was not told by line: git did not answer in time"]
    if not look.rows:
        return []
    from gitralph.hook import shellmade

    return shellmade.record_rows(look, environ, late)


def _adopt(lay: Layout, place: Place, path: str, key: str) -> str | None:
    """Watch a worktree that a command made while it runs; all in it since is the command's.

    ``path`` is what is kept of the command where it began, ``key`` names what is kept for this worktree.
    """
    kept = shellcalls.load(path)
    head = named_trees.began_at(place, kept.get("since")) if kept is not None else None
    if kept is None or head is None or kept["token"] == lay.token:
        return None
    new, more = lay.shell_call(str(kept["session"]), key), kept.get("more")
    here = {"id": os.urandom(8).hex(), "root": place.root, "token": lay.token, "more": [], "operation": False}
    told = {name: kept.get(name) for name in ("session", "agent_id", "tool", "call")}
    _note(lay, {"open": here["id"], **told, "key": key})
    shellcalls.keep(new, {**kept, **here, "staged": {}, "staged_at": head}, Picture(head, {}))
    shellcalls.keep(path, {**kept, "more": [*(more if isinstance(more, list) else []), key]}, None)
    return new


def _adopt_here(lay: Layout, session: str, root: str) -> None:
    """Watch the worktree in which a command of the session is at work, where it has made it."""
    folder = os.path.dirname(lay.shell_call(session, ""))
    paths = [f"{folder}/{name}" for name in _open_calls(folder)]
    place = gitdir.discover(root)
    known = [(path, kept) for path in paths if (kept := shellcalls.load(path)) is not None]
    if place is None or any(kept["token"] == lay.token for _, kept in known):
        return
    for path, kept in known:
        if _adopt(lay, place, path, f"{kept.get('call') or kept.get('tool') or ''} {root}") is not None:
            return


def so_far(lay: Layout, session: str, environ: dict[str, str], root: str) -> list[str]:
    """Record what the open commands of a session have changed so far in a worktree; they stay open."""
    folder = os.path.dirname(lay.shell_call(session, ""))
    _adopt_here(lay, session, root)
    return [told for name in _open_calls(folder) for told in _so_far(lay, f"{folder}/{name}", environ)]


def _so_far(lay: Layout, path: str, environ: dict[str, str]) -> list[str]:
    kept = shellcalls.load(path)
    if kept is None or kept.get("token") != lay.token:
        return []
    look = Look(path, kept)
    _see(look, environ)
    told = list[str]()
    if look.rows:
        told += _record(look, environ, late=False)
        _note(lay, {"so_far": kept["id"], "rows": look.rows})
        shellcalls.keep(path, kept, look.after)
    return told


def _open_calls(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith("shell-") and "." not in name)
    except OSError:
        return []


def _losses(lay: Layout, kept: dict[str, object], rows: list[list[object]]) -> list[str]:
    """Whose recorded edits the command threw away, and how to bring them back."""
    from gitralph.hook import shell_losses

    session = str(kept["session"])
    return [
        f"session '{loser}' lost uncommitted edits in '{path}' to shell call '{kept.get('call')}' "
        f"({kept.get('tool')}) of '{sessionfile.called(lay, session)}': git ralph restore --session {loser}"
        for path, sessions in shell_losses.losers(lay, session, rows, CLEAN).items()
        for loser in [sessionfile.called(lay, one) for one in sessions]
    ]


def end(lay: Layout, session: str, event: Event, environ: dict[str, str]) -> list[str]:
    """Close a shell command that has ended; returns lines for the log."""
    paths = [*_made_meanwhile(lay, session, event), *_all_of(lay, session, event)]
    paths = list(dict.fromkeys(paths))
    return [told for path in paths if os.path.lexists(path) for told in _close(path, environ, late=False)]


def _made_meanwhile(lay: Layout, session: str, event: Event) -> list[str]:
    """What is kept now of worktrees that a command named and has made."""
    path = lay.shell_call(session, _key(event))
    kept = shellcalls.load(path)
    paths = kept.get("paths") if kept is not None else None
    paths = [one for one in paths if isinstance(one, str)] if isinstance(paths, list) else []
    place = gitdir.discover(str(kept["root"])) if kept is not None and paths else None
    found = list[str | None]()
    for there in named_trees.holding(place, paths) if place is not None else ():
        key = f"{_key(event)} {there.root}"
        if not os.path.lexists(lay.shell_call(session, key)):
            found.append(_adopt(for_place(there), there, path, key))
    return [one for one in found if one is not None]


def _all_of(lay: Layout, session: str, event: Event) -> list[str]:
    """What is kept of a command: where its cwd is, in worktrees that it named, in other repositories."""
    path = lay.shell_call(session, _key(event))
    return [one for each in (path, *_beside(path)) for one in (*_more(each), each)]


def _more(path: str) -> list[str]:
    """What is kept of a command in the other worktrees of its repository."""
    kept = shellcalls.load(path)
    if kept is None:
        return []
    lay, more = Look(path, kept).lay, kept.get("more")
    keys = [key for key in more if isinstance(key, str)] if isinstance(more, list) else []
    return [lay.shell_call(str(kept["session"]), key) for key in keys]


def _beside(path: str) -> list[str]:
    """What is kept of a command in other repositories."""
    kept = shellcalls.load(path)
    name = "/".join(path.rsplit("/", 2)[1:])
    places = whereabouts.still_there(kept.get("beside")) if kept is not None else []
    return [f"{state_folder(place)}/calls/{name}" for place in places]


def go_on(lay: Layout, session: str, event: Event, environ: dict[str, str]) -> list[str]:
    """Record what a command did before it went to the background. It counts until the turn ends.

    A turn may be long, and a person works on beside it. So what changes from here on is only offered.
    """
    told = list[str]()
    for path in _all_of(lay, session, event):
        there = shellcalls.load(path)
        told += _so_far(Look(path, there).lay, path, environ) if there is not None else []
        kept = shellcalls.load(path)
        if kept is not None:
            shellcalls.keep(path, {**kept, "background": True}, None)
    return told


def settle(lay: Layout, session: str, event: Event, environ: dict[str, str]) -> None:
    """Close the commands of an agent whose turn is over, which never reported their end.

    Only a stop comes at once. Before a prompt or a start people had time to change files.
    """
    folder = os.path.dirname(lay.shell_call(session, ""))
    for name in _open_calls(folder):
        kept = shellcalls.load(f"{folder}/{name}")
        same = kept is not None and kept.get("own") == event.session
        if kept is None or (same and (kept.get("agent_id") == event.agent_id or event.kind == "end")):
            for path in (*_beside(f"{folder}/{name}"), f"{folder}/{name}"):
                _close(path, environ, late=event.kind not in _ENDS)

"""Around a shell command of an agent: what was dirty before, what is after, and so what changed.

Fast lane, loaded for shell events and for the end of a turn only: it starts git, with a time budget and
with no program that the configuration names. ``shells.jsonl`` keeps the order in which commands began
and ended, so that nothing is told from a clock; never a command's text.
"""

import os
import time

from gitralph.base import files, jsonline, nul
from gitralph.base.gitdir import Place
from gitralph.base.ids import EMPTY_TREE
from gitralph.base.layout import MAIN, Layout
from gitralph.hook import hook_git, record, sessionfile, staging
from gitralph.hook.event import Event
from gitralph.hook.shellforms import CLEAN, UNKNOWN

# `git status` takes 0.2 s at 100,000 files and 2.6 s at a million; the agent waits meanwhile.
BUDGET = 5.0
# Beyond these a dirty file stays unknown, and a change of it nobody's; 64 MB hash in 0.14 s.
_BYTES = 64 << 20
_PATHS = 20_000
# A kept picture has some 150 bytes a path: what is larger was not written by us.
_LIMIT = 32 << 20
# Two hooks of one call start together; a call of the same name later than this is another one.
_TWIN_SECONDS = 2.0
# where it comes at once, a command without an end had ended before
_ENDS = ("stop", "subagent-start", "subagent-stop", "subagent", "end")


class Picture:
    """What is dirty: HEAD, and per path ``[HEAD's blob, blob id of the bytes, mode]``."""

    __slots__ = ("head", "rows", "staged")

    def __init__(self, head: str | None, rows: dict[str, list[str | None]]) -> None:
        self.head = head
        self.rows = rows
        self.staged: staging.Staged | None = None


def _parse_status(said: bytes) -> Picture:
    """The paths of ``status --porcelain=v2 --branch -z``, with HEAD's blob where there is one."""
    picture = Picture(None, {})
    for row in nul.rows(said):
        kind, base, path = row[:2], None, b""
        if row.startswith(b"# branch.oid "):
            head = row[13:].decode("ascii", "replace")
            picture.head = head if head[:1] != "(" else None
        elif kind == b"1 ":
            fields = row.split(b" ", 8)
            base, path = fields[6].decode("ascii", "replace"), fields[8]
        elif kind == b"u ":
            path = row.split(b" ", 10)[10]
        elif kind == b"? ":
            path = row[2:]
        # With a slash it is a nested repository, which is not looked into (git-status(1)).
        if path and not path.endswith(b"/"):
            name = record.path_text(path)
            old = picture.rows.get(name, [None])[0]
            picture.rows[name] = [base if base and base.strip("0") else old, UNKNOWN, None]
    return picture


def _identify(root: str, picture: Picture, deadline: float) -> None:
    """Blob ids of the dirty files, as far as the budget goes; beyond, a file stays unknown."""
    left = _BYTES
    for name, row in list(picture.rows.items())[:_PATHS]:
        file = os.path.join(root, name)
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


def take_picture(root: str, options: list[str], environ: dict[str, str]) -> Picture | None:
    """What is dirty in a worktree now; None when git does not say so in time."""
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
    picture = _parse_status(said)
    picture.staged = staging.staged_in(said)
    _identify(root, picture, deadline)
    return picture


def _form(row: list[str | None] | None) -> object:
    return CLEAN if row is None else row[1:]


def differences(before: Picture, after: Picture, moved: set[str]) -> list[list[object]]:
    """``[path, before, after, HEAD's blob]`` of what changed, but for what HEAD's move explains."""
    out: list[list[object]] = []
    for name in sorted({*before.rows, *after.rows} - moved):
        old, new = before.rows.get(name), after.rows.get(name)
        if _form(old) != _form(new) or (old is not None and old[1] == UNKNOWN):
            base = (new or old or [None])[0]
            out.append([name, _form(old), _form(new), base])
    return out


def _moved(root: str, old: str | None, new: str | None, environ: dict[str, str]) -> set[str] | None:
    """The paths in which two HEADs differ."""
    if old == new:
        return set()
    words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", old or EMPTY_TREE, new or EMPTY_TREE]
    said = hook_git.run(root, words, environ, time.monotonic() + BUDGET)
    return None if said is None else {record.path_text(path) for path in nul.rows(said)}


def _note(lay: Layout, fields: dict[str, object]) -> None:
    files.append_record(lay.shells, jsonline.line({"v": 1, **fields, "ts": sessionfile.now()}))


def _key(event: Event) -> str:
    return event.call or event.tool or ""


def begin(lay: Layout, session: str, event: Event, place: Place, environ: dict[str, str]) -> None:
    """A shell command is about to start: note it, then take the picture."""
    path = lay.shell_call(session, _key(event))
    if not _is_first(path, event, environ):
        return
    asked = hook_git.settings(place.root, environ, time.monotonic() + BUDGET)
    if asked is None:
        return
    options, wanted = asked
    if not wanted:
        return
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
        "head": None,
        "rows": None,
        "stages": staging.may_stage(event.given),
    }
    files.make_folder(os.path.dirname(path))
    if not files.write_whole(path, jsonline.dumps(kept).encode("ascii"), exclusive=True):
        return  # another hook of this very call was faster
    # Noted before the picture: what another session does while git looks is then inside the window, not in
    # front of it.
    _note(lay, {"open": kept["id"], **told})
    picture = take_picture(place.root, options, environ)
    if picture is not None:
        kept |= {"head": picture.head, "rows": picture.rows, "staged": picture.staged}
        files.write_whole(path, jsonline.dumps(kept).encode("ascii"))


def _is_first(path: str, event: Event, environ: dict[str, str]) -> bool:
    """False for the second hook of one call; a call left open by a killed one of its name is closed."""
    try:
        age = time.time() - os.stat(path).st_mtime
    except OSError:
        return True
    # An id of the agent's own is given out once, so a file of that name is the first hook's. A name made of
    # the input (shared.py) comes again when the same command does.
    if (event.call is not None and not event.call.startswith("input-")) or 0 <= age < _TWIN_SECONDS:
        return False
    _close(path, environ, late=True)
    return True


def load(path: str) -> dict[str, object] | None:
    """What :func:`begin` kept of a command that runs, None when there is none or it is damaged."""
    try:
        kept = jsonline.loads(files.read_bytes(path, _LIMIT).decode("ascii"))
    except (OSError, ValueError):
        return None
    texts = ("id", "session", "root", "token")
    if not isinstance(kept, dict) or not all(isinstance(kept.get(key), str) for key in texts):
        return None
    return kept


def picture_of(kept: dict[str, object]) -> Picture | None:
    """The picture in what was kept, None where git did not answer in time."""
    rows, head = kept.get("rows"), kept.get("head")
    if not isinstance(rows, dict):
        return None
    good = {k: v for k, v in rows.items() if isinstance(v, list) and len(v) == 3}
    return Picture(head if isinstance(head, str) else None, good)


def _changes(kept: dict[str, object], environ: dict[str, str]) -> list[list[object]] | None:
    """What changed since a command began; None when that cannot be told."""
    before, root, options = picture_of(kept), str(kept["root"]), kept.get("options")
    words = [word for word in options if isinstance(word, str)] if isinstance(options, list) else []
    after = take_picture(root, words, environ) if before is not None else None
    if before is None or after is None:
        return None
    kept["restage"] = staging.changes(kept, after.staged)
    moved = _moved(root, before.head, after.head, environ)
    return None if moved is None else differences(before, after, moved)


def _close(path: str, environ: dict[str, str], late: bool) -> list[str]:
    """The command is over: take the picture, then note what changed; returns what is to be logged.

    ``late``: over for some time.
    """
    kept, told = load(path), list[str]()
    if kept is not None:
        top = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        lay = Layout(top, str(kept["token"]) or MAIN)
        rows = _changes(kept, environ)
        staged = {} if late or not kept.get("restage") else {"staged": kept["restage"]}
        if staged:
            staging.note(lay, str(kept["session"]))
        _note(lay, {"close": kept["id"], "rows": rows, **staged, **({"late": True} if late else {})})
        told = _losses(lay, kept, rows) if rows and not late else []
    try:
        os.unlink(path)
    except OSError:
        pass
    return told


def _losses(lay: Layout, kept: dict[str, object], rows: list[list[object]]) -> list[str]:
    """Whose recorded edits the command threw away, and how they come back."""
    from gitralph.hook import shell_losses

    session = str(kept["session"])
    return [
        f"session '{loser}' lost uncommitted edits in '{path}' to shell call '{kept.get('call')}' "
        f"({kept.get('tool')}) of '{sessionfile.called(lay, session)}': git ralph restore --session {loser}"
        for path, sessions in shell_losses.losers(lay, session, rows, CLEAN).items()
        for loser in [sessionfile.called(lay, one) for one in sessions]
    ]


def end(lay: Layout, session: str, event: Event, environ: dict[str, str]) -> list[str]:
    """A shell command has ended, or was sent to the background; returns what is to be logged."""
    path = lay.shell_call(session, _key(event))
    return _close(path, environ, late=False) if os.path.lexists(path) else []


def settle(lay: Layout, session: str, event: Event, environ: dict[str, str]) -> None:
    """A turn is over: commands of this very agent that never reported their end have ended.

    Only a stop comes at once; at a prompt or a start people had time to change files.
    """
    folder = os.path.dirname(lay.shell_call(session, ""))
    try:
        names = [name for name in os.listdir(folder) if name.startswith("shell-") and "." not in name]
    except OSError:
        return
    for name in sorted(names):
        kept = load(f"{folder}/{name}")
        same = kept is not None and kept.get("own") == event.session
        if kept is None or (same and (kept.get("agent_id") == event.agent_id or event.kind == "end")):
            _close(f"{folder}/{name}", environ, late=event.kind not in _ENDS)

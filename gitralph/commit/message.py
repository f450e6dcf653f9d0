"""The message of a commit: given or made up, changed by hooks and editor, with the trailers always last."""

from __future__ import annotations

import os
import shlex
from typing import Any

from gitralph.base import files, programs, runner
from gitralph.base.errors import Failed
from gitralph.base.ids import EMPTY_TREE
from gitralph.base.quote import printable, shown
from gitralph.commit import attribution, hooks
from gitralph.commit.hooks import Stage
from gitralph.decide import own_commit
from gitralph.decide.decision import UNRECORDED
from gitralph.decide.request import Draft, Request
from gitralph.git import message
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context
from gitralph.git.message import Cleanup
from gitralph.hook import sessionfile
from gitralph.records import checklist, published_name

# In bytes; nobody writes a longer template.
_TEMPLATE = 1 << 20


class Typed:
    """What somebody typed into the editor. It is kept in the git dir until the commit has it."""

    def __init__(self, git_dir: str) -> None:
        # The name is our own: git's COMMIT_EDITMSG belongs to the next plain commit.
        self.path = git_dir + "/RALPH_EDITMSG"
        self.text: bytes | None = None

    def keep(self, text: bytes) -> None:
        """Remember a text, also beyond this process."""
        self.text = text
        files.write_whole(self.path, text)

    def drop(self) -> None:
        """Forget the text: the commit has it."""
        if self.text is not None and os.path.lexists(self.path):
            os.unlink(self.path)

    def hints(self, command: str) -> tuple[str, ...]:
        """Hints how to use the text again where the commit failed."""
        return () if self.text is None else (f"your message is kept: {command} -F {shlex.quote(self.path)}",)


def compose(ctx: Context, request: Request, made: Draft) -> bytes:
    """The message as given or made up, trailers last."""
    text = _first(ctx, request, made)
    return _with_trailers(ctx, request, made, _cleanup(ctx, request).with_character(text).tidy(ctx.git, text))


def _cleanup(ctx: Context, request: Request) -> Cleanup:
    """How git would tidy this message: ``commit.cleanup``."""
    mode = ctx.config.choice("commit.cleanup", "default", *message.MODES)
    return Cleanup.of(mode, request.edit, ctx.config.get("core.commentchar"))


def _first(ctx: Context, request: Request, made: Draft) -> bytes:
    begun = None
    if request.amend or request.fixup is not None:
        begun = own_commit.first_message(ctx, request)
    if begun is not None:
        return begun
    if request.messages:
        return message.join(list(request.messages))
    record = sessionfile.read(ctx.layout, request.session) or {}
    return default_message(ctx, record, made.changes)


def _with_trailers(ctx: Context, request: Request, made: Draft, text: bytes) -> bytes:
    """The message ``text`` with the session's trailers at its end. Raises Failed for an empty message."""
    last = _own(ctx, request, made)
    if published_name.is_member(
        ctx.layout
    ):  # an amended commit may name the session as it did before it joined a fleet
        plain = f"Ralph-Session: {request.session}".encode()
        text = b"\n".join(line for line in text.split(b"\n") if line != plain)
    # Trailers alone say nothing about a change: git would ask for a message too.
    if not [line for line in text.split(b"\n") if line.strip() and line not in last]:
        raise Failed("the commit message is empty; nothing was committed")
    return message.add_trailers(ctx.git, text, list(request.trailers), last)


def _own(ctx: Context, request: Request, made: Draft) -> list[bytes]:
    if request.by_person:
        return []
    record: dict[str, Any] = sessionfile.read(ctx.layout, request.session) or {}
    return trailers(ctx, request.session, record, made)


def through_hooks(
    ctx: Context, bench: Workbench, request: Request, made: Draft, stage: Stage, typed: Typed
) -> bytes:
    """The message as prepare-commit-msg, the editor and commit-msg leave it, in git's order.

    Raises Failed when one of them refuses. What was typed in an earlier round is not asked for again.
    """
    names = hooks.present(ctx, ("prepare-commit-msg", "commit-msg"))
    template = _template(ctx, request)
    text = typed.text or template or _first(ctx, request, made)
    cleanup = _cleanup(ctx, request).with_character(text)
    text = text if cleanup.mode == "verbatim" else message.spaced(ctx.git, text)
    path = f"{bench.folder}/COMMIT_EDITMSG"
    shown_first = _with_trailers(ctx, request, made, text)
    _write(path, shown_first)
    if "prepare-commit-msg" in names and typed.text is None:
        # git passes no source where the editor opens on a text that nobody gave
        source = ["message"] if request.messages or not request.edit else []
        source = ["commit", "HEAD"] if request.amend and not request.messages else source
        source = ["template"] if template else source
        _run(ctx, stage, "prepare-commit-msg", path, *source)
    if request.edit and typed.text is None:
        _edit(ctx, bench, made, path, cleanup)
        given = cleanup.tidy(ctx.git, _read(path))
        if template and given == cleanup.tidy(ctx.git, shown_first):
            raise Failed("the message is the template as it was; nothing was committed")
        _with_trailers(ctx, request, made, given)
        typed.keep(given)
    if "commit-msg" in names and request.verify:
        _run(ctx, stage, "commit-msg", path)
    return _with_trailers(ctx, request, made, cleanup.tidy(ctx.git, _read(path)))


def _run(ctx: Context, stage: Stage, name: str, *args: str) -> None:
    if not stage.run(name, *args):
        raise hooks.hook_failed(ctx, name)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write(path: str, text: bytes) -> None:
    with open(path, "wb") as file:
        file.write(text)


def _template(ctx: Context, request: Request) -> bytes:
    """What ``commit.template`` names, where the editor opens on a text that nobody gave; else nothing."""
    if not request.edit or request.messages or request.amend or request.fixup is not None:
        return b""
    said = ctx.git.at(ctx.repo.root).try_run("config", "--type=path", "--get", "commit.template")
    name = os.fsdecode(said.stdout).rstrip("\n")
    if said.returncode or not name:
        return b""
    try:
        text = files.read_bytes(os.path.join(ctx.repo.root, name), _TEMPLATE, foreign=True)
    except OSError as error:
        raise Failed(f"could not read '{name}', the 'commit.template': {error.strerror}") from None
    return text if text.strip() else b""


def _edit(ctx: Context, bench: Workbench, made: Draft, path: str, cleanup: Cleanup) -> None:
    """Open the editor on the message and what will be committed. Raises Failed when the editor fails."""
    listing = [b"\t%s\t%s" % (letter.encode(), name) for name, letter in made.changes.items()]
    text = _read(path) + cleanup.explain(listing)
    level = ctx.config.get("commit.verbose") or "0"  # a boolean or a number (git-config(1))
    is_verbose = int(level) > 0 if level.isdecimal() else ctx.config.boolean("commit.verbose")
    if is_verbose:
        patch = hooks.patch_between(bench.git, made.base.root or EMPTY_TREE.encode(), made.tree)
        text = cleanup.with_patch(text, os.fsencode(patch))
    _write(path, text)
    editor = ctx.git.line("var", "GIT_EDITOR")
    # The editor runs through the shell, as with git: it may be set with options and quotes (git-var(1)).
    words = ["/bin/sh", "-c", f'{editor} "$@"', editor, path]
    if runner.show(words, env=programs.inherited(ctx.environ, naming=True)):
        raise Failed("the editor failed; nothing was committed")
    if is_verbose:
        _write(path, cleanup.parts(_read(path))[0])


def _task_subject(ctx: Context, name: str, task: str) -> str | None:
    path = os.path.join(ctx.repo.root, name)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            tasks = checklist.parse(file.read(1 << 20).encode())
    except OSError:
        return f"Task {task}"
    if task.isdigit() and 0 < int(task) <= len(tasks):
        return f"Task {task}/{len(tasks)}: {tasks[int(task) - 1].text}"
    return f"Task {task}"


def _summary(changes: dict[bytes, str]) -> str:
    verbs = {"A": "Add", "D": "Delete", "M": "Update", "T": "Change the type of"}
    kinds = set(changes.values())
    verb = verbs[kinds.pop()] if len(kinds) == 1 else "Update"
    if len(changes) == 1:
        return f"{verb} {shown(next(iter(changes)))}"
    return f"{verb} {len(changes)} files"


def default_message(ctx: Context, record: dict[str, Any], changes: dict[bytes, str]) -> bytes:
    """The message of a commit without ``-m``: the task, the bead, or what changed."""
    subject = None
    if record.get("plan") is not None and record.get("task") is not None:
        subject = _task_subject(ctx, str(record["plan"]), str(record["task"]))
    elif record.get("bead") is not None:
        subject = f"{record['bead']}: {_summary(changes)}"
    text = (subject or _summary(changes)).encode("utf-8", "replace")
    # For most readers a message ends at a NUL (git refuses one).
    return text.replace(b"\0", b" ") + b"\n"


def trailers(ctx: Context, session: str, record: dict[str, Any], made: Draft) -> list[bytes]:
    """The trailers that end the message; in a fleet they name sessions by their hash."""
    rows = [("Ralph-Session", published_name.published(ctx.layout, session))]
    for name in ("plan", "task", "bead", "agent"):
        if record.get(name) is not None:
            value = printable(" ".join(str(record[name]).split()))
            rows.append((f"Ralph-{name.capitalize()}", value))
    named = (one if one == UNRECORDED else published_name.published(ctx.layout, one) for one in made.includes)
    rows += [("Ralph-Includes", other) for other in named]
    own = [f"{key}: {value}".encode("utf-8", "replace") for key, value in rows]
    return attribution.rows(ctx, session, made) + own

"""The text of a commit on its way: given, made up, changed by hooks and editor; trailers always last."""

import os
import shlex
from typing import Any

from gitralph import files, sessionfile
from gitralph.base import run as runner
from gitralph.errors import Failed
from gitralph.plumbing import message
from gitralph.plumbing.blob import Workbench
from gitralph.plumbing.message import Cleanup
from gitralph.porcelain import repohooks, wording
from gitralph.porcelain.context import Context
from gitralph.porcelain.draft import Draft
from gitralph.porcelain.repohooks import Stage
from gitralph.porcelain.request import Request


class Typed:
    """What somebody typed into the editor: kept in the git dir until the commit has it."""

    def __init__(self, git_dir: str) -> None:
        self.path = git_dir + "/RALPH_EDITMSG"
        self.text: bytes | None = None

    def keep(self, text: bytes) -> None:
        """Remember a text, also beyond this process."""
        self.text = text
        files.write_whole(self.path, text)

    def drop(self) -> None:
        """The commit has it."""
        if self.text is not None and os.path.lexists(self.path):
            os.unlink(self.path)

    def hints(self, session: str) -> tuple[str, ...]:
        """How to use it again where the commit failed."""
        if self.text is None:
            return ()
        command = f"git ralph commit --session {shlex.quote(session)} -F {shlex.quote(self.path)}"
        return (f"your message is kept: {command}",)


def compose(ctx: Context, request: Request, made: Draft) -> bytes:
    """The message as given or made up, trailers last."""
    text = _first(ctx, request, made)
    return _with_trailers(ctx, request, made, _cleanup(ctx, request).settled(text).tidy(ctx.git, text))


def _cleanup(ctx: Context, request: Request) -> Cleanup:
    """How git would tidy this message: ``commit.cleanup``."""
    mode = ctx.config.choice("commit.cleanup", "default", *message.MODES)
    return Cleanup.of(mode, request.edit, ctx.config.get("core.commentchar"))


def _first(ctx: Context, request: Request, made: Draft) -> bytes:
    if request.messages:
        return message.join(list(request.messages))
    record = sessionfile.read(ctx.layout, request.session) or {}
    return wording.default_message(ctx, record, made.changes)


def _with_trailers(ctx: Context, request: Request, made: Draft, text: bytes) -> bytes:
    """``text`` ended with the trailers of the session. Raises Failed for an empty message."""
    last = _own(ctx, request, made)
    if not [line for line in text.split(b"\n") if line.strip() and line not in last]:
        raise Failed("the commit message is empty; nothing was committed")
    return message.add_trailers(ctx.git, text, list(request.trailers), last)


def _own(ctx: Context, request: Request, made: Draft) -> list[bytes]:
    record: dict[str, Any] = sessionfile.read(ctx.layout, request.session) or {}
    return wording.trailers(request.session, record, made.includes)


def through_hooks(
    ctx: Context, bench: Workbench, request: Request, made: Draft, stage: Stage, typed: Typed
) -> bytes:
    """The message as prepare-commit-msg, the editor and commit-msg leave it, in git's order.

    Raises Failed when one says no. What was typed before is not asked for again.
    """
    names = repohooks.present(ctx, ("prepare-commit-msg", "commit-msg"))
    text = typed.text or _first(ctx, request, made)
    cleanup = _cleanup(ctx, request).settled(text)
    text = text if cleanup.mode == "verbatim" else message.spaced(ctx.git, text)
    path = f"{bench.folder}/COMMIT_EDITMSG"
    _write(path, _with_trailers(ctx, request, made, text))
    if "prepare-commit-msg" in names and typed.text is None:
        # git gives no source where the editor opens on a text that nobody gave
        source = ["message"] if request.messages or not request.edit else []
        _run(stage, "prepare-commit-msg", path, *source)
    if request.edit and typed.text is None:
        _edit(ctx, made, path, cleanup)
        given = cleanup.tidy(ctx.git, _read(path))
        _with_trailers(ctx, request, made, given)
        typed.keep(given)
    if "commit-msg" in names and request.verify:
        _run(stage, "commit-msg", path)
    return _with_trailers(ctx, request, made, cleanup.tidy(ctx.git, _read(path)))


def _run(stage: Stage, name: str, *args: str) -> None:
    if not stage.run(name, *args):
        raise repohooks.hook_failed(name)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write(path: str, text: bytes) -> None:
    with open(path, "wb") as file:
        file.write(text)


def _edit(ctx: Context, made: Draft, path: str, cleanup: Cleanup) -> None:
    """Open the editor on the message and what will be committed. Raises Failed when it fails."""
    listing = [b"\t%s\t%s" % (letter.encode(), name) for name, letter in made.changes.items()]
    _write(path, _read(path) + cleanup.explain(listing))
    editor = ctx.git.line("var", "GIT_EDITOR")
    words = ["/bin/sh", "-c", f'{editor} "$@"', editor, path]
    if runner.show(words, env=runner.inherited(ctx.environ, naming=True)):
        raise Failed("the editor failed; nothing was committed")

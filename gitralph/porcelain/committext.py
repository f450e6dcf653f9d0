"""The text of a commit on its way: given, made up, edited, changed by hooks; trailers always last."""

from typing import Any

from gitralph import sessionfile
from gitralph.base import run as runner
from gitralph.errors import Failed
from gitralph.plumbing import message
from gitralph.plumbing.blob import Workbench
from gitralph.porcelain import repohooks, wording
from gitralph.porcelain.context import Context
from gitralph.porcelain.draft import Draft
from gitralph.porcelain.request import Request


def compose(ctx: Context, bench: Workbench, request: Request, made: Draft) -> bytes:
    """The message as given or made up, trailers last, edited where that was asked for."""
    record = sessionfile.read(ctx.layout, request.session) or {}
    if request.messages:
        text = message.join(list(request.messages))
    else:
        text = wording.default_message(ctx, record, made.changes)
    text = with_trailers(ctx, request, made, message.clean(ctx.git, text, comments=False))
    return _edited(ctx, bench, request, made, text) if request.edit else text


def with_trailers(ctx: Context, request: Request, made: Draft, text: bytes) -> bytes:
    """``text`` ended with the trailers of the session. Raises Failed for an empty message."""
    record: dict[str, Any] = sessionfile.read(ctx.layout, request.session) or {}
    if not text.strip():
        raise Failed("the commit message is empty; nothing was committed")
    last = wording.trailers(request.session, record, made.includes)
    return message.add_trailers(ctx.git, text, list(request.trailers), last)


def _edited(ctx: Context, bench: Workbench, request: Request, made: Draft, text: bytes) -> bytes:
    path = f"{bench.folder}/COMMIT_EDITMSG"
    listing = b"".join(b"#\t%s\t%s\n" % (letter.encode(), path) for path, letter in made.changes.items())
    with open(path, "wb") as file:
        file.write(text + b"\n# Lines starting with '#' are dropped; an empty message aborts.\n"
                   b"#\n# Changes to be committed:\n" + listing)  # fmt: skip
    editor = ctx.git.line("var", "GIT_EDITOR")
    words = ["/bin/sh", "-c", f'{editor} "$@"', editor, path]
    if runner.show(words, env=runner.inherited(ctx.environ, naming=True)):
        raise Failed("the editor failed; nothing was committed")
    with open(path, "rb") as file:
        given = message.clean(ctx.git, file.read(), comments=True)
    record = sessionfile.read(ctx.layout, request.session) or {}
    own = set(wording.trailers(request.session, record, made.includes))
    if not [line for line in given.split(b"\n") if line.strip() and line not in own]:
        raise Failed("the commit message is empty; nothing was committed")
    return with_trailers(ctx, request, made, given)


def after_hooks(
    ctx: Context,
    bench: Workbench,
    request: Request,
    made: Draft,
    stage: repohooks.Stage,
    text: bytes,
) -> bytes:
    """The message as prepare-commit-msg and commit-msg leave it. Raises Failed when one says no."""
    names = repohooks.present(ctx, ("prepare-commit-msg", "commit-msg"))
    if not request.verify:
        names = [name for name in names if name != "commit-msg"]
    if not names:
        return text
    path = f"{bench.folder}/COMMIT_EDITMSG"
    with open(path, "wb") as file:
        file.write(text)
    for name in names:
        if not stage.run(name, path, *(["message"] if name == "prepare-commit-msg" else [])):
            raise repohooks.hook_failed(name)
    with open(path, "rb") as file:
        return with_trailers(ctx, request, made, message.clean(ctx.git, file.read(), comments=False))

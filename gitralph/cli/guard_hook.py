"""``git ralph guard <hook> <pid> [<file>]``: called by git's hooks three times a commit, so without click."""

from gitralph.base.errors import OK, USAGE
from gitralph.cli.terminal import environ, output
from gitralph.commit import guard_script
from gitralph.git.context import Context, open_context
from gitralph.guard import after_pre_commit, whose_commit

_NAMES = (*guard_script.HOOKS, guard_script.REBASE, guard_script.FAILED)


def main(words: list[str]) -> int:
    """Do what one hook of the guard does; returns its exit code, never a traceback."""
    if words[0] not in _NAMES or not words[1].isdigit():
        output.chatter("error", f"'{words[0]}' is no hook of the guard: git ralph install --guard")
        return USAGE
    env = environ.snapshot()
    if env.get("RALPH_GUARD") == "0":
        return OK
    try:
        ctx = open_context(env, create=False)
        ctx.warn, ctx.say = output.warn, output.note
        try:
            return _hook(ctx, words[0], words[1:])
        finally:
            ctx.repo.close()
    except OSError as error:
        return output.not_guarded(error)
    except Exception as error:
        return output.fault(error)


def _hook(ctx: Context, name: str, words: list[str]) -> int:
    git, rest = whose_commit.git_process(int(words[0])), words[1:]
    if name == guard_script.NAME:
        from gitralph.guard import narrow  # 30 ms to load, in one of the three processes alone

        # A framework that was installed later calls us by another name, and before its own checks.
        for note in narrow.run(ctx, git, early=rest[:1] not in ([], [guard_script.NAME])):
            output.note(note)
        return OK
    if name == guard_script.FAILED:
        from gitralph.guard import concluding, question  # 30 ms to load, where a hook said no

        if question.mode(ctx) == question.NARROW:
            concluding.said_no(ctx)
    elif name == guard_script.REBASE:
        from gitralph.guard import concluding  # 30 ms to load, in a stopped rebase alone

        doing = concluding.doing(ctx) if ctx.config.get("ralph.guard") == guard_script.NARROW else None
        if doing is not None:
            concluding.refuse(ctx, doing, is_read=True)
    elif name == "post-commit":
        after_pre_commit.made(ctx, git)
    elif name == "commit-msg" and rest:
        after_pre_commit.sign(ctx, git, rest[0])
    elif rest:
        after_pre_commit.has_read(ctx, git)
        # Nobody will type into the message, so sign it now: this saves one start of Python.
        if _opens_no_editor(ctx):
            after_pre_commit.sign(ctx, git, rest[0])
    return OK


def _opens_no_editor(ctx: Context) -> bool:
    """True where git opens no editor on the message; git tells its hooks."""
    return ctx.environ.get("GIT_EDITOR") == ":"

"""Entry point: sends ``hook``, ``emit`` and git's own hooks to lanes before anything heavy is imported.

Nothing but ``os`` and ``sys`` is imported before :func:`main` has looked at ``sys.path``.
"""

import gc
import os
import sys

TYPE_CHECKING = False  # typing's own is not to be had without typing
if TYPE_CHECKING:
    from gitralph.guard.reply import Reply
    from gitralph.hook.entry import Found
    from gitralph.hook.event import Event


def decide(agent: str, event: "Event", kind: str, environ: dict[str, str]) -> int:
    """Answer a policy event: the one kind that leaves the fast lane."""
    if kind == "discard":
        reply = discard(event, environ)
        if reply is None:
            return 0
    else:
        from gitralph.tasks.policy.dispatch import answer

        reply = answer(agent, event, kind, environ)
    sys.stdout.flush()
    if reply.out:
        sys.stdout.buffer.write(reply.out)
        sys.stdout.buffer.flush()
    for line in reply.said:
        sys.stderr.write(line.encode("ascii", "backslashreplace").decode() + "\n")
    return reply.code


def discard(event: "Event", environ: dict[str, str]) -> "Reply | None":
    """What to say to a shell command that may throw away what others have not committed; None: nothing.

    The command is read before the engine is loaded. Whatever goes wrong lets it pass.
    """
    from gitralph.guard import discards
    from gitralph.hook import entry
    from gitralph.hook.agents.writing import shell_command

    text, folder = shell_command(event)
    here, stood = entry.cwd_of(event), os.getcwd()
    try:
        found = discards.find(text or "", os.path.join(here, folder or ""), environ)
        if not found:
            return None
        from gitralph.guard.discard import answer

        return answer(event, found, environ)
    except discards.UnreadableError as error:
        entry.log_anywhere(event.agent, f"a command was let pass: {error}")
    except Exception as error:  # its text may hold some of the command's, which is never stored
        entry.log_anywhere(event.agent, f"a command was let pass: {type(error).__name__}")
    finally:
        os.chdir(stood)
    return None


def tell(event: "Event", found: "list[Found]", environ: dict[str, str]) -> None:
    """Tell the agent, in its own form, whose uncommitted lines it is about to edit near."""
    from gitralph.guard import heads_up
    from gitralph.guard.reply import context

    said = heads_up.told(event, found, environ)
    if said is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(context(event.agent, said))
        sys.stdout.buffer.flush()


def mend(folder: str, environ: dict[str, str]) -> None:
    """Put right what a `git commit` that died left in ``folder``'s repository; slow, and seldom called."""
    from gitralph.commit import cleanup
    from gitralph.git.context import open_context, without_programs

    os.chdir(folder)  # the event's folder, not the client's; the process ends after this
    ctx = open_context(environ, create=False)
    quiet = without_programs(ctx)
    try:
        cleanup.unless_busy(quiet)
    finally:
        quiet.repo.close()
        ctx.repo.close()


def _leave(_number: int, _frame: object) -> None:
    """Nothing was begun yet, so there is nothing to keep."""
    os._exit(130)


def _leave_when_told() -> None:
    """While ``run`` loads its modules and when it is done, a signal to stop ends it as in between: 130.

    Without it SIGTERM, SIGQUIT and SIGHUP would kill a loop that was told to stop too early or too late,
    and whoever told it would take that for a failure.
    """
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, _leave)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # else it is nohup(1) that runs us
        signal.signal(signal.SIGHUP, _leave)


def _leave_with(code: int) -> None:
    """End without the interpreter's own ending.

    That takes hundreds of modules apart: 5 of the 36 ms of an edit hook, 17 of the 145 of a commit. Of a loop
    it takes the handlers off while signals still come, and cuts threads short that hold a stream's lock.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        pass
    os._exit(code)


def main() -> int:
    """Run ``git ralph`` with ``sys.argv``; returns the exit code."""
    args = sys.argv[1:]
    # A relative or empty entry (PYTHONPATH, python -m) would let a file of the working tree, say a
    # json.py, be imported in place of ours.
    sys.path[:] = [entry for entry in sys.path if entry[:1] == "/"]
    from gitralph.base import streams

    streams.fill()
    if len(args) == 2 and args[0] == "hook" and args[1][:1] != "-":
        from gitralph.hook import entry

        return entry.main(args[1], decide, mend, tell)
    if args == ["status", "--prompt"]:
        from gitralph.hook import prompt

        return prompt.main(os.environ)
    if args[:1] == ["emit"]:
        from gitralph.hook import emit

        code = emit.main(args[1:])
        if code is not None:
            return code
    try:
        if args[:1] == ["guard"] and len(args) > 2:
            from gitralph.cli import guard_hook

            return guard_hook.main(args[1:])
        from gitralph.cli.main import run

        return run(args)
    except KeyboardInterrupt:
        return 130  # while the modules were loading
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "gitralph":
            raise
        missing = error.name.partition(".")[0]
        streams.complain(
            f"fatal: git ralph needs the package '{missing}': {sys.executable} -m pip install {missing}\n"
        )
        return 128


def program() -> int:
    """:func:`main` as a process of its own."""
    # What loads is no garbage, and a hook is over before garbage in circles counts: looking for it takes 1.5
    # of the 36 ms of an edit hook, 7 of the 145 of a commit. A command looks again as soon as it is loaded.
    gc.disable()
    if sys.argv[1:2] == ["run"]:
        _leave_when_told()
    _leave_with(main())
    return 0


if __name__ == "__main__":
    sys.exit(program())

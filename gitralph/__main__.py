"""Entry point: sends ``hook``, ``emit`` and git's own hooks to lanes before anything heavy is imported."""

import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitralph.hook.event import Event


def decide(agent: str, event: "Event", kind: str, environ: dict[str, str]) -> int:
    """Answer a policy event: the one kind that leaves the fast lane."""
    from gitralph.policy.dispatch import answer

    reply = answer(agent, event, kind, environ)
    sys.stdout.flush()
    if reply.out:
        sys.stdout.buffer.write(reply.out)
        sys.stdout.buffer.flush()
    for line in reply.said:
        sys.stderr.write(line.encode("ascii", "backslashreplace").decode() + "\n")
    return reply.code


def mend(folder: str, environ: dict[str, str]) -> None:
    """Put right what a `git commit` that died left in ``folder``'s repository; slow, and seldom called."""
    import os

    from gitralph.commit import recover
    from gitralph.context import open_context, without_programs

    os.chdir(folder)  # the event's folder, not the client's; the process ends after this
    ctx = open_context(environ, create=False)
    try:
        recover.heal(without_programs(ctx))
    finally:
        ctx.repo.close()


def _leave(_number: int, _frame: object) -> None:
    """Nothing was begun yet, so there is nothing to keep."""
    import os

    os._exit(130)


def _leave_when_told() -> None:
    """While ``run`` loads its modules, a signal to stop ends it as it will later on."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, _leave)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # else it is nohup(1) that runs us
        signal.signal(signal.SIGHUP, _leave)


def _leave_with(code: int) -> None:
    """End without the interpreter's own ending.

    That takes a hundred modules apart, 3 ms of a commit, and handlers off while signals may still come.
    """
    import os

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

        return entry.main(args[1], decide, mend)
    if args == ["status", "--prompt"]:
        import os

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
        from gitralph.cli.lean import run

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
    """:func:`main` as a process of its own, which a loop may be asked to leave at any moment."""
    if sys.argv[1:2] == ["run"]:
        _leave_when_told()
    else:
        # Everything but a loop is over before garbage in circles counts; looking for it while modules load
        # costs a commit 2 ms.
        gc.disable()
    _leave_with(main())
    return 0


if __name__ == "__main__":
    sys.exit(program())

"""Entry point: sends ``hook`` and ``emit`` to their fast lanes before anything heavy is imported."""

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


def main() -> int:
    """Run ``git ralph`` with ``sys.argv``; returns the exit code."""
    # A relative or empty entry (PYTHONPATH, python -m) would let a file of the working tree, say a
    # json.py, be imported in place of ours.
    sys.path[:] = [entry for entry in sys.path if entry[:1] == "/"]
    from gitralph.base import streams

    streams.fill()
    args = sys.argv[1:]
    if len(args) == 2 and args[0] == "hook" and args[1][:1] != "-":
        from gitralph.hook import entry

        return entry.main(args[1], decide)
    if args[:1] == ["emit"]:
        from gitralph.hook import emit

        code = emit.main(args[1:])
        if code is not None:
            return code
    from gitralph.cli.main import run

    return run(args)


if __name__ == "__main__":
    sys.exit(main())

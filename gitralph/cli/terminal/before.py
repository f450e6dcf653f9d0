"""Commands that take another command's words after ``--``."""

import click

from gitralph.cli.terminal import options


class BeforeCommand(options.Command):
    """Keeps the words after ``--`` apart, in the context's ``meta["command"]``: they are a command to run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)

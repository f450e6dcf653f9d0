"""``git ralph demo``."""

import shutil
import sys
from contextlib import closing

import click

from gitralph.base.errors import NO, OK
from gitralph.cli.terminal import environ, options, output
from gitralph.setup.demo import play
from gitralph.setup.demo.play import SceneRow, StoryScene
from gitralph.setup.demo.script import CLAUDE, HUMAN, PI

_COLORS = {CLAUDE: "cyan", PI: "magenta", HUMAN: "yellow", "+": "green", "-": "red"}


@click.command("demo", cls=options.Command)
@click.option("--keep", is_flag=True, help="Keep the repository and print where it is.")
def demo(keep: bool) -> int:
    """Let two agents and a human edit one throw-away repository at once, commit each, and check it."""
    env = environ.snapshot()
    color = environ.wants_color(env, None)
    output.say("two agents and a human work in one repository, all at once\n")
    faults = []
    with closing(play.play(env, keep)) as scenes:
        for scene in scenes:
            _show(scene, color)
            faults += scene.faults
    if not faults and shutil.which("git-ralph", path=env.get("PATH")) is not None:
        output.hint("git ralph install  # hooks up your own agents")
    return NO if faults else OK


def _show(scene: StoryScene, color: bool) -> None:
    title = output.printable_lines(scene.title)
    sys.stdout.write((click.style(title, bold=True) if color else title) + "\n")
    if scene.command:
        output.say(f"  $ {scene.command}")
    _table(scene.rows, color)
    for line in scene.remarks:
        output.say(f"  {line}")
    for line in scene.faults:
        output.say(f"  WRONG: {line}")
    output.say("")
    sys.stdout.flush()


def _table(rows: list[SceneRow], color: bool) -> None:
    widths = [max(map(len, column)) for column in zip(*(row.columns for row in rows), strict=True)]
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row.columns, widths, strict=True)]
        line = output.folded("  " + output.printable_lines("  ".join(cells).rstrip()), sys.stdout)
        paint = _COLORS.get(row.who or "") if color else None
        sys.stdout.write((click.style(line, fg=paint) if paint else line) + "\n")

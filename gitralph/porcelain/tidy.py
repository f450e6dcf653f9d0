"""What every writing command does first: finish or drop what a crash left behind."""

import os
import shutil

from gitralph.porcelain import landing
from gitralph.porcelain.context import Context


def settle(ctx: Context) -> list[str]:
    """Finish commits that were cut short and clear the work folders of dead processes.

    Runs under the commit lock. Returns the commits that were finished.
    """
    finished = landing.recover(ctx.repo, ctx.layout)
    try:
        names = os.listdir(ctx.layout.tmp)
    except FileNotFoundError:
        return finished
    for name in names:
        pid = name.split("-", 1)[0].split(".", 1)[0]
        if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            _remove(f"{ctx.layout.tmp}/{name}")
    return finished


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass

"""Starts git from a hook: no shell, no configured program, a deadline. For shell events only.

Fast lane.
"""

from gitralph.base import nul, programs

_EMPTY, _FALSE = "RALPH_EMPTY", "RALPH_FALSE"
_SETTINGS = r"^(ralph\.shelledits|filter\..*\.(clean|process))$"


def run(
    root: str, words: list[str], environ: dict[str, str], deadline: float, ok: tuple[int, ...] = (0,)
) -> bytes | None:
    """What git prints in the worktree at ``root``; None when it fails or takes too long."""
    program = programs.find("git", environ)
    if program is None:
        return None
    passed = {**programs.inherited(environ), "GIT_OPTIONAL_LOCKS": "0", _EMPTY: "", _FALSE: "false"}
    try:
        done = programs.quick([program, "-C", root, "-c", "core.fsmonitor=false", *words], passed, deadline)
    except (OSError, ValueError):
        return None
    return done[1] if done is not None and done[0] in ok else None


def settings(root: str, environ: dict[str, str], deadline: float) -> tuple[list[str], bool] | None:
    """``-c`` options under which git runs no filter, and whether shell commands are to be watched."""
    said = run(root, ["config", "--null", "--get-regexp", _SETTINGS], environ, deadline, ok=(0, 1))
    if said is None:
        return None
    options: list[str] = []
    wanted = True
    for row in nul.texts(said):
        key, _, value = row.partition("\n")
        if key == "ralph.shelledits":
            wanted = value.strip().lower() != "off"
            continue
        name = key.rpartition(".")[0]
        # not -c: a filter's name may hold the sign that ends a key there
        options += [f"--config-env={key}={_EMPTY}", f"--config-env={name}.required={_FALSE}"]
    return options, wanted

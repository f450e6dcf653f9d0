"""The only place outside the hook that reads the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping


def snapshot() -> dict[str, str]:
    """The environment as it is now."""
    return dict(os.environ)


def wants_advice() -> bool:
    """True unless ``GIT_ADVICE`` is false."""
    return os.environ.get("GIT_ADVICE", "1").lower() not in ("0", "false", "no", "off", "")


def wants_trace() -> bool:
    """The value of ``RALPH_TRACE``, with git's words for yes and no."""
    return os.environ.get("RALPH_TRACE", "0").lower() not in ("0", "false", "no", "off", "")


def is_terminal(stream: object) -> bool:
    """True when ``stream`` is somebody's screen."""
    return bool(getattr(stream, "isatty", lambda: False)())


def wants_color(environ: Mapping[str, str], setting: str | None) -> bool:
    """True on a terminal, unless ``NO_COLOR``, ``TERM=dumb`` or ``color.ui`` says no."""
    # As in git: "always" means also in a pipe, whatever NO_COLOR says.
    if setting in ("always",):
        return True
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb" or setting in ("false", "never"):
        return False
    return is_terminal(sys.stdout) or "GIT_PAGER_IN_USE" in environ

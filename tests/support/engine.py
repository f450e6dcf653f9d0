"""Which of the two engines the tests ask, while both stand beside one another.

Named in the environment, so that the processes of a pool and of pytest-xdist ask the same one.
"""

import os

ENGINES = ("steps", "pieces")
_NAME = "RALPH_ENGINE"


def choose(name: str) -> None:
    """Ask this engine from here on, in the processes that are started as well."""
    os.environ[_NAME] = name


def is_pieces() -> bool:
    """Tell whether the new one is asked."""
    return os.environ.get(_NAME) != "steps"


PIECES = is_pieces()
"""The same when the tests were read: a test's own environment names none."""


def configured() -> str:
    """What a `.gitconfig` says about it."""
    return "" if is_pieces() else "[ralph]\n\tengine = steps\n"

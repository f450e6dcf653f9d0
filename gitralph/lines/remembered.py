"""Keeps the answers of a method in its object, and goes with it; `functools.cache` would keep the object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, TypeVarTuple

Self = TypeVar("Self")
Args = TypeVarTuple("Args")
Answer = TypeVar("Answer")


def remembered(method: Callable[[Self, *Args], Answer]) -> Callable[[Self, *Args], Answer]:
    """Ask a method once for the same arguments."""
    name = f"{method.__name__} remembered"

    @wraps(method)
    def asked(self: Self, *args: *Args) -> Answer:
        answers: dict[tuple[*Args], Answer] = self.__dict__.setdefault(name, {})
        if args not in answers:
            answers[args] = method(self, *args)
        return answers[args]

    return asked

"""What may be typed after a command: declared once, read with click or, for common forms, without it.

Importing click costs a command more than three times what Python needs to start (with ``inspect``, ``re``,
``gettext`` and ``enum`` 25 of 33 ms, Python 3.11 and click 8.5), so a command line that is plain enough is
read here: :meth:`Command.read`. It knows flags, options with one value and positional words; for everything
else, wrong or merely unusual, it answers None, and the same declarations make a click command that reads the
line and says what is wrong with it. A test types random lines at both.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import click

CONTEXT = {"help_option_names": ["-h", "--help"], "ignore_unknown_options": False}
# The words as they are, bytes that are no text among them: click.UNPROCESSED.
UNPROCESSED = "unprocessed"
# A declaration with another setting than these is only for click.
_SIMPLE = frozenset(["help", "is_flag", "metavar", "multiple", "nargs", "required", "type"])


@dataclass(frozen=True)
class AtLeast:
    """The type of an option that takes a whole number, ``least`` or more."""

    least: int

    def read(self, typed: str) -> int | None:
        """The number; None for what is left to click, which also takes ``+3`` or says what is wrong."""
        # Longer numbers are left to click, as every form that is not plain.
        found = int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 10 else -1
        return found if found >= self.least else None


@dataclass(frozen=True)
class Word:
    """One option or positional word; ``names`` and ``settings`` as click takes them."""

    names: tuple[str, ...]
    settings: dict[str, Any]
    is_option: bool

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Note it at ``function``; decorators run from the last line up, so the first comes first."""
        declared: tuple[Word, ...] = getattr(function, "declared", ())
        function.declared = (self, *declared)  # type: ignore[attr-defined]
        return function

    @property
    def typed(self) -> tuple[str, ...]:
        """How an option is typed."""
        return tuple(name for name in self.names if name[0] == "-")

    @property
    def target(self) -> str:
        """The parameter that gets the value: named, or the first long spelling."""
        named = [name for name in self.names if name[0] != "-"]
        longest = [name for name in self.names if name[:2] == "--"] or list(self.names)
        return named[0] if named else longest[0].lstrip("-").replace("-", "_").lower()

    @property
    def is_flag(self) -> bool:
        return bool(self.settings.get("is_flag"))

    @property
    def is_many(self) -> bool:
        return bool(self.settings.get("multiple")) or self.settings.get("nargs") == -1

    @property
    def is_simple(self) -> bool:
        """Whether :meth:`Command.read` understands it as click would."""
        kind = self.settings.get("type")
        plain = kind in (None, UNPROCESSED) or isinstance(kind, AtLeast)
        # `--a/--no-a` in one name is a pair of flags to click.
        plain = plain and self.settings.get("nargs") in (None, -1)
        return plain and self.settings.keys() <= _SIMPLE and not any("/" in name for name in self.names)

    def start(self) -> object:
        """The value where nothing is typed."""
        return () if self.is_many else False if self.is_flag else None

    def for_click(self, function: Callable[..., Any]) -> None:
        """Declare it to click."""

        settings = dict(self.settings)
        if settings.get("type") == UNPROCESSED:
            settings["type"] = click.UNPROCESSED
        elif isinstance(settings.get("type"), tuple):
            settings["type"] = click.Choice(settings["type"])
        elif isinstance(settings.get("type"), AtLeast):
            settings["type"] = click.IntRange(settings["type"].least)
        (click.option if self.is_option else click.argument)(*self.names, **settings)(function)


def option(*names: str, **settings: Any) -> Word:
    """An option; everything as ``click.option`` takes it; ``type`` may be a tuple of words to choose from."""
    return Word(names, settings, True)


def argument(name: str, **settings: Any) -> Word:
    """A positional word; everything as ``click.argument`` takes it."""
    return Word((name,), settings, False)


def noted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Hand click what was declared at ``function``."""
    for word in reversed(getattr(function, "declared", ())):
        word.for_click(function)
    return function


@dataclass
class Command:
    """A command that click may read, or :meth:`read`; ``call`` runs it and may return an exit code."""

    name: str
    call: Callable[..., Any]
    epilog: str | None = None

    def __post_init__(self) -> None:
        # click would know the option and the plain reader would not: the same line would mean two things.
        if hasattr(self.call, "__click_params__"):
            raise TypeError(
                f"'{self.name}': declare with options.option and options.argument, not with click"
            )

    @property
    def words(self) -> tuple[Word, ...]:
        """Its options and positional words as they stand above it."""
        return getattr(self.call, "declared", ())

    def for_click(self) -> click.Command:
        """The same command for click."""

        made = click.command(
            self.name, context_settings=CONTEXT, epilog=self.epilog, options_metavar="[<options>]"
        )
        return made(noted(self.call))

    def read(self, typed: list[str]) -> dict[str, Any] | None:
        """The parameters of ``call``; None for a line that is left to click."""
        if not all(word.is_simple for word in self.words):
            return None
        options = {name: word for word in self.words for name in word.typed}
        found = {word.target: word.start() for word in self.words}
        rest: list[str] = []
        left = iter(typed)
        for one in left:
            if one == "--":
                rest += left
            # A lone dash is a word: standard input, to commands that take a file.
            elif one[:1] != "-" or one == "-":
                rest.append(one)
            elif not _take(options, found, one, left):
                return None
        return found if _place([word for word in self.words if not word.is_option], found, rest) else None


def _take(options: dict[str, Word], found: dict[str, Any], one: str, left: Any) -> bool:
    """Read one option, with its value; False for what is not known for certain."""
    # `-mtext` and flags written together are left to click, which knows which letters take a value.
    name, equals, value = one.partition("=") if one[:2] == "--" else (one, "", "")
    word = options.get(name)
    if word is None:
        return False
    if word.is_flag:
        found[word.target] = True
        # `--flag=value` is wrong, and click says how.
        return not equals
    given = value if equals else next(left, None)
    kind = word.settings.get("type")
    if isinstance(kind, AtLeast) and given is not None:
        given = kind.read(given)
    if given is None:
        return False
    found[word.target] = (*found[word.target], given) if word.is_many else given
    return True


def _place(places: list[Word], found: dict[str, Any], rest: list[str]) -> bool:
    """Give the positional words theirs; False where they do not come out even."""
    for word in places:
        if word.is_many:
            if word is not places[-1] or (word.settings.get("required") and not rest):
                return False
            found[word.target], rest = tuple(rest), []
        elif rest:
            found[word.target], rest = rest[0], rest[1:]
        elif word.settings.get("required", True):
            return False
    return not rest


@dataclass
class Group:
    """Commands behind one name, as ``session list``."""

    name: str
    call: Callable[..., Any]
    commands: dict[str, Command] = field(default_factory=dict)

    def command(self, name: str) -> Callable[[Callable[..., Any]], Command]:
        """Declare one of them."""

        def add(function: Callable[..., Any]) -> Command:
            self.commands[name] = Command(name, function)
            return self.commands[name]

        return add

    def for_click(self) -> click.Command:
        """The same group for click."""

        made = click.group(
            self.name, context_settings=CONTEXT, options_metavar="", subcommand_metavar="<command> [<args>]"
        )(self.call)
        for one in self.commands.values():
            made.add_command(one.for_click())
        return made


def command(name: str, epilog: str | None = None) -> Callable[[Callable[..., Any]], Command]:
    """A subcommand: long help from its docstring, ``-h`` for short usage."""
    return lambda function: Command(name, function, epilog)


def group(name: str) -> Callable[[Callable[..., Any]], Group]:
    """A command that only has subcommands."""
    return lambda function: Group(name, function)


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """The end of a sentence about a word that is none of ``known``: those that it resembles."""

    # 0.75 takes a letter that is missing or two that changed places (`comit`, `stauts`); two words at most,
    # or it is a list and no help.
    close = difflib.get_close_matches(typed, list(known), n=2, cutoff=0.75)
    return f"; did you mean {' or '.join(repr(one) for one in close)}?" if close else ""

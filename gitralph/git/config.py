"""git's configuration as git resolves it: files, includes, ``-c``, environment, worktree."""

from dataclasses import dataclass, field

from gitralph.base import nul
from gitralph.base.errors import Fatal
from gitralph.git.run import Git

# The words of git_parse_maybe_bool (git's parse.c).
_TRUE = frozenset(["true", "yes", "on", "1"])
_FALSE = frozenset(["false", "no", "off", "0", ""])


@dataclass(frozen=True)
class Config:
    """The values of each key, of which the last counts; section and variable names are in lower case."""

    values: dict[str, str | None] = field(default_factory=dict)
    every: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def load(cls, git: Git) -> "Config":
        """Read everything in one process."""
        values: dict[str, str | None] = {}
        every: dict[str, list[str]] = {}
        for row in nul.texts(git.run("config", "--list", "-z")):
            # With -z a key without "=" comes without a newline and means true (git-config(1)). Names of
            # subsections may hold dots and equal signs, but never a newline.
            key, newline, value = row.partition("\n")
            values[key] = value if newline else None
            every.setdefault(key, []).append(value)
        return cls(values, every)

    def get(self, key: str) -> str | None:
        """The value of a key, which must be in lower case; a key without a value counts as ``true``."""
        if key not in self.values:
            return None
        value = self.values[key]
        return "true" if value is None else value

    def all(self, key: str) -> list[str]:
        """Every value of a key that may be given several times; empty values do not count."""
        return [value for value in self.every.get(key, []) if value]

    def boolean(self, key: str, default: bool = False) -> bool:
        """A git boolean. Raises Fatal for anything else."""
        value = self.get(key)
        if value is None:
            return default
        if value.lower() in _TRUE:
            return True
        if value.lower() in _FALSE:
            return False
        raise Fatal(f"bad boolean value '{value}' for '{key}'")

    def choice(self, key: str, default: str, *allowed: str) -> str:
        """One of a few words. Raises Fatal for any other word."""
        value = self.get(key) or default
        good = dict.fromkeys((default, *allowed))
        if value not in good:
            raise Fatal(f"bad value '{value}' for '{key}': use {', '.join(good)}")
        return value

    def names(self, section: str, variable: str) -> list[str]:
        """The subsections of ``section`` that set ``variable``."""
        head, tail = section + ".", "." + variable
        return [
            key[len(head) : -len(tail)]
            for key in self.values
            if key.startswith(head) and key.endswith(tail) and len(key) > len(head) + len(tail)
        ]

    def without_programs(self) -> list[str]:
        """``-c`` options with which git starts no program that this configuration names."""
        options = ["-c", "core.fsmonitor=false"]
        # An empty driver is none. required=false is needed too, or git would fail for the missing one
        # (gitattributes(5)).
        for variable in ("clean", "smudge", "process"):
            for name in self.names("filter", variable):
                options += [
                    "-c",
                    f"filter.{name}.{variable}=",
                    "-c",
                    f"filter.{name}.required=false",
                ]
        return options

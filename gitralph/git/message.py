"""The commit message: tidied and ended with trailers, by git's own tools."""

import os
from itertools import pairwise
from typing import NamedTuple

from gitralph.base.errors import UsageError
from gitralph.git.run import Git

MODES = ("default", "strip", "whitespace", "verbatim", "scissors")
SCISSORS = b"------------------------ >8 ------------------------"
_CUT = [SCISSORS, b"Do not modify or remove the line above.", b"All below it is dropped."]


def join(parts: list[bytes]) -> bytes:
    """Several ``-m`` as git joins them, a blank line between."""
    return b"\n\n".join(part.rstrip(b"\n") for part in parts) + b"\n"


class Cleanup(NamedTuple):
    """``commit.cleanup`` as git reads it; ``comment`` begins a comment line, None is chosen by the text."""

    mode: str
    comment: bytes | None = b"#"

    @classmethod
    def of(cls, mode: str, edited: bool, comment: str | None) -> "Cleanup":
        """The mode that applies: an editor's text loses its comments, a text of ``-m`` does not."""
        if mode == "default":
            mode = "strip" if edited else "whitespace"
        elif mode == "scissors" and not edited:
            mode = "whitespace"
        char = os.fsencode(comment or "#")
        return cls(mode, None if char == b"auto" else char)

    def with_character(self, text: bytes) -> "Cleanup":
        """The same with a comment character; for ``core.commentChar=auto`` one that starts no line here."""
        if self.comment is not None:
            return self
        begun = {line[:1].decode("latin-1") for line in text.split(b"\n")}
        char = next((char for char in "#;@!$%^&|:" if char not in begun), "#")
        return Cleanup(self.mode, char.encode())

    def tidy(self, git: Git, text: bytes) -> bytes:
        """The message as git would commit it."""
        comment = self.comment or b"#"
        if self.mode == "verbatim":
            return text
        if self.mode == "strip":
            char = os.fsdecode(comment)
            return git.run("-c", f"core.commentChar={char}", "stripspace", "-s", stdin=text)
        return spaced(git, self.parts(text)[0] if self.mode == "scissors" else text)

    def parts(self, text: bytes) -> tuple[bytes, bytes]:
        """What was typed, and the rest from the scissors on, which git cuts off."""
        line = b"\n" + (self.comment or b"#") + b" " + SCISSORS + b"\n"
        body, cut, rest = (b"\n" + text).partition(line)
        return body[1:], cut + rest

    def explain(self, listing: list[bytes]) -> bytes:
        """What the editor shows below the message; nothing where that would stay in the message."""
        comment = self.comment or b"#"
        if self.mode == "strip":
            rows = [b"Lines starting with '%s' are dropped; an empty message aborts." % comment, b""]
        elif self.mode == "scissors":
            rows = [*_CUT, b""]
        else:
            return b""
        rows += [b"Changes to be committed:", *listing]
        return b"\n" + self._commented(rows)

    def with_patch(self, text: bytes, patch: bytes) -> bytes:
        """What the editor shows with ``commit.verbose``: the patch below the scissors, as git has it."""
        return text + (b"" if self.mode == "scissors" else self._commented(_CUT)) + patch

    def _commented(self, rows: list[bytes]) -> bytes:
        # as git prints them: no space before a tab or at the end of a line
        comment = self.comment or b"#"
        return b"".join(comment + (b" " + row if row[:1].strip() else row) + b"\n" for row in rows)


def spaced(git: Git, text: bytes) -> bytes:
    """The text with blank lines and line ends tidied, and comments kept."""
    return text if _is_clean(text) else git.run("stripspace", stdin=text)


def _is_clean(message: bytes) -> bool:
    """True for a text that ``git stripspace`` would not change: then a commit need not start it."""
    lines = message.split(b"\n")
    return (
        bool(lines[0])
        and lines[-1] == b""
        and all(line == line.rstrip() for line in lines)
        and not any(a == b"" == b for a, b in pairwise(lines))
    )


def _is_title(lines: list[bytes]) -> bool:
    """True for one paragraph: git takes it for the title, never for trailers."""
    text = b"\n".join(lines).strip(b"\n")
    return bool(text) and b"\n\n" not in text


def _no_comment(lines: list[bytes]) -> str:
    """A character with which no line starts, since git puts trailers above lines of comment."""
    # git 2.39 puts trailers above trailing lines that it takes for comments.
    begun = {line[:1] for line in lines}
    return next((char for char in ";!@%^&|~$+=" if char.encode() not in begun), ";")


def add_trailers(git: Git, message: bytes, trailers: list[bytes], last: list[bytes]) -> bytes:
    """``message`` ended with ``trailers`` and then ``last``, each at most once.

    Raises UsageError for a trailer that git does not accept.
    """
    kept = [line for line in message.split(b"\n") if line not in last]
    if not trailers and _is_title(kept) and all(line[-1:].strip() for line in last):
        return b"\n".join(kept).rstrip(b"\n") + b"\n\n" + b"\n".join(last) + b"\n"
    options = [b"--trailer=" + text for text in (*trailers, *last)]
    done = git.try_run(
        "-c",
        "trailer.separators=:",
        "-c",
        f"core.commentChar={_no_comment(kept)}",
        "interpret-trailers",
        "--if-exists=addIfDifferent",
        "--no-divider",
        *options,
        stdin=b"\n".join(kept).rstrip(b"\n") + b"\n",
    )
    if done.returncode:
        raise UsageError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


def subject(message: bytes) -> str:
    """The first line, for people and the reflog."""
    return message.strip().split(b"\n", 1)[0].decode("utf-8", "replace")

"""The commit message: cleaned up and ended with trailers, by git's own tools."""

from itertools import pairwise

from gitralph.errors import UsageError
from gitralph.plumbing.git import Git


def join(parts: list[bytes]) -> bytes:
    """Several ``-m`` as git joins them, a blank line between."""
    return b"\n\n".join(part.rstrip(b"\n") for part in parts) + b"\n"


def clean(git: Git, message: bytes, comments: bool) -> bytes:
    """Blank lines and line ends tidied; ``comments`` also drops comment lines (after an editor)."""
    if not comments and _is_clean(message):
        return message
    return git.run("stripspace", *(["-s"] if comments else []), stdin=message)


def _is_clean(message: bytes) -> bool:
    """True for what ``git stripspace`` would leave as it is: a commit need not start it then."""
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
    """A character that starts no line: git would put trailers above lines that it takes for comments."""
    begun = {line[:1] for line in lines}
    return next((char for char in ";!@%^&|~$+=" if char.encode() not in begun), ";")


def add_trailers(git: Git, message: bytes, trailers: list[bytes], last: list[bytes]) -> bytes:
    """``message`` ended with ``trailers`` and then ``last``, each at most once.

    Raises UsageError when git does not take one.
    """
    kept = [line for line in message.split(b"\n") if line not in last]
    if not trailers and _is_title(kept) and all(line[-1:].strip() for line in last):
        return b"\n".join(kept).strip(b"\n") + b"\n\n" + b"\n".join(last) + b"\n"
    options = [b"--trailer=" + text for text in (*trailers, *last)]
    done = git.try_run(
        "-c", "trailer.separators=:", "-c", f"core.commentChar={_no_comment(kept)}",
        "interpret-trailers", "--if-exists=addIfDifferent",
        "--no-divider", *options, stdin=b"\n".join(kept).rstrip(b"\n") + b"\n",
    )  # fmt: skip
    if done.returncode:
        raise UsageError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


def subject(message: bytes) -> str:
    """The first line, for people and the reflog."""
    return message.strip().split(b"\n", 1)[0].decode("utf-8", "replace")

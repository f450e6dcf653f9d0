"""Several replayed commits as one: the last tree, a message made of the subjects, the trailers of all."""

from __future__ import annotations

from gitralph.base import nul
from gitralph.git import commits, message
from gitralph.git.context import Context
from gitralph.git.history import tree_of

_FORM = "%x01%an <%ae>%x00%s%x00%(trailers:only,unfold)%x00"


def as_one(ctx: Context, base: str, pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The commits with the one commit that stands for all of them; it is the last one's author's."""
    if len(pairs) < 2:
        return pairs
    asked = "".join(f"{old}\n" for old, _ in pairs).encode()
    words = ("log", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--no-color", f"--format={_FORM}")
    said = ctx.git.run("-c", "trailer.separators=:", *words, stdin=asked)
    rows = [nul.rows(block)[:3] for block in said.split(b"\x01")[1:]]
    authors, subjects = (list(dict.fromkeys(row[at] for row in rows)) for at in (0, 1))
    trailers = dict.fromkeys(line for row in rows for line in row[2].splitlines() if line.strip())
    others = [b"Co-authored-by: " + one for one in authors if one != rows[-1][0]]
    trailers = {**dict.fromkeys(one for one in others if one not in trailers), **trailers}
    body = b"".join(b"* " + one + b"\n" for one in subjects) if len(subjects) > 1 else b""
    text = b"\n\n".join(part.rstrip(b"\n") for part in (subjects[0], body, b"\n".join(trailers)) if part)
    last = pairs[-1][1]
    tree = tree_of(ctx.repo, last)
    one = commits.replayed(
        ctx.git, ctx.repo.objects, ctx.config, last, tree, base, None, message.join([text])
    )
    return tuple((old, one) for old, _ in pairs)

"""What other tools' notes say of a commit's lines: git-ai's, in ``refs/notes/ai``.

Format: authorship 3.0.0, specs/git_ai_standard_v3.0.0.md of git-ai. These are hostile bytes, like everything
from a remote.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitralph.base import jsonline
from gitralph.base.quote import c_unquote
from gitralph.git.context import Context
from gitralph.hook import model
from gitralph.hook.event import object_of, text_of

REF = "refs/notes/ai"
# In bytes. A note on every line of a large commit has some hundred KB, and a stranger wrote the blob.
_LIMIT = 4 << 20


class Said(NamedTuple):
    """What a note says of a line: the agent, its model and the agent's id of the session, where given."""

    agent: str | None
    model: str | None
    session: str | None = None


Rows = dict[bytes, list[tuple[int, int, Said]]]
"""For each path first line, last line and what is said of them."""


def read(ctx: Context, commits: Iterable[str]) -> dict[str, Rows]:
    """What the notes say of those of some commits that have one."""
    return {commit: parse(text) for commit, text in texts(ctx, commits).items()}


def texts(ctx: Context, commits: Iterable[str]) -> dict[str, bytes]:
    """The notes of those of some commits that have one."""
    wanted = set(commits)
    if not wanted:
        return {}
    said = ctx.git.try_run("notes", f"--ref={REF}", "list")
    pairs = [row.split() for row in said.stdout.decode("ascii", "replace").splitlines()]
    found = {}
    for pair in pairs if said.returncode == 0 else []:
        if len(pair) != 2 or pair[1] not in wanted:
            continue
        try:
            kind, data = ctx.repo.objects.raw(pair[0].encode())
        except KeyError:
            continue
        if kind == b"blob" and len(data) <= _LIMIT:
            found[pair[1]] = data
    return found


def _parts(note: bytes) -> tuple[bytes, object]:
    """The lines of a note and the facts below them; none of either where these are no JSON."""
    top, divider, rest = note.partition(b"\n---\n")
    try:
        return top, jsonline.loads(rest.decode("utf-8", "replace")) if divider else None
    except ValueError:
        return b"", None


def facts(note: bytes) -> tuple[tuple[str, ...], str | None]:
    """The ids of the sessions that a note names, and the commit that it says it is for."""
    _, told = _parts(note)
    rows = object_of(told, "sessions")
    ids = [text_of(object_of(object_of(rows, key), "agent_id"), "id") for key in rows]
    return tuple(one or "" for one in ids), text_of(told, "base_commit_sha")


def parse(note: bytes) -> Rows:
    """The lines of a note; what does not follow the standard is passed over."""
    top, facts = _parts(note)
    rows: Rows = {}
    path = b""
    for line in top.split(b"\n"):
        if not line.startswith(b"  "):
            path = _path(line)
            continue
        key, _, spans = line[2:].decode("utf-8", "replace").partition(" ")
        who = _who(facts, key)
        if path and who is not None:
            rows.setdefault(path, []).extend((*span, who) for span in _spans(spans))
    return rows


def _path(line: bytes) -> bytes:
    # git-ai puts quotes around a path and escapes nothing, so git's unquoting would change the path.
    if line[:1] == b'"' and line[-1:] == b'"' and len(line) > 1:
        return line[1:-1]
    try:
        return c_unquote(line)
    except ValueError:
        return line


def _who(facts: object, key: str) -> Said | None:
    """The agent of a key; None for a person's key (``h_``) and for one that the note does not explain."""
    sessions, prompts = object_of(facts, "sessions"), object_of(facts, "prompts")
    row = object_of(sessions, key.partition("::")[0]) or object_of(prompts, key)
    agent = object_of(row, "agent_id")
    tool = model.accepted(text_of(agent, "tool"))
    if tool is None:
        return None
    named = model.accepted(text_of(agent, "model"))
    # The standard has a model in each record. Our notes write this word where nobody knows it.
    return Said(tool, None if named == "unknown" else named, text_of(agent, "id"))


def _spans(text: str) -> list[tuple[int, int]]:
    out = []
    for one in text.split(","):
        first, _, last = one.partition("-")
        if first.isdigit() and (last or first).isdigit() and len(first) < 10 and len(last) < 10:
            out.append((int(first), int(last or first)))
    return out


def at(rows: Rows, path: bytes, line: int) -> Said | None:
    """What a note says of a line of its commit; the last statement counts, as in git-ai."""
    found = [said for first, last, said in rows.get(path, []) if first <= line <= last]
    return found[-1] if found else None

"""A record as a note of git-ai: authorship 3.0.0, in ``refs/notes/ai``.

Format: https://github.com/git-ai-project/git-ai, specs/git_ai_standard_v3.0.0.md. For example::

    src/a.c
      s_0123456789abcd::t_0123456789abcd 1-3,7
    ---
    {"schema_version": "authorship/3.0.0", ...}
"""

import json
from hashlib import sha256
from itertools import starmap
from typing import Any

from gitralph.ask.notes import REF
from gitralph.ask.trace.agent_trace import OURS, Document
from gitralph.base.ids import hashed
from gitralph.git.context import Context

SCHEMA = "authorship/3.0.0"
# Agents that the standard calls by another name.
_TOOLS = {"claude-code": "claude"}
_UNKNOWN = "unknown"


def note(record: Document) -> str | None:
    """The note of a record's commit; None where no line of it is a session's.

    Lines that nobody recorded are left out, and so are paths that the format cannot hold.
    """
    told: Any = record
    commit, ours = told["vcs"]["revision"], told["metadata"][OURS]
    rows: list[str] = []
    sessions: dict[str, dict[str, object]] = {}
    for file in told["files"]:
        entries = []
        for one in file["conversations"]:
            if "url" not in one or not _fits(file["path"]):
                continue
            key = _key(one, ours, sessions)
            # Made from the commit, so that its note is always the same and two clones can merge theirs.
            trace = "t_" + sha256(f"{key}:{commit}".encode()).hexdigest()[:14]
            spans = starmap(_span, ((r["start_line"], r["end_line"]) for r in one["ranges"]))
            entries.append(f"  {key}::{trace} {','.join(spans)}")
        if entries:
            rows += [_path(file["path"]), *entries]
    if not rows:
        return None
    facts = {"schema_version": SCHEMA, "base_commit_sha": commit, "prompts": {}, "sessions": sessions}
    return "\n".join(rows) + "\n---\n" + json.dumps(facts, indent=2) + "\n"


def _key(one: Any, ours: Any, sessions: dict[str, dict[str, object]]) -> str:
    """The key of a conversation. A session that changed its model has one for each model."""
    session = one["url"].removeprefix("urn:ralph:")
    name = one["contributor"].get("model_id", _UNKNOWN).rpartition("/")[2]
    agent = (ours["agent"] if session == ours["session"] else ours.get("agents", {}).get(session)) or _UNKNOWN
    known = sessions.get(session)
    # The standard has one model for a key.
    key = session if known is None or _model(known) == name else hashed(f"{session}:{name}")
    sessions.setdefault(key, {"agent_id": {"tool": _TOOLS.get(agent, agent), "id": session, "model": name}})
    return str(key)


def _model(row: Any) -> object:
    return row["agent_id"]["model"]


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _fits(path: str) -> bool:
    """True for a path that git-ai reads back: it knows no escapes, and trims the end of a line."""
    return not (
        path == "---" or path.startswith("  ") or path != path.rstrip() or any(c in path for c in '"\n\r')
    )


def _path(path: str) -> str:
    return f'"{path}"' if " " in path or "\t" in path else path


def write(ctx: Context, commit: str, text: str, replace: bool = False) -> bool:
    """Add a note; without ``replace`` False for a commit that has one already. Raises GitError."""
    if not replace and ctx.git.try_run("notes", f"--ref={REF}", "list", commit).returncode == 0:
        return False
    # Given as a blob: `git notes add -F` would tidy the text.
    blob = ctx.git.run("hash-object", "-w", "--stdin", stdin=text.encode()).decode().strip()
    ctx.git.run("notes", f"--ref={REF}", "add", *(["-f"] if replace else []), "-C", blob, commit)
    return True

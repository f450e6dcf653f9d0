"""Reads a note as git-ai does: its own rules for the lines before ``---``, then JSON."""

import json
import re
from typing import Any

KEY = re.compile(r"s_[0-9a-f]{14}::t_[0-9a-f]{14}")
SPANS = re.compile(r"[1-9]\d*(-[1-9]\d*)?(,[1-9]\d*(-[1-9]\d*)?)*")

Rows = dict[str, dict[int, str]]


def parse(note: str) -> tuple[Rows, Any]:
    """Path to line to session key, and the metadata."""
    lines = note.splitlines()
    at = lines.index("---")
    facts = json.loads("\n".join(lines[at + 1 :]))
    assert facts["schema_version"] == "authorship/3.0.0"
    assert facts["prompts"] == {}
    rows: Rows = {}
    current = ""
    for line in lines[:at]:
        assert line == line.rstrip()
        if not line.startswith("  "):
            current = line[1:-1] if line.startswith('"') and line.endswith('"') else line
            continue
        key, spans = line[2:].split(" ")
        assert KEY.fullmatch(key)
        assert SPANS.fullmatch(spans)
        session = key.partition("::")[0]
        assert {"tool", "id", "model"} <= set(facts["sessions"][session]["agent_id"])
        for span in spans.split(","):
            first, _, last = span.partition("-")
            for number in range(int(first), int(last or first) + 1):
                rows.setdefault(current, {})[number] = session
    return rows, facts

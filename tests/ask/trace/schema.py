"""Agent Trace 0.1.0 as a check, written from section 6.1 of its specification: each breach as a sentence."""

import re
from datetime import datetime
from typing import Any
from uuid import UUID

KINDS = {"human", "ai", "mixed", "unknown"}


def breaches(record: object) -> list[str]:
    """What a record does that the schema forbids; empty for a valid one."""
    out: list[str] = []
    if not isinstance(record, dict):
        return ["a record is an object"]
    out += [f"{key} is required" for key in ("version", "id", "timestamp", "files") if key not in record]
    if not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", str(record.get("version"))):
        out.append("version is no version")
    try:
        UUID(str(record.get("id")))
        stamp = datetime.fromisoformat(str(record.get("timestamp")))
        if stamp.tzinfo is None:
            out.append("timestamp has no offset")
    except ValueError as error:
        out.append(str(error))
    vcs = record.get("vcs")
    if vcs is not None and (vcs.get("type") not in ("git", "jj", "hg", "svn") or not _text(vcs, "revision")):
        out.append("vcs")
    tool = record.get("tool", {})
    if any(not isinstance(tool.get(key, ""), str) for key in ("name", "version")):
        out.append("tool")
    if not isinstance(record.get("metadata", {}), dict):
        out.append("metadata is no object")
    for file in record.get("files", []):
        if not _text(file, "path") or not isinstance(file.get("conversations"), list):
            out.append("file")
        for one in file.get("conversations", []):
            out += _conversation(one)
    return out


def _text(value: Any, key: str) -> bool:
    return isinstance(value, dict) and isinstance(value.get(key), str)


def _contributor(value: Any) -> list[str]:
    if not isinstance(value, dict) or value.get("type") not in KINDS:
        return ["contributor"]
    name = value.get("model_id", "")
    return [] if isinstance(name, str) and len(name) <= 250 else ["model_id"]


def _conversation(value: Any) -> list[str]:
    out: list[str] = []
    if "url" in value and not re.match(r"[a-z][a-z0-9+.-]*:\S+$", str(value["url"])):
        out.append("url is no URI")
    if "contributor" in value:
        out += _contributor(value["contributor"])
    if not isinstance(value.get("ranges"), list):
        return [*out, "ranges"]
    for one in value["ranges"]:
        ends = [one.get("start_line"), one.get("end_line")]
        if any(type(end) is not int or end < 1 for end in ends) or ends[0] > ends[1]:
            out.append("range")
        if not isinstance(one.get("content_hash", ""), str):
            out.append("content_hash")
        out += _contributor(one["contributor"]) if "contributor" in one else []
    return out

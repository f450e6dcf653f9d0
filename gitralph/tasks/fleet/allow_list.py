"""The allow-list of what may be in a log. Everything else is dropped, on the way out and on the way in.

A log holds Agent Trace records (0.1.0), with our own fields in ``metadata["io.gitralph"]``. Nothing in them
comes from prompts, transcripts, shells, hosts or pending work. Each text is bounded and has to fit its
pattern.
"""

import re
from collections.abc import Iterable, Iterator

from gitralph.base import jsonline, treepath
from gitralph.base.quote import c_unquote

_MOST_LINE = 1 << 20
_MOST_RANGES = 20_000
_LONGEST_PATH = 4096
OURS = "io.gitralph"
_PATTERNS = {
    "version": re.compile(r"0\.1(\.[0-9]{1,3})?"),
    "id": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "timestamp": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z"),
    "oid": re.compile(r"[0-9a-f]{40}"),
    "url": re.compile(r"urn:ralph:s_[0-9a-f]{14}"),
    "session": re.compile(r"s_[0-9a-f]{14}"),
    "hash": re.compile(r"[a-z0-9]{1,12}:[0-9a-f]{8,64}"),
    "lines": re.compile(r"[0-9a-f]{0,800000}"),
    "kind": re.compile(r"ai|human|mixed|unknown"),
    "model": re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@+\-\[\]]{0,119}"),
    "agent": re.compile(r"[a-z0-9][a-z0-9._-]{0,39}"),
    "tool": re.compile(r"[A-Za-z][A-Za-z0-9 ._-]{0,39}"),
    "number": re.compile(r"[0-9]+(\.[0-9]+){0,3}([a-z0-9.+-]{0,20})"),
}

Dict = dict[str, object]


def _text(found: object, kind: str) -> str | None:
    return found if isinstance(found, str) and _PATTERNS[kind].fullmatch(found) else None


def _kept(pairs: Iterable[tuple[str, object]]) -> Dict:
    return {key: value for key, value in pairs if value is not None}


def _count(found: object) -> int | None:
    return found if type(found) is int and 0 < found < 1 << 31 else None


def _dicts(found: object) -> Iterator[Dict]:
    if isinstance(found, list):
        yield from (one for one in found[:_MOST_RANGES] if isinstance(one, dict))


def _contributor(found: object) -> Dict | None:
    if not isinstance(found, dict) or (kind := _text(found.get("type"), "kind")) is None:
        return None
    return _kept([("type", kind), ("model_id", _text(found.get("model_id"), "model"))])


def _range(found: Dict) -> Dict | None:
    first, last = _count(found.get("start_line")), _count(found.get("end_line"))
    if first is None or last is None or last < first:
        return None
    hashed = _text(found.get("content_hash"), "hash")
    return _kept([("start_line", first), ("end_line", last), ("content_hash", hashed)])


def _conversation(found: Dict) -> Dict | None:
    ranges = [row for one in _dicts(found.get("ranges")) if (row := _range(one))]
    if not ranges:
        return None
    return _kept(
        [
            ("url", _text(found.get("url"), "url")),
            ("contributor", _contributor(found.get("contributor"))),
            ("ranges", ranges),
        ]
    )


def _file(found: Dict) -> Dict | None:
    path = found.get("path")
    if not _is_path(path):
        return None
    talks = [row for one in _dicts(found.get("conversations")) if (row := _conversation(one))]
    return {"path": path, "conversations": talks} if talks else None


def _is_path(path: object) -> bool:
    """True for a path of a tree as a record has it: UTF-8, or quoted as git prints it."""
    if not isinstance(path, str) or len(path) > _LONGEST_PATH:
        return False
    try:
        return treepath.is_valid(c_unquote(path.encode("utf-8")))
    except ValueError:
        return False


def _own(found: object) -> Dict | None:
    """Our own fields: the session's hash, its agent, ``exact``, and for each path a hash of each line."""
    ours = found.get(OURS) if isinstance(found, dict) else None
    if not isinstance(ours, dict) or (session := _text(ours.get("session"), "session")) is None:
        return None
    exact, said = ours.get("exact"), ours.get("lines")
    pairs = list(said.items())[:_MOST_RANGES] if isinstance(said, dict) else []
    lines = {path: text for path, text in pairs if _is_path(path) and _text(text, "lines") is not None}
    return {
        OURS: _kept(
            [
                ("session", session),
                ("agent", _text(ours.get("agent"), "agent")),
                ("exact", exact if isinstance(exact, bool) else None),
                ("lines", lines or None),
            ]
        )
    }


def allowed(found: object) -> Dict | None:
    """The part of a record that may be shared; None where what is left is no record of a commit."""
    if not isinstance(found, dict):
        return None
    vcs = found.get("vcs")
    revision = _text(vcs.get("revision"), "oid") if isinstance(vcs, dict) else None
    head = [(key, _text(found.get(key), key)) for key in ("version", "id", "timestamp")]
    rows = [row for one in _dicts(found.get("files")) if (row := _file(one))]
    own = _own(found.get("metadata"))
    if revision is None or not (rows or own) or any(value is None for _, value in head):
        return None
    return _kept(
        [
            *head,
            ("vcs", {"type": "git", "revision": revision}),
            ("tool", _tool(found.get("tool"))),
            ("files", rows),
            ("metadata", own),
        ]
    )


def _tool(found: object) -> Dict | None:
    if not isinstance(found, dict) or (name := _text(found.get("name"), "tool")) is None:
        return None
    return _kept([("name", name), ("version", _text(found.get("version"), "number"))])


def _lean(kept: Dict) -> Dict:
    """The record without the hash of a range where each line of the range has a hash.

    Both kinds of hash are noise that nothing compresses: of 48 KB that 1,000 edits took, they were 9.
    """
    ours = kept.get("metadata")
    lines = ours[OURS].get("lines") if isinstance(ours, dict) else None
    for file in _dicts(kept["files"]):
        for talk in _dicts(file["conversations"]):
            if lines and file["path"] in lines and "url" in talk:
                talk["ranges"] = [
                    {key: value for key, value in one.items() if key != "content_hash"}
                    for one in _dicts(talk["ranges"])
                ]
    return kept


def line(found: object) -> bytes | None:
    """A record as a line of a log, None where nothing of it may be shared."""
    kept = allowed(found)
    data = jsonline.line(_lean(kept)) if kept is not None else b""
    return data if 0 < len(data) <= _MOST_LINE else None


def read(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The records of a log that anybody may have written: the commit, and the line as it is kept here."""
    for _, _, raw in jsonline.lines(data):
        if len(raw) > _MOST_LINE:
            continue
        try:
            kept = allowed(jsonline.object_in(raw))
        except ValueError:
            continue
        if kept is not None:
            vcs = kept["vcs"]
            assert isinstance(vcs, dict)
            yield str(vcs["revision"]), jsonline.line(kept)

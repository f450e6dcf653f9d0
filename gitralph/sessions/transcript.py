"""Which files an agent's own transcript names as written: a last resort, for paths only; pure.

Transcripts are other programs' private files. They are read with limits and never trusted for texts. A line
of an unexpected form is passed over.
"""

from collections.abc import Callable, Iterable, Iterator

from gitralph.hook.event import list_of, object_of, text_of

# No session edits more files; a transcript that names more was not written by one.
PATHS_LIMIT = 5000
# The input chooses the nesting, and we recurse. No transcript's tool call lies deeper than this.
_DEPTH = 6
# Tools that write the file which their input names.
_CLAUDE = frozenset(["Write", "Edit", "MultiEdit", "NotebookEdit"])
_GEMINI = frozenset(["write_file", "replace", "edit", "notebook_edit"])
_DONE = frozenset(["success", "completed", "ok"])

Line = dict[str, object]
Found = Iterator[tuple[str, str]]
"""A parser yields the call to which a path belongs, and the path; a later line about a call replaces it."""


def _resolved(line: Line, path: str) -> str:
    """A relative path, put below the folder that its line names."""
    cwd = text_of(line, "cwd")
    return f"{cwd}/{path}" if path[:1] != "/" and cwd else path


def _claude(line: Line, failed: set[str]) -> Found:
    for part in list_of(object_of(line, "message"), "content"):
        kind, call = text_of(part, "type"), text_of(part, "id", "tool_use_id") or ""
        if kind == "tool_result" and isinstance(part, dict) and part.get("is_error") is True:
            failed.add(call)
        elif kind == "tool_use" and text_of(part, "name") in _CLAUDE:
            path = text_of(object_of(part, "input"), "file_path", "notebook_path")
            if path:
                yield call, _resolved(line, path)


def _changes_in(value: object, depth: int) -> Found:
    """Codex's ``FileChange`` items, however deep the envelope."""
    if not isinstance(value, dict) or not depth:
        return
    if value.get("type") == "FileChange" and value.get("status") == "completed":
        for path, change in object_of(value, "changes").items():
            yield "", path
            to = text_of(change, "move_path")
            if to:
                yield "", to
        return
    for inner in value.values():
        yield from _changes_in(inner, depth - 1)


def _codex(line: Line, failed: set[str]) -> Found:
    yield from _changes_in(line, _DEPTH)


def _gemini(line: Line, failed: set[str]) -> Found:
    if text_of(line, "type") != "gemini":
        return
    for call in list_of(line, "toolCalls"):
        if text_of(call, "name") not in _GEMINI:
            continue
        key = text_of(call, "id") or ""
        shown = object_of(call, "resultDisplay")
        path = text_of(shown, "filePath") or text_of(object_of(call, "args"), "file_path")
        failed.discard(key)  # a later line about a call counts
        if text_of(call, "status") not in _DONE:
            failed.add(key)
        elif path:
            yield key, _resolved(line, path)


def _qwen(line: Line, failed: set[str]) -> Found:
    done = object_of(line, "toolCallResult")
    path = text_of(object_of(done, "resultDisplay"), "filePath")
    if text_of(line, "type") == "tool_result" and text_of(done, "status") in _DONE and path:
        yield "", _resolved(line, path)


def _copilot(line: Line, failed: set[str]) -> Found:
    if text_of(line, "type") == "tool.execution_complete":
        for edit in list_of(object_of(line, "data"), "fileEdits"):
            path = text_of(edit, "path")
            if path:
                yield "", path


_PARSERS: dict[str, Callable[[Line, set[str]], Found]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "qwen": _qwen,
    "copilot": _copilot,
}
AGENTS = tuple(_PARSERS)


def paths(agent: str, lines: Iterable[Line]) -> list[str]:
    """The files that a transcript says were written, in order, each once; as the agent names them."""
    parse = _PARSERS.get(agent)
    found: dict[str, str] = {}
    failed: set[str] = set()
    for line in lines if parse is not None else ():
        assert parse is not None
        for call, path in parse(line, failed):
            # No file has such a name (PATH_MAX of Linux), so no program of ours need be asked about it.
            if "\0" not in path and len(path) < 4096:
                found.setdefault(path, call)
        if len(found) >= PATHS_LIMIT:
            break
    return [path for path, call in found.items() if not call or call not in failed]

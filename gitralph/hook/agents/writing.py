"""What a tool call would write: which paths, by its adapter and its input, and which text; pure."""

from gitralph.hook.agents.launching import given_object
from gitralph.hook.edits import replace
from gitralph.hook.event import Change, Event, list_of, text_of
from gitralph.hook.reconcile import normal

# The names of the path, and of the patch, in the tool inputs of known agents.
_NAMES = ("file_path", "notebook_path", "path", "filePath")
_PATCHES = ("command", "patchText", "patch", "input")
_HEADERS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
# Tools of one agent about which another's hooks may ask: one script of contrib/hooks serves all agents.
_WRITERS = frozenset(
    [
        "Write",
        "Edit",
        "MultiEdit",
        "NotebookEdit",
        "write",
        "edit",
        "write_file",
        "replace",
        "notebook_edit",
        "create",
        "apply_patch",
        "StrReplace",
        "Create",
        "ApplyPatch",
        "multiedit",
    ]
)


def _named_in(given: object) -> list[str]:
    """Every path in a tool's input: its own, those of its edits, those in a patch."""
    if isinstance(given, str):
        return _in_patch(given)
    found = [value for key in _NAMES if (value := text_of(given, key)) is not None]
    for one in list_of(given, "edits"):
        found += [value for key in _NAMES if (value := text_of(one, key))]
    for key in _PATCHES:
        found += _in_patch(text_of(given, key) or "")
    return found


def _in_patch(text: str) -> list[str]:
    # Every header counts, wherever it stands: a path that is surely not written is denied all the same.
    return [
        row[len(head) :].rstrip("\r") for row in text.split("\n") for head in _HEADERS if row.startswith(head)
    ]


def paths(event: Event) -> list[str] | None:
    """The paths that a call asking permission would write, None for a tool that writes nothing."""
    if event.kind != "pre" and event.tool not in _WRITERS:
        return None
    found = [path for change in event.changes for path in (change.path, change.to) if path is not None]
    return list(dict.fromkeys(found + _named_in(given_object(event.given))))


def shell_command(event: Event) -> tuple[str | None, str | None]:
    """The text of a shell command that asks permission, and the folder that its input names."""
    given = given_object(event.given)
    return text_of(given, "command", "cmd"), text_of(given, "workdir", "directory", "dir_path")


# What known agents call a file's new text, and both sides of a replacement, in a tool's input.
_WHOLE = ("content", "contents", "file_text")
_OLD = ("old_string", "old_str", "oldString", "oldText")
_NEW = ("new_string", "new_str", "newString", "newText")
_EVERY = ("replace_all", "replaceAll")


def intended(event: Event, change: Change, before: str) -> str | None:
    """The text that a call asking permission would make of ``before``; None where the input does not tell.

    Before a tool runs there is only its input, and some adapters read only the answer.
    """
    if isinstance(change.after, bytes):
        return normal(change.after)
    found = change.compute(before) if change.compute is not None else []
    if found:
        return str(found[0])
    given = given_object(event.given)
    whole = text_of(given, *_WHOLE)
    if whole is not None:
        return whole.replace("\r\n", "\n")
    for one in list_of(given, "edits") or [given]:
        old, new = text_of(one, *_OLD), text_of(one, *_NEW)
        every = isinstance(one, dict) and any(one.get(key) is True for key in _EVERY)
        after = replace(before, old, new, every) if old is not None and new is not None else None
        if after is None:
            return None
        before = after
    return before

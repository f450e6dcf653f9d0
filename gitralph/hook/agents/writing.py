"""Which paths a tool call would write: what its adapter found, and every other path its input names; pure."""

from gitralph.hook.agents.launching import given_object
from gitralph.hook.event import Event, list_of, text_of

# What known agents call the path, and the patch, in a tool's input.
_NAMES = ("file_path", "notebook_path", "path", "filePath")
_PATCHES = ("command", "patchText", "patch", "input")
_HEADERS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
# Tools of one agent that another's hooks may be asked about: a script of contrib/hooks serves them all.
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
    # every header counts, wherever it stands: what is not written for certain is denied for certain
    return [
        row[len(head) :].rstrip("\r") for row in text.split("\n") for head in _HEADERS if row.startswith(head)
    ]


def paths(event: Event) -> list[str] | None:
    """What a call that is asked leave for would write, None for a tool that writes nothing."""
    if event.kind != "pre" and event.tool not in _WRITERS:
        return None
    found = [path for change in event.changes for path in (change.path, change.to) if path is not None]
    return list(dict.fromkeys(found + _named_in(given_object(event.given))))

"""What the model says to each agent: write, edit, delete and move where its tools can, and a shell; data."""

from dataclasses import dataclass, field

from tests.real_agents.clients import Turn, call

NEW, EDITED, MOVED = b"alpha\nbeta\n", b"one\ndeux\nthree\n", b"stay\nthere\n"
PLAIN = {"w/new.txt": ("A", NEW), "w/edit.txt": ("M", EDITED)}
WHOLE: dict[str, tuple[str, bytes | None]] = {
    **PLAIN,
    "w/gone.txt": ("D", None),
    "w/move.txt": ("D", None),
    "w/there.txt": ("A", MOVED),
}
SHELL = "echo x > w/shell.txt"

_TWO = (
    "*** Begin Patch\n*** Add File: w/new.txt\n+alpha\n+beta\n"
    "*** Update File: w/edit.txt\n@@\n one\n-two\n+deux\n three\n*** End Patch\n"
)
_MOVE = (
    "*** Begin Patch\n*** Update File: w/move.txt\n*** Move to: w/there.txt\n@@\n stay\n-here\n+there\n"
    "*** Delete File: w/gone.txt\n*** End Patch\n"
)


@dataclass(frozen=True)
class Work:
    """One agent's script, and the changes that its commit must hold: letter and text of each path."""

    agent: str
    turns: list[Turn]
    changes: dict[str, tuple[str, bytes | None]] = field(default_factory=lambda: dict(PLAIN))
    extra: tuple[str, ...] = ()


def raw(name: str, text: str) -> Turn:
    """A turn with a call whose whole input is a text."""
    return {"calls": [{"name": name, "raw": text}]}


WORKS = {
    "claude-code": Work(
        "claude-code",
        [
            call("Write", file_path="${REPO}/w/new.txt", content="alpha\nbeta\n"),
            call("Read", file_path="${REPO}/w/edit.txt"),
            call("Edit", file_path="${REPO}/w/edit.txt", old_string="two", new_string="deux"),
            call("Bash", command=SHELL),
        ],
    ),
    "pi": Work(
        "pi",
        [
            call("write", path="w/new.txt", content="alpha\nbeta\n"),
            call("edit", path="w/edit.txt", edits=[{"oldText": "two", "newText": "deux"}]),
            call("bash", command=SHELL),
        ],
    ),
    "codex": Work(
        "codex",
        [
            raw("apply_patch", _TWO),
            raw("apply_patch", _MOVE),
            call("exec_command", cmd=SHELL),
        ],
        WHOLE,
    ),
    "gemini": Work(
        "gemini",
        [
            call("write_file", file_path="w/new.txt", content="alpha\nbeta\n"),
            call("replace", file_path="w/edit.txt", instruction="x", old_string="two", new_string="deux"),
            call("run_shell_command", command=SHELL, description="run"),
        ],
    ),
    "qwen": Work(
        "qwen",
        [
            call("write_file", file_path="${REPO}/w/new.txt", content="alpha\nbeta\n"),
            call("read_file", file_path="${REPO}/w/edit.txt"),
            call("edit", file_path="${REPO}/w/edit.txt", old_string="two", new_string="deux"),
            call("run_shell_command", command=SHELL, description="run", is_background=False),
        ],
    ),
    "copilot": Work(
        "copilot",
        [
            call("create", path="${REPO}/w/new.txt", file_text="alpha\nbeta\n"),
            call("edit", path="${REPO}/w/edit.txt", old_str="two", new_str="deux"),
            call("bash", command=SHELL, description="run", mode="sync"),
        ],
    ),
    "copilot-patch": Work(
        "copilot",
        [
            raw("apply_patch", _TWO),
            raw("apply_patch", _MOVE),
            call("bash", command=SHELL, description="run", mode="sync"),
        ],
        WHOLE,
        ("--model", "gpt-5.4"),
    ),
    "opencode": Work(
        "opencode",
        [
            call("write", filePath="${REPO}/w/new.txt", content="alpha\nbeta\n"),
            call("read", filePath="${REPO}/w/edit.txt"),
            call("edit", filePath="${REPO}/w/edit.txt", oldString="two", newString="deux"),
            call("bash", command=SHELL, description="run"),
        ],
    ),
    "opencode-patch": Work(
        "opencode",
        [
            call("apply_patch", patchText=_TWO),
            call("apply_patch", patchText=_MOVE),
            call("bash", command=SHELL, description="run"),
        ],
        WHOLE,
        ("--model", "gpt-5-stub"),
    ),
}


def change_lines(agent: str, numbers: range, word: str) -> list[Turn]:
    """Turns that change one line of ``shared.txt`` each: ``line 7`` to ``<word> 7``."""
    path = "${REPO}/shared.txt"
    reader = {"claude-code": "Read", "qwen": "read_file", "opencode": "read"}.get(agent)
    key = "filePath" if agent == "opencode" else "file_path"
    turns = [call(reader, **{key: path})] if reader else []
    for number in numbers:
        if reader and turns[-1]["calls"][0]["name"] != reader:  # the other one wrote since it was read
            turns.append(call(reader, **{key: path}))
        turns.append(_change(agent, path, number, word))
    return turns


def _change(agent: str, path: str, number: int, word: str) -> Turn:
    old, new = f"line {number}\nline {number + 1}\n", f"{word} {number}\nline {number + 1}\n"
    if agent == "codex":
        patch = f"-line {number}\n+{word} {number}\n line {number + 1}\n"
        return raw("apply_patch", f"*** Begin Patch\n*** Update File: shared.txt\n@@\n{patch}*** End Patch\n")
    if agent == "pi":
        return call("edit", path=path, edits=[{"oldText": old, "newText": new}])
    if agent == "gemini":
        return call("replace", file_path=path, instruction="x", old_string=old, new_string=new)
    if agent == "copilot":
        return call("edit", path=path, old_str=old, new_str=new)
    if agent == "opencode":
        return call("edit", filePath=path, oldString=old, newString=new)
    name = "Edit" if agent == "claude-code" else "edit"
    return call(name, file_path=path, old_string=old, new_string=new)

"""Plans: the check boxes of a Markdown file, which of them are open, and ticking one.

A task is known by its text and, among equal texts, by its count, never by its position. Everything works on
bytes. So a tick changes exactly one byte, whatever the file's encoding and line ends.
"""

import os
import re
from typing import NamedTuple

from gitralph.base import files, gitdir, locks
from gitralph.base.errors import Fatal, UsageError
from gitralph.base.ids import UNRECORDED, digest
from gitralph.base.layout import Layout, for_place
from gitralph.base.quote import c_unquote, line_form, shown
from gitralph.git.context import Context
from gitralph.hook import locate, sessionfile, shellforms, windows
from gitralph.hook.journal import GAP, PAYLOAD, Record, append, hunk_between, text_id

# A list item of CommonMark (bullet, or up to nine digits) with GitHub's task mark. A box without words names
# no task.
_BOX = re.compile(rb"^([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[)([ xX])\][ \t]+(.*?\S)[ \t\r]*$")
# A box inside a code block is an example. A fence is three or more of one kind (CommonMark 4.5).
_FENCE = re.compile(rb"^[ \t]*(`{3,}|~{3,})([^\r\n]*)")
# In bytes. People read a plan; a larger file was named by mistake.
LIMIT = 16 << 20
# A try is lost only to somebody who wrote the file in the microseconds between; an editor saves once.
_TRIES = 20


class Task(NamedTuple):
    """One check box: its text, its number among equal texts, the place of its mark, the text below it."""

    text: str
    copy: int
    number: int
    done: bool
    box: int
    line: bytes
    details: str = ""

    @property
    def key(self) -> tuple[str, int]:
        """What identifies the task: text and number."""
        return self.text, self.copy


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    out, at = [], 0
    for line in data.split(b"\n"):
        out.append((at, line))
        at += len(line) + 1
    return out


def _outside_fences(data: bytes) -> list[tuple[int, bytes]]:
    """The lines that are no code. A fence ends with a fence of its own kind that is at least as long."""
    out: list[tuple[int, bytes]] = []
    fence = b""
    for at, line in _lines(data):
        found = _FENCE.match(line)
        if not fence and found and not (found[1][:1] == b"`" and b"`" in found[2]):
            fence = found[1]
        elif fence:
            closes = found and found[1].startswith(fence) and not found[2].strip()
            fence = b"" if closes else fence
        else:
            out.append((at, line))
    return out


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))


def _details(rows: list[tuple[int, bytes]], index: int) -> str:
    """The lines below a task that are indented deeper and are no tasks themselves."""
    own, kept = _indent(rows[index][1]), []
    for _, line in rows[index + 1 :]:
        if _BOX.match(line) or (line.strip() and _indent(line) <= own):
            break
        kept.append(line.decode("utf-8", "replace").rstrip())
    return "\n".join(kept).strip("\n")


def parse(data: bytes) -> list[Task]:
    """The tasks of a plan, in order."""
    tasks: list[Task] = []
    seen: dict[str, int] = {}
    rows = _outside_fences(data)
    for index, (at, line) in enumerate(rows):
        found = _BOX.match(line)
        if found is None:
            continue
        text = found[3].decode("utf-8", "replace")
        seen[text] = seen.get(text, 0) + 1
        tasks.append(
            Task(
                text=text,
                copy=seen[text],
                number=len(tasks) + 1,
                done=found[2] != b" ",
                box=at + len(found[1]),
                line=line,
                details=_details(rows, index),
            )
        )
    return tasks


def read(path: str) -> bytes:
    """The bytes of a plan. Raises Fatal for one that cannot be read."""
    try:
        with open(path, "rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        raise Fatal(f"cannot read the plan '{shown(os.fsencode(path))}': {error.strerror}") from error
    if len(data) > LIMIT:
        raise Fatal(f"the plan '{shown(os.fsencode(path))}' is larger than {LIMIT >> 20} MiB")
    return data


def tasks_of(path: str) -> list[Task]:
    """The tasks of the plan at ``path``."""
    return parse(read(path))


def key_of(path: str) -> str:
    """The name that stands for a plan in lock names."""
    return digest(os.fsencode(os.path.realpath(path)))[:24]


def tick(layout: Layout, path: str, key: tuple[str, int], done: bool = True) -> bool:
    """Tick a task, or remove its tick: one byte in the file of now. False when the plan lacks the task.

    The file is compared right before the write and looked at again right after it, because editors replace
    files.
    """
    with locks.hold(layout, locks.TICK + key_of(path)):
        for _ in range(_TRIES):
            data = read(path)
            task = next((one for one in parse(data) if one.key == key), None)
            if task is None:
                return False
            if task.done == done:
                return True
            _mark_and_tell(path, data, task.box, b"x" if done else b" ")
    raise Fatal(f"the plan '{shown(os.fsencode(path))}' keeps changing; the task was not ticked")


def _mark_and_tell(path: str, expected: bytes, box: int, mark: bytes) -> None:
    """Write the mark, and record it as nobody's where a shell command runs: else it were the command's."""
    there = _watched(path)
    if there is None:
        _mark(path, expected, box, mark)
        return
    lay, after = for_place(there.place, create=False), expected[:box] + mark + expected[box + 1 :]
    with files.Locked(lay.journal(there.path)) as fd:
        _mark(path, expected, box, mark)
        if read(path) != after:
            return
        made = Record(
            UNRECORDED,
            GAP,
            text_id(expected),
            text_id(after),
            PAYLOAD,
            hunks=[hunk_between(expected, after)],
            head=gitdir.head_oid(there.place),
            ts=sessionfile.now(),
            seen=True,
            shells=shellforms.mark(lay),
        )
        append(lay, fd, there.path, made, expected)


def _watched(path: str) -> locate.Target | None:
    """The place of a plan in a worktree in which a shell command runs now; None for any other."""
    try:
        there = locate.locate("/", os.path.abspath(path), {}, follow=True)
    except locate.OutsideError:
        return None
    known = windows.read(for_place(there.place, create=False))
    return there if any(window.closed is None for window in known) else None


def _mark(path: str, expected: bytes, box: int, mark: bytes) -> None:
    """Write the mark if the file still is what was read."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise Fatal(f"cannot tick in '{shown(os.fsencode(path))}': {error.strerror}") from error
    try:
        if os.pread(fd, len(expected) + 1, 0) == expected:
            os.pwrite(fd, mark, box)
    finally:
        os.close(fd)


# --- the plan that run takes without an argument ---


def use(ctx: Context, path: str) -> str:
    """Make a plan the one of this worktree; returns its name from the root. Running tasks keep their plan.

    Raises UsageError for a plan outside the worktree: the marker is shared state, so it names nothing else.
    """
    tasks_of(path)
    name = relative(ctx, path)
    if os.path.isabs(name):
        raise UsageError(
            f"'{shown(os.fsencode(path))}' lies outside this worktree",
            "git ralph run <plan.md>  # takes any file",
        )
    files.write_whole(ctx.layout.current_plan, line_form(os.fsencode(name)) + b"\n")
    return name


def relative(ctx: Context, path: str) -> str:
    """A plan's name from the worktree's root; absolute where it lies elsewhere."""
    full = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
    return os.path.relpath(full, ctx.repo.root) if full.startswith(ctx.repo.root + "/") else full


def current(ctx: Context) -> str | None:
    """The absolute path of the plan in use here; a marker that names no plan is ignored with a warning."""
    for layout in dict.fromkeys([ctx.layout.own, ctx.layout.top]):
        try:
            said = files.read_bytes(layout + "/current-plan", 8192)
        except FileNotFoundError:
            continue
        except OSError as error:
            ctx.warn(f"'current-plan' cannot be read: {error.strerror or error}")
            continue
        name = _named_plan(said)
        if name is not None:
            return os.path.normpath(os.path.join(ctx.repo.root, name))
        ctx.warn(f"'current-plan' names no plan and is ignored: '{shown(said[:100])}'")
    return None


def _named_plan(said: bytes) -> str | None:
    line = said.removesuffix(b"\n")
    try:
        path = c_unquote(line)
    except ValueError:
        return None
    outside = path[:1] == b"/" or b".." in path.split(b"/")
    if not path or outside or b"\n" in line or b"\0" in path:
        return None
    return os.fsdecode(path)

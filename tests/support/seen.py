"""What a person sees, whole and beside the command, as git's own tests have it.

    seen(repo, '''
        $ git ralph status
        ...
    ''')

Each line after ``$`` is typed into a shell, and what comes after it is compared: standard output, then
standard error, then the exit code where it is not 0. What differs from run to run has a name of its own
instead, see :func:`plain`. ``RALPH_SEEN=update`` writes what is seen now into the test.
"""

import ast
import html
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from tests.support.guarded import git_as
from tests.support.repo import Repo

UPDATES = os.environ.get("RALPH_SEEN") == "update"
_INDENT = " " * 4


def seen(repo: Repo, block: str) -> None:
    """Run the commands of a block and compare what is seen; or write that down."""
    wanted = textwrap.dedent(block).strip("\n").rstrip() + "\n"
    commands = [line[2:] for line in wanted.splitlines() if line.startswith("$ ")]
    assert commands, "no command"
    known: dict[str, str] = {}
    found = "".join(f"$ {command}\n{plain(repo, _typed(repo, command), known)}" for command in commands)
    if found != wanted and UPDATES:
        frame = sys._getframe(1)
        _write_down(Path(frame.f_code.co_filename), frame.f_lineno, found)
        return
    assert found == wanted


def _typed(repo: Repo, command: str) -> str:
    """What a shell shows: ``NAME=value`` ahead, ``< file``, and ``| text`` for the words of a page."""
    words = shlex.split(command)
    env: dict[str, str] = {}
    while "=" in words[0]:
        name, _, env[name] = words.pop(0).partition("=")
    is_page = words[-2:] == ["|", "text"]
    words = words[:-2] if is_page else words
    given = (repo.root / words[-1]).read_bytes() if words[-2:-1] == ["<"] else b""
    words = words[:-2] if given else words
    assert words[0] == "git", command
    if words[1:3] == ["ralph", "commit"]:
        repo.tick()
    if words[1] == "ralph":
        done = repo.run(*words[2:], env=env, stdin=given)
        code, out, said = done.code, done.text, done.said
    else:
        ended = git_as(repo, None, *words[1:], env=env)
        code, out, said = ended.code, ended.out, ended.said
    parts = (_words_of(out) if is_page else out, said)
    text = "".join(part if part.endswith("\n") or not part else part + "\n" for part in parts)
    return text + (f"(exit {code})\n" if code else "")


def _words_of(page: str) -> str:
    body = re.sub(r"<(style|title)\b.*?</\1>", "", page, flags=re.DOTALL)
    # which labels there is room for depends on the time of day
    body = re.sub(r'<div class="axis">.*?</div></div>', "", body, flags=re.DOTALL)
    lines = html.unescape(re.sub(r"<[^>]*>", "\n", body)).splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())


# what differs from run to run, and what stands for it; of the same width where columns depend on it
_VARYING = (
    (r"\b\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d", r"YYYY-MM-DD\1hh:mm:ss"),
    (r"\b\d{4}-\d\d-\d\d([ T])\d\d:\d\d", r"YYYY-MM-DD\1hh:mm"),
    (r"\b\d{4}-\d\d-\d\d\b", "YYYY-MM-DD"),
    (r"\b\d\d:\d\d(:\d\d)?\b", "hh:mm"),
    (r"\b(just now|(\d+|an?) (second|minute|hour|day|week|month|year)s?( ago)?)\b", "<age>"),
    (r"\bgit \d+\.\d+\.\d+\S*?(?=[,\s])", "git <version>"),
)


def plain(repo: Repo, text: str, known: dict[str, str]) -> str:
    """``text`` with a letter for the digits of each object id, and without places, times and versions."""
    text = (
        text.replace(str(repo.root), "/repo")
        .replace(repo.env["HOME"], "/home")
        .replace("\N{NO-BREAK SPACE}", " ")
    )
    for varying, name in _VARYING:
        text = re.sub(varying, name, text)

    def named(found: re.Match[str]) -> str:
        letter = known.setdefault(found[0][:7], chr(ord("a") + len(known)))
        return letter * len(found[0])

    text = re.sub(r"\b(?!0+\b)(?=[a-f]*[0-9])[0-9a-f]{7,40}\b", named, text)
    # a line that ends in blanks would not survive an editor
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def _literals(tree: ast.Module, line: int) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "seen":
            text = node.args[1]
            if node.lineno <= line <= (node.end_lineno or 0) and isinstance(text, ast.Constant):
                yield text


def _write_down(file: Path, line: int, found: str) -> None:
    source = file.read_text()
    moved = _moved.setdefault(str(file), [])
    (literal,) = _literals(ast.parse(source), line + sum(by for at, by in moved if at < line))
    assert literal.end_lineno is not None
    rows = source.splitlines(keepends=True)
    prefix = "r" if "\\" in found else ""
    new = f'{_INDENT * 2}{prefix}"""\n{textwrap.indent(found, _INDENT * 2)}{_INDENT * 2}""",\n'
    old = literal.end_lineno - literal.lineno + 1
    rows[literal.lineno - 1 : literal.end_lineno] = [new]
    file.write_text("".join(rows))
    moved.append((line, new.count("\n") - old))


# how far a block that was written down has moved those below it
_moved: dict[str, list[tuple[int, int]]] = {}

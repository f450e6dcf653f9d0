"""Who imports whom: cli, capabilities, commit and its like, records and git, hook, base; downward only."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from tests.support import source
from tests.support.source import Module

MODULES = source.modules()
ENTRY = "gitralph.__main__"  # sends the hook to its fast lane and all else to cli

LEVELS = (
    {"base"},
    {"hook"},
    {"git", "lines"},
    {"records"},
    {"decide"},
    {"words"},
    {"commit"},
    {"sessions"},
    {"ask", "takeback"},
    {"guard"},
    {"setup"},
    {"tasks"},
    {"cli"},
)
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
# dulwich: wherever objects are looked into
THIRD_PARTY = {
    "base": {"filelock"},
    "cli": {"click"},
    "ask": {"dulwich"},
    "commit": {"dulwich"},
    "decide": {"dulwich"},
    "git": {"dulwich"},
}
SLOW_TO_LOAD = {"typing", "dataclasses", "pathlib", "logging", "subprocess"}
FAST = ("base", "hook")
# They lie in base, and no hook loads them.
FOR_COMMANDS = {f"gitralph.base.{name}" for name in ("folders", "kinds", "locks", "runner")}
# What lines may use of others: it knows no file and no process.
PURE = {"gitralph.base.ids", "gitralph.base.kinds"}
# Of a hook alone, for which an agent waits at each edit; json and hashlib it pays for, and what they bring.
ABSENT_FROM_A_HOOK = {
    *SLOW_TO_LOAD,
    "asyncio",
    "click",
    "contextlib",
    "dulwich",
    "filelock",
    "inspect",
    "shutil",
    "signal",
    "tempfile",
    "threading",
}


def _imports() -> Iterator[tuple[Module, source.Import]]:
    for module in MODULES:
        for one in module.imports():
            yield module, one


def _where(module: Module, line: int) -> str:
    return f"{module.path.relative_to(source.ROOT)}:{line}"


def _is_downward(room: str, wanted: str) -> bool:
    if room == wanted:
        return True
    return room != "lines" and LEVEL[wanted] < LEVEL[room]


def test_every_module_is_in_a_room() -> None:
    assert {m.room for m in MODULES} - {"", "__main__"} == set(LEVEL)


def test_rooms_import_downward_only() -> None:
    """Imports inside functions and those for types are counted like all others."""
    wrong = [
        f"{_where(module, one.line)}: {module.room} imports {one.module}"
        for module, one in _imports()
        if module.name not in (ENTRY, "gitralph")
        and one.module not in (ENTRY, "gitralph")
        and (room := source.room_of(one.module)) is not None
        and not (module.room == "lines" and one.module in PURE)
        and not _is_downward(module.room, room)
    ]
    assert wrong == []


def test_third_party_packages_stay_in_their_room() -> None:
    wrong = []
    for module, one in _imports():
        top = one.module.split(".")[0]
        if (
            not one.for_types
            and top != "gitralph"
            and top not in sys.stdlib_module_names | THIRD_PARTY.get(module.room, set())
        ):
            wrong.append(f"{_where(module, one.line)}: {module.room} imports {one.module}")
    assert wrong == []
    asked = {m.name for m, one in _imports() if one.module.split(".")[0] == "filelock"}
    assert asked <= {"gitralph.base.locks"}


def test_nobody_imports_dulwich_porcelain() -> None:
    assert [m.name for m, one in _imports() if one.module.startswith("dulwich.porcelain")] == []


def test_the_fast_lane_loads_nothing_slow() -> None:
    wrong = [
        f"{_where(module, one.line)}: imports {one.module}"
        for module, one in _imports()
        if module.room in FAST
        and module.name not in FOR_COMMANDS
        and one.at_load
        and not one.for_types
        and (one.module in FOR_COMMANDS or one.module.split(".")[0] in ABSENT_FROM_A_HOOK)
    ]
    assert wrong == []


def test_no_circle_imports_inside_functions_and_for_types_counted() -> None:
    graph = {
        module.name: {
            o.module for o in module.imports() if o.module != module.name and source.is_module(o.module)
        }
        for module in MODULES
        if module.name != ENTRY
    }
    for module, wanted in graph.items():
        wanted -= {ENTRY, *(name for name in wanted if module.startswith(f"{name}."))}  # a package of its own
    TopologicalSorter(graph).prepare()


def test_no_command_imports_a_command() -> None:
    wrong = [
        f"{_where(module, one.line)}: imports {one.module}"
        for module, one in _imports()
        if module.room == "cli"
        and one.module.startswith("gitralph.cli.")
        and not one.module.startswith(("gitralph.cli.terminal", "gitralph.cli.main"))
    ]
    assert wrong == []


_EDGES = ("gitralph.cli.terminal.environ", "gitralph.hook.emit", "gitralph.hook.entry", "gitralph.__main__")


def test_only_the_edge_reads_the_environment() -> None:
    wrong = [
        f"{_where(module, line)}: {name}"
        for module in MODULES
        if module.name not in _EDGES
        for line, name in source.calls(module.tree)
        if name in ("os.environ", "os.environb", "os.getenv", "os.getenvb")
    ]
    assert wrong == []


def _texts_sent_out(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for line, name in source.calls(tree):
        if name == "print" or name.startswith(("sys.stdout", "sys.stderr")):
            yield line, name


def test_only_cli_and_the_hook_print() -> None:
    wrong = [
        f"{_where(module, line)}: {name}"
        for module in MODULES
        if module.room not in ("cli", *FAST, "__main__")
        for line, name in _texts_sent_out(module.tree)
    ]
    assert wrong == []


def test_lines_open_no_file() -> None:
    pure = [module for module in MODULES if module.room == "lines"]
    used = {name.split(".")[0] for module in pure for _, name in source.calls(module.tree)}
    assert used.isdisjoint({"open", "os", "io", "pathlib", "sys"})


def _modules_of(folder: Path, typed: list[str], stdin: bytes = b"") -> set[str]:
    """The modules a real process has loaded when it ends, without those of an empty one."""
    # as the console script does it: -m would bring what runpy imports
    code = "import sys; from gitralph.__main__ import program; sys.exit(program())"
    words = [sys.executable, "-P", "-X", "importtime", "-c", code, *typed]
    bare = [sys.executable, "-P", "-X", "importtime", "-c", "pass"]
    loaded = []
    for command in (words, bare):
        done = subprocess.run(command, input=stdin, cwd=folder, capture_output=True, check=True)
        rows = [row for row in done.stderr.decode().splitlines() if row.startswith("import time:")]
        loaded.append({row.rsplit("|", 1)[1].strip() for row in rows})
    return loaded[0] - loaded[1]


def test_a_hook_loads_only_what_it_needs(tmp_path: Path, environ: dict[str, str]) -> None:
    repo = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    (repo / "a").write_text("two\n")
    payload: dict[str, object] = {
        "session_id": "s1",
        "cwd": str(repo),
        "hook_event_name": "PostToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": str(repo / "a"), "old_string": "one", "new_string": "two"},
        "tool_response": {"originalFile": "one\n", "oldString": "one", "newString": "two"},
    }
    loaded = _modules_of(repo, ["hook", "claude-code"], json.dumps(payload).encode())
    assert (repo / ".git/ralph-sessions/s1.files").read_text() == "a\n"
    assert "gitralph.hook.record" in loaded
    assert {name.split(".")[0] for name in loaded} & ABSENT_FROM_A_HOOK == set()
    assert {name for name in loaded if source.room_of(name) not in (None, "", "__main__", *FAST)} == set()

"""The package uses the standard library and its own dependencies, and writes none of them a second time."""

import ast
import re
import sys
from collections.abc import Iterator

from tests.support import source
from tests.support.source import Module

MODULES = source.modules()
# Here a name of our own would be a copy: what stands for each is in the standard library or in click.
COPIES = {
    "dataclass": "dataclasses",
    "field": "dataclasses",
    "cached_property": "functools",
    "lru_cache": "functools",
    "cache": "functools",
    "partial": "functools",
    "wraps": "functools",
    "contextmanager": "contextlib",
    "suppress": "contextlib",
    "closing": "contextlib",
    "ExitStack": "contextlib",
    "nullcontext": "contextlib",
    "which": "shutil",
    "rmtree": "shutil",
    "find_spec": "importlib",
    "exec_module": "importlib",
    "create_module": "importlib",
    "import_module": "importlib",
    "Popen": "subprocess",
    "CompletedProcess": "subprocess",
    "OptionParser": "click",
    "ArgumentParser": "click",
}
# Named `posix` the module of os is CPython's own, as are those that begin with an underscore.
PRIVATE = {"posix", "_thread"} | {name for name in sys.stdlib_module_names if name.startswith("_")}
# The hook lane: there an import is left out where the hook would else pay for it.
LANE = ("base", "hook", "__main__")
PLAIN = PRIVATE - {"__future__"}


def _where(module: Module, line: int) -> str:
    return f"{module.path.relative_to(source.ROOT)}:{line}"


def _imported() -> Iterator[tuple[Module, source.Import]]:
    for module in MODULES:
        for one in module.imports():
            yield module, one


def test_no_private_module_of_cpython_is_used() -> None:
    wrong = [_where(m, one.line) for m, one in _imported() if one.module.split(".")[0] in PLAIN]
    assert wrong == []


def test_no_import_finder_and_no_machinery_of_imports() -> None:
    """Nothing takes part in how modules are found, loaded or kept."""
    used = ("sys.meta_path", "sys.path_hooks", "marshal", "importlib.machinery")
    wrong = [
        f"{_where(module, line)}: {name}"
        for module in MODULES
        for line, name in source.calls(module.tree)
        if name.startswith(used)
    ]
    wrong += [
        _where(module, one.line)
        for module, one in _imported()
        if one.module.split(".")[0] in ("marshal", "imp", "zipimport", "runpy")
        or one.module.startswith(("importlib.machinery", "importlib.util", "importlib.abc"))
    ]
    assert wrong == []


def test_no_copy_of_a_library() -> None:
    """No function or class of ours has the name of one that the standard library or click has."""
    wrong = [
        f"{_where(module, node.lineno)}: {node.name} is in {COPIES[node.name]}"
        for module in MODULES
        for node in ast.walk(module.tree)
        if isinstance(node, (*source.FUNCTIONS, ast.ClassDef)) and node.name in COPIES
    ]
    assert wrong == []
    named = ("dataclass", "loader", "light", "spawn", "contextlib", "functools")
    assert {m.name for m in MODULES} & {f"gitralph.base.{name}" for name in named} == set()


def test_no_module_makes_its_names_up() -> None:
    """Without ``__getattr__`` of a module (PEP 562) its imports say what it has."""
    wrong = [
        _where(module, node.lineno)
        for module in MODULES
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__")
    ]
    assert wrong == []


def test_imports_for_types_are_plain_outside_the_lane() -> None:
    texts = {m: m.path.read_text(encoding="utf-8") for m in MODULES}
    assert {m.name for m, text in texts.items() if "TYPE_CHECKING" in text} == {"gitralph.__main__"}


def test_imports_inside_functions_say_why() -> None:
    """Outside the lane each has its reason on its line."""
    wrong = []
    for module, one in _imported():
        line = module.path.read_text(encoding="utf-8").split("\n")[one.line - 1]
        if not one.at_load and module.room not in LANE and not re.search(r"  # \w", line):
            wrong.append(_where(module, one.line))
    assert wrong == []


def test_no_line_is_kept_from_the_formatter() -> None:
    marks = ("# fmt: " + "skip", "# fmt: " + "off")
    wrong = [m.name for m in MODULES if any(mark in m.path.read_text(encoding="utf-8") for mark in marks)]
    assert wrong == []

"""Size and manners of the source: short files, short functions, everything public explained."""

import ast
from collections.abc import Iterator
from statistics import median

from tests.support import source
from tests.support.source import Module

MODULES = source.modules()
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
MEDIAN_FUNCTION = 10
MEDIAN_FILE = 130


def _functions(module: Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.walk(module.tree):
        if isinstance(node, source.FUNCTIONS):
            yield f"{module.path.relative_to(source.ROOT)}:{node.lineno} {node.name}", node


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` to the end; click's option stacks and their long signatures are not counted."""
    assert node.end_lineno is not None
    options = any("option" in ast.unparse(one) for one in node.decorator_list)
    start = node.body[0].lineno if options else node.lineno
    return node.end_lineno - start + 1


def test_no_file_is_long() -> None:
    assert [f"{m.name}: {m.lines}" for m in MODULES if m.lines > LONGEST_FILE] == []


def test_files_are_short_on_the_whole() -> None:
    assert median(m.lines for m in MODULES) <= MEDIAN_FILE


def test_no_function_is_long() -> None:
    long = [at for m in MODULES for at, f in _functions(m) if _length(f) > LONGEST_FUNCTION]
    assert long == []


def test_functions_are_short_on_the_whole() -> None:
    assert median(_length(f) for m in MODULES for _, f in _functions(m)) < MEDIAN_FUNCTION


def test_every_module_says_why_it_exists() -> None:
    assert [m.name for m in MODULES if not ast.get_docstring(m.tree)] == []


def test_every_public_function_says_what_it_does() -> None:
    wrong = []
    for module in MODULES:
        for node in module.tree.body:
            if isinstance(node, source.FUNCTIONS) and not node.name.startswith("_"):
                wrong += [] if ast.get_docstring(node) else [f"{module.name}.{node.name}"]
    assert wrong == []


def test_every_function_is_annotated() -> None:
    wrong = [
        at
        for module in MODULES
        for at, f in _functions(module)
        if f.returns is None and not (module.layer == "lane 0" and f.name.startswith("_"))
    ]
    assert wrong == []

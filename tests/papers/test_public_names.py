"""Tests go by what is public: a name of a module of the package that begins with ``_`` may change any day."""

import ast
from collections.abc import Iterator

from tests.support import source

TESTS = source.ROOT / "tests"
PATCHING = ("setattr", "delattr", "object")  # of MonkeyPatch, and mock.patch.object


def _is_private(name: str) -> bool:
    # what a named tuple has is public all the same (collections.namedtuple)
    return name.startswith("_") and not name.endswith("__") and name not in ("_fields", "_replace", "_asdict")


def _imported(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """What is imported of the package: what it is called here and there, and the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gitralph":
            yield from ((alias.asname or alias.name, alias.name, node.lineno) for alias in node.names)


def _private(tree: ast.Module) -> Iterator[tuple[int, str]]:
    ours = {here for here, _, _ in _imported(tree)}
    yield from ((line, there) for _, there, line in _imported(tree) if _is_private(there))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ours:
            yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            match node.args:
                case [ast.Name(owner), ast.Constant(str(name)), *_] if (
                    node.func.attr in PATCHING and owner in ours
                ):
                    yield node.lineno, name


def test_no_test_goes_by_a_private_name() -> None:
    found = [
        f"{file.relative_to(source.ROOT)}:{line}: {name}"
        for file in sorted(TESTS.rglob("*.py"))
        if "gitralph" in (text := file.read_text(encoding="utf-8"))
        for line, name in _private(ast.parse(text))
        if _is_private(name)
    ]
    assert found == []


def test_each_way_to_a_private_name_is_found() -> None:
    """Or the test above would prove nothing."""
    for line in ("from gitralph.a import _b", "a._b", 'monkeypatch.setattr(a, "_b", 1)'):
        tree = ast.parse(f"from gitralph import a\n{line}\n")
        assert [name for _, name in _private(tree) if _is_private(name)] == ["_b"], line
    assert [
        name
        for _, name in _private(ast.parse("from gitralph import a\na.__name__, b._c"))
        if _is_private(name)
    ] == []

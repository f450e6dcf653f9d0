"""The package's own source as trees: what the layering and shape tests look at."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "gitralph"


@dataclass(frozen=True)
class Import:
    """One import of one module: where, what, and whether the importing module needs it to load."""

    line: int
    module: str
    at_load: bool
    for_types: bool


@dataclass(frozen=True)
class Module:
    """One file of the package. ``name`` is dotted; ``room`` is its first word below the package."""

    path: Path

    @property
    def name(self) -> str:
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def room(self) -> str:
        return room_of(self.name) or ""

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), str(self.path))

    @property
    def lines(self) -> int:
        return len(self.path.read_text(encoding="utf-8").splitlines())

    def imports(self) -> list[Import]:
        """Every import, nested ones too; ``from x import y`` names ``x.y`` where that is a module."""
        return self._imports

    @cached_property
    def _imports(self) -> list[Import]:
        found = []
        for node, inner, typing in _placed(self.tree, False, False):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.path}:{node.lineno} imports relatively"
                base = node.module or ""
                names = [f"{base}.{a.name}" if is_module(f"{base}.{a.name}") else base for a in node.names]
            else:
                continue
            found += [Import(node.lineno, name, not inner, typing) for name in dict.fromkeys(names)]
        return found


def _placed(node: ast.AST, inner: bool, typing: bool) -> Iterator[tuple[ast.AST, bool, bool]]:
    """Every statement below, and whether it lies in a function and in a block for types alone."""
    inner = inner or isinstance(node, FUNCTIONS)
    typing = typing or _is_for_types(node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child, inner, typing
            yield from _placed(child, inner, typing)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def is_module(name: str) -> bool:
    """True when a dotted name is a module of this package."""
    if not name.startswith("gitralph"):
        return False
    path = ROOT / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


@cache
def modules() -> list[Module]:
    """Every module of the package, sorted by path; read once by all tests."""
    return [Module(path) for path in sorted(PACKAGE.rglob("*.py"))]


def room_of(name: str) -> str | None:
    """The room of a dotted module name, "" for the package itself, None for one that is not ours."""
    parts = name.split(".")
    if parts[0] != "gitralph":
        return None
    return parts[1] if len(parts) > 1 else ""


def calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything that is named or called: ``print``, ``sys.stdout.write``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, _dotted(node)


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return f"{_dotted(node.value)}.{node.attr}"
    return ast.unparse(node)


def texts(tree: ast.AST) -> Iterator[str]:
    """Every text in the source that is a value, docstrings among them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value

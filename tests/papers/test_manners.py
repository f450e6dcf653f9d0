"""What a reader would miss: every module says why it exists, every public function what it does."""

import ast

from tests.support import source

MODULES = source.modules()


def test_every_module_says_why_it_exists() -> None:
    assert [m.name for m in MODULES if not ast.get_docstring(m.tree)] == []


def test_every_public_function_says_what_it_does() -> None:
    wrong = []
    for module in MODULES:
        for node in module.tree.body:
            if isinstance(node, source.FUNCTIONS) and not node.name.startswith("_"):
                wrong += [] if ast.get_docstring(node) else [f"{module.name}.{node.name}"]
    assert wrong == []


def test_no_two_things_have_one_class_name() -> None:
    """Who searches for a name finds one thing."""
    homes: dict[str, list[str]] = {}
    for module in MODULES:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module.name)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}

"""A function takes few things: what belongs together is one value, with a name for each part of it."""

import ast
from collections.abc import Iterator

from tests.support import source

MOST = 8
# Of values whose parts are told apart by their place alone.
MOST_BY_PLACE = 6
SHORT_LIVED = {"PathTexts", "Pieces"}  # made in one place, right below the lines that name their parts

ALLOWED = {
    "gitralph.base.runner.run": "what subprocess.run takes, by name, and a bound on what is written",
    "gitralph.decide.plan.build": "each is another wish of another caller",
    "gitralph.lines.choose.separate": "the terms of the theory",
    "gitralph.lines.net.caught": "those of separate, of which it is a part",
    "gitralph.lines.net._counted": "those of separate, of which it is a part",
}
# Values of a hook have no dataclasses, whose import an agent would wait for at each edit.
BY_HAND = "gitralph.hook."


def _functions() -> Iterator[tuple[str, ast.FunctionDef, list[str]]]:
    for module in source.modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef):
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                names = [one.arg for one in given if one.arg not in ("self", "cls")]
                yield module.name, node, names


def test_no_function_takes_more_than_eight_parameters() -> None:
    found = [
        f"{module}.{node.name} takes {len(names)}: {', '.join(names)}"
        for module, node, names in _functions()
        if len(names) > MOST
        and f"{module}.{node.name}" not in ALLOWED
        and not (module.startswith(BY_HAND) and node.name == "__init__")
    ]
    assert not found, "make a frozen value of what belongs together"


def test_a_value_of_many_parts_is_made_by_their_names() -> None:
    """Seven words in a row say nothing of which is which."""
    nodes = [node for module in source.modules() for node in ast.walk(module.tree)]
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)} - SHORT_LIVED
    found = []
    for module in source.modules():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call) or any(isinstance(one, ast.Starred) for one in node.args):
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            if len(node.args) > MOST_BY_PLACE and name in classes:
                found.append(f"{module.name}:{node.lineno} {name}")
    assert not found

"""A module's name is said once: who reads of ``lines`` or ``log`` need not ask of which room."""

import ast
import re
from collections import defaultdict

from tests.support import source

# One meaning in both: what the room does with git's index, with a commit's message, with a repository.
SAME_THING = {"index", "message", "repository"}
# Another meaning in each; a name for the next who works there.
STILL_TWO = {"place", "runs"}
NOT_YET = {"decide", "hook"}  # whose settle is another


def test_no_two_rooms_have_a_module_of_the_same_name() -> None:
    """A command's module in cli/ has the command's name, and may share it with what does the work."""
    found = defaultdict(list)
    for module in source.modules():
        *room, name = module.name.split(".")
        if module.path.stem != "__init__" and room[1:2] != ["cli"]:
            found[name].append(module.name)
    twice = {name: where for name, where in found.items() if len(where) > 1}
    assert set(twice) <= SAME_THING | STILL_TWO, twice


def test_what_a_room_says_of_its_modules_names_modules() -> None:
    for module in source.modules():
        if module.path.stem != "__init__":
            continue
        for word in re.findall(r"``([a-z_]+)``", ast.get_docstring(module.tree) or ""):
            assert source.is_module(f"{module.name}.{word}"), f"{module.name} tells of '{word}'"


def test_settle_means_one_thing() -> None:
    """To finish or drop what a killed process left; what a decision does with a path has verbs of its own."""
    found = {
        f"{module.name}.{node.name}"
        for module in source.modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef) and node.name.strip("_").split("_")[0] == "settle"
    }
    assert {name for name in found if name.split(".")[1] not in NOT_YET} <= {
        "gitralph.git.dead_locks.settle_refs",
        "gitralph.guard.recover_narrowed.settle",
        "gitralph.tasks.worktree.recover_merge.settle",
    }

"""The way through the code that CONTRIBUTING shows a newcomer: every name on it exists."""

import ast
import re
from pathlib import Path

from gitralph.base import locks
from gitralph.hook.agents import ADAPTERS
from tests.support import source

TEXT = (source.ROOT / "CONTRIBUTING.md").read_text()
PACKAGE = source.ROOT / "gitralph"
NAME = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+")
ROOM = re.compile(r"[a-z_]+/")
SUFFIXES = (".md", ".py", ".sh", ".toml", ".h")


def _section(title: str) -> str:
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def _quoted(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


def _names(text: str) -> list[str]:
    return [word for word in _quoted(text) if NAME.fullmatch(word) and not word.endswith(SUFFIXES)]


def _defined(path: Path) -> set[str]:
    """What a module has at its top."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name.id for one in targets for name in ast.walk(one) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
            found |= {one.name for one in node.names}  # what a room hands out
    return found


def _exists(name: str) -> bool:
    """True for a module or room below ``gitralph/``, or what one defines."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        place, rest = PACKAGE.joinpath(*parts[:count]), parts[count:]
        module = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if module.is_file():
            return not rest or (len(rest) == 1 and rest[0] in _defined(module))
    return False


def test_the_way_of_an_edit_names_functions_that_exist() -> None:
    """The walk from payload to commit, with the real function names."""
    names = _names(_section("The way of an edit"))
    assert len(names) > 30
    assert [name for name in names if not _exists(name)] == []


def test_the_way_of_an_edit_fits_on_a_screen() -> None:
    assert len(_section("The way of an edit").strip().splitlines()) <= 40


def test_every_owner_of_a_concept_exists() -> None:
    owners = _names(_section("One owner per concept"))
    assert len(owners) > 20
    assert [name for name in owners if not _exists(name)] == []


def test_the_recipes_name_what_exists() -> None:
    text = _section("Where do I change what")
    assert [name for name in _names(text) if not _exists(name)] == []
    files = [word for word in _quoted(text) if "/" in word and "<" not in word and " " not in word]
    assert len(files) > 10
    assert [name for name in files if not (source.ROOT / name).exists()] == []


def test_every_module_that_knows_an_agent_by_name_is_in_the_recipe() -> None:
    """Who adds an agent finds each place; the demo plays one, it does not know it."""
    recipe = _section("Where do I change what").partition("\n### An agent\n")[2]
    told = {word for word in _quoted(recipe) if word.endswith(".py")}
    told |= {f"gitralph/{name.rpartition('.')[0].replace('.', '/')}.py" for name in _names(recipe)}
    names = set(ADAPTERS) - {"generic"}
    knows = {
        str(path.relative_to(source.ROOT))
        for path in PACKAGE.rglob("*.py")
        if path.parent.name not in ("agents", "demo")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    }
    assert len(knows) > 8
    assert sorted(knows - told) == []
    places = [word for word in _quoted(recipe) if "/" in word and "<" not in word]
    assert [word for word in places if not (source.ROOT / word).exists()] == []
    assert [name for name in _names(recipe) if not _exists(name)] == []


def test_the_rooms_are_the_folders_there_are() -> None:
    first = [line.split("|")[1] for line in _section("Rooms").splitlines() if line.startswith("|")]
    named = {word.rstrip("/") for cell in first for word in _quoted(cell) if ROOM.fullmatch(word)}
    there = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert named == there


def test_the_order_of_locks_names_who_takes_them() -> None:
    """The table of ``base.locks``: each constant and each function is there."""
    names = re.findall(
        r"\b[a-z_]+(?:\.[a-z_]+)+", str(locks.__doc__).partition("::\n")[2].partition("\n\nA ")[0]
    )
    assert len(names) > 7
    assert [name for name in names if name not in ("index.lock",) and not _exists(name)] == []
    constants = re.findall(r"\b[A-Z]{2,}\b", str(locks.__doc__).replace("HEAD", ""))
    assert {name for name in vars(locks) if name.isupper() and name[0] != "_"} - {"WAIT"} == set(constants)


def test_a_name_that_does_not_exist_is_noticed() -> None:
    assert _exists("commit.land.land")
    assert not _exists("commit.land.landing_strip")
    assert not _exists("commit.landing.land")

"""Edits that end in the same lines as what stands beside them, as functions do: braces, blank lines, returns."""

import pytest

from tests.support.repo import Repo

JS = "import fs;\n\n" + "\n".join(
    f"function base_{name}() {{\n  return {number};\n}}\n" for number, name in enumerate("abc", 1)
)
B = "function base_b"
WHOLE_B = "function base_b() {\n  return 2;\n}\n\n"
PYTHON = "import os\n\n\ndef base_a(x):\n    result = 1\n    return result\n"


def _function(of: str) -> str:
    return f"function {of}_f() {{\n  {of}_g();\n}}\n\n"


def _definition(of: str) -> str:
    return f"\n\ndef {of}_f(x):\n    result = {of}()\n    return result\n"


def _start(repo: Repo, text: str) -> None:
    repo.write("f", text)
    repo.commit_all("f")


def _head(repo: Repo) -> str:
    return repo.blob("f").decode()


@pytest.mark.parametrize("whose", [None, "S2"])
def test_a_function_behind_a_pending_one_and_another_change(repo: Repo, whose: str | None) -> None:
    """The change elsewhere makes two hunks of one step; the later one is read as everywhere."""
    _start(repo, JS)
    mine = JS.replace(B, _function("s1") + B)
    repo.edit("S1", "f", mine)
    text = mine.replace(B, _function("other") + B).replace("return 1", "return other_1")
    repo.edit(whose, "f", text) if whose else repo.write("f", text)
    repo.commit("S1")
    assert _head(repo) == mine
    if whose:
        repo.commit(whose)
        assert _head(repo) == text


def test_a_definition_at_the_end_behind_a_pending_one(repo: Repo) -> None:
    _start(repo, PYTHON)
    repo.edit("S1", "f", PYTHON + _definition("s1"))
    others = PYTHON.replace("import os", "import os, other")
    repo.write("f", others + _definition("s1") + _definition("other"))
    repo.commit("S1")
    assert _head(repo) == PYTHON + _definition("s1")


def test_functions_on_both_sides_of_a_pending_one(repo: Repo) -> None:
    _start(repo, JS)
    mine = JS.replace(B, _function("s1") + B)
    repo.edit("S1", "f", mine)
    repo.write("f", JS.replace(B, _function("one") + _function("s1") + _function("two") + B))
    repo.commit("S1")
    assert _head(repo) == mine


def test_a_removed_function_behind_a_pending_one(repo: Repo) -> None:
    _start(repo, JS)
    now = JS.replace(B, _function("s2") + B)
    repo.edit("S2", "f", now)
    repo.edit("S1", "f", now.replace("return 1", "return s1_1").replace(WHOLE_B, ""))
    repo.commit("S1")
    assert _head(repo) == JS.replace("return 1", "return s1_1").replace(WHOLE_B, "")
    repo.commit("S2")
    assert repo.blob("f") == repo.read("f")

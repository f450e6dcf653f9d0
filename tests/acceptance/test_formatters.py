"""The commonest day: two sessions edit one file, and each runs a formatter over all of it."""

import shutil
from itertools import permutations

import pytest

from tests.support import shells
from tests.support.repo import Repo
from tests.support.size import crossed

BLANK = "\n\n"
A, B, C = (f"def {name}():\n    return 1\n" for name in "abc")
NEW_A, NEW_C = "def a():\n    return [ 'one','a' ]\n", "def c():\n    x = {'c':1 }\n    return x\n"
FORM_A, FORM_C = 'def a():\n    return ["one", "a"]\n', 'def c():\n    x = {"c": 1}\n    return x\n'
STEPS = ("edit 1", "shell 1", "edit 2", "shell 2")
ORDERS = [
    order
    for order in permutations(STEPS)
    if order.index("edit 1") < order.index("shell 1") and order.index("edit 2") < order.index("shell 2")
]


@pytest.mark.skipif(shutil.which("black") is None, reason="black is not installed")
@pytest.mark.parametrize(("order", "first"), crossed(ORDERS, ["S1", "S2"]))
def test_both_commit_each_its_own_function(repo: Repo, order: tuple[str, ...], first: str) -> None:
    """Acceptance U5."""
    repo.write("m.py", BLANK.join((A, B, C)))
    repo.commit_all("m")
    for step in order:
        text = repo.file("m.py").read_text()
        kind, number = step.split()
        if kind == "shell":
            shells.run(repo, f"S{number}", "black -q m.py")
        elif number == "1":
            repo.edit("S1", "m.py", text.replace(A, NEW_A))
        else:
            repo.edit("S2", "m.py", text.replace(C, NEW_C))
    parts = {"S1": (FORM_A, B, C), "S2": (A, B, FORM_C)}
    other = "S2" if first == "S1" else "S1"
    repo.commit(first)
    assert repo.git_bytes("show", "HEAD:m.py").decode() == BLANK.join(parts[first])
    repo.commit(other)
    assert repo.git_bytes("show", "HEAD:m.py").decode() == BLANK.join((FORM_A, B, FORM_C))

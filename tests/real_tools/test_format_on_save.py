"""A formatter after every edit: two sessions in one file, each commit formatted as the file is (P4).

black runs after each recorded edit, as Claude Code's own ``PostToolUse`` or an editor that formats on
save runs it: no hook of ours sees what it changes. Its ``--check`` is the repository's pre-commit hook.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repo import Repo

BLACK = f"'{sys.executable}' -m black -q"
CHECK = f"#!/bin/sh\nexec {BLACK} --check $(git diff --cached --name-only --diff-filter=ACM)\n"
NAMES = ("alpha", "beta", "gamma", "delta")


def _module(bodies: dict[str, str]) -> str:
    return '"""A module."""\n' + "".join(f"\n\ndef {name}():\n{bodies[name]}" for name in NAMES)


BASE = _module(dict.fromkeys(NAMES, "    return 0\n"))
UGLY = {
    "alpha": "    return {'a':1,\n   'b':2}\n",
    "beta": "    x = [1,2,\n3]\n    return x\n",
    "gamma": "    return (  'g' )\n",
    "delta": "    if  True :\n        return 'd'\n",
}
CLEAN = {
    "alpha": '    return {"a": 1, "b": 2}\n',
    "beta": "    x = [1, 2, 3]\n    return x\n",
    "gamma": '    return "g"\n',
    "delta": '    if True:\n        return "d"\n',
}
OWNER = {"alpha": "S1", "beta": "S2", "gamma": "S1", "delta": "S2"}


def _text(repo: Repo) -> str:
    return (repo.read("m.py") or b"").decode()


def _edit(repo: Repo, session: str, old: str, new: str) -> None:
    """An edit by the session's tool, and the formatter after it."""
    text = _text(repo)
    assert text.count(old) == 1, (old, text)
    repo.edit(session, "m.py", text.replace(old, new))
    subprocess.run([sys.executable, "-m", "black", "-q", "m.py"], cwd=repo.root, check=True)


@pytest.fixture
def formatted(empty_repo: Repo) -> Repo:
    """A formatted module, and a pre-commit hook that refuses one that is not."""
    empty_repo.write("m.py", BASE)
    empty_repo.commit_all("base")
    hook: Path = empty_repo.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(CHECK)
    hook.chmod(0o755)
    return empty_repo


def _write(repo: Repo) -> None:
    """Both write their functions in turns; one goes back and starts again."""
    for name in NAMES:
        _edit(repo, OWNER[name], f"def {name}():\n    return 0\n", f"def {name}():\n{UGLY[name]}")
    _edit(repo, "S1", '{"a": 1, "b": 2}', "{'a':1,'b':3}")
    _edit(repo, "S2", f"def beta():\n{CLEAN['beta']}", "def beta():\n    return 0\n")
    _edit(repo, "S2", "def beta():\n    return 0\n", f"def beta():\n{UGLY['beta']}")


@pytest.mark.parametrize("first", ["S1", "S2"])
def test_each_commit_is_formatted_as_the_file_is_and_nothing_is_left(formatted: Repo, first: str) -> None:
    _write(formatted)
    done = CLEAN | {"alpha": '    return {"a": 1, "b": 3}\n'}
    zero = dict.fromkeys(NAMES, "    return 0\n")
    assert _text(formatted) == _module(done)

    formatted.ralph("commit", "--session", first, "-m", "one")
    assert formatted.blob("m.py").decode() == _module(
        zero | {name: done[name] for name in NAMES if OWNER[name] == first}
    )
    formatted.ralph("commit", "--session", "S2" if first == "S1" else "S1", "-m", "other")
    assert formatted.blob("m.py").decode() == _module(done)

    assert formatted.git("status", "--porcelain") == ""
    assert formatted.pending("S1") == formatted.pending("S2") == []


def test_a_formatter_that_rewrites_both_at_once_is_split_line_by_line(formatted: Repo) -> None:
    """It ran once at the end, over the lines of both, which pair one to one."""
    text = BASE
    for name, session in (("alpha", "S1"), ("beta", "S2")):
        old, new = f"def {name}():\n    return 0\n", f"def {name}():\n    return  '{name}'\n"
        text = text.replace(old, new)
        formatted.edit(session, "m.py", text)
    subprocess.run([sys.executable, "-m", "black", "-q", "m.py"], cwd=formatted.root, check=True)
    zero = dict.fromkeys(NAMES, "    return 0\n")

    formatted.ralph("commit", "--session", "S1", "-m", "one")
    assert formatted.blob("m.py").decode() == _module(zero | {"alpha": '    return "alpha"\n'})
    formatted.ralph("commit", "--session", "S2", "-m", "two")
    assert formatted.git("status", "--porcelain") == ""
    assert "Ralph-Includes: unrecorded" in formatted.trailers("HEAD")

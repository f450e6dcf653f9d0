"""An environment that is half installed: one sentence and 128; hooks record all the same."""

import subprocess
import sys

import pytest

from tests.support import payloads
from tests.support.repo import Repo

PACKAGES = ("click", "dulwich", "filelock")
_WITHOUT = (
    "import sys; sys.modules[sys.argv.pop(1)] = None; "
    "from gitralph.__main__ import program; sys.exit(program())"
)


def _without(repo: Repo, package: str, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    words = [sys.executable, "-P", "-c", _WITHOUT, package, *args]
    return subprocess.run(words, cwd=repo.root, env=repo.env, input=stdin, capture_output=True, check=False)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_command_names_the_package_that_is_missing(repo: Repo, package: str) -> None:
    repo.edit("S1", "a", "mine\n")
    before = repo.head()
    words = ["guard", "status"] if package == "click" else ["commit", "--session", "S1", "-m", "x"]
    done = _without(repo, package, *words)
    fix = f"{sys.executable} -m pip install {package}"
    assert done.stderr.decode() == f"fatal: git ralph needs the package '{package}': {fix}\n"
    assert done.returncode == 128
    assert (repo.head(), repo.pending("S1")) == (before, ["a"])


@pytest.mark.parametrize("package", PACKAGES)
def test_a_hook_records_without_any_of_them(repo: Repo, package: str) -> None:
    repo.write("u", "mine\n")
    event = payloads.encode(payloads.edit("S1", str(repo.root), "u", None, "mine\n"))
    done = _without(repo, package, "hook", "generic", stdin=event)
    assert (done.returncode, done.stderr) == (0, b"")
    assert repo.pending("S1") == ["u"]

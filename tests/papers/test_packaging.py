"""What is shipped: the built wheel and sdist, and the wheel installed into a fresh environment."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from gitralph import __version__
from gitralph.cli.main import COMMANDS
from tests.support import source

DATA = f"gitralph-{__version__}.data/data/"
PAGES = {page.name for page in (source.ROOT / "man").glob("*.[1-8]")}


def _tracked() -> list[str]:
    said = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=source.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in said.stdout.split("\0") if name and (source.ROOT / name).is_file()]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel (built from the sdist) and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    copy = tmp_path_factory.mktemp("checkout")
    for name in _tracked():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((source.ROOT / name).read_bytes())
        target.chmod((source.ROOT / name).stat().st_mode & 0o777)
    alone = [] if importlib.util.find_spec("hatchling") is None else ["--no-isolation"]
    words = [sys.executable, "-m", "build", *alone, "--outdir", str(folder), str(copy)]
    env = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The one wheel."""
    [found] = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel alone; its dependencies are borrowed from this one."""
    folder = tmp_path_factory.mktemp("fresh") / "env"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin/python"
    words = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*words, "--disable-pip-version-check", str(wheel)], check=True, capture_output=True)
    [site] = folder.glob("lib/python*/site-packages")
    borrowed = {os.path.dirname(os.path.dirname(_file_of(name))) for name in ("click", "dulwich")}
    (site / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n")
    return folder


def _file_of(name: str) -> str:
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None
    return found.origin


def _run(installed: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{installed}/bin:{os.environ['PATH']}"}
    return subprocess.run(
        list(args),
        cwd=installed,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )


def test_wheel_holds_the_package_and_what_belongs_beside_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"gitralph", f"gitralph-{__version__}.dist-info", f"gitralph-{__version__}.data"}
    assert "gitralph/py.typed" in names
    code = {name for name in _tracked() if name.startswith("gitralph/")}
    assert code <= set(names)


def test_wheel_puts_pages_and_completion_where_they_are_looked_for(wheel: Path) -> None:
    names = {name.removeprefix(DATA) for name in zipfile.ZipFile(wheel).namelist() if name.startswith(DATA)}
    assert {f"share/man/man{page[-1]}/{page}" for page in PAGES} <= names
    assert "share/bash-completion/completions/git-ralph" in names
    assert "share/zsh/site-functions/_git-ralph" in names
    hooks = {name for name in _tracked() if name.startswith("contrib/hooks/")}
    assert {f"share/gitralph/{name}" for name in hooks} <= names


def test_wheel_keeps_the_executable_bit(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    for name in _tracked():
        if name.startswith("contrib/hooks/") and os.access(source.ROOT / name, os.X_OK):
            mode = archive.getinfo(f"{DATA}share/gitralph/{name}").external_attr >> 16
            assert mode & 0o111, name


def test_wheel_holds_no_test_and_no_cache(wheel: Path) -> None:
    bad = re.compile(r"(^|/)(tests?|benchmarks|\.ci|__pycache__|\.[a-z_]+_cache)/|\.pyc$|conftest")
    assert [name for name in zipfile.ZipFile(wheel).namelist() if bad.search(name)] == []


def test_wheel_says_what_it_is(wheel: Path) -> None:
    told = zipfile.ZipFile(wheel).read(f"gitralph-{__version__}.dist-info/METADATA").decode()
    assert f"\nVersion: {__version__}\n" in told
    assert "\nLicense-Expression: MIT\n" in told
    assert "\nRequires-Python: >=3.11\n" in told
    for name in ("click", "dulwich"):
        assert re.search(rf"^Requires-Dist: {name}<\d+,>=", told, re.M), name


def test_sdist_holds_everything_that_is_tracked(built: Path) -> None:
    [found] = built.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert [name for name in _tracked() if name not in names] == []


def test_console_script_runs(installed: Path) -> None:
    assert _run(installed, "git", "ralph", "--version").stdout == f"git-ralph version {__version__}\n"


def test_help_finds_the_installed_pages(installed: Path) -> None:
    said = _run(installed, "git", "ralph", "help", "commit").stdout
    assert "commit only what this session edited" in said
    code = "from gitralph.setup import manual; print('\\n'.join(manual.pages().values()))"
    pages = _run(installed, f"{installed}/bin/python", "-P", "-c", code).stdout.splitlines()
    assert {os.path.basename(page) for page in pages} == PAGES
    assert {page.startswith(f"{installed}/share/man/") for page in pages} == {True}


def test_every_command_loads_from_the_wheel(installed: Path) -> None:
    code = "import click; from gitralph.cli.main import cli; c = click.Context(cli); print(*[cli.get_command(c, n).name for n in cli.list_commands(c)])"  # noqa: E501
    said = _run(installed, f"{installed}/bin/python", "-P", "-c", code).stdout
    assert said.split() == list(COMMANDS)


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_man_and_so_git_ralph_help_find_the_pages_beside_the_program(installed: Path) -> None:
    for page in ("git-ralph", "git-ralph-commit", "gitralph-sessions", "gitralph-hooks"):
        found = _run(installed, "man", "-w", page).stdout.strip()
        assert found.startswith(f"{installed}/share/man/"), page


def _python(version: str) -> str | None:
    """An interpreter of that version that starts, pyenv's among them."""
    found = shutil.which(f"python{version}")
    places = [found] if found else []
    if (pyenv := shutil.which("pyenv")) is not None:
        # asked of a process: the folder may lie in the real home, which no test looks at
        ask = ["sh", "-c", 'ls -d "$0"/versions/"$1".*/bin/python', str(Path(pyenv).parents[1]), version]
        places += subprocess.run(ask, capture_output=True, text=True, check=False).stdout.split()
    code = f"import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
    for place in places:
        if subprocess.run([place, "-c", code], capture_output=True, check=False).returncode == 0:
            return place
    return None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_wheel_works_on_every_python_that_is_here(wheel: Path, version: str, tmp_path: Path) -> None:
    """In a fresh environment: hooks record, two sessions and a person are told apart, each commits."""
    python = _python(version)
    if python is None:
        pytest.skip(f"NOT TRIED ON PYTHON {version}: there is none")
    folder, home = tmp_path / "env", tmp_path / "home"
    home.mkdir()
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True, capture_output=True)
    words = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / "bin/python"),
        "install",
        "-q",
        "--no-deps",
    ]
    quiet = ["--no-index", "--disable-pip-version-check"]
    subprocess.run([*words, *quiet, str(wheel)], check=True, capture_output=True)
    [site] = folder.glob("lib/python*/site-packages")
    for name in ("click", "dulwich", "filelock", "urllib3"):
        if (spec := importlib.util.find_spec(name)) is not None and spec.origin is not None:
            (site / name).symlink_to(os.path.dirname(spec.origin))
    env = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(home)}
    for args in (["--version"], ["demo"]):
        done = subprocess.run(
            ["git", "ralph", *args], cwd=home, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
        assert "Traceback" not in done.stderr

"""Shell completion: the words that bash and zsh offer are those of the click tree."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gitralph.cli.main import COMMANDS
from gitralph.hook import agents
from tests.support import source, tree

BASH = source.ROOT / "contrib/completion/git-ralph.bash"
ZSH = source.ROOT / "contrib/completion/_git-ralph"
GIT_COMPLETION = Path("/usr/share/bash-completion/completions/git")
SUBCOMMANDS = {"start", "list", "show", "rename", "end", "resume", "use"}

_ASK = """
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_git_ralph
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(*words: str, cwd: Path = source.ROOT) -> list[str]:
    """What bash offers for the last of ``words``."""
    bash = shutil.which("bash")
    assert bash, "bash is needed"
    ask = [bash, "--norc", "-c", _ASK, "bash", str(BASH), *words]
    done = subprocess.run(ask, cwd=cwd, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [word.strip() for word in done.stdout.splitlines() if word.strip()]


def test_every_command_is_offered() -> None:
    assert set(offered("git", "ralph", "")) == {*COMMANDS, "--version", "-C"}


@pytest.mark.parametrize("typed", [t for t in tree.commands() if t.words], ids=lambda t: " ".join(t.words))
def test_every_option_is_offered(typed: tree.Typed) -> None:
    found = {word.rstrip("=") for word in offered("git", "ralph", *typed.words, "-")}
    assert {word for word in found if word.startswith("--")} == {
        option for option in typed.options if option.startswith("--")
    }
    assert found <= typed.options


def test_options_that_take_a_value_say_so() -> None:
    found = offered("git", "ralph", "commit", "--")
    assert "--session=" in found
    assert "--dry-run" in found


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("git", "ralph", "comm"), ["commit"]),
        (("git", "-C", "x", "ralph", "ls"), ["ls-files"]),
        (("git", "ralph", "-C", "x", "tr"), ["track"]),
        (("git-ralph", "uni"), ["uninstall"]),
        (("git", "ralph", "session", "s"), ["start", "show"]),
        (("git", "ralph", "session", "start", "--env", "="), ["sh", "json"]),
        (("git", "ralph", "session", "start", "--env", "=", "j"), ["json"]),
        (("git", "ralph", "help", "se"), ["session", "sessions"]),
        (("git", "ralph", "commit", "--no"), ["--no-verify", "--no-prove"]),
    ],
)
def test_words(words: tuple[str, ...], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_agents_are_those_that_have_an_adapter() -> None:
    assert sorted(offered("git", "ralph", "hook", "")) == sorted(agents.ADAPTERS)
    listed = re.findall(r"\(([a-z -]+ generic)\)", ZSH.read_text(encoding="utf-8"))
    assert {tuple(sorted(names.split())) for names in listed} == {tuple(sorted(agents.ADAPTERS))}


def test_sessions_are_those_of_the_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    state = tmp_path / ".git/ralph-sessions"
    state.mkdir()
    (state / "names").mkdir()
    for name in ("claude-1", "pi-1", "claude.last", "parser"):
        (state / "names" / name).write_text("an-id")
    below = tmp_path / "folder"
    below.mkdir()
    assert offered("git", "ralph", "commit", "--session", "", cwd=below) == ["claude-1", "parser", "pi-1"]
    assert offered("git", "ralph", "status", "--session", "=", "pi", cwd=below) == ["pi-1"]
    assert offered("git", "ralph", "session", "end", "c", cwd=below) == ["claude-1"]


@pytest.mark.skipif(not GIT_COMPLETION.exists(), reason="git's own completion is not installed")
def test_git_finds_it(tmp_path: Path) -> None:
    ask = f"""
    . "{GIT_COMPLETION}"; . "{BASH}"
    COMP_LINE='git ralph ses'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=(git ralph ses); COMP_CWORD=2
    __git_wrap__git_main
    printf '%s' "${{COMPREPLY[*]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "session"


def test_zsh_knows_every_command_and_option() -> None:
    text = ZSH.read_text(encoding="utf-8")
    described = set(re.findall(r"^    ['\"]([a-z-]+):", text, re.M))
    assert described == set(COMMANDS)
    known = set(re.findall(r"(?<![\w-])(--?[a-zA-Z][\w-]*)", text))
    real = {option for typed in tree.commands() for option in typed.options}
    assert real <= known
    assert {word for word in known if word.startswith("--")} <= real | {"--git-common-dir"}


def test_zsh_can_read_it() -> None:
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("zsh is not installed")
    done = subprocess.run([zsh, "-n", str(ZSH)], capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""

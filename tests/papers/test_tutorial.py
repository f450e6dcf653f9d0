"""``gitralph-tutorial(7)`` is typed command by command, and each answers as the page says."""

import difflib
import re
import subprocess
from pathlib import Path

from tests.papers.test_readme import _path_with_git_ralph
from tests.support import source

PAGE = source.ROOT / "man/gitralph-tutorial.7"
_MARK = "==== next command ===="


def _blocks() -> list[str]:
    return re.findall(r"^\.EX\n(.*?)^\.EE$", PAGE.read_text(encoding="utf-8"), re.S | re.M)


def _lines() -> list[str]:
    """The page's examples as a terminal shows them."""
    return [line.replace("\\-", "-").replace("\\e", "\\") for line in "".join(_blocks()).splitlines()]


def _normal(lines: list[str]) -> list[str]:
    text = re.sub(r"\b[0-9a-f]{7,40}\b", "<oid>", "\n".join(lines))
    text = re.sub(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\dZ?)?", "<time>", text)
    found = [line.rstrip() for line in text.splitlines()]
    # what happened in one second stands in the log in either order
    at = next(n for n, line in enumerate(found) if line.startswith("$ git ralph log"))
    return [*found[: at + 1], *sorted(found[at + 1 :])]


def test_every_command_of_the_tutorial_answers_as_the_page_says(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    _path_with_git_ralph(tmp_path / "bin", environ)
    environ = {name: value for name, value in environ.items() if not name.endswith("_DATE")}
    environ |= {f"GIT_{who}_NAME": "You" for who in ("AUTHOR", "COMMITTER")}
    told = _lines()
    commands = [line[2:] for line in told if line.startswith("$ ")]
    assert len(commands) > 20
    # one shell for all, as a person has: functions and the folder stay
    script = "exec 2>&1\n" + "".join(f"{one}\necho '{_MARK}'\n" for one in commands)
    done = subprocess.run(
        ["/bin/sh", "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    answers = done.stdout.split(f"{_MARK}\n")
    assert answers.pop() == ""
    said = list[str]()
    for command, answer in zip(commands, answers, strict=True):
        said += [f"$ {command}", *answer.splitlines()]
    differ = difflib.unified_diff(_normal(told), _normal(said), "page", "terminal", lineterm="", n=0)
    text = "\n".join(differ)
    assert not text, text

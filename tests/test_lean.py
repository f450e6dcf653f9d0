"""What is typed most is read without click, and never otherwise than click reads it."""

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitralph.cli import lean, main
from gitralph.cli.declare import Command, Group

NOISE = [
    "-",
    "--",
    "",
    "a",
    "b c",
    "-x",
    "--nosuch",
    "--json=1",
    "-qm",
    "-mx",
    "-h",
    "--help",
    "=",
    "--session=",
    "3",
    "0",
    "+3",
    "-1",
]


def _commands() -> dict[str, Command]:
    found: dict[str, Command] = {}
    for name in sorted(lean.COMMANDS):
        module = __import__(f"gitralph.cli.{main.COMMANDS[name][0]}", fromlist=["x"])
        one = getattr(module, name.replace("-", "_"))
        inner = one.commands if isinstance(one, Group) else {"": one}
        found |= {f"{name} {sub}".strip(): command for sub, command in inner.items()}
    return found


COMMANDS = _commands()


def _by_click(command: Command, words: list[str]) -> dict[str, object] | None:
    try:
        return command.for_click().make_context(command.name, list(words)).params
    except (click.UsageError, click.exceptions.Exit):
        return None


@pytest.mark.parametrize("name", COMMANDS)
@settings(max_examples=60)
@given(data=st.data())
def test_a_line_is_read_as_click_reads_it_or_left_to_click(name: str, data: st.DataObject) -> None:
    command = COMMANDS[name]
    spelt = [option for word in command.words for option in word.typed]
    words = data.draw(st.lists(st.sampled_from([*spelt, *spelt, *(f"{one}=v" for one in spelt), *NOISE])))
    found = command.read(words)
    assert found is None or found == _by_click(command, words)


@pytest.mark.parametrize(
    "line",
    [
        "commit -m x",
        "commit --session s1 -m x -m y",
        "commit -q --session=s1 --trailer A:b -- a b",
        "commit --dry-run --json",
        "status",
        "status --json",
        "status --porcelain -z",
        "status sub",
        "diff --stat a",
        "why a:3",
        "why --json a",
        "ls-files --session s1 -z",
        "session list --json",
        "session show s1",
        "report -o page.html",
        "track --session s1 a",
        "fleet claim bd-1 --json",
        "fleet sync --beat",
        "undo --session s1 --last 3 -- a",
        "undo --redo",
        "uncommit --json",
    ],
)
def test_common_lines_are_not_left_to_click(line: str) -> None:
    words = line.split()
    found = lean.find(words[0], words[1:])
    assert found is not None
    assert found[0].read(found[1]) == _by_click(found[0], found[1]) != None  # noqa: E711


def test_its_commands_are_in_the_table_under_their_own_names() -> None:
    assert {name: main.COMMANDS[name][0] for name in lean.COMMANDS} == {
        name: name.replace("-", "_") for name in lean.COMMANDS
    }

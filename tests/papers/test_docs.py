"""The papers against the code: every command and option has its page, and no page tells of more."""

import json
import os
import pty
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

import gitralph
from gitralph import __version__
from gitralph.base import layout
from gitralph.base.layout import Layout
from gitralph.cli.main import COMMANDS
from gitralph.decide import decision
from gitralph.hook import agents, journal, sessionfile
from gitralph.setup import manual
from tests.support import runner, source, tree

MAN = source.ROOT / "man"
PAGES = sorted(MAN.glob("*.[1-8]"))
GUIDES = {
    "gitralph-tutorial.7",
    "gitralph-fleet.7",
    "gitralph-isolation.7",
    "gitralph-sessions.5",
    "gitralph-hooks.7",
    "gitralph-policy.7",
}
ORDER = [
    "NAME",
    "SYNOPSIS",
    "DESCRIPTION",
    "COMMANDS",
    "OPTIONS",
    "ENVIRONMENT",
    "CONFIGURATION",
    "EXIT STATUS",
    "FILES",
    "EXAMPLES",
    "GLOSSARY",
    "SECURITY",
    "BUGS",
    "SEE ALSO",
    "GITRALPH",
]
TYPED = list(tree.commands())

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))


def _plain(text: str) -> str:
    r"""Source without fonts and escapes: ``\fB\-\-json\fR`` is ``--json``."""
    text = re.sub(r"\\f[A-Z]|\\f\([A-Z]{2}", "", text)
    return text.replace("\\-", "-").replace("\\e", "\\").replace("\\(dq", '"')


def _sections(page: Path) -> dict[str, str]:
    parts = re.split(r"^\.SH (.*)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {name.strip('"'): _plain(body) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _option_tags(page: Path) -> set[str]:
    """The options that a page's OPTIONS section documents: the line after each ``.TP``."""
    tags = re.findall(r"^\.TP\n(.*)$", _sections(page).get("OPTIONS", ""), re.M)
    return {word for tag in tags for word in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", tag)}


def test_every_command_has_a_page_and_every_page_a_command() -> None:
    expected = {"git-ralph.1"} | {f"git-ralph-{name}.1" for name in COMMANDS} | GUIDES
    assert {page.name for page in PAGES} == expected


@pytest.mark.parametrize("page", ["git-ralph", *(f"git-ralph-{name}" for name in COMMANDS)])
def test_every_option_is_in_its_page_and_no_other(page: str) -> None:
    real = {option for typed in TYPED if typed.page == page for option in typed.options}
    real |= {"-h", "--help"} if page == "git-ralph" else set()
    assert _option_tags(MAN / f"{page}.1") == real


def test_every_command_is_in_the_list_of_commands() -> None:
    listed = re.findall(r"^\.BR git-ralph-([a-z-]+) \(1\)$", _sections(MAN / "git-ralph.1")["COMMANDS"], re.M)
    assert sorted(listed) == sorted(COMMANDS)


def test_every_reason_is_explained() -> None:
    told = _sections(MAN / "git-ralph-commit.1")["DESCRIPTION"]
    reasons = {
        value for name, value in vars(decision).items() if name.isupper() and isinstance(value, str)
    } - {decision.UNRECORDED, decision.EDITS, decision.WHOLE_FILE, decision.WAITING}
    assert [reason for reason in sorted(reasons) if f".B {reason}\n" not in told] == []


def test_every_agent_is_named() -> None:
    told = _sections(MAN / "git-ralph-hook.1")["DESCRIPTION"]
    assert [name for name in agents.ADAPTERS if not re.search(rf"^\.BR? {name}\b", told, re.M)] == []


def test_every_file_of_the_state_folder_is_explained() -> None:
    told = _sections(MAN / "gitralph-sessions.5")["FILES"]
    named = re.findall(r"^(<?[\w.<>/-]+)  ", layout.README, re.M)
    assert len(named) >= 10
    assert [name for name in named if not re.search(rf"^\.I {re.escape(name)}", told, re.M)] == []


def test_every_field_of_a_record_is_explained() -> None:
    told = set(re.findall(r"[\w-]+", _sections(MAN / "gitralph-sessions.5")["FILES"]))
    place = Layout("/nowhere", layout.MAIN)
    # those that are written only where there is something to say, too
    step = journal.Record(
        "s",
        "edit",
        None,
        None,
        journal.NONE,
        hunks=[journal.TextHunk(0, 0, [b"x"])],
        mode=("100644", None),
        agent_id="a",
        tool="Edit",
        call="c",
        head="h",
        other="o",
        ts="t",
        seen=True,
        mtime=1,
        units=("1.0",),
        model="m",
    )
    fields = {*sessionfile.new_record(place, "s"), *json.loads(journal.encode(step, b"a"))}
    assert fields - told == set()


def test_settings_are_those_the_code_reads() -> None:
    text = "".join(module.path.read_text() for module in source.modules())
    read = set(re.findall(r'"(ralph\.[a-z]+)"', text))
    told = _sections(MAN / "git-ralph.1")["CONFIGURATION"]
    assert {name.lower() for name in re.findall(r"^\.B (ralph\.\w+)$", told, re.M)} == read


@each_page
def test_page_names_itself_in_the_head_and_in_name(page: Path) -> None:
    name, section = page.name.rsplit(".", 1)
    head = page.read_text(encoding="utf-8").splitlines()[0]
    assert re.fullmatch(
        rf"\.TH {re.escape(name.upper()).replace('-', '-')} {section} \d{{4}}-\d\d-\d\d "
        rf'"gitralph {re.escape(__version__)}" "Git Manual"',
        _plain(head),
    )
    assert re.fullmatch(rf"{name} - [a-z].*[^.]\n", _sections(page)["NAME"].lstrip("\n"))


@each_page
def test_sections_stand_in_order(page: Path) -> None:
    names = list(_sections(page))
    assert names == [name for name in ORDER if name in names]
    assert {"NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"} <= set(names)
    assert names[-1] == "GITRALPH"


@each_page
def test_references_lead_somewhere(page: Path) -> None:
    known = {path.name for path in PAGES}
    found = re.findall(r"^\.BR ((?:git-ralph|gitralph)[a-z-]*) \((\d)\)", _plain(page.read_text()), re.M)
    assert [f"{name}.{section}" for name, section in found if f"{name}.{section}" not in known] == []


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        warnings.warn(f"SKIPPED: {name} is not installed", pytest.PytestWarning, stacklevel=2)
        pytest.skip(f"{name} is not installed")
    return found


@pytest.mark.filterwarnings("default::pytest.PytestWarning")
def test_mandoc_finds_no_fault() -> None:
    words = [_tool("mandoc"), "-T", "lint", "-W", "warning", *map(str, PAGES)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""


@pytest.mark.filterwarnings("default::pytest.PytestWarning")
def test_man_warns_of_nothing() -> None:
    words = [_tool("man"), "--warnings", "-l", *map(str, PAGES)]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.filterwarnings("default::pytest.PytestWarning")
def test_lexgrog_can_read_the_names() -> None:
    done = subprocess.run([_tool("lexgrog"), *map(str, PAGES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == len(PAGES)


def test_every_command_says_what_it_does() -> None:
    for typed in TYPED[1:]:
        done = runner.in_process([*typed.words, "-h"], cwd=str(source.ROOT), env={})
        assert done.code == 0, typed.words
        assert done.err == b""
        assert "[OPTIONS]" not in done.text, typed.words  # git's form of a usage line, not click's
        for option in typed.options:
            assert option in done.text, (typed.words, option)


@pytest.mark.parametrize(
    ("topic", "page"),
    [
        (None, "git-ralph.1"),
        ("commit", "git-ralph-commit.1"),
        ("ls-files", "git-ralph-ls-files.1"),
        ("sessions", "gitralph-sessions.5"),
        ("hooks", "gitralph-hooks.7"),
        ("git-ralph-gc", "git-ralph-gc.1"),
    ],
)
def test_help_finds_its_page(topic: str | None, page: str) -> None:
    assert Path(manual.find(topic)).name == page


@pytest.mark.parametrize("path", ["", None])
def test_help_prints_the_page_and_its_source_where_nothing_can_format_it(
    path: str | None, environ: dict[str, str], tmp_path: Path
) -> None:
    if path is not None:
        environ["PATH"] = path
    done = runner.in_process(["help", "gc"], cwd=str(tmp_path), env=environ)
    assert done.code == 0
    assert "remove state that nothing needs any more" in done.text
    assert "\x1b" not in done.text
    assert "\b" not in done.text


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_help_opens_man_on_a_terminal(environ: dict[str, str], tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\ncat >/dev/null; echo shown >{tmp_path}/shown\n")
    pager.chmod(0o755)
    words = [*runner.COMMAND, "help", "gc"]
    env = {**environ, "MANPAGER": str(pager)}
    done = subprocess.run(words, env=env, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    os.close(ours)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "shown").read_text() == "shown\n"


@pytest.mark.parametrize("topic", ["nothing", "../man/git-ralph", "-C", "commit.1"])
def test_help_knows_no_other_topic(topic: str, environ: dict[str, str], tmp_path: Path) -> None:
    done = runner.in_process(["help", "--", topic], cwd=str(tmp_path), env=environ)
    assert (done.code, done.out) == (129, b"")


def test_the_changelog_names_every_command() -> None:
    text = (source.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`{name}`" not in text and f"git ralph {name}" not in text] == []


def test_changelog_is_kept() -> None:
    heads = re.findall(r"^## (.*)$", (source.ROOT / "CHANGELOG.md").read_text(), re.M)
    assert [head.split(" - ")[0] for head in heads] == [f"[{gitralph.__version__}]", "[0.1.0]"]


def test_papers_promise_no_more_than_is_true() -> None:
    for paper in [*PAGES, source.ROOT / "README.md"]:
        assert "never wrong" not in _plain(paper.read_text(encoding="utf-8")).lower(), paper.name


def test_readme_names_the_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (source.ROOT / "Makefile").read_text(), re.M))
    for paper in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", (source.ROOT / paper).read_text(), re.M))
        assert named <= targets
    assert {"demo", "test", "lint", "bench", "real-agents", "full"} <= targets

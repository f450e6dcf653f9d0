"""``git ralph install --instructions``: a marked block for agents, put in and taken out to the byte."""

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitralph.setup.install import instructions
from tests.support.repo import Repo

FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
TEXTS = {
    "absent": None,
    "empty": b"",
    "plain": b"# Rules\n\n- be kind\n",
    "open": b"no newline at the end",
    "blank": b"text\n\n\n",
    "crlf": b"# Rules\r\n\r\nmore\r\n",
    "crlf open": b"a\r\nb",
    "bom": b"\xef\xbb\xbf# Rules\n",
    "not utf-8": b"\xff\xfe\n",
    "newlines": b"\n\n",
}


def _tree(root: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in root.iterdir() if p.is_file()}


@pytest.mark.parametrize("kind", TEXTS)
def test_it_tells_how_to_commit_and_every_byte_comes_back(repo: Repo, kind: str) -> None:
    """In all three files; taken out they are what they were, a file that was made for it is gone."""
    data = TEXTS[kind]
    for name in FILES:
        if data is not None:
            repo.write(name, data)
    before = _tree(repo.root)
    said = repo.ralph("install", "--instructions").text
    for name in FILES:
        text = repo.read(name) or b""
        assert b"git ralph commit -m" in text
        assert text.count(b"gitralph: begin") == text.count(b"gitralph: end") == 1
        assert text.startswith(data or b"")
        assert f"instructions: installed in '{repo.root / name}'" in said
        assert (b"\r\n" in text) == (data is not None and b"\r\n" in data)
    assert "already installed" in repo.ralph("install", "--instructions").text
    repo.ralph("uninstall", "--instructions")
    assert _tree(repo.root) == before
    assert "not installed" in repo.ralph("uninstall", "--instructions").text


def test_it_registers_no_hook_and_plain_uninstall_takes_it_out(repo: Repo) -> None:
    repo.write("CLAUDE.md", "mine\n")
    repo.ralph("install", "--instructions")
    assert not (Path(repo.env["HOME"]) / ".claude").exists()
    assert "instructions: removed from" in repo.ralph("uninstall").text
    assert repo.read("CLAUDE.md") == b"mine\n"
    assert repo.read("AGENTS.md") is None


@pytest.mark.parametrize(
    ("agents", "wanted"),
    [(("claude-code",), {"CLAUDE.md"}), (("codex", "pi"), {"AGENTS.md"}), (("gemini",), {"GEMINI.md"})],
)
def test_an_agent_that_is_named_is_told_where_it_reads(
    repo: Repo, agents: tuple[str, ...], wanted: set[str]
) -> None:
    chosen = [word for name in agents for word in ("--agent", name)]
    repo.ralph("install", "--instructions", *chosen)
    assert {name for name in FILES if repo.read(name) is not None} == wanted


def test_the_user_s_own_files_only_of_agents_that_are_there(repo: Repo) -> None:
    home = Path(repo.env["HOME"])
    (home / ".claude").mkdir()
    repo.ralph("install", "--instructions", "--user")
    assert b"git ralph commit" in (home / ".claude/CLAUDE.md").read_bytes()
    assert [name for name in FILES if repo.read(name) is not None] == []
    assert not (home / ".gemini").exists()
    repo.ralph("uninstall", "--instructions", "--user")
    assert not (home / ".claude/CLAUDE.md").exists()


def test_what_was_written_around_it_since_is_kept(repo: Repo) -> None:
    repo.write("CLAUDE.md", "above\n")
    repo.ralph("install", "--instructions")
    text = (repo.read("CLAUDE.md") or b"").decode()
    repo.write("CLAUDE.md", "new top\n" + text + "below\n")
    repo.ralph("uninstall", "--instructions")
    assert repo.read("CLAUDE.md") == b"new top\nabove\nbelow\n"


def test_an_older_block_is_brought_up_to_date_where_it_stands(repo: Repo) -> None:
    repo.ralph("install", "--instructions")
    text = (repo.read("AGENTS.md") or b"").replace(b"line by line", b"as it was said once")
    repo.write("AGENTS.md", text + b"below\n")
    assert "not as this version says it: 'AGENTS.md'" not in _row(repo)["detail"].replace("CLAUDE.md", "")
    assert not _row(repo)["ok"]
    assert "brought up to date" in repo.ralph("install", "--instructions").text
    assert (repo.read("AGENTS.md") or b"").endswith(b"end -->\nbelow\n")
    assert b"line by line" in (repo.read("AGENTS.md") or b"")
    assert _row(repo)["ok"]


def _row(repo: Repo) -> dict[str, str]:
    checks = repo.run("doctor", "--json").json()["checks"]
    found: dict[str, str] = next(one for one in checks if one["check"] == "instructions")
    return found


def test_a_link_is_written_through_once(repo: Repo) -> None:
    """CLAUDE.md is often a link to AGENTS.md: one block in one file."""
    repo.write("AGENTS.md", "rules\n")
    os.symlink("AGENTS.md", repo.root / "CLAUDE.md")
    repo.ralph("install", "--instructions")
    assert (repo.read("AGENTS.md") or b"").count(b"gitralph: begin") == 1
    assert (repo.root / "CLAUDE.md").is_symlink()
    repo.ralph("uninstall", "--instructions")
    assert repo.read("AGENTS.md") == b"rules\n"
    assert (repo.root / "CLAUDE.md").is_symlink()


def test_what_cannot_be_read_is_refused_and_nothing_is_written(repo: Repo) -> None:
    os.mkfifo(repo.root / "GEMINI.md")
    before = sorted(path.name for path in repo.root.iterdir())
    repo.ralph("install", "--instructions", code=4)
    assert sorted(path.name for path in repo.root.iterdir()) == before


@example(b"\r", b"")
@example(b"x\r", b"y")
@given(st.binary(max_size=40), st.binary(max_size=20))
def test_any_bytes_come_back(data: bytes, after: bytes) -> None:
    """Also with something written below; where the last line was open it is ended by a newline."""
    for text in (data, data.replace(b"\xff", b"\n"), data + b"\r\n"):
        made = instructions.added(text)
        assert instructions.removed(made) == text
        assert instructions.added(made) == made
        if after and not after.startswith(b"\n"):
            left = instructions.removed(made + after)
            assert left is not None
            assert left.startswith(text)
            assert left.endswith(after)

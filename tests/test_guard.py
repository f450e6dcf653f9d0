"""The guard in git's own pre-commit hook: what it judges, what it calls, what it leaves behind."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.home import with_tool_on_path
from tests.support.repo import Repo

LINES = [f"line {number}\n" for number in range(1, 21)]
HUSKY = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'
FORMS: dict[str, tuple[bytes, int]] = {
    "sh": (b"#!/bin/sh\nset -e\necho theirs >>ran\n", 0o755),
    "bash": (b"#!/usr/bin/env bash\necho theirs >>ran\n", 0o775),
    "no newline at the end": (b"#!/bin/sh\necho theirs >>ran", 0o700),
    "another interpreter": (b"#!/usr/bin/env python3\nopen('ran', 'a').write('theirs\\n')\n", 0o755),
    "not executable": (b"#!/bin/sh\necho theirs >>ran\n", 0o644),
}


def changed(*numbers: int, word: str = "new") -> str:
    """The file with some lines changed."""
    return "".join(f"{word} {n}\n" if n in numbers else f"line {n}\n" for n in range(1, 21))


@pytest.fixture
def guarded(empty_repo: Repo, environ: dict[str, str]) -> Repo:
    """A repository with the guard, and a live session that has line 5 of ``f`` and all of ``new`` pending."""
    repo = empty_repo
    repo.write("f", "".join(LINES))
    repo.write("g", "g\n")
    repo.commit_all("base")
    repo.ralph("install", "--guard")
    repo.start("S1")
    repo.edit("S1", "f", changed(5))
    return repo


def commit(
    repo: Repo, environ: dict[str, str], *args: str, code: int = 0, env: dict[str, str] | None = None
) -> str:
    """Plain ``git commit`` as a user with git-ralph on PATH runs it; returns what was said."""
    full = {**repo._environment(None), "PATH": with_tool_on_path(environ)["PATH"], **(env or {})}
    done = subprocess.run(
        ["git", "commit", "-q", "-m", "x", *args], cwd=repo.root, env=full, capture_output=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    return done.stderr.decode()


TAKES = "warning: 'f': this commit takes 1 line that live session 'S1' did not commit yet"


@pytest.mark.parametrize("args", [("-a",), ("f",), ("-i", "f")])
def test_it_judges_the_index_that_git_is_about_to_commit(
    guarded: Repo, environ: dict[str, str], args: tuple[str, ...]
) -> None:
    assert TAKES in commit(guarded, environ, *args)
    assert guarded.changes("HEAD") == {"f": "M"}


def test_it_refuses_where_it_is_told_to_and_there_is_a_way_round(
    guarded: Repo, environ: dict[str, str]
) -> None:
    head, staged = guarded.head(), guarded.staged()
    guarded.git("config", "ralph.guard", "refuse")
    said = commit(guarded, environ, "-a", code=1)
    assert TAKES.replace("warning", "error") in said
    assert "git commit --no-verify" in said
    assert (guarded.head(), guarded.staged()) == (head, staged)
    assert commit(guarded, environ, "-a", env={"RALPH_GUARD": "0"}) == ""
    guarded.git("reset", "-q", "--soft", "HEAD~")
    assert commit(guarded, environ, "--no-verify") == ""


def test_a_launchers_session_without_a_record_is_judged_like_nobody(
    guarded: Repo, environ: dict[str, str]
) -> None:
    assert TAKES in commit(guarded, environ, "-a", env={"RALPH_SESSION": "not-yet"})


@pytest.mark.parametrize("mode", ["warn", "refuse"])
def test_lines_of_nobody_s_in_the_same_file_pass_in_silence(
    guarded: Repo, environ: dict[str, str], mode: str
) -> None:
    guarded.git("config", "ralph.guard", mode)
    oid = guarded.git("hash-object", "-w", "--stdin", stdin=changed(15, word="mine").encode())
    guarded.git("update-index", "--cacheinfo", f"100644,{oid},f")
    assert commit(guarded, environ) == ""
    guarded.write("g", "mine\n")
    assert commit(guarded, environ, "g") == ""


def test_it_counts_lines_and_knows_creations_and_deletions(guarded: Repo, environ: dict[str, str]) -> None:
    guarded.edit("S1", "made", "1\n2\n3\n")
    guarded.delete("S1", "g")
    guarded.git("add", "made")
    said = commit(guarded, environ)
    assert "'made': this commit takes 3 lines that live session 'S1' did not commit" in said
    assert "'g': this commit takes what live session" in commit(guarded, environ, "g")


@pytest.mark.parametrize("how", ["own", "ended", "off", "no git-ralph"])
def test_it_is_silent(guarded: Repo, environ: dict[str, str], how: str, tmp_path: Path) -> None:
    env = {}
    if how == "own":
        env["RALPH_SESSION"] = "S1"
    elif how == "ended":
        guarded.ralph("session", "end", "S1")
    elif how == "off":
        guarded.git("config", "ralph.guard", "off")
    else:
        env["PATH"] = "/usr/bin:/bin"
    assert commit(guarded, environ, "-a", env=env) == ""


def test_without_any_state_it_is_silent(empty_repo: Repo, environ: dict[str, str]) -> None:
    empty_repo.ralph("install", "--guard")
    empty_repo.write("a", "a\n")
    empty_repo.git("add", "a")
    assert commit(empty_repo, environ) == ""
    assert not empty_repo.state.exists()


def test_a_broken_tool_is_not_in_the_way(guarded: Repo, environ: dict[str, str]) -> None:
    guarded.git("config", "ralph.guard", "nonsense")
    assert "bad value 'nonsense'" in commit(guarded, environ, "-a")


def test_git_ralph_commit_never_meets_it(guarded: Repo, environ: dict[str, str]) -> None:
    guarded.git("config", "ralph.guard", "refuse")
    guarded.edit("S2", "g", "of two\n")
    hook = guarded.common / "hooks/pre-commit"
    path = with_tool_on_path(environ)["PATH"]
    assert guarded.ralph("commit", "--session", "S1", "-m", "x", env={"PATH": path}).said == ""
    hook.unlink()
    hook.write_text("#!/bin/sh\ntrue\n")
    hook.chmod(0o755)
    guarded.ralph("install", "--guard")
    assert guarded.ralph("commit", "--session", "S2", "-m", "x", env={"PATH": path}).said == ""
    assert guarded.changes("HEAD") == {"g": "M"}


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes(),
        )
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", ["hooks", "core.hooksPath"])
def test_it_chains_what_is_there_and_every_byte_comes_back(
    guarded: Repo, environ: dict[str, str], form: str, where: str
) -> None:
    guarded.ralph("uninstall", "--guard")
    folder = guarded.common / "hooks"
    if where != "hooks":
        folder = guarded.root / ".hooks"
        folder.mkdir()
        guarded.git("config", "core.hooksPath", ".hooks")
    text, mode = FORMS[form]
    (folder / "pre-commit").write_bytes(text)
    (folder / "pre-commit").chmod(mode)
    before = snapshot(folder)

    guarded.ralph("install", "--guard")
    assert "already installed" in guarded.ralph("install", "--guard").text
    assert TAKES in commit(guarded, environ, "-a")
    ran = guarded.read("ran")
    assert ran == (None if mode == 0o644 else b"theirs\n")
    guarded.ralph("uninstall", "--guard")
    assert snapshot(folder) == before
    assert "not installed" in guarded.ralph("uninstall", "--guard").text


def test_a_symbolic_link_stays_one_and_its_target_is_not_touched(
    guarded: Repo, environ: dict[str, str]
) -> None:
    guarded.ralph("uninstall", "--guard")
    guarded.write("tools/check", "#!/bin/sh\nexit 3\n", 0o755)
    (guarded.common / "hooks").mkdir(exist_ok=True)
    hook = guarded.common / "hooks/pre-commit"
    hook.symlink_to("../../tools/check")
    before = snapshot(hook.parent)
    guarded.ralph("install", "--guard")
    assert guarded.read("tools/check") == b"#!/bin/sh\nexit 3\n"
    commit(guarded, environ, "-a", code=1)
    guarded.ralph("uninstall", "--guard")
    assert snapshot(hook.parent) == before


def test_husky_s_hook_still_finds_its_script(guarded: Repo, environ: dict[str, str]) -> None:
    """It goes by its own name: moved aside it would look for a script that is not there."""
    guarded.ralph("uninstall", "--guard")
    guarded.write(".husky/_/pre-commit", HUSKY, 0o755)
    guarded.write(".husky/_/h", 'n=$(basename "$0")\nsh -e "$(dirname "$(dirname "$0")")/$n" "$@"\n')
    guarded.write(".husky/pre-commit", "echo theirs >>ran\n")
    guarded.git("config", "core.hooksPath", ".husky/_")
    guarded.ralph("install", "--guard")
    assert TAKES in commit(guarded, environ, "-a")
    assert guarded.read("ran") == b"theirs\n"
    guarded.ralph("uninstall", "--guard")
    assert guarded.read(".husky/_/pre-commit") == HUSKY.encode()


def test_doctor_says_when_git_does_not_run_it_any_more(guarded: Repo) -> None:
    def row() -> dict[str, object]:
        checks = guarded.ralph("doctor", "--json", code=1).json()["checks"]
        found: dict[str, object] = next(one for one in checks if one["check"] == "guard")
        return found

    assert row()["ok"]
    guarded.git("config", "core.hooksPath", ".hooks")
    assert (row()["ok"], row()["fix"]) == (False, "git ralph install --guard")


def test_what_was_changed_meanwhile_is_kept(guarded: Repo) -> None:
    guarded.ralph("uninstall", "--guard")
    hook = guarded.common / "hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntrue\n")
    hook.chmod(0o755)
    guarded.ralph("install", "--guard")
    hook.write_text(hook.read_text() + "echo more\n")
    guarded.ralph("uninstall", "--guard")
    assert hook.read_text() == "#!/bin/sh\ntrue\necho more\n"


def test_a_folder_that_it_made_goes_with_it(empty_repo: Repo) -> None:
    folder = empty_repo.common / "hooks"
    if folder.exists():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    empty_repo.ralph("install", "--guard")
    assert (folder / "pre-commit").stat().st_mode & 0o777 == 0o755
    empty_repo.ralph("uninstall", "--guard")
    assert not folder.exists()


def test_a_linked_worktree_has_it_too(guarded: Repo, environ: dict[str, str]) -> None:
    other = guarded.worktree("other")
    other.start("S2")
    other.edit("S2", "g", "two\n")
    assert "live session 'S2' did not commit yet" in commit(other, environ, "-a")

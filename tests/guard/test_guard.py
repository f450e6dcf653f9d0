"""The guard in git's own pre-commit hook: what it judges, what it calls, what it leaves behind."""

import errno
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitralph.decide import pending_paths
from gitralph.guard import question
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo
from tests.support.size import FULL

pytestmark = [pytest.mark.wired, pytest.mark.usefixtures("probes")]

LINES = [f"line {number}\n" for number in range(1, 21)]
HUSKY = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'
FORMS: dict[str, tuple[bytes, int]] = {
    "sh": (b"#!/bin/sh\nset -e\necho theirs >>ran\n", 0o755),
    "bash": (b"#!/usr/bin/env bash\necho theirs >>ran\n", 0o775),
    "no newline at the end": (b"#!/bin/sh\necho theirs >>ran", 0o700),
    "another interpreter": (b"#!/usr/bin/env python3\nopen('ran', 'a').write('theirs\\n')\n", 0o755),
    "not executable": (b"#!/bin/sh\necho theirs >>ran\n", 0o644),
}

PLACES = ("hooks", "core.hooksPath")


def _pairs(first: int) -> list[tuple[str, str]]:
    """Places by turns, so that 0 and 1 together are every pair; with RALPH_FULL=1 each is."""
    turns = enumerate(FORMS, first)
    return [(form, place) for n, form in turns for place in PLACES if FULL or place == PLACES[n % 2]]


def changed(*numbers: int, word: str = "new") -> str:
    """The file with some lines changed."""
    return "".join(f"{word} {n}\n" if n in numbers else f"line {n}\n" for n in range(1, 21))


@pytest.fixture
def guarded(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """A repository with the guard, and a live session that has line 5 of ``f`` pending."""

    def make(repo: Repo) -> None:
        repo.write("f", "".join(LINES))
        repo.write("g", "g\n")
        repo.commit_all("base")
        repo.ralph("install", "--guard")
        repo.start("S1")
        repo.edit("S1", "f", changed(5))

    return Repo.once("guarded", tmp_path / "repo", environ, make)


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


TAKES = "warning: this commit takes lines that live sessions did not commit yet: 'session-1': 1 line in 'f'"
AGENT = "warning: 'f': this commit takes 1 line that live session 'session-1' did not commit yet"


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
    guarded.git("config", "ralph.guardPerson", "refuse")
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
    assert AGENT in commit(guarded, environ, "-a", env={"RALPH_SESSION": "not-yet"})


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
    assert said.startswith(TAKES.replace("1 line in 'f'", "3 lines in 'made'"))
    assert "'session-1': what it has in 'g'" in commit(guarded, environ, "g")


def test_it_finds_lines_in_a_file_that_the_commit_moves(guarded: Repo, environ: dict[str, str]) -> None:
    guarded.git("mv", "f", "moved")
    guarded.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    guarded.git("add", "moved")
    assert TAKES.replace("'f'", "'moved'") in commit(guarded, environ)
    guarded.edit("S1", "g", "g, by the session\n")
    guarded.commit("S1", checked=False)
    guarded.git("mv", "g", "moved-too")
    assert commit(guarded, environ) == ""


def test_it_finds_lines_of_a_file_that_an_earlier_commit_moved(
    guarded: Repo, environ: dict[str, str]
) -> None:
    """What that commit had is HEAD's, also where an equal line comes into another file."""
    guarded.edit("S1", "g", "by the session, committed\n")
    guarded.commit("S1", checked=False)
    guarded.edit("S1", "f", changed(5, 8))
    guarded.git("mv", "f", "moved")
    guarded.git("rm", "-q", "g")
    commit(guarded, environ)
    guarded.write("more", "by the session, committed\n")
    guarded.git("add", "-A")
    said = commit(guarded, environ).partition("\n")[0]
    assert said == TAKES.replace("'f'", "'moved'")


def test_a_line_like_one_of_a_file_that_the_commit_deletes_passes_in_a_file_that_was_there(
    guarded: Repo, environ: dict[str, str]
) -> None:
    """Only a new file may be the deleted one under another name."""
    guarded.git("rm", "-q", "--cached", "f")
    guarded.write("g", "g\nnew 5\n")
    guarded.git("add", "g")
    assert "in 'g'" not in commit(guarded, environ)


@pytest.mark.parametrize("committed", [False, True])
def test_lines_like_those_of_a_file_that_is_gone_and_was_no_model_pass(
    guarded: Repo, environ: dict[str, str], committed: bool
) -> None:
    """A session's scratch file, or one that somebody deleted: another file may have such lines as well."""
    if committed:
        guarded.write("old", changed(1, word="old"))
        guarded.commit_all("old")
        guarded.edit("S1", "old", changed(1, word="old") + "import os\n")
        (guarded.root / "old").unlink()
        guarded.git("commit", "-qam", "gone", env={"RALPH_GUARD": "0"})
    else:
        guarded.edit("S1", "old", "import os\nimport sys\n")
        guarded.delete("S1", "old")
    guarded.write("mine", "import os\nimport sys\n")
    guarded.git("add", "mine")
    assert commit(guarded, environ) == ""


def test_it_counts_lines_once_that_a_session_wrote_to_another_file(
    guarded: Repo, environ: dict[str, str]
) -> None:
    guarded.edit("S1", "moved", changed(5))
    guarded.delete("S1", "f")
    guarded.git("add", "-A")
    assert commit(guarded, environ).count("in 'moved'") == 1


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
    """The installation made an empty folder, which somebody may remove; the guard makes none."""
    empty_repo.ralph("install", "--guard")
    shutil.rmtree(empty_repo.state)
    empty_repo.write("a", "a\n")
    empty_repo.git("add", "a")
    assert commit(empty_repo, environ) == ""
    assert not empty_repo.state.exists()


def test_a_broken_tool_is_not_in_the_way(guarded: Repo, environ: dict[str, str]) -> None:
    (guarded.state / "format").write_text("from-the-future\n")
    assert "fatal: " in commit(guarded, environ, "-a")


@pytest.mark.parametrize("who", [None, "S2"], ids=["a person", "an agent"])
def test_a_mode_that_is_none_is_said_once_and_refuses(
    guarded: Repo, environ: dict[str, str], who: str | None
) -> None:
    """Whoever wrote it wanted a guard: a slip must not be what takes it away."""
    guarded.start("S2")
    guarded.git("config", "ralph.guard", "narow")
    said = commit(guarded, environ, "-a", code=1, env={"RALPH_SESSION": who} if who else None)
    bad = "warning: bad value 'narow' for 'ralph.guard', taken for 'refuse': use warn, refuse, narrow, off"
    assert said.splitlines().count(bad) == said.count("narow") == 1
    assert (AGENT if who else TAKES).replace("warning", "error") in said
    found = guarded.run("doctor", "--json").json()["checks"]
    (check,) = (one for one in found if one["check"] == "guard")
    assert (check["ok"], check["detail"]) == (False, "'ralph.guard' is 'narow', which is no mode")


@pytest.mark.parametrize("words", [("pre-comit",), ("pre-comit", "1"), ("pre-comit", "x", "y")])
@pytest.mark.parametrize("switch", ["0", "1"])
def test_a_hook_that_is_none_is_said(guarded: Repo, words: tuple[str, ...], switch: str) -> None:
    """Also where the guard is switched off: who wired it wrongly would never know."""
    done = guarded.ralph("guard", *words, code=129, env={"RALPH_GUARD": switch}, process=len(words) == 1)
    assert "error: 'pre-comit' is " in done.said


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


@pytest.mark.parametrize(("form", "where"), _pairs(0))
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


def test_a_hook_of_theirs_that_may_not_run_is_told_as_git_would(
    guarded: Repo, environ: dict[str, str]
) -> None:
    """git sees the guard's hook in its place, which may (advice.ignoredHook, seen with git 2.39)."""
    guarded.ralph("uninstall", "--guard")
    hook = guarded.common / "hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 3\n")
    hook.chmod(0o644)
    guarded.ralph("install", "--guard")
    assert "pre-commit.before-gitralph' hook was ignored" in commit(guarded, environ, "-a")
    guarded.git("config", "advice.ignoredHook", "false")
    assert "ignored" not in commit(guarded, environ, "--allow-empty")


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
    assert "live sessions did not commit yet: 'session-2': " in commit(other, environ, "-a")


# --- narrowing: the hooks beside what is there ---


ALL = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")


@pytest.fixture
def narrow(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """S1 and S2 in one file, the guard told to narrow by its installation."""

    def make(repo: Repo) -> None:
        repo.write("f", "".join(LINES))
        repo.commit_all("base")
        repo.ralph("install", "--guard=narrow")
        repo.start("S1")
        repo.edit("S1", "f", changed(5))
        repo.edit("S2", "f", changed(5, 15))

    return Repo.once("narrow", tmp_path / "repo", environ, make)


def _is_narrowed(repo: Repo, environ: dict[str, str]) -> str:
    said = commit(repo, environ, "-a", env={"RALPH_SESSION": "S1"})
    assert repo.blob("f").decode() == changed(5), said
    assert "Ralph-Session: S1" in repo.trailers()
    assert repo.pending("S1") == []
    return said


@pytest.mark.parametrize(("form", "where"), _pairs(1))
def test_every_hook_that_is_there_runs_too_and_every_byte_comes_back(
    narrow: Repo, environ: dict[str, str], form: str, where: str
) -> None:
    narrow.ralph("uninstall", "--guard")
    folder = narrow.common / "hooks"
    if where != "hooks":
        folder = narrow.root / ".hooks"
        folder.mkdir()
        narrow.git("config", "core.hooksPath", ".hooks")
    text, mode = FORMS[form]
    for name in ALL:
        (folder / name).write_bytes(text)
        (folder / name).chmod(mode)
    before, config = snapshot(folder), (narrow.common / "config").read_bytes()
    narrow.ralph("install", "--guard=narrow")
    assert "already installed" in narrow.ralph("install", "--guard=narrow").text
    _is_narrowed(narrow, environ)
    # theirs ran under its own name, each once
    assert narrow.read("ran") == (None if mode == 0o644 else b"theirs\n" * len(ALL))
    narrow.ralph("uninstall", "--guard")
    assert snapshot(folder) == before
    assert (narrow.common / "config").read_bytes() == config


def test_a_setting_of_the_user_s_own_stays_when_the_guard_goes(narrow: Repo) -> None:
    assert narrow.git("config", "ralph.guard") == "narrow"
    narrow.ralph("uninstall", "--guard")
    narrow.git("config", "ralph.guard", code=1)
    narrow.git("config", "ralph.guard", "narrow")
    narrow.ralph("install", "--guard=narrow")
    narrow.ralph("uninstall", "--guard")
    assert narrow.git("config", "ralph.guard") == "narrow"


@pytest.mark.parametrize("again", [True, False])
def test_it_goes_from_git_s_own_folder_too_where_another_was_chosen_since(narrow: Repo, again: bool) -> None:
    """Else it would wake, and narrow, when that choice is taken back."""
    narrow.ralph("uninstall", "--guard")
    folder = narrow.common / "hooks"
    folder.mkdir(exist_ok=True)
    before, config = snapshot(folder), (narrow.common / "config").read_bytes()
    narrow.ralph("install", "--guard=narrow")
    narrow.git("config", "core.hooksPath", ".hooks")
    if again:
        narrow.ralph("install", "--guard=narrow")
    assert "removed" in narrow.ralph("uninstall", "--guard").text
    narrow.git("config", "--unset", "core.hooksPath")
    assert snapshot(folder) == before
    narrow.git("config", "ralph.guard", code=1)
    assert (narrow.common / "config").read_bytes() == config
    assert not narrow.file(".hooks").exists()


def test_a_mode_that_there_is_not_is_a_wrong_option(narrow: Repo) -> None:
    before = snapshot(narrow.common / "hooks")
    assert "modes: warn, refuse, narrow, off" in narrow.ralph("install", "--guard=strict", code=129).said
    assert snapshot(narrow.common / "hooks") == before


def test_a_failing_hook_of_theirs_stops_it_before_the_guard_looks(
    narrow: Repo, environ: dict[str, str]
) -> None:
    narrow.ralph("uninstall", "--guard")
    hook = narrow.common / "hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 3\n")
    hook.chmod(0o755)
    narrow.ralph("install", "--guard=narrow")
    assert commit(narrow, environ, "-a", code=1, env={"RALPH_SESSION": "S1"}) == ""


def _like_pre_commit(repo: Repo) -> None:
    """What ``pre-commit install`` does: the hook that is there is kept, and run before its own checks."""
    hook = repo.common / "hooks/pre-commit"
    hook.rename(hook.with_name("pre-commit.legacy"))
    hook.write_text(
        "#!/usr/bin/env bash\n# File generated by pre-commit\n"
        # only where it can be run, as pre-commit's hook_impl asks by os.access
        'l="${0%/*}/pre-commit.legacy"; [ ! -x "$l" ] || "$l" "$@" || exit\n'
        "echo theirs >>ran\ngit diff --cached --name-only >>seen\n"
        # it takes git's lock of the index, as a stash does
        "git update-index --refresh -q || [ $? -eq 1 ] || exit 9\n"
    )
    hook.chmod(0o755)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("staged", [False, True])
def test_a_framework_that_came_later_and_runs_the_guard_first(
    narrow: Repo, environ: dict[str, str], again: bool, staged: bool
) -> None:
    """Both run; doctor says to install the guard once more, and then it is behind the others, once."""
    _like_pre_commit(narrow)
    row = _guard_row(narrow)
    assert (row["ok"], row["fix"]) == (False, "git ralph install --guard")
    if again:
        narrow.ralph("install", "--guard")
        assert _guard_row(narrow)["ok"]
    if staged:
        narrow.git("add", "-A")
    commit(narrow, environ, *(() if staged else ("-a",)), env={"RALPH_SESSION": "S1"})
    assert narrow.blob("f").decode() == changed(5)
    assert narrow.read("ran") == b"theirs\n"
    assert narrow.git("diff", "--cached", "--name-only") == ("f" if staged else "")
    assert narrow.pending("S1") == []
    narrow.ralph("uninstall", "--guard")
    assert b"gitralph" not in (narrow.common / "hooks/pre-commit").read_bytes()
    assert not (narrow.common / "hooks/pre-commit.legacy").exists()


def test_a_hook_that_stages_behind_the_guard_stops_the_commit(narrow: Repo, environ: dict[str, str]) -> None:
    """Whatever comes after it: a commit of another tree than the session's is not made."""
    _like_pre_commit(narrow)
    hook = narrow.common / "hooks/pre-commit"
    hook.write_text(hook.read_text() + "git add f\n")
    head, index = narrow.head(), narrow.git("ls-files", "-s")
    said = commit(narrow, environ, "-a", code=1, env={"RALPH_SESSION": "S1"})
    assert "a hook changed what is staged after the guard had looked" in said
    assert (narrow.head(), narrow.git("ls-files", "-s")) == (head, index)
    narrow.git("add", "f")
    index = narrow.git("ls-files", "-s")
    said = commit(narrow, environ, code=1, env={"RALPH_SESSION": "S1"})
    assert "a hook changed what is staged after the guard had looked" in said
    assert (narrow.head(), narrow.git("ls-files", "-s")) == (head, index)


def test_doctor_says_where_another_program_took_a_hook(narrow: Repo) -> None:
    assert _guard_row(narrow)["ok"]
    (narrow.common / "hooks/pre-commit").write_text("#!/bin/sh\n# lefthook\n")
    row = _guard_row(narrow)
    assert (row["ok"], row["fix"]) == (False, "git ralph install --guard")
    assert "'pre-commit'" in str(row["detail"])
    narrow.ralph("install", "--guard")
    assert _guard_row(narrow)["ok"]
    for name in ALL:
        (narrow.common / "hooks" / name).unlink()
    assert "no hook" in str(_guard_row(narrow)["detail"])


def _guard_row(repo: Repo) -> dict[str, object]:
    checks = repo.run("doctor", "--json").json()["checks"]
    found: dict[str, object] = next(one for one in checks if one["check"] == "guard")
    return found


def _spy(folder: Path) -> tuple[dict[str, str], Path]:
    """A ``git-ralph`` that only says that it was started."""
    tool, log = folder / "bin/git-ralph", folder / "calls"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" >>{log}\n')
    tool.chmod(0o755)
    return {"PATH": f"{tool.parent}:/usr/bin:/bin"}, log


@pytest.mark.parametrize(("mode", "starts"), [("narrow", 1), ("off", 0), ("warn", 1), ("refuse", 1)])
def test_a_person_s_commit_starts_python_only_where_it_is_judged(
    narrow: Repo, environ: dict[str, str], tmp_path: Path, mode: str, starts: int
) -> None:
    env, log = _spy(tmp_path)
    narrow.git("config", "ralph.guard", mode)
    commit(narrow, environ, "-a", env=env)
    assert (log.read_text().count("guard\n") if log.exists() else 0) == starts


def test_an_agent_without_the_tool_on_its_path_commits_nothing(narrow: Repo, environ: dict[str, str]) -> None:
    env = {"RALPH_SESSION": "S1", "PATH": "/usr/bin:/bin"}
    assert "'git-ralph' is not on PATH" in commit(narrow, environ, "-a", code=1, env=env)
    assert commit(narrow, environ, "-a", "--no-verify", env=env) == ""


def test_our_own_commit_meets_none_of_its_hooks(
    narrow: Repo, environ: dict[str, str], tmp_path: Path
) -> None:
    env, log = _spy(tmp_path)
    narrow.ralph("commit", "--session", "S1", "-m", "x", env=env)
    assert not log.exists()
    for name in ALL:  # and where they stand in another's script they pass it by
        hook = narrow.common / "hooks" / name
        hook.unlink()
        hook.write_text("#!/bin/sh\ntrue\n")
        hook.chmod(0o755)
    narrow.ralph("install", "--guard=narrow")
    done = narrow.ralph("commit", "--session", "S2", "-m", "x", env={"RALPH_SESSION": "S2"}, process=True)
    assert "guard" not in done.said
    assert narrow.blob("f").decode() == changed(5, 15)


def test_an_older_hook_of_one_file_refuses_instead_of_letting_it_pass(narrow: Repo) -> None:
    """Its three companions are missing, so nothing could give the index back."""
    narrow.git("add", "-A")
    assert "live session 'generic-1'" in narrow.ralph("guard", code=4, env={"RALPH_SESSION": "S1"}).said


FRAMEWORK = b"""#!/usr/bin/env bash
# File generated by pre-commit: https://pre-commit.com
[ ! -x "${0%/*}/pre-commit.legacy" ] || "${0%/*}/pre-commit.legacy" "$@" || exit 1
echo framework >>ran
"""


@pytest.mark.parametrize("before", ["nothing", "a script", "another interpreter"])
def test_installed_again_after_a_framework_doctor_is_content(
    guarded: Repo, environ: dict[str, str], before: str
) -> None:
    """pre-commit keeps what it finds as `pre-commit.legacy`; the guard was left in there for ever."""
    hook = guarded.common / "hooks/pre-commit"
    guarded.ralph("uninstall", "--guard")
    if before != "nothing":
        text, mode = FORMS["sh" if before == "a script" else before]
        hook.write_bytes(text)
        hook.chmod(mode)
    guarded.ralph("install", "--guard=refuse")
    guarded.git("config", "ralph.guardPerson", "refuse")
    hook.rename(hook.with_name("pre-commit.legacy"))
    hook.write_bytes(FRAMEWORK)
    hook.chmod(0o755)
    guarded.ralph("install", "--guard")
    (check,) = (one for one in guarded.run("doctor", "--json").json()["checks"] if one["check"] == "guard")
    assert check["ok"], check
    assert TAKES.replace("warning", "error") in commit(guarded, environ, "-a", code=1)
    theirs = [] if before == "nothing" else ["theirs"]
    assert (guarded.root / "ran").read_text().splitlines() == [*theirs, "framework"]
    guarded.ralph("uninstall", "--guard")
    assert guarded.git("config", "--get", "ralph.guard", code=1) == ""
    assert hook.read_bytes() == FRAMEWORK
    legacy = hook.with_name("pre-commit.legacy")
    assert (legacy.read_bytes() if legacy.exists() else b"") == (b"" if before == "nothing" else text)


def test_a_guard_that_cannot_look_does_not_sound_like_git(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git makes a person's commit all the same: "fatal" was taken for a commit that failed."""
    repo.edit("S1", "a", changed(2))
    repo.git("config", "ralph.guard", "warn")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(question, "judge", full)
    said = repo.ralph("guard", code=128, process=False).said
    assert said.startswith("warning: the guard could not look at this commit (No space left on device)")
    monkeypatch.setattr(pending_paths, "everyone", full)
    said = repo.ralph("commit", "-m", "x", code=128, process=False).said
    assert "No space left on device; 'git ralph doctor' says where" in said

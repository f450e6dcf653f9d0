"""What a repository hook rewrites of this session's lines is this session's."""

import json
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitralph.decide import inputs
from gitralph.decide.inputs import Scene
from tests.support import payloads
from tests.support.repo import Repo
from tests.support.size import FULL, crossed
from tests.support.texts import TEN

FORMAT = r"s/ *= */ = /"
NAMES = "$(git diff --cached --name-only --diff-filter=ACM HEAD)"
HOOKS = {
    "none": None,
    "passing": "git diff --cached > /dev/null",
    "failing": "exit 1",
    "rewrites, adds, passes": f"for f in {NAMES}; do sed -i '{FORMAT}' $f; git add $f; done",
    "rewrites, passes": f"for f in {NAMES}; do sed -i '{FORMAT}' $f; done",
    "rewrites, fails": f"for f in {NAMES}; do sed -i.old '{FORMAT}' $f;"
    " cmp -s $f $f.old || bad=1; rm $f.old; done\n"
    "[ -z \"$bad\" ] || { echo '- files were modified by this hook'; exit 1; }",
    "stashes": "git stash push -q --keep-index -u; git checkout -q -- .; git clean -fdq;"
    " git stash pop -q 2> /dev/null; exit 0",
}
FORMATS = ("rewrites, adds, passes", "rewrites, passes", "rewrites, fails")
PLACES = ["alone", "another session's file", "another session in the file", "an untracked file"]


def _hook(repo: Repo, script: str | None, name: str = "pre-commit") -> None:
    path = repo.root / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    if script is not None:
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


def _formatted(text: str) -> str:
    return re.sub(" *= *", " = ", text)


def _after(text: str, line: int, new: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:line], new, *lines[line:]])


def _read(repo: Repo, path: str) -> str:
    found = repo.read(path)
    assert found is not None
    return found.decode()


def _try(repo: Repo, session: str, *args: str) -> tuple[int, str]:
    done = repo.run("commit", "--session", session, "-m", "x", *args)
    return done.code, done.said


def _obey(repo: Repo, said: str) -> None:
    """Type the ``git apply`` that a refusal or a note named."""
    command = re.search(r"git -C \S+ apply \S+?(?=['\n])", said + "\n")
    assert command is not None, said
    subprocess.run(["/bin/sh", "-c", command[0]], check=True, env=repo.env, cwd=repo.root.parent)


def _commits(repo: Repo, session: str) -> None:
    """Commit, following what a refusing hook says."""
    code, said = _try(repo, session)
    if code == 1:
        if "apply" in said:
            _obey(repo, said)
        code, said = _try(repo, session)
    assert code == 0, said


def _tools(repo: Repo, path: str) -> list[tuple[str, str]]:
    """Session and tool of each record of a path."""
    rows = []
    for file in sorted((repo.state / "edits").glob(f"{path.rsplit('/', 1)[-1]}-*")):
        for line in file.read_text().splitlines():
            fields = json.loads(line)
            if "op" in fields:
                rows.append((fields["session"], fields["tool"] or ""))
    return rows


def _nothing_is_left(repo: Repo) -> None:
    assert list((repo.state / "tmp").iterdir()) == []
    assert [p for p in repo.state.glob("scratch/*-[0-9]/**/*") if p.is_symlink()] == []
    assert not list(repo.common.glob("*.lock"))
    assert not (repo.common / "RALPH_EDITMSG").exists()


# --- in place ---


@pytest.mark.parametrize("kind", ["passing", "rewrites, passes"])
def test_a_commit_leaves_the_file_of_a_hook_as_it_was(repo: Repo, kind: str) -> None:
    """Whether a hook is our guard is read from it: its mode and its bytes stay."""
    _hook(repo, HOOKS[kind])
    hook = repo.root / ".git/hooks/pre-commit"
    before = hook.stat().st_mode, hook.read_bytes()
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    assert _try(repo, "S1")[0] == 0
    assert (hook.stat().st_mode, hook.read_bytes()) == before


@pytest.mark.parametrize("kind", FORMATS)
def test_what_a_hook_rewrites_in_place_is_recorded_and_committed(repo: Repo, kind: str) -> None:
    """black as pre-commit: reformats and fails once; the next commit holds the formatted text and passes."""
    _hook(repo, HOOKS[kind])
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    code, said = _try(repo, "S1")
    if kind == "rewrites, fails":
        assert code == 1
        assert "counts as this session's" in said
        assert _read(repo, "a") == _after(TEN, 5, "x = 1\n")
        assert repo.pending("S1") == ["a"]
        code, said = _try(repo, "S1")
    assert code == 0, said
    assert repo.blob("a").decode() == _read(repo, "a") == _after(TEN, 5, "x = 1\n")
    assert "Ralph-Includes" not in repo.trailers()
    assert repo.git("status", "--porcelain") == ""
    assert repo.pending("S1") == []
    assert _tools(repo, "a")[-1] == ("S1", "pre-commit")

    assert "pre-commit" in repo.ralph("why", "a:6").text


def test_an_edit_of_another_while_a_rewrite_is_recorded_refuses_nothing(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal was read again without the record of the hook's change, which was not written yet."""
    _hook(repo, HOOKS["rewrites, adds, passes"])
    repo.edit("S2", "a", _after(TEN, 9, "theirs\n"))
    repo.edit("S1", "a", _after(_read(repo, "a"), 5, "x=1\n"))
    look, late, looked = inputs.look, [True], []

    def look_late(*asked: Any) -> Scene:
        looked.append(
            any(r.tool == "pre-commit" for state in asked[1].values() for r in state.journal.records)
        )
        if looked[-1] and late:
            late.clear()
            now = _read(repo, "a")
            repo.write("a", now + "later\n")
            event = payloads.edit("S2", str(repo.root), "a", now, now + "later\n")
            repo.hook("generic", event, process=True)
        return look(*asked)

    monkeypatch.setattr(inputs, "look", look_late)
    code, said = _try(repo, "S1")
    assert (late, code) == ([], 0), said
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 1\n")
    assert _read(repo, "a").endswith("theirs\nline 10\nlater\n")


def test_lines_of_head_that_a_hook_formats_in_place_go_along(repo: Repo) -> None:
    """Nobody else has changes there, so all that the hook did was done for this commit."""
    repo.write("a", "old=0\n" + TEN)
    repo.commit_all("unformatted")
    _hook(repo, HOOKS["rewrites, fails"])
    repo.edit("S1", "a", "old=0\n" + _after(TEN, 5, "x=1\n"))
    assert _try(repo, "S1")[0] == 1
    assert _try(repo, "S1")[0] == 0
    assert repo.blob("a").decode() == "old = 0\n" + _after(TEN, 5, "x = 1\n")


def test_a_claimed_path_stays_claimed_after_a_hook_rewrote_it(repo: Repo) -> None:
    """Known by its path only: committed as it stands."""
    _hook(repo, HOOKS["rewrites, fails"])
    repo.write("n", "x=1\n")
    repo.ralph("track", "--session", "S1", "n")
    assert _try(repo, "S1")[0] == 1
    assert _try(repo, "S1")[0] == 0
    assert repo.blob("n") == b"x = 1\n"


def test_a_write_of_another_session_during_the_hook_is_not_this_sessions(repo: Repo, tmp_path: Path) -> None:
    """Its call began before the hook ended: what stands there then may be either's."""
    call = {"session": "S2", "cwd": str(repo.root), "event": "pre", "path": "a", "call": "c1"}
    (tmp_path / "event").write_bytes(payloads.encode(call))
    _hook(repo, f"git ralph hook generic < '{tmp_path}/event'; sed -i 's/line 2$/line two/' a; git add a")
    repo.edit("S1", "a", _after(TEN, 8, "x\n"))
    before = repo.head()
    code, said = _try(repo, "S1")
    assert code == 1
    assert "+line two" in said
    assert repo.head() == before
    assert ("S1", "pre-commit") not in _tools(repo, "a")


# --- in the scratch worktree ---


@pytest.mark.parametrize("kind", ["rewrites, adds, passes", "rewrites, passes"])
@pytest.mark.parametrize("place", PLACES[1:])
def test_a_hook_elsewhere_formats_these_lines_in_the_commit(repo: Repo, kind: str, place: str) -> None:
    """The commit takes the change; the file on disk is not written, and no later commit takes it back."""
    _hook(repo, HOOKS[kind])
    mine, theirs = _after(TEN, 5, "x=1\n"), _after(_after(TEN, 5, "x=1\n"), 1, "y=2\n")
    repo.edit("S1", "a", mine)
    _surround(repo, place)
    disk = _read(repo, "a")
    code, said = _try(repo, "S1")
    assert code == 0, said
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 1\n")
    assert _read(repo, "a") == disk
    assert repo.pending("S1") == []
    assert ("S1", "pre-commit") in _tools(repo, "a")
    if place == "another session in the file":
        assert disk == theirs
        assert _try(repo, "S2")[0] == 0
        assert repo.blob("a").decode() == _formatted(theirs)
    _obey(repo, said)
    assert "x = 1\n" in _read(repo, "a")
    assert repo.pending("S1") == []
    repo.edit("S1", "a", _read(repo, "a") + "end\n")
    assert _try(repo, "S1")[0] == 0
    assert repo.blob("a").decode().endswith("x = 1\nline 6\nline 7\nline 8\nline 9\nline 10\nend\n")


def _surround(repo: Repo, place: str) -> None:
    if place == "another session's file":
        repo.edit("S2", "u", _after(TEN, 1, "y=2\n"))
    elif place == "another session in the file":
        repo.edit("S2", "a", _after(_read(repo, "a"), 1, "y=2\n"))
    elif place == "an untracked file":
        repo.write("notes", "mine\n")


@pytest.mark.parametrize("place", PLACES[1:])
def test_a_line_that_the_commit_has_formatted_is_edited_again_on_disk(repo: Repo, place: str) -> None:
    """The agent sees the unformatted line, edits it, and commits: no dead end, and nothing is taken back."""
    _hook(repo, HOOKS["rewrites, adds, passes"])
    repo.edit("S1", "a", _after(TEN, 5, "x=1\nz=3\n"))
    _surround(repo, place)
    assert _try(repo, "S1")[0] == 0
    repo.edit("S1", "a", _read(repo, "a").replace("x=1", "x=11"))
    assert "Ralph-Includes" not in repo.trailers()
    code, said = _try(repo, "S1")
    assert code == 0, said
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 11\nz = 3\n")
    assert repo.git("show", "--format=", "--numstat").split() == ["1", "1", "a"]


def test_gc_keeps_what_tells_the_formatted_lines_from_those_on_disk(repo: Repo) -> None:
    """Nothing is pending, yet the file still holds the lines as they were before the hook."""
    _hook(repo, HOOKS["rewrites, adds, passes"])
    repo.edit("S1", "a", _after(TEN, 5, "x=1\nz=3\n"))
    repo.write("notes", "mine\n")
    assert _try(repo, "S1")[0] == 0
    repo.ralph("gc")
    repo.edit("S1", "a", _read(repo, "a").replace("x=1", "x=11"))
    assert _try(repo, "S1")[0] == 0
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 11\nz = 3\n")


def test_another_session_edits_the_line_that_a_hook_formatted(repo: Repo) -> None:
    _hook(repo, HOOKS["rewrites, adds, passes"])
    repo.edit("S1", "a", _after(TEN, 5, "x=1\nz=3\n"))
    repo.write("notes", "mine\n")
    assert _try(repo, "S1")[0] == 0
    repo.edit("S2", "a", _read(repo, "a").replace("z=3", "z=33"))
    assert _try(repo, "S2")[0] == 0
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 1\nz = 33\n")


def test_undoing_an_edit_over_formatted_lines_takes_back_that_edit_alone(repo: Repo) -> None:
    """A text from before the hook ran comes back: its unformatted lines still stand for formatted ones."""
    _hook(repo, HOOKS["rewrites, adds, passes"])
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    before = _read(repo, "a")
    repo.edit("S2", "a", _after(before, 1, "y=2\n"))
    assert _try(repo, "S1")[0] == 0
    assert _try(repo, "S2")[0] == 0
    repo.edit("S2", "a", before)
    assert _try(repo, "S2", "--no-verify")[0] == 0
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 1\n")


@pytest.mark.parametrize("place", PLACES[1:])
def test_a_refusing_hook_elsewhere_prints_a_patch_and_how_to_apply_it(repo: Repo, place: str) -> None:
    """Applied, the lines are this session's own, exactly; the next commit passes."""
    _hook(repo, HOOKS["rewrites, fails"])
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    _surround(repo, place)
    head, disk = repo.head(), _read(repo, "a")
    code, said = _try(repo, "S1")
    assert code == 1
    assert "+x = 1" in said
    assert "-x=1" in said
    assert repo.head() == head
    assert _read(repo, "a") == disk
    assert repo.pending("S1") == ["a"]
    _obey(repo, said)
    assert _read(repo, "a") == disk.replace("x=1", "x = 1")
    code, said = _try(repo, "S1")
    assert code == 0, said
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 1\n")
    assert "Ralph-Includes" not in repo.trailers()
    assert repo.pending("S1") == []
    assert not list(repo.state.glob("*.patch"))
    if place == "another session in the file":
        _commits(repo, "S2")
        assert repo.blob("a").decode() == _after(_after(TEN, 5, "x = 1\n"), 1, "y = 2\n")


def test_an_offer_that_nobody_applied_changes_nothing(repo: Repo) -> None:
    """The text committed is the one on disk: a fixer's change is taken only when somebody took it."""
    _hook(repo, HOOKS["rewrites, fails"])
    repo.write("notes", "mine\n")
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    assert _try(repo, "S1")[0] == 1
    repo.edit("S1", "a", _read(repo, "a") + "end\n")
    assert _try(repo, "S1", "--no-verify")[0] == 0
    assert repo.blob("a").decode() == _after(TEN, 5, "x=1\n") + "end\n"


def test_edits_between_the_offer_and_its_application_keep_their_owners(repo: Repo) -> None:
    _hook(repo, HOOKS["rewrites, fails"])
    repo.write("notes", "mine\n")
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    code, said = _try(repo, "S1")
    assert code == 1
    repo.edit("S2", "a", _after(_read(repo, "a"), 1, "two\n"))
    _obey(repo, said)
    repo.edit("S1", "a", _read(repo, "a") + "end\n")
    assert _try(repo, "S1")[0] == 0
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 1\n") + "end\n"
    assert _try(repo, "S2")[0] == 0
    assert repo.blob("a") == repo.read("a")


def test_lines_of_head_that_a_hook_formats_elsewhere_are_offered(repo: Repo) -> None:
    """They are nobody's to commit unseen; applied, they go along as they would have in place."""
    repo.write("a", "old=0\n" + TEN)
    repo.commit_all("unformatted")
    _hook(repo, HOOKS["rewrites, adds, passes"])
    repo.write("notes", "mine\n")
    repo.edit("S1", "a", "old=0\n" + _after(TEN, 5, "x=1\n"))
    code, said = _try(repo, "S1")
    assert code == 1
    assert "+old = 0" in said
    _obey(repo, said)
    code, said = _try(repo, "S1")
    assert code == 0, said
    assert repo.blob("a").decode() == "old = 0\n" + _after(TEN, 5, "x = 1\n")


@pytest.mark.parametrize("place", PLACES)
def test_a_path_that_the_hook_makes_is_taken_once_it_is_claimed(repo: Repo, place: str) -> None:
    """The hint works as it is typed."""
    _hook(repo, "echo generated > made; git add made")
    repo.edit("S1", "a", _after(TEN, 5, "x\n"))
    _surround(repo, place)
    code, said = _try(repo, "S1")
    assert code == 1
    assert "+generated" in said
    if place != "alone":
        _obey(repo, said)
    command = re.search(r"git ralph (track --session generic-1 -- made)", said)
    assert command is not None, said
    repo.ralph(*command[1].split())
    assert _try(repo, "S1")[0] == 0
    assert repo.changes() == {"a": "M", "made": "A"}


def test_a_claimed_path_that_a_hook_wants_changed_elsewhere_is_claimed_again(repo: Repo) -> None:
    """Nothing is known of its lines, so both commands are named."""
    _hook(repo, HOOKS["rewrites, fails"])
    repo.write("n", "x=1\n")
    repo.ralph("track", "--session", "S1", "n")
    repo.write("notes", "mine\n")
    code, said = _try(repo, "S1")
    assert code == 1
    _obey(repo, said)
    command = re.search(r"git ralph (track --session session-1 -- n)", said)
    assert command is not None, said
    repo.ralph(*command[1].split())
    assert _try(repo, "S1")[0] == 0
    assert repo.blob("n") == b"x = 1\n"


def test_the_same_offer_is_recorded_once(repo: Repo) -> None:
    _hook(repo, HOOKS["rewrites, fails"])
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    repo.write("notes", "mine\n")
    assert [_try(repo, "S1")[0] for _ in range(3)] == [1, 1, 1]
    assert len(_tools(repo, "a")) == 2


def test_hooks_forced_in_place_take_nothing_of_a_shared_file(repo: Repo) -> None:
    """``ralph.commitHooks=in-place``: what the hook does to others' lines on disk is not committed."""
    repo.git("config", "ralph.commitHooks", "in-place")
    _hook(repo, HOOKS["rewrites, passes"])
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    _surround(repo, "another session in the file")
    _try(repo, "S1")
    assert "y" not in repo.blob("a").decode()


@pytest.mark.parametrize("kind", ["rewrites, adds, passes", "rewrites, fails"])
def test_lines_beside_another_sessions_are_formatted_too(repo: Repo, kind: str) -> None:
    """Above and below, and in between: each commit has its own."""
    _hook(repo, HOOKS[kind])
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    repo.edit("S2", "a", _after(_after(TEN, 5, "y=2\nx=1\n"), 7, "y=3\n"))
    _commits(repo, "S1")
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 1\n")
    _commits(repo, "S2")
    assert repo.blob("a").decode() == _after(TEN, 5, "y = 2\nx = 1\ny = 3\n")


def test_a_formatted_file_of_windows_line_ends_keeps_them(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    _hook(repo, HOOKS["rewrites, fails"])
    repo.write("notes", "mine\n")
    repo.write("a", TEN.replace("\n", "\r\n"))
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n").replace("\n", "\r\n"))
    code, said = _try(repo, "S1")
    assert code == 1
    _obey(repo, said)
    assert _read(repo, "a") == _after(TEN, 5, "x = 1\n").replace("\n", "\r\n")
    assert _try(repo, "S1")[0] == 0
    assert repo.blob("a").decode() == _after(TEN, 5, "x = 1\n")


@pytest.mark.parametrize("place", ["alone", "an untracked file"])
def test_a_hook_that_takes_everything_back_leaves_nothing_to_commit(repo: Repo, place: str) -> None:
    """No empty commit, and no edit is forgotten that the file still holds."""
    _hook(repo, "git checkout -q HEAD -- a")
    repo.edit("S1", "a", _after(TEN, 5, "x\n"))
    _surround(repo, place)
    head = repo.head()
    code, said = _try(repo, "S1")
    assert code == 1
    assert "took back all" in said
    assert repo.head() == head
    if place != "alone":
        assert _try(repo, "S1", "--no-verify")[0] == 0
        assert repo.blob("a") == repo.read("a")


@pytest.mark.parametrize("place", ["alone", "an untracked file"])
def test_a_hook_that_leaves_conflicts_commits_none(repo: Repo, place: str) -> None:
    """Its ``stash pop`` failed and it exits 0: git refuses, too."""
    _hook(repo, "git stash push -q --keep-index; echo y > a; git add a; git stash pop -q > /dev/null; exit 0")
    repo.edit("S1", "a", "x\n")
    _surround(repo, place)
    head = repo.head()
    code, said = _try(repo, "S1")
    assert (code, repo.head()) == (1, head), said
    assert "the 'pre-commit' hook left conflicts in 'a'; nothing was committed\n" in said


def test_a_line_rewritten_for_the_commit_is_still_told_by_its_number_on_disk(repo: Repo) -> None:
    """The hook made three lines of one; ``why`` counts the lines of the file as it stands."""
    _hook(repo, "sed -i 's/^x=1$/x = (\\n    1\\n)/' a; git add a")
    repo.edit("S1", "a", _after(TEN, 5, "x=1\n"))
    _surround(repo, "another session in the file")
    assert _try(repo, "S1")[0] == 0
    assert b"x = (\n    1\n)\n" in repo.blob("a")
    assert repo.called("S1") in repo.ralph("why", "a:7").text
    assert repo.called("S2") in repo.ralph("why", "a:2").text
    repo.edit("S2", "a", _read(repo, "a").replace("line 9\n", "line nine\n"))
    assert repo.called("S2") in repo.ralph("why", "a:11").text
    repo.ralph("why", "a:13", code=129)


# --- all of it ---


def _expected(text: str, kind: str) -> str:
    return _formatted(text) if kind in FORMATS else text


@pytest.mark.parametrize(("kind", "place", "seed"), crossed([*HOOKS], PLACES, range(8 if FULL else 1)))
def test_a_commit_holds_its_sessions_lines_and_their_format_and_nothing_else(
    repo: Repo, kind: str, place: str, seed: int
) -> None:
    """Whatever the hook does and whoever is there; working tree and index stay, nothing is left behind."""
    draw = random.Random(f"{kind} {place} {seed}")
    repo.write("e/b", "staged\n")
    staged = draw.random() < 0.5
    if staged:
        repo.git("add", "e/b")
    else:
        repo.git("checkout", "-q", "e/b")
    _hook(repo, HOOKS[kind])
    head, disk = TEN, TEN
    for round_ in range(3):
        at = draw.randrange(3, 10)
        mine = f"m{round_}{draw.choice(['=', ' =', '= '])}{seed}\n" * draw.randrange(1, 3)
        disk = _after(disk, min(at, disk.count("\n")), mine)
        repo.edit("S1", "a", disk)
        head = _taken(repo, "S1", head, disk)
        if place != "alone" and round_ == 0:
            _surround(repo, place)
            disk = _read(repo, "a")
        before, index, was = _tree(repo), repo.git("ls-files", "-s", "e/b", "u"), repo.head()
        code, said = _try(repo, "S1")
        if kind == "failing":
            assert code == 1
            assert repo.head() == was
            assert _tree(repo) == before
            return
        if code == 1:
            assert kind == "rewrites, fails", said
            if "apply" in said:
                assert _tree(repo) == before
                _obey(repo, said)
            before = _tree(repo)
            code, said = _try(repo, "S1")
        assert code == 0, said
        in_place = place == "alone" and not staged
        if not (in_place and kind in FORMATS):
            assert _tree(repo) == before
        assert repo.changes() == {"a": "M"}
        assert repo.blob("a").decode() == _expected(head, kind)
        assert repo.git("ls-files", "-s", "e/b", "u") == index
        assert repo.pending("S1") == []
        _nothing_is_left(repo)
        disk, head = _read(repo, "a"), _expected(head, kind)
    if place == "another session in the file":
        _commits(repo, "S2")
        assert repo.blob("a").decode() == _expected(_formatted_like(disk, head), kind)


def _tree(repo: Repo) -> dict[str, bytes]:
    return {
        str(path.relative_to(repo.root)): path.read_bytes()
        for path in repo.root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(repo.root).parts
    }


def _taken(repo: Repo, session: str, head: str, disk: str) -> str:
    """The file as it stands without the line of the other session."""
    return "".join(line for line in disk.splitlines(keepends=True) if not line.startswith("y"))


def _formatted_like(disk: str, head: str) -> str:
    """The file on disk, with the lines that a commit has formatted."""
    known = {re.sub(" ", "", line): line for line in head.splitlines(keepends=True)}
    return "".join(known.get(re.sub(" ", "", line), line) for line in disk.splitlines(keepends=True))

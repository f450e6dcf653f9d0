"""Worktrees by bead: made, listed, locked, merged, removed."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gitralph.git import worktrees
from tests.support.repo import Repo
from tests.support.runner import COMMAND, PATIENCE
from tests.support.size import FULL
from tests.support.texts import TEN, changed

HOLD = "import os,sys; sys.stdin.read()"


def add(repo: Repo, bead: str = "bd-1", *args: str) -> Repo:
    """Add a bead's worktree; the repository seen from it."""
    path = repo.ralph("worktree", "add", bead, *args).text
    assert path.endswith("\n")
    return Repo(Path(path[:-1]), dict(repo.env), repo.process, repo._clock)


def commit(tree: Repo, path: str = "new", text: str = "work\n") -> str:
    tree.write(path, text)
    return tree.commit_all(f"work on {path}")


def row(repo: Repo, bead: str = "bd-1") -> dict[str, object]:
    found = [r for r in repo.ralph("worktree", "list", "--json").json() if r["bead"] == bead]
    assert len(found) == 1
    one: dict[str, object] = found[0]
    return one


def registered(repo: Repo) -> list[str]:
    said = repo.git("worktree", "list", "--porcelain")
    return [line.removeprefix("worktree ") for line in said.split("\n") if line.startswith("worktree ")]


def branches(repo: Repo) -> list[str]:
    return repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n")


def everything(repo: Repo) -> tuple[str, ...]:
    """Refs, registrations, status: what a refusal must leave as it was."""
    return (
        repo.git("for-each-ref"),
        repo.git("worktree", "list", "--porcelain"),
        repo.git("status", "--porcelain"),
        repo.git("ls-files", "-s"),
        repo.head(),
    )


def test_add_makes_the_worktree_of_a_bead(repo: Repo) -> None:
    """Path and branch follow from the bead's id; the base is recorded; stdout is the path alone."""
    done = repo.ralph("worktree", "add", "bd-7jf", "--json").json()
    path = str(repo.root / ".worktrees/ralph-bd-7jf")
    assert done["path"] == path
    assert done["branch"] == "ralph/bd-7jf"
    assert (done["base_ref"], done["base_oid"]) == ("refs/heads/main", repo.head())
    listed = row(repo, "bd-7jf")
    assert (listed["path"], listed["base_oid"], listed["base_ref"]) == (path, repo.head(), "refs/heads/main")
    assert repo.ralph("worktree", "add", "bd-8").text == str(repo.root / ".worktrees/ralph-bd-8") + "\n"
    assert repo.ralph("worktree", "path", "bd-8").text == str(repo.root / ".worktrees/ralph-bd-8") + "\n"


def test_add_from_a_worktree_or_a_subdirectory_never_nests(repo: Repo) -> None:
    tree = add(repo)
    assert add(tree, "bd-2").root == repo.root / ".worktrees/ralph-bd-2"
    said = repo.ralph("worktree", "add", "bd-3", cwd="d").text
    assert said == str(repo.root / ".worktrees/ralph-bd-3") + "\n"
    linked = repo.worktree("w")
    assert add(linked, "bd-4").root == repo.root / ".worktrees/ralph-bd-4"


def test_another_base_for_a_worktree_that_is_there_is_told(repo: Repo) -> None:
    repo.git("branch", "other")
    add(repo, "bd-1", "--base", "main")
    again = repo.ralph("worktree", "add", "bd-1", "--base", "other").said
    assert "it began at 'main'; --base counts for a new branch alone" in again
    assert repo.ralph("worktree", "add", "bd-1", "--base", "main").said == ""


def test_only_a_branch_that_changed_in_the_same_worktree_is_told(repo: Repo) -> None:
    """A session that was given a worktree was told at each commit that this is on another branch."""
    tree = add(repo, "bd-1", "--session", "S1")
    tree.edit("S1", "a", "theirs\n")
    assert tree.commit("S1").notes == ""
    repo.edit("S1", "a", "mine\n")
    repo.git("switch", "-q", "-c", "side")
    assert "the session started on branch 'main' and commits on 'side'" in repo.commit("S1").notes


def test_base_is_a_branch_tag_or_oid(repo: Repo) -> None:
    """An unknown base fails before anything exists."""
    first = repo.head()
    repo.git("tag", "v1")
    repo.write("a", "second\n")
    repo.commit_all("second")
    for bead, base, ref in (
        ("bd-1", "v1", "refs/tags/v1"),
        ("bd-2", first, None),
        ("bd-3", "main", "refs/heads/main"),
    ):
        done = repo.ralph("worktree", "add", bead, "--base", base, "--json").json()
        assert done["base_ref"] == ref
        assert done["base_oid"] == (repo.head() if base == "main" else first)
    before = everything(repo)
    repo.ralph("worktree", "add", "bd-9", "--base", "nowhere", code=128)
    assert everything(repo) == before
    assert not (repo.root / ".worktrees/ralph-bd-9").exists()
    assert not (repo.state / "beads/bd-9.json").exists()


def test_added_again_is_reused(repo: Repo) -> None:
    """The same path, with the uncommitted work in it as it was."""
    tree = add(repo)
    tree.write("a", "uncommitted\n")
    done = repo.ralph("worktree", "add", "bd-1", "--json").json()
    assert done["reused"] is True
    assert done["path"] == str(tree.root)
    assert tree.read("a") == b"uncommitted\n"


@pytest.mark.parametrize("how", ["other", "detached"])
def test_wrong_branch_or_detached_is_refused(repo: Repo, how: str) -> None:
    """Both names are given, nothing changes."""
    tree = add(repo)
    tree.git("switch", "-q", *(["-c", "other"] if how == "other" else ["--detach"]))
    before = everything(repo)
    said = repo.ralph("worktree", "add", "bd-1", code=4).said
    assert "ralph/bd-1" in said
    assert ("other" if how == "other" else "detached") in said
    assert everything(repo) == before
    assert row(repo)["state"] == "mismatch"


@pytest.mark.parametrize("clone", [False, True])
def test_foreign_directory_is_left_alone(repo: Repo, clone: bool) -> None:
    """A directory that is not ours is refused, and no branch is made."""
    path = repo.root / ".worktrees/ralph-bd-1"
    if clone:
        subprocess.run(["git", "clone", "-q", str(repo.root), str(path)], check=True)
    else:
        path.mkdir(parents=True)
        (path / "mine").write_text("mine\n")
    before = everything(repo), sorted(os.listdir(path))
    repo.ralph("worktree", "add", "bd-1", code=4)
    assert "ralph/bd-1" not in branches(repo)
    assert (everything(repo), sorted(os.listdir(path))) == before


def test_branch_without_worktree_is_opened_at_its_tip(repo: Repo) -> None:
    repo.git("branch", "ralph/bd-1")
    repo.write("a", "second\n")
    repo.commit_all("second")
    done = repo.ralph("worktree", "add", "bd-1")
    assert "opened at its tip" in done.said
    tree = Repo(Path(done.text[:-1]), repo.env)
    assert tree.head() == repo.git("rev-parse", "HEAD~1")


def test_branch_checked_out_elsewhere_is_refused(repo: Repo) -> None:
    other = repo.root.parent / "other"
    repo.git("worktree", "add", "-q", "-b", "ralph/bd-1", str(other))
    assert str(other) in repo.ralph("worktree", "add", "bd-1", code=4).said
    assert not (repo.root / ".worktrees/ralph-bd-1").exists()


def test_branch_name_in_the_way_is_refused(repo: Repo) -> None:
    """A branch named as our folder of branches leaves no room for them: said, nothing made."""
    repo.git("branch", "ralph")
    before = everything(repo)
    assert "'ralph'" in repo.ralph("worktree", "add", "bd-1", code=4).said
    assert everything(repo) == before
    assert not (repo.root / ".worktrees").exists()


def test_ids_of_beads(repo: Repo) -> None:
    """Dots and dashes work and never mean the parent; what git cannot name is a usage error."""
    for bead in ("bd-a3f8.1", "ralph-loop-7jf", "gt-wisp-hfb", "bd-a3f8"):
        assert add(repo, bead).root.name == f"ralph-{bead}"
        assert f"ralph/{bead}" in branches(repo)
    before = everything(repo)
    bad = ("", "../x", "a/b", "-x", "x.lock", "x.", "a..b", "a b", "a\nb", "x" * 300)
    for bead in bad:
        repo.ralph("worktree", "add", "--", bead, code=129)
    repo.ralph("worktree", "add", "bd-1")
    repo.ralph("worktree", "add", "BD-1", code=4)
    repo.ralph("worktree", "remove", "bd-1")
    assert everything(repo) == before


def test_bead_of_a_live_session_is_in_progress(repo: Repo) -> None:
    """Refused with the owner named; a dead owner's bead can be taken over."""
    repo.start("S1")
    repo.start("S2")
    add(repo, "bd-1", "--session", "S1")
    said = repo.ralph("worktree", "add", "bd-1", "--session", "S2", code=4).said
    assert "in progress" in said
    assert repo.called("S1") in said
    assert (
        f"hint: git ralph session end {repo.called('S1')} && git ralph worktree add bd-1 --take-over\n"
        in said
    )
    agent = {"CLAUDE_CODE_SESSION_ID": "S2"}
    told = repo.ralph("worktree", "add", "bd-1", "--session", "S2", code=4, env=agent).said
    assert "session end" not in told
    assert "--take-over" not in told
    repo.ralph("worktree", "add", "bd-1", "--session", "S2", "--take-over", code=4)
    repo.ralph("worktree", "add", "bd-1", "--session", "S1")
    repo.ralph("session", "end", "S1")
    said = repo.ralph("worktree", "add", "bd-1", "--session", "S2", code=4).said
    assert "--take-over" in said
    done = repo.ralph("worktree", "add", "bd-1", "--session", "S2", "--take-over")
    assert repo.called("S1") in done.said
    assert row(repo)["owner"] == "S2"


MOST = 10 if FULL else 5


def _at_once(repo: Repo, beads: list[str]) -> list[int]:
    children = [
        subprocess.Popen(
            [*COMMAND, "worktree", "add", bead],
            cwd=repo.root,
            env=repo.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for bead in beads
    ]
    return [child.wait(PATIENCE) for child in children]


def test_many_adds_at_once_make_one_worktree(repo: Repo) -> None:
    """Several adds of one bead: one worktree; an add of each of several beads: as many."""
    assert set(_at_once(repo, ["bd-1"] * MOST)) <= {0, 4, 75}
    assert len(registered(repo)) == 2
    others = [f"x-{n}" for n in range(MOST)]
    while others:  # who waited too long for his turn is told to try again, and does
        codes = dict(zip(others, _at_once(repo, others), strict=True))
        assert set(codes.values()) <= {0, 75}
        assert 0 in codes.values()
        others = [bead for bead, code in codes.items() if code]
    assert len(registered(repo)) == MOST + 2
    exclude = (repo.root / ".git/info/exclude").read_text()
    assert exclude.count("/.worktrees/") == 1
    repo.git("fsck", "--strict", "--no-dangling", "--no-progress")


def _register_half(repo: Repo) -> Path:
    """A worktree as another git leaves it for a moment: its ``commondir`` is there and empty."""
    repo.git("worktree", "add", "-q", "--detach", str(repo.root.parent / "theirs"))
    half = repo.root / ".git/worktrees/theirs/commondir"
    half.write_text("")
    return half


def test_a_worktree_that_another_git_is_registering_is_waited_for(repo: Repo) -> None:
    half = _register_half(repo)
    later = threading.Timer(0.5, half.write_text, ["../..\n"])
    later.start()
    repo.ralph("worktree", "add", "bd-1")
    later.join()
    assert row(repo)["bead"] == "bd-1"


def test_a_worktree_that_stays_half_registered_makes_no_guess(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told as busy, with git's own words; nothing of ours is left."""
    monkeypatch.setattr(worktrees, "PATIENCE", 2)
    _register_half(repo)
    said = repo.ralph("worktree", "add", "bd-1", code=75, process=False).said
    assert "commondir" in said
    assert not (repo.root / ".worktrees/ralph-bd-1").exists()


def test_invisible_to_git_add(repo: Repo) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.commit_all("ignore")
    add(repo)
    add(repo, "bd-2")
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("add", "-An") == ""
    assert repo.read(".gitignore") == b"*.log\n"
    assert (repo.root / ".git/info/exclude").read_text().count(".worktrees") == 1


def test_no_dirt_of_the_main_checkout_comes_along(repo: Repo) -> None:
    repo.write("a", "dirty\n")
    repo.write("untracked", "x\n")
    repo.write("b", "staged\n")
    repo.git("add", "b")
    staged = repo.staged()
    tree = add(repo)
    assert tree.git("status", "--porcelain") == ""
    assert not tree.file("untracked").exists()
    assert repo.staged() == staged
    assert repo.git("stash", "list") == ""


def test_ignored_files_are_copied_on_request(repo: Repo) -> None:
    repo.write(".gitignore", ".env\n*.local\nlink\nsecret\n")
    repo.commit_all("ignore")
    repo.write(".env", "A=1\n", 0o600)
    repo.write("cfg/x.local", "local\n", 0o755)
    repo.write("secret", "not listed\n")
    repo.write("plain", "listed, not ignored\n")
    outside = repo.root.parent / "outside"
    outside.write_text("outside\n")
    os.symlink(outside, repo.file("link"))
    assert not add(repo, "bd-0").file(".env").exists()
    repo.write(".worktreeinclude", ".env\n*.local\nlink\nplain\n")
    tree = add(repo)
    assert tree.read(".env") == b"A=1\n"
    assert tree.file(".env").stat().st_mode & 0o777 == 0o600
    assert tree.file("cfg/x.local").stat().st_mode & 0o777 == 0o755
    assert not tree.file("secret").exists()
    assert not tree.file("plain").exists()
    assert tree.file("link").is_symlink()
    repo.write("kept.local", "main\n")
    tree.write("kept.local", "mine\n")
    repo.ralph("worktree", "add", "bd-1")
    assert tree.read("kept.local") == b"mine\n"


def test_after_create_command_runs_inside(repo: Repo) -> None:
    """With the variables of the session; where it fails the worktree stays and the exit code tells."""
    repo.git("config", "ralph.worktree.postCreate", 'echo "$RALPH_BEAD $RALPH_ROOT" >said; echo noise')
    done = repo.ralph("worktree", "add", "bd-1")
    tree = Path(done.text[:-1])
    assert (tree / "said").read_text() == f"bd-1 {tree}\n"
    repo.git("config", "ralph.worktree.postCreate", "echo broken; exit 3")
    done = repo.run("worktree", "add", "bd-2")
    assert done.code == 1
    assert done.out == b""
    assert "broken" in done.said
    assert (repo.root / ".worktrees/ralph-bd-2/a").exists()


def test_worktrees_of_the_same_basename_stay_apart(repo: Repo) -> None:
    """A worktree of the same folder name elsewhere: both stay registered."""
    other = repo.root.parent / "ralph-bd-1"
    repo.git("worktree", "add", "-q", "-b", "x", str(other))
    tree = add(repo)
    assert {str(other), str(tree.root)} <= set(registered(repo))
    assert "prunable" not in repo.git("worktree", "list", "--porcelain")


def test_list_agrees_with_git(repo: Repo) -> None:
    """Bead, branch, path, state and counts, for the worktrees that git knows too."""
    repo.start("S1")
    live = add(repo, "live", "--session", "S1")
    commit(live)
    live.write("a", "x\n")
    live.write("extra", "x\n")
    add(repo, "idle")
    gone = add(repo, "gone")
    shutil.rmtree(gone.root)
    add(repo, "locked")
    repo.ralph("worktree", "lock", "locked", "--reason", "mine")
    add(repo, "stale", "--session", "S2")
    repo.ralph("session", "end", "S2")
    repo.git("worktree", "add", "-q", "-b", "odd", ".worktrees/ralph-odd")
    rows = {r["bead"]: r for r in repo.ralph("worktree", "list", "--json").json()}
    assert {bead: r["state"] for bead, r in rows.items()} == {
        "live": "live",
        "idle": "idle",
        "gone": "missing",
        "locked": "locked",
        "stale": "stale",
        "odd": "orphan",
    }
    assert (rows["live"]["ahead"], rows["live"]["behind"]) == (1, 0)
    assert rows["live"]["dirty"] == {"staged": 0, "modified": 1, "untracked": 1, "unmerged": 0}
    assert rows["live"]["last_commit"]["subject"] == "work on new"
    assert rows["locked"]["locked"] == "mine"
    assert {r["path"] for r in rows.values()} == set(registered(repo)[1:])
    said = repo.ralph("worktree", "list", "--porcelain", "-z").out
    assert b"bead live\0" in said
    assert "live\tlive" in repo.ralph("worktree", "list").text


def test_locked_worktree_is_not_removed(repo: Repo) -> None:
    """Not by force, not when the directory is missing; the reason is given."""
    tree = add(repo)
    repo.ralph("worktree", "lock", "bd-1", "--reason", "on a stick")
    assert "locked on a stick" in repo.git("worktree", "list", "--porcelain")
    for args in ((), ("--force",)):
        assert "on a stick" in repo.ralph("worktree", "remove", "bd-1", *args, code=4).said
    shutil.rmtree(tree.root)
    for args in ((), ("--force",)):
        assert "on a stick" in repo.ralph("worktree", "remove", "bd-1", *args, code=4).said
    assert str(tree.root) in registered(repo)
    repo.ralph("worktree", "unlock", "bd-1")
    repo.ralph("worktree", "unlock", "bd-1", code=4)
    repo.ralph("worktree", "remove", "bd-1")


def test_remove_clean_and_merged(repo: Repo) -> None:
    tree = add(repo)
    commit(tree)
    repo.ralph("worktree", "merge", "bd-1")
    repo.ralph("worktree", "remove", "bd-1")
    assert not tree.root.exists()
    assert registered(repo) == [str(repo.root)]
    assert branches(repo) == ["main"]
    assert '"removed"' in (repo.state / "beads/bd-1.json").read_text()
    assert repo.git("for-each-ref", "refs/ralph") == ""


def test_remove_refuses(repo: Repo) -> None:
    """Where work, a live session or the caller is in it, or it is not ours: reason given, nothing changed."""
    repo.start("S1")
    for bead in ("mod", "new", "unmerged", "inside", "live"):
        add(repo, bead, *(["--session", "S1"] if bead == "live" else []))
    home = repo.root / ".worktrees"
    (home / "ralph-mod/a").write_text("modified\n")
    (home / "ralph-new/new").write_text("untracked\n")
    commit(Repo(home / "ralph-unmerged", repo.env))
    repo.git("worktree", "add", "-q", "-b", "ralph/foreign", ".worktrees/ralph-foreign")
    before = everything(repo)
    for bead, word in (
        ("mod", "'a'"),
        ("new", "'new'"),
        ("unmerged", "not merged"),
        ("live", "session-1"),
        ("foreign", "not made"),
        ("nothing", "no bead"),
    ):
        assert word in repo.ralph("worktree", "remove", bead, code=4).said, bead
    assert (
        "inside" in repo.ralph("worktree", "remove", "inside", code=4, cwd=".worktrees/ralph-inside/d").said
    )
    repo.ralph("worktree", "remove", "--force", "inside", code=4, cwd=".worktrees/ralph-inside")
    assert everything(repo) == before


def test_remove_refuses_what_status_cannot_see(repo: Repo) -> None:
    tree = add(repo)
    tree.git("update-index", "--assume-unchanged", "a")
    tree.write("a", "hidden\n")
    assert "'a'" in repo.ralph("worktree", "remove", "bd-1", code=4).said
    tree.git("update-index", "--no-assume-unchanged", "a")
    tree.git("checkout", "-q", "a")
    subprocess.run(["git", "init", "-q", str(tree.root / "inner")], check=True)
    tree.write("inner/x", "x\n")
    assert "repository of its own" in repo.ralph("worktree", "remove", "bd-1", "--force", code=4).said
    assert tree.read("inner/x") == b"x\n"


def test_remove_refuses_with_a_process_inside(repo: Repo) -> None:
    tree = add(repo)
    child = subprocess.Popen([sys.executable, "-c", HOLD], cwd=tree.root, stdin=subprocess.PIPE)
    try:
        assert str(child.pid) in repo.ralph("worktree", "remove", "bd-1", code=4).said
    finally:
        child.communicate(b"")
    repo.ralph("worktree", "remove", "bd-1")


def test_remove_lists_ignored_files_that_would_be_lost(repo: Repo) -> None:
    """Ignored files that differ are listed and refused; by force they go after the list."""
    repo.write(".gitignore", ".env\nbuild/\n")
    repo.commit_all("ignore")
    repo.write(".env", "A=1\n")
    tree = add(repo)
    tree.write(".env", "A=1\n")
    repo.ralph("worktree", "remove", "bd-1")
    tree = add(repo)
    tree.write(".env", "A=2\n")
    tree.write("build/out", "x\n")
    said = repo.ralph("worktree", "remove", "bd-1", code=4).said
    assert "'.env'" in said
    assert "'build'" in said
    repo.git("config", "--add", "ralph.worktree.disposable", "build")
    assert "'build'" not in repo.ralph("worktree", "remove", "bd-1", code=4).said
    done = repo.ralph("worktree", "remove", "--force", "bd-1", "--json").json()
    assert done["ignored"] == [".env"]
    assert not tree.root.exists()


def test_a_repository_that_git_ignores_is_never_removed(repo: Repo) -> None:
    """No commit can hold it, so `--force` cannot save it."""
    tree = add(repo)
    repo.write(".git/info/exclude", "/.worktrees/\nvendor/\n.env\n")
    tree.git("init", "-q", "vendor/inner")
    for force in ([], ["--force"]):
        assert "is a repository of its own" in repo.ralph("worktree", "remove", *force, "bd-1", code=4).said
    assert (tree.root / "vendor/inner/.git").is_dir()
    shutil.rmtree(tree.root / "vendor")
    tree.write(".env", "secret\n")
    assert "but not what git ignores" in repo.ralph("worktree", "remove", "bd-1", code=4).said
    assert "ignored files went with it: '.env'" in repo.ralph("worktree", "remove", "--force", "bd-1").said


def test_what_is_in_the_upstream_of_the_base_is_merged(repo: Repo, tmp_path: Path) -> None:
    tree = add(repo)
    commit(tree)
    repo.git("init", "-q", "--bare", str(tmp_path / "hub.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    base = repo.git("symbolic-ref", "--short", "HEAD").strip()
    repo.git("push", "-q", "-u", "origin", base)
    assert "not merged" in repo.ralph("worktree", "remove", "bd-1", code=4).said
    repo.git("push", "-q", "origin", f"ralph/bd-1:{base}")
    assert "removed" in repo.ralph("worktree", "remove", "bd-1").text


@pytest.mark.parametrize("ahead", [True, False])
def test_commits_on_a_detached_head_are_kept_by_what_is_hinted(repo: Repo, ahead: bool) -> None:
    tree = add(repo)
    tree.git("checkout", "-q", "--detach")
    own = commit(tree)
    if not ahead:
        tree.git("branch", "-f", "ralph/bd-1", tree.git("commit-tree", "-m", "x", "HEAD^{tree}").strip())
    assert row(repo)["branch"] is None
    if ahead:
        assert "whose commits were not merged" in repo.ralph("worktree", "merge", "bd-1").said
        assert row(repo)["status"] == "in_progress"
    hint = repo.ralph("worktree", "remove", "bd-1", code=4).said.partition("hint: ")[2].partition("  #")[0]
    subprocess.run(hint, shell=True, cwd=repo.root, env=repo.env, check=True, capture_output=True)
    repo.ralph("worktree", "remove", "--force", "bd-1")
    assert repo.git("for-each-ref", "--contains", own) != ""


def test_a_worktree_that_was_moved_has_a_way_home(repo: Repo, tmp_path: Path) -> None:
    add(repo)
    repo.git("worktree", "move", ".worktrees/ralph-bd-1", str(tmp_path / "else"))
    for word, code in (("add", 4), ("remove", 4), ("path", 128)):
        said = repo.ralph("worktree", word, "bd-1", code=code).said
        assert f"is checked out at '{tmp_path / 'else'}'" in said
    hint = said.partition("hint: ")[2].split()
    subprocess.run(hint, cwd=repo.root, env=repo.env, check=True)
    assert repo.ralph("worktree", "path", "bd-1").text.strip().endswith("ralph-bd-1")


def test_a_rebase_in_a_bead_is_named(repo: Repo) -> None:
    """git switches nowhere before its end, so the way back to the branch would not work."""
    tree = add(repo)
    commit(tree, "a", "one\n")
    tree.git("checkout", "-q", "-b", "other", "HEAD~1")
    commit(tree, "a", "other\n")
    tree.git("checkout", "-q", "ralph/bd-1")
    subprocess.run(["git", "rebase", "-q", "other"], cwd=tree.root, env=tree.env, capture_output=True)
    assert "a rebase is in progress" in repo.ralph("worktree", "remove", "--force", "bd-1", code=4).said
    assert "a rebase is in progress" in repo.ralph("worktree", "add", "bd-1", code=4).said


def test_forced_removal_can_be_undone(repo: Repo) -> None:
    repo.write(".gitattributes", "*.txt text eol=lf\n")
    repo.write("t.txt", "one\ntwo\n")
    repo.commit_all("attributes")
    tree = add(repo)
    tip = commit(tree)
    tree.write("a", "modified\n")
    tree.write("t.txt", "one\r\ntwo\r\n")
    tree.remove("b")
    tree.write("odd\nname", b"\xff\0bytes")
    tree.write("run", "#!/bin/sh\n", 0o755)
    os.symlink("a", tree.file("link"))
    shutil.rmtree(tree.file("d"))
    tree.write("d", "now a file\n")
    tree.write("u", "staged\n")
    tree.git("add", "u")
    tree.write("u", "worktree\n")
    staged = tree.staged()
    names = ("a", "t.txt", "odd\nname", "run", "d", "u", "new")
    before = {name: tree.read(name) for name in names}
    done = repo.ralph("worktree", "remove", "--force", "bd-1", "--json").json()
    assert done["saved"].startswith("refs/ralph/trash/bd-1/")
    assert repo.git("rev-parse", done["saved"] + "^") == tip
    assert repo.blob("odd\nname", done["saved"]) == b"\xff\0bytes"
    assert not tree.root.exists()
    assert "ralph/bd-1" not in branches(repo)
    assert repo.ralph("worktree", "restore", "bd-1").text == f"{tree.root}\n"
    assert {name: tree.read(name) for name in names} == before
    assert not tree.file("b").exists()
    assert os.readlink(tree.file("link")) == "a"
    assert tree.file("run").stat().st_mode & 0o100
    assert tree.head() == tip
    assert tree.staged() == staged
    repo.ralph("worktree", "restore", "bd-1", code=4)
    assert repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""


def test_missing_directory_is_cleared_alone(repo: Repo) -> None:
    """Only that registration goes; another absent worktree's stays."""
    tree = add(repo)
    other = repo.worktree("other")
    shutil.rmtree(tree.root)
    shutil.rmtree(other.root)
    assert row(repo)["state"] == "missing"
    repo.ralph("worktree", "remove", "bd-1")
    assert registered(repo) == [str(repo.root), str(other.root)]
    tree = add(repo)
    shutil.rmtree(tree.root)
    assert add(repo).read("a") is not None
    assert str(other.root) in registered(repo)


def test_missing_directory_with_work_on_the_branch(repo: Repo) -> None:
    tree = add(repo)
    tip = commit(tree)
    shutil.rmtree(tree.root)
    assert "not merged" in repo.ralph("worktree", "remove", "bd-1").said
    assert repo.git("rev-parse", "ralph/bd-1") == tip
    assert add(repo).head() == tip


def test_squash_merged_counts_as_merged(repo: Repo) -> None:
    tree = add(repo)
    commit(tree, "one", "1\n")
    commit(tree, "two", "2\n")
    repo.git("merge", "-q", "--squash", "ralph/bd-1")
    repo.commit_all("squashed")
    repo.write("one", "changed on main since\n")
    repo.commit_all("later")
    repo.ralph("worktree", "remove", "bd-1")
    assert branches(repo) == ["main"]
    assert repo.git("for-each-ref", "refs/ralph/trash/") != ""


@pytest.mark.parametrize("forward", [True, False])
def test_merge_leaves_the_main_checkout_alone(repo: Repo, forward: bool) -> None:
    """The base has the work, authors are kept, unrelated dirt stays as it is."""
    tree = add(repo)
    tree.write("new", "work\n")
    tree.write("a", "changed\n")
    tree.remove("e/b")
    tree.git("add", "-A")
    tree.git("commit", "-q", "-m", "work", "--author", "Worker <w@example.com>")
    if not forward:
        repo.write("d/a", "main went on\n")
        repo.commit_all("main")
    repo.write("b", "dirty\n")
    repo.write("untracked", "mine\n")
    repo.write("u", "staged\n")
    repo.git("add", "u")
    staged, old = repo.staged(), repo.head()
    done = repo.ralph("worktree", "merge", "bd-1", "--json").json()
    assert done["how"] == ("fast-forward" if forward else "merge")
    assert done["commit"] == repo.head() != old
    assert (repo.read("new"), repo.read("a")) == (b"work\n", b"changed\n")
    assert not repo.file("e").exists()
    assert "Worker" in repo.git("log", "--format=%an")
    assert repo.staged() == staged
    assert repo.git("status", "--porcelain") == " M b\nM  u\n?? untracked"
    assert repo.git("rev-parse", "HEAD@{1}") == repo.git("rev-parse", "main@{1}") == old
    assert repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""
    assert repo.ralph("worktree", "merge", "bd-1", "--json").json()["status"] == "already"


def test_merge_into_a_branch_nobody_has_checked_out(repo: Repo) -> None:
    repo.git("branch", "dev")
    tree = add(repo, "bd-1", "--base", "dev")
    tip = commit(tree)
    before = repo.git("status", "--porcelain"), repo.head()
    repo.ralph("worktree", "merge", "bd-1")
    assert repo.git("rev-parse", "dev") == tip
    assert repo.git("rev-parse", "dev@{1}") == repo.head()
    assert (repo.git("status", "--porcelain"), repo.head()) == before
    assert not list(repo.state.glob("merges/*"))


def test_merge_conflict_is_refused_and_named(repo: Repo) -> None:
    tree = add(repo)
    commit(tree, "a", "theirs\n")
    repo.write("a", "ours\n")
    repo.commit_all("ours")
    before = everything(repo)
    done = repo.ralph("worktree", "merge", "bd-1", "--json", code=4)
    assert done.json()["conflicts"] == ["a"]
    assert "'a'" in repo.ralph("worktree", "merge", "bd-1", code=4).said
    assert everything(repo) == before
    assert tree.git("status", "--porcelain") == ""


@pytest.mark.parametrize("how", ["edited", "staged", "in the way", "ignored"])
def test_merge_refuses_a_base_checked_out_and_dirty(repo: Repo, how: str) -> None:
    """Refused before the ref moves where a path of the merge is dirty."""
    repo.write(".git/info/exclude", "new\n" if how == "ignored" else "")
    tree = add(repo)
    tree.write("new", "work\n")
    tree.write("a", "work\n")
    tree.git("add", "-f", "new", "a")
    tree.git("commit", "-q", "-m", "work")
    repo.write("new" if how in ("in the way", "ignored") else "a", "the user's\n")
    if how == "staged":
        repo.git("add", "a")
    before = everything(repo)
    name = "new" if how in ("in the way", "ignored") else "a"
    assert f"'{name}'" in repo.ralph("worktree", "merge", "bd-1", code=4).said
    assert everything(repo) == before
    assert repo.read(name) == b"the user's\n"


def test_merge_into_a_sparse_checkout_leaves_out_what_it_leaves_out(repo: Repo) -> None:
    repo.write("far/f", "one\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "far")
    tree = add(repo)
    repo.git("sparse-checkout", "set", "--no-cone", "/*", "!/far/")
    tree.git("sparse-checkout", "disable")
    commit(tree, "far/f", "two\n")
    merged = commit(tree, "near", "work\n")
    repo.ralph("worktree", "merge", "bd-1")
    assert repo.git("rev-parse", "HEAD").strip() == merged
    assert repo.git("status", "--porcelain") == ""
    assert repo.read("near") == b"work\n"
    assert not (repo.root / "far/f").exists()


def _filtered(repo: Repo, smudge: str) -> Repo:
    """A bead whose file goes through a filter, which from now on is ``smudge``."""
    repo.write(".gitattributes", "*.z filter=z\n")
    repo.git("config", "filter.z.clean", "cat")
    repo.git("config", "filter.z.smudge", "cat")
    repo.git("config", "filter.z.required", "true")
    repo.write("f.z", "one\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "z")
    tree = add(repo)
    commit(tree, "f.z", "two\n")
    commit(tree, "near", "work\n")
    repo.git("config", "filter.z.smudge", smudge)
    return tree


def test_merge_is_refused_where_git_cannot_write_a_file(repo: Repo) -> None:
    """A filter fails, as git-lfs does without its server: nothing has moved then."""
    _filtered(repo, "false")
    before = everything(repo)
    assert "cannot write 'f.z'" in repo.ralph("worktree", "merge", "bd-1", code=4).said
    assert everything(repo) == before
    assert not list((repo.root / ".git/ralph-sessions/tmp").iterdir())


def test_a_file_that_git_fails_to_write_after_all_does_not_take_the_merge_back(repo: Repo) -> None:
    """The branch has moved: with the old index the next plain commit would remove the bead's work."""
    good = repo.root.parent / "once"
    good.touch()
    _filtered(repo, f"test -e {good} && rm {good} && cat")
    assert "git could not write 'f.z'" in repo.ralph("worktree", "merge", "bd-1").said
    assert repo.git("diff", "--cached", "--name-only") == ""
    assert not (repo.root / ".git/index.lock").exists()
    assert repo.read("near") == b"work\n"
    repo.git("config", "filter.z.smudge", "cat")
    repo.git("checkout", "--", "f.z")
    assert repo.git("status", "--porcelain") == ""


def test_merge_is_busy_when_the_base_moved(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    from gitralph.records import intents

    tree = add(repo)
    commit(tree)
    real = intents.write

    def moved(*args: object) -> None:
        real(*args)  # type: ignore[arg-type]
        repo.write("b", "a commit in between\n")
        repo.commit_all("between")

    monkeypatch.setattr(intents, "write", moved)
    repo.ralph("worktree", "merge", "bd-1", code=75)
    monkeypatch.undo()
    assert repo.git("log", "-1", "--format=%s") == "between"
    assert repo.git("status", "--porcelain") == ""
    assert not (repo.root / ".git/index.lock").exists()
    repo.ralph("worktree", "merge", "bd-1")
    assert repo.read("new") == b"work\n"


def test_worktree_without_git_file_never_falls_through_to_main(repo: Repo) -> None:
    """Nothing is committed or recorded in the main checkout from a worktree that lost its git file."""
    repo.start("S1")
    tree = add(repo, "bd-1", "--session", "S1")
    (tree.root / ".git").unlink()
    before = everything(repo)
    tree.write("a", "x\n")
    for args in (
        ("commit", "--session", "S1", "-m", "x"),
        ("track", "--session", "S1", "--", "a"),
        ("status",),
    ):
        said = tree.ralph(*args, code=4).said
        assert str(tree.root) in said
    event = {
        "session": "S1",
        "cwd": str(tree.root),
        "event": "edit",
        "path": "a",
        "before": "",
        "after": "x\n",
    }
    done = tree.hook("generic", event)
    assert "warning" in done.said
    assert repo.pending("S1") == []
    repo.ralph("track", "--session", "S1", "--", ".worktrees/ralph-bd-1/a", code=128)
    launch = {"worktree_policy": "required", "bead_id": "bd-2", "subagent_type": "x", "prompt": "p"}
    assert tree.run("hook", "claude-code", stdin=json.dumps(launch).encode()).code == 2
    assert everything(repo) == before
    assert not (repo.state / "beads/bd-2.json").exists()
    repo.git("worktree", "repair")
    assert tree.git("rev-parse", "--abbrev-ref", "HEAD") == "ralph/bd-1"


def test_no_fall_through_after_the_registration_is_gone_too(repo: Repo) -> None:
    tree = add(repo)
    (tree.root / ".git").unlink()
    repo.git("worktree", "prune", "--expire=now")
    tree.ralph("commit", "--session", "S1", "-m", "x", code=4)


def test_repository_moved_and_repaired(repo: Repo, tmp_path: Path) -> None:
    add(repo)
    new = tmp_path / "elsewhere"
    os.rename(repo.root, new)
    moved = Repo(new, repo.env)
    moved.git("worktree", "repair", str(new / ".worktrees/ralph-bd-1"))
    assert row(moved)["path"] == str(new / ".worktrees/ralph-bd-1")
    assert moved.ralph("worktree", "add", "bd-1", "--json").json()["reused"] is True
    add(moved, "bd-2")
    moved.ralph("worktree", "remove", "bd-1")
    assert not (new / ".worktrees/ralph-bd-1").exists()


def test_inside_a_git_hook_the_right_repository(repo: Repo) -> None:
    index = repo.root / ".git/private-index"
    shutil.copy(repo.root / ".git/index", index)
    before = index.read_bytes()
    env = {
        "GIT_DIR": ".git",
        "GIT_INDEX_FILE": str(index),
        "GIT_PREFIX": "",
    }
    done = repo.ralph("worktree", "add", "bd-1", env=env)
    assert done.text == f"{repo.root}/.worktrees/ralph-bd-1\n"
    tree = Repo(Path(done.text[:-1]), repo.env)
    commit(tree)
    repo.ralph("worktree", "merge", "bd-1", env=env)
    repo.ralph("worktree", "remove", "bd-1", env=env)
    assert index.read_bytes() == before
    assert repo.read("new") == b"work\n"
    assert repo.git("status", "--porcelain") == ""


def test_separate_git_dir_submodule_bare(repo: Repo, tmp_path: Path, environ: dict[str, str]) -> None:
    apart = Repo.init(tmp_path / "apart", environ, "--separate-git-dir", str(tmp_path / "store"))
    apart.write("a", "x\n")
    apart.commit_all("x")
    tree = add(apart)
    assert tree.root == apart.root / ".worktrees/ralph-bd-1"
    assert "main checkout" in tree.ralph("worktree", "add", "bd-2", code=128).said
    apart.ralph("worktree", "remove", "bd-1")

    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(apart.root), "sub")
    repo.git("commit", "-qm", "sub")
    inner = Repo(repo.root / "sub", repo.env)
    nested = add(inner)
    assert nested.root == inner.root / ".worktrees/ralph-bd-1"
    assert add(nested, "bd-2").root == inner.root / ".worktrees/ralph-bd-2"
    outer = add(repo, "top")
    outer.git("-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init")
    assert "submodule" in repo.ralph("worktree", "remove", "--force", "top", code=4).said
    _gone_once_its_hint_is_typed(repo, outer)

    subprocess.run(["git", "clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare.git")], check=True)
    subprocess.run(
        ["git", "-C", str(tmp_path / "bare.git"), "worktree", "add", "-q", "-b", "w", str(tmp_path / "w")],
        check=True,
    )
    assert "bare" in Repo(tmp_path / "w", repo.env).ralph("worktree", "add", "bd-1", code=128).said


def _gone_once_its_hint_is_typed(repo: Repo, tree: Repo) -> None:
    """git keeps the repository of a submodule after ``deinit``; a commit that is nowhere else stays."""
    inner = Repo(tree.root / "sub", repo.env)
    inner.git("branch", "aside", inner.git("commit-tree", "HEAD^{tree}", "-m", "nowhere else"))
    shell(repo, repo.ralph("worktree", "remove", "top", code=4).said)
    refused = repo.ralph("worktree", "remove", "--force", "top", code=4).said
    assert "commits that no remote has" in refused
    assert "nowhere else" in shell(repo, refused)
    module = tree.git_dir / "modules/sub"
    tree.git(f"--git-dir={module}", "update-ref", "refs/remotes/origin/aside", "aside")
    repo.ralph("worktree", "remove", "top")
    assert not tree.root.exists()


def shell(repo: Repo, said: str) -> str:
    """Type the first hint of an answer into a shell."""
    hint = next(row for row in said.splitlines() if row.startswith("hint: "))
    done = subprocess.run(
        ["sh", "-c", hint.removeprefix("hint: ")],
        cwd=repo.root,
        env=repo.env,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode()


@pytest.mark.parametrize("base", ["a tag", "a commit", "a branch that is gone"])
def test_a_bead_without_a_branch_to_merge_into_names_one(repo: Repo, base: str) -> None:
    repo.git("branch", "gone")
    repo.git("tag", "v1")
    start = {"a tag": "v1", "a commit": repo.head(), "a branch that is gone": "gone"}[base]
    tree = add(repo, "bd-1", "--base", start)
    made = commit(tree)
    repo.git("branch", "-D", "gone")
    code = 128 if base == "a branch that is gone" else 4
    shell(repo, repo.ralph("worktree", "merge", "bd-1", code=code).said)
    assert repo.head() == made


def test_hints_are_typed_below_a_folder_with_a_blank(tmp_path: Path, environ: dict[str, str]) -> None:
    repo = Repo.of_ten(tmp_path / "my work", environ)
    tree = add(repo)
    tree.write("a", "theirs\n")
    tree.commit_all("theirs")
    repo.write("a", "ours\n")
    repo.commit_all("ours")
    said = repo.ralph("worktree", "merge", "bd-1", code=4).said
    hint = next(row for row in said.splitlines() if row.startswith("hint: ")).removeprefix("hint: ")
    done = subprocess.run(["sh", "-c", hint], cwd=repo.root, env=repo.env, capture_output=True, check=False)
    assert b"CONFLICT" in done.stdout
    tree.git("merge", "--abort")
    tree.git("checkout", "-q", "--detach")
    shell(repo, repo.ralph("worktree", "remove", "bd-1", code=4).said)
    assert tree.git("symbolic-ref", "HEAD") == "refs/heads/ralph/bd-1"


def test_a_branch_that_was_deleted_has_a_way_back(repo: Repo) -> None:
    """Each hint is a command that works as typed, and none leads to the next refusal."""
    path = repo.ralph("worktree", "add", "bd-9").text.strip()
    repo.git("-C", path, "checkout", "-q", "--detach")
    repo.git("branch", "-q", "-D", "ralph/bd-9")
    hint = f"git -C {path} switch -c ralph/bd-9"
    for words in (("add",), ("merge",), ("remove",)):
        code = 128 if words == ("merge",) else 4
        assert f"hint: {hint}" in repo.ralph("worktree", *words, "bd-9", code=code).said
    repo.git(*hint.split()[1:])
    repo.ralph("worktree", "add", "bd-9")
    repo.ralph("worktree", "merge", "bd-9")
    repo.ralph("worktree", "remove", "bd-9")


def test_a_worktree_in_which_an_agent_works_is_not_idle(repo: Repo) -> None:
    """Whoever asked for it: an agent that was started there by hand owns no bead."""
    inside = add(repo)

    def listed() -> str:
        return str(repo.ralph("worktree", "list", "--json").json()[0]["state"])

    assert listed() == "idle"
    inside.edit("S1", "a", "of one\n")
    assert listed() == "live"
    repo.ralph("session", "end", "S1")
    assert listed() == "idle"


def test_a_restored_worktree_knows_whose_its_lines_are(repo: Repo) -> None:
    tree = add(repo)
    tree.edit("S1", "a", changed(3))
    tree.write("b", changed(5))
    repo.ralph("worktree", "remove", "--force", "bd-1")
    repo.ralph("worktree", "restore", "bd-1")
    assert tree.ralph("commit", "--mine", "-m", "x", "--json").json()["paths"][0]["path"] == "b"
    assert tree.commit("S1").paths == {"a": "M"}


def test_what_a_worktree_had_that_was_removed_by_hand_can_be_restored_in_the_new_one(repo: Repo) -> None:
    """Its records were still there, and no command reached them."""
    tree = add(repo)
    tree.edit("S1", "a", changed(3, "three"))
    shutil.rmtree(tree.root)
    tree = add(repo)
    assert tree.read("a") == TEN.encode()
    tree.ralph("restore", "--session", "S1")
    assert tree.commit("S1").paths == {"a": "M"}
    assert tree.blob("a").decode() == changed(3, "three")


def test_a_folder_in_the_way_of_a_worktree_that_comes_back_is_named_with_what_to_type(repo: Repo) -> None:
    """`restore` and `remove` named each other in a circle."""
    tree = add(repo)
    tree.edit("S1", "a", changed(3, "three"))
    repo.ralph("worktree", "remove", "--force", "bd-1")
    tree.write("made/by/an/editor", "x\n")
    said = repo.ralph("worktree", "restore", "bd-1", code=4).said
    assert f"hint: mv {tree.root} {tree.root}.away" in said
    tree.root.rename(f"{tree.root}.away")
    repo.ralph("worktree", "restore", "bd-1")
    assert tree.commit("S1").paths == {"a": "M"}

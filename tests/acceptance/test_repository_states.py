"""States of a repository."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.repo import Repo

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")
Make = Callable[[str], Repo]


def test_first_commit_on_an_unborn_branch(empty_repo: Repo) -> None:
    repo = empty_repo
    repo.write("u", "the user's\n")
    repo.write("staged", "the user's\n")
    repo.git("add", "staged")
    repo.edit("S1", "a", TEN)
    repo.edit("S1", "d/n", "new\n")
    repo.commit("S1")
    assert repo.changes() == {"a": "A", "d/n": "A"}
    assert repo.git("rev-list", "--parents", "HEAD") == repo.head()
    assert repo.git("diff", "--cached", "--name-only") == "staged"
    assert repo.git("log", "-g", "--format=%gs") == "commit (initial): x"


def test_first_commit_on_an_unborn_branch_with_a_slash(empty_repo: Repo) -> None:
    empty_repo.git("symbolic-ref", "HEAD", "refs/heads/feature/deep/one")
    empty_repo.edit("S1", "a", TEN)
    empty_repo.commit("S1")
    assert empty_repo.git("for-each-ref", "--format=%(refname)") == "refs/heads/feature/deep/one"


def test_an_orphan_branch_that_another_branch_is_in_the_way_of(repo: Repo) -> None:
    """``main/x`` cannot be while there is ``main``, packed or not: git would refuse too."""
    repo.git("pack-refs", "--all")
    repo.git("symbolic-ref", "HEAD", "refs/heads/main/x")
    repo.edit("S1", "n", MINE)
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert "refs/heads/main" in done.said
    assert repo.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert repo.pending("S1") == ["n"]
    assert not [p for p in (repo.root / ".git").rglob("*.lock") if "ralph-sessions" not in str(p)]


def test_an_orphan_branch_above_another(repo: Repo) -> None:
    repo.git("branch", "up/below")
    repo.git("pack-refs", "--all")
    repo.git("symbolic-ref", "HEAD", "refs/heads/up")
    repo.edit("S1", "n", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    repo.git("branch", "-D", "up/below")
    (repo.root / ".git/refs/heads/up/below").mkdir(parents=True)  # an empty folder is nobody's branch
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"n": "A"}
    repo.git("rev-parse", "up")


def test_detached_head_moves_no_branch(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    refs = repo.git("for-each-ref")
    repo.edit("S1", "a", MINE)
    answer = repo.commit("S1")
    assert "detached" in answer.notes
    assert answer.document["ref"] == "HEAD"
    assert repo.changes() == {"a": "M"}
    assert repo.git("for-each-ref") == refs
    assert repo.git("log", "-g", "-1", "--format=%gs", "HEAD") == "commit: x"
    repo.git("symbolic-ref", "-q", "HEAD", code=1)


def test_bare_repository_is_no_place_to_commit(make_repo: Make, tmp_path: Path) -> None:
    bare = Repo.init(tmp_path / "bare.git", make_repo("some").env, "--bare")
    for command in (["commit", "--session", "S1", "-m", "x"], ["status"], ["ls-files"], ["diff"]):
        done = bare.ralph(*command, code=128)
        assert "bare repository" in done.said
    event = {
        "session": "S1",
        "cwd": str(bare.root),
        "event": "edit",
        "path": "a",
        "before": None,
        "after": "",
    }
    bare.hook("generic", event)
    assert not (bare.root / "ralph-sessions").exists()


def test_no_repository_is_no_place_to_commit(make_repo: Make, tmp_path: Path) -> None:
    nowhere = Repo(tmp_path / "nowhere", make_repo("some").env)
    nowhere.root.mkdir()
    nowhere.env["GIT_CEILING_DIRECTORIES"] = str(tmp_path)
    done = nowhere.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert done.said.startswith("fatal: not a git repository")
    event = {
        "session": "S1",
        "cwd": str(nowhere.root),
        "event": "edit",
        "path": "a",
        "before": None,
        "after": "",
    }
    done = nowhere.hook("generic", event)
    assert done.err == b""
    assert list(nowhere.root.iterdir()) == []


def _side(repo: Repo) -> None:
    """A branch ``side`` that conflicts with main in ``b``."""
    repo.git("checkout", "-qb", "side")
    repo.write("b", "side\n")
    repo.commit_all("side")
    repo.git("checkout", "-q", "main")
    repo.write("b", "main\n")
    repo.commit_all("main")


def _am(repo: Repo) -> None:
    patch = repo.git_bytes("format-patch", "--stdout", "side^..side")
    repo.git("am", stdin=patch, code=128)


OPERATIONS: dict[str, tuple[str, Callable[[Repo], object]]] = {
    "merge": ("merge", lambda repo: repo.git("merge", "side", code=1)),
    "merge without conflict": ("merge", lambda repo: repo.git("merge", "-s", "ours", "--no-commit", "side")),
    "rebase": ("rebase", lambda repo: repo.git("rebase", "side", code=1)),
    "rebase by apply": ("rebase", lambda repo: repo.git("rebase", "--apply", "side", code=1)),
    "cherry-pick": ("cherry-pick", lambda repo: repo.git("cherry-pick", "side", code=1)),
    "revert": ("revert", lambda repo: repo.git("revert", "--no-commit", "HEAD")),
    "bisect": ("bisect", lambda repo: repo.git("bisect", "start")),
    "am": ("am", _am),
}


def _git_files(repo: Repo) -> dict[str, bytes]:
    top = repo.root / ".git"
    inner = [p for p in top.rglob("*") if p.is_file() and "ralph-sessions" not in p.parts]
    return {str(p.relative_to(top)): p.read_bytes() for p in inner if "objects" not in p.parts}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_in_progress_is_refused(repo: Repo, name: str) -> None:
    """In the middle of a merge, rebase, pick, revert, bisect or am: refused, its files untouched."""
    words, begin = OPERATIONS[name]
    _side(repo)
    begin(repo)
    repo.edit("S1", "a", MINE)
    before = _git_files(repo)
    answer = repo.commit("S1", code=4)
    assert words in answer.said
    assert "in progress" in answer.said
    assert _git_files(repo) == before
    assert repo.pending("S1") == ["a"]


def test_an_operation_in_another_worktree_is_no_hindrance(repo: Repo) -> None:
    _side(repo)
    other = repo.worktree("other")
    other.git("merge", "side", code=1)
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}


@pytest.mark.parametrize("how", ["amend", "rebase", "squash"])
def test_rewritten_commits_stay_consumed(repo: Repo, how: str) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    repo.tick()
    if how == "amend":
        repo.git("commit", "-q", "--amend", "-m", "said better")
    elif how == "rebase":
        base = repo.git("rev-parse", "HEAD^")
        repo.git("checkout", "-q", "-b", "upstream", base)
        repo.write("u", "upstream\n")
        repo.commit_all("upstream")
        repo.git("checkout", "-q", "main")
        repo.git("rebase", "-q", "upstream")
    else:
        repo.write("u", "more\n")
        repo.commit_all("more")
        repo.git("reset", "-q", "--soft", "HEAD^^")
        repo.git("commit", "-q", "-m", "squashed")
    head = repo.head()
    assert repo.pending("S1") == []
    assert repo.commit("S1").status == "nothing"
    assert repo.head() == head


def test_stash_and_pop_brings_the_edits_back(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.edit("S1", "n", "new\n")
    repo.git("stash", "-u")
    assert repo.commit("S1").status == "nothing"
    repo.write("b", "the user's\n")
    repo.commit_all("in between")
    assert repo.commit("S1").status == "nothing"
    repo.git("stash", "pop", "-q")
    assert repo.pending("S1") == ["a", "n"]
    repo.commit("S1")
    assert repo.changes() == {"a": "M", "n": "A"}
    assert repo.blob("a") == MINE.encode()
    assert repo.commit("S1").status == "nothing"


def test_branch_switched_content_fits(repo: Repo) -> None:
    repo.start("S1")
    repo.edit("S1", "a", MINE)
    repo.git("checkout", "-q", "-b", "other")
    answer = repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    assert "'main'" in answer.notes
    assert "'other'" in answer.notes
    assert repo.git("rev-parse", "main") == repo.git("rev-parse", "other^")


def test_branch_switched_content_does_not_fit(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "other")
    repo.write("a", "something else altogether\n")
    repo.commit_all("other")
    repo.git("checkout", "-q", "main")
    repo.edit("S1", "a", MINE)
    repo.git("symbolic-ref", "HEAD", "refs/heads/other")
    repo.git("reset", "-q")
    answer = repo.commit("S1", code=4)
    assert answer.left == {"a": "stale"}
    assert repo.pending("S1") == ["a"]
    repo.git("symbolic-ref", "HEAD", "refs/heads/main")
    repo.git("reset", "-q")
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}


def test_new_file_that_upstream_has_otherwise_is_warned_of(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "upstream")
    repo.write("n", "theirs\n")
    repo.commit_all("theirs")
    repo.git("checkout", "-q", "main")
    repo.git("branch", "-q", "-u", "upstream")
    repo.edit("S1", "n", "ours\n")
    answer = repo.commit("S1")
    assert "warning:" in answer.said
    assert "'n'" in answer.said
    assert repo.changes() == {"n": "A"}


def test_shallow_repository(repo: Repo, tmp_path: Path) -> None:
    repo.write("a", MINE)
    repo.commit_all("more")
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.root}", str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow", repo.env)
    shallow.edit("S1", "b", MINE)
    shallow.commit("S1")
    assert shallow.changes() == {"b": "M"}


def test_repository_with_alternates(repo: Repo, tmp_path: Path) -> None:
    repo.git("gc", "-q")
    repo.git("clone", "-q", "--shared", str(repo.root), str(tmp_path / "shared"))
    shared = Repo(tmp_path / "shared", repo.env)
    shared.edit("S1", "b", MINE)
    shared.edit("S1", "d/n", "new\n")
    shared.commit("S1")
    assert shared.changes() == {"b": "M", "d/n": "A"}


def test_repository_with_everything_packed(repo: Repo) -> None:
    repo.git("gc", "-q")
    repo.git("pack-refs", "--all")
    assert not (repo.root / ".git/refs/heads/main").exists()
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    repo.git("gc", "-q")
    repo.edit("S1", "a", TEN)
    repo.commit("S1")
    assert repo.blob("a") == TEN.encode()


@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
def test_partial_clone(repo: Repo, tmp_path: Path, kind: str) -> None:
    """Blobs missing: works. Trees missing: right, or refused by name."""
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.git(
        "clone", "-q", f"--filter={kind}", "--no-checkout", f"file://{repo.root}", str(tmp_path / "part")
    )
    partial = Repo(tmp_path / "part", repo.env)
    partial.git("sparse-checkout", "set", "--no-cone", "/a", "/n")
    partial.git("checkout", "-q", "main")
    partial.edit("S1", "a", MINE)
    partial.edit("S1", "n", "new\n")
    done = partial.run("commit", "--session", "S1", "-m", "x")
    if done.code == 128 and kind == "tree:0":
        assert partial.head() == repo.head()
        assert partial.pending("S1") == ["a", "n"]
        return
    assert done.code == 0, done.said
    assert partial.changes() == {"a": "M", "n": "A"}
    assert partial.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["a", "b", "d/a", "e/b", "n", "u"]


@pytest.mark.parametrize("how", ["tracked", "listed"])
@pytest.mark.parametrize("form", ["--no-sparse-index", "--sparse-index"])
def test_a_path_that_a_sparse_checkout_leaves_out_is_not_deleted(repo: Repo, how: str, form: str) -> None:
    repo.start("S1")
    repo.git("sparse-checkout", "init", "--cone", form)
    repo.git("sparse-checkout", "set", "d")
    assert not (repo.root / "e/b").exists()
    if how == "tracked":
        repo.ralph("track", "--session", "S1", "e/b")
    else:
        with (repo.state / "S1.files").open("a") as file:
            file.write("e/b\n")
    repo.edit("S1", "a", MINE)
    done = repo.commit("S1")
    assert done.paths == {"a": "M"}
    assert done.left == {"e/b": "gone"}
    said = repo.ralph("commit", "--session", "S1", "-m", "x", "--whole-file", "--", "e/b").said
    assert "'e/b': gone: the checkout leaves it out" in said
    assert "hint" not in said
    assert "e/b" in repo.git("ls-tree", "-r", "--name-only", "HEAD").split()


def test_a_missing_tree_is_named(repo: Repo) -> None:
    tree = repo.git("rev-parse", "HEAD:d")
    repo.edit("S1", "d/a", MINE)
    os.unlink(repo.root / ".git/objects" / tree[:2] / tree[2:])
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert tree in done.said
    assert repo.count() == 1


def test_sha256_is_refused_by_name(tmp_path: Path, make_repo: Make) -> None:
    repo = Repo.init(tmp_path / "new", make_repo("some").env, "--object-format=sha256")
    repo.write("a", TEN)
    repo.commit_all("base")
    head = repo.head()
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert "sha256" in done.said
    assert repo.head() == head


def test_reftable_works(tmp_path: Path, make_repo: Make) -> None:
    some = make_repo("some")
    done = subprocess.run(
        ["git", "init", "-q", "--ref-format=reftable", str(tmp_path / "new")],
        env=some.env,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("this git has no reftable backend")
    repo = Repo(tmp_path / "new", some.env)
    repo.write("a", TEN)
    repo.commit_all("base")
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M"}
    assert repo.git("rev-parse", "HEAD@{0}") == repo.head()

"""``worktree merge --prove``: the merged tree has to pass, or nothing moves; ``prove`` names sessions."""

from pathlib import Path

from tests.acceptance.test_bead_worktrees import add, commit, everything
from tests.support.repo import Repo

# passes as long as not both are there
TOGETHER = "! { test -e one && test -e two; } || { echo they do not fit; exit 3; }"


def sides(repo: Repo) -> tuple[str, str]:
    """Two beads, each fine alone; the session of the first is S1."""
    first, second = add(repo, "bd-1"), add(repo, "bd-2")
    first.edit("S1", "one", "1\n")
    made = first.commit("S1", "-m", "the first").commit
    commit(second, "two")
    return str(made), second.head()


def test_two_that_pass_alone_and_fail_together_do_not_both_land(repo: Repo) -> None:
    made, _ = sides(repo)
    done = repo.ralph("worktree", "merge", "bd-1", "--prove", TOGETHER)
    assert repo.head() == made
    refs = everything(repo)[0]
    done = repo.ralph("worktree", "merge", "bd-2", "--prove", TOGETHER, code=1)
    assert everything(repo)[0] == refs
    before = everything(repo)  # the worktree of proofs is registered by now
    assert "they do not fit" in done.said
    assert "failed with 3 on the merged tree" in done.said
    assert f"before it came {made[:7]} 'the first' of session '{repo.called('S1')}'" in done.said
    document = repo.ralph("worktree", "merge", "bd-2", "--prove", TOGETHER, "--json", code=1).json()
    assert (document["status"], document["proof"]["ok"]) == ("refused", False)
    assert everything(repo) == before


def test_what_passes_lands_and_is_not_proved_twice(repo: Repo, tmp_path: Path) -> None:
    sides(repo)
    runs = tmp_path / "runs"
    repo.ralph("worktree", "merge", "bd-1")
    repo.ralph("worktree", "merge", "bd-2", "--prove", f"test -e one && test -e two && echo x >> {runs}")
    assert {"one", "two"} <= set(repo.git("ls-tree", "--name-only", "HEAD").split())
    assert runs.read_text() == "x\n"
    assert repo.git("status", "--porcelain") == ""


def test_a_base_that_moved_meanwhile_is_merged_and_proved_again(repo: Repo, tmp_path: Path) -> None:
    sides(repo)
    runs = tmp_path / "runs"
    moves = (
        f"cd {repo.root}; unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; echo x >> {runs}; "
        f"test $(wc -l < {runs}) -gt 1 || git commit -q --allow-empty -m moved && "
        f"test $(wc -l < {runs}) -gt 1 || {{ echo m > m; git add m; git commit -q -m m; }}"
    )
    repo.ralph("worktree", "merge", "bd-2", "--no-ff", "--prove", moves)
    assert runs.read_text() == "x\nx\n"
    assert {"m", "two"} <= set(repo.git("ls-tree", "--name-only", "HEAD").split())


def test_prove_names_the_session_of_each_commit(repo: Repo) -> None:
    repo.edit("S1", "x", "1\n")
    repo.commit("S1")
    repo.write("y", "1\n")
    repo.commit_all("by hand")
    assert f" {repo.called('S1')} " in repo.ralph("prove", "HEAD~2..", "--", "true").text


def test_explain_says_first_that_head_is_red_already(repo: Repo) -> None:
    repo.write("broken", "1\n")
    repo.commit_all("broken")
    repo.edit("S1", "x", "1\n")
    repo.edit("S2", "y", "1\n")
    done = repo.ralph(
        "commit", "--session", "S1", "-m", "x", "--prove", "! test -e broken", "--explain", code=1
    )
    assert f"HEAD {repo.head()[:7]} fails already, without this commit" in done.said

"""What the user staged stays staged: whose it is, what of it a commit holds already, what cannot be kept."""

import pytest

from tests.support import shells
from tests.support.repo import Repo
from tests.support.texts import TEN, changed


def _index(repo: Repo, path: str) -> bytes:
    return repo.git_bytes("cat-file", "blob", f":{path}")


def _change(repo: Repo, path: str = "a") -> list[str]:
    """The lines of the staged change of one path."""
    rows = repo.git("diff", "--cached", "-U0", "--no-renames", "--", path).split("\n")
    return [row for row in rows if row.startswith(("+", "-")) and row[:3] not in ("+++", "---")]


def _stage(repo: Repo, path: str, text: str) -> None:
    """The user stages a text; the file itself stays as it is."""
    kept = repo.read(path)
    assert kept is not None
    repo.write(path, text)
    repo.git("add", path)
    repo.write(path, kept)


# --- whose a staged text is ---


def test_a_staged_rewrite_of_another_sessions_undone_line_is_not_given_up(repo: Repo) -> None:
    """The line was the other session's first, and HEAD has it no more."""
    two = TEN.replace("line 3\n", "line 3\nwritten by two\n")
    repo.edit("S2", "a", two)
    repo.commit("S2")
    repo.edit("S1", "a", two.replace("by two", "by one"))
    first = two.replace("by two", "by one").replace("line 3\n", "line 3\nthe first\n")
    repo.edit("S1", "a", first)
    repo.git("add", "a")
    repo.git("reset", "--soft", "HEAD~1")
    repo.edit("S1", "a", first.replace("the first", "the very first"))
    repo.ralph("commit", "--session", "S1", "--skip-entangled", "-m", "x")
    assert "+written by one" in _change(repo)


def test_a_staged_revert_to_an_older_commit_of_the_session_stays_staged(repo: Repo) -> None:
    """A staged version is the session's only if it equals a pending state, not a committed one."""
    one, two = changed(3, "one"), changed(3, "two")
    repo.edit("S1", "a", one)
    repo.commit("S1")
    repo.edit("S1", "a", two)
    repo.commit("S1")
    _stage(repo, "a", one)
    assert _change(repo) == ["-two", "+one"]
    repo.edit("S1", "a", two.replace("line 9\n", "nine\n"))
    repo.commit("S1")
    assert repo.blob("a") == two.replace("line 9\n", "nine\n").encode()
    assert _change(repo) == ["-two", "+one"]


def test_a_staged_line_of_the_user_that_the_session_overwrote_later_stays_staged(repo: Repo) -> None:
    """A state of the session with the user's own lines in it is not the session's."""
    repo.write("a", changed(2, "the user's"))
    mine = changed(9, "nine", changed(2, "the user's"))
    repo.edit("S1", "a", mine)
    repo.git("add", "a")
    repo.edit("S1", "a", changed(9, "nine"))
    repo.commit("S1")
    assert repo.blob("a") == changed(9, "nine").encode()
    assert _change(repo) == ["-line 2", "+the user's"]


def test_a_staged_pending_state_of_the_session_goes_forward_also_beside_another_session(repo: Repo) -> None:
    """The agent staged its own edit midway; a second session came into the file later."""
    repo.edit("S1", "a", changed(3, "one"))
    repo.git("add", "a")
    repo.edit("S1", "a", changed(3, "two"))
    repo.edit("S2", "a", changed(9, "S2", changed(3, "two")))
    repo.commit("S1")
    assert repo.blob("a") == changed(3, "two").encode()
    assert _change(repo) == []


def test_a_staged_pending_state_is_known_in_a_file_with_dos_line_ends(repo: Repo) -> None:
    """git stages line feeds where the session wrote carriage returns."""
    repo.git("config", "core.autocrlf", "true")
    repo.edit("S1", "a", changed(3, "one").replace("\n", "\r\n"))
    repo.git("add", "a")
    repo.edit("S1", "a", changed(3, "two").replace("\n", "\r\n"))
    repo.commit("S1")
    assert repo.blob("a") == changed(3, "two").encode()
    assert _change(repo) == []


def test_a_staged_line_of_another_sessions_undone_commit_stays_staged(repo: Repo) -> None:
    """After ``reset --soft`` the user's index has what the undone commit had."""
    repo.edit("S1", "a", changed())
    repo.edit("S2", "a", changed(8, "S2", changed()))
    repo.commit("S2")
    repo.git("reset", "--soft", "HEAD~1")
    assert _change(repo) == ["-line 8", "+S2"]
    repo.commit("S1")
    assert repo.blob("a") == changed().encode()
    assert _change(repo) == ["-line 8", "+S2"]


# --- what is staged holds the commit already ---


def test_everything_staged_blocks_nobody_where_two_sessions_append(repo: Repo) -> None:
    """A staged text that already holds what is committed simply stays."""
    repo.edit("S1", "a", TEN + "S1\n")
    repo.edit("S2", "a", TEN + "S1\nS2\n")
    repo.git("add", "-A")
    repo.commit("S1")
    assert repo.blob("a") == (TEN + "S1\n").encode()
    assert _index(repo, "a") == (TEN + "S1\nS2\n").encode()
    assert _change(repo) == ["+S2"]
    repo.commit("S2")
    assert repo.blob("a") == (TEN + "S1\nS2\n").encode()
    assert _change(repo) == []


def test_everything_staged_blocks_nobody_whoever_commits_first(repo: Repo) -> None:
    """The second of two neighbours in the file commits first."""
    repo.edit("S1", "a", changed(4, "S1"))
    repo.edit("S2", "a", changed(5, "S2", changed(4, "S1")))
    repo.git("add", "-A")
    repo.commit("S2")
    assert repo.blob("a") == changed(5, "S2").encode()
    assert _change(repo) == ["-line 4", "+S1"]
    repo.commit("S1")
    assert _change(repo) == []


def test_a_new_file_of_two_sessions_that_is_staged_blocks_neither(repo: Repo) -> None:
    """No text of HEAD's to merge with: the staged file holds the first session's lines."""
    repo.edit("S1", "n", "one\ntwo\n")
    repo.edit("S2", "n", "one\ntwo\nS2\n")
    repo.git("add", "-A")
    repo.commit("S1")
    assert repo.blob("n") == b"one\ntwo\n"
    assert _change(repo, "n") == ["+S2"]
    repo.commit("S2")
    assert _change(repo, "n") == []


def test_edits_after_everything_was_staged_go_into_the_staged_text_where_the_file_has_them(
    repo: Repo,
) -> None:
    """Staged by an agent's 'git add -A', then the session appends once more behind the other's line."""
    repo.edit("S1", "a", TEN + "S1\n")
    repo.edit("S2", "a", TEN + "S1\nS2\n")
    repo.git("add", "-A")
    repo.edit("S1", "a", TEN + "S1\nS2\nS1 again\n")
    repo.commit("S1")
    assert repo.blob("a") == (TEN + "S1\nS1 again\n").encode()
    assert _index(repo, "a") == (TEN + "S1\nS2\nS1 again\n").encode()
    assert _change(repo) == ["+S2"]


def test_a_staged_line_of_the_user_at_the_place_of_an_edit_is_still_refused(repo: Repo) -> None:
    """Another text for the very line that is committed: neither holds the other."""
    _stage(repo, "a", changed(9, "the user's"))
    repo.edit("S1", "a", changed(9, "nine"))
    assert repo.commit("S1", code=4).left == {"a": "entangled"}


def test_a_staged_text_that_still_has_a_deleted_line_is_not_taken_for_holding_the_deletion(
    repo: Repo,
) -> None:
    """The user staged a line beside the one that the session deletes: two changes that touch."""
    repo.edit("S1", "a", TEN.replace("line 5\n", ""))
    _stage(repo, "a", TEN.replace("line 5\n", "line 5\nthe user's\n"))
    assert repo.commit("S1", code=4).left == {"a": "entangled"}


# --- skipping ---


def test_skip_entangled_leaves_the_path_that_conflicts_with_what_is_staged(repo: Repo) -> None:
    """The rest is committed; the path stays pending and its staged change as it was."""
    _stage(repo, "a", changed(9, "the user's"))
    repo.edit("S1", "a", changed(9, "nine"))
    repo.edit("S1", "b", changed())
    before = repo.staged()
    answer = repo.commit("S1", "--skip-entangled")
    assert answer.paths == {"b": "M"} == repo.changes()
    assert answer.left == {"a": "entangled"}
    assert repo.staged() == before
    assert repo.pending("S1") == ["a"]


def test_skip_entangled_with_nothing_else_to_commit_commits_nothing(repo: Repo) -> None:
    """No empty commit."""
    _stage(repo, "a", changed(9, "the user's"))
    repo.edit("S1", "a", changed(9, "nine"))
    head = repo.head()
    answer = repo.commit("S1", "--skip-entangled")
    assert (answer.status, answer.left) == ("nothing", {"a": "entangled"})
    assert repo.head() == head


@pytest.mark.parametrize("dry", [False, True], ids=["commit", "dry run"])
@pytest.mark.parametrize("hooked", [False, True], ids=["plain", "with a hook"])
def test_skip_entangled_says_the_same_dry_and_with_a_hook(repo: Repo, dry: bool, hooked: bool) -> None:
    """What is skipped does not depend on the road the commit takes."""
    if hooked:
        hook = repo.root / ".git/hooks/pre-commit"
        hook.write_text("#!/bin/sh\nexit 0\n")
        hook.chmod(0o755)
    _stage(repo, "a", changed(9, "the user's"))
    repo.edit("S1", "a", changed(9, "nine"))
    repo.edit("S1", "b", changed())
    answer = repo.commit("S1", "--skip-entangled", *(["--dry-run"] if dry else []))
    assert answer.paths == {"b": "M"}
    assert answer.left == {"a": "entangled"}


# --- renames that git itself staged ---


@pytest.mark.parametrize("first", ["git mv a moved", "git mv a moved; sed -i s/9/nine/ moved"])
def test_a_git_mv_with_sed_goes_with_the_option(repo: Repo, first: str) -> None:
    """``git mv`` stages the move: the text that HEAD has under the old name."""
    shells.run(repo, "S1", f"{first}; sed -i s/3/three/ moved")
    answer = repo.commit("S1", "--with-shell", checked=False)
    assert answer.paths == {"a": "D", "moved": "A"} == repo.changes()
    assert repo.git("status", "--porcelain") == ""


def test_a_git_mv_in_the_shell_and_an_edit_by_a_tool(repo: Repo) -> None:
    """The move by the shell, the change under the new name by a recorded edit."""
    shells.run(repo, "S1", "git mv a moved")
    repo.edit("S1", "moved", changed())
    answer = repo.commit("S1", "--with-shell", checked=False)
    assert answer.paths == {"a": "D", "moved": "A"} == repo.changes()
    assert repo.git("status", "--porcelain") == ""


def test_a_line_that_the_user_staged_in_a_file_that_a_shell_moved_stays_staged(repo: Repo) -> None:
    """What the shell staged is put back, so his text stands for itself, and the move waits for him."""
    shells.run(repo, "S1", "git mv a moved; sed -i s/3/three/ moved")
    _stage(repo, "moved", changed(9, "the user's"))
    staged = repo.git("ls-files", "-s", "moved")
    assert repo.commit("S1", code=4, checked=False).left == {"moved": "entangled"}
    assert repo.git("ls-files", "-s", "moved") == staged


# --- an unborn branch ---


def test_another_sessions_line_that_is_staged_in_a_moved_file_stays_staged(repo: Repo) -> None:
    """The user committed the old name's deletion; the session's commit of the new one leaves the line out."""
    repo.edit("S1", "a", changed(3, "S1's"))
    repo.git("commit", "-qam", "S1's line")
    repo.rename("S2", "a", "z")
    repo.git("commit", "-qam", "the old name goes")
    repo.git("add", "-A")
    repo.commit("S2")
    assert repo.blob("z").decode() == TEN.replace("line 3\n", "")
    assert _change(repo, "z") == ["+S1's"]


def test_an_orphan_branch_with_the_old_tree_staged(repo: Repo) -> None:
    """``git commit --only`` works there: the staged text is the one that the old branch has committed."""
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.edit("S1", "a", changed())
    answer = repo.commit("S1", checked=False)
    assert answer.paths == {"a": "A"} == repo.changes()
    assert repo.blob("a") == changed().encode()
    assert _change(repo) == []
    assert repo.git("diff", "--cached", "--name-only").split() == ["b", "d/a", "e/b", "u"]


def test_an_orphan_branch_with_the_old_tree_staged_and_two_sessions(repo: Repo) -> None:
    """Each commit holds the old text with its own lines."""
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.edit("S1", "a", changed())
    repo.edit("S2", "a", changed(9, "S2", changed()))
    repo.commit("S1", checked=False)
    assert repo.blob("a") == changed().encode()
    repo.commit("S2")
    assert repo.blob("a") == changed(9, "S2", changed()).encode()


def test_an_orphan_branch_after_an_edit_on_the_old_one(repo: Repo) -> None:
    """The edit was made, and staged by nobody, before the branch was left."""
    repo.edit("S1", "a", changed())
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.commit("S1", checked=False)
    assert repo.blob("a") == changed().encode()


def test_a_new_repositorys_first_commit_takes_no_line_that_the_user_only_staged(empty_repo: Repo) -> None:
    """No commit has the staged text: it is the user's own, and nobody else may commit it."""
    empty_repo.write("a", TEN)
    empty_repo.git("add", "a")
    empty_repo.edit("S1", "a", changed())
    assert "a" in empty_repo.commit("S1", code=4).left


def test_a_file_that_head_dropped_is_no_orphans_though_the_root_was_amended(repo: Repo) -> None:
    """Upstream then has no commit in common with HEAD; what the user staged is his addition."""
    repo.git("branch", "upstream")
    repo.git("commit", "-q", "--amend", "-m", "the root, amended")
    repo.git("rm", "-q", "a")
    repo.git("commit", "-q", "-m", "without a")
    repo.git("checkout", "HEAD~1", "--", "a")
    repo.edit("S1", "a", changed())
    assert "a" in repo.commit("S1", code=4).left
    assert repo.git("diff", "--cached", "--name-only").split() == ["a"]


def test_a_file_that_an_unrelated_branch_has_as_well_is_the_users_addition(repo: Repo) -> None:
    """A page branch, a second remote, a shallow clone: that there is no commit in common says nothing."""
    repo.git("checkout", "-q", "--orphan", "pages")
    repo.git("rm", "-rqf", ".")
    repo.write("LICENSE", TEN)
    repo.commit_all("pages")
    repo.git("checkout", "-q", "main")
    repo.write("LICENSE", TEN)
    repo.git("add", "LICENSE")
    repo.edit("S1", "LICENSE", changed())
    assert "LICENSE" in repo.commit("S1", code=4).left
    assert _change(repo, "LICENSE")


@pytest.mark.parametrize("soft", [True, False])
def test_a_text_of_a_commit_that_was_undone_is_the_users_on_an_orphan_branch(repo: Repo, soft: bool) -> None:
    """It was on no branch when the new one began, or there was no commit left at all."""
    theirs = changed(2, "the user's")
    repo.write("a", theirs)
    repo.git("commit", "-qam", "undone")
    repo.edit("S1", "a", changed(9, "nine", theirs))
    if soft:
        repo.git("reset", "-q", "--soft", "HEAD~1")
        repo.git("checkout", "-q", "--orphan", "fresh")
    else:
        repo.git("update-ref", "-d", "HEAD")
    assert "a" in repo.commit("S1", code=4).left


def test_an_orphan_branch_with_a_change_of_the_users_staged(repo: Repo) -> None:
    """His staged line is in no commit: not the session's to commit."""
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.write("a", changed(2, "the user's"))
    repo.git("add", "a")
    repo.edit("S1", "a", changed(9, "nine", changed(2, "the user's")))
    answer = repo.run("commit", "--session", "S1", "-m", "x", "--json")
    if answer.code == 0:
        assert b"the user's" not in repo.blob("a")
        assert _change(repo) == ["-line 2", "+the user's"]
    else:
        assert answer.code == 4


def test_a_file_staged_from_a_related_branch_is_the_users_addition(repo: Repo) -> None:
    """Not left behind by an orphan branch: he fetched it from another one, and it stays staged."""
    repo.git("checkout", "-qb", "other")
    repo.write("x", TEN)
    repo.commit_all("x on the other branch")
    repo.git("checkout", "-q", "main")
    repo.git("checkout", "other", "--", "x")
    before = repo.staged()
    repo.edit("S1", "x", changed())
    assert "x" in repo.commit("S1", code=4).left
    assert repo.staged() == before


# --- what a session's own staged text may give way to ---


def test_staged_lines_in_another_order_are_the_users_change(repo: Repo) -> None:
    """The user staged three lines in another order, S1 rewrites the second: the order is his."""
    _stage(repo, "a", TEN.replace("line 4\nline 5\nline 6\n", "line 6\nline 5\nline 4\n"))
    repo.edit("S1", "a", changed(5, "S1 five"))
    before = repo.staged()
    assert repo.commit("S1", code=4).left == {"a": "entangled"}
    assert repo.staged() == before


def test_a_blank_line_that_the_user_staged_is_not_the_sessions(repo: Repo) -> None:
    """S1 wrote one too, elsewhere."""
    _stage(repo, "a", TEN.replace("line 5\n", "\nline 5\n"))
    repo.edit("S1", "a", TEN.replace("line 5\n", "S1 five\n\n"))
    before = repo.staged()
    assert repo.commit("S1", code=4).left == {"a": "entangled"}
    assert repo.staged() == before

"""Kinds of change: new files, deletions, renames, modes, links, types."""

import os
from pathlib import Path

import pytest

from tests.support import payloads
from tests.support.repo import Repo
from tests.support.texts import TEN, changed


def test_new_file_has_the_right_mode(repo: Repo) -> None:
    repo.edit("S1", "plain", "text\n")
    repo.edit("S1", "tool", "#!/bin/sh\n", mode=0o755)
    repo.edit("S1", "no/such/parent/x", "x\n")
    repo.edit("S1", "no/such/y", "y\n")
    repo.edit("S2", "no/such/parent/z", "z\n")
    repo.edit("S1", "d/beside", "text\n")
    repo.commit("S1")
    assert repo.changes() == dict.fromkeys(
        ["plain", "tool", "no/such/parent/x", "no/such/y", "d/beside"], "A"
    )
    assert (repo.mode("plain"), repo.mode("tool")) == ("100644", "100755")
    repo.commit("S2")
    assert repo.changes() == {"no/such/parent/z": "A"}


def test_new_file_has_the_blob_that_git_add_makes(repo: Repo) -> None:
    repo.edit("S1", "x", "text")
    oid = repo.git("hash-object", "x")
    repo.commit("S1")
    assert repo.git("rev-parse", "HEAD:x") == oid


@pytest.mark.parametrize("op", ["delete", "edit"])
def test_a_deletion_is_exactly_that(repo: Repo, op: str) -> None:
    """By a delete event, and by an edit whose text after is null."""
    if op == "delete":
        repo.delete("S1", "d/a")
    else:
        repo.remove("d/a")
        event = payloads.edit("S1", str(repo.root), "d/a", TEN, None)
        repo.hook("generic", event)
    answer = repo.commit("S1")
    assert answer.paths == {"d/a": "D"} == repo.changes()
    assert "d" not in repo.git("ls-tree", "--name-only", "HEAD").split("\n")


def test_deletion_in_deep_folders_leaves_no_tree(repo: Repo) -> None:
    for path in ("x/y/z/one", "x/y/two", "x/y.z"):
        repo.write(path, "text\n")
    repo.commit_all("deep")
    repo.delete("S1", "x/y/z/one")
    repo.commit("S1")
    assert repo.git("ls-tree", "-rt", "--name-only", "HEAD", "x").split("\n") == [
        "x",
        "x/y.z",
        "x/y",
        "x/y/two",
    ]
    repo.delete("S1", "x/y/two")
    repo.commit("S1")
    assert repo.git("ls-tree", "-rt", "--name-only", "HEAD", "x").split("\n") == ["x", "x/y.z"]


def test_everything_deleted_leaves_an_empty_tree(empty_repo: Repo) -> None:
    empty_repo.write("only/file", "text\n")
    empty_repo.commit_all("base")
    empty_repo.delete("S1", "only/file")
    empty_repo.commit("S1")
    assert empty_repo.git("ls-tree", "HEAD") == ""


def test_edited_file_deleted_by_the_user_is_left_out(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S1", "d/a", changed())
    repo.remove("d/a")
    answer = repo.commit("S1")
    assert answer.paths == {"a": "M"} == repo.changes()
    assert answer.left == {"d/a": "gone"}
    assert repo.pending("S1") == ["d/a"]
    assert repo.read("d/a") is None
    assert repo.blob("d/a") == TEN.encode()


def test_new_file_deleted_by_the_user_is_left_out(repo: Repo) -> None:
    repo.edit("S1", "n", "new\n")
    repo.remove("n")
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert set(answer.left.values()) <= {"gone", "unchanged"}
    assert "n" not in repo.changes()


def test_deleted_by_the_user_and_written_again(repo: Repo) -> None:
    """The session's text is back, so it is the session's again."""
    repo.edit("S1", "a", changed())
    repo.remove("a")
    assert repo.commit("S1").left == {"a": "gone"}
    repo.write("a", changed())
    assert repo.commit("S1").paths == {"a": "M"}


def test_rename_by_tool_is_both_ends(repo: Repo) -> None:
    repo.rename("S1", "a", "moved/there")
    assert repo.pending("S1") == ["a", "moved/there"]
    answer = repo.commit("S1")
    assert answer.paths == {"a": "D", "moved/there": "A"} == repo.changes()
    assert repo.blob("moved/there") == TEN.encode()
    assert repo.pending("S1") == []


def test_rename_of_a_file_edited_before(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.rename("S1", "a", "z")
    repo.edit("S1", "z", changed(5, "after", changed()))
    repo.commit("S1")
    assert repo.changes() == {"a": "D", "z": "A"}
    assert repo.blob("z") == changed(5, "after", changed()).encode()


def test_rename_and_back(repo: Repo) -> None:
    repo.rename("S1", "a", "z")
    repo.rename("S1", "z", "a")
    assert repo.commit("S1").status == "nothing"
    assert repo.pending("S1") == []


@pytest.mark.parametrize("end", ["a", "z"])
def test_rename_where_another_session_has_edits(repo: Repo, end: str) -> None:
    if end == "a":
        repo.edit("S2", "a", changed())
        repo.rename("S1", "a", "z")
    else:
        repo.rename("S1", "a", "z")
        repo.edit("S2", "z", changed())
    # the lines of the move and those of the edit are told apart
    assert repo.commit("S1").paths == {"a": "D", "z": "A"}
    assert repo.blob("z") == TEN.encode()
    assert repo.commit("S2").paths == {"z": "M"}


def test_directory_rename_of_50_files(repo: Repo) -> None:
    for number in range(50):
        repo.write(f"old/sub{number % 3}/{number}", f"{number}\n")
    repo.commit_all("fifty")
    repo.rename("S1", "old", "new")
    answer = repo.commit("S1")
    wanted = {
        f"{top}/sub{n % 3}/{n}": letter for n in range(50) for top, letter in (("old", "D"), ("new", "A"))
    }
    assert answer.paths == wanted == repo.changes()
    assert repo.git("status", "--porcelain") == ""


def test_case_only_rename(repo: Repo) -> None:
    repo.rename("S1", "a", "A")
    repo.commit("S1")
    assert repo.changes() == {"A": "A", "a": "D"}
    names = repo.git("ls-tree", "--name-only", "HEAD").split("\n")
    assert [name for name in names if name.lower() == "a"] == ["A"]
    assert repo.git("status", "--porcelain") == ""


def test_case_only_rename_of_a_folder(repo: Repo) -> None:
    repo.rename("S1", "d", "D")
    repo.commit("S1")
    assert repo.changes() == {"D/a": "A", "d/a": "D"}


def _chmod(repo: Repo, session: str, path: str, mode: int) -> None:
    """A tool that changes the mode only, seen before and after."""
    event = {"session": session, "cwd": str(repo.root), "path": path, "call": "chmod-1"}
    repo.hook("generic", {**event, "event": "pre"})
    repo.file(path).chmod(mode)
    repo.hook("generic", {**event, "event": "edit"})


def test_mode_only(repo: Repo) -> None:
    oid = repo.git("rev-parse", "HEAD:a")
    _chmod(repo, "S1", "a", 0o755)
    answer = repo.commit("S1")
    assert answer.paths == {"a": "M"} == repo.changes()
    assert repo.mode("a") == "100755"
    assert repo.git("rev-parse", "HEAD:a") == oid
    _chmod(repo, "S1", "a", 0o644)
    repo.commit("S1")
    assert repo.mode("a") == "100644"


def test_mode_by_track(repo: Repo) -> None:
    repo.file("a").chmod(0o755)
    repo.ralph("track", "--session", "S1", "a")
    repo.commit("S1")
    assert repo.mode("a") == "100755"


def test_mode_without_file_mode(repo: Repo) -> None:
    repo.git("config", "core.fileMode", "false")
    _chmod(repo, "S1", "a", 0o755)
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert answer.left == {"a": "unchanged"}
    repo.edit("S1", "new", "#!/bin/sh\n", mode=0o755)
    repo.commit("S1")
    assert repo.mode("new") == "100644"


def test_mode_changed_by_the_user_stays_out(repo: Repo) -> None:
    repo.file("a").chmod(0o755)
    repo.edit("S1", "a", changed())
    answer = repo.commit("S1")
    assert answer.paths == {"a": "M"}
    assert repo.mode("a") == "100644"
    assert repo.blob("a") == changed().encode()


def _link(repo: Repo, session: str, path: str, target: str) -> None:
    """A tool that makes or retargets a link, seen before and after."""
    event = {"session": session, "cwd": str(repo.root), "path": path, "call": f"link-{target}"}
    repo.hook("generic", {**event, "event": "pre"})
    repo.file(path).unlink(missing_ok=True)
    os.symlink(target, repo.file(path))
    repo.hook("generic", {**event, "event": "edit"})


def test_symlink_is_its_text_made_and_retargeted(repo: Repo, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not ours\n")
    for target in (str(secret), "a", "no/such/thing"):
        _link(repo, "S1", "link", target)
        answer = repo.commit("S1")
        assert list(answer.paths) == ["link"]
        assert repo.mode("link") == "120000"
        assert repo.blob("link") == target.encode()
    oid = repo.git("hash-object", str(secret))
    repo.git("cat-file", "-e", oid, code=1)


def test_file_becomes_a_link_and_back(repo: Repo) -> None:
    _link(repo, "S1", "a", "b")
    assert repo.commit("S1").paths == {"a": "T"}
    assert repo.mode("a") == "120000"
    repo.delete("S1", "a")
    repo.edit("S1", "a", TEN)
    assert repo.commit("S1").paths == {"a": "T"}
    assert repo.mode("a") == "100644"


def test_folder_becomes_a_file(repo: Repo) -> None:
    repo.write("d/sub/b", "text\n")
    repo.commit_all("more")
    repo.delete("S1", "d/a")
    repo.delete("S1", "d/sub/b")
    repo.file("d/sub").rmdir()
    repo.file("d").rmdir()
    repo.edit("S1", "d", "a file now\n")
    answer = repo.commit("S1")
    assert answer.paths == {"d": "A", "d/a": "D", "d/sub/b": "D"} == repo.changes()
    assert repo.git("status", "--porcelain") == ""


def test_file_becomes_a_folder(repo: Repo) -> None:
    repo.delete("S1", "a")
    repo.edit("S1", "a/inner/x", "text\n")
    answer = repo.commit("S1")
    assert answer.paths == {"a": "D", "a/inner/x": "A"} == repo.changes()
    assert repo.git("status", "--porcelain") == ""


def test_folder_becomes_a_link(repo: Repo) -> None:
    repo.delete("S1", "d/a")
    repo.file("d").rmdir()
    _link(repo, "S1", "d", "e")
    answer = repo.commit("S1")
    assert answer.left == {}
    assert repo.changes() == {"d": "A", "d/a": "D"}
    assert repo.git("status", "--porcelain") == ""


def test_only_the_new_file_is_the_sessions(repo: Repo) -> None:
    """The user removed the folder, the session put a file there: all of it goes."""
    repo.remove("d/a")
    repo.file("d").rmdir()
    repo.edit("S1", "d", "a file now\n")
    repo.commit("S1")
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    assert repo.changes() == {"d": "A", "d/a": "D"}


def test_written_through_a_link_that_leads_out(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    os.symlink(outside, repo.file("link"))
    repo.edit("S1", "link/x", "outside bytes\n")
    assert repo.pending("S1") == []
    assert not list(repo.state.glob("*.files"))
    assert repo.ralph("track", "--session", "S1", "link/x", code=128).said.startswith("fatal: ")


def test_folder_became_a_link_after_recording(repo: Repo, tmp_path: Path) -> None:
    repo.edit("S1", "d/a", changed())
    repo.edit("S1", "b", changed())
    outside = tmp_path / "outside"
    repo.file("d").rename(outside)
    outside.joinpath("a").write_text("outside bytes\n")
    os.symlink(outside, repo.file("d"))
    answer = repo.commit("S1")
    assert answer.paths == {"b": "M"} == repo.changes()
    assert answer.left == {"d/a": "outside"}
    assert repo.pending("S1") == ["d/a"]
    repo.git("cat-file", "-e", repo.git("hash-object", str(outside / "a")), code=1)


def test_repository_reached_through_a_symlink(repo: Repo, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    os.symlink(repo.root, alias)
    repo.write("a", changed())
    event = payloads.claude_write("S1", str(alias), str(alias / "a"), TEN, changed())
    repo.hook("claude-code", event, cwd=alias)
    repo.edit("S1", str(alias / "b"), changed(), cwd=alias)
    repo.edit("S1", "d/a", changed(), fields={"cwd": str(alias)}, cwd="e")
    assert repo.pending("S1") == ["a", "b", "d/a"]
    repo.commit("S1", cwd=alias)
    assert repo.changes() == dict.fromkeys(["a", "b", "d/a"], "M")


def test_folder_alias_inside_the_repository(repo: Repo) -> None:
    os.symlink("d", repo.file("link"))
    repo.edit("S1", "link/a", changed())
    assert repo.pending("S1") == ["d/a"]


def test_created_and_deleted_before_the_commit_is_consumed(repo: Repo) -> None:
    repo.edit("S1", "n", "new\n")
    repo.delete("S1", "n")
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert "'n' was created and deleted again" in answer.notes
    assert repo.pending("S1") == []
    assert repo.commit("S1").notes == ""


def test_edited_then_restored_to_head_is_nothing_to_commit(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.git("checkout", "--", "a")
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert answer.left == {"a": "unchanged"}
    assert "'a' is as in HEAD" in answer.notes
    assert repo.pending("S1") == []
    assert repo.count() == 1


def test_restored_by_the_session_itself(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S1", "a", TEN)
    repo.edit("S1", "b", changed())
    answer = repo.commit("S1")
    assert answer.paths == {"b": "M"}
    assert answer.left == {"a": "unchanged"}
    assert repo.pending("S1") == []


def test_the_restored_text_comes_back(repo: Repo) -> None:
    """Restored and consumed; when the session's text is there again, it is the session's again."""
    repo.edit("S1", "a", changed())
    repo.git("checkout", "--", "a")
    assert repo.commit("S1").status == "nothing"
    repo.write("a", changed())
    assert repo.pending("S1") == ["a"]
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}


def test_the_restored_text_comes_back_in_a_commit_of_the_users(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.git("checkout", "--", "a")
    repo.commit("S1")
    repo.write("a", changed())
    repo.commit_all("by hand")
    assert repo.pending("S1") == []
    assert repo.commit("S1").status == "nothing"


def test_identical_rewrite_makes_no_commit(repo: Repo) -> None:
    repo.edit("S1", "a", TEN)
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert repo.count() == 1
    assert repo.pending("S1") == []


def test_lines_in_a_file_moved_over_its_twin_wait_until_the_move_is_in_head(repo: Repo) -> None:
    """Both files were the same, so that HEAD has the same text at the new path before and after."""
    repo.edit("S2", "a", (repo.read("a") or b"") + b"more\n")
    os.replace(repo.file("a"), repo.file("b"))
    move = {"session": "S1", "cwd": str(repo.root), "event": "rename", "path": "a", "to": "b"}
    repo.hook("generic", move)
    waits = repo.ralph("commit", "--session", "S2", "-m", "x").said
    assert "'b' was moved there by session" in waits
    repo.git("rm", "-q", "--cached", "a")
    repo.git("commit", "-q", "-m", "the move, by a person")
    repo.commit("S2")
    assert repo.changes() == {"b": "M"}
    assert repo.blob("b") == TEN.encode() + b"more\n"


def test_a_mode_that_was_committed_before_explains_no_later_one(repo: Repo) -> None:
    """A person took it back in HEAD, and sets it again: that is the person's."""
    repo.write("g", "echo 1\n", 0o644)
    repo.commit_all("g")
    repo.edit("S1", "g", "echo 1\n", mode=0o755)
    repo.commit("S1")
    repo.file("g").chmod(0o644)
    repo.commit_all("minus x")
    repo.file("g").chmod(0o755)
    repo.edit("S1", "g", "echo 3\n")
    done = repo.ralph("commit", "--session", "S1", "-m", "two")
    assert (repo.mode("g"), repo.blob("g")) == ("100644", b"echo 3\n")
    assert "no session recorded it; left" in done.said


def test_a_mode_of_a_persons_is_the_persons_though_a_session_had_set_it_before(repo: Repo) -> None:
    repo.write("g", "echo 1\n", 0o644)
    repo.commit_all("g")
    repo.edit("S2", "g", "echo 1\n", mode=0o755)
    repo.commit("S2")
    repo.file("g").chmod(0o644)
    repo.commit_all("minus x")
    repo.file("g").chmod(0o755)
    repo.edit("S1", "g", "echo 3\n")
    repo.ralph("commit", "--mine", "-m", "mine")
    assert (repo.mode("g"), repo.blob("g")) == ("100755", b"echo 1\n")

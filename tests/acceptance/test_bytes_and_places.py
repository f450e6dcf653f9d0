"""Bytes and conversions of whole files, and places that are not ours to commit."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import payloads
from tests.support.repo import Repo
from tests.support.texts import TEN, changed


def _same_as_git_add(repo: Repo, path: str) -> None:
    """HEAD's blob of ``path`` is what ``git add`` makes of the file, and git sees no change left."""
    oid = repo.git("rev-parse", f"HEAD:{path}")
    assert repo.git("hash-object", f"--path={path}", path) == oid
    assert repo.git("status", "--porcelain", "--", path) == ""


def test_binary_of_a_sole_owner_is_committed_whole(repo: Repo) -> None:
    data = bytes(range(256)) * 40
    repo.edit("S1", "blob", data)
    repo.commit("S1")
    assert repo.blob("blob") == data
    repo.edit("S1", "blob", data + b"\0more")
    assert repo.commit("S1").paths == {"blob": "M"}


def test_binary_of_two_owners_is_contested(repo: Repo) -> None:
    repo.write("blob", b"\0one")
    repo.commit_all("binary")
    repo.edit("S1", "blob", b"\0two")
    repo.edit("S2", "blob", b"\0three")
    for session, other in (("S1", "S2"), ("S2", "S1")):
        answer = repo.commit(session, code=4)
        assert answer.left == {"blob": "contested"}
        assert answer.document["left"][0]["sessions"] == [other]


@pytest.mark.parametrize("setting", ["true", "input"])
def test_line_ends_with_autocrlf_as_git_add(repo: Repo, setting: str) -> None:
    repo.git("config", "core.autocrlf", setting)
    text = changed().replace("\n", "\r\n")
    repo.edit("S1", "new", text)
    repo.edit("S1", "a", text)
    repo.commit("S1")
    assert repo.blob("new") == repo.blob("a") == changed().encode()
    _same_as_git_add(repo, "new")
    _same_as_git_add(repo, "a")


def test_crlf_already_in_head(repo: Repo) -> None:
    """git leaves CRLF alone where the index has it already; so do we."""
    repo.write("dos", TEN.replace("\n", "\r\n"))
    repo.commit_all("dos")
    repo.git("config", "core.autocrlf", "true")
    text = changed().replace("\n", "\r\n")
    repo.edit("S1", "dos", text)
    repo.commit("S1")
    assert repo.blob("dos") == text.encode()
    assert repo.git("status", "--porcelain") == ""


def test_a_text_in_utf_16_of_one_session_is_committed_whole(repo: Repo) -> None:
    """Its blob is UTF-8, so no record had begun with HEAD's text."""
    repo.write(".gitattributes", "*.u16 text working-tree-encoding=UTF-16LE\n")
    repo.write("x.u16", "one\ntwo\n".encode("utf-16-le"))
    repo.commit_all("encoded")
    repo.edit("S1", "x.u16", "one\ntwo\nthree\n".encode("utf-16-le"))
    assert repo.pending("S1") == ["x.u16"]
    assert repo.commit("S1").paths == {"x.u16": "M"}
    assert repo.blob("x.u16") == b"one\ntwo\nthree\n"
    _same_as_git_add(repo, "x.u16")


def test_who_appends_to_crlf_without_a_newline_at_its_end_has_his_line_alone(repo: Repo) -> None:
    repo.write("dos", "a\r\nb\r\ne")
    repo.commit_all("dos")
    repo.edit("S2", "dos", "a\r\nb\r\ne2 of s2")
    repo.write("dos", "a\r\nb\r\ne2 of s2\r\nother words of a person")
    repo.commit("S2")
    assert repo.blob("dos") == b"a\r\nb\r\ne2 of s2"
    repo.ralph("commit", "--mine", "-m", "mine")
    assert repo.blob("dos") == b"a\r\nb\r\ne2 of s2\r\nother words of a person"
    repo.edit("S2", "dos", "a\r\nb\r\ne2 of s2\r\nother words of a person\r\nlast")
    repo.ralph("undo", "--session", "S2")
    assert repo.read("dos") == b"a\r\nb\r\ne2 of s2\r\nother words of a person"


def test_line_ends_and_encodings_by_attribute_as_git_add(repo: Repo) -> None:
    repo.write(".gitattributes", "*.txt text eol=crlf\n*.u16 text working-tree-encoding=UTF-16LE\n")
    repo.write("d/.gitattributes", "*.txt -text\n")
    repo.commit_all("attributes")
    repo.edit("S1", "x.txt", "one\r\ntwo\r\n")
    repo.edit("S1", "d/x.txt", "one\r\ntwo\r\n")
    repo.edit("S1", "x.u16", "äöü\n".encode("utf-16-le"))
    repo.commit("S1")
    assert repo.blob("x.txt") == b"one\ntwo\n"
    assert repo.blob("d/x.txt") == b"one\r\ntwo\r\n"
    assert repo.blob("x.u16") == "äöü\n".encode()
    for path in ("x.txt", "d/x.txt", "x.u16"):
        _same_as_git_add(repo, path)


def _filter(repo: Repo, command: str, required: bool = False) -> None:
    repo.git("config", "filter.shout.clean", command)
    repo.git("config", "filter.shout.smudge", "cat")
    repo.git("config", "filter.shout.required", str(required).lower())
    repo.write(".gitattributes", "*.loud filter=shout\n")
    repo.commit_all("filter")


def test_clean_filter_of_a_sole_owner_as_git_add(repo: Repo) -> None:
    _filter(repo, "tr a-z A-Z")
    repo.edit("S1", "x.loud", "quiet\n")
    repo.commit("S1")
    assert repo.blob("x.loud") == b"QUIET\n"
    _same_as_git_add(repo, "x.loud")


@pytest.mark.parametrize("edits", [1, 12])
def test_a_filter_that_drops_lines_and_its_sole_owner(repo: Repo, edits: int) -> None:
    """As of a notebook's output: HEAD's text is not the file's, and git takes the file for clean."""
    _filter(repo, "sed /OUT/d")
    repo.write("x.loud", "code\nOUT 42\nmore\n")
    repo.commit_all("a notebook")
    for number in range(edits):
        old = (repo.read("x.loud") or b"").decode()
        repo.edit("S1", "x.loud", old.replace("code\n", f"{number}\ncode\n"))
    assert repo.commit("S1").paths == {"x.loud": "M"}
    _same_as_git_add(repo, "x.loud")
    assert b"OUT" not in repo.blob("x.loud")
    old = (repo.read("x.loud") or b"").decode()
    repo.edit("S1", "x.loud", old.replace("more\n", "and more\n"))
    assert repo.commit("S1").paths == {"x.loud": "M"}
    repo.write("x.loud", (repo.read("x.loud") or b"") + b"a person's\n")
    old = (repo.read("x.loud") or b"").decode()
    repo.edit("S1", "x.loud", old.replace("code\n", "coded\n"))
    assert repo.commit("S1", code=4).left == {"x.loud": "filtered"}


def test_required_filter_that_fails_is_refused(repo: Repo) -> None:
    _filter(repo, "false", required=True)
    repo.edit("S1", "x.loud", "quiet\n")
    answer = repo.commit("S1", code=4)
    assert answer.left == {"x.loud": "filtered"}


def test_clean_filter_of_two_owners_is_refused(repo: Repo) -> None:
    _filter(repo, "tr a-z A-Z")
    repo.edit("S1", "x.loud", "one\n")
    repo.edit("S2", "x.loud", "one\ntwo\n")
    assert repo.commit("S1", code=4).left == {"x.loud": "filtered"}


@pytest.mark.parametrize(
    "data",
    [
        "Gr\u00fc\u00dfe\n".encode("latin-1"),
        b"a\0b\n",
        b"x" * 300_000,
        b"",
        b"no newline",
        b"\r\r\n\n\r",
        b"\xef\xbb\xbfmark\n",
        b"\xff\xfe\x00",
    ],
    ids=["latin-1", "nul", "long-line", "empty", "no-newline", "returns", "bom", "junk"],
)
def test_bytes_of_every_kind_are_exact(repo: Repo, data: bytes) -> None:
    repo.edit("S1", "x", data)
    repo.edit("S1", "a", data)
    answer = repo.commit("S1")
    assert answer.how == {"a": "edits", "x": "edits"}
    assert repo.blob("x") == repo.blob("a") == data


def test_larger_than_the_limit(repo: Repo) -> None:
    data = os.urandom(1 << 20) * 6
    repo.write("big", data)
    event = payloads.edit("S1", str(repo.root), "big", None, None)
    del event["before"], event["after"]
    repo.hook("generic", event)
    answer = repo.commit("S1")
    assert answer.how == {"big": "whole-file"}
    assert "big" in answer.notes
    assert repo.blob("big") == data


def test_ignored_file_is_left_out(repo: Repo) -> None:
    repo.write("kept.log", "tracked all the same\n")
    repo.commit_all("a log")
    repo.write(".gitignore", "*.log\nbuild/\n")
    repo.commit_all("ignore")
    repo.edit("S1", "x.log", "noise\n")
    repo.edit("S1", "build/out", "noise\n")
    repo.edit("S1", "kept.log", "changed\n")
    repo.edit("S1", "a", changed())
    answer = repo.commit("S1")
    assert answer.paths == {"a": "M", "kept.log": "M"} == repo.changes()
    assert answer.left == {"x.log": "ignored", "build/out": "ignored"}
    assert set(repo.pending("S1")) == {"x.log", "build/out"}


def test_nothing_but_ignored_files_commits_nothing(repo: Repo) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.commit_all("ignore")
    repo.edit("S1", "x.log", "noise\n")
    answer = repo.commit("S1")
    assert (answer.status, answer.left) == ("nothing", {"x.log": "ignored"})


def _submodule(repo: Repo, make: Callable[[str], Repo]) -> Repo:
    inner = make("inner")
    inner.write("i", TEN)
    inner.commit_all("inner")
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner.root), "sub")
    repo.commit_all("submodule")
    return Repo(repo.root / "sub", repo.env)


def test_edit_inside_a_submodule_belongs_to_the_submodule(
    repo: Repo, make_repo: Callable[[str], Repo]
) -> None:
    sub = _submodule(repo, make_repo)
    repo.edit("S1", "sub/i", changed())
    repo.edit("S1", "a", changed())
    assert repo.pending("S1") == ["a"]
    assert sub.pending("S1") == ["i"]
    answer = repo.commit("S1")
    assert answer.paths == {"a": "M"} == repo.changes()
    sub.commit("S1")
    assert sub.changes() == {"i": "M"}
    # the gitlink is nobody's until the session records it
    assert repo.commit("S1").status == "nothing"
    assert repo.owners("S1") == {"sub": "nobody"}


def test_the_gitlink_moves_where_it_was_recorded(repo: Repo, make_repo: Callable[[str], Repo]) -> None:
    sub = _submodule(repo, make_repo)
    sub.write("i", changed())
    commit = sub.commit_all("inside")
    repo.ralph("track", "--session", "S1", "sub")
    assert repo.commit("S1").paths == {"sub": "M"}
    assert repo.git("rev-parse", "HEAD:sub") == commit


def test_manifest_line_that_claims_a_file_in_a_submodule(
    repo: Repo, make_repo: Callable[[str], Repo]
) -> None:
    _submodule(repo, make_repo)
    repo.start("S1")
    repo.state.joinpath("S1.files").write_bytes(b"sub/i\n")
    repo.write("sub/i", changed())
    answer = repo.commit("S1")
    assert (answer.status, answer.left) == ("nothing", {"sub/i": "submodule"})


def test_files_of_a_nested_repository_never_become_ours(repo: Repo, make_repo: Callable[[str], Repo]) -> None:
    nested = make_repo("repo/nested")
    repo.edit("S1", "nested/x", "inner\n")
    assert repo.pending("S1") == []
    assert nested.pending("S1") == ["x"]
    repo.start("S1")
    repo.state.joinpath("S1.files").write_bytes(b"nested/x\n")
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert answer.left == {"nested/x": "submodule"}


def test_outside_the_repository_is_not_recorded(repo: Repo, tmp_path: Path) -> None:
    repo.edit("S1", str(tmp_path / "beside"), "text\n")
    repo.edit("S1", "../beside", "text\n")
    assert not repo.state.exists()
    said = repo.ralph("track", "--session", "S1", "../beside", code=128).said
    assert said.startswith("fatal: ")


def test_file_of_another_repository_is_not_recorded_here(
    repo: Repo, make_repo: Callable[[str], Repo]
) -> None:
    other = make_repo("other")
    repo.edit("S1", str(other.root / "x"), "text\n")
    assert repo.pending("S1") == []
    assert other.pending("S1") == ["x"]
    said = repo.ralph("track", "--session", "S1", str(other.root / "x"), code=128).said
    assert "another repository" in said


def test_hook_is_quiet_without_a_repository(tmp_path: Path, environ: dict[str, str]) -> None:
    bare = Repo(tmp_path / "plain", environ)
    bare.root.mkdir()
    bare.edit("S1", "x", "text\n")
    assert os.listdir(bare.root) == ["x"]
    assert bare.ralph("track", "--session", "S1", "x", code=128).said.startswith("fatal: ")


FORBIDDEN = [
    ".git/config",
    ".git/ralph-sessions/x",
    ".GIT/x",
    ".Git",
    "d/.git/x",
    "git~1/x",
    "GIT~1",
    ".git /x",
    ".git./x",
    ".git::$INDEX_ALLOCATION/x",
    ".g\u200cit/x",
    "d/.gi\u200dt",
    "a/../.git/config",
]


@pytest.mark.parametrize("path", FORBIDDEN)
def test_inside_the_git_dir_is_never_recorded(repo: Repo, path: str) -> None:
    event = payloads.edit("S1", str(repo.root), path, None, "x\n")
    if not path.startswith((".git/", "a/..")):
        repo.write(path, "x\n")
    repo.hook("generic", event)
    repo.ralph("track", "--session", "S1", "--", path, code=128)
    repo.start("S1")
    repo.state.joinpath("S1.files").write_bytes(path.encode() + b"\n")
    assert repo.pending("S1") == []
    # the check of the working tree would see what a nested folder called .git makes of git's own files
    assert repo.commit("S1").status == "nothing"


def test_git_file_of_a_linked_worktree_is_never_recorded(repo: Repo) -> None:
    tree = repo.worktree("w1")
    tree.hook("generic", payloads.edit("S1", str(tree.root), ".git", "x\n", "y\n"))
    tree.ralph("track", "--session", "S1", ".git", code=128)
    assert tree.pending("S1") == []


@pytest.mark.parametrize("form", ["absolute", "relative", "git dir apart"])
def test_with_git_dir_and_work_tree_a_path_means_the_one_in_that_worktree(
    repo: Repo, tmp_path: Path, form: str
) -> None:
    """From outside of it git starts at its root: `git add a` works there, and so do these."""
    outside, git_dir = tmp_path / "outside/deep", repo.root / ".git"
    outside.mkdir(parents=True)
    text = (repo.read("a") or b"").decode()
    repo.edit("S1", "a", "of one\n" + text)
    repo.write("b", "of nobody\n")
    if form == "git dir apart":
        git_dir = git_dir.rename(tmp_path / "apart.git")
    env = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(repo.root)}
    if form == "relative":
        env = {name: os.path.relpath(path, outside) for name, path in env.items()}
    assert "session 'generic-1'" in repo.ralph("why", "a:1", env=env, cwd=outside).text
    assert repo.ralph("blame", "a", env=env, cwd=outside).text
    repo.ralph("track", "--session", "S1", "--", "b", env=env, cwd=outside)
    assert repo.ralph("ls-files", "--session", "S1", env=env, cwd=outside).text == "a\nb\n"
    repo.ralph("track", "--release", "--session", "S1", "--", "b", env=env, cwd=outside)
    assert repo.ralph("ls-files", "--session", "S1", env=env, cwd=outside).text == "a\n"
    assert repo.ralph("why", "../outside", env=env, cwd=outside, code=128).said


@pytest.mark.parametrize("cwd", ["the bare repository", "elsewhere"])
def test_an_edit_in_a_bare_repository_is_nobodys_and_nothing_is_said(
    tmp_path: Path, environ: dict[str, str], cwd: str
) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "hub.git")], check=True, env=environ)
    place = Repo(tmp_path / "hub.git" if cwd == "the bare repository" else tmp_path, environ)
    (tmp_path / "hub.git/b").write_text("two\n")
    event = payloads.edit("S1", str(place.root), str(tmp_path / "hub.git/b"), "one\n", "two\n")
    done = place.hook("generic", event)
    assert (done.code, done.out, done.err) == (0, b"", b"")
    assert not (tmp_path / "hub.git/ralph-sessions").exists()

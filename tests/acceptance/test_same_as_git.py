"""The same blobs, modes, trees and commits that ``git add`` and ``git commit`` make."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.repo import Repo

LF, CRLF = b"one\ntwo\nthree\n", b"one\r\ntwo\r\nthree\r\n"
MIXED = b"one\r\ntwo\nthree\r\n"
NEW_LF, NEW_CRLF = LF + b"four\n", CRLF + b"four\r\n"


@dataclass(frozen=True)
class Case:
    """Configuration, what HEAD holds, and what the session then writes (None deletes)."""

    edits: dict[str, bytes | None]
    base: dict[str, bytes] = field(default_factory=dict)
    config: dict[str, str] = field(default_factory=dict)
    attributes: str = ""


CASES: dict[str, Case] = {
    "plain": Case({"f": NEW_LF, "new": LF, "gone": None}, {"f": LF, "gone": LF}),
    "autocrlf true, CRLF written": Case({"f": NEW_CRLF, "new": CRLF}, {"f": LF}, {"core.autocrlf": "true"}),
    "autocrlf true, LF written": Case({"f": NEW_LF, "new": LF}, {"f": LF}, {"core.autocrlf": "true"}),
    "autocrlf input": Case({"f": NEW_CRLF, "new": MIXED}, {"f": LF}, {"core.autocrlf": "input"}),
    "CRLF in HEAD, autocrlf later": Case({"f": NEW_CRLF}, {"f": CRLF}, {"core.autocrlf": "true"}),
    "CRLF in HEAD, text auto later": Case({"f": NEW_CRLF, "g": CRLF}, {"f": CRLF}, {}, "* text=auto\n"),
    "text": Case({"f": NEW_CRLF, "new": MIXED}, {"f": CRLF}, {}, "* text\n"),
    "eol crlf": Case({"f": NEW_CRLF, "new": LF}, {"f": LF}, {}, "* text eol=crlf\n"),
    "eol lf": Case({"f": NEW_CRLF}, {"f": LF}, {}, "* eol=lf\n"),
    "minus text": Case({"f": NEW_CRLF}, {"f": LF}, {"core.autocrlf": "true"}, "f -text\n"),
    "binary by auto": Case({"f": b"a\r\n\0b\r\n"}, {"f": LF}, {}, "* text=auto\n"),
    "UTF-16": Case({"f": "one\ntwo ü\n".encode("utf-16")}, {}, {}, "f text working-tree-encoding=UTF-16\n"),
    "UTF-16LE with a mark": Case(
        {"f": "\ufeffü\r\n".encode("utf-16-le")},
        {},
        {},
        "f text working-tree-encoding=UTF-16LE-BOM eol=crlf\n",
    ),
    "latin-1": Case({"f": "Grüße\n".encode("latin-1")}, {}, {}, "f working-tree-encoding=ISO-8859-1\n"),
    "clean filter": Case(
        {"f": NEW_LF, "new": LF},
        {"f": LF},
        {"filter.up.clean": "tr a-z A-Z", "filter.up.smudge": "cat"},
        "f filter=up\nnew filter=up\n",
    ),
    "filter with the path": Case(
        {"d/f x": NEW_LF}, {}, {"filter.name.clean": "sed s,two,%f,"}, "* filter=name\n"
    ),
    "filter and line ends": Case(
        {"f": NEW_CRLF}, {"f": LF}, {"filter.up.clean": "tr a-z A-Z"}, "f text filter=up\n"
    ),
    "ident": Case({"f": b"$Id: 0123456789 $\n$Id$\n"}, {"f": b"$Id$\n"}, {}, "* ident\n"),
    "export attributes": Case({"f": b"$Format:%H$\n"}, {"f": LF}, {}, "f export-subst\nnew export-ignore\n"),
    "no final newline, empty": Case({"f": b"end", "new": b""}, {"f": LF}, {}, "* text=auto\n"),
    "attributes in the same commit": Case({"f": NEW_CRLF, ".gitattributes": b"* text\n"}, {"f": CRLF}),
    "attributes removed in the same commit": Case(
        {"f": NEW_CRLF, ".gitattributes": None}, {"f": LF, ".gitattributes": b"* text\n"}
    ),
    "attributes in a subfolder": Case(
        {"d/e/f": NEW_CRLF, "d/g": NEW_CRLF, "h": NEW_CRLF},
        {"d/e/.gitattributes": b"f -text\n", "d/.gitattributes": b"* text\n", "d/e/f": LF},
    ),
    "attributes in a new subfolder": Case({"n/.gitattributes": b"* text\n", "n/f": CRLF}),
    "attribute macro": Case({"f": CRLF, "g": CRLF}, {}, {}, "[attr]mine text eol=crlf\nf mine\n"),
    "names": Case({"a b": LF, "é": LF, "-x": LF, "d/*": LF, ":y": LF, 'q"t': LF}, {"d/z": LF}),
    "replaced by a folder": Case({"f": None, "f/inner": LF}, {"f": LF}),
    "folder replaced by a file": Case({"f/inner": None, "f": LF}, {"f/inner": LF}),
    "emptied folder": Case({"d/e/f": None}, {"d/e/f": LF, "g": LF}),
    "sorted among folders": Case({"a.b": LF, "a-b": LF, "a0": LF}, {"a/x": LF}),
}


def _base(repo: Repo, case: Case) -> None:
    for path, data in case.base.items():
        repo.write(path, data)
    repo.write("anchor", "anchor\n")
    repo.commit_all("base")
    if case.attributes:
        repo.write(".gitattributes", case.attributes)
        repo.git("add", ".gitattributes")
        repo.tick()
        repo.git("commit", "-qm", "attributes")
    for key, value in case.config.items():
        repo.git("config", key, value)


def _apply(repo: Repo, edits: dict[str, bytes | None], *, recorded: bool) -> None:
    # deletions first: a file may take a folder's place and the other way round
    for path, data in sorted(edits.items(), key=lambda item: item[1] is not None):
        if data is None and recorded:
            repo.delete("S1", path)
        elif data is None:
            repo.remove(path)
        elif recorded:
            repo.edit("S1", path, data)
        else:
            repo.write(path, data)
        if data is None and not any(repo.file(path).parent.iterdir()):
            repo.file(path).parent.rmdir()


def _both(repo: Repo, tmp_path: Path) -> Repo:
    """A copy of the repository in which plain git does the same."""
    shutil.copytree(repo.root, tmp_path / "plain", symlinks=True)
    return Repo(tmp_path / "plain", dict(repo.env), False, repo._clock)


def _same(repo: Repo, plain: Repo) -> None:
    repo.tick()
    plain.git("-c", "core.safecrlf=false", "add", "-A")
    plain.git("commit", "-qm", "x")
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.git("ls-tree", "-r", "HEAD") == plain.git("ls-tree", "-r", "HEAD")
    assert repo.git("rev-parse", "HEAD^{tree}") == plain.git("rev-parse", "HEAD^{tree}")
    assert repo.git("ls-files", "-s") == plain.git("ls-files", "-s")


@pytest.mark.parametrize("name", CASES)
def test_the_tree_that_git_add_makes(empty_repo: Repo, tmp_path: Path, name: str) -> None:
    repo, case = empty_repo, CASES[name]
    _base(repo, case)
    plain = _both(repo, tmp_path)
    _apply(repo, case.edits, recorded=True)
    _apply(plain, case.edits, recorded=False)
    _same(repo, plain)


def _executable(repo: Repo) -> None:
    repo.file("anchor").chmod(0o755)


def _link(repo: Repo) -> None:
    os.symlink("anchor\n/../x", repo.file("link"))


def _retarget(repo: Repo) -> None:
    repo.file("anchor").unlink()
    os.symlink("nowhere", repo.file("anchor"))


@pytest.mark.parametrize("change", [_executable, _link, _retarget])
@pytest.mark.parametrize("config", ["core.fileMode=true", "core.fileMode=false", "core.autocrlf=true"])
def test_modes_and_links_as_git_add(
    empty_repo: Repo, tmp_path: Path, change: Callable[[Repo], None], config: str
) -> None:
    repo = empty_repo
    _base(repo, Case({}))
    repo.git("config", *config.split("="))
    plain = _both(repo, tmp_path)
    for one in (repo, plain):
        change(one)
        one.write("new.sh", "#!/bin/sh\n", 0o755)
    repo.ralph(
        "track",
        "--session",
        "S1",
        "--",
        *(p for p in ("anchor", "link", "new.sh") if os.path.lexists(repo.file(p))),
    )
    _same(repo, plain)


def test_the_commit_object_is_git_commits_but_for_the_trailers(empty_repo: Repo, tmp_path: Path) -> None:
    repo = empty_repo
    _base(repo, Case({}))
    repo.git("config", "i18n.commitEncoding", "ISO-8859-15")
    plain = _both(repo, tmp_path)
    _apply(repo, {"f": LF}, recorded=True)
    _apply(plain, {"f": LF}, recorded=False)
    message = "subject \n\n\nbody\n\n" + "Ralph-Session: S1\nRalph-Agent: generic\n"
    repo.tick()
    plain.git("add", "-A")
    plain.git("commit", "-q", "-m", message, "--author", "Ä <a@b>")
    repo.ralph("commit", "--session", "S1", "-m", message, "--author", "Ä <a@b>")
    assert repo.git_bytes("cat-file", "commit", "HEAD") == plain.git_bytes("cat-file", "commit", "HEAD")
    assert repo.git_bytes("log", "-g", "-1") == plain.git_bytes("log", "-g", "-1")
    for log in ("HEAD", "refs/heads/main"):
        assert (repo.root / ".git/logs" / log).read_bytes() == (plain.root / ".git/logs" / log).read_bytes()


def test_a_required_filter_that_fails_makes_no_commit(repo: Repo) -> None:
    repo.git("config", "filter.bad.clean", "false")
    repo.git("config", "filter.bad.required", "true")
    repo.write(".gitattributes", "a filter=bad\n")
    repo.edit("S1", "a", LF)
    head = repo.head()
    assert repo.commit("S1", code=4).left == {"a": "filtered"}
    assert repo.head() == head
    assert repo.pending("S1") == ["a"]


def test_safecrlf_is_judged_as_git_add_judges_it(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.git("config", "core.safecrlf", "true")
    repo.edit("S1", "n", MIXED)
    repo.git("add", "n", code=128)
    repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert repo.pending("S1") == ["n"]

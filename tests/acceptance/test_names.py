"""Names of files and of sessions."""

import os
import unicodedata

import pytest

from gitralph.base.quote import c_quote
from tests.support import payloads
from tests.support.repo import Repo
from tests.support.texts import changed

AWKWARD = [
    "new\nline",
    "tab\there",
    'qu"ote',
    "back\\slash",
    "-dash",
    "--",
    " leading",
    "trailing ",
    "*",
    "?[x]",
    "[ab]",
    ":colon",
    ":(top)x",
    ":!not",
    "#hash",
    "~tilde",
    "$(id)",
    "a'b",
    "esc\x1b[31m",
    "bell\x07",
    "del\x7f",
    "x" * 255,
    "...",
    "..x",
    "@{u}",
    "HEAD",
    "new\rreturn",
    "~",
    "null",
    "-z",
    "!x",
]
UNICODE = [
    unicodedata.normalize("NFC", "caf\u00e9"),
    unicodedata.normalize("NFD", "caf\u00e9"),
    "\U0001f600",
    "a\u200fb",
    "\u202eevil",
    "\udcff\udcfe",
    "lat\udce9",
    "\u2028",
    "\ufeffbom",
    "\u0130stanbul",
    "\U0010ffff",
]


def _recorded_alone_and_listed(repo: Repo, path: str, other: str) -> None:
    repo.edit("S1", path, "text\n")
    repo.edit("S2", other, "text\n")
    repo.write("not-ours", "text\n")
    raw = os.fsencode(path)
    assert repo.pending("S1") == [path]
    assert repo.ralph("ls-files", "--session", "S1").out == c_quote(raw) + b"\n"
    assert repo.owners("S1") == {path: "mine", other: "other", "not-ours": "nobody"}
    rows = repo.ralph("status", "--porcelain", "-z", "--session", "S1").out.split(b"\0")
    assert b"mine S1 " + raw in rows
    preview = repo.ralph("diff", "--session", "S1").out
    answer = repo.commit("S1")
    assert answer.paths == {path: "A"} == repo.changes()
    assert preview == repo.git_bytes("diff", "HEAD^", "HEAD", "--")
    assert c_quote(raw) + b"\n" == repo.git_bytes("diff", "--name-only", "HEAD^", "HEAD", "--")
    assert repo.pending("S1") == []
    assert repo.pending("S2") == [other]


@pytest.mark.parametrize("path", AWKWARD, ids=ascii)
def test_awkward_names_are_committed_alone(repo: Repo, path: str) -> None:
    _recorded_alone_and_listed(repo, path, "neighbour")


@pytest.mark.parametrize("path", AWKWARD, ids=ascii)
def test_awkward_names_tracked_by_hand_and_limited(repo: Repo, path: str) -> None:
    """On the command line: ``track``, and ``commit`` limited to just this one by a literal pathspec."""
    repo.write(path, "text\n")
    repo.edit("S1", "neighbour", "text\n")
    repo.ralph("track", "--session", "S1", "--", path)
    said = repo.ralph("commit", "--session", "S1", "-m", "x", "-z", "--", f":(literal){path}").out
    assert repo.changes() == {path: "A"}
    assert said.split(b"\0")[1] == b"A whole-file " + os.fsencode(path)
    assert repo.pending("S1") == ["neighbour"]


def test_awkward_names_all_at_once_in_folders(repo: Repo) -> None:
    paths = {f"{name[:100]}/{name}" for name in AWKWARD}
    for path in paths:
        repo.edit("S1", path, "text\n")
    repo.commit("S1")
    assert repo.changes() == dict.fromkeys(paths, "A")


def test_human_output_has_no_raw_controls(repo: Repo) -> None:
    for path in ["esc\x1b[31m", "\u202eevil", "new\nline", "bell\x07"]:
        repo.edit("S1", path, "text\n")
    said = [repo.ralph(*args).text for args in (["status"], ["ls-files"], ["commit", "-m", "x"])]
    for text in said:
        assert not {"\x1b", "\u202e", "\x07"} & set(text)
        assert "new\nline" not in text


@pytest.mark.parametrize("path", UNICODE, ids=ascii)
def test_unicode_names_round_trip_by_bytes(repo: Repo, path: str) -> None:
    _recorded_alone_and_listed(repo, path, "neighbour")


def test_human_output_of_bytes_that_are_no_text(repo: Repo) -> None:
    repo.edit("S1", "lat\udce9", "text\n")
    assert "lat" in repo.ralph("status").text
    repo.ralph("session", "list")
    repo.ralph("session", "show", "S1")
    assert "lat" in repo.ralph("commit", "--session", "S1", "-m", "x").text


def test_composed_and_decomposed_twins_are_two_paths(repo: Repo) -> None:
    nfc, nfd = UNICODE[:2]
    repo.edit("S1", nfc, "composed\n")
    repo.edit("S2", nfd, "decomposed\n")
    assert repo.pending("S1") == [nfc]
    repo.commit("S1")
    assert repo.changes() == {nfc: "A"}
    repo.commit("S2")
    assert repo.changes() == {nfd: "A"}
    assert repo.blob(nfc) == b"composed\n"


BAD_IDS = [
    "",
    "/",
    "a/b",
    "..",
    "../../x",
    "a..b",
    "x" * 121,
    "x" * 300,
    "nul\0",
    ".hidden",
    "-dash",
    "a b",
    "a\nb",
    "\u00e9",
    "a\u202eb",
    "~x",
    "a~b",
]


def _outside(repo: Repo) -> set[str]:
    """Every file in and around the repository but for the state folder and the objects."""
    found = set()
    for folder, folders, names in os.walk(repo.root.parent):
        folders[:] = [name for name in folders if name not in ("ralph-sessions", "objects")]
        found |= {os.path.join(folder, name) for name in [*names, *folders]}
    return found


@pytest.mark.parametrize("session", [i for i in BAD_IDS if "\0" not in i], ids=ascii)
def test_commands_refuse_bad_ids(repo: Repo, session: str) -> None:
    repo.edit("S1", "a", changed())
    before = _outside(repo)
    for command in (
        ["commit", "--session", session, "-m", "x"],
        ["track", "--session", session, "a"],
        ["ls-files", "--session", session],
        ["status", "--session", session],
        ["diff", "--session", session],
        ["session", "start", "--id", session],
        ["session", "end", "--", session],
        ["session", "show", "--", session],
        ["session", "start", "--id", "ok", "--parent", session],
    ):
        said = repo.ralph(*command, code=129).said
        assert said.startswith("error: ")
    assert _outside(repo) == before
    if session:
        repo.ralph("commit", "-m", "x", code=129, env={"RALPH_SESSION": session})


@pytest.mark.parametrize("session", BAD_IDS, ids=ascii)
def test_hooks_map_bad_ids(repo: Repo, session: str) -> None:
    before = _outside(repo)
    repo.edit(session, "a", changed())
    repo.hook("generic", payloads.edit(session + "x", str(repo.root), "b", None, "x\n"))
    assert _outside(repo) == before
    manifests = sorted(path.name for path in repo.state.glob("*.files"))
    assert len(manifests) == 2
    mine = [name for name in (m.removesuffix(".files") for m in manifests) if repo.pending(name) == ["a"]]
    assert len(mine) == 1
    repo.commit(mine[0])
    assert repo.changes() == {"a": "M"}


@pytest.mark.parametrize("session", [7, ["S1"], {"id": "S1"}, True, None], ids=ascii)
def test_ids_that_are_no_text_are_no_ids(repo: Repo, session: object) -> None:
    repo.write("a", changed())
    event = {**payloads.edit("S1", str(repo.root), "a", None, changed()), "session": session}
    repo.hook("generic", event)
    assert not list(repo.common.glob("ralph-sessions/*.files"))


def test_ids_that_differ_in_case_do_not_mix(repo: Repo) -> None:
    repo.edit("Twin", "a", changed())
    repo.edit("tWIN", "b", changed())
    assert (repo.pending("Twin"), repo.pending("tWIN")) == (["a"], ["b"])
    repo.commit("Twin")
    assert repo.changes() == {"a": "M"}
    assert repo.pending("tWIN") == ["b"]
    repo.commit("tWIN")
    assert "Ralph-Session: tWIN" in repo.trailers()

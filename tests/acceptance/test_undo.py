"""``git ralph undo`` and ``--redo``: one session's edits leave the working tree and come back, to the byte.

``f`` holds "line 1" to "line 10" and is committed.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gitralph.base.errors import Fatal
from gitralph.hook import journal
from gitralph.lines.pieces import pieces
from tests.acceptance.test_head_moved import day, head, nothing_pending, swap, ten, text
from tests.support import payloads, shells
from tests.support.repo import Repo
from tests.support.texts import TEN

__all__ = ["day"]


def undo(repo: Repo, session: str | None, *args: str, code: int = 0, **how: Any) -> dict[str, Any]:
    """``undo --json``; what is staged, refs and HEAD stay."""
    chosen = ["--session", session] if session else []
    before = repo.staged(), repo.head(), repo.git("for-each-ref")
    found: dict[str, Any] = repo.ralph("undo", *chosen, "--json", *args, code=code, **how).json()
    assert (repo.staged(), repo.head(), repo.git("for-each-ref")) == before
    assert set(found) == {"status", "session", "name", "paths", "left", "notes"}
    assert_clean(repo)
    return found


def call(repo: Repo, name: str, old: str, new: str) -> None:
    """S1 replaces a piece of ``f`` by a tool call of that name."""
    repo.edit("S1", "f", text(repo).replace(old, new), fields={"call": name})


def assert_clean(repo: Repo) -> None:
    """No work file, no intent, no stray name in the working tree."""
    assert not list(repo.state.glob("tmp/*"))
    assert not list(repo.state.glob("intents/*"))
    assert not [path for path in repo.root.rglob("*ralph-*") if ".git" not in path.parts]


def files(repo: Repo) -> dict[str, bytes]:
    """Every file of the working tree."""
    return {
        str(p.relative_to(repo.root)): p.read_bytes()
        for p in repo.root.rglob("*")
        if p.is_file() and ".git" not in p.relative_to(repo.root).parts
    }


def changed(found: dict[str, Any]) -> dict[str, str]:
    return {row["path"]: row["change"] for row in found["paths"]}


def test_a_disk_that_is_full_twice_is_finished_when_there_is_room(
    day: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is exchanged, its record not written; nor by the first command after it."""
    swap(day, "S1", "line 3\n", "three\n")
    kept = journal.append

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(journal, "append", full)
    for _ in range(2):
        day.ralph("undo", "--session", "S1", code=128, process=False)
        assert text(day) == ten()
        assert len(list(day.state.glob("intents/*"))) == 1
    monkeypatch.setattr(journal, "append", kept)
    day.ralph("status", process=False)
    assert_clean(day)
    undo(day, "S1", "--redo")
    assert text(day) == ten().replace("line 3\n", "three\n")


def test_only_its_own_lines_leave_a_shared_file(day: Repo) -> None:
    """Line-true; the other session's and the human's lines stay, byte for byte; what is staged stays."""
    swap(day, "S1", "line 3\n", "three\nthree and a half\n")
    swap(day, "S2", "line 7\n", "seven\n")
    swap(day, None, "line 9\n", "nine\n")
    day.git("add", "f")
    found = undo(day, "S1")
    assert (found["status"], found["session"]) == ("undone", "S1")
    assert changed(found) == {"f": "M"}
    assert text(day) == ten(l7="seven", l9="nine")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == ten(l7="seven")


def test_new_files_go_and_deleted_ones_come_back(day: Repo) -> None:
    day.write("gone", "kept\n", mode=0o755)
    day.commit_all("gone")
    before = files(day)
    day.edit("S1", "new/deep/file", "new\n")
    day.delete("S1", "gone")
    found = undo(day, "S1")
    assert changed(found) == {"new/deep/file": "D", "gone": "A"}
    assert files(day) == before
    assert day.file("gone").stat().st_mode & 0o777 == 0o755
    assert not day.file("new").exists()
    assert changed(undo(day, "S1", "--redo")) == {"new/deep/file": "A", "gone": "D"}
    assert files(day) == {**{k: v for k, v in before.items() if k != "gone"}, "new/deep/file": b"new\n"}


def test_a_folder_that_holds_anything_else_stays(day: Repo) -> None:
    day.edit("S1", "new/mine", "new\n")
    day.write("new/yours", "yours\n")
    undo(day, "S1")
    assert sorted(os.listdir(day.file("new"))) == ["yours"]


def test_a_dry_run_prints_the_patch_and_writes_nothing(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.edit("S1", "new", "new\n")
    before, state = files(day), sorted(day.state.rglob("*.jsonl"))
    patch = day.ralph("undo", "--session", "S1", "--dry-run").out
    assert files(day) == before
    assert sorted(day.state.rglob("*.jsonl")) == state
    assert undo(day, "S1", "--dry-run")["status"] == "dry-run"
    day.git_bytes("apply", stdin=patch)
    assert text(day) == ten()
    assert "new" not in files(day)


def test_a_call_the_last_edits_and_paths_narrow_it(day: Repo) -> None:
    day.write("g", "one\n")
    day.commit_all("g")
    call(day, "toolu_1", "line 2\n", "two\n")
    day.edit("S1", "g", "one\ntwo\n", fields={"call": "toolu_2"})
    call(day, "toolu_3", "line 8\n", "eight\n")
    undo(day, "S1", "--call", "toolu_1")
    assert (text(day), day.read("g")) == (ten(l8="eight"), b"one\ntwo\n")
    undo(day, "S1", "--redo")
    undo(day, "S1", "--last", "2")
    assert (text(day), day.read("g")) == (ten(l2="two"), b"one\n")
    undo(day, "S1", "--redo")
    undo(day, "S1", "--", "g")
    assert (text(day), day.read("g")) == (ten(l2="two", l8="eight"), b"one\n")
    assert undo(day, "S1", "--", "g")["status"] == "nothing"


def test_last_counts_edits_that_are_still_pending(day: Repo) -> None:
    swap(day, "S1", "line 2\n", "two\n")
    swap(day, "S1", "line 5\n", "five\n")
    swap(day, "S1", "line 8\n", "eight\n")
    undo(day, "S1", "--last", "1")
    undo(day, "S1", "--last", "1")
    assert text(day) == ten(l2="two")
    undo(day, "S1", "--last", "7")
    assert text(day) == ten()
    for wanted in (ten(l2="two"), ten(l2="two", l5="five"), ten(l2="two", l5="five", l8="eight")):
        assert undo(day, None, "--redo")["status"] == "redone"
        assert text(day) == wanted
    assert undo(day, None, "--redo")["status"] == "nothing"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--call", "toolu_9"), 128),
        (("--call", "toolu_1", "--last", "1"), 129),
        (("--redo", "--last", "1"), 129),
        (("--redo", "--call", "toolu_1"), 129),
        (("--last", "0"), 129),
        (("--last", "x"), 129),
        (("--", "nowhere"), 128),
    ],
)
def test_what_is_unknown_or_badly_typed(day: Repo, words: tuple[str, ...], code: int) -> None:
    call(day, "toolu_1", "line 2\n", "two\n")
    before = text(day)
    day.ralph("undo", "--session", "S1", *words, code=code)
    assert text(day) == before


def test_a_committed_call_is_nothing_to_undo(day: Repo) -> None:
    call(day, "toolu_1", "line 2\n", "two\n")
    day.commit("S1")
    assert undo(day, "S1", "--call", "toolu_1")["status"] == "nothing"
    assert undo(day, "S1")["status"] == "nothing"
    assert text(day) == ten(l2="two")


def test_a_call_that_nobody_made_is_never_nothing(day: Repo) -> None:
    """Also where nothing is pending and so no session is meant; one that somebody made is nothing to undo."""
    assert "no call 'toolu_9' of any session" in day.ralph("undo", "--call", "toolu_9", code=128).said
    call(day, "toolu_1", "line 2\n", "two\n")
    day.commit("S1")
    for words in ((), ("--dry-run",)):
        day.ralph("undo", "--call", "toolu_9", *words, code=128)
        assert undo(day, None, "--call", "toolu_1", *words)["status"] == "nothing"
    assert undo(day, None)["status"] == "nothing"


@pytest.mark.parametrize("who", ["S2", None])
def test_what_others_built_on_is_refused(day: Repo, who: str | None) -> None:
    """Refused (4) with their names and lines; nothing is written; with --skip-entangled it stays."""
    swap(day, "S1", "line 3\n", "three\nthree b\nthree c\n")
    swap(day, "S1", "line 8\n", "eight\n")
    swap(day, who, "three b\n", "three b, better\n")
    before = text(day)
    found = undo(day, "S1", code=4)
    assert found["status"] == "refused"
    (left,) = found["left"]
    assert (left["path"], left["reason"], left["sessions"]) == ("f", "entangled", [who or "unrecorded"])
    assert left["lines"] == [4, 4]
    assert text(day) == before
    found = undo(day, "S1", "--skip-entangled")
    assert found["status"] == "undone"
    assert [one["reason"] for one in found["left"]] == ["entangled"]
    assert text(day) == before.replace("eight", "line 8")


def test_what_stands_in_the_way_is_said_once(day: Repo) -> None:
    """A line that came back is in the record of its edit, and in that of each redo."""
    swap(day, "S1", "line 2\n", "two\n")
    swap(day, "S2", "two\n", "two, better\n")
    for _ in range(2):
        undo(day, "S2")
        undo(day, "S1")
        undo(day, "S1", "--redo")
        undo(day, "S2", "--redo")
    (left,) = undo(day, "S1", code=4)["left"]
    assert (left["path"], left["sessions"], left["lines"]) == ("f", ["S2"], [2, 2])


def test_a_line_inside_its_block_is_built_on_it(day: Repo) -> None:
    swap(day, "S1", "line 5\n", "def f():\n    return 1\n")
    swap(day, "S2", "def f():\n", "def f():\n    x = 2\n")
    assert undo(day, "S1", code=4)["left"][0]["sessions"] == ["S2"]
    undo(day, "S2")
    undo(day, "S1")
    assert text(day) == ten()


def test_a_hint_of_a_refusal_works_as_shown(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S1", "line 8\n", "eight\n")
    swap(day, "S2", "three\n", "three, better\n")
    said = day.ralph("undo", "--session", "S1", code=4).said
    hints = [row.removeprefix("hint: ").split("  #")[0] for row in said.split("\n") if row.startswith("hint")]
    assert len(hints) == 3
    for row in hints:
        words = row.split(" ")
        assert words[:2] == ["git", "ralph"]
        day.ralph(*words[2:])
    assert text(day) == ten(l3="three, better")


def test_what_was_taken_back_already_is_nothing(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.git("checkout", "--", "f")
    assert undo(day, "S1")["status"] == "nothing"
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, None, "three\n", "line 3\n")
    assert undo(day, "S1")["status"] == "nothing"


def test_redo_brings_every_byte_back_with_others_edits_between(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\nmore\n")
    swap(day, "S1", "line 10\n", "")
    swap(day, "S2", "line 7\n", "seven\n")
    undo(day, "S1")
    swap(day, "S2", "line 5\n", "five\n")
    swap(day, None, "line 1\n", "one\n")
    day.commit("S2")
    found = undo(day, None, "--redo")
    assert (found["status"], changed(found)) == ("redone", {"f": "M"})
    assert text(day) == ten(l1="one", l3="three\nmore", l5="five", l7="seven", l10="")
    day.commit("S1")
    assert head(day) == ten(l3="three\nmore", l5="five", l7="seven", l10="")
    assert f"session '{day.called('S1')}'" in day.ralph("why", "f:3").text
    nothing_pending(day, "S1", "S2")


def test_redo_is_refused_where_somebody_wrote_there_since(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    undo(day, "S1")
    swap(day, "S2", "line 3\n", "drei\n")
    assert undo(day, "S1", "--redo", code=4)["left"][0]["sessions"] == ["S2"]
    assert text(day) == ten(l3="drei")
    undo(day, "S2")
    undo(day, "S1", "--redo")
    assert text(day) == ten(l3="three")


def test_undo_after_a_stash_and_pop(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 7\n", "seven\n")
    day.git("stash", "-q")
    day.git("stash", "pop", "-q")
    undo(day, "S1")
    assert text(day) == ten(l7="seven")


def test_others_lines_that_it_removed_come_back(day: Repo) -> None:
    swap(day, "S2", "line 3\n", "three\ndrei\n")
    swap(day, "S1", "drei\n", "")
    swap(day, "S1", "line 6\n", "")
    undo(day, "S1")
    assert text(day) == ten(l3="three\ndrei")
    day.commit("S2")
    assert head(day) == text(day)


def test_a_file_that_another_session_wrote_into_is_refused_and_kept(day: Repo) -> None:
    day.edit("S1", "new", "a\nb\n")
    day.edit("S2", "new", "a\nb\nc\n")
    assert undo(day, "S1", code=4)["left"][0]["sessions"] == ["S2"]
    assert day.read("new") == b"a\nb\nc\n"


def test_its_lines_leave_an_untracked_file_of_somebody_else(day: Repo) -> None:
    day.write("notes", "mine\n")
    day.edit("S1", "notes", "mine\nand the agent's\n")
    undo(day, "S1")
    assert day.read("notes") == b"mine\n"


def test_an_ignored_file_is_touched_only_where_this_session_made_it(day: Repo) -> None:
    day.write(".gitignore", "*.log\n")
    day.commit_all("ignore")
    day.write("his.log", "his\n")
    day.edit("S1", "his.log", "his\nours\n")
    day.edit("S1", "ours.log", "ours\n")
    found = undo(day, "S1")
    assert changed(found) == {"ours.log": "D"}
    assert [(one["path"], one["reason"]) for one in found["left"]] == [("his.log", "ignored")]
    assert day.read("his.log") == b"his\nours\n"


def test_a_rename_goes_back_whole(day: Repo) -> None:
    day.rename("S1", "f", "renamed")
    day.edit("S1", "renamed", text_of(day, "renamed").replace("line 3\n", "three\n"))
    found = undo(day, "S1")
    assert changed(found) == {"f": "A", "renamed": "D"}
    assert text(day) == ten()
    undo(day, "S1", "--redo")
    assert text_of(day, "renamed") == ten(l3="three")
    assert day.read("f") is None


def text_of(repo: Repo, path: str) -> str:
    data = repo.read(path)
    assert data is not None
    return data.decode()


def test_a_rename_counts_as_one_edit(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.rename("S1", "f", "renamed")
    undo(day, "S1", "--last", "1")
    assert text(day) == ten(l3="three")
    assert day.read("renamed") is None


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_stay_as_they_are(day: Repo, end: str) -> None:
    day.git("config", "core.autocrlf", "true")
    day.write("w", f"a{end}b{end}c{end}")
    day.commit_all("w")
    day.edit("S1", "w", f"a{end}B{end}c{end}")
    day.write("w", f"a{end}B{end}c{end}d{end}")
    undo(day, "S1")
    assert day.read("w") == f"a{end}b{end}c{end}d{end}".encode()
    undo(day, "S1", "--redo")
    assert day.read("w") == f"a{end}B{end}c{end}d{end}".encode()


def test_bytes_that_are_no_text_and_no_last_newline(day: Repo) -> None:
    day.write("w", b"\xff\xfe one\ntwo\x80")
    day.commit_all("w")
    swap_bytes(day, "S1", "w", b"two\x80", b"two\x80\nthree\n")
    undo(day, "S1")
    assert day.read("w") == b"\xff\xfe one\ntwo\x80"
    undo(day, "S1", "--redo")
    assert day.read("w") == b"\xff\xfe one\ntwo\x80\nthree\n"


def swap_bytes(repo: Repo, session: str, path: str, old: bytes, new: bytes) -> None:
    data = repo.read(path)
    assert data is not None
    repo.edit(session, path, data.replace(old, new))


def test_binary_files_go_back_whole(day: Repo) -> None:
    day.write("b", b"\0one")
    day.commit_all("b")
    day.edit("S1", "b", b"\0two")
    day.edit("S1", "b", b"\0three")
    undo(day, "S1", "--last", "1")
    assert day.read("b") == b"\0two"
    undo(day, "S1")
    assert day.read("b") == b"\0one"
    undo(day, "S1", "--redo")
    assert day.read("b") == b"\0two"


def test_binary_files_that_others_changed_are_refused(day: Repo) -> None:
    day.write("b", b"\0one")
    day.commit_all("b")
    day.edit("S1", "b", b"\0two")
    day.write("b", b"\0three")
    assert undo(day, "S1", code=4)["left"][0]["path"] == "b"
    assert day.read("b") == b"\0three"


def test_a_claim_by_path_goes_to_head_only_where_the_file_is_as_recorded(day: Repo) -> None:
    day.write("f", ten(l3="three"))
    day.ralph("track", "--session", "S1", "--", "f")
    undo(day, "S1")
    assert text(day) == ten()
    undo(day, "S1", "--redo")
    assert text(day) == ten(l3="three")
    day.write("new", "who made it?\n")
    day.ralph("track", "--session", "S1", "--", "new")
    found = undo(day, "S1", "--", "new", code=4)
    assert found["left"][0]["reason"] == "unanchored"
    assert day.read("new") == b"who made it?\n"


def test_mode_is_kept_and_its_own_change_of_it_taken_back(day: Repo) -> None:
    day.file("f").chmod(0o640)
    swap(day, "S1", "line 3\n", "three\n")
    undo(day, "S1")
    assert stat.S_IMODE(day.file("f").stat().st_mode) == 0o640


def test_a_symbolic_link_is_neither_followed_nor_replaced(day: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text(ten(l3="three"))
    swap(day, "S1", "line 3\n", "three\n")
    day.remove("f")
    day.file("f").symlink_to(outside)
    undo(day, "S1", code=4)
    assert day.file("f").is_symlink()
    assert outside.read_text() == ten(l3="three")


def test_a_folder_that_became_a_link_leads_nowhere(day: Repo, tmp_path: Path) -> None:
    day.write("d/f", ten())
    day.commit_all("d")
    day.edit("S1", "d/f", ten(l3="three"))
    os.rename(day.file("d"), tmp_path / "d")
    day.file("d").symlink_to(tmp_path / "d")
    found = undo(day, "S1")
    assert (found["status"], found["left"][0]["reason"]) == ("nothing", "outside")
    assert (tmp_path / "d/f").read_text() == ten(l3="three")


def test_another_name_of_the_file_keeps_what_it_has(day: Repo, tmp_path: Path) -> None:
    """Nothing outside the working tree is written, by a hard link neither."""
    swap(day, "S1", "line 3\n", "three\n")
    os.link(day.file("f"), tmp_path / "other")
    undo(day, "S1")
    assert text(day) == ten()
    assert (tmp_path / "other").read_text() == ten(l3="three")


def test_it_works_from_a_subdirectory_and_a_linked_worktree(day: Repo) -> None:
    other = day.worktree("side")
    other.write("d/x", "x\n")
    other.commit_all("x")
    other.edit("S1", "d/x", "x\ny\n")
    other.edit("S1", "f", ten(l2="two"))
    undo(other, "S1", "--", "x", cwd="d")
    assert (other.read("d/x"), other.read("f")) == (b"x\n", ten(l2="two").encode())
    undo(other, None)
    assert other.read("f") == ten().encode()
    assert text(day) == ten()


def test_during_a_merge_it_is_refused(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    (day.common / "MERGE_HEAD").write_text(day.head() + "\n")
    assert undo(day, "S1", code=4)["status"] == "refused"
    assert text(day) == ten(l3="three")


def test_without_a_session_it_is_the_only_one_with_pending_work(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    assert undo(day, None)["session"] == "S1"
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 7\n", "seven\n")
    undo(day, None, code=4)
    undo(day, None, env={"RALPH_SESSION": "S2"})
    assert text(day) == ten(l3="three")


def test_an_agent_we_do_not_know_undoes_nothing(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    said = day.ralph("undo", code=4, env={"CLAUDE_CODE_SESSION_ID": "stranger"}).said
    assert "recorded nothing here" in said
    assert text(day) == ten(l3="three")


@pytest.mark.parametrize("args", [(), ("--last", "1")])
def test_the_records_of_a_path_are_read_into_the_weave_once(
    day: Repo, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    """Which edit is the last one and what the file is without it are two questions to one reading."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 7\n", "seven\n")
    read = list[str]()

    def noted(*given: Any, **named: Any) -> Any:
        read.append("f")
        return pieces(*given, **named)

    monkeypatch.setattr("gitralph.decide.path_texts.pieces", noted)
    undo(day, "S1", *args)
    assert text(day) == ten(l7="seven")
    assert read == ["f"]


def test_a_deletion_over_anothers_pending_line_goes_back_whole(day: Repo) -> None:
    """The session of the deletion has nothing pending then, and the other one its line."""
    swap(day, "S2", "line 5\n", "five\n")
    day.delete("S1", "f")
    assert changed(undo(day, "S1")) == {"f": "A"}
    assert text(day) == ten(l5="five")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == ten(l5="five")
    assert undo(day, "S1", "--redo", code=0)["status"] == "redone"
    assert day.read("f") is None


def test_a_mode_that_was_claimed_by_its_path_goes_back(day: Repo) -> None:
    day.write("run.sh", "echo\n")
    day.write("tool", b"\0binary")
    day.commit_all("run.sh")
    for name in ("run.sh", "tool"):
        day.file(name).chmod(0o755)
    day.write("f", ten(l3="three"))
    day.ralph("track", "--session", "S1", "--", "run.sh", "tool", "f")
    found = undo(day, "S1")
    assert (changed(found), found["left"]) == ({"f": "M", "run.sh": "M", "tool": "M"}, [])
    assert not day.file("run.sh").stat().st_mode & 0o111
    assert not day.file("tool").stat().st_mode & 0o111
    assert text(day) == ten()
    undo(day, "S1", "--redo")
    assert day.file("run.sh").stat().st_mode & 0o111
    assert day.file("tool").stat().st_mode & 0o111
    assert text(day) == ten(l3="three")


# --- what a commit took stays ---


@pytest.mark.parametrize("whose", ["S1", "the person"])
def test_its_committed_line_under_its_pending_one_comes_back(day: Repo, whose: str) -> None:
    """It used to go from the disk, and with the next commit from HEAD."""
    call(day, "one", "line 3", "one")
    if whose == "S1":
        day.commit("S1")
    else:
        day.commit_all("the person's")
    call(day, "two", "one", "two")
    assert changed(undo(day, "S1")) == {"f": "M"}
    assert text(day) == head(day) == ten(l3="one")
    assert changed(undo(day, "S1", "--redo")) == {"f": "M"}
    assert text(day) == ten(l3="two")


def test_a_file_that_it_committed_stays(day: Repo) -> None:
    """An edit, a deletion and a move of it are taken back; that it is there is not."""
    day.edit("S1", "n", "first line\n")
    day.commit("S1")
    day.edit("S1", "n", "first line\nand another\n")
    assert changed(undo(day, "S1")) == {"n": "M"}
    assert day.read("n") == b"first line\n"
    day.delete("S1", "n")
    assert changed(undo(day, "S1")) == {"n": "A"}
    day.rename("S1", "n", "m")
    assert changed(undo(day, "S1")) == {"n": "A", "m": "D"}
    assert files(day) == {**files(day), "n": b"first line\n"}


def test_a_committed_file_with_a_persons_line_alone_has_nothing_to_take_back(day: Repo) -> None:
    day.edit("S1", "n", "first line\n")
    day.commit("S1")
    day.write("n", "first line\na person's\n")
    assert undo(day, "S1")["status"] == "nothing"


def test_an_empty_file_that_it_committed_stays_with_anothers_line(day: Repo) -> None:
    day.edit("S1", "e", "")
    day.commit("S1")
    day.write("e", "a person's\n")
    day.commit_all("the person's")
    day.edit("S1", "e", "other words\n")
    assert changed(undo(day, "S1")) == {"e": "M"}
    assert day.read("e") == b"a person's\n"


def test_a_removal_that_a_commit_took_stays(day: Repo) -> None:
    """Also where it was taken back and done again, and the file has another's line."""
    call(day, "gone", "line 3\n", "")
    swap(day, "S2", "line 8\n", "eight of S2\n")
    undo(day, "S1")
    undo(day, "S1", "--redo")
    day.commit("S1")
    assert undo(day, "S1")["status"] == "nothing"
    assert "line 3\n" not in text(day)


def test_redo_upon_redo_in_one_line(day: Repo) -> None:
    call(day, "one", "line 3", "one")
    call(day, "two", "one", "two")
    for _ in range(2):
        undo(day, "S1", "--last", "1")
    assert text(day) == ten()
    for word in ("one", "two"):
        assert changed(undo(day, "S1", "--redo")) == {"f": "M"}
        assert text(day) == ten(l3=word)


def test_a_call_that_moves_and_edits_is_one_edit(day: Repo) -> None:
    """A tool tells both in one event; the hook writes three records of it."""
    before = (day.read("f") or b"").decode()
    after = before.replace("line 3\n", "three\n")
    day.remove("f")
    day.write("g", after)
    event = {"session": "S1", "cwd": str(day.root), "event": "rename", "path": "f", "to": "g"}
    day.hook("generic", {**event, "before": before, "after": after})
    undo(day, "S1", "--last", "1")
    assert (day.read("f") or b"").decode() == before
    assert not (day.root / "g").exists()


@pytest.mark.parametrize("first", [True, False])
def test_a_move_that_was_taken_back_and_done_again_is_a_move(day: Repo, first: bool) -> None:
    """The mover's commit reverted a line that another had committed meanwhile."""
    swap(day, "S2", "line 3\n", "three of S2\n")
    day.rename("S1", "f", "h")
    undo(day, "S1")
    if first:
        day.commit("S2")
    undo(day, "S1", "--redo")
    if not first:
        day.commit("S2")
    assert day.commit("S1").paths == {"f": "D", "h": "A"}
    assert day.blob("h") == ten(l3="three of S2").encode() == day.read("h")


@pytest.mark.parametrize("named", ["f", "h", "k"])
def test_of_a_rename_one_end_is_named_and_both_go_back(day: Repo, named: str) -> None:
    day.rename("S1", "f", "k")
    day.rename("S1", "k", "h")
    if named != "k":
        assert changed(undo(day, "S1", "--", named)) == {"f": "A", "h": "D"}
        assert sorted(files(day)) == ["f"]
    else:
        assert undo(day, "S1", "--", named)["status"] == "nothing"


def test_a_file_that_it_committed_beside_anothers_line_stays(day: Repo) -> None:
    """HEAD's text is none that the file ever had."""
    day.edit("S1", "n", "first line\nsecond line\n")
    day.edit("S2", "n", "first line\nof S2\nsecond line\n")
    day.edit("S1", "n", "first line\nof S2\nsecond line\nthird line\n")
    day.commit("S1")
    assert day.blob("n") == b"first line\nsecond line\nthird line\n"
    day.edit("S1", "n", "first line\nof S2\nsecond line\nthird line\nfourth line\n")
    assert changed(undo(day, "S1")) == {"n": "M"}
    assert day.read("n") == b"first line\nof S2\nsecond line\nthird line\n"


def test_amid_conflict_markers_it_is_refused(day: Repo) -> None:
    """A stash that did not fit leaves both sides in the file, and no operation in progress."""
    day.write("f", ten(l3="a person's"))
    day.git("stash")
    swap(day, "S1", "line 3\n", "three of S1\n")
    day.git("commit", "-qam", "three")
    swap(day, "S1", "line 8\n", "eight of S1\n")
    day.git("add", "f")
    day.git("commit", "-qm", "eight")
    day.git("stash", "pop", code=1)
    day.edit("S1", "f", text(day).replace("line 9\n", "nine of S1\n"))
    there = text(day)
    assert undo(day, "S1", code=4)["left"][0]["reason"] == "unmerged"
    assert text(day) == there


@pytest.mark.parametrize("command", ["sed -i 's/$/\\r/' f", "mv w f"])
def test_line_ends_that_a_session_wrote_come_back_where_git_converts_none(day: Repo, command: str) -> None:
    """With LF on disk and in HEAD the records' CRLF was taken for one that a checkout had converted."""
    day.write("w", "one\r\ntwo\r\n")
    day.commit_all("w")
    shells.run(day, "S1", command)
    before = files(day)
    assert b"\r\n" in before["f"]
    assert undo(day, "S1")["status"] == "undone"
    assert files(day) != before
    assert undo(day, "S1", "--redo")["status"] == "redone"
    assert files(day) == before
    assert day.commit("S1").paths["f"] == "M"
    assert day.blob("f") == before["f"]


def test_anothers_line_comes_back_though_the_file_became_as_in_head(day: Repo) -> None:
    """S1 moved S2's function to another file, which left the first one as in HEAD."""
    day.write("g", ten())
    day.commit_all("g")
    swap(day, "S2", "line 2\n", "line 2\ntwo of S2\n")
    day.edit("S1", "g", ten(l5="line 5\ntwo of S2"))
    day.edit("S1", "f", ten())
    assert changed(undo(day, "S1")) == {"f": "M", "g": "M"}
    assert (text(day), text(day, "g")) == (ten(l2="line 2\ntwo of S2"), ten())
    day.commit("S2")
    assert head(day) == text(day)


@pytest.mark.parametrize("who", ["S2", "a person"])
def test_a_line_that_was_put_back_as_in_head_is_anothers_again(day: Repo, who: str) -> None:
    """S1 wrote the whole file from a text without the other's change."""
    if who == "S2":
        swap(day, "S2", "line 7\n", "seven\n")
    else:
        day.write("f", ten(l7="seven"))
    day.edit("S1", "f", ten(l2="two"))
    for _ in range(2):
        undo(day, "S1")
        assert text(day) == ten(l7="seven")
        undo(day, "S1", "--redo")
        assert text(day) == ten(l2="two")


def test_a_line_that_anothers_shell_formatted_goes_with_its_session(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three is here\n")
    shells.run(day, "S2", "sed -i 's/^/  /' f")
    formatted = text(day)
    undo(day, "S1")
    assert text(day) == formatted.replace("  three is here", "line 3")
    undo(day, "S1", "--redo")
    assert text(day) == formatted
    undo(day, "S1")
    undo(day, "S2")
    assert text(day) == ten()


@pytest.mark.parametrize("gone", ["mv f m", "rm f"])
def test_a_removal_does_not_come_back_into_an_absent_file(day: Repo, gone: str) -> None:
    """The next commit takes the removal, so it is not "nothing to take back"."""
    swap(day, "S2", "line 3\n", "")
    shells.run(day, "S1", gone)
    assert undo(day, "S2", code=4)["left"][0]["sessions"] == ["S1"]


def test_the_last_edit_may_be_an_executable_bit(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    shells.run(day, "S1", "chmod +x f")
    undo(day, "S1", "--last", "1")
    assert (text(day), day.file("f").stat().st_mode & stat.S_IXUSR) == (ten(l3="three"), 0)
    undo(day, "S1", "--last", "1")
    assert text(day) == ten()


def test_the_last_edit_may_be_a_move_that_was_redone(day: Repo) -> None:
    before = files(day)
    shells.run(day, "S1", "mv f m")
    moved = files(day)
    undo(day, "S1")
    undo(day, "S1", "--redo")
    assert files(day) == moved
    undo(day, "S1", "--last", "1")
    assert files(day) == before


def test_a_move_that_stays_keeps_what_it_brought(day: Repo) -> None:
    """An edit before the move is no part of the move's call."""
    swap(day, "S1", "line 3\n", "three\n")
    shells.run(day, "S1", "mv f m", call="toolu_mv")
    day.edit("S1", "m", ten(l3="three", l7="seven"))
    undo(day, "S1", "--call", "toolu_mv", "--skip-entangled")
    assert text(day, "m") == ten(l3="three", l7="seven")


@pytest.mark.parametrize("what", ["new", "deleted", "moved"])
def test_a_whole_file_that_was_assigned(day: Repo, what: str) -> None:
    """A person made, deleted or moved it; then it is the session's, and so is that it exists."""
    before = files(day)
    if what == "new":
        day.write("n", "one\ntwo\n")
    elif what == "deleted":
        day.remove("f")
    else:
        os.rename(day.file("f"), day.file("n"))
    after, paths = files(day), ["f", "n"] if what == "moved" else ["n" if what == "new" else "f"]
    day.edit("S1", "other", "text\n")
    day.ralph("assign", "--to", "S1", "--", *paths)
    undo(day, "S1")
    assert files(day) == before
    undo(day, "S1", "--redo")
    assert files(day) == {**after, "other": b"text\n"}
    assert set(day.commit("S1").paths) == {*paths, "other"}


def test_a_part_of_a_new_file_that_was_assigned(day: Repo) -> None:
    """The rest is a person's, and so is that the file exists."""
    day.write("n", "one\ntwo\nthree\nfour\n")
    day.edit("S1", "other", "text\n")
    day.ralph("assign", "--to", "S1", "--", "n:1-2")
    undo(day, "S1")
    assert text(day, "n") == "three\nfour\n"


def test_a_hint_names_no_undo_that_is_refused_too(day: Repo) -> None:
    """Each stands in the other's way: S2 moved the file between two edits of S1."""
    swap(day, "S1", "line 3\n", "three\n")
    shells.run(day, "S2", "mv f m")
    day.edit("S1", "m", ten(l3="three", l7="seven"))
    said = day.run("undo", "--session", "S1").said
    assert "--skip-entangled" in said
    assert "--dry-run" not in said


def test_a_hint_for_a_path_that_looks_like_an_option(day: Repo) -> None:
    day.edit("S1", "-n", "x\n")
    day.edit("S2", "-n", "x\ny\n")
    said = day.run("undo", "--session", "S1").said
    assert "git ralph why ./-n:2" in said
    assert day.run("why", "./-n:2").code == 0


def test_a_line_that_was_put_back_stays_once_a_commit_had_the_file(day: Repo) -> None:
    """What it had replaced was never in HEAD, and is over."""
    swap(day, "S2", "line 7\n", "seven\n")
    day.edit("S1", "f", ten(l2="two"))
    day.git("commit", "-qam", "all of it")
    there = text(day)
    assert undo(day, "S1")["status"] == "nothing"
    assert text(day) == there


def test_a_file_in_the_place_of_a_folder_goes_and_the_folder_comes_back(day: Repo) -> None:
    day.write("y/1", "one\n")
    day.commit_all("y")
    day.delete("S1", "y/1")
    day.file("y").rmdir()
    day.edit("S1", "y", "a file\n")
    assert changed(undo(day, "S1")) == {"y": "D", "y/1": "A"}
    assert day.read("y/1") == b"one\n"
    day.ralph("undo", "--redo", "--session", "S1")
    assert day.read("y") == b"a file\n"


def test_a_folder_in_the_place_of_a_file_comes_back_with_one_redo(day: Repo) -> None:
    day.delete("S1", "f")
    day.edit("S1", "f/a", "below\n")
    undo(day, "S1")
    assert day.read("f") == TEN.encode()
    day.ralph("undo", "--redo", "--session", "S1")
    assert day.read("f/a") == b"below\n"


@pytest.mark.parametrize("way", [("undo", "--redo"), ("restore",)])
def test_what_stands_in_the_place_of_a_file_is_named_and_stays(day: Repo, way: tuple[str, ...]) -> None:
    """A folder where the file was, or a file where its folder was; a dry run says the same."""
    for path, other in (("n", "n/x"), ("d/n", "d")):
        day.edit("S1", path, "of S1\n")
        undo(day, "S1")
        if path == "d/n" and day.file("d").exists():
            day.file("d").rmdir()
        day.write(other, "the user's\n")
        for dry in ((), ("--dry-run",)):
            said = day.ralph(*way, "--session", "S1", *dry, code=4).said
            assert f"'{path}': entangled: '{other}' stands in its place" in said
        assert day.read(other) == b"the user's\n"
        day.remove(other)
        if other == "n/x":
            day.file("n").rmdir()
        day.ralph(*way, "--session", "S1")
        assert day.read(path) == b"of S1\n"
        day.commit("S1")


def test_a_deletion_that_a_commit_took_comes_back_by_no_undo(day: Repo) -> None:
    """It wrote an empty file: the other's line was in HEAD, and then the deletion."""
    swap(day, "S2", "line 5\n", "five of S2\n")
    shell = shells.Shell(day, "S1").begin()
    day.remove("f")
    shell.end()
    day.commit("S2")
    day.commit("S1")
    assert day.changes() == {"f": "D"}
    assert "nothing to take back" in day.ralph("undo", "--session", "S1").text
    assert day.read("f") is None


@pytest.mark.parametrize("again", ["checkout", "reset --hard", "restore", "revert"])
def test_what_was_made_twice_and_is_committed_is_not_undone(day: Repo, again: str) -> None:
    """The line was in HEAD: it went from the file, and the line from before it did not come back."""
    swap(day, "S1", "line 4\n", "four of S1\n")
    if again == "revert":
        day.commit("S1")
        day.git("revert", "--no-edit", "HEAD")
    else:
        day.git(*(again if again != "restore" else "checkout").split(), *(["f"] if "-" not in again else []))
    if again == "restore":
        day.ralph("restore", "--session", "S1")
    else:
        swap(day, "S1", "line 4\n", "four of S1\n")
    day.commit("S1")
    assert undo(day, "S1")["status"] == "nothing"
    swap(day, "S1", "line 8\n", "eight of S1\n")
    assert undo(day, "S1")["status"] == "undone"
    assert day.git("status", "--porcelain") == ""


def test_a_file_that_was_made_twice_and_is_committed_is_not_undone(day: Repo) -> None:
    for call in ("first", "second"):
        full = str(day.file("new"))
        event = payloads.claude_write("S1", str(day.root), full, None, "one\n", tool_use_id=call)
        day.hook("claude-code", payloads.claude_pre(event))
        day.write("new", "one\n")
        day.hook("claude-code", event)
        if call == "first":
            day.remove("new")
    day.commit("S1")
    assert undo(day, "S1")["status"] == "nothing"
    assert day.git("status", "--porcelain") == ""


def test_the_last_edit_is_all_that_one_shell_command_did(day: Repo) -> None:
    """Both ends of a move, and a path between the two: one end of it alone lost the file."""
    day.write("api.py", "def a(): pass\n")
    day.write("main.py", "import api\n")
    day.commit_all("both")
    shells.run(day, "S1", "mv api.py server.py; sed -i s/api/server/ main.py")
    assert changed(undo(day, "S1", "--last", "1")) == {"api.py": "A", "main.py": "M", "server.py": "D"}
    assert day.git("status", "--short") == ""


def test_an_edit_that_is_redone_on_what_was_committed_meanwhile(day: Repo) -> None:
    """HEAD has what the undo went back to; a person has a line in the file."""
    swap(day, "S1", "line 5\n", "five\n")
    swap(day, None, "line 9\n", "nine\n")
    swap(day, "S1", "five\n", "five again\n")
    undo(day, "S1", "--last", "1")
    day.commit("S1")
    undo(day, "S1", "--redo")
    undo(day, "S1")
    assert text(day) == ten(l5="five", l9="nine")
    undo(day, "S1", "--redo")
    day.commit("S1")
    assert head(day) == ten(l5="five again")


@pytest.mark.parametrize("between", ["checkout", "commit of the removal", "commit of a change"])
def test_a_session_alone_that_was_twice_in_one_place(day: Repo, between: str) -> None:
    if between == "checkout":
        swap(day, "S1", "line 5\n", "five\n")
        day.git("checkout", "-q", "f")
        swap(day, "S1", "line 5\n", "five again\n")
    else:
        swap(day, "S1", "line 5\n", "" if between == "commit of the removal" else "five\n")
        day.commit("S1")
        day.edit("S1", "f", ten())
    then = head(day)
    assert changed(undo(day, "S1")) == {"f": "M"}
    assert text(day) == then
    assert undo(day, "S1")["status"] == "nothing"


def test_what_is_undone_is_not_of_whoever_undid_it(day: Repo) -> None:
    """S1 committed a removal, S2 put the line back, a person undoes that, and S1's commit is taken back."""
    swap(day, "S1", "line 3\n", "")
    day.commit("S1")
    swap(day, "S2", "line 4\n", "line 3\nline 4\n")
    undo(day, "S2")
    day.git("reset", "-q", "HEAD~")
    assert (day.pending("S1"), day.pending("S2")) == (["f"], [])
    assert day.commit("S2").status == "nothing"


def test_a_file_that_is_made_again_as_it_was_is_made(day: Repo) -> None:
    """The session had deleted it in a commit of its own."""
    shells.run(day, "S1", "git rm -q f")
    day.commit("S1")
    day.edit("S1", "f", TEN)
    assert day.owners()["f"] == "other"
    assert changed(undo(day, "S1")) == {"f": "D"}
    undo(day, "S1", "--redo")
    assert day.commit("S1").paths == {"f": "A"}


def test_what_a_person_gave_of_his_new_file_is_undone(day: Repo) -> None:
    day.write("new", "x\ny\nz\n")
    swap(day, "S1", "line 5\n", "five\n")
    day.ralph("assign", "--to", "S1", "new:2")
    undo(day, "S1")
    assert day.read("new") == b"x\nz\n"
    assert day.commit("S1").status == "nothing"


def test_the_last_edit_after_a_restore_is_the_restore(day: Repo) -> None:
    """A file that was moved and edited comes back, and goes again with all of it."""
    shells.run(day, "S1", "mv f g")
    swap(day, "S1", "line 3\n", "three\n", path="g")
    day.remove("g")
    day.git("checkout", "-q", "f")
    day.ralph("restore", "--session", "S1")
    assert changed(undo(day, "S1", "--last", "1")) == {"f": "A", "g": "D"}
    assert day.git("status", "--short") == ""


def test_an_undo_that_an_agent_runs_leaves_the_persons_lines_the_persons(day: Repo) -> None:
    """The command changed the file by its undo alone, and that is recorded."""
    swap(day, "S1", "line 2\n", "two\n")
    swap(day, None, "line 6\n", "six\n")
    command = shells.Shell(day, "S1").begin()
    undo(day, "S1")
    command.end()
    assert day.commit(None, "--mine").paths == {"f": "M"}
    assert head(day) == ten(l6="six")


def test_the_hint_gives_the_session_what_stands_in_the_way_of_its_undo(day: Repo) -> None:
    """A person reworded a line amid a block of the session's."""
    swap(day, "S1", "line 5\n", "line 5\none\ntwo\nthree\n")
    swap(day, None, "two\n", "my own words\n")
    said = day.ralph("undo", "--session", "S1", code=4).said
    (hint,) = [row for row in said.splitlines() if row.startswith("hint: git ralph assign")]
    day.ralph(*hint.partition("  #")[0].split()[3:])
    undo(day, "S1")
    assert text(day) == ten()


def test_a_word_about_an_undo_that_fails_does_not_make_the_undo_fail(
    day: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap(day, "S1", "line 5\n", "five\n")

    def fail(*_: object) -> None:
        raise Fatal("git does not answer")

    monkeypatch.setattr("gitralph.cli.undo.left_by_shell", fail)
    assert undo(day, "S1", process=False)["status"] == "undone"
    assert text(day) == ten()


def test_an_undo_of_the_last_edit_alone_hints_at_no_assignment(day: Repo) -> None:
    """What is assigned would not be among the last edits."""
    swap(day, "S1", "line 5\n", "line 5\none\ntwo\nthree\n")
    swap(day, None, "two\n", "my own words\n")
    assert "assign" not in day.ralph("undo", "--session", "S1", "--last", "1", code=4).said

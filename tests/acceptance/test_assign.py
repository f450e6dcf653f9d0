"""``git ralph assign``: lines that nobody recorded become a session's, exactly; ``track --release``.

``f`` holds "line 1" to "line 10" and is committed. The user edits it with no hook watching.
"""

import shlex
from pathlib import Path
from typing import Any

import pytest

from gitralph.takeback import assign as assigning
from tests.acceptance.test_head_moved import day, head, nothing_pending, swap, ten, text
from tests.support import payloads
from tests.support.repo import Repo
from tests.support.texts import TEN

__all__ = ["day"]


@pytest.fixture
def two(day: Repo) -> Repo:
    """The same with two sessions that recorded nothing yet."""
    day.start("S1")
    day.start("S2")
    return day


def give(repo: Repo, session: str, *places: str, code: int = 0, **how: Any) -> dict[str, Any]:
    """``assign --json``; the working tree is never written."""
    before = {p: p.read_bytes() for p in repo.root.rglob("*") if p.is_file() and ".git" not in p.parts}
    found: dict[str, Any] = repo.ralph(
        "assign", "--to", session, "--json", "--", *places, code=code, **how
    ).json()
    assert {p: p.read_bytes() for p in before} == before
    assert set(found) == {"status", "session", "name", "paths", "left", "notes"}
    return found


def state_of(repo: Repo) -> dict[Path, bytes]:
    """Every record of the state folder."""
    return {
        p: p.read_bytes()
        for p in repo.state.rglob("*")
        if p.is_file() and p.suffix in (".jsonl", ".files", ".commits") and p.stat().st_size
    }


def test_a_line_is_committed_alone_and_the_rest_stays_nobodys(two: Repo) -> None:
    """Exactly these lines; why, status and diff agree."""
    two.write("f", ten(l3="three", l7="seven", l8="eight"))
    found = give(two, "S2", "f:8")
    assert found["status"] == "assigned"
    assert found["session"] == "S2"
    assert found["paths"] == [{"path": "f", "lines": [[8, 8]]}]
    assert f"session '{two.called('S2')}'" in two.ralph("why", "f:8").text
    assert "nobody recorded it" in two.ralph("why", "f:7").text
    assert two.owners("S2") == {"f": "contested"}
    patch = two.ralph("diff", "--session", "S2").text
    assert "+eight" in patch
    assert "seven" not in patch
    two.commit("S2")
    assert head(two) == ten(l8="eight")
    assert two.owners() == {"f": "nobody"}
    nothing_pending(two, "S1", "S2")


def test_without_lines_everything_unrecorded_of_the_path(two: Repo) -> None:
    swap(two, "S1", "line 5\n", "five by S1\n")
    swap(two, None, "line 2\n", "two\n")
    swap(two, None, "line 9\n", "")
    give(two, "S2", "f")
    two.commit("S2")
    assert head(two) == ten(l2="two", l9="")
    two.commit("S1")
    assert head(two) == text(two)
    nothing_pending(two, "S1", "S2")


def test_what_a_session_recorded_is_refused_whole(two: Repo) -> None:
    """Refused (4), nothing written, the session and the lines named."""
    swap(two, "S1", "line 5\n", "five\nsix\n")
    swap(two, None, "line 2\n", "two\n")
    before = state_of(two)
    found = give(two, "S2", "f:2-6", code=4)
    assert found["status"] == "refused"
    (left,) = found["left"]
    assert (left["path"], left["sessions"], left["lines"]) == ("f", ["S1"], [5, 6])
    assert state_of(two) == before
    assert "'f' lines 5-6" in two.ralph("assign", "--to", "S2", "f:2-6", code=4).said


def test_one_path_refused_leaves_the_others_unwritten(two: Repo) -> None:
    two.write("g", "g\n")
    swap(two, "S1", "line 5\n", "five\n")
    before = state_of(two)
    give(two, "S2", "g", "f:5", code=4)
    assert state_of(two) == before


def test_a_correction_of_another_sessions_line_is_refused(two: Repo) -> None:
    swap(two, "S1", "line 5\n", "x = 'five'\n")
    swap(two, None, "x = 'five'\n", 'x = "five"\n')
    assert give(two, "S2", "f", code=4)["left"][0]["sessions"] == ["S1"]
    give(two, "S1", "f")
    two.commit("S1")
    assert head(two) == text(two)
    assert "Ralph-Includes" not in two.trailers()


def test_its_own_lines_and_those_of_head_are_nothing(two: Repo) -> None:
    swap(two, "S2", "line 5\n", "five\n")
    before = state_of(two)
    for place in ("f:5", "f:1", "f"):
        found = give(two, "S2", place)
        assert (found["status"], found["paths"]) == ("nothing", [])
        assert found["notes"]
    assert state_of(two) == before
    assert "nothing to assign" in two.ralph("assign", "--to", "S2", "f").text


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--to", "nobody", "f"), 128),
        (("--to", "S2", "nowhere"), 128),
        (("--to", "S2", "nowhere:3"), 128),
        (("--to", "S2", "f:0"), 129),
        (("--to", "S2", "f:5-3"), 129),
        (("--to", "S2", "f:3-40"), 129),
        (("--to", "S2", "f:x"), 129),
        (("--to", "S2"), 129),
        (("f",), 129),
        (("--to", "S2", "-p", "--json", "f"), 129),
    ],
)
def test_what_is_unknown_or_badly_typed(two: Repo, words: tuple[str, ...], code: int) -> None:
    swap(two, None, "line 2\n", "two\n")
    before = state_of(two)
    two.ralph("assign", *words, code=code)
    assert state_of(two) == before


@pytest.mark.parametrize(
    ("gone", "place"),
    [("line 4\n", "f:4"), ("line 1\n", "f:1"), ("line 10\n", "f:10"), ("line 10\n", "f:9")],
)
def test_a_removal_belongs_to_the_line_after_it(two: Repo, gone: str, place: str) -> None:
    """One at the end to the line after the last, and to the last where that has no change of its own."""
    swap(two, None, gone, "")
    give(two, "S2", place)
    two.commit("S2")
    assert head(two) == TEN.replace(gone, "")
    nothing_pending(two, "S2")


def test_a_removal_at_the_end_is_not_the_changed_last_lines(two: Repo) -> None:
    swap(two, None, "line 9\nline 10\n", "nine\n")
    give(two, "S2", "f:10", code=0)
    two.write("f", TEN.replace("line 9\nline 10\n", "line 9\n").replace("line 8", "eight"))
    give(two, "S2", "f:8")
    two.commit("S2")
    assert head(two) == ten(l8="eight")


def test_a_new_file_whole_and_by_lines(two: Repo) -> None:
    two.write("whole", TEN)
    two.write("part", TEN)
    give(two, "S2", "whole", "part:3-4")
    assert two.commit("S2").paths == {"whole": "A", "part": "A"}
    assert head(two, "whole") == TEN
    assert head(two, "part") == "line 3\nline 4\n"
    assert two.owners() == {"part": "nobody"}


def test_a_deleted_file_and_an_empty_one(two: Repo) -> None:
    two.remove("f")
    two.write("empty", "")
    give(two, "S2", "f", "empty")
    assert two.commit("S2").paths == {"f": "D", "empty": "A"}
    nothing_pending(two, "S2")


def test_a_binary_file_a_link_and_a_mode_go_whole(two: Repo) -> None:
    two.write("run", "#!/bin/sh\n")
    two.write("blob", b"\0old\n")
    two.commit_all("more")
    two.file("run").chmod(0o755)
    two.write("blob", b"\0new\nlines\n")
    two.file("link").symlink_to("f")
    assert give(two, "S2", "blob:1", code=4)["left"][0]["detail"].startswith("it is binary")
    assert "is known" not in give(two, "S2", "blob", "link", "run")["notes"]
    assert two.commit("S2").paths == {"blob": "M", "link": "A", "run": "M"}
    assert two.mode("run") == "100755"
    assert two.mode("link") == "120000"
    nothing_pending(two, "S2")


def test_lines_leave_a_changed_mode_alone(two: Repo) -> None:
    swap(two, None, "line 3\n", "three\n")
    two.file("f").chmod(0o755)
    give(two, "S2", "f:3")
    two.commit("S2")
    assert two.mode("f") == "100644"


@pytest.mark.parametrize("setting", ["autocrlf", "text=auto", "none"])
def test_line_ends_that_git_converts_are_of_no_matter(two: Repo, setting: str) -> None:
    """The blob has the line ends that ``git add`` would give it, whatever stands on disk."""
    if setting == "autocrlf":
        two.git("config", "core.autocrlf", "true")
    elif setting == "text=auto":
        two.write(".gitattributes", "* text=auto\n")
        two.commit_all("attributes")

    def crlf(value: str) -> str:
        return value.replace("\n", "\r\n")

    if setting == "none":
        two.write("f", crlf(TEN))
        two.commit_all("crlf")
    two.write("f", crlf(ten(l3="three", l7="seven", l8="", l10="")))
    give(two, "S2", "f:7")
    two.commit("S2")
    wanted = ten(l7="seven", l8="")
    assert head(two) == (crlf(wanted) if setting == "none" else wanted)
    give(two, "S1", "f")
    two.commit("S1")
    assert head(two) == (crlf if setting == "none" else str)(ten(l3="three", l7="seven", l8="", l10=""))
    nothing_pending(two, "S1", "S2")


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\nb", "a\nb\nc"), ("a\nb\n", "a\nb"), ("a\nb", "a\nb\n"), ("a\nb\n", "a\nc"), ("a", "a\nH\nI\n")],
)
def test_the_newline_at_the_end_goes_with_the_last_line(two: Repo, old: str, new: str) -> None:
    two.write("g", old)
    two.commit_all("g")
    two.write("g", new)
    give(two, "S2", f"g:{len(new.splitlines())}")
    if new != "a\nH\nI\n":
        two.commit("S2")
        assert head(two, "g") == new
        nothing_pending(two, "S2")
        return
    two.commit("S2")
    assert head(two, "g") == "a\nI\n"


def test_lines_that_other_records_hold_already_are_given_too(two: Repo) -> None:
    """The user's line is older than S1's edit, which knows it."""
    swap(two, None, "line 7\n", "seven\n")
    swap(two, "S1", "line 2\n", "two\n")
    give(two, "S2", "f:7")
    two.commit("S2")
    assert head(two) == ten(l7="seven")
    two.commit("S1")
    assert head(two) == ten(l7="seven", l2="two")
    nothing_pending(two, "S1", "S2")


def test_edits_go_on_after_it(two: Repo) -> None:
    swap(two, None, "line 7\n", "seven\nmore\n")
    give(two, "S2", "f:7")
    swap(two, "S1", "line 2\n", "two\n")
    swap(two, "S2", "seven\n", "SEVEN\n")
    two.commit("S2")
    assert head(two) == ten(l7="SEVEN")
    two.commit("S1")
    assert head(two) == ten(l7="SEVEN", l2="two")
    nothing_pending(two, "S1", "S2")


def test_a_stash_brings_it_back(two: Repo) -> None:
    swap(two, None, "line 7\n", "seven\n")
    swap(two, None, "line 3\n", "three\n")
    give(two, "S2", "f:7")
    two.git("stash", "-q")
    assert two.commit("S2").status == "nothing"
    two.git("stash", "pop", "-q")
    two.commit("S2")
    assert head(two) == ten(l7="seven")


def test_a_correction_of_a_given_line_follows(two: Repo) -> None:
    two.write("f", ten(l3="three", l8="x = 'e'"))
    give(two, "S2", "f:8")
    two.write("f", ten(l3="three", l8='x = "e"'))
    two.commit("S2")
    assert head(two) == ten(l8='x = "e"')


def test_what_is_left_of_a_new_file_can_be_given_after_a_commit(empty_repo: Repo) -> None:
    """Also where the first of it was the first commit of all."""
    empty_repo.start("S1")
    empty_repo.write("f", "a\nb\nc\n")
    give(empty_repo, "S1", "f:2")
    empty_repo.commit("S1")
    assert head(empty_repo) == "b\n"
    give(empty_repo, "S1", "f")
    empty_repo.commit("S1")
    assert head(empty_repo) == "a\nb\nc\n"
    nothing_pending(empty_repo, "S1")


def test_what_is_given_to_another_is_refused_and_the_rest_still_goes(two: Repo) -> None:
    two.write("f", ten(l3="three", l8="eight"))
    give(two, "S2", "f:8")
    assert give(two, "S2", "f:8")["status"] == "nothing"
    give(two, "S1", "f:8", code=4)
    give(two, "S1", "f")
    two.commit("S1")
    assert head(two) == ten(l3="three")
    two.commit("S2")
    assert head(two) == text(two)


def test_a_reset_makes_it_pending_again_and_the_rest_stays_nobodys(two: Repo) -> None:
    two.write("f", ten(l3="three", l8="eight"))
    give(two, "S2", "f:8")
    two.commit("S2")
    two.git("reset", "-q", "HEAD~1")
    two.commit("S2")
    assert head(two) == ten(l8="eight")
    assert two.owners() == {"f": "nobody"}


def test_what_is_staged_stays_staged(two: Repo) -> None:
    two.write("f", ten(l3="three", l8="eight"))
    two.git("add", "f")
    give(two, "S2", "f:8")
    two.commit("S2")
    assert head(two) == ten(l8="eight")
    assert "three" in two.staged()


def test_a_folder_stands_for_what_is_uncommitted_in_it(two: Repo) -> None:
    two.write("d/a", "a\n")
    two.write("d/b", "b\n")
    two.write("e", "e\n")
    give(two, "S2", "d")
    assert two.commit("S2").paths == {"d/a": "A", "d/b": "A"}


def test_it_works_from_below_and_a_path_with_a_colon_wins(two: Repo) -> None:
    two.write("d/x:3", "a\n")
    two.write("d/f", TEN)
    assert give(two, "S2", "x:3", cwd="d")["paths"] == [{"path": "d/x:3", "lines": [[1, 1]]}]
    assert give(two, "S2", "f:2-3", cwd="d")["paths"] == [{"path": "d/f", "lines": [[2, 3]]}]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("y\nn\ny\n", ten(l2="two", l9="nine")),
        ("n\na\n", ten(l5="five", l9="nine")),
        ("y\nd\n", ten(l2="two")),
        ("y\nq\n", ten(l2="two")),
        ("y\n", ten(l2="two")),
        ("?\nn\nx\ny\nn\n", ten(l5="five")),
    ],
)
def test_hunk_by_hunk_as_git_asks(two: Repo, typed: str, wanted: str) -> None:
    two.write("f", ten(l2="two", l5="five", l9="nine"))
    done = two.ralph("assign", "--to", "S2", "-p", "f", stdin=typed.encode())
    assert f"Assign this hunk to '{two.called('S2')}' [y,n,q,a,d,?]? " in done.text
    assert "-line 2\n+two\n" in done.text
    assert "\033" not in done.text
    two.commit("S2")
    assert head(two) == wanted


def test_no_hunk_is_nothing(two: Repo) -> None:
    swap(two, None, "line 2\n", "two\n")
    done = two.ralph("assign", "--to", "S2", "-p", "f", stdin=b"n\n")
    assert "nothing to assign" in done.text
    assert two.commit("S2").status == "nothing"


def test_a_path_that_another_session_claims_is_refused_until_it_lets_go(two: Repo) -> None:
    swap(two, None, "line 2\n", "two\n")
    two.ralph("track", "--session", "S1", "f")
    done = two.ralph("assign", "--to", "S2", "f", code=4)
    hint = next(row for row in done.said.splitlines() if "git ralph track --release" in row)
    two.ralph(*hint.partition("git ralph ")[2].split())
    give(two, "S2", "f")
    two.commit("S2")
    assert head(two) == ten(l2="two")


def test_lines_assigned_to_the_wrong_session_go_to_the_right_one(two: Repo) -> None:
    """The refusal says how to take the assignment back, and the edits of that session stay its own."""
    swap(two, None, "line 2\n", "two\n")
    swap(two, "S1", "line 8\n", "eight\n")
    give(two, "S1", "f:2")
    done = two.ralph("assign", "--to", "S2", "f:2", code=4)
    hint = next(row for row in done.said.splitlines() if "git ralph track --release" in row)
    two.ralph(*shlex.split(hint.partition("git ralph ")[2], comments=True))
    give(two, "S2", "f:2")
    two.commit("S2")
    assert head(two) == ten(l2="two")
    assert "track --release" not in two.ralph("assign", "--to", "S2", "f:8", code=4).said


@pytest.mark.parametrize(("place", "code"), [("f", 0), ("f:3", 4)])
def test_a_save_in_between_is_never_given_by_an_old_number(
    two: Repo, monkeypatch: pytest.MonkeyPatch, place: str, code: int
) -> None:
    """Only if journal and file are still what was read: else again, and lines by number are stale."""
    swap(two, None, "line 3\n", "three\n")
    real = assigning.append_all
    saved: list[bool] = []

    def late(*given: Any) -> bool:
        if not saved:
            saved.append(True)
            swap(two, None, "line 1\n", "above\nline 1\n")
        return real(*given)

    monkeypatch.setattr(assigning, "append_all", late)
    before = state_of(two)
    done = two.run("assign", "--to", "S2", "--json", "--", place)
    assert done.code == code, done.said
    if code:
        assert [row["reason"] for row in done.json()["left"]] == ["stale"]
        assert state_of(two) == before
        return
    two.commit("S2")
    assert head(two) == text(two)


def test_a_hook_that_speaks_in_between_keeps_its_line(two: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    three = ten(l3="three")
    two.write("f", three)
    real = assigning.append_all
    told: list[bool] = []

    def late(*given: Any) -> bool:
        if not told:
            told.append(True)
            two.hook("generic", payloads.edit("S1", str(two.root), "f", TEN, three))
        return real(*given)

    monkeypatch.setattr(assigning, "append_all", late)
    (left,) = two.ralph("assign", "--to", "S2", "--json", "f:3", code=4).json()["left"]
    assert left["sessions"] == ["S1"]
    assert two.commit("S2").status == "nothing"
    two.commit("S1")
    assert head(two) == three


# --- track --release ---


def test_a_released_claim_was_never_made(two: Repo) -> None:
    """CommitLog with a note; the path is nobody's again, also for the session's own commit."""
    swap(two, None, "line 2\n", "two\n")
    two.ralph("track", "--session", "S1", "f")
    assert two.pending("S1") == ["f"]
    journal = next(two.state.glob("edits/*.jsonl")).read_bytes()
    done = two.ralph("track", "--release", "--session", "S1", "f")
    assert "no longer claimed" in done.said
    after = next(two.state.glob("edits/*.jsonl")).read_bytes()
    assert after.startswith(journal)
    assert b'"commit": null' in after[len(journal) :] or b'"commit":null' in after[len(journal) :]
    assert two.pending("S1") == []
    assert two.owners() == {"f": "nobody"}
    nothing_pending(two, "S1")
    assert "nothing to release" in two.ralph("track", "--release", "--session", "S1", "f").said
    two.ralph("track", "--session", "S1", "f")
    two.commit("S1")
    assert head(two) == ten(l2="two")


@pytest.mark.parametrize("later", [False, True])
def test_an_assignment_is_taken_back(two: Repo, later: bool) -> None:
    """The lines are nobody's again; what was recorded since stays as it was."""
    two.write("f", ten(l3="three", l8="eight"))
    give(two, "S2", "f:8")
    if later:
        swap(two, "S1", "line 5\n", "five\n")
        swap(two, "S2", "line 10\n", "ten\n")
    said = two.ralph("track", "--release", "--session", "S2", "f").said
    assert "no longer claimed" in said
    assert ("recorded edits" in said) is later
    if later:
        two.commit("S2")
        assert head(two) == ten(l10="ten")
        two.commit("S1")
        assert head(two) == ten(l5="five", l10="ten")
    else:
        assert two.commit("S2").status == "nothing"
    give(two, "S1", "f")
    two.commit("S1")
    assert head(two) == text(two)
    nothing_pending(two, "S1", "S2")


def test_what_was_assigned_and_committed_stays_committed(two: Repo) -> None:
    two.write("f", ten(l3="three", l8="eight"))
    give(two, "S2", "f:8")
    two.commit("S2")
    two.ralph("track", "--release", "--session", "S2", "f")
    assert head(two) == ten(l8="eight")
    assert two.owners() == {"f": "nobody"}
    swap(two, "S2", "line 10\n", "ten\n")
    two.commit("S2")
    assert head(two) == ten(l8="eight", l10="ten")


def test_a_bare_line_of_a_manifest_is_released(two: Repo) -> None:
    swap(two, None, "line 2\n", "two\n")
    with (two.state / "S1.files").open("a") as manifest:
        manifest.write("f\n")
    assert two.pending("S1") == ["f"]
    two.ralph("track", "--release", "--session", "S1", "f")
    assert two.pending("S1") == []
    assert two.owners() == {"f": "nobody"}
    nothing_pending(two, "S1")


def test_recorded_edits_are_not_released(two: Repo) -> None:
    swap(two, "S1", "line 2\n", "two\n")
    done = two.ralph("track", "--release", "--session", "S1", "f")
    assert f"recorded edits of session '{two.called('S1')}' are not released" in done.said
    two.commit("S1")
    assert head(two) == ten(l2="two")


def test_a_claim_on_top_of_recorded_edits_goes_and_they_stay(two: Repo) -> None:
    swap(two, "S1", "line 2\n", "two\n")
    swap(two, None, "line 9\n", "nine\n")
    two.ralph("track", "--session", "S1", "f")
    two.ralph("track", "--release", "--session", "S1", "f")
    two.commit("S1")
    assert head(two) == ten(l2="two")


def test_another_sessions_claim_is_refused(two: Repo) -> None:
    swap(two, None, "line 2\n", "two\n")
    two.ralph("track", "--session", "S1", "f")
    before = state_of(two)
    assert f"'{two.called('S1')}'" in two.ralph("track", "--release", "--session", "S2", "f", code=4).said
    assert state_of(two) == before

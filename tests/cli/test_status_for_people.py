"""``status`` for people: by session, aligned, cut to the screen, and nothing cried that is not wrong."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitralph.cli.terminal import columns
from tests.support import payloads, terminal
from tests.support.repo import Repo
from tests.support.texts import TEN, changed

WIDE = "漢字/ein sehr langer Name einer Datei, die niemand so nennt, aber doch einmal so genannt hat.txt"


@pytest.fixture
def day(repo: Repo) -> Repo:
    """Two sessions in one file, apart; a new file, a deleted one, a renamed one; a person beside them."""
    for name in ("old", "gone"):
        repo.write(name, TEN)
    repo.commit_all("more")
    repo.edit("S1", "a", changed(2, "two"))
    repo.edit("S2", "a", changed(9, "nine", changed(2, "two")))
    repo.edit("S1", "new", "one\ntwo\n")
    repo.delete("S1", "gone")
    repo.rename("S2", "old", "moved")
    repo.edit("S2", "moved", changed())
    repo.write("b", changed())
    return repo


def test_a_file_with_an_unsettled_conflict_is_said_to_be_unmerged(day: Repo) -> None:
    """No commit goes until it is settled; its lines were shown as if each session's commit would."""
    day.git("stash", "-q", "--", "a")
    day.write("a", changed(2, "another"))
    day.git("commit", "-qam", "another")
    day.git("stash", "pop", "-q", code=1)
    rows = day.ralph("status").text.splitlines()
    assert next(row.split("  a  ")[1] for row in rows if "  a  " in row).startswith("unmerged")
    assert "unmerged" in day.ralph("commit", "--session", "S1", "--dry-run", code=4).said


def test_it_groups_by_session_with_letters_lines_and_who_else_is_there(day: Repo) -> None:
    rows = day.ralph("status").text.splitlines()
    rows = [row if row.startswith(" ") else row.partition("  ")[0] for row in rows]
    assert rows == [
        "generic-1",
        "  M   +1  -1  a  with generic-2",
        "  D      -10  gone",
        "  A   +2      new",
        "",
        "generic-2",
        "  M   +1  -1  a  with generic-1",
        "  R   +1  -1  old -> moved",
        "",
        "yours",
        "  M   +1  -1  b",
    ]


def test_who_else_is_there_stands_in_the_order_of_the_groups(repo: Repo) -> None:
    repo.edit("S2", "a", changed(2, "two"))  # generic-1, whose id comes last
    repo.edit("S1", "a", changed(9, "nine", changed(2, "two")))
    repo.write("a", changed(5, "mine", changed(9, "nine", changed(2, "two"))))
    assert repo.ralph("status").text.splitlines()[-1].endswith("M   +1 -1  a  beside generic-1, generic-2")


def test_json_tells_letters_lines_and_what_would_be_refused(day: Repo) -> None:
    day.edit("S1", "c", "x\ny\n")
    day.edit("S2", "c", "x\nbetween\ny\n")
    rows = {row["path"]: row for row in day.ralph("status", "--json").json()["paths"]}
    facts = {
        path: (row["change"], row["added"], row["removed"], row["entangled"]) for path, row in rows.items()
    }
    assert facts == {
        "a": ("M", 2, 2, False),
        "b": ("M", 1, 1, False),
        "c": ("A", 3, 0, True),
        "gone": ("D", 0, 10, False),
        "moved": ("A", 10, 0, False),
        "new": ("A", 2, 0, False),
        "old": ("D", 0, 10, False),
    }
    assert rows["a"]["names"] == ["generic-1", "generic-2"]


def test_red_stands_only_where_a_commit_would_be_refused(day: Repo) -> None:
    color = ["-c", "color.ui=always"]
    done = terminal.git_ralph(day, *color, "status")
    assert "entangled" not in done
    assert "\x1b[31mM" not in done
    day.edit("S1", "c", "x\ny\n")
    day.edit("S2", "c", "x\nbetween\ny\n")
    rows = [row for row in terminal.git_ralph(day, *color, "status").splitlines() if "\x1b[31mA" in row]
    assert len(rows) == 1
    assert "entangled with generic-1" in rows[0]
    day.commit("S2", code=4)


def test_ones_own_session_stands_first_and_a_shell_is_no_session(day: Repo) -> None:
    rows = day.ralph("status", env={"CLAUDE_CODE_SESSION_ID": "S2"}).text.splitlines()
    assert rows[0].startswith("generic-2  generic, ")
    assert rows[0].endswith(", this session")
    assert "this session" not in day.ralph("status").text


def test_advice_is_for_those_who_need_it_and_can_be_silenced(day: Repo) -> None:
    assert day.ralph("status").said == ""
    one, two = ({"CLAUDE_CODE_SESSION_ID": name} for name in ("S1", "S2"))
    assert day.ralph("status", env=two).said == ""
    day.edit("S1", "c", "x\ny\n")
    day.edit("S2", "c", "x\nbetween\ny\n")
    assert day.ralph("status", env=two).said.startswith(
        "hint: git ralph commit --session generic-2 --dry-run"
    )
    assert day.ralph("status", env=one).said == ""  # it is the other's commit that would be refused
    day.git("config", "advice.ralphStatus", "false")
    assert day.ralph("status", env=two).said == ""


def test_a_hint_where_something_is_refused_works_as_typed(day: Repo) -> None:
    day.edit("S1", "c", "x\ny\n")
    day.edit("S2", "c", "x\nbetween\ny\n")
    hint = day.ralph("status").said.removeprefix("hint: git ralph ").partition("  #")[0]
    assert "entangled" in day.ralph(*hint.split(), code=4).said


def test_short_is_a_line_a_path(day: Repo) -> None:
    assert day.ralph("status", "-s").text.splitlines() == [
        "M& a  generic-1, generic-2",
        "M? b  yours",
        "D  gone  generic-1",
        "R  moved  generic-2",
        "A  new  generic-1",
    ]


def test_lines_of_a_file_that_both_sides_wrote_stand_under_yours_too(day: Repo) -> None:
    day.write("new", "one\ntwo\nby hand\n")
    rows = day.ralph("status", "--", "new").text.splitlines()
    assert rows[1:] == [
        "  A   +2   new  with unrecorded lines",
        "",
        "yours",
        "  A   +1   new  beside generic-1",
    ]


def test_an_unborn_branch_and_odd_files(empty_repo: Repo) -> None:
    empty_repo.edit("S1", "blob", b"\0\1")
    empty_repo.edit("S1", "no newline", "x")
    empty_repo.write("empty", "")
    os.symlink("nowhere", empty_repo.file("link"))
    rows = empty_repo.ralph("status").text.splitlines()
    assert rows[1:] == [
        "  A        blob",
        "  A   +1   no newline",
        "",
        "yours",
        "  A        empty",
        "  A        link",
    ]


def test_a_file_that_became_a_link_has_gits_letter(repo: Repo) -> None:
    before = repo.read("a")
    repo.file("a").unlink()
    os.symlink("b", repo.file("a"))
    repo.ralph("track", "--session", "S1", "a")
    assert before
    assert "  T " in repo.ralph("status").text
    (row,) = repo.ralph("status", "--json").json()["paths"]
    assert row["change"] == "T" == repo.git("status", "--short").strip()[0]


def test_no_line_is_longer_for_the_sake_of_another(repo: Repo) -> None:
    """In a pipe nothing is cut; what is said of a short path stands right behind it."""
    repo.edit("S1", "a", changed())
    repo.edit("S2", "a", changed(9, "nine", changed()))
    repo.edit("S1", "deep/" * 40 + "long", "x\n")
    rows = repo.ralph("status").text.splitlines()
    assert max(len(row) for row in rows if "deep/" not in row) < 60
    assert any(row.endswith("  a  with generic-2") for row in rows)


def test_options_that_exclude_each_other(repo: Repo) -> None:
    for pair in (("-s", "--json"), ("--porcelain", "-s"), ("--watch", "--json"), ("--prompt", "--json")):
        repo.ralph("status", *pair, code=129)
    repo.ralph("status", "--watch", code=129)  # no terminal
    repo.ralph("top", code=129)


@pytest.mark.parametrize("width", [80, 40, 20])
def test_no_line_is_wider_than_the_screen_and_columns_stand_in_line(repo: Repo, width: int) -> None:
    repo.edit("S1", WIDE, "x\n")
    repo.edit("S1", "a", changed(2, "two"))
    repo.edit("S2", "a", changed(9, "nine", changed(2, "two")))
    repo.write("b", "by hand\n")
    text = terminal.git_ralph(repo, "-c", "color.ui=never", "status", width=width)
    rows = text.splitlines()
    assert [row for row in rows if columns.width(row) > width] == []
    assert "\x1b" not in text
    places = {columns.width(row[: row.index("a  with")]) for row in rows if "a  with" in row}
    assert len(places) <= 1
    assert "…" in text


def test_into_a_pipe_nothing_is_cut_or_coloured(repo: Repo) -> None:
    repo.edit("S1", WIDE, "x\n")
    said = repo.ralph("status", env={"COLUMNS": "40"}).text
    assert WIDE in said
    assert "\x1b" not in said


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_none_is_wanted(repo: Repo, env: dict[str, str]) -> None:
    repo.edit("S1", "a", changed())
    assert "\x1b" not in terminal.git_ralph(repo, "status", env=env)
    assert "\x1b[" in terminal.git_ralph(repo, "status", env={"TERM": "xterm"})


def test_nothing_hostile_reaches_the_terminal(repo: Repo) -> None:
    """Names of agents come from payloads and records, paths from anybody."""
    repo.edit("S1", "evil\x1b[2J\u202e", "x\n")
    repo.ralph("session", "start", "--id", "S2", "--agent", "\x1b]0;x\x07")
    repo.edit("S2", "a", changed())
    text = terminal.git_ralph(repo, "-c", "color.ui=never", "status")
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


@given(st.text(max_size=60), st.integers(1, 40))
def test_cut_and_pad_hold_the_width_they_are_given(text: str, wide: int) -> None:
    for keep_end in (False, True):
        cut = columns.cut(text, wide, keep_end)
        assert columns.width(cut) <= wide
        assert columns.width(columns.pad(cut, wide)) == wide


# --- a line for a prompt ---


def _prompt(repo: Repo, stdin: bytes = b"", **how: object) -> str:
    return repo.ralph("status", "--prompt", stdin=stdin, process=True, **how).text  # type: ignore[arg-type]


def test_a_prompt_counts_uncommitted_paths_by_session(day: Repo) -> None:
    assert _prompt(day) == "generic-2 3, generic-1 3\n" or _prompt(day) == "generic-1 3, generic-2 3\n"


def test_a_status_line_begins_with_the_conversation_that_it_is_of(day: Repo) -> None:
    given = json.dumps({"session_id": "S1", "workspace": {"current_dir": str(day.root)}}).encode()
    assert _prompt(day, given, cwd=day.root.parent) == "generic-1: 3 uncommitted, 1 shared; generic-2 3\n"
    assert _prompt(day, given, env={"RALPH_SESSION": "S2"}).startswith("generic-2: 3 uncommitted, 1 shared")
    day.commit("S1")
    assert _prompt(day, given).startswith("generic-1: nothing uncommitted; generic-2 3")
    day.commit("S2")
    assert _prompt(day) == ""


@pytest.mark.parametrize("given", [b"", b"{", b"[]", b'{"session_id":7,"cwd":"\\u0000"}', b"\xff" * 99])
def test_a_prompt_says_nothing_of_what_it_cannot_read(repo: Repo, given: bytes) -> None:
    done = repo.ralph("status", "--prompt", stdin=given, process=True)
    assert (done.out, done.err) == (b"", b"")


def test_a_prompt_outside_and_on_damage_is_silent(repo: Repo) -> None:
    assert _prompt(repo, cwd="/") == ""
    repo.edit("S1", "a", changed())
    repo.commit_all("plain git took it")
    assert _prompt(repo) == ""
    repo.edit("S1", "a", TEN)
    for path in (repo.state / "edits").iterdir():
        path.write_bytes(b"\0{damage\n" + path.read_bytes())
    assert _prompt(repo) == "generic-1 1\n"
    (repo.state / "format").write_text("99\n")
    assert _prompt(repo) == ""


def test_a_prompt_starts_no_program_that_the_configuration_names(repo: Repo) -> None:
    repo.git("config", "filter.x.clean", "touch ran")
    repo.git("config", "core.fsmonitor", "touch ran")
    repo.write(".gitattributes", "a filter=x\n")
    repo.commit_all("filter")
    repo.file("ran").unlink(missing_ok=True)
    repo.edit("S1", "a", changed())
    _prompt(repo)
    assert not repo.file("ran").exists()


def test_a_prompt_loads_nothing_slow(repo: Repo) -> None:
    payload = payloads.edit("S1", str(repo.root), "a", TEN, changed())
    repo.write("a", changed())
    repo.hook("generic", payload)
    loaded = terminal.modules_of(repo, "status", "--prompt")
    assert not loaded & {"click", "dulwich", "dataclasses", "filelock", "inspect", "subprocess", "typing"}

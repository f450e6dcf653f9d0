"""What a person reads: whole words in narrow terminals, plain words, and hints that lead somewhere."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitralph.ask.report import timeline
from gitralph.ask.report.timeline import Scale
from gitralph.cli.terminal import columns
from gitralph.git.context import Context
from gitralph.takeback import loss
from gitralph.takeback.restore import restore
from gitralph.takeback.survey import UndoRequest
from tests.support import payloads, shells, source, terminal, tree
from tests.support.looping import Loop
from tests.support.repo import Repo
from tests.support.runner import COMMAND
from tests.support.size import FULL
from tests.support.texts import TEN, changed
from tests.words import test_ways_out

pytestmark = pytest.mark.wired

LINES = st.lists(st.text("ab漢é'", max_size=12), min_size=1, max_size=12).map(" ".join)


def path_only(repo: Repo, path: str = "a") -> None:
    """S1 changed ``path``, its tool told no text, and somebody changed it afterwards."""
    repo.write(path, changed())
    event = payloads.edit("S1", str(repo.root), path, None, None)
    del event["before"], event["after"]
    repo.hook("generic", event)
    repo.write(path, changed(9, "the human's", changed()))


def hints(said: str) -> list[str]:
    return [row.removeprefix("hint: ") for row in said.splitlines() if row.startswith("hint: ")]


# --- whole words ---


@given(LINES, st.integers(8, 60))
@example("aaaa bbb  ", 8)
@example("   ", 8)
def test_a_folded_sentence_keeps_each_word_whole(line: str, wide: int) -> None:
    rows = columns.folded(line, wide).split("\n")
    assert " ".join(rows).split() == line.split()
    for row in rows:
        assert columns.width(row) <= wide or len(row.split()) <= 1, rows


@given(st.lists(st.text("ab漢 '\"$", min_size=1, max_size=14), min_size=1, max_size=8), st.integers(8, 60))
def test_a_command_with_blanks_put_in_is_the_same_command(words: list[str], wide: int) -> None:
    shown = columns.flowed(shlex.join(words), wide)
    assert shlex.split(shown) == words
    assert "\n" not in shown


def test_no_word_of_a_refusal_is_broken_at_40_columns(repo: Repo) -> None:
    path_only(repo)
    at_80 = repo.ralph("commit", "--session", "S1", "-m", "a message", code=4).said
    shown = terminal.git_ralph(repo, "commit", "--session", "S1", "-m", "a message", width=40)
    rows = [row[at : at + 40] for row in shown.splitlines() for at in range(0, max(len(row), 1), 40)]
    assert max(map(len, rows)) <= 40
    assert [word for row in rows for word in row.split()] == at_80.split()
    assert rows[1].startswith("  ")


# --- what is said ---


def test_a_commit_of_nothing_names_what_nobody_recorded(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.commit("S1")
    repo.write("b", changed())
    repo.write("new", "text\n")
    done = repo.ralph("commit", "--session", "S1", "-m", "it's mine")
    assert done.text == "nothing to commit for session 'generic-1'\n"
    assert "note: 2 changed paths that no session recorded: 'b', 'new'" in done.said
    as_git, as_session = hints(done.said)
    subprocess.run(["/bin/sh", "-ec", as_git], cwd=repo.root, env=repo.env, check=True, capture_output=True)
    assert repo.changes() == {"b": "M", "new": "A"}
    assert repo.git("log", "-1", "--format=%s") == "it's mine"
    assert as_session.startswith("git ralph assign --to generic-1 -- b new ")
    assert repo.ralph("commit", "--session", "S1").said == ""


def test_an_agent_hears_where_its_lines_went_with_a_file_that_a_person_moved(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.git("mv", "a", "c")
    repo.git("commit", "-qm", "the person's move")
    done = repo.ralph("commit", "-m", "x", env={"CLAUDE_CODE_SESSION_ID": "S1"})
    assert done.text == "nothing to commit for session 'generic-1'\n"
    assert re.search(r"note: 'c' line \d+: contested: it has lines of 'a', which is gone", done.said)
    assert "a person gives them back with 'git ralph assign'" in done.said
    assert hints(done.said) == []
    (given, *_) = (one for one in hints(repo.ralph("commit", "--mine", code=4).said) if "assign" in one)
    repo.ralph(*shlex.split(given, comments=True)[2:])
    assert repo.commit("S1").paths == {"c": "M"}


def test_the_hint_for_a_session_assigns_what_was_named(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.commit("S1")
    repo.write("b", changed())
    # whose lines these are a person knows, and no agent
    assert hints(repo.ralph("commit", env={"CLAUDE_CODE_SESSION_ID": "S1"}).said) == []
    (hint,) = (one for one in hints(repo.ralph("commit", "--session", "S1").said) if "assign" in one)
    repo.ralph(*shlex.split(hint, comments=True)[2:])
    assert repo.commit("S1").paths == {"b": "M"}


@pytest.mark.parametrize("which", ["yours", "assigned"])
def test_hints_for_what_nobody_recorded_hit_just_these_files(repo: Repo, which: str) -> None:
    """A staged deletion, names that look like patterns or places, and one that no terminal shows."""
    for name in ("tXab", "q[1]", ":q", "a:1", "c"):
        repo.write(name, "theirs\n")
    repo.commit_all("more")
    repo.edit("S1", "b", changed())
    repo.commit("S1")
    repo.git("rm", "-q", "a:1", "c")
    repo.write("t\tab", "a tab\n")
    for name in ("q[1]", ":q"):
        repo.write(name, "mine\n")
    repo.write("tXab", "not asked for\n")
    done = repo.ralph(
        "commit", "--session", "S1", "-m", "x", "--", "a:1", "c", ":(literal)q[1]", "./:q", "t?ab"
    )
    given, mine = hints(done.said)
    assert "?" not in given + mine
    assert mine.startswith(
        "git ralph assign --to generic-1 -- c 'q[1]' \"$(printf "
    )  # a:1 would be a line of a
    repo.ralph(*shells.words_of(given if which == "yours" else mine, repo.root, repo.env))
    if which == "assigned":
        repo.commit("S1")
    only_yours = {":q": "M", "a:1": "D"} if which == "yours" else {}
    assert repo.changes() == {"c": "D", "q[1]": "M", "tXab": "M", "t\tab": "A", **only_yours}


def test_a_commit_of_nothing_beside_another_session_says_whose_the_rest_is(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.commit("S1")
    repo.edit("S2", "b", changed())
    done = repo.ralph("commit", "--session", "S1")
    assert "note: what is uncommitted here is of session 'generic-2'" in done.said
    assert hints(done.said) == ["git ralph status  # shows it"]


def test_where_nothing_was_ever_recorded_the_hint_is_the_doctor(repo: Repo) -> None:
    repo.write("a", changed())
    assert any(hint.startswith("git ralph doctor") for hint in hints(repo.ralph("commit").said))


def test_a_hint_repeats_the_message_and_the_rest_that_was_typed(repo: Repo) -> None:
    path_only(repo)
    repo.write("message", "From a file\n")
    for given_words, kept in (
        (["-m", "it's done", "-m", "more"], "-m 'it'\"'\"'s done' -m more"),
        (["-F", "message", "--author", "A <a@b>"], "-F message --author 'A <a@b>'"),
        (["-m", "two\nlines", "--no-verify"], "--no-verify"),
    ):
        done = repo.ralph("commit", "--session", "S1", *given_words, code=4)
        (hint,) = hints(done.said)
        assert hint.startswith(f"git ralph commit --session generic-1 --whole-file {kept} -- a  # "), hint
    repo.ralph(*shlex.split(hint, comments=True)[2:])
    assert repo.changes() == {"a": "M"}


def test_the_choice_among_sessions_repeats_all_that_was_typed(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    done = repo.ralph("commit", "-m", "a {} b", "--skip-entangled", "--", "a", "b", code=4)
    first, second = hints(done.said)
    assert first == "git ralph commit --session generic-1 --skip-entangled -m 'a {} b' -- a b"
    repo.ralph(*shlex.split(second)[2:])
    assert repo.git("log", "-1", "--format=%s") == "a {} b"
    assert repo.changes() == {"b": "M"}


def test_a_refusal_is_in_words_that_need_no_manual(repo: Repo) -> None:
    path_only(repo)
    said = repo.ralph("commit", "--session", "S1", code=4).said
    assert "'a': lines of unknown owner: only its path was recorded, and the file changed afterwards" in said
    assert "look first: git diff HEAD -- a" in said
    rows = repo.ralph("status").text.splitlines()
    assert rows[1].rstrip() == "  M      a  lines of unknown owner"
    words = ("unanchored", "known by its path", "consumed", "stale")
    shown = said + repo.ralph("status").text + repo.ralph("why", "a").text
    shown += repo.ralph("session", "show", "S1").text + repo.ralph("session", "list").text
    assert [word for word in words if word in shown] == []
    assert "bead" not in repo.ralph("session", "show", "S1").text


def test_why_says_of_a_taken_back_edit_where_it_is_not(repo: Repo) -> None:
    """``--json`` keeps the machine's word for it."""
    repo.edit("S1", "a", changed(3, "three of S1"))
    repo.ralph("undo", "--session", "S1")
    assert "nothing left to commit, session " in repo.ralph("why", "a").text
    states = [row["state"] for row in repo.ralph("why", "--json", "a").json()["findings"]]
    assert "consumed" in states


def test_an_edit_of_an_old_copy_is_told_how_the_lost_lines_come_back(repo: Repo) -> None:
    repo.edit("S2", "a", changed(3, "three of S2"))
    repo.edit("S1", "a", changed(8, "eight of S1"), before=TEN)
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=4)
    assert "line 8: out of date: was written from an old copy of the file" in done.said
    hint = hints(done.said)[0]
    assert hint == "git ralph restore --session generic-1 -- a  # brings those lines back"
    repo.ralph(*shlex.split(hint, comments=True)[2:])
    assert repo.read("a") == changed(8, "eight of S1", changed(3, "three of S2")).encode()
    assert repo.commit("S1").paths == {"a": "M"}


def test_many_edits_of_old_copies_are_told_in_one_line(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each path was tried by a restore of its own: 60 of them took three seconds."""
    names = [f"f{number:02}" for number in range(14)]
    for name in names:
        repo.write(name, TEN)
    repo.commit_all("more")
    for name in names:
        repo.edit("S2", name, changed(3, "three of S2"))
        repo.edit("S1", name, changed(8, "eight of S1"), before=TEN)
    tried: list[bool] = []

    def counted(ctx: Context, request: UndoRequest, dry: bool) -> Any:
        tried.append(dry)
        return restore(ctx, request, dry)

    monkeypatch.setattr(loss, "restore", counted)
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=4)
    (hint,) = [one for one in hints(done.said) if " restore " in one]
    assert hint.startswith(f"git ralph restore --session generic-1 -- {' '.join(names[:10])}  # ")
    assert tried == [True]


def test_a_session_that_is_gone_is_not_called_by_the_name_of_a_refusal(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    record = json.loads((repo.state / "S1.json").read_text())
    record["process"] = {"pid": 2**22 - 1, "start": 1, "boot": "x"}
    (repo.state / "S1.json").write_text(json.dumps(record))
    assert repo.ralph("session", "list").text.split("  ")[1] == "not running"
    assert repo.ralph("session", "list", "--json").json()[0]["state"] == "stale"


REFUSING = [
    make
    for reason, make in test_ways_out.SCENES
    if reason in ("unanchored", "stale", "contested", "entangled")
    and make.__name__
    in (
        "a_path_that_somebody_changed_afterwards",
        "written_from_an_old_read",
        "a_binary_file_of_two",
        "another_branch_under_the_edit",
        "inside_another_sessions_block",
    )
]


@pytest.mark.parametrize("make", REFUSING, ids=lambda make: make.__name__)
def test_the_hint_of_status_leads_to_other_hints(make: test_ways_out.Scene, repo: Repo) -> None:
    """Where those lead ``test_ways_out`` follows."""
    make(repo)
    found = hints(repo.ralph("status").said)
    assert found
    for hint in found:
        done = repo.run(*shlex.split(hint, comments=True)[2:])
        assert done.code == 4
        assert hints(done.said)
        assert hint not in hints(done.said)


# --- events, log, report, undo ---


def test_events_are_sentences_for_people_and_name_the_session(repo: Repo) -> None:
    repo.start("S1", "--agent", "pi")
    payload = {
        "by": "git-ralph",
        "task": "Write it",
        "n": 2,
        "session": "S1",
        "commit": "ab" * 20,
        "files": ["a", "b"],
        "none": None,
        "deep": {"x": 1},
    }
    repo.ralph("emit", "task.done", "--json", json.dumps(payload))
    repo.ralph("emit", "note", "just words")
    rows = [row[19:] for row in repo.ralph("events").text.splitlines()]
    assert rows == [
        "  task.done  task 'Write it', number 2, session pi-1, commit ababababab, files a b, deep {\"x\": 1}",
        "  note  just words",
    ]


def test_a_time_that_git_does_not_understand_is_said(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    done = repo.ralph("log", "--since", "nonsense", code=129)
    assert "error: 'nonsense' is no time that git understands" in done.said
    (hint,) = hints(done.said)
    assert repo.ralph(*shlex.split(hint)[2:]).text
    assert "which is how git reads 'yesterday'" in repo.ralph("log", "--since", "yesterday", "--", "b").said
    assert "no session of an agent 'pii' is here; of generic" in repo.ralph("log", "--agent", "pii").said


def test_a_page_is_not_printed_on_a_terminal(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    shown = terminal.git_ralph(repo, "report")
    assert "<html" not in shown
    assert hints(shown)[0].strip() == "git ralph report --open"
    assert "<html" in terminal.git_ralph(repo, "report", "-o", "-")
    assert "<html" in repo.ralph("report").text


@pytest.mark.parametrize("seconds", [2, 90, 600, 7200, 200_000])
def test_no_label_of_the_time_axis_comes_twice(seconds: int) -> None:
    times = [1_700_000_000 + seconds * step / 40 for step in range(41)]
    axis = timeline.time_axis(Scale(times))
    labels = [part.partition("</span>")[0] for part in axis.split('%">')[1:]]
    assert labels
    assert len(set(labels)) == len(labels), labels


def test_the_patch_of_an_undo_has_short_ids_and_applies(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S1", "n", b"\0binary")
    patch = repo.ralph("undo", "--session", "S1", "--dry-run").out
    rows = [row for row in patch.decode().splitlines() if row.startswith("index ")]
    assert len(rows[0]) < len("index ") + 40
    repo.git_bytes("apply", stdin=patch)
    assert repo.read("a") == TEN.encode()
    assert repo.read("n") is None


def test_the_ticks_of_a_run_are_not_nobodys(repo: Repo, tmp_path: Path) -> None:
    loop = Loop.make(repo, tmp_path / "aside")
    loop.plan("one", "two")
    repo.commit_all("plan")
    loop.script({"one": [["write", "x", "x\n"]], "two": [["write", "y", "y\n"]]})
    # the ticks of an earlier run are ticks, also when another plan was worked on since
    loop.run("--max-tasks", "1")
    loop.run()
    repo.ralph("run", "-p", "else", "--", "true")
    assert repo.ralph("status").text == "git ralph run\n  M   +2 -2  plan.md  tasks it ticked\n"
    assert repo.ralph("status", "--short").text == "M  plan.md  git ralph run\n"
    repo.write("plan.md", (repo.read("plan.md") or b"") + b"a line of a person\n")
    assert "yours" in repo.ralph("status").text


def test_status_waits_for_no_pipe_in_the_place_of_a_plan(repo: Repo, tmp_path: Path) -> None:
    loop = Loop.make(repo, tmp_path / "aside")
    loop.plan("one")
    repo.commit_all("plan")
    loop.script({"one": [["write", "x", "x\n"]]})
    loop.run()
    repo.file("plan.md").unlink()
    os.mkfifo(repo.file("plan.md"))
    done = subprocess.run(
        [*COMMAND, "status"], cwd=repo.root, env=repo.env, capture_output=True, timeout=60, check=True
    )
    assert b"plan.md" in done.stdout


def test_the_hints_of_a_failed_run_show_what_there_is(repo: Repo, tmp_path: Path) -> None:
    """What the agent printed always; what is kept only where something is."""
    loop = Loop.make(repo, tmp_path / "aside")
    loop.plan("one")
    done = repo.run("run", "plan.md", "--", "sh", "-c", "echo what the agent said; exit 3")
    assert done.code == 1
    logs, again = hints(done.said)
    assert again.startswith("git ralph run plan.md --resume ")
    assert "what the agent said" in repo.ralph(*shlex.split(logs, comments=True)[2:]).text
    script = "echo x >> a; git ralph track a; exit 3"
    done = repo.run("run", "plan.md", "--resume", "--", "sh", "-c", script)
    shown = [hint for hint in hints(done.said) if " diff " in hint]
    assert len(shown) == 1, done.said
    assert repo.ralph(*shlex.split(shown[0], comments=True)[2:]).text


def test_a_run_without_an_agent_is_told_how_to_name_one_for_this_plan(repo: Repo) -> None:
    repo.write("docs/my plan.md", "- [ ] one\n")
    first, second = hints(repo.ralph("run", "docs/my plan.md", code=129).said)
    assert first == "git ralph run 'docs/my plan.md' --agent claude-code"
    assert second == "git ralph run 'docs/my plan.md' -- <command>"
    assert (
        hints(repo.ralph("run", "-p", "do it", code=129).said)[1] == "git ralph run -p 'do it' -- <command>"
    )


def test_no_word_of_a_run_is_broken_at_40_columns(repo: Repo, tmp_path: Path) -> None:
    loop = Loop.make(repo, tmp_path / "aside")
    loop.plan("漢字の仕事 and a title that goes on and on, wider than any terminal", "two")
    script = "case $(cat) in *two*) exit 3;; esac; echo x >> a; git ralph track a"
    shown = terminal.git_ralph(
        repo, "run", "plan.md", "--keep-going", "--", "sh", "-c", script, width=40, env={"TERM": "dumb"}
    )
    rows = [row.rstrip() for row in shown.splitlines()]
    at = rows.index("task                  outcome    commit")
    for row in rows[at : at + 3]:
        assert columns.width(re.split("outcome|committed|failed", row)[0]) == 22
    assert "2/2 two               failed     -" in rows
    assert [row for row in rows if columns.width(row) > 40 and not row.startswith("hint: ")] == []


def test_a_session_of_a_task_without_an_agent_is_told_by_its_task(repo: Repo) -> None:
    repo.write("plan.md", "- [ ] one\n- [ ] two\n")
    repo.start("S1", "--plan", "plan.md", "--task", "2")
    repo.ralph("track", "--session", "S1", "a")
    repo.write("a", changed())
    assert repo.ralph("status").text.splitlines()[0].partition("  ")[2].startswith("plan.md task 2, ")


def test_an_undo_tells_how_it_is_taken_back(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    (hint,) = hints(repo.ralph("undo", "--session", "S1").said)
    assert repo.read("a") == TEN.encode()
    repo.ralph(*shlex.split(hint, comments=True)[2:])
    assert repo.read("a") == changed().encode()
    repo.git("config", "advice.ralphUndo", "false")
    assert repo.ralph("undo", "--session", "S1").said == ""


def test_the_hint_of_an_uncommit_makes_the_same_commit_again(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.ralph("commit", "--session", "S1", "-m", "Subject", "-m", "A body.")
    message, tree = repo.git("log", "-1", "--format=%B"), repo.git("rev-parse", "HEAD^{tree}")
    (hint,) = hints(repo.ralph("uncommit", "--session", "S1").said)
    typed = hint.partition("  #")[0].replace("git ralph", shlex.join(COMMAND))
    subprocess.run(["/bin/sh", "-ec", typed], cwd=repo.root, env=repo.env, check=True, capture_output=True)
    assert (repo.git("log", "-1", "--format=%B"), repo.git("rev-parse", "HEAD^{tree}")) == (message, tree)


def test_paths_of_a_commit_are_listed_in_order(repo: Repo) -> None:
    for path in ("b", "new", "a"):
        repo.edit("S1", path, changed())
    assert repo.ralph("commit", "--session", "S1", "-m", "x").text.splitlines()[2:] == [
        " M a",
        " M b",
        " A new",
    ]


# --- columns ---

CELLS = st.lists(st.text("ab漢é 🎉", max_size=30), min_size=3, max_size=3)


@given(st.lists(CELLS, min_size=1, max_size=6), st.integers(28, 100))
def test_a_table_is_no_wider_than_the_terminal_and_stands_in_line(rows: list[list[str]], room: int) -> None:
    marked = [["|" + cell for cell in row] for row in rows]
    found = columns.fitted(marked, room, soft=(0, 1, 2), ends=())
    starts = {tuple(columns.width(line[:at]) for at, one in enumerate(line) if one == "|") for line in found}
    assert len(starts) == 1
    assert all(columns.width(line) <= room for line in found)
    wide = columns.fitted(marked, None)
    assert [line.replace(" ", "") for line in wide] == ["".join(row).replace(" ", "") for row in marked]


def test_an_apostrophe_in_a_comment_opens_no_quote() -> None:
    shown = columns.flowed("git ralph uninstall --guard  # the guard in git's own hooks stays until then", 40)
    rows = [shown[at : at + 40].rstrip() for at in range(0, len(shown), 40)]
    assert " ".join(" ".join(rows).split()) == " ".join(shown.split())
    assert max(map(len, rows)) <= 40


LISTS = [
    ("session", "list"),
    ("log",),
    ("status",),
    ("run", "list"),
    ("worktree", "list"),
    ("diff", "--stat"),
    ("why", "長い/名前.txt:1"),
    ("session", "show", "generic-1"),
]


def test_no_line_of_a_list_is_wider_than_the_terminal(repo: Repo) -> None:
    """A long path, wide characters, a long name, a bead's worktree, a run."""
    repo.git("config", "core.quotePath", "false")
    repo.start("S1", "--plan", "plans/a-plan-with-quite-a-long-name-for-a-plan.md", "--task", "1")
    repo.edit("S1", "a", changed())
    repo.edit("S1", "長い/名前.txt", "x\n")
    repo.edit("S1", "src/" + "very/deep/" * 8 + "漢字🎉.txt", "one\ntwo\n")
    repo.edit("S2", "a", changed(9, "nine", changed()))
    repo.ralph("session", "rename", "S2", "a-name-that-somebody-typed-long")
    repo.ralph("commit", "--session", "S2", "-m", "漢" * 60)
    repo.ralph("worktree", "add", "bd-1", "--session", "S1")
    repo.ralph("run", "start")
    for wide, words in [(40, words) for words in LISTS] + [
        (80, words) for words in LISTS[:: 1 if FULL else 2]
    ]:
        shown = terminal.git_ralph(repo, *words, width=wide, env={"GIT_PAGER": "cat", "NO_COLOR": "1"})
        assert shown.strip(), (wide, words)
        lines = [row for row in shown.splitlines() if not row.startswith("hint: ")]
        rows = [row for row in lines if " changed, " not in row and not row.lstrip().startswith("src/")]
        assert [row for row in rows if columns.width(row) > wide] == [], (wide, words)


def test_log_and_blame_go_through_the_pager_as_gits_do(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    for command in (["log"], ["blame", "a"]):
        shown = terminal.git_ralph(repo, *command, env={"GIT_PAGER": "sed 's/^/paged /'"})
        assert all(row.startswith("paged ") for row in shown.splitlines()), shown
        off = terminal.git_ralph(
            repo, "-c", f"pager.{command[0]}=false", *command, env={"GIT_PAGER": "sed 's/^/paged /'"}
        )
        assert "paged " not in off
    assert "paged" not in repo.ralph("log", env={"GIT_PAGER": "sed 's/^/paged /'"}).text


@pytest.mark.parametrize("typed", list(tree.commands()), ids=lambda typed: " ".join(typed.words))
def test_help_breaks_no_sentence_off(typed: tree.Typed, repo: Repo) -> None:
    said = repo.ralph(*typed.words, "-h").text
    assert "[OPTIONS]" not in said
    assert "COMMAND [ARGS]" not in said
    assert [row for row in said.splitlines()[1:] if row.endswith("...")] == []


def test_nothing_to_do_is_said_of_what_was_asked(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.commit("S1")
    for words, said in (
        (["undo"], "nothing to take back"),
        (["undo", "--redo"], "nothing to bring back"),
        (["restore"], "nothing to bring back"),
    ):
        assert repo.ralph(*words, "--session", "S1").text == f"{said} for session 'generic-1'\n"


# --- the word bead ---


@pytest.mark.parametrize("words", [("-h",), ("worktree", "-h"), ("fleet", "-h")], ids=" ".join)
def test_a_newcomer_meets_no_bead_that_is_not_explained(words: tuple[str, ...], repo: Repo) -> None:
    said = " ".join(repo.ralph(*words).text.split())
    assert "bead" not in said or "work item" in said[: said.index("bead")]


@pytest.mark.parametrize(
    "paper",
    [
        "README.md",
        "contrib/completion/_git-ralph",
        "man/git-ralph.1",
        "man/git-ralph-worktree.1",
        "man/git-ralph-fleet.1",
    ],
)
def test_papers_explain_a_bead_before_they_speak_of_it(paper: str) -> None:
    text = (source.ROOT / paper).read_text()
    prose = re.sub(r"_?git-ralph-beads|--bead|\$bead|/beads|\\-\\-bead|\\fIbead\\fR|\.I bead", "", text)
    assert "bead" not in prose or "work item" in prose[: prose.index("bead")]


# --- help by what one wants ---


def test_help_groups_commands_by_what_one_wants(repo: Repo) -> None:
    said = repo.ralph("-h").text
    heads = re.findall(r"^([A-Z][a-z ]+):$", said, re.M)
    assert heads == [
        "Options",
        "New here",
        "Look",
        "Commit",
        "Take back",
        "Many tasks",
        "Set up",
        "For programs",
    ]
    assert "help --all" in said


def test_help_all_lists_every_command_and_those_behind_it(repo: Repo) -> None:
    said = repo.ralph("help", "--all").text
    for typed in tree.commands():
        if typed.words:
            assert re.search(rf"^ +{re.escape(' '.join(typed.words))} ", said, re.M), typed.words
    repo.ralph("help", "--all", "commit", code=129)


def test_the_hint_takes_no_line_of_a_session_along_from_a_file_that_somebody_moved(repo: Repo) -> None:
    repo.edit("S2", "b", changed(4, "four of S2"))
    repo.file("b").rename(repo.file("new"))
    (given,) = hints(repo.ralph("commit", "--session", "S2", "-m", "x").said)
    assert given.startswith("mv -- new b")
    assert "of S2" not in repo.git("show", "HEAD:b")
    done = repo.run("commit", "--mine", "-m", "x", "--", "new")
    assert done.code == 4
    assert "it has lines of 'b', which is gone" in done.said

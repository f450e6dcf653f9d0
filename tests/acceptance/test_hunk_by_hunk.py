"""``commit -p``, ``commit --mine -p`` and ``undo -p``: asked for each hunk, as ``git add -p`` asks.

``f`` holds "line 1" to "line 40" and is committed. Session S1 has changed lines 5, 20, 35, and S2 12 and 28.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitralph.cli.terminal.asking import Asker
from tests.support.repo import Repo
from tests.support.runner import Done


def forty(**words: str) -> str:
    """Forty lines of which some read otherwise: ``forty(l5="five")``."""
    return "".join(words.get(f"l{n}", f"line {n}") + "\n" for n in range(1, 41))


def swap(repo: Repo, session: str | None, line: int, to: str, path: str = "f") -> None:
    """Replace one line as a session does, or somebody whom nobody records."""
    before = repo.read(path)
    assert before is not None
    after = before.replace(b"line %d\n" % line, f"{to}\n".encode())
    assert after != before
    if session is None:
        repo.write(path, after)
    else:
        repo.edit(session, path, after)


MINE, OTHERS = {"l5": "five", "l20": "twenty", "l35": "end"}, {"l12": "twelve", "l28": "far"}


@pytest.fixture
def two(empty_repo: Repo) -> Repo:
    """Two sessions in one file."""
    repo = empty_repo
    repo.write("f", forty())
    repo.commit_all("base")
    for session, line, to in [
        ("S1", 5, "five"),
        ("S2", 12, "twelve"),
        ("S1", 20, "twenty"),
        ("S2", 28, "far"),
        ("S1", 35, "end"),
    ]:
        swap(repo, session, line, to)
    assert repo.read("f") == forty(**MINE, **OTHERS).encode()
    return repo


def head(repo: Repo, path: str = "f") -> str:
    """The text of a path in HEAD."""
    return repo.blob(path).decode()


def ask(repo: Repo, typed: str | bytes, *words: str, session: str = "S1", code: int = 0) -> Done:
    """``commit -p`` with these answers."""
    data = typed if isinstance(typed, bytes) else typed.encode()
    return repo.ralph("commit", "--session", session, "-m", "x", "-p", *words, stdin=data, code=code)


KEYS = [
    ("y\nn\ny\n", {"l5", "l35"}),
    ("n\na\n", {"l20", "l35"}),
    ("y\nd\n", {"l5"}),
    ("n\ny\nq\n", {"l20"}),
    ("y\n", {"l5"}),
    ("a\n", {"l5", "l20", "l35"}),
    ("?\nn\nx\n\ny\nn\n", {"l20"}),
    ("Y\r\nN\nn", {"l5"}),
]


@pytest.mark.parametrize(("typed", "keys"), KEYS)
def test_commit_takes_what_is_chosen_and_a_later_one_the_rest(two: Repo, typed: str, keys: set[str]) -> None:
    base, disk = two.head(), two.read("f")
    done = ask(two, typed)
    assert "(1/3) Commit this hunk [y,n,q,a,d,?]? " in done.text
    assert "-line 5\n+five\n" in done.text
    assert done.text.count("--- a/f\n+++ b/f\n") == 1
    assert "twelve" not in done.text
    assert "far" not in done.text
    assert "\033" not in done.text
    assert head(two) == forty(**{key: MINE[key] for key in keys})
    assert two.git("rev-parse", "HEAD^").strip() == base
    assert two.read("f") == disk
    assert two.staged() == ""
    if len(keys) < 3:
        assert two.pending("S1") == ["f"]
        shown = two.ralph("diff", "--session", "S1").text
        assert {key for key, word in MINE.items() if f"+{word}\n" in shown} == MINE.keys() - keys
        two.commit("S1")
    assert two.pending("S1") == []
    assert head(two) == forty(**MINE)
    assert two.pending("S2") == ["f"]
    two.commit("S2")
    assert head(two) == forty(**MINE, **OTHERS)


def test_the_other_session_goes_first_and_the_rest_is_still_right(two: Repo) -> None:
    ask(two, "n\ny\nn\n")
    two.commit("S2")
    assert head(two) == forty(l20="twenty", **OTHERS)
    ask(two, "y\nn\n")
    assert head(two) == forty(l5="five", l20="twenty", **OTHERS)
    ask(two, "y\n")
    assert head(two) == forty(**MINE, **OTHERS)


def test_the_commit_is_the_sessions_and_can_be_taken_back(two: Repo) -> None:
    ask(two, "n\ny\n")
    assert "Ralph-Session: S1" in two.trailers()
    blame = two.ralph("blame", "f").text.splitlines()
    assert two.called("S1") in blame[19]
    two.ralph("uncommit", "--session", "S1")
    assert head(two) == forty()
    two.commit("S1")
    assert head(two) == forty(**MINE)


def test_what_is_edited_after_a_part_was_committed_is_told_apart(two: Repo) -> None:
    ask(two, "y\nn\nn\n")
    swap(two, "S2", 6, "six")
    swap(two, "S1", 36, "last")
    two.commit("S1")
    assert head(two) == forty(l36="last", **MINE)
    two.commit("S2")
    assert two.read("f") == head(two).encode()


@pytest.mark.parametrize("typed", ["", "n\nn\nn\n", "q\n", "d\n", "zzz\n"])
def test_nothing_chosen_is_nothing(two: Repo, typed: str) -> None:
    before = two.head(), two.read("f"), two.staged()
    assert "nothing to commit for session" in ask(two, typed).text
    assert "nothing to take back" in undo(two, typed).text
    assert (two.head(), two.read("f"), two.staged()) == before
    assert two.commit("S1").paths == {"f": "M"}
    assert head(two) == forty(**MINE)


def test_garbage_is_asked_again_with_help(two: Repo) -> None:
    done = ask(two, b"\xff\xfe\n" + b"\x00" * 10_000 + b"y\n" + b"w\n\ny\nn\nn\n")
    assert done.text.count("(1/3)") == 5
    assert done.text.count("y - commit this hunk\n") == 3
    assert head(two) == forty(l5="five")


@pytest.mark.parametrize(
    "words", [("--json",), ("--porcelain",), ("-z",), ("--whole-file", "f"), ("-F", "-")]
)
def test_what_does_not_go_with_a_question(two: Repo, words: tuple[str, ...]) -> None:
    before = two.head()
    assert two.ralph("commit", "--session", "S1", "-p", *words, code=129).out == b""
    assert two.head() == before


@pytest.mark.parametrize("words", [("--json",), ("--redo",)])
def test_nor_with_an_undo(two: Repo, words: tuple[str, ...]) -> None:
    before = two.read("f")
    two.ralph("undo", "--session", "S1", "-p", *words, code=129)
    assert two.read("f") == before


def test_a_dry_run_says_what_would_be(two: Repo) -> None:
    before = two.head()
    assert "1 path would be committed" in ask(two, "n\ny\n", "--dry-run").text
    assert two.head() == before
    done = undo(two, "n\ny\n", "--dry-run").text
    assert "-twenty\n+line 20\n" in done
    assert "-five" not in done
    assert two.read("f") == forty(**MINE, **OTHERS).encode()


def test_staged_changes_stay_staged(two: Repo) -> None:
    two.write("g", "g\n")
    two.git("add", "g")
    ask(two, "y\nn\nn\n")
    assert "+g" in two.staged()
    assert two.changes() == {"f": "M"}


def test_a_file_that_comes_goes_or_is_binary_is_one_question(two: Repo) -> None:
    two.write("gone", "g\n")
    two.write("bin", b"\0one\n")
    two.write("run", "r\n")
    two.write("old", forty())
    two.commit_all("more")
    two.edit("S1", "new", "n\n")
    two.delete("S1", "gone")
    two.edit("S1", "bin", b"\0two\n")
    two.edit("S1", "run", "r\n", mode=0o755)
    two.rename("S1", "old", "to")
    # in the order of paths: bin, gone, new, old and to, run
    done = ask(two, "y\nn\ny\nn\nn\n")
    for question in ("this file", "deletion", "addition", "this change of 'old' and 'to'", "mode change"):
        assert f"(1/1) Commit {question} [y,n,q,a,d,?]? " in done.text
    assert two.changes() == {"bin": "M", "new": "A"}
    assert set(two.pending("S1")) == {"gone", "old", "to", "run"}


def test_a_rename_goes_with_both_ends_or_none(two: Repo) -> None:
    two.write("old", forty())
    two.git("add", "old")
    two.git("commit", "-qm", "old", "--", "old")
    two.rename("S1", "old", "to")
    ask(two, "n\n", "--", "old", "to")
    assert two.blob("old")
    assert "this change of 'old' and 'to'" in ask(two, "y\n", "--", "old", "to").text
    assert two.git("ls-tree", "--name-only", "HEAD").split() == ["f", "to"]


def test_no_newline_at_the_end_and_line_ends(two: Repo) -> None:
    two.write("e", forty().replace("\n", "\r\n").removesuffix("\r\n"))
    two.git("add", "e")
    two.git("commit", "-qm", "e", "--", "e")
    text = two.read("e")
    assert text is not None
    two.edit("S1", "e", text.replace(b"line 2\r", b"two\r").replace(b"line 40", b"forty\r\n"))
    assert "\\ No newline at end of file" in ask(two, "n\ny\n", "--", "e").text
    assert two.blob("e") == text.replace(b"line 40", b"forty\r\n")
    ask(two, "y\n", "--", "e")
    assert two.blob("e") == two.read("e")


def test_lines_that_end_otherwise_on_disk_than_in_a_blob(two: Repo) -> None:
    two.git("config", "core.autocrlf", "true")
    two.write("e", forty())
    two.git("add", "e")
    two.git("commit", "-qm", "e", "--", "e")
    two.write("e", forty().replace("\n", "\r\n"))
    two.edit("S1", "e", forty(l2="two", l30="thirty").replace("\n", "\r\n"))
    ask(two, "n\ny\n", "--", "e")
    assert head(two, "e") == forty(l30="thirty")
    undo(two, "y\n", "--", "e")
    assert two.read("e") == forty(l30="thirty").replace("\n", "\r\n").encode()


def test_a_hook_that_formats_what_is_chosen_whole(two: Repo) -> None:
    swap(two, "S1", 1, "one", "f")
    hook = two.common / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nsed -i 's/^n$/N/' n && git add n\n")
    hook.chmod(0o755)
    two.edit("S1", "n", "n\n")
    ask(two, "n\nn\nn\ny\n")
    assert two.changes() == {"n": "A"}
    assert head(two, "n") == "N\n"


def test_a_person_picks_what_is_his(two: Repo) -> None:
    swap(two, None, 1, "one")
    swap(two, None, 40, "forty")
    done = two.ralph("commit", "--mine", "-m", "x", "-p", stdin=b"n\ny\n")
    assert "(1/2) Commit this hunk" in done.text
    assert "+five" not in done.text
    assert head(two) == forty(l40="forty")
    assert "(1/1)" in two.ralph("commit", "--mine", "-m", "x", "-p", stdin=b"y\n").text
    assert head(two) == forty(l1="one", l40="forty")
    two.commit("S1")
    two.commit("S2")
    assert head(two) == forty(l1="one", l40="forty", **MINE, **OTHERS)


def undo(repo: Repo, typed: str, *words: str, session: str = "S1") -> Done:
    """``undo -p`` with these answers."""
    return repo.ralph("undo", "--session", session, "-p", *words, stdin=typed.encode())


@pytest.mark.parametrize(("typed", "keys"), KEYS)
def test_undo_takes_what_is_chosen_and_redo_brings_it_back(two: Repo, typed: str, keys: set[str]) -> None:
    before = two.head()
    done = undo(two, typed)
    assert "(1/3) Take back this hunk [y,n,q,a,d,?]? " in done.text
    assert "-line 5\n+five\n" in done.text
    assert "-line 12\n" not in done.text
    stays = {key: word for key, word in MINE.items() if key not in keys}
    assert two.read("f") == forty(**stays, **OTHERS).encode()
    assert two.head() == before
    two.ralph("undo", "--session", "S1", "--redo")
    assert two.read("f") == forty(**MINE, **OTHERS).encode()
    undo(two, typed)
    assert two.read("f") == forty(**stays, **OTHERS).encode()
    if stays:
        two.commit("S1")
    assert head(two) == forty(**stays)
    two.commit("S2")
    assert head(two) == forty(**stays, **OTHERS)


def test_pieces_that_are_built_on_each_other_are_one_question(two: Repo) -> None:
    swap(two, "S2", 1, "one")
    two.edit("S1", "f", forty(l1="one", **MINE, **OTHERS).replace("five\n", "five\nfive b\n"))
    two.edit("S1", "f", forty(l1="one", **MINE, **OTHERS).replace("five\n", "FIVE\nfive b\n"))
    done = undo(two, "y\nn\nn\n")
    assert "(1/3)" in done.text
    assert two.read("f") == forty(l1="one", l20="twenty", l35="end", **OTHERS).encode()


def test_what_others_built_on_is_not_offered(two: Repo) -> None:
    two.edit("S2", "f", forty(**{**MINE, "l5": "FIVE by two"}, **OTHERS))
    done = undo(two, "y\nn\n")
    assert "(1/2)" in done.text
    assert "left as it is" in done.said
    assert two.read("f") == forty(l5="FIVE by two", l35="end", **OTHERS).encode()


def test_a_new_file_is_taken_back_whole(two: Repo) -> None:
    two.edit("S1", "new", "n\n")
    two.delete("S1", "f")
    done = undo(two, "n\ny\n")
    assert "(1/1) Take back addition" in done.text
    assert "(1/1) Take back deletion" in done.text
    assert two.read("new") is None
    assert two.read("f") is None


def test_a_file_of_which_another_hunk_was_undone_by_call(two: Repo) -> None:
    done = undo(two, "y\n", "--last", "1")
    assert "(1/1)" in done.text
    assert two.read("f") == forty(l5="five", l20="twenty", **OTHERS).encode()


def test_a_changed_file_is_said(two: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the person thinks, the session edits on: nothing goes that was not shown."""
    asked = Asker.chosen

    def slow(self: Asker, *how: object) -> list[int]:
        found = asked(self, *how)  # type: ignore[arg-type]
        swap(two, "S1", 8, "eight")
        return found

    monkeypatch.setattr(Asker, "chosen", slow)
    before = two.head()
    done = two.run("commit", "--session", "S1", "-m", "x", "-p", stdin=b"y\nn\nn\n")
    assert done.code == 75
    assert "'f' changed while you were asked" in done.said
    assert two.head() == before


# --- undo -p --tell ---


def stops(repo: Repo, agent: str = "claude-code", session: str = "S1", **fields: object) -> Done:
    """The agent stops."""
    names = {"gemini": "AfterAgent", "cursor": "stop", "pi": "agent_end"}
    event = {"hook_event_name": names.get(agent, "Stop"), "cwd": str(repo.root), **fields}
    keys = {"copilot": ["sessionId"], "cursor": ["conversation_id", "session_id"]}.get(agent, ["session_id"])
    if agent == "copilot":  # its own spelling names no event
        event = {"cwd": event["cwd"], "stopReason": "end_turn", "stop_hook_active": False}
    done = repo.run("hook", agent, stdin=json.dumps({**event, **dict.fromkeys(keys, session)}).encode())
    assert done.code == 0
    return done


def word_of(done: Done) -> str:
    """What Claude Code is told at a stop."""
    told = json.loads(done.out)
    assert told["decision"] == "block"
    return str(told["reason"])


def test_the_agent_is_told_once_of_its_own_lines_alone(two: Repo) -> None:
    assert stops(two).out == b""
    assert "is told when it stops next" in undo(two, "y\nn\ny\n", "--tell").said
    assert stops(two, session="S2").out == b""
    said = word_of(stops(two))
    assert said.split("\n")[1:4] == [
        "'f': 2 lines of yours taken out, 2 that you had removed brought back",
        "> five",
        "> end",
    ]
    assert "git ralph undo --redo --session" in said
    assert not {"twelve", "far", "twenty", "line 5"} & set(said.replace("> ", "").split("\n"))
    assert stops(two).out == b""


@pytest.mark.parametrize(
    ("agent", "form"),
    [
        ("codex", lambda told: told["reason"] if told["decision"] == "block" else ""),
        ("gemini", lambda told: told["reason"] if told["decision"] == "block" else ""),
        ("qwen", lambda told: told["reason"] if told["decision"] == "block" else ""),
        ("copilot", lambda told: told["reason"] if told["decision"] == "block" else ""),
        ("droid", lambda told: told["reason"] if told["decision"] == "block" else ""),
        ("cursor", lambda told: told["followup_message"]),
        ("pi", lambda told: told["followUp"]),
    ],
)
def test_each_agent_is_told_in_its_own_form(two: Repo, agent: str, form: Callable[[Any], str]) -> None:
    undo(two, "y\n", "--tell")
    assert "> five" in form(json.loads(stops(two, agent).out))


def test_not_a_subagent_nor_while_something_runs(two: Repo) -> None:
    undo(two, "y\n", "--tell")
    assert stops(two, agent_id="a1").out == b""
    assert stops(two, hook_event_name="SubagentStop", agent_id="a1").out == b""
    assert stops(two, background_tasks=[{"id": "b", "status": "running"}]).out == b""
    assert "> five" in word_of(stops(two, stop_hook_active=True))


def test_in_another_worktree_too(two: Repo, tmp_path: Path) -> None:
    two.git("worktree", "add", "-q", str(tmp_path / "w"))
    undo(two, "y\n", "--tell")
    assert "> five" in word_of(stops(two, cwd=str(tmp_path / "w")))


def test_two_words_are_one_and_bounded(two: Repo) -> None:
    two.edit("S1", "new", "".join(f"a line of some length {n} {'x' * 300}\n" for n in range(500)))
    undo(two, "y\n", "--tell", "--", "f")
    undo(two, "y\n", "--tell", "--", "new")
    said = word_of(stops(two))
    assert "> five" in said
    assert "'new': the whole file" in said
    two.edit("S1", "long", "a\nb\n")
    two.commit("S1")
    two.edit("S1", "long", "a\n" + "".join(f"{n} {'x' * 300}\n" for n in range(500)) + "b\n")
    undo(two, "y\n", "--tell", "--", "long")
    undo_word = word_of(stops(two))
    assert len(undo_word) <= 4000
    assert undo_word.endswith("…")


def test_what_is_brought_back_is_not_told(two: Repo) -> None:
    undo(two, "y\n", "--tell")
    two.ralph("undo", "--session", "S1", "--redo")
    assert stops(two).out == b""


@pytest.mark.parametrize("typed", ["", "n\nn\nn\n"])
def test_nothing_taken_nothing_told(two: Repo, typed: str) -> None:
    undo(two, typed, "--tell")
    undo(two, "y\n", "--tell", "--dry-run")
    undo(two, "y\n")
    assert stops(two).out == b""


def test_tell_needs_questions(two: Repo) -> None:
    two.ralph("undo", "--session", "S1", "--tell", code=129)
    assert two.read("f") == forty(**MINE, **OTHERS).encode()


def test_who_takes_no_word_is_said(two: Repo) -> None:
    record = json.loads((two.state / "S1.json").read_text())
    (two.state / "S1.json").write_text(json.dumps({**record, "agent": "opencode"}))
    assert "opencode takes no word when it stops" in undo(two, "y\n", "--tell").said


@pytest.mark.parametrize("kind", ["folder", "link", "noise"])
def test_a_word_that_is_none_lets_the_agent_stop(two: Repo, kind: str) -> None:
    path = two.state / "calls" / "S1" / "word"
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("/etc/passwd")
    else:
        path.write_bytes(b"\xff\0" * 100_000)
    done = stops(two)
    assert b"root:" not in done.out
    assert len(done.out) < 40_000
    assert stops(two).out == b""


def test_a_loop_that_goes_on_tells_it_with_its_prompt(two: Repo) -> None:
    given = {"worktree_policy": "required", "bead_id": "bd-1", "prompt": "go", "subagent_type": "w"}
    launch = {"session_id": "S1", "cwd": str(two.root), "hook_event_name": "PreToolUse", "tool_name": "Agent"}
    two.run("hook", "claude-code", stdin=json.dumps({**launch, "tool_input": given}).encode())
    undo(two, "y\n", "--tell")
    said = word_of(stops(two, last_assistant_message="no"))
    assert "> five" in said
    assert "iteration" in said
    assert "> five" not in word_of(stops(two, last_assistant_message="no"))


# --- with other options of a commit ---


def units(repo: Repo) -> list[set[str]]:
    """The edits, by what they wrote, that each commit told of, in order."""
    (journal,) = repo.state.glob("edits/*.jsonl")
    rows = [json.loads(line) for line in journal.read_bytes().splitlines()]
    at, wrote = 0, {}
    for line, row in zip(journal.read_bytes().splitlines(keepends=True), rows, strict=True):
        if row.get("hunks"):
            wrote[str(at)] = row["hunks"][0][2][0].strip()
        at += len(line)
    return [{wrote[unit.partition(".")[0]] for unit in row["units"]} for row in rows if row.get("commit")]


def test_a_part_tells_which_edits_went(two: Repo) -> None:
    ask(two, "n\ny\nn\n")
    ask(two, "y\nn\n")
    two.commit("S1")
    assert units(two) == [{"twenty"}, {"five"}, {"end"}]


def test_a_part_of_a_file_with_other_line_ends(two: Repo) -> None:
    two.git("config", "core.autocrlf", "true")
    two.write("e", forty())
    two.git("add", "e")
    two.git("commit", "-qm", "e", "--", "e")
    two.write("e", forty().replace("\n", "\r\n"))
    for old, new in ((b"line 2\r", b"two\r"), (b"line 30\r", b"thirty\r")):
        two.edit("S1", "e", (two.read("e") or b"").replace(old, new))
    ask(two, "n\ny\n", "--", "e")
    log = [
        json.loads(row) for path in two.state.glob("edits/*.jsonl") for row in path.read_bytes().splitlines()
    ]
    (told,) = [row["units"] for row in log if row.get("commit")]
    assert len(told) == 1


def test_a_part_says_which_model_helped(two: Repo) -> None:
    two.git("config", "ralph.attribution", "assisted-by")
    two.edit("S1", "new", "n\n", fields={"model": "model-a"})
    two.commit("S1", "--", "new")
    for line, to, model in ((2, "two", "model-a"), (38, "last", "model-b")):
        before = two.read("f") or b""
        two.edit("S1", "f", before.replace(b"line %d\n" % line, f"{to}\n".encode()), fields={"model": model})
    ask(two, "n\nn\ny\n", "--", "f")
    assert head(two) == forty(l35="end", l38="last")
    assert "model-b" in two.git("log", "-1", "--format=%B")
    assert "model-a" not in two.git("log", "-1", "--format=%B")


def test_amend_takes_what_is_chosen_into_the_last_commit(two: Repo) -> None:
    ask(two, "y\nn\nn\n")
    count, base = two.count(), two.git("rev-parse", "HEAD^")
    done = ask(two, "y\nn\n", "--amend")
    assert "+five" not in done.text  # it is in the commit that is amended
    assert (two.count(), two.git("rev-parse", "HEAD^")) == (count, base)
    assert head(two) == forty(l5="five", l20="twenty")
    assert two.pending("S1") == ["f"]
    two.commit("S2")
    ask(two, "y\n")
    assert head(two) == forty(**MINE, **OTHERS)


def test_amend_of_nothing_chosen_changes_nothing(two: Repo) -> None:
    ask(two, "y\nn\nn\n")
    before = two.head()
    assert "nothing to commit" in ask(two, "n\nn\n", "--amend").text
    assert two.head() == before


def test_fixup_of_what_is_chosen(two: Repo) -> None:
    ask(two, "y\nn\nn\n")
    first = two.head()
    done = two.ralph("commit", "--session", "S1", "-p", "--fixup", first, stdin=b"n\ny\n")
    assert "fixup! x" in done.text
    assert head(two) == forty(l5="five", l35="end")
    assert two.changes() == {"f": "M"}
    two.git(
        "rebase", "-q", "-i", "--autosquash", "--autostash", f"{first}^", env={"GIT_SEQUENCE_EDITOR": "true"}
    )
    assert head(two) == forty(l5="five", l35="end")
    assert two.pending("S1") == ["f"]
    two.commit("S1")
    assert head(two) == forty(**MINE)


def test_prove_runs_on_what_is_chosen(two: Repo) -> None:
    """Not on the file, nor on all of the session's; and a failure commits nothing."""
    before = two.head()
    check = "grep -q twenty f && ! grep -q five f && ! grep -q far f"
    ask(two, "y\nn\nn\n", "--prove", check, code=1)
    assert two.head() == before
    assert two.pending("S1") == ["f"]
    ask(two, "n\ny\nn\n", "--prove", check)
    assert head(two) == forty(l20="twenty")

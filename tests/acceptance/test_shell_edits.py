"""What a shell command changed: by which command, what is offered, and what nobody can tell."""

import json
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import payloads, shells
from tests.support.repo import Repo
from tests.support.shells import Shell
from tests.support.size import crossed
from tests.support.texts import TEN, changed

COMMANDS = {
    "redirect": ("echo new > n", {"n": "A"}),
    "append": ("echo more >> a", {"a": "M"}),
    "heredoc": ("cat > n <<'EOF'\nsecret words\nEOF", {"n": "A"}),
    "sed": ("sed -i s/3/three/ a", {"a": "M"}),
    "sed twice": ("sed -i s/3/three/ a; sed -i s/5/five/ a", {"a": "M"}),
    "tee": ("echo x | tee n > o", {"n": "A", "o": "A"}),
    "cp": ("cp a copy", {"copy": "A"}),
    "rm": ("rm a d/a", {"a": "D", "d/a": "D"}),
    "mv": ("mv a moved", {"a": "D", "moved": "A"}),
    "git mv": ("git mv a moved", {"a": "D", "moved": "A"}),
    "folder": ("mkdir x && mv d x/d", {"d/a": "D", "x/d/a": "A"}),
    "tar": ("tar cf - a b | (mkdir t && cd t && tar xf -)", {"t/a": "A", "t/b": "A"}),
    "chmod": ("chmod +x a", {"a": "M"}),
    "link": ("ln -s a link", {"link": "A"}),
    "type": ("rm a && ln -s b a", {"a": "T"}),
    "odd name": ("echo x > '\"q\\\n'", {'"q\\\n': "A"}),
    "many": ("for i in $(seq 50); do echo $i > gen$i; done", {f"gen{n}": "A" for n in range(1, 51)}),
    "git rm": ("git rm -q b", {"b": "D"}),
    "apply": ("git diff --no-index a u | sed 's,[ab]/u,b/a,' >/dev/null; echo y >> u", {"u": "M"}),
}
# git alone decides what is staged: these are judged by what is taken only
STAGED = ("git mv", "git rm")


def _hint(said: str) -> None:
    assert "--with-shell" in said
    assert "git ralph track" in said


def _status(repo: Repo, session: str = "S1") -> dict[str, dict[str, Any]]:
    rows = repo.ralph("status", "--json", "--session", session).json()["paths"]
    return {row["path"]: row for row in rows}


def _new(repo: Repo, expected: dict[str, str]) -> set[str]:
    """The paths that are new, and not moved from elsewhere."""
    moved = "D" in expected.values()
    return set() if moved else {path for path, change in expected.items() if change == "A"}


@pytest.mark.parametrize("what", COMMANDS)
def test_new_files_are_offered_and_the_rest_is_an_edit(repo: Repo, what: str) -> None:
    """What a shell command changed is the session's; a new file is left out, named, and offered."""
    command, expected = COMMANDS[what]
    shell = shells.run(repo, "S1", command)
    offered = _new(repo, expected)
    rows = _status(repo)
    for path in expected:
        assert rows[path]["owner"] == ("nobody" if path in offered else "mine")
    for path in offered:
        assert [(one["session"], one["call"]) for one in rows[path]["likely"]] == [("S1", shell.call)]
    answer = repo.commit("S1", checked=what not in STAGED)
    assert answer.left == dict.fromkeys(offered, "shell")
    assert answer.paths == {path: change for path, change in expected.items() if path not in offered}
    if offered:
        _hint(answer.said)


@pytest.mark.parametrize("what", COMMANDS)
def test_offer_takes_neither(repo: Repo, what: str) -> None:
    """With ``ralph.shellEdits=offer`` a session gets nothing that it did not ask for."""
    repo.git("config", "ralph.shellEdits", "offer")
    command, expected = COMMANDS[what]
    shells.run(repo, "S1", command)
    answer = repo.commit("S1", checked=what not in STAGED)
    assert (answer.status, answer.left) == ("nothing", dict.fromkeys(expected, "shell"))
    assert repo.commit("S1", "--with-shell", checked=what not in STAGED).paths == expected


def test_no_command_text_is_kept(repo: Repo) -> None:
    shells.run(repo, "S1", "PASS=hunter2pass; echo x > n")
    Shell(repo, "S2", "PASS=hunter2pass git worktree add ../w").begin()
    kept = [path.read_bytes() for path in repo.state.rglob("*") if path.is_file()]
    assert not any(b"hunter2pass" in data for data in kept)
    said = repo.ralph("status").text
    assert repo.called("S1") in said
    assert "hunter2" not in said


def test_dirty_file_made_clean_by_the_shell(repo: Repo) -> None:
    repo.git("config", "ralph.discard", "off")
    repo.write("a", changed())
    shells.run(repo, "S1", "git checkout -- a")
    assert repo.commit("S1").left == {"a": "unchanged"}
    assert _status(repo) == {}
    # nobody else has kept what went
    repo.ralph("undo", "--session", "S1")
    assert repo.read("a") == changed().encode()
    assert repo.commit(None, "--mine").paths == {"a": "M"}


@pytest.mark.parametrize(("what", "how"), crossed([*COMMANDS], ["option", "config"]))
def test_with_shell_takes_what_the_command_changed(repo: Repo, what: str, how: str) -> None:
    """The option commits what the command alone changed."""
    command, expected = COMMANDS[what]
    if how == "config":
        repo.git("config", "ralph.shellEdits", "include")
    shells.run(repo, "S1", command)
    answer = repo.commit("S1", *(["--with-shell"] if how == "option" else []), checked=what not in STAGED)
    assert answer.paths == expected == repo.changes()
    offered = _new(repo, expected) if how == "option" else set()
    assert answer.how == {path: "shell" if path in offered else "edits" for path in expected}
    assert repo.git("status", "--porcelain") == ""
    assert repo.commit("S1", "--with-shell").status == "nothing"


def test_shell_edits_off_looks_at_nothing(repo: Repo) -> None:
    repo.git("config", "ralph.shellEdits", "off")
    shells.run(repo, "S1", "echo x > n")
    assert not (repo.state / "shells.jsonl").exists()
    assert repo.commit("S1", "--with-shell").left == {}
    assert "likely" not in _status(repo)["n"]


def test_shell_edits_off_hides_what_was_seen_before(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > n")
    repo.git("config", "ralph.shellEdits", "off")
    assert repo.commit("S1", "--with-shell").status == "nothing"
    repo.git("config", "ralph.shellEdits", "sometimes")
    assert "shelledits" in repo.ralph("commit", "--session", "S1", "-m", "x", code=128).said


def test_chained_commands_and_edits(repo: Repo) -> None:
    """Shell, shell, tool, shell on one file: all of it is this session's."""
    shells.run(repo, "S1", "echo one >> a")
    shells.run(repo, "S1", "echo two >> a")
    before = repo.read("a")
    assert before is not None
    repo.edit("S1", "a", before + b"three\n")
    shells.run(repo, "S1", "echo four >> a")
    answer = repo.commit("S1")
    assert answer.how == {"a": "edits"}
    assert repo.blob("a") == TEN.encode() + b"one\ntwo\nthree\nfour\n"
    assert repo.pending("S1") == []


def test_with_shell_is_limited_by_pathspec(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > d/n; echo x > e/n")
    repo.commit("S1", "--with-shell", "--", "d")
    assert repo.changes() == {"d/n": "A"}
    assert repo.commit("S1", "--", "b").left == {}


def test_with_shell_leaves_what_was_changed_since_by_hand(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > n; echo y > o")
    repo.write("n", "x\nby hand\n")
    answer = repo.commit("S1", "--with-shell")
    assert answer.paths == {"n": "A", "o": "A"}
    assert repo.blob("n") == b"x\n"


def test_with_shell_dry_run_is_the_truth(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > n; rm b")
    dry = repo.ralph("commit", "--session", "S1", "--dry-run", "--with-shell", "--json").json()
    done = repo.commit("S1", "--with-shell").document
    assert (dry["paths"], dry["left"]) == (done["paths"], done["left"])


def test_a_commit_by_somebody_else_meanwhile(repo: Repo) -> None:
    """HEAD moved while the command ran: what the other commit changed is not the command's."""
    shell = Shell(repo, "S1").begin().work("echo x > n")
    repo.edit("S2", "b", changed())
    repo.commit("S2")
    shell.end()
    answer = repo.commit("S1", "--with-shell")
    assert answer.paths == {"n": "A"}
    assert answer.left == {}


def test_head_moved_back_by_the_command(repo: Repo) -> None:
    """``git reset`` makes files differ from HEAD that nobody changed."""
    repo.write("a", changed())
    repo.commit_all("second")
    shells.run(repo, "S1", "git reset -q --soft HEAD^; echo x > n")
    answer = repo.commit("S1", "--with-shell", checked=False)
    assert answer.paths == {"n": "A"}


def test_overlapping_windows_are_contested(repo: Repo) -> None:
    """Two commands ran at once and either could have changed the file: nobody takes it."""
    repo.write("u", changed())  # the user's, before the window
    first = Shell(repo, "S1").begin().work("echo mine > f")
    second = Shell(repo, "S2").begin()
    second.work("echo both > g")
    first.work("echo more >> g; exit 1")
    repo.write("u", changed(5, "saved meanwhile", changed()))
    first.end("PostToolUseFailure")
    second.work("echo theirs > h").end()
    for session, own in (("S1", "f"), ("S2", "h")):
        answer = repo.commit(session)
        assert answer.left == {own: "shell", "g": "contested", "u": "contested"}
        [row] = [row for row in answer.document["left"] if row["path"] == "g"]
        assert row["sessions"] == ["S1", "S2"]


@pytest.mark.parametrize("told", [True, False])
def test_changes_of_a_killed_command(repo: Repo, told: bool) -> None:
    """A killed tool sends no event; a stop may follow, or nothing at all."""
    Shell(repo, "S1").begin().work("echo half > f")
    if told:
        repo.hook("claude-code", payloads.claude_life("Stop", "S1", str(repo.root)))
    if not told:  # it may run still: nobody knows which of the changes are its own
        assert repo.commit("S1").left == {}
        repo.hook("claude-code", payloads.claude_life("UserPromptSubmit", "S1", str(repo.root)))
    assert repo.commit("S1").left == {"f": "shell"}
    assert repo.commit("S1", "--with-shell").paths == {"f": "A"}


def test_an_end_that_nobody_saw_is_not_included_by_default(repo: Repo) -> None:
    """By hand yes, by configuration no: a person may have written meanwhile."""
    repo.git("config", "ralph.shellEdits", "include")
    Shell(repo, "S1").begin().work("echo half > f")
    assert repo.commit("S1").left == {}
    repo.hook("claude-code", payloads.claude_life("UserPromptSubmit", "S1", str(repo.root)))
    assert repo.commit("S1").left == {"f": "shell"}
    assert repo.commit("S1", "--with-shell").paths == {"f": "A"}


def test_a_command_that_never_ended_contests_others(repo: Repo) -> None:
    Shell(repo, "S2").begin()
    shells.run(repo, "S1", "echo x > n")
    assert repo.commit("S1").left == {"n": "contested"}
    repo.hook("claude-code", payloads.claude_life("Stop", "S2", str(repo.root)))
    assert repo.commit("S1").left == {"n": "contested"}


def test_a_change_before_the_other_began_is_not_contested(repo: Repo) -> None:
    first = Shell(repo, "S1").begin().work("echo x > n")
    second = Shell(repo, "S2").begin().work("echo y > m")
    first.end()
    assert repo.commit("S1", "--with-shell", "--", "n").paths == {"n": "A"}
    second.end()
    assert repo.commit("S2").left == {"m": "contested"}  # S1's ran then, too


def test_read_only_commands_own_nothing(repo: Repo) -> None:
    repo.write("u", changed())
    shells.run(repo, "S1", "cat a u; git status; git log")
    assert repo.commit("S1", "--with-shell").left == {}
    assert "likely" not in _status(repo)["u"]


def test_dirty_before_and_changed_by_the_command(repo: Repo) -> None:
    repo.write("u", changed())
    shells.run(repo, "S1", "echo more >> u")
    assert repo.commit("S1").paths == {"u": "M"}
    assert repo.blob("u") == TEN.encode() + b"more\n"


def test_another_sessions_edit_during_the_window_is_contested(repo: Repo) -> None:
    shell = Shell(repo, "S1").begin().work("echo x > n")
    repo.edit("S2", "b", changed())
    shell.end()
    answer = repo.commit("S1", "--with-shell")
    assert answer.paths == {"n": "A"}
    assert answer.left == {}
    assert repo.owners("S1") == {"b": "other"}


def test_a_command_over_another_sessions_pending_lines(repo: Repo) -> None:
    repo.edit("S2", "b", changed())
    shells.run(repo, "S1", "echo more >> b")
    assert repo.commit("S1").how == {"b": "edits"}
    assert repo.blob("b") == TEN.encode() + b"more\n"
    assert repo.commit("S2").how == {"b": "edits"}
    assert repo.blob("b") == changed().encode() + b"more\n"


def test_a_blind_window_contests(repo: Repo, tmp_path: Path) -> None:
    """git did not answer in time before the other command: it may have changed anything."""
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nexit 3\n")
    (slow / "git").chmod(0o755)
    second = Shell(repo, "S2")
    second.begin()
    for path in repo.state.glob("calls/S2/shell-*"):
        kept = json.loads(path.read_text())
        path.write_text(json.dumps({**kept, "rows": None}))
    shells.run(repo, "S1", "echo x > n")
    second.end()
    assert repo.commit("S1").left == {"n": "contested"}
    broken = event_env(repo, slow)
    repo.hook("claude-code", shells.event("PreToolUse", "S3", "t", str(repo.root), "x"), env=broken)
    assert not (repo.state / "calls/S3").exists()


def event_env(repo: Repo, folder: Path) -> dict[str, str]:
    """An environment in which another git comes first."""
    return {**repo.env, "PATH": f"{folder}:{repo.env['PATH']}"}


def test_what_a_shell_made_is_claimed_by_track(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > p; rm b")
    repo.ralph("track", "--session", "S1", "--", "p", "b")
    answer = repo.commit("S1")
    assert answer.paths == {"p": "A", "b": "D"}
    assert answer.left == {}


def test_claimed_and_changed_afterwards_by_the_shell(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > p")
    repo.ralph("track", "--session", "S1", "--", "p")
    shells.run(repo, "S1", "echo y >> p")
    repo.commit("S1")
    assert repo.blob("p") == b"x\ny\n"


@pytest.mark.parametrize("first", ["tool", "shell"])
def test_shell_change_in_a_file_also_edited_by_tool(repo: Repo, first: str) -> None:
    if first == "tool":
        repo.edit("S1", "a", changed(2))
    shells.run(repo, "S1", "echo from the shell >> a")
    if first == "shell":
        repo.edit("S1", "a", changed(2) + "from the shell\n")
    answer = repo.commit("S1")
    assert (answer.how, answer.left) == ({"a": "edits"}, {})
    assert repo.blob("a") == changed(2).encode() + b"from the shell\n"
    assert (repo.pending("S1"), repo.git("status", "--porcelain")) == ([], "")


def test_a_sessions_own_shell_command_does_not_stop_its_line_from_following(repo: Repo) -> None:
    """What its shell made of its own pending line goes along; nothing is left."""
    repo.edit("S1", "a", changed(3, "one two three"))
    shells.run(repo, "S1", "sed -i 's/one two three/one 2 three/' a")
    answer = repo.commit("S1")
    assert answer.left == {}
    assert repo.blob("a") == changed(3, "one 2 three").encode()


def test_a_tool_replaces_what_the_shell_made(repo: Repo) -> None:
    shells.run(repo, "S1", "sed -i 's/line 3/line three/' a")
    repo.edit("S1", "a", changed(3, "line 3 and more"), before=changed(3, "line three"))
    repo.commit("S1")
    assert repo.blob("a") == changed(3, "line 3 and more").encode()  # its own line, as a tool wrote it


def test_two_hooks_of_one_call(repo: Repo) -> None:
    shell = Shell(repo, "S1", "echo x > n").begin().begin().work().end().end()
    assert (repo.state / "shells.jsonl").read_text().count("\n") == 2
    assert _status(repo)["n"]["likely"][0]["call"] == shell.call
    assert repo.commit("S1", "--with-shell").paths == {"n": "A"}


def test_two_hooks_of_one_call_at_once(repo: Repo) -> None:
    shell = Shell(repo, "S1", "echo x > n")
    for name in ("PreToolUse", "PostToolUse"):
        payload = payloads.encode(shells.event(name, "S1", shell.call, str(repo.root), "x"))
        words = [sys.executable, "-P", "-m", "gitralph", "hook", "claude-code"]
        running = [
            subprocess.Popen(words, cwd=repo.root, env=repo.env, stdin=subprocess.PIPE) for _ in range(4)
        ]
        for one in running:
            assert one.stdin is not None
            one.stdin.write(payload)
            one.stdin.close()
        assert [one.wait() for one in running] == [0] * 4
        shell.work()
    lines = [json.loads(line) for line in (repo.state / "shells.jsonl").read_text().splitlines()]
    assert len([line for line in lines if "open" in line]) == 1
    assert {line["close"] for line in lines if "close" in line} == {lines[0]["open"]}
    assert repo.commit("S1", "--with-shell").paths == {"n": "A"}


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_a_background_command_counts_until_the_turn_ends(repo: Repo, event: str) -> None:
    """Its post event comes at once, and nothing tells its end: a person may have worked on meanwhile."""
    shell = Shell(repo, "S1", "build &").begin().work("sed -i 's/^line 2$/two/' a")
    answer = {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": "b1"}
    shell.send("PostToolUse", tool_response=answer)
    assert repo.commit("S1").paths == {"a": "M"}
    shell.work("sed -i 's/^line 3$/three/' a")
    assert repo.commit(None, "--mine").left == {"a": "shell"}
    repo.write("b", "a person's\n")
    repo.hook("claude-code", payloads.claude_life(event, "S1", str(repo.root)))
    assert repo.commit("S1").left == {"a": "shell", "b": "shell"}
    assert repo.commit("S1", "--with-shell", "--", "a").paths == {"a": "M"}
    assert repo.commit(None, "--mine", "--", "b").paths == {"b": "M"}
    repo.write("a", TEN)
    assert repo.commit(None, "--mine").paths == {"a": "M"}


def test_what_changes_after_a_command_is_not_its(repo: Repo) -> None:
    Shell(repo, "S1").begin().end()
    repo.write("late", "x\n")
    assert repo.commit("S1", "--with-shell").left == {}


def test_a_linked_worktree_has_its_own(repo: Repo) -> None:
    other = repo.worktree("w1")
    shells.run(other, "S1", "echo x > n")
    assert repo.commit("S1", "--with-shell").left == {}
    assert other.commit("S1", "--with-shell").paths == {"n": "A"}


def test_a_command_that_leaves_its_worktree(repo: Repo, tmp_path: Path) -> None:
    shell = Shell(repo, "S1", "cd ..; echo x > repo/n").begin().work()
    other = repo.worktree("w1")
    payload = shells.event("PostToolUse", "S1", shell.call, str(other.root), "x")
    repo.hook("claude-code", payload)
    assert repo.commit("S1", "--with-shell").paths == {"n": "A"}


def test_a_subagent_ends_only_its_own_commands(repo: Repo) -> None:
    Shell(repo, "S1", call="t1").begin().work("echo x > n")
    stop = payloads.claude_life("SubagentStop", "S1", str(repo.root), agent_id="a1")
    repo.hook("claude-code", stop)
    assert (repo.state / "shells.jsonl").read_text().count("\n") == 1
    repo.hook("claude-code", payloads.claude_life("Stop", "S1", str(repo.root)))
    assert (repo.state / "shells.jsonl").read_text().count("\n") == 2


@pytest.mark.parametrize("name", ["Odd.Name", "a=b"])
def test_no_configured_program_runs(repo: Repo, tmp_path: Path, name: str) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "program"
    script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    script.chmod(0o755)
    repo.git("config", "core.fsmonitor", str(script))
    repo.git("config", f"filter.{name}.clean", str(script))
    repo.git("config", f"filter.{name}.required", "true")
    repo.write(".gitattributes", f"*.bin filter={name}\n")
    repo.write("x.bin", "data\n")
    ran.unlink(missing_ok=True)
    shells.run(repo, "S1", "echo x > n.bin; echo more >> x.bin")
    assert not ran.exists()
    kept = (repo.state / "shells.jsonl").read_text()
    assert "n.bin" in kept


def _notebook(repo: Repo) -> None:
    """A filter that drops outputs; git does not know yet that the file is clean, and hooks run no filter."""
    repo.git("config", "filter.strip.clean", "sed /^out:/d")
    repo.git("config", "filter.strip.smudge", "cat")
    repo.write(".gitattributes", "*.nb filter=strip\n")
    repo.write("n.nb", "in: 1\nout: 1\nin: 2\nout: 2\n")
    repo.commit_all("notebook")
    os.utime(repo.file("n.nb"), (1, 1))


def test_a_filtered_file_that_only_one_sessions_shell_changed_is_its_own(repo: Repo) -> None:
    _notebook(repo)
    shells.run(repo, "S1", "sed -i 's/in: 2/in: 2 of S1/' n.nb")
    assert repo.commit("S1").paths == {"n.nb": "M"}
    assert repo.blob("n.nb").decode() == "in: 1\nin: 2 of S1\n"
    shells.run(repo, "S2", "sed -i 's/in: 1/in: 1 of S2/' n.nb")
    repo.write("n.nb", "in: 1 of S2\nin: 2 of S1\nin: a person's\n")
    assert repo.commit("S2", code=4).left == {"n.nb": "filtered"}


def test_what_a_stash_brings_into_a_filtered_file_is_nobodys(repo: Repo) -> None:
    _notebook(repo)
    repo.write("n.nb", "in: 1\nin: 2\nin: a person's\n")
    repo.git("stash", "-q")
    os.utime(repo.file("n.nb"), (1, 1))
    shells.run(repo, "S1", "git stash pop -q")
    assert "a person's" in repo.file("n.nb").read_text()
    assert repo.commit("S1").commit is None


def test_a_budget_for_git(repo: Repo, tmp_path: Path) -> None:
    """A git that hangs is killed, and the command goes on."""
    from gitralph.hook import hook_git

    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\nsleep 60\ntouch {folder}/slept\n")
    (folder / "git").chmod(0o755)
    env = event_env(repo, folder)
    assert hook_git.run(str(repo.root), ["status"], env, time.monotonic() + 0.2) is None
    assert not (folder / "slept").exists()


def test_damage_costs_only_its_own_line(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > n")
    log = repo.state / "shells.jsonl"
    log.write_bytes(b'{"open":1}\n{"close":"x"}\nnull\n\xff\n[1\n' + log.read_bytes() + b'{"open":"torn')
    assert repo.commit("S1", "--with-shell").paths == {"n": "A"}


def test_what_is_kept_is_private(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > n")
    Shell(repo, "S1").begin()
    for path in [repo.state / "shells.jsonl", *repo.state.glob("calls/*/*")]:
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600


def test_a_watched_command_leaves_the_index_alone(repo: Repo) -> None:
    os.utime(repo.file("a"))
    before = (repo.common / "index").read_bytes()
    shells.run(repo, "S1", "true")
    assert (repo.common / "index").read_bytes() == before


def test_gemini_commands_without_ids(repo: Repo) -> None:
    for name in ("BeforeTool", "AfterTool"):
        payload = {
            "session_id": "S1",
            "cwd": str(repo.root),
            "hook_event_name": name,
            "tool_name": "run_shell_command",
            "tool_input": {"command": "echo x > n"},
        }
        repo.hook("gemini", payload)
        subprocess.run(["/bin/sh", "-c", "echo x > n"], cwd=repo.root, check=True)
    assert repo.commit("S1", "--with-shell").paths == {"n": "A"}


def _age(repo: Repo, days: int) -> None:
    """Make everything that is kept of shell commands look older than it is."""
    log = repo.state / "shells.jsonl"
    old = time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * 86400))
    log.write_bytes(re.sub(rb'"ts":"[0-9-]{10}', f'"ts":"{old}'.encode(), log.read_bytes()))
    for path in repo.state.glob("calls/*/*"):
        os.utime(path, (time.time() - days * 86400,) * 2)


def test_gc_keeps_what_is_recent(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > n")
    before = (repo.state / "shells.jsonl").read_bytes()
    repo.ralph("gc")
    assert (repo.state / "shells.jsonl").read_bytes() == before


def test_gc_forgets_a_command_whose_end_nobody_saw(repo: Repo) -> None:
    Shell(repo, "S2").begin()
    _age(repo, 2)
    shells.run(repo, "S1", "echo x > n")
    assert repo.commit("S1").left == {"n": "contested"}
    repo.ralph("gc", "--dry-run")
    repo.ralph("gc")
    shells.run(repo, "S1", "echo x > m")
    assert repo.commit("S1").left == {"m": "shell", "n": "contested"}


def test_gc_forgets_old_commands(repo: Repo) -> None:
    shells.run(repo, "S1", "echo x > n")
    _age(repo, 40)
    repo.ralph("gc")
    assert (repo.state / "shells.jsonl").read_bytes() == b""
    assert repo.commit("S1").left == {}


@pytest.mark.parametrize("agent", ["codex", "copilot"])
def test_an_edit_starts_no_process(repo: Repo, agent: str) -> None:
    """What watches shells is not even loaded for edits and for the end of a turn without commands."""
    root = str(repo.root)
    edits = {
        "codex": {
            "session_id": "S1",
            "cwd": root,
            "hook_event_name": "PostToolUse",
            "tool_name": "apply_patch",
            "tool_input": {"command": "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\n"},
        },
        "copilot": {
            "sessionId": "S1",
            "cwd": root,
            "toolName": "create",
            "toolResult": {},
            "toolArgs": {"path": "n", "file_text": "x\n"},
        },
    }
    repo.write("n", "x\n")
    stop = {"session_id": "S1", "cwd": root, "hook_event_name": "Stop", "stop_hook_active": False}
    for payload in (edits[agent], stop):
        words = [sys.executable, "-P", "-X", "importtime", "-m", "gitralph", "hook", agent]
        data = payloads.encode(payload)
        done = subprocess.run(words, cwd=root, env=repo.env, input=data, capture_output=True, check=True)
        loaded = {row.rsplit("|", 1)[-1].strip() for row in done.stderr.decode().splitlines()}
        assert "gitralph.hook.record" in loaded
        assert not {"gitralph.hook.shellwatch", "gitralph.hook.hook_git", "subprocess"} & loaded
    assert repo.pending("S1") == ["n"]

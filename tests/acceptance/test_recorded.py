"""How a change gets recorded."""

import json
import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

from tests.support import payloads
from tests.support.repo import Repo
from tests.support.texts import TEN, changed

OTHER = "11111111-2222-4333-8444-555555555555"


def _contract(repo: Repo, *args: str) -> dict[str, str]:
    """What ``session start --env sh`` makes of a shell's environment."""
    script = repo.ralph("session", "start", "--id", "S1", "--env", "sh", *args).text
    said = subprocess.run(
        ["/bin/sh", "-c", script + "env -0"], env={"PATH": "/bin:/usr/bin"}, capture_output=True, check=True
    ).stdout.decode()
    pairs = (row.split("=", 1) for row in said.split("\0") if row.startswith("RALPH_"))
    return dict(pairs)


def test_ralph_session_beats_the_agents_own_id(repo: Repo) -> None:
    env = _contract(repo, "--plan", "my plan.md", "--task", "3", "--bead", "b-1")
    assert env["RALPH_TRACKING"] == "1"
    assert env["RALPH_SESSION"] == "S1"
    assert env["RALPH_ROOT"] == str(repo.root)
    assert env["RALPH_PLAN"] == "my plan.md"
    assert (env["RALPH_TASK_NUM"], env["RALPH_BEAD"]) == ("3", "b-1")
    assert Path(env["RALPH_MANIFEST"]) == repo.state / "S1.files"
    repo.write("a", changed())
    event = payloads.claude_write(OTHER, str(repo.root), str(repo.file("a")), TEN, changed())
    repo.hook("claude-code", event, env=env)
    assert repo.pending("S1") == ["a"]
    assert repo.pending(OTHER) == []
    assert json.loads((repo.state / "S1.json").read_text())["aliases"] == [OTHER]
    assert not (repo.state / f"{OTHER}.json").exists()


def test_session_env_is_json_too(repo: Repo) -> None:
    said = repo.ralph("session", "start", "--id", "S1", "--env", "json").json()
    assert said == _contract(repo, "--continue")


def test_session_env_is_safe_for_a_shell(repo: Repo) -> None:
    plan = 'it\'s; $(touch owned) `id` "x"\n.md'
    assert _contract(repo, "--plan", plan)["RALPH_PLAN"] == plan


def test_without_variables_the_agents_own_id_counts(repo: Repo) -> None:
    repo.write("a", changed())
    event = payloads.claude_write(OTHER, str(repo.root), str(repo.file("a")), TEN, changed())
    repo.hook("claude-code", event)
    assert repo.pending(OTHER) == ["a"]
    repo.commit(OTHER)
    assert repo.changes() == {"a": "M"}
    assert f"Ralph-Session: {OTHER}\nRalph-Agent: claude-code" in repo.trailers()


def test_tracking_off_records_nothing(repo: Repo) -> None:
    for session in ("S1", ""):
        repo.edit("S1", "a", changed(), env={"RALPH_TRACKING": "0", "RALPH_SESSION": session})
    assert repo.pending("S1") == []
    assert not list(repo.state.glob("*.files"))


def test_a_line_in_the_manifest_is_a_record(repo: Repo) -> None:
    env = _contract(repo)
    repo.write("src/a.py", "print()\n")
    with open(env["RALPH_MANIFEST"], "a") as manifest:
        manifest.write("src/a.py\n")
    assert repo.pending("S1") == ["src/a.py"]
    answer = repo.commit("S1")
    assert answer.how == {"src/a.py": "whole-file"}
    assert "src/a.py" in answer.notes
    assert repo.changes() == {"src/a.py": "A"}
    assert repo.pending("S1") == []
    assert repo.commit("S1").status == "nothing"


def test_the_same_manifest_line_again_counts_again(repo: Repo) -> None:
    manifest = Path(_contract(repo)["RALPH_MANIFEST"])
    for text in ("one\n", "two\n"):
        repo.write("f", text)
        with manifest.open("a") as file:
            file.write("f\n")
        assert repo.commit("S1").paths
    assert repo.blob("f") == b"two\n"


def test_manifest_lines_that_name_no_path_are_passed_over(repo: Repo) -> None:
    manifest = Path(_contract(repo)["RALPH_MANIFEST"])
    repo.write("f", "text\n")
    lines = [b"", b"/etc/passwd", b"../x", b".git/config", b"a//b", b"\0\0", b"f"]
    manifest.write_bytes(b"\n".join(lines) + b"\ntorn tail")
    assert repo.pending("S1") == ["f"]
    repo.commit("S1")
    assert repo.changes() == {"f": "A"}


@pytest.mark.parametrize("where", ["outside", "link", "dotdot"])
def test_manifest_outside_is_never_written(repo: Repo, tmp_path: Path, where: str) -> None:
    repo.start("S1")
    outside = tmp_path / "elsewhere.files"
    named = {
        "outside": str(outside),
        "link": str(repo.state / "link.files"),
        "dotdot": str(repo.state / ".." / "x.files"),
    }[where]
    if where == "link":
        os.symlink(outside, named)
    repo.edit("S1", "a", changed(), env={"RALPH_SESSION": "S1", "RALPH_MANIFEST": named})
    assert not outside.exists()
    assert not (repo.common / "x.files").exists()
    assert repo.pending("S1") == ["a"]
    assert "RALPH_MANIFEST" in (repo.state / "hooks.log").read_text()


def test_tracked_path_of_a_sole_owner_is_committed_whole(repo: Repo) -> None:
    repo.write("a", changed())
    repo.ralph("track", "--session", "S1", "a")
    answer = repo.commit("S1")
    assert answer.how == {"a": "whole-file"}
    assert "'a' is committed as it stands" in answer.notes
    assert repo.blob("a") == changed().encode()


def test_bare_manifest_line_is_taken_as_it_stands(repo: Repo) -> None:
    """A line of a foreign script holds no hash: the file counts as it stands."""
    manifest = Path(_contract(repo)["RALPH_MANIFEST"])
    repo.write("a", changed())
    manifest.write_bytes(b"a\n")
    repo.write("a", changed(9))
    answer = repo.commit("S1")
    assert answer.how == {"a": "whole-file"}
    assert repo.blob("a") == changed(9).encode()


def test_tracked_paths_of_every_kind(repo: Repo) -> None:
    repo.remove("d/a")
    repo.write("n", "new\n", 0o755)
    os.symlink("a", repo.file("link"))
    repo.ralph("track", "--session", "S1", "d/a", "n", "link")
    answer = repo.commit("S1")
    assert answer.paths == {"d/a": "D", "n": "A", "link": "A"} == repo.changes()
    assert (repo.mode("n"), repo.mode("link")) == ("100755", "120000")


def test_tracked_path_changed_afterwards_is_refused(repo: Repo) -> None:
    repo.write("a", changed())
    repo.ralph("track", "--session", "S1", "a")
    repo.write("a", changed(5, "somebody else", changed()))
    answer = repo.commit("S1", code=4)
    assert answer.left == {"a": "unanchored"}
    assert "--whole-file" in answer.said
    repo.commit("S1", "--whole-file", "--", "a")
    assert repo.changes() == {"a": "M"}


def test_tracked_path_deleted_afterwards(repo: Repo) -> None:
    repo.write("a", changed())
    repo.ralph("track", "--session", "S1", "a")
    repo.remove("a")
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert answer.left == {"a": "gone"}
    assert repo.pending("S1") == ["a"]


def test_a_script_need_not_quote_its_manifest_lines(repo: Repo) -> None:
    manifest = Path(_contract(repo)["RALPH_MANIFEST"])
    names = ['"half', "caf\u00e9", " blank ", "back\\slash"]
    for name in names:
        repo.write(name, "text\n")
    manifest.write_bytes("".join(name + "\n" for name in names).encode())
    assert repo.pending("S1") == sorted(names)
    repo.commit("S1")
    assert set(repo.changes()) == set(names)


def test_tracked_path_with_a_gap_in_the_journal_is_refused(repo: Repo) -> None:
    repo.edit("S1", "a", changed(1))
    repo.write("a", changed(2, "gap", changed(1)))
    repo.ralph("track", "--session", "S1", "a")
    answer = repo.commit("S1", code=4)
    assert answer.left == {"a": "unanchored"}
    assert "--whole-file" in answer.said


@pytest.mark.parametrize("how", ["track", "edit", "bare"])
def test_tracked_path_of_two_sessions_is_contested(repo: Repo, how: str) -> None:
    repo.write("a", changed())
    repo.ralph("track", "--session", "S1", "a")
    if how == "track":
        repo.ralph("track", "--session", "S2", "a")
    elif how == "edit":
        repo.edit("S2", "a", changed(5, "theirs", changed()))
    else:
        repo.start("S2")
        (repo.state / "S2.files").write_bytes(b"a\n")
    answer = repo.commit("S1", code=4)
    assert answer.left == {"a": "contested"}
    assert answer.document["left"][0]["sessions"] == ["S2"]
    assert "--whole-file" in answer.said
    repo.commit("S1", "--whole-file", "--", "a")
    assert (repo.pending("S1"), repo.pending("S2")) == ([], [])


def test_what_a_shell_made_is_claimed_by_track(repo: Repo) -> None:
    repo.edit("S1", "b", changed())
    repo.write("p", "made by a shell\n")
    assert repo.owners("S1") == {"b": "mine", "p": "nobody"}
    repo.ralph("track", "--session", "S1", "--", "p")
    answer = repo.commit("S1")
    assert answer.how == {"b": "edits", "p": "whole-file"}
    assert repo.changes() == {"b": "M", "p": "A"}


def test_track_reads_paths_from_stdin(repo: Repo) -> None:
    names = ["new\nline", "-dash", "a"]
    for name in names:
        repo.write(name, "text\n")
    repo.ralph("track", "--session", "S1", "-z", "--stdin", stdin="\0".join(names).encode() + b"\0")
    assert repo.pending("S1") == sorted(names)
    repo.commit("S1")
    assert set(repo.changes()) == set(names)


def test_failed_edit_tool_records_nothing(repo: Repo) -> None:
    event = payloads.claude_edit(OTHER, str(repo.root), str(repo.file("a")), TEN, "line 3", "changed")
    repo.hook("claude-code", payloads.claude_pre(event))
    failed = {**payloads.claude_pre(event), "hook_event_name": "PostToolUseFailure", "error": "no"}
    repo.hook("claude-code", failed)
    assert repo.pending(OTHER) == []
    assert repo.commit(OTHER).status == "nothing"


def test_events_after_the_stop_still_count(repo: Repo) -> None:
    for name in ("SessionStart", "Stop", "SessionEnd"):
        repo.hook("claude-code", payloads.claude_life(name, OTHER, str(repo.root)))
    repo.write("a", changed())
    event = payloads.claude_write(OTHER, str(repo.root), str(repo.file("a")), TEN, changed())
    repo.hook("claude-code", {**event, "agent_id": "late"})
    assert repo.pending(OTHER) == ["a"]
    repo.commit(OTHER)
    assert repo.changes() == {"a": "M"}


def _broken_by_a_file(repo: Repo) -> None:
    edits = repo.state / "edits"
    for path in edits.iterdir():
        path.unlink()
    edits.rmdir()
    edits.write_text("in the way")


def test_hook_warns_and_passes_where_state_cannot_be_written(repo: Repo) -> None:
    repo.edit("S1", "a", changed(1))
    repo.commit("S1")
    _broken_by_a_file(repo)
    repo.write("a", changed(2, "lost", changed(1)))
    event = payloads.edit("S1", str(repo.root), "a", changed(1), changed(2, "lost", changed(1)))
    said = repo.hook("generic", event).said
    assert said.startswith("warning: ")
    (repo.state / "edits").unlink()
    assert repo.owners("S1") == {"a": "nobody"}


def test_what_could_not_be_recorded_shows_as_a_gap(repo: Repo) -> None:
    repo.edit("S1", "a", changed(1))
    journal = next(repo.state.glob("edits/*.jsonl"))
    kept = journal.read_bytes()
    journal.unlink()
    journal.mkdir()
    text = changed(2, "lost", changed(1))
    repo.write("a", text)
    said = repo.hook("generic", payloads.edit("S1", str(repo.root), "a", changed(1), text)).said
    assert said.startswith("warning: ")
    journal.rmdir()
    journal.write_bytes(kept)
    assert repo.owners("S1") == {"a": "contested"}
    repo.commit("S1")
    assert repo.blob("a") == changed(1).encode()
    assert "+lost" in repo.git("diff")
    assert repo.owners("S1") == {"a": "nobody"}


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another uid")
def test_state_folder_of_somebody_else(repo: Repo, tmp_path_factory: pytest.TempPathFactory) -> None:
    """As an unprivileged user, since root ignores modes."""
    repo.start("S1")
    base = tmp_path_factory.getbasetemp()
    for folder in [repo.root, *repo.root.parents]:
        if folder == base.parent or base in [folder, *folder.parents]:
            folder.chmod(0o755)
        elif not folder.stat().st_mode & 0o001:
            pytest.skip("another uid cannot reach the temporary folder")
    pid = os.fork()
    if pid == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            done = repo.run(
                "hook",
                "generic",
                stdin=payloads.encode(payloads.edit("S1", str(repo.root), "a", TEN, changed())),
            )
            warned = done.err.startswith(b"warning: ")
            os._exit(0 if (done.code, done.out) == (0, b"") and warned else 1)
        finally:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0


def test_dead_hooks_are_warned_of(repo: Repo) -> None:
    """Files changed and nothing was recorded: the commit says so."""
    repo.start("S9")
    record = repo.state / "S9.json"
    record.write_text(re.sub(r'"started": "[^"]*"', '"started": "2001-01-01T00:00:00Z"', record.read_text()))
    repo.write("u", "changed\n")
    said = repo.ralph("commit", "--session", "S9", "-m", "x").said
    assert said.startswith(
        "warning: session 'session-1' recorded no edit since 2001-01-01T00:00:00Z, yet 'u' changed"
    )
    assert "its hooks may be dead: git ralph doctor" in said


def test_state_is_private_whatever_the_umask(repo: Repo) -> None:
    before = os.umask(0)
    try:
        repo.edit("S1", "a", changed())
        repo.write("b", changed())
        repo.ralph("track", "--session", "S1", "b")
        repo.commit("S1")
    finally:
        os.umask(before)
    for path in [repo.state, *repo.state.rglob("*")]:
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path

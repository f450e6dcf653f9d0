"""Commits that stand alone: a command on the commit's own tree decides, not the shared directory."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support import runner
from tests.support.repo import Repo
from tests.support.runner import wait_for

MAIN = ". ./lib.sh\nanswer\n"
LIB = "answer() {\n  echo 42; }\n"


@pytest.fixture
def two(repo: Repo) -> Repo:
    """S1's code calls a function that S2 has not committed."""
    repo.edit("S2", "lib.sh", LIB)
    repo.edit("S1", "main.sh", MAIN)
    return repo


def counting(tmp_path: Path, command: str) -> tuple[str, Path]:
    """A command that counts its runs in a file outside the repository."""
    log = tmp_path / "runs"
    return f"echo run >> {log}; {command}", log


def runs(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_what_passes_in_the_directory_only_is_not_committed(two: Repo) -> None:
    """The tests pass where both work, the commit's own tree fails: exit 1, nothing committed."""
    subprocess.run(["sh", "main.sh"], cwd=two.root, check=True, capture_output=True)
    head = two.head()
    found = two.commit("S1", "--prove", "sh main.sh", code=1)
    assert found.status == "refused"
    assert found.document["proof"]["ok"] is False
    assert isinstance(found.document["proof"]["seconds"], float)
    assert "./lib.sh" in found.said
    assert (two.head(), two.pending("S1")) == (head, ["main.sh"])
    said = two.ralph("commit", "--session", "S1", "--prove", "sh main.sh", code=1)
    assert said.out == b""
    assert "'sh main.sh' failed with 2 on the commit's own tree" in said.said


def test_what_stands_alone_is_committed_and_the_second_time_costs_nothing(two: Repo, tmp_path: Path) -> None:
    """Success is remembered by tree and command; another command, folder or tree is proved anew."""
    command, log = counting(tmp_path, "sh main.sh")
    two.commit("S2")
    assert two.ralph("commit", "--session", "S1", "--dry-run", "--prove", command, "--json").json()["proof"][
        "ok"
    ]
    assert runs(log) == 1
    found = two.commit("S1", "--prove", command)
    assert found.document["proof"] == {"ok": True, "cached": True, "seconds": 0.0}
    assert (runs(log), two.changes()) == (1, {"main.sh": "A"})
    two.ralph("prove", "HEAD", "--", "/bin/sh", "-c", command)
    assert runs(log) == 1
    two.ralph("prove", "HEAD", "--", "/bin/sh", "-c", command + " ")
    assert runs(log) == 2
    two.edit("S1", "main.sh", MAIN + "#\n")
    two.commit("S1", "--prove", command)
    assert runs(log) == 3


def test_a_failure_is_never_remembered(repo: Repo, tmp_path: Path) -> None:
    """Its cause may lie outside the tree."""
    repo.edit("S1", "a", "1\n")
    command = f"test -e {tmp_path}/server"
    repo.commit("S1", "--prove", command, code=1)
    (tmp_path / "server").touch()
    assert repo.commit("S1", "--prove", command).status == "committed"


def test_the_proof_is_warm(repo: Repo, tmp_path: Path) -> None:
    """Only changed files are written; what git ignores stays, what it does not ignore goes."""
    repo.write(".gitignore", "cache/\n")
    repo.commit_all("ignore")
    log = tmp_path / "log"
    command = (
        f"stat -c '%n %y' b >> {log}; ls cache left 2>/dev/null >> {log}; mkdir -p cache; touch cache/x left;"
        f" cat a >> {log}"
    )
    for text in ("1\n", "2\n"):
        repo.edit("S1", "a", text)
        repo.commit("S1", "--prove", command)
    rows = log.read_text().splitlines()
    assert rows[1] == "1"
    assert rows[2] == rows[0]
    assert rows[3:] == ["cache:", "x", "2"]
    assert repo.git("status", "--porcelain") == ""


def test_two_versions_of_a_line_within_a_second_are_told_apart(repo: Repo) -> None:
    """Python takes byte code for a source of the same size and second."""
    repo.write(".gitignore", "__pycache__/\n")
    repo.write("lib.py", "x = 1\n")
    repo.write("main.py", "import lib\nraise SystemExit(lib.x != 1)\n")
    repo.commit_all("code")
    check = ("prove", "HEAD", "--", "python3", "main.py")
    for _ in range(2):
        repo.ralph(*check)
        repo.edit("S1", "lib.py", "x = 2\n")
        repo.commit("S1", "-m", "two")
        repo.ralph(*check, code=1)
        repo.edit("S1", "lib.py", "x = 1\n")
        repo.commit("S1", "-m", "one")
        for file in (repo.state / "proofs").iterdir():
            file.unlink()


@pytest.mark.parametrize("mark", ["skip-worktree", "assume-unchanged"])
def test_what_a_command_hides_from_git_is_not_in_the_next_proof(repo: Repo, mark: str) -> None:
    """Build scripts do that, for settings of their own."""
    hide = f"git update-index --{mark} a && echo local > a"
    repo.ralph("prove", "HEAD", "--", "sh", "-c", hide)
    repo.ralph("prove", "HEAD", "--", "grep", "local", "a", code=1)


def test_it_runs_in_the_callers_folder_with_the_callers_worktree_out_of_reach(repo: Repo) -> None:
    """After the hooks, on the final tree; from a linked worktree too."""
    repo.edit("S1", "d/a", "1\n")
    check = 'test "$(basename "$PWD")" = d && test "$(cat a)" = 1 && test -z "$GIT_DIR$GIT_INDEX_FILE"'
    repo.ralph("commit", "--session", "S1", "-m", "x", "--prove", check, cwd="d")
    there = repo.worktree("there")
    there.edit("S2", "d/a", "2\n")
    there.ralph("commit", "--session", "S2", "-m", "x", "--prove", "test $(cat d/a) = 2")
    there.edit("S2", "d/a", "3\n")
    there.write("new/x", "")
    said = there.ralph("commit", "--session", "S2", "--prove", "true", code=1, cwd="new")
    assert "the commit has no folder 'new'" in said.said


def test_the_first_commit_is_proved(empty_repo: Repo) -> None:
    """An unborn branch has no commit for HEAD to name."""
    empty_repo.edit("S1", "a", "1\n")
    empty_repo.commit("S1", "--prove", "test $(cat b) = 1", code=1)
    empty_repo.commit("S1", "--prove", "test $(cat a) = 1 && ! git rev-parse -q --verify HEAD")
    empty_repo.edit("S1", "a", "2\n")
    empty_repo.commit("S1", "--prove", "test $(cat a) = 2 && git rev-parse -q --verify HEAD")
    assert empty_repo.git("rev-list", "--all").split() == empty_repo.git("rev-list", "HEAD").split()


def test_the_hooks_come_first_and_no_verify_does_not_skip_the_proof(repo: Repo) -> None:
    """The proof sees what a formatter made of the lines."""
    hook = repo.common / "hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nsed -i s/mine/MINE/ a && git add a\n")
    hook.chmod(0o755)
    repo.edit("S1", "a", "mine\n")
    repo.commit("S1", "--no-verify", "--prove", "grep MINE a", code=1)
    repo.commit("S1", "--prove", "grep MINE a", checked=False)
    assert repo.blob("a") == b"MINE\n"


def test_the_command_can_be_configured_and_left_out(repo: Repo) -> None:
    """``ralph.prove``; ``--no-prove`` and ``--prove`` beat it."""
    repo.git("config", "ralph.prove", "false")
    repo.edit("S1", "a", "1\n")
    repo.commit("S1", code=1)
    repo.commit("S1", "--prove", "true")
    repo.edit("S1", "a", "2\n")
    assert "proof" not in repo.commit("S1", "--no-prove").document
    repo.ralph("commit", "--session", "S1", "--prove", "x", "--no-prove", code=129)
    repo.ralph("commit", "--session", "S1", "--prove", " ", code=129)
    repo.git("config", "--unset", "ralph.prove")
    repo.ralph("commit", "--session", "S1", "--explain", code=129)


def test_head_that_moves_during_the_proof_is_proved_again(repo: Repo, tmp_path: Path) -> None:
    """What lands is what was proved, on the HEAD it lands on."""
    repo.edit("S1", "a", "1\n")
    log, marker = tmp_path / "log", tmp_path / "marker"
    move = (
        f"git -C {repo.root} commit -q --allow-empty -m other &&"
        f" git -C {repo.root} commit-tree -p HEAD -m x HEAD^{{tree}} > /dev/null;"
        f" cd {repo.root} && echo theirs > t && git add t && git commit -qm theirs"
    )
    check = f"git ls-files t >> {log}; test -e {marker} || {{ touch {marker}; {move}; }}"
    repo.commit("S1", "--prove", check, checked=False)
    assert log.read_text() == "t\n"
    assert repo.changes() == {"a": "M"}
    assert repo.git("log", "-1", "--format=%s", "HEAD^") == "theirs"


def test_proofs_at_once_use_a_pool_and_nobody_is_busy(repo: Repo) -> None:
    """Three commits at once, each in a worktree of its own; all land on top of each other."""
    for name in ("S1", "S2", "S3"):
        repo.edit(name, name, "1\n")
    children = [
        subprocess.Popen(
            [*runner.COMMAND, "commit", "--session", name, "-m", name, "--prove", f"sleep 1; test -e {name}"],
            cwd=repo.root,
            env=repo.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ("S1", "S2", "S3")
    ]
    assert [child.communicate() and child.returncode for child in children] == [0, 0, 0]
    assert sorted(repo.git("log", "-3", "--format=%s").split()) == ["S1", "S2", "S3"]
    named = [row for row in repo.git("worktree", "list", "--porcelain").split("\n") if "/prove/" in row]
    assert len(named) > 1
    assert repo.git("worktree", "list", "--porcelain").count("locked git ralph runs commands here") == len(
        named
    )
    assert repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""


def test_ctrl_c_stops_the_proof_and_all_it_started(repo: Repo, tmp_path: Path) -> None:
    """Nothing is committed, and the next proof is not disturbed."""
    pid = tmp_path / "pid"
    repo.edit("S1", "a", "1\n")
    for how in (signal.SIGINT, signal.SIGTERM):
        pid.unlink(missing_ok=True)
        child = subprocess.Popen(
            [*runner.COMMAND, "commit", "--session", "S1", "--prove", f"(sleep 300 & echo $! > {pid}; wait)"],
            cwd=repo.root,
            env=repo.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while not (pid.exists() and pid.read_text().strip()):
            assert child.poll() is None, child.communicate()
            time.sleep(0.02)
        child.send_signal(how)
        out, _ = child.communicate(timeout=runner.PATIENCE)
        assert (child.returncode, out) == (130, b"")
        runner.wait_until_gone(pid.read_text().strip())
    assert repo.commit("S1", "--prove", "true").status == "committed"


def test_a_proof_that_a_killed_commit_left_at_work_is_stopped_by_the_next(repo: Repo, tmp_path: Path) -> None:
    """It would write into the worktree of the next."""
    pid = tmp_path / "pid"
    repo.edit("S1", "a", "1\n")
    child = subprocess.Popen(
        [*runner.COMMAND, "commit", "--session", "S1", "--prove", f"echo $$ > {pid}; exec sleep 300"],
        cwd=repo.root,
        env=repo.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert wait_for(lambda: pid.exists() and pid.read_text().strip())
    child.kill()
    child.wait()
    repo.commit("S1", "--prove", f"! test -e /proc/{pid.read_text().strip()}/cwd", checked=False)
    assert repo.pending("S1") == []


def test_a_command_that_takes_the_git_folder_away_harms_nobody(repo: Repo) -> None:
    """git would find the user's repository around the worktree."""
    repo.write("b", "staged\n")
    repo.git("add", "b")
    repo.edit("S1", "a", "1\n")
    index = (repo.root / ".git/index").read_bytes()
    repo.ralph("commit", "--session", "S1", "--dry-run", "--prove", "rm -rf .git *")
    assert (repo.root / ".git/index").read_bytes() == index
    repo.commit("S1", "--prove", "test $(cat a) = 1 && git status")
    assert repo.staged().count("diff --git") == 1


def test_a_submodule_is_there_when_it_is_initialised(repo: Repo, make_repo: object) -> None:
    """As a checkout would have it: empty until then, and no network."""
    other: Repo = make_repo("other")  # type: ignore[operator]
    other.write("lib", "1\n")
    other.commit_all("lib")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    repo.commit_all("submodule")
    config = repo.root / ".git/config"
    before = config.read_bytes()
    repo.ralph("prove", "HEAD", "--", "test", "-e", "sub/lib")
    assert config.read_bytes() == before
    repo.git("submodule", "--quiet", "deinit", "-f", "sub")
    repo.ralph("prove", "HEAD", "--", "sh", "-c", "test -d sub && ! test -e sub/lib")


def test_the_worktree_can_be_outside_of_every_git_folder(repo: Repo, tmp_path: Path) -> None:
    """Jest sees no test below a `.git`, and says that there is none; two repositories may share the place."""
    repo.edit("S1", "a", "1\n")
    check = 'case "$PWD" in */.git/*) echo "No tests found"; exit 1;; esac; test "$(cat a)" = 1'
    said = repo.ralph("commit", "--session", "S1", "-m", "x", "--prove", check, code=1).said
    assert "git config ralph.proofFolder ~/.cache/gitralph" in said
    place = Path(repo.env["HOME"]) / ".cache/gitralph"
    repo.git("config", "ralph.proofFolder", "~/.cache/gitralph")
    repo.commit("S1", "--prove", check)
    (proof,) = place.glob("*/prove/*/a")
    assert str(proof.parent) in repo.git("worktree", "list")
    repo.ralph("gc")
    assert not list(place.glob("*/prove/*/a"))


@pytest.mark.parametrize("given", ["here", "{root}", "{root}/build"])
def test_a_place_in_the_working_tree_is_none_for_proofs(repo: Repo, given: str) -> None:
    repo.git("config", "ralph.proofFolder", given.format(root=repo.root))
    repo.edit("S1", "a", "1\n")
    said = repo.ralph("commit", "--session", "S1", "-m", "x", "--prove", "true", code=128).said
    assert "for 'ralph.proofFolder'" in said


def test_a_range_is_proved_commit_by_commit(repo: Repo, tmp_path: Path) -> None:
    """A table; exit 1 where one fails; results cached by tree."""
    base = repo.head()
    for number in ("1", "2", "3"):
        repo.write("n", number)
        repo.commit_all(f"number {number}")
    command, log = counting(tmp_path, "test $(cat n) != 2")
    words = ("prove", f"{base}..HEAD", "--", "sh", "-c", command)
    said = repo.ralph(*words, code=1)
    rows = [row.split() for row in said.text.splitlines()]
    assert [(row[0], row[1]) for row in rows] == [
        (oid[:10], how)
        for oid, how in zip(
            repo.git("rev-list", "--reverse", f"{base}..").split(), ["passes", "FAILS", "passes"], strict=True
        )
    ]
    found = repo.ralph("prove", "--json", *words[1:], code=1).json()
    assert [(row["ok"], row["cached"]) for row in found] == [(True, True), (False, False), (True, True)]
    assert set(found[0]) == {"commit", "tree", "sessions", "names", "ok", "cached", "seconds"}
    assert runs(log) == 4
    assert repo.ralph("prove", "--json", "HEAD", "--", "true").json()[0]["commit"] == repo.head()
    repo.ralph("prove", "nosuch", "--", "true", code=128)
    repo.ralph("prove", "--all", "--", "true", code=129)
    repo.ralph("prove", "HEAD", code=129)


def test_without_a_range_the_unpushed_commits_are_proved(repo: Repo, tmp_path: Path) -> None:
    """Against the upstream, else every remote; without a remote all of them."""
    assert len(repo.ralph("prove", "--json", "--", "true").json()) == 1
    repo.git("init", "-q", "--bare", str(tmp_path / "remote"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote"))
    repo.git("push", "-q", "origin", "main")
    assert repo.ralph("prove", "--json", "--", "true").json() == []
    repo.write("a", "1\n")
    repo.commit_all("mine")
    assert [row["commit"] for row in repo.ralph("prove", "--json", "--", "true").json()] == [repo.head()]


def test_explain_names_the_lines_it_needs_and_whose_they_are(two: Repo) -> None:
    """By putting others' lines back; what it names is what to wait for."""
    two.edit("S3", "b", "unrelated\n")
    found = two.commit("S1", "--prove", "sh main.sh", "--explain", code=1)
    needs = found.document["proof"]["needs"]
    assert needs == [{"path": "lib.sh", "lines": [1, 2], "sessions": ["S2"]}]
    assert f"it needs 'lib.sh' lines 1-2 of session '{two.called('S2')}'" in found.said
    assert f"git ralph commit --session {two.called('S2')}" in found.said


def test_explain_blames_nobody_where_all_of_them_do_not_help(two: Repo) -> None:
    found = two.commit("S1", "--prove", "false", "--explain", code=1)
    assert found.document["proof"]["needs"] == []
    assert "no uncommitted change of others makes it pass" in found.said


def test_explain_says_that_head_is_red_already(two: Repo) -> None:
    two.write("broken", "x\n")
    two.commit_all("broken")
    two.edit("S3", "c", "c\n")
    found = two.commit("S3", "--prove", "test ! -e broken", "--explain", code=1)
    assert f"HEAD {two.head()[:7]} fails already, without this commit" in found.said
    two.edit("S4", "zz", "d\n")
    fine = two.commit("S4", "--prove", "test ! -e zz", "--explain", code=1)
    assert "fails already" not in fine.said
    odd = two.commit("S4", "--prove", "test -e gone", "--explain", code=1)
    assert odd.said.index("fails already") < odd.said.index("no uncommitted change of others")


def test_explain_tests_the_first_commit_without_a_head(empty_repo: Repo) -> None:
    empty_repo.edit("S1", "a", "a\n")
    found = empty_repo.commit("S1", "--prove", "false", "--explain", code=1)
    assert "HEAD" not in found.said


def test_a_proof_names_the_sessions_of_a_commit(repo: Repo) -> None:
    repo.edit("S1", "a", "a\n")
    repo.commit("S1")
    (row,) = repo.ralph("prove", "--json", "HEAD", "--", "true").json()
    assert (row["sessions"], row["names"]) == (["S1"], [repo.called("S1")])
    repo.write("b", "b\n")
    repo.commit_all("a person's")
    (row,) = repo.ralph("prove", "--json", "HEAD", "--", "true").json()
    assert (row["sessions"], row["names"]) == ([], [])


def test_explain_names_what_nobody_recorded(repo: Repo) -> None:
    """A file that a shell made is nobody's, and can be claimed."""
    repo.write("lib.sh", LIB)
    repo.edit("S1", "main.sh", MAIN)
    found = repo.commit("S1", "--prove", "sh main.sh", "--explain", code=1)
    assert "'lib.sh' lines 1-2, which nobody recorded" in found.said
    repo.ralph("assign", "--to", "S1", "--", "lib.sh")
    assert repo.commit("S1", "--prove", "sh main.sh").paths == {"lib.sh": "A", "main.sh": "A"}


def forty(repo: Repo, tmp_path: Path, wanted: list[int]) -> tuple[str, Path]:
    """Two sessions write forty lines in turn; the check of a third needs some of them."""
    lines = [f"{n:02}\n" for n in range(40)]
    text = "".join(lines)
    repo.write("shared", text)
    repo.commit_all("forty")
    for number in range(40):
        session = f"S{2 + number % 2}"
        text = text.replace(f"{number:02}\n", f"{number:02} by {session}\n")
        repo.edit(session, "shared", text)
    repo.edit("S1", "mine", "1\n")
    check = " && ".join(f"grep -q '^{number:02} by' shared" for number in wanted)
    return counting(tmp_path, check)


@pytest.mark.parametrize("wanted", [0, 7, 18, 25, 39])
def test_explain_takes_at_most_seven_runs_for_forty_changes(repo: Repo, tmp_path: Path, wanted: int) -> None:
    """Three sessions and forty units: the needed line named in at most log2(n) + 1 runs."""
    command, log = forty(repo, tmp_path, [wanted])
    found = repo.commit("S1", "--prove", command, "--explain", code=1, checked=False)
    assert found.document["proof"]["needs"] == [
        {"path": "shared", "lines": [wanted + 1, wanted + 1], "sessions": [f"S{2 + wanted % 2}"]}
    ]
    assert runs(log) - 1 <= 7


def test_explain_finds_several_lines_of_several_sessions(repo: Repo, tmp_path: Path) -> None:
    command, _ = forty(repo, tmp_path, [4, 11])
    needs = repo.commit("S1", "--prove", command, "--explain", code=1, checked=False).document["proof"][
        "needs"
    ]
    assert [(need["lines"], need["sessions"]) for need in needs] == [([5, 5], ["S2"]), ([12, 12], ["S3"])]


def test_what_is_noted_goes_with_gc_after_a_month(repo: Repo) -> None:
    repo.edit("S1", "a", "1\n")
    repo.commit("S1", "--prove", "true")
    repo.ralph("gc")
    assert len(list((repo.state / "proofs").iterdir())) == 1
    then = time.time() - 40 * 86400
    for path in (repo.state / "proofs").iterdir():
        os.utime(path, (then, then))
    repo.ralph("gc", "--dry-run")
    assert len(list((repo.state / "proofs").iterdir())) == 1
    repo.ralph("gc")
    assert list((repo.state / "proofs").iterdir()) == []


def test_a_worktree_for_proofs_says_how_it_is_taken_away(repo: Repo) -> None:
    """It stands locked in the user's own list of worktrees, for the next proof, until he has it gone."""
    repo.edit("S1", "a", "1\n")
    repo.commit("S1", "--prove", "true")
    (reason,) = (
        row for row in repo.git("worktree", "list", "--porcelain").splitlines() if row.startswith("locked ")
    )
    assert reason.rpartition(": git ")[2].split() == ["ralph", "gc"]
    repo.ralph("gc", "--auto")
    repo.ralph("gc", "--dry-run")
    assert (repo.state / "prove/main-0/a").exists()
    repo.ralph("gc")
    assert not (repo.state / "prove/main-0").exists()
    assert repo.git("worktree", "list").count("\n") == 0
    assert repo.ralph("prove", "--json", "HEAD", "--", "true").json()[0]["ok"]


def test_a_damaged_note_counts_for_nothing(repo: Repo, tmp_path: Path) -> None:
    command, log = counting(tmp_path, "true")
    words = ("prove", "HEAD", "--", "sh", "-c", command)
    repo.ralph(*words)
    note = next((repo.state / "proofs").iterdir())
    whole = json.loads(note.read_text())
    for text in ("", "{", "[]", json.dumps({**whole, "tree": "0" * 40}), "{" * 9999):
        note.write_text(text)
        before = runs(log)
        repo.ralph(*words)
        assert runs(log) == before + 1


def test_a_refusal_names_the_session_by_its_id(two: Repo) -> None:
    """Whether it was named, by its short name, or not at all."""
    for words in ((), ("--session", two.called("S1"))):
        done = two.run("commit", "--prove", "false", "-m", "x", "--json", *words, env={"RALPH_SESSION": "S1"})
        found = done.json()
        assert (done.code, found["status"], found["proof"]["ok"]) == (1, "refused", False)
        assert (found["session"], found["name"]) == ("S1", two.called("S1"))

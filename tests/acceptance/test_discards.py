"""An agent's shell command that would throw away uncommitted lines of others is denied, and no other one."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import payloads, shells
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo
from tests.support.runner import Done
from tests.support.texts import TEN, changed


def ask(repo: Repo, command: str, session: str = "S1", cwd: str | None = None, **how: Any) -> Done:
    """Claude Code's event ahead of a shell command."""
    call = f"toolu_{os.urandom(4).hex()}"
    event = shells.event("PreToolUse", session, call, cwd or str(repo.root), command)
    return repo.run("hook", "claude-code", stdin=payloads.encode(event), **how)


def is_denied(done: Done) -> bool:
    """Whether the hook said no; when it did not, it said nothing at all."""
    assert done.out == b""
    assert done.code in (0, 2)
    assert (done.code == 2) == bool(done.err), done.said
    return done.code == 2


@pytest.fixture
def mixed(repo: Repo) -> Repo:
    """Files with what each of S1, S2 and a person has not committed."""
    for path in ("f", "own", "theirs", "person", "staged", "d/theirs", "sub/own", "sub/clean", "w.py"):
        repo.write(path, TEN)
    repo.write(".gitignore", "*.o\n/build/\n")
    repo.commit_all("more")
    repo.git("branch", "side")
    repo.edit("S1", "f", changed(8, "mine"))
    repo.edit("S2", "f", changed(3, "yours", changed(8, "mine")))
    for path in ("own", "sub/own"):
        repo.edit("S1", path, changed(2, "mine"))
    for path in ("theirs", "d/theirs", "w.py"):
        repo.edit("S2", path, changed(2, "yours"))
    repo.write("person", changed(5, "half done"))
    repo.edit("S1", "new/mine", "mine\n")
    repo.edit("S2", "new/theirs", "yours\n")
    repo.write("notes", "a person's\n")
    repo.write("scratch.o", "built\n")
    repo.edit("S1", "staged", changed(4, "mine"))
    repo.git("config", "alias.co", "checkout")
    repo.git("config", "alias.undo-all", "reset --hard")
    repo.git("config", "alias.wipe", "!git clean -fd && git checkout -- .")
    repo.git("config", "alias.st", "status --short")
    repo.git("config", "alias.loop", "pool")
    repo.git("config", "alias.pool", "loop")
    return repo


DENIED = [
    # the ways git throws away
    "git checkout -- f",
    "git checkout .",
    "git checkout -- theirs own",
    "git checkout f",
    "git checkout HEAD -- f",
    "git checkout side -- theirs",
    "git checkout -f",
    "git checkout -qf side",
    "git checkout -f -b another",
    "git restore person",
    "git restore -W -S theirs",
    "git restore --source=HEAD~1 f",
    "git reset --hard side",
    "git restore .",
    "git reset --hard",
    "git reset -q --hard HEAD~1",
    "git stash",
    "git stash push -m wip -- theirs",
    "git stash -k",
    "git stash save later",
    "git stash -u -- notes",
    "git clean -fd",
    "git clean -f",
    "git clean -xdf new",
    "git clean -f -- notes",
    "git switch -f side",
    "git switch --discard-changes side",
    "git rm -f theirs",
    "git rm -rf d",
    "git read-tree -u --reset HEAD",
    "git checkout-index -f -a",
    "rm theirs",
    "rm -rf d",
    "rm -- notes",
    "rm *.py",
    "rm -f {own,person}",
    "/bin/rm -r new",
    # the ways a shell comes to it
    "cd d && git checkout -- theirs",
    "cd d; rm theirs",
    "(cd sub && true); git checkout -- theirs",
    "git -C d checkout theirs",
    "git -C sub/.. -c core.pager=cat restore person",
    "make test || git reset --hard",
    "true\ngit stash\n",
    "echo done; git checkout -- 'theirs'",
    'git checkout -- "theirs"',
    "git checkout -- the\\irs",
    "git \\\n  checkout -- theirs",
    "FOO=1 git checkout -- theirs",
    "env FOO=1 git checkout -- theirs",
    "sh -c 'git checkout -- theirs'",
    'bash -lc "cd d && git restore theirs"',
    "eval 'git reset --hard'",
    "if git diff --quiet; then :; else git checkout .; fi",
    "for x in a b; do git checkout -- theirs; done",
    "echo $(git checkout -- theirs)",
    "echo `git stash`",
    "cat <<EOF\nnothing\nEOF\ngit reset --hard",
    "git checkout -- theirs > /dev/null 2>&1 &",
    "yes | git clean -fd",
    "git add own && git commit -m x && git checkout -- .",
    # aliases
    "git co -- theirs",
    "git undo-all",
    "git wipe",
    "git -c alias.zap='reset --hard' zap",
]

PASSED = [
    # only its own lines, or none
    "git checkout -- own",
    "git checkout own",
    "git restore own sub/own",
    "git checkout HEAD -- own",
    "cd sub && git checkout .",
    "git -C sub restore .",
    "git stash push -- own",
    "rm own",
    "rm -rf sub",
    "rm new/mine",
    "git rm -f own",
    "git checkout -- a b",
    "git restore sub/clean",
    "git rm a",
    "rm a",
    "git checkout HEAD~1 person",
    "git checkout HEAD -- new",
    "git clean -fd -- sub",
    # nothing is thrown away
    "git status",
    "git st",
    "git diff HEAD -- theirs",
    "git checkout side",
    "git switch side",
    "git checkout -b another",
    "git reset",
    "git reset HEAD~1",
    "git reset --soft HEAD~1",
    "git reset -- theirs",
    "git restore --staged theirs",
    "git stash list",
    "git stash pop",
    "git stash show -p",
    "git clean -n",
    "git clean -fdn",
    "git clean",
    "git rm --cached theirs",
    "git rm -n theirs",
    "git worktree list",
    "git commit -m 'reset --hard'",
    "git log --grep checkout",
    "git ralph undo",
    "rm scratch.o",
    "git clean -fX",
    # other places
    "rm -rf /tmp/nothing-there-of-mine",
    "cd / && git reset --hard",
    "cd /nowhere/at/all && rm theirs",
    "rm d",
    "rm no-such-file",
    "git checkout -- no-such-file",
    # words that are no commands
    "echo git checkout -- theirs",
    "echo 'git reset --hard' > out.o",
    "cat > plan.o <<'EOF'\ngit reset --hard\nrm -rf d\nEOF",
    "grep -rn 'git stash' .",
    "# git reset --hard",
    "true # git stash",
    "command -v rm theirs",
    # what it cannot read
    "git checkout -- $FILE",
    'rm "$(cat list)"',
    "cd $DIR && git checkout .",
    "cd - && git reset --hard",
    "GIT_DIR=/elsewhere/.git git reset --hard",
    "git --git-dir=/elsewhere/.git --work-tree=. checkout -f",
    "bash script.sh",
    "xargs rm < list",
    "git checkout -p",
    "git loop",
    "git checkout -- 'theirs",
    "$(echo git) reset --hard",
]


def test_the_tables_are_large_enough() -> None:
    assert len(DENIED) + len(PASSED) >= 60
    assert len(PASSED) * 2 >= len(DENIED) + len(PASSED)


def worked_out(repo: Repo) -> dict[str, str]:
    """What is uncommitted, as git tells it."""
    said = repo.git("status", "--porcelain", "--untracked-files=all")
    return {row[3:]: row[:2] for row in said.splitlines()}


def test_which_commands_are_denied(mixed: Repo) -> None:
    """All of them in one repository: a hook changes nothing but its own state."""
    before, head = worked_out(mixed), mixed.head()
    wrong = [one for one in DENIED if not is_denied(ask(mixed, one))]
    wrong += [one for one in PASSED if is_denied(ask(mixed, one))]
    assert wrong == []
    assert (worked_out(mixed), mixed.head()) == (before, head)


OF_OTHERS = {
    "f": b"yours",
    "theirs": b"yours",
    "d/theirs": b"yours",
    "w.py": b"yours",
    "person": b"half done",
    "new/theirs": b"yours",
    "notes": b"a person's",
}


def lost_by(mixed: Repo, command: str) -> list[str]:
    """The judge is a shell: which paths lost a line of S2 or of the person when a copy ran the command."""
    copy = mixed.root.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(mixed.root, copy, symlinks=True)
    env = {**with_tool_on_path(mixed.env), "RALPH_SESSION": "S1"}
    words = ["bash", "-c", f"{command}\nwait"]
    subprocess.run(words, cwd=copy, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    there = {path: copy / path for path in OF_OTHERS}
    return [p for p, file in there.items() if not file.exists() or OF_OTHERS[p] not in file.read_bytes()]


def test_what_is_denied_would_have_lost_lines_of_others(mixed: Repo) -> None:
    assert [one for one in DENIED if not lost_by(mixed, one)] == []


# What cannot be read passes, whatever it does.
_UNREAD = ("$(", "cd -", 'rm "$(')


def test_what_passes_loses_nothing_of_others(mixed: Repo) -> None:
    assert [one for one in PASSED if not one.startswith(_UNREAD) and lost_by(mixed, one)] == []


def test_whose_lines_how_many_and_what_to_do_instead(mixed: Repo) -> None:
    done = ask(mixed, "git checkout -- f person")
    theirs, mine = mixed.called("S2"), mixed.called("S1")
    assert "error: 'git checkout' would throw away uncommitted work of others" in done.said
    assert f"2 lines of session '{theirs}' in 'f'" in done.said
    assert "2 lines that no session recorded in 'person'" in done.said
    hints = [row.removeprefix("hint: ") for row in done.said.splitlines() if row.startswith("hint: ")]
    assert hints[0].startswith(f"git ralph undo --session {mine} -- f  #")
    env = {**with_tool_on_path(mixed.env), "RALPH_SESSION": "S1"}
    for hint in hints:
        subprocess.run(hint, shell=True, cwd=mixed.root, env=env, check=True, capture_output=True)
    assert mixed.read("f") == changed(3, "yours").encode()
    assert mixed.read("person") == changed(5, "half done").encode()


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("git checkout -- own theirs", "undo --session {} -- own"),
        ("git checkout -- theirs", None),
        ("git clean -fd new", "undo --session {} -- new/mine"),
        ("git stash -- theirs", None),
        ("git reset --hard", "undo --session {}"),
    ],
)
def test_only_what_the_session_would_lose_is_offered(mixed: Repo, command: str, own: str | None) -> None:
    """The hint named the paths of others, in which undo finds nothing, and not the session's."""
    said = ask(mixed, command).said
    found = [row.partition("  #")[0] for row in said.splitlines() if "only your own lines" in row]
    assert found == ([] if own is None else [f"hint: git ralph {own.format(mixed.called('S1'))}"])


def test_a_stash_is_sent_to_commit(mixed: Repo) -> None:
    said = ask(mixed, "git stash").said
    hint = next(row for row in said.splitlines() if row.startswith("hint: git ralph commit"))
    env = {**with_tool_on_path(mixed.env), "RALPH_SESSION": "S1"}
    command = hint.removeprefix("hint: ").replace("  #", " -m x  #")
    subprocess.run(command, shell=True, cwd=mixed.root, env=env, check=True, capture_output=True)
    assert mixed.blob("f").decode() == changed(8, "mine")


def test_what_is_denied_is_logged_by_its_kind(mixed: Repo) -> None:
    ask(mixed, "git checkout -- theirs # my secret")
    ask(mixed, "rm -f theirs")
    log = (mixed.state / "hooks.log").read_text()
    assert f"denied 'git checkout' of session '{mixed.called('S1')}': others' lines in 1 path" in log
    assert "denied 'rm'" in log
    assert "secret" not in log
    for file in mixed.state.rglob("*"):
        assert not file.is_file() or b"secret" not in file.read_bytes(), file


def test_no_window_opens_for_what_is_denied(mixed: Repo) -> None:
    shell = shells.Shell(mixed, "S1", "git stash", "call-1")
    event = shells.event("PreToolUse", "S1", "call-1", str(mixed.root), shell.command)
    assert is_denied(mixed.run("hook", "claude-code", stdin=payloads.encode(event)))
    assert list(mixed.state.glob("calls/S1/shell-*")) == []
    assert not is_denied(ask(mixed, "git stash list"))
    assert len(list(mixed.state.glob("calls/S1/shell-*[!s]"))) == 1  # its texts lie beside it


def test_warn_and_off(mixed: Repo) -> None:
    mixed.git("config", "ralph.discard", "warn")
    done = ask(mixed, "git checkout -- theirs")
    assert (done.code, done.err) == (0, b"")
    said = done.json()["hookSpecificOutput"]["additionalContext"]
    assert "would throw away uncommitted work of others" in said
    assert "\n" not in said
    assert "warned of 'git checkout'" in (mixed.state / "hooks.log").read_text()
    mixed.git("config", "ralph.discard", "off")
    assert not is_denied(ask(mixed, "git checkout -- theirs"))
    mixed.git("config", "ralph.discard", "nope")
    assert is_denied(ask(mixed, "git checkout -- theirs"))
    assert "bad value 'nope' for 'ralph.discard'" in (mixed.state / "hooks.log").read_text()


def test_never_where_nothing_is_recorded_of_the_agent(mixed: Repo) -> None:
    assert not is_denied(ask(mixed, "git reset --hard", env={"RALPH_TRACKING": "0"}))


def test_what_the_session_itself_made_by_its_shell_is_its_own(repo: Repo) -> None:
    shells.run(repo, "S1", "echo made > made.txt; sed -i s/3/three/ a")
    for command in ("rm made.txt", "git checkout -- a", "git reset --hard && git clean -fd"):
        shell = shells.Shell(repo, "S1", command).begin()
        shell.end()
    repo.write("b", "a person's\n")
    assert is_denied(ask(repo, "git reset --hard"))


def test_what_git_restores_from_the_index_keeps_what_is_staged(mixed: Repo) -> None:
    """`git checkout -- p` gives back the staged text: only what is not staged would go."""
    mixed.git("add", "person", "theirs")
    assert not is_denied(ask(mixed, "git checkout -- person theirs"))
    assert is_denied(ask(mixed, "git checkout HEAD -- person"))
    mixed.write("person", changed(5, "half done", changed(9, "more")))
    assert "2 lines that no session recorded" in ask(mixed, "git checkout -- person").said


def test_a_deletion_is_work_as_well(mixed: Repo) -> None:
    mixed.delete("S2", "e/b")
    assert "10 lines of session" in ask(mixed, "git checkout -- e").said


def test_in_a_linked_worktree(mixed: Repo) -> None:
    linked = mixed.worktree("w")
    linked.write("a", "a person's\n")
    assert is_denied(ask(mixed, f"git -C {linked.root} reset --hard"))
    assert is_denied(ask(mixed, f"cd {linked.root} && git reset --hard"))
    assert is_denied(ask(mixed, f"git worktree remove --force {linked.root}"))
    assert is_denied(ask(mixed, f"rm -rf {linked.root}"))
    linked.git("reset", "--hard")
    assert not is_denied(ask(mixed, f"git -C {linked.root} reset --hard"))
    said = ask(linked, f"git -C {mixed.root} checkout -- theirs").said
    assert f"hint: git -C {mixed.root} ralph status" in said


SHELLS = {
    "codex": ("PreToolUse", "Bash"),
    "gemini": ("BeforeTool", "run_shell_command"),
    "qwen": ("PreToolUse", "run_shell_command"),
    "droid": ("PreToolUse", "Execute"),
    "copilot": ("PreToolUse", "bash"),
    "cursor": ("preToolUse", "Shell"),
    "cursor by its shell event": ("beforeShellExecution", ""),
    "pi": ("tool_call", "bash"),
    "opencode": ("tool.execute.before", "bash"),
}


def of_agent(agent: str, root: str, command: str) -> dict[str, Any]:
    name, tool = SHELLS[agent]
    common = {"session_id": "S1", "cwd": root, "hook_event_name": name}
    given = {"command": command}
    if agent == "copilot":
        return {"sessionId": "S1", "cwd": root, "toolName": tool, "toolArgs": json.dumps(given)}
    if agent == "pi":
        return {**common, "event": {"toolCallId": "c", "toolName": tool, "input": given}}
    if agent == "opencode":
        call = {"tool": tool, "sessionID": "S1", "callID": "c"}
        return {**common, "event": {"input": call, "output": {"args": given}}}
    fields = {"conversation_id": "S1", "workspace_roots": [root]} if agent.startswith("cursor") else {}
    if not tool:
        return {**common, **fields, "command": command}
    return {**common, **fields, "tool_name": tool, "tool_input": given}


@pytest.mark.parametrize("agent", SHELLS)
def test_each_agent_in_its_own_form(mixed: Repo, agent: str) -> None:
    event, agent_name = of_agent(agent, str(mixed.root), "git checkout -- own"), agent.partition(" ")[0]
    assert mixed.run("hook", agent_name, stdin=payloads.encode(event)).code == 0
    event = of_agent(agent, str(mixed.root), "git checkout -- theirs")
    done = mixed.run("hook", agent_name, stdin=payloads.encode(event))
    assert done.code == 2
    assert "would throw away" in done.said
    if agent == "copilot":
        assert done.json()["permissionDecision"] == "deny"
        assert "would throw away" in done.json()["permissionDecisionReason"]
    elif agent_name == "cursor":
        assert done.json()["permission"] == "deny"
        assert "would throw away" in done.json()["agent_message"]
    else:
        assert done.out == b""


HOSTILE = [
    "git reset --hard " + "x" * (3 << 20),
    "rm " + "'" * 99_999,
    "git checkout -- \0theirs",
    "(" * 5_000 + "git stash",
    "$(" * 5_000 + "rm theirs" + ")" * 5_000,
    "`" * 4_001 + "rm",
    "rm {" + ",".join("ab" * 2_000) + "}" * 3,
    "rm " + "{a,b}" * 40,
    "git loop theirs && git clean -" + "f" * 9_999 + "n",
    "sh -c '" * 60 + "rm theirs",
    "git -C " * 4_000 + "reset --hard",
    "git " + "-C " * 99_999 + "!",
    "git -C " * 99_999,
    "git" * 99_999,
    "rm \udcff\udcfe",
    "git checkout " + "-- " * 20_000,
    "cat <<A <<B <<C\nrm theirs",
    "rm \\",
    "git stash <<",
    "2>",
    "git restore -s",
    "git worktree remove -f",
    "git -c",
    "env",
    "timeout -k",
]


@pytest.mark.parametrize("command", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_command_lines_pass(mixed: Repo, command: str) -> None:
    begun = time.monotonic()
    assert not is_denied(ask(mixed, command))
    assert time.monotonic() - begun < 10


def test_what_passes_unread_is_logged(mixed: Repo) -> None:
    for command in ("rm 'theirs", "rm \0theirs", "rm " + "y" * (1 << 20)):
        ask(mixed, command)
    log = (mixed.state / "hooks.log").read_text()
    assert log.count("a command was let pass") == 3
    assert "yyy" not in log
    assert "theirs" not in log


def test_no_permission_passes(mixed: Repo) -> None:
    if os.geteuid() == 0:
        (mixed.state / "format").write_text("99\n")
    else:
        mixed.state.chmod(0)
    assert ask(mixed, "git checkout -- theirs").code == 0


def _husky(repo: Repo) -> None:
    """Hooks as husky 9 has them, then the guard in them, then ``npm install``, which writes them anew."""
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"):
        repo.write(f".husky/_/{name}", '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n')
        (repo.root / ".husky/_" / name).chmod(0o755)
    repo.write(".husky/_/h", "exit 0\n")
    repo.write(".husky/_/.gitignore", "*\n")
    repo.git("config", "core.hooksPath", ".husky/_")
    kept = {path: path.read_bytes() for path in (repo.root / ".husky/_").iterdir()}
    repo.ralph("install", "--guard=narrow")
    assert not is_denied(ask(repo, "git add -A && git commit -m x"))
    for path, data in kept.items():
        path.write_bytes(data)


HERE = "git add -A && git commit -m \"$(cat <<'X'\nwords of $5\n\nX\n)\""


@pytest.mark.parametrize(
    "command",
    [
        "git add -A && git commit -m x",
        HERE,
        "git commit -am 'git ralph commit'",
        "git commit -m x f",
        "cd sub && git add .. && git ci -m x",
        "npm test && git -C . commit -a --amend --no-edit -Spatch",
        'git stage f; git commit -m "for $USER"',
        'git commit -m x "$FILES"',
    ],
)
def test_a_plain_commit_is_denied_where_the_guard_was_taken_away(mixed: Repo, command: str) -> None:
    """An agent is told why, and both commands that it is given work."""
    mixed.git("config", "alias.ci", "commit")
    _husky(mixed)
    done = ask(mixed, command)
    assert is_denied(done)
    assert "is the guard's any more" in done.said
    assert "of session 'generic-2' in 'f'" in done.said
    assert "ralph commit --session generic-1" in done.said
    assert "ralph install --guard=narrow" in done.said
    assert not is_denied(ask(mixed, f"git ralph install --guard=narrow && {command}"))
    mixed.ralph("install", "--guard=narrow")
    assert not is_denied(ask(mixed, command))


@pytest.mark.parametrize(
    "command",
    [
        "git ralph commit -m x",
        "git commit -m x own",
        "git commit -m x",
        "git add own && git commit -m x",
        "git add -n . && git commit -m x",
        "git commit -a --dry-run",
        "git commit -an -m x",
        "git commit -a --help",
        "git -c core.hooksPath=.g commit -am x",
        "git -C / commit -am x",
        "echo commit -a",
    ],
)
def test_what_takes_nothing_of_others_passes_without_the_guard(mixed: Repo, command: str) -> None:
    _husky(mixed)
    assert not is_denied(ask(mixed, command))


@pytest.mark.parametrize("command", ["git commit -m x", "git commit -m x -i own", "git commit --amend"])
def test_what_somebody_else_has_staged_is_seen_without_the_guard(mixed: Repo, command: str) -> None:
    mixed.git("add", "theirs")
    _husky(mixed)
    done = ask(mixed, command)
    assert is_denied(done)
    assert "in 'theirs'" in done.said
    assert "in 'f'" not in done.said
    assert not is_denied(ask(mixed, "git commit -m x own"))


@pytest.mark.parametrize("mode", ["", "warn", "off", "global", "environment"])
def test_nobody_who_asked_for_no_guard_here_is_held_up(mixed: Repo, mode: str) -> None:
    env = {"RALPH_GUARD": "off"} if mode == "environment" else {}
    if mode == "global":
        mixed.git("config", "--global", "ralph.guard", "narrow")
    elif mode:
        mixed.git("config", "ralph.guard", mode if not env else "narrow")
    assert not is_denied(ask(mixed, "git add -A && git commit -m x", env=env))


def test_a_commit_passes_where_nobody_else_has_changes_that_it_could_take(repo: Repo) -> None:
    repo.edit("S1", "mine", "mine\n")
    _husky(repo)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "hooks and all")
    repo.edit("S1", "mine", "mine, too\n")
    repo.write("notes", "a person's\n")
    assert not is_denied(ask(repo, "git commit -am x"))
    assert is_denied(ask(repo, "git add -A && git commit -am x"))


def test_what_git_staged_itself_is_concluded_without_the_guard(repo: Repo) -> None:
    """A session alone settles a merge: these lines are the merge's."""
    repo.git("switch", "-qc", "side")
    repo.write("side", "of side\n")
    repo.commit_all("side")
    repo.git("switch", "-q", "main")
    repo.git("config", "ralph.guard", "narrow")
    repo.git("merge", "-q", "--no-commit", "--no-ff", "side")
    assert not is_denied(ask(repo, "git commit --no-edit"))
    repo.git("commit", "-q", "--no-edit")
    repo.write("side", "more\n")
    assert is_denied(ask(repo, "git commit -am x"))


def test_a_new_file_of_another_is_enough_and_discards_have_their_own_setting(repo: Repo) -> None:
    _husky(repo)
    repo.git("config", "ralph.discard", "off")
    repo.edit("S2", "theirs", "yours\n")
    assert is_denied(ask(repo, "git add -A && git commit -m x"))


GENERATED = "#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n"
LEFTHOOK = "#!/bin/sh\ncall_lefthook run pre-commit\n"
DISPATCHER = '#!/bin/sh\nexec "$(git rev-parse --git-common-dir)/hooks/pre-commit"\n'


@pytest.mark.parametrize(
    ("how", "denied"),
    [
        ("no permission", True),
        (GENERATED, False),
        (GENERATED + "another's", True),
        (LEFTHOOK, True),
        (DISPATCHER, False),
        ("husky 8", False),
        ("husky calls", False),
    ],
    ids=["no permission", "pre-commit", "no guard", "lefthook", "dispatcher", "husky 8", "husky calls"],
)
def test_only_who_surely_runs_no_guard_is_taken_for_that(mixed: Repo, how: str, denied: bool) -> None:
    """A hook that nobody knows may run any file: then git's own hooks have the last word."""
    mixed.ralph("install", "--guard=narrow")
    hook = mixed.git_dir / "hooks/pre-commit"
    if how == "no permission":
        hook.chmod(0o644)
    elif how.startswith("husky"):
        calls = "sh .git/hooks/pre-commit\n"
        mixed.write(".husky/pre-commit", calls if how == "husky calls" else hook.read_text())
        _husky(mixed)
    else:
        end = ".old" if how == LEFTHOOK else ".legacy"
        hook.rename(f"{hook}{end}" if not how.endswith("another's") else f"{hook}.somewhere")
        hook.write_text(how)
        hook.chmod(0o755)
    assert is_denied(ask(mixed, "git add -A && git commit -m x")) == denied


# --- repositories inside the worktree ---


@pytest.fixture
def outer(repo: Repo, tmp_path: Path, environ: dict[str, str]) -> Repo:
    """A repository with a submodule `lib`, where S2 and a person have not committed, and a nested `nest`."""
    Repo.of_ten(tmp_path / "source", environ)
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "source"), "lib")
    repo.commit_all("lib")
    nest = Repo.of_ten(repo.root / "nest", environ)
    deep = Repo.of_ten(repo.root / "build/deep/n\u00e9", environ)
    for inner in (Repo(repo.root / "lib", repo.env), nest, deep):
        inner.edit("S2", "a", changed(2, "yours"))
        inner.write("b", changed(5, "half done"))
    repo.edit("S1", "a", changed(2, "mine"))
    return repo


INSIDE = [
    "git submodule update --force",
    "git submodule update --init --recursive -f lib",
    "git submodule -q deinit --all --force",
    "git submodule deinit -f lib",
    "git submodule foreach git reset --hard",
    "git submodule foreach --recursive 'git checkout .'",
    "git reset --hard --recurse-submodules",
    "git checkout -f --recurse-submodules main",
    "git switch -f --recurse-submodules main",
    "git rm -rf lib",
    "cd d && git rm -rf ../lib",
    "git clean -ffdx",
    "git clean --force -fd",
    "git clean -ffdq",
    "git clean -ffd --no-dry-run",
    "git clean -ffd nest",
    "rm -rf nest",
    "rm -rf build",
    "git clean -ffdx build",
]


@pytest.mark.parametrize("command", INSIDE)
def test_what_throws_away_inside_another_repository_is_denied(outer: Repo, command: str) -> None:
    done = ask(outer, command)
    assert is_denied(done)
    assert "of session 'generic-1' in 'a'" in done.said
    assert "that no session recorded in 'b'" in done.said


def test_a_reset_goes_into_submodules_where_the_configuration_says_so(outer: Repo) -> None:
    outer.git("config", "submodule.recurse", "yes")
    assert is_denied(ask(outer, "git reset --hard"))


def test_what_a_hostile_list_of_submodules_names_is_not_looked_at(outer: Repo, tmp_path: Path) -> None:
    """A folder that holds itself, and one of another repository."""
    elsewhere = Repo.of_ten(tmp_path / "elsewhere", outer.env)
    elsewhere.edit("S2", "a", changed(2, "yours"))
    for path in (".", "lib/..", "../elsewhere"):
        outer.git("config", "--file", ".gitmodules", f"submodule.{path}.path", path)
    outer.git("config", "--file", ".gitmodules", "--remove-section", "submodule.lib")
    outer.git("commit", "-qm", "hostile", ".gitmodules")
    assert not is_denied(ask(outer, "git reset --hard --recurse-submodules"))


HARMLESS_INSIDE = [
    "git submodule update",
    "git submodule update --force d",
    "git submodule deinit lib",
    "git submodule status",
    "git submodule foreach git status",
    "git submodule foreach 'git checkout -b x'",
    "git reset --hard",
    "git checkout -f main",
    "git rm -r lib",
    "git clean -fdx",
    "git clean -ffdxn",
    "git reset --hard --no-recurse-submodules",
    "git submodule foreach 'git submodule status'",
]


@pytest.mark.parametrize("command", HARMLESS_INSIDE)
def test_what_leaves_another_repository_as_it_is_passes(outer: Repo, command: str) -> None:
    assert not is_denied(ask(outer, command))

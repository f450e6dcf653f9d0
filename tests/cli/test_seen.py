"""The main screens, whole: what a person and an agent see. ``RALPH_SEEN=update`` writes them anew."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.repo import Repo
from tests.support.seen import seen
from tests.support.texts import changed


@pytest.fixture
def day(repo: Repo) -> Repo:
    """S1 and S2 changed a file both, and each one of its own; the person staged a change."""
    both = changed(8, "by two", changed(2, "by one"))
    repo.edit("S1", "a", changed(2, "by one"))
    repo.edit("S2", "a", both)
    repo.edit("S1", "n", "new\n")
    repo.edit("S2", "b", changed(5, "by two"))
    repo.write("u", changed(1, "by me"))
    repo.git("add", "u")
    return repo


@pytest.fixture
def committed(day: Repo) -> Repo:
    """Both committed what they had."""
    day.commit("S1", "-m", "what one did")
    day.commit("S2", "-m", "what two did")
    return day


@pytest.fixture
def crossed(repo: Repo) -> Repo:
    """S2 changed a line that S1 had changed."""
    repo.edit("S1", "a", changed(3, "one"))
    repo.edit("S2", "a", changed(3, "one and two"))
    return repo


def test_status(day: Repo) -> None:
    seen(
        day,
        """
        $ git ralph status
        generic-1  generic, live, <age>
          M   +1 -1  a  with generic-2
          A   +1     n

        generic-2  generic, live, <age>
          M   +1 -1  a  with generic-1
          M   +1 -1  b

        yours
          M   +1 -1  u
        $ CLAUDE_CODE_SESSION_ID=S1 git ralph status
        generic-1  generic, live, <age>, this session
          M   +1 -1  a  with generic-2
          A   +1     n

        generic-2  generic, live, <age>
          M   +1 -1  a  with generic-1
          M   +1 -1  b

        nobody
          M   +1 -1  u
        """,
    )


def test_status_of_a_clean_tree(repo: Repo) -> None:
    seen(
        repo,
        """
        $ git ralph status
        nothing uncommitted
        $ git ralph ls-files --session S1
        fatal: no session 'S1'; none is recorded here
        hint: git ralph session list
        (exit 128)
        """,
    )


def test_commit(day: Repo) -> None:
    seen(
        day,
        """
        $ git ralph commit --session S1 --dry-run
         2 paths would be committed for session 'generic-1'
         M a
         A n
        $ git ralph commit --session S1 -m 'what one did'
        [main aaaaaaa] what one did
         2 paths committed for session 'generic-1'
         M a
         A n
        $ CLAUDE_CODE_SESSION_ID=S1 git ralph commit -m again
        nothing to commit for session 'generic-1'
        note: 1 changed path that no session recorded: 'u'
        $ git log -1 --format=%B
        what one did

        Ralph-Session: S1
        Ralph-Agent: generic

        $ git status --short
         M a
         M b
        M  u
        """,
    )


def test_a_refused_commit(crossed: Repo) -> None:
    """A person is told of every way, an agent of those with its own lines."""
    seen(
        crossed,
        """
        $ git ralph commit --session S2 -m x
        error: 'a' line 3: entangled: replaces uncommitted lines of session 'generic-1'
        hint: git ralph commit --session generic-1  # lets the other go first
        hint: git ralph commit --session generic-2 --include-entangled -m x  # takes what it is built on
        hint: git ralph commit --session generic-2 --whole-file -m x -- a  # takes it as it stands, whoever changed it
        (exit 4)
        $ CLAUDE_CODE_SESSION_ID=S2 git ralph commit -m x
        error: 'a' line 3: entangled: replaces uncommitted lines of session 'generic-1'
        hint: git ralph commit --session generic-2 --skip-entangled -m x  # leaves it
        (exit 4)
        $ git ralph commit --session S2 --skip-entangled -m x
        nothing to commit for session 'generic-2'
        note: left out: 'a' line 3: entangled: replaces uncommitted lines of session 'generic-1'
        """,
    )


def test_a_refused_commit_of_a_file_that_was_staged(day: Repo) -> None:
    day.git("add", "a")
    seen(
        day,
        """
        $ git ralph commit --session S1 -m x
        [main aaaaaaa] x
         2 paths committed for session 'generic-1'
         M a
         A n
        """,
    )


def test_which_session(day: Repo) -> None:
    seen(
        day,
        """
        $ git ralph commit -m x
        error: more than one session could be meant: 'generic-1', 'generic-2'
        hint: git ralph commit --session generic-1 -m x
        hint: git ralph commit --session generic-2 -m x
        (exit 4)
        $ git ralph commit --session S3 -m x
        fatal: no session 'S3'; the latest: 'generic-2', 'generic-1'
        hint: git ralph session list
        (exit 128)
        """,
    )


def test_a_commit_in_the_middle_of_a_merge(day: Repo) -> None:
    (day.common / "MERGE_HEAD").write_text(day.head() + "\n")
    seen(
        day,
        """
        $ git ralph commit --session S1 -m x
        error: a merge is in progress; nothing was committed
        hint: git status  # how to finish or abort it first
        (exit 4)
        """,
    )


def test_diff(day: Repo) -> None:
    seen(
        day,
        """
        $ git ralph diff --session S1
        diff --git a/a b/a
        index aaaaaaa..bbbbbbb 100644
        --- a/a
        +++ b/a
        @@ -1,5 +1,5 @@
         line 1
        -line 2
        +by one
         line 3
         line 4
         line 5
        diff --git a/n b/n
        new file mode 100644
        index 0000000..ccccccc
        --- /dev/null
        +++ b/n
        @@ -0,0 +1 @@
        +new
        $ git ralph diff --session S2 -- a
        diff --git a/a b/a
        index aaaaaaa..ddddddd 100644
        --- a/a
        +++ b/a
        @@ -5,6 +5,6 @@ line 4
         line 5
         line 6
         line 7
        -line 8
        +by two
         line 9
         line 10
        """,
    )


def test_why(crossed: Repo) -> None:
    seen(
        crossed,
        """
        $ git ralph why a
        YYYY-MM-DDThh:mm:ssZ  pending, session 'generic-1', agent generic, op edit, lines recorded as the agent told them
        YYYY-MM-DDThh:mm:ssZ  pending, session 'generic-2', agent generic, op edit, lines recorded as the agent told them
        $ git ralph why a:3
        line 3: pending, session 'generic-2', agent generic, at YYYY-MM-DDThh:mm:ssZ
        $ git ralph why a:4
        line 4: commit aaaaaaaaaaaa, no session
        """,
    )


def test_blame(committed: Repo) -> None:
    seen(
        committed,
        """
        $ git ralph blame a
        aaaaaaaa A U Thor  YYYY-MM-DD  1) line 1
        bbbbbbbb generic-1 YYYY-MM-DD  2) by one
        aaaaaaaa A U Thor  YYYY-MM-DD  3) line 3
        aaaaaaaa A U Thor  YYYY-MM-DD  4) line 4
        aaaaaaaa A U Thor  YYYY-MM-DD  5) line 5
        aaaaaaaa A U Thor  YYYY-MM-DD  6) line 6
        aaaaaaaa A U Thor  YYYY-MM-DD  7) line 7
        cccccccc generic-2 YYYY-MM-DD  8) by two
        aaaaaaaa A U Thor  YYYY-MM-DD  9) line 9
        aaaaaaaa A U Thor  YYYY-MM-DD 10) line 10
        """,
    )


def test_log(committed: Repo) -> None:
    seen(
        committed,
        """
        $ git ralph log
        YYYY-MM-DD hh:mm:ss  generic-2  edit    b  +1 -1
        YYYY-MM-DD hh:mm:ss  generic-1  create  n  +1 -0
        YYYY-MM-DD hh:mm:ss  generic-2  edit    a  +1 -1
        YYYY-MM-DD hh:mm:ss  generic-1  edit    a  +1 -1
        YYYY-MM-DD hh:mm:ss  generic-2  commit  aaaaaaaa what two did
        YYYY-MM-DD hh:mm:ss  generic-1  commit  bbbbbbbb what one did
        $ git ralph log --session S1 -- n
        YYYY-MM-DD hh:mm:ss  generic-1  create  n  +1 -0
        YYYY-MM-DD hh:mm:ss  generic-1  commit  bbbbbbbb what one did
        """,
    )


def test_report(committed: Repo) -> None:
    seen(
        committed,
        """
        $ git ralph report | text
        repo
        2 sessions · 4 edits · 2 commits · made
        YYYY-MM-DD hh:mm:ss
        , all times in UTC
        Sessions over time
        edits
        commit
        amended or taken back
        refused or failed
        generic-1
        generic · live · 2 edits, 1 commit
        generic-2
        generic · live · 2 edits, 1 commit
        Commits
        when (UTC)
        commit
        session
        subject
        YYYY-MM-DD hh:mm:ss
        aaaaaaaa
        generic-1
        what one did
        YYYY-MM-DD hh:mm:ss
        bbbbbbbb
        generic-2
        what two did
        Files
        file
        edits
        sessions
        by
        a
        2
        2
        generic-1 (1), generic-2 (1)
        b
        1
        1
        generic-2 (1)
        n
        1
        1
        generic-1 (1)
        """,
    )


def test_sessions(day: Repo) -> None:
    seen(
        day,
        """
        $ git ralph session list
        generic-1  live  2 pending  generic
        generic-2  live  2 pending  generic
        $ git ralph session show S1
        id: S1
        name: generic-1
        agent: generic
        worktree: main
        state: live
        started: YYYY-MM-DDThh:mm:ssZ
        pending: 2
          a
          n
        $ git ralph ls-files --session S1
        a
        n
        $ git ralph session end S2
        """,
    )


def test_undo_and_restore(day: Repo) -> None:
    seen(
        day,
        """
        $ git ralph undo --session S1 --dry-run
        diff --git a/a b/a
        index aaaaaaa..bbbbbbb 100644
        --- a/a
        +++ b/a
        @@ -1,5 +1,5 @@
         line 1
        -by one
        +line 2
         line 3
         line 4
         line 5
        diff --git a/n b/n
        deleted file mode 100644
        index ccccccc..0000000
        --- a/n
        +++ /dev/null
        @@ -1 +0,0 @@
        -new
        $ git ralph undo --session S1
        2 paths undone for session 'generic-1'
         M a
         D n
        hint: git ralph undo --redo --session generic-1  # brings it back
        $ git ralph undo --session S1 --redo
        2 paths redone for session 'generic-1'
         M a
         A n
        $ git checkout -- a
        $ git ralph restore --session S1
        1 path restored for session 'generic-1'
         M a
        $ git ralph restore --session S1
        nothing to bring back for session 'generic-1'
        """,
    )


def test_uncommit(committed: Repo) -> None:
    seen(
        committed,
        """
        $ git ralph uncommit --session S1
        error: commit aaaaaaa is not session 'generic-1's, so it cannot be taken back: it is session 'generic-2's
        hint: git ralph uncommit --session generic-2  # if it is that one's last
        (exit 4)
        $ git ralph uncommit --session S2
        [main] took back aaaaaaa what two did
        hint: git log -1 --format=%B aaaaaaa | git ralph commit --session generic-2 -F - -- a b  # makes it again
        """,
    )


def test_assign(day: Repo) -> None:
    seen(
        day,
        """
        $ git ralph assign --to S1 -- u
        'u' line 1: now session 'generic-1's
        $ git ralph assign --to S1 -- b
        nothing to assign to session 'generic-1'
        note: 'b': nothing unrecorded is there
        """,
    )


def test_branch(committed: Repo) -> None:
    committed.git("branch", "before", "HEAD~2")
    seen(
        committed,
        """
        $ git ralph branch one --session S1
        error: this branch has no upstream, and there is no 'origin/HEAD': say what to begin at
        hint: git branch -a  # what there is to begin at, for --onto
        (exit 4)
        $ git ralph branch one --session S1 --onto before
        [one aaaaaaa] made: 1 commit of session 'generic-1'
        """,
    )


def test_worktrees(repo: Repo) -> None:
    seen(
        repo,
        """
        $ git ralph worktree list
        $ git ralph worktree add bd-1
        /repo/.worktrees/ralph-bd-1
        $ git ralph worktree list
        bd-1	idle	ralph/bd-1	+0 -0	0 dirty		aaaaaaaaa base	/repo/.worktrees/ralph-bd-1
        $ git ralph worktree remove bd-1
        removed /repo/.worktrees/ralph-bd-1
        """,
    )


def test_doctor(day: Repo, tmp_path: Path) -> None:
    """On a machine with no agent at all."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh", "env", "git-ralph"):
        found = shutil.which(name, path=day.env["PATH"])
        assert found is not None
        (programs / name).symlink_to(found)
    day.env["PATH"] = os.fspath(programs)
    seen(
        day,
        """
        $ git ralph doctor
        no edit is recorded: no agent is hooked up
        generic              works  any other agent, wired by hand: git ralph help hooks; last record here YYYY-MM-DDThh:mm:ssZ
        repository           ok     git <version>, state format '2', writable '/repo/.git/ralph-sessions', private mode 0700, unfinished commits 0, damaged records 0, hooks.log empty
        not found            -      claude-code, pi, codex, gemini, qwen, copilot, opencode, cursor, droid
        hint: git ralph install  # hooks up every agent that it finds
        (exit 1)
        """,
    )


def test_a_plain_commit_under_the_guard(day: Repo) -> None:
    day.ralph("install", "--guard")
    seen(
        day,
        """
        $ RALPH_SESSION=S1 git commit -m x -- a
        [main aaaaaaa] x
         1 file changed, 2 insertions(+), 2 deletions(-)
        warning: 'a': this commit takes 1 line that live session 'generic-2' did not commit yet
        hint: git reset --soft 'HEAD@{1}' && git ralph commit  # commits only what your session edited
        $ git commit -m mine
        [main bbbbbbb] mine
         1 file changed, 1 insertion(+), 1 deletion(-)
        """,
    )


def test_a_plain_commit_that_the_guard_refuses(day: Repo) -> None:
    day.ralph("install", "--guard")
    day.git("config", "ralph.guard", "refuse")
    seen(
        day,
        """
        $ RALPH_SESSION=S1 git commit -am x
        error: 'a': this commit takes 1 line that live session 'generic-2' did not commit yet
        error: 'b': this commit takes 1 line that live session 'generic-2' did not commit yet
        hint: git ralph commit  # commits only what your session edited
        (exit 1)
        $ git commit -am mine
        [main aaaaaaa] mine
         3 files changed, 4 insertions(+), 4 deletions(-)
        warning: this commit takes lines that live sessions did not commit yet: 'generic-1': 1 line in 'a'; 'generic-2': 1 line in 'a', 1 line in 'b'
        hint: git reset --soft 'HEAD@{1}' && git ralph commit --mine --skip-entangled -m "$(git log -1 --format=%B 'HEAD@{1}')" -- a b u && git reset -q -- a b u  # only what is yours, instead
        """,
    )


def test_a_heads_up(day: Repo) -> None:
    """What Claude Code is told before it edits beside a line of S2's."""
    call = {
        "session_id": "S1",
        "transcript_path": "/nowhere/S1.jsonl",
        "cwd": str(day.root),
        "permission_mode": "acceptEdits",
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": str(day.file("a")), "old_string": "line 7\n", "new_string": "seven\n"},
        "tool_use_id": "toolu_1",
    }
    (day.root.parent / "call.json").write_text(json.dumps(call))
    seen(
        day,
        """
        $ git ralph hook claude-code < ../call.json
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "session 'generic-2' (generic) has uncommitted line 8 in 'a', since YYYY-MM-DDThh:mm:ssZ (<age>); see them: git ralph blame a"}}
        """,
    )


def test_what_is_not_there(repo: Repo) -> None:
    seen(
        repo,
        """
        $ git ralph gc
        removed nothing; 0 bytes
        $ git ralph events
        $ git ralph plan show
        fatal: no plan is in use
        hint: git ralph plan use <plan.md>
        (exit 128)
        $ git ralph session list
        $ git ralph log
        note: nothing is recorded here yet
        hint: git ralph doctor  # are the hooks at work?
        $ git ralph undo
        nothing to take back
        """,
    )


def test_what_is_typed_wrongly(repo: Repo) -> None:
    seen(
        repo,
        """
        $ git ralph comit
        error: 'comit' is not a git ralph command; did you mean 'commit' or 'uncommit'?
        usage: git ralph [-C <path>] <command> [<args>]
        hint: git ralph -h
        (exit 129)
        $ git ralph commit --sesion S1
        error: unknown option '--sesion'; did you mean '--session'?
        usage: git ralph commit [<options>] [--] [<path>...]
        hint: git ralph commit -h
        (exit 129)
        $ git ralph branch
        error: missing argument '<name>'
        usage: git ralph branch [<options>] <name>
        hint: git ralph branch -h
        (exit 129)
        $ git ralph export
        error: missing option '--format'; choose from: agent-trace, git-ai, markdown
        usage: git ralph export [<options>] [<range>]
        hint: git ralph export -h
        (exit 129)
        """,
    )


def test_help(repo: Repo) -> None:
    seen(
        repo,
        """
        $ git ralph -h
        Usage: git ralph [-C <path>] <command> [<args>]

          Commit only what this session edited.

        Options:
          -C <path>   Run as if started in <path>.
          --version   Show the version and exit.
          -h, --help  Show this message and exit.

        New here:
          git ralph demo            two agents and a human, in half <age>
          git ralph help tutorial   two agents in one directory, to type along
          git ralph install         hook up your agents, then: git ralph status
          git ralph help <command>  the manual; git ralph help --all lists everything

        Look:
          status  Show what is uncommitted, by session
          top     Watch sessions, edits and commits live
          diff    Show exactly what commit would record
          log     Show edits and commits over time
          why     Show who wrote a path or a line
          blame   Show whose every line of a file is
          events  Show what happened in a run
          report  Make a page of sessions, edits and commits

        Commit:
          commit  Commit only what this session edited
          assign  Give a session lines that nobody recorded
          prove   Run a command on each commit's own tree
          branch  Make a branch of one session's commits
          export  Print whose the lines of commits are, for other tools

        Take back:
          undo      Take a session's pending edits out of the files
          uncommit  Take the last commit of a session back
          restore   Bring lost edits of a session back into the files

        Many tasks:
          session   Start, list, show, rename and end sessions
          run       Work through a plan, one true commit a task
          plan      Choose and show the plan that run takes
          worktree  A checkout for each work item: add, list, merge, remove
          fleet     Several clones of one remote: claim work, land it once

        Set up:
          install    Register the hooks of an agent
          uninstall  Take the hooks of an agent out again
          doctor     Prove that edits are being recorded
          demo       Two agents and a human in a throw-away repository
          gc         Remove state that nothing needs any more
          env        Print what a bug report needs
          help       Show the manual of a command

        For programs:
          emit      Add one event to a run
          track     Record that a session changed paths
          ls-files  List the pending paths of a session
          hook      Record one event of an agent
          guard     Judge the commit that git is about to make
        $ git ralph commit -h
        Usage: git ralph commit [<options>] [--] [<path>...]

          Commit only what this session edited, or you did; the index keeps what is
          staged.

        Options:
          --session <session>  The session: name, id or part of it.
          --plan <p>           With --task: the session of that plan's task.
          --task <n>           With --plan: the number of the task.
          -m, --message <msg>  A paragraph.
          -F, --file <file>    Read the message; - is stdin.
          -e, --edit           Open the editor on the message.
          --trailer <t>        Add a trailer.
          --author <a>         Override the author.
          --mine               What no session owns: a person's commit.
          --amend              Replace HEAD's commit, if it is this session's.
          --fixup <commit>     A commit to be squashed into that one.
          --dry-run            Say what would be committed; write nothing.
          --skip-entangled     Leave what cannot be separated.
          --include-entangled  Take others' edits that ours need.
          --whole-file         Take the named paths as they stand.
          --with-shell         Take what our shell commands may have made.
          -p, --patch          Ask for each hunk.
          --no-verify          Skip the pre-commit and commit-msg hooks.
          --prove <cmd>        Commit only what passes this on its own tree.
          --no-prove           Prove nothing, whatever ralph.prove says.
          --explain            Where it fails, find whose uncommitted lines it needs.
          --json               Print one JSON document.
          --porcelain          Print stable lines for programs.
          -z                   End paths with NUL and quote nothing.
          -q, --quiet          Say nothing but errors.
          -h, --help           Show this message and exit.
        """,
    )

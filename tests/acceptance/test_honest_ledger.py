"""A box is ticked only when its work landed, whatever the agent did meanwhile."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import runner
from tests.support.looping import Loop
from tests.support.repo import Repo
from tests.support.stub_agent import Do


@pytest.fixture
def loop(repo: Repo, tmp_path: Path) -> Loop:
    return Loop.make(repo, tmp_path / "aside")


def clone_passes(loop: Loop, command: str) -> bool:
    """Whether a command passes in a fresh clone."""
    import subprocess

    where = loop.aside / "clone"
    subprocess.run(["git", "clone", "-q", str(loop.repo.root), str(where)], check=True, env=loop.repo.env)
    return subprocess.run(["sh", "-c", command], cwd=where, env=loop.repo.env, check=False).returncode == 0


def shell(loop: Loop, command: str) -> Do:
    """A shell command of the agent, with the events that a real agent's hooks send around it."""
    return ["shell", command]


MAIN = ". ./lib.sh\nanswer\n"
LIB = "answer() { true; }\n"


# --- what the agent's shell makes ---


def test_what_the_tasks_own_shell_made_lands_with_it(loop: Loop) -> None:
    """The check passes in the directory; half of it committed, a clone would fail."""
    loop.plan("one")
    loop.script({"one": [["write", "main.sh", MAIN], shell(loop, f"printf '%s' '{LIB}' > lib.sh")]})
    loop.run("--verify", "sh main.sh")
    assert loop.commits() == [{"main.sh": "A", "lib.sh": "A"}]
    assert loop.boxes() == "x"
    assert clone_passes(loop, "sh main.sh")


def test_what_is_offered_only_leaves_the_box_open(loop: Loop) -> None:
    """With ``ralph.shellEdits=offer`` a person decides: nothing is committed in part, and nothing ticked."""
    loop.repo.git("config", "ralph.shellEdits", "offer")
    loop.plan("one")
    loop.script({"one": [["write", "main.sh", MAIN], shell(loop, f"printf '%s' '{LIB}' > lib.sh")]})
    said = loop.run("--verify", "sh main.sh", code=1)
    assert "it changed 'lib.sh', which would not land" in said.said
    assert (loop.boxes(), loop.commits()) == (" ", [])
    assert loop.last_run()["tasks"][0]["unlanded"] == ["lib.sh"]
    session = loop.log()[0]["session"]
    loop.repo.ralph("track", "--session", session, "lib.sh")
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), loop.commits()) == ("x", [{"main.sh": "A", "lib.sh": "A"}])


def test_a_check_on_a_directory_with_strange_files_is_repeated_on_the_commit_itself(loop: Loop) -> None:
    """A file that no hook saw helps in the directory and is in no commit: the check must pass without it."""
    loop.plan("one")
    loop.script({"one": [["write", "main.sh", MAIN], ["raw", "lib.sh", LIB]]})
    said = loop.run("--verify", "sh main.sh", code=1)
    assert "on the commit's own tree" in said.said
    assert (loop.boxes(), loop.commits()) == (" ", [])
    assert loop.repo.pending(loop.log()[0]["session"]) == ["main.sh"]


def test_a_lone_shell_edit_is_the_tasks_work(loop: Loop) -> None:
    """``status`` knows whose it is, so the loop goes on."""
    loop.plan("one")
    loop.script({"one": [shell(loop, "sed -i 's/line 5/line five/' a")]})
    loop.run()
    assert (loop.boxes(), loop.commits()) == ("x", [{"a": "M"}])


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_unrecorded_changes_are_ticked_at_no_number_of_jobs(loop: Loop, jobs: str) -> None:
    """Hooks that are not installed: the whole plan was ticked without a commit."""
    loop.plan("one", "two")
    loop.script({name: [["raw", f"{name}.txt", "1\n"]] for name in ("one", "two")})
    said = loop.run("--jobs", jobs, "--keep-going", code=1)
    assert "changed and nobody recorded that" in said.said
    assert (loop.boxes(), loop.commits()) == ("  ", [])


def test_shell_edits_of_two_tasks_at_once_land_or_stay_open(loop: Loop) -> None:
    """What either of two commands may have made is left out, and neither box is ticked for it."""
    loop.plan("one", "two")
    meet = "while ! test -e {}; do sleep 0.05; done"
    marks = {name: loop.aside / f"at-{name}" for name in ("one", "two")}
    loop.script(
        {
            name: [
                shell(
                    loop,
                    f"touch {marks[name]}; {meet.format(marks[other])};"
                    f" sed -i s/line/{name}/ {path}; sleep 0.5",
                )
            ]
            for name, other, path in (("one", "two", "a"), ("two", "one", "b"))
        }
    )
    loop.run("--jobs", "2", "--keep-going", code=1)
    ticked = loop.boxes().count("x")
    assert ticked == len(loop.commits())
    assert ticked < 2


# --- documentation ---


def test_documentation_beside_unrecorded_code_is_checked(loop: Loop) -> None:
    """Skipping the checks looks at everything that changed, not only at what was recorded."""
    loop.plan("one")
    loop.script({"one": [["write", "README.md", "1\n"], ["raw", "app.sh", "1\n"]]})
    loop.run("--verify", "exit 1", code=1)
    assert (loop.boxes(), loop.commits()) == (" ", [])


# --- edits that came to nothing ---


@pytest.mark.parametrize(
    ("edit", "undo"),
    [
        (["write", "a", "mine\n"], "git stash -q"),
        (["write", "a", "mine\n"], "git checkout -q -- a"),
        (["write", "new.txt", "mine\n"], "git add -A new.txt && git reset -q --hard"),
    ],
    ids=["stash", "checkout", "reset"],
)
def test_edits_that_the_agent_took_away_again_are_no_no_op(loop: Loop, edit: Do, undo: str) -> None:
    loop.plan("one")
    loop.script({"one": [edit, ["sh", undo]]})
    said = loop.run(code=1)
    assert f"its edits of '{edit[1]}' are gone" in said.said
    assert (loop.boxes(), loop.commits()) == (" ", [])


@pytest.mark.parametrize(
    ("path", "doing"),
    [
        ("a", [["write", "a", "mine\n"], ["raw", "a", "wholly other\n"]]),
        ("new.txt", [["raw", "new.txt", "work\n"], ["write", "new.txt", "work\n"]]),
    ],
    ids=["overwritten", "written before"],
)
def test_an_edit_of_which_nothing_lands_is_no_no_op(loop: Loop, path: str, doing: list[Do]) -> None:
    """The file is dirty, and was not when the task began; what stands there can be given to the task."""
    loop.plan("one")
    loop.script({"one": doing})
    said = loop.run(code=1)
    assert f"it edited '{path}', but what is uncommitted there now is not its own" in said.said
    assert "is in HEAD or gone" not in said.said
    assert (loop.boxes(), loop.last_run()["tasks"][0]["unlanded"]) == (" ", [path])
    hint = next(line for line in said.said.splitlines() if "ralph assign" in line)
    loop.repo.ralph(*hint.partition("ralph ")[2].partition("  #")[0].replace("<path>", path).split())
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), loop.repo.blob(path)) == ("x", loop.repo.read(path))


def one_task_over_another(loop: Loop, writes: Callable[[str], list[Do]]) -> None:
    """A plan of two: the first writes line 2 of a file, then the second line 8 of what stood before."""
    loop.plan("one", "two")
    text = (loop.repo.read("a") or b"").decode()
    one, two = text.replace("line 2", "mine"), text.replace("line 8", "theirs")
    wrote, over = loop.aside / "wrote", loop.aside / "over"
    wait = "until test -e {}; do sleep 0.05; done"
    loop.script(
        {
            "one": [["write", "a", one], ["sh", f"touch {wrote}; {wait.format(over)}"]],
            "two": [["sh", wait.format(wrote)], *writes(two), ["sh", f"touch {over}; sleep 1"]],
        }
    )


def test_edits_that_another_task_wrote_over_from_an_older_copy_are_no_no_op(loop: Loop) -> None:
    """The first was ticked with nothing landed, and its lines were in no file any more."""
    text = (loop.repo.read("a") or b"").decode()
    one_task_over_another(loop, lambda two: [["stale", "a", text, two]])
    said = loop.run("--jobs", "2", "--keep-going", code=1).said
    assert "its edits of 'a' are gone: somebody wrote there from an older copy" in said
    assert (loop.boxes(), loop.commits()) == ("  ", [])
    hint = next(line for line in said.splitlines() if "ralph restore" in line)
    loop.repo.ralph(*hint.partition("ralph ")[2].partition("  #")[0].split())
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), loop.commits()) == ("xx", [{"a": "M"}, {"a": "M"}])
    assert loop.repo.blob("a").decode() == text.replace("line 2", "mine").replace("line 8", "theirs")


def test_a_person_who_takes_a_tasks_line_out_wrote_from_no_older_copy(loop: Loop) -> None:
    """The way out is no `restore`, which would undo the person."""
    text = (loop.repo.read("a") or b"").decode()
    loop.plan("one")
    loop.script({"one": [["write", "a", text + "mine\n"], ["raw", "a", text.replace("line 8", "eight")]]})
    said = loop.run(code=1).said
    assert "older copy" not in said
    assert "git ralph restore" not in said


def test_a_task_that_writes_after_a_person_took_the_others_line_out_wrote_from_no_older_copy(
    loop: Loop,
) -> None:
    text = (loop.repo.read("a") or b"").decode()
    edit = ["shell", "sed -i 's/line 8/theirs/' a"]  # the hook sees the file before it
    one_task_over_another(loop, lambda _: [["raw", "a", text], edit])
    assert "older copy" not in loop.run("--jobs", "2", "--keep-going").said


def test_lines_that_another_took_out_knowingly_are_a_no_op(loop: Loop) -> None:
    one_task_over_another(loop, lambda two: [["write", "a", two]])
    loop.run("--jobs", "2")
    assert (loop.boxes(), loop.commits()) == ("xx", [{"a": "M"}])


def test_lines_that_another_session_put_over_the_tasks_are_no_no_op(loop: Loop) -> None:
    loop.plan("one")
    text = (loop.repo.read("a") or b"").decode()
    mine, theirs = (text.replace("line 5", word) for word in ("mine", "theirs"))
    loop.repo.edit("other", "a", theirs)
    loop.repo.write("a", text)
    loop.script({"one": [["write", "a", mine], ["raw", "a", theirs]]})
    said = loop.run(code=1)
    assert "it edited 'a', but what is uncommitted there now is not its own" in said.said
    assert (loop.boxes(), loop.commits()) == (" ", [])


def test_a_probe_in_a_file_that_was_dirty_before_is_a_no_op(loop: Loop) -> None:
    loop.repo.write("a", "a person's\n")
    loop.plan("one")
    loop.script({"one": [["write", "a", "a probe\n"], ["write", "a", "a person's\n"]]})
    loop.run()
    assert (loop.boxes(), loop.commits()) == ("x", [])


AWAY = {
    "reset": ("git commit -qam mine && git reset -q --hard HEAD~1", "is not in HEAD any more"),
    "branch": ("git switch -qc aside && git commit -qam mine && git switch -q main", "is on 'aside'"),
}


@pytest.mark.parametrize("path", ["a", "new.txt"])
@pytest.mark.parametrize("how", AWAY)
def test_a_commit_that_head_does_not_have_has_not_landed(loop: Loop, how: str, path: str) -> None:
    """The agent committed by itself and took it back, or on a branch of its own; the hint brings it here."""
    command, words = AWAY[how]
    loop.plan("one", "two")
    loop.script({"one": [["write", path, "mine\n"], ["sh", f"git add {path} && {command}"]]})
    said = loop.run(code=1)
    assert words in said.said
    assert (loop.boxes(), loop.commits(), loop.worked()) == ("  ", [], ["one"])
    hint = next(line for line in said.said.splitlines() if "cherry-pick" in line)
    loop.repo.git(*hint.partition("git ")[2].partition("  #")[0].split())
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), loop.commits()) == ("xx", [{path: "M" if path == "a" else "A"}])


@pytest.mark.parametrize("how", ["amend", "rebase"])
def test_a_commit_that_the_agent_made_anew_has_landed(loop: Loop, how: str) -> None:
    """The log knows what a commit became; HEAD has that."""
    loop.plan("one")
    text = (loop.repo.read("a") or b"").decode()
    anew = "echo 'more' >> a; git commit -qa --amend -m other --date=now"
    if how == "rebase":
        anew = "git switch -qc base HEAD~1 && echo more >> a && git commit -qam base --no-verify"
        anew += " && git switch -q main && git rebase -q base"
    loop.script({"one": [["write", "a", "mine\n" + text], ["sh", f"git commit -qam mine; {anew}"]]})
    loop.run()
    assert loop.boxes() == "x"
    assert loop.last_run()["tasks"][0]["commit"] == loop.repo.head()


@pytest.mark.parametrize("more", [[], [["write", "b", "mine\n"]]], ids=["nothing here", "an edit here too"])
def test_edits_in_a_worktree_of_the_agents_own_have_not_landed(loop: Loop, more: list[Do]) -> None:
    """Neither uncommitted nor committed there; what is merged has."""
    loop.plan("one", "two")
    away = loop.aside / "away"
    add = ["sh", f"git worktree add -q {away} -b aside"]
    loop.script({"one": [*more, add, ["cd", str(away)], ["write", "a", "mine\n"]]})
    said = loop.run(code=1)
    assert f"its edits of 'a' are in another worktree, '{away}', and in no commit" in said.said
    assert (loop.boxes(), loop.commits(), loop.worked()) == ("  ", [], ["one"])
    hint = next(line for line in said.said.splitlines() if " ralph commit " in line)
    loop.repo.git(*hint.partition("git ")[2].partition("  #")[0].split(), "-qm", "there")
    said = loop.repo.ralph("run", "--resume", code=1)
    assert "is on 'aside' and not in HEAD" in said.said
    loop.repo.git("merge", "-q", "--ff-only", "aside")
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), loop.commits()) == ("xx", [{"a": "M"}, *([{"b": "M"}] if more else [])])


def test_work_of_another_worktree_that_was_squashed_into_head_has_landed(loop: Loop) -> None:
    loop.plan("one")
    away = loop.aside / "away"
    squash = f"cd {loop.repo.root} && git merge -q --squash aside && git commit -q --no-verify -m squashed"
    doing = [
        ["sh", f"git worktree add -q {away} -b aside"],
        ["cd", str(away)],
        ["write", "a", "mine\n"],
        ["sh", f"git commit -qam there && {squash}"],
    ]
    loop.script({"one": doing})
    loop.run()
    assert (loop.boxes(), loop.commits()) == ("x", [{"a": "M"}])


def test_an_own_commit_that_was_an_experiment_does_not_hold_back_what_lands(loop: Loop) -> None:
    loop.plan("one")
    loop.script(
        {
            "one": [
                ["write", "a", "a try\n"],
                ["sh", "git commit -qam try && git reset -q --hard HEAD~1"],
                ["write", "b", "mine\n"],
            ]
        }
    )
    loop.run()
    assert (loop.boxes(), loop.commits()) == ("x", [{"b": "M"}])


def test_a_commit_on_another_branch_holds_back_what_lands(loop: Loop) -> None:
    """Work lies there, with the lines that would land half of it."""
    loop.plan("one")
    command, words = AWAY["branch"]
    loop.script({"one": [["write", "a", "mine\n"], ["sh", command], ["write", "b", "mine\n"]]})
    assert words in loop.run(code=1).said
    assert (loop.boxes(), loop.commits()) == (" ", [])


def test_a_task_with_a_worktree_of_its_own_lands_what_its_own_head_has(loop: Loop) -> None:
    loop.plan("one", "two")
    loop.repo.commit_all("plan")
    loop.base = loop.repo.head()
    away, words = AWAY["reset"]
    loop.script(
        {
            "one": [["write", "a", "mine\n"], ["sh", "git commit -qam mine"]],
            "two": [["write", "b", "mine\n"], ["sh", away]],
        }
    )
    said = loop.run("--worktree", code=1)
    assert words in said.said
    assert (loop.boxes(), loop.commits()) == ("x ", [{"a": "M"}])


def test_a_probe_that_the_agent_took_away_again_is_a_no_op(loop: Loop) -> None:
    """A task that needs no change stays one: made and deleted, edited and put back by a tool."""
    loop.plan("one")
    text = (loop.repo.read("a") or b"").decode()
    loop.script(
        {
            "one": [
                ["write", "probe.py", "1\n"],
                ["sh", "rm probe.py"],
                ["write", "x", "1\n"],
                ["delete", "x"],
                ["write", "a", "other\n"],
                ["write", "a", text],
            ]
        }
    )
    loop.run()
    assert (loop.boxes(), loop.commits(), loop.topics().count("task.no-op")) == ("x", [], 1)


def test_edits_of_ignored_files_alone_are_no_no_op(loop: Loop) -> None:
    loop.repo.write(".gitignore", "/out\n")
    loop.repo.commit_all("ignore")
    loop.base = loop.repo.head()
    loop.plan("one", "two")
    loop.script(
        {"one": [["write", "two.txt", "1\n"], ["write", "out", "1\n"]], "two": [["write", "out", "2\n"]]}
    )
    said = loop.run(code=1)
    assert "it changed only what git ignores: 'out'" in said.said
    assert (loop.boxes(), loop.commits()) == ("x ", [{"two.txt": "A"}])


def test_edits_recorded_for_another_session_are_no_no_op(loop: Loop) -> None:
    """An agent whose hooks do not see the session of its task."""
    loop.plan("one")
    edit = f"RALPH_SESSION=elsewhere RALPH_MANIFEST= {runner.COMMAND[0]} -P -m gitralph track b"
    loop.script({"one": [["sh", f"echo x >> b; {edit}"]]})
    said = loop.run(code=1)
    assert "'b' changed, recorded for a session of nobody's in this run" in said.said
    assert (loop.boxes(), loop.commits()) == (" ", [])


def test_many_dirty_paths_hide_nothing(loop: Loop) -> None:
    """More than two thousand dirty paths."""
    for number in range(2100):
        loop.repo.write(f"dirt/{number}", "")
    loop.plan("one")
    loop.script({"one": [["raw", "one.txt", "1\n"]]})
    loop.run(code=1)
    assert (loop.boxes(), loop.commits()) == (" ", [])


def test_a_second_run_does_not_take_what_the_first_left_for_granted(loop: Loop) -> None:
    """The file is there already, in no commit; an agent that finds it and does nothing has not landed it."""
    loop.plan("one")
    loop.script({"one": [["raw", "one.txt", "1\n"]]})
    loop.run(code=1)
    loop.script({})
    said = loop.run(code=1)
    assert "'one.txt' changed and nobody recorded that" in said.said
    assert (loop.boxes(), loop.commits()) == (" ", [])
    loop.repo.remove("one.txt")
    loop.run()
    assert loop.boxes() == "x"


# --- agents that do nothing ---


def test_the_last_words_of_an_agent_that_did_nothing_are_shown(loop: Loop) -> None:
    """A task that needs no change is ticked; what the agent said about it is kept."""
    loop.plan("one")
    loop.script({"one": [["say", "Which of the two files do you mean?"]]})
    said = loop.run()
    assert "Task 1/1: it changed nothing; its last words: Which of the two files do you mean?" in said.said
    text = (loop.repo.state / f"runs/{loop.last_run()['run']}.md").read_text()
    assert "Which of the two files" in text
    assert loop.boxes() == "x"


def test_a_refused_tool_leaves_the_box_open(loop: Loop) -> None:
    """As the agent's own result reports it."""
    loop.plan("one", "two")
    result = {
        "type": "result",
        "result": "I was not allowed to.",
        "permission_denials": [{"tool_name": "Bash", "tool_input": {}}],
    }
    loop.script(
        {
            "one": [["say", json.dumps(result)]],
            "two": [["write", "two.txt", "1\n"], ["say", json.dumps(result)]],
        }
    )
    said = loop.run("--keep-going", code=1)
    assert "it changed nothing, and the agent was refused: Bash" in said.said
    assert loop.boxes() == " x"
    assert loop.last_run()["tasks"][0]["outcome"] == "blocked"


@pytest.mark.parametrize("how", ["option", "setting"])
def test_every_unchanged_task_may_be_left_open(loop: Loop, how: str) -> None:
    """``--require-change`` and ``ralph.requireChange``."""
    if how == "setting":
        loop.repo.git("config", "ralph.requireChange", "true")
    loop.plan("one")
    loop.script({"one": [["say", "Which one?"]]})
    said = loop.run(*(["--require-change"] if how == "option" else []), code=1)
    assert "failed: it changed nothing; its last words: Which one?" in said.said
    assert loop.boxes() == " "


# --- boxes ---


@pytest.mark.parametrize("code", [0, 1])
def test_boxes_that_an_agent_ticked_are_put_back(loop: Loop, code: int) -> None:
    """With a note; the next run does not skip them."""
    loop.plan("one", "two", "three")
    loop.script(
        {"one": [["write", "one.txt", "1\n"], ["sh", "sed -i 's/\\[ \\]/[x]/' plan.md"], ["exit", code]]}
    )
    said = loop.run("--max-tasks", "1", code=code)
    assert "'two' was ticked but has not landed: its box is open again" in said.said
    assert loop.boxes() == ("x  " if code == 0 else "   ")
    loop.script({name: [["write", f"{name}.txt", "1\n"]] for name in ("one", "two", "three")})
    loop.run()
    assert loop.boxes() == "xxx"
    assert len(loop.commits()) == 3


def tick_by_hand(loop: Loop) -> None:
    loop.repo.write("plan.md", (loop.repo.read("plan.md") or b"").replace(b"[ ] two", b"[x] two"))


@pytest.mark.parametrize("how", ["committed", "in the file"])
def test_a_tick_of_a_person_stands(loop: Loop, how: str) -> None:
    """He did the task by hand while the loop was parked, the plan in no commit before."""
    loop.plan("one", "two", "three")
    loop.script({"one": [["exit", 1]]})
    loop.run(code=1)
    tick_by_hand(loop)
    if how == "committed":
        loop.repo.commit_all("two, by hand")
    loop.script({"one": [["write", "one.txt", "1\n"]]})
    said = loop.repo.ralph("run", "--resume")
    assert "was ticked but has not landed" not in said.said
    assert (loop.boxes(), loop.worked()) == ("xxx", ["one", "one", "three"])


def test_a_tick_that_is_committed_while_a_task_is_at_work_counts_for_nothing(loop: Loop) -> None:
    """An agent that goes round the guard commits like a person: only what has landed is taken for done."""
    loop.plan("one", "two", "three")
    loop.repo.commit_all("plan")
    person = "env -u RALPH_SESSION -u GIT_CONFIG_COUNT -u RALPH_GUARD git commit -qm 'two, by hand' plan.md"
    tick = "sed -i 's/\\[ \\] two/[x] two/' plan.md"
    loop.script({"one": [["write", "one.txt", "1\n"], ["sh", f"{tick} && {person}"]]})
    loop.run()
    assert (loop.boxes(), loop.worked()) == ("xxx", ["one", "two", "three"])


def test_a_commit_that_writes_the_plan_in_another_way_opens_no_box(loop: Loop) -> None:
    loop.plan("one", "two")
    loop.repo.commit_all("plan")
    loop.script({"one": [["write", "one.txt", "1\n"]], "two": [["write", "two.txt", "2\n"]]})
    loop.run()
    loop.repo.git("checkout", "plan.md")
    loop.repo.write("plan.md", (loop.repo.read("plan.md") or b"").decode().replace("- [", "* ["))
    loop.repo.git("commit", "-qam", "bullets")
    loop.run()
    assert loop.worked() == ["one", "two"]


def test_a_task_that_failed_and_that_a_person_did_is_done(loop: Loop) -> None:
    loop.plan("one", "two", "three")
    loop.repo.commit_all("plan")
    loop.script({"one": [["write", "one.txt", "1\n"]], "two": [["exit", 1]]})
    loop.run(code=1)
    tick_by_hand(loop)
    loop.repo.commit_all("two, by hand")
    said = loop.repo.ralph("run", "--resume")
    assert "Task 2/3 was ticked by hand and is left alone: two" in said.said
    assert (loop.boxes(), loop.worked()) == ("xxx", ["one", "two", "three"])


@pytest.mark.parametrize(
    "commit", ["git commit -qam ticks", "git commit -qam ticks --no-verify", "git ralph commit -qm ticks"]
)
def test_a_tick_that_an_agent_commits_is_put_back(loop: Loop, commit: str) -> None:
    loop.plan("one", "two")
    loop.repo.commit_all("plan")
    text = (loop.repo.read("plan.md") or b"").decode().replace("[ ] two", "[x] two")
    loop.script({"one": [["write", "one.txt", "1\n"], ["write", "plan.md", text], ["sh", commit]]})
    said = loop.run("--max-tasks", "1")
    assert "'two' was ticked but has not landed" in said.said
    assert loop.boxes() == "x "


def test_a_task_that_replaced_the_one_at_work_is_not_taken_for_it(loop: Loop) -> None:
    """Another task in its place is work of its own."""
    loop.plan("one", "two", "three")
    text = "- [x] one\n- [ ] deploy everything\n- [ ] three\n"
    loop.script({"two": [["write", "two.txt", "2\n"], ["raw", "plan.md", text]]})
    said = loop.run()
    assert "no longer in the plan; nothing was ticked" in said.said
    assert loop.worked() == ["one", "two", "deploy everything", "three"]


def test_the_records_decide_where_the_plan_lost_its_ticks(loop: Loop) -> None:
    """A stash or reset of the plan runs no task twice, in this run and in the next."""
    loop.plan("one", "two", "three")
    loop.repo.commit_all("plan")
    loop.base = loop.repo.head()
    loop.script(
        {
            "one": [["write", "one.txt", "1\n"]],
            "two": [["write", "two.txt", "2\n"], ["sh", "git checkout -q -- plan.md"]],
        }
    )
    said = loop.run("--max-tasks", "2")
    assert "'one' has landed in this run: its box is ticked again" in said.said
    assert (loop.boxes(), loop.worked()) == ("xx ", ["one", "two"])
    loop.repo.git("checkout", "-q", "--", "plan.md")
    said = loop.run()
    assert "'two' landed in" in said.said
    assert (loop.boxes(), loop.worked()) == ("xxx", ["one", "two", "three"])


def test_a_box_that_a_person_opened_again_is_work_again(loop: Loop) -> None:
    loop.plan("one", "two")
    loop.repo.commit_all("plan")
    loop.script({"one": [["write", "one.txt", "1\n"]]})
    loop.run()
    loop.repo.write("plan.md", (loop.repo.read("plan.md") or b"").replace(b"[x] one", b"[ ] one"))
    loop.run()
    assert loop.worked() == ["one", "two", "one"]


def opened_by_hand(loop: Loop) -> None:
    """A person commits the plan with its ticks, and commits it again with its boxes open."""
    loop.repo.commit_all("done")
    loop.repo.write("plan.md", (loop.repo.read("plan.md") or b"").replace(b"[x]", b"[ ]"))
    loop.repo.commit_all("again")


def work_in_turns(loop: Loop) -> None:
    """An agent that finds something to do each time it is called."""
    loop.plan("one", "two")
    loop.repo.commit_all("plan")
    loop.base = loop.repo.head()
    loop.script(
        {name: [["sh", f"echo >> {name}.txt; git ralph track {name}.txt"]] for name in ("one", "two")}
    )


def test_a_box_that_a_person_committed_open_is_work_again(loop: Loop) -> None:
    """Once: what landed since is not done a third time where only its tick is lost."""
    work_in_turns(loop)
    loop.run()
    opened_by_hand(loop)
    loop.run()
    assert (loop.boxes(), loop.worked()) == ("xx", ["one", "two", "one", "two"])
    loop.repo.git("checkout", "-q", "--", "plan.md")
    said = loop.run()
    assert "'one' landed in" in said.said
    assert (loop.boxes(), len(loop.worked())) == ("xx", 4)


def test_a_box_that_a_person_opened_while_the_loop_was_parked_is_work_again(loop: Loop) -> None:
    work_in_turns(loop)
    loop.run("--max-tasks", "1")
    opened_by_hand(loop)
    loop.repo.ralph("run", "--resume", "--max-tasks", "5")
    assert (loop.boxes(), loop.worked()) == ("xx", ["one", "one", "two"])
    assert loop.subjects()[-2:] == ["Task 1/2: one", "Task 2/2: two"]


def test_a_task_that_lost_its_tick_is_done_again_where_it_is_named(loop: Loop) -> None:
    work_in_turns(loop)
    loop.run()
    loop.repo.git("checkout", "-q", "--", "plan.md")
    said = loop.run("--from", "2")
    assert "'one' landed in" in said.said
    assert (loop.boxes(), loop.worked()) == ("xx", ["one", "two", "two"])


# --- the branch ---


@pytest.mark.parametrize("who", ["agent", "human"])
def test_work_stays_on_the_branch_of_the_run(loop: Loop, who: str) -> None:
    """A checkout sends no task elsewhere silently."""
    loop.plan("one", "two")
    move = "git checkout -q -b elsewhere"
    if who == "agent":
        loop.script({"one": [["write", "one.txt", "1\n"], ["sh", move]]})
        said = loop.run(code=4)
        boxes = "  "
    else:
        loop.script({"one": [["write", "one.txt", "1\n"]], "two": [["exit", 1]]})
        loop.run(code=1)
        loop.repo.git("checkout", "-q", "-b", "elsewhere")
        loop.script({})
        said = loop.repo.ralph("run", "--resume", code=4)
        boxes = "x "
    assert "the run began on 'main', and HEAD is on 'elsewhere' now" in said.said
    assert loop.boxes() == boxes
    assert loop.repo.git("rev-list", f"{loop.base}..elsewhere", "^main") == ""
    loop.repo.git("checkout", "-q", "main")
    loop.script({"two": [["write", "two.txt", "1\n"]]})
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), loop.subjects()) == ("xx", ["Task 1/2: one", "Task 2/2: two"])


@pytest.mark.parametrize("path", ["new.txt", "a"])
def test_a_write_that_the_agent_was_killed_after_is_the_tasks(loop: Loop, path: str) -> None:
    """Between the write and its hook: the resumed task is entangled with nobody."""
    loop.plan("one")
    text = (loop.repo.read(path) or b"").decode()
    half, whole = text + "half\n", text + "half\nwhole\n"
    loop.script({"one": [["once", str(loop.aside / "m"), ["cut", path, half]], ["write", path, whole]]})
    said = loop.run(code=1)
    assert "recorded what a call that was cut short had written" in said.said
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), loop.repo.blob(path)) == ("x", whole.encode())


def test_edits_that_vanish_while_the_checks_run_are_no_no_op(loop: Loop) -> None:
    loop.plan("one")
    loop.script({"one": [["write", "a", "mine\n"]]})
    said = loop.run("--verify", "git checkout -q -- a", code=1)
    assert "its edits of 'a' were gone when they were to be committed" in said.said
    assert (loop.boxes(), loop.commits()) == (" ", [])

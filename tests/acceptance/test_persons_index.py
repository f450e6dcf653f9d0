"""A person's index is his: what an agent's shell staged is put back, what he staged himself stays."""

import json
import subprocess
from collections.abc import Callable

import pytest

from tests.support.guarded import Ended, commit_as, left_behind, narrowing, ten
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo
from tests.support.shells import Shell

STAGED = ten(l9="staged")


@pytest.fixture
def day(empty_repo: Repo) -> Repo:
    """P has ``h`` staged and a half-done line in ``g`` and in ``f``; S1 and S2 have lines in ``f``."""
    repo = narrowing(empty_repo)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.write("h", STAGED)
    repo.git("add", "h")
    repo.write("g", ten(l5="half done"))
    repo.edit("S1", "f", ten(l2="one"))
    repo.edit("S2", "f", ten(l2="one", l8="two"))
    repo.write("f", ten(l2="one", l5="half done", l8="two"))
    return repo


def in_shell(repo: Repo, session: str, *commands: Callable[[], object]) -> Shell:
    """One shell call of an agent in which these are done."""
    shell = Shell(repo, session, "git add -A && git commit -m x").begin()
    for command in commands:
        command()
    return shell.end()


def add_all(repo: Repo) -> Callable[[], object]:
    return lambda: repo.git("add", "-A")


def commits(repo: Repo, *args: str, session: str = "S1", code: int = 0) -> Callable[[], Ended]:
    return lambda: commit_as(repo, session, *args, code=code)


def stop(repo: Repo, session: str, event: str = "Stop") -> None:
    fields = {"session_id": session, "cwd": str(repo.root), "hook_event_name": event}
    repo.hook("claude-code", {**fields, "transcript_path": "/nowhere", "stop_hook_active": False})


def staged(repo: Repo) -> list[str]:
    return repo.git("diff", "--cached", "--name-only").split()


def only_the_persons(repo: Repo) -> None:
    """Only ``h`` is staged, as P had staged it, and his commit holds that alone."""
    assert staged(repo) == ["h"]
    assert repo.git("show", ":h") + "\n" == STAGED
    commit_as(repo, None, "-m", "y", env={"RALPH_GUARD": "0"})
    assert repo.changes() == {"h": "M"}
    assert repo.blob("h").decode() == STAGED
    assert staged(repo) == []
    assert left_behind(repo) == []


@pytest.mark.parametrize("args", [(), ("-a",), ("--", "f", "g")], ids=["as it stands", "all", "paths"])
def test_add_and_commit_in_one_call(day: Repo, args: tuple[str, ...]) -> None:
    in_shell(day, "S1", add_all(day), commits(day, *args))
    assert day.changes() == {"f": "M"}
    assert day.blob("f").decode() == ten(l2="one")
    only_the_persons(day)


@pytest.mark.parametrize("args", [(), ("-a",), ("--", "f", "g")], ids=["as it stands", "all", "paths"])
def test_add_in_a_call_of_its_own(day: Repo, args: tuple[str, ...]) -> None:
    in_shell(day, "S1", add_all(day))
    assert staged(day) == ["f", "g", "h"]
    in_shell(day, "S1", commits(day, *args))
    assert day.blob("f").decode() == ten(l2="one")
    only_the_persons(day)


def test_our_own_commit_puts_it_back_as_well(day: Repo) -> None:
    in_shell(day, "S1", add_all(day))
    day.commit("S1", checked=False)
    assert day.blob("f").decode() == ten(l2="one")
    only_the_persons(day)


@pytest.mark.parametrize("args", [(), ("-a",)], ids=["as it stands", "all"])
def test_a_refused_commit_leaves_nothing_staged(day: Repo, args: tuple[str, ...]) -> None:
    day.edit("S2", "f", ten(l2="one of it", l5="half done", l8="two"))
    in_shell(day, "S2", add_all(day), commits(day, *args, session="S2", code=1))
    only_the_persons(day)


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 7\n", "#!/usr/bin/env python3\nraise SystemExit(7)\n"])
def test_a_commit_that_the_projects_own_hook_stops_leaves_nothing_staged(day: Repo, text: str) -> None:
    """A person's next commit held all that the agent had staged for its own, until the agent's turn ended."""
    day.ralph("uninstall", "--guard")
    hook = day.root / ".git/hooks/pre-commit"
    hook.write_text(text)
    hook.chmod(0o755)
    day.ralph("install", "--guard=narrow")
    in_shell(day, "S1", add_all(day), commits(day, code=1))
    hook.write_text("")
    only_the_persons(day)


def test_a_conflict_that_an_agent_settles_is_not_put_back(empty_repo: Repo) -> None:
    """What stood in the index before has no one text."""
    repo = narrowing(empty_repo)
    repo.write("f", ten(l2="stashed"))
    repo.git("stash", "-q")
    repo.write("f", ten(l2="other"))
    repo.commit_all("other")
    repo.git("stash", "pop", code=1)
    repo.edit("S1", "f", ten(l2="settled"))
    in_shell(repo, "S1", lambda: repo.git("add", "f"))
    stop(repo, "S1")
    repo.ralph("status")
    assert repo.git("show", ":f") + "\n" == ten(l2="settled")


def in_conflict(repo: Repo, how: str) -> str:
    """A person's operation stopped at a conflict in ``f``; what the index has of it."""
    repo.git("branch", "other")
    repo.write("f", ten(l2="main's"))
    repo.commit_all("main's")
    repo.write("f", ten(l2="his"))
    if how == "stash":
        repo.git("stash", "-q")
        repo.write("f", ten(l2="later"))
        repo.commit_all("later")
        repo.git("stash", "pop", code=1)
    else:
        repo.git("checkout", "-q", "--", "f")
        repo.git("switch", "-q", "other")
        repo.write("f", ten(l2="his"))
        repo.write("clean", "his, too\n")
        repo.commit_all("his")
        repo.git(how, "main", code=1)
    found = repo.git("ls-files", "-u")
    assert len(found.splitlines()) == 3
    return found


@pytest.mark.parametrize("how", ["stash", "merge", "rebase", "cherry-pick"])
@pytest.mark.parametrize("then", ["stops", "commits", "commits by us"])
def test_a_persons_conflict_that_an_agent_staged_is_there_again(
    empty_repo: Repo, how: str, then: str
) -> None:
    """With its three stages, and nothing of the agent's is staged in what the person concludes."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    there = in_conflict(repo, how)
    staged_by_git = staged(repo)
    repo.edit("S1", "new", "of S1\n")
    in_shell(repo, "S1", add_all(repo))
    assert repo.git("ls-files", "-u") == ""
    if then == "commits":
        in_shell(repo, "S1", commits(repo, code=1))
    elif then == "commits by us":
        repo.ralph("commit", "--session", "S1", "-m", "x", code=4)
        stop(repo, "S1")
    else:
        stop(repo, "S1")
    repo.ralph("status")
    assert repo.git("ls-files", "-u") == there
    assert staged(repo) == staged_by_git
    assert "<<<<<<<" in (repo.root / "f").read_text()


@pytest.mark.parametrize("is_settled", [False, True])
def test_what_a_person_stages_in_his_merge_while_an_agent_s_command_runs_stays(
    empty_repo: Repo, is_settled: bool
) -> None:
    """The agent's new file goes out again while the conflict is open; then he may have asked for it."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    in_conflict(repo, "merge")
    if is_settled:
        repo.write("f", ten(l2="settled"))
        repo.git("add", "f")
    repo.edit("S1", "new", "of S1\n")
    repo.write("h", STAGED)
    in_shell(repo, "S1", lambda: repo.git("add", "new"), lambda: repo.git("add", "h"))
    stop(repo, "S1")
    repo.ralph("status")
    assert repo.git("show", ":h") + "\n" == STAGED
    assert ("new" in staged(repo)) == is_settled
    assert bool(repo.git("ls-files", "-u")) != is_settled


def test_a_conflict_that_came_up_in_one_command_and_was_staged_in_the_next_is_there_again(
    empty_repo: Repo,
) -> None:
    repo = narrowing(empty_repo)
    repo.start("S1")
    found = list[str]()
    in_shell(repo, "S1", lambda: found.append(in_conflict(repo, "stash")))
    in_shell(repo, "S1", add_all(repo))
    stop(repo, "S1")
    repo.ralph("status")
    assert [repo.git("ls-files", "-u")] == found


def test_a_side_of_a_conflict_that_an_agent_takes_as_it_is_is_settled(empty_repo: Repo) -> None:
    """Also where it shows marks, as a page about conflicts does."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    marks = "<<<<<<< ours\n=======\n>>>>>>> theirs\n"
    repo.write("f", marks + ten(l2="stashed"))
    repo.git("stash", "-q")
    repo.write("f", ten(l1="other", l2="other"))
    repo.commit_all("other")
    repo.git("stash", "pop", code=1)
    in_shell(repo, "S1", lambda: repo.git("checkout", "--theirs", "f"), add_all(repo))
    stop(repo, "S1")
    repo.ralph("status")
    assert repo.git("ls-files", "-u") == ""
    assert repo.git("show", ":f").startswith("<<<<<<<")


def test_a_conflict_that_comes_up_while_an_agent_s_command_runs_stays(empty_repo: Repo) -> None:
    """A person's pop; the agent's commit in that command is refused for it, and puts back nothing."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    found = list[str]()

    def pops() -> None:
        found.append(in_conflict(repo, "stash"))
        repo.edit("S1", "new", "of S1\n")
        repo.ralph("commit", "--session", "S1", "-m", "x", code=4)

    in_shell(repo, "S1", pops)
    stop(repo, "S1")
    repo.ralph("status")
    assert [repo.git("ls-files", "-u")] == found


def test_what_a_session_stages_in_an_operation_that_it_works_on_stays(empty_repo: Repo) -> None:
    """It settled the conflict, and staged what it changed besides, for the person to conclude."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    in_conflict(repo, "merge")
    repo.edit("S1", "f", ten(l2="settled"))
    repo.edit("S1", "new", "needed by it\n")
    in_shell(repo, "S1", add_all(repo))
    stop(repo, "S1")
    repo.ralph("status")
    assert {"f", "new"} <= set(staged(repo))
    assert repo.git("ls-files", "-u") == ""


def test_our_own_refused_commit_leaves_nothing_staged(day: Repo) -> None:
    day.edit("S2", "f", ten(l2="one of it", l5="half done", l8="two"))
    in_shell(day, "S2", add_all(day))
    day.commit("S2", code=4, checked=False)
    only_the_persons(day)


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_the_end_of_a_turn_puts_it_back(day: Repo, event: str) -> None:
    in_shell(day, "S1", add_all(day))
    stop(day, "S2", event)
    assert staged(day) == ["f", "g", "h"]
    stop(day, "S1", event)
    only_the_persons(day)


def test_the_end_of_a_session_by_hand_puts_it_back(day: Repo) -> None:
    in_shell(day, "S1", add_all(day))
    day.ralph("session", "end", "S1")
    only_the_persons(day)


def test_what_the_person_stages_meanwhile_stays(day: Repo) -> None:
    in_shell(day, "S1", add_all(day))
    day.write("g", ten(l5="done"))
    day.git("add", "g")
    day.write("new", "n\n")
    day.git("add", "new")
    stop(day, "S1")
    assert staged(day) == ["g", "h", "new"]
    assert day.git("show", ":g") + "\n" == ten(l5="done")
    # nor is the same put back again, when it was the person this time
    day.git("add", "f")
    stop(day, "S1")
    assert staged(day) == ["f", "g", "h", "new"]


def test_a_persons_half_of_a_file_stays_staged_over_the_agents_commit(day: Repo) -> None:
    """P had a line of ``f`` staged, the agent staged the rest of the file over it."""
    day.git("update-index", "--cacheinfo", f"100644,{_blob(day, ten(l10='mine'))},f")
    in_shell(day, "S1", add_all(day), commits(day))
    assert day.blob("f").decode() == ten(l2="one")
    assert day.git("show", ":f") + "\n" == ten(l2="one", l10="mine")
    assert staged(day) == ["f", "h"]


def _blob(repo: Repo, text: str) -> str:
    return repo.git("hash-object", "-w", "--stdin", stdin=text.encode())


def test_a_removal_a_new_file_and_a_newer_version_are_put_back(day: Repo) -> None:
    day.write("h", ten(l9="staged", l10="later"))
    day.write("new", "n\n")
    in_shell(day, "S1", lambda: day.git("rm", "-q", "--cached", "g"), add_all(day))
    in_shell(day, "S1", lambda: day.git("rm", "-q", "--cached", "f"))
    stop(day, "S1")
    assert day.read("new") == b"n\n"
    only_the_persons(day)


def test_a_command_that_does_not_name_git_stages_nothing(day: Repo) -> None:
    shell = Shell(day, "S1", "sleep 60").begin()
    day.git("add", "g")
    shell.end()
    stop(day, "S1")
    assert staged(day) == ["g", "h"]


SCRIPTS = {
    "sh": ("sh x.sh", {"x.sh": "set -e\ngit add -A\n"}),
    "by its path": ("./x", {"x": "#!/bin/sh\ngit -C . -c a.b=c add --all .\n"}),
    "in a folder": ("cd tools && sh ./x.sh", {"tools/x.sh": "cd ..\ngit add -A\n"}),
    "one of another": ("sh x.sh", {"x.sh": "sh ./y.sh\n", "y.sh": "git add -A\n"}),
    "make": ("make all", {"Makefile": "all:\n\t@git add -A\n"}),
    "python": ("python3 x.py", {"x.py": "import subprocess\nsubprocess.run(['git', 'add', '-A'])\n"}),
}


def _in_script(repo: Repo, command: str, *commands: Callable[[], object]) -> None:
    shell = Shell(repo, "S1", command).begin()
    for one in commands:
        one()
    shell.end()


@pytest.mark.parametrize("form", SCRIPTS)
def test_what_a_script_of_an_agent_staged_is_put_back(day: Repo, form: str) -> None:
    """As much as what the command line itself told git to stage."""
    command, scripts = SCRIPTS[form]
    for path, text in scripts.items():
        day.write(path, text, 0o755)
    (day.common / "info/exclude").write_text("".join(f"/{path}\n" for path in scripts))
    Shell(day, "S1", command).begin().work().end()
    assert staged(day) == ["f", "g", "h"]
    in_shell(day, "S1", commits(day, "-a"))
    assert day.blob("f").decode() == ten(l2="one")
    only_the_persons(day)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("sh x.sh", "echo git status\ngit log --oneline\n"),
        ("sh x.sh", "sh x.sh\n"),
        ("sh x.sh", "\0git add -A\n"),
        ("sh nothing.sh '", "git add -A\n"),
        ("make", "git add -A\n"),
        ("cat " + "a/" * 5000, "git add -A\n"),
    ],
)
def test_what_a_person_stages_while_a_script_runs_that_stages_nothing_stays(
    day: Repo, command: str, text: str
) -> None:
    day.write("x.sh", text)
    (day.common / "info/exclude").write_text("/x.sh\n")
    _in_script(day, command, lambda: day.git("add", "g"))
    in_shell(day, "S1", commits(day, "-a"))
    assert staged(day) == ["g", "h"]


def test_what_another_agent_is_about_to_commit_stays_staged(day: Repo) -> None:
    day.edit("S2", "new", "two\n")
    other = Shell(day, "S2", "git add -A && git commit -m x").begin()
    in_shell(day, "S1", add_all(day), commits(day))
    commit_as(day, "S2")
    assert day.changes() == {"f": "M", "new": "A"}
    other.end()
    stop(day, "S1")
    stop(day, "S2")
    assert day.blob("f").decode() == ten(l2="one", l8="two")
    only_the_persons(day)


def test_what_git_has_staged_and_worded_itself_stays(day: Repo) -> None:
    day.git("checkout", "-q", "-b", "side", env={"RALPH_SESSION": None})
    (day.root / ".git" / "SQUASH_MSG").write_text("squashed\n")
    in_shell(day, "S1", add_all(day), commits(day, "-m", "x", "--", "g", code=1))
    stop(day, "S1")
    assert staged(day) == ["f", "g", "h"]


def test_what_a_hook_could_not_put_back_the_next_command_does(day: Repo) -> None:
    in_shell(day, "S1", add_all(day))
    assert (day.state / "S1.staged").exists()
    # the hook finds no git
    day.hook("generic", {"session": "S1", "cwd": str(day.root), "event": "stop"}, env={"PATH": "/nowhere"})
    left = list(day.state.glob("intents/stage-*.json"))
    assert [json.loads(one.read_text())["session"] for one in left] == ["S1"]
    assert staged(day) == ["f", "g", "h"]
    day.ralph("status")
    assert not (day.state / "S1.staged").exists()
    only_the_persons(day)


@pytest.mark.parametrize("text", [b"", b"{", b'{"git_dir": 1, "token": "main", "session": "S1"}', b"\xff"])
def test_a_damaged_intent_costs_nothing(day: Repo, text: bytes) -> None:
    in_shell(day, "S1", add_all(day))
    day.hook("generic", {"session": "S1", "cwd": str(day.root), "event": "stop"}, env={"PATH": "/nowhere"})
    (left,) = day.state.glob("intents/stage-*.json")
    left.write_bytes(text)
    day.ralph("status")
    stop(day, "S1")
    assert staged(day) == ["h"]


def test_what_was_put_back_once_is_the_persons_when_he_stages_it(day: Repo) -> None:
    in_shell(day, "S1", add_all(day))
    stop(day, "S1")
    day.git("add", "f")  # the very text that the agent had staged
    day.write("new", "n\n")
    in_shell(day, "S1", lambda: day.git("add", "new"))
    stop(day, "S1")
    assert staged(day) == ["f", "h"]


def test_what_the_person_staged_between_two_calls_is_what_comes_back(day: Repo) -> None:
    in_shell(day, "S1", add_all(day))
    day.write("g", ten(l5="done"))
    day.git("add", "g")
    day.write("g", ten(l5="done", l6="more"))
    in_shell(day, "S1", add_all(day))
    stop(day, "S1")
    assert staged(day) == ["g", "h"]
    assert day.git("show", ":g") + "\n" == ten(l5="done")


def test_what_a_warned_person_types_is_his_commit_again_without_the_sessions_lines(day: Repo) -> None:
    """The paths and the message of that commit; what else is his, or staged, stays as it was."""
    message = 'first line\n\nbody "quoted" $HOME'
    said = commit_as(day, None, "-m", message, "--", "f").said
    (hint,) = (line for line in said.splitlines() if line.startswith("hint: git reset"))
    subprocess.run(hint.removeprefix("hint: "), shell=True, cwd=day.root, env=day.env, check=True)
    assert day.changes() == {"f": "M"}
    assert day.blob("f").decode() == ten(l5="half done")
    assert day.git("log", "-1", "--format=%B").rstrip("\n") == message
    only_the_persons(day)
    assert day.read("g") == ten(l5="half done").encode()


def test_the_hint_names_no_path_that_shells_may_have_changed(day: Repo) -> None:
    """Who names a path takes what shell commands may have made of it, too."""
    other = Shell(day, "S2", "true").begin()
    in_shell(day, "S1", lambda: day.write("g", ten(l5="half done", l9="by a shell")))
    other.end()
    said = commit_as(day, None, "-a").said
    (hint,) = (line for line in said.splitlines() if line.startswith("hint: git reset"))
    assert hint.partition("  #")[0].endswith("-- f h && git reset -q -- f h")


@pytest.mark.parametrize("words", [("-a",), ("--", "f"), ()])
def test_a_file_that_is_announced_stays_announced(empty_repo: Repo, words: tuple[str, ...]) -> None:
    """A person's `git add -N` was gone after an agent's commit of another file."""
    repo = narrowing(empty_repo)
    repo.write("new", "a person's\n")
    repo.git("add", "-N", "new")
    repo.edit("S1", "f", ten(l3="three"))
    if not words:
        repo.git("add", "f")
    said = commit_as(repo, "S1", *words)
    assert repo.changes() == {"f": "M"}, said
    assert repo.git("status", "--porcelain") == " A new"


def test_a_person_is_told_how_an_amend_goes_without_an_agents_line(empty_repo: Repo) -> None:
    """The hint made two commits of one."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.write("f", ten(l7="a person's"))
    commit_as(repo, None, "-a", "-m", "mine")
    repo.write("g", ten(l9="a person's"))
    repo.edit("S1", "g", ten(l3="three", l9="a person's"))
    before = repo.count()
    said = commit_as(repo, None, "-a", "--amend", "--no-edit").said
    (hint,) = [row.removeprefix("hint: ") for row in said.splitlines() if row.startswith("hint: ")]
    env = {**repo._environment(None), "PATH": with_tool_on_path(repo._environment(None))["PATH"]}
    subprocess.run(["/bin/sh", "-c", hint], cwd=repo.root, env=env, check=True, capture_output=True)
    assert repo.count() == before
    assert repo.changes() == {"f": "M", "g": "M"}
    assert repo.blob("g") == ten(l9="a person's").encode()
    assert repo.git("log", "-1", "--format=%s") == "mine"
    assert repo.git("status", "--porcelain") == " M g"


def test_the_hint_at_an_amend_of_an_agents_commit_leaves_that_commit_alone(empty_repo: Repo) -> None:
    """It took the agent's commit back, and made a person's line one of the session's."""
    repo = narrowing(empty_repo)
    repo.edit("S2", "f", ten(l2="two"))
    repo.commit("S2")
    theirs = repo.head()
    repo.edit("S1", "f", ten(l2="two", l5="one"))
    repo.write("f", ten(l2="two", l5="one", l8="a person's"))
    said = commit_as(repo, None, "-a", "--amend", "--no-edit").said
    (hint,) = [row.removeprefix("hint: ") for row in said.splitlines() if row.startswith("hint: ")]
    env = {**repo._environment(None), "PATH": with_tool_on_path(repo._environment(None))["PATH"]}
    subprocess.run(["/bin/sh", "-c", hint], cwd=repo.root, env=env, check=True, capture_output=True)
    assert repo.git("rev-parse", "HEAD~") == theirs
    assert repo.blob("f") == ten(l2="two", l8="a person's").encode()
    assert repo.trailers("HEAD") == ""
    assert repo.git("status", "--porcelain") == " M f"


def test_a_new_file_that_was_staged_before_an_agent_edited_it_takes_nothing_of_the_agents(
    empty_repo: Repo,
) -> None:
    """A person was warned of lines that his commit does not hold."""
    repo = narrowing(empty_repo)
    repo.write("new", "one\ntwo\nthree\n")
    repo.git("add", "new")
    repo.edit("S1", "new", "one\ntwo and S1's\nthree\n")
    assert "did not commit yet" not in commit_as(repo, None).said
    assert repo.blob("new") == b"one\ntwo\nthree\n"
    repo.git("reset", "-q", "--soft", "HEAD~")
    repo.git("add", "new")
    assert "what it has in 'new'" in commit_as(repo, None).said


@pytest.mark.parametrize("words", [("f",), ("-A",)])
def test_what_a_person_staged_is_carried_over_commit_after_commit(
    empty_repo: Repo, words: tuple[str, ...]
) -> None:
    """The second commit put back the version from before the first one, which the person then committed."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.write("h", STAGED)
    repo.git("add", "h")

    def edit(path: str, text: str) -> Callable[[], object]:
        return lambda: repo.write(path, text)

    def add() -> object:
        return repo.git("add", *words)

    in_shell(repo, "S1", edit("h", ten(l4="of S1", l9="staged")), commits(repo, "-a"))
    assert repo.blob("h") == ten(l4="of S1").encode()
    assert repo.git_bytes("show", ":h") == ten(l4="of S1", l9="staged").encode()
    for number in (2, 6):
        in_shell(repo, "S1", edit("f", ten(**{f"l{number}": "of S1"})), add, commits(repo))
        assert repo.changes() == {"f": "M"}
        assert repo.git_bytes("show", ":h") == ten(l4="of S1", l9="staged").encode()
    stop(repo, "S1")
    assert repo.git("status", "--porcelain") == "M  h"
    commit_as(repo, None)
    assert repo.blob("h") == ten(l4="of S1", l9="staged").encode()
    assert repo.changes() == {"h": "M"}


@pytest.mark.parametrize("at_once", [True, False])
def test_a_commit_that_was_taken_back_and_made_again_leaves_nothing_staged(
    empty_repo: Repo, at_once: bool
) -> None:
    """The first of the two was taken for the second, and a person's next commit deleted the file."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.edit("S1", "n", "new\n")

    def add() -> object:
        return repo.git("add", "n")

    def reset() -> object:
        return repo.git("reset", "-q", "HEAD~1")

    in_shell(repo, "S1", add, commits(repo))
    calls = [(reset, add, commits(repo, "-m", "again"))] if at_once else [(reset,), (add,), (commits(repo),)]
    for call in calls:
        in_shell(repo, "S1", *call)
    stop(repo, "S1")
    assert repo.git("status", "--porcelain") == ""
    assert repo.blob("n") == b"new\n"


@pytest.mark.parametrize("at_once", [True, False])
def test_what_an_agent_takes_out_of_the_index_comes_back(empty_repo: Repo, at_once: bool) -> None:
    """Nothing else had the text: the file had gone on."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.write("h", STAGED)
    repo.git("add", "h")
    repo.write("h", ten(l9="gone on"))
    repo.edit("S1", "f", ten(l3="of S1"))

    def reset() -> object:
        return repo.git("reset", "-q")

    def add() -> object:
        return repo.git("add", "f")

    for call in [(reset, add, commits(repo))] if at_once else [(reset,), (add,), (commits(repo),)]:
        in_shell(repo, "S1", *call)
    assert repo.changes() == {"f": "M"}
    stop(repo, "S1")
    assert repo.git("status", "--porcelain") == "MM h"
    assert repo.git_bytes("show", ":h") == STAGED.encode()
    commit_as(repo, None)
    assert repo.blob("h") == STAGED.encode()


@pytest.mark.parametrize("is_over", [True, False])
def test_what_an_agent_stashes_comes_back_with_its_stash(empty_repo: Repo, is_over: bool) -> None:
    """Staged again at the end of the turn, it would stand in the way of the pop."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.write("h", STAGED)
    repo.git("add", "h")
    in_shell(repo, "S1", lambda: repo.git("stash", "-q"))
    if is_over:
        stop(repo, "S1")
        assert repo.git("status", "--porcelain") == ""
    in_shell(repo, "S1", lambda: repo.git("stash", "pop", "-q", "--index"))
    if not is_over:
        stop(repo, "S1")
    assert repo.git("status", "--porcelain") == "M  h"


def test_what_was_put_back_in_a_command_is_no_work_of_the_command(empty_repo: Repo) -> None:
    """Its turn's end took it out of the index again."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.write("h", STAGED)
    repo.git("add", "h")
    repo.write("h", ten(l4="gone on", l9="staged"))
    repo.edit("S1", "f", ten(l3="of S1"))
    in_shell(repo, "S1", add_all(repo))
    in_shell(repo, "S1", commits(repo), lambda: repo.git("add", "-A"))
    assert repo.changes() == {"f": "M"}
    assert repo.git_bytes("show", ":h") == ten(l4="gone on", l9="staged").encode()
    stop(repo, "S1")
    assert repo.git("status", "--porcelain") == "MM h"
    assert repo.git_bytes("show", ":h") == STAGED.encode()


@pytest.fixture
def staged_in_h(empty_repo: Repo) -> Repo:
    """A person has staged a line of ``h``, and S1 is at work; the guard is off."""
    repo = narrowing(empty_repo)
    repo.git("config", "ralph.guard", "off")
    repo.start("S1")
    repo.write("h", STAGED)
    repo.git("add", "h")
    return repo


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_version_that_a_commit_went_past_is_not_staged_again(staged_in_h: Repo, goes_on: bool) -> None:
    """An agent's plain commit, with no guard, has what was staged, and with `-a` more."""
    if goes_on:
        staged_in_h.write("h", ten(l4="gone on", l9="staged"))
    words = ("-am", "x", "--no-verify")
    in_shell(staged_in_h, "S1", lambda: staged_in_h.git("commit", "-q", *words))
    stop(staged_in_h, "S1")
    assert staged_in_h.changes() == {"h": "M"}
    assert staged_in_h.git("status", "--porcelain") == ""


def test_a_version_that_a_plain_commit_went_past_is_not_staged_by_ours(staged_in_h: Repo) -> None:
    """Both commits in one call: the call had begun with the version staged."""
    staged_in_h.write("h", ten(l4="gone on", l9="staged"))
    shell = Shell(staged_in_h, "S1", "git commit -am x; git ralph commit").begin()
    staged_in_h.git("commit", "-q", "-am", "x", "--no-verify")
    staged_in_h.edit("S1", "f", ten(l3="of S1"))
    assert staged_in_h.commit("S1", checked=False).paths == {"f": "M"}
    assert staged_in_h.git("status", "--porcelain") == ""
    shell.end()
    stop(staged_in_h, "S1")
    assert staged_in_h.git("status", "--porcelain") == ""


def test_what_stays_staged_for_anothers_running_command_is_put_back_later(empty_repo: Repo) -> None:
    """Two agents stage everything and commit at once: a person's file stayed staged for good."""
    repo = narrowing(empty_repo)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.write("h", ten(l9="a person's"))
    repo.edit("S1", "f", ten(l3="of S1"))
    repo.edit("S2", "g", ten(l3="of S2"))
    both = [Shell(repo, name, "git add -A && git commit -m x").begin() for name in ("S1", "S2")]
    repo.git("add", "-A")
    commit_as(repo, "S1")
    commit_as(repo, "S2", "--", "g")
    for shell in both:
        shell.end()
    stop(repo, "S1")
    stop(repo, "S2")
    assert repo.git("status", "--porcelain") == " M h"


def test_two_commits_in_one_call_leave_what_a_person_staged(empty_repo: Repo) -> None:
    """The second put back the version from before the first: his next commit took the agent's line out."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.write("f", ten(l9="a person's"))
    repo.git("add", "f")
    repo.edit("S1", "f", ten(l2="of S1", l9="a person's"))
    in_shell(
        repo,
        "S1",
        commits(repo, "-a"),
        lambda: repo.write("g", ten(l1="more")),
        commits(repo, "-a"),
    )
    assert repo.changes() == {"g": "M"}
    assert repo.git_bytes("show", ":f").decode() == ten(l2="of S1", l9="a person's")
    stop(repo, "S1")
    assert repo.git("status", "--porcelain") == "M  f"


def test_a_persons_hunk_is_put_back_on_what_was_committed_since(empty_repo: Repo) -> None:
    """It came back as it had been on the older HEAD: his next commit took the agent's line out."""
    repo = narrowing(empty_repo)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.write("f", ten(l9="a person's"))
    repo.git("add", "f")
    repo.edit("S1", "f", ten(l2="of S1", l9="a person's"))
    repo.edit("S2", "g", ten(l5="of S2"))
    in_shell(repo, "S2", add_all(repo))
    in_shell(repo, "S1", commits(repo, "-a"))
    stop(repo, "S2")
    assert repo.git("status", "--porcelain").split("\n") == ["M  f", " M g"]
    assert repo.git_bytes("show", ":f").decode() == ten(l2="of S1", l9="a person's")


def test_what_an_agent_staged_in_an_earlier_turn_is_in_its_commit(empty_repo: Repo) -> None:
    """It was put back as the turn ended, and `commit -a` had only the old ends of the rename."""
    repo = narrowing(empty_repo)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.edit("S2", "h", ten(l4="of S2"))
    repo.edit("S1", "new", "one\n")
    in_shell(repo, "S1", lambda: repo.git("mv", "g", "core"), lambda: repo.git("add", "new", "h"))
    stop(repo, "S1")
    assert staged(repo) == []
    repo.edit("S1", "f", ten(l2="of S1"))
    in_shell(repo, "S1", commits(repo, "-a"))
    assert repo.changes() == {"core": "A", "g": "D", "f": "M", "new": "A"}
    assert repo.git("status", "--porcelain") == " M h"


def test_what_an_agent_staged_in_an_earlier_turn_and_leaves_out_now_stays_out(empty_repo: Repo) -> None:
    """`git status` shows it as not staged, and the agent stages what it wants."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.edit("S1", "f", ten(l2="of S1"))
    repo.edit("S1", "new", "one\n")
    in_shell(repo, "S1", add_all(repo))
    stop(repo, "S1")
    repo.edit("S1", "h", ten(l2="of S1"))
    in_shell(repo, "S1", lambda: repo.git("reset", "-q"), lambda: repo.git("add", "h"), commits(repo))
    assert repo.changes() == {"h": "M"}
    assert repo.git("status", "--porcelain").split("\n") == [" M f", "?? new"]


def test_a_path_that_cannot_go_holds_up_no_commit_because_it_was_staged_once(empty_repo: Repo) -> None:
    repo = narrowing(empty_repo)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.edit("S2", "new", "two\n")
    repo.edit("S1", "new", "two and one\n")
    in_shell(repo, "S1", add_all(repo))
    stop(repo, "S1")
    repo.edit("S1", "h", ten(l2="of S1"))
    in_shell(repo, "S1", commits(repo, "-a"))
    assert repo.changes() == {"h": "M"}


@pytest.mark.parametrize("order", ["S1 S2", "S2 S1"])
def test_what_another_agent_had_staged_does_not_come_back_after_its_turn(
    empty_repo: Repo, order: str
) -> None:
    """One takes out of the index what the other has staged: whose turn ended last staged it for good."""
    repo = narrowing(empty_repo)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.edit("S1", "f", ten(l2="of S1"))
    repo.write("g", ten(l4="a person's"))
    in_shell(repo, "S2", add_all(repo))
    in_shell(repo, "S1", lambda: repo.git("reset", "-q"))
    for name in order.split():
        stop(repo, name)
    assert repo.git("status", "--porcelain").split("\n") == [" M f", " M g"]


def test_no_plain_commit_of_an_agent_goes_onto_the_commit_that_a_person_bisects(empty_repo: Repo) -> None:
    """It would be on no branch, and neither there nor on disk after `git bisect reset`."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    for word in ("one", "two", "three"):
        repo.write("h", word)
        repo.commit_all(word)
    repo.git("bisect", "start", "HEAD", "HEAD~3")
    at = repo.head()
    repo.edit("S1", "f", ten(l2="one"))
    in_shell(repo, "S1", add_all(repo), commits(repo, code=1))
    assert repo.head() == at
    assert staged(repo) == []
    repo.git("bisect", "reset")
    in_shell(repo, "S1", add_all(repo), commits(repo))
    assert repo.changes() == {"f": "M"}

"""A session whose shell works in several repositories: each records what was done there, and nothing else."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import shells
from tests.support.repo import Repo
from tests.support.texts import changed

pytestmark = pytest.mark.wired

THREE, SEVEN = changed(3, "three"), changed(7, "a person's seven")
EDIT = "sed -i 's/^line 3$/three/' a b"
COMMIT = f"{EDIT}; git add -A; git commit -qm x"


class Call:
    """One shell command of S1, of which each of its events names the folder where the shell is then."""

    def __init__(self, repo: Repo, command: str, at: Path, agent: str = "claude-code") -> None:
        self.repo, self.command, self.at, self.agent = repo, command, at, agent
        self.call = f"toolu_{os.urandom(4).hex()}"

    def send(self, name: str, at: Path) -> None:
        payload = shells.event(name, "S1", self.call, str(at), self.command)
        home = {"CLAUDE_PROJECT_DIR": str(self.repo.root)} if self.agent == "claude-code" else {}
        self.repo.hook(self.agent, payload, cwd=str(at), env=home)

    def begin(self) -> "Call":
        self.send("PreToolUse", self.at)
        return self

    def work(self) -> "Call":
        env = {**self.repo.env, "CLAUDE_CODE_SESSION_ID": "S1"}
        subprocess.run(["bash", "-c", self.command], cwd=self.at, env=env, check=False, capture_output=True)
        return self

    def end(self, at: Path | None = None) -> None:
        self.send("PostToolUse", at or self.at)


def run(repo: Repo, command: str, at: Path, then: Path | None = None) -> None:
    Call(repo, command, at).begin().work().end(then)


def stop(repo: Repo, at: Path) -> None:
    payload = {"session_id": "S1", "cwd": str(at), "hook_event_name": "Stop", "stop_hook_active": False}
    repo.hook("claude-code", payload, cwd=str(at))
    repo.ralph("status")


def guarded(repo: Repo) -> Repo:
    repo.git("config", "ralph.guard", "narrow")
    repo.ralph("install", "--guard")
    return repo


@pytest.fixture
def first(repo: Repo) -> Repo:
    return guarded(repo)


@pytest.fixture
def other(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """A repository beside the first; a person has an uncommitted line in ``b``, and a file staged."""
    made = guarded(Repo.of_ten(tmp_path / "other", environ))
    made.write("staged", "a person's\n")
    made.git("add", "staged")
    made.write("b", SEVEN)
    return made


def only_the_persons(other: Repo) -> None:
    """What a person has in the other repository is as it was."""
    assert other.git("diff", "--cached", "--name-only") == "staged"
    assert other.git("diff", "--name-only") == "b"


@pytest.mark.parametrize(
    "entering", ["cd ../other && {}", "pushd ../other; {}", "cd d; cd ../../other; {}", "(cd {there}; {})"]
)
def test_a_repository_that_a_command_enters(first: Repo, other: Repo, entering: str) -> None:
    run(first, entering.format(COMMIT, there=other.root), first.root)
    assert other.changes() == {"a": "M", "b": "M"}
    assert other.blob("b").decode() == THREE
    assert "Ralph-Session: S1" in other.trailers()
    only_the_persons(other)
    assert first.owners() == {}


def test_a_repository_in_which_a_command_works_from_outside(first: Repo, other: Repo) -> None:
    """Git stays where it is, and so does the shell."""
    run(
        first,
        f"{EDIT}; cd ../other; {EDIT}; cd -; git -C ../other commit -qam x; git commit -qam y",
        first.root,
    )
    assert first.changes() == other.changes() == {"a": "M", "b": "M"}
    assert other.blob("b").decode() == THREE
    only_the_persons(other)


def test_a_session_that_began_above_its_repositories(first: Repo, other: Repo) -> None:
    above = first.root.parent
    run(first, f"cd {first.root.name} && {COMMIT}", above)
    run(first, f"cd other && {EDIT} && git add -A", above)
    assert first.changes() == {"a": "M", "b": "M"}
    stop(other, above)
    only_the_persons_and_s1s(other)


def only_the_persons_and_s1s(other: Repo) -> None:
    assert other.git("diff", "--cached", "--name-only") == "staged"
    other.commit("S1", checked=False)
    assert other.blob("b").decode() == THREE
    only_the_persons(other)


def test_what_was_staged_in_another_repository_is_put_back_when_the_turn_ends(
    first: Repo, other: Repo
) -> None:
    run(first, f"cd ../other && {EDIT} && git add -A", first.root)
    assert "b" in other.git("diff", "--cached", "--name-only").split()
    stop(other, first.root)
    only_the_persons_and_s1s(other)


@pytest.mark.parametrize("has_records", [True, False])
def test_a_command_that_takes_the_shell_elsewhere_has_ended(
    first: Repo, other: Repo, has_records: bool
) -> None:
    """Its end is told from there. What a person changes afterwards is no part of it."""
    away = other.root if has_records else first.root.parent
    run(first, f"{EDIT}; cd {away}", first.root, then=away)
    first.write("a", changed(7, "a person's seven", THREE))
    run(first, f"cd {first.root} && git commit -qam x", away)
    assert first.changes() == {"a": "M", "b": "M"}
    assert first.blob("a").decode() == THREE


@pytest.mark.parametrize(
    "command", ["git commit -qm 'cd into web'", 'cd "$PWD/d"; cd -', "(cd d && ls); (cd e; ls)"]
)
def test_a_command_beside_another_one_of_the_session_goes_on(first: Repo, command: str) -> None:
    """Whatever folders it names: what it changes after the other one began is the session's."""
    long = Call(first, f"{command}; {EDIT}", first.root).begin()
    run(first, "ls", first.root)
    long.work().end()
    assert first.commit("S1", checked=False).paths == {"a": "M", "b": "M"}


def test_who_only_asks_another_repository_does_nothing_there(first: Repo, other: Repo) -> None:
    call = Call(first, "git -C ../other log -1 && make test && git add f", first.root).begin()
    shells.run(other, "S2", "sed -i 's/^line 3$/three/' u")
    other.write("a", SEVEN)
    call.end()
    assert other.owners() | {"a": "nobody", "b": "nobody"} == {**other.owners()}
    assert other.commit("S2").paths == {"u": "M"}


def test_a_repository_that_no_turns_end_reaches_is_not_looked_at(first: Repo, tmp_path: Path) -> None:
    """The session began above it, and not right above it."""
    far = guarded(Repo.of_ten(tmp_path / "far/deep", first.env))
    Call(first, "cd far/deep && make", tmp_path, "codex").begin()
    far.write("a", SEVEN)
    run(first, f"cd far/deep && {COMMIT}", tmp_path)
    assert far.count() == 1


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit"])
def test_a_turn_that_ends_where_no_repository_is(first: Repo, tmp_path: Path, event: str) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    run(first, f"{EDIT}; git add -A; cd {plain}", first.root, then=plain)
    Call(first, f"cd {first.root} && make", plain).begin()
    payload = {"session_id": "S1", "cwd": str(plain), "hook_event_name": event, "prompt": "go on"}
    first.hook("claude-code", payload, cwd=str(plain), env={"CLAUDE_PROJECT_DIR": str(first.root)})
    first.write("u", SEVEN)
    assert first.commit("S1", checked=False).paths == {"a": "M", "b": "M"}
    assert first.git("diff", "--name-only") == "u"


@pytest.mark.parametrize("harm", ["format", "file", "gone"])
def test_what_is_wrong_in_another_repository_stays_there(first: Repo, other: Repo, harm: str) -> None:
    run(first, "cd ../other && ls", first.root)
    if harm == "format":
        (other.state / "format").write_text("99\n")
    else:
        other.state.rename(other.common / "moved")
    if harm == "file":
        other.state.write_text("")
    first.write("a", SEVEN)
    run(first, "git add -A", first.root)
    said = first.hook(
        "claude-code",
        {"session_id": "S1", "cwd": str(first.root), "hook_event_name": "Stop", "stop_hook_active": False},
    ).said
    assert said == ""
    first.ralph("status")
    assert first.git("diff", "--cached", "--name-only") == ""
    assert other.state.exists() == (harm != "gone")


def test_a_background_command_in_another_repository_is_over_with_the_turn(first: Repo, other: Repo) -> None:
    call = Call(first, f"cd ../other && {EDIT}", first.root).begin().work()
    stop(other, first.root)
    other.write("u", changed(7, "a person's seven"))
    assert other.commit("S1", checked=False).paths == {"a": "M", "b": "M"}
    call.end()
    assert other.owners()["u"] == "nobody"


def test_a_repository_that_nobody_uses_with_sessions_is_left_alone(first: Repo, tmp_path: Path) -> None:
    plain = Repo.of_ten(tmp_path / "plain", first.env)
    run(first, f"cd ../plain && {EDIT}", first.root)
    assert not plain.state.exists()


@pytest.mark.parametrize("kind", ["nested", "submodule"])
@pytest.mark.parametrize("turn_ends", [False, True])
def test_a_command_that_takes_the_shell_into_a_repository_inside(
    first: Repo, tmp_path: Path, kind: str, turn_ends: bool
) -> None:
    inside = first.root / "inside"
    if kind == "nested":
        Repo.of_ten(inside, first.env)
    else:
        Repo.of_ten(tmp_path / "source", first.env)
        first.git(
            "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "source"), "inside"
        )
        first.commit_all("submodule")
    run(first, "cd inside && ls", first.root, then=inside)
    if turn_ends:
        stop(first, inside)
    first.write("a", SEVEN)
    first.edit("S1", "b", THREE)
    run(first, f"cd {first.root} && git commit -qam x", inside, then=first.root)
    assert first.changes() == {"b": "M"}


def test_a_shell_that_goes_into_a_repository_and_out_of_all(first: Repo, other: Repo) -> None:
    above = first.root.parent
    call = Call(first, "cd other && ls", above, "codex").begin().work()
    call.end(other.root)
    Call(first, "cd ..", other.root, "codex").begin().work().end(above)
    other.write("a", SEVEN)
    other.edit("S1", "u", THREE)
    Call(first, "git -C other commit -qam x", above, "codex").begin().work().end()
    assert other.changes() == {"u": "M"}


def test_a_copy_of_the_repository_has_no_command_that_runs(first: Repo, tmp_path: Path) -> None:
    call = Call(first, "cp -a . ../copy", first.root).begin().work()
    copy = Repo(tmp_path / "copy", first.env)
    shells.run(copy, "S2", "sed -i 's/^line 7$/seven/' a")
    call.end()
    assert copy.commit("S2").paths == {"a": "M"}


def test_what_was_staged_in_another_worktree_is_put_back_when_the_turn_ends(first: Repo) -> None:
    linked = first.worktree("linked")
    first.write("a", SEVEN)
    run(first, f"git -C {first.root} add -A", linked.root)
    assert first.git("diff", "--cached", "--name-only") == "a"
    stop(first, linked.root)
    assert first.git("diff", "--cached", "--name-only") == ""

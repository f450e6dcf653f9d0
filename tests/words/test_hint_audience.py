"""Who reads a hint: an agent's keep to its own lines, and each is typed; a person's may do more."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import shells
from tests.support.guarded import commit_as, git_as, narrowing, ten
from tests.support.repo import Repo
from tests.support.runner import Done
from tests.support.size import crossed
from tests.words.test_ways_out import SCENES, Scene, _hints, _type, _Walk

pytestmark = pytest.mark.wired

AGENT = {"CLAUDE_CODE_SESSION_ID": "S1"}
FOR_PEOPLE = (
    "--no-verify",
    "--whole-file",
    "--include-entangled",
    "ralph assign",
    "--mine",
    "restore --staged",
)


def as_agent(repo: Repo) -> Repo:
    """The same repository as S1's agent sees it."""
    return Repo(repo.root, {**repo.env, **AGENT}, _clock=list(repo._clock))


def keeps_to_its_own(repo: Repo, said: str) -> None:
    """What an agent of S1 reads: nothing for people, and no other session's commit."""
    for word in FOR_PEOPLE:
        assert word not in said, (word, said)
    known = (repo.state / "S1.json").exists()
    for hint in re.findall(r"^hint: (.*)$", said, re.M):
        named = re.findall(r"ralph (?:commit|track|undo|diff|uncommit) --session (\S+)", hint)
        assert set(named) <= {"S1", repo.called("S1") if known else ""}, hint
        assert not hint.startswith("git show"), hint
        assert "<" not in hint, hint


def commit(repo: Repo, after: tuple[str, ...]) -> Done:
    repo.tick()
    return repo.run("commit", "--session", "S1", "-m", "x", *after)


@pytest.mark.parametrize(("reason", "make"), SCENES, ids=[make.__name__ for _, make in SCENES])
def test_an_agents_hints_after_a_refusal_end_it_with_its_own_lines(
    reason: str, make: Scene, repo: Repo, tmp_path: Path
) -> None:
    after = tuple(word for word in make(repo) or () if word != "--whole-file")
    walk = _Walk(tmp_path)
    first = commit(as_agent(walk.copy(repo)), after)
    keeps_to_its_own(repo, first.said)
    before = repo.head() if repo.run("env").code == 0 and repo.git("branch", "--list") else None
    for hint in _hints(first):
        there = as_agent(walk.copy(repo))
        code, said = _type(there, hint)
        # a diagnosis says no where no agent is hooked up
        assert code == 0 or reason == "filtered" or "doctor" in hint, (hint, code, said)
        keeps_to_its_own(repo, said)
        since = f"{before}..HEAD" if before else "HEAD"
        if there.git("branch", "--list"):
            made = there.git("log", "--format=%(trailers:only,unfold)", since)
            assert set(re.findall(r"Ralph-Session: (.*)", made)) <= {"S1"}
            assert "Ralph-Includes: S" not in made


def guarded(repo: Repo, mode: str) -> Repo:
    narrowing(repo)
    repo.git("config", "ralph.guard", mode)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.edit("S2", "f", ten(l2="two"))
    return repo


REFUSED: dict[str, Callable[[Repo], tuple[str, ...]]] = {
    "nothing of it": lambda repo: ("-a",),
    "of another": lambda repo: ("-a", "--amend"),
    "other words": lambda repo: ("--amend", "-m", "y"),
}


@pytest.mark.parametrize(("mode", "how"), crossed(["narrow", "refuse"], [*REFUSED]))
def test_what_the_guard_tells_an_agent_and_a_person(empty_repo: Repo, how: str, mode: str) -> None:
    repo = guarded(empty_repo, mode)
    head = repo.head()
    done = git_as(repo, "S1", "commit", "-m", "x", *REFUSED[how](repo))
    keeps_to_its_own(repo, done.said)
    if mode == "narrow":
        assert done.code == 1
        assert repo.head() == head
    person = commit_as(repo, None, "-a")
    assert "git ralph commit --mine" in person.said


def test_an_amend_of_another_s_commit_by_our_own_command_names_what_to_do(repo: Repo) -> None:
    repo.edit("S2", "a", "two\n")
    repo.commit("S2")
    repo.edit("S1", "b", "one\n")
    for words in (("--amend", "-m", "y"), ("--fixup", "HEAD")):
        done = repo.ralph("commit", "--session", "S1", *words, code=4, env=AGENT)
        keeps_to_its_own(repo, done.said)
        (hint,) = _hints(done)
        assert "in a commit of its own" in hint
    assert _type(repo, hint)[0] == 0
    assert repo.changes() == {"b": "M"}


def test_an_uncommit_of_another_s_commit(repo: Repo) -> None:
    repo.edit("S1", "b", "one\n")
    repo.edit("S2", "a", "two\n")
    repo.commit("S2")
    done = repo.ralph("uncommit", "--session", "S1", code=4, env=AGENT)
    assert _hints(done) == []
    (hint,) = _hints(repo.ralph("uncommit", "--session", "S1", code=4))
    assert _type(repo, hint)[0] == 0


def test_a_restore_is_offered_where_it_brings_something_back_and_only_then(repo: Repo) -> None:
    repo.git("config", "ralph.discard", "off")
    text = (repo.read("a") or b"").decode()
    repo.edit("S2", "a", text.replace("line 2\n", "two\n"))
    shells.run(repo, "S1", "git checkout -- a")
    assert "ralph restore" not in repo.ralph("status", env=AGENT).said
    (hint,) = re.findall(r"^hint: (git ralph restore.*)$", repo.ralph("status").said, re.M)
    repo.write("a", text.replace("line 2\n", "somebody was here\n"))
    repo.ralph("restore", "--session", "S2", code=4)
    assert "ralph restore" not in repo.ralph("status").said
    repo.write("a", text)
    assert _type(repo, hint)[0] == 0
    assert b"two" in (repo.read("a") or b"")


def test_what_nobody_recorded_is_assigned_by_a_person_alone(repo: Repo) -> None:
    repo.start("S1")
    repo.write("a", "by hand\n")
    said = repo.ralph("commit", "--session", "S1", "-m", "x").said
    assert "git ralph assign --to session-1" in said
    keeps_to_its_own(repo, repo.ralph("commit", "-m", "x", env=AGENT).said)
    keeps_to_its_own(repo, repo.ralph("status", env=AGENT).said)


def test_of_several_sessions_an_agent_is_told_to_look(repo: Repo) -> None:
    repo.edit("S1", "a", "one\n")
    repo.edit("S2", "b", "two\n")
    done = repo.ralph("commit", "-m", "x", code=4, env={"GEMINI_CLI": "1"})
    assert "ralph commit --session" not in done.said
    assert "ralph commit --session" in repo.ralph("commit", "-m", "x", code=4).said

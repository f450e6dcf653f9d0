"""Conflicts that git wrote into a file and a session settled: its commit has what it decided."""

from pathlib import Path

import pytest

from tests.support import shells
from tests.support.repo import Repo
from tests.support.texts import TEN

SETTLED = {"its own": "three of S1", "mixed": "three of both", "theirs": "three of upstream"}
BOTH = "three of upstream\nthree of S1"


def three(text: str) -> str:
    return TEN.replace("line 3\n", f"{text}\n")


@pytest.fixture
def day(empty_repo: Repo) -> Repo:
    """``f`` has ten lines; the branch ``up`` changes the third."""
    empty_repo.write("f", TEN)
    empty_repo.commit_all("base")
    empty_repo.git("switch", "-qc", "up")
    empty_repo.write("f", three("three of upstream"))
    empty_repo.commit_all("up")
    empty_repo.git("switch", "-q", "main")
    return empty_repo


@pytest.mark.parametrize("style", ["merge", "diff3"])
@pytest.mark.parametrize("by", ["tool", "shell"])
@pytest.mark.parametrize("settled", [*SETTLED.values(), BOTH], ids=[*SETTLED, "both"])
def test_a_popped_stash_that_meets_head_is_settled_and_committed(
    day: Repo, settled: str, by: str, style: str
) -> None:
    """The session alone was refused for good, as out of date, however it settled the conflict."""
    day.git("config", "merge.conflictStyle", style)
    day.edit("S1", "f", three("three of S1"))
    shells.run(day, "S1", "git stash -q; git merge -q up; git stash pop")
    assert day.git("status", "--porcelain") == "UU f"
    if by == "tool":
        day.edit("S1", "f", three(settled))
    else:
        Path(day.root.parent, "settled").write_text(three(settled))
        shells.run(day, "S1", "cat ../settled >f")
    shells.run(day, "S1", "git reset -q; git stash drop -q")
    answer = day.commit("S1")
    assert answer.status == ("nothing" if settled == SETTLED["theirs"] else "committed")
    assert day.blob("f").decode() == three(settled)
    assert day.git("status", "--porcelain") == ""


@pytest.mark.parametrize("whose", ["S2", None])
def test_a_line_of_another_in_a_conflict_stays_his(day: Repo, whose: str | None) -> None:
    """S1 settles it; what S2 or a person had written there is not S1's."""
    day.edit("S2", "f", three("three of S2")) if whose else day.write("f", three("three of S2"))
    day.git("stash", "-q")
    day.git("merge", "-q", "up")
    day.git("stash", "pop", "-q", code=1)
    day.edit("S1", "f", three("three of S2"))
    day.git("reset", "-q")
    day.run("commit", "--session", "S1", "-m", "x")
    assert "three of S2" not in day.blob("f").decode()


def test_marks_that_head_has_are_text(day: Repo) -> None:
    """A document about conflicts has them."""
    marks = "<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs"
    day.write("f", three(marks))
    day.commit_all("about conflicts")
    day.edit("S1", "f", three(marks).replace("two", "two of S1"))
    day.edit("S1", "f", three(marks).replace("two", "two of S1").replace("one", "one of S1"))
    day.commit("S1")
    assert day.git("status", "--porcelain") == ""

"""The behaviour matrix: what a loop over plans may meet, one test a row, the row's words as its name.

Each task is a session with a plan and a number, as a launcher starts it; its agent sees only the
exported environment and has an id of its own.
"""

import shlex
from dataclasses import dataclass

import pytest

from tests.support import payloads
from tests.support.repo import Answer, Repo
from tests.support.texts import TEN, changed


@dataclass(frozen=True)
class Task:
    """A task of a plan with the agent that works on it."""

    repo: Repo
    plan: str
    number: str
    env: dict[str, str]

    @property
    def session(self) -> str:
        return self.env["RALPH_SESSION"]

    def writes(self, path: str, text: str) -> None:
        """The agent's Write tool."""
        old = self.repo.read(path)
        self.repo.write(path, text)
        event = payloads.claude_write(
            f"agent-of-{self.session}",
            str(self.repo.root),
            str(self.repo.file(path)),
            None if old is None else old.decode(),
            text,
        )
        self.repo.hook("claude-code", event, env=self.env)

    def deletes(self, path: str) -> None:
        """A tool of the agent that deletes a file."""
        old = self.repo.read(path)
        self.repo.remove(path)
        event = payloads.edit("whoever", str(self.repo.root), path, old, None, event="delete")
        self.repo.hook("generic", event, env=self.env)

    def commits(self, *args: str, code: int = 0) -> Answer:
        """What the launcher does when the task is over."""
        return self.repo.commit(None, "--plan", self.plan, "--task", self.number, *args, code=code)


def begin(repo: Repo, plan: str, number: str = "1") -> Task:
    """``session start --plan --task --env sh``, as a launcher evaluates it."""
    said = repo.ralph("session", "start", "--plan", plan, "--task", number, "--env", "sh").text
    words = [word for row in said.splitlines() for word in shlex.split(row)[1:]]
    return Task(repo, plan, number, dict(word.split("=", 1) for word in words))


def test_two_plans_at_once_in_one_directory(repo: Repo) -> None:
    one, two = begin(repo, "one.md"), begin(repo, "two.md")
    assert one.session != two.session
    for n in range(3):
        one.writes(f"one-{n}", "one\n")
        two.writes(f"two-{n}", "two\n")
    one.writes("a", changed())
    two.writes("b", changed())
    assert one.commits().paths == {"a": "M", "one-0": "A", "one-1": "A", "one-2": "A"} == repo.changes()
    assert "Ralph-Plan: one.md\nRalph-Task: 1" in repo.trailers()
    assert two.commits().paths == {"b": "M", "two-0": "A", "two-1": "A", "two-2": "A"} == repo.changes()
    assert "Ralph-Plan: two.md\nRalph-Task: 1" in repo.trailers()
    assert repo.git("status", "--porcelain") == ""


def test_two_plans_at_once_in_one_directory_the_later_one_commits_first(repo: Repo) -> None:
    one, two = begin(repo, "one.md"), begin(repo, "two.md")
    one.writes("a", changed())
    two.writes("b", changed())
    two.commits()
    assert repo.changes() == {"b": "M"}
    assert f"Ralph-Session: {two.session}" in repo.trailers()
    one.commits()
    assert repo.changes() == {"a": "M"}


def test_a_no_op_task(repo: Repo) -> None:
    busy, idle = begin(repo, "plan.md", "1"), begin(repo, "plan.md", "2")
    busy.writes("a", changed())
    repo.write("u", "the user's\n")
    answer = idle.commits()
    assert (answer.status, answer.commit, repo.count()) == ("nothing", None, 1)
    assert repo.pending(busy.session) == ["a"]


def test_a_no_op_task_that_wrote_what_was_there(repo: Repo) -> None:
    task = begin(repo, "plan.md")
    task.writes("a", TEN)
    assert task.commits().status == "nothing"
    assert repo.count() == 1


def test_a_foreign_edit(repo: Repo) -> None:
    task = begin(repo, "plan.md")
    repo.write("u", "before the task wrote\n")
    task.writes("a", changed())
    repo.write("b", "after it\n")
    repo.write("new", "untracked\n")
    assert task.commits().paths == {"a": "M"} == repo.changes()
    assert repo.owners(task.session) == {"b": "nobody", "new": "nobody", "u": "nobody"}


def test_a_foreign_edit_in_the_same_file(repo: Repo) -> None:
    """The task's line alone is committed, the foreign line never."""
    task = begin(repo, "plan.md")
    repo.write("a", changed(2, "foreign"))
    task.writes("a", changed(8, "the task's", changed(2, "foreign")))
    repo.ralph("commit", "--session", task.session, "-m", "x")
    assert repo.blob("a") == changed(8, "the task's").encode()
    assert repo.read("a") == changed(8, "the task's", changed(2, "foreign")).encode()


def test_a_foreign_edit_that_is_staged(repo: Repo) -> None:
    task = begin(repo, "plan.md")
    repo.write("u", "the user's\n")
    repo.git("add", "u")
    staged = repo.staged()
    task.writes("a", changed())
    task.commits()
    assert repo.changes() == {"a": "M"}
    assert repo.staged() == staged
    repo.git("commit", "-q", "-m", "the user's own")
    assert repo.changes() == {"u": "M"}


def test_a_deletion(repo: Repo) -> None:
    task = begin(repo, "plan.md")
    task.deletes("d/a")
    assert task.commits().paths == {"d/a": "D"} == repo.changes()


def test_a_deletion_by_somebody_else(repo: Repo) -> None:
    task = begin(repo, "plan.md")
    task.writes("a", changed())
    repo.remove("b")
    assert task.commits().paths == {"a": "M"} == repo.changes()
    assert repo.owners(task.session) == {"b": "nobody"}


def test_a_deletion_of_what_the_other_plan_edits(repo: Repo) -> None:
    one, two = begin(repo, "one.md"), begin(repo, "two.md")
    two.writes("a", changed())
    one.deletes("a")
    assert one.commits(code=4).left == {"a": "contested"}
    assert repo.count() == 1


def test_a_plan_switched_mid_task(repo: Repo) -> None:
    """A launcher turns to another plan while an agent of the first still works; nothing changes hands."""
    one = begin(repo, "one.md")
    one.writes("a", changed())
    two = begin(repo, "two.md")
    one.writes("d/a", changed())
    two.writes("b", changed())
    assert (repo.state / "active-session").read_text().strip() == two.session
    assert repo.pending(one.session) == ["a", "d/a"]
    assert one.commits().paths == {"a": "M", "d/a": "M"}
    assert "Ralph-Plan: one.md" in repo.trailers()
    assert two.commits().paths == {"b": "M"}
    assert "Ralph-Plan: two.md" in repo.trailers()


def test_a_plan_switched_mid_task_and_back(repo: Repo) -> None:
    one = begin(repo, "one.md")
    one.writes("a", changed())
    begin(repo, "two.md")
    again = repo.ralph("session", "start", "--plan", "one.md", "--task", "1", "--continue").text.strip()
    assert again == one.session
    one.writes("b", changed())
    assert one.commits().paths == {"a": "M", "b": "M"}


def test_the_same_task_begun_twice_is_not_guessed(repo: Repo) -> None:
    one, two = begin(repo, "plan.md"), begin(repo, "plan.md")
    one.writes("a", changed())
    two.writes("b", changed())
    said = one.commits(code=4).said
    assert repo.called(one.session) in said
    assert repo.called(two.session) in said


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2), (2, 3, 1)])
def test_tasks_end_in_any_order(repo: Repo, order: tuple[int, ...]) -> None:
    tasks = {n: begin(repo, "plan.md", str(n)) for n in (1, 2, 3)}
    for n, task in tasks.items():
        task.writes(f"file-{n}", "text\n")
    for n in order:
        assert tasks[n].commits().paths == {f"file-{n}": "A"} == repo.changes()
    assert repo.git("status", "--porcelain") == ""

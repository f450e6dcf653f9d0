"""A repository with a plan and a scripted agent, and what the loop made of them."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import stub_agent
from tests.support.repo import Repo
from tests.support.runner import Done

STUB = stub_agent.__file__


@dataclass
class Loop:
    """The loop in one repository. ``aside`` is a folder outside of it."""

    repo: Repo
    aside: Path
    base: str

    @classmethod
    def make(cls, repo: Repo, aside: Path) -> "Loop":
        aside.mkdir(exist_ok=True)
        repo.env.update(STUB_LOCK=str(aside / "lock"), STUB_LOG=str(aside / "log"))
        return cls(repo, aside, repo.head())

    def plan(self, *tasks: str, name: str = "plan.md") -> None:
        """Write a plan of open tasks."""
        self.repo.write(name, "# Plan\n\n" + "".join(f"- [ ] {task}\n" for task in tasks))

    def script(self, script: Mapping[str, list[stub_agent.Do]]) -> None:
        """What the agent does, task by task."""
        (self.aside / "script.json").write_text(json.dumps(script))

    @property
    def agent(self) -> list[str]:
        """The agent's command."""
        return ["--", sys.executable, "-P", STUB, str(self.aside / "script.json")]

    def run(self, *words: str, code: int = 0, **how: Any) -> Done:
        """``git ralph run plan.md <words> -- <agent>``."""
        given = words if words and not words[0].startswith("-") else ("plan.md", *words)
        return self.repo.ralph("run", *given, *self.agent, code=code, **how)

    def subjects(self) -> list[str]:
        """The subjects since the beginning, oldest first."""
        return self.repo.git("log", "--reverse", "--format=%s", f"{self.base}..").splitlines()

    def commits(self) -> list[dict[str, str]]:
        """What each commit since the beginning contains, oldest first."""
        oids = self.repo.git("rev-list", "--reverse", f"{self.base}..").split()
        return [self.repo.changes(oid) for oid in oids]

    def boxes(self, name: str = "plan.md") -> str:
        """The marks of the plan's boxes, in order."""
        text = (self.repo.read(name) or b"").decode()
        return "".join(line[3] for line in text.splitlines() if line.startswith("- ["))

    def worked(self) -> list[str]:
        """The tasks the agent was called for, in order."""
        return [row["task"] for row in self.log()]

    def log(self) -> list[dict[str, str]]:
        """Every call of the agent."""
        path = self.aside / "log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def last_run(self) -> dict[str, Any]:
        """The record of the last run."""
        rows = self.repo.ralph("run", "list", "--json").json()
        found: dict[str, Any] = json.loads((self.repo.state / f"runs/{rows[-1]['id']}.json").read_text())
        return found

    def topics(self) -> list[str]:
        """The topics of the current run's events."""
        return [row["topic"] for row in self.repo.ralph("events", "--json").json()]

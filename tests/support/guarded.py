"""Plain ``git commit`` as an agent or a person runs it, in a repository with the guard."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from tests.support.home import with_tool_on_path
from tests.support.repo import Repo

TEN = "".join(f"line {number}\n" for number in range(1, 11))


def ten(**changed: str) -> str:
    """Ten lines of which some read otherwise: ``ten(l2="mine")``."""
    return "".join(changed.get(f"l{n}", f"line {n}") + "\n" for n in range(1, 11))


@dataclass(frozen=True)
class Ended:
    """How a git command ended."""

    code: int
    out: str
    said: str


def git_as(
    repo: Repo,
    session: str | None,
    *args: str,
    env: Mapping[str, str | None] | None = None,
    below: str = ".",
) -> Ended:
    """Run git as the shell of ``session``'s agent does, as a person's for None."""
    marks = {} if session is None else {"RALPH_SESSION": session}
    full = repo._environment({**marks, **(env or {})})
    done = subprocess.run(
        ["git", *args],
        cwd=repo.root / below,
        env={**full, "PATH": with_tool_on_path(full)["PATH"]},
        capture_output=True,
        check=False,
    )
    out, said = (one.decode("utf-8", "replace") for one in (done.stdout, done.stderr))
    assert "Traceback" not in said, said
    assert "internal error" not in said, said
    return Ended(done.returncode, out, said)


def commit_as(
    repo: Repo,
    session: str | None,
    *args: str,
    code: int = 0,
    env: Mapping[str, str | None] | None = None,
) -> Ended:
    """``git commit -m x`` by somebody; another exit code fails the test."""
    repo.tick()
    message = () if {"-F", "-C", "-m", "-e", "--no-edit"} & set(args) else ("-m", "x")
    done = git_as(repo, session, "commit", *message, *args, env=env)
    assert done.code == code, (done.code, done.out, done.said)
    return done


def narrowing(repo: Repo) -> Repo:
    """The guard in place, told to narrow; ``f``, ``g`` and ``h`` of ten lines each committed."""
    for path in ("f", "g", "h"):
        repo.write(path, TEN)
    repo.commit_all("base")
    repo.ralph("install", "--guard")
    repo.git("config", "ralph.guard", "narrow")
    return repo


def left_behind(repo: Repo) -> list[str]:
    """Locks of git's and work of ours that nobody will clear away."""
    locks = [p for p in repo.common.rglob("*.lock") if p.parent != repo.state / "locks"]
    work = [*repo.state.glob("narrowed/*"), *repo.state.glob("tmp/*"), *repo.state.glob("intents/*")]
    return sorted(str(path.relative_to(repo.common)) for path in (*locks, *work))

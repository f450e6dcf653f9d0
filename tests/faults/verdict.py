"""What must be true once a command that was hurt has been run again."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.scenes import Place
from tests.support import checks


@dataclass(frozen=True)
class Picture:
    """Everything of a repository that must come out the same, however the command was hurt."""

    tree: str
    count: int
    index: str
    staged: str
    files: tuple[tuple[str, bytes, int], ...]
    pending: str
    consumed: tuple[tuple[str, str, int], ...]
    reflogs: tuple[bool, ...]
    worktrees: tuple[str, ...]


def _files(root: Path) -> tuple[tuple[str, bytes, int], ...]:
    out = []
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file() and not name.startswith(".git/"):
            out.append((name, path.read_bytes(), path.stat().st_mode))
    return tuple(out)


def _lines(path: Path) -> list[dict[str, Any]]:
    # a torn tail is nobody's record
    rows = path.read_bytes().rpartition(b"\n")[0].split(b"\n") if path.exists() else []
    found = [json.loads(row) for row in rows if row.strip(b"\0 ")]
    assert all(isinstance(row, dict) for row in found)
    return found


def _consumed(state: Path) -> tuple[tuple[str, str, int], ...]:
    """Per file that notes consumption: for which session, how many times with a commit."""
    out = []
    for path in sorted([*state.glob("edits/*.jsonl"), *state.glob("*.commits")]):
        rows = [row for row in _lines(path) if "upto" in row or "paths" in row]
        for session in sorted({str(row["session"]) for row in rows}):
            out.append((path.name, session, sum(1 for row in rows if row["session"] == session)))
    return tuple(out)


def _commits(place: Place) -> list[str]:
    """Commit and tree of everything on the branch, newest first; nothing where it is unborn."""
    words = ["git", "log", "--format=%H %T"]
    done = subprocess.run(words, cwd=place.root, env=place.env, capture_output=True, check=False)
    assert done.returncode == 0 or b"does not have any commits yet" in done.stderr, done.stderr
    return done.stdout.decode().splitlines()


def picture(place: Place) -> Picture:
    """Look at a repository."""
    commits = _commits(place)
    head, _, tree = commits[0].partition(" ") if commits else ("", "", "")
    git_dir = place.root / ".git"
    branch = (git_dir / "HEAD").read_text().strip().removeprefix("ref: ")
    logs = [git_dir / "logs/HEAD"] + ([git_dir / "logs" / branch] if branch.startswith("refs/") else [])
    return Picture(
        tree,
        len(commits),
        place.git("ls-files", "-s"),
        place.git("diff", "--cached"),
        _files(place.root),
        place.ralph("ls-files", "--session", "S1").text,
        _consumed(git_dir / "ralph-sessions"),
        tuple(log.exists() and head in log.read_text() for log in logs),
        _worktrees(place),
    )


def _worktrees(place: Place) -> tuple[str, ...]:
    """What git knows of worktrees, without what HEAD is there; one that it could not use is named so."""
    rows = place.git("worktree", "list", "--porcelain").replace(str(place.root), "").splitlines()
    return tuple(row for row in rows if not row.startswith("HEAD "))


def leftovers(root: Path) -> list[str]:
    """Files that a human would have to know about: git locks, intents, work in progress."""
    git_dir, state = root / ".git", root / ".git/ralph-sessions"
    locks = [p for p in git_dir.rglob("*.lock") if p.parent != state / "locks"]
    work = [*state.glob("intents/*"), *state.glob("tmp/*")]
    return sorted(str(path.relative_to(git_dir)) for path in (*locks, *work))


def fsck(place: Place) -> str:
    """What ``git fsck --strict`` complains of; a dangling object is no complaint."""
    done = subprocess.run(
        ["git", *checks.FSCK],
        cwd=place.root,
        env=place.env,
        capture_output=True,
        check=False,
    )
    said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    return "\n".join(line for line in said.splitlines() if not line.startswith("notice: "))


def faults_of(place: Place, wanted: Picture) -> list[str]:
    """Everything that is not as it would be had nothing been hurt; empty when all is well."""
    found = []
    now = picture(place)
    for name in Picture.__dataclass_fields__:
        got, expected = getattr(now, name), getattr(wanted, name)
        if got != expected:
            found.append(f"{name} is {got!r}, expected {expected!r}")
    found += [f"left behind: {name}" for name in leftovers(place.root)]
    if said := fsck(place):
        found.append(f"fsck: {said}")
    return found

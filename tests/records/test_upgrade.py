"""What 0.1.0 left in the middle of its work is taken over whole, and 0.1.0 touches it no more.

The code of :data:`OLD` is taken out of this repository's own history and plays
``fixtures/make_upgrade.py``. Then both versions are asked the same questions on the same folder, and both
commit what was left, each in a copy that stands in the same place. Where they differ by intent,
:data:`DIFFERENT` says why; each of its rows must be needed.
"""

import hashlib
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.support import runner, sealed, source
from tests.support.archives import FIXTURES, extract
from tests.support.runner import Done
from tests.support.size import FULL

pytestmark = pytest.mark.wired

OLD = "26d110a"
ALICE, BOB, HOLDER, WORKER = "0b7cf1de-claude-alice", "codex-bob-7f21", "fleet-1", "worker-1"
COMMITS = ((BOB, "repo"), (ALICE, "repo"), (HOLDER, "repo"), (WORKER, "repo/.worktrees/ralph-bd-1"))
PATHS = (
    "claimed.txt",
    "corrected.txt",
    "crlf.txt",
    "done-1.txt",
    "fixed.txt",
    "generated.txt",
    "gone.txt",
    "held.txt",
    "loop-one.txt",
    "mixed.txt",
    "new/name.txt",
    "own.txt",
    "shared.py",
    "sub.txt",
    "undone.txt",
)
NO_BLAME = ("gone.txt", "generated.txt")
QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("status", "--json"),
    ("status", "--json", "--session", ALICE),
    ("session", "list", "--all", "--json"),
    *(("session", "show", one, "--json") for one in (ALICE, "done-1", "fleet-2")),
    *(("ls-files", "--session", one) for one in (ALICE, BOB, HOLDER)),
    *(("diff", "--session", one) for one in (ALICE, BOB, HOLDER)),
    *(("commit", "--dry-run", "--json", "--session", one) for one in (ALICE, BOB, HOLDER)),
    ("log", "--json"),
    ("undo", "--dry-run", "--json", "--session", BOB),
    ("run", "list", "--json"),
    ("events", "--json"),
    ("plan", "show"),
    ("worktree", "list", "--json"),
    ("fleet", "claims", "--json"),
    ("fleet", "status", "--json"),
    ("export", "--format", "agent-trace"),
    *(("why", "--json", one) for one in (PATHS if FULL else PATHS[::2])),
    *(("blame", "--json", one) for one in (PATHS if FULL else PATHS[::2]) if one not in NO_BLAME),
)
SHELL = (
    "what a shell command of that version may have made is offered no more; `diff --mine` leaves and names it"
)
DIFFERENT = {
    ("status --json", "/likely"): SHELL,
    (f"status --json --session {ALICE}", "/likely"): SHELL,
    (f"commit --dry-run --json --session {ALICE}", "/left"): SHELL,
    (f"commit --dry-run --json --session {ALICE}", "/notes"): "the note on a correction has other words",
    (f"undo --dry-run --json --session {BOB}", "/left"): "lines that were given by hand can be taken back",
    (f"undo --dry-run --json --session {BOB}", "/notes"): "the same",
    ("fleet status --json", "/looked"): "it is when it looked",
    ("export --format agent-trace", "/tool/version"): "it says which version wrote it",
    ("log --json", "/added"): "an edit in two places counts its own lines, not those between",
    ("log --json", "/removed"): "the same",
    ("blame --json new/name.txt", "/lines"): "who moves a file writes none of its lines",
}


@dataclass
class Versions:
    """The folder that 0.1.0 left, and the code of both."""

    folder: Path
    env: dict[str, str]
    code: Path
    answers: dict[tuple[str, ...], list[Done]] = field(default_factory=dict)
    landed: list[list[tuple[str, str, dict[str, str]]]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def ask(self, words: tuple[str, ...], is_old: bool, stdin: bytes = b"", where: str = "repo") -> Done:
        """What one version says; never a traceback."""
        env = {**self.env, **({"PYTHONPATH": str(self.code)} if is_old else {})}
        run = runner.as_process if is_old else runner.in_process
        done = run(words, cwd=str(self.folder / where), env=env, stdin=stdin)
        assert b"Traceback" not in done.err, (words, done.said)
        return done

    def git(self, *words: str, where: str = "repo") -> str:
        """What git says."""
        done = subprocess.run(
            ["git", *words], cwd=self.folder / where, env=self.env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def ask_all(self, is_old: bool) -> None:
        """Every question, then every commit that is left to make."""
        for words in QUESTIONS:
            self.answers.setdefault(words, []).append(self.ask(words, is_old))
        made = []
        for session, where in COMMITS:
            done = self.ask(("commit", "--json", "--session", session, "-m", "the rest"), is_old, where=where)
            assert done.code == 0, done.said
            paths = {row["path"]: row["change"] for row in done.json()["paths"]}
            made.append((session, self.git("rev-parse", "HEAD^{tree}", where=where), paths))
        self.landed.append(made)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Versions:
    """Played, asked and committed by 0.1.0; then, in a copy that was made before, by this version.

    Made once for all workers, by the first that asks: it is a hundred commands.
    """
    known = ["git", "cat-file", "-e", f"{OLD}:gitralph/cli/commit.py"]
    if subprocess.run(known, cwd=source.ROOT, capture_output=True, check=False).returncode:
        pytest.skip(f"NOT TRIED: {OLD} is not in this history")
    top = tmp_path_factory.getbasetemp()
    top = (top if worker_id == "master" else top.parent) / "upgrade"
    with FileLock(f"{top}.lock"):
        if not (top / "made").exists():
            (top / "made").write_bytes(pickle.dumps(_made(top)))
        versions: Versions = pickle.loads((top / "made").read_bytes())
    return versions


def _made(top: Path) -> Versions:
    code, there = top / "code", top / "there"
    packed = ["git", "archive", OLD, "gitralph"]
    data = subprocess.run(packed, cwd=source.ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        extract(tar, code)
    env = {**sealed.environment(top / "home"), "HOME": str(top / "there-home")}
    maker = [sys.executable, "-P", str(FIXTURES / "make_upgrade.py"), str(there)]
    its = {**env, "PYTHONPATH": str(code)}
    done = subprocess.run(maker, env=its, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    versions = Versions(there, env, code)
    subprocess.run(["cp", "-a", str(there), str(top / "kept")], check=True)
    versions.ask_all(is_old=True)
    shutil.rmtree(there)
    os.rename(top / "kept", there)
    assert (there / "repo/.git/ralph-sessions/format").read_text() == "1\n"
    versions.ask_all(is_old=False)
    versions.left = [
        versions.ask(("ls-files", "--session", one), False, where=at).text for one, at in COMMITS
    ]
    return versions


def _differences(old: Any, new: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where the new answer lacks or changes something of the old one; what it says beside is no loss."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            yield from _differences(value, new.get(key, "(nothing)"), f"{at}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _differences(one, other, at)
    elif old != new:
        yield at, old, new


def _parsed(done: Done) -> Any:
    try:
        return [json.loads(line) for line in done.text.splitlines()]
    except ValueError:
        pass
    try:
        return done.json()
    except ValueError:
        return done.text


def _explained(words: tuple[str, ...], at: str) -> tuple[str, str] | None:
    return next((key for key in DIFFERENT if key[0] == " ".join(words) and key[1] in at), None)


@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_every_answer_is_the_same(both: Versions, words: tuple[str, ...]) -> None:
    old, new = both.answers[words]
    assert old.code == new.code, (old.said, new.said)
    found = list(_differences(_parsed(old), _parsed(new)))
    assert [one for one in found if _explained(words, one[0]) is None] == []
    needed = {_explained(words, at) for at, _, _ in found}
    assert [key for key in DIFFERENT if key[0] == " ".join(words) and key not in needed] == []


def test_every_difference_is_one_of_a_question() -> None:
    assert {words for words, _ in DIFFERENT} <= {" ".join(words) for words in QUESTIONS}


def test_each_session_s_commit_has_the_same_tree(both: Versions) -> None:
    """Lines of a file that several changed, a deletion, a rename, claims, a linked worktree."""
    old, new = both.landed
    assert new == old
    assert [paths for _, _, paths in new if not paths] == []


def test_nothing_is_left_after_them(both: Versions) -> None:
    assert both.left == [""] * len(COMMITS)
    assert (both.folder / "repo/.git/ralph-sessions/format").read_text() == "2\n"


def test_a_person_s_plain_commit_is_told_of_what_that_version_left_pending(both: Versions) -> None:
    """Its sessions left no word for git's hook; it is there once this version has been there."""
    state = both.folder / "repo/.git/ralph-sessions"
    for path in (state / "alice-sub", state / "killed"):
        assert Path(f"{path}.files").exists()
    marks = {path.name for path in state.glob("*.pending")}
    assert "killed.pending" in marks


def _hashes(folder: Path) -> Mapping[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_earlier_version_refuses_the_new_state_and_changes_nothing(both: Versions) -> None:
    """The one test that asks in the folder which all workers share."""
    before = _hashes(both.folder / "repo/.git/ralph-sessions")
    for words in (
        "status",
        f"commit --session {ALICE} -m x",
        "fleet claims",
        "gc",
        "run list",
        "session start",
    ):
        done = both.ask(tuple(words.split()), True)
        assert done.code == 128, words
        assert "state format '2' is not known to this version (it knows '1')" in done.said
    event = {"session": ALICE, "cwd": str(both.folder / "repo"), "event": "edit", "path": "own.txt"}
    payload = json.dumps({**event, "before": "a", "after": "b"}).encode()
    done = both.ask(("hook", "generic"), True, stdin=payload)
    assert (done.code, done.out) == (0, b"")
    after = _hashes(both.folder / "repo/.git/ralph-sessions")
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} <= {
        str(both.folder / "repo/.git/ralph-sessions/hooks.log")
    }

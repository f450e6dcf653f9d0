"""``git ralph demo``: two scripted agents and a human in one throw-away repository, scene by scene.

Everything happens in a temporary folder with a home of its own; nothing outside it is read or written.
The last scene is a self-check that compares each commit with `script`, not with gitralph.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from subprocess import CompletedProcess, Popen

from gitralph.base import files, nul, runner
from gitralph.base.errors import Fatal
from gitralph.git.run import Git
from gitralph.setup.demo import check, scripted_agent
from gitralph.setup.demo import script as script_module
from gitralph.setup.demo.script import CLAUDE, HUMAN, PI, SHARED, StoryEdit

AGENTS = {CLAUDE: "claude-code", PI: "pi"}
_ENDED = "the demo's own step failed"
# In seconds. A demo's agent makes a few edits within one second; a longer run hangs.
_SECONDS = 60


@dataclass(frozen=True)
class SceneRow:
    """One line of a scene: who it belongs to, and its columns."""

    who: str | None
    columns: tuple[str, ...]


@dataclass
class StoryScene:
    """What the reader sees next: a title, what was typed, a table, remarks."""

    title: str
    command: str | None = None
    rows: list[SceneRow] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Playground:
    """The throw-away folder: a repository, a home, and the environment of everybody in it."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="git-ralph-demo-"))
        self.root = self.folder + "/repository"
        self.lock = self.folder + "/turn"
        for name in ("home", "tmp", "repository"):
            os.mkdir(f"{self.folder}/{name}")
        self.env = self._environment(environ)
        self.git = Git(Git.find(environ).program, self.env, self.root)

    def _environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {
            "PATH": environ.get("PATH", os.defpath),
            "HOME": self.folder + "/home",
            "TMPDIR": self.folder + "/tmp",
            "LC_ALL": "C.UTF-8",
            # Nothing of this machine's configuration: the story is the same everywhere.
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": self.folder,
            "GIT_TERMINAL_PROMPT": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            # The agents run the gitralph that plays this, also from a checkout.
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry[:1] == "/"),
        }

    def ralph(self, *args: str) -> "CompletedProcess[bytes]":
        """Run ``git ralph`` as a user would; its output comes back."""
        words = [*scripted_agent.GIT_RALPH, *args]
        return runner.run(words, env=self.env, cwd=self.root)

    def write(self, edit: StoryEdit) -> None:
        """The human's editor saves a file."""
        with files.Locked(self.lock, 60):
            file = os.path.join(self.root, edit.path)
            scripted_agent.save(file, edit.apply(scripted_agent.read(file)))

    def files(self) -> dict[str, str]:
        """Every file of the working tree with its text."""
        names = nul.texts(self.git.run("ls-files", "-z", "--cached", "--others"))
        return {name: scripted_agent.read(os.path.join(self.root, name)) or "" for name in names}

    def remove(self) -> None:
        """Take the whole folder away."""
        shutil.rmtree(self.folder, ignore_errors=True)


def set_up(stage: Playground) -> None:
    """The repository as it is before anybody works in it."""
    stage.git.run("init", "-q", "-b", "main")
    for key, value in (("user.name", "The Human"), ("user.email", "human@example.com")):
        stage.git.run("config", key, value)
    for path, text in script_module.BASE.items():
        scripted_agent.save(os.path.join(stage.root, path), text)
    stage.git.run("add", ".")
    stage.git.run("commit", "-q", "-m", "Start")


def _start_agent(stage: Playground, session: str) -> "Popen[bytes]":
    edits = [[edit.path, edit.old, edit.new] for edit in script_module.EDITS[session]]
    script = {
        "agent": AGENTS[session],
        "session": session,
        "cwd": stage.root,
        "lock": stage.lock,
        "edits": edits,
    }
    words = [sys.executable, "-P", "-m", "gitralph.setup.demo.scripted_agent"]
    child = runner.start(words, env=stage.env, cwd=stage.root, stdin=subprocess.PIPE, stdout=None)
    assert child.stdin is not None
    child.stdin.write(json.dumps(script).encode())
    child.stdin.close()
    # communicate() would flush what is closed.
    child.stdin = None
    return child


def _human_works(stage: Playground) -> None:
    stage.write(script_module.STAGED_EDIT)
    stage.git.run("add", script_module.STAGED)
    for edit in script_module.EDITS[HUMAN]:
        stage.write(edit)


def _everybody_works(stage: Playground) -> None:
    """Both agents and the human at once."""
    human = threading.Thread(target=_human_works, args=(stage,))
    agents = [_start_agent(stage, session) for session in AGENTS]
    human.start()
    try:
        for child in agents:
            _, said = child.communicate(timeout=_SECONDS)
            if child.returncode:
                raise Fatal(f"{_ENDED}: {said.decode('utf-8', 'replace').strip()[-400:]}")
    finally:
        human.join()
        for child in agents:
            child.kill()


def _status(stage: Playground, title: str) -> StoryScene:
    """What anybody sees who types ``git ralph status`` now."""
    done = stage.ralph("status")
    if done.returncode:
        raise Fatal(f"{_ENDED}: {done.stderr.decode('utf-8', 'replace').strip()}")
    rows = done.stdout.decode("utf-8", "replace").splitlines()
    return StoryScene(title, "git ralph status", [SceneRow(None, (row,)) for row in rows])


def _who_wrote(stage: Playground) -> StoryScene:
    """The shared file with the author of each line, by the script."""
    rows = []
    for line in (scripted_agent.read(f"{stage.root}/{SHARED}") or "").splitlines():
        who = script_module.author_of(line)
        rows.append(SceneRow(who, (f"+ {who}" if who else "", line)))
    return StoryScene(f"{SHARED} in the working tree, three hands in one file", None, rows)


@dataclass
class StoryCommit:
    """One commit of the story: what it should hold is checked at the end."""

    who: str
    oid: str
    edits: list[StoryEdit]


def _stat(stage: Playground, oid: str) -> list[SceneRow]:
    """A commit's content: every line that it adds or takes away."""
    rows = []
    for path, (added, removed) in check.content(stage.git, oid).items():
        marked = [("-", line) for line in removed] + [("+", line) for line in added]
        for number, (sign, line) in enumerate(marked):
            rows.append(SceneRow(sign, (path if number == 0 else "", f"{sign} {line}")))
    return rows


def _try_commit(stage: Playground, who: str) -> tuple[StoryScene, str | None]:
    words = ["commit", "--session", who, "-m", script_module.SUBJECTS[who]]
    done = stage.ralph(*words)
    shown = " ".join(f"'{word}'" if " " in word else word for word in words)
    said = done.stderr.decode("utf-8", "replace").splitlines()
    if done.returncode:
        return StoryScene(f"{who} cannot commit", f"git ralph {shown}", remarks=said, faults=said), None
    oid = stage.git.line("rev-parse", "HEAD")
    return StoryScene(f"{who} commits {oid[:7]}", f"git ralph {shown}", _stat(stage, oid), said), oid


def _human_commits(stage: Playground, landed: list[StoryCommit]) -> Iterator[StoryScene]:
    """Plain git: first what was staged, then the rest of the human's own."""
    for subject, edits, more in (
        (script_module.STAGED_SUBJECT, [script_module.STAGED_EDIT], []),
        (script_module.SUBJECTS[HUMAN], script_module.EDITS[HUMAN], ["-a"]),
    ):
        stage.git.run("commit", "-q", "-m", subject, *more)
        oid = stage.git.line("rev-parse", "HEAD")
        landed.append(StoryCommit(HUMAN, oid, edits))
        shown = " ".join(["git commit -m", f"'{subject}'", *more])
        yield StoryScene(f"{HUMAN} commits {oid[:7]}", shown, _stat(stage, oid))


def _blame(stage: Playground, landed: list[StoryCommit]) -> StoryScene:
    """The shared file by git: which commit holds each line."""
    by_oid = {one.oid: one.who for one in landed}
    rows = []
    oid = ""
    for line in stage.git.run("blame", "--porcelain", SHARED).decode().splitlines():
        if line.startswith("\t"):
            name = "uncommitted" if not oid.strip("0") else oid[:7]
            who = by_oid.get(oid)
            rows.append(SceneRow(who, (name, who or "", line[1:])))
        elif len(line.split(" ", 1)[0]) == 40:
            oid = line[:40]
    return StoryScene(f"{SHARED} afterwards, as git blame tells it", f"git blame {SHARED}", rows)


def play(environ: Mapping[str, str], keep: bool) -> Generator[StoryScene]:
    """The whole story; the last scene holds the verdict. The folder goes away unless ``keep``."""
    stage = Playground(environ)
    try:
        yield from acts(stage)
        if keep:
            yield StoryScene("Kept", None, remarks=[stage.root])
    finally:
        if not keep:
            stage.remove()


def acts(stage: Playground) -> Iterator[StoryScene]:
    """The scenes in order; the last holds the verdict."""
    set_up(stage)
    _everybody_works(stage)
    yield _status(stage, "Before any commit: whose every change is")
    yield _who_wrote(stage)
    # Both must be the same after all agents committed: the promise of `commit`.
    staged, files = stage.git.run("diff", "--cached"), stage.files()
    landed: list[StoryCommit] = []
    faults: list[str] = []
    for who in AGENTS:
        scene, oid = _try_commit(stage, who)
        if oid is not None:
            landed.append(StoryCommit(who, oid, script_module.EDITS[who]))
        faults += scene.faults
        yield scene
    if stage.git.run("diff", "--cached") != staged:
        faults.append("what the human had staged changed")
    yield from _human_commits(stage, landed)
    if stage.files() != files:
        faults.append("the working tree changed")
    yield _status(stage, "Afterwards: what is left")
    yield _blame(stage, landed)
    for one in landed:
        faults += check.compare(stage.git, one.who, one.oid, one.edits)
    faults += check.nothing_lost(stage.git, {one.who: one.edits for one in landed})
    yield _verdict(landed, faults)


def _verdict(landed: list[StoryCommit], faults: list[str]) -> StoryScene:
    remarks = [
        f"{len(landed)} commits, each compared line by line with who wrote what",
        "the human's staged change was left alone and committed by a plain git commit",
        "no line is missing, no file was touched",
    ]
    return StoryScene("Self-check", None, remarks=[] if faults else remarks, faults=faults)

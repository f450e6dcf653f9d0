"""A repository with real git, and what sessions and people do in it, a call each.

Paths are text relative to the root; bytes that are not UTF-8 are surrogate-escaped, as in JSON.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support import checks, payloads, prepared, runner, sealed, texts
from tests.support.runner import Done

Env = Mapping[str, str | None]


class Unset:
    """The type of UNSET: a text nobody gave, as against None, an absent file."""


UNSET = Unset()


@dataclass(frozen=True)
class Answer:
    """The ``--json`` document of a commit, with what was said on stderr."""

    document: dict[str, Any]
    said: str

    @property
    def status(self) -> str:
        return str(self.document["status"])

    @property
    def commit(self) -> str | None:
        found: str | None = self.document["commit"]
        return found

    @property
    def paths(self) -> dict[str, str]:
        """Path to change letter."""
        return {row["path"]: row["change"] for row in self.document["paths"]}

    @property
    def how(self) -> dict[str, str]:
        """Path to ``edits``, ``whole-file`` or ``shell``."""
        return {row["path"]: row["how"] for row in self.document["paths"]}

    @property
    def left(self) -> dict[str, str]:
        """Path to the reason it was left or refused for."""
        return {row["path"]: row["reason"] for row in self.document["left"]}

    @property
    def notes(self) -> str:
        """All notes, one a line."""
        return "\n".join(self.document["notes"])


@dataclass
class Repo:
    """One worktree. ``env`` is what its commands run in; ``process`` runs them as processes."""

    root: Path
    env: dict[str, str]
    process: bool = False
    _clock: list[int] = field(default_factory=lambda: [sealed.EPOCH])
    _changes: dict[str, dict[str, str]] = field(default_factory=dict)
    _commits: set[str] = field(default_factory=set)

    @classmethod
    def init(cls, root: Path, env: Mapping[str, str], *options: str) -> "Repo":
        """``git init`` at ``root``; without options a copy of what it made before, which is cheaper."""
        repo = cls(root, dict(env))
        root.mkdir(parents=True, exist_ok=True)
        if options or (root / ".git").exists() or not sealed.is_usual(env):
            repo.git("init", "-q", *options)
        else:
            prepared.copy("empty", root, repo._initialised)
        return repo

    @classmethod
    def of_ten(cls, root: Path, env: Mapping[str, str]) -> "Repo":
        """A repository with one commit: ``a``, ``b``, ``u`` of ten lines each, and ``d/a``, ``e/b``."""
        repo = cls(root, dict(env))
        repo.tick()
        prepared.copy("of ten", root, repo._of_ten)
        return repo

    @classmethod
    def once(cls, name: str, root: Path, env: Mapping[str, str], make: Callable[["Repo"], object]) -> "Repo":
        """A copy of what ``make`` made of an empty repository, which it does once; an hour later."""
        repo = cls(root, dict(env), _clock=[sealed.EPOCH + 3600])
        made = prepared.copy(name, root, lambda folder: make(cls.init(folder, env)))
        for record in repo.state.glob("*.json"):
            record.write_text(record.read_text().replace(f'"{made}"', f'"{root}"'))
        return repo

    def _initialised(self, root: Path) -> None:
        root.mkdir()
        # a template without git's fourteen samples of hooks: nothing reads them, and each would be copied
        template = root.parent / "template"
        (template / "hooks").mkdir(parents=True)
        (template / "info").mkdir()
        (template / "info" / "exclude").write_text("# nothing\n")
        Repo(root, self.env).git("init", "-q", f"--template={template}")

    def _of_ten(self, root: Path) -> None:
        made = Repo.init(root, self.env)
        for path in ("a", "b", "u", "d/a", "e/b"):
            made.write(path, texts.TEN)
        made.commit_all("base")

    # --- git ---

    def _environment(self, env: Env | None) -> dict[str, str]:
        stamp = f"{self._clock[0]} +0000"
        both = {**self.env, "GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp, **(env or {})}
        return {name: value for name, value in both.items() if value is not None}

    def git_bytes(self, *args: str, stdin: bytes = b"", code: int = 0, env: Env | None = None) -> bytes:
        """Run git here and return its standard output; any other exit code fails the test."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.root,
            env=self._environment(env),
            input=stdin,
            capture_output=True,
            check=False,
        )
        assert done.returncode == code, f"git {' '.join(args)}: {done.returncode}\n{done.stderr.decode()}"
        return done.stdout

    def git(self, *args: str, stdin: bytes = b"", code: int = 0, env: Env | None = None) -> str:
        """As :meth:`git_bytes`, as text without the last newline."""
        return (
            self.git_bytes(*args, stdin=stdin, code=code, env=env)
            .decode("utf-8", "surrogateescape")
            .rstrip("\n")
        )

    def tick(self) -> None:
        """One minute later: gives each commit a date of its own."""
        self._clock[0] += 60

    def commit_all(self, message: str) -> str:
        """The user commits everything with plain git; returns the commit."""
        self.tick()
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.head()

    def head(self) -> str:
        """HEAD's oid: from its files where they say it, else from git."""
        said = (self.git_dir / "HEAD").read_text().strip()
        try:
            oid = (self.common / said.removeprefix("ref: ")).read_text().strip()
        except OSError:
            oid = said
        return oid if len(oid) == 40 and not oid.startswith("ref:") else self.git("rev-parse", "HEAD")

    def count(self, revision: str = "HEAD") -> int:
        """How many commits ``revision`` has."""
        return int(self.git("rev-list", "--count", revision))

    def changes(self, commit: str = "HEAD") -> dict[str, str]:
        """What a commit contains, path to letter, judged on bytes against its parent."""
        if commit in self._changes:
            return self._changes[commit]
        said = self.git_bytes(
            "diff-tree", "-r", "--root", "--no-renames", "-z", "--no-commit-id", "--name-status", commit, "--"
        )
        fields = said.decode("utf-8", "surrogateescape").split("\0")
        found = dict(zip(fields[1::2], fields[0::2], strict=False))
        if len(commit) == 40:
            self._changes[commit] = found
        return found

    def has_commit(self, oid: str) -> None:
        """Fail where there is no such commit; git is asked once."""
        if oid not in self._commits:
            self.git("cat-file", "-e", f"{oid}^{{commit}}")
            self._commits.add(oid)

    def blob(self, path: str, commit: str = "HEAD") -> bytes:
        """The blob at ``path`` in a commit."""
        return self.git_bytes("cat-file", "blob", f"{commit}:{path}")

    def mode(self, path: str, commit: str = "HEAD") -> str:
        """The mode at ``path`` in a commit, empty where there is none."""
        return self.git("--literal-pathspecs", "ls-tree", commit, "--", path)[:6]

    def trailers(self, commit: str = "HEAD") -> str:
        """The trailers of a commit's message, one a line."""
        return self.git("log", "-1", "--format=%(trailers:only,unfold)", commit).strip()

    def staged(self) -> str:
        """The staged diff."""
        return self.git("diff", "--cached", "--no-renames", "--full-index", "--binary")

    def worktree(self, name: str, *args: str) -> "Repo":
        """A linked worktree beside this one, on a branch of its name."""
        root = self.root.parent / name
        self.git("worktree", "add", "-q", "-b", name, str(root), *args)
        return Repo(root, dict(self.env), self.process, self._clock)

    @property
    def git_dir(self) -> Path:
        """The git dir of this worktree."""
        named = self.root / ".git"
        if named.is_dir():
            return named
        if "GIT_DIR" not in self.env and named.is_file():
            return self.root / named.read_text().removeprefix("gitdir: ").strip()
        return Path(self.git("rev-parse", "--absolute-git-dir"))

    @property
    def common(self) -> Path:
        """The common dir."""
        own = self.git_dir
        try:
            return Path(os.path.normpath(own / (own / "commondir").read_text().strip()))
        except FileNotFoundError:
            return own

    @property
    def state(self) -> Path:
        """The state folder; it may not exist yet."""
        return self.common / "ralph-sessions"

    # --- files ---

    def file(self, path: str) -> Path:
        """The absolute name of a path."""
        return Path(os.path.join(self.root, path))

    def write(self, path: str, text: str | bytes, mode: int | None = None) -> None:
        """Write a file as somebody without hooks would; folders are made."""
        file = self.file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        if mode is not None:
            file.chmod(mode)

    def read(self, path: str) -> bytes | None:
        """A file's bytes, None when absent."""
        try:
            return self.file(path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def remove(self, path: str) -> None:
        """Delete a file as somebody without hooks would."""
        self.file(path).unlink()

    # --- the tool ---

    def run(
        self,
        *args: str,
        env: Env | None = None,
        stdin: bytes = b"",
        cwd: str | Path = ".",
        process: bool | None = None,
    ) -> Done:
        """Run ``git ralph`` and hand back whatever came of it; never a traceback."""
        run = runner.as_process if (self.process if process is None else process) else runner.in_process
        folder = os.path.normpath(os.path.join(self.root, cwd))
        done = run(args, cwd=folder, env=self._environment(env), stdin=stdin)
        assert b"Traceback" not in done.err, done.said
        assert b"internal error" not in done.err, done.said
        return done

    def ralph(
        self,
        *args: str,
        code: int = 0,
        env: Env | None = None,
        stdin: bytes = b"",
        cwd: str | Path = ".",
        process: bool | None = None,
    ) -> Done:
        """Run ``git ralph`` and expect an exit code; a failure leaves stdout empty but for ``--json``."""
        done = self.run(*args, env=env, stdin=stdin, cwd=cwd, process=process)
        assert done.code == code, f"git ralph {' '.join(args)}: {done.code}\n{done.text}\n{done.said}"
        if code > 1 and "--json" not in args:
            assert done.out == b"", done.text
        return done

    def hook(self, agent: str, payload: object, **how: Any) -> Done:
        """Send one event; a recording hook says nothing on stdout and exits 0."""
        data = payload if isinstance(payload, bytes) else payloads.encode(payload)
        done = self.ralph("hook", agent, stdin=data, **how)
        assert done.out == b""
        return done

    # --- what sessions do ---

    def edit(
        self,
        session: str,
        path: str,
        after: str | bytes,
        before: str | bytes | Unset | None = UNSET,
        *,
        mode: int | None = None,
        fields: Mapping[str, object] | None = None,
        **how: Any,
    ) -> None:
        """``session`` edits ``path`` by a tool: the file is written, the event has both texts."""
        old = self.read(path) if isinstance(before, Unset) else before
        self.write(path, after, mode)
        self.hook(
            "generic", {**payloads.edit(session, str(self.root), path, old, after), **(fields or {})}, **how
        )

    def delete(self, session: str, path: str, **fields: object) -> None:
        """``session`` deletes ``path`` by a tool."""
        file = self.file(path)
        old = os.fsencode(os.readlink(file)) if file.is_symlink() else self.read(path)
        self.remove(path)
        self.hook(
            "generic", payloads.edit(session, str(self.root), path, old, None, event="delete", **fields)
        )

    def rename(self, session: str, old: str, new: str) -> None:
        """``session`` renames a file or folder by a tool, recorded as one event."""
        self.file(new).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.file(old), self.file(new))
        event = {"session": session, "cwd": str(self.root), "event": "rename", "path": old, "to": new}
        self.hook("generic", event)

    def start(self, session: str, *args: str) -> None:
        """``git ralph session start --id <session>``."""
        self.ralph("session", "start", "--id", session, *args)

    # --- what they see ---

    def called(self, session: str) -> str:
        """The name of a session, as people see it."""
        return str(json.loads((self.state / f"{session}.json").read_text())["name"])

    def pending(self, session: str, **how: Any) -> list[str]:
        """``ls-files -z --session``; nothing for a session that recorded nothing, which is fatal there."""
        done = self.run("ls-files", "-z", "--session", session, **how)
        assert done.code == 0 or (done.code, done.out) == (128, b""), done.said
        assert done.code == 0 or f"no session '{session}'" in done.said, done.said
        return done.text.split("\0")[:-1]

    def owners(self, session: str | None = None) -> dict[str, str]:
        """``status --json``: path to owner."""
        chosen = ["--session", session] if session else []
        rows = self.ralph("status", "--json", *chosen).json()["paths"]
        assert len({row["path"] for row in rows}) == len(rows), "a path is listed twice"
        return {row["path"]: row["owner"] for row in rows}

    def commit(
        self, session: str | None, *args: str, code: int = 0, checked: bool = True, **how: Any
    ) -> Answer:
        """``git ralph commit --session <session> -m x --json <args>`` inside the closing checks.

        With ``code=4`` the checks are those of *Refused*: nothing at all has changed.
        """
        self.tick()
        chosen = ["--session", session] if session is not None else []
        message = [] if {"-m", "-F"} & set(args) else ["-m", "x"]
        with checks.closing_checks(self, moves=code == 0, on=checked):
            done = self.ralph("commit", *chosen, *message, "--json", *args, code=code, **how)
        document = done.json()
        if code == 4:
            assert document["status"] == "refused"
            assert document["commit"] is None
        return Answer(document, done.said)

"""Repositories to hurt: each made once as a template, then copied for every point of a sweep."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.runner import Done, in_process

TEN = "".join(f"line {n}\n" for n in range(1, 11))


@dataclass(frozen=True)
class Scene:
    """A template folder and the command that is hurt in copies of it."""

    name: str
    template: Path
    env: Mapping[str, str]
    args: tuple[str, ...]
    stdin: bytes = b""

    def copy(self, where: Path) -> "Place":
        """A fresh copy with the same times, so that git's index still fits."""
        subprocess.run(["cp", "-a", str(self.template), str(where)], check=True)
        return Place(where, self.env, self.args, self.stdin.replace(b"@ROOT@", os.fsencode(str(where))))


@dataclass(frozen=True)
class Place:
    """One copy of a scene."""

    root: Path
    env: Mapping[str, str]
    args: tuple[str, ...] = ()
    stdin: bytes = b""

    def git(self, *args: str) -> str:
        """What git prints."""
        done = subprocess.run(["git", *args], cwd=self.root, env=self.env, capture_output=True, check=False)
        assert done.returncode == 0, (args, done.stderr.decode("utf-8", "replace"))
        return done.stdout.decode("utf-8", "surrogateescape")

    def ralph(self, *args: str, stdin: bytes = b"") -> Done:
        """``git ralph`` unharmed."""
        return in_process(args, cwd=str(self.root), env=self.env, stdin=stdin)

    def again(self) -> Done:
        """The scene's own command once more, unharmed."""
        return self.ralph(*self.args, stdin=self.stdin)

    def write(self, path: str, text: str) -> None:
        """Write a file as somebody without a session would."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def edit(self, path: str, text: str | None, session: str = "S1") -> None:
        """An edit by a session's tool, recorded; None deletes."""
        file = self.root / path
        before = file.read_text() if file.exists() else None
        if text is None:
            file.unlink()
        else:
            self.write(path, text)
        done = self.ralph("hook", "generic", stdin=event(session, str(self.root), path, before, text))
        assert (done.code, done.said) == (0, "")


def event(session: str, cwd: str, path: str, before: str | None, after: str | None) -> bytes:
    """The payload of one edit."""
    kind = "delete" if after is None else "edit"
    fields = {"session": session, "cwd": cwd, "event": kind, "path": path, "before": before, "after": after}
    return json.dumps(fields).encode()


def _new(folder: Path, env: Mapping[str, str]) -> Place:
    folder.mkdir(parents=True)
    place = Place(folder, env)
    place.git("init", "-q")
    return place


def _based(folder: Path, env: Mapping[str, str]) -> Place:
    place = _new(folder, env)
    for path in ("a", "b", "gone", "d/m", "u"):
        place.write(path, TEN)
    place.git("add", ".")
    place.git("commit", "-qm", "base")
    return place


def _edits(place: Place) -> None:
    """S1 modifies two files, makes one, deletes one; the user has one of them and another staged."""
    place.write("a", TEN.replace("line 2\n", "user's line 2\n"))
    place.git("add", "a")
    place.write("a", TEN)
    place.edit("a", TEN.replace("line 9\n", "line nine\n"))
    place.edit("d/m", TEN + "line 11\n")
    place.edit("n/new", "new\n")
    place.edit("gone", None)
    place.write("b", "staged by the user\n")
    place.git("add", "b")
    place.write("u", "dirty, nobody's\n")


_COMMIT = ("commit", "--session", "S1", "-m", "x")


def branch(folder: Path, env: Mapping[str, str]) -> Scene:
    """A commit on a branch that modifies, creates, deletes and carries a staged change over."""
    _edits(_based(folder, env))
    return Scene("branch", folder, env, _COMMIT)


def packed(folder: Path, env: Mapping[str, str]) -> Scene:
    """The same with the branch in packed-refs and no reflog yet."""
    place = _based(folder, env)
    _edits(place)
    place.git("pack-refs", "--all")
    place.git("reflog", "expire", "--expire=now", "--all")
    for log in ("logs/HEAD", "logs/refs/heads/main"):
        (folder / ".git" / log).unlink(missing_ok=True)
    return Scene("packed", folder, env, _COMMIT)


def detached(folder: Path, env: Mapping[str, str]) -> Scene:
    """A commit on a detached HEAD."""
    place = _based(folder, env)
    place.git("checkout", "-q", "--detach")
    _edits(place)
    return Scene("detached", folder, env, _COMMIT)


def unborn(folder: Path, env: Mapping[str, str]) -> Scene:
    """The first commit of a repository in which the user has staged a file."""
    place = _new(folder, env)
    place.write("mine", "staged\n")
    place.git("add", "mine")
    place.edit("a", TEN)
    place.edit("d/n", "n\n")
    return Scene("unborn", folder, env, _COMMIT)


def hooked(folder: Path, env: Mapping[str, str]) -> Scene:
    """A commit through pre-commit and commit-msg hooks, in the scratch worktree."""
    place = _based(folder, env)
    _edits(place)
    for name in ("pre-commit", "commit-msg"):
        hook = folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 0\n")
        hook.chmod(0o755)
    return Scene("hooked", folder, env, _COMMIT)


def proved(folder: Path, env: Mapping[str, str]) -> Scene:
    """A commit that a command must pass first, in a worktree for proofs."""
    _edits(_based(folder, env))
    return Scene("proved", folder, env, (*_COMMIT, "--prove", "test -e n/new"))


def amended(folder: Path, env: Mapping[str, str]) -> Scene:
    """S1's last commit, made again with what it edited since; the user has something staged on its path."""
    place = _based(folder, env)
    place.edit("n/first", TEN)
    assert place.ralph(*_COMMIT).code == 0
    _edits(place)
    place.edit("n/first", TEN + "line 11\n")
    return Scene("amended", folder, env, ("commit", "--session", "S1", "--amend"))


def fixed_up(folder: Path, env: Mapping[str, str]) -> Scene:
    """A fixup of an earlier commit of S1's."""
    place = _based(folder, env)
    place.edit("n/first", TEN)
    assert place.ralph(*_COMMIT).code == 0
    _edits(place)
    place.edit("n/first", TEN + "line 11\n")
    return Scene("fixed_up", folder, env, ("commit", "--session", "S1", "--fixup", "HEAD"))


def nothing(folder: Path, env: Mapping[str, str]) -> Scene:
    """A commit that only notes that an edit was taken back."""
    place = _based(folder, env)
    place.edit("a", "other\n")
    place.edit("a", TEN)
    return Scene("nothing", folder, env, _COMMIT)


def first_hook(folder: Path, env: Mapping[str, str]) -> Scene:
    """The first event ever: it makes the state folder."""
    place = _based(folder, env)
    place.write("a", TEN + "more\n")
    stdin = event("S1", "@ROOT@", "a", TEN, TEN + "more\n")
    return Scene("first_hook", folder, env, ("hook", "generic"), stdin)


def later_hook(folder: Path, env: Mapping[str, str]) -> Scene:
    """An event after a gap, so that a full text is stored too."""
    place = _based(folder, env)
    place.edit("a", TEN + "S1\n")
    place.edit("a", TEN)
    assert place.ralph(*_COMMIT).code == 0
    place.write("a", TEN + "more\n")
    stdin = event("S1", "@ROOT@", "a", TEN, TEN + "more\n")
    return Scene("later_hook", folder, env, ("hook", "generic"), stdin)


def track(folder: Path, env: Mapping[str, str]) -> Scene:
    """A path claimed by hand, first thing."""
    place = _based(folder, env)
    place.write("a", TEN + "more\n")
    return Scene("track", folder, env, ("track", "--session", "S1", "--", "a"))


def assigned(folder: Path, env: Mapping[str, str]) -> Scene:
    """Lines that nobody recorded become S1's: of a file it shares, a new one, and one that is gone."""
    place = _based(folder, env)
    place.edit("a", TEN.replace("line 9\n", "line nine\n"))
    place.edit("b", TEN.replace("line 9\n", "S2's\n"), "S2")
    place.write("a", (folder / "a").read_text().replace("line 2\n", "user's\n").replace("line 5\n", "his\n"))
    place.write("b", (folder / "b").read_text().replace("line 2\n", "user's\n"))
    place.write("n/new", "the user's\n")
    (folder / "gone").unlink()
    return Scene("assigned", folder, env, ("assign", "--to", "S1", "--", "a:2", "b", "n/new", "gone"))


def released(folder: Path, env: Mapping[str, str]) -> Scene:
    """Claims by path, by hand and by a bare line of the manifest, are taken back; an edit stays S1's."""
    place = _based(folder, env)
    place.edit("d/m", TEN + "line 11\n")
    place.write("a", TEN + "more\n")
    place.write("b", TEN + "more\n")
    assert place.ralph("track", "--session", "S1", "--", "a").code == 0
    with (folder / ".git/ralph-sessions/S1.files").open("a") as manifest:
        manifest.write("b\n")
    return Scene("released", folder, env, ("track", "--release", "--session", "S1", "--", "a", "b"))


def proving(folder: Path, env: Mapping[str, str]) -> Scene:
    """Two commits of a range proved one after the other."""
    place = _based(folder, env)
    for text in ("more\n", "most\n"):
        place.write("a", TEN + text)
        place.git("commit", "-qam", text)
    place.write("u", "dirty, nobody's\n")
    return Scene("proving", folder, env, ("prove", "HEAD~2..HEAD", "--", "grep", "-q", "mo", "a"))


COMMITS = (branch, packed, detached, unborn, hooked, proved, nothing, amended, fixed_up)
RECORDERS = (first_hook, later_hook, track, assigned, released)

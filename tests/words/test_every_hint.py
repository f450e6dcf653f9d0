"""Every refusal and every note that says what to type: read and typed as an agent, and as a person.

The list of them is taken from the source, so that a new one without a scene fails here. Each hint is typed in
a real shell, in a copy of its own, and ends the problem: what was refused goes through afterwards, or the
hint did it itself, or it is a look at what is there. The refusals of a commit by their reasons are walked in
``test_ways_out`` and ``test_hint_audience``.
"""

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gitralph.base import errors
from gitralph.cli.terminal import output
from tests.support import keep, shells, source
from tests.support.guarded import narrowing, ten
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo
from tests.support.runner import Done
from tests.support.texts import TEN, changed
from tests.words.test_hint_audience import FOR_PEOPLE, keeps_to_its_own
from tests.words.test_ways_out import (
    beside_what_is_staged,
    conflict_stages,
    two_sessions_over_each_others_lines,
)

# What sets up, and what works on tasks and beads, has nobody's lines in its hands.
_ELSEWHERE = frozenset(["demo", "doctor", "fleet", "install", "main", "run", "worktree"])
_ROOMS = ("ask", "cli", "commit", "decide", "guard", "sessions", "takeback", "tasks/branch", "words")
_LOOKS = re.compile(
    r"git (ralph )?(status|why|log|diff|branch -a|session list|doctor|worktree list)\b(?!.*\|)"
    r"|git ralph (undo|commit) .*--dry-run"
)
AGENT, PERSON = "agent", "person"
MARKS: dict[str, Mapping[str, str]] = {AGENT: {"CLAUDE_CODE_SESSION_ID": "S1"}, PERSON: {}}


# --- what there is ---


class Site(NamedTuple):
    """One place in the source that says what to type."""

    name: str
    file: str
    lines: range
    pattern: str | None

    def is_in(self, said: str) -> bool:
        return self.pattern is not None and re.search(self.pattern, said) is not None


def _pattern(node: ast.expr) -> str | None:
    """What a message looks like; None where the call does not hold its words."""
    if isinstance(node, ast.Constant):
        return re.escape(str(node.value))
    if isinstance(node, ast.JoinedStr):
        words = (str(one.value) if isinstance(one, ast.Constant) else None for one in node.values)
        found = "".join(".*" if word is None else re.escape(word) for word in words)
        return found if len(found.replace(".*", "")) > 12 else None
    return None


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func)


def _refusals(trees: Mapping[str, ast.Module]) -> set[str]:
    """``Refused`` and what is derived from it."""
    names = {"Refused"}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and {ast.unparse(base) for base in node.bases} & names:
                names.add(node.name)
    return names


def _sites() -> Iterator[Site]:
    root = Path(source.ROOT) / "gitralph"
    files = [
        *(root / "git/context.py",),
        *(file for room in _ROOMS for file in sorted((root / room).rglob("*.py"))),
    ]
    trees = {
        str(file): ast.parse(file.read_text())
        for file in files
        if not (file.parent.name == "cli" and file.stem in _ELSEWHERE)
    }
    refusals = _refusals(trees)
    for file, tree in trees.items():
        module = ".".join(Path(file).relative_to(root).with_suffix("").parts)
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            calls = sorted(
                (node for node in ast.walk(function) if isinstance(node, ast.Call)),
                key=lambda one: (one.lineno, one.col_offset),
            )
            raised = [one for one in calls if _called(one) in refusals and len(one.args) > 1]
            noted = [one for one in calls if _called(one) in ("output.hint", "output.advise")]
            for number, call in enumerate((*raised, *noted), 1):
                more = f"#{number}" if number > 1 else ""
                lines = range(call.lineno, (call.end_lineno or call.lineno) + 1)
                pattern = _pattern(call.args[0]) if call in raised else None
                yield Site(f"{module}.{function.name}{more}", file, lines, pattern)


SITES = {site.name: site for site in _sites()}


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The places that gave something out in this process."""
    found: list[tuple[str, int]] = []

    def note() -> None:
        frame: Any = sys._getframe(2)
        while frame is not None:
            found.append((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back

    def watched(function: Callable[..., None]) -> Callable[..., None]:
        def call(*args: Any, **more: Any) -> None:
            note()
            function(*args, **more)

        return call

    monkeypatch.setattr(errors.RalphError, "__init__", watched(errors.RalphError.__init__))
    monkeypatch.setattr(output, "hint", watched(output.hint))
    monkeypatch.setattr(output, "advise", watched(output.advise))
    return found


# --- the scenes ---


class Scene(NamedTuple):
    """How to be told something: ``words`` are typed after what ``make`` did, to git where a hook speaks.

    ``says`` is what a hook says there, where the source does not hold the words; ``silent`` who is told of
    nothing to type; ``unended`` whose problem a person has to end.
    """

    make: Callable[[Repo], object]
    words: tuple[str, ...]
    who: tuple[str, ...] = (AGENT, PERSON)
    code: int = 4
    says: str | None = None
    marks: Mapping[str, str] = {}
    folder: str = "."
    own_index: str | None = None
    silent: tuple[str, ...] = ()
    unended: tuple[str, ...] = ()


def _both(repo: Repo) -> None:
    """S1 and S2 have something pending, each in a file of its own."""
    repo.edit("S1", "a", changed(2, "one"))
    repo.edit("S2", "b", changed(2, "two"))


def _assigned_to_s2(repo: Repo) -> None:
    _both(repo)
    repo.write("b", changed(2, "two").replace("line 5\n", "five\n"))
    repo.ralph("assign", "--to", "S2", "--", "b:5")


def _head_of_s2(repo: Repo) -> None:
    _both(repo)
    repo.commit("S2")


def _published(repo: Repo) -> None:
    _both(repo)
    repo.commit("S1")
    repo.edit("S1", "a", changed(4, "more", changed(2, "one")))
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")


def _merge(repo: Repo) -> None:
    """HEAD is a merge, of which S1's records tell."""
    repo.git("checkout", "-qb", "side")
    repo.write("u", changed(1, "side"))
    repo.commit_all("side")
    repo.git("checkout", "-q", "main")
    repo.edit("S1", "a", changed(2, "one"))
    repo.commit("S1")
    own = repo.head()
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    log = repo.state / "S1.commits"
    log.write_text(log.read_text().replace(own, repo.head()))
    repo.edit("S1", "b", changed(2, "one"))


def _operation(repo: Repo) -> None:
    _both(repo)
    repo.write("u", "one side\n")
    repo.git("checkout", "-qb", "side")
    repo.git("commit", "-qm", "side", "u")
    repo.git("checkout", "-q", "main")
    repo.write("u", "other side\n")
    repo.git("commit", "-qm", "main", "u")
    repo.git("merge", "side", code=1)


def _fallen(repo: Repo) -> None:
    """A linked worktree inside the checkout has lost its ``.git``."""
    repo.git("worktree", "add", "-q", "-b", "inner", "inner")
    _both(repo)
    (repo.root / "inner/.git").unlink()


def _guarded(mode: str) -> Callable[[Repo], None]:
    def make(repo: Repo) -> None:
        narrowing(repo)
        repo.git("config", "ralph.guard", mode)
        for name in ("S1", "S2"):
            repo.start(name)
        repo.edit("S2", "f", ten(l2="two"))

    return make


def _guarded_person(mode: str) -> Callable[[Repo], None]:
    def make(repo: Repo) -> None:
        _guarded("narrow")(repo)
        repo.git("config", "ralph.guardPerson", mode)
        repo.write("f", ten(l2="two", l9="a person's"))

    return make


def _guarded_merge(mode: str, person: str) -> Callable[[Repo], None]:
    """A conflict in ``g`` is settled and staged, beside lines of S2 in ``f``."""

    def make(repo: Repo) -> None:
        repo.write("g", TEN)
        repo.commit_all("g")
        _guarded(mode)(repo)
        repo.git("config", "ralph.guardPerson", person)
        repo.git("stash", "-q", "-u")
        repo.git("switch", "-qc", "other")
        repo.write("g", changed(3, "other"))
        repo.git("commit", "-qam", "other", "--no-verify")
        repo.git("switch", "-q", "main")
        repo.write("g", changed(3, "main"))
        repo.git("commit", "-qam", "main", "--no-verify")
        repo.git("stash", "pop", "-q")
        repo.git("merge", "-q", "other", code=1)
        repo.write("g", changed(3, "both"))
        repo.git("add", "f", "g")

    return make


def _meeting(begun_by: str, settled: bool = False) -> Callable[[Repo], None]:
    """A merge stops at a conflict in ``g``, in a shell call of S1 or before it."""

    def make(repo: Repo) -> None:
        repo.write("g", TEN)
        repo.commit_all("g")
        narrowing(repo)
        repo.start("S1")
        repo.git("switch", "-qc", "other")
        repo.write("g", changed(3, "other"))
        repo.git("commit", "-qam", "other", "--no-verify")
        repo.git("switch", "-q", "main")
        repo.write("g", changed(3, "main"))
        repo.git("commit", "-qam", "main", "--no-verify")
        call = shells.Shell(repo, "S1", "git merge other")
        if begun_by == AGENT:
            call.begin()
        repo.git("merge", "-q", "other", code=1)
        if begun_by == PERSON:
            call.begin()
        if settled:
            call.end()
            repo.edit("S1", "g", changed(3, "both"))
            repo.git("add", "g")
            repo.write("u", "a person's\n")

    return make


def _guarded_own(repo: Repo) -> None:
    """S1 has a line beside S2's."""
    _guarded("narrow")(repo)
    repo.edit("S1", "f", ten(l2="two", l9="one"))
    repo.git("add", "f")


def _guarded_foreign_head(repo: Repo) -> None:
    _guarded_own(repo)
    repo.git("reset", "-q")
    repo.commit("S2")


def _guarded_shell(repo: Repo) -> None:
    _guarded("narrow")(repo)
    shells.run(repo, "S1", "echo new > new.txt")
    repo.git("add", "new.txt")


def _staging_behind_the_guard(repo: Repo) -> None:
    """A framework took the hook and runs the guard first, then a hook of its own that stages."""
    _guarded_own(repo)
    hook = repo.common / "hooks/pre-commit"
    hook.rename(hook.with_name("pre-commit.legacy"))
    hook.write_text(
        '#!/bin/sh\nold=${0%/*}/pre-commit.legacy\n[ ! -x "$old" ] || "$old" "$@" || exit\ngit add f\n'
    )
    hook.chmod(0o755)


def _between(repo: Repo) -> None:
    """Nobody's lines stand among those of S2."""
    block = TEN + "two\ntwo\ntwo\n"
    repo.start("S1")
    repo.edit("S2", "a", block)
    repo.write("a", block.replace("two\ntwo\n", "two\nnobody\ntwo\n", 1))


def _binary(repo: Repo) -> None:
    repo.start("S1")
    repo.write("n", b"\0nobody's")


def _clash(repo: Repo) -> None:
    """What S2 is called is the id of a session that another version made."""
    _both(repo)
    record = (repo.state / "S1.json").read_text()
    name = repo.called("S2")
    (repo.state / f"{name}.json").write_text(record.replace("S1", name).replace("generic-1", "other"))


def _alike(repo: Repo) -> None:
    repo.edit("S1", "u", changed(2, "x"))
    repo.edit("work-one", "a", changed(2, "one"))
    repo.edit("work-two", "b", changed(2, "two"))


def _over_each_other(repo: Repo) -> None:
    repo.edit("S1", "a", changed(3, "three of S1"))
    repo.edit("S2", "a", changed(3, "three of both"))
    repo.edit("S1", "b", changed(2, "one"))


def _staged_on_own_commit(repo: Repo) -> None:
    """A person has another text of a path staged than the commit holds that is to be taken back."""
    repo.edit("S1", "a", changed(3, "three"))
    repo.commit("S1")
    repo.write("a", changed(3, "a person's"))
    repo.git("add", "a")


def _branch(repo: Repo) -> None:
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")


def _needs_anothers(repo: Repo) -> None:
    _branch(repo)
    repo.edit("S2", "a", changed(3, "three"))
    repo.commit("S2")
    repo.edit("S1", "a", changed(3, "drei"))
    repo.commit("S1")


def _branch_is_there(repo: Repo) -> None:
    _branch(repo)
    repo.git("checkout", "-qb", "mine")
    repo.write("u", changed(1, "somebody"))
    repo.commit_all("somebody's")
    repo.git("checkout", "-q", "main")
    repo.edit("S1", "a", changed(3, "three"))
    repo.commit("S1")


def _no_room(repo: Repo) -> None:
    _branch_is_there(repo)
    repo.git("branch", "own/one")


def _branch_is_checked_out(repo: Repo) -> None:
    _branch(repo)
    repo.git("worktree", "add", "-q", "-b", "mine", "../there")
    repo.edit("S1", "a", changed(3, "three"))
    repo.commit("S1")


def _needs_a_folder(repo: Repo) -> None:
    """S1's file lies where the start has a file, which a person made a folder."""
    _branch(repo)
    repo.remove("u")
    repo.commit_all("a person takes it away")
    repo.edit("S1", "u/x", "x\n", before=None)
    repo.commit("S1")


def _no_start(repo: Repo) -> None:
    repo.edit("S1", "a", changed(3, "three"))
    repo.commit("S1")


def _no_common_start(repo: Repo) -> None:
    _no_start(repo)
    tree = repo.git("write-tree")
    repo.git("update-ref", "refs/heads/alone", repo.git("commit-tree", "-m", "alone", tree))


def _unrecorded(repo: Repo) -> None:
    repo.start("S1")
    repo.write("a", changed(2, "by hand"))


def _only_s2(repo: Repo) -> None:
    repo.start("S1")
    repo.edit("S2", "a", changed(2, "two"))


def _new_file(repo: Repo) -> None:
    _only_s2(repo)
    repo.write("new", "x\n")


def _shell_left(repo: Repo) -> None:
    """S1's shell made a file, and S1 edited another."""
    shells.run(repo, "S1", "echo new > new.txt")
    repo.edit("S1", "a", changed(2, "one"))


def _lost(repo: Repo) -> None:
    repo.git("config", "ralph.discard", "off")
    repo.edit("S1", "a", changed(2, "one"))
    shells.run(repo, "S2", "git checkout -- a")


def _shell_without_end(repo: Repo) -> None:
    shells.Shell(repo, "S2").begin()
    shells.run(repo, "S1", "sed -i 's/^line 3$/3 of S1/' a")


def _own_pending(repo: Repo) -> None:
    repo.edit("S1", "a", changed(2, "one"))


def _own_commit(repo: Repo) -> None:
    _own_pending(repo)
    repo.commit("S1")


def _own_commit_without_records(repo: Repo) -> None:
    _own_commit(repo)
    repo.ralph("gc")


def _own_commit_of_a_claim(repo: Repo) -> None:
    repo.write("a", changed(3, "three"))
    repo.ralph("track", *S1, "--", "a")
    repo.commit("S1")


def _guarded_both(mode: str) -> Callable[[Repo], None]:
    """With a line of S1's to commit, too."""

    def make(repo: Repo) -> None:
        _guarded(mode)(repo)
        repo.edit("S1", "g", ten(l3="one"))

    return make


def _guarded_nobody(repo: Repo) -> None:
    narrowing(repo)
    repo.write("f", ten(l5="somebody"))


def _guard_taken_away(repo: Repo) -> None:
    """Another program wrote the folder of hooks anew."""
    narrowing(repo)
    for hook in (repo.git_dir / "hooks").iterdir():
        hook.unlink()


def _index_of_its_own(repo: Repo) -> None:
    _guarded_own(repo)
    (repo.root / "other").write_bytes((repo.common / "index").read_bytes())


def _no_commit(repo: Repo) -> None:
    repo.git("update-ref", "-d", "HEAD")


def _put_away(repo: Repo) -> None:
    """A session was over for more than a day."""
    repo.edit("S1", "a", changed(2, "one"))
    keep.over(repo, "S1")
    repo.ralph("gc")
    keep.age(repo, 2)
    repo.ralph("gc")


def _entangled_both(repo: Repo) -> None:
    """Neither of two sessions can commit."""
    two_sessions_over_each_others_lines(repo)


def _two_shells(repo: Repo) -> None:
    repo.edit("S1", "a", changed(2, "one"))
    shells.run(repo, "S1", "echo new > n1")


def _inside_a_persons(repo: Repo) -> None:
    block = TEN + "p one\np two\np three\n"
    repo.write("a", block)
    repo.edit("S1", "a", block.replace("p two\n", "p two\nS1 inside\n"))


def _edit_amid_markers(repo: Repo) -> None:
    """A stash did not fit, and S1 edits the file as it stands."""
    repo.write("a", changed(3, "stashed"))
    repo.git("stash")
    repo.write("a", changed(3, "two"))
    repo.commit_all("two")
    repo.git("stash", "pop", code=1)
    repo.edit("S1", "a", (repo.read("a") or b"").decode().replace("line 9\n", "nine\n"))


def _conflict_stages(repo: Repo) -> None:
    conflict_stages(repo)
    repo.write("b", "settled\n")


def _claimed_by_s2(repo: Repo) -> None:
    _both(repo)
    repo.write("u", changed(5, "somebody"))
    repo.ralph("track", "--session", "S2", "--", "u")


def _binary_of_s2(repo: Repo) -> None:
    repo.start("S1")
    repo.edit("S2", "n", b"\0two", before=None)
    repo.write("n", b"\0nobody's")


def _shallow(repo: Repo) -> None:
    """The history here ends at the last commit."""
    repo.write("a", changed(2, "two"))
    repo.commit_all("two")
    origin = f"{repo.root}-origin"
    repo.git("clone", "-q", "--bare", str(repo.root), origin)
    repo.git("remote", "add", "origin", f"file://{origin}")
    (repo.common / "shallow").write_text(f"{repo.head()}\n")
    repo.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")


def _nothing(repo: Repo) -> None:
    repo.git("status")


S1 = ("--session", "S1")
COMMIT = ("commit", *S1, "-m", "x")
BRANCH = ("branch", "mine", *S1)
GIT = ("commit", "-am", "x")
MERGE = ("commit", "-m", "x")
SCENES: dict[str, list[Scene]] = {
    "tasks.branch.since_base.read": [Scene(_no_common_start, (*BRANCH, "--onto", "alone"))],
    "tasks.branch.since_base._onto": [Scene(_no_start, BRANCH)],
    "tasks.branch.make._refuse_checked_out": [Scene(_branch_is_checked_out, BRANCH)],
    "tasks.branch.make._refuse_nested": [
        Scene(_branch_is_there, ("branch", "mine/x", *S1)),
        Scene(_no_room, ("branch", "own", *S1)),
    ],
    "tasks.branch.make._refuse_moved": [Scene(_branch_is_there, BRANCH)],
    "tasks.branch.make._refusal": [Scene(_needs_anothers, BRANCH), Scene(_needs_a_folder, BRANCH)],
    "cli.terminal.history_end.tell": [
        Scene(_shallow, ("why", "a:1"), code=0),
        Scene(_shallow, ("blame", "a"), code=0),
    ],
    "cli.terminal.nothing_to_commit._tell_of_unrecorded": [Scene(_unrecorded, COMMIT, (PERSON,), code=0)],
    "cli.terminal.nothing_to_commit.tell": [Scene(_only_s2, COMMIT, code=0)],
    "cli.terminal.nothing_to_commit.tell#2": [Scene(_nothing, ("commit", "-m", "x"), (PERSON,), code=0)],
    "cli.commit._session": [Scene(_both, ("commit", "--mine", "-m", "x"), (AGENT,))],
    "cli.commit._tell_of_new_files": [Scene(_new_file, ("commit", "--mine", "-m", "x"), (PERSON,), code=0)],
    "cli.commit._chatter": [Scene(_shell_left, COMMIT, code=0)],
    "cli.diff.diff": [Scene(_both, ("diff", "--mine"), (AGENT,))],
    "cli.guard._tell_agent": [
        Scene(_guarded_both("refuse"), GIT, (AGENT,), code=1, says="'f': this commit takes"),
    ],
    "cli.guard._tell_agent#2": [
        Scene(_guarded_both("warn"), GIT, (AGENT,), code=0, says="'f': this commit takes"),
    ],
    "cli.guard._tell_person": [
        Scene(_guarded_person("refuse"), words, (PERSON,), code=1, says="lines that live sessions did not")
        for words in (GIT, ("commit", "-m", "x", "--", "f"))
    ],
    "cli.guard._tell_person#2": [
        Scene(_guarded_person("warn"), GIT, (PERSON,), code=0, says="lines that live sessions did not"),
    ],
    "cli.guard._tell_person#3": [
        Scene(_guarded_merge("narrow", "refuse"), MERGE, (PERSON,), code=1, says="lines that live sessions"),
    ],
    "cli.guard._tell_person#4": [
        Scene(_guarded_merge("narrow", "warn"), MERGE, (PERSON,), code=0, says="lines that live sessions"),
    ],
    "guard.concluding.refuse": [
        Scene(_meeting(PERSON), GIT, (AGENT,), code=1, says="neither began nor worked on"),
    ],
    "guard.concluding.refuse#2": [
        Scene(_guarded_merge("narrow", "warn"), MERGE, (AGENT,), code=1, says="'f': this commit takes"),
    ],
    "guard.concluding.refuse#3": [
        Scene(_meeting(AGENT), GIT, (AGENT,), code=1, says="still has the marks of a conflict"),
    ],
    "guard.concluding.refuse#4": [
        Scene(_meeting(AGENT, settled=True), GIT, (AGENT,), code=1, says="has changes that are neither"),
    ],
    "cli.log._say_nothing": [
        Scene(_nothing, ("log", "--session", "S9"), ()),
        Scene(_no_commit, ("log",), code=0),
    ],
    "cli.session.list_sessions": [Scene(_put_away, ("session", "list"), code=0)],
    "cli.status._advise": [Scene(_entangled_both, ("status",), code=0)],
    "cli.status._advise#2": [Scene(_two_shells, ("status",), code=0)],
    "cli.status._left_open": [Scene(_shell_without_end, ("status",), (PERSON,), code=0)],
    "cli.status._unguarded": [Scene(_guard_taken_away, ("status",), (PERSON,), code=0)],
    "cli.status._losses": [Scene(_lost, ("status",), code=0)],
    "cli.terminal.taken_back.result": [Scene(_own_pending, ("undo", *S1), code=0)],
    "cli.undo.undo": [Scene(_shell_left, ("undo", *S1), (PERSON,), code=0)],
    "cli.track.track": [Scene(_nothing, ("track", "--", "a"), (PERSON,))],
    "cli.uncommit._session": [Scene(_nothing, ("uncommit",), (PERSON,))],
    "cli.uncommit.uncommit": [
        Scene(_own_commit_without_records, ("uncommit", *S1), code=0),
        Scene(_own_commit_of_a_claim, ("uncommit", *S1), code=0),
    ],
    "cli.uncommit.uncommit#2": [Scene(_own_commit, ("uncommit", *S1), code=0)],
    "commit.commit._index_plan": [Scene(_conflict_stages, COMMIT)],
    "commit.commit.checked_index": [Scene(beside_what_is_staged, COMMIT)],
    "commit.commit.refuse_left": [Scene(_entangled_both, COMMIT), Scene(_inside_a_persons, COMMIT)],
    "decide.own_commit.check": [Scene(_merge, (*COMMIT, "--amend"))],
    "decide.own_commit.refuse_foreign": [
        Scene(_head_of_s2, (*COMMIT, "--amend")),
        Scene(_head_of_s2, (*COMMIT, "--fixup", "HEAD")),
        Scene(_head_of_s2, ("uncommit", *S1), silent=(AGENT,)),
    ],
    "decide.own_commit.refuse_foreign#2": [
        Scene(_published, (*COMMIT, "--amend")),
        Scene(_published, ("uncommit", *S1)),
    ],
    "git.context._refuse_fallen": [Scene(_fallen, COMMIT, folder="inner")],
    "git.context.refuse_operation": [Scene(_operation, COMMIT)],
    "guard.after_pre_commit.has_read": [
        Scene(_staging_behind_the_guard, ("commit", "-m", "x"), (AGENT,), code=1)
    ],
    "guard.whose_commit.session": [
        Scene(_guarded_nobody, GIT, (AGENT,), code=1, marks={"GEMINI_CLI": "1"}, unended=(AGENT,)),
    ],
    "guard.narrow._refuse_foreign": [
        Scene(_guarded_foreign_head, ("commit", "--amend", "-m", "y"), (AGENT,), code=1),
        Scene(_guarded_foreign_head, ("commit", "-a", "--amend", "-m", "y"), (AGENT,), code=1),
    ],
    "guard.narrow._refuse_nothing": [
        Scene(_guarded("narrow"), GIT, (AGENT,), code=1),
        Scene(_guarded_shell, ("commit", "-m", "x"), (AGENT,), code=1),
    ],
    "guard.narrow.run": [
        Scene(_index_of_its_own, ("commit", "-m", "x"), (AGENT,), code=1, own_index="other"),
    ],
    "takeback.assign._look": [Scene(_claimed_by_s2, ("assign", "--to", "S1", "--", "u"), silent=(AGENT,))],
    "takeback.assign._refuse": [
        Scene(_both, ("assign", "--to", "S1", "--", "b:2")),
        Scene(_assigned_to_s2, ("assign", "--to", "S1", "--", "b:5")),
        Scene(_between, ("assign", "--to", "S1", "--", "a")),
        Scene(_binary, ("assign", "--to", "S1", "--", "n:1"), silent=(AGENT,)),
        Scene(_binary_of_s2, ("assign", "--to", "S1", "--", "n"), silent=(AGENT,)),
    ],
    "takeback.release._refuse_others": [
        Scene(_claimed_by_s2, ("track", "--release", *S1, "--", "u"), silent=(AGENT,))
    ],
    "sessions.session_choice._exact": [Scene(_clash, ("commit", "--session", "generic-2", "-m", "x"))],
    "sessions.session_choice._fitting": [Scene(_alike, ("commit", "--session", "work-", "-m", "x"))],
    "sessions.session_choice._only": [
        Scene(_both, ("commit", "-m", "x"), (AGENT,), marks={"GEMINI_CLI": "1"})
    ],
    "sessions.session_choice._stranger": [
        Scene(_both, ("commit", "-m", "x"), (AGENT,), marks={"CLAUDE_CODE_SESSION_ID": "S3"}),
    ],
    "sessions.session_choice.ambiguous": [Scene(_both, ("commit", "-m", "x"), (PERSON,))],
    "sessions.track.track_transcript": [Scene(_both, ("track", *S1, "--from-transcript"))],
    "takeback.uncommit._before": [Scene(_merge, ("uncommit", *S1))],
    "takeback.uncommit._land": [Scene(_staged_on_own_commit, ("uncommit", *S1))],
    "takeback.undo._refuse": [Scene(_over_each_other, ("undo", *S1))],
    "takeback.undo._refuse_unmerged": [Scene(_edit_amid_markers, ("undo", *S1))],
}


def test_every_place_that_says_what_to_type_has_a_scene() -> None:
    assert set(SITES) == set(SCENES)


# --- the walk ---


def _is_gits(name: str) -> bool:
    """The guard speaks in git's own hooks."""
    return name.startswith(("guard.", "cli.guard."))


class _Place:
    """A repository as one audience has it, and copies of it."""

    def __init__(self, repo: Repo, marks: Mapping[str, str], folder: Path) -> None:
        self.repo = repo
        self.marks = marks
        self.folder = folder
        self.copies = 0

    def copy(self) -> Repo:
        self.copies += 1
        root = self.folder / f"copy-{self.copies}"
        subprocess.run(["cp", "-a", str(self.repo.root), str(root)], check=True)
        for file in root.glob(".git/worktrees/*/gitdir"):
            file.write_text(file.read_text().replace(f"{self.repo.root}/", f"{root}/"))
        editor = 'w() { echo words >"$1"; }; w'
        env = {**with_tool_on_path(self.repo.env), "GIT_EDITOR": editor, **self.marks}
        return Repo(root, env, _clock=list(self.repo._clock))


def _typed(repo: Repo, line: str, folder: str) -> Done:
    """A line in a real shell; where that is one command of ours, it starts in this process."""
    repo.tick()
    if line.startswith("git ralph ") and not set(line.partition("  #")[0]) & set("|&;<>$"):
        return repo.run(*shells.words_of(line, repo.root / folder, repo.env), cwd=folder)
    env = repo._environment(None)
    ran = subprocess.run(["/bin/sh", "-c", line], cwd=repo.root / folder, env=env, capture_output=True)
    done = Done(ran.returncode, ran.stdout, ran.stderr)
    assert "Traceback" not in done.said, done.said
    assert "internal error" not in done.said, done.said
    return done


def _ask(repo: Repo, name: str, scene: Scene) -> Done:
    if _is_gits(name):
        index = f"GIT_INDEX_FILE={scene.own_index} " if scene.own_index else ""
        return _typed(repo, f"{index}git {shlex.join(scene.words)}", scene.folder)
    repo.tick()
    return repo.run(*scene.words, cwd=scene.folder)


def _state(repo: Repo) -> object:
    """What a hint may have changed: refs, the index, files, and what sessions have recorded."""
    records = sorted((file.name, file.read_bytes()) for file in repo.state.rglob("*") if _is_record(file))
    return repo.git("for-each-ref"), repo.git("ls-files", "-s"), repo.git("status", "-s"), records


def _is_record(file: Path) -> bool:
    return file.is_file() and (file.suffix == ".files" or file.parent.name == "journal")


CASES = [
    pytest.param(name, number, audience, id=f"{name}-{number}-{audience}")
    for name, scenes in SCENES.items()
    for number, _ in enumerate(scenes)
    for audience in (AGENT, PERSON)
]


@pytest.mark.parametrize(("name", "number", "audience"), CASES)
@pytest.mark.wired
def test_each_hint_is_typed_and_ends_it(
    name: str, number: int, audience: str, repo: Repo, tmp_path: Path, reached: list[tuple[str, int]]
) -> None:
    site, scene = SITES[name], SCENES[name][number]
    scene.make(repo)
    marks = {**MARKS[audience], **(scene.marks if audience == AGENT else {})}
    if audience == AGENT and scene.marks:
        marks = dict(scene.marks)
    place = _Place(repo, marks, tmp_path)
    reached.clear()
    asked = place.copy()
    first = _ask(asked, name, scene)
    was_here = any(file == site.file and line in site.lines for file, line in reached)
    if _is_gits(name):
        was_here = re.search(scene.says, first.said) is not None if scene.says else site.is_in(first.said)
    assert was_here == (audience in scene.who), first.said
    if not was_here:
        return
    assert first.code == scene.code, (first.code, first.said)
    assert first.said
    if audience == AGENT:
        keeps_to_its_own(repo, first.said.replace("error: --mine is for a person", ""))
    hints = re.findall(r"^hint: (.*)$", first.said, re.M)
    assert hints or audience in scene.silent, first.said
    for hint in hints:
        there = place.copy()
        if scene.code == 0:  # the note came with something done
            _ask(there, name, scene)
        done = _typed(there, hint.replace(str(asked.root), str(there.root)), scene.folder)
        # a diagnosis says no where no agent is hooked up, a preview where it would be refused
        says_no = " doctor" in hint or " --dry-run" in hint
        assert done.code == 0 or says_no, (hint, done.code, done.said)
        if audience == AGENT:
            keeps_to_its_own(repo, done.said)
        if _LOOKS.match(hint) or " --skip-entangled" in hint or audience in scene.unended:
            continue
        again = _ask(there, name, scene)
        if again.code:
            as_it_was = place.copy()
            if scene.code == 0:
                _ask(as_it_was, name, scene)
            assert _state(there) != _state(as_it_was), (hint, again.said)


# --- what is for people ---

# These speak to people alone, or are asked only for them, or are what a person typed.
_NO_AGENT = frozenset(
    [
        "cli.assign.<module>",
        "cli.commit.CommitOptions.check",
        "cli.commit.CommitOptions._of_sessions",
        "cli.commit.CommitOptions._not_by_hunks",
        "cli.commit.CommitOptions.wishes",
        "cli.commit.CommitOptions.again",
        "cli.commit._tell_of_new_files",
        "cli.guard._tell_person",
        "cli.guard._all_the_same",
        "guard.concluding.after",
        "words.ways_out.commit_of",
        "words.ways_out.given_back",
        "words.ways_out.Ways._whole",
        "tasks.loop.summary.next_steps",
    ]
)
# git's own option, as we call git.
_TO_GIT = frozenset(["guard.discards._commit", "tasks.fleet.trial._push_all", "tasks.fleet.wire.Wire.push"])


def _is_text(node: ast.AST) -> bool:
    """A docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _for_people(node: ast.AST, name: str, asks: bool) -> Iterator[str]:
    """The functions at and below a node with a string for people in which nobody asks who reads."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        name = node.name if name == "<module>" else f"{name}.{node.name}"
        asks = isinstance(node, ast.FunctionDef) and "is_agent" in ast.unparse(node)
    text = node.value if isinstance(node, ast.Constant) and not asks else None
    if isinstance(text, str) and any(word in text for word in FOR_PEOPLE):
        yield name
    decorators = getattr(node, "decorator_list", [])
    for child in ast.iter_child_nodes(node):
        if not _is_text(child) and child not in decorators:
            yield from _for_people(child, name, asks)


def test_words_for_people_are_said_only_where_somebody_asks_who_reads() -> None:
    root = Path(source.ROOT) / "gitralph"
    found = {
        f"{'.'.join(file.relative_to(root).with_suffix('').parts)}.{name}"
        for file in sorted(root.rglob("*.py"))
        for name in _for_people(ast.parse(file.read_text()), "<module>", False)
    }
    assert found == _NO_AGENT | _TO_GIT

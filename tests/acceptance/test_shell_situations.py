"""What shells do to files, situation by situation: what S1's commit then holds, and what S2's does.

The situations are those that git-ai lists for its own tests of shell tools, and some beside them.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support import shells
from tests.support.repo import Repo
from tests.support.shells import Shell
from tests.support.size import crossed
from tests.support.texts import TEN, changed

EIGHT = "eight of S2"
ROWS = TEN.splitlines(keepends=True)
THREE = "".join([*ROWS[:2], "three\n", *ROWS[3:]])
FIXED = '{ sub(/^line 3$/, "three"); print }'
PATCH = """--- a/a
+++ b/a
@@ -1,6 +1,6 @@
 line 1
 line 2
-line 3
+three
 line 4
 line 5
 line 6
"""

# --- by which program a line changes ---

# What S1's shell does to line 3 of a file in which S2 has an uncommitted line 8; each leaves THREE behind.
PROGRAMS = {
    "sed": "sed -i 's/^line 3$/three/' a",
    "sed with a backup": "sed -i.bak 's/^line 3$/three/' a && rm a.bak",
    "perl": "perl -pi -e 's/^line 3$/three/' a",
    "python": f"{sys.executable} -c \"t=open('a').read(); open('a','w').write(t.replace('line 3','three'))\"",
    "node": "node -e \"const f=require('fs');"
    "f.writeFileSync('a',f.readFileSync('a','utf8').replace('line 3','three'))\"",
    "awk and mv": f"awk '{FIXED}' a > .t && mv .t a",
    "awk and cat": f"awk '{FIXED}' a > .t && cat .t > a && rm .t",
    "a folder of its own and cp": f"d=$(mktemp -d) && awk '{FIXED}' a > $d/a && cp $d/a a && rm -r $d",
    "install": f"awk '{FIXED}' a > .t && install -m 644 .t a && rm .t",
    "dd into the middle": "printf 'three ' | dd of=a bs=1 seek=14 conv=notrunc 2>/dev/null; "
    "sed -i 's/^three $/three/' a",
    "ed": "printf '3s/.*/three/\\nw\\nq\\n' | ed -s a",
    "ex": "ex -s -c '3s/.*/three/' -c wq a",
    "patch": f"patch -s -p1 <<'EOF'\n{PATCH}EOF",
    "git apply": f"git apply <<'EOF'\n{PATCH}EOF",
    "a pipe with tee": f"awk '{FIXED}' a | (cat > .t; tee a < .t > /dev/null; rm .t)",
    "a loop": f"for f in a; do awk '{FIXED}' $f > .t; cat .t > $f; rm .t; done",
    "grep and xargs": "grep -l 'line 3$' a | xargs sed -i 's/^line 3$/three/'",
    "a script": "printf '#!/bin/sh\\nsed -i s/^line.3$/three/ a\\n' > .s; sh .s; rm .s",
    "two steps": "sed -i 's/^line 3$/half/' a; sed -i 's/^half$/three/' a",
    "half way": "set -e; sed -i 's/^line 3$/three/' a; false; sed -i 's/^line 4$/four/' a",
    "killed": "sed -i 's/^line 3$/three/' a; kill -9 $$; sed -i 's/^line 4$/four/' a",
    "in the background": "(sed -i 's/^line 3$/three/' a) & wait",
    "through a symlink": "ln -s a .l && sed -i --follow-symlinks 's/^line 3$/three/' .l && rm .l",
    "a hard link": "ln a .h && awk '" + FIXED + "' a > .t && cat .t > .h && rm .t .h",
    "from a folder below": "cd d && sed -i 's/^line 3$/three/' ../a",
    "with the mode": "sed -i 's/^line 3$/three/' a && chmod u+x a && chmod u-x a",
}


def _needs(command: str) -> None:
    """Skip where the program is not on this machine."""
    for program in ("perl", "node", "ed", "ex", "patch"):
        if f"{program} " in command and shutil.which(program) is None:
            pytest.skip(f"needs {program}")


def _text(repo: Repo, path: str) -> str:
    return repo.blob(path).decode()


@pytest.mark.parametrize(("program", "first"), crossed([*PROGRAMS], ["S1", "S2"]))
def test_a_line_in_a_file_of_two(repo: Repo, program: str, first: str) -> None:
    """S1's line is S1's, S2's stays S2's, whoever commits first."""
    _needs(PROGRAMS[program])
    repo.edit("S2", "a", changed(8, EIGHT))
    shells.run(repo, "S1", PROGRAMS[program])
    both = changed(8, EIGHT, THREE)
    assert repo.read("a") == both.encode()
    alone = {"S1": THREE, "S2": changed(8, EIGHT)}
    assert repo.commit(first).paths == {"a": "M"}
    assert _text(repo, "a") == alone[first]
    assert repo.commit("S2" if first == "S1" else "S1").paths == {"a": "M"}
    assert _text(repo, "a") == both
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    "command",
    [
        "echo more >> a",
        "printf more >> a",
        "cat >> a <<'EOF'\nmore\nEOF",
        "echo more | tee -a a > /dev/null",
        "sed -i '$a more' a",
    ],
)
def test_lines_at_the_end(repo: Repo, command: str) -> None:
    repo.edit("S2", "a", changed(8, EIGHT))
    shells.run(repo, "S1", command)
    repo.commit("S1")
    assert _text(repo, "a").rstrip("\n") == TEN + "more"
    repo.commit("S2")
    assert _text(repo, "a").rstrip("\n") == changed(8, EIGHT) + "more"


# Over S2's uncommitted line itself: nothing of S2's may be in S1's commit.
OVER = {
    "emptied": ": > a",
    "truncated": "truncate -s 0 a",
    "overwritten": "echo other > a",
    "removed": "rm a",
    "sorted backwards": "sort -r a > .t && mv .t a",
    "line ends": "sed -i 's/$/\\r/' a",
    "its word changed": f"sed -i 's/{EIGHT}/eight of S1/' a",
    "from elsewhere": "cp b a",
    "a folder in its place": "rm a && mkdir a && echo x > a/x",
    "a link in its place": "ln -sf b a",
    "moved and changed": "mv a moved && sed -i 's/^line 3$/three/' moved",
    "reversed": "tac a > .t && cat .t > a && rm .t",
}


@pytest.mark.parametrize("what", OVER)
def test_over_a_line_of_another(repo: Repo, what: str) -> None:
    """What cannot be told apart may be refused; nobody commits another's line."""
    repo.git("config", "ralph.discard", "off")
    repo.edit("S2", "a", changed(8, EIGHT))
    shells.run(repo, "S1", OVER[what])
    done = repo.run("commit", "--session", "S1", "-m", "x", "--json")
    assert done.code in (0, 4), done.said
    assert EIGHT.encode() not in repo.git_bytes("show", "--format=", "HEAD")
    before = repo.head()
    done = repo.run("commit", "--session", "S2", "-m", "x", "--json")
    assert done.code in (0, 4), done.said
    if repo.head() != before:
        shown = repo.git("show", "--format=", "HEAD").splitlines()
        came = {line[1:].strip() for line in shown if line[:1] == "+" and line[:3] != "+++"}
        assert not came & {"three", "other", "x", "eight of S1"}, came


# --- what becomes of the paths ---


@dataclass(frozen=True)
class Case:
    """What a command does: what a commit takes, what it leaves, what ``--with-shell`` takes beside it."""

    command: str
    taken: dict[str, str] = field(default_factory=dict)
    offered: set[str] = field(default_factory=set)


def _numbers(change: str, *numbers: int) -> dict[str, str]:
    return {f"n{n}": change for n in numbers}


NEW = {
    "echo": Case("echo x > n", offered={"n"}),
    "printf": Case("printf x > n", offered={"n"}),
    "heredoc": Case("cat > n <<'EOF'\nx\nEOF", offered={"n"}),
    "touch": Case("touch n", offered={"n"}),
    "touch and then written": Case("touch n; echo x > n", offered={"n"}),
    "copy": Case("cp a n", offered={"n"}),
    "tee": Case("echo x | tee n o > /dev/null", offered={"n", "o"}),
    "deep": Case("mkdir -p x/y/z && echo x > x/y/z/n", offered={"x/y/z/n"}),
    "hidden": Case("echo x > .n", offered={".n"}),
    "spaces": Case("echo x > 'a name with spaces'", offered={"a name with spaces"}),
    "signs": Case("echo x > '-n#[1]*?'", offered={"-n#[1]*?"}),
    "a line feed in the name": Case("echo x > 'n\nm'", offered={"n\nm"}),
    "no UTF-8": Case("echo x > \"$(printf 'n\\377')\"", offered={"n\udcff"}),
    "a script with its mode": Case("echo x > n; chmod +x n", offered={"n"}),
    "a link": Case("ln -s a n", offered={"n"}),
    "a link to nowhere": Case("ln -s /nowhere n", offered={"n"}),
    "fifty files": Case(
        "for n in $(seq 50); do echo $n > n$n; done", offered={f"n{n}" for n in range(1, 51)}
    ),
    "an archive": Case("tar cf n.tar a b", offered={"n.tar"}),
    "an archive unpacked": Case(
        "tar cf ../n.tar a b && mkdir t && tar xf ../n.tar -C t", offered={"t/a", "t/b"}
    ),
    "a package begun": Case(
        "mkdir -p p/src && echo 'fn main() {}' > p/src/main.rs && echo '[package]' > p/Cargo.toml",
        offered={"p/src/main.rs", "p/Cargo.toml"},
    ),
    "a binary": Case("printf 'a\\0b' > n", offered={"n"}),
    "made and gone": Case("echo x > n; rm n"),
    "half way": Case("echo x > n; false; ", offered={"n"}),
    "missing programs": Case("echo x > n; no-such-program; exit 3", offered={"n"}),
}
CHANGED = {
    "mode": Case("chmod +x a", {"a": "M"}),
    "mode and line": Case("chmod +x a; echo more >> a", {"a": "M"}),
    "emptied": Case(": > a", {"a": "M"}),
    "removed": Case("rm a d/a", {"a": "D", "d/a": "D"}),
    "a folder removed": Case("rm -r d", {"d/a": "D"}),
    "moved": Case("mv a n", {"a": "D", "n": "A"}),
    "moved into a folder": Case("mkdir x && mv a x/", {"a": "D", "x/a": "A"}),
    "a folder moved": Case("mv d x", {"d/a": "D", "x/a": "A"}),
    "moved over another": Case("mv a b", {"a": "D", "b": "M"}),
    "moved and changed": Case("mv a n; echo more >> n", {"a": "D", "n": "A"}),
    "two that change places": Case("echo x >> a; mv a .t; mv b a; mv .t b", {"a": "M", "b": "M"}),
    "a folder in place of a file": Case("rm a && mkdir a && echo x > a/n", {"a": "D"}, {"a/n"}),
    "a file in place of a folder": Case("rm -r d && echo x > d", {"d/a": "D"}, {"d"}),
    "a link in place of a file": Case("rm a && ln -s b a", {"a": "T"}),
    "binary": Case("printf 'x\\0y' > bin", {"bin": "M"}),
    "a link's target": Case("ln -sfn b link", {"link": "M"}),
    "a file in place of a link": Case("rm link && echo x > link", {"link": "T"}),
    "line ends": Case("sed -i 's/$/\\r/' a", {"a": "M"}),
    "no line end at the end": Case('printf %s "$(cat a)" > .t && mv .t a', {"a": "M"}),
    "some of many": Case("for n in $(seq 20); do echo more >> n$n; done", _numbers("M", *range(1, 21))),
    "all kinds at once": Case(
        "echo x > n; echo more >> a; rm b; mv u v; chmod +x d/a",
        {"a": "M", "b": "D", "u": "D", "v": "A", "d/a": "M"},
        {"n"},
    ),
    "built": Case("cat a b > built", {"built": "M"}),
    "touched": Case("touch a; sleep 0.01"),
    "the same again": Case("cat a > .t && cat .t > a && rm .t"),
    "there and back": Case("sed -i s/3/three/ a; sed -i s/three/3/ a"),
    "away and back": Case("mv a n; mv n a"),
    "ignored": Case("mkdir -p out; echo x > out/n; echo x > n.log"),
    "outside": Case("echo x > ../outside"),
    "a pipe": Case("mkfifo n"),
    "an empty folder": Case("mkdir -p x/y"),
}
READING = {
    "cat": "cat a",
    "ls": "ls -la . d",
    "find": "find . -name a",
    "grep": "grep -rn line .",
    "wc": "wc -l a b",
    "head": "head -2 a; tail -2 a",
    "diff": "diff a b; diff a e/b",
    "git log": "git log --oneline -p",
    "git diff": "git diff; git diff HEAD",
    "git status": "git status; git status --porcelain",
    "git show": "git show HEAD:a",
    "git blame": "git blame a",
    "several": "ls && cat a | sort | uniq -c && git log -1 && echo done",
    "a failing one": "cat no-such-file",
    "nothing": "true",
}


@pytest.fixture
def stage(repo: Repo) -> Repo:
    """The repository with a binary, a link, ignored paths, and an uncommitted edit of S2 beside it all.

    No two files that a command moves hold the same text.
    """
    for path in ("b", "u", "d/a", "e/b"):
        repo.write(path, "".join(f"{path} {n}\n" for n in range(1, 11)))
    repo.write("bin", b"a\0b\n")
    repo.write("built", "old\n")
    os.symlink("a", repo.file("link"))
    for number in range(1, 51):
        repo.write(f"n{number}", f"{number}\n")
    repo.write(".gitignore", "out/\n*.log\n")
    repo.write("other", TEN)
    repo.commit_all("more of them")
    repo.edit("S2", "other", changed(8, EIGHT))
    return repo


def _judge(repo: Repo, case: Case) -> None:
    """S1's commit holds what it is to hold, ``--with-shell`` the rest of it, and S2's what is S2's."""
    told = dict.fromkeys(case.offered, "A")
    answer = repo.commit("S1")
    assert (answer.paths, answer.left) == (case.taken, dict.fromkeys(case.offered, "shell"))
    if case.taken:
        assert repo.changes() == case.taken
    answer = repo.commit("S1", "--with-shell")
    assert answer.paths == told
    if told:
        assert repo.changes() == told
    for path in {path for path, change in case.taken.items() if change != "D"} | case.offered:
        file = repo.file(path)
        want = os.fsencode(os.readlink(file)) if file.is_symlink() else file.read_bytes()
        assert repo.blob(path) == want, path
        is_executable = not file.is_symlink() and os.access(file, os.X_OK)
        assert repo.mode(path) == ("120000" if file.is_symlink() else "100755" if is_executable else "100644")
    assert repo.commit("S2").paths == {"other": "M"}
    assert _text(repo, "other") == changed(8, EIGHT)
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("what", NEW)
def test_new_files(stage: Repo, what: str) -> None:
    if what.startswith("fifty"):  # the names are free for it
        stage.git("rm", "-q", *_numbers("", *range(1, 51)))
        stage.git("commit", "-qm", "without")
    shells.run(stage, "S1", NEW[what].command)
    _judge(stage, NEW[what])


@pytest.mark.parametrize("what", CHANGED)
def test_changed_files(stage: Repo, what: str) -> None:
    shells.run(stage, "S1", CHANGED[what].command)
    _judge(stage, CHANGED[what])


@pytest.mark.parametrize("what", READING)
def test_reading(stage: Repo, what: str) -> None:
    """Nothing is its, and of what S2 has open nothing is kept beyond the command's end."""
    shells.run(stage, "S1", READING[what])
    assert not [path for path in stage.state.rglob("shell-*") if path.is_file()]
    assert stage.pending("S1") == []
    _judge(stage, Case(""))


# --- other repositories in the working tree ---


@pytest.mark.parametrize("command", ["echo more >> sub/f", "echo x > sub/n", "git -C sub commit -qam more"])
def test_a_submodule(stage: Repo, tmp_path: Path, command: str) -> None:
    """Its files are its own repository's; which commit the outer one names nobody's command changes."""
    inner = Repo.init(tmp_path / "inner", stage.env)
    inner.write("f", TEN)
    inner.commit_all("f")
    allow = ("-c", "protocol.file.allow=always")
    stage.git(*allow, "submodule", "--quiet", "add", str(inner.root), "sub")
    stage.git("commit", "-qm", "a submodule", "--", ".gitmodules", "sub")
    if "commit" in command:
        stage.write("sub/f", TEN + "more\n")
    shells.run(stage, "S1", command)
    assert stage.commit("S1", "--with-shell", checked=False).status == "nothing"
    assert stage.commit("S2", checked=False).paths == {"other": "M"}
    assert stage.changes() == {"other": "M"}


@pytest.mark.parametrize("command", ["git init -q in && echo x > in/f", "echo more >> in/f"])
def test_a_repository_inside(stage: Repo, command: str) -> None:
    """git does not look into it, nor does a commit here."""
    if "init" not in command:
        Repo.init(stage.root / "in", stage.env).write("f", TEN)
    shells.run(stage, "S1", command)
    assert stage.commit("S1", "--with-shell", checked=False).status == "nothing"
    assert stage.commit("S2", checked=False).paths == {"other": "M"}
    assert stage.changes() == {"other": "M"}


# --- git inside the command ---


def test_a_persons_change_taken_back(stage: Repo) -> None:
    """What comes back is HEAD's; a line that stays is the person's still."""
    stage.git("config", "ralph.discard", "off")
    stage.write("a", changed())
    stage.write("b", changed())
    shells.run(stage, "S1", "git checkout -- a")
    _judge_nothing(stage)
    assert stage.git("diff", "--name-only") == "b"


def _judge_nothing(repo: Repo) -> None:
    assert repo.commit("S1", "--with-shell", checked=False).status == "nothing"
    assert repo.commit("S2", checked=False).paths == {"other": "M"}
    assert repo.changes() == {"other": "M"}


def test_a_persons_stash_that_comes_back(stage: Repo) -> None:
    stage.write("a", changed())
    stage.git("stash", "push", "-q", "--", "a")
    shells.run(stage, "S1", "git stash pop -q")
    assert stage.read("a") == changed().encode()
    _judge_nothing(stage)


def test_a_file_that_a_stash_still_holds_was_not_taken_away_by_it(stage: Repo) -> None:
    """The stash takes a line away, the command the whole file."""
    stage.write("a", TEN.replace("line 8\n", ""))
    stage.git("stash", "push", "-q", "--", "a")
    shells.run(stage, "S1", "rm a")
    _judge(stage, Case("", {"a": "D"}))


def test_a_removal_that_an_old_stash_holds_too(stage: Repo) -> None:
    """The command rewrites the place where the stash takes a line away."""
    stage.write("a", TEN.replace("line 3\n", ""))
    stage.git("stash", "push", "-q", "--", "a")
    shells.run(stage, "S1", "sed -i 's/^line 3$/three/' a")
    _judge(stage, Case("", {"a": "M"}))
    assert _text(stage, "a") == THREE


def test_a_stash_of_removals_that_comes_back(stage: Repo) -> None:
    stage.write("a", TEN.replace("line 3\n", ""))
    stage.git("stash", "push", "-q", "--", "a")
    shells.run(stage, "S1", "git stash pop -q && echo more >> a")
    _judge_nothing(stage)


@pytest.mark.parametrize("command", ["git stash apply -q", "sed -i '/line 3/d' a"])
def test_a_removal_that_a_stash_still_holds_is_offered(stage: Repo, command: str) -> None:
    """Nobody can tell the two commands apart, so the session has it only if somebody asks for it."""
    stage.write("a", TEN.replace("line 3\n", ""))
    stage.git("stash", "push", "-q", "--", "a")
    shells.run(stage, "S1", command)
    answer = stage.commit("S1", checked=False)
    assert (answer.status, answer.left) == ("nothing", {"a": "shell"})
    assert stage.commit("S1", "--with-shell", checked=False).paths == {"a": "M"}


@pytest.mark.parametrize("more", ["", "sed -i 's/^line 3$/three/' moved"])
def test_both_ends_of_a_move_go_where_a_stash_holds_the_removal(stage: Repo, more: str) -> None:
    """git brings no text to another name, also none that is nearly the same."""
    stage.git("rm", "-q", "a")
    stage.git("stash", "-q")
    shells.run(stage, "S1", f"mv a moved; {more}")
    assert stage.commit("S1", checked=False).paths == {"a": "D", "moved": "A"}


PRE_COMMIT = {
    "formats": "for f in $(git diff --cached --name-only); do echo '# formatted' >> $f; done",
    "formats and stages": "for f in $(git diff --cached --name-only); do "
    "echo '# formatted' >> $f; git add $f; done",
    "makes a file": "echo x > made",
    "changes another": "echo '# formatted' >> u",
    "changes and fails": "echo '# formatted' >> a; exit 1",
}


@pytest.mark.parametrize("what", PRE_COMMIT)
def test_a_commit_in_the_command_whose_hook_changes_files(stage: Repo, what: str) -> None:
    """Whatever the hook writes in S1's command is no line of S2's, and no commit of S1's has S2's."""
    hook = stage.common / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{PRE_COMMIT[what]}\n")
    hook.chmod(0o755)
    shells.run(stage, "S1", "sed -i 's/^line 3$/three/' a && git add a && git commit -qm x")
    made = "fails" not in what
    text = THREE + ("# formatted\n" if what == "formats and stages" else "")
    assert _text(stage, "a") == (text if made else TEN)
    hook.unlink()
    left = {"formats": {"a"}, "changes another": {"u"}, "changes and fails": {"a"}}.get(what, set())
    answer = stage.commit("S1", checked=False)
    assert set(answer.paths) == left
    assert EIGHT not in stage.git("show", "--format=", "HEAD")
    assert stage.commit("S2", checked=False).paths == {"other": "M"}
    assert stage.changes() == {"other": "M"}


# --- one after the other, and too much ---


def test_one_command_after_the_other(stage: Repo) -> None:
    """Each has its own calls; a read between them changes nothing."""
    for command in ("echo x >> a", "cat a", "sed -i 's/^x$/y/' a", "git diff", "rm b"):
        shells.run(stage, "S1", command)
    _judge(stage, Case("", {"a": "M", "b": "D"}))


def test_two_sessions_by_turns_in_one_file(repo: Repo) -> None:
    """Shell against shell, one after the other: each its own lines, whoever commits first."""
    shells.run(repo, "S1", "sed -i 's/^line 2$/two/' a")
    shells.run(repo, "S2", "sed -i 's/^line 8$/eight/' a")
    shells.run(repo, "S1", "sed -i 's/^line 5$/five/' a")
    shells.run(repo, "S2", "sed -i '/^line 10$/d' a")
    repo.commit("S2")
    assert _text(repo, "a") == TEN.replace("line 8", "eight").replace("line 10\n", "")
    repo.commit("S1")
    texts = {2: "two", 5: "five", 8: "eight"}
    assert _text(repo, "a").splitlines() == [texts.get(n, f"line {n}") for n in range(1, 10)]


def test_a_command_that_unpacks_more_than_anybody_reads(stage: Repo) -> None:
    """The new ones are left, what it changed beside them is taken."""
    shells.run(stage, "S1", "mkdir x && for n in $(seq 2100); do : > x/$n; done; echo more >> a")
    answer = stage.commit("S1")
    assert answer.paths == {"a": "M"}
    assert "2100 new files" in (stage.state / "hooks.log").read_text()
    assert stage.commit("S2").paths == {"other": "M"}


def test_many_changed_files(repo: Repo) -> None:
    """A tree of two thousand, half of it rewritten, beside a line of S2's."""
    for number in range(2_000):
        repo.write(f"x/{number % 20}/{number}", TEN)
    repo.commit_all("many")
    repo.edit("S2", "x/0/0", changed(8, EIGHT))
    shells.run(repo, "S1", "sed -i 's/^line 3$/three/' x/0/* x/1/* x/2/*")
    answer = repo.commit("S1")
    assert len(answer.paths) == 300
    assert set(answer.paths.values()) == {"M"}
    assert _text(repo, "x/0/0") == THREE
    assert repo.commit("S2").paths == {"x/0/0": "M"}
    assert _text(repo, "x/0/0") == changed(8, EIGHT, THREE)


def test_a_command_that_works_in_another_repository(repo: Repo, make_repo: Callable[[str], Repo]) -> None:
    """Begun here and done elsewhere: nothing of that is ours."""
    other = make_repo("elsewhere")
    other.write("a", TEN)
    other.commit_all("a")
    shell = Shell(repo, "S1").begin()
    subprocess.run(["sh", "-c", "echo x >> a"], cwd=other.root, check=True)
    shell.end()
    assert repo.commit("S1").status == "nothing"
    assert other.git("diff", "--name-only") == "a"

"""What only Linux has, where it is used, and what happens elsewhere: macOS on paper, as none is at hand.

:data:`ELSEWHERE` is the list. A test reads the source and finds every use by itself, so that the list is
whole and holds nothing more; others run the commands in a Python from which all of it was taken.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitralph.commit import guard_script
from tests.support import payloads, source
from tests.support.repo import Repo
from tests.support.texts import TEN, changed

# Names that Python has on Linux and lacks on macOS, or has there since 3.13 only, by their module.
_LINUX = {
    "os": """
        waitid posix_fallocate posix_fadvise memfd_create eventfd pidfd_open pipe2 getrandom
        sched_getaffinity sched_setaffinity copy_file_range splice unshare setns fdatasync
        getxattr setxattr listxattr removexattr setresuid getresuid O_PATH O_TMPFILE
        O_NOATIME O_DIRECT O_LARGEFILE O_RSYNC P_PIDFD WNOWAIT
    """,
    "signal": """
        SIGRTMIN SIGRTMAX SIGPOLL SIGPWR SIGSTKFLT SIGCLD sigtimedwait sigwaitinfo pidfd_send_signal
    """,
    "fcntl": """
        F_OFD_GETLK F_OFD_SETLK F_OFD_SETLKW F_SETLEASE F_GETLEASE F_NOTIFY F_ADD_SEALS F_GET_SEALS
        F_SETPIPE_SZ F_GETPIPE_SZ
    """,
    "resource": "prlimit",
    "select": "epoll",
    "time": "CLOCK_BOOTTIME CLOCK_TAI",
    "": "renameat2 prctl inotify_init inotify_add_watch statx",
}
_FOLDERS = re.compile(r"^/(proc|sys)(/|$)|^/dev/(shm|fd)")
_SETSID = "posix_spawn(setsid=)"

# (module, what) and what happens where it is not.
ELSEWHERE = {
    ("base.files", "posix_fadvise"): "several files are written to the disk one after the other",
    ("base.locks", "/proc"): "nobody is named who holds a lock",
    ("base.process", "/proc"): "a process is known by its pid alone, a session's end by its age",
    ("git.dead_locks", "/proc"): "a git may be at work: a lock that a killed git left stays, and is named",
    ("tasks.worktree.removable", "/proc"): "no process is found in a worktree that is to be removed",
    ("git.placing", "renameat2"): "a file is replaced by a rename, after one more look at what stands there",
    ("base.runner", "prlimit"): "what a program prints to a file is bounded by nothing but the disk",
    ("tasks.children", "waitid"): "an ended program is waited for at once, before its group is stopped",
    ("tasks.children", "WNOWAIT"): "not reached: it goes with waitid",
    ("cli.terminal.screen", "SIGRTMIN"): "every signal below NSIG counts",
    (
        "tasks.fleet.clock",
        "CLOCK_BOOTTIME",
    ): "a lease goes by the monotonic clock, which may stand still in sleep",
    ("base.programs", _SETSID): "a program that nobody waits for gets a group of its own, and no session",
}
# GNU's alone, or of a bash that macOS does not have.
_GNU = re.compile(
    r"stat -c|date (-d|--date)|readlink -f|sed -i|mktemp -p|\btimeout |xargs -[rd]|grep -[a-zA-Z]*P"
    r"|sort -[zV]|\btac\b|\bflock\b|\bsetsid\b|/proc\b|base64 -w|-printf|\bmapfile\b|\breadarray\b|,,\}"
    r"|\^\^\}|local -n|declare -A|/dev/shm"
)
_ZSH = "contrib/completion/_git-ralph"  # its arrays are zsh's


def _uses(tree: ast.Module) -> Iterator[str]:
    known = {owner: set(names.split()) for owner, names in _LINUX.items()}
    every = set().union(*known.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in known.get(owner, set()) | known[""]:
                yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
            words = [one.value for one in node.args if isinstance(one, ast.Constant)]
            yield from (one for one in words if isinstance(one, str) and one in every)
        elif isinstance(node, ast.Call) and any(word.arg == "setsid" for word in node.keywords):
            yield _SETSID
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _FOLDERS.match(node.value):
            yield "/" + node.value.split("/")[1]


def test_every_use_of_what_only_linux_has_is_in_the_list() -> None:
    rooms = {module.name.removeprefix("gitralph."): module.tree for module in source.modules()}
    found = {(name, what) for name, tree in rooms.items() for what in _uses(tree)}
    assert found == set(ELSEWHERE)


def test_the_scripts_use_no_option_of_gnu_s() -> None:
    shipped = [path for path in (source.ROOT / "contrib").rglob("*") if path.is_file()]
    texts = {str(path.relative_to(source.ROOT)): path.read_text() for path in shipped}
    ends = (".sh", ".bash")
    scripts = {name: text for name, text in texts.items() if text.startswith("#!") or name.endswith(ends)}
    assert len(scripts) > 10
    for name in guard_script.HOOKS:
        own, block = guard_script.own(name, True), guard_script.block(name)
        scripts[f"the guard's {name}"] = (own + block).decode()
    found = {name: _GNU.search(text) for name, text in scripts.items() if name != _ZSH}
    assert {name: hit[0] for name, hit in found.items() if hit} == {}


PRELUDE = """\
import builtins, os, resource, signal, sys, time
def gone(path):
    if isinstance(path, str) and path.split("/")[:2] in (["", "proc"], ["", "sys"]):
        raise FileNotFoundError(2, "No such file or directory", path)
def without(module, name):
    real = getattr(module, name)
    def call(path, *given, **named):
        gone(path)
        return real(path, *given, **named)
    setattr(module, name, call)
for name in ("stat", "lstat", "listdir", "scandir", "readlink", "open"):
    without(os, name)
without(builtins, "open")
isdir = os.path.isdir
os.path.isdir = lambda path: path not in ("/proc", "/proc/self") and isdir(path)
spawn = os.posix_spawn
def posix_spawn(*given, **named):
    if "setsid" in named:
        raise NotImplementedError("The 'setsid' argument is not supported on this system")
    return spawn(*given, **named)
os.posix_spawn = posix_spawn
for name in ("waitid", "WNOWAIT", "posix_fadvise"):
    delattr(os, name)
del resource.prlimit, time.CLOCK_BOOTTIME
del signal.SIGRTMIN
import ctypes
class Library:
    def __getattr__(self, name):
        raise AttributeError(name)
ctypes.CDLL = lambda *given, **named: Library()
from gitralph.__main__ import main
sys.argv = ["git-ralph", *sys.argv[1:]]
sys.exit(main())
"""


# Ten seconds for a lock are over in half of one.
_HURRY = "import time\nreal = time.monotonic\ntime.monotonic = lambda: 20 * real()\n"


def _run(repo: Repo, *args: str, stdin: bytes = b"", code: int = 0, hurry: bool = False) -> str:
    words = [sys.executable, "-P", "-c", _HURRY * hurry + PRELUDE, *args]
    done = subprocess.run(words, cwd=repo.root, env=repo.env, input=stdin, capture_output=True, check=False)
    said = done.stdout.decode() + done.stderr.decode()
    assert "Traceback" not in said, said
    assert "internal error" not in said, said
    assert done.returncode == code, (args, done.returncode, said)
    return said


@pytest.fixture
def repo(empty_repo: Repo) -> Repo:
    """Two sessions have edited one file, with hooks of a system that has nothing of it."""
    empty_repo.write("a", TEN)
    empty_repo.commit_all("base")
    for session, line in (("S1", 3), ("S2", 8)):
        before = (empty_repo.read("a") or b"").decode()
        after = changed(line, f"by {session}", before)
        event = payloads.encode(payloads.edit(session, str(empty_repo.root), "a", before, after))
        empty_repo.write("a", after)
        _run(empty_repo, "hook", "generic", stdin=event)
    assert not (empty_repo.state / "hooks.log").exists()
    return empty_repo


def test_sessions_are_told_apart_and_commit_there(repo: Repo) -> None:
    _run(repo, "status")
    _run(repo, "session", "list")
    _run(repo, "why", "a")
    _run(repo, "diff", "--session", "S1")
    _run(repo, "commit", "--session", "S1", "-m", "of S1")
    assert repo.blob("a").decode() == changed(3, "by S1")
    _run(repo, "undo", "--session", "S2")
    assert repo.read("a") == repo.blob("a")
    _run(repo, "doctor", code=1)
    _run(repo, "env")
    _run(repo, "gc")


def test_programs_are_started_and_stopped_there(repo: Repo, tmp_path: Path) -> None:
    _run(repo, "commit", "--session", "S1", "-m", "x", "--prove", "grep -q S1 a")
    _run(repo, "prove", "HEAD", "--", "true")
    _run(repo, "prove", "HEAD", "--", "false", code=1)
    plan = tmp_path / "plan.md"
    plan.write_text("- [ ] the first\n")
    _run(repo, "run", str(plan), "--task-timeout", "2s", "--max-iterations", "1", "--", "sleep", "60", code=1)


def test_worktrees_come_and_go_there(repo: Repo) -> None:
    _run(repo, "worktree", "add", "bd-1")
    _run(repo, "worktree", "list")
    _run(repo, "worktree", "remove", "bd-1")


def test_a_lock_of_a_git_that_may_be_at_work_is_left_alone_there(repo: Repo) -> None:
    (repo.common / "index.lock").write_bytes(b"")
    said = _run(repo, "commit", "--session", "S1", "-m", "x", code=75, hurry=True)
    assert "index.lock" in said
    assert (repo.common / "index.lock").exists()

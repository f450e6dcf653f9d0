"""``git ralph`` on a terminal of its own: a pseudo-terminal that the test reads and types into."""

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping

from tests.support.repo import Repo

PATIENCE = 10.0


class Session:
    """A process on a pseudo-terminal of a given size."""

    def __init__(
        self, repo: Repo, *args: str, width: int = 80, height: int = 24, env: Mapping[str, str] | None = None
    ) -> None:
        self.outer, self.inner = os.openpty()
        self.resize(width, height)
        self.before = termios.tcgetattr(self.inner)
        both = {**repo._environment({"TERM": "xterm", "COLUMNS": None, **(env or {})})}
        self.child = subprocess.Popen(
            [sys.executable, "-P", "-m", "gitralph", *args],
            cwd=repo.root,
            env=both,
            stdin=self.inner,
            stdout=self.inner,
            stderr=self.inner,
            start_new_session=True,
        )
        self.said = ""

    def resize(self, width: int, height: int) -> None:
        """Give the terminal another size, as a window does."""
        fcntl.ioctl(self.outer, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.outer, keys.encode())

    def signal(self, number: int) -> None:
        """Send a signal to the process."""
        os.kill(self.child.pid, number)

    def read(self, seconds: float = 0.1) -> str:
        """What was printed meanwhile."""
        got = b""
        while select.select([self.outer], [], [], seconds)[0]:
            try:
                data = os.read(self.outer, 65536)
            except OSError:
                break
            if not data:
                break
            got += data
        text = got.decode("utf-8", "replace")
        self.said += text
        return text

    def until(self, wanted: str, since: int = 0) -> str:
        """Wait until something was printed; all of it from ``since`` on."""
        deadline = time.monotonic() + PATIENCE
        while wanted not in self.said[since:]:
            self.read()
            assert time.monotonic() < deadline, f"{wanted!r} never came in {self.said[since:]!r}"
            assert self.child.poll() is None or wanted in self.said[since:] or self.read() or False, self.said
        return self.said[since:]

    def end(self) -> int:
        """Wait for the end; the exit code, negative for a signal."""
        code = self.child.wait(PATIENCE)
        self.read()
        return code

    def is_restored(self) -> bool:
        """True where the terminal is as it was and shows the screen that was there before."""
        same = termios.tcgetattr(self.inner)[:4] == self.before[:4]
        left, entered = self.said.rfind("\x1b[?1049l"), self.said.rfind("\x1b[?1049h")
        return same and left > entered and self.said.rfind("\x1b[?25h") > self.said.rfind("\x1b[?25l")

    def close(self) -> None:
        """End what still runs."""
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()
        os.close(self.outer)
        os.close(self.inner)


def git_ralph(repo: Repo, *args: str, width: int = 80, env: Mapping[str, str] | None = None) -> str:
    """What a command prints on a terminal, lines ended by newlines alone; ``-c`` options are git's."""
    settings: dict[str, str] = {}
    rest = list(args)
    while rest[:1] == ["-c"]:
        key, _, value = rest[1].partition("=")
        at = len(settings) // 2
        settings |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
        rest = rest[2:]
    settings["GIT_CONFIG_COUNT"] = str(len(settings) // 2)
    session = Session(repo, *rest, width=width, env={**settings, **(env or {})})
    try:
        deadline = time.monotonic() + PATIENCE
        while session.child.poll() is None and time.monotonic() < deadline:
            session.read(0.05)
        session.end()
        return session.said.replace("\r\n", "\n")
    finally:
        session.close()


def modules_of(repo: Repo, *args: str) -> set[str]:
    """The top-level modules that a command loads."""
    code = (
        "import sys; sys.argv = ['git-ralph', *sys.argv[1:]]\n"
        "from gitralph.__main__ import main\n"
        "main(); print('\\n' + ' '.join(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *args],
        cwd=repo.root,
        env=repo._environment(None),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split("\n")[-2].split())

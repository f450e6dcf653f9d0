"""A live screen: the state of the repository, drawn again and again until ``q``.

It uses the terminal's other screen, so the old contents return afterwards, whether a key, a signal or an
error ends it. A thread looks at the repository, so that keys and resizing are answered at once.
"""

import contextlib
import os
import select
import signal
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator, Sequence

from gitralph.ask import everywhere, overview
from gitralph.ask.everywhere import WideView
from gitralph.ask.overview import Overview
from gitralph.base.errors import INTERRUPTED, OK, RalphError, UsageError
from gitralph.base.quote import printable
from gitralph.cli.terminal import all_worktrees, columns, environ, grouped
from gitralph.cli.terminal.grouped import Here, Paper
from gitralph.git.context import Context, open_context
from gitralph.records import path_records, sessions

# xterm's control sequences: the other screen, the cursor hidden, and both back.
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"
_PERIOD = 1.0
# Looking may take a second in a large repository. The pause is then so many times as long.
_SHARE = 5.0
_QUIT = frozenset(b"qQ\x03\x04")
_NOT_CAUGHT = frozenset(
    [
        signal.SIGKILL,
        signal.SIGSTOP,
        signal.SIGCHLD,
        signal.SIGWINCH,
        signal.SIGCONT,
        signal.SIGURG,
        signal.SIGTSTP,
        signal.SIGTTIN,
        signal.SIGTTOU,
        # Python's handler runs after the instruction, which fails again and again.
        signal.SIGSEGV,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
    ]
)

# macOS has none.
_REAL_TIME = getattr(signal, "SIGRTMIN", signal.NSIG)


def run(ctx: Context, session: str | None, specs: Sequence[str], is_wide: bool = False) -> int:
    """Show the screen until somebody leaves it; returns the exit code.

    Raises UsageError without a terminal.
    """
    if not (environ.is_terminal(sys.stdin) and environ.is_terminal(sys.stdout)):
        raise UsageError("a live screen needs a terminal", "git ralph status")
    kind = _WideLooker if is_wide else _Looker
    looker = kind(ctx, session, tuple(specs))
    with _Terminal(environ.wants_color(ctx.environ, ctx.config.get("color.ui"))) as terminal:
        ended = _show(looker, terminal)
    if ended is not None and ended != signal.SIGINT:
        # The exit status of a signal tells a shell that a signal ended us, so that its loop ends too (Bash's
        # wait status).
        signal.signal(ended, signal.SIG_DFL)
        os.kill(os.getpid(), ended)  # the sender of the signal sees that it worked
    return OK if ended is None else INTERRUPTED


def _show(looker: "_Looker", terminal: "_Terminal") -> int | None:
    """Draw until a key or a signal ends it; the signal."""
    looker.start(terminal.wake)
    try:
        while True:
            terminal.draw(lambda width, height: looker.page(width, height, terminal.color))
            keys = terminal.wait()
            if terminal.ended is not None or _QUIT & set(keys):
                return terminal.ended
            if keys:
                looker.hurry()
    finally:
        looker.stop()


class _Terminal:
    """The other screen, its keys and its signals; everything is restored at the end."""

    def __init__(self, color: bool) -> None:
        self.ended: int | None = None
        self.color = color
        self._fd = sys.stdin.fileno()
        # A pipe to which a signal or a thread writes ends a select that already sleeps. A flag alone would be
        # seen a second later.
        self._woken, self._waker = os.pipe()
        self._before: list[object] = []
        self._kept: list[tuple[int, object]] = []

    def __enter__(self) -> "_Terminal":
        for fd in (self._woken, self._waker):
            # A handler that waits on a full pipe would never return.
            os.set_blocking(fd, False)
        # Real-time signals are left out: they have no meaning of their own (signal(7)). A signal that was
        # ignored, as under nohup, stays ignored.
        self._kept = [
            (n, signal.signal(n, self._told))
            for n in sorted(signal.valid_signals() - _NOT_CAUGHT)
            if n < _REAL_TIME and signal.getsignal(n) is not signal.SIG_IGN
        ]
        self._kept += [
            (signal.SIGWINCH, signal.signal(signal.SIGWINCH, lambda *_: self.wake())),
            (signal.SIGCONT, signal.signal(signal.SIGCONT, self._resumed)),
            (signal.SIGTSTP, signal.signal(signal.SIGTSTP, self._suspended)),
        ]
        self._enter()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()
        for number, before in self._kept:
            signal.signal(number, before)  # type: ignore[arg-type]
        os.close(self._woken)
        os.close(self._waker)

    def _enter(self) -> None:
        self._before = termios.tcgetattr(self._fd)
        # Keys come at once and are not echoed, while Ctrl-C and Ctrl-Z remain signals (termios(3), ICANON and
        # ISIG).
        tty.setcbreak(self._fd)
        sys.stdout.write(_ENTER)
        sys.stdout.flush()

    def _leave(self) -> None:
        with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]
            sys.stdout.write(_LEAVE)
            sys.stdout.flush()

    def _told(self, number: int, _frame: object) -> None:
        self.ended = number if self.ended is None else self.ended
        self.wake()

    def _suspended(self, *_: object) -> None:
        """Ctrl-Z: the shell gets its own screen back while we sleep."""
        self._leave()
        # not SIGTSTP again: the kernel drops it where no shell could resume us, and the screen would be gone
        os.kill(os.getpid(), signal.SIGSTOP)

    def _resumed(self, *_: object) -> None:
        self._enter()
        self.wake()

    def wake(self) -> None:
        """End :meth:`wait`; also called from a thread or a signal."""
        # the pipe is full, so the screen is awake already; or it is closed
        with contextlib.suppress(OSError):
            os.write(self._waker, b"x")

    def wait(self) -> bytes:
        """Sleep until something must be drawn; returns the keys that were pressed."""
        ready, _, _ = select.select([self._fd, self._woken], [], [], _PERIOD)
        if self._woken in ready:
            os.read(self._woken, 4096)
        if self._fd not in ready:
            return b""
        try:
            # An arrow key is several bytes, which are read together; none of them is q.
            keys = os.read(self._fd, 64)
        except OSError:
            keys = b""
        return keys or b"q"  # the terminal is gone

    def draw(self, page: Callable[[int, int], list[str]]) -> None:
        """Put lines on the screen, each over the row's old line, so that nothing flickers."""
        try:
            size = os.get_terminal_size(sys.stdout.fileno())
            width, height = size.columns or columns.USUAL, size.lines or 24
            rows = page(width, height)
            # Clearing the screen first would leave it dark until the drawing.
            body = f"{_REST_OF_LINE}\n".join(rows[:height])
            sys.stdout.write(f"{_HOME}{body}{_REST_OF_LINE}{_REST_OF_SCREEN}")
            sys.stdout.flush()
        except OSError:
            self.ended = self.ended or signal.SIGHUP


class _Looker:
    """Looks at the repository in a thread of its own, and keeps what it saw last."""

    def __init__(self, ctx: Context, session: str | None, specs: tuple[str, ...]) -> None:
        self.session = session
        self.specs = specs
        self.environ = ctx.environ
        self.root = ctx.repo.root
        self.here = Here(ctx)
        self.own = path_records.family(ctx.layout, session) if session else []
        self._seen: Overview | None = None
        self._fault = ""
        self._over, self._now = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, wake: Callable[[], None]) -> None:
        """Begin; ``wake`` is called whenever there is something new."""
        self._thread = threading.Thread(target=self._run, args=(wake,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End soon; a look that takes long is left to itself."""
        self._over.set()
        self._now.set()
        if self._thread is not None:
            # A daemon thread: the process does not wait for a git that hangs.
            self._thread.join(0.5)

    def hurry(self) -> None:
        """Look again now."""
        self._now.set()

    def _run(self, wake: Callable[[], None]) -> None:
        while not self._over.is_set():
            began = time.monotonic()
            self._look()
            wake()
            self._now.wait(max(_PERIOD, _SHARE * (time.monotonic() - began)))
            self._now.clear()

    def _look(self) -> None:
        try:
            ctx = open_context(self.environ, create=False)
            with contextlib.closing(ctx.repo):
                self._see(ctx)
            self._fault = ""
        except RalphError as error:
            self._fault = error.message
        except OSError as error:
            self._fault = str(error)

    def _see(self, ctx: Context) -> None:
        self._seen = overview.look(ctx, self.session, self.specs)

    def page(self, width: int, height: int, color: bool) -> list[str]:
        """The screen's contents now, at most ``height`` lines."""
        seen = self._seen
        branch = f" on {seen.branch}" if seen else ""
        title = f"{'git ralph top: ' if width >= columns.ROOMY else ''}{os.path.basename(self.root)}{branch}"
        clock = time.strftime("%H:%M:%S")
        rows = [_ends(title, f"{clock}  q quits", width)]
        if self._fault:
            rows.append(columns.cut(printable(f"cannot look: {self._fault}"), width))
        if seen is None:
            return [*rows, "" if self._fault else "looking ..."]
        names = seen.names
        paper = Paper(self.here, lambda session: names.get(session, session), width, color)
        rows += list(_at_work(seen, paper))
        below = list(landed_lines(seen, paper))
        body = grouped.lines(seen.groups, self.own, paper) or ["nothing uncommitted"]
        room = max(height - len(rows) - min(len(below), _BELOW) - 1, 1)
        rows += ["", *(body if len(body) < room else [*body[: room - 2], f"... {len(body) - room + 2} more"])]
        return [*rows, *below][:height]


# So many lines are kept for commits, below the rest.
_BELOW = 5


def _ends(left: str, right: str, width: int) -> str:
    """Two texts at both ends of a line."""
    left = columns.cut(printable(left), max(width - columns.width(right) - 1, 1))
    return columns.pad(left, width - columns.width(right)) + right


def _at_work(seen: Overview, paper: Paper) -> Iterator[str]:
    width = paper.width or columns.USUAL
    roomy = width >= columns.ROOMY
    table = columns.table(
        [
            one.name,
            *([sessions.said(one.state)] if roomy else []),
            f"{one.pending} pending",
            grouped.ago(one.last, not roomy),
            ".",
        ]
        for one in seen.at_work
    )
    yield ""
    for line, one in zip(table[:8], seen.at_work, strict=False):
        path = paper.here.shown(one.path) if one.path is not None else ""
        rest = width - columns.width(line) + 1
        yield columns.cut(line[:-1] + columns.cut(path, max(rest, 1), keep_end=True), width).rstrip()
    if not table:
        yield columns.cut("no session is at work", width)
    if len(table) > 8:
        yield f"... {len(table) - 8} more"


def landed_lines(seen: Overview, paper: Paper) -> Iterator[str]:
    """The table of what landed last, below what is at work."""
    width = paper.width or columns.USUAL
    yield ""
    short = width < columns.ROOMY
    table = columns.table(
        [
            one.commit,
            paper.called(one.session) if one.session else printable(one.author),
            grouped.ago(one.time, short),
            one.subject,
        ]
        for one in seen.landed[: _BELOW - 1]
    )
    for line in table:
        yield columns.cut(line, width)


class _WideLooker(_Looker):
    """Looks at all worktrees."""

    _view: WideView | None = None

    def _see(self, ctx: Context) -> None:
        self._view, self._ctx = everywhere.look(ctx), ctx

    def page(self, width: int, height: int, color: bool) -> list[str]:
        if self._view is None or self._fault:
            return [columns.cut(self._fault or "looking ...", width)]
        rows = list(all_worktrees.lines(self._ctx, self._view, width))
        return [columns.cut(row, width) for row in rows[:height]]

"""Every way a command can end badly, each with its exit code and hints; nothing else."""

# Scripts may rely on these. 128 and 129 are git's own for a fatal error and for usage (gitcli, git's
# usage.c), 130 is a shell's for SIGINT, 75 is EX_TEMPFAIL of sysexits.h, 1 is the answer no. 4 is ours: git
# uses it for nothing, so a refusal is never taken for a failure.
OK = 0
NO = 1
REFUSED = 4
BUSY = 75
FATAL = 128
USAGE = 129
INTERRUPTED = 130


class RalphError(Exception):
    """Base of all expected failures: a message for people, hints, and the exit code.

    ``session`` is the id of the session that it is about, where the caller knows one.
    """

    exit_code = FATAL
    label = "fatal"

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints
        self.session: str | None = None


class UsageError(RalphError):
    """The command line was wrong; nothing was done."""

    exit_code = USAGE
    label = "error"


class Refused(RalphError):
    """A refusal: we will not do it as asked, and nothing was written.

    ``left`` holds the paths and reasons as the commit document lists them.
    """

    exit_code = REFUSED
    label = "error"

    def __init__(self, message: str, *hints: str, left: tuple[object, ...] = ()) -> None:
        super().__init__(message, *hints)
        self.left = left


class Busy(RalphError):
    """Somebody else holds what we need; trying again will do."""

    exit_code = BUSY
    label = "error"


class Fatal(RalphError):
    """Damage, I/O, an untrusted or unsupported repository."""


class Failed(RalphError):
    """The answer is no: a hook or a verification failed."""

    exit_code = NO
    label = "error"

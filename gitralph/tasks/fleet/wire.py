"""Talking to the remote: list, push with a lease, fetch by object id. Every answer is checked.

The remote is always named by its URL. By its name, git would leave ``refs/remotes/…`` at objects that only
the fleet's own folder has. git runs in the C locale, since its words are read.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from gitralph.base import runner
from gitralph.base.errors import Busy, Fatal, Refused
from gitralph.base.quote import printable
from gitralph.git.run import Git
from gitralph.tasks.fleet import ref_names

# In seconds. A server that never answers must not hold an agent up. Nothing is timed for a person, who may be
# typing a password.
PATIENCE = 120.0
# In seconds. During a pause a landing keeps the clone's own lock, for which a beat waits.
_LONGEST_PAUSE = 20.0
# A ref is 73 bytes of advertisement: these are 15 MB.
_MOST_REFS = 200_000
# What a fetch may write in one file; a log is kept below 4 MB.
MOST_BYTES = 64 << 20
_LATE = b"the server took too long"
# git's words where the address or the access is wrong, which no repeat changes. Whatever else goes wrong
# counts as no answer.
_NO_SUCH = (
    "does not appear to be a git repository",
    "not found",
    "access denied",
    "repository not exported",
    "permission denied",
    "authentication failed",
    "could not read username",
    "invalid path",
)
# git-receive-pack's words when another process holds the lock file of a ref, or died holding it.
_LOCKED = (".lock", "file exists", "unable to create", "another git process")
# Words of send-pack and receive-pack for a ref that is not where the push expects it, or was moved meanwhile.
# The answer is to look again, not to give up.
_RACED = (
    "stale info",
    "fetch first",
    "failed to",
    "cannot lock ref",
    "already exists",
    "non-fast-forward",
    "atomic push",
)


class UnansweredError(Busy):
    """The server did not answer, so nobody knows whether it did what was asked."""

    def __init__(self, url: str, said: str) -> None:
        super().__init__(f"'{printable(url)}' did not answer: {said}", "try again shortly")
        self.said = said


class NoAtomicError(Refused):
    """The server cannot move two refs in one step."""


@dataclass(frozen=True)
class RemoteRefs:
    """The refs of a namespace at one moment, and what HEAD of the remote points at."""

    refs: dict[str, str]
    head: str | None = None

    def at(self, ref: str) -> str | None:
        """The object id a ref had, None when it was not there."""
        return self.refs.get(ref)


@dataclass(frozen=True)
class RefUpdate:
    """One ref of a push: it is to become ``new`` if it is ``old`` now; ``old`` None means absent.

    An empty ``new`` deletes it.
    """

    ref: str
    old: str | None
    new: str


def _is_unusable(said: str) -> bool:
    return any(word in said.lower() for word in _NO_SUCH)


@dataclass(frozen=True)
class Pushed:
    """What the server said of a push; what it did, a look tells. ``reasons`` by ref: empty if it moved."""

    reasons: dict[str, str] = field(default_factory=dict)
    said: str = ""

    @property
    def is_lost(self) -> bool:
        """True when nothing can have arrived: there is no repository for us at the address."""
        return not self.reasons and _is_unusable(self.said)

    @property
    def is_refused(self) -> bool:
        """True when it says of some ref that it did not move."""
        return any(self.reasons.values())

    @property
    def refusal(self) -> str | None:
        """Why the server turns refs of this kind down, None where it took them or somebody was faster."""
        for reason in self.reasons.values():
            if reason and not self.locked and not any(word in reason.lower() for word in _RACED):
                return reason
        return None

    @property
    def locked(self) -> bool:
        """True when a lock file on the server was in the way."""
        text = (self.said + " ".join(self.reasons.values())).lower()
        return self.is_refused and any(word in text for word in _LOCKED)

    @property
    def is_forced_denied(self) -> bool:
        """True when the server lets nobody replace history."""
        return any("non-fast-forward" in reason for reason in self.reasons.values())


def gist(said: str) -> str:
    """The line of git's words that says most, for a message."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    useful = [line for line in lines if not line.startswith(("hint:", "To ", "and the repository"))]
    return printable((useful or lines or ["it said nothing"])[0].removeprefix("fatal: "))[:300]


@dataclass(frozen=True)
class Wire:
    """The remote at ``url``. ``git`` sees the private objects; ``seconds`` None waits for a person.

    ``hints`` say what to do where there is no repository at the address.
    """

    git: Git
    url: str
    seconds: float | None = PATIENCE
    hints: tuple[str, ...] = ()

    def _run(
        self, words: Sequence[str | bytes], given: bytes | None = None, most: int | None = None
    ) -> tuple[int, bytes, bytes]:
        git = self.git.at(LC_ALL="C", LANGUAGE="C")
        try:
            done = runner.run(
                [git.program, *git.words, *words],
                env=git.env,
                cwd=git.cwd,
                given=given,
                seconds=self.seconds,
                keep=git.keep,
                most=most,
            )
        except runner.LateError as late:
            return 128, late.out, _LATE
        return done.returncode, done.stdout, done.stderr

    def look(self, *patterns: str) -> RemoteRefs:
        """The refs that match. Raises UnansweredError, or Fatal where there is no repository for us."""
        code, out, err = self._run(["ls-remote", "--symref", "--", self.url, *patterns])
        if code:
            said = gist(err.decode("utf-8", "replace"))
            if _is_unusable(said):
                raise Fatal(f"cannot use '{printable(self.url)}': {said}", *self.hints)
            raise UnansweredError(self.url, said)
        found: dict[str, str] = {}
        head = None
        for row in out.decode("utf-8", "surrogateescape").split("\n")[:_MOST_REFS]:
            oid, _, ref = row.partition("\t")
            # Row `ref: refs/heads/main<TAB>HEAD` of `--symref`, before the ids (git-ls-remote(1)); a name
            # with blanks or control characters is no ref.
            if oid.startswith("ref: ") and ref == "HEAD" and printable(oid) == oid and oid.count(" ") == 1:
                head = oid[5:]
            elif ref_names.is_oid(oid) and ref:
                found[ref] = oid
        return RemoteRefs(found, head)

    def push(self, steps: Sequence[RefUpdate], atomic: bool = False, verify: bool = False) -> Pushed:
        """Ask the server to move some refs. Returns what it said; what it did, :meth:`look` tells.

        ``verify`` lets the user's own pre-push hook judge. Raises NoAtomicError.
        """
        words = ["push", "--porcelain", *(() if verify else ("--no-verify",)), "--no-follow-tags"]
        words += ["--recurse-submodules=no", "--no-signed", *(("--atomic",) if atomic else ())]
        # The old value is named for each ref, so that a push cannot overwrite what nobody here has seen; an
        # empty one means that there must be none.
        words += [f"--force-with-lease={step.ref}:{step.old or ''}" for step in steps]
        words += ["--", self.url, *(f"{step.new}:{step.ref}" for step in steps)]
        _code, out, err = self._run(words)
        said = err.decode("utf-8", "replace")
        if "does not support --atomic" in said:
            raise NoAtomicError(f"'{printable(self.url)}' cannot move two refs in one step")
        return Pushed(_reasons(out), said)

    def fetch(self, oids: Sequence[str], tips: Sequence[str] = ()) -> bool:
        """Bring objects into the private folder; False when the server would not.

        No ref, FETCH_HEAD or tag is written, and no gc runs. ``tips`` are commits that the folder has; the
        server is told of no other history.
        """
        if not oids:
            return True
        words = [
            "-c",
            "fetch.fsckObjects=true",
            "-c",
            "fetch.writeCommitGraph=false",
            "-c",
            "gc.auto=0",
            "fetch",
            "-q",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-gc",
            "--stdin",
            *(f"--negotiation-tip={tip}" for tip in tips),
            "--",
            self.url,
        ]
        given = "".join(oid + "\n" for oid in oids).encode()
        return self._run(words, given, MOST_BYTES)[0] == 0


def _reasons(out: bytes) -> dict[str, str]:
    """Rows ``<flag>\\t<from>:<to>\\t<summary> (<reason>)`` of ``push --porcelain`` (git-push(1), OUTPUT)."""
    found: dict[str, str] = {}
    for row in out.decode("utf-8", "replace").split("\n"):
        fields = row.split("\t")
        if len(fields) == 3 and len(fields[0]) == 1 and ":" in fields[1]:
            ref = fields[1].partition(":")[2]
            found[ref] = printable(fields[2])[:300] if fields[0] == "!" else ""
    return found


def was_taken(out: bytes, ref: str) -> bool:
    """True when the answer to one ``push --porcelain`` says that the ref moved."""
    return _reasons(out).get(ref) == ""


def pause(attempt: int, took: float = 0.0) -> None:
    """Wait before another try, for a random time, so that fifty clones do not meet again.

    ``took`` are the seconds of the last try. Only one member at a time can succeed, so the longest pause is
    made for as many as there are likely to be. Fifty on one branch, simulated on two cores, need four tries a
    landing that way. They need six to seven where a pause grows by one try each and ends at ten seconds.
    """
    spread = random.uniform(0.02, 0.08)  # noqa: S311  it need only differ between machines
    pause_ = (spread + random.uniform(0, took)) * 2 ** min(attempt, 5)  # noqa: S311
    time.sleep(min(pause_, random.uniform(0.5, 1) * _LONGEST_PAUSE))  # noqa: S311

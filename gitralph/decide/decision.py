"""What may become of one pending path: it is taken, or left with a reason; notes may be added."""

from collections.abc import Iterable
from typing import NamedTuple

from gitralph.base.ids import UNRECORDED as UNRECORDED
from gitralph.base.kinds import Why
from gitralph.git.snapshot import Content
from gitralph.git.trees import Entry

ENTANGLED, CONTESTED, UNANCHORED, STALE = "entangled", "contested", "unanchored", "stale"
IGNORED, OUTSIDE, SUBMODULE, UNMERGED = "ignored", "outside", "submodule", "unmerged"
UNCHANGED, GONE, FILTERED, TOO_LARGE, SHELL = "unchanged", "gone", "filtered", "too-large", "shell"
REFUSING = frozenset([ENTANGLED, CONTESTED, UNANCHORED, STALE, UNMERGED, FILTERED, TOO_LARGE])
UNSURE = frozenset([STALE, UNANCHORED])
"""Nobody can tell which lines of such a path are whose."""

DECLINED = "declined"
"""A person was asked and did not choose it; it stays pending."""

# Another session moved the file, and the lines wait for its commit of the move. The path is neither taken nor
# left yet.
WAITING = "waiting"

EDITS, WHOLE_FILE = "edits", "whole-file"


class Left(NamedTuple):
    """A path, or some lines of it, that this commit does not take."""

    path: bytes
    reason: str
    why: Why
    sessions: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    optional: bool = False  # no session recorded it, so it never makes the commit refuse
    by_shell: bool = False  # the option --with-shell would take it

    @property
    def refuses(self) -> bool:
        return self.reason in REFUSING and not self.optional


class Note(NamedTuple):
    """Something to tell about a path or some of its lines; it does not change what becomes of them."""

    path: bytes
    why: Why
    lines: tuple[int, int] | None = None


class Use(NamedTuple):
    """How far a commit has read one session's records of one path, in bytes of journal and manifest.

    ``units`` are the keys of the pieces that the commit took, None where it took the path whole. A use is a
    line of the log. It never decides whether an exact edit is pending; what it does tell:
    ``records.commit_log``.
    """

    session: str
    upto: int
    manifest: int | None
    units: tuple[str, ...] | None = None


class Outcome(NamedTuple):
    """The decision for one path. ``content`` is what to commit, in working-tree form.

    ``entry`` is set for a submodule, which has no text. ``kept`` are ranges of lines that nobody recorded:
    they stand on the session's lines and stay out of the commit.
    """

    path: bytes
    content: Content | None = None
    how: str = EDITS
    left: tuple[Left, ...] = ()
    uses: tuple[Use, ...] = ()
    notes: tuple[Note, ...] = ()
    includes: frozenset[str] = frozenset()
    entry: Entry | None = None
    kept: tuple[tuple[int, int], ...] = ()

    @property
    def taken(self) -> bool:
        return self.content is not None

    @property
    def void(self) -> bool:
        """True where nothing is to be committed, and a note said so."""
        return any(one.reason == UNCHANGED for one in self.left)


def refused(path: bytes, reason: str, why: Why, sessions: Iterable[str]) -> Outcome:
    """A path of which nothing goes, for one reason."""
    return Outcome(path, left=(Left(path, reason, why, tuple(sessions)),))

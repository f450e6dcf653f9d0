"""What may become of one pending path: taken, left with a reason, or told of with a note."""

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

# Not left and not taken yet: lines that stand on what another session has not committed.
WAITING = "waiting"

EDITS, WHOLE_FILE = "edits", "whole-file"


class Left(NamedTuple):
    """A path, or units of it, that this commit does not take."""

    path: bytes
    reason: str
    why: Why
    sessions: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    optional: bool = False  # nobody recorded it: it is only left, whatever the reason
    by_shell: bool = False  # --with-shell would take it

    @property
    def refuses(self) -> bool:
        return self.reason in REFUSING and not self.optional


class Note(NamedTuple):
    """What is told of a path, or lines of it, beside what becomes of it."""

    path: bytes
    why: Why
    lines: tuple[int, int] | None = None


class Use(NamedTuple):
    """How far a commit has read one session's records of one path: bytes of journal and manifest.

    ``units`` are the pieces that it took, None where it took the path whole. A log: it decides nothing but
    whether a claim by path alone is still open, and what was said already.
    """

    session: str
    upto: int
    manifest: int | None
    units: tuple[str, ...] | None = None


class Outcome(NamedTuple):
    """The decision for one path. ``content`` is what to commit, in working-tree form.

    ``entry`` is a submodule's, which has no text. ``void``: there is nothing to commit, and that was said.
    ``kept`` are lines that nobody recorded on the session's own, and that stay out.
    """

    path: bytes
    content: Content | None = None
    how: str = EDITS
    left: tuple[Left, ...] = ()
    uses: tuple[Use, ...] = ()
    notes: tuple[Note, ...] = ()
    includes: frozenset[str] = frozenset()
    entry: Entry | None = None
    void: bool = False
    kept: tuple[tuple[int, int], ...] = ()

    @property
    def taken(self) -> bool:
        return self.content is not None and not self.void

"""What may become of one pending path: taken, left with a reason, or consumed with a note."""

from typing import NamedTuple

from gitralph.base.ids import UNRECORDED as UNRECORDED
from gitralph.git.snapshot import Content
from gitralph.git.trees import Entry

ENTANGLED, CONTESTED, UNANCHORED, STALE = "entangled", "contested", "unanchored", "stale"
IGNORED, OUTSIDE, SUBMODULE, UNMERGED = "ignored", "outside", "submodule", "unmerged"
UNCHANGED, GONE, FILTERED, TOO_LARGE, SHELL = "unchanged", "gone", "filtered", "too-large", "shell"
REFUSING = frozenset([ENTANGLED, CONTESTED, UNANCHORED, STALE, UNMERGED, FILTERED, TOO_LARGE])
UNSURE = frozenset([STALE, UNANCHORED])
"""Nobody can tell which lines of such a path are whose."""

# Not left and not taken yet: lines that stand on what another session has not committed.
WAITING = "waiting"

EDITS, WHOLE_FILE = "edits", "whole-file"


class Left(NamedTuple):
    """A path, or units of it, that this commit does not take."""

    path: bytes
    reason: str
    detail: str
    sessions: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    optional: bool = False  # nobody recorded it: it is only left, whatever the reason
    by_shell: bool = False  # --with-shell would take it

    @property
    def refuses(self) -> bool:
        return self.reason in REFUSING and not self.optional


class Use(NamedTuple):
    """What of one session's records of one path is consumed: all before ``upto`` but ``left``.

    ``units`` None means every unit not left; byte positions in journal and manifest. ``away``: some
    units have no effect now and may come back with their text; ``void`` names them, None for all.
    """

    session: str
    upto: int
    manifest: int | None
    units: tuple[str, ...] | None = None
    left: tuple[str, ...] = ()
    away: bool = False
    void: tuple[str, ...] | None = None


class Gap(NamedTuple):
    """A change nobody recorded that a commit takes part of: it gets a record, so that its units keep
    their names. ``key`` names it; ``before`` is the text that the last record left.
    """

    key: str
    before: bytes | None
    after: bytes | None


class Sight(NamedTuple):
    """That a file held a text between two records, as git's index or HEAD tells now and will not after the
    next commit of the path: so it is kept with what that commit consumes.

    ``upto`` is a place in the journal after the record before, ``text`` an id; ``at_head``: HEAD held it.
    """

    upto: int
    text: str
    at_head: bool


class ReadFrom(NamedTuple):
    """Where the records stand that a commit was decided on: those before ``since`` were settled.

    ``base`` is the id of HEAD's text there, in working-tree form; None for no file.
    """

    since: int
    base: str | None


class Outcome(NamedTuple):
    """The decision for one path. ``content`` is what to commit, in working-tree form.

    ``entry`` is a submodule's, which has no text. ``void``: all of it was reverted. ``seen`` is the id of the
    text on disk when that was found; ``ground`` and ``gap`` are kept with what is consumed. ``kept`` are
    lines that nobody recorded on the session's own, and that stay out.
    """

    path: bytes
    content: Content | None = None
    how: str = EDITS
    left: tuple[Left, ...] = ()
    uses: tuple[Use, ...] = ()
    notes: tuple[str, ...] = ()
    includes: frozenset[str] = frozenset()
    entry: Entry | None = None
    void: bool = False
    seen: str | None = None
    ground: ReadFrom | None = None
    gap: Gap | None = None
    sights: tuple[Sight, ...] = ()
    kept: tuple[tuple[int, int], ...] = ()

    @property
    def taken(self) -> bool:
        return self.content is not None and not self.void

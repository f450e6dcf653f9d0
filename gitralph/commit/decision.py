"""What may become of one pending path: taken, left with a reason, or consumed with a note."""

from dataclasses import dataclass, field

from gitralph.git.snapshot import Content

ENTANGLED, CONTESTED, UNANCHORED, STALE = "entangled", "contested", "unanchored", "stale"
IGNORED, OUTSIDE, SUBMODULE, UNMERGED = "ignored", "outside", "submodule", "unmerged"
UNCHANGED, GONE, FILTERED, TOO_LARGE, SHELL = "unchanged", "gone", "filtered", "too-large", "shell"
REFUSING = frozenset([ENTANGLED, CONTESTED, UNANCHORED, STALE, UNMERGED, FILTERED, TOO_LARGE])
UNRECORDED = "unrecorded"

EDITS, WHOLE_FILE = "edits", "whole-file"


@dataclass(frozen=True)
class Left:
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


@dataclass(frozen=True)
class Use:
    """What of one session's records of one path is consumed: all before ``upto`` but ``left``.

    ``units`` None means every unit not left; byte positions in journal and manifest. ``away``: some
    units have no effect now and may come back with their text.
    """

    session: str
    upto: int
    manifest: int | None
    units: tuple[str, ...] | None = None
    left: tuple[str, ...] = ()
    away: bool = False


@dataclass(frozen=True)
class Gap:
    """A change nobody recorded that a commit takes part of: it gets a record, so that its units keep
    their names. ``key`` names it; ``before`` is the text that the last record left.
    """

    key: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True)
class Ground:
    """Where the records stand that a commit was decided on: those before ``since`` were settled.

    ``base`` is the id of HEAD's text there, in working-tree form; None for no file.
    """

    since: int
    base: str | None


@dataclass
class Outcome:
    """The decision for one path. ``content`` is what to commit, in working-tree form.

    ``void``: all of it was reverted. ``seen`` is the id of the text on disk when that was found;
    ``ground`` and ``gap`` are kept with what is consumed.
    """

    path: bytes
    content: Content | None = None
    how: str = EDITS
    left: list[Left] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    includes: set[str] = field(default_factory=set)
    void: bool = False
    seen: str | None = None
    ground: Ground | None = None
    gap: Gap | None = None

    @property
    def taken(self) -> bool:
        return self.content is not None and not self.void

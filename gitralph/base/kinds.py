"""Why a path or some lines of it go or stay out, as data; only ``words.sentences`` makes sentences of it.

A decision names the kind and the sessions. It does not know the words that a person reads, nor the name by
which a person knows a session.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """Each thing that can be said of a path; its sentence is in ``words.sentences.TABLE``."""

    # Lines that wait for lines of others
    REPLACES = "replaces"
    INSIDE = "inside"
    AROUND = "around"
    STANDS_FOR = "stands-for"
    OTHER_VERSION = "other-version"
    MOVED_BY = "moved-by"
    IN_A_NEW_FILE = "in-a-new-file"
    MADE_ANEW = "made-anew"
    DELETES_WITH = "deletes-with"
    DELETES_REMOVED = "deletes-removed"
    OLD_READ = "old-read"
    HEAD_MOVED = "head-moved"
    UNPLACED = "unplaced"

    # Lines that cannot be taken back, or cannot come back
    BUILT_ON = "built-on"
    NEEDS_FIRST = "needs-first"
    WROTE_SINCE = "wrote-since"
    WHOSE_UNTOLD = "whose-untold"

    # What becomes of lines of a commit that goes through
    FORMATTED = "formatted"
    CORRECTED = "corrected"
    CHANGED_SINCE = "changed-since"
    AMONG = "among"
    NOTHING_LEFT = "nothing-left"
    LEFT_TO_OTHERS = "left-to-others"
    LEFT_TO_NOBODY = "left-to-nobody"
    BROUGHT_BACK = "brought-back"
    REMOVED_BEFORE = "removed-before"
    REMOVAL_STAYS = "removal-stays"

    # Files whose lines are not told apart; the sentences below begin with these
    NO_FILE = "no-file"
    CLEAN_FILTER = "clean-filter"
    LARGE = "large"
    MANY_EDITS = "many-edits"
    BINARY = "binary"
    TEXT_LOST = "text-lost"
    PATH_ONLY = "path-only"
    LINK = "link"

    # ... and what follows from that
    OTHERS_THERE = "others-there"
    OTHERS_CHANGED = "others-changed"
    ANOTHER_THERE = "another-there"
    NOT_APART = "not-apart"
    LATER_EDITS = "later-edits"
    CHANGED_AFTER = "changed-after"
    WHOLE_PATH_ONLY = "whole-path-only"

    # A path of a commit
    IGNORED = "ignored"
    BEHIND_A_LINK = "behind-a-link"
    IN_SUBMODULE = "in-submodule"
    IN_REPOSITORY = "in-repository"
    OUTSIDE_CONE = "outside-cone"
    NO_COMMIT = "no-commit"
    FILTER_FAILED = "filter-failed"
    KEEPS_CHANGING = "keeps-changing"
    IN_ITS_PLACE = "in-its-place"
    SAME = "same"
    NOTHING_TO_COMMIT = "nothing-to-commit"
    GONE = "gone"
    ONLY_ITS_PATH = "only-its-path"
    PATH_AND_OTHERS = "path-and-others"
    PATH_AND_CHANGED = "path-and-changed"
    NOTHING_RECORDED = "nothing-recorded"
    MOVED_OVER = "moved-over"
    MOVED_FROM_NOWHERE = "moved-from-nowhere"
    MOVED_WITH_LINES = "moved-with-lines"
    MOVED_WITH_NOBODYS = "moved-with-nobodys"
    MOVED_OVER_TEXT = "moved-over-text"
    LINES_OF_GONE = "lines-of-gone"
    MADE_BY = "made-by"
    LIKELY_BY = "likely-by"
    LIKELY_BY_ONE_OF = "likely-by-one-of"
    NO_END_TOLD = "no-end-told"
    FOLDER_OF_OTHERS = "folder-of-others"
    FILE_OF_OTHERS = "file-of-others"
    FILE_STAYS = "file-stays"
    GOES_WITH = "goes-with"
    NOT_CHOSEN = "not-chosen"
    PARTLY_CHOSEN = "partly-chosen"
    CHANGED_WHILE_ASKED = "changed-while-asked"

    # What is staged
    UNMERGED = "unmerged"
    STAGED_BELOW = "staged-below"
    STAGED_VERSION = "staged-version"
    STAGED_OF_OTHERS = "staged-of-others"

    # A path of a commit that goes through, or of which nothing is left to commit
    IN_HEAD_OR_GONE = "in-head-or-gone"
    CREATED_AND_DELETED = "created-and-deleted"
    NOWHERE = "nowhere"
    AS_IN_HEAD = "as-in-head"
    AS_IT_STANDS = "as-it-stands"
    WHOLE = "whole"
    MODE_LEFT = "mode-left"
    MOVER_FIRST = "mover-first"
    UPSTREAM_OTHER = "upstream-other"

    # Taking back and bringing back
    IGNORED_AND_FOUND = "ignored-and-found"
    HOOK_LINES = "hook-lines"
    SUBMODULE = "submodule"
    UNKNOWN_THEN = "unknown-then"
    UNKNOWN_BEFORE = "unknown-before"
    FILTER_AND_PATH = "filter-and-path"
    TOO_LARGE_TO_KEEP = "too-large-to-keep"
    CHANGED_AFTER_UNDO = "changed-after-undo"

    # Giving lines and paths to a session, and releasing them
    CLAIMED_WHOLE = "claimed-whole"
    CLAIM_OF_ANOTHER = "claim-of-another"
    RECORDED_BY = "recorded-by"
    AMONG_OTHERS = "among-others"
    NO_FILE_IN_HEAD = "no-file-in-head"
    HEAD_DRIFTED = "head-drifted"
    LIKE_NEIGHBOURS = "like-neighbours"
    EQUALS_HEAD = "equals-head"
    CLAIMED_ALREADY = "claimed-already"
    RECORDED_ALREADY = "recorded-already"
    NOTHING_TO_ASSIGN = "nothing-to-assign"
    NOTHING_CHOSEN = "nothing-chosen"
    NOTHING_UNRECORDED = "nothing-unrecorded"
    RELEASED = "released"
    NOT_RELEASED = "not-released"
    CLAIMS_NOTHING = "claims-nothing"


class ShellCommand(NamedTuple):
    """A shell command of a session: with which tool, by which call and when; never its text."""

    session: str
    tool: str | None
    call: str | None
    time: str


class Why(NamedTuple):
    """One thing that is said of a path, with everything that its sentence names.

    ``sessions`` may contain ``UNRECORDED``, somebody without a session. ``path`` is another path than the one
    that the sentence is about. ``because`` is the reason with which the sentence begins.
    """

    kind: Kind
    sessions: tuple[str, ...] = ()
    path: bytes = b""
    number: int = 0
    commands: tuple[ShellCommand, ...] = ()
    because: Why | None = None

    @property
    def named(self) -> frozenset[str]:
        """The sessions that the sentence names."""
        of_commands = frozenset(one.session for one in self.commands)
        return of_commands.union(self.sessions, self.because.named if self.because else ())

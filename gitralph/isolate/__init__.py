"""Tells the owners of one file's lines apart; pure.

Texts and recorded steps go in, the text of one owner's commit or a refusal comes out. Nothing
here opens a file, knows git, or imports from the rest of the program. gitralph-isolation(7) is
the same theory for users, with an example.

Model. Every line a path ever held is an *atom* in one total order, kept when it is deleted: the
weave of SCCS (M. J. Rochkind, "The Source Code Control System", IEEE TSE 1(4), 1975). A *step*
is one recorded edit, or a *gap* that nobody recorded; each of its hunks inserts, deletes or
returns atoms. The text of any set of hunks is what the last chosen operation on each atom leaves
visible. Chosen operations of different owners touch different atoms or are refused, so they
commute, as patches do in Darcs and Pijul: the order of commits cannot matter (I2).

Way of a question::

    order     late hooks into the order of texts; a missing text shows as a gap
    agreement how far HEAD agrees with the texts the records know
    fit       which place to read from: the first that rebuilds HEAD
    build     steps into a weave: linediff, runs, blocks, moves, place name the hunks, joined into units
    head      which units HEAD holds; align matches lines where HEAD moved without us, by gotoh
    rules     what a unit needs of others (1-4); supersede takes what is wholly replaced
    putback   what was away when git was seen to have the last word about the file (8)
    reverted  units with no effect left (5); follow what nobody recorded on own lines (7)
    gone      lines nobody recorded the end of (9)
    select    the units of the commit and what stands in the way
    lost      writes from an old read that threw away lines of others: ``stale``
    last_look  whether HEAD, file and records speak against the answer (10); neighbours asks for the lines
              that every block has
    by_lines  a second answer after git put files back, from counted lines alone (11)
    materialize  the text; explain words it
    annotate  the same weave asked line by line, for ``why`` and ``status``
    handover  lines that nobody recorded are given to an owner

Diff. Only lines single in the file anchor it, thinned to a longest rising subsequence (patience
diff; C. Schensted, "Longest increasing and decreasing subsequences", 1961). Equal lines between
anchors say nothing about their author but in runs (O. Gotoh, "An improved algorithm for matching
biological sequences", 1982), and a hunk that may be read at several places is read where it parts no
block, else at the lowest, as git shows it. A text the file had before is returned to atom by atom and
not diffed. HEAD's lines are matched by whole runs of what one hunk brought; of equal lines HEAD has the one
that stood there first.

Invariants, each a test: I1 all operations together give the working tree. I2 chosen operations
commute. I3 every line new in HEAD was inserted by the owner, but for corrections that follow.
I4 every line gone was deleted by the owner or by a superseded unit. I5 no input is changed.
I6 the rebuilt text of HEAD is HEAD's, else the answer is ``stale``.

Rules. A needs B's unit, which HEAD lacks, when A (1) replaced or removed its lines: superseded if no line
and no word of it is left, else entangled; (2) inserted strictly inside its block; (3) replaced a range
across lines it deleted; (4) moved or restored its text. (5) An edit taken back as a whole is reverted,
until its lines come back. (6) B inside A's new block never stops A. (7) A gap that only replaces or removes
A's pending lines, or stands inside one block of them, follows A. (8) What a text of git's did not hold,
seen in the index or by an edit that started from what HEAD held, is dead until it comes back. (9) A's line
that is not on disk, taken away by nobody's change that does not follow, is left out once git put files back
since A's edit: a gap can be filled, a line back from the dead is a lie. Then text in the place of all of
A's lines follows only if it keeps most of their words, of some of them only if it keeps one; so too where
the path is staged: git may have left no mark. (10) No text goes into a commit in which a line stands twice
that HEAD, file and each of the owner's edits have once; behind no line more or fewer common lines than HEAD
or the file has there, nor a line deeper in brackets than in both (see `neighbours`), and once git put files
back since an edit of A's, none against which HEAD, file and the recorded edits speak, counted line by line
(see `last_look`). Such a line that is neither in HEAD nor on disk is left out, and the look is taken again.
(11) Where the weave has no answer and git put files back since, A's own hunks go onto HEAD as a rebase
would put them there, if every line that then differs tells by itself that it is A's (see `by_lines`).

Cost, for s steps of h changed lines, a atoms, u units of o operations: build O(s*h + a), head
O(a) where our commits explain it and O(u*a) where lines must be matched, select O(u*o) a round.

Measured with tests/isolate/simulator.py, 60 unseen seeds a cell: 300 lines, 3 sessions, 12 clustered
edits: 86 % committed, 0 wrong of 267; uniform: 91 %, 0 of 241; one hot spot: 68 %, 0 of 244;
50 lines, 2 sessions and a person, 8 edits: 77 %, 1 of 161 (the order of a moved block).

Cannot be promised: a block that moved past its neighbour looks like the neighbour that moved past
the block; text typed and removed between two hooks has no owner.
"""

from gitralph.isolate.agreement import SIGHTED, agreed, came_back, changed, rewound, unmoved_since
from gitralph.isolate.annotate import owners_by_line, pending_units
from gitralph.isolate.api import (
    TAIL,
    UNRECORDED,
    LeftEdit,
    LineOwner,
    Note,
    Pending,
    Reading,
    Reversal,
    Separation,
    Step,
    Take,
)
from gitralph.isolate.order import chain
from gitralph.isolate.separation import separate

__all__ = [
    "SIGHTED",
    "TAIL",
    "UNRECORDED",
    "LeftEdit",
    "LineOwner",
    "Note",
    "Pending",
    "Reading",
    "Reversal",
    "Separation",
    "Step",
    "Take",
    "agreed",
    "came_back",
    "chain",
    "changed",
    "owners_by_line",
    "pending_units",
    "rewound",
    "separate",
    "unmoved_since",
]

"""The sentences about a path: one table, with one sentence for each kind of ``base.kinds``.

These fields may stand in a sentence:

``{whose}``     session 'claude-2' and somebody without a session
``{lines}``     uncommitted lines of session 'claude-2', or uncommitted lines
``{names}``     'claude-1' and 'claude-2'
``{too}``       (session 'claude-1', 'claude-2' changed it too), where there is any
``{commands}``  shell call 'toolu_1' (Bash) of 'claude-1' at 2026-01-01T00:00:00Z
``{path}``      another path than the one that the sentence is about
``{number}``    a number
``{because}``   another sentence of the table, with which this one begins
``{where}``     the path that the sentence is about; a sentence without it stands behind path and colon

People read the names of sessions, programs read their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from gitralph.base.kinds import Kind, ShellCommand, Why
from gitralph.base.layout import Layout
from gitralph.base.quote import shown
from gitralph.decide import decision
from gitralph.decide.decision import Note
from gitralph.hook import sessionfile

TABLE = {
    # Lines that wait for lines of others
    Kind.REPLACES: "replaces {lines}",
    Kind.INSIDE: "is inside {lines}",
    Kind.AROUND: "replaces lines around those that {whose} removed",
    Kind.STANDS_FOR: "removes {lines} that replaced lines of HEAD",
    Kind.OTHER_VERSION: "is another version of {lines}",
    Kind.MOVED_BY: "was moved by {whose}",
    Kind.IN_A_NEW_FILE: "is in a file that {whose} created and has not committed",
    Kind.MADE_ANEW: "makes a file anew from which {whose} removed lines",
    Kind.DELETES_WITH: "deletes a file with {lines}",
    Kind.DELETES_REMOVED: "deletes a file from which {whose} removed lines",
    Kind.OLD_READ: "was written from an old copy of the file and took out {lines}",
    Kind.HEAD_MOVED: "HEAD has moved to a text that the recorded edits do not fit",
    Kind.UNPLACED: "HEAD, the file and the records disagree about where its lines belong",
    # Lines that cannot be taken back, or cannot come back
    Kind.BUILT_ON: "{whose} built on it",
    Kind.NEEDS_FIRST: "{whose} must bring back first what it builds on",
    Kind.WROTE_SINCE: "{whose} wrote there since",
    Kind.WHOSE_UNTOLD: "{whose} changed lines there too, and which lines are whose cannot be told",
    # What becomes of lines of a commit that goes through
    Kind.FORMATTED: "was formatted by {whose}; as it stands now it goes along",
    Kind.CORRECTED: "was corrected by {whose}; the correction goes along",
    Kind.CHANGED_SINCE: "was changed since by {whose}; committed as it was recorded",
    Kind.AMONG: "was put among this session's lines by {whose}, and is left to it",
    Kind.NOTHING_LEFT: "takes the place of what {whose} had written",
    Kind.LEFT_TO_OTHERS: (
        "what this session wrote there was changed or removed by {whose}, and is left to them"
    ),
    Kind.LEFT_TO_NOBODY: (
        "what this session wrote there was changed or removed by {whose}, and is left to it"
    ),
    Kind.BROUGHT_BACK: "this session wrote it, {whose} brought it back, and it is left to it",
    Kind.REMOVED_BEFORE: "this session removed there what {whose} had removed before, and that stays theirs",
    Kind.REMOVAL_STAYS: (
        "what this session removed there stays: "
        "{whose} changed or removed what had replaced it, or put it elsewhere"
    ),
    # Files whose lines are not told apart
    Kind.NO_FILE: "it is not a plain file",
    Kind.CLEAN_FILTER: "a clean filter governs it",
    Kind.LARGE: "it is larger than {number} MiB",
    Kind.MANY_EDITS: "it has more than {number} pending edits",
    Kind.BINARY: "it is binary",
    Kind.TEXT_LOST: "a recorded text of it is lost or damaged ('git ralph doctor' says where)",
    Kind.PATH_ONLY: "only its path is recorded",
    Kind.LINK: "it is, or was, a symbolic link",
    # ... and what follows from that
    Kind.OTHERS_THERE: "{because}, and others have changes there",
    Kind.OTHERS_CHANGED: "{because}, and others changed it",
    Kind.ANOTHER_THERE: "{because}, and another session has changes there",
    Kind.NOT_APART: "{because}, so its lines cannot be told apart",
    Kind.LATER_EDITS: "{because}, and later edits of this session follow",
    Kind.CHANGED_AFTER: "{because}, and it was changed after the last recorded edit",
    Kind.WHOLE_PATH_ONLY: "{because}; only the whole path can be given",
    # A path of a commit
    Kind.IGNORED: "git ignores it",
    Kind.BEHIND_A_LINK: "a folder on its way is a symbolic link",
    Kind.IN_SUBMODULE: "it lies in submodule {path}",
    Kind.IN_REPOSITORY: "it lies in the repository {path}",
    Kind.OUTSIDE_CONE: "the checkout leaves it out (sparse-checkout, skip-worktree)",
    Kind.NO_COMMIT: "it is a repository without a commit",
    Kind.FILTER_FAILED: "its clean filter failed",
    Kind.KEEPS_CHANGING: "it keeps changing; try again",
    Kind.IN_ITS_PLACE: "{path} stands in its place",
    Kind.SAME: "HEAD already has this content",
    Kind.NOTHING_TO_COMMIT: "nothing of this session's is left to commit",
    Kind.GONE: "it was deleted after the last recorded edit; no session recorded it",
    Kind.ONLY_ITS_PATH: "only its path was recorded",
    Kind.PATH_AND_OTHERS: "only its path was recorded, and others changed it too",
    Kind.PATH_AND_CHANGED: "only its path was recorded, and the file changed afterwards",
    Kind.NOTHING_RECORDED: "{whose} has recorded nothing there",
    Kind.MOVED_OVER: (
        "another file was moved over uncommitted changes, and whether they still stood there is not known"
    ),
    Kind.MOVED_FROM_NOWHERE: (
        "it was moved here with lines of others, and HEAD no longer has it at its old path"
    ),
    Kind.MOVED_WITH_LINES: "it was moved here from {path} with lines of {whose}",
    Kind.MOVED_WITH_NOBODYS: "it was moved here from {path} with lines that nobody recorded",
    Kind.MOVED_OVER_TEXT: (
        "it was moved here from {path} over a text that HEAD does not have, "
        "and nothing of it would be committed"
    ),
    Kind.LINES_OF_GONE: "it has lines of {path}, which is gone",
    Kind.MADE_BY: "made by {commands}",
    Kind.LIKELY_BY: "likely changed by {commands}",
    Kind.LIKELY_BY_ONE_OF: (
        "likely changed by {commands}; {names} were at work then, and each may have made it"
    ),
    Kind.NO_END_TOLD: "{because}; no end was told of a shell command of {names}",
    Kind.FOLDER_OF_OTHERS: "it takes the place of a folder, and others have changes in {path}",
    Kind.FILE_OF_OTHERS: "{path} stands in its way in HEAD, and others have changes there",
    Kind.FILE_STAYS: "{path} stands in its way in HEAD, and this commit does not remove it",
    Kind.GOES_WITH: "it goes with {path}, which is left",
    Kind.NOT_CHOSEN: "it was not chosen",
    Kind.PARTLY_CHOSEN: "some of it was not chosen",
    Kind.CHANGED_WHILE_ASKED: "it changed while you were asked",
    # What is staged
    Kind.UNMERGED: "it has conflict stages",
    Kind.STAGED_BELOW: "you have staged {path} in the folder that it replaces",
    Kind.STAGED_VERSION: "your staged version of it cannot be carried over to the new HEAD",
    Kind.STAGED_OF_OTHERS: "what is staged of it is not this session's",
    # A path of a commit that goes through, or of which nothing is left to commit
    Kind.IN_HEAD_OR_GONE: "nothing that this session did there is left to commit",
    Kind.CREATED_AND_DELETED: "{where} was created and deleted again; nothing to commit there{too}",
    Kind.NOWHERE: "{where} is neither in HEAD nor on disk any more; nothing to commit there{too}",
    Kind.AS_IN_HEAD: "{where} is as in HEAD; nothing to commit there{too}",
    Kind.AS_IT_STANDS: ("{where} is committed as it stands: only its path was recorded, its lines were not"),
    Kind.WHOLE: "{where} was committed whole, as it stands",
    Kind.MODE_LEFT: "the mode of {where} was changed and no session recorded it; left",
    Kind.MOVER_FIRST: "{where} was moved there by session {names}, whose commit goes first",
    Kind.UPSTREAM_OTHER: "warning: upstream has another {where}; HEAD is behind it",
    # Taking back and bringing back
    Kind.IGNORED_AND_FOUND: "git ignores it, and this session did not make it",
    Kind.HOOK_LINES: "a hook's lines are in the commit alone, and the file has others",
    Kind.SUBMODULE: "it is a submodule",
    Kind.UNKNOWN_THEN: "only its path is recorded, and nobody knows what the file was then",
    Kind.UNKNOWN_BEFORE: (
        "only its path is recorded, and HEAD does not have it: nobody knows what it was before"
    ),
    Kind.FILTER_AND_PATH: "a filter governs it, and only its path is recorded",
    Kind.TOO_LARGE_TO_KEEP: "it is too large to be kept for a redo",
    Kind.CHANGED_AFTER_UNDO: "it was changed after it was taken back",
    # Giving lines and paths to a session, and releasing them
    Kind.CLAIMED_WHOLE: "its path is claimed whole",
    Kind.CLAIM_OF_ANOTHER: "it is another session's claim",
    Kind.RECORDED_BY: "{whose} recorded it and has not committed it",
    Kind.AMONG_OTHERS: "it changes, or stands among, uncommitted lines of another session",
    Kind.NO_FILE_IN_HEAD: "HEAD has no such file any more",
    Kind.HEAD_DRIFTED: "HEAD holds other text here than the text that was changed",
    Kind.LIKE_NEIGHBOURS: "its lines cannot be told apart from their neighbours",
    Kind.EQUALS_HEAD: "it is as in HEAD",
    Kind.CLAIMED_ALREADY: "this session claims the whole path already",
    Kind.RECORDED_ALREADY: "this session recorded it already",
    Kind.NOTHING_TO_ASSIGN: "{because}; nothing to assign there",
    Kind.NOTHING_CHOSEN: "nothing unrecorded was chosen",
    Kind.NOTHING_UNRECORDED: "nothing unrecorded is there",
    Kind.RELEASED: "{where} is no longer claimed by {whose}",
    Kind.NOT_RELEASED: "recorded edits of {whose} are not released",
    Kind.CLAIMS_NOTHING: "{whose} claims nothing there; nothing to release",
}

# The parts from which the fields are made.
_SESSION, _NOBODY, _AND, _COMMA = "session '{}'", "somebody without a session", " and ", ", "
_LINES, _LINES_OF = "uncommitted lines", "uncommitted lines of {}"
_TOO = " (session {} changed it too)"
_COMMAND, _CALL, _SHELL = "shell call{call} ({tool}) of '{name}' at {time}", " '{}'", "shell"
_LINE, _LINES_AT, _RANGE, _PLACES = "{} line {}", "{} lines {}", "{}-{}", "{} more places"
_OF_PATH = "{}: {}"

Called = Callable[[str], str]
"""Turns a session's id into the name that a reader knows."""


def of(layout: Layout, why: Why) -> str:
    """The sentence for people, with names of sessions."""
    return _sentence(why, partial(sessionfile.called, layout))


def with_ids(why: Why) -> str:
    """The sentence as ``--json`` has it, with ids of sessions."""
    return _sentence(why, str)


def told(layout: Layout, notes: Iterable[Note]) -> list[str]:
    """One line for each note, which says of what path and lines it tells."""
    return [_told(layout, note) for note in notes]


def place(path: bytes, *ranges: tuple[int, int], more: int = 0) -> str:
    """A path and ranges of its lines, as a sentence names them; ``more`` places are not named."""
    where = f"'{shown(path)}'"
    if not ranges:
        return where
    is_one = len(ranges) == 1 and ranges[0][0] == ranges[0][1] and not more
    said = [f"{first}" if first == last else _RANGE.format(first, last) for first, last in ranges]
    said += [_PLACES.format(more)] if more else []
    listed = _AND.join([_COMMA.join(said[:-1]), said[-1]]) if said[1:] else said[0]
    return (_LINE if is_one else _LINES_AT).format(where, listed)


def at(where: str, sentence: str) -> str:
    """A sentence behind the place that it is about."""
    return _OF_PATH.format(where, sentence)


def command(layout: Layout, one: ShellCommand) -> str:
    """A shell command by its call, never by its text."""
    return _command(one, partial(sessionfile.called, layout))


def _told(layout: Layout, note: Note) -> str:
    where = place(note.path, *([note.lines] if note.lines else []))
    sentence = _sentence(note.why, partial(sessionfile.called, layout), where)
    return sentence if "{where}" in TABLE[note.why.kind] else at(where, sentence)


def _sentence(why: Why, called: Called, where: str = "") -> str:
    names = {one: called(one) for one in why.sessions if one != decision.UNRECORDED}
    quoted = [f"'{name}'" for name in names.values()]
    whose = [_SESSION.format(names[one]) if one in names else _NOBODY for one in why.sessions]
    return TABLE[why.kind].format(
        whose=_AND.join(whose),
        lines=_LINES_OF.format(_AND.join(whose)) if names else _LINES,
        names=_AND.join(quoted),
        too=_TOO.format(_COMMA.join(quoted)) if quoted else "",
        commands=_AND.join(_command(one, called) for one in why.commands),
        path=f"'{shown(why.path)}'",
        number=why.number,
        because=_sentence(why.because, called) if why.because else "",
        where=where,
    )


def _command(one: ShellCommand, called: Called) -> str:
    call = _CALL.format(one.call) if one.call else ""
    return _COMMAND.format(call=call, tool=one.tool or _SHELL, name=called(one.session), time=one.time)

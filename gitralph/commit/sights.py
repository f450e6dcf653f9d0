"""What stood on disk between the records: as commits saw it, as git's index tells, as the lines show.

Whoever changed a file after git had put it back changed that text, and neither corrected nor rewrote an edit
that git had taken away before. Must put in only texts that somebody saw, or of which nothing else is left.
"""

from __future__ import annotations

import re
from itertools import takewhile

from gitralph import isolate
from gitralph.commit.decision import Sight
from gitralph.commit.inputs import Scene, read_blob
from gitralph.git.trees import Entry
from gitralph.hook.journal import Record, full_lines, is_oid, text_id
from gitralph.isolate import Step
from gitralph.isolate.linediff import line_hunks
from gitralph.isolate.lines import difference, split_lines
from gitralph.journal.pending import PathState

Row = tuple[Record, bytes | None, bytes | None]
"""A record with its texts before and after."""


def put_in(
    scene: Scene,
    state: PathState,
    texts: list[Row],
    rows: list[Step],
    head: bytes | None,
    content: bytes | None,
) -> list[Step]:
    """The steps of a path with a step of nobody's for each text that is known to have stood in between."""
    rows = _from_records(scene, state, texts, rows)
    if not rows or state.path in scene.filtered:
        return rows
    return _from_head(_from_index(scene, state, texts, rows, content), head, content)


def is_gits(step: Step) -> bool:
    """Tell whether a step is what git had on disk, or had found there by ``git add``."""
    return step.key == isolate.SIGHTED or step.key.startswith(_ADDED) or (_is_sight(step) and step.put)


def to_keep(steps: list[Step], size: int) -> tuple[Sight, ...]:
    """What git's index and HEAD tell now and will not after a commit of the path."""
    # right behind the record before it, or right before the next one where commits saw other texts first
    found = []
    for at, step in enumerate(steps):
        is_fresh = step.key in (isolate.SIGHTED, _ADDED) or step.key.startswith(_PUT)
        if at and is_fresh and step.after is not None:
            last, later = steps[at - 1].key, [s.key for s in steps[at:] if s.key.isdigit()]
            upto = int(last) + 1 if last.isdigit() else int(later[0]) if later else size
            found.append(Sight(upto, text_id(step.after), step.put))
    return tuple(found)


def _from_records(scene: Scene, state: PathState, texts: list[Row], rows: list[Step]) -> list[Step]:
    """Put in what a commit found on disk when nothing of a session was left there.

    It tells a file that was put back and then edited by hand from one that was only edited.
    """
    known: dict[str | None, bytes | None] = {}
    known |= {r.before: b for r, b, _ in texts} | {r.after: a for r, _, a in texts}
    # with the changes of nobody's that a commit took: they keep the names that it gave them
    offsets = {step.key: record.offset for (record, _, _), step in zip(texts, rows, strict=True)}
    for upto, seen, at_head, is_gits in _seen_by_commits(state):
        if is_gits and seen not in known:
            known |= _in_git(scene, seen)
        # Only what a commit really saw on disk may be put in: the text must be one that the records know, or
        # git where it had put that there.
        earlier = [n for n, row in enumerate(rows) if offsets.get(row.key, upto) < upto]
        if not earlier or seen not in known:
            continue
        last, text = rows[earlier[-1]], known[seen]
        if _was_before_git(rows, earlier, text):
            continue
        if text != last.after:
            key = f"{_ADDED}-{upto}" if is_gits and not at_head else f"seen-{upto}"
            key = key if key not in offsets else f"{key}-{len(offsets)}"
            rows.insert(earlier[-1] + 1, Step(key, None, last.after, text, put=at_head))
            offsets[key] = upto - 1  # the next one that was seen there was seen after it
    return rows


def _was_before_git(rows: list[Step], earlier: list[int], text: bytes | None) -> bool:
    """Tell whether a commit saw what the last record left, before git put there what the next one found.

    When git did is not noted, only between which records: right behind the first of them.
    """
    last, later = rows[earlier[-1]], rows[earlier[-1] + 1 :]
    records = [rows[n] for n in earlier if not _is_sight(rows[n])]
    if not records or not later or not (_is_sight(last) and is_gits(last)):
        return False
    return records[-1].after == text and later[0].before == last.after


def _seen_by_commits(state: PathState) -> list[tuple[int, str, bool, bool]]:
    """What commits noted: a place of the journal, the text there, whether HEAD had it, whether git put it."""
    found = []
    for fields in state.journal.consumed:
        seen, upto = fields.get("seen"), fields.get("upto")
        if fields.get("commit") is None and isinstance(seen, str) and type(upto) is int:
            is_gits = fields.get("session") == isolate.UNRECORDED
            found.append((upto, seen, fields.get("base") == seen, is_gits))
    # some are noted later than others that lie behind them
    return sorted(found, key=lambda row: row[0])


def _in_git(scene: Scene, oid: str) -> dict[str | None, bytes | None]:
    """A blob's text by its id; nothing where it is gone, or was none of this repository's."""
    try:
        kind, text = scene.repo.objects.raw(oid.encode()) if is_oid(oid) else (b"", b"")
    except KeyError:
        return {}
    return {oid: text} if kind == b"blob" else {}


_ADDED = "seen-add"


def _from_index(
    scene: Scene, state: PathState, texts: list[Row], rows: list[Step], content: bytes | None
) -> list[Step]:
    """Put in the text that git knows to have stood on disk between two records, or after the last one.

    The index keeps when a file was last written as git knows it: by a checkout, a reset, a stash, or as
    ``git add`` found it. Whoever changed the file after that changed this text, and neither corrected
    nor rewrote an edit that git had taken away before.
    """
    # What a commit saw is nobody's change as well, and git's sight may lie within it.
    ends = [row.after if _is_sight(row) else row.before for row in rows[1:]]
    gaps = [row.after != later for row, later in zip(rows, [*ends, content], strict=True)]
    if not any(gaps):
        return rows
    said = scene.repo.git.at(scene.repo.root).try_run(
        "--literal-pathspecs", "ls-files", "-s", "--debug", "--", state.path
    )
    row, _, facts = said.stdout.partition(b"\n")

    # ctime too: a file that `git mv` or somebody else put in the place keeps its older mtime
    written, entry = re.findall(rb"[cm]time: (\d+):(\d+)", facts), row.split(b" ")
    if not written or entry[0] not in (b"100644", b"100755"):
        return rows
    when = max(int(seconds) * 10**9 + int(rest) for seconds, rest in written)
    times = {str(record.offset): record.mtime for record, _, _ in texts}
    earlier = [n for n, step in enumerate(rows) if (times.get(step.key) or when) < when]
    at = earlier[-1] if earlier else -1
    # only where the times of the records rise: a clock that was set back tells nothing
    if at < 0 or len(earlier) != sum(1 for step in rows[: at + 1] if times.get(step.key)) or not gaps[at]:
        return rows
    there = Entry(int(entry[0], 8), entry[1])
    text = read_blob(scene, there)
    # `git add` found what a record left: nothing was put there
    written_then = {step.after for step in rows if times.get(step.key) == when}
    if text == rows[at].after or text in written_then:
        return rows
    sights = list(takewhile(_is_sight, rows[at + 1 :]))
    if any(row.after == text for row in sights):
        return rows  # known from an earlier commit
    beyond = rows[at + 1 + len(sights) :]
    known = [rows[at].after, *(row.after for row in sights), beyond[0].before if beyond else content]
    # Nobody knows which of the sights was first: the less changes from one to the next, the likelier.
    at += min(range(len(known) - 1), key=lambda n: _detour(known[n], text, known[n + 1]))
    rest = rows[at + 1 : at + 2]
    # `git add` wrote nothing: it found this text, and what was away then may still be underneath
    put = there == scene.reader.entry(state.path)
    key = isolate.SIGHTED if put else _ADDED
    rest = [row._replace(before=text) if _is_sight(row) else row for row in rest]
    return [*rows[: at + 1], Step(key, None, rows[at].after, text, put=put), *rest, *rows[at + 2 :]]


def _detour(before: bytes | None, text: bytes, later: bytes | None) -> int:
    """How many more lines change on the way from one text to another if a third lies between them."""

    def lines(old: bytes | None, new: bytes | None) -> int:
        return sum(each.total() for each in difference(old, new))

    return lines(before, text) + lines(text, later) - lines(before, later)


_FEW = 2
"""So few lines a person may have rewritten one by one; that nothing of more is left is a file put back."""

_GAPS = 8
"""In so many of the last changes of nobody's that is looked for; each costs a comparison of three texts."""


def _from_head(rows: list[Step], head: bytes | None, content: bytes | None) -> list[Step]:
    """Put in HEAD's text where a change of nobody's left nothing of several recorded lines or their place.

    `git checkout -- f` leaves no mark, and a diff would find braces of what was taken away in what a person
    wrote afterwards.
    """
    known = {step.after for step in rows}
    ends = enumerate(zip(rows, [*(row.before for row in rows[1:]), content], strict=True), 1)
    gaps = [(at, row.after, later) for at, (row, later) in ends if row.after != later]
    for at, text, later in reversed(gaps[-_GAPS:]):
        if later in (head, *known) or not _is_put_back(head, text, later):
            continue
        if not _has_later_lines(head, rows[:at], rows[at:]):
            rows = [*rows[:at], Step(f"{_PUT}{at}", None, text, head, put=True), *rows[at:]]
    return rows


def _has_later_lines(head: bytes | None, earlier: list[Step], later: list[Step]) -> bool:
    """Tell whether later records wrote lines of HEAD that were not there before: this HEAD is younger."""
    texts = {text for step in earlier for text in (step.before, step.after)}
    old = {line for text in texts for line in split_lines(text)}
    wrote = (isolate.changed(s.before, s.after)[0] for s in later if s.owner is not None)
    return not (set[bytes]().union(*wrote) - old).isdisjoint(split_lines(head))


_PUT = "seen-put-"


def _is_put_back(head: bytes | None, text: bytes | None, later: bytes | None) -> bool:
    """Tell whether a later text has nothing of what tells a text from HEAD, and what it has is elsewhere.

    A file that was gone and has most of HEAD's lines was put back, and then edited.
    """
    if head is None or later is None:
        return False
    if text is None:
        return 2 * difference(head, later)[0].total() < len(split_lines(head))
    brought, removed = isolate.changed(head, text)
    there = set(full_lines(later))
    if len(brought) + len(removed) <= _FEW or any(line + b"\n" in there for line in brought):
        return False
    if not all(line + b"\n" in there for line in removed):
        return False
    lines = [split_lines(each) for each in (head, text, later)]
    was, now = (line_hunks(lines[0], each) for each in lines[1:])
    return not any(low <= end and start <= high for low, high, _, _ in was for start, end, _, _ in now)


def _is_sight(step: Step) -> bool:
    """Tell whether a step is what a commit found on disk (see :func:`_from_records`)."""
    return step.owner is None and step.key.startswith("seen-")

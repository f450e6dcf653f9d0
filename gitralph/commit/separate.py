"""Takes this session's lines out of a file that others changed too, or says why that cannot be.

Gathers what ``isolate`` needs, texts in working-tree form, and turns its answer into an outcome.
Files whose lines cannot be told apart (binary, filtered, links, too large) follow whole-file rules.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from gitralph import isolate
from gitralph.base.quote import shown
from gitralph.commit import by_pieces, decision, provenance, rewrites, sights
from gitralph.commit.decision import Gap, Left, Outcome, ReadFrom, Use
from gitralph.commit.inputs import Scene, manifest_upto, read_blob
from gitralph.commit.path_texts import FILES as _FILES
from gitralph.commit.path_texts import (
    LOST_TEXT,
    as_step,
    has_passed,
    head_text,
    is_plain,
    lost_crlf,
    lost_text,
    mode_of,
    one_form,
    path_level,
    whole_only,
    working,
)
from gitralph.commit.rewrites import AsRead
from gitralph.git import history, refs
from gitralph.git.snapshot import ABSENT, Content
from gitralph.git.texts import is_binary
from gitralph.git.trees import Entry
from gitralph.hook.journal import (
    ASSIGN,
    GAP,
    Record,
    full_lines,
    replay,
    text_id,
)
from gitralph.isolate import Reading, Separation, Step
from gitralph.isolate.api import ABSORBED, step_of
from gitralph.isolate.lines import difference, has_words, split_lines
from gitralph.journal import consumption, shell
from gitralph.journal.consumption import Landed
from gitralph.journal.pending import PathState

# More than the four of isolate.build._COMMITS, since the questions differ: here a person moved HEAD on
# purpose, as far as he liked, and each place is tried once; there every text that comes back is looked for,
# once per unit that is folded.
_REWINDS = 20
"""To so many earlier commits of ours HEAD is looked for; a deeper reset is matched line by line.

Each costs one evaluation of the weave, O(atoms), and only where HEAD is none of the later ones.
"""


class Evidence(NamedTuple):
    """What is known of a path's texts: HEAD and file in one form, and how to read the records.

    ``readings`` say from which place on the records count, best first; ``converted``: all texts are in
    the form that :func:`one_form` makes, because git converts line ends here.
    """

    steps: list[Step]
    head: bytes | None
    worktree: bytes | None
    committed: set[str]
    settled: set[str]
    moved: bool
    readings: tuple[Reading, ...]
    converted: bool
    seen: AsRead


def _with_moved_text(scene: Scene, record: Record, step: Step, converted: bool) -> Step:
    """The step of a file's arrival with what HEAD held where it was moved from; any other as it is."""
    other = record.other_path
    if record.op != "rename-to" or other is None:
        return step
    entry = history.entry_at(scene.repo, record.head, other)
    text = read_blob(scene, entry) if isinstance(entry, Entry) else None
    return step._replace(moved=one_form(text) if converted else text)


def gather(scene: Scene, state: PathState) -> Evidence:
    """Texts and steps of a path, and the places from which the records may be read."""
    head, content = head_text(scene, state.path), scene.contents[state.path].data
    texts = [(r, b, a) for r, b, a in replay(state.journal, scene.layout) if r.is_exact]
    seen = rewrites.seen(texts, content)
    texts, content = seen.rows, seen.worktree
    # With core.autocrlf the file has CRLF, its blob LF, and a payload either: in one form, or each line looks
    # changed.
    converted = not is_plain(scene, state.path) or lost_crlf(head, content, texts)
    if converted:
        head, content = one_form(head), one_form(content)
        texts = [(r, one_form(b), one_form(a)) for r, b, a in texts]
    rows = [_with_moved_text(scene, row[0], as_step(*row), converted) for row in texts]
    rows = sights.put_in(scene, state, texts, _clean(scene, state.path, rows, converted), head, content)
    start, then = head, head
    if rows:
        start, then = _start(scene, state, texts[0][0], texts[0][1], head)
    if converted:
        start, then = one_form(start), one_form(then)
    steps = isolate.chain(rows, start)
    return Evidence(
        steps,
        head,
        content,
        consumption.committed_keys(state.journal),
        consumption.settled_keys(state.journal),
        then != head,
        _readings(scene, state, steps, start, head, content),
        converted,
        seen,
    )


def _clean(scene: Scene, path: bytes, rows: list[Step], converted: bool) -> list[Step]:
    """The steps, each that starts from what HEAD held then marked as clean; the first tells nothing."""
    held: dict[str, bytes | history.Unknown | None] = {}

    def was_head(step: Step) -> bool:
        if step.head not in held:
            then = history.entry_at(scene.repo, step.head, path) if step.head else history.UNKNOWN
            if isinstance(then, Entry):
                text = read_blob(scene, then)
                held[step.head or ""] = one_form(text) if converted else text
            else:
                held[step.head or ""] = then
        return held[step.head or ""] == step.before

    # A payload alone may tell of an old read; what the pre event read stood on disk.
    later = [row._replace(clean=True) if row.seen and was_head(row) else row for row in rows[1:]]
    return rows[:1] + later


def _readings(
    scene: Scene,
    state: PathState,
    steps: list[Step],
    start: bytes | None,
    head: bytes | None,
    content: bytes | None,
) -> tuple[Reading, ...]:
    """The places to read from, best first: HEAD's own place, that of our last commit, the beginning."""
    landed = consumption.landings(state.journal)
    names = [one.names for one in landed[:_REWINDS]]
    if head is None and scene.undone:
        names = [_still_there(scene, landed)]
    saw = _saw(scene, state.path)
    agreed = isolate.agreed(steps, start, head, saw, scene.head)
    since = _place_of(steps, landed[0].since, landed[0].base) if landed else 0
    places = [since] if agreed is None else [agreed, since]
    last = _place_at(steps, landed[0].upto) if landed else 0
    # a file that HEAD lacks tells nothing of its lines: any commit that holds its deletion would fit
    if agreed is not None and head is not None and isolate.unmoved_since(steps, last, saw):
        places = [since, agreed]  # nothing but our own commits moved HEAD here
    taken = {name.partition(".")[0] for name in (landed[0].names if landed else ())}
    read_on = [
        place
        for place in places
        if not isolate.came_back(steps, place, content)
        and not isolate.rewound(steps[:place], head, content, taken)
    ] + [0]
    passed = agreed if agreed is not None and agreed in places and agreed not in read_on else 0
    none = [frozenset[str]()]
    # Where HEAD agrees with the last record of all, what came since is nobody's: it starts from HEAD.
    end = (Step(isolate.SIGHTED, None, head, head),)
    return tuple(
        Reading(tuple(steps[at:]) or end, (*names, *none), max(passed - at, 0))
        for at in dict.fromkeys(read_on)
    )


def _still_there(scene: Scene, landed: list[Landed]) -> frozenset[str]:
    """What commits that HEAD still has took: where it has no file, no text tells what it was rewound to."""
    now, older = refs.Head(None, scene.head), landed[_REWINDS:]
    earlier = found = older[0].names if older else frozenset[str]()
    for one in reversed(landed[:_REWINDS]):
        if refs.contains(scene.repo, now, one.commit):
            found |= one.names - earlier
        earlier = one.names
    return found


def _place_at(steps: list[Step], offset: int) -> int:
    """The first step that was recorded at ``offset`` of the journal or later."""
    at = [n for n, step in enumerate(steps) if step.key.isdigit() and int(step.key) < offset]
    return at[-1] + 1 if at else 0


def _place_of(steps: list[Step], offset: int, base: str | None) -> int:
    """The place of a text right before a record: before or after the gap that led to it."""
    place = _place_at(steps, offset)
    for at in range(place, len(steps) + 1):
        text = steps[at].before if at < len(steps) else steps[-1].after if steps else None
        if base == (None if text is None else text_id(text)):
            return at
        if at < len(steps) and steps[at].owner is not None:
            break
    return place


def _saw(scene: Scene, path: bytes) -> Callable[[Step], bool | None]:
    """Whether HEAD held at ``path`` what it holds now when a step was recorded; None: not known."""
    now = scene.reader.entry(path)
    known: dict[str, bool | None] = {scene.head or "": True}

    def saw(step: Step) -> bool | None:
        if step.head is None:
            return None
        if step.head not in known:
            # The commit may be gone after a rebase and `git gc`; then nobody knows, and the records decide.
            then = history.entry_at(scene.repo, step.head, path) if step.head else None
            if isinstance(then, history.Unknown):
                known[step.head] = None
            else:
                known[step.head] = (then and then.oid) == (now and now.oid)
        return known[step.head]

    return saw


def _start(
    scene: Scene, state: PathState, first: Record, before: bytes | None, head: bytes | None
) -> tuple[bytes | None, bytes | None]:
    """The text before the first step, and what HEAD held then: older dirt shows as a gap."""
    if before == head:
        return before, head
    then = history.entry_at(scene.repo, first.head, state.path)
    if first.op == ASSIGN and first.head is None:
        then = None  # there was no commit yet: an assignment knows
    if isinstance(then, history.Unknown):
        known = before if state.journal.consumed else head
        return known, known
    if then is None:
        return None, None
    plain = is_plain(scene, state.path)
    text = read_blob(scene, then) if plain else working(scene, state.path, then)
    return text, text


def _removes(scene: Scene, state: PathState, found: Separation) -> bool:
    """True when what is to be committed, or left, deletes or moves the file."""
    units = (*found.taken, *(unit for one in found.left for unit in one.units))
    wanted = set(map(step_of, units))
    own = [r for r in state.journal.records if r.session in scene.own and str(r.offset) in wanted]
    return any(r.after is None or r.op in ("rename-from", "rename-to") for r in own)


def _removed_its_own(scene: Scene, state: PathState, known: Evidence) -> bool:
    """True when the session removed the file last, and nothing of others was in it then."""
    last = state.journal.records[-1]
    is_last = last.session in scene.own and last.after is None and scene.contents[state.path].absent
    return is_last and not state.bare - scene.own and _was_own_text(scene, state, known, last)


def was_own_text(scene: Scene, state: PathState, record: Record) -> bool:
    """Whether a record found nothing in the file but HEAD's text and this session's edits.

    Others' records tell of edits that a checkout or a stash may have taken away since.
    """
    return state.path in scene.contents and _was_own_text(scene, state, gather(scene, state), record)


def _was_own_text(scene: Scene, state: PathState, known: Evidence, record: Record) -> bool:
    key = str(record.offset)
    at = next((n for n, step in enumerate(known.steps) if step.key == key), None)
    if at is None or not record.is_exact:
        return False
    text = known.steps[at].before
    if text == known.head:
        return True
    earlier = {id(step) for step in known.steps[:at]}
    readings = []
    for reading in known.readings:
        steps = tuple(step for step in reading.steps if id(step) in earlier)
        # HEAD had not passed more by then than there was
        passed = reading.passed if reading.passed <= len(steps) else 0
        readings += [reading._replace(steps=steps, passed=passed)] if steps else []
    if text is None or known.head is None or not readings:
        return False
    found = isolate.separate(
        known.head,
        known.steps[:at],
        text,
        committed=known.committed,
        owners=scene.own,
        settled=known.settled,
        moved=known.moved,
        readings=readings,
        unsure=_unsure(scene, state, known),
    )
    return not found.refused and not found.left and found.text == text


def _others(scene: Scene, state: PathState) -> list[str]:
    """Who else stands between HEAD's text and the file, as far as the records tell."""
    since = provenance.records_since_head(scene, state)
    if since is None:
        return sorted((state.owners() | set(state.void)) - scene.own)
    return sorted(({r.session for r in since if r.op != GAP} | state.bare) - scene.own)


def separate(scene: Scene, state: PathState) -> Outcome:
    """The outcome for a path that others, recorded or not, changed as well."""
    others = _others(scene, state)
    whom = others or [decision.UNRECORDED]
    barred = whole_only(scene, state)
    if barred is not None:
        return _refuse(state, *barred, whom)
    if path_level(scene, state):
        if others:
            return _refuse(
                state, decision.CONTESTED, "only its path was recorded, for several sessions", others
            )
        detail = "only its path was recorded, and somebody without a session changed it too"
        return _refuse(state, decision.UNANCHORED, detail, whom)
    known = gather(scene, state)
    # Known only once the texts were read. What it wrote is nobody's change by now, and would count as taken
    # back: the records of all who worked there had been consumed for nothing.
    if lost_text(state):
        return _refuse(state, decision.UNANCHORED, LOST_TEXT, whom)
    if any(map(is_binary, [known.head, known.worktree, *(s.after for s in known.steps)])):
        detail = "it is binary, and others have changes there"
        return _refuse(state, decision.CONTESTED, detail, whom)
    if _made_anew(scene, state, known, _open_records(scene, state)):
        return _anew(scene, state, known, whom, _open_records(scene, state))
    found = _ask(scene, state, known)
    along = [r for name in found.includes if name not in scene.own for r in state.pending.get(name, ())]
    if _made_anew(scene, state, known, along):
        detail = "a session to be included made it anew where HEAD has a text whose removal nobody recorded"
        return _refuse(state, decision.CONTESTED, detail, list(found.includes))
    # A file that was committed so and then reset is as new as before, though its record was settled.
    again = {unit.partition(".")[0] for unit in found.taken}
    back = [r for name in scene.own for r in state.void.get(name, ()) if str(r.offset) in again]
    if back and _made_anew(scene, state, known, back):
        return _anew(scene, state, known, whom, back)
    # A file is there or it is not: a deletion cannot be taken line by line.
    if others and _removes(scene, state, found):
        if _removed_its_own(scene, state, known):
            uses = [
                Use(name, state.journal.size, manifest_upto(scene, state, name))
                for name in sorted(scene.own & state.owners())
            ]
            return Outcome(state.path, ABSENT, decision.EDITS, uses=tuple(uses))
        detail = "it was deleted or renamed while others have pending changes there"
        return _refuse(state, decision.CONTESTED, detail, others)
    return _outcome(scene, state, known, found)


def _open_records(scene: Scene, state: PathState) -> list[Record]:
    """The session's pending records; all of them where a commit of its left HEAD."""
    known = (state.pending, state.void, state.taken) if scene.undone else (state.pending,)
    found = {r.offset: r for some in known for name in scene.own for r in some.get(name, ())}
    return list(found.values())


def _made_anew(scene: Scene, state: PathState, known: Evidence, own: list[Record]) -> bool:
    """True when the session made a file where HEAD has a text that no step of the journal knows."""
    anew = [r.offset for r in own if r.is_exact and r.before is None and r.after is not None]
    if not anew or known.head is None:
        return False
    # A text that nobody recorded removing, as where a file was moved onto it, is not one the session knew.
    over = {step.key for gone, step in pairwise(known.steps) if gone.owner is None and gone.after is None}
    first = max((offset for offset in anew if str(offset) in over), default=min(anew))
    since = [step for step in known.steps if step.key.isdigit() and int(step.key) >= first]
    made = (isolate.changed(known.head, step.after)[0] for step in since if step.owner in scene.own)
    told = set[bytes]().union(*made)
    if told and known.worktree is not None and told.isdisjoint(split_lines(known.worktree)):
        left_out = set(split_lines(known.head)).difference(*(split_lines(step.after) for step in since))
        if not left_out.isdisjoint(split_lines(known.worktree)):
            return False  # git put the old file back, and nothing of the new one is left
    return known.head not in {step.after for step in since} and not has_passed(scene, state, first)


def _anew(scene: Scene, state: PathState, known: Evidence, whom: list[str], own: list[Record]) -> Outcome:
    """A file moved onto another replaces it whole; a file made over a text nobody removed is refused."""
    moved = next((r for r in sorted(own, key=lambda r: r.offset) if r.op == "rename-to"), None)
    if (
        moved is None
        or whom != [decision.UNRECORDED]
        or not _saw_what_it_replaced(scene, state, known, moved)
        or not _is_alone_since(scene, state, moved)
    ):
        detail = "it was made anew where HEAD has a text whose removal nobody of this session recorded"
        return _refuse(state, decision.CONTESTED, detail, whom)
    uses = [
        Use(name, state.journal.size, manifest_upto(scene, state, name))
        for name in sorted(scene.own & state.owners())
    ]
    content = scene.contents[state.path]
    note = f"'{shown(state.path)}' was replaced by a file that was moved there"
    notes = () if content.absent else (note,)
    return Outcome(state.path, content, decision.WHOLE_FILE, uses=tuple(uses), notes=notes)


def _saw_what_it_replaced(scene: Scene, state: PathState, known: Evidence, moved: Record) -> bool:
    """True when the file that a move replaced had HEAD's lines, but for those its session knew of itself.

    What HEAD got since (a pull) whoever moved the file never saw, nor what HEAD had got before and the
    file had not, as where a conflict with a stash was resolved for what was stashed.
    """
    if _saw(scene, state.path)(as_step(moved, None, None)) is not True:
        return False
    earlier = [step for step in known.steps if step.key.isdigit() and int(step.key) < moved.offset]
    if not earlier:
        return True  # no record knows another text than HEAD's
    own = [difference(step.before, step.after) for step in earlier if step.owner in scene.own]
    told = {line for gone, came in own for line in gone | came}
    return all(line in told for line in difference(earlier[-1].after, known.head)[1] if has_words(line))


def _is_alone_since(scene: Scene, state: PathState, moved: Record) -> bool:
    """True when the session's records lead from a move to the file without a break: no line is a person's."""
    since = [r for r in state.journal.records if r.offset >= moved.offset]
    if not all(record.session in scene.own for record in since):
        return False
    unbroken = all(one.after == other.before for one, other in pairwise(since))
    return unbroken and since[-1].after == provenance.content_id(scene.contents[state.path])


def _follows(scene: Scene, state: PathState) -> bool:
    """True when corrections go along: nothing says they may be another session's shell command's."""
    # Following is the default: leaving a correction out commits a text that is nowhere on disk and was never
    # tested.
    if scene.config.choice("ralph.unrecorded", "follow", "leave") == "leave":
        return False
    mine = [r for name in scene.own for r in state.pending.get(name, [])]
    first = min((r.offset for r in mine), default=0)
    old = {r.before for r in mine if r.offset == first} | {
        r.after for r in state.journal.records if r.offset < first
    }
    content = scene.contents[state.path]
    now = (provenance.content_id(content), f"{content.mode:o}" if content.mode else None)
    # A command of another session may have made the correction; hooks tell of commands by before and after
    # only.
    return not shell.may_have_changed(
        scene.layout, state.path, now, scene.own, {text for text in old if text is not None}
    )


def _ask(scene: Scene, state: PathState, known: Evidence) -> Separation:
    found = isolate.separate(
        known.head,
        known.steps,
        known.worktree,
        committed=known.committed,
        owners=scene.own,
        settled=known.settled,
        moved=known.moved,
        skip_entangled=scene.wishes.skip_entangled,
        include_entangled=scene.wishes.include_entangled,
        readings=known.readings,
        follow=_follows(scene, state),
        unsure=_unsure(scene, state, known),
        past=_last_in_head(scene, state.path, known),
        undone=_undone(scene, state),
        doubtful=_doubtful(scene, state, known),
    )
    return known.seen.told(found)


def _undone(scene: Scene, state: PathState) -> Callable[[str], bool]:
    """Whether of a record only commits took something that HEAD no longer has."""
    found: set[str] | None = None

    def undone(key: str) -> bool:
        nonlocal found
        if found is None:
            # each commit is a question to git
            landed = consumption.landings(state.journal)
            found = {step_of(name) for one in landed for name in one.names}
            found -= set(map(step_of, _still_there(scene, landed)))
        return key in found

    return undone


def _last_in_head(scene: Scene, path: bytes, known: Evidence) -> bytes | None:
    """What HEAD's history held where HEAD has no file any more, though it lies there (`git rm --cached`)."""
    if known.head is not None or known.worktree is None:
        return None
    heads = dict.fromkeys(step.head for step in known.steps if step.head)
    if not any(isinstance(history.entry_at(scene.repo, head, path), Entry) for head in heads):
        return None  # no record saw one: the history need not be asked
    entry = history.last_held(scene.repo, scene.head, path)
    if entry is None or entry.mode not in _FILES:
        return None
    text = read_blob(scene, entry)
    return one_form(text) if known.converted else text


def _unsure(scene: Scene, state: PathState, known: Evidence) -> Callable[[str], bool]:
    """Whether git put files back since a record: by a reset, a stash, a checkout, a merge, a rebase.

    A file that a checkout took from the index counts where it lacks a line that the record brought; one that
    was gone and is there again by nobody's record counts. A file does not count where records alone lead from
    there to its text, all of which found HEAD's present text.
    """
    steps = known.steps
    records = {str(record.offset): record for record in state.journal.records}
    last = max((at for at, step in enumerate(steps) if sights.is_gits(step)), default=None)
    there = set(full_lines(steps[last].after or b"")) if last is not None else set[bytes]()
    before_git = {step.key: step for step in steps[:last] if last is not None}
    # `git revert --no-commit` and `git checkout` leave no mark
    ends = [*steps, Step("", None, steps[-1].after, known.worktree)] if steps else []
    again = [at for at, step in enumerate(ends) if step.owner is None and step.before is None and step.after]
    before_return = {step.key for step in steps[: again[-1]]} if again else set[str]()

    def is_away(key: str) -> bool:
        step = before_git.get(key)
        if step is None:
            return False
        return not set(full_lines(step.after or b"")) - set(full_lines(step.before or b"")) <= there

    untouched: set[str] | None = None

    def unsure(key: str) -> bool:
        nonlocal untouched
        record = records.get(key)
        if record is None:
            return False
        is_back = key in before_return or is_away(key)
        if not is_back and not scene.put_back.since(record.head, record.mtime):
            return False
        if untouched is None:
            untouched = _untouched(scene, state.path, known)
        return key not in untouched

    return unsure


def _doubtful(scene: Scene, state: PathState, known: Evidence) -> Callable[[str], bool]:
    """Whether git may have put the file of a record back and left no mark of it.

    `git checkout -- f` writes the index, as `git status` does; when it wrote the file stands there until the
    next `git add -p`. So a path that is staged is doubtful, and only that.
    """
    records = {str(record.offset): record for record in state.journal.records}
    found: set[str] | None = None

    def doubtful(key: str) -> bool:
        nonlocal found
        if found is None:
            found = {name for name, record in records.items() if scene.put_back.might_have(record.mtime)}
            if found:
                found -= _untouched(scene, state.path, known)
            if found and not _is_staged(scene, state.path):
                found = set()
        return key in found

    return doubtful


def _is_staged(scene: Scene, path: bytes) -> bool:
    """True when the index has another entry of a path than HEAD."""
    said = scene.repo.git.at(scene.repo.root).try_run("--literal-pathspecs", "ls-files", "-s", "--", path)
    row, there = said.stdout.partition(b"\t")[0].split(b" "), scene.reader.entry(path)
    in_head = None if there is None else [b"%06o" % there.mode, there.oid]
    return (row[:2] if said.stdout else None) != in_head


def _untouched(scene: Scene, path: bytes, known: Evidence) -> set[str]:
    """The steps since which nothing happened to the file that is not recorded, and nothing to it in HEAD."""
    found, after, saw = set[str](), known.worktree, _saw(scene, path)
    for step in reversed(known.steps):
        # what nobody recorded tells of no HEAD either
        if step.after != after or not saw(step):
            break
        found.add(step.key)
        after = step.before
    return found


def _refuse(state: PathState, reason: str, detail: str, sessions: list[str]) -> Outcome:
    return Outcome(state.path, left=(Left(state.path, reason, detail, tuple(sessions)),))


def _outcome(scene: Scene, state: PathState, known: Evidence, found: Separation) -> Outcome:
    left, notes = by_pieces.left_of(state, found), by_pieces.notes_of(scene, state, found)
    if found.refused:
        return Outcome(state.path, left=left, notes=notes)
    if found.text == known.head and not found.taken:
        return _nothing(scene, state, found, left, notes)
    mode, is_foreign = mode_of(scene, state)
    content = ABSENT if found.text is None else Content(mode, found.text)
    if is_foreign and found.text is not None:
        notes = (*notes, provenance.FOREIGN_MODE.format(shown(state.path)))
    gap, found = _gap(scene, state, known, found)
    uses = _uses(scene, state, known, found)
    return Outcome(
        state.path,
        content,
        decision.EDITS,
        left,
        uses,
        notes,
        includes=frozenset(found.includes),
        ground=_ground(state, found),
        gap=gap,
        # a converted text has its id in git, not in the records
        sights=sights.to_keep(known.steps, state.journal.size),
    )


def _ground(state: PathState, found: Separation) -> ReadFrom | None:
    """From which record on this was decided, and what HEAD held there."""
    if found.reading is None:
        return None
    steps = found.reading.steps
    offsets = [int(step.key) for step in steps if step.key.isdigit()]
    text = steps[0].before if steps else None
    base = None if text is None else text_id(text)
    return ReadFrom(min(offsets, default=state.journal.size), base) if steps else None


def _gap(scene: Scene, state: PathState, known: Evidence, found: Separation) -> tuple[Gap | None, Separation]:
    """A record for the change at the end when the commit takes part of it, and its units by that name."""
    # A gap is recorded only where its texts are the bytes on disk; else its name would lead to another text.
    if known.converted or known.seen.blocks or not any(step_of(unit) == isolate.TAIL for unit in found.taken):
        return None, found
    before = known.steps[-1].after if known.steps else known.head
    # 48 bits tell the gaps of one journal apart: the text is hashed with the place, and a retry must find the
    # same name again.
    key = f"{GAP}-{text_id(b'%d ' % state.journal.size + (known.worktree or b''))[:12]}"
    taken = tuple(unit.replace(isolate.TAIL + ".", key + ".", 1) for unit in found.taken)
    return Gap(key, before, known.worktree), found._replace(taken=taken)


def _nothing(
    scene: Scene, state: PathState, found: Separation, left: tuple[Left, ...], notes: tuple[str, ...]
) -> Outcome:
    """No line of this session's is to be committed: left, waiting for others, or reverted."""
    waiting = _waiting(found)
    if left or waiting:
        return Outcome(state.path, left=left, notes=notes)
    unchanged = Left(state.path, decision.UNCHANGED, "nothing of this session's is left to commit")
    uses = [
        Use(name, state.journal.size, manifest_upto(scene, state, name))
        for name in sorted(scene.own & (state.owners() | set(state.void)))
    ]
    # Nothing new of this session's: saying it at each commit would bury what matters.
    if not state.owners() & scene.own:
        return Outcome(state.path)  # reverted before, reverted still: said once
    if not notes:
        notes = (f"'{shown(state.path)}': what this session did there is in HEAD or gone; nothing to commit",)
    seen = provenance.content_id(scene.contents[state.path])
    return Outcome(state.path, left=(unchanged,), uses=tuple(uses), notes=notes, void=True, seen=seen)


def _waiting(found: Separation) -> tuple[str, ...]:
    return tuple(unit for note in found.notes if note.kind == "waiting" for unit in note.units)


def _uses(scene: Scene, state: PathState, known: Evidence, found: Separation) -> tuple[Use, ...]:
    """What the commit consumes, by the unit: this session's, and those of others that it takes."""
    by_session: dict[str, list[str]] = {}
    by_offset = {str(record.offset): record.session for record in state.journal.records}

    def owner_of(unit: str) -> str | None:
        """The session of a unit ``<offset>.<n>``; None for a gap's."""
        return by_offset.get(step_of(unit))

    # A correction of nobody's is named with the commit that it followed into, else HEAD would not be what the
    # named units make.
    nobodys = min(scene.own & state.owners(), default=None)
    for unit in found.taken:
        session = owner_of(unit) or (None if step_of(unit) == isolate.TAIL else nobodys)
        if session is not None:
            by_session.setdefault(session, []).append(unit)
    for name in scene.own & state.owners():
        by_session.setdefault(name, [])
    away = {owner_of(unit) for unit in found.void} | set(state.void)
    # lines of the commit that left HEAD may be in a stash, or those of an edit that git took away: they are
    # looked for from now on
    away |= scene.own if scene.undone or any(note.kind == "left out" for note in found.notes) else set()
    # and so are edits from before the place that was read from
    ground = _ground(state, found)
    away |= {
        name for name in scene.own for r in state.pending.get(name, ()) if ground and r.offset < ground.since
    }
    kept = [unit for one in found.left for unit in one.units] + list(_waiting(found))
    out = []
    for session, taken in sorted(by_session.items()):
        if session in scene.own:
            left = [unit for unit in kept if owner_of(unit) == session]
        else:
            left = _still_pending(known, found, session)
        manifest = manifest_upto(scene, state, session)
        void = tuple(unit for unit in found.void if owner_of(unit) == session)
        out.append(
            Use(session, state.journal.size, manifest, tuple(taken), tuple(left), session in away, void)
        )
    return tuple(out)


def _still_pending(known: Evidence, found: Separation, session: str) -> list[str]:
    """What another session has left where the commit takes something of its.

    Before the commit, and after it: a removal of lines that only this commit brings was without effect.
    """
    taken = frozenset(found.taken)
    then = tuple(one._replace(commits=(one.commits[0] | taken, *one.commits)) for one in known.readings)
    listed = [
        *isolate.pending_units(
            known.head, known.steps, known.worktree, committed=known.committed, readings=known.readings
        ),
        *isolate.pending_units(
            found.text, known.steps, known.worktree, committed=known.committed | taken, readings=then
        ),
    ]
    names = {unit.removesuffix(ABSORBED) for unit in taken}
    return list(dict.fromkeys(one.unit for one in listed if one.owner == session and one.unit not in names))

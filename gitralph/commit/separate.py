"""Takes this session's lines out of a file that others changed too, or says why that cannot be.

Gathers what ``isolate`` needs, texts in working-tree form, and turns its answer into an outcome.
Files whose lines cannot be told apart (binary, filtered, links, too large) follow whole-file rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gitralph import isolate
from gitralph.commit import rewrites
from gitralph.commit.inputs import Scene, read_blob
from gitralph.commit.path_texts import (
    as_step,
    head_text,
    is_plain,
    lost_crlf,
    one_form,
    working,
)
from gitralph.commit.rewrites import AsRead
from gitralph.git import history, refs
from gitralph.git.trees import Entry
from gitralph.hook.journal import (
    ASSIGN,
    Record,
    replay,
    text_id,
)
from gitralph.isolate import Reading, Step
from gitralph.journal import consumption
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
    rows = _clean(scene, state.path, rows, converted)
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
    if head is None and False:
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

"""Which pieces one session commits: HEAD, less the lines it removed, plus the lines it added; or why not.

The rules; 2 and 6 are in `bonds`, 3 to 5 in `attempt`, with what the texts alone tell in `past`, 8 in `said`.

1. Together: what one step removed and brought in one place goes together or not at all.

2. Built on: a piece may replace lines that another piece brought and HEAD lacks. Then it waits for that other
piece. So does a piece inside a block of such lines, and a piece around a line that only others removed. A
line that HEAD had before waits where HEAD alone has another in its place, as does what is included of
nobody's, and one that replaced a line of HEAD where HEAD has lost that and a line beside it, which the file
still has. HEAD never gets a line beside what it replaced, nor two lines that took the place of one.

3. Superseded: rule 2 does not hold where no line and no word is left of those other lines, and the pieces
that go took each of them that says something. Nor where its session gives the other piece up, as rule 5 has
it. The later piece goes, and the removals under those lines go with it.

4. Written over: another session's recorded edit may have taken a line of this session. While that edit shows,
the line is committed from the record. Not so where HEAD had a text without the line since, or has what stands
for it, or has another part of the edit; nor where the piece only added lines and the edit
replaced all of them without keeping a word; nor where a command of which nobody knows whose it was brought
the line, or took it and nothing of that shows; nor where the file went back since to a text from before the
line, and nothing of the edit stands. A text of HEAD tells nothing while another line of the piece waits: it
was between a stash and its pop, or a reset took it back. A line that came with a file which was moved over
another is committed as it came, also where a gap took it, unless the gap also brought older lines back.

5. Follows: a gap goes along that only replaces the session's own added lines and keeps at least half of the
words that they brought, or of all their words where they brought none, or that only removes such lines. Words
of one character and words that HEAD has do not count, where there are others. What a session brought in
several edits counts as brought in one, and what a gap that goes along brought as the session's own. One that
brings lines elsewhere than it took some must keep all words. A gap inside one block of these lines follows,
too, where it replaces lines of the block and brings no paragraph, or stands beside a line with a word and
beside no blank one; and so does a gap of blank lines beside a line with a word. A gap over lines of several
owners is parted first, see `Folding`. No gap follows where HEAD has what a record had put in the place of
these lines: git or a person has only put them back. Nor does one go along for its place in a block of which
HEAD got a line in a commit of its own, on top of the block, and lost both. Where no gap follows, the session
gives up a piece of which gaps took all that says something: what came instead is theirs.

6. Old read: a step that was written from a copy without another session's line waits. It waits while the line
is in neither HEAD nor the file and its writer has not edited the file since. A line that HEAD has needs no
such bond: the gap took it, so the commit keeps it. Where the copy lacks also what the step's own session had
recorded, it is no old copy: somebody put the file back.

7. The net: the finished text is checked by another way, see `net`.

8. Said: a note tells of lines of the session that are left nowhere, and of its removals that HEAD keeps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from gitralph.base.kinds import Kind, Why
from gitralph.lines import said
from gitralph.lines.attempt import Attempt
from gitralph.lines.bonds import Bond, Bonds
from gitralph.lines.net import Change as TextChange
from gitralph.lines.net import caught
from gitralph.lines.past import Past, Resets
from gitralph.lines.pieces import Heads, Held, Pieces, pieces
from gitralph.lines.terms import GAP, UNRECORDED, LeftEdit, LineNote, Reason, Separation, Step
from gitralph.lines.text import ends_with_newline, split_lines, with_open_end, words
from gitralph.lines.weave import BASE, EXISTS, NEWLINE, Hunk


def separate(
    head: bytes | None,
    steps: Sequence[Step],
    disk: bytes | None,
    *,
    owners: Collection[str],
    skip_entangled: bool = False,
    include_entangled: bool = False,
    leave: bool = False,
    doubted: Collection[str] = (),
    held: Held = lambda _: (),
    heads: Heads = tuple,
    has: Held = lambda _: (),
    moved: bytes | None = None,
    resets: Resets = tuple,
) -> Separation:
    """Make the text that the owners' commit has instead of HEAD's, or say why not.

    `moved` is HEAD's text at the path that the file was moved from, None for a file that was not moved. With
    UNRECORDED as the owner it makes a person's commit, of what nobody recorded. `leave` and `doubted` say
    which gaps follow, see `Attempt.begin`. `resets` gives the commits that HEAD had and lost.
    """
    if head == disk:
        return Separation(head)
    base = head if moved is None else moved
    known = pieces(base, disk, steps, held, heads, has, exists=head is not None)
    choice = Attempt(known, owners, steps, Past(known, steps, resets))
    choice.begin(leave, doubted)
    bonds = Bonds(choice, steps, held)
    unmet, skipped = list[Bond](), set[int]()
    while True:
        found = list(bonds.find())
        seen = len(choice.superseded)
        # a piece that many hunks are built on is asked once: 2,000 hunks on one took 1 s
        for unit in dict.fromkeys(bond.unit for bond in found if bonds.may_go_under(bond)):
            if unit not in choice.superseded:
                choice.supersede(unit)
        if len(choice.superseded) > seen:
            continue
        found = [bond for bond in found if not bond.soft]
        if include_entangled:
            met = {bond.unit for bond in found if not bond.stale and bond.kind is not Kind.MADE_ANEW}
            more = met - choice.own - skipped - {BASE, known.weave.hunks[known.foreign].unit}
            if more - choice.wanted:
                choice.wanted |= more
                choice.included |= more
                continue
        if not found:
            break
        unmet += found
        stuck = {known.weave.hunks[bond.hunk].unit for bond in found} - skipped
        if not skip_entangled or not stuck:
            break
        skipped |= stuck
        choice.wanted -= skipped
        choice.drop_corrections()
        choice.superseded = set()
    left = _left(choice, unmet)
    if left and (found or any(one.reason != "entangled" for one in left)):
        return Separation(head, left=left, refused=True)
    answer = _answer(choice, left, steps, held)
    under, strict = _under(choice), bool(leave or doubted) and UNRECORDED not in owners
    includes = {*answer.includes, *({UNRECORDED} & set(owners))}
    includes |= {UNRECORDED for unit in choice.followed if unit in choice.formatted}
    asked = base, answer.text, disk, steps, owners, includes
    along = _corrections(choice, owners)
    last = next((step.key for step in reversed(steps) if step.owner in owners), "")
    in_time = {*held(""), *held(last)}
    given_up = _given_up(choice, held(GAP) if UNRECORDED in owners else ())
    line = None
    if answer.text != head:
        line = caught(*asked, under, strict, in_time, along, given_up, has)
    if line is None:
        return answer
    units = tuple(known.weave.units[u].key for u in sorted(choice.wanted & known.by_unit.keys()))
    return Separation(
        head, left=(*left, LeftEdit("stale", _at(known, line), Why(Kind.UNPLACED), units)), refused=True
    )


def lost(known: Pieces, steps: Sequence[Step], owners: Collection[str], held: Held) -> tuple[LineNote, ...]:
    """What the owners' records brought and other sessions took away, in a file that is as in HEAD."""
    found = said.lost(Attempt(known, owners, steps), steps, held)
    return tuple(note for note in found if note.why.kind is Kind.LEFT_TO_OTHERS)


def _corrections(choice: Attempt, owners: Collection[str]) -> list[TextChange] | None:
    """The followed pieces of nobody, by text; None where other pieces of nobody go along as well."""
    weave = choice.weave
    if UNRECORDED in owners or any(weave.units[unit].owner is None for unit in choice.included):
        return None
    found = list[TextChange]()
    for unit in choice.followed:
        if weave.units[unit].owner is None:
            made = [weave.hunks[number] for number in weave.units[unit].hunks]
            old = [weave.content(x) for one in made for x in one.dels if x > NEWLINE]
            new = [weave.content(x) for one in made for x in one.births if x > NEWLINE]
            found.append((None, b"\n".join(old), b"\n".join(new), (), ""))
    return found


def _under(choice: Attempt) -> dict[bytes, set[str | None]]:
    """The lines that go with superseded pieces, each with the owners of these pieces.

    And those that a gap brought back and took away itself: each with who had taken it before.
    """
    found = dict[bytes, set[str | None]]()
    for unit in choice.superseded:
        for line in choice.known.taken(unit):
            found.setdefault(choice.weave.content(line), set()).add(choice.weave.units[unit].owner)
    for line in choice.known.differing():
        taker = choice.known.last_taker(line)
        if choice.known.owner(line) is None and BASE < taker < choice.known.credit(line):
            found.setdefault(choice.weave.content(line), set()).add(choice.weave.owner_of(taker))
    return found


def _given_up(choice: Attempt, passed: Collection[bytes]) -> set[bytes]:
    """The lines that gaps took and nobody commits any more: who wrote in their place may say their words.

    Not where a line of a gap keeps half of the words: by itself it would be a correction. But the words of
    lines in `passed`, which HEAD had, are a person's to use.
    """
    known, weave, units = choice.known, choice.weave, filter(choice.is_given_up, choice.superseded)
    taken = (x for x in known.changes if known.is_history(x) and known.owner(x) is None)
    lost = set(filter(choice.past.never_comes, taken)).union(*map(known.births, units))
    by_word = dict[bytes, set[int]]()
    for line in known.differing() if lost else ():
        if line > NEWLINE and known.is_added(line) and known.owner(line) is None:
            for word in words(weave.content(line)):
                by_word.setdefault(word, set()).add(line)

    def is_kept(text: bytes) -> bool:
        said = set(words(text))
        kept = Counter(line for word in said for line in by_word.get(word, ()))
        return 2 * max(kept.values(), default=0) >= max(len(said), 1)

    return {text for text in map(weave.content, lost) if text in passed or not is_kept(text)}


def _at(known: Pieces, line: bytes) -> tuple[int, int] | None:
    at = [n for n, each in enumerate(split_lines(known.disk), 1) if each == line]
    return (at[0], at[0]) if at else None


def _left(choice: Attempt, unmet: list[Bond]) -> tuple[LeftEdit, ...]:
    weave = choice.weave
    numbers = {line: at for at, line in enumerate(weave.shown, 1)} if unmet else {}
    out = dict[tuple[int, int], LeftEdit]()
    for bond in unmet:
        made, who = weave.hunks[bond.hunk], weave.units[bond.unit].owner or UNRECORDED
        reason: Reason = "stale" if bond.stale else "contested" if bond.whole else "entangled"
        is_foreign = bond.stale and bond.kind is not Kind.OLD_READ
        why = Why(Kind.HEAD_MOVED) if is_foreign else Why(bond.kind, (who,))
        units = (weave.units[made.unit].key,)
        out.setdefault(
            (made.unit, bond.unit),
            LeftEdit(reason, _numbers(numbers, made, choice.known.births(bond.unit)), why, units),
        )
    # Of several turns in one line each is in the way for the same reason.
    told = dict[tuple[Reason, tuple[int, int] | None, Why], LeftEdit]()
    for one in out.values():
        key = one.reason, one.lines, one.why
        told[key] = one._replace(units=(*told[key].units, *one.units)) if key in told else one
    return tuple(told.values())


def _numbers(numbers: dict[int, int], made: Hunk, others: Sequence[int]) -> tuple[int, int] | None:
    """The lines of the file where a hunk is, or where the lines of the piece in its way are."""
    own = [numbers[x] for x in (*made.births, *made.undels) if x in numbers]
    own = own or [numbers[x] for x in (made.left,) if x in numbers]
    own = own or [numbers[x] for x in others if x in numbers]
    return (min(own), max(own)) if own else (1, 1) if numbers else None


def _answer(choice: Attempt, left: tuple[LeftEdit, ...], steps: Sequence[Step], held: Held) -> Separation:
    known, weave = choice.known, choice.weave
    order = weave.order()
    # Most lines of a large file are in both texts, and nothing ever happened to them.
    in_head, changes = known.in_head, known.changes
    shown = [line for line in order if (in_head[line] and line not in changes) or choice.shows(line)]
    text = _text(choice, shown) if choice.shows(EXISTS) else None
    changed = {line for line in known.differing() if choice.shows(line) != bool(known.in_head[line])}
    changed |= {line for line in shown if not in_head[line] and not known.on_disk(line)}
    units = {known.brought_by(x) if known.is_history(x) else known.unit(x) for x in changed}
    units |= set(filter(choice.writes, choice.included))
    followed = {unit for unit in choice.followed if unit in units or choice.writes(unit)}
    # what goes along in its correction goes
    units |= {known.brought_by(x) for unit in followed for x in known.taken(unit)} & choice.own
    told = followed - choice.formatted.keys()
    who = {weave.units[unit].owner or UNRECORDED for unit in choice.included | told}
    if choice.included:
        who |= _whose_words(choice, units)
    notes = (
        *said.notes(choice, followed),
        *said.lost(choice, steps, held),
        *said.brought_back(choice),
        *said.taken_again(choice),
        *said.stays(choice),
    )
    names = tuple(weave.units[unit].key for unit in sorted(units))
    return Separation(text, taken=names, left=left, includes=tuple(sorted(who)), notes=notes)


def _whose_words(choice: Attempt, units: Collection[int]) -> set[str]:
    """Who wrote lines that go along, whoever brought them back, or of which a word goes along.

    A word goes along in what replaced the line, and then nobody will bring the line any more. What nobody
    recorded may have replaced any line: a stash takes lines away, and its pop brings a form of them that a
    person had made. So it is a form that says half of a line's words which HEAD does not.
    """
    known, weave = choice.known, choice.weave

    def writer(line: int) -> str | None:
        unit = known.born_by(line)
        return weave.units[unit].owner if unit not in choice.own else None

    along = (x for x in known.differing() if known.is_added(x) and choice.shows(x))
    found = {writer(x) or "" for x in along if known.unit(x) not in choice.own}
    for unit in units:
        said = known.words(known.births(unit))
        gone = filter(known.is_history, known.taken(unit))
        found |= {writer(x) or "" for x in gone if known.words([x]) & said}
    gaps = [unit for unit in units if weave.units[unit].owner is None]
    gone = filter(known.is_history, known.changes if gaps else ())
    theirs = [x for x in gone if weave.says(x) and writer(x)]
    by_word, size = dict[bytes, list[int]](), dict[int, int]()
    for line in theirs:
        own_words = known.words([line]) - known.words_of_head
        size[line] = len(own_words)
        for word in own_words:
            by_word.setdefault(word, []).append(line)
    for unit in gaps:
        shared = Counter(x for word in known.words(known.births(unit)) for x in by_word.get(word, ()))
        found |= {writer(x) or "" for x, n in shared.items() if 2 * n >= size[x]}
    return found - {""}


def _text(choice: Attempt, shown: list[int]) -> bytes:
    known = choice.known
    text = b"".join([choice.weave.content(line) + b"\n" for line in shown])
    if not shown:
        return b""
    is_complete = choice.shows(NEWLINE)
    if known.in_head[NEWLINE] != known.on_disk(NEWLINE):
        # The newline at the end goes with the last line.
        ends = split_lines(known.head), split_lines(known.disk)
        if is_complete != known.on_disk(NEWLINE) and not known.in_head[shown[-1]] and ends[1]:
            is_complete = known.on_disk(NEWLINE) or not known.on_disk(shown[-1])
        elif known.in_head[shown[-1]] and not ends_with_newline(known.head):
            is_complete = is_complete or choice.weave.content(shown[-1]) != ends[0][-1]
    elif not known.in_head[NEWLINE]:
        is_complete = False  # neither text ends with a newline
    return text if is_complete else with_open_end(text)

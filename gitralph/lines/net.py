"""The net: a last check of a finished answer, by counts and by blocks. It shares nothing with the weave.

Brought: each telling line that comes was brought in this very form by a recorded step of the session. No
other session's step brought it later, and none brought it first, unless HEAD had it then. To bring back what
HEAD has is nothing.

Taken: each telling line that goes was taken by the session, and by no other session later. None goes that
HEAD and the file have once each, where somebody took one unrecorded: it may have been the other.

Number: no telling line stands more often than in HEAD or in the file. Here a line is telling when it says
something and never stood twice in any text of the path. To count other lines as well cost a quarter of the
commits in code full of equal lines.

By a plain diff: HEAD has nothing of what replaced a line that comes from the record. And the session took
away what replaced a line that goes with a superseded piece.

Words: each word that is new to HEAD was brought by the session. And no line that comes consists by more than
half, or by half that tells, of words that stand twice in the answer, but never twice in HEAD, the file or a
recorded text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence, Set
from difflib import SequenceMatcher
from itertools import pairwise

from gitralph.lines.linediff import rising
from gitralph.lines.neighbours import out_of_place
from gitralph.lines.pieces import Held
from gitralph.lines.remembered import remembered
from gitralph.lines.terms import OFFERED, UNRECORDED, Step, Take
from gitralph.lines.text import complete, counted_words, difference, has_words, is_telling, split_lines, words

_FEW = 8
"""At most so many lines are looked for one by one; for more a text is taken apart.

1,000 edits of 2,000 lines take 0.26 s, and 0.36 s with all texts taken apart.
"""


Change = tuple[str | None, bytes | None, bytes | None, tuple[Take, ...], str]
"""Who changed which text to which, what of that was given to him, and the key of a step. None is nobody."""

_CELLS = 100_000
"""In a place with more pairs of lines each old line was replaced by all the new ones."""

_NONE: dict[bytes, Collection[str | None]] = {}
_NEVER = frozenset([b"\n"])  # no line


def caught(
    head: bytes | None,
    text: bytes | None,
    disk: bytes | None,
    steps: Sequence[Step],
    owners: Collection[str],
    includes: Collection[str] = (),
    superseded: Mapping[bytes, Collection[str | None]] = _NONE,
    strict: bool = False,
    held: Container[bytes] = (),
    corrections: Sequence[Change] | None = None,
    given_up: Container[bytes] = (),
    has: Held = lambda _: (),
) -> bytes | None:
    """Return a line that speaks against an answer of `owners`, or None.

    `includes` are others whose pieces may go along. A later piece that lies over such a one may stay behind.
    `superseded` gives lines that may go too, where one of the named owners took the line last. `strict`:
    corrections stay out, so that a line comes as it was recorded although somebody changed it. `held` are
    lines that HEAD had. `corrections`, where given, are all that goes along of what nobody recorded. Words
    of lines that were `given_up` count as brought anew by who replaced them. `has` gives the lines of HEAD at
    a step.
    """
    went, came = difference(head, text)
    asked = {*came, *went}
    names = {*owners, *includes, *([None] if UNRECORDED in includes else [])}
    changes = _changes(steps, disk, None in names)
    if None in names and changes:
        # what HEAD alone has, or lacks of the first text, no record tells of
        start, there, old = changes[0][1], set(split_lines(head)), head
        if any(head in (before, after) for _, before, after, *_ in changes):
            old = b"".join(line + b"\n" for line in split_lines(start) if line in there)
        changes.insert(0, (None, old, start, (), ""))
    # HEAD had them under another name, and gets them as they came, whatever a person made of them since
    as_told = asked if strict else {line for step in steps if step.owner in owners for line in step.came}
    along = {line for step in steps for line in step.came}
    found = _counted(head, text, disk, changes, owners, names, asked, superseded, as_told, held, along, has)
    if found is not None:
        return found
    rows = [each for each in changes if each[0] in names]
    told = rows if corrections is None else [*(row for row in rows if row[0] is not None), *corrections]
    found = _of_words(head, disk, steps, told, went, came, given_up)
    if found is not None:
        return found
    own = [Step("", *each[:3]) for each in rows]
    # A person gave these lines alone: what stands between and behind them stays out.
    alone = [(owner, before, _given(after, takes)[1]) for owner, before, after, takes, _ in rows if takes]
    own += [Step("", who, old, b"".join([line + b"\n" for line in lines])) for who, old, lines in alone]
    return out_of_place(head, text, disk, own, _is_unsure(changes, rows))


def _is_unsure(changes: Sequence[Change], own: Sequence[Change]) -> bool:
    """Tell whether nobody recorded who took lines away that some changes brought: it may have been git."""
    gone = {line for owner, old, new, *_ in changes if owner is None for line in difference(old, new)[0]}
    return bool(gone) and any(not gone.isdisjoint(difference(old, new)[1]) for _, old, new, *_ in own)


def _counted(
    head: bytes | None,
    text: bytes | None,
    disk: bytes | None,
    changes: Sequence[Change],
    owners: Collection[str],
    names: set[str | None],
    asked: Collection[bytes],
    superseded: Mapping[bytes, Collection[str | None]],
    as_told: Container[bytes],
    held: Container[bytes],
    along: Set[bytes],
    has: Held,
) -> bytes | None:
    asked = {line for line in asked if is_telling(line)}
    if not asked:
        return None
    old, new, now = (_count(each, asked) for each in (head, text, disk))
    of_head = frozenset(split_lines(head))
    brought, took = set[bytes](), set[bytes]()
    last, taker, writer = dict[bytes, str | None](), dict[bytes, str](), dict[bytes, str | None]()
    lent = dict[bytes, str | None]()
    first, for_what = dict[bytes, str | None](), dict[bytes, frozenset[bytes]]()
    untold = set[bytes]()
    times, most = Counter[bytes](), old | now
    when, instead = dict[bytes, int](), _Instead(changes, head)
    for number, (owner, before, after, takes, key) in enumerate(changes):
        went, came = _given(after, takes) if takes else difference(before, after)
        for text, lines in ((before, asked & went.keys()), (after, asked & came.keys())):
            for line, count in _count(text, lines).items():
                most[line] = max(most[line], count)
        gone, fresh = asked & (went.keys() - came.keys()), asked & (came.keys() - went.keys())
        if takes:  # what turned out to be recorded by somebody is not given
            gone = {line for line in gone if last.get(line) in (None, OFFERED)}
            fresh = {line for line in fresh if writer.get(line) in (None, OFFERED)}
        then = has(key) if owner is not None and fresh else ()
        back = {line for line in fresh & last.keys() if line in then}
        writer.update(dict.fromkeys(fresh, owner))
        if owner is not None or None in names:
            # what others took away is brought anew; what he took himself, or came with a move, comes back,
            # and so does what comes in the place of all that had come in its place
            gone_for = {line for line in fresh if for_what.get(line, _NEVER) <= went.keys()}
            anew = {line for line in fresh - gone_for if last.get(line) != owner} - along
            first |= {line: owner for line in fresh - back if line not in first or line in anew}
        if owner is not None or after != disk:
            times.update(fresh)
        # who had put the line back, and brings back what had replaced it, only undoes what he did himself
        is_undo = owner is not None and owner not in names and any(first.get(x) in names for x in fresh)
        undone = {x for x in gone if is_undo and writer.get(x) == owner and taker.get(x) in names}
        new_here = frozenset(x for x in came.keys() - went.keys() if x not in held and x not in of_head)
        for line in gone:
            last[line], when[line], for_what[line] = owner, number, new_here or _NEVER
            if owner is not None and line not in undone:
                taker[line] = owner
        # who only takes back that he put a line of HEAD back has not taken it away
        undone |= {x for x in gone if lent.pop(x, OFFERED) == owner and owner not in names}
        lent |= dict.fromkeys(back & took, owner)
        took -= fresh
        if owner is None:
            untold |= gone
        if owner in names:
            brought |= fresh - back
            took |= gone
        elif owner is None:  # a popped stash removes a line again: the credit stays with the record
            took -= {line for line in gone if taker.get(line) not in names}
            took |= {line for line in gone if taker.get(line) in names}
        else:
            took = took - gone | undone
            # who only brings back what the session wrote has no credit for it, see `pieces`
            brought -= {line for line in fresh - back if line in held or first.get(line) not in names}
    for line in asked:
        tells = most[line] <= 1 and times[line] <= 2
        if new[line] > old[line] and tells:
            is_over = (
                line in last and last[line] not in owners and (line in as_told or last[line] is not None)
            )
            if line not in brought or (not now[line] and not is_over):
                return line
            if line not in held and first.get(line) not in (None, *names):
                return line
            if not now[line] and instead.of(line, when[line])[0]:
                return line
        if new[line] < old[line] == now[line] == 1 and line in untold:
            return line
        if new[line] < old[line] and tells and line not in took:
            if line not in last or last[line] not in superseded.get(line, ()):
                return line
            if names.isdisjoint(instead.of(line, when[line])[1]):
                return line
        if new[line] > 1 and tells:
            return line
    return None


class _Instead:
    """What a plain diff says replaced a line, and replaced that in turn.

    Lines of one place share an answer: with a diff for each of 500 lines a commit took 4 s, eight times as
    long as for 250.
    """

    def __init__(self, changes: Sequence[Change], head: bytes | None) -> None:
        self.changes, self.head = changes, frozenset(split_lines(head))

    def of(self, line: bytes, number: int) -> tuple[bool, set[str | None]]:
        """Whether HEAD has any of what replaced a line that a change took, and who took any of it away."""
        return self._followed(self._place(number).get(line, frozenset()), number)

    @remembered
    def _followed(self, place: frozenset[bytes], number: int) -> tuple[bool, set[str | None]]:
        stood = set(split_lines(self.changes[number][1]))
        found, takers = set(place - stood), set[str | None]()
        for at, (owner, before, _, takes, _) in enumerate(self.changes[number + 1 :], number + 1):
            places = self._place(at) if found and not takes else {}
            gone = found & places.keys()
            if gone:
                takers.add(owner)
                found.update(*(places[line] - stood.union(split_lines(before)) for line in gone))
        return not found.isdisjoint(self.head), takers

    @remembered
    def _place(self, number: int) -> dict[bytes, frozenset[bytes]]:
        """For each line that a change took: the telling lines that came in its place, or those with words."""
        found = dict[bytes, frozenset[bytes]]()
        _, before, after, *_ = self.changes[number]
        for old, new in _replaced(split_lines(before), split_lines(after)):
            came = frozenset(filter(is_telling, new)) or frozenset(filter(has_words, new))
            found |= dict.fromkeys(old, came)
        return found


def _replaced(old: list[bytes], new: list[bytes]) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Yield the lines of each place in which two texts differ, by Python's difflib between single lines."""
    counts = Counter(old), Counter(new)
    places = {line: at for at, line in enumerate(old) if counts[0][line] == counts[1][line] == 1}
    single = rising([(places[line], at) for at, line in enumerate(new) if line in places])
    low, start = 0, 0
    for high, stop in [*single, (len(old), len(new))]:
        went, came = old[low:high], new[start:stop]
        if len(went) * len(came) > _CELLS:
            yield went, came
        elif went:
            for kind, i, j, k, m in SequenceMatcher(None, went, came).get_opcodes():
                if kind != "equal":
                    yield went[i:j], came[k:m]
        low, start = high + 1, stop + 1


def _of_words(
    head: bytes | None,
    disk: bytes | None,
    steps: Sequence[Step],
    own: Sequence[Change],
    went: Counter[bytes],
    came: Counter[bytes],
    given_up: Container[bytes],
) -> bytes | None:
    """A line with a word that is another's, or that HEAD or the file has in another line."""
    more = counted_words(came)
    of_head = more.keys() & words(head or b"")
    more.subtract(counted_words(went))
    brought = set(of_head)
    for _, before, after, takes, _ in own:
        gone, fresh = _given(after, takes) if takes else difference(before, after)
        kept = {word for line in gone if line not in given_up for word in words(line)}
        brought |= {word for line in fresh for word in words(line)} - kept
    twice = set[bytes]()
    for line in came:
        for word in words(line):
            if word not in brought:
                return line
            # More often than in HEAD, and more than once.
            if more[word] > 1 or (more[word] == 1 and word in of_head):
                twice.add(word)
    if twice:
        twice -= ever_repeated([*(x for step in steps for x in (step.before, step.after)), disk], twice)
    # "true" in a new line is no version of another line that says "true": half of the words must tell
    for line in came if twice else ():
        all_of, again = words(line), twice.intersection(words(line))
        if 2 * len(again) > len(all_of) or 2 * sum(map(is_telling, again)) >= max(len(all_of), 1):
            return line
    return None


def ever_repeated(texts: Sequence[bytes | None], asked: set[bytes]) -> set[bytes]:
    """Those of some words that stand twice in one of the texts, which change little from one to the next."""
    counts = Counter(filter(asked.__contains__, words(texts[0] or b"")))
    found = {word for word in asked if counts[word] > 1}
    for before, after in pairwise(texts):
        if found == asked:
            break
        went, came = difference(before, after)
        counts.subtract(counted_words(went))
        counts.update(fresh := counted_words(came))
        found |= {word for word in asked.intersection(fresh) if counts[word] > 1}
    return found


def _changes(steps: Sequence[Step], disk: bytes | None, by_person: bool) -> list[Change]:
    """Who changed the file from which text to which; gaps count, and so do lines given by a person.

    An offered gap corrects nobody's line, see `follow`: it counts as another session's, but for a person.
    """
    found = list[Change]()
    for step in steps:
        if found and found[-1][2] != step.before:
            found.append((None, found[-1][2], step.before, (), ""))
        owner = OFFERED if step.offered and step.owner is None and not by_person else step.owner
        found.append((owner, step.before, step.after, step.takes, step.key))
    if found and found[-1][2] != disk:
        # a person who makes a file anew took what it had, for a commit of his own, see `pieces`
        _, before, after, *_ = found[-1]
        found.append((None, before if by_person and after is None else after, disk, (), ""))
    return found


def _given(text: bytes | None, takes: tuple[Take, ...]) -> tuple[Counter[bytes], Counter[bytes]]:
    """The lines of an assignment: those that went, and those that came."""
    lines = split_lines(text)
    went = Counter(line for take in takes for line in take.removed)
    return went, Counter(line for take in takes for line in lines[take.at : take.at + take.count])


def _count(text: bytes | None, asked: Collection[bytes]) -> Counter[bytes]:
    if text is None or len(asked) > _FEW:
        return Counter(filter(asked.__contains__, split_lines(text)))
    found = Counter[bytes]()
    text = b"\n" + complete(text)
    for line in asked:
        at, whole = -1, b"\n" + line + b"\n"
        while (at := text.find(whole, at + 1)) >= 0:
            found[line] += 1
    return found

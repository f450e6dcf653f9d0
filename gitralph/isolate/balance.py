"""Counts the words that a reversal takes and brings against those that its units brought and took.

The weave may have taken one block for another, or a removal for the wrong person's. This check shares nothing
with it but what each hunk put in and took out: whatever does not add up is refused. Must not ask where a
line stands, but for two that would change sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, combinations, islice, pairwise

from gitralph.isolate.lines import split_lines, words
from gitralph.isolate.rules import Need
from gitralph.isolate.weave import BASE, Weave

Words = Counter[bytes]
Texts = Mapping[str, tuple[bytes | None, bytes | None]]
UNTOLD = "tells otherwise of"
_PAIRS = 300
"""So many lines that change sides are compared with each other."""


def unbalanced(
    weave: Weave, units: Collection[int], shown: bytearray, texts: Texts, comes: bool
) -> Iterator[Need]:
    """Yield, per word that a file with `shown` must not gain or lose, who touched it last and whose it is.

    `comes`: the units come back, else they go; `texts` are those before and after steps. A word that
    nobody else has touched since changes by exactly what the units changed, any other by no more, and what
    stays keeps its order unless a text of the units' steps has the new one.
    """
    sign = 1 if comes else -1
    change = _words(weave, (at for at in weave.order() if shown[at] and not weave.visible(at)))
    change.subtract(_words(weave, (at for at in weave.shown if not shown[at])))
    wanted, more, less = Words(), Words(), Words()
    by_step: dict[int, list[int]] = {}
    for unit in units:
        by_step.setdefault(weave.units[unit].step, []).append(unit)
    for together in by_step.values():
        for word, count in _made(weave, together).items():
            wanted[word] += sign * count
            (more if sign * count > 0 else less)[word] += abs(count)
    off = {word for word in change.keys() | wanted.keys() if change[word] != wanted[word]}
    # Never more than the units themselves moved of a word; less may be, where others have a hand in it.
    too_much = {word for word in off if not -less[word] <= change[word] <= more[word]}
    if off - too_much:
        since = min(min(weave.units[unit].hunks) for unit in units)
        too_much |= {word for word in off - too_much if not _touched(weave, units, word, since)}
    yield from (_need(weave, units, word) for word in sorted(too_much))
    yield from _out_of_order(weave, units, shown, texts)


def left_behind(
    weave: Weave, units: Collection[int], shown: bytearray, head: bytes | None, owners: Collection[str]
) -> Iterator[Need]:
    """Yield what nobody but the owners ever put in, what HEAD has not, and what would stay all the same."""
    base = {weave.line[at] for at in weave.order() if weave.birth[at] == BASE}
    there, old = {weave.texts[weave.line[at]] for at in weave.order() if shown[at]}, set(split_lines(head))
    old |= {weave.texts[line] for line in base}
    rest = {word for line in there - old for word in words(line)}
    if rest:
        rest.difference_update(*(words(line) for line in old))
    own = [at for at in range(1, len(weave.units)) if weave.units[at].owner in owners]
    # Each word is looked for until it is found, and nothing for no word.
    theirs = set[bytes]()
    for unit in own:
        if len(theirs) == len(rest):
            break
        theirs |= _put(weave, unit, rest - theirs)
    rest = theirs
    for unit in range(1, len(weave.units)):
        if not rest:
            break
        if weave.units[unit].owner not in owners:
            rest -= _put(weave, unit, rest)
    yield from (_need(weave, units, word) for word in sorted(rest))


def _put(weave: Weave, unit: int, asked: set[bytes]) -> set[bytes]:
    """Return which of some words a unit put in more often than it took them out."""
    made = (weave.hunks[hunk] for hunk in weave.units[unit].hunks)
    atoms = [at for hunk in made for at in (*hunk.births, *hunk.undels) if weave.line[at] >= 0]
    # Most units have none of them: counting all their words took half of the time of this check.
    if all(asked.isdisjoint(words(weave.content(at))) for at in atoms):
        return set()
    return {word for word, count in _made(weave, [unit]).items() if count > 0 and word in asked}


def _words(weave: Weave, atoms: Iterable[int]) -> Words:
    """Count the words of lines; an atom that is no line has none."""
    return Counter(word for at in atoms if weave.line[at] >= 0 for word in words(weave.content(at)))


def _made(weave: Weave, units: Iterable[int]) -> Words:
    """Count how often units put each word in, negative where they took it out."""
    found = Words()
    for hunk in (weave.hunks[at] for unit in units for at in weave.units[unit].hunks):
        for atoms, sign in ((hunk.births, 1), (hunk.undels, 1), (hunk.dels, -1)):
            for at in atoms:
                for word in words(weave.content(at)) if weave.line[at] >= 0 else ():
                    found[word] += sign
    return found


def _holds(weave: Weave, word: bytes, hunk: int) -> bool:
    return any(weave.line[at] >= 0 and word in words(weave.content(at)) for at in weave.hunks[hunk].touched())


def _touched(weave: Weave, units: Collection[int], word: bytes, since: int) -> bool:
    """Tell whether a hunk of other units has to do with a word."""
    hunks = range(since, len(weave.hunks))
    return any(weave.hunks[hunk].unit not in units and _holds(weave, word, hunk) for hunk in hunks)


def _need(weave: Weave, units: Collection[int], word: bytes) -> Need:
    """Name the last hunk that had to do with a word, and the units' own."""
    having = [hunk for hunk in range(1, len(weave.hunks)) if _holds(weave, word, hunk)]
    own = [hunk for hunk in having if weave.hunks[hunk].unit in units]
    others = [hunk for hunk in having if weave.hunks[hunk].unit not in units]
    mine = own[-1] if own else max(hunk for unit in units for hunk in weave.units[unit].hunks)
    return Need(others[-1] if others else mine, mine, UNTOLD)


def _out_of_order(weave: Weave, units: Collection[int], shown: bytearray, texts: Texts) -> Iterator[Need]:
    """Yield words that stand once before and after, and change sides as no text of the steps has it.

    A word speaks for its line where both places have the same one, or versions of one. What the units took
    from one line and wrote in another is no line that moved: with 8 sessions each at its own 250 of 2,000
    lines, such a word had stopped an undo.
    """
    then = [atom for atom in weave.order() if shown[atom]]
    if not _moved(weave, shown, then):
        return
    told_by = {line: words(weave.texts[line]) for line in {weave.line[at] for at in (*weave.shown, *then)}}
    now, after = (_once([(at, told_by[weave.line[at]]) for at in atoms]) for atoms in (weave.shown, then))
    kin = _versions(weave, units)

    def speaks(word: bytes, atom: int) -> bool:
        if word not in now or word not in after:
            return False
        other = now[word][1]
        return weave.line[other] == weave.line[atom] or kin.get(other, other) == kin.get(atom, atom)

    told = ((word for word in told_by[weave.line[atom]] if speaks(word, atom)) for atom in then)
    # One word speaks for its line.
    places = {word: place for word, (place, _) in now.items()}
    turned = _turned([word for each in told for word in islice(each, 1)], places)
    if not turned:
        return
    steps = {weave.steps[weave.units[unit].step] for unit in units}
    orders = _orders((text for key in sorted(steps) for text in texts.get(key, ())), set(turned))
    if any(_agrees(order, turned) for order in orders):
        return
    # All pairs of a large text would take seconds: what cannot be looked at is refused.
    for one, other in combinations(turned[:_PAIRS], 2):
        if places[one] > places[other] and not any(_agrees(order, (one, other)) for order in orders):
            yield _need(weave, units, other)
            return
    if len(turned) > _PAIRS:
        yield _need(weave, units, turned[_PAIRS])


def _moved(weave: Weave, shown: bytearray, then: Sequence[int]) -> bool:
    """Tell whether any word that stands once before and after does so in another atom.

    The two texts have their atoms in one order, so that no other word can change sides: most undos have none,
    and the words of all lines need not be put side by side.
    """
    went = {word for at in weave.shown if not shown[at] for word in words(weave.content(at))}
    there = set(weave.shown)
    both = went.intersection(word for at in then if at not in there for word in words(weave.content(at)))
    for atoms in (weave.shown, then) if both else ():
        found = Counter(word for at in atoms for word in words(weave.content(at)) if word in both)
        both = {word for word in both if found[word] == 1}
    return bool(both)


def _turned(found: list[bytes], now: Mapping[bytes, int]) -> list[bytes]:
    """Return the words that stood on the other side of another one."""
    places = [now[word] for word in found]
    highest = accumulate(places, max)
    lowest = reversed(list(accumulate(reversed(places), min)))
    rows = zip(found, places, highest, lowest, strict=True)
    return [word for word, place, high, low in rows if high > place or low < place]


def _agrees(order: Mapping[bytes, int], found: Sequence[bytes]) -> bool:
    """Tell whether a text has all of these words in this order."""
    return all(word in order for word in found) and all(order[a] < order[b] for a, b in pairwise(found))


def _versions(weave: Weave, units: Collection[int]) -> dict[int, int]:
    """Map the atoms that the units touched to one of each set of versions: what a hunk took and put."""
    found: dict[int, int] = {}

    def root(atom: int) -> int:
        while found.setdefault(atom, atom) != atom:
            atom = found[atom]
        return atom

    for unit in units:
        for hunk in weave.units[unit].hunks:
            touched = weave.hunks[hunk].touched()
            for atom in touched:
                found[root(atom)] = root(touched[0])
    return {atom: root(atom) for atom in found}


def _once(told: Sequence[tuple[int, list[bytes]]]) -> dict[bytes, tuple[int, int]]:
    """Map each word that stands once in some lines, atom and words, to its place and its atom."""
    found = [(word, at) for at, row in told for word in row]
    counts = Counter(word for word, _ in found)
    return {word: (place, at) for place, (word, at) in enumerate(found) if counts[word] == 1}


def _orders(texts: Iterable[bytes | None], wanted: Collection[bytes]) -> list[dict[bytes, int]]:
    """Map, for each text, some words to their places where they stand once in it."""
    found, known = list[dict[bytes, int]](), dict[bytes, list[bytes]]()
    for text in texts:
        told = list[bytes]()
        for line in split_lines(text):
            # Most lines are in every text: each is searched for words once.
            if line not in known:
                known[line] = [word for word in words(line) if word in wanted]
            told += known[line]
        found.append(_singles(told))
    return found


def _singles(found: list[bytes]) -> dict[bytes, int]:
    counts = Counter(found)
    return {word: at for at, word in enumerate(found) if counts[word] == 1}

"""Finds what somebody without a session did only to an owner's own pending lines.

A formatter or a person corrects a line that a session wrote and has not committed. Leaving the
correction out would commit a text that is nowhere on disk and that nobody tested, so it goes along.
Must never reach a line of HEAD or of another owner: a gap that does stays nobody's as a whole hunk.
"""

from __future__ import annotations

from collections.abc import Set

from gitralph.isolate.gone import Unsure, step_key
from gitralph.isolate.head import Anchored
from gitralph.isolate.linediff import line_hunks
from gitralph.isolate.lines import is_telling, words
from gitralph.isolate.materialize import Flags, flags_of, states
from gitralph.isolate.rules import provider
from gitralph.isolate.weave import BASE, END, EXISTS, NEWLINE, START, Hunk, Weave


def following(
    weave: Weave,
    anchored: Anchored,
    ours: set[int],
    unsure: Unsure = lambda _: False,
    reverted: Set[int] = frozenset(),
    doubtful: Unsure = lambda _: False,
) -> set[int]:
    """Return the units of nobody's that replace or remove lines of `ours`, or stand inside a block of it.

    A later correction may build on an earlier one. White space at the rim of a block of ours goes
    along too: formatters put blank lines there. Where git put files back since a unit (`unsure`), text in
    the place of all its lines is a correction only if it keeps most of their words: else somebody may have
    written it where the lines were gone. One change may take back a whole edit of the owner's and part of
    another: lines of the `reverted` ones count as ours beside a line of `ours`.
    """
    found: set[int] = set()
    ours = {unit for unit in ours if not is_written_anew(weave, anchored, unit, unsure, doubtful)}
    # What a commit held that HEAD lost may have been changed by whoever moved HEAD, but not a correction that
    # went along with it, nor one that keeps every word: a formatter ran before the reset.
    once, ours = set(ours), ours - anchored.rewound
    in_head, mine = anchored.units | anchored.drift, ours | reverted
    nobodys = [
        index
        for index, unit in enumerate(weave.units)
        if index != BASE and unit.owner is None and index not in in_head
        if not any(weave.hunks[hunk].assigned for hunk in unit.hunks)
    ]
    # A session may have taken lines of HEAD out and put them back: they are HEAD's as before.
    held = states(weave, flags_of(weave, anchored.units)) if nobodys else bytearray()
    for index in nobodys:
        same = index in anchored.rewound or _keeps_its_words(weave, index)
        known = mine | once if same else mine
        if (
            all(_only_touches(weave, hunk, known, held) for hunk in weave.units[index].hunks)
            and _touches_lines(weave, index)
            and not _says_more(weave, index)
            and not _was_put_away(weave, index, unsure)
            and not _is_another_text(weave, index, unsure)
            and not _is_about(weave, index, reverted, ours, held)
            and _stands(weave, index, known)
        ):
            found.add(index)
            # what stands only on a correction that went with a lost commit is as doubtful as that
            (once if index in anchored.rewound else mine).add(index)
    return found


def is_written_anew(
    weave: Weave, anchored: Anchored, unit: int, unsure: Unsure, doubtful: Unsure = lambda _: False
) -> bool:
    """Tell whether none of a unit's lines stand, and what nobody recorded in their place is another text.

    Only where git put files back since, or where that is `doubtful` and no word is left. Punctuation and lone
    words that stand do not count; nor do the words that the unit found there, nor what a commit took along
    with it.
    """
    births = [atom for hunk in weave.units[unit].hunks for atom in weave.hunks[hunk].births]
    # a lone word, such as "return", may be anybody's
    standing = {atom for atom in births if weave.visible(atom)}
    births = [atom for atom in births if atom not in standing]
    if not births or any(is_telling(weave.content(atom)) for atom in standing):
        return False
    killers = {(weave.ops[atom] or [BASE])[-1] >> 1 for atom in births}
    if any(killer == BASE or weave.owner_of(killer) is not None for killer in killers):
        return False
    if any(_unit(weave, killer) in anchored.rewound for killer in killers):
        return False
    # Words that a line of HEAD has as well were there also after git had put that line back.
    found = {word for atom in _found_by(weave, unit) for word in words(weave.content(atom))}
    old = {word for atom in births for word in words(weave.content(atom))} - found
    came = _last_of(weave, killers)
    if not came and any(not weave.visible(atom) for atom in _found_by(weave, unit)):
        return False  # only part of it was put back: each line is asked by itself (see `gone`)
    fresh = {word for atom in came for word in words(weave.content(atom))}
    # A formatter keeps all words, a person who corrects a line most of them; texts that were written where a
    # reset had taken a block away shared at most a lone word with it (seeds 4031 and 10011 of the random days
    # that `python -m tests.days` plays).
    key = step_key(weave, unit)
    if unsure(key):
        return 2 * len(old & fresh) <= len(old)
    # asked last: it may start git
    return bool(old) and old.isdisjoint(fresh) and doubtful(key)


def _last_of(weave: Weave, hunks: set[int]) -> list[int]:
    """Return what nobody's hunks brought, and for what nobody took away again what came for that.

    A person's correction may have gone with the line that it corrected, and another text have come since.
    """
    found, todo, asked = list[int](), [*hunks], set(hunks)
    while todo:
        for atom in weave.hunks[todo.pop()].births:
            killer = (weave.ops[atom] or [BASE])[-1] >> 1
            if weave.visible(atom) or killer == BASE or weave.owner_of(killer) is not None:
                found.append(atom)
            elif killer not in asked:
                asked.add(killer)
                todo.append(killer)
    return found


def _found_by(weave: Weave, unit: int) -> list[int]:
    """Return the lines that a unit took away and that its owner had not written."""
    owner = weave.units[unit].owner
    gone = [atom for hunk in weave.units[unit].hunks for atom in weave.hunks[hunk].dels]
    return [
        atom for atom in gone if atom not in (EXISTS, NEWLINE) and weave.owner_of(weave.birth[atom]) != owner
    ]


def _was_put_away(weave: Weave, unit: int, unsure: Unsure) -> bool:
    """Tell whether git may have taken some lines of an edit away: a stash may bring them back."""
    made = [weave.hunks[hunk] for hunk in weave.units[unit].hunks]
    if any(one.births or one.undels for one in made):
        return False
    born = {_unit(weave, weave.birth[atom]) for one in made for atom in one.dels if atom > NEWLINE} - {BASE}
    left = (atom for each in born for hunk in weave.units[each].hunks for atom in weave.hunks[hunk].births)
    stays = any(weave.visible(atom) and is_telling(weave.content(atom)) for atom in left)
    return stays and any(unsure(step_key(weave, each)) for each in born)


def _is_another_text(weave: Weave, unit: int, unsure: Unsure) -> bool:
    """Tell whether text shares no word with lines that it replaced, and git put files back since those.

    A merge that a reset took back may have left its own line in their place.
    """
    made = [weave.hunks[hunk] for hunk in weave.units[unit].hunks]
    gone = [atom for one in made for atom in one.dels if atom > NEWLINE]
    came = {word for one in made for atom in one.births for word in words(weave.content(atom))}
    said = [atom for atom in gone if is_telling(weave.content(atom))]
    if not said or not came or not all(unsure(step_key(weave, _unit(weave, weave.birth[a]))) for a in said):
        return False
    return all(came.isdisjoint(words(weave.content(atom))) for atom in said)


def _says_more(weave: Weave, unit: int) -> bool:
    """Tell whether lines that say nothing were replaced by text that says something else.

    A brace and a lone "return" stand in many texts: somebody may have removed them, and written later.
    """
    made = [weave.hunks[hunk] for hunk in weave.units[unit].hunks]
    gone = [weave.content(atom) for one in made for atom in one.dels if atom > NEWLINE]
    if not gone or any(map(is_telling, gone)):
        return False
    came = [weave.content(atom) for one in made for atom in one.births]
    known = {word for line in gone for word in words(line)}
    return any(is_telling(line) and known.isdisjoint(words(line)) for line in came)


def _keeps_its_words(weave: Weave, unit: int) -> bool:
    """Tell whether a change replaces lines by lines of the same words: an indent, or lines joined."""
    made = [weave.hunks[hunk] for hunk in weave.units[unit].hunks]
    gone = [
        word for one in made for atom in one.dels if atom > NEWLINE for word in words(weave.content(atom))
    ]
    came = [word for one in made for atom in one.births for word in words(weave.content(atom))]
    return bool(gone) and gone == came and not any(one.undels for one in made)


def _stands(weave: Weave, unit: int, mine: set[int]) -> bool:
    """Tell whether lines that were put in, or taken out, still are, but for what `mine` made of them since.

    A replacement counts without this: the line it replaced is wrong, whoever removed both since. A
    removal that a popped stash undid is over.
    """
    for hunk in weave.units[unit].hunks:
        made = weave.hunks[hunk]
        brought = made.births + made.undels
        if made.dels and brought:
            continue
        for atom, wanted in [*((a, True) for a in brought), *((a, False) for a in made.dels)]:
            last = (weave.ops[atom] or [weave.birth[atom] << 1 | 1])[-1] >> 1
            if weave.visible(atom) != wanted and _unit(weave, last) not in mine:
                return False
    return True


def _touches_lines(weave: Weave, unit: int) -> bool:
    return any(atom not in (EXISTS, NEWLINE) for atom in weave.atoms_of(weave.units[unit]))


def _is_about(weave: Weave, unit: int, reverted: Set[int], ours: Set[int], held: Flags) -> bool:
    """Tell whether all lines that a unit took away or brought back are of reverted units.

    A line of `ours` that its owner rewrote and put back is no line of the rewrite that is reverted with it.
    """
    touched = [
        (atom, hunk)
        for hunk in weave.units[unit].hunks
        for atom in weave.hunks[hunk].dels + weave.hunks[hunk].undels
        if atom not in (EXISTS, NEWLINE)
    ]
    return bool(touched) and all(
        _is_of(weave, atom, hunk, reverted, held) and _unit(weave, weave.birth[atom]) not in ours
        for atom, hunk in touched
    )


def _only_touches(weave: Weave, hunk: int, mine: set[int], held: Flags) -> bool:
    made = weave.hunks[hunk]
    for atom in made.dels:
        # One line of HEAD or of another owner, and the whole hunk stays nobody's: half a correction is no
        # text that anybody saw.
        if atom == EXISTS or (atom != NEWLINE and not _is_of(weave, atom, hunk, mine, held)):
            return False
    for atom in made.undels:
        if atom == EXISTS or (atom != NEWLINE and _unit(weave, weave.birth[atom]) not in mine):
            return False
    if any(atom in weave.origin for atom in made.births):
        return False  # text that came from elsewhere is somebody's
    if _writes_beside(weave, made):
        return False
    lines = [atom for atom in made.dels + made.undels if atom != NEWLINE]
    if made.births and lines and not any(atom != NEWLINE for atom in made.dels):
        return _amid_returned(weave, made)
    return bool(lines) or not made.births or _inside(weave, hunk, mine, held)


def _writes_beside(weave: Weave, made: Hunk) -> bool:
    """Tell whether a hunk that keeps a line puts text that says something before or behind all it found.

    A person removed a line above a brace, and wrote his own below it: that is no correction of the line.
    """
    old = [weave.content(atom) for atom in made.dels if atom > NEWLINE]
    new = [weave.content(atom) for atom in made.births if atom > NEWLINE]
    for low, high, start, stop in line_hunks(old, new) if len(old) > 1 else ():
        at_rim = low == high in (0, len(old)) and (start, stop) != (0, len(new))
        if at_rim and any(map(is_telling, new[start:stop])):
            return True
    return False


def _amid_returned(weave: Weave, made: Hunk) -> bool:
    """Tell whether new text stands between lines that came back with it, and not beside them.

    A stash was popped, and somebody wrote a line of his own right below.
    """
    brought = {*made.births, *made.undels}
    run = [atom for atom in weave.between(made.left, made.right) if atom in brought]
    said = [atom for atom in run if weave.content(atom).strip()]
    return not said or not {said[0], said[-1]} & set(made.births)


def _is_of(weave: Weave, atom: int, hunk: int, mine: Set[int], held: Flags) -> bool:
    """Tell whether a line was `mine` when a hunk found it, also where a stash had brought it back.

    What HEAD has is not, nor what came with the file when it was moved.
    """
    if held[atom] or atom in weave.moved:
        return False
    last = provider(weave, atom, hunk)
    if weave.owner_of(last) is None and weave.birth[atom] != last:
        last = weave.birth[atom]
    return _unit(weave, last) in mine


def _inside(weave: Weave, hunk: int, mine: set[int], held: Flags) -> bool:
    """Tell whether new lines stand between two lines of one block, or are white space at its rim."""
    made = weave.hunks[hunk]
    rims = [
        None
        if rim in (START, END) or held[rim] or rim in weave.moved
        else _unit(weave, provider(weave, rim, hunk))
        for rim in (made.left, made.right)
    ]
    if rims[0] == rims[1]:
        return rims[0] in mine
    blank = not any(weave.content(atom).strip() for atom in made.births)
    return blank and any(rim in mine for rim in rims)


def _unit(weave: Weave, hunk: int) -> int:
    return weave.hunks[hunk].unit

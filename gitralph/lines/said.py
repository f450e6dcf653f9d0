"""The notes of a commit: what follows, what others changed, what is left nowhere (rule 8 of `choose`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from gitralph.base.kinds import Kind, Why
from gitralph.lines.attempt import Attempt
from gitralph.lines.pieces import Held
from gitralph.lines.terms import GAP, UNRECORDED, LineNote, Step, step_of
from gitralph.lines.text import has_words
from gitralph.lines.weave import BASE, NEWLINE, Weave


def notes(choice: Attempt, followed: set[int]) -> Iterator[LineNote]:
    """What goes along with the session's lines, stands otherwise by now, or goes over others' lines."""
    known, weave = choice.known, choice.weave
    if followed:
        where = weave.span(x for unit in followed for x in known.births(unit))
        whose = {choice.formatted[u] for u in followed if u in choice.formatted}
        is_format = whose and all(u in choice.formatted for u in followed)
        why = Why(Kind.FORMATTED, tuple(sorted(whose))) if is_format else Why(Kind.CORRECTED, (UNRECORDED,))
        yield LineNote(why, where)
    kept = [x for u in sorted(choice.own) for x in known.births(u) if x > NEWLINE and known.is_history(x)]
    over = {known.unit(x) for x in kept if choice.shows(x) and known.owner(x) is None}
    changed = weave.span(y for unit in over for y in known.births(unit)) if over else None
    if changed is not None:
        yield LineNote(Why(Kind.CHANGED_SINCE, (UNRECORDED,)), changed)
    others = choice.superseded - choice.own - {BASE}
    if others:
        who = tuple(dict.fromkeys(weave.units[u].owner or UNRECORDED for u in sorted(others)))
        where = weave.span(x for unit in choice.wanted for x in known.births(unit))
        yield LineNote(Why(Kind.NOTHING_LEFT, who), where)


def lost(choice: Attempt, steps: Sequence[Step], held: Held) -> Iterator[LineNote]:
    """What the session's records brought, and is in none of HEAD, file and commit by somebody else's change.

    A gap shows what an old copy of the file lacked: who wrote from that copy is named.
    """
    old = {GAP + step.key: step.owner for step in steps if step.over}
    known, weave = choice.known, choice.weave
    passed, lost = held(""), list[tuple[int, int, int]]()
    for unit in sorted(choice.own - choice.followed):
        for line in (x for x in known.births(unit) if x > NEWLINE):
            killer = known.unit(line)
            if not has_words(weave.content(line)) or not known.is_history(line) or choice.shows(line):
                continue
            is_removal = killer in choice.followed and not known.births(killer)
            if (is_removal or not choice.counts(killer)) and weave.content(line) not in passed:
                lost.append((unit, line, killer))
    if not lost:
        return
    at = [y for _, _, killer in lost for y in choice.past.came(killer)]
    killers = [weave.units[killer] for _, _, killer in lost]
    names = tuple(dict.fromkeys(one.owner or old.get(step_of(one.key)) or UNRECORDED for one in killers))
    kind = Kind.LEFT_TO_NOBODY if names == (UNRECORDED,) else Kind.LEFT_TO_OTHERS
    where = _where(weave, at) or _where(weave, [line for _, line, _ in lost])
    yield LineNote(Why(kind, names), where, tuple(dict.fromkeys(weave.units[u].key for u, _, _ in lost)))


def brought_back(choice: Attempt) -> Iterator[LineNote]:
    """What the session wrote and others took away, where another or a gap brought it back."""
    known, weave = choice.known, choice.weave
    gone = {x for unit in choice.own for x in known.births(unit) if weave.says(x)}
    texts = {weave.line[x] for x in gone if known.is_history(x) and not choice.shows(x)}
    back = [
        x
        for x in known.differing()
        if known.is_added(x) and not choice.shows(x)
        if (known.owner(x) is None and (x in gone or weave.line[x] in texts))
        or (x in gone and not {known.unit(x), weave.hunks[known.last_taker(x)].unit} & choice.own)
    ]
    if back:
        who = dict.fromkeys(known.owner(x) or UNRECORDED for x in back)
        yield LineNote(Why(Kind.BROUGHT_BACK, tuple(who)), _where(weave, back))


def taken_again(choice: Attempt) -> Iterator[LineNote]:
    """What the session took away last, but another had before and is credited with it."""
    known, weave = choice.known, choice.weave
    again = dict[int, int]()
    for line in (x for x in known.differing() if x > NEWLINE and known.is_removed(x) and choice.shows(x)):
        last = known.last_taker(line)
        unit = weave.hunks[last].unit
        if unit in choice.own and known.credit(line) < last and known.unit(line) not in choice.own:
            again[line] = unit
    if again:
        names = tuple(dict.fromkeys(known.owner(x) or UNRECORDED for x in again))
        units = dict.fromkeys(weave.units[unit].key for unit in again.values())
        yield LineNote(Why(Kind.REMOVED_BEFORE, names), _where(weave, list(again)), tuple(units))


def stays(choice: Attempt) -> Iterator[LineNote]:
    """What the session removed and HEAD keeps: somebody changed what had replaced it, or put it elsewhere."""
    known, weave = choice.known, choice.weave
    asked, kept = choice.own & (choice.wanted | choice.gone), dict[int, int]()
    took = ((x, unit) for unit in asked for x in known.taken(unit) if known.unit(x) == unit)
    gone = {weave.line[x]: unit for x, unit in took if known.is_history(x) and weave.says(x)}
    for line in (x for x in known.differing() if x > NEWLINE and known.is_removed(x) and choice.shows(x)):
        last = weave.hunks[known.last_taker(line)].unit
        if known.unit(line) in asked:
            kept[line] = known.unit(line)
        elif last in asked and known.last_taker(line) < known.credit(line):
            kept[line] = last  # it came back, and somebody took it away since
        elif known.credit(line) == known.foreign and weave.line[line] in gone:
            kept[line] = gone[weave.line[line]]
    if kept:
        units = sorted(set(kept.values()))
        takers = {known.unit(x) for unit in units for x in known.births(unit) if known.is_history(x)}
        who = dict.fromkeys(weave.units[taker].owner or UNRECORDED for taker in sorted(takers - choice.own))
        keys = tuple(weave.units[unit].key for unit in units)
        yield LineNote(Why(Kind.REMOVAL_STAYS, tuple(who) or (UNRECORDED,)), _where(weave, list(kept)), keys)


def _where(weave: Weave, lines: Collection[int]) -> tuple[int, int] | None:
    """The line numbers on disk of some lines, or of what stands in their place."""
    wanted, shown, here, at = set(lines), set(weave.shown), 1, list[int]()
    for line in weave.order() if wanted else ():
        if line in wanted:
            at.append(min(here, len(shown)))
        here += line in shown
    return (max(min(at), 1), max(at)) if shown and at else None

"""Every line that ever stood at a path: whether HEAD and the disk have it, and whose it is.

The weave holds the lines and what each step did with them. Here each change gets an owner, and HEAD gets its
place. A recorded step has the credit for what it does, also where another had done the same. But who brings
back what HEAD has, or undoes what he did himself, has none for what comes back, unless HEAD had held that and
lost it since; nor has who moves a file. A gap has the credit for lines that it brings anew or takes away; not
where an old text is back or where it repeats what a record took away. So names survive a stash and its pop, a
checkout and an undo, and nothing needs to know that git did it. But where HEAD has what a record put in a
line's place, the gap that goes back to the line has the credit. What a session took back before HEAD got it
from somebody else is HEAD's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gitralph.lines.fold import fold
from gitralph.lines.place_head import place_head
from gitralph.lines.remembered import remembered
from gitralph.lines.terms import GAP, Step
from gitralph.lines.text import ends_with_newline, is_telling, split_lines, words
from gitralph.lines.weave import BASE, EXISTS, NEWLINE, Hunk, Unit, Weave

Held = Callable[[str], Collection[bytes]]
"""Gives, for a step's key, the lines that HEAD had held up to that step, or those that it had then."""

Heads = Callable[[], Collection[bytes | None]]
"""Gives the texts that HEAD had when steps were recorded."""

Change = tuple[int, bool, int]
"""A hunk, whether the line stands from that hunk on, and the hunk that has the credit for it."""


class _States:
    """What is known of each line by what happened to it. A line is the number of an atom of the weave."""

    weave: Weave
    changes: dict[int, list[Change]]
    """What happened to a line after it was brought, in order."""

    def on_disk(self, line: int) -> bool:
        """Tell whether a line stands after all that happened."""
        changes = self.changes.get(line)
        return changes[-1][1] if changes else True

    def credit(self, line: int) -> int:
        """The hunk that made the line's present state."""
        changes = self.changes.get(line)
        return changes[-1][2] if changes else self.weave.birth[line]

    def stood_by(self, line: int) -> int:
        """The hunk that had the credit for a line when it stood last."""
        stood = (credit for _, stands, credit in reversed(self.changes.get(line, ())) if stands)
        return next(stood, self.weave.birth[line])

    def was(self, line: int, hunks: int) -> Change | None:
        """The state of a line when there were so many hunks; None before the line was brought."""
        birth = self.weave.birth[line]
        if birth >= hunks:
            return None
        then = (change for change in reversed(self.changes.get(line, ())) if change[0] < hunks)
        return next(then, (birth, True, birth))


@dataclass(frozen=True)
class Pieces(_States):
    """All lines of a path. A line is the number of an atom of the weave; a unit is the number of a piece."""

    weave: Weave
    head: bytes | None
    disk: bytes | None
    in_head: bytearray
    changes: dict[int, list[Change]]
    foreign: int
    """The hunk of the lines that HEAD has and no step knows."""
    heads: Heads
    put_back: Mapping[tuple[int, int], int]
    """For a line and the record's hunk that brought it back when HEAD had it: the hunk to credit else."""
    by_unit: dict[int, list[int]] = field(default_factory=dict)
    """The added and removed lines of each piece."""

    @cached_property
    def agreed(self) -> int:
        """The number of hunks that existed when HEAD last was a text that the file had."""
        return max(self.weave.known.get(text, 0) for text in (self.head, *self.heads()))

    def is_old(self, unit: int) -> bool:
        """True for the first known text, where HEAD had the file then: HEAD has moved since.

        Else somebody made the file, and nobody recorded that.
        """
        return unit == BASE and (self.head is not None or any(text is not None for text in self.heads()))

    def unit(self, line: int) -> int:
        """The piece that made the line's present state."""
        return self.weave.hunks[self.credit(line)].unit

    def owner(self, line: int) -> str | None:
        return self.weave.units[self.unit(line)].owner

    def brought_by(self, line: int) -> int:
        """The piece that brought a line to where it stands now, or stood last."""
        return self.weave.hunks[self.stood_by(line)].unit

    def born_by(self, line: int) -> int:
        """The piece that brought a line first."""
        return self.weave.hunks[self.weave.birth[line]].unit

    def is_added(self, line: int) -> bool:
        return not self.in_head[line] and self.on_disk(line)

    def is_removed(self, line: int) -> bool:
        return bool(self.in_head[line]) and not self.on_disk(line)

    def is_settled(self, line: int) -> bool:
        """Tell whether a line is gone and a text that HEAD had since lacked it already.

        That tells nothing where HEAD also lacked what waits of the same piece, which nobody had recorded: so
        it is between a stash and its pop. Nor does it of a piece that HEAD had and lost in a reset.
        """
        unit = self.born_by(line)
        is_open = self.on_disk(line) or self._was_reset[unit] or self._waits[unit]
        return not is_open and self.credit(line) < self.agreed

    def last_taker(self, line: int) -> int:
        """The last recorded hunk that took a line away; BASE for none."""
        took = (n for n, stands, _ in reversed(self.changes.get(line, ())) if not stands)
        return next((n for n in took if self.weave.owner_of(n) is not None), BASE)

    def left_head(self, line: int) -> bool:
        """Tell whether HEAD had a telling line, and neither HEAD nor the file has it now."""
        return (
            self.is_history(line) and self.weave.says(line) and self.weave.content(line) in self.were_in_head
        )

    @cached_property
    def were_in_head(self) -> set[bytes]:
        """The lines of every text that HEAD had."""
        return {line for text in self.heads() for line in split_lines(text)}

    @cached_property
    def words_of_head(self) -> set[bytes]:
        """Every word of HEAD's text."""
        return set(words(self.head or b""))

    def is_undone(self, line: int) -> bool:
        """Tell whether the file went back to a text from before a line since the line was taken away."""
        first, then = self.weave.returns[-1] if self.weave.returns else (0, 0)
        return then <= self.weave.birth[line] and self.credit(line) < first

    def is_swept(self, unit: int) -> bool:
        """Tell whether gaps took away what still stood of sessions' lines since the step of a piece.

        Then somebody put the file back, and what else he did with it nobody knows.
        """
        return self._is_swept_since(self.weave.units[unit].step)

    @remembered
    def _is_swept_since(self, step: int) -> bool:
        hunks = max(n for one in self.weave.units if one.step == step for n in one.hunks) + 1
        then = ((x, self.was(x, hunks)) for x in self._written)
        stood = (x for x, was in then if was is not None and was[1] and not self.on_disk(x))
        swept = max((self.credit(x) for x in stood if self.owner(x) is None), default=BASE)
        return swept > BASE and not any(self.on_disk(x) for x in self._written if self.weave.birth[x] < swept)

    @cached_property
    def _written(self) -> list[int]:
        """The lines that sessions brought and HEAD has not."""
        weave, birth = self.weave, self.weave.birth
        fresh = (x for x in range(NEWLINE + 1, len(birth)) if birth[x] and not self.in_head[x])
        return [x for x in fresh if weave.owner_of(birth[x]) is not None]

    def is_history(self, line: int) -> bool:
        return not self.in_head[line] and not self.on_disk(line)

    def differing(self) -> Iterator[int]:
        """The lines that either HEAD or the file has, and not both."""
        for lines in self.by_unit.values():
            yield from lines

    def births(self, unit: int) -> list[int]:
        """The lines that a piece brought."""
        return self._brought[unit]

    def taken(self, unit: int) -> list[int]:
        """The lines that a piece took away."""
        return self._took[unit]

    # A piece is asked once for each of its lines: 4,000 equal lines took 1.4 s, and with this cache 0.10 s.
    @cached_property
    def _brought(self) -> list[list[int]]:
        hunks = self.weave.hunks
        return [[line for n in unit.hunks for line in hunks[n].births] for unit in self.weave.units]

    @cached_property
    def _waits(self) -> list[bool]:
        """For each piece whether a line of it waits that was gone at `agreed`, and no record had taken it."""

        def waits(line: int) -> bool:
            then = self.was(line, self.agreed) if self.is_added(line) else None
            return then is not None and not then[1] and self.weave.owner_of(then[2]) is None

        return [any(map(waits, births)) for births in self._brought]

    @cached_property
    def _was_reset(self) -> list[bool]:
        """For each piece whether HEAD had a telling line of it at `agreed`, and the file alone has it now."""

        def is_lost(line: int) -> bool:
            then = self.was(line, self.agreed) if self.is_added(line) and self.weave.says(line) else None
            # who took it away since and brought it back did that, and no reset
            return then is not None and then[1] and self.changes.get(line, [then])[-1][0] < self.agreed

        return [any(map(is_lost, births)) for births in self._brought]

    @cached_property
    def _took(self) -> list[list[int]]:
        hunks = self.weave.hunks
        return [[x for n in unit.hunks for x in hunks[n].dels if x > NEWLINE] for unit in self.weave.units]

    def words(self, lines: Sequence[int]) -> set[bytes]:
        return {word for line in lines if line > NEWLINE for word in words(self.weave.content(line))}

    def is_replaced_in_head(self, line: int) -> bool:
        """Tell whether HEAD has a telling line that was put in the place of this line.

        What a record brought back counts anew. What git or a person put back is still replaced in HEAD.
        """
        changes = self.changes.get(line, ())
        again = [n for n, stands, _ in changes if stands and self.weave.owner_of(n) is not None]
        return self._went_by(line, self._leads, max(again, default=0))

    def _went_by(self, line: int, hunks: bytearray, since: int = 0) -> bool:
        changes = self.changes.get(line, ())
        return any(hunks[number] for number, stands, _ in changes if not stands and number >= since)

    @cached_property
    def _leads(self) -> bytearray:
        """For each hunk whether HEAD has a telling line that it brought, or that replaced such a line.

        Asked line by line, 300 rewritings of one line took four times as long as 150.
        """
        hunks = self.weave.hunks
        found = bytearray(len(hunks))
        for number in range(len(hunks) - 1, BASE, -1):
            is_record = self.weave.owner_of(number) is not None
            again = (x for x in hunks[number].undels if is_record and (x, number) not in self.put_back)
            found[number] = any(
                (self.in_head[x] and self.weave.says(x)) or self._went_by(x, found, number)
                for x in (*hunks[number].births, *again)
            )
        return found


def pieces(
    head: bytes | None,
    disk: bytes | None,
    steps: Sequence[Step],
    held: Held = lambda _: (),
    heads: Heads = tuple,
    has: Held = lambda _: (),
    *,
    exists: bool = True,
) -> Pieces:
    """Read the steps of a path, and place HEAD among its lines.

    ``exists`` is False for a file that HEAD has under another name.
    """
    weave = fold(steps, disk)
    moves = {step.key for step in steps if step.moved}
    undos = {step.key for step in steps if step.undoes}
    offered = {step.key: step.after is None for step in steps if step.offered}
    found = _Credits(
        weave, set(split_lines(head)), held=held, has=has, moves=moves, undos=undos, offered=offered
    )
    changes = found.run()
    foreign = len(weave.hunks)
    made = Hunk()
    made.unit = len(weave.units)
    weave.hunks.append(made)
    in_head = place_head(weave, head, foreign)
    weave.units.append(Unit("", None, -1))
    weave.units[made.unit].hunks.append(foreign)
    for line in made.births:
        changes[line] = [(foreign, False, foreign)]
    in_head[EXISTS] = head is not None and exists
    # who moves a file takes all of it away
    told = set() if any(step.moved for step in steps) else {step.key for step in steps if step.head}
    for line in filter(in_head.__getitem__, changes):
        if _is_heads_since(weave, changes[line], line, held, told):
            changes[line].append((foreign, False, foreign))
    for line, rows in changes.items():
        at, stands, credit = rows[-1]
        if stands and not in_head[line] and (line, credit) in found.put_back:
            rows[-1] = at, stands, found.put_back[line, credit]
    known = Pieces(weave, head, disk, in_head, changes, foreign, heads, found.put_back)
    in_head[NEWLINE] = ends_with_newline(head) if head else known.on_disk(NEWLINE)
    for line in (EXISTS, NEWLINE, *weave.order()):
        if not (in_head[line] and line not in changes) and bool(in_head[line]) != known.on_disk(line):
            known.by_unit.setdefault(known.unit(line), []).append(line)
    return known


def _is_heads_since(
    weave: Weave, rows: Sequence[Change], line: int, held: Held, told: Container[str]
) -> bool:
    """Tell whether HEAD got a line only after the session that wrote it had taken it back.

    `told` are the steps of which is known what HEAD was then.
    """
    at, stands, taker = rows[-1]
    who = weave.owner_of(taker)
    taker = at if weave.owner_of(at) == who else taker  # who took it away again, after HEAD got it
    if stands or who is None or weave.steps[weave.unit_of(taker).step] not in told:
        return False
    writer = weave.birth[line] if line > NEWLINE else next((c for _, s, c in rows if s), BASE)
    then = held(weave.steps[weave.unit_of(taker).step])
    return weave.owner_of(writer) == who and (weave.content(line) not in then if line > NEWLINE else not then)


class _Credits(_States):
    """Goes through the hunks of a weave in order and says which hunk has the credit for each change."""

    def __init__(
        self,
        weave: Weave,
        in_head: Container[bytes],
        held: Held,
        has: Held,
        moves: Container[str],
        undos: Container[str],
        offered: Mapping[str, bool],
    ) -> None:
        self.weave, self.held, self.has, self.moves, self.undos = weave, held, has, moves, undos
        self.in_head = in_head
        self.offered = offered
        """For each gap that a session's command may have made whether the file is gone after it."""
        self.changes: dict[int, list[Change]] = {}
        self.takers: dict[int, dict[int, None]] = {}
        """For each line the hunks that took it away and brought something, the latest last."""
        self.put_back = dict[tuple[int, int], int]()
        """See `Pieces`."""
        # All lines of a hunk ask for it: an undo of 4,000 lines took 9 s without the answers to this and to
        # `_was_held`.
        self.are_back = dict[tuple[int, str], bool]()
        self.are_undone = dict[tuple[int, int], bool]()
        self.were_replaced = dict[int, bool]()
        # a file that a session's command may have removed is not as it was when another one had removed it
        steps = ((at, then, weave.steps[weave.unit_of(at).step]) for at, then in weave.returns)
        self.returned = {at: then for at, then, step in steps if not offered.get(step)}
        for line in (EXISTS, NEWLINE):
            ops = weave.ops[line]
            if ops and ops[0] == BASE << 1:
                self.changes[line] = [(BASE, False, BASE)]

    def run(self) -> dict[int, list[Change]]:
        weave, at = self.weave, 1
        while at < len(weave.hunks):
            step, first = weave.unit_of(at).step, at
            while at < len(weave.hunks) and weave.unit_of(at).step == step:
                at += 1
            if weave.owner_of(first) is None:
                self._gap(first, at)
            else:
                self._record(first, at, weave.steps[step])
        return self.changes

    def _set(self, line: int, hunk: int, stands: bool, credit: int) -> None:
        self.changes.setdefault(line, []).append((hunk, stands, credit))
        if not stands and self.weave.hunks[credit].births:
            takers = self.takers.setdefault(line, {})
            takers.pop(credit, None)
            takers[credit] = None

    def _record(self, first: int, last: int, key: str) -> None:
        weave = self.weave
        back = {line for n in range(first, last) for line in weave.hunks[n].undels}
        # who takes his own deletion back, with nothing new in the file, is not its maker
        taker = weave.owner_of(self.changes.get(EXISTS, [(BASE, False, BASE)])[-1][0])
        is_old = taker == weave.owner_of(first) and not any(weave.hunks[n].births for n in range(first, last))
        made_anew = {NEWLINE} if is_old else {NEWLINE, EXISTS}
        for n in range(first, last):
            made = weave.hunks[n]
            for line in made.dels:
                old = self._was_taken_by(line, back, key)
                old = self._was_gone_by(line, n, key) if old is None else old
                self._set(line, n, False, n if old is None or self._does_anew(line, old, n, key) else old)
            for line in made.undels:
                old = self.stood_by(line)
                is_anew = self._does_anew(line, old, n, key) or self._had_been_held(line, old, key)
                if self._is_in_head(line, key):
                    self.put_back[line, n] = old
                self._set(line, n, True, n if is_anew or line in made_anew else old)

    def _does_anew(self, line: int, old: int, hunk: int, key: str) -> bool:
        """Tell whether a record does what others had done, and was not the one to undo that; a move never.

        Nor does who takes away what had come in its place, and was never committed: he undoes another's edit.
        """
        if key in self.moves or self._undoes(line, hunk, key):
            return False
        who, changes = self.weave.owner_of(hunk), self.changes.get(line, ())
        did_last = self.weave.owner_of(changes[-1][0]) if changes else None
        return who not in (self.weave.owner_of(old), did_last)

    def _undoes(self, line: int, hunk: int, key: str) -> bool:
        """Tell whether a hunk takes away what had come in the place of a line, and HEAD never had."""
        weave, changes = self.weave, self.changes.get(line, [])
        if not changes or changes[-1][1]:
            return False
        taker = changes[-1][0]
        if (taker, hunk) not in self.are_undone:
            instead = weave.hunks[taker].births
            is_gone = any(map(weave.says, instead)) and set(instead) <= set(weave.hunks[hunk].dels)
            self.are_undone[taker, hunk] = is_gone and not self._was_held(taker, key)
        return self.are_undone[taker, hunk]

    def _had_been_held(self, line: int, old: int, key: str) -> bool:
        """Tell whether HEAD had had a line that comes back: any line of the hunk that brought it.

        A gap may have brought in one hunk what git pulled and what a person typed. So of a telling line HEAD
        had had itself, or what had come in its place.
        """
        if line in self.weave.hunks[old].undels:
            return self._is_held(line, key)
        if old == BASE or not self.weave.says(line) or not self._was_held(old, key):
            return self._was_held(old, key)
        rows = self.changes.get(line, [])
        return self._is_held(line, key) or any(self._was_held(taker, key) for taker, *_ in rows[-1:])

    def _is_in_head(self, line: int, key: str) -> bool:
        """Tell whether HEAD had a telling line when a step was recorded."""
        return self.weave.says(line) and self.weave.content(line) in self.has(key)

    def _is_held(self, line: int, key: str) -> bool:
        """Tell whether HEAD had had a telling line by the time of a step."""
        return self.weave.says(line) and self.weave.content(line) in self.held(key)

    def _was_taken_by(self, line: int, back: set[int], key: str) -> int | None:
        """The earlier hunk that took a line away, if everything that it had brought comes back; else None."""
        for credit in reversed(self.takers.get(line, {})):
            if (credit, key) not in self.are_back:
                self.are_back[credit, key] = back.issuperset(self.weave.hunks[credit].births)
            if self.are_back[credit, key] and not self._was_held(credit, key):
                return credit
        return None

    def _was_gone_by(self, line: int, hunk: int, key: str) -> int | None:
        """The hunk that had taken a line, where a session only puts it back and takes it again.

        By an undo, or a line that HEAD had.
        """
        changes, who = self.changes.get(line, ()), self.weave.owner_of
        if len(changes) < 2 or not changes[-1][1] or changes[-2][1] or who(changes[-1][0]) != who(hunk):
            return None
        is_known = key in self.undos or (line, changes[-1][0]) in self.put_back
        return changes[-2][2] if is_known else None

    @remembered
    def _was_held(self, hunk: int, key: str) -> bool:
        """Tell whether HEAD had, by the time of a step, what a hunk brought."""
        if hunk == BASE:
            return True
        lines = [self.weave.content(line) for line in self.weave.hunks[hunk].births if line > NEWLINE]
        held = self.held(key) if lines else ()
        return any(line in held for line in lines if is_telling(line))

    def _gap(self, first: int, last: int) -> None:
        weave, then = self.weave, self.returned.get(first)
        numbers = range(first, last)
        for n in numbers:
            for line, stands in (
                *((x, False) for x in weave.hunks[n].dels),
                *((x, True) for x in weave.hunks[n].undels),
            ):
                was = None if then is None else self.was(line, then)
                if stands and self._is_of_gap(line):
                    self._set(line, n, stands, n)
                elif was is not None and was[1] == stands:
                    self._set(line, n, stands, was[2])
                else:
                    self._set(line, n, stands, self.stood_by(line) if stands else n)
        if then is not None:
            self._as_it_was(first, then)
            return
        for n in numbers:
            self._took_the_rest(n, weave.hunks[n])
            if self.offered.get(weave.steps[weave.unit_of(n).step], True):
                self._did_again(n, weave.hunks[n])

    def _is_of_gap(self, line: int) -> bool:
        """Tell whether a line that a gap brings back is its own: HEAD has what a record put in its place."""
        at, _, credit = self.changes[line][-1]
        if self.weave.owner_of(at) is None or self.weave.steps[self.weave.unit_of(at).step] in self.moves:
            return False
        if credit not in self.were_replaced:
            made = self.weave.hunks[credit]
            again = (x for x in made.undels if (x, credit) not in self.put_back)
            came = [self.weave.content(x) for x in (*made.births, *again) if self.weave.says(x)]
            self.were_replaced[credit] = any(x in self.in_head and x in self.held(GAP) for x in came)
        return self.were_replaced[credit]

    def _as_it_was(self, first: int, then: int) -> None:
        """Where an old text is back, give each line that is gone now, as it was then, its owner of then."""
        for line, changes in self.changes.items():
            at, stands, credit = changes[-1]
            was = self.was(line, then) if then <= at < first else None
            if was is not None and not stands and not was[1] and was[2] != credit:
                changes.append((first, stands, was[2]))

    def _took_the_rest(self, number: int, gap: Hunk) -> None:
        """Where a gap brings back only a part of what went, the gap itself took the rest away."""
        for line in gap.undels if gap.births else ():
            killers = [change[0] for change in self.changes.get(line, ()) if not change[1]]
            for other in self.weave.hunks[killers[-1]].dels if killers else ():
                if other > NEWLINE and not self.on_disk(other) and other not in gap.dels:
                    self._set(other, number, False, number)

    def _is_there(self, line: int) -> bool:
        """Tell whether the file has a line, or all that came in its place."""
        instead = self.weave.hunks[self.credit(line)].births
        return self.on_disk(line) or (bool(instead) and all(map(self.on_disk, instead)))

    def _did_again(self, number: int, gap: Hunk) -> None:
        """A removal by a gap is credited to a record that made the same removal before.

        What the record put there must stand there again, or what came in its place.
        """
        again = dict[int, bool]()
        for line in gap.dels:
            changes = self.changes[line]
            before = [c for _, stands, c in changes[:-1] if not stands and self.weave.owner_of(c) is not None]
            # where a record brought it back since, and HEAD had lost it, the gap does nothing again
            back = changes[-2][0] if before else BASE
            if before and (self.weave.owner_of(back) is None or (line, back) in self.put_back):
                record = before[-1]
                if record not in again:
                    again[record] = self._is_again(gap, record)
                if again[record]:
                    changes[-1] = (number, False, record)

    def _is_again(self, gap: Hunk, record: int) -> bool:
        """Tell whether a gap did what a record had done: the rest of that is still done, too."""
        made, gone = self.weave.hunks[record], set(gap.dels)
        if EXISTS in gone and EXISTS not in made.dels:
            return False  # a deleted file takes its lines along, whoever had taken them before
        is_there = all(map(self._is_there, made.births)) if made.births else not gap.births
        rest = [x for x in made.dels if x not in gone]
        return is_there and all(not self.on_disk(x) and self.credit(x) == record for x in rest)

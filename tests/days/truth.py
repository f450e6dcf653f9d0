"""Ground truth of a day: who wrote and who took away each line and word of each file, and when.

Every word is unique and carries its author, and the files are looked at after every step, so nothing
here needs the tool's records. Must not import the code under test.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

GIT = "git"
HUMAN = "h"
_WORD = re.compile(r"[a-z]+\d*_\d+_\d+")

Text = tuple[str, ...] | None
"""The lines of a file; None where there is none."""
Files = Mapping[str, Text]
Key = tuple[str, str]
"""A file, and a line or word in it."""

_words: dict[str, tuple[str, ...]] = {}


def words(line: str) -> tuple[str, ...]:
    """The tagged words of a line; noise has none."""
    found = _words.get(line)
    if found is None:
        if len(_words) > 200_000:
            _words.clear()
        found = _words[line] = tuple(_WORD.findall(line))
    return found


def words_of(lines: Iterable[str]) -> set[str]:
    """All words of some lines."""
    return {word for line in lines for word in words(line)}


def lines_of(text: Text) -> set[str]:
    """The lines that tell who wrote them."""
    return {line for line in text or () if words(line)}


def author(word: str) -> str:
    """Who wrote a word first; it says so."""
    return word.partition("_")[0]


@dataclass(slots=True)
class Fact:
    """What happened to one line or word of one file on disk. Events are (step, actor)."""

    there: bool = False
    put: tuple[int, str] = (0, "")
    gone: tuple[int, str] = (-1, "")
    away: int = -1
    """Since when it was gone when it was put there last."""
    since: int = -1
    """The step that first put it there; -1 for what stood there from the start, or never."""
    edit: tuple[int, str, bool] = (0, "", False)
    """The last edit by a person or session that put (True) or removed it; git's doings do not count."""
    first: str = ""
    """Who put it on disk first: who brings it back by an undo is not its author."""
    put_by: set[str] = field(default_factory=set)
    gone_by: set[str] = field(default_factory=set)


@dataclass
class Truth:
    """All that happened to the files of one day."""

    facts: dict[Key, Fact] = field(default_factory=dict)
    replaced_by: dict[Key, dict[str, int]] = field(default_factory=dict)
    """A line, and those that an edit put in its place, with the last step that did."""
    replaces: dict[Key, dict[str, int]] = field(default_factory=dict)
    exchanged: dict[Key, dict[str, int]] = field(default_factory=dict)
    """As `replaced_by`, with what git put in the place of lines too."""
    in_head: set[str] = field(default_factory=set)
    """Words that some HEAD had."""
    agreed: dict[str, list[tuple[int, int, str]]] = field(default_factory=dict)
    """A file was as in HEAD after this step, and HEAD's text of it since that step, with that commit."""
    stood: dict[Key, dict[str, int]] = field(default_factory=dict)
    """A line, and the commits that had it while the file was as in HEAD, each with the last such step."""
    arrived: dict[Key, dict[str, int]] = field(default_factory=dict)
    """A line that the file had when HEAD got it, and the commits that brought it, each with that step."""
    head: dict[str, tuple[int, Text]] = field(default_factory=dict)
    """File to HEAD's text of it, and the step after which it became that."""
    over_noise: dict[Key, set[str]] = field(default_factory=dict)
    """Lines that came in the place of one without a word, and who had ever put one like it there."""
    noise: dict[Key, set[str]] = field(default_factory=dict)
    """A line without a word, and who put one like it there."""
    held: dict[Key, set[str]] = field(default_factory=dict)
    """A line, and the commits that brought it into HEAD."""
    lacked: dict[Key, set[str]] = field(default_factory=dict)
    """A line, and the commits with which HEAD lost it."""
    follow: dict[Key, bool] = field(default_factory=dict)
    """A line that a person corrected: can the tool tell that this was all that happened there?"""
    within: dict[Key, str] = field(default_factory=dict)
    """A line that a person wrote, and the session within whose pending lines he did."""
    deleted: dict[tuple[str, int], str] = field(default_factory=dict)
    """Files and the steps that took them away, and who did."""
    absent: dict[Key, list[tuple[int, int]]] = field(default_factory=dict)
    """A line, and the steps between which HEAD had lost it; 1 << 30 for one that is still out."""
    returned: dict[tuple[str, int], int] = field(default_factory=dict)
    """A file and the step at which git put back what it had taken off the disk, and when it had."""
    _put_away: dict[str, list[tuple[int, Text]]] = field(default_factory=dict)
    """File to the texts that git took off the disk, each with the step."""
    _gap: dict[str, list[Key]] = field(default_factory=dict)
    """File to the corrections since its last recorded edit; absent where nothing happened since."""
    _seen: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """File to its text before a person's changes since the last recorded edit or git's last word."""

    def fact(self, path: str, token: str) -> Fact:
        """What is known of a token; an empty fact where it never was on disk."""
        found = self.facts.get((path, token))
        if found is None:
            found = self.facts[path, token] = Fact()
        return found

    def observe(self, step: int, actor: str, before: Files, after: Files, head: Files) -> None:
        """An actor changed the files; `GIT` only moves what others wrote."""
        # a line that a moved file brought is HEAD's where it stands there at the old path
        everywhere = set[str]().union(*map(lines_of, head.values()))
        for path in before.keys() | after.keys():
            old, new = before.get(path), after.get(path)
            if old != new:
                if actor in (GIT, HUMAN):
                    self._note_gap(actor, path, old or (), new or (), everywhere)
                else:
                    self._gap.pop(path, None)
                self._observe(step, actor, path, old, new)
                if actor == GIT:
                    self._note_put_away(step, path, old, new)
                if actor == HUMAN:
                    self._note_within(path, old, new, lines_of(head.get(path)))
                    self._note_amid_noise(path, old or (), new or (), head.get(path) or ())
                    self._pair_seen(step, path, self._seen.setdefault(path, old or ()), new or ())
                else:
                    self._seen.pop(path, None)

    def _note_within(self, path: str, old: Text, new: Text, head: set[str]) -> None:
        """What a person writes between two pending lines of one session is within its block."""
        made = lines_of(new) - lines_of(old)
        text = [line for line in new or () if words(line)]
        for at, line in enumerate(text):
            rims = [
                next((one for one in way if one not in made), None) for way in (text[:at][::-1], text[at:])
            ]
            if line in made and not head.intersection(filter(None, rims)):
                edits = [self.fact(path, rim).edit for rim in rims if rim is not None]
                writers = {actor for _, actor, put in edits if put}
                if len(edits) == 2 and len(writers) == 1 and all(put for _, _, put in edits):
                    self.within[path, line] = writers.pop()

    def _note_amid_noise(
        self, path: str, old: tuple[str, ...], new: tuple[str, ...], head: tuple[str, ...]
    ) -> None:
        """The same between two lines without words that one session put in the place of a line of HEAD."""
        match = difflib.SequenceMatcher(None, old, new, autojunk=False)
        places = [(a, new[c:d]) for tag, a, _, c, d in match.get_opcodes() if tag == "insert"]
        pending = difflib.SequenceMatcher(None, head, old, autojunk=False)
        blocks = [(head[a:b], c, d) for tag, a, b, c, d in pending.get_opcodes() if tag == "replace"]
        for at, made in places:
            whose = self._whose_block(path, old[max(at - 1, 0) : at + 1], set(head))
            if whose:
                self.within.update(dict.fromkeys(((path, line) for line in made), whose))
            for gone, start, stop in blocks:
                edits = [self.fact(path, line).edit for line in gone if words(line)]
                edits += [self.fact(path, line).edit for line in old[start:stop] if words(line)]
                writers = {actor for _, actor, _ in edits}
                if start < at < stop and len(writers) == 1:
                    self.within.update(dict.fromkeys(((path, line) for line in made), writers.copy().pop()))

    def _whose_block(self, path: str, rims: tuple[str, ...], head: set[str]) -> str:
        """Who wrote a pending line and the brace beside it, between which a person writes."""
        told = [line for line in rims if words(line) and line not in head]
        blank = [line for line in rims if not words(line)]
        if len(told) != 1 or len(blank) != 1:
            return ""
        _, who, put = self.fact(path, told[0]).edit
        return who if put and who[:1] == "s" and who in self.noise.get((path, blank[0]), ()) else ""

    def _note_put_away(self, step: int, path: str, old: Text, new: Text) -> None:
        """A stash and its pop: that the file was as in HEAD in between says nothing."""
        away = self._put_away.setdefault(path, [])
        since = max((at for at, text in away if text == new), default=step)
        if since < step:
            self.returned[path, step] = since
        self.agreed[path] = [row for row in self.agreed.get(path, []) if row[0] < since]
        away.append((step, old))

    def _note_gap(
        self, actor: str, path: str, old: tuple[str, ...], new: tuple[str, ...], head: set[str]
    ) -> None:
        """One line of a session's, corrected or taken out with nothing else changed, is to be followed."""
        alone = path not in self._gap
        fresh = self._gap.setdefault(path, [])
        for key in fresh:
            self.follow[key] = False
        changed = hunks(old, new)
        if actor == GIT or len(changed) != 1 or len(changed[0][0]) != 1 or len(changed[0][1]) > 1:
            return
        line = changed[0][0][0]
        _, who, put = self.fact(path, line).edit
        if words(line) and put and who[:1] == "s" and line not in head:
            self.follow[path, line] = alone
            fresh.append((path, line))

    def _observe(self, step: int, actor: str, path: str, old: Text, new: Text) -> None:
        if new is None:
            self.deleted[path, step] = actor
        old_lines, new_lines = lines_of(old), lines_of(new)
        old_words, new_words = words_of(old_lines), words_of(new_lines)
        for token in (old_lines - new_lines) | (old_words - new_words):
            found = self.fact(path, token)
            found.there, found.gone = False, (step, actor)
            if actor != GIT:
                found.edit = (step, actor, False)
                found.gone_by.add(actor)
        for token in (new_lines - old_lines) | (new_words - old_words):
            found = self.fact(path, token)
            if not found.first and found.gone[0] < 0:
                found.since = step
            found.there, found.put, found.first = True, (step, actor), found.first or actor
            found.away = found.gone[0]
            if actor != GIT:
                found.edit = (step, actor, True)
                found.put_by.add(actor)
        self._pair(step, actor, path, old or (), new or ())

    def _pair(self, step: int, actor: str, path: str, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        for one, other in hunks(old, new):
            # a line that only moved did not come in the place of others
            gone, made = lines_of(one) - lines_of(new), lines_of(other) - lines_of(old)
            blank = [line for line in one if not words(line)]
            if blank:
                names = set[str]().union(*(self.noise.get((path, line), ()) for line in blank))
                self.over_noise |= {(path, line): names for line in made}
            for line in other if actor != GIT else ():
                if not words(line):
                    self.noise.setdefault((path, line), set()).add(actor)
            for line in gone:
                self.exchanged.setdefault((path, line), {}).update(dict.fromkeys(made, step))
                if actor != GIT:
                    self.replaced_by.setdefault((path, line), {}).update(dict.fromkeys(made, step))
            for line in made if actor != GIT else ():
                self.replaces.setdefault((path, line), {}).update(dict.fromkeys(gone, step))

    def _pair_seen(self, step: int, path: str, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        """Who looks only now cannot tell a line rewritten from one taken out with another put there later."""
        for one, other in hunks(old, new):
            gone, made = lines_of(one) - lines_of(other), lines_of(other) - lines_of(one)
            for line in made:
                self.replaces.setdefault((path, line), {}).update(dict.fromkeys(gone, step))

    def agree(self, step: int, commit: str, head: Files, disk: Files) -> None:
        """Note where file and HEAD are the same after a step."""
        for path in head.keys() | disk.keys() | self.head.keys():
            text = head.get(path)
            if path not in self.head or self.head[path][1] != text:
                for line in lines_of(self.head.get(path, (0, None))[1]) - lines_of(text):
                    self.lacked.setdefault((path, line), set()).add(commit)
                    self.absent.setdefault((path, line), []).append((step, 1 << 30))
                for line in lines_of(text) - lines_of(self.head.get(path, (0, None))[1]):
                    if (path, line) in self.absent:
                        self.absent[path, line][-1] = self.absent[path, line][-1][0], step
                    if line in lines_of(disk.get(path)):
                        self.arrived.setdefault((path, line), {})[commit] = step
                self.head[path] = (step, text)
                self.in_head |= words_of(text or ())
                for line in lines_of(text):
                    self.held.setdefault((path, line), set()).add(commit)
            if text == disk.get(path):
                rows = self.agreed.setdefault(path, [])
                if rows and rows[-1][2] == commit:
                    rows.pop()
                rows.append((step, self.head[path][0], commit))
                for line in lines_of(text):
                    self.stood.setdefault((path, line), {})[commit] = step

    def stood_for(self, path: str, line: str) -> set[str]:
        """All lines that a line stands in the place of, directly or through others."""
        return self._closure(self.replaces, path, line, 0, forward=False)

    def stands_in(self, path: str, line: str, since: int = 0) -> set[str]:
        """All lines that came in the place of a line since a step, directly or through others."""
        return self._closure(self.replaced_by, path, line, since, forward=True)

    def came_after(self, path: str, line: str) -> set[str]:
        """As `stands_in`, whoever put it there."""
        return self._closure(self.exchanged, path, line, 0, forward=True)

    @staticmethod
    def _closure(
        edges: Mapping[Key, Mapping[str, int]], path: str, line: str, since: int, *, forward: bool
    ) -> set[str]:
        """Follow the edges in the order of time: an undo puts back what stood there, not what came."""
        found: set[str] = set()
        todo = [(line, since if forward else 1 << 30)]
        while todo:
            one, when = todo.pop()
            for other, step in edges.get((path, one), {}).items():
                if other not in found and (step >= when if forward else step <= when):
                    found.add(other)
                    todo.append((other, step + 1 if forward else step - 1))
        return found


def hunks(old: tuple[str, ...], new: tuple[str, ...]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The changed stretches between two texts."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    one, other = old[start : len(old) - end], new[start : len(new) - end]
    if not one or not other or len(one) == len(other) == 1:
        return [(one, other)] if one or other else []
    match = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return [(one[a:b], other[c:d]) for tag, a, b, c, d in match.get_opcodes() if tag != "equal"]

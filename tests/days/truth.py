"""Ground truth of a day: who wrote and who took away each line and word of each file.

Every word is unique and the files are looked at after every step, so nothing here needs the tool's
records. What git does moves lines that others wrote: it is nobody's edit. Must not import the code under
test.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

GIT = "git"
HUMAN = "h"
_WORD = re.compile(r"[a-z]\w*_\d+_\d+")

FILE = ""
"""Stands for the file itself among its lines."""

Text = tuple[str, ...] | None
"""The lines of a file; None where there is none."""
Files = Mapping[str, Text]
Key = tuple[str, str]
"""A file, and a line or word in it."""

written = _WORD.findall
"""The words of a line, as they stand there."""

_words: dict[str, tuple[str, ...]] = {}


def words(line: str) -> tuple[str, ...]:
    """The tagged words of a line, marked so that none is a line itself; noise has none."""
    found = _words.get(line)
    if found is None:
        if len(_words) > 200_000:
            _words.clear()
        found = _words[line] = tuple(f"{word}." for word in written(line))
    return found


def words_of(lines: Iterable[str] | None) -> set[str]:
    """All words of some lines."""
    return {word for line in lines or () for word in words(line)}


def lines_of(text: Text) -> set[str]:
    """The lines that tell who wrote them."""
    return {line for line in text or () if words(line)}


@dataclass(frozen=True)
class Edit:
    """The last edit of a line: it put it there or took it away."""

    step: int = 0
    actor: str = GIT
    put: bool = False
    again: bool = False
    """Git or a person had undone it, and a person did it again: the session's, or nobody's."""


UNSEEN = Edit()
"""Of a line that nobody put or took away; git may have."""


@dataclass
class Truth:
    """All that happened to the files of one day."""

    author: dict[str, str] = field(default_factory=dict)
    """A line or word, and who put it on disk first, in whatever file; git, where it came from elsewhere."""
    former: dict[str, set[str]] = field(default_factory=dict)
    """Of what stood nowhere any more when its author wrote it again: those who had written it before."""
    shared: dict[str, set[str]] = field(default_factory=dict)
    """The same of what git or a person brought back since: nobody can tell whose of them it is."""
    edits: dict[Key, Edit] = field(default_factory=dict)
    bringer: dict[Key, str] = field(default_factory=dict)
    """A line or word, and who put it there last, whatever became of it since."""
    instead: dict[Key, dict[str, int]] = field(default_factory=dict)
    """A line, and those that an edit put in its place, with the last step that did."""
    by_git: dict[Key, dict[str, int]] = field(default_factory=dict)
    """The same of what git put in the place of a line: who takes that away takes the line."""
    takers: dict[Key, set[str]] = field(default_factory=dict)
    """A line or word, and all who ever took it away."""
    by_git_at: dict[Key, int] = field(default_factory=dict)
    """A line or word, and the last step in which git took it away."""
    came_by_git_at: dict[Key, int] = field(default_factory=dict)
    """The same of where git brought it."""
    corrects: dict[Key, set[str]] = field(default_factory=dict)
    """What a person wrote, and the sessions in place of whose lines, or amid whose lines, it came."""
    in_head: set[str] = field(default_factory=set)
    """Words that some HEAD had."""
    head_texts: dict[str, set[Text]] = field(default_factory=dict)
    """File to all texts that HEAD had there."""
    in_history: set[str] = field(default_factory=set)
    """Lines and words of HEAD and the commits before it."""
    equal: dict[str, int] = field(default_factory=dict)
    """File to the last step after which it was as in HEAD: nothing done before it is pending."""
    moves: dict[str, tuple[str, str, set[str]]] = field(default_factory=dict)
    """A file, who moved it there last, from where, and the lines that HEAD has had there since."""
    _moved_texts: dict[tuple[str, Text], tuple[str, str, set[str]]] = field(default_factory=dict)
    """A file and the text with which a move brought it, and that move: git may bring the text back."""
    moved_at: dict[str, int] = field(default_factory=dict)
    """A file, and the step that moved it there: of another file there nothing is left."""
    _histories: dict[str, set[str]] = field(default_factory=dict)
    """Commit to what was in `in_history` when it was HEAD first."""
    _head: set[str] = field(default_factory=set)
    """What HEAD has now."""
    _then: dict[str, tuple[dict[str, int], dict[str, tuple[int, int]]]] = field(default_factory=dict)
    """Commit to what was in `equal` and `_back` when it was HEAD: a reset makes later work pending again."""
    _away: dict[str, dict[Text, tuple[int, int]]] = field(default_factory=dict)
    """File to the texts that git took off the disk, what was in `equal` then, and when: a stash is popped."""
    _back: dict[str, tuple[int, int]] = field(default_factory=dict)
    """File to the steps between which it was edited to the text that git brought back: pending again."""
    _ended: dict[str, Text] = field(default_factory=dict)
    """File to its text when it went: what git brings there again comes in the place of that."""
    _seen: dict[str, tuple[Text, dict[str, Edit]]] = field(default_factory=dict)
    """File to its text, and the last edits, before the person's changes that nothing recorded came after."""

    def authors(self, token: str) -> set[str]:
        """Who wrote a line or word; several where nobody can tell."""
        return {self.author.get(token, GIT), *self.shared.get(token, ())}

    def edit(self, path: str, token: str) -> Edit:
        return self.edits.get((path, token), UNSEEN)

    def observe(
        self,
        step: int,
        actor: str,
        before: Files,
        after: Files,
        heads: Callable[[], tuple[Files, ...]] = tuple,
    ) -> None:
        """An actor changed the files. `heads`: what HEAD had of them before git did, and has now."""
        moved = [] if actor == GIT else _moves(before, after)
        taken = [self._of_others(actor, old, new, before[old]) for old, new in moved]
        self._observe(step, actor, before, after)
        if actor == GIT:
            self._note_moved_head(step, before, after, *heads())
            # `git mv` takes along what came in the place of HEAD's lines and nobody had committed
            for old, new in _moves(before, after):
                came = [(line, lines) for (path, line), lines in self.instead.items() if path == old]
                self.instead |= {(new, line): dict(lines) for line, lines in came}
        # who moves a file back puts the lines there that HEAD had had before it was moved away
        back = {new: [lines for _, start, lines in self.moves.values() if start == new] for _, new in moved}
        # and who moves it on, those that HEAD had had where he took it first
        for old, new in moved:
            if old in self.moves and self.moves[old][0] == actor:
                back[new].append(self.moves[old][2])
        self.moves |= {new: (actor, old, set[str]().union(*back[new])) for old, new in moved}
        self._moved_texts |= {(new, after[new]): self.moves[new] for _, new in moved}
        for path in after if actor == GIT else ():
            if before.get(path) != after[path] and (path, after[path]) in self._moved_texts:
                self.moves[path] = self._moved_texts[path, after[path]]
        self.moved_at |= {new: step for _, new in moved}
        for past in taken:
            for book, lines in past:
                book.update(lines)

    def _of_others(
        self, actor: str, old: str, new: str, text: Text
    ) -> list[tuple[dict[Key, Any], dict[Key, Any]]]:
        """What other sessions did to a file before it was moved, as of its new path.

        Who moves a file writes and takes away none of their lines. What git had undone is not in the text:
        a line that it brought back comes with the file.
        """
        there = _tokens(text)
        theirs = {
            token
            for (path, token), edit in self.edits.items()
            if path == old and edit.put == (token in there)
            if (edit.actor[:1] == "s" and (edit.actor != actor or not edit.put))
            or self.corrects.get((old, token))
        }
        books: list[dict[Key, Any]] = [self.edits, self.bringer]
        wanted = {(old, token): (new, token) for token in theirs - {FILE}}
        found = [(book, {wanted[key]: book[key] for key in wanted.keys() & book.keys()}) for book in books]
        # a session may have replaced what a person had put in the place of a line
        came = {(new, line): dict(lines) for (path, line), lines in self.instead.items() if path == old}
        found.append((self.instead, came))
        # a correction that lies in a stash may come back under the new name
        corrected = {(new, token): names for (path, token), names in self.corrects.items() if path == old}
        return [*found, (self.corrects, corrected)]

    def _observe(self, step: int, actor: str, before: Files, after: Files) -> None:
        # a file that git brings back where a session had moved it leaves as it had left
        left = {old for old, new in _moves(before, after) if after[new] not in self._away.get(new, {})}
        for path in before.keys() | after.keys():
            old, new = before.get(path), after.get(path)
            if old == new:
                continue
            was, now = _tokens(old), _tokens(new)
            if old is None or new is None:  # that a file is there is a line, too
                was, now = was | _there(old), now | _there(new)
            if new is None:
                self._ended[path] = old
            views = [(old or (), new or ())]
            firsts: dict[str, Edit] = {}
            if actor == HUMAN:  # who looks only now cannot tell what he did in two steps
                seen, firsts = self._seen.setdefault(path, (old, {}))
                views.append((seen or (), new or ()))
                for view in views:
                    self._note_corrections(path, *view)
            else:
                self._seen.pop(path, None)
            if actor == GIT:
                away = self._away.setdefault(path, {})
                stashed = self._stashed(path, old, new)
                if stashed and path not in left:  # by `mv` a file is gone, too, not as it was before
                    self._back[path] = stashed
                away[old] = self.equal.get(path, 0), step
            for token in now - was:
                if actor in (GIT, HUMAN) and token in self.former:
                    self.shared[token] = self.former[token]
                if actor in self.former.get(token, ()):  # and takes back now what he did to another's
                    self.shared.setdefault(token, set()).add(actor)
                if actor[:1] == "s" and self._is_anew(token, actor, path, before):
                    self.former.setdefault(token, set()).add(self.author[token])
                    self.author[token] = actor
                    self.shared.pop(token, None)
                self.author.setdefault(token, actor)
            if actor == GIT:
                there = self._ended.get(path) if old is None else old
                self.by_git_at |= dict.fromkeys(((path, one) for one in _tokens(there) - now), step)
                self.came_by_git_at |= dict.fromkeys(((path, one) for one in now - was), step)
                self._pair(step, path, there or (), new or (), self.by_git)
            else:
                for token in was - now:
                    self.takers.setdefault((path, token), set()).add(actor)
                for token in was ^ now:
                    last = self.edit(path, token)
                    # a person who does again what git or he had undone: no record tells that from its having
                    # been so all the time
                    known = (last, firsts.setdefault(token, last)) if actor == HUMAN else ()
                    done = [one for one in known if one.actor[:1] == "s" and one.put == (token in now)]
                    # who had deleted the file had taken no line out of it
                    whole = self.edit(path, FILE)
                    is_line = FILE not in was ^ now and not whole.put
                    done = [one for one in done if not (is_line and one.step == whole.step)]
                    edit = replace(done[0], again=True) if done else Edit(step, actor, token in now)
                    self.edits[path, token] = edit
                    if token in now:
                        self.bringer[path, token] = edit.actor
                for view in views:
                    self._pair(step, path, *view, self.instead)

    def _note_moved_head(self, step: int, before: Files, after: Files, *heads: Files) -> None:
        """Git lays the file's own changes aside, moves HEAD, and puts what is left of them on top."""
        old, new = heads or ({}, {})
        for path in old.keys() & new.keys() & after.keys():
            if before.get(path) != after[path] and old[path] != new[path]:
                there = lines_of(after[path])
                made = tuple(line for line in new[path] or () if line in there or line in (old[path] or ()))
                self._pair(step, path, old[path] or (), made, self.by_git)

    def _is_anew(self, token: str, actor: str, path: str, before: Files) -> bool:
        """Tell whether a session writes again what others had written, and had not taken it away."""
        if token in (FILE, *self._head) or self.edit(path, token).actor == actor:
            return False
        is_known = self.author.get(token, actor) != actor
        return is_known and not any(token in _tokens(text) for text in before.values())

    def _stashed(self, path: str, old: Text, new: Text) -> tuple[int, int] | None:
        """Where git had taken off what it brings now: the whole text, or its lines, since HEAD moved on."""
        came, away = lines_of(new) - lines_of(old), self._away[path]
        found = [when for text, when in away.items() if text == new or (came and came <= lines_of(text))]
        return found[-1] if found else None

    def _pair(
        self,
        step: int,
        path: str,
        old: tuple[str, ...],
        new: tuple[str, ...],
        instead: dict[Key, dict[str, int]],
    ) -> None:
        for gone, made in hunks(old, new):
            for line in lines_of(gone) - lines_of(new):
                fresh = dict.fromkeys(lines_of(made) - lines_of(old), step)
                instead.setdefault((path, line), {}).update(fresh)

    def _note_corrections(self, path: str, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        for gone, made in hunks(_telling(old), _telling(new)):
            fresh = (lines_of(made) | words_of(made)) - lines_of(old) - words_of(old)
            names = set[str]().union(*(self._brought(path, line) for line in gone))
            for text in (new, _telling(new)) if made else ():
                start, stop = text.index(made[0]), text.index(made[-1]) + 1
                rims = [text[start - 1], text[stop]] if start > 0 and stop < len(text) else []
                # a line without a word may be anybody's
                beside = [self._brought(path, line) for line in rims if words(line)]
                names |= set[str].intersection(*beside) if beside else set()
            for token in fresh:
                self.corrects[path, token] = self.corrects.get((path, token), set()) | names

    def _brought(self, path: str, line: str) -> set[str]:
        """The sessions that wrote a line first or last, or whose line a person changed to it."""
        last, first = self.bringer.get((path, line), ""), self.author.get(line, "")
        writers = {name for name in (last, first) if name[:1] == "s"}
        # who only brings a person's correction back has not written the line anew
        is_written = last[:1] == "s" and first != HUMAN
        return writers if is_written else writers | self.corrects.get((path, line), set())

    def compare(
        self, step: int, head: Files, disk: Files, commit: str = "", reset_to: Iterable[str] = ()
    ) -> None:
        """Note what HEAD holds after a step, and where the file holds the same.

        `reset_to`: HEAD was reset to the first of these commits, and the others are its ancestors. Git may
        have made it in the middle of a rebase, where no step ended.
        """
        seen = next((one for one in reset_to if one in self._then), None)
        if seen is not None:
            equal, back = self._then[seen]
            # a reset takes nothing off the disk: what git had brought back there is still back
            self.equal, self._back = dict(equal), back | self._back
        for _, old, lines in (*self.moves.values(), *self._moved_texts.values()):
            lines |= lines_of(head.get(old))
        self._head = set[str]().union(*map(_tokens, head.values()))
        self.in_history = self._histories.setdefault(commit, self.in_history | self._head)
        for path in head.keys() | disk.keys() | self._ended.keys():
            self.in_head |= words_of(head.get(path))
            self.head_texts.setdefault(path, set()).add(head.get(path))
            if head.get(path) == disk.get(path):
                self.equal[path] = step
                self._back.pop(path, None)
        self._then[commit] = dict(self.equal), dict(self._back)

    def moved_from(self, path: str) -> tuple[str, str, frozenset[str]]:
        """Who moved a file here, from where, and what lines HEAD has had there since; empty for no move."""
        mover, old, lines = self.moves.get(path, ("", "", ()))
        return mover, old, frozenset(lines)

    def old_paths(self, path: str) -> list[str]:
        """The paths that a file had before, the last first: another may have been at each of them."""
        found: list[str] = []
        while path in self.moves and self.moves[path][1] not in found:
            path = self.moves[path][1]
            found.append(path)
        return found

    def is_agreed(self, path: str, step: int) -> bool:
        """Tell whether the file was as in HEAD after a step, and git brought nothing back of that step."""
        first, last = self._back.get(path, (0, 0))
        return step <= self.equal.get(path, 0) and not first < step <= last

    def brought_again(self, path: str, line: str) -> set[str]:
        """What git or a person put in a line's place, as an edit had done it before, here or elsewhere.

        Also in the place of what another had put there meanwhile, as a stash that is popped over it, and
        where the whole file had gone since.
        """
        lines = {line, *self.came_instead(path, line)}
        edited = {new for (_, old), news in self.instead.items() if old in lines for new in news}
        put_back = {one for one in edited if self.edit(path, one).actor == HUMAN and self.edit(path, one).put}
        by_git = {new for one in lines for new in self.by_git.get((path, one), ())}
        went = self.edit(path, line).step
        by_git |= {one for one in edited if self.came_by_git_at.get((path, one), 0) > went}
        return edited & (by_git | put_back)

    def taken_again(self, path: str, line: str) -> set[str]:
        """Who had taken a line away, here or at the path that the file had, before git did, as of a stash."""
        if self.by_git_at.get((path, line), 0) <= self.edit(path, line).step:
            return set()
        return {who for at in (path, self.moved_from(path)[1]) for who in self.takers.get((at, line), ())}

    def came_instead(self, path: str, line: str, since: int = 0) -> set[str]:
        """All lines that came in the place of a line since a step, directly or through others."""
        found: set[str] = set()
        todo = [(line, since)]
        while todo:
            one, when = todo.pop()
            for other, step in self.instead.get((path, one), {}).items():
                if other not in found and step >= when:
                    found.add(other)
                    todo.append((other, step + 1))
        return found - {line}


def _moves(before: Files, after: Files) -> list[tuple[str, str]]:
    """The files that went at one path and came as they were at one other, where another may have been."""
    gone = [path for path, text in before.items() if text and path not in after]
    came = [path for path, text in after.items() if text and before.get(path) != text]
    found = [(old, new) for old in gone for new in came if before[old] == after[new]]
    olds, news = Counter(old for old, _ in found), Counter(new for _, new in found)
    return [(old, new) for old, new in found if olds[old] == news[new] == 1]


def _telling(text: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line for line in text if words(line))


def _tokens(text: Text) -> set[str]:
    return lines_of(text) | words_of(text)


def _there(text: Text) -> set[str]:
    return set() if text is None else {FILE}


def hunks(old: tuple[str, ...], new: tuple[str, ...]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The changed stretches between two texts."""
    match = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [(old[a:b], new[c:d]) for tag, a, b, c, d in match.get_opcodes() if tag != "equal"]

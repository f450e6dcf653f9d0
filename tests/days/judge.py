"""Judges one `git ralph commit` by what a user may rely on; it knows authors and texts, no rule of the tool.

1. A line that comes stands on disk, or under another session's recorded edit; its last writer is the
   session, or is named in the commit's trailer. 2. A line that goes is off disk, and the session, or one
that is named, took it away last. 3. The staged change is the same before and after. 4. Nothing else moved.
And nothing of the session's stays out unsaid; what a note told need not be told again while all stays so.

FOREIGN   a word or a line that others wrote came, or a line that only others took away went
REVIVED   a line came that is neither on disk nor under another's recorded edit, or one went that is on disk
MADE-UP   a line came that nobody ever wrote
TWICE     a word stands more often than in the parent and on disk
FORGOTTEN a line the session wrote last stays out, or one it took away last stays in, unsaid
STAGED    the staged change is another than before
MOVED     something else changed: a file, an entry of the index, a ref

Must not import the code under test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.days.place import Objects, Shot, as_text
from tests.days.truth import FILE, GIT, HUMAN, Edit, Text, Truth, lines_of, words, words_of

NOBODYS = frozenset([HUMAN, GIT, "base"])
"""Those who are no session: a person's own commit takes what they did."""


@dataclass(frozen=True)
class Fault:
    """What is wrong: a class, what kind of it, where, and the text that shows it."""

    kind: str
    form: str
    path: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.kind} ({self.form}) {self.path}: {self.text}"

    @property
    def name(self) -> str:
        return f"{self.kind} ({self.form})"


@dataclass
class Case:
    """One path of a commit: texts of parent, commit and file, and who may have a part in it."""

    truth: Truth
    who: str
    path: str
    old: Text
    new: Text
    disk: Text
    names: frozenset[str] = frozenset()
    """Those whose lines the commit says it includes."""
    forced: bool = False
    """Others' edits were asked for, not only a person's corrections of the session's own."""
    moved: frozenset[str] = frozenset()
    """Lines that HEAD has had at the path from which the session, or this commit, moved the file."""
    moved_at: int = 0
    """The step in which the session moved another file over this one."""
    landed: frozenset[str] = frozenset()
    """Lines in HEAD under a name that the file had before another session moved it: only the move waits."""
    is_back: bool = False
    """The file is whole as HEAD had it and lost it: every line had been committed."""
    said: bool = True
    """The tool told that something of this path stays out."""
    told: tuple[int, set[str]] = field(default_factory=lambda: (0, set()))
    """When it told so before, and of which lines."""
    faults: list[Fault] = field(default_factory=list)

    def judge(self) -> list[Fault]:
        """Everything wrong with this path."""
        if self.is_back and self.new in (None, self.disk):
            return self.faults
        for line in sorted(lines_of(self.new) - lines_of(self.old) - self.moved):
            self._comes(line)
        for line in sorted(lines_of(self.old) - lines_of(self.new) - self.moved):
            self._goes(line)
        self._count()
        if not self.said:
            self._forgotten()
        return self.faults

    def _fault(self, kind: str, form: str, text: str) -> None:
        self.faults.append(Fault(kind, form, self.path, text))

    # --- 1: what comes ---

    def _comes(self, line: str) -> None:
        known = words_of(self.old) | words_of(self.moved)
        foreign = [word for word in words(line) if word not in known and not self._may_bring(line, word)]
        if foreign:
            name = self.truth.author.get(foreign[0], GIT)
            whose = {HUMAN: "the human's"}.get(name, "a session's" if name[0] == "s" else "git's")
            self._fault("FOREIGN", f"{whose} added", line)
        elif line not in self.truth.author:
            self._fault("MADE-UP", "a line nobody wrote", line)
        elif not self.wrote(line) and not (self.who == HUMAN and line in self.truth.in_history):
            self._fault("FOREIGN", "others' form of a line added", line)
        elif line not in lines_of(self.disk) and (why := self.uncovered(line)):
            self._fault("REVIVED", why, line)

    def _last(self, token: str) -> str:
        return self.truth.bringer.get((self.path, token), GIT)

    def _may_bring(self, line: str, word: str) -> bool:
        """Its author may; so may who brought it back, where HEAD had it once, or what had replaced it.

        A person may bring back what a commit before HEAD had: by hand, or as a revert that is staged.
        """
        if self.who == HUMAN and {word, line} <= self.truth.in_history:
            return True
        writers = self.truth.authors(word)
        came = (words_of((one,)) for one in self.truth.came_instead(self.path, line))
        if any(said <= self.truth.in_head for said in ({word}, *came)):
            writers |= {self._last(word), self._last(line)}
        return self._wrote(word, writers)

    def wrote(self, token: str) -> bool:
        """Tell whether the session, or one that is named, wrote a line or word first or last."""
        return self._wrote(token, {*self.truth.authors(token), self._last(token)})

    def has_hand_in(self, token: str) -> bool:
        """Tell whether it, or one that is named, wrote a line or word or took it away last."""
        return self.wrote(token) or self._may_take(self.truth.edit(self.path, token))

    def _wrote(self, token: str, writers: set[str]) -> bool:
        if self.who == HUMAN:  # what git did is no session's either
            return bool(writers & NOBODYS)
        if writers & ({self.who} | self.names - {HUMAN}):
            return True
        if HUMAN not in self.names:
            return False
        if self.forced:  # what git did is unrecorded too
            return bool(writers & {HUMAN, GIT, "base"})
        return HUMAN in writers and self.who in self.truth.corrects.get((self.path, token), ())

    def uncovered(self, line: str) -> str:
        """Say why a line that is not on disk has no business in a commit; empty where it has."""
        last = self.truth.edit(self.path, line)
        if last.put or last.actor == GIT:
            return "git had taken it away" if last.put else "never seen on disk"
        if last.actor in (self.who, HUMAN):
            return f"{_called(last.actor, self.who)} had taken it away"
        came = self.truth.came_instead(self.path, line, last.step)
        if came & lines_of(self.disk) - lines_of(self.old):
            return ""
        if came & lines_of(self.old):
            return "a text that is in HEAD stands for it"
        ends = {self.truth.edit(self.path, one) for one in came} or {last}
        end = max(ends, key=lambda edit: edit.step)
        if end.put or end.actor == HUMAN:
            return f"{_called(GIT if end.put else HUMAN)} had taken away what replaced it"
        if self.truth.is_agreed(self.path, end.step):
            return "somebody had taken it away, and HEAD agrees"
        return ""

    # --- 2: what goes ---

    def _goes(self, line: str) -> None:
        if line in lines_of(self.disk):
            self._fault("REVIVED", "removed a line still on disk", line)
            return
        by_git = self._put_by_git(line)
        places = [
            line,
            *by_git,
            *(x for one in (line, *by_git) for x in self.truth.came_instead(self.path, one)),
        ]
        places += [FILE] if self.new is None else []
        if any(self.wrote(one) for one in self.truth.brought_again(self.path, line)):
            return  # git did what the session had done
        if self.truth.taken_again(self.path, line) & ({self.who} | self.names - {HUMAN}):
            return
        if self.truth.edit(self.path, line).step < self.moved_at:
            return
        if not any(self._may_take(self.truth.edit(self.path, one)) for one in places):
            self._fault("FOREIGN", "removed a line others took away", line)

    def _put_by_git(self, line: str) -> set[str]:
        """What git put in the place of a line."""
        return set(self.truth.by_git.get((self.path, line), ()))

    def _may_take(self, edit: Edit) -> bool:
        if self.who == HUMAN:
            return edit.put or edit.again or edit.actor in NOBODYS
        if edit.put:  # what git did is unrecorded too, and was asked for
            return self.forced and HUMAN in self.names
        # a person's correction never reaches a line of HEAD
        return edit.actor in {self.who} | (self.names | {GIT} if self.forced else self.names - {HUMAN})

    def _count(self) -> None:
        """No word stands more often than in the parent and on disk."""
        there = [Counter(w for line in text or () for w in words(line)) for text in (self.old, self.disk)]
        for word, n in Counter(w for line in self.new or () for w in words(line)).items():
            if n > max(1, *(each[word] for each in there)):
                self._fault("TWICE", "a word stands twice", word)

    # --- and what should have ---

    def _forgotten(self) -> None:
        new, disk = lines_of(self.new), lines_of(self.disk)
        known = words_of(self.new)
        for line in sorted(disk - new - self.landed):
            edit = self.truth.edit(self.path, line)
            if line in self.told[1] and edit.step <= self.told[0]:
                continue
            authors = {self.truth.author[word] for word in words(line) if word not in known}
            if edit.put and not edit.again and {edit.actor, self.truth.author[line], *authors} == {self.who}:
                self._fault("FORGOTTEN", "its line on disk stays out", line)
        # what HEAD and the file agreed on since is no longer pending: git had brought it back
        for line in sorted(new & lines_of(self.old) - disk):
            step = self.truth.edit(self.path, line).step
            if self.truth.is_agreed(self.path, step) or (line in self.told[1] and step <= self.told[0]):
                continue
            if any(self.truth.author[one] == GIT for one in self._put_by_git(line) & disk):
                continue  # git took it away itself, for a line of its own
            lines = {line, *self.truth.came_instead(self.path, line)} - disk
            edits = [self.truth.edit(self.path, one) for one in lines]
            if all(not edit.put and not edit.again and edit.actor == self.who for edit in edits):
                self._fault("FORGOTTEN", "a line it removed stays in", line)


def _called(actor: str, who: str = "") -> str:
    if actor == who:
        return "the session itself"
    if actor == HUMAN:
        return "a person"
    return "a session" if actor[0] == "s" else "git"


@dataclass
class Commit:
    """One call: who, what HEAD, index and files were and are, and what the tool said."""

    who: str
    step: int
    before: Shot
    after: Shot
    document: Mapping[str, Any]
    objects: Objects
    includes: frozenset[str] = frozenset()
    paths: Collection[str] | None = None
    forced: bool = False
    read: Callable[[bytes | None], Text] = as_text
    """What counts as the lines of a file."""
    told: Mapping[str, tuple[int, set[str]]] = field(default_factory=dict)
    """Paths that an earlier call was done with and told of: the step, and lines in HEAD or on disk alone."""

    def text(self, files: Mapping[str, tuple[int, str]], path: str) -> Text:
        return self.read(self.objects.read(files[path][1])[1]) if path in files else None

    def texts(self, files: Mapping[str, tuple[int, str]], paths: Collection[str]) -> tuple[str, ...]:
        return tuple(line for path in paths for line in self.text(files, path) or ())

    def case(self, truth: Truth, path: str) -> Case:
        """What this commit did to one path."""
        mover, _, been = truth.moved_from(path)
        asked = self.paths is None or path in self.paths
        moved_it = mover == self.who or mover in self.names
        olds = [] if mover == self.who else truth.old_paths(path)
        return Case(
            truth,
            self.who,
            path,
            self.text(self.before.head, path),
            self.text(self.after.head, path),
            None if self._is_staged_as_gone(path) else self.read(self.before.disk.get(path)),
            self.names,
            self.forced,
            moved=been if moved_it else frozenset(),
            moved_at=truth.moved_at[path] if moved_it else 0,
            landed=frozenset(one for old in olds for one in lines_of(self.text(self.before.head, old))),
            # a person reads in `status` what is left
            said=not asked or self.who == HUMAN or self._said(path),
            told=self.told.get(path, (0, set())),
            is_back=path not in self.before.head
            and path in truth.head_texts
            and self.read(self.before.disk.get(path)) in truth.head_texts[path] - {None},
        )

    def _is_staged_as_gone(self, path: str) -> bool:
        return self.who == HUMAN and path in self.before.head and path not in self.before.index

    @property
    def names(self) -> frozenset[str]:
        return frozenset(HUMAN if name == "unrecorded" else name for name in self.includes)

    def _said(self, path: str) -> bool:
        """Tell whether the tool told that something of a path stays out."""
        rows = [row for row in self.document["left"] if row["path"] == path and row["reason"] != "unchanged"]
        return bool(rows) or any(f"'{path}'" in note for note in self.document["notes"])

    @property
    def settled(self) -> dict[str, tuple[int, set[str]]]:
        """Paths of which a note tells and no row: to say the same again would be noise."""
        left = {row["path"] for row in self.document["left"] if row["reason"] != "unchanged"}
        told = [
            path for path in {*self.after.disk, *self.after.head} if self._said(path) and path not in left
        ]
        texts = {
            path: (self.text(self.after.head, path), self.read(self.after.disk.get(path))) for path in told
        }
        return {path: (self.step, lines_of(head) ^ lines_of(disk)) for path, (head, disk) in texts.items()}

    @property
    def renamed(self) -> set[str]:
        """Files that it takes away and files that it makes, where it does both."""
        gone = self.before.head.keys() - self.after.head.keys()
        made = self.after.head.keys() - self.before.head.keys()
        return {*gone, *made} if gone and made else set()


def judge(truth: Truth, commit: Commit) -> list[Fault]:
    """Everything wrong with a commit that was made, or with a call that found nothing."""
    faults = [*moved(commit), *staged(truth, commit)]
    renamed = commit.renamed | _moved_over(truth, commit)
    went, came = (lines_of(commit.texts(shot.head, renamed)) for shot in (commit.before, commit.after))
    for path in sorted({*commit.before.head, *commit.after.head, *commit.before.disk}):
        case = commit.case(truth, path)
        if path in renamed:
            case.moved |= went & came
        faults += case.judge()
    return faults


def _moved_over(truth: Truth, commit: Commit) -> set[str]:
    """Files that it takes away, each with the file that it was moved over in the end, whoever moved it."""
    head = commit.after.head
    gone = commit.before.head.keys() - head.keys()
    pairs = [(old, new) for new in head for old in gone.intersection(truth.old_paths(new))]
    return {path for pair in pairs for path in pair}


# --- 4: nothing else moved ---


def moved(commit: Commit) -> Iterator[Fault]:
    before, after = commit.before, commit.after
    if before.disk != after.disk:
        yield Fault("MOVED", "a file", text=str(sorted(dict(before.disk).items() ^ dict(after.disk).items())))
    if before.branch != after.branch or before.refs != after.refs:
        yield Fault("MOVED", "a branch", text=f"{before.branch} {before.refs} {after.branch} {after.refs}")
    if commit.document["status"] != "committed":
        if before.commit != after.commit:
            yield Fault("MOVED", "HEAD, without a commit", text=after.commit)
        if before.index != after.index:
            yield Fault("MOVED", "the index, without a commit")
    elif commit.objects.commit(after.commit)[1] != (before.commit,):
        yield Fault("MOVED", "the commit has another parent", text=after.commit)
    elif before.head == after.head:
        yield Fault("MOVED", "an empty commit", text=after.commit)


# --- 3: the staged change ---


def staged(truth: Truth, commit: Commit) -> Iterator[Fault]:
    """The same staged change before and after, path by path.

    A renamed file is one path where it is staged under its new name.
    """
    shots = (commit.before.head, commit.after.head, commit.before.index, commit.after.index)
    is_staged = any(path in commit.before.index for path in commit.renamed - commit.before.head.keys())
    renamed = commit.renamed if is_staged else set[str]()
    paths = {path for shot in shots for path in shot}
    for group in [renamed, *({path} for path in sorted(paths - renamed))]:
        old, new, was, now = ({path: shot.get(path) for path in group} for shot in shots)
        shown = " ".join(sorted(group))
        if old == new and was != now:
            yield Fault("STAGED", "of a path that was not committed", shown)
        elif was == old and now != new:
            yield Fault("STAGED", "a phantom", shown, _shown(commit, group))
        elif was != old and not _is_carried(truth, commit, group):
            yield Fault("STAGED", "another change than before", shown, _shown(commit, group))


def _is_carried(truth: Truth, commit: Commit, group: Collection[str]) -> bool:
    """Only of what the session itself wrote may another version be staged, by lines or by words."""
    cases = [commit.case(truth, path) for path in group]
    for parts in (lines_of, words_of):
        old, new = (parts(commit.texts(shot.head, group)) for shot in (commit.before, commit.after))
        was, now = (parts(commit.texts(shot.index, group)) for shot in (commit.before, commit.after))
        odd = (now - new) ^ ((was - old) - (new - old)) | (new - now) ^ ((old - was) - (old - new))
        if all(any(case.has_hand_in(token) for case in cases) for token in odd):
            return True
    return False


def _shown(commit: Commit, group: Collection[str]) -> str:
    before, after = commit.before, commit.after
    old, new, was, now = (
        commit.texts(f, group) for f in (before.head, after.head, before.index, after.index)
    )
    return f"staged {was} then {now}, HEAD {old} then {new}"


__all__ = ["Case", "Commit", "Fault", "judge"]

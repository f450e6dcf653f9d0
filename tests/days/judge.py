"""Judges one `git ralph commit` from what HEAD, file and index hold before and after it.

Classes of faults:

FOREIGN   a word that only others wrote came in, or a line that only others took away went
REVIVED   text came in that is neither in the parent nor on disk and that nothing pending covers, or a
          line went that is on disk and that nobody pending put back
MADE-UP   a line came in that nobody ever wrote
TWICE     a word stands twice
FORGOTTEN a line this session wrote last stays out (or one it took away last stays in), unsaid
UNFOLLOWED the session's text was committed where a person had corrected just it
STAGED    the staged change of a path is another than before
MOVED     something else changed: a file, an entry of the index, a ref

Must not import the code under test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.days.place import Objects, Shot, as_text
from tests.days.truth import GIT, HUMAN, Text, Truth, author, lines_of, words, words_of

SAID = frozenset(
    ["entangled", "contested", "unanchored", "stale", "gone", "ignored", "unmerged", "outside", "shell"]
)
"""Reasons that tell why something stayed out; `unchanged` says that nothing did."""


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
class Commit:
    """One call: who, what HEAD, index and files were and are, and what the tool said."""

    who: str
    step: int
    before: Shot
    after: Shot
    document: Mapping[str, Any]
    objects: Objects
    ancestors: Collection[str]
    """The parent and all commits before it."""
    includes: frozenset[str] = frozenset()
    paths: Collection[str] | None = None
    forced: bool = False

    @property
    def left(self) -> dict[str, str]:
        return {row["path"]: row["reason"] for row in self.document["left"] if row["reason"] in SAID}

    def parent_text(self, path: str) -> Text:
        return self._text(self.before.head, path)

    def made_text(self, path: str) -> Text:
        return self._text(self.after.head, path)

    def _text(self, files: Mapping[str, tuple[int, str]], path: str) -> Text:
        return self.objects.text(files[path][1]) if path in files else None


@dataclass
class Case:
    """One path of a commit: texts of parent, commit and file."""

    truth: Truth
    who: str
    path: str
    old: Text
    new: Text
    disk: Text
    includes: frozenset[str]
    ancestors: Collection[str]
    said: bool = False
    """The tool told that something of this path stays out."""
    waits: bool = False
    """It told that a removal does."""
    noted: bool = False
    """The tool told that a commit of this session is no longer in HEAD."""
    asked: bool = True
    forced: bool = False
    """Others' edits were asked for (`--include-entangled`)."""
    moved: frozenset[str] = frozenset()
    """Lines that stood in HEAD at another path: the commit renames their file."""
    faults: list[Fault] = field(default_factory=list)

    def judge(self) -> list[Fault]:
        """Everything wrong with this path."""
        if self.old != self.new:
            self._added()
            self._removed()
            self._twice()
        if self.asked and not self.said:
            self._forgotten()
        return self.faults

    def _fault(self, kind: str, form: str, text: str) -> None:
        self.faults.append(Fault(kind, form, self.path, text))

    @property
    def names(self) -> set[str]:
        return {self.who} | {HUMAN if name == "unrecorded" else name for name in self.includes}

    # --- what came in ---

    def _added(self) -> None:
        fresh = lines_of(self.new) - lines_of(self.old) - self.moved
        strange = words_of(fresh) - words_of(self.old or ())
        for line in sorted(fresh):
            foreign = [
                word
                for word in words(line)
                if word in strange
                and not self._may_add(word)
                # the session's own form of a line of the first commit
                and not (author(word) == "base" and self._written(line))
            ]
            if foreign:
                self._fault("FOREIGN", f"{self._owner(foreign[0])} added", line)
            elif not self._written(line):
                if self.truth.fact(self.path, line).put_by:
                    self._fault("FOREIGN", "others' form of a line added", line)
                else:
                    self._fault("MADE-UP", "a line nobody wrote", line)
            elif line not in lines_of(self.disk):
                why = self._dead(line)
                if why:
                    kind = "UNFOLLOWED" if why.startswith("a person") else "REVIVED"
                    self._fault(kind, why, line)

    def _owner(self, word: str) -> str:
        name = author(word)
        if name == HUMAN:
            return "the human's"
        return "a session's" if name[0] == "s" else "git's"

    def _may_add(self, word: str) -> bool:
        if author(word) == self.who:
            return True
        put = self.truth.fact(self.path, word).put_by
        is_corrected = HUMAN in self.names and author(word) == HUMAN and not self.forced
        if self.who in put:
            # its own undo of a later edit may have brought a correction back
            held = word in self.truth.in_head or self._put_on_what_head_held(word)
            # with the edit of another session that it put back, where that was asked for
            return held or author(word) in self.names - {HUMAN} or (is_corrected and self._follows(word))
        if HUMAN in self.names and HUMAN in put and not self.forced:
            return is_corrected and self._follows(word)
        others = self.names - {self.who}
        moved_by_git = self.truth.fact(self.path, word).put[1] == GIT
        if self.forced and HUMAN in others and (author(word)[0] != "s" or moved_by_git):
            return True  # what git did is unrecorded too
        if self.forced and HUMAN in others and word in self.truth.in_head:
            return True  # it was in HEAD once, and came back with a file that git or a person restored
        return bool(others & put) or author(word) in others

    def _put_on_what_head_held(self, word: str) -> bool:
        """The session brought a word back after HEAD had agreed with the file without it: its own edit.

        Or in the place of a line of HEAD.
        """
        fact = self.truth.fact(self.path, word)
        (step, actor), agreed = fact.put, self.truth.agreed.get(self.path, ())
        if actor == GIT and fact.edit[2]:
            step, actor, _ = fact.edit  # a stash and its pop leave the edit what it was
        if actor != self.who:
            return False
        replaced = {
            other
            for line in self.new or ()
            if word in words(line)
            for other, at in self.truth.replaces.get((self.path, line), {}).items()
            if at == step
        }
        return bool(replaced & lines_of(self.old)) or any(fact.away <= at < step for at, _, _ in agreed)

    def _follows(self, word: str) -> bool:
        """Tell whether an unrecorded word stands in place of this session's text, or within it.

        What people wrote side by side is one change for the tool: a run of their lines that replaces
        the session's line may hold one that they added beside it.
        """
        holders = [line for line in self.new or () if word in words(line)]
        if any(self.truth.within.get((self.path, line)) == self.who for line in holders):
            return True
        return self._corrects(word, self.disk or ()) or self._corrects(word, self.new or ())

    def _corrects(self, word: str, lines_there: tuple[str, ...]) -> bool:
        text = [line for line in lines_there if words(line)]
        at = next((n for n, line in enumerate(text) if word in words(line)), None)
        if at is None:  # a pending edit of another session covers the correction
            lines = [line for line in self.new or () if word in words(line)]
            return any(self._is_own(one) for line in lines for one in self.truth.stood_for(self.path, line))
        start, stop = at, at + 1
        while start and self._is_humans(text[start - 1]):
            start -= 1
        while stop < len(text) and self._is_humans(text[stop]):
            stop += 1
        for line in text[start:stop]:
            if any(self._is_own(other) for other in self.truth.stood_for(self.path, line)):
                return True
        # a line without a word may be the session's, too
        first, last = lines_there.index(text[start]), lines_there.index(text[stop - 1])
        over, under = lines_there[max(first - 1, 0)], lines_there[min(last + 1, len(lines_there) - 1)]
        above, below = text[max(start - 1, 0)], text[min(stop, len(text) - 1)]
        rims = [
            self._is_own(near) or (self._is_own(far) and not words(near))
            for near, far in ((over, above), (under, below))
        ]
        over_noise = [self.truth.over_noise.get((self.path, line)) for line in text[start:stop]]
        if any(names is not None for names in over_noise):
            is_own = any(self.who in (names or ()) for names in over_noise)
            return is_own or self._is_own(above) or self._is_own(below)
        noise = [not words(near) for near in (over, under)]
        return all(own or blank for own, blank in zip(rims, noise, strict=True)) and any(rims)

    def _is_humans(self, line: str) -> bool:
        return HUMAN in self.truth.fact(self.path, line).put_by

    def _is_own(self, line: str) -> bool:
        return self.who in self.truth.fact(self.path, line).put_by

    def _written(self, line: str) -> bool:
        found = self.truth.fact(self.path, line)
        # what git put there is as unrecorded as what a person wrote
        is_old = found.put[1] == GIT or all(author(word) == "base" for word in words(line))
        if self.forced and HUMAN in self.names and (line in lines_of(self.disk) or is_old):
            return True
        return bool(found.put_by & self.names)

    def _dead(self, line: str, depth: int = 0) -> str:
        """Say why a line that is not on disk has no business in a commit; empty where it has."""
        fact = self.truth.fact(self.path, line)
        step, actor = fact.gone
        if depth > 5:
            return ""
        if step < 0 or fact.there:
            return "never seen on disk" if step < 0 else ""
        if actor == GIT:
            return "" if self._is_covered_again(line) else "git had taken it away"
        if actor == self.who:
            # what took it away may be among what --skip-entangled left
            return "" if self.said else "the session itself had taken it away"
        if actor == HUMAN:
            return self._corrected(line)
        if self.old == self.disk:
            return "taken away by a session, and nothing is uncommitted"
        return self._covered(line, step, depth)

    def _is_covered_again(self, line: str) -> bool:
        """A stash and its pop: another session's text stands there as before, or its removal does."""
        then, actor, put = self.truth.fact(self.path, line).edit
        if put or actor[:1] != "s" or actor == self.who:
            return False
        if self.truth.returned.get((self.path, self.truth.fact(self.path, line).gone[0]), -1) > then:
            return not self._settled(then)  # its removal was put back, as nobody else's is
        covers = self.truth.stands_in(self.path, line, then) - {line}
        return bool(covers & lines_of(self.disk)) and not covers & lines_of(self.old)

    def _corrected(self, line: str) -> str:
        successors = self._successors(line)
        if successors & lines_of(self.old):
            return "a text that is in HEAD stands for it"
        if self.truth.follow.get((self.path, line)) and not self.forced and self._stands(line):
            return "a person had corrected it"
        if not successors & lines_of(self.disk) and self._settled(self.truth.fact(self.path, line).gone[0]):
            return "somebody had taken it away, and HEAD agrees"
        return ""

    def _stands(self, line: str) -> bool:
        """Tell whether a correction still is what it was; one of a correction may be left."""
        made = self.truth.replaced_by.get((self.path, line), {})
        last = self.truth.fact(self.path, line).gone[0]
        return all(other in lines_of(self.disk) for other, step in made.items() if step == last)

    def _successors(self, line: str) -> set[str]:
        """What came in the place of a line when it was taken away last; not what stood beside it then."""
        step = self.truth.fact(self.path, line).gone[0]
        others = self.truth.stands_in(self.path, line, step) - {line}
        facts = {other: self.truth.fact(self.path, other) for other in others}
        return {other for other in others if facts[other].since >= step or 0 <= facts[other].away <= step}

    def _covered(self, line: str, step: int, depth: int) -> str:
        """A session took the line away: that is well while its own text is pending there."""
        everything = self._successors(line)
        if everything & lines_of(self.old):
            return "a text that is in HEAD stands for it"
        if everything & lines_of(self.disk):
            return ""
        if self._settled(step):
            return "somebody had taken it away, and HEAD agrees"
        edges = self.truth.replaced_by.get((self.path, line), {})
        whys = [self._dead(other, depth + 1) for other, at in edges.items() if at >= step and other != line]
        if whys and all(why == "git had taken it away" for why in whys):
            return "git had taken away what replaced it"
        return ""

    def _settled(self, step: int) -> bool:
        """Tell whether HEAD held the file as it was after a removal, without the line."""
        return any(
            at >= since >= step and commit in self.ancestors
            for at, since, commit in self.truth.agreed.get(self.path, ())
        )

    # --- what went ---

    def _removed(self) -> None:
        lost = lines_of(self.old) - lines_of(self.new) - self.moved
        kept = words_of(self.new or ())
        for line in sorted(lost):
            gone = [word for word in words(line) if word not in kept]
            foreign = [word for word in gone if not self._may_drop(word)]
            if foreign or (not gone and not self._may_drop_line(line)):
                form = "a line still on disk" if line in lines_of(self.disk) else "a line others took away"
                self._fault("FOREIGN", f"removed {form}", line)
            elif line in lines_of(self.disk):
                _, actor = self.truth.fact(self.path, line).put
                if actor in (GIT, HUMAN, self.who):
                    who = {GIT: "git", HUMAN: "a person"}.get(actor, "the session")
                    self._fault("REVIVED", f"removed what {who} had put back", line)

    @property
    def _takers(self) -> set[str]:
        """Whose removals may be taken: following a correction never reaches a line of HEAD."""
        return self.names if self.forced else self.names - {HUMAN}

    def _may_drop(self, word: str) -> bool:
        if self.truth.fact(self.path, word).gone_by & self._takers:
            return True
        holders = [line for line in lines_of(self.old) if word in words(line)]
        return any(self._may_drop_line(line) for line in holders)

    def _may_drop_line(self, line: str) -> bool:
        """The session took it away, or what had come in its place."""
        names = self._takers
        step, actor = self.truth.fact(self.path, line).gone
        # what a rebase left out of the file is as unrecorded as what git took away
        if self.forced and HUMAN in names and (actor == GIT or step < 0):
            return True
        if self.truth.fact(self.path, line).gone_by & names:
            return True
        puts = {self.truth.fact(self.path, other).put for other in lines_of(self.new)}
        if len(puts) == 1 and puts == {(max(puts)[0], self.who)} and max(puts)[0] > step >= 0:
            return True  # it put another file in the place of all that was there
        fresh = lines_of(self.new) - lines_of(self.old)
        stood = [(one, self.truth.stood_for(self.path, one)) for one in fresh]
        if any(line in lines and any(map(self._is_own, {one, *lines})) for one, lines in stood):
            return True  # it rewrote what stood for the line, and a person may have corrected that
        over_noise = any((self.path, one) in self.truth.over_noise and self._is_own(one) for one in fresh)
        if over_noise and not self.truth.replaced_by.get((self.path, line)):
            return True  # only lines without a word stood for it
        later = self.truth.came_after(self.path, line)
        return any(self.truth.fact(self.path, other).gone_by & names for other in later)

    def _twice(self) -> None:
        for text in (self.old, self.disk):
            if any(n > 1 for n in Counter(w for line in text or () for w in words(line)).values()):
                return
        for word, n in Counter(w for line in self.new or () for w in words(line)).items():
            if n > 1:
                self._fault("TWICE", "a word stands twice", word)

    # --- what should have ---

    def _forgotten(self) -> None:
        noted = ", its commit was undone" if self.noted else ""
        head, old, disk = lines_of(self.new), lines_of(self.old), lines_of(self.disk)
        if self.old is None and any(
            self.truth.fact(self.path, one).edit[1:] == (self.who, False) for one in disk
        ):
            return  # it had deleted the file: whoever brought that back says what becomes of it
        for line in sorted(disk - head):
            (step, actor, put), first = (
                self.truth.fact(self.path, line).edit,
                self.truth.fact(self.path, line).first,
            )
            # one that it only put back, by an undo, is another's, whoever wrote some words of it
            own = put and first == self.who
            landed = self.truth.held.get((self.path, line), set()) & set(self.ancestors)
            if landed and line not in old:
                continue  # the present history has it, and took it out again: settled
            if self._is_passed(line, step):
                continue
            if own and actor == self.who and not self._touched(line, step) and not self._overruled(line):
                self._fault("FORGOTTEN", "its line on disk stays out" + noted, line)
        over = self._put_over()
        for line in sorted((head & old) - disk) if not self.waits else ():
            if self.truth.fact(self.path, line).edit[0] < over:
                continue  # another file stands there: of what was done to the old one nothing is left
            if self.truth.lacked.get((self.path, line), set()) & set(self.ancestors):
                continue  # the present history was without it, and put it back: settled
            step, actor, put = self.truth.fact(self.path, line).edit
            stood = self.truth.stood.get((self.path, line), {})
            came = self.truth.arrived.get((self.path, line), {})
            if any(at > step and commit in self.ancestors for commit, at in (*stood.items(), *came.items())):
                continue  # file and history had it again since: what took it away then is another's doing
            if self.disk is not None and any(p == self.path and at >= step for p, at in self.truth.deleted):
                continue  # the file is there again, as whoever put it back had it
            if self._is_deleted_since(step) or self._was_gone_from_head(line, step):
                continue
            if not put and actor == self.who and not self._touched(line, step) and self._replaced(line, step):
                self._fault("FORGOTTEN", "a line it removed stays in" + noted, line)

    def _is_passed(self, line: str, step: int) -> bool:
        """HEAD got what stood in its place in the file by then: settled, whatever brings the line back."""
        over = self.truth.exchanged.get((self.path, line), {})
        came = (self.truth.arrived.get((self.path, one), {}) for one in over)
        return any(at > step and commit in self.ancestors for each in came for commit, at in each.items())

    def _is_deleted_since(self, step: int) -> bool:
        """Another session deleted the file since, and takes its lines along."""
        gone = {at: who for (path, at), who in self.truth.deleted.items() if path == self.path and at > step}
        return self.disk is None and bool(gone) and gone[max(gone)] not in (GIT, HUMAN, self.who)

    def _was_gone_from_head(self, line: str, step: int) -> bool:
        """It took away what git had put back on disk only, and git took that away again itself."""
        agreed = self.truth.agreed.get(self.path, ())
        spans = self.truth.absent.get((self.path, line), ())
        gone = [(start, end) for start, end in spans if start <= step < end]
        return any(step < at < end for _, end in gone for at, _, _ in agreed)

    def _overruled(self, line: str) -> bool:
        """A rebase put another branch's line in its place; git brought it back on disk only."""
        fact = self.truth.fact(self.path, line)
        came = self.truth.exchanged.get((self.path, line), {}).keys() & lines_of(self.new)
        return fact.put[1] == GIT and any(author(word) in ("b", "r") for one in came for word in words(one))

    def _put_over(self) -> int:
        """The step with which another session put another file in the place of all lines; 0 for none."""
        puts = [self.truth.fact(self.path, line).put for line in lines_of(self.disk)]
        step, actor = min(puts, default=(0, ""))
        return step if actor[:1] == "s" and actor != self.who and len(puts) > 2 else 0

    def _replaced(self, line: str, step: int) -> bool:
        """What the session put in the place of a line is still there, or it put nothing there."""
        made = {
            other for other, at in self.truth.replaced_by.get((self.path, line), {}).items() if at == step
        }
        return not made or bool(made & lines_of(self.disk))

    def _touched(self, line: str, step: int) -> bool:
        return any(self.truth.fact(self.path, word).edit[0] > step for word in words(line))


def judge(truth: Truth, commit: Commit) -> list[Fault]:
    """Everything wrong with a commit that was made, or with a call that found nothing."""
    faults = list(_unmoved(commit))
    notes = "\n".join(commit.document["notes"])
    paths = commit.before.head.keys() | commit.after.head.keys() | commit.before.disk.keys()
    moved = _moved(commit, paths)
    for path in sorted(paths):
        asked = commit.paths is None or path in commit.paths
        case = Case(
            truth,
            commit.who,
            path,
            commit.parent_text(path),
            commit.made_text(path),
            as_text(commit.before.disk.get(path)),
            commit.includes,
            commit.ancestors,
            said=path in commit.left,
            waits=_waits(commit.document["notes"], path),
            noted="is not in HEAD any more" in notes,
            asked=asked,
            forced=commit.forced,
            moved=moved,
        )
        faults += case.judge()
    return faults + list(_staged(truth, commit))


def _moved(commit: Commit, paths: Collection[str]) -> frozenset[str]:
    gone = {
        line for path in paths if path not in commit.after.head for line in lines_of(commit.parent_text(path))
    }
    came = {
        line for path in paths if path not in commit.before.head for line in lines_of(commit.made_text(path))
    }
    return frozenset(gone & came)


def _waits(notes: Collection[str], path: str) -> bool:
    return any(f"'{path}'" in note and "removes lines that are not committed yet" in note for note in notes)


def _unmoved(commit: Commit) -> Iterator[Fault]:
    before, after = commit.before, commit.after
    if before.disk != after.disk:
        yield Fault("MOVED", "a file", text=str(sorted(dict(before.disk).items() ^ dict(after.disk).items())))
    if before.branch != after.branch:
        yield Fault("MOVED", "the branch", text=f"{before.branch} {after.branch}")
    if commit.document["status"] != "committed":
        if before.commit != after.commit:
            yield Fault("MOVED", "HEAD, without a commit", text=after.commit)
        if before.index != after.index:
            yield Fault("MOVED", "the index, without a commit")
    elif commit.objects.commit(after.commit)[1] != (before.commit,):
        yield Fault("MOVED", "the commit has another parent", text=after.commit)
    if commit.document["status"] == "committed" and before.head == after.head:
        yield Fault("MOVED", "an empty commit", text=after.commit)


def _staged(truth: Truth, commit: Commit) -> Iterator[Fault]:
    """The same staged change before and after, path by path."""
    before, after = commit.before, commit.after
    for path in sorted(before.head.keys() | after.head.keys() | before.index.keys() | after.index.keys()):
        old, new = before.head.get(path), after.head.get(path)
        was, now = before.index.get(path), after.index.get(path)
        if old == new:
            if was != now:
                yield Fault("STAGED", "of a path that was not committed", path)
        elif was == old:
            if now != new:
                yield Fault("STAGED", "a phantom", path, _shown(commit, new, now))
        elif was != now or was is None:
            yield from _carried(truth, commit, path)


def _carried(truth: Truth, commit: Commit, path: str) -> Iterator[Fault]:
    """What was staged is carried over to a new HEAD, or was a pending state of the session itself."""
    old, new = commit.parent_text(path), commit.made_text(path)
    was, now = commit._text(commit.before.index, path), commit._text(commit.after.index, path)
    if old is None and new is not None:
        old = _moved_from(commit, new)
    ahead = words_of(was or ()) - words_of(old or ())
    behind = words_of(old or ()) - words_of(was or ())
    wanted = (words_of(was or ()) | (words_of(new or ()) - words_of(old or ()))) - (
        words_of(old or ()) - words_of(new or ())
    )
    if now is None and was is None:
        return  # a staged deletion stays one
    if now is not None and was is not None and words_of(now) == wanted:
        return
    # a staged version of a line that HEAD lost stays staged, an older one of the session's own is given up
    by_line = (lines_of(was) | (lines_of(new) - lines_of(old))) - (lines_of(old) - lines_of(new))
    fresh = {
        line: set(words(line)) - words_of(old or ()) for line in lines_of(was) - lines_of(old) - lines_of(new)
    }
    older = {
        line
        for line, said in fresh.items()
        if said and all(truth.fact(path, word).put_by == {commit.who} for word in said)
    }
    if now is not None and was is not None and by_line - older <= lines_of(now) <= by_line:
        return
    # what was staged and came into HEAD is not lost
    ahead, behind = ahead - words_of(new or ()), behind & words_of(new or ())
    if now == new and _is_own_state(truth, commit.who, path, ahead, behind):
        return
    yield Fault(
        "STAGED", "another change than before", path, f"staged {was} then {now}, HEAD {old} then {new}"
    )


def _moved_from(commit: Commit, new: tuple[str, ...]) -> Text:
    """The file that a new one came from, by their lines; None where it came from none."""
    gone = commit.before.head.keys() - commit.after.head.keys()
    texts = [text for path in sorted(gone) if (text := commit.parent_text(path)) is not None]
    alike = max(texts, key=lambda text: len(set(text).intersection(new)), default=())
    return alike if 2 * len(set(alike).intersection(new)) > len(set(alike)) else None


def _is_own_state(truth: Truth, who: str, path: str, ahead: set[str], behind: set[str]) -> bool:
    return all(truth.fact(path, word).put_by == {who} for word in ahead) and all(
        who in truth.fact(path, word).gone_by for word in behind
    )


def _shown(commit: Commit, new: tuple[int, str] | None, now: tuple[int, str] | None) -> str:
    one = commit.objects.text(new[1]) if new else None
    other = commit.objects.text(now[1]) if now else None
    return f"HEAD {one}, index {other}"


__all__ = ["Case", "Commit", "Fault", "Mapping", "judge"]

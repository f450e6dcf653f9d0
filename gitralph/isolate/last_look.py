"""Looks once more at a finished answer, with nothing but lines that are counted.

The weave knows of each line whose it is; here a second way that shares nothing with it asks whether
HEAD, the file and the recorded edits agree with what came out. An answer they speak against is refused:
a refusal costs a word with a person, a wrong line stands in the history. Lines that repeat tell nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from gitralph.isolate.api import Step
from gitralph.isolate.gone import Unsure
from gitralph.isolate.line_history import Changes, LineHistory, exchanges
from gitralph.isolate.linediff import line_hunks
from gitralph.isolate.lines import (
    apart,
    complete,
    difference,
    has_words,
    is_telling,
    keeps_most_words,
    split_lines,
    words,
)
from gitralph.isolate.neighbours import out_of_place

Lines = Counter[bytes]


class Look(NamedTuple):
    """One answer with what it was made from; `names` are those whose edits it may hold, owners and more."""

    head: bytes | None
    text: bytes | None
    worktree: bytes | None
    steps: Sequence[Step]
    owners: Collection[str]
    names: Collection[str | None]
    unsure: Unsure
    is_whole: bool = True
    """Nothing of the owners' stays out that was told of."""
    done: Collection[str] = ()
    """Keys of the steps of which commits took something."""
    past: bytes | None = None
    """What HEAD's history held last, where HEAD has no such file."""
    undone: Callable[[str], bool] = lambda _: False
    """Whether HEAD has no more those commits, of those in `done`."""

    def brings(self, line: bytes) -> bool:
        """Tell whether the answer has a line that neither HEAD nor the file has."""
        has, *others = (line in split_lines(text) for text in (self.text, self.head, self.worktree))
        return has and not any(others)

    def place(self, line: bytes) -> tuple[int, int]:
        """Return the first and last number of a line in the file, or in HEAD, or of the first line."""
        for text in (self.worktree, self.head):
            found = split_lines(text)
            if line in found:
                return found.index(line) + 1, found.index(line) + 1
        return 1, 1


def speaks_against(look: Look) -> bytes | None:
    """Return a line that the answer must not bring, take or leave, or None where nothing is wrong.

    A file that goes must have no line in HEAD that no record knows. Whatever git did, no line may stand
    twice that stands once in HEAD, in the file and after each edit of the owners', none beside what somebody
    made of it in HEAD unseen, and none may go that the owners never saw in a file that came back. Where git
    put files back since an edit of theirs, a line that goes must not stand in the file, unless another
    session put it there after the owner took it away; one that comes must stand there, unless another
    session's edit stands in its place; what an owner did last to a line that HEAD and the answer do not know
    must not be what the file shows; no old line stays beside a file made anew, nor one that the file lacks
    beside what its owner put in its place, or what it had replaced; and no line comes with words that are
    not the owners' and that HEAD lacks, nor one that HEAD had passed over before it dropped the file.
    """
    if look.head == look.text == look.worktree or any(step.takes for step in look.steps):
        # Where half of a move is assigned a line stands twice, and a person said so: which lines of the
        # file that concerns only the weave knows, and this look must not ask it.
        return None
    if look.text is None:
        # whoever deleted the file never saw what HEAD got there since
        unknown = _unknown(look, list(filter(is_telling, dict.fromkeys(split_lines(look.head)))))
        if unknown:
            return unknown[0]
    texts = _Texts(look)
    own = [step for step in look.steps if step.owner is not None and step.owner in look.names]
    is_unsure = any(look.unsure(step.key) for step in own)
    if look.head != look.text:
        wrong = out_of_place(look.head, look.text, look.worktree, own, is_unsure, look.done)
        if wrong is not None:
            return wrong
    wrong = _doubled(look, texts) if look.head != look.text else None
    if wrong is not None:
        return wrong
    wrong = _beside_its_rewrite(look, texts)
    if wrong is not None:
        return wrong
    wrong = _lost_on_return(look, texts) or _passed_before(look, texts)
    if wrong is not None:
        return wrong
    if not is_unsure:
        return None
    wrong = _beside(look, texts)
    if wrong is not None:
        return wrong
    history = LineHistory(look.steps, look.worktree)
    suspects = (line for line in dict.fromkeys([*texts.old, *texts.new, *texts.disk]) if has_words(line))
    return next((line for line in suspects if _is_wrong(look, line, texts, history)), None)


_FEW = 8
"""So many lines are looked for in the common text one by one; beyond, all of it is counted once.

In a million lines a search takes some 10 ms, counting all some 250.
"""


class _Texts:
    """The lines of HEAD, answer and file where any two differ, and what all three have around them."""

    def __init__(self, look: Look) -> None:
        head, text, file = (complete(each) for each in (look.head, look.text, look.worktree))
        parts, around = apart([head, text, file])
        self.old, self.new, self.disk = (Counter(split_lines(part)) for part in parts)
        self.around = b"\n" + around
        self.asked = 0
        self.counted: Lines | None = None
        self.head = look.head

    @cached_property
    def words_of_head(self) -> set[bytes]:
        return set(words(complete(self.head)))

    def elsewhere(self, line: bytes) -> int:
        """Tell how often a line stands in what the three have in common."""
        self.asked += 1
        if self.asked > _FEW and self.counted is None:
            self.counted = Counter(split_lines(self.around[1:]))
        return _count(line, self.around) if self.counted is None else self.counted[line]

    def was(self, line: bytes) -> bool:
        """Tell whether HEAD has a line."""
        return self.old[line] > 0 or self.elsewhere(line) > 0

    def comes(self, line: bytes) -> bool:
        """Tell whether the answer brings a line."""
        return self.new[line] > self.old[line]

    def stands(self, line: bytes) -> bool:
        """Tell whether the file has a line."""
        return self.disk[line] > 0 or self.elsewhere(line) > 0


def _count(line: bytes, text: bytes) -> int:
    """Count a line in a text that starts with a newline, all of whose lines are complete."""
    found, at, wanted = 0, text.find(b"\n" + line + b"\n"), b"\n" + line + b"\n"
    while at >= 0:
        found, at = found + 1, text.find(wanted, at + len(wanted) - 1)
    return found


def _doubled(look: Look, texts: _Texts) -> bytes | None:
    # Of a million lines three came more or less often than before.
    for line, comes in [(line, n) for line, n in texts.new.items() if n != texts.old.get(line)]:
        most = max(texts.old[line], texts.disk[line])
        if comes <= most or most > 1 or not has_words(line):
            continue
        more = texts.elsewhere(line)
        if comes + more > 1 >= most + more:
            written = (b"\n" + complete(step.after) for step in look.steps if step.owner in look.names)
            if all(comes + more > _count(line, after) for after in written):
                return line
    return None


def _beside_its_rewrite(look: Look, texts: _Texts) -> bytes | None:
    """Return a line of HEAD that no record knows and the file has not, where one like it comes in its place.

    Somebody had rewritten the owner's line and committed that, and the file went back since; or he rewrote
    what another session had made of it, and changed that again.
    """
    fresh = [one for one in texts.new if texts.comes(one) and has_words(one)]
    stay = (line for line in texts.old if texts.old[line] == texts.new[line] == 1 and not texts.disk[line])
    unknown = _unknown(look, [line for line in stay if has_words(line)]) if fresh else []
    history = LineHistory(look.steps, look.worktree) if unknown else None
    gone = [one for one in fresh if not texts.stands(one)] if unknown else []
    made = {other for one in gone for other in history.became(one)} if history else set[bytes]()
    for line in unknown:
        if any(_is_like(line, one) for one in made if not texts.was(one)) and not texts.stands(line):
            return line
        alike = {one for one in fresh if _is_like(line, one)}
        there = exchanges(Step("", None, look.head, look.worktree)).get(line) if alike else None
        if there is not None and not alike.isdisjoint(there.came) and not texts.stands(line):
            return line
    return None


def _is_like(line: bytes, other: bytes) -> bool:
    """Tell whether a line has half the words of another."""
    said = set(words(other))
    return 2 * len(said.intersection(words(line))) >= len(said)


def _lost_on_return(look: Look, texts: _Texts) -> bytes | None:
    """Return a line that goes though the owners never saw it, where a deleted file came back without it.

    Somebody restored the file and changed it, or popped a stash from before the line: nobody can tell.
    """
    for at, (one, other) in enumerate(pairwise(look.steps), 1):
        if one.before is None and one.owner is None and one.put and other.owner is None:
            seen = [b"\n" + complete(step.before) for step in look.steps[at:] if step.owner in look.owners]
            gone = difference(other.before, other.after)[0]
            for line in filter(is_telling, gone):
                goes = texts.old[line] > texts.new[line] and not texts.stands(line)
                if goes and not any(_count(line, text) for text in seen):
                    return line
    return None


def _passed_before(look: Look, texts: _Texts) -> bytes | None:
    """Return a line that comes though somebody had replaced it, and HEAD had that while it had the file.

    `git rm --cached` and a commit leave the file on disk: what was settled there stays settled.
    """
    past = set(split_lines(look.past))
    upto = max((at for at, step in enumerate(look.steps) if step.after == look.past), default=-1)
    for at, step in enumerate(look.steps) if past else ():
        gone = difference(step.before, step.after)[0] if step.owner not in look.names else ()
        back = [line for line in gone if line not in past and texts.comes(line) and has_words(line)]
        back = [line for line in back if not texts.stands(line)]
        places = exchanges(step) if back and at > upto else {}
        for line in back:
            if at <= upto or not past.isdisjoint(places[line].came):
                return line
    return None


def _unknown(look: Look, lines: list[bytes]) -> list[bytes]:
    """Return the lines that no recorded edit found or left."""
    for step in look.steps[:1] if len(lines) > _FEW else ():
        # nearly all others' pending edits replaced lines that were there from the start
        found = set(split_lines(step.before))
        lines = [line for line in lines if line not in found]
    for step in look.steps if lines else ():
        for text in (step.before, step.after):
            whole = b"\n" + complete(text)
            lines = [line for line in lines if not _count(line, whole)]
            if not lines:
                return []
    return lines


def _beside(look: Look, texts: _Texts) -> bytes | None:
    """Return a line of HEAD that the answer keeps beside the file an owner made anew in its place.

    `cp other f` is a removal that nobody recorded, and a new file. A popped stash brings the new text back,
    and the removal is nobody's still.
    """
    last: bytes | None = None
    for step in look.steps:
        if step.before is None and step.owner in look.owners and last is not None and look.unsure(step.key):
            made = set(split_lines(step.after))
            if any(texts.new[line] > texts.old[line] for line in made if has_words(line)):
                for line in dict.fromkeys(split_lines(last)):
                    kept = texts.old[line] and texts.new[line] and has_words(line)
                    if kept and line not in made and not texts.stands(line):
                        return line
        last = step.before if step.before is not None else last
        last = step.after if step.after is not None else last
    return None


def _came_along(look: Look, line: bytes) -> bool:
    """Tell whether HEAD had a line where one of the owners moved the file from."""
    texts = [step.moved for step in look.steps if step.moved is not None and step.owner in look.owners]
    return any(_count(line, b"\n" + complete(text)) for text in texts)


def _is_wrong(look: Look, line: bytes, texts: _Texts, history: LineHistory) -> bool:
    was, comes, stands = texts.old[line], texts.new[line], texts.disk[line]
    if max(was, comes, stands) > 1 or was == comes == stands:
        return False
    return _speak_against(look, line, texts, history) and not texts.elsewhere(line)


def _speak_against(look: Look, line: bytes, texts: _Texts, history: LineHistory) -> bool:
    was, comes, stands = texts.old[line], texts.new[line], texts.disk[line]
    changes = history.get(line, ())
    last, change = changes[-1] if changes else (None, 0)
    if comes and not was and _is_made_of_others(look, line, texts, history):
        return True
    if was and stands and not comes:
        # a lone "return" on disk may be one that somebody else wrote elsewhere
        others = any(n > 0 and step.owner not in look.names for step, n in changes)
        return not _put_back(look, changes) and (is_telling(line) or not others)
    if comes and not was and not stands:
        if last is not None and last.owner is None and _is_sure(look, changes):
            return False  # git put nothing back since it was written: a person removed it, and that is told
        return not (_came_along(look, line) or _is_covered(look, line, texts, history))
    if was and not comes and not stands and _goes_alone(look, line, texts, history):
        return True
    if was and comes and not stands and _is_half_replaced(look, line, texts, history):
        return True
    if was != comes or last is None or not look.is_whole:
        return False
    if stands and not was and last.owner is None and change > 0:
        return _is_back(look, line, changes)
    if last.owner not in look.owners:
        return False
    if (change > 0) != (stands > 0):
        return False
    # A removal whose own text is gone was rewritten: that is another's to commit.
    fresh = [] if change > 0 else history.exchanged(last, line).came.alike(line)
    return not fresh or any(texts.stands(one) for one in fresh)


def _is_sure(look: Look, changes: Changes) -> bool:
    """Tell whether git put no file back since an owner wrote a line last."""
    own = [step for step, change in changes if change > 0 and step.owner in look.owners]
    return bool(own) and own[-1].moved is None and not look.unsure(own[-1].key)


def _goes_alone(look: Look, line: bytes, texts: _Texts, history: LineHistory) -> bool:
    """Tell whether a line goes without what its owner put there, which another session rewrote since."""
    own = [step for step, change in history.get(line, ()) if change < 0 and step.owner in look.owners]
    fresh = history.exchanged(own[-1], line).came.alike(line) if own else []
    if not fresh or any(texts.was(one) or texts.comes(one) or texts.stands(one) for one in fresh):
        return False
    last = [history[one][-1][0] for one in fresh if one in history]
    others = [step for step in last if step.owner is not None and step.owner not in look.names]
    return any(not _is_settled(look, step) for step in others)


def _is_settled(look: Look, step: Step) -> bool:
    """Tell whether a commit took the only change of a step."""
    if step.key not in look.done:
        return False  # of a step with more changes the commit may have left this one
    return len(line_hunks(split_lines(step.before), split_lines(step.after))) == 1


def _is_half_replaced(look: Look, line: bytes, texts: _Texts, history: LineHistory) -> bool:
    """Tell whether a line stays although what its owner put in its place comes, or what it had replaced."""
    own = [change for step, change in history.get(line, ()) if step.owner in look.names]
    if (not own or own[-1] < 0) and any(map(texts.comes, history.became(line))):
        return True
    return any(map(texts.comes, history.stood_for(line)))


def _has_lost_its_place(look: Look, line: bytes, texts: _Texts, history: LineHistory) -> bool:
    """Tell whether HEAD had what a line came in the place of, and has nothing of that any more.

    Then whoever took the line away had that committed: the removal waits no longer.
    """
    earlier = history.stood_for(line)
    if any(map(texts.was, earlier)):
        return False
    changes = [history[one] for one in earlier if one in history]
    return any(each[0][1] < 0 or any(n > 0 and s.key in look.done for s, n in each) for each in changes)


def _is_made_of_others(
    look: Look, line: bytes, texts: _Texts, history: LineHistory, is_first: bool = True
) -> bool:
    """Tell whether a line that replaced one which HEAD lacks keeps words from it that are not the owners'.

    A reset may have taken a merge out of HEAD, with a line of it that was edited since.
    """
    changes = history.get(line, ())
    own = next((step for step, change in changes if change > 0 and step.owner in look.names), None)
    if own is None:
        return is_first and _corrects_what_others_made(look, line, texts, history)
    replaced = history.exchanged(own, line).gone
    kept = (word for word in words(line) if not all(map(texts.was, replaced.with_word(word))))
    return any(
        history.first_writer(word) not in look.names for word in kept if word not in texts.words_of_head
    )


def _corrects_what_others_made(look: Look, line: bytes, texts: _Texts, history: LineHistory) -> bool:
    """Tell whether a line that nobody recorded follows as the correction of such a line."""
    born = next((step for step, change in history.get(line, ()) if change > 0), None)
    if born is None or born.owner is not None:
        return False
    said = set(words(line))
    old = (one for one in history.exchanged(born, line).gone if not said.isdisjoint(words(one)))
    return any(_is_made_of_others(look, one, texts, history, is_first=False) for one in old)


def _is_covered(look: Look, line: bytes, texts: _Texts, history: LineHistory) -> bool:
    """Tell whether another session took a line away last, and its own text stands or is covered in turn."""
    # Each line once: in a block of ten lines that was rewritten twenty times all stand for each other.
    asked, todo = set[bytes](), [line]
    while todo:
        one = todo.pop()
        changes = history.get(one, ())
        if one in asked or not changes:
            continue
        asked.add(one)
        last, change = changes[-1]
        if change > 0 or last.owner is None or last.owner in look.names:
            continue
        fresh = history.exchanged(last, one).came
        if not fresh and _waits(look, one, last, texts, history):
            return True
        # what HEAD has came in the place of the line for good
        pending = (other for other in fresh if texts.stands(other) and not texts.was(other))
        if not all(_came_back_unasked(look, history.get(other, ())) for other in pending):
            return True
        is_unsure = look.unsure(last.key)
        if any(_was_rewritten(other, texts, history, is_unsure) for other in fresh):
            return True
        todo += fresh
    return False


def _came_back_unasked(look: Look, changes: Changes) -> bool:
    """Tell whether an owner had taken a line away and nobody's change put it back: no session's any more."""
    if len(changes) < 2:
        return False
    (taken, went), (back, came) = changes[-2:]
    return went < 0 < came and back.owner is None and taken.owner in look.names


def _waits(look: Look, line: bytes, removal: Step, texts: _Texts, history: LineHistory) -> bool:
    """Tell whether another session's removal of a line, with nothing in its place, is still pending."""
    if _is_settled(look, removal) or _found_all_settled(look, removal):
        return False
    if _has_lost_its_place(look, line, texts, history) or _went_with_git(look, line, removal, history):
        return False
    if look.unsure(removal.key) and _stayed_away(line, removal, history):
        return False
    own = {one for one in history if _wrote(look, one, history[one])}
    return _is_pending(removal, own | {line}, texts)


def _went_with_git(look: Look, line: bytes, removal: Step, history: LineHistory) -> bool:
    """Tell whether git may have taken a line's whole edit away since another session removed the line.

    Then what came beside it is gone by nobody's record.
    """
    born = next((step for step, change in history.get(line, ()) if change > 0), None)
    if born is None or not look.unsure(removal.key):
        return False
    beside = (
        history[one][-1] for one in history.exchanged(born, line).came if one != line and one in history
    )
    return any(change < 0 and step.owner is None for step, change in beside)


def _stayed_away(line: bytes, removal: Step, history: LineHistory) -> bool:
    """Tell whether nobody brought a line back, but what it stood for or what went with it.

    A reset gave the file other text there: no removal of the line waits any more.
    """
    since = next((n for n, step in enumerate(history.steps, 1) if step is removal), 0)
    later = {id(step) for step in history.steps[since:] if step.owner is None}
    beside = difference(removal.before, removal.after)[0].keys() | history.stood_for(line)
    return any(
        change > 0 and id(step) in later
        for one in filter(history.is_telling, beside - {line})
        for step, change in history.get(one, ())
    )


def _wrote(look: Look, line: bytes, changes: Changes) -> bool:
    """Tell whether an owner wrote a line first, or ever one of which there are many."""
    puts = [step.owner for step, change in changes if change > 0]
    if changes[0][1] > 0 and puts[0] in look.names:
        return True
    return not is_telling(line) and any(owner in look.names for owner in puts)


def _was_rewritten(line: bytes, texts: _Texts, history: LineHistory, is_unsure: bool) -> bool:
    """Tell whether nobody's change took a line away last, and what stands in its place HEAD has not.

    Where git put files back it must keep most of the words: a person corrected the line.
    """
    last, change = history[line][-1] if line in history else (None, 0)
    if last is None or change > 0 or last.owner is not None:
        return False
    came = (one for one in history.exchanged(last, line).came if texts.stands(one) and not texts.was(one))
    return any(not is_unsure or keeps_most_words(line, one) for one in came)


def _is_pending(removal: Step, own: set[bytes], texts: _Texts) -> bool:
    """Tell whether HEAD has not seen a removal, no line of which is in the file.

    It has a line of it, or lacks one that stood there then and stands there still. What the commit is to
    bring, the `own` lines, HEAD never had.
    """
    gone, _ = difference(removal.before, removal.after)
    others = [one for one in gone if one not in own and has_words(one)]
    if not others or any(map(texts.stands, others)):
        return not others
    if any(map(texts.was, others)):
        return True
    there = texts.disk.keys() & set(split_lines(removal.after))
    return any(is_telling(one) and texts.stands(one) and not texts.was(one) for one in there)


def _found_all_settled(look: Look, removal: Step) -> bool:
    """Tell whether no removal was waiting any more: the file was just what HEAD holds.

    A later edit started from there, or git put it there and nobody's change brought lines after, as a popped
    stash does.
    """
    since = next((n for n, step in enumerate(look.steps, 1) if step is removal), len(look.steps))
    nobodys = [step for step in look.steps[since:] if step.owner is None]
    while nobodys and not nobodys[-1].put and not difference(nobodys[-1].before, nobodys[-1].after)[1]:
        nobodys.pop()
    is_put = bool(nobodys) and nobodys[-1].put and nobodys[-1].after == look.head
    return is_put or any(step.clean for step in look.steps[since:])


def _is_back(look: Look, line: bytes, changes: Changes) -> bool:
    """Tell whether a pending line of an owner's came back by nobody's change, as with a popped stash."""
    writers = {step.owner for step, change in changes if change > 0 and step.owner is not None}
    first, made = changes[0]
    if made < 0 or first.owner not in look.owners or not is_telling(line):
        return False
    last = next(step for step, _ in reversed(changes) if step.owner is not None)
    return (
        first.owner is not None
        and writers <= set(look.owners)
        and last.owner in look.owners
        and look.unsure(first.key)
        and not any(step.put and _count(line, b"\n" + complete(step.after)) for step in look.steps)
        and (last.key not in look.done or look.undone(last.key))
    )


def _put_back(look: Look, changes: Changes) -> bool:
    """Tell whether another session put a line in after the owner had taken it away."""
    taken = back = False
    for step, change in changes:
        if step.owner in look.names:
            taken, back = taken or change < 0, back and change > 0
        elif step.owner is not None:
            back = taken and change > 0
    return back

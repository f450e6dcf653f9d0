"""What the user's index should hold after a commit: the same staged changes as before.

An entry that equalled HEAD moves on with HEAD. An entry that the user staged is merged with the new HEAD,
three ways, or stays as it is where it holds the commit already. A conflict is found here, before anything
moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from gitralph.base.kinds import Kind, Why
from gitralph.base.layout import Layout
from gitralph.commit import carryover
from gitralph.decide.decision import ENTANGLED, WHOLE_FILE, Left
from gitralph.decide.request import Draft
from gitralph.git.index import Staged
from gitralph.git.run import Git
from gitralph.git.texts import with_line_feeds
from gitralph.git.trees import FILES, Entry
from gitralph.hook.journal import GAP, Record, full_lines, replay, text_id
from gitralph.lines.text import words
from gitralph.records.path_records import PathState

# git's own threshold for a rename, `git diff -M50%` (gitdiffcore).
_ALIKE = 0.5
# The blob of no bytes, which `git add -N` puts into the index until the file is added (git 2.39).
_EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

# The default of mappings that nobody may change.
_NONE: Mapping[Any, Any] = MappingProxyType({})


class IndexPlan(NamedTuple):
    """Entries to change, flags to keep, and the conflicts that forbid the commit."""

    changes: Mapping[bytes, Entry | None] = _NONE
    old: Mapping[bytes, Entry | None] = _NONE
    flags: Mapping[bytes, str] = _NONE
    conflicts: tuple[Left, ...] = ()


def _is_file(entry: Entry | None) -> bool:
    return entry is not None and entry.mode in FILES


def _merged_mode(old: Entry | None, new: Entry, staged: Entry) -> int | None:
    # The mode is merged three ways like the text: the side that did not change it does not count.
    if staged.mode == new.mode or (old is not None and staged.mode == old.mode):
        return new.mode
    return staged.mode if old is not None and new.mode == old.mode else None


class IndexFacts(NamedTuple):
    """What a plan looks at: the user's index, HEAD's entries, the commit's, and the files on disk.

    ``own`` gives the blobs of a path that are pending states of the session without a line of anybody else,
    see `own_states`.
    ``wrote`` gives, by path and HEAD's text, the lines that this session alone ever wrote there. ``git``
    writes merged blobs, so its objects must be those that the commit uses.
    """

    git: Git
    folder: str
    staged: Mapping[bytes, Staged]
    old: Mapping[bytes, Entry | None]
    new: Mapping[bytes, Entry | None]
    now: Mapping[bytes, Entry | None]
    own: Callable[[bytes], Mapping[bytes, bytes | None]]
    wrote: Callable[[bytes, bytes], Collection[bytes]]

    def there(self, path: bytes) -> Entry | None:
        """The index entry of a path."""
        mark = self.staged.get(path)
        return mark.entry if mark else None

    def text(self, entry: Entry | None) -> bytes:
        """The bytes of a blob, empty without an entry."""
        return b"" if entry is None else self.git.run("cat-file", "blob", entry.oid)


def _merge(facts: IndexFacts, path: bytes, old: Entry | None, staged: Entry) -> Entry | None:
    """The staged content merged with the new HEAD; None where they conflict."""
    new = facts.new[path]
    assert new is not None
    mode = _merged_mode(old, new, staged)
    if mode is None:
        return None
    texts = {"new": facts.text(new), "old": facts.text(old), "staged": facts.text(staged)}
    # git's three-way merge comes first, since users know its conflicts. Without a common ancestor it cannot
    # work.
    merged = _by_git(facts, texts) if old is not None else None

    now = facts.now.get(path)
    kept = facts.text(now) if _is_file(now) else None
    sides = texts["old"], texts["new"], texts["staged"], kept, lambda: facts.wrote(path, texts["old"])
    if merged is None or not carryover.is_complete(merged, *sides[:3]):
        merged = carryover.carried(*sides)
        if merged is not None and carryover.brings_back(merged, *sides[:3]):
            merged = None
    if merged is not None:
        merged = carryover.without_doubles(merged, *sides)
    if merged is None:
        return None
    return Entry(mode, facts.git.run("hash-object", "-w", "--stdin", stdin=merged).strip())


def _by_git(facts: IndexFacts, texts: Mapping[str, bytes]) -> bytes | None:
    """git's own three-way merge, None for a conflict."""
    names = []
    for name, text in texts.items():
        names.append(f"{facts.folder}/merge-{name}")
        with open(names[-1], "wb") as file:
            file.write(text)
    done = facts.git.try_run("merge-file", "-p", "-q", *names)
    return None if done.returncode else done.stdout


def _moved_from(facts: IndexFacts, path: bytes) -> Entry | None:
    """The entry that a staged file had in HEAD under a name that index and commit remove (``git mv``).

    Of several the most similar wins. It must be half alike, as git demands of a rename.
    """
    there = facts.there(path)
    if facts.old.get(path) is not None or not _is_file(there):
        return None
    gone = [p for p, e in facts.new.items() if e is None and facts.there(p) is None]
    known = [e for e in map(facts.old.get, gone) if e is not None and _is_file(e)]
    same = [e for e in known if there is not None and e.oid == there.oid]
    if same:
        return same[0]

    lines = Counter(facts.text(there).split(b"\n"))
    shares = [(_shared(lines, Counter(facts.text(e).split(b"\n"))), e) for e in known]
    share, found = max(shares, default=(0.0, None), key=lambda one: one[0])
    return found if share >= _ALIKE else None


def _shared(one: Counter[bytes], other: Counter[bytes]) -> float:
    return (one & other).total() / max(one.total(), other.total(), 1)


def _carried(facts: IndexFacts, path: bytes) -> tuple[bool, Entry | None]:
    """Whether a path that the user staged can be carried over, and its entry."""
    new, staged = facts.new[path], facts.there(path)
    old = facts.old.get(path) or _moved_from(facts, path)
    if staged is not None and staged == old:
        return True, new
    if staged is None or not (_is_file(new) and _is_file(staged)) or not (old is None or _is_file(old)):
        return False, None
    merged = _merge(facts, path, old, staged)
    return merged is not None, merged


def plan(facts: IndexFacts) -> IndexPlan:
    """The index after the commit."""
    changes: dict[bytes, Entry | None] = {}
    before: dict[bytes, Entry | None] = {}
    flags: dict[bytes, str] = {}
    conflicts = []
    for path, entry in facts.new.items():
        mark, there, old = facts.staged.get(path), facts.there(path), facts.old.get(path)
        # `git add` has staged the path as it will be committed, so nothing is to change.
        if there == entry:
            continue
        # `git add -N` announces a file and stages no text, so there is nothing of the user's to carry over.
        plain = there == old or _is_intent_to_add(there, old)
        if plain or _is_own_state(facts, path):
            wanted = entry
        else:
            possible, wanted = _carried(facts, path)
            if not possible and _only_of(facts, path):
                possible, wanted = True, entry
            if not possible:
                conflicts.append(Left(path, ENTANGLED, Why(Kind.STAGED_VERSION)))
                continue
        if wanted != there:
            before[path] = there
            flags[path] = mark.flags if mark else ""
            changes[path] = wanted
    return IndexPlan(changes, before, flags, tuple(conflicts))


def _is_intent_to_add(there: Entry | None, old: Entry | None) -> bool:
    return old is None and there is not None and there.oid == _EMPTY_BLOB


def _is_own_state(facts: IndexFacts, path: bytes) -> bool:
    """True when a state of the session's own is staged of a path, and nothing of it is in the index alone.

    What the session itself took back since is given up. What somebody else took back in the file is not.
    """
    there, new = facts.there(path), facts.new[path]
    own = facts.own(path) if there is not None else {}
    if there is None or there.oid not in own:
        return False
    last = own[there.oid]
    if last is None or not (_is_file(new) and _is_file(there)):
        return True
    was = facts.text(facts.old.get(path) or _moved_from(facts, path))
    texts = map(full_lines, (was, facts.text(new), facts.text(there), last))
    return not carryover.stands_alone(*texts)


def _only_of(facts: IndexFacts, path: bytes) -> bool:
    """True when only this session's lines are staged of a path, and the commit has them or newer ones."""
    entries = facts.old.get(path), facts.new[path], facts.there(path)
    if not all(map(_is_file, entries)):
        return False

    texts = [facts.text(entry) for entry in entries]
    old, new, staged = map(full_lines, texts)
    return carryover.is_only_own(old, new, staged, facts.wrote(path, texts[0]))


def _lines_of_nobody(lay: Layout, state: PathState, head: bytes, staged: bytes) -> set[bytes]:
    """The staged lines that no session ever brought to the path."""
    brought = set[bytes]()
    for record, before, after in replay(state.journal, lay):
        if record.op != GAP:
            brought.update(set(full_lines(after or b"")).difference(full_lines(before or b"")))
    return set(full_lines(staged)).difference(full_lines(head), brought)


def own_lines(lay: Layout, made: Draft, path: bytes, head: bytes, staged: bytes) -> set[bytes]:
    """The lines of a path that only this session's edits brought.

    A line that an edit made of another session's line is left out where HEAD lacks that line, and so is one
    made of a person's line: to give it up would give up that line. For a person it is the ``staged`` lines
    that no edit brought.
    """
    state = made.states.get(path)
    if state is None:
        return set()
    if made.by_person:
        return _lines_of_nobody(lay, state, head, staged)

    mine, others, made_of = set[bytes](), set[bytes](), dict[bytes, set[bytes]]()
    for record, before, after in replay(state.journal, lay):
        old, new = set(full_lines(before or b"")), set(full_lines(after or b""))
        if record.session not in made.family or _brings_others(record, state, made):
            others |= new - old
            continue
        mine |= new - old
        gone = {word: line for line in old - new for word in words(line)}
        for line in new - old:
            made_of.setdefault(line, set()).update(gone[word] for word in words(line) if word in gone)
    known = (mine - others).union(full_lines(head))
    return {line for line in mine - others if made_of.get(line, set()) <= known}


def _brings_others(record: Record, state: PathState, made: Draft) -> bool:
    """True when the text that a move brought holds others' edits."""
    return record.op == "rename-to" and bool(state.came_with.difference(made.family))


def own_states(lay: Layout, made: Draft, path: bytes, there: Staged | None) -> dict[bytes, bytes | None]:
    """The blobs of a path that this session's edits alone can have made, each with the last text of these.

    These are the texts on the way from HEAD's by its own edits, up to the first edit of anybody else. Where a
    person commits a file whole, it is what is staged, whatever it is.
    """
    state = made.states.get(path)
    if state is None or made.by_person:
        is_whole = made.by_person and made.how[path] == WHOLE_FILE
        return {there.entry.oid: None} if is_whole and there is not None and there.entry is not None else {}
    head = made.start.entry(path)
    ways: list[tuple[set[bytes], bytes | None]] = []
    at: bytes | None = None
    alone = False
    for record, before, after in replay(state.journal, lay):
        # git stores line feeds where the file may have carriage returns.
        forms = {text_id(t).encode() for t in _forms(before)} if before is not None else {None}
        is_own = record.session in made.family and not _brings_others(record, state, made)
        if is_own and (head.oid if head else None) in forms:
            alone, at = True, before
            ways.append((set(), b""))
        alone = alone and is_own and record.is_exact and before == at
        if alone:
            at = after
            found = {text_id(text).encode() for text in _forms(after)} if after is not None else set()
            ways[-1] = (ways[-1][0] | found, with_line_feeds(after or b""))
    return {oid: last for oids, last in ways for oid in oids}


def _forms(text: bytes) -> set[bytes]:
    return {text, with_line_feeds(text)}

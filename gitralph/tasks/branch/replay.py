"""Replays some commits of a branch on its base, without the others; in memory, nothing is written.

Where each wanted commit finds a path as the one before left it, its version of the path is taken as it is.
For any other path the weave of all its texts since the base (``lines.alone``) tells what it is with the
wanted commits alone, or which others these need.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gitralph.ask.whose import blob
from gitralph.git.listing import Pair
from gitralph.git.texts import is_binary
from gitralph.git.trees import FILES, BlockedError, Entry, TreeReader
from gitralph.hook.journal import TEXT_LIMIT
from gitralph.lines.alone import Alone, alone
from gitralph.lines.terms import Step
from gitralph.tasks.branch.since_base import History


class Need(NamedTuple):
    """A commit that has to come along, whose it is, and the path that needs it."""

    commit: str
    session: str | None
    path: bytes


class Text(NamedTuple):
    """A file that no commit has: its mode and its bytes."""

    mode: int
    data: bytes


_OTHER_SIDE = "the other side"
"""The key of a step that is no commit: it takes back what the base did since the branch began."""

Changes = dict[bytes, Entry | Text | None]


@dataclass(frozen=True)
class Replay:
    """What each commit changes on the base and the commits before it, and what they need."""

    changes: dict[str, Changes] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()


def replay(history: History, base: TreeReader, wanted: Collection[str]) -> Replay:
    """Replay the wanted commits in their order."""
    found = _Replaying(history, base, set(wanted))
    paths = dict.fromkeys(path for oid in found.wanted for path in history.changes.get(oid, ()))
    for path in paths:
        found.path(path)
    at = {oid: n for n, oid in enumerate(found.wanted)}
    needs = sorted(found.needs, key=lambda need: (at.get(need.commit, 0), need.path, need.session or ""))
    return Replay({oid: found.changes.get(oid, {}) for oid in found.wanted}, tuple(needs))


class _Replaying:
    def __init__(self, history: History, base: TreeReader, wanted: set[str]) -> None:
        self.history, self.base = history, base
        self.wanted = [oid for oid in history.commits if oid in wanted]
        self.changes: dict[str, Changes] = {}
        self.needs: dict[Need, None] = {}

    def path(self, path: bytes) -> None:
        """Decide what one path is after each commit."""
        rows = [(oid, self.history.changes[oid][path]) for oid in self.wanted if self._has(oid, path)]
        if self._is_blocked(path):
            self._need(path, self._in_its_way(path, rows[0][0]) or [rows[0][0]])
            return
        if self._is_untouched(path, [pair for _, pair in rows]):
            for oid, (_, new) in rows:
                self._put(oid, path, new)
            return
        steps = self._steps(path)
        known: dict[str, Alone] = {}
        if steps is not None:
            known = {one.key: one for one in alone(steps, self.wanted)}
        if not known:
            # The first one may stand on the base itself; then a later one is held up.
            held_up = (self._in_its_way(path, oid) for oid, _ in rows)
            self._need(path, next(filter(None, held_up), [rows[0][0]]))
            return
        mode = self._mode(path)
        for oid, pair in rows:
            one = known.get(oid)
            if one is None:
                self._need(path, self._in_its_way(path, oid) or [oid])
                continue
            merge = self._joining(oid) or oid
            self._need(path, [merge if need == _OTHER_SIDE else need for need in one.needs])
            mode = self._mode_after(path, oid, pair, mode)
            self._put(oid, path, None if one.text is None else _entry(pair, mode, one.text, self))

    def _has(self, oid: str, path: bytes) -> bool:
        return path in self.history.changes.get(oid, ())

    def _is_blocked(self, path: bytes) -> bool:
        """Tell whether the base has a file where a folder is to be, which no wanted commit removes."""
        try:
            self.base.lookup(path)
        except BlockedError as blocked:
            gone = [
                self.history.changes[oid][blocked.path] for oid in self.wanted if self._has(oid, blocked.path)
            ]
            return not any(new is None for _, new in gone)
        return False

    def _is_untouched(self, path: bytes, pairs: list[Pair]) -> bool:
        """Tell whether each commit finds the path as the one before left it."""
        now = self.base.lookup_safe(path)
        for old, new in pairs:
            if now != old:
                return False
            now = new
        return True

    def _steps(self, path: bytes) -> list[Step] | None:
        """What the branch did to a path; None where it is no text, or a merge hides how it came about.

        Where the base was merged into the branch, the branch began at an older commit. Then the first step
        takes back what the other side did since. It is not wanted, and the merge brings its lines again.
        """
        now, found = self.base.entry(path), list[Step]()
        text = self._text(now)
        for oid in self.history.touching(path):
            old, new = self.history.changes[oid][path]
            began, after = self._text(old), self._text(new)
            if old != now and not found and not isinstance(text, bool) and not isinstance(began, bool):
                found.append(Step(_OTHER_SIDE, _OTHER_SIDE, text, began))
                now, text = old, began
            if old != now or isinstance(text, bool) or isinstance(after, bool):
                return None
            found.append(Step(oid, (*self.history.sessions(oid), oid)[0], text, after))
            now, text = new, after
        return found

    def _text(self, entry: Entry | None) -> bytes | bool | None:
        """The text of a file, None for no file, False for what has no lines."""
        if entry is None:
            return None
        data = blob(self.history.ctx, entry.oid.decode()) if entry.mode in FILES else None
        return False if data is None or is_binary(data) or len(data) > TEXT_LIMIT else data

    def _mode(self, path: bytes) -> int:
        found = self.base.entry(path)
        return found.mode if found is not None else 0

    def _mode_after(self, path: bytes, oid: str, pair: Pair, now: int) -> int:
        old, new = (each.mode if each is not None else 0 for each in pair)
        if new in (old, 0):
            return now or new
        if now not in (old, new, 0):
            self._need(path, self._beside(path, oid))
        return new

    def _in_its_way(self, path: bytes, oid: str) -> list[str]:
        """The commits of others at a path before one; without them the merge that hides how it came about."""
        joining = self._joining(oid)
        return list(self._beside(path, oid)) or ([joining] if joining is not None else [])

    def _joining(self, oid: str) -> str | None:
        """The first merge after a commit."""
        oids = list(self.history.commits)
        later = (one for one in oids[oids.index(oid) :] if len(self.history.commits[one].parents) > 1)
        return next(later, None)

    def _beside(self, path: bytes, oid: str) -> Iterator[str]:
        """The commits before ``oid`` that are not wanted and touch the path, or one above or below it."""
        wanted = set(self.wanted)
        for other in self.history.commits:
            if other == oid:
                return
            if other not in wanted and any(_meet(path, each) for each in self.history.changes.get(other, ())):
                yield other

    def _need(self, path: bytes, commits: Collection[str] | Iterator[str]) -> None:
        for oid in commits:
            for session in self.history.sessions(oid) or (None,):
                self.needs[Need(oid, session, path)] = None

    def _put(self, oid: str, path: bytes, entry: Entry | Text | None) -> None:
        self.changes.setdefault(oid, {})[path] = entry


def _meet(one: bytes, other: bytes) -> bool:
    return one == other or one.startswith(other + b"/") or other.startswith(one + b"/")


def _entry(pair: Pair, mode: int, text: bytes, found: _Replaying) -> Entry | Text:
    new = pair[1]
    if new is not None and new.mode == mode and blob(found.history.ctx, new.oid.decode()) == text:
        return new
    return Text(mode, text)

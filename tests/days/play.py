"""Plays a day step by step and judges every commit of ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gitralph.base.kinds import Kind
from gitralph.words import sentences
from tests.days.judge import Case, Commit, Fault, judge, moved, staged
from tests.days.place import Place, Shot, as_text
from tests.days.remembered import remembered
from tests.days.steps import CORRECTIONS, DONE_OVER, EDITS, FILE_EDITS, HUMAN, SESSIONS, Day, Step
from tests.days.truth import GIT, Text, Truth, lines_of
from tests.days.world import World

SOFT = frozenset(["GHOST", "DRY", "NEEDLESS"])
"""Faults after which a day goes on; they are counted."""
BY_HAND = frozenset([*EDITS, *DONE_OVER, *FILE_EDITS, *CORRECTIONS])
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None


@dataclass
class Tally:
    """What came of some days."""

    steps: int = 0
    days: int = 0
    committed: int = 0
    nothing: int = 0
    refused: int = 0
    needless: int = 0
    prescribed: int = 0
    """Refused though git could merge, as the user wants it (see `_OLD_COPY`)."""
    reasons: Counter[str] = field(default_factory=Counter)
    needless_reasons: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, int, Fault]] = field(default_factory=list)
    """Seed, step, fault."""
    needless_at: list[tuple[int, int, Fault]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        for name in ("steps", "days", "committed", "nothing", "refused", "needless", "prescribed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.reasons += other.reasons
        self.needless_reasons += other.needless_reasons
        self.faults += other.faults
        self.needless_at += other.needless_at

    @property
    def calls(self) -> int:
        return self.committed + self.nothing + self.refused

    def __str__(self) -> str:
        asked = max(self.committed + self.refused, 1)
        rows = [
            f"{self.days} days, {self.steps} steps, {self.calls} commits asked: {self.committed} made, "
            f"{self.nothing} with nothing, {self.refused} refused ({100 * self.refused / asked:.1f} %), "
            f"{self.needless} of these needlessly ({100 * self.needless / asked:.2f} %)"
        ]
        rows.append(
            f"  {self.prescribed:6} refused though git could merge, for a write that knew nothing of an edit"
        )
        # one wrong commit may show many lines: commits are what counts
        calls = {(seed, step, fault.name) for seed, step, fault in self.faults}
        rows.append(f"  {len({(seed, step) for seed, step, _ in calls}):6} calls with any fault, of these")
        rows += [f"  {n:6} {name}" for name, n in Counter(name for _, _, name in calls).most_common()]
        rows += [f"  refused {count:6} {name}" for name, count in self.reasons.most_common(25)]
        rows += [f"  needless {count:5} {name}" for name, count in self.needless_reasons.most_common(25)]
        return "\n".join(rows)


_OLD_COPY = sentences.TABLE[Kind.OLD_READ].partition("{")[0]
"""An edit that a person took back by hand and one that a later write threw away leave the same records, where
no hook saw the file before that write: the write is refused, and git's merge, which knows of neither, is no
measure."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for one day."""
    folder = Path(tempfile.mkdtemp(prefix="day-", dir=FOLDER))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Player:
    """One day. `stop` says for which faults it ends early; `tell` gets a line for each thing."""

    def __init__(
        self,
        day: Day,
        folder: Path,
        tell: Callable[[str], None] | None = None,
        passed: Collection[str] = (),
    ) -> None:
        self.day = day
        self.world = World(folder, day)
        self.place: Place = self.world.place
        self.truth = Truth()
        self.tally = Tally(days=1)
        self.tell = tell
        self.passed = SOFT | set(passed)
        self.heard: list[str] = []
        self.before_commit: set[str] = set()
        self.told: set[tuple[str, str, str, str]] = set()
        self.settled: dict[str, dict[str, tuple[int, set[str]]]] = {}
        """Each session's paths that a call was done with and told of."""
        self.truth.observe(0, "base", {}, texts(self.world.shot))
        self._compare(0, self.world.shot)

    def play(self) -> Tally:
        """All steps, or up to the first hard fault."""
        for step in self.day.steps:
            found = self.step(step)
            hard = [fault for fault in found if fault.kind not in self.passed]
            if hard:
                return self.tally
        if self.place.git("fsck", "--no-progress", "--connectivity-only"):
            self._report(self.day.steps[-1], [Fault("MOVED", "git fsck complains", text=self.place.said)])
        return self.tally

    def step(self, step: Step) -> list[Fault]:
        """One step."""
        self.place.tick()
        self.tally.steps += 1
        before = self.world.shot
        if step.actor not in SESSIONS or step.verb.startswith("ralph"):
            self.world.end_all()  # what a person or git does while a command runs, nobody can tell from it
        if step.verb.startswith("ralph"):
            faults = self._ralph(step, before)
        else:
            faults = []
            self.world.run(step)
            after = self.world.shot = self.place.shot()
            actor = step.actor if step.verb in BY_HAND else GIT
            heads = partial(self._heads, before, after)
            self.truth.observe(step.number, actor, texts(before), texts(after), heads)
        self._compare(step.number, self.world.shot, step.verb)
        if self.tell and (self.world.shot != before or faults or step.verb.startswith("ralph")):
            said, self.heard = self.heard, []
            for row in [
                str(step),
                *("        " + row for row in changes(self.place, before, self.world.shot)),
            ]:
                self.tell(row)
            for row in said:
                self.tell(row)
        self._report(step, faults)
        return faults

    def _report(self, step: Step, faults: list[Fault]) -> None:
        for fault in faults:
            key = (fault.kind, step.actor, fault.path, fault.text)
            if key not in self.told:
                self.told.add(key)
                self.tally.faults.append((self.day.seed, step.number, fault))
                if self.tell:
                    self.tell(f"  FAULT {fault}")

    def _head_texts(self, shot: Shot) -> Mapping[str, Text]:
        return {path: self.place.objects.text(oid) for path, (_, oid) in shot.head.items()}

    def _heads(self, *shots: Shot) -> tuple[Mapping[str, Text], ...]:
        return tuple(map(self._head_texts, shots))

    def _compare(self, number: int, shot: Shot, verb: str = "") -> None:
        reset_to = self._ancestry(shot.commit) if verb in ("reset-soft", "reset-mixed") else ()
        self.truth.compare(number, self._head_texts(shot), texts(shot), shot.commit, reset_to)

    def _ancestry(self, commit: str) -> Iterator[str]:
        """A commit and its ancestors, of a merge those of the branch that was merged into."""
        while commit:
            yield commit
            commit = next(iter(self.place.objects.commit(commit)[1]), "")

    # --- our commits ---

    def _ralph(self, step: Step, before: Shot) -> list[Fault]:
        if step.actor not in self.world.known and step.actor != HUMAN:
            return []
        options = {
            "ralph-skip": ["--skip-entangled"],
            "ralph-include": ["--include-entangled"],
            "ralph-path": ["--", self.world.path(step)],
        }.get(step.verb, [])
        path = self.world.path(step)
        if step.verb == "ralph-path" and path not in {*before.disk, *before.head, *before.index}:
            return []
        before = self.place.with_refs(before)
        faults: list[Fault] = []
        dry = pending = None
        if step.verb == "ralph-dry":
            pending = self._pending(step.actor, faults)
            said = self.place.ralph("ls-files", "-z", "--session", step.actor).text
            self.before_commit = set(said.split("\0")[:-1])
            dry = self._call(faults, "commit", "--session", step.actor, "--json", "--dry-run")
            if self.place.with_refs(self.place.shot()) != before:
                faults.append(Fault("MOVED", "by a dry run"))
        whose = ["--mine"] if step.actor == HUMAN else ["--session", step.actor]
        document = self._call(faults, "commit", *whose, "--json", "-m", "x", *options)
        self.world.shot = self.place.shot()
        after = self.place.with_refs(self.world.shot)
        if document is None:
            return faults
        if self.tell:
            left = ", ".join(
                f"{r['path']}: {r['reason']} {r['lines'] or ''} {r['detail']}" for r in document["left"]
            )
            self.heard.append(f"  -> {document['status']} {left}")
            self.heard += [f"     note: {note}" for note in document["notes"]]
        if dry is not None:
            faults += agreement(dry, document, pending, step.actor)
            faults += self._listed(step.actor, dry)
        commit = self._commit(step, before, after, document)
        if document["status"] == "refused":
            self.tally.refused += 1
            self._count_refusal(commit)
            if self._is_clean(before):
                faults.append(Fault("GHOST", "refused though HEAD, index and files are the same"))
            return [*faults, *moved(commit), *staged(self.truth, commit)]
        if document["status"] == "committed":
            self.tally.committed += 1
        else:
            self.tally.nothing += 1
        faults += judge(self.truth, commit)
        self.settled[step.actor] = {**commit.told, **commit.settled}
        stays = any(row["reason"] != "unchanged" for row in document["left"])
        if stays and self._is_clean(before):
            faults.append(Fault("GHOST", "something is left though HEAD, index and files are the same"))
        return faults

    def _is_clean(self, shot: Shot) -> bool:
        return texts(shot) == self._head_texts(shot) and shot.index == shot.head

    def _commit(self, step: Step, before: Shot, after: Shot, document: Mapping[str, Any]) -> Commit:
        includes = self.place.includes() if document["status"] == "committed" else frozenset[str]()
        paths = [self.world.path(step)] if step.verb == "ralph-path" else None
        return Commit(
            step.actor,
            step.number,
            before,
            after,
            document,
            self.place.objects,
            includes,
            paths,
            step.verb == "ralph-include",
            told=self.settled.get(step.actor, {}),
        )

    def _call(self, faults: list[Fault], *args: str) -> dict[str, Any] | None:
        done = self.place.ralph(*args)
        if done.code not in (0, 4) or "Traceback" in done.said or "internal error" in done.said:
            faults.append(Fault("CRASH", f"exit {done.code}: {wording(done.said.strip().split(chr(10))[0])}"))
            return None
        found: dict[str, Any] = json.loads(done.out)
        return found

    def _pending(self, who: str, faults: list[Fault]) -> int | None:
        done = self.place.ralph("session", "list", "--json")
        if done.code:
            faults.append(Fault("CRASH", f"session list: exit {done.code}"))
            return None
        rows = [row["pending"] for row in json.loads(done.out) if row["id"] == who]
        return int(rows[0]) if rows else 0

    def _listed(self, who: str, dry: Mapping[str, Any]) -> list[Fault]:
        """`ls-files` names the paths that a commit finds something in."""
        listed = self.before_commit
        found = {row["path"] for row in dry["paths"]}
        found |= {row["path"] for row in dry["left"] if is_pending(row, who)}
        listed -= {row["path"] for row in dry["left"] if row["reason"] == "gone"}  # either will do
        wrong = found - listed if dry["status"] == "refused" or waits(dry) else found ^ listed
        return [
            Fault("GHOST", f"ls-files {'lists' if path in listed else 'lacks'} a path", path)
            for path in sorted(wrong)
        ]

    # --- refusals ---

    def _count_refusal(self, commit: Commit) -> None:
        rows = commit.document["left"]
        told = {f"{row['reason']}: {wording(row['detail']).partition(' of ')[0]}" for row in rows}
        reasons = sorted(one for one in told if not one.startswith("unchanged"))
        if not rows:
            reasons = [wording(" ".join(commit.document["notes"]))]
        name = " + ".join(reasons[:2]) + (" + more" if len(reasons) > 2 else "")
        self.tally.reasons[name] += 1
        stands = [row for row in rows if row["reason"] not in ("unchanged", "ignored")]
        paths = {row["path"] for row in stands}
        # of a person's changes there is no record that git could merge
        if commit.who != HUMAN and paths and all(self._could(commit, path) for path in sorted(paths)):
            if all(row["detail"].startswith(_OLD_COPY) for row in stands):
                self.tally.prescribed += 1
                return
            self.tally.needless += 1
            self.tally.needless_reasons[name] += 1
            if self.tell:
                self.heard.append(f"  NEEDLESS {name}")
            self.tally.needless_at.append((self.day.seed, commit.step, Fault("NEEDLESS", name)))

    def _could(self, commit: Commit, path: str) -> bool:
        """Could git have merged this session's edits onto HEAD, and the staged text onto that?"""
        case = commit.case(self.truth, path)
        case.new, case.is_back = case.old, False
        for number, who, before, after in self.world.recorded.get(path, ()):
            if who == commit.who and self._waits(case, before, after):
                if number in self.world.whole and after != case.disk:
                    return False  # moves and deletions are told apart as whole files only
                merged = self._merge(before, case.new, after)
                if isinstance(merged, bool):
                    return False
                case.new = merged
        case.said = False
        if case.judge():
            return False
        was = commit.before.index.get(path)
        if was == commit.before.head.get(path) or case.new == case.old:
            return True
        text = self.place.objects.text(was[1]) if was else None
        came, went = lines_of(case.new) - lines_of(case.old), lines_of(case.old) - lines_of(case.new)
        if came <= lines_of(text) and not went & lines_of(text):
            return True
        return self._merge(case.old, text, case.new) is not False

    @staticmethod
    def _waits(case: Case, before: Text, after: Text) -> bool:
        """Tell whether something of an edit is to be committed."""
        head, disk = lines_of(case.old), lines_of(case.disk)
        put, gone = lines_of(after) - lines_of(before), lines_of(before) - lines_of(after)
        if any(line in disk or not case.uncovered(line) for line in put - head):
            return True
        # what was removed may have been another's pending form of a line that HEAD still has
        return any(gone & {line, *case.truth.came_instead(case.path, line)} for line in head - disk)

    def _merge(self, base: Text, ours: Text, theirs: Text) -> Text | bool:
        """Git's own three-way merge of lines; False where it conflicts."""
        if ours == base or base == theirs:
            return theirs if ours == base else ours
        if base is None or ours is None or theirs is None:
            return ours if ours == theirs else False
        names = []
        for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            names.append(f"{self.place.root.parent}/merge-{name}")
            Path(names[-1]).write_text("".join(line + "\n" for line in text))
        done = subprocess.run(["git", "merge-file", "-p", "-q", *names], capture_output=True, check=False)
        return as_text(done.stdout) if done.returncode == 0 else False


def texts(shot: Shot) -> Mapping[str, Text]:
    """The files on disk, as lines."""
    return {path: as_text(data) for path, data in shot.disk.items()}


def wording(text: str) -> str:
    """A message without what differs from day to day."""
    text = re.sub(r"'[^']*'( and session '[^']*')*", "'…'", text)
    return re.sub(r"lines? [\d-]+|\d+", "N", text)


def agreement(
    dry: Mapping[str, Any], real: Mapping[str, Any], pending: int | None, who: str = ""
) -> list[Fault]:
    """A dry run says what the commit then does, and the list of sessions counts the same."""
    faults = []
    same = {"dry-run": "committed"}.get(dry["status"], dry["status"])
    if same != real["status"] or dry["paths"] != real["paths"]:
        faults.append(Fault("DRY", f"{dry['status']}, then {real['status']}"))
    found = bool(dry["paths"]) or any(is_pending(row, who) for row in dry["left"])
    # what waits for another session's commit is pending, though a commit finds nothing to take yet
    found = found or dry["status"] == "refused" or waits(dry)
    if pending is not None and (pending > 0) != found:
        faults.append(
            Fault("GHOST", f"listed as {'pending' if pending else 'done'}, commit: {dry['status']}")
        )
    return faults


NONE_OF_IT = ("unchanged", "gone", "shell")
"""Reasons that leave nothing pending; what a shell made is offered, and pending once it is asked for."""


def is_pending(row: Mapping[str, Any], who: str) -> bool:
    """Tell whether something of the session is left; what one of several may have made is nobody's."""
    may_be_both = row["reason"] == "contested" and who in row["sessions"]
    return row["reason"] not in NONE_OF_IT and not may_be_both


def waits(dry: Mapping[str, Any]) -> bool:
    """Tell whether an edit waits for another's commit: of the lines that it removes, or of a moved file."""
    return any(
        said in note for note in dry["notes"] for said in ("not committed yet", "whose commit goes first")
    )


def changes(place: Place, before: Shot, after: Shot) -> Iterator[str]:
    """What a step changed, a row for each file and place."""
    from tests.days.truth import hunks

    if before.branch != after.branch:
        yield f"branch {after.branch}"
    for name in ("disk", "index", "head"):
        for path in sorted({*getattr(before, name), *getattr(after, name)}):
            old, new = (_text_in(place, shot, name, path) for shot in (before, after))
            if old == new:
                continue
            if new is None:
                yield f"{name} {path} gone"
                continue
            for gone, put in hunks(old or (), new):
                at = next((n for n in range(len(new)) if new[n : n + len(put)] == put), 0) if put else 0
                where = f" line {at + 1}" if put else ""
                yield f"{name} {path}{where}: {_brief(gone)}  ->  {_brief(put)}"


def _brief(lines: tuple[str, ...]) -> str:
    if len(lines) > 5:
        lines = (*lines[:2], f"({len(lines) - 3} lines)", lines[-1])
    return " | ".join(lines) or "-"


def _text_in(place: Place, shot: Shot, name: str, path: str) -> Text:
    if name == "disk":
        return as_text(shot.disk.get(path))
    entry = getattr(shot, name).get(path)
    return place.objects.text(entry[1]) if entry else None


def play(day: Day, tell: Callable[[str], None] | None = None, passed: Collection[str] = ()) -> Tally:
    """Play a day in a folder of its own."""
    with scratch() as folder:
        kept = dict(os.environ)
        try:
            player = Player(day, folder, tell, passed)
            os.environ.clear()
            os.environ.update(player.place.env)
            with remembered(f"{player.place.git_dir}/config"):
                return player.play()
        finally:
            os.environ.clear()
            os.environ.update(kept)


__all__ = ["HUMAN", "Player", "Tally", "play"]

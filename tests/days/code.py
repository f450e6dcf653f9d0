"""Days over code: functions that all hold the same lines, so that only their names tell whose they are.

`python -m tests.days.code --seed 1 --days 300` plays them; `--seed N --reduce` makes a small day of a fault.
With `--indented` the functions have no braces: their lines alone say where one ends. The words of the other
days stand once each; a brace, an empty line or a call in every function do not.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from itertools import groupby
from random import Random
from typing import Any, NamedTuple

from tests.days.judge import Commit, Fault, judge, moved, staged
from tests.days.place import Place
from tests.days.play import scratch
from tests.days.truth import GIT, HUMAN, Text, Truth
from tests.support import payloads

CUT = ("cut",)
"""The text is not made of whole functions."""
SESSIONS = ("s1", "s2", "s3")
Version = tuple[str, int]
"""The value in a function, and which of the bodies it has."""
Functions = dict[str, Version]
"""The functions of a text, in their order."""
VERBS = (
    "commit -a",
    "commit -a",
    "add -A",
    "commit",
    "stash push",
    "stash pop",
    "stash pop --index",
    "checkout",
    "reset",
    "reset --soft",
    "reset --hard",
    "unstage",
    "revert",
    "amend",
    "pull",
    "pull",
    "cherry-pick",
    "merge",
    "part",
    "part",
    "part and commit",
    "part and commit",
)


class Language(NamedTuple):
    """How functions are written; blank lines between them say nothing where ``is_loose``."""

    file: str
    header: str
    opens: str
    bodies: tuple[str, ...]
    ends: str
    values: tuple[str, ...]
    is_loose: bool

    def text_of(self, name: str, version: Version) -> str:
        body = self.bodies[version[1]].format(version[0])
        return f"{self.opens.format(name)}\n{body}{self.ends}\n"

    def rendered(self, functions: Functions) -> str:
        return self.header + "".join(self.text_of(*each) for each in functions.items())

    def parsed(self, text: str | None) -> Functions | None:
        """The functions of a text; None where it is not made of whole ones."""
        if text is None or not text.startswith(self.header):
            return None
        found: Functions = {}
        before, _, after = self.opens.partition("{}")
        for chunk in self._chunks(text.removeprefix(self.header), before):
            name = chunk.partition("\n")[0].removeprefix(before).removesuffix(after.format())
            kinds = [(value[1], n) for n, word in enumerate(self.values) if (value := re.search(word, chunk))]
            whole = [version for version in kinds if self.text_of(name, version).strip() == chunk.strip()]
            if not whole or name in found:
                return None
            found[name] = whole[0]
        return found if self.is_loose or self.rendered(found) == text else None

    def _chunks(self, text: str, before: str) -> list[str]:
        if self.is_loose:
            lines = "\n".join(line for line in text.split("\n") if line)
            text = lines.replace(f"\n{before}", f"\n\n{before}")
        return [chunk for chunk in text.split("\n\n") if chunk]

    def units(self, data: bytes | None) -> Text:
        """What the judge takes for the lines of a text: its functions, each with its version."""
        if data is None:
            return None
        found = self.parsed(data.decode())
        return CUT if found is None else tuple(f"{name}_{v}_{kind}" for name, (v, kind) in found.items())


BRACES = Language(
    "code.js",
    "import fs;\n\n",
    "function {}() {{",
    (
        "  init();\n  return {};\n",
        "  if (x) {{\n    return {};\n  }}\n",
        "  try {{\n    run({});\n  }} finally {{\n    done();\n  }}\n  return x;\n",
    ),
    "}\n",
    (r"return (\w+);", r"return (\w+);", r"run\((\w+)\)"),
    is_loose=False,
)
INDENTED = Language(
    "code.py",
    "import fs\n\n",
    "def {}():",
    (
        "    init()\n    return {}\n",
        "    if x:\n        return {}\n",
        "    try:\n        run({})\n    finally:\n        done()\n    return x\n",
    ),
    "",
    (r"return (\w+)", r"return (\w+)", r"run\((\w+)\)"),
    is_loose=True,
)


class Ended(Exception):
    """Git left a text that is not made of whole functions: the day is over."""


class CodeDay:
    """One day. Each step is drawn by itself, so that a day can be played without some."""

    def __init__(
        self,
        seed: int,
        tell: Callable[[str], None] | None = None,
        skip: Collection[int] = (),
        language: Language = BRACES,
    ) -> None:
        self.seed, self.tell, self.skip, self.language = seed, tell, skip, language
        self.rand, self.now = Random(seed), 0
        self.touches: dict[str, list[tuple[Version | None, Version | None, str]]] = {}
        """Per function who made which version of which."""
        self.truth = Truth()
        self.elsewhere: list[tuple[str, Version | None, Version | None]] = []
        self.known: list[str] = []
        self.tally: Counter[str] = Counter()
        self.faults: list[tuple[int, str, str]] = []
        self.wrote: dict[str, Counter[str]] = {}
        """The lines that each writer's edits ever brought, and ``took`` those that they took away."""
        self.took: dict[str, Counter[str]] = {}
        self.settled: dict[str, dict[str, tuple[int, set[str]]]] = {}
        """Each session's paths that a call was done with and told of."""

    def play(self) -> CodeDay:
        with scratch() as folder:
            place = self.place = Place(folder)
            count, steps = self.rand.choice((3, 6, 12)), self.rand.choice((10, 20, 40, 80))
            base = {f"base{n}": ("0", self.rand.choice((0, 0, 1, 2))) for n in range(count)}
            place.write(self.language.file, self.language.rendered(base).encode())
            place.git("config", "ralph.headsUp", "off")  # a hook that only records says nothing
            place.git("add", "-A")
            place.git("commit", "-q", "-m", "base")
            place.remote()
            place.git("push", "-q", "origin", "main")
            self._see({}, "base")
            for self.now in range(steps):
                if self.now in self.skip:
                    continue
                self.rand = Random(f"{self.seed}:{self.now}")
                place.tick()
                self.tally["steps"] += 1
                try:
                    self._step()
                except Ended:
                    break
                if self.faults:
                    break
        return self

    def _say(self, *words: object) -> None:
        if self.tell:
            self.tell(" ".join(map(str, (self.now, *words))))

    def _fault(self, fault: Fault) -> None:
        self.faults.append((self.now, fault.kind, str(fault)[:400]))
        self._say("FAULT", fault)

    def _blob(self, entry: tuple[int, str] | None) -> str | None:
        return None if entry is None else self.place.objects.read(entry[1])[1].decode()

    def _head(self) -> str | None:
        return self._blob(self.place.objects.files(self.place.head()[0]).get(self.language.file))

    def _index(self) -> str | None:
        return self._blob(self.place._entries()[0].get(self.language.file))

    def _disk(self) -> str:
        return (self.place.read(self.language.file) or b"").decode()

    def _step(self) -> None:
        disk, head = self.language.parsed(self._disk()), self.language.parsed(self._head())
        if disk is None or head is None:
            raise Ended
        self.shot, actor = self.place.shot(), GIT
        kind = self.rand.random()
        if kind < 0.5:
            actor = self.rand.choice((*SESSIONS, *SESSIONS[:2], HUMAN, HUMAN))
            self._edit(actor, disk, head)
        elif kind < 0.72:
            if self.known:
                self._commit(self.rand.choice(self.known))
        else:
            self._git(self.rand.choice(VERBS), disk, head)
        self._see(self.shot.disk, actor)

    def _see(self, before: Mapping[str, bytes], actor: str) -> None:
        """Tell the truth what an actor did."""
        shot = self.place.shot()
        disk = {path: self.language.units(data) for path, data in shot.disk.items()}
        self.truth.observe(
            self.now, actor, {path: self.language.units(data) for path, data in before.items()}, disk
        )
        self.truth.compare(
            self.now, {self.language.file: self.language.units((self._head() or "").encode())}, disk
        )

    def _touch(self, name: str, old: Version | None, new: Version | None, who: str) -> None:
        self.touches.setdefault(name, []).append((old, new, who))

    def hands(self, name: str, old: Version | None, new: Version | None) -> set[str] | None:
        """Who made one version of a function of another; None where nobody did."""
        rows, todo = self.touches.get(name, []), [old]
        found: dict[Version | None, set[str]] = {old: set()}
        while todo:
            at = todo.pop(0)
            for _, version in ((a, b) for a, b, _ in reversed(rows) if a == at and b not in found):
                found[version] = found[at] | {who for a, b, who in rows if (a, b) == (at, version)}
                todo.append(version)
        return found.get(new)

    # --- edits ---

    def _edit(self, who: str, disk: Functions, head: Functions) -> None:
        """Insert, remove or change functions that nobody else has touched since HEAD."""
        rand, now, before = self.rand, dict(disk), self._disk()
        for number in range(rand.choice((1, 1, 1, 2, 3))):
            hands = {name: self.hands(name, head.get(name), now[name]) for name in now}
            free = [name for name, all_hands in hands.items() if all_hands is not None and all_hands <= {who}]
            kind = rand.choice((0, 0, 1, 2)) if len(free) > 2 else 0
            name = rand.choice(free) if kind else f"{who}_{self.now}{number}"
            old: Version | None = now.get(name)
            new: Version | None = None
            if kind == 0:
                new = rand.choice(("0", "0", "1", f"1{self.now}{number}")), rand.choice((0, 0, 1, 2))
                rows = list(now.items())
                rows.insert(rand.randint(0, len(rows)), (name, new))
                now = dict(rows)
            elif kind == 1:
                del now[name]
            elif old is not None:
                new = now[name] = f"1{self.now}{number}", old[1]
            self._touch(name, old, new, who)
            self._say(who, name, old, "->", new)
        self._write(who, before, self.language.rendered(now))

    def _write(self, who: str, before: str, after: str) -> None:
        place, cwd = self.place, str(self.place.root)
        old, new = self._lines(before.encode()), self._lines(after.encode())
        self.wrote.setdefault(who, Counter()).update(new - old)
        self.took.setdefault(who, Counter()).update(old - new)
        if who == "s1":
            event = payloads.claude_write(
                who, cwd, f"{cwd}/{self.language.file}", before, after, tool_use_id=f"toolu_{self.now:04}"
            )
            self._hook("claude-code", payloads.claude_pre(event))
            place.write(self.language.file, after.encode())
            self._hook("claude-code", event)
        else:
            place.write(self.language.file, after.encode())
            if who != HUMAN:
                self._hook(
                    "generic", payloads.edit(who, cwd, self.language.file, before.encode(), after.encode())
                )
        if who != HUMAN and who not in self.known:
            self.known.append(who)

    def _hook(self, agent: str, payload: object) -> None:
        done = self.place.ralph("hook", agent, stdin=payloads.encode(payload))
        assert (done.code, done.out, done.err) == (0, b"", b""), done

    # --- our commits ---

    def _commit(self, who: str) -> None:
        before = self.place.with_refs(self.shot)
        done = self.place.ralph("commit", "--session", who, "--json", "-m", "x")
        assert done.code in (0, 4), done.said
        document: dict[str, Any] = json.loads(done.out)
        self.tally[document["status"]] += 1
        self._say(
            who, "COMMIT", document["status"], [r["detail"] for r in document["left"]], document["notes"]
        )
        includes = self.place.includes() if document["status"] == "committed" else frozenset[str]()
        commit = Commit(
            who,
            self.now,
            before,
            self.place.with_refs(self.place.shot()),
            document,
            self.place.objects,
            includes,
            read=self.language.units,
            told=self.settled.get(who, {}),
        )
        if document["status"] == "refused":
            faults = [*moved(commit), *staged(self.truth, commit)]
        else:
            faults = judge(self.truth, commit)
            self.settled[who] = {**commit.told, **commit.settled}
        if commit.text(commit.after.head, self.language.file) == CUT:
            faults = [Fault("CUT", "a function", self.language.file, self._head() or "")]
        half = commit.text(before.index, self.language.file) == CUT
        for fault in faults:
            if half and fault.kind == "STAGED":
                continue
            if fault.kind == "FOREIGN" and self._is_own_line_for_line(commit):
                continue
            self._fault(fault)

    def _is_own_line_for_line(self, commit: Commit) -> bool:
        """True where the session wrote each line that came, and took away each that went.

        A session that puts one function in the place of another changes the head alone, where both say the
        same. git's merge brings a change of the old function into the new one then.
        """
        files = (commit.before.head, commit.after.head)
        old, new = (self._lines(commit.objects.read(each[self.language.file][1])[1]) for each in files)
        wrote, took = (each.get(commit.who, Counter[str]()) for each in (self.wrote, self.took))
        return new - old <= wrote and old - new <= took

    @staticmethod
    def _lines(text: bytes) -> Counter[str]:
        return Counter(line for line in text.decode().split("\n") if line)

    # --- git ---

    def _git(self, verb: str, disk: Functions, head: Functions) -> None:
        place = self.place
        if verb.startswith("part"):
            code = self._stage_one(disk)
            if verb == "part and commit" and not code:
                code = place.git("commit", "-q", "-m", "part")
        elif verb in ("pull", "cherry-pick", "merge"):
            code = self._from_elsewhere(verb)
        else:
            options = {
                "commit -a": ("commit", "-q", "-a", "-m", "human"),
                "commit": ("commit", "-q", "-m", "human"),
                "checkout": ("checkout", "-q", "--", self.language.file),
                "reset": ("reset", "-q", "HEAD~1"),
                "reset --soft": ("reset", "-q", "--soft", "HEAD~1"),
                "unstage": ("reset", "-q"),
                "reset --hard": ("reset", "-q", "--hard", self.rand.choice(("HEAD", "HEAD~1"))),
                "revert": ("revert", "--no-edit", "HEAD"),
                "amend": ("commit", "-q", "--amend", "--no-edit", *self.rand.choice(((), ("-a",)))),
            }
            code = place.git(*options.get(verb, verb.split()))
            if verb.startswith("stash pop") and place._entries()[1]:
                self._settle()
                place.git("stash", "drop", "-q")
        for name, command in (
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
            ("MERGE_HEAD", "merge"),
        ):
            if (place.git_dir / name).exists() and place.git(command, "--abort"):
                place.git(command, "--quit")
        self._settle()
        self._say("git", verb, "" if not code else f"exit {code}")
        self._learn(head)

    def _settle(self) -> None:
        if self.place._entries()[1]:
            self.place.git("checkout", self.rand.choice(("--ours", "--theirs")), "--", self.language.file)
            self.place.git("reset", "-q")

    def _stage_one(self, disk: Functions) -> int:
        """As `git add -p`: one function that differs."""
        index = self.language.parsed(self._index())
        names = [name for name in {**(index or {}), **disk} if (index or {}).get(name) != disk.get(name)]
        if index is None or not names:
            return 1
        name = self.rand.choice(names)
        taken = {**index, name: disk[name]} if name in disk else {n: v for n, v in index.items() if n != name}
        order = list(index)
        if name in disk and name not in index:
            above = [one for one in list(disk)[: list(disk).index(name)] if one in index]
            order.insert(order.index(above[-1]) + 1 if above else 0, name)
        text = self.language.rendered({one: taken[one] for one in order if one in taken})
        oid = self.place.objects.write("blob", text.encode())
        return self.place.git("update-index", "--cacheinfo", f"100644,{oid},{self.language.file}")

    def _from_elsewhere(self, verb: str) -> int:
        """A commit that somebody made in another clone: one function put in, taken out or changed."""
        place, rand = self.place, self.rand
        remote = place.bare / "refs/heads/main"
        tip = remote.read_text().strip() if verb == "pull" else place.head()[0]
        if verb != "pull" and rand.random() < 0.5:
            tip = (*place.objects.commit(tip)[1], tip)[0]
        there = self.language.parsed(self._blob(place.objects.files(tip).get(self.language.file)))
        if there is None:
            return 1
        rows, kind = list(there.items()), rand.choice((0, 0, 1, 2))
        if kind == 0 or len(rows) < 3:
            row = f"r_{self.now}", (rand.choice(("0", "1")), rand.choice((0, 1, 2)))
            rows.insert(rand.randint(0, len(rows)), row)
            self.elsewhere.append((row[0], None, row[1]))
        else:
            name, old = rows[at := rand.randrange(len(rows))]
            new = (f"2{self.now}", old[1]) if kind == 2 else None
            rows[at : at + 1] = [] if new is None else [(name, new)]
            self.elsewhere.append((name, old, new))
        made = place.make_commit(
            place.objects, tip, self.language.file, self.language.rendered(dict(rows)).encode()
        )
        if verb == "pull":
            remote.write_text(made + "\n")
            return place.git("pull", "-q", "--rebase", "--no-edit", "--autostash", "origin", "main")
        if verb == "cherry-pick":
            return place.git("cherry-pick", made)
        return place.git("merge", "-q", "--no-edit", *rand.choice(((), ("--autostash",))), made)

    def _learn(self, before: Functions) -> None:
        """What git itself did (a revert, a pull, one side of a conflict) is git's."""
        head, disk = self.language.parsed(self._head()), self.language.parsed(self._disk())
        if head is None or disk is None:
            raise Ended
        for name, old, new in self.elsewhere:
            if before.get(name) != new == head.get(name):
                self._touch(name, old, new, GIT)
        for one, other in ((before, head), (head, disk)):
            for name in {**one, **other}:
                if self.hands(name, one.get(name), other.get(name)) is None:
                    self._touch(name, one.get(name), other.get(name), GIT)


def reduced(seed: int, language: Language) -> list[str]:
    """A day without the steps that its first fault does not need, told."""
    day = CodeDay(seed, language=language).play()
    if not day.faults:
        return []
    last, kind, _ = day.faults[0]
    skip = set(range(last + 1, 80))
    for size in (16, 4, 2, 1, 1):
        for at in range(0, last, size):
            more = skip.union(range(at, min(at + size, last)))
            if kind in {name for _, name, _ in CodeDay(seed, skip=more, language=language).play().faults}:
                skip = more
    said: list[str] = []
    CodeDay(seed, said.append, skip, language).play()
    return said


def _one(job: tuple[int, Language]) -> tuple[int, Counter[str], list[tuple[int, str, str]]]:
    seed, language = job
    day = CodeDay(seed, language=language).play()
    return seed, day.tally, day.faults


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.days.code", description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--days", type=int, default=1)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--indented", action="store_true")
    options.add_argument("--reduce", action="store_true")
    asked = options.parse_args()
    language = INDENTED if asked.indented else BRACES
    if asked.reduce:
        print("\n".join(reduced(asked.seed, language)))
        return 0
    total, faults = Counter[str](), list[tuple[int, int, str]]()
    jobs = [(seed, language) for seed in range(asked.seed, asked.seed + asked.days)]
    with multiprocessing.Pool(asked.jobs, maxtasksperchild=50) as pool:
        for seed, tally, found in pool.imap_unordered(_one, jobs):
            total += tally
            for step, kinds in groupby(found, key=lambda row: row[0]):
                faults.append((seed, step, next(kinds)[1]))
                print(f"seed {seed} step {step}: {faults[-1][2]}", flush=True)
    print(f"{len(faults)} days with a fault;", ", ".join(f"{n} {name}" for name, n in total.most_common()))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())

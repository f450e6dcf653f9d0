"""Does the steps of a day in a real repository: recorded edits, unrecorded ones, and git."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.days.place import Place, Shot, as_text
from tests.days.steps import FILES, HUMAN, SHELLS, STARTING, Day, Step
from tests.days.truth import Text, hunks, lines_of, words_of, written
from tests.support import payloads

NOISE = ("", "}", "    return", "{")
CLAUDE = ("s1", "s2", "s5")
"""Sessions whose edits come as Claude Code sends them; the others use the generic form."""
Recorded = tuple[int, str, Text, Text]
"""Step, session, text before, text after."""


class World:
    """A day being played. `shot` is how everything stood before the step."""

    def __init__(self, folder: Path, day: Day) -> None:
        self.day = day
        self.place = place = Place(folder, day.shells)
        self.recorded: dict[str, list[Recorded]] = {}
        self.known: set[str] = set()
        self.whole: set[int] = set()
        """Steps that moved or deleted a file."""
        self.mends: list[tuple[str, str, str]] = []
        """The human's corrections: a file, a line of a session, and what he made of it."""
        self.branches = ["main"]
        self.open: dict[str, str] = {}
        """The shell commands that run still, by session."""
        if day.crlf:  # not in the tree, where a revert of the first commit takes it away
            (place.git_dir / "info").mkdir(exist_ok=True)
            (place.git_dir / "info/attributes").write_bytes(b"* text=auto\n")
        for number in range(STARTING):
            rand = Random(number + 1)
            lines = [self._line("base", number, k, rand) for k in range(day.lines[number])]
            place.write(FILES[number], self.raw(lines))
        place.git("add", "-A")
        place.git("commit", "-q", "-m", "base")
        place.remote()
        self.shot = place.shot()
        self.begun = ""

    # --- texts ---

    def raw(self, lines: list[str] | tuple[str, ...]) -> bytes:
        end = "\r\n" if self.day.crlf else "\n"
        return "".join(line + end for line in lines).encode()

    def _line(self, who: str, step: int, k: int, rand: Random) -> str:
        if rand.random() * 100 < self.day.noise and k:
            return rand.choice(NOISE)
        count = rand.choice((1, 2, 3))
        return rand.choice(("", "", "  ")) + " ".join(f"{who}_{step}_{k * 4 + n}" for n in range(count))

    def _block(self, step: Step, count: int, who: str | None = None, first: int = 0) -> list[str]:
        rand = Random(step.flag + first)
        return [self._line(who or step.actor, step.number, first + k, rand) for k in range(count)]

    def text(self, path: str) -> list[str] | None:
        found = as_text(self.shot.disk.get(path))
        return None if found is None else list(found)

    def path(self, step: Step) -> str:
        return FILES[step.file % len(FILES)]

    # --- edits ---

    def change(self, step: Step, path: str, new: list[str] | None, op: str = "edit") -> bool:
        """Write a file as the actor does; a session's edit is recorded."""
        before = self.shot.disk.get(path)
        after = None if new is None else self.raw(new)
        if before == after:
            return False
        if step.actor == HUMAN:
            self.place.write(path, after)
            return True
        self.record(step, path, before, after)
        return True

    def record(self, step: Step, path: str, before: bytes | None, after: bytes | None) -> None:
        """Change a file and send what the agent's hooks would say of it."""
        who, cwd, place = step.actor, str(self.place.root), self.place
        self.known.add(who)
        self.recorded.setdefault(path, []).append((step.number, who, as_text(before), as_text(after)))
        call = {"tool_use_id": f"toolu_{step.number:04}"}
        if self.by_shell(who):
            self.whole |= {step.number} if after is None else set()
            self.begin(step)
            place.write(path, after)
            if step.flag % 4:
                self.end(who)
        elif after is None:
            self.whole.add(step.number)
            place.write(path, None)
            self.hook("generic", payloads.edit(who, cwd, path, before, None, event="delete"))
        elif who in CLAUDE:
            text = None if before is None else before.decode().replace("\r\n", "\n")
            full = f"{cwd}/{path}"
            event = payloads.claude_write(who, cwd, full, text, after.decode().replace("\r\n", "\n"), **call)
            self.hook("claude-code", payloads.claude_pre(event))
            place.write(path, after)
            self.hook("claude-code", event)
        else:
            if step.verb == "again":  # without it nobody knows whether an old read was merged
                pre = {
                    "session": who,
                    "cwd": cwd,
                    "event": "pre",
                    "path": path,
                    "call": f"call-{step.number}",
                }
                self.hook("generic", pre)
            place.write(path, after)
            self.hook("generic", payloads.edit(who, cwd, path, before, after, call=f"call-{step.number}"))

    def by_shell(self, who: str) -> bool:
        return self.day.shells and who in SHELLS

    def begin(self, step: Step) -> None:
        """A session's shell command begins; those of others have ended, or nobody could tell them apart."""
        self.end_all()
        self.open[step.actor] = f"call-{step.number}"
        self._shell("shell-start", step.actor)

    def end(self, who: str) -> None:
        """Its command is over."""
        self._shell("shell-end", who)
        del self.open[who]

    def end_all(self) -> None:
        for who in list(self.open):
            self.end(who)

    def _shell(self, event: str, who: str) -> None:
        fields = {"session": who, "cwd": str(self.place.root), "event": event, "call": self.open[who]}
        self.hook("generic", fields)

    def hook(self, agent: str, payload: object) -> None:
        done = self.place.ralph("hook", agent, stdin=payloads.encode(payload))
        assert (done.code, done.out, done.err) == (0, b"", b""), done

    def _edit(self, text: list[str], step: Step, verb: str, at: int, first: int = 0) -> None:
        at = min(at, len(text))
        if verb == "insert":
            text[at:at] = self._block(step, step.new, first=first)
        elif verb == "replace":
            text[at : at + step.gone] = self._block(step, step.new, first=first)
        elif verb == "delete":
            del text[at : at + step.gone]
        elif verb == "tweak":
            spots = [k for k in range(len(text)) if written(text[k])]
            if spots:
                at = min(spots, key=lambda k: abs(k - at))
                old = written(text[at])
                one = old[step.flag % len(old)]
                text[at] = text[at].replace(one, f"{step.actor}_{step.number}_{first * 4}")

    def do_insert(self, step: Step) -> bool:
        path, text = self.path(step), self.text(self.path(step))
        if text is None:
            return False
        if step.verb == "several":
            for n in range(2 + step.flag % 2):
                verb = ("insert", "replace", "tweak", "delete")[(step.flag >> (2 * n)) % 4]
                self._edit(text, step, verb, step.at + 5 * n, first=20 * n)
        else:
            self._edit(text, step, step.verb, step.at)
        return self.change(step, path, text)

    do_replace = do_delete = do_tweak = do_several = do_insert

    def do_undo(self, step: Step) -> bool:
        """Take back the last own edit; the human takes back anybody's."""
        path, text = self.path(step), self.text(self.path(step))
        mine = [r for r in self.recorded.get(path, ()) if step.actor in (HUMAN, r[1])]
        if text is None or not mine or mine[-1][2] is None or mine[-1][3] is None:
            return False
        for old, new in hunks(mine[-1][2], mine[-1][3]):
            for at in range(len(text) - len(new) + 1):
                if new and tuple(text[at : at + len(new)]) == new:
                    text[at : at + len(new)] = old
                    break
        return self.change(step, path, text)

    def do_again(self, step: Step) -> bool:
        """Do again what an edit had done, of which nothing is left, and that no other session took away."""
        path, text = self.path(step), self.text(self.path(step))
        there = words_of(line for data in self.shot.disk.values() for line in as_text(data) or ())
        there |= words_of(x for _, oid in self.shot.head.values() for x in self.place.objects.text(oid) or ())
        done = list[tuple[list[str], list[str], list[str]]]()
        for at, (_, who, before, after) in enumerate(records := self.recorded.get(path, [])):
            for _, other, was, now in records[at:]:
                there |= words_of(was) - words_of(now) if other != who else set()
            for gone, made in hunks(before or (), after or ()):
                if after and lines_of(made) and not (words_of(made) - words_of(gone)) & there:
                    done.append((list(gone), list(made), list(after[: after.index(made[0])][-1:])))
        if text is None or not done:
            return False
        old, new, above = done[-1 - step.flag % min(len(done), 3)]
        spots = [at for at in range(len(text)) if old and text[at : at + len(old)] == old]
        if old and not spots:
            return False
        if step.flag % 3 and not old:
            spots = [at + 1 for at in range(len(text)) if text[at : at + 1] == above]
        at = spots[0] if spots else min(step.at, len(text))
        text[at : at + len(old) * bool(spots)] = new
        if step.flag % 4 == 0 and step.actor != HUMAN:  # and more in the same edit
            self._edit(text, step, "insert", step.at + 5)
        return self.change(step, path, text)

    def _pending_lines(self, text: list[str], path: str) -> list[int]:
        """Lines of sessions that HEAD has not."""
        entry = self.shot.head.get(path)
        head = set(self.place.objects.text(entry[1]) or ()) if entry else set()
        return [
            at for at, line in enumerate(text) if line not in head and any(w[0] == "s" for w in written(line))
        ]

    def do_correct(self, step: Step) -> bool:
        """The human or a formatter changes a line that a session has pending."""
        path, text = self.path(step), self.text(self.path(step))
        spots = self._pending_lines(text, path) if text else []
        if not text or not spots:
            return False
        at = spots[step.at % len(spots)]
        old = text[at]
        if step.verb == "correct":
            one = written(old)[-1]
            text[at] = old.replace(one, f"h_{step.number}_0")
            self.mends.append((path, old, text[at]))
        elif step.verb == "indent":
            text[at] = "  " + old
            self.mends.append((path, old, text[at]))
        elif step.verb == "drop":
            del text[at]
        elif at + 1 in spots:
            text.insert(at + 1, f"h_{step.number}_0")
        return self.change(step, path, text)

    do_indent = do_drop = do_within = do_correct

    def do_take_back(self, step: Step) -> bool:
        """The human takes back his last correction that stands, whatever was committed meanwhile."""
        path, text = self.path(step), self.text(self.path(step))
        for at, old, new in reversed(self.mends if text else []):
            if at == path and text and text.count(new) == 1:
                text[text.index(new)] = old
                return self.change(step, path, text)
        return False

    # --- whole files ---

    def do_create(self, step: Step) -> bool:
        path = self.path(step)
        if path in self.shot.disk or (self.place.root / path).is_dir():
            return False
        return self.change(step, path, self._block(step, step.new + 1))

    def do_remove(self, step: Step) -> bool:
        path = self.path(step)
        return path in self.shot.disk and self.change(step, path, None)

    def do_rename(self, step: Step) -> bool:
        """A session's tool moves a file; a move onto a file that is there is `copy-over`."""
        old = FILES[step.at % len(FILES)]
        new = self.path(step)
        if old not in self.shot.disk or old == new or (new in self.shot.disk) != (step.verb == "copy-over"):
            return False
        place, cwd = self.place, str(self.place.root)
        by_shell = self.by_shell(step.actor)
        if by_shell:
            self.begin(step)
        (place.root / new).parent.mkdir(parents=True, exist_ok=True)
        os.rename(place.root / old, place.root / new)
        if step.actor == HUMAN:
            return True
        self.known.add(step.actor)
        self.whole.add(step.number)
        text, there = as_text(self.shot.disk[old]), as_text(self.shot.disk.get(new))
        self.recorded.setdefault(old, []).append((step.number, step.actor, text, None))
        self.recorded.setdefault(new, []).append((step.number, step.actor, there, text))
        if by_shell:
            self.end(step.actor)
        else:
            fields = {"session": step.actor, "cwd": cwd, "event": "rename", "path": old, "to": new}
            self.hook("generic", fields)
        return True

    def do_copy_over(self, step: Step) -> bool:
        return self.do_rename(step)

    # --- git ---

    def git(self, *args: str) -> bool:
        """Run git, then take back or settle what it could not finish."""
        done = self.place.git(*args)
        self.begun = args[0]
        return done == 0

    def settle(self, step: Step) -> None:
        """Leave no operation in progress and no conflict behind."""
        place, folder = self.place, self.place.git_dir
        for name, verb in (
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
            ("MERGE_HEAD", "merge"),
        ):
            # one that ended before it began has no head to go back to
            running = (folder / name).exists()
            if running and place.git(verb, "--abort") and place.git(verb, "--quit"):
                shutil.rmtree(folder / name)
        unmerged = place._entries()[1]
        if unmerged:
            side, other = ("--ours", "--theirs") if step.flag % 2 else ("--theirs", "--ours")
            for path in unmerged:  # one side may have deleted it
                if place.git("checkout", side, "--", path):
                    place.git("checkout", other, "--", path)
            assert place.git("reset", "-q") == 0, place.said

    def do_add(self, step: Step) -> bool:
        return self.git("add", "--", self.path(step))

    def do_add_all(self, _step: Step) -> bool:
        return self.git("add", "-A")

    def do_add_hunk(self, step: Step) -> bool:
        """As `add -p`: one changed stretch, or with its lines split only the first of them."""
        path, place = self.path(step), self.place
        old = place.objects.text((self.shot.index.get(path) or (0, None))[1])
        new = as_text(self.shot.disk.get(path))
        if old is None or new is None or old == new:
            return False
        spots = _stretches(old, new)
        at, stop, put = spots[step.at % len(spots)]
        if step.flag % 3 == 0 and len(put) > 1:
            put, stop = put[: len(put) // 2], at if step.flag % 2 else stop
        text = [*old[:at], *put, *old[stop:]]
        oid = place.objects.write("blob", "".join(line + "\n" for line in text).encode())
        mode = self.shot.index[path][0]
        return self.git("update-index", "--cacheinfo", f"{mode:o},{oid},{path}")

    def do_unstage(self, _step: Step) -> bool:
        return self.git("reset", "-q")

    def do_restore_staged(self, step: Step) -> bool:
        return self.git("restore", "--staged", "--", self.path(step))

    def _commit(self, *args: str) -> bool:
        return self.git("commit", "-q", "-m", "human", *args)

    def do_commit(self, _step: Step) -> bool:
        return self._commit()

    def do_commit_all(self, _step: Step) -> bool:
        return self._commit("-a")

    def do_commit_everything(self, _step: Step) -> bool:
        self.git("add", "-A")
        return self._commit()

    def do_commit_path(self, step: Step) -> bool:
        return self._commit("--", self.path(step))

    def do_amend(self, step: Step) -> bool:
        return self.git("commit", "-q", "--amend", "--no-edit", *(("-a",) if step.flag % 3 == 0 else ()))

    def do_reset_soft(self, step: Step) -> bool:
        return self.git("reset", "-q", "--soft", f"HEAD~{1 + step.flag % 2}")

    def do_reset_mixed(self, step: Step) -> bool:
        return self.git("reset", "-q", f"HEAD~{1 + step.flag % 2}")

    def do_reset_hard(self, step: Step) -> bool:
        return self.git("reset", "-q", "--hard", ("HEAD", "HEAD~1")[step.flag % 2])

    def do_squash(self, _step: Step) -> bool:
        return self.git("reset", "-q", "--soft", "HEAD~2") and self._commit()

    def do_stash(self, step: Step) -> bool:
        options = ((), ("-u",), ("--keep-index",), ())[step.flag % 4]
        return self.git("stash", "push", "-q", *options)

    def do_stash_path(self, step: Step) -> bool:
        return self.git("stash", "push", "-q", "--", self.path(step))

    def do_stash_pop(self, step: Step) -> bool:
        if self.place.ref("refs/stash") is None:
            return False
        done = self.git("stash", "pop", "-q", *(("--index",) if step.flag % 4 == 0 else ()))
        if not done and self.place._entries()[1]:
            self.settle(step)
            self.git("stash", "drop", "-q")
        return True

    def do_stash_drop(self, _step: Step) -> bool:
        return self.place.ref("refs/stash") is not None and self.git("stash", "drop", "-q")

    def do_checkout_file(self, step: Step) -> bool:
        return self.git("checkout", "-q", "--", self.path(step))

    def do_checkout_all(self, _step: Step) -> bool:
        return self.git("checkout", "-q", "--", ".")

    def do_revert(self, _step: Step) -> bool:
        return self.git("revert", "--no-edit", "HEAD")

    def do_revert_staged(self, _step: Step) -> bool:
        done = self.git("revert", "--no-commit", "HEAD")
        self.git("revert", "--quit")
        return done

    def _elsewhere(self, step: Step, who: str, back: int) -> str | None:
        """A commit of somebody elsewhere on an ancestor of HEAD."""
        place, base = self.place, self.shot.commit
        for _ in range(back):
            parents = place.objects.commit(base)[1]
            base = parents[0] if parents else base
        path, files = self.path(step), place.objects.files(base)
        if path not in files:
            return None
        return place.make_commit(place.objects, base, path, self._other_text(step, who, files[path][1]))

    def _other_text(self, step: Step, who: str, blob: str) -> bytes:
        text = list(self.place.objects.text(blob) or ())
        at = min(step.at, len(text))
        stop = at + step.gone if step.flag % 2 else at
        text[at:stop] = self._block(step, min(step.new, 3), who)
        return "".join(line + "\n" for line in text).encode()

    def do_cherry_pick(self, step: Step) -> bool:
        made = self._elsewhere(step, "b", step.flag % 3)
        return made is not None and self.git("cherry-pick", made)

    def do_merge(self, step: Step) -> bool:
        made = self._elsewhere(step, "b", step.flag % 3)
        options = ("--autostash",) if step.flag % 5 == 0 else ()
        return made is not None and self.git("merge", "-q", "--no-edit", *options, made)

    def do_rebase(self, step: Step) -> bool:
        made = self._elsewhere(step, "b", 1 + step.flag % 2)
        return made is not None and self.git("rebase", "-q", "--autostash", made)

    def do_pull(self, step: Step) -> bool:
        """Another clone pushed; take it in with what is dirty laid aside."""
        place, path = self.place, self.path(step)
        ref = place.bare / "refs/heads/main"
        tip = ref.read_text().strip()
        self._share(tip)
        files = place.objects.files(tip)
        if path in files:
            made = place.make_commit(place.objects, tip, path, self._other_text(step, "r", files[path][1]))
            ref.write_text(made + "\n")
        how = "--no-rebase" if step.flag % 5 == 0 else "--rebase"
        return self.git("pull", "-q", how, "--no-edit", "--autostash", "origin", "main")

    def _share(self, tip: str) -> None:
        """Nothing is only in the remote: it borrows our objects."""
        self.place.objects.read(tip)

    def do_push(self, step: Step) -> bool:
        force = ("--force",) if step.flag % 2 else ()
        return self.git("push", "-q", *force, "origin", "HEAD:main")

    def do_switch_new(self, step: Step) -> bool:
        name = f"t{step.number}"
        done = self.git("switch", "-q", "-c", name, f"HEAD~{step.flag % 3}")
        if done:
            self.branches.append(name)
        return done

    def do_switch_back(self, step: Step) -> bool:
        if self.shot.branch != "main":
            return self.git("switch", "-q", "main")
        return self.git("switch", "-q", self.branches[step.at % len(self.branches)])

    def do_rm(self, step: Step) -> bool:
        return self.git("rm", "-q", *(("--cached",) if step.flag % 3 == 0 else ()), "--", self.path(step))

    def do_mv(self, step: Step) -> bool:
        old, new = FILES[step.at % len(FILES)], self.path(step)
        (self.place.root / new).parent.mkdir(exist_ok=True)
        return self.git("mv", old, new)

    def do_clean(self, _step: Step) -> bool:
        return self.git("clean", "-fdq")

    def run(self, step: Step) -> bool:
        """Do a step that is not a commit of ours; True where anything was tried."""
        self.begun = ""
        name = "do_" + step.verb.replace("-", "_")
        action: Callable[[Step], bool] = getattr(self, name)
        done = action(step)
        if self.begun:
            self.settle(step)
            return True
        return done


def _stretches(old: tuple[str, ...], new: tuple[str, ...]) -> list[tuple[int, int, list[str]]]:
    """(start, stop, lines put there) of each changed stretch of the old text."""
    import difflib

    match = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [(a, b, list(new[c:d])) for tag, a, b, c, d in match.get_opcodes() if tag != "equal"]


__all__ = ["Shot", "World"]

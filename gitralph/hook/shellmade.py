"""Finds the texts that a shell command made: from what was kept, from git, and from the files on disk.

Fast lane, loaded when a command changed something. It tells for each path what is the command's and what git
put there.
"""

import os
import time
from collections.abc import Iterable

from gitralph.hook import hook_git, journal, shellcalls, shellsteps, windows
from gitralph.hook.shellcalls import Look
from gitralph.hook.shellforms import UNKNOWN
from gitralph.hook.shellsteps import Call, Made, Texts
from gitralph.hook.windows import ChangedPath, Form

# In seconds. Looking into a stash costs a git process, only for the texts of what changed.
_SECONDS = 5.0
_ABSENT = (None, None)
Stashed = tuple[Texts, bool, bool]
"""The texts before and after in a stash, whether the stash is gone, and whether the command made it."""


def record_rows(look: Look, environ: dict[str, str], late: bool) -> list[str]:
    """Record what a look found changed (see ``shellwatch``); returns lines for the log."""
    window = next((w for w in windows.read(look.lay) if w.id == look.kept["id"]), None)
    if window is None:
        return ["a shell call was not told by line: the note of its begin is gone"]
    window.picture = None
    found = _Finder(look, environ)
    rows = [(str(r[0]), ChangedPath(_form(r[1]), _form(r[2]), _oid(r[3]))) for r in look.rows or []]
    made = found.made(rows)
    look.gits = sorted(found.gits)
    how = look.kept.get("how")
    word = how if how in ("", shellsteps.AUTO, shellsteps.INCLUDE) else shellsteps.OFFER
    call = Call(window, look.kept, word or shellsteps.AUTO, found.after.head, late)
    return [*found.told, *shellsteps.write(look.lay, call, made)]


def _oid(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _form(value: object) -> Form:
    return (_oid(value[0]), _oid(value[1])) if isinstance(value, list) else None


class _Finder:
    """Asks git once for all texts that a call needs."""

    def __init__(self, look: Look, environ: dict[str, str]) -> None:
        self.look = look
        self.environ = environ
        self.deadline = time.monotonic() + _SECONDS
        self.root = look.root
        assert look.before is not None
        assert look.after is not None
        assert look.place is not None
        self.before, self.after, self.place = look.before, look.after, look.place
        self.told: list[str] = []
        self.gits = set[str]()
        self.texts: dict[tuple[str, bytes], bytes] = {}
        self.bases: dict[str, tuple[bytes, ...]] = {}

    def made(self, rows: list[tuple[str, ChangedPath]]) -> list[Made]:
        """The command's part of each row."""
        self.gits = {name for name, form in rows if self._is_of_git(name, form)}
        rows = [(name, form) for name, form in rows if name not in self.gits]
        paths = {name: name.encode("utf-8", "surrogateescape") for name, _ in rows}
        asked = (self.root, self.look.options)
        filtered = hook_git.filtered(*asked, list(paths.values()), self.environ, self.deadline)
        plain = [name for name in paths if filtered is not None and paths[name] not in filtered]
        self.texts = hook_git.texts(*asked, self._wanted(rows, paths, plain), self.environ, self.deadline)
        stashed = self._stashed(list(paths))
        out = list[Made]()
        for name, form in rows:
            if name in plain and self._is_carried(name, paths[name], form):
                self.gits.add(name)
                continue
            is_plain = name in plain
            # nor is one that of a stash's blob, so it may be git's
            one = self._made(name, paths[name], form, is_plain) if is_plain or name not in stashed else None
            if one is None and form.after is None and form.base:
                continue  # it is as in HEAD
            if one is None:
                self.told.append(f"what a shell call did to '{name}' cannot be told by line: it is nobody's")
                continue
            stashes = stashed.get(name, ()) if one.is_known else ()
            if any(one.is_head or (is_new and one.after is None) for is_new in _with(one.before, stashes)):
                continue  # a stash has it
            popped = [is_gone for texts, is_gone, _ in stashes if shellsteps.is_gits(one, texts, is_gone)]
            # `git stash apply` leaves the stash. Of what only goes nobody can say whether it went by that or
            # by the command itself.
            one.may_be_gits = bool(popped)
            if not popped or not (any(popped) or shellsteps.brings(one)):
                out.append(one)
        return out

    def _is_carried(self, name: str, path: bytes, form: ChangedPath) -> bool:
        """True where git took what was uncommitted along to another HEAD, as `pull --autostash` does."""
        oids = self.look.moved.get(name)
        if oids is None or form.before is None or form.after is None:
            return False
        before = shellcalls.text_of(self.look.path, self.look.kept, form.before[0] or "")
        after = self.after.texts.get(form.after[0] or "")
        heads = [self.texts.get((oid, path)) for oid in oids]
        # no blob is read for the zeros of a commit without the file
        if None in (*heads, before, after) or form.before[1] != form.after[1]:
            return False
        old, new = heads
        return shellsteps.line_counts(old, before) == shellsteps.line_counts(new, after)

    def _is_of_git(self, name: str, form: ChangedPath) -> bool:
        """True for a file as in HEAD or as staged, and while git is in the middle of an operation."""
        old, new = self.before.rows.get(name), self.after.rows.get(name)
        if new is None:
            return form.base is not None and not self._loses(name, form)  # the file is as in HEAD
        if new[3] == "u":  # who settles a conflict by hand writes in it, and git goes no step on
            return old is None or old[3] != "u" or self.before.head != self.after.head
        if old is not None and old[3] is not None and new[1] == old[3]:
            return new[1] != old[1]
        began = hook_git.is_under_way(self.place.git_dir) and self.look.kept.get("operation") is not True
        return began and new[1] == new[3]

    def _loses(self, name: str, form: ChangedPath) -> bool:
        """True for a file that is as in HEAD now, and was not before: what nobody recorded would be lost."""
        return (
            form.before is not None
            and name not in self.look.moved
            and form.before[0] not in (None, form.base)
        )

    def _wanted(
        self, rows: list[tuple[str, ChangedPath]], paths: dict[str, bytes], plain: list[str]
    ) -> list[tuple[str, bytes]]:
        out = []
        for name, form in rows:
            if name in plain and (None in (form.before, form.after) or name in self.look.moved):
                for oid in (form.base, *self.look.moved.get(name, ())):
                    if oid and oid.strip("0"):
                        out.append((oid, paths[name]))
        return list(dict.fromkeys(out))

    def _before(
        self, name: str, path: bytes, form: ChangedPath, after: bytes | None
    ) -> tuple[bool, bytes | None]:
        """The text before the command, without git's part in it, and whether that text is known."""
        head_oid = self.look.moved.get(name, ("", ""))[1]
        head = self.texts.get((head_oid, path))
        if form.before == _ABSENT:  # HEAD's move brings back a file that was gone
            return head is not None or not head_oid.strip("0"), head
        if form.before is None and not form.base and name not in self.look.moved:
            return True, None
        if form.before is None:
            oids = dict.fromkeys([*self.look.moved.get(name, ()), *([form.base] if form.base else [])])
            found = [self.texts.get((oid, path)) for oid in oids if oid.strip("0")]
            if not found or None in found:
                return False, None
            self.bases[name] = tuple(text for text in found if text is not None)
            return self._nearest(self.bases[name], after)
        oid = form.before[0]
        text = shellcalls.text_of(self.look.path, self.look.kept, oid) if oid and oid != UNKNOWN else None
        if text is None or oid is None or self._is_left_alone(name, path, text, after):
            return text is not None, text
        return self._is_committed(name, oid, text, head, after), head

    def _is_left_alone(self, name: str, path: bytes, before: bytes, after: bytes | None) -> bool:
        """True where HEAD's move brought no line into a file that had been changed before.

        A commit leaves such a file alone and a checkout refuses it. A stash around a rebase brings lines of
        the new HEAD.
        """
        oid = self.look.moved.get(name, ("", ""))[1]
        if not oid.strip("0"):
            return True
        fresh = shellsteps.lines_of([after or b""]) - shellsteps.lines_of([before])
        return fresh.isdisjoint(shellsteps.lines_of([self.texts.get((oid, path), after or b"")]))

    def _is_committed(
        self, name: str, oid: str, text: bytes, head: bytes | None, after: bytes | None
    ) -> bool:
        """True where HEAD had the text lately, and moved on with nothing of it left in the file.

        So it is where a command commits, goes to another branch and works there.
        """
        if head is None:  # git did not tell it in time
            return False
        asked = [f"{commit}:{name}" for commit in hook_git.heads(self.place.git_dir)]
        found = hook_git.blobs(self.root, asked, self.environ, self.deadline)
        old = shellsteps.lines_of([text]) - shellsteps.lines_of([head])
        return oid in found.values() and old.isdisjoint(shellsteps.lines_of([after or b""]))

    def _nearest(self, texts: tuple[bytes, ...], after: bytes | None) -> tuple[bool, bytes | None]:
        """Of two HEADs' texts the one from which the command began; unknown where lines of both come.

        A file that is gone was HEAD's last.
        """
        best = min(reversed(texts), key=lambda text: len(shellsteps.touched(text, after)))
        others = shellsteps.lines_of(text for text in texts if text != best)
        came = shellsteps.lines_of([after or b""]) - shellsteps.lines_of([best])
        return came.isdisjoint(others), best

    def _made(self, name: str, path: bytes, form: ChangedPath, is_plain: bool) -> Made | None:
        """What the command did to a path; None where nobody can tell it from what was there before.

        Where the texts are unknown, the whole path is the command's if it was as in HEAD and HEAD stayed.
        """
        new = self.after.rows.get(name)
        is_head = form.after is None and form.before is not None and bool(form.base)
        oid, mode = (form.base, form.before[1]) if is_head and form.before else form.after or _ABSENT
        there = mode is not None or oid is not None
        if oid == UNKNOWN:
            return None
        after = self.texts.get((form.base or "", path)) if is_head else self.after.texts.get(oid or "")
        known, before = self._before(name, path, form, after)
        tracked = bool(form.base) or name in self.look.moved
        # no text of a filtered file is that of its blob; but two that lay on disk tell of each other
        is_bare = is_plain or not tracked
        is_bare = is_bare or (form.before not in (None, _ABSENT) and name not in self.look.moved)
        is_told = known and is_bare and (after is not None or not there)
        if not is_told and (form.before is not None or not form.base or name in self.look.moved):
            return None
        one = Made(path, form, (before, after) if is_told else None, tracked)
        one.oid, one.is_head = oid, is_head
        old, now = (told.strip("0") for told in self.look.moved.get(name, ("", "")))
        one.with_head = bool(old) != bool(now)
        old_mode = form.before[1] if form.before is not None else (new[4] if new is not None else None)
        one.mode = (old_mode, mode)
        file = os.path.join(self.root, name)
        one.mtime, one.bases = _mtime(file), self.bases.get(name, ())
        one.was_hidden = form.before is None and shellcalls.is_older(file, self.look.kept.get("since"))
        return one

    def _stashed(self, names: list[str]) -> dict[str, list[Stashed]]:
        """For each path what each stash changed, of the command's beginning and of now."""
        kept = self.look.kept.get("stashes")
        before = [one for one in kept if journal.is_oid(one)] if isinstance(kept, list) else []
        now = hook_git.stashes(self.place.common_dir, self.place.git_dir)
        commits = dict.fromkeys([*before, *now])
        # Of a stash the second text is the file's, or that of an untracked file (git-stash(1)).
        pairs = [
            (f"{one}^1:{name}", f"{one}{part}:{name}")
            for one in commits
            for part in ("", "^3")
            for name in names
        ]
        asked = list(dict.fromkeys(one for pair in pairs for one in pair))
        found = hook_git.blobs(self.root, asked, self.environ, self.deadline)
        paths = {key: os.fsencode(key.partition(":")[2]) for key in found}
        wanted = list(dict.fromkeys((oid, paths[key]) for key, oid in found.items()))
        texts = hook_git.texts(self.root, self.look.options, wanted, self.environ, self.deadline)

        def text(key: str) -> bytes | None:
            return texts.get((found[key], paths[key])) if key in found else None

        out: dict[str, list[Stashed]] = {}
        for old, new in pairs:
            if new in found or (old in found and "^3:" not in new):
                stash = old.partition("^")[0]
                found_in = (text(old), text(new)), stash not in now, stash not in before
                out.setdefault(new.partition(":")[2], []).append(found_in)
        return out


def _with(text: bytes | None, stashes: Iterable[Stashed]) -> list[bool]:
    """For each stash that has a text whether the command made it."""
    return [is_new for texts, _, is_new in stashes if texts[1] == text]


def _mtime(file: str) -> int | None:
    try:
        return os.lstat(file).st_mtime_ns
    except OSError:
        return None

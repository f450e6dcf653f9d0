"""What a command line would throw away or commit: which of its commands, in which folder, and which paths.

A hook loads this module for a shell command that may be such a one, before it loads the engine. It asks git
for aliases, for what revisions mean, and for the guard. What it cannot read it leaves out: hooks fail open.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitralph.base import gitdir, nul, programs
from gitralph.commit import guard_script
from gitralph.guard import shell_words
from gitralph.guard.shell_words import CLOSE, OPEN, Item, Simple, Word
from gitralph.guard.shell_words import UnreadableError as UnreadableError
from gitralph.hook import hook_git

HEAD, INDEX, NOTHING, TREE = "head", "index", "nothing", "tree"
"""What a file holds afterwards: HEAD's text, the index's, none, or that of another tree."""

COMMIT = "git commit"
"""The one kind that throws nothing away: what HEAD lacks may be committed."""

_SECONDS = 2.0
_ALIASES = 10
_SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "ash"])
_RESERVED = frozenset(["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"])
_PASSED = frozenset(["command", "builtin", "exec", "nohup", "stdbuf", "setsid"])
_MANY = 2_000
# Each costs a process: a command goes into no more submodules than these, as far as this module looks.
_INNER = 50


class Discard(NamedTuple):
    """One command that throws something away, or commits it.

    ``specs`` are pathspecs seen from ``folder``; none means all.
    ``tracked`` and ``untracked`` tell which files. ``shallow``: files in an untracked folder stay.
    ``overlay``: a file that would have no text stays as it is. ``staged``: only paths that are staged.
    """

    kind: str
    folder: str
    then: str
    specs: tuple[str, ...] = ()
    tree: str = ""
    tracked: bool = True
    untracked: bool = False
    shallow: bool = False
    literal: bool = False
    overlay: bool = False
    staged: bool = False


_UNKNOWN = "\0?"
"""A word that only the shell knows."""


class _Place(NamedTuple):
    """Where a command runs; ``folder`` is None where nobody can tell."""

    folder: str | None
    readable: bool = True


def find(text: str, folder: str, environ: Mapping[str, str]) -> list[Discard]:
    """Find what a command line, typed in ``folder``, would throw away. Raises UnreadableError."""
    return list(_Walk(environ).run(shell_words.read(text), _Place(folder)))


class _Walk:
    """Goes through commands in order, as a shell that runs each of them would."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = dict(environ)
        self.deep = 0
        self.added: list[Discard] = []
        self.installs = False

    def run(self, items: Sequence[Item], place: _Place) -> Iterator[Discard]:
        outer: list[_Place] = []
        self.deep += 1
        if self.deep > _ALIASES:
            raise UnreadableError("it calls itself")
        for item in items:
            if item == OPEN:
                outer.append(place)
            elif item == CLOSE:
                place = outer.pop() if outer else place
            elif isinstance(item, Simple):
                words = self._bare(item.words)
                if words is None:
                    continue
                moved = self._moved(words, place)
                if moved is not None:
                    place = moved
                elif place.readable:
                    yield from self._simple(words, place)
        self.deep -= 1

    def _bare(self, words: Sequence[Word]) -> list[Word] | None:
        """A command without words that may stand before it, such as `env`; None where it cannot be read."""
        rest = list(words)
        while rest:
            first = rest[0]
            name, sign, _ = first.text.partition("=")
            if sign and name.removesuffix("+").isidentifier():
                if _leads_elsewhere(name):
                    return None
                rest.pop(0)
            elif not first.known:
                return None
            elif first.text in _RESERVED or first.text in _PASSED:
                rest.pop(0)
                while rest and rest[0].text[:1] == "-":
                    if rest.pop(0).text in ("-v", "-V"):
                        return None  # `command -v rm` only asks where rm is
            elif first.text in ("env", "sudo", "doas", "nice", "timeout"):
                rest = _after_program(first.text, rest[1:])
            else:
                break
        return rest or None

    def _moved(self, words: Sequence[Word], place: _Place) -> _Place | None:
        """Where the commands after a change of folder run; None for a command that changes no folder."""
        name = words[0].text
        if name == "export" and any(_leads_elsewhere(word.text.partition("=")[0]) for word in words):
            return place._replace(readable=False)
        if name == "popd":
            return place._replace(folder=None)
        if name not in ("cd", "pushd"):
            return None
        named = [word for word in words[1:] if word.text not in ("-P", "-L", "-e", "--")]
        if not named:
            return place._replace(folder=self.environ.get("HOME"))
        if len(named) > 1 or not named[0].known or named[0].glob or named[0].text == "-":
            return place._replace(folder=None)
        return place._replace(folder=_joined(place.folder, self._typed(named[0])))

    def _typed(self, word: Word) -> str:
        home = self.environ.get("HOME", "~")
        return home + word.text[2:] if word.text.startswith("\0~") else word.text

    def _simple(self, words: Sequence[Word], place: _Place) -> Iterator[Discard]:
        name = os.path.basename(words[0].text)
        if name in _SHELLS:
            text = _script(words[1:])
            if text is not None:
                yield from self.run([OPEN, *shell_words.read(text), CLOSE], place)
        elif name == "eval" and all(word.known for word in words):
            text = " ".join(word.text for word in words[1:])
            yield from self.run(shell_words.read(text), place)
        elif place.folder is not None:
            typed = [one for word in words[1:] for one in self._expanded(word, place.folder)]
            is_known = _UNKNOWN not in typed
            if name == "git":  # a message may be anything
                found = self._git(typed, place.folder)
                yield from (one for one in found if is_known or one.kind == COMMIT)
            elif name in ("rm", "unlink") and is_known:
                yield from _removed(typed, place.folder)

    def _expanded(self, word: Word, folder: str) -> list[str]:
        """A word as its command gets it: a pattern becomes the names of files."""
        if not word.known:
            return [_UNKNOWN]
        text = self._typed(word)
        if not word.glob:
            return [text]
        found = sorted(glob.glob(text, root_dir=folder))[:_MANY]
        return found or [text]

    # --- git ---

    def _git(self, words: list[str], folder: str | None) -> Iterator[Discard]:
        aliases: dict[str, str] = {}
        while words and words[0][:1] == "-":
            word = words.pop(0)
            if word in ("-C", "-c") and words:
                value = words.pop(0)
                if value == _UNKNOWN or value.lower().startswith(("ralph.guard", "core.hookspath")):
                    return
                if word == "-C":
                    folder = _joined(folder, value)
                elif value.lower().startswith("alias."):
                    key, _, said = value[6:].partition("=")
                    aliases[key] = said
            elif word.startswith(("--git-dir", "--work-tree", "--namespace")):
                return
        self.installs = self.installs or words[:2] == ["ralph", "install"]
        if words and folder is not None and os.path.isdir(folder):
            yield from self._command(words, folder, aliases)

    def _command(self, words: list[str], folder: str, aliases: Mapping[str, str]) -> Iterator[Discard]:
        name, rest = words[0], words[1:]
        known = _COMMANDS.get(name)
        if known is not None and not (name == "commit" and self.installs):
            yield from known(_Asked(rest, folder, self.environ, self.added))
        if name == "submodule":
            yield from self._in_submodules(list(rest), folder)
        if known is not None or name == "submodule":
            return
        said = aliases.get(name) or self._alias(name, folder)
        if not said:
            return
        # an alias with `!` goes to the shell, at the root of the worktree (git-config(1))
        if said.startswith("!"):
            place = gitdir.discover(os.path.realpath(folder))
            text = " ".join([said[1:], *(f"'{word}'" for word in rest if "'" not in word)])
            root = place.root if place is not None else folder
            yield from self.run(shell_words.read(text), _Place(root))
            return
        inner = shell_words.read(said)
        if len(inner) == 1 and isinstance(inner[0], Simple):
            self.deep += 1
            if self.deep > _ALIASES:
                raise UnreadableError("an alias calls itself")
            yield from self._git([*(word.text for word in inner[0].words), *rest], folder)
            self.deep -= 1

    def _in_submodules(self, words: list[str], folder: str) -> Iterator[Discard]:
        while words and words[0] in ("-q", "--quiet"):
            words.pop(0)
        asked, is_deep = _Asked(words[1:], folder, self.environ, self.added), "--recursive" in words
        if words[:1] == ["foreach"] and _UNKNOWN not in words:
            said = " ".join(word for word in words[1:] if word not in ("--recursive", "-q", "--quiet"))
            for inner in _submodules(asked, deep=is_deep):
                yield from self.run([OPEN, *shell_words.read(said), CLOSE], _Place(inner))
        elif words[:1] in (["update"], ["deinit"]) and asked.read("--reference --depth -j").has(
            "-f", "--force"
        ):
            is_gone = words[0] == "deinit"
            whole = Discard(
                f"git submodule {words[0]}", folder, NOTHING if is_gone else HEAD, untracked=is_gone
            )
            named = asked.all_paths() or (".",)
            yield from (whole._replace(folder=one) for one in _submodules(asked, named, is_deep or is_gone))

    def _alias(self, name: str, folder: str) -> str:
        if not name.replace("-", "").isalnum():
            return ""
        return _asked(folder, self.environ, "config", "--get", f"alias.{name}")


def _asked(folder: str, environ: Mapping[str, str], *words: str) -> str:
    """git's answer in a folder, empty where it gives none."""
    said = hook_git.run(folder, list(words), dict(environ), time.monotonic() + _SECONDS)
    return (said or b"").decode("utf-8", "surrogateescape").rstrip("\n")


def _leads_elsewhere(variable: str) -> bool:
    """True for a variable that points git to another repository or index than the folder does."""
    return not programs.inherited({variable: ""})


def _joined(folder: str | None, named: str) -> str | None:
    if named.startswith("/"):
        return os.path.normpath(named)
    return None if folder is None else os.path.normpath(os.path.join(folder, named))


def _after_program(name: str, words: list[Word]) -> list[Word]:
    """The command that another program is told to run; none where the program's options cannot be read."""
    while words and (words[0].text[:1] == "-" or (name == "env" and "=" in words[0].text)):
        option = words.pop(0).text
        if option in ("-n", "-u", "-k", "-s", "-g") and name != "sudo" and words:
            words.pop(0)
        unread = name in ("sudo", "doas") and option not in ("-n", "-E", "-H", "--")
        if unread or _leads_elsewhere(option.partition("=")[0]):
            return []
    return words[1:] if name == "timeout" else words


def _script(words: Sequence[Word]) -> str | None:
    """The script that ``sh -c`` is given; None without one, or where it cannot be read."""
    for at, word in enumerate(words):
        if word.text[:1] != "-" or word.text == "--":
            return None
        if not word.text.startswith("--") and word.text.endswith("c"):
            following = words[at + 1 : at + 2]
            return following[0].text if following and following[0].known else None
    return None


# --- what each command of git does ---


class _Asked:
    """The words after the name of a git command: options, and what stands before and after ``--``."""

    def __init__(
        self, words: Sequence[str], folder: str, environ: Mapping[str, str], added: list[Discard]
    ) -> None:
        self.words, self.folder, self.environ, self.added = words, folder, environ, added
        self.options: dict[str, str] = {}
        self.names: list[str] = []
        self.paths: list[str] | None = None

    def read(self, valued: str = "") -> _Asked:
        """Split the words; ``valued`` are the options that take the next word, blank-separated."""
        takes, words = set(valued.split()), list(self.words)
        while words:
            word = words.pop(0)
            if word == "--":
                self.paths = words
                break
            if word.startswith("--"):
                name, sign, value = word.partition("=")
                if name in takes and not sign and words:
                    value = words.pop(0)
                self.options[name] = value
            elif word[:1] == "-" and len(word) > 1:
                self._short(word, takes, words)
            else:
                self.names.append(word)
        return self

    def _short(self, word: str, takes: set[str], words: list[str]) -> None:
        for at, letter in enumerate(word[1:], 2):
            name = f"-{letter}"
            if name in takes:
                self.options[name] = word[at:] or (words.pop(0) if words else "")
                return
            self.options[name] = ""

    def has(self, *names: str) -> bool:
        return any(name in self.options for name in names)

    @property
    def cannot_be_read(self) -> bool:
        """True where a person picks interactively, or a file names the paths."""
        return self.has("-p", "--patch", "-i", "--interactive", "--pathspec-from-file", "--ours", "--theirs")

    def is_revision(self, name: str) -> bool:
        if name == "-":
            return True
        return bool(_asked(self.folder, self.environ, "rev-parse", "-q", "--verify", f"{name}^{{tree}}"))

    def all_paths(self) -> tuple[str, ...]:
        return (*self.names, *(self.paths or ()))

    def tree(self, kind: str, name: str | None, specs: tuple[str, ...] = ()) -> Discard:
        """Add a command that throws away everything that differs from a tree."""
        if name in (None, "", "HEAD", "@"):
            return Discard(kind, self.folder, HEAD, specs)
        return Discard(kind, self.folder, TREE, specs, tree="@{-1}" if name == "-" else str(name))


def _add(asked: _Asked) -> Iterator[Discard]:
    """Yield nothing, but remember what a commit further on takes."""
    asked.read("--chmod")
    specs = asked.all_paths()
    is_update = asked.has("-u", "--update")
    is_all = is_update or asked.has("-A", "--all")
    if (specs or is_all) and _UNKNOWN not in specs and not asked.has("-n", "-p", "-i", "-e", "-N", "--patch"):
        asked.added.append(Discard(COMMIT, asked.folder, HEAD, specs, untracked=not is_update))
    yield from ()


def _commit(asked: _Asked) -> Iterator[Discard]:
    asked.words = [word for word in asked.words if not word.startswith("-S")]
    asked.read(
        "-m --message -F --file -C --reuse-message -c --reedit-message -t --template --author --date "
        "--fixup --squash --trailer --cleanup"
    )
    if asked.has(
        "-n",
        "--no-verify",
        "--dry-run",
        "-p",
        "--patch",
        "--interactive",
        "-h",
        "--help",
        "--pathspec-from-file",
    ):
        return
    if not _is_unguarded(asked):
        return
    yield from asked.added
    whole, specs = Discard(COMMIT, asked.folder, HEAD), asked.all_paths()
    if asked.has("-a", "--all") or _UNKNOWN in specs:
        yield whole
    elif specs:
        yield whole._replace(specs=specs)
    if not specs or asked.has("-i", "--include"):
        yield whole._replace(staged=True)


def _is_unguarded(asked: _Asked) -> bool:
    """True where the guard that this repository was given was taken away.

    husky writes its folder of hooks anew with each `npm install`. What concludes a merge is git's own.
    """
    wanted = _asked(asked.folder, asked.environ, "config", "--local", "--get", "ralph.guard")
    place = gitdir.discover(os.path.realpath(asked.folder)) if wanted == guard_script.NARROW else None
    if place is None or "RALPH_GUARD" in asked.environ or hook_git.is_worded(place.git_dir):
        return False
    hooks = _asked(asked.folder, asked.environ, "rev-parse", "--git-path", "hooks")
    return guard_script.is_gone(os.path.join(asked.folder, hooks))


def _checkout(asked: _Asked) -> Iterator[Discard]:
    asked.read("-b -B --orphan --conflict --pathspec-from-file")
    if asked.cannot_be_read:
        return
    names, paths = asked.names, asked.paths
    force = asked.has("-f", "--force")
    if paths is None and names and not asked.has("-b", "-B", "--orphan"):
        if not asked.is_revision(names[0]):
            names, paths = [], names
        elif len(names) > 1:
            names, paths = names[:1], names[1:]
    if paths:
        overlay = not asked.has("--no-overlay")
        found = Discard("git checkout", asked.folder, INDEX, tuple(paths))
        found = asked.tree("git checkout", names[0], tuple(paths)) if names else found
        yield found._replace(overlay=overlay)
    elif force:
        yield asked.tree("git checkout -f", names[0] if names else None)
        yield from _recursing(asked, "git checkout -f")


def _restore(asked: _Asked) -> Iterator[Discard]:
    asked.read("-s --source --conflict --pathspec-from-file")
    staged, specs = asked.has("-S", "--staged"), asked.all_paths()
    if asked.cannot_be_read or not specs or (staged and not asked.has("-W", "--worktree")):
        return
    source = asked.options.get("-s", asked.options.get("--source"))
    if source is None and not staged:
        yield Discard("git restore", asked.folder, INDEX, specs)
    else:
        yield asked.tree("git restore", source, specs)


def _reset(asked: _Asked) -> Iterator[Discard]:
    asked.read("--pathspec-from-file")
    if asked.has("--hard"):
        yield asked.tree("git reset --hard", asked.names[0] if asked.names else None)
        yield from _recursing(asked, "git reset --hard")


def _stash(asked: _Asked) -> Iterator[Discard]:
    words = list(asked.words)
    verb = words.pop(0) if words and words[0] in ("push", "save") else "push"
    if words and words[0][:1] != "-" and verb == "push" and len(words) == len(asked.words):
        return  # list, show, pop, apply and the like throw nothing away
    asked.words = words
    asked.read("-m --message --pathspec-from-file")
    if asked.cannot_be_read or asked.has("-S", "--staged"):
        return
    specs = asked.all_paths() if verb == "push" else ()
    yield Discard("git stash", asked.folder, HEAD, specs)
    if asked.has("-u", "--include-untracked", "-a", "--all"):
        yield Discard("git stash", asked.folder, NOTHING, specs, tracked=False, untracked=True)


def _clean(asked: _Asked) -> Iterator[Discard]:
    asked.read("-e --exclude")
    if asked.cannot_be_read or asked.has("-n", "--dry-run", "-X"):
        return
    if not asked.has("-f", "--force"):
        said = _asked(asked.folder, asked.environ, "config", "--type=bool", "--get", "clean.requireForce")
        if said != "false":
            return
    specs = asked.all_paths()
    excluded = [f":(exclude){value}" for key, value in asked.options.items() if key in ("-e", "--exclude")]
    shallow = not specs and not asked.has("-d")
    specs = (*(specs or (".",)), *excluded)
    yield Discard("git clean", asked.folder, NOTHING, specs, tracked=False, untracked=True, shallow=shallow)
    letters = "".join(word for word in asked.words if word[:2] != "--" and word[:1] == "-")
    if letters.count("f") + asked.words.count("--force") > 1:  # repositories go only then (git-clean(1))
        # never the words as they were typed: `--no-dry-run` would clean
        words = ["-c", "core.quotePath=false", "clean", "-n", "-ff"]
        words += [letter for letter in ("-d", "-x") if asked.has(letter)]
        words += [f"--exclude={value}" for key, value in asked.options.items() if key in ("-e", "--exclude")]
        said = _asked(asked.folder, asked.environ, *words, "--", *asked.all_paths())
        gone = (row[13:-1] for row in said.splitlines() if row[:13] == "Would remove " and row[-1:] == "/")
        for name in gone:
            yield from _inside("git clean", os.path.join(asked.folder, name))


def _inside(kind: str, folder: str) -> Iterator[Discard]:
    """What goes in the repositories in a folder, and the folder itself may be one, that is removed whole."""
    for seen, (above, names, files) in enumerate(os.walk(folder)):
        if ".git" in names or ".git" in files:
            yield Discard(kind, above, NOTHING, untracked=True)
            names[:] = [name for name in names if name != ".git"]
        if seen >= _MANY:
            return


def _switch(asked: _Asked) -> Iterator[Discard]:
    asked.read("-c -C --create --force-create --orphan --conflict")
    if asked.has("-f", "--force", "--discard-changes"):
        yield asked.tree("git switch -f", asked.names[0] if asked.names else None)
        yield from _recursing(asked, "git switch -f")


def _rm(asked: _Asked) -> Iterator[Discard]:
    asked.read("--pathspec-from-file")
    if asked.has("--cached", "-n", "--dry-run", "--pathspec-from-file") or not asked.all_paths():
        return
    yield Discard("git rm", asked.folder, NOTHING, asked.all_paths())
    if asked.has("-f", "--force"):
        for inner in _submodules(asked, asked.all_paths()):
            yield Discard("git rm", inner, NOTHING, untracked=True)


def _read_tree(asked: _Asked) -> Iterator[Discard]:
    asked.read("--prefix --index-output --exclude-per-directory")
    if asked.has("--reset") and asked.has("-u") and len(asked.names) == 1:
        yield asked.tree("git read-tree --reset", asked.names[0])


def _checkout_index(asked: _Asked) -> Iterator[Discard]:
    asked.read("--prefix --stage")
    if asked.has("-f", "--force") and not asked.has("--prefix") and (asked.has("-a") or asked.all_paths()):
        yield Discard("git checkout-index", asked.folder, INDEX, asked.all_paths())


def _worktree(asked: _Asked) -> Iterator[Discard]:
    asked.read()
    if asked.names[:1] == ["remove"] and len(asked.names) == 2 and asked.has("-f", "--force"):
        named = _joined(asked.folder, asked.names[1])
        place = gitdir.discover(os.path.realpath(named)) if named and os.path.isdir(named) else None
        if place is not None:
            yield Discard("git worktree remove", place.root, NOTHING, untracked=True)


def _recursing(asked: _Asked, kind: str) -> Iterator[Discard]:
    """What a command does to submodules, where it goes into them."""
    inside = _submodules(asked) if not asked.has("--no-recurse-submodules") else []
    is_set = asked.has("--recurse-submodules")
    if inside and not is_set:
        is_set = _asked(asked.folder, asked.environ, "config", "--type=bool", "submodule.recurse") == "true"
    yield from (Discard(kind, one, HEAD) for one in inside if is_set)


def _submodules(asked: _Asked, named: Sequence[str] = (), deep: bool = True) -> list[str]:
    """The folders of checked-out submodules, with ``deep`` of those in them too; of some paths alone."""
    place = gitdir.discover(os.path.realpath(asked.folder))
    todo, found = [place.root] if place is not None else [], dict[str, None]()
    while todo and len(found) < _INNER:
        root = todo.pop()
        if os.path.isfile(f"{root}/.gitmodules"):
            words = ("config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")
            rows = nul.rows(os.fsencode(_asked(root, asked.environ, *words)))
            below = [
                os.path.realpath(os.path.join(root, os.fsdecode(row.partition(b"\n")[2]))) for row in rows
            ]
            # a file of the worktree may name any path
            below = [one for one in below if one.startswith(f"{root}/") and one not in found]
            below = [one for one in below if os.path.lexists(f"{one}/.git")]
            found |= dict.fromkeys(below)
            todo += below if deep else []
    within = tuple(f"{os.path.realpath(os.path.join(asked.folder, name))}/" for name in named)
    return [one for one in found if not named or f"{one}/".startswith(within)]


_COMMANDS: dict[str, Callable[[_Asked], Iterator[Discard]]] = {
    "add": _add,
    "stage": _add,
    "commit": _commit,
    "checkout": _checkout,
    "restore": _restore,
    "reset": _reset,
    "stash": _stash,
    "clean": _clean,
    "switch": _switch,
    "rm": _rm,
    "read-tree": _read_tree,
    "checkout-index": _checkout_index,
    "worktree": _worktree,
}


# --- rm(1) ---


def _removed(words: Sequence[str], folder: str) -> Iterator[Discard]:
    options = (
        [word for word in words[: words.index("--")] if word[:1] == "-"]
        if "--" in words
        else [word for word in words if word[:1] == "-" and len(word) > 1]
    )
    letters = "".join(word[1:] for word in options if word[:2] != "--")
    deep = "r" in letters or "R" in letters or "--recursive" in options
    named = [word for word in words if word not in options and word != "--"]
    for word in named:
        # rm takes a symbolic link itself; the system resolves links in the folders above it
        above, name = os.path.split(os.path.join(folder, word).rstrip("/") or "/")
        full = os.path.join(os.path.realpath(above), name)
        is_folder = os.path.isdir(full) and not os.path.islink(full)
        if name in ("", ".", "..") or (is_folder and not deep) or not os.path.lexists(full):
            continue
        place = gitdir.discover(full if is_folder else os.path.dirname(full))
        if place is not None and f"{full}/".startswith(f"{place.root}/"):
            specs = () if full == place.root else (os.path.relpath(full, place.root),)
            yield Discard("rm", place.root, NOTHING, specs, untracked=True, literal=True)
            if is_folder and full != place.root:
                yield from _inside("rm", full)
        elif place is None and is_folder:
            here = gitdir.discover(os.path.realpath(folder))
            if here is not None and f"{here.root}/".startswith(f"{full}/"):
                yield Discard("rm", here.root, NOTHING, untracked=True)

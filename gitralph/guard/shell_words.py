"""Reads a command line as a shell would, as far as its words can be told without running it; pure.

A part that only a run can tell, such as a variable, makes its own word unreadable, and no other word.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

# A longer text is a script or a written document; reading it would hold the agent up. In bytes.
LIMIT = 256 << 10
_DEPTH = 20
_BRACES = re.compile(r"^([^{}]*)\{([^{},]*(?:,[^{},]*)+)\}(.*)$", re.DOTALL)
_EXPANDED = 256
_ENDS = ";&|\n"
_BLANK = " \t\r"
_GLOB = "*?["


class UnreadableError(Exception):
    """A shell would not accept the text, or it is longer than anybody types."""


class Word(NamedTuple):
    """One word. ``known`` False: a part of it shows only when it runs. ``glob``: file names replace it."""

    text: str
    known: bool = True
    glob: bool = False


class Simple(NamedTuple):
    """One simple command: the words between two separators, without redirections."""

    words: tuple[Word, ...]


OPEN, CLOSE = "(", ")"
"""Stand around the commands of a subshell, which changes folder only for itself."""

Item = Simple | str


def read(text: str) -> list[Item]:
    """The commands of a text in the order they are written. Raises UnreadableError."""
    if len(text) > LIMIT or "\0" in text:
        raise UnreadableError("it is too long to be read" if "\0" not in text else "it holds a NUL")
    return _Reader(text, 0).commands()


class _Reader:
    """Stands at a place in a text; nested commands are read by a reader of their own."""

    def __init__(self, text: str, depth: int) -> None:
        if depth > _DEPTH:
            raise UnreadableError("it is nested too deeply")
        self.text, self.depth, self.at = text, depth, 0
        self.out: list[Item] = []
        self.words: list[Word] = []
        self.documents: list[tuple[str, bool]] = []
        self.open = 0

    # --- commands ---

    def commands(self, until: str = "") -> list[Item]:
        """Every command up to the end, or up to the character that closes the surrounding construct."""
        text = self.text
        while self.at < len(text):
            c = text[self.at]
            if until and c == until:
                self.at += 1
                self._end()
                return self.out
            if c in _BLANK or text.startswith("\\\n", self.at):
                self.at += 1 if c in _BLANK else 2
            elif c == "#":
                found = text.find("\n", self.at)
                self.at = len(text) if found < 0 else found
            elif text.startswith("&>", self.at) or c in "<>":
                self._redirection()
            elif c in _ENDS:
                self._end()
                self.at += 1
                if c == "\n":
                    self._skip_documents()
            elif c in "()":
                self._end()
                self.out.append(c)
                # the pattern of a `case` ends with a parenthesis that nothing opened
                self.open = max(0, self.open + (1 if c == OPEN else -1))
                self.at += 1
            else:
                self._word()
        if until or self.open:
            raise UnreadableError(f"'{CLOSE}' is missing")
        self._end()
        return self.out

    def _end(self) -> None:
        if self.words:
            self.out.append(Simple(tuple(self.words)))
            self.words = []

    def _redirection(self) -> None:
        text = self.text
        if text[self.at : self.at + 2] in ("<(", ">("):
            self._nested(self.at + 2)
            self.words.append(Word("", known=False))
            return
        start = self.at
        while self.at < len(text) and text[self.at] in "<>&|" and self.at - start < 3:
            self.at += 1
        sign = text[start : self.at]
        if sign == "<<" and text.startswith("-", self.at):
            sign, self.at = "<<-", self.at + 1
        while self.at < len(text) and text[self.at] in _BLANK:
            self.at += 1
        kept, self.words = self.words, []
        if self.at >= len(text) or text[self.at] in _ENDS + "()<>":
            raise UnreadableError("a redirection leads nowhere")
        self._word()
        if sign in ("<<", "<<-") and self.words:
            self.documents.append((self.words[0].text, sign == "<<-"))
        self.words = kept

    def _skip_documents(self) -> None:
        """Pass over the bodies of here-documents: these are input, not commands."""
        for mark, tabs in self.documents:
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                line = self.text[self.at : end if end >= 0 else len(self.text)]
                self.at = end + 1 if end >= 0 else len(self.text)
                if (line.lstrip("\t") if tabs else line) == mark:
                    break
        self.documents = []

    def _nested(self, start: int) -> None:
        """Commands inside ``( )``, which a shell of their own runs before the surrounding command."""
        inner = _Reader(self.text, self.depth + 1)
        inner.at = start
        self.out += [OPEN, *inner.commands(")"), CLOSE]
        self.at = inner.at

    # --- words ---

    def _word(self) -> None:
        text, parts = self.text, list[str]()
        known, glob, quoted = True, False, False
        while self.at < len(text):
            c = text[self.at]
            if c in _BLANK + _ENDS + "()":
                break
            if c in "<>":
                if not quoted and "".join(parts).isdigit():
                    return  # the number of a descriptor
                break
            if c == "\\":
                parts.append(text[self.at + 1 : self.at + 2].replace("\n", ""))
                self.at, quoted = self.at + 2, True
            elif c == "'":
                parts.append(self._until("'"))
                quoted = True
            elif c == '"':
                inner, fine = self._double()
                parts.append(inner)
                known, quoted = known and fine, True
            elif c in "$`":
                inner, fine = self._expansion()
                parts.append(inner)
                known = known and fine
            else:
                glob = glob or c in _GLOB
                if c == "~" and not parts and not quoted:
                    known = known and text[self.at + 1 : self.at + 2] in ("", "/", *_BLANK, *_ENDS)
                    parts.append("\0~" if known else "~")
                else:
                    parts.append(c)
                self.at += 1
        word = "".join(parts)
        bare = [word] if quoted or not known else list(_braces(word))
        self.words += [Word(one, known, glob) for one in bare]

    def _until(self, end: str) -> str:
        found = self.text.find(end, self.at + 1)
        if found < 0:
            raise UnreadableError("a quote is not closed")
        inner, self.at = self.text[self.at + 1 : found], found + 1
        return inner

    def _double(self) -> tuple[str, bool]:
        text, parts, known = self.text, list[str](), True
        self.at += 1
        while self.at < len(text):
            c = text[self.at]
            if c == '"':
                self.at += 1
                return "".join(parts), known
            if c == "\\" and text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                parts.append(text[self.at + 1].replace("\n", ""))
                self.at += 2
            elif c in "$`":
                inner, fine = self._expansion()
                parts.append(inner)
                known = known and fine
            else:
                parts.append(c)
                self.at += 1
        raise UnreadableError("a quote is not closed")

    def _expansion(self) -> tuple[str, bool]:
        """What ``$`` or a backquote begins, and whether the character stands for itself."""
        text, at = self.text, self.at
        if text[at] == "`":
            inner = _unescaped(self._backquoted())
            self.out += [OPEN, *_Reader(inner, self.depth + 1).commands(), CLOSE]
            return "", False
        following = text[at + 1 : at + 2]
        if text.startswith("$((", at) and (end := text.find("))", at)) >= 0:
            self.at = end + 2
        elif following == "(":
            self._nested(at + 2)
        elif following == "{":
            end = text.find("}", at)
            if end < 0:
                raise UnreadableError("'}' is missing")
            self.at = end + 1
        elif following == "'":
            self.at += 1
            inner = self._until("'")
            return inner, "\\" not in inner
        elif following.isalnum() or following in tuple("_@*#?$!-"):
            self.at += 2
            while following not in tuple("@*#?$!-") and text[self.at : self.at + 1].isidentifier():
                self.at += 1
        else:
            self.at += 1
            return "$", True
        return "", False

    def _backquoted(self) -> str:
        at = self.at + 1
        while at < len(self.text) and self.text[at] != "`":
            at += 2 if self.text[at] == "\\" else 1
        if at >= len(self.text):
            raise UnreadableError("a backquote is not closed")
        inner, self.at = self.text[self.at + 1 : at], at + 1
        return inner


def _unescaped(text: str) -> str:
    return re.sub(r"\\([$`\\])", r"\1", text)


def _braces(word: str) -> Iterator[str]:
    """The words for which a word with ``{a,b}`` stands."""
    todo, made = [word], 0
    while todo:
        one = todo.pop(0)
        found = _BRACES.match(one)
        if found is None:
            yield one
            continue
        made += found[2].count(",") + 1
        if made > _EXPANDED:
            raise UnreadableError("it stands for too many words")
        todo = [found[1] + middle + found[3] for middle in found[2].split(",")] + todo

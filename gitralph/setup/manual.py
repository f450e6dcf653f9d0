"""Finds and shows manual pages, also where the installer put them out of reach of ``man``.

pip and pipx put pages where ``man`` looks; an environment of its own (``uv tool``, a virtual
environment) keeps them inside, and a checkout has them in ``man/``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping

from gitralph.base import programs, runner
from gitralph.base.errors import Fatal, UsageError

_SECTIONS = ("1", "5", "7")
_PAGE = re.compile(r"(git-ralph|gitralph)(-[a-z-]+)?\.[157]")
# man prints bold and underlined text as a letter, a backspace and the letter again; pages for a pipe have
# none.
_OVERSTRIKE = re.compile(".\x08", re.DOTALL)


def _folders() -> Iterator[str]:
    """Where pages may lie, best first."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    above = os.path.dirname(package)
    # <prefix>/lib/python3.x/site-packages, of whatever prefix; pip's --target; a checkout
    homes = [sys.prefix, os.path.normpath(above + "/../../.."), above]
    for home in dict.fromkeys(homes):
        for section in _SECTIONS:
            yield f"{home}/share/man/man{section}"
    yield above + "/man"


def pages() -> dict[str, str]:
    """Every page that is found, by its name without the section; the first found wins."""
    found: dict[str, str] = {}
    for folder in dict.fromkeys(_folders()):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            if _PAGE.fullmatch(name):
                found.setdefault(name.rsplit(".", 1)[0], f"{folder}/{name}")
    return found


def find(topic: str | None) -> str:
    """The page of a command or guide, ``git-ralph(1)`` for None. Raises UsageError for no such topic."""
    known = pages()
    if not known:
        raise Fatal("the manual pages are not installed", "git ralph -h")
    names = ["git-ralph"]
    if topic is not None:
        names = [f"git-ralph-{topic}", f"gitralph-{topic}", topic]
    for name in names:
        if name in known:
            return known[name]
    raise UsageError(f"no manual entry for '{topic}'", "git ralph help")


def show(page: str, environ: Mapping[str, str]) -> int:
    """Open a page on the terminal; 0 when the pager ended well, else its exit status."""
    man = programs.find("man", environ)
    if man is None:
        return -1
    return runner.show([man, "-l", page], env=environ)


def render(page: str, environ: Mapping[str, str]) -> str:
    """A page as plain text; its source when nothing here can format it."""
    env = {**environ, "MANPAGER": "cat", "PAGER": "cat", "MANWIDTH": environ.get("MANWIDTH", "80")}
    for words in (["man", "-l"], ["mandoc", "-T", "utf8"]):
        program = programs.find(words[0], environ)
        if program is None:
            continue
        done = runner.run([program, *words[1:], page], env=env)
        text = _OVERSTRIKE.sub("", done.stdout.decode("utf-8", "replace"))
        if done.returncode == 0 and text.strip():
            return text
    with open(page, encoding="utf-8") as file:
        return file.read()

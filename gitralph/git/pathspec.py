"""Matches what the user typed against tree paths, by git itself.

A private index holds only the candidate paths, and ``git ls-files`` runs in the user's folder. So prefix,
globs and magic mean what they mean to git. A plain name means itself and everything below it, which needs no
process.
"""

import os
from collections.abc import Iterable, Sequence

from gitralph.base import nul
from gitralph.git.run import PLAIN_INDEX, Git, GitError

# The blob of no bytes. git knows it although it is not stored, and pathspecs look only at names.
_EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_PLAIN = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz/._-")


def is_plain(spec: str) -> bool:
    """True for a name without magic, globs, dots that lead elsewhere, or a slash at either end."""
    return _PLAIN.issuperset(spec) and {"", ".", ".."}.isdisjoint(spec.split("/"))


def below(prefix: bytes, specs: Sequence[str], paths: Iterable[bytes]) -> list[bytes]:
    """As :func:`matching`, for plain specs typed in the folder ``prefix``, which ends with a slash."""
    wanted = [prefix + spec.encode() for spec in specs]
    return sorted(
        {path for path in paths if any(path == one or path.startswith(one + b"/") for one in wanted)}
    )


def _rounds(paths: Iterable[bytes]) -> list[list[bytes]]:
    """Groups of paths in which none is the folder of another, as an index demands."""
    rounds: list[list[bytes]] = []
    # An index refuses `a` beside `a/b` (a D/F conflict, git's read-cache.c), but a session may record both.
    for path in sorted(paths):
        for group in rounds:
            if not any(path.startswith(other + b"/") for other in group):
                group.append(path)
                break
        else:
            rounds.append([path])
    return rounds


def unmatched(git: Git, specs: Sequence[str], *where: str) -> list[str]:
    """Those of ``specs``, typed in git's cwd, that match nothing: in the index, or as ``where`` says.

    Raises GitError for bad magic and for a path outside the working tree.
    """
    words = ("-c", "core.fsmonitor=false", "ls-files", "-z", "--error-unmatch", *where, "--")
    done = git.try_run(*words, *specs)
    if done.returncode == 0:
        return []
    if done.returncode != 1:
        raise GitError(["ls-files"], done.returncode, done.stderr)
    return [s for s in specs if git.try_run(*words, s).returncode] if len(specs) > 1 else list(specs)


def matching(git: Git, folder: str, specs: Sequence[str], paths: Iterable[bytes]) -> list[bytes]:
    """Those of ``paths`` that ``specs``, typed in git's cwd, match. Raises GitError for bad magic."""
    out: list[bytes] = []
    for number, group in enumerate(_rounds(paths)):
        index = os.path.join(folder, f"match-{number}.index")
        on = git.at(GIT_INDEX_FILE=index)
        lines = nul.joined(b"100644 %s 0\t%s" % (_EMPTY_BLOB, path) for path in group)
        on.run(*PLAIN_INDEX, "update-index", "-z", "--index-info", stdin=lines)
        said = on.run(*PLAIN_INDEX, "ls-files", "-z", "--full-name", "--", *specs)
        out += nul.rows(said)
    return sorted(out)

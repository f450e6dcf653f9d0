"""Starts git from a hook: no shell, no configured program, a deadline. For shell events only.

Fast lane.
"""

import os

from gitralph.base import nul, programs

_EMPTY, _FALSE = "RALPH_EMPTY", "RALPH_FALSE"
# Files that git keeps in its folder while an operation of several steps is under way.
_OPERATIONS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_AUTOSTASHES = ("rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH")
# git words the commit that is to come after `merge --squash` and `cherry-pick -n`, and stages it (git 2.39).
_WORDED = ("SQUASH_MSG", "MERGE_MSG")
_SETTINGS = r"^(ralph\.shelledits|filter\..*\.(clean|process|smudge))$"


def run(
    root: str,
    words: list[str],
    environ: dict[str, str],
    deadline: float,
    ok: tuple[int, ...] = (0,),
    stdin: bytes = b"",
) -> bytes | None:
    """What git prints in the worktree at ``root``; None when it fails or takes too long."""
    program = programs.find("git", environ)
    if program is None:
        return None
    passed = {**programs.inherited(environ), "GIT_OPTIONAL_LOCKS": "0", _EMPTY: "", _FALSE: "false"}
    line = [program, "-C", root, "-c", "core.fsmonitor=false", *words]
    try:
        done = programs.quick(line, passed, deadline, stdin)
    except (OSError, ValueError):
        return None
    return done[1] if done is not None and done[0] in ok else None


def settings(root: str, environ: dict[str, str], deadline: float) -> tuple[list[str], str] | None:
    """``-c`` options under which git runs no filter, and ``ralph.shellEdits``, empty where it is not set."""
    said = run(root, ["config", "--null", "--get-regexp", _SETTINGS], environ, deadline, ok=(0, 1))
    if said is None:
        return None
    options: list[str] = []
    word = ""
    for row in nul.texts(said):
        key, _, value = row.partition("\n")
        if key == "ralph.shelledits":
            word = value.strip().lower()
            continue
        name = key.rpartition(".")[0]
        # Not with -c: a filter's name may hold the sign that ends a key there.
        options += [f"--config-env={key}={_EMPTY}", f"--config-env={name}.required={_FALSE}"]
    return options, word


def filtered(
    root: str, options: list[str], paths: list[bytes], environ: dict[str, str], deadline: float
) -> set[bytes] | None:
    """Those of ``paths`` that a filter governs; git is asked only where one is configured."""
    if not options or not paths:
        return set()
    words = ["check-attr", "-z", "--stdin", "filter"]
    said = run(root, words, environ, deadline, stdin=nul.joined(paths))
    if said is None:
        return None
    return {path for path, _, value in nul.groups(said, 3) if value not in (b"unspecified", b"unset")}


def blobs(root: str, names: list[str], environ: dict[str, str], deadline: float) -> dict[str, str]:
    """The blobs for which names such as ``<commit>:<path>`` stand; names without a blob are left out."""
    if not names:
        return {}
    asked = nul.joined(name.encode("utf-8", "surrogateescape") for name in names)
    words = ["cat-file", "--batch-check=%(objecttype) %(objectname)", "-z"]
    said = run(root, words, environ, deadline, stdin=asked)
    rows = said.decode("ascii", "replace").split("\n")[:-1] if said is not None else []
    found = zip(names, rows, strict=False) if len(rows) == len(names) else ()
    return {name: row[5:] for name, row in found if row.startswith("blob ")}


def texts(
    root: str, options: list[str], wanted: list[tuple[str, bytes]], environ: dict[str, str], deadline: float
) -> dict[tuple[str, bytes], bytes]:
    """The texts of existing blobs, each as a checkout would write it at its path."""
    if not wanted:
        return {}
    # The size that git tells is the blob's, not that of the text made of it (seen with git 2.39). So the
    # texts are separated by a word that stands in none of them.
    mark = os.urandom(16).hex().encode()
    asked = nul.joined(oid.encode() + b" " + path for oid, path in wanted)
    words = [*options, "cat-file", f"--batch={mark.decode()}", "--filters", "-z"]
    said = run(root, words, environ, deadline, stdin=asked)
    found = (said or b"").split(mark + b"\n")[1:]
    if len(found) != len(wanted):
        return {}
    return {one: text[:-1] for one, text in zip(wanted, found, strict=True)}


def stashes(common_dir: str, git_dir: str, most: int = 8) -> list[str]:
    """The commits of the latest stashes, by the reflog of ``refs/stash``, and of an autostash."""
    return [*_autostashes(git_dir), *_logged(f"{common_dir}/logs/refs/stash", most)]


def heads(git_dir: str, most: int = 16) -> list[str]:
    """The latest commits that HEAD was at, by its reflog, in order."""
    return _logged(f"{git_dir}/logs/HEAD", most)


def _autostashes(git_dir: str) -> list[str]:
    """What a merge or rebase put away, and brings back when it ends; git lists it nowhere else."""
    found = []
    for name in _AUTOSTASHES:
        try:
            with open(f"{git_dir}/{name}", "rb") as file:
                found.append(file.read(64).strip().decode("ascii", "replace"))
        except OSError:
            continue
    return [oid for oid in found if len(oid) == 40 and not oid.strip("0123456789abcdef")]


def _logged(log: str, most: int) -> list[str]:
    try:
        with open(log, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 4096))
            rows = file.read(4096).split(b"\n")[:-1]
    except OSError:
        return []
    found = [row.split(b" ", 2)[1].decode("ascii", "replace") for row in rows[-most:] if row.count(b" ") > 1]
    return [oid for oid in found if len(oid) == 40 and not oid.strip("0123456789abcdef")]


def is_under_way(git_dir: str) -> bool:
    """True in the middle of a merge, a rebase and the like, and before a commit that git words itself."""
    return is_worded(git_dir) or any(os.path.lexists(f"{git_dir}/{name}") for name in _OPERATIONS)


def is_worded(git_dir: str) -> bool:
    """True where git staged and worded a commit itself. Nobody knows who ran that command."""
    return any(os.path.lexists(f"{git_dir}/{name}") for name in _WORDED)

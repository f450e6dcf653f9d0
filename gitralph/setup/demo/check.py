"""The self-check of ``git ralph demo``: compares what each commit holds with who wrote which line.

It asks plain git only, and believes nothing that gitralph printed or recorded.
"""

from collections.abc import Mapping

from gitralph.git.run import Git
from gitralph.setup.demo import script
from gitralph.setup.demo.script import SHARED, Lines, StoryEdit


def content(git: Git, oid: str) -> Lines:
    """The lines that a commit adds and takes away, per path, in the order of the patch."""
    said = git.run("show", "--format=", "--unified=0", "--no-renames", "--no-color", "--no-ext-diff", oid)
    found: Lines = {}
    path = ""
    in_hunk = False
    for line in said.decode("utf-8", "replace").splitlines():
        if line.startswith("diff --git "):
            path, in_hunk = line.rsplit(" b/", 1)[1], False
            found[path] = ([], [])
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk and line[:1] in ("+", "-"):
            found[path][line[0] == "-"].append(line[1:])
    return found


def compare(git: Git, who: str, oid: str, edits: list[StoryEdit]) -> list[str]:
    """What a commit holds that its author did not write, and what it lacks."""
    faults = []
    wanted = script.lines_of(edits)
    held = {path: (sorted(plus), sorted(minus)) for path, (plus, minus) in content(git, oid).items()}
    for path in sorted(wanted.keys() | held.keys()):
        for sign, want, have in zip("+-", wanted.get(path, ([], [])), held.get(path, ([], [])), strict=True):
            faults += [f"{oid[:7]} of {who} holds '{sign} {x}' in '{path}'" for x in have if x not in want]
            faults += [f"{oid[:7]} of {who} lacks '{sign} {x}' in '{path}'" for x in want if x not in have]
            if len(have) != len(want) and set(have) == set(want):
                faults.append(f"{oid[:7]} of {who} repeats a line in '{path}'")
    return faults


def _in_head(git: Git, path: str) -> list[str]:
    done = git.try_run("show", f"HEAD:{path}")
    return done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []


def nothing_lost(git: Git, committed: Mapping[str, list[StoryEdit]]) -> list[str]:
    """Check that every line anybody wrote is in HEAD, and everybody's lines of the shared file were apart."""
    faults = []
    for who, edits in script.EDITS.items():
        if who not in committed:
            faults.append(f"{who} has no commit")
        if SHARED not in [edit.path for edit in committed.get(who, [])]:
            faults.append(f"the lines of {who} in '{SHARED}' were not committed apart")
        for path, (added, _) in script.lines_of(edits).items():
            where = _in_head(git, path)
            faults += [f"'{line}' of {who} is missing from '{path}'" for line in added if line not in where]
    if git.try_run("fsck", "--strict", "--no-progress", "--no-dangling").returncode:
        faults.append("git fsck --strict finds fault with the repository")
    return faults

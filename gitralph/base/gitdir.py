"""Finds git dir, common dir and worktree root by reading files, so that a hook starts no process.

This mirrors git's setup.c: ``.git`` folders, ``gitdir:`` files, ``commondir``. Configuration must not be
read.
"""

import os

_GITDIR = "gitdir: "
# In bytes, some 15,000 refs. For a larger file the hook does without HEAD's oid, which is only a help.
_PACKED_LIMIT = 1 << 20


class Place:
    """Where a worktree's parts live; absolute paths."""

    __slots__ = ("common_dir", "git_dir", "root")

    def __init__(self, git_dir: str, common_dir: str, root: str) -> None:
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.root = root

    @property
    def is_main(self) -> bool:
        """True for the main worktree (also of a submodule), false for a linked one."""
        return self.git_dir == self.common_dir


def is_nameable(path: str) -> bool:
    """True when ``path`` can be given to the system: it has no NUL and no character without bytes."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def read_line(path: str) -> str:
    """A small file of git's, without its newline. Raises OSError; a fifo in its place is not waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.fsdecode(os.read(fd, 8192)).rstrip("\n")
    finally:
        os.close(fd)


def _common_dir(git_dir: str) -> str:
    try:
        said = read_line(git_dir + "/commondir")
    except OSError:
        return git_dir
    return os.path.realpath(os.path.join(git_dir, said))


def is_git_dir(path: str) -> bool:
    """True for a folder with everything that a repository needs: HEAD, objects, refs."""
    if not os.path.lexists(path + "/HEAD"):
        return False
    common = _common_dir(path)
    return os.path.isdir(common + "/objects") and os.path.isdir(common + "/refs")


def _git_dir_of(dot_git: str) -> str | None:
    """The git dir that a ``.git`` entry stands for, or None when it is none."""
    if os.path.isdir(dot_git):
        return os.path.realpath(dot_git) if is_git_dir(dot_git) else None
    try:
        said = read_line(dot_git)
    except OSError:
        return None
    if not said.startswith(_GITDIR):
        return None
    target = os.path.join(os.path.dirname(dot_git), said[len(_GITDIR) :])
    return os.path.realpath(target) if is_git_dir(target) else None


def discover(start: str) -> Place | None:
    """The worktree that holds the folder ``start`` (absolute, links resolved), or None.

    None also inside a git dir or a bare repository: nothing there is anybody's edit.
    """
    folder = start
    while True:
        dot_git = os.path.join(folder, ".git")
        if os.path.lexists(dot_git):
            git_dir = _git_dir_of(dot_git)
            if git_dir is not None:
                return Place(git_dir, _common_dir(git_dir), folder)
        # git too stops here: below a bare repository or in a git dir there is no worktree (setup.c).
        if is_git_dir(folder):
            return None
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def is_in_git_dir(start: str) -> bool:
    """True where :func:`discover` finds no worktree because folder ``start`` lies inside a git dir."""
    folder = start
    while not is_git_dir(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    return True


def from_environment(git_dir: str, work_tree: str | None, cwd: str) -> Place | None:
    """The place that ``GIT_DIR`` and ``GIT_WORK_TREE`` name, as a git hook inherits them."""
    target = os.path.realpath(os.path.join(cwd, git_dir))
    if not is_git_dir(target):
        return None
    root = os.path.realpath(os.path.join(cwd, work_tree or "."))
    return Place(target, _common_dir(target), root)


def _packed_ref(common_dir: str, ref: str) -> str:
    """A ref's oid from packed-refs; empty when the ref is not there, or the file is huge."""
    fd = os.open(common_dir + "/packed-refs", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if os.fstat(fd).st_size > _PACKED_LIMIT:
            return ""
        data = os.read(fd, _PACKED_LIMIT)
    finally:
        os.close(fd)
    at = data.find(b" " + os.fsencode(ref) + b"\n")
    return os.fsdecode(data[at - 40 : at]) if at >= 40 else ""


def head_oid(place: Place) -> str | None:
    """HEAD's oid, where two small reads tell it; None when HEAD is unborn or of another form."""
    try:
        said = read_line(place.git_dir + "/HEAD")
        if said.startswith("ref: refs/") and ".." not in said:
            ref = said[5:]
            if os.path.lexists(f"{place.common_dir}/{ref}"):
                said = read_line(f"{place.common_dir}/{ref}")
            else:
                said = _packed_ref(place.common_dir, ref)
    except OSError:
        return None
    # SHA-1 or SHA-256. Anything else is a symbolic ref or damage, and the hook does without it.
    return said if len(said) in (40, 64) and not said.strip("0123456789abcdef") else None


def head_branch(place: Place) -> str | None:
    """The full name of the branch HEAD points at, None when detached or odd."""
    try:
        said = read_line(place.git_dir + "/HEAD")
    except OSError:
        return None
    return said[5:] if said.startswith("ref: refs/heads/") else None

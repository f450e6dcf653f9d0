"""Submodules in a worktree of ours: as a checkout would have them where they are initialised, else empty.

They are taken from the clone that the repository has already; nothing is fetched. Submodules of submodules
stay empty.
"""

import os
import shutil

from gitralph.base import nul
from gitralph.base.errors import Failed
from gitralph.git import listing
from gitralph.git.context import Context
from gitralph.git.run import Git
from gitralph.git.trees import GITLINK


def lay_out(ctx: Context, git: Git, folder: str) -> None:
    """Check out the initialised submodules of the tree in ``folder``. Raises Failed where one cannot be."""
    if not os.path.isfile(folder + "/.gitmodules"):
        return
    clones = {path: _clone(ctx, name) for name, path in _listed(git, folder)}
    options = ["-c", "protocol.file.allow=always", "-c", "core.hooksPath=/dev/null"]
    paths = []
    for path, (name, clone) in clones.items():
        if clone is None:
            _empty(f"{folder}/{path}")
        else:
            options += ["-c", f"submodule.{name}.url={clone}"]
            paths.append(path)
    if not paths:
        return
    done = git.try_run(*options, "submodule", "--quiet", "update", "--checkout", "--force", "--", *paths)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise Failed(f"a submodule of the commit cannot be checked out: {said}")


def _listed(git: Git, folder: str) -> list[tuple[str, str]]:
    """Name and path of each submodule that ``.gitmodules`` names and the tree has."""
    said = git.try_run("config", "-z", "--file", folder + "/.gitmodules", "--get-regexp", r"\.path$")
    rows = [row.partition("\n") for row in nul.texts(said.stdout)]
    named = {path: key.removeprefix("submodule.").removesuffix(".path") for key, _, path in rows if path}
    if not named:
        return []
    # what the file says may be anything: only paths that are submodules in the index count
    there = listing.entries(git.run("--literal-pathspecs", "ls-files", "-s", "-z", "--", *named))
    links = {os.fsdecode(row.path) for row in there if row.entry.mode == GITLINK}
    return [(name, path) for path, name in named.items() if path in links]


def _clone(ctx: Context, name: str) -> tuple[str, str | None]:
    """Name and clone of a submodule that the user has initialised; no clone for any other."""
    clone = f"{ctx.repo.common_dir}/modules/{name}"
    # git takes no such name either (check_submodule_name in submodule-config.c)
    sound = ".." not in name.split("/") and os.path.isfile(clone + "/HEAD")
    wanted = ctx.config.get(f"submodule.{name}.url") is not None
    return name, clone if sound and wanted else None


def _empty(path: str) -> None:
    """Make what an earlier proof checked out an empty folder again."""
    if os.path.lexists(path + "/.git"):
        shutil.rmtree(path)
        os.mkdir(path)

"""The least that a Python tool on these libraries pays for a commit of one path; the bench prints it.

It imports click and dulwich's objects as everybody does and starts the git processes of ``git ralph commit``;
it keeps no record, asks nobody, locks nothing and is safe against nothing.

    python -m benchmarks.floor -m <message> <path>
"""

import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass

import click
from dulwich.objects import ObjectID, ShaFile, Tree


@dataclass(frozen=True)
class Repository:
    """Where it is, and its newest commit."""

    root: str
    git_dir: str
    head: str


def git(*words: str, stdin: str = "", **environ: str) -> str:
    """What git prints."""
    env = {**os.environ, **environ}
    return subprocess.run(
        ["git", *words], input=stdin, env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


def read(repo: Repository, oid: bytes) -> ShaFile:
    """A loose object."""
    name = oid.decode()
    with open(f"{repo.git_dir}/objects/{name[:2]}/{name[2:]}", "rb") as file:
        return ShaFile.from_file(file)


def write(repo: Repository, tree: Tree) -> ObjectID:
    """A new loose object."""
    name = tree.id.decode()
    folder = f"{repo.git_dir}/objects/{name[:2]}"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{name[2:]}", "wb") as file:
        file.write(tree.as_legacy_object(1))
    return tree.id


def changed(repo: Repository, oid: bytes, names: list[bytes], blob: ObjectID) -> ObjectID:
    """The tree with another blob at a path."""
    tree = read(repo, oid)
    assert isinstance(tree, Tree)
    mode, child = tree[names[0]]
    tree[names[0]] = (mode, changed(repo, child, names[1:], blob) if names[1:] else blob)
    return write(repo, tree)


@click.command()
@click.option("-m", "message", required=True)
@click.argument("path")
def commit(message: str, path: str) -> None:
    """Commit a path as it stands."""
    root, git_dir = git("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir").splitlines()
    settings = dict(row.partition("\n")[::2] for row in git("config", "--list", "-z").split("\0"))
    with open(f"{git_dir}/HEAD") as file:
        ref = file.read().removeprefix("ref: ").strip()
    with open(f"{git_dir}/{ref}") as file:
        repo = Repository(root, git_dir, file.read().strip())

    copy = f"{git_dir}/floor.index"
    git("update-index", "--add", "-z", "--stdin", stdin=path + "\0", GIT_INDEX_FILE=copy)
    with open(copy, "rb") as index:
        blob = ObjectID(index.read()[52:72].hex().encode())  # gitformat-index(5): the first entry's id
    head = read(repo, repo.head.encode())
    tree = changed(repo, head.tree, path.encode().split(b"/"), blob)  # type: ignore[attr-defined]
    made = git("commit-tree", tree.decode(), "-p", repo.head, "-F", "-", stdin=message)

    shutil.copyfile(f"{git_dir}/index", copy)
    row = f"100644 {blob.decode()}\t{path}\0"
    git("update-index", "-z", "--index-info", stdin=row, GIT_INDEX_FILE=copy)
    git("update-ref", "--stdin", stdin=f"start\nupdate {ref} {made} {repo.head}\nprepare\ncommit\n")
    os.replace(copy, f"{git_dir}/index")
    click.echo(json.dumps({"commit": made, "by": settings.get("user.name"), "at": int(time.time())}))


if __name__ == "__main__":
    commit()

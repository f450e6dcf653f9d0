"""Which files register our hooks with an agent, and which of them an agent started here reads."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from gitralph.git.repository import Repository
from gitralph.setup.install import place
from gitralph.setup.install.apply import FORMS
from gitralph.setup.install.form import Registered, UnusableError
from gitralph.setup.install.table import LOCAL, PROJECT, USER, Agent

MANAGED = "managed"


@dataclass(frozen=True)
class Where:
    """The places where an agent may be told of us. ``start`` is the folder of its project file."""

    cwd: str
    root: str | None = None
    main_root: str | None = None

    @property
    def folders(self) -> list[str]:
        """Folders that may hold a project file, the current one first."""
        all_of = (self.cwd, self.root, self.main_root)
        return list(dict.fromkeys(os.path.realpath(folder) for folder in all_of if folder))


def where(cwd: str, repo: Repository | None) -> Where:
    """The places that matter for an agent started in ``cwd``."""
    if repo is None:
        return Where(cwd)
    above, name = os.path.split(repo.common_dir)
    # A bare or separated git dir has no main checkout beside it.
    return Where(cwd, repo.root, above if name == ".git" else None)


@dataclass(frozen=True)
class Installation:
    """One file. ``registered`` is None where the file cannot be used, and ``error`` says why."""

    scope: str
    file: str
    is_read: bool
    registered: Registered | None
    error: str | None = None

    @property
    def is_ours(self) -> bool:
        return self.registered is not None and bool(self.registered.commands)


def _look(agent: Agent, scope: str, file: str, is_read: bool) -> Installation | None:
    try:
        data = place.look(file).data
        if data is None:
            return None
        return Installation(scope, file, is_read, FORMS[agent.form].registered(agent, data))
    except UnusableError as error:
        return Installation(scope, file, is_read, None, str(error))


def _reads(agent: Agent, folder: str, cwd: str) -> bool:
    """True when an agent started in ``cwd`` reads the project file of ``folder``."""
    return folder == cwd or (agent.seen_below and f"{cwd}/".startswith(f"{folder}/"))


def installations(agent: Agent, here: Where, environ: Mapping[str, str]) -> list[Installation]:
    """Every file of an agent that exists, whether it names us or not."""
    candidates = [(USER, agent.file(USER, environ, None), True)]
    for folder in here.folders:
        is_read = _reads(agent, folder, os.path.realpath(here.cwd))
        candidates.append((PROJECT, agent.file(PROJECT, environ, folder), is_read))
        if agent.local_file:
            candidates.append((LOCAL, agent.file(LOCAL, environ, folder), is_read))
    if agent.managed_file:
        candidates.append((MANAGED, agent.managed_file, True))
    seen: set[str] = set()
    out = []
    for scope, file, is_read in candidates:
        real = os.path.realpath(file)
        # The user's file and a project's may be the same, by a link or in the home folder. It counts once.
        found = None if real in seen else _look(agent, scope, file, is_read)
        seen.add(real)
        if found is not None:
            out.append(found)
    return out

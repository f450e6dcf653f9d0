"""``git ralph env``: what a bug report needs, in one paste, and nothing that could be a secret.

Of the environment only names are told; values could be keys and tokens.
"""

import os
import platform
from collections.abc import Mapping
from importlib import metadata

from gitralph import __version__
from gitralph.base import layout
from gitralph.base.errors import Fatal, RalphError
from gitralph.git.config import Config
from gitralph.git.context import Context
from gitralph.git.repository import Repository, open_repository
from gitralph.git.run import Git
from gitralph.sessions import session_choice
from gitralph.setup.doctor import found, repository
from gitralph.setup.install.table import AGENTS, MANUAL

_TOLD = ("RALPH_SESSION", "RALPH_TRACKING")
_OURS = (
    "RALPH_",
    "CLAUDE",
    "CODEX_",
    "GEMINI_",
    "QWEN_",
    "COPILOT_",
    "PI_",
    "OPENCODE",
    "CURSOR_",
    "FACTORY_",
    "GIT_",
)
_LIBRARIES = ("dulwich", "click")

Facts = list[tuple[str, str]]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def versions(git: Git) -> Facts:
    """The programs and libraries that matter."""
    facts = [("git-ralph", __version__), ("python", platform.python_version())]
    facts.append(("git", git.line("version").removeprefix("git version ")))
    facts += [(name, _version(name)) for name in _LIBRARIES]
    return [*facts, ("os", platform.platform())]


def variables(environ: Mapping[str, str]) -> Facts:
    """Which variables of ours, of git and of agents are set."""
    names = sorted(name for name in environ if name.startswith(_OURS))
    told = [(name, environ[name]) for name in _TOLD if name in environ]
    return [("set", " ".join(name for name in names if name not in _TOLD) or "none"), *told]


def _session(git: Git, repo: Repository, config: Config, environ: Mapping[str, str]) -> str:
    """The session that a command would mean here, or why none is certain."""
    try:
        lay = layout.for_place(repo.place, create=False)
        ctx = Context(repo, config, lay, environ, git)
        found = session_choice.for_writing(ctx, None)
        return f"{found} ({ctx.called(found)})" if found else "none"
    except (RalphError, layout.StateError) as error:
        return f"none ({error})"


def _repository(git: Git, environ: Mapping[str, str]) -> tuple[Repository | None, Facts]:
    try:
        repo = open_repository(git)
    except Fatal as error:
        return None, [("repository", f"none ({error.message})")]
    top = layout.state_folder(repo.place)
    facts = [
        ("git dir", repo.git_dir),
        ("common dir", repo.common_dir),
        ("worktree", repo.root),
        ("state dir", top + ("" if os.path.isdir(top) else " (not there)")),
    ]
    config = Config.load(repo.git)
    facts.append(("session", _session(git, repo, config, environ)))
    rows = [(key, config.get(key) or "") for key in sorted(config.values) if key.startswith("ralph.")]
    return repo, facts + rows + [("hooks.log", line) for line in repository.log_tail(top)]


def _installed(environ: Mapping[str, str], cwd: str, repo: Repository | None) -> Facts:
    here = found.where(cwd, repo)
    facts = []
    for agent in AGENTS.values():
        places = [] if agent.form == MANUAL else found.installations(agent, here, environ)
        rows = [f"{one.scope} '{one.file}'" for one in places if one.is_ours]
        if agent.form != MANUAL:
            facts.append((agent.name, ", ".join(rows) or "not installed"))
    return facts


def facts(environ: Mapping[str, str], cwd: str) -> Facts:
    """Everything, as name and value. Raises Fatal without a git."""
    git = Git.find(environ)
    repo, place = _repository(git, environ)
    return versions(git) + place + variables(environ) + _installed(environ, cwd, repo)

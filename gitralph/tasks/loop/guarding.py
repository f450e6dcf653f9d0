"""The guard that a run brings for its agents: a plain ``git commit`` of theirs takes their own lines only.

Where ``git ralph install --guard`` put the hooks, the environment asks them to narrow. Elsewhere the run
has a folder of hooks of its own, named to the agents' git by the environment: the guard's, with the
repository's behind them. An agent may commit in other repositories too, in a test say; there each hook gives
way to that repository's own.
"""

import os
import shlex
import sys
from collections.abc import Mapping

from gitralph.base import files, programs
from gitralph.commit import guard_script
from gitralph.git.context import Context
from gitralph.setup.install import githook

# githooks(5), git 2.39: what a folder of hooks must answer for, since git looks in one folder only
_NAMES = (
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
    "reference-transaction",
    "push-to-checkout",
)

# Called for each ref, or each time an index is written: not for nothing.
_OFTEN = frozenset(["reference-transaction", "post-index-change", "fsmonitor-watchman"])


def environment(ctx: Context, run: str) -> dict[str, str]:
    """What narrows the plain commits of a run's agents; to be laid over their environment."""
    found = {"RALPH_GUARD": guard_script.NARROW, **_own_folder(ctx.environ)}
    if not githook.missing(ctx.repo.hooks_dir):
        return found
    folder = f"{ctx.layout.run_folder(run)}/hooks"
    _write(ctx, folder)
    return {**found, **_configured(ctx.environ, "core.hooksPath", folder)}


def _own_folder(environ: Mapping[str, str]) -> dict[str, str]:
    """Where the hooks find us when an agent's shell has another PATH than we have."""
    beside = os.path.join(os.path.dirname(sys.executable), "git-ralph")
    program = beside if os.path.exists(beside) else programs.find("git-ralph", environ)
    return {} if program is None else {"RALPH_PROGRAMS": os.path.dirname(program)}


def _configured(environ: Mapping[str, str], key: str, value: str) -> dict[str, str]:
    """A setting for every git below, beside those that the environment has."""
    given = environ.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isdigit() else 0
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": key,
        f"GIT_CONFIG_VALUE_{count}": value,
    }


def _write(ctx: Context, folder: str) -> None:
    files.make_folder(folder)
    for name in _NAMES:
        theirs = f"{ctx.repo.hooks_dir}/{name}"
        if name in guard_script.HOOKS:
            own = guard_script.own(name, False).decode()
            behind = f"{folder}/{guard_script.aside(name)}"
            _put(behind, f'#!/bin/sh\n[ ! -x {shlex.quote(theirs)} ] || exec {shlex.quote(theirs)} "$@"\n')
        elif name in _OFTEN and not os.access(theirs, os.X_OK):
            continue
        else:
            own = f'#!/bin/sh\n[ ! -x {shlex.quote(theirs)} ] || exec {shlex.quote(theirs)} "$@"\n'
        _put(f"{folder}/{name}", _elsewhere(ctx, name) + own.partition("\n")[2])


def _elsewhere(ctx: Context, name: str) -> str:
    """The lines that give way to another repository's own hook."""
    return f"""\
#!/bin/sh
ralph_here=$(cd "$(git rev-parse --git-common-dir)" 2>/dev/null && pwd -P)
if [ "$ralph_here" != {shlex.quote(ctx.repo.common_dir)} ]; then
	ralph_hooks=$(git config --local --get core.hooksPath || echo "$ralph_here/hooks")
	[ ! -x "$ralph_hooks/{name}" ] || exec "$ralph_hooks/{name}" "$@"
	exit 0
fi
"""


def _put(path: str, text: str) -> None:
    files.write_whole(path, text.encode("utf-8", "surrogateescape"))
    os.chmod(path, 0o700)

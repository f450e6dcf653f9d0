"""``git ralph install`` and ``git ralph uninstall``."""

import shutil
from collections.abc import Callable, Mapping
from typing import Any

import click

from gitralph.base.errors import Refused, UsageError
from gitralph.cli import environ, options, output
from gitralph.context import Context, open_context, root_of
from gitralph.setup.install import Done, apply, githook
from gitralph.setup.install.table import AGENTS, PROJECT, USER, Agent

_WORDS = {
    apply.INSTALLED: "installed in",
    apply.UPDATED: "brought up to date in",
    apply.UNCHANGED: "already installed in",
    apply.REMOVED: "removed from",
    apply.RESTORED: "removed, as it was before:",
    apply.ABSENT: "not installed in",
}


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option("--project", is_flag=True, help="In this worktree's own settings.")(command)
    command = click.option("--user", is_flag=True, help="In your own settings (default).")(command)
    names = ", ".join(AGENTS)
    return click.option(
        "--agent", "names", multiple=True, metavar="<a>", help=f"One of: {names}. Default: all found."
    )(command)


def _scope(user: bool, project: bool) -> str:
    if user and project:
        raise UsageError("--user and --project exclude each other")
    return PROJECT if project else USER


def _root(scope: str, env: Mapping[str, str]) -> str | None:
    return root_of(env) if scope == PROJECT else None


def _show(done: list[Done]) -> None:
    for one in done:
        if one.file is None:
            output.say(f"{one.agent}: {one.note}")
            continue
        output.say(f"{one.agent}: {_WORDS[one.status]} '{one.file}' ({one.scope})")
        if one.note:
            output.note(f"the project file of '{one.agent}' is {one.note}")
        if one.trust:
            output.hint(one.trust)
        if AGENTS[one.agent].is_experimental and one.status in (apply.INSTALLED, apply.UPDATED):
            output.note(f"'{one.agent}' is experimental: wired as its documentation says, never seen at work")


def _chosen(names: tuple[str, ...], env: Mapping[str, str]) -> list[Agent]:
    if names:
        return apply.named(names)
    found = apply.present(env)
    if not found:
        raise Refused("no agent was found", f"name one: git ralph install --agent {next(iter(AGENTS))}")
    output.note(f"found: {', '.join(agent.name for agent in found)}")
    return found


def _guarded(act: Callable[[Context], tuple[str, str]]) -> None:
    ctx = open_context(environ.snapshot(), create=False)
    try:
        path, status = act(ctx)
    finally:
        ctx.repo.close()
    output.say(f"guard: {_WORDS[status]} '{path}'")
    if status == githook.INSTALLED:
        if f"{path}/".startswith(f"{ctx.repo.root}/") and not path.startswith(f"{ctx.repo.common_dir}/"):
            output.note("'core.hooksPath' names a folder of this worktree, so the hook shows in 'git status'")
        output.hint("it warns; to have it refuse such a commit: git config ralph.guard refuse")


@options.command("install")
@_options
@click.option("--guard", is_flag=True, help="Put the guard into git's pre-commit hook instead.")
def install(names: tuple[str, ...], user: bool, project: bool, guard: bool) -> None:
    """Register the recording hook with your agents. What else their settings hold is kept."""
    if guard:
        _guarded(githook.install)
        if not names:
            return
    env = environ.snapshot()
    scope = _scope(user, project)
    done = apply.install(_chosen(names, env), scope, _root(scope, env), env)
    _show(done)
    if shutil.which("git-ralph", path=env.get("PATH")) is None:
        output.warn("'git-ralph' is not on PATH; an agent started from here would not find it")
    if any(one.status in (apply.INSTALLED, apply.UPDATED) for one in done):
        output.hint("start your agents again: they read their hooks when they start")
    output.hint("then prove that it works: git ralph doctor")


@options.command("uninstall")
@_options
@click.option("--guard", is_flag=True, help="Take the guard out of git's pre-commit hook instead.")
def uninstall(names: tuple[str, ...], user: bool, project: bool, guard: bool) -> None:
    """Take the recording hook out again. Untouched files become what they were, byte for byte."""
    if guard:
        _guarded(githook.uninstall)
        if not names:
            return
    env = environ.snapshot()
    scope = _scope(user, project)
    agents = apply.named(names) if names else list(AGENTS.values())
    done = apply.uninstall(agents, scope, _root(scope, env), env)
    _show([one for one in done if names or one.status not in (apply.ABSENT, apply.BY_HAND)])
    if not names and all(one.status in (apply.ABSENT, apply.BY_HAND) for one in done):
        output.note(f"no hook of ours is in the {scope} settings")

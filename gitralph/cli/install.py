"""``git ralph install`` and ``git ralph uninstall``."""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

import click

from gitralph.base.errors import Fatal, Refused, UsageError
from gitralph.cli.terminal import environ, options, output
from gitralph.git.context import Context, open_context, root_of
from gitralph.guard import question as guarding
from gitralph.setup.install import Registration, apply, githook
from gitralph.setup.install import instructions as told
from gitralph.setup.install.table import AGENTS, PROJECT, USER, Agent

_WORDS = {
    apply.INSTALLED: "installed in",
    apply.UPDATED: "brought up to date in",
    apply.UNCHANGED: "already installed in",
    apply.REMOVED: "removed from",
    apply.RESTORED: "removed, as it was before:",
    apply.ABSENT: "not installed in",
}


_agents = click.option(
    "--agent",
    "names",
    multiple=True,
    metavar="<a>",
    help=f"One of: {', '.join(AGENTS)}. Default: all found.",
)
_user = click.option("--user", is_flag=True, help="In your own settings (default).")
_project = click.option("--project", is_flag=True, help="In this worktree's own settings.")


def _scope(user: bool, project: bool) -> str:
    if user and project:
        raise UsageError("--user and --project exclude each other")
    return PROJECT if project else USER


def _root(scope: str, env: Mapping[str, str]) -> str | None:
    return root_of(env) if scope == PROJECT else None


def _show(done: list[Registration]) -> None:
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


def _guarded(act: Callable[[Context], tuple[str, str]]) -> str:
    """Does it and says so; returns the mode that ``ralph.guard`` named before."""
    ctx = open_context(environ.snapshot(), create=False)
    try:
        path, status = act(ctx)
    finally:
        ctx.repo.close()
    output.say(f"guard: {_WORDS[status]} '{path}'")
    inside = f"{path}/".startswith(f"{ctx.repo.root}/") and not path.startswith(f"{ctx.repo.common_dir}/")
    if inside and status == githook.INSTALLED:
        output.note(
            "'core.hooksPath' names a folder of this worktree, so the hook is a file of it; "
            "'git ralph status' tells when another program has taken it away"
        )
    return ctx.config.get("ralph.guard") or guarding.WARN


def _guard(mode: str) -> None:
    if mode not in ("", *guarding.MODES):
        raise UsageError(f"'{mode}' is no mode of the guard", f"modes: {', '.join(guarding.MODES)}")
    before = _guarded(lambda ctx: githook.install(ctx, mode))
    if (mode or before) == guarding.NARROW:
        output.hint("an agent's own 'git commit' holds its own lines from now on; yours is as ever")
    elif not mode and before == guarding.WARN:
        output.hint("it warns; to have it refuse such a commit: git ralph install --guard=refuse")
        output.hint(
            "to have each agent's own 'git commit' hold its own lines: git ralph install --guard=narrow"
        )


def _instructed(
    act: Callable[[Sequence[str]], list[told.Instructed]], names: tuple[str, ...], scope: str, absent: bool
) -> None:
    env = environ.snapshot()
    agents = apply.named(names) if names else []
    for one in act(told.files(agents, scope, env, _root(scope, env))):
        if absent or one.status != apply.ABSENT:
            output.say(f"instructions: {_WORDS[one.status]} '{one.file}'")


@click.command("install", cls=options.Command)
@_agents
@_user
@_project
@click.option(
    "--guard",
    "guard",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[=<mode>]",
    help="Put the guard into git's own hooks instead, and say what it does.",
)
@click.option("--instructions", is_flag=True, help="Tell agents how to commit, in CLAUDE.md and its like.")
def install(names: tuple[str, ...], user: bool, project: bool, guard: str | None, instructions: bool) -> None:
    """Register the recording hook with your agents. What else their settings hold is kept."""
    scope = _scope(user, project)
    if guard is not None:
        _guard(guard)
    if instructions:
        # instructions belong to the project, so that all who work in it agree; hooks belong to the user
        _instructed(told.install, names, USER if user else PROJECT, absent=True)
    if (guard is not None or instructions) and not names:
        return
    env = environ.snapshot()
    done = apply.install(_chosen(names, env), scope, _root(scope, env), env)
    _show(done)
    # The registered command is `git ralph`, and git looks for it on the agent's PATH, not on ours.
    if shutil.which("git-ralph", path=env.get("PATH")) is None:
        output.warn("'git-ralph' is not on PATH; an agent started from here would not find it")
    if any(one.status in (apply.INSTALLED, apply.UPDATED) for one in done):
        output.hint("start your agents again: they read their hooks when they start")
    if not user and not instructions and guard is None:
        _offer(names, env)
    output.hint("try it: git ralph doctor  # sends a real event through each hook")


def _offer(names: tuple[str, ...], env: Mapping[str, str]) -> None:
    """On a terminal in a repository: offer to let agents commit only their own lines; one question each."""
    if not (environ.is_terminal(sys.stdin) and environ.is_terminal(sys.stdout)):
        return
    try:
        root_of(env)
    except Fatal:
        return  # in no repository
    if _yes("Guard this repository, so that an agent's own 'git commit' holds only lines that it wrote"):
        _guard(guarding.NARROW)
    if _yes("Tell agents in CLAUDE.md, AGENTS.md and GEMINI.md here how to commit"):
        _instructed(told.install, names, PROJECT, absent=True)


def _yes(question: str) -> bool:
    """Ask a question; only yes is yes, and the end of the input is no."""
    sys.stdout.write(output.folded(f"{question}? [y/N]", sys.stdout) + " ")
    sys.stdout.flush()
    typed = sys.stdin.readline()
    if not typed:
        sys.stdout.write("\n")
    return typed.strip().lower() in ("y", "yes")


@click.command("uninstall", cls=options.Command)
@_agents
@_user
@_project
@click.option("--guard", is_flag=True, help="Take the guard out of git's own hooks instead.")
@click.option("--instructions", is_flag=True, help="Take out what tells agents how to commit, and no hook.")
def uninstall(names: tuple[str, ...], user: bool, project: bool, guard: bool, instructions: bool) -> None:
    """Take the recording hook out again. Untouched files become what they were, byte for byte."""
    scope = _scope(user, project)
    if guard:
        _guarded(githook.uninstall)
    if instructions:
        _instructed(told.uninstall, names, USER if user else PROJECT, absent=True)
    if (guard or instructions) and not names:
        return
    env = environ.snapshot()
    agents = apply.named(names) if names else list(AGENTS.values())
    done = apply.uninstall(agents, scope, _root(scope, env), env)
    # When all agents were asked for, those that were never installed are no news.
    _show([one for one in done if names or one.status not in (apply.ABSENT, apply.BY_HAND)])
    if not names and all(one.status in (apply.ABSENT, apply.BY_HAND) for one in done):
        output.note(f"no hook of ours is in the {scope} settings")
    if not instructions:
        _forget_instructions(names, scope, env)
    if not guard and not names and _has_guard(env):
        output.hint("git ralph uninstall --guard  # the guard in git's own hooks here stays until then")


def _has_guard(env: Mapping[str, str]) -> bool:
    try:
        return githook.is_installed(open_context(env, create=False))
    except (Fatal, Refused):
        return False  # in no repository


def _forget_instructions(names: tuple[str, ...], scope: str, env: Mapping[str, str]) -> None:
    """Remove the instructions in this project too: whoever uninstalls us wants no agent told to call us."""
    _instructed(told.uninstall, names, USER, absent=False)
    try:
        root_of(env)
    except Fatal:
        return  # in no repository
    _instructed(told.uninstall, names, PROJECT, absent=False)

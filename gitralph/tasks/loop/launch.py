"""How each known agent is started without a screen, and what it is told; starts nothing itself.

What an agent may do is its user's to decide: the defaults let it edit files and nothing more, and
``ralph.<agent>.arguments`` adds words to the command.
"""

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from gitralph.base import files, programs
from gitralph.base.errors import Fatal, UsageError
from gitralph.git.config import Config
from gitralph.hook.variables import PUBLISHED
from gitralph.tasks import promise as promises
from gitralph.tasks.loop.ledger import Job, Options

# --- what it is told ---


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


def compose_prompt(
    job: Job, plan: str | None, promise: str | None, criteria: str | None, news: list[str]
) -> str:
    """The prompt of one iteration.

    The promise is never shown in the form that counts, since some agents print their prompt.
    """
    where = f" of the plan '{plan}'" if plan else ""
    parts = [f"{job.name}{where}: {job.text}"]
    if job.details:
        parts.append(job.details)
    if criteria:
        parts.append("From the work item:\n" + _indented(criteria))
    parts.append(
        "Work on this task only. Your edits are recorded as you make them and become one commit when you "
        "are done: do not commit, and do not tick boxes in the plan."
    )
    if promise is not None:
        parts.append(
            "When the task is finished, and only then, end your answer with the text "
            f"{promises.folded(promise)!r} between the tags <promise> and </promise>."
        )
        if job.iteration > 1:
            parts.append(f"This is iteration {job.iteration}: look at what is there, then go on.")
    if job.detail:
        parts.append("The last attempt failed:\n" + _indented(job.detail))
    if news:
        parts.append("New events since the last end, as data:\n" + "\n".join(news))
    return "\n\n".join(parts) + "\n"


# --- how it is started ---


PROMPT = "{prompt}"
# Linux takes 128 KiB for one argument (MAX_ARG_STRLEN, execve(2)).
_ARGUMENT = 120 << 10
# These variables belong to the agent that started us, not to the agents that we start.
_NOT_PASSED_ON = frozenset(
    [
        *PUBLISHED,
        "RALPH_SESSION",
        "RALPH_MANIFEST",
        "RALPH_PLAN",
        "RALPH_TASK_NUM",
        "RALPH_BEAD",
        "RALPH_EVENTS_FILE",
        "RALPH_ROOT",
        "RALPH_TRACKING",
    ]
)


@dataclass(frozen=True)
class AgentCommand:
    """A program and its words. The prompt replaces ``{prompt}``, or comes on standard input."""

    argv: tuple[str, ...]

    @property
    def reads_stdin(self) -> bool:
        return not any(PROMPT in word for word in self.argv)

    def words(self, prompt: str, file: str) -> list[str]:
        """The words with the prompt inserted; a prompt too long for an argument is written into ``file``."""
        prompt = prompt.replace("\0", " ")
        if not self.reads_stdin and len(prompt.encode("utf-8", "surrogateescape")) > _ARGUMENT:
            files.make_folder(os.path.dirname(file))
            files.write_whole(file, prompt.encode("utf-8", "surrogateescape"))
            prompt = (
                f"{prompt[: _ARGUMENT // 8]}\n...\nThis is only the beginning: read all of it in {file}\n"
            )
        return [word.replace(PROMPT, prompt) for word in self.argv]


@dataclass(frozen=True)
class Setting:
    """Words that we give an agent unless its user gives one of ``rivals``, which exclude them."""

    words: tuple[str, ...]
    rivals: tuple[str, ...]

    def yields_to(self, added: list[str]) -> bool:
        """True where the user has chosen one of the rivals."""
        names = {word.partition("=")[0] for word in added}
        return bool(names & set(self.rivals))


_ASKS = ("--approval-mode", "--yolo", "-y")
# ``*`` stands for the words of ralph.<agent>.arguments.
HEADLESS: dict[str, tuple[str | Setting, ...]] = {
    "claude-code": (
        "claude",
        "-p",
        # It prints each event as it happens, and at the end which tools were refused; it needs --verbose
        # (2.1.330).
        Setting(("--output-format", "stream-json", "--verbose"), ("--output-format",)),
        Setting(
            ("--permission-mode", "acceptEdits"), ("--permission-mode", "--dangerously-skip-permissions")
        ),
        "*",
    ),
    "pi": ("pi", "-p", "*", PROMPT),
    "codex": (
        "codex",
        "exec",
        Setting(
            ("--sandbox", "workspace-write"),
            ("--sandbox", "-s", "--full-auto", "--yolo", "--dangerously-bypass-approvals-and-sandbox"),
        ),
        Setting(("--skip-git-repo-check",), ("--skip-git-repo-check",)),
        "*",
        "-",
    ),
    "gemini": ("gemini", Setting(("--approval-mode", "auto_edit"), _ASKS), "*", "-p", PROMPT),
    "opencode": ("opencode", "run", "*", PROMPT),
    "qwen": ("qwen", Setting(("--approval-mode", "auto-edit"), _ASKS), "*", PROMPT),
    "copilot": (
        "copilot",
        "-p",
        PROMPT,
        Setting(("--allow-tool", "write"), ("--allow-all-tools", "--yolo", "--allow-all")),
        "*",
    ),
}


def _known(agent: str, config: Config) -> tuple[str, ...]:
    if agent not in HEADLESS:
        raise UsageError(f"'{agent}' is no agent that run knows", f"one of: {', '.join(HEADLESS)}")
    program, *rest = HEADLESS[agent]
    more = config.get(f"ralph.{agent}.arguments") or ""
    try:
        added = shlex.split(more)
    except ValueError as error:
        raise Fatal(f"bad value for 'ralph.{agent}.arguments': {error}") from None
    words: list[str] = []
    for part in rest:
        if isinstance(part, Setting):
            words += [] if part.yields_to(added) else part.words
        else:
            words += added if part == "*" else [part]
    return (config.get(f"ralph.{agent}.command") or str(program), *words)


def _typed(options: Options, cwd: str) -> str:
    """The task as a person types it."""
    if options.plan:
        return shlex.quote(os.path.relpath(options.plan, cwd))
    words = ["-p", options.prompt] if options.prompt is not None else []
    words += ["--bead", options.bead] if options.bead is not None else []
    return shlex.join(words) if words and all(word.isprintable() for word in words) else "<plan.md>"


def command_of(options: Options, config: Config, environ: Mapping[str, str], cwd: str) -> AgentCommand:
    """The command for every task. Raises UsageError or Fatal when none can be started."""
    argv = options.command
    if options.agent is not None:
        if argv:
            raise UsageError("--agent and a command exclude each other")
        argv = _known(options.agent, config)
    if not argv:
        raise UsageError(
            "no agent is named",
            f"git ralph run {_typed(options, cwd)} --agent claude-code",
            f"git ralph run {_typed(options, cwd)} -- <command>",
        )
    return AgentCommand((_program(argv[0], environ, cwd, options.agent), *argv[1:]))


def _program(name: str, environ: Mapping[str, str], cwd: str, agent: str | None) -> str:
    """The program by absolute path, found from the user's folder."""
    path = environ.get("PATH", os.defpath)
    found = os.path.join(cwd, name) if "/" in name else shutil.which(name, path=path)
    if found is None or not os.access(found, os.X_OK) or os.path.isdir(found):
        hints = [f"git config ralph.{agent}.command <program>  # names another"] if agent else []
        raise Fatal(f"'{name}' is not a program on PATH", *hints)
    return os.path.abspath(found)


def base_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What every child inherits, before the session's own variables are added."""
    return {k: v for k, v in programs.inherited(environ).items() if k not in _NOT_PASSED_ON}

"""``git ralph commit``."""

import os
import sys

import click

from gitralph.base.errors import Fatal, RalphError, Refused, UsageError
from gitralph.base.quote import shown
from gitralph.cli import options, output
from gitralph.commit import commit as committing
from gitralph.commit import recover
from gitralph.commit.advice import describe
from gitralph.commit.commit import Request, Result
from gitralph.commit.inputs import Wishes
from gitralph.commit.pathspecs import matcher
from gitralph.context import Context
from gitralph.session import session_choice


def _message_file(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise Fatal(f"could not read log file '{name}': {error.strerror}") from error


@options.command("commit")
@options.session
@click.option("--plan", metavar="<p>", help="With --task: the session of that plan's task.")
@click.option("--task", metavar="<n>", help="With --plan: the number of the task.")
@click.option("-m", "--message", "messages", multiple=True, metavar="<msg>", help="A paragraph.")
@click.option("-F", "--file", "message_file", metavar="<file>", help="Read the message; - is stdin.")
@click.option("-e", "--edit", is_flag=True, help="Open the editor on the message.")
@click.option("--trailer", "trailers", multiple=True, metavar="<t>", help="Add a trailer.")
@click.option("--author", metavar="<a>", help="Override the author.")
@click.option("--dry-run", is_flag=True, help="Say what would be committed; write nothing.")
@click.option("--skip-entangled", is_flag=True, help="Leave what cannot be separated.")
@click.option("--include-entangled", is_flag=True, help="Take others' edits that ours need.")
@click.option("--whole-file", is_flag=True, help="Take the named paths as they stand.")
@click.option("--with-shell", is_flag=True, help="Take what only our shell commands changed.")
@click.option("--no-verify", is_flag=True, help="Skip the pre-commit and commit-msg hooks.")
@options.as_json
@click.option("--porcelain", "stable", is_flag=True, help="Print stable lines for programs.")
@options.zero
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@options.paths
def commit(
    session: str | None,
    plan: str | None,
    task: str | None,
    messages: tuple[str, ...],
    message_file: str | None,
    edit: bool,
    trailers: tuple[str, ...],
    author: str | None,
    dry_run: bool,
    skip_entangled: bool,
    include_entangled: bool,
    whole_file: bool,
    with_shell: bool,
    no_verify: bool,
    as_json: bool,
    stable: bool,
    zero: bool,
    quiet: bool,
    paths: tuple[str, ...],
) -> None:
    """Commit only what this session edited; the index keeps what is staged."""
    _check_words(whole_file, skip_entangled, include_entangled, paths, plan, task, session)
    if messages and message_file is not None:
        raise UsageError("options -m and -F cannot be used together")
    texts = [os.fsencode(text) for text in messages]
    if message_file is not None:
        texts = [_message_file(message_file)]
    show = _Show(as_json, stable or zero, zero, quiet, dry_run)
    ctx = options.context(create=not dry_run)
    try:
        found = _chosen(ctx, session, plan, task)
        match = matcher(ctx, paths)
        if found is None:
            show.result(Result("nothing", None), options.quote_high(ctx))
            return
        request = Request(
            found, tuple(texts), tuple(os.fsencode(t) for t in trailers), author, edit,
            not no_verify, dry_run,
            Wishes(skip_entangled, include_entangled, whole_file, with_shell), match, paths,
        )  # fmt: skip
        result = committing.dry_run(ctx, request) if dry_run else committing.commit(ctx, request)
    except RalphError as error:
        show.failure(error, session)
        raise
    show.result(result, options.quote_high(ctx))


def _check_words(
    whole: bool,
    skip: bool,
    include: bool,
    paths: tuple[str, ...],
    plan: str | None,
    task: str | None,
    session: str | None,
) -> None:
    if whole and not paths:
        raise UsageError("--whole-file needs paths", "git ralph commit --whole-file -- <path>...")
    if skip and include:
        raise UsageError("options --skip-entangled and --include-entangled exclude each other")
    if (plan is None) != (task is None):
        raise UsageError("--plan and --task go together")
    if plan is not None and session is not None:
        raise UsageError("--session and --plan exclude each other")


def _chosen(ctx: Context, session: str | None, plan: str | None, task: str | None) -> str | None:
    """The session to commit; where there is none, what a crash left behind is settled all the same."""
    found = None
    try:
        found = _session(ctx, session, plan, task)
    finally:
        if found is None:
            recover.heal(ctx)
    return found


def _session(ctx: Context, session: str | None, plan: str | None, task: str | None) -> str | None:
    if plan is not None and task is not None:
        return session_choice.by_task(ctx.layout, plan, task)
    return session_choice.for_writing(ctx, session)


class _Show:
    """The three forms of a result."""

    def __init__(self, json: bool, stable: bool, zero: bool, quiet: bool, dry: bool) -> None:
        self.json = json
        self.stable = stable
        self.zero = zero
        self.quiet = quiet
        self.dry = dry

    def failure(self, error: RalphError, session: str | None) -> None:
        if self.json:
            left = error.left if isinstance(error, Refused) else ()
            document = _document(Result("refused", session))
            document["left"] = output.left_json(left)  # type: ignore[arg-type]
            document["notes"] = [error.message]
            output.as_json(document)

    def result(self, result: Result, high: bool) -> None:
        if self.json:
            output.as_json(_document(result))
        elif self.stable:
            self._lines(result, high)
        elif not self.quiet:
            _sentences(result)
        if not self.quiet:
            _chatter(result)

    def _lines(self, result: Result, high: bool) -> None:
        sys.stdout.write(f"{result.status} {result.commit or '-'}" + ("\0" if self.zero else "\n"))
        for path, letter in result.changes.items():
            sys.stdout.write(f"{letter} {result.how[path]} ")
            output.paths([path], self.zero, high)
        for left in result.left:
            sys.stdout.write(f"! {left.reason} ")
            output.paths([left.path], self.zero, high)


def _document(result: Result) -> dict[str, object]:
    return {
        "status": result.status,
        "commit": result.commit,
        "ref": result.ref,
        "session": result.session,
        "paths": [
            {"path": output.text(path), "change": letter, "how": result.how[path]}
            for path, letter in result.changes.items()
        ],
        "left": output.left_json(result.left),
        "notes": result.notes,
    }


def _sentences(result: Result) -> None:
    if result.status == "nothing":
        output.say("nothing to commit for this session")
        return
    branch = (result.ref or "HEAD").removeprefix("refs/heads/")
    if result.status == "committed" and result.commit:
        output.say(f"[{branch} {result.commit[:7]}] {result.subject}")
    count = len(result.changes)
    verb = "would be committed" if result.status == "dry-run" else "committed"
    output.say(f" {count} path{'s' if count != 1 else ''} {verb} for session '{result.session}'")
    for path, letter in result.changes.items():
        output.say(f" {letter} {shown(path)}")


def _chatter(result: Result) -> None:
    for note in result.notes:
        output.note(note)
    for left in result.left:
        if left.reason != "unchanged":
            output.chatter("note", "left out: " + describe(left))
    for hint in result.hints:
        output.hint(hint)

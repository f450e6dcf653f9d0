"""``git ralph commit``."""

import os
import sys

from gitralph.base.errors import Fatal, RalphError, Refused, UsageError
from gitralph.base.quote import shell_line, shown
from gitralph.cli import beside, environ, options, output, proving, signals
from gitralph.commit import commit as committing
from gitralph.commit import own_commit, recover
from gitralph.commit.advice import describe
from gitralph.commit.commit import Request, Result
from gitralph.commit.decision import STALE
from gitralph.commit.inputs import Wishes
from gitralph.commit.pathspecs import matcher
from gitralph.context import Context
from gitralph.git import refs
from gitralph.prove.judge import Judge
from gitralph.prove.results import ProofCommand
from gitralph.session import crowd, session_choice, transcript_claims
from gitralph.takeback import ways_back


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
@options.option("--plan", metavar="<p>", help="With --task: the session of that plan's task.")
@options.option("--task", metavar="<n>", help="With --plan: the number of the task.")
@options.option("-m", "--message", "messages", multiple=True, metavar="<msg>", help="A paragraph.")
@options.option("-F", "--file", "message_file", metavar="<file>", help="Read the message; - is stdin.")
@options.option("-e", "--edit", is_flag=True, help="Open the editor on the message.")
@options.option("--trailer", "trailers", multiple=True, metavar="<t>", help="Add a trailer.")
@options.option("--author", metavar="<a>", help="Override the author.")
@options.option("--amend", is_flag=True, help="Replace HEAD's commit, if it is this session's.")
@options.option("--fixup", metavar="<commit>", help="A commit to be squashed into that one.")
@options.option("--dry-run", is_flag=True, help="Say what would be committed; write nothing.")
@options.option("--skip-entangled", is_flag=True, help="Leave what cannot be separated.")
@options.option("--include-entangled", is_flag=True, help="Take others' edits that ours need.")
@options.option("--whole-file", is_flag=True, help="Take the named paths as they stand.")
@options.option("--with-shell", is_flag=True, help="Take what only our shell commands changed.")
@options.option("--no-verify", is_flag=True, help="Skip the pre-commit and commit-msg hooks.")
@options.option("--prove", metavar="<cmd>", help="Commit only what passes this on its own tree.")
@options.option("--no-prove", is_flag=True, help="Prove nothing, whatever ralph.prove says.")
@options.option("--explain", is_flag=True, help="Where it fails, find whose uncommitted lines it needs.")
@options.as_json
@options.option("--porcelain", "stable", is_flag=True, help="Print stable lines for programs.")
@options.zero
@options.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
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
    amend: bool,
    fixup: str | None,
    dry_run: bool,
    skip_entangled: bool,
    include_entangled: bool,
    whole_file: bool,
    with_shell: bool,
    no_verify: bool,
    prove: str | None,
    no_prove: bool,
    explain: bool,
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
    if amend and fixup is not None:
        raise UsageError("options --amend and --fixup exclude each other")
    show = _Show(as_json, stable or zero, zero, quiet, dry_run)
    if prove is not None and no_prove:
        raise UsageError("options --prove and --no-prove exclude each other")
    # A dry run writes nothing, not even the state folder.
    ctx = options.context(create=not dry_run)
    wishes = {
        "--dry-run": dry_run,
        "--skip-entangled": skip_entangled,
        "--include-entangled": include_entangled,
        "--whole-file": whole_file,
        "--with-shell": with_shell,
    }
    flags = {"-e": edit, "--amend": amend, "--no-verify": no_verify}
    edit = edit or _wants_editor(ctx, bool(texts) or amend or fixup is not None or dry_run or show.is_quiet)
    try:
        judge = None if no_prove else _judge(ctx, prove, explain, quiet)
        valued = {
            "-m": messages,
            "-F": message_file,
            "--trailer": trailers,
            "--author": author,
            "--fixup": fixup,
            "--prove": prove,
        }
        again = (*(name for name, given in flags.items() if given), *_again(valued))
        wished = [name for name, given in wishes.items() if given]
        found = _chosen(
            ctx, session, plan, task, amend, [*wished, *again, *(["--", *paths] if paths else [])]
        )
        match = matcher(ctx, paths)
        if found is None:
            show.result(ctx, Result("nothing", None))
            show.beside(ctx, Result("nothing", None), messages, paths)
            return
        request = Request(
            found,
            tuple(texts),
            tuple(os.fsencode(t) for t in trailers),
            author,
            edit,
            not no_verify,
            dry_run,
            Wishes(skip_entangled, include_entangled, whole_file, with_shell),
            match,
            paths,
            judge,
            amend,
            fixup,
            again,
        )
        commits = committing.dry_run if dry_run else committing.commit
        if judge is None:
            result = commits(ctx, request)
        else:
            # A proof may run for minutes in children of its own: they must end with us.
            with signals.stopped_like_by_hand():
                result = commits(ctx, request)
    except RalphError as error:
        # Edits that git put away may be why a record does not fit any more; whether they can be brought back
        # is asked only then.
        if isinstance(error, Refused) and any(getattr(one, "reason", "") == STALE for one in error.left):
            error.hints = (*ways_back.after_refusal(ctx, error.left), *error.hints)  # type: ignore[arg-type]
        show.failure(ctx, error, session)
        raise
    if result.silent:
        result = transcript_claims.explained(ctx, found, result)
    show.result(ctx, result)
    if result.status == "nothing":
        show.beside(ctx, result, messages, paths)
    elif result.status == "committed":
        # Last of all, in the background: nobody waits for it.
        crowd.put_away_if_due(ctx)


def _again(valued: dict[str, tuple[str, ...] | str | None]) -> list[str]:
    """Options to be typed again with their values; none that no line can hold, and no stdin."""
    words = []
    for name, given in valued.items():
        for one in given if isinstance(given, tuple) else [given]:
            # A hint is a line that is copied; standard input is used up by now.
            if one is not None and one.isprintable() and (name, one) != ("-F", "-"):
                words += [name, one]
    return words


def _wants_editor(ctx: Context, told: bool) -> bool:
    """A person at a terminal who gave no message writes it, as with git; an agent gets one made for it."""
    at_terminal = environ.is_terminal(sys.stdin) and environ.is_terminal(sys.stdout)
    return at_terminal and not told and not ctx.is_agent


def _judge(ctx: Context, given: str | None, explain: bool, quiet: bool) -> "Judge | None":
    """Who proves the commit, None where nothing is to be proved: ``--prove`` or ``ralph.prove``."""
    text = given if given is not None else ctx.config.get("ralph.prove")
    if text is None or (given is None and not text):
        if explain:
            raise UsageError(
                "--explain needs a command to prove with", "git ralph commit --explain --prove <cmd>"
            )
        return None
    if not text.strip():
        raise UsageError("the command to prove with is empty")

    passing = None if quiet else proving.Passing()
    command = ProofCommand.shell(text, proving.folder(ctx))
    return Judge(ctx, proving.prover(ctx, passing), command, output.note, explain)


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


def _chosen(
    ctx: Context, session: str | None, plan: str | None, task: str | None, amend: bool, rest: list[str]
) -> str | None:
    """The session to commit; where there is none, what a crash left behind is settled all the same.

    ``rest`` are the other words that were typed: hints that name a session repeat them.
    """
    found = None
    try:
        found = _session(ctx, session, plan, task, amend)
    except Refused as error:
        start, more = session_choice.COMMIT.partition("{}")[0], shell_line(rest)
        error.hints = tuple(f"{one} {more}".rstrip() if one.startswith(start) else one for one in error.hints)
        raise
    finally:
        if found is None:
            recover.heal(ctx)
    return found


def _session(
    ctx: Context, session: str | None, plan: str | None, task: str | None, amend: bool
) -> str | None:
    if plan is not None and task is not None:
        return session_choice.by_task(ctx.layout, plan, task)
    found = session_choice.for_writing(ctx, session)
    if found is None and amend:  # another message for its last commit is work of a session that has none
        head = refs.read_head(ctx.repo).oid

        # Of several makers nobody can say who wants another message.
        made_by = own_commit.makers(ctx, head) if head else []
        found = made_by[0] if len(made_by) == 1 else None
    return found


class _Show:
    """The three forms of a result."""

    def __init__(self, json: bool, stable: bool, zero: bool, quiet: bool, dry: bool) -> None:
        self.json = json
        self.stable = stable
        self.zero = zero
        self.quiet = quiet
        self.dry = dry

    @property
    def is_quiet(self) -> bool:
        """True where a program reads the answer, or nobody does."""
        return self.json or self.stable or self.quiet

    def failure(self, ctx: Context, error: RalphError, session: str | None) -> None:
        if self.json:
            left = error.left if isinstance(error, Refused) else ()
            document = _document(ctx, Result("refused", session))
            document["left"] = output.left_json(ctx.layout, left)  # type: ignore[arg-type]
            document["notes"] = [error.message]
            proof: dict[str, object] | None = getattr(error, "proof", None)
            document |= {"proof": proof} if proof else {}
            output.as_json(document)

    def result(self, ctx: Context, result: Result) -> None:
        if self.json:
            output.as_json(_document(ctx, result))
        elif self.stable:
            self._lines(result, options.quote_high(ctx))
        elif not self.quiet:
            _sentences(ctx, result)
        if not self.quiet:
            _chatter(ctx, result)

    def beside(self, ctx: Context, result: Result, messages: tuple[str, ...], paths: tuple[str, ...]) -> None:
        """After a commit of nothing: what is uncommitted all the same, and how that is committed."""
        if not self.is_quiet:
            beside.tell(ctx, result, messages, paths)

    def _lines(self, result: Result, high: bool) -> None:
        sys.stdout.write(f"{result.status} {result.commit or '-'}" + ("\0" if self.zero else "\n"))
        for path, letter in result.changes.items():
            sys.stdout.write(f"{letter} {result.how[path]} ")
            output.paths([path], self.zero, high)
        for left in result.left:
            sys.stdout.write(f"! {left.reason} ")
            output.paths([left.path], self.zero, high)


def _document(ctx: Context, result: Result) -> dict[str, object]:
    return {
        "status": result.status,
        "commit": result.commit,
        "ref": result.ref,
        "session": result.session,
        "name": ctx.called(result.session) if result.session else None,
        "paths": [
            {"path": output.text(path), "change": letter, "how": result.how[path]}
            for path, letter in result.changes.items()
        ],
        "left": output.left_json(ctx.layout, result.left),
        "notes": result.notes,
        **({"proof": result.proof} if result.proof else {}),
    }


def _sentences(ctx: Context, result: Result) -> None:
    if result.status == "nothing":
        whose = f"session '{ctx.called(result.session)}'" if result.session else "any session"
        output.say(f"nothing to commit for {whose}")
        return
    branch = (result.ref or "HEAD").removeprefix("refs/heads/")
    if result.status == "committed" and result.commit:
        output.say(f"[{branch} {result.commit[:7]}] {result.subject}")
    count = len(result.changes)
    assert result.session is not None
    verb = "would be committed" if result.status == "dry-run" else "committed"
    output.say(f" {count} path{'s' if count != 1 else ''} {verb} for session '{ctx.called(result.session)}'")
    for path, letter in sorted(result.changes.items()):
        output.say(f" {letter} {shown(path)}")


def _chatter(ctx: Context, result: Result) -> None:
    for note in result.notes:
        output.note(note)
    for left in result.left:
        if left.reason != "unchanged":
            output.chatter("note", "left out: " + describe(ctx.layout, left))
    for hint in result.hints:
        output.hint(hint)

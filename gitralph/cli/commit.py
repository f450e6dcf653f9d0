"""``git ralph commit``.

What only an option, a refusal or an empty answer needs is imported there: it is a tenth of the whole start.
"""

import contextlib
import functools
import os
import shlex
import sys
from typing import Any, NamedTuple

import click

from gitralph.ask.trace import kept_notes
from gitralph.base.errors import Fatal, RalphError, Refused, UsageError
from gitralph.base.quote import shown
from gitralph.cli.terminal import environ, options, output, signals
from gitralph.cli.terminal.asking import Asker
from gitralph.commit import cleanup
from gitralph.commit import commit as committing
from gitralph.commit.preview import drafted
from gitralph.decide import own_commit, picking
from gitralph.decide.decision import DECLINED, STALE, UNCHANGED, UNRECORDED
from gitralph.decide.inputs import Wishes, open_bench
from gitralph.decide.pathspecs import matcher
from gitralph.decide.request import Judge, Pick, Request, Result
from gitralph.git import refs, uncommitted
from gitralph.git.context import Context, refuse_operation
from gitralph.git.typed import as_pathspec
from gitralph.records import path_records
from gitralph.sessions import gc_in_background, session_choice
from gitralph.words.advice import described

# A hint is copied in one line; with more files a person stages them first.
_NEW = 5


class CommitOptions(NamedTuple):
    """What was typed after ``git ralph commit``; click fills it, see :func:`commit`."""

    session: str | None
    plan: str | None
    task: str | None
    messages: tuple[str, ...]
    message_file: str | None
    edit: bool
    trailers: tuple[str, ...]
    author: str | None
    mine: bool
    amend: bool
    fixup: str | None
    dry_run: bool
    skip_entangled: bool
    include_entangled: bool
    whole_file: bool
    with_shell: bool
    patch: bool
    no_verify: bool
    prove: str | None
    no_prove: bool
    explain: bool
    as_json: bool
    stable: bool
    zero: bool
    quiet: bool
    paths: tuple[str, ...]

    def check(self) -> None:
        """Raise UsageError for options that do not go together."""
        if self.whole_file and not self.paths:
            raise UsageError("--whole-file needs paths, each named after '--'")
        if self.skip_entangled and self.include_entangled:
            raise UsageError("options --skip-entangled and --include-entangled exclude each other")
        if (self.plan is None) != (self.task is None):
            raise UsageError("--plan and --task go together")
        if self.plan is not None and self.session is not None:
            raise UsageError("--session and --plan exclude each other")
        if self.messages and self.message_file is not None:
            raise UsageError("options -m and -F cannot be used together")
        if self.amend and self.fixup is not None:
            raise UsageError("options --amend and --fixup exclude each other")
        for name, given in self._not_by_hunks.items():
            if self.patch and given:
                raise UsageError(f"options -p and {name} exclude each other")
        for name, given in self._of_sessions.items():
            if self.mine and given:
                raise UsageError(f"options --mine and {name} exclude each other")
        if self.prove is not None and self.no_prove:
            raise UsageError("options --prove and --no-prove exclude each other")

    @property
    def _of_sessions(self) -> dict[str, object]:
        """The names of the given options that only make sense for a session's commit."""
        return {
            "--session": self.session is not None,
            "--plan": self.plan is not None,
            "--amend": self.amend,
            "--fixup": self.fixup is not None,
            "--include-entangled": self.include_entangled,
            "--whole-file": self.whole_file,
            "--with-shell": self.with_shell,
            "--prove": self.prove is not None,
            "--explain": self.explain,
        }

    @property
    def _not_by_hunks(self) -> dict[str, object]:
        """The names of the given options that leave nothing to ask, or nobody to ask."""
        return {
            "--include-entangled": self.include_entangled,
            "--whole-file": self.whole_file,
            "--json": self.as_json,
            "--porcelain": self.stable,
            "-z": self.zero,
            "-F -": self.message_file == "-",
        }

    @property
    def is_quiet(self) -> bool:
        """True where a program reads the answer, or nobody does."""
        return self.as_json or self.stable or self.zero or self.quiet

    @property
    def wishes(self) -> tuple[str, ...]:
        """The options that say how doubtful paths are treated, and whether anything is written."""
        flags = {
            "--dry-run": self.dry_run,
            "--skip-entangled": self.skip_entangled,
            "--include-entangled": self.include_entangled,
            "--whole-file": self.whole_file,
            "--with-shell": self.with_shell,
            "-p": self.patch,
        }
        return tuple(name for name, given in flags.items() if given)

    @property
    def again(self) -> tuple[str, ...]:
        """The options that a hint repeats beside wishes and paths, so that no message is lost."""
        flags = {"-e": self.edit, "--amend": self.amend, "--no-verify": self.no_verify}
        words = [name for name, given in flags.items() if given]
        valued = {
            "-m": self.messages,
            "-F": (self.message_file,),
            "--trailer": self.trailers,
            "--author": (self.author,),
            "--fixup": (self.fixup,),
            "--prove": (self.prove,),
        }
        for name, values in valued.items():
            for value in values:
                # A hint is copied in one line, and standard input has been used up.
                if value is not None and value.isprintable() and (name, value) != ("-F", "-"):
                    words += [name, value]
        return tuple(words)


@click.command("commit", cls=options.Command)
@options.session
@click.option("--plan", metavar="<p>", help="With --task: the session of that plan's task.")
@click.option("--task", metavar="<n>", help="With --plan: the number of the task.")
@click.option("-m", "--message", "messages", multiple=True, metavar="<msg>", help="A paragraph.")
@click.option("-F", "--file", "message_file", metavar="<file>", help="Read the message; - is stdin.")
@click.option("-e", "--edit", is_flag=True, help="Open the editor on the message.")
@click.option("--trailer", "trailers", multiple=True, metavar="<t>", help="Add a trailer.")
@click.option("--author", metavar="<a>", help="Override the author.")
@click.option("--mine", is_flag=True, help="What no session owns: a person's commit.")
@click.option("--amend", is_flag=True, help="Replace HEAD's commit, if it is this session's.")
@click.option("--fixup", metavar="<commit>", help="A commit to be squashed into that one.")
@click.option("--dry-run", is_flag=True, help="Say what would be committed; write nothing.")
@click.option("--skip-entangled", is_flag=True, help="Leave what cannot be separated.")
@click.option("--include-entangled", is_flag=True, help="Take others' edits that ours need.")
@click.option("--whole-file", is_flag=True, help="Take the named paths as they stand.")
@click.option("--with-shell", is_flag=True, help="Take what our shell commands may have made.")
@click.option("-p", "--patch", is_flag=True, help="Ask for each hunk.")
@click.option("--no-verify", is_flag=True, help="Skip the pre-commit and commit-msg hooks.")
@click.option("--prove", metavar="<cmd>", help="Commit only what passes this on its own tree.")
@click.option("--no-prove", is_flag=True, help="Prove nothing, whatever ralph.prove says.")
@click.option("--explain", is_flag=True, help="Where it fails, find whose uncommitted lines it needs.")
@options.as_json
@click.option("--porcelain", "stable", is_flag=True, help="Print stable lines for programs.")
@options.zero
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@options.paths
def commit(**typed: Any) -> None:
    """Commit only what this session edited, or you did; the index keeps what is staged."""
    asked = CommitOptions(**typed)
    asked.check()
    texts = _texts(asked)
    # A dry run writes nothing, not even the state folder.
    ctx = options.context(create=not asked.dry_run)
    try:
        result = _commit(ctx, asked, texts)
    except RalphError as error:
        # A record may not fit any more since git put edits away. Only then the question is whether they can
        # be brought back.
        if isinstance(error, Refused) and any(getattr(one, "reason", "") == STALE for one in error.left):
            from gitralph.takeback import loss  # for this refusal alone

            error.hints = (*loss.ways_back(ctx, error.left), *error.hints)  # type: ignore[arg-type]
        if asked.as_json:
            output.as_json(_refusal(ctx, error.session or asked.session, error))
        raise
    _show(ctx, asked, result)
    if result.status == "nothing" and asked.patch:
        return
    if result.status == "nothing" and not asked.is_quiet and not asked.mine:
        from gitralph.cli.terminal import nothing_to_commit  # for an empty answer alone

        # names changes that are uncommitted all the same, and how to commit them
        nothing_to_commit.tell(ctx, result, asked.messages, asked.paths)
    elif result.status == "nothing" and asked.mine and not asked.is_quiet:
        _tell_of_new_files(ctx)
    elif result.status == "committed":
        kept_notes.write_new_notes(ctx)
        # This comes last, in the background: nobody waits for it.
        gc_in_background.put_away_if_due(ctx)


def _tell_of_new_files(ctx: Context) -> None:
    """Tell of a person's new files: a commit takes these only where they are named or staged."""
    found = uncommitted.dirty(ctx.repo, ctx.config)
    new = [p for p, letters in found.items() if letters == uncommitted.UNTRACKED]
    known = path_records.states_of(ctx.layout, new)
    new = [path for path in new if path not in known or not known[path].owners()]
    if new:
        given = " ".join(as_pathspec(ctx, path) for path in new[:_NEW])
        output.hint(f"git ralph commit --mine -- {given}  # takes new files that are named")


def _texts(asked: CommitOptions) -> tuple[bytes, ...]:
    """The paragraphs of the message, or the text of the file that holds it."""
    name = asked.message_file
    if name is None:
        return tuple(os.fsencode(text) for text in asked.messages)
    if name == "-":
        return (sys.stdin.buffer.read(),)
    try:
        with open(name, "rb") as file:
            return (file.read(),)
    except OSError as error:
        raise Fatal(f"could not read log file '{name}': {error.strerror}") from error


def _commit(ctx: Context, asked: CommitOptions, texts: tuple[bytes, ...]) -> Result:
    """Commit, or tell what would be committed; "nothing" also where there is no session."""
    judge = None if asked.mine else _judge(ctx, asked)
    session = _chosen(ctx, asked)
    match = matcher(ctx, asked.paths)
    if session is None:
        return Result("nothing", None)
    request = Request(
        session,
        messages=texts,
        trailers=tuple(os.fsencode(text) for text in asked.trailers),
        author=asked.author,
        edit=asked.edit or _wants_editor(ctx, asked),
        verify=not asked.no_verify,
        dry_run=asked.dry_run,
        wishes=Wishes(
            # lines that cannot be separated are no hunk to ask about
            skip_entangled=asked.skip_entangled or asked.patch,
            include_entangled=asked.include_entangled,
            whole_file=asked.whole_file,
            with_shell=asked.with_shell,
        ),
        match=match,
        named=asked.paths,
        judge=judge,
        amend=asked.amend,
        fixup=asked.fixup,
        again=asked.again,
    )
    if asked.patch:
        request = _picked(ctx, request)
        if not request.picks:
            return Result("nothing", None if asked.mine else session)
    commits = committing.dry_run if asked.dry_run else committing.commit
    # A proof may run for minutes in child processes, which must end with us.
    with signals.stopped_like_by_hand() if judge else contextlib.nullcontext():
        try:
            result = commits(ctx, request)
        except RalphError as error:
            error.session = None if asked.mine else session
            if isinstance(error, Refused):
                from gitralph.takeback import assign as assigning  # for a refusal alone

                error.hints = (*error.hints, *assigning.ways_out(ctx, session, error.left))  # type: ignore[arg-type]
            raise
    if asked.mine or not result.silent:
        return result
    from gitralph.ask import dead_hooks  # for an empty answer alone

    return dead_hooks.explained(ctx, session, result)


def _picked(ctx: Context, request: Request) -> Request:
    """The request for the hunks that a person chose, after a question for each."""
    asker = Asker(ctx, "commit")
    picks: dict[bytes, Pick] = {}
    refuse_operation(ctx, "committed")
    with open_bench(ctx, quarantine=True) as bench:
        made = drafted(ctx, bench, request)
        for one in picking.offers(ctx, bench, made, asker.color):
            show = functools.partial(_show_hunk, one)
            picks |= one.chosen(asker.chosen(one.questions, show, f"Commit {one.what}"))
    for line in described(ctx.layout, (one for one in made.left if one.reason != UNCHANGED and not picks)):
        output.chatter("note", f"left out: {line}")
    return request._replace(picks=picks)


def _show_hunk(one: picking.PickedPath, number: int) -> None:
    output.raw(one.shown(number))


def _wants_editor(ctx: Context, asked: CommitOptions) -> bool:
    """True for a person at a terminal who gave no message; an agent gets a message made for it."""
    at_terminal = environ.is_terminal(sys.stdin) and environ.is_terminal(sys.stdout)
    has_one = asked.messages or asked.message_file is not None or asked.amend or asked.fixup is not None
    told = has_one or asked.dry_run or asked.is_quiet
    return at_terminal and not told and not ctx.is_agent


def _judge(ctx: Context, asked: CommitOptions) -> Judge | None:
    """What proves the commit, by ``--prove`` or ``ralph.prove``; None where nothing must be proved."""
    if asked.no_prove:
        return None
    text = asked.prove if asked.prove is not None else ctx.config.get("ralph.prove")
    if text is None or (asked.prove is None and not text):
        if asked.explain:
            raise UsageError(
                "--explain needs a command to prove with", "git ralph commit --explain --prove <cmd>"
            )
        return None
    if not text.strip():
        raise UsageError("the command to prove with is empty")
    from gitralph.cli.terminal import proving  # for --prove alone

    return proving.judge(ctx, text, asked.quiet, asked.explain)


def _chosen(ctx: Context, asked: CommitOptions) -> str | None:
    """The session to commit. Where there is none, what a crash left behind is finished all the same."""
    found = None
    try:
        found = _session(ctx, asked)
    except Refused as error:
        # Hints that name a session repeat the other words that were typed.
        start = session_choice.COMMIT.partition("{}")[0]
        more = shlex.join([*asked.wishes, *asked.again, *(["--", *asked.paths] if asked.paths else [])])
        error.hints = tuple(f"{one} {more}".rstrip() if one.startswith(start) else one for one in error.hints)
        raise
    finally:
        if found is None:
            cleanup.unless_busy(ctx)
    return found


def _session(ctx: Context, asked: CommitOptions) -> str | None:
    if asked.mine:
        if ctx.is_agent:
            raise Refused("--mine is for a person, and this is an agent's shell", "git ralph commit")
        return UNRECORDED
    if asked.plan is not None and asked.task is not None:
        return session_choice.by_task(ctx.layout, asked.plan, asked.task)
    found = session_choice.for_writing(ctx, asked.session)
    if found is None and asked.amend:
        # A session without pending work may still give its last commit another message. With several makers
        # nobody can tell which one wants it.
        head = refs.read_head(ctx.repo).oid
        made_by = own_commit.makers(ctx, head) if head else []
        found = made_by[0] if len(made_by) == 1 else None
    return found


# --- what is said ---


def _show(ctx: Context, asked: CommitOptions, result: Result) -> None:
    if asked.as_json:
        output.as_json(_document(ctx, result))
    elif asked.stable or asked.zero:
        _lines(result, asked.zero, options.quote_high(ctx))
    elif not asked.quiet:
        _sentences(ctx, result, asked.mine)
    if not asked.quiet:
        _chatter(ctx, result)


def _lines(result: Result, zero: bool, high: bool) -> None:
    sys.stdout.write(f"{result.status} {result.commit or '-'}" + ("\0" if zero else "\n"))
    for path, letter in result.changes.items():
        sys.stdout.write(f"{letter} {result.how[path]} ")
        output.paths([path], zero, high)
    for left in result.left:
        sys.stdout.write(f"! {left.reason} ")
        output.paths([left.path], zero, high)


def _refusal(ctx: Context, session: str | None, error: RalphError) -> dict[str, object]:
    left = error.left if isinstance(error, Refused) else ()
    proof: dict[str, object] | None = getattr(error, "proof", None)
    return {
        **_document(ctx, Result("refused", session, proof=proof)),
        "left": output.left_json(ctx.layout, left),  # type: ignore[arg-type]
        "notes": [error.message],
    }


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


def _sentences(ctx: Context, result: Result, mine: bool) -> None:
    if result.status == "nothing":
        whose = f"session '{ctx.called(result.session)}'" if result.session else "any session"
        whose = "you" if mine else whose
        output.say(f"nothing to commit for {whose}")
        return
    branch = (result.ref or "HEAD").removeprefix("refs/heads/")
    if result.status == "committed" and result.commit:
        output.say(f"[{branch} {result.commit[:7]}] {result.subject}")
    count = len(result.changes)
    verb = "would be committed" if result.status == "dry-run" else "committed"
    whose = f" for session '{ctx.called(result.session)}'" if result.session else ""
    output.say(f" {count} path{'s' if count != 1 else ''} {verb}{whose}")
    for path, letter in sorted(result.changes.items()):
        output.say(f" {letter} {shown(path)}")


def _chatter(ctx: Context, result: Result) -> None:
    for note in result.notes:
        output.note(note)
    for line in described(ctx.layout, (x for x in result.left if x.reason not in (UNCHANGED, DECLINED))):
        output.chatter("note", f"left out: {line}")
    for hint in result.hints:
        output.hint(hint)

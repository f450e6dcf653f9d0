"""The fast lane of ``git ralph hook <agent>``: one event on stdin, recorded; never in the agent's way.

Standard library only, no process started, nothing on stdout, exit 0 whatever happens. What could not
be recorded goes to ``hooks.log``, or to stderr where there is no state folder to log in.
"""

import os
import select
import time
from collections.abc import Callable

from gitralph.base import files, gitdir, jsonline, layout, process, streams
from gitralph.base.gitdir import Place
from gitralph.base.ids import digest, safe_form
from gitralph.base.layout import Layout
from gitralph.base.quote import printable
from gitralph.hook import agents, beat, locate, model, others, policy_triage, record, sessionfile, whereabouts
from gitralph.hook.agents.launching import requires
from gitralph.hook.event import Change, Event, command_of, session_of
from gitralph.hook.locate import Target
from gitralph.hook.others import Company
from gitralph.hook.reconcile import UNKNOWN

# The agent of the hook, its event, the kind of policy, the environment; returns the exit code.
Policy = Callable[[str, Event, str, dict[str, str]], int]
# The folder of an event, and the environment. Repairs what a dead git left there.
Mend = Callable[[str, dict[str, str]], None]
# A change about to happen, its file, the live sessions with records of the path, and the state of these
# records.
Found = tuple[Change, Target, list[Company], str]
Tell = Callable[[Event, list[Found], dict[str, str]], None]
Answers = tuple[Policy | None, Mend | None, Tell | None]
_RECORDED_TOO = ("doc-only", "discard", "stop", "start")
# In bytes. A payload carries several copies of a file, and lines are told apart up to 5 MiB; beyond, only the
# path counts.
READ_LIMIT = 32 << 20
# In seconds. A client that never closes the pipe must not hold the agent up.
READ_SECONDS = 5.0
# In bytes. One `hooks.log.old` is kept beside it, so a broken hook in a loop fills only 512 KiB.
_LOG_LIMIT = 256 << 10
# In characters: the name goes into a trailer.
_NAME = 60

_TURNS = ("prompt", "stop", "subagent-start", "subagent-stop", "subagent")


class SkipError(Exception):
    """This event cannot be recorded; the message says why.

    ``parsed`` is the part that could be read. ``unread``: it was no event at all.
    """

    def __init__(self, message: str, parsed: object = None, unread: bool = False) -> None:
        super().__init__(message)
        self.parsed = parsed
        self.unread = unread


class _Input:
    """What stdin gave: bytes, and whether that is all of it."""

    __slots__ = ("cut", "data")

    def __init__(self, data: bytearray, cut: bool) -> None:
        self.data = data
        self.cut = cut


def read_input(fd: int, limit: int = READ_LIMIT, seconds: float = READ_SECONDS) -> _Input:
    """Read to the end, to ``limit`` bytes or for ``seconds``, then drain what else comes."""
    data, cut = bytearray(), False
    deadline = time.monotonic() + seconds
    while True:
        left = deadline - time.monotonic()
        # The part so far may name the paths: a payload cut short gives a record by path alone.
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return _Input(data, True)
        # Read to the end even beyond the limit: a client that still writes would get SIGPIPE and take the
        # hook for failed.
        chunk = os.read(fd, 1 << 20)
        if not chunk:
            return _Input(data, cut)
        room = limit - len(data)
        data += chunk[:room]
        cut = cut or len(chunk) > room


def parse_input(given: _Input) -> tuple[dict[str, object], bool]:
    """The payload and whether it is whole. Raises SkipError for what is no JSON object."""
    text = given.data.decode("utf-8", "replace")
    given.data.clear()
    if not text.strip():
        raise SkipError("empty input", unread=True)
    try:
        value = jsonline.loads(text)
    except ValueError as error:
        if not given.cut:
            raise SkipError(f"input is {error}", _prefix(text), unread=True) from None
        return jsonline.loads_prefix(text), False
    if not isinstance(value, dict):
        raise SkipError("input is not a JSON object", unread=True)
    return value, True


def _prefix(text: str) -> dict[str, object] | None:
    try:
        return jsonline.loads_prefix(text)
    except ValueError:
        return None


def _forget_texts(event: Event) -> None:
    """Drop the texts of a payload that was cut off: it proves paths only."""
    for change in event.changes:
        change.before = UNKNOWN
        change.after = None if change.op == "delete" else UNKNOWN
        change.compute = None


def _session(event: Event, environ: dict[str, str]) -> str:
    """The session to record under. Raises SkipError when there is none."""
    session = session_of(event, environ)
    if session is None:
        raise SkipError("no session id in the input")
    return session


def _check_manifest(lay: Layout, environ: dict[str, str]) -> None:
    """Warn about a RALPH_MANIFEST that points out of the state folder; it is never written."""
    named = environ.get("RALPH_MANIFEST", "")
    if named and not os.path.realpath(named).startswith(os.path.realpath(lay.top) + "/"):
        log(lay, "RALPH_MANIFEST lies outside ralph-sessions/: recorded under the session instead")


def _ensure(lay: Layout, session: str, event: Event, agent: str, place: Place) -> None:
    """Make sure the session has a record, which notes the agent's own id where a launcher gave another.

    Who goes on after its end is no session that has ended.
    """
    agent = (event.named or "")[:_NAME].strip() or agent
    sessionfile.ensure(lay, session, place, agent=agent, transcript=event.transcript)
    kept = sessionfile.read(lay, session) or {}
    if kept.get("agent") is None:  # `worktree add` named it, or damage
        sessionfile.update(lay, session, agent=agent)
    if kept.get("ended") is not None and event.kind in ("pre", "edit", "shell-pre"):
        sessionfile.update(lay, session, ended=None, process=process.ancestor())
    own = safe_form(event.session) if event.session else session
    if own == session:
        return
    _add(lay, session, "aliases", [own])


def _add(lay: Layout, session: str, key: str, names: list[str]) -> None:
    """Add names to a list of a session's record, which is written only for a new one."""
    kept = sessionfile.read(lay, session)
    known = kept.get(key) if kept else None
    if any(name not in (known if isinstance(known, list) else []) for name in names):
        sessionfile.update(lay, session, **{key: names})


def _refuse_fallen(cwd: str) -> None:
    """Raise FallThroughError where the cwd is in a worktree that lost its ``.git``."""
    folder = os.path.realpath(cwd)
    place = gitdir.discover(folder)
    if place is not None:
        locate.refuse_fallen(place, folder)


def _record_all(event: Event, cwd: str, agent: str, environ: dict[str, str]) -> None:
    session = _session(event, environ)
    _refuse_fallen(cwd)
    if event.parent and event.session and event.agent_id is None:
        event.agent_id = event.session
    if event.kind == "edit" and event.model is None:
        event.model = model.of_call(event, environ)
    lost: list[str] = []
    try:
        found = record.targets(event, cwd, environ, lost)
    finally:
        for what in lost if event.kind == "edit" else ():  # told once, by the event that ends the call
            log_anywhere(agent, f"not recorded: {what}")
    # Every path is looked up before the first is written: one that git would not take must not cost the
    # others.
    for change, target in found:
        lay = layout.for_place(target.place)
        # A failing call had a pre event. What that kept would be taken for the next call's.
        if event.kind == "failed":
            record.forget(lay, session, event, target.path)
            continue
        _ensure(lay, session, event, agent, target.place)
        if event.link is not None and "RALPH_SESSION" not in environ:
            _link(lay, event.link, target.place, agent)
        if event.kind == "pre":
            record.remember(lay, session, event, target)
        else:
            _check_manifest(lay, environ)
            record.record_change(lay, session, event, change, target)


def _link(lay: Layout, link: tuple[str, str], place: Place, agent: str) -> None:
    """Note in a session's record which other session's edits belong to it."""
    parent, child = map(safe_form, link)
    sessionfile.ensure(lay, parent, place, agent=agent)
    _add(lay, parent, "children", [child])


def _note_life(event: Event, cwd: str, agent: str, environ: dict[str, str]) -> None:
    """Start, end and resume of a session, in the records of the worktrees where it is at work."""
    session, here = _session(event, environ), gitdir.discover(os.path.realpath(cwd))

    def note(place: Place) -> None:
        _note_life_in(place, event, session, agent, environ)

    if event.kind != "start":
        _in_each(whereabouts.places(session, cwd, environ), cwd, note)
    elif here is not None:  # it begins where it is
        note(here)


def _in_each(places: list[Place], cwd: str, act: Callable[[Place], None]) -> None:
    """Do something in each worktree, in that of the cwd last; what is wrong in another one is logged here."""
    here = gitdir.discover(os.path.realpath(cwd))
    own = [place for place in places if here is not None and place.root == here.root]
    for place in (one for one in places if one not in own):
        try:
            act(place)
        except (OSError, layout.StateError) as error:
            if here is not None:
                log(
                    Layout(layout.state_folder(here), layout.MAIN), f"not recorded in '{place.root}': {error}"
                )
    for place in own:
        act(place)


def _note_life_in(place: Place, event: Event, session: str, agent: str, environ: dict[str, str]) -> None:
    lay = layout.for_place(place)
    _ensure(lay, session, event, agent, place)
    if event.link is not None and "RALPH_SESSION" not in environ:
        _link(lay, event.link, place, agent)
    _settle_shells(lay, session, event, environ)
    goes_on = event.stop is not None and event.stop.running  # perhaps a subagent that edits
    if event.kind in ("prompt", "stop", "end") and not goes_on:
        record.forget_all(lay, session)
    _note_models(lay, session, event, environ)
    if event.kind in _TURNS:
        _wake(lay, session, event)
    elif event.kind == "start":
        told = {"transcript": event.transcript} if event.transcript is not None else {}
        sessionfile.update(lay, session, ended=None, process=process.ancestor(), **told)
        sessionfile.mark_active(lay, session)
    elif event.kind == "end" and session == safe_form(event.session or ""):
        sessionfile.update(lay, session, ended=sessionfile.now())
        sessionfile.clear_active(lay, session)


def _note_models(lay: Layout, session: str, event: Event, environ: dict[str, str]) -> None:
    """Note which models a session works with: the payload's, or at a turn's end the transcript's."""
    if event.agent_id is not None or event.parent is not None:
        return
    named = [event.model] if event.model else []
    found = named or (model.of_session(event, environ) if event.kind in ("stop", "end") else [])
    if found:
        _add(lay, session, "models", found)


def _watch_shell(event: Event, cwd: str, agent: str, environ: dict[str, str]) -> None:
    """Around a shell command: what it may have changed, which no payload tells."""
    from gitralph.hook import named_trees, shellwatch

    session = _session(event, environ)

    def end(there: Place) -> None:
        lay = layout.for_place(there, create=False)
        for told in (shellwatch.go_on if event.goes_on else shellwatch.end)(lay, session, event, environ):
            log(lay, told)

    def begin(there: Place) -> None:
        lay = layout.for_place(there)
        kept = sessionfile.read(lay, session)
        _ensure(lay, session, event, agent, there)
        for told in shellwatch.close_dead(lay, environ):
            log(lay, told)
        beside = [one.root for one in places if one is not there]
        runner = kept.get("process") if kept else None
        further = [*beside, *shellwatch.begin(lay, session, event, there, environ, runner, beside)]
        if further:
            _add(lay, session, "elsewhere", further)

    if event.kind == "shell":  # the command may have moved the cwd
        _in_each(whereabouts.places(session, cwd, environ), cwd, end)
        return
    place = gitdir.discover(os.path.realpath(cwd))
    places = [place] if place is not None else []
    places += named_trees.elsewhere(place, cwd, command_of(event.given) or "")
    _in_each(places, cwd, begin)


def _settle_shells(lay: Layout, session: str, event: Event, environ: dict[str, str]) -> None:
    if os.path.isdir(os.path.dirname(lay.shell_call(session, ""))):
        from gitralph.hook import shellwatch

        shellwatch.settle(lay, session, event, environ)


def _wake(lay: Layout, session: str, event: Event) -> None:
    """A prompt after the end shows that the session was not over; note it and where the transcript is."""
    kept = sessionfile.read(lay, session) if event.kind == "prompt" else None
    if kept is None:
        return
    changes: dict[str, object] = {}
    # An end is not final: a background task that finishes wakes the session again (seen with Copilot CLI
    # 1.0).
    if kept.get("ended") is not None:
        changes["ended"] = None
    # A launcher's session has a record before its agent sends anything, and may have several conversations.
    main = event.agent_id is None and event.parent is None
    if main and event.transcript is not None and kept.get("transcript") != event.transcript:
        changes["transcript"] = event.transcript
    if changes:
        sessionfile.update(lay, session, **changes)


def take(agent: str, payload: dict[str, object], whole: bool, environ: dict[str, str]) -> None:
    """Record one payload. Raises SkipError, locate.OutsideError, OSError, layout.StateError."""
    record_event(_read(agent, payload, environ), whole, environ)


def _read(agent: str, payload: dict[str, object], environ: dict[str, str]) -> Event:
    try:
        return agents.read(agent, payload, environ)
    except ValueError as error:
        raise SkipError(str(error), payload) from None


def cwd_of(event: Event) -> str:
    """The payload's cwd, not ours: `cd` in an agent's shell moves it (seen with Claude Code 2.1)."""
    named = event.cwd is not None and event.cwd[:1] == "/" and gitdir.is_nameable(event.cwd)
    return event.cwd if event.cwd and named else os.getcwd()


def record_event(event: Event, whole: bool, environ: dict[str, str]) -> None:
    """Record what one event tells; raises as :func:`take`."""
    agent = event.agent
    cwd = cwd_of(event)
    if not whole:
        _forget_texts(event)
    if event.kind in ("edit", "pre", "failed"):
        if not event.changes and event.kind != "failed":
            raise SkipError("an edit without a path")
        _record_all(event, cwd, agent, environ)
    elif event.kind in ("shell-pre", "shell"):
        _watch_shell(event, cwd, agent, environ)
    elif event.kind in ("start", "end") or (event.kind in _TURNS and event.session):
        _note_life(event, cwd, agent, environ)


def _company(event: Event, environ: dict[str, str]) -> list[Found]:
    """The paths of an announced edit in which live sessions have records that the agent was not told of."""
    out: list[Found] = []
    session = _session(event, environ)
    for change, target in record.targets(event, cwd_of(event), environ, []):
        lay = layout.for_place(target.place)
        found = others.at_work(lay, session, target.path)
        if found:
            states = [f"{one.layout.token} {one.state}" for one in found]
            seen = digest(" ".join([str(gitdir.head_oid(target.place)), *states]).encode())[:16]
            if others.told(lay, session, target.path).get("seen") != seen:
                out.append((change, target, found, seen))
    return out


def _heads_up(event: Event, tell: Tell, environ: dict[str, str]) -> None:
    """Before an edit, let the agent be told whose lines are near. Never raises: the edit goes on."""
    try:
        company = _company(event, environ)
        if company:
            tell(event, company, environ)
    except Exception as error:
        log_anywhere(event.agent, f"not told of others' lines: {type(error).__name__}: {error}")


def log(lay: Layout, message: str) -> bool:
    """One line in hooks.log, which is started afresh when it grows too large; else to stderr (False)."""
    line = f"{sessionfile.now()} {printable(message)[:500]}\n".encode("utf-8", "replace")
    try:
        # A rename, never a truncation: another hook may be appending to it.
        if os.path.exists(lay.log) and os.stat(lay.log).st_size > _LOG_LIMIT:
            os.replace(lay.log, lay.log + ".old")
        files.append_record(lay.log, line, wait=0.2)
        return True
    except OSError as error:
        _complain(f"{message} (and hooks.log cannot be written: {error.strerror})")
        return False


def _complain(message: str) -> None:
    streams.complain(f"warning: git ralph hook: {printable(message)[:500]}\n")


def log_anywhere(agent: str, message: str) -> bool:
    """Log in the state folder of the cwd's repository where there is one, else to stderr (False)."""
    try:
        place = gitdir.discover(os.getcwd())
        top = layout.state_folder(place) if place else ""
        if top and os.path.isdir(top):
            return log(Layout(top, layout.MAIN), f"{agent}: {message}")
    except OSError:
        pass
    _complain(message)
    return False


def _make_due(event: Event, session: str | None, place: Place) -> None:
    """At the end of a turn, make it due that what the agent's shell staged is put back."""
    if session is None or event.kind not in ("stop", "end") or event.agent_id is not None:
        return
    lay = layout.for_place(place, create=False)
    if os.path.lexists(lay.staged(session)):
        from gitralph.hook import staging

        staging.make_due(lay, session, place)


def _is_to_be_mended(session: str | None, place: Place) -> bool:
    """True where a commit was cut short, or where the person's index is to be put back."""
    lay = layout.for_place(place, create=False)
    is_due = session is not None and os.path.lexists(lay.restaging(session))
    return is_due or _is_cut_short(place.root)


def _is_cut_short(cwd: str) -> bool:
    """True where the git of a narrowed plain commit died and still holds the index."""
    place = gitdir.discover(os.path.realpath(cwd))
    try:
        names = os.listdir(layout.for_place(place).narrowed) if place else []
    except OSError:
        return False
    pids = [name.partition(".")[0] for name in names]
    return any(pid.isdigit() and process.identity(int(pid)) is None for pid in pids)


def _mend(event: Event, mend: Mend, environ: dict[str, str], mask: int) -> None:
    """After a shell command and at a turn: free the index where the agent's `git commit` was killed."""
    if not (event.kind == "shell" or event.kind in ("start", "end", *_TURNS)):
        return
    session, cwd = session_of(event, environ), cwd_of(event)

    def mend_in(place: Place) -> None:
        _make_due(event, session, place)
        if _is_to_be_mended(session, place):
            os.umask(mask & ~0o700)  # the index is the user's
            try:
                mend(place.root, environ)
            finally:
                os.umask(0o077)

    _in_each(whereabouts.places(session, cwd, environ), cwd, mend_in)


def _run(agent: str, environ: dict[str, str], answers: Answers, mask: int) -> int:
    decide, mend, tell = answers
    payload, whole = parse_input(read_input(0))
    try:
        event = _read(agent, payload, environ)
    except SkipError:
        if environ.get("RALPH_TRACKING") == "0" and not requires(payload):
            return 0
        raise
    kind = policy_triage.kind_of(event, environ) if decide else None
    if kind is not None and decide is not None:
        os.umask(mask & ~0o700)  # a worktree's files are the user's
        try:
            code = decide(agent, event, kind, environ)
        finally:
            os.umask(0o077)
        if code or kind not in _RECORDED_TOO or environ.get("RALPH_DOC_ONLY"):
            return code
    if environ.get("RALPH_TRACKING") == "0":
        return 0
    if agent not in agents.ADAPTERS:
        raise SkipError(f"unknown agent '{agent[:40]}'")
    record_event(event, whole, environ)
    if tell is not None and event.kind == "pre" and event.ahead:
        _heads_up(event, tell, environ)
    if mend is not None:
        _mend(event, mend, environ, mask)
    _beat(cwd_of(event), environ)
    return 0


def _beat(cwd: str, environ: dict[str, str]) -> None:
    """In a fleet, show that this machine lives when that is due; the network is for another process."""
    place = gitdir.discover(os.path.realpath(cwd))
    if place is not None:
        beat.start_if_due(Layout(layout.state_folder(place), layout.MAIN), place.root, environ)


def _skip(agent: str, error: SkipError) -> int:
    """Log what was no event. Returns 2 when the part that could be read requires a worktree."""
    if requires(error.parsed):
        streams.complain(f"error: worktree_policy is required, but the {printable(str(error))[:200]}\n")
        return 2
    if log_anywhere(agent, str(error)) and error.unread:
        _complain(str(error))
    return 0


def main(agent: str, decide: Policy | None = None, mend: Mend | None = None, tell: Tell | None = None) -> int:
    """Record the event on stdin for ``agent``. Returns 0, or 2 where ``decide`` says so for a policy event.

    ``tell`` is called before an edit of a file in which other live sessions are at work, ``mend`` where a
    plain commit was cut short. Neither is called after an edit, which must cost nothing.
    """
    # This holds also where the user's umask is 000: the state contains texts of files that may be private.
    mask = os.umask(0o077)
    try:
        return _run(agent, dict(os.environ), (decide, mend, tell), mask)
    except locate.FallThroughError as error:
        log_anywhere(agent, f"not recorded: {error}")
        _complain(f"not recorded: {error}; git worktree repair")
    except locate.OutsideError:
        pass  # not this repository's business
    except SkipError as error:
        return _skip(agent, error)
    except OSError as error:
        if log_anywhere(agent, f"not recorded: {error.strerror or error}"):
            _complain(f"not recorded: {error.strerror or error}")
    except layout.StateError as error:
        _complain(f"not recorded: {error}")
    except BaseException as error:  # the agent must go on, whatever this is
        log_anywhere(agent, f"not recorded: {type(error).__name__}: {error}")
    return 0

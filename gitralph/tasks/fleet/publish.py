"""Which commits get a record in the own log: those of this clone's sessions that the remote already has."""

from collections.abc import Iterable
from dataclasses import replace

from gitralph.ask.trace import agent_trace
from gitralph.base import nul
from gitralph.base.errors import RalphError
from gitralph.base.ids import hashed
from gitralph.records import commit_log, sessions
from gitralph.tasks.fleet import allow_list, kept_state, own_log, ref_names
from gitralph.tasks.fleet.this_clone import Fleet
from gitralph.tasks.fleet.wire import RemoteRefs

# To make a record, the journals of its commit's paths are read. A beat between two calls of an agent must be
# short.
_AT_ONCE = 200


def _published(fleet: Fleet, view: RemoteRefs | None) -> list[str]:
    """The tips of the remote's branches that are here, by ``view`` and by git's remote-tracking refs."""
    git, remote = fleet.ctx.git, fleet.me.remote
    said = git.run("for-each-ref", "--format=%(objectname) %(refname)", f"refs/remotes/{remote}/")
    rows = [row.split(" ", 1) for row in said.decode("utf-8", "replace").splitlines()]
    found = {oid for oid, ref in rows if not ref.endswith("/HEAD") and "/ralph-fleet/" not in ref}
    if view is not None:
        heads = {
            oid
            for ref, oid in view.refs.items()
            if ref.startswith("refs/heads/") and not ref.startswith(ref_names.BRANCHES)
        }
        found |= fleet.store.holds(sorted(heads - found))
    return sorted(found)


def _new_commits(fleet: Fleet, tips: Iterable[str], scanned: Iterable[str]) -> list[str]:
    """The commits that came with ``tips``, oldest first."""
    given = "".join([*(f"{tip}\n" for tip in tips), *(f"^{old}\n" for old in scanned)])
    done = fleet.ctx.git.try_run(
        "rev-list", "--reverse", "--topo-order", "--ignore-missing", "--stdin", stdin=given.encode()
    )
    return done.stdout.decode("ascii", "replace").split() if done.returncode == 0 else []


def _recorded(fleet: Fleet) -> set[str]:
    """The commits that the own log has already. After a kill these may be more than ``scanned`` tells."""
    return {commit for commit, _ in allow_list.read(own_log.content(fleet))}


def _candidates(fleet: Fleet, commits: list[str]) -> list[str]:
    """The commits that a session of this clone made, by their trailer or by the records."""
    if not commits:
        return []
    form = "--format=%H%x00%(trailers:key=Ralph-Session,valueonly,separator=%x20)%x00"
    given = "".join(oid + "\n" for oid in commits).encode()
    said = fleet.ctx.git.run("log", "--no-walk=unsorted", "--no-show-signature", form, "--stdin", stdin=given)
    fields = [row.decode("utf-8", "replace").strip() for row in nul.rows(said)]
    called, told = _own(fleet)
    rows = zip(fields[0::2], fields[1::2], strict=False)
    named = {oid for oid, text in rows if called & set(text.split())}
    return [oid for oid in commits if oid in named or oid in told]


def _own(fleet: Fleet) -> tuple[set[str], set[str]]:
    """The names that trailers may have for the sessions recorded here, and the commits on record."""
    called, commits = set(), set()
    for kept in sessions.records(fleet.ctx.layout, finished=True):
        session = str(kept["session"])
        # A commit from before the clone joined names the session itself, a later one its hash.
        called |= {session, hashed(session)}
        for row in commit_log.read(fleet.ctx.layout, session).commits:
            if isinstance(row.get("commit"), str):
                commits.add(row["commit"])
    return called, commits


def _lines(fleet: Fleet, commits: list[str]) -> list[bytes]:
    """The log's lines for some commits. One that fails is left out, with a warning."""
    try:
        return [line for found in agent_trace.records(fleet.ctx, commits) if (line := allow_list.line(found))]
    except RalphError as error:
        if len(commits) < 2:
            fleet.ctx.warn(f"commit {commits[0][:10]} could not be told of: {error.message}")
            return []
    return [line for one in commits for line in _lines(fleet, [one])]


def is_done(fleet: Fleet, view: RemoteRefs | None) -> bool:
    """True when every commit that the remote has was looked at."""
    return tuple(_published(fleet, view)) == kept_state.beat(fleet.ctx.layout).scanned


def gather(fleet: Fleet, view: RemoteRefs | None = None, most: int = _AT_ONCE) -> int:
    """Add records of commits that the remote has got since the last time; how many were added.

    What is more than ``most`` waits for the next time. A commit whose record fails is passed over: a gap is
    no harm.
    """
    layout = fleet.ctx.layout
    beat, tips = kept_state.beat(layout), _published(fleet, view)
    if tuple(tips) == beat.scanned:
        return 0
    wanted = _candidates(fleet, _new_commits(fleet, tips, beat.scanned))
    known = _recorded(fleet) if wanted else set()
    wanted = [oid for oid in wanted if oid not in known]
    tried = wanted[:most]
    lines = _lines(fleet, tried)
    own_log.append(fleet, lines)
    # Ancestors come first, so all that a tried commit contains was tried before it.
    scanned = tuple(tips) if len(wanted) <= most else (*beat.scanned, *tried)
    kept_state.keep_beat(layout, replace(kept_state.beat(layout), scanned=scanned))
    return len(lines)

"""``git ralph fleet land``: a bead's work and its claim move in one push, or neither does.

The push also says which claim it expects (``--force-with-lease``). So a holder who slept through a takeover
lands nothing, however late he wakes. Where the base moved, it is merged in memory and the push tried again.
"""

import contextlib
import os
import time
from dataclasses import dataclass, replace
from subprocess import CompletedProcess

from gitralph.base import locks
from gitralph.base.errors import Busy, Failed, Fatal, Refused
from gitralph.base.quote import shown
from gitralph.git import merge, refs, worktrees
from gitralph.git.run import Git
from gitralph.tasks.fleet import claim as form
from gitralph.tasks.fleet import claiming, kept_state, ref_names, wire
from gitralph.tasks.fleet.claim import DONE, HELD
from gitralph.tasks.fleet.claiming import ClaimRow, ForeignError
from gitralph.tasks.fleet.kept_state import LOST, Own
from gitralph.tasks.fleet.this_clone import Fleet
from gitralph.tasks.fleet.wire import NoAtomicError, Pushed, RefUpdate, RemoteRefs
from gitralph.tasks.prove.judge import MergeJudge

# A turn is lost to another landing on the same branch, so twenty lost turns mean that twenty others did land.
# Whoever is overtaken as often tries again later.
_TURNS = 20
# A lock on the server goes with the push that holds it. If it is there after so many turns, each with a
# longer pause, and nothing moved either, its holder is dead. Only who looks after the server can take it
# away.
_STUCK_AFTER = 6
_HEADS = "refs/heads/"


@dataclass(frozen=True)
class LandedBead:
    """``commit`` is what the branch ``into`` got."""

    row: ClaimRow
    commit: str
    into: str


def hold(fleet: Fleet, wait: float = 60.0) -> "contextlib.AbstractContextManager[int]":
    """The lock under which a clone changes what it keeps of the fleet."""
    return locks.hold(fleet.ctx.layout, locks.FLEET, wait, "another git ralph talks to the remote")


def tip_of(fleet: Fleet, bead: str) -> tuple[str, str]:
    """The name and the commit of what is to land: the bead's branch, else HEAD."""
    branch = f"refs/heads/ralph/{bead}"
    oid = worktrees.value(fleet.ctx.git, branch)
    if oid is not None:
        return branch.removeprefix(_HEADS), oid
    head = refs.read_head(fleet.ctx.repo)
    if head.oid is None:
        raise Fatal("there is no commit to land")
    return head.branch or "HEAD", head.oid


def _into(view: RemoteRefs, given: str | None) -> str:
    """The full name of the branch to land in."""
    if given is not None:
        return given if given.startswith("refs/") else _HEADS + given
    if view.head is None or not view.head.startswith(_HEADS):
        raise Refused(
            "the remote does not say which branch is its default",
            "git ralph fleet land <bead> --into <branch>",
        )
    return view.head


def land(
    fleet: Fleet, bead: str, given: str | None, attended: bool, judge: MergeJudge | None = None
) -> LandedBead:
    """Land a bead; ``judge`` is asked of each tree that it would make.

    Raises ForeignError, Refused with the claim kept, Busy, Failed by the pre-push hook or the judge.
    """
    if fleet.ctx.config.get("ralph.remote"):
        raise Refused(
            "claims live in another repository ('ralph.remote'), so work and claim cannot land in one step",
            "push the branch yourself; git ralph fleet claims shows who else is at it",
        )
    if fleet.me.exact is False and not attended:
        raise Refused(
            "this server told two writers that each of them had won (git ralph doctor): a person lands here",
            f"git ralph fleet land {bead}, at a terminal",
        )
    return _Landing(fleet, bead, given, judge).run()


@dataclass
class _Landing:
    """One landing through its turns."""

    fleet: Fleet
    bead: str
    given: str | None
    judge: MergeJudge | None = None

    def run(self) -> LandedBead:
        fleet, bead = self.fleet, self.bead
        ours, view = _ours(fleet, bead), _look(fleet)
        into, ref = _into(view, self.given), ref_names.claim_ref(fleet.namespace, bead)
        name, tip = tip_of(fleet, bead)
        for turn in range(_TURNS):
            began = time.monotonic()
            if ours.next is not None and view.at(ref) == ours.next:
                landed = _confirmed(fleet, view, ours, into)
                if landed is not None:
                    return landed
                ours = _reopen(fleet, bead, ours)
                view = _look(fleet)
            if view.at(ref) != ours.oid and ours.is_at(view.at(ref)):
                ours = claiming.found_again(fleet, view, ours)
                if ours.next is not None:
                    continue
            if view.at(ref) != ours.oid:
                _lost(fleet, view, bead, name)
            base = view.at(into)
            if base is None:
                raise Fatal(f"the remote has no branch '{into.removeprefix(_HEADS)}'")
            _bring(fleet, into, base)
            new = _plan(fleet, bead, base, tip, name, into)
            if self.judge is not None and new != base:
                self.judge(new, base, tip)
            said = Pushed()
            if new != base and ours.work != tip and form.can_name(into):
                ours, said = _announce(fleet, ours, tip, into)
            if not said.is_refused:
                done = claiming.make(fleet, bead, DONE, ours.epoch, ours.oid, new)
                ours = kept_state.keep_claim(fleet.ctx.layout, replace(ours, next=done.oid))
                steps = [RefUpdate(into, base, new), RefUpdate(ref, ours.oid, done.oid)]
                said = self._push(steps, name, into)
            if said.is_refused and turn:
                # The look below comes after the pause, since the next turn builds on the base that it shows.
                wire.pause(turn, time.monotonic() - began)
            view = _look(fleet)
            if ours.is_at(view.at(ref)) and view.at(ref) != ours.next:
                _judge(fleet, said, bead, into, turn, moved=view.at(into) != base)
        short = into.removeprefix(_HEADS)
        raise Busy(f"'{short}' moved {_TURNS} times meanwhile", f"git ralph fleet land {bead}")

    def _push(self, steps: list[RefUpdate], name: str, into: str) -> Pushed:
        fleet, remote = self.fleet, self.fleet.me.remote
        steps = [step for step in steps if step.new != step.old]  # a branch that has it all stays as it is
        try:
            # the user's own hook runs, and what it writes is not the fleet's
            landing = replace(fleet.wire, git=fleet.store.landing)
            return landing.push(steps, atomic=len(steps) > 1, verify=len(steps) > 1)
        except NoAtomicError as error:
            fleet.changed(atomic=False)
            raise Refused(
                f"{error.message}, so a person has to land: the claim is kept",
                f"git push {remote} {name}:{into.removeprefix(_HEADS)}",
                f"git ralph fleet land {self.bead} then marks it done",
            ) from None


def _announce(fleet: Fleet, ours: Own, tip: str, into: str) -> tuple[Own, Pushed]:
    """Let the claim say what is about to land, so that another can complete what the server did not.

    This is not read back: where it got lost, the push of the landing, which expects it, is refused.
    """
    made = claiming.make(fleet, ours.bead, HELD, ours.epoch, ours.oid, work=(tip, into))
    kept = kept_state.keep_claim(fleet.ctx.layout, replace(made, state=HELD))
    return kept, fleet.wire.push(
        [RefUpdate(ref_names.claim_ref(fleet.namespace, ours.bead), ours.oid, kept.oid)]
    )


def _look(fleet: Fleet) -> RemoteRefs:
    return fleet.look("HEAD", "refs/heads/*")


def _ours(fleet: Fleet, bead: str) -> Own:
    """The claim under which to land. Raises ForeignError, Refused where there is none."""
    ours = kept_state.claims(fleet.ctx.layout).get(bead)
    if ours is None or ours.state in (DONE, LOST):
        view = fleet.look()
        oid = view.at(ref_names.claim_ref(fleet.namespace, bead))
        if ours is not None and ours.state == LOST and ours.is_at(oid):
            return claiming.found_again(fleet, view, ours)
        one = claiming.read_claims(fleet, view, [bead]).get(bead)
        if oid is not None and (one is None or one.state != "free"):
            raise claiming.refuse(claiming.row_of(bead, oid, one, None))
        raise Refused(f"bead '{bead}' is not claimed", f"git ralph fleet claim {bead}")
    if ours.state != HELD:
        claiming.claim(fleet, bead)
        ours = kept_state.claims(fleet.ctx.layout)[bead]
        if ours.state != HELD:
            raise Busy(f"the claim on '{bead}' is tentative still", "git ralph fleet sync")
    return ours


def _lost(fleet: Fleet, view: RemoteRefs, bead: str, name: str) -> None:
    oid = view.at(ref_names.claim_ref(fleet.namespace, bead))
    kept_state.lose_claim(fleet.ctx.layout, bead)
    if oid is None:
        raise claiming.gone(bead)
    error = claiming.refuse(claiming.row_of(bead, oid, claiming.read_claims(fleet, view, [bead])[bead], None))
    raise ForeignError(
        error.row, f"nothing landed: {error.message}; your work stays on '{name}'", *error.hints
    )


def _fetch(fleet: Fleet, into: str) -> CompletedProcess[bytes]:
    """Fetch one branch of the remote and nothing else."""
    return fleet.ctx.git.try_run(
        "fetch",
        "-q",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-gc",
        "--",
        fleet.me.remote,
        into,
    )


def _bring(fleet: Fleet, into: str, base: str) -> None:
    """Fetch the base into the repository's own store, where it is missing: the landing is built on it."""
    git = fleet.ctx.git
    if git.try_run("cat-file", "-e", base + "^{commit}").returncode == 0:
        return
    done = _fetch(fleet, into)
    if done.returncode:
        raise wire.UnansweredError(fleet.me.remote, wire.gist(done.stderr.decode("utf-8", "replace")))


def _plan(fleet: Fleet, bead: str, base: str, tip: str, name: str, into: str) -> str:
    """What the branch is to become: the work itself, or a merge of it. Raises Refused for a conflict."""
    git = fleet.ctx.git
    if merge.is_ancestor(git, tip, base):
        # A run puts the work of several beads on one branch: the first landing took all of it along.
        if name != f"ralph/{bead}" and not _holds_work_on(git, base, bead):
            raise Refused(
                f"nothing to land: '{into.removeprefix(_HEADS)}' of the remote has all of '{name}'",
                f"git ralph fleet release {bead}",
            )
        return base  # a person brought it there, or the landing of another bead did
    if merge.is_ancestor(git, base, tip):
        return tip
    found = merge.merge_trees(git, base, tip)
    short = into.removeprefix(_HEADS)
    if found.conflicts:
        listed = ", ".join(shown(path) for path in found.conflicts[:5])
        raise Refused(
            f"'{name}' conflicts with '{short}' of the remote in {listed}; the claim is kept",
            f"on branch '{name}': git fetch {fleet.me.remote} && git merge {fleet.me.remote}/{short}",
            f"git ralph fleet land {bead}",
        )
    text = f"Merge bead '{bead}' into {short}\n\nRalph-Bead: {bead}\n"
    commit, _ = merge.commit_merge(git, fleet.ctx.config, found.tree, (base, tip), text)
    return commit


def _holds_work_on(git: Git, base: str, bead: str) -> bool:
    """True where a commit of a branch says by its trailer that it is work on the bead."""
    # Both are set here, since what the user configured for his own trailers and logs says nothing of ours.
    words = ["-c", "trailer.separators=:", "-c", "log.showSignature=false", "log", "--encoding=UTF-8"]
    words += ["--format=%(trailers:key=Ralph-Bead,valueonly)", "--fixed-strings"]
    said = git.run(*words, f"--grep=Ralph-Bead: {bead}", base, "--").decode("utf-8", "replace")
    return bead in said.split()


def _judge(fleet: Fleet, said: Pushed, bead: str, into: str, turn: int, moved: bool) -> None:
    """Say why nothing landed, or return where somebody was faster. Raises Refused, Failed, StuckError."""
    short = into.removeprefix(_HEADS)
    if said.locked:
        if turn >= _STUCK_AFTER and not moved:
            raise claiming.stuck(fleet, bead)
        return
    if said.refusal:
        raise Refused(
            f"the server takes no landing in '{short}': {said.refusal}; the claim is kept",
            f"a person lands it, by the server's rules; then git ralph fleet land {bead}",
        )
    if not said.reasons and not moved:
        hook = f"{fleet.ctx.repo.hooks_dir}/pre-push"
        if os.access(hook, os.X_OK):
            raise Failed(f"nothing was pushed: {wire.gist(said.said)}", f"see '{hook}'")


def _confirmed(fleet: Fleet, view: RemoteRefs, ours: Own, into: str) -> LandedBead | None:
    """The landing, where the branch holds it as well; None where the server moved the claim alone."""
    assert ours.next is not None
    one = claiming.read_claims(fleet, view, [ours.bead])[ours.bead]
    now = view.at(into)
    if one is None or one.result is None or now is None:
        return None
    if now != one.result:
        _bring(fleet, into, now)
        if not merge.is_ancestor(fleet.ctx.git, one.result, now):
            return None
    kept_state.keep_claim(fleet.ctx.layout, replace(ours, oid=ours.next, next=None, state=DONE))
    _fetch(fleet, into)  # the remote-tracking branch is up to date then, as after ``git push``
    row = ClaimRow(ours.bead, DONE, fleet.me.writer, True, ours.epoch, oid=ours.next, result=one.result)
    return LandedBead(row, one.result, into.removeprefix(_HEADS))


def _reopen(fleet: Fleet, bead: str, ours: Own) -> Own:
    """Claim a bead again where a server without compare-and-set took the claim and lost the branch."""
    made = claiming.make(fleet, bead, HELD, ours.epoch, ours.next)
    kept_state.keep_claim(fleet.ctx.layout, made)
    ref = ref_names.claim_ref(fleet.namespace, bead)
    fleet.wire.push([RefUpdate(ref, ours.next, made.oid)])
    if fleet.look().at(ref) != made.oid:
        raise Busy(f"the server lost the landing of '{bead}'", f"git ralph fleet land {bead}")
    kept_state.keep_claim(fleet.ctx.layout, replace(made, state=HELD))
    return replace(made, state=HELD)

"""The failure table of gitralph-fleet(7), a line each: what fails, and what follows from it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitralph.tasks.fleet import at_work, own_log, wire
from tests.support.repo import Repo
from tests.tasks.fleet import world as servers
from tests.tasks.fleet.conftest import Clock
from tests.tasks.fleet.test_claims import work
from tests.tasks.fleet.world import World, row

_KILL = """#!/bin/sh
grep -q {ref} || exit 0
[ "$1" = {state} ] && [ ! -e {once} ] && touch {once} && kill -9 $PPID
exit 0
"""


def hook(world: World, name: str, text: str) -> None:
    """A hook of the server."""
    path = world.path / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def kill_receive_pack(world: World, state: str, ref: str) -> None:
    """The next push that moves ``ref`` finds its receive-pack killed at a state of the ref transaction."""
    hook(world, "reference-transaction", _KILL.format(ref=ref, state=state, once=world.path / "killed"))


def unreachable(repo: Repo) -> None:
    """The remote is gone, as when the network is."""
    repo.git("config", "remote.origin.url", f"git://127.0.0.1:{servers.free_port()}/x.git")


def reachable(repo: Repo, world: World) -> None:
    """The remote is there again."""
    repo.git("config", "remote.origin.url", world.url)


def taken_over(repo: Repo, bead: str, hands: Clock) -> None:
    """Take a bead whose holder gives no sign for two leases of the default length."""
    repo.ralph("fleet", "claim", bead, code=4)
    repo.ralph("fleet", "claims")
    hands.sleep(3600)
    repo.ralph("fleet", "claim", bead)


def test_the_answer_is_lost(world: World) -> None:
    """receive-pack is killed after it moved the ref: the claim is ours, and there is one."""
    one = world.member("one")
    kill_receive_pack(world, "committed", "claims/bd-1")
    found = row(one.ralph("fleet", "claim", "bd-1", "--json"))
    assert (world.path / "killed").exists()
    assert (found["status"], found["epoch"]) == ("claimed", 1)
    assert world.git("rev-list", "--count", "refs/ralph/claims/bd-1") == "1"


def test_a_server_that_says_yes_to_everybody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said to a push decides nothing: the read-back does."""
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    push = wire.Wire.push

    def lying(self: wire.Wire, steps: list[wire.RefUpdate], *how: bool, **more: bool) -> wire.Pushed:
        push(self, steps, *how, **more)
        return wire.Pushed({step.ref: "" for step in steps})

    monkeypatch.setattr(wire.Wire, "push", lying)
    two.ralph("fleet", "claim", "bd-1", code=4)
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["status"] == "already"


def test_the_answer_to_a_landing_is_lost(world: World) -> None:
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    tip = work(one, "bd-1")
    kill_receive_pack(world, "committed", "claims/bd-1")
    assert row(one.ralph("fleet", "land", "bd-1", "--json"))["commit"] == tip
    assert world.landings() == ["work on bd-1", "base"]


def test_a_lock_stays_on_the_server(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bead is stuck and named, with the admin's command; others work; the command helps."""
    monkeypatch.setattr(wire, "pause", lambda _attempt: None)
    one = world.member("one")
    kill_receive_pack(world, "prepared", "claims/bd-1")
    done = one.ralph("fleet", "claim", "bd-1", "--json", code=75)
    assert row(done)["status"] == "busy"
    assert "bead 'bd-1' is stuck" in done.said
    command = done.said.split("hint: ")[1].partition(": ")[2].strip()
    assert command == "rm refs/ralph/claims/bd-1.lock"
    one.ralph("fleet", "claim", "bd-2")
    (world.path / command.removeprefix("rm ")).unlink()
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["status"] == "claimed"


def test_the_holder_sleeps_and_wakes_after_a_takeover(world: World, hands: Clock) -> None:
    """Its landing is refused whole; its work stays on its branch; the other lands once."""
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    tip = work(one, "bd-1", path="by-one")
    taken_over(two, "bd-1", hands)
    work(two, "bd-1", path="by-two")
    done = one.ralph("fleet", "land", "bd-1", code=4)
    assert "nothing landed" in done.said
    assert "'User two <two@example.com>'" in done.said
    assert one.git("rev-parse", "ralph/bd-1") == tip
    two.ralph("fleet", "land", "bd-1")
    assert world.git("ls-tree", "--name-only", "main").split() == ["a", "by-two"]
    assert row(two.ralph("fleet", "land", "bd-1", "--json", code=4))["epoch"] == 2


def test_a_takeover_between_look_and_landing_lands_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fence itself: branch and claim are refused together, by the server."""
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    work(one, "bd-1")
    push = wire.Wire.push

    def late(self: wire.Wire, steps: object, atomic: bool = False, verify: bool = False) -> wire.Pushed:
        if atomic:
            monkeypatch.setattr(wire.Wire, "push", push)
            old = world.refs()["refs/ralph/claims/bd-1"]
            text = two.git("--git-dir", str(world.path), "cat-file", "commit", old).partition("\n\n")[2]
            text = text.replace("Epoch: 1", "Epoch: 2").replace("Token: ", "Token: 0")[:-1]
            text = text.replace("Token: 0", "Token: ")
            new = world.git("commit-tree", "-p", old, f"{old}^{{tree}}", "-F", "-", stdin=text.encode())
            world.git("update-ref", "refs/ralph/claims/bd-1", new)
        return push(self, steps, atomic, verify)  # type: ignore[arg-type]

    monkeypatch.setattr(wire.Wire, "push", late)
    assert "nothing landed" in one.ralph("fleet", "land", "bd-1", code=4).said
    assert world.landings() == ["base"]


def test_a_copied_clone_takes_a_new_name(world: World, tmp_path: Path) -> None:
    """The copy's push of its log is rejected; the claims stay with the folder that was there first."""
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    shutil.copytree(one.root, tmp_path / "copy")
    copy = Repo(tmp_path / "copy", dict(one.env))
    one.ralph("fleet", "sync")
    done = copy.ralph("fleet", "sync")
    assert "another clone writes the log" in done.said
    writers = [json.loads((r.state / "fleet/fleet.json").read_text())["writer"] for r in (one, copy)]
    assert writers[0] != writers[1]
    assert sum("log/" in ref for ref in world.refs()) == 2
    copy.ralph("fleet", "claim", "bd-1", code=4)
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["status"] == "already"
    for repo in (one, copy):
        repo.ralph("fleet", "sync")


def test_an_original_whose_copy_was_faster_keeps_its_claims(world: World, tmp_path: Path) -> None:
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    shutil.copytree(one.root, tmp_path / "copy")
    copy = Repo(tmp_path / "copy", dict(one.env))
    copy.ralph("fleet", "sync")
    assert "another clone writes the log" in one.ralph("fleet", "sync").said
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["status"] == "already"
    copy.ralph("fleet", "claim", "bd-1", code=4)


def test_the_server_has_no_atomic_push(world: World) -> None:
    """Claims yes, fenced landing no: a person merges, and the command then marks the bead done."""
    one = world.member("one")
    world.git("config", "receive.advertiseAtomic", "false")
    one.ralph("fleet", "claim", "bd-1")
    tip = work(one, "bd-1")
    done = one.ralph("fleet", "land", "bd-1", code=4)
    assert "cannot move two refs in one step" in done.said
    assert (world.landings(), world.claim_state("bd-1")) == (["base"], "held")
    one.git(*done.said.split("hint: git ")[1].split("\n")[0].split())
    assert row(one.ralph("fleet", "land", "bd-1", "--json"))["commit"] == tip
    assert world.claim_state("bd-1") == "done"


def test_without_an_answer_a_claim_is_tentative_and_sync_makes_it_real(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    for repo in (one, two):
        unreachable(repo)
        found = row(repo.ralph("fleet", "claim", "bd-1", "--json"))
        assert (found["state"], found["status"], found["mine"]) == ("tentative", "tentative", True)
    assert [r["state"] for r in one.ralph("fleet", "claims", "--json").json()] == ["tentative"]
    one.ralph("fleet", "sync", code=75)
    for repo in (one, two):
        reachable(repo, world)
    assert one.ralph("fleet", "sync", "--json").json()[0]["status"] == "claimed"
    done = two.ralph("fleet", "sync", "--json", code=4)
    assert done.json()[0]["status"] == "lost"
    assert "held by 'User one" in done.said
    two.ralph("fleet", "sync")  # said once
    one.ralph("fleet", "release", "bd-1")


def test_without_an_answer_claims_shows_the_last_look(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    two.ralph("fleet", "claims")
    unreachable(two)
    done = two.ralph("fleet", "claims", "--json")
    assert [(r["bead"], r["state"]) for r in done.json()] == [("bd-1", "held")]
    assert "this is as of 20" in done.said
    assert "held by" in two.ralph("fleet", "claim", "bd-1", code=4).said
    unreachable(one)
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["status"] == "already"
    assert one.ralph("fleet", "claims").said.endswith(
        "; only its own claims are known here\n"
    )  # it never looked


@pytest.mark.parametrize("way", ["hidden", "denied"])
def test_a_server_that_takes_no_such_refs_gets_branches(world: World, way: str) -> None:
    if way == "hidden":
        world.git("config", "transfer.hideRefs", "refs/ralph")
    else:
        hook(
            world,
            "update",
            "#!/bin/sh\ncase $1 in refs/ralph/*) echo no such refs here >&2; exit 1 ;; esac\n",
        )
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    two.ralph("fleet", "claim", "bd-1", code=4)
    assert "refs/heads/ralph-fleet/claims/bd-1" in world.refs()
    work(one, "bd-1")
    one.ralph("fleet", "land", "bd-1")
    assert world.landings() == ["work on bd-1", "base"]
    assert "ralph" not in one.git("for-each-ref", "refs/remotes")


def test_where_both_forms_are_there_the_branches_count(world: World) -> None:
    world.member("one")
    two = world.clone("two")
    two.ralph("fleet", "join", "origin", "--branch-form")
    three = world.clone("three")
    assert "the one in branches counts" in three.ralph("fleet", "join", "origin").said
    assert three.ralph("fleet", "status", "--json").json()["namespace"] == "refs/heads/ralph-fleet"


def test_who_may_not_push_uses_another_repository(world: World, tmp_path: Path) -> None:
    """``join`` names it (128) and leaves nothing; ``ralph.remote`` wins; landing is refused there."""
    hook(world, "pre-receive", "#!/bin/sh\necho not for you >&2; exit 1\n")
    one = world.clone("one")
    done = one.ralph("fleet", "join", "origin", code=128)
    assert "git config ralph.remote <url>" in done.said
    assert not (one.state / "fleet/fleet.json").exists()
    one.git("init", "-q", "--bare", str(tmp_path / "claims.git"))
    one.git("config", "ralph.remote", str(tmp_path / "claims.git"))
    one.ralph("fleet", "join", "origin")
    one.ralph("fleet", "claim", "bd-1")
    work(one, "bd-1")
    assert "work and claim cannot land in one step" in one.ralph("fleet", "land", "bd-1", code=4).said


def test_a_remote_that_is_no_repository_is_fatal(world: World, tmp_path: Path) -> None:
    one = world.clone("one")
    one.ralph("fleet", "join", str(tmp_path / "nothing"), code=128)
    unreachable(one)
    assert "did not answer" in one.ralph("fleet", "join", "origin", code=75).said


def test_a_remote_that_was_renamed_is_named_anew(world: World) -> None:
    """Every way out leads there, and the claims stay."""
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    one.git("remote", "rename", "origin", "up")
    hint = "hint: git config ralph.remote <remote>  # what 'origin' is called now\n"
    for words in (["claims"], ["claim", "bd-1"], ["land", "bd-1"], ["release", "bd-1"], ["sync"]):
        assert hint in one.ralph("fleet", *words, code=128).said
    said = one.ralph("fleet", "join", "up", code=4).said
    assert said.endswith("\nhint: git config ralph.remote up  # what 'origin' is called now\n")
    one.git("config", "ralph.remote", "up")
    assert [r["mine"] for r in one.ralph("fleet", "claims", "--json").json()] == [True]
    one.ralph("fleet", "release", "bd-1")
    one.git("config", "--unset", "ralph.remote")
    one.ralph("fleet", "join", "up")
    one.ralph("fleet", "claim", "bd-1")


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_around_the_push_a_claim_is_settled(
    world: World, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noted before it is pushed: a second call, or a sync, knows it as its own."""
    one, two = world.member("one"), world.member("two")
    push = wire.Wire.push

    def killed(self: wire.Wire, steps: object, *how: bool, **more: bool) -> wire.Pushed:
        if when == "after":
            push(self, steps, *how, **more)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(wire.Wire, "push", killed)
    one.ralph("fleet", "claim", "bd-1", code=130)
    monkeypatch.setattr(wire.Wire, "push", push)
    if when == "after":
        two.ralph("fleet", "claim", "bd-1", code=4)
    assert one.ralph("fleet", "sync", "--json").json()[0]["status"] == "claimed"
    assert world.git("rev-list", "--count", "refs/ralph/claims/bd-1") == "1"


def test_killed_after_the_landing_push_the_bead_is_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = world.member("one")
    for bead in ("bd-1", "bd-2"):
        one.ralph("fleet", "claim", bead)
        work(one, bead, path=bead)
        push = wire.Wire.push

        def killed(self: wire.Wire, steps: object, *how: bool, **more: bool) -> wire.Pushed:
            said = push(self, steps, *how, **more)  # type: ignore[arg-type]  # noqa: B023
            if how or more.get("atomic"):
                raise KeyboardInterrupt
            return said

        monkeypatch.setattr(wire.Wire, "push", killed)
        one.ralph("fleet", "land", bead, code=130)
        monkeypatch.setattr(wire.Wire, "push", push)
    rows = {r["bead"]: r["status"] for r in one.ralph("fleet", "sync", "--json").json()}
    assert rows == {"bd-1": "done", "bd-2": "done"}
    assert sorted(world.landings()) == ["Merge bead 'bd-2' into main", "base", "work on bd-1", "work on bd-2"]


def cut_short(patch: pytest.MonkeyPatch, error: BaseException, late: bool = False) -> Callable[[], None]:
    """The next push of the log ends in an error before the look; ``late``: it arrives with the one after.

    Returns what lets pushes come through again.
    """
    push, waiting = wire.Wire.push, list[list[wire.RefUpdate]]()

    def cut(self: wire.Wire, steps: list[wire.RefUpdate], *how: bool, **more: bool) -> wire.Pushed:
        if late:
            waiting.append(steps)
        else:
            push(self, steps, *how, **more)
        raise error

    def arriving(self: wire.Wire, steps: list[wire.RefUpdate], *how: bool, **more: bool) -> wire.Pushed:
        while waiting:
            push(self, waiting.pop())
        return push(self, steps, *how, **more)

    patch.setattr(wire.Wire, "push", cut)
    return lambda: patch.setattr(wire.Wire, "push", arriving)


@pytest.mark.parametrize("way", ["killed", "killed twice", "unanswered", "late"])
def test_a_log_that_arrived_before_anybody_looked_is_not_anothers(
    world: World, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A kill, or a network that goes, between push and look: the clone keeps its name and goes on."""
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    ref = next(ref for ref in world.refs() if "/log/" in ref)
    claim = world.refs()["refs/ralph/claims/bd-1"]
    count = int(world.git("rev-list", "--count", ref))
    unanswered = way == "unanswered"
    for _ in range(2 if way == "killed twice" else 1):
        error = wire.UnansweredError("it", "nothing") if unanswered else KeyboardInterrupt()
        go_on = cut_short(monkeypatch, error, way == "late")
        one.ralph("fleet", "sync", code=75 if unanswered else 130)
        go_on()
    assert one.ralph("fleet", "sync").said == ""
    assert [ref for ref in world.refs() if "/log/" in ref] == [ref]
    assert world.refs()["refs/ralph/claims/bd-1"] == claim
    more = 3 if way == "killed twice" else 2  # each push that was cut short, and the one after on top
    assert int(world.git("rev-list", "--count", ref)) == count + more
    assert one.ralph("fleet", "status", "--json").json()["due"] is False


def test_a_log_that_is_sealed_by_a_push_that_nobody_looked_at_loses_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_log, "SEALED_ABOVE", 1000)
    one, told = world.member("one"), set[str]()
    for number in range(4):
        one.edit("S1", f"f{number}", f"line {number}\n")
        told.add(str(one.commit("S1", checked=False).commit))
        one.git("push", "-q", "origin", "HEAD:main")
        go_on = cut_short(monkeypatch, KeyboardInterrupt())
        one.ralph("fleet", "sync", code=130)
        go_on()
        one.ralph("fleet", "sync")
    (ref,) = (ref for ref in world.refs() if "/log/" in ref)
    assert "log.1.jsonl" in world.git("ls-tree", "--name-only", ref).split()
    assert read_by(world, "two") == told


def test_a_log_that_grows_is_sealed_and_nothing_is_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parentless snapshot under lease; the sealed bytes are in the tree; a new member reads them all."""
    monkeypatch.setattr(own_log, "SEALED_ABOVE", 1000)
    one = world.member("one")
    told = publish(one, world, 4)
    ref = next(ref for ref in world.refs() if "/log/" in ref)
    assert int(world.git("rev-list", "--count", ref)) <= 2  # of the six pushes, those since the snapshot
    assert "log.1.jsonl" in world.git("ls-tree", "--name-only", ref).split()
    assert read_by(world, "two") == told


def test_every_sealed_part_has_a_name_of_its_own(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log keeps its newest parts; the tree that holds them never has one name twice."""
    monkeypatch.setattr(own_log, "SEALED_ABOVE", 200)
    monkeypatch.setattr(own_log, "MOST_PARTS", 2)
    one = world.member("one")
    told = publish(one, world, 5)
    ref = next(ref for ref in world.refs() if "/log/" in ref)
    names = world.git("ls-tree", "--name-only", ref).split()
    assert len(names) == len(set(names)) == 3
    newest = max(int(name.split(".")[1]) for name in names if name != "log.jsonl")
    assert newest > 3
    assert read_by(world, "two") < told


def test_a_server_that_denies_force_gets_a_second_part(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """git denies it for branches alone; claims, each on the one before, are no rewriting."""
    monkeypatch.setattr(own_log, "SEALED_ABOVE", 1000)
    world.git("config", "receive.denyNonFastForwards", "true")
    one = world.clone("one")
    one.ralph("fleet", "join", "origin", "--branch-form")
    told = publish(one, world, 5)
    one.ralph("fleet", "sync")
    assert any(ref.endswith(".2") for ref in world.refs())
    assert read_by(world, "two") == told
    one.ralph("fleet", "claim", "bd-1")
    one.ralph("fleet", "release", "bd-1")
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["epoch"] == 2


def test_the_object_folder_may_be_deleted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """``gc`` takes it once it has grown, but not while a claim is nowhere else; all comes again."""
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    publish(one, world, 1)
    two.ralph("fleet", "sync")
    monkeypatch.setattr(at_work, "MANY", 1)
    unreachable(one)
    one.ralph("fleet", "claim", "bd-2")
    one.ralph("gc")
    assert (one.state / "fleet/objects").exists()
    reachable(one, world)
    one.ralph("fleet", "sync")
    for repo in (one, two):
        assert "folder of a fleet's objects" in repo.ralph("gc").text
        assert not (repo.state / "fleet/objects").exists()
    assert one.ralph("fleet", "claims", "--json").json()[0]["mine"] is True
    told = publish(one, world, 2, first=1)
    assert len(read_by(world, "three")) == 1 + len(told)
    work(one, "bd-1", path="z")
    one.ralph("fleet", "land", "bd-1")
    two.ralph("fleet", "sync")
    two.ralph("fleet", "claim", "bd-1", code=4)


def test_a_log_that_is_stuck_is_said(world: World) -> None:
    """No beat gets through: the command for the server's admin is named."""
    one = world.member("one")
    ref = next(ref for ref in world.refs() if "/log/" in ref)
    (world.path / f"{ref}.lock").touch()
    assert f"rm {ref}.lock" in one.ralph("fleet", "sync").said
    (world.path / f"{ref}.lock").unlink()
    assert one.ralph("fleet", "sync").said == ""


def test_a_refspec_is_set_up_once_for_those_who_want_it(world: World) -> None:
    one = world.member("one")
    one.ralph("fleet", "setup", code=129)
    for _ in range(2):
        one.ralph("fleet", "setup", "--refspec")
    assert len(one.git("config", "--get-all", "remote.origin.fetch").splitlines()) == 2
    one.git("fetch", "-q", "origin")
    assert "refs/ralph-fleet/origin/fleet" in one.git("for-each-ref")


def publish(repo: Repo, world: World, count: int, first: int = 0) -> set[str]:
    """A session's commits, each pushed and published; the commits."""
    done = set()
    repo.git("checkout", "-q", "main")
    for number in range(first, first + count):
        repo.edit("S1", f"f{number}", f"line {number}\n")
        done.add(str(repo.commit("S1", checked=False).commit))
        repo.git("push", "-q", "origin", "HEAD:main")
        repo.ralph("fleet", "sync")
    return done


def read_by(world: World, name: str) -> set[str]:
    """The commits that a new member reads of."""
    repo = world.member(name)
    repo.ralph("fleet", "sync")
    lines = [
        line for path in (repo.state / "fleet").glob("*.jsonl") for line in path.read_text().splitlines()
    ]
    return {json.loads(line)["vcs"]["revision"] for line in lines}


class Gap:
    """A server that leaves a bead's claim out of one of its answers."""

    def __init__(self, patch: pytest.MonkeyPatch, bead: str) -> None:
        self.patch, self.bead, self.left = patch, bead, 0
        look = wire.Wire.look

        def gappy(wired: wire.Wire, *patterns: str) -> wire.RemoteRefs:
            found = look(wired, *patterns)
            self.left -= 1
            if self.left != 0:
                return found
            refs = {ref: oid for ref, oid in found.refs.items() if not ref.endswith(f"/claims/{bead}")}
            return wire.RemoteRefs(refs, found.head)

        patch.setattr(wire.Wire, "look", gappy)

    def at(self, answer: int) -> None:
        """The answer that lacks it, 1 for the next one."""
        self.left = answer


def test_a_claim_that_one_answer_does_not_show_stays_its_holders(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody knows it as his own, and the bead waits two leases for a holder who is there."""
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    gap = Gap(monkeypatch, "bd-1")
    gap.at(1)
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["status"] in ("already", "claimed")
    tip = work(one, "bd-1")
    gap.at(1)
    assert "is gone from the remote" in one.ralph("fleet", "land", "bd-1", code=4).said
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["status"] == "claimed"
    gap.at(1)
    one.ralph("fleet", "sync", "--json", code=4)
    gap.at(2)
    assert one.ralph("fleet", "sync", "--json").json()[0]["status"] == "claimed"
    two.ralph("fleet", "claim", "bd-1", code=4)
    assert row(one.ralph("fleet", "land", "bd-1", "--json"))["commit"] == tip
    assert world.landings() == ["work on bd-1", "base"]


def test_a_landing_that_an_answer_does_not_show_is_seen_by_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim is done on the server, the holder was told that it is gone: nobody may do the bead again."""
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    tip = work(one, "bd-1")
    Gap(monkeypatch, "bd-1").at(2)
    one.ralph("fleet", "land", "bd-1", code=4)
    assert "git ralph fleet land bd-1" in one.ralph("fleet", "claim", "bd-1", code=4).said
    assert row(one.ralph("fleet", "land", "bd-1", "--json"))["commit"] == tip
    assert (world.landings(), world.claim_state("bd-1")) == (["work on bd-1", "base"], "done")


def test_what_was_lost_stays_lost(world: World, hands: Clock) -> None:
    """After a takeover the old holder's records of it give him nothing back."""
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    taken_over(two, "bd-1", hands)
    one.ralph("fleet", "sync", "--json", code=4)
    one.ralph("fleet", "claim", "bd-1", code=4)
    assert one.ralph("fleet", "status", "--json").json()["claims"] == []
    assert [r["mine"] for r in one.ralph("fleet", "claims", "--json").json()] == [False]
    two.ralph("fleet", "release", "bd-1")
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["epoch"] == 3


def moves_the_branch_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next landing's server dies between the two refs of its push, and the holder with it."""
    push = wire.Wire.push

    def half(self: wire.Wire, steps: list[wire.RefUpdate], *how: bool, **more: bool) -> wire.Pushed:
        if len(steps) < 2:
            return push(self, steps, *how, **more)
        monkeypatch.setattr(wire.Wire, "push", push)
        push(self, steps[:1])
        raise KeyboardInterrupt

    monkeypatch.setattr(wire.Wire, "push", half)


@pytest.mark.parametrize("way", ["forward", "merge"])
def test_what_landed_without_its_claim_is_not_given_out_again(
    world: World, hands: Clock, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The holder is gone: whoever would take the bead over finds its work in the branch: it is done."""
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    tip = work(one, "bd-1")
    if way == "merge":
        two.ralph("fleet", "claim", "bd-2")
        work(two, "bd-2", path="other")
        two.ralph("fleet", "land", "bd-2")
    moves_the_branch_alone(world, monkeypatch)
    one.ralph("fleet", "land", "bd-1", code=130)
    assert world.claim_state("bd-1") == "held"
    landed = world.landings()
    two.ralph("fleet", "claim", "bd-1", code=4)
    two.ralph("fleet", "claims")
    hands.sleep(3600)
    done = two.ralph("fleet", "claim", "bd-1", "--json", code=4)
    assert f"bead 'bd-1' is done as {tip[:10]}" in done.said
    assert (row(done)["state"], row(done)["epoch"]) == ("done", 1)
    assert (world.claim_state("bd-1"), world.landings()) == ("done", landed)
    two.ralph("fleet", "claim", "bd-1", code=4)
    assert "is done" in one.ralph("fleet", "land", "bd-1", code=4).said


def test_what_was_announced_and_did_not_land_is_given_out(
    world: World, hands: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said to be about to land is not landed; also where another branch of the remote has it."""
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    work(one, "bd-1")
    one.git("push", "-q", "origin", "ralph/bd-1")
    push = wire.Wire.push

    def killed(self: wire.Wire, steps: list[wire.RefUpdate], *how: bool, **more: bool) -> wire.Pushed:
        if len(steps) > 1:
            raise KeyboardInterrupt
        return push(self, steps, *how, **more)

    monkeypatch.setattr(wire.Wire, "push", killed)
    one.ralph("fleet", "land", "bd-1", code=130)
    monkeypatch.setattr(wire.Wire, "push", push)
    assert "Ralph-Into: refs/heads/main" in world.git("log", "-1", "--format=%B", "refs/ralph/claims/bd-1")
    taken_over(two, "bd-1", hands)
    assert row(two.ralph("fleet", "claim", "bd-1", "--json"))["epoch"] == 2


def test_an_announcement_that_got_lost_is_made_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    tip = work(one, "bd-1")
    push, lost = wire.Wire.push, [1]

    def losing(self: wire.Wire, steps: list[wire.RefUpdate], *how: bool, **more: bool) -> wire.Pushed:
        return wire.Pushed() if lost and lost.pop() else push(self, steps, *how, **more)

    monkeypatch.setattr(wire.Wire, "push", losing)
    assert row(one.ralph("fleet", "land", "bd-1", "--json"))["commit"] == tip
    assert "Ralph-Work" in world.git("log", "--format=%B", "refs/ralph/claims/bd-1")


def test_a_claim_that_the_server_does_not_give_costs_the_others_little(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that moved since the look fails a whole request on a server that gives only tips."""
    one, two = world.member("one"), world.member("two")
    for number in range(16):
        one.ralph("fleet", "claim", f"bd-{number}")
    gone, fetch = world.refs()["refs/ralph/claims/bd-7"], wire.Wire.fetch
    asked: list[int] = []

    def choosy(self: wire.Wire, oids: list[str], tips: tuple[str, ...] = ()) -> bool:
        asked.append(len(oids))
        return gone not in oids and fetch(self, oids, tips)

    monkeypatch.setattr(wire.Wire, "fetch", choosy)
    rows = two.ralph("fleet", "claims", "--json").json()
    assert len([r for r in rows if r["writer"]]) == 15
    assert len(asked) == 9


def test_a_claim_that_found_no_repository_is_not_made_later(world: World) -> None:
    first, second = world.member("one"), world.member("two")
    gone = world.path.with_name("gone")
    world.path.rename(gone)
    first.ralph("fleet", "claim", "b1", code=128)
    gone.rename(world.path)
    first.ralph("fleet", "sync")
    second.ralph("fleet", "claim", "b1")

"""Claiming, keeping, releasing and listing beads: what each command answers, and to whom."""

import subprocess

from gitralph.tasks.fleet import claim, ref_names
from tests.support.repo import Repo
from tests.tasks.fleet.world import World, row


def work(repo: Repo, bead: str, path: str = "work", text: str = "done\n") -> str:
    """A commit on the bead's own branch."""
    repo.git("checkout", "-q", "-B", f"ralph/{bead}", "origin/main")
    repo.write(path, text)
    return repo.commit_all(f"work on {bead}")


def test_the_first_has_it_and_the_second_is_told_by_whom(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    first = row(one.ralph("fleet", "claim", "bd-1", "--json"))
    assert (first["status"], first["state"], first["mine"], first["epoch"]) == ("claimed", "held", True, 1)
    done = two.ralph("fleet", "claim", "bd-1", "--json", code=4)
    assert row(done) | {"reason": ""} == {**first, "mine": False, "status": "refused", "reason": ""}
    assert "'User one <one@example.com>'" in done.said
    assert str(first["writer"]) in done.said
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["status"] == "already"


def test_two_clones_of_one_user_in_one_second_make_two_claims(world: World) -> None:
    """Without a nonce both would push the same object, and git would tell both that it is there."""
    same = {"user.name": "One User", "user.email": "one@example.com"}
    one, two = world.member("one", **same), world.member("two", **same)
    one.ralph("fleet", "claim", "bd-1")
    two.ralph("fleet", "claim", "bd-1", code=4)
    oid = world.refs()["refs/ralph/claims/bd-1"]
    token = world.git("log", "-1", "--format=%(trailers:key=Ralph-Token,valueonly)", oid).strip()
    for repo in (one, two):
        repo.ralph("fleet", "claim", "bd-2", code=0 if repo is one else 4)
    other = world.git("log", "-1", "--format=%(trailers:key=Ralph-Token,valueonly)", "refs/ralph/claims/bd-2")
    assert len(token) == 32
    assert other.strip() != token


def test_a_free_bead_goes_to_whoever_asks_in_a_new_epoch(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    two.ralph("fleet", "release", "bd-1", code=4)
    one.ralph("fleet", "release", "bd-1")
    one.ralph("fleet", "release", "bd-1")  # nobody's now: nothing to do
    assert world.claim_state("bd-1") == "free"
    assert row(two.ralph("fleet", "claim", "bd-1", "--json"))["epoch"] == 2
    one.ralph("fleet", "claim", "bd-1", code=4)


def test_claims_lists_every_bead_with_its_own_marked(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    for repo, bead in ((one, "bd-1"), (two, "Upper.2"), (one, "bd-3")):
        repo.ralph("fleet", "claim", bead)
    one.ralph("fleet", "release", "bd-3")
    listed = one.ralph("fleet", "claims", "--json").json()
    assert [(r["bead"], r["state"], r["mine"]) for r in listed] == [
        ("Upper.2", "held", False),
        ("bd-1", "held", True),
        ("bd-3", "free", False),
    ]
    assert all(set(r) == {"bead", "state", "writer", "mine", "epoch"} for r in listed)
    assert "refs/ralph/claims/%55pper%2E2" in world.refs()


def test_a_landed_bead_is_done_for_everybody(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    tip = work(one, "bd-1")
    landed = row(one.ralph("fleet", "land", "bd-1", "--json"))
    assert (landed["status"], landed["commit"], landed["into"]) == ("landed", tip, "main")
    assert world.refs()["refs/heads/main"] == tip
    assert one.git("rev-parse", "origin/main") == tip
    done = two.ralph("fleet", "claim", "bd-1", code=4)
    assert f"is done as {tip[:10]}" in done.said
    two.ralph("fleet", "land", "bd-1", code=4)
    one.ralph("fleet", "claim", "bd-1", code=4)
    for repo in (one, two):
        assert f"is done as {tip[:10]}" in repo.ralph("fleet", "release", "bd-1", code=4).said
    assert world.claim_state("bd-1") == "done"


def test_a_base_that_moved_is_merged(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    for repo, bead in ((one, "bd-1"), (two, "bd-2")):
        repo.ralph("fleet", "claim", bead)
        work(repo, bead, path=bead)
    one.ralph("fleet", "land", "bd-1")
    two.ralph("fleet", "land", "bd-2")
    assert {"work on bd-1", "work on bd-2"} <= set(world.landings())
    assert world.git("ls-tree", "--name-only", "main").split() == ["a", "bd-1", "bd-2"]


def test_what_fails_on_the_merged_tree_does_not_land(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    for repo, bead in ((one, "bd-1"), (two, "bd-2")):
        repo.ralph("fleet", "claim", bead)
        work(repo, bead, path=bead)
    together = "! { test -e bd-1 && test -e bd-2; }"
    one.ralph("fleet", "land", "bd-1", "--prove", together)
    before = world.landings()
    done = two.ralph("fleet", "land", "bd-2", "--prove", together, code=1)
    assert "on the merged tree" in done.said
    assert "before it came" in done.said
    assert world.landings() == before
    two.ralph("fleet", "land", "bd-2", "--prove", "test -e bd-1 && test -e bd-2")


def test_a_conflict_lands_nothing_and_keeps_the_claim(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    for repo, bead in ((one, "bd-1"), (two, "bd-2")):
        repo.ralph("fleet", "claim", bead)
        work(repo, bead, path="a", text=f"{bead}\n")
    one.ralph("fleet", "land", "bd-1")
    main = world.refs()["refs/heads/main"]
    refused = two.ralph("fleet", "land", "bd-2", "--json", code=4)
    assert "conflicts with 'main' of the remote in a" in refused.said
    assert (row(refused)["state"], row(refused)["mine"], row(refused)["epoch"]) == ("held", True, 1)
    assert (world.refs()["refs/heads/main"], world.claim_state("bd-2")) == (main, "held")


def test_landing_needs_a_claim_and_something_to_land(world: World) -> None:
    one = world.member("one")
    assert "is not claimed" in one.ralph("fleet", "land", "bd-1", code=4).said
    one.ralph("fleet", "claim", "bd-1")
    assert "nothing to land" in one.ralph("fleet", "land", "bd-1", code=4).said
    assert world.claim_state("bd-1") == "held"


def test_what_a_person_landed_is_marked_done(world: World) -> None:
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    work(one, "bd-1")
    one.git("push", "-q", "origin", "HEAD:main")
    main = world.refs()["refs/heads/main"]
    assert row(one.ralph("fleet", "land", "bd-1", "--json"))["commit"] == main
    assert world.claim_state("bd-1") == "done"


def test_no_clone_gets_a_ref_or_a_commit_to_see(world: World) -> None:
    """Nothing of a fleet is in `git log --all`, in a plain clone, or in the repository's own store."""
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    two.ralph("fleet", "sync")
    for repo in (one, two):
        assert "ralph" not in repo.git("for-each-ref")
        assert repo.count("--all") == 1
        repo.git("fsck", "--strict", "--no-dangling")
        repo.git("gc", "--prune=now", "-q")
        for oid in world.refs().values():
            present = subprocess.run(["git", "cat-file", "-e", oid], cwd=repo.root, env=repo.env, check=False)
            assert (present.returncode == 0) == (oid == world.base)
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["status"] == "already"


def test_outside_a_fleet_every_command_says_how_to_join(repo: Repo) -> None:
    for words in (["claim", "b"], ["claims"], ["release", "b"], ["sync"], ["land", "b"], ["status"]):
        assert "git ralph fleet join" in repo.ralph("fleet", *words, code=128).said


def test_a_bad_bead_is_a_usage_error(world: World) -> None:
    one = world.member("one")
    for bead in ("", "../x", "a b", "-x", "x.lock", "a\nb", "x" * 121):
        for command in ("claim", "release", "land"):
            one.ralph("fleet", command, "--", bead, code=129)


def test_names_of_refs_are_flat_and_of_one_case() -> None:
    """Two beads never share a ref, also where the server's files have no case; git takes every name."""
    beads = ["a", "A", "a.b", "a-b", "x" * 120, "X" * 120, "X" * 119 + "Y"]
    found = [ref_names.encoded(bead) for bead in beads]
    assert len({name.lower() for name in found}) == len(beads)
    for name in found:
        assert "/" not in name
        assert len(name) <= 200
        subprocess.run(["git", "check-ref-format", f"refs/ralph/claims/{name}"], check=True)


def test_a_claim_reads_back_as_it_was_written() -> None:
    made = claim.Claim("bd-1", claim.DONE, 7, "0" * 32, "a" * 16, 60, "b" * 40)
    raw = b"tree 4b\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\n" + claim.message(made).encode()
    found = claim.parse("c" * 40, raw, "bd-1")
    assert found == claim.Claim("bd-1", claim.DONE, 7, "0" * 32, "a" * 16, 60, "b" * 40, "c" * 40, "A <a@x>")
    assert claim.parse("c" * 40, raw, "bd-2") is None

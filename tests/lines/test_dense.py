"""Three sessions and a person in four lines: nobody commits what another brought or took away."""

import pytest

from gitralph.lines.terms import UNRECORDED
from tests.lines.dense import HUMAN, SESSIONS, History
from tests.support.size import FULL

DAYS = 20_000 if FULL else 300
KINDS = {"rewrites": (0, 0, 0), "corrections": (4, 0, 0), "with git": (0, 0, 3)}
SEED = 3_000_000


@pytest.mark.parametrize("wish", ["", "include_entangled", "skip_entangled"])
@pytest.mark.parametrize("kinds", KINDS)
def test_no_commit_in_a_crowded_place_is_wrong(kinds: str, wish: str) -> None:
    made, wishes = 0, {wish: True} if wish else {}
    for seed in range(SEED, SEED + DAYS):
        day = History(seed, kinds=KINDS[kinds]).play()
        for who in SESSIONS:
            assert list(day.faults(who, **wishes)) == [], (seed, who, *day.told)
            made += day.commits(who, **wishes)
    assert made > DAYS / 2


@pytest.mark.parametrize("who", [("s1", "s2"), (UNRECORDED,), (UNRECORDED, "s1")])
def test_nor_is_one_of_several_owners_or_of_a_person(who: tuple[str, ...]) -> None:
    made = 0
    for seed in range(SEED, SEED + DAYS):
        day = History(seed, kinds=KINDS["corrections"]).play()
        assert list(day.faults(*who)) == [], (seed, *day.told)
        made += day.commits(*who)
    assert made > DAYS / 4


def test_the_judge_sees_what_is_wrong() -> None:
    day = History(0)
    day.author |= {"mine": "s1", "yours": "s2", "hers": HUMAN}
    day.disk = ["mine", *day.head[1:3], "yours", "hers"]
    day.took = {day.head[0]: ("s1", ("mine",)), day.head[3]: ("s2", ("yours",))}
    own = ["mine", *day.head[1:]]
    assert list(day.judged(own, {"s1"}, "s1")) == []
    assert [one.split()[0] for one in day.judged(day.disk, {"s1"}, "s1")] == ["holds", "holds", "takes"]
    assert [one.split()[0] for one in day.judged(own[::-1], {"s1"}, "s1")] == ["has", "has"]
    day.disk[0] = "other"
    assert [one.split()[0] for one in day.judged(day.head, {"s1"}, "s1")] == []
    day.took["mine"] = ("s1", ())
    assert [one.split()[0] for one in day.judged(own, {"s1"}, "s1")] == ["brings"]

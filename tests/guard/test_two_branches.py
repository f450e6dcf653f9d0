"""One shell call that commits on one branch, goes to another and works on there."""

import pytest

from tests.support.guarded import commit_as, narrowing, ten
from tests.support.repo import Repo
from tests.support.shells import Shell

pytestmark = pytest.mark.wired

ON_SIDE, ON_MAIN = "sed -i 's/^line 3$/three/' f", "sed -i 's/^line 7$/seven/' f"
COMES_BACK = {
    "by a checkout": (("checkout", "-q", "main"),),
    "and merges": (("checkout", "-q", "main"), ("merge", "-q", "side")),
    "and picks the commit": (("checkout", "-q", "main"), ("cherry-pick", "side")),
}


@pytest.fixture
def two(repo: Repo) -> Repo:
    """The branches have different texts in ``f``."""
    narrowing(repo)
    repo.git("checkout", "-qb", "side")
    repo.write("f", ten(l10="side"))
    repo.commit_all("side")
    repo.git("checkout", "-q", "main")
    repo.write("f", ten(l1="main"))
    repo.commit_all("main")
    return repo


@pytest.mark.parametrize("how", COMES_BACK)
def test_work_on_two_branches_is_all_committed(two: Repo, how: str) -> None:
    call = Shell(two, "S1").begin()
    two.git("checkout", "-q", "side")
    call.work(ON_SIDE)
    commit_as(two, "S1", "-a")
    for words in COMES_BACK[how]:
        two.git(*words)
    before = two.blob("f").decode()
    call.work(ON_MAIN)
    commit_as(two, "S1", "-a")
    call.end()
    assert two.blob("f").decode() == before.replace("line 7\n", "seven\n")
    assert two.git("status", "--porcelain") == ""


def test_a_file_that_goes_on_one_branch_and_changes_on_the_other(two: Repo) -> None:
    call = Shell(two, "S1").begin()
    two.git("checkout", "-q", "side")
    two.git("rm", "-q", "f")
    commit_as(two, "S1")
    assert two.changes("side") == {"f": "D"}
    two.git("checkout", "-q", "main")
    before = two.blob("f").decode()
    call.work(ON_MAIN)
    commit_as(two, "S1", "-a")
    call.end()
    assert two.blob("f").decode() == before.replace("line 7\n", "seven\n")


def test_what_a_reset_takes_out_of_head_is_not_the_commands(two: Repo) -> None:
    """The text was committed, and another's line of it is left in the file."""
    two.write("f", ten(l1="main", l5="another's"))
    two.commit_all("another's")
    call = Shell(two, "S1").begin().work(ON_MAIN)
    commit_as(two, "S1", "-a")
    two.git("reset", "-q", "HEAD~2")
    call.work("sed -i 's/^seven$/line 7/; s/^line 9$/nine/' f").end()
    two.run("commit", "--session", "S1", "-m", "x")
    assert b"another's" not in two.blob("f")

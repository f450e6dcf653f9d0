"""A commit that concludes a merge, a revert or the like: the guard asks, and never narrows.

No hint of it costs the merge.
"""

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.guard.test_guard import changed, commit
from tests.support.guarded import Ended, commit_as, git_as, ten
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo
from tests.support.shells import Shell

pytestmark = [pytest.mark.wired, pytest.mark.usefixtures("probes")]

AGENT = {"RALPH_SESSION": "S2", "RALPH_TRACKING": "1"}
TAKES = "'g': this commit takes 1 line that live session 'session-1' did not commit yet"


@pytest.fixture
def merging(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """A conflict in ``f`` is settled and not committed; S1 has a line in ``g`` and a new file, S2 nothing."""
    repo = Repo.init(tmp_path / "repo", environ)
    repo.write("f", changed())
    repo.write("g", "one\n")
    repo.commit_all("base")
    repo.git("switch", "-qc", "other")
    repo.write("f", changed(3, word="other"))
    repo.commit_all("other")
    repo.git("switch", "-q", "main")
    repo.write("f", changed(3, word="main"))
    repo.commit_all("main")
    repo.start("S1")
    repo.start("S2")
    repo.edit("S1", "g", "one\nof S1\n")
    repo.edit("S1", "n", "of S1\n")
    repo.git("merge", "-q", "other", code=1)
    repo.write("f", changed(3, word="both"))
    return repo


def type_the_hint(repo: Repo, environ: dict[str, str], said: str, env: dict[str, str]) -> None:
    hint = next(line for line in said.splitlines() if line.startswith("hint: git restore"))
    full = {**repo._environment(None), "PATH": with_tool_on_path(environ)["PATH"], **env}
    words = hint.removeprefix("hint: ").partition("  #")[0]
    done = subprocess.run(["sh", "-c", words], cwd=repo.root, env=full, capture_output=True, check=False)
    assert done.returncode == 0, (words, shlex.split(words), done.stderr)


def is_merged_without_theirs(repo: Repo) -> bool:
    other, main = repo.git("rev-parse", "other").strip(), repo.git("rev-parse", "HEAD^1").strip()
    assert repo.git("rev-parse", "HEAD^2").strip() == other
    return repo.changes(f"{main}..HEAD") == {"f": "M"}


def test_what_was_only_warned_of_is_taken_out_of_the_merge(merging: Repo, environ: dict[str, str]) -> None:
    """The hint took the commit back and made another, in which the merge was lost."""
    merging.ralph("install", "--guard=warn")
    merging.git("add", "-A")
    said = commit(merging, environ)
    assert "did not commit yet" in said
    type_the_hint(merging, environ, said, {"RALPH_GUARD": "off"})
    assert is_merged_without_theirs(merging)
    assert merging.commit("S1").paths == {"g": "M", "n": "A"}


@pytest.mark.parametrize("mode", ["refuse", "narrow"])
def test_an_agents_merge_with_lines_of_others_is_refused(
    merging: Repo, environ: dict[str, str], mode: str
) -> None:
    """Under `narrow` it passed without a word; under `refuse` the hint was one that a merge refuses."""
    merging.ralph("install", f"--guard={mode}")
    merging.git("add", "-A")
    said = commit(merging, environ, code=1, env=AGENT)
    assert TAKES in said
    assert "hint: git ralph status  # whose it is: a person concludes this merge" in said
    merging.git("reset", "-q", "--", "g", "n")
    assert commit(merging, environ, env=AGENT) == ""
    assert is_merged_without_theirs(merging)


def test_a_persons_merge_is_refused_where_he_wants_that_with_a_way_out(
    merging: Repo, environ: dict[str, str]
) -> None:
    merging.ralph("install", "--guard=warn")
    merging.git("config", "ralph.guardPerson", "refuse")
    merging.git("add", "-A")
    said = commit(merging, environ, code=1)
    type_the_hint(merging, environ, said, {})
    assert is_merged_without_theirs(merging)


def test_a_persons_merge_by_commit_a_is_refused_with_a_way_out(
    merging: Repo, environ: dict[str, str]
) -> None:
    merging.ralph("install", "--guard=warn")
    merging.git("config", "ralph.guardPerson", "refuse")
    said = commit(merging, environ, "-a", code=1)
    words = next(line for line in said.splitlines() if line.startswith("hint: git add"))
    assert words.startswith("hint: git add -- f && git restore --staged -- g && git commit --no-edit")


@pytest.mark.parametrize("env", [{}, AGENT], ids=["person", "agent"])
def test_no_hint_takes_a_file_out_that_the_merge_itself_changed(
    merging: Repo, environ: dict[str, str], env: dict[str, str]
) -> None:
    merging.ralph("install", "--guard=warn")
    merging.edit("S1", "f", changed(3, 9, word="both"))
    said = commit(merging, environ, "-a", env=env)
    assert "in 'f'" in said or "'f': this commit takes" in said
    assert "hint:" not in said


def test_a_merge_that_takes_nothing_of_others_passes(merging: Repo, environ: dict[str, str]) -> None:
    merging.ralph("install", "--guard=narrow")
    merging.git("add", "f")
    assert commit(merging, environ, env=AGENT) == ""
    assert is_merged_without_theirs(merging)


def test_no_hint_takes_a_file_out_that_the_second_of_two_merged_branches_changed(
    merging: Repo, environ: dict[str, str]
) -> None:
    """In an octopus git names several commits."""
    merging.ralph("install", "--guard=warn")
    told = merging.git("rev-parse", "other").strip()
    blob = merging.git("hash-object", "-w", "--stdin", stdin=b"another\n").strip()
    made = f"100644 blob {blob}\tg\n".encode()
    tree = merging.git("mktree", stdin=made).strip()
    more = merging.git("commit-tree", "-p", "main~1", "-m", "more", tree).strip()
    (merging.git_dir / "MERGE_HEAD").write_text(f"{told}\n{more}\n")
    merging.git("add", "-A")
    assert "hint:" not in commit(merging, environ)


def test_a_merge_without_a_common_commit_is_judged_without_a_hint(
    merging: Repo, environ: dict[str, str]
) -> None:
    merging.ralph("install", "--guard=narrow")
    tree = merging.git("rev-parse", "other^{tree}").strip()
    alone = merging.git("commit-tree", "-m", "alone", tree).strip()
    (merging.git_dir / "MERGE_HEAD").write_text(f"{alone}\n")
    merging.git("add", "-A")
    assert TAKES in commit(merging, environ, code=1, env=AGENT)
    assert "hint:" not in commit(merging, environ)


def test_an_agent_of_no_known_session_merges_where_it_takes_nothing_of_others(
    merging: Repo, environ: dict[str, str]
) -> None:
    merging.ralph("install", "--guard=narrow")
    merging.git("add", "f")
    assert commit(merging, environ, env={"RALPH_SESSION": "not-yet", "RALPH_TRACKING": "1"}) == ""


# --- reverts, cherry-picks, rebases ---


@pytest.fixture
def picking(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """Three commits of main, and one of the branch ``side`` that meets the first; the guard narrows."""
    repo = Repo.init(tmp_path / "repo", environ)
    repo.write("f", ten())
    repo.write("g", ten())
    repo.commit_all("base")
    repo.git("switch", "-qc", "side")
    repo.write("f", ten(l3="side"))
    repo.commit_all("side")
    repo.git("switch", "-q", "main")
    for number, text in enumerate([ten(l3="one"), ten(l3="two"), ten(l3="two", l7="three")]):
        repo.write("f", text)
        repo.commit_all(f"main {number}")
    repo.ralph("install", "--guard=narrow")
    return repo


BEGIN = {
    "revert": ("revert", "--no-edit", "HEAD~2"),
    "revert -n": ("revert", "-n", "HEAD"),
    "cherry-pick": ("cherry-pick", "side"),
    "rebase": ("rebase", "side"),
}
CONCLUDE = {
    "revert": ("revert", "--continue", "--no-edit"),
    "revert -n": ("commit", "-qm", "taken back"),
    "cherry-pick": ("cherry-pick", "--continue", "--no-edit"),
    "rebase": ("-c", "core.editor=true", "rebase", "--continue"),
}


def in_shell(repo: Repo, session: str, *args: str) -> Ended:
    """git in a shell call of the session."""
    call = Shell(repo, session, f"git {shlex.join(args)}").begin()
    done = git_as(repo, session, *args)
    call.end()
    return done


@pytest.mark.parametrize("what", BEGIN)
def test_what_an_agent_continues_takes_no_line_of_another(picking: Repo, what: str) -> None:
    """`git add -A` swept it in, and nobody was told."""
    in_shell(picking, "S2", *BEGIN[what])
    picking.edit("S1", "g", ten(l4="of S1"))
    if what != "revert -n":
        picking.edit("S2", "f", ten(l3="settled", l7="three"))
    before = picking.head()
    picking.git("add", "-A")
    done = in_shell(picking, "S2", *CONCLUDE[what])
    assert done.code != 0
    assert "'g': this commit takes 1 line that live session" in done.said
    assert picking.head() == before

    if what == "rebase":
        return  # git goes on with a clean worktree alone
    picking.git("restore", "--staged", "g")
    done = in_shell(picking, "S2", *CONCLUDE[what])
    assert done.code == 0, done.said
    assert picking.blob("g").decode() == ten()
    assert picking.commit("S1").paths == {"g": "M"}


@pytest.mark.parametrize("what", BEGIN)
def test_an_agent_does_not_conclude_what_a_person_began(picking: Repo, what: str) -> None:
    """It knows nothing of it, and commits its own line: the person's step went with it, marks and all."""
    picking.git(*BEGIN[what], code=0 if what == "revert -n" else 1)
    call = Shell(picking, "S2", "git commit -am x").begin()
    picking.edit("S2", "g", ten(l2="of S2"))
    before = picking.head()
    said = commit_as(picking, "S2", "-a", code=1).said
    call.end()
    assert "neither began nor worked on" in said
    assert picking.head() == before


def test_a_session_that_was_asked_to_settle_it_concludes_it(picking: Repo) -> None:
    picking.git(*BEGIN["cherry-pick"], code=1)
    picking.edit("S2", "f", ten(l3="settled", l7="three"))
    call = Shell(picking, "S2", "git commit -a").begin()
    commit_as(picking, "S2", "-a", "--no-edit")
    call.end()
    assert picking.blob("f").decode() == ten(l3="settled", l7="three")


def test_the_marks_of_a_conflict_are_not_committed(picking: Repo) -> None:
    in_shell(picking, "S2", *BEGIN["cherry-pick"])
    before = picking.head()
    assert "'f' still has the marks of a conflict" in commit_as(picking, "S2", "-a", code=1).said
    assert picking.head() == before


def test_commit_a_in_the_middle_takes_no_line_of_a_person(picking: Repo) -> None:
    in_shell(picking, "S2", *BEGIN["revert -n"])
    picking.write("g", ten(l4="of a person"))
    picking.edit("S2", "f", ten(l1="more", l3="two"))
    said = commit_as(picking, "S2", "-a", code=1).said
    assert "'g' has changes that are neither of a revert nor of session" in said
    commit_as(picking, "S2")
    assert picking.changes("HEAD") == {"f": "M"}


@pytest.mark.parametrize("staged", ["by the agent", "by the person"])
@pytest.mark.parametrize("what", ["revert", "revert -n", "cherry-pick"])
def test_what_a_person_has_in_another_file_is_not_in_it(picking: Repo, what: str, staged: str) -> None:
    """`git add -A`, or what he had staged before: nobody was told."""
    picking.write("g", ten(l4="of a person"))
    if staged == "by the person" and what == "revert -n":  # git begins none of the others then
        picking.git("add", "g")
    in_shell(picking, "S2", *BEGIN[what])
    if what != "revert -n":
        picking.edit("S2", "f", ten(l3="settled", l7="three"))
    picking.git("add", "-A")
    before = picking.head()
    said = in_shell(picking, "S2", *CONCLUDE[what]).said
    assert "'g' has changes that are neither of" in said
    assert picking.head() == before
    picking.git("restore", "--staged", "g")
    assert in_shell(picking, "S2", *CONCLUDE[what]).code == 0
    assert picking.changes("HEAD") == {"f": "M"}


@pytest.mark.parametrize("how", ["one command", "two commands"])
@pytest.mark.parametrize("what", ["revert", "cherry-pick", "merge"])
def test_what_the_agents_own_add_swept_in_is_left_out(picking: Repo, what: str, how: str) -> None:
    """`git add -A` is how agents conclude a merge. It was refused, and a person's files stayed staged."""
    begin = {**BEGIN, "merge": ("merge", "side")}[what]
    picking.write("g", ten(l4="of a person"))
    picking.write("notes", "a person's\n")
    in_shell(picking, "S2", *begin)
    picking.edit("S2", "f", ten(l3="settled", l7="three"))
    call = Shell(picking, "S2", "git add -A && git commit --no-edit").begin()
    picking.git("add", "-A")
    if how == "two commands":
        call.end()
        call = Shell(picking, "S2", "git commit --no-edit").begin()
    done = commit_as(picking, "S2", "--no-edit")
    call.end()
    assert f"left out: 'g', 'notes' have changes that are neither of a {what} nor of session" in done.said
    assert picking.changes("HEAD^1..HEAD") == {"f": "M"}
    assert picking.git("status", "--short") == " M g\n?? notes"


def test_what_a_person_staged_before_the_agents_add_stays_staged_and_is_refused(picking: Repo) -> None:
    picking.write("g", ten(l4="of a person"))
    picking.write("notes", "a person's\n")
    in_shell(picking, "S2", *BEGIN["revert"])
    picking.git("add", "notes")
    picking.edit("S2", "f", ten(l3="settled", l7="three"))
    in_shell(picking, "S2", "add", "-A")
    said = commit_as(picking, "S2", "--no-edit", code=1).said
    assert "error: 'notes' has changes that are neither of a revert" in said
    assert picking.git("diff", "--cached", "--name-only") == "f\nnotes"


def test_what_a_person_staged_and_went_on_with_is_refused(picking: Repo) -> None:
    """What the agent's `git add -A` staged is put back to what the person had staged: not in the merge."""
    in_shell(picking, "S2", *BEGIN["revert"])
    picking.write("g", ten(l1="staged"))
    picking.git("add", "g")
    picking.write("g", ten(l1="staged", l9="not ready"))
    picking.edit("S2", "f", ten(l3="settled", l7="three"))
    in_shell(picking, "S2", "add", "-A")
    said = commit_as(picking, "S2", "--no-edit", code=1).said
    assert "error: 'g' has changes that are neither of a revert" in said
    assert picking.git("show", ":g") + "\n" == ten(l1="staged")


def test_what_the_agents_own_add_swept_in_of_another_session_is_left_out(picking: Repo) -> None:
    in_shell(picking, "S2", *BEGIN["revert"])
    picking.edit("S1", "g", ten(l4="of S1"))
    picking.edit("S2", "f", ten(l3="settled", l7="three"))
    in_shell(picking, "S2", "add", "-A")
    commit_as(picking, "S2", "--no-edit")
    assert picking.changes("HEAD") == {"f": "M"}
    assert picking.commit("S1").paths == {"g": "M"}


def test_what_the_agents_own_add_swept_into_a_rebase_is_refused(picking: Repo) -> None:
    """git has read the index there before any hook runs."""
    in_shell(picking, "S2", *BEGIN["rebase"])
    picking.write("g", ten(l4="of a person"))
    picking.edit("S2", "f", ten(l3="settled", l7="three"))
    in_shell(picking, "S2", "add", "-A")
    before = picking.head()
    done = in_shell(picking, "S2", *CONCLUDE["rebase"])
    assert done.code != 0
    assert "'g' has changes that are neither of a rebase" in done.said
    assert picking.head() == before


def test_what_an_earlier_merge_changed_is_no_part_of_the_one_under_way(picking: Repo) -> None:
    picking.git("switch", "-qc", "other")
    picking.write("g", ten(l6="other"))
    picking.commit_all("other")
    picking.git("switch", "-q", "main")
    in_shell(picking, "S2", "merge", "-q", "--no-ff", "--no-commit", "other")
    in_shell(picking, "S2", "commit", "-qm", "merged")
    in_shell(picking, "S2", "status")
    assert in_shell(picking, "S2", "revert", "--no-edit", "HEAD~3").code == 1
    picking.write("g", ten(l6="other", l9="of a person"))
    picking.git("add", "g")
    picking.edit("S2", "f", ten(l3="settled", l7="three"))
    picking.git("add", "f")
    assert "'g' has changes that are neither of a revert" in commit_as(picking, "S2", code=1).said


def test_what_was_swept_into_a_merge_is_put_back_where_another_hook_says_no(picking: Repo) -> None:
    picking.ralph("uninstall", "--guard")
    hook = picking.root / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 7\n")
    hook.chmod(0o755)
    picking.ralph("install", "--guard=narrow")
    picking.write("g", ten(l4="of a person"))
    in_shell(picking, "S2", "merge", "side")
    picking.edit("S2", "f", ten(l3="settled", l7="three"))
    call = Shell(picking, "S2", "git add -A && git commit --no-edit").begin()
    picking.git("add", "-A")
    commit_as(picking, "S2", "--no-edit", code=1)
    call.end()
    assert picking.git("diff", "--cached", "--name-only") == "f"


def test_an_amend_after_a_squash_changes_no_commit_of_a_person(picking: Repo) -> None:
    picking.git("switch", "-qc", "here", "HEAD~3")
    in_shell(picking, "S2", "merge", "-q", "--squash", "side")
    said = commit_as(picking, "S2", "--amend", "--no-edit", code=1).said
    assert "nothing was amended" in said


@pytest.mark.parametrize("during", [True, False])
def test_what_git_picked_without_a_commit_is_for_a_person_to_commit(picking: Repo, during: bool) -> None:
    """Nothing tells who ran `cherry-pick -n`: a command of the session that only runs meanwhile did not."""
    picking.git("switch", "-qc", "here", "HEAD~3")
    picking.start("S2")
    call = Shell(picking, "S2", "sleep 60").begin() if during else None
    picking.git("cherry-pick", "-n", "side")
    if call is not None:
        call.end()
    said = commit_as(picking, "S2", "-m", "picked", code=1).said
    assert "for a person to commit: git commit --no-edit" in said


def test_several_commits_are_taken_back_in_one(picking: Repo) -> None:
    """git names only the last of them."""
    picking.write("new", "one\n")
    picking.commit_all("new")
    picking.write("g", ten(l1="more"))
    picking.commit_all("g")
    call = Shell(picking, "S2", "git revert -n HEAD HEAD~ && git commit").begin()
    assert git_as(picking, "S2", "revert", "-n", "HEAD", "HEAD~").code == 0
    commit_as(picking, "S2")
    call.end()
    assert picking.changes("HEAD") == {"g": "M", "new": "D"}
    in_shell(picking, "S2", "revert", "-n", "HEAD", "HEAD~3")
    commit_as(picking, "S2")
    assert picking.changes("HEAD") == {"f": "M", "g": "M", "new": "A"}


@pytest.mark.parametrize("stop", ["1s/pick/edit/", "1abreak"], ids=["edit", "break"])
def test_where_a_rebase_stops_to_edit_a_commit_is_like_any_other(picking: Repo, stop: str) -> None:
    """It took what others had, and nothing told whose it was."""
    editor = f"sed -i {stop}"
    in_shell(picking, "S2", "-c", f"sequence.editor={editor}", "rebase", "-i", "HEAD~2")
    picking.edit("S1", "g", ten(l4="of S1"))
    picking.edit("S2", "g", ten(l4="of S1", l8="of S2"))
    commit_as(picking, "S2", "-a")
    assert picking.blob("g").decode() == ten(l8="of S2")
    assert "Ralph-Session: S2" in picking.trailers("HEAD")


# --- squashes ---


@pytest.fixture
def squashing(picking: Repo) -> Repo:
    """S1 has committed two lines on the branch ``feature``, and S2 has one in ``g`` on main."""
    picking.git("switch", "-qc", "feature")
    picking.edit("S1", "f", ten(l1="of S1", l3="two", l7="three"))
    picking.commit("S1")
    picking.edit("S1", "new", "of S1\n")
    picking.commit("S1")
    picking.git("switch", "-q", "main")
    picking.edit("S2", "g", ten(l4="of S2"))
    return picking


@pytest.mark.parametrize("who", ["S1", "S3", None])
def test_a_squash_is_committed_by_whoever_makes_it(squashing: Repo, who: str | None) -> None:
    """An agent that integrates was refused, and a person warned of lines that were committed long ago."""
    words = ("merge", "-q", "--squash", "feature")
    in_shell(squashing, who, *words) if who else squashing.git(*words)
    done = commit_as(squashing, who)
    assert squashing.changes("HEAD") == {"f": "M", "new": "A"}
    assert "did not commit yet" not in done.said
    assert squashing.commit("S2").paths == {"g": "M"}


def test_a_squash_of_a_person_is_in_no_commit_of_an_agent_that_knows_nothing_of_it(squashing: Repo) -> None:
    squashing.git("merge", "-q", "--squash", "feature")
    call = Shell(squashing, "S2", "git commit -am x").begin()
    commit_as(squashing, "S2", "-a")
    call.end()
    assert squashing.changes("HEAD") == {"g": "M"}
    assert squashing.git("diff", "--cached", "--name-only").split() == ["f", "new"]


def test_a_squash_of_its_own_is_narrowed(squashing: Repo) -> None:
    in_shell(squashing, "S1", "merge", "-q", "--squash", "feature")
    commit_as(squashing, "S1", "-a")
    assert squashing.changes("HEAD") == {"f": "M", "new": "A"}
    assert "Ralph-Session: S1" in squashing.trailers("HEAD")


def test_a_squash_with_a_line_of_another_is_refused(squashing: Repo) -> None:
    in_shell(squashing, "S3", "merge", "-q", "--squash", "feature")
    said = commit_as(squashing, "S3", "-a", code=1).said
    assert "'g': this commit takes 1 line that live session" in said
    assert "hint: git add -- f new && git commit --no-edit  # leaves them out of the squash" in said
    assert git_as(squashing, "S3", "add", "--", "f", "new").code == 0
    commit_as(squashing, "S3", "--no-edit")
    assert squashing.changes("HEAD") == {"f": "M", "new": "A"}

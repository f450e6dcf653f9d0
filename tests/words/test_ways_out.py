"""Every refusal's hint, typed as shown, leads somewhere: followed until the commit goes through.

A table of scenes, at least one for each reason. Every hint is followed, each in a copy of its own, and
whatever refuses there has its hints followed too: a circle would never end.
"""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import payloads, shells
from tests.support.repo import Repo
from tests.support.runner import Done
from tests.support.texts import TEN, changed

pytestmark = pytest.mark.wired

DEEPEST = 4
REASONS = frozenset(
    [
        "entangled",
        "contested",
        "unanchored",
        "stale",
        "ignored",
        "outside",
        "submodule",
        "unmerged",
        "unchanged",
        "gone",
        "filtered",
        "too-large",
        "shell",
    ]
)
Scene = Callable[[Repo], tuple[str, ...] | None]
SCENES: list[tuple[str, Scene]] = []


def scene(reason: str) -> Callable[[Scene], Scene]:
    """Enter a scene into the table: the first commit of S1 must leave something for this reason.

    It may return what follows the options of that commit.
    """

    def enter(make: Scene) -> Scene:
        SCENES.append((reason, make))
        return make

    return enter


def _stage(repo: Repo, path: str, text: str) -> None:
    kept = repo.read(path)
    assert kept is not None
    repo.write(path, text)
    repo.git("add", path)
    repo.write(path, kept)


# --- entangled ---


@scene("entangled")
def inside_another_sessions_block(repo: Repo) -> None:
    block = TEN + "S2 one\nS2 two\nS2 three\n"
    repo.edit("S2", "a", block)
    repo.edit("S1", "a", block.replace("S2 two\n", "S2 two\nS1 inside\n"))


@scene("entangled")
def over_another_sessions_line_with_more_to_commit(repo: Repo) -> None:
    repo.edit("S2", "a", changed(3, "the words of S2"))
    repo.edit("S1", "a", changed(3, "the words of S2 and S1"))
    repo.edit("S1", "b", changed())


@scene("entangled")
def over_a_humans_line(repo: Repo) -> None:
    repo.write("a", changed(3, "the words of a human"))
    repo.edit("S1", "a", changed(3, "the words of a human and S1"))


@scene("entangled")
def inside_a_humans_block(repo: Repo) -> None:
    block = TEN + "one\ntwo\nthree\n"
    repo.write("a", block)
    repo.edit("S1", "a", block.replace("two\n", "two\nS1 inside\n"))


@scene("entangled")
def inside_a_humans_line_that_was_another_before(repo: Repo) -> None:
    """Given to S1 it stays refused, so it is not offered."""
    there = changed(3, "the words of a human", changed(4, "more of a human"))
    repo.write("a", there)
    repo.edit("S1", "a", there.replace("words of a human", "words of a human and S1"))


@scene("entangled")
def two_sessions_over_each_others_lines(repo: Repo) -> None:
    one = changed(3, "the words of S1")
    repo.edit("S1", "a", one)
    two = changed(3, "the words of S1 and S2", changed(7, "seven of S2"))
    repo.edit("S2", "a", two)
    repo.edit("S1", "a", two.replace("seven of S2", "seven of S2 and S1"))


@scene("entangled")
def beside_what_is_staged(repo: Repo) -> None:
    repo.edit("S1", "a", changed(9, "nine"))
    _stage(repo, "a", changed(9, "the user's"))


@scene("entangled")
def beside_what_is_staged_with_more_to_commit(repo: Repo) -> None:
    beside_what_is_staged(repo)
    repo.edit("S1", "b", changed())


@scene("entangled")
def a_staged_deletion(repo: Repo) -> None:
    repo.git("rm", "-q", "--cached", "a")
    repo.edit("S1", "a", changed())


@scene("entangled")
def a_staged_file_in_a_folder_that_becomes_a_file(repo: Repo) -> None:
    repo.write("d/u", "staged")
    repo.git("add", "d/u")
    repo.remove("d/u")
    repo.delete("S1", "d/a")
    repo.file("d").rmdir()
    repo.edit("S1", "d", "a file\n", before=None)


@scene("entangled")
def a_staged_text_in_a_repository_without_a_commit(repo: Repo) -> None:
    repo.git("update-ref", "-d", "HEAD")
    repo.git("rm", "-rq", "--cached", ".")
    repo.edit("S1", "n", "S1's\n")
    _stage(repo, "n", "the user's\n")


@scene("shell")
def made_by_its_own_shell_command(repo: Repo) -> None:
    shells.run(repo, "S1", "echo one > n")


# --- contested ---


@scene("contested")
def a_binary_file_of_two(repo: Repo) -> None:
    repo.edit("S1", "n", b"\0one")
    repo.edit("S2", "n", b"\0two")


@scene("contested")
def a_path_claimed_by_two(repo: Repo) -> None:
    repo.write("a", changed())
    repo.ralph("track", "--session", "S1", "a")
    repo.ralph("track", "--session", "S2", "a")


@scene("contested")
def a_rename_onto_a_file_that_another_edits(repo: Repo) -> None:
    repo.edit("S2", "b", changed())
    repo.edit("S1", "a", changed(8, "eight"))
    repo.rename("S1", "a", "b")


@scene("contested")
def a_moved_file_of_a_human(repo: Repo) -> None:
    repo.write("note", "the human's\n")
    repo.rename("S1", "note", "z")
    repo.edit("S1", "b", changed())


@scene("contested")
def a_deletion_of_what_another_edits(repo: Repo) -> None:
    repo.edit("S2", "a", changed())
    repo.delete("S1", "a")


@scene("contested")
def an_edit_of_what_another_deleted(repo: Repo) -> None:
    repo.delete("S2", "a")
    repo.edit("S1", "a", changed(), before=None)


@scene("contested")
def a_file_in_place_of_a_folder_that_another_edits(repo: Repo) -> None:
    repo.edit("S2", "d/a", changed())
    repo.remove("d/a")
    repo.file("d").rmdir()
    repo.edit("S1", "d", "a file\n", before=None)


@scene("contested")
def a_folder_in_place_of_a_file_that_nobody_removed(repo: Repo) -> None:
    repo.remove("a")
    repo.edit("S1", "a/x", "x\n", before=None)


@scene("contested")
def a_folder_in_place_of_a_file_that_another_edits(repo: Repo) -> None:
    repo.edit("S2", "a", changed())
    repo.remove("a")
    repo.edit("S1", "a/x", "x\n", before=None)


@scene("contested")
def a_link_that_another_edited_as_a_file(repo: Repo) -> None:
    repo.edit("S2", "a", changed())
    event = {"session": "S1", "cwd": str(repo.root), "path": "a", "call": "link"}
    repo.hook("generic", {**event, "event": "pre"})
    repo.remove("a")
    os.symlink("b", repo.file("a"))
    repo.hook("generic", {**event, "event": "edit"})


@scene("contested")
def a_whole_file_of_another_session(repo: Repo) -> tuple[str, ...]:
    repo.edit("S2", "a", changed())
    repo.edit("S1", "b", changed())
    return ("--whole-file", "--", "a")


# --- unanchored ---


@scene("unanchored")
def a_path_that_somebody_changed_afterwards(repo: Repo) -> None:
    repo.write("a", changed())
    event = payloads.edit("S1", str(repo.root), "a", None, None)
    del event["before"], event["after"]
    repo.hook("generic", event)
    repo.write("a", changed(9, "the human's", changed()))


@scene("unanchored")
def a_whole_file_that_nobody_recorded(repo: Repo) -> tuple[str, ...]:
    repo.write("a", changed())
    repo.edit("S1", "b", changed())
    return ("--whole-file", "--", "a")


@scene("unanchored")
def a_whole_new_file_in_a_folder_that_nobody_recorded(repo: Repo) -> tuple[str, ...]:
    repo.write("new folder/it's", "text\n")
    repo.edit("S1", "b", changed())
    return ("--whole-file", "--", "new folder")


# --- stale ---


@scene("stale")
def another_branch_under_the_edit(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "other")
    repo.write("a", "something else altogether\n")
    repo.commit_all("other")
    repo.git("checkout", "-q", "main")
    repo.edit("S1", "a", changed())
    repo.git("symbolic-ref", "HEAD", "refs/heads/other")
    repo.git("reset", "-q")


@scene("stale")
def written_from_an_old_read(repo: Repo) -> None:
    repo.edit("S2", "a", changed(3, "three of S2"))
    repo.edit("S1", "a", changed(8, "eight of S1"), before=TEN)


# --- the rest that refuses ---


@scene("unmerged")
def conflict_stages(repo: Repo) -> None:
    repo.git("checkout", "-qb", "side")
    repo.write("b", "side\n")
    repo.commit_all("side")
    repo.git("checkout", "-q", "main")
    repo.write("b", "main\n")
    repo.commit_all("main")
    repo.git("merge", "side", code=1)
    (repo.root / ".git/MERGE_HEAD").unlink()  # as after a stash pop: stages without an operation
    repo.edit("S1", "a", changed())


def _filter(repo: Repo, command: str, required: str) -> None:
    repo.git("config", "filter.shout.clean", command)
    repo.git("config", "filter.shout.required", required)
    repo.write(".gitattributes", "*.loud filter=shout\n")
    repo.commit_all("filter")


@scene("filtered")
def a_filter_that_fails(repo: Repo) -> None:
    _filter(repo, "false", "true")
    repo.edit("S1", "x.loud", "quiet\n")
    repo.edit("S1", "a", changed())


@scene("filtered")
def a_filter_that_fails_and_nothing_else(repo: Repo) -> None:
    _filter(repo, "false", "true")
    repo.edit("S1", "x.loud", "quiet\n")


@scene("filtered")
def a_filtered_file_of_two(repo: Repo) -> None:
    _filter(repo, "tr a-z A-Z", "false")
    repo.edit("S1", "x.loud", "one\n")
    repo.edit("S2", "x.loud", "one\ntwo\n")


@scene("too-large")
def a_large_file_of_two(repo: Repo) -> None:
    big = "0123456789abcdef\n" * 330_000
    repo.edit("S1", "big", big + "S1\n")
    repo.edit("S2", "big", "S2\n" + big + "S1\n")


# --- what is only left ---


@scene("shell")
def a_change_by_the_shell(repo: Repo) -> None:
    shells.run(repo, "S1", 'sed -i s/3/three/ a; echo new > "it\'s new"')


@scene("gone")
def deleted_by_nobody(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.remove("a")


@scene("ignored")
def an_ignored_file(repo: Repo) -> None:
    repo.write(".gitignore", "ignored\n")
    repo.edit("S1", "ignored", "x\n")


@scene("outside")
def a_folder_that_became_a_link(repo: Repo) -> None:
    repo.edit("S1", "d/a", changed())
    repo.file("d").rename(repo.root.parent / f"outside-{repo.root.name}")
    os.symlink(repo.root.parent / f"outside-{repo.root.name}", repo.file("d"))


@scene("submodule")
def a_repository_inside(repo: Repo) -> None:
    repo.edit("S1", "b", changed())
    manifest = repo.state / "S1.files"
    manifest.write_text(manifest.read_text() + "sub/x\n")
    repo.write("sub/x", "x\n")
    repo.git("init", "-q", "sub")


@scene("unchanged")
def restored_to_what_head_has(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.write("a", TEN)


# --- the walk ---


def _commit(repo: Repo, after: tuple[str, ...]) -> Done:
    repo.tick()
    return repo.run("commit", "--session", "S1", "-m", "x", "--json", *after)


def _hints(done: Done) -> list[str]:
    return [row.removeprefix("hint: ") for row in done.said.split("\n") if row.startswith("hint: ")]


def _type(repo: Repo, hint: str) -> tuple[int, str]:
    """Type a hint as it is shown."""
    words = shlex.split(hint, comments=True)
    repo.tick()
    if "&&" in words:
        at = words.index("&&")
        first = _type(repo, shlex.join(words[:at]))
        return first if first[0] else _type(repo, shlex.join(words[at + 1 :]))
    if words[:2] == ["git", "ralph"]:
        done = repo.run(*words[2:])
        return done.code, done.said
    assert words[0] == "git", hint
    ran = subprocess.run(words, cwd=repo.root, env=repo.env, capture_output=True, check=False)
    return ran.returncode, ran.stderr.decode()


class _Walk:
    """Follows every hint from one scene on."""

    def __init__(self, folder: Path, may_end_with_nothing: bool = False) -> None:
        self.folder = folder
        self.may_end_with_nothing = may_end_with_nothing
        self.copies = 0

    def copy(self, repo: Repo) -> Repo:
        self.copies += 1
        root = self.folder / f"copy-{self.copies}"
        subprocess.run(["cp", "-a", str(repo.root), str(root)], check=True)
        return Repo(root, dict(repo.env), _clock=list(repo._clock))

    def follow(self, repo: Repo, after: tuple[str, ...], trail: list[str]) -> Done:
        """Try the commit; where it is refused, every hint must end in one that is made."""
        done = _commit(self.copy(repo), after)
        if done.code == 0:
            return done
        assert done.code == 4, (trail, done.code, done.said)
        assert len(trail) < DEEPEST, f"in a circle: {trail}\n{done.said}"
        hints = _hints(done)
        assert hints, (trail, done.said)
        for hint in hints:
            there = self.copy(repo)
            head = there.git("for-each-ref")
            code, said = _type(there, hint)
            assert code == 0, f"{[*trail, hint]}: {code}\n{said}\nafter:\n{done.said}"
            if not hint.startswith(f"git ralph commit --session {repo.called('S1')} "):
                self.follow(there, after, [*trail, hint])
            elif not self.may_end_with_nothing:
                assert there.git("for-each-ref") != head, f"{[*trail, hint]} committed nothing\n{said}"
        return done


@pytest.mark.parametrize(("reason", "make"), SCENES, ids=[make.__name__ for _, make in SCENES])
def test_every_hint_of_a_refusal_leads_to_a_commit(
    reason: str, make: Scene, repo: Repo, tmp_path: Path
) -> None:
    """Typed as shown, each by itself; and none of them leads back to where it began."""
    after = make(repo) or ()
    # nobody but the user can mend a filter
    walk = _Walk(tmp_path, may_end_with_nothing=reason == "filtered")
    first = walk.follow(repo, after, [])
    assert reason in {row["reason"] for row in first.json()["left"]}, first.text + first.said


@pytest.mark.parametrize(
    "make", [a_change_by_the_shell, deleted_by_nobody, an_ignored_file], ids=lambda make: make.__name__
)
def test_every_hint_after_a_commit_takes_what_was_left(make: Scene, repo: Repo, tmp_path: Path) -> None:
    """What is only left has a way too: typed, and committed once more, nothing is left."""
    after = make(repo) or ()
    walk = _Walk(tmp_path)
    first = _commit(repo, after)
    assert first.code == 0
    hints = _hints(first)
    assert hints, first.said
    for hint in hints:
        there = walk.copy(repo)
        code, said = _type(there, hint)
        assert code == 0, (hint, said)
        last = _commit(there, after)
        assert [row for row in last.json()["left"] if row["reason"] != "unchanged"] == [], (hint, last.said)


def test_what_a_person_wrote_around_a_sessions_lines_is_offered_to_be_given(repo: Repo) -> None:
    """And nothing that lies elsewhere; never to an agent; only where it lets the commit go on."""
    inside_a_humans_block(repo)
    repo.write("a", b"a human's\n" + (repo.read("a") or b""))
    first = _commit(repo, ())
    (hint,) = [one for one in _hints(first) if "assign" in one]
    assert hint.partition("  #")[0] == f"git ralph assign --to {repo.called('S1')} -- a:12-13 a:15"
    done = repo.run("commit", "--session", "S1", "-m", "x", env={"CLAUDE_CODE_SESSION_ID": "S1"})
    assert done.code == 4
    assert "assign" not in done.said
    assert _type(repo, hint)[0] == 0
    assert _commit(repo, ()).code == 0
    assert (repo.blob("a") or b"").decode() == TEN + "one\ntwo\nS1 inside\nthree\n"
    assert (repo.read("a") or b"").startswith(b"a human's\n")


def test_nothing_is_offered_to_be_given_that_leaves_it_refused(repo: Repo) -> None:
    inside_a_humans_line_that_was_another_before(repo)
    done = _commit(repo, ())
    assert done.code == 4
    assert "assign" not in done.said


def test_the_table_has_a_scene_for_every_reason() -> None:
    """The closed list of reasons, walked whole."""
    assert {reason for reason, _ in SCENES} == REASONS


@pytest.mark.parametrize("name", ["a b", "it's", "*", "-x", ":x", "[a]", "tab\there", "-\t%s", "é"])
def test_a_hint_is_typed_into_a_shell_as_it_stands(repo: Repo, name: str) -> None:
    """Awkward names, from a subdirectory, through a real shell."""
    repo.edit("S2", f"d/{name}", b"\0one")
    repo.edit("S1", f"d/{name}", b"\0two")
    done = repo.run("commit", "--session", "S1", "-m", "x", cwd="d")
    assert done.code == 4
    (hint,) = [row for row in _hints(done) if "--whole-file" in row]
    repo.ralph(*shells.words_of(hint, repo.file("d"), repo.env), cwd="d")
    assert list(repo.changes()) == [f"d/{name}"]

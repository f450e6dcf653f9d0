"""One file, several hands."""

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.repo import Repo
from tests.support.texts import TEN

LINES = "".join(f"line {n}\n" for n in range(1, 101))


@pytest.fixture
def shared(repo: Repo) -> Repo:
    """A repository whose ``a`` and ``INDEX.md`` have a hundred lines."""
    repo.write("a", LINES)
    repo.write("INDEX.md", LINES)
    repo.commit_all("a hundred lines")
    return repo


def line(n: int) -> str:
    return f"line {n}\n"


def put(repo: Repo, path: str, n: int, text: str) -> str:
    """The file's text with ``line n`` replaced."""
    now = (repo.read(path) or b"").decode()
    assert line(n) in now
    return now.replace(line(n), text)


def edit(repo: Repo, session: str | None, path: str, n: int, text: str) -> None:
    """``session`` (None: the user) replaces ``line n``."""
    after = put(repo, path, n, text)
    if session is None:
        repo.write(path, after)
    else:
        repo.edit(session, path, after)


def head(repo: Repo, path: str = "a") -> str:
    return repo.blob(path).decode()


def overlap(repo: Repo) -> None:
    """S2 rewrote part of a line that S1 had changed, and edited ``c`` too."""
    edit(repo, "S1", "INDEX.md", 40, "alpha beta gamma\n")
    text = (repo.read("INDEX.md") or b"").decode()
    repo.edit("S2", "INDEX.md", text.replace("alpha beta gamma", "alpha beta delta"))
    repo.edit("S2", "c", "c\n")


def test_lines_the_user_changed_before_stay_out(shared: Repo) -> None:
    edit(shared, None, "a", 3, "the user's\n")
    edit(shared, "S1", "a", 90, "the session's\n")
    answer = shared.commit("S1")
    assert answer.paths == {"a": "M"}
    assert head(shared) == LINES.replace(line(90), "the session's\n")
    assert "the user's" in shared.git("diff")
    assert "the session's" not in shared.git("diff")


def test_lines_the_user_changed_afterwards_stay_out(shared: Repo) -> None:
    edit(shared, "S1", "a", 90, "the session's\n")
    edit(shared, None, "a", 3, "the user's\n")
    shared.commit("S1")
    assert head(shared) == LINES.replace(line(90), "the session's\n")
    assert "the user's" in shared.git("diff")


def test_two_sessions_commit_separate_hunks(shared: Repo) -> None:
    shared.edit("S1", "INDEX.md", "top of S1\n" + LINES)
    shared.edit("S2", "INDEX.md", "top of S1\n" + LINES + "bottom of S2\n")
    shared.commit("S1")
    assert head(shared, "INDEX.md") == "top of S1\n" + LINES
    shared.commit("S2")
    assert shared.blob("INDEX.md") == shared.read("INDEX.md")
    assert shared.git("show", "--numstat", "--format=").split()[:2] == ["1", "0"]


def test_overlap_is_refused_whole(shared: Repo) -> None:
    overlap(shared)
    answer = shared.commit("S2", code=4)
    assert answer.left == {"INDEX.md": "entangled"}
    row = answer.document["left"][0]
    assert row["sessions"] == ["S1"]
    assert row["lines"] == [40, 40]
    assert f"'{shared.called('S1')}'" in answer.said
    assert "hint:" in answer.said
    assert "--skip-entangled" in answer.said
    assert shared.pending("S2") == ["INDEX.md", "c"]


def test_the_overwritten_session_commits_none_of_the_others_words(shared: Repo) -> None:
    overlap(shared)
    answer = shared.commit("S1")
    assert answer.status == "committed"
    assert head(shared, "INDEX.md") == LINES.replace(line(40), "alpha beta gamma\n")
    assert "delta" in shared.git("diff")
    shared.commit("S2")
    assert shared.blob("INDEX.md") == shared.read("INDEX.md")
    assert shared.changes() == {"INDEX.md": "M", "c": "A"}


def test_skip_entangled_commits_the_rest(shared: Repo) -> None:
    overlap(shared)
    edit(shared, "S2", "INDEX.md", 80, "separable\n")
    answer = shared.commit("S2", "--skip-entangled")
    assert answer.paths == {"INDEX.md": "M", "c": "A"}
    assert answer.left == {"INDEX.md": "entangled"}
    assert head(shared, "INDEX.md") == LINES.replace(line(80), "separable\n")
    assert shared.pending("S2") == ["INDEX.md"]
    shared.commit("S1")
    shared.commit("S2")
    assert shared.blob("INDEX.md") == shared.read("INDEX.md")
    assert shared.pending("S2") == []


def test_include_entangled_names_whom_it_took_from(shared: Repo) -> None:
    overlap(shared)
    edit(shared, "S1", "INDEX.md", 80, "elsewhere by S1\n")
    answer = shared.commit("S2", "--include-entangled")
    assert answer.paths == {"INDEX.md": "M", "c": "A"}
    assert head(shared, "INDEX.md") == LINES.replace(line(40), "alpha beta delta\n")
    assert "Ralph-Includes: S1" in shared.trailers()
    assert "Ralph-Session: S2" in shared.trailers()
    assert shared.pending("S1") == ["INDEX.md"]
    shared.commit("S1")
    assert shared.blob("INDEX.md") == shared.read("INDEX.md")
    assert shared.pending("S1") == []


def test_all_of_the_other_sessions_units_taken(shared: Repo) -> None:
    overlap(shared)
    shared.commit("S2", "--include-entangled")
    assert shared.pending("S1") == []
    assert shared.commit("S1").status == "nothing"


def test_whole_file_takes_the_file_as_it_stands(shared: Repo) -> None:
    overlap(shared)
    edit(shared, None, "INDEX.md", 60, "the user's\n")
    shared.ralph("commit", "--session", "S2", "-m", "x", "--whole-file", code=129)
    answer = shared.commit("S2", "--whole-file", "--", "INDEX.md")
    assert answer.how == {"INDEX.md": "whole-file"}
    assert shared.blob("INDEX.md") == shared.read("INDEX.md")
    assert shared.pending("S1") == []
    assert shared.pending("S2") == ["c"]


def test_adjacent_lines_of_two_sessions(shared: Repo) -> None:
    """Line 10 of one session and line 11 of another: each commit has exactly its own."""
    edit(shared, "S1", "a", 10, "ten of S1\n")
    edit(shared, "S2", "a", 11, "eleven of S2\n")
    shared.commit("S1")
    assert head(shared) == LINES.replace(line(10), "ten of S1\n")
    shared.commit("S2")
    assert shared.blob("a") == shared.read("a")


@pytest.mark.parametrize("end", ["\n", ""])
def test_both_append_and_each_commits_its_own(shared: Repo, end: str) -> None:
    shared.write("a", LINES + "last" + end)
    shared.commit_all("a last line")
    base = LINES + "last" + end
    glue = "" if end else "\n"
    shared.edit("S2", "a", base + glue + "of S2\n")
    shared.edit("S1", "a", base + glue + "of S2\nof S1\n")
    answer = shared.commit("S1")
    assert answer.status == "committed"
    assert "of S2" not in head(shared)
    assert head(shared).endswith("of S1\n")
    shared.commit("S2")
    assert shared.blob("a") == shared.read("a")


def test_last_of_three_layers_in_one_line_wins(shared: Repo) -> None:
    """Two sessions replaced one line in turn: the last version is committed, a note tells the other."""
    edit(shared, "S1", "a", 50, "first words here\n")
    text = LINES.replace(line(50), "other thing entirely\n")
    shared.edit("S2", "a", text)
    shared.edit("S1", "a", LINES.replace(line(50), "last version stands\n"))
    answer = shared.commit("S1")
    assert head(shared) == LINES.replace(line(50), "last version stands\n")
    assert shared.called("S2") in answer.notes
    assert shared.commit("S2").status == "nothing"


def test_what_another_session_removed_is_not_committed(shared: Repo) -> None:
    block = "block one\nblock two\nblock three\n"
    shared.edit("S1", "a", LINES.replace(line(50), line(50) + block))
    shared.edit("S2", "a", LINES)
    answer = shared.commit("S1")
    assert answer.status == "nothing"
    assert shared.pending("S1") == []


def test_the_note_names_who_undid_it(shared: Repo) -> None:
    block = "block one\nblock two\nblock three\n"
    shared.edit("S1", "a", LINES.replace(line(50), line(50) + block))
    shared.edit("S2", "a", LINES.replace(line(90), "ninety of S2\n"))
    answer = shared.commit("S1")
    assert answer.status == "nothing"
    assert shared.called("S2") in answer.notes
    assert shared.pending("S1") == []


def test_a_removal_of_part_stays_with_who_removed(shared: Repo) -> None:
    block = "block one\nblock two\nblock three\n"
    shared.edit("S1", "a", LINES.replace(line(50), line(50) + block))
    shared.edit("S2", "a", LINES.replace(line(50), line(50) + "block one\nblock three\n"))
    shared.commit("S1")
    assert head(shared) == LINES.replace(line(50), line(50) + block)
    assert "-block two" in shared.git("diff")


def test_whole_rewrite_with_one_line_changed_is_that_line(shared: Repo) -> None:
    edit(shared, "S2", "a", 20, "twenty of S2\n")
    text = (shared.read("a") or b"").decode()
    shared.edit("S1", "a", text.replace(line(70), "seventy of S1\n"))
    shared.commit("S1")
    assert head(shared) == LINES.replace(line(70), "seventy of S1\n")


def test_write_from_a_stale_read_is_refused(shared: Repo) -> None:
    """A whole file written from a text that lacked another's lines is refused, naming whose were lost."""
    edit(shared, "S1", "a", 10, line(10) + "added by S1\n")
    shared.edit("S2", "a", LINES.replace(line(80), "eighty of S2\n"), before=LINES)
    answer = shared.commit("S2", code=4)
    assert answer.left == {"a": "stale"}
    assert answer.document["left"][0]["sessions"] == ["S1"]


def test_insertion_into_anothers_new_block(shared: Repo) -> None:
    """Lines put into another's pending block are refused; the block is committed without them."""
    block = "def f():\n    one()\n    two()\n    return\n"
    shared.edit("S1", "a", LINES.replace(line(50), line(50) + block))
    text = (shared.read("a") or b"").decode()
    shared.edit("S2", "a", text.replace("    two()\n", "    by_s2()\n    two()\n"))
    assert shared.commit("S2", code=4).left == {"a": "entangled"}
    shared.commit("S1")
    assert head(shared) == LINES.replace(line(50), line(50) + block)
    shared.commit("S2")
    assert shared.blob("a") == shared.read("a")


def test_formatter_after_the_hook_is_never_silently_the_sessions(shared: Repo) -> None:
    shared.git("config", "ralph.unrecorded", "leave")
    edit(shared, "S1", "a", 50, "x=1\n")
    text = (shared.read("a") or b"").decode()
    shared.write("a", text.replace("x=1\n", "x = 1\n"))
    answer = shared.commit("S1")
    assert answer.status == "committed"
    assert head(shared) == LINES.replace(line(50), "x=1\n")
    assert "+x = 1" in shared.git("diff")


def test_line_ends_converted_by_another_are_refused(shared: Repo) -> None:
    crlf = LINES.replace("\n", "\r\n")
    shared.edit("S2", "a", crlf)
    shared.edit("S1", "a", crlf.replace("line 5\r\n", "five of S1\r\n"))
    assert "a" in shared.commit("S1", code=4).left


def test_restored_then_rewritten_by_the_user_takes_no_word_of_his(shared: Repo) -> None:
    """An edit was taken back and the user wrote something else there: none of his text is committed."""
    edit(shared, "S1", "a", 50, "words of S1\n")
    shared.git("checkout", "--", "a")
    edit(shared, None, "a", 50, "the user wrote otherwise\n")
    assert shared.commit("S1").status == "nothing"
    assert head(shared) == LINES
    assert "the user wrote" in shared.git("diff")


@pytest.mark.parametrize("order", list(itertools.permutations(["S1", "S2", "S3"])))
def test_any_order_of_commits_has_one_end(shared: Repo, order: tuple[str, ...]) -> None:
    """Three sessions commit in any of six orders: HEAD ends the same, and is the working tree."""
    for n, session in ((20, "S1"), (50, "S2"), (80, "S3"), (21, "S2"), (51, "S3"), (81, "S1")):
        edit(shared, session, "a", n, f"{n} of {session}\nand more\n")
    for session in order:
        assert shared.commit(session).status == "committed"
        added = [row for row in shared.git("show", "--format=").splitlines() if row.startswith("+")]
        assert all(session in row for row in added if " of " in row)
    assert shared.blob("a") == shared.read("a")


def test_head_changed_the_file_meanwhile_and_both_lines_stand(shared: Repo) -> None:
    edit(shared, "S1", "a", 90, "ninety of S1\n")
    text = (shared.read("a") or b"").decode()
    shared.write("a", LINES.replace(line(3), "three of the user\n"))
    shared.commit_all("the user's own")
    shared.write("a", text.replace(line(3), "three of the user\n"))
    shared.commit("S1")
    expected = LINES.replace(line(3), "three of the user\n").replace(line(90), "ninety of S1\n")
    assert head(shared) == expected


def test_committed_by_add_p(shared: Repo) -> None:
    edit(shared, "S1", "a", 90, "ninety of S1\n")
    edit(shared, None, "a", 3, "three of the user\n")
    blob = LINES.replace(line(3), "three of the user\n").encode()
    oid = shared.git("hash-object", "-w", "--stdin", stdin=blob)
    shared.git("update-index", "--cacheinfo", f"100644,{oid},a")
    shared.tick()
    shared.git("commit", "-q", "-m", "only line 3")
    shared.commit("S1")
    assert shared.blob("a") == shared.read("a")
    assert shared.git("status", "--porcelain") == ""


def test_why_names_the_agent_id(shared: Repo) -> None:
    after = put(shared, "a", 50, "by a subagent\n")
    shared.edit("S1", "a", after, fields={"agent_id": "agent-7"})
    assert "agent-7" in shared.ralph("why", "a:50").text


def test_shell_change_in_a_file_also_edited_by_tool_stays_out(shared: Repo) -> None:
    edit(shared, "S1", "a", 90, "by the tool\n")
    edit(shared, None, "a", 10, "by the shell\n")
    shared.commit("S1")
    assert head(shared) == LINES.replace(line(90), "by the tool\n")
    assert "+by the shell" in shared.git("diff")


def test_shell_and_tool_overlap_is_refused(shared: Repo) -> None:
    edit(shared, None, "a", 10, "one two three by the shell\n")
    text = (shared.read("a") or b"").decode()
    shared.edit("S1", "a", text.replace("one two three by the shell", "one two three by the tool"))
    assert shared.commit("S1", code=4).left == {"a": "entangled"}


def test_a_binary_file_is_committed_whole_or_refused(shared: Repo) -> None:
    shared.edit("S1", "bin", b"\0\1\2" * 50)
    shared.edit("S2", "bin", b"\0\1\2" * 50 + b"more")
    assert shared.commit("S1", code=4).left == {"bin": "contested"}
    shared.edit("S1", "alone", b"\0\7" * 20)
    assert shared.commit("S1", "--", "alone").how == {"alone": "edits"}
    assert shared.blob("alone") == b"\0\7" * 20


@pytest.mark.parametrize("how", ["autocrlf", "eol"])
def test_some_lines_of_a_shared_crlf_file(shared: Repo, how: str) -> None:
    if how == "autocrlf":
        shared.git("config", "core.autocrlf", "true")
    else:
        shared.write(".gitattributes", "a text eol=crlf\n")
        shared.commit_all("attributes")
    shared.remove("a")
    shared.git("checkout", "--", "a")
    crlf = (shared.read("a") or b"").decode()
    assert "\r\n" in crlf
    shared.edit("S1", "a", crlf.replace("line 10\r\n", "ten of S1\r\n"))
    text = (shared.read("a") or b"").decode()
    shared.edit("S2", "a", text.replace("line 60\r\n", "sixty of S2\r\n"))
    shared.commit("S1")
    assert head(shared) == LINES.replace(line(10), "ten of S1\n")
    shared.commit("S2")
    assert shared.git("status", "--porcelain") == ""
    assert "\r" not in head(shared)


@pytest.fixture
def filtered(shared: Repo) -> Repo:
    """A repository in which git stores ``x.f`` in capital letters."""
    shared.git("config", "filter.up.clean", "tr a-z A-Z")
    shared.git("config", "filter.up.smudge", "tr A-Z a-z")
    shared.git("config", "filter.up.required", "true")
    shared.write(".gitattributes", "*.f filter=up\n")
    shared.write("x.f", LINES)
    shared.commit_all("filtered")
    return shared


def test_a_filtered_file_is_committed_whole_or_refused(filtered: Repo) -> None:
    shared = filtered
    edit(shared, "S1", "x.f", 10, "alone\n")
    shared.commit("S1")
    assert head(shared, "x.f") == LINES.replace(line(10), "alone\n").upper()
    edit(shared, "S1", "x.f", 20, "of one\n")
    edit(shared, "S2", "x.f", 60, "of two\n")
    assert shared.commit("S1", code=4).left == {"x.f": "filtered"}


def test_a_filtered_file_that_is_committed_is_nobodys_work(filtered: Repo) -> None:
    """Only a filter tells that such a file is as in HEAD: undo took a commit back, the next had to wait."""
    edit(filtered, "S1", "x.f", 10, "of one\n")
    assert filtered.commit("S1").paths == {"x.f": "M"}
    assert filtered.ralph("undo", "--session", "S1", "--json").json()["status"] == "nothing"
    edit(filtered, "S2", "x.f", 60, "of two\n")
    assert filtered.ralph("undo", "--session", "S1", "--json").json()["status"] == "nothing"
    assert filtered.ralph("undo", "--session", "S2", "--json").json()["status"] == "undone"
    assert filtered.ralph("undo", "--session", "S2", "--redo", "--json").json()["status"] == "redone"
    assert filtered.commit("S2").paths == {"x.f": "M"}
    edit(filtered, None, "x.f", 80, "of nobody\n")
    filtered.commit(None, "--mine")
    whole = LINES.replace(line(10), "of one\n").replace(line(60), "of two\n")
    assert head(filtered, "x.f") == whole.replace(line(80), "of nobody\n").upper()


def test_status_knows_a_filtered_file_that_is_committed(filtered: Repo) -> None:
    """It runs no filter, so it asks git's index, and the commit lets git look at the file."""
    edit(filtered, "S1", "x.f", 10, "of one\n")
    # git compares whole seconds: a file as young as its index is read again
    an_hour_ago = time.time() - 3600
    os.utime(filtered.root / "x.f", (an_hour_ago, an_hour_ago))
    filtered.commit("S1")
    assert filtered.ralph("status", "--json").json()["paths"] == []


def test_a_required_filter_that_fails(shared: Repo) -> None:
    shared.write(".gitattributes", "*.f filter=bad\n")
    shared.commit_all("attributes")
    shared.git("config", "filter.bad.clean", "false")
    shared.git("config", "filter.bad.required", "true")
    shared.edit("S1", "x.f", "text\n")
    assert shared.commit("S1", code=4).left == {"x.f": "filtered"}


def test_bytes_are_exact(shared: Repo) -> None:
    base = b"".join(b"caf\xe9 %d \xff\xfe\n" % n for n in range(100))
    shared.write("latin", base)
    shared.commit_all("latin")
    one = base.replace(b"caf\xe9 10 ", b"th\xe9 10 ")
    two = one.replace(b"caf\xe9 80 ", b"l\xe0it 80 " + b"x" * 200_000)
    shared.edit("S1", "latin", one)
    shared.edit("S2", "latin", two)
    shared.commit("S2")
    assert shared.blob("latin") == base.replace(b"caf\xe9 80 ", b"l\xe0it 80 " + b"x" * 200_000)
    shared.commit("S1")
    assert shared.blob("latin") == two


def test_too_large_to_tell_apart(shared: Repo) -> None:
    big = "0123456789abcdef\n" * 400_000
    shared.edit("S1", "big", big)
    answer = shared.commit("S1")
    assert answer.how == {"big": "whole-file"}
    shared.edit("S1", "big", big + "of S1\n")
    shared.edit("S2", "big", "of S2\n" + big + "of S1\n")
    assert shared.commit("S1", code=4).left == {"big": "too-large"}


def test_empty_file_and_no_final_newline(shared: Repo) -> None:
    shared.edit("S1", "empty", "")
    shared.edit("S1", "open", "no newline")
    shared.commit("S1")
    assert shared.blob("empty") == b""
    assert shared.blob("open") == b"no newline"


def stage(repo: Repo, path: str, text: str) -> None:
    oid = repo.git("hash-object", "-w", "--stdin", stdin=text.encode())
    repo.git("update-index", "--cacheinfo", f"100644,{oid},{path}")


def test_a_path_the_user_staged_keeps_its_staged_change(shared: Repo) -> None:
    edit(shared, None, "a", 20, "staged by the user\n")
    shared.git("add", "a")
    edit(shared, "S1", "a", 70, "seventy of S1\n")
    shared.commit("S1", checked=False)
    assert head(shared) == LINES.replace(line(70), "seventy of S1\n")
    said = shared.git("diff", "--cached", "-U0")
    assert "+staged by the user" in said
    assert "seventy" not in said
    assert shared.git("diff") == ""


def test_hunks_staged_with_add_p_stay_staged(shared: Repo) -> None:
    edit(shared, None, "a", 20, "staged by the user\n")
    edit(shared, None, "a", 40, "not staged\n")
    stage(shared, "a", LINES.replace(line(20), "staged by the user\n"))
    edit(shared, "S1", "a", 70, "seventy of S1\n")
    shared.commit("S1", checked=False)
    said = shared.git("diff", "--cached", "-U0")
    assert "+staged by the user" in said
    assert "not staged" not in said
    assert "+not staged" in shared.git("diff")


def test_conflict_with_the_staged_is_refused_before_anything_moves(shared: Repo) -> None:
    edit(shared, "S1", "a", 70, "seventy of S1\n")
    stage(shared, "a", LINES.replace(line(70), "seventy of the user, staged\n"))
    answer = shared.commit("S1", code=4)
    assert answer.left == {"a": "entangled"}
    assert "staged" in answer.said


def test_user_rewinds_head(shared: Repo) -> None:
    edit(shared, "S1", "a", 70, "seventy of S1\n")
    shared.commit("S1")
    shared.git("reset", "-q", "--hard", "HEAD^")
    assert shared.pending("S1") == []
    assert shared.commit("S1").status == "nothing"


def test_stash_and_pop_brings_the_edits_back(shared: Repo) -> None:
    edit(shared, "S1", "a", 70, "seventy of S1\n")
    edit(shared, "S2", "a", 20, "twenty of S2\n")
    shared.git("stash", "-q")
    assert shared.commit("S1").status == "nothing"
    shared.write("u", "something of the user\n")
    shared.commit_all("the user's")
    shared.git("stash", "pop", "-q")
    shared.commit("S1")
    assert head(shared) == LINES.replace(line(70), "seventy of S1\n")
    shared.commit("S2")
    assert shared.blob("a") == shared.read("a")


def test_branch_switched_and_the_content_fits(shared: Repo) -> None:
    shared.start("S1")
    edit(shared, "S1", "a", 70, "seventy of S1\n")
    shared.git("checkout", "-q", "-b", "other")
    answer = shared.commit("S1")
    assert head(shared) == LINES.replace(line(70), "seventy of S1\n")
    assert "other" in answer.notes


def test_branch_switched_and_the_content_does_not_fit(shared: Repo) -> None:
    shared.git("checkout", "-q", "-b", "other")
    shared.write("a", LINES.replace(line(70), "seventy is otherwise here\n"))
    shared.commit_all("other text")
    shared.git("checkout", "-q", "-")
    edit(shared, "S1", "a", 70, "seventy of S1\n")
    after = shared.read("a") or b""
    shared.git("stash", "-q")
    shared.git("checkout", "-q", "other")
    shared.write("a", after)
    assert shared.commit("S1", code=4).left == {"a": "stale"}


def test_why_names_who_wrote_a_line(shared: Repo) -> None:
    edit(shared, "S1", "a", 70, "seventy of S1\n")
    said = shared.ralph("why", "a:70").text
    assert shared.called("S1") in said
    assert "pending" in said
    edit(shared, None, "a", 20, "twenty of nobody\n")
    assert "nobody" in shared.ralph("why", "a:20").text
    shared.commit("S1")
    said = shared.ralph("why", "a:70").text
    assert shared.head()[:7] in said
    assert shared.called("S1") in said


def test_new_file_by_one_extended_by_another(shared: Repo) -> None:
    shared.edit("S1", "n", "one\ntwo\nthree\n", before=None)
    shared.edit("S2", "n", "one\ntwo\nthree\nfour of S2\n")
    assert shared.commit("S2", code=4).left == {"n": "entangled"}
    shared.commit("S1")
    assert head(shared, "n") == "one\ntwo\nthree\n"
    shared.commit("S2")
    assert shared.blob("n") == shared.read("n")


def test_delete_while_another_has_edits_pending(shared: Repo) -> None:
    edit(shared, "S1", "a", 20, "twenty of S1\n")
    shared.delete("S2", "a")
    assert shared.commit("S2", code=4).left == {"a": "contested"}
    shared.commit("S1")
    assert head(shared) == LINES.replace(line(20), "twenty of S1\n")
    shared.commit("S2")
    assert shared.changes() == {"a": "D"}


def test_mode_change_beside_content(shared: Repo, make_repo: Callable[[str], Repo], tmp_path: Path) -> None:
    edit(shared, "S1", "a", 20, "twenty of S1\n")
    text = shared.read("a") or b""
    shared.edit("S2", "a", text, before=text, mode=0o755)
    shared.commit("S1")
    assert shared.mode("a") == "100644"
    shared.commit("S2")
    assert shared.mode("a") == "100755"


def test_a_pending_removal_outlives_a_commit_that_supersedes_the_sessions_other_edit(repo: Repo) -> None:
    """S1 has its own lines and replaced one of S2's; S2 had also taken out a line of S1's."""
    both = TEN.replace("line 9\n", "line 9\none\ntwo\n")
    repo.edit("S1", "a", both)
    repo.edit("S2", "a", both.replace("two\n", ""))
    third = both.replace("two\n", "").replace("line 2\n", "line 2\nS2\n")
    repo.edit("S2", "a", third)
    repo.edit("S1", "a", third.replace("S2\n", "S1 instead\n"))
    repo.commit("S1")
    assert repo.blob("a") == both.replace("line 2\n", "line 2\nS1 instead\n").encode()
    repo.commit("S2")
    assert repo.blob("a") == third.replace("S2\n", "S1 instead\n").encode()


def test_a_removal_larger_than_what_stood_for_it_is_not_absorbed(shared: Repo) -> None:
    shared.write("a", "the user's only line\n")
    shared.edit("S1", "a", "something else by S1\n")
    assert shared.commit("S1", code=4).left == {"a": "entangled"}
    shared.write("a", "the user again\n")
    assert (
        "a"
        in shared.commit(
            "S1",
        ).left
    )
    assert head(shared) == LINES


def test_a_rename_onto_an_existing_file_replaces_it_whole(shared: Repo) -> None:
    shared.rename("S1", "a", "INDEX.md")
    answer = shared.commit("S1")
    assert answer.paths == {"a": "D"}
    assert head(shared, "INDEX.md") == LINES
    shared.write("b", "others\n")
    shared.commit_all("other text")
    shared.rename("S1", "b", "INDEX.md")
    shared.commit("S1")
    assert head(shared, "INDEX.md") == "others\n"
    assert shared.git("status", "--porcelain") == ""


def test_made_anew_over_a_text_that_nobody_removed(shared: Repo) -> None:
    shared.remove("a")
    shared.edit("S1", "a", "new\n", before=None)
    assert shared.commit("S1", code=4).left == {"a": "contested"}


def test_deleted_by_one_and_made_anew_by_another(shared: Repo) -> None:
    shared.delete("S1", "a")
    shared.edit("S2", "a", "new\n", before=None)
    assert shared.commit("S2", code=4).left == {"a": "contested"}


def test_a_file_in_place_of_a_folder_takes_nobody_elses_deletion(shared: Repo) -> None:
    for name in ("x", "y"):
        shared.write(f"folder/{name}", name)
    shared.commit_all("a folder")
    shared.delete("S1", "folder/x")
    shared.delete("S2", "folder/y")
    shared.file("folder").rmdir()
    shared.edit("S1", "folder", "a file\n", before=None)
    assert shared.commit("S1", code=4).left == {"folder": "contested"}
    shared.commit("S2")
    answer = shared.commit("S1")
    assert answer.paths == {"folder": "A", "folder/x": "D"}


def test_a_staged_file_in_a_folder_that_becomes_a_file(shared: Repo) -> None:
    shared.write("folder/x", "x")
    shared.commit_all("a folder")
    shared.write("folder/u", "staged")
    shared.git("add", "folder/u")
    shared.remove("folder/u")
    shared.delete("S1", "folder/x")
    shared.file("folder").rmdir()
    shared.edit("S1", "folder", "a file\n", before=None)
    assert shared.commit("S1", code=4).left == {"folder": "entangled"}


def test_a_folder_in_place_of_a_file_that_nobody_removed(shared: Repo) -> None:
    shared.remove("a")
    shared.edit("S1", "a/x", "x\n", before=None)
    shared.edit("S1", "c", "c\n")
    assert shared.commit("S1", code=4).left == {"a/x": "contested"}
    answer = shared.commit("S1", "--skip-entangled")
    assert answer.paths == {"c": "A"}
    assert shared.pending("S1") == ["a/x"]


def test_staged_text_with_the_lines_of_others_is_merged(shared: Repo) -> None:
    edit(shared, None, "a", 20, "the user's\n")
    edit(shared, "S2", "a", 40, "of S2\n")
    shared.git("add", "a")
    edit(shared, "S1", "a", 80, "of S1\n")
    shared.commit("S1", checked=False)
    said = shared.git("diff", "--cached", "-U0")
    assert "+the user's" in said
    assert "+of S2" in said
    assert "of S1" not in said

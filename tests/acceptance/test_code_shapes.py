"""Edits that end in the same lines as what stands beside them, as functions do: braces, blank lines."""

import pytest

from tests.support.repo import Repo
from tests.support.texts import TEN, changed

JS = "import fs;\n\n" + "\n".join(
    f"function base_{name}() {{\n  return {number};\n}}\n" for number, name in enumerate("abc", 1)
)
B = "function base_b"
WHOLE_B = "function base_b() {\n  return 2;\n}\n\n"
PYTHON = "import os\n\n\ndef base_a(x):\n    result = 1\n    return result\n"


def _function(of: str) -> str:
    return f"function {of}_f() {{\n  {of}_g();\n}}\n\n"


def _definition(of: str) -> str:
    return f"\n\ndef {of}_f(x):\n    result = {of}()\n    return result\n"


def _start(repo: Repo, text: str) -> None:
    repo.write("f", text)
    repo.commit_all("f")


def _head(repo: Repo) -> str:
    return repo.blob("f").decode()


@pytest.mark.parametrize("whose", [None, "S2"])
def test_a_function_behind_a_pending_one_and_another_change(repo: Repo, whose: str | None) -> None:
    """The change elsewhere makes two hunks of one step; the later one is read as everywhere."""
    _start(repo, JS)
    mine = JS.replace(B, _function("s1") + B)
    repo.edit("S1", "f", mine)
    text = mine.replace(B, _function("other") + B).replace("return 1", "return other_1")
    repo.edit(whose, "f", text) if whose else repo.write("f", text)
    repo.commit("S1")
    assert _head(repo) == mine
    if whose:
        repo.commit(whose)
        assert _head(repo) == text


def test_a_definition_at_the_end_behind_a_pending_one(repo: Repo) -> None:
    _start(repo, PYTHON)
    repo.edit("S1", "f", PYTHON + _definition("s1"))
    others = PYTHON.replace("import os", "import os, other")
    repo.write("f", others + _definition("s1") + _definition("other"))
    repo.commit("S1")
    assert _head(repo) == PYTHON + _definition("s1")


def test_functions_on_both_sides_of_a_pending_one(repo: Repo) -> None:
    _start(repo, JS)
    mine = JS.replace(B, _function("s1") + B)
    repo.edit("S1", "f", mine)
    repo.write("f", JS.replace(B, _function("one") + _function("s1") + _function("two") + B))
    repo.commit("S1")
    assert _head(repo) == mine


def test_a_removed_function_behind_a_pending_one(repo: Repo) -> None:
    _start(repo, JS)
    now = JS.replace(B, _function("s2") + B)
    repo.edit("S2", "f", now)
    repo.edit("S1", "f", now.replace("return 1", "return s1_1").replace(WHOLE_B, ""))
    repo.commit("S1")
    assert _head(repo) == JS.replace("return 1", "return s1_1").replace(WHOLE_B, "")
    repo.commit("S2")
    assert repo.blob("f") == repo.read("f")


BASE = "import fs;\n\nfunction base_z() {\n  return 0;\n}\n"
HELD = BASE.replace(
    "function base_z", "function s1_a() {\n  if (x) {\n    s1_b();\n  }\n}\n\nfunction base_z"
)
CALL = HELD.replace("    s1_b();\n", "    s1_b();\n    s1_b();\n")
WRAP = HELD.replace("  if (x) {\n    s1_b();\n  }\n", "  if (x) {\n  if (x) {\n    s1_b();\n  }\n  }\n")
BLOCK = HELD.replace("    s1_b();\n  }\n", "    s1_b();\n  }\n  if (x) {\n    s1_b();\n  }\n")
MORE = HELD.replace("    s1_b();\n", "    s1_b();\n    s2_x();\n    s1_b();\n")


@pytest.mark.parametrize("who", ["S1", "S2"])
@pytest.mark.parametrize("after", [CALL, WRAP, BLOCK, MORE])
def test_lines_equal_to_those_of_head_are_whose_who_wrote_them(repo: Repo, after: str, who: str) -> None:
    """S1's function was committed by hand, S2 wrote lines that it has too, and HEAD moved elsewhere."""
    _start(repo, BASE)
    repo.edit("S1", "f", HELD)
    repo.commit_all("by hand")
    repo.git("checkout", "-q", "-b", "up")
    repo.write("f", HELD.replace("return 0", "return up_0"))
    repo.commit_all("up")
    repo.git("checkout", "-q", "main")
    repo.edit("S2", "f", after)
    repo.git("stash", "-q")
    repo.git("merge", "-q", "up")
    repo.git("stash", "pop", "-q")
    answer = repo.commit(who)
    if who == "S1":
        assert answer.status == "nothing"
    else:
        assert repo.blob("f") == repo.read("f")


@pytest.mark.parametrize("back", ["uncommit", "soft", "mixed"])
def test_a_committed_line_that_a_formatter_indents_follows_when_the_commit_is_taken_back(
    repo: Repo, back: str
) -> None:
    mine = "  s1_a();\n    s1_b();\n  s1_c();\n"
    _start(repo, JS)
    repo.edit("S1", "f", JS.replace("  return 2;\n", mine + "  return 2;\n"))
    repo.commit("S1")
    text = _head(repo).replace("    s1_b", "  s1_b")
    repo.write("f", text)
    repo.ralph("uncommit") if back == "uncommit" else repo.git("reset", "-q", f"--{back}", "HEAD~1")
    repo.commit("S1")
    assert _head(repo) == text


def test_a_line_left_out_of_an_edit_is_told(repo: Repo) -> None:
    """Whoever rewrote it may have been git: HEAD lost the commit that held it."""
    _start(repo, "base_1\nbase_2\nbase_3\n")
    repo.edit("S1", "f", "base_1\ns1_2\ns1_x\nbase_3\n")
    repo.commit("S1")
    repo.write("f", "base_1\nperson_2\ns1_x\nbase_3\n")
    repo.ralph("uncommit")
    answer = repo.commit("S1")
    assert _head(repo) == "base_1\ns1_x\nbase_3\n"
    assert "'f' line 2: " in answer.notes
    assert "somebody without a session" in answer.notes
    assert "is left to it" in answer.notes


def _stage_and_commit(repo: Repo, text: str) -> None:
    """What `git add -p` and `git commit` make; the file stays."""
    oid = repo.git("hash-object", "-w", "--stdin", stdin=text.encode()).strip()
    repo.git("update-index", "--cacheinfo", f"100644,{oid},f")
    repo.git("commit", "-q", "-m", "add -p")


def test_a_removed_line_stays_out_where_part_of_the_file_was_committed_by_hand(repo: Repo) -> None:
    """HEAD has one of two equal lines: the one that was there first, with the edit it came by."""
    _start(repo, "base_a\n")
    repo.edit("S1", "f", "base_a\n    return null;\n  }\n  s1_7;\n")
    repo.commit_all("all")
    repo.edit("S2", "f", "base_a\n    return null;\n  }\n")
    repo.edit("S1", "f", "base_a\n    return null;\n  }\n  s1_else;\n")
    repo.edit("S2", "f", "base_a\n    return null;\n  }\n  s2_11;\n  s1_else;\n")
    repo.edit("S1", "f", "base_a\n    return null;\n    return null;\n  }\n  s2_11;\n  s1_else;\n")
    _stage_and_commit(repo, "base_a\n    return null;\n  }\n  s2_11;\n")
    repo.commit("S1")
    assert repo.blob("f") == repo.read("f")


def test_one_of_two_equal_lines_that_a_commit_lost_comes_back(repo: Repo) -> None:
    _start(repo, "  }\n  if (x) {\n    base_3;\n")
    repo.edit("S2", "f", "  if (x) {\n  if (x) {\n    base_3;\n")
    repo.edit("S1", "f", "  if (x) {\n  if (x) {\n")
    repo.commit("S2")
    repo.ralph("uncommit")
    _stage_and_commit(repo, "  }\n  if (x) {\n")
    repo.commit("S2")
    assert repo.blob("f") == repo.read("f")


def test_a_line_that_was_committed_in_its_correction_is_left_to_nobody(repo: Repo) -> None:
    """The next commit, of another file, said that somebody had changed it."""
    repo.edit("S1", "a", TEN + "def g( q ):\n  return q+6\n")
    repo.write("a", TEN + "def g(q):\n    return q + 6\n")
    assert "the correction goes along" in repo.commit("S1").notes
    repo.write("a", changed() + "def g(q):\n    return q + 6\n")
    repo.edit("S1", "new", "one\n")
    assert repo.commit("S1").notes == ""


def test_what_is_committed_on_another_branch_was_changed_by_nobody(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.edit("S1", "a", changed(3, "three", changed(2, "two")))
    repo.commit("S1")
    repo.git("checkout", "-q", "main")
    repo.edit("S1", "a", changed(2, "two again"))
    assert "left to it" not in repo.commit("S1").notes

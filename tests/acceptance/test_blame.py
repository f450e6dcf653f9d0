"""T3: ``git ralph blame``: every line of a file, its commit or that it is pending, its session and agent."""

import re
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.test_head_moved import swap
from tests.support import shells
from tests.support.guarded import git_as
from tests.support.repo import Repo
from tests.support.texts import TEN


@pytest.fixture
def day(empty_repo: Repo) -> Repo:
    """A repository whose only file is ``f``."""
    empty_repo.write("f", TEN)
    empty_repo.commit_all("base")
    return empty_repo


def rows(repo: Repo, path: str = "f") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = repo.ralph("blame", "--json", path).json()["lines"]
    return found


def whose(repo: Repo, path: str = "f") -> dict[int, tuple[str, str | None]]:
    """Line to state and session, for lines that are not of the base commit."""
    base = repo.git("rev-list", "--max-parents=0", "HEAD").strip()
    return {row["line"]: (row["state"], row["session"]) for row in rows(repo, path) if row["commit"] != base}


def parse(said: str) -> list[dict[str, str]]:
    """git blame's porcelain, as editors read it: headers of a commit come once, ``filename`` ends them."""
    known: dict[str, dict[str, str]] = {}
    out: list[dict[str, str]] = []
    current: dict[str, str] = {}
    own: dict[str, str] = {}
    for row in said.split("\n")[:-1]:
        if row.startswith("\t"):
            out.append({**known[current["oid"]], **own, **current, "text": row[1:]})
            current, own = {}, {}
        elif not current:
            oid, before, now = row.split(" ")[:3]
            assert re.fullmatch("[0-9a-f]{40}", oid)
            current = {"oid": oid, "orig": before, "line": now}
        else:
            key, _, value = row.partition(" ")
            if key.startswith("ralph-"):
                own[key] = value
            else:
                known.setdefault(current["oid"], {})[key] = value
    return out


def test_a_line_that_an_undo_put_back_is_whose_it_was(day: Repo) -> None:
    """Of a person's, of another session's that is committed, and of one's own."""
    swap(day, "S2", "line 6\n", "six\n")
    day.commit("S2")
    swap(day, "S1", "line 2\n", "two\n")
    swap(day, "S1", "six\n", "SIX\n")
    for words in (["undo"], ["undo", "--redo"], ["undo"]):
        day.ralph(*words, "--session", "S1")
    assert whose(day) == {6: ("committed", "S2")}
    assert {row["session"] for row in rows(day) if row["line"] != 6} == {None}
    assert day.ralph("why", "f:2").out.endswith(b", no session\n")


def test_every_line_is_told_committed_pending_or_nobodys(day: Repo) -> None:
    swap(day, "S1", "line 2\n", "two\n")
    oid = day.commit("S1").commit
    swap(day, "S2", "line 4\n", "four\n")
    swap(day, None, "line 6\n", "six\n")
    found = rows(day)
    assert [row["line"] for row in found] == list(range(1, 11))
    assert whose(day) == {2: ("committed", "S1"), 4: ("pending", "S2"), 6: ("nobody", None)}
    assert found[1]["commit"] == oid
    assert (found[0]["session"], found[0]["author"]) == (None, "A U Thor")
    assert found[1]["name"] == "generic-1"


def test_a_persons_line_and_an_agents_in_one_plain_commit_are_told_apart(day: Repo) -> None:
    swap(day, "S1", "line 2\n", "two\n")
    swap(day, None, "line 8\n", "eight\n")
    day.git("commit", "-qam", "by hand")
    assert whose(day) == {2: ("committed", "S1"), 8: ("committed", None)}
    assert rows(day)[1]["source"] == "content"


def test_a_file_taken_whole_is_not_all_the_sessions(day: Repo) -> None:
    swap(day, "S1", "line 2\n", "two\n")
    swap(day, None, "line 8\n", "eight\n")
    day.commit("S1", "--whole-file", "--", "f")
    assert whose(day) == {2: ("committed", "S1"), 8: ("committed", None)}
    assert day.ralph("why", "--json", "f:8").json()["findings"][0]["session"] is None


def test_what_a_person_added_by_amending_is_theirs(day: Repo) -> None:
    swap(day, "S1", "line 2\n", "two\n")
    day.commit("S1")
    swap(day, None, "line 8\n", "eight\n")
    day.git("commit", "-qa", "--amend", "--no-edit")
    assert whose(day) == {2: ("committed", "S1"), 8: ("committed", None)}


def test_a_narrowed_plain_commit_is_its_sessions(day: Repo) -> None:
    day.ralph("install", "--guard")
    day.git("config", "ralph.guard", "narrow")
    swap(day, "S1", "line 2\n", "two\n")
    swap(day, None, "line 8\n", "eight\n")
    assert git_as(day, "S1", "commit", "-qam", "x").code == 0
    assert whose(day) == {2: ("committed", "S1"), 8: ("nobody", None)}


def test_for_people_it_names_sessions_and_authors(day: Repo) -> None:
    swap(day, "S1", "line 2\n", "two\n")
    oid = day.commit("S1").commit or ""
    swap(day, "S2", "line 4\n", "four\n")
    swap(day, None, "line 6\n", "six\n")
    said = day.ralph("blame", "f").text.splitlines()
    base = day.git("rev-list", "--max-parents=0", "HEAD")[:8]
    assert said[0] == f"{base} A U Thor  2023-11-14  1) line 1"
    assert re.fullmatch(oid[:8] + r" generic-1 \d{4}-\d\d-\d\d  2\) two", said[1])
    assert re.fullmatch(r"pending  generic-2 \d{4}-\d\d-\d\d  4\) four", said[3])
    assert said[5] == "-        nobody                6) six"


def test_porcelain_is_git_blames_own_with_headers_of_ours(day: Repo) -> None:
    swap(day, "S1", "line 2\n", "two\n")
    swap(day, "S1", "line 3\n", "three\n")
    oid = day.commit("S1").commit
    swap(day, "S2", "line 4\n", "four\n")
    said = day.ralph("blame", "--porcelain", "f").text
    plain = "".join(f"{row}\n" for row in said.split("\n")[:-1] if not row.startswith("ralph-"))
    theirs = day.git_bytes("blame", "--porcelain", "f").decode()
    now = re.compile(r"^((?:author|committer)-time) \d+$", re.MULTILINE)  # of the uncommitted lines
    assert now.sub(r"\1", plain) == now.sub(r"\1", theirs)
    found = parse(said)
    assert found == [
        {**row, **{key: value for key, value in one.items() if key.startswith("ralph-")}}
        for row, one in zip(parse(plain), found, strict=True)
    ]
    by_line = {int(row["line"]): row for row in found}
    assert [by_line[n].get("ralph-session") for n in (1, 2, 3, 4)] == [None, "S1", "S1", "S2"]
    assert (by_line[3]["oid"], by_line[4]["oid"]) == (oid, "0" * 40)
    assert by_line[4]["author"] == "Not Committed Yet"
    assert by_line[2]["ralph-agent"] == "generic"


def test_filename_stays_the_last_header(day: Repo) -> None:
    """GitLens takes it for the end of an entry."""
    swap(day, "S1", "line 2\n", "two\n")
    day.commit("S1")
    said = day.ralph("blame", "--porcelain", "f").text.split("\n")
    assert all(said[at + 1].startswith("\t") for at, row in enumerate(said) if row.startswith("filename "))


def test_a_file_that_git_does_not_know_is_told_too(day: Repo) -> None:
    day.edit("S1", "new", "one\ntwo\n")
    assert whose(day, "new") == {1: ("pending", "S1"), 2: ("pending", "S1")}
    found = parse(day.ralph("blame", "--porcelain", "new").text)
    assert [(row["oid"], row["line"], row["filename"], row["text"]) for row in found] == [
        ("0" * 40, "1", "new", "one"),
        ("0" * 40, "2", "new", "two"),
    ]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_odd_line_ends_are_one_row_each(day: Repo, end: str) -> None:
    day.edit("S1", "new", "one\ntwo" + end)
    said = day.ralph("blame", "--porcelain", "new").text
    day.git("add", "new")
    assert len(parse(said)) == len(parse(day.git_bytes("blame", "--porcelain", "new").decode()))


def test_a_renamed_files_lines_keep_their_commits(day: Repo) -> None:
    swap(day, "S1", "line 2\n", "two\n")
    day.commit("S1")
    day.git("mv", "f", "g")
    day.commit_all("moved")
    assert whose(day, "g") == {2: ("committed", "S1")}


def test_a_moved_file_that_is_not_committed_yet_keeps_its_commits_too(day: Repo) -> None:
    """Git has the lines under the old name."""
    swap(day, "S2", "line 7\n", "seven\n")
    shells.run(day, "S1", "mv f g")
    rows = day.ralph("blame", "--json", "g").json()["lines"]
    assert {row["commit"] for row in rows if row["line"] != 7} == {day.head()}
    assert (rows[6]["state"], rows[6]["session"]) == ("pending", "S2")


def test_a_link_that_was_moved_shows_nothing_of_what_it_leads_to(day: Repo) -> None:
    """It leads to a text of as many lines."""
    target = day.root.parent / "secret"
    target.write_text("secret")
    day.file("l").symlink_to(target)
    day.commit_all("a link")
    shells.run(day, "S1", "mv l m")
    assert "secret" not in day.ralph("blame", "m").text.replace(str(target), "")


def test_control_characters_are_shown_not_sent(day: Repo) -> None:
    day.edit("S1", "new", "\x1b[31mred\N{RIGHT-TO-LEFT OVERRIDE}\n")
    said = day.ralph("blame", "new").text
    assert "\x1b" not in said
    assert "\\x1b[31mred\\u202e" in said


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nosuch",), 128, "'nosuch' did not match any file(s) known to git"),
        (("--json", "--porcelain", "f"), 129, "two forms of one answer"),
        ((), 129, "missing argument"),
        (("../x",), 128, "../x"),
    ],
)
def test_what_is_typed_wrong_is_said(words: tuple[str, ...], code: int, said: str, day: Repo) -> None:
    assert said in day.ralph("blame", *words, code=code).said


@pytest.mark.parametrize("command", ["blame", "why"])
def test_what_is_no_file_here_is_called_what_it_is(command: str, day: Repo) -> None:
    inner = day.root.parent / "inner"
    day.git("init", "-q", str(inner))
    Repo(inner, dict(day.env)).write("x", "x\n")
    Repo(inner, dict(day.env)).commit_all("x")
    day.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sm")
    day.commit_all("with a submodule")
    day.write("d/new", "x\n")
    for typed, said in {
        "sm": "'sm' is a folder; name a file in it",
        ".": "'.' is the worktree's own folder; name a file in it",
        "../y": f"'../y' is outside repository at '{day.root}'",
    }.items():
        assert day.ralph(command, typed, code=128).said == f"fatal: {said}\n"
    day.git("submodule", "--quiet", "deinit", "-f", "sm")
    assert "'sm' is a folder" in day.ralph(command, "sm", code=128).said
    assert "'..' is the worktree's own folder" in day.ralph(command, "..", cwd="d", code=128).said


def test_a_line_of_a_file_that_a_sparse_checkout_leaves_out(day: Repo) -> None:
    day.git("sparse-checkout", "set", "--no-cone", "/nothing")
    for words in (("why", "f:2"), ("blame", "f")):
        said = day.ralph(*words, code=128).said
        assert said == "fatal: 'f' is not in the working tree\nhint: git ralph log -- f\n"
    day.ralph("log", "--", "f")


def test_a_folder_and_a_deleted_file_are_no_files(day: Repo) -> None:
    day.edit("S1", "d/new", "x\n")
    assert "'d' is a folder; name a file in it" in day.ralph("blame", "d", code=128).said
    day.remove("f")
    said = day.ralph("blame", "f", code=128).said
    assert "'f' is not in the working tree" in said
    assert "git ralph log -- f" in said
    day.ralph("log", "--", "f")


def test_the_hint_for_a_deleted_file_is_typed_from_where_one_stands(day: Repo) -> None:
    day.edit("S1", "d/a file", "x\n")
    day.commit("S1")
    day.remove("d/a file")
    day.write("d/other", "x\n")
    said = day.run("blame", "a file", cwd="d").said
    assert said.splitlines()[-1] == "hint: git ralph log -- 'a file'"
    assert "d/a file" in day.ralph("log", "--", "a file", cwd="d").text


def renamed(repo: Repo) -> str:
    swap(repo, "S1", "line 2\n", "two\n")
    repo.commit("S1")
    repo.git("mv", "f", "dé pot f")
    repo.commit_all("moved")
    repo.edit("S1", "dé pot f", (repo.read("dé pot f") or b"").replace(b"line 8\n", b"eight\n"))
    repo.commit("S1")
    return "dé pot f"


def merged(repo: Repo) -> str:
    repo.git("checkout", "-qb", "side")
    swap(repo, "S1", "line 2\n", "two\n")
    repo.commit("S1")
    repo.git("checkout", "-q", "main")
    swap(repo, "S2", "line 9\n", "nine\n")
    repo.commit("S2")
    repo.git("merge", "-q", "--no-edit", "side")
    return "f"


def odd_bytes(repo: Repo) -> str:
    repo.write("f", b"one\r\ntwo\r\n\xff latin\n\tfilename f\nauthor nobody")
    repo.commit_all("bytes")
    repo.edit("S1", "f", b"one\r\ntwo\r\n\xff latin\n\tfilename f\nauthor nobody\nlast")
    return "f"


def shallow(repo: Repo) -> str:
    for number in (2, 5, 8):
        swap(repo, "S1", f"line {number}\n", f"{number}\n")
        repo.commit("S1")
    (repo.root / ".git/shallow").write_text(repo.git("rev-parse", "HEAD~1").strip() + "\n")
    return "f"


@pytest.mark.parametrize("make", [renamed, merged, odd_bytes, shallow], ids=lambda make: make.__name__)
def test_porcelain_is_gits_row_by_row_but_for_our_headers(make: Callable[[Repo], str], day: Repo) -> None:
    """Numbers of a group, boundary, previous, filename, the text behind its tab: bytes, in git's order."""
    path = make(day)
    swapped = day.read(path) or b""
    day.edit("S3", path, swapped.replace(b"one", b"ONE").replace(b"line 6\n", b"six\n"))
    said = day.ralph("blame", "--porcelain", path).out.split(b"\n")
    theirs = day.git_bytes("blame", "--porcelain", path).split(b"\n")
    at = 0
    for row in said:
        if row.startswith(b"ralph-"):
            # an entry begins with git's numbers, then come ours, and none stands behind a text
            assert re.match(rb"[0-9a-f]{40} \d+ \d+|ralph-", said[said.index(row) - 1])
            continue
        assert row == theirs[at] or re.match(rb"(author|committer)-time ", theirs[at]), (at, row)
        at += 1
    assert at == len(theirs)
    assert any(row.startswith(b"ralph-session S3") for row in said)
    wanted = {"shallow": b"boundary", "renamed": b"previous "}.get(make.__name__, b"filename ")
    assert any(row.startswith(wanted) for row in theirs)


def _three_hands(repo: Repo) -> None:
    """A person's base, a line of S2's, and at last one of S1's."""
    swap(repo, "S2", "line 2\n", "two\n")
    repo.commit("S2")
    swap(repo, "S1", "line 6\n", "six\n")
    repo.commit("S1")


def _cut(repo: Repo, how: str) -> Repo:
    """A repository whose history ends at the last commit; "own" is the one with the records."""
    if how == "clone":
        root = repo.root.parent / "shallow"
        repo.git("clone", "-q", "--depth", "1", repo.root.as_uri(), str(root))
        return Repo(root, dict(repo.env))
    if how == "grafted":
        root = repo.root.parent / "grafted"
        repo.git("clone", "-q", repo.root.as_uri(), str(root))
        found = Repo(root, dict(repo.env))
        found.git("replace", "--graft", "HEAD")
        return found
    (repo.common / "shallow").write_text(f"{repo.head()}\n")
    return repo


@pytest.mark.parametrize("how", ["clone", "grafted"])
def test_where_history_ends_no_line_is_given_to_the_session_that_made_the_commit(how: str, day: Repo) -> None:
    _three_hands(day)
    there = _cut(day, how)
    assert {(row["session"], row["boundary"]) for row in rows(there)} == {(None, True)}
    assert "ralph-session" not in there.ralph("blame", "--porcelain", "f").text
    assert f"^{day.head()[:7]} not known" in there.ralph("blame", "f").text
    for line in (1, 2, 6):
        told = there.ralph("why", f"f:{line}")
        assert "where the history of this clone ends: not known whose" in told.text
        assert ("git fetch --unshallow" in told.said) == (how == "clone")
    assert "history of this clone ends" in there.ralph("why", "f").text
    assert there.ralph("export", "--format", "git-ai").text == ""


def test_where_history_ends_the_records_tell_the_lines_that_sessions_wrote(day: Repo) -> None:
    _three_hands(day)
    day.git("config", "ralph.notes", "git-ai")
    there = _cut(day, "own")
    told = {row["line"]: (row["session"], row["boundary"]) for row in rows(there)}
    assert told == {**dict.fromkeys(range(1, 11), (None, True)), 2: ("S2", False), 6: ("S1", False)}
    assert there.ralph("export", "--format", "git-ai").text == ""
    assert there.git("for-each-ref", "refs/notes") == ""


def test_a_commit_that_was_made_on_none_has_all_its_lines(empty_repo: Repo) -> None:
    empty_repo.edit("S1", "f", TEN)
    empty_repo.commit("S1")
    root = empty_repo.root.parent / "clone"
    empty_repo.git("clone", "-q", "--depth", "1", empty_repo.root.as_uri(), str(root))
    found = rows(Repo(root, dict(empty_repo.env)))
    assert {(row["session"], row["boundary"]) for row in found} == {("S1", False)}


@pytest.mark.parametrize(
    "words",
    [
        ("blame", "f"),
        ("blame", "--porcelain", "f"),
        ("why", "f"),
        ("why", "f:6"),
        ("log", "-p"),
        ("branch", "mine", "--session", "S1", "--onto", "HEAD~2"),
        ("export", "--format", "markdown"),
    ],
    ids=" ".join,
)
def test_an_object_that_no_remote_gives_ends_it_as_it_ends_git(words: tuple[str, ...], day: Repo) -> None:
    """In a partial clone without its remote; nothing is guessed and nothing is left out."""
    _three_hands(day)
    day.git("config", "uploadpack.allowFilter", "true")
    root = day.root.parent / "partial"
    day.git("clone", "-q", "--filter=blob:none", day.root.as_uri(), str(root))
    there = Repo(root, dict(day.env))
    assert there.ralph(*words).code == 0
    day.git("clone", "-q", "--filter=blob:none", day.root.as_uri(), f"{root}-offline")
    there = Repo(root.with_name("partial-offline"), dict(day.env))
    there.git("remote", "set-url", "origin", "/nonexistent")
    there.git("blame", "f", code=128)
    said = there.ralph(*words, code=128).said
    assert said.startswith("fatal: ")
    assert "could not fetch" in said


def test_a_clone_shows_a_long_id_short_and_the_agent_whole(repo: Repo) -> None:
    """Names of sessions stay at home; the column would cut the agent off behind a UUID."""
    session = "5c1d7f0a-93b2-4c5e-8d11-2f6a7b8c9d0e"
    repo.edit(session, "a", "one\nmine\nthree\n")
    repo.commit(session)
    root = repo.root.parent / "clone"
    repo.git("clone", "-q", str(repo.root), str(root))
    (line,) = [
        row
        for row in Repo(root, dict(repo.env)).ralph("blame", "a").text.splitlines()
        if row.endswith("mine")
    ]
    assert "5c1d7f0a (" in line
    assert session not in line


@pytest.mark.parametrize("again", ["S1", "S2"])
def test_a_commit_from_before_the_records_is_told_by_its_message(day: Repo, again: str) -> None:
    """The session's next edit of the file made its committed line a person's."""
    day.edit("S1", "f", TEN.replace("line 3\n", "three\n"))
    day.commit("S1")
    shutil.rmtree(day.state)
    assert whose(day) == {3: ("committed", "S1")}
    day.edit(again, "f", TEN.replace("line 3\n", "three\n").replace("line 8\n", "eight\n"))
    assert whose(day) == {3: ("committed", "S1"), 8: ("pending", again)}
    day.commit(again)
    assert whose(day) == {3: ("committed", "S1"), 8: ("committed", again)}


def test_a_replaced_commit_that_is_gone_itself_is_no_fault(repo: Repo) -> None:
    """Tools that rewrite a history leave `refs/replace` to commits that git has thrown away since."""
    old = repo.git("rev-list", "--max-parents=0", "HEAD").strip()
    new = repo.git("commit-tree", "-m", "anew", f"{old}^{{tree}}").strip()
    repo.git("checkout", "-q", "--detach", new)
    for ref in repo.git("for-each-ref", "--format=%(refname)").split():
        repo.git("update-ref", "-d", ref)
    repo.git("update-ref", f"refs/replace/{old}", new)
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    repo.ralph("export", "--format", "agent-trace", old)

"""The notes that we write, against each MUST of git-ai's standard that is about a note or a rewrite.

specs/git_ai_standard_v3.0.0.md of https://github.com/git-ai-project/git-ai; its section stands beside a rule.
"""

import json
import re
from collections.abc import Callable, Iterator

import pytest

from gitralph.base.ids import hashed
from tests.acceptance.test_branch import made
from tests.acceptance.test_head_moved import day as day
from tests.acceptance.test_head_moved import swap
from tests.support.repo import Repo

REF = "refs/notes/ai"
ENTRY = re.compile(r"  (s_[0-9a-f]{14})::(t_[0-9a-f]{14}) (\S+)")


def breaches(repo: Repo, commit: str) -> list[str]:
    """The rules that the note of a commit breaks."""
    note = repo.git_bytes("notes", f"--ref={REF}", "show", commit).decode()
    return list(_breaches(repo, repo.git("rev-parse", commit), note))


def _breaches(repo: Repo, commit: str, note: str) -> Iterator[str]:
    lines = note.split("\n")
    if "---" not in lines:
        yield "1.2.2: the divider stands on a line of its own"
        return
    at = lines.index("---")
    facts = json.loads("\n".join(lines[at + 1 :]))  # 1.2.4: valid JSON
    if facts.get("schema_version") != "authorship/3.0.0":
        yield "1.2.1: schema_version"
    if facts.get("base_commit_sha") != commit:
        yield "1.2.4: base_commit_sha"
    if facts.get("prompts") != {}:
        yield "1.2.4: prompts, of which we write none"
    for key, row in facts.get("sessions", {}).items():
        if not re.fullmatch(r"s_[0-9a-f]{14}", key):
            yield "1.2.3.1: session key"
        if not set(row) <= {"agent_id", "human_author", "custom_attributes"}:
            yield "1.2.4: a session record has no messages and no counts"
        if set(row.get("agent_id", {})) != {"tool", "id", "model"}:
            yield "1.2.4: a session record has its agent_id"
    yield from _attestations(repo, commit, lines[:at], facts)


def _attestations(
    repo: Repo, commit: str, lines: list[str], facts: dict[str, dict[str, object]]
) -> Iterator[str]:
    held, path, traces = 1, "", set[str]()
    for line in [*lines, "end"]:
        if not line.startswith(" "):
            if not held:
                yield "1.2.3: a file without attestations"
            quoted = line[:1] == '"' == line[-1:]
            path, held = (line[1:-1] if quoted else line), 0
            if not quoted and re.search(r"\s", line):
                yield "1.2.3: a path with blanks stands in quotes"
            continue
        found = ENTRY.fullmatch(line)
        if found is None:
            yield f"1.2.3: an entry is two blanks, a key, a blank, ranges: {line!r}"
            continue
        held += 1
        session, trace, spans = found.groups()
        if session not in facts["sessions"]:
            yield "1.2.3.1: a key without its record"
        if f"{path}\n{trace}" in traces:
            yield "1.2.3.1: a trace id twice"
        traces.add(f"{path}\n{trace}")
        count = len(repo.git_bytes("show", f"{commit}:{path}").split(b"\n"))
        yield from _ranges(spans, count)


def _ranges(spans: str, count: int) -> Iterator[str]:
    last = 0
    for span in spans.split(","):
        if not re.fullmatch(r"[1-9]\d*(-[1-9]\d*)?", span):
            yield f"1.2.3: a range: {span!r}"
            return
        first, _, end = span.partition("-")
        if not last < int(first) <= int(end or first) <= count:
            yield "1.2.3: ascending lines that the file has"
        last = int(end or first)


def lines_of(repo: Repo, commit: str = "HEAD", path: str = "f") -> dict[str, str]:
    """The text of each line that the note of a commit tells of, and whose it says it is."""
    note = repo.git("notes", f"--ref={REF}", "show", commit)
    names = {hashed(name): name for name in ("S1", "S2")}
    text = repo.blob(path, commit).decode().split("\n")
    out, current = {}, ""
    for line in note.partition("\n---")[0].split("\n"):
        found = ENTRY.fullmatch(line)
        if found is None:
            current = line
        for span in found[3].split(",") if found and current == path else ():
            first, _, last = span.partition("-")
            for number in range(int(first), int(last or first) + 1):
                out[text[number - 1]] = names[found[1]] if found else ""
    return out


@pytest.fixture
def noted(day: Repo) -> Repo:
    day.git("config", "ralph.notes", "git-ai")
    made(day, "S1", "line 3\n", "three\n", "first")
    made(day, "S2", "line 8\n", "eight\n", "second")
    return day


def amended(repo: Repo) -> None:
    swap(repo, None, "line 1\n", "by hand\nline 1\n")
    repo.git("commit", "-qa", "--amend", "-m", "another")


def amended_less(repo: Repo) -> None:
    swap(repo, None, "eight\n", "line 8\n")
    swap(repo, None, "line 9\n", "by hand\n")
    repo.git("commit", "-qa", "--amend", "-m", "another")


def rebased(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "other", "HEAD~2")
    repo.write("f", b"on top\n" + repo.blob("f"))
    repo.commit_all("top")
    repo.git("checkout", "-q", "-")
    repo.git("rebase", "-q", "other")


def reordered(repo: Repo) -> None:
    env = {"GIT_SEQUENCE_EDITOR": "sed -i '1{h;d};2{G}'", "GIT_EDITOR": "true"}
    repo.git("rebase", "-q", "-i", "HEAD~2", env=env)


def squashed(repo: Repo) -> None:
    env = {"GIT_SEQUENCE_EDITOR": "sed -i '2s/^pick/squash/'", "GIT_EDITOR": "true"}
    repo.git("rebase", "-q", "-i", "HEAD~2", env=env)


def fixed_up(repo: Repo) -> None:
    env = {"GIT_SEQUENCE_EDITOR": "sed -i '2s/^pick/fixup/'", "GIT_EDITOR": "true"}
    repo.git("rebase", "-q", "-i", "HEAD~2", env=env)


def merged_squash(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "main2", "HEAD~2")
    repo.git("merge", "-q", "--squash", "@{-1}")
    repo.git("commit", "-q", "-m", "all of it")


def picked(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "main2", "HEAD~2")
    repo.write("f", b"on top\n" + repo.blob("f"))
    repo.commit_all("top")
    repo.git("cherry-pick", "@{-1}")


def dropped(repo: Repo) -> None:
    repo.git("rebase", "-q", "-i", "HEAD~2", env={"GIT_SEQUENCE_EDITOR": "sed -i 1d", "GIT_EDITOR": "true"})


def split(repo: Repo) -> None:
    squashed(repo)
    whole = repo.blob("f")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.write("f", whole.replace(b"eight", b"line 8"))
    repo.git("commit", "-qam", "one half")
    repo.write("f", whole)
    repo.git("commit", "-qam", "the other half")


ONE, TWO = {"three": "S1"}, {"eight": "S2"}


@pytest.mark.parametrize(
    ("rewrite", "expected"),
    [
        (lambda _: None, [TWO, ONE]),
        (amended, [TWO, ONE]),  # 4: the combined changes, nothing of what was typed
        (amended_less, [None, ONE]),  # 4: lines that are gone are removed
        (rebased, [TWO, ONE, None]),  # 2: lines counted again
        (reordered, [ONE, TWO]),  # 2: each has what it holds
        (squashed, [{**ONE, **TWO}]),  # 2: the sessions of all
        (fixed_up, [{**ONE, **TWO}]),
        (merged_squash, [{**ONE, **TWO}]),  # 3: merge --squash
        (picked, [TWO, None]),  # 5: cherry-pick
        (dropped, [TWO]),  # 2: nothing of the dropped
        (split, [TWO, ONE]),  # 2: only what is in that commit's diff
    ],
)
def test_after_each_rewrite(
    noted: Repo, rewrite: Callable[[Repo], None], expected: list[dict[str, str] | None]
) -> None:
    rewrite(noted)
    noted.ralph("status")
    for back, lines in enumerate(expected):
        commit = f"HEAD~{back}"
        told = noted.git("notes", f"--ref={REF}", "list").split()[1::2]
        assert (noted.git("rev-parse", commit) in told) == (lines is not None)
        if lines is not None:
            assert breaches(noted, commit) == []
            assert lines_of(noted, commit) == lines
    assert noted.git("for-each-ref", "--format=%(refname)", "refs/notes") == REF  # 1.1


def test_paths_and_several_runs_of_lines(noted: Repo) -> None:
    many = "".join(f"line {n}\n" + ("mine\n" if n % 3 == 0 else "") for n in range(1, 40))
    for path in ("with space", "tab\there", "ü", " first", "a/b c/d"):
        noted.write(path, "".join(f"line {n}\n" for n in range(1, 40)))
    noted.commit_all("more")
    for path in ("with space", "tab\there", "ü", " first", "a/b c/d"):
        noted.edit("S1", path, many)
    noted.edit("S1", "empty", "")
    noted.commit("S1")
    assert breaches(noted, "HEAD") == []
    note = noted.git("notes", f"--ref={REF}", "show", "HEAD")
    assert '"with space"\n' in note
    assert "empty" not in note


def test_a_rebase_that_is_given_up_leaves_no_note(noted: Repo) -> None:
    """2: no note is made for a commit that is not there."""
    before = noted.git("notes", f"--ref={REF}", "list")
    noted.git("checkout", "-q", "-b", "other", "HEAD~2")
    noted.write("f", noted.blob("f").replace(b"line 3\n", b"else\n"))
    noted.commit_all("conflicts")
    noted.git("checkout", "-q", "-")
    noted.git("rebase", "-q", "other", code=1)
    noted.ralph("status")
    noted.git("rebase", "--abort")
    noted.ralph("status")
    assert noted.git("notes", f"--ref={REF}", "list") == before

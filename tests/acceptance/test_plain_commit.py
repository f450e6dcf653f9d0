"""Plain ``git commit`` made true: an agent's own command holds its session's lines, whatever was staged."""

import itertools
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support import checks, payloads, shells
from tests.support.guarded import TEN, Ended, commit_as, git_as, left_behind, narrowing, ten
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo
from tests.support.size import FULL, crossed

FORMS = {"as it stands": (), "all": ("-a",), "paths": ("--", "f", "g", "h"), "include": ("-i", "f", "g", "h")}
ALL = ("as it stands", "all", "paths", "include")
# one reason that stops a commit is tried in each form, the others in two, with RALPH_FULL=1 in each


def _shared(repo: Repo) -> None:
    narrowing(repo)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.edit("S1", "f", ten(l2="one"))
    repo.edit("S2", "f", ten(l2="one", l8="two"))
    repo.write("f", ten(l2="one", l5="human", l8="two"))
    repo.edit("S1", "g", ten(l3="one"))
    repo.edit("S2", "h", ten(l3="two"))


@pytest.fixture
def shared(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """S1 and S2 in one file each of their own and in one together, a human in that and in another."""
    return Repo.once("shared", tmp_path / "repo", environ, _shared)


@pytest.fixture
def begun(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """As ``shared``, and S1 has committed ``g``."""

    def make(repo: Repo) -> None:
        _shared(repo)
        commit_as(repo, "S1", "--", "g")

    return Repo.once("begun", tmp_path / "repo", environ, make)


@pytest.fixture
def both(tmp_path: Path, environ: dict[str, str]) -> Repo:
    """As ``shared``, and S1 and then S2 have committed what is theirs."""

    def make(repo: Repo) -> None:
        _shared(repo)
        commit_as(repo, "S1", "-a")
        commit_as(repo, "S2", "-a")

    return Repo.once("both", tmp_path / "repo", environ, make)


def _commit(repo: Repo, form: str, session: str = "S1", code: int = 0) -> Ended:
    if form == "as it stands":
        repo.git("add", "-A")
    return commit_as(repo, session, *FORMS[form], code=code)


def _index(repo: Repo) -> str:
    """The user's index, stat data included; git itself adds cached trees to it."""
    return repo.git("ls-files", "-s", "--debug")


def _whole(repo: Repo) -> None:
    """What must hold after everything: sound objects, nothing in progress, nothing to delete."""
    assert left_behind(repo) == []
    assert "error" not in repo.git(*checks.FSCK)


@pytest.mark.parametrize("form", ALL)
def test_it_holds_this_session_s_lines_and_nothing_else(shared: Repo, form: str) -> None:
    """S1's lines, made by git itself, with the trailer; the records are consumed, the worktree untouched.

    The other session then commits its own the same way.
    """
    before = {path: shared.read(path) for path in ("f", "g", "h")}
    _commit(shared, form)
    # before any command of ours, which would finish what the hooks had left
    assert shared.head() in (shared.state / "S1.commits").read_text()
    _whole(shared)
    assert shared.changes() == {"f": "M", "g": "M"}
    assert shared.blob("f").decode() == ten(l2="one")
    assert shared.blob("g").decode() == ten(l3="one")
    assert "Ralph-Session: S1" in shared.trailers().splitlines()
    assert {path: shared.read(path) for path in before} == before
    assert shared.pending("S1") == []
    assert shared.pending("S2") == ["f", "h"]

    _commit(shared, form, "S2")
    assert shared.changes() == {"f": "M", "h": "M"}
    assert shared.blob("f").decode() == ten(l2="one", l8="two")
    assert "Ralph-Session: S2" in shared.trailers().splitlines()
    assert shared.git("diff", "HEAD", "--stat", "--", "f").count("insertion") == 1
    assert shared.pending("S1") == shared.pending("S2") == []
    _whole(shared)


@pytest.mark.parametrize("form", ["all", "paths", "include"])
def test_what_the_human_had_staged_is_staged_after_as_the_same_change(shared: Repo, form: str) -> None:
    """In another file and in the one that S1 commits from, per path the same change."""
    for path, text in (("h", ten(l10="staged")), ("f", ten(l10="staged"))):
        oid = shared.git("hash-object", "-w", "--stdin", stdin=text.encode())
        shared.git("update-index", "--cacheinfo", f"100644,{oid},{path}")
    before = shared.git("diff", "--cached", "-U0", "--", "h").splitlines()[-2:]
    _commit(shared, form)
    assert shared.changes() == {"f": "M", "g": "M"}
    assert shared.git("diff", "--cached", "--name-only").split() == ["f", "h"]
    for path in ("f", "h"):
        assert shared.git("diff", "--cached", "-U0", "--", path).splitlines()[-2:] == before
    _whole(shared)


def test_after_add_everything_what_others_own_stays_staged(shared: Repo) -> None:
    shared.git("add", "-A")
    staged = shared.git("ls-files", "-s")
    commit_as(shared, "S1")
    assert shared.git("ls-files", "-s") == staged
    assert shared.git("diff", "--cached", "--name-only").split() == ["f", "h"]
    assert shared.git("diff", "--name-only") == ""


def test_only_paths_that_git_would_have_committed_are_taken(shared: Repo) -> None:
    """By path, and a file that was never added."""
    shared.edit("S1", "new", "new\n")
    commit_as(shared, "S1", "--", "g")
    assert shared.changes() == {"g": "M"}
    assert shared.pending("S1") == ["f", "new"]
    commit_as(shared, "S1", "-a")
    assert shared.changes() == {"f": "M"}
    shared.git("add", "-A")
    commit_as(shared, "S1")
    assert shared.changes() == {"new": "A"}
    _whole(shared)


def test_lines_that_were_not_staged_stay_pending(shared: Repo) -> None:
    """Added half way: the commit has what git would have had of the session's, the rest comes later."""
    shared.git("add", "g")
    shared.edit("S1", "g", ten(l3="one again", l9="one more"))
    commit_as(shared, "S1")
    assert shared.changes() == {"g": "M"}
    assert shared.blob("g").decode() == ten(l3="one")
    assert shared.pending("S1") == ["f", "g"]
    shared.git("add", "-A")
    commit_as(shared, "S1")
    assert shared.blob("g").decode() == ten(l3="one again", l9="one more")
    assert shared.pending("S1") == []
    _whole(shared)


def test_of_lines_picked_by_hand_only_those_are_committed(shared: Repo) -> None:
    shared.edit("S1", "g", ten(l3="one", l9="more"))
    oid = shared.git("hash-object", "-w", "--stdin", stdin=ten(l6="human", l9="more").encode())
    shared.git("update-index", "--cacheinfo", f"100644,{oid},g")
    commit_as(shared, "S1")
    assert shared.blob("g").decode() == ten(l9="more")
    assert shared.pending("S1") == ["f", "g"]
    commit_as(shared, "S1", "-a")
    assert shared.blob("g").decode() == ten(l3="one", l9="more")
    assert shared.pending("S1") == []


@pytest.mark.parametrize("form", ALL)
def test_what_cannot_be_separated_stops_it_and_nothing_moves(shared: Repo, form: str) -> None:
    """Stopped with the message and the ways out; index and HEAD as before."""
    shared.edit("S1", "h", ten(l3="two and one"))
    if form == "as it stands":
        shared.git("add", "-A")
    head, index = shared.head(), _index(shared)
    done = commit_as(shared, "S1", *FORMS[form], code=1)
    assert "error: 'h' line 3: entangled" in done.said
    assert f"git ralph commit --session {shared.called('S1')} --skip-entangled" in done.said
    assert shared.called("S2") in done.said  # named, but no agent commits for another
    assert f"--session {shared.called('S2')}" not in done.said
    assert (shared.head(), _index(shared)) == (head, index)
    _whole(shared)


@pytest.mark.parametrize("form", ALL if FULL else ALL[::2])
def test_an_empty_result_is_stopped(shared: Repo, form: str) -> None:
    shared.start("S3")
    if form == "as it stands":
        shared.git("add", "-A")
    index = _index(shared)
    done = commit_as(shared, "S3", *FORMS[form], code=1)
    assert f"error: nothing of session '{shared.called('S3')}' is in this commit" in done.said
    assert _index(shared) == index
    _whole(shared)


def test_what_became_of_the_lines_is_said_where_nothing_goes_and_else_once(begun: Repo) -> None:
    """S1's line in ``h`` is gone, by a person: the refusal says it, and of later commits the first."""
    begun.edit("S1", "h", ten(l3="two", l9="one"))
    begun.write("h", ten(l3="two", l9="all other words"))
    gone = "'h' line 9: what this session wrote there was changed or removed by somebody without a session"
    assert gone in commit_as(begun, "S1", "--", "h", code=1).said
    said = []
    for number in (1, 2):
        begun.edit("S1", "g", ten(l3="one", l7=f"turn {number}"))
        said.append(commit_as(begun, "S1", "--", "g", "h").said)
    assert [gone in each for each in said] == [True, False]
    assert begun.changes() == {"g": "M"}


def test_a_removal_that_stays_is_told_once(begun: Repo) -> None:
    """A person put other words in the place of S1's line, which had replaced one of HEAD."""
    begun.edit("S1", "h", ten(l3="two", l9="one"))
    begun.write("h", ten(l3="two", l9="all other words"))
    said = []
    for number in (1, 2, 3):
        begun.edit("S1", "g", ten(l3="one", l7=f"turn {number}"))
        said.append(begun.ralph("commit", "--session", "S1", "-m", "x").said)
    assert sum("what this session removed there stays" in each for each in said) == 1


def test_what_only_its_shell_changed_is_left_out_with_the_way_to_take_it(shared: Repo) -> None:
    """An offer, as everywhere: beside its own lines, and where that is all there is; no other's change is."""
    shells.run(shared, "S1", "echo made > made")
    shells.run(shared, "S2", "echo made > theirs")
    shared.git("add", "-A")
    take = f"git ralph commit --session {shared.called('S1')} --with-shell"
    said = commit_as(shared, "S1").said
    assert "others' stay in 'f', 'h', 'theirs'\n" in said
    assert "left out: 'made', which only its own shell calls changed" in said
    assert take in said
    assert take in commit_as(shared, "S1", code=1).said
    shared.ralph(*take.split()[2:], "-m", "x")
    assert shared.changes() == {"made": "A"}
    assert "--with-shell" not in commit_as(shared, "S1", code=1).said


def test_nothing_staged_is_git_s_own_answer(shared: Repo) -> None:
    done = commit_as(shared, "S1", code=1)
    assert "no changes added to commit" in done.out
    assert "session" not in done.said
    commit_as(shared, "S1", "--allow-empty")
    assert shared.changes() == {}


@pytest.mark.parametrize(
    "env",
    [{"CLAUDE_CODE_SESSION_ID": "unknown"}, {"RALPH_SESSION": "unknown"}, {"GEMINI_CLI": "1"}],
    ids=["published", "launched", "without an id"],
)
def test_an_agent_that_is_not_known_is_stopped(shared: Repo, env: dict[str, str]) -> None:
    shared.git("add", "-A")
    head = shared.head()
    done = commit_as(shared, None, code=1, env=env)
    assert "error: this agent" in done.said or "fatal: no session 'unknown'" in done.said
    assert shared.head() == head
    _whole(shared)


IDS = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "PI_SESSION_ID", "QWEN_CODE_SESSION_ID")


@pytest.mark.parametrize("name", IDS)
def test_the_id_that_an_agent_publishes_says_whose_it_is(shared: Repo, name: str) -> None:
    said = commit_as(shared, None, "--", "g", code=1, env={name: "S2"}).said
    assert f"nothing of session '{shared.called('S2')}' is in this commit" in said


@pytest.mark.parametrize("name", IDS if FULL else IDS[:1])
def test_whoever_an_id_names_commits_its_own(shared: Repo, name: str) -> None:
    shared.git("add", "-A")
    commit_as(shared, None, env={name: "S2"})
    assert shared.blob("f").decode() == ten(l8="two")


# --- amend ---


@pytest.mark.parametrize("form", ALL)
def test_an_amend_of_its_own_commit_takes_more_of_its_own(begun: Repo, form: str) -> None:
    if form == "as it stands":
        begun.git("add", "-A")
    commit_as(begun, "S1", "--amend", *FORMS[form])
    assert begun.count() == 2
    assert begun.changes() == {"f": "M", "g": "M"}
    assert begun.blob("f").decode() == ten(l2="one")
    assert begun.trailers().splitlines().count("Ralph-Session: S1") == 1
    assert begun.pending("S1") == []
    _whole(begun)


@pytest.mark.parametrize("form", ALL if FULL else ALL[1::2])
def test_an_amend_onto_another_s_commit_is_stopped(shared: Repo, form: str) -> None:
    if form == "as it stands":
        shared.git("add", "-A")
    head = shared.head()
    done = commit_as(shared, "S1", "--am", *FORMS[form], code=1)
    assert f"HEAD is not a commit of session '{shared.called('S1')}'" in done.said
    assert shared.head() == head
    _whole(shared)


@pytest.mark.parametrize(
    ("maker", "lines"),
    [
        pytest.param(
            maker, lines, id=f"of {maker or 'a person'}, {'with lines' if lines else 'message only'}"
        )
        for maker in ("S2", None)
        for lines in (True, False)
        if FULL or lines == (maker is None)  # who made it changes a word, what it takes the hint
    ],
)
def test_an_amend_of_another_s_commit_is_refused_with_a_fixup_that_works(
    shared: Repo, maker: str | None, lines: bool
) -> None:
    """Other words alone had replaced another's message and kept its trailer."""
    commit_as(shared, maker, "--", "h")
    head, index = shared.head(), shared.git("ls-files", "-s")
    form = ("-a",) if lines else ()
    said = commit_as(shared, "S1", "--amend", *form, code=1).said
    whose = f"of session '{shared.called('S2')}'" if maker else "a person's"
    assert f"HEAD is not a commit of session '{shared.called('S1')}' but {whose}; nothing was amended" in said
    assert (shared.head(), shared.git("ls-files", "-s")) == (head, index)
    (hint,) = (row for row in said.splitlines() if row.startswith("hint: "))
    words = shlex.split(hint.removeprefix("hint: "), comments=True)
    fixup = ["git", "commit", *(["-a", f"--fixup={head[:7]}"] if lines else [f"--fixup=reword:{head[:7]}"])]
    assert words[-len(fixup) :] == fixup
    # as in an agent's shell no editor can be opened, the hint brings its own
    given = dict(word.split("=", 1) for word in words[: -len(fixup)])
    assert git_as(shared, "S1", *fixup[1:], env={"GIT_EDITOR": "false", **given}).code == 0
    assert shared.git("rev-parse", "HEAD^") == head
    if not lines:
        said, old = shared.git("log", "-1", "--format=%B"), shared.git("log", "-1", "--format=%B", head)
        assert said.split("\n")[2:] == ["better words", *old.split("\n")[1:]]
    assert shared.changes() == ({"f": "M", "g": "M"} if lines else {})
    _whole(shared)


def test_an_amend_of_the_message_of_its_own_commit_keeps_its_trailers(shared: Repo) -> None:
    commit_as(shared, "S1", "-a", "--trailer", "Ralph-Includes: unrecorded")
    before = set(shared.trailers().splitlines())
    assert {"Ralph-Session: S1", "Ralph-Includes: unrecorded"} <= before
    commit_as(shared, "S1", "--amend", "-m", "better words")
    assert shared.git("log", "-1", "--format=%s") == "better words"
    assert set(shared.trailers().splitlines()) == before
    # and the session's log names the new commit
    assert shared.ralph("uncommit", "--json").json()["status"] == "uncommitted"
    shared.git("reset", "-q", "--soft", "HEAD@{1}")
    shared.edit("S1", "g", ten(l3="one", l9="more"))
    commit_as(shared, "S1", "-a", "--amend", "-m", "more")
    assert set(shared.trailers().splitlines()) == before
    assert shared.blob("g").decode() == ten(l3="one", l9="more")
    _whole(shared)


# --- as git does it ---


def test_a_human_s_commit_is_never_narrowed(shared: Repo) -> None:
    """And starts no Python."""
    no_python = {"PATH": "/usr/bin:/bin", "RALPH_SESSION": None}
    before = shared.git("ls-files", "-s")
    shared.git("commit", "-qam", "mine", env=no_python)
    assert shared.changes() == {"f": "M", "g": "M", "h": "M"}
    assert shared.git("ls-files", "-s") != before
    assert "Ralph-" not in shared.git("log", "-1", "--format=%B")
    assert f"session '{shared.called('S1')}'" in shared.ralph("why", "f:2").text
    assert shared.pending("S1") == shared.pending("S2") == []


def test_no_verify_is_git_s_own(shared: Repo) -> None:
    commit_as(shared, "S1", "-a", "--no-verify")
    assert shared.changes() == {"f": "M", "g": "M", "h": "M"}
    assert f"session '{shared.called('S2')}'" in shared.ralph("why", "f:8").text
    _whole(shared)


def test_switched_off_for_one_command_by_the_environment(shared: Repo) -> None:
    commit_as(shared, "S1", "-a", env={"RALPH_GUARD": "0"})
    assert shared.changes() == {"f": "M", "g": "M", "h": "M"}


@pytest.mark.parametrize("value", ["warn", "off", None] if FULL else ["off", None])
def test_a_launcher_has_it_narrow_whatever_is_configured(shared: Repo, value: str | None) -> None:
    """``RALPH_GUARD=narrow`` in the agent's environment."""
    shared.git("config", "--unset", "ralph.guard")
    if value:
        shared.git("config", "ralph.guard", value)
    commit_as(shared, "S1", "-a", env={"RALPH_GUARD": "narrow"})
    assert shared.changes() == {"f": "M", "g": "M"}
    assert shared.blob("f").decode() == ten(l2="one")


@pytest.mark.parametrize("kind", ["merge", "cherry-pick", "revert", "rebase"])
def test_what_git_is_in_the_middle_of_is_git_s_own(empty_repo: Repo, kind: str) -> None:
    """A merge, rebase, cherry-pick or revert of an agent is committed as git does it."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    repo.edit("S1", "g", ten(l3="one"))
    repo.git("checkout", "-q", "-b", "side")
    repo.write("f", ten(l2="side"))
    repo.git("commit", "-qm", "side", "f")
    repo.git("checkout", "-q", "main")
    repo.write("f", ten(l2="main"))
    repo.git("commit", "-qm", "main", "f")
    repo.git("stash", "-q")
    words = {
        "merge": ("merge", "side"),
        "cherry-pick": ("cherry-pick", "side"),
        "revert": ("revert", "--no-edit", "side"),
        "rebase": ("rebase", "side"),
    }[kind]
    assert git_as(repo, "S1", *words).code != 0, "a conflict was wanted"
    repo.write("f", ten(l2="both"))
    repo.git("add", "f")
    if kind == "rebase":
        assert git_as(repo, "S1", "rebase", "--continue", env={"GIT_EDITOR": "true"}).code == 0
    else:
        commit_as(repo, "S1")
    assert repo.blob("f").decode() == ten(l2="both")
    assert "Ralph-Session" not in repo.git("log", "-1", "--format=%B")
    repo.git("stash", "pop", "-q")
    assert repo.pending("S1") == ["g"]
    _whole(repo)


PICKS = (("merge", "--squash"), ("cherry-pick", "-n"))


@pytest.fixture(params=PICKS, ids=lambda words: words[1])
def picked(tmp_path: Path, environ: dict[str, str], request: pytest.FixtureRequest) -> Repo:
    """A person has squashed or picked a change of ``f`` and a new file, which are staged; S1 is at work."""

    def make(repo: Repo) -> None:
        narrowing(repo)
        repo.start("S1")
        repo.git("checkout", "-q", "-b", "side")
        repo.write("f", ten(l2="side"))
        repo.write("new", "side\n")
        repo.commit_all("from the side")
        repo.git("checkout", "-q", "main")
        assert git_as(repo, None, *request.param, "side").code == 0

    return Repo.once(f"picked {request.param[1]}", tmp_path / "repo", environ, make)


def test_beside_what_a_person_picked_only_its_own_lines_are_committed(picked: Repo) -> None:
    """What was picked stays staged, for the person's own commit."""
    picked.edit("S1", "f", ten(l2="side", l8="one"))
    commit_as(picked, "S1", "-a")
    assert (picked.changes(), picked.blob("f").decode()) == ({"f": "M"}, ten(l8="one"))
    commit_as(picked, None)
    assert (picked.changes(), picked.blob("f").decode()) == ({"f": "M", "new": "A"}, ten(l2="side", l8="one"))
    _whole(picked)


# in a CI run any two of the three meet, with RALPH_FULL=1 all
@pytest.mark.parametrize(
    ("picked", "form", "edits"),
    [
        pytest.param(how, ("-a",) if is_all else (), edits, id=f"{how[1]}-{is_all=}-{edits=}")
        for how, is_all, edits in itertools.product(PICKS, (False, True), (False, True))
        if FULL or (how == PICKS[0]) == (is_all == edits)
    ],
    indirect=["picked"],
)
def test_what_a_person_picked_stops_an_agent_with_a_hint_for_a_person(
    picked: Repo, form: tuple[str, ...], edits: bool
) -> None:
    """Nobody recorded these lines; a person has git's own words for them, and commits them so."""
    if edits:
        picked.edit("S1", "f", ten(l2="side and one"))
    index = _index(picked)
    said = commit_as(picked, "S1", *form, code=1).said
    assert _index(picked) == index
    assert "for a person to commit: git commit --no-edit" in said
    assert git_as(picked, None, "commit", "--no-edit").code == 0
    assert (picked.changes(), picked.blob("f").decode()) == ({"f": "M", "new": "A"}, ten(l2="side"))
    assert "from the side" in picked.git("log", "-1", "--format=%B")
    assert picked.pending("S1") == (["f"] if edits else [])
    if edits:
        commit_as(picked, "S1", "-a")
        assert picked.blob("f").decode() == ten(l2="side and one")
    _whole(picked)


# --- who reads a hint ---


PAST_THE_GUARD = ("--no-verify", "--whole-file", "--include-entangled", "RALPH_GUARD")


@pytest.mark.parametrize(
    ("mode", "scene"), crossed(["narrow", "refuse", "warn"], ["nothing of its own", "entangled", "no tool"])
)
def test_an_agent_is_told_no_way_past_the_guard(shared: Repo, mode: str, scene: str) -> None:
    """It types what it reads, and would land lines of others."""
    shared.git("config", "ralph.guard", mode)
    env = {"PATH": "/usr/bin:/bin"} if scene == "no tool" else {}
    who, form = "S1", ["-a"]
    if scene == "nothing of its own":
        shared.start("S3")
        who, form = "S3", ["--", "h"]
    elif scene == "entangled":
        shared.edit("S1", "f", ten(l2="one", l8="two of one"))
    done = subprocess.run(
        ["git", "commit", "-qm", "x", *form],
        cwd=shared.root,
        env={**shared._environment(None), **with_tool_on_path(shared.env), **env, "RALPH_SESSION": who},
        capture_output=True,
        check=False,
        text=True,
    )
    if mode == "narrow":
        assert done.returncode == 1
        assert "error: " in done.stderr
    assert [word for word in PAST_THE_GUARD if word in done.stderr] == []


def test_an_agent_whose_commit_is_refused_is_told_of_its_own_lines_alone(shared: Repo) -> None:
    """By `git ralph commit`, too; a person is told the rest."""
    shared.edit("S1", "f", ten(l2="one", l8="two of one"))
    words = ("commit", "--session", "S1", "-m", "x", "--", "f")
    agent = shared.ralph(*words, code=4, env={"RALPH_SESSION": "S1"}).said
    person = shared.ralph(*words, code=4).said
    assert [word for word in PAST_THE_GUARD if word in agent] == []
    assert "hint: git ralph commit" in agent
    assert "--include-entangled" in person
    assert "--whole-file" in person


# --- stopped on the way ---


# git gives up with the index given back, whatever the form: each meets one way, with RALPH_FULL=1 all
HOWS = ("empty message", "commit-msg", "prepare-commit-msg", "editor")
GIVEN_UP = [(form, how) for form in ALL for how in HOWS if FULL or ALL.index(form) == HOWS.index(how)]


def test_a_git_that_is_just_ending_holds_no_lock(shared: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a moment it has a folder and no command line: who looked for a dead git's locks fell over it."""
    ending = os.getpid()
    monkeypatch.setattr("gitralph.base.process.named", lambda name: [ending])
    monkeypatch.setattr("gitralph.base.process.words", lambda pid: [])
    monkeypatch.chdir(shared.root)
    lock = shared.common / "index.lock"
    lock.touch()
    shared.ralph("status")
    assert not lock.exists()


@pytest.mark.parametrize(("form", "how"), GIVEN_UP)
def test_a_commit_that_git_gives_up_leaves_index_and_records_as_they_were(
    shared: Repo, form: str, how: str
) -> None:
    """An aborted message, a failing later hook."""
    if form == "as it stands":
        shared.git("add", "-A")
    index, head = _index(shared), shared.head()
    env, args = {}, ["-m", "x"]
    if how == "empty message":
        args = ["-m", ""]
    elif how == "editor":
        args, env = ["-e"], {"GIT_EDITOR": "false"}
    else:
        hook = shared.common / "hooks" / how
        (hook.parent / f"{how}.before-gitralph").write_text("#!/bin/sh\nexit 7\n")
        (hook.parent / f"{how}.before-gitralph").chmod(0o755)
    done = git_as(shared, "S1", "commit", *args, *FORMS[form], env=env)
    assert done.code == 1, done  # as git ends a commit that it gives up, whatever the hook said
    assert shared.head() == head
    assert _index(shared) == index, "before any command of ours"
    assert shared.pending("S1") == ["f", "g"]
    _whole(shared)


def _event(repo: Repo, kind: str) -> dict[str, object]:
    """An event of the session S2 that is no edit."""
    call = {"tool_name": "Bash", "tool_use_id": "toolu_b", "tool_input": {"command": "ls"}}
    return payloads.claude_life(kind, "S2", str(repo.root), **(call if kind == "PostToolUse" else {}))


@pytest.mark.parametrize("kind", ["PostToolUse", "Stop", "UserPromptSubmit", "SessionStart"])
def test_the_next_event_of_an_agent_frees_the_index_of_a_git_that_died_between_two_hooks(
    shared: Repo, kind: str
) -> None:
    """It reads the file of its message after ``pre-commit``, and dies of it with no hook more."""
    shared.git("add", "-A")
    index = _index(shared)
    done = git_as(shared, "S1", "commit", "-F", "/nowhere/message")
    assert done.code == 128, done
    mode = os.stat(shared.common / "index").st_mode
    shared.hook("claude-code", _event(shared, kind), process=kind == "Stop")
    assert _index(shared) == index, "before any command"
    assert os.stat(shared.common / "index").st_mode == mode
    assert shared.pending("S1") == ["f", "g"]
    _whole(shared)


def test_trailers_stand_above_what_an_editor_and_verbose_show_below(shared: Repo) -> None:
    editor = "sed -i '1s/^/typed/'"
    commit_as(shared, "S1", "-a", "-v", "-e", env={"GIT_EDITOR": editor})
    said = shared.git("log", "-1", "--format=%B")
    assert said.splitlines()[0] == "typed"
    assert "Ralph-Session: S1" in shared.trailers()
    assert "diff --git" not in said
    assert "#" not in said


def test_a_first_commit(empty_repo: Repo) -> None:
    """On an unborn branch: a root commit of the session's files."""
    empty_repo.ralph("install", "--guard")
    empty_repo.git("config", "ralph.guard", "narrow")
    empty_repo.start("S1")
    empty_repo.edit("S1", "a", "a\n")
    empty_repo.write("b", "human\n")
    empty_repo.git("add", "-A")
    commit_as(empty_repo, "S1")
    assert empty_repo.changes() == {"a": "A"}
    assert empty_repo.git("diff", "--cached", "--name-only") == "b"
    assert empty_repo.pending("S1") == []
    _whole(empty_repo)


def test_deleted_renamed_and_odd_files(shared: Repo) -> None:
    shared.delete("S1", "g")
    shared.edit("S1", "a b/\xe4\n'", "odd\n")
    shared.edit("S2", "a b/theirs", "two\n")
    shared.git("add", "-A")
    commit_as(shared, "S1")
    assert shared.changes() == {"f": "M", "g": "D", "a b/\xe4\n'": "A"}
    assert shared.git("diff", "--cached", "--name-only").split("\n") == ["a b/theirs", "f", "h"]
    _whole(shared)


def test_line_ends_are_git_s(shared: Repo) -> None:
    shared.write(".gitattributes", "crlf eol=crlf\n")
    shared.write("crlf", TEN.replace("\n", "\r\n"))
    shared.git("add", ".gitattributes", "crlf")
    shared.git("commit", "-qm", "crlf", "--no-verify", ".gitattributes", "crlf")
    shared.edit("S1", "crlf", ten(l2="one").replace("\n", "\r\n"))
    shared.edit("S2", "crlf", ten(l2="one", l9="two").replace("\n", "\r\n"))
    commit_as(shared, "S1", "--", "crlf")
    assert shared.blob("crlf").decode() == ten(l2="one")
    _whole(shared)


def test_in_a_linked_worktree_and_from_a_subfolder(shared: Repo) -> None:
    other = shared.worktree("other")
    other.start("S4")
    other.edit("S4", "d/f", "four\n")
    other.write("d/x", "human\n")
    other.git("add", "-A")
    done = git_as(other, "S4", "-C", "d", "commit", "-m", "x")
    assert done.code == 0, done.said
    assert other.changes() == {"d/f": "A"}
    assert other.git("diff", "--cached", "--name-only") == "d/x"
    assert other.pending("S4") == []
    _whole(other)


def test_a_hook_of_the_repository_sees_what_it_always_saw_and_what_it_formats_is_committed(
    shared: Repo, tmp_path: Path
) -> None:
    """The guard stands last in line, so that a formatter's work on the session's lines goes along."""
    hook = shared.common / "hooks/pre-commit.before-gitralph"
    hook.write_text("#!/bin/sh\nsed -i 's/^one$/one formatted/' f g && git add f g\n")
    hook.chmod(0o755)
    shared.git("add", "-A")
    done = commit_as(shared, "S1")
    assert "Ralph-Includes: unrecorded" in shared.trailers(), done.said
    assert shared.blob("f").decode() == ten(l2="one formatted")
    assert shared.blob("g").decode() == ten(l3="one formatted")
    assert shared.git("diff", "--name-only") == ""
    assert shared.git("diff", "--cached", "--name-only").split() == ["f", "h"]
    _whole(shared)


# --- and after that ---


@pytest.mark.parametrize("how", ["amend", "rebase", "squash"])
def test_the_lines_are_known_after_history_was_rewritten(both: Repo, how: str) -> None:
    """By the content: why and status still answer for each line, and nothing is pending twice."""
    if how == "amend":
        both.git("commit", "-q", "--amend", "-m", "a person's words")
    elif how == "squash":
        both.git("reset", "-q", "--soft", "HEAD~2")
        both.git("commit", "-q", "--no-verify", "-m", "both in one")
    else:
        both.git("stash", "-q")
        both.git("branch", "-q", "old")
        both.git("reset", "-q", "--hard", "HEAD~2")
        both.write("other", "new base\n")
        both.commit_all("other")
        both.git("checkout", "-q", "old")
        both.git("rebase", "-q", "main")
        both.git("stash", "pop", "-q")
    assert f"session '{both.called('S1')}'" in both.ralph("why", "f:2").text
    assert f"session '{both.called('S2')}'" in both.ralph("why", "f:8").text
    assert both.called("S1") not in both.ralph("why", "f:5").text
    assert both.pending("S1") == both.pending("S2") == []
    assert both.owners() == {"f": "nobody"}


def test_two_agents_commit_at_the_same_moment(shared: Repo) -> None:
    """Several processes: each holds its own lines; who is told by git that another was first tries again."""
    once = 'git add -A && git commit -qm "by $RALPH_SESSION" && exit'
    words = f"for n in 1 2 3 4 5 6 7 8; do {once}; sleep 0.$n; done; exit 9"
    full = shared._environment({})
    path = with_tool_on_path(full)["PATH"]
    running = [
        subprocess.Popen(
            ["sh", "-c", words],
            cwd=shared.root,
            env={**full, "PATH": path, "RALPH_SESSION": name},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ("S1", "S2")
    ]
    ended = [(one.communicate()[1], one.returncode) for one in running]
    assert [code for _, code in ended] == [0, 0], ended
    last = shared.git("log", "-2", "--format=%s=%H").splitlines()
    found = dict(row.split("=") for row in last)
    assert shared.changes(found["by S1"]) == {"f": "M", "g": "M"}
    assert shared.changes(found["by S2"]) == {"f": "M", "h": "M"}
    assert shared.blob("f").decode() == ten(l2="one", l8="two")
    assert shared.pending("S1") == shared.pending("S2") == []
    _whole(shared)


def test_an_empty_commit_of_an_agent_is_signed_and_amended(shared: Repo) -> None:
    """It had no trailer, so its amend was refused as that of a person's commit."""
    before = shared.pending("S1")
    commit_as(shared, "S1", "--allow-empty")
    assert shared.changes() == {}
    assert "Ralph-Session: S1" in shared.trailers()
    commit_as(shared, "S1", "--amend", "--allow-empty", "-m", "start it")
    assert "Ralph-Session: S1" in shared.trailers()
    assert shared.changes() == {}
    assert shared.pending("S1") == before
    commit_as(shared, None, "--allow-empty")
    assert "Ralph-Session" not in shared.trailers()
    assert left_behind(shared) == []

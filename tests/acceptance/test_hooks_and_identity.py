"""What git would have done: hooks, identity, signing."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import payloads
from tests.support.checks import snapshot
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo
from tests.support.runner import COMMAND

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")
SESSION = "Ralph-Session: S1\nRalph-Agent: generic"


def _hook(repo: Repo, name: str, script: str, folder: str = ".git/hooks") -> None:
    path = repo.root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _message(repo: Repo) -> str:
    return repo.git("log", "-1", "--format=%B").rstrip("\n")


def _refused(repo: Repo, code: int, *args: str, pending: tuple[str, ...] = ("a",)) -> str:
    """A commit that fails: HEAD, index and records stay as they were."""
    before = snapshot(repo)
    done = repo.ralph("commit", "--session", "S1", *(args or ("-m", "x")), code=code)
    after = snapshot(repo)
    assert (after.refs, after.logs, after.index) == (before.refs, before.logs, before.index)
    assert after.records == before.records
    assert after.tree == before.tree
    assert repo.pending("S1") == list(pending)
    return done.said


@pytest.mark.parametrize("alone", [True, False], ids=["in place", "scratch"])
def test_hooks_see_the_commits_tree(repo: Repo, tmp_path: Path, alone: bool) -> None:
    seen = tmp_path / "seen"
    _hook(
        repo,
        "pre-commit",
        f"git diff --cached --name-status HEAD > '{seen}'; git ls-files >> '{seen}';"
        f" git show :a | tail -2 | head -1 >> '{seen}'",
    )
    if not alone:
        repo.write("b", "staged by the user\n")
        repo.git("add", "b")
        repo.write("dirt", "untracked\n")
    repo.edit("S1", "a", MINE)
    repo.edit("S1", "n", "new\n")
    repo.delete("S1", "e/b")
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert seen.read_text().split("\n")[:-1] == [
        "M\ta",
        "D\te/b",
        "A\tn",
        "a",
        "b",
        "d/a",
        "n",
        "u",
        "line nine",
    ]
    assert repo.git("diff", "--cached", "--name-only") == ("" if alone else "b")


@pytest.mark.parametrize("name", ["pre-commit", "prepare-commit-msg", "commit-msg"])
@pytest.mark.parametrize("alone", [True, False], ids=["in place", "scratch"])
def test_hooks_are_told_their_index_by_name(repo: Repo, tmp_path: Path, alone: bool, name: str) -> None:
    """As in git, also where the hook goes to another folder first."""
    seen = tmp_path / "seen"
    copied = f"cp \"$GIT_INDEX_FILE\" '{tmp_path}/copy' && GIT_INDEX_FILE='{tmp_path}/copy'"
    _hook(repo, name, f"set -eu; cd d; {copied} git diff --cached --name-only HEAD > '{seen}'")
    if not alone:
        repo.write("dirt", "untracked\n")
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert seen.read_text() == "a\n"


def _asks(repo: Repo, name: str, seen: Path) -> None:
    asked = (
        "symbolic-ref --short HEAD",
        "rev-parse --abbrev-ref HEAD",
        "branch --show-current",
        "rev-parse HEAD",
    )
    _hook(repo, name, "; ".join(f"git {one} >> '{seen}'" for one in asked))


@pytest.mark.parametrize("name", ["pre-commit", "prepare-commit-msg", "commit-msg"])
@pytest.mark.parametrize("alone", [True, False], ids=["in place", "scratch"])
@pytest.mark.parametrize("linked", [False, True], ids=["", "linked"])
def test_hooks_see_the_branch(repo: Repo, tmp_path: Path, name: str, alone: bool, linked: bool) -> None:
    """As with git: rules for a branch and numbers of tickets in its name depend on nobody else's changes."""
    seen = tmp_path / "seen"
    _asks(repo, name, seen)
    if linked:
        repo = repo.worktree("feat/ABC-7")
    else:
        repo.git("switch", "-qc", "feat/ABC-7")
    if not alone:
        repo.write("dirt", "untracked\n")
    repo.edit("S1", "a", MINE)
    before = repo.head()
    repo.commit("S1")
    assert seen.read_text().splitlines() == ["feat/ABC-7"] * 3 + [before]


def test_a_detached_head_is_detached_for_hooks(repo: Repo, tmp_path: Path) -> None:
    repo.git("checkout", "-q", "--detach")
    repo.write("dirt", "untracked\n")
    seen = tmp_path / "seen"
    _hook(
        repo,
        "pre-commit",
        f"git rev-parse --abbrev-ref HEAD > '{seen}'; git branch --show-current >> '{seen}'",
    )
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert seen.read_text() == "HEAD\n"


def test_what_a_hook_does_beside_others_moves_nothing_of_the_user_s(repo: Repo, tmp_path: Path) -> None:
    """It commits, stashes, makes and moves branches, prunes: as lint-staged and its like do, and worse."""
    repo.write("keep", "stashed\n")
    repo.git("stash", "push", "-q", "-u")
    kept = repo.git("rev-parse", "refs/stash")
    repo.git("branch", "side")
    repo.git("commit", "-q", "--allow-empty", "-m", "reset away")
    lost = repo.head()
    repo.git("reset", "-q", "--soft", "HEAD~1")
    loose = repo.git_bytes("hash-object", "-w", "--stdin", stdin=b"nowhere else\n").decode().strip()
    repo.write("dirt", "untracked\n")
    seen = tmp_path / "seen"
    commands = [
        f"git stash pop -q; git rev-parse -q --verify refs/stash > '{seen}'",
        "git commit -qn --allow-empty -m stray",
        "git branch made; git branch -f side HEAD~1; git tag made",
        "echo more >> a; git stash push -q; git stash pop -q; git checkout -q -- a",
        "git config --local user.stray yes",
        "git reflog expire --expire=now --all; git gc -q --prune=now",
        "git prune --expire=now; git repack -adq; true",
    ]
    _hook(repo, "pre-commit", "; ".join(commands))
    repo.edit("S1", "a", MINE)
    before, refs = repo.head(), repo.git("for-each-ref")
    repo.commit("S1")
    assert seen.read_text() == ""
    assert repo.git("rev-parse", "HEAD^") == before
    after = [row for row in repo.git("for-each-ref").splitlines() if not row.endswith("refs/heads/main")]
    assert after == [row for row in refs.splitlines() if not row.endswith("refs/heads/main")]
    assert repo.changes() == {"a": "M"}
    for oid in (kept, lost, loose):
        repo.git("cat-file", "-e", oid)
    repo.git("fsck", "--full")
    assert repo.git("config", "--get", "user.stray", code=1) == ""


def test_a_hook_sees_one_commit_while_another_lands(repo: Repo, tmp_path: Path) -> None:
    """S2 commits while S1's hook runs: `git diff --cached` has S1's change alone, and no reversal of S2's."""
    seen, go = tmp_path / "seen", tmp_path / "go"
    _hook(
        repo,
        "pre-commit",
        f"[ -e b-done ] && exit 0; mkdir '{go}' 2>/dev/null || exit 0; sleep 1.5\n"
        f"git diff --cached --name-only > '{seen}'",
    )
    repo.edit("S1", "a", MINE)
    repo.edit("S2", "b", MINE)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(repo.ralph, "commit", "--session", "S1", "-m", "x", process=True)
        while not go.exists():
            time.sleep(0.02)
        repo.ralph("commit", "--session", "S2", "-m", "y", process=True)
        first.result()
    assert seen.read_text() == "a\n"


def test_a_shallow_clone_attributes_and_sparse_files_are_as_ever_for_a_hook(
    repo: Repo, tmp_path: Path
) -> None:
    """In the scratch worktree too, where all files are."""
    repo.git("commit", "-q", "--allow-empty", "-m", "second")
    root, seen = tmp_path / "clone", tmp_path / "seen"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.root}", str(root))
    clone = Repo(root, dict(repo.env))
    clone.git("sparse-checkout", "set", "--no-cone", "/a", "/b")
    (root / ".git/info/attributes").write_text("a said=yes\n")
    asked = "git log --format=%s; git check-attr said a; git read-tree -mu $(git write-tree); ls d"
    _hook(clone, "pre-commit", f"{{ {asked}; }} > '{seen}'")
    clone.write("dirt", "untracked\n")
    clone.edit("S1", "a", MINE)
    clone.commit("S1")
    assert seen.read_text() == "second\na: said: yes\na\n"


def test_a_linked_worktree_of_an_older_version_is_taken_away(repo: Repo) -> None:
    """Hooks ran in one before; git would list it for ever."""
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    repo.git("worktree", "add", "-q", "--detach", "--lock", str(repo.state / "scratch/main-0"))
    _hook(repo, "pre-commit", "true")
    repo.write("dirt", "untracked\n")
    repo.edit("S1", "a", TEN)
    repo.commit("S1")
    assert "scratch" not in repo.git("worktree", "list")
    assert (repo.state / "scratch/main-0.git/HEAD").exists()


def test_what_a_hook_asks_of_the_repository_is_there_in_the_scratch_worktree(
    repo: Repo, tmp_path: Path
) -> None:
    """The default branch, the settings of the repository itself, and what other tools keep, as a key."""
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    repo.git("config", "project.ticket", "ABC-7")
    (repo.git_dir / "keys").mkdir()
    (repo.git_dir / "keys/default").write_text("a key\n")
    seen = tmp_path / "seen"
    asked = (
        "git rev-parse --abbrev-ref origin/HEAD",
        "git config --local project.ticket",
        'cat "$(git rev-parse --git-common-dir)/keys/default"',
        "git config --get-all core.bare",
    )
    _hook(repo, "pre-commit", f"{{ {'; '.join(asked)}; }} > '{seen}'")
    repo.write("dirt", "untracked\n")
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert seen.read_text().splitlines() == ["origin/main", "ABC-7", "a key", "false", "false"]


def test_settings_reach_a_hook_in_the_scratch_worktree(repo: Repo, tmp_path: Path) -> None:
    """Those of the repository, of a linked worktree, by branch, and with what no name of a folder has."""
    extra, seen = tmp_path / "by branch", tmp_path / "seen"
    extra.write_text("[user]\n\tbranch = yes\n")
    repo.git("config", "includeIf.onbranch:main.path", str(extra))
    repo.git("config", "user.local", "yes")
    repo.git("config", "core.abbrev", "11")
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("config", "--worktree", "user.own", "yes")
    keys = ("user.branch", "user.local", "core.abbrev", "user.own")
    _hook(repo, "pre-commit", "; ".join(f"git config --get {key} >> '{seen}'" for key in keys))
    repo.write("dirt", "untracked\n")
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert seen.read_text().splitlines() == ["yes", "yes", "11", "yes"]


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg", "prepare-commit-msg"])
def test_a_failing_hook_stops_the_commit(repo: Repo, name: str) -> None:
    _hook(repo, name, "echo 'not today' >&2; exit 3")
    repo.edit("S1", "a", MINE)
    said = _refused(repo, 1)
    assert name in said
    if name == "prepare-commit-msg":  # git runs this one even so
        _refused(repo, 1, "-m", "x", "--no-verify")
    else:
        repo.ralph("commit", "--session", "S1", "-m", "x", "--no-verify")
        assert repo.changes() == {"a": "M"}


def test_a_failing_hooks_words_reach_the_user(repo: Repo) -> None:
    _hook(repo, "pre-commit", "echo 'not today'; exit 3")
    repo.edit("S1", "a", MINE)
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=1, process=True)
    assert "not today" in done.said


def test_post_commit_runs_after_the_commit_with_the_real_index(repo: Repo, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f"git log -1 --format=%s > '{seen}'; git diff --cached --name-only >> '{seen}'; exit 1"
    _hook(repo, "post-commit", script)
    repo.write("b", "staged\n")
    repo.git("add", "b")
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert seen.read_text() == "x\nb\n"


def test_what_post_commit_commits_is_under_the_guard(repo: Repo) -> None:
    """It amended with what a person had staged, and the commit named the session for it."""
    once = "test -e .git/once || { touch .git/once; git commit -q --amend --no-edit; }"
    _hook(repo, "post-commit", once)
    repo.ralph("install", "--guard=narrow")
    repo.write("b", "staged\n")
    repo.git("add", "b")
    repo.edit("S1", "a", MINE)
    env = {"RALPH_SESSION": "S1", "PATH": with_tool_on_path(repo._environment(None))["PATH"]}
    repo.ralph("commit", "-m", "x", env=env, process=True)
    assert (repo.root / ".git/once").exists()
    assert repo.changes() == {"a": "M"}
    assert repo.git("diff", "--cached", "--name-only") == "b"


def test_a_hook_that_may_not_be_executed_is_none(repo: Repo) -> None:
    _hook(repo, "pre-commit", "exit 1")
    (repo.root / ".git/hooks/pre-commit").chmod(0o644)
    repo.edit("S1", "a", MINE)
    repo.commit("S1")


def test_hooks_can_be_turned_off(repo: Repo) -> None:
    _hook(repo, "pre-commit", "exit 1")
    repo.git("config", "ralph.commitHooks", "off")
    repo.edit("S1", "a", MINE)
    repo.commit("S1")


FORMAT = "sed -i 's/nine/NINE/' a && git add a"


def test_a_formatter_in_place_is_taken(repo: Repo) -> None:
    _hook(repo, "pre-commit", FORMAT)
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.blob("a") == repo.read("a") == MINE.replace("nine", "NINE").encode()
    assert repo.git("status", "--porcelain") == ""
    assert repo.pending("S1") == []


def test_what_the_hook_changed_but_did_not_add_is_taken_too(repo: Repo) -> None:
    _hook(repo, "pre-commit", "sed -i 's/nine/NINE/' a")
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.blob("a") == repo.read("a") == MINE.replace("nine", "NINE").encode()


def test_in_a_scratch_worktree_lines_of_nobody_are_shown_and_nothing_committed(repo: Repo) -> None:
    _hook(repo, "pre-commit", "sed -i 's/line 2/LINE 2/' a && git add a")
    repo.write("u", "somebody else's\n")
    repo.edit("S1", "a", MINE)
    head, tree = repo.head(), snapshot(repo).tree
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=1)
    assert "+LINE 2" in done.said
    assert "-line 2" in done.said
    assert (repo.head(), snapshot(repo).tree) == (head, tree)
    assert repo.pending("S1") == ["a"]


def test_a_change_of_another_path_is_not_taken(repo: Repo) -> None:
    _hook(repo, "pre-commit", "echo generated > made; git add made")
    repo.edit("S1", "a", MINE)
    head = repo.head()
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=1)
    assert "+generated" in done.said
    assert repo.head() == head
    assert repo.pending("S1") == ["a"]
    assert repo.git("diff", "--cached") == ""


def test_a_stash_style_hook_loses_nobodys_edit(repo: Repo, tmp_path: Path) -> None:
    """Hooks that stash what is not staged meet a scratch worktree, so others can go on writing."""
    flag = tmp_path / "ran"
    _hook(
        repo,
        "pre-commit",
        "git diff > /dev/null; git stash push -q --keep-index -u 2>/dev/null;"
        f" git checkout -q -- . ; git clean -fdq; touch '{flag}'",
    )
    repo.write("b", "the user's, not committed\n")
    repo.write("u", "staged\n")
    repo.git("add", "u")
    repo.write("new", "untracked\n")
    repo.edit("S2", "d/a", MINE)
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert flag.exists()
    assert repo.changes() == {"a": "M"}
    assert repo.git("status", "--porcelain").split("\n") == [" M b", " M d/a", "M  u", "?? new"]
    assert repo.pending("S2") == ["d/a"]


def test_message_rewritten_by_commit_msg_is_kept(repo: Repo) -> None:
    _hook(repo, "commit-msg", "printf 'rewritten\\n\\nbody\\n\\nReviewed-by: R\\n' > \"$1\"")
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert _message(repo) == f"rewritten\n\nbody\n\nReviewed-by: R\n{SESSION}"


def test_prepare_commit_msg_is_told_where_the_message_comes_from(repo: Repo, tmp_path: Path) -> None:
    _hook(repo, "prepare-commit-msg", f"echo \"$2\" > '{tmp_path}/seen'; sed -i '1s/^/[T-1] /' \"$1\"")
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert (tmp_path / "seen").read_text() == "message\n"
    assert _message(repo) == f"[T-1] x\n\n{SESSION}"


def test_hooks_path_is_followed(repo: Repo) -> None:
    _hook(repo, "pre-commit", "exit 1", folder="tools/hooks")
    repo.git("config", "core.hooksPath", "tools/hooks")
    repo.edit("S1", "a", MINE)
    _refused(repo, 1)


@pytest.mark.parametrize("path", ["a", "b"])
def test_what_is_edited_while_the_hook_runs_is_for_the_next_commit(
    repo: Repo, tmp_path: Path, path: str
) -> None:
    """The commit is what the hook saw, as with git; another file, or another line of the same one."""
    count, event = tmp_path / "count", tmp_path / "event"
    before = MINE if path == "a" else TEN
    late = before.replace("line 3\n", "line three\n")
    event.write_bytes(payloads.encode(payloads.edit("S1", str(repo.root), path, before, late)))
    hook = " ".join(f"'{word}'" for word in (*COMMAND, "hook", "generic"))
    _hook(
        repo,
        "pre-commit",
        f"echo run >> '{count}'; [ $(wc -l < '{count}') = 1 ] || exit 0\n"
        f"cd '{repo.root}'; unset GIT_INDEX_FILE\n"
        f"sed -i 's/line 3$/line three/' {path}; {hook} < '{event}'",
    )
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert count.read_text() == "run\n"
    assert repo.changes() == {"a": "M"}
    assert repo.blob("a") == MINE.encode()
    assert repo.pending("S1") == [path]
    repo.ralph("commit", "--session", "S1", "-m", "y")
    assert repo.blob(path) == late.encode()


def test_another_sessions_edit_is_not_taken_from_a_hook_that_stages_the_file(
    repo: Repo, tmp_path: Path
) -> None:
    """As lint-staged does, where the edit arrives while the hook runs."""
    event, once = tmp_path / "event", tmp_path / "once"
    late = MINE.replace("line 3\n", "of S2\n")
    event.write_bytes(payloads.encode(payloads.edit("S2", str(repo.root), "a", MINE, late)))
    hook = " ".join(f"'{word}'" for word in (*COMMAND, "hook", "generic"))
    _hook(
        repo,
        "pre-commit",
        f"[ -e '{once}' ] && exit 0\ntouch '{once}'\n"
        f"(unset GIT_INDEX_FILE; cd '{repo.root}'; sed -i 's/line 3$/of S2/' a; {hook} < '{event}')\n"
        "git add a",
    )
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.blob("a") == MINE.encode()
    assert repo.pending("S2") == ["a"]


def _who(repo: Repo) -> str:
    return repo.git("log", "-1", "--format=%an <%ae> / %cn <%ce>")


def _as_git(repo: Repo, *args: str, env: dict[str, str | None] | None = None) -> str:
    """Who a plain ``git commit`` would name, told by one that is undone again."""
    repo.git(*args, "commit", "-q", "--allow-empty", "-m", "plain", env=env)
    found = _who(repo)
    repo.git("reset", "-q", "--soft", "HEAD^")
    return found


IDENTITIES: dict[str, dict[str, str | None]] = {
    "GIT_AUTHOR": {"GIT_AUTHOR_NAME": "Other", "GIT_AUTHOR_EMAIL": "o@example.com"},
    "GIT_COMMITTER": {"GIT_COMMITTER_NAME": "Com", "GIT_COMMITTER_EMAIL": "c@example.com"},
    "GIT_CONFIG_COUNT": {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "Counted",
    },
    "git -c": {"GIT_CONFIG_PARAMETERS": "'user.name'='By Option' 'committer.email'='com@example.com'"},
    "dates": {"GIT_AUTHOR_DATE": "2001-02-03T04:05:06+0700", "GIT_COMMITTER_DATE": "@1234567890 -0300"},
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identity_as_git_commit(repo: Repo, name: str) -> None:
    env = IDENTITIES[name]
    repo.tick()
    expected = _as_git(repo, env=env)
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x", env=env)
    assert _who(repo) == expected
    if name == "dates":
        assert repo.git("log", "-1", "--format=%ai %ct") == "2001-02-03 04:05:06 +0700 1234567890"


@pytest.mark.parametrize("where", ["user", "author", "worktree", "includeIf"])
def test_identity_from_configuration(repo: Repo, tmp_path: Path, where: str) -> None:
    if where == "user":
        repo.git("config", "user.name", "Local")
    elif where == "author":
        repo.git("config", "author.name", "Author")
        repo.git("config", "committer.email", "com@example.com")
    elif where == "worktree":
        repo.git("config", "extensions.worktreeConfig", "true")
        repo.git("config", "--worktree", "user.email", "worktree@example.com")
    else:
        (tmp_path / "more").write_text("[user]\n\tname = Included\n")
        repo.git("config", "--global", f"includeIf.gitdir:{repo.root}/.path", str(tmp_path / "more"))
    expected = _as_git(repo)
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert _who(repo) == expected


def test_no_identity_is_never_guessed(repo: Repo) -> None:
    repo.git("config", "--global", "--remove-section", "user")
    repo.edit("S1", "a", MINE)
    objects = len(list((repo.root / ".git/objects").rglob("*")))
    said = _refused(repo, 128)
    assert "identity" in said
    assert "Traceback" not in said
    assert objects  # blobs and trees without a commit are garbage that gc knows


def test_identity_from_the_email_variable(repo: Repo) -> None:
    repo.git("config", "--global", "--unset", "user.email")
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x", env={"EMAIL": "env@example.com"})
    assert _who(repo) == "A U Thor <env@example.com> / A U Thor <env@example.com>"


def _signer(tmp_path: Path, works: bool) -> str:
    path = tmp_path / "gpg"
    good = "cat > /dev/null\nprintf '[GNUPG:] SIG_CREATED \\n' >&2\necho '-----BEGIN PGP SIGNATURE-----'\n"
    good += "echo fake\necho '-----END PGP SIGNATURE-----'\n"
    path.write_text("#!/bin/sh\n" + (good if works else "echo 'no key' >&2; exit 2\n"))
    path.chmod(0o755)
    return str(path)


def test_commit_is_signed_where_git_would(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "commit.gpgsign", "true")
    repo.git("config", "gpg.program", _signer(tmp_path, works=True))
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    assert "gpgsig -----BEGIN PGP SIGNATURE-----\n fake\n" in repo.git("cat-file", "commit", "HEAD")


def test_no_commit_when_the_signer_fails(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "commit.gpgsign", "true")
    repo.git("config", "gpg.program", _signer(tmp_path, works=False))
    repo.edit("S1", "a", MINE)
    assert "sign" in _refused(repo, 128)

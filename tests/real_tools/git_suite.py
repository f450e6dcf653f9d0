"""git's own tests, without and with our guard in every repository that they make: nothing may newly fail.

Needs a source tree of the installed git, of the same version and built (``make``, for its ``test-tool``)::

    python -m tests.real_tools.git_suite <source tree> [-j <n>] [--results <file>] [<script>...]

Every script runs twice against the installed git, nobody being an agent: as it is, and in a second tree in
which ``git init`` and ``git clone`` find, in the template folder, what ``git ralph install --guard`` leaves
in a repository: its four hooks and ``ralph.guard = narrow``. ``GIT_TEMPLATE_DIR`` of git's tests stands for
``init.templateDir``, which it overrides. With ``--pending`` every repository is also one in which a session
has something uncommitted, so that a person's commit asks the records.

In the second tree the test library differs in two lines, so that the guard is there while a test looks: a
repository "without template" has the guard alone, and a hook that a test writes through the library is kept
where a person's own hook is kept beside the guard's (``pre-commit.before-gitralph``). Before anything is
counted the script :data:`PROBE` proves that the guard's hooks are in the repositories and run.

``git_suite.md`` beside this has the table. Exit code 1 where a test newly fails that :data:`EXPLAINED` does
not name.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gitralph.commit import guard_script

# What commits, amends, rebases, picks, merges, stashes, pulls, applies mails, adds, removes, or has hooks.
SCRIPTS = {
    "t24": "00 01 02 03",
    "t34": "00 01 02 03 04 05 06 07 08 09 12 13 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32"
    " 33 34 35 36 37 38",
    "t35": "00 01 02 03 04 05 06 07 08 09 10 11 12 14",
    "t36": "00 01 02",
    "t37": "00 01 02 03 04 05",
    "t39": "00 01 03 04 05 06 07 08 09 20",
    "t41": "50 51 53",
    "t42": "54",
    "t54": "02 03 07",
    "t55": "20 21 24",
    "t56": "01 04 06",
    "t64": "02 04 06 17 24 36 37 39",
    "t70": "64",
    "t71": "02 10 13",
    "t72": "01",
    "t73": "00",
    "t74": "00 02 06",
    "t75": "00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 20 24 25 26 28",
    "t76": "00 01 02 03 04 05 06 07 08 11 12 14",
}

# A newly failing test that holds something which every installed hook would break, and why that is no fault.
EXPLAINED = {
    "t2400 59": "it makes `.git/hooks` itself and stops where that is, as in every repository of a person's",
}

PROBE = "t0000-guard-probe.sh"
_PROBE = f"""#!/bin/sh
test_description='is the guard in the repositories that tests make'
. ./test-lib.sh
test_expect_success 'all its hooks are in the first repository' '
	for name in {" ".join(guard_script.HOOKS)}
	do
		test -x ".git/hooks/$name" && grep gitralph ".git/hooks/$name" || return 1
	done &&
	echo narrow >expect &&
	git config ralph.guard >actual &&
	test_cmp expect actual
'
test_expect_success 'and in one that git init makes, and in a clone' '
	git init other && test_commit -C other one && git clone other third &&
	test -x other/.git/hooks/pre-commit && test -x third/.git/hooks/pre-commit
'
test_expect_success 'a commit runs it' '
	test_commit first &&
	echo more >first.t &&
	GIT_TRACE="$PWD/trace" git commit -m second first.t &&
	grep "config --get ralph.guard" trace
'
test_expect_success 'and an agent whose session is not known is stopped' '
	echo again >first.t &&
	test_must_fail env GEMINI_CLI=1 git commit -m third first.t
'
test_done
"""


@dataclass(frozen=True)
class Ran:
    """What one script said."""

    passed: frozenset[str]
    failed: frozenset[str]
    note: str = ""


def shadow(source: Path, folder: Path, templates: Path | None) -> Path:
    """A build folder with the tests in it, whose other files are the source tree's; returns its ``t``."""
    folder.mkdir()
    for name in os.listdir(source):
        if name not in ("t", "templates", ".git"):
            (folder / name).symlink_to(source / name)
    shutil.copytree(
        source / "t", folder / "t", symlinks=True, ignore=shutil.ignore_patterns("trash directory*")
    )
    shutil.copytree(source / "templates/blt", folder / "templates/blt", symlinks=True)
    if templates is None:
        return folder / "t"
    shutil.copytree(templates, folder / "templates/blt", dirs_exist_ok=True)
    alone = rf'${{TEST_CREATE_REPO_NO_TEMPLATE:+"--template={templates}"}}'
    _rewrite(folder / "t/test-lib.sh", r"\$\{TEST_CREATE_REPO_NO_TEMPLATE:\+--template=\}", alone)
    beside = guard_script.aside("$1")
    _rewrite(
        folder / "t/test-lib-functions.sh",
        r'^(\s*)hook_file="\$hook_dir/\$1" &&$',
        rf'\1hook_file="$hook_dir/$1" && {{ ! grep -q gitralph "$hook_file" 2>/dev/null ||'
        rf' {{ chmod +x "$hook_file" && hook_file="$hook_dir/{beside}"; }}; }} &&',
    )
    (folder / "t" / PROBE).write_text(_PROBE)
    (folder / "t" / PROBE).chmod(0o755)
    return folder / "t"


def _rewrite(file: Path, pattern: str, to: str) -> None:
    text, count = re.subn(pattern, to, file.read_text(), flags=re.M)
    if count != 1:
        sys.exit(f"{file.name} is not as expected: {pattern!r} is there {count} times")
    file.write_text(text)


def guarded_templates(folder: Path, env: dict[str, str], is_pending: bool) -> Path:
    """What ``git ralph install --guard`` leaves, as a template folder."""
    repo = folder / "made"
    for words in (
        ["git", "init", "-q", "--template=", str(repo)],
        ["git-ralph", "-C", str(repo), "install", "--guard"],
    ):
        subprocess.run(words, env=env, check=True, capture_output=True)
    made = folder / "guarded"
    made.mkdir()
    shutil.copytree(repo / ".git/hooks", made / "hooks")
    # the rest of a new repository's settings is git's to write
    (made / "config").write_text("[ralph]\n\tguard = narrow\n")
    if is_pending:
        (repo / "of-a-session").write_text("x\n")
        event = {"session": "S1", "cwd": str(repo), "event": "edit", "path": "of-a-session"}
        told = json.dumps({**event, "before": None, "after": "x\n"})
        words = ["git-ralph", "hook", "generic"]
        subprocess.run(words, env=env, check=True, capture_output=True, input=told.encode())
        shutil.copytree(repo / ".git/ralph-sessions", made / "ralph-sessions")
    return made


def environ(home: Path) -> dict[str, str]:
    """Nobody's environment: no agent, no launcher, no configuration; the programs of this Python first."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    return {**env, "GIT_TEST_INSTALLED": os.path.dirname(shutil.which("git") or "/usr/bin/git")}


def run(tests: Path, script: str, env: dict[str, str], limit: int) -> Ran:
    """One script of git's; each test is known by its number and name."""
    words = ["sh", f"./{script}"]
    try:
        done = subprocess.run(
            words,
            cwd=tests,
            env=env,
            capture_output=True,
            timeout=limit,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return Ran(frozenset(), frozenset(["(not done in time)"]), "not done in time")
    said = done.stdout.decode("utf-8", "replace")
    passed: set[str] = set()
    failed: set[str] = set()
    for is_bad, name in re.findall(r"^(not )?ok (\d+ - .*)$", said, re.M):
        if not re.search(r"# (TODO|skip)", name, re.I):
            (failed if is_bad else passed).add(name.strip())
    skipped = re.search(r"^1\.\.0 # SKIP (.*)$", said, re.M)
    if not passed and not failed and skipped is None:
        failed.add(f"(it does not run: {done.stderr.decode('utf-8', 'replace').strip()[-120:]})")
    return Ran(frozenset(passed), frozenset(failed), f"skips itself: {skipped[1]}" if skipped else "")


def table(found: dict[str, tuple[Ran, Ran]]) -> str:
    """Markdown: a row a script, its newly failing tests below."""
    rows = [
        "| script | plain: passed | failed | guarded: passed | failed | newly failing |",
        "|---|---|---|---|---|---|",
    ]
    rest = []
    for script, (plain, guarded) in sorted(found.items()):
        new = sorted(_new(plain, guarded), key=lambda name: (len(name.split()[0]), name))
        counts = " | ".join(
            str(len(one)) for one in (plain.passed, plain.failed, guarded.passed, guarded.failed)
        )
        rows.append(f"| {script.removesuffix('.sh')} | {counts} | {len(new) or plain.note or '-'} |")
        for name in new:
            rest.append(f"- {script}: {name}: {EXPLAINED.get(_key(script, name), 'not explained')}")
    sums = [sum(len(kind) for kind in kinds) for kinds in zip(*map(_sets, found.values()), strict=True)]
    rows.append(f"| **{len(found)} scripts** | " + " | ".join(map(str, sums)) + f" | {len(rest)} |")
    return "\n".join([*rows, "", *rest]).strip() + "\n"


def _sets(pair: tuple[Ran, Ran]) -> tuple[frozenset[str], ...]:
    plain, guarded = pair
    return plain.passed, plain.failed, guarded.passed, guarded.failed


def _new(plain: Ran, guarded: Ran) -> set[str]:
    """What failed only with the guard; a test that was not reached there counts too."""
    return (set(guarded.failed) - plain.failed) | (set(plain.passed) - guarded.passed)


def _key(script: str, name: str) -> str:
    return f"{script[:5]} {name.split()[0]}"


def main() -> None:
    """Run them, print the table."""
    parser = argparse.ArgumentParser(description="git's own tests, plain and under our guard")
    parser.add_argument("source", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=int, default=1800, help="seconds for one script")
    parser.add_argument("--results", type=Path)
    parser.add_argument(
        "--pending", action="store_true", help="a session has something uncommitted everywhere"
    )
    parser.add_argument("scripts", nargs="*")
    given = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="gs-") as name:  # short: the socket of gpg-agent must fit below
        folder = Path(name).resolve()
        (folder / "home").mkdir()
        env = environ(folder / "home")
        plain = shadow(given.source, folder / "p", None)
        guarded = shadow(given.source, folder / "g", guarded_templates(folder, env, given.pending))
        probe = run(guarded, PROBE, env, 60)
        if probe.failed or len(probe.passed) != 4:
            sys.exit(f"the guard is not in the tests' repositories: {sorted(probe.failed)} {probe.note}")
        every = [head + tail for head, tails in SCRIPTS.items() for tail in tails.split()]
        files = [
            one
            for each in given.scripts or every
            for one in sorted(os.listdir(plain))
            if one.startswith(f"{each}-")
        ]
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            waiting = {
                script: [pool.submit(run, tests, script, env, given.limit) for tests in (plain, guarded)]
                for script in files
            }
            found = {}
            for script, (one, other) in waiting.items():
                found[script] = one.result(), other.result()
                new = _new(*found[script])
                print(
                    f"{script}: {len(found[script][0].passed)} {sorted(new) or ''}",
                    file=sys.stderr,
                    flush=True,
                )
    text = table(found)
    print(text, end="")
    if given.results:
        git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
        given.results.write_text(f"# git's own tests under the guard\n\n{_HEAD.format(git=git)}\n{text}")
    unexplained = [
        name for script, pair in found.items() for name in _new(*pair) if _key(script, name) not in EXPLAINED
    ]
    sys.exit(1 if unexplained else 0)


_HEAD = """\
Made by `python -m tests.real_tools.git_suite`, whose head says how; {git}. "Plain" is git alone; "guarded"
has the hooks of `git ralph install --guard` and `ralph.guard = narrow` in every repository. No agent is in
the environment. A test that git itself expects to fail, or skips, is in neither. Nothing may newly fail.
"""


if __name__ == "__main__":
    main()

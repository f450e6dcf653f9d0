"""``blame --porcelain`` read by parsers that others wrote for git's: one reads it whole, one streams.

``blamejs`` 1.0.0 takes the text as one; ``git-blame`` 1.4.0 reads line by line and tells of a
commit as soon as it has its headers. Both run as they are, on our output and on git's.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_head_moved import swap
from tests.support.repo import Repo
from tests.support.size import FULL
from tests.support.texts import TEN

# npm finds its registry and its cache through the environment of whoever runs the tests
OUTER = dict(os.environ)
PACKAGES = ("blamejs@1.0.0", "git-blame@1.4.0")

READ = """
const Whole = require('blamejs'), lines = require('git-blame/lib/parser');
const text = require('fs').readFileSync(0, 'utf8');
const whole = new Whole(); whole.parseBlame(text);
const told = [], stream = lines(require('stream').Readable.from([text]));
stream.on('data', (kind, value) => told.push([kind, value]));
setImmediate(function wait() {
  if (told.filter(([kind]) => kind === 'line').length < Object.keys(whole.getLineData()).length) {
    return setTimeout(wait, 20);
  }
  setTimeout(() => console.log(JSON.stringify({
    lines: whole.getLineData(), commits: whole.getCommitData(), told })), 100);
});
"""


def _parsed(repo: Repo, there: Path, porcelain: bytes) -> dict[str, Any]:
    done = subprocess.run(
        ["node", "-e", READ],
        cwd=there,
        env=OUTER,
        input=porcelain,
        capture_output=True,
        timeout=60,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """A commit without our headers, and without the time at which a pending line was looked at."""
    out = {key: one for key, one in value.items() if not key.startswith("ralph-")}
    for role in ("author", "committer"):
        if isinstance(out.get(role), dict):
            out[role] = {key: one for key, one in out[role].items() if key != "timestamp"}
    return {key: one for key, one in out.items() if key not in ("authorTime", "committerTime")}


@pytest.mark.tools
@pytest.mark.skipif(not FULL, reason="tools from npm: only with RALPH_FULL=1")
def test_parsers_of_gits_porcelain_read_ours_alike(empty_repo: Repo, tmp_path: Path) -> None:
    npm = shutil.which("npm", path=OUTER.get("PATH"))
    if npm is None:
        pytest.skip("NOT TESTED WITH PARSERS OF OTHERS: there is no npm")
    there = tmp_path / "npm"
    there.mkdir()
    words = [npm, "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES]
    if subprocess.run(words, cwd=there, env=OUTER, check=False, capture_output=True).returncode:
        pytest.skip("NOT TESTED WITH PARSERS OF OTHERS: npm cannot have them")
    repo = empty_repo
    repo.write("f", TEN)
    repo.commit_all("base")
    swap(repo, "S1", "line 2\n", "two\n")
    swap(repo, "S1", "line 7\n", "seven\n")
    repo.commit("S1")
    swap(repo, "S2", "line 4\n", "\tfour, behind a tab\n")
    swap(repo, None, "line 9\n", "author nobody\n")
    ours = _parsed(repo, there, repo.ralph("blame", "--porcelain", "f").out)
    gits = _parsed(repo, there, repo.git_bytes("blame", "--porcelain", "f"))
    assert ours["lines"] == gits["lines"]
    assert len(gits["lines"]) == 10
    assert {oid: _plain(one) for oid, one in ours["commits"].items()} == {
        oid: _plain(one) for oid, one in gits["commits"].items()
    }
    lines, commits = ([one for kind, one in ours["told"] if kind == what] for what in ("line", "commit"))
    assert lines == [one for kind, one in gits["told"] if kind == "line"]
    first = {one["hash"]: _plain(one) for one in reversed(commits)}
    assert first == {one["hash"]: _plain(one) for kind, one in reversed(gits["told"]) if kind == "commit"}
    assert {one.get("ralph-session") for one in commits} == {None, "S1", "S2"}

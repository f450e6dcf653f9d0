"""Real agents told "commit your work" and nothing of us: each its own ``git commit``, in one shared file."""

import sysconfig

import pytest

from tests.real_agents.clients import Stage, Turn, call, finished, need
from tests.real_agents.scripts import WORKS, raw
from tests.support.repo import Repo

pytestmark = pytest.mark.agents

LINES = "".join(f"line {number}\n" for number in range(1, 61))
PATCH = "*** Begin Patch\n*** Update File: shared.txt\n@@\n-line 50\n+by the other\n*** End Patch\n"
# The other edits once the first one's edit is recorded: two clients that read and write one file in the same
# millisecond lose a line of it by themselves, and then nothing of the one is there to commit.
_AFTER = "until grep -rqs 'by claude' .git/ralph-sessions/edits; do sleep 0.1; done"
# What each does once both have edited, as agents do it: everything added, everything committed.
_WAIT = "until [ -e .git/edited ]; do sleep 0.1; done; git add -A && git commit -m 'by claude'"
_THEN = (
    "touch .git/edited; until git log --format=%s | grep -q 'by claude'; do sleep 0.1; done; "
    "git add -A && git commit -m 'by the other'"
)
CLAUDE: list[Turn] = [
    call("Read", file_path="${REPO}/shared.txt"),
    call("Edit", file_path="${REPO}/shared.txt", old_string="line 10\n", new_string="by claude\n"),
    call("Bash", command=_WAIT),
]
OTHERS: dict[str, list[Turn]] = {
    "pi": [
        call("bash", command=_AFTER),
        call("edit", path="shared.txt", edits=[{"oldText": "line 50\n", "newText": "by the other\n"}]),
        call("bash", command=_THEN),
    ],
    "codex": [
        call("exec_command", cmd=_AFTER),
        raw("apply_patch", PATCH),
        call("exec_command", cmd=_THEN),
    ],
}


@pytest.mark.parametrize("other", OTHERS)
def test_two_true_commits_in_one_shared_file(workshop: Stage, empty_repo: Repo, other: str) -> None:
    """Identity and message are theirs, the lines each one's own; what a person had dirty stays dirty."""
    need("claude-code", other)
    workshop.ralph("install", "--agent", "claude-code", "--agent", other)
    workshop.ralph("install", "--guard=narrow")
    # codex has a login shell, which sets PATH anew
    (workshop.home / ".profile").write_text(f"PATH={sysconfig.get_path('scripts')}:$PATH\n")
    empty_repo.write("u.txt", "a person's, not committed\n")

    runs = [workshop.start("claude-code", CLAUDE), workshop.start(other, OTHERS[other], *WORKS[other].extra)]
    for run in runs:
        finished(run)

    subjects = empty_repo.git("log", "--format=%s").splitlines()
    assert subjects == ["by the other", "by claude", "base"]
    theirs, claudes = (empty_repo.git("rev-parse", name) for name in ("HEAD", "HEAD~"))
    one = LINES.replace("line 10\n", "by claude\n")
    assert empty_repo.changes(claudes) == {"shared.txt": "M"}
    assert empty_repo.blob("shared.txt", claudes).decode() == one
    assert empty_repo.changes(theirs) == {"shared.txt": "M"}
    assert empty_repo.blob("shared.txt", theirs).decode() == one.replace("line 50\n", "by the other\n")
    assert "Ralph-Agent: claude-code" in empty_repo.trailers(claudes)
    assert f"Ralph-Agent: {other}" in empty_repo.trailers(theirs)
    assert empty_repo.git("log", "-1", "--format=%an") == "U Ser"
    # what their `git add -A` staged of it is put back
    assert empty_repo.git("status", "--porcelain") == " M u.txt"
    empty_repo.git("fsck", "--strict")

"""The texts a policy adds to prompts: facts first, each value quoted as data."""

import json

from gitralph.records.bead import Bead

MARK = "[git ralph worktree]"
_CUT = 4000


def _quoted(text: str) -> str:
    return json.dumps(text[:_CUT], ensure_ascii=False)


def worker_context(record: Bead) -> str:
    """What a worker must know of its worktree."""
    branch = record.branch.removeprefix("refs/heads/")
    base = (record.base_ref or record.base_oid or "").removeprefix("refs/heads/")
    rows = [
        MARK,
        f"bead: {record.bead}",
        f"worktree: {record.path}",
        f"branch: {branch} (from {base} at {(record.base_oid or '')[:12]})",
        "Work only in this worktree: cd there first, and use absolute paths below it for every file.",
        "The checkout you were started in belongs to others. Commit in the worktree, on its branch.",
    ]
    if record.title:
        rows.append(f"title: {_quoted(record.title)}")
    if record.acceptance_criteria:
        rows.append(f"acceptance criteria: {_quoted(record.acceptance_criteria)}")
    rows.append(
        f"When all of it is done, and only then, end your last message with "
        f"<promise>{record.completion_promise}</promise>"
    )
    return "\n".join(rows)


def helper_context(path: str) -> str:
    """Where somebody who helps a worker with documentation has to write."""
    return (
        f"{MARK}\nworktree: {path}\n"
        "You were started by a worker of this worktree: write only below it, with absolute paths."
    )


def go_on(record: Bead, why: str) -> str:
    """What a stopping agent gets instead: its prompt again, the count, how to end."""
    limit = f" of {record.max_iterations}" if record.max_iterations else ""
    return "\n".join(
        [
            record.prompt or f"Go on with bead '{record.bead}'.",
            "",
            f"[git ralph loop] bead '{record.bead}', iteration {record.iteration}{limit}: {why}",
            f"worktree: {record.path}",
            f"When all of it is done, and only then, end your message with "
            f"<promise>{record.completion_promise}</promise>",
        ]
    )

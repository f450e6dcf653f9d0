"""Sentences for refusals: what, why, and the next command to type."""

from gitralph.porcelain import outcome
from gitralph.porcelain.outcome import Left
from gitralph.quote import shown

_WAYS = {
    outcome.ENTANGLED: "use --skip-entangled to leave it, or --include-entangled to take it all",
    outcome.CONTESTED: "git ralph commit --whole-file -- <path> takes a path as it stands",
    outcome.UNANCHORED: "git ralph commit --whole-file -- <path> takes a path as it stands",
    outcome.STALE: "look at it with git diff, then git ralph track it, or --whole-file -- <path>",
    outcome.FILTERED: "git ralph commit --whole-file -- <path> takes a path as it stands",
    outcome.TOO_LARGE: "git ralph commit --whole-file -- <path> takes a path as it stands",
    outcome.UNMERGED: "settle the conflict first: git status",
}


def describe(left: Left) -> str:
    """One path left out, in a line."""
    where = f"'{shown(left.path)}'"
    if left.lines:
        first, last = left.lines
        where += f" line {first}" if first == last else f" lines {first}-{last}"
    names = [f"'{name}'" for name in left.sessions if name != outcome.UNRECORDED]
    missing = [name for name in names if name not in left.detail]
    also = f" (session {', '.join(missing)})" if missing else ""
    return f"{where}: {left.reason}: {left.detail}{also}"


def headline(refusals: list[Left]) -> str:
    """What is refused, as the error message."""
    return "\n".join(describe(left) for left in refusals)


def ways_out(refusals: list[Left]) -> list[str]:
    """Hints for these refusals, each once."""
    hints = []
    for left in refusals:
        for name in left.sessions:
            if name != outcome.UNRECORDED:
                hints.append(f"git ralph commit --session {name} first may settle it")
        hints.append(_WAYS[left.reason])
    return list(dict.fromkeys(hints))

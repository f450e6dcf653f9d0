"""A commit as an Agent Trace record.

Format: Agent Trace 0.1.0, https://github.com/cursor/agent-trace. Our own fields stand in
``metadata["io.gitralph"]``. A record may leave the machine: it names a session only by its hash, and holds no
text.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from uuid import NAMESPACE_URL, uuid5

from gitralph import __version__
from gitralph.ask import changed
from gitralph.ask.changed import File
from gitralph.ask.whose import CommitOwners, Makers, Owner, blob
from gitralph.base.ids import hashed
from gitralph.base.quote import text_form
from gitralph.git.context import Context
from gitralph.git.texts import is_binary
from gitralph.hook.journal import full_lines
from gitralph.records import content_hash

VERSION = "0.1.0"
OURS = "io.gitralph"
Document = dict[str, object]
# models.dev names a model with its provider in front; agents often send the bare name.
_PROVIDERS = (("claude-", "anthropic"), ("gpt-", "openai"), ("gemini-", "google"))


def records(ctx: Context, commits: Sequence[str]) -> Iterator[Document]:
    """The records of those of some commits that a session of this clone made, in the order given.

    None for a merge, and for the first commit of a shallow clone, whose lines nobody can tell from those
    before it.

    ``files[].conversations[].ranges`` count lines from 1 in the commit's own tree. A line that nobody
    recorded has contributor type ``unknown``. ``metadata["io.gitralph"]`` holds:

    - ``session`` and ``agent`` of the commit;
    - ``agents``: hash to agent, for other sessions whose lines the commit took along;
    - ``exact``: True where the records name this very commit, else its lines were found by content;
    - ``lines``: path to a string, with 8 hex digits of hash for each line of kind ``ai``, in order.

    Raises Fatal for a commit that is not there.
    """
    makers = Makers(ctx)
    wanted = {one.oid: one for one in changed.heads(ctx, commits) if one.tells_lines}
    for oid, files in changed.files(ctx, list(wanted)):
        made = _document(ctx, CommitOwners(ctx, makers, wanted[oid], makers.of(wanted[oid])), files)
        if made is not None:
            yield made


def _document(ctx: Context, judge: CommitOwners, files: Sequence[File]) -> Document | None:
    commit = judge.commit
    told, lines, named = [], {}, Counter[str]()
    for file in files:
        text = blob(ctx, file.new) if file.ranges else None
        # A binary file has no lines.
        if text is None or is_binary(text):
            continue
        content = full_lines(text)
        known = judge.owners(file, text)
        if judge.main is None and not known:
            continue
        spans = ((first, last + 1) for first, last in file.ranges)
        owners = {n: known.get(n, Owner(None)) for first, end in spans for n in range(first, end)}
        named.update(one.session for one in owners.values() if one.session is not None)
        conversations = _conversations(owners, content)
        if conversations:
            path = text_form(file.path)
            told.append({"path": path, "conversations": [one for one, _ in conversations]})
            lines[path] = "".join(hashes for _, hashes in conversations)
    # A commit of which no session is known counts as the session's that has most of its lines.
    main = judge.main if judge.main is not None else max(sorted(named), key=named.__getitem__, default=None)
    if main is None:
        return None
    session = hashed(main)
    others = {hashed(one): judge.makers.agent(one) for one in sorted(named.keys() - {main})}
    stamp = datetime.fromtimestamp(commit.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "version": VERSION,
        # Made from session and commit (RFC 9562, version 5), so that a second export is the same record.
        "id": str(uuid5(NAMESPACE_URL, f"urn:ralph:{session}:{commit.oid}")),
        "timestamp": stamp,
        "vcs": {"type": "git", "revision": commit.oid},
        "tool": {"name": "gitralph", "version": __version__},
        "files": told,
        "metadata": {
            OURS: {
                "session": session,
                "agent": judge.makers.agent(main),
                **({"agents": others} if others else {}),
                "exact": judge.exact,
                "lines": lines,
            }
        },
    }


def revision(record: Document) -> str:
    """The commit that a record tells of."""
    vcs = record["vcs"]
    return str(vcs["revision"]) if isinstance(vcs, dict) else ""


def _conversations(owners: dict[int, Owner], content: list[bytes]) -> list[tuple[dict[str, object], str]]:
    """A conversation for each owner, with the hashes of its lines; unrecorded lines have no hashes."""
    out = []
    for owner in dict.fromkeys(owners[number] for number in sorted(owners)):
        numbers = sorted(number for number, who in owners.items() if who == owner)
        ranges = [_range(first, last, content) for first, last in _runs(numbers)]
        contributor: dict[str, object] = {"type": "unknown" if owner.session is None else "ai"}
        if owner.session is not None and owner.model is not None:
            contributor["model_id"] = model_id(owner.model)
        told: dict[str, object] = {"contributor": contributor, "ranges": ranges}
        if owner.session is None:
            out.append((told, ""))
            continue
        told = {"url": f"urn:ralph:{hashed(owner.session)}", **told}
        out.append((told, "".join(content_hash.of_line(content[number - 1]) for number in numbers)))
    return out


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs, both ends included: 1, 2, 3, 7 is (1, 3), (7, 7)."""
    runs = []
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        found = [number for _, number in group]
        runs.append((found[0], found[-1]))
    return runs


def _range(first: int, last: int, content: list[bytes]) -> dict[str, object]:
    return {
        "start_line": first,
        "end_line": last,
        "content_hash": content_hash.of_range(content[first - 1 : last]),
    }


def model_id(name: str) -> str:
    """A model as models.dev names it: with its provider, where the name alone tells which it is."""
    provider = next((known for start, known in _PROVIDERS if name.startswith(start)), None)
    return f"{provider}/{name}" if provider is not None and "/" not in name else name

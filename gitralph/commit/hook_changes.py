"""What the ``pre-commit`` hook made of the files: whose it is, and what of it the commit takes.

A hook may run in place. A file that held only HEAD's and this session's lines is then this session's after
the hook too, and that is recorded at once, whether the hook let the commit pass or not.

A hook may run in the scratch worktree. Then it changed the commit's text, not the files. Changes of this
session's own lines go into the commit and are recorded as ``rendered``. All other changes, and all changes of
a refusing hook, are offered as a patch.
"""

import os
import shlex
from collections.abc import Iterable, Mapping

from gitralph.base import files, nul
from gitralph.base.errors import Failed
from gitralph.base.quote import line_form, shown
from gitralph.commit import hooks
from gitralph.commit.hooks import MovedError, Pair, Stage, Taken
from gitralph.decide import hook_rewrites, path_texts
from gitralph.decide.request import Draft
from gitralph.git import blobs, index, listing
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context
from gitralph.git.run import Git
from gitralph.git.snapshot import ABSENT, Content, LeadsOutError, Worktree, write_copy
from gitralph.git.trees import FILES, Entry
from gitralph.hook import journal, sessionfile
from gitralph.hook.journal import OFFERED, RENDERED, TEXT_LIMIT, WINDOW, Record, text_id
from gitralph.hook.record import path_of_call, path_text
from gitralph.records import path_records

NAME = "pre-commit"


def run(ctx: Context, bench: Workbench, made: Draft, stage: Stage) -> Taken:
    """Run the hook. Raises Failed where the hook refuses or changed what may not be taken, or MovedError."""
    # Only with the bytes from before the hook can anybody tell what the hook did.
    held = _read_all(stage.root, made.entries)
    passed = stage.run(NAME)
    if passed:
        _refuse_conflicts(ctx, stage)
    rewritten = {p: (held[p], now) for p, now in _read_all(stage.root, held).items() if now != held[p]}
    if stage.scratch is None:
        return _in_place(ctx, made, stage, rewritten, passed)
    return _in_scratch(ctx, bench, made, stage, rewritten, passed)


def _refuse_conflicts(ctx: Context, stage: Stage) -> None:
    """Raise Failed where the hook left its index unmerged, as after a ``git stash pop`` that failed.

    git refuses such an index. Ours would take the file from disk, with the marks of the conflict in it.
    """
    paths = index.unmerged(stage.git, stage.root)
    if paths:
        listed = ", ".join(f"'{shown(path)}'" for path in paths)
        message = f"the '{NAME}' hook left conflicts in {listed}; nothing was committed"
        raise Failed(message, *hooks.hook_failed(ctx, NAME).hints)


def _read_all(root: str, paths: Iterable[bytes]) -> dict[bytes, Content | None]:
    out: dict[bytes, Content | None] = {}
    with Worktree(root) as worktree:
        for path in paths:
            try:
                out[path] = worktree.read(path)
            except LeadsOutError:
                out[path] = None
    return out


def _texts(pair: Pair) -> tuple[bytes, bytes] | None:
    """Both texts of a plain file whose mode stayed; None for anything else."""
    old, new = pair
    if old is None or new is None or old.mode != new.mode or old.mode not in FILES:
        return None
    return (old.data, new.data) if old.data is not None and new.data is not None else None


def _add(stage: Stage, names: list[bytes]) -> None:
    """Add files that the hook rewrote without ``git add``: they go into the commit too."""
    if names:
        git = stage.git.at(GIT_LITERAL_PATHSPECS="1")
        git.run("-c", "core.fsmonitor=false", "add", "--", *names)


def _changed_entries(made: Draft, stage: Stage) -> dict[bytes, Entry | None]:
    """The entries in which the index, as the hook left it, differs from the commit's tree."""
    tree = stage.tree()
    if tree == made.tree:
        return {}
    found = listing.differences(stage.git.run("diff-tree", "-r", "-z", "--no-renames", made.tree, tree))
    return {path: new for path, (_, new) in found.items() if path not in stage.borrowed}


# --- in place ---


def _in_place(
    ctx: Context, made: Draft, stage: Stage, rewritten: Mapping[bytes, Pair], passed: bool
) -> Taken:
    # Where the file held others' lines too, the hook may have written about those.
    ours = [p for p, pair in rewritten.items() if made.now.get(p) == made.entries[p] and _texts(pair)]
    edited = {path for path in ours if _is_told(ctx, made, path, rewritten[path][1])}
    ours = [path for path in ours if path not in edited]
    told = [path for path in ours if _record_in_place(ctx, made, path, rewritten[path])]
    if not passed:
        raise _said_no(ctx, made, told)
    # Somebody may have edited one of these files meanwhile. Decide anew with that edit on record.
    if len(told) < len(ours):
        raise MovedError
    _add(stage, ours)
    changed = _changed_entries(made, stage)
    if not edited.isdisjoint(changed):  # the hook itself staged what was edited meanwhile
        raise MovedError
    if all(path in made.entries and made.now.get(path) == made.entries[path] for path in changed):
        return Taken(changed)
    raise Failed(
        f"the '{NAME}' hook changed files that this commit cannot take from it:\n"
        + hooks.patch_between(ctx.git, made.tree, stage.tree()),
        *_claims(ctx, made, changed),
        "then commit again",
    )


def _is_told(ctx: Context, made: Draft, path: bytes, now: Content | None) -> bool:
    """True where a record of an edit since the draft says how the file came to be as it is now."""
    state, journal = made.states.get(path), path_records.read_journal(ctx.layout, path)
    is_more = state is None or journal.length > state.journal.length
    last = journal.records[-1] if journal.records and is_more else None
    return now is not None and now.data is not None and last is not None and last.after == text_id(now.data)


def _said_no(ctx: Context, made: Draft, told: list[bytes]) -> Failed:
    if not told:
        return hooks.hook_failed(ctx, NAME)
    listed = ", ".join(f"'{shown(path)}'" for path in told)
    whose = "" if made.by_person else ", which counts as this session's"
    return Failed(
        f"the '{NAME}' hook said no; nothing was committed",
        f"it rewrote {listed}{whose}: look at it and commit again",
    )


def _record_in_place(ctx: Context, made: Draft, path: bytes, pair: Pair) -> bool:
    """Record what the hook did to a file; False where somebody else may have written it too."""
    old, new = pair
    if old is None or new is None or _is_open(ctx, path, made.session):
        return False
    state = made.states.get(path)
    if made.by_person:  # nothing of a person's is recorded
        return state is None or path_records.journal_bytes(ctx.layout, path) == state.journal.length
    step = _step(made, "edit", old, new)
    large = len(old.data or b"") > TEXT_LIMIT or len(new.data or b"") > TEXT_LIMIT
    if large or state is None or path_texts.claimants(state):
        step.hunks, step.exact, step.unknown_before, step.before = None, journal.NONE, True, None
    return _append(ctx, path, step, old.data, -1 if state is None else state.journal.length)


def _step(made: Draft, op: str, old: Content, new: Content) -> Record:
    before, after = old.data or b"", new.data or b""
    return Record(
        made.session,
        op,
        journal.text_id(before),
        journal.text_id(after),
        WINDOW,
        hunks=[journal.hunk_between(before, after)],
        mode=(f"{old.mode:o}", f"{new.mode:o}"),
        tool=NAME,
        head=made.head.oid,
        ts=sessionfile.now(),
    )


def _append(ctx: Context, path: bytes, step: Record, before: bytes | None, length: int) -> bool:
    """Append a record to a journal that has not grown; a ``length`` of -1 skips this check."""
    with files.Locked(ctx.layout.journal(path)) as fd:
        # A record came since the commit looked, so what the hook rewrote may hold that edit too.
        if length not in (-1, os.fstat(fd).st_size):
            return False
        sessionfile.claim(ctx.layout, step.session, line_form(path))
        journal.append(ctx.layout, fd, path, step, before)
        return True


def _is_open(ctx: Context, path: bytes, session: str) -> bool:
    """True when another session's tool call on the path has begun and not ended."""
    own = os.path.basename(os.path.dirname(ctx.layout.call(session, "")))
    wanted = path_text(path)
    for folder in files.names(ctx.layout.calls):
        for name in files.names(f"{ctx.layout.calls}/{folder}") if folder != own else ():
            if path_of_call(f"{ctx.layout.calls}/{folder}/{name}") == wanted:
                return True
    return False


# --- in the scratch worktree ---


def _in_scratch(
    ctx: Context,
    bench: Workbench,
    made: Draft,
    stage: Stage,
    rewritten: Mapping[bytes, Pair],
    passed: bool,
) -> Taken:
    if not passed:
        others = _read_others(stage, made)
        if not rewritten and not others:
            raise hooks.hook_failed(ctx, NAME)
        message = f"the '{NAME}' hook said no; nothing was committed"
        raise offer(ctx, bench, made, {**rewritten, **others}, message)
    # Compare twice: first with what the hook added itself, then also with what it only rewrote.
    by_hook = _changed_entries(made, stage)
    _add(stage, [path for path, pair in rewritten.items() if path not in by_hook and _texts(pair)])
    changed = _changed_entries(made, stage)
    if not changed:
        return Taken()
    pairs = {path: _pair(made, stage, path, entry) for path, entry in changed.items()}
    taken = _rendered(ctx, made, changed, pairs)
    if taken is None:
        raise refused(ctx, bench, made, pairs)
    return taken


def refused(ctx: Context, bench: Workbench, made: Draft, pairs: Mapping[bytes, Pair]) -> Failed:
    """The error for a hook that passed but changed what is not this session's to commit."""
    message = f"the '{NAME}' hook changed lines that this commit cannot take from it"
    return offer(ctx, bench, made, pairs, message)


def _read_others(stage: Stage, made: Draft) -> dict[bytes, Pair]:
    """Tracked files outside the commit that a refusing hook changed."""
    said = stage.git.run(
        "-c", "core.fsmonitor=false", "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", made.tree
    )
    paths = set(nul.rows(said)) - set(made.entries) - set(stage.borrowed)
    tree = made.base
    out: dict[bytes, Pair] = {}
    for path, now in _read_all(stage.root, sorted(paths)).items():
        out[path] = (_of_entry(stage.git, path, tree.entry(path)), now)
    return out


def _of_entry(git: Git, path: bytes, entry: Entry | None) -> Content | None:
    """An entry as a checkout would write it; None for an entry that is no plain file."""
    if entry is None or entry.mode not in FILES:
        return None
    return Content(entry.mode, blobs.working_form(git, path, entry))


def _pair(made: Draft, stage: Stage, path: bytes, entry: Entry | None) -> Pair:
    old = made.entries[path] if path in made.entries else made.base.entry(path)
    return _of_entry(stage.git, path, old), _of_entry(stage.git, path, entry)


def _rendered(
    ctx: Context, made: Draft, changed: dict[bytes, Entry | None], pairs: Mapping[bytes, Pair]
) -> Taken | None:
    """The hook's change as this session's; None where it touches a line of anybody else."""
    taken = Taken(changed, pairs=pairs)
    there = _read_all(ctx.repo.root, changed)
    for path, pair in pairs.items():
        texts = _texts(pair) if path in made.entries and path in made.states else None
        if made.by_person or texts is None or path_texts.claimants(made.states[path]):
            return None
        head = _of_entry(ctx.git.at(ctx.repo.root), path, made.base.entry(path))
        # The lines that this commit adds: a hook may rewrite these, but no line of HEAD.
        own = hook_rewrites.added(head.data if head else None, texts[0])
        wanted = _for_disk(ctx, made, path, there[path], hook_rewrites.blocks(*texts, own), texts[0])
        disk = there[path]
        if wanted is None or disk is None or disk.data is None:
            return None
        taken.texts[path] = disk.data, wanted
        taken.records[path] = _step(made, RENDERED, disk, Content(disk.mode, wanted))
    return taken


def _for_disk(
    ctx: Context,
    made: Draft,
    path: bytes,
    disk: Content | None,
    found: list[hook_rewrites.Block] | None,
    text: bytes,
) -> bytes | None:
    """The file on disk with the changes of the commit's text in it; None where they do not fit."""
    if disk is None or disk.data is None or found is None:
        return None
    seen: bytes | None = disk.data
    state = made.states.get(path)
    if state is not None:
        rows = [row for row in journal.replay(state.journal, ctx.layout) if row[0].is_exact]
        seen = hook_rewrites.seen(rows, disk.data).worktree
    if seen is None:
        return None
    there = hook_rewrites.carried(found, text, seen)
    return hook_rewrites.apply(seen, there) if len(there) == len(found) else None


def keep_texts(ctx: Context, taken: Taken) -> None:
    """Store the texts from which the records start.

    A draft can then replay the records before they are written.
    """
    for path, (before, _) in taken.texts.items():
        oid = taken.records[path].before
        assert oid is not None
        journal.store_text(ctx.layout, before, oid)


def write(ctx: Context, made: Draft, taken: Taken) -> None:
    """Write the records that a draft used. Raises MovedError where a journal has grown."""
    for path, step in taken.records.items():
        if not _append(ctx, path, step, taken.texts[path][0], made.states[path].journal.length):
            raise MovedError


# --- the patch ---


def offer(ctx: Context, bench: Workbench, made: Draft, pairs: Mapping[bytes, Pair], message: str) -> Failed:
    """Keep the hook's change as a patch for the files on disk; the session owns it once it is applied."""
    applies: dict[bytes, tuple[Content, Content]] = {}
    there = _read_all(ctx.repo.root, pairs)
    for path, pair in pairs.items():
        wanted = _wanted(ctx, made, path, there[path], pair)
        if wanted is not None:
            applies[path] = (there[path] or ABSENT, wanted)
            _note_offer(ctx, made, path, *applies[path])
    stuck = sorted(set(pairs) - set(applies))
    rest = {path: (pairs[path][0] or ABSENT, pairs[path][1] or ABSENT) for path in stuck}
    text = _patch(ctx.git, bench, {**applies, **rest})
    hints = [keep_patch(ctx, made.session, _patch(ctx.git, bench, applies))] if applies else []
    if stuck:
        listed = ", ".join(f"'{shown(path)}'" for path in stuck)
        hints.append(f"the change of {listed} does not fit the file as it stands: make it there by hand")
    whose = "" if made.by_person else ": the change counts as this session's"
    hints += [*_claims(ctx, made, applies), f"then commit again{whose}"]
    return Failed(f"{message}:\n{text.decode('utf-8', 'replace')}", *hints)


def _wanted(ctx: Context, made: Draft, path: bytes, disk: Content | None, pair: Pair) -> Content | None:
    """The file on disk as the hook wants it; None where the hook's change does not fit."""
    old, new = pair
    if disk is not None and disk.absent and old in (None, ABSENT) and new is not None:
        return new
    texts = _texts(pair)
    if texts is None or disk is None:
        return None
    found = _for_disk(ctx, made, path, disk, hook_rewrites.blocks(*texts), texts[0])
    return None if found is None else Content(disk.mode, found)


def _note_offer(ctx: Context, made: Draft, path: bytes, disk: Content, wanted: Content) -> None:
    state = made.states.get(path)
    if made.by_person or state is None or path not in made.entries or path_texts.claimants(state):
        return
    step = _step(made, OFFERED, disk, wanted)
    # A hook that refuses twice makes the same offer twice.
    told = [(one.op, one.before, one.after) for one in state.journal.records if one.session == made.session]
    if (step.op, step.before, step.after) not in told:
        _append(ctx, path, step, disk.data, -1)


def keep_patch(ctx: Context, session: str, text: bytes) -> str:
    """Write the patch file of a session; returns the command that applies it."""
    name = ctx.layout.patch(session)
    files.write_whole(name, text)
    return f"git -C {shlex.quote(ctx.repo.root)} apply {shlex.quote(name)}"


def notes(ctx: Context, bench: Workbench, session: str, taken: Taken) -> list[str]:
    """Notes for a commit that has lines of a hook which the files do not have."""
    if not taken.texts:
        return []
    contents: dict[bytes, tuple[Content, Content]] = {}
    for path, (before, after) in taken.texts.items():
        contents[path] = Content(0o100644, before), Content(0o100644, after)
    command = keep_patch(ctx, session, _patch(ctx.git, bench, contents))
    listed = ", ".join(f"'{shown(path)}'" for path in contents)
    return [
        f"the '{NAME}' hook rewrote lines of {listed} in the commit; '{command}' brings them into the file"
    ]


def _claims(ctx: Context, made: Draft, paths: Iterable[bytes]) -> list[str]:
    """The command that claims what the session's records of lines cannot tell."""
    states = made.states
    others = [p for p in paths if p not in states or path_texts.claimants(states[p])]
    if made.by_person or not others:
        return []
    listed = " ".join(shlex.quote(os.fsdecode(path)) for path in sorted(others))
    return [f"git ralph track --session {shlex.quote(ctx.called(made.session))} -- {listed}"]


def _patch(git: Git, bench: Workbench, contents: Mapping[bytes, tuple[Content, Content]]) -> bytes:
    """A patch that ``git apply`` takes, from the bytes of the files."""
    folder = f"{bench.folder}/patch-{os.urandom(4).hex()}"
    for name in ("a", "b"):
        os.makedirs(f"{folder}/{name}")
    for path, (old, new) in contents.items():
        for name, content in (("a", old), ("b", new)):
            if content.data is not None:
                write_copy(f"{folder}/{name}", path, content)
    done = git.at(folder).try_run(
        # The bytes stay as they are: the patch is for these files, not for the index.
        "-c",
        "core.autocrlf=false",
        "-c",
        "core.safecrlf=false",
        "diff",
        "--no-index",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
        "--src-prefix=",
        "--dst-prefix=",
        "a",
        "b",
    )
    return done.stdout

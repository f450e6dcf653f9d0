"""Everything that a decision about paths looks at, read once: HEAD's tree, files, their blobs, the records.

A ``Question`` says where and for whom. :func:`look` answers it with a ``Scene``, which nothing changes.
``commit``, ``status``, ``diff``, ``why``, ``undo`` and ``assign`` all decide on a scene, so that they cannot
disagree.
"""

from __future__ import annotations

import contextlib
import errno
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import NamedTuple

from gitralph.base import files, nul
from gitralph.base.errors import Fatal
from gitralph.base.kinds import Kind, Why
from gitralph.base.layout import Layout
from gitralph.decide import decision
from gitralph.decide.decision import Left, Use
from gitralph.git import blobs, history, index, refs, uncommitted
from gitralph.git.blobs import Workbench
from gitralph.git.config import Config
from gitralph.git.context import Context
from gitralph.git.refs import Head
from gitralph.git.repository import Repository
from gitralph.git.run import GitError
from gitralph.git.snapshot import ABSENT, Content, LeadsOutError, Worktree
from gitralph.git.texts import is_binary
from gitralph.git.trees import GITLINK, BlockedError, Entry, TreeReader
from gitralph.hook.journal import GAP, Record, replay, text_id
from gitralph.lines.terms import step_of
from gitralph.records import path_records
from gitralph.records.path_records import Claims, PathState

Entries = Mapping[bytes, Entry | None]


class Wishes(NamedTuple):
    """How the user wants doubtful paths treated.

    ``with_shell``: take also what shell commands of the session may have made. ``own_shell``: take it only
    where no other session's command may have made it.
    """

    skip_entangled: bool = False
    include_entangled: bool = False
    whole_file: bool = False
    with_shell: bool = False
    own_shell: bool = False


# So many recorded texts of a filtered file are put through its filter, which may be a slow program.
_CLEANED = 30
# All who wish nothing share this value; it is frozen.
_NO_WISHES = Wishes()


@dataclass(frozen=True)
class Question:
    """Where and for whom a decision is asked.

    ``family`` are the ids of the session and its subagents' sessions; they commit as one. ``reader`` reads
    the tree against which edits are judged: HEAD's, or on an orphan branch what ``orphan`` says.
    """

    repo: Repository
    config: Config
    layout: Layout
    bench: Workbench
    reader: TreeReader
    worktree: Worktree
    family: tuple[str, ...]
    wishes: Wishes
    head: str | None

    @cached_property
    def own(self) -> frozenset[str]:
        """The family as a set."""
        return frozenset(self.family)

    @property
    def by_person(self) -> bool:
        """True when a person asks for what no session owns."""
        return decision.UNRECORDED in self.own

    @property
    def converts(self) -> bool:
        """True when git may convert line ends here whatever the attributes say."""
        # `input` converts only on the way into the repository (git-config(1)), and a commit goes that way.
        return (self.config.get("core.autocrlf") or "false").lower() in ("true", "input")

    @cached_property
    def _states(self) -> dict[bytes, PathState]:
        return {}

    @cached_property
    def _claims(self) -> dict[str, Claims]:
        return {}

    def recorded_at(self, path: bytes) -> PathState:
        """The records of a path that is not among those asked for. Each journal is read once."""
        if path not in self._states:
            self._states[path] = path_records.path_state(self.layout, path, [])
        return self._states[path]

    def claims_of(self, session: str) -> Claims:
        """What a session's manifest claims. Each manifest is read once, and only when somebody asks."""
        if session not in self._claims:
            self._claims[session] = path_records.claims(self.layout, session)
        return self._claims[session]


@dataclass(frozen=True)
class Scene(Question):
    """A question with what was read for it: ``contents`` and ``entries`` are the files as they stand.

    ``barred`` are paths that no commit here may take, each with the reason; ``aside`` those of which a
    person's commit leaves what shell commands may have made.
    """

    states: Mapping[bytes, PathState]
    contents: Mapping[bytes, Content]
    entries: Entries
    ignored: frozenset[bytes]
    barred: Mapping[bytes, Left]
    aside: Mapping[bytes, Left] = field(default_factory=dict)

    @cached_property
    def filtered(self) -> set[bytes]:
        """The paths that a clean filter governs."""
        return _filtered(self, self.contents)

    @cached_property
    def _head_ids(self) -> dict[bytes, set[str | None]]:
        return {}

    def head_ids(self, path: bytes) -> set[str | None]:
        """The ids that HEAD's text can have in a record: the blob's own, and that of a checkout's file.

        The second one of files without lines: filtered ones, and texts in UTF-16 (`working-tree-encoding`).
        """
        if path not in self._head_ids:
            entry = self.reader.entry(path)
            self._head_ids[path] = found = {None if entry is None else entry.oid.decode()}
            content = self.contents.get(path)
            has_no_lines = path in self.filtered or (content is not None and is_binary(content.data))
            if entry is not None and has_no_lines:
                with contextlib.suppress(GitError):  # as of git-lfs without its server
                    found.add(text_id(blobs.working_form(self.repo.git.at(self.repo.root), path, entry)))
                    if path in self.filtered and path in self.states:
                        found |= self._stored_as_head(path, entry)
        return self._head_ids[path]

    def _stored_as_head(self, path: bytes, entry: Entry) -> set[str | None]:
        """The id of the last recorded text that a filter makes HEAD's blob of.

        A filter that drops lines, such as the output of a notebook, makes one blob of many texts.
        """
        texts = dict[str, bytes]()
        for record, *both in reversed(list(replay(self.states[path].journal, self.layout))):
            texts |= {text_id(text): text for text in reversed(both) if text is not None and record.is_exact}
        for name, text in list(texts.items())[:_CLEANED]:
            wanted = {path: Content(entry.mode, text)}
            made = blobs.blobs_for(self.bench, f"cleaned-{name}", wanted, self.reader, self.worktree)
            if made[path] == entry:
                return {name}
        return set()

    @cached_property
    def contains(self) -> Callable[[str], bool]:
        """Tells whether a commit is HEAD or before it; where records began is asked for all paths at once."""
        begun = (state.journal.records[0].head for state in self.states.values() if state.journal.records)
        if self.head is not None:
            refs.look_up(self.repo, self.head, (oid for oid in begun if oid is not None))
        return partial(refs.contains, self.repo, refs.Head(None, self.head))

    def is_as_in_head(self, path: bytes) -> bool:
        """True when git would store the file just as HEAD has it."""
        return self.entries.get(path) == self.reader.entry(path)


def open_bench(ctx: Context, quarantine: bool) -> Workbench:
    """The bench: a private folder in the state's ``tmp``, in which a commit is drafted.

    With ``quarantine``, for a caller that only looks, no object leaves the folder. Where the state cannot be
    written, it lies in the system's temporary folder then; without ``quarantine`` that case raises Fatal.
    """
    parent = ctx.layout.tmp
    try:
        files.make_folder(parent)
        return Workbench.make(parent, ctx.git, ctx.repo.common_dir, quarantine, lasting=not quarantine)
    except OSError as error:
        if not quarantine and error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise Fatal(f"cannot commit: '{ctx.layout.top}' cannot be written: {error.strerror}") from error
        if not quarantine:
            raise
    return Workbench.make(tempfile.gettempdir(), ctx.git, ctx.repo.common_dir, quarantine, lasting=False)


def question(
    ctx: Context,
    bench: Workbench,
    worktree: Worktree,
    head: Head,
    family: Iterable[str],
    wishes: Wishes = _NO_WISHES,
) -> Question:
    """Make the question for the worktree as it stands against ``head``.

    Raises Fatal where HEAD is damaged.
    """
    return Question(
        repo=ctx.repo,
        config=ctx.config,
        layout=ctx.layout,
        bench=bench,
        reader=history.base_of(ctx.repo, head),
        worktree=worktree,
        family=tuple(family),
        wishes=wishes,
        head=head.oid,
    )


def _filtered(asked: Question, paths: Iterable[bytes]) -> set[bytes]:
    return blobs.filtered_paths(asked.repo.git.at(asked.repo.root), asked.config, paths)


def records_of(asked: Question, state: PathState) -> list[Record]:
    """All records of the family for a path, committed or not, in the order of the journal."""
    records = [r for s in asked.family for r in state.records.get(s, [])]
    return sorted(records, key=lambda record: record.offset)


def manifest_upto(asked: Question, state: PathState, session: str) -> int | None:
    """How many bytes of a session's manifest were read, None where it does not name the path.

    The manifest of a session outside the family is read on demand.
    """
    if session in asked.own or session in state.manifest_upto:
        return state.manifest_upto.get(session)
    claim = asked.claims_of(session)
    return claim.upto(state.path) if state.path in claim.fresh or state.path in claim.old else None


def uses(
    asked: Question,
    state: PathState,
    sessions: Iterable[str] | None = None,
    taken: Sequence[str] | None = None,
) -> tuple[Use, ...]:
    """How far a commit read the records of these sessions (by default the family's), for the commit log.

    ``taken`` are the keys of the pieces that go, None where the path goes whole.
    """
    makers = {} if taken is None else {str(r.offset): r.session for r in state.journal.records if r.op != GAP}
    out = []
    for name in sorted(state.owners().intersection(asked.own if sessions is None else sessions)):
        upto = state.journal.size if state.records.get(name) else -1
        units = None if taken is None else tuple(u for u in taken if makers.get(step_of(u)) == name)
        out.append(Use(name, upto, manifest_upto(asked, state, name), units))
    return tuple(out)


def look(asked: Question, states: Mapping[bytes, PathState]) -> Scene:
    """Read the files and make their blobs. The scene also says which paths no commit here may take."""
    contents: dict[bytes, Content] = {}
    barred: dict[bytes, Left] = {}
    for path, state in states.items():
        try:
            contents[path] = asked.worktree.read(path)
            asked.reader.lookup(path)
        except LeadsOutError:
            if _deleted(asked, state):  # for git, too, nothing exists beyond a symbolic link
                contents[path] = ABSENT
                continue
            barred[path] = Left(path, decision.OUTSIDE, Why(Kind.BEHIND_A_LINK))
        except BlockedError as blocked:
            if blocked.mode == GITLINK:
                barred[path] = Left(path, decision.SUBMODULE, Why(Kind.IN_SUBMODULE, path=blocked.path))
        else:
            barred |= _in_another_repository(asked, path, contents[path])
    gone = (path for path, content in contents.items() if content.absent and asked.reader.entry(path))
    for path in index.left_out(asked.repo.git, asked.repo.root, gone):
        barred[path] = Left(path, decision.GONE, Why(Kind.OUTSIDE_CONE))
    wanted = {path: content for path, content in contents.items() if path not in barred}
    entries, unfiltered = _make_blobs(asked, wanted)
    # git tracks what HEAD has, whatever the ignore rules say. So only a new path can be ignored.
    new = [p for p, c in wanted.items() if not c.absent and asked.reader.entry(p) is None]
    return Scene(
        **{one.name: getattr(asked, one.name) for one in fields(asked)},
        states=states,
        contents=contents,
        entries=entries,
        ignored=frozenset(ignored_paths(asked.repo, new)),
        barred={**barred, **unfiltered},
    )


def look_unfiltered(asked: Question, states: Mapping[bytes, PathState]) -> Scene:
    """As :func:`look` where git runs no filter: a filtered file is as in HEAD if git's index says so."""
    scene = look(asked, states)
    head = asked.reader.entry
    unsure = {path for path in scene.filtered if head(path) is not None and not scene.is_as_in_head(path)}
    if not unsure:
        return scene
    clean = unsure.difference(uncommitted.dirty_paths(asked.repo, asked.config, unsure))
    return replace(scene, entries={**scene.entries, **{path: head(path) for path in clean}})


def _in_another_repository(asked: Question, path: bytes, content: Content) -> dict[bytes, Left]:
    """Bar a new path below a nested ``.git``: only a script can have recorded it, our hook never does."""
    if content.absent or asked.reader.entry(path) is not None:
        return {}
    nested = history.repository_above(asked.repo, path)
    # Any script may write a line into a manifest.
    if nested is None:
        return {}
    return {path: Left(path, decision.SUBMODULE, Why(Kind.IN_REPOSITORY, path=nested))}


def _deleted(asked: Question, state: PathState) -> bool:
    """True when the last record of the path is a deletion by this session."""
    mine = records_of(asked, state)
    return bool(mine) and mine[-1].after is None and mine[-1] is state.journal.records[-1]


def _make_blobs(
    asked: Question, wanted: dict[bytes, Content]
) -> tuple[dict[bytes, Entry | None], dict[bytes, Left]]:
    """Make the entries of the files as they stand; paths whose filter fails are refused."""
    try:
        return _blobs(asked, "now", wanted), {}
    except GitError:
        # One filter that fails makes the whole `git update-index` fail. So find the path to blame and let the
        # other paths go on.
        suspects = sorted(_filtered(asked, wanted))
        # Without a filter to blame the failure is git's own, and the whole question fails with it.
        if not suspects:
            raise
    entries: dict[bytes, Entry | None] = {}
    left = {}
    for number, path in enumerate(suspects):
        try:
            entries |= _blobs(asked, f"one-{number}", {path: wanted[path]})
        except GitError:
            left[path] = Left(path, decision.FILTERED, Why(Kind.FILTER_FAILED))
    plain = {path: content for path, content in wanted.items() if path not in suspects}
    return entries | _blobs(asked, "plain", plain), left


def _blobs(asked: Question, name: str, contents: dict[bytes, Content]) -> dict[bytes, Entry | None]:
    return blobs.blobs_for(asked.bench, name, contents, asked.reader, asked.worktree)


def ignored_paths(repo: Repository, paths: list[bytes]) -> set[bytes]:
    """Those of ``paths`` that git ignores and does not track.

    Whether git tracks one is asked only where a rule names it: git reads the whole index for that.
    """
    return _check_ignore(repo, _check_ignore(repo, paths, "--no-index"))


def _check_ignore(repo: Repository, paths: Collection[bytes], *words: str) -> set[bytes]:
    if not paths:
        return set()
    done = repo.git.at(repo.root).try_run(
        "-c",
        # This look must start no program that the configuration names.
        "core.fsmonitor=false",
        "check-ignore",
        *words,
        "-z",
        "--stdin",
        stdin=nul.joined(sorted(paths)),
    )
    return set(nul.rows(done.stdout))


def read_blob(scene: Scene, entry: Entry) -> bytes:
    """The raw bytes of a blob. Raises Fatal where the object is missing."""
    try:
        return scene.repo.objects.raw(entry.oid)[1]
    except KeyError:
        raise Fatal(f"object {entry.oid.decode()} is missing from the object database") from None


def text_at(scene: Scene, commit: str | None, path: bytes) -> bytes | None:
    """The raw text that a recorded commit held at a path; None where it held none, or is not known."""
    entry = history.entry_at(scene.repo, commit, path)
    return read_blob(scene, entry) if isinstance(entry, Entry) else None

"""Every name below ``<common dir>/ralph-sessions/``; no other module spells one.

Fast lane. The main worktree's own files lie at the top, those of a linked worktree under ``worktrees/<id>/``.
``<id>`` is the name of git's admin folder and a random token that is kept there, because git gives a name
like ``w1`` out again.
"""

import os

from gitralph.base import files
from gitralph.base.gitdir import Place
from gitralph.base.ids import digest
from gitralph.base.quote import printable

FOLDER = "ralph-sessions"
FORMAT = "2"
"""The format number in a state folder. Only this version and later ones may touch such a folder.

In format ``1`` records noted what commits had taken. Since ``2`` content tells it, and shell commands have
records, so the older version would commit things twice. Files of format ``1`` are still read.
"""
KNOWN = ("1", FORMAT)
# It lies in git's own admin folder of the worktree, so that git removes both together.
WORKTREE_ID_FILE = "ralph-worktree"
MAIN = "main"

README = """\
This folder belongs to gitralph (git ralph). It records which session edited what.
Read it freely; append only through the tool, or by adding a path to a .files file.
Deleting the folder forgets what is pending and harms nothing else.

<session>.json      who a session is: agent, plan, task, bead, worktree, start, end
<session>.files     manifest: the paths it changed, one a line, from the repository's root
<session>.commits   what its commits took, one JSON line each
<session>.pending   it may have something uncommitted; looked is younger than what these tell of
names/<name>        which session people call so: its id
<session>.patch     what a hook wants changed or changed in the commit alone; git apply brings it in
finished/           the same three files of sessions that were over for a day; put away by gc
finished/commits    which of these sessions made which commit, a line each; gc can make it anew
edits/              one journal a path: every edit, by whom, before and after
objects/            full texts the journals need (zlib)
calls/              what a file held, or what was dirty, before a tool call
shells.jsonl        shell commands of agents: when they began and ended, what changed meanwhile
intents/            commits about to land; normally empty
narrowed/           plain git commits that the guard narrowed and git is making; normally empty
events-*.jsonl      what happened in one run, one JSON line each; events.jsonl when there is no run
current-events      the events file of the current run
current-plan        the plan that git ralph run takes without an argument
branches.jsonl      branches made of a session's commits, a line each time one is made or moved
noted               up to which HEAD commits have their notes for git-ai
runs/               what a run did: its tasks, their sessions and commits; a summary in Markdown
runs/<run>/         what its agents and checks printed, one file a task
fleet/              what other clones of the remote work on and made; objects/ of it may be deleted
report.html         the page that git ralph report --open showed last
proofs/             which trees passed which command, and when
prove/, scratch/    worktrees of our own, for proofs and for hooks
cursors/            how far a named reader has read
beads/<bead>.json   a work item: worktree, branch, base, owner, loop
merges/             merges of a bead about to land; normally empty
spawns/             what the next launch of a subagent shall get
locks/              kernel locks (filelock.FileLock), and lines of who waits; harmless when nobody holds them
tmp/                work in progress; emptied by the next command
hooks.log           what hooks could not record
worktrees/<id>/     .files, edits/, noted and active-session of a linked worktree
"""


class StateError(Exception):
    """The state folder cannot be used: wrong format, a link, no permission."""


class UnknownFormatError(StateError):
    """Another version wrote the state folder."""


def session_of(stem: str) -> str:
    """The session for which the stem of a file's name stands; :meth:`Layout.stem` makes stems."""
    return stem.partition("~")[0]


class Layout:
    """Paths for one worktree; ``top`` is shared by all, ``own`` is this worktree's."""

    __slots__ = ("own", "token", "top")

    def __init__(self, top: str, token: str) -> None:
        self.top = top
        self.token = token
        self.own = top if token == MAIN else f"{top}/worktrees/{token}"

    def stem(self, session: str) -> str:
        """The file name for a session id. Ids that differ only in case get different names."""
        # The folder has a README. Where `readme` exists too, the disk ignores case (APFS, NTFS), and `S1` and
        # `s1` would be one file.
        if session.lower() != session and os.path.lexists(self.top + "/readme"):
            return f"{session}~{digest(session.encode())[:8]}"
        return session

    def record(self, session: str) -> str:
        return f"{self.top}/{self.stem(session)}.json"

    def commits(self, session: str) -> str:
        return f"{self.top}/{self.stem(session)}.commits"

    def manifest(self, session: str) -> str:
        return f"{self.own}/{self.stem(session)}.files"

    @property
    def finished(self) -> str:
        """What gc put away of ended sessions; only questions about the past read it."""
        return self.top + "/finished"

    @property
    def finished_index(self) -> str:
        """The index of which finished session made which commit."""
        return f"{self.finished}/commits"

    def finished_record(self, session: str) -> str:
        return f"{self.finished}/{self.stem(session)}.json"

    def finished_commits(self, session: str) -> str:
        return f"{self.finished}/{self.stem(session)}.commits"

    def finished_manifest(self, session: str) -> str:
        """The manifest of a finished session for this worktree; no session id has an @."""
        where = "" if self.token == MAIN else f"@{self.token}"
        return f"{self.finished}/{self.stem(session)}{where}.files"

    def pending(self, session: str) -> str:
        """The mark of a session that may have something pending here; git's hook, a shell script, asks."""
        return f"{self.own}/{self.stem(session)}.pending"

    @property
    def looked(self) -> str:
        """A file dated at the last look at manifests.

        A younger manifest has lines by a script, which sets no mark.
        """
        return self.own + "/looked"

    def patch(self, session: str) -> str:
        """The change that a repository hook wants, to be applied by hand."""
        return f"{self.own}/{self.stem(session)}.patch"

    @property
    def names(self) -> str:
        return self.top + "/names"

    def name(self, name: str) -> str:
        """The file that says which session has this name."""
        return f"{self.names}/{name}"

    def last_number(self, stem: str) -> str:
        """The number given last to a session of an agent. A name has no dot, so this is no name."""
        return f"{self.names}/{stem}.last"

    def journal(self, path: bytes) -> str:
        return f"{self.own}/edits/{path_key(path)}.jsonl"

    def text(self, oid: str) -> str:
        return f"{self.top}/objects/{oid[:2]}/{oid[2:]}"

    def call(self, session: str, call: str) -> str:
        return f"{self.own}/calls/{self.stem(session)}/{digest(call.encode('utf-8', 'replace'))}"

    def shell_call(self, session: str, call: str) -> str:
        """What was dirty before a shell command.

        It lies at the top, since the command may leave the worktree.
        """
        name = digest(call.encode("utf-8", "replace"))
        return f"{self.top}/calls/{self.stem(session)}/shell-{name}"

    def told(self, session: str) -> str:
        """What a session was told of others' lines. A call's name is a digest, so no call has this name."""
        return f"{self.own}/calls/{self.stem(session)}/told"

    def word(self, session: str) -> str:
        """What a person wants a session's agent to be told.

        It lies at the top: the agent may stop in any worktree.
        """
        return f"{self.top}/calls/{self.stem(session)}/word"

    def lock(self, name: str) -> str:
        return f"{self.top}/locks/{name}.lock"

    def turn(self, name: str) -> str:
        """The file on which those stand in line who wait for a lock."""
        return f"{self.lock(name)}.turn"

    def bead(self, bead: str) -> str:
        return bead_record(self.top, bead)

    @property
    def beads(self) -> str:
        return self.top + "/beads"

    @property
    def merges(self) -> str:
        return self.top + "/merges"

    @property
    def spawns(self) -> str:
        return self.top + "/spawns"

    @property
    def edits(self) -> str:
        return self.own + "/edits"

    @property
    def calls(self) -> str:
        return self.own + "/calls"

    @property
    def shells(self) -> str:
        return self.own + "/shells.jsonl"

    def staged(self, session: str) -> str:
        """The mark of a session whose shell commands have staged something that was not put back yet."""
        return f"{self.own}/{self.stem(session)}.staged"

    def restaging(self, session: str) -> str:
        """The intent to put back what a session's shell commands staged here."""
        return f"{self.intents}/stage-{digest(f'{self.token} {session}'.encode())[:16]}.json"

    @property
    def intents(self) -> str:
        return self.top + "/intents"

    @property
    def narrowed(self) -> str:
        return self.top + "/narrowed"

    @property
    def tmp(self) -> str:
        return self.top + "/tmp"

    @property
    def log(self) -> str:
        return self.top + "/hooks.log"

    @property
    def branches(self) -> str:
        """The branches that hold one session's commits, and where they were left."""
        return self.top + "/branches.jsonl"

    @property
    def noted(self) -> str:
        """The HEAD up to which commits have got their notes."""
        return self.own + "/noted"

    @property
    def active(self) -> str:
        return self.own + "/active-session"

    def events(self, name: str) -> str:
        return f"{self.top}/{name}"

    @property
    def current_events(self) -> str:
        return self.own + "/current-events"

    @property
    def current_plan(self) -> str:
        return self.own + "/current-plan"

    def run(self, run: str) -> str:
        return f"{self.top}/runs/{run}.json"

    def run_summary(self, run: str) -> str:
        return f"{self.top}/runs/{run}.md"

    @property
    def report(self) -> str:
        """The page that ``git ralph report --open`` shows."""
        return self.top + "/report.html"

    @property
    def proofs(self) -> str:
        return self.top + "/proofs"

    def proof(self, key: str) -> str:
        """The note that a tree passed a command."""
        return f"{self.proofs}/{key}.json"

    def run_folder(self, run: str) -> str:
        """The folder for what the calls of a run printed, and for the start of its tasks."""
        return f"{self.top}/runs/{run}"

    @property
    def fleet(self) -> str:
        """Everything that has to do with other clones."""
        return self.top + "/fleet"

    @property
    def fleet_record(self) -> str:
        """Exists while the repository is in a fleet."""
        return self.fleet + "/fleet.json"

    @property
    def fleet_objects(self) -> str:
        """Git objects of claims and logs. The repository's own store has none of them."""
        return self.fleet + "/objects"

    @property
    def fleet_due(self) -> str:
        """An empty file; its time of change is the time when the next sign of life is due."""
        return self.fleet + "/due"

    def fleet_file(self, name: str) -> str:
        return f"{self.fleet}/{name}.json"

    def fleet_log(self, writer: str) -> str:
        """What a member published, one Agent Trace record on a line."""
        return f"{self.fleet}/{writer}.jsonl"

    def cursor(self, name: str) -> str:
        return f"{self.top}/cursors/{self.stem(name)}.json"

    def main(self) -> "Layout":
        """The layout of the same state for the main worktree."""
        return Layout(self.top, MAIN)


def bead_record(top: str, bead: str) -> str:
    """The record of a bead below a state folder."""
    return f"{top}/beads/{bead}.json"


def path_key(path: bytes) -> str:
    """The journal's name for a tree path: readable for people, made unique by a digest."""
    name = path.rsplit(b"/", 1)[-1][:40].decode("ascii", "replace")
    readable = "".join(c if (c.isalnum() and c.isascii()) or c in "._-" else "_" for c in name)
    # Without a leading dot, which would hide the file in a listing. The digest alone identifies the path, by
    # 96 bits.
    return f"{readable.lstrip('.') or '_'}-{digest(path)[:24]}"


def state_folder(place: Place) -> str:
    """The state folder of a repository."""
    return f"{place.common_dir}/{FOLDER}"


def admin_folder(common_dir: str, token: str) -> str | None:
    """The admin folder of a linked worktree's state; None when git gave its name to another worktree."""
    folder = f"{common_dir}/worktrees/{token.rpartition('-')[0]}"
    try:
        said = files.read_bytes(f"{folder}/{WORKTREE_ID_FILE}", 64)
    except OSError:
        return None
    # git gives the name of a removed worktree out again. The token was in the folder that is gone.
    return folder if said.strip() == token.rpartition("-")[2].encode() else None


def linked_root(common_dir: str, token: str) -> str | None:
    """The root of the linked worktree to which a state folder belongs; None where git has it no more."""
    folder = admin_folder(common_dir, token)
    try:
        dot_git = os.fsdecode(files.read_bytes(f"{folder}/gitdir", 8192)).rstrip("\n") if folder else ""
    except OSError:
        return None
    return os.path.dirname(os.path.join(folder, dot_git)) if folder and dot_git else None


def _check_format(top: str) -> None:
    try:
        said = files.read_bytes(top + "/format", 64)
    except FileNotFoundError:
        # Exclusive: of two that begin at once the first one's files stay, and both read them.
        files.write_whole(top + "/README", README.encode(), exclusive=True)
        files.write_whole(top + "/format", FORMAT.encode() + b"\n", exclusive=True)
        said = files.read_bytes(top + "/format", 64)
    if said.strip() == KNOWN[0].encode():
        _raise_format(top)
    elif said.strip() != FORMAT.encode():
        named = printable(said.strip().decode("ascii", "replace"))
        raise UnknownFormatError(f"state format '{named}' is not known to this version (it knows '{FORMAT}')")


def _raise_format(top: str) -> None:
    """Convert the earlier format.

    Each step may run twice, or in two processes at once; the format number comes last.
    """
    trees = f"{top}/worktrees"
    try:
        for folder in [top, *([entry.path for entry in os.scandir(trees)] if os.path.isdir(trees) else [])]:
            # The older version set no mark for git's hook. Where nothing is pending the mark is removed again
            # later.
            for name in os.listdir(folder):
                if name.endswith(".files"):
                    mark = f"{folder}/{name.removesuffix('.files')}.pending"
                    os.close(files.open_regular(mark, os.O_WRONLY | os.O_CREAT))
        files.write_whole(top + "/README", README.encode())
        files.write_whole(top + "/format", FORMAT.encode() + b"\n")
    except OSError:
        return  # a read-only folder is only read


def _token(place: Place) -> str:
    """The id of a linked worktree: made once, kept in its admin folder."""
    # A git dir elsewhere (a submodule, --separate-git-dir) belongs to a repository of its own, whose main
    # worktree this is.
    if place.is_main or os.path.dirname(os.path.dirname(place.git_dir)) != place.common_dir:
        return MAIN
    path = f"{place.git_dir}/{WORKTREE_ID_FILE}"
    try:
        token = files.read_bytes(path, 64).decode("ascii", "replace").strip()
    except FileNotFoundError:
        files.write_whole(path, os.urandom(6).hex().encode() + b"\n", exclusive=True)
        token = files.read_bytes(path, 64).decode("ascii", "replace").strip()
    # The token becomes part of a path.
    if not token.isalnum():
        raise StateError(f"'{path}' holds no token")
    return f"{os.path.basename(place.git_dir)}-{token}"


def take_up(place: Place, token: str) -> None:
    """Let a linked worktree that was made anew go on with the state that it had before it was removed."""
    name, _, given = token.rpartition("-")
    is_kept = given.isalnum() and os.path.isdir(f"{state_folder(place)}/worktrees/{token}")
    if is_kept and name == os.path.basename(place.git_dir):  # git may have given the name to another since
        files.write_whole(f"{place.git_dir}/{WORKTREE_ID_FILE}", given.encode() + b"\n")


def for_place(place: Place, create: bool = True) -> Layout:
    """The layout of a worktree; with ``create`` its folders are made.

    Raises StateError for an unknown format or for something that is no folder, OSError otherwise.
    """
    top = state_folder(place)
    # Nothing was recorded yet: all files of this layout are absent.
    if not create and not os.path.lexists(top):
        return Layout(top, MAIN if place.is_main else "-")
    try:
        files.make_folder(top)
    except NotADirectoryError as error:
        link = ", and no link to one is followed" if os.path.islink(top) else ""
        raise StateError(f"'{top}' is not a folder{link}") from error
    _check_format(top)
    layout = Layout(top, _token(place))
    files.make_folder(layout.edits)
    return layout

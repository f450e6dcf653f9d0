"""Everything a decision about paths looks at: HEAD's tree, files as they stand, the blobs they make."""

from dataclasses import dataclass, field
from functools import cached_property

from gitralph.base.layout import Layout
from gitralph.git import blobs
from gitralph.git.blobs import Workbench
from gitralph.git.config import Config
from gitralph.git.repository import Repository
from gitralph.git.snapshot import Content, Worktree
from gitralph.git.trees import Entry, TreeReader
from gitralph.journal import pending
from gitralph.journal.pending import PathState


@dataclass(frozen=True)
class Wishes:
    """How the user wants doubtful paths treated."""

    skip_entangled: bool = False
    include_entangled: bool = False
    whole_file: bool = False
    with_shell: bool = False


@dataclass
class Scene:
    """One commit being decided. ``contents`` and ``entries`` are filled by ``decide.look``."""

    repo: Repository
    config: Config
    layout: Layout
    bench: Workbench
    reader: TreeReader
    worktree: Worktree
    family: list[str]
    wishes: Wishes
    head: str | None = None
    contents: dict[bytes, Content] = field(default_factory=dict)
    entries: dict[bytes, Entry | None] = field(default_factory=dict)
    ignored: set[bytes] = field(default_factory=set)

    @cached_property
    def own(self) -> frozenset[str]:
        """The committing session and its subagents' sessions: its family, which commits as one."""
        return frozenset(self.family)

    @cached_property
    def filtered(self) -> set[bytes]:
        """The paths that a clean filter governs; asked only where any filter is configured."""
        names = self.config.names("filter", "clean") + self.config.names("filter", "process")
        if not names:
            return set()
        return blobs.filtered_paths(self.repo.git.at(self.repo.root), self.contents)

    @property
    def converts(self) -> bool:
        """True when line ends may be converted whatever the attributes say."""
        return (self.config.get("core.autocrlf") or "false").lower() in ("true", "input")


def manifest_upto(scene: Scene, state: PathState, session: str) -> int | None:
    """How far a session's manifest is read, where it names the path; another's is read on demand."""
    if session in scene.own or session in state.manifest_upto:
        return state.manifest_upto.get(session)
    claim = pending.claims(scene.layout, session)
    return claim.size if state.path in claim.fresh or state.path in claim.old else None

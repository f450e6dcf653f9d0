"""Paths that take each other's place: a file where HEAD has a folder, or a folder where HEAD has a file.

A tree cannot hold both at once, so a commit has both changes or neither, and lists both. A file of another
session never goes or gives way without being named.
"""

from gitralph.base.kinds import Kind, Why
from gitralph.decide import decision, inputs
from gitralph.decide.decision import Left, Outcome
from gitralph.decide.inputs import Scene
from gitralph.decide.request import Draft
from gitralph.git.snapshot import ABSENT
from gitralph.git.trees import FOLDER, BlockedError


def settle(scene: Scene, draft: Draft) -> Draft:
    """Complete each change that takes another path's place, or refuse it."""
    for path in [path for path, entry in draft.entries.items() if entry is not None]:
        if path in draft.entries:  # an earlier round may have taken the path out
            draft = _settled(scene, draft, path)
    return draft


def _settled(scene: Scene, draft: Draft, path: bytes) -> Draft:
    there = draft.base.lookup_safe(path)
    if there is not None and there.mode == FOLDER:
        return _with_folder_gone(scene, draft, path)
    try:
        draft.base.lookup(path)
    except BlockedError as blocked:
        return _with_way_clear(scene, draft, path, blocked.path)
    return draft


def _with_folder_gone(scene: Scene, draft: Draft, path: bytes) -> Draft:
    """A file replaces a folder of HEAD: every file below the folder goes in the same commit and is listed."""
    below = [child for child in draft.base.files_below(path) if child not in draft.entries]
    for child in below:
        others = _others_at(scene, child)
        if others:
            return _kept_out(draft, path, Why(Kind.FOLDER_OF_OTHERS, path=child), others)
    return _with_removed(scene, draft, below, path)


def _with_way_clear(scene: Scene, draft: Draft, path: bytes, blocking: bytes) -> Draft:
    """A new file lies below a path that is a file in HEAD: that file goes too and is listed."""
    if blocking in draft.entries and draft.entries[blocking] is None:
        return draft
    others = _others_at(scene, blocking)
    if others:
        return _kept_out(draft, path, Why(Kind.FILE_OF_OTHERS, path=blocking), others)
    # An exact record would tell that the file was removed. Without one the file in HEAD is still somebody's.
    if draft.how[path] == decision.EDITS:
        return _kept_out(draft, path, Why(Kind.FILE_STAYS, path=blocking), _sessions(draft, blocking))
    # The whole path was claimed as it stands, inside a folder. So the file of HEAD is gone, whoever removed
    # it.
    return _with_removed(scene, draft, [blocking], path)


def _kept_out(draft: Draft, path: bytes, why: Why, sessions: list[str]) -> Draft:
    """Take a path out of the draft again as refused; its records stay pending."""
    return draft.without([Left(path, decision.CONTESTED, why, tuple(sessions))])


def _others_at(scene: Scene, path: bytes) -> list[str]:
    """The other sessions with records at a path; none with ``--whole-file``, which asks for all of it."""
    if scene.wishes.whole_file:
        return []
    return sorted(scene.recorded_at(path).owners() - scene.own)


def _sessions(draft: Draft, path: bytes) -> list[str]:
    state = draft.states.get(path)
    return sorted(state.owners()) if state else [decision.UNRECORDED]


def _with_removed(scene: Scene, draft: Draft, paths: list[bytes], with_path: bytes) -> Draft:
    """Remove from HEAD the paths that are gone from the worktree, whoever removed them."""
    included = [found for path in paths for found in _included(scene, path)]
    return draft._replace(
        entries={**draft.entries, **dict.fromkeys(paths)},
        how={**draft.how, **dict.fromkeys(paths, draft.how[with_path])},
        outcomes=(*draft.outcomes, *included),
    )


def _included(scene: Scene, path: bytes) -> list[Outcome]:
    """With ``--whole-file``: the outcome that takes other sessions' records of a removed path along."""
    state = scene.recorded_at(path)
    if not (scene.wishes.whole_file and state.owners()):
        return []
    used, others = inputs.uses(scene, state, state.owners()), frozenset(state.owners() - scene.own)
    return [Outcome(path, ABSENT, decision.WHOLE_FILE, uses=used, includes=others)]

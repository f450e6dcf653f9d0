"""Paths that take each other's place: a file where HEAD has a folder, a folder where it has a file.

What a tree cannot hold at once belongs together, so it is listed and judged together: nobody else's
file goes with a folder unnamed, and nobody's file is pushed aside.
"""

from gitralph.base.quote import shown
from gitralph.commit import decision
from gitralph.commit.decision import Left, Outcome
from gitralph.commit.inputs import Scene
from gitralph.commit.request import Draft
from gitralph.git.snapshot import ABSENT
from gitralph.git.trees import FOLDER, BlockedError
from gitralph.journal import pending


def _keep_out(draft: Draft, path: bytes, detail: str, sessions: list[str]) -> None:
    """Take a path back out of the draft: refused, and its records stay pending."""
    draft.take_out(Left(path, decision.CONTESTED, detail, tuple(sessions)))


def _others_at(scene: Scene, path: bytes) -> list[str]:
    """The sessions whose changes would be passed over; none where all is to be taken as it stands."""
    if scene.wishes.whole_file:
        return []
    return sorted(pending.path_state(scene.layout, path, []).owners() - scene.own)


def _remove(scene: Scene, draft: Draft, path: bytes, with_path: bytes) -> None:
    """A path that is gone from the worktree goes from HEAD too, as its records say or whoever did it."""
    draft.entries[path], draft.how[path] = None, draft.how[with_path]
    state = pending.path_state(scene.layout, path, [])
    if scene.wishes.whole_file and state.owners():
        from gitralph.commit import decide

        used = decide.uses(scene, state, state.owners())
        others = state.owners() - scene.own
        draft.outcomes.append(Outcome(path, ABSENT, decision.WHOLE_FILE, uses=used, includes=others))


def _take_folder(scene: Scene, draft: Draft, path: bytes) -> None:
    """A file replaces a folder: every file below goes too, and is listed."""
    below = [child for child in draft.base.files_below(path) if child not in draft.entries]
    for child in below:
        others = _others_at(scene, child)
        if others:
            detail = f"it takes the place of a folder, and others have changes in '{shown(child)}'"
            _keep_out(draft, path, detail, others)
            return
    for child in below:
        _remove(scene, draft, child, path)


def _clear_way(scene: Scene, draft: Draft, path: bytes) -> None:
    """A file below what is a file in HEAD: that one goes in the same commit, and is listed."""
    try:
        draft.base.lookup(path)
    except BlockedError as blocked:
        if draft.entries.get(blocked.path, blocked) is None:
            return
        others, where = _others_at(scene, blocked.path), shown(blocked.path)
        if others:
            detail = f"'{where}' stands in its way in HEAD, and others have changes there"
            _keep_out(draft, path, detail, others)
            return
        # Exact records would have told of the removal; without one the file in HEAD is still somebody's.
        if draft.how[path] == decision.EDITS:
            detail = f"'{where}' stands in its way in HEAD, and this commit does not remove it"
            _keep_out(draft, path, detail, _sessions(draft, blocked.path))
            return
        # claimed as it stands, and it stands in a folder: the file is gone, whoever removed it
        _remove(scene, draft, blocked.path, path)


def _sessions(draft: Draft, path: bytes) -> list[str]:
    state = draft.states.get(path)
    return sorted(state.owners()) if state else [decision.UNRECORDED]


def settle(scene: Scene, draft: Draft) -> None:
    """Complete or refuse what takes another path's place; changes ``draft`` before its tree is built."""
    for path in [path for path, entry in draft.entries.items() if entry is not None]:
        if path not in draft.entries:
            continue  # it went with another
        there = draft.base.lookup_safe(path)
        if there is not None and there.mode == FOLDER:
            _take_folder(scene, draft, path)
        else:
            _clear_way(scene, draft, path)

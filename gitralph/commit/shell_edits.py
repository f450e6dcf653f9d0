"""What a commit does with changes that only shell commands explain: taken where wanted, else left.

Whose they are ``shell.attribution`` says.
"""

from collections import Counter
from collections.abc import Container, Iterable

from gitralph.base.layout import Layout
from gitralph.base.quote import shown
from gitralph.commit import decide, decision, path_texts, provenance
from gitralph.commit.decision import Left, Outcome
from gitralph.commit.inputs import Scene
from gitralph.hook.journal import full_lines
from gitralph.journal.pending import PathState
from gitralph.lines.linediff import hunks
from gitralph.shell.attribution import CONTESTED, MINE, Offer, ShellChanges, call_name


def settle(
    scene: Scene, found: ShellChanges, decided: Iterable[Outcome], left: Container[bytes]
) -> list[Outcome]:
    """The outcomes of a commit with what shell commands did; ``left`` are paths that are barred."""
    by_path = {one.path: one for one in decided}
    for path, offer in found.offers.items():
        was = by_path.get(path)
        wanted = path in found.states and path not in left and path not in scene.ignored
        if wanted and _is_still(scene, offer):
            by_path[path] = _taken(scene, offer, found.states[path])
        elif was is None:
            by_path[path] = Outcome(path, left=(_left(scene.layout, offer),))
        elif was.taken and was.how == decision.EDITS and _overlaps(scene, was):
            by_path[path] = Outcome(path, left=(_overlap(scene.layout, offer),))
        elif was.taken and was.content == scene.contents.get(path):
            continue  # what the command did is in it
        elif not any(one.refuses for one in was.left) and not (was.taken and was.how == decision.WHOLE_FILE):
            rest = _left(scene.layout, offer)
            # of a path that goes, which lines do not: else it were said to be committed and left out
            rest = rest._replace(lines=_rest(scene, was)) if was.taken else rest
            by_path[path] = was._replace(left=(*was.left, rest))
    return sorted(by_path.values(), key=lambda one: one.path)


def _rest(scene: Scene, was: Outcome) -> tuple[int, int] | None:
    """The lines of the file that a commit leaves out, from the first one to the last."""
    now, made = scene.contents[was.path].data, was.content.data if was.content else None
    found = _hunks(made or b"", now or b"")
    return (found[0][2] + 1, max(found[-1][3], found[0][2] + 1)) if found else None


def _left(layout: Layout, offer: Offer) -> Left:
    contested = offer.verdict == CONTESTED
    reason = decision.CONTESTED if contested else decision.SHELL
    names = " and ".join(call_name(layout, command) for command in offer.commands[-2:])
    detail = f"likely changed by {names}" + (f"; {offer.detail}" if offer.detail else "")
    mine = offer.verdict == MINE
    return Left(offer.path, reason, detail, offer.sessions, optional=True, by_shell=mine)


def _taken(scene: Scene, offer: Offer, state: PathState) -> Outcome:
    names = " and ".join(call_name(scene.layout, command) for command in offer.commands)
    note = f"'{shown(offer.path)}' was changed by {names}; taken as it stands"
    content = scene.contents[offer.path]
    return Outcome(offer.path, content, decision.SHELL, uses=decide.uses(scene, state), notes=(note,))


def _is_still(scene: Scene, offer: Offer) -> bool:
    content = scene.contents.get(offer.path)
    if content is None or offer.now is None:
        return False
    mode = f"{content.mode:o}" if content.mode else None
    return (provenance.content_id(content), mode) == offer.now


def _overlaps(scene: Scene, was: Outcome) -> bool:
    """True when lines that the session edited no longer stand as it left them."""
    now, made = scene.contents[was.path].data, was.content.data if was.content else None
    if now is None or made is None or scene.wishes.include_entangled:
        return False

    head = path_texts.head_text(scene, was.path) or b""
    edited = [(low, high) for _, _, low, high in _hunks(head, made)]
    changed = [(low, high) for low, high, _, _ in _hunks(made, now)]
    return any(a < high and low < b for a, b in edited for low, high in changed)


def _hunks(old: bytes, new: bytes) -> list[tuple[int, int, int, int]]:

    lines: dict[bytes, int] = {}
    before, after = ([lines.setdefault(x, len(lines)) for x in full_lines(t)] for t in (old, new))
    counts = Counter(before), Counter(after)
    return hunks(before, after, lambda line: all(count[line] == 1 for count in counts))


def _overlap(layout: Layout, offer: Offer) -> Left:
    detail = f"{call_name(layout, offer.commands[-1])} rewrote lines that it had edited"
    return Left(offer.path, decision.ENTANGLED, detail, (decision.UNRECORDED,))

"""Drops what was away when git was seen to have the last word about the file.

A checkout, a reset or a stash puts a text on disk, and edits that it does not hold are gone. Two
things show such a moment: git's index knows what it wrote last, and a recorded edit that starts from
just what HEAD held found nothing pending. Which edit a later change of nobody's took back or rewrote
cannot be told from lines alone; that it was away at such a moment can. Must keep whatever came back
later (`git stash pop`), by whomever.
"""

from __future__ import annotations

from gitralph.isolate.gone import leave_what_it_replaced
from gitralph.isolate.lines import is_telling, keeps_most_words
from gitralph.isolate.weave import BASE, EXISTS, NEWLINE, Weave


def drop_what_was_away(weave: Weave, in_head: set[int]) -> None:
    """Settle lines and removals of units outside HEAD that were without effect when git was seen.

    Neither HEAD's text nor the file's changes: an operation goes only where later ones leave the
    line as it was then.
    """
    for limit in weave.put_back:
        for atom, ops in enumerate(weave.ops):
            if ops and ops[0] >> 1 < limit:
                _settle(weave, atom, ops, limit, in_head)


def settle_what_head_passed(weave: Weave, limit: int) -> None:
    """Make part of the base what was there, or dead, when the text was HEAD's; `limit` hunks there were then.

    But for lines that came or went since: a stash may have kept them, and edits with them.
    """
    for atom, ops in enumerate(weave.ops):
        birth = weave.birth[atom]
        if birth >= limit or (birth == BASE and not ops) or atom in (EXISTS, NEWLINE):
            continue
        if any(op >> 1 >= limit for op in ops or ()):
            continue
        if weave.visible(atom):
            for hunk in {birth, *(op >> 1 for op in ops or ())}:
                weave.forget(hunk, atom)
            weave.birth[atom], weave.ops[atom] = BASE, None
        else:
            weave.bury(atom)


def _settle(weave: Weave, atom: int, ops: list[int], limit: int, in_head: set[int]) -> None:
    # What HEAD lacks of the first text stands for a hunk that was made last (`head._drift_line`).
    if weave.birth[atom] >= limit:
        return
    there = weave.visible_at(atom, limit)
    earlier = [op for op in ops if op >> 1 < limit]
    later = ops[len(earlier) :]
    # It changed once more the other way: the edit came back, or somebody made it again.
    changed = [op >> 1 for op in later if bool(op & 1) != there]
    if changed:
        if not there and atom not in (EXISTS, NEWLINE) and _is_new_text(weave, atom, later[0] >> 1):
            _give_birth(weave, atom, later, in_head)
        # what a session did is its own, and no older edit come back
        by_nobody = any(weave.owner_of(hunk) is None for hunk in changed)
        is_back = by_nobody and any(not op & 1 and _may_be_back(weave, op >> 1, limit) for op in earlier)
        if not there or is_back:
            return
    if any(op >> 1 == BASE or weave.hunks[op >> 1].unit in in_head for op in earlier):
        return
    birth = weave.birth[atom]
    if there:
        for op in earlier:
            weave.forget(op >> 1, atom)
        weave.ops[atom] = later or None
    elif birth != BASE and weave.hunks[birth].unit not in in_head and not _is_covered(weave, earlier, limit):
        if _is_corrected(weave, atom, earlier[-1] >> 1, limit):
            return
        if weave.owner_of(earlier[-1] >> 1) is None:
            leave_what_it_replaced(weave, atom)
        weave.bury(atom)


def _may_be_back(weave: Weave, hunk: int, limit: int) -> bool:
    """Tell whether a later removal of the same line may be this one again: what it wrote is there, too."""
    births = weave.hunks[hunk].births
    return not births or any(
        weave.visible_at(atom, limit) or any(op & 1 and op >> 1 >= limit for op in weave.ops[atom] or ())
        for atom in births
    )


def _is_covered(weave: Weave, ops: list[int], limit: int) -> bool:
    """Tell whether a recorded edit had taken the line away and had its own effect then: it was not git.

    It has its effect too where the next recorded edit replaced what it wrote, and has its own; and where
    its own line came back, as the other form of this one.
    """
    killer = ops[-1] >> 1
    births = weave.hunks[killer].births
    if weave.owner_of(killer) is None:
        return False
    for atom in births:
        came_back = any(op & 1 and op >> 1 >= limit for op in weave.ops[atom] or ())
        if came_back or weave.visible_at(atom, limit):
            return True
        since = [op for op in weave.ops[atom] or () if op >> 1 < limit]
        # later hunks only, so it ends
        if since and not since[-1] & 1 and since[-1] >> 1 > killer and _is_covered(weave, since, limit):
            return True
    return not births


def _is_corrected(weave: Weave, atom: int, killer: int, limit: int) -> bool:
    """Tell whether nobody's change put a line of most of its words there, and that stood: no git did."""
    return weave.owner_of(killer) is None and any(
        keeps_most_words(weave.content(atom), weave.content(other)) and weave.visible_at(other, limit)
        for other in weave.hunks[killer].births
    )


def _is_new_text(weave: Weave, atom: int, hunk: int) -> bool:
    """Tell whether a lone word or mark came back amid new lines of nobody's: no stash was popped there."""
    made = weave.hunks[hunk]
    # A popped stash brings a whole block back; one brace or "return" is in most texts anybody writes.
    return weave.owner_of(hunk) is None and bool(made.births) and not is_telling(weave.content(atom))


def _give_birth(weave: Weave, atom: int, later: list[int], in_head: set[int]) -> None:
    """Make a line one that the hunk which returned it wrote itself."""
    birth, hunk = weave.birth[atom], later[0] >> 1
    if birth == BASE or weave.hunks[birth].unit in in_head:
        return
    for op in weave.ops[atom] or ():
        if op not in later[1:]:
            weave.forget(op >> 1, atom)
    weave.forget(birth, atom)
    weave.birth[atom] = hunk
    weave.hunks[hunk].births.append(atom)
    weave.ops[atom] = later[1:] or None

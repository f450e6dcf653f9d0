"""What the server of a fleet can be trusted with, told by trying it."""

from collections.abc import Mapping

from gitralph.base.errors import RalphError
from gitralph.git.context import open_context
from gitralph.records.member import is_member
from gitralph.setup.doctor.repository import Check
from gitralph.tasks.fleet import member, trial
from gitralph.tasks.fleet.trial import RaceResult


def checks(environ: Mapping[str, str]) -> list[Check]:
    """A race for a probe ref where this repository is in a fleet; nothing elsewhere."""
    try:
        ctx = open_context(environ, create=False)
    except RalphError:
        return []  # said by the checks before
    try:
        if not is_member(ctx.layout):
            return []
        return [_told(trial.race(member.open_fleet(ctx)))]
    except RalphError as error:
        return [Check("fleet", False, error.message, error.hints[0] if error.hints else None, fatal=False)]
    finally:
        ctx.repo.close()


def _told(found: RaceResult) -> Check:
    left = f"; '{found.left}' could not be deleted" if found.left else ""
    if not found.exact:
        detail = f"of 8 writers that raced for a ref {found.told} were told that they won"
        fix = "claims hold all the same, as they are read back; let a person land, or use another server"
        return Check("fleet", False, detail + left, fix, fatal=False)
    if not found.atomic:
        fix = "claims hold; a person pushes the work, then: git ralph fleet land <bead>"
        return Check("fleet", False, "the server cannot move two refs in one step" + left, fix, fatal=False)
    return Check(
        "fleet", True, "one of 8 racing writers won; work and claim land in one step" + left, fatal=False
    )

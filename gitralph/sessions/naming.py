"""``git ralph session rename``: a name that a person chose."""

from gitralph.base.errors import Fatal, UsageError
from gitralph.git.context import Context
from gitralph.hook import names, sessionfile


def rename(ctx: Context, session: str, name: str) -> None:
    """Give ``session`` the name. Raises UsageError for one that is taken or none, Fatal without a record.

    A kill in between leaves it both names; ``gc`` lets the one go that its record does not tell.
    """
    layout = ctx.layout
    if not names.is_valid(name):
        raise UsageError(f"'{name[:60]}' is not a name for a session", names.RULE)
    record = sessionfile.read(layout, session)
    if record is None:
        raise Fatal(f"session '{session}' has no record, so it cannot be named", "git ralph session list")
    try:
        taken = names.take(layout, name, session)
    except OSError as error:
        raise Fatal(f"cannot write '{layout.name(name)}': {error.strerror or error}") from error
    if not taken:
        holder = names.holder(layout, name)
        taken_by = f"session '{holder}' is called '{name}'" if holder else f"'{name}' is a session's id"
        raise UsageError(f"{taken_by}; choose another name", "git ralph session list")
    before = record.get("name")
    sessionfile.update(layout, session, name=name)
    if before != name:
        names.drop(layout, before, session)

"""The trailers that say which agent and model helped, where ``ralph.attribution`` asks for them.

The form is ``Assisted-by: <agent>:<model>`` as in Linux (Documentation/process/coding-assistants.rst). We
never write ``Signed-off-by``: only a person can certify that.
"""

from gitralph.decide.decision import Use
from gitralph.decide.request import Draft
from gitralph.git.context import Context
from gitralph.hook import model, sessionfile

KEY = "ralph.attribution"
NONE, ASSISTED, AUTHORED = "none", "assisted-by", "co-authored-by"
# These agents write such a line themselves. No other agent's address is made up.
_NAMED = {
    "claude-code": "Claude <noreply@anthropic.com>",
    "codex": "Codex <noreply@openai.com>",
    "cursor": "Cursor <cursoragent@cursor.com>",
}


def rows(ctx: Context, session: str, made: Draft) -> list[bytes]:
    """The trailers of a commit, none without an agent. Raises Fatal for an unknown value of the setting."""
    form = ctx.config.choice(KEY, NONE, ASSISTED, AUTHORED)
    if form == NONE:
        return []
    found: list[str] = []
    for agent, name in _helpers(ctx, session, made):
        if form == AUTHORED and agent in _NAMED:
            found.append(f"Co-authored-by: {_NAMED[agent]}")
        else:
            found.append(f"Assisted-by: {agent}:{name}" if name else f"Assisted-by: {agent}")
    return [row.encode() for row in dict.fromkeys(found)]


def _helpers(ctx: Context, session: str, made: Draft) -> list[tuple[str, str | None]]:
    """Agent and model of every session whose edits the commit takes, the committing session first."""
    taken: dict[str, dict[str, None]] = {session: {}}
    for outcome in made.outcomes:
        state = made.states.get(outcome.path)
        if state is None or outcome.path not in made.entries:
            continue
        for use in outcome.uses:
            own = (r for r in state.journal.records if r.session == use.session and _has(use, r.offset))
            taken.setdefault(use.session, {}).update((r.model, None) for r in own if r.model)
    helpers: list[tuple[str, str | None]] = []
    for name, models in taken.items():
        record = sessionfile.read(ctx.layout, name) or {}
        agent, known = model.accepted(record.get("agent")), record.get("models")
        alone = known[0] if isinstance(known, list) and len(known) == 1 else None
        told: list[str | None] = [one for one in models if model.accepted(one)]
        told = told or [model.accepted(alone)]
        helpers += [(agent, one) for one in told] if agent is not None else []
    return helpers


def _has(use: Use, offset: int) -> bool:
    if use.units is None:
        return True
    return any(unit.partition(".")[0] == str(offset) for unit in use.units)

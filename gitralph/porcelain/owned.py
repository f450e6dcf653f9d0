"""Which texts may hold lines of records that were found void."""

from gitralph.state.pending import PathState


def made_since(state: PathState, session: str) -> set[str | None]:
    """The texts that may hold lines of the session's void records: those left from the first one on.

    The text that stood there when they were found to be void is none of them.
    """
    first = state.void[session][0].offset
    return {r.after for r in state.journal.records if r.offset >= first} - {state.void_seen.get(session)}

"""``doctor`` fires a registered command at a scratch repository: once for each command and environment."""

from collections.abc import Mapping

from gitralph.setup.doctor import probe
from gitralph.setup.doctor.probe import Shot

FIRE = probe.fire
_shots: dict[object, Shot] = {}


def remembered(agent: str, command: str, environ: Mapping[str, str], *limit: float) -> Shot:
    """What came of it the first time. The home does not count, unless the command or PATH leads there."""
    rest = {(name, value) for name, value in environ.items() if name != "HOME" and name[:4] != "XDG_"}
    key = agent, command, limit, frozenset(rest)
    if key not in _shots:
        _shots[key] = FIRE(agent, command, environ, *limit)
    return _shots[key]

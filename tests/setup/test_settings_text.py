"""Our hooks in a settings text: whatever else is in it survives being added to and removed from."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitralph.setup.install import settings
from gitralph.setup.install.table import AGENTS
from tests.support.home import ours

CLAUDE = AGENTS["claude-code"]

_NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
)
_GROUPS = st.lists(
    st.fixed_dictionaries(
        {"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=5)}), max_size=2)},
        optional={"matcher": st.text(max_size=5)},
    ),
    max_size=2,
)
_EVENTS = st.sampled_from(["Stop", "PreToolUse", "PostToolUse", "SessionStart", "Other"])
_DOCUMENTS = st.tuples(
    st.dictionaries(st.text(max_size=6).filter(lambda key: key != "hooks"), _JSON, max_size=4),
    st.none() | st.dictionaries(_EVENTS, _GROUPS, max_size=4),
).map(lambda pair: pair[0] if pair[1] is None else {**pair[0], "hooks": pair[1]})
_LAYOUTS = st.sampled_from([None, 1, 2, 4, "\t"])


@given(_DOCUMENTS, _LAYOUTS, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_settings_survive(
    document: dict[str, Any], indent: int | str | None, newline: str, ascii_only: bool
) -> None:
    """Adding changes nothing else; removing leaves what was there, less containers only we filled."""
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only).replace("\n", newline)
    data = text.encode("utf-8", "surrogatepass")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    with_ours = settings.added(CLAUDE, data)
    assert settings.added(CLAUDE, with_ours) == with_ours
    assert sorted(ours(with_ours)) == sorted(CLAUDE.events, key=str)
    assert not settings.registered(CLAUDE, with_ours).missing
    without = settings.removed(CLAUDE, with_ours)
    left = {} if without is None else json.loads(without)
    assert _without_empty(left) == _without_empty(document)


def _without_empty(document: dict[str, Any]) -> dict[str, Any]:
    """A document less the empty containers below ``hooks``, which removing our entries may take."""
    hooks = {event: groups for event, groups in document.get("hooks", {}).items() if groups}
    rest = {key: value for key, value in document.items() if key != "hooks"}
    return {**rest, "hooks": hooks} if hooks else rest

"""Whatever an agent sends: the hook exits 0, says nothing on stdout and shows no traceback."""

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitralph.base import layout
from gitralph.hook import agents, entry, locate
from tests.hook.agents import fixtures
from tests.hook.agents.fixtures import Stage
from tests.support.repo import Repo

SAMPLES = fixtures.samples()
TEXTS = [
    "",
    "\0",
    "/",
    ".",
    "..",
    "/repo/.git/config",
    "../../x",
    "a" * 5000,
    "\ud800",
    "caf\u00e9\n\t",
    "*** Begin Patch\n*** Update File: \n@@\n*** End of File",
    "*** Begin Patch\n*** Add File: .git/x\n+y",
    "*** Begin Patch\n*** Update File: a.txt\n*** Move to: a.txt\n@@ x\n-one\n*** End Patch",
    "@@ -999999,1 +1 @@\n-a\n\\ No newline",
    "-",
    "PostToolUse",
    "Bash",
    "apply_patch",
]
odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.sampled_from(TEXTS),
    st.text(max_size=20),
    st.lists(st.none(), max_size=2),
    st.dictionaries(st.text(max_size=5), st.none(), max_size=2),
)


def _spots(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a payload, as the keys that lead to it."""
    out = [at] if at else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        out += _spots(item, (*at, key))
    return out


def _change(payload: Any, spot: tuple[Any, ...], new: Any, drop: bool) -> None:
    for key in spot[:-1]:
        try:
            payload = payload[key]
        except (KeyError, IndexError, TypeError):
            return
    if not isinstance(payload, (dict, list)):
        return
    try:
        if drop:
            del payload[spot[-1]]
        else:
            payload[spot[-1]] = new
    except (KeyError, IndexError, TypeError):
        pass


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A sample with some of its fields dropped or replaced by something odd."""
    sample = draw(st.sampled_from(SAMPLES))
    payload = copy.deepcopy(sample.payload)
    for spot in draw(st.lists(st.sampled_from(_spots(payload)), min_size=1, max_size=4)):
        _change(payload, spot, draw(odd), draw(st.booleans()))
    return draw(st.sampled_from([sample.agent, sample.agent, *agents.ADAPTERS])), payload


@pytest.fixture
def stage(empty_repo: Repo, tmp_path: Path) -> Stage:
    return Stage.build(empty_repo, tmp_path / "u")


QUIET = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@QUIET
@given(sent=mutated(), pre=st.booleans(), whole=st.booleans())
def test_mutated_payloads(stage: Stage, sent: tuple[str, dict[str, Any]], pre: bool, whole: bool) -> None:
    agent, payload = sent
    payload = fixtures.moved(payload, str(stage.repo.root), str(stage.home))
    payload.setdefault("cwd", str(stage.repo.root))
    logged = (entry.SkipError, locate.OutsideError, layout.StateError, OSError)
    with contextlib.suppress(*logged):
        entry.take(agent, payload, whole, {"COPILOT_CLI": "1"} if pre else {})
    assert not (stage.repo.common / "x").exists()


@QUIET
@given(sent=mutated())
def test_adapters_are_total(sent: tuple[str, dict[str, Any]]) -> None:
    agent, payload = sent
    before = copy.deepcopy(payload)
    try:
        event = agents.load(agent)(payload)
    except ValueError:
        assert agent == "generic"
        return
    for change in event.changes:
        assert isinstance(change.path, str)
        if change.compute is not None:
            assert all(isinstance(text, str) for text in change.compute("one\ntwo\nthree\n"))
    assert payload == before


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(sent=mutated(), cut=st.integers(0, 400))
def test_as_processes(stage: Stage, sent: tuple[str, dict[str, Any]], cut: int) -> None:
    agent, payload = sent
    payload = fixtures.moved(payload, str(stage.repo.root), str(stage.home))
    data = json.dumps(payload).encode("utf-8", "surrogatepass")
    done = stage.repo.run("hook", agent, stdin=data[cut:] if cut % 3 == 0 else data, process=True)
    assert (done.code, done.out) == (0, b"")


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000])
@pytest.mark.parametrize("agent", ["codex", "opencode"])
def test_no_payload_at_all(stage: Stage, agent: str, data: bytes) -> None:
    done = stage.repo.run("hook", agent, stdin=data)
    assert (done.code, done.out) == (0, b"")

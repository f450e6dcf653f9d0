"""One store for what is about to be done: written for good, checked when read, removed when finished."""

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from gitralph.base import gitdir, layout
from gitralph.base.layout import Layout
from gitralph.records import bead, intents
from gitralph.records.bead import Bead
from gitralph.records.intents import Intent, Merging, Narrowed
from tests.support.repo import Repo

OID = "0123456789012345678901234567890123456789"
COMMIT = Intent(
    OID,
    "refs/heads/main",
    OID,
    "/repo/.git",
    "main",
    [["a", None, ["100644", OID]]],
    [["journal", "S1", "a", {}]],
    {"index": "/repo/tmp/1.index"},
)
MERGE = Merging("bd-1", "refs/heads/main", OID, OID, "/repo/.git", "/repo", {"ref": "/repo/tmp/1.ref"})
KINDS: list[Intent | Merging] = [COMMIT, MERGE]


@pytest.fixture
def lay(repo: Repo) -> Layout:
    repo.start("S1")
    place = gitdir.discover(os.path.realpath(repo.root))
    assert place is not None
    return layout.for_place(place)


def _folder(lay: Layout, plan: Intent | Merging) -> Path:
    return Path(lay.intents if isinstance(plan, Intent) else lay.merges)


def _synced(monkeypatch: pytest.MonkeyPatch, write: Callable[[], None]) -> list[str]:
    """What was made durable, in order, a temporary file by the name it got."""
    seen, real = [], os.fsync

    def fsync(fd: int) -> None:
        seen.append(os.readlink(f"/proc/self/fd/{fd}").split(".json.")[0])
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    write()
    monkeypatch.undo()
    return [os.path.basename(path) for path in seen]


@pytest.mark.parametrize("plan", KINDS, ids=["commit", "merge"])
def test_an_intent_is_durable_before_anything_moves(
    lay: Layout, plan: Intent | Merging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of either kind: a new folder's own name, the bytes, then the name in the folder."""
    folder = _folder(lay, plan).name
    first = _synced(monkeypatch, lambda: intents.write(lay, plan))
    assert first == ["ralph-sessions", plan.file.removesuffix(".json"), folder]
    assert _synced(monkeypatch, lambda: intents.write(lay, plan)) == first[1:]


def test_the_record_of_a_bead_is_durable_in_its_folder(lay: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """``adding`` and ``removing`` are intents as well: a worktree is touched only after them."""
    bead.write(lay, Bead("bd-1"))
    done = _synced(monkeypatch, lambda: bead.write(lay, Bead("bd-1", status=bead.REMOVING)))
    assert done == ["bd-1", "beads"]


@pytest.mark.parametrize("plan", KINDS, ids=["commit", "merge"])
def test_what_is_written_is_read_and_removed_with_its_prepared_files(lay: Layout, plan: Any) -> None:
    """A round trip; a half written file of a killed process goes."""
    intents.write(lay, plan)
    torn = _folder(lay, plan) / (plan.file + ".1-1.tmp")
    torn.write_text("{")
    assert list(intents.unfinished(lay, type(plan))) == [plan]
    assert not torn.exists()
    Path(lay.tmp).mkdir(exist_ok=True)
    prepared = [Path(lay.tmp) / os.path.basename(path) for path in plan.prepared.values()]
    for path in prepared:
        path.touch()
    intents.remove(lay, plan)
    assert not [path for path in prepared if path.exists()]
    assert intents.names(lay, type(plan)) == []


DAMAGE: list[Any] = [
    "",
    "[]",
    "{}",
    '"text"',
    "nested",
    {"prepared": []},
    {"prepared": {"ref": 1}},
    {"extra": 1},
    {"git_dir": 5},
    {"old": "x"},
    {"index": [["a"]]},
    {"index": [["a", None, ["999", OID]]]},
    {"index": {}},
    {"lines": [1]},
    {"commit": "x"},
    {"ref": "../HEAD"},
    {"target": "HEAD"},
    {"target": None},
    {"bead": "../x"},
    {"new": None},
]


DAMAGED = [
    pytest.param(plan, damage, id=f"{kind}-{damage}")
    for kind, plan in zip(("commit", "merge"), KINDS, strict=True)
    for damage in DAMAGE
    if isinstance(damage, str) or set(damage) <= {*asdict(plan), "extra"}
]


@pytest.mark.parametrize(("plan", "damage"), DAMAGED)
def test_a_damaged_intent_stops_no_command(repo: Repo, lay: Layout, plan: Any, damage: Any) -> None:
    """It is moved aside, and the next command does its work."""
    folder = _folder(lay, plan)
    folder.mkdir(exist_ok=True)
    text = json.dumps({**asdict(plan), **damage}) if isinstance(damage, dict) else damage
    (folder / plan.file).write_text("[" * 100_000 if damage == "nested" else text)
    repo.edit("S1", "a", "mine\n")
    assert repo.commit("S1", checked=False).paths == {"a": "M"}
    assert [path.name for path in folder.iterdir()] == [plan.file + ".damaged"]


def test_doctor_counts_unfinished_merges_too(repo: Repo, lay: Layout) -> None:
    """Whatever kind of work was cut short."""
    intents.write(lay, MERGE)
    rows = [row for row in repo.run("doctor").text.splitlines() if "unfinished commits" in row]
    assert rows, repo.run("doctor").text
    assert "1" in rows[0]


def test_a_prepared_file_is_believed_by_its_name_only(lay: Layout, tmp_path: Path) -> None:
    """They are renamed and unlinked: a path that leads out of the folder of ours must not be followed."""
    git = {"pid": 2, "start": "1", "boot": None}
    for path, expected in (
        (str(tmp_path / "victim"), f"{lay.tmp}/victim"),
        (f"{lay.tmp}/../HEAD", f"{lay.tmp}/HEAD"),
    ):
        plan = Narrowed(git, "S1", None, OID, OID, "/repo/.git", "main", "as-is", prepared={"narrowed": path})
        intents.write(lay, plan)
        assert [one.prepared for one in intents.unfinished(lay, Narrowed)] == [{"narrowed": expected}]
        found = intents.of_process(lay, 2)
        assert found is not None
        assert found.prepared == {"narrowed": expected}
    plan.prepared = {"narrowed": f"{lay.tmp}/.."}
    intents.write(lay, plan)
    assert list(intents.unfinished(lay, Narrowed)) == []

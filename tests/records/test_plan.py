"""Plans: what counts as a task, and that a tick changes one byte whatever happens to the file meanwhile."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitralph.base.layout import MAIN, Layout
from gitralph.records import checklist
from gitralph.tasks.loop.ledger import Job
from gitralph.tasks.loop.plan_tasks import successor

LINES = st.one_of(
    st.sampled_from(
        [
            "- [ ] a",
            "- [ ] b",
            "  * [x] a",
            "1) [ ] c\r",
            "- [X] d",
            "```",
            "~~~~",
            "````",
            "- [ ]",
            "- [ ]  ",
            "# T",
            "\t+ [ ] a",
            "-[ ] no",
            "- [] no",
            "    - [ ] deep",
            "``` - [ ] x",
            "",
            "\f- [ ] no",
            "- [ ] \u00e9\u2028x",
        ]
    ),
    st.text(max_size=12),
)
PLANS = st.builds(
    lambda rows, end: ("\n".join(rows) + end).encode("utf-8", "replace"), st.lists(LINES), LINES
)


@given(PLANS)
def test_every_box_is_a_space_or_an_x_of_a_line_that_is_there(data: bytes) -> None:
    tasks = checklist.parse(data)
    assert len({task.key for task in tasks}) == len(tasks)
    assert [task.number for task in tasks] == list(range(1, len(tasks) + 1))
    for task in tasks:
        assert data[task.box : task.box + 1] in ((b"x", b"X") if task.done else (b" ",))
        assert data[task.box - 1 : task.box] == b"["
        assert data[task.box + 1 : task.box + 2] == b"]"


@given(PLANS)
def test_a_tick_changes_one_byte_and_one_task(data: bytes) -> None:
    tasks = checklist.parse(data)
    for task in tasks:
        if task.done:
            continue
        ticked = data[: task.box] + b"x" + data[task.box + 1 :]
        after = checklist.parse(ticked)
        assert [one.key for one in after] == [one.key for one in tasks]
        assert [one.done for one in after] == [one.done or one is task for one in tasks]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "state").mkdir()
    return Layout(str(tmp_path / "state"), MAIN)


def test_ticks_do_not_overwrite_each_other(layout: Layout, tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text("".join(f"- [ ] task {n}\n" for n in range(16)))
    threads = [
        threading.Thread(target=checklist.tick, args=(layout, str(path), (f"task {n}", 1))) for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "".join(f"- [x] task {n}\n" for n in range(16))


def test_a_tick_survives_an_editor_that_replaces_the_file(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plan.md"
    path.write_text("- [ ] one\n")
    real = os.pwrite
    saved: list[int] = []

    def replaced_first(fd: int, data: bytes, at: int) -> int:
        if not saved and data == b"x":
            saved.append(1)
            fresh = tmp_path / "fresh"
            fresh.write_text("# added by an editor\n- [ ] one\n")
            fresh.rename(path)
        return real(fd, data, at)

    monkeypatch.setattr(os, "pwrite", replaced_first)
    assert checklist.tick(layout, str(path), ("one", 1))
    assert path.read_text() == "# added by an editor\n- [x] one\n"


def test_a_tick_keeps_mode_and_link(layout: Layout, tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "plan.md"
    real.write_bytes(b"- [ ] one\r\n")
    real.chmod(0o640)
    link.symlink_to(real)
    node = real.stat().st_ino
    assert checklist.tick(layout, str(link), ("one", 1))
    assert link.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777, real.stat().st_ino) == (
        b"- [x] one\r\n",
        0o640,
        node,
    )
    assert checklist.tick(layout, str(link), ("one", 1)), "ticked already"
    assert not checklist.tick(layout, str(link), ("two", 1))


def test_details_go_with_their_task() -> None:
    text = b"- [ ] one\n  more\n\n    deep\n  - [ ] inner\n    of inner\n- [ ] two\nno\n"
    assert [task.details for task in checklist.parse(text)] == ["  more\n\n    deep", "    of inner", ""]


def _job(before: str | None, after: str | None) -> Job:
    return Job("gone", 1, 1, 3, before=before, after=after, session="s")


@pytest.mark.parametrize(
    ("text", "seen", "expected"),
    [
        ("- [ ] a\n- [ ] gone by now\n- [ ] b\n", {"a", "b"}, "gone by now"),
        ("- [ ] a\n- [ ] new\n- [ ] b\n", {"a", "b"}, None),
        ("- [ ] a\n- [ ] gone far\n- [ ] b\n", {"a", "b", "gone far"}, None),
        ("- [ ] a\n- [ ] gone by\n- [ ] other\n- [ ] b\n", {"a", "b"}, None),
        ("- [ ] a\n- [x] gone by\n- [ ] b\n", {"a", "b"}, None),
        ("- [ ] a\n- [ ] b\n", {"a", "b"}, None),
    ],
)
def test_a_reworded_task_is_told_by_its_place_and_its_words(
    text: str, seen: set[str], expected: str | None
) -> None:
    found = successor(checklist.parse(text.encode()), _job("a", "b"), seen)
    assert (found[0] if found else None) == expected
    assert successor(checklist.parse(text.encode()), _job(None, None), seen) is None

"""Whole functions, which all end in the same lines, come and go by several hands: each is its writer's."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitralph.lines.choose import separate
from gitralph.lines.order import chain
from gitralph.lines.terms import Step

OWNERS = ("S1", "S2", None)
HEADER = "import fs;\n\n"


@dataclass
class Function:
    """One function of the file, whose it is (``base`` is HEAD's), and who removed it or rewrote its value."""

    name: str
    by: str | None
    value: str = "0"
    removed: str | None = ""
    changed: str | None = ""
    nested: bool = False

    @property
    def text(self) -> str:
        body = f"  init();\n  return {self.value};\n"
        if self.nested:
            body = f"  if (x) {{\n    return {self.value};\n  }}\n"
        return f"function {self.name}() {{\n{body}}}\n\n"


@dataclass
class Day:
    """The functions in their order, those that are removed among them, and the steps so far."""

    functions: list[Function] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    count: int = 0

    @property
    def text(self) -> bytes:
        return (HEADER + "".join(each.text for each in self.functions if each.removed == "")).encode()

    def change(self, owner: str | None, kind: int, where: int, nested: bool) -> None:
        """Insert a function, or remove or change one that nobody else touched."""
        self.count += 1
        free = [f for f in self.functions if f.by == "base" and f.removed == f.changed == ""][2:-2]
        if kind == 0 or not free:
            made = Function(f"f{self.count}", owner, nested=nested)
            self.functions.insert(where % (len(self.functions) + 1), made)
        elif kind == 1:
            free[where % len(free)].removed = owner
        else:
            chosen = free[where % len(free)]
            chosen.changed, chosen.value = owner, f"{self.count}"


changes = st.tuples(st.sampled_from([0, 0, 1, 2]), st.integers(0, 20), st.booleans())
steps = st.lists(
    st.tuples(st.sampled_from(OWNERS), st.lists(changes, min_size=1, max_size=3)), min_size=2, max_size=6
)


@given(st.lists(st.booleans(), min_size=1, max_size=6), steps)
def test_each_function_is_its_writers(
    base: list[bool], made: list[tuple[str | None, list[tuple[int, int, bool]]]]
) -> None:
    # The first and last two stay, so that the common lines stand in the file more than once.
    day = Day(
        [
            Function(f"base{n}", "base", nested=nested)
            for n, nested in enumerate([True, False, *base, True, False])
        ]
    )
    head = day.text
    # What somebody changed before the first record is matched to HEAD by lines; equal ones may be mixed up.
    for number, (owner, all_changes) in enumerate(made):
        before = day.text
        for change in all_changes:
            day.change(owner, *change)
        if owner is not None:
            day.steps.append(Step(str(number), owner, before, day.text))
    for who in ("S1", "S2"):
        found = separate(head, chain(day.steps, head), day.text, owners={who}, leave=True)
        if found.refused:
            continue
        wanted = []
        for each in day.functions:
            if each.by not in ("base", who) or each.removed == who:
                continue
            value = each.value if each.changed in ("", who) else "0"
            wanted.append(Function(each.name, each.by, value, nested=each.nested).text)
        assert found.text is not None
        text = found.text.decode().removeprefix(HEADER)
        assert sorted(text.split("\n\n")) == sorted("".join(wanted).split("\n\n"))


def test_a_function_with_the_body_of_one_that_another_removed_there_waits() -> None:
    """HEAD still has the other, which the new lines would cut in two."""
    empty = HEADER.encode()
    head, last = ((HEADER + Function(name, None).text).encode() for name in ("one", "two"))
    steps = [Step("0", "S1", head, empty), Step("1", "S2", empty, last)]
    found = separate(head, steps, last, owners={"S2"})
    assert found.refused
    assert separate(head, steps, last, owners={"S1", "S2"}).text == last
    assert separate(empty, steps, last, owners={"S2"}).text == last


@pytest.mark.xfail(strict=True, reason="functions of two sessions with one body wait for each other")
def test_a_removed_function_goes_before_another_with_its_body() -> None:
    empty = HEADER.encode()
    head, last = ((HEADER + Function(name, None).text).encode() for name in ("one", "two"))
    steps = [Step("0", "S1", head, empty), Step("1", "S2", empty, last)]
    assert separate(head, steps, last, owners={"S1"}).text == empty


def test_a_function_amid_what_somebody_changed_before_the_first_record_waits() -> None:
    """One change of nobody's: a value, and a function behind it. What a session writes between is inside."""
    base = Day([Function(f"base{n}", "base") for n in range(3)])
    head = base.text
    base.functions[1].value = "7"
    base.functions.insert(2, Function("person", None))
    before = base.text
    base.functions.insert(2, Function("mine", "S1"))
    found = separate(head, [Step("0", "S1", before, base.text)], base.text, owners={"S1"})
    assert found.refused
    assert [each.reason for each in found.left] == ["stale"]

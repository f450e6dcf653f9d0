"""``gitralph.base.dataclass`` means what ``dataclasses`` means."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from gitralph.base import dataclass as ours


def _classes(of: Any) -> list[type]:
    @of.dataclass
    class Open:
        """Two fields."""

        a: int
        b: list[int] = of.field(default_factory=list)

    @of.dataclass(frozen=True)
    class Frozen:
        """A default, and one that inherits below."""

        a: int
        b: str = "b"

    @of.dataclass(frozen=True)
    class Below(Frozen):
        """Overrides a default and adds a field."""

        b: str = "c"
        c: tuple[int, ...] = ()

    @of.dataclass(slots=True)
    class Slots:
        """A field that is set afterwards, and a default."""

        a: int
        b: int = 3
        c: int = of.field(init=False)

        def __post_init__(self) -> None:
            self.c = self.a + self.b

    @of.dataclass(frozen=True, slots=True)
    class Both:
        """Both."""

        a: object = None

    return [Open, Frozen, Below, Slots, Both]


PAIRS = list(zip(_classes(dataclasses), _classes(ours), strict=True))
# A class of which many objects are made gets a constructor of its own.
MANY = list(zip(_classes(dataclasses), _classes(ours), strict=True))
for _theirs, crowded in MANY:
    for _time in range(100):
        crowded(1)
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}), ((1,), {}), ((1, 2), {}), ((1,), {"b": "x"}), ((), {"a": 1, "b": "x"}), ((1, 2, 3), {}),
    ((1, 2, 3, 4), {}), ((1,), {"nosuch": 2}), (([],), {}),
    ((1,), {"a": 2}), ((), {"b": 2}), ((1,), {"c": 2}),
]  # fmt: skip


def _told(do: Callable[..., object], *args: object, **named: object) -> object:
    try:
        return do(*args, **named)
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize(("theirs", "own"), [*PAIRS, *MANY])
@pytest.mark.parametrize(("args", "named"), CALLS)
def test_objects_are_made_compared_hashed_and_shown_alike(
    args: tuple[Any, ...], named: dict[str, Any], theirs: type, own: type
) -> None:
    one, other, again = (_told(kind, *args, **named) for kind in (theirs, own, own))
    assert repr(one) == repr(other)
    if isinstance(one, str):
        return
    assert other == again
    assert (other != own(5)) == (one != theirs(5))
    assert other != one
    assert _told(hash, one) == _told(hash, other)
    assert dataclasses.asdict(one) == ours.asdict(other)  # type: ignore[call-overload]
    assert _told(setattr, one, "a", 9) == _told(setattr, other, "a", 9)
    assert _told(delattr, one, "a") == _told(delattr, other, "a")


@pytest.mark.parametrize(("theirs", "own"), PAIRS)
def test_they_have_the_same_shape(theirs: type, own: type) -> None:
    assert own.__match_args__ == theirs.__match_args__  # type: ignore[attr-defined]
    assert getattr(own, "__slots__", None) == getattr(theirs, "__slots__", None)
    told, said = ours.fields(own), dataclasses.fields(theirs)
    assert [(one.name, one.type) for one in told] == [(one.name, one.type) for one in said]
    assert own.__doc__ == theirs.__doc__
    one: Any = own(1)
    assert ours.replace(one, a=2) == own(2)


def test_what_is_inside_becomes_a_dictionary_too() -> None:
    theirs, own = PAIRS[1]
    inside = [kind([kind(1), (kind(2),), {"x": kind(3)}]) for kind in (theirs, own)]
    assert ours.asdict(inside[1]) == dataclasses.asdict(inside[0])


def test_the_many_have_a_constructor_of_their_own() -> None:
    few, many = _classes(ours)[0], MANY[0][1]
    few(1)
    names: list[str] = [kind.__init__.__code__.co_name for kind in (few, many)]  # type: ignore[misc]
    assert names == ["general", "__init__"]


@pytest.mark.parametrize("made", [PAIRS[0][1], MANY[0][1]])
def test_each_object_gets_a_default_of_its_own(made: Any) -> None:
    first: Any = made(1)
    first.b.append(1)
    assert made(1).b == []

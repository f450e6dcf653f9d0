"""What is staged, carried over to a new HEAD: the texts alone."""

from gitralph.commit import carryover


def lines(*said: str) -> bytes:
    return "".join(f"{one}\n" for one in said).encode()


OLD = lines("{", "the first", "}")
NEW = lines("{", "my block one", "my block two", "the first", "}")


def settled(
    merged: bytes, staged: bytes, now: bytes | None = None, wrote: set[bytes] | None = None
) -> bytes | None:
    return carryover.without_doubles(merged, OLD, NEW, staged, now, lambda: wrote or set())


def test_a_merge_without_a_line_twice_stays() -> None:
    merged = lines("{", "my block one", "my block two", "the first", "yours", "}")
    assert settled(merged, lines("{", "the first", "yours", "}")) == merged


def test_what_is_staged_with_all_of_the_commit_stays() -> None:
    staged = lines("my block one", "my block two", "{", "the first", "yours here", "}")
    assert settled(staged.replace(b"the first", b"my block one\nmy block two\nthe first"), staged) == staged


def test_what_is_staged_of_the_commit_alone_follows() -> None:
    staged = lines("my block two", "{", "the first", "}")
    doubled = lines("my block two", "{", "my block one", "my block two", "the first", "}")
    assert settled(doubled, staged) == NEW


def test_a_line_that_the_file_has_as_often_is_meant() -> None:
    staged = lines("my block two", "yours here", "{", "the first", "}")
    doubled = lines("my block two", "yours here", "{", "my block one", "my block two", "the first", "}")
    assert settled(doubled, staged) is None
    assert settled(doubled, staged, now=doubled) == doubled

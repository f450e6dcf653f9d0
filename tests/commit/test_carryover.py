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


def carried(old: bytes, new: bytes, staged: bytes, now: bytes) -> bytes | None:
    return carryover.carried(old, new, staged, now, set)


def test_the_file_tells_how_changes_of_neighbouring_lines_stand_together() -> None:
    """The commit takes one line out, and the one below is staged in another form."""
    old, new = lines("a", "{", "the line", "z"), lines("a", "the line", "z")
    staged = lines("a", "{", "yours", "my line", "z")
    both = lines("a", "yours", "my line", "z")
    assert carried(old, new, staged, both) == both
    assert carried(old, new, staged, lines("a", "yours", "not mine yet", "my line", "z")) == both


def test_where_the_file_has_not_both_changes_nothing_is_carried_over() -> None:
    old, new = lines("a", "{", "the line", "z"), lines("a", "the line", "z")
    staged = lines("a", "{", "yours", "my line", "z")
    for now in (
        lines("a", "yours", "z"),  # a staged line is not there any more
        lines("a", "{", "yours", "my line", "z"),  # what the commit takes is
        lines("a", "yours", "the line", "my line", "z"),  # what the staged change took is
        lines("a", "yours", "my line", "yours", "z"),  # one is twice
        lines("a", "my line", "yours", "z"),  # in another order
        lines("a", "yours", "my line", "its own"),  # the file's change goes on beyond
    ):
        assert carried(old, new, staged, now) is None, now


def test_two_versions_of_one_line_are_a_conflict_whatever_the_file_has() -> None:
    old, new, staged = lines("a", "it was", "z"), lines("a", "it is", "z"), lines("a", "it will be", "z")
    assert carried(old, new, staged, lines("a", "it is", "it will be", "z")) is None


def test_a_merge_that_lost_a_staged_change_between_equal_lines_is_none() -> None:
    """git 2.39 takes such a removal back without a conflict; what is staged holds the commit here."""
    old = lines("{ first", "old line", "{", "second line", "third line", "{", "last")
    new = lines("{ first", "{", "{", "third line", "last")
    staged = lines("{ first", "{", "{", "last")
    assert not carryover.is_complete(new, old, new, staged)
    assert not carryover.is_complete(old, old, new, staged)
    assert carryover.is_complete(staged, old, new, staged)
    assert carried(old, new, staged, staged) == staged
    added = lines("{ first", "old line", "{", "second line", "my own line", "third line", "{", "last")
    assert not carryover.is_complete(new, old, new, added)
    assert carryover.is_complete(lines("my own line", "third line"), old, new, added)


def test_a_staged_removal_of_a_line_that_the_commit_moves_is_seen() -> None:
    old, new = lines("one", "two words", "three", "four"), lines("two words", "one", "three", "four")
    staged = lines("one", "three", "four")
    assert carryover.brings_back(lines("two words", "one", "three", "four"), old, new, staged)
    assert not carryover.brings_back(staged, old, new, staged)
    assert not carryover.brings_back(new, old, new, old)

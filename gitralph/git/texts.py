"""What git says of the bytes of a file: binary or text, and which line ends a blob of it has."""

# FIRST_FEW_BYTES of git's xdiff-interface.c: a NUL among them, and git shows no lines of it.
_SNIFFED = 8000


def is_binary(text: bytes | None) -> bool:
    """True where git would call it binary; a file that is not there is not."""
    return text is not None and text.find(b"\0", 0, _SNIFFED) >= 0


def with_line_feeds(text: bytes) -> bytes:
    """The form of a text in a blob where git converts line ends (``text`` and ``eol``, gitattributes(5))."""
    return text.replace(b"\r\n", b"\n")

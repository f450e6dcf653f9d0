"""git's view of a file's bytes: binary or text, and the line ends that its blob has."""

# In bytes; FIRST_FEW_BYTES of git's xdiff-interface.c: with a NUL among them git shows no lines.
_SNIFFED = 8000


def is_binary(text: bytes | None) -> bool:
    """True where git would call the text binary; an absent file is not binary."""
    return text is not None and text.find(b"\0", 0, _SNIFFED) >= 0


def with_line_feeds(text: bytes) -> bytes:
    """The form of a text in a blob where git converts line ends (``text`` and ``eol``, gitattributes(5))."""
    return text.replace(b"\r\n", b"\n")

"""git's rules for a path in a tree, as pure functions on bytes.

Source: ``verify_path``, ``is_hfs_dotgit`` and ``is_ntfs_dotgit`` of git's read-cache.c, utf8.c and
path.c, with both ``core.protectHFS`` and ``core.protectNTFS`` on. ``tests/base/test_treepath.py`` compares
with git itself.
"""

# The code points that HFS+ drops when it compares names (next_hfs_char in git's utf8.c).
_HFS_IGNORED = frozenset([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
# PATH_MAX of Linux, its NUL included: nothing longer can be opened in one call.
_LIMIT = 4096


def _ntfs_dotgit(name: bytes) -> bool:
    """True when NTFS would open ``name`` (up to a backslash or colon) as ``.git``."""
    lower = name[:5].lower()
    if lower[:4] == b".git":
        rest = name[4:]
    elif lower[:5] == b"git~1":
        rest = name[5:]
    else:
        return False
    for c in rest:
        if c in b"\\:":
            return True
        if c not in b". ":
            return False
    return True


def _hfs_dotgit(name: bytes) -> bool:
    """True when HFS+ would open ``name`` as ``.git``: case and ignorable characters do not count.

    As in git, malformed UTF-8 ends the name, so ``.git`` followed by a bad byte counts as well.
    """
    try:
        text = name.decode("utf-8")
        cut = False
    except UnicodeDecodeError as error:
        text, cut = name[: error.start].decode("utf-8"), True
    kept = "".join(c for c in text if ord(c) not in _HFS_IGNORED)
    if cut and len(kept) < 4:
        return False
    return kept.lower() == ".git" and kept[1:].isascii()


def _bad_name(name: bytes) -> bool:
    if name in (b"", b".", b".."):
        return True
    # Only these bytes can begin a spelling of `.git`: itself, `git~1`, and the first UTF-8 bytes of what HFS+
    # ignores. Ordinary names are spared both tests.
    if name[:1] in (b".", b"g", b"G", b"\xe2", b"\xef"):
        return _ntfs_dotgit(name) or _hfs_dotgit(name)
    return False


def is_valid(path: bytes) -> bool:
    """True when git would take ``path`` (relative, ``/`` between names) into its index."""
    if not path or len(path) > _LIMIT or b"\0" in path:
        return False
    for name in path.split(b"/"):
        if _bad_name(name):
            return False
        # git also examines what follows a backslash, which NTFS takes for a separator. It skips a backslash
        # at the beginning of a name: git's loop has passed that byte already.
        if b"\\" in name and any(_ntfs_dotgit(part) for part in name[1:].split(b"\\")[1:]):
            return False
    return True

"""The names of a fleet's refs on its remote: below ``refs/ralph``, or branches; pure.

A name is made from its bead and never read back. Anybody could make a ref of another name, so a claim counts
only at the name that its bead has.
"""

from gitralph.base import ids

CUSTOM = "refs/ralph"
# For a server that hides or forbids refs other than branches and tags.
BRANCHES = "refs/heads/ralph-fleet"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
# A server may keep a ref as a file, whose name has 255 bytes at most, `.lock` included (ext4, APFS, NTFS).
_LONGEST = 200
_HEX = frozenset("0123456789abcdef")


def claim_ref(namespace: str, bead: str) -> str:
    """Where the claim of a bead lives. Names are flat: git cannot hold ``claims/x`` beside ``claims/x/y``."""
    return f"{namespace}/claims/{encoded(bead)}"


def encoded(bead: str) -> str:
    """A bead's id as a ref's last part. What may clash, such as a capital or a ``.``, is written as ``%XX``.

    ``A-1`` is ``%41-1``: a server on a file system without case would else take it for ``a-1``.
    """
    name = "".join(c if c in _PLAIN else f"%{ord(c):02X}" for c in bead)
    if len(name) <= _LONGEST:
        return name
    return f"{name[:100]}-%-{ids.digest(bead.encode())[:32]}"


def log_ref(namespace: str, writer: str, part: int) -> str:
    """Where a writer's log lives. There are further parts where the server denies to replace the first."""
    return f"{namespace}/log/{writer}" + (f".{part}" if part > 1 else "")


def fleet_ref(namespace: str) -> str:
    """Where the fleet says its format and its lease."""
    return f"{namespace}/fleet"


def is_writer(text: object) -> bool:
    """True for 16 hex digits."""
    return isinstance(text, str) and len(text) == 16 and _HEX.issuperset(text)


def is_oid(text: object) -> bool:
    """True for 40 hex digits."""
    return isinstance(text, str) and len(text) == 40 and _HEX.issuperset(text)


def writer_of(namespace: str, ref: str) -> tuple[str, int] | None:
    """The writer and the part that a log's ref belongs to, None for another ref."""
    head = f"{namespace}/log/"
    if not ref.startswith(head):
        return None
    writer, _, part = ref[len(head) :].partition(".")
    if not is_writer(writer) or (part and (len(part) > 3 or not part.isdigit() or int(part) < 2)):
        return None
    return writer, int(part or 1)

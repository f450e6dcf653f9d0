"""Decides what a tool call changed, from three sources: the disk now, the disk before, the payload; pure.

Payload texts are decoded, mostly with ``\\n`` line ends and sometimes without the byte order mark. So texts
are compared in a normal form, and the bytes on disk are recorded. Where the payload contradicts the disk,
somebody else wrote in between, and only the payload's own texts count.
"""

from gitralph.hook.journal import NONE, PAYLOAD, WINDOW

_MARK = b"\xef\xbb\xbf"
_LOST = "\ufffd".encode()


class UnknownText:
    """The type of UNKNOWN: a text that nobody told us, while None is an absent file."""

    __slots__ = ()


UNKNOWN = UnknownText()
Text = bytes | None | UnknownText


def normal(text: bytes) -> str:
    """The form in which a payload's text and a file's bytes are compared."""
    return text.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def same(a: Text, b: Text) -> bool:
    """True when both are absent or have the same normal form; an unknown text equals nothing."""
    if a is None or b is None:
        return a is b
    if isinstance(a, UnknownText) or isinstance(b, UnknownText):
        return False
    return a == b or normal(a) == normal(b)


def in_style_of(text: bytes, model: bytes) -> bytes:
    """A payload's text with the line ends and byte order mark of ``model``, where those are uniform."""
    # Most clients send LF whatever the file has. Only where every line of the file ends with CRLF their
    # meaning is certain.
    if b"\r\n" not in text and b"\r\n" in model and model.count(b"\n") == model.count(b"\r\n"):
        text = text.replace(b"\n", b"\r\n")
    if model.startswith(_MARK) and not text.startswith(_MARK):
        text = _MARK + text
    return text


class StepTexts:
    """The texts of one step and how well they are known."""

    __slots__ = ("after", "before", "exact")

    def __init__(self, before: Text, after: Text, exact: str) -> None:
        self.before = before
        self.after = after
        self.exact = exact


def _styled(text: Text, model: Text) -> Text:
    if isinstance(text, bytes) and isinstance(model, bytes):
        return in_style_of(text, model)
    return text


def _before(seen: Text, told: Text, after: Text, forms: object, verbatim: bool) -> Text:
    """The bytes before: as seen, where the payload agrees; else the payload's text in a known style.

    ``forms`` chooses among byte forms of one text, picking the one with which the journal ends. ``verbatim``:
    the payload's new text is the file byte for byte, so its old text was not normalised either.
    """
    if isinstance(told, UnknownText) or same(seen, told):
        return seen
    # Qwen Code and Gemini CLI send "" both for an absent file and for an empty one.
    if told is None:
        return seen if seen == b"" else None  # some payloads cannot tell empty from absent
    assert isinstance(told, bytes)
    choose = forms
    if _LOST in told and not verbatim:
        # the client could not decode the file, so no byte form of its text is the file's
        return choose([told]) or UNKNOWN  # type: ignore[operator]
    styled = told if verbatim else _styled(told, after)
    assert isinstance(styled, bytes)
    return choose([told, styled, told.replace(b"\n", b"\r\n")]) or styled  # type: ignore[operator]


def texts_of(
    disk: bytes | None,
    seen: Text,
    told_before: Text,
    told_after: Text,
    alone: bool,
    chained: object,
) -> StepTexts:
    """What one call did to one file.

    ``disk`` is the file now, ``seen`` the file at the pre event. ``told_before`` and ``told_after`` come from
    the payload, or are computed from it and ``seen``. ``alone``: no other record of the path came since the
    pre event. ``chained`` picks, from byte forms, the one with which the journal ends, or None.
    """
    if isinstance(told_after, UnknownText):
        if isinstance(seen, UnknownText) or not alone:
            return StepTexts(UNKNOWN, disk, NONE)
        return StepTexts(seen, disk, WINDOW)
    agrees = same(told_after, disk)
    # The client could not decode the file, so its text cannot be turned back into the file's bytes.
    if not agrees and told_after is not None and _LOST in told_after:
        return StepTexts(UNKNOWN, disk, NONE)
    model = disk if agrees else seen
    after: Text = disk if agrees else _styled(told_after, model)
    before = _before(seen, told_before, after, chained, verbatim=told_after == disk)
    if isinstance(before, UnknownText):
        return StepTexts(UNKNOWN, disk if agrees else after, NONE)
    return StepTexts(before, after, PAYLOAD)

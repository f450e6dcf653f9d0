"""Texts that tests edit."""

TEN = "".join(f"line {n}\n" for n in range(1, 11))


def changed(line: int = 3, to: str = "changed", text: str = TEN) -> str:
    """``text`` with one of its lines replaced."""
    assert f"line {line}\n" in text
    return text.replace(f"line {line}\n", f"{to}\n")

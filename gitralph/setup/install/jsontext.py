"""Edits a JSON text in place: what is not touched keeps its bytes, order and indentation; pure.

Serialising a parsed document again would change numbers, escapes and line breaks of things that
are not ours.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

_BLANK = " \t\r\n"
# Strings first: two slashes inside one, as in every URL, begin no comment.
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
# The text is known to be valid when this is asked, so that it need only find the end.
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}"]+')


@dataclass
class Node:
    """A value with the span of text it takes; ``keys`` and ``nodes`` are a container's parts.

    ``starts`` is where each part begins: at its key in an object.
    """

    start: int
    end: int = 0
    keys: list[str] = field(default_factory=list)
    nodes: list["Node"] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def get(self, key: str) -> "Node | None":
        """The part under ``key``; the last one counts, as for every JSON reader."""
        found = [node for name, node in zip(self.keys, self.nodes, strict=False) if name == key]
        return found[-1] if found else None


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _blank(found: "re.Match[str]") -> str:
    return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])


def plain(text: str) -> str:
    """``text`` with blanks for its comments: every span stays where it is."""
    return _COMMENT.sub(_blank, text) if "/" in text else text


def parse(text: str, comments: bool = True) -> Node:
    """The document with its spans. Raises ValueError saying where it is not JSON, or not with comments."""
    text = plain(text) if comments else text
    try:
        # Python's reader alone takes NaN and Infinity (RFC 8259 has neither); the agents' would reject the
        # file.
        json.loads(text, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg.lower()}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return _node(text, _skip(text, 0))


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def value_of(text: str, node: Node) -> Any:
    """The value that a node's span holds."""
    return json.loads(plain(text[node.start : node.end]))


def _node(text: str, at: int) -> Node:
    node = Node(at)
    if text[at] in "{[":
        node.end = _parts(text, at, node)
    else:
        node.end = _scalar_end(text, at)
    return node


def _scalar_end(text: str, at: int) -> int:
    found = _SCALAR.match(text, at)
    assert found is not None
    return found.end()


def _parts(text: str, at: int, node: Node) -> int:
    """Read the parts of a container that is known to be valid; returns its end."""
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        node.starts.append(at)
        if is_object:
            end = _scalar_end(text, at)
            node.keys.append(json.loads(text[at:end]))
            at = _skip(text, _skip(text, end) + 1)
        inner = _node(text, at)
        node.nodes.append(inner)
        at = _skip(text, inner.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return at + 1


def _line_indent(text: str, at: int) -> str:
    """The blanks that the line of ``at`` starts with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _stands_alone(text: str, at: int) -> bool:
    """True when nothing but blanks is before ``at`` on its line."""
    return not text[text.rfind("\n", 0, at) + 1 : at].strip() and "\n" in text[:at]


@dataclass(frozen=True)
class Style:
    """How a document is laid out; ``flat`` when it is all on one line."""

    unit: str
    newline: str
    flat: bool


def style_of(text: str) -> Style:
    """The layout of a document, two blanks and one part a line where it shows none."""
    root = parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    flat = bool(root.starts) and not _stands_alone(text, root.starts[0])
    unit = _line_indent(text, root.starts[0]) if root.starts and not flat else ""
    return Style(unit or "  ", newline, flat)


def _render(value: object, style: Style, indent: str) -> str:
    if style.flat:
        return json.dumps(value, ensure_ascii=False)
    rows = json.dumps(value, ensure_ascii=False, indent=style.unit).split("\n")
    return (style.newline + indent).join(rows)


def insert(text: str, into: Node, value: object, key: str | None = None) -> str:
    """``text`` with one more part at the end of container ``into``."""
    style = style_of(text)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    if not into.nodes:
        return _insert_first(text, into, name, value, style)
    last = into.starts[-1]
    at = into.nodes[-1].end
    if not _stands_alone(text, last):
        # The parts stand side by side on a line, and so does the new one.
        flat = Style(style.unit, style.newline, True)
        return f"{text[:at]}, {name}{_render(value, flat, '')}{text[at:]}"
    indent = _line_indent(text, last)
    return f"{text[:at]},{style.newline}{indent}{name}{_render(value, style, indent)}{text[at:]}"


def _insert_first(text: str, into: Node, name: str, value: object, style: Style) -> str:
    head, tail = text[: into.start + 1], text[into.end - 1 :]
    head += text[into.start + 1 : into.end - 1].rstrip()  # comments
    if style.flat and text[into.start + 1 : into.end - 1].isspace() | (into.end - into.start == 2):
        return head + name + _render(value, style, "") + tail
    outer = _line_indent(text, into.start)
    inner = outer + style.unit
    body = name + _render(value, style, inner)
    return f"{head}{style.newline}{inner}{body}{style.newline}{outer}{tail}"


def remove(text: str, out_of: Node, index: int) -> str:
    """``text`` without one part of a container."""
    if len(out_of.nodes) == 1:
        return text[: out_of.start + 1] + text[out_of.end - 1 :]
    if index + 1 < len(out_of.nodes):
        return text[: out_of.starts[index]] + text[out_of.starts[index + 1] :]
    end = out_of.nodes[index - 1].end
    # The last part takes the comma before it along; what else stands between, a comment, stays.
    between = text[end : out_of.starts[index]]
    comma = plain(between).index(",")
    kept = (between[:comma] + between[comma + 1 :]).rstrip()  # comments
    return text[:end] + kept + text[out_of.nodes[index].end :]

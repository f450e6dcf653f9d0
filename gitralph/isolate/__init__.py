"""Tells the owners of one file's lines apart; pure.

Texts and recorded steps go in, the text of one owner's commit or a refusal comes out. Nothing
here opens a file, knows git, or imports from the rest of the program.

`chain` orders steps, `separate` answers what an owner may commit, `owners_by_line` and
`pending_units` say who wrote what, `unrecorded` what nobody did. The parts: `lines` and `linediff`
read texts, `weave` holds all lines that ever were, `build` (with `moves` and `place`) builds it,
`handover` gives an owner lines of nobody's (`assign` says which there are), `materialize` evaluates
it, `head` (with `align`) fits it to HEAD, `rules`, `supersede` and `reverted` say what may
be taken, `select` applies them and `explain` words the answer.
"""

from gitralph.isolate.agreement import agreed, unmoved_since
from gitralph.isolate.annotate import owners_by_line, pending_units
from gitralph.isolate.api import (
    UNRECORDED,
    Left,
    LineOwner,
    Note,
    Pending,
    Reading,
    Separation,
    Step,
    Take,
)
from gitralph.isolate.assign import Unrecorded, gives, takes, unrecorded, without
from gitralph.isolate.build import TAIL
from gitralph.isolate.order import chain
from gitralph.isolate.separation import separate

__all__ = [
    "TAIL",
    "UNRECORDED",
    "Left",
    "LineOwner",
    "Note",
    "Pending",
    "Reading",
    "Separation",
    "Step",
    "Take",
    "Unrecorded",
    "agreed",
    "chain",
    "gives",
    "owners_by_line",
    "pending_units",
    "separate",
    "takes",
    "unmoved_since",
    "unrecorded",
    "without",
]

"""Commit only what this session edited.

Layers, each importing downward only (``tests/test_layering.py`` proves it)::

    cli         click: one file a command; reads the environment, prints
    porcelain   what a command does; returns results, prints nothing
    state       records below ralph-sessions/   plumbing   git and dulwich
    isolate     separates several owners of one text; pure
    lane 0      everything else here and agents/: standard library only, for the hook
"""

__version__ = "0.1.0"

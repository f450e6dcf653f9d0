"""Commit only what this session edited.

Rooms, each importing downward only (``tests/papers/test_layering.py`` proves it)::

    cli                  click: one file a command; reads what was typed, calls, prints
    tasks  setup         many tasks: loop, worktrees, branches, proofs; hooking up agents and proving it
    guard                an agent's plain git commit, and what it is about to throw away
    ask  takeback        questions to the records; undo, restore, assign
    sessions             which session is meant
    commit               the way to HEAD
    words                a reason in a sentence
    decide               what of each path a commit takes, and why not the rest
    records  git  lines  what was recorded; git and dulwich; whose a line is
    hook                 the fast lane, from payload to record: standard library only
    base                 files, names, ids, processes, locks
"""

__version__ = "0.2.0"

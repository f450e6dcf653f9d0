"""Commit only what this session edited.

Rooms, each importing downward only (``tests/papers/test_layering.py`` proves it)::

    cli         click: one file a command; reads the environment, prints
    worktree  loop  policy  setup  report  demo  gc  trace  tracker  promise  manual    a capability each
    commit  query  shell  session       what a commit takes, and every question to the same records
    context  checklist                  what a command works with; the tasks of a plan
    journal  git  lines                 records, git and dulwich, whose a line of a text is
    hook        the fast lane, from payload to record; agents/ one adapter each; standard library only
    base        files, names, ids, processes, locks; standard library only
"""

__version__ = "0.1.0"

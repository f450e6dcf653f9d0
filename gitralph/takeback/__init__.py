"""Takes back what a session did, and puts it back: in the working tree, or a commit.

The same records, decisions and weave as a commit; nobody else's line is touched. ``survey`` reads,
``by_lines`` and ``whole_files`` decide, ``undo``, ``redo`` and ``restore`` do it through ``land_files``.
"""

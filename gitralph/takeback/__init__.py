"""Takes back what a session did, and puts it back: in the working tree, or a commit.

It uses the records, decisions and weave of a commit, and touches no line of anybody else. ``survey`` reads,
``by_lines`` and ``whole_files`` decide, and ``undo``, ``redo`` and ``restore`` write through ``land_files``.
"""

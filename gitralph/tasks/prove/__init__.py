"""Does a commit stand alone? A command, run on a commit's own tree instead of the shared directory.

``results`` remembers what passed, ``proof`` lays a tree out in a warm worktree of ours and runs the command
there, ``explain`` finds whose uncommitted lines a tree needs, ``series`` proves commit after commit.
"""

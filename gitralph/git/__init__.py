"""git and dulwich: blobs, trees, commits, refs, the index, configuration.

This room knows nothing of edits.
"""

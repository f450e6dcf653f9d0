"""git and dulwich: blobs, trees, commits, refs, the index, configuration. Knows nothing of edits."""

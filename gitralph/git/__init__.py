"""git and dulwich: blobs, trees, commits, refs, the index. Knows nothing of sessions."""

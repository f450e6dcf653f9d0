"""Many tasks, one capability a folder: the loop, worktrees, branches, proofs, policies, a fleet of clones."""

"""Worktrees keyed by bead: where they lie, who has them, and how they come, merge and go."""

#!/bin/sh
# Launching a subagent: worktree_policy required|optional|none, see gitralph-policy(7).
# Blocks (exit 2) only what says itself that it needs a worktree, should git ralph be gone.
if command -v git-ralph >/dev/null 2>&1; then
	exec git-ralph hook "${RALPH_AGENT:-claude-code}"
fi
echo "warning: git ralph is not on PATH: no worktree policy was applied" >&2
grep -Eq '"worktree_policy"[[:space:]]*:[[:space:]]*"required"' && exit 2
exit 0

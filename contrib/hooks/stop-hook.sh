#!/bin/sh
# The promise loop: the owner of an active bead goes on until its promise, see gitralph-policy(7).
command -v git-ralph >/dev/null 2>&1 && exec git-ralph hook "${RALPH_AGENT:-claude-code}"
echo "warning: git ralph is not on PATH: the loop lets go" >&2
exit 0

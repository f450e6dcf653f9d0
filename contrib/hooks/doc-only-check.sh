#!/bin/sh
# An agent that may write documentation only, see gitralph-policy(7).
if command -v git-ralph >/dev/null 2>&1; then
	RALPH_DOC_ONLY=1 exec git-ralph hook "${RALPH_AGENT:-claude-code}"
fi
echo "error: git ralph is not on PATH, so nobody can tell whether this is documentation" >&2
exit 2

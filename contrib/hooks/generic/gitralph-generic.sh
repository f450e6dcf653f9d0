#!/bin/sh
# Hands one event of any agent (JSON on standard input) to git ralph.
#
#   {"session": "s1", "cwd": "/repo", "event": "edit", "path": "src/a.c", "before": null, "after": "text"}
#
# "event" is edit, delete, rename (with "to"), pre, start, stop or end. Leave "before" and "after" out
# when they are not known; null stands for an absent file; add "encoding": "base64" for odd bytes.
# An agent that knows paths only may as well call: git ralph track --session <id> -- <path>...
#
# Never blocks the agent: prints nothing on standard output and exits 0 whatever happens.

if command -v git-ralph >/dev/null 2>&1; then
	git-ralph hook generic >/dev/null || :
else
	cat >/dev/null
	echo "gitralph: 'git-ralph' is not on PATH, so this event was not recorded; see 'git ralph doctor'" >&2
fi
exit 0

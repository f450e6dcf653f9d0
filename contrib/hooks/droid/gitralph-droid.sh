#!/bin/sh
# Hands one Droid hook event (JSON on standard input) to git ralph.
#
# For settings that are wired by hand; `git ralph install --agent droid` does the same with no
# script. Register it for the events that settings.json beside this file names.
#
# Experimental: as the documentation says, never seen at work.
#
# Never blocks the agent: prints nothing on standard output and exits 0 whatever happens.

if command -v git-ralph >/dev/null 2>&1; then
	git-ralph hook droid >/dev/null || :
else
	cat >/dev/null
	echo "gitralph: 'git-ralph' is not on PATH, so this event was not recorded; see 'git ralph doctor'" >&2
fi
exit 0

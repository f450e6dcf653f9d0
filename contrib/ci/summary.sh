#!/bin/sh
# Prints who wrote the commits of a pull request, in Markdown; in a job of GitHub Actions into its summary.
#
#   summary.sh <base> [<head>]
#
# Needs git ralph on PATH, and a clone that has the commits between the two: a shallow one is said to be one.
set -eu

base=${1:?usage: summary.sh <base> [<head>]}
head=${2:-HEAD}

# Notes tell each line; without them, as in a fork or offline, the trailers of the commits do.
git fetch --quiet --no-tags origin '+refs/notes/ai:refs/notes/ai' 2>/dev/null || true

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    git ralph export --format markdown "$base..$head" >>"$GITHUB_STEP_SUMMARY"
else
    git ralph export --format markdown "$base..$head"
fi

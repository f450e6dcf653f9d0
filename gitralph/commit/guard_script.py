"""The guard's lines in git's ``pre-commit`` hook, and whether a hook holds nothing else."""

import os

NAME, ASIDE = "pre-commit", "pre-commit.before-gitralph"
BEGIN, END = "# gitralph guard: begin\n", "# gitralph guard: end\n"
# 4 is "refused"; whatever else goes wrong must not stand in the way of a commit
CALL = """\
if [ "${RALPH_GUARD:-1}" != 0 ] && command -v git-ralph >/dev/null 2>&1; then
	if git-ralph guard; then :; elif [ $? -eq 4 ]; then exit 1; fi
fi
"""
BLOCK = (BEGIN + CALL + END).encode()
OWN = """\
#!/bin/sh
# gitralph: a guard for plain git; 'git ralph uninstall --guard' takes it out again
if [ -x "${0%/*}/pre-commit.before-gitralph" ]; then
	"${0%/*}/pre-commit.before-gitralph" "$@" || exit
fi
"""
MADE = "# the folder is ours too\n"


def own(made: bool) -> bytes:
    """A hook that is nothing but the guard; ``made``: its folder is ours too."""
    return (OWN + CALL + (MADE if made else "")).encode()


def is_bare(folder: str) -> bool:
    """True when the hook is ours alone and calls no other one: it has nothing to say to our own commits."""
    hook = f"{folder}/{NAME}"
    if not os.path.isfile(hook):
        return False
    # not by files.read_bytes, which makes what it opens private: a hook would lose its x bit and not run
    with open(hook, "rb") as file:
        data = file.read(1 << 16)
    return data in (own(False), own(True)) and not os.path.lexists(f"{folder}/{ASIDE}")

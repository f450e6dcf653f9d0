"""The guard's lines in git's hooks, and whether a hook holds nothing else.

The script decides by the environment who commits. For a person's commit it starts Python only where a session
has something pending: a mark file of the session says so, or a manifest into which a script wrote by itself.
A hook of somebody else runs first, so that the guard sees what its formatters made. Only
``prepare-commit-msg`` gives the user's index back before anything else runs.
"""

import os

from gitralph.hook.variables import MARKS

NARROW = "narrow"
NAME = "pre-commit"
REBASE = "rebase"
FAILED = "failed"
HOOKS = (NAME, "prepare-commit-msg", "commit-msg", "post-commit")
FIRST = frozenset(["prepare-commit-msg"])
BEGIN, END = "# gitralph guard: begin\n", "# gitralph guard: end\n"
MADE = "# the folder is ours too\n"
SET = "# ralph.guard was set with it\n"
HEADER = """\
#!/bin/sh
# gitralph: a guard for plain git; 'git ralph uninstall --guard' takes it out again
"""
AGENT = "".join(f"${{{name}-}}" for name in MARKS)
# A login shell sets PATH anew (seen with Codex 0.169), so a launcher names the folder by itself.
_FIND = '[ -z "${RALPH_PROGRAMS-}" ] || PATH=$PATH:$RALPH_PROGRAMS\n'
# Exit code 4 means "refused". A person's commit goes on whatever else fails, an agent's only where it was
# narrowed.
_DECIDE = f"""\
{_FIND}ralph_guard=${{RALPH_GUARD:-1}}
[ "$ralph_guard" != 1 ] || ralph_guard=$(git config --get ralph.guard)
ralph_agent={AGENT}
case $ralph_guard:$ralph_agent in
0:* | off:*) ;;
narrow:?*)
	if ! command -v git-ralph >/dev/null 2>&1; then
		echo "error: 'git-ralph' is not on PATH, so nothing tells whose lines these are" >&2
		exit 1
	fi
	git-ralph guard pre-commit "$PPID" "${{0##*/}}" || exit 1
	;;
*:)
	ralph_state=$(git rev-parse --git-common-dir)/ralph-sessions
	for ralph_pending in "$ralph_state"/*.pending "$ralph_state"/worktrees/*/*.pending \\
		"$ralph_state"/*.files "$ralph_state"/worktrees/*/*.files; do
		case $ralph_pending in
		*.files)
			[ -s "$ralph_pending" ] || continue
			[ ! "${{ralph_pending%/*}}/looked" -nt "$ralph_pending" ] || continue
			;;
		*) [ -e "$ralph_pending" ] || continue ;;
		esac
		if command -v git-ralph >/dev/null 2>&1; then
			if git-ralph guard; then :; elif [ $? -eq 4 ]; then exit 1; fi
		fi
		break
	done
	;;
*)
	if command -v git-ralph >/dev/null 2>&1; then
		if git-ralph guard; then :; elif [ $? -eq 4 ]; then exit 1; fi
	fi
	;;
esac
"""
_GO_ON = """\
{find}ralph_agent={agent}
[ "${{RALPH_GUARD:-1}}" != 0 ] || ralph_agent=
if [ -n "$ralph_agent" ]{unsigned} && command -v git-ralph >/dev/null 2>&1; then
	for ralph_guard in "$(git rev-parse --git-common-dir)"/ralph-sessions/narrowed/*.json; do
		[ ! -e "$ralph_guard" ] || git-ralph guard {name} "$PPID" {file}|| exit 1
		break
	done
{stopped}fi
"""
# `git rebase --continue` commits what is staged and runs no `pre-commit` (git 2.39, sequencer.c).
_STOPPED = """	if [ -e "$(git rev-parse --git-path rebase-merge/stopped-sha)" ]; then
		git-ralph guard rebase "$PPID" || exit 1
	fi
"""
# What the agent has staged for a commit that is not made would be in a person's next one.
_SAID_NO = f"""\
{{
	ralph_code=$?
	{_FIND.rstrip()}
	ralph_agent={AGENT}
	[ "${{RALPH_GUARD:-1}}" != 0 ] || ralph_agent=
	if [ -n "$ralph_agent" ] && command -v git-ralph >/dev/null 2>&1; then
		git-ralph guard {FAILED} "$PPID" || :
	fi
	exit $ralph_code
}}"""


def _failed(name: str) -> str:
    """What follows where another hook of that name said no."""
    # git ignores the exit code of post-commit
    return _SAID_NO if name == NAME else ":" if name == "post-commit" else "exit"


def call(name: str) -> str:
    """The guard's lines for the hook of that name."""
    if name == NAME:
        return _DECIDE
    # Where no editor was opened the message is signed already. A later hook may have written it anew.
    unsigned = ' && ! grep -q "^Ralph-Session: " "$1"' if name == "commit-msg" else ""
    file = "" if name == "post-commit" else '"$1" '
    stopped = _STOPPED if name in FIRST else ""
    return _GO_ON.format(find=_FIND, agent=AGENT, name=name, file=file, unsigned=unsigned, stopped=stopped)


def aside(name: str) -> str:
    """The name to which a hook is moved that cannot take lines of ours."""
    return f"{name}.before-gitralph"


def _later(name: str) -> str:
    # A second guard below this one (a framework keeps it as `pre-commit.legacy`) leaves the work to this one.
    return f"{name}:$PWD:${{GIT_INDEX_FILE-}}"


def block(name: str) -> bytes:
    """The lines for an existing shell script: the script first runs itself, under its own name.

    In ``prepare-commit-msg`` our lines come first. Lines with :data:`SET` and :data:`MADE` are notes of ours.
    """
    if name in FIRST:
        return (BEGIN + call(name) + END).encode()
    failed = _indented(_failed(name)).lstrip()
    text = f"""\
if [ "${{RALPH_GUARD_LATER-}}" != "{_later(name)}" ]; then
	RALPH_GUARD_LATER="{_later(name)}" "$0" "$@" || {failed}\
{_indented(call(name))}	exit 0
fi
"""
    return (BEGIN + text + END).encode()


def _indented(text: str) -> str:
    return "".join(f"\t{line}\n" for line in text.splitlines())


def own(name: str, made: bool) -> bytes:
    """A hook that is nothing but the guard; ``made``: we made its folder too."""
    failed = _indented(_failed(name)).lstrip()
    theirs = f"""\
if [ -x "${{0%/*}}/{aside(name)}" ]; then
	RALPH_GUARD_LATER="{_later(name)}" "${{0%/*}}/{aside(name)}" "$@" || {failed}\
elif [ -e "${{0%/*}}/{aside(name)}" ] && [ "$(git config --type=bool advice.ignoredHook)" != false ]; then
	echo "hint: the '${{0%/*}}/{aside(name)}' hook was ignored because it is not executable" >&2
fi
"""
    again = f'[ "${{RALPH_GUARD_LATER-}}" != "{_later(name)}" ] || exit 0\n'
    parts = [call(name), theirs] if name in FIRST else [theirs, again, call(name)]
    return (HEADER + "".join(parts) + (MADE if made else "")).encode()


def plain(data: bytes) -> bytes:
    """The bytes of a hook without our notes."""
    return data.replace(MADE.encode(), b"").replace(SET.encode(), b"")


def is_ours(data: bytes) -> bool:
    """True for a hook file of ours, of this version or another."""
    return data.startswith(HEADER.encode()[:60])


def holds(data: bytes) -> bool:
    """True for a hook file that runs the guard."""
    return is_ours(data) or BEGIN.encode() in data


def is_gone(folder: str) -> bool:
    """True when git runs hooks from this folder, and surely none of them runs the guard.

    Another's hook may run any file, so only those count of which is known what they run.
    """
    hook = f"{folder}/{NAME}"
    if not os.access(hook, os.X_OK):
        return True
    data = _content(hook)
    if holds(data):
        return False
    if b"generated by pre-commit" in data:  # it runs what it moved aside
        return not holds(_content(f"{hook}.legacy"))
    above, name = os.path.split(folder.rstrip("/"))
    if name == "_":  # husky 9 runs the file of that name in the folder above
        theirs = _content(f"{above}/{NAME}")
        return not (holds(theirs) or b"ralph" in theirs or b"hooks/" in theirs)
    return b"lefthook" in data


def is_bare(folder: str, name: str) -> bool:
    """True when the hook is ours alone and calls no other hook; our own commits then need not run it."""
    is_own = plain(_content(f"{folder}/{name}")) == own(name, False)
    return is_own and not os.path.lexists(f"{folder}/{aside(name)}")


def _content(hook: str) -> bytes:
    if not os.path.isfile(hook):
        return b""
    # files.read_bytes makes what it opens private; then the hook would lose its x bit and not run.
    with open(hook, "rb") as file:
        return file.read(1 << 16)

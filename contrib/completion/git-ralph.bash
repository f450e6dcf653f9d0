# shellcheck shell=bash
# Bash completion of git ralph, for git's own completion to find: installed as
# share/bash-completion/completions/git-ralph, it defines _git_ralph. Words come from this file, session
# ids from the repository's state folder.

# command:its options; an option that takes a value ends with =
__git_ralph_table='
commit:--session= --plan= --task= --message= --file= --edit --trailer= --author= --dry-run --skip-entangled --include-entangled --whole-file --with-shell --no-verify --json --porcelain --quiet -z
status:--session= --json --porcelain -z
diff:--session= --stat
why:--json
session:start list show end
session-start:--id= --agent= --plan= --task= --bead= --parent= --continue --env=
session-list:--json
session-show:--json
session-end:
worktree:add list path lock unlock merge remove restore spawn
worktree-add:--base= --session= --take-over --json
worktree-list:--json --porcelain -z
worktree-path:
worktree-lock:--reason=
worktree-unlock:
worktree-merge:--into= --no-ff --json
worktree-remove:--force -f --session= --json
worktree-restore:--json
worktree-spawn:--policy= --agent-type= --max-iterations= --promise= --restart --session=
install:--agent= --user --project
uninstall:--agent= --user --project
doctor:--json
demo:--keep
gc:--dry-run -n
env:
help:
track:--session= --stdin --from-transcript -z
ls-files:--session= -z
hook:
'
__git_ralph_agents='claude-code pi codex gemini opencode qwen copilot cursor droid generic'

__git_ralph_commands() {
	printf '%s\n' "$__git_ralph_table" | sed -n 's/^\([a-z]*\(-files\)\{0,1\}\):.*/\1/p'
}

__git_ralph_words() {
	printf '%s\n' "$__git_ralph_table" | sed -n "s/^$1://p"
}

__git_ralph_sessions() {
	local folder file
	folder=$(git rev-parse --git-common-dir 2>/dev/null)/ralph-sessions
	for file in "$folder"/*.json; do
		[ -e "$file" ] || continue
		file=${file##*/}
		file=${file%.json}
		printf '%s\n' "${file%%\~*}"
	done
}

__git_ralph_beads() {
	local folder file
	folder=$(git rev-parse --git-common-dir 2>/dev/null)/ralph-sessions/beads
	for file in "$folder"/*.json; do
		[ -e "$file" ] || continue
		file=${file##*/}
		printf '%s\n' "${file%.json}"
	done
}

__git_ralph_reply() {
	local IFS=$' \t\n' word
	COMPREPLY=()
	while IFS= read -r word; do
		case $word in
		*=) COMPREPLY+=("$word") ;;
		*) COMPREPLY+=("$word ") ;;
		esac
	done < <(compgen -W "$1" -- "${2-$cur}")
	compopt -o nospace 2>/dev/null || :
}

_git_ralph() {
	local cur=${COMP_WORDS[COMP_CWORD]} command='' sub='' word at found=0 option='' value=''
	for ((at = 1; at < COMP_CWORD; at++)); do
		word=${COMP_WORDS[at]}
		if [ "$found" = 0 ]; then
			[ "$word" = ralph ] || [ "${word##*/}" = git-ralph ] && found=1
		elif [ -z "$command" ]; then
			case $word in -C) at=$((at + 1)) ;; -*) ;; *) command=$word ;; esac
		elif [ -z "$sub" ] && { [ "$command" = session ] || [ "$command" = worktree ]; }; then
			case $word in -*) ;; *) sub=$word ;; esac
		fi
	done
	if [ -z "$command" ]; then
		__git_ralph_reply "$(__git_ralph_commands) --version -C"
		return
	fi
	# --option=value comes as one word, or as three where = breaks words
	case $cur in
	--*=*) option=${cur%%=*} value=${cur#*=} ;;
	*)
		if [ "$cur" = = ]; then
			option=${COMP_WORDS[COMP_CWORD - 1]}
		elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = = ]; then
			option=${COMP_WORDS[COMP_CWORD - 2]} value=$cur
		else
			option=${COMP_WORDS[COMP_CWORD - 1]} value=$cur
		fi
		;;
	esac
	case $option in
	--session | --parent) __git_ralph_reply "$(__git_ralph_sessions)" "$value" && return ;;
	--agent) __git_ralph_reply "$__git_ralph_agents" "$value" && return ;;
	--policy) __git_ralph_reply 'required optional none' "$value" && return ;;
	--env) __git_ralph_reply 'sh json' "$value" && return ;;
	esac
	case $command in
	session | worktree)
		case $sub in
		'') __git_ralph_reply "$(__git_ralph_words "$command")" ;;
		*)
			case $cur in
			-*) __git_ralph_reply "$(__git_ralph_words "$command-$sub")" ;;
			*)
				case $command-$sub in
				session-show | session-end) __git_ralph_reply "$(__git_ralph_sessions)" ;;
				worktree-*) __git_ralph_reply "$(__git_ralph_beads)" ;;
				esac
				;;
			esac
			;;
		esac
		return
		;;
	esac
	case $cur in
	-*) __git_ralph_reply "$(__git_ralph_words "$command")" ;;
	*)
		case $command in
		hook) __git_ralph_reply "$__git_ralph_agents" ;;
		help) __git_ralph_reply "$(__git_ralph_commands) sessions hooks policy" ;;
		*)
			COMPREPLY=()
			compopt -o default +o nospace 2>/dev/null || :
			;;
		esac
		;;
	esac
}

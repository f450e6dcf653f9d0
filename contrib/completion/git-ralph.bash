# shellcheck shell=bash
# Bash completion of git ralph, for git's own completion to find: installed as
# share/bash-completion/completions/git-ralph, it defines _git_ralph. Words come from this file, names
# of sessions from the repository's state folder.

# command:its options; an option that takes a value ends with =
__git_ralph_table='
commit:--session= --plan= --task= --mine --message= --file= --edit --trailer= --author= --amend --fixup= --dry-run --skip-entangled --include-entangled --whole-file --with-shell --patch --no-verify --prove= --no-prove --explain --json --porcelain --quiet -z -p
status:--session= --worktrees --short --watch --prompt --json --porcelain -s -z
top:--session= --worktrees
diff:--session= --nobody --mine --stat --name-only
why:--prompt --json
blame:--porcelain --json
log:--session= --agent= --since= --new --max-count= --patch --json -n -p
branch:--session= --onto= --squash --force --with-needed --json
uncommit:--session= --json
restore:--session= --dry-run --json
undo:--session= --call= --last= --redo --skip-entangled --patch --tell --dry-run --json -p
assign:--to= --patch --json -p
prove:--json
session:start list show rename end
session-start:--id= --agent= --plan= --task= --bead= --parent= --continue --env=
session-list:--all --worktrees --json
session-show:--tokens --json
session-rename:
session-end:
run:--prompt= --bead= --agent= --jobs= --worktree --max-iterations= --max-tasks= --verify= --promise= --include-entangled --prove --no-prove --subject= --max-time= --task-timeout= --check-timeout= --require-change --keep-going --from= --resume --dry-run --json -p -j
run-start:
run-resume:--run= --json
run-list:--json
run-end:--run=
run-skip:--run=
run-logs:--run= --follow -f
plan:use show
plan-use:
plan-show:--json
events:--run= --file= --topic= --last= --follow --cursor= --json --jsonl --strict -f
report:--run= --output= --open --tokens --json -o
export:--format= --write-notes
worktree:add list path lock unlock merge remove restore spawn
worktree-add:--base= --session= --take-over --json
worktree-list:--json --porcelain -z
worktree-path:
worktree-lock:--reason=
worktree-unlock:
worktree-merge:--into= --no-ff --prove= --json
worktree-remove:--force -f --session= --json
worktree-restore:--json
worktree-spawn:--policy= --agent-type= --max-iterations= --promise= --restart --session=
fleet:join claim claims release land sync status setup
fleet-join:--branch-form
fleet-claim:--json
fleet-claims:--json
fleet-release:
fleet-land:--into= --prove= --json
fleet-sync:--beat --json
fleet-status:--json
fleet-setup:--refspec
install:--agent= --user --project --guard --instructions
uninstall:--agent= --user --project --guard --instructions
doctor:--json
demo:--keep
gc:--auto --dry-run -n
env:
help:--all
emit:--run= --file= --json
track:--session= --stdin --from-transcript --release -z
ls-files:--session= -z
hook:
guard:
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
	folder=$(git rev-parse --git-common-dir 2>/dev/null)/ralph-sessions/names
	for file in "$folder"/[a-z]*; do
		file=${file##*/}
		case $file in *.* | '[a-z]*') continue ;; esac
		printf '%s\n' "$file"
	done
}

__git_ralph_runs() {
	local folder file
	folder=$(git rev-parse --git-common-dir 2>/dev/null)/ralph-sessions
	for file in "$folder"/events-*.jsonl; do
		[ -e "$file" ] || continue
		file=${file##*/events-}
		printf '%s\n' "${file%.jsonl}"
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
		elif [ -z "$sub" ]; then
			case $command:$word in
			*:-*) ;;
			session:* | plan:* | worktree:* | fleet:*) sub=$word ;;
			run:start | run:resume | run:list | run:end | run:skip | run:logs) sub=$word ;;
			esac
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
	--session | --parent | --to) __git_ralph_reply "$(__git_ralph_sessions)" "$value" && return ;;
	--run) __git_ralph_reply "$(__git_ralph_runs)" "$value" && return ;;
	--agent) __git_ralph_reply "$__git_ralph_agents" "$value" && return ;;
	--policy) __git_ralph_reply 'required optional none' "$value" && return ;;
	--env) __git_ralph_reply 'sh json' "$value" && return ;;
	esac
	case $command:$sub:$cur in
	session:*:-* | plan:*:-* | fleet:?*:-* | worktree:?*:-* | run:?*:-*) __git_ralph_reply "$(__git_ralph_words "$command-$sub")" && return ;;
	session::* | plan::* | fleet::* | worktree::*) __git_ralph_reply "$(__git_ralph_words "$command")" && return ;;
	session:show:* | session:rename:* | session:end:*) __git_ralph_reply "$(__git_ralph_sessions)" && return ;;
	session:*) return ;;
	fleet:join:*) __git_ralph_reply "$(git remote 2>/dev/null)" && return ;;
	fleet:claim:* | fleet:release:* | fleet:land:* | worktree:*) __git_ralph_reply "$(__git_ralph_beads)" && return ;;
	run::-*) ;;
	run::*)
		__git_ralph_reply 'start resume list end'
		compopt -o default 2>/dev/null || :
		return
		;;
	esac
	case $cur in
	-*) __git_ralph_reply "$(__git_ralph_words "$command")" ;;
	*)
		case $command in
		hook) __git_ralph_reply "$__git_ralph_agents" ;;
		help) __git_ralph_reply "$(__git_ralph_commands) sessions hooks policy isolation" ;;
		*)
			COMPREPLY=()
			compopt -o default +o nospace 2>/dev/null || :
			;;
		esac
		;;
	esac
}

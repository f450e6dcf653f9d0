// gitralph: tells `git ralph hook pi` of each edit, so that a commit can hold only this session's.
//
// Every handler waits for the hook (the one before a tool must, or the bytes it reads are no longer the
// old ones), for TIMEOUT_MS at most, and swallows whatever goes wrong, because a throw would block the
// tool. It blocks in one case alone: git ralph says no (exit 2), to a command that would throw away what
// others have not committed. What git ralph says of others' lines goes to the agent with the tool's
// result, what a person wants it to be told as a message when it stops. Without git ralph on PATH it does
// nothing.

import { spawn } from "node:child_process";

const COMMAND = ["git", "ralph", "hook", "pi"];
const TIMEOUT_MS = 10_000;
const TOOLS = ["write", "edit", "bash"];
const UNUSED = ["messages", "systemPrompt", "systemPromptOptions", "images"];

function lean(event: any): any {
	const kept: any = {};
	let dropped = false;
	for (const key of Object.keys(event)) {
		if (UNUSED.includes(key)) dropped = true;
		else kept[key] = event[key];
	}
	if (dropped) kept.keys = Object.keys(event);
	return kept;
}

function envelope(name: string, event: any, ctx: any): string {
	return JSON.stringify({
		hook_event_name: name,
		session_id: ctx.sessionManager.getSessionId(),
		transcript_path: ctx.sessionManager.getSessionFile() ?? null,
		cwd: ctx.cwd,
		model: ctx.model ? { provider: ctx.model.provider, id: ctx.model.id } : null,
		event: lean(event),
	});
}

function send(line: string, cwd: string): Promise<any> {
	return new Promise((resolve) => {
		const child = spawn(COMMAND[0], COMMAND.slice(1), { cwd, stdio: ["pipe", "pipe", "pipe"] });
		const answer: any = { code: null, out: "", err: "" };
		const timer = setTimeout(() => {
			child.kill("SIGKILL");
			resolve(answer);
		}, TIMEOUT_MS);
		const done = (code: number | null) => {
			clearTimeout(timer);
			resolve({ ...answer, code });
		};
		child.stdout.on("data", (data: any) => (answer.out += data));
		child.stderr.on("data", (data: any) => (answer.err += data));
		child.on("error", () => done(null));
		child.on("close", done);
		child.stdin.on("error", () => {});
		child.stdin.end(line);
	});
}

const notes = new Map<string, string>();

function answered(name: string, event: any, answer: any): any {
	const call = event.toolCallId;
	if (name === "tool_call") {
		if (answer.code === 2) return { block: true, reason: answer.err.trim() };
		const note = answer.code === 0 && answer.out ? JSON.parse(answer.out).additionalContext : null;
		if (note) notes.set(call, note);
	} else if (name === "tool_result" && notes.has(call)) {
		const text = notes.get(call);
		notes.delete(call);
		return { content: [...(event.content ?? []), { type: "text", text }] };
	}
	return undefined;
}

function followUp(pi: any, answer: any): void {
	const text = answer.code === 0 && answer.out ? JSON.parse(answer.out).followUp : null;
	if (text) pi.sendUserMessage(text, { deliverAs: "followUp" });
}

export default function (pi: any) {
	const forward = (name: string) => {
		try {
			pi.on(name, async (event: any, ctx: any) => {
				try {
					if (event.toolName !== undefined && !TOOLS.includes(event.toolName)) return;
					const answer = await send(envelope(name, event, ctx), ctx.cwd);
					if (name === "agent_end" || name === "agent_settled") followUp(pi, answer);
					return answered(name, event, answer);
				} catch {
					// recording must never stand in the way
				}
			});
		} catch {
			// a pi that does not know this event
		}
	};
	forward("session_start");
	forward("input");
	forward("tool_call");
	forward("tool_result");
	forward("agent_end");
	forward("agent_settled");
	forward("session_shutdown");
}

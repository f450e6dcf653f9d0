// gitralph: tells `git ralph hook opencode` of each edit, so that a commit can hold only this session's.
//
// Every handler waits for the hook (the one before a tool must, or the bytes it reads are no longer the
// old ones), for TIMEOUT_MS at most, and swallows whatever goes wrong, because a throw would block the
// tool. It throws in one case alone: git ralph says no (exit 2), to a command that would throw away what
// others have not committed. What git ralph says of others' lines goes to the agent with the tool's
// result. Without git ralph on PATH it does nothing.

import { spawn } from "node:child_process";

const COMMAND = ["git", "ralph", "hook", "opencode"];
const TIMEOUT_MS = 10_000;
const TOOLS = ["write", "edit", "multiedit", "apply_patch", "patch", "bash"];
const EVENTS = ["session.created", "session.idle", "session.deleted"];
const UNUSED = ["model", "provider"];

function lean(value) {
	if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
	return Object.fromEntries(Object.entries(value).filter(([key]) => !UNUSED.includes(key)));
}

function send(line, cwd) {
	return new Promise((resolve) => {
		const child = spawn(COMMAND[0], COMMAND.slice(1), { cwd, stdio: ["pipe", "pipe", "pipe"] });
		const answer = { code: null, out: "", err: "" };
		const timer = setTimeout(() => {
			child.kill("SIGKILL");
			resolve(answer);
		}, TIMEOUT_MS);
		const done = (code) => {
			clearTimeout(timer);
			resolve({ ...answer, code });
		};
		child.stdout.on("data", (data) => (answer.out += data));
		child.stderr.on("data", (data) => (answer.err += data));
		child.on("error", () => done(null));
		child.on("close", done);
		child.stdin.on("error", () => {});
		child.stdin.end(line);
	});
}

export const GitRalph = async ({ directory, worktree }) => {
	const parents = new Map();
	const models = new Map();
	const notes = new Map();

	const tell = async (name, session, event) => {
		try {
			const line = JSON.stringify({
				hook_event_name: name,
				session_id: session ?? null,
				parent_session_id: parents.get(session) ?? null,
				cwd: directory,
				worktree,
				model: models.get(session) ?? null,
				event,
			});
			return await send(line, directory);
		} catch {
			// recording must never stand in the way
			return { code: null, out: "", err: "" };
		}
	};

	const both = (input, output) => ({ input: lean(input), output: lean(output) });

	const before = async (input, output) => {
		try {
			if (!TOOLS.includes(input.tool)) return;
			const answer = await tell("tool.execute.before", input.sessionID, both(input, output));
			if (answer.code === 2) return answer.err.trim();
			const note = answer.code === 0 && answer.out ? JSON.parse(answer.out).additionalContext : null;
			if (note) notes.set(input.callID, note);
		} catch {
			// the same
		}
	};

	const after = async (input, output) => {
		try {
			if (!TOOLS.includes(input.tool)) return;
			await tell("tool.execute.after", input.sessionID, both(input, output));
			const note = notes.get(input.callID);
			notes.delete(input.callID);
			if (note && typeof output.output === "string") output.output += `\n\n${note}`;
		} catch {
			// the same
		}
	};

	const root = (session) => {
		const seen = new Set();
		while (parents.has(session) && !seen.has(session)) {
			seen.add(session);
			session = parents.get(session);
		}
		return session;
	};

	return {
		event: async ({ event }) => {
			try {
				if (!EVENTS.includes(event.type)) return;
				const told = event.properties ?? {};
				const session = told.sessionID ?? told.info?.id;
				if (event.type === "session.created" && told.info?.parentID) {
					parents.set(session, told.info.parentID);
				}
				await tell(event.type, session, event);
			} catch {
				// the same
			}
		},
		"chat.message": async (input, output) => {
			try {
				const model = input.model ?? output.message?.model;
				if (model) models.set(input.sessionID, { providerID: model.providerID, modelID: model.modelID });
				await tell("chat.message", input.sessionID, both(input, output));
			} catch {
				// the same
			}
		},
		"tool.execute.before": (input, output) =>
			before(input, output).then((no) => {
				if (no) throw new Error(no);
			}),
		"tool.execute.after": after,
		// so that git ralph knows in a shell which session it belongs to
		"shell.env": async (input, output) => {
			try {
				const session = root(input.sessionID);
				if (session) output.env.OPENCODE_SESSION_ID = session;
			} catch {
				// the same
			}
		},
	};
};

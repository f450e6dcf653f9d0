"""What other tools read: a commit as an Agent Trace record or a git-ai note. Nothing here decides."""

"""The way of a commit: inputs, decisions, plan, landing."""

"""Questions to the same inputs and decisions as commit: status, why, diff, guard, events."""

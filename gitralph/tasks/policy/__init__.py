"""What hooks answer where a policy decides: launching a subagent, stopping, documentation only, worktrees.

Loaded by ``git ralph hook`` only for such an event. Prints nothing: a :class:`Reply` says what to print.
"""

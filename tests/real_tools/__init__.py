"""Real formatters and hook frameworks; what npm and pip install only with ``RALPH_FULL=1``."""

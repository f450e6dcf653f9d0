"""``git ralph demo``: scripted agents and a human in one throw-away repository."""

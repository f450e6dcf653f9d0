"""Records below ralph-sessions/: what was recorded, what commits told of, what is about to land.

Knows nothing of git objects and never prints.
"""

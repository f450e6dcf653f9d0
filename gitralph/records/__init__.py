"""Records below ralph-sessions/: what was recorded, what commits told of, and what is about to land.

This room knows nothing of git objects and never prints.
"""

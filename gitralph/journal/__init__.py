"""Records below ralph-sessions/: who has what pending, what was consumed, what is about to land.

Knows nothing of git objects and never prints.
"""
